/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.c - what is to be done about a report's problems, in the order in which it is done: the node is drained, the
 * program repairs, an administrator changes the rest, one reboot makes all of it take effect, others do their part, and
 * the node is checked again.
 */
#include "advice/steps.h"

#include <stdlib.h>
#include <string.h>

#include "advice/steps-private.h"
#include "base/array.h"
#include "query/kind.h"
#include "query/node-repair.h"

#define LOOK_CHECKS 10 /* with so many checks that only root can run, a run as root is a step */

const char *const step_kind_words[] = {
	[STEP_FINAL] = "decide",	[STEP_LOOK] = "run-as-root",  [STEP_DRAIN] = "drain",
	[STEP_SAVE] = "save-log",	[STEP_POWER] = "power-cycle", [STEP_FIX] = "fix",
	[STEP_HAND] = "by-hand",	[STEP_JOB] = "job",	      [STEP_SITE] = "check-link",
	[STEP_BOOT] = "before-boot",	[STEP_RESTART] = "restart",   [STEP_FIRMWARE] = "firmware",
	[STEP_AFTER] = "after-boot",	[STEP_HARDWARE] = "hardware", [STEP_HOST] = "host",
	[STEP_CONTAINER] = "container", [STEP_PROVIDER] = "provider", [STEP_CHECK] = "check",
};
_Static_assert(ARRAY_SIZE(step_kind_words) == STEP_KINDS, "a word for each kind");

const char *const step_actor_words[] = {
	[ACTOR_NONE] = NULL,   [ACTOR_USER] = "user",	      [ACTOR_ROOT] = "root",
	[ACTOR_HOST] = "host", [ACTOR_PROVIDER] = "provider", [ACTOR_SUPPORT] = "support",
};

/* ---- who ---- */

const struct plan_repair *steps_repair(const struct steps *steps, const struct finding *finding)
{
	if (!steps->plan || steps->plan->refused)
		return NULL;
	for_each(r, &steps->plan->repairs)
		if (r->finding == finding)
			return r;
	return NULL;
}

const char *steps_refused(const struct steps *steps, const struct problem *p)
{
	const struct plan_repair *r = steps_repair(steps, p->first);

	if (!r || !finding_fix(p->first) || r->activation || r->only_by_hand)
		return NULL;
	return r->refused;
}

static bool is_below_etc(struct fact_str file)
{
	return is_known(file) && starts_with(file.value, "/etc/");
}

/* Returns true if FACT is a setting or a name in a file such as /etc/nccl.conf, which an administrator writes. */
static bool is_of_node_file(const struct node *node, const char *fact)
{
	const char *name = strchr(fact, '[');

	if (starts_with(fact, "env.nvshmem_conf["))
		return node->env.nvshmem_conf.count &&
		       is_below_etc(node->env.nvshmem_conf.items[0].file);
	if (starts_with(fact, "references.items[#")) {
		unsigned long n = strtoul(strchr(fact, '#') + 1, NULL, 10);

		return n < node->references.items.count &&
		       is_below_etc(node->references.items.items[n].file);
	}
	if (!name || !starts_with(fact, "env.nccl_conf["))
		return false;
	for_each(s, &node->env.nccl_conf) {
		size_t n = is_known(s->name) ? strlen(s->name.value) : 0;

		if (n && strncmp(name + 1, s->name.value, n) == 0 && name[1 + n] == ']')
			return is_below_etc(s->file);
	}
	return false;
}

/* The user who starts a job sets its environment, and loads no module. */
bool steps_is_in_job_environment(const struct node *node, const struct finding *f)
{
	const char *fact = f->answer.evidence[0];

	return starts_with(f->rule->id, "env/") && !f->answer.needs_module &&
	       !(fact && is_of_node_file(node, fact));
}

/* Working hardware that lacks what the profile needs has no repair. */
static bool has_no_repair(const struct problem *p)
{
	return finding_action(p->first) == ACTION_NONE;
}

static bool is_of_container_image(const struct problem *p)
{
	return p->first->rule->in_container_image &&
	       finding_activation(p->first) == ACTIVATION_NEW_JOBS;
}

static bool is_restart_needed(const struct steps *steps)
{
	return steps->restart >= ACTIVATION_REBOOT;
}

