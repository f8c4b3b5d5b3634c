/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - resource limits of what starts jobs. */
#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "evaluate/rule.h"

/* At or under this nothing of use can be registered; it is also Docker's and systemd's default. */
#define MEMLOCK_FAIL_BYTES (UINT64_C(64) << 20)
/* systemd-system.conf(5), DefaultLimitMEMLOCK= */
#define MEMLOCK_SYSTEMD_BYTES (UINT64_C(8) << 20)

/* The last line that sets the limit of a launcher's unit, or of users in limits.conf. A hard limit there gives
 * nothing: it bounds what a soft one may. */
static const struct limit_setting *who_sets(const struct node *node, const char *unit)
{
	const struct limit_setting *found = NULL;

	for_each(s, &node->limits.settings) {
		if (!str_is(s->item, "memlock") || (!unit && str_is(s->kind, "hard")))
			continue;
		if (unit ? str_is(s->scope, unit) : str_is(s->scope, "*"))
			found = s;
	}
	return found;
}

static const char *say_layer(struct rule_context *ctx, const struct process_limits *p)
{
	const struct limit_setting *own = NULL, *users = who_sets(ctx->node, NULL);

	if (p == &ctx->node->limits.self && is_known(ctx->node->os.container))
		return text_printf(ctx, "; the container (%s) was given no more",
				   ctx->node->os.container.value);
	/* A login's session: pam_limits and the shell have set it. */
	if (is_known(p->unit) && span_ends(span_of(p->unit.value), ".scope"))
		return "";
	if (is_known(p->unit))
		own = who_sets(ctx->node, p->unit.value);
	if (own)
		return text_printf(ctx, "; %s:%" PRIu64 " sets it", own->file.value,
				   own->line.value);
	if (!was_read(ctx->node->limits.settings))
		return "";
	if (is_known(p->unit) && users)
		return text_printf(
			ctx,
			"; systemd's default, since %s has no LimitMEMLOCK= (%s does not reach "
			"services)",
			p->unit.value, users->file.value);
	if (is_known(p->unit))
		return text_printf(
			ctx, "; systemd's default, since %s has no LimitMEMLOCK=", p->unit.value);
	return "";
}

/* What hands its limit on to jobs. sshd's children take theirs from PAM, and container runtimes set
 * one for each container. */
static bool hands_on(const struct process_limits *p)
{
	return !str_is(p->name, "sshd") && !str_is(p->name, "kubelet");
}

/* Does pam_limits raise the limit of those who log in? */
static const struct limit_setting *pam_raises(const struct node *node)
{
	const struct limit_setting *users = who_sets(node, NULL);
	static const char *const words[] = { "unlimited", "infinity", "-1" };

	for (size_t i = 0; users && i < sizeof(words) / sizeof(words[0]); i++)
		if (str_is(users->value, words[i]))
			return users;
	return NULL;
}

/* What limits.conf gives who logs in instead of LIMIT: its numbers are KiB. */
static uint64_t after_login(const struct node *node, uint64_t limit)
{
	const struct limit_setting *users = who_sets(node, NULL);
	uint64_t kib;

	if (!users || span_u64(span_of(users->value.value), 10, &kib) || kib > UINT64_MAX / 1024)
		return limit;
	return kib * 1024;
}

/* Jobs come from the scheduler where there is one: what a login gets matters less then. */
static bool has_scheduler(const struct node *node)
{
	for_each(p, &node->limits.launchers)
		if (hands_on(p))
			return true;
	return false;
}

/* ---- a session that shows what limits.conf does ---- */

static bool is_session(const struct process_limits *p)
{
	return is_known(p->unit) && str_starts(p->unit, "session-") &&
	       span_ends(span_of(p->unit.value), ".scope");
}

/* Lines for "*" do not reach root (limits.conf(5)), so that root's session shows nothing. */
static bool is_root_login(const struct env_facts *env)
{
	return known_is(env->login_uid, 0) ||
	       (!is_known(env->login_uid) && !known_not(env->uid, 0));
}

/* Whoever asks has logged in, and has less than limits.conf gives who logs in. */
static bool contradicts(const struct node *node)
{
	const struct process_limits *self = &node->limits.self;

	return is_session(self) && !is_known(node->os.container) && pam_raises(node) &&
	       known_not(self->memlock_soft_bytes, FACT_UNLIMITED);
}

