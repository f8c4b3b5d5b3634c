/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-head.c - the verdict in one line, and a description of the node. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "advice/readiness.h"
#include "query/gpus.h"
#include "query/names.h"
#include "query/pci-device.h"
#include "query/ports.h"
#include "query/topology.h"
#include "render/text.h"

/* ---- the verdict ---- */

static const char *add(struct arena *arena, const char *list, size_t count, const char *one,
		       const char *many)
{
	return count ? arena_printf(arena, "%s%s%zu %s", list, *list ? ", " : "", count,
				    count == 1 ? one : many)
		     : list;
}

static const char *render_counts(const struct problems *problems, struct arena *arena)
{
	const char *list = "";

	list = add(arena, list, problems->count[SEVERITY_CRIT], "critical", "critical");
	list = add(arena, list, problems->count[SEVERITY_ERR], "error", "errors");
	list = add(arena, list, problems->count[SEVERITY_WARN], "warning", "warnings");
	return add(arena, list, problems->waiting, "waiting to take effect",
		   "waiting to take effect");
}

static const char *unknown_text(const struct report *r)
{
	size_t unknown = problems_unknown(r);

	return unknown ? arena_printf(r->arena, " %zu check%s not run.", unknown,
				      unknown == 1 ? "" : "s")
		       : "";
}

static const char *not_evaluated_text(const struct report *r)
{
	const char *list = "";

	for_each(hint, &r->not_evaluated)
		list = arena_printf(r->arena, "%s%s%s", list, *list ? ", " : "",
				    profiles_text(r->arena, hint->profile));
	return *list ? arena_printf(r->arena, " Not requested: %s.", list) : "";
}

const char *render_verdict(const struct report *r, const struct problems *problems)
{
	uint32_t n = problems->items.count;

	if (!n)
		return arena_printf(r->arena,
				    readiness_can_be_said(r)
					    ? "Ready for %s: no problems found.%s%s"
					    : "No problems found for %s.%s%s",
				    profiles_text(r->arena, r->profiles), unknown_text(r),
				    not_evaluated_text(r));
	return arena_printf(r->arena, "%" PRIu32 " problem%s (%s).%s", n, n == 1 ? "" : "s",
			    render_counts(problems, r->arena), unknown_text(r));
}

static enum style verdict_style(const struct problems *problems)
{
	if (problems->count[SEVERITY_CRIT] || problems->count[SEVERITY_ERR])
		return STYLE_RED;
	return problems->items.count ? STYLE_YELLOW : STYLE_GREEN;
}

/* Lines that TEXT takes, wrapped. */
static int lines_of(const struct view *v, const char *text, int indent)
{
	struct text_lines lines = text_split(v->report->arena, text, v->page.width - indent);

	return lines.count ? (int)lines.count : 1;
}

int text_verdict(struct view *v)
{
	const char *text = render_verdict(v->report, v->problems);

	fputs(page_style(&v->page, verdict_style(v->problems)), v->page.out);
	text_wrap(v->page.out, text, 0, 0, v->page.width);
	fputs(page_style(&v->page, STYLE_PLAIN), v->page.out);
	return lines_of(v, text, 0);
}

/* ---- the node ---- */

static const char *or_unknown(struct fact_str fact)
{
	return is_known(fact) ? fact.value : "unknown";
}

/* The driver leaves NVIDIA's name out of some models, and of those that it does not start. */
static const char *model_of(const struct node *node, const struct pci_device *d)
{
	const char *name = gpu_name(node, d);

	return starts_with(name, "NVIDIA ") ? name + strlen("NVIDIA ") : name;
}

/* More kinds of GPUs than a node has. */
#define MODELS_MAX 16

struct models {
	const char *name[MODELS_MAX];
	size_t count[MODELS_MAX], kinds, others;
};

static void count_model(struct models *m, const char *name)
{
	size_t i = 0;

	while (i < m->kinds && strcmp(m->name[i], name) != 0)
		i++;
	if (i == MODELS_MAX) {
		m->others++;
		return;
	}
	m->name[i] = name;
	m->count[i]++;
	m->kinds += i == m->kinds;
}

