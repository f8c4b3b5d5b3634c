/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - the only way to read the machine that is checked.
 *
 * Three back ends answer the same questions: the live host, a tree of files (--root), and a capture
 * (--from), which has what a recorder around one of the others wrote. Paths are always those
 * of the host itself: "/sys/bus/pci/devices". Nothing here changes anything.
 *
 * Errors are negative errno:
 *   -ENOENT    looked for, and not there
 *   -ENODATA   not known: the tree has no such top-level folder, the capture has no such record
 *   -EFBIG     larger than the limit given
 *   others     as the kernel said
 * Every error except -ENOENT leaves a fact unknown and goes to the gap function, which records the
 * reason.
 */
#ifndef HOST_H
#define HOST_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/confine.h"
#include "base/span.h"

/* Limit of one file, unless the caller gives another. */
#define HOST_FILE_MAX (1u << 20)
#define HOST_NAMES_MAX 65536
/* Limit of lines of a capture. That of a large node has two thousand. */
#define CAPTURE_RECORDS_MAX (1u << 18)

struct host;
struct root;
struct desc;
struct json_object;

/* ---- opening; NULL with ERROR filled (256 bytes) on failure ---- */

struct host *host_open_live(void);
/* ROOT may be closed before the host. */
struct host *host_open_tree(const struct root *root, char error[256]);
/* TEXT is the content of a capture file and must stay until host_close(). NAME is for messages. */
struct host *host_open_capture(const char *name, const char *text, size_t n, char error[256]);
void host_close(struct host *host);

enum host_kind { HOST_LIVE, HOST_TREE, HOST_CAPTURE };
enum host_kind host_kind(const struct host *host);
/* Gets the identity of a tree's folder; both are 0 for a live host and a capture. */
void host_identity(const struct host *host, uint64_t *device, uint64_t *inode);

/* Writes every answer from now on to FD, which the caller closes. With REDACT only data that probes need is written,
 * and names and numbers that identify the machine or its people are replaced (keep.h). Each of them is listed on TOLD,
 * a descriptor or -1. */
int host_record(struct host *host, int fd, bool redact, int told);
bool host_is_recorded(const struct host *host);
/* Returns 0, or the error of the first line that could not be written, also by a child. */
int host_record_error(const struct host *host);

typedef void host_gap(void *user, const char *path, int error, const char *why);
void host_on_gap(struct host *host, host_gap *gap, void *user);

/* A child that uses its parent's host calls this first. WHERE (PATH_MAX bytes, may be shared memory) always has the
 * last path that was read, so that the parent can name it if the child hangs. */
void host_begin_child(struct host *host, char *where);

/* Returns a copy of HOST for a thread of the same process, or NULL. The copy reads the same files and has no recorder.
 * It has gaps of its own, and WHERE for its last path. Only free() frees it. */
struct host *host_for_thread(const struct host *host, char *where);
/* From now on WHERE has the last path. May be called while a thread uses HOST: the path can then be a mixture of two,
 * as it can for a parent that reads WHERE. */
void host_trace_in(struct host *host, char *where);

/* While DISTRUST is set, the paths come from an untrusted source, such as a job's environment. A
 * link in the last place of a path that belongs to neither root nor the caller is not followed
 * (-ELOOP). Files of procfs and its like are not opened (-ENXIO), because reading one can act. */
void host_distrust_names(struct host *host, bool distrust);

/*
 * A child has only the rights that reading needs (base/confine.h).
 *
 * host_set_process() is called before the child is made: from then on /proc/self/status and limits are those of the
 * caller. host_confine() is called in the child.
 */
void host_set_process(struct host *host);
/* ASKS only matters on a live host. With THREADS the child may have threads. NEEDS (enum confine_needs) are those of
 * all its probes. */
void host_confine(struct host *host, enum confine_asks asks, bool threads, unsigned int needs);
/* Drops all capabilities but NEEDS (enum confine_needs) for the rest of the process. */
void host_keep(const struct host *host, unsigned int needs);

/* ---- questions ---- */

/* The content of one file: it does not grow, and data[size] is NUL. (base/text.h writes text for people.) */
struct text {
	char *data;
	size_t size;
};

static inline void text_free(struct text *text)
{
	free(text->data);
}
#define _cleanup_text_ _cleanup_(text_free)

/* Reads FD to its end into TEXT, which is empty, from FIRST bytes on with more room each time. Returns 0 or a negative
 * errno; TEXT must be freed in both cases. -EFBIG: longer than LIMIT. -ETIMEDOUT: not complete by END_US (clock_us();
 * 0: no deadline). AT_ONCE: a read that does not fill the room is the last one. */
int text_read(int fd, size_t first, size_t limit, bool at_once, uint64_t end_us, struct text *text);

static inline struct span text_span(const struct text *text)
{
	return (struct span){ text->data, text->size };
}

