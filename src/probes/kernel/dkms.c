/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dkms.c - reads which modules DKMS has built, and the log of a build that failed.
 *
 * In its tree MODULE/VERSION/KERNEL/ARCH is a module that was built, and MODULE/VERSION/build the rest of a build
 * that failed, with its make.log: one that ends well removes that folder (dkms 2.8.1, 3.0.11 and 3.4.3: do_build()).
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/build-log.h"
#include "probes/probe.h"

#define TREE "/var/lib/dkms"
#define PACKAGES_MAX 256
#define VERSIONS_MAX 16 /* of one package */
#define KERNELS_MAX 64
#define LOG_MAX (4u << 20)
#define LINE_BYTES 300 /* of a line that is quoted */

struct tree {
	struct host *host;
	struct arena *arena;
	struct dkms_facts *facts;
};

/* Packages of GPU and RDMA modules, by how their names begin. */
static bool is_of_interest(const char *name)
{
	static const char *const begins[] = { "nvidia",	   "gdrdrv", "nv_peer_mem", "nv-peer",
					      "mlnx",	   "iser",   "isert",	    "srp",
					      "knem",	   "xpmem",  "kernel-mft",  "doca",
					      "mlnx-nvme", "efa",    "rshim",	    "ofa_kernel" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (starts_with(name, begins[i]))
			return true;
	return false;
}

static struct fact_str cut(struct arena *arena, struct span s)
{
	return s.n ? fact_strn(arena, s.p, s.n < LINE_BYTES ? s.n : LINE_BYTES)
		   : FACT_NONE(fact_str);
}

static void read_log(struct tree *t, struct dkms_package *package)
{
	_cleanup_text_ struct text text = { 0 };
	struct build_log log;
	int rc = host_read_head(t->host, &text, LOG_MAX, "%s/build/make.log", package->path.value);

	package->failed_kernel.state = package->cause.state = package->error.state =
		package->log_line.state = package->compiler.state =
			rc && rc != -ENOENT ? FACT_UNKNOWN : FACT_ABSENT;
	if (rc || !build_log_parse(text_span(&text), &log))
		return;
	package->failed_kernel = fact_strn(t->arena, log.kernel.p, log.kernel.n);
	if (log.explained) {
		package->cause = fact_enum((int)log.cause);
		package->error = cut(t->arena, log.error);
		package->log_line = fact_u64(log.line);
	}
	package->compiler = cut(t->arena, log.compiler);
}

/* Folders of kernels, beside "source" and "build". */
static void read_built(struct tree *t, struct dkms_package *package)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(t->host, &names, "%s", package->path.value);

	package->built.state = probe_state(rc);
	for (size_t i = 0; i < names.count && package->built.count < KERNELS_MAX; i++)
		if (names.items[i][0] >= '0' && names.items[i][0] <= '9')
			*LIST_ADD(t->arena, &package->built) = arena_strdup(t->arena,
									    names.items[i]);
}

static struct dkms_package *add_package(struct tree *t, const char *name, const char *path)
{
	struct dkms_package *package = LIST_ADD(t->arena, &t->facts->packages);

	package->path = fact_str(t->arena, path);
	package->name = fact_str(t->arena, name);
	return package;
}

/* 0, or -EOVERFLOW. A package whose versions were not all read has one that is not known, so that it does not pass. */
static int read_package(struct tree *t, const char *name)
{
	_cleanup_names_ struct names versions = { 0 };
	const char *folder = arena_printf(t->arena, TREE "/%s", name);
	int rc = host_list(t->host, &versions, "%s", folder);
	size_t count = 0;

	if (rc == -ENOENT)
		return 0;
	for (size_t i = 0; i < versions.count && t->facts->packages.count < PACKAGES_MAX; i++) {
		struct dkms_package *package;

		/* Links kernel-RELEASE-ARCH lead to what is installed. */
		if (starts_with(versions.items[i], "kernel-"))
			continue;
		if (++count > VERSIONS_MAX) {
			rc = -EOVERFLOW;
			break;
		}
		package = add_package(t, name,
				      arena_printf(t->arena, "%s/%s", folder, versions.items[i]));
		package->version = fact_str(t->arena, versions.items[i]);
		read_built(t, package);
		read_log(t, package);
	}
	if (t->facts->packages.count == PACKAGES_MAX)
		return -EOVERFLOW;
	if (rc)
		add_package(t, name, folder);
	return 0;
}

static void read_headers(struct tree *t)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(t->host, &names, "/lib/modules");

	t->facts->headers.state = probe_state(rc);
	for (size_t i = 0; i < names.count && t->facts->headers.count < KERNELS_MAX; i++) {
		struct host_stat stat;

		if (host_stat(t->host, &stat, "/lib/modules/%s/build", names.items[i]) == 0)
			*LIST_ADD(t->arena, &t->facts->headers) = arena_strdup(t->arena,
									       names.items[i]);
	}
}

static int ask_dkms(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct tree t = { host, arena, facts };
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(host, &names, TREE);

	(void)user;
	t.facts->packages.state = probe_state(rc);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (is_of_interest(names.items[i]))
			rc = read_package(&t, names.items[i]);
	if (t.facts->packages.count)
		read_headers(&t);
	return rc;
}

static void dkms_run(struct probe_context *ctx)
{
	host_query(ctx->host, TREE, &dkms_facts_desc, &ctx->node->dkms, ctx->arena, ask_dkms, NULL);
}

const struct probe probe_dkms = {
	.name = "dkms",
	.phase = PHASE_ALONE,
	PROBE_SECTION(dkms),
	.run = dkms_run,
};
