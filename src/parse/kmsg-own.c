/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-own.c - sources: open-gpu-kernel-modules 515.43.04 and 595.45.04: src/nvidia/src/kernel/gpu/rc/kernel_rc.c
 * (krcReportXid), src/nvidia/arch/nvalloc/unix/src/osapi.c (RmPerformVersionCheck); Linux 6.12.117: arch/x86/mm/pat/memtype.c,
 * kernel/printk/printk.c (record_print_text, msg_add_ext_text). */
#include "parse/kmsg-own.h"

#include <ctype.h>

#include "base/array.h"
#include "parse/kmsg-text.h"

static const char xid[] = "NVRM: Xid (";
static const char mismatch[] = "NVRM: API mismatch: the client ";

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool cut_form(struct span *s, const char *text)
{
	size_t n = kmsg_form_size(*s, text);

	*s = from(*s, n);
	return n > 0;
}

/* ---- where a user's text begins and ends ---- */

/* Returns the size of the name of a process at the beginning of S: what FITS is behind it. Behind a short name that may be so
 * more than once, and the last one counts. S.n: nowhere. */
static size_t name_size(struct span s, bool (*fits)(struct span rest))
{
	size_t size = s.n, at = 0;

	for (size_t i = 0; i <= KMSG_NAME_MAX && at < s.n; i++) {
		if (fits(from(s, at)))
			size = at;
		at += kmsg_byte_size(from(s, at));
	}
	return size;
}

/* "NVRM: Xid (PCI:0000:19:00 GPU-I:01): 154, pid=4242, name=python3, ...": cuts MESSAGE before the name. */
static bool cut_before_name(struct span *message)
{
	const char *at = span_starts(*message, xid) ? span_search(*message, "): ") : NULL;

	if (!at)
		return false;
	*message = from(*message, (size_t)(at + strlen("): ") - message->p));
	return cut_form(message, "#, pid=#, name=") ||
	       cut_form(message, "#, pid='<unknown>', name=");
}

static bool is_behind_name(struct span rest)
{
	return span_starts(rest, ", ");
}

static struct span find_name(struct span message)
{
	message.n = name_size(message, is_behind_name);
	return message;
}

/* Cuts a line break and the prefix of the next line; a log that has the lines as one has a blank there. */
static void cut_break(struct span *s)
{
	*s = from(*s, kmsg_break_size(*s));
	while (s->n && s->p[0] == ' ')
		*s = from(*s, 1);
	if (span_starts(*s, "NVRM:"))
		*s = from(*s, strlen("NVRM:"));
	while (s->n && s->p[0] == ' ')
		*s = from(*s, 1);
}

/* "' (pid 4242)" and on the next line "has the version " */
static bool is_behind_client(struct span rest)
{
	if (!cut_form(&rest, "' (pid #)"))
		return false;
	cut_break(&rest);
	return span_starts(rest, "has the version ");
}

/* Returns the version that the client gave, at the beginning of S: up to the last text of the driver. */
static bool find_version(struct span s, struct span *version)
{
	struct span rest = s;
	const char *at;
	bool found = false;

	*version = s;
	while ((at = span_search(rest, ", but")) != NULL) {
		struct span after;

		rest = from(rest, (size_t)(at - rest.p) + strlen(", but"));
		after = rest;
		cut_break(&after);
		if (!span_starts(after, "this kernel module has"))
			continue;
		version->n = (size_t)(at - s.p);
		found = true;
	}
	return found;
}

/* Before Linux driver 580 the name is not there. */
static size_t find_client(struct span message, struct span users[2], bool *whole)
{
	struct span rest = from(message, strlen(mismatch));
	size_t count = 0;

	if (span_starts(rest, "'")) {
		rest = from(rest, 1);
		users[0] = (struct span){ rest.p, name_size(rest, is_behind_client) };
		rest = from(rest, users[0].n);
		*whole = rest.n > 0;
		if (!rest.n)
			return 1;
		count = 1;
		cut_form(&rest, "' (pid #)");
		cut_break(&rest);
	}
	if (span_starts(rest, "has the version "))
		rest = from(rest, strlen("has the version "));
	*whole = find_version(rest, &users[count]);
	return count + 1;
}

