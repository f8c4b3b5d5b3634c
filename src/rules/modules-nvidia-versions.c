/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-nvidia-versions.c - the modules of one NVIDIA driver have one version: those that are loaded, and those that
 * the next boot loads (rule modules/nvidia-versions-differ). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/dkms.h"
#include "query/driver-files.h"
#include "query/module-find.h"

/* Each compares its version with nvidia's when it is loaded, or takes structures from it. */
static const char *const siblings[] = { "nvidia_modeset", "nvidia_drm", "nvidia_uvm" };
#define SIBLINGS (ARRAY_SIZE(siblings))

#define IMPACT_UVM "nvidia_uvm compares no versions: it can load and misread the driver."
#define IMPACT_OTHERS \
	"nvidia_modeset and nvidia_drm refuse to load: the log says \"Version mismatch: nvidia.ko(...) nvidia-modeset.ko(...)\"."

static bool check_loaded(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *driver = is_known(node->driver.version) ? node->driver.version.value : NULL;

	for (size_t i = 0; driver && i < SIBLINGS; i++) {
		const struct module *m = node_module(node, siblings[i]);

		if (!m || !is_known(m->version) || str_is(m->version, driver))
			continue;
		FAIL(ctx, .subject = siblings[i],
		     .observed = text_printf(ctx, "%s is loaded beside nvidia %s", m->version.value,
					     driver),
		     .expected = "all of one version",
		     .impact = strcmp(siblings[i], "nvidia_uvm") == 0 ? IMPACT_UVM : IMPACT_OTHERS,
		     .remedy = "Reboot, which loads all modules from disk.",
		     .action = ACTION_REBOOT, .activation = ACTIVATION_REBOOT,
		     .evidence = { fact_path(ctx->arena, "modules.loaded", siblings[i], "version"),
				   "driver.version" });
	}
	return driver != NULL;
}

/* Both halves of an update are there: the libraries say which version is meant. */
static const char *file_remedy(struct rule_context *ctx)
{
	struct driver_libraries found = driver_libraries(ctx->node);
	const struct software_item *library = found.other ? found.other : found.same;

	if (!library || !is_known(library->version))
		return NULL;
	return text_printf(
		ctx,
		"Build and install all NVIDIA modules as version %s, the version of %s: modules "
		"and libraries work only together.",
		library->version.value, library->name.value);
}

static const char *file_command(struct rule_context *ctx, const char *release)
{
	struct driver_libraries found = driver_libraries(ctx->node);
	const struct software_item *library = found.other ? found.other : found.same;

	return library && is_known(library->version)
		       ? shell_dkms_install(ctx->arena, ctx->node, library->version.value, release)
		       : NULL;
}

static void fail_file(struct rule_context *ctx, const struct module_file *nvidia,
		      const struct module_file *file)
{
	struct driver_libraries found = driver_libraries(ctx->node);
	const struct software_item *library = found.other ? found.other : found.same;

	FAIL(ctx, .subject = file->name.value,
	     .observed = text_printf(ctx, "%s on disk for kernel %s, beside nvidia %s%s",
				     file->version.value, file->kernel.value, nvidia->version.value,
				     library && is_known(library->version)
					     ? text_printf(ctx, "; %s is %s", library->name.value,
							   library->version.value)
					     : ""),
	     .expected = "all of one version", .remedy = file_remedy(ctx),
	     .command = file_command(ctx, file->kernel.value), .then = THEN_INITRAMFS | THEN_REBOOT,
	     .evidence = { fact_path(ctx->arena, "modules.files", file->path.value, "version"),
			   fact_path(ctx->arena, "modules.files", nvidia->path.value, "version") });
}

/* The files that modprobe would take for kernel RELEASE. Returns true if nvidia is among them, with its version. */
static bool check_files(struct rule_context *ctx, const char *release)
{
	const struct module_file *nvidia = module_file_find(ctx->node, "nvidia", release);

	if (!nvidia || !is_known(nvidia->version))
		return false;
	for (size_t i = 0; i < SIBLINGS; i++) {
		const struct module_file *file = module_file_find(ctx->node, siblings[i], release);

		/* Debian's alternatives choose one of several drivers, which lie beside each other. */
		if (file && is_known(file->version) &&
		    !str_is(file->version, nvidia->version.value) &&
		    !rule_has_answered(ctx, siblings[i]))
			fail_file(ctx, nvidia, file);
	}
	return true;
}

/* The file of one of them, of a kernel that counts, whose version was not read; or NULL. */
static const struct module_file *unread_file(const struct node *node)
{
	for_each(file, &node->modules.files) {
		bool ours = str_is(file->name, "nvidia");

		for (size_t i = 0; i < SIBLINGS; i++)
			ours |= str_is(file->name, siblings[i]);
		if (ours && is_unknown(file->version) &&
		    (str_is(file->kernel, node->os.kernel.value) ||
		     (is_known(node->boot.next_kernel) &&
		      str_is(file->kernel, node->boot.next_kernel.value))))
			return file;
	}
	return NULL;
}

static void check_versions(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct fact_str *next = &node->boot.next_kernel;
	const struct module_file *unread;
	size_t before = ctx->findings->count;
	bool seen;

	if (skip_unless_for_gpus(ctx) || skip_unless_modules_count(ctx) ||
	    skip_without_module_files(ctx))
		return;
	seen = check_loaded(ctx);
	seen |= check_files(ctx, node->os.kernel.value);
	if (is_known(*next) && !str_is(*next, node->os.kernel.value))
		seen |= check_files(ctx, next->value);
	if (ctx->findings->count > before)
		return;
	unread = unread_file(node);
	if (unread)
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "modules.files",
						     unread->path.value, "version") });
	else if (seen)
		PASS(ctx, .evidence = { "modules.files", "modules.loaded" });
	else if (is_unknown(node->driver.version))
		UNKNOWN(ctx, .evidence = { "driver.version" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NVIDIA module is loaded or on disk",
			       .evidence = { "modules.files" });
}

static const struct rule modules_nvidia_versions_rules[] = {
	{
		.id = "modules/nvidia-versions-differ",
		.title = "A part of the driver does not load: NVIDIA's modules are of two versions",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_versions,
		.impact = IMPACT_OTHERS " " IMPACT_UVM,
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = "Build and install all NVIDIA modules of one driver version again.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The versions of nvidia, nvidia_modeset, nvidia_drm and nvidia_uvm: of those that are "
			"loaded, and of the files that modprobe finds for the running kernel and for the one that boots "
			"next.",
		.why = "The modules of one driver are built together and exchange structures without a stable layout. An "
		       "interrupted update, two packages of the driver, or a module that was copied by hand leave two "
		       "versions. A module without a version is passed over. modules/peermem-version compares nvidia_peermem.",
		.check = "modinfo -F version nvidia nvidia-modeset nvidia-drm nvidia-uvm; cat "
			 "/sys/module/nvidia*/version",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-modeset/nvidia-modeset-linux.c "
			"(\"Version mismatch\"), kernel-open/nvidia-drm/nvidia-drm.c, kernel-open/nvidia-uvm/uvm.c\n"
			"github.com/void-linux/void-packages issue 4473",
	},
};

RULE_TABLE(modules_nvidia_versions);
