/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * driver.c - the NVIDIA driver that is loaded, from /proc/driver/nvidia. Its module parameters have
 * permission 0, so /sys/module/nvidia/parameters does not exist and the params file is the only
 * view of the running values (open-gpu-kernel-modules: kernel-open/nvidia/nv-procfs.c).
 */
#include <stdio.h>
#include <string.h>

#include "parse/nvidia.h"
#include "parse/service-words.h"
#include "probes/probe.h"
#include "query/node-find.h"

#define VERSION_FILE "/proc/driver/nvidia/version"
#define PARAMS_FILE "/proc/driver/nvidia/params"

static void read_version(struct probe_context *ctx)
{
	struct driver_facts *driver = &ctx->node->driver;
	_cleanup_text_ struct text text = { 0 };
	struct nvidia_banner banner;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, VERSION_FILE);

	if (rc) {
		driver->version.state = driver->banner.state = driver->builder.state =
			driver->flavour.state = probe_state(rc);
		return;
	}
	if (nvidia_banner_parse(text_span(&text), &banner)) {
		host_gap_note(ctx->host, VERSION_FILE, -EBADMSG, "no NVRM version line");
		return;
	}
	driver->banner = probe_span(ctx, banner.line);
	driver->version = probe_span(ctx, banner.version);
	driver->flavour = fact_enum(banner.open ? FLAVOUR_OPEN : FLAVOUR_PROPRIETARY);
	if (banner.builder.n)
		driver->builder = probe_span(ctx, banner.builder);
	else
		driver->builder.state = FACT_ABSENT;
}

static void add_param(void *user, struct span name, struct span value, size_t line)
{
	struct probe_context *ctx = user;
	struct driver_param *param = LIST_ADD(ctx->arena, &ctx->node->driver.params);

	param->name = probe_span(ctx, name);
	param->value = probe_span(ctx, value);
	param->line = fact_u64(line);
}

static void read_params(struct probe_context *ctx)
{
	struct driver_facts *driver = &ctx->node->driver;
	_cleanup_text_ struct text text = { 0 };
	char why[64];
	size_t bad;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, PARAMS_FILE);

	driver->params.state = probe_state(rc);
	if (rc)
		return;
	bad = nvidia_params_parse(text_span(&text), add_param, ctx);
	if (bad) {
		snprintf(why, sizeof(why), "line %zu is not of the form Name: value", bad);
		host_gap_note(ctx->host, PARAMS_FILE, -EBADMSG, why);
	}
}

/* Firmware that the GPU System Processor is started with (osinit.c asks for nvidia/VERSION/gsp_*). */
void probe_find_gsp_firmware(struct probe_context *ctx)
{
	struct driver_facts *driver = &ctx->node->driver;
	_cleanup_names_ struct names names = { 0 };
	int rc;

	if (!is_known(driver->version))
		return;
	rc = host_list(ctx->host, &names, "/lib/firmware/nvidia/%s", driver->version.value);
	driver->gsp_firmware.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++)
		if (span_starts(span_of(names.items[i]), "gsp_"))
			*LIST_ADD(ctx->arena, &driver->gsp_firmware) =
				fact_str(ctx->arena, names.items[i]).value;
}

/* Returns true if files other than the driver's own show that it is loaded. */
static bool is_loaded_elsewhere(const struct node *node)
{
	const struct module *module = node_module(node, "nvidia");

	if (module && known_not(module->state, MODULE_BUILTIN))
		return true;
	for_each(d, &node->pci.devices)
		if (str_is(d->driver, "nvidia"))
			return true;
	return false;
}

/* Either view is enough: a container can hide one of them. Where both lack what a third has, they were
 * not copied, or are hidden. Without a list of the loaded modules they can have been left out as well. */
