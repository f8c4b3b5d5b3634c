/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev.c - device files (rules dev/...). */
#include "rules/dev.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "base/span.h"
#include "evaluate/skip.h"
#include "query/device-file.h"
#include "query/gdrcopy.h"
#include "query/gpus.h"
#include "query/job-env.h"
#include "query/kind.h"

#define READ_WRITE_ALL 0666

/* Newer drivers register "nvidia", older ones "nvidia-frontend". */
static const struct device_major *nvidia_major(const struct node *node)
{
	const struct device_major *major = LIST_FIND(&node->dev.majors, "nvidia");

	return major ? major : LIST_FIND(&node->dev.majors, "nvidia-frontend");
}

/* ---- in a container ---- */

/* Device files and files that a container needs, by path. */
static const struct {
	const char *path, *remedy;
	const char *in_pod; /* NULL: the same */
} given[] = {
	{ "/dev/nvidia-caps-imex-channels/",
	  "Start the container with --device=/dev/nvidia-caps-imex-channels/channel0 or "
	  "NVIDIA_IMEX_CHANNELS=0.",
	  "Start the pod with a claim of a compute domain." },
	{ "/dev/nvidia",
	  "Ask the administrator of the host whether this device file exists there: nvidia-modprobe -u -c 0 makes those of "
	  "nvidia-uvm, and nvidia-smi all others. If there is a CDI specification, the administrator generates it again. "
	  "Then create the container again, with compute in NVIDIA_DRIVER_CAPABILITIES.",
	  NULL },
	{ "/dev/infiniband/",
	  "Start the container with --device=/dev/infiniband and --ulimit memlock=-1.",
	  "Request the resource of the RDMA device plugin for the pod, and give its container the capability "
	  "IPC_LOCK." },
};

/* A container lacks the node: nothing inside it can change that. */
static void fail_not_given(struct rule_context *ctx, enum severity severity, const char *path)
{
	const char *remedy = NULL;

	for (size_t i = 0; !remedy && i < ARRAY_SIZE(given); i++)
		if (starts_with(path, given[i].path))
			remedy = given[i].in_pod && node_is(ctx->node, KIND_POD) ? given[i].in_pod
										 : given[i].remedy;
	FAIL_AS(ctx, severity, .subject = path, .observed = "missing in this container",
		.expected = "a character device", .remedy = remedy,
		.activation = ACTIVATION_RECREATE, .has_fix = true,
		.evidence = { "dev.nodes", "os.container" });
}

/* A container that has one of several devices may have been given that one: PATH is another. */
static void note_not_given(struct rule_context *ctx, const char *path)
{
	NOTE(ctx, .subject = path,
	     .observed =
		     "this container was started without this NIC and has others: only a job that names it fails",
	     .evidence = { "dev.nodes", "os.container" });
}

static bool is_container(const struct node *node)
{
	return is_known(node->os.container);
}

/* Returns the command that makes the device file, or NULL. Minor 255 is that of nvidiactl. */
static const char *create_command(struct rule_context *ctx, const char *path)
{
	static const char gpu[] = "/dev/nvidia";
	uint64_t minor;

	if (strcmp(path, "/dev/nvidiactl") == 0)
		return "sudo nvidia-modprobe -c 255";
	if (strcmp(path, "/dev/nvidia-uvm") == 0)
		return "sudo nvidia-modprobe -u -c 0";
	if (!starts_with(path, gpu) || span_u64(span_of(path + strlen(gpu)), 10, &minor))
		return NULL;
	return shell_printf(ctx->arena, "sudo nvidia-modprobe -c %s", path + strlen(gpu));
}