/* Returns true for a GPU that the loaded driver does not have. */
static bool has_other_driver(const struct report *r, const struct pci_device *d)
{
	return known_is(r->node->driver.loaded, true) && is_known(d->driver) &&
	       !str_is(d->driver, "nvidia");
}

/* The same GPUs that the line of the jobs names. */
static bool needs_repair(const struct report *r, const struct pci_device *d)
{
	for_each(f, &r->findings) {
		if (!f->off && f->answer.verdict == VERDICT_FAIL && f->answer.subject &&
		    str_is(d->bdf, f->answer.subject) && steps_needs_repair(f, f->severity))
			return true;
	}
	return false;
}

#define NAMED 3 /* parts of a list of devices in the head */

/* Returns " (4 usable; GPU2 needs repair; GPU3 bound to vfio-pci)" if not all are, or "". */
static const char *usable_text(const struct report *r)
{
	struct arena *arena = r->arena;
	const char **broken = arena_alloc(arena,
					  (r->node->pci.devices.count + 1) * sizeof(*broken));
	const char **others = arena_alloc(arena,
					  (r->node->pci.devices.count + 1) * sizeof(*others));
	size_t usable = 0, n = 0, m = 0;
	const char *driver = "", *text;

	for_each(d, &r->node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		if (known_is(d->answers, false) || needs_repair(r, d)) {
			broken[n++] = subject_label(r->node, d->bdf.value, arena);
		} else if (has_other_driver(r, d)) {
			driver = m && !str_is(d->driver, driver) ? "other drivers"
								 : d->driver.value;
			others[m++] = subject_label(r->node, d->bdf.value, arena);
		} else {
			usable++;
		}
	}
	if (!n && !m)
		return "";
	text = arena_printf(arena, " (%zu usable", usable);
	if (n)
		text = arena_printf(arena, "%s; %s need%s repair", text,
				    labels_join(broken, n, NAMED, arena), n == 1 ? "s" : "");
	if (m)
		text = arena_printf(arena, "%s; %s bound to %s", text,
				    labels_join(others, m, NAMED, arena), driver);
	return arena_printf(arena, "%s)", text);
}

/* "8 x NVIDIA H200" and other GPUs. */
static const char *models_text(const struct report *r)
{
	struct arena_text text = { .arena = r->arena };
	struct models models = { .kinds = 0 };

	for_each(d, &r->node->pci.devices)
		if (pci_is_gpu(d))
			count_model(&models, model_of(r->node, d));
	for (size_t i = 0; i < models.kinds; i++)
		arena_add(&text, "%s%zu x NVIDIA %s", i ? ", " : "", models.count[i],
			  models.name[i]);
	if (models.others)
		arena_add(&text, ", %zu others", models.others);
	return text.n ? arena_added(&text) : "no NVIDIA GPU";
}

static const char *driver_text(const struct report *r)
{
	const struct driver_facts *driver = &r->node->driver;

	if (known_is(driver->loaded, false))
		return "not loaded";
	if (!is_known(driver->version))
		return "unknown";
	return arena_printf(
		r->arena, "%s%s%s%s", driver->version.value, is_known(driver->flavour) ? " (" : "",
		is_known(driver->flavour) ? driver_flavour_words[driver->flavour.value] : "",
		is_known(driver->flavour) ? " modules)" : "");
}

const char *render_gpus(const struct report *r)
{
	bool counted = topology_gpus(r->node) > 1 && gpu_numbering(r->node) == GPU_NUMBERS_PCI;

	if (!was_read(r->node->pci.devices))
		return arena_printf(r->arena, "unknown, driver %s", driver_text(r));
	return arena_printf(r->arena, "%s%s, driver %s%s", models_text(r), usable_text(r),
			    driver_text(r), counted ? "; numbered in PCI order" : "");
}

/* "; down: mlx5_8, mlx5_9" */
static const char *down_text(const struct report *r, size_t most)
{
	const char **names = arena_alloc(r->arena, (most + 1) * sizeof(*names));
	size_t count = 0;

	for_each(d, &r->node->rdma.devices)
		for_each(p, &d->ports)
			if (is_known(p->state) && p->state.value != RDMA_PORT_ACTIVE)
				names[count++] =
					d->ports.count == 1
						? d->name.value
						: arena_printf(r->arena, "%s port %" PRIu64,
							       d->name.value, p->port.value);
	return count ? arena_printf(r->arena, "; down: %s", labels_join(names, count, 3, r->arena))
		     : "";
}

