/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-unexplained.c - errors of GPU, NIC, PCIe and IOMMU drivers that no pattern is for, gathered by their shape. */
#include "probes/log/log-unexplained.h"

#include <string.h>

#include "base/utf8.h"
#include "probes/log/log-scan.h"

struct kept_message {
	char shape[KMSG_SHAPE_MAX];
	char driver[KMSG_DRIVER_MAX];
	char last[LOG_LINE_MAX];
	int level;
	uint64_t count, first_us, last_us;
};

bool log_unexplained_add(struct log_unexplained *unexplained, int level, struct span message)
{
	char driver[KMSG_DRIVER_MAX];

	if (level == KMSG_LEVEL_NONE)
		return kmsg_driver(message, driver) && kmsg_sounds_like_error(driver, message);
	unexplained->has_levels = true;
	return level <= KMSG_LEVEL_ERR + 1 && kmsg_driver(message, driver) &&
	       kmsg_is_error(driver, level);
}

static struct kept_message *kept_of(struct log_unexplained *unexplained, const char *shape)
{
	struct kept_message *kept;

	if (!unexplained->kept)
		unexplained->kept = arena_alloc(unexplained->arena,
						LOG_UNEXPLAINED_MAX * sizeof(*kept));
	for (size_t i = 0; i < unexplained->count; i++)
		if (strcmp(unexplained->kept[i].shape, shape) == 0)
			return &unexplained->kept[i];
	if (unexplained->count == LOG_UNEXPLAINED_MAX)
		return NULL;
	kept = &unexplained->kept[unexplained->count++];
	*kept = (struct kept_message){ 0 };
	strcpy(kept->shape, shape);
	return kept;
}

void log_unexplained_keep(struct log_unexplained *unexplained, int level, uint64_t time_us,
			  struct span message, struct span text)
{
	char shape[KMSG_SHAPE_MAX];
	struct kept_message *kept;
	size_t n = text.n < LOG_LINE_MAX ? text.n : utf8_cut(text.p, LOG_LINE_MAX - 1);

	kmsg_shape(message, shape);
	kept = kept_of(unexplained, shape);
	if (!kept)
		return;
	if (!kept->count++) {
		kept->first_us = time_us;
		kept->level = level;
		kmsg_driver(message, kept->driver);
	}
	kept->level = level < kept->level ? level : kept->level;
	kept->last_us = time_us;
	memcpy(kept->last, text.p, n);
	kept->last[n] = '\0';
}

void log_unexplained_forget(struct log_unexplained *unexplained)
{
	unexplained->count = 0;
}

void log_unexplained_end(const struct log_unexplained *unexplained, struct log_facts *facts)
{
	struct arena *arena = unexplained->arena;

	/* Without levels, that there are none says nothing. */
	if (unexplained->has_levels || unexplained->count)
		facts->unexplained.state = FACT_KNOWN;
	for (size_t i = 0; i < unexplained->count; i++) {
		const struct kept_message *kept = &unexplained->kept[i];

		*LIST_ADD(arena, &facts->unexplained) = (struct log_message){
			.text = fact_str(arena, kept->last),
			.driver = fact_str(arena, kept->driver),
			.level = kept->level == KMSG_LEVEL_NONE ? (struct fact_u64){ 0 }
								: fact_u64((uint64_t)kept->level),
			.count = fact_u64(kept->count),
			.first_us = log_time_fact(kept->first_us),
			.last_us = log_time_fact(kept->last_us),
		};
	}
}
