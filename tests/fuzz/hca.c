/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of NICs in variables of NCCL and NVSHMEM, and GIDs: an address written out is read as the same
 * one, a list that excludes takes what the same list without "^" does not. */
#include "fuzz.h"

#include "parse/gid.h"
#include "parse/hca.h"

static void take(struct span text, struct hca_list list)
{
	struct hca_list opposite = list;
	struct span entries = list.entries;
	struct hca_entry entry;
	size_t count = 0;

	while (hca_entry_next(&entries, &entry)) {
		assert(entry.name.n <= text.n && ++count <= text.n + 1);
		(void)hca_entry_fits(&list, &entry, "mlx5_0", 1);
	}
	opposite.exclude = !list.exclude;
	assert(hca_list_allows(&list, "mlx5_0", 1) != hca_list_allows(&opposite, "mlx5_0", 1));
}

static void check_gid(const struct gid *gid)
{
	char text[GID_TEXT];
	unsigned int prefix;
	struct gid same;

	gid_format(text, gid);
	assert(strlen(text) < GID_TEXT && gid_from_address(span_of(text), &same, &prefix));
	assert(gid_is_equal(gid, &same) && prefix == 128);
	assert(gid_is_within(gid, &same, 128) && gid_is_within(gid, &same, 0));
	assert(!gid_is_zero(gid) || !gid_is_link_local(gid));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);
	char *value = arena_strndup(fuzz_arena(), size ? text.p : "", size);
	unsigned int prefix;
	struct gid gid;

	take(text, hca_list_nccl(value));
	take(text, hca_list_nvshmem(value));
	if (gid_parse(text, &gid))
		check_gid(&gid);
	if (gid_from_address(text, &gid, &prefix)) {
		assert(prefix <= 128 && gid_is_within(&gid, &gid, prefix));
		check_gid(&gid);
	}
	if (size >= sizeof(gid.raw)) {
		memcpy(gid.raw, data, sizeof(gid.raw));
		check_gid(&gid);
	}
	return 0;
}
