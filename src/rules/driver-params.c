/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-params.c - the driver's parameters (rules driver/...): the ones that DeepEP and NVSHMEM IBGDA ask
 * for, and whether the running values are those that are configured. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "facts/own-files.h"
#include "parse/nvidia.h"
#include "query/distribution.h"
#include "query/gpus.h"
#include "query/nvreg.h"
#include "query/option-value.h"
#include "query/registry-keys.h"
#include "query/setting.h"

/* kernel/params.c, param_set_charp(): longer strings are refused and the module does not load. */
#define PARAM_STRING_MAX 1024

/* ---- PeerMappingOverride ---- */

static bool has_override(const char *value)
{
	struct registry_entry entry;

	return value && registry_find(span_of(value), "PeerMappingOverride", &entry) &&
	       entry.number != 0;
}

static bool is_override(const char *value, const void *user)
{
	(void)user;
	return has_override(value);
}

/* In RegistryDwordsPerDevice one string has the entries of all devices; any is enough here,
 * driver/peer-mapping-per-device looks closer. */
static bool has_override_per_device(const struct node *node)
{
	const struct driver_param *param = node_param(node, "RegistryDwordsPerDevice");

	return param && has_override(param->value.value);
}

static const char *missing_found(const struct node *node, const struct setting_outcome *o)
{
	/* The driver's options are in the host's files. */
	if (is_known(node->os.container))
		return "";
	switch (o->missing) {
	case MISSING_CONFIGURATION:
		return o->configured_unknown ? ""
		       : o->boot_right
			       ? " Only the present initramfs has it, and /etc/modprobe.d does not: "
				 "the next rebuild loses it."
			       : " No file of modprobe.d sets PeerMappingOverride.";
	case MISSING_REBUILD:
		return " It is configured, but the initramfs that loads the driver lacks it.";
	case MISSING_RESTART:
		return " It is configured, but the running driver was loaded without it.";
	case MISSING_NOTHING:
		break;
	}
	return "";
}

static bool has_wrong_entry(const char *value)
{
	struct registry_entry entry;
	struct span rest = span_of(value);

	while (registry_next(&rest, &entry))
		if (entry.problem)
			return true;
	return false;
}

#define LIVE_DWORDS "/proc/driver/nvidia/params"

/* Returns the subject under which check_syntax() reports the first entry of RegistryDwords that is wrong; or NULL. */
static const char *place_of_wrong_entry(struct rule_context *ctx)
{
	const struct driver_param *live = node_param(ctx->node, "RegistryDwords");

	for_each(a, &ctx->node->modprobe.assignments)
		if (str_is(a->param, "NVreg_RegistryDwords") && is_known(a->value) &&
		    has_wrong_entry(a->value.value))
			return assignment_place(ctx->arena, a);
	return live && has_wrong_entry(live->value.value) ? LIVE_DWORDS : NULL;
}

#define PEER_MAPPING_HERE "Set PeerMappingOverride=1 in NVreg_RegistryDwords."
#define PEER_MAPPING_ON_HOST                                                                  \
	"On the host, set PeerMappingOverride=1 in NVreg_RegistryDwords in "                  \
	"/etc/modprobe.d, and keep the keys that this command shows. If there are "           \
	"none, the line is: options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\". " \
	"If the initramfs loads the driver, rebuild it."

/* Its name is after those of packages and before OWN_MODPROBE: a repair of another key keeps the keys of this file. */
#define PEER_MAPPING_FILE "/etc/modprobe.d/zz-nvidia-peer-mapping.conf"

/* Returns the assignment that a new file would not win over; or NULL. */
static const struct modprobe_assignment *assignment_to_edit(const struct node *node)
{
	const struct modprobe_assignment *a = setting_nvidia_assignment(node, &node->modprobe,
									"NVreg_RegistryDwords");

	if (!a || !is_known(a->file))
		return NULL;
	return str_is(a->file, "/proc/cmdline") || strcmp(span_base_name(a->file.value),
							  span_base_name(PEER_MAPPING_FILE)) >= 0
		       ? a
		       : NULL;
}

