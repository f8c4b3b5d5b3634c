/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep-version.c - files that probes read for a version and nothing else. People edit such scripts and write other words
 * beside the version, so that only the version stays: what the probe's own parser finds, in the form of a version.
 */
#include <ctype.h>
#include <string.h>

#include "parse/version.h"
#include "redact/keep-private.h"

#define VERSION_MAX 32 /* bytes: 24.10-1.1.4.0 */
#define NUMBER_MAX 8   /* digits: 12.4.20240301 */

/* 12.4.20240301, 24.10-1.1.4.0: numbers, with at least one dot. Letters can be a word. */
static bool is_version(struct span s)
{
	size_t digits = 0;

	if (s.n > VERSION_MAX || span_find(s, '.') == s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool is_digit = isdigit((unsigned char)s.p[i]);

		if (!is_digit && (!digits || (s.p[i] != '.' && s.p[i] != '-')))
			return false;
		digits = is_digit ? digits + 1 : 0;
		if (digits > NUMBER_MAX)
			return false;
	}
	return digits > 0;
}

static void put_version(struct keeping *k, struct span version)
{
	(is_version(version) ? keep_free_text : keep_instead)(k, version);
}

struct found {
	struct span version;
	const char *before, *after;
};

static void put_found(struct keeping *k, struct span line, const struct found *found)
{
	const char *at = found->version.p;

	if (!at || at < line.p || at >= line.p + line.n) {
		keep_nothing(k, line);
		return;
	}
	fputs(found->before, k->out);
	put_version(k, found->version);
	fputs(found->after, k->out);
}

void keep_ofed_version(struct keeping *k, struct span text)
{
	struct found found = { .before = "MLNX_OFED_LINUX-", .after = "" };

	version_of_ofed(text, &found.version);
	keep_each_line(k, text, line)
		put_found(k, line, &found);
}

void keep_cuda_version(struct keeping *k, struct span text)
{
	struct found found = { .before = "{ \"cuda\": { \"version\": \"", .after = "\" } }" };

	/* A string that has no end in its line would not be found again. */
	if (!version_of_cuda(text, &found.version) ||
	    span_find(found.version, '\n') < found.version.n)
		found.version = (struct span){ 0 };
	keep_each_line(k, text, line)
		put_found(k, line, &found);
}

static void put_define(struct keeping *k, struct span line)
{
	static const char *const names[] = { "NVSHMEM_VENDOR_MAJOR_VERSION",
					     "NVSHMEM_VENDOR_MINOR_VERSION",
					     "NVSHMEM_VENDOR_PATCH_VERSION", NULL };
	struct span rest = line, define, name, value;
	uint64_t number;

	if (!span_word(&rest, &define) || !span_is(define, "#define") || !span_word(&rest, &name) ||
	    !keep_has(names, name) || !span_word(&rest, &value) || value.n > NUMBER_MAX ||
	    span_u64(value, 0, &number)) {
		keep_nothing(k, line);
		return;
	}
	fprintf(k->out, "#define %.*s %.*s", SPAN_FMT(name), SPAN_FMT(value));
}

void keep_nvshmem_version(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_define(k, line);
}

void keep_version(struct keeping *k, struct span text)
{
	struct found found = { .version = span_trim(text), .before = "", .after = "" };

	if (span_find(found.version, '\n') < found.version.n)
		found.version = (struct span){ 0 };
	keep_each_line(k, text, line)
		put_found(k, line, &found);
}