static enum step_kind kind_by_who_repairs(const struct steps *steps, const struct problem *p)
{
	switch (finding_repaired_by(p->first)) {
	case BY_FIRMWARE:
		return STEP_FIRMWARE;
	case BY_HARDWARE:
		return has_no_repair(p) ? STEP_FINAL : STEP_HARDWARE;
	case BY_HOST:
		return STEP_HOST;
	case BY_PROVIDER:
		return STEP_PROVIDER;
	case BY_UNSET:
	case BY_PROGRAM:
	case BY_ADMIN:
		break;
	}
	if (steps_is_in_job_environment(steps->report->node, p->first))
		return STEP_JOB;
	/* A container's kernel, modules and devices are the host's. */
	if (is_known(steps->report->node->os.container))
		return finding_activation(p->first) == ACTIVATION_RECREATE ||
				       is_of_container_image(p)
			       ? STEP_CONTAINER
			       : STEP_HOST;
	if (p->first->rule->stops_boot)
		return STEP_BOOT;
	if (p->first->rule->on_site)
		return STEP_SITE;
	return p->first->rule->needs_running && is_restart_needed(steps) ? STEP_AFTER : STEP_HAND;
}

/* Only a plan knows what this node allows; without one the rule says whether fix repairs it. */
static bool is_repaired(const struct steps *steps, const struct problem *p)
{
	if (!steps->plan)
		return finding_fix(p->first);
	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(steps, *member);

		if (r && r->what)
			return true;
	}
	return false;
}

bool steps_is_done_already(const struct steps *steps, const struct problem *p)
{
	const struct plan_repair *r = steps_repair(steps, p->first);

	return p->waits || (r && r->refused && r->activation);
}

/* A boot undoes what only changes the running node, or does it anyway: the other changes come after it. */
static bool is_undone_by_boot(const struct steps *steps, const struct problem *p)
{
	if (steps->restart < ACTIVATION_REBOOT || !steps->plan || !is_repaired(steps, p))
		return false;
	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(steps, *member);

		if (r && r->what && (r->lasts || r->activation > ACTIVATION_NOW))
			return false;
	}
	return true;
}

/* Returns true if the restart is the whole remedy. */
static bool needs_restart_only(const struct problem *p)
{
	enum action action = finding_action(p->first);

	return !p->first->command && (action == ACTION_REBOOT || action == ACTION_POWER_CYCLE);
}

bool steps_is_reset_by_boot(const struct steps *steps, const struct problem *p)
{
	return finding_action(p->first) == ACTION_RESET_GPU &&
	       (is_restart_needed(steps) || steps->power_first);
}

enum step_kind steps_kind(const struct steps *steps, const struct problem *p)
{
	enum step_kind restart = steps->power_first ? STEP_POWER : STEP_RESTART, kind;

	if (steps_is_done_already(steps, p))
		return restart;
	if (is_undone_by_boot(steps, p))
		return STEP_AFTER;
	kind = is_repaired(steps, p) ? STEP_FIX : kind_by_who_repairs(steps, p);
	/* The power cycle comes before corrections of the unit's files. */
	if (kind == STEP_HAND && is_restart_needed(steps) && steps_is_unit_restart(p))
		return STEP_RESTART;
	return kind == STEP_HAND && (needs_restart_only(p) || steps_is_reset_by_boot(steps, p))
		       ? restart
		       : kind;
}

enum step_actor step_actor(enum step_kind kind)
{
	switch (kind) {
	case STEP_JOB:
	case STEP_CONTAINER:
		return ACTOR_USER;
	case STEP_FINAL:
		return ACTOR_NONE;
	case STEP_HARDWARE:
		return ACTOR_SUPPORT;
	case STEP_HOST:
		return ACTOR_HOST;
	case STEP_PROVIDER:
		return ACTOR_PROVIDER;
	default:
		return ACTOR_ROOT;
	}
}

const char *steps_what(const struct steps *steps, const struct problem *p)
{
	const char *remedy = finding_remedy(p->first);

	if (steps_is_done_already(steps, p))
		return "This takes effect then.";
	return remedy && *remedy ? remedy : finding_title(p->first);
}

