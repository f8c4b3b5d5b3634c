/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-steps.c - the steps, in order, with the commands to paste. */
#include <string.h>

#include "query/kind.h"
#include "query/names.h"
#include "render/text.h"

#define NUMBER 4 /* width of " 1. " */

/* One instruction, as lines of the page, and its problems. */
struct instruction {
	struct text_lines lines;
	LIST(const struct problem *) problems;
	bool goes_on; /* it is for the problems of the previous one */
	bool by_fix;  /* the command of the step does it */
};

/* A step with its title, its command and its instructions. */
struct section {
	const struct step *step;
	struct text_lines lines;
	LIST(struct instruction) items;
	struct text_lines command; /* STEP_FIX: after what it changes and risks */
};

struct sections {
	LIST(struct section);
};

/* ---- lines ---- */

void text_add(struct view *v, struct text_lines *lines, const char *prefix, const char *text)
{
	struct arena *arena = v->report->arena;
	int at = text_columns(prefix);
	struct text_lines parts = text_split(arena, text, v->page.width - at);

	for_each(part, &parts)
		*LIST_ADD(arena, lines) = part == parts.items
						  ? arena_printf(arena, "%s%s", prefix, *part)
						  : arena_printf(arena, "%*s%s", at, "", *part);
}

/* A command is not wrapped, so that it can be pasted. */
static void add_command(struct view *v, struct text_lines *lines, int indent, const char *text)
{
	struct arena *arena = v->report->arena;
	struct span rest = span_of(text), line;

	while (span_cut(&rest, '\n', &line))
		if (line.n)
			*LIST_ADD(arena, lines) = arena_printf(arena, "%*s%.*s", indent, "",
							       SPAN_FMT(line));
}

static void print_lines(const struct view *v, const struct text_lines *lines)
{
	for_each(line, lines)
		page_printf(&v->page, "%s\n", *line);
}

/* ---- the problems of an instruction ---- */

/* "1, 4-6" */
const char *text_numbers(const struct view *v, const struct problem *const *problems,
			 uint32_t count)
{
	struct arena *arena = v->report->arena;
	const char *list = "";

	for (uint32_t i = 0, last; i < count; i = last + 1) {
		unsigned int first = steps_number(v->steps, problems[i]);

		for (last = i; last + 1 < count; last++)
			if (steps_number(v->steps, problems[last + 1]) != first + last + 1 - i)
				break;
		list = arena_printf(arena, "%s%s%u", list, *list ? ", " : "", first);
		if (last > i)
			list = arena_printf(arena, "%s%s%u", list, last > i + 1 ? "-" : ", ",
					    first + last - i);
	}
	return list;
}

/* Returns "    [1, 4] " for these problems; only blanks for the only problem. */
static const char *numbered(struct view *v, const struct problem *const *problems, uint32_t count)
{
	if (!steps_number(v->steps, problems[0]))
		return arena_printf(v->report->arena, "%*s", NUMBER, "");
	return arena_printf(v->report->arena, "%*s[%s] ", NUMBER, "",
			    text_numbers(v, problems, count));
}

/* An instruction for several problems is below the last of them. */
static const char *for_whom(struct view *v, const struct instruction *i)
{
	return i->problems.count > 1
		       ? arena_printf(v->report->arena, "[%s] ",
				      text_numbers(v, i->problems.items, i->problems.count))
		       : "";
}

static const char *prefix_of(struct view *v, const struct instruction *i)
{
	if (v->is_merged)
		return arena_printf(v->report->arena, "%*s%-*s%s", COMMAND, "", TEXT_FIELD,
				    i->by_fix ? "Fix:" : "Do:", for_whom(v, i));
	if (i->goes_on)
		return arena_printf(v->report->arena, "%*s", COMMAND, "");
	return numbered(v, i->problems.items, i->problems.count);
}

static bool are_short(const struct view *v, const struct instruction *i)
{
	for_each(p, &i->problems)
		if (!text_is_short(v, *p))
			return false;
	return true;
}

