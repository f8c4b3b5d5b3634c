/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-build-mismatch.c - modules that were built for another kernel, driver or RDMA stack. */
#include <string.h>

#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/kind.h"
#include "query/module-find.h"
#include "query/topology.h"

static const struct module_file *running_file(const struct node *node, const char *name)
{
	return is_known(node->os.kernel) ? module_file_find(node, name, node->os.kernel.value)
					 : NULL;
}

/* ---- gdrdrv ---- */

enum built_for { BUILT_UNKNOWN, BUILT_OPEN, BUILT_PROPRIETARY };

/* gdrdrv 2.5 and later: "... built for opensource NVIDIA driver", in modinfo and in the log. */
static enum built_for read_flavour(const char *text)
{
	if (strstr(text, "built for opensource"))
		return BUILT_OPEN;
	return strstr(text, "built for proprietary") ? BUILT_PROPRIETARY : BUILT_UNKNOWN;
}

static enum built_for gdrdrv_flavour(struct rule_context *ctx, const struct module_file *file,
				     const char **fact)
{
	const struct log_line *line = node_log(ctx->node, "gdrdrv-built-for");
	enum built_for built = BUILT_UNKNOWN;

	if (line && node_module(ctx->node, "gdrdrv")) {
		*fact = "log.lines[gdrdrv-built-for].last";
		built = read_flavour(line->last.value);
	}
	if (!built && file && is_known(file->description)) {
		*fact = fact_path(ctx->arena, "modules.files", file->path.value, "description");
		built = read_flavour(file->description.value);
	}
	return built;
}

static void check_gdrdrv_flavour(struct rule_context *ctx, const struct module_file *file)
{
	const struct driver_facts *driver = &ctx->node->driver;
	const char *fact = "modules.files";
	enum built_for built = gdrdrv_flavour(ctx, file, &fact);
	bool open = known_is(driver->flavour, FLAVOUR_OPEN);

	if (built == BUILT_UNKNOWN)
		UNKNOWN(ctx,
			.observed = "gdrdrv does not tell which flavour it was built for (2.5 and "
				    "later do)",
			.evidence = { fact });
	else if (!is_known(driver->flavour))
		UNKNOWN(ctx, .evidence = { "driver.flavour" });
	else if (open == (built == BUILT_OPEN))
		PASS(ctx, .evidence = { fact, "driver.flavour" });
	else if (open)
		FAIL_AS(ctx, node_is(ctx->node, KIND_GRACE) ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = "gdrdrv was built for the proprietary flavour, and the open "
				    "one is loaded",
			.expected = "gdrdrv built for the open flavour",
			.impact = "It works, but slower on Grace and not with confidential "
				  "computing.",
			.evidence = { fact, "driver.flavour" });
	else
		FAIL(ctx,
		     .observed = "gdrdrv was built for the open flavour, and the proprietary one "
				 "is loaded",
		     .expected = "gdrdrv built for the flavour that is loaded",
		     .evidence = { fact, "driver.flavour" });
}

static void check_gdrdrv(struct rule_context *ctx)
{
	const struct module_file *file = running_file(ctx->node, "gdrdrv");

	if (skip_without_gpu(ctx))
		return;
	if (!file && !node_module(ctx->node, "gdrdrv")) {
		if (!was_read(ctx->node->modules.files) || !was_read(ctx->node->modules.loaded))
			UNKNOWN(ctx, .evidence = { "modules.files" });
		else
			NOT_APPLICABLE(ctx, .observed = "gdrdrv is not installed for this kernel",
				       .evidence = { "modules.files", "modules.loaded" });
		return;
	}
	if (file && module_depends_on(file, "nv_p2p_dummy"))
		FAIL(ctx,
		     .observed = "it depends on nv-p2p-dummy and not on nvidia: built without the "
				 "driver's sources",
		     .expected = "depends: nvidia",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "depends") });
	else if (node_module(ctx->node, "nv_p2p_dummy"))
		FAIL(ctx, .observed = "nv_p2p_dummy is loaded, which offers gdrdrv empty functions",
		     .expected = "gdrdrv built against the driver",
		     .evidence = { "modules.loaded[nv_p2p_dummy].state" });
	else if (!skip_without_driver(ctx))
		check_gdrdrv_flavour(ctx, file);
}

