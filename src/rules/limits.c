/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - resource limits of what starts jobs. */
#include <inttypes.h>
#include <string.h>

#include "base/shell.h"
#include "base/span.h"
#include "evaluate/rule.h"
#include "evaluate/skip.h"
#include "parse/limits.h"
#include "query/endpoints.h"
#include "query/kind.h"
#include "query/login-session.h"

/* With this limit or less, too little memory can be registered; systemd's and Docker's defaults are lower. */
#define MEMLOCK_FAIL_BYTES (UINT64_C(64) << 20)
/* systemd-system.conf(5), DefaultLimitMEMLOCK= */
#define MEMLOCK_SYSTEMD_BYTES (UINT64_C(8) << 20)

/* The line that sets the limit of a launcher's unit: the last one that systemd does not ignore. */
static const struct limit_setting *find_setting(const struct node *node, const char *unit)
{
	const struct limit_setting *found = NULL;
	uint64_t soft, hard;

	for_each(s, &node->limits.settings) {
		if (str_is(s->item, "memlock") && str_is(s->scope, unit) &&
		    limits_of_unit(span_of(s->value.value), &soft, &hard))
			found = s;
	}
	return found;
}

/* What limits.conf gives a user whom no line names, in bytes: the last line of each kind counts, and the soft limit
 * is at most the hard one (Linux-PAM 1.5.2: pam_limits.c, process_limit() and setup_limits()). */
struct login_limit {
	uint64_t soft, asked;			       /* asked: without the hard limit */
	const struct limit_setting *soft_by, *hard_by; /* NULL: no line */
};

/* Without a line for it the hard limit stays that of sshd. */
static uint64_t sshd_hard(const struct node *node)
{
	for_each(p, &node->limits.launchers)
		if (str_is(p->name, "sshd") && is_known(p->memlock_hard_bytes))
			return p->memlock_hard_bytes.value;
	return FACT_UNLIMITED;
}

/* SOFT is the limit without limits.conf. */
static struct login_limit login_limit(const struct node *node, uint64_t soft)
{
	struct login_limit login = { .soft = soft };
	uint64_t hard = sshd_hard(node), kib;

	for_each(s, &node->limits.settings) {
		if (!str_is(s->item, "memlock") || !str_is(s->scope, "*") ||
		    !limits_amount(span_of(s->value.value), &kib))
			continue;
		if (kib >= FACT_UNLIMITED / 1024)
			kib = FACT_UNLIMITED;
		else
			kib *= 1024;
		if (!str_is(s->kind, "hard")) {
			login.soft = kib;
			login.soft_by = s;
		}
		if (!str_is(s->kind, "soft")) {
			hard = kib;
			login.hard_by = s;
		}
	}
	login.asked = login.soft;
	login.soft = login.asked < hard ? login.asked : hard;
	return login;
}

static const char *origin_text(struct rule_context *ctx, const struct process_limits *p)
{
	const struct limit_setting *own = NULL,
				   *users = login_limit(ctx->node, FACT_UNLIMITED).soft_by;

	if (p == &ctx->node->limits.self && is_known(ctx->node->os.container))
		return text_printf(ctx, " in this container (%s)", ctx->node->os.container.value);
	/* A login session: pam_limits and the shell have set it. */
	if (is_known(p->unit) && span_ends(span_of(p->unit.value), ".scope"))
		return "";
	if (is_known(p->unit))
		own = find_setting(ctx->node, p->unit.value);
	if (own)
		return text_printf(ctx, ", set in %s:%" PRIu64, own->file.value, own->line.value);
	if (!was_read(ctx->node->limits.settings))
		return "";
	if (is_known(p->unit) && users)
		return text_printf(ctx,
				   "; %s has no LimitMEMLOCK=, and %s does not apply to services",
				   p->unit.value, users->file.value);
	if (is_known(p->unit))
		return text_printf(ctx, "; %s has no LimitMEMLOCK=", p->unit.value);
	return "";
}

/* Daemons whose limit jobs inherit. sshd's children get theirs from PAM, and the kubelet's from the container
 * runtime. */
static bool passes_limit(const struct process_limits *p)
{
	return !str_is(p->name, "sshd") && !str_is(p->name, "kubelet");
}

/* Returns true if pam_limits raises the limit of login sessions. */
static const struct limit_setting *pam_raises(const struct node *node)
{
	struct login_limit login = login_limit(node, 0);

	return login.soft == FACT_UNLIMITED ? login.soft_by : NULL;
}

