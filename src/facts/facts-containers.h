/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-containers.h - the way of container engines to the GPUs. Part of facts.h, which includes it. */
#ifndef FACTS_CONTAINERS_H
#define FACTS_CONTAINERS_H

#include "facts/fact.h"

/* ---- containers: the way of container engines to the GPUs ---- */

struct cdi_spec {
	struct fact_str path;		/* of the specification */
	struct fact_str driver_version; /* version of its libraries; absent: it names none */
	struct fact_str cdi_version;	/* version of its format: 0.5.0 */
};

/* Configuration of a container engine. Its other content is not kept: it can have passwords. */
struct engine_config {
	struct fact_str path;	 /* of the file */
	struct fact_bool nvidia; /* names NVIDIA's runtime, hook or CDI devices */
};

/* What an engine wrote in this boot about NVIDIA's programs or CDI, once for each cause. ORDERED: as they were written. */
struct engine_message {
	/* The program that wrote it, by its tag: dockerd. Any user can write lines with any tag. */
	struct fact_str program;
	struct fact_str text; /* of the last such line, from the error on */
	/* Time of that line, as the log has it; absent: the journal's text has none. */
	struct fact_str time;
	struct fact_u64 count; /* how many such lines */
	struct fact_str file;  /* journal, /var/log/syslog, /var/log/messages */
};

struct containers_facts {
	struct fact_str toolkit; /* path of a program of the NVIDIA Container Toolkit */
	/* its hook opens no device for a container; absent: not said */
	struct fact_bool no_cgroups;
	/* True if only version 2 of control groups is mounted; absent: version 1, or both. */
	struct fact_bool cgroup2;
	/* SELinux refuses accesses that its policy does not allow; absent: it is not in the kernel, or off. */
	struct fact_bool selinux_enforcing;
	/* One of SELinux' booleans container_use_devices and container_use_xserver_devices: containers may open the
	 * GPUs; absent: its policy has none. */
	struct fact_bool container_use_devices;
	/* The kubelet starts its pods by Docker; absent: no kubelet runs. */
	struct fact_bool kubelet_uses_docker;
	LIST(struct cdi_spec) cdi; /* Container Device Interface: those of nvidia.com */
	LIST(struct engine_config) configs;
	/* The kubelet's folder of pods; absent: none. */
	struct fact_str kubelet;
	/* Folders of its plugins, by their drivers' names: compute-domain.nvidia.com */
	LIST(const char *) kubelet_plugins;
	/* Sockets of its device plugins, and its own (kubelet.sock) */
	LIST(const char *) device_plugins;
	/* True if the kubelet's checkpoint has a resource of NVIDIA or one whose name ends with gpu; absent: no
	 * checkpoint. */
	struct fact_bool gpu_resource;
	/* Traces of a Docker that a user other than root runs: /proc/1402/status of its process, daemon.json with
	 * NVIDIA's runtime or docker.service in the user's ~/.config. Unknown: processes or homes are hidden. */
	LIST(const char *) rootless;
	/* Files config.json of users that select Docker Desktop's context; absent: the node's Docker is not set up for
	 * GPUs. */
	LIST(const char *) docker_desktop;
	/* The last messages of Docker, containerd, CRI-O, Podman and the kubelet; unknown: no log could be read. */
	LIST(struct engine_message) messages;
};

#endif
