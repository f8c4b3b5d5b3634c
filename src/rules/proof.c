/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof.c - what trials on the hardware showed (nvnodecheck prove). Without a proof none of these applies. */
#include <string.h>

#include "evaluate/rule.h"

static bool skip_without_proof(struct rule_context *ctx)
{
	if (ctx->node->proof.state == FACT_KNOWN)
		return false;
	NOT_APPLICABLE(ctx, .observed = "nothing was proved");
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
		NOT_APPLICABLE(ctx, .observed = "there is nothing here to try it on");
}

/* ---- the doorbell ---- */

static const struct proof_try *first_try(const struct node *node, const char *kind)
{
	for_each(t, &node->proof.tries)
		if (str_is(t->kind, kind))
			return t;
	return NULL;
}

static const char *caller_says(struct rule_context *ctx)
{
	const struct proof_try *caller = first_try(ctx->node, PROOF_DOORBELL_CALLER);

	if (!caller || !is_known(caller->works))
		return "";
	return text_printf(
		ctx, "; with the rights of whoever asked (uid %llu, %s CAP_SYS_ADMIN) it is %s",
		(unsigned long long)ctx->node->proof.uid.value,
		known_is(ctx->node->proof.sys_admin, true) ? "with" : "without",
		caller->works.value ? "allowed" : "refused");
}

static void check_doorbell(struct rule_context *ctx)
{
	const struct proof_try *job;

	if (skip_without_proof(ctx))
		return;
	/* The page of a real NIC, where there is one, speaks before the stand-in. */
	job = first_try(ctx->node, PROOF_UAR_JOB);
	if (!job || !is_known(job->works))
		job = first_try(ctx->node, PROOF_DOORBELL_JOB);
	if (!job)
		not_tried(ctx, "proof.tries");
	else if (is_unknown(job->works))
		UNKNOWN(ctx, .observed = with_error(ctx, job), .evidence = { evidence(ctx, job) });
	else if (job->works.value)
		PASS(ctx, .observed = text_printf(ctx, "%s%s", job->seen.value, caller_says(ctx)),
		     .evidence = { evidence(ctx, job) });
	else
		/* The driver's default, and in nobody's way but for such networking. */
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_DEEPEP) ? SEVERITY_ERR : SEVERITY_INFO,
			.observed = text_printf(ctx, "%s%s", with_error(ctx, job),
						caller_says(ctx)),
			.expected = "the mapping allowed to a job without CAP_SYS_ADMIN",
			.evidence = { evidence(ctx, job) });
}

/* ---- stream memory operations ---- */

