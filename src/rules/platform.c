/* SPDX-License-Identifier: GPL-2.0-or-later */
/* platform.c - platforms on which GPUDirect works differently, or not at all (rules platform/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/bootargs.h"
#include "query/distribution.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/topology.h"

/* ---- unsupported ---- */

/* DMI product names of systems whose GPU is part of the processor. */
static const char *integrated_product(const struct node *node)
{
	static const char *const products[] = { "DGX Spark", "DGX_Spark", "GB10", "Jetson",
						"Tegra" };

	for (size_t i = 0; is_known(node->os.product) && i < ARRAY_SIZE(products); i++)
		if (strstr(node->os.product.value, products[i]))
			return node->os.product.value;
	return NULL;
}

static void check_unsupported(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *product = integrated_product(node);
	size_t before = ctx->findings->count;

	if (!was_read(node->pci.devices) && !product) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = pci_is_gpu(d) ? gpu_model(d) : NULL;

		if (model && model->kind == GPU_INTEGRATED)
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = text_printf(ctx,
						     "%s: a GPU that shares the processor's memory",
						     model->name),
			     .expected = "a GPU with memory of its own",
			     .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
						     "device_id") });
	}
	if (ctx->findings->count > before)
		return;
	if (product)
		FAIL(ctx, .observed = product, .expected = "a GPU with memory of its own",
		     .evidence = { "os.product" });
	else if (!skip_without_gpu(ctx))
		PASS(ctx, .evidence = { "pci.devices" });
}

/* ---- Grace with ConnectX-8 ---- */

/* mlx5's Data Direct came with Linux 6.12 (drivers/infiniband/hw/mlx5/data_direct.c); NVIDIA's guide
 * for these systems asks for its own kernel from 6.14 on. */
#define DATA_DIRECT_KERNEL "6.12"
#define DATA_DIRECT_NVIDIA_KERNEL "6.14"

static size_t count_connectx8(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices) {
		const struct nic_model *model = nic_model(d);

		n += model && model->generation == 8;
	}
	return n;
}

struct functions {
	size_t bound, unbound, unread;
	const struct pci_device *first; /* that is unbound, or else bound */
};

/* mlx5_ib drives them in Linux (drivers/infiniband/hw/mlx5/data_direct.c), mlx5_core in DOCA. */
static struct functions find_functions(const struct node *node)
{
	struct functions found = { 0 };

	for_each(d, &node->pci.devices) {
		if (!pci_is_data_direct(d))
			continue;
		if (str_is(d->driver, "mlx5_core") || str_is(d->driver, "mlx5_ib")) {
			if (!found.bound++ && !found.unbound)
				found.first = d;
		} else if (is_unknown(d->driver)) {
			found.unread++;
		} else if (!found.unbound++) {
			found.first = d;
		}
	}
	return found;
}

/* A driver that has bound the function can drive it, whatever the kernel's number says. */
static void check_kernel(struct rule_context *ctx, const char *kernel,
			 const struct functions *functions)
{
	bool old = version_compare(kernel, DATA_DIRECT_KERNEL) < 0;

	if (old && functions->bound && !functions->unbound)
		PASS(ctx, .subject = "kernel",
		     .observed = text_printf(ctx, "the Data Direct functions have the driver %s",
					     functions->first->driver.value),
		     .evidence = { fact_path(ctx->arena, "pci.devices", functions->first->bdf.value,
					     "driver") });
	else if (old && functions->unread)
		UNKNOWN(ctx, .subject = "kernel",
			.observed = "the driver of a Data Direct function was not read",
			.evidence = { "pci.devices" });
	else if (old)
		FAIL(ctx, .subject = "kernel", .observed = kernel,
		     .expected = "linux-nvidia " DATA_DIRECT_NVIDIA_KERNEL " or later",
		     .evidence = { "os.kernel" });
	else if (!strstr(kernel, "nvidia") ||
		 version_compare(kernel, DATA_DIRECT_NVIDIA_KERNEL) < 0)
		NOTE(ctx, .subject = "kernel",
		     .observed = text_printf(
			     ctx,
			     "%s has Data Direct; NVIDIA's guide names linux-nvidia " DATA_DIRECT_NVIDIA_KERNEL,
			     kernel),
		     .evidence = { "os.kernel" });
	else
		PASS(ctx, .subject = "kernel", .evidence = { "os.kernel" });
}

