/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-cdi.c - do specifications of the Container Device Interface match the node (rules dev/...)? */
#include <string.h>

#include "base/command.h"
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

/* Of two specifications of one device the one in /run/cdi counts (container-device-interface, pkg/cdi/cache.go:
 * later folders have higher priority). */
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
			"A container gets %s with a wrong number: nvidia-smi can work there, but CUDA "
			"fails with error 999 or finds no device.",
			r->name.value);
	return "Containers that request a device of this specification do not start.";
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (str_starts(r->file, "/run/cdi/") && strstr(r->file.value, "nvidia.yaml"))
		return "Generate it again: sudo systemctl restart nvidia-cdi-refresh.service";
	return text_printf(ctx, "Generate it again: sudo nvidia-ctk cdi generate --output=%s",
			   command_name(r->file.value, "FILE"));
}

static void check_specification(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_CDI,
		.none = "no specification in /etc/cdi or /run/cdi",
		.expected = "the device numbers, files and hooks of this node",
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
		.title = "Containers get no GPU: their CDI specification does not match the node",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_specification,
		.impact = "Containers that request a device of this specification do not start.",
		.remedy = "Generate the specification again after each driver change.",
		.command = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
		.activation = ACTIVATION_RECREATE,
		.follows = { "modules/nvidia-uvm-not-loaded", "dev/nvidia-nodes-missing" },
		.reads =
			"Device numbers, files, hooks and interfaces that the YAML and JSON files in /etc/cdi"
			" and /run/cdi name; /proc/devices; and the named files.",
		.why = "A specification is written once, and the node changes. The kernel gives nvidia-uvm "
		       "another major number at its next load. A driver update renames library files. A "
		       "number in the specification overrides that of the host's node. Without a number, a "
		       "missing node keeps the container from starting, and so does a missing file. A "
		       "specification that one in /run/cdi overrides is a note.",
		.check = "grep -nE 'path|major' /etc/cdi/*.yaml; grep nvidia /proc/devices",
		.sources =
			"container-device-interface v1.1.0: SPEC.md, pkg/cdi/cache.go, "
			"pkg/cdi/container-edits_unix.go\n"
			"github.com/NVIDIA/nvidia-container-toolkit issue 1934\n"
			"NVIDIA Container Toolkit 1.20.0: deployments/systemd/nvidia-cdi-refresh.service",
	},
};

RULE_TABLE(dev_cdi);
