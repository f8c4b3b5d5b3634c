/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device-number.c - the numbers that the node of a driver's device must have. */
#include "query/device-number.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/span.h"

enum minor_kind { MINOR_FIXED, MINOR_OF_NAME, MINOR_ANY };

/*
 * open-gpu-kernel-modules 595.45.04: kernel-open/common/inc/nv-chardev-numbers.h, kernel-open/nvidia/nv.c, nv-caps.c,
 * nv-caps-imex.c, linux_nvswitch.c, nvlink_linux.c, kernel-open/nvidia-uvm/uvm.c; Linux 6.12.117:
 * drivers/infiniband/core/uverbs_main.c, user_mad.c; GDRCopy 2.6: insmod.sh. '#' stands for a number.
 */
static const struct device {
	const char *path;
	const char *drivers[2];
	enum minor_kind kind;
	unsigned int minor;
} devices[] = {
	{ "/dev/nvidia#", { "nvidia", "nvidia-frontend" }, MINOR_OF_NAME, 0 },
	{ "/dev/nvidiactl", { "nvidia", "nvidia-frontend" }, MINOR_FIXED, 255 },
	{ "/dev/nvidia-modeset", { "nvidia-modeset", "nvidia-frontend" }, MINOR_FIXED, 254 },
	{ "/dev/nvidia-uvm", { "nvidia-uvm", NULL }, MINOR_FIXED, 0 },
	{ "/dev/nvidia-uvm-tools", { "nvidia-uvm", NULL }, MINOR_FIXED, 1 },
	{ "/dev/nvidia-nvlink", { "nvidia-nvlink", NULL }, MINOR_ANY, 0 },
	{ "/dev/nvidia-nvswitch#", { "nvidia-nvswitch", NULL }, MINOR_OF_NAME, 0 },
	{ "/dev/nvidia-nvswitchctl", { "nvidia-nvswitch", NULL }, MINOR_FIXED, 255 },
	{ "/dev/nvidia-caps/nvidia-cap#", { "nvidia-caps", NULL }, MINOR_OF_NAME, 0 },
	{ "/dev/nvidia-caps-imex-channels/channel#",
	  { "nvidia-caps-imex-channels", NULL },
	  MINOR_OF_NAME,
	  0 },
	{ "/dev/gdrdrv", { "gdrdrv", NULL }, MINOR_FIXED, 0 },
	{ "/dev/infiniband/uverbs#", { "infiniband_verbs", NULL }, MINOR_ANY, 0 },
	{ "/dev/infiniband/umad#", { "infiniband_mad", NULL }, MINOR_ANY, 0 },
	{ "/dev/infiniband/rdma_cm", { "misc", NULL }, MINOR_ANY, 0 },
};

/* NUMBER is the text in place of '#'. */
static bool fits(const char *path, const char *pattern, uint64_t *number)
{
	size_t n = strcspn(pattern, "#");

	*number = 0;
	if (!pattern[n])
		return strcmp(path, pattern) == 0;
	return strncmp(path, pattern, n) == 0 && isdigit((unsigned char)path[n]) &&
	       span_u64(span_of(path + n), 10, number) == 0;
}

bool device_number_of(const struct node *node, const char *path, struct device_number *number)
{
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		const struct device *d = &devices[i];
		uint64_t of_name;

		if (!fits(path, d->path, &of_name))
			continue;
		*number = (struct device_number){ .driver = d->drivers[0] };
		for (size_t k = 0; k < 2 && d->drivers[k] && !number->major; k++)
			number->major = LIST_FIND(&node->dev.majors, d->drivers[k]);
		if (number->major)
			number->driver = number->major->name.value;
		if (d->kind != MINOR_ANY)
			number->minor = fact_u64(d->kind == MINOR_FIXED ? d->minor : of_name);
		return true;
	}
	return false;
}

bool device_has_major(const struct node *node, const struct device_number *number, uint64_t major)
{
	for_each(m, &node->dev.majors)
		if (str_is(m->name, number->driver) && m->major.value == major)
			return true;
	return false;
}
