/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml-gpu.c - asks NVML about one GPU. If a function fails, only its own fact is unknown. */
#include <stdio.h>
#include <string.h>

#include "probes/gpu/nvml-ask-private.h"

#define UUID_BYTES 96	  /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
#define SERIAL_BYTES 30	  /* NVML_DEVICE_SERIAL_BUFFER_SIZE */
#define FIRMWARE_BYTES 64 /* NVML_GSP_FIRMWARE_VERSION_BUF_SIZE */
#define MIG_DEVICES_MAX 64

static struct fact_u64 ask_number(struct asking *a, const char *function,
				  int (*f)(nvml_handle, unsigned int *))
{
	unsigned int value = 0;
	enum fact_state state = asking_result(a, function,
					      f ? f(a->handle, &value) : NVML_NO_FUNCTION);

	return asking_number(state, value);
}

static struct fact_bool ask_flag(struct asking *a, const char *function,
				 int (*f)(nvml_handle, int *))
{
	int value = 0;
	enum fact_state state = asking_result(a, function,
					      f ? f(a->handle, &value) : NVML_NO_FUNCTION);

	return asking_flag(state, value);
}

static struct fact_enum ask_word(struct asking *a, const char *function,
				 int (*f)(nvml_handle, int *), const char *const *words)
{
	int value = 0;
	enum fact_state state = asking_result(a, function,
					      f ? f(a->handle, &value) : NVML_NO_FUNCTION);

	return asking_word(state, value, words);
}

#define ASK_U32(a, f) ask_number(a, #f, (a)->lib->f)
#define ASK_FLAG(a, f) ask_flag(a, #f, (a)->lib->f)
#define ASK_WORD(a, f, words) ask_word(a, #f, (a)->lib->f, words)

/* ---- one GPU ---- */

static void ask_memory(struct asking *a)
{
	struct nvml_memory *memory = &a->gpu.memory;
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
		memory->total_bytes = asking_number(state, v1.total);
		memory->used_bytes = asking_number(state, v1.used);
		memory->reserved_bytes.state = state == FACT_KNOWN ? FACT_ABSENT : state;
	}
	state = ASK(a, nvmlDeviceGetBAR1MemoryInfo, &bar1);
	memory->bar1_total_bytes = asking_number(state, bar1.total);
	memory->bar1_used_bytes = asking_number(state, bar1.used);
}

static struct fact_u64 ask_errors(struct asking *a, int type, int counts)
{
	unsigned long long value = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetTotalEccErrors, type, counts, &value);

	return asking_number(state, value);
}

static void ask_ecc(struct asking *a)
{
	struct nvml_ecc *ecc = &a->gpu.ecc;
	int current = 0, pending = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetEccMode, &current, &pending);

	ecc->enabled = asking_flag(state, current);
	ecc->pending = asking_flag(state, pending);
	ecc->corrected_volatile = ask_errors(a, NVML_ERROR_CORRECTED, NVML_COUNTS_VOLATILE);
	ecc->uncorrected_volatile = ask_errors(a, NVML_ERROR_UNCORRECTED, NVML_COUNTS_VOLATILE);
	ecc->corrected_aggregate = ask_errors(a, NVML_ERROR_CORRECTED, NVML_COUNTS_AGGREGATE);
	ecc->uncorrected_aggregate = ask_errors(a, NVML_ERROR_UNCORRECTED, NVML_COUNTS_AGGREGATE);
	ecc->retirement_pending = ASK_FLAG(a, nvmlDeviceGetRetiredPagesPendingStatus);
}

/* Asks for the number of pages: with room for none, NVML returns it. */
static struct fact_u64 ask_pages(struct asking *a, int cause)
{
	unsigned long long address;
	unsigned int count = 0;
	int error = TRY(a, nvmlDeviceGetRetiredPages, a->handle, cause, &count, &address);

	return asking_number(asking_result(a, "nvmlDeviceGetRetiredPages",
					   error == NVML_TOO_SMALL ? NVML_DONE : error),
			     count);
}

static void ask_repairs(struct asking *a)
{
	struct nvml_ecc *ecc = &a->gpu.ecc;
	struct nvml_sram sram = { .version = NVML_VERSION_OF(sram, 1) };
	struct nvml_repairs repairs = { .version = NVML_VERSION_OF(repairs, 1) };
	unsigned int unrepairable = 0; /* nvmlUnrepairableMemoryStatus_v1_t */
	enum fact_state state = ASK(a, nvmlDeviceGetSramEccErrorStatus, &sram);

	ecc->sram_threshold_exceeded = asking_flag(state, (int)sram.threshold_exceeded);
	state = ASK(a, nvmlDeviceGetRepairStatus, &repairs);
	ecc->channel_repair_pending = asking_flag(state, (int)repairs.channel_pending);
	ecc->tpc_repair_pending = asking_flag(state, (int)repairs.tpc_pending);
	state = ASK(a, nvmlDeviceGetUnrepairableMemoryFlag_v1, &unrepairable);
	ecc->unrepairable = asking_flag(state, (int)unrepairable);
	ecc->pages_corrected = ask_pages(a, NVML_PAGES_CORRECTED);
	ecc->pages_uncorrected = ask_pages(a, NVML_PAGES_UNCORRECTED);
}

