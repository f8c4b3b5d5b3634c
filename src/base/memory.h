/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - what to do when memory runs out where no answer could say so. */
#ifndef MEMORY_H
#define MEMORY_H

/* MEMORY, unless it is NULL: then the process ends with EXIT_CANNOT after saying so, as it does over
 * a full arena. In a probing child that fails one section. */
void *memory_need(void *memory);

#endif
