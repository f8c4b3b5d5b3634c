/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt.c - virtual machines and privileges (rules virt/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/gpus.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/topology.h"

static void check_hypervisor(struct rule_context *ctx)
{
	const struct os_facts *os = &ctx->node->os;

	if (is_known(os->hypervisor))
		NOTE(ctx,
		     .observed = text_printf(ctx, "a virtual machine (%s)", os->hypervisor.value),
		     .evidence = { "os.hypervisor" });
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

/* NCCL continues without the file, and logs that only with NCCL_DEBUG=INFO. */
static void check_named(struct rule_context *ctx, const struct job_value *named)
{
	if (is_absent(ctx->node->env.nccl_topology))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "NCCL_TOPO_FILE",
			.observed = text_printf(ctx, "%s: this file does not exist",
						job_value_text(ctx->arena, ctx->node, named)),
			.expected = "a topology file that the job can read",
			.remedy =
				"Put the provider's file at that path, also in the container. Or unset "
				"NCCL_TOPO_FILE.",
			.repaired_by = BY_ADMIN, .action = ACTION_CONFIGURE,
			.evidence = { named->fact, "env.nccl_topology" });
	else
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "%s: whether the file exists was not read",
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
				"a flat topology; whether NCCL has a topology file was not read",
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
			NOTE(ctx, .subject = g->bdf.value,
			     .observed = text_printf(ctx, "%s: a vGPU", g->model.value),
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

/* The guest drivers of AMD SEV-SNP and Intel TDX. */
static const struct module *guest_module(const struct node *node)
{
	static const char *const names[] = { "sev_guest", "tdx_guest" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (node_module(node, names[i]))
			return node_module(node, names[i]);
	return NULL;
}

/* "Memory Encryption Features active: AMD SEV SEV-ES SEV-SNP", or "Intel TDX"; SME is a host's feature. */
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
	else if (known_is(node->nvml.cc.enabled, true))
		FAIL(ctx, .observed = "the driver uses the GPUs with confidential computing",
		     .expected = "confidential computing off", .evidence = { "nvml.cc.enabled" });
	else if (is_absent(node->os.hypervisor))
		NOT_APPLICABLE(ctx, .observed = "bare metal", .evidence = { "os.hypervisor" });
	else if (is_unknown(node->os.hypervisor))
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
	else if (is_known(node->nvml.cc.enabled))
		PASS(ctx, .evidence = { "nvml.cc.enabled" });
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
		PASS(ctx, .observed = "PeerMappingOverride is set: privileges do not matter",
		     .evidence = { "driver.params[RegistryDwords].value" });
	else if (env->initial_user_namespace.value &&
		 env->capabilities.value >> CAP_SYS_ADMIN_BIT & 1)
		NOTE(ctx,
		     .observed =
			     "CAP_SYS_ADMIN in the initial user namespace: the driver allows this process "
			     "to map a NIC's doorbell, but not a job without it",
		     .evidence = { "env.capabilities", "env.initial_user_namespace" });
	else
		PASS(ctx,
		     .observed =
			     "no CAP_SYS_ADMIN in the initial user namespace: jobs have the same rights",
		     .evidence = { "env.capabilities", "env.initial_user_namespace" });
}

/* ---- NVSwitches that the host keeps ---- */

static size_t count_switched(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_gpu(d) && gpu_model(d) && gpu_model(d)->nvswitch;
	return n;
}

/* NVSwitches of generation 4 are managed through NICs, which the guest gets with them. */
static bool has_switches(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_nvswitch(d) || str_is(d->sub_model, "SW_MNG"))
			return true;
	return false;
}

/* A vGPU of a whole GPU needs an NVLink partition even alone (kubevirt-gpu-device-plugin pull 193). */
static bool has_vgpu(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && gpu_is_vgpu(node, d))
			return true;
	return false;
}

/* Returns the fact that shows that no NVLink partition is active, or NULL. */
static const char *partition_missing(struct rule_context *ctx, const char **fact)
{
	const struct node *node = ctx->node;
	const struct service *fm = node_service(node, "nvidia-fabricmanager.service");

	for_each(gpu, &node->nvml.gpus)
		if (is_known(gpu->fabric.state) &&
		    gpu->fabric.state.value != NVML_FABRIC_COMPLETED) {
			*fact = fact_path(ctx->arena, "nvml.gpus", gpu->bdf.value, "fabric.state");
			return text_printf(ctx, "the fabric state of %s is %s", gpu->bdf.value,
					   nvml_fabric_state_words[gpu->fabric.state.value]);
		}
	if (node_log(node, "fabric-not-ready")) {
		*fact = "log.lines[fabric-not-ready].last";
		return node_log(node, "fabric-not-ready")->last.value;
	}
	if (fm && str_is(fm->active, "failed")) {
		*fact = "services.units[nvidia-fabricmanager.service].active";
		return "nvidia-fabricmanager was started here, and has failed: it has no NVSwitch";
	}
	return NULL;
}

static bool fabric_is_complete(const struct node *node)
{
	if (!is_known(node->nvml.gpus) || !node->nvml.gpus.count)
		return false;
	for_each(gpu, &node->nvml.gpus)
		if (!known_is(gpu->fabric.state, NVML_FABRIC_COMPLETED))
			return false;
	return true;
}

static void check_switches(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t gpus = count_switched(node);
	const char *fact = NULL, *missing;

	if (skip_without_gpu(ctx))
		return;
	if (is_unknown(node->os.hypervisor)) {
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
		return;
	}
	if (is_absent(node->os.hypervisor) || !gpus) {
		NOT_APPLICABLE(
			ctx, .observed = gpus ? "bare metal" : "no GPU of a board with NVSwitches",
			.evidence = { "os.hypervisor", "pci.devices" });
		return;
	}
	missing = partition_missing(ctx, &fact);
	if (has_switches(node))
		PASS(ctx, .observed = "the virtual machine has NVSwitches",
		     .evidence = { "pci.devices" });
	else if (gpus == 1 && !missing && !has_vgpu(node))
		PASS(ctx, .observed = "one passed-through GPU needs no NVLink partition",
		     .evidence = { "pci.devices" });
	else if (fabric_is_complete(node))
		PASS(ctx,
		     .observed = "the host keeps the NVSwitches; all GPUs have joined the fabric",
		     .evidence = { "nvml.gpus" });
	else if (missing)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%zu GPUs of a board with NVSwitches, none visible; %s", gpus,
			     missing),
		     .expected = "NVSwitches in this machine, or an NVLink partition of the host",
		     .evidence = { fact, "pci.devices", "os.hypervisor" });
	else
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "%zu GPU%s of a board with NVSwitches, none visible: CUDA works only while "
			     "the host's fabric manager has a partition of %s active",
			     gpus, gpus == 1 ? "" : "s", gpus == 1 ? "this GPU" : "these GPUs"),
		     .evidence = { "pci.devices", "os.hypervisor" });
}

