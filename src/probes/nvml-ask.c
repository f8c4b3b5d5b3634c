/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml-ask.c - calls NVML, function by function. What fails costs its own fact, and is written down. */
#include "probes/nvml-ask.h"

#include <stdio.h>
#include <string.h>

#include "probes/nvml-library.h"

#define GPUS_MAX 64
#define UUID_BYTES 96	  /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
#define FIRMWARE_BYTES 64 /* NVML_GSP_FIRMWARE_VERSION_BUF_SIZE */

struct asking {
	struct nvml_library lib;
	struct nvml_facts *facts;
	struct arena *arena;
	nvml_handle handles[GPUS_MAX]; /* in the order of FACTS->gpus until that is sorted */
	struct nvml_gpu *gpu;	       /* that is asked about; NULL: none */
	nvml_handle handle;
};

static bool has_failed_before(const struct asking *a, const char *function)
{
	for_each(f, &a->facts->failures)
		if (str_is(f->function, function) &&
		    (a->gpu ? str_is(f->gpu, a->gpu->bdf.value) : is_absent(f->gpu)))
			return true;
	return false;
}

static void add_failure(struct asking *a, const char *function, int error)
{
	struct nvml_failure *failure;

	if (has_failed_before(a, function))
		return;
	failure = LIST_ADD(a->arena, &a->facts->failures);
	failure->function = fact_str(a->arena, function);
	failure->gpu = a->gpu ? a->gpu->bdf : FACT_NONE(fact_str);
	failure->error = fact_str(
		a->arena,
		error == NVML_NO_FUNCTION
			? "this release of the library does not have the function"
			: arena_printf(a->arena, "%s (%d)", nvml_error_word(error), error));
}

static enum fact_state take(struct asking *a, const char *function, int error)
{
	if (error == NVML_DONE)
		return FACT_KNOWN;
	if (error == NVML_UNSUPPORTED)
		return FACT_ABSENT;
	add_failure(a, function, error);
	return FACT_UNKNOWN;
}

/* The bare error; and the state of the fact that is asked for. */
#define TRY(a, f, ...) ((a)->lib.f ? (a)->lib.f(__VA_ARGS__) : NVML_NO_FUNCTION)
#define ASK(a, f, ...) take(a, #f, TRY(a, f, (a)->handle, __VA_ARGS__))

static struct fact_u64 number(enum fact_state state, uint64_t value)
{
	return state == FACT_KNOWN ? fact_u64(value) : (struct fact_u64){ .state = state };
}

static struct fact_bool flag(enum fact_state state, int value)
{
	return state == FACT_KNOWN ? fact_bool(value != 0) : (struct fact_bool){ .state = state };
}

/* A value that no word is for is unknown. */
static struct fact_enum word(enum fact_state state, int value, const char *const *words)
{
	int count = 0;

	while (words[count])
		count++;
	if (state != FACT_KNOWN)
		return (struct fact_enum){ .state = state };
	return value >= 0 && value < count ? fact_enum(value) : (struct fact_enum){ 0 };
}

/* nvidia-smi prints the domain with eight digits, the kernel with four. */
static struct fact_str address(struct arena *arena, const struct nvml_pci *pci)
{
	return fact_str(
		arena, arena_printf(arena, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device));
}

static struct fact_u64 ask_number(struct asking *a, const char *function,
				  int (*f)(nvml_handle, unsigned int *))
{
	unsigned int value = 0;
	enum fact_state state = take(a, function, f ? f(a->handle, &value) : NVML_NO_FUNCTION);

	return number(state, value);
}

static struct fact_bool ask_flag(struct asking *a, const char *function,
				 int (*f)(nvml_handle, int *))
{
	int value = 0;
	enum fact_state state = take(a, function, f ? f(a->handle, &value) : NVML_NO_FUNCTION);

	return flag(state, value);
}

static struct fact_enum ask_word(struct asking *a, const char *function,
				 int (*f)(nvml_handle, int *), const char *const *words)
{
	int value = 0;
	enum fact_state state = take(a, function, f ? f(a->handle, &value) : NVML_NO_FUNCTION);

	return word(state, value, words);
}

#define ASK_U32(a, f) ask_number(a, #f, (a)->lib.f)
#define ASK_FLAG(a, f) ask_flag(a, #f, (a)->lib.f)
#define ASK_WORD(a, f, words) ask_word(a, #f, (a)->lib.f, words)

/* ---- one GPU ---- */

