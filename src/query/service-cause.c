/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service-cause.c - the cause that keeps a service from running, as far as the facts show it. */
#include "query/service-cause.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "parse/service-words.h"
#include "parse/version.h"
#include "query/conf-fault.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/node-find.h"
#include "query/reference.h"
#include "query/slurm.h"

#define FABRIC_MANAGER "nvidia-fabricmanager.service"
#define IMEX "nvidia-imex.service"

/* ---- does it run? ---- */

enum service_condition service_condition(const struct service *s)
{
	bool failed = s && is_known(s->result) && !str_is(s->result, "success");

	if (!s || is_unknown(s->load))
		return s && str_is(s->active, "active") ? SERVICE_RUNS : SERVICE_UNSURE;
	if (str_is(s->active, "active") || str_is(s->active, "reloading"))
		return SERVICE_RUNS;
	if (str_is(s->load, "masked") || str_is(s->enabled, "masked"))
		return SERVICE_MASKED;
	if (str_is(s->load, "not-found"))
		return SERVICE_MISSING;
	if (str_is(s->active, "activating"))
		return SERVICE_STARTING;
	if (str_is(s->active, "failed") || failed)
		return SERVICE_FAILED;
	if (!is_known(s->active))
		return str_is(s->result, "success") ? SERVICE_RUNS : SERVICE_UNSURE;
	return SERVICE_STOPPED;
}

/* ---- how it ended ---- */

/* systemd.exec(5), "Process Exit Codes": what happened before the program itself ran. */
static const struct {
	uint64_t status;
	const char *text;
} before_the_program[] = {
	{ 200, "its working directory is not there" },
	{ 203, "its program could not be started" },
	{ 209, "its standard output could not be set up" },
	{ 216, "its group is not there" },
	{ 217, "its user is not there" },
	{ 218, "its capabilities could not be set" },
	{ 226, "its mount namespace could not be set up" },
	{ 238, "its state directory could not be set up" },
};

const char *service_ending(struct arena *arena, const struct service *s)
{
	if (!is_known(s->result) || str_is(s->result, "success") || str_is(s->result, "failed"))
		return NULL;
	if (str_is(s->result, "dependency"))
		return "dependency: a unit that it requires did not start";
	if (!is_known(s->exit_status) || !s->exit_status.value)
		return s->result.value;
	for (size_t i = 0; i < ARRAY_SIZE(before_the_program); i++)
		if (str_is(s->result, "exit-code") &&
		    s->exit_status.value == before_the_program[i].status)
			return arena_printf(arena, "%s, status %" PRIu64 ": %s", s->result.value,
					    s->exit_status.value, before_the_program[i].text);
	return arena_printf(
		arena, "%s, %s %" PRIu64, s->result.value,
		str_is(s->result, "signal") || str_is(s->result, "core-dump") ? "signal" : "status",
		s->exit_status.value);
}

/* ---- what it said ---- */

static const struct service_word *find_word(const struct service *s,
					    const struct service_line **line)
{
	const struct service_word *word = NULL;

	for (uint32_t i = s->last_lines.count; !word && i-- > 0;) {
		*line = &s->last_lines.items[i];
		word = service_word_find(s->unit.value, (*line)->text.value);
	}
	return word;
}

const struct service_line *service_last_word(const struct service *s)
{
	static const char *const loud[] = { "error",  "fail",	"fatal",    "cannot", "can't",
					    "unable", "denied", "mismatch", "invalid" };
	static const char *const systemd[] = {
		"Failed with result",	  "main process exited",
		"control process exited", "Failed to start",
		"Scheduled restart job",  "start request repeated too quickly",
		"entered failed state",	  ".service failed.",
		"Dependency failed"
	};
	const struct service_line *line;

	if (find_word(s, &line))
		return line;
	for (uint32_t i = s->last_lines.count; i-- > 0;) {
		const char *text = s->last_lines.items[i].text.value;
		bool echo = false;

		for (size_t k = 0; k < ARRAY_SIZE(systemd); k++)
			echo |= strcasestr(text, systemd[k]) != NULL;
		for (size_t k = 0; !echo && k < ARRAY_SIZE(loud); k++)
			if (strcasestr(text, loud[k]))
				return &s->last_lines.items[i];
	}
	return NULL;
}

