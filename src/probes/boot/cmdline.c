/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmdline.c - the command line of the kernel that runs, and the files that the command lines of
 * boot entries are made from. What the next boot gets is in probes/boot/boot.c, which knows the loader.
 */
#include <string.h>

#include "parse/kparam.h"
#include "parse/shellvars.h"
#include "probes/probe.h"

#define SHELL_FILES_MAX (64u << 10) /* bytes of /etc/default/grub and what is sourced after it */
#define SOURCES_MAX 64

struct sources {
	struct probe_context *ctx;
	struct shellvars vars;
	struct fact_str file; /* being read */
	size_t bytes;
	bool unknown; /* a file could not be read */
};

/* Parses the kernel's command line. Words after "--" are for init. The file's final newline does not belong to an
 * open quote. */
void probe_set_cmdline(struct probe_context *ctx, struct span text)
{
	struct cmdline_facts *facts = &ctx->node->cmdline;
	struct kparam_iter iter;
	struct kparam param;

	text.n -= text.n && text.p[text.n - 1] == '\n';
	iter = (struct kparam_iter){ .text = text };
	facts->running = probe_span(ctx, span_trim(text));
	facts->args.state = FACT_KNOWN;
	while (kparam_next(&iter, &param) && !kparam_is_end(&param)) {
		struct cmdline_arg *arg = LIST_ADD(ctx->arena, &facts->args);

		arg->key = probe_span(ctx, param.name);
		arg->value = param.has_value ? probe_span(ctx, param.value) : FACT_NONE(fact_str);
	}
}

static void read_running(struct probe_context *ctx)
{
	struct cmdline_facts *facts = &ctx->node->cmdline;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/cmdline");

	facts->running.state = facts->args.state = probe_state(rc);
	if (rc == 0)
		probe_set_cmdline(ctx, text_span(&text));
}

int probe_read_cmdline(struct probe_context *ctx, struct text *text)
{
	const struct fact_str *next = &ctx->node->cmdline.running;

	*text = (struct text){ 0 };
	if (!is_known(ctx->node->os.next_boot))
		return host_read(ctx->host, text, HOST_FILE_MAX, "/proc/cmdline");
	if (!is_known(*next))
		return -ENODATA;
	text->data = strdup(next->value);
	text->size = text->data ? strlen(text->data) : 0;
	return text->data ? 0 : -ENOMEM;
}

static struct cmdline_text *add_source(struct sources *s, const char *text)
{
	struct cmdline_facts *facts = &s->ctx->node->cmdline;
	struct cmdline_text *source;

	if (facts->sources.count == SOURCES_MAX) {
		host_gap_note(s->ctx->host, s->file.value, -EOVERFLOW, "more than are listed");
		s->unknown = true;
		return NULL;
	}
	source = LIST_ADD(s->ctx->arena, &facts->sources);
	source->kernel.state = source->variable.state = source->line.state = FACT_ABSENT;
	source->text = fact_str(s->ctx->arena, text);
	source->file = s->file;
	return source;
}

static void note_assignment(void *user, struct span name, const char *value, uint64_t line)
{
	struct sources *s = user;
	struct cmdline_text *source;

	if (!span_is(name, "GRUB_CMDLINE_LINUX") && !span_is(name, "GRUB_CMDLINE_LINUX_DEFAULT") &&
	    !span_is(name, "TUNED_BOOT_CMDLINE"))
		return;
	source = add_source(s, value);
	if (!source)
		return;
	source->variable = probe_span(s->ctx, name);
	source->line = fact_u64(line);
}

/* False when there is no such file. */
static bool read_file(struct sources *s, struct text *text, const char *path, size_t limit)
{
	int rc = host_read(s->ctx->host, text, limit, "%s", path);

	s->unknown |= rc && rc != -ENOENT;
	s->file = fact_str(s->ctx->arena, path);
	return rc == 0;
}

static void read_shell(struct sources *s, const char *path)
{
	_cleanup_text_ struct text text = { 0 };

	if (!read_file(s, &text, path, SHELL_FILES_MAX - s->bytes))
		return;
	s->bytes += text.size;
	/* The variables point into the text. */
	shellvars_read(
		&s->vars,
		(struct span){ arena_strndup(s->ctx->arena, text.data, text.size), text.size },
		note_assignment, s);
}

/* grub-mkconfig reads these; the folder is a patch of Debian's, in the order of names, and the loop's variable is x. */
static void read_grub(struct sources *s)
{
	_cleanup_names_ struct names names = { 0 };
	char path[PATH_MAX];
	int rc;

	read_shell(s, "/etc/default/grub");
	rc = host_list(s->ctx->host, &names, "/etc/default/grub.d");
	s->unknown |= rc && rc != -ENOENT;
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);

		if (name.p[0] == '.' || !span_ends(name, ".cfg"))
			continue;
		snprintf(path, sizeof(path), "/etc/default/grub.d/%s", name.p);
		shellvars_set(&s->vars, span_of("x"), path);
		read_shell(s, path);
	}
}

/* kernel-install takes one line of words from it, whatever the line breaks. */
static bool read_kernel_install(struct sources *s, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, word;
	size_t n = 0;
	char *folded;

	if (!read_file(s, &text, path, SHELL_FILES_MAX))
		return false;
	folded = arena_alloc(s->ctx->arena, text.size + 1);
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		if (span_starts(span_trim(line), "#"))
			continue;
		while (span_word(&line, &word)) {
			if (n)
				folded[n++] = ' ';
			memcpy(folded + n, word.p, word.n);
			n += word.n;
		}
	}
	add_source(s, folded);
	return true;
}

static void cmdline_run(struct probe_context *ctx)
{
	struct cmdline_facts *facts = &ctx->node->cmdline;
	struct sources s = { .ctx = ctx, .vars = { .arena = ctx->arena } };

	bool unknown;

	read_running(ctx);
	if (probe_hides_host(ctx, "/boot"))
		return;
	read_grub(&s);
	/* TuneD adds this to every entry, through /etc/grub.d/00_tuned or a variable of BLS entries. */
	read_shell(&s, "/etc/tuned/bootcmdline");
	/* The vendor's file only counts where there is no local one, and no loader but
	 * kernel-install reads it: a copy of /etc alone still says what GRUB gets. */
	if (!read_kernel_install(&s, "/etc/kernel/cmdline")) {
		unknown = s.unknown;
		read_kernel_install(&s, "/usr/lib/kernel/cmdline");
		s.unknown = unknown;
	}
	if (s.unknown)
		memset(&facts->sources, 0, sizeof(facts->sources));
	else
		facts->sources.state = FACT_KNOWN;
}

const struct probe probe_cmdline = {
	.name = "cmdline",
	.phase = PHASE_ALONE,
	.mounted_image_order = 3,
	PROBE_SECTION(cmdline),
	.run = cmdline_run,
	.preflight = { .run = read_running },
};
