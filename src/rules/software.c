/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software.c - user space that has to fit the node. */
#include <string.h>
#include <strings.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"

#define NVSHMEM_FLOOR "3.3.9"	 /* DeepEP from 1.2 on, docs/nvshmem.md */
#define NVSHMEM_FALLBACK "3.4.5" /* falls back to a CPU proxy without saying so */
#define NVSHMEM_MOVED "3.5"	 /* its queue pairs stand elsewhere: DeepEP pull 564 */

static const struct software_item *deepep_1(const struct node *node);

/* DeepEP 1 reads NVSHMEM's structures in its kernels. Whether a build has the change tells no version of it. */
static bool check_moved(struct rule_context *ctx, const struct software_item *item,
			const char *fact)
{
	const struct software_item *deepep = deepep_1(ctx->node);

	if (!deepep || version_compare(item->version.value, NVSHMEM_MOVED) < 0)
		return false;
	NOTE(ctx,
	     .observed = text_printf(ctx, "NVSHMEM %s with DeepEP %s", item->version.value,
				     deepep->version.value),
	     .expected = "a DeepEP 1 with pull request 564, or NVSHMEM before " NVSHMEM_MOVED,
	     .impact =
		     "A DeepEP 1 without that change hangs in its first dispatch between nodes: \"timeout "
		     "(dispatch CPU)\".",
	     .remedy =
		     "Nothing if internode dispatch works. Else build DeepEP with pull request 564, or install "
		     "NVSHMEM 3.4.5 and build DeepEP against that.",
	     .evidence = { fact, fact_path(ctx->arena, "software.items", deepep->path.value,
					   "version") });
	return true;
}

/* The kernels of DeepEP have NVSHMEM's device half linked in, of the wheel that they were built with; the other
 * half is a library that another package may bring. */
static void check_halves(struct rule_context *ctx)
{
	const struct software_item *wheel = NULL, *library = NULL;

	for_each(i, &ctx->node->software.items) {
		if (!str_is(i->name, "nvshmem") || !is_known(i->version))
			continue;
		if (strstr(i->path.value, "/libnvshmem_host.so"))
			library = i;
		else if (strstr(i->path.value, "-packages/"))
			wheel = i;
	}
	if (wheel && library && version_compare(wheel->version.value, library->version.value) != 0)
		NOTE(ctx, .subject = library->path.value,
		     .observed = text_printf(ctx, "%s beside the wheel of %s",
					     library->version.value, wheel->version.value),
		     .expected = "one NVSHMEM for the kernels and the library that a process loads",
		     .impact =
			     "DeepEP's kernels of one version meet a library of another, and hang or crash.",
		     .remedy =
			     "Bring both to one version, or see that the process loads the wheel's own "
			     "(LD_LIBRARY_PATH), and build DeepEP against that.",
		     .evidence = { fact_path(ctx->arena, "software.items", library->path.value,
					     "version"),
				   fact_path(ctx->arena, "software.items", wheel->path.value,
					     "version") });
}

static void check_nvshmem(struct rule_context *ctx)
{
	const struct software_item *item = node_software(ctx->node, "nvshmem");
	const char *fact;

	if (!item) {
		if (!skip_unless_software_whole(ctx))
			NOT_APPLICABLE(ctx, .observed = "no NVSHMEM was found on this node",
				       .evidence = { "software.items" });
		return;
	}
	fact = fact_path(ctx->arena, "software.items", item->path.value, "version");
	check_halves(ctx);
	if (version_compare(item->version.value, NVSHMEM_FLOOR) < 0)
		FAIL(ctx, .observed = text_printf(ctx, "NVSHMEM %s", item->version.value),
		     .expected = NVSHMEM_FLOOR " or later", .evidence = { fact });
	else if (check_moved(ctx, item, fact))
		return;
	else if (version_compare(item->version.value, NVSHMEM_FALLBACK) >= 0)
		PASS(ctx,
		     .observed = text_printf(
			     ctx,
			     "NVSHMEM %s: without the doorbell mapping it falls back to a CPU "
			     "proxy and says so only with NVSHMEM_DEBUG=INFO",
			     item->version.value),
		     .evidence = { fact });
	else
		PASS(ctx,
		     .observed = text_printf(
			     ctx, "NVSHMEM %s: without the doorbell mapping it does not start",
			     item->version.value),
		     .evidence = { fact });
}

static const char *version_fact(struct rule_context *ctx, const struct software_item *item)
{
	return fact_path(ctx->arena, "software.items", item->path.value, "version");
}

/* Also one whose version its name does not tell. */
static const struct software_item *any_item(const struct node *node, const char *name)
{
	const struct software_item *item = node_software(node, name);

	for_each(i, &node->software.items)
		if (!item && str_is(i->name, name))
			item = i;
	return item;
}

