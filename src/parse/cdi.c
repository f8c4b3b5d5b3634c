/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cdi.c - a specification of the Container Device Interface (github.com/cncf-tags/container-device-interface, SPEC.md
 * 1.1.0): what is injected into a container.
 */
#include "parse/cdi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/array.h"
#include "base/library.h"

/* A specification is 8 deep: the document, devices, one of them, its edits, a list, an item, its options. */
#define DEPTH_MAX 16
#define KEY_BYTES 24 /* longer keys are never asked for */
#define NAME_BYTES 4096

#define FUNCTIONS(F)                    \
	F(yaml_parser_initialize)       \
	F(yaml_parser_delete)           \
	F(yaml_parser_set_input_string) \
	F(yaml_parser_parse)            \
	F(yaml_event_delete)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* An open level of the document: a mapping, with the key of the next value, or a sequence, with the key that it
 * belongs to. */
struct level {
	bool mapping;
	bool has_key; /* the next scalar is a value */
	bool filled;  /* it has a key or an item */
	char key[KEY_BYTES];
};

struct walk {
	struct level levels[DEPTH_MAX];
	size_t depth;
	char kind[256];
	cdi_found *found;
	void *user;
	bool stopped;
	/* The item that is open, and at which depth. */
	struct cdi_item item;
	size_t item_depth; /* 0: none */
	bool on_host;	   /* its name is the host's, not only the container's */
	char name[NAME_BYTES];
};

static const struct {
	const char *key;
	enum cdi_what what;
} lists[] = {
	{ "deviceNodes", CDI_DEVICE_NODE },
	{ "mounts", CDI_MOUNT },
	{ "hooks", CDI_HOOK },
	{ "netDevices", CDI_NET_DEVICE },
};

/*
 * What version a specification must have (pkg/cdi/version.go; v1.1.0: specs-go/version.go, requiresV040() to
 * requiresV110()). 0.8.0 and 1.0.0 have no fields of their own.
 */
enum field {
	MOUNT_TYPE,
	DIGIT,
	HOST_PATH,
	ANNOTATIONS,
	DOT,
	GIDS,
	RDT,
	SCHEMATA,
	MONITORING,
	NETS
};
static const struct {
	const char *name, *since;
} fields[] = {
	[MOUNT_TYPE] = { "type of a mount", "0.4.0" },
	[DIGIT] = { "a device name that begins with a digit", "0.5.0" },
	[HOST_PATH] = { "hostPath of a device node", "0.5.0" },
	[ANNOTATIONS] = { "annotations", "0.6.0" },
	[DOT] = { "a dot in the class of kind", "0.6.0" },
	[GIDS] = { "additionalGids", "0.7.0" },
	[RDT] = { "intelRdt", "0.7.0" },
	[SCHEMATA] = { "schemata of intelRdt", "1.1.0" },
	[MONITORING] = { "enableMonitoring of intelRdt", "1.1.0" },
	[NETS] = { "netDevices", "1.1.0" },
};

static void take_field(struct walk *w, enum field field, size_t line)
{
	struct cdi_item item = { .what = CDI_FIELD,
				 .name = span_of(fields[field].name),
				 .since = fields[field].since,
				 .line = line };

	w->stopped = w->stopped || !w->found(w->user, span_of(w->kind), &item);
}

static void copy(char *to, size_t room, struct span from)
{
	snprintf(to, room, "%.*s", from.n < room ? (int)from.n : 0, from.p);
}

/* Opens the mapping as an item, if it is one of the lists of containerEdits. */
static void open_item(struct walk *w, size_t line)
{
	const struct level *list = w->depth > 3 ? &w->levels[w->depth - 2] : NULL;

	if (w->item_depth || !list || list->mapping ||
	    strcmp(w->levels[w->depth - 4].key, "containerEdits") != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (strcmp(list->key, lists[i].key) != 0)
			continue;
		w->item = (struct cdi_item){ .what = lists[i].what };
		w->item_depth = w->depth;
		w->on_host = false;
		w->name[0] = '\0';
		if (lists[i].what == CDI_NET_DEVICE)
			take_field(w, NETS, line);
	}
}

