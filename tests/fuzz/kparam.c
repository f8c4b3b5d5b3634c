/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters: every word lies inside the text, in order, and the iterator ends. */
#include "fuzz.h"

#include "parse/kparam.h"

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
		(void)kparam_name_is(param.name, "NVreg-RegistryDwords");
	}
	return 0;
}
