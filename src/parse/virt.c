/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt.c - recognises the hypervisor or container by reports of firmware, kernel and init. */
#include "parse/virt.h"

#include <string.h>

#include "base/array.h"

/* systemd src/basic/virt.c, detect_vm_dmi_vendor, and the vendors that are missing there. */
static const struct {
	const char *prefix;
	const char *word;
	bool certain;
} dmi_names[] = {
	{ "KVM", "kvm", true },
	{ "KubeVirt", "kvm", true },
	{ "OpenStack", "kvm", true },
	{ "RHEV Hypervisor", "kvm", true },
	{ "AHV", "kvm", true }, /* Nutanix; its own servers have other products */
	{ "Alibaba Cloud ECS", "kvm", false },
	{ "Cloud Hypervisor", "cloud-hypervisor", true },
	{ "Amazon EC2", "amazon", false },
	{ "QEMU", "qemu", true },
	{ "VMware", "vmware", true },
	{ "VMW", "vmware", true },
	{ "innotek GmbH", "oracle", true },
	{ "VirtualBox", "oracle", true },
	{ "Xen", "xen", true },
	{ "Bochs", "bochs", true },
	{ "Parallels", "parallels", true },
	{ "BHYVE", "bhyve", true },
	{ "Hyper-V", "microsoft", true },
	{ "Apple Virtualization", "apple", true },
	{ "Google Compute Engine", "google", false },
	{ "Microsoft Corporation", "microsoft", false },
};

const char *virt_from_dmi(struct span text, bool *certain)
{
	text = span_trim(text);
	for (size_t i = 0; i < ARRAY_SIZE(dmi_names); i++) {
		if (!span_starts(text, dmi_names[i].prefix))
			continue;
		*certain = dmi_names[i].certain;
		return dmi_names[i].word;
	}
	return NULL;
}

const char *virt_from_clocksource(struct span text)
{
	struct span word;

	while (span_word(&text, &word)) {
		if (span_is(word, "kvm-clock"))
			return "kvm";
		if (span_starts(word, "hyperv_clocksource"))
			return "microsoft";
		if (span_is(word, "xen"))
			return "xen";
	}
	return NULL;
}

const char *virt_from_acpi(struct span table)
{
	enum { OEM_ID = 10, OEM_ID_SIZE = 6 };

	/* firecracker src/vmm/src/acpi/mod.rs */
	if (table.n >= OEM_ID + OEM_ID_SIZE && memcmp(table.p + OEM_ID, "FIRECK", OEM_ID_SIZE) == 0)
		return "firecracker";
	return NULL;
}

const char *virt_from_device_tree(struct span compatible)
{
	if (span_search(compatible, "linux,kvm"))
		return "kvm";
	if (span_search(compatible, "xen"))
		return "xen";
	if (span_search(compatible, "vmware"))
		return "vmware";
	return NULL;
}

/* cloud-init tools/ds-identify: dscheck_Azure, ec2_identify_platform, dscheck_GCE, dscheck_Oracle,
 * dscheck_AliYun, dscheck_OpenStack; systemd src/basic/virt.c for Amazon EC2. */
static const struct {
	enum virt_field field;
	const char *prefix;
	const char *word;
} clouds[] = {
	{ VIRT_VENDOR, "Amazon EC2", "aws" },
	{ VIRT_CHASSIS_TAG, "7783-7084-3265-9085-8269-3286-77", "azure" },
	{ VIRT_PRODUCT, "Google Compute Engine", "google" },
	{ VIRT_CHASSIS_TAG, "OracleCloud.com", "oracle" },
	{ VIRT_PRODUCT, "Alibaba Cloud ECS", "alibaba" },
	{ VIRT_PRODUCT, "OpenStack", "openstack" },
	{ VIRT_CHASSIS_TAG, "OpenStack", "openstack" },
};

const char *cloud_from_dmi(enum virt_field field, struct span text)
{
	text = span_trim(text);
	for (size_t i = 0; i < ARRAY_SIZE(clouds); i++)
		if (clouds[i].field == field && span_starts(text, clouds[i].prefix))
			return clouds[i].word;
	return NULL;
}

const char *container_from_cgroup(struct span text)
{
	/* The most specific comes first: the path of a pod contains its runtime's name as well. */
	static const struct {
		const char *part;
		const char *word;
	} marks[] = {
		{ "/kubepods", "kubernetes" }, { "/docker/", "docker" }, { "/docker-", "docker" },
		{ "/libpod", "podman" },       { "/lxc/", "lxc" },	 { "/lxc.payload", "lxc" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (span_search(text, marks[i].part))
			return marks[i].word;
	return NULL;
}
