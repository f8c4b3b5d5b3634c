/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.c - lines of the kernel's log that mean something.
 *
 * The ring buffer comes first: it costs a tenth of what a journal does and has no gaps. Where it
 * has lost the boot, or may not be read, the journal of this boot takes its place. A tree has the
 * ring buffer where it is the running host's, else a journal, kern.log or the output of dmesg.
 */
#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "base/clock.h"
#include "parse/kmsg.h"
#include "probes/log/log-journal.h"
#include "probes/log/log-lines.h"
#include "probes/log/log-scan.h"
#include "probes/probe.h"
#include "query/log-source.h"
#include "query/node-find.h"

#define KMSG_DEVICE "/dev/kmsg"
/* kernel/printk/internal.h: PRINTKRB_RECORD_MAX is 1024, and a record can grow fourfold by its
 * escapes; a read into less fails with EINVAL. */
#define KMSG_RECORD_MAX 8192
#define KMSG_BUDGET_MS 500
/* Bytes that are read from the end of a log file. */
#define LOG_FILE_MAX (64 << 20)
#define LOG_PREFLIGHT_MAX (4 << 20)

/*
 * Texts of open-gpu-kernel-modules (nv-pci.c, nv.c, osinit.c, osmemdesc.c, osapi.c, nv-dmabuf.c,
 * nv-dma.c, nvidia-peermem.c, uvm_pmm_gpu.c, kern_bus_tu102.c, kernel_gsp.c, nvlink_linux.c), gdrdrv.c and the kernel
 * (module/main.c, module/signing.c, params.c, iommu/, pci/pci.c, pci/probe.c, pci/setup-bus.c, pci/pcie/,
 * mlx5/core/, x86/mm/mem_encrypt.c).
 */
