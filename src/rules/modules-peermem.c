/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-peermem.c - nvidia-peermem (rules modules/peermem-...): needed or not, able to load or not, and
 * loaded again after the next boot. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/dkms.h"
#include "query/gpus.h"
#include "query/modprobe-also-loads.h"
#include "query/module-find.h"
#include "query/module-load.h"
#include "query/pci-device.h"
#include "query/peermem.h"
#include "query/ports.h"

/* OFED's headers and symbol versions that modules are built against. */
#define OFA_DEFAULT "/usr/src/ofa_kernel/default"

/* ---- is another path there? ---- */

/* EFA asks the NVIDIA driver itself, or through efa_nv_peermem (amzn-drivers: efa_nvmem_impl.h). */
static bool skip_for_efa(struct rule_context *ctx)
{
	const struct rdma_device *device = node_efa_alone(ctx->node);

	/* Without these files the driver does not report whether it reaches GPU memory, and libfabric relies on the GPU's
	 * driver alone: the rule applies. */
	if (!device || (is_absent(device->p2p) && !is_known(device->gdr) &&
			!str_starts(ctx->node->os.product, "p3dn.")))
		return false;
	NOT_APPLICABLE(ctx,
		       .observed = "EFA does not use nvidia_peermem: see rdma/dmabuf-unsupported",
		       .evidence = { fact_path(ctx->arena, "rdma.devices", device->name.value,
					       "driver") });
	return true;
}

/* NVIDIA on DGX Spark: neither nvidia-peermem nor DMA-BUF nor GDRCopy works there, by design. */
static bool skip_on_gb10(struct rule_context *ctx)
{
	if (!node_is(ctx->node, KIND_GB10))
		return false;
	NOT_APPLICABLE(ctx, .observed = "GB10 has no GPUDirect RDMA",
		       .evidence = { "pci.devices" });
	return true;
}

static bool skip_without_peermem(struct rule_context *ctx)
{
	return skip_unless_for_rdma(ctx) || skip_on_gb10(ctx);
}

/* Before driver 470 nv_peer_mem is the only module for it. */
static void fail_old_driver(struct rule_context *ctx, const char *why)
{
	struct module_load load = module_load_of(ctx->node, "nv_peer_mem", ctx->arena);

	FAIL(ctx,
	     .observed = text_printf(ctx,
				     "no peer-memory module is loaded, and %s; driver %s has no "
				     "nvidia-peermem",
				     why, ctx->node->driver.version.value),
	     .expected = "nv_peer_mem loaded",
	     .remedy = load.no_file ? "Upgrade the driver to " PEERMEM_SINCE
				      " or later, which has nvidia-peermem."
				    : load.remedy,
	     .command = load.no_file ? NULL : load.command, .has_fix = true,
	     .fix = { load.no_file ? NULL : "load-module", { "nv_peer_mem", "boot" } },
	     .needs_module = load.no_file ? "" : "nv_peer_mem",
	     .evidence = { "modules.loaded", "driver.version", load.fact });
}

/* IMPACT NULL: the rule's. */
static void fail_not_loaded(struct rule_context *ctx, enum severity severity, const char *why,
			    const char *impact)
{
	struct module_load load = module_load_of(ctx->node, "nvidia_peermem", ctx->arena);

	if (known_is(driver_has_peermem(ctx->node), false)) {
		fail_old_driver(ctx, why);
		return;
	}
	FAIL_AS(ctx, severity,
		.observed = text_printf(ctx, "nvidia_peermem is not loaded, and %s%s%s", why,
					load.why_not ? "; " : "", load.why_not ? load.why_not : ""),
		.expected = "nvidia_peermem loaded", .impact = impact, .remedy = load.remedy,
		.command = load.command, .has_fix = load.no_file,
		.evidence = { "modules.loaded", "driver.flavour", "os.kernel", load.fact });
}