static void find_loaded(struct probe_context *ctx)
{
	struct driver_facts *driver = &ctx->node->driver;
	struct fact_str state = { 0 };
	bool elsewhere;

	probe_str(ctx, &state, "/sys/module/nvidia/initstate");
	elsewhere = is_known(state) || is_loaded_elsewhere(ctx->node);
	if (is_known(driver->version) || is_known(state))
		driver->loaded = fact_bool(is_known(driver->version) || str_is(state, "live"));
	else if (is_absent(driver->version) && is_absent(state) && !elsewhere &&
		 was_read(ctx->node->modules.loaded))
		driver->loaded = fact_bool(false);
	if (!is_absent(driver->version) || !elsewhere)
		return;
	host_gap_note(ctx->host, VERSION_FILE, -ENODATA, "not there, though the driver is loaded");
	driver->version.state = driver->banner.state = driver->builder.state =
		driver->flavour.state = FACT_UNKNOWN;
	if (is_absent(driver->params))
		driver->params.state = FACT_UNKNOWN;
}

/* ---- its installer ---- */

#define INSTALLER_LOG "/var/log/nvidia-installer.log"
#define INSTALLER_LOG_MAX (8u << 20) /* the compiler's output is in it */
#define INSTALLER_LINE 300

struct installer_log {
	struct span version, error;
	const struct service_word *word; /* of the error; NULL: a line that begins with ERROR */
	bool failed;
};

/* The words are in the order in which they count. */
static void take_installer_line(struct installer_log *log, struct span line)
{
	static const char version[] = "installer version:", error[] = "ERROR:";
	static const char failed[] = "Installation has failed.";
	const struct service_word *word;
	char text[INSTALLER_LINE + 1];

	snprintf(text, sizeof(text), "%.*s", SPAN_FMT(line));
	word = service_word_find("nvidia-installer.service", text);
	if (span_starts(line, version))
		log->version = span_trim(
			(struct span){ line.p + strlen(version), line.n - strlen(version) });
	if (span_search(line, failed)) {
		log->failed = true;
	} else if (word && (!log->word || word < log->word)) {
		log->word = word;
		log->error = line;
	} else if (!log->error.n && span_starts(line, error)) {
		log->error = line;
	}
}

static int ask_installer(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct driver_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct installer_log log = { .failed = false };
	int rc = host_read(host, &text, INSTALLER_LOG_MAX, "%s", (const char *)user);
	struct span rest = text_span(&text), line;

	if (rc)
		return rc;
	while (span_cut(&rest, '\n', &line)) {
		line = span_trim(line);
		line.n = line.n < INSTALLER_LINE ? line.n : INSTALLER_LINE;
		if (line.n)
			take_installer_line(&log, line);
	}
	answer->installer_error.state = FACT_ABSENT;
	answer->installer_version.state = FACT_ABSENT;
	if (log.version.n)
		answer->installer_version = fact_strn(arena, log.version.p, log.version.n);
	if (log.failed)
		answer->installer_error = log.error.n ? fact_strn(arena, log.error.p, log.error.n)
						      : fact_str(arena, "Installation has failed.");
	return 0;
}

static void read_installer_log(struct probe_context *ctx)
{
	static char path[] = INSTALLER_LOG;
	struct driver_facts *driver = &ctx->node->driver, answer = { 0 };
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s", path);

	driver->installer_error.state = driver->installer_version.state = probe_state(rc);
	if (rc == 0) {
		host_query(ctx->host, path, &driver_facts_desc, &answer, ctx->arena, ask_installer,
			   path);
		driver->installer_error = answer.installer_error;
		driver->installer_version = answer.installer_version;
	}
}

static void driver_run(struct probe_context *ctx)
{
	if (!ctx->preflight)
		read_installer_log(ctx);
	read_version(ctx);
	read_params(ctx);
	probe_find_gsp_firmware(ctx);
	find_loaded(ctx);
}

const struct probe probe_driver = {
	.name = "driver",
	.phase = PHASE_SECOND,
	PROBE_SECTION(driver),
	.run = driver_run,
	.preflight = { .run = driver_run },
};
