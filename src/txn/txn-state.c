/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-state.c - the state folder of a transaction, ID:
 *
 *   plan.json   the previous and the new state, with hashes, owner, mode, attributes; written once
 *   journal     the actions that began and ended (txn-journal.c)
 *   before.N    the previous bytes of each file
 *   found.N     another file that a recovery found in its place and had to replace
 *
 * Until all of it is on the disk the folder is called ID.new, and nothing has been changed. So a folder called ID with a
 * missing file was damaged. It is not a transaction that never began.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/open-file.h"
#include "txn/txn-private.h"
#include "txn/write-private.h"

#define JOURNAL_MAX (1u << 20)
#define RECORD_MAX (4u << 20)
#define STAMP_FORMAT "%Y%m%dT%H%M%SZ"
#define FOUND_MAX 100 /* copies of one file, from as many interrupted recoveries */
#define UNBEGUN ".new"

/* ---- ids ---- */

/* 20261121T123456Z-0123456789abcdef, as all before the suffix of NAME */
static bool is_id(const char *name, const char *suffix)
{
	static const char form[] = "dddddddd"
				   "T"
				   "dddddd"
				   "Z-"
				   "xxxxxxxxxxxxxxxx";

	for (size_t i = 0; form[i]; i++) {
		bool fits = form[i] == 'd'   ? name[i] >= '0' && name[i] <= '9'
			    : form[i] == 'x' ? name[i] && strchr("0123456789abcdef", name[i])
					     : name[i] == form[i];

		if (!fits)
			return false;
	}
	return strcmp(name + strlen(form), suffix) == 0;
}

static int list_names(struct txn *t, struct names *names, const char *suffix)
{
	int rc = host_list(t->host, names, TXN_STATE_FOLDER);
	size_t kept = 0;

	for (size_t i = 0; i < names->count; i++) {
		if (is_id(names->items[i], suffix))
			names->items[kept++] = names->items[i];
		else
			free(names->items[i]);
	}
	names->count = kept;
	return rc == -ENOENT || rc == -ENODATA ? 0 : rc;
}

int txn_state_list_ids(struct txn *t, struct names *names)
{
	return list_names(t, names, "");
}

static const char *folder_of(struct txn *t, const char *id, const char *suffix)
{
	return arena_printf(t->arena, TXN_STATE_FOLDER "/%s%s", id, suffix);
}

/* Ids sort by time, even if the clock was set back or two begin in one second. */
static const char *new_stamp(struct txn *t)
{
	_cleanup_names_ struct names names = { 0 };
	time_t stamp = (time_t)t->time_s;
	struct tm last = { 0 }, tm;
	char text[32];

	if (txn_state_list_ids(t, &names) == 0 && names.count &&
	    strptime(names.items[names.count - 1], STAMP_FORMAT, &last) && timegm(&last) >= stamp)
		stamp = timegm(&last) + 1;
	gmtime_r(&stamp, &tm);
	strftime(text, sizeof(text), STAMP_FORMAT, &tm);
	return arena_strdup(t->arena, text);
}

/* ---- the folder ---- */

static int make_state_folders(struct txn *t)
{
	static const char *const folders[] = { "/var", "/var/lib", "/var/lib/nvnodecheck",
					       TXN_STATE_FOLDER };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		int rc = write_folder_exists(&t->w, folders[i])
				 ? 0
				 : write_make_folder(&t->w, folders[i], i == 3 ? 0700 : 0755);

		if (rc && rc != -EEXIST)
			return txn_fail(t, rc, NULL);
	}
	return 0;
}

static int open_folder(struct txn *t, const char *path)
{
	char name[NAME_MAX + 1];

	t->folder = write_open_folder(&t->w, arena_printf(t->arena, "%s/journal", path), name);
	return t->folder < 0 ? txn_fail(t, t->folder, NULL) : 0;
}

int txn_state_create(struct txn *t)
{
	int rc = make_state_folders(t);

	if (rc == 0)
		rc = txn_lock_records(t);
	if (rc)
		return rc;
	t->id = arena_printf(t->arena, "%s-%s", new_stamp(t), t->plan_id);
	if (!is_id(t->id, ""))
		return txn_fail(t, -EINVAL, "\"%s\" is not the ID of a plan", t->plan_id);
	rc = write_make_folder(&t->w, folder_of(t, t->id, UNBEGUN), 0700);
	return rc ? txn_fail(t, rc, NULL) : open_folder(t, folder_of(t, t->id, UNBEGUN));
}

/* Renames the folder to that of a transaction that has begun, or back. */
static int rename_folder(struct txn *t, const char *from, const char *to)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int above = write_open_folder(
		&t->w, arena_printf(t->arena, TXN_STATE_FOLDER "/%s", from), name);
	int rc;

	if (above < 0)
		return txn_fail(t, above, NULL);
	TEST_POINT("rename of the state folder");
	if (renameat(above, from, above, to) < 0)
		return txn_fail(t, -errno, TXN_STATE_FOLDER "/%s: rename: %s", from,
				strerror(errno));
	rc = write_sync_folder(&t->w, above, TXN_STATE_FOLDER);
	return rc ? txn_fail(t, rc, NULL) : 0;
}

