/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpd.h - the vital product data of a PCI function (PCI Local Bus Specification 3.0, appendix I): a
 * name, then fields of two letters each. Vendors put lists of KEY=VALUE into theirs. */
#ifndef PARSE_VPD_H
#define PARSE_VPD_H

#include <stdbool.h>

#include "base/span.h"

/* The VALUE of "KEY=VALUE" between colons in any field; false when there is none. VPD may be cut. */
bool vpd_find(struct span vpd, const char *key, struct span *value);

#endif
