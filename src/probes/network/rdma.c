/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma.c - the RDMA devices and their ports as /sys/class/infiniband shows them
 * (drivers/infiniband/core/sysfs.c). What sysfs does not have, verbs.c asks the kernel for.
 */
#include <string.h>

#include "base/array.h"
#include "parse/bdf.h"
#include "parse/rdma.h"
#include "probes/probe.h"
#include "query/node-find.h"

#define DEVICES "/sys/class/infiniband"
#define VERBS "/sys/class/infiniband_verbs"

#define RDMA_DEVICES_MAX 256
#define RDMA_PORTS_MAX 16
/* Entries read of one port's GID or P_Key table: mlx5 has 256 GIDs, rxe 1024, and every entry is a
 * file. The kernel gives a new GID the first free entry (core/cache.c, find_gid) and subnet
 * managers do the same with P_Keys. Used entries are therefore at the front, and the entries after a
 * run of empty ones are not read. verbs.c adds the GIDs after such a run. */
#define RDMA_ENTRIES_MAX 1024
#define RDMA_EMPTY_RUN 16

/* A value of sysfs is at most one page. */
#define VALUE_MAX 4096

/* ---- ports ---- */

struct port_path {
	const char *device;
	const char *port;
};

static int read_port(struct probe_context *ctx, const struct port_path *at, struct text *text,
		     const char *name)
{
	return host_read(ctx->host, text, VALUE_MAX, DEVICES "/%s/ports/%s/%s", at->device,
			 at->port, name);
}

static void bad_value(struct probe_context *ctx, const struct port_path *at, const char *name,
		      const char *why)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/ports/%s/%s", at->device, at->port, name);
	host_gap_note(ctx->host, path, -EBADMSG, why);
}

static void read_state(struct probe_context *ctx, const struct port_path *at,
		       struct rdma_port *port)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t number;
	struct span word;
	int rc = read_port(ctx, at, &text, "state");

	if (rc)
		port->state.state = probe_state(rc);
	else if (rdma_word_parse(text_span(&text), &number, &word) ||
		 number > RDMA_PORT_ACTIVE_DEFER)
		bad_value(ctx, at, "state", "not a port state");
	else
		port->state = fact_enum((int)number);
}

static void read_physical_state(struct probe_context *ctx, const struct port_path *at,
				struct rdma_port *port)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t number;
	struct span word;
	int rc = read_port(ctx, at, &text, "phys_state");

	if (rc)
		port->physical_state.state = probe_state(rc);
	else if (rdma_word_parse(text_span(&text), &number, &word))
		bad_value(ctx, at, "phys_state", "not of the form NUMBER: WORD");
	else
		port->physical_state = probe_span(ctx, word);
}

static void read_rate(struct probe_context *ctx, const struct port_path *at, struct rdma_port *port)
{
	_cleanup_text_ struct text text = { 0 };
	struct span word;
	int rc = read_port(ctx, at, &text, "rate");

	port->rate_mbps.state = probe_state(rc);
	if (rc == 0 && rdma_rate_parse(text_span(&text), &port->rate_mbps.value)) {
		port->rate_mbps.state = FACT_UNKNOWN;
		bad_value(ctx, at, "rate", "not a rate in Gb/sec");
		return;
	}
	port->lane_rate.state = probe_state(rc);
	if (rc)
		return;
	word = rdma_lane_rate(text_span(&text));
	port->lane_rate = word.n ? probe_span(ctx, word) : FACT_NONE(fact_str);
}

/* ---- the tables of a port ---- */

/* A copy has no file for an entry that the kernel does not answer for (-EINVAL): of one that it always does,
 * or where the whole folder is missing, that says nothing. */
static void read_gid_attribute(struct probe_context *ctx, const struct port_path *at,
			       unsigned int index, const char *attribute, struct fact_str *fact)
{
	_cleanup_text_ struct text text = { 0 };
	const char *folder = arena_printf(ctx->arena, DEVICES "/%s/ports/%s/gid_attrs/%s",
					  at->device, at->port, attribute);
	int rc = host_read_entry(ctx->host, &text, VALUE_MAX, "%s/%u", folder, index);

	if (rc == 0)
		*fact = probe_span(ctx, span_trim(text_span(&text)));
	else if (strcmp(attribute, "types") == 0 || !host_exists(ctx->host, folder))
		fact->state = probe_state_always(ctx, rc, folder);
	else
		fact->state = probe_state(rc);
}

