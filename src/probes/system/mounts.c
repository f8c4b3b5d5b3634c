/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mounts.c - mounts, and the pools of huge pages. */
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "parse/mountinfo.h"
#include "probes/probe.h"

#define OWN_MOUNTS "/proc/self/mountinfo"
#define INIT_MOUNTS "/proc/1/mountinfo"
#define MOUNTS_MAX 1024
#define OPTIONS_MAX 1024
#define HUGEPAGES "/sys/kernel/mm/hugepages"

/* Mounts that container runtimes and snapd make for what they run: hundreds, and none of the node's. */
static bool is_of_containers(const char *point, struct span type)
{
	static const char *const places[] = {
		"/var/lib/docker/",	"/var/lib/containerd/",
		"/var/lib/containers/", "/var/lib/kubelet/",
		"/run/containerd/",	"/run/docker/",
		"/run/netns/",		"/run/user/",
		"/var/snap/",		"/snap/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (starts_with(point, places[i]))
			return true;
	return span_is(type, "nsfs") || (span_is(type, "overlay") && strcmp(point, "/") != 0);
}

/* fs/fuse/inode.c, fuse_show_options(): the user who may use it. Users make such mounts, by the thousand. */
static bool is_of_user(struct span type, struct span options)
{
	struct span option;

	if (!span_is(type, "fuse") && !span_starts(type, "fuse."))
		return false;
	while (span_cut(&options, ',', &option))
		if (span_starts(option, "user_id=") && !span_is(option, "user_id=0"))
			return true;
	return false;
}

static struct mount_point *find_of_user(struct os_facts *answer)
{
	for_each_mut(m, &answer->mounts)
		if (is_known(m->type) && is_known(m->options) &&
		    is_of_user(span_of(m->type.value), span_of(m->options.value)))
			return m;
	return NULL;
}

struct mounts {
	struct os_facts *answer;
	struct arena *arena;
	bool is_cut; /* mounts of users were left out */
};

/* The mount of that point, or a new one: what is mounted later lies on top. NULL: there is no room. In a full list the
 * node's mounts take the places of users' mounts. */
static struct mount_point *mount_of(struct mounts *to, const char *point,
				    const struct mountinfo *line)
{
	struct mount_point *mount;

	for_each_mut(m, &to->answer->mounts)
		if (str_is(m->point, point))
			return m;
	if (to->answer->mounts.count < MOUNTS_MAX) {
		mount = LIST_ADD(to->arena, &to->answer->mounts);
	} else {
		bool is_users = is_of_user(line->type, line->super_options);

		mount = is_users ? NULL : find_of_user(to->answer);
		to->is_cut |= is_users || mount;
	}
	if (mount)
		*mount = (struct mount_point){ .point = fact_str(to->arena, point) };
	return mount;
}

static int add_mount(struct mounts *to, const struct mountinfo *line)
{
	char point[PATH_MAX], source[PATH_MAX], options[OPTIONS_MAX];
	struct mount_point *mount;

	if (!mountinfo_unescape(line->point, point, sizeof(point)) ||
	    is_of_containers(point, line->type))
		return 0;
	mount = mount_of(to, point, line);
	if (!mount)
		return is_of_user(line->type, line->super_options) ? 0 : -EOVERFLOW;
	*mount = (struct mount_point){ .point = mount->point };
	/* Of a line that cannot be read, the mount point stays: what is mounted there is not known. */
	if (!line->is_whole)
		return 0;
	mount->type = fact_strn(to->arena, line->type.p, line->type.n);
	if (mountinfo_unescape(line->source, source, sizeof(source)))
		mount->source = fact_str(to->arena, source);
	if (mountinfo_options(line, options, sizeof(options)))
		mount->options = fact_str(to->arena, options);
	return 0;
}

static int compare_mounts(const void *a, const void *b)
{
	return strcmp(((const struct mount_point *)a)->point.value,
		      ((const struct mount_point *)b)->point.value);
}

/* Process 1 speaks for the node if it can be seen: this one may have mounts of its own, as a service has
 * whose file system is read-only (ProtectSystem=), or be a container's that sees the host's /proc. */
static int ask_mounts(struct host *host, void *facts, struct arena *arena, void *user)
{
	_cleanup_text_ struct text text = { 0 };
	struct mounts to = { .answer = facts, .arena = arena };
	struct mountinfo line;
	struct span rest;
	size_t bad = 0;
	int rc;

	(void)user;
	rc = host_read(host, &text, MOUNTINFO_MAX, INIT_MOUNTS);
	if (rc == -ENOENT)
		rc = host_read(host, &text, MOUNTINFO_MAX, OWN_MOUNTS);
	if (rc)
		return rc;
	to.answer->mounts.state = FACT_KNOWN;
	rest = text_span(&text);
	while (rc == 0 && mountinfo_next(&rest, &line, &bad))
		rc = add_mount(&to, &line);
	fact_list_sort(&to.answer->mounts, sizeof(to.answer->mounts.items[0]), compare_mounts);
	if (to.is_cut)
		host_gap_note(host, OWN_MOUNTS, -EOVERFLOW,
			      "users have more FUSE mounts than are kept");
	return bad ? -EBADMSG : rc;
}

static void read_mounts(struct probe_context *ctx)
{
	struct os_facts answer = { 0 };
	int rc = host_query(ctx->host, OWN_MOUNTS, &os_facts_desc, &answer, ctx->arena, ask_mounts,
			    NULL);

	/* Every running node has this file; fstab only says what should be mounted. */
	if (rc) {
		ctx->node->os.mounts.state = probe_state_always(ctx, rc, OWN_MOUNTS);
		return;
	}
	memcpy(&ctx->node->os.mounts, &answer.mounts, sizeof(answer.mounts));
}

/* ---- huge pages ---- */

static int compare_sizes(const void *a, const void *b)
{
	uint64_t x = ((const struct hugepages *)a)->size_bytes.value;
	uint64_t y = ((const struct hugepages *)b)->size_bytes.value;

	return x < y ? -1 : x > y;
}

/* hugepages-2048kB/nr_hugepages (Documentation/admin-guide/mm/hugetlbpage.rst) */
static void read_hugepages(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, HUGEPAGES);

	os->hugepages.state = probe_state(rc);
	/* Every kernel has the parent folder. */
	if (rc == -ENOENT && !host_exists(ctx->host, "/sys/kernel/mm"))
		os->hugepages.state = probe_state_always(ctx, rc, HUGEPAGES);
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);
		struct hugepages *pages;
		uint64_t kib;

		if (!span_starts(name, "hugepages-") || !span_ends(name, "kB") ||
		    span_u64((struct span){ name.p + 10, name.n - 12 }, 10, &kib) ||
		    kib > UINT64_MAX >> 10)
			continue;
		pages = LIST_ADD(ctx->arena, &os->hugepages);
		pages->size_bytes = fact_u64(kib << 10);
		probe_u64(ctx, &pages->pages, HUGEPAGES "/%s/nr_hugepages", names.items[i]);
	}
	fact_list_sort(&os->hugepages, sizeof(os->hugepages.items[0]), compare_sizes);
}

static void mounts_run(struct probe_context *ctx)
{
	if (probe_is_wanted(ctx, "os.mounts"))
		read_mounts(ctx);
	if (probe_is_wanted(ctx, "os.hugepages"))
		read_hugepages(ctx);
}

const struct probe probe_mounts = {
	.name = "mounts",
	.phase = PHASE_ALONE,
	.run = mounts_run,
	.preflight = { .run = mounts_run },
};
