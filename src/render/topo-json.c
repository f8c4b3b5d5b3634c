/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-json.c - the tree and the matrix as a document (docs/formats/topo.schema.json). */
#include "base/json.h"
#include "render/topo.h"

static void put_bool(struct json_object *json, const char *key, bool known, bool value)
{
	json_put(json, key, known ? json_object_new_boolean(value) : NULL);
}

static void put_u64(struct json_object *json, const char *key, struct fact_u64 fact)
{
	json_put(json, key, is_known(fact) ? json_u64(fact.value) : NULL);
}

static struct json_object *link_json(const struct pci_link *link)
{
	struct json_object *json;

	if (!is_known(*link))
		return NULL;
	json = json_object_new_object();
	put_u64(json, "speed_mts", link->speed_mts);
	put_u64(json, "speed_max_mts", link->speed_max_mts);
	put_u64(json, "width", link->width);
	put_u64(json, "width_max", link->width_max);
	return json;
}

static struct json_object *port_json(const struct rdma_port *port)
{
	struct json_object *json = json_object_new_object();

	put_u64(json, "port", port->port);
	json_put_string(json, "state",
			is_known(port->state) ? rdma_port_state_words[port->state.value] : NULL);
	json_put_string(json, "link_layer",
			is_known(port->link_layer) ? port->link_layer.value : NULL);
	put_u64(json, "rate_mbps", port->rate_mbps);
	return json;
}

static struct json_object *rdma_json(const struct node *node, const struct pci_device *device)
{
	struct json_object *array = json_object_new_array();

	for_each(d, &node->rdma.devices) {
		struct json_object *json, *ports;

		if (!is_known(d->bdf) || !str_is(device->bdf, d->bdf.value))
			continue;
		json = json_object_new_object();
		ports = json_object_new_array();
		for_each(p, &d->ports)
			json_object_array_add(ports, port_json(p));
		json_put_string(json, "name", d->name.value);
		json_put(json, "ports", ports);
		json_object_array_add(array, json);
	}
	return array;
}

static const char *const state_words[] = {
	[TOPO_WELL] = "well",
	[TOPO_DEGRADED] = "degraded",
	[TOPO_UNBOUND] = "unbound",
	[TOPO_DEAD] = "dead",
};

static void put_device(struct json_object *json, const struct topo *topo,
		       const struct topo_item *item)
{
	const struct pci_device *d = item->device;
	bool acs = is_absent(d->acs) || (is_known(d->acs) && is_known(d->acs.control));

	json_put_string(json, "name", item->name);
	json_put_string(json, "model", item->label);
	json_put_string(json, "state", state_words[topo_state(topo, item)]);
	json_put(json, "link", link_json(&d->link));
	put_bool(json, "acs_redirects", acs, topo_redirects(d));
	json_put_string(json, "driver", is_known(d->driver) ? d->driver.value : NULL);
	if (item->kind == TOPO_GPU || item->kind == TOPO_NIC) {
		struct fact_str iommu = topo_iommu(topo, d);

		if (was_read(iommu))
			json_put_string(json, "iommu", is_known(iommu) ? iommu.value : NULL);
	}
	if (item->kind == TOPO_NIC) {
		const char *role = topo_role(topo, item->id);

		json_put_string(json, "role", *role ? role : NULL);
		json_put(json, "rdma", rdma_json(topo->node, d));
	}
}

static struct json_object *item_json(const struct topo *topo, const struct topo_item *item)
{
	struct json_object *json = json_object_new_object();
	struct json_object *children = json_object_new_array();

	json_put_string(json, "kind", topo_kind_words[item->kind]);
	json_put_string(json, "id", item->id);
	if (item->device)
		put_device(json, topo, item);
	for (const struct topo_item *i = item->first; i; i = i->next)
		json_object_array_add(children, item_json(topo, i));
	json_put(json, "children", children);
	return json;
}

static struct json_object *settings_json(const struct topo *topo)
{
	struct json_object *array = json_object_new_array();
	struct topo_settings settings = topo_settings(topo);

	for_each(s, &settings) {
		struct json_object *json = json_object_new_object();

		json_put_string(json, "name", s->name);
		json_put_string(json, "value", s->value);
		json_put_string(json, "reason", s->reason);
		json_object_array_add(array, json);
	}
	return array;
}

/* The names that tree and matrix share. */
static struct json_object *names_json(const struct topo *topo)
{
	struct json_object *json = json_object_new_object();

	for_each(gpu, &topo->table->gpus)
		json_put_string(json, topo_name(topo, gpu->bdf.value), gpu->bdf.value);
	for_each(nic, &topo->table->nics)
		json_put_string(json, topo_name(topo, nic->bdf.value), nic->bdf.value);
	return json;
}

static const char *const way_words[] = {
	[TOPO_WAY_NVLINK] = "nvlink",
	[TOPO_WAY_PCIE] = "pcie",
	[TOPO_WAY_HOST] = "host-memory",
};

/* NULL: the driver was not asked. */
static struct json_object *nvlinks_json(const struct topo *topo)
{
	struct json_object *array;

	if (!was_read(topo->node->nvml.gpus))
		return NULL;
	array = json_object_new_array();
	for_each(gpu, &topo->node->nvml.gpus)
		for_each(peer, &gpu->peers) {
			struct json_object *json = json_object_new_object();

			json_put_string(json, "from", gpu->bdf.value);
			json_put_string(json, "to", peer->bdf.value);
			put_u64(json, "links", peer->links);
			json_put_string(json, "copies",
					way_words[topo_way(topo, gpu->bdf.value, peer->bdf.value)]);
			json_object_array_add(array, json);
		}
	return array;
}

enum exit_status render_topo_json(const struct topo *topo)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-topo");
	struct json_object *tree = json_object_new_array();

	for (const struct topo_item *i = topo->root->first; i; i = i->next)
		json_object_array_add(tree, item_json(topo, i));
	json_put_string(json, "hostname",
			is_known(topo->node->os.hostname) ? topo->node->os.hostname.value : NULL);
	json_put(json, "tree", tree);
	json_put(json, "settings", settings_json(topo));
	json_put(json, "names", names_json(topo));
	json_put(json, "nvlinks", nvlinks_json(topo));
	json_put(json, "topology", fact_to_json(&topology_facts_desc, topo->table));
	return render_json(json, EXIT_WELL);
}
