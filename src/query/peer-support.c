/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer-support.c - the GPUs between which the loaded driver allows peer-to-peer over PCIe: all but GeForce cards, and
 * these with a build that is patched for it.
 */
#include "query/peer-support.h"

#include "base/array.h"
#include "query/gpus.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/topology.h"

static bool built_by_nvidia_or_distribution(const struct driver_facts *driver)
{
	static const char *const builders[] = { "dvs-builder@", "buildd@",	  "mockbuild@",
						"abuild@",	"root@localhost", "builder@" };

	for (size_t i = 0; i < ARRAY_SIZE(builders); i++)
		if (str_starts(driver->builder, builders[i]))
			return true;
	return false;
}

bool driver_is_built_here(const struct node *node)
{
	return is_known(node->driver.builder) && !built_by_nvidia_or_distribution(&node->driver);
}

static bool is_geforce(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return model && model->kind == GPU_GEFORCE;
}

static bool all_geforce(const struct node *node)
{
	size_t others = 0, gpus = 0;

	for_each(d, &node->pci.devices) {
		gpus += pci_is_gpu(d);
		others += pci_is_gpu(d) && !is_geforce(d);
	}
	return gpus && !others;
}

static bool any_large_geforce(const struct node *node)
{
	for_each(d, &node->pci.devices) {
		const struct pci_bar *bar = is_geforce(d) ? gpu_bar1(d) : NULL;

		if (bar && is_known(bar->size_bytes) && bar->size_bytes.value > BAR1_SMALL_BYTES)
			return true;
	}
	return false;
}

/* Returns true if a GeForce with a large BAR1 can have been overlooked. */
static bool bars_are_unread(const struct node *node)
{
	if (!was_read(node->pci.devices))
		return true;
	for_each(d, &node->pci.devices) {
		if (is_known(d->vendor_id) && d->vendor_id.value != 0x10de)
			continue;
		if (is_unknown(d->vendor_id) || is_unknown(d->class_id) ||
		    (pci_is_gpu(d) && (is_unknown(d->device_id) || is_unknown(d->bars))))
			return true;
	}
	return false;
}

/* The keys that patched drivers ask for; the stock driver refuses peers between GeForce cards whatever they say. */
static bool any_geforce_forces_peers(const struct node *node)
{
	const struct driver_param *keys = node_param(node, "RegistryDwords");

	return keys && is_known(keys->value) && all_geforce(node) &&
	       (strstr(keys->value.value, "ForceP2P") ||
		strstr(keys->value.value, "RMPcieP2PType"));
}

struct fact_bool driver_is_patched(const struct node *node, struct arena *arena, const char **signs)
{
	const struct driver_param *rebar = node_param(node, "EnableResizableBar");
	bool logged = node_log(node, "bar1-bus-address") ||
		      (all_geforce(node) && (node_log(node, "bar1-p2p-mapping") ||
					     node_log(node, "bar1-static-too-small")));
	unsigned int seen = 0, unread = 0;
	const char *text = "";

	if (signs)
		*signs = text;
	if (known_is(node->driver.loaded, false))
		return fact_bool(false);
	if (logged) {
		text = "a log line that only a patched driver prints for these GPUs";
		seen++;
	}
	if (driver_is_built_here(node)) {
		text = arena_printf(arena, "%s%sbuilt by %s", text, seen ? "; " : "",
				    node->driver.builder.value);
		seen++;
	}
	if (any_large_geforce(node) && rebar && str_is(rebar->value, "0")) {
		text = arena_printf(
			arena, "%s%sa GeForce with a large BAR1 though EnableResizableBar is 0",
			text, seen ? "; " : "");
		seen++;
	}
	if (any_geforce_forces_peers(node)) {
		text = arena_printf(arena, "%s%sNVreg_RegistryDwords forces peer-to-peer", text,
				    seen ? "; " : "");
		seen++;
	}
	if (signs)
		*signs = text;
	unread += is_unknown(node->driver.builder);
	unread += bars_are_unread(node) || !was_read(node->driver.params);
	if (seen >= 2 || logged)
		return fact_bool(true);
	return unread && seen + unread >= 2 ? (struct fact_bool){ 0 } : fact_bool(false);
}

static bool has_nvlink_connector(const struct gpu_model *model)
{
	static const char *const names[] = {
		"TITAN RTX",	    "GeForce RTX 2080 Ti", "GeForce RTX 2080 SUPER",
		"GeForce RTX 2080", "GeForce RTX 3090",	   "GeForce RTX 3090 Ti"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(model->name, names[i]) == 0)
			return true;
	return false;
}

enum peer_support gpu_peer_support(const struct pci_device *gpu)
{
	if (!is_geforce(gpu) || gpu_is_before_turing(gpu))
		return PEERS_OVER_PCIE;
	return has_nvlink_connector(gpu_model(gpu)) ? PEERS_OVER_NVLINK : PEERS_NONE;
}

struct fact_bool gpu_has_pcie_peers(const struct node *node, const struct pci_device *gpu,
				    struct arena *arena)
{
	if (gpu_peer_support(gpu) == PEERS_OVER_PCIE)
		return fact_bool(true);
	if (!known_is(node->driver.loaded, true))
		return (struct fact_bool){ 0 };
	return driver_is_patched(node, arena, NULL);
}

struct fact_bool node_has_peers(const struct node *node, struct arena *arena)
{
	size_t able = 0;

	for_each(d, &node->pci.devices)
		able += pci_is_gpu(d) && gpu_peer_support(d) != PEERS_NONE;
	if (able >= 2)
		return fact_bool(true);
	if (topology_gpus(node) < 2)
		return fact_bool(false);
	return driver_is_patched(node, arena, NULL);
}
