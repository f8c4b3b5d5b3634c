/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-packages.c - packages for GPUs and RDMA in dpkg's database, which is text. That of rpm is not text. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/version.h"
#include "probes/log/log-lines.h"
#include "probes/software/software.h"

#define STATUS_FILE "/var/lib/dpkg/status"

/* How the names begin. */
static const char *const wanted[] = {
	"nvidia",	"libnvidia",	  "libcuda1",	 "libnvsdm",
	"nvlsm",	"cuda-drivers",	  "cuda-compat", "datacenter-gpu-manager",
	"mlnx-",	"doca-",	  "rdma-core",	 "ibverbs-providers",
	"libibverbs1",	"gdrdrv-dkms",	  "nv-peer-mem", "dkms",
	"linux-image-", "linux-headers-", "containerd",	 "docker",
	"podman",	"enroot",	  "ucx",	 "libucx0",
	"cri-dockerd",
};

static bool is_wanted(struct span name)
{
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (span_starts(name, wanted[i]))
			return true;
	return false;
}

/* dpkg(1), package states: in the other states files are missing, or of two versions. */
bool software_has_files(const struct software_package *package)
{
	static const char *const states[] = { "installed", "triggers-pending", "triggers-awaited",
					      "half-configured", "unpacked" };

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (str_is(package->state, states[i]))
			return true;
	return false;
}

struct status_file {
	struct version_dpkg dpkg;
	struct arena *arena;
	struct software_facts *answer;
};

static bool status_line(void *user, struct span line)
{
	struct status_file *file = user;
	struct software_package *package;

	if (!version_dpkg_line(&file->dpkg, line, is_wanted) ||
	    strcmp(file->dpkg.state, "not-installed") == 0 ||
	    strcmp(file->dpkg.state, "config-files") == 0)
		return true;
	package = LIST_ADD(file->arena, &file->answer->packages);
	package->name = fact_str(file->arena, file->dpkg.package);
	package->version = fact_str(file->arena, file->dpkg.version);
	package->state = fact_str(file->arena, file->dpkg.state);
	package->held = fact_bool(file->dpkg.held);
	return true;
}

static int ask_packages(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct software_facts *answer = facts;
	struct status_file file = { .arena = arena, .answer = answer };
	_cleanup_close_ int fd = host_open(host, user);

	if (fd < 0)
		return fd;
	answer->packages.state = FACT_KNOWN;
	return lines_read(fd, status_line, &file);
}

static int compare_packages(const void *a, const void *b)
{
	const struct software_package *x = a, *y = b;

	return strcmp(x->name.value, y->name.value);
}

void software_read_packages(struct host *host, struct arena *arena, struct software_facts *software)
{
	struct software_facts answer = { 0 };
	int rc = host_query(host, STATUS_FILE, &software_facts_desc, &answer, arena, ask_packages,
			    (void *)STATUS_FILE);

	if (rc) {
		software->packages.state = rc == -ENOENT ? FACT_ABSENT : FACT_UNKNOWN;
		return;
	}
	fact_list_sort(&answer.packages, sizeof(answer.packages.items[0]), compare_packages);
	memcpy(&software->packages, &answer.packages, sizeof(software->packages));
}
