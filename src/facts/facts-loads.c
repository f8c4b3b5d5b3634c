/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-loads.c - the descriptions of the structs in facts-loads.h, innermost first. */
#include "facts/facts.h"

static const struct field load_obstacle_fields[] = {
	F_STR(load_obstacle, symbol, NULL),
	F_ENUM(load_obstacle, kind, failure_kind_words, NULL),
	F_STR(load_obstacle, from, NULL),
};
static const struct desc load_obstacle_desc = DESC(load_obstacle, .ordered = true);

static const struct field load_module_fields[] = {
	F_STR(load_module, name, NULL),
	F_STR(load_module, path, NULL),
	F_BOOL(load_module, there, "/lib/modules"),
	F_STRS(load_module, needs, "/lib/modules"),
	F_STRS(load_module, missing, "/lib/modules"),
	F_STR(load_module, vermagic, "/lib/modules"),
	F_BOOL(load_module, versioned, "/lib/modules"),
	F_STR(load_module, license, "/lib/modules"),
	F_STR(load_module, signer, "/lib/modules"),
	F_LIST(load_module, obstacles, load_obstacle_desc, "/lib/modules"),
	F_U64(load_module, unchecked, "/lib/modules"),
};
static const struct desc load_module_desc = DESC(load_module);

static const struct field loads_facts_fields[] = {
	F_STR(loads_facts, kernel, "/lib/modules"),
	F_STR(loads_facts, vermagic, "/lib/modules"),
	F_STR(loads_facts, signer, "/lib/modules"),
	F_STR(loads_facts, symbols, "/lib/modules"),
	F_LIST(loads_facts, modules, load_module_desc, "/lib/modules"),
};
const struct desc loads_facts_desc = DESC(loads_facts);
