/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-group.c - can a user open the device nodes that are restricted to a group (rule dev/group-without-users)? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "evaluate/skip.h"
#include "query/container-runtime.h"
#include "query/device-file.h"
#include "query/job-env.h"

/* include/uapi/linux/capability.h: passes by file permissions. */
#define CAP_DAC_OVERRIDE 1

#define FACT(ctx, g, field) fact_path((ctx)->arena, "dev.groups", (g)->gid.value, field)

/* The nodes that jobs open: not those of services, such as umad and nvidia-modeset. */
static bool is_for_jobs(const struct device_node *n)
{
	static const char gpu[] = "/dev/nvidia";
	uint64_t minor;

	return str_is(n->path, "/dev/nvidiactl") || str_is(n->path, "/dev/nvidia-uvm") ||
	       str_is(n->path, "/dev/gdrdrv") || str_is(n->path, "/dev/infiniband/rdma_cm") ||
	       str_starts(n->path, "/dev/infiniband/uverbs") ||
	       str_starts(n->path, "/dev/nvidia-caps-imex-channels/") ||
	       (str_starts(n->path, gpu) &&
		span_u64(span_of(n->path.value + strlen(gpu)), 10, &minor) == 0);
}

static bool is_gpu_node(const struct device_node *n)
{
	return str_starts(n->path, "/dev/nvidia") && !str_starts(n->path, "/dev/nvidia-caps");
}

static bool has_group(const struct device_node *n, const struct device_group *g)
{
	char gid[24];

	if (!is_known(n->group) || !is_known(n->mode) || !is_for_jobs(n) ||
	    !device_file_is_for_group(n->mode.value))
		return false;
	snprintf(gid, sizeof(gid), "%" PRIu64, n->group.value);
	return str_is(g->gid, gid);
}

/* A node of that group, of the GPU if there is one. */
static const struct device_node *find_restricted(const struct rule_context *ctx,
						 const struct device_group *g)
{
	const struct device_node *found = NULL;

	for_each(n, &ctx->node->dev.nodes)
		if (has_group(n, g) && (!found || (is_gpu_node(n) && !is_gpu_node(found))))
			found = n;
	return found;
}

/* The driver gives its nodes to the group. */
static bool is_drivers(const struct node *node, const struct device_group *g)
{
	const struct driver_param *gid = node_param(node, "DeviceFileGID");
	const struct driver_param *mode = node_param(node, "DeviceFileMode");
	const struct driver_param *modify = node_param(node, "ModifyDeviceFiles");
	uint64_t bits;

	return gid && str_is(gid->value, g->gid.value) && mode && is_known(mode->value) &&
	       span_u64(span_of(mode->value.value), 0, &bits) == 0 &&
	       device_file_is_for_group(bits) && !(modify && str_is(modify->value, "0"));
}

static bool passes_permissions(const struct env_facts *env)
{
	return known_is(env->uid, 0) ||
	       (is_known(env->capabilities) && env->capabilities.value >> CAP_DAC_OVERRIDE & 1);
}

struct restricted {
	const struct device_group *group;
	const char *subject;
	bool drivers, gpu;
};

static const char *remedy_of(struct rule_context *ctx, const struct restricted *r)
{
	if (r->drivers)
		return "Set NVreg_DeviceFileGID in modprobe.d to the number of a group that the users of the GPUs are "
		       "in, such as that of getent group video. Or remove it and NVreg_DeviceFileMode. Rebuild the "
		       "initramfs if it has the driver. Or create that group and add the users to it.";
	return text_printf(
		ctx,
		"Correct the group in the udev rule that sets it, or create group %s and add the users to it.",
		r->group->gid.value);
}

static void fail_group(struct rule_context *ctx, const struct restricted *r, enum severity severity,
		       const char *observed, const char *field)
{
	FAIL_AS(ctx, severity, .subject = r->subject, .observed = observed,
		.expected = "a group that the users are in, or mode 0666",
		.remedy = remedy_of(ctx, r),
		.activation = r->drivers ? ACTIVATION_REBOOT : ACTIVATION_NOW,
		.impact = r->gpu ? NULL : "Users other than root cannot open the device.",
		.evidence = { FACT(ctx, r->group, field),
			      r->drivers ? "driver.params[DeviceFileGID].value" : "dev.nodes" });
}

