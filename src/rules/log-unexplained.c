/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-unexplained.c - errors of drivers in the kernel log that nothing else here explains. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"

#define SHOWN_MAX 5 /* of them; the facts have the others */

/* data/kernel-messages.tsv */
static const struct harmless {
	const char *driver, *text;
} harmless[] = {
#include "kernel-messages.inc"
};

static bool is_harmless(const struct log_message *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (str_is(m->driver, harmless[i].driver) &&
		    strstr(m->text.value, harmless[i].text))
			return true;
	return false;
}

static const char *add_message(struct rule_context *ctx, const char *list,
			       const struct log_message *m)
{
	const char *times = m->count.value == 1
				    ? ""
				    : text_printf(ctx, " (%" PRIu64 " times)", m->count.value);

	return text_printf(ctx, "%s%s%.200s%s", list, *list ? "; " : "", m->text.value, times);
}

static void check_unexplained(struct rule_context *ctx)
{
	const char *list = "";
	size_t count = 0;

	if (!was_read(ctx->node->log.unexplained)) {
		UNKNOWN(ctx, .observed = "this kernel log has no severity levels",
			.evidence = { "log.unexplained" });
		return;
	}
	for_each(m, &ctx->node->log.unexplained)
		if (!is_harmless(m) && count++ < SHOWN_MAX)
			list = add_message(ctx, list, m);
	if (!count) {
		pass_if_log_whole(ctx);
		return;
	}
	if (count > SHOWN_MAX)
		list = text_printf(ctx, "%s; and %zu more (nvnodecheck facts log.unexplained)",
				   list, count - SHOWN_MAX);
	NOTE(ctx, .observed = list, .expected = "no such errors, or a known reason",
	     .evidence = { "log.unexplained" });
}

static const struct rule log_unexplained_rules[] = {
	{
		.id = "log/unexplained",
		.title = "Drivers wrote errors to the kernel log that nothing here explains",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_unexplained,
		.impact = "Not known: no rule of this program is about these messages.",
		.remedy =
			"Read the lines around them in the kernel log; the driver's maker or its sources say "
			"what they mean.",
		.reads =
			"Messages of level err and above in the kernel log that GPU, NIC, PCIe and IOMMU drivers "
			"wrote. In a log without levels, those whose words tell of a failure.",
		.why = "What the program does not understand it shows. Messages that differ in numbers alone are "
		       "listed once. Messages that are known to mean no fault are left out.",
		.check = "dmesg --level=emerg,alert,crit,err",
		.sources = "Linux 6.12.117: Documentation/ABI/testing/dev-kmsg\n"
			   "open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/os-interface.c "
			   "(nv_printf)",
	},
};

RULE_TABLE(log_unexplained);