static void check_functions(struct rule_context *ctx, size_t nics,
			    const struct functions *functions)
{
	if (functions->unbound)
		FAIL(ctx, .subject = functions->first->bdf.value,
		     .observed = text_printf(ctx, "%zu Data Direct function%s no driver",
					     functions->unbound,
					     functions->unbound == 1 ? " has" : "s have"),
		     .expected = "mlx5_ib or DOCA's mlx5_core as their driver",
		     .evidence = { fact_path(ctx->arena, "pci.devices", functions->first->bdf.value,
					     "driver") });
	else if (functions->unread)
		UNKNOWN(ctx, .subject = "functions",
			.observed = "the driver of a Data Direct function was not read",
			.evidence = { "pci.devices" });
	else if (!functions->bound)
		NOTE(ctx, .subject = "functions",
		     .observed = text_printf(
			     ctx,
			     "%zu ConnectX-8 function%s, no Data Direct function (15b3:2100); boards "
			     "with the second PCIe path have one for each",
			     nics, nics == 1 ? "" : "s"),
		     .evidence = { "pci.devices" });
	else
		PASS(ctx, .subject = "functions", .evidence = { "pci.devices" });
}

static void check_data_direct(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t nics = count_connectx8(node);

	if (skip_without_gpu(ctx) || skip_unless_kind(ctx, KIND_GRACE))
		return;
	if (!nics)
		NOT_APPLICABLE(ctx, .observed = "no ConnectX-8", .evidence = { "pci.devices" });
	else if (!is_known(node->os.kernel))
		UNKNOWN(ctx, .evidence = { "os.kernel" });
	else {
		struct functions functions = find_functions(node);

		check_kernel(ctx, node->os.kernel.value, &functions);
		check_functions(ctx, nics, &functions);
	}
}

/* ---- Grace with passthrough ---- */

/* Linux 6.11: drivers/iommu/arm/arm-smmu-v3/arm-smmu-v3.c can bind a process to a device in an identity domain
 * (STRTAB_STE_1_S1DSS_BYPASS). */
#define PASID_IDENTITY_KERNEL "6.11"

/* Kernels of these makers can have the change in an older release: NVIDIA's 6.8 has it since August 2024. */
static bool may_have_backport(const char *kernel)
{
	return strstr(kernel, "nvidia") || strstr(kernel, ".el");
}

static bool is_translation_staged(const struct node *node)
{
	const char *staged = bootargs_staged(node);

	return staged && is_known(node->cmdline.running) &&
	       bootargs_find(staged, "iommu.passthrough", "0") &&
	       !bootargs_find(node->cmdline.running.value, "iommu.passthrough", "0");
}

static void fail_identity(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	static const char argument[] = "iommu.passthrough=0";
	const char *kernel = ctx->node->os.kernel.value;

	if (is_translation_staged(ctx->node))
		PENDING(ctx, .subject = d->bdf.value,
			.observed = text_printf(
				ctx, "identity on Linux %s; the next boot asks for translation",
				kernel),
			.expected = "translation: DMA or DMA-FQ", .remedy = "Reboot.",
			.evidence = { fact, "cmdline.staged.text" });
	else
		FAIL_AS(ctx, may_have_backport(kernel) ? SEVERITY_WARN : SEVERITY_ERR,
			.subject = d->bdf.value,
			.observed = text_printf(ctx, "identity (passthrough) on Linux %s", kernel),
			.expected = "translation, or Linux " PASID_IDENTITY_KERNEL " or later",
			.command = shell_add_argument(ctx->arena, ctx->node, argument),
			.evidence = { fact, "os.kernel" });
}

static void check_passthrough(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_gpu(ctx) || skip_unless_kind(ctx, KIND_GRACE) || skip_without_own_gpu(ctx))
		return;
	if (!was_read(node->iommu.devices) || !is_known(node->os.kernel)) {
		UNKNOWN(ctx,
			.evidence = { is_known(node->os.kernel) ? "iommu.devices" : "os.kernel" });
		return;
	}
	for_each(d, &node->pci.devices) {
		const struct iommu_device *i = pci_is_gpu(d) ? topology_iommu(node, d) : NULL;
		const char *fact = fact_path(ctx->arena, "iommu.devices", d->bdf.value, "type");

		if (!pci_is_gpu(d) || pci_is_for_guest(d))
			continue;
		if (i && !is_known(i->type))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
		else if (i && str_is(i->type, "identity") &&
			 version_compare(node->os.kernel.value, PASID_IDENTITY_KERNEL) < 0)
			fail_identity(ctx, d, fact);
		else
			PASS(ctx, .subject = d->bdf.value, .evidence = { fact, "os.kernel" });
	}
}

