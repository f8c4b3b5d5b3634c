/* SPDX-License-Identifier: GPL-2.0-or-later */
/* init-cause.c - why the NVIDIA driver could not initialise a GPU, by what it wrote before that. */
#include "query/init-cause.h"

#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "query/node-find.h"

/* The driver waits some seconds for firmware that does not answer. What is older is of an earlier attempt. */
#define ATTEMPT_US UINT64_C(120000000)

static const struct row {
	const char *pattern; /* in probes/log/log.c */
	enum repaired_by repaired_by;
	bool is_setting;
	const char *meaning, *remedy;
	const char *in_guest; /* the remedy in a virtual machine; NULL: the same */
	unsigned int then;    /* enum remedy_end; of the remedy that is not in_guest */
} rows[] = {
#define INIT_CAUSE(name, text, who, is_setting, meaning, remedy, guest, then) \
	{ name, BY_##who, is_setting, meaning, remedy, guest, then },
#include "init-causes.inc"
#undef INIT_CAUSE
};

static bool is_of_attempt(struct fact_u64 line_us, struct fact_u64 failed_us)
{
	if (!is_known(line_us) || !is_known(failed_us))
		return true;
	return line_us.value <= failed_us.value && failed_us.value - line_us.value <= ATTEMPT_US;
}

/* The line of ROW that can be about this failure, or NULL. */
static const char *line_of(struct arena *arena, const struct node *node, const struct row *row,
			   const char *bdf, struct fact_u64 failed_us, const char **fact)
{
	const struct log_line *line = node_log(node, row->pattern);
	const struct log_subject *own = bdf ? log_of_device(line, bdf) : NULL;

	if (!line || (bdf && line->devices.count && !own) ||
	    !is_of_attempt(own ? own->last_us : line->last_us, failed_us))
		return NULL;
	*fact = fact_path(arena, "log.lines", row->pattern, "last");
	return own ? own->last.value : line->last.value;
}

bool init_cause_find(struct arena *arena, const struct node *node, const char *bdf,
		     struct fact_u64 failed_us, struct init_cause *cause)
{
	bool guest = is_known(node->os.hypervisor);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		const char *fact, *line = line_of(arena, node, row, bdf, failed_us, &fact);
		bool at_host = guest && row->in_guest;

		if (!line)
			continue;
		*cause = (struct init_cause){
			.meaning = row->meaning,
			.cure = at_host ? (struct cure){ row->in_guest, 0 }
					: (struct cure){ row->remedy, row->then },
			.repaired_by = at_host ? BY_HOST : row->repaired_by,
			.is_setting = row->is_setting && !at_host,
			.line = line,
			.fact = fact,
		};
		return true;
	}
	return false;
}

/* ---- the numbers ---- */

/* osinit.c, RM_INIT_REPORT: the first number of "(0x24:0xffff:1464)". */
static const char *const stages[] = {
	[1] = "while setting up the driver (registry, operating system)",
	[2] = "while setting up the GPU",
	[3] = "in the video BIOS",
	[4] = "while setting up NVLink or resources",
	[6] = "in the GSP firmware",
};

/* nvstatuscodes.h: the second number, where it says more than that something failed. */
static const struct status {
	unsigned int code;
	const char *text;
} statuses[] = {
	{ 0x0b, "an ECC error" },
	{ 0x0f, "the GPU is lost from the bus" },
	{ 0x11, "the GPU is not at full power" },
	{ 0x1a, "a resource other than memory ran out" },
	{ 0x1c, "too little power" },
	{ 0x45, "its interrupt does not arrive" },
	{ 0x47, "the training of its memory failed" },
	{ 0x51, "out of memory" },
	{ 0x56, "the driver does not support this" },
	{ 0x61, "the video BIOS was rejected" },
	{ 0x62, "a reset is required" },
	{ 0x65, "the GPU did not answer in time" },
	{ 0x72, "a memory error" },
	{ 0x77, "the training of NVLink failed" },
	{ 0x7a, "fabric manager is not loaded" },
	{ 0x7f, "the secure boot of its firmware failed" },
};

/* "0x62:": the number, and what follows the colon. */
static bool cut_code(struct span *rest, uint64_t *code)
{
	struct span word;

	return span_cut(rest, ':', &word) && span_starts(word, "0x") &&
	       span_u64((struct span){ word.p + 2, word.n - 2 }, 16, code) == 0;
}

const char *init_code_text(struct arena *arena, const char *line)
{
	static const char before[] = "failed! (";
	const char *at = strstr(line, before);
	uint64_t where, how;
	const char *stage;
	struct span rest;

	if (!at)
		return NULL;
	rest = span_of(at + strlen(before));
	if (!cut_code(&rest, &where))
		return NULL;
	stage = where >> 4 < ARRAY_SIZE(stages) ? stages[where >> 4] : NULL;
	if (!stage || !cut_code(&rest, &how))
		return stage;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (how == statuses[i].code)
			return arena_printf(arena, "%s: %s", stage, statuses[i].text);
	return stage;
}
