/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fact.h - what one observed value is, and the descriptions of the structs of facts. With them one piece of
 * code writes every struct as JSON, reads it back, compares two, and finds a value by its path.
 *
 * A fact is known, absent or unknown. Unknown is zero, so whatever no probe filled is unknown.
 * In JSON an unknown is left out, an absent is null and a known is its value.
 */
#ifndef FACT_H
#define FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/span.h"
#include "base/window.h"

struct json_object;

enum fact_state {
	FACT_UNKNOWN = 0, /* not read, or could not be read */
	FACT_ABSENT,	  /* looked for, and not there */
	FACT_KNOWN,
};

struct fact_bool {
	enum fact_state state;
	bool value;
};

/* One word of a fixed list. Each use names its enum. */
struct fact_enum {
	enum fact_state state;
	int value;
};

struct fact_u64 {
	enum fact_state state;
	uint64_t value;
};

struct fact_str {
	enum fact_state state;
	const char *value; /* valid UTF-8, in the node's arena; "" can be a known value */
};

/* The common layout of every LIST(). */
struct fact_list {
	enum fact_state state;
	uint32_t count;
	void *items;	 /* room for the next power of two of count */
	uint32_t sorted; /* so many items at its beginning are in the order of their names */
};

#define LIST(T)                        \
	struct {                       \
		enum fact_state state; \
		uint32_t count;        \
		T *items;              \
		uint32_t sorted;       \
	}

#define FACT_UNLIMITED UINT64_MAX

#define is_known(fact) ((fact).state == FACT_KNOWN)
#define is_absent(fact) ((fact).state == FACT_ABSENT)
#define is_unknown(fact) ((fact).state == FACT_UNKNOWN)
/* Returns true if a probe has determined the fact: it is known or absent. A list whose folder does not exist is absent and has
 * no items. */
#define was_read(fact) ((fact).state != FACT_UNKNOWN)
/* Known and equal to (or not equal to) a value: false for what is unknown or absent. */
#define known_is(fact, v) ((fact).state == FACT_KNOWN && (fact).value == (v))
#define known_not(fact, v) ((fact).state == FACT_KNOWN && (fact).value != (v))

/* The first character distinguishes nearly all. */
static inline bool str_is(struct fact_str fact, const char *value)
{
	return fact.state == FACT_KNOWN && *fact.value == *value && strcmp(fact.value, value) == 0;
}
bool str_starts(struct fact_str fact, const char *prefix);
/* Compares plain strings, either of which may be NULL. */
bool same_text(const char *a, const char *b);

static inline struct fact_bool fact_bool(bool value)
{
	return (struct fact_bool){ FACT_KNOWN, value };
}

static inline struct fact_u64 fact_u64(uint64_t value)
{
	return (struct fact_u64){ FACT_KNOWN, value };
}

static inline struct fact_enum fact_enum(int value)
{
	return (struct fact_enum){ FACT_KNOWN, value };
}

#define FACT_NONE(type) ((struct type){ .state = FACT_ABSENT })

/* Copies N bytes into the arena; bytes that are not UTF-8, and NULs, become U+FFFD. */
struct fact_str fact_strn(struct arena *arena, const char *s, size_t n);
struct fact_str fact_str(struct arena *arena, const char *s);

/* The next item of a list, zeroed; makes the list known. A caller that removes items zeroes them. */
#define LIST_ADD(arena, list) \
	((typeof(&(list)->items[0]))fact_list_add((arena), (list), sizeof((list)->items[0])))
void *fact_list_add(struct arena *arena, void *list, size_t item_size);
/* Room for that many items, zeroed, for a list that is made at once and may be added to as any other. */
void *fact_list_room(struct arena *arena, size_t count, size_t item_size);
struct desc;
/* Sorts by the first member of each item, which must be a struct fact_str or a char pointer. */
void fact_list_sort(void *list, size_t item_size, int (*compare)(const void *, const void *));
/* Puts the items in the order of their names, unless their order has a meaning or they lack names. */
void fact_list_order(const struct desc *desc, struct fact_list *list);
/* The first item whose first member, a struct fact_str, is KEY; fast if the list is in that order. */
#define LIST_FIND(list, key) \
	((const typeof((list)->items[0]) *)fact_list_find((list), sizeof((list)->items[0]), (key)))
const void *fact_list_find(const void *list, size_t item_size, const char *key);

/* Makes all strings and lists safe to use, after all facts are filled: a string that is not known becomes "", such a
 * list has no items, and the others are settled. A sentence that uses one without a check then has a hole, and nothing
 * crashes. */
