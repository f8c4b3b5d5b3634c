/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mps.c - the control daemons of CUDA's Multi-Process Service, and whether the job's CUDA programs find one. A program
 * looks for a control pipe in CUDA_MPS_PIPE_DIRECTORY, without which that is /tmp/nvidia-mps.
 */
#include <errno.h>
#include <string.h>

#include "parse/process.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "query/node-find.h"

#define VARIABLE "CUDA_MPS_PIPE_DIRECTORY"
#define DEFAULT_FOLDER "/tmp/nvidia-mps"
#define NAME \
	"nvidia-cuda-mps" /* of the control daemon and of its servers: the kernel cuts it off */
#define CONTROL "nvidia-cuda-mps-control"
#define DAEMONS_MAX 64
#define COMMAND_MAX 4096

struct search {
	struct host *host;
	struct arena *arena;
	struct mps_facts *answer;
	const char *folder; /* of the job; NULL: not known */
	int error;
};

static bool is_control(struct search *s, uint64_t pid)
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read_head(s->host, &text, COMMAND_MAX, "/proc/%llu/cmdline",
				(unsigned long long)pid);

	/* A process that has ended does not count. */
	if (rc && rc != -ENOENT && rc != -ESRCH)
		s->error = rc;
	/* The first argument ends with a NUL. */
	return rc == 0 && text.data && strcmp(span_base_name(text.data), CONTROL) == 0;
}

/* Two spellings of one folder: a slash at the end. */
static bool is_same_folder(struct span a, const char *b)
{
	size_t n = strlen(b);

	while (a.n > 1 && a.p[a.n - 1] == '/')
		a.n--;
	while (n > 1 && b[n - 1] == '/')
		n--;
	return a.n == n && memcmp(a.p, b, n) == 0;
}

static void read_folder(struct search *s, struct mps_daemon *daemon, const char *proc)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, name, value, folder = SPAN(DEFAULT_FOLDER);

	if (process_read_environ(s->host, &text, proc))
		return;
	rest = text_span(&text);
	while (process_environ_next(&rest, &name, &value))
		if (span_is(name, VARIABLE) && value.n)
			folder = value;
	daemon->is_default = fact_bool(is_same_folder(folder, DEFAULT_FOLDER));
	if (s->folder)
		daemon->is_jobs = fact_bool(is_same_folder(folder, s->folder));
}

static void mps_found(void *user, uint64_t pid, const char *comm)
{
	struct search *s = user;
	_cleanup_text_ struct text status = { 0 };
	struct mps_daemon *daemon;
	const char *proc;
	uint64_t real, effective;

	if (strcmp(comm, NAME) != 0 || s->answer->daemons.count == DAEMONS_MAX ||
	    !is_control(s, pid))
		return;
	proc = arena_printf(s->arena, "/proc/%llu", (unsigned long long)pid);
	daemon = LIST_ADD(s->arena, &s->answer->daemons);
	daemon->pid = fact_u64(pid);
	daemon->elsewhere = fact_bool(process_is_elsewhere(s->host, (pid_t)pid));
	if (host_read(s->host, &status, HOST_FILE_MAX, "%s/status", proc) == 0 &&
	    process_uids(text_span(&status), &real, &effective))
		daemon->uid = fact_u64(effective);
	read_folder(s, daemon, proc);
}

/* The names of folders can be private: what they mean is all that leaves this function. */
static int mps_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct search s = { .host = host, .arena = arena, .answer = facts, .folder = user };
	int rc = processes_list(host, mps_found, &s);
	struct host_stat stat;

	if (s.folder && s.folder[0] == '/') {
		int control;

		host_distrust_names(host, true);
		control = host_stat(host, &stat, "%s/control", s.folder);
		host_distrust_names(host, false);
		if (control == 0 || control == -ENOENT || control == -ENOTDIR)
			s.answer->has_control = fact_bool(control == 0);
	}
	s.answer->daemons.state = rc || s.error ? FACT_UNKNOWN : FACT_KNOWN;
	return 0;
}

static void mps_run(struct probe_context *ctx)
{
	const struct node *node = ctx->node;
	const char *folder = node_env(node, VARIABLE);

	if (!was_read(node->env.variables))
		folder = NULL;
	else if (!folder || !*folder)
		folder = DEFAULT_FOLDER;
	host_query(ctx->host, "MPS", &mps_facts_desc, &ctx->node->mps, ctx->arena, mps_ask,
		   (void *)folder);
}

const struct probe probe_mps = {
	.name = "mps",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	PROBE_SECTION(mps),
	.run = mps_run,
};