static const char *remedy_peer_mapping(struct rule_context *ctx)
{
	const struct modprobe_assignment *a = assignment_to_edit(ctx->node);

	if (is_known(ctx->node->os.container))
		return PEER_MAPPING_ON_HOST;
	return a ? text_printf(ctx, "Set PeerMappingOverride=1 in NVreg_RegistryDwords, in %s.",
			       assignment_place(ctx->arena, a))
		 : PEER_MAPPING_HERE;
}

/* Returns the command, then REBUILD. A container does not see the keys that the host's files set, and a new file would
 * hide them. */
static const char *shell_set_peer_mapping(struct rule_context *ctx, const char *rebuild)
{
	const struct node *node = ctx->node;
	const char *keys = setting_registry_keys(ctx->arena, node, "PeerMappingOverride", "1");

	if (is_known(node->os.container))
		return "sudo grep -rs NVreg_RegistryDwords /etc/modprobe.d /usr/lib/modprobe.d";
	if (!shell_can_quote(keys) || !known_is(node->modprobe.complete, true) ||
	    assignment_to_edit(node))
		return NULL;
	return shell_join(ctx->arena,
			  text_printf(ctx,
				      "echo 'options nvidia NVreg_RegistryDwords=\"%s\"' | "
				      "sudo tee " PEER_MAPPING_FILE,
				      keys),
			  rebuild);
}

/* Answers with what is missing. */
static void fail_peer_mapping(struct rule_context *ctx, const struct setting *s,
			      const struct setting_outcome *o)
{
	const struct node *node = ctx->node;
	const char *rebuild = s->early_counts && is_known(node->os.kernel)
				      ? shell_rebuild_initramfs(ctx->arena, node,
								node->os.kernel.value)
				      : NULL;
	const char *wrong = o->missing == MISSING_CONFIGURATION ? place_of_wrong_entry(ctx) : NULL;
	const char *found = wrong ? text_printf(ctx, " %s has an entry with a wrong syntax.", wrong)
				  : missing_found(node, o);
	struct answer answer = {
		.verdict = VERDICT_FAIL,
		.observed =
			s->running.value && *s->running.value
				? text_printf(
					  ctx,
					  "RegistryDwords \"%s\" lacks PeerMappingOverride=1.%s",
					  s->running.value, found)
				: text_printf(ctx, "RegistryDwords is empty.%s", found),
		.expected = "PeerMappingOverride=1 in RegistryDwords",
		.evidence = { "driver.params[RegistryDwords].value", s->next.fact, s->early.fact },
	};

	if (o->missing == MISSING_REBUILD) {
		answer.then = THEN_REBOOT;
		answer.remedy = "Rebuild the initramfs.";
		answer.command = rebuild;
	} else if (o->missing == MISSING_RESTART) {
		answer.remedy = "Reboot.";
	}
	if (o->missing == MISSING_REBUILD || o->missing == MISSING_RESTART) {
		answer.follows = "driver/params-configured-not-live";
		answer.follows_subject = "NVreg_RegistryDwords";
	} else {
		answer.then = THEN_REBOOT;
		answer.remedy = remedy_peer_mapping(ctx);
		answer.command = shell_set_peer_mapping(ctx, rebuild);
	}
	rule_answer(ctx, &answer);
}

static void check_peer_mapping(struct rule_context *ctx)
{
	struct setting s;
	struct setting_outcome o;

	if (skip_without_params(ctx))
		return;
	s = setting_nvreg(ctx->node, "RegistryDwords", ctx->arena);
	o = setting_compare(&s, is_override, NULL);
	if (o.running_right)
		PASS(ctx, .evidence = { s.running.fact });
	else if (has_override_per_device(ctx->node))
		PASS(ctx, .observed = "set per GPU in RegistryDwordsPerDevice",
		     .evidence = { "driver.params[RegistryDwordsPerDevice].value" });
	else if (o.pending)
		PENDING(ctx, .observed = "configured after the last boot, not in effect yet",
			.expected = "PeerMappingOverride=1 in RegistryDwords", .remedy = "Reboot.",
			.evidence = { s.next.fact, s.running.fact });
	else
		fail_peer_mapping(ctx, &s, &o);
}

