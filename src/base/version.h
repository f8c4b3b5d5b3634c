/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - the version of the program, and of its documents. */
#ifndef VERSION_H
#define VERSION_H

#define NVNODECHECK_VERSION "1.0.0"

/* Minor: keys were added. Major: something was removed or changed. */
#define FORMAT_MAJOR 1
#define FORMAT_MINOR 0

#endif
