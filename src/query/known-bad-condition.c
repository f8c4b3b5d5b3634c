/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known-bad-condition.c - conditions of rows of data/known-bad.tsv, each true, false or not known. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "parse/version.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/known-bad.h"
#include "query/module-find.h"
#include "query/node-find.h"

#define CAP_SYS_NICE 23 /* linux/capability.h */

/* ---- what all have in common ---- */

enum truth truth_from_bool(bool yes)
{
	return yes ? TRUTH_YES : TRUTH_NO;
}

enum truth truth_any(enum truth a, enum truth b)
{
	if (a == TRUTH_YES || b == TRUTH_YES)
		return TRUTH_YES;
	return a == TRUTH_UNKNOWN || b == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : TRUTH_NO;
}

typedef bool word_fits(const char *text, const char *value, size_t n);

static enum truth any_value(struct row_question *q, const char *text, word_fits *fits)
{
	const char *at = q->condition->values;

	for (;;) {
		size_t n = strcspn(at, ",");

		if (fits(text, at, n))
			return TRUTH_YES;
		if (!at[n])
			return TRUTH_NO;
		at += n + 1;
	}
}

static bool is_word(const char *text, const char *value, size_t n)
{
	return strncmp(text, value, n) == 0 && !text[n];
}

static bool begins(const char *text, const char *value, size_t n)
{
	return strncmp(text, value, n) == 0;
}

enum truth condition_word(struct row_question *q, const char *text)
{
	return any_value(q, text, is_word);
}

enum truth condition_prefix(struct row_question *q, const char *text)
{
	return any_value(q, text, begins);
}

/* ORDER is negative where what was found comes before the value. */
enum truth condition_order(struct row_question *q, int order)
{
	switch (q->condition->op) {
	case VALUE_BELOW:
		return truth_from_bool(order < 0);
	case VALUE_AT_MOST:
		return truth_from_bool(order <= 0);
	case VALUE_ABOVE:
		return truth_from_bool(order > 0);
	case VALUE_AT_LEAST:
		return truth_from_bool(order >= 0);
	case VALUE_IS:
	case VALUE_IS_NOT:
		break;
	}
	return truth_from_bool(order == 0);
}

enum truth condition_number(struct row_question *q, uint64_t number)
{
	uint64_t value = strtoull(q->condition->values, NULL, 10);

	return condition_order(q, number < value ? -1 : number > value);
}

static enum truth of_word(struct row_question *q, struct fact_str fact, const char *path)
{
	q->fact = path;
	return is_known(fact)	 ? condition_word(q, fact.value)
	       : is_absent(fact) ? TRUTH_NO
				 : TRUTH_UNKNOWN;
}

static enum truth of_bool(struct row_question *q, struct fact_bool fact, const char *path)
{
	q->fact = path;
	return is_known(fact)	 ? truth_from_bool(fact.value)
	       : is_absent(fact) ? TRUTH_NO
				 : TRUTH_UNKNOWN;
}

/* ---- the system ---- */

static enum truth check_argument(struct row_question *q)
{
	const char *value = q->condition->values;

	q->fact = "cmdline.running";
	if (!was_read(q->node->cmdline.args))
		return TRUTH_UNKNOWN;
	for_each(arg, &q->node->cmdline.args) {
		size_t n = strlen(arg->key.value);

		if (strncmp(value, arg->key.value, n) == 0 &&
		    (is_known(arg->value)
			     ? value[n] == '=' && strcmp(value + n + 1, arg->value.value) == 0
			     : !value[n]))
			return TRUTH_YES;
	}
	return TRUTH_NO;
}

static enum truth check_cpu_arch(struct row_question *q)
{
	return of_word(q, q->node->os.machine, "os.machine");
}

static enum truth check_cpu_ibt(struct row_question *q)
{
	return of_bool(q, q->node->os.cpu_ibt, "os.cpu_ibt");
}

static enum truth check_cpu_vendor(struct row_question *q)
{
	return of_word(q, q->node->os.cpu_vendor, "os.cpu_vendor");
}

static bool is_rebuild_of_rhel(struct fact_str id)
{
	return str_is(id, "rocky") || str_is(id, "almalinux") || str_is(id, "ol") ||
	       str_is(id, "centos");
}

/* ubuntu-22.04, rhel-9.4; "rhel-8" is any of its minor versions. */
static enum truth check_distro(struct row_question *q)
{
	const struct os_facts *os = &q->node->os;

