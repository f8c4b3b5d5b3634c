/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-lxc.c - the NVIDIA devices that an LXC container is given, and the device numbers that it is allowed
 * (lxc.container.conf(5), lxc.cgroup2.devices.allow and lxc.mount.entry). */
#include <stdio.h>
#include <string.h>

#include "probes/references/references.h"

#define DEVICES_MAX 64
#define MAJORS_BYTES 256

struct lxc {
	char majors[MAJORS_BYTES]; /* "195 504" */
	bool all;		   /* any device, or a number that is not one */
	struct {
		struct span path;
		size_t line;
	} devices[DEVICES_MAX];
	size_t count;
};

/* A major has 12 bits (Linux 5.10: include/linux/kdev_t.h); the rest of a line is never kept. */
static bool is_major(struct span s)
{
	uint64_t major;

	return span_u64(s, 10, &major) == 0 && major < 1 << 12 && s.n <= 4;
}

/* "c 195:* rwm", "a", "c *:* rwm" */
static void take_allowed(struct lxc *lxc, struct span value)
{
	struct span rest = value, kind, numbers, major;
	size_t n = strlen(lxc->majors);

	if (!span_word(&rest, &kind) || span_is(kind, "a") || !span_word(&rest, &numbers) ||
	    !span_cut(&numbers, ':', &major) || !is_major(major) ||
	    n + major.n + 2 > sizeof(lxc->majors)) {
		lxc->all = true;
		return;
	}
	if (span_is(kind, "c"))
		snprintf(lxc->majors + n, sizeof(lxc->majors) - n, "%s%.*s", n ? " " : "",
			 SPAN_FMT(major));
}

static void take_mount(struct lxc *lxc, struct span value, size_t line)
{
	struct span path;

	if (!span_word(&value, &path) || !span_starts(path, "/dev/nvidia") ||
	    lxc->count == DEVICES_MAX)
		return;
	lxc->devices[lxc->count].path = path;
	lxc->devices[lxc->count++].line = line;
}

/* Proxmox writes "key: value", LXC "key = value". */
static bool cut_key(struct span line, struct span *key, struct span *value)
{
	size_t colon = span_find(line, ':'), equal = span_find(line, '=');
	size_t n = colon < equal ? colon : equal;

	if (n == line.n)
		return false;
	*key = span_trim((struct span){ line.p, n });
	*value = span_trim((struct span){ line.p + n + 1, line.n - n - 1 });
	return true;
}

void reference_read_lxc(struct references *refs, struct span text)
{
	struct lxc lxc = { .count = 0 };
	struct span line, key, value;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++) {
		line = span_trim(line);
		/* The following sections are snapshots. */
		if (span_starts(line, "["))
			break;
		if (!cut_key(line, &key, &value))
			continue;
		if (span_is(key, "lxc.cgroup2." LXC_ALLOW) || span_is(key, "lxc.cgroup." LXC_ALLOW))
			take_allowed(&lxc, value);
		else if (span_is(key, "lxc.mount.entry"))
			take_mount(&lxc, value, number);
	}
	/* Without such a line the container is allowed nothing, or is not confined: LXC's own default decides. */
	for (size_t i = 0; i < lxc.count && !lxc.all && *lxc.majors; i++)
		reference_add(refs, REFERENCE_DEVICE, LXC_ALLOW, lxc.devices[i].path, lxc.majors,
			      lxc.devices[i].line);
}
