/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvidia.h - the text of the NVIDIA driver: its version line, its parameters, the RegistryDwords string. Sources:
 * open-gpu-kernel-modules nv-procfs.c, nv-reg.h, osapi.c. */
#ifndef PARSE_NVIDIA_H
#define PARSE_NVIDIA_H

#include <stdbool.h>

#include "base/span.h"

/* Line 1 of /proc/driver/nvidia/version:
 *   NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (u@h)  DATE
 *   NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Tue Feb 27 22:06:54 UTC 2024
 */
struct nvidia_banner {
	struct span line; /* after "NVRM version: " */
	struct span version;
	struct span builder; /* user@host; empty in the proprietary flavour */
	bool open;
};

/* Returns 0, or -EINVAL if there is no such line or it has no version. */
int nvidia_banner_parse(struct span text, struct nvidia_banner *banner);

/* Reads "Name: value" lines. Quotes around a value are removed. Returns the number of the first line that has another
 * form (it is skipped), or 0. */
typedef void nvidia_param(void *user, struct span name, struct span value, size_t line);
size_t nvidia_params_parse(struct span text, nvidia_param *param, void *user);

/*
 * RegistryDwords as rm_parse_option_string() reads it: blanks are removed, then it is split at ';' and at '='. The
 * driver silently skips an entry without a value or with a second '=', and reads an invalid number as 0. PROBLEM names
 * the fault, NULL: the entry is valid.
 */
struct registry_entry {
	struct span text;
	struct span key;
	struct span value;
	uint64_t number;
	const char *problem;
	bool skipped; /* the driver does not use the entry at all */
};

bool registry_next(struct span *rest, struct registry_entry *entry);
/* Finds the last entry of KEY that the driver uses. False: none. Registry keys are compared without regard to case
 * (registry.c). */
bool registry_find(struct span text, const char *key, struct registry_entry *entry);

#endif
