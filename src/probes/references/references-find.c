/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-find.c - finds what the node has under each name in a file. Nothing is opened but
 * small files. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "parse/cpulist.h"
#include "parse/inet.h"
#include "parse/module.h"
#include "parse/passwd.h"
#include "probes/dynamic-loader.h"
#include "probes/log/log-lines.h"
#include "probes/references/references.h"
#include "query/node-find.h"

static void set(struct probe_context *ctx, struct reference *r, int rc, const char *found)
{
	if (rc == 0)
		r->found = fact_str(ctx->arena, found);
	else
		r->found.state = probe_state(rc);
}

/* ---- paths ---- */

static const char *kind_word(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return mode & 0111 ? "program" : "file";
	case S_IFDIR:
		return "folder";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
	case S_IFBLK:
		return "device";
	default:
		return "other";
	}
}

/* Looks up PATH. In a copy a file that only a running system has may be missing together with its folder, and is
 * unknown then. */
static int stat_name(struct probe_context *ctx, const char *path, struct host_stat *stat)
{
	struct host_stat parent;
	int rc = host_stat(ctx->host, stat, "%s", path);
	bool runtime = starts_with(path, "/run/") || starts_with(path, "/var/run/");
	const char *slash = strrchr(path, '/');

	if (rc == -ENOENT && runtime && host_kind(ctx->host) == HOST_TREE &&
	    host_stat(ctx->host, &parent, "%.*s", (int)(slash - path), path))
		return -ENODATA;
	return rc;
}

static void find_file(struct probe_context *ctx, struct reference *r)
{
	struct host_stat stat;
	int rc = r->name.value[0] == '/' ? stat_name(ctx, r->name.value, &stat) : -EINVAL;

	set(ctx, r, rc, rc ? NULL : kind_word(stat.mode));
}

/* Returns true if the copy seems to have all programs: every distribution has env at this path (hier(7),
 * "#!/usr/bin/env"). */
static bool has_all_programs(struct probe_context *ctx)
{
	struct host_stat stat;

	return host_kind(ctx->host) != HOST_TREE ||
	       host_stat(ctx->host, &stat, "/usr/bin/env") == 0;
}

/* A name without a slash is looked for where services look (systemd.exec(5), ExecSearchPath=). */
static void find_program(struct probe_context *ctx, struct reference *r)
{
	static const char *const folders[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					       "/usr/bin",	  "/sbin",	    "/bin" };
	struct host_stat stat;
	int rc = -ENODATA;

	if (strchr(r->name.value, '/')) {
		rc = stat_name(ctx, r->name.value, &stat);
		set(ctx, r, rc, r->name.value);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const char *path = arena_printf(ctx->arena, "%s/%s", folders[i], r->name.value);
		int one = host_stat(ctx->host, &stat, "%s", path);

		if (one == 0) {
			set(ctx, r, 0, path);
			return;
		}
		/* A copy without one of the folders says nothing of that one. */
		if (one != -ENODATA && (rc == -ENODATA || rc == -ENOENT))
			rc = one;
	}
	set(ctx, r, rc == -ENOENT && !has_all_programs(ctx) ? -ENODATA : rc, NULL);
}

/* ---- the driver's libraries ---- */

/* Folders below the root that the toolkit searches (pkg/lookup of 1.20) and that distributions have. */
static const char *const library_folders[] = {
	"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/usr/lib",   "/lib/x86_64-linux-gnu",	   "/lib/aarch64-linux-gnu",
	"/lib64",     "/run/opengl-driver/lib",
};

/* libcuda.so.580.65.06 and libnvidia-ml.so.580.65.06 say which driver it is. */
static bool is_driver_library(const char *name)
{
	return fnmatch("libcuda.so.*.*", name, 0) == 0 ||
	       fnmatch("libnvidia-ml.so.*.*", name, 0) == 0;
}

