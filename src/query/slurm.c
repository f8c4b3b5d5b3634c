/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.c - Slurm's release, and what the names in its files are needed for. */
#include "query/slurm.h"

#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "query/node-find.h"
#include "query/service-cause.h"

/* The number of libslurm.so is API_CURRENT of META, one more with each release. */
static const char *const releases[] = { "17.02", "17.11", "18.08", "19.05", "20.02",
					"20.11", "21.08", "22.05", "23.02", "23.11",
					"24.05", "24.11", "25.05", "25.11", "26.05" };
#define API_FIRST 31

const char *slurm_release(const char *library)
{
	struct span number = { library, strcspn(library, ".") };
	uint64_t api;

	if (span_u64(number, 10, &api) || api < API_FIRST ||
	    api - API_FIRST >= ARRAY_SIZE(releases))
		return NULL;
	return releases[api - API_FIRST];
}

/* The release that is installed. NULL: not known, or there are several. */
static const char *installed_release(const struct node *node)
{
	const char *found = NULL;

	for_each(item, &node->software.items) {
		const char *release;

		if (!str_is(item->name, "slurm"))
			continue;
		release = is_known(item->version) ? slurm_release(item->version.value) : NULL;
		if (!release || (found && strcmp(found, release) != 0))
			return NULL;
		found = release;
	}
	return found;
}

/* slurmd has ended, or was not started, and has not said why. */
static bool is_down_without_word(const struct node *node)
{
	const struct service *slurmd = node_service(node, "slurmd.service");
	enum service_condition condition = service_condition(slurmd);

	return (condition == SERVICE_FAILED || condition == SERVICE_STOPPED) &&
	       !service_last_word(slurmd);
}

/* The file of devices that jobs may use: 17.11 alone ends without it (src/plugins/task/cgroup/task_cgroup_devices.c of
 * 17.02.11, 17.11.0 to 17.11.13 and 18.08.0). Where the release is not known, a slurmd
 * that runs, or that ended for another reason, does not need it. */
static struct fact_bool needs_devices_file(const struct node *node)
{
	const char *release = installed_release(node);

	if (release)
		return fact_bool(strcmp(release, "17.11") == 0);
	return is_down_without_word(node) ? (struct fact_bool){ 0 } : fact_bool(false);
}

struct fact_bool slurm_needs(const struct node *node, const struct reference *r)
{
	return str_is(r->role, SLURM_DEVICES_FILE) ? needs_devices_file(node) : fact_bool(true);
}

bool slurm_stops_without(const struct reference *r)
{
	return !known_is(r->kind, REFERENCE_AMOUNT) && !known_is(r->kind, REFERENCE_LIBRARY) &&
	       !known_is(r->kind, REFERENCE_PROGRAM) && !str_is(r->role, "RealMemory") &&
	       !str_is(r->role, SLURM_PLUGIN_DIR) && !str_is(r->role, SLURM_PLUGIN "MpiDefault");
}
