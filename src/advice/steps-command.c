/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps-command.c - the shell commands of the steps. */
#include <inttypes.h>
#include <string.h>

#include "advice/steps-private.h"
#include "base/array.h"
#include "base/shell.h"
#include "query/distribution.h"
#include "query/kind.h"

/* ---- commands of this program, with the options that the user gave ---- */

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

#define NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789" /* characters of a variable's name */

/* Returns the name of the variable of a job that FACT is about, with its length in N; or NULL. */
static const char *variable_of(const char *fact, size_t *n)
{
	static const char list[] = "env.variables[";
	const char *name = fact + strlen(list);

	if (!starts_with(fact, list))
		return NULL;
	*n = strspn(name, NAME);
	return *n && name[*n] == ']' ? name : NULL;
}

static bool has_word(const char *list, const char *word, size_t n)
{
	for (const char *at = list; *at; at += strcspn(at, ",")) {
		at += *at == ',';
		if (strcspn(at, ",") == n && strncmp(at, word, n) == 0)
			return true;
	}
	return false;
}

static const char *add_variable(struct arena *arena, const char *list, const char *name, size_t n)
{
	return has_word(list, name, n)
		       ? list
		       : arena_printf(arena, "%s%s%.*s", list, *list ? "," : "", (int)n, name);
}

/* Returns true for the name of a variable that a job's program reads, and false for other words in capitals. */
static bool is_variable(const char *name, size_t n)
{
	static const char *const prefixes[] = { "NCCL_", "NVSHMEM_", "UCX_",
						"CUDA_", "EP_",	     "DEEP_EP_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t own = strlen(prefixes[i]);

		if (n > own && strncmp(name, prefixes[i], own) == 0)
			return true;
	}
	return false;
}

/* Adds the variables that TEXT, an instruction, asks to set. */
static const char *add_named(struct arena *arena, const char *list, const char *text)
{
	for (size_t n; text && *text; text += n) {
		n = strspn(text, NAME);
		if (is_variable(text, n))
			list = add_variable(arena, list, text, n);
		n += strcspn(text + n, " \n");
		n += strspn(text + n, " \n");
	}
	return list;
}

static const char *add_variables(struct arena *arena, const char *list, const struct finding *f)
{
	for (int i = 0; i < EVIDENCE_MAX && f->answer.evidence[i]; i++) {
		size_t n = 0;
		const char *name = variable_of(f->answer.evidence[i], &n);

		if (name)
			list = add_variable(arena, list, name, n);
	}
	list = add_named(arena, list, f->answer.command);
	return add_named(arena, list, finding_remedy(f));
}

/* Returns the variables of this process that are wrong or to be set, "NCCL_IB_HCA,NCCL_SOCKET_IFNAME". */
static const char *job_variables(const struct steps *steps)
{
	const char *list = "";

	if (is_known(steps->report->node->env.pid))
		return list;
	for_each(p, &steps->problems->items)
		for_each(member, &p->members)
			if (steps_is_in_job_environment(steps->report->node, *member))
				list = add_variables(steps->report->arena, list, *member);
	return list;
}

bool steps_has_job_variables(const struct steps *steps)
{
	return *job_variables(steps);
}

/* sudo drops the environment. */
static const char *sudo_with_variables(const struct steps *steps)
{
	const char *list = job_variables(steps);

	return *list ? arena_printf(steps->report->arena, "sudo --preserve-env=%s ", list)
		     : "sudo ";
}

const char *steps_profile_words(unsigned int profiles, struct arena *arena)
{
	const char *text = "";

	if (profiles & PROFILE_GIN_ANY)
		profiles &= ~(unsigned int)PROFILE_GPUDIRECT;
	if (profiles != PROFILE_BASE)
		profiles &= ~(unsigned int)PROFILE_BASE;
	for (unsigned int bit = 0; profile_words[bit]; bit++)
		if (profiles & 1u << bit)
			text = arena_printf(arena, "%s%s%s", text, *text ? "," : "",
					    profile_words[bit]);
	return text;
}

void steps_add_commands(struct steps *steps, const struct steps_request *request)
{
	struct arena *arena = steps->report->arena;
	const char *all, *words = "", *root = "";

	steps->fixes_warnings = needs_all(steps);
	all = steps->fixes_warnings ? " --all" : "";
	if (request->profiles)
		words = arena_printf(arena, " --profile %s",
				     steps_profile_words(request->profiles, arena));
	if (request->root)
		root = arena_printf(arena, " --root %s", shell_quote(arena, request->root));
	/* A user's container rarely has sudo. */
	steps->root_command = arena_printf(
		arena, "%snvnodecheck doctor%s%s",
		steps_is_not_root(steps) && is_known(steps->report->node->os.container) ? ""
											: "sudo ",
		words, root);
	steps->check_command = arena_printf(
		arena, "%snvnodecheck doctor%s%s",
		steps_is_not_root(steps) ? "" : sudo_with_variables(steps), words, root);
	steps->letter_command = arena_printf(arena, "%snvnodecheck doctor --for provider%s%s",
					     steps_is_not_root(steps) ? "" : "sudo ", words, root);
	words = arena_printf(arena, "%s%s%s", all, words, root);
	steps->fix_command = arena_printf(arena, "sudo nvnodecheck fix --apply%s", words);
	steps->show_command = arena_printf(arena, "sudo nvnodecheck fix%s", words);
	steps->elsewhere = request->root || request->from;
	steps->where = request->from ? "On the node: " : "";
}

/* ---- commands of a problem, of a step ---- */

