/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evaluate/report.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/acknowledge.h"
#include "evaluate/image.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/node-find.h"
#include "query/peer-support.h"
#include "query/topology.h"

/* The management function of an NVSwitch has an RDMA device too, which is no job's. */
static size_t count_rdma(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->rdma.devices) {
		const struct pci_device *own = is_known(d->bdf) ? node_pci(node, d->bdf.value)
								: NULL;

		n += !own || topology_is_nic(node, own);
	}
	return n;
}

#define CLASS_INFINIBAND 0x020700 /* PCI Code and ID Assignment 1.11: network, InfiniBand */

/* An InfiniBand adapter is there for RDMA, also while a module is missing that would make its device. */
static size_t count_infiniband(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += known_is(d->class_id, CLASS_INFINIBAND) && topology_is_nic(node, d) &&
		     !pci_is_for_guest(d);
	return n;
}

/* deepep is never assumed: only a person knows what the node is for. */
static void pick_profiles(struct report *report)
{
	const struct node *node = report->node;
	size_t rdma = count_rdma(node), gpus = 0, data_centre = 0, infiniband;

	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		gpus++;
		data_centre += gpu_is_data_centre(d);
	}
	infiniband = rdma ? 0 : count_infiniband(node);
	if (infiniband && data_centre) {
		report->profiles = PROFILE_BASE | PROFILE_RDMA;
		report->profiles_reason = arena_printf(
			report->arena, "%zu InfiniBand adapter%s and %zu data-centre GPU%s",
			infiniband, infiniband == 1 ? "" : "s", data_centre,
			data_centre == 1 ? "" : "s");
	} else if (rdma && data_centre) {
		report->profiles = PROFILE_BASE | PROFILE_RDMA;
		report->profiles_reason = arena_printf(
			report->arena, "%zu RDMA device%s and %zu data-centre GPU%s", rdma,
			rdma == 1 ? "" : "s", data_centre, data_centre == 1 ? "" : "s");
	} else if (gpus >= 2 && !rdma && known_is(node_has_peers(node, report->arena), true)) {
		report->profiles = PROFILE_BASE | PROFILE_P2P;
		report->profiles_reason = arena_printf(report->arena, "%zu GPUs and no RDMA device",
						       gpus);
	} else if (gpus >= 2 && !rdma) {
		report->profiles = PROFILE_BASE;
		report->profiles_reason = arena_printf(
			report->arena, "%zu GPUs that the driver does not let copy to each other",
			gpus);
	} else if (is_unknown(node->pci.devices)) {
		report->profiles = PROFILE_BASE;
		report->profiles_reason = "the GPUs could not be read";
	} else {
		report->profiles = PROFILE_BASE;
		report->profiles_reason =
			arena_printf(report->arena, "%zu GPU%s and %zu RDMA device%s", gpus,
				     gpus == 1 ? "" : "s", rdma, rdma == 1 ? "" : "s");
	}
}

static void choose_profiles(struct report *report, const struct settings *settings)
{
	if (!settings->profiles) {
		pick_profiles(report);
		return;
	}
	report->profiles = settings->profiles;
	report->profiles_reason = settings->profiles_from ? arena_printf(report->arena, "set in %s",
									 settings->profiles_from)
							  : "selected with --profile";
}

/* ---- profiles that were not asked for ---- */

static const char *installed(const struct report *report, const char *const names[][2])
{
	for (size_t i = 0; names[i][0]; i++) {
		const struct software_item *item = node_software(report->node, names[i][0]);

		if (item)
			return arena_printf(report->arena, "%s%s%s is installed", names[i][1],
					    is_known(item->version) ? " " : "",
					    is_known(item->version) ? item->version.value : "");
	}
	return NULL;
}

static const char *why_rdma(const struct report *report)
{
	static const char *const names[][2] = { { "nixl", "NIXL" }, { NULL } };
	size_t rdma = count_rdma(report->node);

	if (rdma)
		return arena_printf(report->arena, "%zu RDMA device%s beside the GPUs", rdma,
				    rdma == 1 ? " is" : "s are");
	return installed(report, names);
}

