/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes/log-journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-journal.h>

#include "base/clock.h"
#include "base/library.h"

/* How often the clock is looked at. */
#define CLOCK_EVERY 64

struct journal_api {
	typeof(&sd_journal_open) open;
	typeof(&sd_journal_open_directory) open_directory;
	typeof(&sd_journal_close) close;
	typeof(&sd_journal_add_match) add_match;
	typeof(&sd_journal_seek_head) seek_head;
	typeof(&sd_journal_seek_tail) seek_tail;
	typeof(&sd_journal_next) next;
	typeof(&sd_journal_previous) previous;
	typeof(&sd_journal_get_data) get_data;
};

static int load(struct journal_api *api)
{
	const struct library_symbol symbols[] = {
		{ &api->open, "sd_journal_open", NULL, 0 },
		{ &api->open_directory, "sd_journal_open_directory", NULL, 0 },
		{ &api->close, "sd_journal_close", NULL, 0 },
		{ &api->add_match, "sd_journal_add_match", NULL, 0 },
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

static int read_all(const struct journal_api *api, sd_journal *journal, journal_message *message,
		    void *user, bool *cut)
{
	uint64_t end = clock_ms() + JOURNAL_BUDGET_MS, time_us;
	size_t count = 0;
	int rc;

	while ((rc = api->next(journal)) > 0) {
		/* Asked for first: what get_data() gives is good until it is called again. */
		struct span time = field(api, journal, "_SOURCE_MONOTONIC_TIMESTAMP"), text;

		if (count++ % CLOCK_EVERY == 0 && clock_ms() > end) {
			*cut = true;
			return 0;
		}
		if (span_u64(time, 10, &time_us))
			time_us = 0;
		text = field(api, journal, "MESSAGE");
		if (text.n)
			message(user, time_us, text);
	}
	return rc < 0 ? rc : count ? 0 : -ENODATA;
}

int journal_read(const char *folder, const char *boot, journal_message *message, void *user,
		 bool *cut)
{
	struct journal_api api;
	sd_journal *journal = NULL;
	int rc = load(&api);

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
