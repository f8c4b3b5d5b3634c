/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-ordering.c - PCIe relaxed ordering (rules pci/relaxed-ordering-...): needed on some platforms, harmful on
 * others. */
#include <inttypes.h>
#include <strings.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"
#include "query/pci-device.h"
#include "query/topology.h"

#define FACT(ctx, d, field) fact_path(ctx->arena, "pci.devices", (d)->bdf.value, field)

static bool is_endpoint(const struct rule_context *ctx, const struct pci_device *d)
{
	return pci_is_gpu(d) || (!is_known(d->physical_function) && topology_is_nic(ctx->node, d));
}

/* ---- where it is needed ---- */

/*
 * UCX switches it on for AMD's Zen servers, Naples to Turin, and for GPU memory on Intel's Emerald Rapids
 * (src/ucs/arch/cpu.h, src/uct/ib/base/ib_md.h; pulls 8062, 10955 and 11532).
 */
static bool was_measured(const struct os_facts *os)
{
	if (str_is(os->cpu_vendor, "AuthenticAMD"))
		return is_known(os->cpu_family) && os->cpu_family.value >= 0x17;
	return str_is(os->cpu_vendor, "GenuineIntel") && known_is(os->cpu_family, 6) &&
	       known_is(os->cpu_model_number, 0xcf);
}

/* Intel's Sapphire Rapids, Granite Rapids and Sierra Forest are of the same kind, and no source says what they lose.
 * Numbers: Linux, arch/x86/include/asm/intel-family.h. */
static bool needs_ordering(const struct os_facts *os)
{
	static const uint64_t intel[] = { 0x8f, 0xad, 0xae, 0xaf };

	if (was_measured(os))
		return true;
	if (!str_is(os->cpu_vendor, "GenuineIntel") || !known_is(os->cpu_family, 6))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(intel); i++)
		if (known_is(os->cpu_model_number, intel[i]))
			return true;
	return false;
}

/* ---- where it is harmful ---- */

/* Root ports whose Relaxed Ordering attribute the kernel does not trust: drivers/pci/quirks.c,
 * quirk_relaxedordering_disable(). Haswell and Broadwell servers, and AMD's A1100. */
static bool is_broken_port(const struct pci_device *port)
{
	uint64_t id = port->device_id.value;

	if (!is_known(port->device_id))
		return false;
	if (known_is(port->vendor_id, 0x8086))
		return (id >= 0x2f01 && id <= 0x2f0e) || (id >= 0x6f01 && id <= 0x6f0e);
	return known_is(port->vendor_id, 0x1022) && id >= 0x1a00 && id <= 0x1a02;
}

/* The port of the CPU that DEVICE is below, or NULL where none is visible. */
static const struct pci_device *root_port(const struct node *node, const struct pci_device *device)
{
	const struct pci_device *above[PATH_PORTS_MAX];
	size_t n = topology_above(node, device, above);

	return n ? above[n - 1] : NULL;
}

/* Haswell and Broadwell servers by the processor, where no port shows: intel-family.h. */
static bool is_broken_cpu(const struct os_facts *os)
{
	static const uint64_t models[] = { 0x3f, 0x4f, 0x56 };

	if (!str_is(os->cpu_vendor, "GenuineIntel") || !known_is(os->cpu_family, 6))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (known_is(os->cpu_model_number, models[i]))
			return true;
	return false;
}

static bool is_unsafe(const struct node *node, const struct pci_device *device)
{
	const struct pci_device *port = root_port(node, device);

	if (port && is_broken_port(port))
		return true;
	return !port && is_broken_cpu(&node->os);
}

/* ---- the two rules ---- */

static bool skip_without_ends(struct rule_context *ctx)
{
	if (skip_without_gpu(ctx))
		return true;
	for_each(d, &ctx->node->pci.devices)
		if (!pci_is_gpu(d) && is_endpoint(ctx, d))
			return false;
	NOT_APPLICABLE(ctx, .observed = "no NIC that RDMA runs over",
		       .evidence = { "pci.devices" });
	return true;
}

static enum severity severity_of(const struct rule_context *ctx, const struct pci_device *d)
{
	return was_measured(&ctx->node->os) && (pci_is_gpu(d) || pci_is_mlx(d)) ? SEVERITY_WARN
										: SEVERITY_INFO;
}

