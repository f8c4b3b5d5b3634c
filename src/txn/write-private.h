/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write-private.h - shared by the files write-*.c. */
#ifndef WRITE_PRIVATE_H
#define WRITE_PRIVATE_H

#include "txn/txn.h"
#include "txn/write.h"

struct stat;

#define TEST_POINT(what)                      \
	do {                                  \
		if (txn_test_point)           \
			txn_test_point(what); \
	} while (0)

/* All four fill w->why and return a negative errno: the given one, that of errno, or -ESTALE. */
int write_was_changed(struct writer *w, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int write_refuse(struct writer *w, int error, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int write_fail(struct writer *w, int error, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int write_failed(struct writer *w, const char *path, const char *what);

/* In write.c. RC is open_own_file()'s. Fills w->why and returns a negative errno. */
int write_open_failed(struct writer *w, const char *path, int rc);
/* Fills w->why after reading failed with RC. */
int write_read_failed(struct writer *w, int rc, const char *path, const char *what);
/* Reads the state of NAME in FOLDER. Its bytes are also written to OUT, unless that is -1. KNOWN is as for
 * write_see_known(), or NULL. */
int write_see_in(struct writer *w, int folder, const char *name, const char *path,
		 const struct file_seen *const *known, struct file_seen *seen, int out);
/* Reads the state and the target of NAME in FOLDER, a symbolic link. */
int write_see_link_in(struct writer *w, int folder, const char *name, const char *path,
		      struct file_seen *seen);
/* Copies the rest of FROM to TO. */
int write_copy(struct writer *w, int from, int to);

/* In write-swap.c: gives TEMP in FOLDER, which is complete and fsynced, the name NAME. TEMP NULL: removes NAME. */
int write_swap(struct writer *w, int folder, const char *temp, const char *name,
	       const struct write_request *r);

int write_sync_folder(struct writer *w, int folder, const char *path);

/* In write-label.c. Returns 0 also if there is nothing to do. TYPE is that of stat(2). */
int write_label(struct writer *w, int fd, const char *path, mode_t type);
int write_label_name(struct writer *w, int folder, const char *name, const char *path, mode_t type);

/* write-meta.c */
int write_meta_read(struct writer *w, int fd, const char *path, const struct stat *st,
		    struct file_meta *meta);
int write_meta_set(struct writer *w, int fd, const struct write_request *request);
/* Sets the owner and the time of a symbolic link. */
int write_meta_set_link(struct writer *w, int folder, const char *name,
			const struct write_request *request);

#endif
