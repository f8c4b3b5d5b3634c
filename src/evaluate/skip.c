/* SPDX-License-Identifier: GPL-2.0-or-later */
/* skip.c - the conditions under which a rule does not apply to a node, or cannot be evaluated on it. */
#include "evaluate/skip.h"

#include "query/driver-files.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/peer-support.h"
#include "query/rdma-use.h"

bool skip_without_gpu(struct rule_context *ctx)
{
	if (!was_read(ctx->node->pci.devices))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else if (!ctx->endpoints->gpus.count)
		NOT_APPLICABLE(ctx, .observed = "no NVIDIA GPU on the PCI bus",
			       .evidence = { "pci.devices" });
	else
		return false;
	return true;
}

bool skip_without_gpu_or_rdma(struct rule_context *ctx)
{
	return !is_asked_for(ctx, PROFILE_RDMA_ANY) && skip_without_gpu(ctx);
}

bool expects_nccl(const struct rule_context *ctx)
{
	return is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) ||
	       (is_asked_for(ctx, PROFILE_RDMA) && ctx->endpoints->gpus.count);
}

static bool has_driver(const struct node *node)
{
	for_each(f, &node->modules.files)
		if (str_is(f->name, "nvidia"))
			return true;
	return false;
}

bool skip_unless_for_gpus(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (is_known(node->os.next_boot) && !was_read(node->pci.devices) &&
	    (has_driver(node) || is_asked_for(ctx, ~(unsigned)PROFILE_BASE)))
		return false;
	return skip_without_gpu(ctx);
}

bool skip_unless_for_rdma(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (is_known(node->os.next_boot) && !was_read(node->rdma.devices) &&
	    is_asked_for(ctx, PROFILE_GPUDIRECT_ANY))
		return false;
	return skip_without_rdma(ctx);
}

bool skip_unless_modules_count(struct rule_context *ctx)
{
	return !is_known(ctx->node->os.next_boot) && skip_without_modules(ctx);
}

bool skip_unless_kind(struct rule_context *ctx, enum kind kind)
{
	struct kind_answer answer = kind_find(ctx->node, kind, ctx->arena);

	if (!is_known(answer.is))
		UNKNOWN(ctx, .observed = answer.reason, .evidence = { answer.fact });
	else if (!answer.is.value)
		NOT_APPLICABLE(ctx, .observed = answer.reason, .evidence = { answer.fact });
	else
		return false;
	return true;
}

bool skip_without_own_gpu(struct rule_context *ctx)
{
	struct guest_gpus guests = guest_gpus(ctx->node);

	if (!guests.gpus || guests.given != guests.gpus)
		return false;
	NOT_APPLICABLE(ctx,
		       .observed = text_printf(ctx, "every GPU is passed to virtual machines: %s",
					       guests.why),
		       .evidence = { guests.fact });
	return true;
}

bool skip_without_pcie_peers(struct rule_context *ctx, const struct pci_device *gpu)
{
	struct fact_bool peers;

	if (!pci_is_gpu(gpu) || is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) ||
	    gpu_peer_support(gpu) != PEERS_OVER_NVLINK)
		return false;
	peers = gpu_has_pcie_peers(ctx->node, gpu, ctx->arena);
	if (is_unknown(peers) && known_is(ctx->node->driver.loaded, true)) {
		UNKNOWN(ctx, .subject = gpu->bdf.value,
			.observed = "whether the driver is a patched build is not known",
			.evidence = { "driver.params", "pci.devices" });
		return true;
	}
	if (!known_is(peers, false))
		return false;
	NOT_APPLICABLE(
		ctx, .subject = gpu->bdf.value,
		.observed = text_printf(ctx,
					"%s: with the stock driver its copies to other GPUs "
					"go over an NVLink bridge alone",
					gpu_model(gpu)->name),
		.evidence = { fact_path(ctx->arena, "pci.devices", gpu->bdf.value, "device_id"),
			      "driver.banner" });
	return true;
}

