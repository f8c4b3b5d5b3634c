/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl-named.c - whether what sysctl.d sets is in effect (rules sysctl/...). */
#include <string.h>

#include "evaluate/references.h"
#include "evaluate/skip.h"

/* The last of several lines about one setting decides; /etc/sysctl.conf is read last. */
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

static const char *effect(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_INTERFACE))
		return text_printf(
			ctx,
			"The settings for %s have no effect. The renamed interface has the kernel's "
			"defaults.",
			r->name.value);
	return "The setting changes at the next boot.";
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_INTERFACE))
		return text_printf(
			ctx,
			"Replace %s with the interface's present name (ip link), then run sysctl "
			"--system.",
			r->name.value);
	return "Correct the file, or run sysctl --system, which sets the values of the files.";
}

static void check_settings(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_SYSCTL,
		.none = "sysctl.d sets nothing that is read here",
		.expected = "existing interfaces, and values in effect",
		.counts = counts,
		.grade = grade,
		.remedy = remedy,
		.impact = effect,
	};

	if (!skip_in_container(ctx))
		references_check(ctx, &check);
}

static const struct rule sysctl_named_rules[] = {
	{
		.id = "sysctl/configured-not-live",
		.title = "A kernel setting has no effect: the file in sysctl.d is not applied",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_settings,
		.impact = "The kernel runs with other settings than the files have.",
		.remedy = "Correct the file, then run sysctl --system.",
		.activation = ACTIVATION_NOW,
		.reads =
			"sysctl.d and /etc/sysctl.conf: settings of network interfaces and those of os.sysctls. The interfaces and "
			"/proc/sys.",
		.why = "A new kernel or firmware renames interfaces. systemd-sysctl skips settings for the old name and logs it. "
		       "Another value than the file's is a note: an administrator can have set it since. The vendors' files, "
		       "and eth0 in images, are notes too.",
		.check = "systemctl status systemd-sysctl; sysctl --system; ip -br link",
		.sources = "systemd 252: sysctl.d(5)\nprocps 4.0.2: sysctl.conf(5)",
	},
};

RULE_TABLE(sysctl_named);
