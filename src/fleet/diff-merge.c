/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff-merge.c - writes the table of a worker to a stream, and reads it on the other side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fleet/diff.h"

static void put_number(FILE *out, size_t n)
{
	uint32_t number = (uint32_t)n;

	fwrite(&number, sizeof(number), 1, out);
}

static bool get_number(FILE *in, uint32_t *n)
{
	return fread(n, sizeof(*n), 1, in) == 1;
}

static void put_text(FILE *out, const char *text)
{
	size_t n = strlen(text);

	put_number(out, n);
	fwrite(text, n, 1, out);
}

static char *get_text(FILE *in)
{
	uint32_t n;
	char *text;

	if (!get_number(in, &n))
		return NULL;
	text = memory_need(malloc((size_t)n + 1));
	text[n] = '\0';
	if (n && fread(text, n, 1, in) != 1) {
		free(text);
		return NULL;
	}
	return text;
}

int diff_write(const struct diff *diff, FILE *out)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_key *key = diff->keys[i];

		if (key->own || (!key->count && !key->various))
			continue;
		put_text(out, key->path);
		put_number(out, key->count);
		put_number(out, key->various);
		put_number(out, key->presence);
		for (size_t k = 0; k < key->count; k++) {
			const struct node_set *nodes = &key->values[k].nodes;

			put_text(out, key->values[k].text);
			put_number(out, nodes->count);
			fwrite(nodes->runs, sizeof(*nodes->runs), nodes->count, out);
		}
	}
	return ferror(out) ? -EIO : 0;
}

static int merge_value(struct diff *diff, struct diff_key *key, FILE *in)
{
	char *text = get_text(in);
	struct diff_value *value = text && !key->various ? diff_value(diff, key, text) : NULL;
	struct node_run run;
	uint32_t count;

	free(text);
	if (!text || !get_number(in, &count))
		return -EIO;
	while (count--) {
		if (fread(&run, sizeof(run), 1, in) != 1)
			return -EIO;
		if (value)
			diff_add_nodes(diff, value, run);
	}
	return 0;
}

static int merge_key(struct diff *diff, struct diff_key *key, FILE *in)
{
	uint32_t count, various, presence;
	int rc = 0;

	if (!get_number(in, &count) || !get_number(in, &various) || !get_number(in, &presence))
		return -EIO;
	if (various) {
		diff_free_values(diff, key);
		key->various = true;
	}
	key->presence |= presence;
	while (count-- && rc == 0)
		rc = merge_value(diff, key, in);
	return rc;
}

int diff_merge(struct diff *diff, FILE *in)
{
	char *path;
	int rc = 0;

	while (rc == 0 && (path = get_text(in))) {
		rc = merge_key(diff, diff_key(diff, path), in);
		free(path);
		if (rc == 0 && diff->bytes > DIFF_BYTES_MAX)
			rc = -EFBIG;
	}
	return rc;
}
