/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-verbs.c - what libibverbs and sysfs report about one device (rule rdma/verbs-disagree). */
#include "evaluate/skip.h"
#include "query/ports.h"

static void check_open(struct rule_context *ctx, const struct rdma_device *d)
{
	const char *fact = fact_path(ctx->arena, "rdma.devices", d->name.value, "open_error");

	/* rdma/userspace-provider-missing reports one that is not offered. */
	if (known_is(d->offered, false))
		NOT_APPLICABLE(ctx, .subject = d->name.value,
			       .observed = "libibverbs does not offer the device",
			       .evidence = { fact_path(ctx->arena, "rdma.devices", d->name.value,
						       "offered") });
	else if (is_known(d->open_error))
		FAIL_AS(ctx, SEVERITY_ERR, .subject = d->name.value,
			.observed = text_printf(
				ctx, "sysfs shows the device, and ibv_open_device() fails with %s",
				d->open_error.value),
			.expected = "a device that opens", .evidence = { fact });
	else if (is_absent(d->open_error))
		PASS(ctx, .subject = d->name.value, .evidence = { fact });
	else
		UNKNOWN(ctx, .subject = d->name.value, .evidence = { fact });
}

static void check_state(struct rule_context *ctx, const struct rdma_device *d,
			const struct rdma_port *p)
{
	if (!is_known(p->sysfs_state) || !is_known(p->state))
		return;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = port_name(ctx->arena, d, p),
		.observed = text_printf(ctx, "verbs: %s; sysfs: %s",
					rdma_port_state_words[p->state.value],
					rdma_port_state_words[p->sysfs_state.value]),
		.expected = "one state",
		.impact = "Jobs, which ask verbs, see another state than scripts that read sysfs.",
		.remedy =
			"Look again: a port that comes up or goes down changes between the two reads. If the "
			"answers stay different, /sys is not that of this network or kernel: run this on the "
			"host.",
		.evidence = { port_fact(ctx->arena, d, p, "state"),
			      port_fact(ctx->arena, d, p, "sysfs_state") });
}

static bool skip_without_verbs(struct rule_context *ctx)
{
	const struct rdma_device *first = &ctx->node->rdma.devices.items[0];
	const char *fact;

	for_each(d, &ctx->node->rdma.devices)
		if (was_read(d->open_error) || is_known(d->offered))
			return false;
	fact = fact_path(ctx->arena, "rdma.devices", first->name.value, "offered");
	if (is_absent(first->offered))
		NOT_APPLICABLE(ctx,
			       .observed =
				       "files alone were read: there is no answer of verbs to hold "
				       "against them",
			       .evidence = { fact });
	else
		UNKNOWN(ctx, .evidence = { fact });
	return true;
}

static void check_devices(struct rule_context *ctx)
{
	if (skip_without_rdma_device(ctx) || skip_without_verbs(ctx))
		return;
	for_each(d, &ctx->node->rdma.devices)
		check_open(ctx, d);
	for_each_port(d, p, ctx->node)
		check_state(ctx, d, p);
}

static const struct rule rdma_verbs_rules[] = {
	{
		.id = "rdma/verbs-disagree",
		.title = "Jobs cannot use an RDMA device: libibverbs does not show it as the "
			 "kernel does",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_devices,
		.impact = "NCCL, UCX and NVSHMEM leave the device out, or fail.",
		.remedy =
			"Look for the device's name in the kernel log. Update the user-space driver of its maker "
			"(rdma-core or OFED), and check /dev/infiniband and the container's device rules.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"On a live host: libibverbs's answers for each device of /sys/class/infiniband.",
		.why = "Jobs open devices through libibverbs, which asks the kernel's driver. sysfs can show a device that "
		       "does not open: its driver restarts, the provider is of another release, or the device was "
		       "given to another network namespace. A missing right (EACCES, EPERM) is no finding here. A port "
		       "whose state differs is a warning. The rule compares two answers of a running host. In files that were "
		       "copied from one there is one answer, so the rule does not apply; a capture of a running host has "
		       "both.",
		.check = "ibv_devinfo; grep . /sys/class/infiniband/*/ports/*/state",
		.sources =
			"rdma-core 64: libibverbs/device.c (ibv_open_device), libibverbs/man/ibv_query_port.3\n"
			"Linux 6.12.117: drivers/infiniband/core/sysfs.c (state_show)",
	},
};

RULE_TABLE(rdma_verbs);
