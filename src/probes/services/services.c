/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * services.c - the services that GPU and RDMA work leans on. On a host that systemd runs, systemd
 * is asked; elsewhere, and in a tree, unit files and links say what is enabled, and processes show
 * what is running.
 */
#include <string.h>

#include "base/array.h"
#include "parse/field.h"
#include "parse/process.h"
#include "parse/unit.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "probes/services/units.h"
#include "query/gpus.h"
#include "query/pci-device.h"

#define SLEEP_HOOKS_MAX 64

#define MANAGER_FOLDER "/run/systemd/system" /* sd_booted(3) */

struct running {
	struct host *host;
	struct arena *arena;
	struct services_facts *answer;
};

/* Takes the oldest of several processes: the others are its children, or started later. */
static void set_start(struct running *r, struct service *service, uint64_t pid)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t ms;

	if (host_read(r->host, &text, HOST_FILE_MAX, "/proc/%llu/stat", (unsigned long long)pid) ||
	    !process_started(text_span(&text), &ms))
		return;
	if (!is_known(service->started_ms) || ms < service->started_ms.value)
		service->started_ms = fact_u64(ms);
}

/* In a copy the control group identifies the process too; on a host without systemd there is none. */
static void found_process(void *user, uint64_t pid, const char *comm)
{
	struct running *r = user;
	_cleanup_text_ struct text cgroup = { 0 };
	struct span unit = { NULL, 0 };

	if (host_kind(r->host) == HOST_TREE &&
	    host_read(r->host, &cgroup, HOST_FILE_MAX, "/proc/%llu/cgroup",
		      (unsigned long long)pid) == 0)
		unit_from_cgroup(text_span(&cgroup), &unit);
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++) {
		bool own = u->comm && strcmp(comm, u->comm) == 0 &&
			   process_is_the_nodes(r->host, pid);
		struct service *service;

		if (!own && !span_is(unit, u->unit))
			continue;
		service = units_add(r->arena, r->answer, span_of(u->unit));
		service->active = fact_str(r->arena, "active");
		if (own)
			set_start(r, service, pid);
	}
}

/* Fabric manager and its like also run in containers (GPU Operator): systemd knows no such unit, and
 * the host's processes tell. */
static void found_outside_systemd(void *user, uint64_t pid, const char *comm)
{
	struct running *r = user;

	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		for_each_mut(s, &r->answer->units) {
			if (!u->comm || strcmp(comm, u->comm) != 0 || !str_is(s->unit, u->unit) ||
			    !process_is_the_nodes(r->host, pid))
				continue;
			if (str_is(s->load, "not-found"))
				s->active = fact_str(r->arena, "active");
			if (str_is(s->active, "active"))
				set_start(r, s, pid);
		}
}

/* USER: does systemd run this host? The answer's manager is false when it does and did not answer.
 */
static int services_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct services_facts *answer = facts;
	struct running running = { .host = host, .arena = arena, .answer = answer };
	int rc;

	if (host_kind(host) == HOST_LIVE && *(bool *)user) {
		rc = units_ask_bus(arena, answer);
		if (rc == 0) {
			processes_list(host, found_outside_systemd, &running);
			return 0;
		}
		*answer = (struct services_facts){ .manager = fact_bool(false) };
	}
	rc = processes_list(host, found_process, &running);
	if (rc == -ESRCH) {
		memset(&answer->units, 0, sizeof(answer->units));
		return 0;
	}
	if (rc)
		return rc;
	answer->units.state = FACT_KNOWN;
	return 0;
}

/* ---- without systemd ---- */

static void read_manager(struct probe_context *ctx)
{
	struct fact_bool *manager = &ctx->node->services.manager;
	struct fact_str comm = { 0 };
	struct host_stat stat;

	if (host_stat(ctx->host, &stat, MANAGER_FOLDER) == 0) {
		*manager = fact_bool(true);
		return;
	}
	/* A tree seldom has /run: the first process says it as well. */
	probe_str(ctx, &comm, "/proc/1/comm");
	if (is_known(comm))
		*manager = fact_bool(str_is(comm, "systemd"));
}

static bool stays(const char *unit)
{
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		if (strcmp(u->unit, unit) == 0)
			return u->comm != NULL;
	return false;
}

/* RUNNING has the units that a process was found for. A service that does its work and ends has no
 * process to find. */
static void set_active(struct probe_context *ctx, const struct services_facts *running)
{
	struct services_facts *services = &ctx->node->services;

	for_each(r, &running->units) {
		struct service *service = units_add(ctx->arena, services, span_of(r->unit.value));

		service->active = r->active;
		service->started_ms = r->started_ms;
	}
	if (!is_known(running->units))
		return;
	for_each_mut(s, &services->units)
		if (is_unknown(s->active) &&
		    (stays(s->unit.value) || str_is(s->load, "not-found") ||
		     str_is(s->load, "masked")))
			s->active = fact_str(ctx->arena, "inactive");
}

static void from_files(struct probe_context *ctx, const struct services_facts *running)
{
	struct services_facts *services = &ctx->node->services;
	bool any = false;

	if (is_known(ctx->node->os.container) && !known_is(services->manager, true)) {
		host_gap_note(ctx->host, "/etc/systemd/system", -EREMOTE, NULL);
		return;
	}
	units_read_files(ctx->host, ctx->arena, services);
	set_active(ctx, running);
	for_each(s, &services->units)
		any |= is_known(s->load) || is_known(s->active) || is_known(s->enabled);
	if (!any)
		services->units.state = FACT_UNKNOWN;
}

