/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - lines of the kernel log that name their cause (rules log/...). */
#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/init-cause.h"
#include "query/kind.h"
#include "query/log-age.h"
#include "query/pci-device.h"
#include "query/refusal.h"
#include "query/topology.h"

#define US_PER_S UINT64_C(1000000)
#define CLOCK_SLACK_S 2 /* the log counts from the boot, prove's document has the clock */

/* Returns true if prove was refused the mapping that it tried as a job. */
static bool was_prove_refused(const struct proof_facts *proof)
{
	for_each(t, &proof->tries)
		if (known_is(t->works, false) &&
		    (str_is(t->kind, PROOF_DOORBELL_JOB) || str_is(t->kind, PROOF_UAR_JOB)))
			return true;
	return false;
}

/* Returns true if all those lines were written while prove ran. */
static bool is_of_prove(const struct node *node, const struct log_line *line)
{
	const struct proof_facts *proof = &node->proof;
	uint64_t first, last;

	if (proof->state != FACT_KNOWN || !is_known(proof->time_s) ||
	    !is_known(proof->duration_ms) || !is_known(node->os.boot_time_s) ||
	    !is_known(line->first_us) || !is_known(line->last_us))
		return false;
	first = node->os.boot_time_s.value + line->first_us.value / US_PER_S;
	last = node->os.boot_time_s.value + line->last_us.value / US_PER_S;
	return was_prove_refused(proof) && last <= proof->time_s.value + CLOCK_SLACK_S &&
	       first + proof->duration_ms.value / 1000 + CLOCK_SLACK_S >= proof->time_s.value;
}

static void check_allow_peermapping(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "allow-peermapping");

	if (skip_without_driver(ctx))
		return;
	if (line && is_of_prove(ctx->node, line))
		NOTE(ctx, .observed = "the refusals are those of nvnodecheck prove's own trial",
		     .evidence = { "log.lines[allow-peermapping].last", "proof.tries" });
	else if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "PeerMappingOverride=1 in RegistryDwords",
		     .evidence = { "log.lines[allow-peermapping].last",
				   "driver.params[RegistryDwords].value" });
	else
		pass_if_log_whole(ctx);
}

/* ---- RmInitAdapter ---- */

/* Returns true if firmware left BAR1 at the smallest size although the card has Resizable BAR. */
static bool has_small_bar1(const struct node *node, const char *bdf)
{
	const struct pci_device *d = bdf ? node_pci(node, bdf) : NULL;
	const struct pci_bar *bar = d ? gpu_bar1(d) : NULL;
	const struct gpu_model *model = d ? gpu_model(d) : NULL;

	return bar && known_is(bar->size_bytes, BAR1_SMALL_BYTES) && model &&
	       model->bar1 == GPU_BAR1_RESIZABLE;
}

/* Before 545.23.06 the open modules drive other than data-centre GPUs only with this option (nv-reg.h,
 * NV_REG_OPENRM_ENABLE_UNSUPPORTED_GPUS). */
static struct cure init_remedy(const struct node *node, const char *bdf)
{
	if (!node_log(node, "open-unsupported-gpu"))
		return (struct cure){
			has_small_bar1(node, bdf)
				? "BAR1 of this GPU is 256 MiB, and the card offers a larger one: enable Above 4G "
				  "Decoding and Resizable BAR in the firmware setup, with CSM off. If the error returns "
				  "after that, power the node off and on, run nvidia-bug-report.sh and ask the vendor."
				: NULL
		};
	return (struct cure){
		"Install driver 545 or later. Or set NVreg_OpenRmEnableUnsupportedGpus=1 for nvidia in "
		"modprobe.d.",
		THEN_RELOAD
	};
}