/* clang-format off */
static const struct kmsg_pattern patterns[] = {
	/* Before what else an Xid's text can say: 79 is "GPU has fallen off the bus". A mismatch has a client's text in
	 * it. */
	{ "xid", "NVRM: Xid (", { NULL }, KMSG_NUMBERED },
	/* Events after which earlier messages are obsolete: see query/log-age.c. The first is the driver's first
	 * message when it is loaded. */
	{ "driver-begins", "nvidia-nvlink: Nvlink Core is being initialized", { NULL }, KMSG_ANY },
	{ "gpu-enumerated", "pci ", { ": [10de:", "] type 00 class 0x03" }, KMSG_OF_DEVICE },
	{ "device-reset", NULL, { ": reset done" }, KMSG_OF_DEVICE },
	{ "api-mismatch", "NVRM: API mismatch", { NULL }, KMSG_ANY },
	{ "allow-peermapping", "NVRM:", { "allowPeermapping=0" }, KMSG_ANY },
	{ "bar-invalid", "NVRM:", { "assigned to your NVIDIA device is invalid" }, KMSG_ANY },
	{ "bar-invalid", "NVRM: BAR", { " is ", "M @ 0x" }, KMSG_ANY },	/* its second line */
	{ "bar-resize-no-space", "NVRM:", { "No address space to allocate resized" }, KMSG_ANY },
	{ "bar-resize-failed", "NVRM:", { "Failed to re-allocate BAR1" }, KMSG_ANY },
	{ "bar-resize-failed", "NVRM:", { "attempting to resize PCIe BARs" }, KMSG_ANY },
	{ "bar-taken", "NVRM:", { "request_mem_region failed" }, KMSG_ANY },
	{ "bar1-bus-address", "NVRM:", { "bar1BusAddr" }, KMSG_ANY },
	/* Messages of level info: release builds do not print them, builds patched for peer-to-peer can. */
	{ "bar1-p2p-mapping", "NVRM:", { "added PCIe BAR1 P2P mapping" }, KMSG_ANY },
	{ "peer-pte-assertion", "NVRM:", { "Assertion failed", "field_desc.h" }, KMSG_ANY },
	{ "bar1-static-too-small", "NVRM:", { "not large enough to map FB" }, KMSG_ANY },
	{ "no-irq", "NVRM:", { "Can't find an IRQ for your NVIDIA card" }, KMSG_ANY },
	{ "probe-not-called", "NVRM:", { "NVIDIA probe routine was not called" }, KMSG_ANY },
	{ "probe-failed", "NVRM:", { "NVIDIA probe routine failed for" }, KMSG_ANY },
	{ "no-gpu-initialized", "NVRM:", { "No NVIDIA devices probed" }, KMSG_ANY },
	{ "no-gpu-initialized", "NVRM:", { "None of the NVIDIA devices were" }, KMSG_ANY },
	{ "no-gpu-found", "NVRM:", { "No NVIDIA GPU found" }, KMSG_ANY },
	{ "no-gpu-found", "NVRM:", { "No NVIDIA graphics adapter found" }, KMSG_ANY },
	/* Texts of several lines are joined (log-join.c), and their first words are those of others. */
	{ "fallen-off-bus", "NVRM:", { "fallen off the bus" }, KMSG_ANY },
	/* data/init-causes.tsv: what the driver says before RmInitAdapter fails, or of a GPU that it does not take. */
#define INIT_CAUSE(name, text, ...) { name, "NVRM:", { text }, KMSG_ANY },
#include "init-causes.inc"
#undef INIT_CAUSE
	{ "gpu-unsupported", "NVRM: The NVIDIA ", { "(PCI ID: ", "not supported" }, KMSG_ANY },
	/* "PCI ID" is only in texts that refuse a GPU; the reason is not there. */
	{ "gpu-refused", "NVRM: The NVIDIA ", { "(PCI ID: " }, KMSG_ANY },
	{ "gpu-legacy", "NVRM:", { "supported through the NVIDIA ", "Legacy drivers" }, KMSG_ANY },
	{ "rm-init-failed", "NVRM:", { "RmInitAdapter failed" }, KMSG_ANY },
	{ "open-unsupported-gpu", "NVRM: Open nvidia.ko is only ready", { NULL }, KMSG_ANY },
	{ "gsp-firmware-missing", "NVRM:", { "No firmware image found" }, KMSG_ANY },
	{ "gsp-firmware-missing", "NVRM:", { "GSP firmware image version mismatch" }, KMSG_ANY },
	{ "gsp-firmware-not-found", "nvidia ", { "Direct firmware load for nvidia/", "gsp_" }, KMSG_ANY },
	{ "sxid", "nvidia-nvswitch", { "SXid (" }, KMSG_NUMBERED },
	{ "peer-mmio-map-failed", "NVRM:", { "Failed to DMA map MMIO range" }, KMSG_ANY },
	{ "peer-dma-unaligned", "NVRM:", { "peer DMA address", "is not aligned" }, KMSG_ANY },
	{ "gpu-bar-overlap", "NVRM:", { "overlaps with ", "BAR" }, KMSG_ANY },
	{ "dmabuf-attach-failed", "NVRM:", { "dma-buf attach failed" }, KMSG_ANY },
	{ "fabric-out-of-sync", "NVRM:", { "NVLink fabric state", "out of sync" }, KMSG_ANY },
	{ "fabric-out-of-sync", "NVRM:", { "NV_ERR_FABRIC_STATE_OUT_OF_SYNC" }, KMSG_ANY },
	{ "fabric-not-ready", "NVRM:", { "NV_ERR_NVLINK_FABRIC_" }, KMSG_ANY },	/* NOT_READY, FAILURE */
	{ "gpu-reset-required", "NVRM:", { "NV_ERR_RESET_REQUIRED" }, KMSG_ANY },
	{ "gpu-reset-required", "NVRM:", { "likely needs to be reset" }, KMSG_ANY },
	{ "peermem-register-failed", "nvidia-peermem ", { "error while registering" }, KMSG_ANY },
	{ "peermem-bad-parameter", "nvidia-peermem ", { "invalid peerdirect_support" }, KMSG_ANY },
	{ "peermem-invalid-context", "nv", { "detected invalid context, skipping" }, KMSG_ANY },
	{ "peermem-get-pages-failed", "nv", { "while calling nvidia_p2p_get_pages" }, KMSG_ANY },
	{ "uvm-hmm-failed", "nvidia-uvm:", { "devmem_alloc_pagemap[", " err -" }, KMSG_ANY },
	{ "gdrdrv-built-for", "gdrdrv:", { " built for ", " NVIDIA driver" }, KMSG_ANY },
	{ "gdrdrv-pin-failed", "gdrdrv:", { "nvidia_p2p_get_pages(", "failed" }, KMSG_ANY },
	{ "unknown-parameter", NULL, { ": unknown parameter '", "' ignored" }, KMSG_OF_MODULE },
	{ "bad-parameter", NULL, { "' invalid for parameter `" }, KMSG_OF_MODULE },
	{ "bad-parameter", NULL, { "' too large for parameter `" }, KMSG_OF_MODULE },
	{ "version-magic", NULL, { ": version magic '", "' should be '" }, KMSG_OF_MODULE },
	{ "symbol-version", NULL, { ": disagrees about version of symbol " }, KMSG_OF_MODULE },
	{ "symbol-version", NULL, { ": no symbol version for " }, KMSG_OF_MODULE },
	{ "unknown-symbol", NULL, { ": Unknown symbol " }, KMSG_OF_MODULE },
	{ "module-rejected", "Loading of ", { " is rejected" }, KMSG_ANY },
	{ "module-rejected", "Lockdown: ", { "unsigned module loading is restricted" }, KMSG_ANY },
	{ "io-page-fault", NULL, { "IO_PAGE_FAULT" }, KMSG_OF_DEVICE },
	{ "io-page-fault", "AMD-Vi:", { "IO_PAGE_FAULT" }, KMSG_ANY },
	{ "dmar-fault", "DMAR:", { "fault addr" }, KMSG_ANY },
	{ "dmar-fault", "DMAR:", { "[fault reason" }, KMSG_ANY },
	{ "smmu-fault", "arm-smmu-v3 ", { "event", "received:" }, KMSG_ANY },
	{ "smmu-fault", "arm-smmu-v3 ", { "event: ", " client: " }, KMSG_ANY },	/* Linux 6.14 on */
	/* data/iommu-words.tsv */
#define IOMMU_WORDS(name, start, whose, text, ...) { name, start, { text }, whose },
#include "iommu-words.inc"
#undef IOMMU_WORDS
	/* data/host-messages.tsv */
#define HOST_MESSAGE(name, start, text, ...) { name, start, { text }, KMSG_ANY },
#include "host-messages.inc"
#undef HOST_MESSAGE
	{ "amd-iommu-unknown-option", "AMD-Vi: Unknown option", { NULL }, KMSG_ANY },
	{ "iommu-default-domain", "iommu: Default domain type:", { NULL }, KMSG_ANY },
	{ "bar-no-space", NULL, { "can't assign; no space" }, KMSG_OF_DEVICE },
	{ "bar-no-space", NULL, { ": no space for [mem" }, KMSG_OF_DEVICE },	/* before Linux 6.10 */
	{ "bar-taken-from", NULL, { ": can't reserve [mem" }, KMSG_OF_DEVICE },
	{ "sriov-no-room", NULL, { "not enough MMIO resources for SR-IOV" }, KMSG_OF_DEVICE },
	{ "memory-encryption", "Memory Encryption Features active:", { NULL }, KMSG_ANY },
	{ "memory-encryption", "AMD Memory Encryption Features active:", { NULL }, KMSG_ANY },
	{ "memory-type-conflict", "x86/PAT:", { "conflicting memory types" }, KMSG_ANY },
	{ "p2pdma-refused", NULL, { "cannot be used for peer-to-peer DMA" }, KMSG_OF_DEVICE },
	{ "pcie-fatal-error", NULL, { "PCIe Bus Error: severity=Uncorrect", "(Fatal)" }, KMSG_OF_DEVICE },
	{ "pcie-fatal-error", NULL, { "DPC: containment event" }, KMSG_OF_DEVICE },
	{ "power-state-stuck", NULL, { "Unable to change power state from " }, KMSG_OF_DEVICE },
	{ "suspend-entry", "PM:", { "suspend entry (" }, KMSG_ANY },
	{ "pcie-error", NULL, { "PCIe Bus Error: severity=Uncorrect" }, KMSG_OF_DEVICE },
	{ "pcie-corrected", NULL, { "PCIe Bus Error: severity=Correct" }, KMSG_OF_DEVICE }, /* -ed; -able from 6.8 on */
	{ "pcie-bandwidth-limited", NULL, { "available PCIe bandwidth, limited" }, KMSG_OF_DEVICE },
	{ "packet-refused", NULL, { " PROTO=TCP SPT=", " SYN URGP=" }, KMSG_OF_PACKET },
	{ "nic-insufficient-power", "mlx5_core ", { "nsufficient power on the PCIe" }, KMSG_ANY },
	{ "nic-module-error", "mlx5_core ", { "Port module event[error]" }, KMSG_ANY },
	{ "nic-temperature", "mlx5_core ", { "High temperature on sensors" }, KMSG_ANY },
	{ "nic-health", "mlx5_core ", { "health compromised" }, KMSG_ANY },
};
/* clang-format on */
#define PATTERNS (ARRAY_SIZE(patterns))

