/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - opens and reads the node of --root, --from or this machine. */
#include "cli/source.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/processor-limit.h"
#include "cli/from-file.h"
#include "cli/settings-read.h"
#include "probes/probe.h"

/* Most processor time for the file of one node, unless --timeout is given: a large node takes some milliseconds. */
#define FROM_PROCESSOR_MS 60000

#define FACTS_FORMAT "nvnodecheck-facts"

/* The beginning of either format's first line. */
static bool is_capture(const struct text *text)
{
	size_t n = text->size < 200 ? text->size : 200;

	return memmem(text->data, n, "nvnodecheck-capture", strlen("nvnodecheck-capture"));
}

static enum exit_status refuse_format(const struct text *text, const char *format, const char *file)
{
	struct json_error why;

	if (!json_check(text->data, text->size, &why))
		complain("%s:%zu: neither a facts file nor a capture: %s", file, why.line,
			 why.text);
	else if (format)
		complain("%s:1: neither a facts file nor a capture: \"format\" is \"%.60s\"", file,
			 format);
	else
		complain("%s:1: neither a facts file nor a capture: \"format\" is missing", file);
	return EXIT_CANNOT;
}

/* Invalid text is refused with that reason, even if its content has other faults. */
static enum exit_status load_facts(struct source *source, const char *file)
{
	const struct text *text = &source->file;
	_cleanup_json_ struct json_object *head = json_head(text->data, text->size);
	const char *format = json_string(head, "format");
	struct json_error why;
	struct fact_error error;
	bool later;

	if (!format || strcmp(format, FACTS_FORMAT) != 0)
		return refuse_format(text, format, file);
	if (json_check_document(head, FACTS_FORMAT, &later, &why)) {
		json_check(text->data, text->size, &why);
		complain("%s:%zu: %s", file, why.line, why.text);
		return EXIT_CANNOT;
	}
	if (!fact_series_read(&source->facts, &node_desc, source->node,
			      (struct span){ text->data, text->size }, later, &error))
		return EXIT_WELL;
	if (json_check(text->data, text->size, &why))
		complain("%s: %s", file, error.text);
	else
		complain("%s:%zu: %s", file, why.line, why.text);
	return EXIT_CANNOT;
}

static enum exit_status open_from(struct source *source, const struct options *options)
{
	const char *file = options->from;
	enum exit_status status;
	char error[256];

	memory_reads(file);
	processor_limit_begin(file, options->timeout_ms ? options->timeout_ms : FROM_PROCESSOR_MS);
	status = from_file_read(file, options->timeout_ms, &source->file);
	if (status)
		return status;
	if (!is_capture(&source->file))
		return load_facts(source, file);
	source->host = host_open_capture(file, source->file.data, source->file.size, error);
	if (source->host)
		return EXIT_WELL;
	complain("%s", error);
	return EXIT_CANNOT;
}

enum exit_status open_root(const struct options *options, struct root *root,
			   const struct root **used)
{
	int rc;

	*used = NULL;
	if (!options->root)
		return EXIT_WELL;
	rc = root_open(root, options->root);
	if (rc) {
		complain("--root %s: %s", options->root, strerror(-rc));
		return EXIT_CANNOT;
	}
	*used = root;
	return EXIT_WELL;
}

static enum exit_status make_node(struct source *source)
{
	if (!source->arena)
		source->arena = arena_new(ARENA_BYTES, "facts and findings");
	if (!source->arena) {
		complain("out of memory");
		return EXIT_CANNOT;
	}
	source->node = arena_alloc(source->arena, sizeof(*source->node));
	return EXIT_WELL;
}

static enum exit_status open_host(struct source *source)
{
	char error[256] = "out of memory";

	source->host = source->root ? host_open_tree(source->root, error) : host_open_live();
	if (source->host)
		return EXIT_WELL;
	complain("%s", error);
	return EXIT_CANNOT;
}

/* ---- images ---- */

static enum exit_status read_hardware(struct source *source, const struct options *options)
{
	struct options one = *options;
	enum exit_status status;

	one.kernel = one.hardware = NULL;
	source->machine = memory_need(calloc(1, sizeof(*source->machine)));
	status = source_read_file(source->machine, &one, options->hardware);
	if (status)
		return status;
	source->hardware = source->machine->node;
	if (was_read(source->hardware->pci.devices))
		return EXIT_WELL;
	complain("--hardware %s: it has no PCI devices", options->hardware);
	return EXIT_USAGE;
}