/* systemd-sysv-generator makes units of init scripts; whether they are enabled is in the links. */
static void resolve_generated(struct probe_context *ctx)
{
	struct services_facts scripts = { 0 };
	bool any = false;

	for_each(s, &ctx->node->services.units)
		any |= str_is(s->enabled, "generated");
	if (!any)
		return;
	units_read_files(ctx->host, ctx->arena, &scripts);
	for_each_mut(s, &ctx->node->services.units)
		if (str_is(s->enabled, "generated"))
			for_each(script, &scripts.units)
				if (str_is(script->unit, s->unit.value) &&
				    is_known(script->enabled))
					s->enabled = script->enabled;
}

/* The driver container of NVIDIA's GPU Operator mounts its root there; without one the folder can be
 * there and is empty. */
static void read_driver_container(struct probe_context *ctx)
{
	static const char root[] = "/run/nvidia/driver";
	struct fact_str *fact = &ctx->node->services.driver_container;
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s/usr", root);

	if (rc == 0)
		*fact = fact_str(ctx->arena, root);
	else
		fact->state = probe_state(rc);
}

static void read_fabric_mode(struct probe_context *ctx)
{
	static const char path[] = "/usr/share/nvidia/nvswitch/fabricmanager.cfg";
	struct fact_str *root = &ctx->node->services.driver_container;
	struct fact_u64 *fact = &ctx->node->services.fabric_mode;
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s%s",
			   is_known(*root) ? root->value : "", path);

	fact->state = rc ? probe_state(rc) : FACT_ABSENT;
	if (rc || !field_find(text_span(&text), '=', "FABRIC_MODE", &value))
		return;
	if (span_u64(span_trim(value), 10, &fact->value) == 0) {
		fact->state = FACT_KNOWN;
		return;
	}
	fact->state = FACT_UNKNOWN;
	host_gap_note(ctx->host, path, -EBADMSG, "FABRIC_MODE is not a number");
}

/* systemd-suspend.service(8). Those that unload and load nvidia_uvm give CUDA programs that start later a driver that
 * works. */
static void read_sleep_hooks(struct probe_context *ctx)
{
	static const char folder[] = "/usr/lib/systemd/system-sleep";
	struct services_facts *services = &ctx->node->services;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, "%s", folder);

	services->uvm_sleep_hooks.state = probe_state(rc);
	for (size_t i = 0; i < names.count && i < SLEEP_HOOKS_MAX; i++) {
		_cleanup_text_ struct text text = { 0 };

		rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/%s", folder, names.items[i]);
		if (rc)
			services->uvm_sleep_hooks.state = FACT_UNKNOWN;
		else if (span_search(text_span(&text), "nvidia_uvm") ||
			 span_search(text_span(&text), "nvidia-uvm"))
			*LIST_ADD(ctx->arena, &services->uvm_sleep_hooks) =
				arena_printf(ctx->arena, "%s/%s", folder, names.items[i]);
	}
}

static int compare_services(const void *a, const void *b)
{
	const struct service *x = a, *y = b;

	return strcmp(x->unit.value, y->unit.value);
}

/* BUS: systemd itself is asked where it is there. */
static void observe(struct probe_context *ctx, bool bus)
{
	struct services_facts *services = &ctx->node->services, answer = { 0 };
	bool systemd;
	int rc;

	read_manager(ctx);
	read_driver_container(ctx);
	systemd = bus && known_is(services->manager, true);
	rc = host_query(ctx->host, "services", &services_facts_desc, &answer, ctx->arena,
			services_ask, &systemd);
	/* Only systemd knows which units are enabled; the processes do not show it. */
	if (rc == 0 && answer.units.count && is_known(answer.units.items[0].load)) {
		services->units = answer.units;
		resolve_generated(ctx);
	} else {
		if (known_is(answer.manager, false))
			host_gap_note(ctx->host, "services", -ENOTCONN,
				      "systemd could not be asked: files and processes were read");
		from_files(ctx, &answer);
	}
	fact_list_sort(&services->units, sizeof(services->units.items[0]), compare_services);
}

static void services_run(struct probe_context *ctx)
{
	observe(ctx, true);
	read_fabric_mode(ctx);
	read_sleep_hooks(ctx);
}

/* ---- for preflight ---- */

/* A unit has a control group with processes in it for as long as it runs
 * (systemd.resource-control(5)); of version 1 systemd keeps a hierarchy of its own. */
static bool unit_runs(struct probe_context *ctx, const char *unit)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/systemd" };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		_cleanup_text_ struct text text = { 0 };

		if (host_read(ctx->host, &text, HOST_FILE_MAX, "%s/system.slice/%s/cgroup.procs",
			      roots[i], unit) == 0 &&
		    text.size)
			return true;
	}
	return false;
}

/* Jobs need fabric manager if the node has NVSwitches. It is searched for among all processes only if its unit does
 * not run, because it may run in a container. */
static void services_run_preflight(struct probe_context *ctx)
{
	const struct pci_facts *pci = &ctx->node->pci;
	bool switches = gpu_nvswitch_is_nic(pci);

	for_each(d, &pci->devices)
		switches |= pci_is_nvswitch(d);
	if (switches && !unit_runs(ctx, "nvidia-fabricmanager.service"))
		observe(ctx, false);
}

const struct probe probe_services = {
	.name = "services",
	.phase = PHASE_ALONE,
	.needs = NEEDS_PROCESSES,
	.asks = ASKS_SYSTEMD,
	PROBE_SECTION(services),
	.run = services_run,
	.preflight = {
		.run = services_run_preflight,
		.phase = PHASE_SECOND,
	},
};
