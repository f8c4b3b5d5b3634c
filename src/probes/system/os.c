/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * os.c - the operating system and the machine it runs on. The rest of its section is filled by
 * virt.c (hypervisor, container) and kernel.c (kernel options, settings, lockdown).
 */
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "parse/cpuinfo.h"
#include "parse/cpulist.h"
#include "parse/field.h"
#include "probes/probe.h"

#define CPUINFO_FILE "/proc/cpuinfo"
#define CPUINFO_MAX (32u << 20)
#define CPU_ONLINE_FILE "/sys/devices/system/cpu/online"
#define EFI_FOLDER "/sys/firmware/efi"
/* EFI_GLOBAL_VARIABLE (UEFI 2.10, 3.3); efivarfs puts four bytes of attributes before the value. */
#define SECURE_BOOT_FILE EFI_FOLDER "/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* ---- release, kernel, memory ---- */

static void read_variable(struct probe_context *ctx, struct fact_str *fact, struct span text,
			  const char *name)
{
	char value[256];

	if (field_shell(text, name, value, sizeof(value)))
		*fact = fact_str(ctx->arena, value);
	else
		fact->state = FACT_ABSENT;
}

static void read_release(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/etc/os-release");

	/* os-release(5): /etc first, and that is mostly a link to the other. */
	if (rc == -ENOENT || rc == -ENODATA)
		rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/usr/lib/os-release");
	if (rc) {
		os->id.state = os->like.state = os->version.state = os->name.state =
			probe_state(rc);
		return;
	}
	read_variable(ctx, &os->id, text_span(&text), "ID");
	read_variable(ctx, &os->like, text_span(&text), "ID_LIKE");
	read_variable(ctx, &os->version, text_span(&text), "VERSION_ID");
	read_variable(ctx, &os->name, text_span(&text), "PRETTY_NAME");
}

static void read_boot_time(struct probe_context *ctx)
{
	struct fact_u64 *fact = &ctx->node->os.boot_time_s;
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/stat");

	if (rc == 0 && (!field_find(text_span(&text), ' ', "btime", &value) ||
			span_u64(value, 10, &fact->value))) {
		host_gap_note(ctx->host, "/proc/stat", -EBADMSG, "no btime line");
		rc = -EBADMSG;
	}
	fact->state = probe_state(rc);
}

static int ask_observer(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct os_facts *answer = facts;

	(void)host;
	(void)arena;
	(void)user;
	answer->observed_time_s = fact_u64((uint64_t)time(NULL));
	answer->observed_uid = fact_u64(geteuid());
	return 0;
}

/* A capture has those of its recording. */
static void read_observer(struct probe_context *ctx)
{
	struct os_facts answer = { 0 };

	if (host_query(ctx->host, "observer", &os_facts_desc, &answer, ctx->arena, ask_observer,
		       NULL))
		return;
	ctx->node->os.observed_time_s = answer.observed_time_s;
	ctx->node->os.observed_uid = answer.observed_uid;
}

static void read_memory(struct probe_context *ctx)
{
	struct fact_u64 *fact = &ctx->node->os.memory_bytes;
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/meminfo");

	if (rc == 0 && (!field_find(text_span(&text), ':', "MemTotal", &value) ||
			!field_kib(value, &fact->value))) {
		host_gap_note(ctx->host, "/proc/meminfo", -EBADMSG, "no MemTotal line");
		rc = -EBADMSG;
	}
	fact->state = probe_state(rc);
}

/* ---- processor ---- */

static struct fact_str text_or_absent(struct probe_context *ctx, struct span s)
{
	return s.n ? probe_span(ctx, s) : FACT_NONE(fact_str);
}

static struct fact_u64 number_or_absent(struct span s)
{
	uint64_t value;

	return span_u64(s, 10, &value) ? FACT_NONE(fact_u64) : fact_u64(value);
}

