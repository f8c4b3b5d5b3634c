/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module-find.c - questions about the .ko files on disk that several rules ask. */
#include "query/module-find.h"

#include <string.h>

#include "base/array.h"
#include "parse/kparam.h"
#include "parse/module.h"
#include "query/distribution.h"
#include "query/pci-device.h"

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

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
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

const char *module_purpose(const char *name)
{
	static const struct {
		const char *module, *lost;
	} functions[] = {
		{ "nvidia_fs",
		  "GPUDirect Storage does not work: cuFile reads and writes through host "
		  "memory, or fails." },
		{ "gdrdrv",
		  "GDRCopy does not work: NVSHMEM, UCX and NCCL lose fast small copies." },
		{ "nvidia_peermem",
		  "GPUDirect RDMA by peer memory does not work: without DMA-BUF, NICs "
		  "cannot register GPU memory." },
		{ "nv_peer_mem",
		  "GPUDirect RDMA by peer memory does not work: without DMA-BUF, NICs "
		  "cannot register GPU memory." },
		{ "nvidia_uvm", "CUDA does not work: cuInit fails with error 999 or 3." },
		{ "nvidia", "No CUDA program works: the GPUs have no driver." },
		{ "nvidia_drm",
		  "The GPUs draw no picture, and no DMA-BUF of them reaches a display." },
		{ "nvidia_modeset", "The GPUs draw no picture." },
		{ "mlx5_core", "ConnectX and BlueField NICs have no driver." },
		{ "mlx5_ib",
		  "ConnectX and BlueField NICs have no RDMA device: NCCL and UCX use TCP." },
		{ "efa", "EFA has no RDMA device: NCCL falls back to TCP sockets." },
		{ "ib_uverbs",
		  "Programs find no RDMA device: /dev/infiniband/uverbs* is missing." },
		{ "rdma_ucm",
		  "Programs cannot connect by librdmacm: /dev/infiniband/rdma_cm is missing." },
		{ "ib_umad", "opensm and the InfiniBand diagnostics do not work." },
		{ "ib_ipoib", "There is no IP over InfiniBand." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcmp(functions[i].module, name) == 0)
			return functions[i].lost;
	return NULL;
}

/* Ubuntu's driver packages of their time (nvidia-331, nvidia-340-uvm) have the names of their modules. */
static const char *package_of(struct arena *arena, const struct node *node, const char *target)
{
	char *name;

	if (distribution_of(node) != DISTRIBUTION_DEBIAN || strncmp(target, "nvidia_", 7) != 0 ||
	    target[7] < '0' || target[7] > '9')
		return "";
	name = arena_strdup(arena, target);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	return arena_printf(arena, " (on Ubuntu: %s)", name);
}

const char *module_alias_cure(struct arena *arena, const struct node *node, const char *name,
			      const char *target, const char *place)
{
	if (module_file_running(node, name) || strcmp(target, "off") == 0)
		return place ? arena_printf(arena, "Remove the line %s.", place) : NULL;
	return arena_printf(
		arena,
		"Install the package that brings the module %s for this kernel%s: no %s.ko is here either. If "
		"there is no such package, remove the line%s%s.",
		target, package_of(arena, node, target), name, place ? " " : "",
		place ? place : "");
}
