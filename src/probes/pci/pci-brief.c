/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-brief.c - reads the PCI functions for preflight, with as few reads as it can: GPUs, NVSwitches, NICs with RDMA,
 * and the bridges above them.
 */
#include "probes/pci/pci-brief.h"

#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>
#include <unistd.h>

#include "parse/field.h"
#include "parse/pcie.h"
#include "probes/pci/pci-capability.h"
#include "probes/pci/pci-config.h"
#include "query/gpus.h"
#include "query/pci-device.h"

#define PCI_TABLE "/proc/bus/pci/devices"
#define VENDOR_NVIDIA 0x10de
#define VENDOR_MELLANOX 0x15b3
#define CLASS_DISPLAY 0x03
#define CLASS_BRIDGE_PCI 0x0604u
#define WAY_MAX 64 /* bridges above a function */

/* Knowledge about a function that is not part of its facts. */
struct candidate {
	bool bridge; /* another function is below it */
	bool looked; /* its link was followed */
};

/* Buses and functions at which a vendor of interest has something; of any domain, since the kernel's
 * table has none. */
#define PLACES (256 * 256)

struct survey {
	struct probe_context *ctx;
	unsigned char *places; /* a bit each; NULL: the table could not be read */
	struct names names;
	struct candidate *found; /* one for each name */
	/* One for each name. A device that is to be in the facts has a bdf. */
	struct pci_device *devices;
};

/* ---- identity ---- */

static void note(struct probe_context *ctx, const char *bdf, const char *file, int error,
		 const char *why)
{
	host_gap_note(ctx->host, arena_printf(ctx->arena, PCI_DEVICES "/%s/%s", bdf, file), error,
		      why);
}

int pci_read_uevent(struct probe_context *ctx, const char *bdf, struct pci_device *d)
{
	_cleanup_text_ struct text text = { 0 };
	struct pci_uevent uevent;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, PCI_DEVICES "/%s/uevent", bdf);

	if (rc || !pci_uevent_parse(text_span(&text), &uevent))
		return rc ? rc : -EBADMSG;
	d->class_id = fact_u64(uevent.class);
	d->vendor_id = fact_u64(uevent.vendor);
	d->device_id = fact_u64(uevent.device);
	d->driver = uevent.driver.n ? probe_span(ctx, uevent.driver) : FACT_NONE(fact_str);
	if (!pci_matters(d))
		return 0;
	d->subsystem_vendor_id = fact_u64(uevent.subsystem_vendor);
	d->subsystem_device_id = fact_u64(uevent.subsystem_device);
	return 0;
}

static bool is_display(const struct pci_device *d)
{
	return d->class_id.value >> 16 == CLASS_DISPLAY;
}

/* RDMA devices of other vendors are found by their child devices. */
static bool is_wanted(struct probe_context *ctx, const char *name, const struct pci_device *d)
{
	if (pci_is_gpu(d) || pci_is_nvswitch(d) || pci_is_mlx(d))
		return true;
	return pci_matters(d) && !pci_is_bridge(d) && !is_display(d) &&
	       host_exists(ctx->host, arena_printf(ctx->arena, PCI_DEVICES "/%s/infiniband", name));
}

/* ---- place ---- */

static int compare_name(const void *key, const void *item)
{
	return strcmp(key, *(char *const *)item);
}

/* Returns the index of NAME, or the number of names. */
static size_t find_name(const struct survey *s, struct span name)
{
	char key[NAME_MAX + 1];
	char **item;

	snprintf(key, sizeof(key), "%.*s", SPAN_FMT(name));
	item = bsearch(key, s->names.items, s->names.count, sizeof(*s->names.items), compare_name);
	return item ? (size_t)(item - s->names.items) : s->names.count;
}

/* Places the function and, from the same path, the bridges above it that have no place yet. What another
 * function is below is a bridge: nothing else needs to be read to know that. */
static int place_way(struct survey *s, const char *name)
{
	struct probe_context *ctx = s->ctx;
	char target[PATH_MAX];
	struct pci_place at;
	int rc = host_link(ctx->host, target, PCI_DEVICES "/%s", name);
	struct span path = span_of(target);

	for (int i = 0; rc == 0 && i < WAY_MAX; i++) {
		struct pci_device *d;
		size_t which;

		if (!pci_place_parse(path, &at))
			return -EBADMSG;
		which = find_name(s, at.self);
		if (which == s->names.count)
			return -EBADMSG;
		s->found[which].bridge |= i > 0;
		if (s->found[which].looked)
			return 0;
		s->found[which].looked = true;
		d = &s->devices[which];
		d->root = probe_span(ctx, at.root);
		if (!at.parent.n) {
			d->parent.state = FACT_ABSENT;
			return 0;
		}
		d->parent = probe_span(ctx, at.parent);
		path.n = (size_t)(at.parent.p + at.parent.n - path.p);
	}
	return rc;
}

