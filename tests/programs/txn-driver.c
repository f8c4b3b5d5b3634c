/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-driver.c - carries out plans that a test wrote down, without rules and findings. Not
 * installed.
 *
 *     txn-driver ROOT apply PLAN [--no-regenerate] [--allow-writable-parents] [--fail-verify] [--wait N]
 *                                [--plan-of ROOT]
 *     txn-driver ROOT undo [ID]
 *     txn-driver ROOT recover
 *     txn-driver ROOT list
 *
 * ROOT "/" is this host. PLAN is JSON: { "id", "refused", "files": [ { "path", "before", "after",
 * "mode" } ], "steps": [ { "kind", "subject", "path", "tool", "argv", "must_hold" } ] }; without
 * "before" the file's content at this moment is taken. Prints the outcome as JSON.
 *
 * NVNODECHECK_TEST_CRASH_AT=N ends the process with SIGKILL at the Nth point where something is
 * about to change, NVNODECHECK_TEST_COUNT=1 prints their number, NVNODECHECK_TEST_STOP_AT=N stops
 * there until SIGCONT. NVNODECHECK_TEST_POINT=WORDS counts only the points that are called that.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "host/host.h"
#include "host/root.h"
#include "txn/txn.h"

#define READ_MAX (64u << 20)

static unsigned int points, crash_at, stop_at;
static const char *only;

static void point(const char *what)
{
	if (only && strcmp(only, what) != 0)
		return;
	points++;
	if (points == stop_at)
		raise(SIGSTOP);
	if (points != crash_at)
		return;
	fprintf(stderr, "point %u: %s\n", points, what);
	raise(SIGKILL);
}

static unsigned int from_environment(const char *name)
{
	const char *value = getenv(name);

	return value ? (unsigned int)strtoul(value, NULL, 10) : 0;
}

static void die(const char *what)
{
	fprintf(stderr, "txn-driver: %s\n", what);
	exit(2);
}

/* ---- the plan ---- */

static struct text read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct text text = { 0 };

	if (!file)
		return text;
	text.data = malloc(READ_MAX);
	text.size = text.data ? fread(text.data, 1, READ_MAX - 1, file) : 0;
	text.data[text.size] = '\0';
	fclose(file);
	return text;
}

static const char *copy(struct arena *arena, struct json_object *json, const char *key)
{
	const char *s = json_string(json, key);

	return s ? arena_strdup(arena, s) : NULL;
}

static struct span content(struct arena *arena, struct json_object *json, const char *key)
{
	const char *s = copy(arena, json, key);

	return s ? span_of(s) : (struct span){ NULL, 0 };
}

static struct span now(struct arena *arena, const char *root, const char *path)
{
	struct text text = read_file(arena_printf(arena, "%s%s", root, path));
	struct span copied = { NULL, text.size };

	if (text.data)
		copied.p = arena_strndup(arena, text.data, text.size);
	free(text.data);
	return copied;
}

static const char *const *strings(struct arena *arena, struct json_object *json)
{
	size_t n = json ? json_object_array_length(json) : 0;
	const char **list = arena_alloc(arena, (n + 1) * sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = arena_strdup(arena,
				       json_object_get_string(json_object_array_get_idx(json, i)));
	return json ? list : NULL;
}

static int kind(const char *word)
{
	for (int i = 0; plan_step_words[i]; i++)
		if (word && strcmp(plan_step_words[i], word) == 0)
			return i;
	die("no such kind of step");
	return -1;
}

static void read_plan(struct plan *plan, const char *root, const char *path)
{
	struct arena *arena = plan->arena;
	struct text text = read_file(path);
	struct json_error error;
	struct json_object *json, *list;

	if (!text.data)
		die("no such plan");
	json = json_parse(text.data, text.size, &error);
	if (!json)
		die(error.text);
	snprintf(plan->id, sizeof(plan->id), "%s", json_string(json, "id") ?: "0123456789abcdef");
	plan->refused = copy(arena, json, "refused");
	list = json_member(json, "files");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		struct plan_file *file = LIST_ADD(arena, &plan->files);
		uint64_t mode = 0644;

		json_number(item, "mode", &mode);
		file->path = copy(arena, item, "path");
		file->before = json_object_object_get_ex(item, "before", NULL)
				       ? content(arena, item, "before")
				       : now(arena, root, file->path);
		file->after = content(arena, item, "after");
		file->mode = (uint32_t)mode;
	}
	list = json_member(json, "steps");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		*LIST_ADD(arena, &plan->steps) = (struct plan_step){
			.kind = (enum plan_step_kind)kind(json_string(item, "kind")),
			.subject = copy(arena, item, "subject"),
			.path = copy(arena, item, "path"),
			.tool = copy(arena, item, "tool"),
			.argv = strings(arena, json_member(item, "argv")),
			.must_hold = strings(arena, json_member(item, "must_hold")),
		};
	}
	json_object_put(json);
	free(text.data);
}