static void add_gid(struct probe_context *ctx, const struct port_path *at, struct rdma_port *port,
		    unsigned int index, struct span text)
{
	struct rdma_gid *gid = LIST_ADD(ctx->arena, &port->gids);

	gid->index = fact_u64(index);
	gid->gid = probe_span(ctx, text);
	read_gid_attribute(ctx, at, index, "types", &gid->type);
	read_gid_attribute(ctx, at, index, "ndevs", &gid->netdev);
}

/* Calls ADD for every entry of a table that is set. */
typedef bool entry_is_set(struct span text);
typedef void entry_add(struct probe_context *ctx, const struct port_path *at,
		       struct rdma_port *port, unsigned int index, struct span text);

static enum fact_state read_table(struct probe_context *ctx, const struct port_path *at,
				  struct rdma_port *port, const char *table, entry_is_set *is_set,
				  entry_add *add)
{
	const char *folder = arena_printf(ctx->arena, DEVICES "/%s/ports/%s/%s", at->device,
					  at->port, table);
	unsigned int empty = 0;

	for (unsigned int i = 0; i < RDMA_ENTRIES_MAX && empty < RDMA_EMPTY_RUN; i++) {
		_cleanup_text_ struct text text = { 0 };
		struct span entry;
		int rc = host_read_entry(ctx->host, &text, VALUE_MAX, "%s/%u", folder, i);

		/* The end of the table; no table at all where there is no first entry. Every port has
		 * the folder, so a copy without it says nothing. */
		if (rc == -ENOENT && !i && !host_exists(ctx->host, folder))
			return probe_state_always(ctx, rc, folder);
		if (rc == -ENOENT)
			return i ? FACT_KNOWN : FACT_ABSENT;
		if (rc)
			return FACT_UNKNOWN;
		entry = span_trim(text_span(&text));
		empty = is_set(entry) ? 0 : empty + 1;
		if (!empty)
			add(ctx, at, port, i, entry);
	}
	return FACT_KNOWN;
}

static bool pkey_is_set(struct span text)
{
	uint64_t pkey;

	return span_u64(text, 16, &pkey) == 0 && pkey != 0;
}

static void add_pkey(struct probe_context *ctx, const struct port_path *at, struct rdma_port *port,
		     unsigned int index, struct span text)
{
	(void)at;
	(void)index;
	*LIST_ADD(ctx->arena, &port->pkeys) = probe_span(ctx, text).value;
}

/*
 * Error counters only: traffic says nothing about the configuration, and hw_counters are many more
 * queries to the firmware. A port's counters are read through the firmware too (mlx5: ACCESS_REG of
 * PPCNT), which refuses on physical functions that another part of the system owns, and each
 * refusal is a line in the kernel log: so the first one ends it.
 */
static void read_counters(struct probe_context *ctx, const struct port_path *at,
			  struct rdma_port *port)
{
	static const char *const names[] = {
		"excessive_buffer_overrun_errors", "link_downed",     "link_error_recovery",
		"local_link_integrity_errors",	   "port_rcv_errors", "symbol_error",
	};

	port->counters.state = FACT_ABSENT;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_text_ struct text text = { 0 };
		struct rdma_counter *counter;
		uint64_t value;
		int rc = host_read(ctx->host, &text, VALUE_MAX, DEVICES "/%s/ports/%s/counters/%s",
				   at->device, at->port, names[i]);

		if (rc == -ENOENT)
			continue;
		if (rc) {
			port->counters.state = FACT_UNKNOWN;
			return;
		}
		/* "N/A (no PMA)" in older kernels. */
		if (span_u64(span_trim(text_span(&text)), 10, &value))
			continue;
		counter = LIST_ADD(ctx->arena, &port->counters);
		counter->name = fact_str(ctx->arena, names[i]);
		counter->value = fact_u64(value);
	}
}

/* Upstream's mlx5_ib has no such file. Without a line for all traffic the job's own class is used. */
static void read_traffic_class(struct probe_context *ctx, const struct port_path *at,
			       struct rdma_port *port)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t value;
	int rc = host_read(ctx->host, &text, VALUE_MAX, DEVICES "/%s/tc/%s/traffic_class",
			   at->device, at->port);

	port->traffic_class.state = rc ? probe_state(rc) : FACT_ABSENT;
	if (rc == 0 && rdma_traffic_class_parse(text_span(&text), &value))
		port->traffic_class = fact_u64(value);
}

