/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sysfs says of RDMA devices, and addresses of PCI functions: the results lie inside the text,
 * rates have no more digits than fit. */
#include "fuzz.h"

#include "parse/bdf.h"
#include "parse/rdma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size }, rest = text, word, name;
	uint64_t number;

	if (rdma_word_parse(text, &number, &word) == 0) {
		assert(word.n);
		check_inside(text, word);
	}
	check_inside(text, rdma_lane_rate(text));
	if (rdma_rate_parse(text, &number) == 0)
		assert(number < 1000000000000);
	(void)rdma_gid_is_set(text);
	while (verbs_driver_next(&rest, &name)) {
		assert(name.n);
		check_inside(text, name);
		assert(!verbs_is_library(name, text) || name.n > text.n);
	}
	if (bdf_in_path(text, &name)) {
		assert(bdf_is(name));
		check_inside(text, name);
	}
	return 0;
}
