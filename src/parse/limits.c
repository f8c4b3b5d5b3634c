/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - text about resource limits: /proc/PID/limits, limits.conf, sizes of a tmpfs. */
#include "parse/limits.h"

#include <errno.h>
#include <stdlib.h>
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

/* ---- limits.conf ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Returns true if it is WORD in small or large letters. */
static bool is_word(struct span s, const char *word)
{
	if (s.n != strlen(word))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (lower(s.p[i]) != word[i])
			return false;
	return true;
}

/* Gets the first of WORDS that S is, in the letters of WORDS. */
static bool find_word(struct span s, const char *const *words, struct span *found)
{
	for (; *words; words++) {
		if (!is_word(s, *words))
			continue;
		*found = span_of(*words);
		return true;
	}
	return false;
}

/* The number at the beginning of WORD, as strtoull() reads it. The rest is ignored. */
static bool leading_number(struct span word, uint64_t *value)
{
	bool negative = word.n && word.p[0] == '-';
	size_t n = 0;

	if (word.n && (word.p[0] == '+' || word.p[0] == '-'))
		word = after(word, 1);
	while (n < word.n && word.p[n] >= '0' && word.p[n] <= '9')
		n++;
	if (!n)
		return false;
	if (span_u64((struct span){ word.p, n }, 10, value))
		*value = UINT64_MAX;
	else if (negative)
		*value = -*value;
	return true;
}

bool limits_amount(struct span word, uint64_t *value)
{
	static const char *const unlimited[] = { "unlimited", "infinity", "-1", "-", NULL };
	struct span found;

	*value = LIMIT_UNLIMITED;
	return find_word(word, unlimited, &found) || leading_number(word, value);
}

bool limits_line_parse(struct span line, struct limits_line *out)
{
	static const char *const types[] = { "soft", "hard", "-", NULL };
	static const char *const items[] = { "memlock", "nofile", NULL };
	struct span rest = { line.p, span_find(line, '#') }, type, item;
	uint64_t amount;

	*out = (struct limits_line){ 0 };
	return span_word(&rest, &out->domain) && span_word(&rest, &type) &&
	       span_word(&rest, &item) && span_word(&rest, &out->value) &&
	       find_word(type, types, &out->type) && find_word(item, items, &out->item) &&
	       limits_amount(out->value, &amount);
}

/* ---- systemd ---- */

/* "64M", "1.5G", "1G 512M" (src/basic/parse-util.c, parse_size()). */
static bool size_parse(const char *p, uint64_t *value)
{
	static const char suffixes[] = "EPTGMKB";
	size_t from = 0, i;

	*value = 0;
	do {
		unsigned long long whole;
		double fraction = 0, scale = 1;
		uint64_t factor;
		char *end;

		p += strspn(p, " \t");
		errno = 0;
		whole = strtoull(p, &end, 10);
		if (errno || end == p || *p == '-')
			return false;
		if (*end == '.')
			for (end++; *end >= '0' && *end <= '9'; end++)
				fraction += (*end - '0') * (scale /= 10);
		end += strspn(end, " \t");
		for (i = from; i < sizeof(suffixes) - 1 && *end != suffixes[i]; i++)
			;
		factor = i < sizeof(suffixes) - 1 ? UINT64_C(1) << 10 * (6 - i) : 1;
		if (whole + (fraction > 0) > UINT64_MAX / factor)
			return false;
		whole = whole * factor + (uint64_t)(fraction * (double)factor);
		if (whole > UINT64_MAX - *value)
			return false;
		*value += whole;
		p = end + (i < sizeof(suffixes) - 1);
		from = i + 1;
	} while (*p && from < sizeof(suffixes));
	return !*p && *value < LIMIT_UNLIMITED;
}

static bool size_limit(struct span word, uint64_t *value)
{
	char copy[64];

	if (span_is(word, "infinity")) {
		*value = LIMIT_UNLIMITED;
		return true;
	}
	if (word.n >= sizeof(copy))
		return false;
	memcpy(copy, word.p, word.n);
	copy[word.n] = '\0';
	return size_parse(copy, value);
}

bool limits_of_unit(struct span value, uint64_t *soft, uint64_t *hard)
{
	size_t colon = span_find(value, ':');
	struct span rest = after(value, colon < value.n ? colon + 1 : colon);

	if (!size_limit((struct span){ value.p, colon }, soft))
		return false;
	*hard = *soft;
	return colon == value.n || (size_limit(rest, hard) && *soft <= *hard);
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
