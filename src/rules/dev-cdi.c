/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-cdi.c - do specifications of the Container Device Interface match the node (rules dev/...)? */
#include <inttypes.h>
#include <string.h>

#include "base/shell.h"
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

/* nvidia-cdi-refresh.service writes it whenever it starts. */
static bool is_refreshed(const struct reference *r)
{
	return str_starts(r->file, "/run/cdi/") && strstr(r->file.value, "nvidia.yaml");
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	(void)ctx;
	if (is_refreshed(r))
		return "Restart nvidia-cdi-refresh.service, which generates it.";
	return "Generate the specification again.";
}

static const char *command(struct rule_context *ctx, const struct reference *r)
{
	if (is_refreshed(r))
		return "sudo systemctl restart nvidia-cdi-refresh.service";
	return shell_printf(ctx->arena, "sudo nvidia-ctk cdi generate --output=%s", r->file.value);
}

static void check_specification(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_CDI,
		.none = "no specification in /etc/cdi or /run/cdi",
		.expected = "the device numbers, files and hooks of this node",
		.grade = grade,
		.remedy = remedy,
		.command = command,
		.impact = what_breaks,
	};

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (!skip_in_container(ctx))
		references_check(ctx, &check);
}

/* ---- the devices of the specifications ---- */

static const struct reference *device_in(const struct node *node, const char *file,
					 const char *name)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (str_is(r->role, CDI_DEVICES) && str_is(r->name, name))
			return r;
	return NULL;
}

static bool same_folder(const char *a, const char *b)
{
	size_t n = strlen("/etc/cdi/"); /* as long as /run/cdi/ */

	return strncmp(a, b, n) == 0;
}

/* Another file of the same folder with a device of that name: then neither has it (pkg/cdi/cache.go, refresh()). */
static const struct reference *rival_of(const struct node *node, const struct reference *r)
{
	for_each(file, &node->references.files) {
		const struct reference *other;

		if (!known_is(file->format, REFERENCE_CDI) || str_is(file->path, r->file.value) ||
		    !same_folder(file->path.value, r->file.value))
			continue;
		other = device_in(node, file->path.value, r->name.value);
		if (other)
			return other;
	}
	return NULL;
}

/* The file that comes first reports it. */
static bool check_conflict(struct rule_context *ctx, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(ctx->node, REFERENCE_CDI, file, r))) {
		const struct reference *rival = str_is(r->role, CDI_DEVICES)
							? rival_of(ctx->node, r)
							: NULL;

		if (!rival)
			continue;
		if (strcmp(rival->file.value, file) < 0)
			return true;
		FAIL(ctx, .subject = file,
		     .observed = text_printf(ctx, "%s has %s, and so does %s",
					     reference_place(ctx->arena, r), r->name.value,
					     reference_place(ctx->arena, rival)),
		     .expected = "one specification for each device",
		     .impact =
			     "Containers do not start: \"unresolvable CDI devices\". A device that two files of a "
			     "folder have is taken from neither.",
		     .remedy = text_printf(ctx, "Remove the older one of %s and %s.", file,
					   rival->file.value),
		     .evidence = { reference_fact(ctx->arena, ctx->node, r, "name"),
				   reference_fact(ctx->arena, ctx->node, rival, "name") });
		return true;
	}
	return false;
}

/* nvidia.com/gpu=all and the like: this specification is meant to have all GPUs. */
static const struct reference *device_of_all(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (str_is(r->role, CDI_DEVICES) && strstr(r->name.value, "nvidia.com/gpu=all"))
			return r;
	return NULL;
}

/* The specification of /run/cdi has priority. */
static bool is_replaced(const struct node *node, const struct reference *all)
{
	if (!str_starts(all->file, "/etc/cdi/"))
		return false;
	for_each(file, &node->references.files)
		if (known_is(file->format, REFERENCE_CDI) && str_starts(file->path, "/run/cdi/") &&
		    device_in(node, file->path.value, all->name.value))
			return true;
	return false;
}

