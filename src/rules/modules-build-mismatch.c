/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-build-mismatch.c - modules that were built for another kernel, driver or RDMA stack. */
#include <string.h>

#include "base/array.h"
#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/distribution.h"
#include "query/dkms.h"
#include "query/failure.h"
#include "query/kind.h"
#include "query/module-find.h"

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
			.observed =
				"gdrdrv before 2.5 does not say for which flavour of the driver "
				"it was built",
			.evidence = { fact });
	else if (!is_known(driver->flavour))
		UNKNOWN(ctx, .evidence = { "driver.flavour" });
	else if (open == (built == BUILT_OPEN))
		PASS(ctx, .evidence = { fact, "driver.flavour" });
	else if (open)
		FAIL_AS(ctx, node_is(ctx->node, KIND_GRACE) ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = "gdrdrv was built for the proprietary kernel modules; the open "
				    "ones are loaded",
			.expected = "gdrdrv built for the open kernel modules",
			.impact =
				"GDRCopy maps GPU memory with a guessed type: slower on Grace, not "
				"with confidential computing.",
			.command = shell_dkms_rebuild(ctx->arena, ctx->node, "gdrdrv-source"),
			.evidence = { fact, "driver.flavour" });
	else
		FAIL(ctx,
		     .observed = "gdrdrv was built for the open kernel modules; the proprietary "
				 "ones are loaded",
		     .expected = "gdrdrv built for the proprietary kernel modules",
		     .remedy =
			     "This gdrdrv is for the open kernel modules: if they are to be installed, "
			     "install them. Otherwise rebuild gdrdrv against the sources of the loaded "
			     "driver, then load it again.",
		     .command = shell_dkms_rebuild(ctx->arena, ctx->node, "gdrdrv-source"),
		     .evidence = { fact, "driver.flavour" });
}

static void check_gdrdrv(struct rule_context *ctx)
{
	const struct module_file *file = module_file_running(ctx->node, "gdrdrv");

	if (skip_unless_for_gpus(ctx))
		return;
	if (!file && !node_module(ctx->node, "gdrdrv")) {
		if (!was_read(ctx->node->modules.files))
			UNKNOWN(ctx, .evidence = { "modules.files" });
		else if (!skip_unless_modules_count(ctx))
			NOT_APPLICABLE(ctx, .observed = "gdrdrv is not installed for this kernel",
				       .evidence = { "modules.files", "modules.loaded" });
		return;
	}
	/* .modinfo of every gdrdrv.ko names nv-p2p-dummy: GDRCopy's Makefile always builds that beside it. depmod uses
	 * the symbols and leads to nvidia. */
	if (node_module(ctx->node, "nv_p2p_dummy"))
		FAIL(ctx,
		     .observed =
			     "nv_p2p_dummy is loaded: it gives gdrdrv functions that do nothing",
		     .expected = "gdrdrv built against the driver",
		     .evidence = { "modules.loaded[nv_p2p_dummy].state" });
	else if (!skip_without_driver(ctx))
		check_gdrdrv_flavour(ctx, file);
}

/* ---- OFED ---- */

/* OFED's modules lie beside the kernel's own: extra, updates, weak-updates. */
static bool is_ofed_file(const struct module_file *f)
{
	return !starts_with(module_file_place(f), "kernel/");
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

	FAIL(ctx, .observed = cause.observed, .expected = "OFED built for the running kernel",
	     .remedy = cause.remedy, .command = cause.remedy ? NULL : "sudo dkms autoinstall",
	     .source = cause.source, .evidence = { fact, "os.kernel" });
}

/* The file is OFED's and the loaded module was built from other sources: the kernel's own, or an earlier OFED. */
static bool is_other_build(const struct node *node, const char *name,
			   const struct module_file **file)
{
	const struct module *loaded = node_module(node, name);

	*file = module_file_running(node, name);
	return loaded && *file && is_ofed_file(*file) && is_known((*file)->srcversion) &&
	       is_known(loaded->srcversion) &&
	       !str_is(loaded->srcversion, (*file)->srcversion.value);
}