static void end_scan(struct host *host, struct log_scan *scan, const char *source, bool complete)
{
	log_scan_end(scan, source, complete);
	if (scan->full)
		host_gap_note(host, source, -EOVERFLOW,
			      "it has more kinds of messages and devices than are kept");
}

/* ---- the ring buffer ---- */

/* 0, or why there is no record at all. */
static int read_ring(struct host *host, struct log_scan *scan)
{
	_cleanup_close_ int fd = host_open_kmsg(host);
	uint64_t end = clock_ms() + KMSG_BUDGET_MS;
	char buffer[KMSG_RECORD_MAX];
	bool complete = false;
	size_t count = 0;

	if (fd < 0)
		return fd;
	for (;;) {
		ssize_t n = read(fd, buffer, sizeof(buffer));
		struct kmsg_record record;

		/* EPIPE: records were overwritten before they were read. */
		if (n < 0 && errno == EPIPE) {
			complete = false;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && !count)
			return -errno;
		if (n <= 0)
			break;
		if (kmsg_record_parse((struct span){ buffer, (size_t)n }, &record))
			continue;
		if (count++ == 0)
			complete = record.sequence == 0;
		if (record.kernel)
			log_scan_message(scan, record.time_us, record.level, record.message);
		if (count % 1024 == 0 && clock_ms() > end) {
			complete = false;
			break;
		}
	}
	end_scan(host, scan, KMSG_DEVICE, complete);
	return count ? 0 : -ENODATA;
}

