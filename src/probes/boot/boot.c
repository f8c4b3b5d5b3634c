/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot.c - the boot loader, its menu, and what it starts next time: kernel, initramfs and command
 * line. Also whether the distribution asks for a reboot. */
#include <string.h>

#include "base/array.h"
#include "probes/boot/boot-find.h"

/* The loader that started this system may have said its name (GRUB does since 2.12). Without that,
 * a grub.cfg decides: where GRUB is installed, an EFI partition often has the other's folders too.
 */
static void read_menu(struct probe_context *ctx)
{
	/* Files of a boot loader. Without any of them the kernel was started directly. */
	static const char *const traces[] = { "/boot/grub", "/boot/grub2", "/boot/loader",
					      "/etc/default/grub" };
	const char *info = boot_loader_variable(ctx, "LoaderInfo");
	bool systemd = info && starts_with(info, "systemd-boot");
	struct host_stat stat;
	int rc;

	if (!systemd && boot_read_grub(ctx))
		return;
	if (boot_read_systemd(ctx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		rc = host_stat(ctx->host, &stat, "%s", traces[i]);
		if (rc == 0)
			host_gap_note(ctx->host, traces[i], -ENODATA,
				      "there, and no boot loader's menu");
		if (rc != -ENOENT)
			return;
	}
	ctx->node->boot.loader.state = FACT_ABSENT;
	ctx->node->boot.entries.state = FACT_KNOWN;
}

/* Debian and Ubuntu: update-notifier-common and others make the file (also named /var/run, which is
 * the same folder wherever systemd runs); SUSE: libzypp's plugin. Elsewhere this is not recorded,
 * and a missing file means nothing. */
static void read_reboot_required(struct probe_context *ctx)
{
	static const char *const files[] = { "/run/reboot-required", "/run/reboot-needed" };
	static const char *const users[] = { "/var/lib/dpkg/status", "/etc/zypp/zypp.conf" };
	struct fact_bool *fact = &ctx->node->boot.reboot_required;
	struct host_stat stat;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int rc = host_stat(ctx->host, &stat, "%s", files[i]);

		if (rc == 0)
			*fact = fact_bool(true);
		if (rc != -ENOENT)
			return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		int rc = host_stat(ctx->host, &stat, "%s", users[i]);

		if (rc == 0)
			*fact = fact_bool(false);
		if (rc != -ENOENT)
			return;
	}
	fact->state = FACT_ABSENT;
}

static void boot_run(struct probe_context *ctx)
{
	if (probe_hides_host(ctx, "/boot"))
		return;
	read_reboot_required(ctx);
	read_menu(ctx);
}

const struct probe probe_boot = {
	.name = "boot",
	.phase = PHASE_SECOND,
	.mounted_image_order = 4,
	PROBE_SECTION(boot),
	.run = boot_run,
};
