/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt.c - what a virtual machine changes. */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/gpus.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/topology.h"

static void check_hypervisor(struct rule_context *ctx)
{
	const struct os_facts *os = &ctx->node->os;

	if (is_known(os->hypervisor))
		FAIL(ctx,
		     .observed = text_printf(ctx, "a virtual machine (%s)", os->hypervisor.value),
		     .expected = "nothing; for your information", .evidence = { "os.hypervisor" });
	else if (is_absent(os->hypervisor))
		PASS(ctx, .observed = "bare metal", .evidence = { "os.hypervisor" });
	else
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
}

/* ---- topology ---- */

static bool has_switch(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (known_is(d->port, PCI_UPSTREAM_PORT))
			return true;
	return false;
}

static bool has_nic(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (topology_is_nic(node, d))
			return true;
	return false;
}

/* NCCL goes on without it, and says so with NCCL_DEBUG=INFO alone. */
static void check_named(struct rule_context *ctx, const struct job_value *named)
{
	if (is_absent(ctx->node->env.nccl_topology))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "NCCL_TOPO_FILE",
			.observed = text_printf(ctx, "%s: there is no such file here",
						job_value_text(ctx->arena, ctx->node, named)),
			.expected =
				"the topology file of this kind of machine, where the job sees it",
			.remedy =
				"Bring the provider's file to that path, also into the image or by a mount into "
				"the container, or unset NCCL_TOPO_FILE.",
			.evidence = { named->fact, "env.nccl_topology" });
	else
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "%s: whether it is there was not read",
						job_value_text(ctx->arena, ctx->node, named)),
			.evidence = { "env.nccl_topology", named->fact });
}

static void check_passthrough(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct job_value named = job_nccl(ctx->arena, ctx->node, "NCCL_TOPO_FILE");

	if (skip_without_gpu(ctx))
		return;
	if (is_unknown(node->os.hypervisor))
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
	else if (!node_is(node, KIND_VIRTUAL_MACHINE))
		NOT_APPLICABLE(ctx, .observed = "bare metal", .evidence = { "os.hypervisor" });
	else if (!has_nic(node) && topology_gpus(node) < 2)
		NOT_APPLICABLE(ctx, .observed = "one GPU and no RDMA NIC",
			       .evidence = { "pci.devices" });
	else if (is_known(node->env.nccl_topology))
		PASS(ctx,
		     .observed = text_printf(ctx, "%s gives the topology",
					     node->env.nccl_topology.value),
		     .evidence = { "env.nccl_topology" });
	else if (named.value)
		check_named(ctx, &named);
	else if (has_switch(node))
		PASS(ctx, .observed = "the hypervisor shows PCIe switches",
		     .evidence = { "pci.devices" });
	else if (is_unknown(node->env.nccl_topology))
		UNKNOWN(ctx,
			.observed =
				"a flat topology; whether NCCL has a file with another was not read",
			.evidence = { "env.nccl_topology", "pci.devices" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "a flat topology in a virtual machine (%s)",
					     node->os.hypervisor.value),
		     .expected = "PCIe switches as on the host, or NCCL_TOPO_FILE",
		     .evidence = { "os.hypervisor", "pci.devices" });
}

/* ---- vGPU ---- */

static void check_vgpu(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before, unread = 0;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (is_unknown(node->os.hypervisor)) {
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
		return;
	}
	if (!node_is(node, KIND_VIRTUAL_MACHINE)) {
		NOT_APPLICABLE(ctx, .observed = "bare metal", .evidence = { "os.hypervisor" });
		return;
	}
	before = ctx->findings->count;
	for_each(g, &node->gpu.devices) {
		const struct pci_device *d = node_pci(node, g->bdf.value);

		unread += is_unknown(g->model);
		if (d && gpu_is_vgpu(node, d))
			FAIL(ctx, .subject = g->bdf.value,
			     .observed = text_printf(ctx, "%s: a vGPU", g->model.value),
			     .expected =
				     "nothing, unless copies between GPUs or GPUDirect are wanted",
			     .evidence = {
				     fact_path(ctx->arena, "gpu.devices", g->bdf.value, "model") });
	}
	if (ctx->findings->count > before)
		return;
	if (unread || !was_read(node->gpu.devices))
		UNKNOWN(ctx, .evidence = { "gpu.devices" });
	else
		PASS(ctx, .observed = "whole GPUs, passed through", .evidence = { "gpu.devices" });
}

/* ---- confidential computing ---- */

/* The bits of RmConfidentialCompute: on, and on for development (nvrm_registry.h). */
#define CC_ENABLED 0x3

