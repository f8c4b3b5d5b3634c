/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What there is of a process, and what sets its limits: /proc/PID/limits, environ, status, cgroup,
 * limits.conf, systemd units, passwd. */
#include "fuzz.h"

#include "parse/limits.h"
#include "parse/passwd.h"
#include "parse/process.h"
#include "parse/unit.h"

static void read_process(struct span text)
{
	struct span rest = text, name, value, unit;
	uint64_t soft, hard, number;

	(void)limits_find(text, "Max locked memory", &soft, &hard);
	(void)process_uids(text, &number, &number);
	if (passwd_home(text, 0, &value))
		check_inside(text, value);
	(void)process_capabilities(text, "CapEff:", &number);
	(void)process_number(text, "Seccomp:", &number);
	(void)process_has_group(text, 44);
	(void)process_is_initial_namespace(text);
	while (process_environ_next(&rest, &name, &value)) {
		assert(name.n && span_find(name, '=') == name.n && span_find(name, '\0') == name.n);
		check_inside(text, name);
		check_inside(text, value);
		(void)process_variable_matters(name);
	}
	if (unit_from_cgroup(text, &unit)) {
		check_inside(text, unit);
		assert(unit_is_name(unit) && span_find(unit, '/') == unit.n);
	}
}

static void read_settings(struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment found;
	struct span rest = text, line;
	struct limits_line limit;
	size_t before = 0;
	uint64_t bytes, soft, hard;

	while (unit_next(&reader, &found)) {
		assert(found.key.n && found.line > before);
		before = found.line;
		check_inside(text, found.section);
		check_inside(text, found.key);
		check_inside(text, found.value);
		if (limits_of_unit(found.value, &soft, &hard))
			assert(soft <= hard);
		assert(span_find(found.value, '\n') == found.value.n);
	}
	while (span_cut(&rest, '\n', &line)) {
		if (limits_line_parse(line, &limit)) {
			assert(limit.domain.n && limit.type.n && limit.item.n && limit.value.n);
			check_inside(line, limit.value);
		}
		(void)unit_is_start_link(line, "nv_peer_mem");
	}
	(void)tmpfs_find(text, "/dev/shm", &bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_process(fuzz_span(data, size));
	read_settings(fuzz_span(data, size));
	return 0;
}
