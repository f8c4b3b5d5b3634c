/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-host.c - lines of the kernel log about the node itself: its tables, memory, disks and processors (rule
 * log/host-trouble). */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"

/* data/host-messages.tsv; rows of one pattern follow each other and have one meaning. */
static const struct message {
	const char *pattern;
	bool warns;
	const char *meaning, *remedy;
} messages[] = {
#define HOST_MESSAGE(name, start, text, warns, meaning, remedy) { name, warns, meaning, remedy },
#include "host-messages.inc"
#undef HOST_MESSAGE
};
#define MESSAGES (ARRAY_SIZE(messages))

static void report(struct rule_context *ctx, const struct message *m, const struct log_line *line)
{
	const char *fact = fact_path(ctx->arena, "log.lines", m->pattern, "last");
	const char *observed = line->count.value > 1
				       ? text_printf(ctx, "%s (%" PRIu64 " such lines): %s",
						     m->meaning, line->count.value,
						     line->last.value)
				       : text_printf(ctx, "%s: %s", m->meaning, line->last.value);

	if (m->warns)
		FAIL(ctx, .subject = m->pattern,
		     .title = text_printf(ctx, "Jobs can fail: %c%s",
					  tolower((unsigned char)*m->meaning), m->meaning + 1),
		     .observed = observed, .remedy = m->remedy, .evidence = { fact });
	else
		NOTE(ctx, .subject = m->pattern, .observed = observed, .remedy = m->remedy,
		     .evidence = { fact });
}

static void check_host(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for (size_t i = 0; i < MESSAGES; i++) {
		const struct log_line *line = node_log(ctx->node, messages[i].pattern);

		if (line && !rule_has_answered(ctx, messages[i].pattern))
			report(ctx, &messages[i], line);
	}
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

static const struct rule log_host_rules[] = {
	{
		.id = "log/host-trouble",
		.title = "Jobs can fail or hang: the kernel reports trouble of the node itself",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_host,
		.impact =
			"Connections, files, memory or processors of the node do not work as jobs need them.",
		.remedy = "Read the line and its neighbours in the kernel log.",
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_NOW,
		.reads =
			"Lines of the kernel log since the boot, from the table data/host-messages.tsv.",
		.why = "Such a fault shows in a job as a timeout, a hang or a slow rank, with no word about its cause. What can be "
		       "over, or be the work of one job, is a note: a file server that did not answer, a full queue of "
		       "connections.",
		.check = "dmesg -T --level=emerg,alert,crit,err,warn",
		.sources =
			"Linux 6.1.192 and 6.12.117: net/netfilter/nf_conntrack_core.c, net/core/neighbour.c, net/sched/sch_generic.c, "
			"kernel/watchdog.c, kernel/hung_task.c, mm/memory-failure.c\n"
			"data/host-messages.tsv names the source of each line",
	},
};

RULE_TABLE(log_host);
