/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program asks of the dynamic loader. */
#include "fuzz.h"

#include <errno.h>

#include "parse/elf.h"

static ssize_t read_bytes(void *user, uint64_t offset, void *to, size_t n)
{
	const struct span *file = user;

	if (offset >= file->n)
		return 0;
	n = n < file->n - offset ? n : file->n - offset;
	memcpy(to, file->p + offset, n);
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span file = fuzz_span(data, size);
	struct elf_dynamic out;
	int rc = elf_dynamic(read_bytes, &file, fuzz_arena(), &out);

	assert(rc == 0 || rc == -ENOEXEC || rc == -EBADMSG);
	assert(out.needed_count <= ELF_NEEDED_MAX);
	for (size_t i = 0; i < out.needed_count; i++)
		assert(strlen(out.needed[i]) < size);
	assert(out.version_count <= ELF_VERSIONS_MAX && out.defined_count <= ELF_VERSIONS_MAX);
	for (size_t i = 0; i < out.version_count; i++)
		assert(strlen(out.versions[i].file) + strlen(out.versions[i].name) < 2 * size);
	for (size_t i = 0; i < out.defined_count; i++)
		assert(strlen(out.defined[i]) < size);
	return 0;
}