static const char *pam_text(const struct login_limit *login, uint64_t own)
{
	if (login->asked > login->soft)
		return login->hard_by ? "has a lower hard limit"
				      : "raises the soft limit and not the hard one";
	return login->soft == own ? "does not raise it" : "says so";
}

/* With a scheduler, jobs do not come from login sessions. */
static bool has_scheduler(const struct node *node)
{
	for_each(p, &node->limits.launchers)
		if (passes_limit(p))
			return true;
	return false;
}

/* ---- are sessions of sshd under pam_limits at all? ---- */

/* The reason why sshd's sessions do not get the limits of limits.conf, as far as the files show it. TEXT NULL: none. */
struct login_gap {
	const char *text, *remedy, *fact;
};

static struct login_gap login_gap(const struct node *node)
{
	if (known_is(node->limits.logins.ssh_uses_pam, false))
		return (struct login_gap){ "sshd_config has UsePAM no",
					   "Set UsePAM yes in sshd_config, and reload sshd.",
					   "limits.logins.ssh_uses_pam" };
	if (known_is(node->limits.logins.ssh_has_limits, false))
		return (struct login_gap){
			"no file of sshd in /etc/pam.d has pam_limits.so",
			"Add \"session required pam_limits.so\" to /etc/pam.d/sshd.",
			"limits.logins.ssh_has_limits"
		};
	return (struct login_gap){ 0 };
}

/* ---- a session that shows whether limits.conf is in effect ---- */

/* Lines for "*" do not reach root (limits.conf(5)), so that root's session shows nothing. */
static bool is_root_login(const struct env_facts *env)
{
	return known_is(env->login_uid, 0) ||
	       (!is_known(env->login_uid) && !known_not(env->uid, 0));
}

/* Returns true in a login session that has less than limits.conf allows. */
static bool contradicts(const struct node *node)
{
	const struct process_limits *self = &node->limits.self;

	return is_login_session(self) && !is_known(node->os.container) && pam_raises(node) &&
	       known_not(self->memlock_soft_bytes, FACT_UNLIMITED);
}

static void check_session(struct rule_context *ctx)
{
	static const char fact[] = "limits.self.memlock_soft_bytes";
	const struct node *node = ctx->node;
	const struct limit_setting *raised = pam_raises(node);
	struct login_gap gap = login_gap(node);
	uint64_t limit = node->limits.self.memlock_soft_bytes.value;
	const char *setting;

	if (!contradicts(node))
		return;
	setting = ITEM_FACT(ctx->arena, node, limits.settings, raised, value);
	if (is_root_login(&node->env))
		NOTE(ctx, .subject = node->limits.self.unit.value,
		     .observed = text_printf(
			     ctx, "root's session has %s: a line for * in %s does not reach root",
			     format_bytes(ctx->arena, limit), raised->file.value),
		     .remedy = "For jobs of root add a line with root in the place of *.",
		     .evidence = { fact, setting });
	else
		FAIL_AS(ctx, limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = node->limits.self.unit.value,
			.observed = text_printf(ctx,
						"this login session has %s; %s:%" PRIu64
						" says %s and is not in effect%s%s",
						format_bytes(ctx->arena, limit), raised->file.value,
						raised->line.value, raised->value.value,
						gap.text ? ": " : "", gap.text ? gap.text : ""),
			.expected = "the limit in limits.conf",
			.remedy =
				gap.remedy
					? gap.remedy
					: "Log in again if the file was changed since. Else enable pam_limits: \"session required "
					  "pam_limits.so\" in the service's file in /etc/pam.d, and UsePAM yes in sshd_config. "
					  "Check that no later line in limits.d has another value.",
			.activation = ACTIVATION_NEW_JOBS, .has_fix = true,
			.evidence = { fact, setting, gap.fact });
}

/* limits.conf raises the limit, and sshd does not look at it. A scheduler's jobs do not come from logins. */
static void fail_login_gap(struct rule_context *ctx, const struct process_limits *p,
			   const struct limit_setting *raised, const struct login_gap *gap,
			   uint64_t limit)
{
	bool grave = limit <= MEMLOCK_FAIL_BYTES && !has_scheduler(ctx->node);

	FAIL_AS(ctx, grave ? SEVERITY_ERR : SEVERITY_WARN, .subject = p->name.value,
		.observed = text_printf(
			ctx, "login sessions can lock %s; %s:%" PRIu64 " is not in effect: %s",
			format_bytes(ctx->arena, limit), raised->file.value, raised->line.value,
			gap->text),
		.expected = "the limit in limits.conf", .remedy = gap->remedy,
		.activation = ACTIVATION_NEW_JOBS, .has_fix = true,
		.evidence = { gap->fact,
			      ITEM_FACT(ctx->arena, ctx->node, limits.settings, raised, value) });
}