/* What every node has in its log, or what only makes an earlier message obsolete. */
static bool is_usual(const struct log_line *line)
{
	static const char *const usual[] = { "driver-begins",	  "gpu-enumerated",
					     "device-reset",	  "iommu-default-domain",
					     "memory-encryption", "pcie-bandwidth-limited",
					     "gdrdrv-built-for",  "suspend-entry" };

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (str_is(line->pattern, usual[i]))
			return true;
	return false;
}

/* Only records keep the lines of one message together: of texts in several lines, of which the first names the GPU,
 * and of a path with a line break in it, by which any user could write lines of the kernel. */
static bool wants_records(const struct log_facts *log)
{
	for_each(line, &log->lines)
		if (!is_usual(line))
			return true;
	return log->failures.count > 0;
}

/* "<6>[   12.345678] ...": eight levels, all of facility 0, which is the kernel. */
static bool is_of_kernel(struct span line)
{
	return line.n > 3 && line.p[0] == '<' && line.p[2] == '>';
}

/* The ring buffer by one call, where reading it takes one for each record. 0, -EAGAIN where records
 * have to be read after all, or why there is nothing. */
static int read_at_once(struct host *host, struct log_scan *scan)
{
	_cleanup_text_ struct text text = { 0 };
	bool complete = false, any = false;
	struct span rest, line;
	size_t whole = 0;
	int rc = host_read_kernel_log(host, &text, &whole);

	if (rc)
		return rc;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		struct kmsg_line parsed;

		if (!is_of_kernel(line) || !kmsg_line_parse(line, false, &parsed))
			continue;
		complete |= !any && kmsg_is_first(&parsed);
		any = true;
		log_scan_line(scan, &parsed);
	}
	log_scan_end(scan, KMSG_DEVICE, complete);
	/* A buffer that is not full and has no beginning was cleared for dmesg, and not for others. */
	return scan->full || wants_records(&scan->facts) || (!complete && text.size < whole / 2)
		       ? -EAGAIN
		       : 0;
}

/* ---- journals ---- */

struct journal_scan {
	struct log_scan *scan;
	bool banner;
};

static void journal_line(void *user, uint64_t time_us, int level, struct span message)
{
	struct journal_scan *j = user;

	j->banner |= kmsg_is_banner(message) && time_us < KMSG_BANNER_US;
	log_scan_message(j->scan, time_us, level, message);
}

static int read_journal(struct host *host, struct log_scan *scan, const char *folder)
{
	struct journal_scan j = { .scan = scan };
	char boot[JOURNAL_BOOT_ID];
	bool cut;
	int rc;

	journal_boot(host, boot);
	rc = journal_read(folder, boot, journal_line, &j, &cut);
	if (rc == 0)
		end_scan(host, scan, "journal", j.banner && !cut);
	return rc;
}

static int read_tree_journal(struct host *host, struct log_scan *scan)
{
	char native[PATH_MAX];
	int rc = journal_folder(host, native);

	return rc ? rc : read_journal(host, scan, native);
}

