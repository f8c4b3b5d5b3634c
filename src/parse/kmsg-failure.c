/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-failure.c - messages of the kernel about failures: to load a module, bind a device, find a firmware file. */
#include "parse/kmsg-failure.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* A trace of registers and calls is between the first line of a crash and its end. */
#define CRASH_LINES 40

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Gets the text between BEFORE and AFTER (NULL: the end). */
static bool between(struct span s, const char *before, const char *after, struct span *out)
{
	const char *at = span_search(s, before), *end;

	if (!at)
		return false;
	*out = from(s, (size_t)(at - s.p) + strlen(before));
	end = after ? span_search(*out, after) : out->p + out->n;
	if (!end)
		return false;
	out->n = (size_t)(end - out->p);
	return true;
}

/* "... failed with error -22", "(err -2)" */
static uint64_t error_after(struct span s, const char *before)
{
	const char *at = span_search(s, before);
	uint64_t error = 0;
	struct span digits;
	size_t n = 0;

	if (!at)
		return 0;
	digits = from(s, (size_t)(at - s.p) + strlen(before));
	if (digits.n && digits.p[0] == '-')
		digits = from(digits, 1);
	while (n < digits.n && isdigit((unsigned char)digits.p[n]))
		n++;
	return span_u64((struct span){ digits.p, n }, 10, &error) ? 0 : error;
}

static bool is_module_name(struct span s)
{
	if (!s.n || s.n >= MODULE_NAME_MAX)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return true;
}

static bool set_module(struct kmsg_failure *out, struct span name)
{
	if (!is_module_name(name))
		return false;
	module_name_copy(name, out->module);
	return true;
}

static bool set_device(struct kmsg_failure *out, struct span name)
{
	struct span rest = name;
	char bdf[KMSG_BDF_MAX];

	if (!name.n || name.n >= FAILURE_DEVICE_MAX)
		return false;
	if (kmsg_bdf_next(&rest, bdf) && !rest.n)
		snprintf(out->device, sizeof(out->device), "%s", bdf);
	else
		snprintf(out->device, sizeof(out->device), "%.*s", SPAN_FMT(name));
	return true;
}

/* ---- "MODULE: ..." ---- */

/* The detail is between BEFORE and AFTER. Right after the module's name comes START, or else BEFORE. A later text may
 * be a user's that the kernel quotes. */
static const struct form {
	enum failure_kind kind;
	const char *before, *after;
	const char *error;
	const char *start;
} forms[] = {
	{ FAILURE_UNKNOWN_SYMBOL, ": Unknown symbol ", " (err ", " (err " },
	{ FAILURE_SYMBOL_VERSION, ": disagrees about version of symbol ", NULL, NULL },
	{ FAILURE_SYMBOL_VERSION, ": no symbol version for ", NULL, NULL },
	{ FAILURE_NAMESPACE, ": module uses symbol (", ") from namespace ", NULL },
	{ FAILURE_LICENSE, ": module using GPL-only symbols uses symbols ", " from proprietary ",
	  NULL },
	{ FAILURE_DUPLICATE_SYMBOL, ": exports duplicate symbol ", " (owned by ", NULL },
	{ FAILURE_VERSION_MAGIC, ": version magic '", "' should be '", NULL },
	{ FAILURE_PARAMETER, "' invalid for parameter `", "'", NULL, ": `" },
	{ FAILURE_PARAMETER, "' too large for parameter `", "'", NULL, ": `" },
};

static bool parse_of_module(struct span message, struct kmsg_failure *out)
{
	struct span name = { message.p, span_find(message, ':') };
	struct span rest = from(message, name.n);

	if (!rest.n || !is_module_name(name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!span_starts(rest, forms[i].start ? forms[i].start : forms[i].before) ||
		    !between(rest, forms[i].before, forms[i].after, &out->detail))
			continue;
		out->kind = forms[i].kind;
		out->error = forms[i].error ? error_after(message, forms[i].error) : 0;
		return set_module(out, name);
	}
	if (!span_starts(rest, ": probe of ") ||
	    !between(rest, ": probe of ", " failed with error ", &out->detail) ||
	    !set_device(out, out->detail))
		return false;
	out->kind = FAILURE_PROBE;
	out->detail.n = 0;
	out->error = error_after(message, " failed with error ");
	return set_module(out, name);
}

