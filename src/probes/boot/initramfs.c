/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs.c - the images of the kernel that runs and of the one that boots next. A module that is
 * loaded from there gets the options that are in there, not those of the root file system. */
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "probes/boot/initramfs-image.h"
#include "probes/probe.h"

/* Two images of 100 MB and more, the slowest compressor, a slow disk. */
#define DEADLINE_MS 20000

/* Places where generators put a kernel's image: initramfs-tools and dracut on Debian, dracut on RHEL and Fedora,
 * SUSE, the module folder (image-based systems). */
static const struct place {
	const char *before, *after;
} places[] = {
	{ "/boot/initrd.img-", "" },
	{ "/boot/initramfs-", ".img" },
	{ "/boot/initrd-", "" },
	{ "/lib/modules/", "/initrd" },
	{ "/lib/modules/", "/initramfs.img" },
};

struct looking {
	struct probe_context *ctx;
	bool unknown; /* a place could not be looked at */
};

static int initramfs_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	_cleanup_close_ int fd = host_open(host, user);

	if (fd < 0)
		return fd;
	initramfs_read(fd, facts, arena);
	return 0;
}

static struct initramfs_image *add_initramfs(struct probe_context *ctx, const char *path,
					     const struct host_stat *stat)
{
	struct initramfs_facts *facts = &ctx->node->initramfs;
	struct initramfs_image *image;
	char key[PATH_MAX + 16];

	for_each_mut(known, &facts->images)
		if (str_is(known->path, path))
			return known;
	image = LIST_ADD(ctx->arena, &facts->images);
	snprintf(key, sizeof(key), "initramfs %s", path);
	if (host_query(ctx->host, key, &initramfs_image_desc, image, ctx->arena, initramfs_ask,
		       (void *)path)) {
		memset(image, 0, sizeof(*image));
		image->problem = fact_str(ctx->arena, "could not be opened");
	} else if (is_known(image->problem)) {
		host_gap_note(ctx->host, path, -EBADMSG, image->problem.value);
	}
	image->path = fact_str(ctx->arena, path);
	image->size_bytes = fact_u64(stat->size);
	image->mtime_s = fact_u64(stat->mtime_s);
	image->running = fact_bool(false);
	image->next = fact_bool(false);
	return image;
}

static struct initramfs_image *try_path(struct looking *l, const char *path)
{
	struct host_stat stat;
	int rc = host_stat(l->ctx->host, &stat, "%s", path);

	if (rc && rc != -ENOENT)
		l->unknown = true;
	return rc == 0 && S_ISREG(stat.mode) ? add_initramfs(l->ctx, path, &stat) : NULL;
}

static struct initramfs_image *find_image(struct looking *l, const struct fact_str *kernel)
{
	struct initramfs_image *image = NULL;
	char path[PATH_MAX];

	for_each(entry, &l->ctx->node->boot.entries)
		if (!image && str_is(entry->kernel, kernel->value) && is_known(entry->initrd))
			image = try_path(l, entry->initrd.value);
	for (size_t i = 0; !image && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), "%s%s%s", places[i].before, kernel->value,
			 places[i].after);
		image = try_path(l, path);
	}
	if (image)
		image->kernel = *kernel;
	return image;
}

/* A loader that could not be understood leaves open which image comes next. */
static void find_next(struct looking *l)
{
	const struct boot_facts *boot = &l->ctx->node->boot;
	struct initramfs_image *image = NULL;

	if (is_known(boot->next_initrd))
		image = try_path(l, boot->next_initrd.value);
	else if (is_known(boot->next_kernel) && is_unknown(boot->next_initrd))
		image = find_image(l, &boot->next_kernel);
	if (image && is_unknown(image->kernel))
		image->kernel = boot->next_kernel;
	if (image)
		image->next = fact_bool(true);
	if (is_unknown(boot->next_initrd) && is_unknown(boot->next_kernel))
		for_each_mut(i, &l->ctx->node->initramfs.images)
			i->next = (struct fact_bool){ 0 };
}

static void initramfs_run(struct probe_context *ctx)
{
	struct looking l = { .ctx = ctx };
	struct initramfs_image *image;

	if (probe_hides_host(ctx, "/boot"))
		return;
	if (is_known(ctx->node->os.kernel)) {
		image = find_image(&l, &ctx->node->os.kernel);
		if (image)
			image->running = fact_bool(true);
	} else {
		l.unknown = true;
	}
	find_next(&l);
	/* Without a menu, nothing says that the next boot has none. */
	if (!ctx->node->initramfs.images.count && is_unknown(ctx->node->boot.next_initrd) &&
	    !is_absent(ctx->node->boot.loader))
		l.unknown = true;
	if (!l.unknown)
		ctx->node->initramfs.images.state = FACT_KNOWN;
}

const struct probe probe_initramfs = {
	.name = "initramfs",
	.phase = PHASE_THIRD,
	.deadline_ms = DEADLINE_MS,
	PROBE_SECTION(initramfs),
	.run = initramfs_run,
};