static void ask_rows(struct asking *a)
{
	struct nvml_rows *rows = &a->gpu.rows;
	unsigned int correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
	struct nvml_histogram banks = { 0 };
	enum fact_state state = ASK(a, nvmlDeviceGetRemappedRows, &correctable, &uncorrectable,
				    &pending, &failed);

	rows->correctable = asking_number(state, correctable);
	rows->uncorrectable = asking_number(state, uncorrectable);
	rows->pending = asking_flag(state, (int)pending);
	rows->failed = asking_flag(state, (int)failed);
	state = ASK(a, nvmlDeviceGetRowRemapperHistogram, &banks);
	rows->banks_max = asking_number(state, banks.max);
	rows->banks_high = asking_number(state, banks.high);
	rows->banks_partial = asking_number(state, banks.partial);
	rows->banks_low = asking_number(state, banks.low);
	rows->banks_none = asking_number(state, banks.none);
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
	struct nvml_fabric *fabric = &a->gpu.fabric;
	bool completed = info->state == NVML_FABRIC_COMPLETED;

	fabric->state = info->state == NVML_FABRIC_NOT_SUPPORTED
				? FACT_NONE(fact_enum)
				: asking_word(FACT_KNOWN, info->state, nvml_fabric_state_words);
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
	struct nvml_fabric *fabric = &a->gpu.fabric;
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
	fabric->state.state = asking_result(a, "nvmlDeviceGetGpuFabricInfoV", error);
	fabric->error.state = fabric->clique.state = fabric->cluster_uuid.state =
		fabric->health_mask.state = fabric->state.state;
}

static void ask_clocks(struct asking *a)
{
	struct nvml_clocks *clocks = &a->gpu.clocks;
	unsigned long long reasons = 0;
	struct nvml_margin margin = { .version = NVML_VERSION_OF(margin, 1) };
	unsigned int degrees = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetCurrentClocksThrottleReasons, &reasons);

	clocks->reasons = asking_number(state, reasons);
	state = ASK(a, nvmlDeviceGetTemperature, NVML_SENSOR_GPU, &degrees);
	clocks->temperature_c = asking_number(state, degrees);
	state = ASK(a, nvmlDeviceGetTemperatureThreshold, NVML_THRESHOLD_SLOWDOWN, &degrees);
	clocks->slowdown_c = asking_number(state, degrees);
	state = ASK(a, nvmlDeviceGetTemperatureThreshold, NVML_THRESHOLD_SHUTDOWN, &degrees);
	clocks->shutdown_c = asking_number(state, degrees);
	state = ASK(a, nvmlDeviceGetMarginTemperature, &margin);
	clocks->margin_c = asking_number(state, margin.degrees > 0 ? (uint64_t)margin.degrees : 0);
	clocks->power_limit_mw = ASK_U32(a, nvmlDeviceGetPowerManagementLimit);
	clocks->power_default_mw = ASK_U32(a, nvmlDeviceGetPowerManagementDefaultLimit);
	clocks->power_enforced_mw = ASK_U32(a, nvmlDeviceGetEnforcedPowerLimit);
}

static void ask_pcie(struct asking *a)
{
	struct nvml_pcie *pcie = &a->gpu.pcie;

	pcie->replays = ASK_U32(a, nvmlDeviceGetPcieReplayCounter);
	pcie->generation = ASK_U32(a, nvmlDeviceGetCurrPcieLinkGeneration);
	pcie->generation_max = ASK_U32(a, nvmlDeviceGetMaxPcieLinkGeneration);
	pcie->width = ASK_U32(a, nvmlDeviceGetCurrPcieLinkWidth);
	pcie->width_max = ASK_U32(a, nvmlDeviceGetMaxPcieLinkWidth);
}

static struct fact_str text_of(struct asking *a, enum fact_state state, const char *text,
			       size_t size)
{
	return state == FACT_KNOWN ? fact_strn(a->arena, text, strnlen(text, size))
				   : (struct fact_str){ .state = state };
}

static void ask_names(struct asking *a)
{
	struct nvml_gpu *gpu = &a->gpu;
	char firmware[FIRMWARE_BYTES] = "", uuid[UUID_BYTES] = "", serial[SERIAL_BYTES] = "";
	enum fact_state state = ASK(a, nvmlDeviceGetGspFirmwareVersion, firmware);

	gpu->gsp_firmware = text_of(a, state, firmware, sizeof(firmware));
	state = ASK(a, nvmlDeviceGetUUID, uuid, sizeof(uuid));
	gpu->uuid = text_of(a, state, uuid, sizeof(uuid));
	if (!a->serials)
		return;
	state = ASK(a, nvmlDeviceGetSerial, serial, sizeof(serial));
	gpu->serial = text_of(a, state, serial, sizeof(serial));
}