/* Rebuilds the images of the kernel that runs and of the one that boots next. */
static const char *initramfs_command(const struct steps *steps)
{
	const struct node *node = steps->report->node;
	struct arena *arena = steps->report->arena;
	const struct fact_str *next = &node->boot.next_kernel;
	const char *command = NULL, *other;

	if (is_known(node->os.kernel))
		command = shell_rebuild_initramfs(arena, node, node->os.kernel.value);
	if (!is_known(*next) || str_is(*next, node->os.kernel.value))
		return command;
	other = shell_rebuild_initramfs(arena, node, next->value);
	return same_text(command, other) ? command : shell_join(arena, command, other);
}

#define COMMANDS_MAX 8 /* different commands for one problem */

static bool has_lines(const char *all, const char *lines)
{
	size_t n = strlen(lines);

	for (const char *at = all; (at = strstr(at, lines)); at++)
		if ((at == all || at[-1] == '\n') && (!at[n] || at[n] == '\n'))
			return true;
	return false;
}

/* Appends ONE to ALL. What both end with, such as a rebuild of the initramfs, stands once, at the end. */
static const char *append(struct arena *arena, const char *all, const char *one)
{
	const char *tail = all ? strrchr(all, '\n') : NULL, *own = strrchr(one, '\n');

	if (tail && own && strcmp(tail, own) == 0)
		all = arena_strndup(arena, all, (size_t)(tail - all));
	return all ? shell_join(arena, all, one) : one;
}

/* Returns the commands for all members, each once. */
static const char *for_members(const struct steps *steps, const struct problem *p)
{
	struct arena *arena = steps->report->arena;
	const char *all = NULL;
	uint32_t count = 0, left = 0;

	for_each(member, &p->members) {
		const char *one = (*member)->command;

		if (!one || (all && has_lines(all, one)))
			continue;
		if (count++ >= COMMANDS_MAX)
			left++;
		else
			all = append(arena, all, one);
	}
	return left ? shell_join(arena, all,
				 arena_printf(arena, "# the same for %" PRIu32 " more", left))
		    : all;
}

/* Returns COMMAND without restarts of units that a later instruction restarts, NULL if none is left. */
static const char *without_restarts(const struct steps *steps, const struct problem *p,
				    const char *command)
{
	struct arena *arena = steps->report->arena;
	struct span rest = span_of(command ? command : ""), line;
	const char *left = NULL;
	bool any = false;

	while (span_cut(&rest, '\n', &line)) {
		const char *text = arena_strndup(arena, line.p, line.n);

		if (steps_is_restarted_later(steps, p, line))
			any = true;
		else if (line.n)
			left = left ? shell_join(arena, left, text) : text;
	}
	/* What the restart needed is left without it. */
	return any && same_text(left, STEPS_UNITS_READ) ? NULL : any ? left : command;
}

const char *steps_command_of(const struct steps *steps, const struct problem *p)
{
	const char *command = without_restarts(steps, p, for_members(steps, p)), *image;

	if (steps_is_blind(steps, p) || steps_is_reset_by_boot(steps, p))
		return NULL;
	if (steps_kind(steps, p) == STEP_FIX || steps_is_done_already(steps, p) ||
	    !(finding_then(p->first) & THEN_INITRAMFS & ~steps_done_later(steps, p)))
		return command;
	image = initramfs_command(steps);
	if (!command || !image || strstr(command, image))
		return command ? command : image;
	return shell_join(steps->report->arena, command, image);
}

#define POWER_OFF "sudo systemctl poweroff"

static const char *restart_command(const struct steps *steps)
{
	switch (steps->restart) {
	case ACTIVATION_REBOOT:
		return "sudo systemctl reboot";
	case ACTIVATION_POWER_CYCLE:
		return POWER_OFF;
	default:
		return NULL;
	}
}

/* Returns the command of the batch system that drains the node, or with RESUME returns it. Slurm's node name is the
 * host name without the domain, unless NodeHostname= differs. */
static const char *drain_command(const struct steps *steps, bool resume)
{
	const struct node *node = steps->report->node;
	struct arena *arena = steps->report->arena;
	const char *name = node->os.hostname.value;

	if (!is_known(node->os.hostname) || !node_is(node, KIND_SLURM) || steps->elsewhere)
		return NULL;
	name = arena_strndup(arena, name, strcspn(name, "."));
	return resume ? shell_printf(arena, "sudo scontrol update nodename=%s state=resume", name)
		      : shell_printf(arena,
				     "sudo scontrol update nodename=%s state=drain "
				     "reason=nvnodecheck",
				     name);
}

const char *steps_resume_command(const struct steps *steps)
{
	return steps_has_drain(steps) && !steps_is_not_root(steps) ? drain_command(steps, true)
								   : NULL;
}

const char *steps_command(const struct steps *steps, const struct step *step)
{
	switch (step->kind) {
	case STEP_LOOK:
		return steps->root_command;
	case STEP_DRAIN:
		return drain_command(steps, false);
	case STEP_SAVE:
		return "sudo journalctl -k -b > /var/tmp/before-power-off.log\n"
		       "sudo nvnodecheck capture --output /var/tmp/before-power-off.capture";
	case STEP_POWER:
		return steps->elsewhere ? NULL : POWER_OFF;
	case STEP_FIX:
		return steps->fix_command;
	case STEP_RESTART:
		return steps->elsewhere ? NULL : restart_command(steps);
	case STEP_CHECK:
		return steps->check_command;
	case STEP_HARDWARE:
	case STEP_HOST:
	case STEP_PROVIDER:
		return steps->letter_command;
	default:
		return NULL;
	}
}
