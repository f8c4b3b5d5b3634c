/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledge-write.c - the file of acknowledged findings, replaced whole. */
#include "txn/acknowledge-write.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "facts/own-files.h"
#include "txn/lock-file.h"

#define LOCK_FILE LOCK_FOLDER "/ack.lock"
#define LOCK_TENTHS 300 /* others look at the node first, too */

static void put_fact(struct json_object *json, const char *key, struct fact_str fact)
{
	json_put(json, key, is_known(fact) ? json_text(fact.value, strlen(fact.value)) : NULL);
}

static struct json_object *one_json(const struct acknowledgement *a)
{
	struct json_object *json = json_object_new_object();

	put_fact(json, "rule", a->rule);
	put_fact(json, "subject", a->subject);
	put_fact(json, "observed", a->observed);
	put_fact(json, "reason", a->reason);
	json_put_number(json, "time_s", a->time_s.value);
	put_fact(json, "boot_id", a->boot_id);
	json_put_string(json, "until", acknowledged_until_words[a->until.value]);
	if (is_known(a->until_s))
		json_put_number(json, "until_s", a->until_s.value);
	return json;
}

static int make_folders(struct writer *w)
{
	static const char *const folders[] = { "/var", "/var/lib", OWN_STATE };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		int rc = write_folder_exists(w, folders[i])
				 ? 0
				 : write_make_folder(w, folders[i], 0755);

		/* Another process can have made it meanwhile. */
		if (rc && rc != -EEXIST)
			return rc;
	}
	return 0;
}

static int put(struct writer *w, const char *text)
{
	struct file_seen seen = { 0 };
	struct write_request request = { .path = OWN_ACKNOWLEDGED,
					 .bytes = span_of(text),
					 .from = -1,
					 .mode = 0644,
					 .expected = &seen };
	int rc = make_folders(w);

	if (rc == 0)
		rc = write_see(w, OWN_ACKNOWLEDGED, &seen);
	if (rc == 0 && seen.there)
		request.meta = &seen.meta;
	return rc ? rc : write_put(w, &request);
}

int acknowledge_lock(const struct root *root, struct arena *arena)
{
	struct writer w;
	int rc = writer_open(&w, root, arena), fd;

	if (rc == 0) {
		fd = lock_file_open(&w, LOCK_FILE);
		rc = fd < 0 ? 0 : lock_file_take(fd, LOCK_TENTHS);
	}
	writer_close(&w);
	return rc == -EWOULDBLOCK ? rc : 0;
}

/* What would not be read again is not written: the findings that were acknowledged before would count again. */
static int check_bounds(const struct acknowledged_facts *facts, const char *text, const char **why)
{
	if (facts->findings.count <= OWN_ACKNOWLEDGED_MAX &&
	    strlen(text) <= OWN_ACKNOWLEDGED_BYTES_MAX)
		return 0;
	*why = "the file would have more than 1000 findings or 1 MiB, and nothing was changed; "
	       "withdraw others, or give a shorter reason";
	return -EFBIG;
}

int acknowledge_write(const struct root *root, const struct acknowledged_facts *facts,
		      struct arena *arena, const char **why)
{
	_cleanup_json_ struct json_object *json = json_document(OWN_ACKNOWLEDGED_FORMAT);
	struct json_object *list = json_object_new_array();
	struct writer w;
	const char *text;
	int rc;

	for_each(a, &facts->findings)
		json_object_array_add(list, one_json(a));
	json_put(json, "findings", list);
	text = arena_printf(arena, "%s\n", json_written(json, JSON_C_TO_STRING_PRETTY));
	rc = check_bounds(facts, text, why);
	if (rc)
		return rc;
	rc = writer_open(&w, root, arena);
	if (rc == 0)
		rc = put(&w, text);
	if (rc)
		*why = arena_strdup(arena, *w.why ? w.why : strerror(-rc));
	writer_close(&w);
	return rc;
}
