/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-software.c - the descriptions of the structs in facts-software.h, innermost first. */
#include "facts/facts.h"

static const struct field software_item_fields[] = {
	F_STR(software_item, path, NULL),
	F_STR(software_item, name, "{0}"),
	F_STR(software_item, version, "{0}"),
};
static const struct desc software_item_desc = DESC(software_item);

static const struct field software_package_fields[] = {
	F_STR(software_package, name, NULL),
	F_STR(software_package, version, "/var/lib/dpkg/status"),
	F_STR(software_package, state, "/var/lib/dpkg/status"),
	F_BOOL(software_package, held, "/var/lib/dpkg/status"),
};
static const struct desc software_package_desc = DESC(software_package);

static const struct field software_facts_fields[] = {
	F_BOOL(software_facts, complete, "/usr/lib"),
	F_LIST(software_facts, items, software_item_desc, "/usr"),
	F_STR(software_facts, libcuda, "/etc/ld.so.cache"),
	F_STR(software_facts, libcuda_version, "/etc/ld.so.cache"),
	F_STR(software_facts, libnvidia_ml, "/etc/ld.so.cache"),
	F_STRS(software_facts, programs, "/usr/sbin"),
	F_LIST(software_facts, packages, software_package_desc, "/var/lib/dpkg/status"),
};
const struct desc software_facts_desc = DESC(software_facts);