static void check_session(struct rule_context *ctx)
{
	static const char fact[] = "limits.self.memlock_soft_bytes";
	const struct node *node = ctx->node;
	const struct limit_setting *raised = pam_raises(node);
	uint64_t limit = node->limits.self.memlock_soft_bytes.value;
	const char *setting;

	if (!contradicts(node))
		return;
	setting = text_printf(ctx, "limits.settings[#%zu].value",
			      (size_t)(raised - node->limits.settings.items));
	if (is_root_login(&node->env))
		NOTE(ctx, .subject = node->limits.self.unit.value,
		     .observed = text_printf(
			     ctx, "root's session has %s: a line for * in %s does not reach root",
			     format_bytes(ctx->arena, limit), raised->file.value),
		     .evidence = { fact, setting });
	else
		FAIL_AS(ctx, limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = node->limits.self.unit.value,
			.observed = text_printf(ctx,
						"this login has %s, although %s:%" PRIu64
						" says %s: the file is not in effect",
						format_bytes(ctx->arena, limit), raised->file.value,
						raised->line.value, raised->value.value),
			.expected = "what limits.conf says",
			.remedy =
				"Log in anew, if the file was changed since. Else have pam_limits called: session "
				"required pam_limits.so in the service's file in /etc/pam.d, UsePAM yes in "
				"sshd_config, and no later line of limits.d that says otherwise.",
			.activation = ACTIVATION_NEW_JOBS, .has_fix = true,
			.evidence = { fact, setting });
}

static void check_login(struct rule_context *ctx, const struct process_limits *p, const char *fact,
			uint64_t limit)
{
	const struct limit_setting *raised = pam_raises(ctx->node);
	uint64_t own = limit;
	/* What systemd gives every service is no sign that somebody meant logins to have it. */
	bool usual = limit == MEMLOCK_SYSTEMD_BYTES && has_scheduler(ctx->node);
	enum severity severity;

	limit = after_login(ctx->node, limit);
	severity = usual && limit == own	 ? SEVERITY_INFO
		   : limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR
						 : SEVERITY_WARN;

	if (raised && contradicts(ctx->node) && !is_root_login(&ctx->node->env))
		return; /* check_session() has said so */
	if (raised)
		PASS(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx,
					     "%s, and %s:%" PRIu64 " raises it for who logs in",
					     format_bytes(ctx->arena, limit), raised->file.value,
					     raised->line.value),
		     .evidence = { fact, text_printf(ctx, "limits.settings[#%zu].value",
						     (size_t)(raised -
							      ctx->node->limits.settings.items)) });
	else if (!was_read(ctx->node->limits.settings))
		UNKNOWN(ctx, .subject = p->name.value, .evidence = { "limits.settings", fact });
	else
		FAIL_AS(ctx, severity, .subject = p->name.value,
			.observed = text_printf(ctx, "%s for who logs in, and limits.conf %s",
						format_bytes(ctx->arena, limit),
						limit == own ? "does not raise it" : "says so"),
			.expected = "unlimited, where jobs are started over ssh",
			.evidence = { fact, "limits.settings" });
}

/* ---- what the limit does not bind ---- */

#define CAP_IPC_LOCK_BIT 14 /* include/uapi/linux/capability.h */

/* Whoever has CAP_IPC_LOCK registers as much as they like (Linux: drivers/infiniband/core/umem.c). True where
 * that answers for the job's process, or cannot be told. */
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
		     .observed = text_printf(ctx, "%s, which does not bind it: it has CAP_IPC_LOCK",
					     format_bytes(ctx->arena, p->memlock_soft_bytes.value)),
		     .evidence = { fact, capabilities, namespace });
	else
		UNKNOWN(ctx, .subject = p->name.value,
			.observed =
				text_printf(ctx, "%s, and whether it has CAP_IPC_LOCK was not read",
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

/* Docker gives its containers what default-ulimits of daemon.json says, else containerd's own limit, which is
 * that of its shims. With a kubelet containerd has other masters too. */
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

/* True where Docker's configuration answers for P, or cannot be told. */
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
	setting = text_printf(ctx, "limits.settings[#%zu].value",
			      (size_t)(given - ctx->node->limits.settings.items));
	if (span_u64(span_of(given->value.value), 10, &bytes))
		PASS(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx, "%s gives containers all", given->file.value),
		     .evidence = { setting, fact });
	else
		FAIL_AS(ctx, bytes <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = p->name.value,
			.observed = text_printf(ctx, "default-ulimits in %s gives containers %s",
						given->file.value, format_bytes(ctx->arena, bytes)),
			.expected = "memlock -1 in default-ulimits",
			.remedy =
				"Set \"Soft\" and \"Hard\" of memlock in default-ulimits to -1, and restart "
				"docker; or start containers with --ulimit memlock=-1 or --cap-add=IPC_LOCK.",
			.evidence = { setting, fact });
	return true;
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
	else
		FAIL_AS(ctx, limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = p->name.value,
			.observed = text_printf(ctx, "%s%s", format_bytes(ctx->arena, limit),
						say_layer(ctx, p)),
			.expected = "unlimited", .evidence = { fact });
}

