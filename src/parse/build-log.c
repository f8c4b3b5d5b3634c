/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build-log.c - make.log, which DKMS leaves after a failed build: the kernel, and the reason of the failure
 * (data/build-errors.tsv).
 */
#include "parse/build-log.h"

#include <string.h>

#include "base/array.h"

static const struct build_error {
	const char *text;
	enum build_cause cause;
} errors[] = {
#include "build-errors.inc"
};
#define ERRORS (ARRAY_SIZE(errors))

/* "DKMS (dkms-3.0.11) make.log for nvidia-570.153.02 for kernel 6.8.0-62-generic (x86_64)": the module and its version
 * are joined by "-" before 3.1 and by "/" since (dkms 2.8.1, 3.0.11 and 3.4.3: do_build()). */
static bool parse_header(struct span line, struct span *kernel)
{
	static const char made[] = "make.log for ", before[] = " for kernel ";
	const char *p = span_starts(line, "DKMS ") ? span_search(line, made) : NULL;
	struct span rest;

	if (!p)
		return false;
	rest = (struct span){ p + strlen(made), line.n - (size_t)(p - line.p) - strlen(made) };
	p = span_search(rest, before);
	if (!p)
		return false;
	rest.n -= (size_t)(p - rest.p) + strlen(before);
	rest.p = p + strlen(before);
	return span_word(&rest, kernel);
}

static void take_error(struct build_log *log, size_t *best, struct span line, uint64_t number)
{
	for (size_t i = 0; i < *best; i++) {
		if (!span_search(line, errors[i].text))
			continue;
		*best = i;
		log->explained = true;
		log->cause = errors[i].cause;
		log->error = span_trim(line);
		log->line = number;
		return;
	}
}

static void take_compiler(struct build_log *log, struct span line)
{
	static const char said[] = "The kernel was built by:";
	const char *p = log->compiler.n ? NULL : span_search(line, said);

	if (p)
		log->compiler = span_trim((struct span){
			p + strlen(said), line.n - (size_t)(p - line.p) - strlen(said) });
}

bool build_log_parse(struct span text, struct build_log *log)
{
	struct span rest = text, line;
	size_t best = ERRORS;

	*log = (struct build_log){ .explained = false };
	for (uint64_t number = 1; span_cut(&rest, '\n', &line); number++) {
		if (!log->kernel.n && !parse_header(line, &log->kernel))
			return false;
		take_error(log, &best, line, number);
		take_compiler(log, line);
	}
	return log->kernel.n != 0;
}
