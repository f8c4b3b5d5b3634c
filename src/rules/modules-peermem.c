/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-peermem.c - nvidia-peermem (rules modules/peermem-...): needed or not, real or a stub, the right
 * one of two, and there again after the next boot. */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/load-chain.h"
#include "query/module-find.h"
#include "query/ports.h"

/* NCCL's documentation: the kernel registers NIC control buffers by DMA-BUF from 6.1 on. */
#define KERNEL_UMEM_DMABUF "6.1"
/* Commit bfe0cc6eb249: the uverbs command behind ibv_reg_dmabuf_mr. */
#define KERNEL_DMABUF "5.12"

/* ---- is there another way? ---- */

static const struct software_item *find_ofed(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "ofed") || str_is(item->name, "doca"))
			return item;
	return NULL;
}

/* What NCCL's probe answered for a device outranks any version number. */
static enum fact_state dmabuf_probed(const struct node *node, bool *works)
{
	enum fact_state state = FACT_UNKNOWN;

	*works = false;
	for_each(d, &node->rdma.devices) {
		if (!is_known(d->dmabuf))
			continue;
		state = FACT_KNOWN;
		*works |= d->dmabuf.value;
	}
	return state;
}

enum dmabuf { DMABUF_UNKNOWN, DMABUF_NO, DMABUF_YES };

/* WHY names what decided. */
static enum dmabuf dmabuf_path(struct rule_context *ctx, const char **why)
{
	const struct node *node = ctx->node;
	bool works;

	if (known_is(node_efa_reaches_gpus(node, NULL), true)) {
		*why = "EFA's own driver reaches GPU memory";
		return DMABUF_YES;
	}
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY)) {
		*why = "the proprietary kernel modules export no DMA-BUF";
		return DMABUF_NO;
	}
	if (dmabuf_probed(node, &works) == FACT_KNOWN) {
		*why = works ? "the RDMA stack registers DMA-BUFs"
			     : "the RDMA stack refuses to register a DMA-BUF";
		return works ? DMABUF_YES : DMABUF_NO;
	}
	*why = "the flavour of the driver or the kernel is not known";
	if (!is_known(node->driver.flavour) || !is_known(node->os.kernel))
		return DMABUF_UNKNOWN;
	if (version_compare(node->os.kernel.value, KERNEL_DMABUF) >= 0 || find_ofed(node)) {
		*why = find_ofed(node) ? "open kernel modules and an OFED stack"
				       : "open kernel modules and a kernel from " KERNEL_DMABUF
					 " on";
		return DMABUF_YES;
	}
	*why = text_printf(ctx, "kernel %s has no DMA-BUF registration (" KERNEL_DMABUF " has)",
			   node->os.kernel.value);
	return DMABUF_NO;
}

static bool umem_by_dmabuf(const struct node *node)
{
	return find_ofed(node) || (is_known(node->os.kernel) &&
				   version_compare(node->os.kernel.value, KERNEL_UMEM_DMABUF) >= 0);
}

/* EFA asks the NVIDIA driver itself, or through efa_nv_peermem (amzn-drivers: efa_nvmem_impl.h). */
static bool skip_for_efa(struct rule_context *ctx)
{
	const struct rdma_device *device = NULL;

	if (!is_known(node_efa_reaches_gpus(ctx->node, &device)))
		return false;
	NOT_APPLICABLE(ctx,
		       .observed = "EFA does not use nvidia_peermem: see rdma/dmabuf-unsupported",
		       .evidence = { fact_path(ctx->arena, "rdma.devices", device->name.value,
					       is_known(device->p2p) ? "p2p" : "gdr") });
	return true;
}