static void check_off(struct rule_context *ctx)
{
	if (skip_without_ends(ctx))
		return;
	if (!is_known(ctx->node->os.cpu_vendor)) {
		UNKNOWN(ctx, .evidence = { "os.cpu_vendor" });
		return;
	}
	if (!needs_ordering(&ctx->node->os)) {
		NOT_APPLICABLE(ctx,
			       .observed = "this processor is not known to need relaxed ordering",
			       .evidence = { "os.cpu_model", "os.cpu_model_number" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		const char *fact;

		if (!is_endpoint(ctx, d))
			continue;
		fact = FACT(ctx, d, "relaxed_ordering");
		if (is_absent(d->relaxed_ordering) || is_unsafe(ctx->node, d))
			NOT_APPLICABLE(
				ctx, .subject = d->bdf.value,
				.observed =
					"it has no such bit, or the root port above has an erratum",
				.evidence = { fact });
		else if (!is_known(d->relaxed_ordering))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
		else if (d->relaxed_ordering.value)
			PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
		else
			/* Measured with ConnectX. No source says whether EFA and others gain by it. */
			FAIL_AS(ctx, severity_of(ctx, d), .subject = d->bdf.value,
				.observed = "relaxed ordering is off (RlxdOrd-)",
				.expected = "RlxdOrd+", .evidence = { fact, "os.cpu_model" });
	}
}

/* UCX's own choice, auto, leaves these processors out; "try" is as good as on. */
static bool ucx_enables(const struct job_value *ucx)
{
	static const char *const words[] = { "on", "yes", "y", "1", "try" };

	for (size_t i = 0; ucx->value && i < ARRAY_SIZE(words); i++)
		if (strcasecmp(ucx->value, words[i]) == 0)
			return true;
	return false;
}

/* What makes memory regions with relaxed ordering here; NULL: nothing that was found. NCCL does so by itself, on any
 * processor, from 2.12 on; 0 switches it off. */
static const char *user_of_ordering(struct rule_context *ctx, const char **fact)
{
	const struct node *node = ctx->node;
	const struct software_item *nccl = node_software(node, "nccl");
	struct job_value ucx = job_env(ctx->arena, node, "UCX_IB_PCI_RELAXED_ORDERING");
	struct job_value off = job_nccl(ctx->arena, node, "NCCL_IB_PCI_RELAXED_ORDERING");
	long number;

	if (ucx_enables(&ucx)) {
		*fact = ucx.fact;
		return text_printf(ctx, "UCX_IB_PCI_RELAXED_ORDERING=%s", ucx.value);
	}
	if (off.value && job_number(&off, &number)) {
		*fact = off.fact;
		return number ? text_printf(ctx, "NCCL_IB_PCI_RELAXED_ORDERING=%s", off.value)
			      : NULL;
	}
	if (!nccl || (is_known(nccl->version) && version_compare(nccl->version.value, "2.12") < 0))
		return NULL;
	*fact = software_version_fact(ctx->arena, nccl);
	return "NCCL uses it by default";
}

static void fail_unsafe(struct rule_context *ctx, const struct pci_device *d,
			const struct pci_device *port)
{
	const char *fact = NULL, *user = user_of_ordering(ctx, &fact);
	const char *place =
		port ? text_printf(
			       ctx,
			       "relaxed ordering is on (RlxdOrd+) below the root port %s (%04" PRIx64
			       ":%04" PRIx64 ")",
			       port->bdf.value, port->vendor_id.value, port->device_id.value)
		     : text_printf(ctx, "relaxed ordering is on (RlxdOrd+) with %s",
				   ctx->node->os.cpu_model.value);

	if (user)
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s; %s", place, user), .expected = "RlxdOrd-",
		     .evidence = { FACT(ctx, d, "relaxed_ordering"),
				   port ? FACT(ctx, port, "device_id") : "os.cpu_model", fact });
	else if (!fact && !was_read(ctx->node->software.items))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { "software.items" });
	else
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(
			     ctx, "%s; no library that was found here writes with it", place),
		     .evidence = { FACT(ctx, d, "relaxed_ordering"),
				   port ? FACT(ctx, port, "device_id") : "os.cpu_model" });
}

