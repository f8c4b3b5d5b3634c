/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-libraries.c - whether the libraries that jobs open would load (rules software/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/container-runtime.h"
#include "query/distribution.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/ports.h"

/* ---- which of them this node needs ---- */

enum demand {
	DEMAND_RDMA,	 /* an RDMA device */
	DEMAND_PROVIDER, /* an RDMA device with that driver */
	DEMAND_GPU,	 /* an NVIDIA GPU */
	DEMAND_BOTH,
	DEMAND_GDRDRV, /* the module gdrdrv */
	DEMAND_EFA,
};

static const struct use {
	const char *use;
	enum demand demand;
	enum severity severity; /* where the node has what it is for */
	enum severity efa;	/* on a node with EFA, which has no other way */
	enum severity asked;	/* where a variable or the profile asks for it */
	const char *effect;
} uses[] = {
	{ "gdrcopy", DEMAND_GDRDRV, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_WARN,
	  "Programs cannot use GDRCopy." },
	{ "libfabric", DEMAND_EFA, SEVERITY_ERR, SEVERITY_ERR, SEVERITY_ERR,
	  "NCCL and MPI cannot use EFA and fall back to TCP sockets." },
	{ "nccl", DEMAND_GPU, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_WARN,
	  "Programs that use the system's NCCL do not start." },
	{ "nccl-net", DEMAND_GPU, SEVERITY_WARN, SEVERITY_ERR, SEVERITY_WARN,
	  "NCCL cannot load its network plugin. With EFA it falls back to TCP sockets." },
	{ "nccl-tuner", DEMAND_GPU, SEVERITY_INFO, SEVERITY_WARN, SEVERITY_WARN,
	  "NCCL cannot load its tuner plugin and selects algorithms itself." },
	{ "nvshmem", DEMAND_GPU, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_ERR,
	  "Programs that use this NVSHMEM do not start." },
	{ "nvshmem-bootstrap", DEMAND_GPU, SEVERITY_ERR, SEVERITY_ERR, SEVERITY_ERR,
	  "NVSHMEM does not start: \"Bootstrap unable to load\"." },
	{ "nvshmem-ibgda", DEMAND_BOTH, SEVERITY_INFO, SEVERITY_INFO, SEVERITY_ERR,
	  "NVSHMEM has no IBGDA: \"Unable to open the nvshmem_transport_ibgda.so transport\"." },
	{ "nvshmem-transport", DEMAND_BOTH, SEVERITY_WARN, SEVERITY_INFO, SEVERITY_ERR,
	  "NVSHMEM has no transport between nodes." },
	{ "ucx", DEMAND_RDMA, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_WARN,
	  "Programs that use UCX do not start." },
	{ "ucx-cuda", DEMAND_GPU, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_WARN,
	  "UCX and MPI cannot transfer GPU memory." },
	{ "ucx-gdrcopy", DEMAND_GDRDRV, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_WARN,
	  "UCX cannot use GDRCopy." },
	{ "ucx-verbs", DEMAND_RDMA, SEVERITY_WARN, SEVERITY_WARN, SEVERITY_WARN,
	  "UCX finds no RDMA device." },
	{ "verbs", DEMAND_RDMA, SEVERITY_ERR, SEVERITY_ERR, SEVERITY_ERR,
	  "Programs find no RDMA device." },
	{ "verbs-provider", DEMAND_PROVIDER, SEVERITY_ERR, SEVERITY_ERR, SEVERITY_ERR,
	  "Programs find no RDMA device." },
};

static const struct use *use_of(const struct opened_library *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		if (str_is(o->use, uses[i].use))
			return &uses[i];
	return NULL;
}

static struct fact_bool has_rdma(const struct node *node)
{
	return was_read(node->rdma.devices) ? fact_bool(node->rdma.devices.count > 0)
					    : (struct fact_bool){ 0 };
}

static struct fact_bool has_gpu(struct rule_context *ctx)
{
	return was_read(ctx->node->pci.devices) ? fact_bool(ctx->endpoints->gpus.count > 0)
						: (struct fact_bool){ 0 };
}

static struct fact_bool both(struct fact_bool a, struct fact_bool b)
{
	return known_is(a, false) || !is_known(b) ? a : known_is(b, false) ? b : a;
}

/* Returns true if PATH is the file of the provider of one of the devices. */
static struct fact_bool is_provider_needed(const struct node *node, const char *path)
{
	const struct verbs_provider_file *file = NULL;

	for_each(f, &node->libraries.verbs_providers)
		if (str_is(f->path, path))
			file = f;
	for_each(d, &node->rdma.devices) {
		const char *name = verbs_provider_of(d);

		if (file && name && str_is(file->name, name))
			return fact_bool(true);
	}
	return was_read(node->rdma.devices) ? fact_bool(false) : (struct fact_bool){ 0 };
}

static struct fact_bool is_needed(struct rule_context *ctx, const struct opened_library *o,
				  enum demand demand)
{
	const struct node *node = ctx->node;

	switch (demand) {
	case DEMAND_RDMA:
		return has_rdma(node);
	case DEMAND_PROVIDER:
		return is_provider_needed(node, o->path.value);
	case DEMAND_GPU:
		return has_gpu(ctx);
	case DEMAND_BOTH:
		return both(has_gpu(ctx), has_rdma(node));
	case DEMAND_GDRDRV:
		return was_read(node->modules.loaded) ? fact_bool(node_module(node, "gdrdrv"))
						      : (struct fact_bool){ 0 };
	case DEMAND_EFA:
		return kind_find(node, KIND_EFA, NULL).is;
	}
	return fact_bool(true);
}

/* ---- what it lacks ---- */

static bool asks_for(struct rule_context *ctx, const struct opened_library *o)
{
	struct job_value ibgda = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IB_ENABLE_IBGDA");

	if (str_is(o->use, "nvshmem-ibgda"))
		return is_asked_for(ctx, PROFILE_DEEPEP) || job_is_on(&ibgda);
	return is_known(o->variable);
}

static enum severity severity_of(struct rule_context *ctx, const struct opened_library *o,
				 const struct use *use)
{
	enum severity severity = node_is(ctx->node, KIND_EFA) ? use->efa : use->severity;
	const char *runtime;

	if (asks_for(ctx, o) && use->asked > severity)
		severity = use->asked;
	/* A host whose jobs run in containers need not have what their images have. */
	if (severity > SEVERITY_INFO && !is_known(ctx->node->os.container) &&
	    container_runtime(ctx->node, &runtime) != FACT_ABSENT)
		severity--;
	return severity;
}

static const char *missing_names(struct rule_context *ctx, const struct opened_library *o)
{
	struct arena_list all = { 0 };

	for_each(name, &o->missing_libraries)
		arena_list(&all, ctx->arena, *name);
	return arena_listed(&all);
}

static const char *version_remedy(struct rule_context *ctx, const struct opened_library *o,
				  const struct missing_version *v)
{
	if (starts_with(v->version.value, "GLIBC_"))
		return text_printf(
			ctx,
			"Install a build of %s for this distribution. It was built for a "
			"newer C library.",
			span_base_name(o->path.value));
	return text_printf(ctx,
			   "Install %s and %s from one release: upgrade the older one, or remove a "
			   "copy from the library path.",
			   span_base_name(v->needed_by.value), span_base_name(v->library.value));
}

/* "libgdrapi.so.1 is in /opt/gdrcopy/lib64": the folders to name; NULL: none of them was found. */
static const char *names_remedy(struct rule_context *ctx, const struct opened_library *o,
				const char *names)
{
	struct arena_list all = { 0 };
	const char *found;

	for_each(path, &o->elsewhere)
		arena_list(&all, ctx->arena, *path);
	found = arena_listed(&all);
	if (!found)
		return text_printf(ctx,
				   "Install the package that has %s. If it is installed, name "
				   "its folder in /etc/ld.so.conf.d and run ldconfig. If jobs "
				   "run in containers, do so in the image.",
				   names);
	return text_printf(
		ctx,
		"There is %s. Add its folder to LD_LIBRARY_PATH of the jobs. Or, if only root can write to it, "
		"name it in a file in /etc/ld.so.conf.d and run ldconfig.",
		found);
}

static void fail_one(struct rule_context *ctx, const struct opened_library *o,
		     const struct use *use)
{
	const char *names = missing_names(ctx, o), *path = o->path.value;
	const struct missing_version *v = o->missing_versions.items;
	bool own = names || str_is(v->needed_by, path);
	const char *fact = fact_path(ctx->arena, "libraries.opened", path,
				     names ? "missing_libraries" : "missing_versions");

	if (names)
		FAIL_AS(ctx, severity_of(ctx, o, use), .subject = path, .impact = use->effect,
			.observed = text_printf(
				ctx, "needs %s, which the dynamic loader does not find", names),
			.expected = "all libraries that it needs",
			.remedy = names_remedy(ctx, o, names), .evidence = { fact });
	else
		FAIL_AS(ctx, severity_of(ctx, o, use), .subject = path, .impact = use->effect,
			.observed = text_printf(ctx, "%s%sneeds %s, which %s does not define",
						own ? "" : v->needed_by.value,
						own ? "" : ", which it loads, ", v->version.value,
						v->library.value),
			.expected = text_printf(ctx, "%s with %s", span_base_name(v->library.value),
						v->version.value),
			.remedy = version_remedy(ctx, o, v), .evidence = { fact });
}

static bool skip_without_libraries(struct rule_context *ctx)
{
	struct fact_bool gpu = has_gpu(ctx), rdma = has_rdma(ctx->node);

	if (known_is(gpu, false) && known_is(rdma, false))
		NOT_APPLICABLE(ctx, .observed = "no NVIDIA GPU and no RDMA device",
			       .evidence = { "pci.devices", "rdma.devices" });
	else if (is_unknown(ctx->node->libraries.opened) && !ctx->node->libraries.opened.count)
		UNKNOWN(ctx, .evidence = { "libraries.opened" });
	else
		return false;
	return true;
}

static void check_loads(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, needed = 0;

	if (skip_without_libraries(ctx))
		return;
	for_each(o, &ctx->node->libraries.opened) {
		const struct use *use = use_of(o);
		struct fact_bool need = use ? is_needed(ctx, o, use->demand) : fact_bool(false);

		needed += !known_is(need, false);
		if (known_is(need, false))
			continue;
		if (!is_known(need) || !is_known(o->missing_libraries) ||
		    !is_known(o->missing_versions))
			UNKNOWN(ctx, .subject = o->path.value,
				.evidence = { fact_path(ctx->arena, "libraries.opened",
							o->path.value, "missing_libraries") });
		else if (o->missing_libraries.count || o->missing_versions.count)
			fail_one(ctx, o, use);
	}
	if (ctx->findings->count > before)
		return;
	if (is_unknown(ctx->node->libraries.opened))
		UNKNOWN(ctx, .evidence = { "libraries.opened" });
	else if (needed)
		PASS(ctx, .evidence = { "libraries.opened" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = "no library for the GPUs or NICs is on the library path",
			       .evidence = { "libraries.opened" });
}

/* ---- an older copy before a newer one ---- */

static const struct library_copy *find_newer(const struct library_copies *c)
{
	const struct library_copy *first = c->copies.items, *newest = NULL;

	if (!c->copies.count || !is_known(first->version))
		return NULL;
	for_each(copy, &c->copies)
		if (is_known(copy->version) &&
		    version_compare(copy->version.value, first->version.value) > 0 &&
		    (!newest || version_compare(copy->version.value, newest->version.value) > 0))
			newest = copy;
	return newest;
}

static bool has_unread_copy(const struct library_copies *c)
{
	for_each(copy, &c->copies)
		if (is_unknown(copy->version))
			return true;
	return !was_read(c->copies);
}

/* PyTorch has an NCCL of its own: which of two others is first matters to few. */
static void check_copies(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_libraries(ctx))
		return;
	for_each(c, &ctx->node->libraries.copies) {
		const struct library_copy *newer = find_newer(c), *first = c->copies.items;

		if (!newer && has_unread_copy(c))
			UNKNOWN(ctx, .subject = c->name.value,
				.evidence = { fact_path(ctx->arena, "libraries.copies",
							c->name.value, "copies") });
		if (newer)
			FAIL_AS(ctx,
				str_is(c->name, "libnccl.so.2") ? SEVERITY_INFO : SEVERITY_WARN,
				.subject = c->name.value,
				.observed = text_printf(ctx,
							"programs get %s (%s), and not %s (%s)",
							first->path.value, first->version.value,
							newer->path.value, newer->version.value),
				.expected = newer->path.value,
				.evidence = { fact_path(ctx->arena, "libraries.copies",
							c->name.value, "copies") });
	}
	if (ctx->findings->count > before)
		return;
	if (is_unknown(ctx->node->libraries.copies))
		UNKNOWN(ctx, .evidence = { "libraries.copies" });
	else
		PASS(ctx, .evidence = { "libraries.copies" });
}

/* ---- ld.so.preload ---- */

static void check_preloads(struct rule_context *ctx)
{
	const struct libraries_facts *libraries = &ctx->node->libraries;
	size_t before = ctx->findings->count;

	if (skip_without_libraries(ctx))
		return;
	if (is_unknown(libraries->preloads)) {
		UNKNOWN(ctx, .evidence = { "libraries.preloads" });
		return;
	}
	for_each(p, &libraries->preloads) {
		const char *fact = fact_path(ctx->arena, "libraries.preloads", p->name.value,
					     "here");

		if (is_unknown(p->here))
			UNKNOWN(ctx, .subject = p->name.value, .evidence = { fact });
		else if (!p->here.value)
			FAIL(ctx, .subject = p->name.value,
			     .observed = text_printf(ctx, "%s:%llu names it, and it does not exist",
						     p->file.value,
						     (unsigned long long)p->line.value),
			     .expected = "the file, or no such line", .evidence = { fact });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "libraries.preloads" });
}