static const char *init_text(struct rule_context *ctx, const char *line,
			     const struct init_cause *cause)
{
	const struct node *node = ctx->node;
	const char *stage =
		node_log(node, "open-unsupported-gpu")
			? "because these open kernel modules drive only data-centre GPUs"
			: init_code_text(ctx->arena, line);

	if (stage)
		line = text_printf(ctx, "%s (failed %s)", line, stage);
	if (!cause->meaning)
		return line;
	return cause->line ? text_printf(ctx, "%s. Before that: %s: %s", line, cause->line,
					 cause->meaning)
			   : text_printf(ctx, "%s: %s", line, cause->meaning);
}

/* What the driver wrote before it; else, that it is no driver for the GPU. False: neither. */
static bool find_init_cause(struct rule_context *ctx, const char *bdf, struct fact_u64 failed_us,
			    struct init_cause *cause)
{
	const struct node *node = ctx->node;
	const struct pci_device *gpu = bdf ? node_pci(node, bdf) : NULL;
	struct refusal refusal;

	if (init_cause_find(ctx->arena, node, bdf, failed_us, cause))
		return true;
	if (!gpu || !(refusal_by_flavour(node, gpu, &refusal) ||
		      (is_known(node->driver.version) &&
		       refusal_by_branch(ctx->arena, gpu, node->driver.version.value,
					 "driver.version", &refusal))))
		return false;
	*cause = (struct init_cause){ .meaning = refusal.text,
				      .cure = refusal.cure,
				      .repaired_by = BY_ADMIN,
				      .is_setting = true,
				      .fact = refusal.fact };
	return true;
}

/* What a setting or another driver ends is no defect of the GPU. */
static bool is_configuration(const struct node *node, const char *bdf, bool known,
			     const struct init_cause *cause)
{
	return known ? cause->is_setting : init_remedy(node, bdf).text != NULL;
}

/* GPU NULL: the lines name none. An attempt that failed says nothing of a driver that was loaded since. */
static void fail_rm_init(struct rule_context *ctx, const struct log_line *line,
			 const struct log_subject *gpu)
{
	const char *name = gpu ? gpu->name.value : NULL;
	const char *last = gpu ? gpu->last.value : line->last.value;
	const char *fact = gpu ? log_device_fact(ctx->arena, line, name, "last")
			       : "log.lines[rm-init-failed].last";
	struct fact_u64 last_us = gpu ? gpu->last_us : line->last_us;
	const char *since = log_new_life(ctx->arena, ctx->node, name, last_us);
	struct init_cause cause = { 0 };
	bool known = find_init_cause(ctx, name, last_us, &cause);
	bool configuration = is_configuration(ctx->node, name, known, &cause);
	struct cure cure = known ? cause.cure : init_remedy(ctx->node, name);

	if (since)
		NOTE(ctx, .subject = name,
		     .observed = text_printf(ctx, "%s; since then %s", last, since),
		     .evidence = { fact });
	else
		FAIL(ctx, .subject = name, .observed = init_text(ctx, last, &cause),
		     .expected = "the driver initialises every GPU", .remedy = cure.text,
		     .then = cure.then, .repaired_by = cause.repaired_by,
		     .action = cause.repaired_by == BY_HOST ? ACTION_HOST_SIDE
			       : configuration		    ? ACTION_CONFIGURE
							    : ACTION_DERIVED,
		     .activation = configuration ? ACTIVATION_REBOOT : ACTIVATION_NONE,
		     .evidence = { fact,
				   gpu ? log_device_fact(ctx->arena, line, name, "count") : NULL,
				   cause.fact,
				   node_log(ctx->node, "open-unsupported-gpu")
					   ? "log.lines[open-unsupported-gpu].last"
					   : NULL });
}

static void check_rm_init(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "rm-init-failed");

	if (!line) {
		if (!skip_without_gpu(ctx))
			pass_if_log_whole(ctx);
		return;
	}
	for_each(gpu, &line->devices)
		fail_rm_init(ctx, line, gpu);
	if (!line->devices.count)
		fail_rm_init(ctx, line, NULL);
}

/* ---- DMA-BUF ---- */

