/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option-value.c - options with a value that stops their module from being loaded (parse/param-value.h). */
#include "query/option-value.h"

#include <string.h>

#include "parse/param-value.h"
#include "query/module-find.h"
#include "query/setting.h"

const struct module_file *option_file(const struct node *node, const char *module)
{
	const char *name = setting_is_nvidia(node, module) ? "nvidia" : module;

	return is_known(node->os.kernel) ? module_file_find(node, name, node->os.kernel.value)
					 : NULL;
}

/* NULL: it has no such parameter. */
static const char *type_of(const struct module_file *file, const char *param)
{
	size_t n = strlen(param);

	for (uint32_t i = 0; i < file->parameter_types.count; i++) {
		const char *type = file->parameter_types.items[i];

		if (strncmp(type, param, n) == 0 && type[n] == ':')
			return type + n + 1;
	}
	for (uint32_t i = 0; i < file->parameters.count; i++)
		if (strcmp(file->parameters.items[i], param) == 0)
			return "int";
	return NULL;
}

const char *option_refused(const struct node *node, const struct modprobe_assignment *a,
			   const char **type)
{
	const struct module_file *file = option_file(node, a->module.value);
	const char *own = NULL;

	if (file && is_known(file->parameter_types))
		own = type_of(file, a->param.value);
	if (type)
		*type = own;
	return own ? param_refuses(own, is_known(a->value) ? a->value.value : NULL) : NULL;
}