/* ---- UCX without verbs ---- */

/* UCX of Red Hat and openSUSE has its modules for RDMA in a package of their own. */
static const char *install_ucx_ib(struct rule_context *ctx, const char *folder)
{
	static const struct package_names names = { .rhel = "ucx-ib" };

	return starts_with(folder, "/usr/lib") || starts_with(folder, "/lib")
		       ? shell_install(ctx->arena, ctx->node, &names)
		       : NULL;
}

static void check_ucx_verbs(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_rdma_device(ctx))
		return;
	if (!was_read(ctx->node->libraries.ucx)) {
		UNKNOWN(ctx, .evidence = { "libraries.ucx" });
		return;
	}
	for_each(copy, &ctx->node->libraries.ucx) {
		const char *fact = fact_path(ctx->arena, "libraries.ucx", copy->path.value,
					     "verbs");
		const char *command = install_ucx_ib(ctx, copy->path.value);

		if (!is_known(copy->verbs))
			UNKNOWN(ctx, .subject = copy->path.value, .evidence = { fact });
		else if (copy->verbs.value)
			PASS(ctx, .subject = copy->path.value, .evidence = { fact });
		else
			FAIL(ctx, .subject = copy->path.value,
			     .observed = "the folder has no libuct_ib: this UCX has no transport "
					 "for the RDMA devices",
			     .expected = "libuct_ib.so.0",
			     .remedy = command ? "Install the package with UCX's module." : NULL,
			     .command = command, .evidence = { fact });
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no UCX with modules is installed",
			       .evidence = { "libraries.ucx" });
}

