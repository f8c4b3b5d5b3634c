/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-journal.c - the state folder of a transaction:
 *
 *   plan.json   what was there and what is to be, with hashes, owner, mode, attributes; written
 * once before.N    the bytes of each file as it was found.N     what else was found in its place by
 * a recovery that had to replace it journal     what was begun and what was done, a line for each,
 * fsynced before going on:
 *
 *       BEGIN            nothing was changed before this line
 *       INTENT N, DONE N file N
 *       RUN N, RAN N     step N
 *       MADE N M SHA     file M of step N becomes one of that hash
 *       VERIFIED, COMMIT
 *       UNDO             taking back has begun; lines above no longer mean that all is done
 *       END WORD         the last line: a word of txn_status_words
 *
 * A last line without a newline was being written when the machine stopped, and does not count.
 */
#include "txn/txn-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "txn/write-private.h"

#define JOURNAL_MAX (4u << 20)
#define RECORD_MAX (16u << 20)
#define STAMP_FORMAT "%Y%m%dT%H%M%SZ"

/* ---- the folder ---- */

static int make_state_folders(struct txn *t)
{
	static const char *const folders[] = { "/var", "/var/lib", "/var/lib/nvnodecheck",
					       TXN_STATE_FOLDER };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int rc = write_folder_exists(&t->w, folders[i])
				 ? 0
				 : write_make_folder(&t->w, folders[i], i == 3 ? 0700 : 0755);

		if (rc && rc != -EEXIST)
			return txn_fail(t, rc, NULL);
	}
	return 0;
}

static int open_state_folder(struct txn *t, const char *id)
{
	char name[NAME_MAX + 1];

	t->folder = write_open_folder(
		&t->w, arena_printf(t->arena, TXN_STATE_FOLDER "/%s/journal", id), name);
	return t->folder < 0 ? txn_fail(t, t->folder, NULL) : 0;
}

/* Ids sort by time, also where the clock was set back or two begin in one second. */
static const char *new_stamp(struct txn *t)
{
	_cleanup_names_ struct names names = { 0 };
	time_t stamp = (time_t)t->time_s;
	struct tm last = { 0 }, tm;
	char text[32];

	if (state_names(t, &names) == 0 && names.count &&
	    strptime(names.items[names.count - 1], STAMP_FORMAT, &last) && timegm(&last) >= stamp)
		stamp = timegm(&last) + 1;
	gmtime_r(&stamp, &tm);
	strftime(text, sizeof(text), STAMP_FORMAT, &tm);
	return arena_strdup(t->arena, text);
}

int state_create(struct txn *t)
{
	int rc = make_state_folders(t);
	const char *id;

	if (rc)
		return rc;
	id = arena_printf(t->arena, "%s-%s", new_stamp(t), t->plan_id);
	if (write_make_folder(&t->w, arena_printf(t->arena, TXN_STATE_FOLDER "/%s", id), 0700))
		return txn_fail(t, -EIO, NULL);
	t->id = id;
	rc = open_state_folder(t, t->id);
	return rc ? rc : state_open(t);
}