/* ---- NCCL ---- */

#define DEEPEP_NCCL "2.30.4" /* DeepEP 2, README: requirements */

/* Known to be before 2, which goes through NVSHMEM and needs neither of what is asked for here. */
static const struct software_item *deepep_1(const struct node *node)
{
	const struct software_item *deepep = node_software(node, "deepep");

	return deepep && is_known(deepep->version) &&
			       version_compare(deepep->version.value, "2") < 0
		       ? deepep
		       : NULL;
}

static bool deepep_is_first(const struct node *node)
{
	return deepep_1(node) != NULL;
}

static void check_nccl(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *nccl = any_item(node, "nccl");
	const struct software_item *deepep = node_software(node, "deepep");

	if (!nccl && skip_unless_software_whole(ctx))
		return;
	if (!nccl)
		NOT_APPLICABLE(ctx, .observed = "no NCCL was found on this node",
			       .evidence = { "software.items" });
	else if (deepep_is_first(node))
		NOT_APPLICABLE(ctx,
			       .observed = text_printf(ctx, "DeepEP %s uses NVSHMEM",
						       deepep->version.value),
			       .evidence = { version_fact(ctx, deepep) });
	else if (!is_known(nccl->version))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "the name of %s does not tell its version",
						nccl->path.value),
			.evidence = { version_fact(ctx, nccl) });
	else if (version_compare(nccl->version.value, DEEPEP_NCCL) >= 0)
		PASS(ctx, .evidence = { version_fact(ctx, nccl) });
	else if (deepep && is_known(deepep->version))
		FAIL(ctx,
		     .observed = text_printf(ctx, "NCCL %s, DeepEP %s", nccl->version.value,
					     deepep->version.value),
		     .expected = DEEPEP_NCCL " or later",
		     .evidence = { version_fact(ctx, nccl), version_fact(ctx, deepep) });
	else
		NOTE(ctx,
		     .observed = text_printf(ctx,
					     "NCCL %s: enough for DeepEP 1, which uses NVSHMEM",
					     nccl->version.value),
		     .expected = DEEPEP_NCCL " or later for DeepEP 2",
		     .evidence = { version_fact(ctx, nccl) });
}

/* ---- several NCCLs ---- */

static bool is_loadable(const struct software_item *item)
{
	return str_is(item->name, "nccl") && strstr(item->path.value, "/libnccl.so");
}

static bool differs(const struct software_item *a, const struct software_item *b)
{
	return is_known(a->version) && is_known(b->version) &&
	       strcmp(a->version.value, b->version.value) != 0;
}

/* Does the environment put the folder of ITEM before the place where Python packages look? */
static bool is_forced(const struct node *node, const struct software_item *item)
{
	static const char *const names[] = { "LD_LIBRARY_PATH", "LD_PRELOAD" };
	size_t folder = (size_t)(strrchr(item->path.value, '/') - item->path.value);

	for (size_t i = 0; i < 2; i++) {
		const char *value = node_env(node, names[i]);

		for (const char *at = value; at && (at = strstr(at, "/")); at++)
			if (strncmp(at, item->path.value, folder) == 0 &&
			    (!at[folder] || strchr(":/ ", at[folder])))
				return true;
	}
	return false;
}

static void tell_two(struct rule_context *ctx, enum severity severity,
		     const struct software_item *a, const struct software_item *b)
{
	FAIL_AS(ctx, severity,
		.observed = text_printf(ctx, "%s (%s) and %s (%s)", a->path.value, a->version.value,
					b->path.value, b->version.value),
		.expected = "one libnccl for a process",
		.evidence = { version_fact(ctx, a), version_fact(ctx, b) });
}

/* Two in the loader's folders, or one there and another in a Python environment. False: neither. */
static bool check_pairs(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;
	const struct software_item *library = NULL, *wheel = NULL;

	for_each(a, &software->items)
		for_each(b, &software->items) {
			if (!is_loadable(a) || !str_is(b->name, "nccl") || !differs(a, b))
				continue;
			if (is_loadable(b)) {
				tell_two(ctx, SEVERITY_WARN, a, b);
				return true;
			}
			if (!library || is_forced(ctx->node, a)) {
				library = a;
				wheel = b;
			}
		}
	if (library)
		tell_two(ctx, is_forced(ctx->node, library) ? SEVERITY_WARN : SEVERITY_INFO,
			 library, wheel);
	return library != NULL;
}