/* Adds the titles of problems that no step has named yet, on a page without details. */
static void name_problems(struct view *v, struct instruction *i)
{
	for_each(p, &i->problems) {
		bool *named = &v->named[*p - v->problems->items.items];

		if (v->is_merged && !*named) {
			text_title_lines(v, &i->lines, *p, NUMBER);
			if (!are_short(v, i))
				text_problem_lines(v, &i->lines, *p, COMMAND);
		}
		*named = true;
	}
}

/* Adds the instruction. TEXT is NULL if the title of the step is enough. */
static void add_instruction(struct view *v, struct instruction *i, const char *text)
{
	name_problems(v, i);
	if (text && !are_short(v, i))
		text_add(v, &i->lines, prefix_of(v, i), text);
}

static void add_risk_and_command(struct view *v, struct instruction *i, const char *risk,
				 const char *command)
{
	if (are_short(v, i))
		return;
	if (risk && v->is_merged)
		text_add_field(v, &i->lines, COMMAND, "Risk:", risk);
	else if (risk)
		text_add(v, &i->lines,
			 arena_printf(v->report->arena, "%*sRisk: ",
				      v->problems->items.count > 1 ? COMMAND : NUMBER, ""),
			 risk);
	if (command)
		add_command(v, &i->lines, v->is_merged ? COMMAND + NUMBER : COMMAND, command);
}

/* ---- changes by the program ---- */

/* A change that fix makes, and the problems that it solves. */
struct change {
	const char *what;
	const char *effect; /* NULL if a later step has it */
	const struct plan_repair *repair;
	LIST(const struct problem *) problems;
};

struct changes_list {
	LIST(struct change);
};

static bool is_same_list(const struct change *a, const struct change *b)
{
	return a->problems.count == 1 && b->problems.count == 1 &&
	       a->problems.items[0] == b->problems.items[0];
}

static struct change *find_change(struct changes_list *list, const char *what)
{
	for_each_mut(change, list)
		if (strcmp(change->what, what) == 0)
			return change;
	return NULL;
}

static void add_changes(struct view *v, struct changes_list *list, const struct problem *p)
{
	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(v->steps, *member);
		struct change *change;

		if (!r || !r->what)
			continue;
		change = find_change(list, r->what);
		if (!change) {
			change = LIST_ADD(v->report->arena, list);
			*change = (struct change){ .what = r->what,
						   .effect = steps_effect(v->steps, p),
						   .repair = r };
		}
		if (!change->problems.count ||
		    change->problems.items[change->problems.count - 1] != p)
			*LIST_ADD(v->report->arena, &change->problems) = p;
	}
}

/* Joins two parts with "and"; more parts stay a list. */
static const char *joined(struct arena *arena, const char *what)
{
	const char *mark = strstr(what, "; ");

	if (!mark || strstr(mark + 1, "; "))
		return what;
	return arena_printf(arena, "%.*s, and %s", (int)(mark - what), what, mark + 2);
}

/* Returns the change with its cost, or with the time at which it takes effect. */
static const char *change_text(const struct view *v, const struct change *c)
{
	struct arena *arena = v->report->arena;
	const char *what = joined(arena, c->what),
		   *cost = c->repair->is_risk ? NULL : c->repair->cost;

	if (cost)
		return arena_printf(arena, "%s. %s", what, cost);
	return c->effect ? arena_printf(arena, "%s. Takes effect %s.", what, c->effect)
			 : arena_printf(arena, "%s.", what);
}

/* ---- instructions for people ---- */

static bool is_advised_before(const struct view *v, const struct step *step,
			      const struct problem *problem)
{
	for_each(p, &step->problems) {
		if (*p == problem)
			return false;
		if (steps_is_same(v->steps, *p, problem))
			return true;
	}
	return false;
}

#define OTHERS_MOST 3 /* members of one problem with other instructions */

static void add_other_advice(struct view *v, struct instruction *i, const struct problem *p,
			     const struct text_lines *texts)
{
	struct arena *arena = v->report->arena;
	const char *indent = arena_printf(arena, "%*s", text_columns(prefix_of(v, i)), "");

	if (are_short(v, i))
		return;
	for_each(text, texts) {
		if (text - texts->items == OTHERS_MOST) {
			text_add(v, &i->lines, indent,
				 arena_printf(arena, "%u more: -v shows them.",
					      texts->count - OTHERS_MOST));
			return;
		}
		text_add(v, &i->lines, indent, text_with_members(v, p, *text, *text));
	}
}