static void check_not_loaded(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *why;
	enum dmabuf path;

	if (skip_without_rdma(ctx) || skip_without_modules(ctx))
		return;
	if (node_module(node, "nvidia_peermem")) {
		PASS(ctx, .evidence = { "modules.loaded[nvidia_peermem].state" });
		return;
	}
	if (node_module(node, "nv_peer_mem")) {
		NOT_APPLICABLE(
			ctx,
			.observed = "nv_peer_mem is loaded instead: see modules/peermem-conflict",
			.evidence = { "modules.loaded[nv_peer_mem].state" });
		return;
	}
	if (skip_for_efa(ctx))
		return;
	path = dmabuf_path(ctx, &why);
	if (path == DMABUF_UNKNOWN)
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, "nvidia_peermem is not loaded; whether it is needed: %s", why),
			.evidence = { "driver.flavour" });
	else if (path == DMABUF_NO)
		FAIL(ctx, .observed = text_printf(ctx, "nvidia_peermem is not loaded, and %s", why),
		     .expected = "nvidia_peermem loaded",
		     .evidence = { "modules.loaded", "driver.flavour", "os.kernel" });
	else if (is_asked_for(ctx, PROFILE_DEEPEP) && !umem_by_dmabuf(node))
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(
				ctx,
				"nvidia_peermem is not loaded, and kernel %s registers no NIC "
				"control buffers by DMA-BUF (" KERNEL_UMEM_DMABUF " does)",
				node->os.kernel.value),
			.expected = "nvidia_peermem loaded",
			.evidence = { "modules.loaded", "os.kernel" });
	else
		NOTE(ctx, .observed = text_printf(ctx, "not loaded and not needed: %s", why),
		     .expected = "nothing; DMA-BUF does the same",
		     .evidence = { "modules.loaded", "driver.flavour", "os.kernel" });
}

/* ---- the file on disk ---- */

static const struct module_file *peermem_file(const struct node *node)
{
	for_each(f, &node->modules.files)
		if (str_is(f->name, "nvidia_peermem") && is_known(node->os.kernel) &&
		    str_is(f->kernel, node->os.kernel.value))
			return f;
	return NULL;
}

static bool no_file(struct rule_context *ctx, const struct module_file **file)
{
	*file = peermem_file(ctx->node);
	if (*file)
		return false;
	if (!skip_without_module_files(ctx))
		NOT_APPLICABLE(ctx, .observed = "no nvidia-peermem.ko for this kernel",
			       .evidence = { "modules.files" });
	return true;
}

/* The body of the module is compiled only where the peer-memory symbols were found when the driver
 * was built; a stub wants neither of them and depends on neither RDMA module. */
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

static void check_stub(struct rule_context *ctx)
{
	const struct module_file *file;
	enum dmabuf path;
	const char *why;
	bool stub;

	if (skip_without_rdma(ctx) || no_file(ctx, &file))
		return;
	if (node_module(ctx->node, "nvidia_peermem")) {
		PASS(ctx, .observed = "it is loaded, which a stub cannot be",
		     .evidence = { "modules.loaded[nvidia_peermem].state" });
		return;
	}
	if (is_stub(file, &stub) != FACT_KNOWN)
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						     "depends") });
	else if (!stub)
		PASS(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						  "imports") });
	else if ((path = dmabuf_path(ctx, &why)) == DMABUF_UNKNOWN)
		UNKNOWN(ctx, .observed = text_printf(ctx, "a stub; whether it is needed: %s", why),
			.evidence = { "driver.flavour" });
	else if (path == DMABUF_YES)
		NOTE(ctx,
		     .observed =
			     "built without the peer-memory symbols; not needed here, DMA-BUF works",
		     .expected = "nothing; DMA-BUF does the same",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "depends") });
	else
		FAIL(ctx, .observed = "depends on neither ib_core nor ib_uverbs: a stub",
		     .expected = "built against an RDMA stack with peer memory",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "depends"),
			     fact_path(ctx->arena, "modules.files", file->path.value, "imports") });
}

/* ---- symbol versions ---- */

/* Everything that would keep it from loading, told without loading it. */
static void check_unloadable(struct rule_context *ctx)
{
	const struct module_file *file, *from;
	bool stub;
	size_t fit = 0;

	if (skip_without_rdma(ctx) || skip_without_modules(ctx) || no_file(ctx, &file))
		return;
	if (node_module(ctx->node, "nvidia_peermem")) {
		PASS(ctx, .observed = "it is loaded",
		     .evidence = { "modules.loaded[nvidia_peermem].state" });
		return;
	}
	if (is_stub(file, &stub) == FACT_KNOWN && stub) {
		NOT_APPLICABLE(ctx, .observed = "a stub: see modules/peermem-stub");
		return;
	}
	for_each(want, &file->imports) {
		switch (module_symbol_fit(ctx->node, want, &from)) {
		case SYMBOL_OTHER_VERSION:
			FAIL(ctx,
			     .observed = text_printf(ctx, "%s has another version in %s",
						     want->name.value, from->path.value),
			     .expected =
				     "built against the RDMA stack and driver that are installed",
			     .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						     "imports"),
					   fact_path(ctx->arena, "modules.files", from->path.value,
						     "exports") });
			return;
		case SYMBOL_FITS:
			fit++;
			break;
		case SYMBOL_UNKNOWN:
			break;
		}
	}
	if (fit && fit == file->imports.count)
		PASS(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						  "imports") });
	else
		UNKNOWN(ctx, .observed = "no module on disk shows which versions its symbols have",
			.evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						"imports") });
}

