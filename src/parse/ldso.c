/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ldso.c - parses the files of the dynamic loader: ld.so.cache, ld.so.conf and lists of folders. */
#include "parse/ldso.h"

#include <endian.h>
#include <string.h>

#define MAGIC "glibc-ld.so.cache1.1"
#define HEADER_BYTES 48
#define ENTRY_BYTES 24
/* Offsets: of the number of entries in the header, of name and path in an entry. */
#define COUNT_AT 20
#define NAME_AT 4
#define PATH_AT 8

static uint32_t number_at(struct span text, size_t at)
{
	uint32_t value;

	memcpy(&value, text.p + at, sizeof(value));
	return le32toh(value);
}

bool ldso_cache_begin(struct ldso_cache *cache, struct span text)
{
	*cache = (struct ldso_cache){ .text = text };
	if (text.n < HEADER_BYTES || !span_starts(text, MAGIC))
		return false;
	cache->count = number_at(text, COUNT_AT);
	return cache->count <= (text.n - HEADER_BYTES) / ENTRY_BYTES;
}

static bool string_at(struct span text, uint32_t at, struct span *out)
{
	const char *end = at < text.n ? memchr(text.p + at, '\0', text.n - at) : NULL;

	if (!end)
		return false;
	*out = (struct span){ text.p + at, (size_t)(end - (text.p + at)) };
	return true;
}

bool ldso_cache_next(struct ldso_cache *cache, struct ldso_entry *entry)
{
	size_t at = HEADER_BYTES + (size_t)cache->next * ENTRY_BYTES;

	if (cache->next >= cache->count)
		return false;
	cache->next++;
	return string_at(cache->text, number_at(cache->text, at + NAME_AT), &entry->name) &&
	       string_at(cache->text, number_at(cache->text, at + PATH_AT), &entry->path);
}

bool ldso_conf_line(struct span line, struct span *value, bool *include)
{
	struct span word, rest;

	line.n = span_find(line, '#');
	rest = line = span_trim(line);
	*include = false;
	if (!span_word(&rest, &word))
		return false;
	if (span_is(word, "include")) {
		*include = true;
		*value = span_trim(rest);
		return value->n > 0;
	}
	/* Folders of libraries for another machine: "hwcap" lines have no effect since glibc 2.33. */
	if (span_is(word, "hwcap"))
		return false;
	/* A folder may say what kind of libraries it has: /usr/lib=libc6. */
	line.n = span_find(line, '=');
	*value = span_trim(line);
	return value->n > 0 && value->p[0] == '/';
}