static void add_advice(struct view *v, struct section *section, const struct problem *problem)
{
	const struct step *step = section->step;
	struct instruction *i = LIST_ADD(v->report->arena, &section->items);
	const struct rule *rule = problem->first->rule;
	struct text_lines others = text_other_advice(v, problem);
	const char *text = text_advice(v, step, problem);

	if (others.count && text)
		text = text_with_members(v, problem,
					 steps_remedy(v->steps, problem, problem->first), text);
	for_each(p, &step->problems)
		if (steps_is_same(v->steps, *p, problem))
			*LIST_ADD(v->report->arena, &i->problems) = *p;
	add_instruction(v, i, text);
	add_other_advice(v, i, problem, &others);
	/* A repair of fix has the command of its step. */
	add_risk_and_command(v, i,
			     rule->is_risk && step->kind != STEP_HARDWARE &&
					     !problem->first->answer.is_kept
				     ? rule->cost
				     : NULL,
			     step->kind == STEP_FIX ? NULL : steps_command_of(v->steps, problem));
}

/* ---- steps ---- */

static void add_commands_after(struct view *v, struct section *section,
			       const struct changes_list *list)
{
	const char *last = NULL;

	/* A reboot starts the services again. */
	if (v->steps->restart >= ACTIVATION_REBOOT)
		return;
	for_each(change, list) {
		const char *command = change->repair->then_run;

		if (!command || same_text(command, last))
			continue;
		if (!last)
			text_add(v, &section->command, "    ", "Then run:");
		add_command(v, &section->command, COMMAND,
			    arena_printf(v->report->arena, "sudo %s", command));
		last = command;
	}
}

static void add_repairs(struct view *v, struct section *section)
{
	struct changes_list list = { 0 };

	for_each(p, &section->step->problems) {
		if (v->steps->plan)
			add_changes(v, &list, *p);
		else if (!is_advised_before(v, section->step, *p))
			add_advice(v, section, *p);
	}
	for_each(change, &list) {
		struct instruction *i = LIST_ADD(v->report->arena, &section->items);
		const char *text = change_text(v, change);

		for_each(p, &change->problems)
			*LIST_ADD(v->report->arena, &i->problems) = *p;
		i->by_fix = true;
		if (change > list.items && is_same_list(&change[-1], change))
			i->goes_on = true;
		add_instruction(v, i, text);
		add_risk_and_command(v, i, change->repair->is_risk ? change->repair->cost : NULL,
				     NULL);
	}
	text_add(
		v, &section->command, "    ",
		v->steps->fixes_warnings
			? "Look at the changes (--all: also those for warnings). This changes nothing:"
			: "Look at the changes. This changes nothing:");
	add_command(v, &section->command, COMMAND, v->steps->show_command);
	text_add(v, &section->command, "    ", "Then make them:");
	add_command(v, &section->command, COMMAND, steps_command(v->steps, section->step));
	add_commands_after(v, section, &list);
}

/* The only problem needs no instruction where the step itself solves it. */
static bool has_text_below(const struct view *v, const struct step *step)
{
	return step->problems.count && !(v->problems->items.count == 1 &&
					 steps_is_restart_alone(v->steps, step->problems.items[0]));
}

static void add_title(struct view *v, struct section *section, size_t number)
{
	struct arena *arena = v->report->arena;
	const struct step *step = section->step;
	const char *title = steps_title(v->steps, step);
	const char *text = steps_command(v->steps, step);
	const char *head = arena_printf(arena, "%2zu. ", number);
	bool more = text || step->if_unsolved.count || has_text_below(v, step);
	const char *line = arena_printf(arena, "%s: %s", title, text ? text : "");

	if (step->kind == STEP_FIX) {
		text_add(v, &section->lines, head,
			 arena_printf(arena,
				      "%s, with nvnodecheck fix:", steps_fix_text(v->steps, step)));
		return;
	}
	/* A short command is beside it. */
	if (text && !strchr(text, '\n') && !strchr(title, ':') &&
	    NUMBER + text_columns(line) <= v->page.width) {
		text_add(v, &section->lines, head, line);
		return;
	}
	text_add(v, &section->lines, head, arena_printf(arena, "%s%s", title, more ? ":" : "."));
	if (text)
		add_command(v, &section->lines, COMMAND, text);
}

