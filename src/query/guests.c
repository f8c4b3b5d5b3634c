/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guests.c - PCI functions that this host gives to virtual machines. */
#include "query/guests.h"

#include "query/module-find.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/wanted-driver.h"

/* A device that a virtual machine has open holds a reference to the module. */
static bool guest_runs(const struct node *node)
{
	const struct module *vfio = node_module(node, "vfio_pci");

	return vfio && is_known(vfio->refcnt) && vfio->refcnt.value > vfio->holders.count;
}

/* Returns true if a GPU is not held back; of DEVICE's model, if that is not NULL. */
static bool any_of_host(const struct node *node, const struct pci_device *device)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !pci_is_for_guest(d) &&
		    (!device || known_is(d->device_id, device->device_id.value)))
			return true;
	return false;
}

/* Why DEVICE, which is bound, is given away; NULL: nothing that was read says so. */
static const char *find_reason(const struct node *node, const struct pci_device *device,
			       const char **fact)
{
	*fact = "modules.loaded[vfio_pci].refcnt";
	if (guest_runs(node))
		return "a virtual machine has functions of vfio-pci open";
	*fact = "pci.devices";
	if (is_known(device->driver_override) &&
	    str_is(device->driver, device->driver_override.value))
		return "its driver_override names that driver";
	*fact = "modprobe.assignments";
	if (str_is(device->driver, "vfio-pci") && driver_ids_of(node, "vfio_pci", device) &&
	    !any_of_host(node, device))
		return "the option ids= of vfio-pci names its model";
	*fact = "modules.files";
	if (!any_of_host(node, NULL) && known_is(node->driver.loaded, false) &&
	    was_read(node->modules.files) && is_known(node->os.kernel) &&
	    !module_file_find(node, "nvidia", node->os.kernel.value))
		return "no GPU is left for the host, which has no NVIDIA driver";
	return NULL;
}

/* The fact that could still be a reason, and was not read; NULL: there is none. */
static const char *find_unread(const struct node *node, const struct pci_device *device)
{
	if (!was_read(node->modules.loaded))
		return "modules.loaded";
	if (is_unknown(device->driver_override))
		return "pci.devices";
	if (!known_is(node->modprobe.complete, true))
		return "modprobe.complete";
	if (any_of_host(node, NULL) || known_is(node->driver.loaded, true))
		return NULL;
	if (!was_read(node->modules.files))
		return "modules.files";
	return is_known(node->os.kernel) ? NULL : "os.kernel";
}

bool guests_have_all_by_ids(const struct node *node, const struct pci_device *device)
{
	size_t twins = 0;

	if (!str_is(device->driver, "vfio-pci") || !driver_ids_of(node, "vfio_pci", device) ||
	    is_known(device->driver_override) || guest_runs(node) || any_of_host(node, NULL))
		return false;
	for_each(d, &node->pci.devices)
		twins += pci_is_gpu(d) && known_is(d->device_id, device->device_id.value);
	return twins > 1 &&
	       (module_file_running(node, "nvidia") || module_file_running(node, "nvidia_current"));
}

struct fact_bool guest_function(const struct node *node, const struct pci_device *device,
				const char **why, const char **fact)
{
	const char *reason, *unread;

	*fact = "pci.devices";
	if (is_unknown(device->driver))
		return (struct fact_bool){ 0 };
	if (!pci_is_for_guest(device))
		return fact_bool(false);
	reason = find_reason(node, device, fact);
	if (why)
		*why = reason;
	if (reason)
		return fact_bool(true);
	unread = find_unread(node, device);
	*fact = unread ? unread : "pci.devices";
	return unread ? (struct fact_bool){ 0 } : fact_bool(false);
}

static bool is_guest_driver(struct fact_str driver)
{
	return str_is(driver, "vfio-pci") || str_is(driver, "pci-stub");
}

/* Another card of the model is bound as ids= says: then this one can be the host's on purpose. */
static bool is_given_by_ids(const struct node *node, const struct pci_device *device)
{
	if (!driver_ids_of(node, "vfio_pci", device) && !driver_ids_of(node, "pci_stub", device))
		return false;
	for_each(d, &node->pci.devices)
		if (d != device && pci_is_gpu(d) && pci_is_for_guest(d) &&
		    known_is(d->device_id, device->device_id.value))
			return false;
	return true;
}

bool guest_lacks(const struct node *node, const struct pci_device *device, const char **fact)
{
	*fact = "pci.devices";
	if (!pci_is_gpu(device) || is_unknown(device->driver) || pci_is_for_guest(device) ||
	    str_is(device->driver, "nvidia") || !is_known(device->device_id))
		return false;
	if (is_guest_driver(device->driver_override))
		return true;
	for_each(o, &node->pci.overrides)
		if (str_is(o->bdf, device->bdf.value)) {
			*fact = "pci.overrides";
			return is_guest_driver(o->driver);
		}
	*fact = "modprobe.assignments";
	return is_given_by_ids(node, device);
}

struct guest_gpus guest_gpus(const struct node *node)
{
	struct guest_gpus found = { .fact = "pci.devices" };

	for_each(d, &node->pci.devices) {
		const char *why = NULL, *fact;
		struct fact_bool given;

		if (!pci_is_gpu(d))
			continue;
		given = guest_function(node, d, &why, &fact);
		found.gpus++;
		if (guest_lacks(node, d, &fact)) {
			given = fact_bool(true);
			why = "the configuration gives it to virtual machines";
		}
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

bool node_may_have_vfio(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (is_unknown(d->driver) || str_is(d->driver, "vfio-pci") ||
		    str_is(d->driver, "vfio_pci"))
			return true;
	return false;
}

bool guests_hold_all_gpus(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !pci_is_for_guest(d))
			return false;
	return was_read(node->pci.devices);
}
