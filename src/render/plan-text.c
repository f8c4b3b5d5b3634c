/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-text.c - a plan for people: the repair of each finding, the findings without one, a diff for each file, and the
 * commands. */

#include <string.h>

#include "base/escape.h"
#include "base/shell.h"
#include "fixes/plan-make.h"
#include "fixes/unified.h"
#include "query/kind.h"
#include "query/names.h"
#include "render/render.h"
#include "render/step-words.h"

#define INDENT 5
#define LABEL 14
#define SUBJECTS_SHOWN 4

struct view {
	struct page page;
	const struct plan *plan;
	const struct node *node;
};

static void label(struct view *v, const char *name, const char *text)
{
	page_label(&v->page, INDENT, LABEL, name, text);
}

/* ---- findings ---- */

/* Returns true if both repairs are the same for different subjects of one rule; they are shown once. */
static bool same_repair(const struct plan_repair *a, const struct plan_repair *b)
{
	return a->finding->rule == b->finding->rule && same_text(a->what, b->what) &&
	       same_text(a->refused, b->refused);
}

static const struct plan_repair *first_of_its_kind(const struct plan *plan,
						   const struct plan_repair *r)
{
	for_each(other, &plan->repairs)
		if (same_repair(other, r))
			return other;
	return r;
}

static const char *subjects(const struct view *v, const struct plan_repair *r)
{
	const struct plan *plan = v->plan;
	const char **labels = arena_alloc(plan->arena, (plan->repairs.count + 1) * sizeof(*labels));
	size_t count = 0;

	for_each(other, &plan->repairs)
		if (same_repair(other, r) && other->finding->answer.subject)
			labels[count++] = subject_label(v->node, other->finding->answer.subject,
							plan->arena);
	return count ? arena_printf(plan->arena, " (%s)",
				    labels_join(labels, count, SUBJECTS_SHOWN, plan->arena))
		     : "";
}

enum part { PART_REPAIRED, PART_WAITING, PART_REFUSED, PART_FOLLOWS };

static enum part part_of(const struct plan_repair *r)
{
	if (!r->refused)
		return PART_REPAIRED;
	if (r->activation)
		return PART_WAITING;
	return r->finding->follows_from ? PART_FOLLOWS : PART_REFUSED;
}

static void title(struct view *v, const struct plan_repair *r)
{
	page_printf(&v->page, "  %s", page_style(&v->page, STYLE_BOLD));
	text_wrap(v->page.out,
		  arena_printf(v->plan->arena, "%s%s [%s]", finding_title(r->finding),
			       subjects(v, r), r->finding->rule->id),
		  INDENT, INDENT, v->page.width);
	fputs(page_style(&v->page, STYLE_PLAIN), v->page.out);
}

/* Counts the problems of PART, and each one with several devices once. */
static size_t count_of(const struct view *v, enum part part)
{
	size_t count = 0;

	for_each(r, &v->plan->repairs)
		count += part_of(r) == part && first_of_its_kind(v->plan, r) == r;
	return count;
}

static bool needs_boot(const struct plan *plan)
{
	for_each(r, &plan->repairs)
		if (r->what && r->activation >= ACTIVATION_REBOOT)
			return true;
	return false;
}

/* The reboot for other repairs restarts the services too. */
static const char *when_text(const struct view *v, const struct plan_repair *r)
{
	if (r->activation == ACTIVATION_RESTART && needs_boot(v->plan))
		return "when the service is restarted; the reboot does that";
	return effect_text(r->activation);
}

/* Says in one line what the plan does, before its details. */
static void summary(struct view *v, const struct render_options *options)
{
	size_t repaired = count_of(v, PART_REPAIRED), refused = count_of(v, PART_REFUSED);
	const char *left = refused ? arena_printf(v->plan->arena,
						  " %zu need%s other work: see below.", refused,
						  refused == 1 ? "s" : "")
				   : "";

	if (!repaired || v->plan->refused)
		return;
	text_wrap(v->page.out,
		  arena_printf(v->plan->arena, "%zu problem%s can be repaired%s.%s%s", repaired,
			       repaired == 1 ? "" : "s",
			       needs_boot(v->plan) ? ", with one reboot" : "", left,
			       options->apply ? "" : " Nothing was changed."),
		  0, 0, v->page.width);
}

static void repairs(struct view *v, enum part part)
{
	static const char *const headings[] = { "Repairs", "Waiting to take effect",
						"Not repaired by this program" };
	bool any = false, refused = part != PART_REPAIRED;

	for_each(r, &v->plan->repairs) {
		if (part_of(r) != part || first_of_its_kind(v->plan, r) != r)
			continue;
		if (!any)
			page_heading(&v->page, headings[part]);
		any = true;
		title(v, r);
		label(v, "found", r->finding->answer.observed);
		label(v, refused ? "why" : "change", refused ? r->refused : r->what);
		label(v, "takes effect", refused ? NULL : when_text(v, r));
		label(v, "then run", refused || needs_boot(v->plan) ? NULL : r->then_run);
		label(v, "note", refused || r->is_risk ? NULL : r->cost);
		label(v, "risk", refused || !r->is_risk ? NULL : r->cost);
	}
}

