/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node-find.c - finding one thing in a node's facts by its name. */
#include "query/node-find.h"

#include <string.h>

#include "parse/version.h"

const struct pci_device *node_pci(const struct node *node, const char *bdf)
{
	return LIST_FIND(&node->pci.devices, bdf);
}

const struct module *node_module(const struct node *node, const char *name)
{
	for_each(m, &node->modules.loaded)
		if (str_is(m->name, name))
			return m;
	return NULL;
}

const struct driver_param *node_param(const struct node *node, const char *name)
{
	for_each(p, &node->driver.params)
		if (str_is(p->name, name))
			return p;
	return NULL;
}

const struct log_line *node_log(const struct node *node, const char *pattern)
{
	for_each(line, &node->log.lines)
		if (str_is(line->pattern, pattern))
			return line;
	return NULL;
}

const struct log_subject *log_of_device(const struct log_line *line, const char *bdf)
{
	return line ? LIST_FIND(&line->devices, bdf) : NULL;
}

const struct log_subject *log_of_module(const struct log_line *line, const char *name)
{
	return line ? LIST_FIND(&line->modules, name) : NULL;
}

static const char *subject_fact(struct arena *arena, const struct log_line *line, const char *list,
				const char *name, const char *member)
{
	return arena_printf(arena, "log.lines[%s].%s[%s].%s", line->pattern.value, list, name,
			    member);
}

const char *log_device_fact(struct arena *arena, const struct log_line *line, const char *bdf,
			    const char *member)
{
	return subject_fact(arena, line, "devices", bdf, member);
}

const char *log_module_fact(struct arena *arena, const struct log_line *line, const char *name)
{
	return subject_fact(arena, line, "modules", name, "last");
}

const struct service *node_service(const struct node *node, const char *unit)
{
	for_each(s, &node->services.units)
		if (str_is(s->unit, unit))
			return s;
	return NULL;
}

const struct software_item *node_software(const struct node *node, const char *name)
{
	const struct software_item *found = NULL;

	for_each(item, &node->software.items)
		if (str_is(item->name, name) && is_known(item->version) &&
		    (!found || version_compare(item->version.value, found->version.value) > 0))
			found = item;
	return found;
}

const char *software_version_fact(struct arena *arena, const struct software_item *item)
{
	return fact_path(arena, "software.items", item->path.value, "version");
}

const struct rdma_device *node_rdma(const struct node *node, const char *name)
{
	for_each(d, &node->rdma.devices)
		if (str_is(d->name, name))
			return d;
	return NULL;
}

const char *node_env(const struct node *node, const char *name)
{
	for_each(v, &node->env.variables)
		if (str_is(v->name, name) && is_known(v->value))
			return v->value.value;
	return NULL;
}

const struct rdma_device *node_rdma_of(const struct node *node, const struct pci_device *function)
{
	for_each(d, &node->rdma.devices)
		if (is_known(d->bdf) && str_is(function->bdf, d->bdf.value))
			return d;
	return NULL;
}

bool node_service_will_run(const struct node *node, const char *unit)
{
	const struct service *s = node_service(node, unit);

	return s && (str_is(s->active, "active") ||
		     (str_is(s->enabled, "enabled") && !str_is(s->active, "failed")));
}