/* The initramfs, or a dependency of another module, loaded them before OFED's were installed or found. */
static bool fail_other_build(struct rule_context *ctx)
{
	static const char *const names[] = { "ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib" };
	const char *kernel = ctx->node->os.kernel.value;
	const struct module_file *file;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!is_other_build(ctx->node, names[i], &file))
			continue;
		FAIL(ctx,
		     .observed = text_printf(ctx,
					     "the loaded %s is not the one of OFED in %s: their "
					     "srcversion differs",
					     names[i], file->path.value),
		     .expected = "OFED's modules loaded", .then = THEN_REBOOT,
		     .remedy = "Rebuild the initramfs.",
		     .command = shell_rebuild_initramfs(ctx->arena, ctx->node, kernel),
		     .evidence = { fact_path(ctx->arena, "modules.loaded", names[i], "srcversion"),
				   fact_path(ctx->arena, "modules.files", file->path.value,
					     "srcversion") });
		return true;
	}
	return false;
}

/* Returns true if the rule has answered. */
static bool skip_without_ofed(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (!is_known(node->os.kernel))
		UNKNOWN(ctx, .evidence = { "os.kernel" });
	else if (!was_read(node->software.items) || !was_read(node->modules.files))
		UNKNOWN(ctx, .evidence = { was_read(node->software.items) ? "modules.files"
									  : "software.items" });
	else if (!node_software(node, "ofed") && !node_software(node, "ofa_kernel"))
		NOT_APPLICABLE(ctx, .observed = "MLNX_OFED and DOCA-OFED are not installed",
			       .evidence = { "software.items" });
	else
		return false;
	return true;
}

/* The symbols that "default" leads to, or else any; NULL where the ones for the running kernel exist. */
static const struct software_item *symbols_of_other(const struct node *node)
{
	const struct software_item *found = NULL;

	for_each(item, &node->software.items) {
		if (!str_is(item->name, "ofa_kernel") || !is_known(item->version))
			continue;
		if (str_is(item->version, node->os.kernel.value))
			return NULL;
		if (!found || strstr(item->path.value, "/default"))
			found = item;
	}
	return found;
}

/* The part of OFED that has kernel modules is installed, and not its user space alone. Its package has the unit that
 * loads them. */
static const char *kernel_part(struct rule_context *ctx)
{
	const struct service *openibd = node_service(ctx->node, "openibd.service");

	if (openibd && (str_is(openibd->enabled, "enabled") || str_is(openibd->active, "active")))
		return fact_path(ctx->arena, "services.units", "openibd.service", "enabled");
	for_each(p, &ctx->node->software.packages)
		if (str_starts(p->name, "mlnx-ofed-kernel"))
			return fact_path(ctx->arena, "software.packages", p->name.value, "state");
	for_each(item, &ctx->node->software.items)
		if (str_starts(item->path, "/usr/src/mlnx-ofed-kernel-"))
			return software_version_fact(ctx->arena, item);
	return NULL;
}

/* With the kernel's own modules the answer depends on the unit. */
static bool is_openibd_unknown(const struct node *node)
{
	const struct service *openibd = node_service(node, "openibd.service");

	return !was_read(node->services.units) || (openibd && is_unknown(openibd->enabled));
}

/* From 5.0 on OFED's libraries use DEVX events, which neither OFED 4 nor Linux 3.10 has. Later kernels of a
 * distribution can have them from later sources. */
static bool fail_old_modules(struct rule_context *ctx, const struct module_file *own)
{
	const struct software_item *ofed = node_software(ctx->node, "ofed");
	const struct module *loaded = node_module(ctx->node, "mlx5_core");
	const char *modules = NULL, *fact = "os.kernel";

	if (!ofed || !is_known(ofed->version) || !loaded ||
	    version_compare(ofed->version.value, "5") < 0)
		return false;
	if (str_starts(loaded->version, "4.")) {
		modules = text_printf(ctx, "mlx5_core is of OFED %s", loaded->version.value);
		fact = fact_path(ctx->arena, "modules.loaded", "mlx5_core", "version");
	} else if (own && !is_ofed_file(own) && str_starts(ctx->node->os.kernel, "3.")) {
		modules = text_printf(ctx, "mlx5_core is that of kernel %s",
				      ctx->node->os.kernel.value);
	}
	if (!modules)
		return false;
	FAIL(ctx,
	     .observed = text_printf(ctx, "libraries are of OFED %s, the loaded %s",
				     ofed->version.value, modules),
	     .expected = "libraries and modules of one OFED",
	     .impact =
		     "UCX and other programs that use DEVX fail: \"mlx5dv_devx_create_event_channel() "
		     "failed: Protocol not supported\".",
	     .remedy = "Install the kernel modules of the same OFED. In a container install the "
		       "libraries of the host's OFED.",
	     .evidence = { software_version_fact(ctx->arena, ofed), fact });
	return true;
}

