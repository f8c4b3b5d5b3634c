/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-config.c - the one place that calls libpci: BARs as the kernel sized them, and the registers of configuration
 * space.
 */
#include "probes/pci/pci-config.h"

#include <errno.h>
#include <pci/pci.h>
#include <string.h>

#include "base/array.h"
#include "base/library.h"
#include "parse/pcie.h"
#include "parse/vpd.h"
#include "probes/pci/pci-capability.h"
#include "query/gpus.h"
#include "query/pci-device.h"

/* pci_init() is a versioned symbol, as is pci_fill_info(): dlsym() finds the newest, which is the one that
 * the header of the same version describes. */
#define FUNCTIONS(F)      \
	F(pci_alloc)      \
	F(pci_init)       \
	F(pci_cleanup)    \
	F(pci_set_param)  \
	F(pci_get_dev)    \
	F(pci_free_dev)   \
	F(pci_read_block) \
	F(pci_fill_info)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* Exit status of the child in libpci's error function (sysexits.h, EX_SOFTWARE). */
#define EXIT_LIBPCI 70

#define CONFIG_HEADER 64 /* readable without CAP_SYS_ADMIN (drivers/pci/pci-sysfs.c) */
#define CONFIG_CONVENTIONAL 256
#define CONFIG_MAX 4096

#define BARS 6
#define VPD_HEAD 1024 /* a function has some 300 bytes; each four take a transaction */

static uint64_t class_of(const struct pci_device *d)
{
	return is_known(d->class_id) ? d->class_id.value >> 8 : 0;
}

bool pci_is_bridge(const struct pci_device *d)
{
	return class_of(d) == PCI_CLASS_BRIDGE_PCI;
}

/* InfiniBand adapters before ConnectX-4 can be serial bus controllers. */
bool pci_matters(const struct pci_device *d)
{
	uint64_t base = class_of(d) >> 8;

	return base == PCI_BASE_CLASS_DISPLAY || base == PCI_BASE_CLASS_NETWORK ||
	       class_of(d) == PCI_CLASS_SERIAL_INFINIBAND || pci_is_bridge(d) || pci_is_nvswitch(d);
}

/* The attribute is part of the type that libpci wants; _Noreturn would not be. */
__attribute__((noreturn)) static void end_child(char *message, ...)
{
	(void)message;
	_exit(EXIT_LIBPCI);
}

static void ignore_warning(char *message, ...)
{
	(void)message;
}

/* The state while one function is read. */
struct reading {
	struct host *host;
	struct arena *arena;
	struct pci_dev *dev;
	struct pci_device *d;
	unsigned int registers; /* BARs that its header has */
	bool extended;		/* its configuration space has extended capabilities */
	bool nvswitches;	/* NICs of this node may be NVSwitches' */
};

