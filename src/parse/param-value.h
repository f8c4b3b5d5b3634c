/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * param-value.h - checks whether the kernel accepts a value for a module's parameter. It ignores a name that the module
 * does not have, but refuses the module for a value that it does not accept. Source: kernel/params.c parse_one(),
 * STANDARD_PARAM_DEF() and param_set_*(); lib/kstrtox.c.
 */
#ifndef PARSE_PARAM_VALUE_H
#define PARSE_PARAM_VALUE_H

/* Returns why the kernel refuses VALUE (NULL: the name alone) for a parameter of TYPE, which is spelled as in
 * parmtype: "int", "array of uint". NULL if the value is valid, and for texts and unknown types. */
const char *param_refuses(const char *type, const char *value);

#endif