static void check_ofed(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *symbols;
	const struct module_file *own, *other;
	const char *kernel;

	/* RDMA runs on nodes without a GPU too, for which no RDMA profile is chosen. */
	if (!is_asked_for(ctx, PROFILE_RDMA_ANY) && skip_without_rdma_device(ctx))
		return;
	if (skip_without_ofed(ctx))
		return;
	kernel = node->os.kernel.value;
	symbols = symbols_of_other(node);
	own = module_file_running(node, "mlx5_core");
	other = ofed_elsewhere(node);
	if (symbols)
		fail_ofed(ctx,
			  text_printf(ctx, "%s has the symbols of kernel %s; kernel %s runs",
				      symbols->path.value, symbols->version.value, kernel),
			  software_version_fact(ctx->arena, symbols));
	else if (other && (!own || !is_ofed_file(own)))
		fail_ofed(ctx,
			  text_printf(ctx,
				      "OFED's mlx5_core exists for kernel %s; kernel %s has %s",
				      other->kernel.value, kernel,
				      own ? "only its own mlx5_core" : "no mlx5_core"),
			  fact_path(ctx->arena, "modules.files", other->path.value, "kernel"));
	else if (own && !is_ofed_file(own) && kernel_part(ctx))
		fail_ofed(ctx,
			  text_printf(
				  ctx,
				  "OFED's kernel part is installed, and kernel %s has only its own "
				  "mlx5_core",
				  kernel),
			  kernel_part(ctx));
	else if (own && !is_ofed_file(own) && is_openibd_unknown(node))
		UNKNOWN(ctx, .evidence = { "services.units[openibd.service].enabled" });
	else if (!fail_other_build(ctx) && !fail_old_modules(ctx, own))
		PASS(ctx, .evidence = { "software.items", "modules.files", "os.kernel" });
}

/* ---- nvidia-fs ---- */

#define NVFS "_register_nvfs_dma_ops"

