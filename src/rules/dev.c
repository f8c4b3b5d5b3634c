/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev.c - device nodes. */
#include <inttypes.h>
#include <string.h>

#include "gate.h"

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

static void judge_node(struct judge *j, const char *path, const struct device_major *major)
{
	const struct device_node *n = find_node(j->node, path);
	const char *fact = say(j, "dev.nodes[%s].major", path);

	if (!n)
		FAIL(j, .subject = path, .observed = "not there", .expected = "a character device",
		     .evidence = { "dev.nodes" });
	/* A copied tree can hold plain files in the place of device nodes. */
	else if (known_is(n->kind, NODE_FILE))
		PASS(j, .subject = path, .observed = "there, as a copy",
		     .evidence = { say(j, "dev.nodes[%s].kind", path) });
	else if (!known_is(n->kind, NODE_CHARACTER))
		FAIL(j, .subject = path, .observed = "not a character device",
		     .expected = "a character device",
		     .evidence = { say(j, "dev.nodes[%s].kind", path) });
	else if (major && is_known(n->major) && n->major.value != major->major.value)
		FAIL(j, .subject = path,
		     .observed = say(j, "major number %" PRIu64 ", the driver has %" PRIu64,
				     n->major.value, major->major.value),
		     .expected = "the driver's major number",
		     .evidence = { fact, say(j, "dev.majors[%s].major", major->name.value) });
	else
		PASS(j, .subject = path, .evidence = { fact });
}

static void judge_nvidia_nodes(struct judge *j)
{
	const struct node *node = j->node;

	if (gate_no_gpu(j) || gate_no_driver(j))
		return;
	if (!is_told(node->dev.nodes)) {
		UNKNOWN(j, .evidence = { "dev.nodes" });
		return;
	}
	judge_node(j, "/dev/nvidiactl", nvidia_major(node));
	if (node_module(node, "nvidia_uvm"))
		judge_node(j, "/dev/nvidia-uvm", find_major(node, "nvidia-uvm"));
	for_each(g, &node->gpu.devices)
		if (is_known(g->minor) && !known_is(g->excluded, true))
			judge_node(j, say(j, "/dev/nvidia%" PRIu64, g->minor.value),
				   nvidia_major(node));
}

static const struct rule dev_rules[] = {
	{
		.id = "dev/nvidia-nodes-missing",
		.title = "A device node of the NVIDIA driver is missing or stale",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_nvidia_nodes,
		.impact = "CUDA does not start, or sees fewer GPUs, where the caller may not create the nodes: "
			  "in containers and jobs.",
		.remedy = "nvidia-modprobe -c 0 -u creates them; nvidia-persistenced keeps them.",
		.fix = "device-node",
		.activation = ACTIVATION_NOW,
		.reads = "/dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidiaN for each GPU's minor number, and the "
			 "major numbers in /proc/devices.",
		.why = "The driver does not create its nodes through devtmpfs; a setuid helper or udev does. A "
		       "node from before a driver change can have another major number.",
		.check = "ls -l /dev/nvidia*; grep nvidia /proc/devices",
		.sources = "NVIDIA driver README, chapter on device nodes",
	},
};

RULE_TABLE(dev);