static bool names_node(const struct node *node, const char *file, const char *path)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (known_is(r->kind, REFERENCE_DEVICE) && str_is(r->name, path))
			return true;
	return false;
}

static bool check_all(struct rule_context *ctx, const char *file)
{
	const struct node *node = ctx->node;
	const struct reference *all = device_of_all(node, file);
	const char *first = NULL;
	size_t missing = 0;

	if (!all || is_replaced(node, all))
		return false;
	for_each(g, &node->gpu.devices) {
		const char *path = text_printf(ctx, "/dev/nvidia%" PRIu64, g->minor.value);

		if (!is_known(g->minor) || known_is(g->excluded, true) ||
		    names_node(node, file, path))
			continue;
		first = first ? first : path;
		missing++;
	}
	if (!missing)
		return false;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = file,
		.observed = text_printf(ctx, "%s lacks %zu of %u GPUs: %s%s", all->name.value,
					missing, node->gpu.devices.count, first,
					missing > 1 ? " and others" : ""),
		.expected = "all GPUs of this node", .remedy = remedy(ctx, all),
		.command = command(ctx, all), .is_unit_restart = is_refreshed(all),
		.evidence = { reference_fact(ctx->arena, node, all, "name"), "gpu.devices" });
	return true;
}

static void check_devices_of(struct rule_context *ctx, const struct reference_file *file,
			     const void *user)
{
	const char *path = file->path.value;

	(void)user;
	if (check_conflict(ctx, path) || check_all(ctx, path))
		return;
	if (!was_read(ctx->node->gpu.devices))
		UNKNOWN(ctx, .subject = path, .evidence = { "gpu.devices" });
	else
		references_pass(ctx, file);
}

static void check_devices(struct rule_context *ctx)
{
	if (!skip_without_gpu(ctx) && !skip_without_driver(ctx) && !skip_in_container(ctx))
		references_each(ctx, REFERENCE_CDI, check_devices_of, NULL,
				"no specification in /etc/cdi or /run/cdi");
}

static const struct rule dev_cdi_rules[] = {
	{
		.id = "dev/cdi-devices",
		.title = "Containers lack GPUs: CDI specifications conflict, or leave GPUs out",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_devices,
		.needs_running = true,
		.impact =
			"A container that asks for all GPUs gets only those of the specification.",
		.remedy = "Generate the specification again, and keep one file for each device.",
		.command = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
		.activation = ACTIVATION_RECREATE,
		.follows = { "pci/device-off-bus" },
		.reads =
			"The devices and device files of the YAML and JSON files in /etc/cdi and /run/cdi, and the "
			"minor numbers of the GPUs.",
		.why = "A specification has the GPUs that worked when it was made. If two files of one folder "
		       "have the same device, engines take it from neither. A file in /run/cdi has priority over "
		       "one in /etc/cdi.",
		.check = "nvidia-ctk cdi list; grep -n 'name:' /etc/cdi/*.yaml /run/cdi/*.yaml",
		.sources = "container-device-interface v1.1.0: pkg/cdi/cache.go (refresh)\n"
			   "NVIDIA Container Toolkit 1.20.0: pkg/nvcdi",
	},

	{
		.id = "dev/cdi-stale",
		.title = "Containers get no GPU: their CDI specification does not match the node",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_specification,
		.needs_running = true,
		.impact = "Containers that request a device of this specification do not start.",
		.remedy = "Generate the specification again after each driver change.",
		.command = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
		.activation = ACTIVATION_RECREATE,
		.follows = { "modules/nvidia-uvm-not-loaded", "dev/nvidia-nodes-missing" },
		.reads =
			"Device numbers, files, hooks and interfaces that the YAML and JSON files in /etc/cdi"
			" and /run/cdi name; /proc/devices; and the named files.",
		.why = "A specification is written once, and the node changes. The kernel can give nvidia-uvm "
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
