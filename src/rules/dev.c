/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev.c - device nodes. */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/service-cause.h"

#define READ_WRITE_ALL 0666
#define READ_WRITE_GROUP 0060
#define READ_WRITE_OTHERS 0006

static const struct device_node *find_node(const struct node *node, const char *path)
{
	for_each(n, &node->dev.nodes)
		if (str_is(n->path, path))
			return n;
	return NULL;
}

static const struct device_major *find_major(const struct node *node, const char *name)
{
	for_each(m, &node->dev.majors)
		if (str_is(m->name, name))
			return m;
	return NULL;
}

/* Newer drivers register "nvidia", older ones "nvidia-frontend". */
static const struct device_major *nvidia_major(const struct node *node)
{
	const struct device_major *major = find_major(node, "nvidia");

	return major ? major : find_major(node, "nvidia-frontend");
}

static void check_node(struct rule_context *ctx, const char *path, const struct device_major *major)
{
	const struct device_node *n = find_node(ctx->node, path);
	const char *fact = fact_path(ctx->arena, "dev.nodes", path, "major");

	if (!n)
		FAIL(ctx, .subject = path, .observed = "not there",
		     .expected = "a character device", .evidence = { "dev.nodes" });
	else if (is_unknown(n->kind))
		UNKNOWN(ctx, .subject = path,
			.evidence = { fact_path(ctx->arena, "dev.nodes", path, "kind") });
	/* A copied tree can hold plain files in the place of device nodes. */
	else if (known_is(n->kind, NODE_FILE))
		PASS(ctx, .subject = path, .observed = "there, as a copy",
		     .evidence = { fact_path(ctx->arena, "dev.nodes", path, "kind") });
	else if (!known_is(n->kind, NODE_CHARACTER))
		FAIL(ctx, .subject = path, .observed = "not a character device",
		     .expected = "a character device",
		     .evidence = { fact_path(ctx->arena, "dev.nodes", path, "kind") });
	else if (major && is_known(n->major) && n->major.value != major->major.value)
		FAIL(ctx, .subject = path,
		     .observed = text_printf(ctx,
					     "major number %" PRIu64 ", the driver has %" PRIu64,
					     n->major.value, major->major.value),
		     .expected = "the driver's major number",
		     .evidence = { fact, fact_path(ctx->arena, "dev.majors", major->name.value,
						   "major") });
	else
		PASS(ctx, .subject = path, .evidence = { fact });
}

/* Root alone may open it. That a group may is somebody's decision (NVreg_DeviceFileGID), and is said. */
static void fail_mode(struct rule_context *ctx, const char *path, uint64_t mode)
{
	FAIL_AS(ctx, (mode & READ_WRITE_GROUP) == READ_WRITE_GROUP ? SEVERITY_INFO : SEVERITY_ERR,
		.subject = path, .observed = text_printf(ctx, "mode %04" PRIo64, mode),
		.expected = "mode 0666, or a group that the users of the GPUs are in",
		.impact =
			"Other users see no GPU: \"no CUDA-capable device is detected\", \"Insufficient "
			"Permissions\".",
		.remedy =
			"chmod 0666 now. For the next boot see NVreg_DeviceFileMode, NVreg_DeviceFileUID and "
			"NVreg_DeviceFileGID in modprobe.d, and the udev rules that name nvidia.",
		.evidence = { fact_path(ctx->arena, "dev.nodes", path, "mode"),
			      "driver.params[DeviceFileMode].value" });
}

static void check_nvidia_node(struct rule_context *ctx, const char *path,
			      const struct device_major *major)
{
	const struct device_node *n = find_node(ctx->node, path);
	bool right = n && known_is(n->kind, NODE_CHARACTER) &&
		     !(major && is_known(n->major) && n->major.value != major->major.value);

	if (right && is_known(n->mode) && (n->mode.value & READ_WRITE_OTHERS) != READ_WRITE_OTHERS)
		fail_mode(ctx, path, n->mode.value);
	else
		check_node(ctx, path, major);
}

static void check_nvidia_nodes(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (!was_read(node->dev.nodes)) {
		UNKNOWN(ctx, .evidence = { "dev.nodes" });
		return;
	}
	check_nvidia_node(ctx, "/dev/nvidiactl", nvidia_major(node));
	if (node_module(node, "nvidia_uvm"))
		check_nvidia_node(ctx, "/dev/nvidia-uvm", find_major(node, "nvidia-uvm"));
	for_each(g, &node->gpu.devices)
		if (is_known(g->minor) && !known_is(g->excluded, true))
			check_nvidia_node(ctx,
					  text_printf(ctx, "/dev/nvidia%" PRIu64, g->minor.value),
					  nvidia_major(node));
}

