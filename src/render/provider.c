/* SPDX-License-Identifier: GPL-2.0-or-later */
/* provider.c - the problems as a text in Markdown for the people who may solve them: the administrator, the host of a
 * guest, the provider of the machine. The reader need not know this program. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/output.h"
#include "base/version.h"
#include "fixes/unified.h"
#include "query/kind.h"
#include "query/names.h"
#include "render/render.h"
#include "render/step-words.h"
#include "render/text.h"

/* Escapes values in sentences. A block needs no escapes of Markdown. */
#define markdown(...) escape_printf(stdout, SINK_MARKDOWN, __VA_ARGS__)

struct letter {
	const struct report *report;
	const struct steps *steps;
	LIST(const struct problem *) sections; /* of the reader, the worst first */
};

#define WIDTH 80

/* Prints a sentence that may be longer than a line. */
static void block_line(const struct letter *l, const char *text)
{
	struct text_lines lines = text_split(l->report->arena, text, WIDTH - 6);

	for_each(line, &lines) {
		if (line > lines.items)
			fputs("  ", stdout);
		fputs("    ", stdout);
		escape_text(stdout, SINK_TERMINAL, *line);
		putchar('\n');
	}
}

static void block(const char *text)
{
	struct span rest = span_of(text), line;

	while (span_cut(&rest, '\n', &line)) {
		fputs("    ", stdout);
		escape_span(stdout, SINK_TERMINAL, line);
		putchar('\n');
	}
}

#define INDENT 4 /* with so many blanks a line continues a paragraph, whatever it begins with */

/* Splits TEXT, before which MARK is printed. The first line can be empty. */
static struct text_lines split(const struct letter *l, const char *mark, const char *text)
{
	struct arena *arena = l->report->arena;
	struct text_lines lines = text_split(arena, arena_printf(arena, "%s%s", mark, text),
					     WIDTH - INDENT);

	if (lines.count)
		lines.items[0] = strlen(lines.items[0]) < strlen(mark)
					 ? ""
					 : lines.items[0] + strlen(mark);
	else
		*LIST_ADD(arena, &lines) = "";
	return lines;
}

/* Prints the lines after the first. */
static void go_on(const struct text_lines *lines)
{
	for (uint32_t i = 1; i < lines->count; i++)
		markdown("    %s\n", lines->items[i]);
}

static void paragraph(const struct letter *l, const char *label, const char *text)
{
	struct text_lines lines;

	if (!text || !*text)
		return;
	lines = split(l, arena_printf(l->report->arena, "**%s:** ", label), text);
	markdown("**%s:** %s\n", label, lines.items[0]);
	go_on(&lines);
	putchar('\n');
}

static void bullet(const struct letter *l, const char *label, const char *text)
{
	struct text_lines lines = split(l, arena_printf(l->report->arena, "- %s: ", label), text);

	markdown("- %s: %s\n", label, lines.items[0]);
	go_on(&lines);
}

static void numbered(const struct letter *l, size_t number, const char *text)
{
	struct text_lines lines = split(l, arena_printf(l->report->arena, "%zu. ", number), text);

	markdown("%zu. %s\n", number, lines.items[0]);
	go_on(&lines);
}

/* Leaves out problems that the user of the job or container solves. */
static bool is_for_reader(const struct letter *l, const struct problem *p)
{
	enum step_kind kind = steps_kind(l->steps, p);

	return kind != STEP_JOB && kind != STEP_CONTAINER;
}

static void evidence(const struct letter *l, const struct problem *p)
{
	struct text_lines found = render_found(l->report, p);
	const char *last = NULL;

	puts("**Evidence:**\n");
	for_each(line, &found)
		block_line(l, *line);
	for (size_t i = 0; i < EVIDENCE_MAX && p->first->answer.evidence[i]; i++) {
		const char *place = render_place(l->report, p->first->answer.evidence[i]);

		if (place && strchr(place + 1, '/') && !same_text(place, last))
			block_line(l, arena_printf(l->report->arena, "read in %s", place));
		last = place;
	}
	putchar('\n');
	paragraph(l, "Expected", render_expected(p));
}

