/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capabilities.c - the rights of this process, capabilities(7). */
#include "provers/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* capget(2): the C library has no wrapper, and libcap would be a library for two calls. */
bool capabilities_has_sys_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

bool capabilities_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* A program that root starts would have them all again (nvidia-modprobe, by libcuda). */
	for (int i = 0; i <= CAP_LAST_CAP; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	return syscall(SYS_capset, &header, none) == 0;
}
