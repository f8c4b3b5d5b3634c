/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep-program.c - names of programs in messages of the kernel and its drivers: they are not kept.
 *
 * Sources: open-gpu-kernel-modules 595.45.04: kernel_rc.c (Xid), osapi.c (API mismatch), nv-mmap.c (late unmap). Linux
 * 6.12.117: arch/x86/mm/pat/, drivers/infiniband/core/, drivers/vfio/, drivers/pci/p2pdma.c and pci-sysfs.c, all
 * messages that print current->comm. nouveau calls a client NAME[PID].
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/kmsg-text.h"
#include "redact/keep-private.h"

/* A name is after BEFORE, up to the first of AFTER; # is a number. It can have blanks and commas. Without AFTER it has
 * its 15 bytes at most, or the message has another form (MUST). An empty BEFORE: after ": ". */
static const struct form {
	const char *before;
	bool must;
	const char *after[9];
} forms[] = {
	{ "name=",
	  false,
	  { ", Ch ", ", ch ", ", channel ", ", Channel ", ", intr ", ", Graphics ",
	    ", errorString ", NULL } },
	{ "comm=", false, { NULL } },
	{ "comm: ", false, { ", 0x" } },
	{ "Comm: ", false, { " Not tainted", " Tainted" } },
	{ "client '", false, { "' (pid #" } },
	{ "x86/PAT: ", false, { ":# " } },
	{ "process # (", true, { ") changed security", ") called from" } },
	{ "process ", true, { " did not enable P_Key" } },
	{ "Process '", true, { "' did not pass" } },
	{ "Task ", true, { " (#) RLIMIT" } },
	{ "task \"", true, { "\" (#) blocked" } },
	{ "user (", true, { ":#)" } },
	{ "", true, { ": fail, attempted ", ": Unexpected write to kernel-exclusive" } },
};

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool ends_name(const struct form *form, struct span rest)
{
	for (size_t i = 0; form->after[i]; i++)
		if (kmsg_follows(rest, form->after[i]))
			return true;
	return false;
}

/* 0: there is none. */
static size_t name_length(const struct form *form, struct span rest)
{
	size_t n = 0, separator = 0, bytes = 0;

	for (; n <= rest.n && bytes <= KMSG_NAME_MAX; bytes++) {
		if (ends_name(form, from(rest, n)))
			return n;
		if (n == rest.n || strchr(",;)", rest.p[n]))
			separator = n;
		if (n == rest.n || bytes == KMSG_NAME_MAX)
			break;
		n += kmsg_byte_size(from(rest, n));
	}
	return form->must ? 0 : separator ? separator : n;
}

/* The bytes of BEFORE in front of S; 0: another text. */
static size_t matches(const char *before, struct span s)
{
	const char *number = strchr(before, '#');
	size_t n = number ? (size_t)(number - before) : strlen(before);

	if (!kmsg_follows(s, before))
		return 0;
	if (!number)
		return n;
	while (isdigit((unsigned char)s.p[n]))
		n++;
	return n + strlen(number + 1);
}

/* Quotes are part of the name if there is no closing one. */
static size_t quoted_length(const struct form *form, struct span rest)
{
	size_t n = name_length(form, rest), close;

	if (!rest.n || !strchr("\"'", rest.p[0]))
		return n;
	close = span_find(from(rest, 1), rest.p[0]) + 2;
	return close <= rest.n && close > n ? close : n;
}

static size_t put_name(struct keeping *k, const struct form *form, struct span s, size_t n)
{
	static const char unknown[] = "<unknown>";
	struct span rest;
	size_t name;

	while (n && n < s.n && strchr(" \t", s.p[n]) && !form->must)
		n++;
	rest = from(s, n);
	if (span_starts(rest, unknown)) {
		keep_as_it_is(k, (struct span){ s.p, n + strlen(unknown) });
		return n + strlen(unknown);
	}
	name = quoted_length(form, rest);
	if (!name && rest.n)
		return 0;
	keep_as_it_is(k, (struct span){ s.p, n });
	if (name)
		keep_instead(k, (struct span){ rest.p, name });
	return n + name;
}

/* nouveau: the 15 bytes before [PID], of which some may be others. */
static size_t put_client(struct keeping *k, struct span message, struct span s)
{
	size_t n = 0;

	if (!span_starts(message, "nouveau "))
		return 0;
	for (; n <= KMSG_NAME_MAX && n < s.n; n++)
		if (n && kmsg_follows(from(s, n), "[#]")) {
			keep_instead(k, (struct span){ s.p, n });
			return n;
		}
	return 0;
}

size_t keep_program(struct keeping *k, struct span message, struct span rest)
{
	bool colon = rest.p > message.p + 1 && rest.p[-2] == ':' && rest.p[-1] == ' ';

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *form = &forms[i];
		size_t n = *form->before ? matches(form->before, rest) : 0;

		if (*form->before ? !n : !colon)
			continue;
		n = put_name(k, form, rest, n);
		if (n)
			return n;
	}
	return put_client(k, message, rest);
}

/* ---- the node's own ---- */

/* By their 15 bytes. How these begin, a rule asks (log/access-refused). */
static const char *const services[] = { "nvidia-persiste", "nv-fabricmanage",
					"nvlsm",	   "nvidia-imex",
					"nv-hostengine",   "nvidia-gridd",
					"opensm",	   NULL };
/* Those of the system that load modules, open devices or start containers. */
static const char *const system_programs[] = { "nvidia-smi",	"nvidia-modprobe",
					       "nvidia-powerd", "dcgm-exporter",
					       "dcgmi",		"modprobe",
					       "insmod",	"rmmod",
					       "kmod",		"depmod",
					       "systemd",	"systemd-modules",
					       "systemd-udevd", "(udev-worker)",
					       "udevd",		"dracut",
					       "dkms",		"slurmd",
					       "slurmstepd",	"kubelet",
					       "containerd",	"dockerd",
					       "crio",		"runc",
					       "crun",		"conmon",
					       "podman",	"python3",
					       "bash",		"sh",
					       "Xorg",		"gnome-shell",
					       "ibstat",	"ibv_devinfo",
					       "rdma",		NULL };

void keep_program_name(struct keeping *k, struct span name)
{
	size_t own = 0;

	if (keep_has(system_programs, name))
		own = name.n;
	for (size_t i = 0; !own && services[i]; i++)
		own = span_starts(name, services[i]) ? strlen(services[i]) : 0;
	keep_as_it_is(k, (struct span){ name.p, own });
	if (own < name.n)
		keep_instead(k, from(name, own));
}