static void check_needed(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *why;
	enum dmabuf path = dmabuf_path(node, ctx->arena, &why);

	if (path == DMABUF_UNKNOWN)
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, "nvidia_peermem is not loaded; whether it is needed: %s", why),
			.evidence = { "driver.flavour" });
	else if (path == DMABUF_NO)
		fail_not_loaded(ctx, SEVERITY_ERR, why, NULL);
	else if (is_asked_for(ctx, PROFILE_DEEPEP) && !dmabuf_supports_umem(node))
		fail_not_loaded(
			ctx, SEVERITY_WARN,
			text_printf(ctx,
				    "kernel %s registers no NIC control buffers by "
				    "DMA-BUF (" KERNEL_UMEM_DMABUF " does)",
				    node->os.kernel.value),
			"NVSHMEM IBGDA, and NCCL GIN with GDAKI, do not start. Other work registers GPU memory by "
			"DMA-BUF.");
	else
		NOTE(ctx,
		     .observed = text_printf(ctx, "nvidia_peermem is not loaded and not needed: %s",
					     why),
		     .evidence = { "modules.loaded", "driver.flavour", "os.kernel" });
}

static void check_not_loaded(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_peermem(ctx) || skip_without_modules(ctx))
		return;
	if (node_module(node, "nvidia_peermem"))
		PASS(ctx, .evidence = { "modules.loaded[nvidia_peermem].state" });
	else if (node_module(node, "nv_peer_mem"))
		NOT_APPLICABLE(
			ctx,
			.observed = "nv_peer_mem is loaded instead: see modules/peermem-conflict",
			.evidence = { "modules.loaded[nv_peer_mem].state" });
	else if (!skip_for_efa(ctx))
		check_needed(ctx);
}

/* ---- the file on disk ---- */

static bool no_file(struct rule_context *ctx, const struct module_file **file)
{
	*file = module_file_running(ctx->node, "nvidia_peermem");
	if (*file)
		return false;
	if (!skip_without_module_files(ctx))
		NOT_APPLICABLE(ctx, .observed = "no nvidia-peermem.ko for this kernel",
			       .evidence = { "modules.files" });
	return true;
}

/* The body of the module is compiled only where the build found the peer-memory symbols (conftest.sh:
 * ib_peer_memory_symbols). A stub imports none of them and depends on no RDMA module. */
static enum fact_state is_stub(const struct module_file *file, bool *stub)
{
	*stub = false;
	if (is_known(file->imports) &&
	    module_symbol_find(&file->imports, "ib_register_peer_memory_client"))
		return FACT_KNOWN;
	if (!is_known(file->depends))
		return FACT_UNKNOWN;
	*stub = !module_depends_on(file, "ib_core") && !module_depends_on(file, "ib_uverbs");
	return FACT_KNOWN;
}

static void fail_stub(struct rule_context *ctx, const struct module_file *file)
{
	const struct software_item *ofed = node_software(ctx->node, "ofed");

	FAIL(ctx,
	     .observed = text_printf(ctx,
				     "%s depends on neither ib_core nor ib_uverbs: it is a stub",
				     file->path.value),
	     .expected = "nvidia-peermem built against an RDMA stack with peer memory",
	     .remedy =
		     ofed ? "Rebuild the NVIDIA kernel modules: OFED was not there when they were "
			    "built."
			  : NULL,
	     .command = ofed ? shell_dkms_rebuild(ctx->arena, ctx->node, "driver-source") : NULL,
	     .evidence = { fact_path(ctx->arena, "modules.files", file->path.value, "depends"),
			   fact_path(ctx->arena, "modules.files", file->path.value, "imports") });
}

static void answer_stub(struct rule_context *ctx, const struct module_file *file)
{
	const char *why;
	enum dmabuf path = dmabuf_path(ctx->node, ctx->arena, &why);

	if (path == DMABUF_UNKNOWN)
		UNKNOWN(ctx, .observed = text_printf(ctx, "a stub; whether it is needed: %s", why),
			.evidence = { "driver.flavour" });
	else if (path == DMABUF_YES)
		NOTE(ctx,
		     .observed = text_printf(ctx, "%s is a stub and not needed: %s",
					     file->path.value, why),
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "depends") });
	else if (!skip_for_efa(ctx))
		fail_stub(ctx, file);
}

static void check_stub(struct rule_context *ctx)
{
	const struct module_file *file;
	bool stub;

	if (skip_without_peermem(ctx) || no_file(ctx, &file))
		return;
	if (node_module(ctx->node, "nvidia_peermem")) {
		PASS(ctx, .observed = "nvidia_peermem is loaded, so it is not a stub",
		     .evidence = { "modules.loaded[nvidia_peermem].state" });
		return;
	}
	if (is_stub(file, &stub) != FACT_KNOWN)
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						     "depends") });
	else if (!stub)
		PASS(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						  "imports") });
	else
		answer_stub(ctx, file);
}