/* ---- files ---- */

struct log_file {
	const char *path;
	bool syslog;
	bool shared; /* log_is_of_users(): it does not count as complete, nor for preflight, which drains nodes */
	uint64_t boot_us; /* Unix time of the boot; 0: not known */
	off_t max;	  /* bytes that are read, from its end */
	bool preflight;	  /* as in struct log_scan */
};

struct file_scan {
	struct log_scan scan;
	const struct log_file *file;
	bool complete;
	bool timed; /* a line with a time was read */
};

/* A syslog daemon may have left the clock's time alone in a line. */
static uint64_t since_boot(const struct file_scan *f, const struct kmsg_line *line)
{
	uint64_t time_us;

	if (kmsg_line_time(line, &time_us))
		return time_us;
	if (!line->clock_us || !f->file->boot_us || line->clock_us < f->file->boot_us)
		return LOG_NO_TIME;
	return line->clock_us - f->file->boot_us;
}

#define BOOT_US \
	(600 *  \
	 1000000ull) /* from the boot to the start of a daemon that writes its first lines to a file */

/* A banner hides all that stands before it. One with the time of a later moment is no boot: in a file that users can
 * write to by the clock's, and by printk's where a line break that the kernel quotes makes a line. */
static bool is_of_boot(const struct file_scan *f, const struct kmsg_line *line)
{
	uint64_t boot = f->file->boot_us, time_us;

	if (kmsg_line_time(line, &time_us) ? time_us >= KMSG_BANNER_US : f->timed && !line->time.n)
		return false;
	return !f->file->shared || !boot || !line->clock_us ||
	       (line->clock_us + BOOT_US >= boot && line->clock_us <= boot + BOOT_US);
}

/* dmesg(1) and journalctl(1) write the time of a record once, and indent its other lines. A user can have the kernel
 * quote a line break. */
static bool is_indented(struct span line)
{
	return line.n && (line.p[0] == ' ' || line.p[0] == '\t');
}

/* Lines that stand before the last boot's first are another boot's. */
static bool file_line(void *user, struct span line)
{
	struct file_scan *f = user;
	struct kmsg_line parsed;

	if (!kmsg_line_parse(line, f->file->syslog, &parsed))
		return true;
	if (f->timed && !f->file->syslog && is_indented(line)) {
		log_scan_continue(&f->scan, parsed.message);
		return true;
	}
	if (kmsg_is_banner(parsed.message) && is_of_boot(f, &parsed)) {
		log_scan_forget(&f->scan);
		/* A log that was saved at boot has no later events. */
		f->complete = !parsed.saved;
	}
	f->timed |= parsed.time.n > 0;
	log_scan_text(&f->scan, since_boot(f, &parsed), parsed.level, parsed.text, parsed.message);
	return true;
}

static int ask_file(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct log_file *file = user;
	_cleanup_close_ int fd = host_open(host, file->path);
	struct file_scan f = { .file = file };
	int rc;

	if (fd < 0)
		return fd;
	log_scan_begin(&f.scan, patterns, PATTERNS, arena);
	f.scan.preflight = file->preflight;
	if (lseek(fd, 0, SEEK_END) > file->max)
		lseek(fd, -file->max, SEEK_END);
	else
		lseek(fd, 0, SEEK_SET);
	rc = lines_read(fd, file_line, &f);
	end_scan(host, &f.scan, file->path, f.complete && !file->shared);
	if (rc == 0)
		*(struct log_facts *)facts = f.scan.facts;
	return rc;
}

/* Daemons still append to the first of them. The output of dmesg is of the moment when it was saved. */
static const struct log_file files[] = {
	{ "/var/log/kern.log", .syslog = true },
	{ "/var/log/messages", .syslog = true }, /* RHEL, SUSE */
	{ "/var/log/syslog", .syslog = true },
	{ "/var/log/dmesg" },
};
#define FILES (ARRAY_SIZE(files))

static struct log_file file_of(const struct probe_context *ctx, size_t i)
{
	const struct fact_u64 *boot = &ctx->node->os.boot_time_s;
	struct log_file file = files[i];

	file.shared = log_is_of_users(file.path);
	file.preflight = ctx->preflight;
	file.max = ctx->preflight ? LOG_PREFLIGHT_MAX : LOG_FILE_MAX;
	if (is_known(*boot) && boot->value < UINT64_MAX / 1000000)
		file.boot_us = boot->value * 1000000;
	return file;
}

