/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acs-argument.c - how the running kernel reads the arguments pci=disable_acs_redir= and pci=config_acs=. */
#include "query/acs-argument.h"

#include "parse/version.h"

static bool is_since(const struct node *node, const char *version)
{
	return version_compare(node->os.kernel.value, version) >= 0;
}

bool acs_argument_is_missing(const struct node *node)
{
	return is_known(node->os.kernel) && !is_since(node, ACS_ARGUMENT_SINCE);
}

struct fact_bool acs_argument_is_misread(const struct node *node)
{
	if (!is_known(node->os.kernel))
		return (struct fact_bool){ 0 };
	return fact_bool(is_since(node, ACS_ARGUMENT_BROKEN) &&
			 !is_since(node, ACS_ARGUMENT_REPAIRED));
}

bool acs_argument_has_config(const struct node *node)
{
	return is_known(node->os.kernel) && is_since(node, ACS_ARGUMENT_REPAIRED);
}