	q->fact = is_known(os->id) ? "os.version" : "os.id";
	if (!is_known(os->id) || !is_known(os->version))
		return TRUTH_UNKNOWN;
	return condition_prefix(q, arena_printf(q->arena, "%s-%s",
						is_rebuild_of_rhel(os->id) ? "rhel" : os->id.value,
						os->version.value));
}

static enum truth check_kernel_config(struct row_question *q)
{
	const struct os_facts *os = &q->node->os;

	q->fact = "os.kernel_config";
	for_each(option, &os->kernel_config)
		if (str_is(option->name, q->condition->name)) {
			q->fact = fact_path(q->arena, "os.kernel_config", q->condition->name,
					    "value");
			return is_unknown(option->value)
				       ? TRUTH_UNKNOWN
				       : condition_word(q, is_known(option->value)
								   ? option->value.value
								   : "n");
		}
	return TRUTH_UNKNOWN;
}

static enum truth check_kind(struct row_question *q)
{
	enum truth any = TRUTH_NO;

	for (enum kind k = 0; k < KINDS; k++) {
		struct kind_answer found;
		enum truth one;

		if (condition_word(q, kind_word(k)) != TRUTH_YES)
			continue;
		found = kind_find(q->node, k, q->arena);
		one = is_known(found.is) ? truth_from_bool(found.is.value) : TRUTH_UNKNOWN;
		if (one != TRUTH_NO && any != TRUTH_YES)
			q->fact = found.fact;
		any = truth_any(any, one);
	}
	return any;
}

static enum truth check_product(struct row_question *q)
{
	const struct fact_str *product = &q->node->os.product;

	q->fact = "os.product";
	return is_unknown(*product) ? TRUTH_UNKNOWN
				    : truth_from_bool(is_known(*product) &&
						      strstr(product->value, q->condition->values));
}

static enum truth check_secure_boot(struct row_question *q)
{
	return of_bool(q, q->node->os.secure_boot, "os.secure_boot");
}

static enum truth check_service(struct row_question *q)
{
	enum truth any = truth_from_bool(false);

	q->fact = "services.units";
	if (!was_read(q->node->services.units))
		return TRUTH_UNKNOWN;
	for_each(s, &q->node->services.units)
		if (condition_word(q, s->unit.value) == TRUTH_YES)
			any = truth_any(any,
					is_unknown(s->active)
						? TRUTH_UNKNOWN
						: truth_from_bool(str_is(s->active, "active")));
	return any;
}

/* ---- modules ---- */

static enum truth check_module(struct row_question *q)
{
	q->fact = "modules.loaded";
	if (!was_read(q->node->modules.loaded))
		return TRUTH_UNKNOWN;
	for_each(m, &q->node->modules.loaded)
		if (condition_word(q, m->name.value) == TRUTH_YES) {
			q->fact = fact_path(q->arena, "modules.loaded", m->name.value, "state");
			return TRUTH_YES;
		}
	return TRUTH_NO;
}

/* A loaded module has a file, if not in /lib/modules then elsewhere. */
static enum truth check_module_file(struct row_question *q)
{
	const struct node *node = q->node;
	const char *name = q->condition->values;

	q->fact = "modules.files";
	if (!was_read(node->modules.files) || !was_read(node->modules.loaded) ||
	    !is_known(node->os.kernel))
		return TRUTH_UNKNOWN;
	return truth_from_bool(node_module(node, name) ||
			       module_file_find(node, name, node->os.kernel.value));
}

/* The driver's; where none is loaded, that of nvidia.ko for this or another kernel. */
static enum truth check_flavour(struct row_question *q)
{
	const struct node *node = q->node;
	const struct module_file *file;

	q->fact = "driver.flavour";
	if (is_known(node->driver.flavour))
		return condition_word(q, driver_flavour_words[node->driver.flavour.value]);
	if (!known_is(node->driver.loaded, false) || !is_known(node->os.kernel))
		return TRUTH_UNKNOWN;
	file = module_file_find(node, "nvidia", node->os.kernel.value);
	if (!file)
		file = module_file_elsewhere(node, "nvidia", node->os.kernel.value);
	if (!file || !is_known(file->license))
		return TRUTH_UNKNOWN;
	q->fact = fact_path(q->arena, "modules.files", file->path.value, "license");
	return condition_word(q, str_is(file->license, "NVIDIA") ? "proprietary" : "open");
}

