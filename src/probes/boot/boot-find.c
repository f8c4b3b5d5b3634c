/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-find.c - common parts of the entries of all boot loaders. */
#include "probes/boot/boot-find.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/links.h"

/* ---- files ---- */

static bool is_file(struct probe_context *ctx, const char *path)
{
	struct host_stat stat;

	return host_stat(ctx->host, &stat, "%s", path) == 0;
}

/*
 * GRUB's paths begin at the root of a file system, with "(device)" before them where it is not the
 * one that GRUB looks at anyway: "/boot/vmlinuz" without a partition for /boot, "/vmlinuz" with
 * one,
 * "/@/boot/vmlinuz" on a btrfs subvolume.
 */
static const char *grub_path(struct probe_context *ctx, const char *written)
{
	const char *close = *written == '(' ? strchr(written, ')') : NULL;
	const char *below, *in_boot;

	if (close)
		written = close + 1;
	below = strstr(written, "/boot/");
	if (below)
		return below;
	in_boot = arena_printf(ctx->arena, "/boot%s%s", *written == '/' ? "" : "/", written);
	return is_file(ctx, in_boot) || !is_file(ctx, written) ? in_boot : written;
}

const char *boot_path(struct probe_context *ctx, const char *base, const char *written)
{
	if (!base)
		return grub_path(ctx, written);
	return arena_printf(ctx->arena, "%s%s%s", base, *written == '/' ? "" : "/", written);
}

/* ---- releases ---- */

/* "vmlinuz-6.1.0-10-amd64"; NULL when no release follows. */
static const char *release_in_name(const char *path)
{
	static const char *const prefixes[] = { "vmlinuz-", "vmlinux-", "kernel-",
						"linux-",   "Image-",	"bzImage-" };
	const char *name = span_base_name(path);

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], n) == 0 && isdigit((unsigned char)name[n]))
			return name + n;
	}
	return NULL;
}

/* kernel-install: TOKEN/RELEASE/linux */
static const char *release_in_folder(struct probe_context *ctx, const char *path)
{
	const char *end = strrchr(path, '/'), *start = end;

	if (!end || strcmp(end, "/linux") != 0)
		return NULL;
	while (start > path && start[-1] != '/')
		start--;
	if (!isdigit((unsigned char)*start))
		return NULL;
	return arena_strndup(ctx->arena, start, (size_t)(end - start));
}

static int link_on_host(void *user, const char *path, char target[PATH_MAX])
{
	return host_link((struct host *)user, target, "%s", path);
}

static struct fact_str find_release(struct probe_context *ctx, const struct boot_line *line)
{
	const char *path, *release = line->release;
	char real[PATH_MAX];

	if (!release && line->kernel)
		release = release_in_name(line->kernel);
	if (!release && line->kernel)
		release = release_in_folder(ctx, line->kernel);
	if (!release && line->kernel) {
		/* /vmlinuz and the like lead to the file with the full name. */
		path = boot_path(ctx, line->base, line->kernel);
		if (links_resolve(path, real, link_on_host, ctx->host) == 0)
			release = release_in_name(real);
	}
	return release ? fact_str(ctx->arena, release) : (struct fact_str){ 0 };
}

/* ---- entries ---- */

static struct fact_str known_or_absent(struct probe_context *ctx, const char *s)
{
	return s ? fact_str(ctx->arena, s) : FACT_NONE(fact_str);
}

uint32_t boot_add(struct probe_context *ctx, const struct boot_line *line)
{
	struct boot_facts *boot = &ctx->node->boot;
	struct boot_entry *entry = LIST_ADD(ctx->arena, &boot->entries);

	entry->id = fact_str(ctx->arena, line->id);
	entry->title = known_or_absent(ctx, line->title);
	entry->kernel = find_release(ctx, line);
	if (line->initrd || !line->doubt)
		entry->initrd = known_or_absent(
			ctx, line->initrd ? boot_path(ctx, line->base, line->initrd) : NULL);
	if (line->cmdline || !line->doubt)
		entry->cmdline = known_or_absent(ctx, line->cmdline);
	entry->file = fact_str(ctx->arena, line->file);
	entry->line = line->line ? fact_u64(line->line) : FACT_NONE(fact_u64);
	return boot->entries.count - 1;
}

void boot_set_next(struct probe_context *ctx, uint32_t index)
{
	struct boot_facts *boot = &ctx->node->boot;
	const struct boot_entry *entry = &boot->entries.items[index];
	struct cmdline_text *staged = &ctx->node->cmdline.staged;

	boot->next_entry = entry->id;
	boot->next_kernel = entry->kernel;
	boot->next_initrd = entry->initrd;
	*staged = (struct cmdline_text){
		.kernel = entry->kernel,
		.variable = FACT_NONE(fact_str),
		.text = entry->cmdline,
		.file = entry->file,
		.line = entry->line,
	};
}
