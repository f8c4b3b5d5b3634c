/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repaired-by.h - who can repair a problem. */
#ifndef REPAIRED_BY_H
#define REPAIRED_BY_H

enum repaired_by {
	BY_UNSET,    /* of a rule: an administrator of this node; of an answer: as its rule says */
	BY_ADMIN,    /* an administrator of this node, by hand */
	BY_FIRMWARE, /* the administrator of the machine's firmware */
	BY_HARDWARE, /* hardware service */
	BY_HOST,     /* an administrator of the host that runs this guest or container */
	BY_PROVIDER, /* the cloud provider */
	BY_PROGRAM   /* this program: the rule or the answer names a fix */
};

#endif
