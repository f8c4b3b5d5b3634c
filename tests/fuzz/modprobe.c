/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe.d: the input is up to five files and a command line, divided by byte 1. */
#include "fuzz.h"

#include "parse/modprobe.h"

#define FILES 5

static const char *const paths[FILES] = {
	"/etc/modprobe.d/b.conf",     "/etc/modprobe.d/a.conf",		"/run/modprobe.d/b.conf",
	"/usr/lib/modprobe.d/c.conf", "/lib/modules/6/modules.softdep",
};

/* Of the assignments to one parameter of one module exactly one is in effect. */
static void check(const struct modprobe_facts *facts)
{
	for_each(a, &facts->assignments) {
		size_t effective = 0;

		for_each(b, &facts->assignments)
			effective += b->effective.value && str_is(b->module, a->module.value) &&
				     str_is(b->param, a->param.value);
		assert(effective == 1);
	}
	for_each(o, &facts->options)
		assert(is_known(o->module) && is_known(o->text));
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
	check(&facts);
	return 0;
}
