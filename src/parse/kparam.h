/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kparam.h - splits a string of parameters as the kernel does: a module's, or its own command line. Source:
 * lib/cmdline.c next_arg(), kernel/params.c parse_args() and parameq().
 */
#ifndef PARSE_KPARAM_H
#define PARSE_KPARAM_H

#include "base/span.h"

struct kparam {
	struct span name; /* as written: dash and underscore are the same to the kernel */
	struct span value;
	bool has_value; /* "name" and "name=" differ */
	size_t offset;	/* offset of the word in the text, its quote included */
};

struct kparam_iter {
	struct span text;
	size_t at;
};

/* Reads the next word. False at the end of the text or at a NUL byte. Blanks are the kernel's: also byte 0xa0, even
 * inside a UTF-8 character. A word "--" ends the parameters of a module, and the rest of the command line is for init:
 * the caller stops there. */
bool kparam_next(struct kparam_iter *iter, struct kparam *param);
bool kparam_is_end(const struct kparam *param);

/* Returns true if S is the parameter or the module NAME. Case counts, dash and underscore are the same. */
bool kparam_name_is(struct span s, const char *name);

#endif