static bool is_key(const struct level *level, const char *key)
{
	return strcmp(level->key, key) == 0;
}

/* The mapping is that of the whole document, or of one of its devices. */
static bool has_annotations(const struct walk *w, size_t depth)
{
	return depth == 1 ||
	       (depth == 3 && !w->levels[1].mapping && is_key(&w->levels[1], "devices"));
}

/* Fields that a mapping or a sequence is the value of; the level is open already. */
static void open_field(struct walk *w, size_t line)
{
	const struct level *above = w->depth > 1 ? &w->levels[w->depth - 2] : NULL;
	const struct level *edits = w->depth > 2 ? &w->levels[w->depth - 3] : NULL;

	if (!above || !above->mapping || !edits || w->item_depth)
		return;
	if (is_key(above, "intelRdt") && is_key(edits, "containerEdits"))
		take_field(w, RDT, line);
	else if (is_key(above, "schemata") && is_key(edits, "intelRdt"))
		take_field(w, SCHEMATA, line);
}

/* Fields that count from their first key or item on. */
static void take_first(struct walk *w, size_t line)
{
	struct level *level = &w->levels[w->depth - 1];
	const struct level *above = w->depth > 1 ? &w->levels[w->depth - 2] : NULL;
	const struct level *edits = w->depth > 2 ? &w->levels[w->depth - 3] : NULL;

	if (level->filled || !above || !above->mapping || w->item_depth)
		return;
	level->filled = true;
	if (level->mapping && is_key(above, "annotations") && has_annotations(w, w->depth - 1))
		take_field(w, ANNOTATIONS, line);
	else if (!level->mapping && is_key(above, "additionalGids") && edits &&
		 is_key(edits, "containerEdits"))
		take_field(w, GIDS, line);
}

static void close_item(struct walk *w)
{
	w->item.name = span_of(w->name);
	w->item_depth = 0;
	w->stopped = !w->found(w->user, span_of(w->kind), &w->item);
}

static int open_level(struct walk *w, bool mapping, size_t line)
{
	struct level *above = w->depth ? &w->levels[w->depth - 1] : NULL;

	if (w->depth == DEPTH_MAX)
		return -EBADMSG;
	w->levels[w->depth] = (struct level){ .mapping = mapping };
	/* A sequence, and its items, have the name of the key whose value it is. */
	if (above && !mapping)
		copy(w->levels[w->depth].key, KEY_BYTES, span_of(above->key));
	w->depth++;
	open_field(w, line);
	if (mapping)
		open_item(w, line);
	return 0;
}

static void close_level(struct walk *w)
{
	if (w->item_depth == w->depth)
		close_item(w);
	w->depth--;
	if (w->depth)
		w->levels[w->depth - 1].has_key = false;
}

static void take_name(struct walk *w, struct span value, size_t line, bool on_host)
{
	if (w->on_host && !on_host)
		return;
	w->on_host = on_host;
	copy(w->name, sizeof(w->name), value);
	w->item.line = line;
}

static void take_value(struct walk *w, const char *key, struct span value, size_t line)
{
	bool node = w->item.what == CDI_DEVICE_NODE;

	if (node && strcmp(key, "hostPath") == 0 && value.n)
		take_field(w, HOST_PATH, line);
	else if (w->item.what == CDI_MOUNT && strcmp(key, "type") == 0 && value.n)
		take_field(w, MOUNT_TYPE, line);
	if (strcmp(key, "hostPath") == 0 || strcmp(key, "hostInterfaceName") == 0)
		take_name(w, value, line, true);
	else if (strcmp(key, "path") == 0 && (node || w->item.what == CDI_HOOK))
		take_name(w, value, line, !node);
	else if (node && strcmp(key, "type") == 0)
		w->item.typed = value.n > 0;
	else if (node && strcmp(key, "major") == 0)
		w->item.numbered = span_u64(value, 10, &w->item.major) == 0 && w->item.major;
	else if (node && strcmp(key, "minor") == 0 && span_u64(value, 10, &w->item.minor))
		w->item.minor = 0;
}

