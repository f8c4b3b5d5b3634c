/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-files.h - the NVIDIA driver on disk: its module, and the user space that has to fit it. Pure:
 * facts in, answer out. */
#ifndef DRIVER_FILES_H
#define DRIVER_FILES_H

#include "facts/facts.h"

/* libcuda and libnvidia-ml as the driver's package installs them. The forward-compatibility libraries
 * are newer on purpose and used only where asked for; stubs are for linking. */
bool driver_is_library(const struct software_item *item);
bool driver_is_compat_library(const struct software_item *item);

/* One library of the driver: the file of the loaded driver's version, and the newest of another version. */
struct driver_libraries {
	const struct software_item *same;
	const struct software_item *other;
};

struct driver_libraries driver_libraries(const struct node *node);

/* Returns true if the modules on disk are of two versions, nvidia is of VERSION. The libraries then say which one is meant
 * (modules/nvidia-versions-differ). */
bool driver_files_mixed(const struct node *node, const char *version);
/* Returns what to do about LIBRARY and the MODULE version on disk that differ: one version for the whole driver, and the
 * half that changes. The newer half is that of the last update, unless the sources for the libraries are installed. */
const char *driver_version_remedy(struct arena *arena, const struct node *node,
				  const struct software_item *library, const char *module,
				  bool has_sources);

/* nvidia.ko for KERNEL, the one that modprobe would find if there are several; or NULL. */
const struct module_file *driver_file(const struct node *node, const char *kernel);

#endif
