/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software.c - user space that has to fit the node. */
#include <string.h>
#include <strings.h>

#include "judge/gate.h"
#include "parse/nvidia.h"

#define NVSHMEM_FLOOR "3.3.9"		/* DeepEP from 1.2 on, docs/nvshmem.md */
#define NVSHMEM_FALLBACK "3.4.5"	/* falls back to a CPU proxy without saying so */
#define NVSHMEM_MOVED "3.5"		/* its queue pairs stand elsewhere: DeepEP pull 564 */

static const struct software_item *deepep_1(const struct node *node);

/* DeepEP 1 reads NVSHMEM's structures in its kernels. Whether a build has the change tells no version of it. */
static bool judge_moved(struct judge *j, const struct software_item *item, const char *fact)
{
	const struct software_item *deepep = deepep_1(j->node);

	if (!deepep || version_compare(item->version.value, NVSHMEM_MOVED) < 0)
		return false;
	FAIL_AS(j, SEVERITY_INFO,
		.observed = say(j, "NVSHMEM %s with DeepEP %s", item->version.value, deepep->version.value),
		.expected = "a DeepEP 1 with pull request 564, or NVSHMEM before " NVSHMEM_MOVED,
		.impact = "A DeepEP 1 without that change hangs in its first dispatch between nodes: \"timeout "
			  "(dispatch CPU)\".",
		.remedy = "Nothing if internode dispatch works. Else build DeepEP with pull request 564, or install "
			  "NVSHMEM 3.4.5 and build DeepEP against that.",
		.evidence = { fact, say_fact(j, "software.items", deepep->path.value, "version") });
	return true;
}

/* The kernels of DeepEP have NVSHMEM's device half linked in, of the wheel that they were built with; the other
 * half is a library that another package may bring. */
static void judge_halves(struct judge *j)
{
	const struct software_item *wheel = NULL, *library = NULL;

	for_each(i, &j->node->software.items) {
		if (!str_is(i->name, "nvshmem") || !is_known(i->version))
			continue;
		if (strstr(i->path.value, "/libnvshmem_host.so"))
			library = i;
		else if (strstr(i->path.value, "-packages/"))
			wheel = i;
	}
	if (wheel && library && version_compare(wheel->version.value, library->version.value) != 0)
		FAIL_AS(j, SEVERITY_INFO, .subject = library->path.value,
			.observed = say(j, "%s beside the wheel of %s", library->version.value,
					wheel->version.value),
			.expected = "one NVSHMEM for the kernels and the library that a process loads",
			.impact = "DeepEP's kernels of one version meet a library of another, and hang or crash.",
			.remedy = "Bring both to one version, or see that the process loads the wheel's own "
				  "(LD_LIBRARY_PATH), and build DeepEP against that.",
			.evidence = { say_fact(j, "software.items", library->path.value, "version"),
				      say_fact(j, "software.items", wheel->path.value, "version") });
}

static void judge_nvshmem(struct judge *j)
{
	const struct software_item *item = node_software(j->node, "nvshmem");
	const char *fact;

	if (!item) {
		if (!gate_no_software(j))
			NOT_APPLICABLE(j, .observed = "no NVSHMEM was found on this node",
				       .evidence = { "software.items" });
		return;
	}
	fact = say_fact(j, "software.items", item->path.value, "version");
	judge_halves(j);
	if (version_compare(item->version.value, NVSHMEM_FLOOR) < 0)
		FAIL(j, .observed = say(j, "NVSHMEM %s", item->version.value),
		     .expected = NVSHMEM_FLOOR " or later", .evidence = { fact });
	else if (judge_moved(j, item, fact))
		return;
	else if (version_compare(item->version.value, NVSHMEM_FALLBACK) >= 0)
		PASS(j, .observed = say(j, "NVSHMEM %s: without the doorbell mapping it falls back to a CPU "
					   "proxy and says so only with NVSHMEM_DEBUG=INFO",
					item->version.value),
		     .evidence = { fact });
	else
		PASS(j, .observed = say(j, "NVSHMEM %s: without the doorbell mapping it does not start",
					item->version.value),
		     .evidence = { fact });
}

