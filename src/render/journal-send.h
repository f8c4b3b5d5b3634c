/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal-send.h - findings as entries of the journal, with fields to select by; nvnodecheck(8) lists them. */
#ifndef JOURNAL_SEND_H
#define JOURNAL_SEND_H

#include "evaluate/report.h"

/* Writes a journal entry for each finding that fails or is pending, and one for the run. Returns 0 or a negative
 * errno. */
int journal_send(const struct report *report, enum exit_status status);

#endif
