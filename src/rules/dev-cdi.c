/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-cdi.c - do specifications of the Container Device Interface match the node (rules dev/...)? */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/device-file.h"

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

/* Also with the folder of a driver container: /run/nvidia/driver/dev/nvidia0. */
static bool names_node(const struct node *node, const char *file, const char *path)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (known_is(r->kind, REFERENCE_DEVICE) && span_ends(span_of(r->name.value), path))
			return true;
	return false;
}

/* Each device of FILE is in a specification of /run/cdi. */
static bool is_replaced_whole(const struct node *node, const char *file)
{
	const struct reference *r = NULL;
	bool any = false;

	while ((r = reference_next(node, REFERENCE_CDI, file, r))) {
		if (!str_is(r->role, CDI_DEVICES))
			continue;
		if (!is_replaced(node, r))
			return false;
		any = true;
	}
	return any;
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

/* ---- the device files that all GPUs share ---- */

/* pkg/nvcdi/common-nvml.go, controlDeviceNodeDiscoverer(): nvidia-ctk writes those that exist when it runs. */
static const struct {
	const char *path;
	enum severity severity;
	const char *impact;
} shared_nodes[] = {
	{ "/dev/nvidiactl", SEVERITY_ERR,
	  "nvidia-smi and CUDA find no GPU in containers of this specification." },
	{ "/dev/nvidia-uvm", SEVERITY_ERR,
	  "nvidia-smi works in containers of this specification, and CUDA does not start there." },
	{ "/dev/nvidia-uvm-tools", SEVERITY_WARN,
	  "Profilers and debuggers of CUDA lack unified memory in containers." },
	{ "/dev/nvidia-modeset", SEVERITY_INFO,
	  "Programs in containers cannot use a display of the GPU." },
};

/* /dev/nvidia0 and the like. */
static const struct reference *gpu_node(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r))) {
		const char *name = known_is(r->kind, REFERENCE_DEVICE)
					   ? strstr(r->name.value, "/dev/nvidia")
					   : NULL;

		if (name && isdigit((unsigned char)name[strlen("/dev/nvidia")]))
			return r;
	}
	return NULL;
}

static bool has_gpu_device(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (str_is(r->role, CDI_DEVICES) && str_starts(r->name, "nvidia.com/gpu="))
			return true;
	return false;
}

static bool check_shared_nodes(struct rule_context *ctx, const char *file)
{
	const struct node *node = ctx->node;
	const struct reference *gpu = gpu_node(node, file);
	const char *list = NULL, *impact = NULL;
	enum severity severity = SEVERITY_INFO;

	if (!gpu || !has_gpu_device(node, file) || is_replaced_whole(node, file))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(shared_nodes); i++) {
		const char *path = shared_nodes[i].path;

		if (!device_file_find(node, path) || names_node(node, file, path))
			continue;
		if (!list) {
			severity = shared_nodes[i].severity;
			impact = shared_nodes[i].impact;
		}
		list = list ? text_printf(ctx, "%s, %s", list, path) : path;
	}
	if (!list)
		return false;
	FAIL_AS(ctx, severity, .subject = file,
		.observed = text_printf(ctx, "gives GPUs without %s, which this node has now",
					list),
		.expected = "the driver's device files that all GPUs share", .impact = impact,
		.remedy = remedy(ctx, gpu), .command = command(ctx, gpu),
		.is_unit_restart = is_refreshed(gpu),
		.evidence = { reference_fact(ctx->arena, node, gpu, "name"), "dev.nodes" });
	return true;
}

static void check_devices_of(struct rule_context *ctx, const struct reference_file *file,
			     const void *user)
{
	const char *path = file->path.value;

	(void)user;
	if (check_conflict(ctx, path) || check_all(ctx, path) || check_shared_nodes(ctx, path))
		return;
	if (!was_read(ctx->node->dev.nodes) && gpu_node(ctx->node, path))
		UNKNOWN(ctx, .subject = path, .evidence = { "dev.nodes" });
	else if (!was_read(ctx->node->gpu.devices))
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

/* ---- the version of a specification ---- */

#define CDI_NEWEST "1.1.0"

/* specs-go/version.go: validSpecVersions. A later release of the library can add to them. */
static bool is_version(const char *version)
{
	static const char *const versions[] = { "0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0",
						"0.6.0", "0.7.0", "0.8.0", "1.0.0", CDI_NEWEST };
	unsigned int major, minor, patch;
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (strcmp(version, versions[i]) == 0)
			return true;
	return sscanf(version, "%3u.%3u.%3u%n", &major, &minor, &patch, &n) == 3 && !version[n] &&
	       version_compare(version, CDI_NEWEST) > 0;
}

static const struct reference *version_in(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (str_is(r->role, REFERENCE_CDI_VERSION))
			return r;
	return NULL;
}

/* The field that needs the latest version, if it is later than VERSION; COUNT: how many do. */
static const struct reference *field_after(const struct node *node, const char *file,
					   const char *version, size_t *count)
{
	const struct reference *r = NULL, *found = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r))) {
		if (!str_starts(r->role, REFERENCE_CDI_FIELD) ||
		    version_compare(r->name.value, version) <= 0)
			continue;
		++*count;
		if (!found || version_compare(r->name.value, found->name.value) > 0)
			found = r;
	}
	return found;
}

