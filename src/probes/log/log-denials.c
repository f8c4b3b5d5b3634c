/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-denials.c - accesses that SELinux or AppArmor refused, gathered by program and object. */
#include "probes/log/log-denials.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "probes/log/log-lines.h"
#include "probes/log/log-scan.h"

#define AUDIT "/var/log/audit/audit.log"
#define AUDIT_MAX \
	(16 << 20) /* bytes that are read, from its end; auditd's own limit is 8 MiB a file */

static struct fact_str value(struct arena *arena, struct span s)
{
	if (s.n > 256)
		s.n = utf8_cut(s.p, 256);
	return s.n ? fact_strn(arena, s.p, s.n) : FACT_NONE(fact_str);
}

static bool is_same(struct fact_str fact, struct span s)
{
	if (s.n > 256)
		s.n = utf8_cut(s.p, 256);
	return is_known(fact) ? span_is(s, fact.value) : !s.n;
}

static struct log_denial *find(struct log_denials *denials, const struct denial *d)
{
	for_each_mut(known, &denials->list)
		if (is_same(known->target, d->target) && is_same(known->action, d->action) &&
		    is_same(known->program, d->program) && is_same(known->domain, d->domain) &&
		    is_same(known->label, d->label))
			return known;
	return NULL;
}

void log_denials_add(struct log_denials *denials, struct span record, uint64_t since_s)
{
	struct arena *arena = denials->arena;
	struct log_denial *fact;
	struct denial d;

	if (!denial_parse(record, &d) || !denial_concerns_gpus(&d) ||
	    (d.time_s && d.time_s < since_s))
		return;
	if (record.n >= LOG_LINE_MAX)
		record.n = utf8_cut(record.p, LOG_LINE_MAX - 1);
	fact = find(denials, &d);
	if (!fact) {
		if (denials->list.count == LOG_DENIALS_MAX)
			return;
		fact = LIST_ADD(arena, &denials->list);
		*fact = (struct log_denial){
			.target = value(arena, d.target),
			.policy = fact_enum(d.apparmor ? POLICY_APPARMOR : POLICY_SELINUX),
			.action = value(arena, d.action),
			.program = value(arena, d.program),
			.domain = value(arena, d.domain),
			.label = value(arena, d.label),
			.class = value(arena, d.class),
			.record = fact_strn(arena, record.p, record.n),
		};
	}
	fact->count = fact_u64(is_known(fact->count) ? fact->count.value + 1 : 1);
}

/* ---- auditd's file ---- */

struct audit {
	struct log_denials denials;
	uint64_t boot_s;
	uint64_t first_s; /* of the first record that was read; 0: none was */
};

/* "type=AVC msg=audit(1700000000.402:15): ...": in seconds; 0: no record. */
static uint64_t time_of(struct span line)
{
	static const char mark[] = "msg=audit(";
	const char *at = span_search(line, mark);
	struct span number = { at, 0 };
	uint64_t seconds;

	if (!at)
		return 0;
	number.p += strlen(mark);
	number.n = span_find((struct span){ number.p, (size_t)(line.p + line.n - number.p) }, '.');
	return span_u64(number, 10, &seconds) ? 0 : seconds;
}

static bool audit_line(void *user, struct span line)
{
	struct audit *audit = user;

	if (!audit->first_s)
		audit->first_s = time_of(line);
	log_denials_add(&audit->denials, line, audit->boot_s);
	return true;
}

static int ask_audit(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct log_facts *answer = facts;
	struct audit audit = { .denials.arena = arena, .boot_s = *(const uint64_t *)user };
	_cleanup_close_ int fd = host_open(host, AUDIT);
	bool cut;
	int rc;

	if (fd < 0)
		return fd;
	cut = lseek(fd, 0, SEEK_END) > AUDIT_MAX;
	lseek(fd, cut ? -AUDIT_MAX : 0, cut ? SEEK_END : SEEK_SET);
	rc = lines_read(fd, audit_line, &audit);
	answer->denials = audit.denials.list;
	/* Refusals of this boot may be before what was read. */
	cut &= !audit.first_s || audit.first_s >= audit.boot_s;
	answer->denials.state = cut && !audit.denials.list.count ? FACT_UNKNOWN : FACT_KNOWN;
	return rc;
}

void log_denials_read(struct host *host, struct log_facts *log, struct arena *arena,
		      const struct fact_u64 *boot)
{
	uint64_t boot_s = is_known(*boot) ? boot->value : 0;
	struct log_facts answer = { 0 };
	int rc = host_query(host, AUDIT, &log_facts_desc, &answer, arena, ask_audit, &boot_s);

	/* Without auditd the kernel log has them. */
	if (rc == -ENOENT)
		return;
	/* Nor is it known which records are of this boot without its time. */
	if (rc || !is_known(*boot) || (is_unknown(answer.denials) && !log->denials.count))
		log->denials.state = FACT_UNKNOWN;
	else if (is_unknown(log->denials))
		log->denials = answer.denials;
	else
		for_each(denial, &answer.denials)
			*LIST_ADD(arena, &log->denials) = *denial;
}