static void find_driver(struct probe_context *ctx, struct reference *r)
{
	struct host_stat stat;
	int rc = r->name.value[0] == '/' ? stat_name(ctx, r->name.value, &stat) : -EINVAL;
	bool unread = false;

	set(ctx, r, rc, "folder");
	for (size_t i = 0; !rc && i < ARRAY_SIZE(library_folders); i++) {
		_cleanup_names_ struct names names = { 0 };
		const char *folder = arena_printf(ctx->arena, "%s%s", r->name.value,
						  library_folders[i]);
		int error = host_list(ctx->host, &names, "%s", folder);

		unread |= error && error != -ENOENT && error != -ENOTDIR;
		for (size_t k = 0; k < names.count; k++)
			if (is_driver_library(names.items[k])) {
				set(ctx, r, 0,
				    arena_printf(ctx->arena, "%s/%s", folder, names.items[k]));
				return;
			}
	}
	if (unread)
		r->found = (struct fact_str){ 0 };
}

/* ---- device files ---- */

/* Names of the numbers that the drivers ask the kernel for (/proc/devices). A longer one stands before the one
 * that it begins with. */
static const struct {
	const char *path;
	const char *major;
	const char *older; /* name until driver 545; or NULL */
} majors[] = {
	{ "/dev/nvidia-uvm", "nvidia-uvm", NULL },
	{ "/dev/nvidia-caps-imex-channels/", "nvidia-caps-imex-channels", NULL },
	{ "/dev/nvidia-caps/", "nvidia-caps", NULL },
	{ "/dev/nvidia-nvswitch", "nvidia-nvswitch", NULL },
	{ "/dev/nvidia-nvlink", "nvidia-nvlink", NULL },
	{ "/dev/nvidia", "nvidia", "nvidia-frontend" },
	{ "/dev/gdrdrv", "gdrdrv", NULL },
	{ "/dev/infiniband/uverbs", "infiniband_verbs", NULL },
	{ "/dev/infiniband/umad", "infiniband_mad", NULL },
};

/* The major number that the kernel gives to the device at PATH; unknown where no name says. */
static struct fact_u64 major_of(const struct node *node, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(majors); i++) {
		const struct device_major *m;

		if (!starts_with(path, majors[i].path))
			continue;
		m = LIST_FIND(&node->dev.majors, majors[i].major);
		if (!m && majors[i].older)
			m = LIST_FIND(&node->dev.majors, majors[i].older);
		if (m)
			return m->major;
		/* The driver is not there, or /proc/devices does not list its number: there is nothing to compare with. */
		break;
	}
	return (struct fact_u64){ 0 };
}

/* "195:0". Where the kernel says the major number, the node can be an old one, and its word counts;
 * if the node's own numbers are not known, as in a copy, the minor number is the one that is
 * claimed. */
static void find_device(struct probe_context *ctx, struct reference *r)
{
	struct fact_u64 current = major_of(ctx->node, r->name.value);
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s", r->name.value);
	bool device = rc == 0 && (S_ISCHR(stat.mode) || S_ISBLK(stat.mode));
	struct span claim = span_of(is_known(r->claim) ? r->claim.value : ""), number;
	uint64_t minor_number = 0;

	/* mknod makes the node: what it is now says nothing of the next time. */
	device = device && !known_is(r->format, REFERENCE_NUMBERS);
	if (known_is(r->format, REFERENCE_NUMBERS))
		rc = -ENODATA;
	if (device) {
		minor_number = minor(stat.rdev);
	} else if (span_cut(&claim, ':', &number) && span_u64(claim, 10, &minor_number)) {
		minor_number = 0;
	}
	if (is_known(current) && (device || is_known(r->claim)))
		set(ctx, r, 0,
		    arena_printf(ctx->arena, "%" PRIu64 ":%" PRIu64, current.value, minor_number));
	else if (device)
		set(ctx, r, 0,
		    arena_printf(ctx->arena, "%u:%" PRIu64, major(stat.rdev), minor_number));
	else if (rc == 0 && !is_known(r->claim))
		set(ctx, r, 0, kind_word(stat.mode));
	else
		set(ctx, r, rc ? rc : -ENODATA, NULL);
}

/* ---- modules ---- */

struct module_search {
	const char *const *names; /* with underscores, NULL-terminated */
	struct modules_facts *answer;
	struct arena *arena;
	bool aliases; /* lines are "alias PATTERN MODULE" */
};

