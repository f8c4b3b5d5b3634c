/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service-cause.c - the cause that keeps a service from running, as far as the facts show it. */
#include "query/service-cause.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "parse/service-words.h"
#include "parse/version.h"
#include "query/conf-fault.h"
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

			if ((state != REFERENCE_MISSING && state != REFERENCE_CHANGED) ||
			    (own[i].format == REFERENCE_GRES &&
			     (!slurm_needs(node, r) || known_is(r->kind, REFERENCE_PROGRAM))))
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

static bool find_last_word(struct arena *arena, const struct service *s,
			   struct service_cause *cause)
{
	const struct service_line *line;
	const struct service_word *word = find_word(s, &line);

	if (!word)
		return false;
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
	       find_missing_companion(node, s, &cause) || find_last_word(arena, s, &cause) ||
	       find_missing_name(arena, node, s, true, &cause) ||
	       find_wrong_configuration(arena, node, s, &cause));
	return cause;
}
