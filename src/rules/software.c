/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software.c - libraries and programs that jobs need (rules software/...). */
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/span.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/distribution.h"

#define NVSHMEM_FLOOR "3.3.9"	 /* DeepEP from 1.2 on, docs/nvshmem.md */
#define NVSHMEM_FALLBACK "3.4.5" /* falls back to a CPU proxy without GDRCopy too */
#define NVSHMEM_MOVED "3.5"	 /* it moved its queue pairs: DeepEP pull 564 */

static const struct software_item *deepep_1(const struct node *node);

/* DeepEP 1 reads NVSHMEM's structures in its kernels. Its version does not show whether it has the change. */
static bool check_moved(struct rule_context *ctx, const struct software_item *item,
			const char *fact)
{
	const struct software_item *deepep = deepep_1(ctx->node);

	if (!deepep || version_compare(item->version.value, NVSHMEM_MOVED) < 0)
		return false;
	NOTE(ctx,
	     .observed = text_printf(
		     ctx,
		     "NVSHMEM %s with DeepEP %s: without pull request 564 DeepEP hangs in its "
		     "first dispatch between nodes",
		     item->version.value, deepep->version.value),
	     .evidence = { fact, software_version_fact(ctx->arena, deepep) });
	return true;
}

/* Returns true if DeepEP is in the same site-packages as the wheel, which it then was built with. */
static bool is_built_with(const struct node *node, const struct software_item *wheel)
{
	const struct software_item *deepep = deepep_1(node);
	const char *end = strstr(wheel->path.value, "-packages/");

	return deepep && end &&
	       strncmp(deepep->path.value, wheel->path.value,
		       (size_t)(end - wheel->path.value) + strlen("-packages/")) == 0;
}

static void report_halves(struct rule_context *ctx, const struct software_item *wheel,
			  const struct software_item *library)
{
	bool built = is_built_with(ctx->node, wheel);

	FAIL_AS(ctx, built ? SEVERITY_WARN : SEVERITY_INFO, .subject = library->path.value,
		.observed = text_printf(
			ctx,
			"%s, and a wheel of %s%s: DeepEP's kernels hang or crash if they meet the library of the other version",
			library->version.value, wheel->version.value,
			built ? " beside DeepEP" : ""),
		.expected = "library and wheel of one version",
		.impact = "DeepEP hangs in its first dispatch, or crashes.",
		.remedy = text_printf(
			ctx,
			"Install the wheel of version %s, and build DeepEP again. Or remove the package of %s.",
			library->version.value, library->path.value),
		.evidence = { software_version_fact(ctx->arena, library),
			      software_version_fact(ctx->arena, wheel) });
}

/* DeepEP's kernels contain the device half of the NVSHMEM wheel that they were built with. The host half is a
 * library that another package can bring. */
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
		report_halves(ctx, wheel, library);
}

static void check_nvshmem(struct rule_context *ctx)
{
	const struct software_item *item = node_software(ctx->node, "nvshmem");
	const char *fact;

	if (!item) {
		if (!skip_unless_software_whole(ctx))
			NOT_APPLICABLE(ctx, .observed = "NVSHMEM was not found on this node",
				       .evidence = { "software.items" });
		return;
	}
	fact = software_version_fact(ctx->arena, item);
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
			     "proxy, with a warning",
			     item->version.value),
		     .evidence = { fact });
	else
		PASS(ctx,
		     .observed = text_printf(
			     ctx,
			     "NVSHMEM %s: without the doorbell mapping it starts only with GDRCopy, as a CPU proxy",
			     item->version.value),
		     .evidence = { fact });
}

/* Also one whose version is not known. */
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

/* A DeepEP that is known to be older than 2: it uses NVSHMEM, and neither NCCL's device API nor ibstat. */
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
		NOT_APPLICABLE(ctx, .observed = "NCCL was not found on this node",
			       .evidence = { "software.items" });
	else if (deepep_is_first(node))
		NOT_APPLICABLE(ctx,
			       .observed = text_printf(ctx, "DeepEP %s uses NVSHMEM",
						       deepep->version.value),
			       .evidence = { software_version_fact(ctx->arena, deepep) });
	else if (!is_known(nccl->version))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "the name of %s has no version",
						nccl->path.value),
			.evidence = { software_version_fact(ctx->arena, nccl) });
	else if (version_compare(nccl->version.value, DEEPEP_NCCL) >= 0)
		PASS(ctx, .evidence = { software_version_fact(ctx->arena, nccl) });
	else if (deepep && is_known(deepep->version))
		FAIL(ctx,
		     .observed = text_printf(ctx, "NCCL %s, DeepEP %s", nccl->version.value,
					     deepep->version.value),
		     .expected = DEEPEP_NCCL " or later",
		     .evidence = { software_version_fact(ctx->arena, nccl),
				   software_version_fact(ctx->arena, deepep) });
	else
		NOTE(ctx,
		     .observed = text_printf(ctx,
					     "NCCL %s: DeepEP 2 needs " DEEPEP_NCCL
					     " or later; DeepEP 1 uses NVSHMEM",
					     nccl->version.value),
		     .evidence = { software_version_fact(ctx->arena, nccl) });
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

