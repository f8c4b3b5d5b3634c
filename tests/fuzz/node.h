/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node.h - what must be true of a node's facts, wherever they came from, and of what is said of them. */
#ifndef FUZZ_NODE_H
#define FUZZ_NODE_H

#include "fuzz.h"

#include <errno.h>
#include <stdio.h>

#include "advice/steps.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "evaluate/report.h"
#include "facts/facts.h"
#include "fixes/plan-make.h"
#include "render/render.h"
#include "render/topo.h"

/* Facts written as JSON and read are the same facts. */
static inline void node_check_json(struct arena *arena, const struct node *node)
{
	_cleanup_json_ struct json_object *json = fact_to_json(&node_desc, node), *again = NULL;
	struct node *copy = arena_alloc(arena, sizeof(*copy));
	struct fact_error error;

	assert(fact_from_json(&node_desc, copy, span_of(json_object_to_json_string(json)), arena,
			      false, &error) == 0);
	again = fact_to_json(&node_desc, copy);
	assert(json_object_equal(json, again));
}

/* Has no item a name with a bracket in it, by which its path could be read in two ways? */
static inline bool node_path_is_plain(const char *path)
{
	for (; *path; path++) {
		if (*path == ']')
			return false;
		if (*path != '[')
			continue;
		path += 1 + strcspn(path + 1, "[]");
		if (*path != ']' || (path[1] && path[1] != '.'))
			return false;
	}
	return true;
}

/* Every rule answers, and its evidence is facts that there can be. */
static inline void node_check_report(struct arena *arena, const struct report *report)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);
	const struct finding *at = report->findings.items;
	const struct finding *end = at + report->findings.count;
	struct fact_ref ref;

	for (size_t i = 0; i < count; i++) {
		assert(at < end && at->rule == rules[i]);
		for (; at < end && at->rule == rules[i]; at++)
			for (int k = 0; k < EVIDENCE_MAX && at->answer.evidence[k]; k++)
				assert(!node_path_is_plain(at->answer.evidence[k]) ||
				       fact_find(&node_desc, report->node, at->answer.evidence[k],
						 arena, &ref) != -EINVAL);
	}
	assert(at == end);
}

static inline void node_render(struct arena *arena, const struct report *report, uint8_t how)
{
	const struct steps_request asked = { .profiles = PROFILE_BASE };
	const struct render_options options = { .color = COLOR_NEVER,
						.all = how & 0x80,
						.steps = steps_find(report, &asked) };
	const struct plan_request request = { .report = report, .context = report, .all = true };
	struct topo topo;

	topo_make(&topo, report->node, arena);
	switch (how % 8) {
	case 0:
		render_report_text(report, &options, EXIT_WELL);
		break;
	case 1:
		render_report_json(report, options.steps, EXIT_WELL);
		break;
	case 2:
		render_report_prometheus(report, EXIT_WELL);
		break;
	case 3:
		render_report_nagios(report, EXIT_WELL);
		render_report_npd(report, EXIT_WELL);
		break;
	case 4:
		render_plan_text(plan_make(&request), report, &options, EXIT_WELL);
		break;
	case 5:
		render_plan_json(plan_make(&request), report, EXIT_WELL);
		break;
	case 6:
		render_topo_text(&topo, &options);
		break;
	default:
		render_topo_svg(&topo);
		render_topo_json(&topo);
	}
}

/* Evaluates the rules on the facts in every profile; what is written goes nowhere. */
static inline void node_evaluate(struct arena *arena, struct node *node, uint8_t how)
{
	struct settings settings;
	struct report *report;

	if (fileno(stdout) >= 0)
		assert(freopen("/dev/null", "w", stdout));
	settings_init(&settings);
	settings.profiles = PROFILE_BASE | PROFILE_P2P | PROFILE_GPUDIRECT | PROFILE_DEEPEP;
	fact_close_holes(&node_desc, node);
	report = report_make(node, &settings, arena);
	node_check_report(arena, report);
	node_render(arena, report, how);
}

#endif