static void read_one_port(struct probe_context *ctx, const struct port_path *at,
			  struct rdma_port *port, bool virtual_function)
{
	read_state(ctx, at, port);
	/* Each of these files makes the kernel ask the firmware. */
	if (!ctx->preflight || !known_is(port->state, RDMA_PORT_ACTIVE))
		read_physical_state(ctx, at, port);
	read_rate(ctx, at, port);
	probe_str(ctx, &port->link_layer, DEVICES "/%s/ports/%s/link_layer", at->device, at->port);
	if (!ctx->preflight || known_is(port->state, RDMA_PORT_INIT))
		probe_u64(ctx, &port->sm_lid, DEVICES "/%s/ports/%s/sm_lid", at->device, at->port);
	if (ctx->preflight)
		return;
	read_traffic_class(ctx, at, port);
	probe_u64(ctx, &port->lid, DEVICES "/%s/ports/%s/lid", at->device, at->port);
	port->gids.state = read_table(ctx, at, port, "gids", rdma_gid_is_set, add_gid);
	port->pkeys.state = read_table(ctx, at, port, "pkeys", pkey_is_set, add_pkey);
	/* The link belongs to the physical function: a virtual one may not ask about it. */
	if (virtual_function)
		port->counters.state = FACT_ABSENT;
	else
		read_counters(ctx, at, port);
}

static void read_ports(struct probe_context *ctx, struct rdma_device *device, bool virtual_function)
{
	_cleanup_names_ struct names names = { 0 };
	struct port_path at = { .device = device->name.value };
	int rc = host_list(ctx->host, &names, DEVICES "/%s/ports", at.device);

	device->ports.state =
		probe_state_always(ctx, rc, arena_printf(ctx->arena, DEVICES "/%s", at.device));
	for (size_t i = 0; i < names.count && device->ports.count < RDMA_PORTS_MAX; i++) {
		struct rdma_port *port;
		uint64_t number;

		if (span_u64(span_of(names.items[i]), 10, &number))
			continue;
		at.port = names.items[i];
		port = LIST_ADD(ctx->arena, &device->ports);
		port->port = fact_u64(number);
		read_one_port(ctx, &at, port, virtual_function);
	}
	if (names.count > RDMA_PORTS_MAX) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), DEVICES "/%s/ports", at.device);
		host_gap_note(ctx->host, path, -EOVERFLOW, "only the first ports were read");
	}
}

/* ---- devices ---- */

/* The PCI function: the device's parent, or what the parent sits on (a sub-function of mlx5 is an
 * auxiliary device below its PCI function). */
static void find_place(struct probe_context *ctx, struct rdma_device *device)
{
	char target[PATH_MAX];
	struct span bdf;
	int rc = host_link(ctx->host, target, DEVICES "/%s/device", device->name.value);

	if (rc == -ENOENT || (rc == 0 && !bdf_in_path(span_of(target), &bdf))) {
		rc = host_link(ctx->host, target, DEVICES "/%s", device->name.value);
		if (rc == 0 && !bdf_in_path(span_of(target), &bdf))
			rc = -ENOENT;
	}
	if (rc == -EINVAL)
		host_gap_note(ctx->host, DEVICES, rc, "a copy that has folders for links");
	device->bdf.state = probe_state(rc);
	if (rc == 0)
		device->bdf = probe_span(ctx, bdf);
}

static void find_function(struct probe_context *ctx, struct rdma_device *device)
{
	find_place(ctx, device);
	probe_link(ctx, &device->driver, DEVICES "/%s/device/driver", device->name.value);
	/* A copy may lack the link, and have the same in a file of the function's. */
	if (is_absent(device->driver) && is_known(device->bdf)) {
		const struct pci_device *function = node_pci(ctx->node, device->bdf.value);

		device->driver = function ? function->driver : (struct fact_str){ 0 };
		/* A function that has an RDMA device has a driver. */
		if (is_absent(device->driver))
			device->driver.state = FACT_UNKNOWN;
	}
}

/*
 * Soft RDMA runs on top of a network interface and no driver is bound to it. rxe names the
 * interface in "parent" (sw/rxe/rxe_verbs.c); siw is an RNIC with a node description of its own
 * (sw/siw). In older kernels both have the interface's own PCI function as parent.
 */
static const char *soft_driver(struct probe_context *ctx, const struct rdma_device *device)
{
	struct fact_str parent = { 0 }, description = { 0 };

	probe_str(ctx, &parent, DEVICES "/%s/parent", device->name.value);
	if (is_known(parent))
		return "rdma_rxe";
	if (str_is(device->node_type, "RNIC"))
		probe_str(ctx, &description, DEVICES "/%s/node_desc", device->name.value);
	return str_is(description, "Software iWARP stack") ? "siw" : NULL;
}

static void read_node_type(struct probe_context *ctx, struct rdma_device *device)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t number;
	struct span word;
	int rc = host_read(ctx->host, &text, VALUE_MAX, DEVICES "/%s/node_type",
			   device->name.value);

	device->node_type.state = probe_state(rc);
	if (rc)
		return;
	/* "4: RNIC"; a number that the kernel has no word for stands alone. */
	if (rdma_word_parse(text_span(&text), &number, &word))
		word = span_trim(text_span(&text));
	device->node_type = probe_span(ctx, word);
}

