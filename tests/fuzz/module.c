/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules by lines and names: /proc/modules, modules.dep, modules-load.d, names of files; Module.symvers; links
 * that lead from one to the next. */
#include "fuzz.h"

#include <stdio.h>

#include "parse/links.h"
#include "parse/modname.h"
#include "parse/module.h"
#include "parse/symvers.h"

static void check_name(const char name[MODULE_NAME_MAX])
{
	assert(strlen(name) < MODULE_NAME_MAX && !strchr(name, '-') && !strchr(name, '/'));
	(void)module_is_of_interest(name);
	(void)modname_is_ours(span_of(name));
}

static void read_line(struct span line)
{
	struct module_line module;
	struct symvers_line symbol;
	struct span holder, path;
	char name[MODULE_NAME_MAX];

	if (symvers_line_parse(line, &symbol)) {
		assert(symbol.symbol.n && symbol.owner.n);
		check_inside(line, symbol.symbol);
		check_inside(line, symbol.owner);
	}
	if (module_line_parse(line, &module)) {
		assert(module.name.n);
		check_inside(line, module.name);
		check_inside(line, module.state);
		while (module_holder_next(&module.holders, &holder)) {
			assert(holder.n);
			check_inside(line, holder);
		}
	}
	if (module_dep_line(line, &path))
		check_inside(line, path);
	if (module_load_line(line, &path)) {
		assert(path.n);
		check_inside(line, path);
	}
	if (module_file_name(line, name))
		check_name(name);
	module_name_copy(line, name);
	assert(strlen(name) < MODULE_NAME_MAX);
	(void)module_file_is_compressed(line);
}

/* A folder of links: line N of the text is what the N-th name leads to. */
static int target_of(void *user, const char *path, char target[PATH_MAX])
{
	struct span rest = *(const struct span *)user, line;
	size_t n = strlen(path) % 5;

	while (span_cut(&rest, '\n', &line))
		if (n-- == 0 && line.n && line.n < PATH_MAX) {
			snprintf(target, PATH_MAX, "%.*s", SPAN_FMT(line));
			return *target ? 0 : -1;
		}
	return -1;
}

static void resolve(struct span text)
{
	struct span first = { text.p, span_find(text, '\n') };
	char path[PATH_MAX], out[PATH_MAX];

	if (first.n + 2 > sizeof(path))
		return;
	snprintf(path, sizeof(path), "/%.*s", SPAN_FMT(first));
	if (links_resolve(path, out, target_of, &text))
		return;
	assert(out[0] == '/' && !strstr(out, "//") && !strstr(out, "/../"));
	assert(strlen(out) < 4 || strcmp(out + strlen(out) - 3, "/..") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size), rest = text, line;

	while (span_cut(&rest, '\n', &line))
		read_line(line);
	resolve(text);
	return 0;
}