/* Reads the log of a copy: a file that begins at the boot counts for more than a journal that does not. */
static void read_whole_file(struct host *host, struct log_facts *answer, struct arena *arena,
			    const struct probe_context *ctx)
{
	for (size_t i = 0; i < FILES && !known_is(answer->complete, true); i++) {
		struct log_file file = file_of(ctx, i);
		struct log_facts found = { 0 };

		if (!file.shared && ask_file(host, &found, arena, &file) == 0 &&
		    known_is(found.complete, true))
			*answer = found;
	}
}

/* ---- all of them ---- */

static int ask_log(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct log_facts *answer = facts;
	struct log_scan ring, journal;
	bool tree = host_kind(host) == HOST_TREE;
	int rc, second;

	log_scan_begin(&ring, patterns, PATTERNS, arena);
	log_scan_begin(&journal, patterns, PATTERNS, arena);
	rc = read_ring(host, &ring);
	if (rc == 0 && known_is(ring.facts.complete, true)) {
		*answer = ring.facts;
		return 0;
	}
	second = tree ? read_tree_journal(host, &journal) : read_journal(host, &journal, NULL);
	if (second == 0)
		*answer = journal.facts;
	else if (rc == 0)
		*answer = ring.facts;
	if (tree && is_known(answer->source))
		read_whole_file(host, answer, arena, user);
	/* A missing device is no answer; a permission error is the answer. */
	return second == 0 || tree || rc == -ENOENT || rc == -ENXIO ? 0 : rc;
}

static void read_files(struct probe_context *ctx)
{
	struct log_facts *log = &ctx->node->log;

	for (size_t i = 0; i < FILES; i++) {
		struct log_facts answer = { 0 };
		struct log_file file = file_of(ctx, i);

		if ((file.shared && ctx->preflight) ||
		    host_query(ctx->host, file.path, &log_facts_desc, &answer, ctx->arena, ask_file,
			       &file))
			continue;
		if (is_unknown(log->source) || known_is(answer.complete, true))
			*log = answer;
		if (known_is(log->complete, true))
			return;
	}
}

static void log_run(struct probe_context *ctx)
{
	struct log_facts *log = &ctx->node->log;
	int rc = host_query(ctx->host, "log", &log_facts_desc, log, ctx->arena, ask_log, ctx);

	/* A user who can read neither ring buffer nor journal can still be allowed to read files. */
	if (is_unknown(log->source))
		read_files(ctx);
	log_denials_read(ctx->host, log, ctx->arena, &ctx->node->os.boot_time_s);
	if (is_unknown(log->source))
		host_gap_note(
			ctx->host, KMSG_DEVICE, rc ? rc : -ENODATA,
			rc == -EPERM || rc == -EACCES
				? "may not be read, and no journal or log file either"
				: "not there, and no journal or log file of the kernel either");
}

/* Reads the kernel's ring buffer for preflight. Opening the journal's library would take longer than everything
 * else. */
static void read_ring_in_preflight(struct probe_context *ctx)
{
	struct log_scan scan;
	int rc;

	if (!host_is_running(ctx->host))
		return;
	log_scan_begin(&scan, patterns, PATTERNS, ctx->arena);
	scan.preflight = true;
	rc = read_at_once(ctx->host, &scan);
	if (rc) {
		log_scan_begin(&scan, patterns, PATTERNS, ctx->arena);
		scan.preflight = true;
		rc = read_ring(ctx->host, &scan);
	}
	if (rc == 0)
		ctx->node->log = scan.facts;
	else
		host_gap_note(ctx->host, KMSG_DEVICE, rc,
			      rc == -EPERM || rc == -EACCES ? "may not be read" : "not there");
}

static void log_run_preflight(struct probe_context *ctx)
{
	if (host_kind(ctx->host) == HOST_TREE && is_unknown(ctx->node->log.source))
		read_files(ctx);
	/* A line of it asks whether HMM is off by now. */
	if (node_log(ctx->node, "uvm-hmm-failed"))
		probe_read_params(ctx, "nvidia_uvm");
}

const struct probe probe_log = {
	.name = "log",
	.phase = PHASE_ALONE,
	.needs = NEEDS_LOG,
	.is_running = true,
	PROBE_SECTION(log),
	.run = log_run,
	.preflight = {
		.run = log_run_preflight,
		.ahead = read_ring_in_preflight,
		.phase = PHASE_DRIVER, /* the ring buffer is read meanwhile */
	},
};
