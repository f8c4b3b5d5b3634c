/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iommu.c - the IOMMUs that are switched on and the groups that PCI functions are in
 * (Documentation/ABI/testing/sysfs-kernel-iommu_groups, sysfs-class-iommu). The kernel command line
 * does not tell: distributions build with other defaults, and "DMAR: IOMMU enabled" is logged on
 * machines without one.
 */
#include <string.h>

#include "parse/pcie.h"
#include "probes/pci/pci-config.h"
#include "probes/probe.h"
#include "query/pci-device.h"

#define UNITS "/sys/class/iommu"
#define GROUPS "/sys/kernel/iommu_groups"
#define DEVICES "/sys/bus/pci/devices"

static bool is_function(const char *name)
{
	struct pci_address address;

	return pci_address_parse(span_of(name), &address);
}

static void add_device(struct probe_context *ctx, const char *bdf, uint64_t group,
		       struct fact_str type)
{
	struct iommu_device *device = LIST_ADD(ctx->arena, &ctx->node->iommu.devices);

	device->bdf = fact_str(ctx->arena, bdf);
	device->group = fact_u64(group);
	device->type = type;
}

/* 0, also for a group that is gone, or why its functions are not known. */
static int read_group(struct probe_context *ctx, uint64_t group)
{
	_cleanup_names_ struct names names = { 0 };
	struct fact_str type = { 0 };
	int rc = host_list(ctx->host, &names, GROUPS "/%u/devices", (unsigned int)group);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	probe_str(ctx, &type, GROUPS "/%u/type", (unsigned int)group);
	for (size_t i = 0; i < names.count; i++)
		if (is_function(names.items[i]))
			add_device(ctx, names.items[i], group, type);
	return 0;
}

/* 0, or what kept the groups from being known: -ENOENT where there is no such folder, or no more
 * than the folders of the groups. */
static int read_groups(struct probe_context *ctx)
{
	_cleanup_names_ struct names names = { 0 };
	uint64_t group;
	int rc = host_list(ctx->host, &names, GROUPS);

	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (span_u64(span_of(names.items[i]), 10, &group) == 0 && group <= UINT32_MAX)
			rc = read_group(ctx, group);
	return rc == 0 && names.count && !ctx->node->iommu.devices.count ? -ENOENT : rc;
}

/* Returns the type of a group. In a copy the link may lead nowhere: the group exists, but its type was not copied. */
static struct fact_str type_of(struct probe_context *ctx, const char *bdf)
{
	struct host_stat stat;
	struct fact_str type = { 0 };
	int rc = host_stat(ctx->host, &stat, DEVICES "/%s/iommu_group", bdf);

	if (rc == 0)
		probe_str(ctx, &type, DEVICES "/%s/iommu_group/type", bdf);
	else if (rc == -ENOENT)
		host_gap_note(ctx->host, arena_printf(ctx->arena, DEVICES "/%s/iommu_group", bdf),
			      -ENODATA, "leads to a group that is not in this tree");
	return type;
}

/* Trees in which only the devices' own links were copied. */
static int read_links(struct probe_context *ctx)
{
	_cleanup_names_ struct names names = { 0 };
	char name[NAME_MAX + 1];
	uint64_t group;
	int rc = host_list(ctx->host, &names, DEVICES);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (!is_function(names.items[i]))
			continue;
		rc = host_link_name(ctx->host, name, DEVICES "/%s/iommu_group", names.items[i]);
		if (rc == 0 && span_u64(span_of(name), 10, &group) == 0 && group <= UINT32_MAX)
			add_device(ctx, names.items[i], group, type_of(ctx, names.items[i]));
		/* The function is in no group, or a copy turned the link into a folder. */
		if (rc == -ENOENT || rc == -EINVAL)
			rc = 0;
	}
	return rc == -ENOENT ? 0 : rc;
}

static int compare_devices(const void *a, const void *b)
{
	return strcmp(((const struct iommu_device *)a)->bdf.value,
		      ((const struct iommu_device *)b)->bdf.value);
}

static void iommu_run(struct probe_context *ctx)
{
	struct iommu_facts *iommu = &ctx->node->iommu;
	_cleanup_names_ struct names units = { 0 };
	int rc = host_list(ctx->host, &units, UNITS);

	/* A kernel without IOMMU support has no such folder: there is none, as in an empty one. */
	if (rc == 0 || rc == -ENOENT)
		iommu->units.state = FACT_KNOWN;
	for (size_t i = 0; i < units.count; i++)
		*LIST_ADD(ctx->arena, &iommu->units) = fact_str(ctx->arena, units.items[i]).value;
	rc = read_groups(ctx);
	if (rc == -ENOENT)
		rc = read_links(ctx);
	/* The list is known only if all functions were read. */
	iommu->devices.state = rc == 0 ? FACT_KNOWN : FACT_UNKNOWN;
	fact_list_sort(&iommu->devices, sizeof(iommu->devices.items[0]), compare_devices);
}

/* Reads only the few functions that the facts have in preflight, and not their group, which no rule of preflight
 * needs. */
static void iommu_run_preflight(struct probe_context *ctx)
{
	struct iommu_facts *iommu = &ctx->node->iommu;

	if (is_unknown(ctx->node->pci.devices))
		return;
	iommu->devices.state = FACT_KNOWN;
	for_each(d, &ctx->node->pci.devices) {
		const char *bdf = d->bdf.value;
		struct iommu_device *device;
		struct fact_str type = { 0 };
		char target[PATH_MAX];

		if (pci_is_bridge(d) || pci_is_nvswitch(d))
			continue;
		probe_str(ctx, &type, DEVICES "/%s/iommu_group/type", bdf);
		/* There is no group, or the kernel does not report its type. */
		if (is_absent(type) &&
		    host_link(ctx->host, target, DEVICES "/%s/iommu_group", bdf) == -ENOENT)
			continue;
		device = LIST_ADD(ctx->arena, &iommu->devices);
		device->bdf = d->bdf;
		device->type = is_absent(type) ? type_of(ctx, bdf) : type;
	}
}

const struct probe probe_iommu = {
	.name = "iommu",
	.phase = PHASE_ALONE,
	.is_hardware = true,
	PROBE_SECTION(iommu),
	.run = iommu_run,
	.preflight = {
		.run = iommu_run_preflight,
		.phase = PHASE_THIRD,
	},
};
