/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The descriptions of facts: none forgets a member, and whatever is stored comes back from JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmocka-all.h"
#include "facts/facts.h"

/* Lists in lists in lists would be thousands of items; two of each are enough. */
#define ITEMS 2
#define DEPTH_MAX 8

static size_t size_of(const struct field *f)
{
	switch (f->type) {
	case FIELD_BOOL:
		return sizeof(struct fact_bool);
	case FIELD_ENUM:
		return sizeof(struct fact_enum);
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		return sizeof(struct fact_u64);
	case FIELD_STR:
		return sizeof(struct fact_str);
	case FIELD_STRS:
	case FIELD_LIST:
		return sizeof(struct fact_list);
	case FIELD_STRUCT:
		return f->sub->size;
	}
	return 0;
}

/* ---- the descriptions themselves ---- */

/* No fact type is smaller than 8 bytes: a gap of that size between two fields is a member that the
 * description does not have. */
static void check_complete(const struct desc *desc, int depth)
{
	size_t end = desc->optional ? sizeof(enum fact_state) : 0;

	assert_true(depth < DEPTH_MAX);
	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];

		if (f->offset < end || f->offset - end >= sizeof(struct fact_bool))
			fail_msg("%s.%s is at %zu, the field before ends at %zu", desc->name,
				 f->name, f->offset, end);
		end = f->offset + size_of(f);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(desc->fields[k].name, f->name);
		if (f->type == FIELD_ENUM)
			assert_non_null(f->words && f->words[0] ? f->words : NULL);
		if (f->sub)
			check_complete(f->sub, depth + 1);
	}
	if (end > desc->size || desc->size - end >= sizeof(struct fact_bool))
		fail_msg("%s has %zu bytes, its fields end at %zu", desc->name, desc->size, end);
}

static void test_complete(void **state)
{
	(void)state;
	check_complete(&node_desc, 0);
}

/* ---- facts of every kind ---- */

struct filler {
	struct arena *arena;
	uint64_t next;
	enum fact_state state; /* of everything that has one */
};

static void fill(struct filler *f, const struct desc *desc, void *facts);

static void fill_list(struct filler *f, const struct field *field, void *value)
{
	struct fact_list *list = value;

	list->state = f->state;
	for (int i = 0; i < ITEMS && f->state == FACT_KNOWN; i++) {
		if (field->type == FIELD_LIST)
			fill(f, field->sub, fact_list_add(f->arena, list, field->sub->size));
		else
			*(const char **)fact_list_add(f->arena, list, sizeof(char *)) =
				arena_printf(f->arena, "item %d", i);
	}
}

static void fill_field(struct filler *f, const struct field *field, void *value)
{
	uint64_t n = f->next++;

	switch (field->type) {
	case FIELD_BOOL:
		*(struct fact_bool *)value = (struct fact_bool){ f->state, n % 2 };
		return;
	case FIELD_ENUM:
		*(struct fact_enum *)value = (struct fact_enum){ f->state,
								 field->words[1] ? 1 : 0 };
		return;
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		/* Small ones, ones that a double cannot hold, and the largest. */
		*(struct fact_u64 *)value =
			(struct fact_u64){ f->state, n % 3 == 0	  ? n
						     : n % 3 == 1 ? (UINT64_C(1) << 60) + n
								  : UINT64_MAX - n };
		return;
	case FIELD_STR: /* in the order of lists */
		((struct fact_str *)value)->state = f->state;
		if (f->state == FACT_KNOWN)
			*(struct fact_str *)value = fact_str(
				f->arena, arena_printf(f->arena, "\"%08llu\" \\ \n\xc3\xa4\x01",
						       (unsigned long long)n));
		return;
	case FIELD_STRS:
	case FIELD_LIST:
		fill_list(f, field, value);
		return;
	case FIELD_STRUCT:
		fill(f, field->sub, value);
		return;
	}
}

static void fill(struct filler *f, const struct desc *desc, void *facts)
{
	if (desc->optional)
		*(enum fact_state *)facts = f->state;
	for (size_t i = 0; i < desc->count; i++)
		fill_field(f, &desc->fields[i], (char *)facts + desc->fields[i].offset);
}

static void print_difference(void *user, const char *path, struct json_object *a,
			     struct json_object *b)
{
	(void)user;
	print_error("%s: %s, %s\n", path, json_object_to_json_string_ext(a, 0),
		    json_object_to_json_string_ext(b, 0));
}

/* Facts whose states are all STATE, to text and back. */
static void check_round_trip(enum fact_state state)
{
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	struct filler filler = { .arena = arena, .next = 1, .state = state };
	struct node *node = arena_alloc(arena, sizeof(*node));
	struct node *back = arena_alloc(arena, sizeof(*back));
	_cleanup_json_ struct json_object *json = NULL;
	_cleanup_json_ struct json_object *again = NULL;
	struct fact_error error = { "" };
	const char *text;

	fill(&filler, &node_desc, node);
	json = fact_to_json(&node_desc, node);
	text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY);
	if (fact_from_json(&node_desc, back, span_of(text), arena, false, &error))
		fail_msg("%s", error.text);
	assert_int_equal(fact_compare(&node_desc, node, back, arena, print_difference, NULL), 0);
	again = fact_to_json(&node_desc, back);
	assert_string_equal(json_object_to_json_string_ext(again, JSON_C_TO_STRING_PRETTY), text);
	arena_free(arena);
}

