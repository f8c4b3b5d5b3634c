/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot.c - lines and files of modprobe.d, and the copy of modprobe.d in the initramfs. */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/kparam.h"
#include "query/bootargs.h"
#include "query/distribution.h"
#include "query/registry-keys.h"
#include "query/setting.h"

/* ---- the initramfs ---- */

static const char *initramfs_fact(struct rule_context *ctx, const struct initramfs_image *image,
				  const char *field)
{
	return fact_path(ctx->arena, "initramfs.images", image->path.value, field);
}

static bool is_about_gpus(const char *module)
{
	static const char *const names[] = { "nvidia", "nouveau", "nv_peer_mem", "gdrdrv" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (starts_with(module, names[i]))
			return true;
	return false;
}

static bool counts_in_initramfs(const struct modprobe_assignment *a)
{
	return known_is(a->effective, true) && is_about_gpus(a->module.value) &&
	       !str_is(a->file, "/proc/cmdline");
}

/* FIRST, and how many more the image lacks. */
static const char *lacking_text(struct rule_context *ctx, const struct modprobe_facts *disk,
				const struct modprobe_facts *image,
				const struct modprobe_assignment *first)
{
	size_t more = 0;

	for_each(a, &disk->assignments)
		more += a != first && counts_in_initramfs(a) &&
			!setting_assignment(image, a->module.value, a->param.value);
	return text_printf(ctx,
			   more ? "the image lacks %s=\"%s\" and %zu more option%s"
				: "the image lacks %s=\"%s\"",
			   first->param.value, is_known(first->value) ? first->value.value : "",
			   more, more == 1 ? "" : "s");
}

/* A value of a GPU module's option that differs between DISK and IMAGE; IS_REGISTRY: of NVreg_RegistryDwords. In a DISK that was not read whole, an
 * unread file can give the value of the image. */
static const char *differing_option(struct rule_context *ctx, const struct modprobe_facts *disk,
				    const struct modprobe_facts *image, bool *is_registry)
{
	for_each(a, &disk->assignments) {
		const struct modprobe_assignment *b;

		if (!counts_in_initramfs(a))
			continue;
		b = setting_assignment(image, a->module.value, a->param.value);
		if (!b)
			return lacking_text(ctx, disk, image, a);
		if (is_known(a->value) && !str_is(b->value, a->value.value) &&
		    (known_is(disk->complete, true) || str_is(b->file, a->file.value))) {
			*is_registry = str_is(a->param, "NVreg_RegistryDwords");
			return text_printf(ctx, "%s is \"%s\" in the image and \"%s\" on disk",
					   a->param.value, is_known(b->value) ? b->value.value : "",
					   a->value.value);
		}
	}
	if (!known_is(disk->complete, true))
		return NULL;
	for_each(b, &image->assignments)
		if (counts_in_initramfs(b) &&
		    !setting_assignment(disk, b->module.value, b->param.value))
			return text_printf(
				ctx, "the image has %s=\"%s\", which is no longer on disk",
				b->param.value, is_known(b->value) ? b->value.value : "");
	return NULL;
}

/* Only lines of files: a word of the command line of this boot may be gone at the next. */
static bool blocks(const struct modprobe_facts *modprobe, const char *module)
{
	for_each(b, &modprobe->blacklist)
		if (is_absent(b->text) && str_is(b->module, module))
			return true;
	for_each(i, &modprobe->install)
		if (str_is(i->module, module) &&
		    (strstr(i->text.value, "/false") || strstr(i->text.value, "/true")))
			return true;
	return false;
}

/* A word of the next boot's command line counts in the initramfs too. Where that is not known, this boot's does. */
static bool is_blocked_by_argument(const struct node *node, const char *module)
{
	static const char *const words[] = { "modprobe.blacklist", "module_blacklist",
					     "rd.driver.blacklist" };
	const char *next = bootargs_staged(node);

	for (size_t i = 0; next && i < ARRAY_SIZE(words); i++)
		if (bootargs_find(next, words[i], module))
			return true;
	if (next)
		return false;
	for_each(b, &node->modprobe.blacklist)
		if (is_known(b->text) && str_is(b->module, module))
			return true;
	return false;
}

static const char *differing_block(struct rule_context *ctx, const struct node *node,
				   const struct initramfs_image *image)
{
	for_each(m, &image->modules)
		if (is_about_gpus(m->name.value) && blocks(&node->modprobe, m->name.value) &&
		    !is_blocked_by_argument(node, m->name.value) &&
		    !blocks(&image->modprobe, m->name.value))
			return text_printf(
				ctx, "the image has %s and lacks the blacklist that is on disk",
				m->name.value);
	return NULL;
}

/* An nvidia.ko of another version than the one on disk for the same kernel. */
static const char *differing_version(struct rule_context *ctx, const struct node *node,
				     const struct initramfs_image *image)
{
	for_each(m, &image->modules) {
		if (!is_known(m->version) || !is_about_gpus(m->name.value))
			continue;
		for_each(f, &node->modules.files)
			if (known_is(f->indexed, true) && is_known(f->file_name) &&
			    str_is(m->name, f->file_name.value) && is_known(image->kernel) &&
			    str_is(f->kernel, image->kernel.value) && is_known(f->version) &&
			    strcmp(f->version.value, m->version.value) != 0)
				return text_printf(ctx, "the image has %s %s, the disk has %s",
						   m->name.value, m->version.value,
						   f->version.value);
	}
	return NULL;
}

static bool has_gpu_module(const struct initramfs_image *image)
{
	for_each(m, &image->modules)
		if (is_about_gpus(m->name.value))
			return true;
	return false;
}

static const char *newer_file(const struct node *node, const struct initramfs_image *image)
{
	for_each(f, &node->modprobe.files)
		if (is_known(f->mtime_s) && is_known(image->mtime_s) &&
		    f->mtime_s.value > image->mtime_s.value && !is_known(f->masked_by))
			for_each(o, &node->modprobe.options)
				if (str_is(o->file, f->path.value) &&
				    is_about_gpus(o->module.value))
					return f->path.value;
	return NULL;
}

/* The options on disk are corrected first, and the image is built again with that. */
static const char *cause_of(struct rule_context *ctx, bool is_registry)
{
	return is_registry && registry_merge(ctx->node, ctx->arena).missing
		       ? "driver/registrydwords-duplicated"
		       : NULL;
}

static void check_image(struct rule_context *ctx, const struct initramfs_image *image)
{
	const struct node *node = ctx->node;
	const char *subject = image->path.value;
	const char *stale = NULL, *newer;
	const char *rebuild = is_known(image->kernel) ? shell_rebuild_initramfs(ctx->arena, node,
										image->kernel.value)
						      : NULL;
	bool read = was_read(image->modprobe.assignments) && was_read(image->modprobe.blacklist);
	bool complete = read && known_is(image->complete, true), is_registry = false;

	if (has_gpu_module(image)) {
		stale = differing_version(ctx, node, image);
		if (!stale && read)
			stale = differing_block(ctx, node, image);
		if (!stale && complete)
			stale = differing_option(ctx, &node->modprobe, &image->modprobe,
						 &is_registry);
	}
	newer = newer_file(node, image);
	if (stale)
		FAIL(ctx, .subject = subject, .observed = stale, .expected = "the same as on disk",
		     .command = rebuild, .follows = cause_of(ctx, is_registry),
		     .evidence = { initramfs_fact(ctx, image, "modules"),
				   initramfs_fact(ctx, image, "modprobe.assignments"),
				   "modprobe.assignments" });
	else if (!complete && newer)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = subject,
			.observed = text_printf(
				ctx, "the image could not be read completely, and %s is newer",
				newer),
			.expected = "an image that was built after the last change",
			.command = rebuild,
			.evidence = { initramfs_fact(ctx, image, "problem"),
				      initramfs_fact(ctx, image, "mtime_s") });
	else if (!complete)
		UNKNOWN(ctx, .subject = subject,
			.observed = is_known(image->problem) ? image->problem.value : NULL,
			.evidence = { initramfs_fact(ctx, image, "complete") });
	else if (has_gpu_module(image) && !known_is(node->modprobe.complete, true))
		UNKNOWN(ctx, .subject = subject, .evidence = { "modprobe.complete" });
	else
		PASS(ctx, .subject = subject,
		     .observed = has_gpu_module(image)
					 ? "the image has the modprobe.d and modules of the disk"
					 : "the image has no GPU module",
		     .evidence = { initramfs_fact(ctx, image, "modules") });
}

