/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-steps.c - what is to be done, in order, with the commands to paste. */
#include <string.h>

#include "query/names.h"
#include "render/text.h"

#define NUMBER 4 /* width of " 1. " */
#define COMMAND (2 * NUMBER)
#define PLAN_LINES 24 /* of all steps: a screen */

/* One thing to do, as lines of the page, and the problems that it is for. */
struct instruction {
	struct text_lines lines;
	struct text_lines brief; /* its first sentence */
	LIST(const struct problem *) problems;
	bool shown;
};

/* A step with its title, its command and its instructions. */
struct section {
	const struct step *step;
	struct text_lines lines;
	LIST(struct instruction) items;
};

struct sections {
	enum fact_state state;
	uint32_t count;
	struct section *items;
};

/* ---- lines ---- */

/* TEXT behind PREFIX, wrapped; further lines begin below its first word. */
static void add_text(struct view *v, struct text_lines *lines, const char *prefix, const char *text)
{
	struct arena *arena = v->report->arena;
	int at = text_columns(prefix);
	struct text_lines parts = text_split(arena, text, v->page.width - at);

	for_each(part, &parts)
		*LIST_ADD(arena, lines) = part == parts.items
						  ? arena_printf(arena, "%s%s", prefix, *part)
						  : arena_printf(arena, "%*s%s", at, "", *part);
}

/* As it is to be pasted: not wrapped. */
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
static const char *number_list(struct view *v, const struct problem *const *problems,
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

/* "    [1, 4] " of the problems for which it is done; without a number for the only one. */
static const char *numbered(struct view *v, const struct problem *const *problems, uint32_t count)
{
	if (!steps_number(v->steps, problems[0]))
		return arena_printf(v->report->arena, "%*s", NUMBER, "");
	return arena_printf(v->report->arena, "%*s[%s] ", NUMBER, "",
			    number_list(v, problems, count));
}

static const char *prefix_of(struct view *v, const struct instruction *i)
{
	return numbered(v, i->problems.items, i->problems.count);
}

/* All of it, and its first sentence, which ends in "..." if more follows. */
static void add_instruction(struct view *v, struct instruction *i, const char *text,
			    const char *command)
{
	size_t n = text_sentence(text);

	add_text(v, &i->lines, prefix_of(v, i), text);
	if (command)
		add_command(v, &i->lines, COMMAND, command);
	add_text(v, &i->brief, prefix_of(v, i),
		 text[n] || command ? arena_printf(v->report->arena, "%.*s ...", (int)n, text)
				    : text);
}

/* ---- what the program changes ---- */

/* One thing that the program changes, and the problems that this repairs. */
struct change {
	const char *what;
	const char *effect; /* NULL: a step of its own says it */
	const char *cost;   /* in a sentence, or NULL */
	LIST(const struct problem *) problems;
};

struct changes_list {
	enum fact_state state;
	uint32_t count;
	struct change *items;
};

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
						   .cost = r->cost };
		}
		if (!change->problems.count ||
		    change->problems.items[change->problems.count - 1] != p)
			*LIST_ADD(v->report->arena, &change->problems) = p;
	}
}

/* Two parts as a sentence has them; more stay a list. */
static const char *joined(struct arena *arena, const char *what)
{
	const char *mark = strstr(what, "; ");

	if (!mark || strstr(mark + 1, "; "))
		return what;
	return arena_printf(arena, "%.*s, and %s", (int)(mark - what), what, mark + 2);
}

/* It weakens something, or is not for every node. */
static bool is_warning(const char *cost)
{
	return strstr(cost, "weaker") || strstr(cost, "not ");
}

/* The first two sentences: the second one can say where it is not to be done. */
static const char *caution(struct arena *arena, const char *cost)
{
	size_t n = text_sentence(cost);

	n += strspn(cost + n, " ");
	return arena_strndup(arena, cost, n + text_sentence(cost + n));
}

#define THEN_RUN "Then run \""

/* The command in `Then run "COMMAND"; ...`, which has a line of its own; NULL: there is none. */
static const char *command_in(struct arena *arena, const char *cost)
{
	const char *begin = cost + strlen(THEN_RUN), *end;

	if (strncmp(cost, THEN_RUN, strlen(THEN_RUN)) != 0 || !(end = strchr(begin, '"')))
		return NULL;
	return arena_printf(arena, "sudo %.*s", (int)(end - begin), begin);
}

/* What stands beside it, with a colon at the end. */
static const char *around_command(struct arena *arena, const char *cost)
{
	const char *rest = strchr(cost + strlen(THEN_RUN), '"') + 1;
	size_t n = text_sentence(rest);

	while (n && (rest[n - 1] == '.' || rest[n - 1] == ' '))
		n--;
	return arena_printf(arena, "Then run this command%.*s:", (int)n, rest);
}

