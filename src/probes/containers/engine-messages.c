/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine-messages.c - the last errors about NVIDIA's programs and CDI that container engines and the kubelet wrote. Any
 * user can write lines to syslog with any tag: a line counts if its process is the one that runs under that name now,
 * as far as that is known. What was written before the engine's last start does not count. Lines of the journal
 * are those of the unit.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "parse/service-words.h"
#include "parse/syslog.h"
#include "probes/log/log-journal.h"
#include "probes/log/log-lines.h"
#include "probes/probe.h"
#include "probes/processes.h"

#define KINDS_MAX \
	8 /* of messages: each further one of syslog replaces the oldest that no row of the table has */
#define LINE_MAX_BYTES 8192  /* an engine's line has the whole command line of the hook */
#define TEXT_BYTES 300	     /* of what is kept */
#define SYSLOG_MAX (4 << 20) /* of a longer file the end is read */
#define JOURNAL_LINES 200    /* of each unit */
#define PIDS_MAX 32

#define CLI "nvidia-container-cli: "

static const struct {
	const char *tag, *unit, *comm;
	const char *started; /* Description= of the unit, which systemd logs */
} engines[] = {
	{ "dockerd", "docker.service", "dockerd", "Docker Application Container Engine" },
	{ "containerd", "containerd.service", "containerd", "containerd container runtime" },
	{ "kubelet", "kubelet.service", "kubelet", "kubelet: The Kubernetes Node Agent" },
	{ "crio", "crio.service", "crio", "Container Runtime Interface for OCI (CRI-O)" },
	{ "podman", NULL, "podman", NULL },
	{ "dockerd-rootless.sh", NULL, "dockerd", NULL },
};

struct reading {
	struct arena *arena;
	struct containers_facts *answer;
	const char *file;
	const char *tag; /* in the journal: of the unit */
	bool done;	 /* the journal's older lines are from before the start */
	struct {
		uint64_t pid;
		char comm[COMM_MAX];
	} pids[PIDS_MAX];
	size_t pid_count;
};

/* ---- one line ---- */

/* The error begins at the name of the program, or at the words of the table, and ends at the engine's next quote.
 * NULL: the line is about something else. */
static const char *error_in(struct arena *arena, struct span line, const struct service_word **word)
{
	char *copy = arena_strndup(arena, line.p,
				   line.n < LINE_MAX_BYTES ? line.n : LINE_MAX_BYTES);
	char *error = strstr(copy, CLI);
	size_t n = 0;

	*word = service_word_find("nvidia-container.service", copy);
	if (!*word)
		*word = service_word_find("nvidia-container-job.service", copy);
	if (!error && *word)
		error = strstr(copy, (*word)->text);
	if (!error)
		return NULL;
	while (error[n] && error[n] != '\\' && error[n] != '"' && n < TEXT_BYTES &&
	       !iscntrl((unsigned char)error[n]))
		n++;
	error[n] = '\0';
	return error;
}

static bool has_row(const struct engine_message *m)
{
	return service_word_find("nvidia-container.service", m->text.value) ||
	       service_word_find("nvidia-container-job.service", m->text.value);
}

/* Gives the place of the oldest message, of one without a row if there is one. */
static struct engine_message *make_room(struct containers_facts *answer)
{
	struct engine_message *items = answer->messages.items;
	uint32_t last = answer->messages.count - 1, i = 0;

	while (i < last && has_row(&items[i]))
		i++;
	if (has_row(&items[i]))
		i = 0;
	memmove(&items[i], &items[i + 1], (last - i) * sizeof(*items));
	items[last] = (struct engine_message){ 0 };
	return &items[last];
}

/* Messages of one row of the table are one; of others those with the same text. */
static struct engine_message *message_of(struct reading *r, const char *tag, const char *text,
					 const struct service_word *word)
{
	for_each_mut(m, &r->answer->messages)
		if (str_is(m->program, tag) &&
		    (word ? strstr(m->text.value, word->text) != NULL : str_is(m->text, text)))
			return m;
	if (r->answer->messages.count < KINDS_MAX)
		return LIST_ADD(r->arena, &r->answer->messages);
	return r->tag ? NULL : make_room(r->answer);
}