static void found_module(struct module_search *s, const char *name, struct span path)
{
	struct module_file *file;

	for_each(f, &s->answer->files)
		if (str_is(f->name, name))
			return;
	file = LIST_ADD(s->arena, &s->answer->files);
	file->path = fact_strn(s->arena, path.p, path.n);
	file->name = fact_str(s->arena, name);
}

static void match_alias(struct module_search *s, struct span line)
{
	struct span word, pattern;
	char text[512], name[MODULE_NAME_MAX];

	if (!span_word(&line, &word) || !span_is(word, "alias") || !span_word(&line, &pattern) ||
	    !span_word(&line, &word) || pattern.n >= sizeof(text))
		return;
	memcpy(text, pattern.p, pattern.n);
	text[pattern.n] = '\0';
	for (const char *const *n = s->names; *n; n++)
		if (fnmatch(text, *n, 0) == 0) {
			module_name_copy(word, name);
			found_module(s, *n, span_of(name));
		}
}

static bool module_line(void *user, struct span line)
{
	struct module_search *s = user;
	char name[MODULE_NAME_MAX];
	struct span path = line;

	if (s->aliases) {
		match_alias(s, line);
		return true;
	}
	if (!module_dep_line(line, &path))
		path = span_trim(line);
	if (!module_file_name(path, name))
		return true;
	for (const char *const *n = s->names; *n; n++)
		if (strcmp(*n, name) == 0)
			found_module(s, *n, path);
	return true;
}

/* USER: the names. An answer of what was found of them for the kernel that runs. */
struct module_question {
	const char *release;
	const char *const *names;
};

static int ask_modules(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const struct {
		const char *file;
		bool aliases;
	} files[] = { { "modules.dep", false },
		      { "modules.builtin", false },
		      { "modules.alias", true } };
	const struct module_question *q = user;
	struct module_search s = { .names = q->names, .answer = facts, .arena = arena };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_close_ int fd = host_open(
			host, arena_printf(arena, "/lib/modules/%s/%s", q->release, files[i].file));

		/* The first has to be there; a kernel can have nothing built in, and no alias. */
		if (fd < 0 && (i == 0 || fd != -ENOENT))
			return fd == -ENOENT ? -ENODATA : fd;
		s.aliases = files[i].aliases;
		if (fd >= 0)
			lines_read(fd, module_line, &s);
	}
	s.answer->files.state = FACT_KNOWN;
	return 0;
}

/* modprobe.d can give the name to another module. */
static const struct modprobe_command *alias_of(const struct node *node, const char *name)
{
	for_each(a, &node->modprobe.alias)
		if (fnmatch(a->text.value, name, 0) == 0)
			return a;
	for_each(i, &node->modprobe.install)
		if (str_is(i->module, name))
			return i;
	return NULL;
}

static const char *module_found(const struct node *node, const struct modules_facts *answer,
				const char *name, bool by_alias)
{
	for_each(f, &answer->files)
		if (str_is(f->name, name))
			return f->path.value;
	if (node_module(node, name))
		return "loaded";
	return by_alias && alias_of(node, name) ? alias_of(node, name)->file.value : NULL;
}

/* Looks up all modules in one pass, because the lists have thousands of lines. */
static void find_modules(struct probe_context *ctx)
{
	struct references_facts *all = &ctx->node->references;
	const char **names = arena_alloc(ctx->arena, (all->items.count + 1) * sizeof(*names));
	struct module_question q = { ctx->node->os.kernel.value, names };
	struct modules_facts answer = { 0 };
	size_t n = 0;
	int rc;

	for_each(r, &all->items) {
		char name[MODULE_NAME_MAX];

		if (!known_is(r->kind, REFERENCE_MODULE))
			continue;
		module_name_copy(span_of(r->name.value), name);
		names[n++] = arena_strdup(ctx->arena, name);
	}
	if (!n || !is_known(ctx->node->os.kernel))
		return;
	rc = host_query(ctx->host, "modules that files name", &modules_facts_desc, &answer,
			ctx->arena, ask_modules, &q);
	n = 0;
	for_each_mut(r, &all->items) {
		const char *found;

		if (!known_is(r->kind, REFERENCE_MODULE))
			continue;
		found = module_found(ctx->node, &answer, names[n++],
				     known_is(r->format, REFERENCE_MODULES_LOAD));
		set(ctx, r, found ? 0 : rc ? rc : -ENOENT, found);
	}
}