static void check_node_as(struct rule_context *ctx, enum severity severity, const char *path,
			  const struct device_major *major)
{
	const struct device_node *n = device_file_find(ctx->node, path);
	const char *fact = fact_path(ctx->arena, "dev.nodes", path, "major");

	if (!n && is_container(ctx->node))
		fail_not_given(ctx, severity, path);
	else if (!n && is_known(ctx->node->services.driver_container))
		FAIL_AS(ctx, severity, .subject = path,
			.observed = "missing, also below /run/nvidia/driver",
			.expected = "a character device",
			.remedy =
				"Restart the pod of the driver container, which creates its device files.",
			.has_fix = true, .evidence = { "dev.nodes", "services.driver_container" });
	else if (!n)
		FAIL_AS(ctx, severity, .subject = path, .observed = "missing",
			.expected = "a character device", .command = create_command(ctx, path),
			.evidence = { "dev.nodes" });
	else if (is_unknown(n->kind))
		UNKNOWN(ctx, .subject = path,
			.evidence = { fact_path(ctx->arena, "dev.nodes", path, "kind") });
	/* A copied tree can hold plain files in the place of device files. */
	else if (known_is(n->kind, DEVICE_NODE_FILE))
		PASS(ctx, .subject = path, .observed = "a copy of it exists",
		     .evidence = { fact_path(ctx->arena, "dev.nodes", path, "kind") });
	else if (!known_is(n->kind, DEVICE_NODE_CHARACTER))
		FAIL_AS(ctx, severity, .subject = path, .observed = "not a character device",
			.expected = "a character device",
			.evidence = { fact_path(ctx->arena, "dev.nodes", path, "kind") });
	else if (major && is_known(n->major) && n->major.value != major->major.value)
		FAIL_AS(ctx, severity, .subject = path,
			.observed = text_printf(
				ctx, "it has major number %" PRIu64 "; the driver has %" PRIu64,
				n->major.value, major->major.value),
			.expected = "the driver's major number",
			.command = create_command(ctx, path),
			.evidence = { fact, fact_path(ctx->arena, "dev.majors", major->name.value,
						      "major") });
	else
		PASS(ctx, .subject = path, .evidence = { fact });
}

void dev_check_node(struct rule_context *ctx, const char *path, const struct device_major *major)
{
	check_node_as(ctx, ctx->rule->severity, path, major);
}

/* Only root or a group may open it. A group is a decision of the administrator (NVreg_DeviceFileGID): a note. */
static void fail_mode(struct rule_context *ctx, const char *path, uint64_t mode)
{
	FAIL_AS(ctx, (mode & READ_WRITE_GROUP) == READ_WRITE_GROUP ? SEVERITY_INFO : SEVERITY_ERR,
		.subject = path,
		.observed = text_printf(ctx, "mode %04" PRIo64 ": only %s can use it", mode,
					(mode & READ_WRITE_GROUP) == READ_WRITE_GROUP
						? "its owner and group"
						: "its owner"),
		.expected = "mode 0666",
		.impact =
			"Other users see no GPU: \"no CUDA-capable device is detected\", \"Insufficient "
			"Permissions\".",
		.remedy =
			"Set mode 0666 now. Then remove NVreg_DeviceFileMode, NVreg_DeviceFileUID and "
			"NVreg_DeviceFileGID from modprobe.d, and the udev rule that sets the mode.",
		.command = shell_printf(ctx->arena, "sudo chmod 0666 %s", path),
		.evidence = { fact_path(ctx->arena, "dev.nodes", path, "mode"),
			      "driver.params[DeviceFileMode].value" });
}

static bool is_for_others(const struct device_node *n)
{
	return (n->mode.value & READ_WRITE_OTHERS) == READ_WRITE_OTHERS;
}

/* /dev/nvidia0 and /dev/nvidia7 */
static bool is_same_kind(const char *a, const char *b)
{
	size_t length = strcspn(a, "0123456789");

	return length == strcspn(b, "0123456789") && strncmp(a, b, length) == 0;
}

/* A program that copies plain files in the place of device files changes the modes of all of them. A file with fewer
 * rights than others of its kind had them on the node. */
static bool is_closed_in_copy(const struct node *node, const struct device_node *n)
{
	if (!known_is(n->kind, DEVICE_NODE_FILE) || !is_known(n->mode) || is_for_others(n))
		return false;
	for_each(other, &node->dev.nodes)
		if (known_is(other->kind, DEVICE_NODE_FILE) && is_known(other->mode) &&
		    is_for_others(other) && is_same_kind(other->path.value, n->path.value))
			return true;
	return false;
}

static void check_nvidia_node(struct rule_context *ctx, const char *path,
			      const struct device_major *major)
{
	const struct device_node *n = device_file_find(ctx->node, path);
	bool right = n && known_is(n->kind, DEVICE_NODE_CHARACTER) &&
		     !(major && is_known(n->major) && n->major.value != major->major.value);

	if ((right && is_known(n->mode) && !is_for_others(n)) ||
	    (n && is_closed_in_copy(ctx->node, n)))
		fail_mode(ctx, path, n->mode.value);
	else
		dev_check_node(ctx, path, major);
}