/* Not where NVLink connects the GPUs, and not where RDMA was asked for, whose rules look at the same paths. */
static const char *why_p2p(const struct report *report)
{
	size_t gpus = 0;

	for_each(d, &report->node->pci.devices)
		gpus += pci_is_gpu(d) &&
			known_is(gpu_has_pcie_peers(report->node, d, report->arena), true);
	return gpus < 2 || report->profiles & PROFILE_RDMA_ANY
		       ? NULL
		       : arena_printf(report->arena, "%zu GPUs can copy to each other over PCIe",
				      gpus);
}

static const char *why_profile(const struct report *report, unsigned int profile)
{
	static const char *const deepep[][2] = { { "deepep", "DeepEP" },
						 { "nvshmem", "NVSHMEM" },
						 { NULL } };

	if (!topology_gpus(report->node))
		return NULL;
	return profile == PROFILE_RDMA	   ? why_rdma(report)
	       : profile == PROFILE_P2P	   ? why_p2p(report)
	       : profile == PROFILE_DEEPEP ? installed(report, deepep)
					   : NULL;
}

static void list_not_judged(struct report *report)
{
	for (unsigned int bit = 0; profile_words[bit]; bit++) {
		struct profile_hint *hint;

		if (report->profiles & 1u << bit)
			continue;
		hint = LIST_ADD(report->arena, &report->not_judged);
		hint->profile = 1u << bit;
		hint->reason = why_profile(report, hint->profile);
	}
}

/* ---- reasons ---- */

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* Probes that fill a part of a section that has another probe's name. */
static const struct {
	const char *probe, *section;
} parts[] = {
	{ "addresses", "net" },
	{ "daemons", "services" },
	{ "flow-control", "net" },
	{ "job-cgroup", "limits" },
	{ "kernel", "os" },
	{ "kubelet", "containers" },
	{ "libkmod", "modules" },
	{ "limit-settings", "limits" },
	{ "module-files", "modules" },
	{ "mounts", "os" },
	{ "next-boot", "boot" },
	{ "next-boot", "cmdline" },
	{ "next-boot", "os" },
	{ "next-driver", "driver" },
	{ "providers", "rdma" },
	{ "rdma-cgroup", "limits" },
	{ "verbs", "rdma" },
	{ "virt", "os" },
};

/* The probes that fill the section that a fact is in: first the one of its name. */
struct fillers {
	struct span own;
	const char *others[sizeof(parts) / sizeof(parts[0])];
	size_t count;
};

static struct fillers fillers_of(const char *fact)
{
	struct fillers fillers = { .own = { fact, strcspn(fact, ".[") } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (span_is(fillers.own, parts[i].section))
			fillers.others[fillers.count++] = parts[i].probe;
	return fillers;
}

static bool is_of_another_filler(const struct gap *gap, const struct fillers *fillers)
{
	for (size_t i = 0; i < fillers->count; i++)
		if (str_is(gap->probe, fillers->others[i]))
			return true;
	return false;
}

/* The gap at SOURCE, or at a folder above it. */
static const struct gap *gap_at(const struct node *node, const char *source)
{
	for_each(g, &node->gaps)
		if (is_below(source, g->path.value))
			return g;
	return NULL;
}

/* The same of the probes that fill the section, else one below SOURCE, else the first of the section's own probe. */
static const struct gap *gap_of_probe(const struct node *node, const char *source, const char *fact,
				      bool any)
{
	const struct gap *first = NULL, *below = NULL;
	struct fillers fillers = fillers_of(fact);

	for_each(g, &node->gaps) {
		bool own = *g->probe.value == *fact && span_is(fillers.own, g->probe.value);

		if (!own && !is_of_another_filler(g, &fillers))
			continue;
		if (source && is_below(source, g->path.value))
			return g;
		if (source && !below && is_below(g->path.value, source))
			below = g;
		if (!first && own)
			first = g;
	}
	return below || !any ? below : first;
}

/* Descriptions name the files of the process that looks; --pid names another. */
static const char *of_process(const struct report *report, const char *source)
{
	static const char self[] = "/proc/self/";

	if (!source || !is_known(report->node->env.pid) || strncmp(source, self, strlen(self)) != 0)
		return source;
	return arena_printf(report->arena, "/proc/%llu/%s",
			    (unsigned long long)report->node->env.pid.value, source + strlen(self));
}

/* An image has no /proc: the fact was concluded from its files. */
static bool is_of_next_boot(const struct report *report, const struct fact_ref *ref)
{
	return is_known(report->node->os.next_boot) && ref->source &&
	       strncmp(ref->source, "/proc/", strlen("/proc/")) == 0 &&
	       fact_ref_state(ref) == FACT_KNOWN;
}

int report_find(const struct report *report, const char *fact, struct fact_ref *ref)
{
	int rc = fact_find(&node_desc, report->node, fact, report->arena, ref);

	if (rc == 0)
		ref->source = of_process(report, ref->source);
	if (rc == 0 && is_of_next_boot(report, ref))
		ref->source = NULL;
	return rc;
}

/* The gap that is about the very source of the missing fact. */
static const struct gap *near_gap(const struct report *report, const struct finding *finding)
{
	const char *fact = finding->answer.evidence[0];
	const char *source = NULL;
	const struct gap *gap;
	struct fact_ref ref;

	if (!fact || report->node->gaps.count == 0)
		return NULL;
	if (report_find(report, fact, &ref) == 0)
		source = ref.source;
	gap = gap_of_probe(report->node, source, fact, false);
	return gap || !source ? gap : gap_at(report->node, source);
}

static const struct gap *find_gap(const struct report *report, const struct finding *finding)
{
	const struct gap *gap = near_gap(report, finding);
	const char *fact = finding->answer.evidence[0];

	return gap || !fact ? gap : gap_of_probe(report->node, NULL, fact, true);
}

/* ---- judging ---- */

static bool matches(const char *const *patterns, const char *id)
{
	for (size_t i = 0; patterns && patterns[i]; i++)
		if (fnmatch(patterns[i], id, 0) == 0)
			return true;
	return false;
}

static bool is_selected(const struct report *report, const struct settings *settings,
			const struct rule *rule)
{
	if (settings->only ? !matches(settings->only, rule->id)
			   : !(rule->profiles & (report->profiles | PROFILE_BASE)))
		return false;
	return !matches(settings->skip, rule->id);
}

/* What was tried on the hardware outranks what was concluded from files. */
static void weigh(struct report *report, size_t from)
{
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];
		enum proof_word word = proof_of_trial(report->node, f->rule->trial,
						      f->answer.subject, report->arena, &f->proved);