static void check_memlock(struct rule_context *ctx)
{
	const struct limits_facts *limits = &ctx->node->limits;
	bool jobs = is_known(ctx->node->env.pid) || is_known(ctx->node->os.container);

	if (was_read(ctx->node->rdma.devices) && ctx->node->rdma.devices.count == 0) {
		NOT_APPLICABLE(ctx, .observed = "no RDMA device", .evidence = { "rdma.devices" });
		return;
	}
	if (!was_read(limits->launchers) && !is_known(limits->self.memlock_soft_bytes)) {
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
		return;
	}
	if (!was_read(ctx->node->rdma.devices)) {
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
		return;
	}
	check_session(ctx);
	for_each(p, &limits->launchers)
		if (!str_is(p->name, "kubelet"))
			check_process(ctx, p,
				      text_printf(ctx, "limits.launchers[%s]", p->name.value));
	/* The shell of whoever asks is not a job, unless a job's process was named. In a container it has what the
	 * container was given. */
	if (!was_read(limits->launchers) && !jobs)
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
	else if ((jobs || limits->launchers.count == 0) &&
		 !(contradicts(ctx->node) && !is_root_login(&ctx->node->env)))
		check_process(ctx, &limits->self, "limits.self");
}

/* ---- limits/nofile ---- */

/* A job of some thousand ranks has as many sockets and pipes; systemd's default is 1024. No source
 * gives a number. */
#define NOFILE_WANTED 65536

static void check_files_of(struct rule_context *ctx, const struct process_limits *p,
			   const char *path)
{
	const char *fact = text_printf(ctx, "%s.nofile_soft", path);

	if (!is_known(p->nofile_soft))
		UNKNOWN(ctx, .subject = p->name.value, .evidence = { fact });
	else if (p->nofile_soft.value >= NOFILE_WANTED)
		PASS(ctx, .subject = p->name.value, .evidence = { fact });
	else
		FAIL(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx, "%" PRIu64 " open files", p->nofile_soft.value),
		     .expected = "65536 or more, for jobs of many ranks", .evidence = { fact });
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
		if (hands_on(p))
			check_files_of(ctx, p,
				       text_printf(ctx, "limits.launchers[%s]", p->name.value));
	if (is_known(ctx->node->env.pid))
		check_files_of(ctx, &limits->self, "limits.self");
	if (ctx->findings->count == before && !was_read(limits->launchers))
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
	else if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "nothing that starts jobs runs here; no --pid",
			       .evidence = { "limits.launchers" });
}

/* ---- limits/shm-too-small ---- */

/* Docker's default; NCCL's documentation asks for --shm-size=1g. */
#define SHM_FAIL_BYTES (UINT64_C(64) << 20)
#define SHM_WANTED_BYTES (UINT64_C(1) << 30)

static void check_shm(struct rule_context *ctx)
{
	struct fact_u64 bytes = ctx->node->limits.shm_bytes;

	if (is_absent(bytes))
		FAIL(ctx, .observed = "there is no /dev/shm", .expected = "1 GiB or more",
		     .evidence = { "limits.shm_bytes" });
	else if (!is_known(bytes))
		UNKNOWN(ctx, .evidence = { "limits.shm_bytes" });
	else if (bytes.value < SHM_WANTED_BYTES)
		FAIL_AS(ctx, bytes.value <= SHM_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.observed = format_bytes(ctx->arena, bytes.value),
			.expected = "1 GiB or more", .evidence = { "limits.shm_bytes" });
	else
		PASS(ctx, .observed = format_bytes(ctx->arena, bytes.value),
		     .evidence = { "limits.shm_bytes" });
}