/* The kernel itself refused a mapping of a GPU's memory (drivers/pci/p2pdma.c): "mlx5_core 0000:18:00.0: cannot
 * be used for peer-to-peer DMA as the client and provider (0000:19:00.0) do not share an upstream bridge". */
static const struct log_subject *p2pdma_refused(const struct node *node)
{
	const struct log_line *line = node_log(node, "p2pdma-refused");

	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && log_of_device(line, d->bdf.value))
			return log_of_device(line, d->bdf.value);
	return NULL;
}

static void check_dmabuf(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "dmabuf-attach-failed");
	const struct log_subject *p2pdma = p2pdma_refused(ctx->node);

	if (skip_without_driver(ctx))
		return;
	if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "the NIC attaches to GPU memory",
		     .remedy =
			     node_is(ctx->node, KIND_GRACE)
				     ? "If the path between GPU and NIC is known to work, set "
				       "NVreg_GrdmaPciTopoCheckOverride=1 for nvidia in modprobe.d and load the "
				       "driver again. Check ACS with rdma_topo check."
				     : NULL,
		     .evidence = { "log.lines[dmabuf-attach-failed].last",
				   "log.lines[dmabuf-attach-failed].count",
				   "driver.params[GrdmaPciTopoCheckOverride].value" });
	else if (p2pdma)
		FAIL(ctx, .observed = p2pdma->last.value,
		     .expected = "the NIC attaches to GPU memory",
		     .remedy = "Use a NIC below the same PCIe switch or root complex as the GPU.",
		     .evidence = { "log.lines[p2pdma-refused].last",
				   "log.lines[p2pdma-refused].count" });
	else
		pass_if_log_whole(ctx);
}

static void check_invalid_context(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "peermem-invalid-context");

	if (skip_without_driver(ctx))
		return;
	if (line)
		NOTE(ctx, .observed = line->last.value,
		     .evidence = { "log.lines[peermem-invalid-context].last",
				   "log.lines[peermem-invalid-context].count" });
	else
		pass_if_log_whole(ctx);
}

/* ---- peer-to-peer ---- */

/* "Xid ...: 31, ... Fault is of type FAULT_INFO_TYPE_UNSUPPORTED_KIND" of a GPU. */
static const struct log_subject *find_unsupported_kind(const struct log_line *mmu_fault)
{
	if (mmu_fault)
		for_each(d, &mmu_fault->devices)
			if (strstr(d->last.value, "UNSUPPORTED_KIND") ||
			    strstr(d->first.value, "UNSUPPORTED_KIND"))
				return d;
	return NULL;
}

static size_t count_geforce(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = pci_is_gpu(d) ? gpu_model(d) : NULL;

		n += model && model->kind == GPU_GEFORCE;
	}
	return n;
}

static void check_p2p_fault(struct rule_context *ctx)
{
	const struct log_line *xid = node_log(ctx->node, "xid-31");
	const struct log_line *assertion = node_log(ctx->node, "peer-pte-assertion");
	const struct log_subject *fault = find_unsupported_kind(xid);

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (count_geforce(ctx->node) < 2)
		NOT_APPLICABLE(ctx, .observed = "fewer than two GeForce cards",
			       .evidence = { "pci.devices" });
	else if (fault)
		FAIL(ctx, .subject = fault->name.value, .observed = fault->last.value,
		     .expected = "no peer mapping that the GPU refuses",
		     .evidence = { log_device_fact(ctx->arena, xid, fault->name.value, "last") });
	else if (assertion)
		FAIL(ctx, .observed = assertion->last.value,
		     .expected = "no peer mapping that the GPU refuses",
		     .evidence = { "log.lines[peer-pte-assertion].last" });
	else
		pass_if_log_whole(ctx);
}

/* ---- HMM ---- */

/* A parameter of the loaded nvidia_uvm; absent if it is not loaded, unknown if sysfs does not show it. */
static struct fact_str uvm_param(const struct node *node, const char *name)
{
	const struct module *uvm = node_module(node, "nvidia_uvm");

