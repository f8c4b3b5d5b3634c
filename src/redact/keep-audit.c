/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep-audit.c - records of accesses that SELinux or AppArmor refused, key by key. Names from the kernel and the policy
 * of a distribution stay. Other names of programs, files, profiles and types do not.
 *
 * Sources: see parse/denial.h. Linux 6.12.117: security/lsm_audit.c, security/apparmor/.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/module.h"
#include "redact/keep-private.h"

#define WORD_MAX 40 /* of the kernel: the longest name of a permission or an operation is shorter */

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool has_only(struct span s, const char *more)
{
	for (size_t i = 0; i < s.n; i++)
		if (!islower((unsigned char)s.p[i]) && !isdigit((unsigned char)s.p[i]) &&
		    (!s.p[i] || !strchr(more, s.p[i])))
			return false;
	return s.n <= WORD_MAX;
}

/* Permissions, operations and classes: "read write", "module_load", "chr_file". */
void keep_kernel_words(struct keeping *k, struct span words)
{
	(has_only(words, "_ ") ? keep_as_it_is : keep_instead)(k, words);
}

/* ---- domains, types and profiles ---- */

/* Marks of the domain of a container or a job for log/access-refused, with the type that most have. */
static const char *const jobs[] = {
	"container", "docker-default", "cri-", "lxc", "slurm", "spc_t"
};

/* Of refpolicy, of container-selinux, and of the profiles that container engines load. */
static const char *const known_types[] = { "container_t",
					   "container_init_t",
					   "container_kvm_t",
					   "container_device_t",
					   "container_device_plugin_t",
					   "container_file_t",
					   "container_ro_file_t",
					   "container_runtime_t",
					   "container_share_t",
					   "container_var_lib_t",
					   "spc_t",
					   "svirt_lxc_net_t",
					   "unconfined_t",
					   "unconfined_service_t",
					   "kernel_t",
					   "init_t",
					   "initrc_t",
					   "udev_t",
					   "kmod_t",
					   "insmod_t",
					   "syslogd_t",
					   "xserver_t",
					   "xdm_t",
					   "device_t",
					   "infiniband_device_t",
					   "infiniband_mgmt_device_t",
					   "xserver_misc_device_t",
					   "modules_object_t",
					   "modules_dep_t",
					   "user_home_t",
					   "user_home_dir_t",
					   "admin_home_t",
					   "user_tmp_t",
					   "tmp_t",
					   "tmpfs_t",
					   "usr_t",
					   "lib_t",
					   "bin_t",
					   "etc_t",
					   "etc_runtime_t",
					   "proc_t",
					   "sysfs_t",
					   "sysctl_t",
					   "var_t",
					   "var_lib_t",
					   "var_log_t",
					   "var_run_t",
					   "default_t",
					   "unlabeled_t",
					   "nfs_t",
					   "nvfm_t",
					   "docker-default",
					   "cri-containerd.apparmor.d",
					   "containers-default-[0-9.]*",
					   "lxc-container-default*",
					   "unconfined",
					   "snap.firefox.firefox",
					   NULL };

static bool is_version_of(struct span type, const char *prefix)
{
	return !span_starts(type, prefix) || keep_is_version(from(type, strlen(prefix)));
}

/* A type that a site made gets a stand-in, which is still that of a job. */
void keep_type(struct keeping *k, struct span type)
{
	if (keep_has(known_types, type) && is_version_of(type, "containers-default-")) {
		keep_as_it_is(k, type);
		return;
	}
	if (type.n && type.p[0] == '/') {
		keep_path(k, type);
		return;
	}
	keep_instead(k, type);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		if (span_search(type, jobs[i])) {
			putc('-', k->out);
			keep_as_it_is(k, span_of(jobs[i]));
			return;
		}
}

/* system_u:system_r:container_t:s0:c1,c2 */
static void put_context(struct keeping *k, struct span context)
{
	static const char *const parts[] = { "system_u", "unconfined_u", "user_u",	 "staff_u",
					     "sysadm_u", "system_r",	 "object_r",	 "user_r",
					     "staff_r",	 "sysadm_r",	 "unconfined_r", "s0",
					     NULL };
	struct span part;

	for (size_t i = 0; span_cut(&context, ':', &part); i++) {
		if (i)
			putc(':', k->out);
		if (i == 2)
			keep_type(k, part);
		else
			(keep_has(parts, part) ? keep_as_it_is : keep_instead)(k, part);
	}
}

/* ---- files ---- */

/* A device's name, without its folder. */
static bool is_device_name(struct span name)
{
	static const char *const devices[] = { "nvidia",	   "nvidiactl",	     "nvidia-uvm",
					       "nvidia-uvm-tools", "nvidia-modeset", "nvidia-cap",
					       "uverbs",	   "umad",	     "issm",
					       "rdma_cm",	   "gdrdrv",	     NULL };

	while (name.n && isdigit((unsigned char)name.p[name.n - 1]))
		name.n--;
	return keep_has(devices, name);
}