static const struct rule limits_rules[] = {
	{
		.id = "limits/memlock",
		.title = "What starts jobs may not lock enough memory",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_memlock,
		.impact =
			"Registering memory fails: ibv_reg_mr \"Cannot allocate memory\", NCCL and MPI do "
			"not start.",
		.remedy =
			"LimitMEMLOCK=infinity in a drop-in of the launcher's unit, then restart it; "
			"limits.conf only reaches logins. In Docker: --ulimit memlock=-1, or default-ulimits in "
			"daemon.json; in Kubernetes the capability IPC_LOCK.",
		.fix = { "raise-limit", { "memlock" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/PID/limits of the launchers that run (slurmd, containerd, dockerd, kubelet, "
			"sshd, ...) and of --pid; unit files, drop-ins, limits.conf and default-ulimits of "
			"/etc/docker/daemon.json for who sets it; the capabilities of a job's process; the limit of the "
			"login session that asks.",
		.why = "Jobs inherit the limit from the daemon that starts them; in a container what was given to "
		       "it counts, which is this process's own. systemd services do not read "
		       "limits.conf, so an entry there that says unlimited changes nothing for slurmd. A login session with less than limits.conf says "
		       "shows that the file is not in effect. Docker's "
		       "default-ulimits stand over the daemon's own limit. Whoever has CAP_IPC_LOCK, as pods that "
		       "use RDMA mostly do, is not bound by it.",
		.check = "grep -i 'locked memory' /proc/$(pgrep -o slurmd)/limits",
		.cost = "Users can then lock all memory.",
		.sources =
			"rdma-core: libibverbs/init.c\nNCCL user guide, troubleshooting\n"
			"systemd.exec(5), LimitMEMLOCK=; limits.conf(5); dockerd(8), default-ulimits\n"
			"Linux: drivers/infiniband/core/umem.c, ib_umem_get()",
	},
	{
		.id = "limits/nofile",
		.title = "What starts jobs may open few files",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_nofile,
		.impact = "Large jobs fail with \"Too many open files\" when they connect.",
		.remedy =
			"LimitNOFILE=1048576 in a drop-in of the launcher's unit, then restart it; in Docker "
			"--ulimit nofile=1048576.",
		.fix = { "raise-limit", { "nofile" } },
		.activation = ACTIVATION_NOW,
		.reads = "/proc/PID/limits of the launchers that run and of --pid.",
		.why = "NCCL and MPI hold sockets for each peer, data loaders files and pipes for each "
		       "worker. How many a job takes depends on its size: no source gives a number, 65536 is "
		       "what large sites set. Programs may raise the soft limit up to the hard one "
		       "themselves.",
		.check = "grep 'open files' /proc/$(pgrep -o slurmd)/limits",
		.sources = "systemd.exec(5), LimitNOFILE=; setrlimit(2)",
	},
	{
		.id = "limits/shm-too-small",
		.title = "/dev/shm is small",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.gravest = SEVERITY_ERR,
		.evaluate = check_shm,
		.impact =
			"NCCL fails to start within the node (\"unhandled system error\", \"posix_fallocate "
			"failed: No space left on device\"); PyTorch data loaders end with a bus error.",
		.remedy =
			"In Docker --shm-size=1g or --ipc=host; in Kubernetes an emptyDir with medium: "
			"Memory on /dev/shm; on a host mount -o remount,size=50% /dev/shm and the line in "
			"/etc/fstab.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The size of the file system at /dev/shm; in a tree size= in its mount table.",
		.why = "Ranks of one node talk through files there: several MiB for each pair of GPUs. 64 MiB "
		       "is Docker's default and too little for four GPUs, hence an error; 1 GiB is what "
		       "NCCL's documentation asks for. The host's own size says nothing of a container's: "
		       "run this within it.",
		.check = "df -h /dev/shm",
		.sources =
			"NCCL: docs/userguide/source/troubleshooting/runtime_and_mpi_issues.rst\n"
			"Linux: Documentation/filesystems/tmpfs.rst",
	},
};

RULE_TABLE(limits);