static void check_stale(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_modprobe(ctx))
		return;
	if (!was_read(node->initramfs.images)) {
		UNKNOWN(ctx, .evidence = { "initramfs.images" });
		return;
	}
	if (node->initramfs.images.count == 0 && is_known(node->boot.next_initrd)) {
		UNKNOWN(ctx, .evidence = { "initramfs.images", "boot.next_initrd" });
		return;
	}
	if (node->initramfs.images.count == 0) {
		NOT_APPLICABLE(ctx, .observed = "this node boots without an initramfs",
			       .evidence = { "initramfs.images" });
		return;
	}
	for_each(image, &node->initramfs.images)
		check_image(ctx, image);
}

/* ---- modprobe.d ---- */

static void check_shadowed(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_modprobe(ctx))
		return;
	for_each(f, &ctx->node->modprobe.files) {
		if (!is_known(f->masked_by) || (was_read(f->lost) && f->lost.count == 0))
			continue;
		if (!was_read(f->lost)) {
			UNKNOWN(ctx, .subject = f->path.value,
				.evidence = { fact_path(ctx->arena, "modprobe.files", f->path.value,
							"lost") });
			continue;
		}
		FAIL(ctx, .subject = f->path.value,
		     .observed = text_printf(ctx, "modprobe reads %s instead, which lacks: %s",
					     f->masked_by.value, f->lost.items[0]),
		     .expected = "files with different names",
		     .evidence = {
			     fact_path(ctx->arena, "modprobe.files", f->path.value, "masked_by"),
			     fact_path(ctx->arena, "modprobe.files", f->path.value, "lost") });
	}
	if (ctx->findings->count == before && !skip_unless_modprobe_whole(ctx))
		PASS(ctx, .evidence = { "modprobe.files" });
}

