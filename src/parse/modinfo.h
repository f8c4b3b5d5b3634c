/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modinfo.h - finds the version of a kernel module in a stream of its bytes.
 *
 * The section .modinfo has it: a row of "key=value" strings with a NUL after each (include/linux/moduleparam.h
 * __MODULE_INFO). Its offset is in the section table at the end of a .ko, too late for a stream that is not kept. So
 * the row is found by "vermagic=", a string that modpost writes into every module and into no other file
 * (scripts/mod/modpost.c). Only a "version=" in the same unbroken row counts, so similar text elsewhere in a driver of
 * 100 MB does not. Two different versions are no answer.
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
	bool unsure; /* it is not certain whether a string is the version */
	size_t vermagic;
	char version[MODINFO_VERSION_MAX]; /* empty: the module has none */
};

void modinfo_begin(struct modinfo_scan *scan);
/* False when no more bytes are needed. */
bool modinfo_feed(struct modinfo_scan *scan, struct span block);
/* Call after the last block. True: it was a module, and its version is known or known to be absent. */
bool modinfo_end(struct modinfo_scan *scan);

#endif
