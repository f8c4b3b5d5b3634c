/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-make.c - selects the findings to repair, calls their fixes, and orders the changes that they ask for. */
#include "fixes/plan-make.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "fixes/fix.h"
#include "query/node-repair.h"

/* modules.dep before the files that are built from it; the old module is unloaded before the new one is loaded. */
static const enum plan_step_kind step_order[] = {
	PLAN_DEPMOD,	  PLAN_INITRAMFS,    PLAN_BOOT_LOADER,	 PLAN_DAEMON_RELOAD,
	PLAN_UNIT_STOP,	  PLAN_UNIT_DISABLE, PLAN_UNLOAD_MODULE, PLAN_RELOAD_DRIVER,
	PLAN_LOAD_MODULE, PLAN_DEVICE_NODE,  PLAN_SYSCTL,	 PLAN_UNIT_ENABLE,
	PLAN_UNIT_START,
};

/* ---- fixes ---- */

#define FIX(name) extern const struct fix fix_##name;
#include "fixes.inc"
#undef FIX

/* All fixes by name; the last item is NULL. */
static const struct fix *const fix_list[] = {
#define FIX(name) &fix_##name,
#include "fixes.inc"
#undef FIX
	NULL,
};

const struct fix *fix_find(const char *name)
{
	for (size_t i = 0; name && fix_list[i]; i++)
		if (strcmp(fix_list[i]->name, name) == 0)
			return fix_list[i];
	return NULL;
}

static size_t step_rank(const struct plan_step *step)
{
	size_t i = 0;

	while (step_order[i] != step->kind)
		i++;
	return i;
}

static void order_steps(struct plan *plan)
{
	for (uint32_t i = 1; i < plan->steps.count; i++)
		for (uint32_t k = i; k > 0; k--) {
			struct plan_step *s = &plan->steps.items[k], swap = *s;

			if (step_rank(&s[-1]) <= step_rank(s))
				break;
			*s = s[-1];
			s[-1] = swap;
		}
}

/* ---- one finding ---- */

/* A finding that is refused leaves everything as it was before it was asked about. */
struct mark {
	uint32_t drafts, steps, touched, rebuild;
	struct draft *saved;
	struct plan_step *saved_steps;
	const char *staged;
};

static struct mark set_mark(struct fixing *f)
{
	struct mark m = { f->drafts.count,
			  f->plan->steps.count,
			  f->touched.count,
			  f->rebuild.count,
			  NULL,
			  NULL,
			  f->staged };

	m.saved = arena_alloc(f->arena, m.drafts * sizeof(*m.saved) + 1);
	for (uint32_t i = 0; i < m.drafts; i++)
		m.saved[i] = *f->drafts.items[i];
	m.saved_steps = arena_alloc(f->arena, m.steps * sizeof(*m.saved_steps) + 1);
	for (uint32_t i = 0; i < m.steps; i++)
		m.saved_steps[i] = f->plan->steps.items[i];
	return m;
}

static void back_to(struct fixing *f, const struct mark *m)
{
	f->drafts.count = m->drafts;
	for (uint32_t i = 0; i < m->drafts; i++)
		*f->drafts.items[i] = m->saved[i];
	f->plan->steps.count = m->steps;
	for (uint32_t i = 0; i < m->steps; i++)
		f->plan->steps.items[i] = m->saved_steps[i];
	f->touched.count = m->touched;
	f->rebuild.count = m->rebuild;
	f->staged = m->staged;
	f->modprobe = NULL;
}

/* Returns who can repair a finding without a fix. */
static const char *by_whom(const struct finding *finding, struct arena *arena)
{
	static const char *const who[] = {
		[BY_ADMIN] = "by hand",
		[BY_FIRMWARE] = "in the machine's firmware setup",
		[BY_HARDWARE] = "by hardware service",
		[BY_HOST] = "on the host of this guest or container",
		[BY_PROVIDER] = "by the cloud provider",
		[BY_PROGRAM] = "by hand",
	};

	return arena_printf(arena, "do this %s: %s", who[finding_repaired_by(finding)],
			    finding_remedy(finding));
}

static void repair(struct fixing *f, const struct finding *finding)
{
	const struct fix_call *call = finding_fix(finding);
	const struct fix *fix = call ? fix_find(call->kind) : NULL;
	const struct finding *cause;
	struct mark mark = set_mark(f);

	f->finding = finding;
	f->repair = LIST_ADD(f->arena, &f->plan->repairs);
	f->repair->finding = finding;
	f->rule = finding->rule->id;
	f->waits = false;
	f->fails_to_load = NULL;
	if (finding->answer.verdict == VERDICT_PENDING) {
		fix_waits(f, finding_activation(finding), "configured already. %s",
			  finding->answer.remedy ? finding->answer.remedy : "");
		fix_reload(f);
		return;
	}
	cause = fix_cause(f);
	if (cause || !fix) {
		f->repair->refused = cause ? arena_printf(f->arena,
							  "%s causes it; repair that first",
							  cause->rule->id)
					   : by_whom(finding, f->arena);
		return;
	}
	if (fix_has_room(f))
		fix->plan(f);
	else
		fix_refuse(f, "more is wrong than one plan can have; repair the others first");
	f->repair->only_by_hand = !f->repair->what && !f->repair->refused;
	if (f->repair->only_by_hand)
		f->repair->refused = by_whom(finding, f->arena);
	fix_reload(f);
	if (f->repair->refused) {
		back_to(f, &mark);
		f->repair->what = f->repair->cost = f->repair->then_run = NULL;
		f->repair->is_risk = false;
		f->repair->activation = f->waits ? f->repair->activation : ACTIVATION_NONE;
	} else if (!f->repair->cost) {
		f->repair->cost = finding->rule->cost;
		f->repair->is_risk = finding->rule->is_risk;
	}
}