/* Checks the options for images. The node must have been observed, because only the child reads a tree. */
static enum exit_status check_mounted_image(const struct source *source, const char *kernel)
{
	const struct os_facts *os = &source->node->os;

	if (!kernel && !source->hardware)
		return EXIT_WELL;
	if (!is_known(os->next_boot)) {
		complain("--%s is for images: the root has a running system's /proc or /sys, or no "
			 "/etc/os-release",
			 kernel ? "kernel" : "hardware");
		return EXIT_USAGE;
	}
	if (!kernel || str_is(os->kernel, kernel))
		return EXIT_WELL;
	complain("--kernel %s: the image has no /lib/modules/%s", kernel, kernel);
	return EXIT_USAGE;
}

enum exit_status source_open(struct source *source, const struct options *options)
{
	enum exit_status status = make_node(source);

	if (!status && options->from)
		return open_from(source, options);
	if (!status)
		status = open_root(options, &source->own_root, &source->root);
	if (!status)
		status = open_host(source);
	return status || !options->hardware ? status : read_hardware(source, options);
}

enum exit_status source_reopen(struct source *source, const struct source *again)
{
	enum exit_status status = make_node(source);

	source->root = again->root;
	source->hardware = again->hardware;
	return status ? status : open_host(source);
}

static enum exit_status observe(struct source *source, const struct observation *how)
{
	struct host_stat stat;
	int rc;

	if (!source->host)
		return EXIT_WELL;
	if (how->pid && host_stat(source->host, &stat, "/proc/%d", (int)how->pid) == -ENOENT) {
		complain("--pid %d: no such process", (int)how->pid);
		return EXIT_USAGE;
	}
	rc = node_observe(source->host, source->arena, source->node, how);
	fact_close_holes(&node_desc, source->node);
	if (rc == 0)
		return check_mounted_image(source, how->kernel);
	complain("cannot start a process for the probes: %s", strerror(-rc));
	return EXIT_CANNOT;
}

static enum probe_nvml nvml_of_options(const void *user)
{
	const struct options *options = user;

	return (enum probe_nvml)options->nvml;
}

/* The observation that the options ask for, without the configuration. */
static struct observation observation_of(const struct source *source, const struct options *options)
{
	return (struct observation){ .pid = options->pid,
				     .kernel = options->kernel,
				     .hardware = source->hardware,
				     .timeout_ms = options->timeout_ms,
				     .nvml = nvml_of_options,
				     .serials = options->serials,
				     .user = (void *)options };
}

enum exit_status source_observe(struct source *source, const struct options *options)
{
	const struct observation how = observation_of(source, options);

	return observe(source, &how);
}

/* ---- the configuration ---- */

/* Applies the options, which override the configuration. */
static void apply_options(struct settings *settings, const struct options *options)
{
	if (options->profiles) {
		settings->profiles = options->profiles;
		settings->profiles_from = NULL;
	}
	if (options->fail_on >= 0)
		settings->fail_on = SEVERITY_WARN + (enum severity)options->fail_on;
	settings->strict |= options->strict;
	settings->only = options->only[0] ? (const char **)options->only : NULL;
	settings->skip = options->skip[0] ? (const char **)options->skip : NULL;
}

/* RC of settings_read(). A tree's files are looked for in it, the one of --config too. */
static enum exit_status refuse_settings(const struct options *options, int rc, const char *error)
{
	if (options->root && options->config && (rc == -ENOENT || rc == -ENODATA))
		complain("--config %s is read below --root, and there is no %s%s%s",
			 options->config, options->root, *options->config == '/' ? "" : "/",
			 options->config);
	else
		complain("%s", error);
	return rc == -ELIBACC ? EXIT_CANNOT : EXIT_USAGE;
}

/* A capture holds the configuration of its own node; --config given with one is a file here. */
enum exit_status source_settings(struct source *source, const struct options *options,
				 struct settings *settings)
{
	struct host *host = source->host;
	char error[512];
	int rc = 0;

	settings_init(settings);
	if (options->from && options->config)
		host = host_open_live();
	if (host)
		rc = settings_read(settings, host, options->config, source->arena, error);
	if (host != source->host)
		host_close(host);
	if (rc)
		return refuse_settings(options, rc, error);
	apply_options(settings, options);
	return EXIT_WELL;
}

/* The answer of the child that reads the configuration into settings of its own. */
struct reading {
	struct source *source;
	const struct options *options;
	struct settings settings;
	char error[512];
	int rc;
};