/* Returns true if a change has no command: then the patch at the end is needed, and has all changes of files. */
static bool needs_patch(const struct letter *l)
{
	if (!l->steps->plan || !l->steps->plan->files.count)
		return false;
	for_each(p, &l->steps->problems->items)
		if (is_for_reader(l, p) && steps_kind(l->steps, p) == STEP_FIX &&
		    !p->first->command)
			return true;
	return false;
}

/* Returns true if the patch has the change. */
static bool is_in_patch(const struct letter *l, const struct problem *p)
{
	return steps_kind(l->steps, p) == STEP_FIX && needs_patch(l);
}

static bool is_restart(enum step_kind kind)
{
	return kind == STEP_RESTART || kind == STEP_POWER;
}

/* Prints the change by hand, because the reader may not have this program. */
static void change(const struct letter *l, const struct problem *p)
{
	/* The reader is root, also if a user wrote the request. */
	const char *command = steps_is_blind(l->steps, p) ? p->first->command
							  : steps_command_of(l->steps, p);
	struct text_lines fixes = { 0 };

	for_each(member, &p->members) {
		/* If a restart alone solves it, the restart is the change. */
		const char *remedy = is_restart(steps_kind(l->steps, p))
					     ? finding_remedy(*member)
					     : steps_remedy(l->steps, p, *member);
		bool known = !finding_change(*member) || !*finding_change(*member);

		for_each(line, &fixes)
			known |= same_text(*line, remedy);
		if (!known)
			*LIST_ADD(l->report->arena, &fixes) = remedy;
	}
	for_each(line, &fixes)
		paragraph(l, "Requested change", *line);
	if (is_in_patch(l, p)) {
		puts("The patch at the end has this change.\n");
	} else if (command) {
		block(command);
		putchar('\n');
	}
}

static void safety(const struct letter *l, const struct problem *p)
{
	const struct plan_repair *r = steps_repair(l->steps, p->first);
	const char *cost = r && r->cost ? r->cost : p->first->rule->cost;
	bool is_risk = r && r->cost ? r->is_risk : p->first->rule->is_risk;

	if (cost && !is_risk) {
		/* Some remedies mention it themselves. */
		if (!strstr(steps_what(l->steps, p), cost))
			paragraph(l, "Side effect", cost);
	} else if (!p->first->answer.is_kept)
		paragraph(l, "Risk", cost);
}

/* Adds the reader's problems of SEVERITY, in the order of the steps. */
static void add_sections(struct letter *l, enum severity severity)
{
	for_each(p, &l->steps->problems->items)
		if (p->severity == severity && is_for_reader(l, p))
			*LIST_ADD(l->report->arena, &l->sections) = p;
}

/* "section 1", "sections 1, 2 and 5" */
static const char *with_noun(const struct letter *l, const char *list)
{
	const char *last = strrchr(list, ',');

	if (!last && strchr(list, '-'))
		return arena_printf(l->report->arena, "sections %s", list);
	return last ? arena_printf(l->report->arena, "sections %.*s and%s", (int)(last - list),
				   list, last + 1)
		    : arena_printf(l->report->arena, "section %s", list);
}

/* The reader makes the changes of fix and those by hand together. */
static bool is_change(const struct step *step)
{
	return step->kind == STEP_FIX || step->kind == STEP_HAND;
}

static bool has_problem(const struct step *step, const struct problem *problem)
{
	for_each(p, &step->problems)
		if (*p == problem)
			return true;
	return false;
}

/* Adds the numbers FIRST to LAST: "5", "5, 6" or "5-8". */
static const char *add_numbers(const struct letter *l, const char *list, uint32_t first,
			       uint32_t last)
{
	const char *comma = *list ? ", " : "";

	if (first == last)
		return arena_printf(l->report->arena, "%s%s%u", list, comma, first);
	return arena_printf(l->report->arena, "%s%s%u%s%u", list, comma, first,
			    last == first + 1 ? ", " : "-", last);
}

