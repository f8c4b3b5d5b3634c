/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-capture.c - a node from a file that host-record.c wrote. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/json.h"
#include "facts/fact.h"
#include "host/host-private.h"
#include "parse/base64.h"

struct record {
	const char *question;
	const char *path;
	size_t line;
	struct json_object *json;
};

struct capture {
	char *name;
	struct record *records; /* sorted by question and path */
	size_t count;
};

static const char *const questions[] = { "read", "head", "list", "stat", "link", "query" };

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int order = strcmp(x->question, y->question);

	if (order == 0)
		order = strcmp(x->path, y->path);
	if (order == 0)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

static int add_record(struct capture *c, struct json_object *json, size_t line)
{
	struct record record = { .line = line, .json = json };

	for (size_t i = 0; i < ARRAY_SIZE(questions) && !record.path; i++) {
		record.question = questions[i];
		record.path = json_string(json, questions[i]);
	}
	if (!record.path)
		return -EINVAL;
	if ((c->count & (c->count - 1)) == 0) {
		size_t room = c->count ? c->count * 2 : 1;
		struct record *records = realloc(c->records, room * sizeof(*records));

		if (!records)
			return -ENOMEM;
		c->records = records;
	}
	c->records[c->count++] = record;
	return 0;
}

static int load_line(struct capture *c, struct span line, size_t number, char error[256])
{
	struct json_error why;
	struct json_object *json = json_parse(line.p, line.n, &why);
	bool later;
	int rc;

	if (!json) {
		snprintf(error, 256, "%s:%zu: %s", c->name, number, why.text);
		return -EINVAL;
	}
	if (number == 1) {
		rc = json_check_document(json, "nvnodecheck-capture", &later, &why);
		if (rc)
			snprintf(error, 256, "%s:1: %s", c->name, why.text);
		json_object_put(json);
		return rc;
	}
	rc = add_record(c, json, number);
	if (rc) {
		json_object_put(json);
		snprintf(error, 256, "%s:%zu: not a record of a capture", c->name, number);
	}
	return rc;
}

