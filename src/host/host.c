/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.c - the only way to read the machine that is checked. */
#include "host/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "facts/fact.h"
#include "host/host-private.h"

#define NAMES_FILE_MAX (16u << 20) /* some sites list all their nodes in /etc/hosts */
#define LINKS_MAX 40		   /* as the kernel's MAXSYMLINKS */

void host_close(struct host *host)
{
	if (!host)
		return;
	if (host->recorder)
		recorder_free(host->recorder);
	host->ops->close(host);
	free(host);
}

enum host_kind host_kind(const struct host *host)
{
	return host->kind;
}

void host_identity(const struct host *host, uint64_t *device, uint64_t *inode)
{
	*device = host->device;
	*inode = host->inode;
}

/* The node, the tree or the capture does not have the file. */
static bool is_missing(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ENODATA || rc == -ENOMEDIUM ||
	       rc == -ENOMSG;
}

/* Known to every child from the start: each redacts by itself. */
static int learn_names(struct host *host)
{
	static const struct {
		const char *path;
		void (*learn)(struct recorder *r, struct span text);
	} files[] = {
		{ "/proc/sys/kernel/hostname", recorder_learn_host },
		{ "/etc/hostname", recorder_learn_host },
		{ "/etc/hosts", recorder_learn_hosts },
		{ "/etc/resolv.conf", recorder_learn_domains },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_text_ struct text text = { 0 };
		int rc = host->ops->read(host, files[i].path, NAMES_FILE_MAX, &text);

		if (rc == 0)
			files[i].learn(host->recorder, text_span(&text));
		/* The names in a file that could not be read would not be redacted. */
		else if (!is_missing(rc))
			return rc;
	}
	return 0;
}

int host_record(struct host *host, int fd, bool redact, int told)
{
	host->recorder = recorder_new(fd, redact, told);
	if (!host->recorder)
		return errno ? -errno : -ENOMEM;
	return redact ? learn_names(host) : 0;
}

bool host_is_recorded(const struct host *host)
{
	return host->recorder != NULL;
}

int host_record_error(const struct host *host)
{
	return host->recorder ? recorder_error(host->recorder) : 0;
}

void host_on_gap(struct host *host, host_gap *gap, void *user)
{
	host->gap = gap;
	host->gap_user = user;
}

void host_begin_child(struct host *host, char *where)
{
	files_leave_descriptors(host);
	host->trace = where;
}

struct host *host_for_thread(const struct host *host, char *where)
{
	struct host *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	memcpy(copy, host, sizeof(*copy));
	copy->recorder = NULL;
	host_on_gap(copy, NULL, NULL);
	copy->trace = where;
	return copy;
}

void host_trace_in(struct host *host, char *where)
{
	memcpy(where, host->trace, strnlen(host->trace, PATH_MAX - 1) + 1);
	host->trace = where;
}

void host_distrust_names(struct host *host, bool distrust)
{
	host->distrust = distrust;
}

/* A query's answer replaces all reads that were needed for it. */
static bool is_recorded(const struct host *host)
{
	return host->recorder && !host->asking;
}

static void trace(struct host *host, const char *path)
{
	size_t n = strnlen(path, PATH_MAX - 1);
	char *where = host->trace;

	if (!where)
		return;
	memcpy(where, path, n);
	where[n] = '\0';
}

/* ---- the meaning of errors ---- */

static const struct error_text {
	int error;
	const char *word;
	const char *why;
} error_texts[] = {
	{ EACCES, "EACCES", "permission denied" },
	{ EPERM, "EPERM", "not permitted" },
	{ ENOENT, "ENOENT", "not there" },
	{ ENODATA, "ENODATA", "not in the recording" },
	{ ENOMEDIUM, "ENOMEDIUM", "its folder is not in the recording" },
	{ EFBIG, "EFBIG", "larger than a file of this kind can be" },
	{ EINVAL, "EINVAL", "invalid argument" },
	{ EIO, "EIO", "input/output error" },
	{ ELOOP, "ELOOP", "too many symbolic links, or one of a user that is not followed" },
	{ EXDEV, "EXDEV", "leads out of the root" },
	{ ENOTDIR, "ENOTDIR", "not a folder" },
	{ EISDIR, "EISDIR", "a folder, not a file" },
	{ ENODEV, "ENODEV", "no such device" },
	{ ENXIO, "ENXIO", "not a regular file, or a file with side effects when it is read" },
	{ ENOMEM, "ENOMEM", "out of memory" },
	{ ENOSYS, "ENOSYS", "not supported by this kernel" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "not supported" },
	{ EPROTONOSUPPORT, "EPROTONOSUPPORT", "protocol not supported" },
	{ ELIBACC, "ELIBACC", "the library is not installed" },
	{ EBADMSG, "EBADMSG", "not in the expected form" },
	{ ENOTCONN, "ENOTCONN", "not connected" },
	{ ECONNREFUSED, "ECONNREFUSED", "connection refused" },
	{ EHOSTDOWN, "EHOSTDOWN", "not running" },
	{ EREMOTE, "EREMOTE", "a container does not see its host's" },
	{ ETIMEDOUT, "ETIMEDOUT", "timed out" },
	{ EAGAIN, "EAGAIN", "would wait" },
	{ ENAMETOOLONG, "ENAMETOOLONG", "name too long" },
	{ EOVERFLOW, "EOVERFLOW", "more entries than a folder of this kind can have" },
	{ ESTALE, "ESTALE", "stale" },
	{ EBUSY, "EBUSY", "busy" },
	{ ENOTUNIQ, "ENOTUNIQ", "more than one value" },
};