static void ask_memory(struct asking *a)
{
	struct nvml_memory *memory = &a->gpu->memory;
	struct nvml_memory_v2 v2 = { .version = NVML_VERSION_OF(struct nvml_memory_v2, 2) };
	struct nvml_memory_v1 v1 = { 0 };
	struct nvml_bar1 bar1 = { 0 };
	enum fact_state state;

	if (TRY(a, nvmlDeviceGetMemoryInfo_v2, a->handle, &v2) == NVML_DONE) {
		memory->total_bytes = fact_u64(v2.total);
		memory->used_bytes = fact_u64(v2.used);
		memory->reserved_bytes = fact_u64(v2.reserved);
	} else {
		state = ASK(a, nvmlDeviceGetMemoryInfo, &v1);
		memory->total_bytes = number(state, v1.total);
		memory->used_bytes = number(state, v1.used);
		memory->reserved_bytes.state = state == FACT_KNOWN ? FACT_ABSENT : state;
	}
	state = ASK(a, nvmlDeviceGetBAR1MemoryInfo, &bar1);
	memory->bar1_total_bytes = number(state, bar1.total);
	memory->bar1_used_bytes = number(state, bar1.used);
}

static struct fact_u64 ask_errors(struct asking *a, int type, int counts)
{
	unsigned long long value = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetTotalEccErrors, type, counts, &value);

	return number(state, value);
}

static void ask_ecc(struct asking *a)
{
	struct nvml_ecc *ecc = &a->gpu->ecc;
	int current = 0, pending = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetEccMode, &current, &pending);

	ecc->enabled = flag(state, current);
	ecc->pending = flag(state, pending);
	ecc->corrected_volatile = ask_errors(a, NVML_ERROR_CORRECTED, NVML_COUNTS_VOLATILE);
	ecc->uncorrected_volatile = ask_errors(a, NVML_ERROR_UNCORRECTED, NVML_COUNTS_VOLATILE);
	ecc->corrected_aggregate = ask_errors(a, NVML_ERROR_CORRECTED, NVML_COUNTS_AGGREGATE);
	ecc->uncorrected_aggregate = ask_errors(a, NVML_ERROR_UNCORRECTED, NVML_COUNTS_AGGREGATE);
	ecc->retirement_pending = ASK_FLAG(a, nvmlDeviceGetRetiredPagesPendingStatus);
}

static void ask_rows(struct asking *a)
{
	struct nvml_rows *rows = &a->gpu->rows;
	unsigned int correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
	struct nvml_histogram banks = { 0 };
	enum fact_state state = ASK(a, nvmlDeviceGetRemappedRows, &correctable, &uncorrectable,
				    &pending, &failed);

	rows->correctable = number(state, correctable);
	rows->uncorrectable = number(state, uncorrectable);
	rows->pending = flag(state, (int)pending);
	rows->failed = flag(state, (int)failed);
	state = ASK(a, nvmlDeviceGetRowRemapperHistogram, &banks);
	rows->banks_max = number(state, banks.max);
	rows->banks_high = number(state, banks.high);
	rows->banks_partial = number(state, banks.partial);
	rows->banks_low = number(state, banks.low);
	rows->banks_none = number(state, banks.none);
}

static struct fact_str cluster(struct arena *arena, const unsigned char id[16])
{
	char text[37];
	size_t n = 0;

	for (size_t i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
	return fact_str(arena, text);
}

static void set_fabric(struct asking *a, const struct nvml_fabric_v2 *info)
{
	struct nvml_fabric *fabric = &a->gpu->fabric;
	bool completed = info->state == NVML_FABRIC_COMPLETED;

	fabric->state = info->state == NVML_FABRIC_NOT_SUPPORTED
				? FACT_NONE(fact_enum)
				: word(FACT_KNOWN, info->state, nvml_fabric_state_words);
	fabric->error = FACT_NONE(fact_str);
	fabric->clique = FACT_NONE(fact_u64);
	fabric->cluster_uuid = FACT_NONE(fact_str);
	fabric->health_mask = FACT_NONE(fact_u64);
	if (!completed)
		return;
	if (info->status != NVML_DONE)
		fabric->error = fact_str(a->arena,
					 arena_printf(a->arena, "%s (%d)",
						      nvml_error_word(info->status), info->status));
	fabric->clique = fact_u64(info->clique);
	fabric->cluster_uuid = cluster(a->arena, info->cluster);
	if (info->version)
		fabric->health_mask = fact_u64(info->health_mask);
}

/* Drivers before 545 have the first form alone, without health. */
static void ask_fabric(struct asking *a)
{
	struct nvml_fabric_v2 info = { .version = NVML_VERSION_OF(struct nvml_fabric_v2, 2) };
	struct nvml_fabric_v1 old = { 0 };
	struct nvml_fabric *fabric = &a->gpu->fabric;
	int error = TRY(a, nvmlDeviceGetGpuFabricInfoV, a->handle, &info);

	if (error == NVML_NO_FUNCTION || error == NVML_OTHER_VERSION) {
		info = (struct nvml_fabric_v2){ 0 };
		error = TRY(a, nvmlDeviceGetGpuFabricInfo, a->handle, &old);
		memcpy(info.cluster, old.cluster, sizeof(info.cluster));
		info.status = old.status;
		info.clique = old.clique;
		info.state = old.state;
	}
	if (error == NVML_DONE) {
		set_fabric(a, &info);
		return;
	}
	fabric->state.state = take(a, "nvmlDeviceGetGpuFabricInfoV", error);
	fabric->error.state = fabric->clique.state = fabric->cluster_uuid.state =
		fabric->health_mask.state = fabric->state.state;
}

static void ask_clocks(struct asking *a)
{
	struct nvml_clocks *clocks = &a->gpu->clocks;
	unsigned long long reasons = 0;
	unsigned int degrees = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetCurrentClocksThrottleReasons, &reasons);