static const struct log_subject *of_peermem(const struct log_line *line)
{
	const struct log_subject *own = log_of_module(line, "nvidia_peermem");

	return own ? own : log_of_module(line, "nv_peer_mem");
}

static void check_symbol_mismatch(struct rule_context *ctx)
{
	static const char *const patterns[] = { "symbol-version", "unknown-symbol" };

	if (skip_without_rdma(ctx))
		return;
	for (size_t i = 0; i < 2; i++) {
		const struct log_line *line = node_log(ctx->node, patterns[i]);

		const struct log_subject *own = of_peermem(line);

		if (!own)
			continue;
		if (node_module(ctx->node, "nvidia_peermem")) {
			PASS(ctx, .observed = "the kernel refused it once; it is loaded now",
			     .evidence = { "modules.loaded[nvidia_peermem].state" });
			return;
		}
		if (!skip_without_modules(ctx))
			FAIL(ctx, .observed = own->last.value,
			     .expected =
				     "built against the RDMA stack and driver that are installed",
			     .evidence = {
				     log_module_fact(ctx->arena, line, own->name.value, "last") });
		return;
	}
	if (node_module(ctx->node, "nvidia_peermem") || known_is(ctx->node->log.complete, true))
		PASS(ctx, .evidence = { "log.lines" });
	else
		UNKNOWN(ctx,
			.observed = was_read(ctx->node->log.lines)
					    ? "the kernel log does not reach back to the boot"
					    : NULL,
			.evidence = { "log.lines" });
}

/* nv_peer_mem does the same, so either will do. */
static void check_not_built(struct rule_context *ctx)
{
	static const char *const names[] = { "nvidia_peermem", "nv_peer_mem" };
	const char *kernel = ctx->node->os.kernel.value, *why;
	const struct module_file *other = NULL;

	if (skip_without_rdma(ctx))
		return;
	if (!is_known(ctx->node->os.kernel) || !was_read(ctx->node->modules.files)) {
		UNKNOWN(ctx, .evidence = { is_known(ctx->node->os.kernel) ? "modules.files"
									  : "os.kernel" });
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		const struct module_file *file = module_file_find(ctx->node, names[i], kernel);

		if (file || node_module(ctx->node, names[i])) {
			PASS(ctx, .evidence = { file ? fact_path(ctx->arena, "modules.files",
								 file->path.value, "kernel")
						     : fact_path(ctx->arena, "modules.loaded",
								 names[i], "state") });
			return;
		}
		other = other ? other : module_file_elsewhere(ctx->node, names[i], kernel);
	}
	if (!other)
		NOT_APPLICABLE(ctx, .observed = "no peer-memory module for any kernel",
			       .evidence = { "modules.files" });
	else
		FAIL_AS(ctx, dmabuf_path(ctx, &why) == DMABUF_YES ? SEVERITY_INFO : SEVERITY_ERR,
			.observed = text_printf(ctx, "no %s for %s; there is one for %s",
						other->name.value, kernel, other->kernel.value),
			.expected = "a peer-memory module for the kernel that runs",
			.evidence = { "os.kernel", fact_path(ctx->arena, "modules.files",
							     other->path.value, "kernel") });
}

/* ---- the other module ---- */

/* Drivers have had nvidia-peermem since R470 (docs.nvidia.com: GPUDirect RDMA); before, nv_peer_mem was it. */
#define PEERMEM_SINCE "470"