/* ---- symbol versions ---- */

static void fail_symbol(struct rule_context *ctx, const struct module_file *file,
			const char *symbol, const struct module_file *from)
{
	FAIL(ctx,
	     .observed = text_printf(ctx, "%s needs another version of %s than %s has",
				     file->path.value, symbol, from->path.value),
	     .expected = "nvidia-peermem built against the installed RDMA stack and driver",
	     .command = shell_dkms_rebuild(ctx->arena, ctx->node, "driver-source"),
	     .evidence = { fact_path(ctx->arena, "modules.files", file->path.value, "imports"),
			   fact_path(ctx->arena, "modules.files", from->path.value, "exports") });
}

/* The checksums of the symbols, as the kernel compares them (kernel/module/version.c). */
static void compare_symbols(struct rule_context *ctx, const struct module_file *file)
{
	const char *imports = fact_path(ctx->arena, "modules.files", file->path.value, "imports");
	const struct module_file *from;
	size_t fit = 0;

	for_each(want, &file->imports) {
		enum symbol_fit found = module_symbol_fit(ctx->node, want, &from);

		if (found == SYMBOL_OTHER_VERSION) {
			fail_symbol(ctx, file, want->name.value, from);
			return;
		}
		fit += found == SYMBOL_FITS;
	}
	if (fit && fit == file->imports.count)
		PASS(ctx, .evidence = { imports });
	else
		UNKNOWN(ctx, .observed = "no module on disk shows the versions of its symbols",
			.evidence = { imports });
}

static void check_unloadable(struct rule_context *ctx)
{
	const struct module_file *file;
	bool stub;

	if (skip_without_peermem(ctx) || skip_unless_modules_count(ctx) || no_file(ctx, &file))
		return;
	if (node_module(ctx->node, "nvidia_peermem"))
		PASS(ctx, .observed = "nvidia_peermem is loaded",
		     .evidence = { "modules.loaded[nvidia_peermem].state" });
	else if (is_stub(file, &stub) == FACT_KNOWN && stub)
		NOT_APPLICABLE(ctx, .observed = "a stub: see modules/peermem-stub",
			       .evidence = { fact_path(ctx->arena, "modules.files",
						       file->path.value, "depends") });
	else
		compare_symbols(ctx, file);
}

static const struct log_subject *of_peermem(const struct log_line *line)
{
	const struct log_subject *own = log_of_module(line, "nvidia_peermem");

	return own ? own : log_of_module(line, "nv_peer_mem");
}

static const struct log_line *refused_peermem(const struct node *node)
{
	static const char *const patterns[] = { "symbol-version", "unknown-symbol" };

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (of_peermem(node_log(node, patterns[i])))
			return node_log(node, patterns[i]);
	return NULL;
}

/* The module that nv_peer_mem and nvidia-peermem register with is the kernel's own, which never had the function: only
 * OFED's has (ib_core in 4.9, ib_uverbs later). To build again would give the same. */
static bool has_no_peer_interface(const struct node *node)
{
	static const char *const names[] = { "ib_core", "ib_uverbs" };
	size_t read = 0;

	for (size_t i = 0; is_known(node->os.kernel) && i < ARRAY_SIZE(names); i++) {
		const struct module_file *file = module_file_find(node, names[i],
								  node->os.kernel.value);

		if (!file || !was_read(file->exports))
			continue;
		if (module_symbol_find(&file->exports, "ib_register_peer_memory_client"))
			return false;
		read++;
	}
	return read == ARRAY_SIZE(names);
}

/* Every GPU is too old for the open kernel modules, which export DMA-BUF. */
static bool has_old_gpus_alone(const struct node *node)
{
	size_t gpus = 0;

	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		if (!gpu_is_before_turing(d))
			return false;
		gpus++;
	}
	return gpus > 0;
}

/* The symbol versions that modules outside the kernel's tree are built against, where they are of another kernel. */
static const struct software_item *symbols_of_other(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "ofa_kernel") && str_is(item->path, OFA_DEFAULT) &&
		    is_known(item->version) && is_known(node->os.kernel) &&
		    !str_is(item->version, node->os.kernel.value))
			return item;
	return NULL;
}

