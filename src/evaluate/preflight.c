/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preflight.c - the facts that preflight does not read, because a prolog has no time for them. */
#include "evaluate/preflight.h"

#include <fnmatch.h>
#include <stddef.h>

/* Rules of severity err and crit. Help, nvnodecheck-rules(7) and the tests read this table: a case in which doctor
 * finds such an error and preflight does not needs a row here. */
const struct preflight_omission preflight_omissions[] = {
	{ "what the next boot or the next load of the driver will do: modprobe.d, initramfs, boot loader, "
	  "modules on disk",
	  { "boot/*", "driver/params-configured-not-live", "driver/registrydwords-*",
	    "modules/depmod-stale", "modules/modprobe-target-missing", "modules/*-not-built-*",
	    "modules/peermem-stub", "modules/peermem-unloadable", "modules/peermem-params",
	    "modules/will-not-load", "modules/nvidia-versions-differ" } },
	{ "modules that a file loads at boot, and so what is in use outside of the node's profiles",
	  { "modules/peermem-not-loaded" } },
	{ "versions of packages and libraries",
	  { "software/*", "driver/too-old-for-cuda", "driver/compat-libcuda-older",
	    "driver/libraries-missing", "driver/geforce-no-gpudirect",
	    "rdma/userspace-provider-missing", "rdma/provider-other-release",
	    "rdma/device-renamed-not-mlx5", "rdma/gdaki-kernel-floor",
	    "services/fabricmanager-version-mismatch", "rdma/nic-unsupported-for-ibgda",
	    "env/cross-nic-with-gin", "gpu/arch-below-sm90", "env/nccl-features-off",
	    "rdma/mtu-small" } },
	{ "GIDs of RDMA ports, network interfaces, and what variables select of them",
	  { "rdma/no-rocev2-gid", "rdma/gid-no-netdev", "rdma/device-missing",
	    "env/gid-index-wrong", "env/hca-selection", "env/socket-ifname", "env/file-missing",
	    "env/topology-file-rejected" } },
	{ "BARs of NICs, and those that vfio-pci has", { "pci/bar-unassigned", "pci/bar-held" } },
	{ "adapters of other makers that have no RDMA device",
	  { "rdma/no-devices", "modules/nic-rdma-not-loaded" } },
	{ "device files of NICs, and the configuration of container engines",
	  { "dev/infiniband-not-accessible", "dev/cdi-stale", "dev/container-runtime-missing",
	    "dev/cdi-missing", "dev/cdi-devices", "dev/cdi-version", "dev/toolkit-*",
	    "dev/engine-config", "sysctl/user-namespaces-off" } },
	{ "services other than nvidia-fabricmanager, and their configuration files",
	  { "services/daemon-down", "services/configuration-*", "services/gres-*",
	    "services/slurm-*", "services/imex-*" } },
	{ "how the kernel was built, and what that means for DMA-BUF",
	  { "kernel/lacks-config", "kernel/config-p2pdma-missing", "modules/peermem-*" } },
	{ "limits of programs that did not start preflight", { "limits/memlock" } },
	{ "whether a container engine runs, which opens device nodes as root",
	  { "dev/group-without-users" } },
	{ "whether GPUs that no driver has are held for virtual machines on purpose",
	  { "modules/gpu-bound-vfio", "driver/loaded" } },
	{ NULL, { NULL } },
};

const char *preflight_omission_of(const char *rule)
{
	for (const struct preflight_omission *o = preflight_omissions; o->what; o++)
		for (size_t i = 0; o->rules[i]; i++)
			if (fnmatch(o->rules[i], rule, 0) == 0)
				return o->what;
	return NULL;
}
