/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-configuration.c - lines of configuration files that their readers refuse or ignore (rules
 * services/configuration-refused, services/configuration-ignored). */
#include "evaluate/skip.h"
#include "query/conf-fault.h"
#include "query/service-cause.h"

/* Returns true if the program that reads this file is missing from the node. */
static bool is_unread(const struct node *node, const struct conf_reader *reader)
{
	const struct service *s = reader->unit ? node_service(node, reader->unit) : NULL;

	if (!s || service_condition(s) != SERVICE_MISSING || !was_read(node->software.items))
		return false;
	for_each(item, &node->software.items)
		if (str_is(item->name, reader->software))
			return false;
	return true;
}

struct tally {
	const struct conf_fault *first; /* of this outcome */
	const struct conf_fault *unsure;
	size_t more;
};

static struct tally count(const struct node *node, const char *path, enum conf_outcome wanted)
{
	struct tally t = { 0 };

	for_each(fault, &node->references.faults) {
		enum conf_outcome outcome;

		if (!str_is(fault->file, path))
			continue;
		outcome = conf_outcome(node, fault);
		if (outcome == CONF_UNSURE && !t.unsure)
			t.unsure = fault;
		if (outcome != wanted)
			continue;
		t.more += t.first != NULL;
		t.first = t.first ? t.first : fault;
	}
	return t;
}

static const char *observed(struct rule_context *ctx, const struct tally *t)
{
	const char *text = conf_fault_text(ctx->arena, ctx->node, t->first);

	return t->more ? text_printf(ctx, "%s; %zu more line%s wrong", text, t->more,
				     t->more == 1 ? " is" : "s are")
		       : text;
}

static const char *remedy(struct rule_context *ctx, const struct conf_reader *reader)
{
	return text_printf(ctx, "Correct the line%s%s%s%s",
			   reader->check ? ", and check with " : "",
			   reader->check ? reader->check : "", reader->restart ? ". " : ".",
			   reader->restart ? reader->restart : "");
}

static void fail_refused(struct rule_context *ctx, const char *path, const struct tally *t)
{
	const struct conf_reader *reader = conf_reader(t->first);

	FAIL(ctx, .subject = path, .observed = observed(ctx, t),
	     .expected = text_printf(ctx, "lines that %s takes", reader->name),
	     .impact = reader->breaks, .stops = reader->unit, .remedy = remedy(ctx, reader),
	     .evidence = { conf_fault_fact(ctx->arena, ctx->node, t->first) });
}

static void fail_ignored(struct rule_context *ctx, const char *path, const struct tally *t)
{
	const struct conf_reader *reader = conf_reader(t->first);

	FAIL(ctx, .subject = path, .observed = observed(ctx, t),
	     .expected = text_printf(ctx, "keys that %s knows, in their tables", reader->name),
	     .impact = text_printf(ctx, "%s ignores the line: the setting has no effect.",
				   reader->name),
	     .remedy = remedy(ctx, reader),
	     .evidence = { conf_fault_fact(ctx->arena, ctx->node, t->first) });
}

/* ---- each file ---- */

static void answer(struct rule_context *ctx, const struct reference_file *file,
		   enum conf_outcome wanted)
{
	const char *path = file->path.value;
	const char *fact = fact_path(ctx->arena, "references.files", path, "compared");
	struct tally t = count(ctx->node, path, wanted);

	if (t.first && is_unread(ctx->node, conf_reader(t.first)))
		NOT_APPLICABLE(ctx, .subject = path,
			       .observed = text_printf(ctx, "%s is not installed",
						       conf_reader(t.first)->name),
			       .evidence = { "services.units" });
	else if (t.first)
		(wanted == CONF_REFUSED ? fail_refused : fail_ignored)(ctx, path, &t);
	else if (t.unsure)
		UNKNOWN(ctx, .subject = path,
			.observed = conf_fault_text(ctx->arena, ctx->node, t.unsure),
			.evidence = { "software.items" });
	else if (!was_read(ctx->node->references.faults))
		UNKNOWN(ctx, .subject = path, .evidence = { "references.faults" });
	else if (!known_is(file->compared, true))
		UNKNOWN(ctx, .subject = path, .evidence = { fact });
	else
		PASS(ctx, .subject = path, .evidence = { fact });
}

/* A file that could not be read has no row in references.files when it does not exist. */
static void check(struct rule_context *ctx, enum conf_outcome wanted)
{
	const struct references_facts *all = &ctx->node->references;
	size_t before = ctx->findings->count;

	if (skip_in_container(ctx))
		return;
	for_each(file, &all->files)
		/* systemd and pam_limits refuse no file for a line of it. */
		if (is_known(file->path) && !is_absent(file->compared) &&
		    (wanted == CONF_IGNORED || !(known_is(file->format, REFERENCE_UNIT) ||
						 known_is(file->format, REFERENCE_LIMITS))))
			answer(ctx, file, wanted);
	if (ctx->findings->count > before)
		return;
	if (!known_is(all->complete, true) || !was_read(all->files) || !was_read(all->faults))
		UNKNOWN(ctx, .evidence = { was_read(all->faults) ? "references.complete"
								 : "references.faults" });
	else
		NOT_APPLICABLE(ctx, .observed = "no file whose keys are known",
			       .evidence = { "references.files" });
}

