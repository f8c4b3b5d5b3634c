/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf.c - the libraries that a program or shared library needs, and the symbol versions that it needs and defines: the
 * section .dynamic of a 64-bit little-endian ELF file (System V ABI, chapter 5; Linux Standard Base Core 5.0, "Symbol
 * Versioning"), found by the program headers, as the loader does it.
 */
#include "parse/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define SEGMENTS_MAX 64
#define ENTRIES_MAX 1024
#define NAME_BYTES 512 /* of a SONAME or a list of folders */

struct file {
	elf_read *read;
	void *user;
	struct arena *arena;
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t count;
};

/* Reads all N bytes or fails. */
static bool read_whole(struct file *f, uint64_t offset, void *to, size_t n)
{
	return f->read(f->user, offset, to, n) == (ssize_t)n;
}

static int read_header(struct file *f, Elf64_Ehdr *header)
{
	if (!read_whole(f, 0, header, sizeof(*header)))
		return -ENOEXEC;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header->e_type != ET_EXEC && header->e_type != ET_DYN))
		return -ENOEXEC;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > SEGMENTS_MAX)
		return -EBADMSG;
	f->count = header->e_phnum;
	return read_whole(f, header->e_phoff, f->segments, f->count * sizeof(f->segments[0]))
		       ? 0
		       : -EBADMSG;
}

/* Finds the file offset of the byte at ADDRESS in memory. */
static bool find_offset(const struct file *f, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < f->count; i++) {
		const Elf64_Phdr *s = &f->segments[i];

		if (s->p_type != PT_LOAD || address < s->p_vaddr ||
		    address - s->p_vaddr >= s->p_filesz)
			continue;
		*offset = s->p_offset + (address - s->p_vaddr);
		return *offset >= s->p_offset;
	}
	return false;
}

/* The string that begins at OFFSET, or NULL. */
static const char *read_name(struct file *f, uint64_t offset)
{
	char name[NAME_BYTES];
	ssize_t n = f->read(f->user, offset, name, sizeof(name));

	return n > 0 && memchr(name, '\0', (size_t)n) ? arena_strdup(f->arena, name) : NULL;
}

static int read_entries(struct file *f, const Elf64_Phdr *dynamic, Elf64_Dyn *entries,
			size_t *count, uint64_t *strings)
{
	size_t n = dynamic->p_filesz / sizeof(*entries);

	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (!read_whole(f, dynamic->p_offset, entries, n * sizeof(*entries)))
		return -EBADMSG;
	for (*count = 0; *count < n && entries[*count].d_tag != DT_NULL; ++*count)
		if (entries[*count].d_tag == DT_STRTAB &&
		    !find_offset(f, entries[*count].d_un.d_ptr, strings))
			return -EBADMSG;
	/* Those beyond what is read may name libraries. */
	return *count == ENTRIES_MAX ? -EBADMSG : 0;
}

static int take_entry(struct file *f, const Elf64_Dyn *entry, uint64_t strings,
		      struct elf_dynamic *out)
{
	const char *name;

	if (entry->d_tag != DT_NEEDED && entry->d_tag != DT_RPATH && entry->d_tag != DT_RUNPATH)
		return 0;
	name = strings + entry->d_un.d_val < strings ? NULL
						     : read_name(f, strings + entry->d_un.d_val);
	if (!name)
		return -EBADMSG;
	if (entry->d_tag == DT_RPATH)
		out->rpath = name;
	else if (entry->d_tag == DT_RUNPATH)
		out->runpath = name;
	else if (out->needed_count == ELF_NEEDED_MAX)
		return -EBADMSG;
	else
		out->needed[out->needed_count++] = name;
	return 0;
}

/* ---- symbol versions ---- */

/* Finds the file offset of the table in entry TAG of the dynamic section. Returns false if there is none. */
static bool find_table(const struct file *f, const Elf64_Dyn *entries, size_t count,
		       Elf64_Sxword tag, uint64_t *offset)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i].d_tag == tag)
			return find_offset(f, entries[i].d_un.d_ptr, offset);
	return false;
}

