/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-failures.c - failures that a kernel log reports, gathered by kind, module and device. */
#include "probes/log/log-failures.h"

#include <string.h>

#include "base/utf8.h"
#include "probes/log/log-scan.h"

#define DETAIL_MAX 128

/* A failure with its own memory: a file may have a thousand boots, and only the last one counts. */
struct kept_failure {
	struct kmsg_failure failure;
	char details[LOG_DETAILS_MAX][DETAIL_MAX];
	size_t detail_count;
	char last[LOG_LINE_MAX];
	uint64_t count, first_us, last_us;
};

bool log_failures_parse(struct log_failures *failures, struct span message,
			struct kmsg_failure *out)
{
	return kmsg_failure_parse(&failures->crash, message, out);
}

static void copy_cut(char *to, size_t size, struct span s)
{
	size_t n = s.n < size ? s.n : utf8_cut(s.p, size - 1);

	memcpy(to, s.p, n);
	to[n] = '\0';
}

static void add_detail(struct kept_failure *kept, struct span detail)
{
	char text[DETAIL_MAX];

	if (!detail.n)
		return;
	copy_cut(text, sizeof(text), detail);
	for (size_t i = 0; i < kept->detail_count; i++)
		if (strcmp(kept->details[i], text) == 0)
			return;
	if (kept->detail_count < LOG_DETAILS_MAX)
		memcpy(kept->details[kept->detail_count++], text, sizeof(text));
}

/* Adds details; for kernel arguments each word is one. */
static void add_details(struct kept_failure *kept, const struct kmsg_failure *failure)
{
	struct span rest = failure->detail, word;

	if (failure->kind != FAILURE_KERNEL_PARAMETERS)
		add_detail(kept, failure->detail);
	else
		while (span_word(&rest, &word))
			add_detail(kept, word);
}

static struct kept_failure *kept_of(struct log_failures *failures,
				    const struct kmsg_failure *failure)
{
	struct kept_failure *kept;

	if (!failures->kept)
		failures->kept = arena_alloc(failures->arena,
					     LOG_FAILURES_MAX * sizeof(*failures->kept));
	for (size_t i = 0; i < failures->count; i++) {
		kept = &failures->kept[i];
		if (kept->failure.kind == failure->kind &&
		    strcmp(kept->failure.module, failure->module) == 0 &&
		    strcmp(kept->failure.device, failure->device) == 0)
			return kept;
	}
	if (failures->count == LOG_FAILURES_MAX) {
		failures->full = true;
		return NULL;
	}
	kept = &failures->kept[failures->count++];
	*kept = (struct kept_failure){ .failure = *failure };
	return kept;
}

void log_failures_keep(struct log_failures *failures, const struct kmsg_failure *failure,
		       uint64_t time_us, struct span text)
{
	struct kept_failure *kept = kept_of(failures, failure);

	if (!kept)
		return;
	if (!kept->count++)
		kept->first_us = time_us;
	kept->last_us = time_us;
	if (failure->error)
		kept->failure.error = failure->error;
	add_details(kept, failure);
	copy_cut(kept->last, sizeof(kept->last), text);
}

void log_failures_forget(struct log_failures *failures)
{
	failures->count = 0;
	failures->full = false;
	failures->crash = (struct kmsg_crash){ 0 };
}

/* ---- facts ---- */

static struct fact_str named(struct arena *arena, const char *name)
{
	return *name ? fact_str(arena, name) : FACT_NONE(fact_str);
}

static void add_failure(const struct log_failures *failures, struct log_facts *facts,
			const struct kept_failure *kept)
{
	struct arena *arena = failures->arena;
	const struct kmsg_failure *failure = &kept->failure;
	struct log_failure *fact = LIST_ADD(arena, &facts->failures);

	fact->subject = fact_str(arena, *failure->device   ? failure->device
					: *failure->module ? failure->module
							   : "kernel");
	fact->kind = fact_enum((int)failure->kind);
	fact->module = named(arena, failure->module);
	fact->device = named(arena, failure->device);
	fact->details.state = FACT_KNOWN;
	for (size_t i = 0; i < kept->detail_count; i++)
		*LIST_ADD(arena, &fact->details) = fact_str(arena, kept->details[i]).value;
	fact->error = failure->error ? fact_u64(failure->error) : FACT_NONE(fact_u64);
	fact->count = fact_u64(kept->count);
	fact->last = fact_str(arena, kept->last);
	fact->first_us = log_time_fact(kept->first_us);
	fact->last_us = log_time_fact(kept->last_us);
}

void log_failures_end(const struct log_failures *failures, struct log_facts *facts)
{
	facts->failures.state = FACT_KNOWN;
	for (size_t i = 0; i < failures->count; i++)
		add_failure(failures, facts, &failures->kept[i]);
}