/* "pci=0000:1b:00.0;PeerMappingOverride=1;pci=...": how many devices have it on? */
static size_t count_devices(struct span text, bool *any_device)
{
	struct registry_entry entry;
	size_t with = 0;
	bool counted = true;

	*any_device = false;
	while (registry_next(&text, &entry)) {
		if (span_is(entry.key, "pci")) {
			*any_device = true;
			counted = false;
		} else if (!counted && !entry.skipped && entry.number &&
			   entry.key.n == strlen("PeerMappingOverride") &&
			   strncasecmp(entry.key.p, "PeerMappingOverride", entry.key.n) == 0) {
			with++;
			counted = true;
		}
	}
	return with;
}

static void check_peer_mapping_per_device(struct rule_context *ctx)
{
	const struct driver_param *param = node_param(ctx->node, "RegistryDwordsPerDevice");
	const struct driver_param *all = node_param(ctx->node, "RegistryDwords");
	size_t gpus = ctx->node->gpu.devices.count, with;
	bool any;

	if (skip_without_params(ctx))
		return;
	with = param ? count_devices(span_of(param->value.value), &any) : 0;
	if (with == 0 || (all && has_override(all->value.value))) {
		NOT_APPLICABLE(ctx, .observed = "RegistryDwordsPerDevice does not set it");
	} else if (!was_read(ctx->node->gpu.devices)) {
		UNKNOWN(ctx, .evidence = { "gpu.devices" });
	} else if (with >= gpus) {
		PASS(ctx, .evidence = { "driver.params[RegistryDwordsPerDevice].value" });
	} else {
		FAIL(ctx, .observed = text_printf(ctx, "set for %zu of %zu GPUs", with, gpus),
		     .expected = "set for every GPU",
		     .evidence = { "driver.params[RegistryDwordsPerDevice].value" });
	}
}

/* ---- EnableStreamMemOPs ---- */

static void check_stream_memops(struct rule_context *ctx)
{
	const struct driver_param *param = node_param(ctx->node, "EnableStreamMemOPs");

	if (skip_without_params(ctx))
		return;
	if (!param)
		UNKNOWN(ctx, .observed = "this driver has no such parameter",
			.evidence = { "driver.params" });
	else if (!str_is(param->value, "0"))
		PASS(ctx, .evidence = { "driver.params[EnableStreamMemOPs].value" });
	else
		NOTE(ctx,
		     .observed =
			     "EnableStreamMemOPs is 0: only programs built for CUDA 11.6 or earlier need it",
		     .evidence = { "driver.params[EnableStreamMemOPs].value" });
}

/* ---- configured and live ---- */

static bool gives_value(const char *value, const void *user)
{
	return value && param_gives(value, user);
}

/* RegistryDwords may name an ordinary parameter and then wins over its own option (osapi.c). */
static const char *given_value(struct rule_context *ctx, const char *name,
			       const struct setting_value *own, const struct setting_value *dwords)
{
	struct registry_entry entry;

	if (dwords->value && registry_find(span_of(dwords->value), name, &entry) &&
	    span_is(entry.key, name))
		return text_printf(ctx, "%.*s", SPAN_FMT(entry.value));
	return own->value;
}

struct cause {
	const char *rule;
	const char *subject;
};

/* Returns the rule about hidden or wrong entries of RegistryDwords, if it fails: they are corrected first. */
static struct cause masked_by(struct rule_context *ctx, const struct setting *s)
{
	const char *wrong;