		if (word == PROOF_SILENT || f->answer.verdict == VERDICT_NOT_APPLICABLE) {
			f->proved = NULL;
			continue;
		}
		f->configured = f->answer.verdict;
		f->answer.verdict = word == PROOF_GOOD ? VERDICT_PASS : VERDICT_FAIL;
		finding_set_severity(f, f->severity);
	}
}

/* Does a finding stand on the kernel's log? */
static bool is_of_log(const struct finding *f)
{
	const char *fact = f->answer.evidence[0];

	return fact && strncmp(fact, "log.", strlen("log.")) == 0;
}

/* A line that any user can write is shown, and is no reason to drain a node. */
static void doubt(struct report *report, size_t from)
{
	const struct fact_str *source = &report->node->log.source;

	if (!is_known(*source) || !log_is_of_users(source->value))
		return;
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];

		if (f->answer.verdict != VERDICT_FAIL || f->proved || !is_of_log(f))
			continue;
		if (f->severity > SEVERITY_WARN)
			finding_set_severity(f, SEVERITY_WARN);
		f->answer.observed =
			arena_printf(report->arena,
				     "%s (not proven to be the kernel's: any user can write to %s)",
				     f->answer.observed ? f->answer.observed : "", source->value);
	}
}

/* What the configuration says stands over the rule: off, or another severity. */
static void grade(struct report *report, const struct settings *settings, size_t from)
{
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];
		const struct rule_setting *setting = settings_rule(settings, f->rule->id);

		if (!setting)
			continue;
		f->off = setting->off;
		f->why_graded = setting->reason;
		if (setting->graded)
			finding_set_severity(f, setting->severity);
	}
}

/* Problems that an administrator has seen stand apart, as what is switched off. */
static void set_acknowledged(struct report *report, size_t from)
{
	if (!report->node->acknowledged.findings.count)
		return;
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];

		if (f->off)
			continue;
		f->acknowledged = acknowledgement_of(report->node, f);
		f->off = f->acknowledged;
	}
}

/* The lowest severity that stops a job. */
static enum severity preflight_floor(const struct settings *settings)
{
	return settings->fail_on < SEVERITY_ERR ? SEVERITY_ERR : settings->fail_on;
}