static bool skip_before_peermem(struct rule_context *ctx)
{
	const struct fact_str *version = &ctx->node->driver.version;

	if (is_known(*version) && version_compare(version->value, PEERMEM_SINCE) >= 0)
		return false;
	if (!is_known(*version))
		UNKNOWN(ctx, .evidence = { "driver.version" });
	else
		NOT_APPLICABLE(
			ctx,
			.observed = text_printf(ctx,
						"driver %s has no nvidia_peermem, " PEERMEM_SINCE
						" is the first with it",
						version->value),
			.evidence = { "driver.version" });
	return true;
}

static void check_conflict(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct service *service = node_service(node, "nv_peer_mem.service");
	bool file = false;

	if (skip_without_rdma(ctx) || skip_without_modules(ctx) || skip_before_peermem(ctx))
		return;
	for_each(f, &node->modules.files)
		file |= str_is(f->name, "nv_peer_mem") && is_known(node->os.kernel) &&
			str_is(f->kernel, node->os.kernel.value);
	if (node_module(node, "nv_peer_mem"))
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_DEEPEP) ? SEVERITY_ERR : SEVERITY_WARN,
			.observed = node_module(node, "nvidia_peermem")
					    ? "nv_peer_mem is loaded beside nvidia_peermem"
					    : "nv_peer_mem is loaded instead of nvidia_peermem",
			.expected = "nvidia_peermem alone",
			.evidence = { "modules.loaded[nv_peer_mem].state" });
	else if (service &&
		 (str_is(service->enabled, "enabled") || str_is(service->active, "active")))
		FAIL_AS(ctx, SEVERITY_WARN, .observed = "the nv_peer_mem service is enabled",
			.expected = "nvidia_peermem alone",
			.evidence = { "services.units[nv_peer_mem.service].enabled" });
	else if (file)
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = "nv_peer_mem is installed beside nvidia_peermem",
			.expected = "nvidia_peermem alone", .evidence = { "modules.files" });
	else
		PASS(ctx, .evidence = { "modules.loaded" });
}

/* ---- after the next boot ---- */

static bool loaded_at_boot(const struct node *node)
{
	for_each(m, &node->modules.at_boot)
		if (str_is(m->name, "nvidia_peermem"))
			return true;
	for_each(s, &node->services.units)
		if (strstr(s->unit.value, "peermem") && str_is(s->enabled, "enabled"))
			return true;
	return load_chain_has(node, "nvidia_peermem");
}

/* A module that is there, wanted and not loaded: most often since the last boot. */
static bool waits_to_be_loaded(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *why;

	if (node_module(node, "nv_peer_mem") || dmabuf_path(ctx, &why) != DMABUF_NO)
		return false;
	for_each(f, &node->modules.files)
		if ((str_is(f->name, "nvidia_peermem") || str_is(f->name, "nv_peer_mem")) &&
		    is_known(node->os.kernel) && str_is(f->kernel, node->os.kernel.value))
			return true;
	return false;
}

static void check_not_persistent(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *why;

	if (skip_without_rdma(ctx) || skip_without_modules(ctx))
		return;
	if (!node_module(node, "nvidia_peermem") && !waits_to_be_loaded(ctx))
		NOT_APPLICABLE(
			ctx,
			.observed = "nvidia_peermem is not loaded, and not needed or not installed",
			.evidence = { "modules.loaded" });
	else if (loaded_at_boot(node))
		PASS(ctx, .evidence = { "modules.at_boot" });
	else if (!was_read(node->modules.at_boot))
		UNKNOWN(ctx, .evidence = { "modules.at_boot" });
	else if (dmabuf_path(ctx, &why) == DMABUF_YES)
		NOTE(ctx, .observed = "nothing loads it at boot; DMA-BUF would do without it",
		     .expected = "nothing; DMA-BUF does the same",
		     .evidence = { "modules.at_boot" });
	else
		FAIL(ctx,
		     .observed =
			     node_module(node, "nvidia_peermem")
				     ? "loaded now, and nothing found loads it at boot"
				     : "installed, not loaded, and nothing found loads it at boot",
		     .expected = "a modules-load.d entry or an enabled unit",
		     .evidence = { "modules.at_boot", "services.units" });
}

/* ---- the loaded module ---- */

static const struct software_item *old_nvshmem(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "nvshmem") && is_known(item->version) &&
		    version_compare(item->version.value, "3.2.5") <= 0)
			return item;
	return NULL;
}