/* ---- gdrdrv ---- */

/* Its own scripts make it for everybody. A copy's permissions are those of the copy. */
static void check_gdrdrv_node(struct rule_context *ctx)
{
	const struct device_node *n = find_node(ctx->node, "/dev/gdrdrv");

	if (n && known_is(n->kind, NODE_CHARACTER) && is_known(n->mode) &&
	    (n->mode.value & READ_WRITE_OTHERS) != READ_WRITE_OTHERS)
		FAIL_AS(ctx,
			(n->mode.value & READ_WRITE_GROUP) == READ_WRITE_GROUP ? SEVERITY_INFO
									       : SEVERITY_WARN,
			.subject = "/dev/gdrdrv",
			.observed = text_printf(ctx, "mode %04" PRIo64, n->mode.value),
			.expected = "mode 0666, or a group that the jobs' users are in",
			.remedy =
				"chmod 0666 /dev/gdrdrv now; for the next boot a udev rule for KERNEL==\"gdrdrv\".",
			.evidence = { "dev.nodes[/dev/gdrdrv].mode" });
	else
		check_node(ctx, "/dev/gdrdrv", find_major(ctx->node, "gdrdrv"));
}

static void check_gdrdrv(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_modules(ctx))
		return;
	if (!node_module(node, "gdrdrv"))
		NOT_APPLICABLE(ctx, .observed = "gdrdrv is not loaded",
			       .evidence = { "modules.loaded" });
	else if (!was_read(node->dev.nodes) || !was_read(node->dev.majors))
		UNKNOWN(ctx, .subject = "/dev/gdrdrv",
			.evidence = { was_read(node->dev.nodes) ? "dev.majors" : "dev.nodes" });
	else if (!find_major(node, "gdrdrv"))
		FAIL(ctx, .subject = "/dev/gdrdrv",
		     .observed = "gdrdrv is loaded and has no major number in /proc/devices",
		     .expected = "a major number of its own",
		     .remedy = "rmmod gdrdrv, load it again, and make the node anew.",
		     .evidence = { "dev.majors", "modules.loaded[gdrdrv].state" });
	else
		check_gdrdrv_node(ctx);
}

/* ---- IMEX ---- */

/* NVIDIA's DRA driver gives each compute domain channels and an IMEX daemon of its own. */
static bool skip_with_compute_domains(struct rule_context *ctx)
{
	struct kind_answer domains = kind_of(ctx->node, KIND_COMPUTE_DOMAINS, ctx->arena);

	if (known_is(domains.is, true))
		NOT_APPLICABLE(
			ctx,
			.observed = "NVIDIA's DRA driver makes the channels of each compute domain",
			.evidence = { domains.fact });
	else if (!is_known(domains.is) && node_is(ctx->node, KIND_KUBERNETES))
		UNKNOWN(ctx,
			.observed = "whether NVIDIA's DRA driver makes the channels was not read",
			.evidence = { domains.fact });
	else
		return false;
	return true;
}

/* Variables by which a process insists on fabric handles: NCCL (env.rst; 2 takes what there is),
 * Mooncake's transport. */
static const char *asks_for_fabric(const struct node *node)
{
	const char *nccl = node_env(node, "NCCL_MNNVL_ENABLE");
	const char *mooncake = node_env(node, "MC_FORCE_MNNVL");

	if (nccl && strcmp(nccl, "1") == 0)
		return "NCCL_MNNVL_ENABLE";
	return mooncake && strcmp(mooncake, "0") != 0 ? "MC_FORCE_MNNVL" : NULL;
}

static const struct device_node *imex_channel(const struct node *node)
{
	for_each(n, &node->dev.nodes)
		if (str_starts(n->path, "/dev/nvidia-caps-imex-channels/channel"))
			return n;
	return NULL;
}

