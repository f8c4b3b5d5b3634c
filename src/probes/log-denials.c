/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes/log-denials.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "probes/log-lines.h"
#include "probes/log-scan.h"

#define AUDIT "/var/log/audit/audit.log"
#define AUDIT_MAX \
	(16 << 20) /* bytes that are read, from its end; auditd's own limit is 8 MiB a file */

static struct fact_str value(struct arena *arena, struct span s)
{
	if (s.n > 256)
		s.n = utf8_cut(s.p, 256);
	return s.n ? fact_strn(arena, s.p, s.n) : FACT_NONE(fact_str);
}

static bool is_same(struct fact_str fact, struct span s)
{
	if (s.n > 256)
		s.n = utf8_cut(s.p, 256);
	return is_known(fact) ? span_is(s, fact.value) : !s.n;
}

static struct log_denial *find(struct log_denials *denials, const struct denial *d)
{
	for_each_mut(known, &denials->list)
		if (is_same(known->target, d->target) && is_same(known->action, d->action) &&
		    is_same(known->program, d->program) && is_same(known->domain, d->domain) &&
		    is_same(known->label, d->label))
			return known;
	return NULL;
}

void log_denials_add(struct log_denials *denials, struct span record, uint64_t since_s)
{
	struct arena *arena = denials->arena;
	struct log_denial *fact;
	struct denial d;

	if (!denial_parse(record, &d) || !denial_concerns_gpus(&d) ||
	    (d.time_s && d.time_s < since_s))
		return;
	if (record.n >= LOG_LINE_MAX)
		record.n = utf8_cut(record.p, LOG_LINE_MAX - 1);
	fact = find(denials, &d);
	if (!fact) {
		if (denials->list.count == LOG_DENIALS_MAX)
			return;
		fact = LIST_ADD(arena, &denials->list);
		*fact = (struct log_denial){
			.target = value(arena, d.target),
			.policy = fact_enum(d.apparmor ? POLICY_APPARMOR : POLICY_SELINUX),
			.action = value(arena, d.action),
			.program = value(arena, d.program),
			.domain = value(arena, d.domain),
			.label = value(arena, d.label),
			.class = value(arena, d.class),
			.record = fact_strn(arena, record.p, record.n),
		};
	}
	fact->count = fact_u64(is_known(fact->count) ? fact->count.value + 1 : 1);
}

/* ---- auditd's file ---- */

struct audit {
	struct log_denials denials;
	uint64_t boot_s;
};

static bool audit_line(void *user, struct span line)
{
	struct audit *audit = user;

	log_denials_add(&audit->denials, line, audit->boot_s);
	return true;
}

static int ask_audit(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct log_facts *answer = facts;
	struct audit audit = { .denials.arena = arena, .boot_s = *(const uint64_t *)user };
	_cleanup_close_ int fd = host_open(host, AUDIT);
	int rc;

	if (fd < 0)
		return fd;
	if (lseek(fd, 0, SEEK_END) > AUDIT_MAX)
		lseek(fd, -AUDIT_MAX, SEEK_END);
	else
		lseek(fd, 0, SEEK_SET);
	rc = lines_read(fd, audit_line, &audit);
	answer->denials = audit.denials.list;
	answer->denials.state = FACT_KNOWN;
	return rc;
}

void log_denials_read(struct host *host, struct log_facts *log, struct arena *arena,
		      const struct fact_u64 *boot)
{
	uint64_t boot_s = is_known(*boot) ? boot->value : 0;
	struct log_facts answer = { 0 };
	int rc = host_query(host, AUDIT, &log_facts_desc, &answer, arena, ask_audit, &boot_s);

	/* Without auditd the kernel log has them. */
	if (rc == -ENOENT)
		return;
	/* Nor is it known which records are of this boot without its time. */
	if (rc || !is_known(*boot))
		log->denials.state = FACT_UNKNOWN;
	else if (is_unknown(log->denials))
		log->denials = answer.denials;
	else
		for_each(denial, &answer.denials)
			*LIST_ADD(arena, &log->denials) = *denial;
}
