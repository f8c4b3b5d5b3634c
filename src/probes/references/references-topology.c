/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-topology.c - the PCI functions that NCCL's topology file lists (NCCL 2.30.7: src/graph/xml.cc). */
#include <ctype.h>
#include <string.h>

#include "parse/nccl-xml.h"
#include "probes/references/references.h"

#define BDF_BYTES 13 /* 0000:00:00.0 */

/* NAME="VALUE" within a tag. */
static bool attribute(struct span tag, const char *name, struct span *value)
{
	size_t n = strlen(name);

	for (size_t i = 1; i + n + 2 < tag.n; i++) {
		if (!isspace((unsigned char)tag.p[i - 1]) || memcmp(tag.p + i, name, n) != 0 ||
		    tag.p[i + n] != '=' || tag.p[i + n + 1] != '"')
			continue;
		value->p = tag.p + i + n + 2;
		value->n = span_find((struct span){ value->p, tag.n - i - n - 2 }, '"');
		return true;
	}
	return false;
}

static const char *role_of(struct span class_id)
{
	return span_starts(class_id, "0x0302") || span_starts(class_id, "0x0300")   ? TOPOLOGY_GPU
	       : span_starts(class_id, "0x0207") || span_starts(class_id, "0x0200") ? TOPOLOGY_NIC
										    : NULL;
}

/* Bridges of a made-up switch have made-up addresses, such as ffff:ff:01.0. */
static void take_tag(struct references *refs, struct span tag, size_t line)
{
	struct span bdf, class_id;
	char name[BDF_BYTES];
	const char *role;

	if (!span_starts(tag, "pci ") || !attribute(tag, "busid", &bdf) ||
	    !attribute(tag, "class", &class_id))
		return;
	role = role_of(class_id);
	if (!role || bdf.n != BDF_BYTES - 1)
		return;
	for (size_t i = 0; i < bdf.n; i++)
		name[i] = (char)tolower((unsigned char)bdf.p[i]);
	reference_add(refs, REFERENCE_FUNCTION, role, (struct span){ name, bdf.n }, NULL, line);
}

static void add_said(struct references *refs, const char *role, const char *said, size_t line)
{
	char *word = arena_printf(refs->arena, "%s%s", NCCL_XML_WORD, said);

	for (char *c = word; *c; c++)
		if (*c == ' ')
			*c = '-';
	reference_add(refs, REFERENCE_VALUE, role, span_of(word), NULL, line);
}

static void check_form(struct references *refs, struct span text)
{
	struct nccl_xml xml = nccl_xml_check(text);

	if (xml.fault)
		add_said(refs, NCCL_XML_FAULT, xml.fault, xml.fault_line);
	else if (xml.lacks)
		add_said(refs, xml.lists_net ? NCCL_XML_LACKS_OF_NET : NCCL_XML_LACKS, xml.lacks,
			 xml.lacks_line);
	if (xml.too_deep)
		refs->complete = false;
}

void reference_read_topology(struct references *refs, struct span text)
{
	struct span rest, tag;
	size_t line = 1;

	check_form(refs, text);
	while (text.n) {
		size_t start = span_find(text, '<');

		for (size_t i = 0; i < start; i++)
			line += text.p[i] == '\n';
		if (start == text.n)
			return;
		rest = (struct span){ text.p + start + 1, text.n - start - 1 };
		text = rest;
		if (!span_cut(&text, '>', &tag))
			return;
		take_tag(refs, tag, line);
		for (size_t i = 0; i < tag.n; i++)
			line += tag.p[i] == '\n';
	}
}