/* ---- causes ---- */

static const char *service_fact(struct arena *arena, const struct service *s, const char *member)
{
	return fact_path(arena, "services.units", s->unit.value, member);
}

static bool find_missing_library(struct arena *arena, const struct service *s,
				 struct service_cause *cause)
{
	struct arena_list missing = { 0 };
	const char *all;

	for_each(name, &s->missing_libraries)
		arena_list(&missing, arena, *name);
	all = arena_listed(&missing);
	if (!all)
		return false;
	cause->text = arena_printf(arena, "%s needs %s, which is not in the library path",
				   s->program.value, all);
	cause->remedy =
		arena_printf(arena,
			     "Install the package that has %s (where the root file system is an "
			     "image, add it there), run ldconfig, then start %s.",
			     all, s->unit.value);
	cause->fact = service_fact(arena, s, "missing_libraries");
	return true;
}

/* Finds a missing name of its unit: FILES, or things without which it cannot be started at all. */
static bool find_missing_name(struct arena *arena, const struct node *node, const struct service *s,
			      bool files, struct service_cause *cause)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_UNIT, NULL, r))) {
		if (!str_is(r->claim, s->unit.value) || reference_state(r) != REFERENCE_MISSING ||
		    known_is(r->kind, REFERENCE_FILE) != files)
			continue;
		cause->text = arena_printf(arena, "%s: %s names %s, which does not exist",
					   reference_place(arena, r), r->role.value, r->name.value);
		cause->remedy =
			known_is(r->kind, REFERENCE_USER)
				? arena_printf(arena,
					       "Create the user %s, or correct User= in the unit, "
					       "then start %s.",
					       r->name.value, s->unit.value)
				: arena_printf(
					  arena,
					  "Install the package that has %s, mount the file system "
					  "that it is on, or correct the line. Then run systemctl "
					  "daemon-reload. When no other problem of the unit %s is "
					  "left, start it.",
					  r->name.value, s->unit.value);
		cause->fact = reference_fact(arena, node, r, "found");
		return true;
	}
	return false;
}

static void take_name(struct arena *arena, const struct node *node, const struct service *s,
		      const struct reference *r, struct service_cause *cause)
{
	cause->fact = reference_fact(arena, node, r, "found");
	/* The line is right: a file that it needs is missing. */
	if (str_is(r->role, SLURM_DEVICES_FILE)) {
		cause->text = arena_printf(
			arena, "%s does not exist: Slurm 17.11 needs it for ConstrainDevices=yes",
			r->name.value);
		cause->remedy = SLURM_DEVICES_REMEDY;
		return;
	}
	cause->text = arena_printf(arena, "%s: %s names %s, which this node lacks",
				   reference_place(arena, r), r->role.value, r->name.value);
	cause->remedy = arena_printf(arena, "Correct that line, then start %s.", s->unit.value);
}

/* Finds a missing name in its own configuration. */
/* It has failed, and only one release fails without this file: which one this is is not known. */
static bool take_doubtful_name(struct arena *arena, const struct node *node,
			       const struct service *s, const struct reference *r,
			       struct service_cause *cause)
{
	if (is_known(slurm_needs(node, r)) || service_condition(s) != SERVICE_FAILED)
		return false;
	cause->text = arena_printf(
		arena,
		"if it is Slurm 17.11, it needs %s for ConstrainDevices=yes, which does "
		"not exist; the release is not known",
		r->name.value);
	cause->remedy = "Run slurmd -V. If it is 17.11: " SLURM_DEVICES_REMEDY
			" If not, read journalctl -b -u slurmd.";
	cause->fact = reference_fact(arena, node, r, "found");
	return true;
}