static bool asked_of_driver(const struct node *node)
{
	const struct driver_param *dwords = node_param(node, "RegistryDwords");
	struct registry_entry entry;

	return dwords &&
	       registry_find(span_of(dwords->value.value), "RmConfidentialCompute", &entry) &&
	       (entry.number & CC_ENABLED);
}

/* The guest's side of AMD SEV-SNP and Intel TDX. */
static const struct module *guest_module(const struct node *node)
{
	static const char *const names[] = { "sev_guest", "tdx_guest" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (node_module(node, names[i]))
			return node_module(node, names[i]);
	return NULL;
}

/* "Memory Encryption Features active: AMD SEV SEV-ES SEV-SNP", or "Intel TDX"; SME is the host's own. */
static const struct log_line *encrypted_guest(const struct node *node)
{
	const struct log_line *line = node_log(node, "memory-encryption");

	return line && (strstr(line->last.value, "SEV") || strstr(line->last.value, "TDX")) ? line
											    : NULL;
}

static void check_confidential(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct log_line *line = encrypted_guest(node);

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (asked_of_driver(node))
		FAIL(ctx, .observed = "RmConfidentialCompute is set",
		     .expected = "confidential computing off",
		     .evidence = { "driver.params[RegistryDwords].value" });
	else if (is_absent(node->os.hypervisor))
		NOT_APPLICABLE(ctx, .observed = "bare metal", .evidence = { "os.hypervisor" });
	else if (is_unknown(node->os.hypervisor))
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
	else if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "a virtual machine without encrypted memory",
		     .evidence = { "log.lines[memory-encryption].last" });
	else if (guest_module(node))
		FAIL(ctx,
		     .observed = text_printf(ctx, "%s is loaded", guest_module(node)->name.value),
		     .expected = "a virtual machine without encrypted memory",
		     .evidence = { fact_path(ctx->arena, "modules.loaded",
					     guest_module(node)->name.value, "state") });
	else if (!skip_without_modules(ctx) && !skip_without_whole_log(ctx))
		PASS(ctx, .evidence = { "log.lines", "modules.loaded" });
}

/* ---- privileges ---- */

#define CAP_SYS_ADMIN_BIT 21 /* include/uapi/linux/capability.h */

static bool override_is_set(const struct node *node)
{
	const struct driver_param *dwords = node_param(node, "RegistryDwords");
	struct registry_entry entry;

	return dwords &&
	       registry_find(span_of(dwords->value.value), "PeerMappingOverride", &entry) &&
	       entry.number != 0;
}

static void check_privileged(struct rule_context *ctx)
{
	const struct env_facts *env = &ctx->node->env;

	if (skip_without_params(ctx))
		return;
	if (!is_known(env->capabilities) || !is_known(env->initial_user_namespace))
		UNKNOWN(ctx,
			.evidence = { is_known(env->capabilities) ? "env.initial_user_namespace"
								  : "env.capabilities" });
	else if (override_is_set(ctx->node))
		PASS(ctx, .observed = "PeerMappingOverride is set: privileges make no difference",
		     .evidence = { "driver.params[RegistryDwords].value" });
	else if (env->initial_user_namespace.value &&
		 env->capabilities.value >> CAP_SYS_ADMIN_BIT & 1)
		FAIL(ctx,
		     .observed =
			     "CAP_SYS_ADMIN in the initial user namespace: the driver lets this process "
			     "map a NIC's doorbell, and nobody else",
		     .expected = "a test with the privileges that jobs have",
		     .evidence = { "env.capabilities", "env.initial_user_namespace" });
	else
		PASS(ctx,
		     .observed =
			     "no CAP_SYS_ADMIN in the initial user namespace: what works here works for "
			     "jobs",
		     .evidence = { "env.capabilities", "env.initial_user_namespace" });
}

