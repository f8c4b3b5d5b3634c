/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-record.c - a transaction in plan.json: the previous state, the new state, and the user who asked for it. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "parse/base64.h"
#include "txn/txn-private.h"

#define NS_PER_S 1000000000

/* ---- writing ---- */

static struct json_object *xattrs_to_json(const struct file_meta *meta)
{
	struct json_object *json = json_object_new_object();

	for_each(x, &meta->xattrs) {
		char *text = base64_encode(x->value, x->n);

		json_put_string(json, x->name, text ? text : "");
		free(text);
	}
	return json;
}

static struct json_object *seen_to_json(const struct file_seen *seen)
{
	struct json_object *json;

	if (!seen->there)
		return NULL;
	json = json_object_new_object();
	if (seen->link)
		json_put_string(json, "link", seen->link);
	json_put_string(json, "sha256", seen->sha256);
	json_put_number(json, "size_bytes", seen->size);
	json_put_number(json, "mode", seen->meta.mode);
	json_put_number(json, "uid", seen->meta.uid);
	json_put_number(json, "gid", seen->meta.gid);
	json_put(json, "mtime_s", json_object_new_int64(seen->meta.mtime_s));
	json_put_number(json, "mtime_ns", seen->meta.mtime_ns);
	json_put(json, "xattrs", xattrs_to_json(&seen->meta));
	return json;
}

/* null: it goes */
static struct json_object *after_to_json(const struct file_seen *after)
{
	struct json_object *json;

	if (!after->there)
		return NULL;
	json = json_object_new_object();
	if (after->link)
		json_put_string(json, "link", after->link);
	else
		json_put_string(json, "sha256", after->sha256);
	if (after->sized)
		json_put_number(json, "size_bytes", after->size);
	return json;
}

static struct json_object *kept_to_json(const struct kept *kept)
{
	struct json_object *json = json_object_new_object();
	struct json_object *folders = json_object_new_array();

	json_put_string(json, "path", kept->path);
	json_put_number(json, "number", kept->number);
	json_put_string(json, "type", kept->is_link ? "link" : "file");
	json_put(json, "before", seen_to_json(&kept->before));
	/* The file that a program makes is not known yet. */
	if (kept->after_known)
		json_put(json, "after", after_to_json(&kept->after));
	for_each(folder, &kept->folders)
		json_object_array_add(folders, json_text(*folder, strlen(*folder)));
	json_put(json, "folders", folders);
	return json;
}

static struct json_object *txn_step_to_json(const struct txn_step *step)
{
	struct json_object *json = json_object_new_object();
	struct json_object *kept = json_object_new_array();

	json_put_string(json, "kind", plan_step_words[step->kind]);
	json_put_string(json, "subject", step->subject);
	json_put_string(json, "path", step->path);
	json_put_string(json, "tool", step->tool);
	json_put_string(json, "boot", step->boot);
	json_put_string(json, "was", step->was);
	json_put_string(json, "left", step->left);
	for_each(k, &step->kept)
		if (!step->left)
			json_object_array_add(kept, kept_to_json(k));
	json_put(json, "files", kept);
	return json;
}

static struct json_object *repair_to_json(const struct txn_repair *repair)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "rule", repair->rule);
	json_put_string(json, "subject", repair->subject);
	json_put_string(json, "what", repair->what);
	json_put_string(json, "activation", activation_words[repair->activation]);
	return json;
}

struct json_object *txn_record_to_json(const struct txn *t)
{
	struct json_object *json = json_document(RECORD_FORMAT);
	struct json_object *files = json_object_new_array(), *steps = json_object_new_array();
	struct json_object *repairs = json_object_new_array();

	json_put_string(json, "id", t->id);
	json_put_string(json, "plan_id", t->plan_id);
	json_put_number(json, "time_s", t->time_s);
	json_put_string(json, "boot_id", t->boot_id);
	json_put_string(json, "who", t->who);
	for_each(repair, &t->repairs)
		json_object_array_add(repairs, repair_to_json(repair));
	for_each(file, &t->files)
		json_object_array_add(files, kept_to_json(&file->kept));
	for_each(step, &t->steps)
		json_object_array_add(steps, txn_step_to_json(step));
	json_put(json, "repairs", repairs);
	json_put(json, "files", files);
	json_put(json, "steps", steps);
	return json;
}

/* ---- reading: whatever is not as it was written is -EBADMSG ---- */

