/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/steps.h"

#include <string.h>

#include "base/command.h"
#include "query/distribution.h"
#include "query/kind.h"
#include "query/names.h"
#include "render/render.h"

#define LOOK_CHECKS 10 /* with so many checks that only root can run, a run as root is a step */

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

/* The user who starts a job sets its environment, and loads no module. */
static bool is_of_job(const struct problem *p)
{
	return strncmp(p->first->rule->id, "env/", strlen("env/")) == 0 &&
	       !p->first->answer.needs_module;
}

/* Working hardware that lacks what the profile needs has no repair. */
static bool has_no_repair(const struct problem *p)
{
	return finding_action(p->first) == ACTION_NONE;
}

static bool is_restart_needed(const struct steps *steps)
{
	return steps->restart >= ACTIVATION_REBOOT;
}

static enum step_kind kind_of_mender(const struct steps *steps, const struct problem *p)
{
	switch (finding_mender(p->first)) {
	case MENDER_FIRMWARE:
		return STEP_FIRMWARE;
	case MENDER_HARDWARE:
		return has_no_repair(p) ? STEP_FINAL : STEP_HARDWARE;
	case MENDER_HOST:
		return STEP_HOST;
	case MENDER_PROVIDER:
		return STEP_PROVIDER;
	case MENDER_PROGRAM:
	case MENDER_ADMIN:
		break;
	}
	if (is_of_job(p))
		return STEP_JOB;
	/* A container's kernel, modules and devices are the host's. */
	if (is_known(steps->report->node->os.container))
		return finding_activation(p->first) == ACTIVATION_RECREATE ? STEP_CONTAINER
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

static bool is_done_already(const struct steps *steps, const struct problem *p)
{
	const struct plan_repair *r = steps_repair(steps, p->first);

	return p->waits || (r && r->refused && r->activation);
}

/* Returns true if the restart is the whole remedy. */
static bool needs_restart_only(const struct problem *p)
{
	enum action action = finding_action(p->first);

	return !finding_command(p->first) &&
	       (action == ACTION_REBOOT || action == ACTION_POWER_CYCLE);
}

enum step_kind steps_kind(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind;

	if (is_done_already(steps, p))
		return STEP_RESTART;
	kind = is_repaired(steps, p) ? STEP_FIX : kind_of_mender(steps, p);
	return kind == STEP_HAND && needs_restart_only(p) ? STEP_RESTART : kind;
}

/* Puts the address of the only device in place of BDF. */
static const char *with_address(const struct steps *steps, const struct problem *p,
				const char *text)
{
	const char *at, *subject = p->first->answer.subject;

	if (p->members.count != 1 || !subject || !strchr(subject, ':'))
		return text;
	while ((at = strstr(text, "BDF")))
		text = arena_printf(steps->report->arena, "%.*s%s%s", (int)(at - text), text,
				    subject, at + strlen("BDF"));
	return text;
}

const char *steps_what(const struct steps *steps, const struct problem *p)
{
	const char *remedy = finding_remedy(p->first);

	if (is_done_already(steps, p))
		return "This takes effect then.";
	return remedy && *remedy ? with_address(steps, p, remedy) : p->first->rule->title;
}

const char *steps_remedy(const struct steps *steps, const struct problem *p,
			 const struct finding *f)
{
	const char *change = finding_change(f);

	if (is_done_already(steps, p) || !change || !*change)
		return steps_what(steps, p);
	return remedy_with(steps->report->arena, with_address(steps, p, change),
			   finding_then(f) & ~steps_done_later(steps, p));
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

/* Returns the restart of the node that P needs. Restarts of services and containers are part of their remedies. */
static enum activation restart_of(const struct steps *steps, const struct problem *p,
				  enum step_kind kind)
{
	enum activation activation = steps_activation(steps, p);

	if (kind > STEP_RESTART || kind == STEP_FINAL)
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

const char *effect_text(enum activation activation)
{
	switch (activation) {
	case ACTIVATION_NOW:
		return "at once";
	case ACTIVATION_NEW_JOBS:
		return "for new jobs and logins; running jobs keep the old value";
	case ACTIVATION_RESTART:
		return "when the service is restarted";
	case ACTIVATION_RECREATE:
		return "when the container is created again";
	case ACTIVATION_RELOAD:
		return "when the module is loaded again, which needs all GPU jobs to end";
	case ACTIVATION_REBOOT:
		return "at the next boot";
	case ACTIVATION_POWER_CYCLE:
		return "after a power cycle, which ends all jobs";
	case ACTIVATION_NONE:
		break;
	}
	return NULL;
}

const char *steps_effect(const struct steps *steps, const struct problem *p)
{
	enum activation activation = steps_activation(steps, p);

	if (restart_of(steps, p, steps_kind(steps, p)) >= ACTIVATION_RELOAD)
		return NULL;
	/* A boot is the alternative to a reset. */
	if (finding_action(p->first) == ACTION_RESET_GPU)
		return NULL;
	switch (activation) {
	case ACTIVATION_NEW_JOBS:
		return steps_kind(steps, p) == STEP_JOB ? NULL : "in new jobs";
	case ACTIVATION_RECREATE:
		return steps_kind(steps, p) == STEP_CONTAINER ? NULL : effect_text(activation);
	case ACTIVATION_RELOAD:
		return effect_text(activation);
	case ACTIVATION_REBOOT:
	case ACTIVATION_POWER_CYCLE:
		return finding_then(p->first) & THEN_REBOOT ? NULL : effect_text(activation);
	case ACTIVATION_RESTART: /* its remedy restarts the service */
	case ACTIVATION_NOW:
	case ACTIVATION_NONE:
		break;
	}
	return NULL;
}

/* ---- the list ---- */

/* Returns true for a device that does not respond until a power cycle. */
static bool is_lost(const struct problem *p)
{
	return finding_action(p->first) == ACTION_POWER_CYCLE && p->first->answer.subject;
}

static struct step *find_step(struct steps *steps, enum step_kind kind)
{
	struct step *step;

	for_each_mut(s, &steps->items)
		if (s->kind == kind)
			return s;
	step = LIST_ADD(steps->report->arena, &steps->items);
	step->kind = kind;
	return step;
}

/* Adds the step with its problems, if it has any and is not there yet. */
static void add_kind(struct steps *steps, enum step_kind kind)
{
	for_each(step, &steps->items)
		if (step->kind == kind)
			return;
	for_each(p, &steps->problems->items)
		if (steps_kind(steps, p) == kind)
			*LIST_ADD(steps->report->arena, &find_step(steps, kind)->problems) = p;
}

/* Returns true if a problem above is about the same device. */
static bool is_ticketed(const struct steps *steps, const struct problem *problem)
{
	for_each(p, &steps->problems->items) {
		if (p == problem)
			return false;
		if (is_lost(p) &&
		    same_text(p->first->answer.subject, problem->first->answer.subject))
			return true;
	}
	return false;
}

/* A device that does not respond after the power cycle needs support. */
static void add_if_still_lost(struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (is_lost(p) && steps_kind(steps, p) < STEP_HARDWARE && !is_ticketed(steps, p))
			*LIST_ADD(steps->report->arena, &find_step(steps, STEP_HARDWARE)->then) = p;
}

static bool ends_jobs(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind = steps_kind(steps, p);

	return kind != STEP_FINAL && kind <= STEP_HARDWARE &&
	       (finding_action(p->first) == ACTION_RESET_GPU ||
		steps_activation(steps, p) >= ACTIVATION_RELOAD);
}

static bool needs_drain(const struct steps *steps)
{
	bool needed = steps->restart;

	for_each(p, &steps->problems->items)
		needed |= ends_jobs(steps, p);
	return needed && !is_known(steps->report->node->os.next_boot);
}

/* An administrator first removes what keeps fix from a repair. */
bool steps_is_hand_first(const struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (steps_kind(steps, p) == STEP_HAND && render_refused(steps, p) &&
		    !steps_is_blind(steps, p))
			return true;
	return false;
}

static bool is_not_root(const struct steps *steps)
{
	return known_not(steps->report->node->os.observed_uid, 0);
}

bool steps_is_blind(const struct steps *steps, const struct problem *p)
{
	return is_not_root(steps) && render_refused(steps, p);
}

/* Returns true for a check that only root can run. */
static bool is_for_root(const struct finding *f)
{
	return !f->off && f->answer.verdict == VERDICT_UNKNOWN && f->gap &&
	       (str_is(f->gap->error, "EACCES") || str_is(f->gap->error, "EPERM"));
}

/* Of equally grave rules, one of fewer profiles says more. A base rule is of all. */
static int weight(const struct rule *rule)
{
	unsigned int profiles = rule->profiles & PROFILE_BASE ? ~0u : rule->profiles;

	return 64 * (int)rule->severity - __builtin_popcount(profiles);
}

/* Returns the gravest rule that only root can check, or NULL. */
const struct rule *steps_gravest_for_root(const struct report *report)
{
	const struct rule *gravest = NULL;

	for_each(f, &report->findings)
		if (is_for_root(f) && (!gravest || weight(f->rule) > weight(gravest)))
			gravest = f->rule;
	return gravest;
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
	if (!is_not_root(steps) || !steps->problems->items.count)
		return false;
	for_each(p, &steps->problems->items)
		if (steps_is_blind(steps, p))
			return true;
	return steps_count_for_root(steps->report) >= LOOK_CHECKS;
}

static void add_steps(struct steps *steps)
{
	add_kind(steps, STEP_FINAL);
	if (needs_look(steps))
		find_step(steps, STEP_LOOK);
	if (needs_drain(steps))
		find_step(steps, STEP_DRAIN);
	if (steps->restart == ACTIVATION_POWER_CYCLE)
		find_step(steps, STEP_SAVE);
	if (steps_is_hand_first(steps))
		add_kind(steps, STEP_HAND);
	add_kind(steps, STEP_FIX);
	add_kind(steps, STEP_HAND);
	add_kind(steps, STEP_JOB);
	add_kind(steps, STEP_SITE);
	add_kind(steps, STEP_BOOT);
	add_kind(steps, STEP_RESTART);
	if (steps->restart)
		find_step(steps, STEP_RESTART);
	add_kind(steps, STEP_FIRMWARE);
	add_kind(steps, STEP_AFTER);
	add_kind(steps, STEP_HARDWARE);
	add_if_still_lost(steps);
	add_kind(steps, STEP_CONTAINER);
	add_kind(steps, STEP_HOST);
	add_kind(steps, STEP_PROVIDER);
	if (steps->items.count)
		find_step(steps, STEP_CHECK);
}

/* fix repairs errors only, unless options add more. */
static bool needs_all(const struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (steps_kind(steps, p) == STEP_FIX)
			for_each(member, &p->members)
				if ((*member)->severity < SEVERITY_ERR)
					return true;
	return false;
}

/* Returns the value of --profile, without profiles that a requested one includes. */
static const char *profile_words_of(unsigned int profiles, struct arena *arena)
{
	const char *text = "";

	if (profiles & PROFILE_GIN_ANY)
		profiles &= ~(unsigned int)PROFILE_RDMA;
	if (profiles != PROFILE_BASE)
		profiles &= ~(unsigned int)PROFILE_BASE;
	for (unsigned int bit = 0; profile_words[bit]; bit++)
		if (profiles & 1u << bit)
			text = arena_printf(arena, "%s%s%s", text, *text ? "," : "",
					    profile_words[bit]);
	return text;
}

static void name_command(struct steps *steps, const struct render_options *options)
{
	struct arena *arena = steps->report->arena;
	const char *all = needs_all(steps) ? " --all" : "", *words = "", *root = "";

	if (options->profiles)
		words = arena_printf(arena, " --profile %s",
				     profile_words_of(options->profiles, arena));
	if (options->root)
		root = arena_printf(arena, " --root %s", command_quote(arena, options->root));
	/* A user's container rarely has sudo. */
	steps->check_command = arena_printf(
		arena, "%snvnodecheck doctor%s%s",
		is_not_root(steps) && is_known(steps->report->node->os.container) ? "" : "sudo ",
		words, root);
	steps->letter_command = arena_printf(arena, "%snvnodecheck doctor --for provider%s%s",
					     is_not_root(steps) ? "" : "sudo ", words, root);
	words = arena_printf(arena, "%s%s%s", all, words, root);
	steps->fix_command = arena_printf(arena, "sudo nvnodecheck fix --apply%s", words);
	steps->show_command = arena_printf(arena, "sudo nvnodecheck fix%s", words);
	steps->elsewhere = options->root || options->from;
	steps->where = options->from ? "On the node: " : "";
}

static enum activation latest_restart(const struct steps *steps)
{
	enum activation latest = ACTIVATION_NONE;

	for_each(p, &steps->problems->items) {
		enum activation restart = restart_of(steps, p, steps_kind(steps, p));

		latest = restart > latest ? restart : latest;
	}
	return latest;
}

const struct steps *steps_find(const struct report *report, const struct plan *plan,
			       const struct render_options *options)
{
	struct steps *steps = arena_alloc(report->arena, sizeof(*steps));

	steps->report = report;
	steps->problems = problems_find(report);
	steps->plan = plan;
	steps->restart = latest_restart(steps);
	steps_sort(steps);
	name_command(steps, options);
	add_steps(steps);
	return steps;
}

/* ---- words ---- */

/* Rebuilds the images of the kernel that runs and of the one that boots next. */
static const char *image_command(const struct steps *steps)
{
	const struct node *node = steps->report->node;
	struct arena *arena = steps->report->arena;
	const struct fact_str *next = &node->boot.next_kernel;
	const char *command = NULL;

	if (is_known(node->os.kernel))
		command = command_rebuild_initramfs(arena, node, node->os.kernel.value);
	if (!command || !is_known(*next) || str_is(*next, node->os.kernel.value) ||
	    same_text(command, command_rebuild_initramfs(arena, node, next->value)))
		return command;
	return command_join(arena, command, command_rebuild_initramfs(arena, node, next->value));
}

const char *steps_command_of(const struct steps *steps, const struct problem *p)
{
	const char *command = finding_command(p->first), *image;

	if (steps_is_blind(steps, p))
		return NULL;
	if (steps_kind(steps, p) == STEP_FIX || is_done_already(steps, p) ||
	    !(finding_then(p->first) & THEN_IMAGE & ~steps_done_later(steps, p)))
		return command;
	image = image_command(steps);
	if (!command || !image || strstr(command, image))
		return command ? command : image;
	return command_join(steps->report->arena, command, image);
}

static const char *restart_word(enum activation activation)
{
	switch (activation) {
	case ACTIVATION_RELOAD:
		return "reload";
	case ACTIVATION_REBOOT:
		return "reboot";
	case ACTIVATION_POWER_CYCLE:
		return "power cycle";
	default:
		return NULL;
	}
}

static const char *hand_word(const struct problem *p)
{
	switch (finding_action(p->first)) {
	case ACTION_RESET_GPU:
		return "reset GPU";
	case ACTION_UPDATE_FIRMWARE:
		return "new firmware";
	default:
		return "by hand";
	}
}

/* Returns the action and the restart that it needs. */
static const char *with_restart(const struct steps *steps, const char *word, const char *restart)
{
	return restart ? arena_printf(steps->report->arena, "%s, %s", word, restart) : word;
}

const char *steps_who(const struct steps *steps, const struct problem *p)
{
	switch (steps_kind(steps, p)) {
	case STEP_JOB:
	case STEP_CONTAINER:
		return "you";
	case STEP_FINAL:
		return "-";
	case STEP_HARDWARE:
		return "support";
	case STEP_HOST:
		return "host";
	case STEP_PROVIDER:
		return "provider";
	default:
		return "root";
	}
}

unsigned int steps_number(const struct steps *steps, const struct problem *problem)
{
	unsigned int number = 0;

	if (steps->problems->items.count < 2)
		return 0;
	for_each(p, &steps->problems->items) {
		number++;
		if (p == problem)
			return number;
	}
	return 0;
}

const struct step *steps_first(const struct steps *steps)
{
	const struct step *first = steps->items.items;

	if (!steps->items.count)
		return NULL;
	/* STEP_FINAL asks for no action. */
	return first->kind == STEP_FINAL && steps->items.count > 2 ? &first[1] : first;
}

const char *steps_next(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind = steps_kind(steps, p);
	const char *restart = restart_word(restart_of(steps, p, kind));

	if (steps_is_blind(steps, p))
		return "run as root";
	switch (kind) {
	case STEP_FIX:
		return with_restart(steps, "fix", restart);
	case STEP_HAND:
	case STEP_BOOT:
		return with_restart(steps, hand_word(p), restart);
	case STEP_SITE:
		return "check link";
	case STEP_AFTER:
		return "after boot";
	case STEP_JOB:
		return "job settings";
	case STEP_FIRMWARE:
		return "firmware";
	case STEP_RESTART:
		return restart ? restart : "restart";
	case STEP_FINAL:
		return "no repair";
	case STEP_HARDWARE:
		return "open ticket";
	case STEP_CONTAINER:
		return "new container";
	case STEP_HOST:
	case STEP_PROVIDER:
		return "send request";
	default:
		return "";
	}
}

static const char *look_title(const struct steps *steps)
{
	size_t count = steps_count_for_root(steps->report);
	const struct rule *gravest = steps_gravest_for_root(steps->report);

	return count ? arena_printf(
			       steps->report->arena,
			       "Ask the administrator to run this as root (%zu more check%s%s%s)",
			       count, count == 1 ? "" : "s", count == 1 ? ": " : ", among them ",
			       gravest->id)
		     : "Ask the administrator to run this as root";
}

/* Jobs on a device that does not respond never end. */
static const struct problem *find_lost_device(const struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (is_lost(p))
			return p;
	return NULL;
}

static const char *drain_title(const struct steps *steps)
{
	const struct problem *lost = find_lost_device(steps);

	if (node_is(steps->report->node, KIND_WORKSTATION))
		return "End all programs that use the GPUs";
	if (lost)
		return arena_printf(
			steps->report->arena,
			"Take the node out of service: start no new jobs, and wait until the running "
			"ones end. Cancel those that use %s: they never end",
			render_where(steps->report, lost, LABELS_ALL));
	return "Drain the node: start no new jobs, and wait until the running ones end";
}

static const char *restart_title(const struct steps *steps)
{
	if (is_known(steps->report->node->os.next_boot))
		return "Boot machines from this image";
	switch (steps->restart) {
	case ACTIVATION_NONE:
		return "Restart the service that the change is for";
	case ACTIVATION_RELOAD:
		return "Load the driver again, or reboot";
	case ACTIVATION_POWER_CYCLE:
		return "Power the node off. Then power it on with its BMC or its power button";
	default:
		return "Reboot the node once";
	}
}

static const char *hardware_title(const struct step *step)
{
	return step->problems.count
		       ? "Open a ticket with this machine's hardware support (its vendor, or the data "
			 "centre), and attach the output of"
		       : "If the device does not respond after the power cycle, open a ticket with this "
			 "machine's hardware support, and attach the output of";
}

/* A drained node takes no jobs until somebody returns it. */
static const char *check_title(const struct steps *steps)
{
	return needs_drain(steps) && !node_is(steps->report->node, KIND_WORKSTATION)
		       ? "Check the node again, and return it to service if it has no problem"
		       : "Check the node again";
}

const char *steps_title(const struct steps *steps, const struct step *step)
{
	switch (step->kind) {
	case STEP_FINAL:
		return step->problems.count == 1
			       ? "Decide first whether this is the right node. No setting repairs this"
			       : "Decide first whether this is the right node. No setting repairs these";
	case STEP_LOOK:
		return look_title(steps);
	case STEP_DRAIN:
		return drain_title(steps);
	case STEP_SAVE:
		return "Save the kernel log and the state of the node, for a ticket";
	case STEP_FIX:
		return "";
	case STEP_HAND:
		return "By hand on this node, as root";
	case STEP_JOB:
		return "In the environment of the job, for new jobs";
	case STEP_SITE:
		return is_restart_needed(steps)
			       ? "Check cables, switch ports and the fabric. The reboot does not repair them"
			       : "Check cables, switch ports and the fabric";
	case STEP_BOOT:
		return "After all changes above and before any reboot, as root";
	case STEP_FIRMWARE:
		return "During this boot, in the firmware setup (BIOS)";
	case STEP_RESTART:
		return restart_title(steps);
	case STEP_AFTER:
		return "By hand on this node, as root, when it has started again";
	case STEP_HARDWARE:
		return hardware_title(step);
	case STEP_CONTAINER:
		return "Create the container again, where you start it (docker run, pod, batch script)";
	case STEP_HOST:
		return is_known(steps->report->node->os.container)
			       ? "The administrator of the host, on which this container runs, must do "
				 "this. Send them the output of"
			       : "The administrator of this virtual machine's host must do this. Send them the "
				 "output of";
	case STEP_PROVIDER:
		return "The provider of this machine must do this. Send it the output of";
	case STEP_CHECK:
		return check_title(steps);
	}
	return "";
}

const char *steps_fix_text(const struct steps *steps, const struct step *step)
{
	uint32_t all = steps->problems->items.count, own = step->problems.count;
	struct arena *arena = steps->report->arena;

	return arena_printf(arena, "%s %s, as root",
			    *steps->where ? "On the node, repair" : "Repair",
			    own == all ? (all == 1   ? "it"
					  : all == 2 ? "both problems"
						     : arena_printf(arena, "all %u problems", all))
				       : arena_printf(arena, "%u of %u problems", own, all));
}

static const char *restart_command(const struct steps *steps)
{
	switch (steps->restart) {
	case ACTIVATION_REBOOT:
		return "sudo systemctl reboot";
	case ACTIVATION_POWER_CYCLE:
		return "sudo systemctl poweroff";
	default:
		return NULL;
	}
}

/* Returns the command of the batch system that drains the node, or with RESUME returns it. Slurm's node name is the host
 * name without the domain, unless NodeHostname= differs. */
static const char *drain_command(const struct steps *steps, bool resume)
{
	const struct node *node = steps->report->node;
	struct arena *arena = steps->report->arena;
	const char *name = node->os.hostname.value;

	if (!is_known(node->os.hostname) || !node_is(node, KIND_SLURM) || steps->elsewhere)
		return NULL;
	name = arena_strndup(arena, name, strcspn(name, "."));
	return resume ? command_printf(arena, "sudo scontrol update nodename=%s state=resume", name)
		      : command_printf(arena,
				       "sudo scontrol update nodename=%s state=drain "
				       "reason=nvnodecheck",
				       name);
}

static const char *check_command(const struct steps *steps)
{
	const char *resume = needs_drain(steps) && !is_not_root(steps) ? drain_command(steps, true)
								       : NULL;

	return resume ? command_join(steps->report->arena, steps->check_command, resume)
		      : steps->check_command;
}

const char *steps_command(const struct steps *steps, const struct step *step)
{
	switch (step->kind) {
	case STEP_LOOK:
		return steps->check_command;
	case STEP_DRAIN:
		return drain_command(steps, false);
	case STEP_SAVE:
		return "sudo journalctl -k -b > /var/tmp/before-power-off.log\n"
		       "sudo nvnodecheck capture --output /var/tmp/before-power-off.capture";
	case STEP_FIX:
		return steps->fix_command;
	case STEP_RESTART:
		return steps->elsewhere ? NULL : restart_command(steps);
	case STEP_CHECK:
		return check_command(steps);
	case STEP_HARDWARE:
	case STEP_HOST:
	case STEP_PROVIDER:
		return steps->letter_command;
	default:
		return NULL;
	}
}