static const void *read_configuration(void *user, struct arena *arena)
{
	struct reading *r = user;

	r->rc = settings_read(&r->settings, r->source->host, r->options->config, arena, r->error);
	return memcpy(arena_alloc(arena, sizeof(*r)), r, sizeof(*r));
}

static void take_configuration(void *user, const void *answer, const struct window *window)
{
	const struct reading *found = answer;
	struct reading *r = user;
	const char *error;

	if (!window_holds(window, found, 1, sizeof(*found)))
		return;
	settings_copy(&r->settings, r->source->arena, &found->settings, window);
	r->rc = WINDOW_READ(found->rc);
	error = window_copy(window, found->error, r->source->arena);
	snprintf(r->error, sizeof(r->error), "%s", error ? error : "");
}

/* Returns true if the [expect] section needs FACT. */
static bool is_expected(const void *user, const char *fact)
{
	const struct reading *r = user;

	for_each(e, &r->settings.expect)
		if (strcmp(e->row->reads, fact) == 0)
			return true;
	return false;
}

/* A repair is about files: it asks no GPU. */
static enum probe_nvml nvml_of_reading(const void *user)
{
	const struct reading *r = user;

	if (r->options->nvml)
		return (enum probe_nvml)r->options->nvml;
	return r->settings.nvml && r->options->command->bit &
					   (COMMAND_DOCTOR | COMMAND_PREFLIGHT | COMMAND_CAPTURE)
		       ? PROBE_NVML_YES
		       : PROBE_NVML_NO;
}

/* Sorts the rules while the child reads the node. */
static void prepare_rules(void)
{
	size_t count;

	rule_all(&count);
}

enum exit_status source_read_node(struct source *source, const struct options *options,
				  bool preflight, const struct settings **settings)
{
	struct reading *r = arena_alloc(source->arena, sizeof(*r));
	struct observation how = observation_of(source, options);
	enum exit_status status;

	*r = (struct reading){ .source = source, .options = options };
	*settings = &r->settings;
	how.preflight = preflight;
	how.meanwhile = prepare_rules;
	how.expects = is_expected;
	how.nvml = nvml_of_reading;
	how.user = r;
	if (options->from) {
		status = source_settings(source, options, &r->settings);
		return status ? status : observe(source, &how);
	}
	how.first = read_configuration;
	how.take = take_configuration;
	settings_init(&r->settings);
	status = observe(source, &how);
	if (r->rc)
		return refuse_settings(options, r->rc, r->error);
	apply_options(&r->settings, options);
	return status;
}

/* ---- rules ---- */

static enum exit_status check_list(const char *const *patterns, const char *option)
{
	for (size_t i = 0; patterns[i]; i++) {
		size_t count, k = 0;
		const struct rule *const *rules = rule_all(&count);

		while (k < count && fnmatch(patterns[i], rules[k]->id, 0) != 0)
			k++;
		if (k == count) {
			complain("%s '%s' matches no rule; 'nvnodecheck rules' lists them", option,
				 patterns[i]);
			return EXIT_USAGE;
		}
	}
	return EXIT_WELL;
}

enum exit_status check_patterns(const struct options *options)
{
	enum exit_status status = check_list(options->only, "--only");

	return status ? status : check_list(options->skip, "--skip");
}

static void close_own_root(struct source *source)
{
	if (source->root == &source->own_root)
		root_close(&source->own_root);
	source->root = NULL;
}

/* Frees the node except its memory, which the next node reuses. */
static void forget_node(struct source *source)
{
	host_close(source->host);
	close_own_root(source);
	text_free(&source->file);
	if (source->arena)
		arena_reset(source->arena);
	*source = (struct source){ .arena = source->arena, .facts = source->facts };
}

bool is_of_many(const struct options *options)
{
	struct stat st;

	return options->args_count ||
	       (options->from && stat(options->from, &st) == 0 && S_ISDIR(st.st_mode));
}

enum exit_status source_read_file(struct source *source, const struct options *options,
				  const char *file)
{
	struct options one = *options;
	enum exit_status status;

	one.from = file;
	one.root = one.kernel = one.hardware = NULL;
	one.pid = 0;
	forget_node(source);
	status = source_open(source, &one);
	return status ? status : source_observe(source, &one);
}

void source_close(struct source *source)
{
	if (source->machine)
		source_close(source->machine);
	free(source->machine);
	host_close(source->host);
	close_own_root(source);
	if (source->file.data) {
		processor_limit_end();
		memory_reads(NULL);
	}
	text_free(&source->file);
	fact_series_end(&source->facts);
	arena_free(source->arena);
}
