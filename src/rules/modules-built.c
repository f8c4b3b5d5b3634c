/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-built.c - NVIDIA's modules on disk: one for the running kernel, known to modprobe, and only one. */
#include <string.h>

#include "base/shell.h"
#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "query/distribution.h"
#include "query/dkms.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/module-find.h"
#include "query/module-load.h"
#include "query/pci-device.h"
#include "query/refusal.h"

#define OLDEST_BRANCH "1"
#define NEWEST_BRANCH "999" /* later than all */

/* ---- for the kernel that runs ---- */

/* The kernel compares the release, the first word, where module and kernel have no symbol versions; with them
 * only what comes after it (kernel/module/version.c, same_magic()). */
static bool is_for_other_kernel(const struct node *node, const struct module_file *file)
{
	size_t n;

	if (!is_known(file->vermagic) || strstr(file->vermagic.value, "modversions"))
		return false;
	n = strcspn(file->vermagic.value, " ");
	return strlen(node->os.kernel.value) != n ||
	       strncmp(file->vermagic.value, node->os.kernel.value, n) != 0;
}

#define EXPECTED "nvidia.ko built for the running kernel"

static void check_file(struct rule_context *ctx, const struct module_file *file)
{
	const char *fact = fact_path(ctx->arena, "modules.files", file->path.value, "vermagic");
	const char *kernel = ctx->node->os.kernel.value;
	struct refusal refusal;

	if (is_for_other_kernel(ctx->node, file))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%s was built for another kernel: vermagic \"%s\", running %s",
			     file->path.value, file->vermagic.value, kernel),
		     .expected = EXPECTED, .evidence = { fact, "os.kernel" });
	else if (refusal_of_build(ctx->arena, ctx->node, &refusal))
		FAIL(ctx, .observed = text_printf(ctx, "%s: %s", file->path.value, refusal.text),
		     .expected = EXPECTED, .remedy = refusal.cure.text, .then = refusal.cure.then,
		     .evidence = { refusal.fact, fact });
	else
		PASS(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						  "kernel") });
}

#define LOAD_IT ". Then load it with modprobe nvidia."

/* Old GPUs have a last branch, and need the proprietary modules. */
static const char *install_remedy(struct rule_context *ctx)
{
	unsigned int branch = 0, first = 0, last = 0;
	bool old = false, is_blackwell = false;

	if (!was_read(ctx->node->pci.devices))
		return "Install the NVIDIA driver with its kernel modules" LOAD_IT;
	for_each(d, &ctx->node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		old |= gpu_is_before_turing(d);
		/* Only the open modules drive it (driver/blackwell-needs-open). */
		is_blackwell |= gpu_model(d) &&
				strcmp(gpu_model(d)->architecture, "Blackwell") == 0;
		if (gpu_driver_fit(d, NEWEST_BRANCH, &branch) == GPU_DRIVER_TOO_NEW &&
		    (!last || branch < last))
			last = branch;
		if (gpu_driver_fit(d, OLDEST_BRANCH, &branch) == GPU_DRIVER_TOO_OLD &&
		    branch > first)
			first = branch;
	}
	if (!last && first)
		return text_printf(
			ctx,
			"Install the NVIDIA driver with its %skernel modules, branch %u or later" LOAD_IT,
			is_blackwell ? "open " : "", first);
	if (!last)
		return "Install the NVIDIA driver with its kernel modules" LOAD_IT;
	return text_printf(
		ctx,
		"Install the NVIDIA driver with its %skernel modules, branch %u, which is the last one "
		"for these GPUs" LOAD_IT,
		old ? "proprietary " : "", last);
}

/* Whether the other half of the driver is there; "" if that is not known. */
static const char *libraries_text(const struct node *node)
{
	struct driver_libraries found = driver_libraries(node);

	if (found.same || found.other)
		return "; its libraries are installed";
	return known_is(node->software.complete, true) ? "; its libraries are not installed either"
						       : "";
}

static void fail_no_file(struct rule_context *ctx)
{
	const char *kernel = ctx->node->os.kernel.value;
	const struct module_file *other = module_file_elsewhere(ctx->node, "nvidia", kernel);
	struct module_load load = module_load_of(ctx->node, "nvidia", ctx->arena);
	struct dkms_reason dkms;
	bool tried = dkms_reason_for(ctx->arena, ctx->node, "driver-source", kernel, &dkms);
	struct known_cause cause = known_cause(
		ctx,
		tried	? text_printf(ctx, "no nvidia.ko exists for %s. %s", kernel, dkms.text)
		: other ? text_printf(ctx, "no nvidia.ko exists for %s; one exists for %s", kernel,
				      other->kernel.value)
			: text_printf(ctx, "no nvidia.ko exists for %s, nor for any other kernel%s",
				      kernel, libraries_text(ctx->node)));

	FAIL(ctx, .observed = cause.observed, .expected = EXPECTED,
	     .remedy = cause.remedy	       ? cause.remedy
		       : other || load.command ? load.remedy
					       : install_remedy(ctx),
	     .command = cause.remedy ? NULL : load.command, .source = cause.source,
	     .evidence = { "os.kernel", tried	? dkms.fact
					: other ? fact_path(ctx->arena, "modules.files",
							    other->path.value, "kernel")
						: "modules.files" });
}

