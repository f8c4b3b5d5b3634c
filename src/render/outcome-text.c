/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outcome-text.c - the outcome of a transaction, and the list of earlier ones. */
#include <string.h>
#include <time.h>

#include "base/shell.h"
#include "render/render.h"
#include "txn/repair-outcome.h"

#define INDENT 4

/* Returns true if something was deliberately not restored. */
static bool has_rest(const struct txn_outcome *txn)
{
	for_each(item, &txn->items)
		if (item->state == TXN_LEFT || item->state == TXN_STAYS ||
		    item->state == TXN_REBUILT)
			return true;
	return false;
}

static const char *result_text(const struct txn_outcome *txn)
{
	switch (txn->result) {
	case TXN_APPLIED:
		return "Applied and checked";
	case TXN_REFUSED:
		return txn->recovered.count ? "Nothing else was changed" : "Nothing was changed";
	case TXN_ROLLED_BACK:
		return has_rest(txn) ? "Rolled back, except for the items listed here"
				     : "Rolled back. The node is as it was before";
	case TXN_UNDONE:
		return has_rest(txn) ? "Undone, except for the items listed here"
				     : "Undone. The node is as it was before";
	case TXN_PARTLY:
		return "Partly undone";
	case TXN_NOTHING:
		return "Nothing to do";
	}
	return "";
}

static const char *pending_text(struct arena *arena, const struct plan_repair *r)
{
	if (r->activation == ACTIVATION_REBOOT)
		return "pending: takes effect at the next boot";
	if (r->then_run)
		return arena_printf(arena, "pending: takes effect after this command: sudo %s",
				    r->then_run);
	return r->activation == ACTIVATION_RELOAD
		       ? "pending: takes effect when the module is loaded again"
		       : "pending: takes effect when the service is restarted";
}

static const char *repair_text(struct arena *arena, const struct plan_repair *r,
			       enum repair_result result)
{
	switch (result) {
	case REPAIR_FIXED:
		return "fixed";
	case REPAIR_PENDING:
		return pending_text(arena, r);
	case REPAIR_LEFT:
		return "partly applied; still to do: see below";
	case REPAIR_NOT_FIXED:
		return "not confirmed by the check, so it was undone";
	case REPAIR_ROLLED_BACK:
		return "rolled back";
	case REPAIR_NOT_TRIED:
		break;
	}
	return NULL;
}

static bool same_end(const struct repair_outcome *o, uint32_t a, uint32_t b)
{
	return o->plan->repairs.items[a].finding->rule == o->plan->repairs.items[b].finding->rule &&
	       o->results[a] == o->results[b];
}

/* Counts the equal results before and after INDEX; only the first is shown. */
static void count_alike(const struct repair_outcome *o, uint32_t index, size_t *before,
			size_t *more)
{
	*before = *more = 0;
	for (uint32_t i = 0; i < o->plan->repairs.count; i++)
		if (i != index && same_end(o, i, index))
			*(i < index ? before : more) += 1;
}

static void repairs(const struct page *page, const struct repair_outcome *o)
{
	for (uint32_t i = 0; o->plan && i < o->plan->repairs.count; i++) {
		const struct plan_repair *r = &o->plan->repairs.items[i];
		const char *subject = r->finding->answer.subject;
		const char *text = repair_text(o->arena, r, o->results[i]);
		size_t before, more;

		count_alike(o, i, &before, &more);
		if (!text || before)
			continue;
		page_printf(page, "  %s%s%s", r->finding->rule->id, subject ? " " : "",
			    subject ? subject : "");
		if (more)
			page_printf(page, " and %zu more", more);
		page_printf(page, ": %s\n", text);
	}
}

/* Successful items are only counted, in the repairs above. */
static void items(const struct page *page, const struct repair_outcome *o)
{
	for_each(item, &o->txn->items) {
		bool quiet = o->plan && (item->state == TXN_DONE || item->state == TXN_NOT_REACHED);

		if (quiet && !item->text)
			continue;
		page_printf(page, "  %-11s %s\n", txn_item_words[item->state], item->subject);
		if (item->text)
			text_wrap(page->out, item->text, 14, 0, page->width);
		if (item->output && *item->output)
			text_wrap_lines(page->out, item->output, 14, page->width);
	}
}

enum exit_status render_outcome_text(const struct repair_outcome *o,
				     const struct render_options *options, enum exit_status status)
{
	struct page page;

	page_begin(&page, options->color, options->pager);
	for_each(text, &o->txn->recovered)
		text_wrap(page.out, *text, 0, 0, page.width);
	/* Separates it from the text above: the plan, or what was reverted first. */
	if (o->plan || o->txn->recovered.count)
		putc('\n', page.out);
	page_printf(&page, "%s%s%s%s%s\n", page_style(&page, STYLE_BOLD), result_text(o->txn),
		    o->txn->text ? ": " : "", o->txn->text ? o->txn->text : "",
		    page_style(&page, STYLE_PLAIN));
	repairs(&page, o);
	items(&page, o);
	for_each(note, &o->txn->notes)
		text_wrap(page.out, *note, 2, 0, page.width);
	if (o->txn->result == TXN_APPLIED)
		page_printf(&page, "To undo it, run: nvnodecheck undo %s%s%s\n", o->txn->id,
			    options->root ? " --root " : "",
			    options->root ? shell_quote(o->arena, options->root) : "");
	return page_end(&page, status);
}

/* ---- the list ---- */

static void entry_text(const struct page *page, const struct txn_entry *entry)
{
	time_t seconds = (time_t)entry->time_s;
	char when[32] = "";
	struct tm tm;

	if (seconds && gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%SZ  ", &tm);
	page_printf(page, "%s  %s%s%s%s\n", entry->id, when, txn_record_state_words[entry->status],
		    entry->who ? "  " : "", entry->who ? entry->who : "");
	if (entry->text)
		text_wrap(page->out, entry->text, INDENT, 0, page->width);
	for_each(r, &entry->repairs)
		page_printf(page, "%*s%s%s%s: %s\n", INDENT, "", r->rule, r->subject ? " " : "",
			    r->subject ? r->subject : "", r->what);
	for_each(file, &entry->files)
		page_printf(page, "%*s%s\n", INDENT, "", *file);
}

enum exit_status render_entries_text(const struct txn_entries *entries,
				     const struct render_options *options)
{
	struct page page;

	page_begin(&page, options->color, options->pager);
	for_each(entry, &entries->entries)
		entry_text(&page, entry);
	if (entries->entries.count == 0)
		page_printf(&page, "No repairs were made on this node.\n");
	return page_end(&page, EXIT_WELL);
}
