/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-journal.c - the kernel's messages of one boot, from systemd's journal. */
#include "probes/log/log-journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>

#include "base/clock.h"
#include "base/library.h"

/* Entries between two looks at the clock. */
#define CLOCK_EVERY 64

struct journal_api {
	typeof(&sd_journal_open) open;
	typeof(&sd_journal_open_directory) open_directory;
	typeof(&sd_journal_close) close;
	typeof(&sd_journal_add_match) add_match;
	typeof(&sd_journal_add_disjunction) add_disjunction;
	typeof(&sd_journal_seek_head) seek_head;
	typeof(&sd_journal_seek_tail) seek_tail;
	typeof(&sd_journal_next) next;
	typeof(&sd_journal_previous) previous;
	typeof(&sd_journal_get_data) get_data;
};

static int log_journal_load(struct journal_api *api)
{
	const struct library_symbol symbols[] = {
		{ &api->open, "sd_journal_open", NULL, 0 },
		{ &api->open_directory, "sd_journal_open_directory", NULL, 0 },
		{ &api->close, "sd_journal_close", NULL, 0 },
		{ &api->add_match, "sd_journal_add_match", NULL, 0 },
		{ &api->add_disjunction, "sd_journal_add_disjunction", NULL, 0 },
		{ &api->seek_head, "sd_journal_seek_head", NULL, 0 },
		{ &api->seek_tail, "sd_journal_seek_tail", NULL, 0 },
		{ &api->next, "sd_journal_next", NULL, 0 },
		{ &api->previous, "sd_journal_previous", NULL, 0 },
		{ &api->get_data, "sd_journal_get_data", NULL, 0 },
	};

	return library_load(LIBSYSTEMD, symbols, LIBRARY_COUNT(symbols));
}

/* The value of a field of the entry that the journal stands at: data comes as NAME=VALUE. */
static struct span field(const struct journal_api *api, sd_journal *journal, const char *name)
{
	struct span value = { NULL, 0 };
	const void *data;
	size_t n, skip = strlen(name) + 1;

	if (api->get_data(journal, name, &data, &n) == 0 && n >= skip)
		value = (struct span){ (const char *)data + skip, n - skip };
	return value;
}

static int match_boot(const struct journal_api *api, sd_journal *journal, const char *boot)
{
	char match[64];
	struct span last;
	int rc;

	if (!*boot) {
		rc = api->seek_tail(journal);
		if (rc == 0)
			rc = api->previous(journal);
		if (rc <= 0)
			return rc ? rc : -ENODATA;
		last = field(api, journal, "_BOOT_ID");
		snprintf(match, sizeof(match), "_BOOT_ID=%.*s", SPAN_FMT(last));
	} else {
		snprintf(match, sizeof(match), "_BOOT_ID=%s", boot);
	}
	rc = api->add_match(journal, match, 0);
	return rc < 0 ? rc : api->seek_head(journal);
}

static int read_level(struct span priority)
{
	uint64_t level;

	return span_u64(priority, 10, &level) || level > 7 ? KMSG_LEVEL_NONE : (int)level;
}

static int read_all(const struct journal_api *api, sd_journal *journal, journal_message *message,
		    void *user, bool *cut)
{
	uint64_t end = clock_ms() + JOURNAL_BUDGET_MS, time_us;
	size_t count = 0;
	int rc;

	while ((rc = api->next(journal)) > 0) {
		/* Asked for first: what get_data() gives is good until it is called again. */
		struct span time = field(api, journal, "_SOURCE_MONOTONIC_TIMESTAMP"), text;
		int level;

		if (count++ % CLOCK_EVERY == 0 && clock_ms() > end) {
			*cut = true;
			return 0;
		}
		if (span_u64(time, 10, &time_us))
			time_us = 0;
		level = read_level(field(api, journal, "PRIORITY"));
		text = field(api, journal, "MESSAGE");
		if (text.n)
			message(user, time_us, level, text);
	}
	return rc < 0 ? rc : count ? 0 : -ENODATA;
}

