/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daemons.c - why a service does not run: its program and the libraries of that, how its last run ended, and the
 * last lines that it and systemd wrote. Only of what does not run: on a healthy node this probe reads nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "parse/process.h"
#include "parse/service-words.h"
#include "parse/syslog.h"
#include "probes/dynamic-loader.h"
#include "probes/log/log-journal.h"
#include "probes/log/log-lines.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "probes/services/unit-fragments.h"
#include "probes/services/units.h"
#include "query/node-find.h"

#define MESSAGES_MAX 64 /* of systemd and the service, of which the last few are kept */
#define LINES_KEPT 6
#define OWN_LINES_KEPT 4     /* of its own log file */
#define LINE_BYTES 300	     /* of each */
#define SYSLOG_MAX (4 << 20) /* of a longer file the end is read */
#define OWN_LOG_MAX 65536

struct question {
	const struct unit_of_interest *row; /* NULL: a unit that is known by its name alone */
	const char *unit;
};

/* ---- its program ---- */

struct program_search {
	struct arena *arena;
	const char *program;
	const char *description; /* of the unit; NULL: none */
};

static void take_program(void *user, const char *path, const struct unit_assignment *a)
{
	struct program_search *s = user;
	struct span program;
	bool optional;

	(void)path;
	/* A specifier (%i) is not resolved. */
	if (span_is(a->section, "Unit") && span_is(a->key, "Description") && a->value.n)
		s->description = memchr(a->value.p, '%', a->value.n)
					 ? NULL
					 : arena_strndup(s->arena, a->value.p, a->value.n);
	if (!span_is(a->section, "Service") || !span_is(a->key, "ExecStart"))
		return;
	if (!a->value.n)
		s->program = NULL;
	else if (!s->program && unit_program(a->value, &program, &optional) && program.p[0] == '/')
		s->program = arena_strndup(s->arena, program.p, program.n);
}

/* Finds the libraries that PROGRAM lacks. Returns false if the dynamic loader does not load it. */
static bool take_libraries(struct dynamic_loader *loader, const char *program,
			   struct service *answer)
{
	struct dynamic_loader_missing missing;
	int rc = dynamic_loader_missing(loader, program, &missing);

	if (rc)
		return rc != -ENOEXEC && rc != -ENOENT;
	if (!missing.unread || missing.count)
		answer->missing_libraries.state = FACT_KNOWN;
	for (size_t i = 0; i < missing.count; i++)
		*LIST_ADD(loader->arena, &answer->missing_libraries) = missing.names[i];
	return true;
}

/* A unit can start a script: then the daemon is the one that is known for it. Returns the unit's description. */
static const char *read_program(struct host *host, struct arena *arena, const struct question *q,
				struct service *answer)
{
	_cleanup_fragments_ struct unit_fragments fragments = { 0 };
	_cleanup_dynamic_loader_ struct dynamic_loader loader = { 0 };
	struct program_search search = { .arena = arena };
	const char *known = q->row ? q->row->program : NULL;

	int rc;

	unit_fragments_open(&fragments, host, arena);
	rc = unit_fragments_read(&fragments, q->unit, take_program, &search);
	if (!search.program && known && host_exists(host, known))
		search.program = known;
	if (!search.program) {
		answer->program.state = rc ? FACT_UNKNOWN : FACT_ABSENT;
		return search.description;
	}
	answer->program = fact_str(arena, search.program);
	dynamic_loader_open(&loader, host, arena, NULL);
	if (!take_libraries(&loader, search.program, answer) && known)
		take_libraries(&loader, known, answer);
	return search.description;
}

/* ---- what was written ---- */

struct messages {
	struct arena *arena;
	struct unit_names names;
	const char *idents[2]; /* by which it writes to syslog: its name, and its process */
	struct unit_outcome outcome;
	struct {
		const char *text;
		bool systemd;
	} kept[MESSAGES_MAX];
	size_t count; /* of all: the place of the next is this, modulo their number */
};

static void keep(struct messages *m, bool systemd, struct span text)
{
	size_t i = m->count++ % MESSAGES_MAX;

	text = span_trim(text);
	m->kept[i].text = arena_strndup(m->arena, text.p,
					text.n < LINE_BYTES ? text.n : LINE_BYTES);
	m->kept[i].systemd = systemd;
}

/* Newest first. */
static void take_journal(void *user, bool systemd, struct span text)
{
	keep(user, systemd, text);
}

static void reverse(struct messages *m)
{
	for (size_t i = 0, k = m->count; i + 1 < k; i++) {
		typeof(m->kept[0]) held = m->kept[i];

		m->kept[i] = m->kept[--k];
		m->kept[k] = held;
	}
}