/* "1, 2, 5-8": the sections of the steps FIRST to LAST, of those by hand and by fix if these are several. */
static const char *sections_between(const struct letter *l, const struct step *first,
				    const struct step *last)
{
	const char *list = "";
	uint32_t begin = 0; /* of the numbers that follow each other */

	for (uint32_t i = 0; i <= l->sections.count; i++) {
		bool in = false;

		for (const struct step *s = first; s <= last && i < l->sections.count; s++)
			in |= (first == last || is_change(s)) &&
			      has_problem(s, l->sections.items[i]);
		if (in && !begin)
			begin = i + 1;
		if (in || !begin)
			continue;
		list = add_numbers(l, list, begin, i);
		begin = 0;
	}
	return list;
}

static const char *sections_of(const struct letter *l, const struct step *step)
{
	return sections_between(l, step, step);
}

/* Returns the instruction for the sections of a step. */
static const char *doing(enum step_kind kind)
{
	switch (kind) {
	case STEP_FINAL:
		return "Decide whether this is the right node. No setting repairs";
	case STEP_BOOT:
		return "After these changes and before any reboot, make the changes of";
	case STEP_SITE:
		return "Check the cables, switch ports and the fabric of";
	case STEP_FIRMWARE:
		return "During this boot, in the firmware setup, make the changes of";
	case STEP_AFTER:
		return "When the node has started again, make the changes of";
	case STEP_HARDWARE:
		return "Repair the hardware of";
	default:
		return "Make the changes of";
	}
}

static void line_of(const struct letter *l, size_t *number, const char *text)
{
	numbered(l, ++*number, arena_printf(l->report->arena, "%s.", text));
}

/* Prints a line of the order and its commands, which are not wrapped, so that they can be pasted. */
static void line_with_command(const struct letter *l, size_t *number, const char *text,
			      const char *commands)
{
	struct span rest = span_of(commands), line;

	numbered(l, ++*number, arena_printf(l->report->arena, "%s:", text));
	putchar('\n');
	while (span_cut(&rest, '\n', &line)) {
		fputs("        ", stdout);
		escape_span(stdout, SINK_TERMINAL, line);
		putchar('\n');
	}
	putchar('\n');
}

static const char *check_title(const struct letter *l)
{
	return steps_has_drain(l->steps)
		       ? "Check again, if nvnodecheck is installed. If it finds no problem, return "
			 "the node to service"
		       : "Check again, if nvnodecheck is installed";
}

/* Returns the restart, and the sections that need nothing else. */
static const char *restart_line(const struct letter *l, const struct step *step)
{
	const char *title = steps_title(l->steps, step), *list = sections_of(l, step);

	/* A power cycle does not bring back every device. */
	return *list ? arena_printf(l->report->arena, "%s. This %s %s", title,
				    step->kind == STEP_POWER ? "can solve" : "solves",
				    with_noun(l, list))
		     : title;
}

/* Returns what to do about devices that the power cycle does not bring back. */
static const char *lost_line(const struct letter *l, const struct step *step)
{
	const char *list = "";

	for_each(p, &step->if_unsolved)
		list = arena_printf(l->report->arena, "%s%s%s", list, *list ? ", " : "",
				    render_where(l->report, &(*p)->members, LABELS_ALL));
	return arena_printf(l->report->arena,
			    "If it does not respond after the power cycle, reseat or replace: %s",
			    list);
}

