/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev.c - the device files that GPU and RDMA programs open. No node is opened here. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "probes/probe.h"

/* IMEX has 2048 channels by default (nv-reg.h, ImexChannelCount). */
#define NODES_MAX 4096

/* Names in a folder; '#' stands for a number. */
struct place {
	const char *folder;
	const char *const *names;
};

static const char *const top_names[] = { "nvidia#",
					 "nvidiactl",
					 "nvidia-uvm",
					 "nvidia-uvm-tools",
					 "nvidia-modeset",
					 "nvidia-nvswitch#",
					 "nvidia-nvswitchctl",
					 "nvidia-nvlink",
					 "nvidia-fs#",
					 "gdrdrv",
					 NULL };
static const char *const cap_names[] = { "nvidia-cap#", NULL };
static const char *const imex_names[] = { "channel#", NULL };
static const char *const verbs_names[] = { "uverbs#", "umad#", "rdma_cm", NULL };

static const struct place places[] = {
	{ "/dev", top_names },
	/* The GPU Operator's driver container has a /dev of its own. */
	{ "/run/nvidia/driver/dev", top_names },
	{ "/dev/nvidia-caps", cap_names },
	{ "/dev/nvidia-caps-imex-channels", imex_names },
	{ "/dev/infiniband", verbs_names },
};

static bool dev_matches(const char *name, const char *pattern)
{
	size_t n = strcspn(pattern, "#");

	if (strncmp(name, pattern, n) != 0)
		return false;
	if (!pattern[n])
		return !name[n];
	return isdigit((unsigned char)name[n]) &&
	       strspn(name + n, "0123456789") == strlen(name + n);
}

static int kind_find(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFCHR:
		return DEVICE_NODE_CHARACTER;
	case S_IFBLK:
		return DEVICE_NODE_BLOCK;
	case S_IFREG:
		return DEVICE_NODE_FILE;
	case S_IFDIR:
		return DEVICE_NODE_FOLDER;
	default:
		return DEVICE_NODE_OTHER;
	}
}

/* A node that cannot be looked at stays, with its kind unknown: it is there. A dangling link is
 * reported as a link. */
static void add_node(struct probe_context *ctx, const char *folder, const char *name)
{
	struct device_node *node = LIST_ADD(ctx->arena, &ctx->node->dev.nodes);
	const char *path = arena_printf(ctx->arena, "%s/%s", folder, name);
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s", path);

	node->path = fact_str(ctx->arena, path);
	if (rc == -ENOENT)
		node->kind = fact_enum(DEVICE_NODE_LINK);
	if (rc)
		return;
	node->kind = fact_enum(kind_find(stat.mode));
	node->mode = fact_u64(stat.mode & 07777);
	if (S_ISCHR(stat.mode) && stat.has_owner)
		node->group = fact_u64(stat.gid);
	if (S_ISCHR(stat.mode) || S_ISBLK(stat.mode)) {
		node->major = fact_u64(major(stat.rdev));
		node->minor = fact_u64(minor(stat.rdev));
	} else {
		host_gap_note(ctx->host, path, -ENODATA,
			      "not a device: a copy that was made without root has files instead");
	}
}

static int read_place(struct probe_context *ctx, const struct place *place)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, "%s", place->folder);

	/* An empty /dev is a mount point of something that is not mounted. */
	if (rc || (!names.count && place == places))
		return rc ? rc : -ENODATA;
	for (size_t i = 0; i < names.count; i++)
		for (size_t k = 0; place->names[k]; k++) {
			if (!dev_matches(names.items[i], place->names[k]))
				continue;
			if (ctx->node->dev.nodes.count < NODES_MAX)
				add_node(ctx, place->folder, names.items[i]);
			else
				host_gap_note(ctx->host, place->folder, -EOVERFLOW,
					      "more than 4096 nodes");
		}
	return 0;
}

static int compare_nodes(const void *a, const void *b)
{
	return strcmp(((const struct device_node *)a)->path.value,
		      ((const struct device_node *)b)->path.value);
}

