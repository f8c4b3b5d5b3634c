/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peermem.c - decides whether the RDMA stack reaches GPU memory by peer memory or by DMA-BUF. */
#include "query/peermem.h"

#include "parse/version.h"
#include "query/gpus.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/ports.h"

/* Linux commit bfe0cc6eb249: the uverbs command of ibv_reg_dmabuf_mr(). */
#define KERNEL_DMABUF "5.12"

/* Returns the package of MLNX_OFED or DOCA, or NULL if neither was found. */
static const struct software_item *installed_ofed(const struct node *node)
{
	const struct software_item *ofed = node_software(node, "ofed");

	return ofed ? ofed : node_software(node, "doca");
}

struct fact_bool driver_has_peermem(const struct node *node)
{
	const struct fact_str *version = &node->driver.version;

	if (!is_known(*version))
		return (struct fact_bool){ 0 };
	return fact_bool(version_compare(version->value, PEERMEM_SINCE) >= 0);
}

/* The probe's question to a device outranks any version number. */
static struct fact_bool dmabuf_probed(const struct node *node)
{
	struct fact_bool works = { 0 };

	for_each(d, &node->rdma.devices)
		if (is_known(d->dmabuf))
			works = fact_bool((is_known(works) && works.value) || d->dmabuf.value);
	return works;
}

/* github.com/siderolabs/talos issue 12021: DMA-BUF fails with such a kernel. With OFED that is not known. */
static bool lacks_p2pdma(const struct node *node)
{
	const struct kernel_option *option = LIST_FIND(&node->os.kernel_config,
						       "CONFIG_PCI_P2PDMA");

	return option && is_absent(option->value);
}

bool kernel_lacks_dmabuf(const struct node *node)
{
	return is_known(node->os.kernel) && !installed_ofed(node) &&
	       version_compare(node->os.kernel.value, KERNEL_DMABUF) < 0;
}

enum dmabuf dmabuf_path(const struct node *node, struct arena *arena, const char **why)
{
	const struct software_item *ofed = installed_ofed(node);
	struct fact_bool probed = dmabuf_probed(node);

	if (known_is(node_efa_reaches_gpus(node, NULL), true)) {
		*why = "EFA's own driver reaches GPU memory";
		return DMABUF_YES;
	}
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY)) {
		*why = "the proprietary kernel modules export no DMA-BUF";
		return DMABUF_NO;
	}
	if (is_known(probed)) {
		*why = probed.value ? "the RDMA stack registers DMA-BUFs"
				    : "the RDMA stack refuses to register a DMA-BUF";
		return probed.value ? DMABUF_YES : DMABUF_NO;
	}
	*why = "the driver's flavour or the kernel is not known";
	if (!is_known(node->driver.flavour) || !is_known(node->os.kernel))
		return DMABUF_UNKNOWN;
	if (!ofed && lacks_p2pdma(node)) {
		*why = "the kernel was built without CONFIG_PCI_P2PDMA";
		return DMABUF_NO;
	}
	if (ofed || version_compare(node->os.kernel.value, KERNEL_DMABUF) >= 0) {
		*why = ofed ? "DMA-BUF works with the open kernel modules and OFED"
			    : "DMA-BUF works with the open kernel modules and a kernel "
			      "from " KERNEL_DMABUF " on";
		return DMABUF_YES;
	}
	*why = arena_printf(arena,
			    "kernel %s has no DMA-BUF registration (" KERNEL_DMABUF " has it)",
			    node->os.kernel.value);
	return DMABUF_NO;
}

bool dmabuf_supports_umem(const struct node *node)
{
	return installed_ofed(node) ||
	       (is_known(node->os.kernel) &&
		version_compare(node->os.kernel.value, KERNEL_UMEM_DMABUF) >= 0);
}

/* The earliest of the last branches of the node's GPUs; 0: the present branches drive all of them. */
static unsigned int last_branch(const struct node *node)
{
	unsigned int last = 0;

	for_each(d, &node->pci.devices) {
		unsigned int own = pci_is_gpu(d) ? gpu_last_branch(d) : 0;

		if (own && (!last || own < last))
			last = own;
	}
	return last;
}

const char *peermem_remedy(struct arena *arena, const struct node *node)
{
	unsigned int last = last_branch(node);

	return arena_printf(
		arena,
		"This driver has no nvidia-peermem. Install nv_peer_mem (NVIDIA's nvidia-peer-memory) "
		"for it and load it at every boot, or upgrade the driver to " PEERMEM_SINCE
		" or later, which has nvidia-peermem.%s",
		last ? arena_printf(arena, " The last branch for the GPUs of this node is %u.",
				    last)
		     : "");
}
