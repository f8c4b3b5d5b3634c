/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/job-env.h"
#include "query/node-find.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

	/* One that is set to nothing is set. */
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

const char *job_value_text(struct arena *arena, const struct node *node, const struct job_value *v)
{
	if (!node_env(node, v->name))
		for_each(s, &node->env.nccl_conf)
			if (str_is(s->name, v->name))
				return arena_printf(arena, "%s=%s of %s", v->name, v->value,
						    s->file.value);
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
	static const char *const no[] = { "0", "n", "no", "f", "false", "off" };

	if (!v->value)
		return false;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (strcasecmp(v->value, no[i]) == 0)
			return false;
	return true;
}

struct hca_list job_nic_list(struct arena *arena, const struct node *node, bool nvshmem)
{
	struct job_value list = nvshmem ? job_env(arena, node, "NVSHMEM_HCA_LIST")
					: job_nccl(arena, node, "NCCL_IB_HCA");

	if (nvshmem && !list.value)
		list = job_env(arena, node, "NVSHMEM_HCA_PE_MAPPING");
	if (!list.value)
		return hca_list_nccl("");
	return nvshmem ? hca_list_nvshmem(list.value) : hca_list_nccl(list.value);
}
