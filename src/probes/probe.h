/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.h - how a node is observed: a probe fills one section of struct node through the host handle,
 * and evaluates nothing. Beside the probes of a subject lie their readers.
 *
 * On a live host or a tree the probes run in a child, and the parent copies what it found. A probe that stays at one
 * file for its deadline, crashes or is ended by a library costs its own section, which becomes unknown
 * again; a new child continues with the next probe. A child that is stuck in the kernel is left behind.
 *
 * The child cannot start programs, change files or reach other processes (host_confine()). A probe that asks more
 * than files has a child of its own, which may connect.
 */
#ifndef PROBE_H
#define PROBE_H

#include <errno.h>

#include "base/confine.h"
#include "facts/facts.h"
#include "host/host.h"

#ifdef __SANITIZE_ADDRESS__
#define PROBE_DEADLINE_MS 10000 /* the sanitizers make a probe slower, not stuck */
#else
#define PROBE_DEADLINE_MS 2000
#endif

struct probe_context {
	struct host *host;
	struct arena *arena;
	struct node *node;
	pid_t pid;	/* the process for environment and limits; 0: this process */
	bool preflight; /* reads what is quickly read, and enough for the rules of preflight */
	const struct observation *how;
};

/* When a probe runs. It can use the facts of earlier phases. */
enum probe_phase {
	PHASE_OS,
	PHASE_ALONE,  /* uses only those of os */
	PHASE_SECOND, /* uses those of PHASE_ALONE */
	PHASE_THIRD,  /* uses those of PHASE_SECOND */
	PHASE_ALL,    /* uses those of all others */
	PHASE_DRIVER, /* asks the driver, or a service */
	PHASES,
};

/* How a probe runs for preflight. Zero: it does not run. */
struct probe_preflight {
	/* Replaces the run of the probe: it reads the state that a job meets, from small files. Facts that it leaves
	 * out stay unknown without a gap. */
	void (*run)(struct probe_context *ctx);
	/* Or NULL: reads files that need no facts of other probes, in a thread, while the child runs the probes before
	 * this one. RUN comes in its turn and uses what was read. */
	void (*ahead)(struct probe_context *ctx);
	enum probe_phase phase;	  /* PHASE_OS: as in struct probe */
	unsigned int deadline_ms; /* 0: as in struct probe */
};

/* A probe. src/probes/SUBJECT/NAME.c defines probe_NAME. */
struct probe {
	const char *name;
	enum probe_phase phase;
	unsigned int deadline_ms; /* 0: PROBE_DEADLINE_MS */
	enum confine_asks asks;	  /* the service that RUN asks, besides files */
	unsigned int needs;	  /* enum confine_needs: the capabilities that its files need */
	/* A probe that waits for a device and needs no other probe's facts. On a running host it begins before the
	 * others and has its own child, which they do not wait for. It must be the last probe and have is_wanted. */
	bool beside;
	/* On an image (host_is_mounted_image()) probes with a number run first and in its order: they determine the
	 * next boot, and the other probes read that kernel's files. */
	unsigned int mounted_image_order;
	bool mounted_image_only; /* runs on images only */
	/* The probe reads the machine or its processes instead of files: it does not run on an image. Its section
	 * then comes from the hardware of struct observation. */
	bool is_hardware;
	bool is_running;
	/* Unless this returns true, the probe does not run and notes no gap. It is called after the earlier phases.
	 * NULL: always true. */
	bool (*is_wanted)(const struct probe_context *ctx);
	size_t section; /* offset and size in struct node; size 0: the probe fills a part of another's section */
	size_t section_size;
	void (*run)(struct probe_context *ctx);
	struct probe_preflight preflight;
};

#define PROBE_SECTION(m) \
	.section = offsetof(struct node, m), .section_size = sizeof(((struct node *)0)->m)

/* The probes by phase and name. */
const struct probe *const *probe_table(size_t *count);

/* Whether NVIDIA's driver may be asked, by NVML. With FORCE also where that initialises the GPUs. */
enum probe_nvml { PROBE_NVML_NO, PROBE_NVML_YES, PROBE_NVML_FORCE };

