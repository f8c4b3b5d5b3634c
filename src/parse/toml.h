/* SPDX-License-Identifier: GPL-2.0-or-later */
/* toml.h - values of TOML (toml.io, 1.0) as the container tools write them, one setting on a line. Lines and
 * tables are unit_next()'s: the two have the same form. */
#ifndef PARSE_TOML_H
#define PARSE_TOML_H

#include <stdbool.h>

#include "base/span.h"

/* The next string of a value: "one", 'one', ["one", "two"]. False at the end, and where one has escapes. */
bool toml_string_next(struct span *value, struct span *string);
/* Returns true if the value is true or false. */
bool toml_bool(struct span value, bool *out);
/* Returns true if a list that begins on this line ends on a later line. */
bool toml_is_continued(struct span value);
/* The last part of a table's name or key: nvidia of plugins."io.containerd.grpc.v1.cri".runtimes.nvidia, and
 * what is before it. */
struct span toml_last(struct span name, struct span *before);

#endif