static enum truth check_param(struct row_question *q)
{
	const struct driver_param *param = node_param(q->node, q->condition->name);

	q->fact = "driver.params";
	if (!was_read(q->node->driver.params))
		return known_is(q->node->driver.loaded, false) ? TRUTH_NO : TRUTH_UNKNOWN;
	if (!param)
		return TRUTH_NO;
	q->fact = fact_path(q->arena, "driver.params", q->condition->name, "value");
	return is_known(param->value) ? condition_word(q, param->value.value) : TRUTH_UNKNOWN;
}

/* ---- the job ---- */

static enum truth check_capability(struct row_question *q)
{
	q->fact = "env.bounding";
	if (!is_known(q->node->env.bounding))
		return TRUTH_UNKNOWN;
	return truth_from_bool(strcmp(q->condition->values, "SYS_NICE") == 0 &&
			       q->node->env.bounding.value >> CAP_SYS_NICE & 1);
}

static bool fits_pattern(const char *text, const char *value, size_t n)
{
	char pattern[128];

	if (n >= sizeof(pattern))
		return false;
	memcpy(pattern, value, n);
	pattern[n] = '\0';
	return fnmatch(pattern, text, 0) == 0;
}

static enum truth check_env(struct row_question *q)
{
	const struct env_facts *env = &q->node->env;
	const char *name = q->condition->name;
	bool nccl = starts_with(name, "NCCL_");
	bool nvshmem = starts_with(name, "NVSHMEM_");
	struct job_value value = nccl	   ? job_nccl(q->arena, q->node, name)
				 : nvshmem ? job_nvshmem(q->arena, q->node, name)
					   : job_env(q->arena, q->node, name);

	q->fact = value.fact ? value.fact : "env.variables";
	if (!was_read(env->variables))
		return TRUTH_UNKNOWN;
	if (value.value)
		return any_value(q, value.value, fits_pattern);
	if (nccl && !was_read(env->nccl_conf)) {
		q->fact = "env.nccl_conf";
		return TRUTH_UNKNOWN;
	}
	if (nvshmem && job_nvshmem_reads_conf(q->node) && !was_read(env->nvshmem_conf)) {
		q->fact = "env.nvshmem_conf";
		return TRUTH_UNKNOWN;
	}
	return TRUTH_NO;
}

static enum truth check_seccomp(struct row_question *q)
{
	q->fact = "env.seccomp";
	if (!is_known(q->node->env.seccomp))
		return TRUTH_UNKNOWN;
	return condition_word(q, seccomp_mode_words[q->node->env.seccomp.value]);
}

static enum truth check_stack(struct row_question *q)
{
	const struct fact_u64 *stack = &q->node->limits.self.stack_soft_bytes;

	q->fact = "limits.self.stack_soft_bytes";
	return is_known(*stack) ? truth_from_bool(stack->value == FACT_UNLIMITED) : TRUTH_UNKNOWN;
}

/* ---- containers ---- */

static enum truth check_cdi_version(struct row_question *q)
{
	enum truth any = TRUTH_NO;

	q->fact = "containers.cdi";
	if (!was_read(q->node->containers.cdi))
		return TRUTH_UNKNOWN;
	for_each(spec, &q->node->containers.cdi) {
		enum truth one = TRUTH_NO;

		if (is_known(spec->cdi_version))
			one = condition_order(
				q, version_compare(spec->cdi_version.value, q->condition->values));
		else if (is_unknown(spec->cdi_version))
			one = TRUTH_UNKNOWN;
		if (one == TRUTH_YES && any != TRUTH_YES)
			q->fact = fact_path(q->arena, "containers.cdi", spec->path.value,
					    "cdi_version");
		any = truth_any(any, one);
	}
	return any;
}

static enum truth check_engine_config(struct row_question *q)
{
	q->fact = "containers.configs";
	if (!was_read(q->node->containers.configs))
		return TRUTH_UNKNOWN;
	for_each(config, &q->node->containers.configs)
		if (condition_prefix(q, config->path.value) == TRUTH_YES)
			return TRUTH_YES;
	return TRUTH_NO;
}