/* Built again as it is set up, the module would get the symbol versions of the other kernel again. */
static void fail_other_symbols(struct rule_context *ctx, const struct log_subject *own,
			       const char *fact, const struct software_item *symbols)
{
	const char *kernel = ctx->node->os.kernel.value;

	FAIL(ctx,
	     .observed = text_printf(ctx,
				     "%s; " OFA_DEFAULT " leads to kernel %s, and kernel %s runs",
				     own->last.value, symbols->version.value, kernel),
	     .expected = text_printf(ctx, OFA_DEFAULT " of kernel %s", kernel),
	     .remedy = text_printf(
		     ctx,
		     "Make the link " OFA_DEFAULT
		     " point to the folder of kernel %s (install OFED for it if there is "
		     "none). Then rebuild %s and load it. A build before that is refused again.",
		     kernel, module_written(ctx->arena, own->name.value)),
	     .evidence = { fact, software_version_fact(ctx->arena, symbols) });
}

static void fail_other_build(struct rule_context *ctx, const struct log_subject *own,
			     const char *fact)
{
	bool driver = str_is(own->name, "nvidia_peermem");

	FAIL(ctx, .observed = own->last.value,
	     .expected = text_printf(ctx, "%s built against the installed RDMA stack%s",
				     module_written(ctx->arena, own->name.value),
				     driver ? " and driver" : ""),
	     .remedy =
		     driver ? NULL
			    : "Rebuild nv_peer_mem against the RDMA stack of the running kernel, then load "
			      "it. The NVIDIA driver's modules do not contain it.",
	     .command = driver ? shell_dkms_rebuild(ctx->arena, ctx->node, "driver-source") : NULL,
	     .has_fix = !driver, .evidence = { fact });
}

static void fail_refused(struct rule_context *ctx, const struct log_line *line,
			 const struct log_subject *own)
{
	const struct software_item *symbols = symbols_of_other(ctx->node);
	const char *fact = log_module_fact(ctx->arena, line, own->name.value);
	bool none = has_no_peer_interface(ctx->node);
	const char *why;
	bool dmabuf = dmabuf_path(ctx->node, ctx->arena, &why) == DMABUF_YES &&
		      (!is_asked_for(ctx, PROFILE_GIN_ANY) || dmabuf_supports_umem(ctx->node));

	if (none && dmabuf)
		FAIL(ctx, .observed = own->last.value,
		     .expected = "no peer-memory module: DMA-BUF replaces it",
		     .impact = "The module is not needed: NICs reach GPU memory by DMA-BUF.",
		     .remedy = text_printf(
			     ctx,
			     "Remove the package of %s and its line in modules-load.d. The RDMA modules of this "
			     "kernel have no peer memory, so it cannot be loaded however it is built.",
			     module_written(ctx->arena, own->name.value)),
		     .evidence = { fact, "modules.files" });
	else if (none)
		FAIL(ctx, .observed = own->last.value,
		     .expected = "RDMA modules with peer memory (OFED), or DMA-BUF",
		     .remedy = text_printf(
			     ctx,
			     "Install MLNX_OFED or DOCA-OFED for kernel %s and build %s against it. Only "
			     "building it again does not help: the kernel's own RDMA modules have no peer "
			     "memory.%s",
			     ctx->node->os.kernel.value,
			     module_written(ctx->arena, own->name.value),
			     has_old_gpus_alone(ctx->node)
				     ? ""
				     : " Or use the open kernel modules of the driver on kernel 5.12 or "
				       "later, where DMA-BUF replaces peer memory."),
		     .evidence = { fact, "modules.files" });
	else if (symbols)
		fail_other_symbols(ctx, own, fact, symbols);
	else
		fail_other_build(ctx, own, fact);
}

static void check_symbol_mismatch(struct rule_context *ctx)
{
	const struct log_line *line = refused_peermem(ctx->node);
	const struct log_subject *own = of_peermem(line);
	bool loaded = node_module(ctx->node, "nvidia_peermem");

	if (skip_without_peermem(ctx))
		return;
	if (own && loaded)
		PASS(ctx, .observed = "the kernel refused it once; it is loaded now",
		     .evidence = { "modules.loaded[nvidia_peermem].state" });
	else if (own && !skip_without_modules(ctx))
		fail_refused(ctx, line, own);
	else if (own)
		return;
	else if (loaded)
		PASS(ctx, .evidence = { "modules.loaded[nvidia_peermem].state" });
	else
		pass_if_log_whole(ctx);
}

