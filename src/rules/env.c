/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env.c - the environment of the process that was asked about. */
#include <string.h>

#include "gate.h"
#include "parse/span.h"

static const char *const nvshmem_names[] = {
#include "nvshmem-variables.inc"
	NULL,
};

/* Names that say where NVSHMEM is or how it was built; its libraries do not read them. */
static bool is_for_builds(const char *name)
{
	static const char *const endings[] = { "HOME", "PREFIX", "DIR", "_SUPPORT", "_PATH" };
	struct span s = span_of(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (span_ends(s, endings[i]))
			return true;
	return false;
}

static bool is_nvshmem_name(const char *name)
{
	if (is_for_builds(name))
		return true;
	for (size_t i = 0; nvshmem_names[i]; i++)
		if (strcmp(nvshmem_names[i], name) == 0)
			return true;
	return false;
}

/* The known name that NAME ends in: IBGDA_QP_DEPTH was meant as QP_DEPTH. */
static const char *nearest(const char *name)
{
	for (size_t i = 0; nvshmem_names[i]; i++) {
		size_t n = strlen(nvshmem_names[i]), m = strlen(name);

		if (m > n && strcmp(name + m - n, nvshmem_names[i]) == 0)
			return nvshmem_names[i];
	}
	return NULL;
}

static void judge_unknown_variable(struct judge *j)
{
	size_t right = 0, before = j->findings->count;

	if (!is_told(j->node->env.variables)) {
		UNKNOWN(j, .evidence = { "env.variables" });
		return;
	}
	for_each(v, &j->node->env.variables) {
		const char *name = v->name.value;

		if (!span_starts(span_of(name), "NVSHMEM_"))
			continue;
		if (is_nvshmem_name(name + strlen("NVSHMEM_"))) {
			right++;
			continue;
		}
		FAIL(j, .subject = name, .observed = "NVSHMEM has no such variable",
		     .expected = nearest(name + strlen("NVSHMEM_"))
					 ? say(j, "NVSHMEM_%s", nearest(name + strlen("NVSHMEM_")))
					 : "a name that nvshmem-info -a lists",
		     .evidence = { say(j, "env.variables[%s].value", name) });
	}
	if (j->findings->count > before)
		return;
	if (right)
		PASS(j, .evidence = { "env.variables" });
	else
		NOT_APPLICABLE(j, .observed = "no NVSHMEM variable is set",
			       .evidence = { "env.variables" });
}

static const struct rule env_rules[] = {
	{
		.id = "env/nvshmem-unknown-variable",
		.title = "An NVSHMEM variable is set that NVSHMEM does not have",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_unknown_variable,
		.impact = "The setting does nothing.",
		.remedy = "Correct the name: NVSHMEM_IBGDA_QP_DEPTH, for one, is NVSHMEM_QP_DEPTH.",
		.activation = ACTIVATION_NOW,
		.reads = "NVSHMEM_ variables of --pid, or of this process.",
		.why = "NVSHMEM ignores names that it does not know. The list is that of NVSHMEM 3.5 and the "
		       "releases before; a later release may have more.",
		.check = "nvshmem-info -a",
		.sources = "NVSHMEM: src/modules/transport/common/env_defs.h",
	},
};

RULE_TABLE(env);
