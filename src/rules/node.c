/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node.c - the node as a whole: the administrator's expectations, and parts that do not answer (rules node/...). */
#include <inttypes.h>

#include "base/span.h"
#include "evaluate/rule.h"
#include "evaluate/settings.h"

/* ---- [expect] ---- */

struct expected {
	struct rule_context *ctx;
	const struct expectation *e;
	struct expect_look look;
};

static void report_difference(struct expected *x, const char *subject, const char *seen,
			      const char *fact)
{
	FAIL(x->ctx,
	     .subject = subject ? text_printf(x->ctx, "%s %s", x->e->key, subject) : x->e->key,
	     .observed = seen, .expected = text_printf(x->ctx, "%s (%s)", x->e->value, x->e->file),
	     .evidence = { fact });
}

static bool check_one(struct expected *x, const struct expect_seen *seen)
{
	if (seen->state == FACT_UNKNOWN)
		UNKNOWN(x->ctx,
			.subject = seen->subject
					   ? text_printf(x->ctx, "%s %s", x->e->key, seen->subject)
					   : x->e->key,
			.evidence = { seen->fact });
	else if (seen->state == FACT_ABSENT)
		report_difference(x, seen->subject, "missing", seen->fact);
	else if (!expect_fits(x->e->row, seen->value, x->e->value, NULL))
		report_difference(x, seen->subject, seen->value, seen->fact);
	else
		return true;
	return false;
}

/* "8 x 400, 2 x 100": all match; now the numbers of each. */
static bool check_count(struct expected *x, size_t which)
{
	uint64_t wanted, count = 0;
	size_t fits;

	if (!expect_count(x->e->value, which, &wanted))
		return true;
	for_each(seen, &x->look.seen)
		count += expect_fits(x->e->row, seen->value, x->e->value, &fits) && fits == which;
	if (count == wanted)
		return true;
	report_difference(x, NULL,
			  text_printf(x->ctx, "%" PRIu64 " of %" PRIu64 " match", count, wanted),
			  x->e->row->reads);
	return false;
}

static void check_key(struct expected *x)
{
	size_t right = 0, alternatives = 1;

	expect_read_value(x->e->row, x->e->argument, x->ctx->node, x->ctx->arena, &x->look);
	if (!x->look.seen.count) {
		report_difference(x, NULL, x->look.none ? x->look.none : "nothing",
				  x->e->row->reads);
		return;
	}
	for_each(seen, &x->look.seen)
		right += check_one(x, seen);
	if (right < x->look.seen.count)
		return;
	for (const char *p = x->e->value; *p; p++)
		alternatives += *p == ',';
	for (size_t i = 0; i < alternatives; i++)
		if (!check_count(x, i))
			return;
	PASS(x->ctx, .subject = x->e->key,
	     .evidence = { x->look.seen.count == 1 ? x->look.seen.items[0].fact
						   : x->e->row->reads });
}

static void check_expectation(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	for_each(e, &ctx->settings->expect) {
		struct expected x = { .ctx = ctx, .e = e };

		if (settings_expect(ctx->settings, e->key) == e)
			check_key(&x);
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "the configuration has no [expect] section");
}

/* ---- probes ---- */

/* The probe crashed or a library ended it: the node need not be at fault. */
static void fail_ended(struct rule_context *ctx, const char *probe)
{
	FAIL(ctx, .subject = probe, .observed = "the program that reads it ended early",
	     .expected = "an answer", .impact = "What this part of the node would show is unknown.",
	     .remedy =
		     "Run nvnodecheck again. If it ends early again, look for its name in the kernel "
		     "log, and report the defect.",
	     .action = ACTION_CONFIGURE,
	     .evidence = { fact_path(ctx->arena, "probes", probe, "state") });
}

/* Users and sites mount these: a server can be down on a node without a fault. */
static bool is_of_users(struct fact_str path)
{
	static const char *const folders[] = { "/home/", "/root/", "/opt/", "/usr/local/" };

	if (!is_known(path))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (starts_with(path.value, folders[i]))
			return true;
	return false;
}

static void fail_file_system(struct rule_context *ctx, const struct probe_result *p)
{
	FAIL_AS(ctx, SEVERITY_WARN, .subject = p->name.value,
		.title = "Checks could not run: a file system does not answer",
		.observed = text_printf(ctx, "no answer from %s", p->stuck_at.value),
		.expected = "an answer within the probe's deadline",
		.impact = "Programs that open this file hang too.",
		.remedy =
			"Check the mount of the file: its server, or the program that provides it.",
		.action = ACTION_CONFIGURE,
		.evidence = { fact_path(ctx->arena, "probes", p->name.value, "stuck_at") });
}

static void check_timed_out(struct rule_context *ctx)
{
	size_t bad = 0;

	for_each(p, &ctx->node->probes) {
		bool timed_out = known_is(p->state, PROBE_TIMED_OUT);

		if (!timed_out && !known_is(p->state, PROBE_FAILED))
			continue;
		bad++;
		if (!timed_out)
			fail_ended(ctx, p->name.value);
		else if (is_of_users(p->stuck_at))
			fail_file_system(ctx, p);
		else
			FAIL(ctx, .subject = p->name.value,
			     .observed = is_known(p->stuck_at)
						 ? text_printf(ctx, "no answer from %s",
							       p->stuck_at.value)
						 : "no answer in time",
			     .expected = "an answer within the probe's deadline",
			     .evidence = {
				     fact_path(ctx->arena, "probes", p->name.value, "state") });
	}
	if (!bad)
		PASS(ctx, .evidence = { "probes" });
}

static const struct rule node_rules[] = {
	{
		.id = "node/expectation",
		.title = "The node differs from what its configuration expects",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_expectation,
		.needs_running = true,
		.impact =
			"A part is missing, was replaced, or has another version than on other nodes.",
		.remedy = "Repair the node, or correct the [expect] section.",
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_NONE,
		.reads = "Every key of the [expect] section and the node's facts.",
		.why = "If one of eight GPUs falls off the bus, the other seven work. Only an expectation "
		       "shows the loss. Keys about devices are not met if the node has no such device. A key"
		       " is unknown if its fact could not be read, or if only a loaded driver has it.",
		.check = "nvnodecheck expect",
		.sources = "nvnodecheck.conf(5) of this release: section [expect]",
	},
	{
		.id = "node/probe-timed-out",
		.title = "A part of this node could not be read: a GPU or driver may be stuck",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_timed_out,
		.impact = "A read that hangs here also hangs jobs: a GPU or driver is stuck.",
		.remedy =
			"Check the named file and the kernel log. A process that is stuck in the kernel ends "
			"only with a reboot.",
		.action = ACTION_REBOOT,
		.reads = "The state of each probe, and the file that it read last.",
		.why = "Every probe has a deadline (2 s; the initramfs 20 s; NVML 30 s, in preflight 3 s). A probe "
		       "that exceeds it or crashes leaves its section unknown. If it waited for a file in /home, /root, /opt or "
		       "/usr/local, the finding is a warning: the server of a mount can be down on a node without a fault.",
		.check = "timeout 2 cat FILE",
		.sources =
			"nvnodecheck of this release: src/probes/probe.h (PROBE_DEADLINE_MS), initramfs.c, nvml.c; nvnodecheck(8), option --timeout",
	},
};

RULE_TABLE(node);
