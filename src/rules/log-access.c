/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-access.c - what SELinux or AppArmor refused to the driver, to services of GPUs and to jobs (rule
 * log/access-refused). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/modname.h"
#include "query/node-find.h"

/* The kernel keeps 15 bytes of a process's name. */
static const struct {
	const char *program, *unit;
} services[] = {
	{ "nvidia-persiste", "nvidia-persistenced.service" },
	{ "nv-fabricmanage", "nvidia-fabricmanager.service" },
	{ "nvlsm", "nvidia-fabricmanager.service" },
	{ "nvidia-imex", "nvidia-imex.service" },
	{ "nv-hostengine", "nvidia-dcgm.service" },
	{ "nvidia-gridd", "nvidia-gridd.service" },
	{ "opensm", "opensm.service" },
};

/* What was refused, and whether that matters still. */
struct refusal_of {
	const char *subject;
	const char *loss;   /* for people; NULL: nothing is known to be lost */
	const char *fact;   /* that shows the loss */
	const char *remedy; /* NULL: the rule's */
};

static const char *denial_fact(struct rule_context *ctx, const struct log_denial *d)
{
	return ITEM_FACT(ctx->arena, ctx->node, log.denials, d, record);
}

static bool is_of_selinux(const struct log_denial *d)
{
	return known_is(d->policy, POLICY_SELINUX);
}

/* ---- modules ---- */

/* "/usr/lib/modules/6.12.0/updates/nvidia.ko.zst" is nvidia; a record without a path names none. */
static const char *module_of(struct rule_context *ctx, const struct log_denial *d)
{
	const char *base = is_known(d->target) ? span_base_name(d->target.value) : "";
	const char *end = strstr(base, ".ko");

	return end ? text_printf(ctx, "%.*s", (int)(end - base), base) : NULL;
}

static bool is_module_load(const struct log_denial *d)
{
	return is_known(d->action) && strstr(d->action.value, "module_load");
}

static void refused_module(struct rule_context *ctx, const struct log_denial *d,
			   struct refusal_of *r)
{
	const char *name = module_of(ctx, d);
	char *underscores = name ? arena_strdup(ctx->arena, name) : NULL;

	for (char *c = underscores; c && *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (!name || !was_read(ctx->node->modules.loaded) || node_module(ctx->node, underscores))
		return;
	/* The driver is of the node, and causes other findings of the node. */
	r->subject = strcmp(underscores, "nvidia") == 0 ? NULL : underscores;
	r->loss = text_printf(ctx, "%s is not loaded", name);
	r->fact = "modules.loaded";
	r->remedy =
		"Read the record: the type of the process and the label of the module's file. A "
		"module below /lib/modules needs restorecon. A container that loads one needs "
		"the SELinux policy package of its engine, or a module of audit2allow.";
}

/* ---- services ---- */

static void refused_service(struct rule_context *ctx, const struct log_denial *d,
			    struct refusal_of *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		const struct service *s;

		if (!str_starts(d->program, services[i].program))
			continue;
		s = node_service(ctx->node, services[i].unit);
		if (!s || !is_known(s->active) || str_is(s->active, "active"))
			return;
		r->subject = services[i].unit;
		r->loss = text_printf(ctx, "%s is %s", services[i].unit, s->active.value);
		r->fact = fact_path(ctx->arena, "services.units", services[i].unit, "active");
	}
}

/* ---- devices ---- */

static bool is_device(const struct log_denial *d)
{
	static const char *const nodes[] = { "/dev/nvidia", "/dev/infiniband", "/dev/gdrdrv" };

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		if (str_starts(d->target, nodes[i]))
			return true;
	return str_is(d->label, "xserver_misc_device_t") || str_starts(d->class, "infiniband");
}

/* The profiles of container engines and the types of containers. Programs of a desktop look for a GPU and go on
 * without one. */
static bool is_of_jobs(const struct log_denial *d)
{
	static const char *const names[] = { "container", "docker-default", "cri-", "lxc",
					     "svirt_lxc", "slurm",	    "spc_t" };

	for (size_t i = 0; is_known(d->domain) && i < ARRAY_SIZE(names); i++)
		if (strstr(d->domain.value, names[i]))
			return true;
	return false;
}

static void refused_device(struct rule_context *ctx, const struct log_denial *d,
			   struct refusal_of *r)
{
	const struct containers_facts *containers = &ctx->node->containers;

