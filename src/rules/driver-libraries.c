/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-libraries.c - the driver's libraries: of the version of the kernel module, and no toolkit's stub. */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/dkms.h"
#include "query/driver-files.h"

static bool is_stub(const struct software_item *item)
{
	return str_is(item->name, "libcuda") && strstr(item->path.value, "/stubs/libcuda.so");
}

/* FOLDER has the driver's own libcuda. */
static bool has_libcuda(const struct node *node, struct span folder)
{
	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	for_each(item, &node->software.items)
		if (str_is(item->name, "libcuda") && !is_stub(item) &&
		    strlen(item->path.value) > folder.n &&
		    strncmp(item->path.value, folder.p, folder.n) == 0 &&
		    item->path.value[folder.n] == '/' &&
		    strchr(item->path.value + folder.n + 1, '/') == NULL)
			return true;
	return false;
}

/* A toolkit's stub is only for linking. The loader takes libcuda.so from the first folder that has it. */
static const char *stub_folder(struct rule_context *ctx)
{
	const char *path = node_env(ctx->node, "LD_LIBRARY_PATH");
	struct span rest = span_of(path ? path : ""), folder;

	while (span_cut(&rest, ':', &folder) && !has_libcuda(ctx->node, folder))
		if (span_ends(folder, "/stubs") || span_ends(folder, "/stubs/"))
			return text_printf(ctx, "%.*s", SPAN_FMT(folder));
	return NULL;
}

/* The probe looks only into folders of LD_LIBRARY_PATH and ld.so.conf.d: not in the first, so in the second. */
static const struct software_item *loader_stub(const struct node *node)
{
	for (const char *at = node_env(node, "LD_LIBRARY_PATH"); at && (at = strstr(at, "/stubs"));
	     at++)
		if (!at[6] || strchr("/:", at[6]))
			return NULL;
	for_each(item, &node->software.items)
		if (is_stub(item))
			return item;
	return NULL;
}

static void fail_loader_stub(struct rule_context *ctx, const struct software_item *stub)
{
	bool soname = strstr(stub->path.value, "/libcuda.so.1");

	if (!was_read(ctx->node->env.variables)) {
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx,
				"ld.so.conf.d lists the folder of %s; whether LD_LIBRARY_PATH has "
				"a different folder before it was not read",
				stub->path.value),
			.evidence = { "env.variables", software_version_fact(ctx->arena, stub) });
		return;
	}
	FAIL_AS(ctx, SEVERITY_WARN, .subject = "ld.so.conf.d",
		.observed = text_printf(ctx,
					"ld.so.conf.d lists the folder of %s, a stub for linking",
					stub->path.value),
		.expected = "no stub folder in /etc/ld.so.conf.d",
		.impact =
			soname ? "CUDA programs can get the stub: \"CUDA driver is a stub library\" (34), or no "
				 "device."
			       : "Programs that load libcuda.so by that name can get the stub: \"CUDA driver is "
				 "a stub library\" (34). The next ldconfig can make a libcuda.so.1 of it.",
		.remedy =
			soname ? "Remove the line from /etc/ld.so.conf.d and the link libcuda.so.1 from the stub "
				 "folder. Then run ldconfig."
			       : "Remove the line from /etc/ld.so.conf.d, then run ldconfig. To link, set "
				 "LIBRARY_PATH.",
		.activation = ACTIVATION_NEW_JOBS,
		.evidence = { software_version_fact(ctx->arena, stub) });
}

/* The toolkit mounts the host's libraries into a container: one of another version came with the image. */
static void fail_in_container(struct rule_context *ctx, const struct software_item *library)
{
	FAIL(ctx,
	     .observed = text_printf(ctx, "%s is %s, the kernel module %s", library->name.value,
				     library->version.value, ctx->node->driver.version.value),
	     .expected = "one version of kernel module and libraries",
	     .remedy = text_printf(
		     ctx,
		     "Remove the driver's packages from the image (the one with %s), and start the "
		     "container again. The host's libraries are mounted when it starts. After an update "
		     "of the host's driver the same is enough.",
		     library->path.value),
	     .action = ACTION_CONFIGURE, .activation = ACTIVATION_RECREATE,
	     .evidence = { software_version_fact(ctx->arena, library), "driver.version" });
}