static int take_version(struct file *f, uint64_t offset, uint64_t strings, const char *file,
			struct elf_dynamic *out, uint64_t *next)
{
	struct elf_version *version = &out->versions[out->version_count];
	Elf64_Vernaux aux;

	if (out->version_count == ELF_VERSIONS_MAX || !read_whole(f, offset, &aux, sizeof(aux)))
		return -EBADMSG;
	version->file = file;
	version->name = read_name(f, strings + aux.vna_name);
	version->weak = aux.vna_flags & VER_FLG_WEAK;
	if (!version->name)
		return -EBADMSG;
	out->version_count++;
	*next = aux.vna_next;
	return 0;
}

/* A chain of libraries, and from each a chain of versions; an offset of 0 ends a chain. */
static int read_versions(struct file *f, uint64_t offset, uint64_t strings, struct elf_dynamic *out)
{
	Elf64_Verneed need = { .vn_next = 1 };
	int rc = 0;

	out->versions = arena_alloc(f->arena, ELF_VERSIONS_MAX * sizeof(*out->versions));
	out->version_count = 0;
	for (size_t i = 0; rc == 0 && need.vn_next; i++, offset += need.vn_next) {
		const char *file;
		uint64_t at, step = 1;

		if (i == ELF_NEEDED_MAX || !read_whole(f, offset, &need, sizeof(need)))
			return -EBADMSG;
		file = read_name(f, strings + need.vn_file);
		if (!file)
			return -EBADMSG;
		at = offset + need.vn_aux;
		for (size_t k = 0; rc == 0 && k < need.vn_cnt && step; k++, at += step)
			rc = take_version(f, at, strings, file, out, &step);
	}
	return rc;
}

/* The first name of an entry is the version's own, the others are those that it succeeds. */
static int read_defined(struct file *f, uint64_t offset, uint64_t strings, struct elf_dynamic *out)
{
	Elf64_Verdef def = { .vd_next = 1 };
	Elf64_Verdaux aux;

	out->defined = arena_alloc(f->arena, ELF_VERSIONS_MAX * sizeof(*out->defined));
	out->defined_count = 0;
	for (; def.vd_next; offset += def.vd_next) {
		const char *name;

		if (out->defined_count == ELF_VERSIONS_MAX ||
		    !read_whole(f, offset, &def, sizeof(def)) ||
		    !read_whole(f, offset + def.vd_aux, &aux, sizeof(aux)))
			return -EBADMSG;
		name = read_name(f, strings + aux.vda_name);
		if (!name)
			return -EBADMSG;
		out->defined[out->defined_count++] = name;
	}
	return 0;
}

static int read_dynamic(struct file *f, const Elf64_Phdr *dynamic, struct elf_dynamic *out)
{
	Elf64_Dyn *entries = arena_alloc(f->arena, ENTRIES_MAX * sizeof(*entries));
	uint64_t strings = 0, table;
	size_t count = 0;
	int rc = read_entries(f, dynamic, entries, &count, &strings);

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = take_entry(f, &entries[i], strings, out);
	if (rc == 0 && find_table(f, entries, count, DT_VERNEED, &table))
		rc = read_versions(f, table, strings, out);
	if (rc == 0 && find_table(f, entries, count, DT_VERDEF, &table))
		rc = read_defined(f, table, strings, out);
	return rc;
}

int elf_dynamic(elf_read *read, void *user, struct arena *arena, struct elf_dynamic *out)
{
	struct file f = { .read = read, .user = user, .arena = arena };
	Elf64_Ehdr header;
	int rc = read_header(&f, &header);

	*out = (struct elf_dynamic){ 0 };
	if (rc)
		return rc;
	out->machine = header.e_machine;
	for (size_t i = 0; rc == 0 && i < f.count; i++) {
		out->interpreted |= f.segments[i].p_type == PT_INTERP;
		if (f.segments[i].p_type == PT_DYNAMIC)
			rc = read_dynamic(&f, &f.segments[i], out);
	}
	return rc;
}
