/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env-conf.c - the files that NCCL and NVSHMEM take variables from. NCCL reads one of a user's and one of the
 * system's, and the environment stands over both. NVSHMEM reads all of them, and they stand over the environment.
 */
#include "probes/jobs/env-conf.h"

#include <string.h>

#include "parse/passwd.h"
#include "parse/process.h"
#include "probes/processes.h"
#include "query/node-find.h"

#define SETTINGS_MAX 1024
#define NCCL_HOME_CONF "~/.nccl.conf"
#define NCCL_CONF "/etc/nccl.conf"
#define NVSHMEM_HOME_CONF "~/.nvshmem.conf"
#define NVSHMEM_CONF "/etc/nvshmem.conf"
#define HOMES_DIFFER                                                      \
	"HOME and /etc/passwd do not lead to one file: NCCL before 2.30 " \
	"takes the home of passwd, later releases HOME"

/* Returns the variable that the line seems to set: for NCCL a shell's "export" and blanks are part of the name. */
static struct span meant_name(struct span name)
{
	static const char export[] = "export ";

	name = span_trim(name);
	if (span_starts(name, export))
		name = span_trim((struct span){ name.p + strlen(export), name.n - strlen(export) });
	return name;
}

/* NAME=VALUE of a line, cut at the first "=". A job can name any file: only the variables that matter are kept. */
static bool cut_setting(struct span line, struct span *name, struct span *value)
{
	size_t equals = span_find(line, '=');

	if (equals == line.n || span_starts(line, "#"))
		return false;
	*name = (struct span){ line.p, equals };
	*value = (struct span){ line.p + equals + 1, line.n - equals - 1 };
	return process_variable_matters(meant_name(*name));
}

static struct env_setting make_setting(struct arena *arena, struct span name, struct span value,
				       const char *file, uint64_t line)
{
	return (struct env_setting){
		.name = fact_strn(arena, name.p, name.n),
		.value = fact_strn(arena, value.p, value.n),
		.file = fact_str(arena, file),
		.line = fact_u64(line),
	};
}

/* A "#" after a blank begins a comment. */
static struct span without_comment(struct span value)
{
	for (size_t i = 1; i < value.n; i++)
		if (value.p[i] == '#' && strchr(" \t", value.p[i - 1]))
			return span_trim((struct span){ value.p, i });
	return value;
}

/*
 * The library that reads the file. NCCL (src/misc/param.cc, setEnvFile) takes NAME=VALUE unchanged, and "#" at the
 * beginning alone is a comment. For NVSHMEM (3.6.5, src/include/bootstrap_host_transport/env_defs_internal.h,
 * nvshmemi_conf_parse_file) blanks round the name and the value do not count.
 */
enum reader { NCCL, NVSHMEM };

/* Takes the settings of a file. SHOWN is the name that the facts have for it. */
static void take_settings(struct span rest, enum reader reader, struct env_facts *answer,
			  struct arena *arena, const char *shown)
{
	struct env_setting *setting;
	struct span line, name, value;
	size_t count = 0;

	*(reader == NCCL ? &answer->nccl_conf.state : &answer->nvshmem_conf.state) = FACT_KNOWN;
	for (uint64_t number = 1; count < SETTINGS_MAX && span_cut(&rest, '\n', &line); number++) {
		if (!cut_setting(reader == NCCL ? line : span_trim(line), &name, &value))
			continue;
		if (reader == NVSHMEM) {
			name = span_trim(name);
			value = without_comment(span_trim(value));
		}
		setting = reader == NCCL ? LIST_ADD(arena, &answer->nccl_conf)
					 : LIST_ADD(arena, &answer->nvshmem_conf);
		*setting = make_setting(arena, name, value, shown, number);
		count++;
	}
}

/* A file that the environment names, by itself or through a home. */
static int read_named(struct host *host, struct text *text, const char *path)
{
	int rc;

	host_distrust_names(host, true);
	rc = host_read(host, text, HOST_FILE_MAX, "%s", path);
	host_distrust_names(host, false);
	return rc;
}

struct file {
	const char *path;
	enum reader reader;
};

