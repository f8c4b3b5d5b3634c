/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-dkms.c - modules that DKMS has and did not build, for the kernel that runs and the one that boots next. */
#include <string.h>

#include "base/array.h"
#include "base/text-map.h"
#include "evaluate/skip.h"
#include "query/dkms.h"
#include "query/module-find.h"

/* A module of each package, by its sources. Of the driver more rules say what is missing, and how grave that is. */
static const struct {
	const char *sources, *module;
} watched[] = {
	{ "driver-source", "nvidia" },
	{ "gdrdrv-source", "gdrdrv" },
	{ "nvidia-fs-source", "nvidia_fs" },
	{ "nv-peer-mem-source", "nv_peer_mem" },
	{ "ofed-source", NULL }, /* the kernel has modules of these names too */
	{ "efa-source", "efa" },
};
#define DRIVER 0
#define WATCHED (ARRAY_SIZE(watched))

static size_t find_watched(const char *sources)
{
	size_t i = 0;

	while (i < WATCHED && (!sources || strcmp(watched[i].sources, sources) != 0))
		i++;
	return i;
}

/* Returns true if something else installed the module. */
static bool has_module(const struct node *node, size_t row, const char *release)
{
	const char *module = watched[row].module;

	return module && (module_file_find(node, module, release) ||
			  (str_is(node->os.kernel, release) && node_module(node, module)));
}

/* Without a log of a failure it is not certain that a build was wanted: then only the driver counts, which the GPUs
 * need. */
static bool is_worth_saying(size_t row, const struct dkms_reason *reason)
{
	return reason->failed || row == DRIVER;
}

static bool is_built(const struct dkms_package *package, const char *release)
{
	for (size_t i = 0; i < package->built.count; i++)
		if (strcmp(package->built.items[i], release) == 0)
			return true;
	return false;
}

/* The builds for a kernel. */
struct kernel_modules {
	const char *release;
	bool runs;
	bool has[WATCHED];	/* something else brought the module */
	struct text_map *built; /* names of packages of which a version was built */
};

static struct kernel_modules modules_of(struct rule_context *ctx, const char *release, bool runs)
{
	const struct dkms_facts *dkms = &ctx->node->dkms;
	struct kernel_modules kernel = {
		.release = release,
		.runs = runs,
		.built = text_map_new(ctx->arena, dkms->packages.count),
	};

	for (size_t row = 0; row < WATCHED; row++)
		kernel.has[row] = has_module(ctx->node, row, release);
	for_each(package, &dkms->packages)
		if (is_known(package->name) && is_built(package, release))
			*text_map_at(kernel.built, span_of(package->name.value)) = (void *)package;
	return kernel;
}

/* True: what decides was not read, and that was said. */
static bool skip_unread(struct rule_context *ctx, const struct dkms_package *package,
			const char *subject, const char *release)
{
	const char *member = !was_read(package->built)		  ? "built"
			     : is_built(package, release)	  ? NULL
			     : is_unknown(package->failed_kernel) ? "failed_kernel"
								  : NULL;

	if (!member)
		return false;
	UNKNOWN(ctx, .subject = subject,
		.evidence = {
			fact_path(ctx->arena, "dkms.packages", package->path.value, member) });
	return true;
}

#define NEXT_TITLE "A kernel module is missing after the next boot: DKMS could not build it"

static void check_package(struct rule_context *ctx, const struct dkms_package *package,
			  const struct kernel_modules *kernel)
{
	const char *release = kernel->release;
	size_t row = find_watched(dkms_sources(package));
	struct dkms_reason reason;
	enum severity severity = row < WATCHED ? SEVERITY_WARN : SEVERITY_INFO;

	if ((row < WATCHED && kernel->has[row]) ||
	    text_map_get(kernel->built, span_of(package->name.value)) ||
	    skip_unread(ctx, package,
			text_printf(ctx, "%s, kernel %s", package->path.value, release), release) ||
	    !dkms_reason_of(ctx->arena, ctx->node, package, release, &reason) ||
	    !is_worth_saying(row, &reason))
		return;
	/* What is missing without the driver follows: it is of the node, as those findings are. */
	FAIL_AS(ctx, severity,
		.subject = row == DRIVER && kernel->runs
				   ? NULL
				   : text_printf(ctx, "%s, kernel %s", package->name.value,
						 release),
		.title = kernel->runs ? NULL : NEXT_TITLE, .observed = reason.text,
		.expected = severity == SEVERITY_INFO ? NULL
						      : text_printf(ctx, "%s built for kernel %s",
								    package->name.value, release),
		.impact = text_printf(ctx, "%s is missing on kernel %s.", package->name.value,
				      release),
		.remedy = reason.remedy, .command = reason.command,
		.evidence = { reason.fact,
			      fact_path(ctx->arena, "dkms.packages", package->path.value, "built"),
			      kernel->runs ? "os.kernel" : "boot.next_kernel" });
}

static void check_kernel(struct rule_context *ctx, const char *release, bool runs)
{
	struct kernel_modules kernel = modules_of(ctx, release, runs);

	for_each(package, &ctx->node->dkms.packages)
		check_package(ctx, package, &kernel);
}

static void check_failed(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct fact_str *next = &node->boot.next_kernel;
	size_t before = ctx->findings->count;

	if (is_unknown(node->dkms.packages)) {
		UNKNOWN(ctx, .evidence = { "dkms.packages" });
		return;
	}
	if (!node->dkms.packages.count) {
		NOT_APPLICABLE(ctx, .observed = "DKMS has no module of GPUs or RDMA",
			       .evidence = { "dkms.packages" });
		return;
	}
	if (skip_in_container(ctx) || skip_without_module_files(ctx))
		return;
	if (!is_known(node->os.kernel)) {
		UNKNOWN(ctx, .evidence = { "os.kernel" });
		return;
	}
	check_kernel(ctx, node->os.kernel.value, true);
	if (is_known(*next) && !str_is(*next, node->os.kernel.value))
		check_kernel(ctx, next->value, false);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "dkms.packages", "os.kernel" });
}

static const struct rule modules_dkms_rules[] = {
	{
		.id = "modules/dkms-failed",
		.title = "A kernel module is missing: DKMS could not build it",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_failed,
		.impact = "The driver, or peer memory, GDRCopy or OFED, is missing on that kernel.",
		.remedy = "Remove the cause that the log names, then build the module again.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The tree of DKMS in /var/lib/dkms with the log of a build that failed, and the headers of kernels, for "
			"the running kernel and the one that boots next.",
		.why = "DKMS builds modules when a kernel is installed. If the build fails, the kernel's files are installed "
		       "all the same, and from DKMS 3.1.5 on the package manager reports the error. A module that another "
		       "package brings passes.",
		.check = "dkms status; ls /var/lib/dkms/*/*/build/make.log",
		.sources =
			"dkms 2.8.1, 3.0.11 and 3.4.3: dkms.in, do_build() and prepare_kernel(); 3.1.5: dkms_autoinstaller.in\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/conftest.sh\n"
			"github.com/pop-os/pop issue 3117\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issues 526, 558\n"
			"github.com/Mellanox/nv_peer_memory issue 85",
	},
};

RULE_TABLE(modules_dkms);
