/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dkms.c - the descriptions of the structs in facts-dkms.h, innermost first. */
#include "facts/facts.h"

#define TREE "/var/lib/dkms"

const char *const build_cause_words[] = { "space",  "realtime", "headers", "compiler",
					  "driver", "license",	"source",  NULL };

static const struct field dkms_package_fields[] = {
	F_STR(dkms_package, path, NULL),
	F_STR(dkms_package, name, TREE),
	F_STR(dkms_package, version, TREE),
	F_STRS(dkms_package, built, TREE),
	F_STR(dkms_package, failed_kernel, TREE),
	F_ENUM(dkms_package, cause, build_cause_words, TREE),
	F_STR(dkms_package, error, TREE),
	F_U64(dkms_package, line, TREE),
	F_STR(dkms_package, compiler, TREE),
};
static const struct desc dkms_package_desc = DESC(dkms_package);

static const struct field dkms_facts_fields[] = {
	F_LIST(dkms_facts, packages, dkms_package_desc, TREE),
	F_STRS(dkms_facts, headers, "/lib/modules"),
};
const struct desc dkms_facts_desc = DESC(dkms_facts);