static bool check_fs_file(struct rule_context *ctx, const struct module_file *file)
{
	const struct module_file *from;

	for_each(want, &file->imports) {
		if (module_symbol_fit(ctx->node, want, &from) != SYMBOL_OTHER_VERSION)
			continue;
		FAIL(ctx,
		     .observed = text_printf(ctx,
					     "nvidia-fs needs another version of %s than %s has",
					     want->name.value, from->path.value),
		     .expected = "nvidia-fs built against the installed driver",
		     .command = shell_dkms_rebuild(ctx->arena, ctx->node, "nvidia-fs-source"),
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

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (log_of_module(node_log(node, patterns[i]), "nvidia_fs"))
			return node_log(node, patterns[i]);
	return NULL;
}

/* The kernel forbids nvidia_fs, which is under the GPL, the symbols of a proprietary module: no build changes that. */
static const struct log_failure *forbidden_fs(const struct node *node)
{
	for_each(f, &node->log.failures)
		if (str_is(f->module, "nvidia_fs") && known_is(f->kind, FAILURE_LICENSE))
			return f;
	return NULL;
}

static void fail_fs(struct rule_context *ctx, const struct log_line *line, const char *fact)
{
	const struct log_failure *forbidden = forbidden_fs(ctx->node);
	struct cure cure = { 0 };

	if (forbidden)
		cure = failure_cure(ctx->arena, ctx->node, forbidden);
	if (forbidden)
		FAIL(ctx, .observed = forbidden->last.value,
		     .expected = "the open kernel modules of the driver", .remedy = cure.text,
		     .then = cure.then, .has_fix = true,
		     .evidence = { failure_fact(ctx->arena, ctx->node, forbidden), fact });
	else
		FAIL(ctx, .observed = log_of_module(line, "nvidia_fs")->last.value,
		     .expected = "nvidia-fs built against the installed driver",
		     .command = shell_dkms_rebuild(ctx->arena, ctx->node, "nvidia-fs-source"),
		     .evidence = { fact });
}

/* nvme_v1_register_nvfs_dma_ops and nvme_v2_register_nvfs_dma_ops are two versions of one function. */
static bool is_other_version(const char *a, const char *b)
{
	const char *x = strstr(a, "_v"), *y = strstr(b, "_v");

	return x && y && x - a == y - b && strncmp(a, b, (size_t)(x - a)) == 0 &&
	       strcmp(x, y) != 0 &&
	       strcmp(x + 2 + strspn(x + 2, "0123456789"), y + 2 + strspn(y + 2, "0123456789")) ==
		       0;
}

/* Returns the name that the modules of the running kernel export: NAME, or another version of it, or NULL. */
static const char *exported_name(const struct node *node, const char *name,
				 const struct module_file **from)
{
	const char *found = NULL;

	for_each(f, &node->modules.files) {
		if (!is_known(f->kernel) || !str_is(f->kernel, node->os.kernel.value) ||
		    !known_is(f->indexed, true))
			continue;
		for_each(symbol, &f->exports) {
			bool same = str_is(symbol->name, name);

			if (!same && (found || !is_other_version(symbol->name.value, name)))
				continue;
			found = symbol->name.value;
			*from = f;
			if (same)
				return found;
		}
	}
	return found;
}

/* Returns true if the rule has answered. */
static bool check_fs_looked_up(struct rule_context *ctx, const struct module_file *file)
{
	const struct module_file *from = NULL;

	if (!is_known(ctx->node->os.kernel))
		return false;
	for_each(name, &file->looked_up) {
		const char *found = exported_name(ctx->node, *name, &from);

		if (!found || strcmp(found, *name) == 0)
			continue;
		FAIL(ctx,
		     .observed = text_printf(ctx, "nvidia-fs looks up %s; %s exports only %s",
					     *name, from->name.value, found),
		     .expected = "nvidia-fs built against the sources of this kernel's modules",
		     .impact = text_printf(ctx,
					   "nvidia-fs loads and does not register with %s. cuFile "
					   "copies through host memory.",
					   from->name.value),
		     .remedy = "Rebuild nvidia-fs against the headers of this kernel, and of OFED "
			       "if that has the storage modules. If the name stays, install the "
			       "release of nvidia-fs that fits.",
		     .command = shell_dkms_rebuild(ctx->arena, ctx->node, "nvidia-fs-source"),
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "looked_up"),
			     fact_path(ctx->arena, "modules.files", from->path.value, "exports") });
		return true;
	}
	if (!is_unknown(file->looked_up) || !exported_name(ctx->node, "nvme_v0" NVFS, &from))
		return false;
	UNKNOWN(ctx, .observed = "which functions nvidia-fs looks up was not read",
		.evidence = {
			fact_path(ctx->arena, "modules.files", file->path.value, "looked_up") });
	return true;
}

