/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's log, as records, as dmesg prints it and as a syslog daemon writes it: what is counted
 * was there, and devices that lines name are written as PCI functions are. */
#include "fuzz.h"

#include "parse/bdf.h"
#include "probes/log/log-scan.h"

static const struct kmsg_pattern patterns[] = {
	{ "xid", "NVRM: Xid (PCI:", { "): ", NULL }, KMSG_NUMBERED },
	{ "allow-peermapping", "NVRM", { "PeerMapping", "override" }, KMSG_ANY },
	{ "of-module", NULL, { "failed", NULL }, KMSG_OF_MODULE },
	{ "of-device", NULL, { "AER", NULL }, KMSG_OF_DEVICE },
};
#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static void read_devices(struct span text)
{
	struct span rest = text;
	char bdf[KMSG_BDF_MAX];

	for (size_t before = rest.n + 1; kmsg_bdf_next(&rest, bdf); before = rest.n)
		assert(rest.n < before && bdf_is(span_of(bdf)));
}

static void read_denial(struct span line)
{
	struct denial d;

	if (!denial_parse(line, &d))
		return;
	assert(d.action.n || !d.apparmor);
	check_inside(line, d.action);
	check_inside(line, d.program);
	check_inside(line, d.target);
	check_inside(line, d.domain);
	check_inside(line, d.label);
	check_inside(line, d.class);
	(void)denial_concerns_gpus(&d);
}

static void scan(struct span text)
{
	struct log_scan scan;
	struct kmsg_record record;
	struct kmsg_line parsed;
	struct span rest = text, line;
	size_t lines = 0;

	log_scan_begin(&scan, patterns, PATTERNS, fuzz_arena());
	while (span_cut(&rest, '\n', &line)) {
		lines++;
		read_denial(line);
		if (kmsg_record_parse(line, &record) == 0) {
			check_inside(line, record.message);
			log_scan_message(&scan, record.time_us, record.level, record.message);
		}
		for (int syslog = 0; syslog < 2; syslog++) {
			if (!kmsg_line_parse(line, syslog, &parsed))
				continue;
			check_inside(line, parsed.text);
			check_inside(parsed.text, parsed.message);
			log_scan_line(&scan, &parsed);
			if (kmsg_is_banner(parsed.message))
				log_scan_forget(&scan);
		}
	}
	log_scan_end(&scan, "/dev/kmsg", true);
	for_each(found, &scan.facts.lines) {
		assert(found->count.value >= 1 && found->count.value <= 3 * PATTERNS * lines);
		assert(is_known(found->first) && is_known(found->last));
		assert(strlen(found->last.value) <= 3 * LOG_LINE_MAX);
		for_each(device, &found->devices)
			assert(bdf_is(span_of(device->name.value)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scan(fuzz_span(data, size));
	read_devices(fuzz_span(data, size));
	return 0;
}