/* The file of a module that matters: log/access-refused reports that it is not loaded. */
static void put_module_file(struct keeping *k, struct span file, size_t stem)
{
	char name[MODULE_NAME_MAX];

	if (module_file_name(file, name) && module_is_of_interest(name))
		keep_as_it_is(k, (struct span){ file.p, stem });
	else
		keep_instead(k, (struct span){ file.p, stem });
	keep_as_it_is(k, (struct span){ file.p + stem, strlen(".ko") });
	if (file.n > stem + strlen(".ko"))
		keep_kernel_words(k, from(file, stem + strlen(".ko.")));
}

void keep_refused_file(struct keeping *k, struct span path)
{
	size_t slash = path.n;
	const char *end;
	struct span file;

	while (slash && path.p[slash - 1] != '/')
		slash--;
	file = from(path, slash);
	end = span_search(file, ".ko");
	if (span_starts(path, "/lib/modules/") || span_starts(path, "/usr/lib/modules/") ||
	    (slash && !end)) {
		keep_path(k, path);
	} else if (end) {
		keep_path(k, (struct span){ path.p, slash });
		put_module_file(k, file, (size_t)(end - file.p));
	} else {
		(is_device_name(file) ? keep_as_it_is : keep_instead)(k, file);
	}
}

/* ---- records ---- */

/* "audit(1735777211.402:15):" */
static void put_time(struct keeping *k, struct span value)
{
	bool plain = span_starts(value, "audit(");

	for (size_t i = strlen("audit("); plain && i < value.n; i++)
		plain = strchr("0123456789.:)", value.p[i]) && value.p[i];
	(plain ? keep_as_it_is : keep_instead)(k, value);
}

static void put_number(struct keeping *k, struct span value)
{
	bool plain = value.n <= 8;

	for (size_t i = 0; plain && i < value.n; i++)
		plain = isdigit((unsigned char)value.p[i]) || (!i && value.p[i] == '-');
	(plain ? keep_as_it_is : keep_instead)(k, value);
}

/* AVC, APPARMOR, DENIED, or the number of a record's type. */
static void put_kind(struct keeping *k, struct span value)
{
	static const char *const kinds[] = { "AVC",	 "USER_AVC", "APPARMOR_DENIED",
					     "APPARMOR", "DENIED",   NULL };

	if (keep_has(kinds, value))
		keep_as_it_is(k, value);
	else
		put_number(k, value);
}

static const struct {
	const char *key;
	void (*keep)(struct keeping *k, struct span value);
} keys[] = {
	{ "type", put_kind },
	{ "apparmor", put_kind },
	{ "msg", put_time },
	{ "pid", put_number },
	{ "error", put_number },
	{ "permissive", put_number },
	{ "capability", put_number },
	{ "operation", keep_kernel_words },
	{ "class", keep_kernel_words },
	{ "tclass", keep_kernel_words },
	{ "capname", keep_kernel_words },
	{ "requested_mask", keep_kernel_words },
	{ "denied_mask", keep_kernel_words },
	{ "comm", keep_program_name },
	{ "profile", keep_type },
	{ "label", keep_type },
	{ "scontext", put_context },
	{ "tcontext", put_context },
	{ "path", keep_refused_file },
	{ "name", keep_refused_file },
	{ "kmod", keep_refused_file },
	{ "exe", keep_refused_file },
};

static void put_value(struct keeping *k, struct span key, struct span value)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (span_is(key, keys[i].key)) {
			keys[i].keep(k, value);
			return;
		}
	if (value.n)
		keep_instead(k, value);
}

/* "avc:  denied  { read write } for" */
static void put_word(struct keeping *k, struct span word, bool permission)
{
	static const char *const words[] = { "avc:", "audit:", "denied", "{", "}", "for", NULL };

	if (permission)
		keep_kernel_words(k, word);
	else if (span_starts(word, "audit("))
		put_time(k, word);
	else
		(keep_has(words, word) ? keep_as_it_is : keep_instead)(k, word);
}

/* The words KEY= and VALUE, which can be between quotation marks. Returns the position after them. */
static struct span put_assigned(struct keeping *k, struct span rest, size_t equals)
{
	struct span key = { rest.p, equals }, value = from(rest, equals + 1);
	bool quoted = value.n && value.p[0] == '"';

	(has_only(key, "_") ? keep_as_it_is : keep_instead)(k, key);
	putc('=', k->out);
	if (quoted)
		value = from(value, 1);
	rest = value;
	value.n = span_find(value, quoted ? '"' : ' ');
	if (quoted)
		putc('"', k->out);
	put_value(k, key, value);
	if (quoted && value.n < rest.n)
		putc('"', k->out);
	return from(rest, value.n + (quoted && value.n < rest.n));
}

bool keep_is_refusal(struct span message)
{
	return span_search(message, "avc:  denied") || span_search(message, "apparmor=\"");
}

void keep_refusal(struct keeping *k, struct span rest)
{
	bool permission = false;

	while (rest.n) {
		size_t n = span_find(rest, ' '), equals = span_find(rest, '=');

		if (!n) {
			putc(' ', k->out);
			rest = from(rest, 1);
		} else if (equals < n) {
			rest = put_assigned(k, rest, equals);
		} else {
			struct span word = { rest.p, n };

			permission = permission && !span_is(word, "}");
			put_word(k, word, permission);
			permission = permission || span_is(word, "{");
			rest = from(rest, n);
		}
	}
}