/* A note is repaired only if the user names its rule. */
static bool is_wanted(const struct plan_request *r, const struct finding *finding)
{
	if (finding->off)
		return false;
	if (r->named)
		return finding_is_problem(finding) ||
		       (finding->answer.verdict == VERDICT_NOTE && finding_fix(finding));
	return finding_is_problem(finding) &&
	       (finding->severity >= SEVERITY_ERR || (r->all && finding_fix(finding)));
}

/* ---- the whole ---- */

static bool builds_initramfs(const struct plan *plan)
{
	for_each(step, &plan->steps)
		if (step->kind == PLAN_INITRAMFS)
			return true;
	return false;
}

/* A repair that changes nothing on disk waits for a restart or a reboot. */
static void finish_repair(struct fixing *f, struct plan_repair *r)
{
	const struct fix_call *call = finding_fix(r->finding);
	const struct gap *unread = fix_unread(f, call ? call->kind : NULL);
	const char *when = r->activation == ACTIVATION_REBOOT
				   ? "at the next boot"
				   : "after the service restarts or the module is loaded again";

	r->what = r->cost = r->then_run = NULL;
	if (unread) {
		f->repair = r;
		fix_refuse_unread(f, unread);
		r->activation = ACTIVATION_NONE;
	} else {
		r->refused = arena_printf(f->arena,
					  "configured on disk already; it takes effect %s", when);
	}
}

static void finish_repairs(struct fixing *f)
{
	for (uint32_t i = 0; i < f->plan->repairs.count && !builds_initramfs(f->plan); i++) {
		struct plan_repair *r = &f->plan->repairs.items[i];

		if (!r->refused && !r->changes)
			finish_repair(f, r);
	}
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct plan_file *)a)->path, ((const struct plan_file *)b)->path);
}

static void finish_files(struct fixing *f)
{
	for_each(d, &f->drafts) {
		const struct draft *draft = *d;
		struct plan_file *file;

		if (!draft_differs(draft))
			continue;
		file = LIST_ADD(f->arena, &f->plan->files);
		file->path = draft->path;
		file->before = draft->before;
		file->after = draft->after;
		file->mode = draft->mode;
		file->why = draft->why;
	}
	fact_list_sort(&f->plan->files, sizeof(struct plan_file), compare_files);
}

static void feed_text(struct sha256 *sha, const char *text)
{
	sha256_feed(sha, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void feed_span(struct sha256 *sha, struct span s)
{
	uint64_t n = s.p ? s.n : UINT64_MAX;

	sha256_feed(sha, &n, sizeof(n));
	sha256_feed(sha, s.p ? s.p : "", s.p ? s.n : 0);
}

static void feed_list(struct sha256 *sha, const char *const *list)
{
	for (; list && *list; list++)
		feed_text(sha, *list);
	feed_text(sha, NULL);
}

static int make_id(struct plan *plan)
{
	char hex[SHA256_HEX];
	struct sha256 sha;
	int rc;

	sha256_begin(&sha);
	for_each(file, &plan->files) {
		feed_text(&sha, file->path);
		feed_span(&sha, file->before);
		feed_span(&sha, file->after);
		sha256_feed(&sha, &file->mode, sizeof(file->mode));
	}
	for_each(step, &plan->steps) {
		feed_text(&sha, plan_step_words[step->kind]);
		feed_text(&sha, step->subject);
		feed_text(&sha, step->path);
		feed_text(&sha, step->tool);
		feed_list(&sha, step->argv);
		feed_list(&sha, step->must_hold);
	}
	rc = sha256_end(&sha, hex);
	if (rc == 0)
		memcpy(plan->id, hex, sizeof(plan->id) - 1);
	return rc;
}

static const char *next_command_line(const struct node *node)
{
	if (is_known(node->cmdline.staged.text))
		return node->cmdline.staged.text.value;
	return is_known(node->cmdline.running) ? node->cmdline.running.value : "";
}

/* Images belong to the whole plan: a refusal there refuses the whole plan. */
static void finish_each_initramfs(struct fixing *f)
{
	struct plan_repair images = { 0 };

	if (f->plan->refused)
		return;
	f->finding = NULL;
	f->rule = "boot/initramfs-stale";
	f->repair = &images;
	fix_each_initramfs(f);
	f->repair = NULL;
	f->plan->refused = images.refused;
}

struct plan *plan_make(const struct plan_request *r)
{
	struct arena *arena = r->report->arena;
	struct plan *plan = arena_alloc(arena, sizeof(*plan));
	struct fixing f = { .arena = arena,
			    .node = r->report->node,
			    .host = r->host,
			    .report = r->context,
			    .plan = plan,
			    .named = r->named,
			    .reload = r->reload,
			    .staged = next_command_line(r->report->node) };

	plan->arena = arena;
	if (r->host)
		host_identity(r->host, &plan->root_device, &plan->root_inode);
	f.scratch = arena_new(SCRATCH_BYTES, "a plan");
	plan->refused = f.scratch ? node_repair_refusal(f.node, arena) : "out of memory";
	for_each(finding, &r->report->findings)
		if (is_wanted(r, finding) && !plan->refused)
			repair(&f, finding);
	finish_each_initramfs(&f);
	fix_check_reload(&f);
	finish_repairs(&f);
	finish_files(&f);
	order_steps(plan);
	if (!r->outline && make_id(plan) && !plan->refused)
		plan->refused = SHA256_MISSING;
	arena_free(f.scratch);
	return plan;
}

bool plan_is_empty(const struct plan *plan)
{
	return plan->files.count == 0 && plan->steps.count == 0;
}
