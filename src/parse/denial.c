/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * denial.c - records of accesses that SELinux or AppArmor refused, as auditd writes them to its file and the kernel to
 * its log.
 */
#include "parse/denial.h"

#include "base/array.h"

/* Returns the value of KEY, which ends with "=": a word, or the text between quotation marks. */
static struct span value_of(struct span record, const char *key)
{
	size_t n = strlen(key);
	struct span none = { record.p, 0 }, value;

	for (const char *at; (at = span_search(record, key)) != NULL;) {
		bool begins = at == record.p || at[-1] == ' ';

		value = (struct span){ at + n, record.n - (size_t)(at + n - record.p) };
		record = value;
		if (!begins)
			continue;
		if (value.n && value.p[0] == '"') {
			value = (struct span){ value.p + 1, value.n - 1 };
			value.n = span_find(value, '"');
		} else {
			value.n = span_find(value, ' ');
		}
		return value;
	}
	return none;
}

/* system_u:system_r:container_t:s0 has the type in its third part. */
static struct span type_of(struct span context)
{
	struct span part = { context.p, 0 };

	for (size_t i = 0; i < 3; i++)
		if (!span_cut(&context, ':', &part))
			return (struct span){ context.p, 0 };
	return part;
}

/* "audit(1735777211.402:1584)" */
static uint64_t time_of(struct span record)
{
	const char *at = span_search(record, "audit(");
	struct span number;
	uint64_t time_s;

	if (!at)
		return 0;
	number = (struct span){ at + 6, record.n - (size_t)(at + 6 - record.p) };
	number.n = span_find(number, '.');
	return span_u64(number, 10, &time_s) == 0 ? time_s : 0;
}

static struct span name_of(struct span record)
{
	struct span path = value_of(record, "path=");

	return path.n ? path : value_of(record, "name=");
}

/* avc:  denied  { read write } for  pid=1 comm="a" path="/dev/nvidia0" scontext=... tcontext=... tclass=chr_file */
static bool parse_selinux(struct span record, const char *at, struct denial *out)
{
	struct span rest = { at, record.n - (size_t)(at - record.p) };
	size_t open = span_find(rest, '{'), close = span_find(rest, '}');

	if (open >= close || close == rest.n || span_is(value_of(record, "permissive="), "1"))
		return false;
	out->action = span_trim((struct span){ rest.p + open + 1, close - open - 1 });
	out->domain = type_of(value_of(rest, "scontext="));
	out->label = type_of(value_of(rest, "tcontext="));
	out->class = value_of(rest, "tclass=");
	out->program = value_of(rest, "comm=");
	out->target = name_of(rest);
	if (!out->target.n)
		out->target = value_of(rest, "kmod=");
	return true;
}

/* apparmor="DENIED" operation="open" profile="docker-default" name="/dev/nvidia0" comm="a" */
static bool parse_apparmor(struct span record, struct denial *out)
{
	out->apparmor = true;
	out->action = value_of(record, "operation=");
	out->domain = value_of(record, "profile=");
	out->program = value_of(record, "comm=");
	out->target = name_of(record);
	if (!out->target.n)
		out->target = value_of(record, "capname=");
	return out->action.n > 0;
}

bool denial_parse(struct span record, struct denial *out)
{
	const char *avc = span_search(record, "avc:  denied");

	*out = (struct denial){ .time_s = time_of(record) };
	if (avc)
		return parse_selinux(record, avc, out);
	return span_search(record, "apparmor=\"DENIED\"") && parse_apparmor(record, out);
}

static bool has_word(struct span text)
{
	static const char *const words[] = {
		"nvidia", "infiniband", "uverbs", "umad", "rdma",	  "gdrdrv",	    "mlx5",
		"mlx4",	  "nvlsm",	"opensm", "dcgm", "nv-hostengin", "nv-fabricmanage"
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_search(text, words[i]))
			return true;
	return false;
}

bool denial_concerns_gpus(const struct denial *denial)
{
	/* The reference policy's type of /dev/nvidia*. */
	return has_word(denial->program) || has_word(denial->target) || has_word(denial->domain) ||
	       has_word(denial->label) || has_word(denial->class) ||
	       span_is(denial->label, "xserver_misc_device_t") ||
	       (span_is(denial->action, "module_load") && !denial->target.n);
}
