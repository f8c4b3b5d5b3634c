/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.h - text from a host is bytes; documents must be UTF-8. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the bytes of the valid character at the start of S, which has N bytes. 0: no valid character, or NUL. */
size_t utf8_length(const char *s, size_t n);

/* Returns N, or less if the first N bytes of S end within a character: then without the beginning of that character. */
size_t utf8_cut(const char *s, size_t n);

/* Removes incomplete characters from S, a text that was valid before printf() cut it. */
void utf8_drop_cut(char *s);

/* Returns true if S is only ASCII without NUL, as nearly all input is. */
bool utf8_is_plain(const char *s, size_t n);
/* Bytes that utf8_clean() writes for S, the final NUL included. */
size_t utf8_clean_size(const char *s, size_t n);
/* Copies S with every byte that is not part of valid UTF-8, and every NUL, as U+FFFD. */
void utf8_clean(char *out, const char *s, size_t n);

#endif
