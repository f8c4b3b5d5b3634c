/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of configuration space, vital product data: arithmetic that rules stand on. */
#include "cmocka-all.h"

#include "parse/pcie.h"
#include "parse/vpd.h"

#define GIB (UINT64_C(1) << 30)

static void test_windows(void **state)
{
	uint64_t start, size;

	(void)state;
	/* Base and limit hold address bits 31:20 in their upper twelve; the limit's rest is ones. */
	assert_true(pci_prefetch_window(0xfff10001, 0x380, 0x39f, &start, &size));
	assert_int_equal(start, UINT64_C(0x38000000000));
	assert_int_equal(size, UINT64_C(0x1ffff00000) + (UINT64_C(1) << 20));
	/* Base above limit: closed. */
	assert_true(pci_prefetch_window(0x0001fff1, 0, 0, &start, &size));
	assert_int_equal(size, 0);
	/* One granule of 1 MiB. */
	assert_true(pci_prefetch_window(0x80018001, 0, 0, &start, &size));
	assert_int_equal(start, 0x80000000);
	assert_int_equal(size, 1 << 20);
	/* At address 0, where no device can be: registers that nobody set. */
	assert_true(pci_prefetch_window(0x00010001, 0, 0, &start, &size));
	assert_int_equal(size, 0);
	/* 32 bits below and 64 above, and a reserved width: lspci has no window for them either. */
	assert_false(pci_prefetch_window(0x80018000, 0, 0, &start, &size));
	assert_false(pci_prefetch_window(0x80028002, 0, 0, &start, &size));
}

static void test_resizable(void **state)
{
	struct pcie_rebar entry = { .count = 1 };

	(void)state;
	/* Capability bit n + 4: 2^(n + 20) bytes; control: BAR 1, one entry, size 8 = 256 MiB. */
	assert_true(pcie_rebar_parse(0x3fu << (8 + 4), 1 | 1 << 5 | 8 << 8, &entry));
	assert_int_equal(entry.index, 1);
	assert_int_equal(entry.count, 1);
	assert_int_equal(entry.size, 256 << 20);
	assert_int_equal(entry.size_max, 8 * GIB);
	assert_false(pcie_rebar_parse(0x10, 7 | 1 << 5, &entry));
	/* Found by tests/oracles/lspci.py: such a capability has no BAR. */
	assert_true(pcie_rebar_parse(0x10, 1, &entry));
	assert_int_equal(entry.count, 0);
	assert_true(pcie_rebar_parse(0x10, 1 | 7 << 5, &entry));
	assert_int_equal(entry.count, 0);
}

static void test_speeds(void **state)
{
	(void)state;
	assert_int_equal(pcie_speed_mts(1), 2500);
	assert_int_equal(pcie_speed_mts(5), 32000);
	assert_int_equal(pcie_speed_mts(6), 64000);
	assert_int_equal(pcie_speed_mts(0), 0);
	assert_int_equal(pcie_speed_text(span_of("32.0 GT/s PCIe")), 32000);
	assert_int_equal(pcie_speed_text(span_of("2.5 GT/s")), 2500);
	assert_int_equal(pcie_speed_text(span_of("Unknown")), 0);
	assert_int_equal(pcie_payload_bytes(0), 128);
	assert_int_equal(pcie_payload_bytes(5), 4096);
	assert_int_equal(pcie_payload_bytes(6), 0);
}

static void test_uevent(void **state)
{
	struct pci_uevent u;

	(void)state;
	assert_true(
		pci_uevent_parse(span_of("DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2335\n"
					 "PCI_SUBSYS_ID=10DE:18BE\nPCI_SLOT_NAME=0000:19:00.0\n"),
				 &u));
	assert_int_equal(u.class, 0x030200);
	assert_int_equal(u.vendor, 0x10de);
	assert_int_equal(u.device, 0x2335);
	assert_int_equal(u.subsystem_device, 0x18be);
	assert_true(span_is(u.driver, "nvidia"));
	/* No driver is bound, and a class of one digit less. */
	assert_true(pci_uevent_parse(
		span_of("PCI_CLASS=1\nPCI_ID=8086:0001\nPCI_SUBSYS_ID=0000:0000\n"), &u));
	assert_int_equal(u.driver.n, 0);
	assert_false(pci_uevent_parse(span_of("PCI_CLASS=30200\nPCI_ID=10DE:2335\n"), &u));
	assert_false(pci_uevent_parse(
		span_of("PCI_CLASS=1030200\nPCI_ID=10DE:2335\nPCI_SUBSYS_ID=0:0\n"), &u));
	assert_false(pci_uevent_parse(
		span_of("PCI_CLASS=30200\nPCI_ID=110DE:2335\nPCI_SUBSYS_ID=0:0\n"), &u));
}

static void test_vpd(void **state)
{
	static const char data[] = "\x82\x04\x00NAME\x90\x17\x00VA\x14MLX:MN=X:SMDL=SW_MNG\x78";
	struct span vpd = { data, sizeof(data) - 1 }, value;

	(void)state;
	assert_int_equal(vpd_find(vpd, "SMDL", &value), VPD_FOUND);
	assert_true(span_is(value, "SW_MNG"));
	assert_int_equal(vpd_find(vpd, "SMD", &value), VPD_NONE);
	/* What is cut off can have the key, or the rest of its value. */
	for (size_t n = 0; n < sizeof(data) - 1; n++) {
		assert_int_equal(vpd_find((struct span){ data, n }, "SMD", &value), VPD_CUT);
		assert_int_equal(vpd_find((struct span){ data, n }, "SMDL", &value),
				 n < sizeof(data) - 2 ? VPD_CUT : VPD_FOUND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows), cmocka_unit_test(test_resizable),
		cmocka_unit_test(test_speeds),	cmocka_unit_test(test_uevent),
		cmocka_unit_test(test_vpd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