/* ---- OFED ---- */

/* OFED's modules lie beside the kernel's own: extra, updates, weak-updates. */
static bool is_ofed_file(const struct module_file *f)
{
	return strncmp(module_file_place(f), "kernel/", strlen("kernel/")) != 0;
}

static const struct module_file *ofed_elsewhere(const struct node *node)
{
	for_each(f, &node->modules.files)
		if (str_is(f->name, "mlx5_core") && is_known(f->kernel) && is_ofed_file(f) &&
		    !str_is(f->kernel, node->os.kernel.value))
			return f;
	return NULL;
}

static void fail_ofed(struct rule_context *ctx, const char *observed, const char *fact)
{
	struct known_cause cause = known_cause(ctx, observed);

	FAIL(ctx, .observed = cause.observed, .expected = "OFED built for the kernel that runs",
	     .remedy = cause.remedy, .source = cause.source, .evidence = { fact, "os.kernel" });
}

static void check_ofed(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *target = node_software(node, "ofa_kernel");
	const struct software_item *ofed = node_software(node, "ofed");
	const struct module_file *own, *other;

	if (!is_known(node->os.kernel)) {
		UNKNOWN(ctx, .evidence = { "os.kernel" });
		return;
	}
	if (!was_read(node->software.items) || !was_read(node->modules.files)) {
		UNKNOWN(ctx, .evidence = { was_read(node->software.items) ? "modules.files"
									  : "software.items" });
		return;
	}
	if (!ofed && !target) {
		NOT_APPLICABLE(ctx, .observed = "no MLNX_OFED or DOCA-OFED is installed",
			       .evidence = { "software.items" });
		return;
	}
	own = running_file(node, "mlx5_core");
	other = ofed_elsewhere(node);
	if (target && is_known(target->version) && !str_is(target->version, node->os.kernel.value))
		fail_ofed(ctx,
			  text_printf(ctx, "OFED's symbols are those of kernel %s, and %s runs",
				      target->version.value, node->os.kernel.value),
			  fact_path(ctx->arena, "software.items", target->path.value, "version"));
	else if (other && (!own || !is_ofed_file(own)))
		fail_ofed(ctx,
			  text_printf(ctx, "OFED's mlx5_core is there for kernel %s; %s has %s",
				      other->kernel.value, node->os.kernel.value,
				      own ? "the kernel's own" : "none"),
			  fact_path(ctx->arena, "modules.files", other->path.value, "kernel"));
	else
		PASS(ctx, .evidence = { "software.items", "modules.files", "os.kernel" });
}

/* ---- nvidia-fs ---- */

static bool check_fs_file(struct rule_context *ctx, const struct module_file *file)
{
	const struct module_file *from;

	for_each(want, &file->imports) {
		if (module_symbol_fit(ctx->node, want, &from) != SYMBOL_OTHER_VERSION)
			continue;
		FAIL(ctx,
		     .observed = text_printf(ctx, "%s has another version in %s", want->name.value,
					     from->path.value),
		     .expected = "built against the driver that is installed",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "imports"),
			     fact_path(ctx->arena, "modules.files", from->path.value, "exports") });
		return true;
	}
	return false;
}