/* What it does to the node, with the price or else with when it takes effect. */
static const char *change_text(const struct view *v, const struct change *c)
{
	struct arena *arena = v->report->arena;
	const char *what = joined(arena, c->what);

	if (c->cost && command_in(arena, c->cost))
		return arena_printf(arena, "It will %s. %s", what, around_command(arena, c->cost));
	if (c->cost)
		return arena_printf(arena, "It will %s. %s%s", what,
				    is_warning(c->cost) ? "Caution: " : "",
				    caution(arena, c->cost));
	return c->effect ? arena_printf(arena, "It will %s. Takes effect %s.", what, c->effect)
			 : arena_printf(arena, "It will %s.", what);
}

/* ---- what people do ---- */

static bool is_one_sentence(const char *text)
{
	return !text[text_sentence(text)];
}

/* The commands of a repair that was refused to a user without root depend on what only root can read. */
static const char *command_of(const struct view *v, const struct problem *p)
{
	return steps_is_blind(v->steps, p) ? NULL : finding_command(p->first);
}

/* All there is to do is the restart itself. */
static bool is_restart_alone(const struct view *v, const struct step *step, const struct problem *p)
{
	return step->kind == STEP_RESTART && is_one_sentence(steps_what(v->steps, p)) &&
	       !command_of(v, p);
}

static bool is_same_advice(const struct view *v, const struct step *step, const struct problem *a,
			   const struct problem *b)
{
	if (a == b)
		return true;
	if (is_restart_alone(v, step, a) || is_restart_alone(v, step, b))
		return is_restart_alone(v, step, a) && is_restart_alone(v, step, b);
	return step->kind != STEP_HARDWARE &&
	       same_text(steps_what(v->steps, a), steps_what(v->steps, b)) &&
	       same_text(finding_command(a->first), finding_command(b->first)) &&
	       same_text(steps_effect(v->steps, a), steps_effect(v->steps, b));
}

static bool is_advised_before(const struct view *v, const struct step *step,
			      const struct problem *problem)
{
	for_each(p, &step->problems) {
		if (*p == problem)
			return false;
		if (is_same_advice(v, step, *p, problem))
			return true;
	}
	return false;
}

/* The reason was given already. */
static bool is_refused_before(const struct view *v, const struct step *step,
			      const struct problem *problem)
{
	for_each(p, &step->problems) {
		if (*p == problem)
			return false;
		if (same_text(render_refused(v->steps, *p), render_refused(v->steps, problem)))
			return true;
	}
	return false;
}

/* Those who repair the machine need to know which part it is. */
static const char *hardware_text(const struct view *v, const struct problem *p)
{
	const char *where = render_where(v->report, p, LABELS_ALL);

	if (!*where || finding_action(p->first) == ACTION_NONE)
		return steps_what(v->steps, p);
	return arena_printf(v->report->arena, "For the technician, on %s: %s", where,
			    steps_what(v->steps, p));
}

/* Without its end, if that is a step of its own: what is left is a sentence. */
static const char *without_restart(const struct view *v, const char *text)
{
	static const struct {
		enum activation restart;
		const char *end, *instead;
	} ends[] = {
		{ ACTIVATION_REBOOT, ", then reboot.", "." },
		{ ACTIVATION_REBOOT, " Then reboot.", "" },
		{ ACTIVATION_REBOOT, " Then restart systemd-modules-load.", "" },
		{ ACTIVATION_RELOAD, " Then load the driver again.", "" },
	};
	size_t length = strlen(text);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i].end);

		if (v->steps->restart >= ends[i].restart && length > n &&
		    strcmp(text + length - n, ends[i].end) == 0)
			return arena_printf(v->report->arena, "%.*s%s", (int)(length - n), text,
					    ends[i].instead);
	}
	return text;
}

/* What is to be done about it, and what it takes. */
static const char *advice_text(const struct view *v, const struct step *step,
			       const struct problem *p)
{
	const char *refused = render_refused(v->steps, p), *effect = steps_effect(v->steps, p);
	const char *text = without_restart(v, steps_what(v->steps, p));

	if (is_restart_alone(v, step, p))
		return "Solved by this step.";
	if (step->kind == STEP_HARDWARE)
		return hardware_text(v, p);
	if (effect)
		text = arena_printf(v->report->arena, "%s Takes effect %s.", text, effect);
	if (refused && !is_refused_before(v, step, p))
		text = arena_printf(v->report->arena, "%s %s", text, refused);
	return text;
}

static void add_advice(struct view *v, struct section *section, const struct problem *problem)
{
	const struct step *step = section->step;
	struct instruction *i = LIST_ADD(v->report->arena, &section->items);
	const char *command = command_of(v, problem);

	for_each(p, &step->problems)
		if (is_same_advice(v, step, *p, problem))
			*LIST_ADD(v->report->arena, &i->problems) = *p;
	/* Of what fix repairs its own command is above. */
	add_instruction(v, i, advice_text(v, step, problem),
			step->kind == STEP_FIX ? NULL : command);
}

