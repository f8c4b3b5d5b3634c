/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - the build configuration of the running kernel, and a few of its settings. */
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/library.h"
#include "parse/kconfig.h"
#include "probes/probe.h"

#define SECURITY_FOLDER "/sys/kernel/security"
#define LOCKDOWN_FILE SECURITY_FOLDER "/lockdown"
/* Distribution kernels have 250 to 300 KiB. */
#define KCONFIG_MAX (4u << 20)

/* Reads sysctls by name. A dot separates parts, because none of these names has a dot in a part, unlike the
 * interface of a VLAN. */
static void read_sysctls(struct probe_context *ctx)
{
	for (size_t i = 0; sysctl_names[i]; i++) {
		struct sysctl *sysctl = LIST_ADD(ctx->arena, &ctx->node->os.sysctls);
		char *path = arena_printf(ctx->arena, "/proc/sys/%s", sysctl_names[i]);

		for (char *p = path + strlen("/proc/sys/"); *p; p++)
			if (*p == '.')
				*p = '/';
		sysctl->name = fact_str(ctx->arena, sysctl_names[i]);
		probe_str(ctx, &sysctl->value, "%s", path);
	}
}

/* securityfs is a mount of its own, which not every system makes: empty, the folder says nothing. */
static bool has_securityfs(struct probe_context *ctx)
{
	_cleanup_names_ struct names names = { 0 };

	return host_list(ctx->host, &names, SECURITY_FOLDER) == 0 && names.count;
}

/* none [integrity] confidentiality: the word in brackets is the state. */
static void read_lockdown(struct probe_context *ctx)
{
	struct fact_str *fact = &ctx->node->os.lockdown;
	_cleanup_text_ struct text text = { 0 };
	struct span rest, word;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, LOCKDOWN_FILE);

	fact->state = rc == -ENOENT && !has_securityfs(ctx) ? FACT_UNKNOWN : probe_state(rc);
	if (rc)
		return;
	fact->state = FACT_UNKNOWN;
	rest = text_span(&text);
	while (span_word(&rest, &word))
		if (word.n > 2 && word.p[0] == '[' && word.p[word.n - 1] == ']')
			*fact = probe_span(ctx, (struct span){ word.p + 1, word.n - 2 });
	if (!is_known(*fact))
		host_gap_note(ctx->host, LOCKDOWN_FILE, -EBADMSG, "no word in brackets");
}

static const char *const kernel_options[] = {
	"CONFIG_ARCH_HAS_CC_PLATFORM",
	"CONFIG_ARM64_64K_PAGES",
	"CONFIG_ARM_SMMU_V3_SVA",
	"CONFIG_DEVICE_PRIVATE",
	"CONFIG_DMABUF_MOVE_NOTIFY",
	"CONFIG_DMA_SHARED_BUFFER",
	"CONFIG_HMM_MIRROR",
	"CONFIG_INFINIBAND_BNXT_RE",
	"CONFIG_INFINIBAND_CXGB4",
	"CONFIG_INFINIBAND_EFA",
	"CONFIG_INFINIBAND_ERDMA",
	"CONFIG_INFINIBAND_HNS_HIP08",
	"CONFIG_INFINIBAND_IONIC",
	"CONFIG_INFINIBAND_IRDMA",
	"CONFIG_INFINIBAND_QEDR",
	"CONFIG_INFINIBAND_USER_ACCESS",
	"CONFIG_INTEGRITY_MACHINE_KEYRING",
	"CONFIG_INTEL_IOMMU_DEFAULT_ON",
	"CONFIG_IOMMU_DEFAULT_PASSTHROUGH",
	"CONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT",
	"CONFIG_LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY",
	"CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY",
	"CONFIG_MANA_INFINIBAND",
	"CONFIG_MLX4_INFINIBAND",
	"CONFIG_MLX5_CORE",
	"CONFIG_MLX5_INFINIBAND",
	"CONFIG_MODULE_ALLOW_MISSING_NAMESPACE_IMPORTS",
	"CONFIG_MODULE_SIG",
	"CONFIG_MODULE_SIG_FORCE",
	"CONFIG_NAMESPACES",
	"CONFIG_PCI_P2PDMA",
	"CONFIG_SECCOMP_FILTER",
	"CONFIG_USER_NS",
	"CONFIG_X86_KERNEL_IBT",
	"CONFIG_ZONE_DEVICE",
};
#define KERNEL_OPTIONS (ARRAY_SIZE(kernel_options))

