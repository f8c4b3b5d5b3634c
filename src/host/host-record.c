/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-record.c - records questions and their answers, one JSON line each, errors included:
 *
 *   {"format":"nvnodecheck-capture","format_version":[1,0],"tool_version":"...","redacted":true}
 *   {"read":"/proc/cmdline","text":"..."}        or "base64", or "errno":"EACCES"
 *   {"head":"/proc/cpuinfo","text":"..."}        the beginning of a longer file
 *   {"list":"/sys/class/net","names":["eth0"]}
 *   {"link":"/sys/class/net/eth0","target":"../../devices/..."}
 *   {"stat":"/dev/nvidia0","mode":8630,"rdev":[195,0],"owner":[0,0],"size":0,"mtime_s":0}
 *   {"query":"pci","answer":{...}}
 *
 * The first answer to a question counts. A question that was not asked has no line. keep.h redacts answers, paths and
 * names.
 */
#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/utf8.h"
#include "host/host-private.h"
#include "parse/base64.h"
#include "redact/keep.h"

struct recorder {
	int fd;
	int told;	       /* where each replacement is listed; -1: nowhere */
	struct redact *redact; /* NULL: everything is kept */
	const char *path;      /* of the record that is being made */
	int *error;	       /* shared with the children that write */
	void *asked;	       /* tsearch tree of "read /path" */
	void *listed;	       /* of "path: the replaced name" */
};

/* A capture that silently lacks a line would mean that the question was not asked. */
static void lose_line(struct recorder *r)
{
	*r->error = -ENOMEM;
}

/* Writes a line with one call, so that a child that is killed leaves whole lines. */
static void write_all(struct recorder *r, int fd, const char *line, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t written = write(fd, line + done, n - done);

		if (written < 0 && errno != EINTR) {
			*r->error = -errno;
			break;
		}
		done += written > 0 ? (size_t)written : 0;
	}
}