/* ---- "DRIVER DEVICE: ..." ---- */

static bool parse_of_device(struct span message, struct kmsg_failure *out)
{
	struct span driver, device = { NULL, 0 }, rest = message;

	if (!span_word(&rest, &driver) || !span_word(&rest, &device) || device.n < 2 ||
	    device.p[device.n - 1] != ':')
		return false;
	device.n--;
	if (between(rest, "Direct firmware load for ", " failed with error ", &out->detail)) {
		out->kind = FAILURE_FIRMWARE;
		out->error = error_after(rest, " failed with error ");
	} else if (between(rest, "probe with driver ", " failed with error ", &driver)) {
		out->kind = FAILURE_PROBE;
		out->error = error_after(rest, " failed with error ");
	} else if (span_ends(span_trim(rest), ", aborting") ||
		   span_search(rest, " failed with error code ")) {
		out->kind = FAILURE_DEVICE;
		out->error = error_after(rest, " failed with error code ");
	} else {
		return false;
	}
	return set_module(out, driver) && set_device(out, device);
}

/* ---- arguments of the kernel with a value that it refuses ---- */

/* The detail begins after BEFORE, and ends at AFTER or with the line. */
static const struct refused {
	const char *before, *after;
	const char *module; /* the name of the argument, if the detail is only the value */
} refused[] = {
	{ "HugeTLB: unsupported ", NULL, "" }, /* hugepagesz=1G, default_hugepagesz=1G */
	{ "PCI: Unknown option `", "'", "pci" },
	{ "Malformed early option '", "'", "" },
};

static bool parse_of_argument(struct span message, struct kmsg_failure *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (!span_starts(message, refused[i].before) ||
		    !between(message, refused[i].before, refused[i].after, &out->detail))
			continue;
		out->kind = FAILURE_KERNEL_ARGUMENT;
		snprintf(out->module, sizeof(out->module), "%s", refused[i].module);
		return true;
	}
	return false;
}

/* ---- lines that begin in one way ---- */

static bool parse_of_kernel(struct span message, struct kmsg_failure *out)
{
	struct span name;

	if (span_starts(message, "Module ") &&
	    between(message, "Module ", " is blacklisted", &name)) {
		out->kind = FAILURE_BLACKLISTED;
		return set_module(out, name);
	}
	if (span_starts(message, "failing symbol_get of non-GPLONLY symbol ")) {
		out->kind = FAILURE_SYMBOL_GET;
		return between(message, "non-GPLONLY symbol ", ".", &out->detail);
	}
	if (span_starts(message, "Unknown kernel command line parameters \"")) {
		out->kind = FAILURE_KERNEL_PARAMETERS;
		return between(message, "parameters \"", "\", will be passed", &out->detail);
	}
	if ((span_starts(message, "Loading of ") && span_search(message, " is rejected")) ||
	    (span_starts(message, "Lockdown: ") &&
	     span_search(message, "unsigned module loading is restricted"))) {
		out->kind = FAILURE_SIGNATURE;
		return true;
	}
	return false;
}

/* ---- crashes ---- */

/* Cuts hexadecimal digits off, after START. False: none. */
static bool cut_hex(struct span *s, const char *start)
{
	size_t n = 0;

	if (!span_starts(*s, start))
		return false;
	*s = from(*s, strlen(start));
	while (n < s->n && isxdigit((unsigned char)s->p[n]))
		n++;
	*s = from(*s, n);
	return n > 0;
}

/* "nv_open+0x1c/0x40 [nvidia]", with a build ID or taints after the module's name: kernel/kallsyms.c,
 * __sprint_symbol(). */
static bool parse_place(struct span place, struct kmsg_failure *out)
{
	struct span name;
	size_t n = 0;

	while (n < place.n && (isalnum((unsigned char)place.p[n]) || strchr("_.$", place.p[n])))
		n++;
	out->kind = FAILURE_CRASH;
	out->detail = (struct span){ place.p, n };
	place = from(place, n);
	if (!n || !cut_hex(&place, "+0x") || !cut_hex(&place, "/0x") || !span_starts(place, " [") ||
	    !between(place, " [", "]", &name))
		return false;
	name.n = span_find(name, ' ');
	return set_module(out, name);
}