static bool find_wrong_configuration(struct arena *arena, const struct node *node,
				     const struct service *s, struct service_cause *cause)
{
	static const struct {
		const char *unit;
		enum reference_format format;
	} own[] = {
		{ "nvidia-fabricmanager.service", REFERENCE_FABRIC },
		{ "nvidia-imex.service", REFERENCE_IMEX },
		{ "slurmd.service", REFERENCE_GRES },
	};
	const struct reference *r = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		while (str_is(s->unit, own[i].unit) &&
		       (r = reference_next(node, own[i].format, NULL, r))) {
			enum reference_state state = reference_state(r);

			if (state == REFERENCE_MISSING &&
			    take_doubtful_name(arena, node, s, r, cause))
				return true;
			if ((state != REFERENCE_MISSING && state != REFERENCE_CHANGED) ||
			    (own[i].format == REFERENCE_GRES &&
			     (!known_is(slurm_needs(node, r), true) ||
			      known_is(r->kind, REFERENCE_PROGRAM))))
				continue;
			take_name(arena, node, s, r, cause);
			return true;
		}
	return false;
}

/* Both daemons compare their version with the loaded driver's when they start, and exit if it differs. */
static const struct versioned_daemon {
	const char *unit, *program, *remedy;
} versioned_daemons[] = {
	{ FABRIC_MANAGER, "fabricmanager",
	  "Install nvidia-fabricmanager in exactly the version of the loaded driver; where "
	  "the driver was updated and the old module is still loaded, reboot." },
	{ IMEX, "imex",
	  "Install nvidia-imex in the version of the loaded driver; where the driver was updated "
	  "and the old module is still loaded, reboot." },
};

static bool find_other_version(struct arena *arena, const struct node *node,
			       const struct service *s, struct service_cause *cause)
{
	for (size_t i = 0; i < ARRAY_SIZE(versioned_daemons); i++) {
		const struct versioned_daemon *daemon = &versioned_daemons[i];
		const struct software_item *item = node_software(node, daemon->program);

		if (!str_is(s->unit, daemon->unit) || !item || !is_known(item->version) ||
		    !is_known(node->driver.version) ||
		    version_compare(item->version.value, node->driver.version.value) == 0)
			continue;
		cause->text = arena_printf(arena,
					   "it is of version %s, and the loaded driver of %s",
					   item->version.value, node->driver.version.value);
		cause->remedy = daemon->remedy;
		cause->fact = software_version_fact(arena, item);
		return true;
	}
	return false;
}

/* Fabric manager of the fourth generation of NVSwitches on starts nvlsm before itself. */
static bool find_missing_companion(const struct node *node, const struct service *s,
				   struct service_cause *cause)
{
	if (!str_is(s->unit, FABRIC_MANAGER) || !gpu_nvswitch_is_nic(&node->pci) ||
	    !was_read(node->software.items))
		return false;
	for_each(item, &node->software.items)
		if (str_is(item->name, "nvlsm"))
			return false;
	cause->text = "nvlsm, which it needs for the NVSwitches of this board, is not installed";
	cause->remedy = "Install nvlsm, in addition to nvidia-fabricmanager. Then restart "
			"nvidia-fabricmanager.";
	cause->fact = "software.items";
	return true;
}

/* ---- started too early: what its last line misses is there now ---- */

#define ALL_MAY_OPEN 0666

/* A file: in a copy that was made without root, and so with other permissions. */
static bool is_device(const struct device_node *node)
{
	return known_is(node->kind, DEVICE_NODE_CHARACTER) ||
	       known_is(node->kind, DEVICE_NODE_FILE);
}

/* A program of any user finds the GPUs through the driver now. */
static bool has_driver_now(const struct node *node)
{
	const struct device_node *control = LIST_FIND(&node->dev.nodes, "/dev/nvidiactl");

	if (!known_is(node->driver.loaded, true) || driver_libraries(node).other || !control ||
	    !is_device(control))
		return false;
	return known_is(control->kind, DEVICE_NODE_FILE) ||
	       (is_known(control->mode) && (control->mode.value & ALL_MAY_OPEN) == ALL_MAY_OPEN);
}