static void check_channels(struct rule_context *ctx, const char *why)
{
	const struct node *node = ctx->node;
	const struct driver_param *count = node_param(node, "ImexChannelCount");
	const struct device_node *channel = imex_channel(node);

	if (count && str_is(count->value, "0"))
		FAIL(ctx, .subject = "ImexChannelCount",
		     .observed = text_printf(ctx, "0: no channels (%s)", why),
		     .expected = "the default, 2048",
		     .remedy =
			     "Remove NVreg_ImexChannelCount from modprobe.d and load the driver again.",
		     .evidence = { "driver.params[ImexChannelCount].value" });
	else if (!was_read(node->dev.nodes))
		UNKNOWN(ctx, .evidence = { "dev.nodes" });
	else if (!channel)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "no channel in /dev/nvidia-caps-imex-channels (%s)", why),
		     .expected = "a channel that the job may open",
		     .evidence = { "dev.nodes", "dev.majors[nvidia-caps-imex-channels].major" });
	else
		check_node(ctx, channel->path.value, find_major(node, "nvidia-caps-imex-channels"));
}

static void check_imex(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct service *daemon = node_service(node, "nvidia-imex.service");
	const char *variable = asks_for_fabric(node);

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (!was_read(node->dev.majors)) {
		UNKNOWN(ctx, .evidence = { "dev.majors" });
		return;
	}
	if (!find_major(node, "nvidia-caps-imex-channels")) {
		NOT_APPLICABLE(ctx, .observed = "this driver has no IMEX channels",
			       .evidence = { "dev.majors" });
		return;
	}
	if (!node_is(node, KIND_GB200) && !variable) {
		NOT_APPLICABLE(ctx,
			       .observed =
				       "no part of a multi-node NVLink system, and no process that "
				       "asks for fabric handles",
			       .evidence = { "pci.devices" });
		return;
	}
	if (skip_with_compute_domains(ctx))
		return;
	check_channels(ctx, variable ? variable : "a GPU of a multi-node NVLink system");
	/* What has failed is services/daemon-down's; of compute domains the DRA driver starts a daemon each. */
	if (node_is(node, KIND_GB200) && daemon && service_condition(daemon) == SERVICE_STOPPED &&
	    !service_find_cause(ctx->arena, node, daemon).text)
		FAIL(ctx, .subject = "nvidia-imex.service", .observed = daemon->active.value,
		     .expected = "active", .remedy = "systemctl enable --now nvidia-imex",
		     .evidence = { "services.units[nvidia-imex.service].active" });
}

/* ---- RDMA ---- */

/* What only root and a group may open fails for jobs; a copy's permissions are those of the copy. */
static void check_verbs_node(struct rule_context *ctx, const char *path, enum severity missing)
{
	const struct device_node *n = find_node(ctx->node, path);

	if (!n)
		FAIL_AS(ctx, missing, .subject = path, .observed = "not there",
			.expected = "a character device, mode 0666", .evidence = { "dev.nodes" });
	else if (known_is(n->kind, NODE_CHARACTER) && is_known(n->mode) &&
		 (n->mode.value & READ_WRITE_ALL) != READ_WRITE_ALL)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = path,
			.observed = text_printf(ctx, "mode %04" PRIo64, n->mode.value),
			.expected = "mode 0666",
			.evidence = { fact_path(ctx->arena, "dev.nodes", path, "mode") });
	else
		check_node(ctx, path, NULL);
}

static void check_infiniband(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count;
	const char *unread = NULL;

	if (skip_without_rdma(ctx))
		return;
	if (!was_read(node->dev.nodes)) {
		UNKNOWN(ctx, .evidence = { "dev.nodes" });
		return;
	}
	for_each(d, &node->rdma.devices)
		if (is_unknown(d->uverbs))
			unread = fact_path(ctx->arena, "rdma.devices", d->name.value, "uverbs");
		else if (is_known(d->uverbs))
			check_verbs_node(ctx,
					 text_printf(ctx, "/dev/infiniband/%s", d->uverbs.value),
					 SEVERITY_ERR);
	if (node_module(node, "rdma_ucm"))
		check_verbs_node(ctx, "/dev/infiniband/rdma_cm", SEVERITY_WARN);
	if (ctx->findings->count == before && unread)
		UNKNOWN(ctx, .evidence = { unread });
	else if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx,
			       .observed = "ib_uverbs offers no device: see "
					   "modules/rdma-modules-not-loaded",
			       .evidence = { "rdma.devices" });
}

