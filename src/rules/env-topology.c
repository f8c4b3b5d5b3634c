/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-topology.c - whether NCCL's topology file is this machine's (rule env/topology-of-another-machine). */
#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "parse/nccl-xml.h"
#include "query/pci-device.h"

struct counted {
	size_t listed, here;
	const struct reference *first_missing;
	bool unread;
};

static struct counted count_gpus(const struct node *node)
{
	const struct reference *r = NULL;
	struct counted c = { 0 };

	while ((r = reference_next(node, REFERENCE_TOPOLOGY, NULL, r))) {
		enum reference_state state = reference_state(r);

		if (!str_is(r->role, TOPOLOGY_GPU))
			continue;
		c.listed++;
		c.here += state == REFERENCE_EXISTS;
		c.unread |= state == REFERENCE_UNSURE;
		if (state == REFERENCE_MISSING && !c.first_missing)
			c.first_missing = r;
	}
	return c;
}

/* A GPU of this node that the file does not list; NULL: it lists all. */
static const struct pci_device *find_unlisted(const struct node *node)
{
	for_each(d, &node->pci.devices) {
		const struct reference *r = NULL;
		bool listed = false;

		if (!pci_is_gpu(d) || pci_is_for_guest(d))
			continue;
		while ((r = reference_next(node, REFERENCE_TOPOLOGY, NULL, r)))
			listed |= str_is(r->name, d->bdf.value);
		if (!listed)
			return d;
	}
	return NULL;
}

/* A file for more GPUs than a smaller machine of the same kind has is of that kind: both have to differ. */
static void compare(struct rule_context *ctx)
{
	const char *path = ctx->node->env.nccl_topology.value;
	struct counted c = count_gpus(ctx->node);
	const struct pci_device *unlisted = find_unlisted(ctx->node);

	if (c.unread)
		UNKNOWN(ctx, .evidence = { "references.items", "pci.devices" });
	else if (!c.listed)
		PASS(ctx, .observed = text_printf(ctx, "%s lists no GPU", path),
		     .evidence = { "references.items" });
	else if (!c.first_missing || !unlisted)
		PASS(ctx, .evidence = { "env.nccl_topology", "references.items" });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx,
			     "%s lists %zu GPU%s, of which %zu exist%s here: not %s, for example. It does not list %s",
			     path, c.listed, c.listed == 1 ? "" : "s", c.here,
			     c.here == 1 ? "s" : "", c.first_missing->name.value,
			     unlisted->bdf.value),
		     .expected = "the PCI addresses of this node's GPUs",
		     .evidence = { reference_fact(ctx->arena, ctx->node, c.first_missing, "found"),
				   fact_path(ctx->arena, "pci.devices", unlisted->bdf.value, "bdf"),
				   "env.nccl_topology" });
}

/* Calls COMPARE if the topology file was read to its end. */
static void check_file(struct rule_context *ctx, void (*compare_file)(struct rule_context *ctx))
{
	const struct node *node = ctx->node;

	if (skip_without_gpu(ctx))
		return;
	if (is_unknown(node->env.nccl_topology))
		UNKNOWN(ctx, .evidence = { "env.nccl_topology" });
	else if (is_absent(node->env.nccl_topology))
		NOT_APPLICABLE(ctx, .observed = "NCCL reads no topology file",
			       .evidence = { "env.nccl_topology" });
	else if (!was_read(node->references.items))
		UNKNOWN(ctx, .evidence = { "references.items" });
	else
		for_each(f, &node->references.files)
			if (known_is(f->format, REFERENCE_TOPOLOGY)) {
				if (known_is(f->complete, true))
					compare_file(ctx);
				else
					UNKNOWN(ctx, .evidence = { "references.files" });
				return;
			}
	if (!ctx->findings->count)
		UNKNOWN(ctx, .evidence = { "references.files" });
}

static void check_topology(struct rule_context *ctx)
{
	check_file(ctx, compare);
}

/* ---- env/topology-file-rejected ---- */

/* The words of what the file's reader said. */
static const char *words_of(struct rule_context *ctx, const struct reference *r)
{
	const char *name = r->name.value;
	size_t prefix = str_starts(r->name, NCCL_XML_WORD) ? strlen(NCCL_XML_WORD) : 0;
	char *words = arena_strndup(ctx->arena, name + prefix, strlen(name + prefix));

	for (char *c = words; *c; c++)
		if (*c == '-')
			*c = ' ';
	return words;
}