/* Reads the machine type of uname(2). Kernels before 6.1 have no such file; there the processor's description
 * decides. */
static void read_machine(struct probe_context *ctx)
{
	probe_str(ctx, &ctx->node->os.machine, "/proc/sys/kernel/arch");
}

static void read_cpu(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	_cleanup_text_ struct text text = { 0 };
	struct cpuinfo info;
	int rc = host_read_head(ctx->host, &text, CPUINFO_HEAD, CPUINFO_FILE);

	if (rc == 0 && !cpuinfo_parse(text_span(&text), &info)) {
		host_gap_note(ctx->host, CPUINFO_FILE, -EBADMSG, "no processor in it");
		rc = -EBADMSG;
	}
	if (rc) {
		os->cpu_vendor.state = os->cpu_model.state = os->cpu_family.state =
			os->cpu_model_number.state = os->cpu_ibt.state = probe_state(rc);
		return;
	}
	os->cpu_vendor = text_or_absent(ctx, info.vendor);
	os->cpu_model = text_or_absent(ctx, info.model);
	os->cpu_family = number_or_absent(info.family);
	os->cpu_model_number = number_or_absent(info.number);
	if (info.has_flags)
		os->cpu_ibt = fact_bool(info.ibt);
	else
		os->cpu_ibt.state = info.family.n ? FACT_UNKNOWN : FACT_ABSENT;
	/* The dynamic linker of the ABI that only little-endian systems have (OpenPOWER ELFv2, 4.1.1). */
	if (info.power && host_exists(ctx->host, "/lib64/ld64.so.2"))
		info.machine = "ppc64le";
	if (!is_known(os->machine))
		os->machine = info.machine ? fact_str(ctx->arena, info.machine)
					   : (struct fact_str){ 0 };
}

/* A tree may have no /sys/devices/system; then every processor has to be counted. */
static void count_in_cpuinfo(struct probe_context *ctx)
{
	struct fact_u64 *fact = &ctx->node->os.cpus;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(ctx->host, &text, CPUINFO_MAX, CPUINFO_FILE);

	if (rc == 0 && (!text.size || text.data[text.size - 1] != '\n')) {
		host_gap_note(ctx->host, CPUINFO_FILE, -EBADMSG, "cut off within a line");
		rc = -EBADMSG;
	}
	if (rc == 0)
		*fact = fact_u64(field_count(text_span(&text), ':', "processor"));
	else
		fact->state = probe_state(rc);
}

static void count_cpus(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct cpulist list;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, CPU_ONLINE_FILE);

	if (rc == 0 && cpulist_parse(text_span(&text), &list) == 0 && list.count) {
		ctx->node->os.cpus = fact_u64(list.count);
		return;
	}
	if (rc == 0)
		host_gap_note(ctx->host, CPU_ONLINE_FILE, -EBADMSG, "not a list of processors");
	count_in_cpuinfo(ctx);
}

/* ---- firmware and image ---- */

static void read_secure_boot(struct probe_context *ctx)
{
	struct fact_bool *fact = &ctx->node->os.secure_boot;
	_cleanup_names_ struct names names = { 0 };
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, SECURE_BOOT_FILE);

	if (rc == 0 && text.size == 5) {
		*fact = fact_bool(text.data[4] == 1);
		return;
	}
	if (rc == 0) {
		host_gap_note(ctx->host, SECURE_BOOT_FILE, -EBADMSG, "not five bytes");
		return;
	}
	if (rc != -ENOENT)
		return;
	/* UEFI without the variable cannot do it; without any variable they are not mounted. */
	if (host_exists(ctx->host, EFI_FOLDER) &&
	    (host_list(ctx->host, &names, EFI_FOLDER "/efivars") || !names.count))
		host_gap_note(ctx->host, EFI_FOLDER "/efivars", -ENODATA,
			      "efivarfs is not mounted");
	else
		fact->state = FACT_ABSENT;
}