static const struct rule dev_rules[] = {
	{
		.id = "dev/nvidia-nodes-missing",
		.title = "A device node of the NVIDIA driver is missing, stale or root's alone",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_nvidia_nodes,
		.impact =
			"CUDA does not start, or sees fewer GPUs, where the caller may not create the nodes: "
			"in containers and jobs.",
		.remedy = "nvidia-modprobe -c 0 -u creates them; nvidia-persistenced keeps them.",
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"/dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidiaN for each GPU's minor number, their modes, "
			"and the major numbers in /proc/devices.",
		.why = "The driver does not create its nodes through devtmpfs; a setuid helper or udev does. A "
		       "node from before a driver change can have another major number. Where a group alone may "
		       "open them, that is information: somebody chose it.",
		.check = "ls -l /dev/nvidia*; grep nvidia /proc/devices",
		.sources = "NVIDIA driver README, chapter on device nodes",
	},
	{
		.id = "dev/gdrdrv-node-missing",
		.title = "gdrdrv is loaded and its device node is missing, stale or root's alone",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_gdrdrv,
		.impact =
			"gdr_open() fails: \"Is gdrdrv driver installed and loaded?\". NVSHMEM loses its "
			"CPU-assisted mode with GDRCopy.",
		.remedy =
			"mknod -m 666 /dev/gdrdrv c $(awk '$2 == \"gdrdrv\" {print $1}' /proc/devices) 0, which "
			"is what gdrcopy.service does. In a container: docker run --device=/dev/gdrdrv.",
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/modules, /dev/gdrdrv, its mode, and the major numbers in /proc/devices.",
		.why = "modprobe makes no node: an init script or a udev rule does, and it keeps the number of "
		       "the module's last load. Once the number itself was lost to another driver.",
		.check = "ls -l /dev/gdrdrv; grep gdrdrv /proc/devices",
		.sources =
			"github.com/NVIDIA/gdrcopy insmod.sh\ngithub.com/NVIDIA/gdrcopy/issues/115",
	},
	{
		.id = "dev/imex-channel-missing",
		.title = "There is no IMEX channel for memory that is shared over the fabric",
		.profiles = PROFILE_DEEPEP | PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.evaluate = check_imex,
		.impact =
			"cuMemCreate with a fabric handle fails with CUDA_ERROR_NOT_PERMITTED (800): no "
			"multi-node NVLink in NCCL, NVSHMEM or Mooncake.",
		.remedy =
			"On a node of one tenant set NVreg_CreateImexChannel0=1, or run nvidia-modprobe -s -i 0; "
			"elsewhere give each job a channel of its own. Start nvidia-imex on every node of the "
			"domain.",
		.fix = { "set-option", { "nvidia", "NVreg_CreateImexChannel0", "1" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/devices, /dev/nvidia-caps-imex-channels, nvidia-imex.service, the GPU's PCI id and "
			"the asked process's NCCL_MNNVL_ENABLE and MC_FORCE_MNNVL.",
		.why = "The driver makes no channel unless told to. It matters on GB200 and GB300 trays and to a "
		       "process that insists on fabric handles; every other node lists the major number and does "
		       "without. Whether a tray is meant to be used as part of its rack is not known from here. On a "
		       "Kubernetes node NVIDIA's DRA driver makes channels for each compute domain.",
		.check = "grep imex /proc/devices; ls -l /dev/nvidia-caps-imex-channels",
		.cost = "A channel that every user may open lets them share memory with each other.",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia/nv-reg.h, ImexChannelCount, "
			"CreateImexChannel0\ngithub.com/microsoft/mscclpp/issues/467",
	},
	{
		.id = "dev/infiniband-not-accessible",
		.title = "A device node of the RDMA stack is missing or may not be opened",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_infiniband,
		.impact =
			"ibv_open_device fails: NCCL falls back to sockets, NVSHMEM and UCX do not start.",
		.remedy =
			"On a host load ib_uverbs and rdma_ucm, and let rdma-core's udev rules set the mode. For "
			"a container pass --device=/dev/infiniband --cap-add=IPC_LOCK, in Kubernetes a device "
			"plugin's resource.",
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"/dev/infiniband/uverbs* for every RDMA device under /sys/class/infiniband_verbs, rdma_cm, "
			"and their mode.",
		.why = "A container sees the devices in /sys whether or not it got their nodes. A device cgroup "
		       "that refuses a node which is there does not show without opening it.",
		.check = "ls -l /dev/infiniband; ibv_devices",
		.sources =
			"Linux: drivers/infiniband/core/uverbs_main.c, uverbs_devnode()\n"
			"github.com/NVIDIA/nccl/issues/451\ngithub.com/sgl-project/sglang/issues/12533",
	},
};

RULE_TABLE(dev);