struct field;
void fact_close_holes(const struct desc *desc, void *facts);
void field_close_holes(const struct field *field, void *value);

#define for_each(item, list)                                       \
	for (const typeof((list)->items[0]) *item = (list)->items; \
	     item < (list)->items + (list)->count; item++)
#define for_each_mut(item, list)                                                                   \
	for (typeof(&(list)->items[0]) item = (list)->items; item < (list)->items + (list)->count; \
	     item++)

/* ---- descriptions ---- */

enum field_type {
	FIELD_BOOL,
	FIELD_ENUM,
	FIELD_U64,
	FIELD_HEX,   /* struct fact_u64, written "0x1d": registers, ids, addresses */
	FIELD_LIMIT, /* struct fact_u64, FACT_UNLIMITED written "unlimited" */
	FIELD_STR,
	FIELD_STRS,   /* LIST(const char *) */
	FIELD_STRUCT, /* a struct within; see desc.optional */
	FIELD_LIST,   /* LIST(struct ...) */
};

struct field {
	const char *name; /* the JSON key: the member's own name, with its unit */
	size_t length;	  /* of that name */
	enum field_type type;
	size_t offset;
	const struct desc *sub;	  /* FIELD_STRUCT, FIELD_LIST */
	const char *const *words; /* FIELD_ENUM: NULL-terminated, in the enum's order */
	/* The file that the value comes from; {0}, {1} stand for the keys of the lists above it, {0/} for one with
	 * slashes for its dots. NULL: as the enclosing field says. */
	const char *source;
};

/*
 * A struct whose first field is a string or number has that as its identity in lists:
 * pci.devices[0000:1b:00.0], driver.params.RegistryDwords. A struct that has members "file" (or
 * "source") and "line" carries its own source.
 */
struct desc {
	const char *name;
	size_t size;
	bool optional; /* begins with an enum fact_state of its own */
	bool archive;  /* a file, by its "path", that the files named below it are in */
	bool ordered;  /* as list items: the order means something, and is kept */
	bool distinct; /* though ordered, no two items have one name, and by it they are compared */
	const struct field *fields;
	size_t count;
};

#define FIELD_OF(T, m, ctype, ...)                                                                 \
	{                                                                                          \
		.name = #m, .length = sizeof(#m) - 1,                                              \
		.offset = offsetof(struct T, m) +                                                  \
			  0 * sizeof(char[__builtin_types_compatible_p(typeof(((struct T *)0)->m), \
								       ctype)                      \
						  ? 1                                              \
						  : -1]),                                          \
		__VA_ARGS__                                                                        \
	}
#define F_BOOL(T, m, src) FIELD_OF(T, m, struct fact_bool, .type = FIELD_BOOL, .source = src)
#define F_U64(T, m, src) FIELD_OF(T, m, struct fact_u64, .type = FIELD_U64, .source = src)
#define F_HEX(T, m, src) FIELD_OF(T, m, struct fact_u64, .type = FIELD_HEX, .source = src)
#define F_LIMIT(T, m, src) FIELD_OF(T, m, struct fact_u64, .type = FIELD_LIMIT, .source = src)
#define F_STR(T, m, src) FIELD_OF(T, m, struct fact_str, .type = FIELD_STR, .source = src)
#define F_ENUM(T, m, w, src) \
	FIELD_OF(T, m, struct fact_enum, .type = FIELD_ENUM, .words = w, .source = src)
#define F_STRUCT(T, m, d, src) \
	FIELD_OF(T, m, typeof(((struct T *)0)->m), .type = FIELD_STRUCT, .sub = &(d), .source = src)
/* Lists are anonymous structs, so only their size can be checked here. */
#define F_STRS(T, m, src) \
	FIELD_OF(T, m, typeof(((struct T *)0)->m), .type = FIELD_STRS, .source = src)
#define F_LIST(T, m, d, src) \
	FIELD_OF(T, m, typeof(((struct T *)0)->m), .type = FIELD_LIST, .sub = &(d), .source = src)

