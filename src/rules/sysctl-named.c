/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl-named.c - whether what sysctl.d sets is in effect (rules sysctl/...). */
#include <string.h>

#include "evaluate/references.h"

/* Of several lines about one setting the last one counts; /etc/sysctl.conf comes last. */
static bool counts(const struct node *node, const struct reference *r)
{
	const struct reference *later = r;

	if (!known_is(r->kind, REFERENCE_SETTING))
		return true;
	while ((later = reference_next(node, REFERENCE_SYSCTL, NULL, later)))
		if (str_is(later->name, r->name.value))
			return false;
	return true;
}

static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)ctx;
	(void)state;
	return known_is(r->kind, REFERENCE_INTERFACE) && str_starts(r->file, "/etc/") &&
			       !str_is(r->name, "eth0")
		       ? SEVERITY_WARN
		       : SEVERITY_INFO;
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_INTERFACE))
		return text_printf(
			ctx,
			"What is set for %s has no effect; the interface that is meant has the "
			"kernel's defaults.",
			r->name.value);
	return "The setting is lost, or will change at the next boot.";
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_INTERFACE))
		return text_printf(
			ctx,
			"Write the interface's name of now (ip link) in place of %s, then sysctl "
			"--system.",
			r->name.value);
	return "sysctl --system sets what the files say; else correct the file.";
}

static void check_settings(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_SYSCTL,
		.none = "sysctl.d has nothing about interfaces or what is read of the kernel's settings",
		.expected = "interfaces that are there, and values that are in effect",
		.counts = counts,
		.grade = grade,
		.remedy = remedy,
		.impact = what_breaks,
	};

	if (is_known(ctx->node->os.container))
		NOT_APPLICABLE(ctx, .observed = "inside a container",
			       .evidence = { "os.container" });
	else
		references_check(ctx, &check);
}

static const struct rule sysctl_named_rules[] = {
	{
		.id = "sysctl/configured-not-live",
		.title = "What sysctl.d sets is not in effect",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_settings,
		.impact = "The kernel has other settings than the files say.",
		.remedy = "Correct the file, then sysctl --system.",
		.activation = ACTIVATION_NOW,
		.reads =
			"sysctl.d and /etc/sysctl.conf: settings of one network interface, and those of "
			"os.sysctls; the interfaces and /proc/sys.",
		.why = "Interfaces are renamed by a new kernel or firmware, and what is set for the old name is "
		       "passed over with a line in the log. Another value than the file's is a note: somebody "
		       "may have set it since, for a trial. The vendors' files, and eth0, which images bring "
		       "along, are notes too.",
		.check = "systemctl status systemd-sysctl; sysctl --system; ip -br link",
		.sources = "sysctl.d(5), sysctl.conf(5)",
	},
};

RULE_TABLE(sysctl_named);