const char *steps_remedy(const struct steps *steps, const struct problem *p,
			 const struct finding *f)
{
	const char *change = finding_change(f);

	if (steps_is_done_already(steps, p) || !change || !*change)
		return steps_what(steps, p);
	return remedy_with(steps->report->arena, change,
			   finding_then(f) & ~steps_done_later(steps, p));
}

enum step_advice steps_advice(const struct steps *steps, const struct step *step,
			      const struct problem *p)
{
	if (steps_is_restart_alone(steps, p))
		return ADVICE_SOLVED;
	if (steps_is_restarted_by_boot(steps, p))
		return ADVICE_BOOT_RESTARTS_UNIT;
	if (steps_is_reset_by_boot(steps, p))
		return steps_kind(steps, p) == STEP_POWER ? ADVICE_POWER_RESETS_GPU
							  : ADVICE_BOOT_RESETS_GPU;
	if (step->kind == STEP_HARDWARE)
		return ADVICE_HARDWARE;
	if (is_undone_by_boot(steps, p))
		return ADVICE_AFTER_BOOT;
	if (steps_is_blind(steps, p))
		return ADVICE_PROBABLY;
	return step->kind == STEP_CONTAINER && p->first->rule->in_container_image
		       ? ADVICE_CONTAINER_IMAGE
		       : ADVICE_REMEDY;
}

/* ---- when ---- */

enum activation steps_activation(const struct steps *steps, const struct problem *p)
{
	enum activation latest = ACTIVATION_NONE;

	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(steps, *member);
		enum activation own = r && r->activation ? r->activation
							 : finding_activation(*member);

		latest = own > latest ? own : latest;
	}
	return latest;
}

enum activation steps_restart(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind = steps_kind(steps, p);
	enum activation activation = steps_activation(steps, p);

	if (kind > STEP_FIRMWARE || kind == STEP_FINAL)
		return ACTIVATION_NONE;
	/* A reset is enough, and a boot for other problems resets the GPU too. */
	if (finding_action(p->first) == ACTION_RESET_GPU)
		return ACTIVATION_NONE;
	if (finding_action(p->first) == ACTION_POWER_CYCLE)
		return ACTIVATION_POWER_CYCLE;
	if (finding_action(p->first) == ACTION_REBOOT && activation < ACTIVATION_REBOOT)
		return ACTIVATION_REBOOT;
	if (kind == STEP_FIRMWARE && activation < ACTIVATION_REBOOT)
		return ACTIVATION_REBOOT;
	return activation >= ACTIVATION_RELOAD ? activation : ACTIVATION_NONE;
}

enum activation steps_waits_for(const struct steps *steps, const struct problem *p)
{
	enum activation activation = steps_activation(steps, p);
	enum step_kind kind = steps_kind(steps, p);
	bool is_said = false;

	/* A boot is the alternative to a reset. */
	if (steps_restart(steps, p) || finding_action(p->first) == ACTION_RESET_GPU)
		return ACTIVATION_NONE;
	switch (activation) {
	case ACTIVATION_NEW_JOBS:
		is_said = kind == STEP_JOB || kind == STEP_CONTAINER;
		break;
	case ACTIVATION_RECREATE:
		is_said = kind == STEP_CONTAINER;
		break;
	case ACTIVATION_REBOOT:
	case ACTIVATION_POWER_CYCLE:
		is_said = finding_then(p->first) & THEN_REBOOT;
		break;
	case ACTIVATION_RESTART: /* its remedy restarts the service */
	case ACTIVATION_NOW:
	case ACTIVATION_NONE:
		is_said = true;
		break;
	case ACTIVATION_RELOAD:
		break;
	}
	return is_said ? ACTIVATION_NONE : activation;
}

/* ---- the list ---- */

/* Returns true for a device that does not respond until a power cycle. */
bool steps_is_unresponsive(const struct problem *p)
{
	return finding_action(p->first) == ACTION_POWER_CYCLE && p->first->answer.subject;
}

static struct step *find_or_add_step(struct steps *steps, enum step_kind kind)
{
	struct step *step;

	for_each_mut(s, &steps->items)
		if (s->kind == kind)
			return s;
	step = LIST_ADD(steps->report->arena, &steps->items);
	step->kind = kind;
	return step;
}

bool steps_has_drain(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (step->kind == STEP_DRAIN)
			return true;
	return false;
}

