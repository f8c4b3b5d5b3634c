/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step-words.c - the words of the steps: their titles, the person who acts, the next action, the time of activation. */
#include "render/step-words.h"

#include "query/kind.h"
#include "query/names.h"
#include "render/render.h"

/* ---- when ---- */

const char *effect_text(enum activation activation)
{
	switch (activation) {
	case ACTIVATION_NEW_JOBS:
		return "for new jobs and logins; running jobs keep the old value";
	case ACTIVATION_RELOAD:
		return "when the module is loaded again, which needs all GPU jobs to end";
	case ACTIVATION_POWER_CYCLE:
		return "after a power cycle, which ends all jobs";
	default:
		return activation_text(activation);
	}
}

const char *steps_effect(const struct steps *steps, const struct problem *p)
{
	enum activation waits = steps_waits_for(steps, p);
	enum step_kind kind = steps_kind(steps, p);

	/* A reboot from within is not enough for another kind of virtual machine. */
	if ((kind == STEP_HOST || kind == STEP_PROVIDER) && waits >= ACTIVATION_REBOOT &&
	    is_known(steps->report->node->os.hypervisor))
		return steps->restart >= ACTIVATION_REBOOT
			       ? NULL
			       : "when this virtual machine is shut down and started again";
	return waits == ACTIVATION_NEW_JOBS ? "in new jobs" : effect_text(waits);
}

/* ---- the person, and the next action ---- */

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
	enum step_actor actor = step_actor(steps_kind(steps, p));

	return actor == ACTOR_NONE ? "-" : actor == ACTOR_USER ? "you" : step_actor_words[actor];
}

const char *steps_next(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind = steps_kind(steps, p);
	const char *restart = restart_word(steps_restart(steps, p));

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
		if (!restart)
			restart = restart_word(steps->restart);
		return restart ? restart : "restart";
	case STEP_POWER:
		return restart_word(ACTIVATION_POWER_CYCLE);
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
	const struct rule *worst = steps_worst_for_root(steps->report);

	return count ? arena_printf(
			       steps->report->arena,
			       "Ask the administrator to run this as root (%zu more check%s%s%s)",
			       count, count == 1 ? "" : "s", count == 1 ? ": " : ", among them ",
			       worst->id)
		     : "Ask the administrator to run this as root";
}

/* Jobs on a device that does not respond never end. */
static const struct problem *find_lost_device(const struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (steps_is_unresponsive(p))
			return p;
	return NULL;
}

static const char *drain_title(const struct steps *steps)
{
	const struct problem *lost = find_lost_device(steps);

	if (node_is(steps->report->node, KIND_WORKSTATION))
		return steps->restart >= ACTIVATION_REBOOT ? "Save all work, and end all programs"
							   : "End all programs that use the GPUs";
	if (lost)
		return arena_printf(steps->report->arena,
				    "Drain the node: start no new jobs, and wait until the running "
				    "ones end. Cancel those that use %s: they never end",
				    render_where(steps->report, &lost->members, LABELS_ALL));
	/* The host name of a copy need not be the node's name, so there is no command. */
	if (steps->elsewhere && node_is(steps->report->node, KIND_SLURM))
		return "Drain the node in Slurm: start no new jobs, and wait until the running ones end";
	return "Drain the node: start no new jobs, and wait until the running ones end";
}

/* A virtual machine has neither BMC nor button. */
static const char *power_title(const struct steps *steps)
{
	return is_known(steps->report->node->os.hypervisor)
		       ? "Power this virtual machine off. Then start it again from its host, or with the provider's "
			 "console"
		       : "Power the node off, then on (BMC or power button)";
}

static bool has_firmware_step(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (step->kind == STEP_FIRMWARE)
			return true;
	return false;
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
		return power_title(steps);
	default:
		if (steps_is_host_first(steps))
			return "When that is done, shut this virtual machine down and start it again";
		return has_firmware_step(steps) ? "Reboot the node once, into its firmware setup"
						: "Reboot the node once";
	}
}

