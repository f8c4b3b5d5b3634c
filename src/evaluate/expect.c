/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expect.c - the keys of [expect]: what each looks at. */
#include "evaluate/expect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "query/topology.h"

/* ---- seeing ---- */

static void see(struct expect_look *l, const char *subject, struct fact_str value, const char *fact)
{
	*LIST_ADD(l->arena, &l->seen) = (struct expect_seen){
		.subject = subject,
		.state = value.state,
		.value = is_known(value) ? value.value : "",
		.fact = fact,
	};
}

static struct fact_str number(struct expect_look *l, enum fact_state state, uint64_t value)
{
	struct fact_str text = { .state = state };

	if (state == FACT_KNOWN)
		text.value = arena_printf(l->arena, "%" PRIu64, value);
	return text;
}

static void see_number(struct expect_look *l, struct fact_u64 value, const char *fact)
{
	see(l, NULL, number(l, value.state, value.value), fact);
}

static void see_count(struct expect_look *l, enum fact_state state, size_t count, const char *fact)
{
	see(l, NULL, number(l, state, count), fact);
}

/* Treats an unknown list as one unknown value. */
static bool see_no_list(struct expect_look *l, enum fact_state state, const char *fact)
{
	if (state != FACT_UNKNOWN)
		return false;
	see(l, NULL, (struct fact_str){ 0 }, fact);
	return true;
}

/* ---- GPUs and driver ---- */

static void look_gpu_count(struct expect_look *l)
{
	see_count(l, is_unknown(l->node->pci.devices) ? FACT_UNKNOWN : FACT_KNOWN,
		  topology_gpus(l->node), "pci.devices");
}

/* Without the driver these do not exist, which says nothing about the GPU. */
static void read_gpu(struct expect_look *l, const char *field,
		     struct fact_str (*value)(const struct gpu *gpu))
{
	l->none = "no NVIDIA GPU";
	if (see_no_list(l, l->node->gpu.devices.state, "gpu.devices"))
		return;
	for_each(gpu, &l->node->gpu.devices) {
		struct fact_str text = value(gpu);

		see(l, gpu->bdf.value, is_known(text) ? text : (struct fact_str){ 0 },
		    arena_printf(l->arena, "gpu.devices[%s].%s", gpu->bdf.value, field));
	}
}

static struct fact_str model_of(const struct gpu *gpu)
{
	return gpu->model;
}

static struct fact_str video_bios_of(const struct gpu *gpu)
{
	return gpu->video_bios;
}

static void look_gpu_model(struct expect_look *l)
{
	read_gpu(l, "model", model_of);
}

static void look_gpu_vbios(struct expect_look *l)
{
	read_gpu(l, "video_bios", video_bios_of);
}

/* Reads a value of NVML (--nvml) from every GPU that the driver shows. */
static void read_nvml(struct expect_look *l, const char *field,
		      struct fact_str (*value)(struct expect_look *l, const struct nvml_gpu *gpu))
{
	l->none = "the driver shows no GPU";
	if (see_no_list(l, l->node->nvml.gpus.state, "nvml.gpus"))
		return;
	for_each(gpu, &l->node->nvml.gpus)
		see(l, gpu->bdf.value, value(l, gpu),
		    fact_path(l->arena, "nvml.gpus", gpu->bdf.value, field));
}

static struct fact_str on_or_off(struct fact_bool flag)
{
	return (struct fact_str){ flag.state, flag.value ? "on" : "off" };
}

static struct fact_str ecc_of(struct expect_look *l, const struct nvml_gpu *gpu)
{
	(void)l;
	return on_or_off(gpu->ecc.enabled);
}

static struct fact_str mig_of(struct expect_look *l, const struct nvml_gpu *gpu)
{
	(void)l;
	return on_or_off(gpu->mig);
}

static struct fact_str power_of(struct expect_look *l, const struct nvml_gpu *gpu)
{
	return number(l, gpu->clocks.power_limit_mw.state, gpu->clocks.power_limit_mw.value / 1000);
}

static struct fact_str nvlinks_of(struct expect_look *l, const struct nvml_gpu *gpu)
{
	uint64_t active = 0;

