/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-services.h - the services that GPU and RDMA work depends on. Part of facts.h, which includes it. */
#ifndef FACTS_SERVICES_H
#define FACTS_SERVICES_H

#include "facts/fact.h"

/* ---- services ---- */

/* One of the last lines of a service, written by it or by systemd about it. ORDERED */
struct service_line {
	struct fact_str text; /* without time and host */
	struct fact_str file; /* journal, /var/log/syslog, or the service's own log file */
};

struct service {
	struct fact_str unit;	 /* nvidia-fabricmanager.service */
	struct fact_str load;	 /* loaded, not-found, masked */
	struct fact_str active;	 /* active, inactive, failed */
	struct fact_str enabled; /* enabled, disabled, static, masked; absent: no unit file */
	/* Time from the boot to the start of its oldest process. Known for services that run. */
	struct fact_u64 started_ms;
	/* Result of its last run in this boot, in systemd's words: success, exit-code, signal, timeout. "failed" where
	 * its messages have no reason, "dependency" where a unit that it requires did not start. Known for services
	 * that do not run. */
	struct fact_str result;
	struct fact_u64 exit_status; /* of its main process, or the signal that ended it */
	struct fact_u64 restarts;    /* restarts by systemd */
	/* Program of ExecStart=, for a service that does not run; absent: it has none, or the program was not found. */
	struct fact_str program;
	/* Shared libraries that this program needs and the dynamic loader does not find: "libz.so.1". */
	LIST(const char *) missing_libraries;
	/* the last lines of a service that does not run, oldest first */
	LIST(struct service_line) last_lines;
};

/* The last message of nvidia-gridd about a vGPU's licence. */
enum licence_state {
	LICENCE_ACQUIRED,
	LICENCE_FAILED,
	LICENCE_NOT_CONFIGURED,
};
extern const char *const licence_state_words[]; /* acquired, failed, not-configured */

struct services_facts {
	struct fact_bool manager;   /* systemd runs this node */
	LIST(struct service) units; /* those not there too: not-found */
	/* Time from the boot to the start of the oldest process that has a GPU open; absent: no process has one
	 * open. Known if fabric manager was started more than ten minutes after the boot. */
	struct fact_u64 gpu_held_since_ms;
	/* A container provides the NVIDIA driver and its options (GPU Operator); absent: none does. */
	struct fact_str driver_container;
	/* FABRIC_MODE of fabric manager's configuration: 0 bare metal or full passthrough, 1 shared NVSwitch, 2 vGPU.
	 * Absent: there is no such file, or it does not say, which means 0. */
	struct fact_u64 fabric_mode;
	/* Programs that systemd runs after a suspend and that load nvidia_uvm again; absent: there is no such
	 * folder. */
	LIST(const char *) uvm_sleep_hooks;
	/* enum licence_state: the last message of nvidia-gridd about the licence; unknown: it does not run, or no
	 * message about it was kept. */
	struct fact_enum licence;
};

/* ---- mps: the control daemons of CUDA's Multi-Process Service ---- */

/* A process nvidia-cuda-mps-control. */
struct mps_daemon {
	struct fact_u64 pid; /* process id */
	/* Effective user: whose programs it serves; 0 serves all users. */
	struct fact_u64 uid;
	/* True if the daemon is in another mount namespace, as in a container. */
	struct fact_bool elsewhere;
	/* True if its folder of pipes is the default one, /tmp/nvidia-mps. Unknown: only its user may read its
	 * variables. */
	struct fact_bool is_default;
	/* True if its folder of pipes is that of the checked process. */
	struct fact_bool is_jobs;
};

struct mps_facts {
	LIST(struct mps_daemon) daemons; /* by process id */
	/* The folder of pipes of the checked process has a control pipe. */
	struct fact_bool has_control;
};

#endif
