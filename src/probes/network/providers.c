/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * providers.c - the user-space drivers that libibverbs would load. One takes two things: a line in
 * /etc/libibverbs.d that names it, and its library (rdma-core, libibverbs/dynamic_driver.c). A libibverbs that was
 * installed below another prefix looks for both there (CMakeLists.txt, IBV_CONFIG_DIR and VERBS_PROVIDER_DIR).
 */
#include <string.h>

#include "base/array.h"
#include "parse/rdma.h"
#include "probes/dynamic-loader.h"
#include "probes/probe.h"
#include "query/node-find.h"
#include "query/ports.h"

#define PROVIDERS "/etc/libibverbs.d"

/* Folders of provider libraries in distributions (VERBS_PROVIDER_DIR of rdma-core's build). */
static const char *const library_folders[] = {
	"/usr/lib/x86_64-linux-gnu/libibverbs",
	"/usr/lib/aarch64-linux-gnu/libibverbs",
	"/usr/lib64/libibverbs",
	"/usr/lib/libibverbs",
};
#define USUAL_FOLDERS (ARRAY_SIZE(library_folders))
#define LIBRARY_FOLDERS (USUAL_FOLDERS + 1) /* and that of another prefix */

struct libraries {
	const char *configuration; /* the folder with the names */
	const char *own;	   /* folder of the other prefix, or NULL */
	struct names files[LIBRARY_FOLDERS];
	/* providers that are in the folders of the library path */
	const struct libraries_facts *plain;
	bool any;    /* one of the folders is there */
	bool named;  /* a file names a provider */
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
	for_each(f, &libraries->plain->verbs_providers)
		if (is_known(f->name) && span_is(*name, f->name.value))
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

	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/%s", libraries->configuration,
			   file);

	note_error(libraries, rc);
	if (rc)
		return;
	rest = text_span(&text);
	while (verbs_driver_next(&rest, &name)) {
		libraries->named = true;
		if (find_library(ctx, libraries, &name))
			add_provider(ctx, name);
	}
}

static void list_libraries(struct probe_context *ctx, struct libraries *libraries)
{
	for (size_t i = 0; i < LIBRARY_FOLDERS; i++) {
		const char *folder = i < USUAL_FOLDERS ? library_folders[i] : libraries->own;
		int rc;

		/* A libibverbs of another prefix does not look into the usual ones. */
		if (!folder || (libraries->own && folder != libraries->own))
			continue;
		rc = host_list(ctx->host, &libraries->files[i], "%s", folder);

		note_error(libraries, rc);
		libraries->any |= rc == 0;
	}
}

static int ask_verbs(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct libraries_facts *answer = facts;
	_cleanup_dynamic_loader_ struct dynamic_loader loader = { 0 };
	const char *path = NULL;
	int rc;

	dynamic_loader_open(&loader, host, arena, user);
	rc = dynamic_loader_find(&loader, "libibverbs.so.1", &path);
	if (rc && rc != -ENOENT)
		return rc;
	answer->verbs = rc ? FACT_NONE(fact_str) : fact_str(arena, path);
	return 0;
}

/*
 * What is in none of the folders, libibverbs opens as the loader finds it: lib<name>-rdmav<number>.so (rdma-core 64,
 * libibverbs/dynamic_driver.c, load_driver()). The numbers: of MLNX_OFED 4, and of rdma-core 22, 34, 57, 59 and 64.
 */
static int ask_plain(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const unsigned int numbers[] = { 2, 22, 34, 57, 59, 64 };
	struct libraries_facts *answer = facts;
	_cleanup_dynamic_loader_ struct dynamic_loader loader = { 0 };
	const struct node *node = user;

	dynamic_loader_open(&loader, host, arena, node_env(node, "LD_LIBRARY_PATH"));
	answer->verbs_providers.state = FACT_KNOWN;
	for_each(d, &node->rdma.devices) {
		const char *name = verbs_provider_of(d);
		const char *path = NULL;
		bool known = !name;

		for_each(f, &answer->verbs_providers)
			known |= name && str_is(f->name, name);
		for (size_t i = 0; !known && i < ARRAY_SIZE(numbers); i++)
			if (dynamic_loader_find(
				    &loader,
				    arena_printf(arena, "lib%s-rdmav%u.so", name, numbers[i]),
				    &path) == 0) {
				struct verbs_provider_file *f = LIST_ADD(arena,
									 &answer->verbs_providers);

				f->path = fact_str(arena, path);
				f->name = fact_str(arena, name);
				f->abi = fact_u64(numbers[i]);
				known = true;
			}
	}
	return 0;
}