bool skip_without_driver(struct rule_context *ctx)
{
	if (known_is(ctx->node->driver.loaded, false))
		NOT_APPLICABLE(ctx, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else if (!is_known(ctx->node->driver.version))
		UNKNOWN(ctx, .evidence = { "driver.version" });
	else
		return false;
	return true;
}

static bool was_asked(const struct node *node)
{
	for_each(gap, &node->gaps)
		if (str_is(gap->probe, "nvml"))
			return true;
	return was_read(node->nvml);
}

static bool has_other_libraries(const struct node *node)
{
	struct driver_libraries found = driver_libraries(node);

	return found.other && !found.same;
}

bool skip_without_nvml(struct rule_context *ctx)
{
	if (was_read(ctx->node->nvml.gpus))
		return false;
	if (was_asked(ctx->node))
		UNKNOWN(ctx, .evidence = { "nvml.gpus" });
	/* Its library refuses a driver of another version. */
	else if (has_other_libraries(ctx->node))
		UNKNOWN(ctx, .graded = true, .severity = SEVERITY_INFO,
			.observed =
				"NVML does not work while the driver's kernel module and libraries "
				"are of different versions",
			.evidence = { "nvml.gpus" });
	else
		UNKNOWN(ctx, .graded = true, .severity = SEVERITY_INFO,
			.observed = "The driver was not asked.", .remedy = RUN_NVML,
			.needs_nvml = true, .evidence = { "nvml.gpus" });
	return true;
}

bool skip_without_params(struct rule_context *ctx)
{
	if (known_is(ctx->node->driver.loaded, false))
		NOT_APPLICABLE(ctx, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else if (!is_known(ctx->node->driver.params))
		UNKNOWN(ctx, .evidence = { "driver.params" });
	else
		return false;
	return true;
}

bool skip_without_rdma_device(struct rule_context *ctx)
{
	if (!was_read(ctx->node->rdma.devices))
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (ctx->node->rdma.devices.count == 0)
		NOT_APPLICABLE(ctx, .observed = "no RDMA device", .evidence = { "rdma.devices" });
	else
		return false;
	return true;
}

bool skip_without_rdma(struct rule_context *ctx)
{
	if (known_is(ctx->node->driver.loaded, false))
		NOT_APPLICABLE(ctx, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else
		return skip_without_rdma_device(ctx);
	return true;
}

bool skip_without_rdma_programs(struct rule_context *ctx)
{
	struct rdma_use use;

	if (is_asked_for(ctx, PROFILE_GPUDIRECT_ANY))
		return false;
	use = rdma_use_of(ctx->node, ctx->endpoints, ctx->arena);
	if (!use.of_kernel_alone)
		return false;
	NOT_APPLICABLE(
		ctx, .observed = text_printf(ctx, "only the kernel uses RDMA here: %s", use.reason),
		.evidence = { "modules.loaded" });
	return true;
}

bool skip_without_modules(struct rule_context *ctx)
{
	if (was_read(ctx->node->modules.loaded))
		return false;
	UNKNOWN(ctx, .evidence = { "modules.loaded" });
	return true;
}

bool skip_without_modprobe(struct rule_context *ctx)
{
	if (is_known(ctx->node->modprobe.options))
		return false;
	UNKNOWN(ctx, .evidence = { "modprobe.options" });
	return true;
}

bool skip_unless_modprobe_whole(struct rule_context *ctx)
{
	if (known_is(ctx->node->modprobe.complete, true))
		return false;
	UNKNOWN(ctx, .evidence = { "modprobe.complete" });
	return true;
}

bool skip_unless_software_whole(struct rule_context *ctx)
{
	if (known_is(ctx->node->software.complete, true))
		return false;
	UNKNOWN(ctx, .evidence = { was_read(ctx->node->software.items) ? "software.complete"
								       : "software.items" });
	return true;
}

bool skip_without_whole_log(struct rule_context *ctx)
{
	const struct log_facts *log = &ctx->node->log;

	if (!was_read(log->lines))
		UNKNOWN(ctx, .evidence = { "log.lines" });
	else if (!known_is(log->complete, true))
		UNKNOWN(ctx, .observed = "the kernel log does not go back to the boot",
			.evidence = { "log.complete" });
	else
		return false;
	return true;
}

bool skip_in_container(struct rule_context *ctx)
{
	if (!is_known(ctx->node->os.container))
		return false;
	NOT_APPLICABLE(ctx, .observed = "inside a container", .evidence = { "os.container" });
	return true;
}

bool skip_in_vm(struct rule_context *ctx, const char *what)
{
	if (is_absent(ctx->node->os.hypervisor))
		return false;
	if (!node_is(ctx->node, KIND_VIRTUAL_MACHINE)) {
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
		return true;
	}
	UNKNOWN(ctx,
		.observed = text_printf(ctx, "a virtual machine (%s): %s",
					ctx->node->os.hypervisor.value, what),
		.remedy = "run nvnodecheck on the host of this virtual machine",
		.evidence = { "os.hypervisor" });
	return true;
}

bool skip_without_module_files(struct rule_context *ctx)
{
	if (!is_known(ctx->node->os.kernel))
		UNKNOWN(ctx, .evidence = { "os.kernel" });
	else if (!was_read(ctx->node->modules.files))
		UNKNOWN(ctx, .evidence = { "modules.files" });
	else
		return false;
	return true;
}

bool skip_without_variables(struct rule_context *ctx)
{
	if (was_read(ctx->node->env.variables))
		return false;
	UNKNOWN(ctx, .evidence = { "env.variables" });
	return true;
}

bool skip_without_nccl_variables(struct rule_context *ctx)
{
	if (skip_without_variables(ctx))
		return true;
	if (was_read(ctx->node->env.nccl_conf))
		return false;
	UNKNOWN(ctx, .evidence = { "env.nccl_conf" });
	return true;
}

bool skip_without_nvshmem_variables(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_variables(ctx))
		return true;
	/* Earlier releases read no file. */
	if (node_software(node, "nvshmem") && !job_nvshmem_reads_conf(node))
		return false;
	if (!was_read(node->env.nvshmem_conf))
		UNKNOWN(ctx, .evidence = { "env.nvshmem_conf" });
	else if (node->env.nvshmem_conf.count && !node_software(node, "nvshmem"))
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, "which NVSHMEM the job uses, and so whether %s counts",
				node->env.nvshmem_conf.items[0].file.value),
			.evidence = { "software.items" });
	else
		return false;
	return true;
}

void pass_if_log_whole(struct rule_context *ctx)
{
	if (!was_read(ctx->node->log.lines))
		UNKNOWN(ctx, .evidence = { "log.lines" });
	else if (!known_is(ctx->node->log.complete, true))
		UNKNOWN(ctx, .observed = "the kernel log does not go back to the boot",
			.evidence = { "log.complete" });
	else
		PASS(ctx, .evidence = { "log.lines" });
}