/* A consequence goes with its cause, so its name is enough. */
static void consequences(struct view *v)
{
	const struct rule *last = NULL;
	const char *list = "";

	for_each(r, &v->plan->repairs) {
		if (part_of(r) != PART_FOLLOWS || r->finding->rule == last)
			continue;
		last = r->finding->rule;
		list = arena_printf(v->plan->arena, "%s%s%s", list, *list ? ", " : "", last->id);
	}
	if (!*list)
		return;
	page_heading(&v->page, "Consequences: repair their causes above, then look again");
	fputs("  ", v->page.out);
	text_wrap(v->page.out, list, 2, 2, v->page.width);
}

/* ---- files ---- */

static enum style line_style(struct span line)
{
	if (span_starts(line, "---") || span_starts(line, "+++"))
		return STYLE_BOLD;
	if (span_starts(line, "@@"))
		return STYLE_BLUE;
	return span_starts(line, "-")	? STYLE_RED
	       : span_starts(line, "+") ? STYLE_GREEN
					: STYLE_PLAIN;
}

static void diff(struct view *v, const struct plan_file *file)
{
	struct span rest =
		span_of(unified_diff(v->plan->arena, file->path, file->before, file->after));
	struct span line;

	while (span_cut(&rest, '\n', &line)) {
		fputs(page_style(&v->page, line_style(line)), v->page.out);
		escape_span(v->page.out, SINK_DIFF, line);
		page_printf(&v->page, "%s\n", page_style(&v->page, STYLE_PLAIN));
	}
}

static void files(struct view *v)
{
	if (v->plan->files.count)
		page_heading(&v->page, "Files");
	for_each(file, &v->plan->files)
		diff(v, file);
}

/* ---- steps ---- */

static const char *step_text(struct arena *arena, const struct plan_step *s)
{
	switch (s->kind) {
	case PLAN_INITRAMFS:
		return arena_printf(
			arena,
			"build the initramfs of %s beside the old one, read it back, then "
			"rename it to %s",
			s->subject, s->path);
	case PLAN_BOOT_LOADER:
		return "rebuild the configuration of the boot loader";
	case PLAN_DAEMON_RELOAD:
		return "run systemctl daemon-reload";
	case PLAN_LOAD_MODULE:
		return arena_printf(arena, "load %s", s->subject);
	case PLAN_UNLOAD_MODULE:
		return arena_printf(arena, "unload %s, if nothing uses it", s->subject);
	case PLAN_UNIT_ENABLE:
		return arena_printf(arena, "enable %s", s->subject);
	case PLAN_UNIT_DISABLE:
		return arena_printf(arena, "disable %s", s->subject);
	case PLAN_UNIT_START:
		return arena_printf(arena, "start %s", s->subject);
	case PLAN_UNIT_STOP:
		return arena_printf(arena, "stop %s", s->subject);
	case PLAN_SYSCTL:
		return arena_printf(arena, "set %s", s->subject);
	case PLAN_DEVICE_NODE:
		return arena_printf(arena, "create %s", s->subject);
	case PLAN_RELOAD_DRIVER:
		return "unload the NVIDIA driver's modules, if nothing uses them, and load them "
		       "again";
	case PLAN_DEPMOD:
		return arena_printf(arena, "rebuild the module index of %s", s->subject);
	}
	return "";
}

static const char *command(struct arena *arena, const char *const *argv)
{
	const char *text = NULL;

	for (; argv && *argv; argv++)
		text = text ? arena_printf(arena, "%s %s", text, *argv) : *argv;
	return text;
}

/* Returns the command that does what the transaction does by a system call or by itself; or NULL. */
static const char *by_hand(struct arena *arena, const struct plan_step *s)
{
	switch (s->kind) {
	case PLAN_DAEMON_RELOAD:
		return "systemctl daemon-reload";
	case PLAN_LOAD_MODULE:
		return shell_printf(arena, "modprobe %s", s->subject);
	case PLAN_UNLOAD_MODULE:
		return shell_printf(arena, "modprobe -r %s", s->subject);
	case PLAN_UNIT_ENABLE:
		return shell_printf(arena, "systemctl enable %s", s->subject);
	case PLAN_UNIT_DISABLE:
		return shell_printf(arena, "systemctl disable %s", s->subject);
	case PLAN_UNIT_START:
		return shell_printf(arena, "systemctl start %s", s->subject);
	case PLAN_UNIT_STOP:
		return shell_printf(arena, "systemctl stop %s", s->subject);
	case PLAN_SYSCTL:
		return shell_printf(arena, "sysctl -w %s", s->subject);
	case PLAN_DEPMOD:
		return shell_printf(arena, "depmod -a %s", s->subject);
	default:
		return command(arena, s->argv);
	}
}

