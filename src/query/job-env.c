/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-env.c - the variables of a job that tell NCCL and NVSHMEM about NICs. */
#include "query/job-env.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell.h"
#include "parse/version.h"
#include "query/node-find.h"
#include "query/ports.h"

struct job_value job_env(struct arena *arena, const struct node *node, const char *name)
{
	struct job_value v = { .name = name, .value = node_env(node, name) };

	if (v.value && !*v.value)
		v.value = NULL;
	if (v.value)
		v.fact = fact_path(arena, "env.variables", name, "value");
	return v;
}

/* NCCL: src/misc/param.cc. The environment overrides the files, and the first file the second. */
struct job_value job_nccl(struct arena *arena, const struct node *node, const char *name)
{
	struct job_value v = job_env(arena, node, name);

	/* A variable with an empty value counts as set. */
	if (node_env(node, name))
		return v;
	for_each(s, &node->env.nccl_conf) {
		if (!str_is(s->name, name))
			continue;
		/* A line's end of other systems: env/nccl-conf-line speaks of it. */
		if (*s->value.value)
			v.value = arena_printf(arena, "%.*s", (int)strcspn(s->value.value, "\r"),
					       s->value.value);
		v.fact = v.value ? fact_path(arena, "env.nccl_conf", name, "value") : NULL;
		break;
	}
	return v;
}

bool job_nvshmem_reads_conf(const struct node *node)
{
	const struct software_item *nvshmem = node_software(node, "nvshmem");

	return nvshmem && version_compare(nvshmem->version.value, NVSHMEM_READS_CONF) >= 0;
}

/* The one that counts: the last. NULL: none, or no file is read. */
static const struct env_setting *nvshmem_setting(const struct node *node, const char *name)
{
	const struct env_setting *found = NULL;

	if (job_nvshmem_reads_conf(node))
		for_each(s, &node->env.nvshmem_conf)
			if (str_is(s->name, name))
				found = s;
	return found;
}

struct job_value job_nvshmem(struct arena *arena, const struct node *node, const char *name)
{
	const struct env_setting *s = nvshmem_setting(node, name);
	struct job_value v = job_env(arena, node, name);

	if (!s)
		return v;
	v.value = *s->value.value ? s->value.value : NULL;
	v.fact = v.value ? ITEM_FACT(arena, node, env.nvshmem_conf, s, value) : NULL;
	return v;
}

/* The file that the value comes from; NULL: the environment. */
static const char *file_of(const struct node *node, const char *name)
{
	const struct env_setting *over = nvshmem_setting(node, name);

	if (over)
		return over->file.value;
	for_each(v, &node->env.variables)
		if (str_is(v->name, name))
			return is_known(v->file) ? v->file.value : NULL;
	for_each(s, &node->env.nccl_conf)
		if (str_is(s->name, name))
			return s->file.value;
	return NULL;
}

const char *job_value_text(struct arena *arena, const struct node *node, const struct job_value *v)
{
	const char *file = file_of(node, v->name);

	if (file)
		return arena_printf(arena, "%s=%s of %s", v->name, v->value, file);
	return arena_printf(arena, "%s=%s", v->name, v->value);
}

bool job_number(const struct job_value *v, long *number)
{
	char *end;

	if (!v->value)
		return false;
	*number = strtol(v->value, &end, 0);
	return end != v->value;
}

bool job_is_on(const struct job_value *v)
{
	return v->value && !strchr("0nNfF", v->value[0]);
}

struct hca_list job_nic_list(struct arena *arena, const struct node *node, bool nvshmem)
{
	struct job_value list = nvshmem ? job_nvshmem(arena, node, "NVSHMEM_HCA_LIST")
					: job_nccl(arena, node, "NCCL_IB_HCA");

	if (nvshmem && !list.value)
		list = job_nvshmem(arena, node, "NVSHMEM_HCA_PE_MAPPING");
	if (!list.value)
		return hca_list_nccl("");
	return nvshmem ? hca_list_nvshmem(list.value) : hca_list_nccl(list.value);
}

/* A port that jobs can use, and that on Ethernet other nodes can reach. */
static bool is_for_jobs(const struct node *node, const struct endpoints *endpoints,
			const struct rdma_device *d, const struct rdma_port *p)
{
	return port_usable(node, d, p) == USABLE_YES && !is_management(endpoints, d) &&
	       !is_virtual_function(endpoints, d) && is_known(p->rate_mbps) &&
	       (!port_is_ethernet(p) || port_usable_gid(p));
}

static const struct rdma_port *fastest_port(const struct node *node,
					    const struct endpoints *endpoints)
{
	const struct rdma_port *best = NULL;

	for_each_port(d, p, node)
		if (is_for_jobs(node, endpoints, d, p) &&
		    (!best || p->rate_mbps.value > best->rate_mbps.value))
			best = p;
	return best;
}

const char *job_nic_example(struct arena *arena, const struct node *node,
			    const struct endpoints *endpoints, const char *variable)
{
	bool nccl = strcmp(variable, "NCCL_IB_HCA") == 0;
	const struct rdma_port *best = fastest_port(node, endpoints);
	struct arena_text text = { .arena = arena };

	for_each_port(d, p, node) {
		if (!is_for_jobs(node, endpoints, d, p) ||
		    port_is_ethernet(p) != port_is_ethernet(best) ||
		    p->rate_mbps.value != best->rate_mbps.value)
			continue;
		if (!shell_is_plain(d->name.value))
			return NULL;
		arena_add(&text, "%s%s", text.n ? "," : nccl ? "=" : "", d->name.value);
		if (!nccl || d->ports.count > 1)
			arena_add(&text, ":%" PRIu64, p->port.value);
	}
	return text.text;
}