static const struct error_text *find_error(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(error_texts); i++)
		if (error_texts[i].error == -error)
			return &error_texts[i];
	return NULL;
}

const char *host_error_word(int error)
{
	const struct error_text *t = find_error(error);

	return t ? t->word : "EIO";
}

int host_error_from_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(error_texts); i++)
		if (strcmp(error_texts[i].word, word) == 0)
			return -error_texts[i].error;
	return -EIO;
}

void host_gap_note(struct host *host, const char *path, int error, const char *why)
{
	const struct error_text *t = find_error(error);

	if (host->gap && !host->asking)
		host->gap(host->gap_user, path, error, why ? why : t ? t->why : strerror(-error));
}

/* An area that the tree does not have is one gap, not one for each of its files; the same when it
 * was a tree that a capture was made from. */
static void note_area(struct host *host, struct span area)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%.*s", SPAN_FMT(area));
	host_gap_note(host, text, -ENODATA,
		      host->kind == HOST_LIVE ? "not mounted" : "this tree has no such folder");
}

static int answered(struct host *host, const char *path, int rc)
{
	if (rc >= 0 || rc == -ENOENT || rc == -ENOTDIR)
		return rc == -ENOTDIR ? -ENOENT : rc;
	if (rc == -ENOMSG)
		host_gap_note(host, path, -ENODATA, NULL);
	else if (rc == -ENODATA)
		note_area(host, (struct span){ path, 1 + strcspn(path + 1, "/") });
	else if (rc == -ENOMEDIUM)
		note_area(host, host_section(path));
	else
		host_gap_note(host, path, rc, NULL);
	return rc == -ENOMSG || rc == -ENOMEDIUM ? -ENODATA : rc;
}

/* ---- lists of names ---- */

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){ 0 };
}

