/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-installer.c - why NVIDIA's installer (the .run file) could not install the driver (rule
 * driver/installer-failed). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/service-words.h"

#define INSTALLER "nvidia-installer.service"

static void fail_installer(struct rule_context *ctx)
{
	const struct driver_facts *driver = &ctx->node->driver;
	const char *line = driver->installer_error.value;
	const struct service_word *word = service_word_find(INSTALLER, line);
	const char *version = is_known(driver->installer_version) ? driver->installer_version.value
								  : "the driver";
	const char *observed = word ? text_printf(ctx, "%s was not installed: %s (%s)", version,
						  word->cause, line)
				    : text_printf(ctx, "%s was not installed: %s", version, line);

	if (known_is(driver->loaded, true))
		NOTE(ctx, .observed = observed,
		     .evidence = { "driver.installer_error", "driver.loaded" });
	else
		FAIL(ctx, .observed = observed, .expected = "an installation that ended well",
		     .remedy = word ? word->remedy : NULL,
		     .evidence = { "driver.installer_error", "driver.installer_version" });
}

static void check_installer(struct rule_context *ctx)
{
	const struct driver_facts *driver = &ctx->node->driver;

	if (skip_without_own_gpu(ctx))
		return;
	if (is_unknown(driver->installer_error) || is_unknown(driver->loaded))
		UNKNOWN(ctx, .evidence = { is_unknown(driver->loaded) ? "driver.loaded"
								      : "driver.installer_error" });
	else if (is_known(driver->installer_error))
		fail_installer(ctx);
	else if (is_known(driver->installer_version))
		PASS(ctx, .evidence = { "driver.installer_version" });
	else
		NOT_APPLICABLE(ctx, .observed = "no log of NVIDIA's installer",
			       .evidence = { "driver.installer_error" });
}

static const struct rule driver_installer_rules[] = {
	{
		.id = "driver/installer-failed",
		.title = "No CUDA program runs: NVIDIA's installer could not install the driver",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_installer,
		.impact = "The driver of the .run file is not installed, or not for this kernel.",
		.remedy =
			"Read the lines before the error in /var/log/nvidia-installer.log, then run the installer "
			"again.",
		.activation = ACTIVATION_NOW,
		.follows = { "modules/nouveau-loaded", "modules/dkms-failed" },
		.reads =
			"/var/log/nvidia-installer.log, which the installer replaces at each run, and whether the "
			"driver is loaded.",
		.why = "The installer stops at the first error and removes nothing of what it installed. It builds the modules "
		       "first, then uninstalls the driver before, then writes files: an error after the build leaves a part of "
		       "either driver. data/service-words.tsv has the causes. Where a driver is loaded this is a note.",
		.check = "grep -E 'ERROR|installer version' /var/log/nvidia-installer.log",
		.sources =
			"nvidia-installer 00aaa9f9b: install-from-cwd.c (run_existing_uninstaller), command-list.c "
			"(execute_command_list), kernel.c",
	},
};

RULE_TABLE(driver_installer);
