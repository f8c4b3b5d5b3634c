/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml-links.c - asks NVML about a GPU's NVLinks and its access to the other GPUs' memory. */
#include <string.h>

#include "base/array.h"
#include "probes/gpu/nvml-ask-private.h"

/* ---- NVLink ---- */

/* The driver gives the state of all links in one answer. NVML asks for it once in a call for many values, and once in
 * each call for one link. */
static const unsigned int link_fields[] = { NVML_FIELD_LINK_STATE,	NVML_FIELD_LINK_VERSION,
					    NVML_FIELD_LINK_SPEED,	NVML_FIELD_LINK_REPLAYS,
					    NVML_FIELD_LINK_RECOVERIES, NVML_FIELD_LINK_CRC,
					    NVML_FIELD_LINK_POWER };
#define LINK_FIELDS (ARRAY_SIZE(link_fields))
#define LINKS_IN_A_CALL 18

/* NVML_LINKS where it is not known: some of them do not exist then. */
static unsigned int ask_count(struct asking *a)
{
	struct nvml_field_value field = { .field = NVML_FIELD_LINK_COUNT };
	int error = TRY(a, nvmlDeviceGetFieldValues, a->handle, 1, &field);

	if (error != NVML_DONE || field.result != NVML_DONE || field.value.u > NVML_LINKS)
		return NVML_LINKS;
	return field.value.u;
}

static bool ask_numbers(struct asking *a, struct nvml_field_value *fields, unsigned int links)
{
	for (unsigned int i = 0; i < links * LINK_FIELDS; i++) {
		fields[i].field = link_fields[i % LINK_FIELDS];
		fields[i].scope = (unsigned int)(i / LINK_FIELDS);
	}
	for (unsigned int first = 0; first < links; first += LINKS_IN_A_CALL) {
		unsigned int rest = links - first;
		unsigned int count = rest < LINKS_IN_A_CALL ? rest : LINKS_IN_A_CALL;

		if (!asking_fields(a, fields + first * LINK_FIELDS, (int)(count * LINK_FIELDS)))
			return false;
	}
	return true;
}

/* STATE is the value that is there already, or NULL. An old driver has no such value, and what is neither up nor down
 * is for the function to say. */
static int ask_state(struct asking *a, unsigned int n, const struct nvml_field_value *state,
		     int *active)
{
	if (state && state->result == NVML_DONE && state->value.u <= 1) {
		*active = (int)state->value.u;
		return NVML_DONE;
	}
	return TRY(a, nvmlDeviceGetNvLinkState, a->handle, n, active);
}

static void set_numbers(struct asking *a, struct nvml_link *link, const struct nvml_field_value *f)
{
	struct fact_u64 power;

	link->version = asking_field(a, &f[1]);
	link->mb_per_s = asking_field(a, &f[2]);
	link->replays = asking_field(a, &f[3]);
	link->recoveries = asking_field(a, &f[4]);
	link->crc_errors = asking_field(a, &f[5]);
	power = asking_field(a, &f[6]);
	link->low_power = asking_flag(power.state, power.value != 0);
	if (!known_is(link->active, true))
		link->mb_per_s.state = was_read(link->active) ? FACT_ABSENT : FACT_UNKNOWN;
}

/* GPUs before Hopper have one speed for all links that are up. */
static void ask_common_speed(struct asking *a)
{
	struct nvml_field_value field = { .field = NVML_FIELD_LINK_SPEED_COMMON };
	bool asked = false;

	for_each_mut(link, &a->gpu.links) {
		if (!known_is(link->active, true) || !is_absent(link->mb_per_s))
			continue;
		if (!asked && !asking_fields(a, &field, 1))
			return;
		asked = true;
		link->mb_per_s = asking_field(a, &field);
	}
}

/* Returns the kind of the device at the other end. It is asked once for each device, because many links can lead to
 * one. */
static struct fact_enum remote_kind(struct asking *a, const struct nvml_link *link)
{
	int type = NVML_REMOTE_UNKNOWN;
	enum fact_state state;

	for_each(other, &a->gpu.links)
		if (other != link && is_known(other->remote_is) && is_known(link->remote) &&
		    str_is(other->remote, link->remote.value))
			return other->remote_is;
	state = ASK(a, nvmlDeviceGetNvLinkRemoteDeviceType, (unsigned int)link->link.value, &type);
	return asking_word(state, type == 0xff ? NVML_REMOTE_UNKNOWN : type, nvml_remote_words);
}

/* Sets the address of the remote device. It is all ones if a hypervisor hides the device (NCCL 2.30.7:
 * src/graph/xml.cc, "Remote NVLink device is not visible inside this VM"). */
static void set_address(struct asking *a, struct nvml_link *link, const struct nvml_pci *pci)
{
	if (pci->domain != UINT32_MAX) {
		link->remote = asking_address(a->arena, pci);
		return;
	}
	link->remote.state = FACT_UNKNOWN;
	asking_note(a, "nvmlDeviceGetNvLinkRemotePciInfo_v2",
		    "the hypervisor hides the other end of the link: its address is all ones");
}