/* An empty text is a driver that has none. */
static void read_name(struct probe_context *ctx, const struct rdma_device *device,
		      struct fact_str *fact, const char *name)
{
	probe_str(ctx, fact, DEVICES "/%s/%s", device->name.value, name);
	if (str_is(*fact, ""))
		fact->state = FACT_ABSENT;
}

/* Reads what EFA's driver reports about GPU memory: "p2p" from efa 2.6.0 on (efa_sysfs.c), "gdr" before. */
static void read_efa(struct probe_context *ctx, struct rdma_device *device)
{
	struct fact_str gdr = { 0 };

	if (is_unknown(device->driver))
		return;
	device->p2p.state = device->gdr.state = FACT_ABSENT;
	if (!str_is(device->driver, "efa"))
		return;
	probe_str(ctx, &device->p2p, DEVICES "/%s/device/p2p", device->name.value);
	probe_str(ctx, &gdr, DEVICES "/%s/device/gdr", device->name.value);
	device->gdr.state = gdr.state;
	device->gdr.value = str_is(gdr, "1");
}

/* Reads of an mlx5 device only what a job needs. Returns false for any other device. */
static bool read_briefly(struct probe_context *ctx, struct rdma_device *device)
{
	find_place(ctx, device);
	if (is_known(device->bdf))
		probe_link(ctx, &device->driver, DEVICES "/%s/device/driver", device->name.value);
	if (!str_is(device->driver, "mlx5_core"))
		return false;
	if (probe_is_wanted(ctx, "rdma.devices"))
		read_name(ctx, device, &device->firmware, "fw_ver");
	read_ports(ctx, device, false);
	return true;
}

static void read_device(struct probe_context *ctx, const char *name)
{
	struct rdma_device *device = LIST_ADD(ctx->arena, &ctx->node->rdma.devices);
	struct host_stat stat;
	const char *soft;
	bool virtual_function = false;

	device->name = fact_str(ctx->arena, name);
	if (ctx->preflight && read_briefly(ctx, device))
		return;
	read_node_type(ctx, device);
	soft = soft_driver(ctx, device);
	if (soft) {
		device->bdf.state = FACT_ABSENT;
		device->driver = fact_str(ctx->arena, soft);
	} else {
		find_function(ctx, device);
		virtual_function = host_stat(ctx->host, &stat, DEVICES "/%s/device/physfn", name) ==
				   0;
	}
	probe_str(ctx, &device->node_guid, DEVICES "/%s/node_guid", name);
	probe_str(ctx, &device->image_guid, DEVICES "/%s/sys_image_guid", name);
	read_name(ctx, device, &device->firmware, "fw_ver");
	read_name(ctx, device, &device->board_id, "board_id");
	read_name(ctx, device, &device->hca_type, "hca_type");
	read_ports(ctx, device, virtual_function);
	read_efa(ctx, device);
}

/* ib_core makes the folder (drivers/infiniband/core/device.c, ib_core_init()): where it is loaded,
 * or nothing says what is, a copy lacks the folder. Preflight never reads copies. */
static enum fact_state state_of_devices(struct probe_context *ctx, int rc)
{
	_cleanup_text_ struct text modules = { 0 };

	if (rc != -ENOENT || ctx->preflight)
		return probe_state(rc);
	if (host_read(ctx->host, &modules, HOST_FILE_MAX, "/proc/modules") == 0 &&
	    !span_starts(text_span(&modules), "ib_core ") &&
	    !span_search(text_span(&modules), "\nib_core "))
		return FACT_ABSENT;
	return probe_state_always(ctx, rc, DEVICES);
}

static void read_devices(struct probe_context *ctx)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, DEVICES);

	ctx->node->rdma.devices.state = state_of_devices(ctx, rc);
	for (size_t i = 0; i < names.count && i < RDMA_DEVICES_MAX; i++)
		read_device(ctx, names.items[i]);
	if (names.count > RDMA_DEVICES_MAX)
		host_gap_note(ctx->host, DEVICES, -EOVERFLOW, "only the first devices were read");
	/* Rules go through all ports: those of the other devices are not all. */
	for_each(device, &ctx->node->rdma.devices)
		if (is_unknown(device->ports))
			ctx->node->rdma.devices.state = FACT_UNKNOWN;
}

