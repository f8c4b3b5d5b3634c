/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-own.c - separates the bytes of the driver from those of a user in a driver's message. */
#include "parse/kmsg-own.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/kmsg-text.h"

#define VERSION_MAX 63 /* nv-ioctl.h: NV_RM_API_VERSION_STRING_LENGTH less its end */

/* The driver's texts, and between them the users', of at most so many bytes. In a driver's text * is a word, # a
 * number, and a line break is followed by the prefix of the next line. */
struct form {
	const char *own[KMSG_USERS_MAX + 1];
	size_t max[KMSG_USERS_MAX];
};

/* Sources: open-gpu-kernel-modules 515.43.04 to 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c
 * (RmPerformVersionCheck), src/nvidia/src/kernel/gpu/rc/kernel_rc.c (krcReportXid); Linux 6.12.117:
 * arch/x86/mm/pat/memtype.c. */
static const struct form forms[] = {
	/* from 575.51.02 on */
	{ { "NVRM: API mismatch: the client '", "' (pid #)\nhas the version ",
	    ", but this kernel module has\nthe version *  Please make sure that this\n"
	    "kernel module and all NVIDIA driver components\nhave the same version." },
	  { KMSG_NAME_MAX, VERSION_MAX } },
	{ { "NVRM: API mismatch: the client has the version ",
	    ", but\nthis kernel module has the version *  Please\n"
	    "make sure that this kernel module and all NVIDIA driver\n"
	    "components have the same version." },
	  { VERSION_MAX } },
	{ { "NVRM: API mismatch" }, { 0 } },
	/* of a GPU, of an instance of it, and of a compute instance in one */
	{ { "NVRM: Xid (* #, pid=* name=", ", " }, { KMSG_NAME_MAX } },
	{ { "NVRM: Xid (* * #, pid=* name=", ", " }, { KMSG_NAME_MAX } },
	{ { "NVRM: Xid (* * * #, pid=* name=", ", " }, { KMSG_NAME_MAX } },
	{ { "x86/PAT: ", ":# " }, { KMSG_NAME_MAX } },
};

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* ---- the driver's text ---- */

static void cut_blanks(struct span *s)
{
	while (s->n && s->p[0] == ' ')
		*s = from(*s, 1);
}

/* Cuts a line break and the prefix of the next line; a log that has the lines as one has a blank there. */
static void cut_break(struct span *s)
{
	*s = from(*s, kmsg_break_size(*s));
	cut_blanks(s);
	if (span_starts(*s, "NVRM:"))
		*s = from(*s, strlen("NVRM:"));
	cut_blanks(s);
}

enum fit {
	FITS_NOT,
	FITS_SO_FAR, /* the message ends in the text */
	FITS,
};

/* Cuts TEXT off the beginning of S. */
static enum fit cut_own(struct span *s, const char *text)
{
	for (; *text; text++) {
		const char one[2] = { *text };
		size_t n;

		if (*text == '\n') {
			cut_break(s);
			continue;
		}
		/* The lines of a file end without blanks. */
		if (*text == ' ' && (s->n ? kmsg_break_size(*s) > 0 : !text[1]))
			continue;
		if (!s->n)
			return FITS_SO_FAR;
		n = kmsg_form_size(*s, one);
		if (!n)
			return FITS_NOT;
		*s = from(*s, n);
	}
	return FITS;
}

/* ---- the users' texts ---- */

struct search {
	const struct form *form;
	struct kmsg_users *users;
	struct span texts[KMSG_USERS_MAX];
};

static void keep_texts(struct search *search, size_t count)
{
	memcpy(search->users->texts, search->texts, sizeof(search->texts));
	search->users->count = count;
}

/* Tries each length of the user's text K, which REST begins with. Where the driver's text comes more than once, the
 * user has given a copy of it, and the last one is the driver's. */
static void find_texts(struct search *search, size_t k, struct span rest)
{
	const struct form *form = search->form;
	struct kmsg_users *users = search->users;

	for (size_t i = 0, n = 0; i <= form->max[k]; i++) {
		struct span after = from(rest, n);
		enum fit fit = cut_own(&after, form->own[k + 1]);

		search->texts[k] = (struct span){ rest.p, n };
		if (fit == FITS && k + 1 < KMSG_USERS_MAX && form->own[k + 2]) {
			find_texts(search, k + 1, after);
		} else if (fit == FITS) {
			users->whole = true;
			keep_texts(search, k + 1);
		} else if (fit == FITS_SO_FAR) {
			if (!users->whole && !users->open)
				keep_texts(search, k + 1);
			users->open = true;
		}
		if (n == rest.n)
			break;
		n += kmsg_byte_size(from(rest, n));
	}
}

bool kmsg_find_users(struct span message, struct kmsg_users *users)
{
	struct search search = { .users = users };
	struct span rest;
	size_t i = 0;

	*users = (struct kmsg_users){ 0 };
	for (;; i++) {
		if (i == ARRAY_SIZE(forms))
			return false;
		rest = message;
		if (cut_own(&rest, forms[i].own[0]) == FITS)
			break;
	}
	search.form = &forms[i];
	if (forms[i].own[1])
		find_texts(&search, 0, rest);
	if (!users->count) {
		users->texts[0] = rest;
		users->count = 1;
	}
	return true;
}

/* ---- the copy ---- */

/* A colon is kept if it cannot be part of a device number: "VLLM::Worker". */
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
	struct kmsg_users users;

	if (!kmsg_find_users(message, &users))
		return false;
	for (size_t i = 0; i < users.count; i++) {
		struct span text = users.texts[i];

		add_own(&copy, (struct span){ message.p, (size_t)(text.p - message.p) });
		add_users(&copy, text);
		message = from(message, (size_t)(text.p + text.n - message.p));
	}
	add_own(&copy, message);
	*own = (struct span){ to, copy.n };
	return true;
}

/* ---- lines ---- */

struct span kmsg_first_line(struct span message)
{
	const char *at = span_search(message, "\\x0a");
	size_t end = span_find(message, '\n');

	if (at && (size_t)(at - message.p) < end)
		end = (size_t)(at - message.p);
	return (struct span){ message.p, end };
}
