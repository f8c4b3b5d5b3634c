/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nccl-xml.c - NCCL's topology file as NCCL's own parser reads it (NCCL 2.30.7: src/graph/xml.cc, xmlGetNode(),
 * xmlLoadSub()), and the attributes of a cpu element that it needs (src/graph/topo.cc, ncclTopoAddCpu()).
 */
#include "parse/nccl-xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STRING_MAX 255 /* MAX_STR_LEN */
#define NODES_MAX 256  /* NCCL_TOPO_XML_MAX_NODES */
#define DEPTH_MAX 64
#define END (-1)

static const char *const attribute_names[] = { "version", "numaid",   "arch",
					       "vendor",  "familyid", "modelid" };
enum { VERSION, NUMAID, ARCH, VENDOR, FAMILYID, MODELID };

struct element {
	struct span name;
	struct span values[ARRAY_SIZE(attribute_names)]; /* without P: not set */
	size_t line;
	enum { NONE, OPEN, CLOSE, SINGLE } type;
	bool used; /* NCCL has a handler for it; otherwise it and all its children are ignored */
};

struct reader {
	struct span rest;
	size_t line, nodes;
	const char *cpu_lacks; /* of the last cpu element */
	size_t cpu_line;
	struct nccl_xml *answer;
};

static bool reject(struct reader *r, const char *fault)
{
	if (!r->answer->fault) {
		r->answer->fault = fault;
		r->answer->fault_line = r->line;
	}
	return false;
}

static int next(struct reader *r)
{
	int c;

	if (!r->rest.n)
		return END;
	c = (unsigned char)*r->rest.p;
	r->rest = (struct span){ r->rest.p + 1, r->rest.n - 1 };
	r->line += c == '\n';
	return c;
}

/* Reads "VALUE" and the character after it. */
static bool read_value(struct reader *r, struct span *value, int *last)
{
	int quote = next(r), c;

	if (quote != '"' && quote != '\'')
		return reject(r, "a value without quotes");
	*value = (struct span){ r->rest.p, 0 };
	while ((c = next(r)) != quote) {
		if (c == END)
			return reject(r, "the file ends within a value");
		if (++value->n == STRING_MAX - 1)
			return reject(r, "a value of more than 253 characters");
	}
	*last = next(r);
	return *last != END || reject(r, "the file ends within a tag");
}

/* VALUE is NULL if a name without a value is allowed. */
static bool read_token(struct reader *r, struct span *name, struct span *value, int *last)
{
	int c;

	*name = (struct span){ r->rest.p, 0 };
	for (;;) {
		c = next(r);
		if (c == END)
			return reject(r, "the file ends within a tag");
		if (c == '=')
			return value ? read_value(r, value, last)
				     : reject(r, "a value where a name should be");
		if (c && strchr(" >/\n\r", c)) {
			*last = c;
			return true;
		}
		if (++name->n == STRING_MAX - 1)
			return reject(r, "a name of more than 253 characters");
	}
}

/* START is the text after "<!--". */
static bool skip_comment(struct reader *r, struct span start)
{
	size_t end = 0;

	while (end + 3 <= start.n && memcmp(start.p + end, "-->", 3) != 0)
		end++;
	if (end + 3 > start.n)
		return reject(r, "a comment without its end");
	while (r->rest.p < start.p + end + 3)
		next(r);
	return true;
}

static bool read_attributes(struct reader *r, struct element *e, int c)
{
	struct span name, value;

	while (c == ' ') {
		value = (struct span){ 0 };
		if (!read_token(r, &name, &value, &c))
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(attribute_names); i++)
			if (span_is(name, attribute_names[i]) && !e->values[i].p)
				e->values[i] = value.p ? value : (struct span){ name.p, 0 };
	}
	if (c == '/') {
		e->type = SINGLE;
		if (!read_token(r, &name, NULL, &c))
			return false;
	}
	if (c == '\n' || c == '\r')
		return reject(r, "a line break within a tag");
	if (c == '?')
		return reject(r, "an XML declaration");
	return c == '>' || reject(r, "a tag without \">\"");
}

static bool read_close(struct reader *r, struct element *e)
{
	int c;

	e->type = CLOSE;
	return read_token(r, &e->name, NULL, &c) &&
	       (c == '>' || reject(r, "a closing tag without \">\""));
}

static bool read_element(struct reader *r, struct element *e)
{
	int c;

	for (;;) {
		*e = (struct element){ 0 };
		do
			c = next(r);
		while (c == ' ' || c == '\n' || c == '\r');
		if (c == END)
			return true;
		if (c != '<')
			return reject(r, c == '\t' ? "a tab between elements"
						   : "text between elements");
		e->line = r->line;
		if (!read_token(r, &e->name, NULL, &c))
			return false;
		if (!span_starts(e->name, "!--"))
			break;
		if (!skip_comment(r,
				  (struct span){ e->name.p + 3,
						 (size_t)(r->rest.p + r->rest.n - e->name.p) - 3 }))
			return false;
	}
	if (!e->name.n && c == '/')
		return read_close(r, e);
	e->type = OPEN;
	return read_attributes(r, e, c);
}