static void ask_modes(struct asking *a)
{
	struct nvml_gpu *gpu = &a->gpu;

	gpu->minor = ASK_U32(a, nvmlDeviceGetMinorNumber);
	gpu->compute_mode = ASK_WORD(a, nvmlDeviceGetComputeMode, nvml_compute_mode_words);
	gpu->persistence = ASK_FLAG(a, nvmlDeviceGetPersistenceMode);
	gpu->display_active = ASK_FLAG(a, nvmlDeviceGetDisplayActive);
	gpu->accounting = ASK_FLAG(a, nvmlDeviceGetAccountingMode);
	gpu->virtualization = ASK_WORD(a, nvmlDeviceGetVirtualizationMode,
				       nvml_virtualization_words);
}

/* ---- MIG ---- */

/* Asks about a MIG device through its own handle, because other threads use the GPU's. */
static void ask_mig_device(struct asking *a, unsigned int index, nvml_handle device)
{
	struct nvml_mig_device *mig = LIST_ADD(a->arena, &a->gpu.mig_devices);
	struct nvml_attributes attributes = { 0 };
	char uuid[UUID_BYTES] = "";
	unsigned int id = 0;
	int error = TRY(a, nvmlDeviceGetGpuInstanceId, device, &id);

	mig->index = fact_u64(index);
	mig->gpu_instance = asking_number(asking_result(a, "nvmlDeviceGetGpuInstanceId", error),
					  id);
	error = TRY(a, nvmlDeviceGetComputeInstanceId, device, &id);
	mig->compute_instance =
		asking_number(asking_result(a, "nvmlDeviceGetComputeInstanceId", error), id);
	error = TRY(a, nvmlDeviceGetUUID, device, uuid, sizeof(uuid));
	mig->uuid = text_of(a, asking_result(a, "nvmlDeviceGetUUID", error), uuid, sizeof(uuid));
	error = TRY(a, nvmlDeviceGetAttributes_v2, device, &attributes);
	mig->memory_bytes.state = asking_result(a, "nvmlDeviceGetAttributes_v2", error);
	mig->memory_bytes = asking_number(mig->memory_bytes.state, attributes.memory_mib << 20);
	mig->multiprocessors = asking_number(mig->memory_bytes.state, attributes.multiprocessors);
}

static void ask_mig(struct asking *a)
{
	struct nvml_gpu *gpu = &a->gpu;
	unsigned int current = 0, pending = 0, count = 0;
	enum fact_state state = ASK(a, nvmlDeviceGetMigMode, &current, &pending);

	gpu->mig = asking_flag(state, (int)current);
	gpu->mig_pending = asking_flag(state, (int)pending);
	gpu->mig_devices.state = known_is(gpu->mig, true) ? FACT_KNOWN
				 : was_read(gpu->mig)	  ? FACT_ABSENT
							  : FACT_UNKNOWN;
	if (!is_known(gpu->mig_devices))
		return;
	gpu->mig_devices.state = ASK(a, nvmlDeviceGetMaxMigDeviceCount, &count);
	for (unsigned int i = 0; i < count && i < MIG_DEVICES_MAX; i++) {
		nvml_handle device = NULL;
		int error = TRY(a, nvmlDeviceGetMigDeviceHandleByIndex, a->handle, i, &device);

		if (error == NVML_DONE)
			ask_mig_device(a, i, device);
		else if (error != NVML_NOT_FOUND)
			asking_result(a, "nvmlDeviceGetMigDeviceHandleByIndex", error);
	}
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

struct fact_u64 asking_field(struct asking *a, const struct nvml_field_value *f)
{
	return asking_number(asking_result(a, "nvmlDeviceGetFieldValues", f->result), value_of(f));
}

bool asking_fields(struct asking *a, struct nvml_field_value *fields, int count)
{
	return ASK(a, nvmlDeviceGetFieldValues, count, fields) == FACT_KNOWN;
}

static void ask_recovery(struct asking *a)
{
	struct nvml_field_value field = { .field = NVML_FIELD_RECOVERY_ACTION };
	struct fact_u64 action;

	if (!asking_fields(a, &field, 1))
		return;
	action = asking_field(a, &field);
	a->gpu.recovery = asking_word(action.state, (int)action.value, nvml_recovery_words);
}

void asking_gpu(struct asking *a)
{
	ask_modes(a);
	ask_mig(a);
	ask_names(a);
	ask_memory(a);
	ask_ecc(a);
	ask_repairs(a);
	ask_rows(a);
	ask_fabric(a);
	ask_clocks(a);
	ask_pcie(a);
	ask_recovery(a);
}