	if (strcmp(s->name, "NVreg_RegistryDwords") != 0)
		return (struct cause){ 0 };
	if (registry_merge(ctx->node, ctx->arena).missing)
		return (struct cause){ "driver/registrydwords-duplicated", NULL };
	wrong = place_of_wrong_entry(ctx);
	return (struct cause){ wrong ? "driver/registrydwords-syntax" : NULL, wrong };
}

static void check_one_configured(struct rule_context *ctx, const struct driver_param *param,
				 const struct setting *dwords, size_t *right)
{
	const char *option = setting_option_name(param->name.value, ctx->arena);
	const struct modprobe_assignment *given =
		setting_nvidia_assignment(ctx->node, &ctx->node->modprobe, option);
	const char *next;
	struct setting s;
	struct setting_outcome o;

	/* Most are not configured. boot/option-value-refused reports a value that the kernel refuses. */
	if (!given || option_refused(ctx->node, given, NULL))
		return;
	s = setting_nvreg(ctx->node, param->name.value, ctx->arena);
	if (s.configured.state != FACT_KNOWN)
		return;
	next = given_value(ctx, param->name.value, &s.configured, &dwords->configured);
	o = setting_compare(&s, gives_value, next);
	if (gives_value(param->value.value, next)) {
		(*right)++;
	} else if (o.pending) {
		PENDING(ctx, .subject = s.name,
			.observed = text_printf(
				ctx,
				"configured as \"%s\" after the last boot; the running driver has %s",
				next, setting_quoted(ctx->arena, param->value.value)),
			.expected = "the configured value in effect", .remedy = "Reboot.",
			.evidence = { s.configured.fact, s.running.fact });
	} else {
		FAIL(ctx, .subject = s.name,
		     .observed = text_printf(
			     ctx, "configured as \"%s\", but the running driver has %s%s", next,
			     setting_quoted(ctx->arena, param->value.value),
			     o.missing == MISSING_REBUILD
				     ? ". The initramfs that loads the driver lacks it."
				     : ""),
		     .follows = masked_by(ctx, &s).rule,
		     .follows_subject = masked_by(ctx, &s).subject,
		     .evidence = { s.configured.fact, s.running.fact, s.early.fact });
	}
}

static void check_configured_not_live(struct rule_context *ctx)
{
	size_t right = 0, before = ctx->findings->count;

	struct setting dwords;

	if (skip_without_params(ctx) || skip_without_modprobe(ctx))
		return;
	dwords = setting_nvreg(ctx->node, "RegistryDwords", ctx->arena);
	for_each(param, &ctx->node->driver.params)
		check_one_configured(ctx, param, &dwords, &right);
	if (ctx->findings->count > before || skip_unless_modprobe_whole(ctx))
		return;
	if (right)
		PASS(ctx, .observed = text_printf(ctx, "%zu configured, all in effect", right),
		     .evidence = { "modprobe.assignments", "driver.params" });
	else
		NOT_APPLICABLE(ctx, .observed = "no option of the NVIDIA driver is configured",
			       .evidence = { "modprobe.assignments" });
}

static bool loaded_by_modprobe(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	for_each(f, &node->modules.files)
		if (str_is(f->name, "nvidia") && is_known(node->os.kernel) &&
		    str_is(f->kernel, node->os.kernel.value))
			return true;
	if (!skip_without_module_files(ctx))
		NOT_APPLICABLE(ctx,
			       .observed = "no nvidia.ko for this kernel under /lib/modules: "
					   "something other than modprobe loads the driver",
			       .evidence = { "modules.files" });
	return false;
}

