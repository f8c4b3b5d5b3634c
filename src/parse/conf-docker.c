/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf-docker.c - daemon.json as dockerd reads it (Docker 28.5: daemon/config/config.go, getConflictFreeConfiguration()):
 * a key that is no option, a value of another type, and a key that is an option of the command line too, end the
 * daemon. Of two equal keys the last one counts, which is no error there.
 */
#include "base/array.h"
#include "base/json-scan.h"
#include "parse/conf-keys.h"

struct reading {
	struct json_scan scan;
	const struct conf_options *options;
	struct json_error error;
	conf_report *report;
	void *user;
};

static size_t line_of(const struct reading *r, const char *at)
{
	size_t line = 1;

	for (const char *p = r->scan.text; p < at; p++)
		line += *p == '\n';
	return line;
}

/* Documents that dockerd accepts, and this reader does not. */
static bool is_only_ours(const char *error)
{
	static const char *const texts[] = { "the same key twice", "more than 1024 keys",
					     "nested too deeply",  "number out of range",
					     "out of memory",	   "it is empty" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (starts_with(error, texts[i]))
			return true;
	return false;
}

/* ---- types ---- */

static bool is_scalar_of(const char *type, enum json_type found)
{
	if (found == json_type_null || strcmp(type, "any") == 0)
		return true;
	if (strcmp(type, "bool") == 0)
		return found == json_type_boolean;
	if (strcmp(type, "number") == 0)
		return found == json_type_int;
	if (strcmp(type, "list") == 0)
		return found == json_type_array;
	return found == (strcmp(type, "text") == 0 ? json_type_string : json_type_object);
}

/* Returns the type of the values in a table of TYPE. */
static const char *inner_type(const char *type)
{
	static const struct {
		const char *type, *inner;
	} inners[] = { { "texts", "text" }, { "flags", "bool" }, { "tables", "table" } };

	for (size_t i = 0; i < ARRAY_SIZE(inners); i++)
		if (strcmp(type, inners[i].type) == 0)
			return inners[i].inner;
	return "any";
}

static void report_type(struct reading *r, struct span section, struct span key, const char *at,
			const char *type)
{
	struct conf_wrong wrong = { .kind = CONF_TYPE,
				    .section = section,
				    .key = key,
				    .wanted = type,
				    .line = line_of(r, at) };

	r->report(r->user, &wrong);
}

/* ---- keys ---- */

static bool read_key(struct reading *r, struct json_raw *key)
{
	return json_scan_key(&r->scan, key) && json_scan_colon(&r->scan);
}

static bool check_table(struct reading *r, struct span outer, const char *inner)
{
	struct json_raw key;

	json_scan_enter(&r->scan);
	while (json_scan_next(&r->scan, '}')) {
		if (!read_key(r, &key))
			return false;
		if (!is_scalar_of(inner, json_scan_type(&r->scan)))
			report_type(r, outer, key.text, r->scan.at, inner);
		if (!json_scan_value(&r->scan))
			return false;
	}
	return !r->scan.wrong;
}

static void report_key(struct reading *r, struct span section, struct span key,
		       const struct conf_key *row)
{
	struct conf_wrong wrong = { .kind = row ? CONF_RELEASE : CONF_UNKNOWN,
				    .section = section,
				    .key = key,
				    .line = line_of(r, key.p) };

	if (row) {
		wrong.since = row->since;
		wrong.gone = row->gone;
	}
	if (!row || row->since || row->gone)
		r->report(r->user, &wrong);
	/* A command-line option whose key has another name. */
	if (row && row->type[0] == '=') {
		wrong.kind = CONF_PLACE;
		wrong.wanted = row->type + 1;
		r->report(r->user, &wrong);
	}
	wrong.kind = CONF_TWICE;
	wrong.wanted = wrong.since = wrong.gone = NULL;
	for (size_t i = 0; i < r->options->count; i++)
		if (span_is(key, r->options->keys[i]))
			r->report(r->user, &wrong);
}

static bool check_object(struct reading *r, struct span section);

static bool check_value(struct reading *r, struct span section, const struct json_raw *key)
{
	struct conf_key buffer;
	const struct conf_key *row = conf_key_find(CONF_DOCKER, (struct span){ NULL, 0 }, key->text,
						   &buffer);
	enum json_type type = json_scan_type(&r->scan);
	const char *at = r->scan.at;

	/* The keys of an object that is no option of its own are compared in its place. */
	if (type == json_type_object && !section.n && (!row || strcmp(row->type, "any") == 0))
		return check_object(r, key->text);
	report_key(r, section, key->text, row);
	if (!row || row->type[0] == '=')
		return json_scan_value(&r->scan);
	if (!is_scalar_of(row->type, type))
		report_type(r, section, key->text, at, row->type);
	else if (type == json_type_object)
		return check_table(r, key->text, inner_type(row->type));
	return json_scan_value(&r->scan);
}

static bool check_object(struct reading *r, struct span section)
{
	struct json_raw key;

	json_scan_enter(&r->scan);
	while (json_scan_next(&r->scan, '}'))
		if (!read_key(r, &key) || !check_value(r, section, &key))
			return false;
	return !r->scan.wrong;
}

/* ---- the command line ---- */

static const char *key_of_option(struct span option)
{
	static const struct {
		const char *option, *key;
	} short_options[] = { { "-H", "hosts" },	  { "-D", "debug" }, { "-l", "log-level" },
			      { "-s", "storage-driver" }, { "-G", "group" }, { "-p", "pidfile" },
			      { "-b", "bridge" },	  { "-g", "graph" } };
	struct conf_key buffer;
	const struct conf_key *row;

	for (size_t i = 0; i < ARRAY_SIZE(short_options); i++)
		if (span_starts(option, short_options[i].option))
			return short_options[i].key;
	if (!span_starts(option, "--"))
		return NULL;
	option = (struct span){ option.p + 2, span_find(option, '=') - 2 };
	row = conf_key_find(CONF_DOCKER, (struct span){ NULL, 0 }, option, &buffer);
	if (!row)
		return NULL;
	return row->type[0] == '=' ? row->type + 1 : row->name;
}

bool conf_docker_options(struct span command, struct conf_options *options)
{
	struct span word;
	bool whole = true;

	while (span_word(&command, &word)) {
		const char *key = key_of_option(word);

		whole &= !memchr(word.p, '$', word.n);
		/* Both can have runtimes (skipDuplicates). */
		if (!key || strcmp(key, "runtimes") == 0)
			continue;
		if (options->count == CONF_OPTIONS_MAX)
			return false;
		options->keys[options->count++] = key;
	}
	return whole;
}

bool conf_check_docker(struct span text, const struct conf_options *options, conf_report *report,
		       void *user)
{
	struct reading r = { .report = report, .user = user, .options = options };
	bool good;

	/* A byte order mark has no meaning. */
	if (span_starts(text, "\xef\xbb\xbf"))
		text = (struct span){ text.p + 3, text.n - 3 };
	text = span_trim(text);
	json_scan_begin(&r.scan, text.p, text.n, &r.error);
	if (r.scan.at < r.scan.end && *r.scan.at != '{')
		json_set_error(&r.error, text.p, r.scan.at, "it is not an object in braces");
	good = r.scan.at < r.scan.end && *r.scan.at == '{' &&
	       check_object(&r, (struct span){ NULL, 0 }) && json_scan_finish(&r.scan);
	if (!good && text.n && !is_only_ours(r.error.text))
		report(user, &(struct conf_wrong){ .kind = CONF_SYNTAX,
						   .wanted = r.error.text,
						   .line = r.error.line });
	json_scan_end(&r.scan);
	return good || !text.n || !is_only_ours(r.error.text);
}
