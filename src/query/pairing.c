/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairing.c - assigns each GPU one of its nearest NICs. */
#include "query/pairing.h"

#include <stdint.h>
#include <string.h>

struct matching {
	struct pairing *p;
	size_t room;  /* GPUs that a NIC may have */
	size_t *used; /* that it has, by NIC */
	bool *tried;  /* NICs, for the GPU that is being placed */
};

struct pairing *pairing_new(size_t gpus, size_t nics, struct arena *arena)
{
	struct pairing *p = arena_alloc(arena, sizeof(*p));

	p->gpus = gpus;
	p->nics = nics;
	p->nearest = arena_alloc(arena, gpus * nics + 1);
	p->nic = arena_alloc(arena, (gpus + 1) * sizeof(*p->nic));
	return p;
}

static bool place(struct matching *m, size_t gpu);

/* Moves one of the GPUs that have NIC to another of their nearest. */
static bool make_room(struct matching *m, size_t nic)
{
	for (size_t other = 0; other < m->p->gpus; other++) {
		if (m->p->nic[other] != nic)
			continue;
		m->used[nic]--;
		if (place(m, other))
			return true;
		m->p->nic[other] = nic;
		m->used[nic]++;
	}
	return false;
}

/* An augmenting path, as in Kuhn's algorithm; its depth is at most the number of NICs. */
static bool place(struct matching *m, size_t gpu)
{
	for (size_t nic = 0; nic < m->p->nics; nic++) {
		if (!m->p->nearest[gpu * m->p->nics + nic] || m->tried[nic])
			continue;
		m->tried[nic] = true;
		if (m->used[nic] < m->room || make_room(m, nic)) {
			m->p->nic[gpu] = nic;
			m->used[nic]++;
			return true;
		}
	}
	return false;
}

static bool has_any(const struct pairing *p, size_t gpu)
{
	for (size_t nic = 0; nic < p->nics; nic++)
		if (p->nearest[gpu * p->nics + nic])
			return true;
	return false;
}

static bool place_all(struct matching *m)
{
	struct pairing *p = m->p;

	memset(m->used, 0, p->nics * sizeof(*m->used));
	for (size_t gpu = 0; gpu < p->gpus; gpu++)
		p->nic[gpu] = PAIRING_NONE;
	for (size_t gpu = 0; gpu < p->gpus; gpu++) {
		memset(m->tried, 0, p->nics);
		if (has_any(p, gpu) && !place(m, gpu))
			return false;
	}
	return true;
}

/* Moving GPUs about can leave two of them crossed: GPU0 with the second NIC, GPU1 with the first. */
static void uncross(struct pairing *p)
{
	for (size_t a = 0; a < p->gpus; a++)
		for (size_t b = a + 1; b < p->gpus; b++) {
			size_t x = p->nic[a], y = p->nic[b];

			if (x == PAIRING_NONE || y == PAIRING_NONE || x <= y ||
			    !p->nearest[a * p->nics + y] || !p->nearest[b * p->nics + x])
				continue;
			p->nic[a] = y;
			p->nic[b] = x;
		}
}

void pairing_assign(struct pairing *p, struct arena *arena)
{
	struct matching m = { .p = p };

	m.used = arena_alloc(arena, (p->nics + 1) * sizeof(*m.used));
	m.tried = arena_alloc(arena, p->nics + 1);
	for (m.room = 1; m.room <= p->gpus && !place_all(&m);)
		m.room++;
	uncross(p);
	for (size_t gpu = 0; gpu < p->gpus; gpu++)
		if (p->nic[gpu] != PAIRING_NONE)
			p->load = m.room;
}
