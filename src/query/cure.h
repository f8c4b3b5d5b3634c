/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cure.h - an instruction that repairs a problem, and how it ends. */
#ifndef CURE_H
#define CURE_H

/* What follows a remedy, or must come before it. One step can do this for several remedies, so their texts leave it
 * out. */
enum remedy_end {
	THEN_INITRAMFS = 1 << 0,   /* rebuild the initramfs */
	THEN_REBOOT = 1 << 1,	   /* reboot */
	THEN_RELOAD = 1 << 2,	   /* load the driver again */
	THEN_LOADER = 1 << 3,	   /* restart systemd-modules-load */
	FIRST_POWER_CYCLE = 1 << 4 /* before the rest: power the node off and on */
};

struct cure {
	const char *text;  /* NULL: none */
	unsigned int then; /* enum remedy_end */
};

#endif
