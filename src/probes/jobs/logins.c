/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * logins.c - whether sessions of sshd get the limits of limits.conf and the variables of /etc/environment: sshd asks
 * PAM, and PAM's files for sshd name pam_limits and pam_env. Nothing else of these files leaves this probe.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "probes/conf-d.h"
#include "probes/jobs/logins.h"
#include "probes/probe.h"

#define SSHD_CONFIG "/etc/ssh/sshd_config"
#define DEPTH_MAX 8
#define FILES_MAX 64

static bool is_word(struct span s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* ---- sshd_config(5): the first value of a keyword counts; UsePAM cannot be in a Match block ---- */

struct sshd_reader {
	struct host *host;
	struct arena *arena;
	struct fact_bool *uses_pam;
	size_t files;
	bool match; /* the rest of the file is in a block */
};

static int read_sshd_file(struct sshd_reader *r, const char *path, int depth);

/* Include of all .conf files of a folder, as distributions have it. Other patterns make the answer unknown. */
static int read_sshd_include(struct sshd_reader *r, struct span pattern, int depth)
{
	struct conf_d *files = arena_alloc(r->arena, sizeof(*files));
	const char *folders[2] = { NULL, NULL };
	int rc = 0;

	if (!span_ends(pattern, "/*.conf") || pattern.p[0] != '/' ||
	    !span_starts(pattern, "/etc/ssh/"))
		return -ENOTSUP;
	folders[0] = arena_printf(r->arena, "%.*s", (int)(pattern.n - strlen("/*.conf")),
				  pattern.p);
	conf_d_list(r->host, r->arena, folders, ".conf", files);
	if (files->error && files->error != -ENOENT)
		return files->error;
	for (size_t i = 0; i < files->count && !rc && is_unknown(*r->uses_pam); i++)
		rc = read_sshd_file(r, conf_d_path(r->arena, &files->items[i]), depth + 1);
	return rc;
}

static int read_sshd_line(struct sshd_reader *r, struct span line, int depth)
{
	struct span key, value;

	/* "UsePAM=yes" is allowed too. */
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '=')
			return is_word(span_trim((struct span){ line.p, i }), "UsePAM") ? -ENOTSUP
											: 0;
	if (!span_word(&line, &key) || key.p[0] == '#')
		return 0;
	if (is_word(key, "Match"))
		r->match = true;
	else if (r->match || !span_word(&line, &value))
		return 0;
	else if (is_word(key, "Include"))
		return read_sshd_include(r, value, depth);
	else if (is_word(key, "UsePAM"))
		*r->uses_pam = fact_bool(is_word(value, "yes"));
	return 0;
}

static int read_sshd_file(struct sshd_reader *r, const char *path, int depth)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	int rc;

	if (depth > DEPTH_MAX || r->files++ == FILES_MAX)
		return -E2BIG;
	rc = host_read(r->host, &text, HOST_FILE_MAX, "%s", path);
	rest = text_span(&text);
	r->match = false;
	while (!rc && is_unknown(*r->uses_pam) && span_cut(&rest, '\n', &line))
		rc = read_sshd_line(r, line, depth);
	return rc;
}

/* What is not set is left unknown: builds differ in the default. */
static int read_sshd(struct host *host, struct arena *arena, struct login_facts *answer)
{
	struct sshd_reader r = { .host = host, .arena = arena, .uses_pam = &answer->ssh_uses_pam };
	int rc = read_sshd_file(&r, SSHD_CONFIG, 0);

	if (rc == -ENOENT)
		answer->ssh_uses_pam.state = FACT_ABSENT;
	else if (rc)
		answer->ssh_uses_pam.state = FACT_UNKNOWN;
	return rc == -ENOENT || rc == -ENOTSUP || rc == -E2BIG ? 0 : rc;
}

/* ---- pam.d(5) ---- */

struct pam_reader {
	struct host *host;
	size_t files;
	bool limits;	  /* pam_limits */
	bool environment; /* pam_env, which reads /etc/environment */
};