int names_add(struct names *names, const char *name)
{
	if ((names->count & (names->count - 1)) == 0) {
		size_t room = names->count ? names->count * 2 : 1;
		char **items = realloc(names->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		names->items = items;
	}
	names->items[names->count] = strdup(name);
	return names->items[names->count++] ? 0 : -ENOMEM;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_sort(struct names *names)
{
	if (names->count > 1)
		qsort(names->items, names->count, sizeof(*names->items), compare_names);
}

/* The names are sorted. */
bool names_have(const struct names *names, const char *name)
{
	return names->count &&
	       bsearch(&name, names->items, names->count, sizeof(*names->items), compare_names);
}

/* ---- questions ---- */

/* The paths of a node are some hundred, and printf takes longer to make one of them than the kernel to find
 * the file. */
bool host_format_path(char path[PATH_MAX], const char *format, va_list ap)
{
	va_list again;
	size_t n = 0;
	int length;

	va_copy(again, ap);
	for (const char *f = format; n < PATH_MAX; f++) {
		const char *word;

		if (*f != '%') {
			path[n++] = *f;
			if (*f)
				continue;
			va_end(again);
			return true;
		}
		if (*++f != 's')
			break;
		for (word = va_arg(again, const char *); *word && n < PATH_MAX; word++)
			path[n++] = *word;
	}
	va_end(again);
	if (n >= PATH_MAX) {
		path[PATH_MAX - 1] = '\0'; /* what is said of the error names it */
		return false;
	}
	length = vsnprintf(path, PATH_MAX, format, ap);
	return length >= 0 && length < PATH_MAX;
}

static int read_at(struct host *host, const char *path, size_t limit, struct text *text)
{
	int rc;

	trace(host, path);
	*text = (struct text){ 0 };
	rc = host->ops->read(host, path, limit, text);
	if (is_recorded(host))
		record_read(host->recorder, path, rc, text);
	return rc;
}

int host_read(struct host *host, struct text *text, size_t limit, const char *format, ...)
{
	char path[PATH_MAX];

	*text = (struct text){ 0 };
	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	return answered(host, path, read_at(host, path, limit, text));
}

int host_read_entry(struct host *host, struct text *text, size_t limit, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	*text = (struct text){ 0 };
	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	rc = read_at(host, path, limit, text);
	return rc == -EINVAL ? -ENOENT : answered(host, path, rc);
}

int host_read_head(struct host *host, struct text *text, size_t n, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	*text = (struct text){ 0 };
	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	trace(host, path);
	rc = host->ops->head(host, path, n, text);
	if (is_recorded(host))
		record_head(host->recorder, path, rc, text);
	return answered(host, path, rc);
}

static int try_read(struct host *host, const char *path)
{
	_cleanup_text_ struct text text = { 0 };

	return host->ops->read(host, path, HOST_FILE_MAX, &text);
}

/* A capture has -ENODATA if its tree had no such folder. The probe os reads the same files, so a capture has them. */
bool host_is_mounted_image(struct host *host)
{
	return host->kind != HOST_LIVE &&
	       try_read(host, "/proc/sys/kernel/osrelease") == -ENODATA &&
	       try_read(host, "/sys/class/dmi/id/product_name") == -ENODATA &&
	       (try_read(host, "/etc/os-release") == 0 ||
		try_read(host, "/usr/lib/os-release") == 0);
}

int host_list(struct host *host, struct names *names, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	*names = (struct names){ 0 };
	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	trace(host, path);
	rc = host->ops->list(host, path, names);
	if (rc == 0)
		names_sort(names);
	if (is_recorded(host))
		record_list(host->recorder, path, rc, names);
	return answered(host, path, rc);
}

int host_stat(struct host *host, struct host_stat *stat, const char *format, ...)
{
	char path[PATH_MAX];
	int rc;

	*stat = (struct host_stat){ 0 };
	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	trace(host, path);
	rc = host->ops->stat(host, path, stat);
	if (is_recorded(host))
		record_stat(host->recorder, path, rc, stat);
	return answered(host, path, rc);
}

static int link_at(struct host *host, const char *path, char target[PATH_MAX])
{
	int rc;

	trace(host, path);
	target[0] = '\0';
	rc = host->ops->link(host, path, target);
	if (is_recorded(host))
		record_link(host->recorder, path, rc, target);
	return rc == -EINVAL ? rc : answered(host, path, rc);
}

int host_link(struct host *host, char target[PATH_MAX], const char *format, ...)
{
	char path[PATH_MAX];

	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	return link_at(host, path, target);
}

int host_link_name(struct host *host, char name[NAME_MAX + 1], const char *format, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	int rc;

	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	rc = link_at(host, path, target);
	if (rc)
		return rc;
	last = strrchr(target, '/');
	snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, last ? last + 1 : target);
	return 0;
}

/* PATH becomes the path of TARGET from there, with its ".." as written. */
static int step_along(char path[PATH_MAX], const char *target)
{
	char joined[PATH_MAX + NAME_MAX];
	size_t folder = *target == '/' ? 0 : (size_t)(strrchr(path, '/') + 1 - path);
	int n = snprintf(joined, sizeof(joined), "%.*s%s", (int)folder, path, target);

	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path, joined, (size_t)n + 1);
	return 0;
}

int host_link_end(struct host *host, char name[NAME_MAX + 1], const char *format, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	int rc, links = 0;

	if (!HOST_FORMAT_PATH(path, format))
		return answered(host, path, -ENAMETOOLONG);
	while ((rc = link_at(host, path, target)) == 0) {
		if (++links > LINKS_MAX)
			return answered(host, path, -ELOOP);
		rc = step_along(path, target);
		if (rc)
			return answered(host, path, rc);
	}
	/* A dangling link still names the file it was made for. */
	if (links == 0 || (rc != -EINVAL && rc != -ENOENT))
		return rc;
	snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, strrchr(path, '/') + 1);
	return 0;
}

bool host_exists(struct host *host, const char *path)
{
	struct host_stat stat;

	return host_stat(host, &stat, "%s", path) == 0;
}

int host_open(struct host *host, const char *path)
{
	trace(host, path);
	return answered(host, path, host->kind == HOST_CAPTURE ? -ENOMSG : files_open(host, path));
}

bool host_is_running(const struct host *host)
{
	return host->is_running;
}

int host_open_kmsg(struct host *host)
{
	trace(host, "/dev/kmsg");
	return answered(host, "/dev/kmsg", host->is_running ? files_open_kmsg(host) : -ENODATA);
}

int host_read_kernel_log(struct host *host, struct text *text, size_t *whole_bytes)
{
	trace(host, "/dev/kmsg");
	return host->is_running ? files_read_kernel_log(text, whole_bytes) : -ENODATA;
}

int host_query(struct host *host, const char *key, const struct desc *desc, void *facts,
	       struct arena *arena, host_ask *ask, void *user)
{
	_cleanup_json_ struct json_object *answer = NULL;
	int rc;

	trace(host, key);
	rc = host->ops->query(host, key, desc, facts, arena, ask, user);
	/* Half an answer is not kept: a capture has only the error. */
	if (rc)
		memset(facts, 0, desc->size);
	if (host->recorder) {
		answer = rc == 0 ? fact_to_json(desc, facts) : NULL;
		record_query(host->recorder, key, rc, desc, answer);
	}
	return answered(host, key, rc);
}