static void refuse(struct rule_context *ctx, const char *file, const struct reference *r,
		   const char *observed, const char *expected)
{
	const struct reference shown = { .file = fact_str(ctx->arena, file) };

	FAIL_AS(ctx, is_replaced_whole(ctx->node, file) ? SEVERITY_INFO : SEVERITY_ERR,
		.subject = file, .observed = observed, .expected = expected,
		.remedy =
			is_refreshed(&shown)
				? remedy(ctx, &shown)
				: "Generate the specification again with nvidia-ctk of version 1.12 or "
				  "later, which writes the lowest version that fits. "
				  "--device-name-strategy=type-index gives names that begin with a letter: "
				  "then engines with CDI 0.3 and 0.4 read it too, as Podman 4.2.",
		.command = command(ctx, &shown), .is_unit_restart = is_refreshed(&shown),
		.evidence = { r ? reference_fact(ctx->arena, ctx->node, r, "name")
				: fact_path(ctx->arena, "references.files", file, "complete") });
}

static void check_field(struct rule_context *ctx, const char *file, const char *version,
			const struct reference *field, size_t count)
{
	const char *name = field->role.value + strlen(REFERENCE_CDI_FIELD);
	const char *more = count > 1 ? text_printf(ctx, ", and %zu more need%s a later version too",
						   count - 1, count == 2 ? "s" : "")
				     : "";

	refuse(ctx, file, field,
	       text_printf(ctx, "cdiVersion is %s; line %" PRIu64 " has %s, which needs %s%s",
			   version, field->line.value, name, field->name.value, more),
	       text_printf(ctx, "cdiVersion %s or later, or no such field", field->name.value));
}

static bool has_device(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_CDI, file, r)))
		if (str_is(r->role, CDI_DEVICES))
			return true;
	return false;
}

static void check_version_of(struct rule_context *ctx, const struct reference_file *file,
			     const void *user)
{
	const struct node *node = ctx->node;
	const char *path = file->path.value;
	const struct reference *version = version_in(node, path), *field = NULL;
	size_t count = 0;

	(void)user;
	if (version)
		field = field_after(node, path, version->name.value, &count);
	if (!version && known_is(file->complete, true) && has_device(node, path))
		refuse(ctx, path, NULL, "no cdiVersion", "cdiVersion: 0.5.0, or another version");
	else if (version && !is_version(version->name.value))
		refuse(ctx, path, version,
		       text_printf(ctx, "cdiVersion is %s, which is no version of CDI",
				   version->name.value),
		       "a version of three numbers, such as 0.5.0");
	else if (version && version_compare(version->name.value, "0.3.0") < 0)
		refuse(ctx, path, version,
		       text_printf(ctx, "cdiVersion is %s", version->name.value),
		       "0.3.0, the oldest that engines accept, or later");
	else if (field)
		check_field(ctx, path, version->name.value, field, count);
	else
		references_pass(ctx, file);
}

static void check_versions(struct rule_context *ctx)
{
	if (!skip_without_gpu(ctx) && !skip_without_driver(ctx) && !skip_in_container(ctx))
		references_each(ctx, REFERENCE_CDI, check_version_of, NULL,
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
			"The devices and device files of the YAML and JSON files in /etc/cdi and /run/cdi, the "
			"minor numbers of the GPUs, and the device files in /dev.",
		.why = "A specification has the GPUs and the device files that existed when it was made. If nvidia_uvm was not "
		       "loaded then, its files are missing. A missing /dev/nvidia-modeset alone is a note. If two files of one folder "
		       "have the same device, engines take it from neither. A file in /run/cdi has priority over "
		       "one in /etc/cdi.",
		.check = "nvidia-ctk cdi list; grep -n 'name:' /etc/cdi/*.yaml /run/cdi/*.yaml",
		.sources = "container-device-interface v1.1.0: pkg/cdi/cache.go (refresh)\n"
			   "NVIDIA Container Toolkit 1.20.0: pkg/nvcdi (common-nvml.go)\n"
			   "github.com/NVIDIA/nvidia-container-toolkit issue 50",
	},

	{
		.id = "dev/cdi-version",
		.title = "Containers get no GPU: engines refuse the CDI specification",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_versions,
		.needs_running = true,
		.impact =
			"Engines leave the whole file out. Containers do not start: \"unresolvable CDI devices\" or, with Podman, "
			"\"failed to load CDI Spec\".",
		.remedy = "Generate the specification again.",
		.command = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"cdiVersion, and the fields that a version of the specification added, of the YAML and JSON files in "
			"/etc/cdi and /run/cdi.",
		.why = "Podman, CRI-O, containerd and Docker read specifications with one library, which refuses a file with a "
		       "field that is newer than the file's cdiVersion. Older releases of the library refuse fields that they "
		       "do not know. A specification whose devices are all in /run/cdi too is a note.",
		.check = "nvidia-ctk cdi list; grep -n cdiVersion /etc/cdi/*.yaml /run/cdi/*.yaml",
		.sources =
			"container-device-interface v1.1.0: specs-go/version.go (ValidateVersion, requiresV040 to requiresV110), "
			"pkg/cdi/spec.go (validate, ParseSpec)\n"
			"NVIDIA Container Toolkit 1.20.0: CHANGELOG.md (v1.12.0-rc.4)\n"
			"github.com/NVIDIA/nvidia-container-toolkit issue 38",
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
