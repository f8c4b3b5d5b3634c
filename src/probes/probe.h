/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.h - how a node is observed: every file in src/probes/ fills one section of struct node
 * through the host handle and judges nothing.
 *
 * On a live host or a tree the probes run in a child, and the parent copies what it found. A probe that stays at one
 * file for its deadline, crashes or is ended by a library costs its own section, which becomes unknown
 * again; a new child goes on with the next probe. A child that is stuck in the kernel is left behind.
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
#define GAPS_MAX 512 /* more are counted in the last one */

struct probe_context {
	struct host *host;
	struct arena *arena;
	struct node *node;
	pid_t pid;  /* whose environment and limits are asked for; 0: this process */
	bool brief; /* for preflight: what is quickly read, and enough for its rules */
	const struct observation *how;
};

/* One for each file: src/probes/NAME.c defines probe_NAME. */
struct probe {
	const char *name;
	/* Earlier phases are there when later ones run: 0 os, 1 what stands alone, 2 what builds on
	 * those, 3 what builds on phase 2, 4 what follows from all, 5 queries of the driver. */
	int phase;
	unsigned int deadline_ms; /* 0: PROBE_DEADLINE_MS */
	enum host_reach reach;	  /* whom RUN asks, besides files: see host_confine() */
	unsigned int needs;	  /* enum confine_needs: what it reads takes these capabilities */
	/* It waits for a device, and needs nothing that other probes found: on a running host it begins before them and
	 * has a child of its own, which they do not wait for. The last one alone; has is_wanted. */
	bool beside;
	/* Of an image (host_is_image()) these run first and in this order: they say what boots next, and the other
	 * probes read that kernel's files. */
	unsigned int image_order;
	bool image_only; /* and only of an image */
	/* What it reads is the machine, or its processes, not its files: not asked of an image. A machine's section is
	 * that of struct observation's hardware. */
	bool is_hardware;
	bool is_running;
	/* Nothing of it is done, and nothing is said of it, unless this is true; asked after the phases before. NULL:
	 * always. */
	bool (*is_wanted)(const struct probe_context *ctx);
	size_t section; /* offset and size in struct node; size 0: fills another's */
	size_t section_size;
	void (*run)(struct probe_context *ctx);
	/* What preflight asks for: facts about the state that a job meets, from small files. What it
	 * leaves out stays unknown without a gap. NULL: the probe has none. */
	void (*brief)(struct probe_context *ctx);
	/* What of it goes on while the probes before it run; called when their child begins. Waits for nothing. */
	void (*brief_ahead)(struct probe_context *ctx);
	int brief_phase;		/* 0: as phase */
	unsigned int brief_deadline_ms; /* 0: as deadline_ms */
};

#define PROBE_SECTION(m) \
	.section = offsetof(struct node, m), .section_size = sizeof(((struct node *)0)->m)

/* The probes by phase and name. */
const struct probe *const *probe_table(size_t *count);

/* May NVIDIA's driver be asked, by NVML? With force also where that initialises the GPUs. */
enum probe_nvml { PROBE_NVML_NO, PROBE_NVML_YES, PROBE_NVML_FORCE };

/* How a node is to be observed. */
struct observation {
	pid_t pid;		 /* as in struct probe_context */
	bool brief;		 /* only what probes have for preflight */
	unsigned int timeout_ms; /* for all probes together; 0: each has its own deadline */
	/* Reads what else is to be read from the host (the configuration), watched like a probe and before any. Its
	 * answer lies in ARENA. NULL: nothing. */
	const void *(*first)(void *user, struct arena *arena);
	/* In the parent: copies that answer, which is somewhere in the window or is none. */
	void (*take)(void *user, const void *answer, const struct window *window);
	/* For preflight: does the configuration expect something of the fact at that path, as a row
	 * of expect.h names it? Then it is read although no rule of preflight needs it. Called
	 * after FIRST. NULL: no. */
	bool (*expects)(const void *user, const char *fact);
	enum probe_nvml (*nvml)(const void *user); /* asked after FIRST; NULL: no */
	bool serials;				   /* and for the serial numbers of the boards */
	/* Of an image: the kernel that is to boot, NULL: as its boot loader says; and a node of the machines that it is
	 * for, whose hardware the image then has. NULL: none is here. */
	const char *kernel;
	const struct node *hardware;
	void *user;
};

/* Runs the probes. NODE must lie zeroed in ARENA. 0, or negative errno when no child could be made;
 * whatever goes wrong inside a probe is in the node itself. */
int node_observe(struct host *host, struct arena *arena, struct node *node,
		 const struct observation *how);

/* ---- readers that turn a file into one fact: known, absent (not there) or unknown ---- */

/* The content without blanks at its ends. */
HOST_PATH(3)
void probe_str(struct probe_context *ctx, struct fact_str *fact, const char *format, ...);
/* A number as C writes it; anything else is unknown, with a gap. */
HOST_PATH(3)
void probe_u64(struct probe_context *ctx, struct fact_u64 *fact, const char *format, ...);
/* The last part of a link's target. */
HOST_PATH(3)
void probe_link(struct probe_context *ctx, struct fact_str *fact, const char *format, ...);
/* Is this a container with files of its own? It has its host's kernel and none of what that kernel was
 * configured with, which PATH is then said to be missing from. After phase 0. */
bool probe_hides_host(struct probe_context *ctx, const char *path);

enum probe_nvml probe_asks_nvml(const struct probe_context *ctx);

/* The command line that the kernel has, or that an image's next boot has; 0 or negative errno, -ENODATA: not known. */
int probe_read_cmdline(struct probe_context *ctx, struct text *text);
/* cmdline.running and its words. */
void probe_set_cmdline(struct probe_context *ctx, struct span text);

/* driver.gsp_firmware, once driver.version is known. */
void probe_find_gsp_firmware(struct probe_context *ctx);

/* The parameters of a module that is in modules.loaded. */
void probe_read_params(struct probe_context *ctx, const char *name);

/* Is a fact to be read that no rule of preflight needs? */
bool probe_wants(const struct probe_context *ctx, const char *fact);

/* What an error of the host handle makes of a fact. */
static inline enum fact_state probe_state(int rc)
{
	return rc == 0 ? FACT_KNOWN : rc == -ENOENT ? FACT_ABSENT : FACT_UNKNOWN;
}

/* The same of PATH, which every such kernel has: where it is not there, a copy lacks it. */
enum fact_state probe_state_always(struct probe_context *ctx, int rc, const char *path);

static inline struct fact_str probe_span(struct probe_context *ctx, struct span s)
{
	return fact_strn(ctx->arena, s.p, s.n);
}

#endif
