/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg.c - lines of the kernel log, in all their forms. */
#include "parse/kmsg.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parse/module.h"
#include "parse/packet.h"

/* Longest of "[   12.345678]", "[Fri Nov 21 05:00:00 2026]". */
#define TIME_MAX 32
/* Time, host and "kernel:" of a syslog line; host names end at 64. */
#define SYSLOG_PREFIX_MAX 160

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

int kmsg_record_parse(struct span record, struct kmsg_record *out)
{
	size_t head = span_find(record, ';');
	struct span fields = { record.p, head }, field[3];
	uint64_t priority;

	*out = (struct kmsg_record){ 0 };
	if (head == record.n)
		return -EINVAL;
	for (size_t i = 0; i < 3; i++)
		if (!span_cut(&fields, ',', &field[i]))
			return -EINVAL;
	if (span_u64(field[0], 10, &priority) || span_u64(field[1], 10, &out->sequence) ||
	    span_u64(field[2], 10, &out->time_us))
		return -EINVAL;
	out->kernel = priority >> 3 == 0;
	out->level = (int)(priority & 7);
	out->message = from(record, head + 1);
	out->message.n = span_find(out->message, '\n');
	return 0;
}

/* The size of a "[...]" at the beginning, or 0. */
static size_t bracketed(struct span s)
{
	size_t end = s.n && s.p[0] == '[' ? span_find(s, ']') : s.n;

	return end < s.n && end < TIME_MAX ? end + 1 : 0;
}

bool kmsg_line_time(const struct kmsg_line *line, uint64_t *time_us)
{
	struct span seconds, micros = { line->time.p + 1, line->time.n - 2 };
	uint64_t s, us;

	if (line->time.n < 2 || !span_cut(&micros, '.', &seconds) || micros.n != 6 ||
	    span_u64(span_trim(seconds), 10, &s) || span_u64(micros, 10, &us) ||
	    s > UINT64_MAX / 2000000)
		return false;
	*time_us = s * 1000000 + us;
	return true;
}

/* Returns the text after the time, the processor or task (CONFIG_PRINTK_CALLER) and blanks. */
static struct span after_time(struct span s, struct kmsg_line *out)
{
	size_t n = bracketed(s);

	if (!n)
		return s;
	out->time = (struct span){ s.p, n };
	s = from(s, n);
	if (s.n > 2 && s.p[0] == '[' && (strchr(" TC", s.p[1]) != NULL))
		s = from(s, bracketed(s));
	while (s.n && s.p[0] == ' ')
		s = from(s, 1);
	return s;
}

/* The size of dmesg --raw's "<6>" at the beginning, or 0. */
static size_t level_prefix(struct span line)
{
	size_t end = line.n && line.p[0] == '<' ? span_find(line, '>') : line.n;

	return end < line.n && end < 5 ? end + 1 : 0;
}

/* "<6>" is the kernel's own, level 6; dmesg prefixes nothing else. */
static int read_level(struct span line)
{
	size_t n = level_prefix(line);
	uint64_t priority;

	if (n < 3 || span_u64((struct span){ line.p + 1, n - 2 }, 10, &priority))
		return KMSG_LEVEL_NONE;
	return (int)(priority & 7);
}

static bool are_digits(const char *text, size_t n)
{
	return strspn(text, "0123456789") >= n;
}

/* "+02:00" of ISO 8601, "+0200" of journalctl -o short-iso (systemd 252), "Z". */
static bool read_offset(const char *text, int64_t *seconds)
{
	const char *minutes = text + 3 + (text[0] && text[1] && text[2] && text[3] == ':');

	*seconds = 0;
	if (*text == 'Z')
		return !text[1];
	if ((*text != '+' && *text != '-') || !are_digits(text + 1, 2))
		return false;
	*seconds = strtol((char[]){ text[1], text[2], '\0' }, NULL, 10) * 3600;
	if (*minutes && (!are_digits(minutes, 2) || minutes[2]))
		return false;
	*seconds += strtol(minutes, NULL, 10) * 60;
	*seconds = *text == '-' ? -*seconds : *seconds;
	return true;
}