static void check_mapped(struct rule_context *ctx)
{
	const struct env_facts *env = &ctx->node->env;

	if (env->nccl.count > 1)
		FAIL(ctx,
		     .observed = text_printf(ctx, "process %u has mapped %s and %s",
					     (unsigned int)env->pid.value, env->nccl.items[0],
					     env->nccl.items[1]),
		     .expected = "one libnccl for a process", .evidence = { "env.nccl" });
	else if (env->nccl.count)
		PASS(ctx, .observed = env->nccl.items[0], .evidence = { "env.nccl" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = text_printf(
				       ctx, "process %u has not loaded NCCL, or it is linked in",
				       (unsigned int)env->pid.value),
			       .evidence = { "env.nccl" });
}

static void check_multiple_nccl(struct rule_context *ctx)
{
	if (is_known(ctx->node->env.pid)) {
		if (is_known(ctx->node->env.nccl))
			check_mapped(ctx);
		else
			UNKNOWN(ctx, .evidence = { "env.nccl" });
		return;
	}
	if (check_pairs(ctx) || skip_unless_software_whole(ctx))
		return;
	if (any_item(ctx->node, "nccl"))
		PASS(ctx, .evidence = { "software.items" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NCCL was found on this node",
			       .evidence = { "software.items" });
}

/* ---- GDRCopy, ibstat ---- */

/* NVSHMEM opens libgdrapi.so.2 by that name (transport_gdr_common.cpp). */
static const struct software_item *gdrapi(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "gdrcopy") && strstr(item->path.value, "/libgdrapi.so.2"))
			return item;
	return NULL;
}

static bool is_set(const char *value)
{
	static const char *const off[] = { "", "0", "n", "no", "false", "off" };

	for (size_t i = 0; value && i < sizeof(off) / sizeof(off[0]); i++)
		if (strcasecmp(value, off[i]) == 0)
			return false;
	return value != NULL;
}

static void check_gdrapi(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *handler = node_env(node, "NVSHMEM_IBGDA_NIC_HANDLER");
	bool asked = handler && strcmp(handler, "cpu") == 0;

	if (skip_without_modules(ctx) || skip_unless_software_whole(ctx))
		return;
	if (is_set(node_env(node, "NVSHMEM_DISABLE_GDRCOPY")))
		NOT_APPLICABLE(ctx, .observed = "NVSHMEM_DISABLE_GDRCOPY is set",
			       .evidence = { "env.variables[NVSHMEM_DISABLE_GDRCOPY].value" });
	else if (!asked && !node_module(node, "gdrdrv"))
		NOT_APPLICABLE(
			ctx,
			.observed =
				"gdrdrv is not loaded, and NVSHMEM_IBGDA_NIC_HANDLER is not cpu",
			.evidence = { "modules.loaded" });
	else if (gdrapi(node))
		PASS(ctx, .observed = gdrapi(node)->path.value, .evidence = { "software.items" });
	else if (!asked && is_known(node->containers.toolkit) && !node_software(node, "nvshmem"))
		NOTE(ctx,
		     .observed =
			     "gdrdrv is loaded, and libgdrapi.so.2 and NVSHMEM are not on this host: "
			     "containers bring theirs",
		     .expected = "libgdrapi.so.2 in the images that have NVSHMEM",
		     .evidence = { "software.items", "containers.toolkit" });
	else
		FAIL(ctx,
		     .observed = asked ? "NVSHMEM_IBGDA_NIC_HANDLER=cpu, and no libgdrapi.so.2"
				       : "gdrdrv is loaded, and no libgdrapi.so.2",
		     .expected = "libgdrapi.so.2 where the loader finds it",
		     .evidence = { "software.items", "modules.loaded[gdrdrv].state" });
}

static void check_ibstat(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;

	if (skip_without_rdma(ctx))
		return;
	if (software->programs.count)
		PASS(ctx, .observed = software->programs.items[0],
		     .evidence = { "software.programs" });
	else if (!was_read(software->programs))
		UNKNOWN(ctx, .evidence = { "software.programs" });
	else if (deepep_is_first(ctx->node))
		NOT_APPLICABLE(
			ctx, .observed = "DeepEP before 2 does not call it",
			.evidence = { version_fact(ctx, node_software(ctx->node, "deepep")) });
	else
		FAIL(ctx, .observed = "no ibstat in PATH, /usr/sbin or /usr/bin",
		     .expected = "ibstat where DeepEP finds it",
		     .evidence = { "software.programs" });
}

