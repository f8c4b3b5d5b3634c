/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml-library.c - the functions of the NVIDIA Management Library that are called, for facts and by prove. */
#include "probes/gpu/nvml-library.h"

#include <errno.h>

#include "base/array.h"
#include "base/library.h"

int nvml_library_open(struct nvml_library *lib, const char *path)
{
#define NVML_SYMBOL(name, arguments) { &lib->name, #name, NULL, 1 },
	const struct library_symbol symbols[] = { NVML_FUNCTIONS(NVML_SYMBOL) };
#undef NVML_SYMBOL

	return path ? library_load_at(path, symbols, LIBRARY_COUNT(symbols))
		    : library_load(LIBNVIDIA_ML, symbols, LIBRARY_COUNT(symbols));
}

int nvml_library_start(struct nvml_library *lib)
{
	if (nvml_library_open(lib, NULL) || !lib->nvmlInit_v2 || lib->nvmlInit_v2() != NVML_DONE)
		return -ELIBACC;
	return 0;
}

/* nvmlReturn_t of nvml.h, NVML 13. */
const char *nvml_error_word(int error)
{
	static const char *const words[] = {
		"NVML_SUCCESS",
		"NVML_ERROR_UNINITIALIZED",
		"NVML_ERROR_INVALID_ARGUMENT",
		"NVML_ERROR_NOT_SUPPORTED",
		"NVML_ERROR_NO_PERMISSION",
		"NVML_ERROR_ALREADY_INITIALIZED",
		"NVML_ERROR_NOT_FOUND",
		"NVML_ERROR_INSUFFICIENT_SIZE",
		"NVML_ERROR_INSUFFICIENT_POWER",
		"NVML_ERROR_DRIVER_NOT_LOADED",
		"NVML_ERROR_TIMEOUT",
		"NVML_ERROR_IRQ_ISSUE",
		"NVML_ERROR_LIBRARY_NOT_FOUND",
		"NVML_ERROR_FUNCTION_NOT_FOUND",
		"NVML_ERROR_CORRUPTED_INFOROM",
		"NVML_ERROR_GPU_IS_LOST",
		"NVML_ERROR_RESET_REQUIRED",
		"NVML_ERROR_OPERATING_SYSTEM",
		"NVML_ERROR_LIB_RM_VERSION_MISMATCH",
		"NVML_ERROR_IN_USE",
		"NVML_ERROR_MEMORY",
		"NVML_ERROR_NO_DATA",
		"NVML_ERROR_VGPU_ECC_NOT_SUPPORTED",
		"NVML_ERROR_INSUFFICIENT_RESOURCES",
		"NVML_ERROR_FREQ_NOT_SUPPORTED",
		"NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
		"NVML_ERROR_DEPRECATED",
		"NVML_ERROR_NOT_READY",
		"NVML_ERROR_GPU_NOT_FOUND",
		"NVML_ERROR_INVALID_STATE",
		"NVML_ERROR_RESET_TYPE_NOT_SUPPORTED",
	};

	if (error < 0 || (unsigned int)error >= ARRAY_SIZE(words))
		return "NVML_ERROR_UNKNOWN";
	return words[error];
}
