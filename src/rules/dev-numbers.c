/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-numbers.c - device files against the numbers that the drivers have now. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "query/device-number.h"

#define FACT(ctx, n, field) fact_path(ctx->arena, "dev.nodes", (n)->path.value, field)

/* dev/nvidia-nodes-missing and dev/gdrdrv-node-missing say it of the majors of these. */
static bool has_own_rule(const char *path)
{
	static const char *const paths[] = { "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/gdrdrv" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return starts_with(path, "/dev/nvidia") && strspn(path + 11, "0123456789");
}

/* CUDA opens these; the others are for tools, or for one kind of program. */
static enum severity severity_of(const char *path)
{
	return has_own_rule(path) || starts_with(path, "/dev/infiniband/uverbs") ? SEVERITY_ERR
										 : SEVERITY_WARN;
}

static void fail_number(struct rule_context *ctx, const struct device_node *n, const char *text)
{
	bool container = is_known(ctx->node->os.container);

	FAIL_AS(ctx, severity_of(n->path.value), .subject = n->path.value, .observed = text,
		.expected = "the number that the driver has in this kernel",
		.remedy =
			container
				? "Start the container again: it has the node of an earlier load of the driver."
				: NULL,
		.command = container ? NULL : shell_printf(ctx->arena, "sudo rm %s", n->path.value),
		.activation = container ? ACTIVATION_RECREATE : ACTIVATION_NONE,
		.has_fix = container, .evidence = { FACT(ctx, n, "major"), "dev.majors" });
}

/* False: the node says nothing wrong. */
static bool check_number(struct rule_context *ctx, const struct device_node *n,
			 const struct device_number *number)
{
	const char *path = n->path.value;

	if (!device_has_major(ctx->node, number, n->major.value)) {
		if (has_own_rule(path))
			return false;
		fail_number(ctx, n,
			    text_printf(ctx, "it has major number %" PRIu64 "; %s has %" PRIu64,
					n->major.value, number->driver,
					number->major->major.value));
		return true;
	}
	if (!is_known(number->minor) || !is_known(n->minor) ||
	    n->minor.value == number->minor.value)
		return false;
	fail_number(ctx, n,
		    text_printf(ctx, "it has minor number %" PRIu64 "; it must be %" PRIu64,
				n->minor.value, number->minor.value));
	return true;
}

static void check_nodes(struct rule_context *ctx)
{
	const struct dev_facts *dev = &ctx->node->dev;
	size_t before = ctx->findings->count, right = 0, files = 0;
	const struct device_node *unread = NULL;

	if (!was_read(dev->nodes) || !was_read(dev->majors)) {
		UNKNOWN(ctx, .evidence = { was_read(dev->nodes) ? "dev.majors" : "dev.nodes" });
		return;
	}
	for_each(n, &dev->nodes) {
		struct device_number number;

		if (!device_number_of(ctx->node, n->path.value, &number) || !number.major)
			continue;
		if (known_is(n->kind, DEVICE_NODE_CHARACTER) && is_known(n->major))
			right += !check_number(ctx, n, &number);
		else if (known_is(n->kind, DEVICE_NODE_FILE))
			files++;
		else
			unread = n;
	}
	if (ctx->findings->count > before)
		return;
	if (unread)
		UNKNOWN(ctx, .severity = SEVERITY_INFO, .graded = true,
			.evidence = { FACT(ctx, unread, "major") });
	else if (files)
		NOT_APPLICABLE(
			ctx,
			.observed =
				"a copy has files in the place of device files; the numbers are those of a "
				"running kernel",
			.evidence = { "dev.nodes" });
	else if (right)
		PASS(ctx, .evidence = { "dev.nodes", "dev.majors" });
	else
		NOT_APPLICABLE(ctx, .observed = "no device file of a loaded GPU or RDMA driver",
			       .evidence = { "dev.nodes", "dev.majors" });
}

/* ---- numbers that are written in files ---- */

static void check_written(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_NUMBERS,
		.none = "no udev rule, service or script makes such a node with a fixed number",
		.expected = "the number that the driver has in this kernel",
	};

	references_check(ctx, &check);
}

static const struct rule dev_numbers_rules[] = {
	{
		.id = "dev/node-number",
		.title = "Programs cannot open a device: its node has the number of another driver",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_nodes,
		.impact = "Opening the node fails with ENXIO, or opens another device.",
		.remedy =
			"Remove the node and let the driver's tools create it again: nvidia-modprobe -c 255 for nvidiactl, "
			"nvidia-modprobe -c 0 for nvidia0 and -c 1 for nvidia1, nvidia-modprobe -u -c 0 for nvidia-uvm, nvidia-modprobe -m "
			"for nvidia-modeset, udevadm trigger for those of RDMA. Take fixed numbers out of udev rules and scripts "
			"that call mknod.",
		.fix = { "make-device-node" },
		.activation = ACTIVATION_NOW,
		.reads =
			"Major and minor numbers of the nodes of GPU and RDMA drivers in /dev, and /proc/devices.",
		.why = "Most drivers get a number at each load. A node that mknod made with the number of an earlier "
		       "load stays: mknod does not replace a file that exists. A container keeps the nodes of its "
		       "start.",
		.check = "ls -l /dev/nvidia* /dev/nvidia-caps /dev/infiniband; cat /proc/devices",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/common/inc/nv-chardev-numbers.h, "
			"kernel-open/nvidia/nv.c (nv_register_chrdev), nv-caps.c, linux_nvswitch.c, "
			"kernel-open/nvidia-uvm/uvm.c\n"
			"nvidia-modprobe 610.43.03: nvidia-modprobe.c (with -u, -c is of nvidia-uvm)\n"
			"github.com/NixOS/nixpkgs issue 285148, github.com/negativo17/nvidia-driver issue 29",
	},
	{
		.id = "dev/number-in-file",
		.title = "Programs cannot open a device: a file makes its node with a wrong number",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_written,
		.impact =
			"Opening the node fails, or opens another device. CUDA can fail with error 999.",
		.remedy =
			"Remove the mknod command from the file, and the node from /dev. Then create the node with the number that "
			"the kernel has: nvidia-modprobe -u -c 0 for nvidia-uvm, nvidia-modprobe -m for nvidia-modeset. Put the same "
			"command into the file, or the driver's own udev rule.",
		.activation = ACTIVATION_NOW,
		.reads =
			"mknod with numbers for nodes of NVIDIA and gdrdrv in udev rules, services, modprobe.d, "
			"/etc/rc.local, /etc/init.d, /etc/enroot/hooks.d and /usr/lib/udev. /proc/devices.",
		.why = "Only the number 195 of nvidia is fixed. The kernel gives nvidia-uvm, nvidia-caps and gdrdrv a number when "
		       "they load, which another kernel or another order changes.",
		.check =
			"grep -rn mknod /etc/udev/rules.d /usr/lib/udev /etc/modprobe.d /etc/rc.local; cat /proc/devices",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-uvm/uvm.c, "
			"kernel-open/common/inc/nv-chardev-numbers.h\n"
			"nvidia-modprobe 610.43.03: modprobe-utils/nvidia-modprobe-utils.c (mknod_helper)\n"
			"github.com/negativo17/nvidia-driver issue 29",
	},
};

RULE_TABLE(dev_numbers);
