/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node.c - the node as a whole: what its administrator expects of it, and whether it answered. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "gate.h"
#include "gpus.h"
#include "parse/nvidia.h"
#include "parse/span.h"
#include "settings.h"
#include "topology.h"

/* ---- [expect] ---- */

struct expected {
	struct judge *j;
	const struct expectation *e;
};

static void differs(struct expected *x, const char *subject, const char *seen, const char *fact)
{
	FAIL(x->j, .subject = subject ? say(x->j, "%s %s", x->e->key, subject) : x->e->key,
	     .observed = seen, .expected = say(x->j, "%s (%s)", x->e->value, x->e->file),
	     .evidence = { fact });
}

static void not_known(struct expected *x, const char *fact)
{
	UNKNOWN(x->j, .subject = x->e->key, .evidence = { fact });
}

static void number(struct expected *x, enum fact_state state, uint64_t seen, const char *fact)
{
	uint64_t wanted = 0;

	span_u64(span_of(x->e->value), 10, &wanted);
	if (state != FACT_KNOWN)
		not_known(x, fact);
	else if (seen != wanted)
		differs(x, NULL, say(x->j, "%" PRIu64, seen), fact);
	else
		PASS(x->j, .subject = x->e->key, .evidence = { fact });
}

/* "580.159.04", or conditions that must all hold: ">=570 <590". */
static bool version_matches(const char *version, const char *wanted)
{
	struct span rest = span_of(wanted), word;

	while (span_word(&rest, &word)) {
		size_t n = strspn(word.p, "<>=");
		char number[64];
		int order;

		n = n < word.n ? n : word.n;
		if (word.n - n >= sizeof(number))
			return false;
		memcpy(number, word.p + n, word.n - n);
		number[word.n - n] = '\0';
		order = version_compare(version, number);
		if ((n == 0 && strcmp(version, number) != 0) ||
		    (n == 1 && word.p[0] == '<' && order >= 0) ||
		    (n == 1 && word.p[0] == '>' && order <= 0) ||
		    (n == 2 && word.p[0] == '<' && order > 0) ||
		    (n == 2 && word.p[0] == '>' && order < 0))
			return false;
	}
	return true;
}

static void expect_gpu_count(struct expected *x)
{
	number(x, x->j->node->pci.devices.state, topology_gpus(x->j->node), "pci.devices");
}

static void expect_gpu_model(struct expected *x)
{
	size_t right = 0, wrong = 0;

	for_each(g, &x->j->node->gpu.devices) {
		const char *fact = say(x->j, "gpu.devices[%s].model", g->bdf.value);

		if (!is_known(g->model)) {
			not_known(x, fact);
			wrong++;
		} else if (!strstr(g->model.value, x->e->value)) {
			differs(x, g->bdf.value, g->model.value, fact);
			wrong++;
		} else {
			right++;
		}
	}
	if (!is_told(x->j->node->gpu.devices))
		not_known(x, "gpu.devices");
	else if (right + wrong == 0)
		differs(x, NULL, "no GPU", "gpu.devices");
	else if (!wrong)
		PASS(x->j, .subject = x->e->key, .evidence = { "gpu.devices" });
}

static void text_fact(struct expected *x, struct fact_str seen, bool matches, const char *fact)
{
	if (is_unknown(seen))
		not_known(x, fact);
	else if (!matches)
		differs(x, NULL, is_known(seen) ? seen.value : "not there", fact);
	else
		PASS(x->j, .subject = x->e->key, .evidence = { fact });
}

static void expect_driver_version(struct expected *x)
{
	struct fact_str seen = x->j->node->driver.version;

	text_fact(x, seen, is_known(seen) && version_matches(seen.value, x->e->value),
		  "driver.version");
}

static void expect_driver_flavour(struct expected *x)
{
	struct fact_enum flavour = x->j->node->driver.flavour;
	struct fact_str seen = { .state = flavour.state };

	if (is_known(flavour))
		seen.value = driver_flavour_words[flavour.value];
	text_fact(x, seen, str_is(seen, x->e->value), "driver.flavour");
}

static void expect_kernel(struct expected *x)
{
	struct fact_str seen = x->j->node->os.kernel;

	text_fact(x, seen, is_known(seen) && fnmatch(x->e->value, seen.value, 0) == 0, "os.kernel");
}

/* No folder of RDMA devices is none of them. */
static enum fact_state rdma_state(const struct node *node)
{
	return is_unknown(node->rdma.devices) ? FACT_UNKNOWN : FACT_KNOWN;
}

static void expect_nic_count(struct expected *x)
{
	number(x, rdma_state(x->j->node), x->j->node->rdma.devices.count, "rdma.devices");
}

static void expect_nic_firmware(struct expected *x)
{
	size_t wrong = 0;

	for_each(d, &x->j->node->rdma.devices) {
		const char *fact = say(x->j, "rdma.devices[%s].firmware", d->name.value);

		if (is_known(d->firmware) && version_matches(d->firmware.value, x->e->value))
			continue;
		wrong++;
		if (is_known(d->firmware))
			differs(x, d->name.value, d->firmware.value, fact);
		else
			not_known(x, fact);
	}
	if (!is_told(x->j->node->rdma.devices))
		not_known(x, "rdma.devices");
	else if (!wrong)
		PASS(x->j, .subject = x->e->key, .evidence = { "rdma.devices" });
}

/* Calls SEEN for each port that counts and fails where it says something else than what is wanted. */
typedef const char *port_value(struct judge *j, const struct rdma_port *port);

