/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write-put.c - writes a file beside its place, and then moves it there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "txn/write-private.h"

static int random_name(char temp[NAME_MAX + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[6];
	char *p;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -1;
	p = stpcpy(temp, WRITE_TEMPORARY);
	for (size_t i = 0; i < sizeof(random); i++)
		*p++ = letters[random[i] % (sizeof(letters) - 1)];
	*p = '\0';
	return 0;
}

static int create_temp(int folder, char temp[NAME_MAX + 1])
{
	int fd;

	do {
		if (random_name(temp))
			return -1;
		TEST_POINT("creating a temporary file");
		fd = openat(folder, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

static int create_link(struct writer *w, int folder, char temp[NAME_MAX + 1],
		       const struct write_request *r)
{
	int rc;

	do {
		if (random_name(temp))
			return write_failed(w, r->path, "choosing a name");
		TEST_POINT("symlink");
		rc = symlinkat(r->link, folder, temp);
	} while (rc < 0 && errno == EEXIST);
	if (rc < 0)
		return write_failed(w, r->path, "making a link beside it");
	rc = write_meta_set_link(w, folder, temp, r);
	return rc ? rc : write_label_name(w, folder, temp, r->path, S_IFLNK);
}

/* Writes the metadata and syncs the file. */
static int complete(struct writer *w, int fd, const struct write_request *r)
{
	int rc = write_meta_set(w, fd, r);

	if (rc)
		return rc;
	TEST_POINT("fsync of a file");
	return fsync(fd) < 0 ? write_failed(w, r->path, "fsync") : 0;
}

static int write_temp(struct writer *w, int folder, char temp[NAME_MAX + 1],
		      const struct write_request *r)
{
	_cleanup_close_ int fd = create_temp(folder, temp);
	int rc;

	if (fd < 0)
		return write_failed(w, r->path, "creating a file beside it");
	rc = r->from >= 0 ? write_copy(w, r->from, fd) : write_all(fd, r->bytes.p, r->bytes.n);
	if (rc)
		return write_read_failed(w, rc, r->path, "writing");
	return complete(w, fd, r);
}

int write_put(struct writer *w, const struct write_request *r)
{
	char name[NAME_MAX + 1], temp[NAME_MAX + 1] = "";
	_cleanup_close_ int folder = write_open_folder(w, r->path, name);
	int rc;

	if (folder < 0)
		return folder;
	rc = r->link ? create_link(w, folder, temp, r) : write_temp(w, folder, temp, r);
	if (rc == 0)
		rc = write_swap(w, folder, temp, name, r);
	/* The temporary name is gone if the file has taken its place. */
	if (rc && *temp)
		unlinkat(folder, temp, 0);
	return rc;
}

int write_generated(struct writer *w, const char *side, const struct write_request *r)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, r->path, name);
	_cleanup_close_ int fd = -1;
	int rc;

	if (folder < 0)
		return folder;
	fd = write_open(w, side);
	if (fd < 0)
		return fd;
	rc = complete(w, fd, r);
	return rc ? rc : write_swap(w, folder, strrchr(side, '/') + 1, name, r);
}

int write_remove(struct writer *w, const char *path, const struct file_seen *expected)
{
	const struct write_request r = { .path = path, .expected = expected };
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);

	return folder < 0 ? folder : write_swap(w, folder, NULL, name, &r);
}