/* Adds the step with its problems, if it has any. */
static void add_kind(struct steps *steps, enum step_kind kind)
{
	for_each(p, &steps->problems->items)
		if (steps_kind(steps, p) == kind)
			*LIST_ADD(steps->report->arena,
				  &find_or_add_step(steps, kind)->problems) = p;
}

/* Returns true if a problem above is about the same device. */
static bool is_ticketed(const struct steps *steps, const struct problem *problem)
{
	for_each(p, &steps->problems->items) {
		if (p == problem)
			return false;
		if (steps_is_unresponsive(p) &&
		    same_text(p->first->answer.subject, problem->first->answer.subject))
			return true;
	}
	return false;
}

/* A device that does not respond after the power cycle needs support. */
static void add_if_still_unresponsive(struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (steps_is_unresponsive(p) && steps_kind(steps, p) < STEP_HARDWARE &&
		    !is_ticketed(steps, p))
			*LIST_ADD(steps->report->arena,
				  &find_or_add_step(steps, STEP_HARDWARE)->if_unsolved) = p;
}

static bool ends_jobs(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind = steps_kind(steps, p);

	return kind != STEP_FINAL && kind <= STEP_HARDWARE &&
	       (finding_action(p->first) == ACTION_RESET_GPU || p->first->rule->ends_jobs ||
		p->first->answer.ends_jobs || steps_activation(steps, p) >= ACTIVATION_RELOAD);
}

/* Returns true for a server of a batch system on which no job works. */
static bool stops_all_jobs(const struct steps *steps)
{
	const struct node *node = steps->report->node;

	if (is_known(node->os.container) || node_is(node, KIND_WORKSTATION))
		return false;
	for_each(p, &steps->problems->items)
		if (p->severity >= SEVERITY_ERR && steps_kind(steps, p) != STEP_JOB &&
		    p->first->rule->profiles & PROFILE_BASE)
			return true;
	return false;
}

static bool needs_drain(const struct steps *steps)
{
	bool needed = steps->restart || steps->power_first;

	for_each(p, &steps->problems->items)
		needed |= ends_jobs(steps, p);
	if (is_known(steps->report->node->os.next_boot))
		return false;
	return needed || stops_all_jobs(steps);
}

bool steps_is_hardware_first(const struct steps *steps)
{
	if (steps->power_first)
		return true;
	for_each(p, &steps->problems->items)
		if (steps_kind(steps, p) == STEP_HARDWARE &&
		    steps_needs_repair(p->first, p->severity))
			return true;
	return false;
}

bool steps_is_host_first(const struct steps *steps)
{
	if (!is_known(steps->report->node->os.hypervisor))
		return false;
	for_each(p, &steps->problems->items) {
		enum step_kind kind = steps_kind(steps, p);

		if ((kind == STEP_HOST || kind == STEP_PROVIDER) &&
		    steps_activation(steps, p) >= ACTIVATION_REBOOT)
			return true;
	}
	return false;
}

/* An administrator first removes what keeps fix from a repair, and installs what belongs in the initramfs that fix
 * builds. */
bool steps_is_hand_first(const struct steps *steps)
{
	for_each(p, &steps->problems->items) {
		if (steps_kind(steps, p) != STEP_HAND || steps_is_blind(steps, p))
			continue;
		if (steps_refused(steps, p) ||
		    (steps_plan_makes_initramfs(steps) &&
		     finding_then(p->first) & (THEN_INITRAMFS | THEN_REBOOT)))
			return true;
	}
	return false;
}

bool steps_is_not_root(const struct steps *steps)
{
	return known_not(steps->report->node->os.observed_uid, 0);
}

bool steps_is_blind(const struct steps *steps, const struct problem *p)
{
	return steps_is_not_root(steps) && steps_refused(steps, p);
}

/* Returns true for a check that only root can run. */
static bool is_for_root(const struct finding *f)
{
	return !f->off && f->answer.verdict == VERDICT_UNKNOWN && f->gap &&
	       (str_is(f->gap->error, "EACCES") || str_is(f->gap->error, "EPERM"));
}

/* Of rules with equal severity, one for fewer profiles says more. A base rule is for all. */
static int weight(const struct rule *rule)
{
	unsigned int profiles = rule->profiles & PROFILE_BASE ? ~0u : rule->profiles;

	return 64 * (int)rule->severity - __builtin_popcount(profiles);
}

