/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel module's file, through libkmod and by the search for its version in a stream of its bytes. */
#include "tree.h"

#include <setjmp.h>

#include "parse/modinfo.h"
#include "parse/version.h"
#include "probes/kernel/module-info.h"

#define PATH "/lib/modules/6.1/nvidia.ko"

/* libkmod ends the process over some damaged files, which costs the program a section in its watched
 * child. Here the next input is to follow; what it had allocated is lost. */
static jmp_buf ended;

void __assert_fail(const char *what, const char *file, unsigned int line, const char *function)
{
	if (strstr(file, "libkmod"))
		longjmp(ended, 1);
	fprintf(stderr, "%s:%u: %s: %s\n", file, line, function, what);
	abort();
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void ask(struct arena *arena, const char *path)
{
	struct module_info info = { .path = path };
	struct module_file file = { 0 };
	struct host *host = tree_open();

	if (module_info_ask(host, &file, arena, &info) == 0) {
		assert(str_is(file.path, path));
		assert(was_read(file.version) && was_read(file.license));
		assert(is_known(file.depends) && is_known(file.parameters));
	}
	module_info_close(&info);
	host_close(host);
}

static void scan(struct span text)
{
	static struct modinfo_scan one, parts;
	struct version_scan version = { 0 };
	bool whole;

	modinfo_begin(&one);
	modinfo_feed(&one, text);
	whole = modinfo_end(&one);
	modinfo_begin(&parts);
	for (size_t at = 0; at < text.n; at += 100) {
		struct span block = { text.p + at, text.n - at < 100 ? text.n - at : 100 };

		version_scan_feed(&version, block);
		if (!modinfo_feed(&parts, block))
			break;
	}
	assert(modinfo_end(&parts) == whole && strcmp(one.version, parts.version) == 0);
	assert(memchr(version.found, '\0', sizeof(version.found)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tree_begin();
	tree_put(PATH, data, size);
	if (!setjmp(ended))
		ask(fuzz_arena(), PATH);
	scan(fuzz_span(data, size));
	return 0;
}