/* Distributions whose root is an image: a file in /etc or /usr is gone, or comes back, with the
 * next one. By os-release ID. */
static const char *const image_based_ids[] = {
	"nixos",     "talos",	"flatcar", "bottlerocket", "cos", "ubuntu-core", "opensuse-microos",
	"sle-micro", "sl-micro"
};

/* Recognises an image-based system by its kernel arguments: ostree(1), bootc's composefs back end, live-boot(7),
 * casper(7), dracut.cmdline(7), overlayroot. */
static const char *image_based_cmdline(struct span text)
{
	static const struct {
		const char *prefix;
		const char *word;
	} marks[] = {
		{ "ostree=", "ostree" },
		{ "composefs=", "bootc" },
		{ "boot=live", "live" },
		{ "boot=casper", "live" },
		{ "rd.live.image", "live" },
		{ "root=live:", "live" },
		{ "overlayroot=tmpfs", "overlayroot" },
		{ "overlayroot=device", "overlayroot" },
	};
	struct span word;

	while (span_word(&text, &word))
		for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
			if (span_starts(word, marks[i].prefix))
				return marks[i].word;
	return NULL;
}

static void find_image_based(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	_cleanup_text_ struct text text = { 0 };
	const char *word = NULL;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/cmdline");

	for (size_t i = 0; is_known(os->id) && i < ARRAY_SIZE(image_based_ids); i++)
		if (str_is(os->id, image_based_ids[i]))
			word = image_based_ids[i];
	if (!word && host_exists(ctx->host, "/run/ostree-booted"))
		word = "ostree";
	if (!word && rc == 0)
		word = image_based_cmdline(text_span(&text));
	if (word)
		os->image_based = fact_str(ctx->arena, word);
	else if (!is_unknown(os->id) && (rc == 0 || rc == -ENOENT))
		os->image_based.state = FACT_ABSENT;
}

/* The name of the machine: DMI has it, or a device tree, where strings end with a NUL. */
static void read_product(struct probe_context *ctx)
{
	struct fact_str *product = &ctx->node->os.product;
	_cleanup_text_ struct text text = { 0 };
	struct span model;

	probe_str(ctx, product, "/sys/class/dmi/id/product_name");
	if (!is_absent(*product) ||
	    host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/device-tree/model"))
		return;
	model = text_span(&text);
	model.n = span_find(model, '\0');
	*product = probe_span(ctx, model);
}

static void os_run(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;

	probe_str(ctx, &os->hostname, "/proc/sys/kernel/hostname");
	probe_str(ctx, &os->kernel, "/proc/sys/kernel/osrelease");
	os->next_boot.state = FACT_ABSENT;
	probe_str(ctx, &os->boot_id, "/proc/sys/kernel/random/boot_id");
	read_release(ctx);
	read_boot_time(ctx);
	read_memory(ctx);
	read_machine(ctx);
	read_cpu(ctx);
	count_cpus(ctx);
	read_product(ctx);
	read_secure_boot(ctx);
	find_image_based(ctx);
	read_observer(ctx);
}

/* Reads what decides whether a rule applies, and the facts that [expect] can name. */
static void os_run_preflight(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;

	probe_str(ctx, &os->hostname, "/proc/sys/kernel/hostname");
	probe_str(ctx, &os->kernel, "/proc/sys/kernel/osrelease");
	os->next_boot.state = FACT_ABSENT;
	read_machine(ctx);
	if (!is_known(os->machine))
		read_cpu(ctx);
	read_product(ctx);
	if (probe_is_wanted(ctx, "os.memory_bytes"))
		read_memory(ctx);
	if (probe_is_wanted(ctx, "os.cpus"))
		count_cpus(ctx);
}

const struct probe probe_os = {
	.name = "os",
	.phase = PHASE_OS,
	.mounted_image_order = 1,
	PROBE_SECTION(os),
	.run = os_run,
	.preflight = { .run = os_run_preflight },
};