/* pci_read_long() answers all ones for a read that failed, which a register can hold as well. */
static bool read_long(struct reading *r, unsigned int at, uint32_t *value)
{
	uint8_t bytes[4];

	if (!lib.pci_read_block(r->dev, (int)at, bytes, sizeof(bytes)))
		return false;
	*value = (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 |
		 bytes[0];
	return true;
}

static bool read_register(void *user, unsigned int at, uint32_t *value)
{
	return read_long(user, at, value) && *value != UINT32_MAX;
}

/* Half a register. All ones are no answer: all that are read have bits that are reserved. */
static bool read_word(struct reading *r, unsigned int at, uint16_t *value)
{
	uint8_t bytes[2];

	if (!lib.pci_read_block(r->dev, (int)at, bytes, sizeof(bytes)))
		return false;
	*value = (uint16_t)(bytes[1] << 8 | bytes[0]);
	return *value != UINT16_MAX;
}

/* ---- BARs ---- */

static void add_bar(struct reading *r, unsigned int index, uint64_t flags)
{
	struct pci_bar *bar = LIST_ADD(r->arena, &r->d->bars);
	bool io = flags & PCI_RESOURCE_IO;
	uint64_t start = r->dev->base_addr[index] & (io ? PCI_ADDR_IO_MASK : PCI_ADDR_MEM_MASK);

	bar->index = fact_u64(index);
	/* A kernel that keeps the size of a BAR that it found no room for marks it as unset. */
	bar->start = fact_u64(flags & PCI_RESOURCE_UNSET ? 0 : start);
	if (r->dev->size[index])
		bar->size_bytes = fact_u64(r->dev->size[index]);
	bar->prefetchable = fact_bool(flags & PCI_RESOURCE_PREFETCH);
	bar->wide = fact_bool(flags & PCI_RESOURCE_64);
	bar->io = fact_bool(io);
}

/* The kernel clears the whole line of a BAR that it found no room for; the register is still there. Returns true when
 * the next register belongs to it, or -ENODATA if it cannot be read. */
static int add_unassigned(struct reading *r, unsigned int index)
{
	struct pci_bar_register found;
	struct pci_bar *bar;
	uint32_t value;

	if (!read_register(r, PCI_BASE_ADDRESS_0 + 4 * index, &value))
		return -ENODATA;
	found = pci_bar_register(value);
	if (!found.exists)
		return false;
	bar = LIST_ADD(r->arena, &r->d->bars);
	bar->index = fact_u64(index);
	bar->start = fact_u64(0);
	bar->prefetchable = fact_bool(found.prefetchable);
	bar->wide = fact_bool(found.wide);
	bar->io = fact_bool(found.io);
	return found.wide;
}

/* A line of three hexadecimal numbers for each BAR (drivers/pci/pci-sysfs.c, resource_show). */
static bool is_resource_line(struct span line)
{
	struct span word;
	uint64_t value;
	int words = 0;

	while (span_word(&line, &word)) {
		if (!span_starts(word, "0x") || span_u64(word, 16, &value))
			return false;
		words++;
	}
	return words == 3;
}

/* libpci ends the process where the file is not there or has no sense in it, and before 3.8 takes an
 * empty one for a function without BARs. The kernel always has the file, and full; a tree may not. */
static bool has_resources(struct reading *r)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	int lines = 0;

	if (host_kind(r->host) != HOST_TREE)
		return true;
	if (host_read(r->host, &text, HOST_FILE_MAX, PCI_DEVICES "/%s/resource", r->d->bdf.value))
		return false;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		if (!is_resource_line(line))
			return false;
		lines++;
	}
	return lines >= BARS;
}

/* A bridge's resource file continues with its windows: only the first six lines are BARs. */
static void read_bars(struct reading *r)
{
	if (!has_resources(r))
		return;
	if (!(lib.pci_fill_info(r->dev, PCI_FILL_SIZES | PCI_FILL_BASES | PCI_FILL_IO_FLAGS) &
	      PCI_FILL_SIZES))
		return;
	r->d->bars.state = FACT_KNOWN;
	for (unsigned int i = 0; i < BARS; i++) {
		uint64_t flags = r->dev->flags[i];

		if (flags || r->dev->size[i]) {
			add_bar(r, i, flags);
			i += !!(flags & PCI_RESOURCE_64);
		} else if (i < r->registers) {
			int upper = add_unassigned(r, i);

			if (upper < 0) {
				memset(&r->d->bars, 0, sizeof(r->d->bars));
				return;
			}
			i += (unsigned int)upper;
		}
	}
}

/* ---- capabilities ---- */

/* Returns the offset of an extended capability, or 0. */
static unsigned int find_extended(struct reading *r, unsigned int id, enum fact_state *state)
{
	int at = r->extended ? pci_capability_extended(read_register, r, id) : -ENODATA;

	*state = at == 0 ? FACT_ABSENT : FACT_UNKNOWN;
	return at > 0 ? (unsigned int)at : 0;
}

static void read_acs(struct reading *r)
{
	struct pci_acs *acs = &r->d->acs;
	unsigned int cap = find_extended(r, PCI_EXT_CAP_ID_ACS, &acs->state);
	uint16_t capability, control;

	if (!cap || !read_word(r, cap + PCI_ACS_CAP, &capability) ||
	    !read_word(r, cap + PCI_ACS_CTRL, &control))
		return;
	*acs = (struct pci_acs){ FACT_KNOWN, fact_u64(capability), fact_u64(control) };
}

static void read_ats(struct reading *r)
{
	struct fact_bool *ats = &r->d->ats_enabled;
	unsigned int cap = find_extended(r, PCI_EXT_CAP_ID_ATS, &ats->state);
	uint16_t control;

	if (cap && read_word(r, cap + PCI_ATS_CTRL, &control))
		*ats = fact_bool(control & PCI_ATS_CTRL_ENABLE);
}

