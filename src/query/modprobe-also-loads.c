/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe-also-loads.c - the modules that modprobe loads together with a given one: soft dependencies and install
 * commands, as kmod takes them.
 */
#include "query/modprobe-also-loads.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* ---- soft dependencies: kmod 30 libkmod-config.c kmod_config_add_softdep() ---- */

static bool is_module(struct span word, const char *name)
{
	if (word.n != strlen(name))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] != name[i] && !(word.p[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

/* The next word. A single blank before the first one, that is two after the module's name, is part of it to
 * kmod, so that " post:" is no "post:". */
static bool cut_word(struct span *rest, bool first, struct span *word)
{
	size_t start = 0, end;

	while (start < rest->n && isspace((unsigned char)rest->p[start]))
		start++;
	if (start == rest->n)
		return false;
	end = start;
	while (end < rest->n && !isspace((unsigned char)rest->p[end]))
		end++;
	if (first && start == 1)
		start = 0;
	*word = (struct span){ rest->p + start, end - start };
	*rest = (struct span){ rest->p + end, rest->n - end };
	return true;
}

/* The text of a softdep line: pre: A B post: C D. */
static bool softdep_has(struct span text, const char *name)
{
	bool first = true, counts = false;
	struct span word;

	for (; cut_word(&text, first, &word); first = false) {
		if (span_is(word, "pre:") || span_is(word, "post:"))
			counts = true;
		else if (counts && is_module(word, name))
			return true;
	}
	return false;
}

/* ---- install commands ---- */

/* Returns true if a word of the command, which a shell will run, names the module. */
static bool command_has(struct span text, const char *name)
{
	static const char dividers[] = " \t\n;&|()\"'`";
	bool modprobe = span_search(text, "modprobe") || span_search(text, "insmod");

	while (text.n && modprobe) {
		size_t n = 0;

		while (n < text.n && !(text.p[n] && strchr(dividers, text.p[n])))
			n++;
		if (is_module((struct span){ text.p, n }, name))
			return true;
		n += n < text.n;
		text = (struct span){ text.p + n, text.n - n };
	}
	return false;
}

/* ---- the lines that apply to a module ---- */

typedef bool text_has(struct span text, const char *name);

/* The first line whose pattern fits is the one that counts (kmod_module_get_softdeps(), init_get_install). */
static bool first_line_has(const void *lines, const char *module, const char *name, text_has *has)
{
	const typeof(((struct modprobe_facts *)0)->softdep) *list = lines;

	for_each(line, list)
		if (fnmatch(line->module.value, module, 0) == 0)
			return is_known(line->text) && has(span_of(line->text.value), name);
	return false;
}

static bool leads_to(const struct node *node, const char *module, const char *name)
{
	return first_line_has(&node->modprobe.softdep, module, name, softdep_has) ||
	       first_line_has(&node->modprobe.install, module, name, command_has);
}

bool modprobe_also_loads(const struct node *node, const char *name)
{
	if (leads_to(node, "nvidia", name))
		return true;
	for_each(m, &node->modules.loaded)
		if (known_is(m->state, MODULE_LIVE) && strcmp(m->name.value, name) != 0 &&
		    leads_to(node, m->name.value, name))
			return true;
	return false;
}
