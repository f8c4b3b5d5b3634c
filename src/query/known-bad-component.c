/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known-bad-component.c - finds the versions of a component on a node. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "parse/version.h"
#include "query/driver-files.h"
#include "query/known-bad.h"
#include "query/module-find.h"
#include "query/node-find.h"

struct finder {
	const struct node *node;
	struct arena *arena;
	struct component_versions *out;
};

static void add(struct finder *f, const char *version, const char *fact, const char *place)
{
	struct component_versions *out = f->out;

	out->state = FACT_KNOWN;
	for (size_t i = 0; i < out->count; i++)
		if (strcmp(out->versions[i].version, version) == 0)
			return;
	if (out->count < COMPONENT_VERSIONS_MAX)
		out->versions[out->count++] = (struct component_version){ version, fact, place };
}

static void add_missing(struct finder *f, const char *fact)
{
	if (f->out->state == FACT_ABSENT)
		f->out->state = FACT_UNKNOWN;
	f->out->missing = fact;
}

/* ---- software ---- */

/* The part of an item's version that its maker counts by. */
static const char *plain_version(const char *name, const char *version)
{
	const char *tail = strstr(version, "OFED.");

	/* libibverbs.so.1.14.50.0 is of rdma-core 50.0. */
	if (strcmp(name, "libibverbs") == 0) {
		for (int i = 0; i < 2 && *version; i++) {
			version += strcspn(version, ".");
			version += *version == '.';
		}
		return *version ? version : NULL;
	}
	/* mlnx-ofed-kernel-24.10.OFED.24.10.1.1.4.1 */
	return tail && isdigit((unsigned char)tail[5]) ? tail + 5 : version;
}

static void add_software(struct finder *f, const char *name)
{
	const struct software_facts *software = &f->node->software;

	if (!was_read(software->items))
		add_missing(f, "software.items");
	for_each(item, &software->items) {
		const char *version, *fact;

		if (!str_is(item->name, name))
			continue;
		fact = software_version_fact(f->arena, item);
		version = is_known(item->version) ? plain_version(name, item->version.value) : NULL;
		if (version) {
			add(f, version, fact, item->path.value);
		} else {
			f->out->state = FACT_KNOWN;
			f->out->unsaid = fact;
		}
	}
	if (f->out->state == FACT_ABSENT && !known_is(software->complete, true))
		add_missing(f, "software.complete");
	/* A wheel says of its library what the library's name does not. */
	if (f->out->count)
		f->out->unsaid = NULL;
}

/* ---- kernel modules ---- */

static bool add_loaded(struct finder *f, const char *module)
{
	const struct module *m = node_module(f->node, module);

	if (!m || !is_known(m->version))
		return false;
	add(f, m->version.value, fact_path(f->arena, "modules.loaded", module, "version"), NULL);
	return true;
}

static void add_file(struct finder *f, const struct module_file *file)
{
	if (file && is_known(file->version))
		add(f, file->version.value,
		    fact_path(f->arena, "modules.files", file->path.value, "version"),
		    file->path.value);
}

/* The loaded module counts; else the one that would be loaded; else the sources to build. A module
 * of the kernel's own has no version, and no row. */
static void add_module(struct finder *f, const char *module, const char *sources)
{
	const struct node *node = f->node;

	if (!was_read(node->modules.loaded))
		add_missing(f, "modules.loaded");
	if (add_loaded(f, module) || node_module(node, module))
		return;
	if (is_known(node->os.kernel))
		add_file(f, module_file_find(node, module, node->os.kernel.value));
	if (!f->out->count)
		add_software(f, sources);
}

static void add_driver(struct finder *f)
{
	const struct node *node = f->node;

	if (is_known(node->driver.version)) {
		add(f, node->driver.version.value, "driver.version", NULL);
		return;
	}
	if (!known_is(node->driver.loaded, false)) {
		add_missing(f, is_known(node->driver.loaded) ? "driver.version" : "driver.loaded");
		return;
	}
	if (!is_known(node->os.kernel))
		return;
	add_file(f, driver_file(node, node->os.kernel.value));
	if (!f->out->count)
		add_software(f, "driver-source");
	if (!f->out->count)
		add_file(f, module_file_elsewhere(node, "nvidia", node->os.kernel.value));
}

/* ---- kernel ---- */

/* Is RELEASE numbered as kernel.org does: 6.12.31-talos? Distributions that keep to one release and take over
 * repairs either end at .0 (5.15.0-122-generic, 5.14.0-427.el9) or are known by their names. */