static const struct rule virt_rules[] = {
	{
		.id = "virt/hypervisor",
		.title = "This is a virtual machine",
		.profiles = PROFILE_P2P | PROFILE_RDMA,
		.severity = SEVERITY_INFO,
		.evaluate = check_hypervisor,
		.impact =
			"ACS, IOMMU and the distance between GPUs and NICs are the host's and cannot be "
			"judged from here.",
		.remedy =
			"Run nvnodecheck on the host as well. In the machine, ATS on the NIC and ACS with "
			"DirectTrans on the host are what keep peer traffic short.",
		.reads = "The hypervisor flag in /proc/cpuinfo and the DMI strings.",
		.why = "A guest sees the topology that its hypervisor made up.",
		.check = "systemd-detect-virt",
		.sources = "NCCL user guide, troubleshooting, virtual machines",
	},
	{
		.id = "virt/passthrough-topology",
		.title =
			"The distance between GPU and NIC cannot be judged in this virtual machine",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.gravest = SEVERITY_WARN,
		.evaluate = check_passthrough,
		.impact =
			"NCCL takes every GPU and NIC for equally near, picks pairs that are far apart, or does "
			"without GPUDirect RDMA.",
		.remedy =
			"Have the hypervisor show the switches, or give NCCL the cloud provider's topology file "
			"(NCCL_TOPO_FILE); on the host, ATS for the NIC and ACS with DirectTrans. Under QEMU the "
			"driver allows copies between GPUs over PCIe only with x-nv-gpudirect-clique=N of vfio-pci.",
		.activation = ACTIVATION_NONE,
		.reads =
			"The hypervisor, PCIe switches among the functions, the asked process's NCCL_TOPO_FILE (also "
			"of nccl.conf), and whether that file is there.",
		.why = "Passed-through devices hang below root ports that the hypervisor made up. Which of them "
		       "share a switch is known to the host alone. Where NCCL_TOPO_FILE names a file that is not "
		       "there NCCL goes on without a word: a warning.",
		.check = "lspci -tv; nvidia-smi topo -m",
		.sources = "NCCL user guide, troubleshooting, virtual machines\n"
			   "github.com/NVIDIA/nccl-tests/issues/256\n"
			   "NCCL: src/graph/topo.cc, ncclTopoGetSystem()",
	},
	{
		.id = "virt/vgpu",
		.title = "A GPU is lent by the host's vGPU manager",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_vgpu,
		.impact =
			"No copies between GPUs over PCIe; over NVLink, and with a NIC (GPUDirect RDMA), for some "
			"types alone.",
		.remedy =
			"For such work pass whole GPUs through, or take time-sliced C types with all of the GPU's "
			"memory, on GPUs with NVLink; for GPUDirect RDMA the open kernel modules in the machine.",
		.activation = ACTIVATION_NONE,
		.reads =
			"The model of each GPU as the driver names it (NVIDIA H100XM-80C), and the hypervisor.",
		.why = "A vGPU's name ends in its memory in GiB and its series. Which types can do what is in "
		       "NVIDIA's tables, which change with the release: so this is information.",
		.check = "nvidia-smi -L; nvidia-smi topo -p2p r",
		.sources =
			"docs.nvidia.com: AI Enterprise, vGPU, Peer-to-Peer CUDA Transfers; GPUDirect RDMA and "
			"GPUDirect Storage",
	},
	{
		.id = "virt/confidential-compute",
		.title = "Confidential computing is on",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_confidential,
		.impact =
			"No static BAR1, no peer-to-peer over PCIe; GPUDirect RDMA only where the platform's "
			"guide says so; a gdrdrv built for the proprietary modules fails.",
		.remedy =
			"Use a virtual machine and GPUs without confidential computing for multi-GPU and RDMA "
			"work.",
		.activation = ACTIVATION_POWER_CYCLE,
		.mender = MENDER_FIRMWARE,
		.reads =
			"RmConfidentialCompute in RegistryDwords, \"Memory Encryption Features active\" in the "
			"kernel log, and sev_guest and tdx_guest among the modules.",
		.why = "The GPU's own mode is asked through NVML, which opens the device: only the virtual "
		       "machine's side is seen here. Encrypted memory of the machine does not prove that the GPU "
		       "takes part, so this is a warning.",
		.check = "nvidia-smi conf-compute -f; dmesg | grep 'Memory Encryption'",
		.sources =
			"open-gpu-kernel-modules: src/nvidia/src/kernel/gpu/bus/arch/turing/kern_bus_tu102.c; "
			"nvrm_registry.h, RmConfidentialCompute\nLinux: arch/x86/mm/mem_encrypt.c",
	},
	{
		.id = "virt/privileged-context",
		.title = "This process may do what jobs may not",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_INFO,
		.evaluate = check_privileged,
		.impact =
			"DeepEP and NVSHMEM tests that are started from here pass, and the same job of a user "
			"fails.",
		.remedy = "Test as the user and in the container that the job runs in, or set "
			  "PeerMappingOverride: see driver/peer-mapping-override.",
		.activation = ACTIVATION_NONE,
		.reads =
			"CapEff in /proc/PID/status and /proc/PID/uid_map, of --pid or of nvnodecheck itself.",
		.why = "The driver asks for CAP_SYS_ADMIN in the initial user namespace before it looks at the "
		       "override. Root in a container without that capability, or in a user namespace, does not "
		       "have it; a privileged container does. It says nothing about other processes.",
		.check = "grep CapEff /proc/self/status; cat /proc/self/uid_map",
		.sources =
			"open-gpu-kernel-modules: kernel-open/common/inc/nv-linux.h, NV_IS_SUSER; "
			"src/nvidia/arch/nvalloc/unix/src/osmemdesc.c",
	},
};

RULE_TABLE(virt);
