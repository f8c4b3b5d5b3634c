/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-record.c - writes down what was asked and answered, one JSON line each, errors included:
 *
 *   {"format":"nvnodecheck-capture","format_version":[1,0],"tool_version":"..."}
 *   {"read":"/proc/cmdline","text":"..."}        or "base64", or "errno":"EACCES"
 *   {"head":"/proc/cpuinfo","text":"..."}        the beginning of a longer file
 *   {"list":"/sys/class/net","names":["eth0"]}
 *   {"link":"/sys/class/net/eth0","target":"../../devices/..."}
 *   {"stat":"/dev/nvidia0","mode":8630,"rdev":[195,0],"size":0,"mtime_s":0}
 *   {"query":"pci","answer":{...}}
 *
 * The first answer to a question counts; a question that was not asked has no line.
 */
#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/json.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "host/host-private.h"
#include "parse/base64.h"

struct recorder {
	int fd;
	bool redact;
	char *hostname;
	int *error;  /* shared with the children that write */
	void *asked; /* tsearch tree of "read /path" */
};

/* A capture that lacks a line without a word would say that nobody asked. */
static void lose_line(struct recorder *r)
{
	*r->error = -ENOMEM;
}

static void write_line(struct recorder *r, struct json_object *record)
{
	const char *text = json_written(record,
					JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	size_t n = text ? strlen(text) : 0;
	_cleanup_free_ char *line = text ? malloc(n + 1) : NULL;
	size_t done = 0;

	if (!line) {
		lose_line(r);
		json_object_put(record);
		return;
	}
	memcpy(line, text, n);
	line[n++] = '\n';
	/* One write a line, so that lines of a child that is killed are whole. */
	while (done < n) {
		ssize_t written = write(r->fd, line + done, n - done);

		if (written < 0 && errno != EINTR) {
			*r->error = -errno;
			break;
		}
		done += written > 0 ? (size_t)written : 0;
	}
	json_object_put(record);
}

struct recorder *recorder_new(int fd, bool redact, struct arena *shared)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->error = arena_alloc(shared, sizeof(*r->error));
	r->fd = fd;
	r->redact = redact;
	write_line(r, json_document("nvnodecheck-capture"));
	return r;
}

int recorder_error(const struct recorder *r)
{
	return *r->error;
}

void recorder_free(struct recorder *r)
{
	tdestroy(r->asked, free);
	free(r->hostname);
	free(r);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* A new record for a question that has not been recorded yet, or NULL. */
static struct json_object *begin(struct recorder *r, const char *question, const char *path, int rc)
{
	struct json_object *record;
	char key[PATH_MAX + 8];
	char *copy;
	char **found;

	snprintf(key, sizeof(key), "%s %s", question, path);
	copy = strdup(key);
	found = copy ? tsearch(copy, &r->asked, compare_keys) : NULL;
	if (!found)
		lose_line(r);
	if (!found || *found != copy) {
		free(copy);
		return NULL;
	}
	record = json_object_new_object();
	json_put_string(record, question, path);
	if (rc < 0)
		json_put_string(record, "errno", host_error_word(rc));
	return record;
}

void recorder_learn_hostname(struct recorder *r, struct span text)
{
	text = span_trim(text);
	if (r->redact && text.n)
		r->hostname = strndup(text.p, text.n);
	if (r->redact && text.n && !r->hostname)
		lose_line(r);
}

/* The bytes as a member: text where they are UTF-8 without NUL, else base64. */
static void put_bytes(struct json_object *record, const char *bytes, size_t n)
{
	if (memchr(bytes, '\0', n) || utf8_clean_size(bytes, n) != n + 1 ||
	    memmem(bytes, n, "\xef\xbf\xbd", 3)) {
		_cleanup_free_ char *text = base64_encode(bytes, n);

		json_put_string(record, "base64", text);
	} else {
		json_put(record, "text", json_object_new_string_len(bytes, (int)n));
	}
}

static void record_text(struct recorder *r, const char *question, const char *path, int rc,
			const struct text *text)
{
	struct json_object *record = begin(r, question, path, rc);
	_cleanup_free_ char *clean = NULL;
	size_t n;

	if (!record)
		return;
	if (rc == 0 && r->redact) {
		clean = redact_text(text->data, text->size, r->hostname, &n);
		if (!clean) {
			lose_line(r);
			json_object_put(record);
			return;
		}
		put_bytes(record, clean, n);
	} else if (rc == 0) {
		put_bytes(record, text->data, text->size);
	}
	write_line(r, record);
}

void record_read(struct recorder *r, const char *path, int rc, const struct text *text)
{
	record_text(r, "read", path, rc, text);
}

void record_head(struct recorder *r, const char *path, int rc, const struct text *text)
{
	record_text(r, "head", path, rc, text);
}

void record_list(struct recorder *r, const char *path, int rc, const struct names *names)
{
	struct json_object *record = begin(r, "list", path, rc);
	struct json_object *array;

	if (!record)
		return;
	if (rc == 0) {
		array = json_object_new_array();
		for (size_t i = 0; i < names->count; i++)
			json_object_array_add(array,
					      json_text(names->items[i], strlen(names->items[i])));
		json_put(record, "names", array);
	}
	write_line(r, record);
}

void record_stat(struct recorder *r, const char *path, int rc, const struct host_stat *stat)
{
	struct json_object *record = begin(r, "stat", path, rc);
	struct json_object *rdev;

	if (!record)
		return;
	if (rc == 0) {
		json_put_number(record, "mode", stat->mode);
		if (S_ISCHR(stat->mode) || S_ISBLK(stat->mode)) {
			rdev = json_object_new_array();
			json_object_array_add(rdev, json_u64(major(stat->rdev)));
			json_object_array_add(rdev, json_u64(minor(stat->rdev)));
			json_put(record, "rdev", rdev);
		}
		json_put_number(record, "size", stat->size);
		json_put_number(record, "mtime_s", stat->mtime_s);
	}
	write_line(r, record);
}

void record_link(struct recorder *r, const char *path, int rc, const char *target)
{
	struct json_object *record = begin(r, "link", path, rc);

	if (!record)
		return;
	if (rc == 0)
		json_put_string(record, "target", target);
	write_line(r, record);
}

/* Strings in an answer can hold what redaction is for, at any depth. */
static struct json_object *redacted(struct recorder *r, struct json_object *value)
{
	const char *text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	size_t n;
	_cleanup_free_ char *clean = redact_text(text, strlen(text), r->hostname, &n);
	struct json_error error;

	return clean ? json_parse(clean, n, &error) : NULL;
}

void record_query(struct recorder *r, const char *key, int rc, struct json_object *answer)
{
	struct json_object *record = begin(r, "query", key, rc);

	if (!record)
		return;
	if (answer) {
		answer = r->redact ? redacted(r, answer) : json_object_get(answer);
		if (!answer)
			lose_line(r);
		json_put(record, "answer", answer);
	}
	write_line(r, record);
}