static void take_line(struct reading *r, const char *tag, struct span line, struct span time)
{
	const struct service_word *word;
	const char *text = span_search(line, "nvidia") || span_search(line, "NVIDIA") ||
					   span_search(line, "CDI")
				   ? error_in(r->arena, line, &word)
				   : NULL;
	struct engine_message *m = text ? message_of(r, tag, text, word) : NULL;

	if (!m)
		return;
	/* The journal comes newest first: its first line is the last one. */
	if (!is_known(m->count) || !r->tag) {
		m->text = fact_str(r->arena, text);
		m->time = time.n ? fact_strn(r->arena, time.p, time.n) : FACT_NONE(fact_str);
	}
	m->program = fact_str(r->arena, tag);
	m->file = fact_str(r->arena, r->file);
	m->count = fact_u64(is_known(m->count) ? m->count.value + 1 : 1);
}

/* ---- syslog ---- */

/* dockerd[1000]: the process is one of that name; where none is known, any is taken, and one without a number. */
static bool is_of_process(const struct reading *r, const char *comm, const struct syslog_line *line)
{
	struct span rest = { line->ident.p + line->ident.n,
			     (size_t)(line->text.p - line->ident.p) - line->ident.n };
	uint64_t pid = 0;
	bool any = false;

	if (span_starts(rest, "[")) {
		rest = (struct span){ rest.p + 1, rest.n - 1 };
		rest.n = span_find(rest, ']');
		if (span_u64(rest, 10, &pid))
			return false;
	}
	for (size_t i = 0; i < r->pid_count; i++) {
		if (strcmp(r->pids[i].comm, comm) != 0)
			continue;
		if (r->pids[i].pid == pid)
			return true;
		any = true;
	}
	return !any;
}

/* "Jan  2 11:52:08", or the first word as RFC 3339 has it. */
static struct span time_of(struct span line)
{
	struct span time = { line.p, 15 };

	if (line.n && isdigit((unsigned char)line.p[0]))
		time.n = span_find(line, ' ');
	return time.n <= line.n && time.n <= 40 ? time : (struct span){ line.p, 0 };
}

/* "systemd[1]: Started Docker Application Container Engine.", of newer systemd "Started docker.service - Docker ...". A
 * user's systemd has another number. */
static bool is_start_of(size_t engine, const struct syslog_line *line)
{
	struct span number = { line->ident.p + line->ident.n,
			       (size_t)(line->text.p - line->ident.p) - line->ident.n };
	struct span what = span_trim(line->text);
	static const char started[] = "Started ";

	if (!engines[engine].unit || !span_is(line->ident, "systemd") ||
	    !span_starts(number, "[1]") || !span_starts(what, started))
		return false;
	what = (struct span){ what.p + strlen(started), what.n - strlen(started) };
	if (span_starts(what, engines[engine].unit)) {
		size_t n = strlen(engines[engine].unit);

		what = (struct span){ what.p + n, what.n - n };
		return what.n == 0 || span_starts(what, " - ") || span_is(what, ".");
	}
	what.n -= what.n && what.p[what.n - 1] == '.';
	return span_is(what, engines[engine].started);
}

/* What an engine wrote before its last start is over. */
static void forget_messages(struct reading *r, const char *tag)
{
	struct containers_facts *answer = r->answer;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < answer->messages.count; i++)
		if (!str_is(answer->messages.items[i].program, tag))
			answer->messages.items[kept++] = answer->messages.items[i];
	answer->messages.count = kept;
}