static const struct record *find(struct host *host, const char *question, const char *path)
{
	struct capture *c = host->capture;
	size_t low = 0, high = c->count;
	struct record key = { .question = question, .path = path };

	/* The first of equal ones: line 0 sorts before every line that there is. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_records(&c->records[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < c->count && strcmp(c->records[low].question, question) == 0 &&
	    strcmp(c->records[low].path, path) == 0)
		return &c->records[low];
	return NULL;
}

/* The record of a question, or the error that it holds; -ENOMSG: it was not asked. */
static int answer(struct host *host, const char *question, const char *path,
		  struct json_object **json)
{
	const struct record *record = find(host, question, path);
	const char *error;

	*json = NULL;
	if (!record)
		return -ENOMSG;
	error = json_string(record->json, "errno");
	if (error)
		return host_error_from_word(error);
	*json = record->json;
	return 0;
}

static int text_record(struct host *host, const char *question, const char *path, struct text *text)
{
	struct json_object *json;
	const char *s;
	int rc = answer(host, question, path, &json);

	if (rc)
		return rc;
	s = json_string(json, "base64");
	if (s) {
		text->data = base64_decode(s, &text->size);
	} else {
		json = json_member(json, "text");
		if (json_object_is_type(json, json_type_string)) {
			text->size = (size_t)json_object_get_string_len(json);
			text->data = malloc(text->size + 1);
			if (text->data) /* a NUL among them included */
				memcpy(text->data, json_object_get_string(json), text->size + 1);
		}
	}
	return text->data ? 0 : -EBADMSG;
}

static int read_record(struct host *host, const char *path, size_t limit, struct text *text)
{
	int rc = text_record(host, "read", path, text);

	if (rc || text->size <= limit)
		return rc;
	text_free(text);
	*text = (struct text){ 0 };
	return -EFBIG;
}

/* The whole file, where it was read whole, begins the same way. */
static int head_record(struct host *host, const char *path, size_t n, struct text *text)
{
	int rc = text_record(host, "head", path, text);

	if (rc == -ENOMSG)
		rc = text_record(host, "read", path, text);
	if (rc == 0 && text->size > n) {
		text->size = n;
		text->data[n] = '\0';
	}
	return rc;
}

/* What a folder can have: another name would lead out of it. */
static bool is_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int list_record(struct host *host, const char *path, struct names *names)
{
	struct json_object *json;
	int rc = answer(host, "list", path, &json);

	if (rc)
		return rc;
	json = json_member(json, "names");
	if (!json_object_is_type(json, json_type_array))
		return -EBADMSG;
	for (size_t i = 0; rc == 0 && i < json_object_array_length(json); i++) {
		struct json_object *name = json_object_array_get_idx(json, i);

		rc = json_object_is_type(name, json_type_string) &&
				     is_name(json_object_get_string(name))
			     ? names_add(names, json_object_get_string(name))
			     : -EBADMSG;
	}
	return rc;
}

static int stat_record(struct host *host, const char *path, struct host_stat *stat)
{
	struct json_object *json, *rdev;
	uint64_t mode = 0;
	int rc = answer(host, "stat", path, &json);

	if (rc)
		return rc;
	if (!json_number(json, "mode", &mode) || !json_number(json, "size", &stat->size) ||
	    !json_number(json, "mtime_s", &stat->mtime_s))
		return -EBADMSG;
	stat->mode = (mode_t)mode;
	rdev = json_member(json, "rdev");
	if (json_object_is_type(rdev, json_type_array) && json_object_array_length(rdev) == 2)
		stat->rdev = makedev(
			(unsigned int)json_object_get_int(json_object_array_get_idx(rdev, 0)),
			(unsigned int)json_object_get_int(json_object_array_get_idx(rdev, 1)));
	return 0;
}

static int link_record(struct host *host, const char *path, char target[PATH_MAX])
{
	struct json_object *json;
	const char *s;
	int rc = answer(host, "link", path, &json);

	if (rc)
		return rc;
	s = json_string(json, "target");
	if (!s || strlen(s) >= PATH_MAX)
		return -EBADMSG;
	strcpy(target, s);
	return 0;
}

static int query_record(struct host *host, const char *key, const struct desc *desc, void *facts,
			struct arena *arena, host_ask *ask, void *user)
{
	struct fact_error error;
	struct json_object *json;
	int rc = answer(host, "query", key, &json);

	(void)ask;
	(void)user;
	if (rc)
		return rc;
	rc = fact_from_json(desc, facts,
			    span_of(json_object_to_json_string_ext(json_member(json, "answer"),
								   JSON_C_TO_STRING_PLAIN)),
			    arena, true, &error);
	if (rc)
		host_gap_note(host, key, -EBADMSG, error.text);
	return rc ? -EBADMSG : 0;
}

bool host_has_recorded(struct host *host, const char *key)
{
	return host->capture && find(host, "query", key);
}

static void close_capture(struct host *host)
{
	struct capture *c = host->capture;

	for (size_t i = 0; i < c->count; i++)
		json_object_put(c->records[i].json);
	free(c->records);
	free(c->name);
	free(c);
}

static const struct host_ops capture_ops = {
	.read = read_record,
	.head = head_record,
	.list = list_record,
	.stat = stat_record,
	.link = link_record,
	.query = query_record,
	.close = close_capture,
};

struct host *host_open_capture(const char *name, const char *text, size_t n, char error[256])
{
	struct host *host = calloc(1, sizeof(*host));
	struct span rest = { text, n }, line;
	int rc = 0;

	if (host)
		host->capture = calloc(1, sizeof(*host->capture));
	if (!host || !host->capture) {
		free(host);
		snprintf(error, 256, "out of memory");
		return NULL;
	}
	host->kind = HOST_CAPTURE;
	host->ops = &capture_ops;
	host->root = -1;
	host->capture->name = strdup(name);
	for (size_t number = 1; rc == 0 && span_cut(&rest, '\n', &line); number++)
		if (span_trim(line).n)
			rc = load_line(host->capture, line, number, error);
	if (rc) {
		host_close(host);
		return NULL;
	}
	if (host->capture->count)
		qsort(host->capture->records, host->capture->count, sizeof(struct record),
		      compare_records);
	return host;
}
