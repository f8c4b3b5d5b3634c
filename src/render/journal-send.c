/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal-send.c - findings as entries of the journal, with fields to select by; nvnodecheck(8) lists them. */
#include "render/journal-send.h"

#include <string.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "base/escape.h"
#include "base/library.h"
#include "base/version.h"
#include "render/render.h"

/* Permanent (journalctl MESSAGE_ID=): a finding, and the end of a run. */
#define MESSAGE_FINDING "5b9d1f3f0c5e4c0f9a0e7a1d3a6c2e41"
#define MESSAGE_RUN "c1f0a7be2d6c4b53a2f6c6d1b7a90e52"
#define FIELDS_MAX 16

struct entry {
	struct arena *arena;
	struct iovec fields[FIELDS_MAX];
	int count;
};

static void add(struct entry *e, const char *name, const char *value)
{
	char *text;

	if (!value || e->count == FIELDS_MAX)
		return;
	/* Fields are shown as lines. */
	text = arena_printf(e->arena, "%s=%s", name, escape_string(e->arena, SINK_TERMINAL, value));
	e->fields[e->count++] = (struct iovec){ text, strlen(text) };
}

static int priority(const struct finding *f)
{
	static const int priorities[] = {
		[SEVERITY_INFO] = LOG_INFO,
		[SEVERITY_WARN] = LOG_WARNING,
		[SEVERITY_ERR] = LOG_ERR,
		[SEVERITY_CRIT] = LOG_CRIT,
	};

	return f->answer.verdict == VERDICT_UNKNOWN ? LOG_NOTICE : priorities[f->severity];
}

static void describe(struct entry *e, const struct report *r, const struct finding *f)
{
	add(e, "MESSAGE", render_reason(r, f));
	add(e, "MESSAGE_ID", MESSAGE_FINDING);
	add(e, "PRIORITY", arena_printf(r->arena, "%d", priority(f)));
	add(e, "NVNODECHECK_RULE", f->rule->id);
	add(e, "NVNODECHECK_VERDICT", verdict_words[f->answer.verdict]);
	add(e, "NVNODECHECK_SEVERITY", severity_words[f->severity]);
	add(e, "NVNODECHECK_SUBJECT", render_subjects(r, f));
	add(e, "NVNODECHECK_OBSERVED", f->answer.observed);
	add(e, "NVNODECHECK_EXPECTED", f->answer.expected);
	add(e, "NVNODECHECK_REMEDY", finding_remedy(f));
}

static void describe_run(struct entry *e, const struct report *r, enum exit_status status)
{
	add(e, "MESSAGE",
	    arena_printf(r->arena, "%zu failed, %zu pending, %zu unknown, %zu passed",
			 r->count[VERDICT_FAIL], r->count[VERDICT_PENDING],
			 r->count[VERDICT_UNKNOWN], r->count[VERDICT_PASS]));
	add(e, "MESSAGE_ID", MESSAGE_RUN);
	add(e, "PRIORITY", arena_printf(r->arena, "%d", status ? LOG_WARNING : LOG_INFO));
	add(e, "NVNODECHECK_EXIT_STATUS", arena_printf(r->arena, "%d", status));
	add(e, "NVNODECHECK_VERDICT", verdict_words[r->verdict]);
	add(e, "NVNODECHECK_VERSION", NVNODECHECK_VERSION);
}

int journal_send(const struct report *r, enum exit_status status)
{
	typeof(&sd_journal_sendv) send;
	const struct library_symbol symbol = { &send, "sd_journal_sendv", NULL, 0 };
	int rc = library_load(LIBSYSTEMD, &symbol, 1);

	if (rc)
		return rc;
	for (const struct finding *f = render_next(r, NULL); f && rc == 0; f = render_next(r, f)) {
		struct entry e = { .arena = r->arena };

		add(&e, "SYSLOG_IDENTIFIER", "nvnodecheck");
		describe(&e, r, f);
		rc = send(e.fields, e.count);
	}
	if (rc == 0) {
		struct entry e = { .arena = r->arena };

		add(&e, "SYSLOG_IDENTIFIER", "nvnodecheck");
		describe_run(&e, r, status);
		rc = send(e.fields, e.count);
	}
	return rc;
}