static const char *copy_string(struct txn *t, struct json_object *json, const char *key)
{
	const char *s = json_string(json, key);

	return s && txn_form_is_text(s) ? arena_strdup(t->arena, s) : NULL;
}

static int xattrs_from_json(struct txn *t, struct json_object *json, struct file_meta *meta)
{
	if (!json_object_is_type(json, json_type_object))
		return -EBADMSG;
	json_object_object_foreach(json, name, value) {
		const char *text = json_object_is_type(value, json_type_string)
					   ? json_object_get_string(value)
					   : NULL;
		size_t n;
		char *bytes = text ? base64_decode(span_of(text), &n) : NULL;
		struct xattr *x;

		if (!bytes)
			return -EBADMSG;
		x = LIST_ADD(t->arena, &meta->xattrs);
		x->name = arena_strdup(t->arena, name);
		x->value = arena_strndup(t->arena, bytes, n);
		x->n = n;
		free(bytes);
	}
	return 0;
}

static bool sha_from_json(struct json_object *json, char sha[SHA256_HEX])
{
	const char *s = json_string(json, "sha256");

	if (!s || strlen(s) != SHA256_HEX - 1 || strspn(s, "0123456789abcdef") != strlen(s))
		return false;
	memcpy(sha, s, SHA256_HEX);
	return true;
}

/* The hash of a link is that of its target. */
static int link_from_json(struct txn *t, struct json_object *json, struct file_seen *seen)
{
	seen->link = copy_string(t, json, "link");
	if (!seen->link || !*seen->link || strlen(seen->link) >= PATH_MAX)
		return -EBADMSG;
	return sha256_of(seen->link, strlen(seen->link), seen->sha256);
}

static int bytes_from_json(struct txn *t, struct json_object *json, bool is_link,
			   struct file_seen *seen)
{
	seen->there = true;
	if (is_link)
		return link_from_json(t, json, seen);
	seen->sized = json_number(json, "size_bytes", &seen->size);
	return !json_member(json, "link") && sha_from_json(json, seen->sha256) ? 0 : -EBADMSG;
}

static int seen_from_json(struct txn *t, struct json_object *json, bool is_link,
			  struct file_seen *seen)
{
	struct json_object *mtime = json_member(json, "mtime_s");
	uint64_t mode, uid, gid, ns;

	if (!json)
		return 0;
	if (bytes_from_json(t, json, is_link, seen) ||
	    !json_number(json, "size_bytes", &seen->size) || !json_number(json, "mode", &mode) ||
	    !json_number(json, "uid", &uid) || !json_number(json, "gid", &gid) ||
	    !json_number(json, "mtime_ns", &ns) || !json_object_is_type(mtime, json_type_int) ||
	    uid > UINT32_MAX || gid > UINT32_MAX || ns >= NS_PER_S)
		return -EBADMSG;
	seen->meta = (struct file_meta){ .mode = (uint32_t)mode & 07777,
					 .uid = (uid_t)uid,
					 .gid = (gid_t)gid,
					 .mtime_s = json_object_get_int64(mtime),
					 .mtime_ns = (uint32_t)ns };
	return xattrs_from_json(t, json_member(json, "xattrs"), &seen->meta);
}

static int after_from_json(struct txn *t, struct json_object *json, struct kept *kept)
{
	struct json_object *after;

	kept->after_known = json_object_object_get_ex(json, "after", &after);
	return after ? bytes_from_json(t, after, kept->is_link, &kept->after) : 0;
}

/* Reads the folders above PATH, outermost first. */
static int folders_from_json(struct txn *t, struct json_object *list, struct kept *kept)
{
	if (!json_object_is_type(list, json_type_array))
		return -EBADMSG;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		const char *folder = json_object_is_type(item, json_type_string)
					     ? json_object_get_string(item)
					     : "";
		size_t n = strlen(folder);

		if (txn_path_problem(folder) || strncmp(kept->path, folder, n) != 0 ||
		    kept->path[n] != '/')
			return -EBADMSG;
		*LIST_ADD(t->arena, &kept->folders) = arena_strdup(t->arena, folder);
	}
	return 0;
}

