/* SPDX-License-Identifier: GPL-2.0-or-later */
/* related.c - for a line that is not in the table: the rules whose texts have words of the line. A word that few rules
 * have, such as "gdrdrv" or "libnvidia-ml", counts more. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "why/why.h"

#define WORDS_MAX 64
#define WORD_SHORTEST 3
#define WORD_LONGEST 40
#define COMMON 40 /* rules: a word that more have is passed over */
#define RELATED_MAX 5

/* ---- words ---- */

/* Small letters, and "-" for "_" and for a blank: names are written in all three ways. */
static char plain(char c)
{
	return c == '_' || c == ' ' ? '-' : (char)tolower((unsigned char)c);
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Returns the name of "libnvidia-ml.so.1" or "kernel-headers-4.18.0", without marks at its ends. */
static struct span name_of(struct span word)
{
	size_t n = 0;

	while (word.n && !isalpha((unsigned char)*word.p))
		word = (struct span){ word.p + 1, word.n - 1 };
	while (n < word.n && !(n && word.p[n - 1] == '-' && isdigit((unsigned char)word.p[n])))
		n++;
	if (n < word.n)
		n--;
	while (n && (word.p[n - 1] == '-' || word.p[n - 1] == '_'))
		n--;
	return (struct span){ word.p, n };
}

/* The next word of TEXT; empty: it has no name. False: at the end. */
static bool next_word(struct span *text, struct span *word)
{
	while (text->n && !is_word_char(*text->p))
		*text = (struct span){ text->p + 1, text->n - 1 };
	*word = (struct span){ text->p, 0 };
	while (word->n < text->n && is_word_char(word->p[word->n]))
		word->n++;
	*text = (struct span){ text->p + word->n, text->n - word->n };
	*word = name_of(*word);
	return word->p < text->p;
}

/* Returns true if TEXT has WORD, in plain letters, and not as part of a longer word. "shm" is in "limits/shm-small". */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; *p; p++) {
		size_t i = 0;

		while (i < n && plain(p[i]) == word[i])
			i++;
		if (i == n && (p == text || !isalnum((unsigned char)p[-1])) &&
		    !isalnum((unsigned char)p[n]))
			return true;
	}
	return false;
}

static bool rule_has(const struct rule *rule, const char *word)
{
	const char *const texts[] = { rule->id,	   rule->title, rule->impact, rule->remedy,
				      rule->reads, rule->why,	rule->check };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i] && has_word(texts[i], word))
			return true;
	return false;
}

/* Names that are written like words; all others have digits, capitals or a line within. */
static const char *const names[] = {
	"bios",	    "cdi",     "containerd",   "cuda",	     "deepep",	  "depmod",    "dmabuf",
	"docker",   "efa",     "fabric",       "firmware",   "flux",	  "gdrcopy",   "gdrdrv",
	"gds",	    "gid",     "gin",	       "gpudirect",  "grace",	  "gsp",       "headers",
	"hostname", "ibgda",   "imex",	       "infiniband", "initramfs", "iommu",     "kubelet",
	"libcuda",  "libnccl", "memlock",      "memops",     "modprobe",  "nccl",      "netns",
	"nofile",   "nouveau", "numa",	       "nvcc",	     "nvlink",	  "nvshmem",   "nvswitch",
	"ofed",	    "peermem", "persistenced", "podman",     "ptrace",	  "rdma",      "shm",
	"slurm",    "sysctl",  "topology",     "ucx",	     "udev",	  "userspace", "uvm",
	"vfio",	    "vgpu",    "xid",
};

static bool is_name(struct span word)
{
	size_t capitals = 0;

	for (size_t i = 0; i < word.n; i++) {
		capitals += isupper((unsigned char)word.p[i]) != 0;
		if (isdigit((unsigned char)word.p[i]) || word.p[i] == '-' || word.p[i] == '_')
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (span_is(word, names[i]))
			return true;
	return capitals == word.n && !span_is(word, "ERROR") && !span_is(word, "FAILED") &&
	       !span_is(word, "BUG") && !span_is(word, "NULL");
}

/* ---- rules ---- */

struct score {
	const struct rule *rule;
	unsigned int points;
};

/* The rarer the word, the more it counts. */
static bool count_word(struct score *scores, size_t count, const char *word)
{
	unsigned int having = 0;

	for (size_t i = 0; i < count; i++)
		having += rule_has(scores[i].rule, word);
	if (!having || having > COMMON)
		return false;
	for (size_t i = 0; i < count; i++)
		if (rule_has(scores[i].rule, word))
			scores[i].points += COMMON + 1 - having;
	return true;
}

static bool is_known_word(const struct why *why, const char *word)
{
	for_each(w, &why->words)
		if (strcmp(*w, word) == 0)
			return true;
	return false;
}

static void count_words(struct why *why, const char *line, struct score *scores, size_t count)
{
	struct span text = span_of(line ? line : ""), word;

	for (size_t n = 0; n < WORDS_MAX && next_word(&text, &word); n++) {
		char *copy;

		if (word.n < WORD_SHORTEST || word.n > WORD_LONGEST || !is_name(word))
			continue;
		copy = arena_strndup(why->report->arena, word.p, word.n);
		for (char *p = copy; *p; p++)
			*p = plain(*p);
		if (!is_known_word(why, copy) && count_word(scores, count, copy))
			*LIST_ADD(why->report->arena, &why->words) = copy;
	}
}

static int compare_scores(const void *a, const void *b)
{
	const struct score *x = a, *y = b;

	if (x->points != y->points)
		return x->points < y->points ? 1 : -1;
	return strcmp(x->rule->id, y->rule->id);
}

void why_find_related(struct why *why, const char *line)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);
	struct score *scores = arena_alloc(why->report->arena, count * sizeof(*scores));

	for (size_t i = 0; i < count; i++)
		scores[i].rule = rules[i];
	count_words(why, line, scores, count);
	qsort(scores, count, sizeof(*scores), compare_scores);
	for (size_t i = 0; i < RELATED_MAX && scores[i].points > scores[0].points / 2; i++)
		*LIST_ADD(why->report->arena, &why->related) = scores[i].rule;
}
