/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modinfo.h - the version of a kernel module whose bytes stream by.
 *
 * The section that says it, .modinfo, is a row of "key=value" strings with a NUL after each
 * (include/linux/moduleparam.h __MODULE_INFO). Where it lies is in the section table, which stands
 * at the end of a .ko, too late for a stream that is not kept. So the row is found by a string that
 * modpost writes into every module and into nothing else, "vermagic=" (scripts/mod/modpost.c), and
 * only a "version=" in the very same unbroken row counts: text that merely looks like one elsewhere
 * in a driver of 100 MB does not. Two that differ are no answer.
 */
#ifndef PARSE_MODINFO_H
#define PARSE_MODINFO_H

#include "base/span.h"

#define MODINFO_REACH (32u << 10) /* most bytes of the row on either side of vermagic */
#define MODINFO_VERSION_MAX 64

struct modinfo_scan {
	char window[2 * MODINFO_REACH + (32u << 10)];
	size_t n;
	bool found; /* vermagic is in the window, which now fills up to its end */
	bool done;
	bool unsure; /* something may or may not be the version */
	size_t vermagic;
	char version[MODINFO_VERSION_MAX]; /* empty: the module has none */
};

void modinfo_begin(struct modinfo_scan *scan);
/* False when no more bytes are needed. */
bool modinfo_feed(struct modinfo_scan *scan, struct span block);
/* After the last block: true when it was a module's, and its version is known or known to be none.
 */
bool modinfo_end(struct modinfo_scan *scan);

#endif
