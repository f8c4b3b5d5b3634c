/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known-bad.h - finds the versions with known defects (data/known-bad.tsv) that a node has. Pure: facts in, answer
 * out. A condition on a fact that is not known leaves its row unknown.
 */
#ifndef KNOWN_BAD_H
#define KNOWN_BAD_H

#include "query/endpoints.h"

enum component {
	COMPONENT_DRIVER,
	COMPONENT_NCCL,
	COMPONENT_NVSHMEM,
	COMPONENT_DEEPEP,
	COMPONENT_GDRCOPY,
	COMPONENT_NVIDIA_FS,
	COMPONENT_NV_PEER_MEM,
	COMPONENT_UCX,
	COMPONENT_OFED,
	COMPONENT_RDMA_CORE,
	COMPONENT_EFA,
	COMPONENT_AWS_OFI_NCCL,
	COMPONENT_CONTAINER_TOOLKIT,
	COMPONENT_ENROOT,
	COMPONENT_DKMS,
	COMPONENT_KERNEL,
	COMPONENT_KERNEL_ORG,
	/* These are used in conditions only: */
	COMPONENT_CUDA,
	COMPONENT_LIBNVIDIA_CONTAINER,
	COMPONENT_CONTAINERD,
	COMPONENT_DOCKER,
	COMPONENT_PODMAN,
	COMPONENT_EFA_INSTALLER,
	COMPONENTS,
};

enum known_bad_hits { HITS_BASE, HITS_P2P, HITS_RDMA, HITS_GPUDIRECT_RDMA, HITS_DEEPEP };
enum known_bad_severity { DEFECT_NOTE, DEFECT_WARN, DEFECT_ERR, DEFECT_ELSEWHERE, DEFECT_DATA };
enum known_bad_range {
	RANGE_STATED,
	RANGE_PATCH,
	RANGE_BEFORE,
	RANGE_FEATURE,
	RANGE_LAST,
	RANGE_OPEN,
};

enum condition_key {
	KEY_NONE, /* the end of a row's conditions */
	KEY_ARGUMENT,
	KEY_CAPABILITY,
	KEY_CDI_VERSION,
	KEY_CGROUP,
	KEY_CPU_ARCH,
	KEY_CPU_IBT,
	KEY_CPU_VENDOR,
	KEY_DISTRO,
	KEY_ENGINE_CONFIG,
	KEY_ENV,
	KEY_FIXED,
	KEY_FLAVOUR,
	KEY_GID_HOLE,
	KEY_GPU,
	KEY_GPU_ARCH,
	KEY_GPU_KIND,
	KEY_GPUS,
	KEY_GRH_REQUIRED,
	KEY_GSP_FIRMWARE,
	KEY_HCA_COUNT,
	KEY_IMEX_CHANNEL,
	KEY_KERNEL_CONFIG,
	KEY_KIND,
	KEY_LANE_RATE,
	KEY_LINK_LAYER,
	KEY_MIG,
	KEY_MODULE,
	KEY_MODULE_FILE,
	KEY_NIC,
	KEY_NIC_DRIVER,
	KEY_NIC_FUNCTIONS,
	KEY_NIC_P2P,
	KEY_NIC_VF,
	KEY_NICS_PER_GPU,
	KEY_NO_CARRIER,
	KEY_NO_CGROUPS,
	KEY_PARAM,
	KEY_PCI_NIC,
	KEY_PCIE_GEN,
	KEY_PRODUCT,
	KEY_SECCOMP,
	KEY_SECURE_BOOT,
	KEY_SERVICE,
	KEY_STACK,
	KEY_VERSION,
	KEYS,
};

enum condition_operator {
	VALUE_IS,
	VALUE_IS_NOT,
	VALUE_BELOW,
	VALUE_AT_MOST,
	VALUE_ABOVE,
	VALUE_AT_LEAST,
};

struct condition {
	enum condition_key key;
	enum condition_operator op;
	const char *name;   /* of the component, variable, parameter or option; or NULL */
	const char *values; /* joined by commas */
};

#define CONDITIONS_MAX 6

struct known_bad {
	const char *id;
	enum component component;
	const char *from, *to; /* the first version, and the first one without it; NULL: open */
	struct condition conditions[CONDITIONS_MAX + 1];
	enum known_bad_hits hits;
	enum known_bad_severity severity;
	enum known_bad_range range;
	const char *rule; /* that says it instead of software/known-bad; or NULL */
	const char *effect;
	const char *cure;
	const char *source;
	const char *read; /* which state of the source */
};

#define MATCH_FACTS_MAX 6

struct known_bad_match {
	const struct known_bad *row;
	bool unknown;	     /* a condition is not known */
	const char *version; /* of the component */
	const char *fact;    /* that says so */
	const char *place;   /* file or folder of that version; NULL: not of a file */
	/* a version that is installed beside it and has no such defect; or NULL */
	const char *other;
	/* The facts that the conditions used; for an unknown match only the missing ones. */
	const char *facts[MATCH_FACTS_MAX];
};

struct known_bad_matches {
	LIST(struct known_bad_match) items;
};

/* Returns the rows whose component is there in such a version and whose conditions hold, or may hold. */
struct known_bad_matches known_bad_find(const struct node *node, const struct endpoints *endpoints,
					struct arena *arena);
/* Returns the first row that holds and that names RULE; or NULL. */
const struct known_bad *known_bad_of_rule(const struct node *node,
					  const struct endpoints *endpoints, struct arena *arena,
					  const char *rule);
/* Returns the name of the component as people write it: NCCL. */
const char *component_name(enum component component);

/* ---- known-bad-component.c ---- */

#define COMPONENT_VERSIONS_MAX 8

/* Absent: it was not found in the places that were read. Known without a version: it is there, and no file says which
 * version. */
struct component_versions {
	enum fact_state state;
	size_t count;
	struct component_version {
		const char *version;
		const char *fact;
		const char *place;
	} versions[COMPONENT_VERSIONS_MAX];
	const char *unsaid;  /* path of software without a version; or NULL */
	const char *missing; /* path of the fact that is not known */
};

void component_find(const struct node *node, enum component component, struct arena *arena,
		    struct component_versions *versions);
/* Returns COMPONENTS if no component has that name. */
enum component component_by_name(const char *name);

/* ---- known-bad-condition.c, known-bad-hardware.c ---- */

enum truth { TRUTH_UNKNOWN, TRUTH_NO, TRUTH_YES };

/* The node of the question, and the facts that the answer used. */
struct row_question {
	const struct node *node;
	const struct endpoints *endpoints;
	struct arena *arena;
	const struct condition *condition;
	const char *self; /* version of the row's component */
	const char *fact; /* path of the fact that decided, or that is missing */
};

enum truth condition_holds(struct row_question *q);

typedef enum truth condition_check(struct row_question *q);

/* Compare what was found on the node with the condition's value, as if the operator "!=" were "=": condition_holds()
 * reverses the answer for "!=". */
enum truth condition_word(struct row_question *q, const char *text);
enum truth condition_prefix(struct row_question *q, const char *text);
enum truth condition_order(struct row_question *q, int order);
enum truth condition_number(struct row_question *q, uint64_t number);
enum truth truth_from_bool(bool yes);
/* Returns A or B: true if either is true, and unknown if neither is true and one is unknown. */
enum truth truth_any(enum truth a, enum truth b);

/* The keys about GPUs and NICs, by enum condition_key; NULL: the key is another's. */
extern condition_check *const hardware_checks[KEYS];

#endif