/* Returns the rule with the highest severity that only root can check, or NULL. */
const struct rule *steps_worst_for_root(const struct report *report)
{
	const struct rule *worst = NULL;

	for_each(f, &report->findings)
		if (is_for_root(f) && (!worst || weight(f->rule) > weight(worst)))
			worst = f->rule;
	return worst;
}

/* Counts the checks that only root can run. */
size_t steps_count_for_root(const struct report *report)
{
	const struct rule *last = NULL;
	size_t count = 0;

	for_each(f, &report->findings) {
		if (!is_for_root(f) || f->rule == last)
			continue;
		last = f->rule;
		count++;
	}
	return count;
}

/* Returns true if many checks, or files that decide about a repair, need root. */
static bool needs_look(const struct steps *steps)
{
	if (!steps_is_not_root(steps) || !steps->problems->items.count)
		return false;
	for_each(p, &steps->problems->items)
		if (steps_is_blind(steps, p))
			return true;
	return steps_count_for_root(steps->report) >= LOOK_CHECKS;
}

/* Returns true if there is such a step even if it has no problems. */
static bool is_needed(const struct steps *steps, enum step_kind kind)
{
	switch (kind) {
	case STEP_LOOK:
		return needs_look(steps);
	case STEP_DRAIN:
		return needs_drain(steps);
	case STEP_SAVE:
		return steps->power_first || steps->restart == ACTIVATION_POWER_CYCLE;
	case STEP_RESTART:
		return steps->restart;
	case STEP_CHECK:
		return steps->items.count;
	default:
		return false;
	}
}

static void add_steps(struct steps *steps)
{
	for (size_t i = 0; i < STEP_KINDS; i++) {
		enum step_kind kind = steps->order[i];

		add_kind(steps, kind);
		if (kind == STEP_HARDWARE)
			add_if_still_unresponsive(steps);
		if (is_needed(steps, kind))
			find_or_add_step(steps, kind);
	}
}

static enum activation latest_restart(const struct steps *steps)
{
	enum activation latest = ACTIVATION_NONE;

	for_each(p, &steps->problems->items) {
		enum activation restart = steps_kind(steps, p) == STEP_POWER
						  ? ACTIVATION_NONE
						  : steps_restart(steps, p);

		latest = restart > latest ? restart : latest;
	}
	return latest;
}

/* A device that stays dead sends the machine to its vendor. What stops a boot is repaired before any boot. */
static bool is_power_first(const struct steps *steps)
{
	if (steps_stops_boot(steps))
		return false;
	for_each(p, &steps->problems->items)
		if (steps_is_unresponsive(p) && steps_kind(steps, p) == STEP_RESTART)
			return true;
	return false;
}

static const char *refused_on_node(const struct steps *steps)
{
	const struct node *node = steps->report->node;

	/* The steps for a container name the person who acts outside it. */
	if (is_known(node->os.container))
		return NULL;
	/* A change by hand does not last on an image either. */
	if (is_known(node->os.image_based))
		return node_repair_refusal(node, steps->report->arena);
	return steps->plan ? steps->plan->refused : NULL;
}

const struct steps *steps_find(const struct report *report, const struct steps_request *request)
{
	struct steps *steps = arena_alloc(report->arena, sizeof(*steps));

	steps->report = report;
	steps->problems = problems_find(report);
	steps->plan = request->plan;
	/* The kind of a problem's step depends on these two, which depend on the kinds. So they are found one after the
	 * other, from kinds without what is not known yet. A device that does not respond then is one of STEP_RESTART. A
	 * problem that waits for the restart (.needs_running) then is one of STEP_HAND, and its own restart counts. */
	steps->power_first = is_power_first(steps);
	steps->restart = latest_restart(steps);
	steps->refused = refused_on_node(steps);
	steps_order(steps);
	steps_sort(steps);
	steps_add_commands(steps, request);
	add_steps(steps);
	return steps;
}

const struct step *steps_first(const struct steps *steps)
{
	const struct step *first = steps->items.items;

	if (!steps->items.count)
		return NULL;
	/* STEP_FINAL asks for no action. */
	return first->kind == STEP_FINAL && steps->items.count > 2 ? &first[1] : first;
}
