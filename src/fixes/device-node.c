/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device-node.c - nodes of the NVIDIA driver and of gdrdrv, with the numbers that the loaded
 * modules registered. nvidia-modprobe is not run: it would load modules and open the GPU. */
#include <inttypes.h>
#include <string.h>

#include "fixes/fix.h"
#include "query/node-find.h"

#define CONTROL_MINOR 255 /* nv.h, NV_MINOR_DEVICE_NUMBER_CONTROL_DEVICE */

struct number {
	const char *path;
	const char *major[2];
	uint64_t minor;
};

static const struct number numbers[] = {
	{ "/dev/nvidiactl", { "nvidia", "nvidia-frontend" }, CONTROL_MINOR },
	{ "/dev/nvidia-uvm", { "nvidia-uvm", NULL }, 0 },
	{ "/dev/nvidia-uvm-tools", { "nvidia-uvm", NULL }, 1 },
	{ "/dev/gdrdrv", { "gdrdrv", NULL }, 0 },
};

static bool number_of(const char *path, struct number *number)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(path, numbers[i].path) != 0)
			continue;
		*number = numbers[i];
		return true;
	}
	*number = (struct number){ path, { "nvidia", "nvidia-frontend" }, 0 };
	return strncmp(path, "/dev/nvidia", 11) == 0 &&
	       span_u64(span_of(path + 11), 10, &number->minor) == 0;
}

static const struct device_major *major_of(const struct fixing *f, const struct number *number)
{
	for (size_t i = 0; i < 2 && number->major[i]; i++)
		for_each(m, &f->node->dev.majors)
			if (str_is(m->name, number->major[i]))
				return m;
	return NULL;
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

static bool has_number(const struct device_node *n, const struct device_major *major,
		       const struct number *number)
{
	return is_known(n->major) && n->major.value == major->major.value && is_known(n->minor) &&
	       n->minor.value == number->minor;
}

/* Would the mode that the driver's parameter asks for let everybody open it? */
static bool is_for_all(const struct fixing *f)
{
	return (param_number(f, "DeviceFileMode", 0666) & 0666) == 0666;
}

static void plan(struct fixing *f)
{
	const char *path = fix_subject(f);
	const struct device_node *there = find_there(f, path);
	const struct device_major *major;
	struct number number;

	if (!number_of(path, &number))
		return;
	if (there && !known_is(there->kind, NODE_CHARACTER)) {
		fix_refuse(
			f,
			"%s exists and is not a device; check what it is, then remove it by hand",
			path);
		return;
	}
	major = major_of(f, &number);
	if (!major) {
		fix_refuse(f, "no loaded module has registered %s in /proc/devices",
			   number.major[0]);
		return;
	}
	if (param_number(f, "ModifyDeviceFiles", 1) == 0) {
		fix_refuse(f,
			   "NVreg_ModifyDeviceFiles=0 tells the driver not to create device nodes; "
			   "create them by hand or with udev");
		return;
	}
	if (there && has_number(there, major, &number) && strcmp(path, "/dev/gdrdrv") == 0) {
		fix_refuse(
			f,
			"its number is correct, and its mode was set on this node. Decide who can "
			"use it: run 'chmod 0666 /dev/gdrdrv', or set a group that the jobs' "
			"users are in");
		return;
	}
	if (there && has_number(there, major, &number) && !is_for_all(f)) {
		fix_refuse(f,
			   "its number is correct, and NVreg_DeviceFileMode sets that mode at each "
			   "boot; change that option");
		return;
	}
	fix_step(f, PLAN_DEVICE_NODE,
		 arena_printf(f->arena, "%s c %" PRIu64 ":%" PRIu64 " 0%" PRIo64, path,
			      major->major.value, number.minor,
			      param_number(f, "DeviceFileMode", 0666) & 0777),
		 NULL);
	fix_does(f, ACTIVATION_NOW,
		 "create the device node%s with the number that the module registered",
		 there ? " again" : "");
	fix_costs(
		f,
		"It lasts until the next boot; nvidia-persistenced, udev or a service must create "
		"it then.");
}

const struct fix fix_make_device_node = {
	.name = "make-device-node",
	.title = "Device nodes with the numbers that the loaded modules registered",
	.plan = plan,
};