/* Half of the rules can say nothing that preflight would keep. */
static bool may_stop_job(const struct settings *settings, const struct rule *rule)
{
	const struct rule_setting *setting = settings_rule(settings, rule->id);
	enum severity most = rule_gravest(rule);

	if (setting && setting->off)
		return false;
	if (setting && setting->graded)
		most = setting->severity;
	return most >= preflight_floor(settings);
}

/* Is this a fact that a probe tried to read? One that a rule itself calls out of reach (in a
 * virtual machine, on an old kernel) stays so on this node. */
static bool was_tried(const struct report *report, struct finding *f)
{
	const char *fact = f->answer.evidence[0];
	size_t n;

	if (f->answer.observed || !fact)
		return false;
	n = strcspn(fact, ".[");
	for_each(p, &report->node->probes) {
		const char *name = p->name.value;

		if (*name == *fact && strncmp(fact, name, n) == 0 && !name[n])
			return (f->gap = near_gap(report, f)) != NULL;
	}
	return false;
}

static bool is_kept(const struct report *report, const struct settings *settings, bool only_wrong,
		    struct finding *f)
{
	enum verdict verdict = f->answer.verdict;

	if (only_wrong && (verdict == VERDICT_PASS || verdict == VERDICT_NOT_APPLICABLE))
		return false;
	return !settings->preflight || (!f->off && f->severity >= preflight_floor(settings) &&
					(verdict != VERDICT_UNKNOWN || was_tried(report, f)));
}

/* Leaves out of the findings from FROM on what is not asked for. */
static void keep(struct report *report, const struct settings *settings, bool only_wrong,
		 size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < report->findings.count; i++)
		if (is_kept(report, settings, only_wrong, &report->findings.items[i]))
			report->findings.items[kept++] = report->findings.items[i];
	memset(&report->findings.items[kept], 0,
	       (report->findings.count - kept) * sizeof(report->findings.items[0]));
	report->findings.count = (uint32_t)kept;
}

/* ---- causes ---- */

/* On SUBJECT, or where the cause or SUBJECT is the whole node. */
static bool can_cause(const struct finding *cause, const struct finding *f, const char *subject)
{
	const char *own = cause->answer.subject;

	return cause != f && !cause->off && cause->answer.verdict == VERDICT_FAIL &&
	       (!own || !subject || strcmp(own, subject) == 0);
}

static const struct finding *find_cause(const struct report *report, const struct finding *f,
					const char *rule, const char *subject)
{
	for_each(cause, &report->findings)
		if (strcmp(cause->rule->id, rule) == 0 && can_cause(cause, f, subject))
			return cause;
	return NULL;
}

/* Rules name what causes them; the tables hold no circles. */
static void set_cause(const struct report *report, struct finding *f)
{
	if (!finding_is_problem(f) || f->off)
		return;
	if (f->answer.follows)
		f->follows_from = find_cause(report, f, f->answer.follows,
					     f->answer.follows_subject ? f->answer.follows_subject
								       : f->answer.subject);
	for (size_t i = 0; i < RULE_CAUSES_MAX && f->rule->follows[i] && !f->follows_from; i++)
		f->follows_from = find_cause(report, f, f->rule->follows[i], f->answer.subject);
}

static void count_finding(struct report *report, struct finding *f)
{
	enum verdict verdict = f->answer.verdict;

	if (verdict == VERDICT_UNKNOWN) {
		if (!f->gap)
			f->gap = find_gap(report, f);
		image_mark(report->node, f);
	}
	if (f->off) {
		report->off++;
		return;
	}
	report->count[verdict]++;
	if (!finding_is_problem(f))
		return;
	if (!report->any_worst || f->severity > report->worst)
		report->worst = f->severity;
	report->any_worst = true;
}

static bool any_finding(const struct report *report, enum verdict verdict, enum severity from)
{
	for_each(f, &report->findings)
		if (!f->off && f->answer.verdict == verdict && f->severity >= from)
			return true;
	return false;
}

static enum verdict overall(const struct report *report)
{
	if (report->count[VERDICT_FAIL])
		return VERDICT_FAIL;
	if (report->count[VERDICT_PENDING])
		return VERDICT_PENDING;
	return any_finding(report, VERDICT_UNKNOWN, SEVERITY_WARN) ? VERDICT_UNKNOWN : VERDICT_PASS;
}

/* ---- what profiles would say that the hardware suggests, and that were not asked for ---- */