int journal_read(const char *folder, const char *boot, journal_message *message, void *user,
		 bool *cut)
{
	struct journal_api api;
	sd_journal *journal = NULL;
	int rc = log_journal_load(&api);

	*cut = false;
	if (rc)
		return rc;
	rc = folder ? api.open_directory(&journal, folder, 0)
		    : api.open(&journal, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
	if (rc < 0)
		return rc;
	rc = api.add_match(journal, "_TRANSPORT=kernel", 0);
	if (rc >= 0)
		rc = match_boot(&api, journal, boot);
	if (rc >= 0)
		rc = read_all(&api, journal, message, user, cut);
	api.close(journal);
	return rc;
}

/* ---- where a tree has it ---- */

/* libsystemd goes into folders whose names are 128-bit numbers, and follows what links are there. A
 * machine's own journal has none. */
static int has_folders(struct host *host, const char *path)
{
	_cleanup_names_ struct names names = { 0 };
	struct host_stat stat;
	int rc = host_list(host, &names, "%s", path);

	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (host_stat(host, &stat, "%s/%s", path, names.items[i]) == 0 &&
		    S_ISDIR(stat.mode))
			rc = -EXDEV;
	return rc;
}

/* The journal that lies below PARENT in a folder named by the machine's id; a tree that was made from several has
 * the id in /etc. */
static int find_journal(struct host *host, const char *parent, char native[PATH_MAX])
{
	static const char *const none[] = { NULL };
	_cleanup_text_ struct text machine = { 0 };
	_cleanup_names_ struct names names = { 0 };
	char path[PATH_MAX];
	const char *found = NULL;
	int rc = host_list(host, &names, "%s", parent);

	if (rc)
		return rc;
	if (host_read(host, &machine, 64, "/etc/machine-id") == 0)
		for (size_t i = 0; i < names.count && !found; i++)
			if (span_is(span_trim(text_span(&machine)), names.items[i]))
				found = names.items[i];
	if (!found && names.count == 1)
		found = names.items[0];
	if (!found)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s", parent, found);
	rc = has_folders(host, path);
	return rc ? rc : host_folder(host, path, none, native);
}

int journal_folder(struct host *host, char native[PATH_MAX])
{
	static const char *const parents[] = { "/var/log/journal", "/run/log/journal" };
	int rc = -ENOENT;

	for (size_t i = 0; i < 2 && rc; i++)
		rc = find_journal(host, parents[i], native);
	return rc;
}

void journal_boot(struct host *host, char id[JOURNAL_BOOT_ID])
{
	_cleanup_text_ struct text text = { 0 };
	size_t n = 0;

	id[0] = '\0';
	if (host_read(host, &text, 64, "/proc/sys/kernel/random/boot_id"))
		return;
	for (size_t i = 0; i < text.size && n < 32; i++)
		if (text.data[i] != '-' && text.data[i] != '\n')
			id[n++] = text.data[i];
	id[n == 32 ? 32 : 0] = '\0';
}

/* ---- one unit ---- */

/* FIELD=UNIT, and what else such a message has. */
static int match_unit(const struct journal_api *api, sd_journal *journal, const char *field_name,
		      const char *unit, const char *boot)
{
	char match[320];
	int rc;

	snprintf(match, sizeof(match), "%s=%s", field_name, unit);
	rc = api->add_match(journal, match, 0);
	if (rc >= 0 && *boot) {
		snprintf(match, sizeof(match), "_BOOT_ID=%s", boot);
		rc = api->add_match(journal, match, 0);
	}
	return rc;
}

/* Matches entries of the unit itself, and those of process 1 about it (systemd.journal-fields(7)). */
static int match_both(const struct journal_api *api, sd_journal *journal, const char *unit,
		      const char *boot)
{
	int rc = match_unit(api, journal, "_SYSTEMD_UNIT", unit, boot);

	if (rc >= 0)
		rc = api->add_disjunction(journal);
	if (rc >= 0)
		rc = match_unit(api, journal, "UNIT", unit, boot);
	return rc < 0 ? rc : api->add_match(journal, "_PID=1", 0);
}

int journal_read_unit(const char *folder, const char *boot, const char *unit, size_t max,
		      journal_unit_message *message, void *user)
{
	struct journal_api api;
	sd_journal *journal = NULL;
	size_t count = 0;
	int rc = log_journal_load(&api);

	if (rc)
		return rc;
	rc = folder ? api.open_directory(&journal, folder, 0)
		    : api.open(&journal, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
	if (rc < 0)
		return rc;
	rc = match_both(&api, journal, unit, boot);
	if (rc >= 0)
		rc = api.seek_tail(journal);
	while (rc >= 0 && count < max && (rc = api.previous(journal)) > 0) {
		/* Data of one field is good until the next is asked for. */
		bool systemd = span_is(field(&api, journal, "_PID"), "1");
		struct span text = field(&api, journal, "MESSAGE");

		count++;
		if (text.n)
			message(user, systemd, text);
	}
	api.close(journal);
	return rc < 0 ? rc : count ? 0 : -ENODATA;
}
