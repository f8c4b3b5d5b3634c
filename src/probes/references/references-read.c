/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-read.c - the kinds of files that are searched for names, and the readers of the simple ones. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "parse/unit.h"
#include "probes/references/references.h"

/* ---- sysctl.d ---- */

/* net.ipv4.conf.NAME.arp_ignore and net/ipv4/conf/NAME/arp_ignore: the text between the separators. A name with
 * a dot in it, as of a VLAN, is only in the second form, or has a slash there (sysctl.d(5)). */
static bool interface_of(struct span key, struct span *interface)
{
	static const char *const starts[] = { "net.ipv4.conf.",	 "net.ipv6.conf.",
					      "net.ipv4.neigh.", "net.ipv6.neigh.",
					      "net/ipv4/conf/",	 "net/ipv6/conf/",
					      "net/ipv4/neigh/", "net/ipv6/neigh/" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		char separator = starts[i][3];

		if (!span_starts(key, starts[i]))
			continue;
		key = (struct span){ key.p + strlen(starts[i]), key.n - strlen(starts[i]) };
		interface->p = key.p;
		interface->n = span_find(key, separator);
		return interface->n < key.n && !span_is(*interface, "all") &&
		       !span_is(*interface, "default") &&
		       !memchr(interface->p, '*', interface->n) &&
		       !memchr(interface->p, '/', interface->n);
	}
	return false;
}

static bool is_asked_for(struct span key)
{
	for (const char *const *name = sysctl_names; *name; name++)
		if (span_is(key, *name))
			return true;
	return false;
}

static void read_sysctl(struct references *refs, struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;
	struct span interface;

	while (unit_next(&reader, &a)) {
		/* A leading "-" means that a failure to set it is ignored. */
		bool optional = span_starts(a.key, "-");

		if (optional)
			a.key = (struct span){ a.key.p + 1, a.key.n - 1 };
		if (interface_of(a.key, &interface) && !optional)
			reference_add(refs, REFERENCE_INTERFACE, "interface", interface, NULL,
				      a.line);
		else if (is_asked_for(a.key))
			reference_add(refs, REFERENCE_SETTING, "value", a.key,
				      arena_strndup(refs->arena, a.value.p, a.value.n), a.line);
	}
}

/* ---- nvidia-imex and fabric manager: KEY=VALUE ---- */

struct conf_key {
	const char *key;
	enum reference_kind kind;
};

static void read_keys(struct references *refs, struct span text, const struct conf_key *keys)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;

	while (unit_next(&reader, &a))
		for (const struct conf_key *k = keys; k->key; k++)
			if (span_is(a.key, k->key) && a.value.n)
				reference_add(refs, k->kind, k->key, a.value, NULL, a.line);
}

static void read_imex(struct references *refs, struct span text)
{
	static const struct conf_key keys[] = { { "IMEX_NODE_CONFIG_FILE", REFERENCE_FILE },
						{ "BIND_INTERFACE_IP", REFERENCE_ADDRESS },
						{ "NETWORK_INTERFACE", REFERENCE_INTERFACE },
						{ IMEX_SOCKET_KEY, REFERENCE_FILE },
						{ NULL, 0 } };

	read_keys(refs, text, keys);
	/* The default path, if the file has none. */
	for_each(r, &refs->facts->items)
		if (str_is(r->role, keys[0].key))
			return;
	reference_add(refs, REFERENCE_FILE, keys[0].key, SPAN("/etc/nvidia-imex/nodes_config.cfg"),
		      NULL, 0);
}

static void read_fabric(struct references *refs, struct span text)
{
	static const struct conf_key keys[] = { { "TOPOLOGY_FILE_PATH", REFERENCE_FILE },
						{ "DATABASE_PATH", REFERENCE_FILE },
						{ "BIND_INTERFACE_IP", REFERENCE_ADDRESS },
						{ NULL, 0 } };

	read_keys(refs, text, keys);
}

#define ADDRESSES_MAX 4096 /* bytes; a domain has 18 nodes, 576 at most */

/* Reads addresses, one on each line. One must belong to this node: the daemon finds itself by it. */
static void read_imex_nodes(struct references *refs, struct span text)
{
	char *all = arena_alloc(refs->arena, ADDRESSES_MAX);
	struct span line, word;
	size_t n = 0, first = 0;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++) {
		if (!span_word(&line, &word) || word.p[0] == '#')
			continue;
		/* A name would have to be looked up. */
		if (n + word.n + 2 > ADDRESSES_MAX ||
		    strspn(word.p, "0123456789abcdefABCDEF.:") < word.n) {
			refs->complete = false;
			return;
		}
		first = first ? first : number;
		if (n)
			all[n++] = ' ';
		memcpy(all + n, word.p, word.n);
		n += word.n;
	}
	/* An empty list has no address of this node either. */
	if (!n)
		n = (size_t)snprintf(all, ADDRESSES_MAX, "%s", "(empty list)");
	reference_add(refs, REFERENCE_ADDRESS, "own address", (struct span){ all, n }, NULL,
		      first ? first : 1);
}

/* limits/memlock has what the lines set; here they are only compared. */
static void read_limits(struct references *refs, struct span text)
{
	(void)refs;
	(void)text;
}

/* ---- the kinds ---- */

static const char *const limits_files[] = { "/etc/security/limits.conf", NULL };
static const char *const limits_folders[] = { "/etc/security/limits.d", NULL };