/* ---- the outcome ---- */

static struct json_object *lines(const void *list)
{
	const struct fact_list *l = list;
	struct json_object *json = json_object_new_array();

	for (uint32_t i = 0; i < l->count; i++)
		json_object_array_add(json, json_object_new_string(((const char **)l->items)[i]));
	return json;
}

static void print(struct json_object *json)
{
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
	json_object_put(json);
}

static void print_outcome(const struct txn_outcome *outcome)
{
	struct json_object *json = json_object_new_object(), *items = json_object_new_array();

	json_put_string(json, "result", txn_result_words[outcome->result]);
	json_put_string(json, "id", outcome->id);
	json_put_string(json, "text", outcome->text);
	for_each(i, &outcome->items) {
		struct json_object *item = json_object_new_object();

		json_put_string(item, "subject", i->subject);
		json_put_string(item, "state", txn_item_words[i->state]);
		json_put_string(item, "text", i->text);
		json_put_string(item, "output", i->output);
		json_object_array_add(items, item);
	}
	json_put(json, "items", items);
	json_put(json, "notes", lines(&outcome->notes));
	json_put(json, "recovered", lines(&outcome->recovered));
	print(json);
}

static int list(const struct root *root, struct arena *arena)
{
	struct json_object *json = json_object_new_array();
	struct txn_entries entries;
	int rc = txn_list(root, arena, &entries);

	for_each(e, &entries.entries) {
		struct json_object *item = json_object_new_object();

		json_put_string(item, "id", e->id);
		json_put_string(item, "plan_id", e->plan_id);
		json_put_string(item, "status", txn_record_state_words[e->status]);
		json_put_string(item, "who", e->who);
		json_put_string(item, "text", e->text);
		json_put(item, "files", lines(&e->files));
		json_object_array_add(json, item);
	}
	print(json);
	return rc ? 2 : 0;
}

static bool refuse_all(void *user, struct arena *arena, const char **why)
{
	(void)user, (void)arena;
	*why = "the test said so";
	return false;
}

static void tell(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new(1u << 30, "a plan");
	struct txn_options options = { .progress = tell };
	struct plan plan = { .arena = arena };
	struct txn_outcome outcome = { 0 };
	struct root opened, other;
	const char *root, *verb;

	if (argc < 3 || !arena)
		die("ROOT apply|undo|recover|list");
	root = strcmp(argv[1], "/") == 0 ? "" : argv[1];
	verb = argv[2];
	if (*root && root_open(&opened, root))
		die("no such root");
	options.root = *root ? &opened : NULL;
	plan.root_device = *root ? opened.device : 0;
	plan.root_inode = *root ? opened.inode : 0;
	for (int i = 3; i < argc; i++) {
		if (strcmp(argv[i], "--plan-of") == 0 && argv[i + 1] &&
		    root_open(&other, argv[i + 1]) == 0)
			plan.root_inode = other.inode;
		options.no_regenerate |= strcmp(argv[i], "--no-regenerate") == 0;
		options.writable_parents |= strcmp(argv[i], "--allow-writable-parents") == 0;
		if (strcmp(argv[i], "--fail-verify") == 0)
			options.verify = refuse_all;
		if (strcmp(argv[i], "--wait") == 0 && argv[i + 1])
			options.wait_s = (unsigned int)strtoul(argv[i + 1], NULL, 10);
	}
	if (strcmp(verb, "list") == 0)
		return list(options.root, arena);
	if (strcmp(verb, "apply") == 0 && argc > 3)
		read_plan(&plan, root, argv[3]);
	crash_at = from_environment("NVNODECHECK_TEST_CRASH_AT");
	stop_at = from_environment("NVNODECHECK_TEST_STOP_AT");
	only = getenv("NVNODECHECK_TEST_POINT");
	txn_test_point = point;
	if (strcmp(verb, "apply") == 0)
		txn_apply(&plan, &options, arena, &outcome);
	else if (strcmp(verb, "undo") == 0)
		txn_undo(argc > 3 && argv[3][0] != '-' ? argv[3] : NULL, &options, arena, &outcome);
	else
		txn_recover(&options, arena, &outcome);
	print_outcome(&outcome);
	if (from_environment("NVNODECHECK_TEST_COUNT"))
		fprintf(stderr, "points %u\n", points);
	return outcome.result == TXN_REFUSED || outcome.result == TXN_PARTLY;
}