/* Users do not log in to a worker of Kubernetes to start jobs. */
static bool runs_pods_alone(const struct node *node)
{
	return node_is(node, KIND_KUBERNETES) && !node_may_be(node, KIND_SLURM);
}

static void check_login(struct rule_context *ctx, const struct process_limits *p, const char *fact,
			uint64_t limit)
{
	const struct limit_setting *raised = pam_raises(ctx->node);
	struct login_limit login = login_limit(ctx->node, limit);
	struct login_gap gap = login_gap(ctx->node);
	uint64_t own = limit;
	/* systemd's default for every service says nothing about logins. */
	bool usual = limit == MEMLOCK_SYSTEMD_BYTES && has_scheduler(ctx->node);
	enum severity severity;

	limit = login.soft;
	severity = usual && limit == own	 ? SEVERITY_INFO
		   : limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR
						 : SEVERITY_WARN;

	if (raised && contradicts(ctx->node) && !is_root_login(&ctx->node->env))
		return; /* check_session() reports it */
	if (runs_pods_alone(ctx->node))
		NOTE(ctx, .subject = p->name.value,
		     .observed =
			     text_printf(ctx,
					 "login sessions can lock %s; jobs of this node are pods, "
					 "which do not get that limit",
					 format_bytes(ctx->arena, raised ? own : limit)),
		     .evidence = { fact, "kinds[kubernetes].is" });
	else if (raised && gap.text)
		fail_login_gap(ctx, p, raised, &gap, own);
	else if (raised)
		PASS(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx, "%s; %s:%" PRIu64 " raises it for login sessions",
					     format_bytes(ctx->arena, own), raised->file.value,
					     raised->line.value),
		     .evidence = { fact, ITEM_FACT(ctx->arena, ctx->node, limits.settings, raised,
						   value) });
	else if (!was_read(ctx->node->limits.settings))
		UNKNOWN(ctx, .subject = p->name.value, .evidence = { "limits.settings", fact });
	else
		FAIL_AS(ctx, severity, .subject = p->name.value,
			.observed = text_printf(ctx, "login sessions can lock %s; limits.conf %s",
						format_bytes(ctx->arena, limit),
						pam_text(&login, own)),
			.expected = "unlimited", .evidence = { fact, "limits.settings" });
}

/* ---- processes that the limit does not apply to ---- */

#define CAP_IPC_LOCK_BIT 14 /* include/uapi/linux/capability.h */

/* A process with CAP_IPC_LOCK is not limited (Linux: drivers/infiniband/core/umem.c, ib_umem_get()). True where that
 * answers for the job's process, or is not known. */
static bool check_capability(struct rule_context *ctx, const struct process_limits *p,
			     const char *fact)
{
	static const char capabilities[] = "env.capabilities",
			  namespace[] = "env.initial_user_namespace";
	const struct env_facts *env = &ctx->node->env;

	if (known_is(env->initial_user_namespace, false) ||
	    (is_known(env->capabilities) && !(env->capabilities.value >> CAP_IPC_LOCK_BIT & 1)))
		return false;
	if (is_known(env->capabilities) && is_known(env->initial_user_namespace))
		PASS(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx,
					     "%s; it has CAP_IPC_LOCK, so the limit does not apply",
					     format_bytes(ctx->arena, p->memlock_soft_bytes.value)),
		     .evidence = { fact, capabilities, namespace });
	else
		UNKNOWN(ctx, .subject = p->name.value,
			.observed =
				text_printf(ctx, "%s; whether it has CAP_IPC_LOCK is not known",
					    format_bytes(ctx->arena, p->memlock_soft_bytes.value)),
			.evidence = { is_known(env->capabilities) ? namespace : capabilities,
				      fact });
	return true;
}

static const struct process_limits *launcher(const struct node *node, const char *name)
{
	for_each(p, &node->limits.launchers)
		if (str_is(p->name, name))
			return p;
	return NULL;
}