static const char *const cdi_folders[] = { "/etc/cdi", "/run/cdi", NULL };
static const char *const toolkit_files[] = { "/etc/nvidia-container-runtime/config.toml",
					     "/usr/local/nvidia/toolkit/.config/"
					     "nvidia-container-runtime/config.toml",
					     "/run/nvidia/toolkit/.config/"
					     "nvidia-container-runtime/config.toml",
					     "/usr/local/etc/nvidia-container-runtime/config.toml",
					     NULL };
/* Hooks that CRI-O and Podman run (containers/common: pkg/hooks/docs/oci-hooks.5.md). */
static const char *const hook_folders[] = { "/usr/share/containers/oci/hooks.d",
					    "/etc/containers/oci/hooks.d", NULL };
static const char *const docker_files[] = { "/etc/docker/daemon.json", NULL };
/* k3s and RKE2 bring a containerd of their own. */
static const char *const containerd_files[] = {
	"/etc/containerd/config.toml",
	"/etc/crio/crio.conf",
	"/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
	"/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
	NULL,
};
static const char *const containerd_folders[] = {
	"/etc/containerd/conf.d",
	"/etc/crio/crio.conf.d",
	"/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d",
	"/var/lib/rancher/rke2/agent/etc/containerd/config-v3.toml.d",
	NULL,
};
/* Without a file of its own slurmd keeps the one that slurmctld sent (slurm.conf(5), configless). */
static const char *const gres_files[] = { "/etc/slurm/gres.conf", "/etc/slurm-llnl/gres.conf",
					  "/run/slurm/conf/gres.conf",
					  "/var/spool/slurmd/conf-cache/gres.conf", NULL };
static const char *const slurm_files[] = { "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
					   "/run/slurm/conf/slurm.conf",
					   "/var/spool/slurmd/conf-cache/slurm.conf", NULL };
static const char *const cgroup_files[] = { "/etc/slurm/cgroup.conf", "/etc/slurm-llnl/cgroup.conf",
					    "/run/slurm/conf/cgroup.conf",
					    "/var/spool/slurmd/conf-cache/cgroup.conf", NULL };
static const char *const spank_files[] = { "/etc/slurm/plugstack.conf",
					   "/etc/slurm-llnl/plugstack.conf",
					   "/run/slurm/conf/plugstack.conf",
					   "/var/spool/slurmd/conf-cache/plugstack.conf", NULL };
static const char *const spank_folders[] = { "/etc/slurm/plugstack.conf.d",
					     "/etc/slurm-llnl/plugstack.conf.d", NULL };
static const char *const sysctl_files[] = { "/etc/sysctl.conf", NULL };
static const char *const imex_files[] = { "/etc/nvidia-imex/config.cfg", NULL };
static const char *const imex_nodes[] = { "/etc/nvidia-imex/nodes_config.cfg", NULL };
static const char *const fabric_files[] = { "/usr/share/nvidia/nvswitch/fabricmanager.cfg", NULL };

/* Proxmox VE keeps a file for each container (pct.conf(5)). */
static const char *const lxc_folders[] = { "/etc/pve/lxc", NULL };

const struct reference_source reference_sources[] = {
	{ REFERENCE_CDI, cdi_folders, ".yaml", reference_read_cdi, NULL, NULL },
	{ REFERENCE_CDI, cdi_folders, ".yml", reference_read_cdi, NULL, NULL },
	{ REFERENCE_CDI, cdi_folders, ".json", reference_read_cdi, NULL, NULL },
	{ REFERENCE_TOOLKIT, toolkit_files, NULL, reference_read_toolkit, NULL, NULL },
	{ REFERENCE_ENGINE, docker_files, NULL, reference_read_docker, NULL, NULL },
	{ REFERENCE_ENGINE, hook_folders, ".json", reference_read_hook, NULL, NULL },
	{ REFERENCE_ENGINE, containerd_files, NULL, reference_read_containerd, NULL, NULL },
	{ REFERENCE_ENGINE, containerd_folders, ".toml", reference_read_containerd, NULL, NULL },
	{ REFERENCE_ENGINE, containerd_folders, ".conf", reference_read_containerd, NULL, NULL },
	{ REFERENCE_GRES, gres_files, NULL, reference_read_gres, NULL, NULL },
	{ REFERENCE_GRES, slurm_files, NULL, reference_read_slurm, NULL, NULL },
	{ REFERENCE_GRES, cgroup_files, NULL, reference_read_slurm_cgroup, NULL, NULL },
	{ REFERENCE_SPANK, spank_files, NULL, reference_read_spank, NULL, NULL },
	{ REFERENCE_SPANK, spank_folders, ".conf", reference_read_spank, NULL, NULL },
	{ REFERENCE_SYSCTL, NULL, ".conf", read_sysctl, "", "sysctl.d" },
	{ REFERENCE_SYSCTL, sysctl_files, NULL, read_sysctl, NULL, NULL },
	{ REFERENCE_UDEV, NULL, ".rules", reference_read_udev, "udev/", "rules.d" },
	{ REFERENCE_IMEX, imex_files, NULL, read_imex, NULL, NULL },
	{ REFERENCE_IMEX, imex_nodes, NULL, read_imex_nodes, NULL, NULL },
	{ REFERENCE_FABRIC, fabric_files, NULL, read_fabric, NULL, NULL },
	{ REFERENCE_LIMITS, limits_files, NULL, read_limits, NULL, NULL },
	{ REFERENCE_LIMITS, limits_folders, ".conf", read_limits, NULL, NULL },
	{ REFERENCE_LXC, lxc_folders, ".conf", reference_read_lxc, NULL, NULL },
	{ 0, NULL, NULL, NULL, NULL, NULL },
};
