/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-c.c - json-c, which is opened when one of its functions is first called: a run that calls none does not pay for
 * it.
 */
#include "base/json-c.h"

#include <pthread.h>

static struct json_c lib;

static void load(void)
{
#define SYMBOL(name) { &lib.name, "json_" #name, NULL, 0 },
	static const struct library_symbol symbols[] = { JSON_C_FUNCTIONS(SYMBOL) };
#undef SYMBOL

	library_need(LIBJSON_C, symbols, LIBRARY_COUNT(symbols));
}

const struct json_c *json_c(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return &lib;
}