/* Whom the driver lets open its nodes. */
static const char *restricted_to(struct rule_context *ctx, uint64_t mode)
{
	const struct driver_param *group = node_param(ctx->node, "DeviceFileGID");

	if ((mode & READ_WRITE_GROUP) != READ_WRITE_GROUP)
		return "only their owner can use the GPUs";
	return group && is_known(group->value)
		       ? text_printf(
				 ctx,
				 "only their owner and the members of group %s can use the GPUs",
				 group->value.value)
		       : "only their owner and group can use the GPUs";
}

/* A copy has no modes of device files: then the mode that the driver was loaded with counts. */
static void check_mode_param(struct rule_context *ctx)
{
	const struct driver_param *param = node_param(ctx->node, "DeviceFileMode");
	const struct device_node *n = device_file_find(ctx->node, "/dev/nvidiactl");
	uint64_t mode;

	if ((n && known_is(n->kind, DEVICE_NODE_CHARACTER) && is_known(n->mode)) || !param ||
	    span_u64(span_of(param->value.value), 0, &mode) ||
	    (mode & READ_WRITE_OTHERS) == READ_WRITE_OTHERS)
		return;
	FAIL_AS(ctx, (mode & READ_WRITE_GROUP) == READ_WRITE_GROUP ? SEVERITY_INFO : SEVERITY_ERR,
		.subject = "NVreg_DeviceFileMode",
		.observed = text_printf(ctx,
					"the driver creates its nodes with mode %04" PRIo64 ": %s",
					mode, restricted_to(ctx, mode)),
		.expected = "mode 0666", .impact = "Users outside the nodes' group see no GPU.",
		.remedy =
			"Add the users to that group, or remove NVreg_DeviceFileMode from modprobe.d.",
		.then = THEN_REBOOT, .has_fix = true,
		.evidence = { "driver.params[DeviceFileMode].value" });
}

/* A GPU that fell off the bus needs no device file: a job must not open it (pci/device-off-bus). */
static bool is_off_bus(const struct node *node, const struct gpu *gpu)
{
	const struct pci_device *d = is_known(gpu->bdf) ? node_pci(node, gpu->bdf.value) : NULL;

	return d && known_is(d->answers, false);
}

static const char *gpu_path(struct rule_context *ctx, const struct gpu *g)
{
	return text_printf(ctx, "/dev/nvidia%" PRIu64, g->minor.value);
}

static bool is_usable(const struct node *node, const struct gpu *g)
{
	return is_known(g->minor) && !known_is(g->excluded, true) && !is_off_bus(node, g);
}

static bool has_gpu_node(struct rule_context *ctx)
{
	for_each(g, &ctx->node->gpu.devices)
		if (is_usable(ctx->node, g) && device_file_find(ctx->node, gpu_path(ctx, g)))
			return true;
	return false;
}

static void check_nvidia_nodes(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	check_mode_param(ctx);
	if (!was_read(node->dev.nodes)) {
		UNKNOWN(ctx, .evidence = { "dev.nodes" });
		return;
	}
	check_nvidia_node(ctx, "/dev/nvidiactl", nvidia_major(node));
	if (node_module(node, "nvidia_uvm"))
		check_nvidia_node(ctx, "/dev/nvidia-uvm",
				  LIST_FIND(&node->dev.majors, "nvidia-uvm"));
	for_each(g, &node->gpu.devices) {
		const char *path = gpu_path(ctx, g);

		if (!is_usable(node, g))
			continue;
		if (is_container(node) && !device_file_find(node, path) && has_gpu_node(ctx))
			note_not_given(ctx, path);
		else
			check_nvidia_node(ctx, path, nvidia_major(node));
	}
}

/* ---- gdrdrv ---- */

/* NVSHMEM's CPU-assisted mode needs it. UCX and NCCL use it for small messages. */
static enum severity gdrdrv_severity(const struct rule_context *ctx)
{
	return is_asked_for(ctx, PROFILE_DEEPEP) ? SEVERITY_ERR : SEVERITY_WARN;
}