/* The way a node is observed. */
struct observation {
	pid_t pid;		 /* as in struct probe_context */
	bool preflight;		 /* only what probes have for preflight */
	unsigned int timeout_ms; /* for all probes together; 0: each has its own deadline */
	/* Reads what else is to be read from the host (the configuration), watched like a probe and before any. Its
	 * answer lies in ARENA. NULL: nothing. */
	const void *(*first)(void *user, struct arena *arena);
	/* Runs in the parent and copies that answer. ANSWER is an untrusted pointer: it need not lie in WINDOW. */
	void (*take)(void *user, const void *answer, const struct window *window);
	/* Runs in the parent while the first child reads: work that needs no facts. NULL: nothing. */
	void (*meanwhile)(void);
	/* For preflight: returns true if the configuration expects a value of the fact at that path, which a row of
	 * expect.h names. The fact is then read although no rule of preflight needs it. Called after FIRST. NULL:
	 * false. */
	bool (*expects)(const void *user, const char *fact);
	enum probe_nvml (*nvml)(const void *user); /* asked after FIRST; NULL: no */
	bool serials;				   /* and for the serial numbers of the boards */
	/* For an image: the kernel that will boot (NULL: the boot loader's choice), and a node with the hardware of
	 * the machines that the image is for (NULL: unknown hardware). */
	const char *kernel;
	const struct node *hardware;
	void *user;
};

/* Runs the probes. NODE must lie zeroed in ARENA. 0, or negative errno when no child could be made;
 * whatever goes wrong inside a probe is in the node itself. */
int node_observe(struct host *host, struct arena *arena, struct node *node,
		 const struct observation *how);

/* ---- readers that turn a file into one fact: known, absent (not there) or unknown ---- */

/* Reads the content without blanks at its ends. */
HOST_PATH(3)
void probe_str(struct probe_context *ctx, struct fact_str *fact, const char *format, ...);
/* Reads a number as C writes it; anything else is unknown, with a gap. */
HOST_PATH(3)
void probe_u64(struct probe_context *ctx, struct fact_u64 *fact, const char *format, ...);
/* Reads the last part of a link's target. */
HOST_PATH(3)
void probe_link(struct probe_context *ctx, struct fact_str *fact, const char *format, ...);
/* Returns true for a container with files of its own, and notes a gap for PATH: the host's kernel was configured with
 * files that are not there. Only after PHASE_OS. */
bool probe_hides_host(struct probe_context *ctx, const char *path);

/* Returns what the user wants to be asked of the driver. */
enum probe_nvml probe_asks_nvml(const struct probe_context *ctx);

/* ---- what one probe does for others: each is in the file of that probe ---- */

/* In cmdline.c: reads the command line of the kernel, or of a mounted image's next boot. Returns 0 or negative errno,
 * -ENODATA if it is not known. */
int probe_read_cmdline(struct probe_context *ctx, struct text *text);
/* Fills cmdline.running and its words. */
void probe_set_cmdline(struct probe_context *ctx, struct span text);

/* In driver.c: fills driver.gsp_firmware. driver.version must be known. */
void probe_find_gsp_firmware(struct probe_context *ctx);

/* In modules.c: fills the parameters of a module that is in modules.loaded. */
void probe_read_params(struct probe_context *ctx, const char *name);
/* In libkmod.c. Returns true if libkmod answers for the node: a running host, or a capture of one. */
bool probe_has_libkmod(struct probe_context *ctx);

/* ---- for all probes ---- */

/* Returns true if FACT is read. A preflight reads only the facts that its rules need. */
bool probe_is_wanted(const struct probe_context *ctx, const char *fact);

/* Returns the state of a fact for an error of the host handle. */
static inline enum fact_state probe_state(int rc)
{
	return rc == 0 ? FACT_KNOWN : rc == -ENOENT ? FACT_ABSENT : FACT_UNKNOWN;
}

/* Like probe_state(), for a PATH that every such kernel has: if it is missing, the copy is incomplete, and the fact
 * is unknown. */
enum fact_state probe_state_always(struct probe_context *ctx, int rc, const char *path);

static inline struct fact_str probe_span(struct probe_context *ctx, struct span s)
{
	return fact_strn(ctx->arena, s.p, s.n);
}

#endif
