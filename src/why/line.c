/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line.c - the prefix of a message in a log: its time, host, rank and process, in the forms of launchers, containers,
 * loggers and the programs themselves.
 */
#include "why/line.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

#define PREFIXES_MAX 12 /* in one line */
#define HOST_MAX 255	/* RFC 1035, 2.3.4 */
#define BRACKET_MAX 120

/* ---- pieces ---- */

static void skip(struct span *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

static void skip_blanks(struct span *s)
{
	while (s->n && (*s->p == ' ' || *s->p == '\t'))
		skip(s, 1);
}

static size_t count_digits(struct span s)
{
	size_t n = 0;

	while (n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	return n;
}

/* The number that S begins with is cut off. False: none, or a long one. */
static bool cut_number(struct span *s, int64_t *number)
{
	size_t n = count_digits(*s);
	uint64_t value;

	if (!n || n > 15 || span_u64((struct span){ s->p, n }, 10, &value))
		return false;
	*number = (int64_t)value;
	skip(s, n);
	return true;
}

static bool cut_char(struct span *s, char c)
{
	if (!s->n || *s->p != c)
		return false;
	skip(s, 1);
	return true;
}

static bool cut_text(struct span *s, const char *text)
{
	if (!span_starts(*s, text))
		return false;
	skip(s, strlen(text));
	return true;
}

/* MARKS: a digit for any digit, else the character itself. */
static bool has_form(struct span s, const char *marks)
{
	size_t n = strlen(marks);

	if (s.n < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (marks[i] == '0' ? !isdigit((unsigned char)s.p[i]) : s.p[i] != marks[i])
			return false;
	return true;
}

static bool is_host_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

static size_t count_host(struct span s)
{
	size_t n = 0;

	while (n < s.n && is_host_char(s.p[n]))
		n++;
	return n <= HOST_MAX ? n : 0;
}

static void set_host(struct line *line, struct span host)
{
	if (!line->host.n)
		line->host = host;
}

static void set_time(struct line *line, struct span from, struct span behind)
{
	if (!line->time.n)
		line->time = (struct span){ from.p, (size_t)(behind.p - from.p) };
}

/* ---- times ---- */

/* .123456 or ,123 and a zone */
static void skip_fraction(struct span *s)
{
	if (s->n > 1 && (*s->p == '.' || *s->p == ',') && isdigit((unsigned char)s->p[1])) {
		skip(s, 1);
		skip(s, count_digits(*s));
	}
	if (!cut_char(s, 'Z') &&
	    (has_form(*s, "+00:00") || has_form(*s, "-00:00") || has_form(*s, "+0000")))
		skip(s, s->p[3] == ':' ? 6 : 5);
}

/* The usual forms of a time, up to the seconds. */
static size_t time_bytes(struct span s)
{
	bool is_number = isdigit((unsigned char)*s.p);
	static const char *const forms[] = { "0000-00-00T00:00:00", "0000-00-00 00:00:00",
					     "0000/00/00 00:00:00", "00/00/0000 00:00:00",
					     "00-00 00:00:00",	    "00:00:00" };
	static const char *const months = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char month[4] = "";

	for (size_t i = 0; is_number && i < ARRAY_SIZE(forms); i++)
		if (has_form(s, forms[i]))
			return strlen(forms[i]);
	if (is_number || s.n < 15)
		return 0;
	/* RFC 3164: "Mar  3 22:54:22"; dmesg -T: "Wed Jan 16 14:19:28 2026" */
	memcpy(month, s.p, 3);
	if (strstr(months, month) && has_form((struct span){ s.p + 6, s.n - 6 }, " 00:00:00"))
		return 15;
	memcpy(month, s.p + 4, 3);
	if (s.n >= 24 && strstr(months, month) &&
	    has_form((struct span){ s.p + 10, s.n - 10 }, " 00:00:00 0000"))
		return 24;
	return 0;
}

static bool take_time(struct line *line, struct span *s)
{
	struct span rest = *s;
	size_t n = rest.n ? time_bytes(rest) : 0;

	if (!n)
		return false;
	skip(&rest, n);
	skip_fraction(&rest);
	set_time(line, *s, rest);
	*s = rest;
	return true;
}

/* glog: "E0309 11:46:30.337 1234 file.cc:12] " */
static bool take_glog(struct line *line, struct span *s)
{
	struct span rest = *s;
	size_t end = span_find(rest, ']');

	if (rest.n < 2 || !strchr("IWEFC", *rest.p) ||
	    !has_form((struct span){ rest.p + 1, rest.n - 1 }, "0000 00:00:00"))
		return false;
	skip(&rest, 14);
	skip_fraction(&rest);
	set_time(line, (struct span){ s->p + 1, s->n - 1 }, rest);
	if (end < BRACKET_MAX && end < s->n) {
		rest = *s;
		skip(&rest, end + 1);
	}
	*s = rest;
	return true;
}

/* ---- prefixes of launchers and containers ---- */

/* srun -l: " 3: "; only at the very beginning, and in no more digits than there are ranks */
static bool take_task(struct line *line, struct span *s)
{
	struct span rest = *s;
	int64_t number;

	if (!cut_number(&rest, &number) || number > 9999999 || !cut_text(&rest, ": "))
		return false;
	line->task = number;
	*s = rest;
	return true;
}

/* CRI: "2025-01-01T00:00:00.0Z stderr F " */
static bool take_cri(struct span *s)
{
	return cut_text(s, "stderr F ") || cut_text(s, "stdout F ") || cut_text(s, "stderr P ") ||
	       cut_text(s, "stdout P ");
}

/* Ray and vLLM: "(RayWorkerWrapper pid=465030, ip=192.0.2.1) " */
static bool take_worker(struct line *line, struct span *s)
{
	size_t end = span_find(*s, ')');
	struct span inside = { s->p + 1, end ? end - 1 : 0 }, value;
	const char *found;

	if (*s->p != '(' || end >= s->n || end > BRACKET_MAX)
		return false;
	found = span_search(inside, "pid=");
	if (!found)
		return false;
	value = (struct span){ found + 4, (size_t)(inside.p + inside.n - found - 4) };
	if (line->pid == LINE_NONE)
		cut_number(&value, &line->pid);
	found = span_search(inside, "ip=");
	if (found) {
		value = (struct span){ found + 3, (size_t)(inside.p + inside.n - found - 3) };
		value.n = count_host(value);
		set_host(line, value);
	}
	skip(s, end + 1);
	return true;
}

/* NCCL and libraries with the same form: "host:pid:tid [gpu] ", without a GPU too */
static bool take_process(struct line *line, struct span *s)
{
	struct span rest = *s, host = { s->p, count_host(*s) };
	int64_t pid, tid, gpu = LINE_NONE;

	if (!host.n)
		return false;
	skip(&rest, host.n);
	if (!cut_char(&rest, ':') || !cut_number(&rest, &pid) || !cut_char(&rest, ':') ||
	    !cut_number(&rest, &tid) || !cut_char(&rest, ' '))
		return false;
	if (cut_char(&rest, '[') && (!cut_number(&rest, &gpu) || !cut_char(&rest, ']')))
		return false;
	set_host(line, host);
	line->pid = pid;
	line->gpu = gpu;
	*s = rest;
	return true;
}

static bool is_address(struct span s)
{
	size_t dots = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '.' && !isdigit((unsigned char)s.p[i]))
			return false;
		dots += s.p[i] == '.';
	}
	return dots == 3 && s.n >= 7;
}

/* "192.0.2.1: " of tools that query many nodes; after a time of syslog "host program[1]: " and "host kernel: " */
static bool take_host(struct line *line, struct span *s)
{
	struct span rest = *s, host = { s->p, count_host(*s) };
	size_t end;

	if (!line->time.n && !isdigit((unsigned char)*s->p))
		return false;
	skip(&rest, host.n);
	if (is_address(host) && cut_text(&rest, ": ")) {
		set_host(line, host);
		*s = rest;
		return true;
	}
	if (!line->time.n || !host.n || line->host.n || !cut_char(&rest, ' '))
		return false;
	end = span_find(rest, ' ');
	if (end < 2 || end >= rest.n || rest.p[end - 1] != ':' ||
	    (rest.p[end - 2] != ']' && !span_starts(rest, "kernel:")))
		return false;
	set_host(line, host);
	skip(&rest, end + 1);
	*s = rest;
	return true;
}

/* ---- brackets ---- */

/* "rank3", "Rank 3", "default3", "PG ID 0 Rank 3" */
static bool take_rank(struct line *line, struct span inside)
{
	struct span rest = inside;
	const char *found = span_search(inside, "ank");
	int64_t rank;

	if (found) {
		rest = (struct span){ found + 3, (size_t)(inside.p + inside.n - found - 3) };
		skip_blanks(&rest);
	} else if (!cut_text(&rest, "default")) {
		return false;
	}
	if (!cut_number(&rest, &rank) || rest.n)
		return false;
	if (line->rank == LINE_NONE)
		line->rank = rank;
	return true;
}

/* "pod/NAME/CONTAINER" */
static bool take_pod(struct line *line, struct span inside)
{
	if (!cut_text(&inside, "pod/"))
		return false;
	inside.n = span_find(inside, '/');
	if (!line->pod.n)
		line->pod = inside;
	return true;
}

/* "host:pid" of Open MPI, "host:pid:n" of UCX */
static bool take_short_process(struct line *line, struct span inside)
{
	struct span host = { inside.p, count_host(inside) };
	int64_t pid, more;

	skip(&inside, host.n);
	if (!host.n || !cut_char(&inside, ':') || !cut_number(&inside, &pid))
		return false;
	if (inside.n && (!cut_char(&inside, ':') || !cut_number(&inside, &more) || inside.n))
		return false;
	set_host(line, host);
	line->pid = pid;
	return true;
}

/* "job,rank" of mpirun --tag-output */
static bool take_tag(struct line *line, struct span inside)
{
	int64_t job, rank;

	if (!cut_number(&inside, &job) || !cut_char(&inside, ',') || !cut_number(&inside, &rank) ||
	    inside.n)
		return false;
	if (line->rank == LINE_NONE)
		line->rank = rank;
	return true;
}

/* "  12.345678" of the kernel, "1668693130.449250" of UCX */
static bool take_seconds(struct line *line, struct span inside)
{
	struct span rest = inside;
	int64_t seconds, fraction;

	skip_blanks(&rest);
	inside = rest;
	if (!cut_number(&rest, &seconds) || !cut_char(&rest, '.') ||
	    !cut_number(&rest, &fraction) || rest.n)
		return false;
	set_time(line, inside, rest);
	return true;
}

static bool take_inside(struct line *line, struct span inside)
{
	struct span rest = inside;

	return take_rank(line, inside) || take_pod(line, inside) || take_tag(line, inside) ||
	       take_seconds(line, inside) || take_time(line, &rest) || take_glog(line, &rest) ||
	       take_short_process(line, inside);
}

/* "[...]", and its parts: "<stderr>" and a colon */
static bool take_bracket(struct line *line, struct span *s)
{
	size_t end = span_find(*s, ']');

	if (*s->p != '[' || end >= s->n || end > BRACKET_MAX ||
	    !take_inside(line, (struct span){ s->p + 1, end - 1 }))
		return false;
	skip(s, end + 1);
	if (!cut_text(s, "<stderr>"))
		cut_text(s, "<stdout>");
	cut_char(s, ':');
	return true;
}

/* By the first character of a prefix. */
static bool take_prefix(struct line *line, struct span *s, bool first)
{
	char c = *s->p;

	if (c == '[')
		return take_bracket(line, s);
	if (c == '(')
		return take_worker(line, s);
	if (isdigit((unsigned char)c) && ((first && take_task(line, s)) || take_time(line, s)))
		return true;
	if (isupper((unsigned char)c) && (take_time(line, s) || take_glog(line, s)))
		return true;
	return (c == 's' && take_cri(s)) || take_process(line, s) || take_host(line, s);
}

void line_parse(struct line *line, struct span text)
{
	*line = (struct line){
		.rank = LINE_NONE, .pid = LINE_NONE, .gpu = LINE_NONE, .task = LINE_NONE
	};
	skip_blanks(&text);
	for (int i = 0; i < PREFIXES_MAX && text.n; i++) {
		if (!take_prefix(line, &text, i == 0))
			break;
		skip_blanks(&text);
	}
	if (line->rank == LINE_NONE)
		line->rank = line->task;
	line->text = span_trim(text);
	set_host(line, line->pod);
}