/* The function itself and all above it are to be in the facts. */
static void add_with_parents(struct survey *s, size_t which)
{
	while (which < s->names.count && !is_known(s->devices[which].bdf)) {
		struct pci_device *d = &s->devices[which];

		d->bdf = fact_str(s->ctx->arena, s->names.items[which]);
		if (s->found[which].bridge)
			d->class_id = fact_u64(CLASS_BRIDGE_PCI << 8);
		which = is_known(d->parent) ? find_name(s, span_of(d->parent.value))
					    : s->names.count;
	}
}

/* ---- registers ---- */

static bool read_bytes(int fd, unsigned int at, void *bytes, size_t n)
{
	return pread(fd, bytes, n, (off_t)at) == (ssize_t)n;
}

static bool read_long(int fd, unsigned int at, uint32_t *value)
{
	uint8_t b[4];

	if (!read_bytes(fd, at, b, sizeof(b)))
		return false;
	*value = (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
	return true;
}

static bool read_register(void *user, unsigned int at, uint32_t *value)
{
	const int *fd = user;

	return read_long(*fd, at, value) && *value != UINT32_MAX;
}

/* The kind of a bridge and its ACS registers (PCIe 6.0, 7.5.3.2 and 7.7.11). */
static void read_bridge(int fd, struct pci_device *d)
{
	uint32_t value;
	int at = pci_capability(read_register, &fd, PCI_CAP_ID_EXP, &value);

	if (at == 0) {
		d->port = fact_enum(PCI_BRIDGE);
		d->acs.state = FACT_ABSENT;
	}
	if (at <= 0)
		return;
	switch (value >> 20 & 0xf) { /* the upper half is the capability's flags */
	case PCI_EXP_TYPE_ROOT_PORT:
		d->port = fact_enum(PCI_ROOT_PORT);
		break;
	case PCI_EXP_TYPE_UPSTREAM:
		d->port = fact_enum(PCI_UPSTREAM_PORT);
		break;
	case PCI_EXP_TYPE_DOWNSTREAM:
		d->port = fact_enum(PCI_DOWNSTREAM_PORT);
		break;
	default:
		d->port = fact_enum(PCI_BRIDGE);
	}
	at = pci_capability_extended(read_register, &fd, PCI_EXT_CAP_ID_ACS);
	if (at == 0)
		d->acs.state = FACT_ABSENT;
	if (at <= 0 || !read_register(&fd, (unsigned int)at + PCI_ACS_CAP, &value))
		return;
	/* Capability and control are two halves of one register. */
	d->acs = (struct pci_acs){ FACT_KNOWN, fact_u64(value & 0xffff), fact_u64(value >> 16) };
}

/* ---- BARs ---- */

/* "0xSTART 0xEND 0xFLAGS" (drivers/pci/pci-sysfs.c, resource_show). */
static bool parse_resource(struct span line, uint64_t numbers[3])
{
	struct span word;

	for (int i = 0; i < 3; i++)
		if (!span_word(&line, &word) || !span_starts(word, "0x") ||
		    span_u64(word, 16, &numbers[i]))
			return false;
	return true;
}

static struct pci_bar *add_bar(struct probe_context *ctx, struct pci_device *d, unsigned int index,
			       uint64_t start)
{
	struct pci_bar *bar = LIST_ADD(ctx->arena, &d->bars);

	bar->index = fact_u64(index);
	bar->start = fact_u64(start);
	return bar;
}

/* Returns true if the next register belongs to this one. */
static bool add_from_kernel(struct probe_context *ctx, struct pci_device *d, unsigned int index,
			    const uint64_t numbers[3])
{
	uint64_t start = numbers[0], end = numbers[1], flags = numbers[2];
	struct pci_bar *bar = add_bar(ctx, d, index, flags & PCI_RESOURCE_UNSET ? 0 : start);

	if (end > start)
		bar->size_bytes = fact_u64(end - start + 1);
	bar->prefetchable = fact_bool(flags & PCI_RESOURCE_PREFETCH);
	bar->wide = fact_bool(flags & PCI_RESOURCE_64);
	bar->io = fact_bool(flags & PCI_RESOURCE_IO);
	return flags & PCI_RESOURCE_64;
}

/* Adds a BAR that the kernel found no room for: its line is empty, but the register exists. Returns true if the next
 * register belongs to it, or -ENODATA if it cannot be read. */
static int add_from_register(struct probe_context *ctx, struct pci_device *d, unsigned int index,
			     int fd)
{
	struct pci_bar_register found;
	struct pci_bar *bar;
	uint32_t value;

	if (!read_register(&fd, PCI_BASE_ADDRESS_0 + 4 * index, &value))
		return -ENODATA;
	found = pci_bar_register(value);
	if (!found.exists)
		return false;
	bar = add_bar(ctx, d, index, 0);
	bar->prefetchable = fact_bool(found.prefetchable);
	bar->wide = fact_bool(found.wide);
	bar->io = fact_bool(found.io);
	return found.wide;
}

static void read_bars(struct probe_context *ctx, struct pci_device *d, int fd)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	uint64_t numbers[3];
	int upper = false;

	if (host_read(ctx->host, &text, HOST_FILE_MAX, PCI_DEVICES "/%s/resource", d->bdf.value))
		return;
	rest = text_span(&text);
	for (unsigned int i = 0; i < PCI_STD_NUM_BARS; i++) {
		if (!span_cut(&rest, '\n', &line) || !parse_resource(line, numbers)) {
			memset(&d->bars, 0, sizeof(d->bars));
			note(ctx, d->bdf.value, "resource", -EBADMSG,
			     "not the kernel's list of BARs");
			return;
		}
		d->bars.state = FACT_KNOWN;
		if (upper)
			upper = false;
		else if (numbers[2])
			upper = add_from_kernel(ctx, d, i, numbers);
		else
			upper = add_from_register(ctx, d, i, fd);
		if (upper < 0) {
			memset(&d->bars, 0, sizeof(d->bars));
			note(ctx, d->bdf.value, "config", upper, "a BAR could not be read");
			return;
		}
	}
}

