/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles.c - the profiles: the work that a node is for. */
#include "evaluate/profiles.h"

const char *const profile_words[] = { "base",	"p2p",	    "rdma", "gpudirect-rdma",
				      "deepep", "nccl-gin", NULL };

/* ---- profiles ---- */

static unsigned int with_included(unsigned int profiles)
{
	if (profiles & PROFILE_GIN_ANY)
		profiles |= PROFILE_GPUDIRECT;
	if (profiles & PROFILE_GPUDIRECT)
		profiles &= ~(unsigned int)PROFILE_RDMA;
	return profiles | PROFILE_BASE;
}

unsigned int profiles_parse(const char *list, struct span *word)
{
	struct span rest = span_of(list);
	unsigned int profiles = 0;

	*word = rest;
	while (span_cut(&rest, ',', word)) {
		unsigned int bit = 0;

		*word = span_trim(*word);
		while (profile_words[bit] && !span_is(*word, profile_words[bit]))
			bit++;
		if (!profile_words[bit])
			return 0;
		profiles |= 1u << bit;
	}
	return profiles ? with_included(profiles) : 0;
}

const char *profiles_text(struct arena *arena, unsigned int profiles)
{
	const char *text = "";

	for (unsigned int bit = 0; profile_words[bit]; bit++)
		if (profiles & 1u << bit)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
					    profile_words[bit]);
	return text;
}
