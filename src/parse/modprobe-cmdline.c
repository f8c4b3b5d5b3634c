/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe-cmdline.c - the words about modules in the kernel command line: for modprobe, for the kernel's own module
 * loader, and for dracut.
 */
#include "parse/kparam.h"
#include "parse/modprobe-private.h"

/* kmod reads /proc/cmdline into a buffer of KCMD_LINE_SIZE, its NUL included (libkmod-internal.h).
 */
#define CMDLINE_MAX 4095

/* ---- module.parameter=value: libkmod-config.c kmod_config_parse_kcmdline() ----
 *
 * kmod has its own idea of words here. A quote may open a word or be in its value; anywhere else,
 * and at a second dot in the name, the word is passed over. */

enum state { WORD_IGNORED, WORD_MODULE, WORD_PARAM, WORD_VALUE };

struct words {
	struct modprobe_parser *parser;
	struct span text;
	enum state state;
	bool in_quote;
	bool opened; /* the word began with a quote */
	size_t module, dot, value;
};

static void begin_word(struct words *w, size_t at)
{
	w->state = WORD_MODULE;
	w->opened = false;
	w->module = at;
}

static void add_blacklist(struct modprobe_parser *parser, struct span names, const char *word)
{
	struct span name;

	/* kmod leaves dashes as they are here; such a name then matches no module. */
	while (span_cut(&names, ',', &name))
		if (name.n)
			modprobe_add_command(parser, &parser->facts->blacklist, name, span_of(word),
					     0);
}

/* A boot loader turns m.p="a b" into "m.p=a b": kmod turns it back. */
static struct span requote(struct arena *arena, struct span name, struct span value)
{
	char *text = arena_printf(arena, "%.*s\"%.*s", SPAN_FMT(name), SPAN_FMT(value));

	return span_of(text);
}

static void end_word(struct words *w, size_t end)
{
	static const char blacklist[] = "blacklist=";
	struct modprobe_parser *p = w->parser;
	struct span module = { w->text.p + w->module, w->dot - w->module };
	struct span text = { w->text.p + w->dot + 1, end - w->dot - 1 };
	struct raw_option option = { .file = p->file };

	if (w->opened && w->state == WORD_VALUE)
		text = requote(p->arena, (struct span){ text.p, w->value - w->dot - 1 },
			       (struct span){ w->text.p + w->value, end - w->value });
	if (span_is(module, "modprobe") && span_starts(text, blacklist)) {
		text.p += sizeof(blacklist) - 1;
		text.n -= sizeof(blacklist) - 1;
		add_blacklist(p, text, "modprobe.blacklist");
		return;
	}
	module = modprobe_name(p->arena, module);
	if (!module.p || !text.n)
		return;
	option.module = fact_strn(p->arena, module.p, module.n);
	option.text = text;
	modprobe_add_option(p, &option);
}

static void take_blank(struct words *w, size_t at)
{
	if (w->in_quote) {
		if (w->state != WORD_VALUE)
			w->state = WORD_IGNORED;
		return;
	}
	if (w->state == WORD_PARAM || w->state == WORD_VALUE)
		end_word(w, at);
	begin_word(w, at + 1);
}

static void take_byte(struct words *w, size_t at)
{
	switch (w->text.p[at]) {
	case '"':
		w->in_quote = !w->in_quote;
		if (w->in_quote && w->state == WORD_MODULE && at == w->module) {
			w->opened = true;
			w->module = at + 1;
		} else if (w->state != WORD_VALUE) {
			w->state = WORD_IGNORED;
		}
		break;
	case '.':
		if (w->state == WORD_MODULE) {
			w->dot = at;
			w->state = WORD_PARAM;
		} else if (w->state == WORD_PARAM) {
			w->state = WORD_IGNORED;
		}
		break;
	case '=':
		if (w->state == WORD_PARAM) {
			w->value = at + 1;
			w->state = WORD_VALUE;
		} else if (w->state == WORD_MODULE) {
			w->state = WORD_IGNORED;
		}
		break;
	}
}

static void read_dotted_words(struct modprobe_parser *parser, struct span text)
{
	struct words w = { .parser = parser, .text = text };

	begin_word(&w, 0);
	for (size_t at = 0; at < text.n; at++) {
		char c = text.p[at];

		if (c == ' ' || (c >= '\t' && c <= '\r'))
			take_blank(&w, at);
		else
			take_byte(&w, at);
	}
	take_blank(&w, text.n);
}

/* ---- words that other readers understand, cut as the kernel cuts its command line ---- */

static void read_blocking_words(struct modprobe_parser *parser, struct span text)
{
	struct kparam_iter iter = { .text = text };
	struct span blocked = { 0 }, name;
	struct kparam param;

	while (kparam_next(&iter, &param) && !kparam_is_end(&param)) {
		/* A charp core_param: the last one replaces those before it (kernel/module). */
		if (kparam_name_is(param.name, "module_blacklist") && param.has_value)
			blocked = param.value;
		/* dracut writes each name into a modprobe.d file of its own. */
		if (!span_is(param.name, "rd.driver.blacklist") || !param.has_value)
			continue;
		while (span_cut(&param.value, ',', &name)) {
			struct span module = modprobe_name(parser->arena, name);

			if (module.n)
				modprobe_add_command(parser, &parser->facts->blacklist, module,
						     SPAN("rd.driver.blacklist"), 0);
		}
	}
	add_blacklist(parser, blocked, "module_blacklist");
}

void modprobe_read_cmdline(struct modprobe_parser *parser, struct span cmdline)
{
	cmdline.n = span_find(cmdline, '\0');
	read_blocking_words(parser, cmdline);
	if (cmdline.n > CMDLINE_MAX)
		cmdline.n = CMDLINE_MAX;
	read_dotted_words(parser, cmdline);
}
