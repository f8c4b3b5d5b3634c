/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.h - the services that this program is about, and two ways to ask about them. */
#ifndef UNITS_H
#define UNITS_H

#include "base/span.h"
#include "facts/facts.h"
#include "host/host.h"

struct unit_of_interest {
	const char *unit;
	const char *comm;    /* of its process, cut at 15 characters; NULL: none that stays */
	const char *script;  /* in /etc/init.d, for what is also shipped without a unit */
	const char *program; /* its daemon, which a script may start; NULL: what the unit says */
	const char *log;     /* that it writes itself; NULL: what it says goes to the journal */
};

/* Ends with a NULL unit. */
extern const struct unit_of_interest units_of_interest[];
const struct unit_of_interest *unit_of_interest(const char *unit);
/* Beside those, whatever loads nvidia-peermem, by the word in its name. */
bool unit_is_peermem(struct span name);

/* Time limit of each method call on the bus; the probe's own deadline is 2 s. */
#define UNITS_BUS_TIMEOUT_MS 700

/* Asks systemd over D-Bus. No unit is loaded or started: loaded units are listed, and unit files are looked up. Adds
 * the units to SERVICES, with load, active and enabled in systemd's words. */
int units_ask_bus(struct arena *arena, struct services_facts *services);

/* Reads unit files, links and init scripts: load and enabled, as systemctl --root prints them. Returns 0, or the
 * first error that leaves an answer unknown. */
int units_read_files(struct host *host, struct arena *arena, struct services_facts *services);

struct service *units_add(struct arena *arena, struct services_facts *services, struct span name);

#endif