/* The size that a BAR has although the kernel found no address for it. */
static void size_bar(struct reading *r, const struct pcie_rebar *rebar)
{
	for_each_mut(bar, &r->d->bars)
		if (known_is(bar->index, rebar->index) && !is_known(bar->size_bytes))
			bar->size_bytes = fact_u64(rebar->size);
}

static bool read_rebar_entries(struct reading *r, unsigned int cap)
{
	struct pcie_rebar entry = { .count = 1 };
	unsigned int count = 1;

	for (unsigned int i = 0; i < count; i++) {
		struct pci_rebar *rebar;
		uint32_t capability, control;

		if (!read_register(r, cap + 4 + 8 * i, &capability) ||
		    !read_register(r, cap + 8 + 8 * i, &control) ||
		    !pcie_rebar_parse(capability, control, &entry))
			return false;
		/* pciutils 3.9.0, ls-ecaps.c, cap_rebar(): another number is out of the specification. */
		if (i == 0 && !entry.count)
			return false;
		if (i == 0)
			count = entry.count;
		rebar = LIST_ADD(r->arena, &r->d->rebar);
		rebar->index = fact_u64(entry.index);
		rebar->size_bytes = fact_u64(entry.size);
		rebar->size_max_bytes = fact_u64(entry.size_max);
		size_bar(r, &entry);
	}
	return true;
}

/* A part of the list says nothing of the other BARs. */
static void read_rebar(struct reading *r)
{
	unsigned int cap = find_extended(r, PCI_EXT_CAP_ID_REBAR, &r->d->rebar.state);

	if (cap && !read_rebar_entries(r, cap))
		memset(&r->d->rebar, 0, sizeof(r->d->rebar));
}

static struct fact_u64 unless_zero(uint64_t value)
{
	return value ? fact_u64(value) : (struct fact_u64){ 0 };
}

static void read_port(struct pci_device *d, unsigned int type)
{
	static const int ports[] = {
		[PCI_EXP_TYPE_ENDPOINT] = PCI_ENDPOINT,
		[PCI_EXP_TYPE_LEG_END] = PCI_ENDPOINT,
		[2] = -1,
		[3] = -1,
		[PCI_EXP_TYPE_ROOT_PORT] = PCI_ROOT_PORT,
		[PCI_EXP_TYPE_UPSTREAM] = PCI_UPSTREAM_PORT,
		[PCI_EXP_TYPE_DOWNSTREAM] = PCI_DOWNSTREAM_PORT,
		[PCI_EXP_TYPE_PCI_BRIDGE] = PCI_BRIDGE,
		[PCI_EXP_TYPE_PCIE_BRIDGE] = PCI_BRIDGE,
		[PCI_EXP_TYPE_ROOT_INT_EP] = PCI_ROOT_COMPLEX,
		[PCI_EXP_TYPE_ROOT_EC] = PCI_ROOT_COMPLEX,
	};

	if (type < ARRAY_SIZE(ports) && ports[type] >= 0)
		d->port = fact_enum(ports[type]);
}

/* 7.5.3.19: the field limits the speed of a downstream port's link. Version 1 of the capability has no such
 * register. */
static void read_target(struct reading *r, unsigned int at)
{
	struct fact_u64 *target = &r->d->link.speed_target_mts;
	uint16_t flags, control;

	if (!known_is(r->d->port, PCI_ROOT_PORT) && !known_is(r->d->port, PCI_DOWNSTREAM_PORT))
		target->state = is_known(r->d->port) ? FACT_ABSENT : FACT_UNKNOWN;
	else if (read_word(r, at + PCI_EXP_FLAGS, &flags) && (flags & PCI_EXP_FLAGS_VERS) < 2)
		target->state = FACT_ABSENT;
	else if (read_word(r, at + PCI_EXP_LNKCTL2, &control))
		*target = unless_zero(pcie_speed_mts(control & 0xf));
}

/* Bit 5 of the same register (7.5.3.19). */
#define LINK_SPEED_FIXED 0x20

static void read_fixed(struct reading *r, unsigned int at)
{
	struct fact_bool *fixed = &r->d->link.speed_fixed;
	uint16_t flags, control;

	if (!read_word(r, at + PCI_EXP_FLAGS, &flags))
		return;
	if ((flags & PCI_EXP_FLAGS_VERS) < 2)
		fixed->state = FACT_ABSENT;
	else if (read_word(r, at + PCI_EXP_LNKCTL2, &control))
		*fixed = fact_bool(control & LINK_SPEED_FIXED);
}