	clocks->reasons = number(state, reasons);
	state = ASK(a, nvmlDeviceGetTemperature, NVML_SENSOR_GPU, &degrees);
	clocks->temperature_c = number(state, degrees);
	state = ASK(a, nvmlDeviceGetTemperatureThreshold, NVML_THRESHOLD_SLOWDOWN, &degrees);
	clocks->slowdown_c = number(state, degrees);
	state = ASK(a, nvmlDeviceGetTemperatureThreshold, NVML_THRESHOLD_SHUTDOWN, &degrees);
	clocks->shutdown_c = number(state, degrees);
	clocks->power_limit_mw = ASK_U32(a, nvmlDeviceGetPowerManagementLimit);
	clocks->power_default_mw = ASK_U32(a, nvmlDeviceGetPowerManagementDefaultLimit);
	clocks->power_enforced_mw = ASK_U32(a, nvmlDeviceGetEnforcedPowerLimit);
}

static void ask_pcie(struct asking *a)
{
	struct nvml_pcie *pcie = &a->gpu->pcie;

	pcie->replays = ASK_U32(a, nvmlDeviceGetPcieReplayCounter);
	pcie->generation = ASK_U32(a, nvmlDeviceGetCurrPcieLinkGeneration);
	pcie->generation_max = ASK_U32(a, nvmlDeviceGetMaxPcieLinkGeneration);
	pcie->width = ASK_U32(a, nvmlDeviceGetCurrPcieLinkWidth);
	pcie->width_max = ASK_U32(a, nvmlDeviceGetMaxPcieLinkWidth);
}

static void ask_modes(struct asking *a)
{
	struct nvml_gpu *gpu = a->gpu;
	unsigned int current = 0, pending = 0;
	char firmware[FIRMWARE_BYTES] = "", uuid[UUID_BYTES] = "";
	enum fact_state state = ASK(a, nvmlDeviceGetMigMode, &current, &pending);

	gpu->mig = flag(state, (int)current);
	gpu->mig_pending = flag(state, (int)pending);
	gpu->minor = ASK_U32(a, nvmlDeviceGetMinorNumber);
	gpu->compute_mode = ASK_WORD(a, nvmlDeviceGetComputeMode, nvml_compute_mode_words);
	gpu->persistence = ASK_FLAG(a, nvmlDeviceGetPersistenceMode);
	gpu->virtualization = ASK_WORD(a, nvmlDeviceGetVirtualizationMode,
				       nvml_virtualization_words);
	state = ASK(a, nvmlDeviceGetGspFirmwareVersion, firmware);
	gpu->gsp_firmware.state = state;
	if (state == FACT_KNOWN)
		gpu->gsp_firmware = fact_strn(a->arena, firmware,
					      strnlen(firmware, sizeof(firmware)));
	state = ASK(a, nvmlDeviceGetUUID, uuid, sizeof(uuid));
	gpu->uuid.state = state;
	if (state == FACT_KNOWN)
		gpu->uuid = fact_strn(a->arena, uuid, strnlen(uuid, sizeof(uuid)));
}

/* ---- values by their number ---- */

