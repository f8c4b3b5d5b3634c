/* SPDX-License-Identifier: GPL-2.0-or-later */
/* toml.h - values of TOML (toml.io, 1.0) in the form of the container tools, one setting on a line. unit_next() reads
 * lines and tables: the two have the same form. */
#ifndef PARSE_TOML_H
#define PARSE_TOML_H

#include <stdbool.h>

#include "base/span.h"

/* Cuts the next string off a value: "one", 'one', ["one", "two"]. False at the end, and for one with escapes. */
bool toml_string_next(struct span *value, struct span *string);
/* Returns true if a list that begins on this line ends on a later line. */
bool toml_is_continued(struct span value);
/* Splits a table's name or key: the last part, nvidia of plugins."io.containerd.grpc.v1.cri".runtimes.nvidia, and the
 * text before it. */
struct span toml_last(struct span name, struct span *before);

#endif