/* "the two files of step 2, and ", or "" */
static const char *saved_files(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (step->kind == STEP_SAVE)
			return arena_printf(steps->report->arena, "the two files of step %zu, and ",
					    (size_t)(step - steps->items.items) + 1);
	return "";
}

static const char *hardware_title(const struct steps *steps, const struct step *step)
{
	return arena_printf(
		steps->report->arena, "%s, and attach %sthe output of",
		step->problems.count
			? "Open a ticket with this machine's hardware support (its vendor, or the data "
			  "centre)"
			: "Check the node again. If the device still does not respond, open a ticket with "
			  "this machine's hardware support",
		saved_files(steps));
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
	case STEP_POWER:
		return power_title(steps);
	case STEP_FIX:
		return "";
	case STEP_HAND:
		return "By hand on this node, as root";
	case STEP_JOB:
		return "In the environment of the job, for new jobs";
	case STEP_SITE:
		return steps->restart >= ACTIVATION_REBOOT
			       ? "Check cables, switch ports and the fabric. A reboot does not repair a link"
			       : "Check cables, switch ports and the fabric";
	case STEP_BOOT:
		return "After all changes above and before any reboot, as root";
	case STEP_FIRMWARE:
		return "While it starts, in the firmware setup (BIOS)";
	case STEP_RESTART:
		return restart_title(steps);
	case STEP_AFTER:
		return "By hand on this node, as root, when it has started again";
	case STEP_HARDWARE:
		return hardware_title(steps, step);
	case STEP_CONTAINER:
		return "Change the container's image or options, and create the container again (docker run, pod, "
		       "batch script)";
	case STEP_HOST:
		return is_known(steps->report->node->os.container)
			       ? "The administrator of the host, on which this container runs, must do "
				 "this. Send them the output of"
			       : "The administrator of this virtual machine's host must do this. Send them the "
				 "output of";
	case STEP_PROVIDER:
		return "The provider of this machine must do this. Send it the output of";
	case STEP_CHECK:
		return steps_has_job_variables(steps)
			       ? "Check the node again, in a shell with the corrected variables"
			       : "Check the node again";
	}
	return "";
}

static const char *repaired_text(const struct steps *steps, const struct step *step)
{
	uint32_t all = steps->problems->items.count, own = step->problems.count;
	struct arena *arena = steps->report->arena;

	if (own < all)
		return own == 1 ? arena_printf(arena, "problem [%u]",
					       steps_number(steps, step->problems.items[0]))
				: arena_printf(arena, "%u of %u problems", own, all);
	return all == 1	  ? "it"
	       : all == 2 ? "both problems"
			  : arena_printf(arena, "all %u problems", all);
}

const char *steps_fix_text(const struct steps *steps, const struct step *step)
{
	return arena_printf(steps->report->arena, "%s %s, as root",
			    *steps->where ? "On the node, repair" : "Repair",
			    repaired_text(steps, step));
}

bool steps_needs_working_hardware(const struct steps *steps, const struct step *step)
{
	return step > steps->items.items && step[-1].kind == STEP_HARDWARE &&
	       step->kind <= STEP_FIRMWARE;
}

/* ---- devices ---- */

static bool has_subject(const struct finding_list *findings, const char *subject)
{
	for_each(f, findings)
		if (same_text((*f)->answer.subject, subject))
			return true;
	return false;
}

const char *steps_repair_text(const struct steps *steps)
{
	struct finding_list all = { 0 };

	for_each(p, &steps->problems->items) {
		if (!steps_needs_repair(p->first, p->severity))
			continue;
		for_each(member, &p->members) {
			if (!(*member)->answer.subject ||
			    has_subject(&all, (*member)->answer.subject))
				continue;
			*LIST_ADD(steps->report->arena, &all) = *member;
		}
	}
	return all.count ? arena_printf(steps->report->arena, "%s need%s repair",
					render_where(steps->report, &all, 4),
					all.count == 1 ? "s" : "")
			 : NULL;
}