/* Docker's containers get default-ulimits of daemon.json, else containerd's own limit, which its shims have. With a
 * kubelet, containerd starts other containers too. */
static bool starts_for_docker(const struct node *node, const struct process_limits *p)
{
	if (str_is(p->name, "dockerd"))
		return true;
	return (str_is(p->name, "containerd") || str_is(p->name, "containerd-shim")) &&
	       launcher(node, "dockerd") && !launcher(node, "kubelet");
}

static const struct limit_setting *docker_gives(const struct node *node)
{
	const struct limit_setting *found = NULL;

	for_each(s, &node->limits.settings)
		if (str_is(s->scope, "docker") && str_is(s->item, "memlock") &&
		    str_is(s->kind, "soft"))
			found = s;
	return found;
}

/* True where Docker's configuration answers for P, or is not known. */
static bool check_docker(struct rule_context *ctx, const struct process_limits *p, const char *fact)
{
	const struct limit_setting *given = docker_gives(ctx->node);
	const char *setting;
	uint64_t bytes;

	if (!starts_for_docker(ctx->node, p))
		return false;
	if (!was_read(ctx->node->limits.settings)) {
		UNKNOWN(ctx, .subject = p->name.value, .evidence = { "limits.settings", fact });
		return true;
	}
	if (!given)
		return false;
	setting = ITEM_FACT(ctx->arena, ctx->node, limits.settings, given, value);
	if (span_u64(span_of(given->value.value), 10, &bytes))
		PASS(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx, "%s gives containers no limit",
					     given->file.value),
		     .evidence = { setting, fact });
	else
		FAIL_AS(ctx, bytes <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = p->name.value,
			.observed = text_printf(ctx, "default-ulimits in %s gives containers %s",
						given->file.value, format_bytes(ctx->arena, bytes)),
			.expected = "memlock -1 in default-ulimits",
			.remedy =
				"Start containers with --ulimit memlock=-1. Or set \"Soft\" and \"Hard\" of memlock in "
				"default-ulimits to -1, and restart Docker while no container runs: that stops "
				"them, unless live-restore is on.",
			.evidence = { setting, fact });
	return true;
}

/* The unit's files give more than the process has: it was started before they were written. */
static const struct limit_setting *unread_setting(const struct node *node,
						  const struct process_limits *p)
{
	const struct limit_setting *s = is_known(p->unit) ? find_setting(node, p->unit.value)
							  : NULL;
	uint64_t soft, hard;

	if (!s || !limits_of_unit(span_of(s->value.value), &soft, &hard) ||
	    soft <= p->memlock_soft_bytes.value || soft <= MEMLOCK_FAIL_BYTES)
		return NULL;
	return s;
}

static void fail_unread(struct rule_context *ctx, const struct process_limits *p,
			const struct limit_setting *s, const char *fact)
{
	FAIL_AS(ctx,
		p->memlock_soft_bytes.value <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
		.subject = p->name.value,
		.observed = text_printf(ctx,
					"the running %s has %s; %s:%" PRIu64
					" says %s, which counts from its next start",
					p->name.value,
					format_bytes(ctx->arena, p->memlock_soft_bytes.value),
					s->file.value, s->line.value, s->value.value),
		.expected = "unlimited",
		.remedy = text_printf(ctx, "Restart %s. Running jobs keep the old limit.",
				      p->unit.value),
		.command = shell_printf(ctx->arena,
					"sudo systemctl daemon-reload\nsudo systemctl restart %s",
					p->unit.value),
		.activation = ACTIVATION_NONE, .is_unit_restart = true,
		/* The plan says itself what its own drop-in waits for. */
		.has_fix = !strstr(s->file.value, "/zz-nvnodecheck.conf"),
		.evidence = { fact, ITEM_FACT(ctx->arena, ctx->node, limits.settings, s, value) });
}

/* Returns how to raise the limit of this launcher. */
static const char *remedy_memlock(struct rule_context *ctx, const struct process_limits *p,
				  bool own)
{
	if (own && node_is(ctx->node, KIND_POD))
		return "Give the pod's container the capability IPC_LOCK.";
	if (own && is_known(ctx->node->os.container))
		return "Start the container with --ulimit memlock=-1.";
	if (own)
		return NULL;
	if (is_known(p->unit))
		return text_printf(
			ctx,
			"Set LimitMEMLOCK=infinity in a drop-in of %s, then restart it. Jobs "
			"that run keep the old limit.",
			p->unit.value);
	return text_printf(ctx, "Raise the limit where %s is started, then restart it.",
			   p->name.value);
}