/* /opt/rdma of /opt/rdma/lib64/libibverbs.so.1, /usr/local of /usr/local/lib/libibverbs.so.1. */
static void find_prefix(struct probe_context *ctx, struct libraries *libraries)
{
	struct libraries_facts answer = { 0 };
	const char *path, *lib, *slash;

	libraries->configuration = PROVIDERS;
	if (host_query(ctx->host, "prefix of libibverbs.so.1", &libraries_facts_desc, &answer,
		       ctx->arena, ask_verbs, (void *)node_env(ctx->node, "LD_LIBRARY_PATH")) ||
	    !is_known(answer.verbs))
		return;
	path = answer.verbs.value;
	if (!starts_with(path, "/usr/local/") && !starts_with(path, "/opt/"))
		return;
	lib = strstr(path, "/lib");
	slash = strrchr(path, '/');
	if (!lib || lib == slash)
		return;
	libraries->configuration = arena_printf(ctx->arena, "%.*s" PROVIDERS, (int)(lib - path),
						path);
	libraries->own = arena_printf(ctx->arena, "%.*s/libibverbs", (int)(slash - path), path);
}

/* ---- the folders that this libibverbs does not read ---- */

static void add_unread(struct probe_context *ctx, const char *path, struct span name)
{
	const char *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;
	struct unread_provider *p = LIST_ADD(ctx->arena, &ctx->node->rdma.unread_providers);

	if (slash)
		name = (struct span){ slash + 1, name.n - (size_t)(slash + 1 - name.p) };
	if (slash && span_starts(name, "lib"))
		name = (struct span){ name.p + 3, name.n - 3 };
	p->path = fact_str(ctx->arena, path);
	p->name = probe_span(ctx, name);
}

static int read_unread_folder(struct probe_context *ctx, const char *folder)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, "%s", folder);

	for (size_t i = 0; !rc && i < names.count; i++) {
		_cleanup_text_ struct text text = { 0 };
		const char *path = arena_printf(ctx->arena, "%s/%s", folder, names.items[i]);
		struct span rest, name;

		rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);
		rest = text_span(&text);
		/* One line of a file is enough: they name builds of one provider. */
		if (!rc && verbs_driver_next(&rest, &name))
			add_unread(ctx, path, name);
	}
	return rc == -ENOENT ? 0 : rc;
}

static void read_unread(struct probe_context *ctx, const char *configuration)
{
	_cleanup_names_ struct names opt = { 0 };
	static const char *const usual[] = { PROVIDERS, "/usr/local" PROVIDERS };
	int rc = 0, bad;

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (strcmp(configuration, usual[i]) != 0) {
			bad = read_unread_folder(ctx, usual[i]);
			rc = rc ? rc : bad;
		}
	bad = host_list(ctx->host, &opt, "/opt");
	rc = rc || bad == -ENOENT ? rc : bad;
	for (size_t i = 0; i < opt.count; i++) {
		const char *folder = arena_printf(ctx->arena, "/opt/%s" PROVIDERS, opt.items[i]);

		if (strcmp(configuration, folder) == 0)
			continue;
		bad = read_unread_folder(ctx, folder);
		rc = rc ? rc : bad;
	}
	ctx->node->rdma.unread_providers.state = rc ? probe_state(rc) : FACT_KNOWN;
}

static void providers_run(struct probe_context *ctx)
{
	struct rdma_facts *rdma = &ctx->node->rdma;
	_cleanup_(free_libraries) struct libraries libraries = { 0 };
	_cleanup_names_ struct names names = { 0 };
	struct libraries_facts plain = { 0 };
	int rc;

	libraries.plain = &plain;
	find_prefix(ctx, &libraries);
	read_unread(ctx, libraries.configuration);
	rc = host_list(ctx->host, &names, "%s", libraries.configuration);
	if (rc) {
		rdma->providers.state = probe_state(rc);
		return;
	}
	list_libraries(ctx, &libraries);
	if (host_query(ctx->host, "providers on the library path", &libraries_facts_desc, &plain,
		       ctx->arena, ask_plain, ctx->node))
		plain = (struct libraries_facts){ 0 };
	for (size_t i = 0; i < names.count; i++)
		read_providers_of(ctx, &libraries, names.items[i]);
	/* Where nothing is named, libibverbs opens nothing, wherever the libraries are. */
	if (libraries.named && !libraries.any && !plain.verbs_providers.count) {
		host_gap_note(ctx->host, libraries.configuration, -ENODATA,
			      "the provider libraries are in none of the usual folders");
		return;
	}
	rdma->providers.state = libraries.unread ? FACT_UNKNOWN : FACT_KNOWN;
}

/* Apart from rdma: a port that hangs must not cost what is known here. */
const struct probe probe_providers = {
	.name = "providers",
	.phase = PHASE_SECOND,
	.section = offsetof(struct node, rdma.providers),
	.section_size = sizeof(((struct node *)0)->rdma.providers) +
			sizeof(((struct node *)0)->rdma.unread_providers),
	.run = providers_run,
};