static void check_sysfs_absent(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *old = old_nvshmem(node);

	if (skip_without_rdma(ctx) || skip_without_modules(ctx))
		return;
	if (!node_module(node, "nvidia_peermem"))
		NOT_APPLICABLE(ctx, .observed = "nvidia_peermem is not loaded",
			       .evidence = { "modules.loaded" });
	else if (is_unknown(node->rdma.memory_peers))
		UNKNOWN(ctx, .evidence = { "rdma.memory_peers" });
	else if (is_known(node->rdma.memory_peers) && node->rdma.memory_peers.count)
		PASS(ctx, .evidence = { "rdma.memory_peers" });
	else if (old)
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(
				ctx,
				"NVSHMEM %s looks for /sys/kernel/mm/memory_peers, which this "
				"kernel does not make",
				old->version.value),
			.expected = "NVSHMEM 3.3.9 or later",
			.evidence = { "rdma.memory_peers", fact_path(ctx->arena, "software.items",
								     old->path.value, "version") });
	else if (!was_read(node->software.items))
		UNKNOWN(ctx, .evidence = { "software.items" });
	else
		FAIL(ctx,
		     .observed = "/sys/kernel/mm/memory_peers is not there, as with newer stacks",
		     .expected = "nothing; the module works without it",
		     .evidence = { "rdma.memory_peers" });
}

static void check_params(struct rule_context *ctx)
{
	const struct module *module = node_module(ctx->node, "nvidia_peermem");
	size_t before = ctx->findings->count;

	if (skip_without_rdma(ctx) || skip_without_modules(ctx))
		return;
	if (!module) {
		NOT_APPLICABLE(ctx, .observed = "nvidia_peermem is not loaded",
			       .evidence = { "modules.loaded" });
		return;
	}
	if (!is_known(module->params)) {
		UNKNOWN(ctx, .evidence = { "modules.loaded[nvidia_peermem].params" });
		return;
	}
	for_each(p, &module->params) {
		bool legacy = str_is(p->name, "peerdirect_support") && str_is(p->value, "1");
		bool old_api = str_is(p->name, "persistent_api_support") && str_is(p->value, "0");

		if (legacy || old_api)
			FAIL(ctx, .subject = p->name.value,
			     .observed = text_printf(ctx, "%s: %s", p->value.value,
						     legacy ? "for MLNX_OFED 4.9"
							    : "the legacy interface"),
			     .expected = legacy ? "0" : "1", .has_fix = true,
			     .fix = { "set-option",
				      { "nvidia_peermem", p->name.value, legacy ? "0" : "1" } },
			     .evidence = { text_printf(
				     ctx, "modules.loaded[nvidia_peermem].params[%s].value",
				     p->name.value) });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "modules.loaded[nvidia_peermem].params" });
}

static void check_version(struct rule_context *ctx)
{
	const struct module *module = node_module(ctx->node, "nvidia_peermem");
	const struct driver_facts *driver = &ctx->node->driver;

	if (skip_without_rdma(ctx) || skip_without_modules(ctx))
		return;
	if (!module)
		NOT_APPLICABLE(ctx, .observed = "nvidia_peermem is not loaded",
			       .evidence = { "modules.loaded" });
	else if (!is_known(module->version) || !is_known(driver->version))
		UNKNOWN(ctx, .evidence = { is_known(driver->version)
						   ? "modules.loaded[nvidia_peermem].version"
						   : "driver.version" });
	else if (str_is(module->version, driver->version.value))
		PASS(ctx, .evidence = { "modules.loaded[nvidia_peermem].version" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "nvidia_peermem %s, driver %s",
					     module->version.value, driver->version.value),
		     .expected = "the driver's own nvidia_peermem",
		     .evidence = { "modules.loaded[nvidia_peermem].version", "driver.version" });
}

#define WHY_PEERMEM                                                                                \
	"nvidia-peermem gives the RDMA stack access to GPU memory through its peer-memory client " \
	"interface. "

