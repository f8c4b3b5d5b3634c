/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units-bus.c - asks systemd about units. ListUnitsByPatterns and ListUnitFilesByPatterns
 * (org.freedesktop.systemd1(5), both since systemd 230) are chosen because they change nothing: LoadUnit, and
 * reading a property of a unit that is not loaded, would make systemd load it.
 */
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/library.h"
#include "probes/services/units.h"

#define SERVICE "org.freedesktop.systemd1"
#define PATH "/org/freedesktop/systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"
#define UNIT_SERVICE "org.freedesktop.systemd1.Service"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define PATTERNS_MAX 64

struct bus_api {
	typeof(&sd_bus_open_system) open_system;
	typeof(&sd_bus_close) close;
	typeof(&sd_bus_unref) unref;
	typeof(&sd_bus_message_new_method_call) new_method_call;
	typeof(&sd_bus_message_set_auto_start) set_auto_start;
	typeof(&sd_bus_message_append_strv) append_strv;
	typeof(&sd_bus_message_append_basic) append_basic;
	typeof(&sd_bus_call) call;
	typeof(&sd_bus_message_enter_container) enter_container;
	typeof(&sd_bus_message_read) read;
	typeof(&sd_bus_message_unref) message_unref;
};

static int units_bus_load(struct bus_api *api)
{
	const struct library_symbol symbols[] = {
		{ &api->open_system, "sd_bus_open_system", NULL, 0 },
		{ &api->close, "sd_bus_close", NULL, 0 },
		{ &api->unref, "sd_bus_unref", NULL, 0 },
		{ &api->new_method_call, "sd_bus_message_new_method_call", NULL, 0 },
		{ &api->set_auto_start, "sd_bus_message_set_auto_start", NULL, 0 },
		{ &api->append_strv, "sd_bus_message_append_strv", NULL, 0 },
		{ &api->append_basic, "sd_bus_message_append_basic", NULL, 0 },
		{ &api->call, "sd_bus_call", NULL, 0 },
		{ &api->enter_container, "sd_bus_message_enter_container", NULL, 0 },
		{ &api->read, "sd_bus_message_read", NULL, 0 },
		{ &api->message_unref, "sd_bus_message_unref", NULL, 0 },
	};

	return library_load(LIBSYSTEMD, symbols, LIBRARY_COUNT(symbols));
}

struct connection {
	struct bus_api api;
	sd_bus *bus;
};

/* The bus would start the owner of the name if it is not running; a flag prevents that. */
static int new_call(struct connection *c, const char *method, sd_bus_message **message)
{
	int rc = c->api.new_method_call(c->bus, message, SERVICE, PATH, MANAGER, method);

	return rc < 0 ? rc : c->api.set_auto_start(*message, false);
}

static int call(struct connection *c, sd_bus_message *message, sd_bus_message **reply)
{
	int rc = c->api.call(c->bus, message, UNITS_BUS_TIMEOUT_MS * 1000, NULL, reply);

	c->api.message_unref(message);
	return rc < 0 ? rc : 0;
}

/* A property of the service at PATH: KIND is its type, VALUE where it goes. */
static int get_property(struct connection *c, const char *path, const char *name, const char *kind,
			sd_bus_message **reply, void *value)
{
	sd_bus_message *message = NULL;
	int rc = c->api.new_method_call(c->bus, &message, SERVICE, path, PROPERTIES, "Get");

	if (rc >= 0)
		rc = c->api.set_auto_start(message, false);
	if (rc >= 0)
		rc = c->api.append_basic(message, 's', UNIT_SERVICE);
	if (rc >= 0)
		rc = c->api.append_basic(message, 's', name);
	if (rc < 0) {
		if (message)
			c->api.message_unref(message);
		return rc;
	}
	rc = call(c, message, reply);
	if (rc == 0)
		rc = c->api.enter_container(*reply, 'v', kind);
	return rc < 0 ? rc : c->api.read(*reply, kind, value);
}

static void get_number(struct connection *c, const char *path, const char *name, const char *kind,
		       struct fact_u64 *fact)
{
	sd_bus_message *reply = NULL;
	uint32_t value = 0; /* an int32 has the same size, and is not negative here */

	if (get_property(c, path, name, kind, &reply, &value) > 0)
		*fact = fact_u64(value);
	if (reply)
		c->api.message_unref(reply);
}

/* Gets the end of the last run of a unit that is loaded and not running. For other units the question would make
 * systemd load them. */
static void get_outcome(struct connection *c, struct arena *arena, struct service *service,
			const char *path)
{
	sd_bus_message *reply = NULL;
	const char *result = NULL;

	if (get_property(c, path, "Result", "s", &reply, &result) > 0)
		service->result = fact_str(arena, result);
	if (reply)
		c->api.message_unref(reply);
	get_number(c, path, "ExecMainStatus", "i", &service->exit_status);
	get_number(c, path, "NRestarts", "u", &service->restarts);
}

