/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A specification of the Container Device Interface, through libyaml. */
#include "fuzz.h"

#include <errno.h>

#include "parse/cdi.h"

#define LEFT_AFTER 64 /* items after which no more is wanted */

static bool found(void *user, struct span kind, const struct cdi_item *item)
{
	size_t *left = user;

	assert(kind.n < 256);
	if (item) {
		assert(item->what <= CDI_FIELD);
		assert((item->what == CDI_FIELD) == (item->since != NULL));
		assert(strlen(item->name.p) == item->name.n ||
		       memchr(item->name.p, '\0', item->name.n));
		assert(!item->numbered || item->what == CDI_DEVICE_NODE);
		assert(!item->numbered || item->major);
	}
	assert(*left);
	return --*left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t left = LEFT_AFTER, line;
	int rc = cdi_read(fuzz_span(data, size), found, &left, &line);

	assert(rc == 0 || rc == -EBADMSG || rc == -ENOMEM || rc == -ELIBACC);
	return 0;
}