/* "2026-11-21T05:00:01.123456+00:00": Unix time in microseconds, or 0. */
static uint64_t read_clock(struct span word)
{
	struct tm tm = { 0 };
	char text[40], *rest;
	uint64_t us = 0, scale = 100000;
	int64_t offset;
	time_t seconds;

	if (word.n >= sizeof(text))
		return 0;
	memcpy(text, word.p, word.n);
	text[word.n] = '\0';
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest)
		return 0;
	if (*rest == '.')
		for (rest++; isdigit((unsigned char)*rest); rest++, scale /= 10)
			us += scale * (uint64_t)(*rest - '0');
	if (!read_offset(rest, &offset))
		return 0;
	seconds = timegm(&tm) - (time_t)offset;
	return seconds > 0 ? (uint64_t)seconds * 1000000 + us : 0;
}

/* Cuts time and host off, if the kernel said the line: "Nov 21 05:00:01 node" has four words, a
 * time in ISO 8601 and a host two. A program's tag would be one more. */
static bool cut_syslog_prefix(struct span *line, uint64_t *clock_us)
{
	static const char tag[] = " kernel:";
	struct span head = { line->p, line->n < SYSLOG_PREFIX_MAX ? line->n : SYSLOG_PREFIX_MAX };
	const char *at = span_search(head, tag);
	struct span word;
	size_t words = 0;

	if (!at)
		return false;
	head.n = (size_t)(at - head.p);
	while (span_word(&head, &word))
		if (words++ == 0)
			*clock_us = read_clock(word);
	*line = span_trim(from(*line, (size_t)(at - line->p) + sizeof(tag) - 1));
	return words == 4 || words == 2;
}

bool kmsg_line_parse(struct span line, bool syslog, struct kmsg_line *out)
{
	static const char tag[] = "kernel:";

	*out = (struct kmsg_line){ .level = KMSG_LEVEL_NONE };
	line = span_trim(line);
	if (syslog) {
		if (!cut_syslog_prefix(&line, &out->clock_us))
			return false;
	} else {
		out->level = read_level(line);
		line = from(line, level_prefix(line));
	}
	out->text = line;
	out->message = after_time(line, out);
	/* journalctl -o short-monotonic; Ubuntu's dmesg.service does that once, while booting. */
	out->saved = !syslog && span_starts(out->message, tag);
	if (out->saved)
		out->message = span_trim(from(out->message, sizeof(tag) - 1));
	return out->message.n > 0;
}

bool kmsg_is_banner(struct span message)
{
	/* A program can have a name of this form, and a message of the kernel about it then begins so. */
	return span_starts(message, "Linux version ") && !kmsg_is_of_user(message);
}

bool kmsg_is_first(const struct kmsg_line *line)
{
	uint64_t time_us;

	return kmsg_is_banner(line->message) && kmsg_line_time(line, &time_us) &&
	       time_us < KMSG_BANNER_US;
}

/* ---- patterns ---- */

/* nvidia_peermem: disagrees about ...; also "gdrdrv:__gdrdrv_pin_buffer:..." */
static struct span module_before(struct span message)
{
	struct span none = { message.p, 0 };
	size_t colon = span_find(message, ':');
	char name[MODULE_NAME_MAX];

	if (colon == message.n || colon >= MODULE_NAME_MAX)
		return none;
	module_name_copy((struct span){ message.p, colon }, name);
	if (module_is_of_interest(name) || module_file_is_of_interest(name))
		none.n = colon;
	return none;
}

/* NVRM: Xid (PCI:0000:1b:00): 79, pid=... */
static bool number_after_bracket(struct span message, uint64_t *number)
{
	const char *at = span_search(message, "): ");
	struct span digits;
	size_t n = 0;

	if (!at)
		return false;
	digits = from(message, (size_t)(at + 3 - message.p));
	while (n < digits.n && isdigit((unsigned char)digits.p[n]))
		n++;
	return span_u64((struct span){ digits.p, n }, 10, number) == 0;
}

static bool begins_with_device(struct span message);