/* Calls a method with two lists of strings, which are always states and patterns. */
static int units_bus_list(struct connection *c, const char *method, char **patterns,
			  const char *contents, sd_bus_message **reply)
{
	char *any_state[] = { NULL };
	sd_bus_message *message = NULL;
	int rc = new_call(c, method, &message);

	if (rc >= 0)
		rc = c->api.append_strv(message, any_state);
	if (rc >= 0)
		rc = c->api.append_strv(message, patterns);
	if (rc < 0) {
		if (message)
			c->api.message_unref(message);
		return rc;
	}
	rc = call(c, message, reply);
	if (rc == 0)
		rc = c->api.enter_container(*reply, 'a', contents);
	return rc < 0 ? rc : 0;
}

static int list_loaded(struct connection *c, char **patterns, struct arena *arena,
		       struct services_facts *services)
{
	const char *name, *description, *load_state, *active, *sub, *following, *path, *job_type,
		*job_path;
	sd_bus_message *reply = NULL;
	uint32_t job;
	int rc = units_bus_list(c, "ListUnitsByPatterns", patterns, "(ssssssouso)", &reply);

	while (rc == 0) {
		struct service *service;
		int more = c->api.read(reply, "(ssssssouso)", &name, &description, &load_state,
				       &active, &sub, &following, &path, &job, &job_type,
				       &job_path);

		if (more <= 0) {
			rc = more;
			break;
		}
		service = units_add(arena, services, span_of(name));
		service->load = fact_str(arena, load_state);
		service->active = fact_str(arena, active);
		if (strcmp(load_state, "loaded") == 0 && strcmp(active, "active") != 0)
			get_outcome(c, arena, service, path);
	}
	if (reply)
		c->api.message_unref(reply);
	return rc;
}

static int list_files(struct connection *c, char **patterns, struct arena *arena,
		      struct services_facts *services)
{
	const char *path, *state;
	sd_bus_message *reply = NULL;
	int rc = units_bus_list(c, "ListUnitFilesByPatterns", patterns, "(ss)", &reply);

	while (rc == 0) {
		const char *slash;
		struct service *service;
		int more = c->api.read(reply, "(ss)", &path, &state);

		if (more <= 0) {
			rc = more;
			break;
		}
		slash = strrchr(path, '/');
		service = units_add(arena, services, span_of(slash ? slash + 1 : path));
		service->enabled = fact_str(arena, state);
	}
	if (reply)
		c->api.message_unref(reply);
	return rc;
}

/* An instance, modprobe@nvidia_peermem.service, has no file of its own. */
static void read_instance(struct connection *c, struct arena *arena, struct service *service)
{
	sd_bus_message *message = NULL, *reply = NULL;
	const char *state;
	int rc = new_call(c, "GetUnitFileState", &message);

	if (rc >= 0)
		rc = c->api.append_basic(message, 's', service->unit.value);
	if (rc < 0) {
		if (message)
			c->api.message_unref(message);
		return;
	}
	rc = call(c, message, &reply);
	if (rc == 0 && c->api.read(reply, "s", &state) > 0)
		service->enabled = fact_str(arena, state);
	if (reply)
		c->api.message_unref(reply);
}

/* Everything that was asked about and did not come up is not there. A file that systemd has not
 * loaded would be loaded on demand. */
static void complete(struct connection *c, struct arena *arena, struct services_facts *services)
{
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		units_add(arena, services, span_of(u->unit));
	for_each_mut(s, &services->units) {
		if (is_unknown(s->enabled) && str_is(s->load, "loaded"))
			read_instance(c, arena, s);
		if (is_unknown(s->load))
			s->load = fact_str(arena, !is_known(s->enabled)		     ? "not-found"
						  : str_starts(s->enabled, "masked") ? "masked"
										     : "loaded");
		if (is_unknown(s->active))
			s->active = fact_str(arena, "inactive");
		if (is_unknown(s->enabled))
			s->enabled.state = FACT_ABSENT;
	}
}

int units_ask_bus(struct arena *arena, struct services_facts *services)
{
	char *patterns[PATTERNS_MAX] = { (char *)"*peermem*.service" };
	struct connection c = { .bus = NULL };
	size_t n = 1;
	int rc = units_bus_load(&c.api);

	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		patterns[n++] = (char *)u->unit;
	if (rc == 0)
		rc = c.api.open_system(&c.bus);
	if (rc < 0)
		return rc;
	rc = list_loaded(&c, patterns, arena, services);
	if (rc == 0)
		rc = list_files(&c, patterns, arena, services);
	if (rc == 0)
		complete(&c, arena, services);
	c.api.close(c.bus);
	c.api.unref(c.bus);
	return rc;
}
