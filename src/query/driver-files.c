/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-files.c - the NVIDIA driver on disk: its module, and the user space that has to fit it. */
#include "query/driver-files.h"

#include <string.h>

#include "base/array.h"
#include "parse/version.h"
#include "query/module-find.h"

static bool is_library(const struct software_item *item)
{
	return (str_is(item->name, "libcuda") || str_is(item->name, "libnvidia-ml")) &&
	       is_known(item->version) && !strstr(item->path.value, "/stubs/");
}

/* cuda-compat installs into the toolkit's folder "compat" (CUDA Compatibility, forward). */
bool driver_is_compat_library(const struct software_item *item)
{
	return is_library(item) && strstr(item->path.value, "/compat/");
}

bool driver_is_library(const struct software_item *item)
{
	return is_library(item) && !strstr(item->path.value, "/compat/");
}

/* Finds the library NAME. Files of other versions do not matter if the right one exists. */
static void find_library(const struct node *node, const char *name, struct driver_libraries *found)
{
	const struct software_item *same = NULL, *other = NULL;

	for_each(item, &node->software.items) {
		if (!driver_is_library(item) || !str_is(item->name, name))
			continue;
		if (str_is(item->version, node->driver.version.value))
			same = item;
		else if (!other || version_compare(item->version.value, other->version.value) > 0)
			other = item;
	}
	if (same)
		found->same = same;
	else if (other)
		found->other = other;
}

struct driver_libraries driver_libraries(const struct node *node)
{
	struct driver_libraries found = { 0 };

	find_library(node, "libnvidia-ml", &found);
	find_library(node, "libcuda", &found);
	return found;
}

const struct module_file *driver_file(const struct node *node, const char *kernel)
{
	const struct module_file *found = NULL;

	for_each(f, &node->modules.files) {
		if (!str_is(f->name, "nvidia") || !str_is(f->kernel, kernel))
			continue;
		if (!found || known_is(f->indexed, true))
			found = f;
	}
	return found;
}

bool driver_files_mixed(const struct node *node, const char *version)
{
	static const char *const others[] = { "nvidia_modeset", "nvidia_drm", "nvidia_uvm" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const struct module_file *file = module_file_running(node, others[i]);

		if (file && is_known(file->version) && !str_is(file->version, version))
			return true;
	}
	return false;
}

const char *driver_version_remedy(struct arena *arena, const struct node *node,
				  const struct software_item *library, const char *module,
				  bool has_sources)
{
	const char *name = library->name.value, *version = library->version.value;

	if (str_is(node->os.image_based, "ostree"))
		return arena_printf(
			arena,
			"A reboot does not help: the image has the kernel module %s and %s %s. Deploy a "
			"newer image with rpm-ostree upgrade, or the one before with rpm-ostree rollback.",
			module, name, version);
	if (has_sources || version_compare(version, module) > 0 || driver_files_mixed(node, module))
		return arena_printf(
			arena,
			"A reboot alone does not help: the kernel module on disk is %s. Install the kernel "
			"modules and firmware of version %s, the version of %s.",
			module, version, name);
	return arena_printf(
		arena,
		"A reboot alone does not help: %s on disk is older than the kernel module. Install the "
		"driver's libraries of version %s, the version of the module on disk.",
		name, module);
}