static void read_link(struct reading *r, unsigned int at)
{
	struct pci_link *link = &r->d->link;
	uint32_t capability;
	uint16_t status;

	if (known_is(r->d->port, PCI_ROOT_COMPLEX)) {
		link->state = FACT_ABSENT;
		return;
	}
	if (!read_register(r, at + PCI_EXP_LNKCAP, &capability) ||
	    !read_word(r, at + PCI_EXP_LNKSTA, &status))
		return;
	link->state = FACT_KNOWN;
	link->speed_mts = unless_zero(pcie_speed_mts(status & PCI_EXP_LNKSTA_SPEED));
	link->speed_max_mts = unless_zero(pcie_speed_mts(capability & PCI_EXP_LNKCAP_SPEED));
	link->width = fact_u64((status & PCI_EXP_LNKSTA_WIDTH) >> 4);
	link->width_max = fact_u64((capability & PCI_EXP_LNKCAP_WIDTH) >> 4);
	read_target(r, at);
	read_fixed(r, at);
}

static void read_express(struct reading *r, unsigned int at)
{
	struct pci_device *d = r->d;
	uint32_t capability;
	uint16_t flags, control;

	if (read_word(r, at + PCI_EXP_FLAGS, &flags))
		read_port(d, (flags & PCI_EXP_FLAGS_TYPE) >> 4);
	if (read_register(r, at + PCI_EXP_DEVCAP, &capability))
		d->mps_max_bytes =
			unless_zero(pcie_payload_bytes(capability & PCI_EXP_DEVCAP_PAYLOAD));
	if (read_word(r, at + PCI_EXP_DEVCTL, &control)) {
		d->mps_bytes =
			unless_zero(pcie_payload_bytes((control & PCI_EXP_DEVCTL_PAYLOAD) >> 5));
		d->mrrs_bytes =
			unless_zero(pcie_payload_bytes((control & PCI_EXP_DEVCTL_READRQ) >> 12));
		d->relaxed_ordering = fact_bool(control & PCI_EXP_DEVCTL_RELAXED);
	}
	read_link(r, at);
	read_acs(r);
	read_ats(r);
	read_rebar(r);
}

/* A function that is not PCI Express has none of these. */
static void set_conventional(struct pci_device *d, bool bridge)
{
	if (bridge)
		d->port = fact_enum(PCI_BRIDGE);
	else
		d->port.state = FACT_ABSENT;
	d->link.state = d->acs.state = d->rebar.state = d->ats_enabled.state = FACT_ABSENT;
	d->mps_bytes.state = d->mps_max_bytes.state = d->mrrs_bytes.state = FACT_ABSENT;
	d->relaxed_ordering.state = FACT_ABSENT;
}

/* Several devices lock up when a register that they do not have is read. Every reader of the header
 * may read the first capability: whether that can be read shows how far this caller may read. */
static void read_capabilities(struct reading *r, uint32_t status, uint64_t size, bool bridge)
{
	struct pci_device *d = r->d;
	uint32_t first = 0, value;
	int express;

	d->config_bytes = fact_u64(size < CONFIG_HEADER ? size : CONFIG_HEADER);
	if ((status & PCI_STATUS_CAP_LIST) && !read_register(r, PCI_CAPABILITY_LIST, &first))
		return;
	first &= 0xfc;
	if (first < CONFIG_HEADER) {
		set_conventional(d, bridge);
		return;
	}
	if (!read_register(r, first, &value))
		return;
	d->config_bytes = fact_u64(size);
	r->extended = size >= CONFIG_MAX;
	express = pci_capability(read_register, r, PCI_CAP_ID_EXP, &value);
	if (express > 0)
		read_express(r, (unsigned int)express);
	else if (express == 0 && size >= CONFIG_CONVENTIONAL)
		set_conventional(d, bridge);
}

static void read_window(struct reading *r)
{
	struct pci_window *window = &r->d->window;
	uint32_t base_limit, base_upper, limit_upper;
	uint64_t start, size;

	if (!read_long(r, PCI_PREF_MEMORY_BASE, &base_limit) ||
	    !read_long(r, PCI_PREF_BASE_UPPER32, &base_upper) ||
	    !read_long(r, PCI_PREF_LIMIT_UPPER32, &limit_upper) ||
	    !pci_prefetch_window(base_limit, base_upper, limit_upper, &start, &size))
		return;
	*window = (struct pci_window){ FACT_KNOWN, fact_u64(start), fact_u64(size) };
}

