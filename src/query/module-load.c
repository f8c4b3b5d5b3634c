/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module-load.c - the instruction and the command that load a module, for rules about missing modules. */
#include "query/module-load.h"

#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "query/distribution.h"
#include "query/dkms.h"
#include "query/module-block.h"
#include "query/module-find.h"
#include "query/node-find.h"

const char *module_written(struct arena *arena, const char *name)
{
	char *written = arena_strdup(arena, name);

	for (char *c = written; *c && starts_with(written, "nvidia"); c++)
		if (*c == '_')
			*c = '-';
	return written;
}

/* Modules whose files are in the facts, each with the sources that it is built from; those of
 * OFED can be the kernel's own too. Of others it is not known whether a file exists. */
static const struct {
	const char *name, *sources;
} watched[] = {
	{ "nvidia", "driver-source" },	       { "nvidia_uvm", "driver-source" },
	{ "nvidia_modeset", "driver-source" }, { "nvidia_drm", "driver-source" },
	{ "nvidia_peermem", "driver-source" }, { "nvidia_fs", "nvidia-fs-source" },
	{ "gdrdrv", "gdrdrv-source" },	       { "nv_peer_mem", "nv-peer-mem-source" },
	{ "ib_core", "ofed-source" },	       { "ib_uverbs", "ofed-source" },
	{ "mlx5_core", "ofed-source" },	       { "mlx5_ib", "ofed-source" },
};
#define WATCHED (ARRAY_SIZE(watched))

static size_t find_watched(const char *name)
{
	size_t i = 0;

	while (i < WATCHED && strcmp(watched[i].name, name) != 0)
		i++;
	return i;
}

/* Headers first: without them DKMS builds nothing. */
static const char *shell_build(struct arena *arena, const struct node *node, const char *sources)
{
	const char *build = sources ? shell_dkms_rebuild(arena, node, sources) : NULL;
	const char *headers = shell_install_headers(arena, node, node->os.kernel.value);

	return build && headers ? shell_join(arena, headers, build) : build;
}

/* DKMS installs below this folder on Debian, Ubuntu and SUSE: the module of another kernel there is of DKMS. */
static bool is_built_by_dkms(const struct node *node, const char *name)
{
	for_each(file, &node->modules.files)
		if (str_is(file->name, name) && strstr(file->path.value, "/updates/dkms/"))
			return true;
	return false;
}

static const char *shell_dkms_autoinstall(struct arena *arena, const struct node *node,
					  const char *kernel)
{
	const char *headers = shell_install_headers(arena, node, kernel);
	const char *build = shell_printf(arena, "sudo dkms autoinstall -k %s", kernel);

	return headers && build ? shell_join(arena, headers, build) : build;
}

static void answer_no_file(struct module_load *load, const struct node *node, const char *name,
			   const char *sources, struct arena *arena)
{
	const char *kernel = node->os.kernel.value;
	const char *written = module_written(arena, name);
	struct dkms_reason reason;

	load->no_file = true;
	load->why_not = arena_printf(arena, "%s.ko does not exist for kernel %s", written, kernel);
	load->fact = "modules.files";
	if (dkms_reason_for(arena, node, sources, kernel, &reason)) {
		load->why_not = arena_printf(arena, "%s. %s", load->why_not, reason.text);
		load->fact = reason.fact;
		load->remedy = reason.remedy;
		load->command = reason.command;
		return;
	}
	if (sources && strcmp(sources, "ofed-source") == 0 && node_software(node, "ofed")) {
		load->remedy = arena_printf(
			arena,
			"OFED has no modules for kernel %s: install OFED again for it (mlnxofedinstall "
			"--add-kernel-support; with DOCA, doca-kernel-support), or boot a kernel that it has.",
			kernel);
		return;
	}
	load->command = shell_build(arena, node, sources);
	if (!load->command && is_built_by_dkms(node, name))
		load->command = shell_dkms_autoinstall(arena, node, kernel);
	if (load->command)
		load->remedy = arena_printf(arena, "Build %s for kernel %s, then load it.", written,
					    kernel);
	else if (strcmp(name, "nvidia") == 0)
		load->remedy = arena_printf(arena, "Reinstall the NVIDIA driver for kernel %s.",
					    kernel);
	else if (sources && strcmp(sources, "driver-source") == 0)
		load->remedy = arena_printf(
			arena,
			"Build the NVIDIA driver for kernel %s again, which makes %s too. Then load it.",
			kernel, written);
	else
		load->remedy = arena_printf(arena, "Install %s for kernel %s, then load it.",
					    written, kernel);
}

struct module_load module_load_of(const struct node *node, const char *name, struct arena *arena)
{
	struct module_load load = { .why_not = NULL };
	const char *written = module_written(arena, name);
	size_t i = find_watched(name);

	if (i < WATCHED && is_known(node->os.kernel) && was_read(node->modules.files) &&
	    !module_file_find(node, name, node->os.kernel.value)) {
		answer_no_file(&load, node, name, watched[i].sources, arena);
		return load;
	}
	load.why_not = module_block_find(arena, node, name, &load.fact);
	load.remedy =
		load.why_not
			? arena_printf(arena, "Remove \"%s\", then load %s.", load.why_not, written)
			: arena_printf(arena, "Load %s, and make it load at every boot.", written);
	load.command = shell_printf(arena,
				    "sudo modprobe %s\n"
				    "echo %s | sudo tee /etc/modules-load.d/%s.conf",
				    written, written, written);
	return load;
}
