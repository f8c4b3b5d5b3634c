/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-written.c - udev rules, services and scripts of this node that change PCI functions. */
#include <string.h>

#include "evaluate/references.h"

/* udev(7): ATTR{remove}="1" takes the function off the bus. */
static bool removes(const struct reference *r)
{
	return str_is(r->role, REGISTERS_UDEV) && str_is(r->name, "remove=1");
}

static const char *text_of(struct rule_context *ctx, const struct reference *r)
{
	const char *claim = is_known(r->claim) ? r->claim.value : "";

	if (removes(r))
		return text_printf(ctx, "%s takes all functions of vendor %s off the bus",
				   reference_place(ctx->arena, r), claim);
	if (str_is(r->role, REGISTERS_UDEV))
		return text_printf(ctx, "%s writes %s to functions of vendor %s",
				   reference_place(ctx->arena, r), r->name.value, claim);
	return text_printf(ctx, "%s runs setpci%s%s %s", reference_place(ctx->arena, r),
			   *claim ? " " : "", claim, r->name.value);
}

static void check_file(struct rule_context *ctx, const struct reference_file *file)
{
	const struct reference *r = NULL, *first = NULL, *remove = NULL;
	struct arena_list all = { 0 };

	while ((r = reference_next(ctx->node, REFERENCE_REGISTERS, file->path.value, r))) {
		first = first ? first : r;
		remove = removes(r) ? r : remove;
		arena_list(&all, ctx->arena, text_of(ctx, r));
	}
	if (remove)
		FAIL(ctx, .subject = file->path.value, .observed = text_of(ctx, remove),
		     .expected = "no such rule where jobs use GPUs",
		     .evidence = { reference_fact(ctx->arena, ctx->node, remove, "name") });
	else if (first)
		NOTE(ctx, .subject = file->path.value, .observed = arena_listed(&all),
		     .impact =
			     "The functions do not have the values of the firmware and the kernel.",
		     .evidence = { reference_fact(ctx->arena, ctx->node, first, "name") });
	else
		references_pass(ctx, file);
}

static void check_written(struct rule_context *ctx)
{
	const struct references_facts *all = &ctx->node->references;
	size_t before = ctx->findings->count;

	for_each(file, &all->files)
		if (known_is(file->format, REFERENCE_REGISTERS))
			check_file(ctx, file);
	if (ctx->findings->count > before)
		return;
	if (!known_is(all->complete, true) || !was_read(all->files))
		UNKNOWN(ctx, .evidence = { "references.complete" });
	else
		PASS(ctx, .evidence = { "references.files" });
}

static const struct rule pci_written_rules[] = {
	{
		.id = "pci/changed-by-file",
		.title =
			"A udev rule takes GPUs or NICs off the bus, or a file changes their registers",
		.is_reason_name = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_written,
		.impact =
			"The GPUs or NICs are gone as soon as the rule runs: no driver, no device file.",
		.then = THEN_REBOOT,
		.remedy = "Remove the rule.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"setpci in udev rules, services, rc.local, init.d, /usr/lib/udev, /usr/local/bin and /usr/local/sbin; "
			"ATTR of udev rules for functions of NVIDIA and Mellanox.",
		.why = "What such a file writes at boot looks like a fault of the hardware. Registers that setpci writes are a "
		       "note: ACS and payload sizes are set so on purpose. Tools that switch a laptop's GPU off leave a "
		       "rule with ATTR{remove}.",
		.check =
			"grep -rn -e setpci -e ATTR{remove} /etc/udev/rules.d /etc/systemd/system /usr/local/bin",
		.sources = "udev(7) of systemd 256: ATTR\n"
			   "setpci(8) of pciutils 3.9.0\n"
			   "Linux 6.12.117: Documentation/ABI/testing/sysfs-bus-pci (remove)\n"
			   "github.com/local-inference-lab/rtx6kpro pull 88",
	},
};

RULE_TABLE(pci_written);
