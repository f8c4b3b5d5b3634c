/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-udev.c - do udev rules for GPUs and NICs match the node (rules dev/...)? */
#include "evaluate/references.h"

/* Rules of vendors name programs of packages that need not be installed. */
static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)ctx;
	(void)state;
	return str_starts(r->file, "/etc/") || known_is(r->kind, REFERENCE_FUNCTION)
		       ? SEVERITY_WARN
		       : SEVERITY_INFO;
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_PROGRAM))
		return text_printf(
			ctx,
			"Install the package that has %s. Then run udevadm control --reload and "
			"udevadm trigger.",
			r->name.value);
	return "Write the function's present address (lspci -D) into the rule. Then reload the rules. A device that is "
	       "in use keeps its name: reload its driver, or wait for the next boot.";
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_PROGRAM))
		return "udev does not run the rule's program when the device appears.";
	return text_printf(ctx,
			   "No device is named %s. NCCL_IB_HCA, NCCL_SOCKET_IFNAME and network "
			   "configuration with that name find no NIC, or a different one.",
			   r->claim.value);
}

static void check_rules(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_UDEV,
		.none = "no udev rule for GPUs or NICs",
		.expected = "programs and PCI functions that this node has",
		.grade = grade,
		.remedy = remedy,
		.impact = what_breaks,
	};

	references_check(ctx, &check);
}

static const struct rule dev_udev_rules[] = {
	{
		.id = "dev/udev-rule-stale",
		.title = "A udev rule for GPUs or NICs has no effect",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_rules,
		.impact = "Devices have other names than the configuration uses.",
		.remedy = "Correct the rule, then reload the rules.",
		.command = "sudo udevadm control --reload && sudo udevadm trigger",
		.activation = ACTIVATION_NOW,
		.reads =
			"udev's rules.d: programs in rules about NVIDIA, mlx and RDMA devices; rules that "
			"name the network or RDMA device of a PCI address, by NAME= or rdma_rename; the PCI "
			"functions and the names of their devices.",
		.why = "PCI addresses change when a card moves or the firmware renumbers its buses. A rule "
		       "for an old address never matches, and udev reports nothing. A rule of a vendor's "
		       "package that names an absent program is a note.",
		.check =
			"udevadm test /sys/class/infiniband/mlx5_0; grep -n KERNELS /etc/udev/rules.d/*",
		.sources = "udev(7) of systemd 256\n"
			   "rdma-core 61: kernel-boot/rdma_rename.c, Documentation/udev.md",
	},
};

RULE_TABLE(dev_udev);