static const struct rule software_rules[] = {
	{
		.id = "software/nvshmem-version",
		.title = "NVSHMEM is older than DeepEP needs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_nvshmem,
		.impact = "DeepEP 1.2 and later do not build or run with it.",
		.remedy = "Install NVSHMEM " NVSHMEM_FLOOR " or later.",
		.activation = ACTIVATION_NOW,
		.reads =
			"NVSHMEM's header, library name or package metadata in the usual places and in those "
			"that the environment names. The newest one found counts. DeepEP's version, where it is "
			"installed as a package.",
		.why = "From 3.3.9 on DeepEP needs no patched NVSHMEM. What happens without the doorbell "
		       "mapping depends on the version: up to 3.4.4 IBGDA does not start, from 3.4.5 on it "
		       "falls back to a CPU proxy, on which DeepEP's kernels hang. From 3.5 on the queue pairs that "
		       "DeepEP 1 reads stand elsewhere; of two halves of different versions, and of a DeepEP 1 that "
		       "may lack the change, it informs.",
		.check = "python3 -m pip show nvidia-nvshmem-cu12; nvshmem-info -v",
		.sources =
			"github.com/deepseek-ai/DeepEP docs/nvshmem.md; pull 564, issues 553, 707, 764\n"
			"NVSHMEM release notes 3.4.5\n"
			"github.com/NVIDIA-NeMo/Automodel pull 2614, issue 3967",
	},
	{
		.id = "software/nccl-version",
		.title = "NCCL is older than DeepEP needs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_nccl,
		.impact = "DeepEP 2 does not start: \"NCCL GIN is unavailable\".",
		.remedy = "Install NCCL " DEEPEP_NCCL
			  " or later into the environment that DeepEP runs in.",
		.activation = ACTIVATION_NOW,
		.reads =
			"libnccl's file names and the metadata of wheels; the newest found counts. DeepEP's "
			"version, where it is installed as a package.",
		.why = "DeepEP 2 talks through NCCL's GPU-initiated networking. DeepEP 1 goes through NVSHMEM: "
		       "where it is not known which of them is meant, this is information.",
		.check = "python3 -m pip show nvidia-nccl-cu13; python3 -c 'import torch; "
			 "print(torch.cuda.nccl.version())'",
		.sources =
			"github.com/deepseek-ai/DeepEP README, requirements; csrc/kernels/backend/nccl.cu",
	},
	{
		.id = "software/multiple-libnccl",
		.title = "A process can get another libnccl than it was built with",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_multiple_nccl,
		.impact =
			"Symbols of one version meet structures of the other: DeepEP refuses to start, or NCCL "
			"crashes or hangs.",
		.remedy =
			"Keep one: take the other's folder out of LD_LIBRARY_PATH, LD_PRELOAD and ld.so.conf.d, or "
			"remove its package.",
		.activation = ACTIVATION_NOW,
		.reads =
			"With --pid, the files that the process has mapped. Else libnccl in the loader's folders, "
			"the wheels of Python environments, LD_LIBRARY_PATH and LD_PRELOAD.",
		.why = "Two versions in the loader's folders are a warning, and so is one there that the "
		       "environment puts before the wheel's. A system library beside a wheel alone is information: "
		       "PyTorch finds its own by its run path. Wheels in different environments do not meet.",
		.check = "grep libnccl /proc/PID/maps; ldconfig -p | grep libnccl",
		.sources = "github.com/deepseek-ai/DeepEP README; deep_ep/utils/envs.py",
	},
	{
		.id = "software/gdrapi-missing",
		.title = "GDRCopy's library is missing",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_gdrapi,
		.impact =
			"NVSHMEM cannot use GDRCopy: NVSHMEM_IBGDA_NIC_HANDLER=cpu fails, and its fallback is slower.",
		.remedy = "Install libgdrapi (gdrcopy's user space), of gdrdrv's version.",
		.activation = ACTIVATION_NOW,
		.reads = "libgdrapi.so.2 in the loader's folders, gdrdrv among the modules, and "
			 "NVSHMEM_IBGDA_NIC_HANDLER.",
		.why = "NVSHMEM opens it at run time, by exactly that name, and goes on without. It matters only "
		       "where the CPU-assisted mode is meant.",
		.check = "ldconfig -p | grep libgdrapi",
		.sources =
			"github.com/NVIDIA/nvshmem src/modules/transport/common/transport_gdr_common.cpp\n"
			"github.com/deepseek-ai/DeepEP docs/nvshmem.md",
	},
	{
		.id = "software/ibstat-missing",
		.title = "ibstat is missing",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_ibstat,
		.impact = "DeepEP 2 fails where it asks for the rate and type of the NICs.",
		.remedy = "Install infiniband-diags.",
		.activation = ACTIVATION_NOW,
		.reads = "ibstat in PATH of the asked process, and in the usual folders.",
		.why = "DeepEP 2 runs the program and reads its output. A container image has to bring it itself.",
		.check = "which ibstat",
		.sources = "github.com/deepseek-ai/DeepEP deep_ep/utils/envs.py",
	},
};

RULE_TABLE(software);