static bool is_numbered_upstream(const char *release)
{
	static const char *const others[] = {
		".el",	"amzn", "-default", "-preempt", "-azure",
		"-pve", "uek",	"-cray",    "-generic", "-lowlatency"
	};
	char *end;

	strtoul(release, &end, 10);
	if (end == release || *end != '.')
		return false;
	release = end + 1;
	strtoul(release, &end, 10);
	if (end == release || *end != '.' || strtoul(end + 1, NULL, 10) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strstr(end, others[i]))
			return false;
	return true;
}

static void add_kernel(struct finder *f, bool upstream)
{
	const struct fact_str *kernel = &f->node->os.kernel;

	if (!is_known(*kernel))
		add_missing(f, "os.kernel");
	else if (!upstream || is_numbered_upstream(kernel->value))
		add(f, kernel->value, "os.kernel", NULL);
}

/* ---- all ---- */

/* ITEM is the name among the software; MODULE that of a kernel module, whose sources ITEM names then. */
static const struct {
	const char *word;
	const char *name;
	const char *item;
	const char *module;
} components[COMPONENTS] = {
	[COMPONENT_DRIVER] = { "driver", "NVIDIA driver", NULL, NULL },
	[COMPONENT_NCCL] = { "nccl", "NCCL", "nccl", NULL },
	[COMPONENT_NVSHMEM] = { "nvshmem", "NVSHMEM", "nvshmem", NULL },
	[COMPONENT_DEEPEP] = { "deepep", "DeepEP", "deepep", NULL },
	[COMPONENT_GDRCOPY] = { "gdrcopy", "GDRCopy", "gdrdrv-source", "gdrdrv" },
	[COMPONENT_NVIDIA_FS] = { "nvidia-fs", "nvidia-fs", "nvidia-fs-source", "nvidia_fs" },
	[COMPONENT_NV_PEER_MEM] = { "nv-peer-mem", "nv_peer_mem", "nv-peer-mem-source",
				    "nv_peer_mem" },
	[COMPONENT_UCX] = { "ucx", "UCX", "ucx", NULL },
	[COMPONENT_OFED] = { "ofed", "OFED", "ofed", NULL },
	[COMPONENT_RDMA_CORE] = { "rdma-core", "rdma-core", "libibverbs", NULL },
	[COMPONENT_EFA] = { "efa", "EFA driver", "efa-source", "efa" },
	[COMPONENT_AWS_OFI_NCCL] = { "aws-ofi-nccl", "aws-ofi-nccl", "aws-ofi-nccl", NULL },
	[COMPONENT_CONTAINER_TOOLKIT] = { "container-toolkit", "NVIDIA Container Toolkit",
					  "container-toolkit", NULL },
	[COMPONENT_ENROOT] = { "enroot", "enroot", "enroot", NULL },
	[COMPONENT_DKMS] = { "dkms", "DKMS", "dkms", NULL },
	[COMPONENT_KERNEL] = { "kernel", "Linux", NULL, NULL },
	[COMPONENT_KERNEL_ORG] = { "kernel.org", "Linux", NULL, NULL },
	[COMPONENT_CUDA] = { "cuda", "CUDA", "cuda", NULL },
	[COMPONENT_LIBNVIDIA_CONTAINER] = { "libnvidia-container", "libnvidia-container",
					    "libnvidia-container", NULL },
	[COMPONENT_CONTAINERD] = { "containerd", "containerd", "containerd", NULL },
	[COMPONENT_DOCKER] = { "docker", "Docker", "docker", NULL },
	[COMPONENT_PODMAN] = { "podman", "Podman", "podman", NULL },
	[COMPONENT_EFA_INSTALLER] = { "efa-installer", "EFA installer", "efa-installer", NULL },
};

void component_find(const struct node *node, enum component component, struct arena *arena,
		    struct component_versions *versions)
{
	struct finder f = { node, arena, versions };

	*versions = (struct component_versions){ .state = FACT_ABSENT };
	if (component == COMPONENT_DRIVER)
		add_driver(&f);
	else if (component == COMPONENT_KERNEL || component == COMPONENT_KERNEL_ORG)
		add_kernel(&f, component == COMPONENT_KERNEL_ORG);
	else if (components[component].module)
		add_module(&f, components[component].module, components[component].item);
	else
		add_software(&f, components[component].item);
	if (component == COMPONENT_CUDA)
		add_software(&f, "libcudart");
	if (component == COMPONENT_GDRCOPY && versions->state == FACT_ABSENT)
		add_software(&f, "gdrcopy");
}

enum component component_by_name(const char *name)
{
	enum component c = 0;

	while (c < COMPONENTS && strcmp(components[c].word, name) != 0)
		c++;
	return c;
}

const char *component_name(enum component component)
{
	return components[component].name;
}
