/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof.c - results of trials on the hardware (nvnodecheck prove, rules proof/...). */
#include <string.h>

#include "evaluate/rule.h"

static bool skip_without_proof(struct rule_context *ctx)
{
	if (ctx->node->proof.state == FACT_KNOWN)
		return false;
	NOT_APPLICABLE(ctx, .observed = "no trial on the hardware (nvnodecheck prove)");
	return true;
}

static const char *evidence(struct rule_context *ctx, const struct proof_try *try)
{
	return fact_path(ctx->arena, "proof.tries", try->id.value, "works");
}

static const char *with_error(struct rule_context *ctx, const struct proof_try *try)
{
	return is_known(try->error) ? text_printf(ctx, "%s (%s)", try->seen.value, try->error.value)
				    : try->seen.value;
}

/* One answer for each trial of KIND; returns how many there are. SUBJECT: a GPU, "GPU DEVICE", "GPU write32". */
static size_t check_tries(struct rule_context *ctx, const char *kind, const char *expected)
{
	size_t n = 0;

	for_each(t, &ctx->node->proof.tries) {
		const char *subject = t->gpu.value;

		if (!str_is(t->kind, kind))
			continue;
		n++;
		if (is_known(t->device))
			subject = text_printf(ctx, "%s %s", t->gpu.value, t->device.value);
		else if (is_known(t->what))
			subject = text_printf(ctx, "%s %s", t->gpu.value, t->what.value);
		if (is_unknown(t->works))
			UNKNOWN(ctx, .subject = subject, .observed = with_error(ctx, t),
				.evidence = { evidence(ctx, t) });
		else if (t->works.value)
			PASS(ctx, .subject = subject, .observed = t->seen.value,
			     .evidence = { evidence(ctx, t) });
		else
			FAIL(ctx, .subject = subject, .observed = with_error(ctx, t),
			     .expected = expected, .evidence = { evidence(ctx, t) });
	}
	return n;
}

static void not_tried(struct rule_context *ctx, const char *fact)
{
	const struct proof_facts *proof = &ctx->node->proof;

	if (is_known(proof->stopped))
		UNKNOWN(ctx, .observed = proof->stopped.value,
			.evidence = { "proof.stopped", fact });
	else
		NOT_APPLICABLE(ctx, .observed = "this node has no device for this trial");
}

/* ---- the doorbell ---- */

static const struct proof_try *first_try(const struct node *node, const char *kind)
{
	for_each(t, &node->proof.tries)
		if (str_is(t->kind, kind))
			return t;
	return NULL;
}

static const char *caller_text(struct rule_context *ctx)
{
	const struct proof_try *caller = first_try(ctx->node, PROOF_DOORBELL_CALLER);

	if (!caller || !is_known(caller->works))
		return "";
	return text_printf(ctx, "; for the caller (uid %llu, %s CAP_SYS_ADMIN) it is %s",
			   (unsigned long long)ctx->node->proof.uid.value,
			   known_is(ctx->node->proof.sys_admin, true) ? "with" : "without",
			   caller->works.value ? "allowed" : "refused");
}

static void check_doorbell(struct rule_context *ctx)
{
	const struct proof_try *job;

	if (skip_without_proof(ctx))
		return;
	/* The page of a real NIC counts more than the stand-in. */
	job = first_try(ctx->node, PROOF_UAR_JOB);
	if (!job || !is_known(job->works))
		job = first_try(ctx->node, PROOF_DOORBELL_JOB);
	if (!job)
		not_tried(ctx, "proof.tries");
	else if (is_unknown(job->works))
		UNKNOWN(ctx, .observed = with_error(ctx, job), .evidence = { evidence(ctx, job) });
	else if (job->works.value)
		PASS(ctx, .observed = text_printf(ctx, "%s%s", job->seen.value, caller_text(ctx)),
		     .evidence = { evidence(ctx, job) });
	else
		/* The driver's default; only GPU-initiated networking needs the mapping. */
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_GIN_ANY) ? SEVERITY_ERR : SEVERITY_INFO,
			.observed = text_printf(ctx, "%s%s", with_error(ctx, job),
						caller_text(ctx)),
			.expected = "the mapping allowed for a job without CAP_SYS_ADMIN",
			.evidence = { evidence(ctx, job) });
}

/* ---- stream memory operations ---- */

static void check_stream(struct rule_context *ctx)
{
	if (skip_without_proof(ctx))
		return;
	if (!check_tries(ctx, PROOF_STREAM_V2, "the value written and the wait ended"))
		not_tried(ctx, "proof.tries");
}

/* ---- copies ---- */

static const char *pair_of(struct rule_context *ctx, const struct proof_copy *c)
{
	return text_printf(ctx, "%s to %s", c->from.value, c->to.value);
}

