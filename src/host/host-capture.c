/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-capture.c - a node from a file that host-record.c wrote. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/json-pick.h"
#include "base/json.h"
#include "facts/fact.h"
#include "host/host-private.h"
#include "parse/base64.h"

/* A record is kept as text and parsed again for each question. The file of a stranger then needs only the memory of its
 * text, and one struct record for each line. */
struct record {
	struct span path;
	struct span line;
	uint32_t number;  /* of the line */
	uint8_t question; /* of questions[] */
	bool own_path;	  /* the line does not have it */
};

struct capture {
	char *name;
	struct record *records; /* sorted by question and path */
	size_t count;
};

enum question {
	QUESTION_READ,
	QUESTION_HEAD,
	QUESTION_LIST,
	QUESTION_STAT,
	QUESTION_LINK,
	QUESTION_QUERY,
};

static const char *const questions[] = { "read", "head", "list", "stat", "link", "query" };

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	size_t n = x->path.n < y->path.n ? x->path.n : y->path.n;
	int order = x->question - y->question;

	if (order == 0)
		order = memcmp(x->path.p, y->path.p, n);
	if (order == 0)
		order = (x->path.n > y->path.n) - (x->path.n < y->path.n);
	if (order == 0)
		order = (x->number > y->number) - (x->number < y->number);
	return order;
}

/* The question of VALUES, which json_pick() found, and its path. */
static int take_question(struct record *record, const struct span *values)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(questions) && (!values[i].n || *values[i].p != '"'))
		i++;
	if (i == ARRAY_SIZE(questions))
		return -EINVAL;
	record->question = (uint8_t)i;
	record->path = (struct span){ values[i].p + 1, values[i].n - 2 };
	record->own_path = memchr(record->path.p, '\\', record->path.n);
	if (record->own_path)
		record->path.p = json_picked_string(values[i], &record->path.n);
	return record->path.p ? 0 : -ENOMEM;
}

static void forget_path(struct record *record)
{
	if (record->own_path)
		free((void *)record->path.p);
}

static int keep_record(struct capture *c, const struct record *record)
{
	if (c->count == CAPTURE_RECORDS_MAX)
		return -E2BIG;
	if ((c->count & (c->count - 1)) == 0) {
		size_t room = c->count ? c->count * 2 : 1;
		struct record *records = realloc(c->records, room * sizeof(*records));

		if (!records)
			return -ENOMEM;
		c->records = records;
	}
	c->records[c->count++] = *record;
	return 0;
}

static int add_record(struct capture *c, struct span line, size_t number, char error[256])
{
	struct record record = { .line = line, .number = (uint32_t)number };
	struct span values[ARRAY_SIZE(questions)];
	struct json_error why;
	int rc;

	if (!json_pick(line, questions, ARRAY_SIZE(questions), values, &why)) {
		snprintf(error, 256, "%s:%zu: %s", c->name, number, why.text);
		return -EINVAL;
	}
	rc = take_question(&record, values);
	if (rc == 0)
		rc = keep_record(c, &record);
	if (rc == 0)
		return 0;
	forget_path(&record);
	if (rc == -E2BIG)
		snprintf(error, 256, "%s:%zu: more than %u records", c->name, number,
			 CAPTURE_RECORDS_MAX);
	else
		snprintf(error, 256, "%s:%zu: %s", c->name, number,
			 rc == -ENOMEM ? "out of memory" : "not a record of a capture");
	return rc;
}

static int check_head(const struct capture *c, struct span line, char error[256])
{
	_cleanup_json_ struct json_object *head = NULL;
	struct json_error why;
	bool later;
	int rc = -EINVAL;

	if (json_check(line.p, line.n, &why)) {
		head = json_head(line.p, line.n);
		rc = json_check_document(head, "nvnodecheck-capture", &later, &why);
	}
	if (rc)
		snprintf(error, 256, "%s:1: %s", c->name, why.text);
	return rc;
}