/* Adds the devices that can need more than the power cycle. */
static void add_lost(struct view *v, struct section *section)
{
	struct arena *arena = v->report->arena;
	struct instruction *i = LIST_ADD(arena, &section->items);
	const char *list = "";

	for_each(p, &section->step->if_unsolved) {
		*LIST_ADD(arena, &i->problems) = *p;
		list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "",
				    render_where(v->report, &(*p)->members, LABELS_ALL));
	}
	list = arena_printf(
		arena,
		section->step->problems.count
			? "For the technician: reseat or replace what still fails after the "
			  "power cycle: %s."
			: "Name the device in the ticket: %s.",
		list);
	name_problems(v, i);
	text_add(v, &i->lines, numbered(v, i->problems.items, i->problems.count), list);
}

/* A drained node takes no jobs until it is returned. */
static void add_return(struct view *v, struct section *section)
{
	const char *command = steps_resume_command(v->steps);

	if (!steps_has_drain(v->steps) || node_is(v->report->node, KIND_WORKSTATION))
		return;
	text_add(v, &section->command, "    ",
		 command ? "If it finds no problem, return the node to service:"
			 : "If it finds no problem, return the node to service.");
	if (command)
		add_command(v, &section->command, COMMAND, command);
}

/* Prints one line for the warnings of the instructions FIRST to END. */
static void add_folded(struct view *v, struct instruction *first, const struct instruction *end)
{
	struct arena *arena = v->report->arena;
	LIST(const struct problem *) all = { 0 };
	struct span effect;

	for (struct instruction *i = first; i < end; i++) {
		for_each(p, &i->problems)
			if (!all.count || all.items[all.count - 1] != *p)
				*LIST_ADD(arena, &all) = *p;
		i->lines.count = 0;
	}
	text_reason(finding_title(all.items[0]->first), &effect);
	if (all.count == 1)
		text_title_lines(v, &first->lines, all.items[0], NUMBER);
	else
		text_add(v, &first->lines,
			 arena_printf(arena, "%*s%-*s[%s] ", NUMBER, "", TEXT_TAG,
				      text_tags[SEVERITY_WARN],
				      text_numbers(v, all.items, all.count)),
			 arena_printf(arena, "%.*s; and %u more", SPAN_FMT(effect), all.count - 1));
}

/* On a page of very many problems, warnings that follow each other have one line. */
static void fold_short(struct view *v, struct section *section)
{
	struct instruction *items = section->items.items, *end = items + section->items.count;

	if (!v->has_short_warnings)
		return;
	for (struct instruction *i = items, *next; i < end; i = next) {
		for (next = i; next < end && are_short(v, next); next++)
			;
		if (next == i)
			next++;
		else
			add_folded(v, i, next);
	}
}

static void add_section(struct view *v, struct sections *sections, const struct step *step)
{
	struct section *section = LIST_ADD(v->report->arena, sections);

	section->step = step;
	add_title(v, section, sections->count);
	if (step->kind == STEP_FIX) {
		add_repairs(v, section);
		fold_short(v, section);
		return;
	}
	for_each(p, &step->problems)
		if (!is_advised_before(v, step, *p))
			add_advice(v, section, *p);
	fold_short(v, section);
	if (step->if_unsolved.count)
		add_lost(v, section);
	if (step->kind == STEP_CHECK)
		add_return(v, section);
}

/* Returns "[5] A setting of modules is ignored: wrong line; and [6-19]". */
static const char *names_in_short(const struct view *v, const struct step *step)
{
	struct arena *arena = v->report->arena;
	const struct problem *const *all = step->problems.items;
	const char *first = arena_printf(arena, "[%s] %s", text_numbers(v, all, 1),
					 finding_title(all[0]->first));

	return step->problems.count == 1
		       ? first
		       : arena_printf(arena, "%s; and [%s]", first,
				      text_numbers(v, all + 1, step->problems.count - 1));
}