static const struct log_line *refused_fs(const struct node *node)
{
	static const char *const patterns[] = { "symbol-version", "unknown-symbol" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (log_of_module(node_log(node, patterns[i]), "nvidia_fs"))
			return node_log(node, patterns[i]);
	return NULL;
}

static void check_fs(struct rule_context *ctx)
{
	const struct log_line *line = refused_fs(ctx->node);
	const struct module_file *file = running_file(ctx->node, "nvidia_fs");
	const char *fact = line ? log_module_fact(ctx->arena, line, "nvidia_fs", "last") : NULL;

	if (skip_without_gpu(ctx))
		return;
	if (line && node_module(ctx->node, "nvidia_fs"))
		PASS(ctx, .observed = "the kernel complained once; it is loaded now",
		     .evidence = { "modules.loaded[nvidia_fs].state", fact });
	else if (line)
		FAIL(ctx, .observed = log_of_module(line, "nvidia_fs")->last.value,
		     .expected = "built against the driver that is installed",
		     .evidence = { fact });
	else if (node_module(ctx->node, "nvidia_fs"))
		PASS(ctx, .evidence = { "modules.loaded[nvidia_fs].state" });
	else if (file && check_fs_file(ctx, file))
		return;
	else if (file)
		pass_if_log_whole(ctx);
	else if (was_read(ctx->node->modules.files))
		NOT_APPLICABLE(ctx, .observed = "nvidia-fs is not installed for this kernel",
			       .evidence = { "modules.files" });
	else
		UNKNOWN(ctx, .evidence = { "modules.files" });
}

static const struct rule modules_build_mismatch_rules[] = {
	{
		.id = "modules/gdrdrv-build-mismatch",
		.title = "gdrdrv was not built for the driver that is loaded",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_gdrdrv,
		.impact = "GDRCopy does not load, or every pin fails.",
		.remedy = "Rebuild gdrdrv where the sources of the loaded driver are: dkms build "
			  "--force, or make with NVIDIA_SRC_DIR set.",
		.activation = ACTIVATION_RELOAD,
		.reads = "depends and description of gdrdrv.ko, its line in the kernel log, the "
			 "driver's flavour.",
		.why = "Built for the open flavour it cannot be loaded beside the proprietary one, "
		       "whose symbols are not for its licence. The other way round it works, with "
		       "limits. nv-p2p-dummy stands in for the driver when its sources were not "
		       "found. Before 2.4.3 the build took the flavour of drivers from 545 on for "
		       "the wrong one.",
		.check = "modinfo gdrdrv | grep -E 'description|depends'; cat "
			 "/proc/driver/gdrdrv/params",
		.sources =
			"github.com/NVIDIA/gdrcopy: src/gdrdrv/gdrdrv.c, CHANGELOG.md, issue 334",
	},
	{
		.id = "modules/ofed-kernel-mismatch",
		.title = "OFED was built for another kernel",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_ofed,
		.impact = "The kernel's own RDMA modules are in use beside OFED's user space; what "
			  "is built against OFED (nvidia-peermem) does not load.",
		.remedy = "Rebuild it: dkms autoinstall, or mlnxofedinstall --add-kernel-support; "
			  "then the NVIDIA kernel modules.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The link /usr/src/ofa_kernel/default, and mlx5_core below /lib/modules "
			 "of the kernel that runs and of others.",
		.why = "OFED's modules are for one kernel. Installations of its user space alone "
		       "are right with the kernel's modules, so the rule asks for a sign that "
		       "there were others. The link is only what the last build left.",
		.check = "readlink /usr/src/ofa_kernel/default; modinfo -F filename mlx5_core; "
			 "ofed_info -s",
		.sources = "NVIDIA MLNX_OFED documentation, installing with --add-kernel-support\n"
			   "open-gpu-kernel-modules: kernel-open/conftest.sh (ofa_kernel)",
	},
	{
		.id = "modules/nvidia-fs-symbol-mismatch",
		.title = "nvidia-fs was built against another driver",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_fs,
		.impact = "GPUDirect Storage does not work; cuFile falls back to host memory.",
		.remedy = "Rebuild nvidia-fs after the driver, with the driver's sources "
			  "installed: dkms build --force.",
		.activation = ACTIVATION_NOW,
		.reads = "\"disagrees about version of symbol\", \"no symbol version\" and "
			 "\"Unknown symbol\" lines of nvidia_fs in the kernel log; on disk, the "
			 "versions of the symbols that it wants.",
		.why = "It takes nvidia_p2p_ symbols from the driver, and each carries a version.",
		.check = "dmesg | grep nvidia_fs; dkms status nvidia-fs",
		.sources =
			"github.com/NVIDIA/gds-nvidia-fs issue 72\nLinux: kernel/module/version.c",
	},
};

RULE_TABLE(modules_build_mismatch);
