/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl-namespaces.c - whether ordinary users can start containers of enroot or podman (rule sysctl/...). */
#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "evaluate/skip.h"

/* enroot: doc/requirements.md. */
static const struct need {
	const char *name;
	bool at_least; /* it has to be greater than VALUE; else it may be anything but VALUE */
	uint64_t value;
	const char *expected, *set;
	bool apparmor; /* a profile for the program overrides it */
} needs[] = {
	{ "kernel.apparmor_restrict_unprivileged_userns", false, 1, "0, or an AppArmor profile",
	  "0", true },
	{ "kernel.unprivileged_userns_clone", false, 0, "1", "1", false },
	{ "user.max_user_namespaces", true, 1, "more than 1", "65536", false },
};

/* Podman is mostly started by root, who needs none of this. */
static const struct engine {
	const char *software;
	enum severity severity;
} engines[] = { { "enroot", SEVERITY_ERR }, { "podman", SEVERITY_INFO } };

static const struct engine *find_engine(const struct node *node)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		for_each(item, &node->software.items)
			if (str_is(item->name, engines[i].software))
				return &engines[i];
	return NULL;
}

static bool has_profile(const struct node *node, const char *software)
{
	for_each(name, &node->os.apparmor_profiles)
		if (strstr(*name, software))
			return true;
	return false;
}

/* False where the setting is not as it has to be. */
static bool is_met(const struct need *need, uint64_t value)
{
	return need->at_least ? value > need->value : value != need->value;
}

static void check_one(struct rule_context *ctx, const struct engine *engine,
		      const struct need *need)
{
	const struct sysctl *sysctl = LIST_FIND(&ctx->node->os.sysctls, need->name);
	const char *fact = fact_path(ctx->arena, "os.sysctls", need->name, "value");
	uint64_t value;

	/* Kernels of other distributions do not have all of them. */
	if (sysctl && is_absent(sysctl->value))
		return;
	if (!sysctl || is_unknown(sysctl->value) ||
	    span_u64(span_of(sysctl->value.value), 10, &value)) {
		UNKNOWN(ctx, .subject = need->name, .evidence = { fact });
		return;
	}
	if (is_met(need, value) || (need->apparmor && has_profile(ctx->node, engine->software)))
		return;
	if (need->apparmor && is_unknown(ctx->node->os.apparmor_profiles)) {
		UNKNOWN(ctx, .subject = need->name, .evidence = { "os.apparmor_profiles" });
		return;
	}
	FAIL_AS(ctx, engine->severity, .subject = need->name,
		.observed = text_printf(ctx, "%s, and %s is installed", sysctl->value.value,
					engine->software),
		.expected = need->expected,
		.remedy =
			need->apparmor
				? text_printf(
					  ctx,
					  "Install the AppArmor profile of %s in /etc/apparmor.d and "
					  "run systemctl reload apparmor.",
					  engine->software)
				: text_printf(ctx,
					      "Run sysctl -w %s=%s, and set it in /etc/sysctl.d.",
					      need->name, need->set),
		.evidence = { fact, "software.items" });
}

static void check_namespaces(struct rule_context *ctx)
{
	const struct engine *engine = find_engine(ctx->node);
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx) || (!engine && skip_unless_software_whole(ctx)))
		return;
	if (!engine) {
		NOT_APPLICABLE(ctx, .observed = "neither enroot nor podman is installed",
			       .evidence = { "software.items" });
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		check_one(ctx, engine, &needs[i]);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "os.sysctls", "software.items" });
}

static const struct rule sysctl_namespaces_rules[] = {
	{
		.id = "sysctl/user-namespaces-off",
		.title =
			"Containers of ordinary users do not start: user namespaces are restricted",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_namespaces,
		.impact =
			"enroot and pyxis fail for every user except root: \"Permission denied\", \"No space left on device\" "
			"or \"Operation not permitted\" from enroot-nsenter or unshare.",
		.remedy = "Allow user namespaces for this container engine.",
		.activation = ACTIVATION_NOW,
		.reads =
			"kernel.unprivileged_userns_clone, user.max_user_namespaces, "
			"kernel.apparmor_restrict_unprivileged_userns, the names in /etc/apparmor.d, and enroot and podman on "
			"disk.",
		.why = "Hardening guides switch user namespaces off. Debian's kernels have the first setting, and Ubuntu's from "
		       "23.10 on the third. enroot's Debian package brings an AppArmor profile, which overrides the third. "
		       "For podman this is a note: root can start its containers.",
		.check =
			"sysctl user.max_user_namespaces; sysctl -a | grep userns; ls /etc/apparmor.d; unshare -U true",
		.cost = "User namespaces let every user reach parts of the kernel that have had security defects.",
		.is_risk = true,
		.sources =
			"github.com/NVIDIA/enroot 8ea147d (April 2026): doc/requirements.md, conf/apparmor.profile\n"
			"Linux 6.1.192: Documentation/admin-guide/sysctl/user.rst; Linux 6.12.117 of Debian: kernel/fork.c "
			"(unprivileged_userns_clone)\n"
			"github.com/sylabs/singularity issue 2275 (2023-10: Ubuntu 23.10 has it switched off)",
	},
};

RULE_TABLE(sysctl_namespaces);