	for_each(link, &gpu->links) {
		if (is_unknown(link->active))
			return (struct fact_str){ 0 };
		active += known_is(link->active, true);
	}
	return number(l, is_unknown(gpu->links) ? FACT_UNKNOWN : FACT_KNOWN, active);
}

static void look_ecc(struct expect_look *l)
{
	read_nvml(l, "ecc.enabled", ecc_of);
}

static void look_mig(struct expect_look *l)
{
	read_nvml(l, "mig", mig_of);
}

static void look_power(struct expect_look *l)
{
	read_nvml(l, "clocks.power_limit_mw", power_of);
}

static void look_nvlinks(struct expect_look *l)
{
	read_nvml(l, "links", nvlinks_of);
}

static void look_driver_version(struct expect_look *l)
{
	see(l, NULL, l->node->driver.version, "driver.version");
}

static void look_driver_flavour(struct expect_look *l)
{
	struct fact_enum flavour = l->node->driver.flavour;
	struct fact_str text = { .state = flavour.state };

	if (is_known(flavour))
		text.value = driver_flavour_words[flavour.value];
	see(l, NULL, text, "driver.flavour");
}

/* ---- NICs ---- */

static void look_nic_count(struct expect_look *l)
{
	/* The folder does not exist without RDMA devices: an absent list counts as none. */
	see_count(l, is_unknown(l->node->rdma.devices) ? FACT_UNKNOWN : FACT_KNOWN,
		  l->node->rdma.devices.count, "rdma.devices");
}

static void look_nic_firmware(struct expect_look *l)
{
	l->none = "no RDMA device";
	if (see_no_list(l, l->node->rdma.devices.state, "rdma.devices"))
		return;
	for_each(d, &l->node->rdma.devices)
		if (!is_absent(d->bdf)) /* soft RDMA has none */
			see(l, d->name.value, d->firmware,
			    arena_printf(l->arena, "rdma.devices[%s].firmware", d->name.value));
}

static bool is_active(const struct rdma_port *port)
{
	return known_is(port->state, RDMA_PORT_ACTIVE);
}

static void look_ports_active(struct expect_look *l)
{
	enum fact_state state = is_unknown(l->node->rdma.devices) ? FACT_UNKNOWN : FACT_KNOWN;
	size_t n = 0;

	for_each(d, &l->node->rdma.devices) {
		if (is_unknown(d->ports))
			state = FACT_UNKNOWN;
		for_each(p, &d->ports) {
			if (is_unknown(p->state))
				state = FACT_UNKNOWN;
			n += is_active(p);
		}
	}
	see_count(l, state, n, "rdma.devices");
}

typedef struct fact_str port_value(struct expect_look *l, const struct rdma_port *port);

static void read_ports(struct expect_look *l, bool active_only, const char *field,
		       port_value *value)
{
	if (see_no_list(l, l->node->rdma.devices.state, "rdma.devices"))
		return;
	for_each(d, &l->node->rdma.devices) {
		for_each(p, &d->ports) {
			bool counts = !active_only || is_active(p) || is_unknown(p->state);

			if (counts)
				see(l,
				    arena_printf(l->arena, "%s/%" PRIu64, d->name.value,
						 p->port.value),
				    is_unknown(p->state) && active_only ? (struct fact_str){ 0 }
									: value(l, p),
				    arena_printf(l->arena, "rdma.devices[%s].ports[%" PRIu64 "].%s",
						 d->name.value, p->port.value, field));
		}
	}
}

static struct fact_str rate_of(struct expect_look *l, const struct rdma_port *port)
{
	return number(l, port->rate_mbps.state, port->rate_mbps.value / 1000);
}

static struct fact_str link_layer_of(struct expect_look *l, const struct rdma_port *port)
{
	(void)l;
	return port->link_layer;
}

static void look_port_rate(struct expect_look *l)
{
	l->none = l->node->rdma.devices.count ? "no RDMA port is active" : "no RDMA device";
	read_ports(l, true, "rate_mbps", rate_of);
}