static void check_not_built(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *file;
	const char *fact;

	if (skip_unless_for_gpus(ctx))
		return;
	if (known_is(node->driver.loaded, true) || node_module(node, "nvidia")) {
		PASS(ctx, .observed = "nvidia is loaded", .evidence = { "driver.loaded" });
		return;
	}
	if (skip_without_own_gpu(ctx))
		return;
	if (guests_hold_all_gpus(node)) {
		NOT_APPLICABLE(ctx, .observed = "all GPUs are given to virtual machines",
			       .evidence = { "pci.devices" });
		return;
	}
	if (is_known(node->services.driver_container)) {
		NOT_APPLICABLE(
			ctx,
			.observed =
				"a driver container brings the modules, below /run/nvidia/driver",
			.evidence = { "services.driver_container" });
		return;
	}
	if (skip_without_module_files(ctx))
		return;
	file = module_file_find(node, "nvidia", node->os.kernel.value);
	if (file)
		check_file(ctx, file);
	else if (refusal_shows_driver(ctx->arena, node, &fact))
		NOT_APPLICABLE(
			ctx,
			.observed = "the driver was loaded, from a folder other than /lib/modules: "
				    "see driver/loaded",
			.evidence = { fact, "modules.files" });
	else
		fail_no_file(ctx);
}

/* ---- modules.dep ---- */

static bool is_watched(const struct module_file *f)
{
	return is_known(f->name) && !str_is(f->name, "nouveau") && !str_is(f->name, "nvidiafb");
}

/* The first module of RELEASE that modules.dep does not list. */
static const struct module_file *unindexed(const struct node *node, const char *release,
					   size_t *count)
{
	const struct module_file *found = NULL;

	*count = 0;
	for_each(f, &node->modules.files) {
		const struct module_file *best;

		if (!str_is(f->kernel, release) || !known_is(f->indexed, false) || !is_watched(f))
			continue;
		best = module_file_find(node, f->name.value, release);
		if (known_is(best->indexed, true))
			continue;
		(*count)++;
		/* nvidia before its sisters. */
		if (!found || str_is(f->name, "nvidia"))
			found = f;
	}
	return found;
}

static void check_depmod(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count, seen = 0, count;

	if (skip_without_module_files(ctx))
		return;
	for_each(k, &node->modules.kernels) {
		const struct module_file *f;
		bool counts = str_is(k->release, node->os.kernel.value) ||
			      (is_known(node->boot.next_kernel) &&
			       str_is(k->release, node->boot.next_kernel.value));

		if (!counts)
			continue;
		seen++;
		f = unindexed(node, k->release.value, &count);
		if (is_unknown(k->indexed))
			UNKNOWN(ctx, .subject = k->release.value,
				.evidence = { fact_path(ctx->arena, "modules.kernels",
							k->release.value, "indexed") });
		else if (f)
			FAIL(ctx, .subject = k->release.value,
			     .observed = text_printf(
				     ctx, "modules.dep does not list %s%s", module_file_place(f),
				     count > 1 ? text_printf(ctx, " and %zu more", count - 1) : ""),
			     .expected = "every module in modules.dep",
			     .command = shell_printf(ctx->arena, "sudo depmod -a %s",
						     k->release.value),
			     .evidence = { fact_path(ctx->arena, "modules.files", f->path.value,
						     "indexed"),
					   fact_path(ctx->arena, "modules.kernels",
						     k->release.value, "indexed") });
	}
	if (ctx->findings->count > before)
		return;
	if (seen)
		PASS(ctx, .evidence = { "modules.kernels" });
	else
		NOT_APPLICABLE(ctx, .observed = "no modules on disk for the kernel that runs",
			       .evidence = { "modules.kernels" });
}

/* ---- only one ---- */

/* Another file of the same module under the same file name. An alias chooses among Debian's renamed files
 * (nvidia-current, nvidia-tesla-470). */
static const struct module_file *find_double(const struct node *node, const struct module_file *f)
{
	for_each(other, &node->modules.files)
		if (other > f && is_known(other->name) && str_is(other->name, f->name.value) &&
		    str_is(other->kernel, f->kernel.value) &&
		    str_is(other->file_name, f->file_name.value))
			return other;
	return NULL;
}

static const char *version_of(const struct module_file *f)
{
	return is_known(f->version) ? f->version.value : "version not known";
}