/* "0000 [#1]": the error's number and that of the crash, arch/x86/kernel/dumpstack.c, __die_header() and arm64's
 * __die(). */
static bool has_number_of_crash(struct span rest)
{
	for (;;) {
		const char *at = span_search(rest, " [#");
		size_t n = 0, digits = 0;

		if (!at)
			return false;
		while (at - n > rest.p && isxdigit((unsigned char)at[-1 - (ptrdiff_t)n]))
			n++;
		rest = from(rest, (size_t)(at - rest.p) + 3);
		while (digits < rest.n && isdigit((unsigned char)rest.p[digits]))
			digits++;
		if (n && digits && digits < rest.n && rest.p[digits] == ']')
			return true;
	}
}

/* Beginnings of a crash: they have blanks where a name of 15 bytes would end, or the number of the crash follows.
 * Sources: Linux 6.12 arch/x86/mm/fault.c, show_fault_oops(); arch/x86/kernel/traps.c, exc_general_protection(),
 * dumpstack.c; arch/arm64/mm/fault.c, die_kernel_fault(), kernel/traps.c, die(); lib/bug.c, report_bug(). */
static const struct crash_start {
	const char *start, *then;
} crash_starts[] = {
	{ "BUG: kernel NULL pointer dereference, address: ", NULL },
	{ "BUG: unable to handle page fault for address: ", NULL },
	{ "BUG: unable to handle kernel ", " at " },
	{ "kernel BUG at ", "!" },
	{ "Unable to handle kernel ", " at virtual address " },
	{ "Oops: ", "#" },
	{ "Internal error: ", "#" },
	{ "general protection fault", "#" },
};

static bool begins_crash(struct span message)
{
	for (size_t i = 0; i < ARRAY_SIZE(crash_starts); i++) {
		const struct crash_start *c = &crash_starts[i];

		if (!span_starts(message, c->start))
			continue;
		if (!c->then)
			return true;
		if (*c->then == '#' ? has_number_of_crash(message)
				    : span_search(message, c->then) != NULL)
			return true;
	}
	return false;
}

static bool parse_crash(struct kmsg_crash *crash, struct span message, struct kmsg_failure *out)
{
	/* arch/x86/kernel/traps.c of Linux 5.18 to 6.5 begins it with "traps: ". */
	bool traps = span_starts(message, "traps: ");
	struct span place = from(message, traps ? sizeof("traps: ") - 1 : 0);

	if (span_starts(place, "Missing ENDBR: ") &&
	    between(place, "Missing ENDBR: ", NULL, &place))
		return parse_place(place, out);
	if (begins_crash(message)) {
		crash->lines = CRASH_LINES;
		return false;
	}
	if (!crash->lines)
		return false;
	crash->lines--;
	/* x86: "RIP: 0010:nv_open+0x1c/0x40 [nvidia]", where 0010 is the kernel's code segment; arm64: "pc :
	 * nv_open+0x1c/0x40 [nvidia]" */
	place = message;
	if (cut_hex(&place, "RIP: ") && place.n && place.p[0] == ':')
		place = from(place, 1);
	else if (span_starts(message, "pc : "))
		between(message, "pc : ", NULL, &place);
	else
		return false;
	crash->lines = 0;
	return parse_place(place, out);
}

bool kmsg_failure_parse(struct kmsg_crash *crash, struct span message, struct kmsg_failure *out)
{
	*out = (struct kmsg_failure){ 0 };
	if (parse_crash(crash, message, out))
		return true;
	*out = (struct kmsg_failure){ 0 };
	if (parse_of_argument(message, out) || parse_of_kernel(message, out))
		return true;
	*out = (struct kmsg_failure){ 0 };
	if (parse_of_module(message, out))
		return true;
	*out = (struct kmsg_failure){ 0 };
	return parse_of_device(message, out);
}