static const struct rule virt_rules[] = {
	{
		.id = "virt/nvswitch-not-visible",
		.title =
			"CUDA does not start in this virtual machine: the GPUs have no NVLink partition",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_switches,
		.impact =
			"cuInit fails with CUDA error 802 (system not yet initialized). nvidia-smi works.",
		.remedy =
			"On the host choose one model. Full passthrough: give this machine the NVSwitches of the board "
			"too, and run fabric manager here. Shared NVSwitch: fabric manager runs on the host or in its "
			"service machine and activates the partition before this machine starts; do not run it here.",
		.command = "nvidia-smi -q | grep -A4 Fabric",
		.repaired_by = BY_HOST,
		.action = ACTION_HOST_SIDE,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The hypervisor, the GPUs' PCI ids, NVSwitches among the functions, nvidia-fabricmanager, and "
			"fabric errors in the kernel log. With --nvml: the GPUs' fabric state.",
		.why = "SXM GPUs reach each other only over NVSwitches, and CUDA waits until fabric manager has set them up. "
		       "In the shared model a guest does not see them, which is a note as long as nothing shows a fault. A "
		       "machine with one passed-through GPU needs no partition. A vGPU of a whole GPU needs one.",
		.check = "lspci -d 10de::0680; nvidia-smi -q | grep -A4 Fabric",
		.sources =
			"NVIDIA Fabric Manager User Guide 2.3 (March 2025): Supported Virtualization Models, Initializing "
			"NVSwitch and NVLink\n"
			"github.com/NVIDIA/kubevirt-gpu-device-plugin issue 133, pull 193 (2026-07-04); github.com/NVIDIA/nccl-tests issue 260\n"
			"github.com/NVIDIA/nvrc issue 159",
	},
	{
		.id = "virt/hypervisor",
		.title = "This is a virtual machine: the host decides the paths between devices",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT,
		.severity = SEVERITY_INFO,
		.evaluate = check_hypervisor,
		.impact =
			"ACS, IOMMU and the distance between GPUs and NICs belong to the host and are not "
			"visible here.",
		.remedy = "Run nvnodecheck on the host as well.",
		.reads = "The hypervisor flag in /proc/cpuinfo and the DMI strings.",
		.why = "The hypervisor makes the PCI topology that a guest sees. ACS must stay on in the host. NCCL's guide asks "
		       "for ATS on the NIC.",
		.check = "systemd-detect-virt",
		.sources =
			"NCCL 2.30.7: docs/userguide/source/troubleshooting/gpu_troubleshooting.rst (Virtual machines)",
	},
	{
		.id = "virt/passthrough-topology",
		.title = "NCCL cannot see which GPU and NIC are near in this virtual machine",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_passthrough,
		.impact =
			"NCCL treats every GPU and NIC as equally near. It can pair distant ones, or not use "
			"GPUDirect RDMA.",
		.remedy =
			"Have the hypervisor show the PCIe switches, or give NCCL the cloud provider's "
			"topology file with NCCL_TOPO_FILE.",
		.repaired_by = BY_HOST,
		.action = ACTION_HOST_SIDE,
		.activation = ACTIVATION_NONE,
		.reads =
			"The hypervisor, PCIe switches among the functions, NCCL_TOPO_FILE of the process and"
			" of nccl.conf, and whether that file exists.",
		.why = "Passed-through devices are below root ports that the hypervisor made. Only the host "
		       "has the real switches. If NCCL_TOPO_FILE names a missing file, NCCL continues "
		       "without it and logs it only at the level INFO: a warning. Under QEMU, "
		       "x-nv-gpudirect-clique=N of vfio-pci allows copies between GPUs over PCIe. Without it the switches "
		       "that the driver sees and the GPU's firmware decide.",
		.check = "lspci -tv; nvidia-smi topo -m",
		.sources =
			"NCCL 2.30.7: docs/userguide/source/troubleshooting/gpu_troubleshooting.rst (Virtual machines), src/graph/topo.cc (ncclTopoGetSystem)\n"
			"github.com/NVIDIA/nccl-tests issue 256\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/src/kernel/platform/chipset/chipset_pcie.c (pciePeerClique), "
			"src/nvidia/src/kernel/virtualization/hypervisor/hypervisor.c, src/nvidia/src/kernel/platform/p2p/p2p_caps.c",
	},
	{
		.id = "virt/vgpu",
		.title = "Copies between GPUs and GPUDirect RDMA work for some vGPU types only",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_vgpu,
		.impact =
			"No copies between GPUs over PCIe. NVLink and GPUDirect RDMA work for some types "
			"only.",
		.remedy =
			"For such work pass whole GPUs through, or use time-sliced C types with all of the "
			"GPU's memory.",
		.repaired_by = BY_HOST,
		.action = ACTION_NONE,
		.activation = ACTIVATION_NONE,
		.reads =
			"The model of each GPU as the driver names it (NVIDIA H100XM-80C), and the "
			"hypervisor.",
		.why = "A vGPU's name ends in its memory in GiB and its series. NVIDIA's tables list what "
		       "each type supports. They change with the release.",
		.check = "nvidia-smi -L; nvidia-smi topo -p2p r",
		.sources =
			"NVIDIA AI Enterprise 9 documentation: vGPU features, Peer-to-Peer CUDA Transfers; "
			"GPUDirect RDMA and GPUDirect Storage",
	},
	{
		.id = "virt/confidential-compute",
		.title = "Peer-to-peer fails: confidential computing is on",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_confidential,
		.impact =
			"No static BAR1 and no peer-to-peer over PCIe. The driver does not support BAR1 mappings "
			"in this mode (595.45.04), so do not expect GPUDirect RDMA over PCIe.",
		.remedy =
			"Use a virtual machine without confidential computing for multi-GPU and RDMA work.",
		.repaired_by = BY_HOST,
		.action = ACTION_HOST_SIDE,
		.activation = ACTIVATION_POWER_CYCLE,
		.reads =
			"RmConfidentialCompute in RegistryDwords, \"Memory Encryption Features active\" in the "
			"kernel log, and the modules sev_guest and tdx_guest. With --nvml: the driver's state.",
		.why = "Only the driver has the GPUs' own mode, and NVML opens the device. Without --nvml only "
		       "the virtual machine's side is visible. Encrypted memory does not prove that the GPU "
		       "uses it.",
		.check = "nvidia-smi conf-compute -f; dmesg | grep 'Memory Encryption'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: "
			"src/nvidia/src/kernel/gpu/bus/arch/turing/kern_bus_tu102.c "
			"(kbusIsStaticBar1Supported_TU102), src/nvidia/interface/nvrm_registry.h "
			"(RmConfidentialCompute)\n"
			"nvml.h of NVML 13 (github.com/NVIDIA/go-nvml): nvmlSystemGetConfComputeState\n"
			"Linux 6.12.117: arch/x86/mm/mem_encrypt.c",
	},
	{
		.id = "virt/privileged-context",
		.title = "Tests from here prove nothing for jobs: this process has more privileges",
		.is_short_effect = true,
		.profiles = PROFILE_GIN_ANY,
		.used_variables = USED_BY_GIN_JOBS,
		.severity = SEVERITY_INFO,
		.evaluate = check_privileged,
		.impact =
			"Tests of DeepEP, NVSHMEM IBGDA and NCCL GIN pass here, and the same job of a user fails.",
		.remedy = "Test as the user and in the container of the job.",
		.activation = ACTIVATION_NONE,
		.reads =
			"CapEff in /proc/PID/status and /proc/PID/uid_map, of --pid or of nvnodecheck itself.",
		.why = "The driver allows the mapping to callers with CAP_SYS_ADMIN in the initial user namespace, and to all "
		       "with PeerMappingOverride. Root in an ordinary container or in a user namespace lacks it. A privileged "
		       "container has it.",
		.check = "grep CapEff /proc/self/status; cat /proc/self/uid_map",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/common/inc/nv-linux.h (NV_IS_SUSER), "
			"src/nvidia/arch/nvalloc/unix/src/osmemdesc.c (osCreateOsDescriptorFromIoMemory)",
	},
};

RULE_TABLE(virt);
