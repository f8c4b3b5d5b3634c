/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters: every word lies inside the text, in order, and the iterator ends. A value that a type takes is
 * taken by a wider one, and as an array of one. */
#include "fuzz.h"

#include "parse/kparam.h"
#include "parse/param-value.h"

static void check_value(struct span value)
{
	static const char *const wider[] = { "byte",   "ushort",	  "uint",
					     "ullong", "array of ullong", "charp" };
	char text[32];
	bool taken = false;

	if (value.n >= sizeof(text))
		return;
	if (value.n)
		memcpy(text, value.p, value.n);
	text[value.n] = '\0';
	for (size_t i = 0; i < sizeof(wider) / sizeof(wider[0]); i++) {
		assert(!taken || !param_refuses(wider[i], text));
		taken = !param_refuses(wider[i], text);
	}
	assert(param_refuses("short", text) || !param_refuses("int", text));
	assert(param_refuses("bool", text) || !param_refuses("array of bool", text) ||
	       strchr(text, ','));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	struct kparam_iter iter = { .text = text };
	struct kparam param;
	size_t before = 0;

	while (kparam_next(&iter, &param)) {
		assert(param.offset >= before && iter.at > param.offset && iter.at <= size);
		before = iter.at;
		check_inside(text, param.name);
		check_inside(text, param.value);
		assert(param.has_value || !param.value.n);
		(void)kparam_is_end(&param);
		check_value(param.value);
		(void)kparam_name_is(param.name, "NVreg-RegistryDwords");
	}
	return 0;
}
