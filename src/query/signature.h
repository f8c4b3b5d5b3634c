/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signature.h - decides whether the kernel loads only modules with a signature that it knows. Pure. */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include "facts/facts.h"
#include "query/cure.h"

/*
 * Why the kernel refuses what is not signed by a key that it knows, and the path of the FACT that says so; NULL:
 * nothing says that it does. kernel/module/signing.c: CONFIG_MODULE_SIG_FORCE, module.sig_enforce, or lockdown, which
 * distributions tie to Secure Boot.
 */
const char *signature_enforced_by(const struct node *node, const char **fact);

/*
 * What ends that, as an instruction: it depends on what requires signatures, and on whether this kernel trusts the
 * machine owner's keys. Those are read with Secure Boot only. HAS_SIGNATURE: an enrolled key is of no use to a module
 * without one.
 */
struct cure signature_cure(struct arena *arena, const struct node *node, bool has_signature);

#endif
