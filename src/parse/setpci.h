/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setpci.h - words of a command of setpci(8), as pciutils 3.14.0 reads them (setpci.c, lib/filter.c). A script can have
 * variables in the place of numbers and registers: $b of a shell, %k of udev.
 */
#ifndef PARSE_SETPCI_H
#define PARSE_SETPCI_H

#include "base/span.h"

enum setpci_word {
	SETPCI_OTHER, /* a word that setpci would refuse: a message, a variable, perhaps a secret */
	SETPCI_FLAGS, /* -v, -fr */
	SETPCI_FILTER,	 /* -s or -d: the selection is the next word */
	SETPCI_METHOD,	 /* an option whose argument is the next word, and selects no function */
	SETPCI_VARIABLE, /* a word that can be anything */
	SETPCI_WRITE,	 /* CAP_EXP+30.w=20:20 */
};

enum setpci_word setpci_word(struct span word);
/* 0000:19:00.0 after -s, 10de:2330 after -d. */
bool setpci_is_selection(struct span word);
/* Returns how many bytes a variable has with which TEXT begins; 0: none. */
size_t setpci_variable(struct span text);

#endif
