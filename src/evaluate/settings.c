/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the configuration: nvnodecheck.conf and conf.d, then the command line. */
#include "evaluate/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "base/spelling.h"
#include "base/utf8.h"

#define SECTIONS "check, limits, expect or rule ID"
#define EXPECTATIONS_MAX 1000 /* each is compared with all others */

const struct settings_key settings_keys[] = {
	{ "check", "profile", "base, p2p, rdma, gpudirect-rdma, deepep, nccl-gin", NULL,
	  "The uses to check, separated by commas. Without it the hardware decides." },
	{ "check", "fail-on", "warn, err, crit", "err",
	  "The lowest severity that makes the exit status 1." },
	{ "check", "strict", "yes, no", "no",
	  "Whether a check that could not run makes the exit status 3." },
	{ "check", "nvml", "yes, no", "no",
	  "Whether doctor, preflight and capture ask the driver about its GPUs (NVML), as with --nvml." },
	{ "limits", "link-errors-max", "number", "0",
	  "Error counts of an RDMA port (link downed, symbol errors) above this are a warning." },
	{ 0 },
};

struct parse {
	struct settings *settings;
	struct arena *arena;
	const char *file;
	char *error; /* without the line, which inih tells at the end */
	size_t error_size;
	const char *section; /* of the rule being set */
};

void settings_init(struct settings *settings)
{
	*settings = (struct settings){ .fail_on = SEVERITY_ERR };
}

static enum severity read_severity(const enum severity *from)
{
	enum severity severity = WINDOW_READ(*from);

	return severity >= SEVERITY_INFO && severity <= SEVERITY_CRIT ? severity : SEVERITY_ERR;
}

static bool read_bool(const bool *from)
{
	return *(const volatile unsigned char *)from != 0;
}

/* A text that is always there. */
static const char *copy_word(const struct window *window, const char *text, struct arena *arena)
{
	const char *copy = window_copy(window, text, arena);

	return copy ? copy : "";
}

static void copy_rule(struct settings *settings, struct arena *arena,
		      const struct rule_setting *from, const struct window *window)
{
	*LIST_ADD(arena, &settings->rules) = (struct rule_setting){
		.id = copy_word(window, WINDOW_READ(from->id), arena),
		.off = read_bool(&from->off),
		.graded = read_bool(&from->graded),
		.severity = read_severity(&from->severity),
		.reason = copy_word(window, WINDOW_READ(from->reason), arena),
		.file = copy_word(window, WINDOW_READ(from->file), arena),
	};
}

/* Copies an expectation of the child. The table's row is found by name again, because a pointer of the child is not
 * trusted. */
static void copy_expectation(struct settings *settings, struct arena *arena,
			     const struct expectation *from, const struct window *window)
{
	struct expectation e = { .key = copy_word(window, WINDOW_READ(from->key), arena) };

	e.row = expect_find(e.key, &e.argument);
	e.value = copy_word(window, WINDOW_READ(from->value), arena);
	if (!e.row || expect_refuse(e.row, e.value) || (e.argument && e.row->refuse(e.argument)))
		return;
	e.file = copy_word(window, WINDOW_READ(from->file), arena);
	*LIST_ADD(arena, &settings->expect) = e;
}

void settings_copy(struct settings *settings, struct arena *arena, const struct settings *from,
		   const struct window *window)
{
	uint32_t rules = WINDOW_READ(from->rules.count), expect = WINDOW_READ(from->expect.count);
	const struct rule_setting *rule = WINDOW_READ(from->rules.items);
	const struct expectation *e = WINDOW_READ(from->expect.items);

	settings_init(settings);
	settings->profiles = WINDOW_READ(from->profiles) & PROFILES_ALL;
	settings->profiles_from = window_copy(window, WINDOW_READ(from->profiles_from), arena);
	settings->fail_on = read_severity(&from->fail_on);
	settings->strict = read_bool(&from->strict);
	settings->nvml = read_bool(&from->nvml);
	settings->link_errors_max = WINDOW_READ(from->link_errors_max);
	if (rules && window_holds(window, rule, rules, sizeof(*rule)))
		for (uint32_t i = 0; i < rules; i++)
			copy_rule(settings, arena, &rule[i], window);
	if (expect && window_holds(window, e, expect, sizeof(*e)))
		for (uint32_t i = 0; i < expect; i++)
			copy_expectation(settings, arena, &e[i], window);
}