static void check_unsafe(struct rule_context *ctx)
{
	size_t unsafe = 0, before;

	if (skip_without_ends(ctx))
		return;
	before = ctx->findings->count;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_device *port;
		const char *fact;

		if (!is_endpoint(ctx, d) || is_absent(d->relaxed_ordering) ||
		    !is_unsafe(ctx->node, d))
			continue;
		port = root_port(ctx->node, d);
		fact = FACT(ctx, d, "relaxed_ordering");
		unsafe++;
		if (!is_known(d->relaxed_ordering))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
		else if (d->relaxed_ordering.value)
			fail_unsafe(ctx, d, port);
		else
			PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
	}
	if (ctx->findings->count > before || unsafe)
		return;
	NOT_APPLICABLE(ctx, .observed = "no GPU or NIC is below a root port with this erratum",
		       .evidence = { "pci.devices" });
}

#define SOURCES_ORDERING                                                                            \
	"Linux 6.1.192: drivers/pci/quirks.c (quirk_relaxedordering_disable), drivers/pci/probe.c " \
	"(pci_configure_relaxed_ordering)\n"

static const struct rule pci_ordering_rules[] = {
	{
		.id = "pci/relaxed-ordering-off",
		.title = "RDMA is slow: relaxed ordering is off on a platform that needs it",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_off,
		.impact =
			"RDMA stays below the line rate. 150 of 200 Gb/s on EPYC, and on Emerald Rapids 16 instead of more than "
			"40 GB/s were reported.",
		.then = THEN_REBOOT,
		.remedy = "Switch on PCIe Relaxed Ordering in the firmware setup of the server.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads =
			"Enable Relaxed Ordering in the device control register of GPUs and NICs, and the processor.",
		.why = "With the bit off the device may not mark its writes as relaxed, whatever NCCL or UCX ask for. UCX's "
		       "authors measured the need on AMD EPYC and, for GPU memory, on Intel Emerald Rapids. For other NICs than "
		       "ConnectX, and on Sapphire Rapids, Granite Rapids and Sierra Forest, this is a note.",
		.check = "lspci -vv -s BDF | grep RlxdOrd",
		.sources = SOURCES_ORDERING
		"UCX 9466d10 (2026-08-21): src/ucs/arch/cpu.h, ucs_cpu_model_prefer_relaxed_order(); "
		"src/uct/ib/base/ib_md.h, uct_ib_md_relaxed_order_auto_mem_types()\n"
		"github.com/openucx/ucx pulls 8062, 10955, 11532\n"
		"NCCL user guide (2026-06-11): env.rst, NCCL_IB_PCI_RELAXED_ORDERING",
	},
	{
		.id = "pci/relaxed-ordering-unsafe-platform",
		.title = "RDMA can stall: relaxed ordering is on below a root port with an erratum",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_unsafe,
		.impact =
			"Large messages are slow: with perftest a latency was about 250 times as long. On the Opteron A1100 data "
			"can be out of order.",
		.then = THEN_REBOOT,
		.remedy =
			"Switch off PCIe Relaxed Ordering in the firmware setup of the server. Until then set "
			"NCCL_IB_PCI_RELAXED_ORDERING=0 in jobs, and unset UCX_IB_PCI_RELAXED_ORDERING.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads =
			"Enable Relaxed Ordering in the device control register of GPUs and NICs, and the PCI id of the root "
			"port above; NCCL and its release, NCCL_IB_PCI_RELAXED_ORDERING, UCX_IB_PCI_RELAXED_ORDERING.",
		.why = "The kernel's quirk names the root ports of Haswell and Broadwell servers and of AMD's Opteron A1100. "
		       "Linux clears the bit there. Copies between devices below one switch do not pass the root port. NCCL registers its "
		       "buffers with relaxed ordering on every processor. UCX does so by itself on AMD EPYC, for GPU memory on "
		       "Intel Emerald Rapids, and where a NIC's firmware takes nothing else. Where neither uses it, this is a note.",
		.check =
			"lspci -nn | grep -E '8086:(2f0|6f0)|1022:1a0[0-2]'; lspci -vv -s BDF | grep RlxdOrd",
		.sources = SOURCES_ORDERING
		"github.com/linux-rdma/perftest issue 116\n"
		"NCCL 2.30.7: src/transport/net_ib/init.cc (IB_PCI_RELAXED_ORDERING, 2 is the default)\n"
		"UCX 9466d10 (2026-08-21): src/ucs/arch/cpu.h, ucs_cpu_model_prefer_relaxed_order(); "
		"src/uct/ib/base/ib_md.h, uct_ib_md_relaxed_order_auto_mem_types(); "
		"src/uct/ib/mlx5/dv/ib_mlx5dv_md.c, relaxed_order_required",
	},
};

RULE_TABLE(pci_ordering);