static int read_pam_file(struct pam_reader *r, struct span name, int depth);

/* pam_env(8): readenv=0 and envfile=FILE turn it from the file. */
static bool reads_environment(struct span options)
{
	struct span word;

	while (span_word(&options, &word) && word.p[0] != '#')
		if (span_is(word, "readenv=0") || span_starts(word, "envfile="))
			return false;
	return true;
}

static int read_pam_line(struct pam_reader *r, struct span line, int depth)
{
	struct span type, control, module = { 0 };
	bool session;

	if (!span_word(&line, &type) || type.p[0] == '#' || !span_word(&line, &control))
		return 0;
	if (is_word(type, "@include"))
		return read_pam_file(r, control, depth + 1);
	if (type.p[0] == '-')
		type = (struct span){ type.p + 1, type.n - 1 };
	session = is_word(type, "session");
	if (!session && !is_word(type, "auth"))
		return 0;
	/* [success=ok default=ignore] is one word of several. */
	while (control.p[0] == '[' && !span_ends(control, "]") && span_word(&line, &control) &&
	       !span_ends(control, "]"))
		;
	if (!span_word(&line, &module))
		return 0;
	if (is_word(control, "include") || is_word(control, "substack"))
		return read_pam_file(r, module, depth + 1);
	r->limits |= session && span_ends(module, "pam_limits.so");
	r->environment |= span_ends(module, "pam_env.so") && reads_environment(line);
	return 0;
}

/* Of a name with a slash the file is not opened: then it is not known what it has. */
static int read_pam_file(struct pam_reader *r, struct span name, int depth)
{
	static const char *const folders[] = { "/etc/pam.d", "/usr/lib/pam.d" };
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	int rc = -ENOENT;

	if (depth > DEPTH_MAX || r->files++ == FILES_MAX || span_find(name, '/') < name.n)
		return -E2BIG;
	for (size_t i = 0; i < ARRAY_SIZE(folders) && rc == -ENOENT; i++)
		rc = host_read(r->host, &text, HOST_FILE_MAX, "%s/%.*s", folders[i],
			       SPAN_FMT(name));
	rest = text_span(&text);
	while (!rc && span_cut(&rest, '\n', &line))
		rc = read_pam_line(r, line, depth);
	return rc == -ENOENT && depth ? -E2BIG : rc;
}

static int read_pam(struct host *host, struct login_facts *answer)
{
	struct pam_reader r = { .host = host };
	int rc = read_pam_file(&r, SPAN("sshd"), 0);

	if (rc == -ENOENT)
		answer->ssh_has_limits.state = FACT_ABSENT;
	else if (rc == 0)
		answer->ssh_has_limits = fact_bool(r.limits);
	return rc == -ENOENT || rc == -E2BIG ? 0 : rc;
}

int logins_read_environment(struct host *host, struct arena *arena, bool *reads)
{
	struct pam_reader r = { .host = host };
	struct login_facts sshd = { 0 };
	int rc = read_sshd(host, arena, &sshd);

	if (rc == 0)
		rc = read_pam_file(&r, SPAN("sshd"), 0);
	*reads = r.environment && !known_is(sshd.ssh_uses_pam, false);
	/* A file that PAM names and that is not here can add nothing to a yes. */
	return rc == -ENOENT || (rc == -E2BIG && r.environment) ? 0 : rc;
}

/* ---- both ---- */

static int ask_logins(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct limits_facts *answer = facts;
	int rc = read_sshd(host, arena, &answer->logins), second;

	(void)user;
	second = read_pam(host, &answer->logins);
	return rc ? rc : second;
}

static void run(struct probe_context *ctx)
{
	struct limits_facts answer = { 0 };

	host_query(ctx->host, "logins by ssh", &limits_facts_desc, &answer, ctx->arena, ask_logins,
		   NULL);
	ctx->node->limits.logins = answer.logins;
}

const struct probe probe_logins = {
	.name = "logins",
	.phase = PHASE_ALONE,
	PROBE_SECTION(limits.logins),
	.run = run,
};
