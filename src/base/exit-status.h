/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exit-status.h - the exit statuses of the program; nvnodecheck(8) has the same table. */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

enum exit_status {
	EXIT_WELL = 0,	      /* nothing at or above --fail-on */
	EXIT_FINDINGS = 1,    /* findings at or above it */
	EXIT_USAGE = 2,	      /* wrong usage or a wrong configuration file */
	EXIT_INCOMPLETE = 3,  /* a value that a rule of that severity needs is unknown */
	EXIT_CANNOT = 4,      /* could not do it; nothing changed */
	EXIT_UNCONFIRMED = 5, /* changed, but the check afterwards did not confirm it */
};

#endif
