/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvnodecheck.conf, and what of it is asked later: rules by patterns, values by expectations. The first
 * line is a value that is compared. */
#include "fuzz.h"

#include "evaluate/report.h"
#include "evaluate/settings.h"

static void compare(const struct expectation *e, const char *value)
{
	uint64_t count;
	size_t which = SIZE_MAX;

	assert(e->row && e->value && !expect_refuse(e->row, e->value));
	if (expect_fits(e->row, value, e->value, &which)) {
		assert(which != SIZE_MAX);
		(void)expect_count(e->value, which, &count);
	}
	/* What is written as a single plain value takes just that value. */
	if (e->row->kind == EXPECT_WORD && !strpbrk(e->value, ", "))
		assert(expect_fits(e->row, e->value, e->value, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = fuzz_span(data, size), first = { "", 0 }, word;
	struct arena *arena = fuzz_arena();
	struct settings settings;
	char error[512] = "";
	const char *value, *text;

	span_cut(&rest, '\n', &first);
	value = arena_strndup(arena, first.n ? first.p : "", first.n);
	/* inih takes a string to its end. */
	text = arena_strndup(arena, rest.n ? rest.p : "", rest.n);
	(void)profiles_parse(value, &word);
	settings_init(&settings);
	if (settings_parse(&settings, "conf", text, rest.n, arena, error)) {
		assert(strncmp(error, "conf:", 5) == 0);
		return 0;
	}
	for_each(rule, &settings.rules)
		assert(rule->id && rule->reason && *rule->reason);
	(void)settings_rule(&settings, "driver/peer-mapping-override");
	for_each(e, &settings.expect) {
		assert(settings_expect(&settings, e->key));
		compare(e, value);
	}
	return 0;
}