static void look_link_layer(struct expect_look *l)
{
	l->none = "no RDMA port";
	read_ports(l, false, "link_layer", link_layer_of);
}

/* ---- the machine ---- */

static void look_product(struct expect_look *l)
{
	see(l, NULL, l->node->os.product, "os.product");
}

static void look_kernel(struct expect_look *l)
{
	see(l, NULL, l->node->os.kernel, "os.kernel");
}

/* The kernel reports less memory than is installed, because firmware reserves some. */
static void look_memory(struct expect_look *l)
{
	struct fact_u64 gib = l->node->os.memory_bytes;

	gib.value >>= 30;
	see_number(l, gib, "os.memory_bytes");
}

static void look_cpus(struct expect_look *l)
{
	see_number(l, l->node->os.cpus, "os.cpus");
}

static void look_numa_nodes(struct expect_look *l)
{
	see_count(l, l->node->numa.nodes.state, l->node->numa.nodes.count, "numa.nodes");
}

/* ---- keys with an argument ---- */

/* 2M, 1G, 64k. 0: not a size. */
static uint64_t page_size(const char *text)
{
	static const char units[] = "KMG";
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1] & ~0x20) : NULL;
	uint64_t size;

	if (!unit || !*unit || span_u64((struct span){ text, n - 1 }, 10, &size) || size > 1 << 20)
		return 0;
	return size << 10 * (unit - units + 1);
}

static void look_hugepages(struct expect_look *l)
{
	uint64_t size = page_size(l->argument);

	if (see_no_list(l, l->node->os.hugepages.state, "os.hugepages"))
		return;
	for_each(h, &l->node->os.hugepages)
		if (known_is(h->size_bytes, size))
			see_number(l, h->pages,
				   arena_printf(l->arena, "os.hugepages[%" PRIu64 "].pages", size));
	l->none = "this kernel has no huge pages of that size";
}

static const char *next_hugepages(const struct node *node, uint32_t *i, struct arena *arena)
{
	while (*i < node->os.hugepages.count) {
		const struct hugepages *h = &node->os.hugepages.items[(*i)++];
		uint64_t size = h->size_bytes.value;
		unsigned int unit = 0;

		if (!is_known(h->size_bytes) || !is_known(h->pages) || !h->pages.value ||
		    size < 1024)
			continue;
		for (size >>= 10; size % 1024 == 0 && unit < 2; size >>= 10)
			unit++;
		return arena_printf(arena, "%" PRIu64 "%c", size, "KMG"[unit]);
	}
	return NULL;
}

static const char *refuse_page_size(const char *argument)
{
	return page_size(argument) ? NULL : "hugepages.2M or another size";
}

static void look_sysctl(struct expect_look *l)
{
	for_each(s, &l->node->os.sysctls)
		if (str_is(s->name, l->argument))
			see(l, NULL, s->value,
			    arena_printf(l->arena, "os.sysctls[%s].value", l->argument));
	if (!l->seen.count)
		see_no_list(l, FACT_UNKNOWN, "os.sysctls");
}

static const char *next_sysctl(const struct node *node, uint32_t *i, struct arena *arena)
{
	(void)arena;
	while (*i < node->os.sysctls.count) {
		const struct sysctl *s = &node->os.sysctls.items[(*i)++];

		/* The pools of huge pages have keys of their own. */
		if (is_known(s->value) && !str_is(s->name, "vm.nr_hugepages"))
			return s->name.value;
	}
	return NULL;
}

static const char *refuse_sysctl(const char *argument)
{
	for (size_t i = 0; sysctl_names[i]; i++)
		if (strcmp(sysctl_names[i], argument) == 0)
			return NULL;
	return "a sysctl that 'nvnodecheck facts os.sysctls' lists";
}

