/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env-cache.c - the folder where DeepEP 2 keeps the kernels that it compiles: EP_JIT_CACHE_DIR, else ~/.deep_ep (DeepEP
 * 2.1.0, csrc/jit/compiler.hpp). It creates the folder and all above it. The kernels are loaded, not executed, so
 * noexec does not matter, and for network file systems it synchronizes and renames.
 */
#include "probes/jobs/env-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "parse/process.h"
#include "probes/processes.h"
#include "query/node-find.h"

#define VARIABLE "EP_JIT_CACHE_DIR"
#define DEFAULT_FOLDER ".deep_ep"
#define QUESTION "folder of DeepEP's kernels"
#define CAP_DAC_OVERRIDE_BIT 1 /* linux/capability.h */

struct cache_question {
	const char *folder; /* of the process, in /proc */
	const char *named;  /* by VARIABLE; NULL: the default */
	bool overrides; /* permissions do not bind the process; this child has no such right itself */
};

/* PATH becomes the nearest folder above it that exists. */
static int find_existing(struct host *host, char path[PATH_MAX])
{
	struct host_stat stat;
	int rc;

	while ((rc = host_stat(host, &stat, "%s", path)) == -ENOENT) {
		char *slash = strrchr(path, '/');

		if (!slash || (slash == path && !path[1]))
			return -ENOENT;
		slash[slash == path] = '\0';
	}
	return rc == 0 && !S_ISDIR(stat.mode) ? -ENOTDIR : rc;
}

static bool is_full(const char *path)
{
	struct statvfs vfs;

	/* A file system that counts no files (btrfs), or no blocks (sysfs), says 0 of 0. */
	return statvfs(path, &vfs) == 0 &&
	       ((vfs.f_blocks > 0 && vfs.f_bavail == 0) || (vfs.f_files > 0 && vfs.f_favail == 0));
}

static int find_access(struct host *host, char path[PATH_MAX], bool overrides,
		       struct fact_enum *access)
{
	int rc = find_existing(host, path);

	if (rc == 0 && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0)
		rc = -errno;
	if (rc == 0)
		*access = fact_enum(is_full(path) ? FOLDER_FULL : FOLDER_WRITABLE);
	else if (rc == -EROFS)
		*access = fact_enum(FOLDER_READ_ONLY);
	else if (rc == -ENOTDIR)
		*access = fact_enum(FOLDER_NO_FOLDER);
	else if (rc == -EACCES && !overrides)
		*access = fact_enum(FOLDER_REFUSED);
	else
		return rc;
	return 0;
}

/* The name of a home is its owner's, and the path does not leave this function. */
static int format_cache(struct host *host, const struct cache_question *question,
			char path[PATH_MAX])
{
	_cleanup_text_ struct text text = { 0 };
	struct span home;
	int rc, n;

	if (question->named) {
		n = snprintf(path, PATH_MAX, "%s", question->named);
	} else {
		rc = host_read(host, &text, PROCESS_ENVIRON_MAX, "%s/environ", question->folder);
		if (rc)
			return rc;
		if (!process_environ_find(text_span(&text), "HOME", &home))
			return -ENODATA;
		n = snprintf(path, PATH_MAX, "%.*s/%s", (int)home.n, home.p, DEFAULT_FOLDER);
	}
	/* A relative one is of the folder that the process is in. */
	return n >= PATH_MAX ? -ENAMETOOLONG : *path == '/' ? 0 : -ENODATA;
}

static int ask_cache(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct cache_question *question = user;
	struct env_facts *answer = facts;
	char path[PATH_MAX];
	int rc;

	(void)arena;
	/* The files of a copy have not the owners and the free space of the machine's. */
	if (host_kind(host) != HOST_LIVE)
		return 0;
	rc = format_cache(host, question, path);
	if (rc)
		return rc;
	host_distrust_names(host, true);
	rc = find_access(host, path, question->overrides, &answer->deepep_cache);
	host_distrust_names(host, false);
	return rc;
}

void env_cache_read(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env, answer = { 0 };
	struct cache_question question = { .folder = folder,
					   .named = node_env(ctx->node, VARIABLE) };
	int rc;

	if (!is_known(env->variables) || !is_known(env->uid) || !is_known(env->capabilities))
		return;
	/* Only a process of the same user can do the same, and only in the same mounts. */
	if (host_kind(ctx->host) == HOST_LIVE && ctx->pid &&
	    (env->uid.value != geteuid() || process_is_elsewhere(ctx->host, ctx->pid))) {
		host_gap_note(ctx->host, QUESTION, -EXDEV,
			      "the process is another user's, or has other mounts");
		return;
	}
	if (question.named && !*question.named)
		question.named = NULL;
	question.overrides = env->capabilities.value >> CAP_DAC_OVERRIDE_BIT & 1;
	rc = host_query(ctx->host, QUESTION, &env_facts_desc, &answer, ctx->arena, ask_cache,
			&question);
	/* A process without HOME has no such folder; captures of earlier releases have no answer. */
	if (rc && rc != -ENODATA)
		host_gap_note(ctx->host, QUESTION, rc, NULL);
	if (rc == 0)
		env->deepep_cache = answer.deepep_cache;
}