static const char *version_fact(struct judge *j, const struct software_item *item)
{
	return say_fact(j, "software.items", item->path.value, "version");
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

#define DEEPEP_NCCL "2.30.4"	/* DeepEP 2, README: requirements */

/* Known to be before 2, which goes through NVSHMEM and needs neither of what is asked for here. */
static const struct software_item *deepep_1(const struct node *node)
{
	const struct software_item *deepep = node_software(node, "deepep");

	return deepep && is_known(deepep->version) && version_compare(deepep->version.value, "2") < 0 ? deepep
												     : NULL;
}

static bool deepep_is_first(const struct node *node)
{
	return deepep_1(node) != NULL;
}

static void judge_nccl(struct judge *j)
{
	const struct node *node = j->node;
	const struct software_item *nccl = any_item(node, "nccl");
	const struct software_item *deepep = node_software(node, "deepep");

	if (!nccl && gate_no_software(j))
		return;
	if (!nccl)
		NOT_APPLICABLE(j, .observed = "no NCCL was found on this node",
			       .evidence = { "software.items" });
	else if (deepep_is_first(node))
		NOT_APPLICABLE(j, .observed = say(j, "DeepEP %s uses NVSHMEM", deepep->version.value),
			       .evidence = { version_fact(j, deepep) });
	else if (!is_known(nccl->version))
		UNKNOWN(j, .observed = say(j, "the name of %s does not tell its version",
					   nccl->path.value),
			.evidence = { version_fact(j, nccl) });
	else if (version_compare(nccl->version.value, DEEPEP_NCCL) >= 0)
		PASS(j, .evidence = { version_fact(j, nccl) });
	else if (deepep && is_known(deepep->version))
		FAIL(j, .observed = say(j, "NCCL %s, DeepEP %s", nccl->version.value,
					deepep->version.value),
		     .expected = DEEPEP_NCCL " or later",
		     .evidence = { version_fact(j, nccl), version_fact(j, deepep) });
	else
		FAIL_AS(j, SEVERITY_INFO,
			.observed = say(j, "NCCL %s: enough for DeepEP 1, which uses NVSHMEM",
					nccl->version.value),
			.expected = DEEPEP_NCCL " or later for DeepEP 2",
			.evidence = { version_fact(j, nccl) });
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

static void tell_two(struct judge *j, enum severity severity, const struct software_item *a,
		     const struct software_item *b)
{
	FAIL_AS(j, severity,
		.observed = say(j, "%s (%s) and %s (%s)", a->path.value, a->version.value,
				b->path.value, b->version.value),
		.expected = "one libnccl for a process",
		.evidence = { version_fact(j, a), version_fact(j, b) });
}

/* Two in the loader's folders, or one there and another in a Python environment. False: neither. */
static bool judge_pairs(struct judge *j)
{
	const struct software_facts *software = &j->node->software;
	const struct software_item *library = NULL, *wheel = NULL;

	for_each(a, &software->items)
		for_each(b, &software->items) {
			if (!is_loadable(a) || !str_is(b->name, "nccl") || !differs(a, b))
				continue;
			if (is_loadable(b)) {
				tell_two(j, SEVERITY_WARN, a, b);
				return true;
			}
			if (!library || is_forced(j->node, a)) {
				library = a;
				wheel = b;
			}
		}
	if (library)
		tell_two(j, is_forced(j->node, library) ? SEVERITY_WARN : SEVERITY_INFO, library, wheel);
	return library != NULL;
}

static void judge_mapped(struct judge *j)
{
	const struct env_facts *env = &j->node->env;

	if (env->nccl.count > 1)
		FAIL(j, .observed = say(j, "process %u has mapped %s and %s", (unsigned int)env->pid.value,
					env->nccl.items[0], env->nccl.items[1]),
		     .expected = "one libnccl for a process", .evidence = { "env.nccl" });
	else if (env->nccl.count)
		PASS(j, .observed = env->nccl.items[0], .evidence = { "env.nccl" });
	else
		NOT_APPLICABLE(j, .observed = say(j, "process %u has not loaded NCCL, or it is linked in",
						  (unsigned int)env->pid.value),
			       .evidence = { "env.nccl" });
}

static void judge_multiple_nccl(struct judge *j)
{
	if (is_known(j->node->env.pid)) {
		if (is_known(j->node->env.nccl))
			judge_mapped(j);
		else
			UNKNOWN(j, .evidence = { "env.nccl" });
		return;
	}
	if (judge_pairs(j) || gate_no_software(j))
		return;
	if (any_item(j->node, "nccl"))
		PASS(j, .evidence = { "software.items" });
	else
		NOT_APPLICABLE(j, .observed = "no NCCL was found on this node",
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

static void judge_gdrapi(struct judge *j)
{
	const struct node *node = j->node;
	const char *handler = node_env(node, "NVSHMEM_IBGDA_NIC_HANDLER");
	bool asked = handler && strcmp(handler, "cpu") == 0;

	if (gate_no_modules(j) || gate_no_software(j))
		return;
	if (is_set(node_env(node, "NVSHMEM_DISABLE_GDRCOPY")))
		NOT_APPLICABLE(j, .observed = "NVSHMEM_DISABLE_GDRCOPY is set",
			       .evidence = { "env.variables[NVSHMEM_DISABLE_GDRCOPY].value" });
	else if (!asked && !node_module(node, "gdrdrv"))
		NOT_APPLICABLE(j, .observed = "gdrdrv is not loaded, and NVSHMEM_IBGDA_NIC_HANDLER is not cpu",
			       .evidence = { "modules.loaded" });
	else if (gdrapi(node))
		PASS(j, .observed = gdrapi(node)->path.value, .evidence = { "software.items" });
	else if (!asked && is_known(node->containers.toolkit) && !node_software(node, "nvshmem"))
		FAIL_AS(j, SEVERITY_INFO,
			.observed = "gdrdrv is loaded, and libgdrapi.so.2 and NVSHMEM are not on this host: "
				    "containers bring theirs",
			.expected = "libgdrapi.so.2 in the images that have NVSHMEM",
			.evidence = { "software.items", "containers.toolkit" });
	else
		FAIL(j, .observed = asked ? "NVSHMEM_IBGDA_NIC_HANDLER=cpu, and no libgdrapi.so.2"
					  : "gdrdrv is loaded, and no libgdrapi.so.2",
		     .expected = "libgdrapi.so.2 where the loader finds it",
		     .evidence = { "software.items", "modules.loaded[gdrdrv].state" });
}

static void judge_ibstat(struct judge *j)
{
	const struct software_facts *software = &j->node->software;

	if (gate_no_rdma(j))
		return;
	if (software->programs.count)
		PASS(j, .observed = software->programs.items[0], .evidence = { "software.programs" });
	else if (!is_told(software->programs))
		UNKNOWN(j, .evidence = { "software.programs" });
	else if (deepep_is_first(j->node))
		NOT_APPLICABLE(j, .observed = "DeepEP before 2 does not call it",
			       .evidence = { version_fact(j, node_software(j->node, "deepep")) });
	else
		FAIL(j, .observed = "no ibstat in PATH, /usr/sbin or /usr/bin",
		     .expected = "ibstat where DeepEP finds it", .evidence = { "software.programs" });
}

static const struct rule software_rules[] = {
	{
		.id = "software/nvshmem-version",
		.title = "NVSHMEM is older than DeepEP needs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_nvshmem,
		.impact = "DeepEP 1.2 and later do not build or run with it.",
		.remedy = "Install NVSHMEM " NVSHMEM_FLOOR " or later.",
		.activation = ACTIVATION_NOW,
		.reads = "NVSHMEM's header, library name or package metadata in the usual places and in those "
			 "that the environment names. The newest one found counts. DeepEP's version, where it is "
			 "installed as a package.",
		.why = "From 3.3.9 on DeepEP needs no patched NVSHMEM. What happens without the doorbell "
		       "mapping depends on the version: up to 3.4.4 IBGDA does not start, from 3.4.5 on it "
		       "falls back to a CPU proxy, on which DeepEP's kernels hang. From 3.5 on the queue pairs that "
		       "DeepEP 1 reads stand elsewhere; of two halves of different versions, and of a DeepEP 1 that "
		       "may lack the change, it informs.",
		.check = "python3 -m pip show nvidia-nvshmem-cu12; nvshmem-info -v",
		.sources = "github.com/deepseek-ai/DeepEP docs/nvshmem.md; pull 564, issues 553, 707, 764\n"
			   "NVSHMEM release notes 3.4.5\n"
			   "github.com/NVIDIA-NeMo/Automodel pull 2614, issue 3967",
	},
	{
		.id = "software/nccl-version",
		.title = "NCCL is older than DeepEP needs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_nccl,
		.impact = "DeepEP 2 does not start: \"NCCL GIN is unavailable\".",
		.remedy = "Install NCCL " DEEPEP_NCCL " or later into the environment that DeepEP runs in.",
		.activation = ACTIVATION_NOW,
		.reads = "libnccl's file names and the metadata of wheels; the newest found counts. DeepEP's "
			 "version, where it is installed as a package.",
		.why = "DeepEP 2 talks through NCCL's GPU-initiated networking. DeepEP 1 goes through NVSHMEM: "
		       "where it is not known which of them is meant, this is information.",
		.check = "python3 -m pip show nvidia-nccl-cu13; python3 -c 'import torch; "
			 "print(torch.cuda.nccl.version())'",
		.sources = "github.com/deepseek-ai/DeepEP README, requirements; csrc/kernels/backend/nccl.cu",
	},
	{
		.id = "software/multiple-libnccl",
		.title = "A process can get another libnccl than it was built with",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_multiple_nccl,
		.impact = "Symbols of one version meet structures of the other: DeepEP refuses to start, or NCCL "
			  "crashes or hangs.",
		.remedy = "Keep one: take the other's folder out of LD_LIBRARY_PATH, LD_PRELOAD and ld.so.conf.d, or "
			  "remove its package.",
		.activation = ACTIVATION_NOW,
		.reads = "With --pid, the files that the process has mapped. Else libnccl in the loader's folders, "
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
		.judge = judge_gdrapi,
		.impact = "NVSHMEM cannot use GDRCopy: NVSHMEM_IBGDA_NIC_HANDLER=cpu fails, and its fallback is slower.",
		.remedy = "Install libgdrapi (gdrcopy's user space), of gdrdrv's version.",
		.activation = ACTIVATION_NOW,
		.reads = "libgdrapi.so.2 in the loader's folders, gdrdrv among the modules, and "
			 "NVSHMEM_IBGDA_NIC_HANDLER.",
		.why = "NVSHMEM opens it at run time, by exactly that name, and goes on without. It matters only "
		       "where the CPU-assisted mode is meant.",
		.check = "ldconfig -p | grep libgdrapi",
		.sources = "github.com/NVIDIA/nvshmem src/modules/transport/common/transport_gdr_common.cpp\n"
			   "github.com/deepseek-ai/DeepEP docs/nvshmem.md",
	},
	{
		.id = "software/ibstat-missing",
		.title = "ibstat is missing",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_ibstat,
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
