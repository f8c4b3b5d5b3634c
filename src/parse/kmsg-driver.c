/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-driver.c - finds the GPU, NIC, PCIe or IOMMU driver that wrote a kernel message, and its severity. */
#include "parse/kmsg-driver.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

#define DRM_HEAD_MAX 128 /* the function's name, and those of the modules */

/* Beginnings of messages with their driver. If one is a prefix of another, the longer one comes first. */
static const struct {
	const char *start, *driver;
} starts[] = {
	{ "NVRM:", "NVRM" },
	{ "nvidia-", "nvidia" },
	{ "nvidia_", "nvidia" },
	{ "nvidia ", "nvidia" },
	{ "nvidia:", "nvidia" },
	{ "nv-caps", "NVRM" },
	{ "[drm:nv_drm", "nvidia_drm" },
	{ "[drm] [nvidia-drm]", "nvidia_drm" },
	{ "nv_peer_mem", "nv_peer_mem" },
	{ "nouveau ", "nouveau" },
	{ "gdrdrv:", "gdrdrv" },
	{ "mlx5_core ", "mlx5_core" },
	{ "mlx5_ib ", "mlx5_ib" },
	{ "mlx5_", "mlx5_ib" },
	{ "mlx4_", "mlx4_core" },
	{ "infiniband ", "infiniband" },
	{ "ib_core", "ib_core" },
	{ "ib_uverbs", "ib_uverbs" },
	{ "ib_umad", "ib_umad" },
	{ "rdma_cm", "rdma_cm" },
	{ "mlxfw", "mlxfw" },
	{ "mana ", "mana" },
	{ "qedr", "qedr" },
	{ "iw_cxgb4", "iw_cxgb4" },
	{ "hfi1 ", "hfi1" },
	{ "hns_roce", "hns_roce" },
	{ "bnxt_en ", "bnxt_en" },
	{ "bnxt_re", "bnxt_re" },
	{ "irdma", "irdma" },
	{ "ice ", "ice" },
	{ "efa ", "efa" },
	{ "ena ", "ena" },
	{ "pcieport ", "pcieport" },
	{ "pci ", "pci" },
	{ "pci_bus ", "pci" },
	{ "vfio-pci ", "vfio_pci" },
	{ "vfio_iommu", "vfio_iommu_type1" },
	{ "DMAR:", "DMAR" },
	{ "DMAR-IR:", "DMAR" },
	{ "AMD-Vi:", "AMD-Vi" },
	{ "arm-smmu", "arm-smmu" },
	{ "iommu:", "iommu" },
};

/* "[drm:FUNCTION [nvidia_drm]] *ERROR* [nvidia-drm] ...": DRM_ERROR() names whichever function calls it. */
static bool is_nvidia_drm(struct span message)
{
	static const char tag[] = "[nvidia-drm]";
	struct span head = { message.p, message.n < DRM_HEAD_MAX ? message.n : DRM_HEAD_MAX };

	return span_starts(message, "[drm") && span_search(head, tag);
}

bool kmsg_driver(struct span message, char driver[KMSG_DRIVER_MAX])
{
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(message, starts[i].start)) {
			strcpy(driver, starts[i].driver);
			return true;
		}
	if (!is_nvidia_drm(message))
		return false;
	strcpy(driver, "nvidia_drm");
	return true;
}

bool kmsg_is_error(const char *driver, int level)
{
	if (level == KMSG_LEVEL_NONE)
		return false;
	return level <= KMSG_LEVEL_ERR + (strcmp(driver, "NVRM") == 0);
}

/* Without a level, the words decide. At boot pci reports, for bridges without devices, that I/O ports could not be
 * assigned. */
bool kmsg_sounds_like_error(const char *driver, struct span message)
{
	static const char *const words[] = {
		"fail",	       "Fail",	 "error",	  "Error",     "ERROR",
		"nable to",    "annot ", "can't",	  "ould not ", "imeout",
		"imed out",    "nvalid", "efused",	  "denied",    "ismatch",
		"unsupported", "abort",	 "not supported", "not found", "No space"
	};

	for (size_t i = 0; strcmp(driver, "pci") != 0 && i < ARRAY_SIZE(words); i++)
		if (span_search(message, words[i]))
			return true;
	return false;
}

/* A word with a digit in it that is no name: 12, 0x1f, 3c, 1219ms. */
static bool is_number(const char *p, size_t n)
{
	bool digit = false;

	for (size_t i = 0; i < n; i++) {
		digit |= isdigit((unsigned char)p[i]) != 0;
		if (!isxdigit((unsigned char)p[i]) && !(i == 1 && p[0] == '0' && p[1] == 'x'))
			return false;
	}
	return digit;
}

void kmsg_shape(struct span message, char shape[KMSG_SHAPE_MAX])
{
	size_t to = 0, i = 0;

	while (i < message.n && to < KMSG_SHAPE_MAX - 1) {
		size_t n = 0;

		while (i + n < message.n && isalnum((unsigned char)message.p[i + n]))
			n++;
		if (n && is_number(message.p + i, n)) {
			shape[to++] = '#';
			i += n;
			continue;
		}
		n = n ? n : 1;
		while (n-- && to < KMSG_SHAPE_MAX - 1)
			shape[to++] = message.p[i++];
	}
	shape[to] = '\0';
}
