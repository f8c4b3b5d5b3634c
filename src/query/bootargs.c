/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/bootargs.h"

#include <string.h>

#include "base/array.h"
#include "parse/modname.h"

struct bootargs bootargs_of(const char *text)
{
	return (struct bootargs){ .iter = { .text = span_of(text) } };
}

bool bootargs_next(struct bootargs *args, struct kparam *arg)
{
	return kparam_next(&args->iter, arg) && !kparam_is_end(arg);
}

/* Is VALUE one of the comma-separated values of ARG? An argument without one has the value "". */
static bool has_value(const struct kparam *arg, const char *value)
{
	struct span rest = arg->value, word;

	if (!arg->has_value || !rest.n)
		return !*value;
	while (span_cut(&rest, ',', &word))
		if (span_is(word, value))
			return true;
	return false;
}

bool bootargs_find(const char *text, const char *name, const char *value)
{
	struct bootargs args = bootargs_of(text);
	struct kparam arg;

	while (bootargs_next(&args, &arg))
		if (kparam_name_is(arg.name, name) && (!value || has_value(&arg, value)))
			return true;
	return false;
}

static bool is_same(const struct kparam *a, const struct kparam *b)
{
	char name[256];

	if (a->name.n >= sizeof(name) || a->has_value != b->has_value || a->value.n != b->value.n ||
	    (a->value.n && memcmp(a->value.p, b->value.p, a->value.n) != 0))
		return false;
	memcpy(name, a->name.p, a->name.n);
	name[a->name.n] = '\0';
	return kparam_name_is(b->name, name);
}

/* Linux: Documentation/admin-guide/kernel-parameters.txt; dracut.cmdline(7); modprobe(8).
 * Parameters of modules are written nvidia.NVreg_..., and the module's name identifies them. */
bool bootargs_is_ours(const struct kparam *arg)
{
	static const char *const names[] = {
		"iommu",
		"intel_iommu",
		"amd_iommu",
		"iommu.passthrough",
		"iommu.strict",
		"iommu.forcedac",
		"pci",
		"pcie_acs_override",
		"pcie_aspm",
		"pcie_ports",
		"module_blacklist",
		"modprobe.blacklist",
		"rd.driver.blacklist",
		"rd.driver.pre",
		"modules_load",
		"module.sig_enforce",
		"lockdown",
		"hugepages",
		"hugepagesz",
		"default_hugepagesz",
		"transparent_hugepage",
		"numa_balancing",
		"init_on_alloc",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (kparam_name_is(arg->name, names[i]))
			return true;
	return span_find(arg->name, '.') < arg->name.n && modname_is_ours(arg->name);
}

bool bootargs_begins_as_ours(struct span argument)
{
	static const char *const starts[] = {
		"iommu",
		"intel_iommu",
		"amd_iommu",
		"arm-smmu",
		"pci",
		"pcie_",
		"nvidia",
		"nouveau",
		"mlx5",
		"hugepage",
		"numa_b",
		"module_blacklist",
		"default_hugepagesz",
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(argument, starts[i]))
			return true;
	return false;
}

bool bootargs_holds(const char *text, const struct kparam *arg)
{
	struct bootargs args = bootargs_of(text);
	struct kparam other;

	while (bootargs_next(&args, &other))
		if (is_same(arg, &other))
			return true;
	return false;
}

/* arch/x86/kernel/pci-dma.c iommu_setup(), drivers/iommu/iommu.c iommu_set_def_domain_type(): the
 * last one counts. iommu.passthrough=0 after iommu=pt takes it back. */
const char *bootargs_passthrough(const char *text)
{
	struct bootargs args = bootargs_of(text);
	const char *wanted = NULL;
	struct kparam arg;

	while (bootargs_next(&args, &arg)) {
		if (kparam_name_is(arg.name, "iommu")) {
			if (has_value(&arg, "pt"))
				wanted = "iommu=pt";
			else if (has_value(&arg, "nopt"))
				wanted = NULL;
		} else if (kparam_name_is(arg.name, "iommu.passthrough") && arg.value.n) {
			wanted = strchr("1yYtT", *arg.value.p) ? "iommu.passthrough=1" : NULL;
		}
	}
	return wanted;
}

const char *bootargs_staged(const struct node *node)
{
	const struct cmdline_text *staged = &node->cmdline.staged;

	return is_known(staged->text) ? staged->text.value : NULL;
}
