/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-systemd.c - systemd-boot's menu: entries on the EFI system partition and on the extended
 * boot partition, and unified kernel images in EFI/Linux. */
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "parse/bls.h"
#include "parse/pe.h"
#include "parse/shellvars.h"
#include "probes/boot/boot-find.h"

#define ENTRY_MAX (16u << 10)
#define SECTION_MAX (16u << 10) /* .cmdline, .osrel, .uname */

/* Mount points of the two partitions: UAPI.1, "Mount Points"; /boot/efi is older practice. */
static const char *const bases[] = { "/efi", "/boot/efi", "/boot" };

struct reading {
	struct probe_context *ctx;
	LIST(struct bls_entry) entries;
	const char *pattern; /* default of loader.conf */
	bool any;	     /* a loader.conf, an entry or an image */
	bool grub;	     /* entries are GRUB's, whose own menu is not there */
	/* the entry that was started last is the next one, and which one that is, is not
	 * recorded */
	bool lost;
	bool unknown; /* something could not be read */
};

/* ---- EFI variables ---- */

#define LOADER_GUID "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
#define VARIABLE_MAX 4096

/* Four bytes of attributes, then UTF-16. Names of entries and loaders are ASCII; others stay
 * unread. */
const char *boot_loader_variable(struct probe_context *ctx, const char *name)
{
	_cleanup_text_ struct text text = { 0 };
	char *value;
	size_t n = 0;

	if (host_read(ctx->host, &text, VARIABLE_MAX, "/sys/firmware/efi/efivars/%s-%s", name,
		      LOADER_GUID))
		return NULL;
	value = arena_alloc(ctx->arena, text.size / 2 + 1);
	for (size_t i = 4; i + 1 < text.size; i += 2) {
		if (text.data[i + 1] || (unsigned char)text.data[i] >= 0x80)
			return NULL;
		if (!text.data[i])
			break;
		value[n++] = text.data[i];
	}
	return value;
}

/* ---- unified kernel images ---- */

static int read_section(int fd, struct span head, const char *name, struct fact_str *fact,
			struct arena *arena)
{
	struct pe_section section;
	_cleanup_free_ char *text = NULL;
	ssize_t n;

	fact->state = FACT_ABSENT;
	if (!pe_find(head, name, &section))
		return 0;
	if (section.size > SECTION_MAX)
		return -EFBIG;
	text = malloc(SECTION_MAX);
	if (!text)
		return -ENOMEM;
	n = pread(fd, text, (size_t)section.size, (off_t)section.offset);
	if (n < 0)
		return -errno;
	*fact = fact_strn(arena, text, span_find((struct span){ text, (size_t)n }, '\0'));
	return 0;
}

/* .osrel goes into title as it is: the caller takes it apart. */
static int ask_uki(struct host *host, void *facts, struct arena *arena, void *user)
{
	_cleanup_close_ int fd = host_open(host, user);
	struct boot_entry *entry = facts;
	char head[PE_HEAD_SIZE];
	struct pe_section section;
	struct span span;
	ssize_t n;
	int rc;

	if (fd < 0)
		return fd;
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return -errno;
	span = (struct span){ head, (size_t)n };
	if (!pe_find(span, ".linux", &section))
		return -EBADMSG; /* another program */
	rc = read_section(fd, span, ".cmdline", &entry->cmdline, arena);
	if (rc == 0)
		rc = read_section(fd, span, ".uname", &entry->kernel, arena);
	if (rc == 0)
		rc = read_section(fd, span, ".osrel", &entry->title, arena);
	return rc;
}

static void ignore_assignment(void *user, struct span name, const char *value, uint64_t line)
{
	(void)user, (void)name, (void)value, (void)line;
}

static const char *variable(const struct shellvars *vars, const char *const *names)
{
	for (; *names; names++)
		for_each(v, &vars->known)
			if (span_is(v->name, *names) && *v->value)
				return v->value;
	return NULL;
}

