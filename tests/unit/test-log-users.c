/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found in a log does not depend on the texts that users have in messages of the driver, in any form of the log. */
#include "cmocka-all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/log/log-scan.h"

#define TEXT_MAX 8192
#define NAME_MAX_SIZE 15
#define VERSION_MAX_SIZE 63
#define TIME_US 61001842

static const struct kmsg_pattern patterns[] = {
	{ "xid", "NVRM: Xid (", { NULL }, KMSG_NUMBERED },
	{ "driver-begins", "nvidia-nvlink: Nvlink Core is being initialized", { NULL }, KMSG_ANY },
	{ "gpu-enumerated", "pci ", { ": [10de:", "] type 00 class 0x03" }, KMSG_OF_DEVICE },
	{ "device-reset", NULL, { ": reset done" }, KMSG_OF_DEVICE },
	{ "api-mismatch", "NVRM: API mismatch", { NULL }, KMSG_ANY },
	{ "rm-init-failed", "NVRM:", { "RmInitAdapter failed" }, KMSG_ANY },
	{ "gpu-refused", "NVRM: The NVIDIA ", { "(PCI ID: " }, KMSG_ANY },
	{ "memory-type-conflict", "x86/PAT:", { "conflicting memory types" }, KMSG_ANY },
};
#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

/* ---- the forms of a log ---- */

struct out {
	char p[TEXT_MAX];
	size_t n;
};

static void put(struct out *out, const char *text, size_t n)
{
	assert_true(out->n + n < sizeof(out->p));
	memcpy(out->p + out->n, text, n);
	out->n += n;
	out->p[out->n] = '\0';
}

/* With each byte for which IS_QUOTED is true as a number: \x0a, or #012. */
static struct span quoted(struct out *out, const char *text, bool octal,
			  bool (*is_quoted)(unsigned char c))
{
	char byte[8];

	out->n = 0;
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (octal)
			snprintf(byte, sizeof(byte), "#%03o", c);
		else
			snprintf(byte, sizeof(byte), "\\x%02x", c);
		put(out, is_quoted(c) ? byte : text, is_quoted(c) ? strlen(byte) : 1);
	}
	return (struct span){ out->p, out->n };
}

/* kernel/printk/printk.c, msg_add_ext_text() */
static bool is_of_record(unsigned char c)
{
	return c < ' ' || c >= 127 || c == '\\';
}

static bool is_control(unsigned char c)
{
	return c < ' ' || c == 127;
}

static bool is_control_but_break(unsigned char c)
{
	return is_control(c) && c != '\n';
}

static void give_record(struct log_scan *scan, const char *text)
{
	struct out out;

	log_scan_message(scan, TIME_US, 3, quoted(&out, text, false, is_of_record));
}

static void give_entry(struct log_scan *scan, const char *text)
{
	log_scan_message(scan, TIME_US, 3, span_of(text));
}

static void give_line(struct log_scan *scan, struct span line)
{
	struct kmsg_line parsed;

	if (kmsg_line_parse(line, false, &parsed))
		log_scan_line(scan, &parsed);
}

/* syslog(2), and dmesg -S: record_print_text() puts the time before each line. */
static void give_prefixed(struct log_scan *scan, const char *text)
{
	struct span rest = span_of(text), line;
	char prefixed[TEXT_MAX];

	while (span_cut(&rest, '\n', &line)) {
		snprintf(prefixed, sizeof(prefixed), "<3>[   61.001842] %.*s", SPAN_FMT(line));
		give_line(scan, span_of(prefixed));
	}
}

static void give_indented(struct log_scan *scan, const char *text)
{
	struct out out;
	struct span rest = quoted(&out, text, false, is_control_but_break), line;
	char first[TEXT_MAX];
	struct kmsg_line parsed;

	span_cut(&rest, '\n', &line);
	snprintf(first, sizeof(first), "[   61.001842] %.*s", SPAN_FMT(line));
	give_line(scan, span_of(first));
	while (span_cut(&rest, '\n', &line))
		if (kmsg_line_parse(line, false, &parsed))
			log_scan_continue(scan, parsed.message);
}

static void give_rsyslog(struct log_scan *scan, const char *text)
{
	struct out out;
	char line[TEXT_MAX];

	snprintf(line, sizeof(line), "[   61.001842] %.*s",
		 SPAN_FMT(quoted(&out, text, true, is_control)));
	give_line(scan, span_of(line));
}

