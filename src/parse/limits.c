/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parse/limits.h"

#include <string.h>

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool limit_value(struct span word, uint64_t *value)
{
	if (span_is(word, "unlimited")) {
		*value = LIMIT_UNLIMITED;
		return true;
	}
	return span_u64(word, 10, value) == 0;
}

bool limits_find(struct span text, const char *name, uint64_t *soft, uint64_t *hard)
{
	struct span line, word;

	while (span_cut(&text, '\n', &line)) {
		if (!span_starts(line, name))
			continue;
		line = after(line, strlen(name));
		/* Columns are padded with blanks, so "Max locked memory" ends here. */
		if (!line.n || line.p[0] != ' ')
			continue;
		return span_word(&line, &word) && limit_value(word, soft) &&
		       span_word(&line, &word) && limit_value(word, hard);
	}
	return false;
}

bool limits_line_parse(struct span line, struct limits_line *out)
{
	struct span rest = { line.p, span_find(line, '#') }, more;

	*out = (struct limits_line){ 0 };
	return span_word(&rest, &out->domain) && span_word(&rest, &out->type) &&
	       span_word(&rest, &out->item) && span_word(&rest, &out->value) &&
	       !span_word(&rest, &more);
}

/* ---- tmpfs ---- */

/* memparse() of the kernel, as far as anybody writes it. */
static enum tmpfs_size size_value(struct span s, uint64_t *value)
{
	static const char suffixes[] = "kmgt";
	unsigned int shift = 0;
	const char *suffix;

	if (span_ends(s, "%")) {
		s.n--;
		return span_u64(s, 10, value) == 0 ? TMPFS_PERCENT : TMPFS_BAD;
	}
	suffix = s.n && s.p[s.n - 1] ? strchr(suffixes, s.p[s.n - 1] | 0x20) : NULL;
	if (suffix) {
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
		s.n--;
	}
	if (span_u64(s, 0, value) || *value > UINT64_MAX >> shift)
		return TMPFS_BAD;
	*value <<= shift;
	return TMPFS_BYTES;
}

static enum tmpfs_size options_size(struct span options, uint64_t *value)
{
	enum tmpfs_size size = TMPFS_DEFAULT;
	struct span option;

	while (span_cut(&options, ',', &option))
		if (span_starts(option, "size="))
			size = size_value(after(option, strlen("size=")), value);
	return size;
}

enum tmpfs_size tmpfs_find(struct span text, const char *mount_point, uint64_t *value)
{
	enum tmpfs_size size = TMPFS_NOT_MOUNTED;
	struct span line, device, place, type, options;

	while (span_cut(&text, '\n', &line)) {
		if (!span_word(&line, &device) || device.p[0] == '#' || !span_word(&line, &place) ||
		    !span_word(&line, &type) || !span_word(&line, &options))
			continue;
		if (span_is(place, mount_point) && span_is(type, "tmpfs"))
			size = options_size(options, value);
	}
	return size;
}
