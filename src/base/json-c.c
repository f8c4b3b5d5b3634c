/* SPDX-License-Identifier: GPL-2.0-or-later */
#define JSON_C_NAMES
#include "base/json-c.h"

#include <stdbool.h>

#include "base/memory.h"

static struct json_c lib;

const struct json_c *json_c(void)
{
	static const struct library_symbol symbols[] = { JSON_C_FUNCTIONS(LIBRARY_SYMBOL) };
	static bool loaded;

	if (!loaded && library_load(LIBJSON_C, symbols, LIBRARY_COUNT(symbols)))
		memory_end("libjson-c.so.5 is not installed");
	loaded = true;
	return &lib;
}
