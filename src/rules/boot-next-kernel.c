/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-next-kernel.c - whether the kernel that boots next has the modules that are in use now. */
#include <string.h>

#include "base/command.h"
#include "evaluate/skip.h"
#include "query/distribution.h"
#include "query/module-find.h"

/* Is NAME in use now, so that the next kernel should have it too? */
static bool is_in_use(const struct node *node, const char *name)
{
	return node_module(node, name) ||
	       (strcmp(name, "nvidia") == 0 && module_file_running(node, name));
}

/* Names of those that are missing for RELEASE, or NULL. */
static const char *missing_for(struct rule_context *ctx, const char *release)
{
	static const char *const names[] = { "nvidia",	    "nvidia_uvm", "nvidia_peermem",
					     "nv_peer_mem", "gdrdrv",	  "nvidia_fs" };
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct module_file *file = module_file_find(ctx->node, names[i], release);

		if (!is_in_use(ctx->node, names[i]) || (file && !known_is(file->indexed, false)))
			continue;
		missing = text_printf(ctx, "%s%s%s%s", missing ? missing : "", missing ? ", " : "",
				      names[i], file ? " (not in modules.dep)" : "");
	}
	return missing;
}

static void fail_missing(struct rule_context *ctx, const char *release, const char *missing)
{
	const char *headers = command_install_headers(ctx->arena, ctx->node, release);
	const char *build = command_printf(ctx->arena, "sudo dkms autoinstall -k %s", release);
	bool dkms = node_software(ctx->node, "dkms");

	FAIL(ctx,
	     .observed = text_printf(ctx, "kernel %s boots next and lacks %s", release, missing),
	     .expected = text_printf(ctx, "the modules in use now, built for %s", release),
	     .command = dkms && build ? command_join(ctx->arena, headers, build) : NULL,
	     .evidence = { "boot.next_kernel", "modules.files", "os.kernel" });
}

static void check_next_kernel(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct fact_str *next = &node->boot.next_kernel;
	const char *missing;

	if (skip_without_gpu(ctx))
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
	if (missing)
		fail_missing(ctx, next->value, missing);
	else
		PASS(ctx, .evidence = { "boot.next_kernel", "modules.files" });
}

static const struct rule boot_next_kernel_rules[] = {
	{
		.id = "boot/kernel-next-lacks-modules",
		.title =
			"GPUs fail after the next boot: its kernel lacks modules that are in use now",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_next_kernel,
		.impact = "After the next boot the GPU driver, peer memory or GDRCopy is missing.",
		.remedy = "Before the next boot, build the modules for that kernel.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The kernel of the boot loader's default entry, and the modules on disk for it.",
		.why = "Unattended upgrades install kernels without building modules for them. An enabled dkms.service tries "
		       "once more at boot. Whether that succeeds is not checked.",
		.check = "ls /lib/modules; dkms status",
		.sources = "dkms 3.2 (793fdab): dkms(8)\ngithub.com/NVIDIA/nvidia-docker issue 804",
	},
};

RULE_TABLE(boot_next_kernel);
