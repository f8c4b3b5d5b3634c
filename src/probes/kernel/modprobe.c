/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe.c - the modprobe.d files of the root file system and their combined result. The copies
 * inside an initramfs are in probes/boot/initramfs.c. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "parse/links.h"
#include "parse/modprobe.h"
#include "probes/probe.h"

struct reading {
	struct probe_context *ctx;
	LIST(struct modprobe_input) inputs;
	LIST(const char *) folders; /* where those read so far really are */
	bool unknown;	  /* a folder or a link that may lead to files could not be read ... */
	bool etc_unknown; /* ... that of /etc, or a link */
};

static int link_on_host(void *user, const char *path, char target[PATH_MAX])
{
	struct reading *r = user;
	int rc;

	/* /dev/null is no link, and a copy of a host has no devices to ask. */
	if (strcmp(path, "/dev/null") == 0)
		return -EINVAL;
	rc = host_link(r->ctx->host, target, "%s", path);
	/* The unread link may lead anywhere. */
	if (rc && rc != -ENOENT && rc != -EINVAL && rc != -ENODATA)
		r->unknown = r->etc_unknown = true;
	return rc;
}

/* Returns true if the folder was read under another name: with /lib a link to usr/lib, its files would mask
 * themselves. */
static bool seen_before(struct reading *r, const char *folder)
{
	char real[PATH_MAX];

	if (links_resolve(folder, real, link_on_host, r))
		return false;
	for_each(seen, &r->folders)
		if (strcmp(*seen, real) == 0)
			return true;
	*LIST_ADD(r->ctx->arena, &r->folders) = arena_strdup(r->ctx->arena, real);
	return false;
}

/* An empty file or a link to /dev/null is how a file in a lower folder is masked. The link is
 * looked at before the file: a tree has no devices. */
static bool is_null_device(struct reading *r, const char *path)
{
	char target[PATH_MAX], real[PATH_MAX];

	return link_on_host(r, path, target) == 0 &&
	       links_resolve(path, real, link_on_host, r) == 0 && strcmp(real, "/dev/null") == 0;
}

static struct modprobe_input *add_input(struct reading *r, const char *path)
{
	struct modprobe_input *input = LIST_ADD(r->ctx->arena, &r->inputs);

	input->path = arena_strdup(r->ctx->arena, path);
	return input;
}

static void add_file(struct reading *r, const char *path, bool misnamed)
{
	struct modprobe_input *input = add_input(r, path);
	struct host_stat stat;
	int rc;

	if (misnamed) {
		input->kind = MODPROBE_MISNAMED;
		return;
	}
	if (is_null_device(r, path)) {
		input->mtime_s.state = FACT_ABSENT;
		return;
	}
	rc = host_stat(r->ctx->host, &stat, "%s", path);
	if (rc == -ENOENT) {
		input->kind = MODPROBE_DANGLING;
	} else if (rc) {
		input->kind = MODPROBE_UNREAD;
	} else if (S_ISDIR(stat.mode)) {
		input->kind = MODPROBE_FOLDER;
	} else {
		input->mtime_s = fact_u64(stat.mtime_s);
	}
}

static void list_folder(struct reading *r, const char *folder)
{
	_cleanup_names_ struct names names = { 0 };
	char path[PATH_MAX];
	int rc;

	if (seen_before(r, folder))
		return;
	rc = host_list(r->ctx->host, &names, "%s", folder);
	/* /run is empty when a system starts, and never part of a copy of one. */
	if (rc && rc != -ENOENT && !(rc == -ENODATA && span_starts(span_of(folder), "/run/")))
		r->unknown = true;
	if (rc && rc != -ENOENT && span_starts(span_of(folder), "/etc/"))
		r->etc_unknown = true;
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);

		if (name.p[0] == '.' || modprobe_is_set_aside(name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, name.p);
		add_file(r, path, !modprobe_is_config(name));
	}
}

/* kmod reads the soft dependencies that depmod collected in the same order of names. */
static void add_softdeps(struct reading *r)
{
	const struct fact_str *kernel = &r->ctx->node->os.kernel;
	char path[PATH_MAX];
	struct host_stat stat;
	int rc;

	if (!is_known(*kernel))
		return;
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.softdep", kernel->value);
	rc = host_stat(r->ctx->host, &stat, "%s", path);
	if (rc == -ENOENT)
		return;
	add_input(r, path)->kind = rc ? MODPROBE_UNREAD : MODPROBE_TEXT;
	r->inputs.items[r->inputs.count - 1].mtime_s = fact_u64(stat.mtime_s);
}

/* Gaps for what the parser leaves out are recorded here, where the host handle is. */
static void note_left_out(struct reading *r)
{
	size_t total = 0;

	for_each(input, &r->inputs)
		total += input->masked_by ? 0 : input->text.n;
	if (total > MODPROBE_BYTES_MAX)
		host_gap_note(
			r->ctx->host, modprobe_folders[0], -EFBIG,
			"more than 96 KiB of files: lines that name no GPU or RDMA module are left out");
}

/* Reads the files that count first, because all share one limit. */
static void read_texts(struct reading *r, struct text *texts, bool masked, size_t *total)
{
	for (uint32_t i = 0; i < r->inputs.count; i++) {
		struct modprobe_input *input = &r->inputs.items[i];

		if (input->kind != MODPROBE_TEXT || is_absent(input->mtime_s) ||
		    masked != (input->masked_by != NULL))
			continue;
		if (host_read(r->ctx->host, &texts[i], MODPROBE_READ_MAX - *total, "%s",
			      input->path)) {
			input->kind = MODPROBE_UNREAD;
			continue;
		}
		input->text = text_span(&texts[i]);
		*total += input->text.n;
	}
}

static void modprobe_run(struct probe_context *ctx)
{
	_cleanup_text_ struct text cmdline = { 0 };
	struct reading r = { .ctx = ctx };
	struct text *texts;
	size_t total = 0;

	if (probe_hides_host(ctx, "/etc/modprobe.d"))
		return;
	add_softdeps(&r);
	for (size_t i = 0; modprobe_folders[i]; i++)
		list_folder(&r, modprobe_folders[i]);
	modprobe_select(r.inputs.items, r.inputs.count);
	texts = arena_alloc(ctx->arena, r.inputs.count * sizeof(*texts));
	read_texts(&r, texts, false, &total);
	read_texts(&r, texts, true, &total);
	probe_read_cmdline(ctx, &cmdline);
	modprobe_parse(&ctx->node->modprobe, ctx->arena, r.inputs.items, r.inputs.count,
		       text_span(&cmdline));
	note_left_out(&r);
	if (r.unknown)
		ctx->node->modprobe.complete = fact_bool(false);
	if (r.etc_unknown)
		ctx->node->modprobe.etc_complete = fact_bool(false);
	for (uint32_t i = 0; i < r.inputs.count; i++)
		text_free(&texts[i]);
}

const struct probe probe_modprobe = {
	.name = "modprobe",
	.phase = PHASE_ALONE,
	PROBE_SECTION(modprobe),
	.run = modprobe_run,
};