static bool is_of_kind(enum kmsg_kind kind, struct kmsg_message *message)
{
	if (kind != KMSG_OF_MODULE && kind != KMSG_OF_DEVICE)
		return true;
	if (!message->asked) {
		message->asked = true;
		message->module = module_before(message->text);
		message->of_device = begins_with_device(message->text);
	}
	return kind == KMSG_OF_MODULE ? message->module.n > 0 : message->of_device;
}

/* A text that begins with a colon comes right after the module's name. Later ones may be a user's, in quotation
 * marks. */
static bool is_after_module(const struct kmsg_pattern *pattern, const struct kmsg_message *message)
{
	return pattern->kind != KMSG_OF_MODULE || pattern->has[0][0] != ':' ||
	       span_starts(from(message->text, message->module.n), pattern->has[0]);
}

/* Most messages differ in the second byte: this is not worth a call of strlen(). */
static bool begins_with(struct span message, const char *start)
{
	size_t i = 0;

	while (start[i] && i < message.n && start[i] == message.p[i])
		i++;
	return !start[i];
}

bool kmsg_matches(const struct kmsg_pattern *pattern, struct kmsg_message *message,
		  uint64_t *number)
{
	struct span rest = message->text;

	if (pattern->start && !begins_with(rest, pattern->start))
		return false;
	for (size_t i = 0; i < 2 && pattern->has[i]; i++) {
		const char *at = span_search(rest, pattern->has[i]);

		if (!at)
			return false;
		rest = from(rest, (size_t)(at - rest.p) + strlen(pattern->has[i]));
	}
	if (pattern->kind == KMSG_OF_PACKET)
		return packet_is_refused(message->text);
	return is_of_kind(pattern->kind, message) && is_after_module(pattern, message) &&
	       (pattern->kind != KMSG_NUMBERED || number_after_bracket(message->text, number));
}

/* ---- many patterns at once ---- */

/* The chain of patterns without a fixed beginning. */
#define ANYWHERE 256
#define BLOCK 3

/* The block that ends at END, by one load of four bytes, of which the first does not count. */
static unsigned int block_before(const char *end)
{
	uint32_t bytes;

	memcpy(&bytes, end - sizeof(bytes), sizeof(bytes));
	return (le32toh(bytes) >> 8) * 2654435761u >> 20; /* the hash of Knuth, of 12 bits */
}
_Static_assert(KMSG_BLOCKS == 1 << (32 - 20), "the hash has as many values");

/* A window is shorter than a byte can count, and has a block. */
static void measure_window(struct kmsg_index *index)
{
	index->window = UINT8_MAX;
	for (size_t i = 0; i < index->count; i++) {
		const struct kmsg_pattern *p = &index->patterns[i];
		size_t n = p->start ? UINT8_MAX : p->has[0] ? strlen(p->has[0]) : 0;

		if (n < index->window)
			index->window = n;
	}
	if (index->window <= BLOCK)
		index->window = 0;
}

static void measure_skips(struct kmsg_index *index)
{
	size_t most = index->window - BLOCK;

	memset(index->skip, (int)most + 1, sizeof(index->skip));
	for (size_t i = 0; i < index->count; i++) {
		const struct kmsg_pattern *p = &index->patterns[i];

		for (size_t k = 0; !p->start && k <= most; k++) {
			char room[1 + BLOCK] = { 0, p->has[0][k], p->has[0][k + 1],
						 p->has[0][k + 2] };
			uint8_t *skip = &index->skip[block_before(room + sizeof(room))];

			if (*skip > most - k)
				*skip = (uint8_t)(most - k);
		}
	}
}

/* Returns true if TEXT may match a pattern of the chain ANYWHERE. Most bytes are not read. */
static bool may_have(const struct kmsg_index *index, struct span text)
{
	size_t skip;

	if (!index->window)
		return true;
	for (size_t end = index->window; end <= text.n; end += skip) {
		skip = index->skip[block_before(text.p + end)];
		if (!skip)
			return true;
	}
	return false;
}