static void empty_folder(struct txn *t)
{
	int copy = fcntl(t->folder, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!dir) {
		close_fd(&copy);
		return;
	}
	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			TEST_POINT("unlink in a state folder");
			unlinkat(t->folder, entry->d_name, 0);
		}
	closedir(dir);
}

static void remove_unbegun(struct txn *t, const char *id)
{
	empty_folder(t);
	close_fd(&t->journal);
	close_fd(&t->folder);
	t->journal = t->folder = -1;
	write_drop_folder(&t->w, folder_of(t, id, UNBEGUN));
}

/* Files of a transaction that has begun are never removed under its own name: an interruption would look like
 * damage. */
void txn_state_discard(struct txn *t)
{
	const char *id = t->id, *unbegun = arena_printf(t->arena, "%s" UNBEGUN, id);

	t->id = NULL;
	if (write_folder_exists(&t->w, folder_of(t, id, "")) && rename_folder(t, id, unbegun))
		return;
	remove_unbegun(t, id);
}

void txn_state_sweep(struct txn *t)
{
	_cleanup_names_ struct names names = { 0 };

	if (list_names(t, &names, UNBEGUN))
		return;
	for (size_t i = 0; i < names.count; i++) {
		size_t n = strlen(names.items[i]) - strlen(UNBEGUN);
		const char *id = arena_strndup(t->arena, names.items[i], n);

		if (open_folder(t, folder_of(t, id, UNBEGUN)))
			continue;
		remove_unbegun(t, id);
		*LIST_ADD(t->arena, &t->outcome->recovered) =
			arena_printf(t->arena, "%s was interrupted before it changed anything", id);
	}
}

const char *txn_state_advice(struct txn *t)
{
	const char *folder = folder_of(t, t->id, "");

	return arena_printf(
		t->arena,
		"Nothing was changed, and all kept copies still exist: before.N in %s are the "
		"files before the repair. Compare them with the node, restore by hand what is "
		"wrong, then move the record away: mv %s %s.set-aside",
		folder, folder, folder);
}

/* ---- files in it ---- */