static void check_fs(struct rule_context *ctx)
{
	const struct log_line *line = refused_fs(ctx->node);
	const struct module_file *file = module_file_running(ctx->node, "nvidia_fs");
	const char *fact = line ? log_module_fact(ctx->arena, line, "nvidia_fs") : NULL;

	if (skip_without_gpu(ctx))
		return;
	if (line && node_module(ctx->node, "nvidia_fs") &&
	    (!file || !check_fs_looked_up(ctx, file)))
		PASS(ctx, .observed = "the kernel refused nvidia_fs once; it is loaded now",
		     .evidence = { "modules.loaded[nvidia_fs].state", fact });
	else if (line && !node_module(ctx->node, "nvidia_fs"))
		fail_fs(ctx, line, fact);
	else if (line || (file && check_fs_looked_up(ctx, file)))
		return;
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
		.title = "GDRCopy fails or is slow: gdrdrv was built for another driver flavour",
		.is_reason_name = true,
		.profiles = PROFILE_DEEPEP,
		.used_modules = "gdrdrv",
		.severity = SEVERITY_WARN,
		.evaluate = check_gdrdrv,
		.impact = "gdrdrv does not load, or every gdr_pin_buffer() fails.",
		.remedy =
			"Rebuild gdrdrv against the sources of the loaded driver, then load it again.",
		.activation = ACTIVATION_NOW,
		.ends_jobs = true,
		.follows = { "driver/loaded" },
		.reads =
			"The description of gdrdrv.ko, gdrdrv's line in the kernel log, the loaded modules, and the "
			"driver's flavour.",
		.why = "A gdrdrv for the open kernel modules uses symbols that the proprietary modules do not give it. A "
		       "gdrdrv for the proprietary modules loads beside the open ones, with limits. nv-p2p-dummy is for the build "
		       "alone: its functions return an error. GDRCopy before 2.4.3 detects the flavour wrongly for driver 545 and "
		       "later.",
		.check =
			"modinfo -F description gdrdrv; lsmod | grep dummy; cat /proc/driver/gdrdrv/params",
		.sources =
			"github.com/NVIDIA/gdrcopy 2.6 (2026-06-15): src/gdrdrv/gdrdrv.c, src/gdrdrv/Makefile, "
			"src/gdrdrv/nv-p2p-dummy.c, CHANGELOG.md (2.4.3, 2.5); issues 282, 283",
	},
	{
		.id = "modules/ofed-kernel-mismatch",
		.title = "RDMA modules are not OFED's: this kernel uses its own",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_ofed,
		.impact =
			"The kernel's own RDMA modules run under OFED's libraries. Modules that were built against "
			"OFED, such as nvidia-peermem, do not load.",
		.then = THEN_REBOOT,
		.remedy = "Rebuild OFED's modules for this kernel, then the NVIDIA kernel modules.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The link /usr/src/ofa_kernel/default to its end, mlx5_core under /lib/modules of all kernels, "
			"srcversion of the loaded RDMA modules and of their files, packages, and openibd.service.",
		.why = "OFED's modules are built for one kernel. An installation of OFED's libraries alone is correct with "
		       "the modules of a recent kernel, and passes. An initramfs that "
		       "was made before OFED was installed loads the kernel's own modules. The unit openibd belongs to the "
		       "kernel part: where it is enabled, OFED's modules are missing for this kernel.",
		.check = "readlink -f /usr/src/ofa_kernel/default; modinfo -F srcversion ib_core; "
			 "cat /sys/module/ib_core/srcversion",
		.sources =
			"docs.nvidia.com/networking: MLNX_OFED 24.10-3.2.5.0 LTS, Installing MLNX_OFED "
			"(--add-kernel-support)\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/conftest.sh (ofa_kernel)\n"
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-module (srcversion)\n"
			"mlnx-ofa_kernel 23.04: mlnx-ofa_kernel.spec, %files of its utilities (openibd.service)\n"
			"github.com/openucx/ucx issues 6906, 7229\n"
			"github.com/Mellanox/nv_peer_memory issue 39 (2018-05-02)",
	},
	{
		.id = "modules/nvidia-fs-symbol-mismatch",
		.title =
			"GPUDirect Storage is off: nvidia-fs does not fit the loaded driver or kernel",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_fs",
		.severity = SEVERITY_WARN,
		.evaluate = check_fs,
		.impact = "nvidia-fs does not load. cuFile copies through host memory.",
		.remedy =
			"Rebuild nvidia-fs against the sources of the installed driver, then load it.",
		.activation = ACTIVATION_NOW,
		.reads =
			"Lines of nvidia_fs in the kernel log (symbol version, unknown symbol), and the symbol versions "
			"that nvidia-fs.ko needs and nvidia.ko has. The functions that nvidia-fs.ko looks up in storage modules, "
			"and those that nvme.ko exports.",
		.why = "nvidia-fs uses functions of the driver whose names begin with nvidia_p2p_. The kernel compares a "
		       "checksum of each. nvidia-fs is under the GPL: a kernel that keeps GPL modules from the symbols of "
		       "proprietary ones loads it with the open kernel modules only. It looks up functions of storage modules by "
		       "a name that contains a version. It loads without them, and the storage then goes through host memory.",
		.check =
			"dmesg | grep nvidia_fs; dkms status nvidia-fs; cat /proc/driver/nvidia-fs/modules; "
			"grep register_nvfs_dma_ops /proc/kallsyms",
		.sources =
			"github.com/NVIDIA/gds-nvidia-fs issues 34, 72 (2025-12-10)\n"
			"github.com/NVIDIA/gds-nvidia-fs 2.28.4 (2026-04-24): src/nvfs-dma.c, modules_list; src/nvfs-mod.c, "
			"probe_module_list()\n"
			"Linux 6.1.192: kernel/module/version.c, check_version(); kernel/module/main.c, "
			"inherit_taint()",
	},
};

RULE_TABLE(modules_build_mismatch);