static const struct rule platform_rules[] = {
	{
		.id = "platform/gpudirect-unsupported",
		.title = "GPUDirect RDMA does not work on this platform",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_unsupported,
		.impact =
			"nvidia-peermem, DMA-BUF and GDRCopy do not work. NCCL copies through host memory. "
			"NVSHMEM IBGDA and DeepEP do not run.",
		.remedy =
			"Allocate communication buffers with cudaHostAlloc and register them as ordinary "
			"memory. For GPUDirect use a node with a discrete GPU.",
		.repaired_by = BY_HARDWARE,
		.action = ACTION_NONE,
		.activation = ACTIVATION_NONE,
		.reads = "PCI device ids in the table of GPU models, and the DMI product name.",
		.why = "On DGX Spark (GB10) the GPU's memory is system memory, which devices cannot reach "
		       "coherently as GPU memory. Jetson has a kernel interface of its own for GPUDirect RDMA. A new system of this kind that is not in the tables is not "
		       "recognised.",
		.check = "cat /sys/class/dmi/id/product_name; lspci -nnd 10de:",
		.sources = "NVIDIA DGX Spark Porting Guide (2025): CUDA, GPUDirect RDMA\n"
			   "NVIDIA GPUDirect RDMA 13.0: 5.4, Porting to Tegra\n"
			   "NCCL 5067397c: src/plugin/net.cc (cudaDevAttrGPUDirectRDMASupported), "
			   "src/graph/paths.cc (ncclTopoCheckGdr)",
	},
	{
		.id = "platform/grace-data-direct",
		.title =
			"NIC traffic is slow: ConnectX-8 does not use its direct path to the Grace GPU",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_data_direct,
		.impact = "Traffic between NIC and GPU goes through the processor.",
		.remedy = "Boot linux-nvidia " DATA_DIRECT_NVIDIA_KERNEL
			  " or later, with mlx5_ib bound to the "
			  "Data Direct functions. Then check the ACS bits with rdma_topo check.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The kernel's release, and the ConnectX-8 Data Direct functions (15b3:2100) with "
			"their driver.",
		.why = "A ConnectX-8 beside a Grace superchip has a second PCIe path to the GPU. NVIDIA's "
		       "guide names its own kernel 6.14. Mainline has the driver from " DATA_DIRECT_KERNEL
		       " on, which is a note. A driver from DOCA counts as well. Whether a board has the "
		       "second path is not known here.",
		.check = "uname -r; lspci -nnkd 15b3:2100; rdma_topo topology",
		.sources = "Linux 6.12.117: drivers/infiniband/hw/mlx5/data_direct.c\n"
			   "rdma-core 61: kernel-boot/rdma_topo\n"
			   "NVIDIA GB200 NVL Multi-Node Tuning Guide (2025): kernel",
	},
	{
		.id = "platform/grace-passthrough",
		.title =
			"CUDA does not start on Grace: the IOMMU is in passthrough on a kernel before 6.11",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_passthrough,
		.impact =
			"No CUDA context can be created. cudaMalloc reports that the GPU is busy.",
		.remedy =
			"Replace iommu.passthrough=1 on the kernel command line with iommu.passthrough=0, or install Linux 6.11 or later.",
		.then = THEN_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads = "The type of the IOMMU group of each GPU, and the kernel's release.",
		.why = "nvidia_uvm binds each process to the GPU by a PASID. Before 6.11 the SMMU driver cannot do so for a "
		       "device in passthrough: arm_smmu_write_ctx_desc warns, and the bind fails with E2BIG. The report is of ports "
		       "with ACS on, which Linux asks for before it gives a device PASIDs. The "
		       "argument is needed: passthrough can also be the default of the kernel's configuration. NVIDIA's "
		       "and Red Hat's kernels can have the change earlier, and this is a warning there. From 6.11 on "
		       "passthrough and translation both work; NVIDIA's 6.14 kernel uses passthrough.",
		.check =
			"uname -r; cat /sys/bus/pci/devices/*/iommu_group/type | sort | uniq -c; dmesg | grep arm_smmu",
		.cost = "With translation the transfers of NICs and disks cost some processor time.",
		.sources =
			"github.com/NVIDIA/nodewright-packages pull 122 (August 2026): Threshold\n"
			"github.com/NVIDIA/NV-Kernels pull 22 (August 2024): 6.8.0-1010-nvidia-64k\n"
			"github.com/NVIDIA/NV-Kernels pull 226 (October 2025): CONFIG_IOMMU_DEFAULT_PASSTHROUGH\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-uvm/uvm_ats_sva.c\n"
			"Linux 6.12.117: drivers/pci/ats.c, pci_enable_pasid()",
	},
};

RULE_TABLE(platform);
