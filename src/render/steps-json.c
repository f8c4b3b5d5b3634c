/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps-json.c - the steps of a report as an array, in the order in which they are done. */
#include <string.h>

#include "base/json.h"
#include "render/render.h"
#include "render/step-words.h"

static struct json_object *subjects_json(const struct problem *p)
{
	struct json_object *array = json_object_new_array();

	for_each(member, &p->members) {
		const char *subject = (*member)->answer.subject;

		if (subject)
			json_object_array_add(array, json_text(subject, strlen(subject)));
	}
	return array;
}

static struct json_object *instructions_json(const struct steps *steps, const struct problem *p)
{
	struct json_object *array = json_object_new_array();
	struct text_lines lines = render_instructions(steps, p);

	for_each(line, &lines)
		json_object_array_add(array, json_text(*line, strlen(*line)));
	return array;
}

static struct json_object *problem_json(const struct steps *steps, const struct step *step,
					const struct problem *p)
{
	struct json_object *json = json_object_new_object();
	bool by_fix = step->kind == STEP_FIX;

	json_put_string(json, "rule", p->first->rule->id);
	json_put_string(json, "severity", severity_words[p->severity]);
	json_put(json, "subjects", subjects_json(p));
	json_put(json, "instructions", instructions_json(steps, p));
	json_put_string(json, "command", by_fix ? NULL : steps_command_of(steps, p));
	json_put_string(json, "activation", activation_words[steps_activation(steps, p)]);
	json_put_string(json, "refused", steps_refused(steps, p));
	return json;
}

static struct json_object *step_json(const struct steps *steps, const struct step *step)
{
	struct json_object *json = json_object_new_object();
	struct json_object *problems = json_object_new_array();
	bool by_fix = step->kind == STEP_FIX;

	for_each(p, &step->problems)
		json_object_array_add(problems, problem_json(steps, step, *p));
	/* Devices that can need more than the power cycle. */
	for_each(p, &step->if_unsolved)
		json_object_array_add(problems, problem_json(steps, step, *p));
	json_put_string(json, "kind", step_kind_words[step->kind]);
	json_put_string(json, "who", step_actor_words[step_actor(step->kind)]);
	json_put_string(json, "title",
			by_fix ? steps_fix_text(steps, step) : steps_title(steps, step));
	json_put_string(json, "command", steps_command(steps, step));
	json_put_string(json, "restart",
			step->kind == STEP_RESTART ? activation_words[steps->restart]
			: step->kind == STEP_POWER ? activation_words[ACTIVATION_POWER_CYCLE]
						   : NULL);
	json_put(json, "problems", problems);
	return json;
}

struct json_object *render_steps(const struct steps *steps)
{
	struct json_object *array = json_object_new_array();

	for_each(step, &steps->items)
		json_object_array_add(array, step_json(steps, step));
	return array;
}
