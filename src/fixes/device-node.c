/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device-node.c - nodes of the NVIDIA driver and of gdrdrv, with the numbers that the loaded
 * modules registered. nvidia-modprobe is not run: it would load modules and open the GPU. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "fixes/fix.h"
#include "query/device-number.h"
#include "query/node-find.h"

/* The other ones are made by udev, with a mode of their own. */
static bool is_made_here(const char *path)
{
	static const char *const names[] = { "/dev/nvidiactl", "/dev/nvidia-uvm",
					     "/dev/nvidia-uvm-tools", "/dev/gdrdrv" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return starts_with(path, "/dev/nvidia") && strspn(path + 11, "0123456789") > 0 &&
	       !path[11 + strspn(path + 11, "0123456789")];
}

static uint64_t param_number(const struct fixing *f, const char *name, uint64_t standard)
{
	const struct driver_param *param = node_param(f->node, name);
	uint64_t value;

	return param && span_u64(span_of(param->value.value), 0, &value) == 0 ? value : standard;
}

static const struct device_node *find_there(const struct fixing *f, const char *path)
{
	for_each(n, &f->node->dev.nodes)
		if (str_is(n->path, path))
			return n;
	return NULL;
}

static bool has_number(const struct device_node *n, const struct device_number *number)
{
	return is_known(n->major) && n->major.value == number->major->major.value &&
	       is_known(n->minor) && n->minor.value == number->minor.value;
}

/* Returns true if the driver's parameter for the mode would let all users open it. */
static bool is_for_all(const struct fixing *f)
{
	return (param_number(f, "DeviceFileMode", 0666) & 0666) == 0666;
}

static void device_node_plan(struct fixing *f)
{
	const char *path = fix_subject(f);
	const struct device_node *there = find_there(f, path);
	struct device_number number;

	if (!is_made_here(path) || !device_number_of(f->node, path, &number))
		return;
	if (there && !known_is(there->kind, DEVICE_NODE_CHARACTER)) {
		fix_refuse(
			f,
			"%s exists and is not a device; check what it is, then remove it by hand",
			path);
		return;
	}
	if (!number.major) {
		fix_refuse(f, "no loaded module has registered %s in /proc/devices", number.driver);
		return;
	}
	if (param_number(f, "ModifyDeviceFiles", 1) == 0) {
		fix_refuse(f,
			   "NVreg_ModifyDeviceFiles=0 tells the driver not to create device files; "
			   "create them by hand or with udev");
		return;
	}
	if (there && has_number(there, &number) && strcmp(path, "/dev/gdrdrv") == 0) {
		fix_refuse(
			f,
			"its number is correct, and its mode was set on this node. Decide who can "
			"use it: run 'chmod 0666 /dev/gdrdrv', or set a group that the jobs' "
			"users are in");
		return;
	}
	if (there && has_number(there, &number) && !is_for_all(f)) {
		fix_refuse(f,
			   "its number is correct, and NVreg_DeviceFileMode sets that mode at each "
			   "boot; change that option");
		return;
	}
	fix_step(f, PLAN_DEVICE_NODE,
		 arena_printf(f->arena, "%s c %" PRIu64 ":%" PRIu64 " 0%" PRIo64, path,
			      number.major->major.value, number.minor.value,
			      param_number(f, "DeviceFileMode", 0666) & 0777),
		 NULL);
	fix_does(f, ACTIVATION_NOW,
		 "create the device file%s with the number that the module registered",
		 there ? " again" : "");
	fix_costs(f, "It lasts until the next boot. For later ones enable "
		     "nvidia-persistenced, or add a udev rule.");
}

const struct fix fix_make_device_node = {
	.name = "make-device-node",
	.title = "Device files with the numbers that the loaded modules registered",
	.plan = device_node_plan,
};
