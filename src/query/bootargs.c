/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bootargs.c - kernel arguments, of the kernel that runs or of a text that the next boot gets. */
#include "query/bootargs.h"

#include <string.h>

#include "base/array.h"
#include "base/text-map.h"
#include "parse/modname.h"

struct bootargs bootargs_of(const char *text)
{
	return (struct bootargs){ .iter = { .text = span_of(text) } };
}

bool bootargs_next(struct bootargs *args, struct kparam *arg)
{
	return kparam_next(&args->iter, arg) && !kparam_is_end(arg);
}

/* Returns true if VALUE is one of the comma-separated values of ARG. An argument without one has the value "". */
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

/* The longest name of an argument that is compared. */
#define NAME_BYTES 255

/* Returns ARG as a key: '-' and '_' are one in names, and quotes count for nothing. Without p: its name is too long. */
static struct span key_of(const struct kparam *arg, struct arena *arena)
{
	size_t n = arg->name.n;
	char *key;

	if (n > NAME_BYTES)
		return (struct span){ 0 };
	key = arena_alloc(arena, n + 1 + arg->value.n);
	for (size_t i = 0; i < n; i++)
		key[i] = arg->name.p[i] == '-' ? '_' : arg->name.p[i];
	if (!arg->has_value)
		return (struct span){ key, n };
	key[n] = '=';
	if (arg->value.n)
		memcpy(key + n + 1, arg->value.p, arg->value.n);
	return (struct span){ key, n + 1 + arg->value.n };
}

static size_t count_ours(const char *text)
{
	struct bootargs args = bootargs_of(text);
	struct kparam arg;
	size_t count = 0;

	while (bootargs_next(&args, &arg))
		count += bootargs_is_ours(&arg);
	return count;
}

struct bootargs_set bootargs_set_of(const char *text, struct arena *arena)
{
	struct bootargs_set set = { arena, text_map_new(arena, count_ours(text)) };
	struct bootargs args = bootargs_of(text);
	struct kparam arg;

	while (bootargs_next(&args, &arg)) {
		struct span key = bootargs_is_ours(&arg) ? key_of(&arg, arena) : (struct span){ 0 };

		if (key.p)
			*text_map_at(set.args, key) = set.args;
	}
	return set;
}

bool bootargs_holds(const struct bootargs_set *set, const struct kparam *arg)
{
	size_t used = arena_used(set->arena);
	struct span key = key_of(arg, set->arena);
	bool held = key.p && text_map_get(set->args, key);

	arena_rewind(set->arena, used);
	return held;
}

/* arch/x86/kernel/pci-dma.c iommu_setup(), drivers/iommu/iommu.c iommu_set_def_domain_type(): the
 * last one counts. iommu.passthrough=0 after iommu=pt reverts it. */
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