/* GDRCopy's scripts create it with mode 0666. A copy has its own permissions. */
static void check_gdrdrv_node(struct rule_context *ctx)
{
	const struct device_node *n = device_file_find(ctx->node, "/dev/gdrdrv");

	if (n && known_is(n->kind, DEVICE_NODE_CHARACTER) && is_known(n->mode) &&
	    (n->mode.value & READ_WRITE_OTHERS) != READ_WRITE_OTHERS)
		FAIL_AS(ctx,
			(n->mode.value & READ_WRITE_GROUP) == READ_WRITE_GROUP ? SEVERITY_INFO
									       : SEVERITY_WARN,
			.subject = "/dev/gdrdrv",
			.observed = text_printf(ctx, "mode %04" PRIo64, n->mode.value),
			.expected = "mode 0666",
			.remedy = "Set mode 0666 now, and in a udev rule for KERNEL==\"gdrdrv\".",
			.command = "sudo chmod 0666 /dev/gdrdrv",
			.evidence = { "dev.nodes[/dev/gdrdrv].mode" });
	else
		check_node_as(ctx, gdrdrv_severity(ctx), "/dev/gdrdrv",
			      LIST_FIND(&ctx->node->dev.majors, "gdrdrv"));
}

/* /dev/gdrdrv exists and jobs may open it, as far as this node or its copy shows. */
static bool can_open_gdrdrv(const struct node *node)
{
	const struct device_node *n = device_file_find(node, "/dev/gdrdrv");

	return n && LIST_FIND(&node->dev.majors, "gdrdrv") &&
	       (!is_known(n->mode) || (n->mode.value & READ_WRITE_OTHERS) == READ_WRITE_OTHERS);
}

/* A library here that opens /dev/gdrdrv. */
static const char *find_gdrapi(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "gdrcopy"))
			return item->path.value;
	return NULL;
}

/* A container shows its host's modules, and the devices that it was given. */
static void check_gdrdrv_in_container(struct rule_context *ctx)
{
	struct job_value handler = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IBGDA_NIC_HANDLER");
	const char *library = find_gdrapi(ctx->node);
	bool asked = handler.value && strcmp(handler.value, "cpu") == 0;

	if (!library && !asked && skip_unless_software_whole(ctx))
		return;
	if (!library && !asked)
		NOT_APPLICABLE(ctx, .subject = "/dev/gdrdrv",
			       .observed = "no libgdrapi in this container",
			       .evidence = { "software.items", "os.container" });
	else
		FAIL_AS(ctx, asked ? SEVERITY_ERR : SEVERITY_WARN, .subject = "/dev/gdrdrv",
			.observed = text_printf(
				ctx,
				"missing in this container; the host has gdrdrv, and %s needs it",
				asked ? "NVSHMEM_IBGDA_NIC_HANDLER=cpu" : library),
			.expected = "the host's /dev/gdrdrv",
			.remedy =
				"Start the container with --device=/dev/gdrdrv, or with NVIDIA_GDRCOPY=enabled. In Kubernetes "
				"mount it as a hostPath of type CharDevice in a privileged pod.",
			.activation = ACTIVATION_RECREATE, .repaired_by = BY_HOST, .has_fix = true,
			.evidence = { "dev.nodes", "software.items" });
}

static bool gdrdrv_in_the_way(const struct rule_context *ctx)
{
	const struct device_node *n = device_file_find(ctx->node, "/dev/gdrdrv");

	return n && is_known(n->kind) && n->kind.value != DEVICE_NODE_CHARACTER;
}

#define CREATE_GDRDRV \
	"sudo mknod -m 666 /dev/gdrdrv c $(awk '$2 == \"gdrdrv\" {print $1}' /proc/devices) 0"