/* The device that LINE did not find, if it exists now; else NULL. */
static const struct device_node *find_late_device(const struct node *node, const char *line)
{
	static const char *const missing[] = { "can't stat", "No such file or directory",
					       "No such device", "does not exist" };
	bool is_missing = false;

	for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
		is_missing |= strcasestr(line, missing[i]) != NULL;
	for (const char *at = line; is_missing && (at = strstr(at, "/dev/")); at++)
		for_each(device, &node->dev.nodes) {
			size_t n = strlen(device->path.value);

			if (is_device(device) && strncmp(at, device->path.value, n) == 0 &&
			    !isalnum((unsigned char)at[n]) && at[n] != '/' && at[n] != '-')
				return device;
		}
	return NULL;
}

static void take_early_start(struct arena *arena, const struct service *s, const char *text,
			     struct service_cause *cause)
{
	cause->text = text;
	cause->remedy = arena_printf(
		arena,
		"Clear the failure with systemctl reset-failed, then start %s again. If it runs "
		"then, have the driver loaded before it at boot: write nvidia into "
		"/etc/modules-load.d/nvidia.conf, and let no script (cloud-init) start the unit.",
		s->unit.value);
	cause->fact = service_fact(arena, s, "last_lines");
}

static bool find_late_name(struct arena *arena, const struct node *node, const struct service *s,
			   struct service_cause *cause)
{
	const struct service_line *line = service_last_word(s);
	const struct device_node *device = line ? find_late_device(node, line->text.value) : NULL;

	if (!device)
		return false;
	take_early_start(
		arena, s,
		arena_printf(arena,
			     "it did not find %s, which exists now: it was started too early",
			     device->path.value),
		cause);
	return true;
}

static bool find_last_word(struct arena *arena, const struct node *node, const struct service *s,
			   struct service_cause *cause)
{
	const struct service_line *line;
	const struct service_word *word = find_word(s, &line);

	if (find_late_name(arena, node, s, cause))
		return true;
	if (!word)
		return false;
	if (word->needs == NEEDS_DRIVER && has_driver_now(node)) {
		take_early_start(
			arena, s,
			arena_printf(arena,
				     "%s. The driver is loaded now: it was started too early",
				     word->cause),
			cause);
		return true;
	}
	cause->text = word->cause;
	cause->remedy = word->remedy;
	cause->fact = service_fact(arena, s, "last_lines");
	return true;
}

/* A line of its configuration that the daemon does not take. */
static bool find_refused_line(struct arena *arena, const struct node *node, const struct service *s,
			      struct service_cause *cause)
{
	const struct conf_fault *fault = is_known(s->unit) ? conf_fault_of_unit(node, s->unit.value)
							   : NULL;

	if (!fault)
		return false;
	cause->text = arena_printf(arena, "%s, %s", fault->file.value,
				   conf_fault_text(arena, node, fault));
	cause->remedy = arena_printf(arena, "Correct that line, then start %s.", s->unit.value);
	cause->fact = conf_fault_fact(arena, node, fault);
	return true;
}

struct service_cause service_find_cause(struct arena *arena, const struct node *node,
					const struct service *s)
{
	struct service_cause cause = { 0 };

	/* Causes in the order of their weight: it cannot be started, it reported an error, it would fail on
	 * something. */
	(void)(find_missing_name(arena, node, s, false, &cause) ||
	       find_missing_library(arena, s, &cause) ||
	       find_other_version(arena, node, s, &cause) ||
	       find_refused_line(arena, node, s, &cause) ||
	       find_missing_companion(node, s, &cause) || find_last_word(arena, node, s, &cause) ||
	       find_missing_name(arena, node, s, true, &cause) ||
	       find_wrong_configuration(arena, node, s, &cause));
	return cause;
}
