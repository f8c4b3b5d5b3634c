/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubelet.c - by which engine the kubelet starts its pods: its --container-runtime-endpoint, on its command line or
 * in kubeadm's file of flags, or containerRuntimeEndpoint in its configuration. Only that leaves this probe:
 * command lines can hold passwords.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "probes/probe.h"
#include "probes/processes.h"

#define CMDLINE_MAX (128u << 10)

struct search {
	struct host *host;
	bool runs;
	bool adapter;  /* cri-dockerd runs */
	bool endpoint; /* is named */
	bool docker;   /* and is Docker's */
};

/* Takes the word after KEY; the last one counts. */
static void take_endpoint(struct search *s, struct span text, const char *key)
{
	const char *at;

	while ((at = span_search(text, key))) {
		struct span value = { at + strlen(key),
				      (size_t)(text.p + text.n - at) - strlen(key) };
		size_t n = 0;

		while (n < value.n && !strchr(" \t\n\"'", value.p[n]) && value.p[n])
			n++;
		text = (struct span){ value.p + n, value.n - n };
		s->endpoint = true;
		s->docker = span_search((struct span){ value.p, n }, "docker") != NULL;
	}
}

static void kubelet_found(void *user, uint64_t pid, const char *comm)
{
	struct search *s = user;
	_cleanup_text_ struct text text = { 0 };

	if ((strcmp(comm, "cri-dockerd") != 0 && strcmp(comm, "kubelet") != 0) ||
	    !process_is_the_nodes(s->host, pid) || process_is_contained(s->host, (pid_t)pid))
		return;
	s->adapter |= strcmp(comm, "cri-dockerd") == 0;
	if (strcmp(comm, "kubelet") != 0)
		return;
	s->runs = true;
	if (host_read(s->host, &text, CMDLINE_MAX, "/proc/%llu/cmdline", (unsigned long long)pid))
		return;
	/* Arguments end with NULs; one of two words is as good as one with "=". */
	for (size_t i = 0; i + 1 < text.size; i++)
		if (!text.data[i])
			text.data[i] = text.data[i + 1] == '-' ? ' ' : '=';
	take_endpoint(s, text_span(&text), "--container-runtime-endpoint=");
}

static void read_files(struct search *s)
{
	static const struct {
		const char *path, *key;
	} files[] = {
		{ "/var/lib/kubelet/kubeadm-flags.env", "--container-runtime-endpoint=" },
		{ "/var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files) && !s->endpoint; i++) {
		_cleanup_text_ struct text text = { 0 };

		if (host_read(s->host, &text, HOST_FILE_MAX, "%s", files[i].path) == 0)
			take_endpoint(s, text_span(&text), files[i].key);
	}
}

static int kubelet_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	struct search s = { .host = host };
	struct host_stat stat;
	int rc = processes_list(host, kubelet_found, &s);

	(void)arena;
	(void)user;
	if (rc)
		return rc == -ESRCH ? -ENODATA : rc;
	read_files(&s);
	if (!s.runs)
		answer->kubelet_uses_docker.state = FACT_ABSENT;
	else if (s.endpoint)
		answer->kubelet_uses_docker = fact_bool(s.docker);
	else if (s.adapter || host_stat(host, &stat, "/var/lib/dockershim") == 0)
		answer->kubelet_uses_docker = fact_bool(true);
	return 0;
}

static void kubelet_run(struct probe_context *ctx)
{
	struct containers_facts answer = { 0 };

	if (is_known(ctx->node->os.container))
		return;
	if (host_query(ctx->host, "kubelet", &containers_facts_desc, &answer, ctx->arena,
		       kubelet_ask, NULL) == 0)
		ctx->node->containers.kubelet_uses_docker = answer.kubelet_uses_docker;
}

const struct probe probe_kubelet = {
	.name = "kubelet",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	.run = kubelet_run,
};
