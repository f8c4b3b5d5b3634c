/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wanted-driver.c - the driver that the configuration gives a PCI function to. */
#include "query/wanted-driver.h"

#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "query/node-find.h"

/* A number of an id, or ffffffff for any. */
static bool part_fits(struct span *id, struct fact_u64 number, bool *more)
{
	struct span part;
	uint64_t value;

	*more = span_cut(id, ':', &part);
	return !*more || (span_u64(part, 16, &value) == 0 &&
			  (value == UINT32_MAX || known_is(number, value)));
}

/* VENDOR:DEVICE[:SUBVENDOR[:SUBDEVICE[:CLASS[:MASK]]]] in hexadecimal
 * (drivers/vfio/pci/vfio_pci.c, vfio_pci_fill_ids()) */
static bool id_fits(struct span id, const struct pci_device *d)
{
	const struct fact_u64 numbers[] = { d->vendor_id, d->device_id, d->subsystem_vendor_id,
					    d->subsystem_device_id };
	bool more;

	if (!span_find(id, ':') || span_find(id, ':') == id.n)
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (!part_fits(&id, numbers[i], &more))
			return false;
		if (!more)
			break;
	}
	return true;
}

const struct modprobe_assignment *driver_ids_of(const struct node *node, const char *module,
						const struct pci_device *device)
{
	for_each(a, &node->modprobe.assignments) {
		struct span ids, id;

		if (!str_is(a->module, module) || !str_is(a->param, "ids") ||
		    !known_is(a->effective, true) || !is_known(a->value))
			continue;
		ids = span_of(a->value.value);
		while (span_cut(&ids, ',', &id))
			if (id_fits(id, device))
				return a;
	}
	return NULL;
}

/* Returns true if the file was written after the boot. */
static bool is_later(const struct node *node, const char *path)
{
	for_each(f, &node->modprobe.files)
		if (str_is(f->path, path))
			return is_known(f->mtime_s) && is_known(node->os.boot_time_s) &&
			       f->mtime_s.value > node->os.boot_time_s.value;
	return false;
}

static const char *place_of(struct arena *arena, const struct modprobe_assignment *a)
{
	return is_known(a->line) ? arena_printf(arena, "%s:%" PRIu64, a->file.value, a->line.value)
				 : a->file.value;
}

static const struct pci_override *override_of(const struct node *node, const char *bdf)
{
	for_each(o, &node->pci.overrides)
		if (str_is(o->bdf, bdf))
			return o;
	return NULL;
}

/* False: neither vfio-pci's ids nor those of pci-stub name it. */
static bool by_ids(struct arena *arena, const struct node *node, const struct pci_device *device,
		   struct wanted_driver *wanted)
{
	static const char *const modules[][2] = { { "vfio_pci", "vfio-pci" },
						  { "pci_stub", "pci-stub" } };

	for (size_t i = 0; i < 2; i++) {
		const struct modprobe_assignment *a = driver_ids_of(node, modules[i][0], device);

		if (!a)
			continue;
		*wanted = (struct wanted_driver){
			.driver = modules[i][1],
			.why = arena_printf(arena, "ids= of %s names its model (%s)", modules[i][1],
					    place_of(arena, a)),
			.fact = ITEM_FACT(arena, node, modprobe.assignments, a, value),
			.later = is_later(node, a->file.value),
		};
		return true;
	}
	return false;
}

struct wanted_driver wanted_driver(struct arena *arena, const struct node *node,
				   const struct pci_device *device)
{
	const char *bdf = device->bdf.value;
	const struct pci_override *o = override_of(node, bdf);
	struct wanted_driver wanted = { 0 };

	if (is_known(device->driver_override))
		return (struct wanted_driver){
			.driver = device->driver_override.value,
			.why = arena_printf(arena, "its driver_override names %s",
					    device->driver_override.value),
			.fact = fact_path(arena, "pci.devices", bdf, "driver_override"),
		};
	if (o && is_known(o->driver))
		return (struct wanted_driver){
			.driver = o->driver.value,
			.why = arena_printf(arena, "/etc/driverctl.d/%s names %s", bdf,
					    o->driver.value),
			.fact = fact_path(arena, "pci.overrides", bdf, "driver"),
		};
	if (by_ids(arena, node, device, &wanted))
		return wanted;
	wanted.unread = !known_is(node->modprobe.complete, true) || is_unknown(node->pci.overrides);
	wanted.fact = known_is(node->modprobe.complete, true) ? "pci.overrides"
							      : "modprobe.complete";
	return wanted;
}