/* Takes the fields of os-release that systemd-boot shows and sorts by: bootspec_pick_name_version_sort_key() */
static void take_osrel(struct bls_entry *e, struct arena *arena, const char *osrel)
{
	struct shellvars vars = { .arena = arena };

	shellvars_read(&vars, span_of(osrel), ignore_assignment, NULL);
	e->title = variable(&vars,
			    (const char *const[]){ "PRETTY_NAME", "IMAGE_ID", "NAME", "ID", NULL });
	e->version = variable(&vars, (const char *const[]){ "IMAGE_VERSION", "VERSION",
							    "VERSION_ID", "BUILD_ID", NULL });
	e->sort_key = variable(&vars, (const char *const[]){ "IMAGE_ID", "ID", NULL });
}

static const char *value_of(const struct fact_str *fact)
{
	return is_known(*fact) ? fact->value : NULL;
}

/* Fills E from the image PATH; false if it is not one. */
static bool read_uki(struct reading *r, struct bls_entry *e, const char *path)
{
	struct probe_context *ctx = r->ctx;
	struct boot_entry *answer = arena_alloc(ctx->arena, sizeof(*answer));
	const char *key = arena_printf(ctx->arena, "uki %s", path);
	struct span cmdline;
	int rc = host_query(ctx->host, key, &boot_entry_desc, answer, ctx->arena, ask_uki,
			    (void *)path);

	if (rc) {
		r->unknown |= rc != -ENOENT && rc != -EBADMSG;
		return false;
	}
	if (is_known(answer->title))
		take_osrel(e, ctx->arena, answer->title.value);
	e->release = value_of(&answer->kernel);
	if (is_known(answer->cmdline)) {
		cmdline = span_trim(span_of(answer->cmdline.value));
		e->options = arena_strndup(ctx->arena, cmdline.p, cmdline.n);
	}
	e->file = e->uki = path;
	return true;
}

static void add_ukis(struct reading *r, const char *base)
{
	_cleanup_names_ struct names names = { 0 };
	struct probe_context *ctx = r->ctx;
	int rc = host_list(ctx->host, &names, "%s/EFI/Linux", base);

	r->unknown |= rc && rc != -ENOENT && rc != -ENODATA;
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);
		struct bls_entry e = { .folder = base };

		if (name.p[0] == '.' || !bls_has_suffix(name, ".efi"))
			continue;
		if (r->entries.count == BOOT_ENTRIES_MAX) {
			r->unknown = true;
			break;
		}
		e.id = arena_strdup(ctx->arena, name.p);
		if (read_uki(r, &e, arena_printf(ctx->arena, "%s/EFI/Linux/%s", base, name.p)))
			*LIST_ADD(ctx->arena, &r->entries) = e;
		r->any = true;
	}
}

/* ---- entries ---- */

static void add_entry_file(struct reading *r, const char *base, const char *name)
{
	struct probe_context *ctx = r->ctx;
	_cleanup_text_ struct text text = { 0 };
	struct bls_entry e;

	if (r->entries.count == BOOT_ENTRIES_MAX ||
	    host_read(ctx->host, &text, ENTRY_MAX, "%s/loader/entries/%s", base, name)) {
		r->unknown = true;
		return;
	}
	if (!bls_read(&e, ctx->arena, span_of(name), text_span(&text), BLS_SYSTEMD))
		return;
	r->any = true;
	r->grub |= e.grub;
	e.folder = base;
	if (!e.kernel && e.uki) {
		struct bls_entry uki = { 0 };

		read_uki(r, &uki, boot_path(ctx, base, e.uki));
		e.uki = uki.uki;
		e.release = uki.release;
		e.options = e.options ? e.options : uki.options;
	}
	e.file = arena_printf(ctx->arena, "%s/loader/entries/%s", base, name);
	*LIST_ADD(ctx->arena, &r->entries) = e;
}

static void add_entry_files(struct reading *r, const char *base)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(r->ctx->host, &names, "%s/loader/entries", base);

	r->unknown |= rc && rc != -ENOENT && rc != -ENODATA;
	for (size_t i = 0; i < names.count; i++)
		if (names.items[i][0] != '.' && bls_has_suffix(span_of(names.items[i]), ".conf"))
			add_entry_file(r, base, names.items[i]);
}