/* The entries of a folder without "." and "..", sorted by strcmp. */
struct names {
	char **items;
	size_t count;
};

void names_free(struct names *names);
bool names_have(const struct names *names, const char *name);
#define _cleanup_names_ _cleanup_(names_free)

struct host_stat {
	mode_t mode; /* type and permissions; a link is followed */
	dev_t rdev;
	uint64_t size;
	uint64_t mtime_s;
	bool has_owner; /* of a device; earlier captures have none */
	uint64_t uid, gid;
};

#define HOST_PATH(n) __attribute__((format(printf, n, n + 1)))
/* For the functions with a path: writes their path into PATH. Returns false when it is too long, because a path that
 * is cut off names another file. */
bool host_format_path(char path[PATH_MAX], const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
#define HOST_FORMAT_PATH(path, format)                      \
	({                                                  \
		va_list ap;                                 \
		bool whole;                                 \
		va_start(ap, format);                       \
		whole = host_format_path(path, format, ap); \
		va_end(ap);                                 \
		whole;                                      \
	})

/* A regular file, at most LIMIT bytes. For a path outside /proc and /sys, nothing in these is opened, whatever links
 * lead there (-ENXIO). */
HOST_PATH(4)
int host_read(struct host *host, struct text *text, size_t limit, const char *format, ...);
/* An entry of a table in sysfs. The kernel returns -EINVAL for an empty entry, which is -ENOENT here and no gap. */
HOST_PATH(4)
int host_read_entry(struct host *host, struct text *text, size_t limit, const char *format, ...);
/* Reads the first N bytes, or all of a shorter file, if the rest costs time and adds nothing. */
HOST_PATH(4)
int host_read_head(struct host *host, struct text *text, size_t n, const char *format, ...);
HOST_PATH(3) int host_list(struct host *host, struct names *names, const char *format, ...);
HOST_PATH(3) int host_stat(struct host *host, struct host_stat *stat, const char *format, ...);
/* Reads the target of a symbolic link unchanged; -EINVAL, without a gap, when it is not a link. */
HOST_PATH(3) int host_link(struct host *host, char target[PATH_MAX], const char *format, ...);
/* The last part of a link's target: the driver of a device, the group of an IOMMU. */
HOST_PATH(3)
int host_link_name(struct host *host, char name[NAME_MAX + 1], const char *format, ...);
/* Like host_link_name() for a link to links (alternatives): the last part of the final target, which need not exist. */
HOST_PATH(3)
int host_link_end(struct host *host, char name[NAME_MAX + 1], const char *format, ...);
bool host_exists(struct host *host, const char *path);

/* Opens a regular file of any size for reading. Live and tree only; -ENODATA from a capture. */
int host_open(struct host *host, const char *path);
/* Returns true for files of a system that does not run: neither /proc nor /sys, and an os-release. It informs neither
 * the gap function nor a recorder, because probes ask for these files again. */
bool host_is_mounted_image(struct host *host);
/* Returns true for the files of the running kernel: a live host, or one that is mounted into this container. Valid
 * after host_stand_for(). */
bool host_is_running(const struct host *host);
/* Opens the kernel's log device for reading, without blocking. Running kernel only, -ENODATA elsewhere. Reading removes
 * nothing from the log. -ENXIO: the path is not that device, as in some containers. */
int host_open_kmsg(struct host *host);
/* Reads that log as one text, by one call, from the last dmesg --clear on. Each line is "<6>[ 12.345678] MESSAGE".
 * WHOLE_BYTES is the size of the kernel's buffer. Errors as of host_open_kmsg(). */
int host_read_kernel_log(struct host *host, struct text *text, size_t *whole_bytes);
/* A folder for a library that needs a path. Refused (-EXDEV) if a file that the library would open below it is outside
 * the root: NAMES are the files that it opens in each sub-folder. Live and tree only. */
int host_folder(struct host *host, const char *path, const char *const *names,
		char native[PATH_MAX]);

/* A question that a library answers. ASK fills FACTS (described by DESC) and is called for a live host and a tree. A
 * recorder keeps its answer under KEY, and a capture returns that answer. The reads of ASK itself are neither recorded
 * nor reported as gaps, so that a capture reads the same as the machine. The error is the return value of ASK, reported
 * under KEY. KEY may be a path. */
typedef int host_ask(struct host *host, void *facts, struct arena *arena, void *user);
int host_query(struct host *host, const char *key, const struct desc *desc, void *facts,
	       struct arena *arena, host_ask *ask, void *user);
/* Returns true if a capture has an answer, or an error, under KEY. False for the other back ends. */
bool host_has_recorded(struct host *host, const char *key);

/* Records a gap that a probe found itself: "only 64 of 4096 bytes". */
void host_gap_note(struct host *host, const char *path, int error, const char *why);

const char *host_error_word(int error); /* EACCES */

#endif
