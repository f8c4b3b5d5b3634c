/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-cdi.c - the names in specifications of the Container Device Interface: device files with their numbers,
 * files to mount, hooks to run, interfaces to move.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "parse/cdi.h"
#include "probes/references/references.h"

struct reading {
	struct references *refs;
	bool is_ours;
	const char *kind;
};

/* Returns true for devices of the makers of GPUs and RDMA NICs; no rule checks other vendors' devices. */
static bool is_our_kind(struct span kind)
{
	return span_search(kind, "nvidia.com/") || span_search(kind, "mellanox.com/") ||
	       span_search(kind, "rdma");
}

static void add_node(struct references *refs, const struct cdi_item *item)
{
	const char *claim = NULL;

	if (item->numbered)
		claim = arena_printf(refs->arena, "%" PRIu64 ":%" PRIu64, item->major, item->minor);
	reference_add(refs, REFERENCE_DEVICE, "deviceNodes", item->name, claim, item->line);
}

static void add_version(struct references *refs, const char *role, struct span version, size_t line)
{
	struct reference *item = reference_add(refs, REFERENCE_VALUE, role, version, NULL, line);

	if (item)
		item->found = item->name;
}

static bool references_cdi_found(void *user, struct span kind, const struct cdi_item *item)
{
	struct reading *r = user;

	r->is_ours |= is_our_kind(kind);
	if (!item)
		r->kind = arena_strndup(r->refs->arena, kind.p, kind.n);
	if (!item || !item->name.n)
		return true;
	switch (item->what) {
	case CDI_DEVICE_NODE:
		add_node(r->refs, item);
		break;
	case CDI_MOUNT:
		reference_add(r->refs, REFERENCE_FILE, "mounts", item->name, NULL, item->line);
		break;
	case CDI_HOOK:
		reference_add(r->refs, REFERENCE_PROGRAM, "hooks", item->name, NULL, item->line);
		break;
	case CDI_NET_DEVICE:
		reference_add(r->refs, REFERENCE_INTERFACE, "netDevices", item->name, NULL,
			      item->line);
		break;
	case CDI_DEVICE:
		reference_add(r->refs, REFERENCE_VALUE, CDI_DEVICES, item->name, NULL, item->line);
		break;
	case CDI_VERSION:
		add_version(r->refs, REFERENCE_CDI_VERSION, item->name, item->line);
		break;
	case CDI_FIELD:
		add_version(r->refs,
			    arena_printf(r->refs->arena, REFERENCE_CDI_FIELD "%.*s",
					 SPAN_FMT(item->name)),
			    span_of(item->since), item->line);
	}
	return true;
}

static bool names_our_device(const struct references_facts *facts)
{
	for_each(r, &facts->items)
		if (str_starts(r->name, "/dev/nvidia") || str_starts(r->name, "/dev/infiniband/") ||
		    str_starts(r->name, "/dev/gdrdrv"))
			return true;
	return false;
}

/* "nvidia.com/gpu=0", by which containers ask for it. */
static void qualify_devices(struct references *refs, const char *kind)
{
	for_each_mut(r, &refs->facts->items)
		if (str_is(r->role, CDI_DEVICES)) {
			r->name = fact_str(refs->arena,
					   arena_printf(refs->arena, "%s=%s", kind, r->name.value));
			r->found = r->name;
		}
}

/* Of another vendor's file. */
static void forget_versions(struct references *refs)
{
	reference_forget(refs, REFERENCE_CDI_VERSION);
	for (size_t i = 0; i < refs->facts->items.count; i++)
		if (str_starts(refs->facts->items.items[i].role, REFERENCE_CDI_FIELD))
			reference_forget(refs, refs->facts->items.items[i--].role.value);
}

void reference_read_cdi(struct references *refs, struct span text)
{
	struct reading reading = { .refs = refs };
	size_t line;
	int rc = cdi_read(text, references_cdi_found, &reading, &line);

	if (rc == -ELIBACC)
		refs->error = rc;
	refs->complete &= rc == 0;
	/* The kind comes last in what nvidia-ctk writes. */
	if (!reading.is_ours && !names_our_device(refs->facts)) {
		reference_forget(refs, "deviceNodes");
		reference_forget(refs, "mounts");
		reference_forget(refs, "hooks");
		reference_forget(refs, "netDevices");
		reference_forget(refs, CDI_DEVICES);
		forget_versions(refs);
	}
	if (reading.kind)
		qualify_devices(refs, reading.kind);
	else
		reference_forget(refs, CDI_DEVICES);
}
