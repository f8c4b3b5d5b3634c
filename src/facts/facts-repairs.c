/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-repairs.c - the descriptions of the structs in facts-repairs.h, innermost first. */
#include "facts/facts.h"
#include "facts/own-files.h"

const char *const repair_file_state_words[] = {
	[REPAIR_FILE_KEPT] = "kept",
	[REPAIR_FILE_CHANGED] = "changed",
	[REPAIR_FILE_GONE] = "gone",
	NULL,
};

static const struct field repair_fields[] = {
	F_STR(repair, rule, NULL),
	F_STR(repair, subject, NULL),
	F_STR(repair, what, NULL),
};
static const struct desc repair_desc = DESC(repair, .ordered = true);

static const struct field repair_file_fields[] = {
	F_STR(repair_file, path, NULL),
	F_ENUM(repair_file, state, repair_file_state_words, "{0}"),
};
static const struct desc repair_file_desc = DESC(repair_file);

static const struct field transaction_fields[] = {
	F_STR(transaction, id, NULL),
	F_U64(transaction, time_s, NULL),
	F_STR(transaction, boot_id, NULL),
	F_LIST(transaction, repairs, repair_desc, OWN_TRANSACTIONS "/{0}/plan.json"),
	F_LIST(transaction, files, repair_file_desc, OWN_TRANSACTIONS "/{0}/plan.json"),
	F_STRS(transaction, kernels, OWN_TRANSACTIONS "/{0}/plan.json"),
};
static const struct desc transaction_desc = DESC(transaction);

static const struct field repairs_facts_fields[] = {
	F_LIST(repairs_facts, applied, transaction_desc, OWN_TRANSACTIONS),
};
const struct desc repairs_facts_desc = DESC(repairs_facts);
