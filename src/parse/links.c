/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links.c - follows the links of a path inside one root: of a host, or of an archive that is not unpacked. */
#include "parse/links.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct walk {
	char rest[PATH_MAX]; /* the rest of the path */
	char *out;
	size_t n; /* of out; no "/" at its end */
	unsigned int links;
};

static bool next_part(struct walk *w, char part[NAME_MAX + 1], int *error)
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n > NAME_MAX)
		*error = -ENAMETOOLONG;
	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(part, p, n);
	part[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return true;
}

static void go_up(struct walk *w)
{
	while (w->n > 0 && w->out[--w->n] != '/')
		;
	w->out[w->n] = '\0';
}

static int follow(struct walk *w, const char target[PATH_MAX])
{
	char joined[2 * PATH_MAX];

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (snprintf(joined, sizeof(joined), "%s/%s", target, w->rest) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(w->rest, joined, strlen(joined) + 1);
	if (target[0] == '/')
		w->n = 0;
	else
		go_up(w);
	w->out[w->n] = '\0';
	return 0;
}

int links_resolve(const char *path, char out[PATH_MAX], link_target *target, void *user)
{
	struct walk w = { .out = out };
	char part[NAME_MAX + 1], to[PATH_MAX];
	int rc = 0;

	out[0] = '\0';
	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, strlen(path) + 1);
	while (rc == 0 && next_part(&w, part, &rc)) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			go_up(&w);
			continue;
		}
		if (w.n + 1 + strlen(part) >= PATH_MAX)
			return -ENAMETOOLONG;
		w.n += (size_t)sprintf(out + w.n, "/%s", part);
		if (target(user, out, to) == 0)
			rc = follow(&w, to);
	}
	if (rc == 0 && w.n == 0)
		memcpy(out, "/", 2);
	return rc;
}