	if (!was_read(node->modules.loaded) || (uvm && !was_read(uvm->params)))
		return (struct fact_str){ 0 };
	for (uint32_t i = 0; uvm && i < uvm->params.count; i++)
		if (str_is(uvm->params.items[i].name, name))
			return uvm->params.items[i].value;
	return FACT_NONE(fact_str);
}

/* The assignment that switches HMM off at the next load: the kernel accepts 1, y and Y. */
static const struct modprobe_assignment *hmm_off_next(const struct node *node)
{
	for_each(a, &node->modprobe.assignments)
		if (str_is(a->module, "nvidia_uvm") && str_is(a->param, "uvm_disable_hmm") &&
		    known_is(a->effective, true) && is_known(a->value) && *a->value.value &&
		    strchr("1yY", *a->value.value))
			return a;
	return NULL;
}

static void fail_hmm(struct rule_context *ctx, const struct log_line *line, const char *param)
{
	static const char expected[] = "HMM with enough addresses, or switched off";
	static const char fact[] = "log.lines[uvm-hmm-failed].last";
	const struct modprobe_assignment *next = hmm_off_next(ctx->node);

	if (next)
		PENDING(ctx,
			.observed = text_printf(
				ctx, "%s switches HMM off; nvidia_uvm was not loaded again yet",
				next->file.value),
			.expected = expected, .evidence = { param, fact });
	else
		FAIL(ctx, .observed = line->last.value, .expected = expected,
		     .evidence = { fact, param });
}

/* Reports of this fault without a line in the log are of such boards and of an L20; there HMM that is on is worth
 * knowing. (github.com/NVIDIA/open-gpu-kernel-modules issues 797, 901, 947) */
static bool has_board_with_fault(const struct node *node)
{
	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = pci_is_gpu(d) ? gpu_model(d) : NULL;

		if (model && (model->kind == GPU_WORKSTATION || model->kind == GPU_GEFORCE ||
			      strcmp(model->architecture, "Ada") == 0))
			return true;
	}
	return false;
}