static int ask_file(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct file *file = user;
	_cleanup_text_ struct text text = { 0 };
	int rc = read_named(host, &text, file->path);

	if (rc == 0)
		take_settings(text_span(&text), file->reader, facts, arena, file->path);
	return rc;
}

/* ---- the file of a home ---- */

struct person {
	const char *folder; /* of their process, in /proc */
	struct fact_u64 user;
	bool preflight;
};

/* HOME in the environment of the process; NULL: it has none. */
static int find_home_told(struct host *host, struct arena *arena, const char *folder,
			  const char **home)
{
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	int rc = process_read_environ(host, &text, folder);

	if (rc == 0 && process_environ_find(text_span(&text), "HOME", &value))
		*home = arena_strndup(arena, value.p, value.n);
	return rc;
}

/* The home in /etc/passwd; NULL: the user is not in it. */
static int find_home_listed(struct host *host, struct arena *arena, struct fact_u64 user,
			    const char **home)
{
	_cleanup_text_ struct text text = { 0 };
	struct span found;
	int rc = is_known(user) ? host_read(host, &text, HOST_FILE_MAX, "/etc/passwd") : -ENOENT;

	if (rc == 0 && passwd_home(text_span(&text), user.value, &found))
		*home = arena_strndup(arena, found.p, found.n);
	return rc == -ENODATA || rc == -ENOENT ? 0 : rc;
}

/* A copy of a node has no user's home. */
static int read_home(struct host *host, const char *home, const char *name, struct text *text)
{
	char path[PATH_MAX];
	int rc = -ENOENT;

	if (home && *home == '/')
		rc = snprintf(path, sizeof(path), "%s/%s", home, name) < PATH_MAX
			     ? read_named(host, text, path)
			     : -ENAMETOOLONG;
	return rc == -ENODATA ? -ENOENT : rc;
}

static bool is_same(const struct text *a, const struct text *b)
{
	return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/*
 * NCCL finds its user's home in passwd before 2.30, and by HOME since (src/misc/param.cc,
 * userHomeDir()). Where both lead to the same lines, or to no file, all releases agree; else it is
 * not known which of the two counts.
 */
static int read_agreed(struct host *host, const char *told, const char *listed, struct text *text)
{
	_cleanup_text_ struct text other = { 0 };
	int rc = read_home(host, told, ".nccl.conf", text), other_rc;

	if (told && listed && strcmp(told, listed) == 0)
		return rc;
	other_rc = read_home(host, listed, ".nccl.conf", &other);
	if (rc == other_rc)
		return rc == 0 && !is_same(text, &other) ? -ENOTUNIQ : rc;
	if (rc && rc != -ENOENT)
		return rc;
	return other_rc && other_rc != -ENOENT ? other_rc : -ENOTUNIQ;
}

/* Finds the user's home. A user who is not in /etc/passwd comes from a directory service, for which login has set
 * HOME. For preflight HOME counts if it is set. The path is private and does not leave this function. */
static int ask_home(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct person *person = user;
	_cleanup_text_ struct text text = { 0 };
	const char *told = NULL, *listed = NULL;
	int rc = find_home_told(host, arena, person->folder, &told);

	if (rc)
		return rc;
	if (!told || !person->preflight)
		rc = find_home_listed(host, arena, person->user, &listed);
	if (rc)
		return rc;
	if (!told && !listed)
		return -ENOTUNIQ;
	rc = read_agreed(host, told, listed ? listed : told, &text);
	if (rc == 0)
		take_settings(text_span(&text), NCCL, facts, arena, NCCL_HOME_CONF);
	return rc;
}

/* ---- all files ---- */

static int add_settings(struct probe_context *ctx, const char *path, host_ask *ask, void *user)
{
	struct env_facts *env = &ctx->node->env, answer = { 0 };
	int rc = host_query(ctx->host, arena_printf(ctx->arena, "variables in %s", path),
			    &env_facts_desc, &answer, ctx->arena, ask, user);

	if (rc && rc != -ENOENT)
		host_gap_note(ctx->host, path, rc,
			      rc == -ENOTUNIQ ? HOMES_DIFFER : process_environ_error(rc));
	if (rc)
		return rc;
	if (is_known(answer.nccl_conf))
		env->nccl_conf.state = FACT_KNOWN;
	for_each(setting, &answer.nccl_conf)
		*LIST_ADD(ctx->arena, &env->nccl_conf) = *setting;
	if (is_known(answer.nvshmem_conf))
		env->nvshmem_conf.state = FACT_KNOWN;
	for_each(setting, &answer.nvshmem_conf)
		*LIST_ADD(ctx->arena, &env->nvshmem_conf) = *setting;
	return 0;
}

static int add_file(struct probe_context *ctx, const char *path, enum reader reader)
{
	struct file file = { .path = path, .reader = reader };

	return add_settings(ctx, path, ask_file, &file);
}

static int read_first(struct probe_context *ctx, const char *folder, struct fact_u64 user)
{
	struct person person = { .folder = folder, .user = user, .preflight = ctx->preflight };
	const char *own = node_env(ctx->node, "NCCL_CONF_FILE");
	int rc;

	if (!own || !*own) {
		rc = add_settings(ctx, NCCL_HOME_CONF, ask_home, &person);
		/* Nor had a capture, before this was asked. */
		return rc == -ENODATA ? -ENOENT : rc;
	}
	if (*own == '/')
		return add_file(ctx, own, NCCL);
	host_gap_note(ctx->host, NCCL_CONF, -ENODATA,
		      "NCCL_CONF_FILE is relative to the folder that the process is in");
	return -ENODATA;
}

void nccl_conf_read(struct probe_context *ctx, const char *folder, struct fact_u64 user)
{
	struct env_facts *env = &ctx->node->env;
	int first, standard;

	if (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid)) {
		host_gap_note(ctx->host, NCCL_CONF, -EXDEV, PROCESS_IS_ELSEWHERE);
		return;
	}
	first = read_first(ctx, folder, user);
	standard = add_file(ctx, NCCL_CONF, NCCL);
	if ((first && first != -ENOENT) || (standard && standard != -ENOENT))
		env->nccl_conf.state = FACT_UNKNOWN;
	else if (first && standard)
		env->nccl_conf.state = FACT_ABSENT;
}

