/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newc.c - walks cpio archives of the "new" formats 070701 and 070702, as the kernel unpacks them:
 * Documentation/driver-api/early-userspace/buffer-format.rst, init/initramfs.c.
 */
#include "parse/newc.h"

#include <errno.h>
#include <string.h>

#define HEADER_SIZE 110 /* "070701" and 13 fields of 8 hexadecimal digits */
#define TRAILER "TRAILER!!!"

void newc_begin(struct newc *newc, const struct newc_source *source)
{
	*newc = (struct newc){ .source = *source };
}

/* ---- bytes ---- */

/* Gets at least one byte into newc->block. Returns 1, 0 at the end, or a negative errno. */
static int fill(struct newc *newc)
{
	while (!newc->block.n) {
		int rc = newc->source.read(newc->source.user, &newc->block);

		if (rc <= 0) {
			newc->block.n = 0;
			return rc;
		}
	}
	return 1;
}

static void use(struct newc *newc, size_t n)
{
	newc->block.p += n;
	newc->block.n -= n;
	newc->at += n;
}

static int copy(struct newc *newc, char *out, size_t n)
{
	while (n) {
		int rc = fill(newc);
		size_t part = newc->block.n < n ? newc->block.n : n;

		if (rc <= 0)
			return rc ? rc : -ENODATA;
		memcpy(out, newc->block.p, part);
		use(newc, part);
		out += part;
		n -= part;
	}
	return 0;
}

static int pass(struct newc *newc, uint64_t n)
{
	while (n) {
		size_t part;
		int rc;

		if (!newc->block.n && newc->source.skip) {
			uint64_t skipped = newc->source.skip(newc->source.user, n);

			newc->at += skipped;
			n -= skipped;
			if (!n)
				break;
		}
		rc = fill(newc);
		if (rc <= 0)
			return rc ? rc : -ENODATA;
		part = newc->block.n < n ? newc->block.n : (size_t)n;
		use(newc, part);
		n -= part;
	}
	return 0;
}

/* Skips to the next multiple of 4 from the archive's start. */
static int pass_padding(struct newc *newc)
{
	return pass(newc, -(newc->at - newc->start) & 3);
}

/* ---- archives ---- */

int newc_find(struct newc *newc)
{
	for (;;) {
		size_t zeros = 0;
		int rc = fill(newc);

		if (rc <= 0)
			return rc;
		while (zeros < newc->block.n && newc->block.p[zeros] == '\0')
			zeros++;
		use(newc, zeros);
		if (newc->block.n)
			break;
	}
	newc->start = newc->at;
	return newc->block.p[0] == '0' ? 1 : -EBADMSG;
}

static int parse_field(const char *digits, uint32_t *value)
{
	uint64_t n;

	/* The kernel takes a field with a stray character as far as it goes; nothing writes those.
	 */
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return -EBADMSG;
	if (span_u64((struct span){ digits, 8 }, 16, &n))
		return -EBADMSG;
	*value = (uint32_t)n;
	return 0;
}

/* Fields by their place: 0 ino, 1 mode, 4 nlink, 6 size, 7 and 8 device, 11 length of the name. */
static int read_header(struct newc *newc, struct newc_entry *entry, uint32_t *name_size)
{
	char header[HEADER_SIZE];
	uint32_t fields[12];
	int rc = copy(newc, header, sizeof(header));

	if (rc)
		return rc;
	if (memcmp(header, "070701", 6) != 0 && memcmp(header, "070702", 6) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < 12; i++)
		if (parse_field(header + 6 + 8 * i, &fields[i]))
			return -EBADMSG;
	entry->ino = fields[0];
	entry->mode = fields[1];
	entry->nlink = fields[4];
	entry->size = fields[6];
	entry->dev_major = fields[7];
	entry->dev_minor = fields[8];
	*name_size = fields[11];
	return 0;
}

static void clean_name(char *name)
{
	char *p = name;

	for (;;) {
		if (*p == '/')
			p++;
		else if (p[0] == '.' && p[1] == '/')
			p += 2;
		else
			break;
	}
	memmove(name, p, strlen(p) + 1);
}

static int read_name(struct newc *newc, struct newc_entry *entry, uint32_t size)
{
	int rc = copy(newc, entry->name, size);

	entry->name[size - 1] = '\0';
	return rc ? rc : pass_padding(newc);
}

int newc_next(struct newc *newc, struct newc_entry *entry)
{
	uint32_t name_size;
	int rc;

	for (;;) {
		rc = pass(newc, newc->body_left);
		newc->body_left = 0;
		if (rc == 0)
			rc = pass_padding(newc);
		if (rc == 0)
			rc = read_header(newc, entry, &name_size);
		if (rc)
			return rc;
		/* The kernel skips an entry whose name is too long for it. */
		if (name_size == 0 || name_size > sizeof(entry->name)) {
			rc = pass(newc, name_size);
			if (rc == 0)
				rc = pass_padding(newc);
			if (rc)
				return rc;
			newc->body_left = entry->size;
			continue;
		}
		rc = read_name(newc, entry, name_size);
		if (rc)
			return rc;
		if (strcmp(entry->name, TRAILER) == 0)
			return 0;
		clean_name(entry->name);
		newc->body_left = entry->size;
		return 1;
	}
}

int newc_body(struct newc *newc, struct span *block)
{
	int rc;

	*block = (struct span){ 0 };
	if (!newc->body_left)
		return 0;
	rc = fill(newc);
	if (rc <= 0)
		return rc ? rc : -ENODATA;
	*block = newc->block;
	if (block->n > newc->body_left)
		block->n = (size_t)newc->body_left;
	newc->body_left -= block->n;
	use(newc, block->n);
	return 1;
}
