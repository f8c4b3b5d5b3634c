/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-journal.h - the kernel's messages of one boot, from systemd's journal. libsystemd is opened when
 * it is first wanted. */
#ifndef LOG_JOURNAL_H
#define LOG_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "host/host.h"
#include "parse/kmsg-driver.h"

/* Reading a journal decompresses, and takes 10 to 20 us a message. */
#define JOURNAL_BUDGET_MS 800

/* LEVEL: PRIORITY of systemd.journal-fields(7), or KMSG_LEVEL_NONE. */
typedef void journal_message(void *user, uint64_t time_us, int level, struct span message);

/*
 * FOLDER NULL: this machine's. BOOT is the boot's id in 32 digits, "" for the last one that is
 * there. 0, with CUT set when the time ran out first; -ELIBACC without libsystemd, -ENODATA when
 * there is no message of that boot, or none that this user may see.
 */
int journal_read(const char *folder, const char *boot, journal_message *message, void *user,
		 bool *cut);

#define JOURNAL_BOOT_ID 40 /* bytes */

/* The id of the boot that HOST runs in, as above. */
void journal_boot(struct host *host, char id[JOURNAL_BOOT_ID]);

/* The journal of a tree, for the two functions: 0, or negative errno. */
int journal_folder(struct host *host, char native[PATH_MAX]);

/*
 * The last MAX messages of UNIT and what systemd said about it, in that boot or, where BOOT is "", in any; the
 * newest first. Answers as journal_read().
 */
typedef void journal_unit_message(void *user, bool systemd, struct span message);
int journal_read_unit(const char *folder, const char *boot, const char *unit, size_t max,
		      journal_unit_message *message, void *user);

#endif
