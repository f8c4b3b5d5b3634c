/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-cdi.c - whether specifications of the Container Device Interface fit the node (rules dev/...). */
#include <string.h>

#include "evaluate/references.h"
#include "evaluate/skip.h"

static bool is_wrong_file(const struct node *node, const char *path)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, path, r)))
		if (reference_state(r) == REFERENCE_MISSING ||
		    reference_state(r) == REFERENCE_CHANGED)
			return true;
	return false;
}

/* Of two specifications of one device that in /run/cdi counts (container-device-interface, pkg/cdi/cache.go:
 * the later folder has the higher priority). */
static bool is_overridden(const struct node *node, const struct reference *r)
{
	if (!str_starts(r->file, "/etc/cdi/"))
		return false;
	for_each(file, &node->references.files)
		if (known_is(file->format, REFERENCE_CDI) && str_starts(file->path, "/run/cdi/") &&
		    !is_wrong_file(node, file->path.value))
			return true;
	return false;
}

static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)state;
	return is_overridden(ctx->node, r) ? SEVERITY_INFO : SEVERITY_ERR;
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_DEVICE) && is_known(r->claim))
		return text_printf(
			ctx,
			"A container gets a %s that leads nowhere: nvidia-smi works there, and CUDA "
			"fails with error 999 or finds no device.",
			r->name.value);
	return "No container that asks for a device of this specification starts.";
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (str_starts(r->file, "/run/cdi/") && strstr(r->file.value, "nvidia.yaml"))
		return "systemctl restart nvidia-cdi-refresh.service, or nvidia-ctk cdi generate "
		       "--output=/run/cdi/nvidia.yaml.";
	return text_printf(
		ctx,
		"nvidia-ctk cdi generate --output=%s. To have it made anew at each boot and "
		"after each change of the driver, enable nvidia-cdi-refresh.service and remove "
		"this file.",
		r->file.value);
}

static void check_specification(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_CDI,
		.none = "no specification in /etc/cdi or /run/cdi",
		.expected = "device numbers, files and hooks as this node has them",
		.grade = grade,
		.remedy = remedy,
		.impact = what_breaks,
	};

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (is_known(ctx->node->os.container))
		NOT_APPLICABLE(ctx, .observed = "inside a container",
			       .evidence = { "os.container" });
	else
		references_check(ctx, &check);
}

static const struct rule dev_cdi_rules[] = {
	{
		.id = "dev/cdi-stale",
		.title = "Containers that get their GPUs by CDI fail",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_specification,
		.impact = "No container that asks for a device of this specification starts.",
		.remedy =
			"nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml after each change of the "
			"driver, best at each boot: nvidia-cdi-refresh.service does that.",
		.activation = ACTIVATION_RECREATE,
		.follows = { "modules/nvidia-uvm-not-loaded", "dev/nvidia-nodes-missing" },
		.reads =
			"The device numbers, files, hooks and interfaces that YAML and JSON files in /etc/cdi and "
			"/run/cdi name; /proc/devices, and what is there of each name.",
		.why = "A specification is written once, and the node changes: the kernel gives nvidia-uvm "
		       "another major number at the next load of the module, an update brings library "
		       "files of another name. A number in the specification stands over that of the "
		       "host's device node. Without a number, a node that is not there keeps the container "
		       "from starting; so does a file to be mounted. That another one in /run/cdi has "
		       "precedence makes it a note.",
		.check = "grep -nE 'path|major' /etc/cdi/*.yaml; grep nvidia /proc/devices",
		.sources =
			"container-device-interface 1.1.0: SPEC.md, pkg/cdi/container-edits_unix.go\n"
			"github.com/NVIDIA/nvidia-container-toolkit/issues/1934\n"
			"NVIDIA Container Toolkit 1.20: deployments/systemd/nvidia-cdi-refresh.service",
	},
};

RULE_TABLE(dev_cdi);