/* "; without RDMA: NIC 0000:5c:00.0" */
static const char *missing_text(const struct report *r)
{
	const char **names = arena_alloc(r->arena, (r->findings.count + 1) * sizeof(*names));
	size_t count = 0;

	for_each(f, &r->findings)
		if (f->rule->lacks_rdma_device && !f->off && f->answer.verdict == VERDICT_FAIL &&
		    f->answer.subject)
			names[count++] = subject_label(r->node, f->answer.subject, r->arena);
	return count ? arena_printf(r->arena, "; no RDMA: %s",
				    labels_join(names, count, 3, r->arena))
		     : "";
}

const char *render_nics(const struct report *r)
{
	const struct node *node = r->node;
	size_t active = 0, ports = 0;

	if (!was_read(node->rdma.devices))
		return "unknown";
	if (node->rdma.devices.count == 0)
		return "no RDMA device";
	for_each(d, &node->rdma.devices) {
		for_each(p, &d->ports) {
			ports++;
			active += known_is(p->state, RDMA_PORT_ACTIVE);
		}
	}
	return arena_printf(r->arena, "%u RDMA device%s, %zu of %zu port%s active%s%s",
			    node->rdma.devices.count, node->rdma.devices.count == 1 ? "" : "s",
			    active, ports, ports == 1 ? "" : "s", down_text(r, ports - active),
			    missing_text(r));
}

static const char *kernel_of_mounted_image(const struct fact_str *from)
{
	return str_is(*from, "option")	      ? "chosen with --kernel"
	       : str_is(*from, "boot-loader") ? "chosen by its boot loader"
	       : str_is(*from, "newest")      ? "the newest in it"
					      : NULL;
}

static const char *mounted_image_text(const struct report *r)
{
	const struct os_facts *os = &r->node->os;
	const char *from = kernel_of_mounted_image(&os->next_boot);

	if (!from)
		return arena_printf(r->arena, "an image, %s, without a kernel",
				    or_unknown(os->name));
	return arena_printf(r->arena, "an image, %s; its next boot is evaluated: Linux %s, %s",
			    or_unknown(os->name), os->kernel.value, from);
}

const char *render_not_here(const struct report *r)
{
	size_t count = problems_not_here(r);

	return count ? arena_printf(r->arena,
				    "%zu check%s need%s the machine, or a running kernel. %s",
				    count, count == 1 ? "" : "s", count == 1 ? "s" : "",
				    was_read(r->node->pci.devices)
					    ? "Check again after the boot."
					    : "Give a machine with --hardware FILE; check the "
					      "rest after the boot.")
		     : NULL;
}

const char *render_system(const struct report *r)
{
	const struct os_facts *os = &r->node->os;
	const char *kernel = or_unknown(os->kernel), *machine = or_unknown(os->machine);
	const char *text = arena_printf(r->arena, "%s, %s, Linux %s%s%s", or_unknown(os->hostname),
					or_unknown(os->name), kernel,
					strstr(kernel, machine) ? "" : ", ",
					strstr(kernel, machine) ? "" : machine);

	if (is_known(os->next_boot))
		text = mounted_image_text(r);
	if (is_known(os->hypervisor))
		text = arena_printf(r->arena, "%s, virtual machine (%s)", text,
				    os->hypervisor.value);
	if (is_known(os->container))
		text = arena_printf(r->arena, "%s, inside a container (%s)", text,
				    os->container.value);
	return text;
}