static void check_hmm(struct rule_context *ctx)
{
	static const char param[] = "modules.loaded[nvidia_uvm].params[uvm_disable_hmm].value";
	const struct log_line *line = node_log(ctx->node, "uvm-hmm-failed");
	struct fact_str prints = uvm_param(ctx->node, "uvm_debug_prints");
	struct fact_str off = uvm_param(ctx->node, "uvm_disable_hmm");

	if (skip_without_driver(ctx))
		return;
	if (str_is(off, "Y"))
		PASS(ctx, .observed = "HMM is switched off", .evidence = { param });
	else if (line && is_unknown(off))
		UNKNOWN(ctx,
			.observed =
				"the log has a failure; whether HMM is switched off now was not read",
			.evidence = { param, "log.lines[uvm-hmm-failed].last" });
	else if (line)
		fail_hmm(ctx, line, param);
	else if (is_known(prints) && !str_is(prints, "0"))
		pass_if_log_whole(ctx);
	else if (!was_read(ctx->node->log.lines))
		UNKNOWN(ctx, .evidence = { "log.lines" });
	else if (str_is(off, "N") && known_is(ctx->node->driver.flavour, FLAVOUR_OPEN) &&
		 has_board_with_fault(ctx->node))
		NOTE(ctx,
		     .observed =
			     "HMM is on. If CUDA fails with error 3 (not initialized) although nvidia-smi "
			     "works, switch it off: the driver logs nothing of it",
		     .evidence = { param, "driver.flavour" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = "no line in the log; nvidia_uvm prints it only with "
					   "uvm_debug_prints=1",
			       .evidence = { "log.lines" });
}

/* ---- the NIC's own events ---- */

struct nic_event {
	const char *pattern; /* in probes/log/log.c */
	const char *expected;
};

/* Linux: drivers/net/ethernet/mellanox/mlx5/core/events.c */
static const struct nic_event nic_events[] = {
	{ "nic-module-error", "a cable or module that the NIC can read" },
	{ "nic-temperature", "a NIC within its temperature limit" },
	{ "nic-insufficient-power", "a slot with enough power for the NIC" },
};
#define NIC_EVENTS (ARRAY_SIZE(nic_events))

/* Returns true if an event before the N-th names that NIC. */
static bool was_reported(const struct rule_context *ctx, size_t n, const char *bdf)
{
	for (size_t i = 0; i < n; i++)
		if (log_of_device(node_log(ctx->node, nic_events[i].pattern), bdf))
			return true;
	return false;
}

static void check_event(struct rule_context *ctx, size_t n)
{
	const struct nic_event *event = &nic_events[n];
	const struct log_line *line = node_log(ctx->node, event->pattern);
	bool slot = strcmp(event->pattern, "nic-insufficient-power") == 0;

	if (!line)
		return;
	for_each(nic, &line->devices)
		if (!was_reported(ctx, n, nic->name.value))
			FAIL_AS(ctx,
				slot && endpoints_are_integrated(ctx->endpoints) ? SEVERITY_INFO
										 : SEVERITY_WARN,
				.subject = nic->name.value, .observed = nic->last.value,
				.expected = event->expected,
				.evidence = {
					log_device_fact(ctx->arena, line, nic->name.value, "last"),
					log_device_fact(ctx->arena, line, nic->name.value,
							"count") });
}

static void check_nic_events(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for (size_t i = 0; i < NIC_EVENTS; i++)
		check_event(ctx, i);
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

static const struct rule log_rules[] = {
	{
		.id = "log/nic-hardware-event",
		.title = "A NIC reported a bad cable, heat or lack of power",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_nic_events,
		.impact =
			"The port stays down, runs below its rate, or fails under a job. A NIC without enough"
			" power can switch ports off.",
		.remedy =
			"Cable or module: reseat or replace it. Heat: check fans and airflow. Power: connect "
			"the slot's auxiliary power cable, or use another slot.",
		.repaired_by = BY_HARDWARE,
		.activation = ACTIVATION_NONE,
		.reads =
			"\"Port module event[error]\", \"High temperature on sensors\" and \"Detected insufficient"
			" power on the PCIe slot\" of mlx5_core in the kernel log.",
		.why = "The NIC's firmware reports the event and the driver prints it. The log does not show"
		       " whether it still lasts. On boards with GPU and NIC on one board (GB10) lack of slot"
		       " power is a note.",
		.check = "dmesg | grep -E 'mlx5.*(module event|temperature|power)'",
		.sources =
			"Linux 6.12.117: drivers/net/ethernet/mellanox/mlx5/core/events.c\n"
			"github.com/NVIDIA/gpu-operator issue 2511 (slots that advertise nothing)",
	},
	{
		.id = "log/allow-peermapping-denied",
		.title =
			"The driver refused to map a device's I/O memory, such as a NIC's doorbell, for the GPU",
		.profiles = PROFILE_GIN_ANY,
		.used_variables = USED_BY_GIN_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_allow_peermapping,
		.impact =
			"A process without CAP_SYS_ADMIN used GPU-initiated networking. Jobs of NVSHMEM "
			"IBGDA, NCCL GIN and DeepEP fail in the same way.",
		.then = THEN_REBOOT,
		.remedy = "Set PeerMappingOverride=1 in NVreg_RegistryDwords.",
		.fix = { "set-registry-key", { "PeerMappingOverride", "1" } },
		.activation = ACTIVATION_REBOOT,
		.follows = { "driver/peer-mapping-override" },
		.reads =
			"\"permission denied, allowPeermapping=0\" in the kernel log. The result of nvnodecheck"
			" prove, if it is given.",
		.why = "The open driver prints this line only for this refusal. nvnodecheck prove tries the "
		       "mapping without privileges and so leaves this line too. With doctor --with its own "
		       "lines are a note.",
		.check = "dmesg | grep allowPeermapping",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c "
			"(osCreateOsDescriptorFromIoMemory)",
	},
	{
		.id = "log/p2p-mapping-fault",
		.title = "Peer-to-peer fails on these GPUs: the driver made an invalid mapping",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_p2p_fault,
		.wrong_data = true,
		.impact =
			"Copies between GPUs fail or deliver wrong data. CUDA reports an illegal memory access.",
		.remedy =
			"Set NCCL_P2P_DISABLE=1 for NCCL jobs: copies then go through host memory. For peer-to-peer "
			"install a patched driver that supports this GPU model.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"Xid 31 with FAULT_INFO_TYPE_UNSUPPORTED_KIND and failed assertions of field_desc.h in the "
			"kernel log, and the models of the GPUs.",
		.why = "The RTX 4090 lacks the hardware for peer-to-peer through a mailbox. A driver that maps a peer with the aperture "
		       "of such mappings (PEER) writes page table entries that the GPU refuses. The assertion is about a "
		       "value that does not fit into the entry.",
		.check = "dmesg | grep -E 'UNSUPPORTED_KIND|field_desc.h'",
		.sources =
			"github.com/tinygrad/open-gpu-kernel-modules 550.90.07-p2p: README.md (How it works)\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/inc/libraries/field_desc.h, "
			"src/nvidia/src/kernel/gpu/mmu/arch/pascal/kern_gmmu_gp100.c",
	},
	{
		.id = "log/uvm-hmm-failed",
		.title = "CUDA fails in every program: HMM found no addresses for the GPU's memory",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_hmm,
		.impact =
			"cuInit fails with CUDA_ERROR_NOT_INITIALIZED (3), and PyTorch finds no GPU. "
			"nvidia-smi shows all of them.",
		.remedy =
			"Switch HMM off with the option uvm_disable_hmm=1 of nvidia_uvm, then load nvidia_uvm"
			" again.",
		.command = "echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee "
			   "/etc/modprobe.d/nvidia-uvm-hmm.conf",
		.fix = { "set-option", { "nvidia_uvm", "uvm_disable_hmm", "1" } },
		.activation = ACTIVATION_RELOAD,
		.reads =
			"\"devmem_alloc_pagemap ... err\" of nvidia-uvm in the kernel log, and the parameter "
			"uvm_disable_hmm of the loaded module; the flavour of the driver and the models of the GPUs.",
		.why = "The open modules reserve addresses for all of the GPU's memory. Some kernels with "
		       "address space randomization (KASLR) have too few left. nvidia_uvm prints the line "
		       "only with uvm_debug_prints=1, so a log without it proves nothing. Booting with "
		       "nokaslr also helps.",
		.check =
			"sudo modprobe -r nvidia_uvm; sudo modprobe nvidia_uvm uvm_debug_prints=1; "
			"nvidia-smi; dmesg | grep devmem_alloc_pagemap",
		.cost = "Programs that let the GPU read memory of malloc() need HMM. Memory of CUDA's own "
			"functions does not.",
		.is_risk = true,
		.sources =
			"CUDA 13.2.1: cuda-features-archive, Known Issues (CUDA initialization with KASLR)\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-uvm/uvm_pmm_gpu.c, uvm_hmm.c\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issues 797 (2025-02), 901 (2025-07), 947 (2025-10)",
	},
	{
		.id = "log/rm-init-failed",
		.title = "The driver could not initialise a GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_rm_init,
		.impact =
			"CUDA does not have this GPU. nvidia-smi does not list it, or lists it with errors.",
		.remedy = "If the error returns, run nvidia-bug-report.sh and ask the vendor.",
		.then = FIRST_POWER_CYCLE,
		.repaired_by = BY_ADMIN,
		.action = ACTION_POWER_CYCLE,
		.activation = ACTIVATION_POWER_CYCLE,
		.follows = { "driver/gsp-firmware-missing", "driver/proprietary-on-blackwell",
			     "pci/bar1-unassigned" },
		.reads =
			"\"RmInitAdapter failed!\" in the kernel log, the first two of the numbers after it, and "
			"what the driver wrote in the two minutes before it.",
		.why = "The first number names the stage: 0x1. driver and operating system, 0x2. GPU, 0x3. "
		       "video BIOS, 0x4. SLI and NVLink setup or resources, 0x6. GSP firmware. The second one is "
		       "the driver's status. Lines before it name the cause: missing power cables, firmware that "
		       "did not boot, a GPU that was not reset. A later attempt in the same boot can succeed, and then leaves the "
		       "line in the log. The error is over if the driver was loaded again since, or the GPU "
		       "was reset or found on the bus again.",
		.check = "dmesg | grep -B5 'RmInitAdapter failed'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osinit.c "
			"(RM_INIT_* and RmInitAdapter), src/common/sdk/nvidia/inc/nvstatuscodes.h\n"
			"data/init-causes.tsv names the source of each line",
	},
	{
		.id = "log/dmabuf-attach-failed",
		.title = "GPUDirect RDMA fails: a NIC was refused access to GPU memory by DMA-BUF",
		.profiles = PROFILE_GPUDIRECT_ANY,
		/* A job can cause the line on purpose, so it drains no node. */
		.severity = SEVERITY_WARN,
		.evaluate = check_dmabuf,
		.impact =
			"GPUDirect RDMA does not work on this path. NCCL copies through host memory or uses "
			"sockets.",
		.remedy = "Use a NIC below the same PCIe switch or root complex as the GPU.",
		.repaired_by = BY_ADMIN,
		.action = ACTION_CONFIGURE,
		.activation = ACTIVATION_REBOOT,
		.follows = { "driver/grdma-topo-override" },
		.reads =
			"\"dma-buf attach failed\" in the kernel log, and \"cannot be used for peer-to-peer DMA\""
			" with a GPU's address.",
		.why = "The driver refuses on chipsets that it knows to lack PCIe peer-to-peer, unless GPU "
		       "and NIC have a PCIe switch in common. With GrdmaPciTopoCheckOverride=2 it refuses everywhere, except on "
		       "coherent platforms. It also refuses the mapping type FORCE_PCIE where the platform is not coherent, and where "
		       "GPU and NIC are not in one IOMMU group. It refuses an RDMA driver that cannot handle memory of a device "
		       "without struct pages. "
		       "Its line names no device. A job that uses the wrong NIC or asks for that mapping type leaves it too, on a "
		       "node that is right.",
		.check = "dmesg | grep 'dma-buf attach failed'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dmabuf.c "
			"(nv_dma_buf_attach), kernel-open/nvidia/nv-pci.c (nv_grdma_pci_topology_supported)\n"
			"Linux 6.12.117: drivers/pci/p2pdma.c",
	},
	{
		.id = "log/peermem-invalid-context",
		.title = "nvidia-peermem met a memory registration that was already gone",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_INFO,
		.evaluate = check_invalid_context,
		.impact = "Usually none: a process ended while its memory was registered.",
		.remedy =
			"If jobs hang with it, install the OFED or DOCA version that the driver was built "
			"against.",
		.activation = ACTIVATION_NONE,
		.reads =
			"\"detected invalid context, skipping further processing\" in the kernel log.",
		.why = "The driver's free callback came for a context that the peer-memory client no longer "
		       "has. No source reports lost data.",
		.check = "dmesg | grep 'invalid context'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-peermem/nvidia-peermem.c "
			"(nv_get_p2p_free_callback)\n"
			"github.com/leptonai/gpud v0.13.0-rc.0: "
			"components/accelerator/nvidia/peermem/kmsg_matcher.go",
	},
};

RULE_TABLE(log);
