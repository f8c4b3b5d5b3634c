/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of /proc, /sys and /boot that say what the machine is: what is found lies inside the
 * text, and a list of processors written out again has as many. */
#include "fuzz.h"

#include <stdio.h>

#include "parse/cpuinfo.h"
#include "parse/cpulist.h"
#include "parse/field.h"
#include "parse/iomem.h"
#include "parse/kconfig.h"
#include "parse/mountinfo.h"
#include "parse/process.h"
#include "parse/virt.h"

#define PROCESSORS 64 /* of a list that is written out */

static void read_cpulist(struct span text)
{
	struct cpulist list, first;
	char one[32];

	if (cpulist_parse(text, &list) || !list.count)
		return;
	snprintf(one, sizeof(one), "%llu\n", (unsigned long long)list.first);
	assert(cpulist_parse(span_of(one), &first) == 0);
	assert(first.count == 1 && first.first == list.first);
}

/* Each byte takes a run of processors: what is written as a list is read as one. */
static void write_cpulist(struct span bytes)
{
	char text[PROCESSORS * 16] = "";
	uint64_t at = 0, count = 0, first = bytes.n ? (uint8_t)bytes.p[0] : 0;
	struct cpulist list;
	size_t n = 0;

	for (size_t i = 0; i + 1 < bytes.n && i < PROCESSORS; i += 2) {
		uint64_t from = at + (uint8_t)bytes.p[i], to = from + (uint8_t)bytes.p[i + 1] % 8;

		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      to > from ? "%s%llu-%llu" : "%s%llu", n ? "," : "",
				      (unsigned long long)from, (unsigned long long)to);
		count += to - from + 1;
		at = to + 1;
	}
	assert(cpulist_parse((struct span){ text, n }, &list) == 0 && list.count == count);
	assert(!count || list.first == first);
}

static void read_mounts(struct span text)
{
	struct span rest = text;
	struct mountinfo line;
	char out[256];
	size_t bad = 0;

	while (mountinfo_next(&rest, &line, &bad)) {
		check_inside(text, line.point);
		check_inside(text, line.super_options);
		assert(!mountinfo_unescape(line.point, out, sizeof(out) - 1) ||
		       strlen(out) <= line.point.n);
		if (mountinfo_options(&line, out, sizeof(out) - 1))
			assert(strlen(out) <= line.mount_options.n + line.super_options.n + 4);
	}
	assert(bad <= text.n + 1);
}

/* A holder lies in the text, and within the BAR of a function. */
static void read_iomem(struct span text)
{
	struct iomem_walk walk = { 0 };
	struct iomem_claim claim;
	struct span rest = text;

	while (iomem_next(&rest, &walk, &claim)) {
		check_inside(text, claim.holder);
		assert(*claim.bdf && claim.end >= claim.start);
	}
}

static void read_fields(struct span text)
{
	static const char *const names[] = { "CONFIG_PCI_P2PDMA", "CONFIG_DMABUF_MOVE_NOTIFY" };
	struct span values[2] = { 0 }, value;
	struct cpuinfo info;
	char out[64];
	uint64_t bytes;

	if (kconfig_find(text, names, values, 2)) {
		check_inside(text, values[0]);
		check_inside(text, values[1]);
	}
	if (cpuinfo_parse(text, &info))
		check_inside(text, info.model);
	if (field_find(text, ':', "MemTotal", &value)) {
		check_inside(text, value);
		assert(field_count(text, ':', "MemTotal") >= 1);
		(void)field_kib(value, &bytes);
	}
	assert(!field_shell(text, "PRETTY_NAME", out, sizeof(out)) || strlen(out) < sizeof(out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size), value;
	bool certain;

	read_cpulist(text);
	write_cpulist(text);
	read_mounts(text);
	read_iomem(text);
	read_fields(text);
	(void)virt_from_dmi(text, &certain);
	(void)cloud_from_dmi(VIRT_VENDOR, text);
	(void)virt_from_clocksource(text);
	(void)virt_from_acpi(text);
	(void)virt_from_device_tree(text);
	(void)container_from_cgroup(text);
	if (process_environ_find(text, "container", &value))
		check_inside(text, value);
	return 0;
}
