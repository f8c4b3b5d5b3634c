/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - time that only goes forward, for deadlines and durations. */
#ifndef CLOCK_H
#define CLOCK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline uint64_t clock_ms(void)
{
	return clock_us() / 1000;
}

/* Processor time of this process. */
static inline uint64_t clock_processor_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Returns true if END_US has passed. With 0, never. */
static inline bool clock_has_passed(uint64_t end_us)
{
	return end_us && clock_us() >= end_us;
}

/* Waits until FD is readable or closed. False: END_US passed first. With 0 it does not wait. */
static inline bool clock_wait_readable(int fd, uint64_t end_us)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (uint64_t now; end_us && (now = clock_us()) < end_us;)
		if (poll(&p, 1, (int)((end_us - now) / 1000) + 1) > 0)
			return true;
	return !end_us;
}

#endif