const char *render_plan_commands(struct arena *arena, const struct plan *plan)
{
	struct arena_text text = { .arena = arena };
	const char *last = NULL;

	for_each(s, &plan->steps) {
		const char *runs = by_hand(arena, s);

		/* Some commands explain themselves. */
		if (!runs || s->argv)
			arena_add(&text, "# %s\n", step_text(arena, s));
		if (runs)
			arena_add(&text, "sudo %s\n", runs);
	}
	for_each(r, &plan->repairs) {
		if (r->then_run && !same_text(r->then_run, last))
			arena_add(&text, "sudo %s\n", r->then_run);
		last = r->then_run ? r->then_run : last;
	}
	return arena_added(&text);
}

/* A list of devices is longer than a line, and the diff above has it whole. */
static const char *shortened(const struct view *v, const char *text)
{
	int room = v->page.width - INDENT - LABEL;

	return (int)strlen(text) > room && room > 3
		       ? arena_printf(v->plan->arena, "%.*s...", room - 3, text)
		       : text;
}

static void steps(struct view *v)
{
	size_t n = 0;

	if (v->plan->steps.count)
		page_heading(&v->page, v->plan->files.count ? "Then" : "Steps");
	for_each(s, &v->plan->steps) {
		int at = page_printf(&v->page, "%3zu. ", ++n);

		text_wrap(v->page.out, step_text(v->plan->arena, s), INDENT, at, v->page.width);
		label(v, "runs", command(v->plan->arena, s->argv));
		for (size_t i = 0; s->must_hold && s->must_hold[i]; i++)
			label(v, i ? "" : "checks for", shortened(v, s->must_hold[i]));
	}
}

/* ---- the whole ---- */

static bool any_refused(const struct plan *plan)
{
	for_each(r, &plan->repairs)
		if (part_of(r) >= PART_REFUSED)
			return true;
	return false;
}

/* Returns the text for an empty plan. It covers only the requested rules, and a rule that is unknown may need a
 * repair too. */
static const char *nothing_text(struct view *v, const struct report *report,
				const struct render_options *options)
{
	size_t unknown = problems_unknown(report);
	const char *more = options->all ? "" : " To repair warnings as well, add --all.";
	const char *nothing = options->all ? "Nothing was found that fix repairs"
					   : "No error was found that fix repairs";

	if (v->plan->repairs.count)
		return any_refused(v->plan) ? "None of the problems found can be repaired here."
					    : "There is nothing to change.";
	if (!unknown)
		return arena_printf(v->plan->arena, "%s.%s", nothing, more);
	return arena_printf(v->plan->arena,
			    "%s. %zu check%s could not run; nvnodecheck doctor "
			    "-v lists %s.%s",
			    nothing, unknown, unknown == 1 ? "" : "s", unknown == 1 ? "it" : "them",
			    more);
}

static bool is_shown_only(const struct render_options *options)
{
	return !options->apply && !options->from;
}

static const char *apply_text(const struct view *v, const struct render_options *options)
{
	return arena_printf(
		v->plan->arena,
		"Nothing was changed (plan %s). To make these changes, run %s%s. nvnodecheck undo "
		"reverts them.%s",
		v->plan->id,
		options->command ? "the command below" : "the same command as root with --apply",
		!needs_boot(v->plan) ? ""
		: node_is(v->node, KIND_WORKSTATION)
			? ", then save all work, end all programs and reboot"
			: ", then drain the node and reboot it once",
		!known_not(v->node->os.observed_uid, 0)
			? ""
			: " If you are not root, nvnodecheck doctor --for provider writes a request with these changes, "
			  "which you can send to the administrator.");
}

static void foot(struct view *v, const struct report *report, const struct render_options *options)
{
	const char *text;

	if (plan_is_empty(v->plan)) {
		text_wrap(v->page.out, nothing_text(v, report, options), 0, 0, v->page.width);
		return;
	}
	if (options->apply)
		text = arena_printf(v->plan->arena, "Plan %s.", v->plan->id);
	else if (options->from)
		text = arena_printf(v->plan->arena, "Nothing was changed (plan %s).", v->plan->id);
	else
		text = apply_text(v, options);
	text_wrap(v->page.out, text, 0, 0, v->page.width);
	if (is_shown_only(options) && options->command)
		page_printf(&v->page, "    %s\n", options->command);
}

enum exit_status render_plan_text(const struct plan *plan, const struct report *report,
				  const struct render_options *options, enum exit_status status)
{
	struct view v = { .plan = plan, .node = report->node };

	page_begin(&v.page, options->color, options->pager);
	text_wrap(v.page.out,
		  arena_printf(plan->arena, "Profiles %s (%s)",
			       profiles_text(plan->arena, report->profiles),
			       report->profiles_reason),
		  0, 0, v.page.width);
	summary(&v, options);
	if (plan->refused)
		text_wrap(v.page.out,
			  arena_printf(plan->arena, "Refused on this node: %s.", plan->refused), 0,
			  0, v.page.width);
	repairs(&v, PART_REPAIRED);
	files(&v);
	steps(&v);
	repairs(&v, PART_WAITING);
	repairs(&v, PART_REFUSED);
	consequences(&v);
	putc('\n', v.page.out);
	if (!plan->refused)
		foot(&v, report, options);
	return page_end(&v.page, status);
}
