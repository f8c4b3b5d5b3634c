/* SPDX-License-Identifier: GPL-2.0-or-later */
/* off-bus.c - functions that the kernel still lists and that no longer answer. */
#include "judge/gate.h"
#include "judge/topology.h"

static bool is_judged(const struct node *node, const struct pci_device *d)
{
	return pci_is_gpu(d) || pci_is_nvswitch(d) || topology_is_nic(node, d);
}

/* The kernel's mlx5 driver no longer heard the NIC's firmware: drivers/net/ethernet/mellanox/mlx5/core/health.c,
 * poll_health(). It may have brought it back since. */
static const struct log_line *lost_firmware(const struct node *node, const struct pci_device *d)
{
	const struct log_line *line = node_log(node, "nic-health");

	for (uint32_t i = 0; line && i < line->devices.count; i++)
		if (str_is(d->bdf, line->devices.items[i]))
			return line;
	return NULL;
}

static void judge_device(struct judge *j, const struct pci_device *d)
{
	const char *fact = say_fact(j, "pci.devices", d->bdf.value, "answers");
	const struct log_line *line = lost_firmware(j->node, d);

	if (known_is(d->answers, true) && line)
		FAIL_AS(j, SEVERITY_ERR, .subject = d->bdf.value, .observed = line->last.value,
			.expected = "firmware that answers the driver",
			.impact = "Jobs over this NIC failed or hung then. The driver resets it and takes it back "
				  "where it can.",
			.evidence = { "log.lines[nic-health].last", "log.lines[nic-health].count", fact });
	else if (known_is(d->answers, true))
		PASS(j, .subject = d->bdf.value, .evidence = { fact });
	else if (known_is(d->answers, false))
		FAIL(j, .subject = d->bdf.value,
		     .observed = "its whole configuration space reads as ones",
		     .expected = "a device that answers",
		     .evidence = { fact, node_log(j->node, "xid-79") ? "log.lines[xid-79].last"
								     : NULL });
	else if (str_is(d->power_state, "D3cold"))
		NOT_APPLICABLE(j, .subject = d->bdf.value, .observed = "powered down (D3cold)",
			       .evidence = { say_fact(j, "pci.devices", d->bdf.value, "power_state") });
	else
		UNKNOWN(j, .subject = d->bdf.value, .evidence = { fact });
}

static void judge_off_bus(struct judge *j)
{
	size_t before = j->findings->count;

	if (!is_told(j->node->pci.devices)) {
		UNKNOWN(j, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &j->node->pci.devices)
		if (is_judged(j->node, d))
			judge_device(j, d);
	if (j->findings->count == before)
		NOT_APPLICABLE(j, .observed = "no GPU, NVSwitch or RDMA NIC on the PCI bus",
			       .evidence = { "pci.devices" });
}

static const struct rule off_bus_rules[] = {
	{
		.id = "pci/device-off-bus",
		.title = "A device has fallen off the bus",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.judge = judge_off_bus,
		.impact = "Whatever uses it hangs or fails; the driver reports Xid 79 for a GPU.",
		.remedy = "Drain the node and power it off and on: a reboot alone often does not bring the "
			  "device back. If it happens again, look at its seating, power, cooling and riser.",
		.activation = ACTIVATION_POWER_CYCLE,
		.reads = "The first registers of every GPU, NVSwitch and RDMA NIC, and \"health compromised\" of "
			 "mlx5_core in the kernel log.",
		.why = "A read that no device answers comes back as all ones. The kernel keeps listing the "
		       "function, so counting devices does not show it.",
		.check = "lspci -s BDF: \"rev ff\"; dmesg | grep -i 'fallen off the bus'",
		.sources = "PCI Express Base Specification 6.0, 2.3.2 (unsupported request)\n"
			   "NVIDIA XID errors, 79: GPU has fallen off the bus\n"
			   "Linux: drivers/net/ethernet/mellanox/mlx5/core/health.c",
	},
};

RULE_TABLE(off_bus);