/* nvmlValueType_t */
static uint64_t value_of(const struct nvml_field_value *f)
{
	switch (f->type) {
	case 0:
		return f->value.d > 0 ? (uint64_t)f->value.d : 0;
	case 1:
		return f->value.u;
	case 5:
		return f->value.i > 0 ? (uint64_t)f->value.i : 0;
	case 6:
		return f->value.us;
	default:
		return f->value.ull;
	}
}

static struct fact_u64 field_number(struct asking *a, const struct nvml_field_value *f)
{
	return number(take(a, "nvmlDeviceGetFieldValues", f->result), value_of(f));
}

static bool ask_fields(struct asking *a, struct nvml_field_value *fields, int count)
{
	return ASK(a, nvmlDeviceGetFieldValues, count, fields) == FACT_KNOWN;
}

static void ask_recovery(struct asking *a)
{
	struct nvml_field_value field = { .field = NVML_FIELD_RECOVERY_ACTION };
	struct fact_u64 action;

	if (!ask_fields(a, &field, 1))
		return;
	action = field_number(a, &field);
	a->gpu->recovery = word(action.state, (int)action.value, nvml_recovery_words);
}

/* ---- NVLink ---- */

static const unsigned int link_fields[] = { NVML_FIELD_LINK_VERSION, NVML_FIELD_LINK_SPEED,
					    NVML_FIELD_LINK_REPLAYS, NVML_FIELD_LINK_RECOVERIES,
					    NVML_FIELD_LINK_CRC };
#define LINK_FIELDS (sizeof(link_fields) / sizeof(link_fields[0]))

static void ask_remote(struct asking *a, struct nvml_link *link)
{
	unsigned int n = (unsigned int)link->link.value;
	struct nvml_pci pci = { 0 };
	int type = NVML_REMOTE_UNKNOWN;
	enum fact_state state = ASK(a, nvmlDeviceGetNvLinkRemotePciInfo_v2, n, &pci);

	link->remote.state = state;
	if (state == FACT_KNOWN)
		link->remote = address(a->arena, &pci);
	state = ASK(a, nvmlDeviceGetNvLinkRemoteDeviceType, n, &type);
	link->remote_is = word(state, type == 0xff ? NVML_REMOTE_UNKNOWN : type, nvml_remote_words);
}

/* All numbers of all links in one call. */
static void ask_link_numbers(struct asking *a)
{
	struct nvml_field_value fields[NVML_LINKS * LINK_FIELDS] = { 0 }, *f = fields;
	int count = 0;

	for_each(link, &a->gpu->links)
		for (size_t i = 0; i < LINK_FIELDS; i++) {
			fields[count].field = link_fields[i];
			fields[count++].scope = (unsigned int)link->link.value;
		}
	if (!count || !ask_fields(a, fields, count))
		return;
	for_each_mut(link, &a->gpu->links) {
		link->version = field_number(a, f++);
		link->mb_per_s = field_number(a, f++);
		link->replays = field_number(a, f++);
		link->recoveries = field_number(a, f++);
		link->crc_errors = field_number(a, f++);
		if (!known_is(link->active, true))
			link->mb_per_s = number(was_read(link->active) ? FACT_ABSENT : FACT_UNKNOWN,
						0);
	}
}

/* A GPU without NVLink supports the call for none; past the last link the number is an invalid one. */
static void ask_links(struct asking *a)
{
	a->gpu->links.state = FACT_ABSENT;
	for (unsigned int n = 0; n < NVML_LINKS; n++) {
		int active = 0;
		int error = TRY(a, nvmlDeviceGetNvLinkState, a->handle, n, &active);
		enum fact_state state;
		struct nvml_link *link;

		if (error == NVML_UNSUPPORTED)
			continue;
		if (error == NVML_INVALID_ARGUMENT)
			break;
		state = take(a, "nvmlDeviceGetNvLinkState", error);
		if (error == NVML_NO_FUNCTION) {
			a->gpu->links.state = FACT_UNKNOWN;
			return;
		}
		link = LIST_ADD(a->arena, &a->gpu->links);
		link->link = fact_u64(n);
		link->active = flag(state, active);
		if (known_is(link->active, true)) {
			ask_remote(a, link);
		} else {
			link->remote.state = was_read(link->active) ? FACT_ABSENT : FACT_UNKNOWN;
			link->remote_is.state = link->remote.state;
		}
	}
	ask_link_numbers(a);
}

/* ---- pairs ---- */

static struct fact_enum ask_pair(struct asking *a, nvml_handle other, int what)
{
	int status = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetP2PStatus, other, what, &status);

	return word(state, status, nvml_p2p_words);
}

