/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mmio-window.c - the host's setting that gives a virtual machine room for large BARs. */
#include "query/mmio-window.h"

#include "base/array.h"

static const char with_qemu[] =
	"On the host: give the virtual machine a larger 64-bit MMIO window. With QEMU and OVMF: machine type q35, "
	"-fw_cfg name=opt/ovmf/X-PciMmio64Mb,string=262144 and, if set, a larger pci-hole64-size.";
static const char with_hyper_v[] =
	"On the host, with the virtual machine off: Set-VM -HighMemoryMappedIoSpace SIZE -VMName NAME, with a SIZE above "
	"the sum of the BARs of its devices.";

static const struct advice {
	const char *hypervisor, *remedy; /* words of systemd-detect-virt(1) */
} advices[] = {
	{ "kvm", with_qemu },
	{ "qemu", with_qemu },
	{ "microsoft", with_hyper_v },
};

const char *mmio_window_remedy(const struct node *node)
{
	if (!is_known(node->os.hypervisor))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(advices); i++)
		if (str_is(node->os.hypervisor, advices[i].hypervisor))
			return advices[i].remedy;
	return "On the host: give the virtual machine a larger 64-bit MMIO window.";
}