	if (!is_device(d) || !is_of_jobs(d))
		return;
	/* Allowed since then, or that is not known. */
	if (is_of_selinux(d) && (is_unknown(containers->container_use_devices) ||
				 known_is(containers->container_use_devices, true)))
		return;
	r->subject = is_known(d->target) ? d->target.value : d->program.value;
	r->loss = "containers cannot open the device";
	r->fact = is_of_selinux(d) ? "containers.container_use_devices" : NULL;
	if (is_of_selinux(d) && str_is(d->label, "xserver_misc_device_t"))
		r->remedy = "Run setsebool -P container_use_devices on.";
}

/* ---- the rule ---- */

static const char *remedy_of(const struct log_denial *d, const struct refusal_of *r)
{
	if (r->remedy)
		return r->remedy;
	return is_of_selinux(d)
		       ? "Read the record: who asked, and for what. Correct the label with restorecon, or "
			 "extend the policy with audit2allow."
		       : "Read the record: who asked, and for what. Extend that profile, in /etc/apparmor.d "
			 "or in the container engine, or start the container with a different profile.";
}

static const char *say(struct rule_context *ctx, const struct log_denial *d, const char *loss)
{
	return text_printf(
		ctx, "%s did not let %s%s %s%s%s%s%s", is_of_selinux(d) ? "SELinux" : "AppArmor",
		is_known(d->program) ? d->program.value : "a program",
		is_known(d->domain) ? text_printf(ctx, " (%s)", d->domain.value) : "",
		is_known(d->action) ? d->action.value : "access", is_known(d->target) ? " " : "",
		is_known(d->target) ? d->target.value : "",
		is_known(d->label) ? text_printf(ctx, " (%s)", d->label.value) : "",
		loss ? text_printf(ctx, "; %s", loss) : "");
}

static void check_denial(struct rule_context *ctx, const struct log_denial *d)
{
	struct refusal_of r = { 0 };
	bool off = is_of_selinux(d) && was_read(ctx->node->containers.selinux_enforcing) &&
		   !known_is(ctx->node->containers.selinux_enforcing, true);

	if (!off && is_module_load(d))
		refused_module(ctx, d, &r);
	else if (!off)
		refused_service(ctx, d, &r);
	if (!off && !r.loss)
		refused_device(ctx, d, &r);
	if (r.loss && !rule_has_answered(ctx, r.subject))
		FAIL(ctx, .subject = r.subject, .observed = say(ctx, d, r.loss),
		     .expected = "access allowed", .remedy = remedy_of(d, &r),
		     .evidence = { denial_fact(ctx, d), r.fact });
}

/* What was refused and had no consequence that is known: one note. */
static void note_others(struct rule_context *ctx)
{
	const struct log_denial *last = NULL;

	for_each(d, &ctx->node->log.denials)
		last = d;
	NOTE(ctx, .observed = say(ctx, last, NULL), .evidence = { denial_fact(ctx, last) });
}

static void check_access(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_in_container(ctx))
		return;
	if (!is_known(ctx->node->log.denials)) {
		UNKNOWN(ctx, .evidence = { "log.denials" });
		return;
	}
	for_each(d, &ctx->node->log.denials)
		check_denial(ctx, d);
	if (ctx->findings->count > before)
		return;
	if (ctx->node->log.denials.count)
		note_others(ctx);
	else
		PASS(ctx, .observed = "none in the logs that were read",
		     .evidence = { "log.denials" });
}

static const struct rule log_access_rules[] = {
	{
		.id = "log/access-refused",
		.title =
			"SELinux or AppArmor keeps the driver, a service or containers from a device",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_access,
		.impact = "What was refused fails with \"Permission denied\", also for root.",
		.remedy =
			"Read the record: who asked, and for what. Correct the label with restorecon, or extend the "
			"policy: audit2allow for SELinux, the profile's file for AppArmor.",
		.activation = ACTIVATION_NOW,
		.needs_running = true,
		.reads =
			"Refusals since the boot in /var/log/audit/audit.log and the kernel log; loaded modules, services, "
			"the SELinux mode and its booleans for containers.",
		.why = "A refusal is a warning where its result is visible: the module is not loaded, the service does not "
		       "run, or a container may not open a GPU or RDMA device and no boolean has allowed it since. "
		       "Others are a note: desktop programs are refused much that they do not need. Records of a "
		       "permissive SELinux refuse nothing and are left out.",
		.check = "ausearch -m avc -ts boot; dmesg | grep -E 'avc:|apparmor='",
		.sources =
			"Linux 6.1.192: security/selinux/hooks.c, "
			"selinux_kernel_module_from_file(); security/lsm_audit.c, dump_common_audit_data(); "
			"security/apparmor/audit.c, audit_pre()\n"
			"github.com/rancher/rke2-selinux pull 130\ngithub.com/NVIDIA/gpu-operator issue 2837",
	},
};

RULE_TABLE(log_access);
