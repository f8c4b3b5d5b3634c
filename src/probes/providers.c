/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * providers.c - the user-space drivers that libibverbs would load. One takes two things: a line in
 * /etc/libibverbs.d that names it, and its library (rdma-core, libibverbs/dynamic_driver.c).
 */
#include <string.h>

#include "parse/rdma.h"
#include "probes/probe.h"

#define PROVIDERS "/etc/libibverbs.d"

/* Where distributions put provider libraries (VERBS_PROVIDER_DIR of rdma-core's build). */
static const char *const library_folders[] = {
	"/usr/lib/x86_64-linux-gnu/libibverbs",
	"/usr/lib/aarch64-linux-gnu/libibverbs",
	"/usr/lib64/libibverbs",
	"/usr/lib/libibverbs",
};
#define LIBRARY_FOLDERS (sizeof(library_folders) / sizeof(library_folders[0]))

struct libraries {
	struct names files[LIBRARY_FOLDERS];
	bool any;    /* one of the folders is there */
	bool unread; /* something could not be read: a provider may be missing from the list */
};

static void note_error(struct libraries *libraries, int rc)
{
	libraries->unread |= rc && rc != -ENOENT && rc != -ENODATA;
}

static void free_libraries(struct libraries *libraries)
{
	for (size_t i = 0; i < LIBRARY_FOLDERS; i++)
		names_free(&libraries->files[i]);
}

static bool names_have_library(const struct names *files, struct span provider)
{
	for (size_t i = 0; i < files->count; i++)
		if (verbs_is_library(span_of(files->items[i]), provider))
			return true;
	return false;
}

/* NAME is "mlx5", or a path without its end: /opt/x/libmlx5. */
static bool find_library(struct probe_context *ctx, struct libraries *libraries, struct span *name)
{
	_cleanup_names_ struct names files = { 0 };
	const char *slash = name->n ? memrchr(name->p, '/', name->n) : NULL;
	struct span folder, base;

	if (slash) {
		int rc;

		folder = (struct span){ name->p, (size_t)(slash - name->p) };
		base = (struct span){ slash + 1, name->n - folder.n - 1 };
		if (span_starts(base, "lib"))
			base = (struct span){ base.p + 3, base.n - 3 };
		*name = base;
		rc = host_list(ctx->host, &files, "%.*s", SPAN_FMT(folder));
		note_error(libraries, rc);
		return rc == 0 && names_have_library(&files, base);
	}
	for (size_t i = 0; i < LIBRARY_FOLDERS; i++)
		if (names_have_library(&libraries->files[i], *name))
			return true;
	return false;
}

static void add_provider(struct probe_context *ctx, struct span name)
{
	struct rdma_facts *rdma = &ctx->node->rdma;
	const char *copy = probe_span(ctx, name).value;

	for (uint32_t i = 0; i < rdma->providers.count; i++)
		if (strcmp(rdma->providers.items[i], copy) == 0)
			return;
	*LIST_ADD(ctx->arena, &rdma->providers) = copy;
}

/* libibverbs reads every file in the folder, whatever it is called. */
static void read_providers_of(struct probe_context *ctx, struct libraries *libraries,
			      const char *file)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, name;

	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, PROVIDERS "/%s", file);

	note_error(libraries, rc);
	if (rc)
		return;
	rest = text_span(&text);
	while (verbs_driver_next(&rest, &name))
		if (find_library(ctx, libraries, &name))
			add_provider(ctx, name);
}

static void list_libraries(struct probe_context *ctx, struct libraries *libraries)
{
	for (size_t i = 0; i < LIBRARY_FOLDERS; i++) {
		int rc = host_list(ctx->host, &libraries->files[i], "%s", library_folders[i]);

		note_error(libraries, rc);
		libraries->any |= rc == 0;
	}
}

static void run(struct probe_context *ctx)
{
	struct rdma_facts *rdma = &ctx->node->rdma;
	_cleanup_(free_libraries) struct libraries libraries = { 0 };
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, PROVIDERS);

	if (rc) {
		rdma->providers.state = probe_state(rc);
		return;
	}
	list_libraries(ctx, &libraries);
	if (!libraries.any) {
		host_gap_note(ctx->host, PROVIDERS, -ENODATA,
			      "the provider libraries are in none of the usual folders");
		return;
	}
	for (size_t i = 0; i < names.count; i++)
		read_providers_of(ctx, &libraries, names.items[i]);
	rdma->providers.state = libraries.unread ? FACT_UNKNOWN : FACT_KNOWN;
}

/* Apart from rdma: a port that hangs must not cost what is known here. */
const struct probe probe_providers = {
	.name = "providers",
	.phase = 2,
	PROBE_SECTION(rdma.providers),
	.run = run,
};