static void report_form(struct rule_context *ctx, const struct reference *r)
{
	const char *place = reference_place(ctx->arena, r), *words = words_of(ctx, r);
	const char *fact = reference_fact(ctx->arena, ctx->node, r, "name");

	if (str_is(r->role, NCCL_XML_FAULT))
		FAIL(ctx, .observed = text_printf(ctx, "%s: %s", place, words),
		     .expected = "the form that NCCL itself writes (NCCL_TOPO_DUMP_FILE)",
		     .evidence = { fact, "env.nccl_topology" });
	else if (str_is(r->role, NCCL_XML_LACKS_OF_NET))
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(
				ctx, "%s: the cpu element lacks %s, and a net element is below it",
				place, words),
			.expected =
				"numaid, arch and vendor of each cpu element; for Intel familyid and modelid",
			.impact =
				"A job that uses no GPU of this processor does not start: \"Attribute arch of "
				"node cpu not found\", for example.",
			.evidence = { fact, "env.nccl_topology" });
	else
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "%s: the cpu element lacks %s. NCCL adds it only if the job uses a GPU or NIC of that processor",
			     place, words),
		     .evidence = { fact, "env.nccl_topology" });
}

static void compare_form(struct rule_context *ctx)
{
	const struct reference *r = NULL;

	while ((r = reference_next(ctx->node, REFERENCE_TOPOLOGY, NULL, r)))
		if (str_is(r->role, NCCL_XML_FAULT) || str_is(r->role, NCCL_XML_LACKS) ||
		    str_is(r->role, NCCL_XML_LACKS_OF_NET)) {
			report_form(ctx, r);
			return;
		}
	PASS(ctx, .evidence = { "env.nccl_topology", "references.items" });
}

static void check_form(struct rule_context *ctx)
{
	check_file(ctx, compare_form);
}

static const struct rule env_topology_rules[] = {
	{
		.id = "env/topology-file-rejected",
		.title = "Jobs with NCCL do not start: its topology file is not in NCCL's form",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_form,
		.impact = "ncclCommInitRank fails with an internal error in each job.",
		.remedy =
			"Correct the file, or unset NCCL_TOPO_FILE. Correct /etc/nccl.conf if that names it.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "The file of NCCL_TOPO_FILE or of nvidia-topologyd.",
		.why = "NCCL's parser accepts less than XML: no XML declaration, no tab or text between elements, no line "
		       "break within a tag, no value without quotes, version 1, fewer than 256 elements. Elements that it "
		       "does not know it ignores.",
		.check = "NCCL_DEBUG=WARN of a job; cat -A \"$NCCL_TOPO_FILE\"",
		.sources =
			"NCCL 2.30.7: src/graph/xml.cc (xmlGetNode, xmlLoadSub, ncclTopoFillNet), src/graph/topo.cc "
			"(ncclTopoAddCpu)\n"
			"github.com/NVIDIA/nccl issues 379 (2020-08-28) and 1726 (2025-06-03)\n"
			"github.com/aws/aws-ofi-nccl issues 476 (2024-07-25) and 785 (2025-02-21)",
	},
	{
		.id = "env/topology-of-another-machine",
		.title = "NCCL is slow or fails: its topology file is of another machine",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_topology,
		.impact =
			"NCCL places the GPUs and NICs that the file lacks as the kernel shows them, which in a virtual machine "
			"often has no switches. It can then select a distant NIC.",
		.remedy =
			"Unset NCCL_TOPO_FILE, or set it to the file for this type of machine. Correct /etc/nccl.conf if that names it.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"The file of NCCL_TOPO_FILE or of nvidia-topologyd: the addresses of its GPUs, held against the PCI functions.",
		.why = "Providers supply a file for each type of virtual machine. An image that is used on another type has the "
		       "wrong one. A file that lists more GPUs than there are is no fault.",
		.check = "grep busid \"$NCCL_TOPO_FILE\"; lspci -D -d 10de:",
		.sources = "NCCL 2.30.7: src/graph/topo.cc (ncclTopoGetSystem), src/graph/xml.cc\n"
			   "github.com/Azure/azurehpc-health-checks pull 143",
	},
};

RULE_TABLE(env_topology);