/* Opened for this one file, which few kernels have. */
#define FUNCTIONS(F) F(gzdopen) F(gzread) F(gzclose)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* zlib copies bytes that are not compressed. */
static int read_gzip(int fd, char *data, size_t *n)
{
	int got = 0, rc = LIBRARY_LOAD(LIBZ, FUNCTIONS);
	gzFile file = rc ? NULL : lib.gzdopen(fd, "rb");

	if (!file) {
		close(fd);
		return rc ? rc : -ENOMEM;
	}
	for (*n = 0; *n < KCONFIG_MAX; *n += (size_t)got) {
		got = lib.gzread(file, data + *n, (unsigned int)(KCONFIG_MAX - *n));
		if (got <= 0)
			break;
	}
	lib.gzclose(file);
	if (got < 0)
		return -EBADMSG;
	return *n < KCONFIG_MAX ? 0 : -EFBIG;
}

/* USER is the file. Of its ten thousand lines a capture needs to keep ten. */
static int ask_kernel_config(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct os_facts *answer = facts;
	_cleanup_free_ char *data = malloc(KCONFIG_MAX);
	struct span values[KERNEL_OPTIONS];
	int fd = data ? host_open(host, user) : -ENOMEM;
	size_t n;
	int rc = fd < 0 ? fd : read_gzip(fd, data, &n);

	if (rc)
		return rc;
	if (!kconfig_find((struct span){ data, n }, kernel_options, values, KERNEL_OPTIONS))
		return -EBADMSG;
	for (size_t i = 0; i < KERNEL_OPTIONS; i++) {
		struct kernel_option *option = LIST_ADD(arena, &answer->kernel_config);

		option->name = fact_str(arena, kernel_options[i]);
		if (values[i].p)
			option->value = fact_strn(arena, values[i].p, values[i].n);
		else
			option->value.state = FACT_ABSENT;
	}
	return 0;
}

/* 0, or what kept the file from being read. */
static int try_config(struct probe_context *ctx, char *path)
{
	struct os_facts *os = &ctx->node->os;
	struct os_facts answer = { 0 };
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s", path);

	if (rc == 0)
		rc = host_query(ctx->host, path, &os_facts_desc, &answer, ctx->arena,
				ask_kernel_config, path);
	if (rc == 0)
		memcpy(&os->kernel_config, &answer.kernel_config, sizeof(os->kernel_config));
	return rc;
}

static void read_kernel_config(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	char *paths[] = {
		is_known(os->kernel) ? arena_printf(ctx->arena, "/boot/config-%s", os->kernel.value)
				     : NULL,
		is_known(os->kernel)
			? arena_printf(ctx->arena, "/lib/modules/%s/config", os->kernel.value)
			: NULL,
		arena_strdup(ctx->arena, "/proc/config.gz"),
	};
	enum fact_state missing = is_known(os->kernel) ? FACT_ABSENT : FACT_UNKNOWN;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int rc = paths[i] ? try_config(ctx, paths[i]) : -ENOENT;

		if (rc == 0)
			return;
		if (rc != -ENOENT)
			missing = FACT_UNKNOWN;
	}
	os->kernel_config.state = missing;
}

/* /etc/apparmor.d/enroot, /etc/apparmor.d/podman: what they allow is not read. */
static void read_profiles(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, "/etc/apparmor.d");

	os->apparmor_profiles.state = probe_state(rc);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (strstr(names.items[i], "enroot") || strstr(names.items[i], "podman"))
			*LIST_ADD(ctx->arena, &os->apparmor_profiles) =
				fact_str(ctx->arena, names.items[i]).value;
}

static void kernel_run(struct probe_context *ctx)
{
	read_sysctls(ctx);
	read_profiles(ctx);
	read_lockdown(ctx);
	read_kernel_config(ctx);
}

static void kernel_run_preflight(struct probe_context *ctx)
{
	if (probe_is_wanted(ctx, "os.sysctls"))
		read_sysctls(ctx);
}

const struct probe probe_kernel = {
	.name = "kernel",
	.phase = PHASE_ALONE,
	.run = kernel_run,
	.preflight = { .run = kernel_run_preflight },
};