/* ---- what the node's facts know ---- */

static void find_interface(struct probe_context *ctx, struct reference *r)
{
	const struct net_facts *net = &ctx->node->net;

	r->found.state = was_read(net->interfaces) ? FACT_ABSENT : FACT_UNKNOWN;
	for_each(i, &net->interfaces)
		if (str_is(i->name, r->name.value))
			r->found = i->name;
}

/* Found: the name of what its driver made of it, an RDMA device or an interface. */
static void find_function(struct probe_context *ctx, struct reference *r)
{
	const struct node *node = ctx->node;
	bool rdma = str_is(r->role, "infiniband");

	r->found.state = was_read(node->pci.devices) ? FACT_ABSENT : FACT_UNKNOWN;
	if (!node_pci(node, r->name.value))
		return;
	if (known_is(r->format, REFERENCE_TOPOLOGY)) {
		r->found = r->name;
		return;
	}
	/* The device exists, but its name is unknown. */
	r->found = (struct fact_str){ 0 };
	for_each(d, &node->rdma.devices)
		if (rdma && str_is(d->bdf, r->name.value))
			r->found = d->name;
	for_each(i, &node->net.interfaces)
		if (!rdma && str_is(i->bdf, r->name.value))
			r->found = i->name;
}

/* Returns true for addresses that every node has. */
static bool is_everywhere(struct span address)
{
	return span_starts(address, "127.") || span_is(address, "::1") ||
	       span_is(address, "0.0.0.0") || span_is(address, "::");
}

/* "192.0.2.1" or "192.0.2.1 192.0.2.2": the first that is this node's. */
static void find_address(struct probe_context *ctx, struct reference *r)
{
	const struct net_facts *net = &ctx->node->net;
	struct span rest = span_of(r->name.value), word;

	r->found.state = was_read(net->interfaces) ? FACT_ABSENT : FACT_UNKNOWN;
	while (span_word(&rest, &word)) {
		if (is_everywhere(word) && !is_known(r->found))
			r->found = probe_span(ctx, word);
		for_each(i, &net->interfaces) {
			/* An interface whose addresses are unknown may have it. */
			if (!was_read(i->addresses) && !is_known(r->found))
				r->found.state = FACT_UNKNOWN;
			for_each(a, &i->addresses) {
				struct span address = span_of(*a);

				address.n = span_find(address, '/');
				if (word.n == address.n && memcmp(word.p, address.p, word.n) == 0 &&
				    !is_known(r->found))
					r->found = probe_span(ctx, word);
			}
		}
	}
}

static void find_setting(struct probe_context *ctx, struct reference *r)
{
	char *path = arena_printf(ctx->arena, "/proc/sys/%s", r->name.value);
	_cleanup_text_ struct text text = { 0 };
	int rc;

	for (char *p = path + strlen("/proc/sys/"); *p; p++)
		*p = *p == '.' ? '/' : *p;
	rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);
	r->found.state = probe_state(rc);
	if (rc == 0)
		r->found = probe_span(ctx, span_trim(text_span(&text)));
}

/* ---- whole files; of the others only references are kept ---- */

/* Users can come from elsewhere than /etc/passwd: then that it does not have one says nothing. */
static bool may_be_elsewhere(struct host *host)
{
	_cleanup_text_ struct text order = { 0 };

	return host_read(host, &order, HOST_FILE_MAX, "/etc/nsswitch.conf") == 0 &&
	       nsswitch_has_others(text_span(&order), "passwd");
}