static void check_process(struct rule_context *ctx, const struct process_limits *p,
			  const char *path)
{
	const char *fact = text_printf(ctx, "%s.memlock_soft_bytes", path);
	bool job = p == &ctx->node->limits.self &&
		   (is_known(ctx->node->env.pid) || is_known(ctx->node->os.container));
	uint64_t limit;

	if (!is_known(p->memlock_soft_bytes)) {
		UNKNOWN(ctx, .subject = p->name.value, .evidence = { fact });
		return;
	}
	limit = p->memlock_soft_bytes.value;
	if (check_docker(ctx, p, fact) ||
	    (job && limit != FACT_UNLIMITED && check_capability(ctx, p, fact)))
		return;
	if (limit == FACT_UNLIMITED)
		PASS(ctx, .subject = p->name.value, .evidence = { fact });
	else if (str_is(p->name, "sshd"))
		check_login(ctx, p, fact, limit);
	else if (unread_setting(ctx->node, p))
		fail_unread(ctx, p, unread_setting(ctx->node, p), fact);
	else
		FAIL_AS(ctx, limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = p->name.value,
			.observed = text_printf(ctx, "%s%s", format_bytes(ctx->arena, limit),
						origin_text(ctx, p)),
			.expected = "unlimited",
			.remedy = remedy_memlock(ctx, p, p == &ctx->node->limits.self),
			.activation = p == &ctx->node->limits.self &&
						      is_known(ctx->node->os.container)
					      ? ACTIVATION_RECREATE
					      : ACTIVATION_NONE,
			.evidence = { fact });
}

/* A service of the site can be a scheduler, or run RDMA itself, and its file does not say so. */
static void note_daemons(struct rule_context *ctx)
{
	for_each(p, &ctx->node->limits.daemons)
		if (is_known(p->memlock_soft_bytes) &&
		    p->memlock_soft_bytes.value <= MEMLOCK_FAIL_BYTES)
			NOTE(ctx, .subject = p->name.value,
			     .observed = text_printf(
				     ctx, "%s%s: if it starts jobs or uses RDMA itself, they fail",
				     format_bytes(ctx->arena, p->memlock_soft_bytes.value),
				     origin_text(ctx, p)),
			     .remedy = remedy_memlock(ctx, p, false),
			     .evidence = { text_printf(ctx, "limits.daemons[%s].memlock_soft_bytes",
						       p->name.value) });
}

static void check_memlock(struct rule_context *ctx)
{
	const struct limits_facts *limits = &ctx->node->limits;
	bool jobs = is_known(ctx->node->env.pid) || is_known(ctx->node->os.container);

	if (was_read(ctx->node->rdma.devices) && ctx->node->rdma.devices.count == 0) {
		NOT_APPLICABLE(ctx, .observed = "no RDMA device", .evidence = { "rdma.devices" });
		return;
	}
	if (skip_without_rdma_programs(ctx))
		return;
	if (!was_read(limits->launchers) && !is_known(limits->self.memlock_soft_bytes)) {
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
		return;
	}
	if (!was_read(ctx->node->rdma.devices)) {
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
		return;
	}
	check_session(ctx);
	note_daemons(ctx);
	for_each(p, &limits->launchers)
		if (!str_is(p->name, "kubelet"))
			check_process(ctx, p,
				      text_printf(ctx, "limits.launchers[%s]", p->name.value));
	/* This program's shell is not a job, unless a job's process was named. In a container it has the container's
	 * limit. */
	if (!was_read(limits->launchers) && !jobs)
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
	else if ((jobs || limits->launchers.count == 0) &&
		 !(contradicts(ctx->node) && !is_root_login(&ctx->node->env)))
		check_process(ctx, &limits->self, "limits.self");
}

/* ---- limits/nofile ---- */

/* A job of some thousand ranks has as many sockets and pipes; systemd's default is 1024. No source gives a
 * number. */
#define NOFILE_WANTED 65536

/* NCCL raises the soft limit to the hard one by itself, and so can a job. RHEL's hard limit was 4096 up to release
 * 7. */
#define NOFILE_HARD_FAIL 4096

