/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nccl-xml.h - NCCL's topology file as NCCL's own parser reads it, which accepts less than XML. */
#ifndef NCCL_XML_H
#define NCCL_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct nccl_xml {
	const char *fault; /* why NCCL rejects the file; NULL: it accepts it */
	size_t fault_line;
	/* an attribute of a cpu element that NCCL needs; NULL: none is missing */
	const char *lacks;
	size_t lacks_line; /* of that element */
	bool lists_net;	   /* it has a net element */
	bool too_deep;	   /* the file was not read to its end */
};

/* Roles of a reader's statements about the file. The name begins with NCCL_XML_WORD and has "-" for blanks. */
#define NCCL_XML_FAULT "fault"
#define NCCL_XML_LACKS "cpu lacks"
#define NCCL_XML_LACKS_OF_NET "cpu of a net lacks"
#define NCCL_XML_WORD "xml-"

struct nccl_xml nccl_xml_check(struct span text);

#endif
