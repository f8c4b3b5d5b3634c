/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf-fault.c - what the program that reads a configuration file does with a line that is wrong in it. */
#include "query/conf-fault.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "parse/conf-keys.h"
#include "parse/version.h"
#include "query/slurm.h"

/* Slurm: fatal() in src/common/read_config.c, src/interfaces/gres.c, cgroup.c. Docker, containerd and the toolkit:
 * data/conf-keys.tsv has the places. */
static const struct conf_reader readers[CONF_FORMATS] = {
	[CONF_SLURM] = { "Slurm", "slurm", "slurmd.service",
			 "slurmd does not start, and srun ends: \"Parsing error at unrecognized "
			 "key\", \"Parse error in file\".",
			 "Restart slurmd.", "slurmd -C" },
	[CONF_GRES] = { "Slurm", "slurm", "slurmd.service",
			"slurmd does not start: \"error opening/reading\" gres.conf.",
			"Restart slurmd.", "slurmd -G" },
	[CONF_CGROUP] = { "Slurm", "slurm", "slurmd.service",
			  "slurmd does not start: \"Could not open/read/parse cgroup.conf file\".",
			  "Restart slurmd.", "slurmd -G" },
	[CONF_DOCKER] = { "Docker", "docker", "docker.service",
			  "dockerd does not start: \"unable to configure the Docker daemon with "
			  "file\".",
			  "Restart docker.", "dockerd --validate" },
	[CONF_TOOLKIT] = { "NVIDIA Container Toolkit", "container-toolkit", NULL,
			   "Containers with GPUs do not start: \"failed to load config\".", NULL,
			   "nvidia-ctk config" },
	[CONF_CONTAINERD] = { "containerd", "containerd", "containerd.service",
			      "containerd does not start, or starts without the part for "
			      "Kubernetes: \"failed to load TOML\".",
			      "Restart containerd.", "containerd config dump" },
	[CONF_UNIT] = { "systemd", "systemd", NULL, "systemd does not read the unit.",
			"Run systemctl daemon-reload, and restart the service.",
			"systemd-analyze verify" },
	[CONF_LIMITS] = { "pam_limits", "pam", NULL, "pam_limits does not read the file.",
			  "Log in again.", "ulimit -a" },
};

const struct conf_reader *conf_reader(const struct conf_fault *fault)
{
	return &readers[fault->format.value];
}

/* ---- what becomes of the line ---- */

/* Returns the release of the program that reads the file. NULL: not known, or several are installed. */
static const char *release_of(const struct node *node, const struct conf_fault *fault)
{
	const char *software = conf_reader(fault)->software, *found = NULL;

	/* k3s and RKE2 bring a containerd of their own, whose version was not read. */
	if (is_known(fault->file) && strstr(fault->file.value, "/rancher/"))
		return NULL;
	for_each(item, &node->software.items) {
		const char *version;

		if (!str_is(item->name, software))
			continue;
		version = is_known(item->version) ? item->version.value : NULL;
		if (version && strcmp(software, "slurm") == 0)
			version = slurm_release(version);
		if (!version || (found && strcmp(found, version) != 0))
			return NULL;
		found = version;
	}
	return found;
}

/* Returns CONF_REFUSED if the line is wrong in the release that is installed. */
static enum conf_outcome in_release(const struct node *node, const struct conf_fault *fault)
{
	const char *release = release_of(node, fault);

	if (!is_known(fault->since) && !is_known(fault->gone))
		return CONF_REFUSED;
	if (!release)
		return CONF_UNSURE;
	if (is_known(fault->since) && version_compare(release, fault->since.value) < 0)
		return CONF_REFUSED;
	return is_known(fault->gone) && version_compare(release, fault->gone.value) >= 0
		       ? CONF_REFUSED
		       : CONF_FINE;
}

/* Before 2.0 containerd refuses a table plugins.cri in a file of version 2 (ValidateV2()). */
static enum conf_outcome of_containerd(const struct node *node, const struct conf_fault *fault)
{
	const char *release = release_of(node, fault);

	if (!known_is(fault->kind, CONF_PLACE) || is_known(fault->since) ||
	    !str_is(fault->section, "plugins.cri"))
		return CONF_IGNORED;
	return release && version_compare(release, "2.0") < 0 ? CONF_REFUSED : CONF_IGNORED;
}

static bool is_listed_value(const struct conf_fault *fault)
{
	return known_is(fault->kind, CONF_TYPE) && str_starts(fault->wanted, "{");
}

enum conf_outcome conf_outcome(const struct node *node, const struct conf_fault *fault)
{
	enum conf_outcome wrong = in_release(node, fault);

	if (!is_known(fault->format) || !is_known(fault->kind))
		return CONF_UNSURE;
	/* Slurm continues without a plugin for GPUs at an unknown AutoDetect. */
	if (known_is(fault->format, CONF_UNIT) || known_is(fault->format, CONF_LIMITS) ||
	    is_listed_value(fault))
		return CONF_IGNORED;
	if (wrong != CONF_REFUSED || known_is(fault->kind, CONF_SYNTAX) ||
	    known_is(fault->kind, CONF_TYPE))
		return wrong;
	switch (fault->format.value) {
	case CONF_TOOLKIT:
		return CONF_IGNORED;
	case CONF_DOCKER:
		return known_is(fault->kind, CONF_PLACE) ? CONF_IGNORED : CONF_REFUSED;
	case CONF_CONTAINERD:
		return of_containerd(node, fault);
	default:
		return CONF_REFUSED;
	}
}

