/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe.d: the input is up to five files and a command line, divided by byte 1. */
#include "fuzz.h"

#include "parse/modprobe.h"

#define FILES 5

static const char *const paths[FILES] = {
	"/etc/modprobe.d/b.conf",     "/etc/modprobe.d/a.conf",		"/run/modprobe.d/b.conf",
	"/usr/lib/modprobe.d/c.conf", "/lib/modules/6/modules.softdep",
};

static void check(const struct modprobe_facts *facts, struct arena *arena)
{
	for_each(a, &facts->assignments) {
		const struct modprobe_assignment *e = modprobe_effective(facts, a->module.value,
									 a->param.value);

		assert(e && e->effective.value && e >= a - a->effective.value);
		assert(!a->effective.value || e == a);
	}
	for_each(o, &facts->options)
		assert(modprobe_join(facts, o->module.value, arena));
	for_each(c, &facts->blacklist)
		assert(is_known(c->module) && is_known(c->file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = fuzz_arena();
	struct modprobe_input inputs[FILES] = { 0 };
	struct modprobe_facts facts = { 0 };
	struct span rest = { (const char *)data, size }, piece;
	size_t count = 0;

	while (count < FILES && span_cut(&rest, '\1', &piece)) {
		inputs[count].path = paths[count];
		inputs[count].kind = piece.n % 16 == 15 ? MODPROBE_DANGLING : MODPROBE_TEXT;
		inputs[count++].text = piece;
	}
	modprobe_select(inputs, count);
	modprobe_parse(&facts, arena, inputs, count, rest);
	check(&facts, arena);
	return 0;
}