static void check_duplicate(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *first = NULL, *second = NULL;
	bool same;
	size_t seen = 0;

	if (skip_without_module_files(ctx))
		return;
	for_each(f, &node->modules.files) {
		const struct module_file *other;

		if (!str_is(f->kernel, node->os.kernel.value) || !is_watched(f) ||
		    (!str_starts(f->name, "nvidia") && !str_is(f->name, "gdrdrv")))
			continue;
		seen++;
		other = find_double(node, f);
		if (other && (!first || str_is(f->name, "nvidia"))) {
			first = f;
			second = other;
		}
	}
	if (!seen) {
		NOT_APPLICABLE(ctx, .observed = "no NVIDIA module on disk for this kernel",
			       .evidence = { "modules.files" });
		return;
	}
	if (!first) {
		PASS(ctx, .evidence = { "modules.files" });
		return;
	}
	same = is_known(first->srcversion) && is_known(second->srcversion) &&
	       str_is(first->srcversion, second->srcversion.value);
	FAIL_AS(ctx, same ? SEVERITY_INFO : SEVERITY_WARN, .subject = first->name.value,
		.observed = text_printf(ctx, "%s (%s) and %s (%s)%s", module_file_place(first),
					version_of(first), module_file_place(second),
					version_of(second),
					same ? ", built from the same source" : ""),
		.expected = same ? NULL : "one file of each module",
		.command = same ? NULL : shell_owner(ctx->arena, ctx->node, second->path.value),
		.evidence = {
			fact_path(ctx->arena, "modules.files", first->path.value, "version"),
			fact_path(ctx->arena, "modules.files", second->path.value, "version"),
			fact_path(ctx->arena, "modules.files", first->path.value, "indexed") });
}

static const struct rule modules_built_rules[] = {
	{
		.id = "modules/nvidia-not-built-for-kernel",
		.title = "The driver cannot load: no NVIDIA module exists for the running kernel",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_not_built,
		.impact = "modprobe nvidia fails. No CUDA.",
		.remedy =
			"Build the NVIDIA kernel modules for the running kernel, or boot the kernel that has them.",
		.activation = ACTIVATION_NOW,
		.follows = { "modules/dkms-failed", "log/access-refused" },
		.reads =
			"The modules under /lib/modules of the running kernel and of others, the tree of DKMS, and the kernel log.",
		.why = "After an upgrade of the kernel the modules must be built again. DKMS needs the kernel's headers for "
		       "that. A loaded driver passes, wherever it was loaded from.",
		.check = "modinfo -F filename nvidia; dkms status; uname -r",
		.sources = "dkms 3.2 (793fdab): dkms(8)\n"
			   "Linux 6.1.192: kernel/module/version.c, same_magic()\n"
			   "github.com/NVIDIA/nvidia-docker issues 365, 804\n"
			   "github.com/negativo17/nvidia-driver issue 56",
	},
	{
		.id = "modules/depmod-stale",
		.title = "modprobe does not find a module that is on disk",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_depmod,
		.impact = "The module is not loaded at boot, and modprobe fails.",
		.remedy = "Rebuild modules.dep.",
		.fix = { "index-modules" },
		.activation = ACTIVATION_NOW,
		.reads =
			"modules.dep of the running kernel and of the one that boots next, and the module files in the "
			"folders where drivers are installed.",
		.why = "A package that runs depmod for the running kernel leaves a newer kernel without an entry. A file whose "
		       "name modules.dep lists in another folder is not reported.",
		.check = "grep nvidia /lib/modules/$(uname -r)/modules.dep",
		.sources =
			"kmod 30: depmod(8)\ngithub.com/NVIDIA/yum-packaging-precompiled-kmod pull 11",
	},
	{
		.id = "modules/duplicate-nvidia-ko",
		.title =
			"The wrong driver can be loaded: two files of one NVIDIA module are on disk",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_duplicate,
		.impact =
			"depmod's search order decides which of them is loaded. The initramfs can hold the other.",
		.remedy =
			"Remove one of them. A file of no package is from DKMS (dkms status), from the .run installer "
			"(nvidia-uninstall), or was built by hand.",
		.activation = ACTIVATION_REBOOT,
		.reads = "NVIDIA's modules and gdrdrv under /lib/modules of the running kernel.",
		.why = "Packages, the .run installer and patched drivers use different folders: kernel/drivers/video, "
		       "updates/dkms, extra.",
		.check =
			"find /lib/modules/$(uname -r) -name 'nvidia*.ko*'; modinfo -F filename nvidia",
		.sources =
			"kmod 30: depmod.d(5)\ngithub.com/tinygrad/open-gpu-kernel-modules (550.90.07-p2p): README.md",
	},
};

RULE_TABLE(modules_built);