static void (*const forms[])(struct log_scan *, const char *) = {
	give_record, give_entry, give_prefixed, give_indented, give_rsyslog,
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* ---- what is found ---- */

/* Finds TEXT after an event and before others. SUMMARY: how often each pattern was found, and of which devices. */
static void summarize(size_t form, const char *text, struct out *summary)
{
	static struct arena *arena;
	struct log_scan scan;
	char number[32];

	if (!arena)
		arena = arena_new(1 << 20, "lines");
	arena_reset(arena);
	log_scan_begin(&scan, patterns, PATTERNS, arena);
	scan.preflight = true;
	forms[form](&scan, "NVRM: Xid (PCI:0000:19:00): 79, pid=1, name=a, GPU has fallen off the "
			   "bus.");
	forms[form](&scan, text);
	forms[form](&scan, "NVRM: GPU 0000:9b:00.0: RmInitAdapter failed! (0x62:0x40:2631)");
	forms[form](&scan, "NVRM: Xid (PCI:0000:9b:00): 48, pid=2, name=b, DBE");
	log_scan_end(&scan, "test", true);
	summary->n = 0;
	for_each(line, &scan.facts.lines) {
		snprintf(number, sizeof(number), " %d", (int)line->count.value);
		put(summary, line->pattern.value, strlen(line->pattern.value));
		put(summary, number, strlen(number));
		for_each(device, &line->devices) {
			snprintf(number, sizeof(number), " %s=%d", device->name.value,
				 (int)device->count.value);
			put(summary, number, strlen(number));
		}
		put(summary, ";", 1);
	}
	assert_int_equal(scan.facts.failures.count, 0);
}

static void print_text(size_t form, const char *text)
{
	printf("form %d: ", (int)form);
	for (; *text; text++)
		printf(*text < ' ' || *text > '~' ? "\\x%02x" : "%c", (unsigned char)*text);
	printf("\n");
}

/* A message of a driver: its own texts, and between them users'. */
static const struct message {
	const char *own[3];
	const char *usual[2];
	size_t max[2];
	const char *pattern; /* what a user's text may hide; NULL: nothing */
} messages[] = {
	{ { "NVRM: Xid (PCI:0000:3b:00): 13, pid=4242, name=", ", Graphics SM Warp Exception", "" },
	  { "python3", "" },
	  { NAME_MAX_SIZE, 0 },
	  NULL },
	{ { "NVRM: Xid (PCI:0000:3b:00 GPU-I:01 GPU-CI:00): 45, pid='<unknown>', name=",
	    ", Ch 00000008", "" },
	  { "python3", "" },
	  { NAME_MAX_SIZE, 0 },
	  NULL },
	{ { "NVRM: API mismatch: the client '", "' (pid 4242)\nNVRM: has the version ",
	    ", but this kernel module has\nNVRM: the version 580.65.06.  Please make sure that "
	    "this\nNVRM: kernel module and all NVIDIA driver components\nNVRM: have the same "
	    "version." },
	  { "nvidia-smi", "535.104.05" },
	  { NAME_MAX_SIZE, VERSION_MAX_SIZE },
	  "api-mismatch" },
	{ { "NVRM: API mismatch: the client has the version ",
	    ", but\nNVRM: this kernel module has the version 550.90.07.  Please\nNVRM: make sure "
	    "that this kernel module and all NVIDIA driver\nNVRM: components have the same "
	    "version.",
	    "" },
	  { "535.104.05", "" },
	  { VERSION_MAX_SIZE, 0 },
	  "api-mismatch" },
	{ { "x86/PAT: ", ":4242 conflicting memory types 20f-210 write-combining<->uncached-minus",
	    "" },
	  { "python3", "" },
	  { NAME_MAX_SIZE, 0 },
	  "memory-type-conflict" },
};
#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

/* The summary without the line of PATTERN. */
static void leave_out(struct out *summary, const char *pattern)
{
	char *at = strstr(summary->p, pattern), *end = at ? strchr(at, ';') + 1 : NULL;

	if (!at)
		return;
	memmove(at, end, strlen(end) + 1);
	summary->n = strlen(summary->p);
}

static void find_with(size_t form, const struct message *m, const char *const users[2],
		      struct out *summary)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%s%s%s%s%s", m->own[0], users[0], m->own[1], users[1],
		 m->own[2]);
	summarize(form, text, summary);
}

/* What is found with the usual texts. */
static struct out wanted_of(size_t form, const struct message *m)
{
	static struct out wanted[FORMS][MESSAGES];
	struct out *w = &wanted[form][m - messages];

	if (!w->n)
		find_with(form, m, m->usual, w);
	return *w;
}

/* With TEXT as the user's text K. */
static void check(const struct message *m, size_t k, const char *text)
{
	const char *users[2] = { k ? m->usual[0] : text, k ? text : m->usual[1] };
	struct out wanted, found;

	if (strlen(text) > m->max[k])
		return;
	for (size_t form = 0; form < FORMS; form++) {
		wanted = wanted_of(form, m);
		find_with(form, m, users, &found);
		if (m->pattern && strcmp(found.p, wanted.p) != 0) {
			leave_out(&wanted, m->pattern);
			leave_out(&found, m->pattern);
		}
		if (strcmp(found.p, wanted.p) != 0)
			print_text(form, text);
		assert_string_equal(found.p, wanted.p);
	}
}