#define GDRDRV_AGAIN "sudo rmmod gdrdrv\nsudo modprobe gdrdrv\n" CREATE_GDRDRV

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
	else if (!can_open_gdrdrv(node) && !is_known(gdrcopy_has_dmabuf(node)))
		UNKNOWN(ctx, .subject = "/dev/gdrdrv",
			.observed = "jobs cannot open it; whether GDRCopy needs it was not read",
			.evidence = { is_known(node->driver.version) ? "software.items"
								     : "driver.version" });
	else if (!can_open_gdrdrv(node) && gdrcopy_has_dmabuf(node).value)
		NOTE(ctx, .subject = "/dev/gdrdrv",
		     .observed = "jobs cannot open it; this GDRCopy falls back to DMA-BUF",
		     .evidence = { "dev.nodes", "software.items", "driver.version" });
	else if (is_known(node->os.container) && !device_file_find(node, "/dev/gdrdrv"))
		check_gdrdrv_in_container(ctx);
	else if (!LIST_FIND(&node->dev.majors, "gdrdrv"))
		FAIL_AS(ctx, gdrdrv_severity(ctx), .subject = "/dev/gdrdrv",
			.observed = text_printf(
				ctx, "%sgdrdrv is loaded, but /proc/devices does not list it",
				gdrdrv_in_the_way(ctx) ? "it exists and is not a device; " : ""),
			.expected = "a major number for gdrdrv",
			.remedy =
				gdrdrv_in_the_way(ctx)
					? "Look what /dev/gdrdrv is, and move it away. Then load gdrdrv again, and "
					  "create the device file."
					: "Load gdrdrv again, and create the device file.",
			.command = text_printf(ctx, "%s%s",
					       gdrdrv_in_the_way(ctx)
						       ? "ls -ld /dev/gdrdrv\nsudo mv /dev/gdrdrv "
							 "/root/gdrdrv.old\n"
						       : "",
					       GDRDRV_AGAIN),
			.has_fix = true,
			.evidence = { "dev.majors", "modules.loaded[gdrdrv].state" });
	else
		check_gdrdrv_node(ctx);
}

/* ---- RDMA ---- */

static bool has_verbs_node(const struct node *node)
{
	for_each(n, &node->dev.nodes)
		if (str_starts(n->path, "/dev/infiniband/uverbs"))
			return true;
	return false;
}

/* A variable of the job names the device: NCCL_IB_HCA, NVSHMEM_HCA_LIST, UCX_NET_DEVICES. */
static bool is_named_by_job(const struct node *node, const char *device)
{
	for_each(v, &node->env.variables) {
		const char *at = is_known(v->value) ? v->value.value : "";

		while ((at = strstr(at, device))) {
			at += strlen(device);
			if (!isdigit((unsigned char)*at))
				return true;
		}
	}
	return false;
}

static bool is_of_others(const struct node *node, const struct rdma_device *d, const char *path)
{
	return is_container(node) && !device_file_find(node, path) && has_verbs_node(node) &&
	       !is_named_by_job(node, d->name.value);
}

/* Jobs cannot open a node of root or a group. */
static void check_verbs_node(struct rule_context *ctx, const char *path, enum severity missing)
{
	const struct device_node *n = device_file_find(ctx->node, path);

	if (!n && is_container(ctx->node))
		fail_not_given(ctx, missing, path);
	else if (!n)
		FAIL_AS(ctx, missing, .subject = path, .observed = "missing",
			.expected = "a character device, mode 0666", .evidence = { "dev.nodes" });
	else if ((known_is(n->kind, DEVICE_NODE_CHARACTER) && is_known(n->mode) &&
		  (n->mode.value & READ_WRITE_ALL) != READ_WRITE_ALL) ||
		 is_closed_in_copy(ctx->node, n))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = path,
			.observed = text_printf(ctx, "mode %04" PRIo64, n->mode.value),
			.expected = "mode 0666",
			.evidence = { fact_path(ctx->arena, "dev.nodes", path, "mode") });
	else
		dev_check_node(ctx, path, NULL);
}

static void check_infiniband(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count;
	const char *unread = NULL;

	if (skip_without_rdma_device(ctx))
		return;
	if (!was_read(node->dev.nodes)) {
		UNKNOWN(ctx, .evidence = { "dev.nodes" });
		return;
	}
	for_each(d, &node->rdma.devices) {
		const char *path;

		if (is_unknown(d->uverbs))
			unread = fact_path(ctx->arena, "rdma.devices", d->name.value, "uverbs");
		if (!is_known(d->uverbs))
			continue;
		path = text_printf(ctx, "/dev/infiniband/%s", d->uverbs.value);
		if (is_of_others(node, d, path))
			note_not_given(ctx, path);
		else
			check_verbs_node(ctx, path, SEVERITY_ERR);
	}
	if (node_module(node, "rdma_ucm"))
		check_verbs_node(ctx, "/dev/infiniband/rdma_cm", SEVERITY_WARN);
	if (ctx->findings->count == before && unread)
		UNKNOWN(ctx, .evidence = { unread });
	else if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx,
			       .observed = "ib_uverbs has no device: "
					   "modules/rdma-modules-not-loaded reports it",
			       .evidence = { "rdma.devices" });
}