/* Reads for each uverbs device the RDMA device that it belongs to; ib_uverbs may have none for one. */
static void read_uverbs(struct probe_context *ctx)
{
	struct rdma_facts *rdma = &ctx->node->rdma;
	const struct modules_facts *modules = &ctx->node->modules;
	_cleanup_names_ struct names names = { 0 };
	int rc;

	if (!rdma->devices.count)
		return;
	rc = host_list(ctx->host, &names, VERBS);
	/* ib_uverbs makes the folder; where that is loaded, or nothing says what is, a copy lacks it. */
	if (rc == 0)
		rc = -ENOENT;
	else if (rc == -ENOENT &&
		 (!is_known(modules->loaded) || node_module(ctx->node, "ib_uverbs")))
		rc = -ENODATA;
	for_each_mut(device, &rdma->devices)
		device->uverbs.state = probe_state(rc);
	for (size_t i = 0; i < names.count && i < 2 * RDMA_DEVICES_MAX; i++) {
		struct fact_str owner = { 0 };

		if (!span_starts(span_of(names.items[i]), "uverbs"))
			continue;
		probe_str(ctx, &owner, VERBS "/%s/ibdev", names.items[i]);
		for_each_mut(device, &rdma->devices)
			if (is_known(owner) && str_is(device->name, owner.value))
				device->uverbs = fact_str(ctx->arena, names.items[i]);
	}
}

/* ---- what network drivers offer ---- */

#define AUXILIARY "/sys/bus/auxiliary/devices"

static bool is_for_rdma(const char *name)
{
	static const char *const kinds[] = { ".rdma.", ".roce.", ".iwarp.", ".ib." };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(name, kinds[i]))
			return true;
	return false;
}

/* ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/mlx5_core.rdma.0 */
static void find_parent(struct probe_context *ctx, struct rdma_auxiliary *auxiliary)
{
	char target[PATH_MAX];
	struct span bdf;
	int rc = host_link(ctx->host, target, AUXILIARY "/%s", auxiliary->name.value);

	auxiliary->bdf.state = rc ? probe_state(rc) : FACT_ABSENT;
	if (rc)
		return;
	if (bdf_in_path(span_of(target), &bdf))
		auxiliary->bdf = fact_strn(ctx->arena, bdf.p, bdf.n);
}

static void read_auxiliary(struct probe_context *ctx)
{
	struct rdma_facts *rdma = &ctx->node->rdma;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, AUXILIARY);

	rdma->auxiliary.state = probe_state(rc);
	for (size_t i = 0; i < names.count && rdma->auxiliary.count < RDMA_DEVICES_MAX; i++) {
		struct rdma_auxiliary *auxiliary;

		if (!is_for_rdma(names.items[i]))
			continue;
		auxiliary = LIST_ADD(ctx->arena, &rdma->auxiliary);
		auxiliary->name = fact_str(ctx->arena, names.items[i]);
		find_parent(ctx, auxiliary);
		probe_link(ctx, &auxiliary->driver, AUXILIARY "/%s/driver", names.items[i]);
	}
	if (rdma->auxiliary.count == RDMA_DEVICES_MAX)
		rdma->auxiliary.state = FACT_UNKNOWN;
}

/* ---- of all devices ---- */

static void read_memory_peers(struct probe_context *ctx)
{
	struct rdma_facts *rdma = &ctx->node->rdma;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, "/sys/kernel/mm/memory_peers");

	rdma->memory_peers.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++)
		*LIST_ADD(ctx->arena,
			  &rdma->memory_peers) = fact_str(ctx->arena, names.items[i]).value;
}

/* "Y": RDMA devices are shared by all network namespaces (core/device.c, ib_devices_shared_netns).
 */
static void read_netns_mode(struct probe_context *ctx)
{
	struct fact_str value = { 0 };

	probe_str(ctx, &value, "/sys/module/ib_core/parameters/netns_mode");
	ctx->node->rdma.netns_mode.state = value.state;
	if (is_known(value))
		ctx->node->rdma.netns_mode = fact_str(ctx->arena,
						      str_is(value, "Y") ? "shared" : "exclusive");
}

static void rdma_run(struct probe_context *ctx)
{
	read_devices(ctx);
	read_uverbs(ctx);
	read_auxiliary(ctx);
	read_netns_mode(ctx);
	read_memory_peers(ctx);
}

static void rdma_run_preflight(struct probe_context *ctx)
{
	read_devices(ctx);
	read_memory_peers(ctx);
}

const struct probe probe_rdma = {
	.name = "rdma",
	.phase = PHASE_ALONE,
	.is_hardware = true,
	PROBE_SECTION(rdma),
	.run = rdma_run,
	.preflight = { .run = rdma_run_preflight },
};