static bool syslog_found(void *user, struct span line)
{
	struct reading *r = user;
	struct syslog_line parsed;

	if (!syslog_line_parse(line, &parsed))
		return true;
	/* Lines before the last boot belong to an earlier boot. */
	if (span_is(parsed.ident, "kernel") && span_search(parsed.text, "Linux version "))
		r->answer->messages.count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (is_start_of(i, &parsed))
			forget_messages(r, engines[i].tag);
		else if (span_is(parsed.ident, engines[i].tag) &&
			 is_of_process(r, engines[i].comm, &parsed))
			take_line(r, engines[i].tag, parsed.text, time_of(line));
	return true;
}

static bool read_syslog(struct host *host, struct reading *r)
{
	static const char *const files[] = { "/var/log/syslog", "/var/log/messages" };
	bool read = false;

	for (size_t i = 0; i < ARRAY_SIZE(files) && !read; i++) {
		_cleanup_close_ int fd = host_open(host, files[i]);
		off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

		r->file = files[i];
		if (fd < 0 || lseek(fd, size > SYSLOG_MAX ? size - SYSLOG_MAX : 0, SEEK_SET) < 0)
			continue;
		read = lines_read(fd, syslog_found, r) == 0;
	}
	return read;
}

/* ---- the journal ---- */

static void journal_found(void *user, bool systemd, struct span text)
{
	struct reading *r = user;

	if (systemd && (span_starts(text, "Started ") || span_starts(text, "Starting ")))
		r->done = true;
	else if (!systemd && !r->done)
		take_line(r, r->tag, text, (struct span){ NULL, 0 });
}

static bool read_journal(struct host *host, struct reading *r)
{
	char boot[JOURNAL_BOOT_ID], native[PATH_MAX];
	bool live = host_kind(host) == HOST_LIVE, read = false;
	int rc;

	if (!live && journal_folder(host, native))
		return false;
	journal_boot(host, boot);
	r->file = "journal";
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		r->tag = engines[i].tag;
		r->done = false;
		if (!engines[i].unit)
			continue;
		rc = journal_read_unit(live ? NULL : native, boot, engines[i].unit, JOURNAL_LINES,
				       journal_found, r);
		/* To a user without rights the journal looks empty. */
		read |= rc == 0 || (rc == -ENODATA && (!live || geteuid() == 0));
	}
	r->tag = NULL;
	return read;
}

/* ---- all of it ---- */

static void process_of_engine(void *user, uint64_t pid, const char *comm)
{
	struct reading *r = user;

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (strcmp(engines[i].comm, comm) != 0 || r->pid_count == PIDS_MAX)
			continue;
		r->pids[r->pid_count].pid = pid;
		memcpy(r->pids[r->pid_count].comm, comm, strlen(comm) + 1);
		r->pid_count++;
		return;
	}
}

static int engine_messages_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	struct reading *r = arena_alloc(arena, sizeof(*r));

	(void)user;
	r->arena = arena;
	r->answer = answer;
	/* If not all can be seen, a process counts where its name is. */
	processes_list(host, process_of_engine, r);
	if (read_journal(host, r) || read_syslog(host, r))
		answer->messages.state = FACT_KNOWN;
	return 0;
}

/* Without the toolkit and without CDI no engine starts a program of NVIDIA's. */
static bool is_used(const struct containers_facts *containers)
{
	for_each(c, &containers->configs)
		if (known_is(c->nvidia, true))
			return true;
	return !is_absent(containers->toolkit) || containers->cdi.count;
}

static void engine_messages_run(struct probe_context *ctx)
{
	struct containers_facts *containers = &ctx->node->containers, answer = { 0 };

	if (is_known(ctx->node->os.container) || !is_used(containers) ||
	    host_query(ctx->host, "messages of engines", &containers_facts_desc, &answer,
		       ctx->arena, engine_messages_ask, NULL))
		return;
	containers->messages.state = answer.messages.state;
	for_each(m, &answer.messages)
		*LIST_ADD(ctx->arena, &containers->messages) = *m;
}

const struct probe probe_engine_messages = {
	.name = "engine-messages",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	.run = engine_messages_run,
};
