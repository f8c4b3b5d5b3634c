/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.h - replaces whole files inside a root that no path leaves.
 *
 * Every folder on the path is opened by its name in the one above it and must be a folder (no link) that only its owner,
 * root, can write to. Then no one else can change the path between a check and a rename.
 *
 * A file is written beside its place under a name that no program reads as configuration, fsynced and exchanged with the
 * present one. The displaced file is checked then: if it is not the file that the caller expected, another program changed
 * it meanwhile, and it returns to its place. So no edit is ever lost, however long it took to read the file. Names beside
 * a file:
 *
 *     .nvnodecheck.tmp.XXXXXX   unfinished; always ours
 *     .nvnodecheck.new.NAME     the output of a generator; always ours
 *     .nvnodecheck.old.NAME     the new file for NAME, or the one displaced from there
 *     .nvnodecheck.found.NAME   displaced, of another program, and superseded; never touched again
 *
 * Functions return 0 or negative errno, with a sentence in writer.why.
 */
#ifndef WRITE_H
#define WRITE_H

#include <limits.h>
#include <sys/types.h>

#include "base/sha256.h"
#include "base/span.h"
#include "facts/fact.h"

#define WRITE_PREFIX ".nvnodecheck."
#define WRITE_TEMPORARY WRITE_PREFIX "tmp."
#define WRITE_SIDE WRITE_PREFIX "new."
#define WRITE_WHY 640
/* A larger file is not one that a repair made or replaces: INITRAMFS_BYTES_MAX is as much for an image that is not
 * compressed. The maker of a tree can give a file terabytes, which takes hours to read. */
#define WRITE_FILE_MAX (4ull << 30)
/* After a signal, as many bytes are still read to complete a change, or to revert it. */
#define WRITE_LATE_MAX (16ull << 30)

struct root;

struct xattr {
	const char *name;
	const char *value;
	size_t n;
};

struct file_meta {
	uint32_t mode; /* permissions */
	uid_t uid;
	gid_t gid;
	int64_t mtime_s;
	uint32_t mtime_ns;
	LIST(struct xattr) xattrs; /* by name; also labels and ACLs */
};

/* The state of a file; if it does not exist: all zero. */
struct file_seen {
	bool there;
	const char *link; /* the target of a symbolic link; NULL: a regular file */
	struct file_meta meta;
	bool sized; /* SIZE is known */
	uint64_t size;
	/* Of its bytes, or of the target of the link. Empty: the size already shows that it is another file. */
	char sha256[SHA256_HEX];
};

struct writer {
	int root;	     /* a folder, opened once */
	bool live;	     /* this host's own root, whose policy labels new files */
	struct arena *arena; /* for the strings of file_seen */
	char why[WRITE_WHY];
	bool refused;	    /* the last failure: a file in its place must not be replaced */
	bool overtaken;	    /* the last failure: it was changed at the same time */
	bool changing;	    /* a pending signal does not end reading at once */
	uint64_t read_late; /* bytes that were read after a signal */
};

/* ROOT NULL: this host. */
int writer_open(struct writer *w, const struct root *root, struct arena *arena);
void writer_close(struct writer *w);

/* Refused (-ELOOP, -EMLINK, -EBUSY, -EISDIR, ...) if the file could not be replaced without changing something else: a
 * link, one of several names of a file, a mount, or not a regular file. */
int write_see(struct writer *w, const char *path, struct file_seen *seen);
/* The same, but a file whose size differs from all of KNOWN, which ends with NULL, is not read. */
int write_see_known(struct writer *w, const char *path, const struct file_seen *const *known,
		    struct file_seen *seen);
/* A symbolic link or no file. Any other type is refused. */
int write_see_link(struct writer *w, const char *path, struct file_seen *seen);
/* Calls write_see(), and copies the bytes to a new file NAME in FOLDER, with fsync. */
int write_keep(struct writer *w, const char *path, struct file_seen *seen, int folder,
	       const char *name);
/* Compares only the bytes, or the targets of links. */
bool write_same(const struct file_seen *a, const struct file_seen *b);

struct write_request {
	const char *path;
	const char *link;	      /* the target of a symbolic link to make, or: */
	struct span bytes;	      /* the content, or: */
	int from;		      /* a file with the content; -1 */
	const struct file_meta *meta; /* NULL: a new file of root's, with MODE */
	uint32_t mode;
	bool exact; /* META belongs to these same bytes: time and signatures as well */
	/* The file to replace, as a function above has seen it. If another file is there, the result is -ESTALE, and
	 * writer.overtaken is set. */
	const struct file_seen *expected;
};

int write_put(struct writer *w, const struct write_request *request);
/* SIDE, which a generator made in PATH's folder, becomes PATH. */
int write_generated(struct writer *w, const char *side, const struct write_request *request);
int write_remove(struct writer *w, const char *path, const struct file_seen *expected);

/*
 * After an interruption: completes the exchange at PATH. If another program's file was displaced at that moment, it
 * returns to its place. KNOWN, which ends with NULL, lists all files that the transaction may have left or removed
 * there. Refused if the displaced file belongs to another program and a third file exists by now: it is kept beside it,
 * and writer.why names it.
 */
int write_settle(struct writer *w, const char *path, const struct file_seen *const *known);

/* Makes a folder of root's; -EEXIST if there is one. */
int write_make_folder(struct writer *w, const char *path, uint32_t mode);
/* Removes the folder. Returns 0 also when it is not empty or does not exist. */
int write_drop_folder(struct writer *w, const char *path);
bool write_folder_exists(struct writer *w, const char *path);
/* Removes our unfinished files beside PATH. */
int write_sweep(struct writer *w, const char *path);

/* Gets the free bytes of the file system that holds PATH. Returns 0, or a negative errno: -EROFS if it is mounted
 * read-only. */
int write_room(struct writer *w, const char *path, uint64_t *bytes);
/* Opens a file for reading, with the checks of write_see(). Returns the descriptor, or negative errno. */
int write_open(struct writer *w, const char *path);
/* Opens the folder of PATH, with the last part of PATH in NAME. */
int write_open_folder(struct writer *w, const char *path, char name[NAME_MAX + 1]);
/* "/boot/.nvnodecheck.new.initrd.img-6.1" for "/boot/initrd.img-6.1" */
const char *write_side_path(struct arena *arena, const char *path);

/* A kernel setting: one write to a file that needs it as a whole. */
int write_setting(struct writer *w, const char *path, const char *value);
/* Makes a character device; -EEXIST if the name exists. */
int write_make_node(struct writer *w, const char *path, uint32_t mode, dev_t device);
int write_drop_node(struct writer *w, const char *path, dev_t device);
/* Hashes the rest of an open file. -EOVERFLOW: it is larger than WRITE_FILE_MAX; -EINTR: a signal is pending. */
int write_hash(struct writer *w, int fd, char hex[SHA256_HEX]);
/* Writes all bytes, also when the kernel accepts fewer in one call. */
int write_all(int fd, const void *bytes, size_t n);

#endif