/* " 5. By hand on this node, as root: [5] A setting of modules is ignored: wrong line; and [6-19]" */
static void print_title(struct view *v, const struct section *section, size_t number)
{
	struct arena *arena = v->report->arena;
	const struct step *step = section->step;
	const char *title = step->kind == STEP_FIX ? steps_fix_text(v->steps, step)
						   : steps_title(v->steps, step);
	struct text_lines lines = { 0 };

	if (step->problems.count)
		title = arena_printf(arena, "%s: %s", title, names_in_short(v, step));
	text_add(v, &lines, arena_printf(arena, "%2zu. ", number), title);
	print_lines(v, &lines);
}

static void print_section(struct view *v, const struct section *section)
{
	print_lines(v, &section->lines);
	for_each(i, &section->items)
		print_lines(v, &i->lines);
	print_lines(v, &section->command);
}

/* ---- the whole ---- */

static void print_refused(struct view *v)
{
	if (v->steps->refused)
		text_wrap(v->page.out,
			  arena_printf(v->report->arena,
				       "nvnodecheck fix changes nothing on this node: %s.",
				       v->steps->refused),
			  0, 0, v->page.width);
}

/* A reader of only the first lines must not reboot a node that then does not start. */
static void print_warning(struct view *v, const struct sections *sections)
{
	for_each(section, sections)
		if (section->step->kind == STEP_BOOT)
			page_printf(&v->page,
				    "Do not reboot before step %zu is done: the next boot fails.\n",
				    (size_t)(section - sections->items) + 1);
}

/* To ask the administrator is a step of the user. */
static bool is_own_step(const struct step *step)
{
	return step->kind == STEP_JOB || step->kind == STEP_CONTAINER || step->kind == STEP_FINAL ||
	       step->kind == STEP_LOOK;
}

/* Returns true for the first step of others, after steps of a user without root. */
static bool is_first_of_others(const struct view *v, const struct sections *sections,
			       const struct section *section)
{
	return known_not(v->report->node->os.observed_uid, 0) &&
	       !is_known(v->report->node->os.container) && section > sections->items &&
	       is_own_step(section[-1].step) && section[-1].step->kind != STEP_FINAL &&
	       !is_own_step(section->step) && !text_are_all_own(v->steps);
}

static void print_stop(struct view *v)
{
	page_printf(&v->page, "%s%s%s %s\n", page_style(&v->page, STYLE_BOLD), STOP_FOR_HARDWARE,
		    page_style(&v->page, STYLE_PLAIN),
		    v->is_cut ? "Then (with -v each step is whole):" : "Then:");
}

void text_steps(struct view *v)
{
	struct sections sections = { 0 };
	bool stopped = false;

	if (!v->steps->items.count)
		return;
	text_heading(v, v->has_short_warnings
				? "What to do, in this order (with -v, also for each warning)"
				: "What to do, in this order");
	for_each(step, &v->steps->items)
		add_section(v, &sections, step);
	for_each(section, &sections) {
		bool decided = section > sections.items && section[-1].step->kind == STEP_FINAL &&
			       sections.count > 2;

		if (decided)
			page_printf(&v->page, "Only if you keep this node:\n");
		if (steps_needs_working_hardware(v->steps, section->step))
			print_stop(v);
		stopped |= v->is_cut && steps_needs_working_hardware(v->steps, section->step);
		/* The decision that can make the other steps pointless comes first. */
		if (section == sections.items ? section->step->kind != STEP_FINAL : decided) {
			print_warning(v, &sections);
			print_refused(v);
			text_not_root(v);
		}
		if (is_first_of_others(v, &sections, section))
			page_printf(&v->page, "For the administrator:\n");
		if (stopped && section->step->kind != STEP_CHECK)
			print_title(v, section, (size_t)(section - sections.items) + 1);
		else
			print_section(v, section);
	}
}
