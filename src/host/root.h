/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root.h - the folder of --root, opened once. All files below it are opened from this descriptor, and programs enter it
 * by this descriptor, so another folder that takes its name later has no effect.
 */
#ifndef HOST_ROOT_H
#define HOST_ROOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define ROOT_WHY 256

struct root {
	int fd;		  /* O_PATH */
	const char *name; /* as the user gave it: for messages, never opened again */
	uint64_t device, inode;
	/* One line about a folder above it in which another user could replace it; "" if no user can. */
	char exposed[ROOT_WHY];
};

/* Returns 0 or a negative errno. NAME must stay as long as the root. */
int root_open(struct root *root, const char *name);
void root_close(struct root *root);

/* Returns why users other than root and the user of this process could change the entries of the folder FD, as the end
 * of a sentence ("belongs to uid 1000"); or NULL. */
const char *folder_exposed(int fd, const struct stat *st);

/* Opens PATH inside ROOT with O_PATH. Links are followed. EXPOSED (ROOT_WHY bytes) names the first folder on the way in
 * which others could exchange the next step, or is "". */
int root_walk(int root, const char *path, char exposed[ROOT_WHY]);

#endif