static int parse_severity(const char *word, enum severity *severity)
{
	for (int i = 0; severity_words[i]; i++) {
		if (strcmp(severity_words[i], word) == 0) {
			*severity = (enum severity)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* inih's handlers answer 1 for right and 0 for wrong. */
static int wrong(struct parse *p, const char *what, const char *value, const char *expected)
{
	snprintf(p->error, p->error_size, "%s \"%.80s\"%s%s", what, value,
		 *expected ? ", expected " : "", expected);
	utf8_drop_cut(p->error);
	return 0;
}

static int unknown_key(struct parse *p, const char *section, const char *key)
{
	struct spelling spelling;

	spelling_begin(&spelling, key);
	for (const struct settings_key *k = settings_keys; k->section; k++)
		if (strcmp(k->section, section) == 0)
			spelling_offer(&spelling, k->key);
	for (const struct expect_key *k = expect_keys; k->key && strcmp(section, "expect") == 0;
	     k++)
		spelling_offer(&spelling, k->key);
	snprintf(p->error, p->error_size, "unknown key \"%.80s\" in [%s]%s%s", key, section,
		 spelling.nearest ? "; did you mean " : "",
		 spelling.nearest ? spelling.nearest : "");
	utf8_drop_cut(p->error);
	return 0;
}

static const struct settings_key *find_key(const char *section, const char *key)
{
	for (const struct settings_key *k = settings_keys; k->section; k++)
		if (strcmp(k->section, section) == 0 && strcmp(k->key, key) == 0)
			return k;
	return NULL;
}

static bool known_section(const char *section)
{
	if (strcmp(section, "expect") == 0)
		return true;
	for (const struct settings_key *k = settings_keys; k->section; k++)
		if (strcmp(k->section, section) == 0)
			return true;
	return false;
}

static int set_check(struct parse *p, const char *key, const char *value)
{
	struct settings *s = p->settings;
	struct span word;

	if (strcmp(key, "profile") == 0) {
		s->profiles = profiles_parse(value, &word);
		s->profiles_from = p->file;
		return s->profiles ? 1
				   : wrong(p, "unknown profile", value,
					   "base, p2p, rdma, gpudirect-rdma, deepep or nccl-gin");
	}
	if (strcmp(key, "fail-on") == 0)
		return (parse_severity(value, &s->fail_on) == 0 && s->fail_on > SEVERITY_INFO) ||
		       wrong(p, "fail-on", value, "warn, err or crit");
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return wrong(p, key, value, "yes or no");
	*(strcmp(key, "nvml") == 0 ? &s->nvml : &s->strict) = strcmp(value, "yes") == 0;
	return 1;
}

static int set_expect(struct parse *p, const char *name, const char *value)
{
	const char *argument, *wanted;
	const struct expect_key *key = expect_find(name, &argument);
	struct expectation *e;

	if (!key)
		return unknown_key(p, "expect", name);
	wanted = argument ? key->refuse(argument) : NULL;
	if (wanted)
		return wrong(p, "key", name, wanted);
	wanted = expect_refuse(key, value);
	if (wanted)
		return wrong(p, name, value, wanted);
	if (p->settings->expect.count == EXPECTATIONS_MAX)
		return wrong(p, "key", name, "at most 1000 expectations");
	e = LIST_ADD(p->arena, &p->settings->expect);
	*e = (struct expectation){
		.key = arena_strdup(p->arena, name),
		.value = arena_strdup(p->arena, value),
		.file = p->file,
		.row = key,
	};
	e->argument = argument ? e->key + (argument - name) : NULL;
	return 1;
}

static bool any_rule_matches(const char *pattern)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	for (size_t i = 0; i < count; i++)
		if (fnmatch(pattern, rules[i]->id, 0) == 0)
			return true;
	return false;
}

static struct rule_setting *rule_of(struct parse *p, const char *id)
{
	struct settings *s = p->settings;
	struct rule_setting *last;

	last = s->rules.count ? &s->rules.items[s->rules.count - 1] : NULL;
	if (last && strcmp(last->id, id) == 0 && last->file == p->file)
		return last;
	last = LIST_ADD(p->arena, &s->rules);
	last->id = arena_strdup(p->arena, id);
	last->file = p->file;
	return last;
}

static int set_rule(struct parse *p, const char *id, const char *key, const char *value)
{
	struct rule_setting *rule;

	if (!any_rule_matches(id))
		return wrong(p, "no rule is called", id, "an id of 'nvnodecheck rules'");
	rule = rule_of(p, id);
	if (strcmp(key, "reason") == 0) {
		rule->reason = arena_strdup(p->arena, value);
		return *value ? 1 : wrong(p, "reason", value, "a text");
	}
	if (strcmp(key, "severity") != 0)
		return wrong(p, "unknown key", key, "severity or reason");
	rule->off = strcmp(value, "off") == 0;
	rule->graded = !rule->off;
	if (rule->graded && parse_severity(value, &rule->severity))
		return wrong(p, "severity", value, "off, info, warn, err or crit");
	return 1;
}

static int set(void *user, const char *section, const char *key, const char *value)
{
	struct parse *p = user;
	const struct settings_key *k;

	if (*p->error)
		return 0;
	if (starts_with(section, "rule "))
		return set_rule(p, section + 5, key, value);
	if (!*section)
		return wrong(p, "a key outside of any section", key, "");
	if (!known_section(section))
		return wrong(p, "unknown section", section, SECTIONS);
	if (strcmp(section, "expect") == 0)
		return set_expect(p, key, value);
	k = find_key(section, key);
	if (!k)
		return unknown_key(p, section, key);
	if (strcmp(section, "check") == 0)
		return set_check(p, key, value);
	if (span_u64(span_of(value), 10, &p->settings->link_errors_max))
		return wrong(p, key, value, "a number");
	return 1;
}

/* Finds lines that inih would silently split or join. Returns 0 or the number of the wrong line. */
static size_t check_lines(const char *text, size_t n, const char **what)
{
	struct span rest = { text, n }, line;
	size_t number = 0;

	while (span_cut(&rest, '\n', &line)) {
		number++;
		*what = "a line of more than 199 bytes";
		if (line.n > EXPECT_LINE_MAX)
			return number;
		*what = "a NUL byte: this is not a text file";
		if (span_find(line, '\0') < line.n)
			return number;
		*what = "a [section] without the closing ]";
		if (line.n && *line.p == '[' && span_find(line, ']') == line.n)
			return number;
	}
	return 0;
}

/* A section without keys, which inih does not report: its name may be the one that is misspelt. */
static size_t check_sections(struct parse *p, const char *text, size_t n)
{
	struct span rest = { text, n }, line, name;
	size_t number = 0;

	while (span_cut(&rest, '\n', &line)) {
		number++;
		if (!line.n || *line.p != '[')
			continue;
		line.p++;
		line.n--;
		if (!span_cut(&line, ']', &name) || span_starts(name, "rule "))
			continue;
		if (!known_section(arena_strndup(p->arena, name.p, name.n))) {
			wrong(p, "unknown section", arena_strndup(p->arena, name.p, name.n),
			      SECTIONS);
			return number;
		}
	}
	return 0;
}

/* The line of [rule ID], which inih does not tell. */
static size_t find_section(const char *text, size_t n, const char *id)
{
	struct span rest = { text, n }, line;
	size_t number = 0;

	while (span_cut(&rest, '\n', &line)) {
		number++;
		line = span_trim(line);
		if (span_starts(line, "[rule ") && line.n > 6 + strlen(id) &&
		    starts_with(line.p + 6, id))
			break;
	}
	return number;
}

int settings_parse(struct settings *settings, const char *file, const char *text, size_t n,
		   struct arena *arena, char error[512])
{
	typeof(&ini_parse_string) parse;
	const struct library_symbol symbol = { &parse, "ini_parse_string", NULL, 0 };
	char why[256] = "";
	const char *what;
	struct parse p = {
		.settings = settings,
		.arena = arena,
		.file = arena_strdup(arena, file),
		.error = why,
		.error_size = sizeof(why),
	};
	size_t line = check_lines(text, n, &what);

	if (library_load(LIBINIH, &symbol, 1)) {
		snprintf(error, 512, "%s: libinih, which reads it, cannot be opened", file);
		return -ELIBACC;
	}
	if (!line) {
		int rc = parse(text, set, &p);

		line = rc > 0 ? (size_t)rc : 0;
		what = *why ? why : "not a [section] and not key = value";
		if (rc < 0) {
			snprintf(error, 512, "%s: out of memory", file);
			return -ENOMEM;
		}
	}
	if (!line) {
		line = check_sections(&p, text, n);
		what = why;
	}
	if (line) {
		snprintf(error, 512, "%s:%zu: %s", file, line, what);
		return -EINVAL;
	}
	for_each(rule, &settings->rules) {
		if (!rule->reason && rule->file == p.file) {
			snprintf(error, 512, "%s:%zu: [rule %s] has no reason", file,
				 find_section(text, n, rule->id), rule->id);
			return -EINVAL;
		}
	}
	return 0;
}

const struct rule_setting *settings_rule(const struct settings *settings, const char *id)
{
	const struct rule_setting *last = NULL;

	for_each(rule, &settings->rules)
		if (fnmatch(rule->id, id, 0) == 0)
			last = rule;
	return last;
}

const struct expectation *settings_expect(const struct settings *settings, const char *key)
{
	const struct expectation *last = NULL;

	for_each(e, &settings->expect)
		if (strcmp(e->key, key) == 0)
			last = e;
	return last;
}