static bool links_are_known(const struct nvml_gpu *gpu)
{
	for_each(link, &gpu->links)
		if (is_unknown(link->active) ||
		    (known_is(link->active, true) && !is_known(link->remote_is)))
			return false;
	return was_read(gpu->links);
}

/* Behind switches each link leads to every GPU there. */
static uint64_t count_links(const struct nvml_gpu *gpu, const char *bdf)
{
	uint64_t count = 0;

	for_each(link, &gpu->links)
		count += known_is(link->active, true) &&
			 (known_is(link->remote_is, NVML_REMOTE_SWITCH) ||
			  str_is(link->remote, bdf));
	return count;
}

static void ask_peer(struct asking *a, const struct nvml_gpu *other, nvml_handle handle)
{
	struct nvml_peer *peer = LIST_ADD(a->arena, &a->gpu->peers);
	uint64_t links = count_links(a->gpu, other->bdf.value);

	peer->bdf = other->bdf;
	peer->read = ask_pair(a, handle, NVML_CAN_READ);
	peer->write = ask_pair(a, handle, NVML_CAN_WRITE);
	peer->nvlink = ask_pair(a, handle, NVML_CAN_NVLINK);
	peer->atomics = ask_pair(a, handle, NVML_CAN_ATOMICS);
	if (!links_are_known(a->gpu) || is_unknown(peer->nvlink))
		return;
	peer->links = links && known_is(peer->nvlink, NVML_P2P_IS_OK) ? fact_u64(links)
								      : FACT_NONE(fact_u64);
}

static int compare_peers(const void *a, const void *b)
{
	const struct nvml_peer *x = a, *y = b;

	return strcmp(x->bdf.value, y->bdf.value);
}

static void ask_peers(struct asking *a)
{
	struct nvml_gpu *gpus = a->facts->gpus.items;

	for (uint32_t i = 0; i < a->facts->gpus.count; i++) {
		a->gpu = &gpus[i];
		a->handle = a->handles[i];
		a->gpu->peers.state = FACT_KNOWN;
		for (uint32_t k = 0; k < a->facts->gpus.count; k++)
			if (k != i)
				ask_peer(a, &gpus[k], a->handles[k]);
		fact_list_sort(&a->gpu->peers, sizeof(a->gpu->peers.items[0]), compare_peers);
	}
}

/* ---- all ---- */

static void ask_gpu(struct asking *a, unsigned int index)
{
	struct nvml_pci pci = { 0 };
	struct nvml_gpu *gpu;
	int error;

	a->gpu = NULL;
	error = TRY(a, nvmlDeviceGetHandleByIndex_v2, index, &a->handle);
	if (take(a, "nvmlDeviceGetHandleByIndex_v2", error) != FACT_KNOWN ||
	    ASK(a, nvmlDeviceGetPciInfo_v3, &pci) != FACT_KNOWN)
		return;
	gpu = LIST_ADD(a->arena, &a->facts->gpus);
	gpu->bdf = address(a->arena, &pci);
	gpu->index = fact_u64(index);
	a->handles[a->facts->gpus.count - 1] = a->handle;
	a->gpu = gpu;
	ask_modes(a);
	ask_memory(a);
	ask_ecc(a);
	ask_rows(a);
	ask_links(a);
	ask_fabric(a);
	ask_clocks(a);
	ask_pcie(a);
	ask_recovery(a);
}

static int compare_gpus(const void *a, const void *b)
{
	const struct nvml_gpu *x = a, *y = b;

	return strcmp(x->bdf.value, y->bdf.value);
}

const char *nvml_ask(struct nvml_facts *facts, struct arena *arena)
{
	struct asking a = { .facts = facts, .arena = arena };
	unsigned int count = 0;
	int error;

	if (nvml_library_open(&a.lib, facts->library.value))
		return "the dynamic loader does not load libnvidia-ml.so.1";
	error = TRY(&a, nvmlInit_v2);
	if (error != NVML_DONE)
		return arena_printf(arena, "nvmlInit_v2: %s (%d)", nvml_error_word(error), error);
	error = TRY(&a, nvmlDeviceGetCount_v2, &count);
	if (error != NVML_DONE)
		return arena_printf(arena, "nvmlDeviceGetCount_v2: %s (%d)", nvml_error_word(error),
				    error);
	facts->gpus.state = facts->failures.state = FACT_KNOWN;
	for (unsigned int i = 0; i < count && i < GPUS_MAX; i++)
		ask_gpu(&a, i);
	ask_peers(&a);
	fact_list_sort(&facts->gpus, sizeof(facts->gpus.items[0]), compare_gpus);
	return NULL;
}