static void read_config(struct reading *r)
{
	struct pci_device *d = r->d;
	struct host_stat stat;
	uint32_t id, command, header;
	bool bridge;

	/* Names the file for the parent, which reports where this process hangs, and gives its size. */
	if (host_stat(r->host, &stat, PCI_DEVICES "/%s/config", d->bdf.value))
		return;
	if (stat.size < CONFIG_HEADER)
		d->config_bytes = fact_u64(stat.size);
	if (!read_long(r, PCI_VENDOR_ID, &id) || !read_long(r, PCI_COMMAND, &command))
		return;
	/* A virtual function has no vendor ID of its own there, but its status (9.3.4.1.1). */
	d->answers = fact_bool(id != UINT32_MAX || command != UINT32_MAX);
	if (!d->answers.value || (id != UINT32_MAX && command == UINT32_MAX) ||
	    !read_register(r, PCI_CACHE_LINE_SIZE, &header))
		return;
	d->memory_enabled = fact_bool(command & PCI_COMMAND_MEMORY);
	d->bus_master = fact_bool(command & PCI_COMMAND_MASTER);
	header = header >> 16 & 0x7f;
	bridge = header == PCI_HEADER_TYPE_BRIDGE;
	r->registers = header == PCI_HEADER_TYPE_NORMAL ? BARS : bridge ? 2 : 0;
	read_bars(r);
	if (bridge)
		read_window(r);
	else
		d->window.state = FACT_ABSENT;
	read_capabilities(r, command >> 16, stat.size < CONFIG_MAX ? stat.size : CONFIG_MAX,
			  bridge);
}

/*
 * An HGX B200's NVSwitches are managed through ConnectX functions that look like any other: "SMDL=SW_MNG"
 * in the vital product data tells them (NVIDIA Fabric Manager User Guide, fourth generation NVSwitch).
 * The data also has serial numbers, which is why no more than this word is kept.
 */
static void read_sub_model(struct reading *r)
{
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	enum vpd_answer answer = VPD_NONE;
	int rc = host_read_head(r->host, &text, VPD_HEAD, PCI_DEVICES "/%s/vpd", r->d->bdf.value);

	if (rc && rc != -ENOENT)
		return;
	if (rc == 0)
		answer = vpd_find(text_span(&text), "SMDL", &value);
	if (answer == VPD_FOUND)
		r->d->sub_model = fact_strn(r->arena, value.p, value.n);
	else
		r->d->sub_model.state = answer == VPD_NONE ? FACT_ABSENT : FACT_UNKNOWN;
}

static void ask_function(struct reading *r, struct pci_access *access,
			 const struct pci_device *found)
{
	struct pci_address at;

	if (!pci_address_parse(span_of(found->bdf.value), &at))
		return;
	r->dev = lib.pci_get_dev(access, (int)at.domain, at.bus, at.device, at.function);
	r->registers = 0;
	r->extended = false;
	if (pci_matters(found) && !str_is(found->power_state, "D3cold"))
		read_config(r);
	if (r->nvswitches && pci_is_mlx(found))
		read_sub_model(r);
	if (is_unknown(r->d->bars))
		read_bars(r);
	lib.pci_free_dev(r->dev);
}

int pci_config_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const char *const opened[] = { "config", "resource", NULL };
	const struct pci_facts *found = user;
	struct pci_facts *answer = facts;
	struct reading r = { .host = host,
			     .arena = arena,
			     .nvswitches = gpu_nvswitch_is_nic(found) };
	char path[PATH_MAX];
	struct pci_access *access;
	int rc = host_folder(host, PCI_DEVICES, opened, path);

	/* Not before: it brings libudev, and preflight needs neither. */
	if (rc == 0)
		rc = LIBRARY_LOAD(LIBPCI, FUNCTIONS);
	if (rc)
		return rc;
	path[strlen(path) - strlen("/devices")] = '\0';
	access = lib.pci_alloc();
	/* Other methods would access the hardware's ports. */
	access->method = PCI_ACCESS_SYS_BUS_PCI;
	access->error = end_child;
	access->warning = ignore_warning;
	lib.pci_set_param(access, (char *)"sysfs.path", path);
	lib.pci_init(access);
	for_each(d, &found->devices) {
		r.d = LIST_ADD(arena, &answer->devices);
		r.d->bdf = d->bdf;
		ask_function(&r, access, d);
	}
	lib.pci_cleanup(access);
	return 0;
}
