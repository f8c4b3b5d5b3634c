/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf-keys.c - the table data/conf-keys.tsv: the keys that a program accepts in its configuration file. */
#include "parse/conf-keys.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/packed.h"

#include "conf-keys.inc"

static const struct {
	const char *keys;
	size_t count;
	bool folds; /* the reader ignores the case of keys */
} tables[CONF_FORMATS] = {
	[CONF_SLURM] = { slurm_keys, SLURM_KEYS, true },
	[CONF_GRES] = { gres_keys, GRES_KEYS, true },
	[CONF_CGROUP] = { cgroup_keys, CGROUP_KEYS, true },
	[CONF_DOCKER] = { docker_keys, DOCKER_KEYS, false },
	[CONF_TOOLKIT] = { toolkit_keys, TOOLKIT_KEYS, true },
	[CONF_CONTAINERD] = { containerd_keys, CONTAINERD_KEYS, true },
	[CONF_UNIT] = { unit_keys, UNIT_KEYS, false },
	[CONF_LIMITS] = { limits_keys, LIMITS_KEYS, true },
};

/* ---- names ---- */

static bool same_name(enum conf_format format, struct span s, const char *name)
{
	return s.n == strlen(name) && (tables[format].folds ? strncasecmp(s.p, name, s.n) == 0
							    : memcmp(s.p, name, s.n) == 0);
}

/* The parts of a section are divided by dots, except in quotes. */
static struct span cut_part(struct span *rest)
{
	struct span part = { rest->p, 0 };
	bool quoted = false;

	while (part.n < rest->n && (quoted || rest->p[part.n] != '.')) {
		quoted ^= rest->p[part.n] == '"';
		part.n++;
	}
	rest->p += part.n + (part.n < rest->n);
	rest->n -= part.n + (part.n < rest->n);
	return part;
}

static bool same_section(enum conf_format format, struct span section, const char *pattern)
{
	struct span wanted = span_of(pattern);

	if (!section.n)
		return span_is(wanted, "-");
	while (section.n && wanted.n) {
		struct span a = cut_part(&section), b = cut_part(&wanted);

		if (!span_is(b, "*") &&
		    (a.n != b.n || (tables[format].folds ? strncasecmp(a.p, b.p, a.n) != 0
							 : memcmp(a.p, b.p, a.n) != 0)))
			return false;
	}
	return !section.n && !wanted.n;
}

/* ---- the table ---- */

static void read_key(const char **at, struct conf_key *key)
{
	key->section = packed_text(at);
	key->name = packed_text(at);
	key->type = packed_text(at);
	key->since = packed_optional(at);
	key->gone = packed_optional(at);
}

const struct conf_key *conf_key_find(enum conf_format format, struct span section, struct span key,
				     struct conf_key *buffer)
{
	const char *at = tables[format].keys;

	for (size_t i = 0; i < tables[format].count; i++) {
		read_key(&at, buffer);
		if ((same_name(format, key, buffer->name) || strcmp(buffer->name, "*") == 0) &&
		    same_section(format, section, buffer->section))
			return buffer;
	}
	return NULL;
}

const struct conf_key *conf_key_elsewhere(enum conf_format format, struct span key,
					  struct conf_key *buffer)
{
	const char *at = tables[format].keys;

	for (size_t i = 0; i < tables[format].count; i++) {
		read_key(&at, buffer);
		if (same_name(format, key, buffer->name))
			return buffer;
	}
	return NULL;
}

const char *conf_section(enum conf_format format, struct span section)
{
	struct conf_key key;
	const char *at = tables[format].keys;

	for (size_t i = 0; i < tables[format].count; i++) {
		read_key(&at, &key);
		if (same_section(format, section, key.section))
			return key.section;
	}
	return NULL;
}

const char *conf_type_text(const char *type)
{
	static const struct {
		const char *type, *text;
	} texts[] = {
		{ "flag", "yes or no" },
		{ "u16", "a whole number up to 65535" },
		{ "u32", "a whole number" },
		{ "u64", "a whole number" },
		{ "float", "a number" },
		{ "bool", "true or false, without quotes" },
		{ "number", "a number, without quotes" },
		{ "list", "a list in brackets" },
		{ "table", "a table of keys" },
		{ "text", "a text in quotes" },
		{ "texts", "a table of texts in quotes" },
		{ "flags", "a table of true and false, without quotes" },
		{ "tables", "a table of tables" },
		{ "yes", "yes or no" },
		{ "limit", "a number, or infinity" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(texts[i].type, type) == 0)
			return texts[i].text;
	return type[0] == '{' ? type : NULL;
}