static void read_nodes(struct probe_context *ctx)
{
	struct dev_facts *dev = &ctx->node->dev;
	bool failed = false;
	int rc = read_place(ctx, &places[0]);

	if (rc) {
		host_gap_note(ctx->host, "/dev", -ENODATA, "no device files in this tree");
		return;
	}
	dev->nodes.state = FACT_KNOWN;
	for (size_t i = 1; i < (ctx->preflight ? 2 : ARRAY_SIZE(places)); i++) {
		rc = read_place(ctx, &places[i]);
		/* If a folder cannot be read, no file counts as missing. */
		if (rc && rc != -ENOENT)
			failed = true;
	}
	if (failed) {
		dev->nodes.state = FACT_UNKNOWN;
		dev->nodes.count = 0;
	}
	fact_list_sort(&dev->nodes, sizeof(dev->nodes.items[0]), compare_nodes);
}

/* ---- majors ---- */

/* "195 nvidia" up to the empty line before the block devices (drivers/base/char_dev.c). */
static void add_majors(struct probe_context *ctx, struct span text)
{
	struct dev_facts *dev = &ctx->node->dev;
	struct span line, number;
	uint64_t value;

	while (span_cut(&text, '\n', &line)) {
		struct device_major *item;

		if (span_starts(line, "Block devices:"))
			break;
		if (!span_word(&line, &number) || span_u64(number, 10, &value) ||
		    !span_trim(line).n)
			continue;
		item = LIST_ADD(ctx->arena, &dev->majors);
		item->name = probe_span(ctx, span_trim(line));
		item->major = fact_u64(value);
	}
}

static int compare_majors(const void *a, const void *b)
{
	const struct device_major *x = a, *y = b;
	int order = strcmp(x->name.value, y->name.value);

	return order				 ? order
	       : x->major.value < y->major.value ? -1
						 : x->major.value > y->major.value;
}

static void read_majors(struct probe_context *ctx)
{
	struct dev_facts *dev = &ctx->node->dev;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/devices");

	dev->majors.state = probe_state(rc);
	if (rc)
		return;
	add_majors(ctx, text_span(&text));
	fact_list_sort(&dev->majors, sizeof(dev->majors.items[0]), compare_majors);
}

/* ---- /dev/char ---- */

static bool is_nvidia_major(const struct dev_facts *dev, struct span number)
{
	uint64_t value;

	if (span_u64(number, 10, &value))
		return false;
	for_each(m, &dev->majors)
		if (m->major.value == value && str_starts(m->name, "nvidia"))
			return true;
	return false;
}

/* ../nvidia0, ../nvidia-caps/nvidia-cap1. 1, 0 or negative errno. */
static int leads_to_nvidia(struct probe_context *ctx, const char *name)
{
	char target[PATH_MAX];
	int rc = host_link(ctx->host, target, "/dev/char/%s", name);

	if (rc)
		return rc == -ENOENT || rc == -EINVAL ? 0 : rc;
	return span_search(span_of(target), "/nvidia") != NULL;
}

/* A server has hundreds of these links: where the majors are known, only theirs are read. */
static void read_char_links(struct probe_context *ctx)
{
	struct dev_facts *dev = &ctx->node->dev;
	_cleanup_names_ struct names names = { 0 };
	int rc;

	if (!is_known(dev->nodes))
		return;
	rc = host_list(ctx->host, &names, "/dev/char");
	dev->char_links.state = probe_state(rc);
	for (size_t i = 0; rc >= 0 && i < names.count; i++) {
		struct span name = span_of(names.items[i]);

		name.n = span_find(name, ':');
		if (is_known(dev->majors) && !is_nvidia_major(dev, name))
			continue;
		rc = leads_to_nvidia(ctx, names.items[i]);
		if (rc > 0)
			*LIST_ADD(ctx->arena,
				  &dev->char_links) = fact_str(ctx->arena, names.items[i]).value;
	}
	if (rc < 0)
		dev->char_links.state = probe_state(rc);
}

static void dev_run(struct probe_context *ctx)
{
	read_nodes(ctx);
	read_majors(ctx);
	read_char_links(ctx);
}

static void dev_run_preflight(struct probe_context *ctx)
{
	read_nodes(ctx);
	read_majors(ctx);
}

const struct probe probe_dev = {
	.name = "dev",
	.phase = PHASE_ALONE,
	.is_running = true,
	PROBE_SECTION(dev),
	.run = dev_run,
	.preflight = { .run = dev_run_preflight },
};
