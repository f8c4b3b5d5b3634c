/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-private.h - shared by host.c and its back ends only. */
#ifndef HOST_PRIVATE_H
#define HOST_PRIVATE_H

#include "host/host.h"
#include "host/root.h"

struct host_ops {
	int (*read)(struct host *host, const char *path, size_t limit, struct text *text);
	int (*head)(struct host *host, const char *path, size_t n, struct text *text);
	int (*list)(struct host *host, const char *path, struct names *names);
	int (*stat)(struct host *host, const char *path, struct host_stat *stat);
	int (*link)(struct host *host, const char *path, char target[PATH_MAX]);
	int (*query)(struct host *host, const char *key, const struct desc *desc, void *facts,
		     struct arena *arena, host_ask *ask, void *user);
	void (*close)(struct host *host);
};

struct recorder;
struct capture;

/* The area of the system that has PATH: its top-level folder, or one of the folders below /proc and /sys that every
 * kernel has. */
struct span host_section(const char *path);

/* A top-level folder of a tree, and whether it has entries. */
struct area {
	char name[48]; /* longer ones are checked each time */
	bool has;
};
#define AREAS_MAX 64

struct host {
	enum host_kind kind;
	const struct host_ops *ops;
	int root;		/* tree: the folder; live: -1 */
	const char *root_name;	/* tree: the name of that folder, borrowed */
	uint64_t device, inode; /* tree: of that folder */
	int own; /* /proc/self/fd of this process, once KNOWS_OWN; -1: not available */
	struct area areas[AREAS_MAX]; /* tree: the areas checked so far */
	size_t areas_count;
	bool knows_own;
	bool has_proc, has_sys; /* live: those that were found mounted */
	bool no_openat2;	/* the kernel or a seccomp filter does not have it */
	bool distrust;		/* host_distrust_names() */
	bool is_running;	/* host_set_process(): these are files of the running kernel */
	char self[24]; /* host_set_process(): the process, as this host counts them; "": none */
	struct capture *capture;
	struct recorder *recorder;
	host_gap *gap;
	void *gap_user;
	_Atomic(char *) trace;
	bool asking; /* inside a query's ask function */
};

/* host-confine.c: PATH, or in OTHER the path that replaces it after host_set_process(). */
const char *host_own_path(const struct host *host, const char *path, char other[64]);

/* host-files.c: files through a file descriptor, of any back end. */
int files_open(struct host *host, const char *path);
int files_open_kmsg(struct host *host);
void files_leave_descriptors(struct host *host);
int files_read_kernel_log(struct text *text, size_t *whole_bytes);

/* host-resolve.c: PATH inside the folder ROOT, which no link or ".." leaves. A file descriptor or negative errno. */
int resolve_in_root(struct host *host, const char *path, int flags);
/* PATH from ROOT, the process's own, as the user wrote it: links of procfs are followed too. EXPOSED as of
 * root_walk(). */
int resolve_name(int root, const char *path, char exposed[ROOT_WHY]);

/* root.c: fills EXPOSED when others could exchange the entry CHILD of FOLDER. */
void entry_exposed(int folder, const struct stat *child, char exposed[ROOT_WHY]);
/* Opens PATH with O_PATH, also on a live host. A link that belongs to neither root nor the caller is -ELOOP. */
int resolve_distrusted(struct host *host, const char *path);

/* host-record.c */
struct recorder *recorder_new(int fd, bool redact, int told);
/* The names to replace in a recording; called before any child is made. Of a hosts(5) file the names of this host, of a
 * resolv.conf(5) the domains. */
void recorder_learn_host(struct recorder *r, struct span name);
void recorder_learn_hosts(struct recorder *r, struct span text);
void recorder_learn_domains(struct recorder *r, struct span text);
int recorder_error(const struct recorder *recorder);
void recorder_free(struct recorder *recorder);
void record_read(struct recorder *r, const char *path, int rc, const struct text *text);
void record_head(struct recorder *r, const char *path, int rc, const struct text *text);
void record_list(struct recorder *r, const char *path, int rc, const struct names *names);
void record_stat(struct recorder *r, const char *path, int rc, const struct host_stat *stat);
void record_link(struct recorder *r, const char *path, int rc, const char *target);
void record_query(struct recorder *r, const char *key, int rc, const struct desc *desc,
		  struct json_object *answer);

int names_add(struct names *names, const char *name);
int host_error_from_word(const char *word); /* negative errno; -EIO for an unknown word */

#endif