/* The elements that NCCL handles below each other; all others it ignores. */
static bool is_used(const struct element *parent, struct span name)
{
	static const char *const below[][2] = {
		{ "system", "cpu" }, { "cpu", "pci" }, { "cpu", "nic" },     { "pci", "pci" },
		{ "pci", "gpu" },    { "pci", "nic" }, { "pci", "pcilink" }, { "gpu", "nvlink" },
		{ "gpu", "c2c" },    { "nic", "net" },
	};

	if (!parent)
		return span_is(name, "system");
	for (size_t i = 0; parent->used && i < ARRAY_SIZE(below); i++)
		if (span_is(parent->name, below[i][0]) && span_is(name, below[i][1]))
			return true;
	return false;
}

static bool check_system(struct reader *r, const struct element *e)
{
	struct span version = e->values[VERSION];
	char number[STRING_MAX];

	if (!version.p)
		return reject(r, "the system element has no version");
	memcpy(number, version.p, version.n);
	number[version.n] = '\0';
	return strtol(number, NULL, 0) == 1 ||
	       reject(r, "the version of the system element is not 1");
}

/* NCCL adds missing attributes only for a processor with a GPU or NIC that the job uses. */
static const char *cpu_lacks(const struct element *e)
{
	static const char arch_value[] = "x86_64";
	int lacks = -1;

	if (!e->values[NUMAID].p)
		lacks = NUMAID;
	else if (!e->values[ARCH].p)
		lacks = ARCH;
	else if (span_starts(e->values[ARCH], arch_value) && !e->values[VENDOR].p)
		lacks = VENDOR;
	else if (span_starts(e->values[VENDOR], "GenuineIntel") &&
		 span_starts(e->values[ARCH], arch_value))
		lacks = !e->values[FAMILYID].p ? FAMILYID : !e->values[MODELID].p ? MODELID : -1;
	return lacks < 0 ? NULL : attribute_names[lacks];
}

/* A net element keeps its processor even if the job uses none of its devices (ncclTopoFillNet(), ncclTopoTrimXml()). */
static void note_lack(struct reader *r, const struct element *e, bool net)
{
	struct nccl_xml *answer = r->answer;

	if (!net) {
		r->cpu_lacks = cpu_lacks(e);
		r->cpu_line = e->line;
	}
	if (!r->cpu_lacks || (answer->lacks && (answer->lists_net || !net)))
		return;
	answer->lacks = r->cpu_lacks;
	answer->lacks_line = r->cpu_line;
	answer->lists_net = net;
}

/* Enters E below PARENT. */
static bool enter(struct reader *r, const struct element *parent, struct element *e)
{
	e->used = is_used(parent, e->name);
	if (!e->used)
		return true;
	r->nodes++;
	if (span_is(e->name, "system"))
		return check_system(r, e);
	if (span_is(e->name, "cpu") || span_is(e->name, "net"))
		note_lack(r, e, span_is(e->name, "net"));
	return true;
}

static bool leave(struct reader *r, const struct element *open, struct span name)
{
	return (name.n == open->name.n && memcmp(name.p, open->name.p, name.n) == 0) ||
	       reject(r, "a closing tag of another element");
}

/* False at the end of the file, or at a fault. */
static bool step(struct reader *r, struct element *stack, size_t *depth)
{
	struct element e;

	/* NCCL looks for room before it reads (xmlLoadSub()). */
	if (r->nodes == NODES_MAX)
		return reject(r, "256 elements or more");
	if (!read_element(r, &e))
		return false;
	if (e.type == NONE)
		return *depth && reject(r, "the file ends before the last closing tag");
	if (e.type == CLOSE && *depth) {
		--*depth;
		return leave(r, &stack[*depth], e.name);
	}
	if (!enter(r, *depth ? &stack[*depth - 1] : NULL, &e))
		return false;
	if (e.type == SINGLE)
		return true;
	if (*depth == DEPTH_MAX) {
		r->answer->too_deep = true;
		return false;
	}
	stack[(*depth)++] = e;
	return true;
}

struct nccl_xml nccl_xml_check(struct span text)
{
	struct nccl_xml answer = { 0 };
	struct reader r = { .rest = text, .line = 1, .answer = &answer };
	struct element stack[DEPTH_MAX];
	size_t depth = 0;

	while (step(&r, stack, &depth))
		continue;
	return answer;
}