static const char *copy_fact(struct rule_context *ctx, const struct proof_copy *c,
			     const char *field)
{
	return fact_path(ctx->arena, "proof.copies", c->id.value, field);
}

/* Returns true if the IOMMU was read, and does not translate the addresses of this GPU. */
static bool is_passed_through(const struct node *node, const char *bdf)
{
	if (!was_read(node->iommu.devices))
		return false;
	for_each(i, &node->iommu.devices)
		if (str_is(i->bdf, bdf))
			return str_is(i->type, "identity");
	return true;
}

/* Returns NULL for the rule's remedy. */
static const char *copy_remedy(const struct rule_context *ctx, const struct proof_copy *c)
{
	if (!known_is(c->damage, DAMAGE_ZEROS) && !known_is(c->damage, DAMAGE_STALE))
		return "Take the node out of service, and test the GPUs with dcgmi diag.";
	if (is_passed_through(ctx->node, c->from.value) &&
	    is_passed_through(ctx->node, c->to.value))
		return "Take the node out of service. The IOMMU does not translate these addresses: switch ACS "
		       "redirection off on the path, which nvnodecheck topo shows. Set NCCL_P2P_DISABLE=1 until "
		       "copies are right. If they stay wrong, test the GPUs with dcgmi diag.";
	return NULL;
}

static void check_bad_copy(struct rule_context *ctx, const struct proof_copy *c)
{
	FAIL(ctx, .subject = pair_of(ctx, c), .remedy = copy_remedy(ctx, c),
	     .observed = text_printf(ctx, "%llu of %llu bytes are wrong from byte %llu on: %s",
				     (unsigned long long)c->bad_bytes.value,
				     (unsigned long long)c->bytes.value,
				     (unsigned long long)c->first_bad_byte.value,
				     proof_damage_words[c->damage.value]),
	     .expected = "the data that was sent",
	     .evidence = { copy_fact(ctx, c, "bad_bytes"), copy_fact(ctx, c, "damage"),
			   copy_fact(ctx, c, "path") });
}

static void check_copies(struct rule_context *ctx)
{
	const struct proof_facts *proof = &ctx->node->proof;
	size_t before = ctx->findings->count, whole = 0;

	if (skip_without_proof(ctx))
		return;
	for_each(c, &proof->copies) {
		if (is_known(c->bad_bytes) && c->bad_bytes.value)
			check_bad_copy(ctx, c);
		else if (is_known(c->error))
			FAIL_AS(ctx, SEVERITY_ERR, .subject = pair_of(ctx, c),
				.observed = c->error.value, .expected = "a complete copy",
				.evidence = { copy_fact(ctx, c, "error") });
		else if (is_known(c->bad_bytes))
			whole++;
		else
			UNKNOWN(ctx, .subject = pair_of(ctx, c), .observed = "not tried",
				.evidence = { copy_fact(ctx, c, "bad_bytes") });
	}
	if (ctx->findings->count > before)
		return;
	if (whole)
		PASS(ctx, .observed = text_printf(ctx, "%zu copies with the right data", whole),
		     .evidence = { "proof.copies" });
	else
		not_tried(ctx, "proof.copies");
}

static void check_slow_copy(struct rule_context *ctx, const struct proof_copy *c, uint64_t usual)
{
	FAIL(ctx, .subject = pair_of(ctx, c),
	     .observed = text_printf(ctx, "%.1f GB/s over %s", (double)c->mb_per_s.value / 1e3,
				     is_known(c->path) ? c->path.value : "an unknown path"),
	     .expected = text_printf(ctx, "about %.1f GB/s", (double)usual / 1e3),
	     .evidence = { copy_fact(ctx, c, "mb_per_s"), copy_fact(ctx, c, "path") });
}

static void check_speed(struct rule_context *ctx)
{
	const struct proof_facts *proof = &ctx->node->proof;
	size_t before = ctx->findings->count, measured = 0;
	struct proof_speeds speeds;

	if (skip_without_proof(ctx))
		return;
	speeds = proof_speeds_of(proof, ctx->arena);
	for_each(c, &proof->copies) {
		uint64_t usual = 0;

		measured += is_known(c->mb_per_s);
		if (proof_copy_is_slow(&speeds, c, &usual))
			check_slow_copy(ctx, c, usual);
	}
	if (ctx->findings->count > before)
		return;
	if (measured)
		PASS(ctx, .evidence = { "proof.copies" });
	else if (proof->copies.count)
		UNKNOWN(ctx, .observed = "no copy ended", .evidence = { "proof.copies" });
	else
		not_tried(ctx, "proof.copies");
}

/* ---- GPU memory and the NIC ---- */

static const struct proof_try *try_of(const struct node *node, const char *kind,
				      const struct proof_try *like)
{
	for_each(t, &node->proof.tries)
		if (str_is(t->kind, kind) && str_is(t->gpu, like->gpu.value) &&
		    str_is(t->device, like->device.value))
			return t;
	return NULL;
}