/* ---- one function ---- */

/* The bits of a virtual function's memory are its physical function's (PCIe 6.0, 9.3.4.1.3). */
static void set_command(struct pci_device *d, uint32_t command)
{
	d->bus_master = fact_bool(command & PCI_COMMAND_MASTER);
	if (is_absent(d->physical_function))
		d->memory_enabled = fact_bool(command & PCI_COMMAND_MEMORY);
	else
		d->memory_enabled.state = d->physical_function.state == FACT_KNOWN ? FACT_ABSENT
										   : FACT_UNKNOWN;
}

static void read_config(struct probe_context *ctx, struct pci_device *d)
{
	const char *path = arena_printf(ctx->arena, PCI_DEVICES "/%s/config", d->bdf.value);
	_cleanup_close_ int fd = host_open(ctx->host, path);
	uint32_t head[2];

	if (fd < 0)
		return;
	if (pci_is_bridge(d)) {
		read_bridge(fd, d);
		if (is_unknown(d->acs))
			host_gap_note(ctx->host, path, -EACCES,
				      "not all of it can be read without root");
		return;
	}
	/* Vendor and device, command and status: all ones from a function that does not answer. */
	if (!read_bytes(fd, PCI_VENDOR_ID, head, sizeof(head)) ||
	    (head[0] != UINT32_MAX && head[1] == UINT32_MAX)) {
		host_gap_note(ctx->host, path, -ENODATA, "could not be read");
		return;
	}
	d->answers = fact_bool(head[0] != UINT32_MAX || head[1] != UINT32_MAX);
	if (d->answers.value)
		set_command(d, le32toh(head[1]));
	if (is_display(d) && d->answers.value)
		read_bars(ctx, d, fd);
}

static void read_function(struct probe_context *ctx, struct pci_device *d)
{
	const char *bdf = d->bdf.value;
	const struct nic_model *nic = nic_model(d);
	char target[PATH_MAX];

	/* A device in use is not powered down, nor is a bridge above it; mlx5_core never suspends. */
	if (!pci_is_bridge(d) && !str_is(d->driver, "mlx5_core")) {
		probe_str(ctx, &d->runtime_status, PCI_DEVICES "/%s/power/runtime_status", bdf);
		if (!str_is(d->runtime_status, "active"))
			probe_str(ctx, &d->power_state, PCI_DEVICES "/%s/power_state", bdf);
	}
	if (!pci_is_bridge(d)) {
		d->physical_function.state = FACT_ABSENT;
		if ((!nic || nic->virtual_function) && pci_is_mlx(d) &&
		    host_link(ctx->host, target, PCI_DEVICES "/%s/physfn", bdf) != -ENOENT)
			probe_link(ctx, &d->physical_function, PCI_DEVICES "/%s/physfn", bdf);
	}
	if (str_is(d->power_state, "D3cold"))
		note(ctx, bdf, "config", -EHOSTDOWN,
		     "powered down (D3cold): reading its registers would power it up");
	else if (!pci_is_bridge(d) || !is_absent(d->parent))
		read_config(ctx, d);
}