const char *render_time(struct fact_u64 seconds, struct arena *arena)
{
	time_t when = (time_t)seconds.value;
	struct tm parts;
	char text[32];

	if (!is_known(seconds) || seconds.value > INT32_MAX * UINT64_C(4) ||
	    !gmtime_r(&when, &parts) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
		return NULL;
	return arena_strdup(arena, text);
}

const char *render_taken(const struct report *r)
{
	const struct os_facts *os = &r->node->os;
	const char *time = render_time(os->observed_time_s, r->arena);
	const char *who = !is_known(os->observed_uid) ? "an unknown user"
			  : os->observed_uid.value == 0
				  ? "root"
				  : arena_printf(r->arena, "uid %" PRIu64 " (not root)",
						 os->observed_uid.value);

	return time ? arena_printf(r->arena, "%.10s %.8s UTC by %s", time, time + 11, who) : NULL;
}

/* Whether the repairs that waited for the last boot are in effect now; NULL if there were none. */
static const char *repairs_text(const struct report *r)
{
	size_t live = 0, all = 0;

	for_each(f, &r->findings) {
		if (!f->rule->is_about_repairs || !f->answer.subject)
			continue;
		all++;
		live += f->answer.verdict == VERDICT_PASS;
	}
	if (!all)
		return NULL;
	return live == all
		       ? "all took effect at the last boot"
		       : arena_printf(r->arena,
				      "%zu earlier repair%s did not take effect at the last boot",
				      all - live, all - live == 1 ? "" : "s");
}

static int line(struct view *v, const char *name, const char *text)
{
	if (!text)
		return 0;
	page_label(&v->page, 0, TEXT_MARK, name, text);
	return lines_of(v, text, TEXT_MARK);
}

/* ---- a verdict for each profile ---- */

static const char *readiness_text(enum readiness state)
{
	switch (state) {
	case READY:
		return "ready";
	case READY_WITH_WARNINGS:
		return "ready, with warnings";
	case READY_EXCEPT_SETTINGS:
		return "ready, but the job's settings are wrong";
	case NOT_READY_WAITING:
		return "not ready (waiting to take effect)";
	case NOT_READY_ERROR:
		return "not ready (error)";
	case NOT_READY_CRITICAL:
		return "not ready (critical)";
	case READINESS_NO_PEER:
		return "needs two GPUs, and this node has one";
	}
	return "";
}

/* Returns the profiles of ALL with this state. */
static unsigned int profiles_with(unsigned int all, const struct steps *steps, enum readiness state)
{
	unsigned int same = 0;

	for (unsigned int bit = 0; profile_words[bit]; bit++)
		if (all & 1u << bit && readiness_of(steps, 1u << bit).state == state)
			same |= 1u << bit;
	return same;
}

/* "base, p2p: not ready (error); deepep: ready" */
const char *render_profile_verdicts(const struct report *r, const struct steps *steps)
{
	unsigned int left = readiness_profiles(r, steps->problems);
	const char *text = "";

	for (unsigned int bit = 0; profile_words[bit]; bit++) {
		enum readiness state;
		unsigned int same;

		if (!(left & 1u << bit))
			continue;
		state = readiness_of(steps, 1u << bit).state;
		same = profiles_with(left, steps, state);
		left &= ~same;
		text = arena_printf(r->arena, "%s%s%s: %s", text, *text ? "; " : "",
				    profiles_text(r->arena, same), readiness_text(state));
	}
	return text;
}

/* Without problems the first line of the report names the profiles already. */
static const char *profiles_line(const struct view *v)
{
	const struct report *r = v->report;
	bool any = v->problems->items.count;
	const char *text = any ? render_profile_verdicts(r, v->steps)
			       : arena_printf(r->arena, "%s: no problems found",
					      profiles_text(r->arena, r->profiles));

	if (v->options->verbose)
		return arena_printf(r->arena, "%s (%s)", text, r->profiles_reason);
	if (any)
		return text;
	return r->profiles & PROFILE_P2P && readiness_lacks_peer(r->node, PROFILE_P2P)
		       ? "p2p needs two GPUs"
		       : NULL;
}

/* "p2p, gpudirect-rdma or deepep" */
static const char *any_profile_text(struct arena *arena, unsigned int profiles)
{
	const char *text = profiles_text(arena, profiles), *last = strrchr(text, ',');

	return last ? arena_printf(arena, "%.*s or%s", (int)(last - text), text, last + 1) : text;
}

/* Jobs can start: which settings they must correct, and what else can disturb some of them. */
static const char *jobs_can_start(const struct view *v)
{
	LIST(const struct problem *) own = { 0 }, rest = { 0 };
	struct arena *arena = v->report->arena;
	const char *text = "can start";

	for_each(p, &v->problems->items)
		if (readiness_is_job_error(v->steps, p))
			*LIST_ADD(arena, &own) = p;
		else
			*LIST_ADD(arena, &rest) = p;
	if (v->problems->items.count == 1)
		return own.count ? "can start after their settings are corrected"
				 : "can start; the problem below can disturb some of them";
	if (own.count)
		text = arena_printf(arena, "can start after their settings are corrected [%s]",
				    text_numbers(v, own.items, own.count));
	return rest.count ? arena_printf(arena, "%s; [%s] can disturb some of them", text,
					 text_numbers(v, rest.items, rest.count))
			  : text;
}

/* For users who start jobs: whether jobs can start. It follows from the verdicts of the profiles. */
static const char *jobs_text(const struct view *v)
{
	struct arena *arena = v->report->arena;
	unsigned int stopped = readiness_stopped(v->steps);
	const char *lost = steps_repair_text(v->steps), *who = "";

	if (!v->problems->items.count)
		return is_known(v->report->node->os.next_boot) ? NULL : "can start";
	if (!stopped)
		return jobs_can_start(v);
	if (!(stopped & PROFILE_BASE))
		who = arena_printf(arena, "that need %s ", any_profile_text(arena, stopped));
	return arena_printf(arena, "%sshould not start %s%s%s", who,
			    is_known(v->report->node->os.container) ? "in this container"
								    : "on this node",
			    lost ? ": " : "", lost ? lost : "");
}

/* For a reader who would try a reboot first. */
static const char *reboot_text(const struct view *v)
{
	const struct problem *p = steps_stops_boot(v->steps);

	if (!p)
		return NULL;
	return arena_printf(v->report->arena, "do not reboot before %sis repaired: %s",
			    v->problems->items.count > 1 ? text_number(v, p) : "this ",
			    finding_title(p->first));
}

/* A table of all problems is in the order of the steps, so the worst one may not be first. This line then names it. */
static const char *worst_text(const struct view *v)
{
	const struct problem *first = v->problems->items.items, *worst = problem_worst(v->problems);

	if (!v->options->brief && (int)v->problems->items.count > v->page.rows)
		return NULL;
	return worst == first || worst->severity == first->severity
		       ? NULL
		       : arena_printf(v->report->arena, "%s%s", text_number(v, worst),
				      finding_title(worst->first));
}

/* The devices or versions, else the rule. */
static const char *name_of(const struct view *v, const struct problem *p)
{
	const char *where = render_where(v->report, &p->members, 1);

	return *where ? where : p->first->rule->id;
}

/* Wrong data that no error shows can already be in results. */
static const char *results_text(const struct view *v)
{
	const char *text = "of jobs so far on this node can be wrong: tell their users";
	struct arena *arena = v->report->arena;

	for_each(p, &v->problems->items) {
		if (!p->wrong_data || p->waits)
			continue;
		if (v->problems->items.count == 1 || !v->has_steps)
			return text;
		if (!v->is_cut)
			return arena_printf(arena, "%s, see [%u]", text, steps_number(v->steps, p));
		/* The page may not have the problem. */
		text = "of jobs so far on this node can be wrong:";
		return arena_printf(arena, "%s [%u] %s", text, steps_number(v->steps, p),
				    name_of(v, p));
	}
	return NULL;
}

int text_head(struct view *v)
{
	const struct report *r = v->report;
	int lines = line(v, "Node", render_system(r));

	lines += line(v, "GPUs", render_gpus(r));
	lines += line(v, "NICs", render_nics(r));
	lines += line(v, "Profiles", profiles_line(v));
	lines += line(v, "Jobs", jobs_text(v));
	lines += line(v, "Results", results_text(v));
	lines += line(v, "Worst", worst_text(v));
	lines += line(v, "Reboot", reboot_text(v));
	lines += line(v, "Not here", render_not_here(r));
	return lines + line(v, "Repairs", repairs_text(r));
}
