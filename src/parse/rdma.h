/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma.h - the kernel's text below /sys/class/infiniband (drivers/infiniband/core/sysfs.c), and the rules by which
 * libibverbs finds its providers (rdma-core, libibverbs/dynamic_driver.c). */
#ifndef PARSE_RDMA_H
#define PARSE_RDMA_H

#include <stdbool.h>

#include "base/span.h"

/* "4: ACTIVE", "5: LinkUp", "1: CA". 0 or -EINVAL. */
int rdma_word_parse(struct span text, uint64_t *number, struct span *word);

/* "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)": megabits a second. 0 or -EINVAL. */
int rdma_rate_parse(struct span text, uint64_t *mbps);
/* The word for a lane's rate in such a text: NDR. Empty if the kernel has none. */
struct span rdma_lane_rate(struct span text);

/* tc/PORT/traffic_class of MLNX_OFED's mlx5_ib: the line "Global tclass=236". False: no such line. */
bool rdma_traffic_class_parse(struct span text, uint64_t *value);

/* A line of rdma.max: "mlx5_0 hca_handle=2 hca_object=max" (Linux: kernel/cgroup/rdma.c). UINT64_MAX: no limit. */
struct rdma_max {
	struct span device;
	uint64_t handles, objects;
};
bool rdma_max_parse(struct span line, struct rdma_max *max);

/* Eight groups of four hexadecimal digits, not all zero. */
bool rdma_gid_is_set(struct span gid);

/* The next "driver NAME" line of a file in libibverbs.d. NAME can be the beginning of a path. */
bool verbs_driver_next(struct span *rest, struct span *name);

/* Returns true if FILE is a build of the provider: lib<provider>-rdmav<number>.so. The number is that of the private
 * interface between library and providers and differs between releases. */
bool verbs_is_library(struct span file, struct span provider);
/* Gets the provider's name and that number. False: another file. */
bool verbs_library_parse(struct span file, struct span *provider, uint64_t *number);

#endif