static void fail_files(struct rule_context *ctx, const struct process_limits *p,
		       const char *subject, const char *path)
{
	FAIL_AS(ctx, SEVERITY_WARN, .subject = subject,
		.observed = text_printf(
			ctx, "%smay have %" PRIu64 " open files, and %" PRIu64 " at most",
			subject ? "" : "a process of this container ", p->nofile_soft.value,
			p->nofile_hard.value),
		.expected = "a hard limit of 65536 or more",
		.evidence = { text_printf(ctx, "%s.nofile_hard", path),
			      text_printf(ctx, "%s.nofile_soft", path) });
}

/* SUBJECT: NULL for what starts beside this process in its container. */
static void check_files_of(struct rule_context *ctx, const struct process_limits *p,
			   const char *subject, const char *path)
{
	const char *fact = text_printf(ctx, "%s.nofile_soft", path);

	if (!is_known(p->nofile_soft))
		UNKNOWN(ctx, .subject = subject, .evidence = { fact });
	else if (is_known(p->nofile_hard) && p->nofile_hard.value <= NOFILE_HARD_FAIL &&
		 ctx->endpoints->gpus.count > 1)
		fail_files(ctx, p, subject, path);
	else if (p->nofile_soft.value >= NOFILE_WANTED)
		PASS(ctx, .subject = subject, .evidence = { fact });
	else
		NOTE(ctx, .subject = subject,
		     .observed = text_printf(ctx, "%smay have %" PRIu64 " open files",
					     subject ? "" : "a process of this container ",
					     p->nofile_soft.value),
		     .evidence = { fact });
}

static void check_nofile(struct rule_context *ctx)
{
	const struct limits_facts *limits = &ctx->node->limits;
	size_t before = ctx->findings->count;

	if (!was_read(limits->launchers) && !is_known(limits->self.nofile_soft)) {
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
		return;
	}
	for_each(p, &limits->launchers)
		if (passes_limit(p))
			check_files_of(ctx, p, p->name.value,
				       text_printf(ctx, "limits.launchers[%s]", p->name.value));
	if (is_known(ctx->node->env.pid))
		check_files_of(ctx, &limits->self, limits->self.name.value, "limits.self");
	/* What starts in a container has the limits of its first process, as this one has. */
	else if (is_known(ctx->node->os.container))
		check_files_of(ctx, &limits->self, NULL, "limits.self");
	if (ctx->findings->count == before && !was_read(limits->launchers))
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
	else if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no job launcher runs here",
			       .evidence = { "limits.launchers" });
}

/* ---- limits/shm-too-small ---- */

/* Docker's default; NCCL's documentation asks for --shm-size=1g. */
#define SHM_FAIL_BYTES (UINT64_C(64) << 20)
#define SHM_WANTED_BYTES (UINT64_C(1) << 30)

/* Returns the remedy for this container's engine, or for the host. */
static const char *remedy_shm(const struct node *node)
{
	if (!is_known(node->os.container))
		return "Enlarge /dev/shm, and set the same size in /etc/fstab.";
	if (str_is(node->os.container, "kubernetes"))
		return "Mount an emptyDir with medium: Memory on the pod's /dev/shm.";
	return "Start the container with --shm-size=1g or --ipc=host.";
}

static enum activation activation_shm(const struct node *node)
{
	return is_known(node->os.container) ? ACTIVATION_RECREATE : ACTIVATION_NOW;
}

static void check_shm(struct rule_context *ctx)
{
	struct fact_u64 bytes = ctx->node->limits.shm_bytes;

	if (is_absent(bytes))
		FAIL(ctx, .observed = "/dev/shm does not exist", .expected = "1 GiB or more",
		     .remedy = remedy_shm(ctx->node), .activation = activation_shm(ctx->node),
		     .evidence = { "limits.shm_bytes" });
	else if (!is_known(bytes))
		UNKNOWN(ctx, .evidence = { "limits.shm_bytes" });
	else if (bytes.value < SHM_WANTED_BYTES)
		FAIL_AS(ctx, bytes.value <= SHM_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.observed = format_bytes(ctx->arena, bytes.value),
			.expected = "1 GiB or more", .remedy = remedy_shm(ctx->node),
			.command = is_known(ctx->node->os.container)
					   ? NULL
					   : "sudo mount -o remount,size=50% /dev/shm",
			.activation = activation_shm(ctx->node),
			.evidence = { "limits.shm_bytes" });
	else
		PASS(ctx, .observed = format_bytes(ctx->arena, bytes.value),
		     .evidence = { "limits.shm_bytes" });
}

