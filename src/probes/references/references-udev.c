/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-udev.c - the names in udev rules for GPUs, NICs and RDMA devices: programs that they run, and PCI
 * functions to whose devices they give a name.
 */
#include <string.h>

#include "base/array.h"
#include "parse/bdf.h"
#include "parse/udev.h"
#include "probes/references/references.h"

/* A rule as far as it matters here. */
struct rule {
	struct span subsystem;
	struct span function; /* KERNELS=="0000:18:00.0" */
	struct span name;     /* NAME="..." or the final word of rdma_rename ... NAME_FIXED ... */
	struct span programs[8];
	size_t count;
	bool ours;
};

static bool is_ours(struct span value)
{
	static const char *const words[] = { "nvidia", "infiniband", "rdma", "mlx", "gdrdrv" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_search(value, words[i]))
			return true;
	return false;
}

static bool is_literal(struct span value)
{
	for (size_t i = 0; i < value.n; i++)
		if (strchr("*?[]|$%", value.p[i]))
			return false;
	return value.n > 0;
}

static bool is_function(struct span value)
{
	return is_literal(value) && bdf_is(value);
}

/* "rdma_rename %k NAME_FIXED mlx5_a" of rdma-core: the name that it gives. */
static bool fixed_name(struct span command, struct span *name)
{
	const char *at = span_search(command, "NAME_FIXED ");

	if (!at)
		return false;
	at += strlen("NAME_FIXED ");
	*name = span_trim((struct span){ at, (size_t)(command.p + command.n - at) });
	return is_literal(*name);
}

static void take_command(struct rule *rule, struct span value)
{
	struct span word;

	fixed_name(value, &rule->name);
	if (span_word(&value, &word) && is_literal(word) &&
	    rule->count < ARRAY_SIZE(rule->programs))
		rule->programs[rule->count++] = word;
}

static void take_token(struct rule *rule, const struct udev_token *t)
{
	bool match = udev_is_match(t);

	rule->ours |= is_ours(t->value);
	if (match && (span_is(t->key, "SUBSYSTEM") || span_is(t->key, "SUBSYSTEMS")))
		rule->subsystem = t->value;
	else if (match && span_is(t->key, "KERNELS") && is_function(t->value))
		rule->function = t->value;
	else if (!match && span_is(t->key, "NAME") && is_literal(t->value))
		rule->name = t->value;
	else if (span_is(t->key, "PROGRAM") ||
		 (span_is(t->key, "RUN") && !span_is(t->attribute, "builtin")) ||
		 (span_is(t->key, "IMPORT") && span_is(t->attribute, "program")))
		take_command(rule, t->value);
}

/* Relative paths are below udev's own folder (udev(7), RUN). */
static void add_program(struct references *refs, struct span program, size_t line)
{
	const char *path;

	if (program.p[0] == '/') {
		reference_add(refs, REFERENCE_PROGRAM, "RUN", program, NULL, line);
		return;
	}
	path = arena_printf(refs->arena, "/usr/lib/udev/%.*s", SPAN_FMT(program));
	reference_add(refs, REFERENCE_PROGRAM, "RUN", span_of(path), NULL, line);
}

static void take_rule(struct references *refs, struct span text, size_t line)
{
	struct rule rule = { 0 };
	struct udev_token token;
	bool net;

	while (udev_token_next(&text, &token))
		take_token(&rule, &token);
	net = span_is(rule.subsystem, "net");
	if (rule.function.n && rule.name.n && (net || span_is(rule.subsystem, "infiniband")))
		reference_add(refs, REFERENCE_FUNCTION, net ? "net" : "infiniband", rule.function,
			      arena_strndup(refs->arena, rule.name.p, rule.name.n), line);
	for (size_t i = 0; rule.ours && i < rule.count; i++)
		add_program(refs, rule.programs[i], line);
}

void reference_read_udev(struct references *refs, struct span text)
{
	struct udev_reader reader = { .rest = text };
	struct span rule;

	while (udev_rule_next(&reader, &rule))
		take_rule(refs, rule, reader.line);
}
