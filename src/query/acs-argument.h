/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acs-argument.h - how the running kernel reads the arguments pci=disable_acs_redir= and pci=config_acs=. Pure. */
#ifndef ACS_ARGUMENT_H
#define ACS_ARGUMENT_H

#include "facts/facts.h"

/*
 * Commit 47c8846a49ba (PCI: Extend ACS configurability) brought config_acs, and broke both arguments for more than
 * one device until commit 9cf8a952d57b, which is in 6.15 and in later stable releases of 6.12 and 6.14: pci_dbg() in
 * the latter's message shows ACS switched on instead of off.
 */
#define ACS_ARGUMENT_BROKEN "6.11"
#define ACS_ARGUMENT_REPAIRED "6.15"
#define ACS_ARGUMENT_REPAIR "9cf8a952d57b"

/* Commit aaca43fda742 (2018-08-09) brought pci=disable_acs_redir=: Linux 4.19 is the first release with it. A
 * distribution's kernel that is named 4.18 can have it too. */
#define ACS_ARGUMENT_SINCE "4.18"

/* Returns true if the kernel is too old for both arguments. */
bool acs_argument_is_missing(const struct node *node);

/* Returns true if the kernel misreads both arguments, unless it has the repair. Unknown: its version is not known. */
struct fact_bool acs_argument_is_misread(const struct node *node);

/* Returns true if the kernel knows config_acs and reads it rightly. */
bool acs_argument_has_config(const struct node *node);

#endif