void state_discard(struct txn *t)
{
	int copy = fcntl(t->folder, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	close_fd(&t->journal);
	t->journal = -1;
	if (dir) {
		rewinddir(dir);
		while ((entry = readdir(dir)))
			if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
				unlinkat(t->folder, entry->d_name, 0);
		closedir(dir);
	}
	close_fd(&t->folder);
	t->folder = -1;
	write_drop_folder(&t->w, arena_printf(t->arena, TXN_STATE_FOLDER "/%s", t->id));
	t->id = NULL;
}

static bool is_id(const char *name)
{
	/* 20261121T123456Z-0123456789abcdef */
	return strlen(name) > 17 && name[8] == 'T' && name[15] == 'Z' && name[16] == '-' &&
	       strspn(name, "0123456789") == 8;
}

int state_names(struct txn *t, struct names *names)
{
	int rc = host_list(t->host, names, TXN_STATE_FOLDER);
	size_t kept = 0;

	for (size_t i = 0; i < names->count; i++) {
		if (is_id(names->items[i]))
			names->items[kept++] = names->items[i];
		else
			free(names->items[i]);
	}
	names->count = kept;
	return rc == -ENOENT || rc == -ENODATA ? 0 : rc;
}

/* ---- files in it ---- */

static int read_state_file(struct txn *t, const char *name, size_t limit, struct text *text)
{
	_cleanup_close_ int fd = openat(t->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > limit)
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

int state_keep(struct txn *t, struct kept *kept, const char *path)
{
	char name[32];
	int rc;

	kept->path = path;
	kept->number = t->kept_count++;
	snprintf(name, sizeof(name), "before.%u", kept->number);
	rc = write_keep(&t->w, path, &kept->before, t->folder, name);
	return rc ? txn_fail(t, rc, NULL) : 0;
}

void state_forget(struct txn *t)
{
	char name[32];

	for (unsigned int i = 0; i < t->kept_count; i++) {
		snprintf(name, sizeof(name), "before.%u", i);
		TEST_POINT("unlink of a kept file");
		unlinkat(t->folder, name, 0);
	}
}

int state_kept_open(struct txn *t, const struct kept *kept)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "before.%u", kept->number);
	fd = openat(t->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void state_keep_found(struct txn *t, const struct kept *kept)
{
	struct file_seen seen;
	char name[32];

	snprintf(name, sizeof(name), "found.%u", kept->number);
	/* One that is there already is from an earlier try. */
	if (write_keep(&t->w, kept->path, &seen, t->folder, name) == 0 && seen.there)
		txn_note(t, "what was found at %s is kept as %s/%s/%s", kept->path,
			 TXN_STATE_FOLDER, t->id, name);
}

static int sync_state_folder(struct txn *t)
{
	return fsync(t->folder) < 0
		       ? txn_fail(t, -errno, "%s/%s: %s", TXN_STATE_FOLDER, t->id, strerror(errno))
		       : 0;
}

int state_save(struct txn *t)
{
	_cleanup_json_ struct json_object *json = record_to_json(t);
	const char *text = json_object_to_json_string_ext(
		json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	_cleanup_close_ int fd = -1;
	int rc;

	TEST_POINT("creating plan.json");
	fd = openat(t->folder, "plan.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	rc = fd < 0 ? -errno : write_all(fd, text, strlen(text));
	TEST_POINT("fsync of plan.json");
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (rc)
		return txn_fail(t, rc, "%s/%s/plan.json: %s", TXN_STATE_FOLDER, t->id,
				strerror(-rc));
	return sync_state_folder(t);
}

/* ---- events ---- */

/* Cuts off a line that was not written to its end. */
static int drop_torn_line(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char c;

	while (end > 0 && pread(fd, &c, 1, end - 1) == 1 && c != '\n')
		end--;
	return ftruncate(fd, end) < 0 ? -errno : 0;
}

int state_open(struct txn *t)
{
	int rc;

	TEST_POINT("opening the journal");
	t->journal = openat(t->folder, "journal",
			    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = t->journal < 0 ? -errno : drop_torn_line(t->journal);
	return rc ? txn_fail(t, rc, "%s/%s/journal: %s", TXN_STATE_FOLDER, t->id, strerror(-rc))
		  : 0;
}

int state_event(struct txn *t, const char *format, ...)
{
	char line[256];
	va_list ap;
	int n, rc;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line) - 1, format, ap);
	va_end(ap);
	line[n] = '\n';
	/* After a failed write half a line may stand there. */
	rc = drop_torn_line(t->journal);
	if (rc == 0)
		rc = write_all(t->journal, line, (size_t)n + 1);
	TEST_POINT("fsync of the journal");
	if (rc == 0 && fsync(t->journal) < 0)
		rc = -errno;
	return rc ? txn_fail(t, rc, "%s/%s/journal: %s", TXN_STATE_FOLDER, t->id, strerror(-rc))
		  : 0;
}

static int word_of(const char *const *words, struct span word)
{
	for (int i = 0; words[i]; i++)
		if (span_is(word, words[i]))
			return i;
	return -1;
}

static void replay_made(struct txn *t, struct span rest)
{
	struct span n, m, sha;
	uint64_t step, file;
	struct kept *kept;

	if (!span_word(&rest, &n) || !span_word(&rest, &m) || !span_word(&rest, &sha) ||
	    span_u64(n, 10, &step) || span_u64(m, 10, &file) || step >= t->steps.count ||
	    file >= t->steps.items[step].kept.count)
		return;
	kept = &t->steps.items[step].kept.items[file];
	kept->after_known = true;
	kept->after.there = !span_is(sha, "-");
	if (kept->after.there && sha.n < SHA256_HEX) {
		memcpy(kept->after.sha256, sha.p, sha.n);
		kept->after.sha256[sha.n] = '\0';
	}
}

static void replay_line(struct txn *t, struct span line)
{
	struct span rest = line, event, word;
	uint64_t n = UINT64_MAX;

	if (!span_word(&rest, &event))
		return;
	if (span_is(event, "MADE")) {
		replay_made(t, rest);
		return;
	}
	if (!span_word(&rest, &word))
		word = (struct span){ "", 0 };
	if (span_u64(word, 10, &n))
		n = UINT64_MAX;
	if (span_is(event, "BEGIN"))
		t->begun = true;
	else if (span_is(event, "INTENT") && n < t->files.count)
		t->files.items[n].begun = true;
	else if (span_is(event, "RUN") && n < t->steps.count)
		t->steps.items[n].begun = true;
	else if (span_is(event, "RAN") && n < t->steps.count)
		t->steps.items[n].ended = true;
	else if (span_is(event, "COMMIT"))
		t->committed = true;
	else if (span_is(event, "UNDO"))
		t->undoing = true;
	else if (span_is(event, "END")) {
		int status = word_of(txn_status_words, word);

		t->ended = status >= 0;
		t->status = status >= 0 ? (enum txn_status)status : TXN_IS_DAMAGED;
	}
}

static void replay(struct txn *t, struct span rest)
{
	struct span line;

	while (rest.n && rest.p[rest.n - 1] != '\n')
		rest.n--;
	while (span_cut(&rest, '\n', &line))
		replay_line(t, line);
}

int state_load(struct txn *t, const char *id)
{
	_cleanup_text_ struct text text = { 0 }, journal = { 0 };
	_cleanup_json_ struct json_object *json = NULL;
	struct json_error error;
	struct span rest;
	bool later;
	int rc;

	t->id = id;
	rc = open_state_folder(t, id);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	rc = read_state_file(t, "journal", JOURNAL_MAX, &journal);
	rest = text_span(&journal);
	if (rc == -ENOENT || (rc == 0 && !span_starts(rest, "BEGIN\n")))
		return -ENOENT;
	replay(t, rest);
	if (rc == 0)
		rc = read_state_file(t, "plan.json", RECORD_MAX, &text);
	/* It was there before the first line: this one began, whatever took its record. */
	if (rc == -ENOENT)
		rc = -EBADMSG;
	if (rc)
		return txn_fail(t, rc, "%s/%s: %s", TXN_STATE_FOLDER, id, strerror(-rc));
	json = json_parse(text.data, text.size, &error);
	if (!json || json_check_document(json, RECORD_FORMAT, &later, &error))
		return txn_fail(t, -EBADMSG, "%s/%s/plan.json: %s", TXN_STATE_FOLDER, id,
				error.text);
	rc = record_from_json(t, json);
	if (rc)
		return txn_fail(t, rc, "%s/%s/plan.json: not as this program writes it",
				TXN_STATE_FOLDER, id);
	/* Now that there are files and steps to be told about. */
	replay(t, rest);
	return 0;
}
