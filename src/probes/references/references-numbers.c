/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-numbers.c - numbers of device files that mknod gets as they are written: in udev rules, services, commands
 * of modprobe.d and scripts. The same files are read for what they write to PCI functions. Nothing else of them is kept.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "probes/conf-d.h"
#include "probes/references/references.h"

#define SCRIPT_MAX (256u << 10)
#define SCRIPTS_MAX 1024 /* of one folder */
#define OPTIONS_MAX 8	 /* of one command; a line can have the word thousands of times */

struct search {
	struct references_facts *answer;
	struct host *host;
	struct arena *arena;
};

/* ---- one command ---- */

/* The next word of a shell's command; quotes are left out. False at the end of the command. */
static bool next_word(struct span *rest, struct span *word)
{
	size_t n = 0;

	while (rest->n && strchr(" \t\\\"'", rest->p[0]) && rest->p[0])
		*rest = (struct span){ rest->p + 1, rest->n - 1 };
	while (n < rest->n && rest->p[n] && !strchr(" \t\r\n;&|<>(){}\\\"'`", rest->p[n]))
		n++;
	*word = (struct span){ rest->p, n };
	*rest = (struct span){ rest->p + n, rest->n - n };
	return n > 0;
}

/* A word of options is passed, and the argument of -m with it. */
static bool next_operand(struct span *rest, struct span *word)
{
	for (int i = 0; i <= OPTIONS_MAX && next_word(rest, word); i++) {
		if (word->p[0] != '-')
			return true;
		if (span_is(*word, "-m") || span_is(*word, "--mode"))
			if (!next_word(rest, word))
				return false;
	}
	return false;
}

/* The RDMA drivers have fixed numbers (231), and more of the same name, of which any can be right. */
static bool is_drivers_node(struct span path)
{
	static const char *const starts[] = { "/dev/nvidia", "/dev/gdrdrv" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(path, starts[i]))
			return true;
	return false;
}

/* "-m 666 /dev/nvidia-uvm c 247 0", after mknod (mknod(1)). A number from a variable is that of the kernel. */
static void take_command(struct references *refs, struct span rest, size_t line)
{
	struct span path, type, major, minor;
	uint64_t number;

	if (!next_operand(&rest, &path) || !next_operand(&rest, &type) ||
	    !next_operand(&rest, &major) || !is_drivers_node(path) ||
	    (!span_is(type, "c") && !span_is(type, "u")) || span_u64(major, 10, &number))
		return;
	if (!next_operand(&rest, &minor) || span_u64(minor, 10, &number))
		minor = SPAN("0");
	reference_add(refs, REFERENCE_DEVICE, "mknod", path,
		      arena_printf(refs->arena, "%.*s:%.*s", SPAN_FMT(major), SPAN_FMT(minor)),
		      line);
}

static bool is_comment(struct span line)
{
	line = span_trim(line);
	return line.n && (line.p[0] == '#' || line.p[0] == ';');
}

static void read_text(struct references *refs, struct span text)
{
	struct span line;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++) {
		const char *at;

		if (is_comment(line))
			continue;
		while ((at = span_search(line, "mknod"))) {
			size_t n = (size_t)(at - line.p) + strlen("mknod");

			line = (struct span){ line.p + n, line.n - n };
			if (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
				take_command(refs, line, number);
		}
	}
}

/* ---- the files ---- */

/* COMPLETE: unknown where PATH could not be read. */
static void add_file(struct search *s, const char *path, enum reference_format format,
		     struct fact_bool complete)
{
	struct reference_file *file = LIST_ADD(s->arena, &s->answer->files);

	file->path = fact_str(s->arena, path);
	file->format = fact_enum(format);
	file->complete = complete;
	file->compared = FACT_NONE(fact_bool);
}

static void read_as(struct search *s, const char *path, enum reference_format format,
		    reference_read *read, struct span text)
{
	struct references refs = { .arena = s->arena,
				   .facts = s->answer,
				   .file = path,
				   .format = format,
				   .complete = true };
	size_t before = s->answer->items.count;

	read(&refs, text);
	if (s->answer->items.count > before)
		add_file(s, path, format, fact_bool(refs.complete));
}

static void read_file(struct search *s, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(s->host, &text, SCRIPT_MAX, "%s", path);

	/* A file of this size is a program. */
	if (rc == -EFBIG || rc == -EISDIR || rc == -ENOENT || rc == -EINVAL)
		return;
	if (rc) {
		add_file(s, path, REFERENCE_NUMBERS, (struct fact_bool){ 0 });
		add_file(s, path, REFERENCE_REGISTERS, (struct fact_bool){ 0 });
		return;
	}
	if (span_search(text_span(&text), "mknod"))
		read_as(s, path, REFERENCE_NUMBERS, read_text, text_span(&text));
	read_as(s, path, REFERENCE_REGISTERS, reference_read_registers, text_span(&text));
}

static void note_error(struct search *s, const char *folder, int rc)
{
	if (rc && rc != -ENOENT && rc != -ENODATA && rc != -ENOTDIR) {
		add_file(s, folder, REFERENCE_NUMBERS, (struct fact_bool){ 0 });
		add_file(s, folder, REFERENCE_REGISTERS, (struct fact_bool){ 0 });
	}
}

static void read_conf_d(struct search *s, const char *first, const char *last, const char *suffix)
{
	struct conf_d *list = arena_alloc(s->arena, sizeof(*list));

	conf_d_list(s->host, s->arena, conf_d_folders(s->host, s->arena, first, last), suffix,
		    list);
	note_error(s, arena_printf(s->arena, "/etc/%s%s", first, last), list->error);
	for (size_t i = 0; i < list->count; i++)
		read_file(s, conf_d_path(s->arena, &list->items[i]));
}

static void read_scripts(struct search *s, const char *folder)
{
	_cleanup_names_ struct names names = { 0 };

	note_error(s, folder, host_list(s->host, &names, "%s", folder));
	if (names.count > SCRIPTS_MAX)
		note_error(s, folder, -EOVERFLOW);
	for (size_t i = 0; i < names.count && i < SCRIPTS_MAX; i++)
		read_file(s, arena_printf(s->arena, "%s/%s", folder, names.items[i]));
}

static int references_numbers_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const char *const files[] = { "/etc/rc.local", "/etc/rc.d/rc.local" };
	static const char *const folders[] = { "/etc/init.d",	      "/etc/rc.d/init.d",
					       "/etc/enroot/hooks.d", "/usr/lib/udev",
					       "/usr/local/bin",      "/usr/local/sbin" };
	struct search s = { facts, host, arena };

	(void)user;
	read_conf_d(&s, "udev/", "rules.d", ".rules");
	read_conf_d(&s, "systemd/", "system", ".service");
	read_conf_d(&s, "", "modprobe.d", ".conf");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		read_file(&s, files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		read_scripts(&s, folders[i]);
	return 0;
}

void references_from_numbers(struct probe_context *ctx)
{
	struct references_facts *all = &ctx->node->references, answer = { 0 };
	int rc = host_query(ctx->host, "numbers that mknod gets", &references_facts_desc, &answer,
			    ctx->arena, references_numbers_ask, NULL);

	if (rc && rc != -ENODATA)
		all->complete = fact_bool(false);
	for_each(f, &answer.files)
		*LIST_ADD(ctx->arena, &all->files) = *f;
	for_each(r, &answer.items)
		if (all->items.count < REFERENCES_MAX)
			*LIST_ADD(ctx->arena, &all->items) = *r;
}
