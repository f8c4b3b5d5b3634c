/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-daemons.c - services that should run and do not, and why (rule services/daemon-down). */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "query/kind.h"
#include "query/service-cause.h"

/* ---- the services, and what breaks without each ---- */

struct daemon {
	const char *unit;
	enum severity severity;
	const char *impact;
};

static const struct daemon daemons[] = {
	{ "containerd.service", SEVERITY_ERR, "No container starts on this node." },
	{ "crio.service", SEVERITY_ERR, "No pod starts on this node." },
	{ "dcgm-exporter.service", SEVERITY_WARN, "GPU metrics of this node are not exported." },
	{ "docker.service", SEVERITY_ERR, "Docker starts no container on this node." },
	{ "gdrcopy.service", SEVERITY_WARN, "GDRCopy is not available: small copies are slower." },
	{ "gdrdrv.service", SEVERITY_WARN, "GDRCopy is not available: small copies are slower." },
	{ "kubelet.service", SEVERITY_ERR, "Kubernetes starts no pod on this node." },
	{ "nv_peer_mem.service", SEVERITY_WARN, "NICs may not reach GPU memory." },
	{ "nvidia-cdi-refresh.service", SEVERITY_WARN,
	  "The CDI specification is not renewed when the driver changes." },
	{ "nvidia-dcgm.service", SEVERITY_WARN, "GPU health and metrics are not collected." },
	{ "nvidia-imex.service", SEVERITY_ERR,
	  "Memory of GPUs in other trays cannot be mapped: fabric handles fail." },
	{ "nvidia-persistenced.service", SEVERITY_WARN,
	  "GPUs are initialized for each job, which takes seconds, and lose their settings between jobs." },
	{ "openibd.service", SEVERITY_WARN, "OFED's RDMA modules may not be loaded." },
	{ "opensm.service", SEVERITY_ERR, "The InfiniBand subnet may have no manager." },
	{ "opensmd.service", SEVERITY_ERR, "The InfiniBand subnet may have no manager." },
	{ "rdma-ndd.service", SEVERITY_INFO,
	  "RDMA devices do not have the host's name in their description." },
	{ "slurmd.service", SEVERITY_ERR, "Slurm sends no jobs to this node." },
	{ "systemd-modules-load.service", SEVERITY_WARN,
	  "Modules that are configured for boot may be missing." },
};

static const struct daemon *find_daemon(struct fact_str unit)
{
	static const struct daemon peermem = { NULL, SEVERITY_WARN,
					       "NICs may not reach GPU memory." };

	for (size_t i = 0; i < ARRAY_SIZE(daemons); i++)
		if (str_is(unit, daemons[i].unit))
			return &daemons[i];
	return is_known(unit) && strstr(unit.value, "peermem") ? &peermem : NULL;
}

/* ---- one of them ---- */

/* systemd gives up after five starts in ten seconds by default; one or two are no loop yet. */
#define RESTARTS_MANY 3

static bool is_restarting(const struct service *s)
{
	return service_condition(s) == SERVICE_STARTING && is_known(s->restarts) &&
	       s->restarts.value >= RESTARTS_MANY;
}

static const char *state_text(struct rule_context *ctx, const struct service *s)
{
	const char *ending = service_ending(ctx->arena, s);

	if (is_restarting(s))
		return text_printf(ctx, "was restarted %" PRIu64 " times and ends each time",
				   s->restarts.value);
	if (service_condition(s) == SERVICE_FAILED)
		return ending ? text_printf(ctx, "has failed (%s)", ending) : "has failed";
	return "does not run";
}

/* "has failed (exit-code, status 1): it found no GPU. Its last word: ..." */
static const char *full_text(struct rule_context *ctx, const struct service *s,
			     const struct service_cause *cause)
{
	const struct service_line *word = service_last_word(s);
	const char *text = state_text(ctx, s);

	if (cause->text)
		text = text_printf(ctx, "%s: %s", text, cause->text);
	if (word)
		text = text_printf(ctx, "%s. Last line (%s): %.200s", text, word->file.value,
				   word->text.value);
	return text;
}

static const char *default_remedy(struct rule_context *ctx, const struct service *s)
{
	return text_printf(
		ctx, "Read journalctl -b -u %s and correct the cause before you start it again.",
		shell_name(s->unit.value, "UNIT"));
}

/* Returns true for a line of slurmd about gres.conf, or about the plugin that its AutoDetect needs. */
static bool is_about_gres(const struct service_line *line)
{
	static const char *const signs[] = { "gres.conf", "autodetect nvml", "gpu/nvml" };

	for (size_t i = 0; line && i < ARRAY_SIZE(signs); i++)
		if (strstr(line->text.value, signs[i]))
			return true;
	return false;
}

/* Returns true if the cause is a file that Slurm's configuration names: services/gres-conf has these. */
static bool is_file_of_slurm(const struct service_cause *cause)
{
	static const char references[] = "references.items";

	return cause->fact && starts_with(cause->fact, references);
}

/* Returns true if the line names a device file of a GPU that the node lacks. */
static bool names_missing_device(const struct node *node, const struct service_line *line)
{
	const char *path = line ? strstr(line->text.value, "/dev/nvidia") : NULL;

	if (!path || !was_read(node->dev.nodes))
		return false;
	for_each(n, &node->dev.nodes)
		if (starts_with(path, n->path.value) &&
		    !isdigit((unsigned char)path[strlen(n->path.value)]))
			return false;
	return isdigit((unsigned char)path[strlen("/dev/nvidia")]) ||
	       starts_with(path, "/dev/nvidiactl");
}