/* Prints the order of the sections, with the drain and the restart. */
static void order(const struct letter *l)
{
	struct arena *arena = l->report->arena;
	const struct step *first = NULL, *last = NULL;
	size_t number = 0;

	puts("The order of the work:\n");
	for_each(step, &l->steps->items) {
		bool joined = is_change(step);

		if (step->kind == STEP_JOB || step->kind == STEP_CONTAINER ||
		    step->kind == STEP_LOOK)
			continue;
		if (!joined && first) {
			const char *list = sections_between(l, first, last);

			if (*list)
				line_of(l, &number,
					arena_printf(arena, "Make the changes of %s",
						     with_noun(l, list)));
			first = NULL;
		}
		if (joined) {
			first = first ? first : step;
			last = step;
		}
		if (is_restart(step->kind))
			line_of(l, &number, restart_line(l, step));
		else if (step->kind == STEP_DRAIN)
			line_of(l, &number, steps_title(l->steps, step));
		else if (step->kind == STEP_SAVE)
			line_with_command(l, &number, steps_title(l->steps, step),
					  steps_command(l->steps, step));
		else if (step->kind == STEP_CHECK)
			line_with_command(l, &number, check_title(l), l->steps->root_command);
		if (!joined && step->kind != STEP_CHECK && !is_restart(step->kind) &&
		    *sections_of(l, step))
			line_of(l, &number,
				arena_printf(arena, "%s %s", doing(step->kind),
					     with_noun(l, sections_of(l, step))));
		if (step->if_unsolved.count)
			line_of(l, &number, lost_line(l, step));
	}
}

/* Leaves out the line that names this program: a person makes the file. */
static struct span plain_after(struct span after)
{
	struct span rest = after, line;

	return span_cut(&rest, '\n', &line) && span_starts(line, "#") ? rest : after;
}

/* Prints the files that fix would write, for readers without this program. */
static void files(const struct letter *l)
{
	const struct plan *plan = l->steps->plan;

	if (!needs_patch(l))
		return;
	puts("**The patch** (apply it as root with patch -p1 -d /):\n");
	for_each(file, &plan->files)
		block(unified_diff(l->report->arena, file->path, file->before,
				   file->before.p ? file->after : plain_after(file->after)));
	putchar('\n');
	if (!plan->steps.count)
		return;
	puts("**After that, as root:**\n");
	block(render_plan_commands(l->report->arena, plan));
}

static void section(const struct letter *l, const struct problem *p, size_t number)
{
	static const char *const words[] = {
		[SEVERITY_INFO] = "note",
		[SEVERITY_WARN] = "warning",
		[SEVERITY_ERR] = "error",
		[SEVERITY_CRIT] = "critical",
	};

	markdown("## %zu. %s (%s)\n\n", number, finding_title(p->first), words[p->severity]);
	paragraph(l, "Where", render_where(l->report, &p->members, LABELS_ALL));
	paragraph(l, "Effect", finding_impact(p->first));
	evidence(l, p);
	change(l, p);
	if (steps_activation(l->steps, p) != ACTIVATION_NOW)
		paragraph(l, "Takes effect", effect_text(steps_activation(l->steps, p)));
	safety(l, p);
}

static void head(const struct letter *l, size_t asked)
{
	const struct os_facts *os = &l->report->node->os;
	const char *taken = render_taken(l->report);
	struct text_lines lines;

	markdown("# Request for changes on %s\n\n",
		 is_known(os->hostname) ? os->hostname.value : "a GPU node");
	if (!asked) {
		puts("No problem was found that an administrator has to solve.");
		return;
	}
	lines = split(
		l, "",
		arena_printf(l->report->arena,
			     "%zu problem%s on this node need%s an administrator. nvnodecheck %s "
			     "checked the node%s and changed nothing.",
			     asked, asked == 1 ? "" : "s", asked == 1 ? "s" : "",
			     NVNODECHECK_VERSION,
			     taken ? arena_printf(l->report->arena, " (%s)", taken) : ""));
	markdown("%s\n", lines.items[0]);
	go_on(&lines);
	putchar('\n');
	bullet(l, "System", render_system(l->report));
	bullet(l, "GPUs", render_gpus(l->report));
	bullet(l, "NICs", render_nics(l->report));
	putchar('\n');
}

enum exit_status render_report_provider(const struct report *report,
					const struct render_options *options,
					enum exit_status status)
{
	struct letter l = { .report = report, .steps = options->steps };
	size_t number = 0;

	for (int severity = SEVERITY_CRIT; severity >= 0; severity--)
		add_sections(&l, (enum severity)severity);
	head(&l, l.sections.count);
	if (l.sections.count)
		order(&l);
	for_each(p, &l.sections)
		section(&l, *p, ++number);
	files(&l);
	return finish_output(status);
}
