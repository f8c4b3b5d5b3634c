/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvml-ask-private.h - the state that nvml-ask.c, nvml-gpu.c and nvml-links.c share: the questions to one GPU. */
#ifndef NVML_ASK_PRIVATE_H
#define NVML_ASK_PRIVATE_H

#include "facts/facts.h"
#include "probes/gpu/nvml-library.h"

/* The questions to one GPU and their answers. The thread that opens the GPU writes here and into this arena alone. */
struct asking {
	const struct nvml_library *lib;
	struct arena *arena;
	/* the GPUs that the driver shows; of the others bdf and handle are there */
	const struct asking *all;
	size_t count;
	bool serials;
	nvml_handle handle;
	struct nvml_gpu gpu; /* bdf unknown: the driver does not show it */
	LIST(struct nvml_failure) failures;
};

/* The state of a fact that FUNCTION answered with ERROR, which is written down. */
enum fact_state asking_result(struct asking *a, const char *function, int error);

/* Notes why FUNCTION gave no answer, once for each function. */
void asking_note(struct asking *a, const char *function, const char *why);

/* The bare error; and the state of the fact that is asked for. */
#define TRY(a, f, ...) ((a)->lib->f ? (a)->lib->f(__VA_ARGS__) : NVML_NO_FUNCTION)
#define ASK(a, f, ...) asking_result(a, #f, TRY(a, f, (a)->handle, __VA_ARGS__))

/* Facts of a state, and of a value if that is known. A value that no word is for is unknown. */
struct fact_u64 asking_number(enum fact_state state, uint64_t value);
struct fact_bool asking_flag(enum fact_state state, int value);
struct fact_enum asking_word(enum fact_state state, int value, const char *const *words);

/* Values by their number, in one call. False: there are none. */
bool asking_fields(struct asking *a, struct nvml_field_value *fields, int count);
struct fact_u64 asking_field(struct asking *a, const struct nvml_field_value *field);

/* nvidia-smi prints the domain with eight digits, the kernel with four. */
struct fact_str asking_address(struct arena *arena, const struct nvml_pci *pci);

/* In nvml-gpu.c: asks for all but NVLink and peers. */
void asking_gpu(struct asking *a);
/* In nvml-links.c. The GPUs before this one have their peers already. */
void asking_links(struct asking *a);
void asking_peers(struct asking *a);

#endif
