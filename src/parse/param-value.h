/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * param-value.h - whether the kernel takes a value for a module's parameter. It passes over a name that the
 * module does not have; for a value that it does not take it refuses the module.
 * Source: kernel/params.c parse_one(), STANDARD_PARAM_DEF() and param_set_*(); lib/kstrtox.c.
 */
#ifndef PARSE_PARAM_VALUE_H
#define PARSE_PARAM_VALUE_H

/* What is wrong with VALUE (NULL: the name alone) for a parameter of TYPE, as parmtype spells it: "int",
 * "array of uint". NULL where nothing is, and for texts and types that are not known. */
const char *param_refuses(const char *type, const char *value);

#endif
