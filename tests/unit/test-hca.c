/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of NICs and interfaces as NCCL and NVSHMEM take them; GIDs and addresses. */
#include <string.h>

#include "cmocka-all.h"
#include "parse/gid.h"
#include "parse/hca.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_nccl_lists(void **state)
{
	static const struct {
		const char *list, *name;
		int port;
		bool takes;
	} rows[] = {
		{ "", "mlx5_0", 1, true },
		{ "mlx5", "mlx5_0", 1, true },
		{ "mlx5_1", "mlx5_10", 1, true },
		{ "=mlx5_1", "mlx5_10", 1, false },
		{ "=mlx5_1", "mlx5_1", 1, true },
		{ "mlx5_0:1,mlx5_1:2", "mlx5_1", 1, false },
		{ "mlx5_0:1,mlx5_1:2", "mlx5_1", 2, true },
		{ "mlx5_0::3", "mlx5_0", 2, true },
		{ "mlx5_0:x", "mlx5_0", 1, false },
		{ "^mlx5_1", "mlx5_10", 1, false },
		{ "^mlx5_1", "mlx5_0", 1, true },
		{ "^=mlx5_1", "mlx5_10", 1, true },
		{ "=^mlx5_1", "mlx5_1", 1, false },
		{ "^", "mlx5_0", 1, false },
		{ ",,mlx5_3,", "mlx5_3", 1, true },
		{ ",,mlx5_3,", "mlx5_4", 1, false },
		{ " mlx5_3", "mlx5_3", 1, false },
		{ "eth,bond0", "bond0", HCA_ANY_PORT, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct hca_list list = hca_list_nccl(rows[i].list);

		if (hca_list_allows(&list, rows[i].name, rows[i].port) != rows[i].takes)
			fail_msg("'%s' and %s:%d", rows[i].list, rows[i].name, rows[i].port);
	}
}

static void test_nvshmem_lists(void **state)
{
	static const struct {
		const char *list, *name;
		bool takes;
	} rows[] = {
		{ "mlx5_1:1", "mlx5_1", true },	  { "mlx5_1", "mlx5_10", false },
		{ "mlx5_0:1:2", "mlx5_0", true }, { "^mlx5_1", "mlx5_1", false },
		{ "^mlx5_1", "mlx5_10", true },	  { "=mlx5_1", "mlx5_1", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct hca_list list = hca_list_nvshmem(rows[i].list);

		if (hca_list_allows(&list, rows[i].name, 1) != rows[i].takes)
			fail_msg("'%s' and %s", rows[i].list, rows[i].name);
	}
}

static void test_gids(void **state)
{
	struct gid four, six, address;
	unsigned int prefix;
	char text[GID_TEXT];

	(void)state;
	assert_true(gid_parse(span_of("0000:0000:0000:0000:0000:ffff:0a40:0007"), &four));
	assert_true(gid_is_ipv4(&four) && !gid_is_link_local(&four) && !gid_is_zero(&four));
	gid_format(text, &four);
	assert_string_equal(text, "10.64.0.7");
	assert_true(gid_parse(span_of("fe80:0000:0000:0000:0ac0:ebff:feda:1cfb"), &six));
	assert_true(gid_is_link_local(&six) && !gid_is_ipv4(&six));
	gid_format(text, &six);
	assert_string_equal(text, "fe80::ac0:ebff:feda:1cfb");

	assert_true(gid_from_address(span_of("10.64.0.7/24"), &address, &prefix));
	assert_int_equal(prefix, 120);
	assert_true(gid_is_equal(&address, &four));
	assert_true(gid_from_address(span_of("10.64.0.0/13"), &address, &prefix));
	assert_true(gid_is_within(&four, &address, prefix));
	assert_true(gid_from_address(span_of("10.72.0.0/13"), &address, &prefix));
	assert_false(gid_is_within(&four, &address, prefix));
	assert_true(gid_from_address(span_of("::/0"), &address, &prefix));
	assert_int_equal(prefix, 0);
	assert_true(gid_is_within(&four, &address, prefix));
	assert_true(gid_from_address(span_of("10.64.0.7"), &address, &prefix));
	assert_int_equal(prefix, 128);
	assert_true(gid_is_within(&four, &address, prefix));
}

static void test_no_gids(void **state)
{
	static const char *const addresses[] = {
		"",	      "10.64.0", "10.64.0.7/33", "10.64.0.7/",
		"fe80::/129", "eth0",	 "10.64.0.7/x",	 "1:2:3:4:5:6:7:8:9"
	};
	static const char *const gids[] = { "", "fe80::1", "0000:0000",
					    "0000:0000:0000:0000:0000:ffff:0a40:0007:0000",
					    "0000:0000:0000:0000:0000:ffff:0a40:00g7" };
	unsigned int prefix;
	struct gid gid;

	(void)state;
	for (size_t i = 0; i < COUNT(addresses); i++)
		if (gid_from_address(span_of(addresses[i]), &gid, &prefix))
			fail_msg("address '%s'", addresses[i]);
	for (size_t i = 0; i < COUNT(gids); i++)
		if (gid_parse(span_of(gids[i]), &gid))
			fail_msg("GID '%s'", gids[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nccl_lists),
		cmocka_unit_test(test_nvshmem_lists),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_no_gids),
	};

	return cmocka_run_group_tests_name("hca", tests, NULL, NULL);
}
