/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvreg.c - parameters of the NVIDIA driver and their defaults: data/nvreg.tsv. */
#include "query/nvreg.h"

#include <string.h>

const struct nvreg_param nvreg_params[] = {
#include "nvreg.inc"
	{ 0 },
};

const char *nvreg_default(const char *name)
{
	for (const struct nvreg_param *p = nvreg_params; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p->value;
	return NULL;
}