static void check_all(const char *text)
{
	for (size_t i = 0; i < MESSAGES; i++)
		for (size_t k = 0; k < 2; k++)
			check(&messages[i], k, text);
}

static void test_each_byte_at_each_place(void **state)
{
	char text[NAME_MAX_SIZE + 1];

	(void)state;
	text[NAME_MAX_SIZE] = '\0';
	for (size_t at = 0; at < NAME_MAX_SIZE; at++)
		for (int c = 1; c < 256; c++) {
			/* A printable byte means something at the beginning or the end, if anywhere. */
			if (at % (NAME_MAX_SIZE - 1) && c > ' ' && c < 127)
				continue;
			memset(text, 'a', NAME_MAX_SIZE);
			text[at] = (char)c;
			check_all(text);
		}
}

/* Texts that read like the driver's, with a line break in the place of each byte. */
static const char *const hostile[] = {
	"\nNVRM: Xid (PCI:0000:19:00): 79, ",
	"1\nNVRM: Xid (PCI:0000:19:00): 79, GPU has fallen off the bus.\n\n",
	"1, but this kernel module has\nNVRM: Xid (PCI:0000:19:00): 79, ",
	"1, but\nNVRM: this kernel module has the version 1\nNVRM: Xid (0):",
	", but\nnvidia-nvlink: Nvlink Core is being initialized",
	"x\nNVRM: GPU 0000:19:00.0: RmInitAdapter failed! (0x62:0x40:21)",
	"\npci 0000:19:00.0: [10de:2330] type 00 class 0x030200 PCIe End\n",
	"NVRM: have the same version.\nNVRM: Xid (PCI:0000:19:00): 79, ",
	"\nnvidia 0000:19:00.0: reset done\nx",
	"' (pid 1)\nNVRM: has the version 1, but this kernel module has\nNV",
	"\nLinux version 6.8.0",
	"\nNVRM:\nNVRM: The NVIDIA GPU 0000:19:00.0 (PCI ID: 10de:2330)\n",
	"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
	", , , , , , , ,",
	"' (pid 1)",
	"PCI:0000:19:00",
	" 0000:19:00.0",
	":1 conflicting",
	"IN= OUT= SRC= ",
	"[1]: [2] (3): ",
	"\\x0a\\x0a\\x0a",
	"#012#012#012, a",
	"<3>NVRM: Xid (",
	"a invoked oom-k",
};

static void test_texts_that_read_like_a_driver(void **state)
{
	static const size_t sizes[] = { NAME_MAX_SIZE, VERSION_MAX_SIZE };
	char text[VERSION_MAX_SIZE + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		for (size_t k = 0; k < 2; k++) {
			for (size_t from = 0; from < strlen(hostile[i]); from++) {
				snprintf(text, sizes[k] + 1, "%s", hostile[i] + from);
				check_all(text);
			}
			for (size_t at = 0; at < sizes[k] && at < strlen(hostile[i]); at++) {
				snprintf(text, sizes[k] + 1, "%s", hostile[i]);
				text[at] = '\n';
				check_all(text);
			}
		}
}

/* Lines that are no message of a user's: those behind a mismatch of which only the beginning is there. */
static void test_what_follows_a_mismatch_without_its_end(void **state)
{
	struct out summary;

	(void)state;
	for (size_t form = 0; form < FORMS; form++) {
		summarize(form, "NVRM: API mismatch: the client has the version 1, but", &summary);
		assert_string_equal(summary.p, "api-mismatch 1;rm-init-failed 1 0000:9b:00.0=1;"
					       "xid-48 1 0000:9b:00.0=1;xid-79 1 0000:19:00.0=1;");
	}
}

/* A message of several lines that are all the driver's. */
static void test_a_message_of_lines(void **state)
{
	struct out summary;

	(void)state;
	for (size_t form = 0; form < FORMS - 1; form++) {
		summarize(
			form,
			"NVRM: The NVIDIA GPU 0000:3b:00.0\nNVRM: (PCI ID: 10de:2330) installed in "
			"this system has\nNVRM: fallen off the bus",
			&summary);
		assert_non_null(strstr(summary.p, "gpu-refused 1 0000:3b:00.0=1;"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_byte_at_each_place),
		cmocka_unit_test(test_texts_that_read_like_a_driver),
		cmocka_unit_test(test_what_follows_a_mismatch_without_its_end),
		cmocka_unit_test(test_a_message_of_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