static const struct record *find(struct host *host, enum question question, const char *path)
{
	struct capture *c = host->capture;
	size_t low = 0, high = c->count;
	struct record key = { .question = (uint8_t)question, .path = span_of(path) };

	/* The first of equal keys: line 0 sorts before every line of the file. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_records(&c->records[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < c->count && c->records[low].question == question &&
	    span_is(c->records[low].path, path))
		return &c->records[low];
	return NULL;
}

/* The members NAMES of the answer to a question, or the error that it holds; -ENOMSG: it was not asked. The first name
 * is "errno". */
static int answer(struct host *host, enum question question, const char *path,
		  const char *const *names, size_t count, struct span *values)
{
	const struct record *record = find(host, question, path);
	struct json_error why;
	char *error;
	size_t n;
	int rc;

	if (!record)
		return -ENOMSG;
	if (!json_pick(record->line, names, count, values, &why))
		return -EBADMSG;
	error = json_picked_string(values[0], &n);
	rc = error ? host_error_from_word(error) : 0;
	free(error);
	return rc;
}

/* Most bytes in a capture for one byte of a file: six as \u001f, eight if the letters of base64 are written so. */
#define CODED_BYTES_MAX 8

static char *unpack_base64(struct span value, size_t *n)
{
	_cleanup_free_ char *meant = NULL;
	struct span text;

	if (json_picked_plain(value, &text))
		return base64_decode(text, n);
	meant = json_picked_string(value, &text.n);
	return meant ? base64_decode((struct span){ meant, text.n }, n) : NULL;
}

/* Text that is certainly longer than LIMIT is not decoded. */
static int text_record(struct host *host, enum question question, const char *path, size_t limit,
		       struct text *text)
{
	static const char *const names[] = { "errno", "base64", "text" };
	struct span values[ARRAY_SIZE(names)];
	int rc = answer(host, question, path, names, ARRAY_SIZE(names), values);

	bool coded = rc == 0 && values[1].n && *values[1].p == '"';

	if (rc)
		return rc;
	if (values[coded ? 1 : 2].n / CODED_BYTES_MAX > limit)
		return -EFBIG;
	text->data = coded ? unpack_base64(values[1], &text->size)
			   : json_picked_string(values[2], &text->size);
	return text->data ? 0 : -EBADMSG;
}

static int read_record(struct host *host, const char *path, size_t limit, struct text *text)
{
	int rc = text_record(host, QUESTION_READ, path, limit, text);

	if (rc || text->size <= limit)
		return rc;
	text_free(text);
	*text = (struct text){ 0 };
	return -EFBIG;
}

/* If the whole file was recorded, it has the same beginning. */
static int head_record(struct host *host, const char *path, size_t n, struct text *text)
{
	int rc = text_record(host, QUESTION_HEAD, path, SIZE_MAX, text);

	if (rc == -ENOMSG)
		rc = text_record(host, QUESTION_READ, path, SIZE_MAX, text);
	if (rc == 0 && text->size > n) {
		text->size = n;
		text->data[n] = '\0';
	}
	return rc;
}

/* Valid names in a folder: any other name would lead out of it. */
static bool is_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int add_name(struct names *names, struct span value)
{
	size_t n;
	_cleanup_free_ char *name = json_picked_string(value, &n);

	if (!name || !is_name(name))
		return -EBADMSG;
	return names->count < HOST_NAMES_MAX ? names_add(names, name) : -EOVERFLOW;
}

static int list_record(struct host *host, const char *path, struct names *names)
{
	static const char *const keys[] = { "errno", "names" };
	struct span values[ARRAY_SIZE(keys)];
	_cleanup_scan_ struct json_scan s = { 0 };
	struct json_error why;
	int rc = answer(host, QUESTION_LIST, path, keys, ARRAY_SIZE(keys), values);

	if (rc)
		return rc;
	json_scan_begin(&s, values[1].p, values[1].n, &why);
	if (json_scan_type(&s) != json_type_array)
		return -EBADMSG;
	json_scan_enter(&s);
	while (rc == 0 && json_scan_next(&s, ']')) {
		const char *start = s.at;

		if (!json_scan_value(&s))
			return -EBADMSG;
		rc = add_name(names, (struct span){ start, (size_t)(s.at - start) });
	}
	return rc;
}

/* Two numbers, as in [195, 0]. */
static bool read_pair(struct span value, uint64_t *first, uint64_t *second)
{
	struct span rest, a, b;

	if (value.n < 2 || *value.p != '[')
		return false;
	rest = (struct span){ value.p + 1, value.n - 2 };
	return span_cut(&rest, ',', &a) && span_cut(&rest, ',', &b) && !rest.n &&
	       json_picked_number(span_trim(a), first) && json_picked_number(span_trim(b), second);
}

static int stat_record(struct host *host, const char *path, struct host_stat *stat)
{
	static const char *const names[] = { "errno", "mode", "size", "mtime_s", "rdev", "owner" };
	struct span values[ARRAY_SIZE(names)];
	uint64_t mode, first, second;
	int rc = answer(host, QUESTION_STAT, path, names, ARRAY_SIZE(names), values);

	if (rc)
		return rc;
	if (!json_picked_number(values[1], &mode) || !json_picked_number(values[2], &stat->size) ||
	    !json_picked_number(values[3], &stat->mtime_s))
		return -EBADMSG;
	stat->mode = (mode_t)mode;
	if (read_pair(values[4], &first, &second))
		stat->rdev = makedev((unsigned int)first, (unsigned int)second);
	stat->has_owner = read_pair(values[5], &stat->uid, &stat->gid);
	return 0;
}

static int link_record(struct host *host, const char *path, char target[PATH_MAX])
{
	static const char *const names[] = { "errno", "target" };
	struct span values[ARRAY_SIZE(names)];
	_cleanup_free_ char *s = NULL;
	int rc = answer(host, QUESTION_LINK, path, names, ARRAY_SIZE(names), values);
	size_t n;

	if (rc)
		return rc;
	s = json_picked_string(values[1], &n);
	if (!s || strlen(s) >= PATH_MAX)
		return -EBADMSG;
	strcpy(target, s);
	return 0;
}

static int query_record(struct host *host, const char *key, const struct desc *desc, void *facts,
			struct arena *arena, host_ask *ask, void *user)
{
	static const char *const names[] = { "errno", "answer" };
	struct span values[ARRAY_SIZE(names)];
	struct fact_error error;
	int rc = answer(host, QUESTION_QUERY, key, names, ARRAY_SIZE(names), values);

	(void)ask;
	(void)user;
	if (rc)
		return rc;
	rc = fact_from_json(desc, facts, values[1].n ? values[1] : SPAN("null"), arena, true,
			    &error);
	if (rc)
		host_gap_note(host, key, -EBADMSG, error.text);
	return rc ? -EBADMSG : 0;
}

bool host_has_recorded(struct host *host, const char *key)
{
	return host->capture && find(host, QUESTION_QUERY, key);
}

static void close_capture(struct host *host)
{
	struct capture *c = host->capture;

	for (size_t i = 0; i < c->count; i++)
		forget_path(&c->records[i]);
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
			rc = number == 1 ? check_head(host->capture, line, error)
					 : add_record(host->capture, line, number, error);
	if (rc) {
		host_close(host);
		return NULL;
	}
	if (host->capture->count)
		qsort(host->capture->records, host->capture->count, sizeof(struct record),
		      compare_records);
	return host;
}