static bool failed(const struct proof_try *try)
{
	return try && known_is(try->works, false);
}

/* DMA-BUF or peer memory: one is enough. */
static void check_registration(struct rule_context *ctx)
{
	size_t n = 0;

	if (skip_without_proof(ctx))
		return;
	for_each(dmabuf, &ctx->node->proof.tries) {
		const struct proof_try *peermem;
		const char *subject;

		if (!str_is(dmabuf->kind, PROOF_DMABUF_REGISTRATION))
			continue;
		n++;
		subject = text_printf(ctx, "%s %s", dmabuf->gpu.value, dmabuf->device.value);
		peermem = try_of(ctx->node, PROOF_PEERMEM_REGISTRATION, dmabuf);
		if (known_is(dmabuf->works, true) || (peermem && known_is(peermem->works, true)))
			PASS(ctx, .subject = subject,
			     .observed = text_printf(ctx, "%s%s%s", dmabuf->seen.value,
						     peermem ? "; " : "",
						     peermem ? peermem->seen.value : ""),
			     .evidence = { evidence(ctx, dmabuf) });
		else if (failed(dmabuf) && failed(peermem))
			FAIL(ctx, .subject = subject,
			     .observed = text_printf(ctx, "%s; %s", with_error(ctx, dmabuf),
						     with_error(ctx, peermem)),
			     .expected = "a registration by DMA-BUF or peer memory",
			     .evidence = { evidence(ctx, dmabuf), evidence(ctx, peermem) });
		else
			UNKNOWN(ctx, .subject = subject, .observed = with_error(ctx, dmabuf),
				.evidence = { evidence(ctx, dmabuf) });
	}
	if (!n)
		not_tried(ctx, "proof.tries");
}

static void check_rdma_write(struct rule_context *ctx)
{
	if (skip_without_proof(ctx))
		return;
	if (!check_tries(ctx, PROOF_RDMA_WRITE, "the data in GPU memory"))
		not_tried(ctx, "proof.tries");
}

static void check_gdrcopy(struct rule_context *ctx)
{
	if (skip_without_proof(ctx))
		return;
	if (!check_tries(ctx, PROOF_GDRCOPY, "the data in GPU memory"))
		not_tried(ctx, "proof.tries");
}

#define READS "The document of nvnodecheck prove (doctor --with), or the trial itself."

