/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-libraries.c - the descriptions of the structs in facts-libraries.h, innermost first. */
#include "facts/facts.h"

#define LDSO "/etc/ld.so.cache"

static const struct field missing_version_fields[] = {
	F_STR(missing_version, version, NULL),
	F_STR(missing_version, library, NULL),
	F_STR(missing_version, needed_by, NULL),
};
static const struct desc missing_version_desc = DESC(missing_version, .ordered = true);

static const struct field opened_library_fields[] = {
	F_STR(opened_library, path, NULL),
	F_STR(opened_library, use, "{0}"),
	F_STR(opened_library, variable, "{0}"),
	F_STRS(opened_library, missing_libraries, "{0}"),
	F_LIST(opened_library, missing_versions, missing_version_desc, "{0}"),
	F_STRS(opened_library, elsewhere, "{0}"),
};
static const struct desc opened_library_desc = DESC(opened_library);

static const struct field library_copy_fields[] = {
	F_STR(library_copy, path, NULL),
	F_STR(library_copy, version, "{1}"),
};
static const struct desc library_copy_desc = DESC(library_copy, .ordered = true, .distinct = true);

static const struct field library_copies_fields[] = {
	F_STR(library_copies, name, NULL),
	F_LIST(library_copies, copies, library_copy_desc, LDSO),
};
static const struct desc library_copies_desc = DESC(library_copies);

static const struct field preloaded_library_fields[] = {
	F_STR(preloaded_library, name, NULL),
	F_BOOL(preloaded_library, here, NULL),
	F_STR(preloaded_library, file, NULL),
	F_U64(preloaded_library, line, NULL),
};
static const struct desc preloaded_library_desc = DESC(preloaded_library, .ordered = true,
						       .distinct = true);

static const struct field verbs_provider_file_fields[] = {
	F_STR(verbs_provider_file, path, NULL),
	F_STR(verbs_provider_file, name, "{0}"),
	F_U64(verbs_provider_file, abi, "{0}"),
};
static const struct desc verbs_provider_file_desc = DESC(verbs_provider_file);

static const struct field ucx_copy_fields[] = {
	F_STR(ucx_copy, path, NULL),
	F_BOOL(ucx_copy, verbs, "{0}"),
};
static const struct desc ucx_copy_desc = DESC(ucx_copy);

static const struct field libraries_facts_fields[] = {
	F_LIST(libraries_facts, opened, opened_library_desc, LDSO),
	F_LIST(libraries_facts, copies, library_copies_desc, LDSO),
	F_LIST(libraries_facts, preloads, preloaded_library_desc, "/etc/ld.so.preload"),
	F_STR(libraries_facts, verbs, LDSO),
	F_U64(libraries_facts, verbs_abi, LDSO),
	F_LIST(libraries_facts, verbs_providers, verbs_provider_file_desc, LDSO),
	F_LIST(libraries_facts, ucx, ucx_copy_desc, LDSO),
};
const struct desc libraries_facts_desc = DESC(libraries_facts);