/* Returns true if the environment puts the folder of ITEM before that of Python packages. */
static bool is_forced(const struct node *node, const struct software_item *item)
{
	static const char *const names[] = { "LD_LIBRARY_PATH", "LD_PRELOAD" };
	size_t folder = (size_t)(span_base_name(item->path.value) - item->path.value);

	if (folder < 2)
		return false;
	folder--;
	for (size_t i = 0; i < 2; i++) {
		const char *value = node_env(node, names[i]);

		for (const char *at = value; at && (at = strstr(at, "/")); at++)
			if (strncmp(at, item->path.value, folder) == 0 &&
			    (!at[folder] || strchr(":/ ", at[folder])))
				return true;
	}
	return false;
}

static void report_two(struct rule_context *ctx, enum severity severity,
		       const struct software_item *a, const struct software_item *b)
{
	FAIL_AS(ctx, severity,
		.observed = text_printf(ctx, "%s (%s) and %s (%s)", a->path.value, a->version.value,
					b->path.value, b->version.value),
		.expected = "one libnccl for a process",
		.evidence = { software_version_fact(ctx->arena, a),
			      software_version_fact(ctx->arena, b) });
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
				report_two(ctx, SEVERITY_WARN, a, b);
				return true;
			}
			if (!library || is_forced(ctx->node, a)) {
				library = a;
				wheel = b;
			}
		}
	if (library)
		report_two(ctx, is_forced(ctx->node, library) ? SEVERITY_WARN : SEVERITY_INFO,
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
			       .observed = text_printf(ctx, "process %u has no libnccl mapped",
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

	for (size_t i = 0; value && i < ARRAY_SIZE(off); i++)
		if (strcasecmp(value, off[i]) == 0)
			return false;
	return value != NULL;
}

/* With the version: any release from 2.0 on would do, and the module's own is certain. */
static const char *gdrapi_remedy(struct rule_context *ctx)
{
	const struct module *module = node_module(ctx->node, "gdrdrv");

	return module && is_known(module->version)
		       ? text_printf(
				 ctx,
				 "Install libgdrapi %s, the version of the loaded gdrdrv module.",
				 module->version.value)
		       : NULL;
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
			     "gdrdrv is loaded. libgdrapi.so.2 and NVSHMEM are not on this host: "
			     "images need their own.",
		     .evidence = { "software.items", "containers.toolkit" });
	else
		FAIL(ctx,
		     .observed =
			     asked ? "NVSHMEM_IBGDA_NIC_HANDLER=cpu, but libgdrapi.so.2 is missing"
				   : "gdrdrv is loaded, but libgdrapi.so.2 is missing",
		     .expected = "libgdrapi.so.2 in the loader's folders",
		     .remedy = gdrapi_remedy(ctx),
		     .evidence = { "software.items", "modules.loaded[gdrdrv].state" });
}

/* The path of program NAME; NULL: not found. */
static const char *find_program(const struct node *node, const char *name)
{
	for_each(path, &node->software.programs)
		if (span_is(span_of(span_base_name(*path)), name))
			return *path;
	return NULL;
}

static void check_ibstat(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;
	const char *ibstat = find_program(ctx->node, "ibstat");

	if (skip_without_rdma(ctx))
		return;
	if (ibstat)
		PASS(ctx, .observed = ibstat, .evidence = { "software.programs" });
	else if (!was_read(software->programs))
		UNKNOWN(ctx, .evidence = { "software.programs" });
	else if (deepep_is_first(ctx->node))
		NOT_APPLICABLE(ctx, .observed = "DeepEP before 2 does not run it",
			       .evidence = { software_version_fact(
				       ctx->arena, node_software(ctx->node, "deepep")) });
	else
		FAIL(ctx, .observed = "no ibstat in PATH, /usr/sbin or /usr/bin",
		     .expected = "ibstat in PATH",
		     .remedy = is_known(ctx->node->os.container)
				       ? "Install infiniband-diags in the container's image."
				       : "Install infiniband-diags, in the container image too.",
		     .activation = is_known(ctx->node->os.container) ? ACTIVATION_RECREATE
								     : ACTIVATION_NEW_JOBS,
		     .command = is_known(ctx->node->os.container)
					? NULL
					: shell_install(ctx->arena, ctx->node,
							&(struct package_names){
								.debian = "infiniband-diags",
								.rhel = "infiniband-diags",
								.suse = "infiniband-diags" }),
		     .evidence = { "software.programs" });
}

