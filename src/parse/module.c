/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module.c - text about kernel modules: /proc/modules, modules.dep, modules-load.d, names of files. */
#include "parse/module.h"

#include <string.h>

#include "base/utf8.h"

/* clang-format off */
const char *const modules_of_interest[] = {
	"bnxt_re",     "efa",		 "erdma",	   "gdrdrv",	   "hns_roce_hw_v2",
	"ib_cm",       "ib_core",	 "ib_ipoib",	   "ib_umad",	   "ib_uverbs",
	"ionic_rdma",  "irdma",		 "iw_cxgb4",	   "mana_ib",	   "mlx4_core",
	"mlx4_ib",     "mlx5_core",	 "mlx5_ib",	   "nouveau",	   "nova_core",
	"nv_p2p_dummy", "nv_peer_mem",	 "nvidia",	   "nvidia_drm",   "nvidia_fs",
	"nvidia_modeset", "nvidia_peermem", "nvidia_uvm",  "pci_stub",	   "qedr",
	"rdma_cm",     "rdma_rxe",	 "rdma_ucm",	   "siw",	   "vfio_pci",
	"vmw_pvrdma",
	NULL,
};
/* clang-format on */

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (*name == **list && strcmp(name, *list) == 0)
			return true;
	return false;
}

bool module_is_of_interest(const char *name)
{
	return is_one_of(name, modules_of_interest);
}

bool module_file_is_of_interest(const char *name)
{
	static const char *const names[] = { "nvidia",	  "nv_peer_mem", "nv_p2p_dummy",
					     "gdrdrv",	  "nouveau",	 "ib_core",
					     "ib_uverbs", "mlx5_core",	 "mlx5_ib",
					     "nvme",	  NULL };

	/* drivers/platform/x86/nvidia-wmi-ec-backlight.c is a laptop's screen. */
	if (starts_with(name, "nvidia_"))
		return !starts_with(name, "nvidia_wmi");
	return is_one_of(name, names);
}

/* ---- /proc/modules ---- */

bool module_line_parse(struct span line, struct module_line *out)
{
	struct span size, count, number;

	*out = (struct module_line){ 0 };
	if (!span_word(&line, &out->name) || !span_word(&line, &size) ||
	    !span_word(&line, &count) || !span_word(&line, &out->holders) ||
	    !span_word(&line, &out->state))
		return false;
	number = count;
	out->counted = span_u64(number, 10, &out->refcnt) == 0;
	if (!out->counted && !span_is(count, "-"))
		return false;
	if (span_is(out->holders, "-"))
		out->holders.n = 0;
	return true;
}

bool module_holder_next(struct span *rest, struct span *holder)
{
	while (span_cut(rest, ',', holder))
		if (holder->n && holder->p[0] != '[')
			return true;
	return false;
}

/* ---- files ---- */

bool module_dep_line(struct span line, struct span *path)
{
	size_t colon = span_find(line, ':');

	*path = span_trim((struct span){ line.p, colon });
	return colon < line.n && path->n;
}

void module_name_copy(struct span name, char out[MODULE_NAME_MAX])
{
	size_t n = name.n < MODULE_NAME_MAX ? name.n : utf8_cut(name.p, MODULE_NAME_MAX - 1);

	for (size_t i = 0; i < n; i++)
		out[i] = name.p[i] == '-' ? '_' : name.p[i];
	out[n] = '\0';
}

/* The suffixes that kmod knows (libkmod: kmod_exts). */
static const char *const compressed_suffixes[] = { ".ko.xz", ".ko.zst", ".ko.gz", NULL };

bool module_file_is_compressed(struct span path)
{
	for (const char *const *s = compressed_suffixes; *s; s++)
		if (span_ends(path, *s))
			return true;
	return false;
}

bool module_file_name(struct span path, char name[MODULE_NAME_MAX])
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	const char *suffix = ".ko";

	if (slash) {
		path.n -= (size_t)(slash + 1 - path.p);
		path.p = slash + 1;
	}
	for (const char *const *s = compressed_suffixes; *s; s++)
		if (span_ends(path, *s))
			suffix = *s;
	if (!span_ends(path, suffix))
		return false;
	path.n -= strlen(suffix);
	if (!path.n || path.n >= MODULE_NAME_MAX)
		return false;
	module_name_copy(path, name);
	return true;
}

bool module_load_line(struct span line, struct span *name)
{
	*name = span_trim(line);
	return name->n && name->p[0] != '#' && name->p[0] != ';';
}
