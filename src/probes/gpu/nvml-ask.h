/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml-ask.h - NVML's answers as facts. */
#ifndef NVML_ASK_H
#define NVML_ASK_H

#include "facts/facts.h"

/* Opens FACTS->library and fills FACTS, with SERIALS also the numbers of the boards. NULL, or why nothing could be
 * asked. */
const char *nvml_ask(struct nvml_facts *facts, struct arena *arena, bool serials);

#endif