/* ---- nvcc ---- */

static void check_nvcc(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *deepep = node_software(node, "deepep");
	const char *nvcc = find_program(node, "nvcc");
	bool known = deepep && is_known(deepep->version);

	if (nvcc)
		PASS(ctx, .observed = nvcc, .evidence = { "software.programs" });
	else if (!deepep && skip_unless_software_whole(ctx))
		return;
	else if (!deepep || (known && deepep_is_first(node)))
		NOT_APPLICABLE(ctx,
			       .observed = deepep ? "DeepEP before 2 is compiled when it is built"
						  : "DeepEP was not found on this node",
			       .evidence = { "software.items" });
	else if (!known)
		UNKNOWN(ctx, .observed = "whether this is DeepEP 2 is not known",
			.evidence = { software_version_fact(ctx->arena, deepep) });
	else if (!was_read(node->software.programs))
		UNKNOWN(ctx, .evidence = { "software.programs" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "DeepEP %s, but nvcc is missing",
					     deepep->version.value),
		     .expected = "nvcc of CUDA 12.3 or later",
		     .evidence = { "software.programs",
				   software_version_fact(ctx->arena, deepep) });
}

static const struct rule software_rules[] = {
	{
		.id = "software/nvshmem-version",
		.title = "DeepEP does not build or run: NVSHMEM's version does not fit",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_nvshmem,
		.impact = "DeepEP 1.2 and later do not build or run with it.",
		.remedy = "Install NVSHMEM " NVSHMEM_FLOOR " or later.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"NVSHMEM's header, library name or package metadata in the usual places and in those "
			"of the environment. The newest one counts. DeepEP's version, if it is installed as a"
			" package.",
		.why = "From 3.3.9 on DeepEP needs no patched NVSHMEM. Without the doorbell mapping NVSHMEM falls back to "
		       "a CPU proxy, before 3.4.5 only with GDRCopy. NVSHMEM"
		       " 3.5 moved the queue pairs that DeepEP 1 reads. A DeepEP 1 that may lack that change"
		       " is a note. So are a library and a wheel of different versions, unless DeepEP is beside the wheel: it was built with the wheel's half then, and loads the library's.",
		.check = "python3 -m pip show nvidia-nvshmem-cu12; nvshmem-info -v",
		.sources =
			"github.com/deepseek-ai/DeepEP v1.2.1: third-party/README.md; pull 564, issues 553, 707, "
			"764\n"
			"NVSHMEM 3.4.5 release notes; 3.2.5, 3.3.20 and 3.4.5: src/modules/transport/ibgda/ibgda.cpp\n"
			"github.com/NVIDIA-NeMo/Automodel pull 2614, issue 3967",
	},
	{
		.id = "software/nccl-version",
		.title = "DeepEP 2 does not start: NCCL is too old",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_nccl,
		.impact =
			"DeepEP 2 does not build with it, or does not start: \"Invalid NCCL versions\", \"NCCL compile-time "
			"and runtime versions must be the same\".",
		.remedy = "Install NCCL " DEEPEP_NCCL " or later in DeepEP's environment.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"libnccl's file names and the metadata of wheels. The newest one counts. DeepEP's "
			"version, if it is installed as a package.",
		.why = "DeepEP 2 uses NCCL's GPU-initiated networking. DeepEP 1 uses NVSHMEM. If DeepEP's "
		       "version is not known, an old NCCL is a note.",
		.check = "python3 -m pip show nvidia-nccl-cu13; python3 -c 'import torch; "
			 "print(torch.cuda.nccl.version())'",
		.sources =
			"github.com/deepseek-ai/DeepEP dd758ca (July 2026): README.md (Requirements), deep_ep/__init__.py "
			"(check_nccl_so), csrc/kernels/backend/nccl.cu",
	},
	{
		.id = "software/multiple-libnccl",
		.title = "NCCL can crash or hang: a process can load a libnccl of another version",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_multiple_nccl,
		.impact =
			"Code of one version meets data of the other. DeepEP refuses to start. NCCL can crash"
			" or hang.",
		.remedy =
			"Keep one version: remove the other folder from LD_LIBRARY_PATH, LD_PRELOAD and "
			"ld.so.conf.d, or remove its package.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"With --pid, the files that the process has mapped. Otherwise libnccl in the loader's"
			" folders, the wheels of Python environments, LD_LIBRARY_PATH and LD_PRELOAD.",
		.why = "Two versions in the loader's folders are a warning. So is one that the environment "
		       "puts before the wheel's. A system library beside a wheel is a note: PyTorch finds "
		       "its own by its run path. Wheels in separate environments do not conflict. Two on one "
		       "search path of Python (the user's folder, PYTHONPATH) can, and are not compared.",
		.check = "grep libnccl /proc/PID/maps; ldconfig -p | grep libnccl",
		.sources = "github.com/deepseek-ai/DeepEP dd758ca (July 2026): deep_ep/__init__.py "
			   "(check_nccl_so), deep_ep/utils/find_pkgs.py\n"
			   "ld.so(8) of man-pages 6.9",
	},
	{
		.id = "software/gdrapi-missing",
		.title = "NVSHMEM cannot use GDRCopy: libgdrapi.so.2 is missing",
		.profiles = PROFILE_DEEPEP,
		.used_variables = "NVSHMEM_IBGDA_NIC_HANDLER=cpu",
		.severity = SEVERITY_WARN,
		.evaluate = check_gdrapi,
		.impact =
			"NVSHMEM_IBGDA_NIC_HANDLER=cpu fails. Without that setting NVSHMEM runs, and does not use GDRCopy.",
		.remedy = "Install libgdrapi and gdrdrv of one release.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads = "libgdrapi.so.2 in the loader's folders, gdrdrv among the modules, and "
			 "NVSHMEM_IBGDA_NIC_HANDLER.",
		.why = "NVSHMEM opens the library by this name at run time and continues without it. Only "
		       "the CPU-assisted mode needs it.",
		.check = "ldconfig -p | grep libgdrapi",
		.sources = "NVSHMEM 3.4.5: src/modules/transport/common/transport_gdr_common.cpp\n"
			   "github.com/deepseek-ai/DeepEP v1.2.1: third-party/README.md",
	},
	{
		.id = "software/nvcc-missing",
		.title = "DeepEP 2 cannot compile its kernels: nvcc is missing",
		.is_reason_name = true,
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_nvcc,
		.impact =
			"DeepEP 2's ElasticBuffer stops with an assertion at its first kernel. Without a CUDA folder, import "
			"deep_ep stops already. DeepEP's Buffer has compiled kernels and needs no nvcc.",
		.remedy =
			"Install the CUDA toolkit, 12.3 or later, where DeepEP runs: in the container image too.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"nvcc in PATH, in the CUDA toolkits of /usr/local and in the usual folders. DeepEP's version, if it "
			"is installed as a package.",
		.why = "DeepEP 2 compiles kernels at run time with the nvcc of CUDA_HOME, CUDA_PATH, PATH or "
		       "/usr/local/cuda. env/deepep-cache checks the folder where it keeps them.",
		.check = "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc --version",
		.sources =
			"github.com/deepseek-ai/DeepEP dd758ca (July 2026): csrc/jit/compiler.hpp, csrc/jit/kernel_runtime.hpp, "
			"deep_ep/__init__.py (find_cuda_home), setup.py",
	},
	{
		.id = "software/ibstat-missing",
		.title = "DeepEP 2 does not know the rate of the NICs: ibstat is missing",
		.is_reason_name = true,
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_ibstat,
		.impact =
			"DeepEP 2 prints \"Failed to get RDMA connection speed\". In its hybrid mode, the default, a job on several nodes "
			"that gives no num_sms then stops with ZeroDivisionError. It also takes no NIC for one with fast atomic operations.",
		.remedy = "Install infiniband-diags, in the container image too.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads = "ibstat in PATH of the process and in the usual folders.",
		.why = "DeepEP 2 runs the program and reads its output. Without it the rate is 0, by which it divides.",
		.check = "which ibstat",
		.sources =
			"github.com/deepseek-ai/DeepEP dd758ca (July 2026): deep_ep/utils/envs.py "
			"(get_rdma_gbs, check_fast_rdma_atomic_support), deep_ep/buffers/elastic.py (get_theoretical_num_sms)",
	},
};

RULE_TABLE(software);