static int kept_from_json(struct txn *t, struct json_object *json, struct kept *kept)
{
	const char *type = json_string(json, "type");
	uint64_t number;
	int rc;

	kept->path = copy_string(t, json, "path");
	/* Numbers count up, in the order of the record. */
	if (!kept->path || txn_path_problem(kept->path) || !json_number(json, "number", &number) ||
	    number != t->kept_count || !type)
		return -EBADMSG;
	kept->number = t->kept_count++;
	kept->is_link = strcmp(type, "link") == 0;
	if (!kept->is_link && strcmp(type, "file") != 0)
		return -EBADMSG;
	rc = folders_from_json(t, json_member(json, "folders"), kept);
	if (rc == 0)
		rc = seen_from_json(t, json_member(json, "before"), kept->is_link, &kept->before);
	return rc ? rc : after_from_json(t, json, kept);
}

static int file_from_json(struct txn *t, struct json_object *json)
{
	struct txn_file *file = LIST_ADD(t->arena, &t->files);
	int rc = kept_from_json(t, json, &file->kept);

	return rc == 0 && (file->kept.is_link || !file->kept.after_known) ? -EBADMSG : rc;
}

static int kind_of_step(const char *word)
{
	for (size_t i = 0; word && plan_step_words[i]; i++)
		if (strcmp(plan_step_words[i], word) == 0)
			return (int)i;
	return -1;
}

static int txn_step_from_json(struct txn *t, struct json_object *json)
{
	struct txn_step *step = LIST_ADD(t->arena, &t->steps);
	struct json_object *kept = json_member(json, "files");
	int kind = kind_of_step(json_string(json, "kind"));
	int rc = 0;

	if (kind < 0 || !json_object_is_type(kept, json_type_array))
		return -EBADMSG;
	step->kind = (enum plan_step_kind)kind;
	step->subject = copy_string(t, json, "subject");
	step->path = copy_string(t, json, "path");
	step->tool = copy_string(t, json, "tool");
	step->boot = copy_string(t, json, "boot");
	/* Numbers of a sysctl are apart by tabs. */
	step->was = json_string(json, "was") ? arena_strdup(t->arena, json_string(json, "was"))
					     : NULL;
	step->left = copy_string(t, json, "left");
	for (size_t i = 0; rc == 0 && i < json_object_array_length(kept); i++)
		rc = kept_from_json(t, json_object_array_get_idx(kept, i),
				    LIST_ADD(t->arena, &step->kept));
	if (rc)
		return rc;
	if (txn_record_problem(t->arena, step) ||
	    (step->boot && (!t->boot_id || strcmp(step->boot, t->boot_id) != 0)))
		return -EBADMSG;
	return 0;
}

static int repair_from_json(struct txn *t, struct json_object *json)
{
	struct txn_repair *repair = LIST_ADD(t->arena, &t->repairs);
	const char *activation = json_string(json, "activation");

	repair->rule = copy_string(t, json, "rule");
	repair->subject = copy_string(t, json, "subject");
	repair->what = copy_string(t, json, "what");
	for (int i = 0; activation && activation_words[i]; i++)
		if (strcmp(activation_words[i], activation) == 0)
			repair->activation = (enum activation)i;
	return repair->rule && repair->what ? 0 : -EBADMSG;
}

static int each(struct txn *t, struct json_object *list,
		int (*from_json)(struct txn *t, struct json_object *json))
{
	int rc = json_object_is_type(list, json_type_array) ? 0 : -EBADMSG;

	for (size_t i = 0; rc == 0 && i < json_object_array_length(list); i++)
		rc = from_json(t, json_object_array_get_idx(list, i));
	return rc;
}

static int parts_from_json(struct txn *t, struct json_object *json)
{
	const char *id = json_string(json, "id");
	int rc;

	t->plan_id = copy_string(t, json, "plan_id");
	t->boot_id = copy_string(t, json, "boot_id");
	t->who = copy_string(t, json, "who");
	if (!id || strcmp(id, t->id) != 0 || !t->plan_id || !t->who ||
	    !json_number(json, "time_s", &t->time_s))
		return -EBADMSG;
	rc = each(t, json_member(json, "repairs"), repair_from_json);
	if (rc == 0)
		rc = each(t, json_member(json, "files"), file_from_json);
	return rc ? rc : each(t, json_member(json, "steps"), txn_step_from_json);
}

/* Reads a record. If it is invalid, all values that were read from it are dropped. */
int txn_record_from_json(struct txn *t, struct json_object *json)
{
	int rc = parts_from_json(t, json);

	if (rc == 0)
		return 0;
	t->files.count = t->steps.count = t->repairs.count = t->kept_count = 0;
	return txn_fail(t, rc, "%s/%s/plan.json: not in the form that this program writes",
			TXN_STATE_FOLDER, t->id);
}