/* ---- steps ---- */

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

		for_each(p, &change->problems)
			*LIST_ADD(v->report->arena, &i->problems) = *p;
		add_instruction(v, i, change_text(v, change),
				change->cost ? command_in(v->report->arena, change->cost) : NULL);
	}
}

static void add_title(struct view *v, struct section *section, size_t number)
{
	struct arena *arena = v->report->arena;
	const struct step *step = section->step;
	const char *title = step->kind == STEP_FIX ? steps_fix_text(v->steps, step)
						   : steps_title(v->steps, step);
	const char *text = steps_command(v->steps, step);
	const char *head = arena_printf(arena, "%2zu. ", number);
	bool more = text || (step->problems.count && step->kind != STEP_FIX);
	const char *line = arena_printf(arena, "%s: %s", title, text ? text : "");

	/* A short command is beside it. */
	if (text && !strchr(text, '\n') && !strchr(title, ':') &&
	    NUMBER + text_columns(line) <= v->page.width) {
		add_text(v, &section->lines, head, line);
		return;
	}
	add_text(v, &section->lines, head, arena_printf(arena, "%s%s", title, more ? ":" : "."));
	if (text)
		add_command(v, &section->lines, COMMAND, text);
}

static void add_section(struct view *v, struct sections *sections, const struct step *step)
{
	struct section *section = LIST_ADD(v->report->arena, sections);

	section->step = step;
	add_title(v, section, sections->count);
	if (step->kind == STEP_FIX) {
		add_repairs(v, section);
		return;
	}
	/* What keeps the program from a repair is changed first. */
	for_each(p, &step->problems)
		if (!render_refused(v->steps, *p) && !is_advised_before(v, step, *p))
			add_advice(v, section, *p);
	for_each(p, &step->problems)
		if (render_refused(v->steps, *p) && !is_advised_before(v, step, *p))
			add_advice(v, section, *p);
}

/* ---- the room for instructions ---- */

static uint32_t lines_of(const struct sections *sections)
{
	uint32_t lines = 0;

	for_each(section, sections) {
		lines += section->lines.count;
		for_each(i, &section->items)
			lines += i->lines.count;
	}
	return lines;
}

/* All of them; or of each error the first sentence, and the rest is in the details. */
static void choose(struct view *v, struct sections *sections)
{
	bool all = v->options->verbose || v->problems->items.count == 1 ||
		   lines_of(sections) <= PLAN_LINES;

	for_each_mut(section, sections) {
		for_each_mut(i, &section->items) {
			bool part = !all && i->brief.count < i->lines.count;

			i->shown = all || i->problems.items[0]->severity >= SEVERITY_ERR ||
				   is_restart_alone(v, section->step, i->problems.items[0]);
			if (part)
				i->lines = i->brief;
			for_each(p, &i->problems)
				v->left_out[*p - v->problems->items.items] |= part || !i->shown;
		}
	}
}

/* The problems of SECTION with an instruction that is left out. */
static void print_left_out(struct view *v, const struct section *section)
{
	LIST(const struct problem *) left = { 0 };
	struct text_lines lines = { 0 };

	for_each(i, &section->items)
		for_each(p, &i->problems)
			if (!i->shown)
				*LIST_ADD(v->report->arena, &left) = *p;
	if (!left.count)
		return;
	add_text(v, &lines, arena_printf(v->report->arena, "%*s", NUMBER, ""),
		 arena_printf(v->report->arena, "[%s] %s", number_list(v, left.items, left.count),
			      section->step->kind == STEP_FIX
				      ? "Less severe: this command repairs them too."
				      : "Less severe: see \"fix\" in the details below."));
	print_lines(v, &lines);
}

static void print_section(struct view *v, const struct section *section)
{
	print_lines(v, &section->lines);
	for_each(i, &section->items)
		if (i->shown)
			print_lines(v, &i->lines);
	print_left_out(v, section);
}

/* ---- the whole ---- */

static void print_refused(struct view *v)
{
	if (v->steps->plan && v->steps->plan->refused)
		text_wrap(v->page.out,
			  arena_printf(v->report->arena,
				       "nvnodecheck fix changes nothing on this node: %s.",
				       v->steps->plan->refused),
			  0, 0, v->page.width);
}

void text_steps(struct view *v)
{
	struct sections sections = { 0 };

	if (!v->steps->items.count)
		return;
	text_heading(v, "What to do, in this order");
	print_refused(v);
	for_each(step, &v->steps->items)
		add_section(v, &sections, step);
	choose(v, &sections);
	for_each(section, &sections)
		print_section(v, section);
	if (known_not(v->report->node->os.observed_uid, 0))
		fputs("No root? Send your administrator the output of nvnodecheck doctor --for provider\n",
		      v->page.out);
}