/* Values that a rule of driver-options.c reports: nothing may make them persistent. */
static bool is_harmful(const char *name, const char *value)
{
	static const struct {
		const char *name, *value;
	} harmful[] = {
		{ "GrdmaPciTopoCheckOverride", "2" },
		{ "NvLinkDisable", "1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(harmful); i++)
		if (strcmp(name, harmful[i].name) == 0 && param_gives(value, harmful[i].value))
			return true;
	return false;
}

static void check_live_not_persistent(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count;
	struct setting dwords;

	if (skip_without_params(ctx) || !loaded_by_modprobe(ctx))
		return;
	if (skip_without_modprobe(ctx) || skip_unless_modprobe_whole(ctx))
		return;
	dwords = setting_nvreg(node, "RegistryDwords", ctx->arena);
	for (const struct nvreg_param *p = nvreg_params; p->name; p++) {
		struct setting s;
		const char *next;

		if (!p->watched)
			continue;
		s = setting_nvreg(node, p->name, ctx->arena);
		next = given_value(ctx, p->name, &s.next, &dwords.next);
		/* params-configured-not-live reports a configured value that does not run. */
		if (s.running.state != FACT_KNOWN || param_gives(p->value, s.running.value) ||
		    param_keeps(next, s.running.value) || is_harmful(p->name, s.running.value))
			continue;
		FAIL(ctx, .subject = s.name,
		     .observed = text_printf(
			     ctx, "the running driver has \"%s\"; the next load sets \"%s\"",
			     s.running.value, next ? next : p->value),
		     .expected = "the running value configured", .follows = masked_by(ctx, &s).rule,
		     .follows_subject = masked_by(ctx, &s).subject,
		     .evidence = { s.running.fact, s.next.fact ? s.next.fact : s.configured.fact });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "driver.params", "modprobe.assignments" });
}

/* ---- RegistryDwords ---- */

static const char *assignment_fact(struct rule_context *ctx, const struct modprobe_assignment *a)
{
	return a ? ITEM_FACT(ctx->arena, ctx->node, modprobe.assignments, a, value) : NULL;
}

/* The whole line, where it is to be, and what it leaves out. */
static const char *merge_remedy(struct rule_context *ctx, const struct registry_merge *m)
{
	const struct node *node = ctx->node;
	bool early = setting_nvreg(node, "RegistryDwords", ctx->arena).early_counts;
	const char *rebuild = early && is_known(node->os.kernel)
				      ? shell_rebuild_initramfs(ctx->arena, node,
								node->os.kernel.value)
				      : NULL;
	const char *line = text_printf(
		ctx,
		"Set it in %s only, with this line: options nvidia NVreg_RegistryDwords=\"%s\"%s%s",
		m->last->file.value, m->keys,
		rebuild ? " Then run: "
		: early ? " Then rebuild the initramfs."
			: "",
		rebuild ? rebuild : "");

	if (!m->nvlink_off)
		return *m->keys ? line : NULL;
	return text_printf(ctx, "Decide first about %s: it switches NVLink off%s. %s",
			   m->nvlink_off, *m->keys ? ", and the line below leaves it out" : "",
			   *m->keys ? line : "Remove it unless that is intended.");
}

static void fail_duplicated(struct rule_context *ctx, const struct registry_merge *m)
{
	const char *wrong = place_of_wrong_entry(ctx);

	FAIL_AS(ctx, m->missing ? SEVERITY_ERR : SEVERITY_WARN,
		.observed =
			m->missing
				? text_printf(
					  ctx,
					  "assigned %zu times; the last one (%s) lacks the entry %s",
					  m->count, assignment_place(ctx->arena, m->last),
					  m->missing)
				: text_printf(ctx, "assigned %zu times; the last one has every key",
					      m->count),
		.remedy = merge_remedy(ctx, m),
		.follows = wrong ? "driver/registrydwords-syntax" : NULL, .follows_subject = wrong,
		.evidence = { assignment_fact(ctx, m->last), assignment_fact(ctx, m->other) });
}

static void check_duplicated(struct rule_context *ctx)
{
	struct registry_merge m;

	if (skip_without_modprobe(ctx))
		return;
	m = registry_merge(ctx->node, ctx->arena);
	if (m.count < 2 && skip_unless_modprobe_whole(ctx))
		return;
	if (!m.last)
		NOT_APPLICABLE(ctx, .observed = "RegistryDwords is not configured");
	else if (m.count > 1 && !m.missing && str_is(m.last->file, OWN_MODPROBE))
		PASS(ctx,
		     .observed = text_printf(ctx, "assigned %zu times; the last one has every key",
					     m.count),
		     .evidence = { assignment_fact(ctx, m.last) });
	else if (m.count == 1)
		PASS(ctx, .evidence = { assignment_fact(ctx, m.last) });
	else
		fail_duplicated(ctx, &m);
}

/* PLACE: file and line that hold VALUE. */
static void check_string(struct rule_context *ctx, const char *value, const char *place,
			 const char *fact)
{
	struct registry_entry entry, first = { 0 };
	struct span rest = span_of(value);
	size_t wrong = 0;

	if (rest.n > PARAM_STRING_MAX) {
		FAIL(ctx, .subject = place,
		     .observed = text_printf(
			     ctx, "%zu bytes long: the kernel does not load the driver with it",
			     rest.n),
		     .expected = "at most 1024 bytes",
		     .impact =
			     "After the next boot or reload no GPU works: the driver is not loaded.",
		     .remedy = "Remove keys until NVreg_RegistryDwords has at most 1024 bytes.",
		     .then = THEN_REBOOT, .has_fix = true, .evidence = { fact });
		return;
	}
	while (registry_next(&rest, &entry))
		if (entry.problem && wrong++ == 0)
			first = entry;
	if (wrong)
		FAIL(ctx, .subject = place,
		     .observed = text_printf(
			     ctx, "\"%.*s\" %s%s", SPAN_FMT(first.text), first.problem,
			     wrong == 1 ? ""
			     : wrong == 2
				     ? "; 1 more entry of this value is wrong"
				     : text_printf(ctx,
						   "; %zu more entries of this value are wrong",
						   wrong - 1)),
		     .expected =
			     "Key=number entries separated by \";\", the whole value in double quotes",
		     .evidence = { fact });
}

static void check_syntax(struct rule_context *ctx)
{
	const struct modprobe_facts *modprobe = &ctx->node->modprobe;
	const struct driver_param *live = node_param(ctx->node, "RegistryDwords");
	size_t seen = 0, before = ctx->findings->count;

	for_each(a, &modprobe->assignments) {
		if (!str_is(a->param, "NVreg_RegistryDwords") || !is_known(a->value))
			continue;
		check_string(ctx, a->value.value, assignment_place(ctx->arena, a),
			     ITEM_FACT(ctx->arena, ctx->node, modprobe.assignments, a, value));
		seen++;
	}
	if (live && *live->value.value) {
		check_string(ctx, live->value.value, LIVE_DWORDS,
			     "driver.params[RegistryDwords].value");
		seen++;
	}
	if (ctx->findings->count > before || skip_unless_modprobe_whole(ctx))
		return;
	if (seen)
		PASS(ctx, .evidence = { "driver.params[RegistryDwords].value" });
	else
		NOT_APPLICABLE(ctx, .observed = "RegistryDwords is empty");
}

static const struct rule driver_params_rules[] = {
	{
		.id = "driver/peer-mapping-override",
		.title = "DeepEP and NVSHMEM IBGDA will hang: PeerMappingOverride=1 is not set",
		.profiles = PROFILE_GIN_ANY,
		.used_variables = USED_BY_GIN_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_peer_mapping,
		.impact =
			"DeepEP hangs in its first dispatch: a job without CAP_SYS_ADMIN cannot map the NIC's doorbell for "
			"the GPU (cudaHostRegister returns error 800). NVSHMEM then uses a CPU proxy. Without "
			"GDRCopy NVSHMEM before 3.4.5 does not start IBGDA. NCCL GIN and UCX need the same mapping.",
		.then = THEN_REBOOT,
		.remedy = "Set PeerMappingOverride=1 in NVreg_RegistryDwords.",
		.fix = { "set-registry-key", { "PeerMappingOverride", "1" } },
		.activation = ACTIVATION_REBOOT,
		.trial = TRIAL_DOORBELL_AS_JOB,
		.reads =
			"RegistryDwords in /proc/driver/nvidia/params, modprobe.d, the kernel command line, and modprobe.d in "
			"the initramfs if the initramfs loads the driver.",
		.why = "With GPU-initiated networking the GPU writes to the NIC's doorbell, a page of the NIC's BAR. The "
		       "driver maps that page for callers with CAP_SYS_ADMIN in the initial user namespace. For all others "
		       "it needs this key: Slurm jobs and ordinary containers. A privileged pod works without it, which "
		       "proves nothing for a job.",
		.check = "grep RegistryDwords /proc/driver/nvidia/params",
		.cost = "If several tenants share the node, decide first whether this is allowed: each user of a GPU can "
			"then give it access to any device memory that the user can map.",
		.is_risk = true,
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c, "
			"kernel-open/common/inc/nv-linux.h (NV_IS_SUSER)\n"
			"DeepEP 2.1.0: docs/nvshmem.md\n"
			"github.com/deepseek-ai/DeepEP issues 163, 484, 509, pull 677\n"
			"NVSHMEM 3.2.5, 3.3.20 and 3.4.5: src/modules/transport/ibgda/ibgda.cpp (nvshmemt_init)\n"
			"github.com/NVIDIA/nvshmem issue 23",
	},
	{
		.id = "driver/peer-mapping-per-device",
		.title =
			"DeepEP will hang on some GPUs: PeerMappingOverride is not set for all of them",
		.is_short_effect = true,
		.profiles = PROFILE_GIN_ANY,
		.used_variables = USED_BY_GIN_JOBS,
		.severity = SEVERITY_WARN,
		.evaluate = check_peer_mapping_per_device,
		.impact = "Jobs on the other GPUs cannot map the NIC's doorbell.",
		.then = THEN_REBOOT,
		.remedy = "Set PeerMappingOverride=1 in NVreg_RegistryDwords, which applies to all "
			  "GPUs.",
		.fix = { "set-registry-key", { "PeerMappingOverride", "1" } },
		.activation = ACTIVATION_REBOOT,
		.reads = "RegistryDwordsPerDevice in /proc/driver/nvidia/params.",
		.why = "The driver ignores entries for a PCI address that no GPU has, and logs nothing.",
		.check = "grep RegistryDwords /proc/driver/nvidia/params",
		.sources = "open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/os-registry.c",
	},
	{
		.id = "driver/stream-memops",
		.title = "Old CUDA programs get error 801: EnableStreamMemOPs is off",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_INFO,
		.evaluate = check_stream_memops,
		.impact =
			"None with CUDA 11.7 or later. Programs built for CUDA 11.6 or earlier and GPUDirect Async "
			"(libgdsync) get error 801.",
		.remedy =
			"Set NVreg_EnableStreamMemOPs=1 if a program built for CUDA 11.6 or earlier runs here.",
		.fix = { "set-option", { "nvidia", "NVreg_EnableStreamMemOPs", "1" } },
		.activation = ACTIVATION_REBOOT,
		.trial = TRIAL_STREAM_MEMORY_OPERATIONS,
		.reads = "EnableStreamMemOPs in /proc/driver/nvidia/params.",
		.why = "DeepEP's guide sets it. The parameter controls only the first version of the stream memory operations; "
		       "NCCL and NVSHMEM call the second. Measured on an H200 with driver 580 and the parameter at 0: "
		       "cuStreamWriteValue32 and 64 return 801; cuStreamWriteValue64_v2 works.",
		.check = "grep EnableStreamMemOPs /proc/driver/nvidia/params",
		.sources =
			"CUDA driver API 11.8, Stream Memory Operations\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h\n"
			"NCCL 2.30.7: src/misc/cudawrap.cc; github.com/NVIDIA/nvshmem (2025-10-16): "
			"src/host/init/cudawrap.cpp (version 11070)\n"
			"github.com/openucx/ucc issue 672",
	},
	{
		.id = "driver/params-configured-not-live",
		/* A value that is wrong is to be removed. */
		.follows = { "driver/dma-remap-peer-mmio", "driver/msi-disabled",
			     "driver/nvlink-disabled-regkey", "driver/gpu-firmware-off",
			     "driver/grdma-topo-override", "driver/register-pci-driver" },
		.title = "The running driver lacks a configured option",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_configured_not_live,
		.impact = "The driver does not use the value that is set in modprobe.d.",
		.then = THEN_REBOOT,
		.remedy = "Rebuild the initramfs if it loads the driver.",
		.fix = { "activate-option" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Each effective NVreg_ option in modprobe.d and on the kernel command line, and "
			"/proc/driver/nvidia/params.",
		.why = "The driver reads its parameters only while it loads. If the initramfs loads it, the initramfs's "
		       "copy of modprobe.d counts. A later option replaces an earlier one. A key in RegistryDwords that "
		       "names a parameter overrides that parameter.",
		.check = "modprobe -c | grep '^options nvidia'; cat /proc/driver/nvidia/params",
		.sources =
			"kmod 30: libkmod/libkmod-module.c (options are joined in file order)\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (rm_parse_option_string)\n"
			"github.com/gpudirect/libgdsync issue 58",
	},
	{
		.id = "driver/params-live-not-persistent",
		/* A value that is wrong is not to be kept. */
		.follows = { "driver/dma-remap-peer-mmio", "driver/msi-disabled",
			     "driver/nvlink-disabled-regkey", "driver/gpu-firmware-off",
			     "driver/grdma-topo-override", "driver/register-pci-driver" },
		.title = "The next boot loses a driver parameter: no file sets it",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_live_not_persistent,
		.impact =
			"After the next boot or reload the driver runs with another value. If the initramfs still has the "
			"running value, this happens after its next rebuild.",
		.remedy = "Write the running value to a file in /etc/modprobe.d.",
		.fix = { "keep-live-option" },
		.activation = ACTIVATION_NOW,
		.cost = "If an administrator removed the value from the files on purpose, do not keep it: reboot instead.",
		.is_risk = true,
		.reads =
			"/proc/driver/nvidia/params, modprobe.d and the kernel command line, for the parameters of "
			"data/nvreg.tsv that are marked as watched.",
		.why = "The driver was loaded by hand with this value, or its file was removed since.",
		.check = "modprobe -c | grep '^options nvidia'; cat /proc/driver/nvidia/params",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (defaults)",
	},
	{
		.id = "driver/registrydwords-duplicated",
		.title = "Driver settings are lost: several lines set NVreg_RegistryDwords",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_duplicated,
		.impact = "Only the last assignment is in effect. The keys of the others are lost.",
		.remedy = "Merge all keys into one assignment and remove the others.",
		.fix = { "merge-registry" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Every NVreg_RegistryDwords assignment, in the order in which modprobe reads the files.",
		.why = "modprobe passes all options of a module to the kernel. The kernel keeps the last value of a string "
		       "parameter. It does not merge values.",
		.check = "modprobe -c | grep RegistryDwords",
		.sources =
			"kmod 30: libkmod/libkmod-module.c\nLinux 6.12.117: kernel/params.c, param_set_charp",
	},
	{
		.id = "driver/registrydwords-syntax",
		.title = "The driver ignores an entry of RegistryDwords: its syntax is wrong",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_syntax,
		.impact = "The driver ignores the entry, or uses 0 for it, and logs nothing.",
		.remedy =
			"Write Key=number entries separated by semicolons, with the whole value in double quotes, such as "
			"NVreg_RegistryDwords=\"PeerMappingOverride=1;\".",
		.fix = { "merge-registry" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The configured and the running value of RegistryDwords, parsed as the driver parses them.",
		.why = "The driver removes blanks, splits the string at semicolons and each entry at its equals sign. "
		       "Single quotes become part of the key.",
		.check = "grep RegistryDwords /proc/driver/nvidia/params",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (rm_parse_option_string)",
	},
};

RULE_TABLE(driver_params);