/* An ignored line is an error if it is about GPU or RDMA modules. */
static bool is_ours(const char *text)
{
	static const char *const words[] = { "nvidia", "NVreg", "nouveau", "peer",
					     "gdrdrv", "mlx",	"ib_" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/* systemd takes each line as the name of one module (modules-load.d(5)). */
static void check_load_lines(struct rule_context *ctx)
{
	for_each(m, &ctx->node->modules.at_boot) {
		if (!strpbrk(m->name.value, " \t") || !is_ours(m->name.value))
			continue;
		FAIL(ctx,
		     .subject = text_printf(ctx, "%s:%llu", m->file.value,
					    (unsigned long long)m->line.value),
		     .observed = text_printf(
			     ctx,
			     "this is no module name; options are not read in this file: %.80s",
			     m->name.value),
		     .expected = "only the name of a module; options in modprobe.d",
		     .remedy =
			     "If modprobe.d sets the same option, delete the line. Otherwise move it "
			     "to a file in /etc/modprobe.d whose name ends in .conf.",
		     .evidence = { ITEM_FACT(ctx->arena, ctx->node, modules.at_boot, m, name) });
	}
}

static void check_syntax(struct rule_context *ctx)
{
	const struct modprobe_facts *modprobe = &ctx->node->modprobe;
	size_t before = ctx->findings->count;

	check_load_lines(ctx);
	if (skip_without_modprobe(ctx))
		return;
	for_each(b, &modprobe->bad_lines) {
		bool ours = is_ours(b->text.value) || is_ours(b->file.value);
		bool whole = !is_known(b->line) || b->line.value == 0; /* the file itself */

		FAIL_AS(ctx, ours ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = whole ? b->file.value
					 : text_printf(ctx, "%s:%llu", b->file.value,
						       (unsigned long long)b->line.value),
			.observed = whole ? b->why.value
					  : text_printf(ctx, "%s: %.80s", b->why.value,
							b->text.value),
			.expected = whole ? "a file that modprobe reads"
					  : "a line that modprobe understands",
			.remedy =
				whole ? text_printf(
						ctx,
						"Give %s a name that ends in .conf, or remove it.",
						b->file.value)
				      : text_printf(ctx, "Correct line %llu of %s.",
						    (unsigned long long)b->line.value,
						    b->file.value),
			.evidence = {
				ITEM_FACT(ctx->arena, ctx->node, modprobe.bad_lines, b, why) });
	}
	if (ctx->findings->count == before && !skip_unless_modprobe_whole(ctx))
		PASS(ctx, .evidence = { "modprobe.bad_lines" });
}

/* ---- names that no module has ---- */

static bool leads_somewhere(const struct node *node, const char *name)
{
	if (node_module(node, name))
		return true;
	for_each(f, &node->modules.files)
		if ((is_known(f->file_name) && kparam_name_is(span_of(f->file_name.value), name)) ||
		    (is_known(f->name) && kparam_name_is(span_of(f->name.value), name)))
			return true;
	for_each(a, &node->modprobe.alias)
		if (str_is(a->module, name) || kparam_name_is(span_of(a->text.value), name))
			return true;
	for_each(i, &node->modprobe.install)
		if (str_is(i->module, name))
			return true;
	return false;
}

/* Only nvidia.ko has NVreg_ options. Its sisters, such as nvidia_drm, ignore them. */
static bool is_sister(const struct node *node, const char *name)
{
	for_each(f, &node->modules.files)
		if (is_known(f->name) && starts_with(f->name.value, "nvidia_") &&
		    kparam_name_is(span_of(f->name.value), name))
			return !setting_is_nvidia(node, name);
	return false;
}

/* Only names of NVIDIA's modules: the facts do not list all others. */
static void check_wrong_name(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count, seen = 0;
	bool files = was_read(node->modules.files) && node->modules.files.count;

	if (skip_without_modprobe(ctx))
		return;
	for_each(o, &node->modprobe.options) {
		if (!starts_with(o->module.value, "nvidia") && !strstr(o->text.value, "NVreg_"))
			continue;
		seen++;
		/* The lines of one module are one answer. */
		if (rule_has_answered(ctx, o->module.value))
			continue;
		if (strstr(o->text.value, "NVreg_") && is_sister(node, o->module.value))
			FAIL(ctx, .subject = o->module.value,
			     .observed = text_printf(
				     ctx,
				     "only nvidia has options that begin with NVreg_; %s ignores them",
				     o->module.value),
			     .expected = "options nvidia NVreg_...",
			     .evidence = {
				     ITEM_FACT(ctx->arena, node, modprobe.options, o, text) });
		if (leads_somewhere(node, o->module.value))
			continue;
		/* An alias or install line that was not read may lead somewhere. */
		if (!files || !known_is(node->modprobe.complete, true))
			UNKNOWN(ctx, .subject = o->module.value,
				.evidence = { files ? "modprobe.complete" : "modules.files" });
		else
			FAIL(ctx, .subject = o->module.value,
			     .observed = "no module, alias or install line has this name",
			     .expected = "the name of a module that is installed",
			     .evidence = {
				     ITEM_FACT(ctx->arena, node, modprobe.options, o, module) });
	}
	if (ctx->findings->count > before || skip_unless_modprobe_whole(ctx))
		return;
	if (seen)
		PASS(ctx, .evidence = { "modprobe.options" });
	else
		NOT_APPLICABLE(ctx, .observed = "no option of an NVIDIA module is configured",
			       .evidence = { "modprobe.options" });
}

static const struct rule boot_rules[] = {
	{
		.id = "boot/initramfs-stale",
		.title = "The next boot uses old GPU settings: the initramfs is out of date",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_stale,
		.impact =
			"The next boot loads the GPU driver with old options, an old version of it, or nouveau.",
		.then = THEN_REBOOT,
		.remedy = "Rebuild the initramfs.",
		.fix = { "rebuild-initramfs" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Modules, modprobe.d files and their options in the image of the running kernel and of the one that boots "
			"next, and those on the root file system.",
		.why = "A module that the initramfs loads gets the options of the initramfs. An image without GPU modules is not "
		       "stale, whatever options it has. dracut with hostonly=no does not copy /etc/modprobe.d: name the file "
		       "in install_items in /etc/dracut.conf.d.",
		.check =
			"lsinitramfs /boot/initrd.img-$(uname -r) | grep -E 'nvidia|nouveau|modprobe.d'",
		.cost = "A minute, and room in /boot.",
		.sources = "DeepEP 2.1.0: docs/nvshmem.md\n"
			   "dracut-ng 111: modules.d/80base/module-setup.sh\n"
			   "github.com/gpudirect/libgdsync issue 58\n"
			   "github.com/dracut-ng/dracut issue 674",
	},
	{
		.id = "boot/modprobe-conf-shadowed",
		.title = "modprobe ignores a file: another file of the same name hides it",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_shadowed,
		.impact =
			"The lines of the hidden file are not in effect, such as a nouveau blacklist or driver options.",
		.remedy = "Rename the file in /etc/modprobe.d, for example to zz-local.conf.",
		.fix = { "unmask-file" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Files of the same name in the modprobe.d folders of /etc, /run, /usr/local/lib, /usr/lib and /lib, and "
			"their lines about GPU and RDMA modules.",
		.why = "Of files with one name modprobe reads only the one in the first of these folders. kmod before 32 has no folder "
		       "/usr/lib of its own, and reads it as /lib where that is a link to /usr/lib. "
		       "/etc/modprobe.d/nvidia.conf hides the file of that name from NVIDIA's packages in /usr/lib.",
		.check = "ls /etc/modprobe.d /usr/lib/modprobe.d | sort | uniq -d",
		.sources =
			"kmod 30, 31, 32 and 34: libkmod/libkmod.c (default_config_paths), modprobe.d(5)\ngithub.com/negativo17/nvidia-driver issue 73",
	},
	{
		.id = "boot/modprobe-conf-syntax",
		.title = "A setting of modules is ignored: wrong line, file name or folder",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_syntax,
		.impact = "The line has no effect.",
		.remedy = "Correct the line, or give the file a name that ends in .conf.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Every line of modprobe.d, files there whose name does not end in .conf, and option lines in "
			"modules-load.d.",
		.why = "Commands are lower case. A # begins a comment in the first column only. An options line needs a module "
		       "and an option.",
		.check = "modprobe -c > /dev/null",
		.sources = "kmod 30: modprobe.d(5), libkmod/libkmod-config.c",
	},
	{
		.id = "boot/options-wrong-module-name",
		/* Without the driver none of its modules is found. */
		.follows = { "modules/nvidia-not-built-for-kernel", "modules/dkms-failed" },
		.title = "Driver options have no effect: they name another module",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_wrong_name,
		.impact = "The options never reach the driver.",
		.remedy =
			"Write the options for the driver's module: nvidia, or the file's name on Debian: nvidia-current, with the open "
			"modules nvidia-current-open.",
		.fix = { "rename-option-module" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Option lines for NVIDIA's modules, the modules on disk, and alias and install lines.",
		.why = "Distributions rename the modules. On Debian \"options nvidia\" works too: an install line passes it on "
		       "to the module. Only nvidia.ko has NVreg_ parameters; another module logs \"unknown parameter ... "
		       "ignored\".",
		.check = "modprobe -n -v nvidia",
		.sources =
			"kmod 30: libkmod/libkmod-module.c (kmod_module_probe_insert_module: an install line gets the options)\n"
			"Debian 12, nvidia-kernel-support and nvidia-open-kernel-support 535.261.03-1: nvidia-modprobe.conf (install "
			"line, aliases)\n"
			"Linux 6.1.192: kernel/module/main.c (unknown parameter ignored)",
	},
};

RULE_TABLE(boot);
