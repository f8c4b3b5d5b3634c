/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-engine-errors.c - what container engines wrote about containers with GPUs (rule dev/engine-errors). */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "parse/service-words.h"
#include "query/driver-files.h"

/* "nvidia-container-cli: ... (dockerd, 3 times, last Jan  2 11:52:08; /var/log/syslog)" */
static const char *quote(struct rule_context *ctx, const struct engine_message *m,
			 const char *cause)
{
	const char *times = is_known(m->count) && m->count.value > 1
				    ? text_printf(ctx, ", %" PRIu64 " times", m->count.value)
				    : "";
	const char *time = is_known(m->time) ? text_printf(ctx, ", last %s", m->time.value) : "";

	return text_printf(ctx, "%s%s%s (%s%s%s; %s)", cause ? cause : "", cause ? ": " : "",
			   m->text.value, m->program.value, times, time,
			   is_known(m->file) ? m->file.value : "log");
}

/* How the node shows that the thing which the error missed is there now: the next container finds it. NULL: it does
 * not. */
static const char *what_cured(const struct node *node, const struct service_word *word)
{
	if (word->needs == NEEDS_DRIVER && known_is(node->driver.loaded, true))
		return "the driver is loaded now";
	if (word->needs == NEEDS_VERSIONS && known_is(node->driver.loaded, true) &&
	    driver_libraries(node).same && !driver_libraries(node).other)
		return "the libraries have the version of the loaded driver now";
	return NULL;
}

static const char *subject_of(const struct engine_message *m, const struct service_word *node_word,
			      const struct service_word *job_word)
{
	return node_word ? node_word->text : job_word ? job_word->text : m->program.value;
}

static void check_message(struct rule_context *ctx, const struct engine_message *m,
			  const char *fact)
{
	const struct service_word *node_word = service_word_find("nvidia-container.service",
								 m->text.value);
	const struct service_word *job_word = service_word_find("nvidia-container-job.service",
								m->text.value);
	const char *cured = node_word ? what_cured(ctx->node, node_word) : NULL;

	if (rule_has_answered(ctx, subject_of(m, node_word, job_word)))
		return;
	if (cured)
		NOTE(ctx, .subject = node_word->text,
		     .observed = text_printf(ctx, "%s; %s", quote(ctx, m, node_word->cause), cured),
		     .evidence = { fact, "driver.loaded" });
	else if (node_word)
		FAIL(ctx, .subject = node_word->text, .observed = quote(ctx, m, node_word->cause),
		     .expected = "no such error", .remedy = node_word->remedy,
		     .evidence = { fact });
	else
		NOTE(ctx, .subject = subject_of(m, NULL, job_word),
		     .observed = quote(ctx, m, job_word ? job_word->cause : NULL),
		     .remedy = job_word ? job_word->remedy : NULL, .evidence = { fact });
}

static void check_errors(struct rule_context *ctx)
{
	const struct containers_facts *containers = &ctx->node->containers;

	if (skip_without_gpu(ctx) || skip_in_container(ctx))
		return;
	if (is_absent(containers->toolkit) && was_read(containers->cdi) && !containers->cdi.count &&
	    !containers->messages.count)
		NOT_APPLICABLE(ctx, .observed = "neither the container toolkit nor CDI is set up",
			       .evidence = { "containers.toolkit", "containers.cdi" });
	else if (!was_read(containers->messages))
		UNKNOWN(ctx, .evidence = { "containers.messages" });
	else if (!containers->messages.count)
		PASS(ctx, .evidence = { "containers.messages" });
	/* The last one of several comes first. */
	for (uint32_t i = containers->messages.count; i-- > 0;) {
		const struct engine_message *m = &containers->messages.items[i];
		const char *fact = ITEM_FACT(ctx->arena, ctx->node, containers.messages, m, text);

		if (is_known(m->text) && is_known(m->program))
			check_message(ctx, m, fact);
	}
}

static const struct rule dev_engine_errors_rules[] = {
	{
		.id = "dev/engine-errors",
		.title = "Containers with GPUs did not start: the engine's log has the error",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_errors,
		.needs_running = true,
		.impact = "Containers with GPUs that start in the same way fail again.",
		.remedy =
			"Correct what the error names. If it was corrected since, nothing is to be done.",
		.activation = ACTIVATION_RECREATE,
		.follows = { "dev/toolkit-setting", "dev/toolkit-path-missing", "dev/cdi-version",
			     "dev/cdi-missing", "driver/library-mismatch", "driver/loaded" },
		.reads =
			"The last lines of Docker, containerd, CRI-O, Podman and the kubelet in the journal, and where there "
			"is none in /var/log/syslog or messages; the processes with these names.",
		.why = "The engine's log has the error of NVIDIA's programs, which the user of the container often does not see. "
		       "data/service-words.tsv has the causes; an error that it lacks is quoted in a note. A line of "
		       "syslog counts if the process that wrote it still runs. Any user can write a line with any tag, so "
		       "this is never more than a warning. An error stays in the log after its cause is gone: the "
		       "time is in the report. Where the node shows that the cause is gone, it is a note. What an engine "
		       "wrote before its last start does not count.",
		.check = "journalctl -b -u docker -u containerd -u kubelet | grep -iE 'nvidia|CDI'",
		.sources =
			"libnvidia-container 0f8e13d6: src/nvc_ldcache.c (nvc_ldcache_update); 162f9ba9: "
			"src/nvcgo/internal/cgroup/v2.go (AddDeviceRules); 09df17a2: src/cli/configure.c (configure_command)\n"
			"NVIDIA Container Toolkit 1.20.0: cmd/nvidia-container-runtime-hook/hook_config.go, internal/modifier/mode.go\n"
			"container-device-interface v1.1.0: pkg/cdi/cache.go (InjectDevices)\n"
			"github.com/NVIDIA/nvidia-docker issue 587; github.com/NVIDIA/libnvidia-container issue 154",
	},
};

RULE_TABLE(dev_engine_errors);
