/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.h - text from a host is bytes; documents must be UTF-8. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the valid character that S, of N bytes, begins with; 0: none, or NUL. */
size_t utf8_length(const char *s, size_t n);

/* N, or less where the first N bytes of S end within a character: without its beginning. */
size_t utf8_cut(const char *s, size_t n);

/* Takes out of S what is no whole character: of text that was right before printf() cut words of it. */
void utf8_drop_cut(char *s);

/* Returns true if S is only ASCII without NUL, as nearly all input is. */
bool utf8_is_plain(const char *s, size_t n);
/* Bytes that utf8_clean() writes for S, the final NUL included. */
size_t utf8_clean_size(const char *s, size_t n);
/* Copies S with every byte that is not part of valid UTF-8, and every NUL, as U+FFFD. */
void utf8_clean(char *out, const char *s, size_t n);

#endif