static enum truth check_imex_channel(struct row_question *q)
{
	q->fact = "dev.nodes";
	if (!was_read(q->node->dev.nodes))
		return TRUTH_UNKNOWN;
	for_each(n, &q->node->dev.nodes)
		if (str_starts(n->path, "/dev/nvidia-caps-imex-channels/channel"))
			return TRUTH_YES;
	return TRUTH_NO;
}

static enum truth check_no_cgroups(struct row_question *q)
{
	return of_bool(q, q->node->containers.no_cgroups, "containers.no_cgroups");
}

/* The only value is v2. */
static enum truth check_cgroup(struct row_question *q)
{
	return of_bool(q, q->node->containers.cgroup2, "containers.cgroup2");
}

/* ---- versions ---- */

/* Returns true if the version is of a branch that the row names as repaired, and not older than the repair. The
 * branch is the text before the last number: 6.12 of 6.12.18. */
static enum truth check_fixed(struct row_question *q)
{
	const char *at = q->condition->values;

	for (;;) {
		char fixed[32];
		size_t n = strcspn(at, ","), branch = n;

		while (branch > 0 && at[branch - 1] != '.')
			branch--;
		if (n < sizeof(fixed) && branch && strncmp(q->self, at, branch) == 0) {
			memcpy(fixed, at, n);
			fixed[n] = '\0';
			if (version_compare(q->self, fixed) >= 0)
				return TRUTH_NO;
		}
		if (!at[n])
			return TRUTH_YES;
		at += n + 1;
	}
}

static enum truth check_one_version(struct row_question *q, const char *version)
{
	const char *value = q->condition->values;

	return condition_order(
		q, version_compare(version, strcmp(value, "self") == 0 ? q->self : value));
}

/* If several versions are found, all must give the same answer. */
static enum truth check_version(struct row_question *q)
{
	struct component_versions all;
	enum truth said = TRUTH_UNKNOWN;

	component_find(q->node, component_by_name(q->condition->name), q->arena, &all);
	q->fact = all.missing ? all.missing : all.unsaid;
	if (strcmp(q->condition->values, "none") == 0)
		return all.state == FACT_UNKNOWN ? TRUTH_UNKNOWN
						 : truth_from_bool(all.state == FACT_ABSENT);
	/* A component that is not installed has no version, so only "!=" is true. */
	if (all.state == FACT_ABSENT)
		return truth_from_bool(q->condition->op == VALUE_IS_NOT);
	for (size_t i = 0; i < all.count; i++) {
		enum truth one = check_one_version(q, all.versions[i].version);

		if (i && one != said)
			return TRUTH_UNKNOWN;
		said = one;
	}
	if (all.count)
		q->fact = all.versions[0].fact;
	return said;
}

/* ---- all ---- */

static condition_check *const checks[KEYS] = {
	[KEY_ARGUMENT] = check_argument,
	[KEY_CAPABILITY] = check_capability,
	[KEY_CDI_VERSION] = check_cdi_version,
	[KEY_CGROUP] = check_cgroup,
	[KEY_CPU_ARCH] = check_cpu_arch,
	[KEY_CPU_IBT] = check_cpu_ibt,
	[KEY_CPU_VENDOR] = check_cpu_vendor,
	[KEY_DISTRO] = check_distro,
	[KEY_ENGINE_CONFIG] = check_engine_config,
	[KEY_ENV] = check_env,
	[KEY_FIXED] = check_fixed,
	[KEY_FLAVOUR] = check_flavour,
	[KEY_IMEX_CHANNEL] = check_imex_channel,
	[KEY_KERNEL_CONFIG] = check_kernel_config,
	[KEY_KIND] = check_kind,
	[KEY_MODULE] = check_module,
	[KEY_MODULE_FILE] = check_module_file,
	[KEY_NO_CGROUPS] = check_no_cgroups,
	[KEY_PARAM] = check_param,
	[KEY_PRODUCT] = check_product,
	[KEY_SECCOMP] = check_seccomp,
	[KEY_SECURE_BOOT] = check_secure_boot,
	[KEY_SERVICE] = check_service,
	[KEY_STACK] = check_stack,
	[KEY_VERSION] = check_version,
};

enum truth condition_holds(struct row_question *q)
{
	enum condition_key key = q->condition->key;
	condition_check *check = checks[key] ? checks[key] : hardware_checks[key];
	enum truth truth = check(q);

	if (q->condition->op != VALUE_IS_NOT || truth == TRUTH_UNKNOWN)
		return truth;
	return truth == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
}