static const struct rule modules_peermem_rules[] = {
	{
		.id = "modules/peermem-not-loaded",
		.title = "nvidia_peermem is not loaded",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.needs_module = "nvidia_peermem",
		.evaluate = check_not_loaded,
		.impact =
			"NICs cannot register GPU memory: NCCL falls back to host copies, NVSHMEM IBGDA "
			"does not start.",
		.remedy =
			"modprobe nvidia-peermem, and have it loaded at boot. If it does not load, see "
			"modules/peermem-stub and modules/peermem-unloadable.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel" },
		.reads =
			"The loaded modules; the driver's flavour, the kernel, an OFED stack and, live, "
			"whether the RDMA stack registers a DMA-BUF.",
		.why = WHY_PEERMEM
		"DMA-BUF does the same without it: with the open kernel modules and a "
		"kernel from 5.12 on, or an OFED stack that brought it back. NIC control buffers in "
		"GPU memory, which IBGDA wants, take 6.1. Where DMA-BUF works, this is information.",
		.check = "lsmod | grep nvidia_peermem",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia-peermem/nvidia-peermem.c\n"
			"NCCL user guide, device API (DMA-BUF with Linux 6.1, or nvidia-peermem)\n"
			"Linux commit bfe0cc6eb249; github.com/NVIDIA/nvshmem issue 67",
	},
	{
		.id = "modules/peermem-stub",
		.title = "nvidia-peermem was built without an RDMA stack",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_stub,
		.impact =
			"modprobe nvidia-peermem says \"Invalid argument\" and the log says nothing.",
		.remedy =
			"Install the RDMA stack (MLNX_OFED or DOCA) first, then rebuild the NVIDIA kernel "
			"modules: dkms build --force. Or use DMA-BUF.",
		.activation = ACTIVATION_NOW,
		.reads = "depends and undefined symbols of nvidia-peermem.ko on disk.",
		.why = "Its body is compiled only where ib_register_peer_memory_client was found in a "
		       "Module.symvers at build time; otherwise its init function returns -EINVAL, silently.",
		.check = "modinfo -F depends nvidia-peermem   (must name ib_core or ib_uverbs)",
		.sources = "open-gpu-kernel-modules: nvidia-peermem.c, conftest.sh\n"
			   "github.com/NVIDIA/open-gpu-kernel-modules pull 630",
	},
	{
		.id = "modules/peermem-not-built-for-kernel",
		.title = "There is no peer-memory module for the kernel that runs",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_not_built,
		.impact =
			"NICs cannot register GPU memory through peer memory since the kernel was upgraded.",
		.remedy =
			"Build the NVIDIA kernel modules for this kernel, after the RDMA stack: dkms "
			"autoinstall.",
		.activation = ACTIVATION_NOW,
		.reads =
			"nvidia-peermem and nv_peer_mem below /lib/modules, for the kernel that runs and for "
			"others.",
		.why = WHY_PEERMEM
		"It is built with the driver, nv_peer_mem by itself, both for one kernel. "
		"Where DMA-BUF works without it, this is information.",
		.check =
			"modinfo -F filename nvidia-peermem; find /lib/modules -name '*peer*mem*.ko*'",
		.sources = "github.com/Mellanox/nv_peer_memory issue 51\ndkms(8)",
	},
	{
		.id = "modules/peermem-unloadable",
		.title = "nvidia-peermem on disk does not fit the RDMA stack in use",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_unloadable,
		.impact = "It will not load: \"disagrees about version of symbol\".",
		.remedy =
			"Rebuild the NVIDIA kernel modules against the RDMA stack that is installed: dkms "
			"build --force.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The versions (CRCs) of the symbols that nvidia-peermem.ko wants, against those "
			"that ib_core, ib_uverbs and nvidia on disk offer. Nothing is loaded.",
		.why = "After a change of OFED the driver's modules have to be built again; nobody does it "
		       "by itself.",
		.check =
			"modprobe --dump-modversions $(modinfo -n nvidia-peermem) | grep peer_memory",
		.sources = "github.com/NVIDIA/gpu-operator issue 2868",
	},
	{
		.id = "modules/peermem-symbol-mismatch",
		.title = "The kernel refused the peer-memory module",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_symbol_mismatch,
		.impact = "NICs cannot register GPU memory through peer memory.",
		.remedy =
			"Rebuild the NVIDIA kernel modules after the RDMA stack: dkms build --force.",
		.activation = ACTIVATION_NOW,
		.reads =
			"\"disagrees about version of symbol\" and \"Unknown symbol\" lines of the kernel "
			"log that name a peer-memory module.",
		.why = "Built against another ib_core, another driver or another kernel.",
		.check = "dmesg | grep -E 'peer.*(version of symbol|Unknown symbol)'",
		.sources =
			"Linux: kernel/module/version.c\ngithub.com/NVIDIA/gpu-operator issue 2868",
	},
	{
		.id = "modules/peermem-conflict",
		.title = "The old nv_peer_mem stands in the way of nvidia_peermem",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_conflict,
		.impact =
			"nvidia_peermem cannot register; NVSHMEM IBGDA and NCCL GIN do not work through "
			"nv_peer_mem.",
		.remedy = "Disable the nv_peer_mem service, remove its package, unload it, load "
			  "nvidia-peermem.",
		.fix = { "replace-nv-peer-mem" },
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules, the nv_peer_mem service, its module on disk.",
		.why = "Both register a client called nv_mem, and only one can. nv_peer_mem is deprecated "
		       "since driver 470 and does not support the registrations that IBGDA makes.",
		.check =
			"lsmod | grep -E 'nv_peer_mem|nvidia_peermem'; systemctl is-enabled nv_peer_mem",
		.sources = "NVIDIA driver README, chapter nvidia-peermem\n"
			   "github.com/Mellanox/nv_peer_memory README",
	},
	{
		.id = "modules/peermem-not-persistent",
		.title = "Nothing loads nvidia_peermem at boot",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_not_persistent,
		.impact = "GPUDirect RDMA is gone after the next boot.",
		.remedy =
			"Put nvidia-peermem into /etc/modules-load.d, or, where dracut makes the initramfs, "
			"load it by a unit. Not by softdep: the driver's own softdep wins or is lost.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel" },
		.reads =
			"modules-load.d, /etc/modules, enabled units whose name has peermem in it, softdep "
			"and install lines.",
		.why = "Nothing depends on it and no device asks for it.",
		.check = "grep -r peermem /etc/modules-load.d /etc/modules /usr/lib/modules-load.d",
		.sources = "modules-load.d(5)",
	},
	{
		.id = "modules/peermem-sysfs-absent",
		.title = "/sys/kernel/mm/memory_peers is not there",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.gravest = SEVERITY_WARN,
		.evaluate = check_sysfs_absent,
		.impact = "None, but for NVSHMEM up to 3.2.5 and old NCCL, which look there alone.",
		.remedy =
			"Use NVSHMEM 3.3.9 or later, which also looks at /sys/module/nvidia_peermem.",
		.reads =
			"/sys/kernel/mm/memory_peers, the loaded modules, the NVSHMEM found on disk.",
		.why = "MLNX_OFED and patched kernels create the folder, not nvidia-peermem; newer stacks do "
		       "not, although it works.",
		.check = "ls /sys/kernel/mm/memory_peers; cat /sys/module/nvidia_peermem/version",
		.sources = "NVSHMEM release notes 3.3.9\ngithub.com/deepseek-ai/DeepEP issue 151",
	},
	{
		.id = "modules/peermem-params",
		.title = "nvidia_peermem runs with parameters for an old RDMA stack",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_params,
		.impact =
			"The legacy interface is slower to invalidate, and can fail with a newer stack.",
		.remedy = "Remove the option unless MLNX_OFED 4.9 LTS is installed.",
		.activation = ACTIVATION_RELOAD,
		.reads = "/sys/module/nvidia_peermem/parameters.",
		.why = "peerdirect_support=1 is for MLNX_OFED 4.9; persistent_api_support=0 chooses the "
		       "interface from before driver 545.",
		.check = "grep -r . /sys/module/nvidia_peermem/parameters",
		.sources = "open-gpu-kernel-modules: nvidia-peermem.c",
	},
	{
		.id = "modules/peermem-version",
		.title = "nvidia_peermem is not the loaded driver's own",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_version,
		.impact = "Registrations can fail or crash.",
		.remedy = "Reload both modules from the same build.",
		.activation = ACTIVATION_RELOAD,
		.reads = "/sys/module/nvidia_peermem/version and the driver's version.",
		.why = "Its MODULE_VERSION is that of the driver it was built with.",
		.check = "cat /sys/module/nvidia_peermem/version /sys/module/nvidia/version",
		.sources = "open-gpu-kernel-modules: nvidia-peermem.c",
	},
};

RULE_TABLE(modules_peermem);
