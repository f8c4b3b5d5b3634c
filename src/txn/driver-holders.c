/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-holders.c - the processes and modules that keep the NVIDIA driver from being unloaded. */
#include "txn/driver-holders.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "probes/processes.h"

#define SHOWN_MAX 8

/* nvidia-peermem, drm and uvm call into nvidia, drm also into modeset. */
const char *const driver_modules[] = { "nvidia_peermem", "nvidia_drm", "nvidia_modeset",
				       "nvidia_uvm",	 "nvidia",     NULL };

struct search {
	struct host *host;
	struct arena *arena;
	const char *text; /* what was found, joined */
	size_t count;
	const char *folder; /* of a process: "fd", or "map_files" */
	const char *device; /* beginning of the paths that count */
	int error;
};

static void found(struct search *s, const char *text)
{
	if (s->count++ < SHOWN_MAX)
		s->text = arena_printf(s->arena, "%s%s%s", s->text, *s->text ? "; " : "", text);
}

static bool is_own(const char *name)
{
	for (size_t i = 0; driver_modules[i]; i++)
		if (strcmp(driver_modules[i], name) == 0)
			return true;
	return false;
}

/* ---- processes ---- */

static void check_process(void *user, uint64_t pid, const char *comm)
{
	struct search *s = user;
	_cleanup_names_ struct names names = { 0 };
	char target[PATH_MAX];
	int rc = host_list(s->host, &names, "/proc/%" PRIu64 "/%s", pid, s->folder);

	/* The process may have ended since it was listed. */
	if (rc && rc != -ENOENT && rc != -ESRCH)
		s->error = rc;
	for (size_t i = 0; i < names.count; i++) {
		if (host_link(s->host, target, "/proc/%" PRIu64 "/%s/%s", pid, s->folder,
			      names.items[i]) ||
		    !starts_with(target, s->device))
			continue;
		found(s, arena_printf(s->arena, "process %" PRIu64 " (%s) has %s %s", pid, comm,
				      target, strcmp(s->folder, "fd") == 0 ? "open" : "mapped"));
		return;
	}
}

static void check_processes(struct search *s, const char *folder, const char *device)
{
	int rc;

	s->folder = folder;
	s->device = device;
	rc = processes_list(s->host, check_process, s);
	if (rc)
		s->error = rc;
}

/* ---- modules ---- */

/* The module's use count, less the modules that are unloaded before it. */
static int read_references(struct search *s, const char *module, int64_t *unexplained)
{
	_cleanup_text_ struct text text = { 0 };
	_cleanup_names_ struct names holders = { 0 };
	uint64_t references;
	int rc = host_read(s->host, &text, 64, "/sys/module/%s/refcnt", module);

	if (rc == 0)
		rc = host_list(s->host, &holders, "/sys/module/%s/holders", module);
	if (rc == 0)
		rc = span_u64(span_trim(text_span(&text)), 10, &references);
	if (rc)
		return rc;
	*unexplained = (int64_t)references - (int64_t)holders.count;
	for (size_t i = 0; i < holders.count; i++)
		if (!is_own(holders.items[i]))
			found(s, arena_printf(s->arena, "the module %s uses %s", holders.items[i],
					      module));
	return 0;
}

/* Device files that lead to MODULE. */
static const char *device_of(const char *module)
{
	return strcmp(module, "nvidia_drm") == 0 || strcmp(module, "nvidia_modeset") == 0
		       ? "/dev/dri/"
		       : "/dev/nvidia";
}

static void check_module(struct search *s, const char *module)
{
	int64_t unexplained = 0;
	size_t before = s->count;
	int rc = read_references(s, module, &unexplained);

	if (rc)
		s->error = rc;
	if (rc || unexplained <= 0 || before)
		return;
	/* All map_files of all processes take long to read, so they are read only if no open file explains the
	 * holder. */
	check_processes(s, "fd", device_of(module));
	if (s->count == before)
		check_processes(s, "map_files", device_of(module));
	if (s->count == before)
		found(s, arena_printf(s->arena,
				      "%s is in use (%" PRId64
				      " times) by something that shows neither as a process nor as "
				      "a module",
				      module, unexplained));
}

/* The driver's console holds no reference, so unloading would take the screen away. */
static void check_console(struct search *s)
{
	_cleanup_text_ struct text text = { 0 };

	if (host_read(s->host, &text, HOST_FILE_MAX, "/proc/fb") == 0 &&
	    strstr(text.data, "nvidia"))
		found(s, "nvidia-drm draws the console");
}

int driver_holders(struct host *host, struct arena *arena, const char **why)
{
	struct search s = { .host = host, .arena = arena, .text = "" };

	check_processes(&s, "fd", "/dev/nvidia");
	for (size_t i = 0; driver_modules[i]; i++)
		if (host_exists(host, arena_printf(arena, "/sys/module/%s", driver_modules[i])))
			check_module(&s, driver_modules[i]);
	check_console(&s);
	if (s.count > SHOWN_MAX)
		s.text = arena_printf(arena, "%s; and %zu more", s.text, s.count - SHOWN_MAX);
	*why = s.text;
	if (s.count)
		return -EBUSY;
	if (s.error)
		*why = arena_printf(arena, "who uses the driver could not be read: %s",
				    s.error == -ESRCH ? PROCESSES_HIDDEN
						      : host_error_word(s.error));
	return s.error;
}
