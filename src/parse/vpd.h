/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpd.h - the vital product data of a PCI function (PCI Local Bus Specification 3.0, appendix I): a
 * name, then fields of two letters each. Vendors put lists of KEY=VALUE into theirs. */
#ifndef PARSE_VPD_H
#define PARSE_VPD_H

#include "base/span.h"

/* VPD_CUT: the data has no end, and what is missing of it can have the key. */
enum vpd_answer { VPD_NONE, VPD_FOUND, VPD_CUT };

/* Finds the VALUE of "KEY=VALUE" between colons in any field. */
enum vpd_answer vpd_find(struct span vpd, const char *key, struct span *value);

#endif
