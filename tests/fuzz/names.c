/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that name things of the node, as text: TOML, gres.conf, lists of hosts, udev rules, ld.so.conf and
 * ld.so.cache, syslog, what systemd says of a unit, passwd, /proc/PID/stat. */
#include "fuzz.h"

#include "parse/conf-keys.h"
#include "parse/gres.h"
#include "parse/ldso.h"
#include "parse/passwd.h"
#include "parse/process.h"
#include "parse/syslog.h"
#include "parse/toml.h"
#include "parse/udev.h"
#include "parse/unit.h"

#define NAMES_MAX 300

struct names {
	size_t count;
};

static bool take_name(void *user, const char *name)
{
	struct names *names = user;

	assert(strlen(name) < HOSTLIST_NAME_MAX);
	assert(++names->count <= NAMES_MAX);
	return true;
}

static void read_gres(struct span text)
{
	struct gres_reader reader = { .rest = text };
	struct gres_line line;
	size_t before = 0;

	while (gres_next(&reader, &line)) {
		struct names names = { 0 };

		assert(line.line > before);
		before = line.line;
		check_inside(text, line.file);
		check_inside(text, line.nodes);
		check_inside(text, line.autodetect);
		(void)hostlist_expand(line.file, NAMES_MAX, take_name, &names);
	}
}

static void read_udev(struct span text)
{
	struct udev_reader reader = { .rest = text };
	struct udev_token token;
	struct span rule;
	size_t before = 0;

	while (udev_rule_next(&reader, &rule)) {
		assert(reader.line > before && reader.next >= reader.line);
		before = reader.line;
		check_inside(text, rule);
		while (udev_token_next(&rule, &token)) {
			check_inside(text, token.value);
			assert(token.key.n && token.op.n);
			(void)udev_is_match(&token);
		}
	}
}

static void read_toml(struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;

	while (unit_next(&reader, &a)) {
		struct span value = a.value, string, before;

		while (toml_string_next(&value, &string))
			check_inside(text, string);
		(void)toml_is_continued(a.value);
		check_inside(text, toml_last(a.section, &before));
		check_inside(text, before);
	}
}

static void take_wrong(void *user, const struct conf_wrong *wrong)
{
	const struct span *text = user;

	assert(wrong->line <= text->n + 1);
	assert(wrong->key.n <= text->n);
}

static void compare_keys(struct span text)
{
	struct conf_options options = { .count = 0 };

	(void)conf_docker_options(text, &options);
	(void)conf_check_docker(text, &options, take_wrong, &text);
	(void)conf_check_slurm(CONF_SLURM, text, take_wrong, &text);
	(void)conf_check_slurm(CONF_GRES, text, take_wrong, &text);
	(void)conf_check_limits(text, take_wrong, &text);
	(void)conf_check_toml(CONF_TOOLKIT, text, take_wrong, &text);
	(void)conf_check_toml(CONF_CONTAINERD, text, take_wrong, &text);
}

static void read_loader(struct span text)
{
	struct ldso_cache cache;
	struct ldso_entry entry;
	struct span rest = text, line, value;
	bool include;

	if (ldso_cache_begin(&cache, text))
		while (ldso_cache_next(&cache, &entry)) {
			check_inside(text, entry.name);
			check_inside(text, entry.path);
		}
	while (span_cut(&rest, '\n', &line))
		if (ldso_conf_line(line, &value, &include)) {
			check_inside(line, value);
			assert(include || value.p[0] == '/');
		}
}

static void read_syslog(struct span text)
{
	static const struct unit_names names = { "slurmd.service", "Slurm node daemon" };
	struct unit_outcome outcome = { 0 };
	struct span rest = text, line;

	while (span_cut(&rest, '\n', &line)) {
		struct syslog_line parsed;

		if (!syslog_line_parse(line, &parsed))
			continue;
		check_inside(line, parsed.ident);
		check_inside(line, parsed.text);
		(void)unit_outcome_update(&outcome, &names, parsed.text);
		assert(memchr(outcome.result, '\0', sizeof(outcome.result)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);
	uint64_t number;
	bool members;

	read_gres(text);
	read_udev(text);
	read_toml(text);
	compare_keys(text);
	read_loader(text);
	read_syslog(text);
	(void)passwd_has(text, "nvidia-persistenced");
	(void)passwd_has_group(text, 44);
	(void)group_find(text, 44, &members);
	(void)process_started(text, &number);
	(void)unit_user_of_cgroup(text, &number);
	return 0;
}