/* ---- NVSHMEM's ---- */

/* NVSHMEM finds the home by HOME alone. The name of a home is its owner's: the path does not leave this function. */
static int ask_nvshmem_home(struct host *host, void *facts, struct arena *arena, void *user)
{
	_cleanup_text_ struct text text = { 0 };
	const char *home = NULL;
	int rc = find_home_told(host, arena, user, &home);

	if (rc == 0)
		rc = read_home(host, home, ".nvshmem.conf", &text);
	if (rc == 0)
		take_settings(text_span(&text), NVSHMEM, facts, arena, NVSHMEM_HOME_CONF);
	return rc;
}

static int read_specified(struct probe_context *ctx)
{
	const char *own = node_env(ctx->node, "NVSHMEM_CONF_FILE");

	if (!own || !*own)
		return -ENOENT;
	if (*own == '/')
		return add_file(ctx, own, NVSHMEM);
	host_gap_note(ctx->host, NVSHMEM_CONF, -ENODATA,
		      "NVSHMEM_CONF_FILE is relative to the folder that the process is in");
	return -ENODATA;
}

/* The system's, the user's, the one that is named: the later ones stand over the earlier ones. */
void nvshmem_conf_read(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env;
	int rc[3];

	if (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid)) {
		host_gap_note(ctx->host, NVSHMEM_CONF, -EXDEV, PROCESS_IS_ELSEWHERE);
		return;
	}
	env->nvshmem_conf.state = FACT_ABSENT;
	rc[0] = add_file(ctx, NVSHMEM_CONF, NVSHMEM);
	rc[1] = add_settings(ctx, NVSHMEM_HOME_CONF, ask_nvshmem_home,
			     arena_strdup(ctx->arena, folder));
	rc[2] = read_specified(ctx);
	for (size_t i = 0; i < 3; i++)
		if (rc[i] && rc[i] != -ENOENT)
			env->nvshmem_conf.state = FACT_UNKNOWN;
}
