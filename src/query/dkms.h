/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dkms.h - the modules that DKMS did not build, the reason, and the command that builds a module again. Pure. */
#ifndef DKMS_H
#define DKMS_H

#include "facts/facts.h"

/* SOURCES is the software item of the module's sources: "driver-source", "gdrdrv-source". NULL where DKMS or
 * the sources are missing, or where several versions of the sources are installed. */
const char *shell_dkms_rebuild(struct arena *arena, const struct node *node, const char *sources);

/* Builds and installs VERSION of the driver for kernel RELEASE. NULL where DKMS does not have that version. */
const char *shell_dkms_install(struct arena *arena, const struct node *node, const char *version,
			       const char *release);

/* The software item of the sources that a package of DKMS is: "driver-source" of nvidia, "ofed-source" of
 * mlnx-ofed-kernel; NULL: of none that a rule asks for. */
const char *dkms_sources(const struct dkms_package *package);

/* Why there is no module of some sources for a kernel. */
struct dkms_reason {
	const struct dkms_package *package;
	bool failed; /* a build failed; else none was tried */
	/* a clause: "DKMS could not build nvidia/570.153.02 for kernel X: LINE" */
	const char *text;
	const char *remedy;
	const char *command; /* or NULL */
	const char *fact;
};

/* PACKAGE for kernel RELEASE. False: it was built, or nothing says why not. */
bool dkms_reason_of(struct arena *arena, const struct node *node,
		    const struct dkms_package *package, const char *release,
		    struct dkms_reason *reason);
/* Like dkms_reason_of(), for all packages of SOURCES; false also if another of them was built. */
bool dkms_reason_for(struct arena *arena, const struct node *node, const char *sources,
		     const char *release, struct dkms_reason *reason);

#endif