static unsigned int hinted_profiles(const struct report *report, const struct settings *settings)
{
	unsigned int profiles = 0;

	if (settings->only || settings->only_wrong)
		return 0;
	for_each(hint, &report->not_judged)
		if (hint->reason)
			profiles |= hint->profile & (PROFILE_P2P | PROFILE_RDMA);
	return profiles;
}

/* A failure that a job of a suggested profile would meet is worth knowing, and is none of this node's profiles. */
static void set_apart(struct report *report, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < report->findings.count; i++) {
		struct finding f = report->findings.items[i];

		bool note = f.answer.verdict == VERDICT_NOTE && f.rule->severity >= SEVERITY_WARN;

		if (!note && (!finding_is_problem(&f) || f.severity < SEVERITY_WARN))
			continue;
		f.answer.observed = arena_printf(
			report->arena, "%s%s(%s for profile %s)",
			f.answer.observed ? f.answer.observed : "", f.answer.observed ? " " : "",
			note ? "a note" : severity_words[f.severity],
			profiles_text(report->arena,
				      f.rule->profiles & (PROFILE_P2P | PROFILE_RDMA)));
		f.answer.verdict = VERDICT_NOTE;
		finding_set_severity(&f, SEVERITY_INFO);
		report->findings.items[kept++] = f;
	}
	memset(&report->findings.items[kept], 0,
	       (report->findings.count - kept) * sizeof(report->findings.items[0]));
	report->findings.count = (uint32_t)kept;
}

/* A rule of none of the node's profiles. */
static void evaluate_hinted(struct report *report, const struct settings *settings,
			    struct rule_context *ctx, unsigned int hinted)
{
	size_t from = report->findings.count;

	if (!(ctx->rule->profiles & hinted) || matches(settings->skip, ctx->rule->id))
		return;
	ctx->profiles = report->profiles | hinted;
	ctx->rule->evaluate(ctx);
	ctx->profiles = report->profiles;
	weigh(report, from);
	doubt(report, from);
	grade(report, settings, from);
	set_acknowledged(report, from);
	set_apart(report, from);
}

struct report *report_make(const struct node *node, const struct settings *settings,
			   struct arena *arena)
{
	struct report *report = arena_alloc(arena, sizeof(*report));
	struct rule_context ctx = { .node = node,
				    .endpoints = endpoints_find(node, arena),
				    .settings = settings,
				    .arena = arena };
	size_t count;
	const struct rule *const *rules = rule_all(&count);
	/* A trial on the hardware may say of what passes that it does not work. */
	bool only_wrong = settings->only_wrong && !is_known(node->proof);
	unsigned int hinted;

	report->node = node;
	report->arena = arena;
	report->fail_on = settings->fail_on;
	choose_profiles(report, settings);
	if (!settings->preflight)
		list_not_judged(report);
	hinted = hinted_profiles(report, settings);
	ctx.profiles = report->profiles;
	ctx.only_wrong = only_wrong;
	ctx.findings = (struct fact_list *)&report->findings;
	for (size_t i = 0; i < count; i++) {
		size_t from = report->findings.count;

		ctx.rule = rules[i];
		if (!is_selected(report, settings, rules[i])) {
			evaluate_hinted(report, settings, &ctx, hinted);
			continue;
		}
		report->rules++;
		if (settings->preflight && !may_stop_job(settings, rules[i]))
			continue;
		rules[i]->evaluate(&ctx);
		if (report->findings.count == from)
			UNKNOWN(&ctx, .observed = "the rule gave no answer");
		weigh(report, from);
		doubt(report, from);
		grade(report, settings, from);
		set_acknowledged(report, from);
		keep(report, settings, only_wrong, from);
	}
	for_each_mut(f, &report->findings) {
		set_cause(report, f);
		count_finding(report, f);
	}
	report->verdict = overall(report);
	return report;
}

/* A pending setting is configured on disk, but a job does not have it yet. */
enum exit_status report_status(const struct report *report, bool strict)
{
	if (any_finding(report, VERDICT_FAIL, report->fail_on) ||
	    any_finding(report, VERDICT_PENDING, report->fail_on))
		return EXIT_FINDINGS;
	if (strict && any_finding(report, VERDICT_UNKNOWN, report->fail_on))
		return EXIT_INCOMPLETE;
	return EXIT_WELL;
}