static const char *const peer_modules[] = { "nvidia_peermem", "nv_peer_mem" };

static void fail_not_built(struct rule_context *ctx, const struct module_file *other)
{
	struct module_load load = module_load_of(ctx->node, other->name.value, ctx->arena);
	const char *why;

	FAIL_AS(ctx,
		dmabuf_path(ctx->node, ctx->arena, &why) == DMABUF_YES ? SEVERITY_INFO
								       : SEVERITY_ERR,
		.observed = text_printf(ctx, "%s exists for kernel %s, not for kernel %s",
					module_written(ctx->arena, other->name.value),
					other->kernel.value, ctx->node->os.kernel.value),
		.expected = "a peer-memory module for the running kernel", .remedy = load.remedy,
		.command = load.command,
		.evidence = { "os.kernel", fact_path(ctx->arena, "modules.files", other->path.value,
						     "kernel") });
}

/* Both modules do the same, so either is enough. */
static void check_not_built(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *other = NULL;

	if (skip_without_peermem(ctx) || skip_without_module_files(ctx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(peer_modules); i++) {
		const char *name = peer_modules[i], *kernel = node->os.kernel.value;
		const struct module_file *file = module_file_find(node, name, kernel);

		if (file || node_module(node, name)) {
			PASS(ctx, .evidence = { file ? fact_path(ctx->arena, "modules.files",
								 file->path.value, "kernel")
						     : fact_path(ctx->arena, "modules.loaded", name,
								 "state") });
			return;
		}
		other = other ? other : module_file_elsewhere(node, name, kernel);
	}
	if (other)
		fail_not_built(ctx, other);
	else
		NOT_APPLICABLE(ctx, .observed = "no peer-memory module for any kernel",
			       .evidence = { "modules.files" });
}

/* ---- after the next boot ---- */

/* The driver's own module, or before driver 470 the only one there is. */
static const char *right_module(const struct node *node)
{
	return known_is(driver_has_peermem(node), false) ? "nv_peer_mem" : "nvidia_peermem";
}

static bool loaded_at_boot(const struct node *node, const char *name)
{
	for_each(m, &node->modules.at_boot)
		if (str_is(m->name, name))
			return true;
	for_each(s, &node->services.units)
		if ((strstr(s->unit.value, "peermem") || strstr(s->unit.value, name)) &&
		    str_is(s->enabled, "enabled"))
			return true;
	return modprobe_also_loads(node, name);
}

/* The module is installed, needed and not loaded: most often since the last boot. */
static bool waits_to_be_loaded(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *why;

	if (node_module(node, "nv_peer_mem") ||
	    dmabuf_path(ctx->node, ctx->arena, &why) != DMABUF_NO)
		return false;
	return module_file_running(node, "nvidia_peermem") ||
	       module_file_running(node, "nv_peer_mem");
}

static void fail_not_persistent(struct rule_context *ctx, const char *name)
{
	const char *written = module_written(ctx->arena, name);

	FAIL(ctx,
	     .observed = text_printf(ctx,
				     "%s; no modules-load.d entry, unit, softdep or install line "
				     "loads it at boot",
				     node_module(ctx->node, name) ? "loaded now"
								  : "installed and not loaded"),
	     .expected = "a modules-load.d entry or an enabled unit",
	     .remedy = text_printf(ctx, "Name %s in /etc/modules-load.d.", written),
	     .command = shell_printf(ctx->arena, "echo %s | sudo tee /etc/modules-load.d/%s.conf",
				     written, written),
	     .has_fix = true, .fix = { "load-module", { name, "boot" } },
	     .evidence = { "modules.at_boot", "services.units" });
}

/* In a mounted image nothing is loaded: what its files load at boot passes, and what was not read is not "not needed". */
static bool answer_for_mounted_image(struct rule_context *ctx, const char *name)
{
	const char *why;

	if (!is_known(ctx->node->os.next_boot))
		return false;
	if (loaded_at_boot(ctx->node, name))
		PASS(ctx, .evidence = { "modules.at_boot" });
	else if (dmabuf_path(ctx->node, ctx->arena, &why) == DMABUF_UNKNOWN)
		UNKNOWN(ctx, .observed = why, .evidence = { "driver.flavour" });
	else
		return skip_without_module_files(ctx);
	return true;
}

static void check_not_persistent(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *name = right_module(node), *why;

	if (skip_in_container(ctx) || skip_without_peermem(ctx) || skip_unless_modules_count(ctx) ||
	    answer_for_mounted_image(ctx, name) || skip_for_efa(ctx))
		return;
	if (!node_module(node, "nvidia_peermem") && !waits_to_be_loaded(ctx))
		NOT_APPLICABLE(
			ctx,
			.observed = "nvidia_peermem is not loaded, and not needed or not installed",
			.evidence = { "modules.loaded" });
	else if (loaded_at_boot(node, name))
		PASS(ctx, .evidence = { "modules.at_boot" });
	else if (!was_read(node->modules.at_boot))
		UNKNOWN(ctx, .evidence = { "modules.at_boot" });
	else if (dmabuf_path(ctx->node, ctx->arena, &why) == DMABUF_YES)
		NOTE(ctx,
		     .observed = text_printf(
			     ctx, "nothing loads nvidia_peermem at boot, and it is not needed: %s",
			     why),
		     .evidence = { "modules.at_boot" });
	else
		fail_not_persistent(ctx, name);
}

#define CAUSES_PEERMEM                                                                           \
	"modules/peermem-stub", "modules/peermem-unloadable", "modules/peermem-symbol-mismatch", \
		"modules/peermem-not-built-for-kernel"

#define SOURCE_PEERMEM                                                                     \
	"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-peermem/nvidia-peermem.c, " \
	"kernel-open/conftest.sh (ib_peer_memory_symbols)"

static const struct rule modules_peermem_rules[] = {
	{
		.id = "modules/peermem-not-loaded",
		.title = "GPUDirect RDMA or IBGDA does not work: nvidia_peermem is not loaded",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.needs_module = "nvidia_peermem",
		.evaluate = check_not_loaded,
		.impact =
			"NICs cannot register GPU memory. NCCL copies through host memory. NVSHMEM IBGDA does not start.",
		.remedy = "Load nvidia-peermem, and make it load at every boot.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { CAUSES_PEERMEM },
		.reads =
			"The loaded modules, the driver's flavour, the kernel, OFED, and on a live node whether the RDMA "
			"stack registers a DMA-BUF.",
		.why = "nvidia-peermem gives the RDMA stack access to GPU memory through the peer-memory interface. DMA-BUF "
		       "does the same with the open kernel modules and kernel 5.12 or later, or OFED. NIC control buffers in "
		       "GPU memory, which IBGDA and GIN GDAKI use, need kernel 6.1 or later, or nvidia-peermem. Where DMA-BUF "
		       "works this is a note. Driver 470 is the first with nvidia-peermem.",
		.check = "lsmod | grep nvidia_peermem",
		.sources = SOURCE_PEERMEM
		"\nNCCL user guide (2026-06-11): usage/deviceapi.rst, troubleshooting/gpu_troubleshooting.rst\n"
		"Linux 5.12: commit bfe0cc6eb249\n"
		"github.com/Mellanox/nv_peer_memory 1.3: README.md\n"
		"forums.developer.nvidia.com: DGX Spark GPUDirect RDMA, topic 348787",
	},
	{
		.id = "modules/peermem-stub",
		.title = "nvidia-peermem cannot load: it was built without an RDMA stack",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.evaluate = check_stub,
		.impact =
			"modprobe nvidia-peermem fails with \"Invalid argument\", and the kernel log says nothing.",
		.remedy = "Install MLNX_OFED or DOCA-OFED, then rebuild the NVIDIA kernel modules.",
		.activation = ACTIVATION_NOW,
		.reads = "depends and the imported symbols of nvidia-peermem.ko on disk.",
		.why = "The build compiles the module's body only where it finds ib_register_peer_memory_client in a "
		       "Module.symvers of the kernel or of OFED. Without it the init function returns -EINVAL and logs "
		       "nothing.",
		.check = "modinfo -F depends nvidia-peermem   (must name ib_core or ib_uverbs)",
		.sources = SOURCE_PEERMEM,
	},
	{
		.id = "modules/peermem-not-built-for-kernel",
		.title =
			"GPUDirect RDMA does not work: no peer-memory module exists for this kernel",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.evaluate = check_not_built,
		.impact = "NICs cannot register GPU memory through peer memory.",
		.remedy = "Build the NVIDIA kernel modules for the running kernel.",
		.activation = ACTIVATION_NOW,
		.reads = "nvidia-peermem and nv_peer_mem under /lib/modules of all kernels.",
		.why = "Each kernel needs its own build: nvidia-peermem is built with the driver, nv_peer_mem by itself. Where "
		       "DMA-BUF works this is a note.",
		.check =
			"modinfo -F filename nvidia-peermem; find /lib/modules -name '*peer*mem*.ko*'",
		.sources = SOURCE_PEERMEM
		"\ngithub.com/Mellanox/nv_peer_memory issue 51\ndkms 3.2: dkms(8)",
	},
	{
		.id = "modules/peermem-unloadable",
		.title =
			"nvidia-peermem cannot load: it was built against another RDMA stack or driver",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.evaluate = check_unloadable,
		.impact =
			"modprobe nvidia-peermem fails, and the kernel log says \"disagrees about version of symbol\".",
		.remedy = "Rebuild the NVIDIA kernel modules against the installed RDMA stack.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The symbol checksums that nvidia-peermem.ko needs, and those of ib_core, ib_uverbs and nvidia on "
			"disk. Nothing is loaded.",
		.why = "After OFED is installed or upgraded the NVIDIA kernel modules must be built again. This does not "
		       "happen automatically.",
		.check =
			"modprobe --dump-modversions $(modinfo -n nvidia-peermem) | grep peer_memory",
		.sources = SOURCE_PEERMEM
		"\nLinux 6.1.192: kernel/module/version.c, check_version()\n"
		"github.com/NVIDIA/gpu-operator issue 2868 (2026-09-08)",
	},
	{
		.id = "modules/peermem-symbol-mismatch",
		.title = "GPUDirect RDMA does not work: the kernel refused the peer-memory module",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.evaluate = check_symbol_mismatch,
		.impact = "NICs cannot register GPU memory through peer memory.",
		.remedy = "Rebuild the NVIDIA kernel modules against the installed RDMA stack.",
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable" },
		.reads =
			"Lines of nvidia_peermem and nv_peer_mem in the kernel log: \"disagrees about version of symbol\" "
			"and \"Unknown symbol\". What ib_core and ib_uverbs on disk export.",
		.why = "The module was built against another ib_core, another driver or another kernel. Or the RDMA modules are "
		       "the kernel's own, which have no peer memory.",
		.check = "dmesg | grep -E 'peer.*(version of symbol|Unknown symbol)'",
		.sources = "Linux 6.1.192: kernel/module/version.c, check_version()\n"
			   "github.com/NVIDIA/gpu-operator issue 2868 (2026-09-08)\n"
			   "github.com/Mellanox/nv_peer_memory issues 79, 84",
	},
	{
		.id = "modules/peermem-not-persistent",
		.title = "GPUDirect RDMA stops at the next boot: nothing loads nvidia_peermem then",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_WARN,
		.evaluate = check_not_persistent,
		.impact = "GPUDirect RDMA stops working at the next boot.",
		.remedy = "Name nvidia-peermem in /etc/modules-load.d.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		/* The repair of peermem-not-loaded names it for the boot too. */
		.follows = { CAUSES_PEERMEM, "modules/peermem-not-loaded" },
		.reads =
			"modules-load.d, /etc/modules, enabled units with peermem in their name, and softdep and install "
			"lines of modprobe.d.",
		.why = "No other module depends on nvidia-peermem and no device asks for it. A second softdep line for nvidia "
		       "has no effect: modprobe uses the first.",
		.check = "grep -r peermem /etc/modules-load.d /etc/modules /usr/lib/modules-load.d",
		.sources = "systemd 252: modules-load.d(5)\n"
			   "kmod 30: libkmod/libkmod-module.c, kmod_module_get_softdeps()\n"
			   "NCCL user guide (2026-06-11): troubleshooting/gpu_troubleshooting.rst",
	},
};

RULE_TABLE(modules_peermem);