/* ---- which ones to look at ---- */

static void mark_place(struct survey *s, unsigned int place)
{
	s->places[place / 8] |= (unsigned char)(1u << place % 8);
}

static unsigned int place_of(const struct pci_address *at)
{
	return (unsigned int)at->bus << 8 | (unsigned int)at->device << 3 | at->function;
}

/* "1b00 10de2335 ..." (drivers/pci/proc.c, show_device): one file instead of one for each function. */
static bool read_table(struct survey *s)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, place, id;
	uint64_t at, ids;

	if (host_read(s->ctx->host, &text, HOST_FILE_MAX, PCI_TABLE))
		return false;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		if (!span_word(&line, &place) || !span_word(&line, &id) ||
		    span_u64(place, 16, &at) || span_u64(id, 16, &ids) || at >= PLACES)
			return false;
		if (ids >> 16 == VENDOR_NVIDIA || ids >> 16 == VENDOR_MELLANOX)
			mark_place(s, (unsigned int)at);
	}
	return text.size;
}

/* RDMA devices of other makers. */
static void mark_rdma(struct survey *s)
{
	_cleanup_names_ struct names names = { 0 };
	struct pci_address address;
	char name[NAME_MAX + 1];

	if (host_list(s->ctx->host, &names, "/sys/class/infiniband"))
		return;
	for (size_t i = 0; i < names.count; i++)
		if (host_link_name(s->ctx->host, name, "/sys/class/infiniband/%s/device",
				   names.items[i]) == 0 &&
		    pci_address_parse(span_of(name), &address))
			mark_place(s, place_of(&address));
}

static void choose_places(struct survey *s)
{
	s->places = arena_alloc(s->ctx->arena, PLACES / 8);
	if (host_exists(s->ctx->host, PCI_TABLE) && read_table(s))
		mark_rdma(s);
	else
		s->places = NULL;
}

static bool is_candidate(const struct survey *s, const char *name)
{
	struct pci_address address;
	unsigned int place;

	if (!pci_address_parse(span_of(name), &address))
		return false;
	place = place_of(&address);
	return !s->places || s->places[place / 8] & 1u << place % 8;
}

/* Returns false if the node's files leave open what is where. */
static bool survey(struct survey *s)
{
	size_t count = s->names.count;

	choose_places(s);
	for (size_t i = 0; i < count; i++)
		if (is_candidate(s, s->names.items[i]) && place_way(s, s->names.items[i]))
			return false;
	for (size_t i = 0; i < count; i++) {
		const char *name = s->names.items[i];
		int rc;

		if (!s->found[i].looked || s->found[i].bridge)
			continue;
		rc = pci_read_uevent(s->ctx, name, &s->devices[i]);
		if (rc)
			return false;
		if (is_wanted(s->ctx, name, &s->devices[i]))
			add_with_parents(s, i);
	}
	return true;
}

void pci_read_briefly(struct probe_context *ctx)
{
	struct pci_facts *pci = &ctx->node->pci;
	_cleanup_names_ struct names names = { 0 };
	struct survey s = { .ctx = ctx };
	int rc = host_list(ctx->host, &names, PCI_DEVICES);

	if (rc) {
		pci->devices.state = probe_state(rc);
		return;
	}
	s.names = names;
	s.found = arena_alloc(ctx->arena, names.count * sizeof(*s.found));
	s.devices = fact_list_room(ctx->arena, names.count, sizeof(*s.devices));
	if (!survey(&s))
		return;
	pci->devices.state = FACT_KNOWN;
	pci->devices.items = s.devices;
	/* The needed ones move up, in their order, into the places of those that are not. */
	for (size_t i = 0; i < names.count; i++) {
		struct pci_device *d = &s.devices[pci->devices.count];

		if (!is_known(s.devices[i].bdf))
			continue;
		*d = s.devices[i];
		pci->devices.count++;
		read_function(ctx, d);
	}
	memset(s.devices + pci->devices.count, 0,
	       (names.count - pci->devices.count) * sizeof(*s.devices));
}