static const struct rule proof_rules[] = {
	{
		.id = "proof/doorbell-mapping",
		.title = "DeepEP and NVSHMEM IBGDA fail for jobs: the doorbell mapping was refused",
		.profiles = PROFILE_GIN_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_doorbell,
		.impact =
			"NVSHMEM IBGDA and DeepEP do not work for jobs without CAP_SYS_ADMIN. They work in a "
			"privileged container.",
		.then = THEN_REBOOT,
		.remedy = "Set PeerMappingOverride=1 in NVreg_RegistryDwords.",
		.activation = ACTIVATION_REBOOT,
		.follows = { "driver/peer-mapping-override" },
		.reads = READS,
		.why = "A process without capabilities registers a page that is not memory with the GPU: the"
		       " kernel's time page, which is mapped by page frame number like a NIC's doorbell. The"
		       " driver makes the same checks for both. With an mlx5 NIC a doorbell page of its own "
		       "is tried too. Outside of the profiles deepep and nccl-gin a refusal is a note. It leaves a line in"
		       " the kernel log (log/allow-peermapping-denied).",
		.check = "nvnodecheck prove",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c "
			"(osCreateOsDescriptorFromIoMemory)\n"
			"CUDA 12.8 driver API: cuMemHostRegister, CU_MEMHOSTREGISTER_IOMEMORY",
	},
	{
		.id = "proof/stream-memops",
		.title = "A stream memory operation does not work on the GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_stream,
		.impact =
			"Programs that order work between GPU and NIC with cuStreamWriteValue and "
			"cuStreamWaitValue fail or wait forever.",
		.remedy = "Update the driver.",
		.activation = ACTIVATION_REBOOT,
		.reads = READS,
		.why = "Current components use the second version of the interface, from CUDA 11.7 on. The "
		       "GPU's front end writes a value, which is read back. A wait for a value that is "
		       "present must end. NVreg_EnableStreamMemOPs controls only the first version: "
		       "driver/stream-memops.",
		.check = "nvnodecheck prove",
		.sources = "CUDA 12.8 driver API: Stream Memory Operations",
	},
	{
		.id = "proof/peer-copy",
		.title = "A copy between two GPUs delivered wrong data",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_copies,
		.impact =
			"Results are wrong without an error: NCCL and all programs that copy between GPUs get"
			" wrong data.",
		.wrong_data = true,
		.remedy =
			"Take the node out of service. Boot with iommu=pt, and set NCCL_P2P_DISABLE=1 until then.",
		.activation = ACTIVATION_REBOOT,
		.reads = READS,
		.why = "Each GPU's pattern is copied onto memory with other contents, and read back through "
		       "the host. Peer copies return success even if the data does not arrive. Zeros and old"
		       " data are typical of a translating IOMMU or ACS redirection below a driver patched "
		       "for peer-to-peer.",
		.check = "nvnodecheck prove",
		.sources =
			"github.com/tinygrad/open-gpu-kernel-modules 550.90.07-p2p: README.md (IOMMU)\n"
			"NCCL 2.30.7: docs/userguide/source/troubleshooting/gpu_troubleshooting.rst (PCI Access Control Services)",
	},
	{
		.id = "proof/peer-bandwidth",
		.title = "Copies between two GPUs are slow: less than half of the expected rate",
		.is_short_effect = true,
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT | PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_speed,
		.needs_running = true,
		.impact = "Collective operations run at the speed of the slowest pair.",
		.remedy =
			"Compare the links of the two GPUs, and end other processes that use them.",
		.command = "nvidia-smi nvlink -s; nvidia-smi topo -m",
		.reads = READS,
		.why = "The expected rate is what the active NVLinks, or the PCIe links below one switch, "
		       "carry, and what other pairs with the same path reach. No document states the rate "
		       "across a host bridge. There only other pairs count.",
		.check = "nvnodecheck prove",
		.sources = "PCI Express Base Specification 6.0: section 4.2.2 (encoding)\n"
			   "NVML 12.8: nvml.h (NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON)",
	},
	{
		.id = "proof/gpu-memory-registration",
		.title = "GPUDirect RDMA fails: a near NIC could not register GPU memory",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_registration,
		.impact = "NCCL copies through host memory. NVSHMEM does not start between nodes.",
		.remedy =
			"Load nvidia-peermem, or use open kernel modules with an RDMA driver that supports "
			"DMA-BUF.",
		.follows = { "modules/peermem-not-loaded", "rdma/dmabuf-unsupported",
			     "driver/proprietary-no-dmabuf" },
		.reads = READS,
		.why = "One of two ways is enough: ibv_reg_dmabuf_mr with a DMA-BUF of the open kernel "
		       "modules, or ibv_reg_mr with nvidia-peermem. EOPNOTSUPP of a DMA-BUF comes from the "
		       "RDMA driver. EFAULT of an address means that no peer-memory module took it.",
		.check = "nvnodecheck prove",
		.sources =
			"rdma-core 61: ibv_reg_mr(3), ibv_reg_dmabuf_mr(3)\n"
			"Linux 6.12.117: drivers/infiniband/core/uverbs_std_types_mr.c (UVERBS_METHOD_REG_DMABUF_MR)\n"
			"NVIDIA GPUDirect RDMA 13.0: Using nvidia-peermem\n"
			"NCCL 2.30.7: src/transport/net_ib/gdr.cc\n"
			"NVSHMEM 3.5.1: src/modules/transport/ibrc/ibrc.cpp, ibgda/ibgda.cpp (Skipping transport)",
	},
	{
		.id = "proof/rdma-write",
		.title =
			"GPUDirect RDMA delivers wrong data: a NIC's write did not arrive in GPU memory",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_CRIT,
		.evaluate = check_rdma_write,
		.impact = "GPUDirect RDMA delivers wrong data or none.",
		.wrong_data = true,
		.remedy =
			"If the IOMMU translates addresses, boot with iommu=pt. Switch ACS redirection off on the path, which "
			"nvnodecheck topo shows.",
		.activation = ACTIVATION_REBOOT,
		.follows = { "iommu/translation-enabled", "pci/acs-redirect" },
		.reads = READS,
		.why = "An RDMA device that is connected to itself writes a pattern into GPU memory. The "
		       "pattern is read back through the host.",
		.check = "nvnodecheck prove",
		.sources = "InfiniBand Architecture Specification 1.6, volume 1: RDMA WRITE\n"
			   "rdma-core 61: ibv_post_send(3)",
	},
	{
		.id = "proof/gdrcopy",
		.title = "GDRCopy fails: writing into GPU memory through gdrdrv did not work",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_gdrcopy,
		.impact =
			"NVSHMEM and UCX use a slower path for small messages, or deliver wrong data.",
		.remedy = "Build gdrdrv for this kernel and driver, then load it.",
		.follows = { "modules/gdrdrv-not-loaded", "modules/gdrdrv-build-mismatch" },
		.reads = READS,
		.why = "The CPU writes a pattern through gdrdrv's mapping. A copy reads it back.",
		.check = "nvnodecheck prove",
		.sources = "github.com/NVIDIA/gdrcopy v2.6: include/gdrapi.h",
	},
};

RULE_TABLE(proof);