#define DESC(T, ...)                                                              \
	{                                                                         \
		.name = #T, .size = sizeof(struct T), .fields = T##_fields,       \
		.count = ARRAY_SIZE(T##_fields) +                                 \
			 0 * sizeof(char[ARRAY_SIZE(T##_fields) <= 64 ? 1 : -1]), \
		__VA_ARGS__                                                       \
	}

/* ---- what one description gives ---- */

/* fact-json.c: a new JSON object; the caller owns it. */
struct json_object *fact_to_json(const struct desc *desc, const void *facts);

/* A document whose facts take more is refused, because the rest of the arena is needed for their evaluation. */
#define FACT_BYTES_MAX (ARENA_BYTES / 2)
/* Most items of one list of it; the longest that a probe makes has 8192. */
#define FACT_ITEMS_MAX 16384

struct fact_error {
	char text[264]; /* the place in the document, and the error */
};

/* fact-read.c: fills FACTS, which must be zeroed, from a text, whole documents included, and
 * settles them. 0, or -EINVAL with ERROR filled; a text that is not right may be refused for a fact
 * that comes before the place. With LENIENT, keys that the description does not have are passed
 * over (a document of a later minor version). */
int fact_from_json(const struct desc *desc, void *facts, struct span json, struct arena *arena,
		   bool lenient, struct fact_error *error);

/* Documents that are mostly alike, as of a fleet's nodes: a section (a member that is a struct)
 * that is written as it was in the document before is not read again. Zeroed to begin with. */
struct fact_series {
	struct arena *arena;
	bool lenient;
	struct fact_section {
		struct span text;
		const void *facts;
	} sections[64];
};

/* Reads one more document like the last one. FACTS are valid until the next is read. */
int fact_series_read(struct fact_series *series, const struct desc *desc, void *facts,
		     struct span json, bool lenient, struct fact_error *error);
void fact_series_end(struct fact_series *series);

/* fact-path.c */
struct fact_ref {
	const struct field *field;
	const void *value;  /* points to the struct fact_..., list or struct */
	const char *source; /* in the arena given: the file of the value; or NULL */
	uint64_t line;	    /* in that file, from 1; 0: no line */
};

/* LIST[KEY].MEMBER. Rules name such a path for every device, but few paths are shown. This is faster than printf(). */
const char *fact_path(struct arena *arena, const char *list, const char *key, const char *member);
/* LIST[#INDEX].MEMBER, for a list whose items have no keys. */
const char *fact_item_path(struct arena *arena, const char *list, size_t index, const char *member);
/* The same of ITEM, which is in the list LIST of NODE: ITEM_FACT(arena, node, modprobe.options, option, text). The
 * compiler checks that there are such a list and such a member. */
#define ITEM_FACT(arena, node, list, item, member)                                         \
	fact_item_path((arena), #list,                                                     \
		       (size_t)((item) - (node)->list.items) + 0 * sizeof((item)->member), \
		       #member)

/* Finds "pci.devices[0000:1b:00.0].bars[1].size_bytes". 0; -ENOENT when a list has no such item;
 * -EINVAL when no description has such a field. */
int fact_find(const struct desc *desc, const void *facts, const char *path, struct arena *arena,
	      struct fact_ref *ref);
/* The value as JSON (new; NULL when it is absent), for evidence. */
struct json_object *fact_ref_json(const struct fact_ref *ref);
enum fact_state fact_ref_state(const struct fact_ref *ref);

/* fact-copy.c: copies FROM and all that it points to into TO, which has no other content, and ARENA. WINDOW: the memory
 * of FROM, written by a process that is not trusted; invalid values become unknown. NULL: FROM is of this process. */
void fact_copy(const struct desc *desc, void *to, struct arena *arena, const void *from,
	       const struct window *window);

/* fact-compare.c: calls DIFFERS for every path at which A and B are not the same; a NULL value is
 * one that is unknown or not there. ARENA is for what it needs meanwhile. Returns the number of differences. */
typedef void fact_differs(void *user, const char *path, struct json_object *a,
			  struct json_object *b);
size_t fact_compare(const struct desc *desc, const void *a, const void *b, struct arena *arena,
		    fact_differs *differs, void *user);

/* Used by the three above. */
const struct field *desc_field(const struct desc *desc, const char *name, size_t n);
/* The identity of a list item, or NULL: in BUFFER where it is a number. */
const char *desc_key(const struct desc *desc, const void *item, char buffer[24]);
/* Returns the name by which ITEM is found in another node's list; NULL if only its position identifies it. */
const char *desc_name(const struct desc *desc, const void *item, char buffer[24]);
enum fact_state field_state(const struct field *field, const void *value);
struct json_object *field_to_json(const struct field *field, const void *value);
/* Returns NUMBER in decimal digits, in BUFFER; many times faster than printf(). */
const char *fact_decimal(uint64_t number, char buffer[24]);
/* A known value that is neither list nor struct, as a word. BUFFER is for a number. */
const char *field_text(const struct field *field, const void *value, char buffer[24]);

#endif