static void write_line(struct recorder *r, struct json_object *record)
{
	const char *text = json_written(record,
					JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	_cleanup_free_ char *line = NULL;
	size_t n;
	FILE *out = text ? open_memstream(&line, &n) : NULL;
	bool whole = out != NULL;

	if (out) {
		escape_text(out, SINK_JSON, text);
		putc('\n', out);
		whole = !ferror(out);
		whole &= fclose(out) == 0;
	}
	if (whole && line)
		write_all(r, r->fd, line, n);
	else
		lose_line(r);
	json_object_put(record);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Adds a copy of KEY to TREE. False: it has KEY, or memory ran out. */
static bool add_key(struct recorder *r, void **tree, const char *key)
{
	char *copy = strdup(key);
	char **found = copy ? tsearch(copy, tree, compare_keys) : NULL;
	bool added = found && *found == copy;

	if (!found)
		lose_line(r);
	if (!added)
		free(copy);
	return added;
}

/* ---- replacements ---- */

/* Once for each file. */
static void list(struct recorder *r, struct span before, const char *after)
{
	_cleanup_free_ char *line = NULL;
	size_t n;
	FILE *out = r->told < 0 ? NULL : open_memstream(&line, &n);

	if (!out)
		return;
	escape_printf(out, SINK_TERMINAL, "%s: %.*s%s%s\n", r->path, SPAN_FMT(before),
		      after ? " -> " : ": left out", after ? after : "");
	if (fclose(out) == 0 && add_key(r, &r->listed, line))
		write_all(r, r->told, line, n);
}

static void replaced(void *user, struct span before, const char *after)
{
	list(user, before, after);
}

static void left_out(void *user, struct span text)
{
	list(user, span_trim(text), NULL);
}

static struct keeping keeping(struct recorder *r, const char *path, FILE *out)
{
	r->path = path;
	return (struct keeping){ .redact = r->redact, .out = out, .left_out = left_out, .user = r };
}

struct recorder *recorder_new(int fd, bool redact, int told)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct json_object *head;

	if (!r)
		return NULL;
	r->error = mmap(NULL, sizeof(*r->error), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	r->fd = fd;
	r->told = told;
	r->redact = redact ? redact_new() : NULL;
	if (r->error == MAP_FAILED || (redact && !r->redact)) {
		recorder_free(r);
		return NULL;
	}
	if (redact)
		redact_on_replaced(r->redact, replaced, r);
	head = json_document("nvnodecheck-capture");
	json_put(head, "redacted", json_object_new_boolean(redact));
	write_line(r, head);
	return r;
}

int recorder_error(const struct recorder *r)
{
	return *r->error;
}

void recorder_free(struct recorder *r)
{
	tdestroy(r->asked, free);
	tdestroy(r->listed, free);
	redact_free(r->redact);
	if (r->error != MAP_FAILED)
		munmap(r->error, sizeof(*r->error));
	free(r);
}

/* A path, an entry of the folder PATH, or the target of the link PATH, as the capture shows it. */
typedef void put_name(struct keeping *k, const char *path, const char *name);

/* Words of a query are ours, whatever this host is called: "names in units", "limits in /etc/a". */
static size_t own_words(const char *key)
{
	static const char interface[] = "flow control of ";

	if (span_starts(span_of(key), interface))
		return sizeof(interface) - 1;
	return strcspn(key, "/");
}

static void put_question(struct keeping *k, const char *key, const char *name)
{
	static const char user[] = "user ";
	bool is_user = span_starts(span_of(key), user);
	size_t own = is_user ? strlen(user) : own_words(key);

	(void)name;
	keep_as_it_is(k, (struct span){ key, own });
	(is_user ? keep_who : keep_path)(k, span_of(key + own));
}

static struct json_object *name_json(struct recorder *r, const char *path, const char *name,
				     put_name *put)
{
	_cleanup_free_ char *made = NULL;
	size_t n;
	FILE *out;
	struct keeping k;

	if (!r->redact)
		return json_text(name, strlen(name));
	out = memory_need(open_memstream(&made, &n));
	k = keeping(r, path, out);
	put(&k, path, name);
	memory_need(fclose(out) == 0 ? made : NULL);
	return json_text(made, n);
}

/* A new record for a question that has not been recorded yet, or NULL. */
static struct json_object *begin(struct recorder *r, const char *question, const char *path, int rc)
{
	struct json_object *record;
	char key[PATH_MAX + 8];

	snprintf(key, sizeof(key), "%s %s", question, path);
	if (!add_key(r, &r->asked, key))
		return NULL;
	record = json_object_new_object();
	json_put(record, question, name_json(r, path, path, put_question));
	if (rc < 0)
		json_put_string(record, "errno", host_error_word(rc));
	return record;
}

/* ---- names of this host ---- */

static void learn(struct recorder *r, int rc)
{
	if (rc)
		lose_line(r);
}

static void learn_domain(struct recorder *r, struct span domain)
{
	learn(r, redact_learn_domain(r->redact, domain, keep_is_word(domain)));
}

void recorder_learn_host(struct recorder *r, struct span name)
{
	struct span first;

	if (!r->redact)
		return;
	name = span_trim(name);
	first = (struct span){ name.p, span_find(name, '.') };
	learn(r, redact_learn_host(r->redact, first, keep_is_word(first)));
	if (first.n < name.n)
		learn_domain(r, (struct span){ name.p + first.n + 1, name.n - first.n - 1 });
}

/* Learns all names of a line of hosts(5) if one of them is known. */
void recorder_learn_hosts(struct recorder *r, struct span text)
{
	struct span line, word;

	while (r->redact && span_cut(&text, '\n', &line)) {
		struct span rest = { line.p, span_find(line, '#') }, names;
		bool own = false;

		if (!span_word(&rest, &word))
			continue;
		for (names = rest; span_word(&names, &word);)
			own |= redact_is_host(r->redact, word);
		while (own && span_word(&rest, &word))
			recorder_learn_host(r, word);
	}
}

/* resolv.conf(5): search and domain. */
void recorder_learn_domains(struct recorder *r, struct span text)
{
	struct span line, word;

	while (r->redact && span_cut(&text, '\n', &line)) {
		if (!span_word(&line, &word) ||
		    (!span_is(word, "search") && !span_is(word, "domain")))
			continue;
		while (span_word(&line, &word))
			learn_domain(r, word);
	}
}

/* ---- records ---- */

/* The bytes as a member: text if they are UTF-8 without NUL, else base64. */
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
	_cleanup_free_ char *kept = NULL;
	struct json_object *record;
	struct keeping k;
	FILE *out;
	size_t n;
	bool known;

	if (rc || !r->redact) {
		record = begin(r, question, path, rc);
		if (record && rc == 0)
			put_bytes(record, text->data, text->size);
		if (record)
			write_line(r, record);
		return;
	}
	out = memory_need(open_memstream(&kept, &n));
	k = keeping(r, path, out);
	known = keep_text(&k, path, text_span(text));
	memory_need(fclose(out) == 0 ? kept : NULL);
	/* A file that no probe requested stays out of the capture, as if it had not been read. */
	if (!known)
		list(r, SPAN("the whole file"), NULL);
	record = known ? begin(r, question, path, rc) : NULL;
	if (!record)
		return;
	put_bytes(record, kept, n);
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
					      name_json(r, path, names->items[i], keep_entry));
		json_put(record, "names", array);
	}
	write_line(r, record);
}

static struct json_object *pair(uint64_t first, uint64_t second)
{
	struct json_object *array = json_object_new_array();

	json_object_array_add(array, json_u64(first));
	json_object_array_add(array, json_u64(second));
	return array;
}

void record_stat(struct recorder *r, const char *path, int rc, const struct host_stat *stat)
{
	struct json_object *record = begin(r, "stat", path, rc);

	if (!record)
		return;
	if (rc == 0) {
		json_put_number(record, "mode", stat->mode);
		if (S_ISCHR(stat->mode) || S_ISBLK(stat->mode)) {
			json_put(record, "rdev", pair(major(stat->rdev), minor(stat->rdev)));
			if (stat->has_owner)
				json_put(record, "owner", pair(stat->uid, stat->gid));
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
		json_put(record, "target", name_json(r, path, target, keep_target));
	write_line(r, record);
}

void record_query(struct recorder *r, const char *key, int rc, const struct desc *desc,
		  struct json_object *answer)
{
	struct json_object *record = begin(r, "query", key, rc);
	struct keeping k = keeping(r, key, NULL);

	if (!record)
		return;
	if (answer)
		json_put(record, "answer",
			 r->redact ? keep_facts(&k, desc, answer) : json_object_get(answer));
	write_line(r, record);
}
