/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-next-kernel.c - whether the kernel that boots next has the modules that are in use now. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "query/distribution.h"
#include "query/dkms.h"
#include "query/module-find.h"

/* Returns true if NAME is in use now, so that the next kernel should have it too. */
static bool is_in_use(const struct node *node, const char *name)
{
	return node_module(node, name) ||
	       (strcmp(name, "nvidia") == 0 && module_file_running(node, name));
}

/* Modules in use now that a kernel lacks. */
struct missing {
	const char *names; /* NULL: none */
	bool driver_alone; /* all of them are the NVIDIA driver's */
};

static struct missing missing_for(struct rule_context *ctx, const char *release)
{
	static const struct {
		const char *name;
		bool of_driver;
	} modules[] = {
		{ "nvidia", true },	  { "nvidia_uvm", true }, { "nvidia_peermem", true },
		{ "nv_peer_mem", false }, { "gdrdrv", false },	  { "nvidia_fs", false },
		{ "mlx5_core", false },	  { "mlx5_ib", false },	  { "ib_uverbs", false },
		{ "efa", false },
	};
	struct missing missing = { .driver_alone = true };

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		const struct module_file *file = module_file_find(ctx->node, modules[i].name,
								  release);

		if (!is_in_use(ctx->node, modules[i].name) ||
		    (file && !known_is(file->indexed, false)))
			continue;
		missing.names = text_printf(ctx, "%s%s%s%s", missing.names ? missing.names : "",
					    missing.names ? ", " : "", modules[i].name,
					    file ? " (not in modules.dep)" : "");
		missing.driver_alone &= modules[i].of_driver;
	}
	return missing;
}

/* Returns the subject of the finding that DKMS could not build the driver for the kernel; NULL: there is none. */
static const char *failed_build(struct rule_context *ctx, const char *release,
				const struct missing *missing)
{
	struct dkms_reason reason;

	if (!missing->driver_alone ||
	    !dkms_reason_for(ctx->arena, ctx->node, "driver-source", release, &reason))
		return NULL;
	return text_printf(ctx, "%s, kernel %s", reason.package->name.value, release);
}

static void fail_missing(struct rule_context *ctx, const char *release,
			 const struct missing *missing)
{
	const char *headers = shell_install_headers(ctx->arena, ctx->node, release);
	const char *build = shell_printf(ctx->arena, "sudo dkms autoinstall -k %s", release);
	const char *failed = failed_build(ctx, release, missing);
	bool dkms = node_software(ctx->node, "dkms");

	FAIL(ctx,
	     .observed = text_printf(ctx, "kernel %s boots next and lacks %s", release,
				     missing->names),
	     .expected = text_printf(ctx, "the modules in use now, built for %s", release),
	     .command = dkms && build ? shell_join(ctx->arena, headers, build) : NULL,
	     .follows = failed ? "modules/dkms-failed" : NULL, .follows_subject = failed,
	     .evidence = { "boot.next_kernel", "modules.files", "os.kernel" });
}

/* Returns true if neither the driver nor the kernel's own modules are installed. */
static bool has_no_modules(const struct node *node, const char *release)
{
	return is_known(node->modules.kernels) && !LIST_FIND(&node->modules.kernels, release);
}

static void fail_no_modules(struct rule_context *ctx, const char *release)
{
	FAIL_AS(ctx, SEVERITY_ERR,
		.observed = text_printf(ctx,
					"kernel %s boots next, and /lib/modules/%s does not exist",
					release, release),
		.expected = text_printf(ctx, "the modules of kernel %s", release),
		.impact =
			"After the next boot GPUs, NICs and file systems whose drivers are modules are missing.",
		.remedy = text_printf(
			ctx,
			"Install the package with the modules of kernel %s, or choose another "
			"entry of the boot loader.",
			release),
		.evidence = { "boot.next_kernel", "modules.kernels" });
}

/* True where there is neither a GPU nor an RDMA device. */
static bool skip_without_devices(struct rule_context *ctx)
{
	return !(was_read(ctx->node->rdma.devices) && ctx->node->rdma.devices.count) &&
	       skip_unless_for_gpus(ctx);
}

static void check_next_kernel(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct fact_str *next = &node->boot.next_kernel;
	struct missing missing;

	if (skip_without_devices(ctx))
		return;
	if (is_absent(node->boot.loader)) {
		NOT_APPLICABLE(ctx, .observed = "no boot loader on this node",
			       .evidence = { "boot.loader" });
		return;
	}
	if (!is_known(*next)) {
		UNKNOWN(ctx, .evidence = { "boot.next_kernel" });
		return;
	}
	if (skip_without_module_files(ctx))
		return;
	if (str_is(*next, node->os.kernel.value)) {
		PASS(ctx, .observed = "the next boot starts the running kernel",
		     .evidence = { "boot.next_kernel", "os.kernel" });
		return;
	}
	if (is_known(node->services.driver_container)) {
		NOT_APPLICABLE(
			ctx, .observed = "a container builds and loads the driver after each boot",
			.evidence = { "services.driver_container" });
		return;
	}
	missing = missing_for(ctx, next->value);
	if (has_no_modules(node, next->value))
		fail_no_modules(ctx, next->value);
	else if (missing.names)
		fail_missing(ctx, next->value, &missing);
	else
		PASS(ctx, .evidence = { "boot.next_kernel", "modules.files" });
}

