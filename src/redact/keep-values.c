/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-values.c - values of facts: mounts, variables. */
#include <ctype.h>
#include <string.h>

#include "redact/keep-private.h"

/* SERVER:/EXPORT, //SERVER/SHARE; a sole "*" matches any. */
static void put_export(struct keeping *k, struct span source)
{
	while (source.n) {
		size_t n = 0;

		while (n < source.n && !strchr(":/", source.p[n]))
			n++;
		if (n == 1 && source.p[0] == '*')
			putc('*', k->out);
		else if (n)
			keep_instead(k, (struct span){ source.p, n });
		for (; n < source.n && strchr(":/", source.p[n]); n++)
			putc(source.p[n], k->out);
		source = (struct span){ source.p + n, source.n - n };
	}
}

/* A device of this machine, a file system without one; a server's name and its exports are
 * private. */
void keep_mount_source(struct keeping *k, struct span source)
{
	static const char *const devices[] = {
		"/dev/nvme*", "/dev/sd*", "/dev/vd*",	 "/dev/xvd*", "/dev/md*", "/dev/loop*",
		"/dev/ram*",  "*fs",	  "bpf",	 "cgroup*",   "devpts",	  "fusectl",
		"mqueue",     "none",	  "nvidia*",	 "overlay",   "proc",	  "shm",
		"systemd-1",  "udev",	  "binfmt_misc", NULL
	};

	if (keep_has(devices, source) && !span_search(source, ":"))
		keep_free_text(k, source);
	else
		put_export(k, source);
}

/* noexec, x-systemd.automount: names of a file system's options. */
static bool is_option_name(struct span name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!islower((unsigned char)name.p[i]) && !isdigit((unsigned char)name.p[i]) &&
		    !strchr("_-.", name.p[i]))
			return false;
	return name.n && name.n < 32;
}

void keep_mount_options(struct keeping *k, struct span options)
{
	/* Numbers that are no user, and no password. */
	static const char *const values[] = {
		"size",		"nr_inodes", "mode",	  "pagesize", "vers",	  "nfsvers",
		"minorversion", "rsize",     "wsize",	  "bsize",    "timeo",	  "retrans",
		"nconnect",	"max_read",  "blksize",	  "huge",     "msize",	  "commit",
		"dax",		"gid",	     "acregmin",  "acregmax", "acdirmin", "acdirmax",
		"sec",		"port",	     "mountport", "fd",	      "pgrp",	  "timeout",
		"minproto",	"maxproto",  "subvolid",  "stripe",   NULL
	};
	struct span option;

	while (span_cut(&options, ',', &option)) {
		size_t equals = span_find(option, '=');
		struct span name = { option.p, equals };
		struct span value = { option.p + equals + 1, option.n - equals - 1 };

		(is_option_name(name) ? keep_free_text : keep_instead)(k, name);
		if (equals < option.n) {
			putc('=', k->out);
			(keep_is_plain(value) && keep_has(values, name) ? keep_as_it_is
									: keep_instead)(k, value);
		}
		if (option.p + option.n < options.p)
			putc(',', k->out);
	}
}

/* Variables that rules read, each by its name: another program's can begin in the same way (MC_HOST_s3 is of MinIO's
 * client). Their values are names of devices, interfaces and
 * transports; of other variables numbers stay. */
static const char *const variables[] = {
	"CUDA_VISIBLE_DEVICES",
	"EP_NIC_NAME",
	"FI_PROVIDER",
	"GLOO_SOCKET_IFNAME",
	"NCCL_ALGO",
	"NCCL_DEBUG",
	"NCCL_IB_ADDR_FAMILY",
	"NCCL_IB_ADDR_RANGE",
	"NCCL_IB_HCA",
	"NCCL_NET",
	"NCCL_NET_GDR_LEVEL",
	"NCCL_NET_PLUGIN",
	"NCCL_P2P_LEVEL",
	"NCCL_PROTO",
	"NCCL_SOCKET_IFNAME",
	"NVIDIA_DRIVER_CAPABILITIES",
	"NVIDIA_VISIBLE_DEVICES",
	"NVSHMEM_BOOTSTRAP",
	"NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY",
	"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
	"NVSHMEM_HCA_LIST",
	"NVSHMEM_HCA_PE_MAPPING",
	"NVSHMEM_HCA_PREFIX",
	"NVSHMEM_IBGDA_NIC_HANDLER",
	"NVSHMEM_IB_ADDR_FAMILY",
	"NVSHMEM_IB_ADDR_RANGE",
	"NVSHMEM_REMOTE_TRANSPORT",
	"OMPI_MCA_btl_tcp_if_include",
	"OMPI_MCA_oob_tcp_if_include",
	"TP_SOCKET_IFNAME",
	"UCX_NET_DEVICES",
	"UCX_TLS",
	NULL,
};

#define DEVICE_NAME_MAX 40

/* One item "mlx5_0:1:2" or "10.0.0.0/8": after a colon, numbers and words of the libraries stay. A password can follow
 * a colon, too. */
static bool is_device(struct span item)
{
	static const char *const words[] = { "aux", "ring",  "tree",   "collnet*", "nvls*", "pat",
					     "ll",  "ll128", "simple", "mlx5",	   NULL };
	struct span part;
	bool first = true;

	while (span_cut(&item, ':', &part)) {
		for (size_t i = 0; i < part.n; i++)
			if (!isalnum((unsigned char)part.p[i]) && !strchr("_.-*?/", part.p[i]))
				return false;
		if (part.n > DEVICE_NAME_MAX ||
		    (!first && !keep_is_plain(part) && !keep_has(words, part)))
			return false;
		first = false;
	}
	return true;
}

/* Names of devices, interfaces and transports, with the signs before and between them. */
static void put_devices(struct keeping *k, struct span value)
{
	while (value.n) {
		size_t n = 0;

		while (n < value.n && !strchr(", ;^=\\\"+", value.p[n]))
			n++;
		if (n)
			(is_device((struct span){ value.p, n }) ? keep_free_text : keep_instead)(
				k, (struct span){ value.p, n });
		if (n < value.n)
			putc(value.p[n++], k->out);
		value = (struct span){ value.p + n, value.n - n };
	}
}

void keep_variable(struct keeping *k, struct span name, struct span value)
{
	if (keep_names_secret(name))
		keep_instead(k, value);
	else if (span_ends(name, "PATH") || span_is(name, "LD_PRELOAD"))
		keep_paths(k, value);
	else if (value.n && value.p[0] == '/')
		keep_path_value(k, value);
	else if (!value.n || keep_is_plain(value))
		keep_free_text(k, value);
	else if (keep_has(variables, name))
		put_devices(k, value);
	else
		keep_instead(k, value);
}