static void test_known(void **state)
{
	(void)state;
	check_round_trip(FACT_KNOWN);
}

static void test_absent(void **state)
{
	(void)state;
	check_round_trip(FACT_ABSENT);
}

static void test_unknown(void **state)
{
	struct node node = { 0 };
	_cleanup_json_ struct json_object *json = fact_to_json(&node_desc, &node);

	(void)state;
	check_round_trip(FACT_UNKNOWN);
	assert_string_equal(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN), "{}");
}

/* ---- paths ---- */

static void check_paths(struct arena *arena, const struct node *node, const struct desc *desc,
			const char *prefix)
{
	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];
		const char *path = arena_printf(arena, "%s%s%s", prefix, *prefix ? "." : "",
						f->name);
		struct fact_ref ref;

		if (fact_find(&node_desc, node, path, arena, &ref) || ref.field != f)
			fail_msg("%s is not found", path);
		assert_int_equal(fact_ref_state(&ref), FACT_KNOWN);
		if (f->type == FIELD_STRUCT)
			check_paths(arena, node, f->sub, path);
	}
}

static void test_paths(void **state)
{
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	struct filler filler = { .arena = arena, .next = 1, .state = FACT_KNOWN };
	struct node *node = arena_alloc(arena, sizeof(*node));
	static const char *const wrong[] = { "",
					     ".",
					     ".os",
					     "os..cpus",
					     "nonsense",
					     "os.nonsense",
					     "os.cpus.more",
					     "pci.devices[",
					     "pci.devices[]x",
					     "os[1]",
					     "pci.devices[x" };
	struct fact_ref ref;

	(void)state;
	fill(&filler, &node_desc, node);
	check_paths(arena, node, &node_desc, "");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (fact_find(&node_desc, node, wrong[i], arena, &ref) == 0)
			fail_msg("'%s' was found", wrong[i]);
	arena_free(arena);
}

/* ---- what is not read ---- */

static void test_settle(void **state)
{
	struct node node = { 0 };

	(void)state;
	fact_close_holes(&node_desc, &node);
	assert_string_equal(node.os.hostname.value, "");
	assert_int_equal(node.os.hostname.state, FACT_UNKNOWN);
}

static void check_refused(const char *text, const char *said)
{
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	struct node *node = arena_alloc(arena, sizeof(*node));
	struct fact_error error = { "" };

	if (!fact_from_json(&node_desc, node, span_of(text), arena, false, &error))
		fail_msg("%s was taken", text);
	if (!strstr(error.text, said))
		fail_msg("%s: %s", text, error.text);
	arena_free(arena);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused("[]", "expected an object");
	check_refused("{\"os\":1}", "os: expected an object");
	check_refused("{\"nonsense\":1}", "nonsense");
	check_refused("{\"os\":{\"hostname\":1}}", "os.hostname: expected a string");
	check_refused("{\"os\":{\"cpus\":\"x\"}}", "os.cpus");
	check_refused("{\"os\":{\"cpus\":-1}}", "os.cpus");
	check_refused("{\"os\":{\"cpus\":1.5}}", "os.cpus");
	check_refused("{\"os\":{\"secure_boot\":\"yes\"}}", "os.secure_boot");
	check_refused("{\"driver\":{\"flavour\":\"shut\"}}", "driver.flavour");
	check_refused("{\"driver\":{\"params\":{}}}", "driver.params: expected a list");
	check_refused("{\"driver\":{\"gsp_firmware\":[1]}}", "driver.gsp_firmware");
	check_refused("{\"os\":{\"id\":\"a\",\"i\\u0064\":\"b\"}}", "os.id: listed twice");
	check_refused("{\"tool_version\":1,\n\"tool_version\":1}", "line 2: the same key twice");
	check_refused("{\"os\":{}} {", "line 1: more text");
	check_refused("{\"os\":{\"id\":\"a\"", "line 1: the document is cut short");
	check_refused("", "facts");
}

static void test_numbers_as_text(void **state)
{
	static const char text[] = "{\"limits\":{\"self\":{\"memlock_soft_bytes\":\"unlimited\","
				   "\"memlock_hard_bytes\":\"18446744073709551614\"}}}";
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	struct node *node = arena_alloc(arena, sizeof(*node));
	struct fact_error error;

	(void)state;
	assert_int_equal(fact_from_json(&node_desc, node, SPAN(text), arena, false, &error), 0);
	assert_true(node->limits.self.memlock_soft_bytes.value == FACT_UNLIMITED);
	assert_true(node->limits.self.memlock_hard_bytes.value == UINT64_MAX - 1);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete), cmocka_unit_test(test_known),
		cmocka_unit_test(test_absent),	 cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_paths),	 cmocka_unit_test(test_settle),
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_numbers_as_text),
	};

	return cmocka_run_group_tests_name("fact", tests, NULL, NULL);
}
