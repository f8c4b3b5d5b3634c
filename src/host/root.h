/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root.h - the folder of --root, opened once. Everything below it is found from this descriptor,
 * and programs enter it by this descriptor, so that another folder that takes its name later
 * changes nothing.
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
	/* One line about a folder above it in which another user could replace it; "" if there is none. */
	char exposed[ROOT_WHY];
};

/* 0 or negative errno. NAME must stay as long as what is opened by it. */
int root_open(struct root *root, const char *name);
void root_close(struct root *root);

/* Why others than root and the user of this process could change the entries of the folder FD, as
 * the end of a sentence ("belongs to uid 1000"); or NULL. */
const char *folder_exposed(int fd, const struct stat *st);

/* Opens PATH inside ROOT with O_PATH, links followed. EXPOSED (ROOT_WHY bytes) names the first
 * folder on the way in which others could exchange the next step, or is "". */
int root_walk(int root, const char *path, char exposed[ROOT_WHY]);

#endif