static void check_stream(struct rule_context *ctx)
{
	if (skip_without_proof(ctx))
		return;
	if (!check_tries(ctx, PROOF_STREAM_V2, "the value written, and the wait ended"))
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

static void check_bad_copy(struct rule_context *ctx, const struct proof_copy *c)
{
	FAIL(ctx, .subject = pair_of(ctx, c),
	     .observed = text_printf(ctx, "%llu of %llu bytes are wrong from byte %llu on: %s",
				     (unsigned long long)c->bad_bytes.value,
				     (unsigned long long)c->bytes.value,
				     (unsigned long long)c->first_bad_byte.value,
				     proof_damage_words[c->damage.value]),
	     .expected = "every byte as it was sent",
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
				.observed = c->error.value, .expected = "the copy done",
				.evidence = { copy_fact(ctx, c, "error") });
		else if (is_known(c->bad_bytes))
			whole++;
		else
			UNKNOWN(ctx, .subject = pair_of(ctx, c), .observed = "it was not tried",
				.evidence = { copy_fact(ctx, c, "bad_bytes") });
	}
	if (ctx->findings->count > before)
		return;
	if (whole)
		PASS(ctx, .observed = text_printf(ctx, "%zu copies arrived whole", whole),
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

	if (skip_without_proof(ctx))
		return;
	for_each(c, &proof->copies) {
		uint64_t usual = 0;

		measured += is_known(c->mb_per_s);
		if (proof_copy_is_slow(proof, c, &usual))
			check_slow_copy(ctx, c, usual);
	}
	if (ctx->findings->count > before)
		return;
	if (measured)
		PASS(ctx, .evidence = { "proof.copies" });
	else if (proof->copies.count)
		UNKNOWN(ctx, .observed = "no copy came to an end", .evidence = { "proof.copies" });
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

/* One of the two ways is enough. */
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
			     .expected = "one of the two",
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
		.title = "An ordinary job was refused the mapping of a doorbell page",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_doorbell,
		.impact =
			"NVSHMEM IBGDA with the GPU as NIC handler, and so DeepEP, does not work for jobs "
			"without CAP_SYS_ADMIN; in a privileged container it does.",
		.remedy =
			"Set PeerMappingOverride=1: nvnodecheck fix driver/peer-mapping-override shows how.",
		.reads = READS,
		.why = "A process without capabilities registers a page that is not memory with the GPU: the "
		       "page with which the kernel gives every process the time, mapped by page frame number "
		       "as a NIC's doorbell is. The driver asks the same questions of both. Where there is an "
		       "mlx5 NIC, a doorbell page of its own is tried too. Information unless the profile is "
		       "deepep. A refusal leaves a line in the kernel log (log/allow-peermapping-denied).",
		.check = "nvnodecheck prove",
		.sources = "open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c "
			   "(osCreateOsDescriptorFromIoMemory)\n"
			   "CUDA driver API: cuMemHostRegister, CU_MEMHOSTREGISTER_IOMEMORY",
	},
	{
		.id = "proof/stream-memops",
		.title = "A stream memory operation does not work on the GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_stream,
		.impact = "Programs that order work between GPU and NIC by cuStreamWriteValue and "
			  "cuStreamWaitValue fail or wait for ever.",
		.remedy =
			"Update the driver. NVreg_EnableStreamMemOPs switches the first version only, "
			"which is not judged here: driver/stream-memops.",
		.reads = READS,
		.why = "The second version of the interface, from CUDA 11.7 on, is what current components "
		       "use. A value is written by the GPU's front end and read back; a wait for a value that "
		       "is there must end.",
		.check = "nvnodecheck prove",
		.sources = "CUDA driver API: Stream Memory Operations",
	},
	{
		.id = "proof/peer-copy",
		.title = "A copy between two GPUs did not bring what was sent",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_copies,
		.impact =
			"Results are wrong without any error: NCCL and every program that copies between "
			"GPUs deliver zeros or old data.",
		.remedy =
			"Zeros and old data: a translating IOMMU or ACS redirection below a driver that was "
			"patched for P2P; boot with iommu=pt, or turn P2P off (NCCL_P2P_DISABLE=1) until "
			"then. Other damage: take the node out of service and test the GPUs (dcgmi diag).",
		.reads = READS,
		.why = "Each GPU's own pattern is copied onto memory that holds something else, and read back "
		       "through the host. Peer copies succeed whether the data arrives or not.",
		.check = "nvnodecheck prove",
		.sources = "github.com/tinygrad/open-gpu-kernel-modules: README (IOMMU)\n"
			   "NCCL user guide: Troubleshooting, PCI Access Control Services",
	},
	{
		.id = "proof/peer-bandwidth",
		.title = "Copies between two GPUs reach less than half of what they should",
		.profiles = PROFILE_P2P | PROFILE_RDMA | PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_speed,
		.impact = "Collective operations run at the speed of the slowest pair.",
		.remedy =
			"Compare the links of the two GPUs (nvnodecheck topo, nvidia-smi nvlink -s), and look "
			"for another process on them.",
		.reads = READS,
		.why = "Wanted is what NVLink (links that are up, by NVML) or the PCI Express links below one "
		       "switch carry, and what the other pairs with the same kind of path reach. A host "
		       "bridge's worth is nowhere written: there only the other pairs count.",
		.check = "nvnodecheck prove",
		.sources = "PCI Express Base Specification 6.0, 4.2.2\n"
			   "nvml.h: NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON",
	},
	{
		.id = "proof/gpu-memory-registration",
		.title = "GPU memory could not be registered with a NIC near it",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_registration,
		.impact =
			"GPUDirect RDMA does not work: NCCL and NVSHMEM copy through the host, or fail.",
		.remedy =
			"By the errors: EOPNOTSUPP of a DMA-BUF is the kernel's RDMA driver, EFAULT of an "
			"address is nvidia-peermem not loaded. See rdma/dmabuf-unsupported and "
			"modules/peermem-not-loaded.",
		.reads = READS,
		.why = "There are two ways, and one is enough: ibv_reg_dmabuf_mr with what the open kernel "
		       "modules export, and ibv_reg_mr with nvidia-peermem.",
		.check = "nvnodecheck prove",
		.sources = "ibv_reg_mr(3), ibv_reg_dmabuf_mr(3)\n"
			   "GPUDirect RDMA documentation: Using nvidia-peermem, DMA-BUF",
	},
	{
		.id = "proof/rdma-write",
		.title = "The NIC's write into GPU memory did not arrive",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_CRIT,
		.evaluate = check_rdma_write,
		.impact = "GPUDirect RDMA delivers wrong data or none.",
		.remedy =
			"A translating IOMMU, ACS redirection or a bridge between GPU and NIC that does not "
			"forward: nvnodecheck topo shows the path.",
		.reads = READS,
		.why = "An RDMA device that is connected with itself writes a pattern into GPU memory, which is "
		       "read back through the host.",
		.check = "nvnodecheck prove",
		.sources = "InfiniBand Architecture Specification: RDMA WRITE\n"
			   "ibv_post_send(3)",
	},
	{
		.id = "proof/gdrcopy",
		.title = "Writing into GPU memory through gdrdrv did not work",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_gdrcopy,
		.impact =
			"NVSHMEM and UCX take a slower way for small messages, or deliver wrong data.",
		.remedy =
			"Build gdrdrv for this kernel and driver, and load it: modules/gdrdrv-not-loaded, "
			"modules/gdrdrv-build-mismatch.",
		.reads = READS,
		.why = "A pattern is written by the CPU through the mapping of gdrdrv, and read back by a copy.",
		.check = "nvnodecheck prove",
		.sources = "github.com/NVIDIA/gdrcopy: include/gdrapi.h",
	},
};

RULE_TABLE(proof);
