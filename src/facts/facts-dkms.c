/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-dkms.c - the descriptions of the structs in facts-dkms.h, innermost first. */
#include "facts/facts.h"

#define TREE "/var/lib/dkms"
#define LOG "{0}/build/make.log"

const char *const build_cause_words[] = {
	[BUILD_SPACE] = "space",     [BUILD_REALTIME] = "realtime",
	[BUILD_HEADERS] = "headers", [BUILD_COMPILER] = "compiler",
	[BUILD_DRIVER] = "driver",   [BUILD_LICENSE] = "license",
	[BUILD_SOURCE] = "source",   NULL,
};

static const struct field dkms_package_fields[] = {
	F_STR(dkms_package, path, NULL),
	F_STR(dkms_package, name, TREE),
	F_STR(dkms_package, version, TREE),
	F_STRS(dkms_package, built, TREE),
	F_STR(dkms_package, failed_kernel, LOG),
	F_ENUM(dkms_package, cause, build_cause_words, LOG),
	F_STR(dkms_package, error, LOG),
	F_U64(dkms_package, log_line, LOG),
	F_STR(dkms_package, compiler, LOG),
};
static const struct desc dkms_package_desc = DESC(dkms_package);

static const struct field dkms_facts_fields[] = {
	F_LIST(dkms_facts, packages, dkms_package_desc, TREE),
	F_STRS(dkms_facts, headers, "/lib/modules"),
};
const struct desc dkms_facts_desc = DESC(dkms_facts);