static int read_state_file(struct txn *t, const char *name, size_t limit, struct text *text)
{
	_cleanup_close_ int fd = open_own_file(t->folder, name, O_RDONLY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd == -EBADF || fd == -ELOOP ? -EFBIG : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > limit)
		return -EFBIG;
	text->data = malloc((size_t)st.st_size + 1);
	if (!text->data)
		return -ENOMEM;
	while (text->size < (size_t)st.st_size) {
		n = read(fd, text->data + text->size, (size_t)st.st_size - text->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		text->size += (size_t)n;
	}
	text->data[text->size] = '\0';
	return 0;
}

int txn_state_keep(struct txn *t, struct kept *kept, const char *path)
{
	char name[32];
	int rc;

	if (txn_path_problem(path))
		return txn_fail(t, -EINVAL, "%s: %s", path, txn_path_problem(path));
	kept->path = path;
	kept->number = t->kept_count++;
	snprintf(name, sizeof(name), "before.%u", kept->number);
	rc = kept->is_link ? write_see_link(&t->w, path, &kept->before)
			   : write_keep(&t->w, path, &kept->before, t->folder, name);
	if (rc)
		return txn_fail(t, rc, NULL);
	return kept->before.link && !txn_form_is_text(kept->before.link)
		       ? txn_fail(t, -EILSEQ, "%s: its target is not text", path)
		       : 0;
}

void txn_state_forget(struct txn *t)
{
	char name[32];

	for (unsigned int i = 0; i < t->kept_count; i++) {
		snprintf(name, sizeof(name), "before.%u", i);
		TEST_POINT("unlink of a kept file");
		unlinkat(t->folder, name, 0);
	}
}

int txn_state_kept_open(struct txn *t, const struct kept *kept)
{
	char name[32];

	snprintf(name, sizeof(name), "before.%u", kept->number);
	return open_own_file(t->folder, name, O_RDONLY | O_NONBLOCK);
}

static bool is_free(struct txn *t, const char *name)
{
	struct stat st;

	return fstatat(t->folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

int txn_state_keep_found(struct txn *t, const struct kept *kept)
{
	struct file_seen seen;
	char name[32];
	int rc, i = 0;

	do
		snprintf(name, sizeof(name), i ? "found.%u.%d" : "found.%u", kept->number, i);
	while (!is_free(t, name) && ++i < FOUND_MAX);
	/* The last name is of a copy of an earlier attempt. */
	if (i == FOUND_MAX)
		return txn_fail(t, -EEXIST, "%s: there is no room for one more copy of it",
				kept->path);
	rc = write_keep(&t->w, kept->path, &seen, t->folder, name);
	if (rc == 0 && fsync(t->folder) < 0)
		rc = write_failed(&t->w, kept->path, "fsync of the folder of its copy");
	if (rc) {
		unlinkat(t->folder, name, 0);
		return txn_fail(t, rc,
				"%s; the file can belong to another program, so it is not replaced "
				"without a copy",
				t->w.why);
	}
	if (seen.there) {
		t->found++;
		txn_note(t, "the file found at %s is kept as %s/%s/%s", kept->path,
			 TXN_STATE_FOLDER, t->id, name);
	}
	return 0;
}

/* ---- record and journal ---- */

static int write_record(struct txn *t, const char *text, size_t n)
{
	_cleanup_close_ int fd = -1;
	int rc;

	TEST_POINT("creating plan.json");
	fd = openat(t->folder, "plan.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	rc = fd < 0 ? -errno : write_all(fd, text, n);
	TEST_POINT("fsync of plan.json");
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	return rc ? txn_fail(t, rc, "%s/%s/plan.json: %s", TXN_STATE_FOLDER, t->id, strerror(-rc))
		  : 0;
}

static int begin_journal(struct txn *t, const char *text, size_t n)
{
	struct journal journal;
	char sha[SHA256_HEX];
	int rc = sha256_of(text, n, sha);

	if (rc == 0)
		rc = journal_begin(&journal, t->id, SPAN(""));
	if (rc)
		return txn_fail(t, rc, "%s: %s", t->id, strerror(-rc));
	strcpy(t->check, journal.check);
	rc = txn_journal_open(t);
	return rc ? rc : txn_journal_write(t, JOURNAL_BEGIN, "%s", sha);
}

int txn_state_begin(struct txn *t)
{
	_cleanup_json_ struct json_object *json = txn_record_to_json(t);
	const char *text = json_object_to_json_string_ext(
		json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	int rc = write_record(t, text, strlen(text));

	if (rc == 0)
		rc = begin_journal(t, text, strlen(text));
	TEST_POINT("fsync of the state folder");
	if (rc == 0 && fsync(t->folder) < 0)
		rc = txn_fail(t, -errno, "%s/%s: %s", TXN_STATE_FOLDER, t->id, strerror(errno));
	return rc ? rc : rename_folder(t, arena_printf(t->arena, "%s" UNBEGUN, t->id), t->id);
}

static int damaged(struct txn *t, const char *what, const char *why)
{
	return txn_fail(t, -EBADMSG, "%s/%s/%s: %s", TXN_STATE_FOLDER, t->id, what, why);
}

static int read_failed(struct txn *t, const char *what, int rc)
{
	if (rc == -ENOENT)
		return damaged(t, what, "it is missing");
	return rc == -EFBIG ? damaged(t, what, "not a file that this program writes")
			    : txn_fail(t, rc, "%s/%s/%s: %s", TXN_STATE_FOLDER, t->id, what,
				       strerror(-rc));
}

static int load_journal(struct txn *t, struct span text)
{
	struct journal journal;
	int rc = journal_begin(&journal, t->id, text);

	if (rc)
		return txn_fail(t, rc, "%s: %s", t->id, strerror(-rc));
	txn_journal_replay(t, &journal);
	/* The first line is written before the folder gets its name, so it cannot be missing. */
	t->journal_damaged |= !*t->record_sha;
	return t->journal_damaged ? damaged(t, "journal", "not what was written there") : 0;
}

static int load_record(struct txn *t)
{
	_cleanup_text_ struct text text = { 0 };
	_cleanup_json_ struct json_object *json = NULL;
	struct json_error error;
	char sha[SHA256_HEX];
	bool later;
	int rc = read_state_file(t, "plan.json", RECORD_MAX, &text);

	if (rc == 0)
		rc = sha256_of(text.data, text.size, sha);
	if (rc)
		return read_failed(t, "plan.json", rc);
	if (strcmp(sha, t->record_sha) != 0)
		return damaged(t, "plan.json", "not what was written there");
	json = json_parse(text.data, text.size, &error);
	if (!json || json_check_document(json, RECORD_FORMAT, &later, &error))
		return damaged(t, "plan.json", error.text);
	return txn_record_from_json(t, json);
}

int txn_state_load(struct txn *t, const char *id)
{
	_cleanup_text_ struct text journal = { 0 };
	int rc;

	t->id = id;
	t->journal_damaged = true;
	rc = open_folder(t, folder_of(t, id, ""));
	if (rc)
		return rc;
	rc = read_state_file(t, "journal", JOURNAL_MAX, &journal);
	if (rc)
		return read_failed(t, "journal", rc);
	rc = load_journal(t, text_span(&journal));
	if (rc == 0)
		rc = load_record(t);
	/* Now that files and steps are known. */
	return rc ? rc : load_journal(t, text_span(&journal));
}
