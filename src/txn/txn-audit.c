/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-audit.c - each transaction as structured entries of systemd's journal. The record on disk is complete without
 * them, so a host without journald or libsystemd has none. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "txn/txn-private.h"

/* Identifies the journal entries of this program's transactions: journalctl MESSAGE_ID=... */
#define MESSAGE_ID "8c0f2e6f4b7d4b0fb6a8d5b6b0a1c3e9"
#define FIELDS_MAX 64

/* The user that logged in, whatever su and sudo made of that; -1 if there was no login. */
static long login_uid(void)
{
	_cleanup_close_ int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -1;
	return strtoul(text, NULL, 10) == UINT32_MAX ? -1 : strtol(text, NULL, 10);
}

const char *txn_who(struct arena *arena)
{
	const char *sudo = getenv("SUDO_UID");
	const char *who = arena_printf(arena, "uid %u", (unsigned int)geteuid());
	long login = login_uid();

	/* A root user can forge this; the login uid is the kernel's. */
	if (sudo && *sudo && strspn(sudo, "0123456789") == strlen(sudo) && strlen(sudo) < 11)
		who = arena_printf(arena, "%s through sudo by uid %s", who, sudo);
	if (login >= 0)
		who = arena_printf(arena, "%s (login uid %ld)", who, login);
	return who;
}

struct fields {
	struct arena *arena;
	struct iovec items[FIELDS_MAX];
	int count;
};

static void add(struct fields *f, const char *name, const char *value)
{
	char *text;

	if (!value || f->count == FIELDS_MAX)
		return;
	text = arena_printf(f->arena, "%s=%s", name, value);
	f->items[f->count++] = (struct iovec){ text, strlen(text) };
}

static const char *describe(const struct txn *t, const char *event, const char *result)
{
	return arena_printf(t->arena, "Transaction %s: %s%s%s (%u files, %u steps) for %s", t->id,
			    event, result ? ": " : "", result ? result : "", t->files.count,
			    t->steps.count, txn_who(t->arena));
}

static void add_files(struct fields *f, const struct txn *t)
{
	for_each(file, &t->files)
		add(f, "NVNODECHECK_FILE",
		    arena_printf(t->arena, "%s %s %s", file->kept.path,
				 file->kept.before.there ? file->kept.before.sha256 : "-",
				 file->kept.after.there ? file->kept.after.sha256 : "-"));
	for_each(step, &t->steps)
		add(f, "NVNODECHECK_STEP", txn_step_title(t->arena, step));
}

void txn_audit(struct txn *t, const char *event, const char *result)
{
	typeof(&sd_journal_sendv) sendv;
	const struct library_symbol symbol = { &sendv, "sd_journal_sendv", NULL, 0 };
	struct fields f = { .arena = t->arena };

	if (library_load(LIBSYSTEMD, &symbol, 1))
		return;
	add(&f, "MESSAGE", describe(t, event, result));
	add(&f, "MESSAGE_ID", MESSAGE_ID);
	add(&f, "PRIORITY", arena_printf(t->arena, "%d", LOG_NOTICE));
	add(&f, "SYSLOG_IDENTIFIER", "nvnodecheck");
	add(&f, "NVNODECHECK_EVENT", event);
	add(&f, "NVNODECHECK_RESULT", result);
	add(&f, "NVNODECHECK_TRANSACTION", t->id);
	add(&f, "NVNODECHECK_PLAN", t->plan_id);
	add(&f, "NVNODECHECK_ROOT", t->options->root ? t->options->root->name : NULL);
	add(&f, "NVNODECHECK_WHO", txn_who(t->arena));
	add(&f, "NVNODECHECK_BEGUN_BY", t->who);
	add(&f, "SUDO_UID", getenv("SUDO_UID"));
	add_files(&f, t);
	/* Without a journal it reports success; nothing depends on it. */
	if (sendv(f.items, f.count) < 0)
		txn_note(t, "the journal did not take the audit record; %s/%s has it",
			 TXN_STATE_FOLDER, t->id);
}