/* "x86/PAT: NAME:4242 conflicting memory types ..." */
static bool is_behind_pat(struct span rest)
{
	return kmsg_follows(rest, ":# ");
}

/* Gets the parts of MESSAGE that are a user's, in their order. 0: it has no form with one. */
static size_t find_users(struct span message, struct span users[2])
{
	static const char pat[] = "x86/PAT: ";
	struct span rest = message;
	bool whole;

	if (cut_before_name(&rest)) {
		users[0] = find_name(rest);
		return 1;
	}
	if (span_starts(message, mismatch))
		return find_client(message, users, &whole);
	if (!span_starts(message, pat))
		return 0;
	rest = from(rest, strlen(pat));
	users[0] = (struct span){ rest.p, name_size(rest, is_behind_pat) };
	return 1;
}

/* ---- the copy ---- */

/* A colon is kept where it makes no number of a device: "VLLM::Worker". */
static bool is_kept(struct span s, size_t i)
{
	char c = s.p[i];

	if (c == ':')
		return (!i || !isxdigit((unsigned char)s.p[i - 1])) &&
		       (i + 1 == s.n || !isxdigit((unsigned char)s.p[i + 1]));
	return isalnum((unsigned char)c) || (c && strchr(" ,._+@/<>-", c));
}

struct copy {
	char *p;
	size_t n, size;
};

static void add(struct copy *to, char c)
{
	if (to->n < to->size)
		to->p[to->n++] = c;
}

static void add_users(struct copy *to, struct span s)
{
	for (size_t i = 0; i < s.n;) {
		size_t n = kmsg_byte_size(from(s, i));

		add(to, n == 1 && is_kept(s, i) ? s.p[i] : '_');
		i += n;
	}
}

/* The line breaks here are the driver's. */
static void add_own(struct copy *to, struct span s)
{
	while (s.n) {
		if (!kmsg_break_size(s)) {
			add(to, s.p[0]);
			s = from(s, 1);
			continue;
		}
		cut_break(&s);
		if (s.n)
			add(to, ' ');
	}
}

bool kmsg_own(struct span message, char *to, size_t size, struct span *own)
{
	struct copy copy = { .p = to, .size = size };
	struct span users[2];
	size_t count = find_users(message, users);

	if (!count)
		return false;
	for (size_t i = 0; i < count; i++) {
		add_own(&copy, (struct span){ message.p, (size_t)(users[i].p - message.p) });
		add_users(&copy, users[i]);
		message = from(message, (size_t)(users[i].p + users[i].n - message.p));
	}
	add_own(&copy, message);
	*own = (struct span){ to, copy.n };
	return true;
}

/* ---- records as lines ---- */

bool kmsg_is_xid(struct span message)
{
	return span_starts(message, xid);
}

bool kmsg_is_cut(struct span message)
{
	struct span users[2], rest = message;
	bool whole;
	size_t n = 0;

	if (span_starts(message, mismatch)) {
		find_client(message, users, &whole);
		return !whole;
	}
	if (!cut_before_name(&rest))
		return false;
	for (; rest.n && n <= KMSG_NAME_MAX; n++)
		rest = from(rest, kmsg_byte_size(rest));
	return n <= KMSG_NAME_MAX;
}

bool kmsg_continues_mismatch(struct span line)
{
	static const char *const starts[] = {
		"NVRM: has the version ",     "NVRM: the version ",
		"NVRM: this kernel module ",  "NVRM: kernel module and all ",
		"NVRM: make sure that this ", "NVRM: components have the same ",
		"NVRM: have the same version"
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	return false;
}

struct span kmsg_first_line(struct span message)
{
	const char *at = span_search(message, "\\x0a");
	size_t end = span_find(message, '\n');

	if (at && (size_t)(at - message.p) < end)
		end = (size_t)(at - message.p);
	return (struct span){ message.p, end };
}