static void ask_remote(struct asking *a, struct nvml_link *link)
{
	struct nvml_pci pci = { 0 };
	enum fact_state state;

	if (!known_is(link->active, true)) {
		link->remote.state = was_read(link->active) ? FACT_ABSENT : FACT_UNKNOWN;
		link->remote_is.state = link->remote.state;
		return;
	}
	state = ASK(a, nvmlDeviceGetNvLinkRemotePciInfo_v2, (unsigned int)link->link.value, &pci);
	link->remote.state = state;
	if (state == FACT_KNOWN)
		set_address(a, link, &pci);
	link->remote_is = remote_kind(a, link);
}

/* A GPU without NVLink supports the call for none; past the last link the number is an invalid one. False: none of
 * them can be asked about. */
static bool add_link(struct asking *a, unsigned int n, const struct nvml_field_value *known)
{
	int active = 0, error = ask_state(a, n, known, &active);
	enum fact_state state;
	struct nvml_link *link;

	if (error == NVML_UNSUPPORTED)
		return true;
	if (error == NVML_INVALID_ARGUMENT)
		return false;
	state = asking_result(a, "nvmlDeviceGetNvLinkState", error);
	if (error == NVML_NO_FUNCTION) {
		a->gpu.links.state = FACT_UNKNOWN;
		return false;
	}
	link = LIST_ADD(a->arena, &a->gpu.links);
	link->link = fact_u64(n);
	link->active = asking_flag(state, active);
	ask_remote(a, link);
	return true;
}

void asking_links(struct asking *a)
{
	struct nvml_field_value fields[NVML_LINKS * LINK_FIELDS] = { 0 };
	unsigned int links = ask_count(a);
	bool numbered = links < NVML_LINKS && ask_numbers(a, fields, links);

	a->gpu.links.state = FACT_ABSENT;
	for (unsigned int n = 0; n < links; n++)
		if (!add_link(a, n, numbered ? &fields[n * LINK_FIELDS] : NULL))
			break;
	if (!a->gpu.links.count)
		return;
	if (!numbered) {
		links = (unsigned int)a->gpu.links.items[a->gpu.links.count - 1].link.value + 1;
		numbered = ask_numbers(a, fields, links);
	}
	if (!numbered)
		return;
	for_each_mut(link, &a->gpu.links)
		set_numbers(a, link, &fields[link->link.value * LINK_FIELDS]);
	ask_common_speed(a);
}

/* ---- pairs ---- */

static struct fact_enum ask_pair(struct asking *a, nvml_handle other, int what)
{
	int status = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetP2PStatus, other, what, &status);

	return asking_word(state, status, nvml_p2p_words);
}

static bool is_where_known(const struct nvml_link *link)
{
	if (known_is(link->remote_is, NVML_REMOTE_GPU))
		return is_known(link->remote);
	return is_known(link->remote_is);
}

static bool links_are_known(const struct nvml_gpu *gpu)
{
	for_each(link, &gpu->links)
		if (is_unknown(link->active) ||
		    (known_is(link->active, true) && !is_where_known(link)))
			return false;
	return was_read(gpu->links);
}

/* Through switches each link leads to every GPU. */
static uint64_t count_links(const struct nvml_gpu *gpu, const char *bdf)
{
	uint64_t count = 0;

	for_each(link, &gpu->links)
		count += known_is(link->active, true) &&
			 (known_is(link->remote_is, NVML_REMOTE_SWITCH) ||
			  str_is(link->remote, bdf));
	return count;
}

/* The driver takes 1.7 ms for each question. Its answer is the same whichever GPU is named first
 * (open-gpu-kernel-modules 515.43.04: ctrl0000system.h, NV0000_CTRL_CMD_SYSTEM_GET_P2P_CAPS_MATRIX). */
static void ask_pairs(struct asking *a, struct nvml_peer *peer, nvml_handle other)
{
	peer->read = ask_pair(a, other, NVML_CAN_READ);
	peer->write = ask_pair(a, other, NVML_CAN_WRITE);
	peer->nvlink = ask_pair(a, other, NVML_CAN_NVLINK);
	peer->atomics = ask_pair(a, other, NVML_CAN_ATOMICS);
	peer->pcie = ask_pair(a, other, NVML_CAN_PCIE);
}

static void set_peer_links(const struct nvml_gpu *gpu, struct nvml_peer *peer)
{
	uint64_t links = count_links(gpu, peer->bdf.value);

	peer->links.state = FACT_UNKNOWN;
	if (!links_are_known(gpu) || is_unknown(peer->nvlink))
		return;
	peer->links = links && known_is(peer->nvlink, NVML_P2P_IS_OK) ? fact_u64(links)
								      : FACT_NONE(fact_u64);
}

void asking_peers(struct asking *a)
{
	size_t self = (size_t)(a - a->all);

	a->gpu.peers.state = FACT_KNOWN;
	for (size_t i = 0; i < a->count; i++) {
		const struct asking *other = &a->all[i];
		struct nvml_peer *peer;

		if (i == self)
			continue;
		peer = LIST_ADD(a->arena, &a->gpu.peers);
		if (i < self)
			*peer = other->gpu.peers.items[self - 1];
		else
			ask_pairs(a, peer, other->handle);
		peer->bdf = other->gpu.bdf;
		set_peer_links(&a->gpu, peer);
	}
}