static void look_mount(struct expect_look *l)
{
	const char *fact = arena_printf(l->arena, "os.mounts[%s]", l->argument);

	if (see_no_list(l, l->node->os.mounts.state, "os.mounts"))
		return;
	l->none = "no file system is mounted there";
	for_each(m, &l->node->os.mounts) {
		struct fact_str text = { 0 };

		if (!str_is(m->point, l->argument))
			continue;
		if (is_known(m->type) && is_known(m->options) && is_known(m->source))
			text = fact_str(l->arena, arena_printf(l->arena, "%s %s %s", m->type.value,
							       m->options.value, m->source.value));
		see(l, NULL, text, arena_printf(l->arena, "%s.type", fact));
	}
}

/* File systems that hold something: a node that lacks one is another node. */
static bool holds_files(const struct mount_point *mount)
{
	static const char *const types[] = {
		"ext4",	    "xfs",	 "btrfs",  "zfs",    "nfs",    "nfs4",
		"cifs",	    "smb3",	 "lustre", "gpfs",   "ceph",   "9p",
		"virtiofs", "hugetlbfs", "pvfs2",  "beegfs", "wekafs", "vast",
	};

	if (str_starts(mount->type, "fuse.") && !str_is(mount->type, "fuse.lxcfs") &&
	    !str_is(mount->type, "fuse.portal") && !str_is(mount->type, "fuse.gvfsd-fuse"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_is(mount->type, types[i]))
			return true;
	return false;
}

static const char *next_mount(const struct node *node, uint32_t *i, struct arena *arena)
{
	(void)arena;
	while (*i < node->os.mounts.count) {
		const struct mount_point *m = &node->os.mounts.items[(*i)++];

		/* "=", ":" and blanks would end the key; media come and go. */
		if (holds_files(m) && !strpbrk(m->point.value, "=: \t\r\n#;[]") &&
		    !str_starts(m->point, "/media/") && !str_starts(m->point, "/mnt/usb"))
			return m->point.value;
	}
	return NULL;
}

static const char *refuse_mount(const char *argument)
{
	return argument[0] == '/' ? NULL : "mount./PATH";
}

/* ---- the table ---- */

const struct expect_key expect_keys[] = {
	{ "gpu-count", EXPECT_NUMBER, NULL, "gpu-count = 8", "pci.devices",
	  "NVIDIA GPUs on the PCI bus.", look_gpu_count, NULL, NULL },
	{ "gpu-model", EXPECT_TEXT, NULL, "gpu-model = H200", "gpu.devices",
	  "What every GPU's model contains, as whole words.", look_gpu_model, NULL, NULL },
	{ "gpu-vbios", EXPECT_VERSION, NULL, "gpu-vbios = 96.00.*", "gpu.devices",
	  "Video BIOS of every GPU.", look_gpu_vbios, NULL, NULL },
	{ "gpu-ecc", EXPECT_WORD, "on, off", "gpu-ecc = on", "nvml.gpus",
	  "ECC of every GPU: on or off. Known only with --nvml.", look_ecc, NULL, NULL },
	{ "gpu-mig", EXPECT_WORD, "on, off", "gpu-mig = off", "nvml.gpus",
	  "MIG mode of every GPU: on or off. Known only with --nvml.", look_mig, NULL, NULL },
	{ "gpu-power-limit", EXPECT_NUMBER, NULL, "gpu-power-limit = 700", "nvml.gpus",
	  "Power limit of every GPU, in W. Known only with --nvml.", look_power, NULL, NULL },
	{ "nvlinks-active", EXPECT_NUMBER, NULL, "nvlinks-active = 18", "nvml.gpus",
	  "NVLinks of every GPU that are up. Known only with --nvml.", look_nvlinks, NULL, NULL },
	{ "driver-version", EXPECT_VERSION, NULL, "driver-version = >=570 <590", "driver.version",
	  "Version of the NVIDIA driver that is loaded.", look_driver_version, NULL, NULL },
	{ "driver-flavour", EXPECT_WORD, "open, proprietary", "driver-flavour = open",
	  "driver.flavour", "Kind of its kernel modules: open or proprietary.", look_driver_flavour,
	  NULL, NULL },
	{ "nic-count", EXPECT_NUMBER, NULL, "nic-count = 8", "rdma.devices", "RDMA devices.",
	  look_nic_count, NULL, NULL },
	{ "nic-firmware", EXPECT_VERSION, NULL, "nic-firmware = 28.39.2048", "rdma.devices",
	  "Firmware of every RDMA device.", look_nic_firmware, NULL, NULL },
	{ "port-rate-gbps", EXPECT_NUMBER, NULL, "port-rate-gbps = 8 x 400, 2 x 100",
	  "rdma.devices", "Rate of every RDMA port that is active, in Gb/s.", look_port_rate, NULL,
	  NULL },
	{ "ports-active", EXPECT_NUMBER, NULL, "ports-active = 8", "rdma.devices",
	  "RDMA ports in state ACTIVE.", look_ports_active, NULL, NULL },
	{ "link-layer", EXPECT_WORD, "InfiniBand, Ethernet", "link-layer = InfiniBand",
	  "rdma.devices", "Link layer of every RDMA port: InfiniBand, Ethernet.", look_link_layer,
	  NULL, NULL },
	{ "product", EXPECT_TEXT, NULL, "product = XE9680", "os.product",
	  "What the machine's product name contains, as whole words.", look_product, NULL, NULL },
	{ "kernel", EXPECT_VERSION, NULL, "kernel = 6.8.*", "os.kernel",
	  "Release of the kernel that runs.", look_kernel, NULL, NULL },
	{ "memory-gib", EXPECT_AT_LEAST, NULL, "memory-gib = 2000", "os.memory_bytes",
	  "Memory, at least, in whole GiB.", look_memory, NULL, NULL },
	{ "cpus", EXPECT_NUMBER, NULL, "cpus = 192", "os.cpus",
	  "Logical processors that are online.", look_cpus, NULL, NULL },
	{ "numa-nodes", EXPECT_NUMBER, NULL, "numa-nodes = 2", "numa.nodes", "NUMA nodes.",
	  look_numa_nodes, NULL, NULL },
	{ "hugepages.SIZE", EXPECT_NUMBER, NULL, "hugepages.2M = >=1024", "os.hugepages",
	  "Huge pages of a size (2M, 1G) in the pool, used or not.", look_hugepages, next_hugepages,
	  refuse_page_size },
	{ "sysctl.NAME", EXPECT_VERSION, NULL, "sysctl.kernel.numa_balancing = 0", "os.sysctls",
	  "A kernel setting that 'nvnodecheck facts os.sysctls' lists.", look_sysctl, next_sysctl,
	  refuse_sysctl },
	{ "mount.POINT", EXPECT_MOUNT, NULL, "mount./scratch = lustre rw", "os.mounts",
	  "The file system mounted there: type, options, from=SOURCE.", look_mount, next_mount,
	  refuse_mount },
	{ 0 },
};

const struct expect_key *expect_find(const char *key, const char **argument)
{
	for (const struct expect_key *k = expect_keys; k->key; k++) {
		const char *dot = k->refuse ? strchr(k->key, '.') : NULL;
		size_t n = dot ? (size_t)(dot - k->key) + 1 : 0;

		*argument = NULL;
		if (!dot && strcmp(k->key, key) == 0)
			return k;
		if (dot && strncmp(k->key, key, n) == 0 && key[n]) {
			*argument = key + n;
			return k;
		}
	}
	return NULL;
}

void expect_read_value(const struct expect_key *key, const char *argument, const struct node *node,
		       struct arena *arena, struct expect_look *look)
{
	*look = (struct expect_look){ .node = node, .arena = arena, .argument = argument };
	key->look(look);
}

/* Calls CALL once for each key, and for a key with arguments once for each argument of this node. */
void expect_each_key(const struct node *node, struct arena *arena, expect_each *call, void *user)
{
	for (const struct expect_key *k = expect_keys; k->key; k++) {
		const char *argument;
		uint32_t i = 0;

		if (!k->argument) {
			call(user, k, k->key, NULL);
			continue;
		}
		while ((argument = k->argument(node, &i, arena)))
			if (!k->refuse(argument))
				call(user, k,
				     arena_printf(arena, "%.*s%s",
						  (int)(strchr(k->key, '.') - k->key) + 1, k->key,
						  argument),
				     argument);
	}
}
