/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What software says of its version by names and texts: what is found lies inside them. */
#include "fuzz.h"

#include "parse/version.h"

static void read_line(struct span line)
{
	static const char *const stems[] = { "libnccl.so", "libcuda.so", "libibverbs.so" };
	struct span project, version;

	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++)
		if (version_of_library(line, stems[i], &version)) {
			check_inside(line, version);
			(void)version_is_whole(version);
		}
	if (version_of_dist_info(line, &project, &version)) {
		assert(project.n && version.n);
		check_inside(line, project);
		check_inside(line, version);
	}
	if (version_of_sources(line, &project, &version)) {
		check_inside(line, project);
		check_inside(line, version);
	}
	version = version_upstream(line);
	check_inside(line, version);
	(void)version_is_driver(version);
}

static bool is_nvidia(struct span name)
{
	return span_starts(name, "nvidia-");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size), rest = text, line, version;
	struct version_dpkg dpkg = { 0 };
	struct version_mark mark = { .mark = "ENROOT_VERSION=\"" };
	uint64_t number;

	while (span_cut(&rest, '\n', &line)) {
		read_line(line);
		if (version_dpkg_line(&dpkg, line, is_nvidia))
			assert(strlen(dpkg.version) < sizeof(dpkg.version));
	}
	(void)version_define(text, "NVSHMEM_VENDOR_MAJOR_VERSION", &number);
	if (version_of_cuda(text, &version))
		check_inside(text, version);
	if (version_of_ofed(text, &version))
		check_inside(text, version);
	if (version_after(text, "EFA installer version: ", &version))
		check_inside(text, version);
	if (version_mark_feed(&mark, text))
		assert(strlen(mark.found) < sizeof(mark.found));
	return 0;
}