static bool syslog_text(void *user, struct span line)
{
	struct messages *m = user;
	struct syslog_line parsed;
	bool systemd;

	if (!syslog_line_parse(line, &parsed))
		return true;
	/* Lines before the last boot belong to an earlier boot. */
	if (span_is(parsed.ident, "kernel") && span_search(parsed.text, "Linux version "))
		m->count = 0;
	systemd = span_is(parsed.ident, "systemd");
	if (systemd ? unit_is_meant(&m->names, parsed.text)
		    : (m->idents[0] && span_is(parsed.ident, m->idents[0])) ||
			      (m->idents[1] && span_is(parsed.ident, m->idents[1])))
		keep(m, systemd, parsed.text);
	return true;
}

static int read_end(struct host *host, const char *path, off_t most, lines_found *line, void *user)
{
	_cleanup_close_ int fd = host_open(host, path);
	off_t size;

	if (fd < 0)
		return fd;
	size = lseek(fd, 0, SEEK_END);
	lseek(fd, size > most ? size - most : 0, SEEK_SET);
	return lines_read(fd, line, user);
}

/* The journal, or where there is none a file that syslog wrote. */
static const char *read_messages(struct host *host, struct messages *m)
{
	static const char *const files[] = { "/var/log/syslog", "/var/log/messages" };
	char boot[JOURNAL_BOOT_ID], native[PATH_MAX];
	bool live = host_kind(host) == HOST_LIVE;

	journal_boot(host, boot);
	if ((live || journal_folder(host, native) == 0) &&
	    journal_read_unit(live ? NULL : native, boot, m->names.unit, MESSAGES_MAX, take_journal,
			      m) == 0) {
		reverse(m);
		return "journal";
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (read_end(host, files[i], SYSLOG_MAX, syslog_text, m) == 0 && m->count)
			return files[i];
	return NULL;
}

static void add_line(struct arena *arena, struct service *answer, const char *text,
		     const char *file)
{
	struct service_line *line = LIST_ADD(arena, &answer->last_lines);

	line->text = fact_str(arena, text);
	line->file = fact_str(arena, file);
}

/* The last few of those that were kept, oldest first. */
static void add_messages(struct arena *arena, struct messages *m, const char *file, size_t most,
			 struct service *answer)
{
	size_t there = m->count < MESSAGES_MAX ? m->count : MESSAGES_MAX;
	size_t n = there < most ? there : most;

	for (size_t i = m->count - n; i < m->count; i++)
		add_line(arena, answer, m->kept[i % MESSAGES_MAX].text, file);
}

static void take_outcome(struct messages *m, struct service *answer)
{
	size_t there = m->count < MESSAGES_MAX ? m->count : MESSAGES_MAX;

	for (size_t i = m->count - there; i < m->count; i++)
		if (m->kept[i % MESSAGES_MAX].systemd)
			unit_outcome_update(&m->outcome, &m->names,
					    span_of(m->kept[i % MESSAGES_MAX].text));
	if (m->outcome.result[0])
		answer->result = fact_str(m->arena, m->outcome.result);
	if (m->outcome.has_status)
		answer->exit_status = fact_u64(m->outcome.status);
	if (m->outcome.has_restarts)
		answer->restarts = fact_u64(m->outcome.restarts);
}

/* Lines of a service's own log: the last ones, and the last that explains why it cannot start, which often comes
 * earlier. */
struct own_log {
	struct messages *last;
	const char *telling;
	size_t at; /* which line that was */
};

static bool own_line(void *user, struct span line)
{
	struct own_log *own = user;
	const char *kept;

	if (!span_trim(line).n)
		return true;
	keep(own->last, false, line);
	kept = own->last->kept[(own->last->count - 1) % MESSAGES_MAX].text;
	if (service_word_find(own->last->names.unit, kept)) {
		own->telling = kept;
		own->at = own->last->count;
	}
	return true;
}

/* Returns the packages' default log of slurmd, for a pattern in slurm.conf and for nodes without that file. */
static const char *usual_slurmd_log(struct host *host)
{
	static const char *const files[] = { "/var/log/slurm/slurmd.log", "/var/log/slurmd.log",
					     "/var/log/slurm-llnl/slurmd.log" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (host_exists(host, files[i]))
			return files[i];
	return NULL;
}

/* slurmd's log is where slurm.conf says; a pattern in it, for the node's name, is not resolved. */
static const char *slurmd_log(struct host *host, struct arena *arena)
{
	static const char *const files[] = { "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
					     "/run/slurm/conf/slurm.conf",
					     "/var/spool/slurmd/conf-cache/slurm.conf" };
	static const char key[] = "SlurmdLogFile=";

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_text_ struct text text = { 0 };
		struct span rest, line;

		if (host_read(host, &text, HOST_FILE_MAX, "%s", files[i]))
			continue;
		rest = text_span(&text);
		while (span_cut(&rest, '\n', &line)) {
			line = span_trim(line);
			if (span_starts(line, key) && !memchr(line.p, '%', line.n))
				return arena_strndup(arena, line.p + strlen(key),
						     line.n - strlen(key));
		}
	}
	return usual_slurmd_log(host);
}

static void read_own_log(struct host *host, struct arena *arena, const struct question *q,
			 struct service *answer)
{
	const char *path = q->row ? q->row->log : NULL;
	struct own_log own = { .telling = NULL };
	struct messages *m;

	if (strcmp(q->unit, "slurmd.service") == 0)
		path = slurmd_log(host, arena);
	if (!path)
		return;
	m = arena_alloc(arena, sizeof(*m));
	m->arena = arena;
	m->names.unit = q->unit;
	own.last = m;
	if (read_end(host, path, OWN_LOG_MAX, own_line, &own))
		return;
	if (own.telling && own.at + OWN_LINES_KEPT <= m->count)
		add_line(arena, answer, own.telling, path);
	add_messages(arena, m, path, OWN_LINES_KEPT, answer);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int daemons_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct question *q = user;
	struct service *answer = facts;
	struct messages *m = arena_alloc(arena, sizeof(*m));
	const char *file;

	answer->unit = fact_str(arena, q->unit);
	m->arena = arena;
	m->names.unit = q->unit;
	m->names.description = read_program(host, arena, q, answer);
	m->idents[0] = q->row ? q->row->comm : NULL;
	m->idents[1] = is_known(answer->program) ? last_part(answer->program.value) : NULL;
	file = read_messages(host, m);
	if (file) {
		answer->last_lines.state = FACT_KNOWN;
		add_messages(arena, m, file, LINES_KEPT, answer);
		take_outcome(m, answer);
	}
	read_own_log(host, arena, q, answer);
	return 0;
}

/* ---- who has the GPUs open ---- */

/* Fabric manager that was started with the system is not asked about. */
#define LATE_MS (10 * 60 * 1000)

struct holders {
	struct host *host;
	struct services_facts *answer;
	bool hidden; /* some process's files may not be seen */
};

/* /dev/nvidia0, and not nvidiactl, which everybody opens. */
static bool is_gpu(const char *target)
{
	static const char stem[] = "/dev/nvidia";

	return starts_with(target, stem) && isdigit((unsigned char)target[sizeof(stem) - 1]);
}

static int has_gpu_open(struct host *host, uint64_t pid)
{
	_cleanup_names_ struct names names = { 0 };
	char target[PATH_MAX];
	int rc = host_list(host, &names, "/proc/%llu/fd", (unsigned long long)pid);

	for (size_t i = 0; i < names.count; i++)
		if (host_link(host, target, "/proc/%llu/fd/%s", (unsigned long long)pid,
			      names.items[i]) == 0 &&
		    is_gpu(target))
			return 1;
	return rc;
}

/* nvidia-persistenced is there to hold the GPUs, unless it is configured otherwise; a copy need not
 * have its files. */
static bool is_for_holding(struct host *host, uint64_t pid, const char *comm)
{
	_cleanup_text_ struct text text = { 0 };

	return strcmp(comm, "nvidia-persiste") == 0 &&
	       host_read(host, &text, HOST_FILE_MAX, "/proc/%llu/cmdline",
			 (unsigned long long)pid) == 0 &&
	       !memmem(text.data, text.size, "--no-persistence-mode",
		       strlen("--no-persistence-mode"));
}

static void found_process(void *user, uint64_t pid, const char *comm)
{
	struct holders *h = user;
	_cleanup_text_ struct text text = { 0 };
	struct fact_u64 *since = &h->answer->gpu_held_since_ms;
	uint64_t ms;
	int open;

	/* Fabric manager keeps the GPUs open itself. */
	if (strcmp(comm, "nv-fabricmanage") == 0 && process_is_the_nodes(h->host, pid))
		return;
	open = has_gpu_open(h->host, pid);
	if (open < 0 && is_for_holding(h->host, pid, comm))
		open = 1;
	/* On a running system a missing process has ended; a copy may lack it. */
	if (open < 0 && (open != -ENOENT || host_kind(h->host) == HOST_TREE))
		h->hidden = true;
	if (open <= 0 ||
	    host_read(h->host, &text, HOST_FILE_MAX, "/proc/%llu/stat", (unsigned long long)pid) ||
	    !process_started(text_span(&text), &ms))
		return;
	if (!is_known(*since) || ms < since->value)
		*since = fact_u64(ms);
}

static int ask_holders(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct services_facts *answer = facts;
	struct holders h = { .host = host, .answer = answer };
	int rc = processes_list(host, found_process, &h);

	(void)arena;
	(void)user;
	if (rc)
		return rc == -ESRCH ? -ENODATA : rc;
	if (!is_known(answer->gpu_held_since_ms) && h.hidden)
		return -ENODATA;
	if (!is_known(answer->gpu_held_since_ms))
		answer->gpu_held_since_ms.state = FACT_ABSENT;
	return 0;
}

static void read_holders(struct probe_context *ctx)
{
	struct services_facts answer = { 0 };
	const struct service *manager = node_service(ctx->node, "nvidia-fabricmanager.service");

	if (!manager || !is_known(manager->started_ms) || manager->started_ms.value < LATE_MS)
		return;
	if (host_query(ctx->host, "who has GPUs open", &services_facts_desc, &answer, ctx->arena,
		       ask_holders, NULL) == 0)
		ctx->node->services.gpu_held_since_ms = answer.gpu_held_since_ms;
}

/* ---- the licence of a vGPU ---- */

#define GRIDD "nvidia-gridd"

/* The one part of this probe that reads a service that runs: without a licence it keeps running. */
static int ask_licence(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const struct {
		const char *text;
		enum licence_state state;
	} words[] = { { "License acquired successfully", LICENCE_ACQUIRED },
		      { "License renewed successfully", LICENCE_ACQUIRED },
		      { "Failed to acquire", LICENCE_FAILED },
		      { "Failed to renew", LICENCE_FAILED },
		      { "Failed to register client", LICENCE_FAILED },
		      { "Invalid feature type requested", LICENCE_NOT_CONFIGURED },
		      { "Configuration parameter ( ServerAddress", LICENCE_NOT_CONFIGURED } };
	struct services_facts *answer = facts;
	struct messages *m = arena_alloc(arena, sizeof(*m));
	size_t there;

	(void)user;
	m->arena = arena;
	m->names.unit = GRIDD ".service";
	m->idents[0] = GRIDD;
	if (!read_messages(host, m))
		return -ENODATA;
	there = m->count < MESSAGES_MAX ? m->count : MESSAGES_MAX;
	for (size_t i = m->count - there; i < m->count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			if (!m->kept[i % MESSAGES_MAX].systemd &&
			    strstr(m->kept[i % MESSAGES_MAX].text, words[k].text))
				answer->licence = fact_enum((int)words[k].state);
	return 0;
}

static void read_licence(struct probe_context *ctx)
{
	struct services_facts answer = { 0 };
	const struct service *s = node_service(ctx->node, GRIDD ".service");

	if (s && str_is(s->active, "active") &&
	    host_query(ctx->host, "licence of the vGPU", &services_facts_desc, &answer, ctx->arena,
		       ask_licence, NULL) == 0)
		ctx->node->services.licence = answer.licence;
}

/* ---- which are asked about ---- */

/* Returns true for a service that systemd or init should run or has started, and for one that is installed without a
 * unit, as on systems without systemd. */
static bool does_not_run(struct probe_context *ctx, const struct service *s,
			 const struct unit_of_interest *row)
{
	if (str_is(s->active, "active") || str_is(s->active, "reloading"))
		return false;
	if (str_is(s->active, "failed") || str_is(s->active, "activating"))
		return true;
	if (is_known(s->enabled) && str_starts(s->enabled, "enabled"))
		return true;
	return row && row->program && str_is(s->active, "inactive") &&
	       host_exists(ctx->host, row->program);
}

static void take_over(struct service *s, const struct service *answer)
{
	s->program = answer->program;
	s->missing_libraries.state = answer->missing_libraries.state;
	s->missing_libraries.count = answer->missing_libraries.count;
	s->missing_libraries.items = answer->missing_libraries.items;
	memcpy(&s->last_lines, &answer->last_lines, sizeof(s->last_lines));
	if (is_unknown(s->result)) {
		s->result = answer->result;
		s->exit_status = answer->exit_status;
		s->restarts = answer->restarts;
	}
}

static void daemons_run(struct probe_context *ctx)
{
	for_each_mut(s, &ctx->node->services.units) {
		const struct unit_of_interest *row = unit_of_interest(s->unit.value);
		struct question q = { .row = row, .unit = s->unit.value };
		struct service answer = { 0 };

		if (!does_not_run(ctx, s, row))
			continue;
		if (host_query(ctx->host, arena_printf(ctx->arena, "why not %s", q.unit),
			       &service_desc, &answer, ctx->arena, daemons_ask, &q) == 0)
			take_over(s, &answer);
	}
	read_holders(ctx);
	read_licence(ctx);
}

const struct probe probe_daemons = {
	.name = "daemons",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	.run = daemons_run,
};