/* devices: [{name: "0"}] */
static bool names_device(const struct walk *w)
{
	return w->depth == 3 && !w->item_depth && !w->levels[1].mapping &&
	       strcmp(w->levels[1].key, "devices") == 0 && strcmp(w->levels[2].key, "name") == 0;
}

static void take_device(struct walk *w, struct span name, size_t line)
{
	struct cdi_item device = { .what = CDI_DEVICE, .name = name, .line = line };

	if (name.n && name.p[0] >= '0' && name.p[0] <= '9')
		take_field(w, DIGIT, line);
	w->stopped = w->stopped || !w->found(w->user, span_of(w->kind), &device);
}

/* The class is what follows the vendor: gpu of nvidia.com/gpu. */
static void take_kind(struct walk *w, struct span kind, size_t line)
{
	size_t slash = span_find(kind, '/');

	copy(w->kind, sizeof(w->kind), kind);
	w->stopped = !w->found(w->user, span_of(w->kind), NULL);
	if (slash < kind.n && memchr(kind.p + slash, '.', kind.n - slash))
		take_field(w, DOT, line);
}

static void take_version(struct walk *w, struct span value, size_t line)
{
	struct cdi_item version = { .what = CDI_VERSION, .name = value, .line = line };

	w->stopped = !w->found(w->user, span_of(w->kind), &version);
}

/* A value of the document, of a device, or of intelRdt. */
static void take_other(struct walk *w, const char *key, struct span value, size_t line)
{
	if (w->depth == 1 && strcmp(key, "kind") == 0)
		take_kind(w, value, line);
	else if (w->depth == 1 && strcmp(key, "cdiVersion") == 0)
		take_version(w, value, line);
	else if (names_device(w))
		take_device(w, value, line);
	else if (w->depth > 2 && strcmp(key, "enableMonitoring") == 0 &&
		 is_key(&w->levels[w->depth - 2], "intelRdt") && span_is(value, "true"))
		take_field(w, MONITORING, line);
}

static void take_scalar(struct walk *w, struct span value, size_t line)
{
	struct level *level = w->depth ? &w->levels[w->depth - 1] : NULL;

	if (level)
		take_first(w, line);
	if (w->stopped || !level || !level->mapping)
		return;
	if (!level->has_key) {
		copy(level->key, sizeof(level->key), value);
		level->has_key = true;
		return;
	}
	level->has_key = false;
	if (w->item_depth == w->depth)
		take_value(w, level->key, value, line);
	else if (!w->item_depth)
		take_other(w, level->key, value, line);
}

/* 1: more is to come. */
static int take_event(struct walk *w, const yaml_event_t *event)
{
	size_t line = event->start_mark.line + 1;

	switch (event->type) {
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_START_EVENT:
		return 1;
	case YAML_SCALAR_EVENT:
		take_scalar(w,
			    (struct span){ (const char *)event->data.scalar.value,
					   event->data.scalar.length },
			    line);
		return !w->stopped;
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		if (open_level(w, event->type == YAML_MAPPING_START_EVENT, line))
			return -EBADMSG;
		return !w->stopped;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		close_level(w);
		return !w->stopped;
	case YAML_ALIAS_EVENT:
		return -EBADMSG;
	default:
		return 0;
	}
}

int cdi_read(struct span text, cdi_found *found, void *user, size_t *line)
{
	struct walk w = { .found = found, .user = user };
	yaml_parser_t parser;
	int rc = LIBRARY_LOAD(LIBYAML, FUNCTIONS);

	*line = 0;
	if (rc)
		return rc;
	if (!lib.yaml_parser_initialize(&parser))
		return -ENOMEM;
	lib.yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	do {
		yaml_event_t event;

		if (!lib.yaml_parser_parse(&parser, &event)) {
			rc = parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EBADMSG;
			*line = parser.problem_mark.line + 1;
			break;
		}
		*line = event.start_mark.line + 1;
		rc = take_event(&w, &event);
		lib.yaml_event_delete(&event);
	} while (rc > 0);
	lib.yaml_parser_delete(&parser);
	return rc;
}