void kmsg_index_begin(struct kmsg_index *index, const struct kmsg_pattern *patterns, size_t count)
{
	*index = (struct kmsg_index){ .patterns = patterns, .count = count };
	/* Begins with the last pattern, so that each chain is in the order of the patterns. */
	for (size_t i = count; i-- > 0;) {
		const char *start = patterns[i].start;
		uint8_t *head = &index->heads[start ? (unsigned char)*start : ANYWHERE];

		index->next[i] = *head;
		*head = (uint8_t)(i + 1);
	}
	measure_window(index);
	if (index->window)
		measure_skips(index);
}

const struct kmsg_pattern *kmsg_index_find(const struct kmsg_index *index,
					   struct kmsg_message *message, uint64_t *number)
{
	unsigned char first = message->text.n ? (unsigned char)message->text.p[0] : 0;
	uint8_t chains[] = { index->heads[first],
			     may_have(index, message->text) ? index->heads[ANYWHERE] : 0 };

	while (chains[0] || chains[1]) {
		uint8_t *lowest = &chains[!chains[0] || (chains[1] && chains[1] < chains[0])];
		const struct kmsg_pattern *pattern = &index->patterns[*lowest - 1];

		if (kmsg_matches(pattern, message, number))
			return pattern;
		*lowest = index->next[*lowest - 1];
	}
	return NULL;
}

/* ---- PCI functions ---- */

static size_t hex_digits(struct span s)
{
	size_t n = 0;

	while (n < s.n && isxdigit((unsigned char)s.p[n]))
		n++;
	return n;
}

/* A number of exactly WIDTH hexadecimal digits and then C (0: not another digit). */
static bool cut_hex(struct span *s, size_t width, char c, unsigned int *value)
{
	uint64_t number;

	if (hex_digits(*s) != width || (c && (s->n <= width || s->p[width] != c)) ||
	    span_u64((struct span){ s->p, width }, 16, &number))
		return false;
	*value = (unsigned int)number;
	*s = from(*s, width + (c ? 1 : 0));
	return true;
}

/* NVML writes a domain with eight digits, the kernel with four, or five for VMD. */
static bool cut_domain(struct span *s, unsigned int *domain)
{
	size_t n = hex_digits(*s);

	*domain = 0;
	return n >= 4 && n <= 8 && cut_hex(s, n, ':', domain);
}

/* A function at the very beginning of S; BDF may be NULL. */
static bool cut_bdf(struct span *s, bool after_pci, char *bdf)
{
	unsigned int domain, bus, slot, function = 0;
	struct span at = *s;
	bool long_form = cut_domain(&at, &domain);

	if (!cut_hex(&at, 2, ':', &bus))
		return false;
	if (cut_hex(&at, 2, '.', &slot)) {
		if (!cut_hex(&at, 1, 0, &function) || function > 7)
			return false;
	} else if (!(long_form && after_pci && cut_hex(&at, 2, 0, &slot))) {
		return false;
	}
	/* A domain is an int of the kernel's: beyond that, the digits are of something else. */
	if (slot > 0x1f || domain > INT32_MAX)
		return false;
	if (bdf)
		snprintf(bdf, KMSG_BDF_MAX, "%04x:%02x:%02x.%u", domain, bus, slot, function);
	*s = at;
	return true;
}

bool kmsg_bdf_next(struct span *rest, char bdf[KMSG_BDF_MAX])
{
	char before = ' ';
	bool after_pci = false;

	while (rest->n) {
		if (span_starts(*rest, "PCI:")) {
			*rest = from(*rest, 4);
			after_pci = true;
			before = ' ';
			continue;
		}
		if (isxdigit((unsigned char)rest->p[0]) && !isalnum((unsigned char)before) &&
		    before != ':' && before != '.' && cut_bdf(rest, after_pci, bdf))
			return true;
		if (!rest->n)
			break;
		before = rest->p[0];
		after_pci = false;
		*rest = from(*rest, 1);
	}
	return false;
}

/* dev_err() and its like begin with the driver's name and the device's: "nvidia 0000:1b:00.0: ...". */
static bool begins_with_device(struct span message)
{
	size_t n = span_find(message, ' ');

	if (n >= MODULE_NAME_MAX || message.n < n + 2 || !isxdigit((unsigned char)message.p[n + 1]))
		return false;
	message = from(message, n + 1);
	return cut_bdf(&message, false, NULL) && span_starts(message, ": ");
}