#define LOADER_READS                                                                                               \
	"The section .dynamic and the symbol versions of these libraries and of all that they need, looked up as " \
	"ld.so does: run paths, LD_LIBRARY_PATH of the process, /etc/ld.so.cache (or ld.so.conf), its own folders."

static const struct rule software_libraries_rules[] = {
	{
		.id = "software/library-does-not-load",
		.title = "A library that jobs open cannot be loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_loads,
		.impact =
			"The program that opens it fails, or continues without it on a slower path.",
		.remedy = "Install what the library needs.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.follows = { "rdma/provider-other-release" },
		.reads =
			"libibverbs and its providers, libmlx5, libefa, libfabric, libgdrapi, NCCL and its network and "
			"tuner plugins (NCCL_NET_PLUGIN, NCCL_TUNER_PLUGIN), NVSHMEM's host library, transports and "
			"bootstrap, UCX and its CUDA and verbs modules. ucx_info, fi_info, nvshmem-info and gdrcopy_sanity in "
			"folders of PATH below /opt and /usr/local. " LOADER_READS,
		.why = "Most programs open plugins at run time and log a failure only at a debug level. Only libraries for "
		       "devices that the node has are evaluated. If a container runtime runs, the severity is one step "
		       "lower: images bring their own libraries. A job that sets its own library path can get others; "
		       "--pid evaluates a process with its own path.",
		.check = "ldd -v PATH; LD_DEBUG=libs,versions PROGRAM",
		.sources =
			"ld.so(8) of man-pages 6.9\n"
			"glibc 2.36: elf/dl-version.c (match_symbol)\n"
			"NCCL 2.30.7: src/plugin/plugin_open.cc (openPluginLib)\n"
			"NVSHMEM 3.4.5: src/host/transport/transport.cpp, src/host/bootstrap/bootstrap_loader.cpp\n"
			"UCX 9466d10 (August 2026): src/ucs/sys/module.c",
	},
	{
		.id = "software/older-copy-first",
		.title = "Programs get an older library although a newer one is installed",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_copies,
		.impact =
			"What the newer release brings is missing. Libraries of both releases can meet in one process.",
		.remedy =
			"Remove the older copy. Or put the folder of the newer one first: in LD_LIBRARY_PATH if the "
			"older one comes from there, else in /etc/ld.so.conf.d. Then run ldconfig.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.follows = { "software/multiple-libnccl" },
		.reads =
			"LD_LIBRARY_PATH, /etc/ld.so.cache (or ld.so.conf) and the loader's own folders for libibverbs, "
			"libmlx5, libefa, librdmacm, libfabric, libgdrapi, NCCL, NVSHMEM and UCX.",
		.why = "The dynamic loader takes the first file with the name, whatever its version. The version is that of "
		       "the file's name; for UCX and libfabric that of the file for pkg-config beside it. An older NCCL is a note: PyTorch brings its own.",
		.check =
			"ldconfig -p | grep -E 'libibverbs|libmlx5|libnvshmem_host|libgdrapi'; echo $LD_LIBRARY_PATH",
		.sources = "ld.so(8) of man-pages 6.9\n"
			   "rdma-core 64: Documentation/versioning.md (Shared Library Versions)\n"
			   "github.com/openucx/ucx issue 7232",
	},
	{
		.id = "software/preload-missing",
		.title =
			"Every program prints an error: /etc/ld.so.preload names a missing library",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_preloads,
		.impact =
			"Each program that the dynamic loader starts prints \"object ... from /etc/ld.so.preload cannot be preloaded\" and runs "
			"without the library.",
		.remedy = "Remove the line from /etc/ld.so.preload, or install the library again.",
		.activation = ACTIVATION_NOW,
		.reads = "/etc/ld.so.preload, and the files that it names.",
		.why = "The package of the library was removed, or the file was copied from another node. Programs that read "
		       "the error output of others can fail.",
		.check = "cat /etc/ld.so.preload; true",
		.sources = "ld.so(8) of man-pages 6.9\n"
			   "glibc 2.36: elf/rtld.c (do_preload)",
	},
	{
		.id = "software/ucx-without-verbs",
		.title = "UCX uses TCP: it was built or installed without RDMA",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_ucx_verbs,
		.impact = "MPI and NIXL over this UCX use TCP, or do not start (NIXL_ERR_BACKEND).",
		.remedy =
			"Install libibverbs-dev and librdmacm-dev, or rdma-core-devel. Then build UCX again, and what is built "
			"against it: its configure leaves RDMA out where these headers are missing.",
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_NOW,
		.reads =
			"The folder ucx beside libucs.so.0: of the one that the dynamic loader finds, and below /opt and "
			"/usr/local.",
		.why = "UCX opens its transports as files. configure --with-verbs does not fail without the headers of "
		       "verbs. Distributions have the file in a package of its own. A static build has no folder, and is "
		       "not judged.",
		.check = "ucx_info -d | grep -E 'Transport: (rc|ud|dc)'",
		.sources =
			"UCX 1.22 (9466d10): src/ucs/sys/module.c; ucx.spec.in (package ucx-ib)\n"
			"github.com/PrimeIntellect-ai/prime-rl pull 2761",
	},
};

RULE_TABLE(software_libraries);
