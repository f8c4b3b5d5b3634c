/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-claims.c - the owners of the BARs of display controllers, and the devices that driverctl binds. */
#include "probes/pci/pci-claims.h"

#include <string.h>

#include "parse/iomem.h"
#include "parse/pcie.h"
#include "query/node-find.h"

#define IOMEM "/proc/iomem"
#define IOMEM_MAX (1 << 20)
/* Drivers and frame buffers hold a few parts of a BAR each. */
#define CLAIMS_MAX 256
#define OVERRIDES "/etc/driverctl.d"
#define OVERRIDES_MAX 256
#define DISPLAY 0x03 /* base class of display controllers (PCI Code and ID Assignment, 1.4) */

static bool is_display(const struct node *node, const char *bdf)
{
	const struct pci_device *d = node_pci(node, bdf);

	return d && is_known(d->class_id) && d->class_id.value >> 16 == DISPLAY;
}

/* Users other than root read zeros. */
static void add_claim(struct probe_context *ctx, const struct iomem_claim *claim)
{
	struct pci_claim *c = LIST_ADD(ctx->arena, &ctx->node->pci.claims);

	c->bdf = fact_str(ctx->arena, claim->bdf);
	c->holder = probe_span(ctx, claim->holder);
	if (claim->start || claim->end) {
		c->start = fact_u64(claim->start);
		c->size_bytes = fact_u64(claim->end - claim->start + 1);
	}
}

void pci_read_claims(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct iomem_walk walk = { 0 };
	struct iomem_claim claim;
	struct span rest;
	int rc = host_read(ctx->host, &text, IOMEM_MAX, IOMEM);

	ctx->node->pci.claims.state = probe_state_always(ctx, rc, IOMEM);
	if (rc)
		return;
	rest = text_span(&text);
	while (iomem_next(&rest, &walk, &claim)) {
		if (!is_display(ctx->node, claim.bdf))
			continue;
		if (ctx->node->pci.claims.count == CLAIMS_MAX) {
			host_gap_note(ctx->host, IOMEM, -EOVERFLOW, "more than 256 parts of BARs");
			ctx->node->pci.claims.state = FACT_UNKNOWN;
			return;
		}
		add_claim(ctx, &claim);
	}
}

void pci_read_overrides(struct probe_context *ctx)
{
	struct pci_facts *pci = &ctx->node->pci;
	_cleanup_names_ struct names names = { 0 };
	struct pci_address address;
	int rc = host_list(ctx->host, &names, OVERRIDES);

	pci->overrides.state = probe_state(rc);
	for (size_t i = 0; i < names.count && pci->overrides.count < OVERRIDES_MAX; i++) {
		struct pci_override *o;

		if (!pci_address_parse(span_of(names.items[i]), &address))
			continue;
		o = LIST_ADD(ctx->arena, &pci->overrides);
		o->bdf = fact_str(ctx->arena, names.items[i]);
		probe_str(ctx, &o->driver, OVERRIDES "/%s", names.items[i]);
	}
}