static void fail(struct rule_context *ctx, const struct daemon *daemon, const struct service *s)
{
	struct service_cause cause = service_find_cause(ctx->arena, ctx->node, s);
	bool of_line = !cause.fact || strstr(cause.fact, "last_lines");
	/* Another cause, of which the line is not, counts more. */
	const char *start = of_line && names_missing_device(ctx->node, service_last_word(s))
				    ? shell_printf(ctx->arena, "sudo systemctl restart %s",
						   s->unit.value)
				    : NULL;

	FAIL_AS(ctx, daemon->severity, .subject = s->unit.value,
		.observed = full_text(ctx, s, &cause), .expected = "active",
		.impact = daemon->impact,
		.remedy = start		 ? "Repair the device files first. Then start the service:"
			  : cause.remedy ? cause.remedy
					 : default_remedy(ctx, s),
		.command = start,
		.follows = is_about_gres(service_last_word(s)) || is_file_of_slurm(&cause)
				   ? "services/gres-conf"
				   : NULL,
		.follows_any = true,
		.evidence = { fact_path(ctx->arena, "services.units", s->unit.value, "active"),
			      cause.fact });
}

/* Enabled, and the reason why it does not run is not known. */
static void check_stopped(struct rule_context *ctx, const struct daemon *daemon,
			  const struct service *s)
{
	if (service_find_cause(ctx->arena, ctx->node, s).text)
		fail(ctx, daemon, s);
	else
		NOTE(ctx, .subject = s->unit.value,
		     .observed =
			     was_read(s->last_lines)
				     ? "enabled, and does not run; the messages that were read record no failure"
				     : "enabled, and does not run; no messages of it were found",
		     .remedy = text_printf(ctx, "systemctl status %s shows why.",
					   shell_name(s->unit.value, "UNIT")),
		     .evidence = {
			     fact_path(ctx->arena, "services.units", s->unit.value, "active") });
}

static bool is_enabled(const struct service *s)
{
	return is_known(s->enabled) && str_starts(s->enabled, "enabled");
}

/* With compute domains the DRA driver runs IMEX: services/imex-beside-dra. */
static bool is_not_wanted(const struct node *node, const struct service *s)
{
	return str_is(s->unit, "nvidia-imex.service") && node_is(node, KIND_COMPUTE_DOMAINS);
}

static void check_one(struct rule_context *ctx, const struct daemon *daemon,
		      const struct service *s)
{
	const char *fact = fact_path(ctx->arena, "services.units", s->unit.value, "active");

	if (is_not_wanted(ctx->node, s))
		return;

	switch (service_condition(s)) {
	case SERVICE_RUNS:
		PASS(ctx, .subject = s->unit.value, .evidence = { fact });
		break;
	case SERVICE_FAILED:
		fail(ctx, daemon, s);
		break;
	case SERVICE_STARTING:
		if (is_restarting(s))
			fail(ctx, daemon, s);
		break;
	case SERVICE_STOPPED:
		if (is_enabled(s))
			check_stopped(ctx, daemon, s);
		break;
	case SERVICE_UNSURE:
		if (is_enabled(s))
			UNKNOWN(ctx, .subject = s->unit.value,
				.observed =
					"whether it runs, or how its last run ended, is not known",
				.evidence = { fact });
		break;
	default:
		break;
	}
}

static void check_daemons(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct service *unread = NULL;
	size_t before = ctx->findings->count;

	if (!was_read(node->services.units)) {
		UNKNOWN(ctx,
			.observed = is_known(node->os.container)
					    ? "a container cannot see its host's services"
					    : NULL,
			.evidence = { "services.units" });
		return;
	}
	if (!node->rdma.devices.count && skip_without_gpu_or_rdma(ctx))
		return;
	for_each(s, &node->services.units) {
		const struct daemon *daemon = find_daemon(s->unit);

		if (daemon)
			check_one(ctx, daemon, s);
		if (daemon && is_unknown(s->load))
			unread = s;
	}
	if (ctx->findings->count > before)
		return;
	if (unread)
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "services.units",
						     unread->unit.value, "load") });
	else
		NOT_APPLICABLE(ctx, .observed = "none of the services is installed",
			       .evidence = { "services.units" });
}

static const struct rule services_daemons_rules[] = {
	{
		.id = "services/daemon-down",
		.title = "A service that jobs need does not run",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_daemons,
		.needs_running = true,
		.impact = "Jobs do not reach the node, or lack what the service provides.",
		.remedy =
			"Find the reason in the service's journal (journalctl -b -u and its name) and correct it. Then start it with "
			"systemctl restart.",
		.activation = ACTIVATION_NOW,
		.follows = { "driver/loaded", "dev/nvidia-nodes-missing", "log/access-refused" },
		.reads =
			"What systemd reports of the units (result, exit status, restarts); unit files and drop-ins. The "
			"program, the libraries that it needs, and the files and users that the unit names. The last lines "
			"of the journal, of /var/log/syslog or messages, and of the service's own log.",
		.why = "\"failed\" alone does not say what to do. The reason can be a missing library, program, file or "
		       "user, a version that is not the driver's, or a known line of the log (data/service-words.tsv). A "
		       "service that is enabled and does not run, without a failure, is a note: it was stopped, or a "
		       "condition of its unit is not met. Fabric manager has its own rule.",
		.check = "systemctl --failed; systemctl status UNIT; journalctl -b -u UNIT",
		.sources =
			"systemd.exec(5) of systemd 252: Process Exit Codes\nsystemd.service(5); ld.so(8)\n"
			"org.freedesktop.systemd1(5)\n"
			"github.com/siderolabs/extensions issue 1073\n"
			"NVIDIA IMEX Service for NVLink Networks (2025-07): Getting Started",
	},
};

RULE_TABLE(services_daemons);
