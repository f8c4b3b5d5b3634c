/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-built.c - modules on disk: is there one for the running kernel, does modprobe find it, is there only one? */
#include <string.h>

#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "query/module-find.h"
#include "query/refusal.h"

/* Are all GPUs given to virtual machines? Then this host needs no driver for them. */
static bool all_given_away(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !pci_is_for_guest(d))
			return false;
	return true;
}

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

static void check_not_built(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *file, *other;
	struct refusal refusal;
	struct known_cause cause;

	if (skip_without_gpu(ctx))
		return;
	if (known_is(node->driver.loaded, true) || node_module(node, "nvidia")) {
		PASS(ctx, .observed = "it is loaded", .evidence = { "driver.loaded" });
		return;
	}
	if (all_given_away(node)) {
		NOT_APPLICABLE(ctx, .observed = "all GPUs are given to virtual machines",
			       .evidence = { "pci.devices" });
		return;
	}
	if (skip_without_module_files(ctx))
		return;
	file = module_file_find(node, "nvidia", node->os.kernel.value);
	other = module_file_elsewhere(node, "nvidia", node->os.kernel.value);
	if (file && is_for_other_kernel(node, file))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%s was built for another kernel: vermagic \"%s\", running %s",
			     file->path.value, file->vermagic.value, node->os.kernel.value),
		     .expected = "nvidia.ko built for the kernel that runs",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "vermagic"),
			     "os.kernel" });
	else if (file && refusal_of_build(ctx->arena, ctx->node, &refusal))
		FAIL(ctx, .observed = text_printf(ctx, "%s: %s", file->path.value, refusal.text),
		     .expected = "nvidia.ko built for the kernel that runs",
		     .remedy = refusal.remedy,
		     .evidence = { refusal.fact, fact_path(ctx->arena, "modules.files",
							   file->path.value, "vermagic") });
	else if (file)
		PASS(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						  "kernel") });
	else if (other) {
		cause = known_cause(ctx,
				    text_printf(ctx, "no nvidia.ko for %s; there is one for %s",
						node->os.kernel.value, other->kernel.value));
		FAIL(ctx, .observed = cause.observed,
		     .expected = "nvidia.ko for the kernel that runs", .remedy = cause.remedy,
		     .source = cause.source,
		     .evidence = { "os.kernel", fact_path(ctx->arena, "modules.files",
							  other->path.value, "kernel") });
	} else {
		cause = known_cause(
			ctx, text_printf(ctx, "no nvidia.ko for %s, nor for any other kernel",
					 node->os.kernel.value));
		FAIL(ctx, .observed = cause.observed,
		     .expected = "nvidia.ko for the kernel that runs",
		     .remedy = cause.remedy ? cause.remedy
					    : "Install the driver with its kernel modules.",
		     .source = cause.source, .evidence = { "os.kernel", "modules.files" });
	}
}

/* ---- modules.dep ---- */

static bool is_watched(const struct module_file *f)
{
	return is_known(f->name) && !str_is(f->name, "nouveau") && !str_is(f->name, "nvidiafb");
}

/* The first module of RELEASE that lies there and that modprobe does not find. */
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
		/* The driver itself says most. */
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
				     ctx, "%s lies there and modules.dep does not list it%s",
				     module_file_place(f), count > 1 ? ", nor others" : ""),
			     .expected = "every module in modules.dep",
			     .remedy = text_printf(ctx, "depmod -a %s", k->release.value),
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

/* ---- one of a kind ---- */

/* Another file of the same module that modprobe would know by the same name. Debian's renamed ones
 * (nvidia-current, nvidia-tesla-470) are chosen between by an alias. */
static const struct module_file *double_of(const struct node *node, const struct module_file *f)
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
		other = double_of(node, f);
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
		.expected = "one file of each module",
		.evidence = {
			fact_path(ctx->arena, "modules.files", first->path.value, "version"),
			fact_path(ctx->arena, "modules.files", second->path.value, "version"),
			fact_path(ctx->arena, "modules.files", first->path.value, "indexed") });
}

static const struct rule modules_built_rules[] = {
	{
		.id = "modules/nvidia-not-built-for-kernel",
		.title = "There is no NVIDIA module for the kernel that runs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_not_built,
		.impact = "The driver cannot be loaded: modprobe says that nvidia was not found.",
		.remedy = "Install the kernel's headers, then dkms autoinstall (dkms status says "
			  "what failed; a left-over tree in /var/lib/dkms stops it), or the "
			  "prebuilt modules for this kernel; or boot the kernel that has them.",
		.activation = ACTIVATION_NOW,
		.reads = "The modules below /lib/modules for the kernel that runs, and for others.",
		.why = "After an upgrade of the kernel the modules have to be built anew, and DKMS "
		       "needs the headers for it. A driver that is loaded passes, wherever it came "
		       "from.",
		.check = "modinfo -F filename nvidia; dkms status; uname -r",
		.sources = "dkms(8)\ngithub.com/NVIDIA/nvidia-docker issues 365 and 804\n"
			   "github.com/negativo17/nvidia-driver issue 56",
	},
	{
		.id = "modules/depmod-stale",
		.title = "A module lies on disk and modprobe does not find it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_depmod,
		.impact = "It is not loaded at boot, nor by modprobe; insmod works.",
		.remedy = "depmod -a, with the release of the kernel that is concerned.",
		.fix = { "index-modules" },
		.activation = ACTIVATION_NOW,
		.reads = "modules.dep of the kernel that runs and of the one that boots next, and "
			 "the module files in the folders where drivers are installed.",
		.why = "Packages that run depmod for the running kernel leave a newer one without. "
		       "A file that modules.dep has elsewhere under the same name is not missed.",
		.check = "grep nvidia /lib/modules/$(uname -r)/modules.dep",
		.sources = "depmod(8)\ngithub.com/NVIDIA/yum-packaging-precompiled-kmod pull 11",
	},
	{
		.id = "modules/duplicate-nvidia-ko",
		.title = "The same NVIDIA module is on disk twice",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_duplicate,
		.impact = "Which one is loaded depends on depmod's search order, and the initramfs "
			  "may hold the other.",
		.remedy = "Remove one: dpkg -S or rpm -qf says whose it is; a file of no package "
			  "is from the .run installer (nvidia-uninstall) or built by hand.",
		.activation = ACTIVATION_REBOOT,
		.reads = "NVIDIA's modules and gdrdrv below /lib/modules for the kernel that runs.",
		.why = "A driver from a package, one from the .run installer and a patched one "
		       "land in different folders: kernel/drivers/video, updates/dkms, extra.",
		.check = "find /lib/modules/$(uname -r) -name 'nvidia*.ko*'; modinfo -F filename "
			 "nvidia",
		.sources = "depmod.d(5)\ngithub.com/tinygrad/open-gpu-kernel-modules README",
	},
};

RULE_TABLE(modules_built);
