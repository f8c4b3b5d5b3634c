/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - resource limits of what starts jobs. */
#include <inttypes.h>
#include <string.h>

#include "gate.h"

/* At or under this nothing of use can be registered; it is also Docker's and systemd's default. */
#define MEMLOCK_FAIL_BYTES (UINT64_C(64) << 20)

/* The last line that sets the limit of a launcher's unit, or of users in limits.conf. */
static const struct limit_setting *who_sets(const struct node *node, const char *unit)
{
	const struct limit_setting *found = NULL;

	for_each(s, &node->limits.settings) {
		if (!str_is(s->item, "memlock"))
			continue;
		if (unit ? str_is(s->scope, unit) : str_is(s->scope, "*"))
			found = s;
	}
	return found;
}

static const char *say_layer(struct judge *j, const struct process_limits *p)
{
	const struct limit_setting *own = NULL, *users = who_sets(j->node, NULL);

	if (is_known(p->unit))
		own = who_sets(j->node, p->unit.value);
	if (own)
		return say(j, "; %s:%" PRIu64 " sets it", own->file.value, own->line.value);
	if (is_known(p->unit) && users)
		return say(j, "; systemd's default, since %s has no LimitMEMLOCK= (%s does not reach "
			      "services)",
			   p->unit.value, users->file.value);
	if (is_known(p->unit))
		return say(j, "; systemd's default, since %s has no LimitMEMLOCK=", p->unit.value);
	return "";
}

static void judge_process(struct judge *j, const struct process_limits *p, const char *path)
{
	const char *fact = say(j, "%s.memlock_soft_bytes", path);
	uint64_t limit;

	if (!is_known(p->memlock_soft_bytes)) {
		UNKNOWN(j, .subject = p->name.value, .evidence = { fact });
		return;
	}
	limit = p->memlock_soft_bytes.value;
	if (limit == FACT_UNLIMITED)
		PASS(j, .subject = p->name.value, .evidence = { fact });
	else
		FAIL_AS(j, limit <= MEMLOCK_FAIL_BYTES ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = p->name.value,
			.observed = say(j, "%s%s", say_bytes(j, limit), say_layer(j, p)),
			.expected = "unlimited", .evidence = { fact });
}

static void judge_memlock(struct judge *j)
{
	const struct limits_facts *limits = &j->node->limits;

	if (is_told(j->node->rdma.devices) && j->node->rdma.devices.count == 0) {
		NOT_APPLICABLE(j, .observed = "no RDMA device", .evidence = { "rdma.devices" });
		return;
	}
	if (!is_told(limits->launchers) && !is_known(limits->self.memlock_soft_bytes)) {
		UNKNOWN(j, .evidence = { "limits.launchers" });
		return;
	}
	for_each(p, &limits->launchers)
		judge_process(j, p, say(j, "limits.launchers[%s]", p->name.value));
	/* The shell of whoever asks is not a job, unless a job's process was named. */
	if (is_known(j->node->env.pid))
		judge_process(j, &limits->self, "limits.self");
	else if (limits->launchers.count == 0)
		judge_process(j, &limits->self, "limits.self");
}

static const struct rule limits_rules[] = {
	{
		.id = "limits/memlock",
		.title = "What starts jobs may not lock enough memory",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.judge = judge_memlock,
		.impact = "Registering memory fails: ibv_reg_mr \"Cannot allocate memory\", NCCL and MPI do "
			  "not start.",
		.remedy = "LimitMEMLOCK=infinity in a drop-in of the launcher's unit, then restart it; "
			  "limits.conf only reaches logins. In Docker: --ulimit memlock=-1.",
		.fix = "limits",
		.activation = ACTIVATION_NOW,
		.reads = "/proc/PID/limits of the launchers that run (slurmd, containerd, dockerd, kubelet, "
			 "sshd, ...) and of --pid; unit files, drop-ins and limits.conf for who sets it.",
		.why = "Jobs inherit the limit from the daemon that starts them. systemd services do not read "
		       "limits.conf, so an entry there that says unlimited changes nothing for slurmd.",
		.check = "grep -i 'locked memory' /proc/$(pgrep -o slurmd)/limits",
		.cost = "Users can then lock all memory.",
		.sources = "rdma-core: libibverbs/init.c\nNCCL user guide, troubleshooting\n"
			   "systemd.exec(5), LimitMEMLOCK=; limits.conf(5)",
	},
};

RULE_TABLE(limits);