/* The process that was asked about is not in the group. */
static bool fail_process(struct rule_context *ctx, const struct restricted *r)
{
	const struct env_facts *env = &ctx->node->env;

	if (!known_is(r->group->has_process, false) || !is_known(env->uid) ||
	    passes_permissions(env))
		return false;
	FAIL_AS(ctx, r->gpu ? SEVERITY_ERR : SEVERITY_WARN, .subject = r->subject,
		.observed = text_printf(
			ctx, "only group %s can open it, and user %" PRIu64 " is not a member",
			r->group->gid.value, env->uid.value),
		.expected = "the user in that group",
		.remedy = text_printf(
			ctx,
			"Add the user to group %s with usermod -aG. The user then has to log in again.",
			r->group->gid.value),
		.activation = ACTIVATION_NEW_JOBS,
		.impact = r->gpu ? NULL : "Users other than root cannot open the device.",
		.evidence = { FACT(ctx, r->group, "has_process"), "env.uid" });
	return true;
}

/* A daemon of containers opens the nodes as root, for containers that run as root. */
static void check_group(struct rule_context *ctx, const struct restricted *r)
{
	const char *gid = r->group->gid.value, *runtime;
	bool by_root = container_runtime(ctx->node, &runtime) != FACT_ABSENT;
	enum severity severity = r->gpu && !by_root ? SEVERITY_ERR : SEVERITY_WARN;

	/* The names of groups in a container are not those of its host. */
	if (is_known(ctx->node->os.container)) {
		if (fail_process(ctx, r))
			return;
		if (is_known(r->group->has_process))
			PASS(ctx, .subject = r->subject,
			     .evidence = { FACT(ctx, r->group, "has_process") });
		else
			UNKNOWN(ctx, .subject = r->subject,
				.evidence = { FACT(ctx, r->group, "has_process") });
	} else if (known_is(r->group->exists, false)) {
		fail_group(ctx, r, severity,
			   text_printf(ctx,
				       "only group %s can open it, and this node has no such group",
				       gid),
			   "exists");
	} else if (fail_process(ctx, r)) {
		return;
	} else if (is_unknown(r->group->exists)) {
		UNKNOWN(ctx, .subject = r->subject,
			.observed = text_printf(
				ctx,
				"only group %s can open it: /etc/group has no such group, a directory service may",
				gid),
			.evidence = { FACT(ctx, r->group, "exists") });
	} else if (known_is(r->group->has_members, false)) {
		fail_group(
			ctx, r, SEVERITY_WARN,
			text_printf(ctx, "only group %s can open it, and it has no members", gid),
			"has_members");
	} else if (is_unknown(r->group->has_members)) {
		UNKNOWN(ctx, .subject = r->subject,
			.observed = text_printf(
				ctx,
				"only group %s can open it: /etc/group has no members of it, a directory service may",
				gid),
			.evidence = { FACT(ctx, r->group, "has_members") });
	} else {
		PASS(ctx, .subject = r->subject,
		     .evidence = { FACT(ctx, r->group, "exists"),
				   FACT(ctx, r->group, "has_members") });
	}
}

static void check_groups(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count;

	if (!was_read(node->dev.groups)) {
		UNKNOWN(ctx, .evidence = { "dev.groups" });
		return;
	}
	for_each(g, &node->dev.groups) {
		const struct device_node *n = find_restricted(ctx, g);
		bool drivers = is_drivers(node, g);

		if (n || drivers)
			check_group(ctx, &(struct restricted){
						 g, n ? n->path.value : "NVreg_DeviceFileGID",
						 drivers, !n || is_gpu_node(n) });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .observed = "no device file is for a group alone",
		     .evidence = { "dev.groups" });
}

static const struct rule dev_group_rules[] = {
	{
		.id = "dev/group-without-users",
		.title =
			"Users cannot open the GPUs or NICs: the device files are for a group without them",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_groups,
		.impact =
			"Programs of users other than root find no GPU: \"no CUDA-capable device is detected\", "
			"\"Insufficient Permissions\".",
		.remedy = "Give the device files to a group that the users are in.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The mode and group of /dev/nvidia*, gdrdrv and /dev/infiniband; the driver's DeviceFileMode and "
			"DeviceFileGID; /etc/group, /etc/passwd and nsswitch.conf; the groups of the process.",
		.why = "The number of a group differs between distributions: a package of openSUSE had 33 where video was 483. "
		       "The driver does not check that the group exists. "
		       "Where a directory service has groups too, a group that /etc/group lacks is unknown. It is a warning "
		       "if a container engine runs, because containers of root can open the nodes, and if the group "
		       "only has no members.",
		.check = "ls -ln /dev/nvidia* /dev/infiniband; getent group 33; id",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (DeviceFileGID, DeviceFileMode)\n"
			"github.com/sddm/sddm issue 1493",
	},
};

RULE_TABLE(dev_group);