static void fail_mismatch(struct rule_context *ctx, const struct software_item *library)
{
	const struct node *node = ctx->node;
	const struct module_file *file = is_known(node->os.kernel)
						 ? driver_file(node, node->os.kernel.value)
						 : NULL;
	bool read = file && is_known(file->version);
	bool stays = read && !str_is(file->version, library->version.value);
	const char *command = stays ? shell_dkms_install(ctx->arena, node, library->version.value,
							 node->os.kernel.value)
				    : NULL;
	/* The modules on disk are those that run. */
	bool libraries = stays && !command && str_is(file->version, node->driver.version.value) &&
			 version_compare(library->version.value, file->version.value) < 0 &&
			 !driver_files_mixed(node, file->version.value) &&
			 !str_is(node->os.image_based, "ostree");

	FAIL(ctx,
	     .observed = text_printf(
		     ctx, "%s is %s, the kernel module that runs is %s%s", library->name.value,
		     library->version.value, node->driver.version.value,
		     read ? text_printf(ctx, ", the one on disk %s", file->version.value) : ""),
	     .remedy = stays ? driver_version_remedy(ctx->arena, node, library, file->version.value,
						     command != NULL)
		       : read ? NULL
			      : "Reboot. If the versions still differ, install kernel modules and "
				"libraries of one version.",
	     .command = command, .then = stays && !libraries ? THEN_INITRAMFS | THEN_REBOOT : 0,
	     .action = stays ? ACTION_CONFIGURE : ACTION_DERIVED,
	     .activation = libraries ? ACTIVATION_NEW_JOBS : ACTIVATION_NONE,
	     .evidence = { software_version_fact(ctx->arena, library), "driver.version" });
}

/* One client of another version says nothing of the node: any user can bring libraries, or give the driver a version. */
static void answer_without_libraries(struct rule_context *ctx)
{
	static const char observed[] = "no libcuda or libnvidia-ml was found on this node";
	const struct log_line *refused = node_log(ctx->node, "api-mismatch");

	if (refused)
		NOTE(ctx,
		     .observed = text_printf(ctx, "%s, and the driver refused a program: %s",
					     observed, refused->last.value),
		     .impact = "That program cannot use the GPUs.",
		     .remedy = "Give it libraries of the kernel module's version.",
		     .action = ACTION_CONFIGURE, .activation = ACTIVATION_NEW_JOBS,
		     .evidence = { "software.items", "log.lines[api-mismatch].last",
				   "driver.version" });
	else
		NOT_APPLICABLE(ctx, .observed = observed, .evidence = { "software.items" });
}

static void check_library_mismatch(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct driver_libraries found;
	const struct software_item *stub;
	const char *stubs;

	if (skip_without_driver(ctx))
		return;
	found = driver_libraries(node);
	stubs = stub_folder(ctx);
	stub = loader_stub(node);
	if (found.other && is_known(node->os.container))
		fail_in_container(ctx, found.other);
	else if (found.other)
		fail_mismatch(ctx, found.other);
	else if (stubs)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "LD_LIBRARY_PATH",
			.observed = text_printf(
				ctx, "%s is listed, where the toolkit keeps a stub libcuda.so",
				stubs),
			.expected = "no stub folder",
			.impact =
				"Programs that load libcuda.so by that name get the stub: \"CUDA driver is a stub "
				"library\" (34). Programs that load libcuda.so.1 work.",
			.remedy =
				"Remove the stub folder from LD_LIBRARY_PATH. To link, set LIBRARY_PATH.",
			.activation = ACTIVATION_NEW_JOBS,
			.evidence = { "env.variables[LD_LIBRARY_PATH].value" });
	else if (stub)
		fail_loader_stub(ctx, stub);
	else if (found.same)
		PASS(ctx, .evidence = { software_version_fact(ctx->arena, found.same),
					"driver.version" });
	else if (!skip_unless_software_whole(ctx))
		answer_without_libraries(ctx);
}

static const struct rule driver_libraries_rules[] = {
	{
		.id = "driver/library-mismatch",
		.follows = { "modules/nvidia-versions-differ" },
		.title = "CUDA fails: libcuda does not match the loaded kernel module",
		.is_reason_name = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_library_mismatch,
		.impact =
			"Every CUDA program fails (error 803), and nvidia-smi says: \"Driver/library version mismatch\".",
		.remedy = "Reboot.",
		.action = ACTION_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The loaded version and the version suffix of libcuda.so and libnvidia-ml.so. A "
			"toolkit's stub folder in LD_LIBRARY_PATH or /etc/ld.so.conf.d.",
		.why = "The kernel module refuses clients of another version. A package upgrade replaces the"
		       " libraries at once, but the loaded module only at the next load. If the mismatch "
		       "returns after a reboot, an old module is on disk or in the initramfs: "
		       "driver/module-on-disk-differs, boot/initramfs-stale.",
		.check =
			"cat /sys/module/nvidia/version; ls /usr/lib/*/libcuda.so.* /usr/lib64/libcuda.so.*",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (API "
			"mismatch)\n"
			"github.com/NVIDIA/warp issue 219 (the stub, 2024)",
	},
};

RULE_TABLE(driver_libraries);