/* ---- its initramfs ---- */

static bool has_initramfs(const struct node *node, const char *path)
{
	for_each(image, &node->initramfs.images)
		if (str_is(image->path, path))
			return true;
	return false;
}

/* An entry that has one, as the next one has none: then this system boots by an initramfs. */
static const struct boot_entry *entry_with_initramfs(const struct node *node)
{
	for_each(e, &node->boot.entries)
		if (is_known(e->initrd))
			return e;
	return NULL;
}

static const char *initramfs_remedy(struct rule_context *ctx, const char *release)
{
	return release ? text_printf(
				 ctx,
				 "Build the initramfs of kernel %s%s, and write the boot loader's "
				 "configuration again.",
				 release,
				 shell_rebuild_initramfs(ctx->arena, ctx->node, release)
					 ? ""
					 : " with this distribution's tool")
		       : NULL;
}

static void check_next_initramfs(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct fact_str *next = &node->boot.next_initrd;
	const struct boot_entry *other = entry_with_initramfs(node);
	const char *release = is_known(node->boot.next_kernel) ? node->boot.next_kernel.value
							       : NULL;

	if (is_absent(node->boot.loader))
		NOT_APPLICABLE(ctx, .observed = "no boot loader on this node",
			       .evidence = { "boot.loader" });
	else if (is_unknown(*next))
		UNKNOWN(ctx, .evidence = { "boot.next_initrd" });
	else if (is_absent(*next) && !other)
		PASS(ctx, .observed = "this system boots without an initramfs",
		     .evidence = { "boot.next_initrd", "boot.entries" });
	else if (is_absent(*next))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "the entry that boots next has no initramfs; %s has one",
			     other->title.value),
		     .expected = "an initramfs for the kernel that boots next",
		     .remedy = initramfs_remedy(ctx, release),
		     .command = release ? shell_rebuild_initramfs(ctx->arena, node, release) : NULL,
		     .evidence = { "boot.next_initrd", "boot.next_entry" });
	else if (has_initramfs(node, next->value))
		PASS(ctx, .observed = next->value, .evidence = { "boot.next_initrd" });
	else if (!is_known(node->initramfs.images))
		UNKNOWN(ctx, .evidence = { "initramfs.images", "boot.next_initrd" });
	else if (!node->initramfs.images.count)
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx,
				"%s is not here, nor any other initramfs: a copy may lack them",
				next->value),
			.evidence = { "initramfs.images", "boot.next_initrd" });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%s does not exist; the entry that boots next names it",
			     next->value),
		     .expected = next->value, .remedy = initramfs_remedy(ctx, release),
		     .command = release ? shell_rebuild_initramfs(ctx->arena, node, release) : NULL,
		     .evidence = { "boot.next_initrd", "initramfs.images" });
}

static const struct rule boot_next_kernel_rules[] = {
	{
		.id = "boot/initramfs-next-missing",
		.title = "The next boot fails: its kernel has no initramfs",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_next_initramfs,
		.impact =
			"The kernel stops with \"VFS: Unable to mount root fs\", and the node does not come back.",
		.remedy =
			"Build the initramfs of the kernel that boots next, with this distribution's tool, and write "
			"the boot loader's configuration again.",
		.activation = ACTIVATION_NOW,
		.stops_boot = true,
		.reads =
			"The boot loader's entries and default, and the image that the default names.",
		.why = "A kernel update that runs out of space in /boot, or whose hooks fail, leaves an entry without an "
		       "image. A system on which no entry has an initramfs does not need one.",
		.check = "ls -l /boot; df /boot",
		.sources = "Linux 6.1.192: Documentation/admin-guide/initrd.rst, init/do_mounts.c\n"
			   "systemd 252: kernel-install(8)",
	},
	{
		.id = "boot/kernel-next-lacks-modules",
		.title =
			"GPUs or NICs fail after the next boot: the kernel that boots then lacks modules that are in use now",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_next_kernel,
		.impact = "After the next boot the GPU driver, peer memory or GDRCopy is missing.",
		.remedy = "Before the next boot, build the modules for that kernel.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The kernel of the boot loader's default entry, and the modules on disk for it.",
		.why = "An unattended upgrade can install a kernel for which no modules are built. A kernel without any modules on "
		       "disk is an error. An enabled dkms.service tries "
		       "once more at boot. Whether that succeeds is not checked.",
		.check = "ls /lib/modules; dkms status",
		.sources = "dkms 3.2 (793fdab): dkms(8)\ngithub.com/NVIDIA/nvidia-docker issue 804",
	},
};

RULE_TABLE(boot_next_kernel);