static const struct rule dev_rules[] = {
	{
		.id = "dev/nvidia-nodes-missing",
		.title = "CUDA finds no GPU: jobs cannot open a device file of the driver",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_nvidia_nodes,
		.impact =
			"CUDA does not start, or sees fewer GPUs, in containers and in jobs that may not "
			"create the nodes.",
		.remedy =
			"Create the device file with nvidia-modprobe: -c and its number for a GPU, -c 255 for nvidiactl, -u -c 0 for "
			"nvidia-uvm.",
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"/dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidiaN for each GPU, also below /run/nvidia/driver, their modes, and "
			"the major numbers in /proc/devices.",
		.why = "In a container that has other GPUs a missing /dev/nvidiaN is a note: it was not given. "
		       "The driver does not create its nodes through devtmpfs. A setuid helper or udev does."
		       " A node from before a driver change can have an old major number. Nodes for a group "
		       "are a note: an administrator can restrict them with NVreg_DeviceFileMode and "
		       "NVreg_DeviceFileGID.",
		.check = "ls -l /dev/nvidia*; grep nvidia /proc/devices",
		.sources =
			"NVIDIA driver 595 README: FAQ (How and when are the NVIDIA device files created)\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (ModifyDeviceFiles, "
			"DeviceFileMode)\n"
			"nvidia-modprobe 610.43.03: nvidia-modprobe.c (with -u, -c is of nvidia-uvm)",
	},
	{
		.id = "dev/gdrdrv-node-missing",
		.title = "GDRCopy fails: jobs cannot open /dev/gdrdrv",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "gdrdrv",
		.severity = SEVERITY_ERR,
		.evaluate = check_gdrdrv,
		.impact = "gdr_open() fails: \"error opening driver\". NVSHMEM loses its "
			  "CPU-assisted mode. UCX is slower for small messages.",
		.remedy =
			"Create the device file. In a container pass it with --device=/dev/gdrdrv.",
		.command = CREATE_GDRDRV,
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/modules, /dev/gdrdrv with its mode, the major numbers in /proc/devices, and libgdrapi in the usual "
			"folders.",
		.why = "modprobe creates no node. GDRCopy's init script or a udev rule does, with the number"
		       " of that load. Another driver can have taken the number since. GDRCopy 2.6 with CUDA"
		       " driver 13.3 falls back to DMA-BUF without gdrdrv. Outside the profile deepep this is a "
		       "warning. In a container it counts only if libgdrapi or the CPU handler needs it.",
		.check = "ls -l /dev/gdrdrv; grep gdrdrv /proc/devices",
		.sources =
			"github.com/NVIDIA/gdrcopy v2.6: insmod.sh, README.md (DMA-BUF mmap backend), "
			"CHANGELOG.md\n"
			"github.com/NVIDIA/gdrcopy issue 115",
	},
	{
		.id = "dev/infiniband-not-accessible",
		.title = "RDMA fails: a device file is missing or cannot be opened",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_infiniband,
		.impact =
			"ibv_open_device fails. NCCL and UCX fall back to TCP. NVSHMEM does not start on several nodes.",
		.remedy = "Load ib_uverbs and rdma_ucm, and let udev create the nodes again.",
		.command = "sudo modprobe -a ib_uverbs rdma_ucm && sudo udevadm trigger "
			   "--subsystem-match=infiniband_verbs --subsystem-match=misc",
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"/dev/infiniband/uverbs* for every RDMA device under /sys/class/infiniband_verbs, "
			"rdma_cm, and their modes.",
		.why = "A container sees the devices in /sys even without their nodes. If it has others, and no "
		       "variable of the job names the device, that is a note. It needs "
		       "--device=/dev/infiniband, or a device plugin's resource in Kubernetes. A device "
		       "cgroup that refuses an existing node is not visible here.",
		.check = "ls -l /dev/infiniband; ibv_devices",
		.sources =
			"Linux 6.12.117: drivers/infiniband/core/uverbs_main.c (uverbs_devnode), ucma.c (ucma_misc)\n"
			"rdma-core 61: kernel-boot (rules, none of which sets a mode)\n"
			"UCX 1.18.1: src/ucp/core/ucp_context.c (a device that cannot be opened is left out)\n"
			"github.com/NVIDIA/nccl issue 451 (2021-01)",
	},
};

RULE_TABLE(dev);