/* ---- in words ---- */

static const char *releases(struct arena *arena, const struct conf_fault *fault)
{
	if (is_known(fault->since) && is_known(fault->gone))
		return arena_printf(arena, "from %s on and before %s", fault->since.value,
				    fault->gone.value);
	return is_known(fault->since) ? arena_printf(arena, "from %s on", fault->since.value)
				      : arena_printf(arena, "before %s", fault->gone.value);
}

static const char *release_text(struct arena *arena, const struct node *node,
				const struct conf_fault *fault, const char *key)
{
	const char *release = release_of(node, fault), *name = conf_reader(fault)->name;

	return release ? arena_printf(arena, "%s is a key of %s %s; installed is %s", key, name,
				      releases(arena, fault), release)
		       : arena_printf(arena,
				      "%s is a key of %s %s, and which release this is was "
				      "not read",
				      key, name, releases(arena, fault));
}

/* "{full,nvml}": one of full, nvml */
static const char *list_text(struct arena *arena, const char *list)
{
	struct span rest = { list + 1, strlen(list) - 2 }, one;
	const char *text = "one of";
	bool first = true;

	while (span_cut(&rest, ',', &one)) {
		text = arena_printf(arena, "%s%s %.*s", text, first ? "" : ",", SPAN_FMT(one));
		first = false;
	}
	return text;
}

static const char *type_text(struct arena *arena, const struct conf_fault *fault, const char *key)
{
	const char *wanted = is_known(fault->wanted) ? conf_type_text(fault->wanted.value) : NULL;

	if (wanted && wanted[0] == '{')
		wanted = list_text(arena, wanted);
	if (!wanted)
		wanted = "another kind of value";
	return is_known(fault->value) ? arena_printf(arena, "%s is %s, and has to be %s", key,
						     fault->value.value, wanted)
				      : arena_printf(arena, "%s has to be %s", key, wanted);
}

static const char *place_text(struct arena *arena, const struct conf_fault *fault)
{
	const char *wanted = is_known(fault->wanted) ? fault->wanted.value : "another section";

	if (!is_known(fault->key))
		return arena_printf(arena, "the table %s belongs to %s",
				    is_known(fault->section) ? fault->section.value : "", wanted);
	if (known_is(fault->format, CONF_UNIT))
		return arena_printf(arena, "%s is in %s%s%s, and belongs to [%s]", fault->key.value,
				    is_known(fault->section) ? "[" : "no section",
				    is_known(fault->section) ? fault->section.value : "",
				    is_known(fault->section) ? "]" : "", wanted);
	if (strcmp(wanted, "-") == 0)
		wanted = fault->format.value == CONF_SLURM || fault->format.value == CONF_GRES
				 ? "a line of its own"
				 : "the top of the file, before all tables";
	if (known_is(fault->format, CONF_DOCKER))
		return arena_printf(arena, "%s is an option of the command line; the key is %s",
				    fault->key.value, wanted);
	return arena_printf(arena, "%s is in %s, and belongs to %s", fault->key.value,
			    is_known(fault->section) ? fault->section.value : "no table", wanted);
}

static const char *wrong_text(struct arena *arena, const struct node *node,
			      const struct conf_fault *fault)
{
	const char *key = is_known(fault->key) ? fault->key.value : "its key";

	switch (fault->kind.value) {
	case CONF_SYNTAX:
		return is_known(fault->wanted) ? fault->wanted.value : "its form is wrong";
	case CONF_UNKNOWN:
		if (!is_known(fault->key) && is_known(fault->section))
			return arena_printf(arena, "no release of %s knows the table %s",
					    conf_reader(fault)->name, fault->section.value);
		return arena_printf(arena, "no release of %s knows %s%s%s",
				    conf_reader(fault)->name, key,
				    is_known(fault->section) ? " in " : "",
				    is_known(fault->section) ? fault->section.value : "");
	case CONF_PLACE:
		return place_text(arena, fault);
	case CONF_TYPE:
		return type_text(arena, fault, key);
	case CONF_TWICE:
		return arena_printf(arena, "%s is an option of the command line in %s too", key,
				    conf_reader(fault)->unit ? conf_reader(fault)->unit
							     : "its unit");
	default:
		return release_text(arena, node, fault, key);
	}
}

const char *conf_fault_text(struct arena *arena, const struct node *node,
			    const struct conf_fault *fault)
{
	const char *text = wrong_text(arena, node, fault);

	return is_known(fault->line)
		       ? arena_printf(arena, "line %" PRIu64 ": %s", fault->line.value, text)
		       : text;
}

const struct conf_fault *conf_fault_of_unit(const struct node *node, const char *unit)
{
	for_each(fault, &node->references.faults)
		if (conf_reader(fault)->unit && strcmp(conf_reader(fault)->unit, unit) == 0 &&
		    conf_outcome(node, fault) == CONF_REFUSED)
			return fault;
	return NULL;
}

const char *conf_fault_fact(struct arena *arena, const struct node *node,
			    const struct conf_fault *fault)
{
	return ITEM_FACT(arena, node, references.faults, fault, kind);
}
