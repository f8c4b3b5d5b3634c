/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device-groups.c - the groups that device nodes are restricted to: whether the node has them, whether they have
 * members, and whether the process that was asked about is one. No name and no member leaves this probe.
 */
#include <errno.h>
#include <stdio.h>

#include "parse/inet.h"
#include "parse/passwd.h"
#include "parse/process.h"
#include "probes/probe.h"
#include "query/device-file.h"
#include "query/node-find.h"

#define GROUPS_MAX 32

struct group_question {
	const uint64_t *gids;
	size_t count;
	pid_t pid;
};

struct accounts {
	struct text group, passwd, status;
	bool has_passwd, has_status;
	bool groups_elsewhere; /* a directory service can have more groups, and members of those here */
	bool users_elsewhere;
};

/* ---- which groups ---- */

/* COUNT is more than GROUPS_MAX if there is no room. */
static void add_gid(uint64_t *gids, size_t *count, uint64_t gid)
{
	for (size_t i = 0; i < *count && i < GROUPS_MAX; i++)
		if (gids[i] == gid)
			return;
	if (*count < GROUPS_MAX)
		gids[*count] = gid;
	++*count;
}

static bool param_number(const struct node *node, const char *name, uint64_t *number)
{
	const struct driver_param *param = node_param(node, name);

	return param && is_known(param->value) &&
	       span_u64(span_of(param->value.value), 0, number) == 0;
}

/* Returns true if a group can have been overlooked: a copy has files in the place of nodes, an earlier capture lacks
 * their owners, and then only the driver's parameters tell. */
static bool is_incomplete(const struct node *node)
{
	for_each(n, &node->dev.nodes)
		if (is_known(n->mode) && known_is(n->kind, DEVICE_NODE_CHARACTER) &&
		    device_file_is_for_group(n->mode.value) && !is_known(n->group))
			return true;
	for_each(n, &node->dev.nodes)
		if (known_is(n->kind, DEVICE_NODE_CHARACTER))
			return !was_read(node->dev.nodes);
	return !was_read(node->driver.params) && !known_is(node->driver.loaded, false);
}

static size_t find_gids(const struct node *node, uint64_t *gids)
{
	uint64_t mode, gid;
	size_t count = 0;

	for_each(n, &node->dev.nodes)
		if (is_known(n->mode) && is_known(n->group) &&
		    device_file_is_for_group(n->mode.value))
			add_gid(gids, &count, n->group.value);
	if (param_number(node, "DeviceFileMode", &mode) && device_file_is_for_group(mode) &&
	    param_number(node, "DeviceFileGID", &gid))
		add_gid(gids, &count, gid);
	return count;
}

/* ---- what the node says of them ---- */

static int read_accounts(struct host *host, struct accounts *a, pid_t pid)
{
	_cleanup_text_ struct text order = { 0 };
	char folder[32] = "self";
	int rc = host_read(host, &a->group, HOST_FILE_MAX, "/etc/group");

	if (rc)
		return rc == -ENOENT ? -ENODATA : rc;
	a->has_passwd = host_read(host, &a->passwd, HOST_FILE_MAX, "/etc/passwd") == 0;
	rc = host_read(host, &order, HOST_FILE_MAX, "/etc/nsswitch.conf");
	/* Without the file, only files count. One that cannot be read may name a directory service. */
	a->groups_elsewhere = rc ? rc != -ENOENT : nsswitch_has_others(text_span(&order), "group");
	a->users_elsewhere = rc ? rc != -ENOENT : nsswitch_has_others(text_span(&order), "passwd");
	if (pid)
		snprintf(folder, sizeof(folder), "%d", pid);
	a->has_status = host_read(host, &a->status, HOST_FILE_MAX, "/proc/%s/status", folder) == 0;
	return 0;
}

static void answer_group(struct device_group *g, const struct accounts *a, uint64_t gid)
{
	bool members, exists = group_find(text_span(&a->group), gid, &members);

	if (exists || !a->groups_elsewhere)
		g->exists = fact_bool(exists);
	members |= a->has_passwd && passwd_has_group(text_span(&a->passwd), gid);
	if (members || (a->has_passwd && !a->groups_elsewhere && !a->users_elsewhere))
		g->has_members = fact_bool(members);
	if (a->has_status)
		g->has_process = fact_bool(process_has_group(text_span(&a->status), gid));
}

static int ask_groups(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct group_question *q = user;
	struct dev_facts *answer = facts;
	struct accounts a = { 0 };
	int rc = read_accounts(host, &a, q->pid);

	for (size_t i = 0; rc == 0 && i < q->count; i++) {
		struct device_group *g = LIST_ADD(arena, &answer->groups);

		g->gid = fact_str(arena,
				  arena_printf(arena, "%llu", (unsigned long long)q->gids[i]));
		answer_group(g, &a, q->gids[i]);
	}
	text_free(&a.group);
	text_free(&a.passwd);
	text_free(&a.status);
	return rc;
}

static void run(struct probe_context *ctx)
{
	const struct node *node = ctx->node;
	struct dev_facts answer = { 0 };
	uint64_t gids[GROUPS_MAX];
	struct group_question q = { gids, find_gids(node, gids), ctx->pid };

	/* Not all of them: what a rule says of a list is said of each node. */
	if (q.count > GROUPS_MAX)
		host_gap_note(ctx->host, "/dev", -EOVERFLOW,
			      "its nodes have more groups than are looked up");
	else if (q.count)
		host_query(ctx->host, "groups of device nodes", &dev_facts_desc, &answer,
			   ctx->arena, ask_groups, &q);
	else if (!is_incomplete(node))
		answer.groups.state = FACT_KNOWN;
	ctx->node->dev.groups = answer.groups;
}

const struct probe probe_device_groups = {
	.name = "device-groups",
	.phase = PHASE_THIRD,
	.is_running = true,
	PROBE_SECTION(dev.groups),
	.run = run,
	.preflight = { .run = run },
};