static void read_loader_conf(struct reading *r, const char *base)
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(r->ctx->host, &text, ENTRY_MAX, "%s/loader/loader.conf", base);

	r->unknown |= rc && rc != -ENOENT && rc != -ENODATA;
	if (rc)
		return;
	r->any = true;
	if (!r->pattern)
		r->pattern = bls_default(text_span(&text), r->ctx->arena);
}

/* ---- choosing: boot.c config_select_default_entry() ---- */

static bool boot_systemd_matches(struct reading *r, const char *pattern, uint32_t *index)
{
	if (pattern && strcmp(pattern, "@saved") == 0) {
		/* systemd-boot always sets the other: without it, none of them can be seen. */
		pattern = boot_loader_variable(r->ctx, "LoaderEntryLastBooted");
		r->lost |= !pattern && !boot_loader_variable(r->ctx, "LoaderInfo");
	}
	for (*index = 0; pattern && *index < r->entries.count; ++*index)
		if (fnmatch(pattern, r->entries.items[*index].id, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static uint32_t boot_systemd_choose(struct reading *r)
{
	uint32_t index;

	if (boot_systemd_matches(r, boot_loader_variable(r->ctx, "LoaderEntryOneShot"), &index) ||
	    boot_systemd_matches(r, boot_loader_variable(r->ctx, "LoaderEntryDefault"), &index) ||
	    boot_systemd_matches(r, r->pattern, &index))
		return index;
	return 0;
}

static uint32_t boot_systemd_add(struct probe_context *ctx, const struct bls_entry *e)
{
	bool uki = !e->kernel;

	return boot_add(ctx, &(struct boot_line){
				     .id = e->id,
				     .title = e->title,
				     .release = e->release ? e->release
						: uki	   ? NULL
							   : e->version,
				     .kernel = e->kernel,
				     .initrd = uki ? e->uki : e->initrd,
				     .cmdline = e->options,
				     .file = e->file,
				     .base = uki ? "" : e->folder,
			     });
}

static void boot_systemd_fill(struct reading *r)
{
	struct probe_context *ctx = r->ctx;
	struct boot_facts *boot = &ctx->node->boot;
	const struct bls_entry *next = NULL;
	uint32_t index;

	bls_sort(r->entries.items, r->entries.count, BLS_SYSTEMD);
	if (r->entries.count)
		next = &r->entries.items[boot_systemd_choose(r)];
	boot->entries.state = FACT_KNOWN;
	for_each(e, &r->entries) {
		if (!e->kernel && !e->uki)
			continue;
		index = boot_systemd_add(ctx, e);
		if (e != next || r->lost)
			continue;
		boot_set_next(ctx, index);
		if (!e->kernel)
			boot->loader = fact_enum(BOOT_UKI);
	}
	if (r->lost)
		host_gap_note(ctx->host, "/sys/firmware/efi/efivars", -ENODATA,
			      "the entry that was started last boots next, and the firmware's "
			      "variables do not tell which one");
	else if (next && !next->kernel && !next->uki)
		host_gap_note(ctx->host, next->file, -ENODATA,
			      "the entry that boots next starts no Linux kernel");
}

bool boot_read_systemd(struct probe_context *ctx)
{
	struct reading r = { .ctx = ctx };
	struct host_stat stat;

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		/* Most hosts have no /efi, and a copy of one has not lost it. */
		if (i == 0 && host_stat(ctx->host, &stat, "%s", bases[i]))
			continue;
		read_loader_conf(&r, bases[i]);
		add_entry_files(&r, bases[i]);
		add_ukis(&r, bases[i]);
	}
	if (!r.any)
		return false;
	/* A copy without grub.cfg, which only root may read: what the variables in the entries
	 * stand for and which one is started are there. */
	if (r.grub) {
		ctx->node->boot.loader = fact_enum(BOOT_GRUB_BLS);
		host_gap_note(ctx->host, "/boot/grub2/grub.cfg", -ENODATA,
			      "not there, though entries of GRUB are: the next entry is not known");
		return true;
	}
	ctx->node->boot.loader = fact_enum(BOOT_SYSTEMD_BOOT);
	if (!r.unknown)
		boot_systemd_fill(&r);
	return true;
}