static void check_refused(struct rule_context *ctx)
{
	check(ctx, CONF_REFUSED);
}

static void check_ignored(struct rule_context *ctx)
{
	check(ctx, CONF_IGNORED);
}

/* ---- files that no program reads ---- */

static const char *skipped_text(struct rule_context *ctx, const struct skipped_file *file)
{
	if (span_ends(span_of(file->path.value), file->ending.value))
		return "the name of its folder does not end in .d";
	return text_printf(ctx, "its name does not end in %s", file->ending.value);
}

static void check_skipped(struct rule_context *ctx)
{
	const struct references_facts *all = &ctx->node->references;

	if (skip_in_container(ctx))
		return;
	if (!was_read(all->skipped)) {
		UNKNOWN(ctx, .evidence = { "references.skipped" });
		return;
	}
	for_each(file, &all->skipped)
		FAIL(ctx, .subject = file->path.value, .observed = skipped_text(ctx, file),
		     .expected = text_printf(ctx, "a name that %s reads", file->reader.value),
		     .impact = text_printf(
			     ctx, "%s does not read the file: its settings have no effect.",
			     file->reader.value),
		     .remedy = text_printf(ctx, "Rename it so that %s reads it, or move it away.",
					   file->reader.value),
		     .evidence = { fact_path(ctx->arena, "references.skipped", file->path.value,
					     "reader") });
	if (!all->skipped.count)
		PASS(ctx, .evidence = { "references.skipped" });
}

#define READS                                                                                                     \
	"daemon.json; config.toml of the NVIDIA Container Toolkit and of containerd (also of k3s and RKE2), and " \
	"containerd's conf.d; units and drop-ins below /etc/systemd of the services that jobs need; limits.conf and limits.d; slurm.conf, gres.conf and cgroup.conf; the versions of their programs."
#define SOURCES                                                                             \
	"data/conf-keys.tsv of this release: its header\n"                                  \
	"Slurm 26.05.3: src/common/parse_config.c, parse_value.c\n"                         \
	"Docker 28.5.2: daemon/config/config.go (findConfigurationConflicts)\n"             \
	"containerd 1.7.30: services/server/config/config.go (ValidateV2, Decode); 2.3.4: " \
	"cmd/containerd/server/config/config.go\n"                                          \
	"NVIDIA Container Toolkit 1.20.0: api/config/v1/toml.go, config.go\n"               \
	"systemd 252: systemd --dump-configuration-items; src/core/load-fragment.c (config_parse_rlimit)"

static const struct rule services_configuration_rules[] = {
	{
		.id = "services/configuration-refused",
		.title = "A service does not start: its configuration file has an error",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_refused,
		.impact = "The service does not start.",
		.remedy = "Correct the line, then start the service.",
		.activation = ACTIVATION_RESTART,
		.reads = READS,
		.why = "Docker and Slurm end at a key that they do not know, and at a value of another type. Docker "
		       "also ends at a key that is an option of its command line too: its unit has -H. A key "
		       "of another release is such a key: Slurm drops old keys, and each release adds some. TOML and "
		       "JSON have one form: a comma too many, a missing quote or a table that is there twice ends the "
		       "reading. A service that runs has read the file before the error came into it.",
		.check = "dockerd --validate; containerd config dump; nvidia-ctk config; slurmd -C",
		.sources = SOURCES,
	},
	{
		.id = "services/configuration-ignored",
		.title =
			"A setting has no effect: the program ignores it in its configuration file",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_ignored,
		.impact = "The program uses its default instead.",
		.remedy = "Move or correct the line.",
		.activation = ACTIVATION_RESTART,
		.reads = READS,
		.why = "The NVIDIA Container Toolkit and containerd say nothing, or write a line to their log, of a key "
		       "in a table where they do not look for it. no-cgroups belongs to nvidia-container-cli, "
		       "SystemdCgroup and BinaryName to the options of a runtime. systemd ignores a key in a section of "
		       "another kind, and LimitMEMLOCK=unlimited: its word is infinity. Units below /usr are their "
		       "makers', and are not compared.",
		.check = "nvidia-ctk config; containerd config dump",
		.sources = SOURCES,
	},
	{
		.id = "services/file-not-read",
		.title = "A file with settings has no effect: no program reads files of this name",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_skipped,
		.impact = "The settings in the file have no effect.",
		.remedy = "Rename the file.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The names in /etc/modules-load.d, sysctl.d, udev/rules.d, security/limits.d, ld.so.conf.d, cdi and "
			"in folders of drop-ins below /etc/systemd/system; of files that would be skipped also their lines.",
		.why = "Each of these folders is read by the ending of the names: .conf, .rules, .yaml or .json. Names of copies "
		       "(.bak, .rpmsave, .dpkg-old and the like) are left out, and files without a word about GPUs, RDMA or limits.",
		.check =
			"ls /etc/modules-load.d /etc/sysctl.d /etc/udev/rules.d /etc/security/limits.d",
		.sources =
			"systemd.unit(5), sysctl.d(5), modules-load.d(5), udev(7) of systemd 252\n"
			"Linux-PAM 1.5.2: limits.conf(5), pam_limits(8)\n"
			"container-device-interface, as in NVIDIA Container Toolkit 1.20.0: pkg/cdi/spec-dirs.go "
			"(scanSpecDirs)",
	},
};

RULE_TABLE(services_configuration);
