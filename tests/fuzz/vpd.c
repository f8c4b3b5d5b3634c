/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vital product data: the reader ends, and what it finds is inside. */
#include "fuzz.h"

#include "parse/vpd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span vpd = { (const char *)data, size }, value;

	if (vpd_find(vpd, "SMDL", &value) == VPD_FOUND)
		assert(value.p >= vpd.p && value.p + value.n <= vpd.p + vpd.n);
	return 0;
}
