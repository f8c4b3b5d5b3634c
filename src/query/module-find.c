/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/module-find.h"

#include <string.h>

#include "parse/kparam.h"
#include "parse/module.h"
#include "query/node-find.h"

const struct module_file *module_file_find(const struct node *node, const char *name,
					   const char *release)
{
	const struct module_file *found = NULL;

	for_each(f, &node->modules.files)
		if (is_known(f->name) && kparam_name_is(span_of(f->name.value), name) &&
		    str_is(f->kernel, release) && (!found || known_is(f->indexed, true)))
			found = f;
	return found;
}

const struct module_file *module_file_running(const struct node *node, const char *name)
{
	return is_known(node->os.kernel) ? module_file_find(node, name, node->os.kernel.value)
					 : NULL;
}

const struct module_file *module_file_elsewhere(const struct node *node, const char *name,
						const char *release)
{
	for_each(f, &node->modules.files)
		if (str_is(f->name, name) && is_known(f->kernel) && !str_is(f->kernel, release))
			return f;
	return NULL;
}

const char *module_file_place(const struct module_file *file)
{
	const char *at = is_known(file->kernel) ? strstr(file->path.value, file->kernel.value)
						: NULL;

	return at ? at + strlen(file->kernel.value) + strspn(at + strlen(file->kernel.value), "/")
		  : file->path.value;
}

bool module_depends_on(const struct module_file *file, const char *name)
{
	for (uint32_t i = 0; i < file->depends.count; i++)
		if (kparam_name_is(span_of(file->depends.items[i]), name))
			return true;
	return false;
}

bool module_is_ours(const char *name)
{
	static const char *const others[] = { "nouveau",  "nvidiafb", "nova_core",
					      "nova_drm", "vfio_pci", "pci_stub" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i], name) == 0)
			return false;
	return module_is_of_interest(name) || module_file_is_of_interest(name);
}

bool module_is_needed(const struct node *node, const char *name)
{
	static const char *const of_gpu[] = { "nvidia", "nvidia_uvm" };
	static const char *const of_nic[] = { "mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs" };

	for_each(d, &node->pci.devices) {
		if (pci_is_for_guest(d))
			continue;
		for (size_t i = 0; i < 2; i++)
			if (pci_is_gpu(d) && strcmp(of_gpu[i], name) == 0)
				return true;
		for (size_t i = 0; i < 4; i++)
			if (pci_is_mlx(d) && strcmp(of_nic[i], name) == 0)
				return true;
	}
	return false;
}

const struct module_symbol *module_symbol_find(const void *list, const char *name)
{
	const struct fact_list *l = list;
	const struct module_symbol *symbols = l->items;

	for (uint32_t i = 0; i < l->count; i++)
		if (str_is(symbols[i].name, name))
			return &symbols[i];
	return NULL;
}

/* The file of the running kernel that exports NAME; several may (inbox and OFED): modules.dep says
 * which one is loaded. */
static const struct module_file *exporter(const struct node *node, const char *name)
{
	const struct module_file *found = NULL;

	for_each(f, &node->modules.files) {
		if (!is_known(node->os.kernel) || !str_is(f->kernel, node->os.kernel.value) ||
		    !module_symbol_find(&f->exports, name))
			continue;
		if (!found || known_is(f->indexed, true))
			found = f;
	}
	return found;
}

enum symbol_fit module_symbol_fit(const struct node *node, const struct module_symbol *want,
				  const struct module_file **from)
{
	const struct module_symbol *have;

	*from = exporter(node, want->name.value);
	if (!*from)
		return SYMBOL_UNKNOWN;
	have = module_symbol_find(&(*from)->exports, want->name.value);
	if (!is_known(want->crc) || !is_known(have->crc))
		return is_absent(want->crc) && is_absent(have->crc) ? SYMBOL_FITS : SYMBOL_UNKNOWN;
	return want->crc.value == have->crc.value ? SYMBOL_FITS : SYMBOL_OTHER_VERSION;
}
