/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-udev.c - whether udev rules about GPUs and NICs fit the node (rules dev/...). */
#include "evaluate/references.h"

/* The vendors' rules name programs of packages that need not be there. */
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
			"Install the package that has %s, or correct the rule; then udevadm "
			"control --reload and udevadm trigger.",
			r->name.value);
	return "Write the address that the function has now (lspci -D) into the rule; then reboot, since "
	       "devices in use are not renamed.";
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_PROGRAM))
		return "What the rule is to do when the device appears is not done.";
	return text_printf(ctx,
			   "No device is named %s: what chooses NICs by that name (NCCL_IB_HCA, "
			   "NCCL_SOCKET_IFNAME, network configuration) finds none or another one.",
			   r->claim.value);
}

static void check_rules(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_UDEV,
		.none = "no udev rule is about GPUs or NICs",
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
		.title = "A udev rule about GPUs or NICs does not do what it says",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_rules,
		.impact = "Devices have other names than the configuration expects.",
		.remedy = "Correct the rule, then udevadm control --reload and udevadm trigger.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"udev's rules.d: programs of rules about NVIDIA, mlx and RDMA devices; rules that name the "
			"network or RDMA device of a PCI address, by NAME= or rdma_rename; the PCI functions and the "
			"names that their devices have.",
		.why = "PCI addresses change when a card is moved or the firmware numbers its buses anew. A rule for "
		       "the old address is silent. A rule of a vendor's package that names an absent program is a "
		       "note: the package that has it may not be wanted here.",
		.check =
			"udevadm test /sys/class/infiniband/mlx5_0; grep -n KERNELS /etc/udev/rules.d/*",
		.sources = "udev(7)\nrdma-core: kernel-boot/rdma_rename.c, Documentation/udev.md",
	},
};

RULE_TABLE(dev_udev);