static int ask_user(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct references_facts *answer = facts;
	_cleanup_text_ struct text passwd = { 0 };
	int rc = host_read(host, &passwd, HOST_FILE_MAX, "/etc/passwd");
	struct reference *r;

	if (rc)
		return rc == -ENOENT ? -ENODATA : rc;
	r = LIST_ADD(arena, &answer->items);
	r->kind = fact_enum(REFERENCE_USER);
	if (passwd_has(text_span(&passwd), user))
		r->found = fact_str(arena, user);
	else if (!may_be_elsewhere(host))
		r->found.state = FACT_ABSENT;
	return 0;
}

static int ask_library(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct references_facts *answer = facts;
	_cleanup_dynamic_loader_ struct dynamic_loader loader;
	const char *path = NULL;
	struct reference *r;
	int rc;

	dynamic_loader_open(&loader, host, arena, NULL);
	rc = dynamic_loader_find(&loader, user, &path);
	if (rc && rc != -ENOENT)
		return rc;
	r = LIST_ADD(arena, &answer->items);
	r->kind = fact_enum(REFERENCE_LIBRARY);
	r->found = rc ? FACT_NONE(fact_str) : fact_str(arena, path);
	return 0;
}

static void find_by(struct probe_context *ctx, struct reference *r, const char *what, host_ask *ask)
{
	struct references_facts answer = { 0 };

	if (host_query(ctx->host, arena_printf(ctx->arena, "%s %s", what, r->name.value),
		       &references_facts_desc, &answer, ctx->arena, ask,
		       (void *)r->name.value) == 0 &&
	    answer.items.count)
		r->found = answer.items.items[0].found;
}

static void find_user(struct probe_context *ctx, struct reference *r)
{
	find_by(ctx, r, "user", ask_user);
}

static void find_library(struct probe_context *ctx, struct reference *r)
{
	find_by(ctx, r, "library", ask_library);
}

/* The highest number of a list against how many there are. */
static void find_processors(struct probe_context *ctx, struct reference *r)
{
	struct fact_u64 cpus = ctx->node->os.cpus;

	if (is_known(cpus))
		r->found = fact_str(ctx->arena, arena_printf(ctx->arena, "%" PRIu64, cpus.value));
}

/* Slurm counts the compute instances of a GPU in MIG mode, and /proc has its GPU instances. */
static bool has_mig_instances(const struct node *node)
{
	for_each(gpu, &node->gpu.devices)
		if (is_known(gpu->mig_instances) && gpu->mig_instances.value)
			return true;
	return false;
}

static void find_amount(struct probe_context *ctx, struct reference *r)
{
	const struct node *node = ctx->node;
	bool gpus = str_is(r->role, "Gres");
	uint64_t there = gpus ? node->gpu.devices.count : node->os.memory_bytes.value >> 20;

	if (gpus ? is_known(node->gpu.devices) && !has_mig_instances(node)
		 : is_known(node->os.memory_bytes))
		r->found = fact_str(ctx->arena, arena_printf(ctx->arena, "%" PRIu64, there));
}

static void find_one(struct probe_context *ctx, struct reference *r)
{
	static void (*const finders[])(struct probe_context *, struct reference *) = {
		[REFERENCE_DEVICE] = find_device,
		[REFERENCE_FILE] = find_file,
		[REFERENCE_PROGRAM] = find_program,
		[REFERENCE_LIBRARY] = find_library,
		[REFERENCE_INTERFACE] = find_interface,
		[REFERENCE_FUNCTION] = find_function,
		[REFERENCE_ADDRESS] = find_address,
		[REFERENCE_SETTING] = find_setting,
		[REFERENCE_USER] = find_user,
		[REFERENCE_PROCESSOR] = find_processors,
		[REFERENCE_AMOUNT] = find_amount,
		[REFERENCE_DRIVER] = find_driver,
		[REFERENCE_RUNTIME] = NULL,
		[REFERENCE_VALUE] = NULL,
		[REFERENCE_REGISTER] = NULL,
	};

	if (finders[r->kind.value])
		finders[r->kind.value](ctx, r);
}

void references_find(struct probe_context *ctx)
{
	for_each_mut(r, &ctx->node->references.items)
		if (is_unknown(r->found))
			find_one(ctx, r);
	find_modules(ctx);
}
