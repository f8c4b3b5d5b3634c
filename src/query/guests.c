/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/guests.h"

#include "query/module-find.h"
#include "query/node-find.h"

/* A device that a virtual machine has open holds a reference to the module. */
static bool guest_runs(const struct node *node)
{
	const struct module *vfio = node_module(node, "vfio_pci");

	return vfio && is_known(vfio->refcnt) && vfio->refcnt.value > vfio->holders.count;
}

/* VENDOR:DEVICE[:SUBVENDOR[:SUBDEVICE[:CLASS[:MASK]]]] in hexadecimal
 * (drivers/vfio/pci/vfio_pci.c, vfio_pci_fill_ids()) */
static bool id_fits(struct span id, const struct pci_device *device)
{
	struct span vendor, model;
	uint64_t number;

	return span_cut(&id, ':', &vendor) && span_cut(&id, ':', &model) &&
	       span_u64(vendor, 16, &number) == 0 && known_is(device->vendor_id, number) &&
	       span_u64(model, 16, &number) == 0 && known_is(device->device_id, number);
}

static bool ids_name(const struct node *node, const struct pci_device *device)
{
	for_each(a, &node->modprobe.assignments) {
		struct span ids, id;

		if (!str_is(a->module, "vfio_pci") || !str_is(a->param, "ids") ||
		    !known_is(a->effective, true) || !is_known(a->value))
			continue;
		ids = span_of(a->value.value);
		while (span_cut(&ids, ',', &id))
			if (id_fits(id, device))
				return true;
	}
	return false;
}

/* Is a GPU not held back; of DEVICE's model, where that is not NULL? */
static bool any_of_host(const struct node *node, const struct pci_device *device)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !pci_is_for_guest(d) &&
		    (!device || known_is(d->device_id, device->device_id.value)))
			return true;
	return false;
}

static struct fact_bool without_driver(const struct node *node, const char **why, const char **fact)
{
	*fact = "driver.loaded";
	if (any_of_host(node, NULL) || known_is(node->driver.loaded, true))
		return fact_bool(false);
	*fact = "modules.files";
	if (!was_read(node->modules.files) || !is_known(node->os.kernel))
		return (struct fact_bool){ 0 };
	*why = "no GPU is left for the host, which has no NVIDIA driver";
	return fact_bool(!module_file_find(node, "nvidia", node->os.kernel.value));
}

struct fact_bool guest_function(const struct node *node, const struct pci_device *device,
				const char **why, const char **fact)
{
	const char *no_why;

	if (!why)
		why = &no_why;
	*fact = "pci.devices";
	*why = NULL;
	if (is_unknown(device->driver))
		return (struct fact_bool){ 0 };
	if (!pci_is_for_guest(device))
		return fact_bool(false);
	if (guest_runs(node)) {
		*why = "a virtual machine has functions of vfio-pci open";
		*fact = "modules.loaded[vfio_pci].refcnt";
		return fact_bool(true);
	}
	if (is_known(device->driver_override) &&
	    str_is(device->driver, device->driver_override.value)) {
		*why = "its driver_override names that driver";
		return fact_bool(true);
	}
	if (str_is(device->driver, "vfio-pci") && ids_name(node, device) &&
	    !any_of_host(node, device)) {
		*why = "the option ids= of vfio-pci names its model";
		*fact = "modprobe.assignments";
		return fact_bool(true);
	}
	return without_driver(node, why, fact);
}

struct guest_gpus guest_gpus(const struct node *node)
{
	struct guest_gpus found = { .fact = "pci.devices" };

	for_each(d, &node->pci.devices) {
		const char *why, *fact;
		struct fact_bool given;

		if (!pci_is_gpu(d))
			continue;
		given = guest_function(node, d, &why, &fact);
		found.gpus++;
		found.bound += pci_is_for_guest(d);
		found.unread += is_unknown(given);
		if (is_unknown(given) && !found.given)
			found.fact = fact;
		if (known_is(given, true) && !found.given++) {
			found.why = why;
			found.fact = fact;
		}
	}
	return found;
}

bool guests_have_all_gpus(const struct node *node)
{
	struct guest_gpus found = guest_gpus(node);

	return found.gpus && found.given == found.gpus;
}