static const struct rule limits_rules[] = {
	{
		.id = "limits/memlock",
		.title = "RDMA fails: the locked-memory limit is too low",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_memlock,
		.impact =
			"Memory cannot be registered: ibv_reg_mr \"Cannot allocate memory\". NCCL and MPI do not start.",
		.remedy =
			"Raise the limit to unlimited where jobs are started: LimitMEMLOCK=infinity in a drop-in of the "
			"launcher's unit, then restart it.",
		.fix = { "raise-limit", { "memlock" } },
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"/proc/PID/limits of the launchers that run (slurmd, containerd, dockerd, kubelet, sshd, ...) and "
			"of --pid; unit files, drop-ins, limits.conf, and default-ulimits in /etc/docker/daemon.json; the "
			"capabilities of a job's process; the limit of this login session; UsePAM in sshd_config, and whether "
			"the files of sshd in /etc/pam.d have pam_limits.",
		.why = "Jobs inherit the limit from the daemon that starts them. In a container this process's own limit is "
		       "the container's. Services do not read limits.conf, so an entry there changes nothing for slurmd. "
		       "A login session with less than limits.conf says can show that the file is not in effect. Docker's "
		       "default-ulimits replace the daemon's own limit. The limit does not apply to a process with "
		       "CAP_IPC_LOCK in the initial user namespace.",
		.check = "grep -i 'locked memory' /proc/$(pgrep -o slurmd)/limits",
		.cost = "Users can then lock all memory.",
		.is_risk = true,
		.sources =
			"Linux 6.1.192: drivers/infiniband/core/umem.c, ib_umem_get()\n"
			"NCCL 2.30.7: docs/userguide/source/troubleshooting\n"
			"systemd.exec(5) of systemd 252: LimitMEMLOCK=\nlimits.conf(5); dockerd(8), default-ulimits\n"
			"OpenSSH 8.8: sshd_config.5, UsePAM, Include",
	},
	{
		.id = "limits/nofile",
		.title = "Large jobs may fail to connect: the job launcher allows few open files",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_nofile,
		.impact = "Large jobs can fail with \"Too many open files\" when they connect.",
		.remedy =
			"Set LimitNOFILE=1048576 in a drop-in of the launcher's unit, then restart it. In Docker: --ulimit "
			"nofile=1048576.",
		.fix = { "raise-limit", { "nofile" } },
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "/proc/PID/limits of the launchers that run and of --pid.",
		.why = "NCCL and MPI hold sockets for each peer, data loaders files and pipes for each worker. The number "
		       "depends on the size of the job. No source gives one, so less than 65536 is a note. Programs can "
		       "raise the soft limit to the hard limit themselves, as NCCL does. A hard limit of 4096 or less on a "
		       "node with several GPUs is a warning.",
		.check = "grep 'open files' /proc/$(pgrep -o slurmd)/limits",
		.sources = "systemd.exec(5) of systemd 252: LimitNOFILE=\nsetrlimit(2)\n"
			   "NCCL 2.30.7: src/bootstrap.cc, setFilesLimit()",
	},
	{
		.id = "limits/shm-too-small",
		.title = "NCCL and data loaders can fail: /dev/shm is too small",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_shm,
		.impact =
			"NCCL that uses /dev/shm does not start within the node (\"failed to extend /dev/shm/nccl-...\", \"unhandled system "
			"error\"). PyTorch data loaders end with a bus error.",
		.remedy =
			"Docker: --shm-size=1g or --ipc=host. Kubernetes: an emptyDir with medium: Memory on /dev/shm. Host: "
			"mount -o remount,size=50% /dev/shm, and the same size in /etc/fstab.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"The size of the file system at /dev/shm; in a copy size= in its mount table.",
		.why = "Ranks of one node exchange data through files there. NCCL from 2.24 on uses CUDA's host memory instead where "
		       "driver (CUDA 12.6) and NUMA allow it, which Docker does not without --cap-add SYS_NICE. 64 MiB, "
		       "Docker's default, is an error. NCCL's documentation asks for 1 GiB. The host's size says nothing "
		       "about a container's: run this program in the container.",
		.check = "df -h /dev/shm",
		.sources =
			"NCCL 2.30.7: docs/userguide/source/troubleshooting/runtime_and_mpi_issues.rst; src/os/linux.cc\n"
			"tmpfs(5); docker-run(1), --shm-size",
	},
};

RULE_TABLE(limits);