static void each_port(struct expected *x, bool active_only, port_value *value, const char *field)
{
	size_t wrong = 0;

	for_each(d, &x->j->node->rdma.devices) {
		for_each(p, &d->ports) {
			const char *seen = value(x->j, p);
			const char *fact = say(x->j, "rdma.devices[%s].ports[%" PRIu64 "].%s",
					       d->name.value, p->port.value, field);

			if (active_only && !known_is(p->state, RDMA_PORT_ACTIVE))
				continue;
			if (seen && strcmp(seen, x->e->value) == 0)
				continue;
			wrong++;
			if (seen)
				differs(x, say(x->j, "%s/%" PRIu64, d->name.value, p->port.value), seen,
					fact);
			else
				not_known(x, fact);
		}
	}
	if (!is_told(x->j->node->rdma.devices))
		not_known(x, "rdma.devices");
	else if (!wrong)
		PASS(x->j, .subject = x->e->key, .evidence = { "rdma.devices" });
}

static const char *rate_gbps(struct judge *j, const struct rdma_port *port)
{
	return is_known(port->rate_mbps) ? say(j, "%" PRIu64, port->rate_mbps.value / 1000) : NULL;
}

static const char *link_layer(struct judge *j, const struct rdma_port *port)
{
	(void)j;
	return is_known(port->link_layer) ? port->link_layer.value : NULL;
}

static void expect_port_rate(struct expected *x)
{
	each_port(x, true, rate_gbps, "rate_mbps");
}

static void expect_link_layer(struct expected *x)
{
	each_port(x, false, link_layer, "link_layer");
}

static void expect_ports_active(struct expected *x)
{
	size_t n = 0;

	for_each(d, &x->j->node->rdma.devices)
		for_each(p, &d->ports)
			n += known_is(p->state, RDMA_PORT_ACTIVE);
	number(x, rdma_state(x->j->node), n, "rdma.devices");
}

/* What the kernel reports is less than what is fitted: firmware keeps some. */
static void expect_memory(struct expected *x)
{
	struct fact_u64 seen = x->j->node->os.memory_bytes;
	uint64_t wanted = 0;

	span_u64(span_of(x->e->value), 10, &wanted);
	if (!is_known(seen))
		not_known(x, "os.memory_bytes");
	else if (seen.value >> 30 < wanted)
		differs(x, NULL, say(x->j, "%" PRIu64 " GiB", seen.value >> 30), "os.memory_bytes");
	else
		PASS(x->j, .subject = x->e->key, .evidence = { "os.memory_bytes" });
}

static void expect_cpus(struct expected *x)
{
	number(x, x->j->node->os.cpus.state, x->j->node->os.cpus.value, "os.cpus");
}

static void expect_numa_nodes(struct expected *x)
{
	number(x, x->j->node->numa.nodes.state, x->j->node->numa.nodes.count, "numa.nodes");
}

static const struct {
	const char *key;
	void (*check)(struct expected *x);
} checks[] = {
	{ "gpu-count", expect_gpu_count },
	{ "gpu-model", expect_gpu_model },
	{ "driver-version", expect_driver_version },
	{ "driver-flavour", expect_driver_flavour },
	{ "nic-count", expect_nic_count },
	{ "nic-firmware", expect_nic_firmware },
	{ "port-rate-gbps", expect_port_rate },
	{ "ports-active", expect_ports_active },
	{ "link-layer", expect_link_layer },
	{ "kernel", expect_kernel },
	{ "memory-gib", expect_memory },
	{ "cpus", expect_cpus },
	{ "numa-nodes", expect_numa_nodes },
};

static void judge_expectation(struct judge *j)
{
	size_t before = j->findings->count;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct expected x = { j, settings_expect(j->settings, checks[i].key) };

		if (x.e)
			checks[i].check(&x);
	}
	if (j->findings->count == before)
		NOT_APPLICABLE(j, .observed = "the configuration has no [expect] section");
}

/* ---- probes ---- */

static void judge_timed_out(struct judge *j)
{
	size_t bad = 0;

	for_each(p, &j->node->probes) {
		bool timed_out = known_is(p->state, PROBE_TIMED_OUT);

		if (!timed_out && !known_is(p->state, PROBE_FAILED))
			continue;
		bad++;
		FAIL(j, .subject = p->name.value,
		     .observed = !timed_out ? "the probe was ended before it was done"
				 : is_known(p->stuck_at)
					 ? say(j, "no answer from %s", p->stuck_at.value)
					 : "no answer in time",
		     .expected = "an answer within the probe's deadline",
		     .evidence = { say(j, "probes[%s].state", p->name.value) });
	}
	if (!bad)
		PASS(j, .evidence = { "probes" });
}

static const struct rule node_rules[] = {
	{
		.id = "node/expectation",
		.title = "The node is not what its configuration expects",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_expectation,
		.impact = "Something is missing, was exchanged or has another version than on its peers.",
		.remedy = "Repair the node, or correct the [expect] section.",
		.activation = ACTIVATION_NONE,
		.reads = "Every key of the [expect] section against the facts.",
		.why = "A GPU that fell off the bus leaves seven that work: only an expectation tells.",
		.check = "nvnodecheck facts",
		.sources = "nvnodecheck.conf(5)",
	},
	{
		.id = "node/probe-timed-out",
		.title = "A part of the node gave no answer",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_timed_out,
		.impact = "A read that hangs here hangs jobs too: a wedged GPU or driver.",
		.remedy = "Look at the file that is named, and at the kernel log; a process stuck in the kernel "
			  "only goes with a reboot.",
		.reads = "What each probe reported: its state, and the file that it was reading.",
		.why = "Every probe has a deadline (2 s, the initramfs 20 s). One that passes it, crashes or is "
		       "ended by a library costs its own section, which is then unknown.",
		.check = "timeout 2 cat FILE",
		.sources = "nvnodecheck(8)",
	},
};

RULE_TABLE(node);
