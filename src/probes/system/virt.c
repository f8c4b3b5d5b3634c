/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt.c - the hypervisor and the container that this system runs in, if any: what firmware, kernel
 * and container managers show of them in files. CPUID would say more, of this machine only.
 */
#include "parse/virt.h"

#include "base/array.h"
#include "parse/cpuinfo.h"
#include "parse/process.h"
#include "probes/probe.h"
#include "probes/processes.h"

#define CPUINFO_FILE "/proc/cpuinfo"
#define DMI_FOLDER "/sys/class/dmi/id/"
/* The header of an ACPI table is 36 bytes (ACPI 6.5, 5.2.6). */
#define ACPI_HEAD 36
#define INIT_ENVIRON_FILE "/proc/1/environ"

/* ---- hypervisor ---- */

struct firmware {
	const char *word; /* the hypervisor that it names, or NULL */
	bool certain;	  /* a name that only virtual machines have */
	bool readable;
};

static void ask_dmi(struct probe_context *ctx, struct firmware *dmi)
{
	static const char *const files[] = { "sys_vendor", "board_vendor", "bios_vendor",
					     "product_version" };
	const struct fact_str *product = &ctx->node->os.product;
	struct fact_str value;

	dmi->readable = is_known(*product);
	if (dmi->readable)
		dmi->word = virt_from_dmi(span_of(product->value), &dmi->certain);
	for (size_t i = 0; !dmi->word && i < ARRAY_SIZE(files); i++) {
		value = (struct fact_str){ 0 };
		probe_str(ctx, &value, DMI_FOLDER "%s", files[i]);
		if (!is_known(value))
			continue;
		dmi->readable = true;
		dmi->word = virt_from_dmi(span_of(value.value), &dmi->certain);
	}
}

/* Machines without ACPI: qemu's configuration device, a node that the hypervisor put there, or the name of
 * a partition of POWER (systemd 252, src/basic/virt.c, detect_vm_device_tree()). */
static void ask_device_tree(struct probe_context *ctx, struct firmware *tree)
{
	_cleanup_names_ struct names names = { 0 };
	_cleanup_text_ struct text text = { 0 };

	if (host_list(ctx->host, &names, "/proc/device-tree"))
		return;
	tree->readable = true;
	if (host_read(ctx->host, &text, HOST_FILE_MAX, "/proc/device-tree/hypervisor/compatible") ==
	    0) {
		tree->certain = true;
		tree->word = virt_from_device_tree(text_span(&text));
	}
	for (size_t i = 0; !tree->word && i < names.count; i++)
		if (span_search(span_of(names.items[i]), "fw-cfg"))
			tree->word = "qemu";
	if (!tree->word && host_exists(ctx->host, "/proc/device-tree/ibm,partition-name") &&
	    host_exists(ctx->host, "/proc/device-tree/hmc-managed?"))
		tree->word = "powervm";
	tree->certain |= tree->word != NULL;
}

/* Xen's first domain owns the machine, and is no guest whatever the processor says. */
static bool ask_xen(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	struct fact_str type = { 0 }, capabilities = { 0 };

	probe_str(ctx, &type, "/sys/hypervisor/type");
	if (!str_is(type, "xen"))
		return false;
	probe_str(ctx, &capabilities, "/proc/xen/capabilities");
	if (is_known(capabilities) && span_search(span_of(capabilities.value), "control_d"))
		os->hypervisor.state = FACT_ABSENT;
	else
		os->hypervisor = fact_str(ctx->arena, "xen");
	return true;
}

static struct fact_bool is_guest(struct probe_context *ctx, struct fact_bool flag,
				 const struct firmware *dmi, const struct firmware *tree)
{
	const struct fact_str *product = &ctx->node->os.product;

	if (known_is(flag, true) || dmi->certain || tree->certain)
		return fact_bool(true);
	if (is_known(flag))
		return fact_bool(false);
	/* Without the flag, the name of a cloud decides: its bare-metal types say so in the product. */
	if (dmi->word)
		return fact_bool(!is_known(*product) ||
				 !span_search(span_of(product->value), ".metal"));
	return dmi->readable || tree->readable ? fact_bool(false) : (struct fact_bool){ 0 };
}

static const char *name_hypervisor(struct probe_context *ctx, const struct firmware *dmi,
				   const struct firmware *tree)
{
	_cleanup_text_ struct text table = { 0 }, clocks = { 0 };
	const char *word = NULL;

	/* qemu is the machine model; the hypervisor can be KVM. */
	if (dmi->word && !span_is(span_of(dmi->word), "qemu"))
		return dmi->word;
	if (!dmi->readable &&
	    host_read_head(ctx->host, &table, ACPI_HEAD, "/sys/firmware/acpi/tables/FACP") == 0)
		word = virt_from_acpi(text_span(&table));
	if (!word && host_read(ctx->host, &clocks, HOST_FILE_MAX,
			       "/sys/devices/system/clocksource/clocksource0/"
			       "available_clocksource") == 0)
		word = virt_from_clocksource(text_span(&clocks));
	if (!word)
		word = dmi->word ? dmi->word : tree->word;
	return word ? word : "unknown-hypervisor";
}

/* The flag that x86 hypervisors set; unknown where processors have none. */
static struct fact_bool ask_cpu(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct cpuinfo info;

	if (host_read_head(ctx->host, &text, CPUINFO_HEAD, CPUINFO_FILE) ||
	    !cpuinfo_parse(text_span(&text), &info) || !info.has_flags)
		return (struct fact_bool){ 0 };
	return fact_bool(info.hypervisor);
}

static void find_hypervisor(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	struct firmware dmi = { 0 }, tree = { 0 };
	struct fact_bool guest, flag = ask_cpu(ctx);

	if (ask_xen(ctx))
		return;
	ask_dmi(ctx, &dmi);
	if (!is_known(flag))
		ask_device_tree(ctx, &tree);
	guest = is_guest(ctx, flag, &dmi, &tree);
	if (known_is(guest, true))
		os->hypervisor = fact_str(ctx->arena, name_hypervisor(ctx, &dmi, &tree));
	else if (is_known(guest))
		os->hypervisor.state = FACT_ABSENT;
}

/* ---- cloud ---- */

/* An owner's own tag of the chassis leaves this function only where it is a cloud's. */
static int ask_cloud(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const struct {
		enum virt_field field;
		const char *file;
	} files[] = {
		{ VIRT_VENDOR, "sys_vendor" },
		{ VIRT_PRODUCT, "product_name" },
		{ VIRT_CHASSIS_TAG, "chassis_asset_tag" },
	};
	struct os_facts *answer = facts;
	int failed = 0;

	(void)user;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_text_ struct text text = { 0 };
		int rc = host_read(host, &text, HOST_FILE_MAX, DMI_FOLDER "%s", files[i].file);
		const char *word = rc ? NULL : cloud_from_dmi(files[i].field, text_span(&text));

		if (word) {
			answer->cloud = fact_str(arena, word);
			return 0;
		}
		if (rc && rc != -ENOENT)
			failed = rc;
	}
	answer->cloud.state = FACT_ABSENT;
	return failed;
}

static void find_cloud(struct probe_context *ctx)
{
	struct os_facts answer = { 0 };

	if (host_query(ctx->host, "cloud in " DMI_FOLDER, &os_facts_desc, &answer, ctx->arena,
		       ask_cloud, NULL) == 0)
		ctx->node->os.cloud = answer.cloud;
}

/* ---- container ---- */

/* A file that a container's manager leaves, or names itself in. */
static bool marked_by_file(struct probe_context *ctx, struct fact_str *container)
{
	static const struct {
		const char *path;
		const char *word; /* NULL: the file's content */
	} marks[] = {
		{ "/run/secrets/kubernetes.io", "kubernetes" },
		{ "/run/host/container-manager", NULL },
		{ "/run/systemd/container", NULL },
		{ "/run/.containerenv", "podman" },
		{ "/.dockerenv", "docker" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (!host_exists(ctx->host, marks[i].path))
			continue;
		if (marks[i].word)
			*container = fact_str(ctx->arena, marks[i].word);
		else
			probe_str(ctx, container, "%s", marks[i].path);
		return true;
	}
	return false;
}

/* Returns true if /proc/self is a process of the node: in a copy it is a folder. In procfs it is a link, and below the
 * mounted root of a host it leads to this program, which may run in a pod. */
static bool is_own_process(struct host *host)
{
	char target[PATH_MAX];

	return host_kind(host) == HOST_LIVE || host_link(host, target, "/proc/self") == -EINVAL;
}

/* An environment holds secrets: of what is read here a capture keeps the one word that was found. */
static int ask_environ(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const char in_pod[] =
		"KUBERNETES_SERVICE_HOST"; /* the kubelet sets it in each container */
	struct os_facts *answer = facts;
	_cleanup_text_ struct text own = { 0 }, init = { 0 };
	struct span value;
	int rc;

	(void)user;
	if (is_own_process(host) &&
	    host_read(host, &own, PROCESS_ENVIRON_MAX, "/proc/self/environ") == 0 &&
	    process_environ_find(text_span(&own), in_pod, &value)) {
		answer->container = fact_str(arena, "kubernetes");
		return 0;
	}
	rc = process_read_environ(host, &init, "/proc/1");
	if (rc)
		return rc;
	if (process_environ_find(text_span(&init), in_pod, &value))
		answer->container = fact_str(arena, "kubernetes");
	else if (process_environ_find(text_span(&init), "container", &value) && value.n)
		answer->container = fact_strn(arena, value.p, value.n);
	else
		answer->container.state = FACT_ABSENT;
	return 0;
}

/* Without a process 1 this is a copy of files, and nothing in it says where it ran. */
static void ask_init(struct probe_context *ctx)
{
	struct os_facts answer = { 0 };
	int rc = host_query(ctx->host, INIT_ENVIRON_FILE, &os_facts_desc, &answer, ctx->arena,
			    ask_environ, NULL);

	if (rc == 0)
		ctx->node->os.container = answer.container;
	else if (rc == -ENOENT)
		host_gap_note(ctx->host, INIT_ENVIRON_FILE, -ENODATA,
			      "no process 1 in this tree: it may have been a container's");
	else if (process_environ_error(rc))
		host_gap_note(ctx->host, INIT_ENVIRON_FILE, rc, process_environ_error(rc));
}

/* A container can have its host's /run/systemd mounted: process 1 then has a different name. */
static bool is_systemd_init(struct host *host)
{
	_cleanup_text_ struct text comm = { 0 };

	if (!host_exists(host, "/run/systemd/system"))
		return false;
	return host_read(host, &comm, HOST_FILE_MAX, "/proc/1/comm") ||
	       span_is(span_trim(text_span(&comm)), "systemd") ||
	       span_is(span_trim(text_span(&comm)), "init");
}

static void find_container(struct probe_context *ctx)
{
	struct fact_str *container = &ctx->node->os.container;
	_cleanup_text_ struct text groups = { 0 };
	const char *word = NULL;

	if (marked_by_file(ctx, container))
		return;
	if (host_read(ctx->host, &groups, HOST_FILE_MAX, "/proc/1/cgroup") == 0)
		word = container_from_cgroup(text_span(&groups));
	if (word) {
		*container = fact_str(ctx->arena, word);
	} else if (is_systemd_init(ctx->host)) {
		/* It writes /run/systemd/container where it is in one. */
		container->state = FACT_ABSENT;
	} else {
		ask_init(ctx);
	}
}

static void virt_run(struct probe_context *ctx)
{
	find_hypervisor(ctx);
	find_container(ctx);
	if (!ctx->preflight)
		find_cloud(ctx);
}

const struct probe probe_virt = {
	.name = "virt",
	.phase = PHASE_OS,
	.mounted_image_order = 2,
	.run = virt_run,
	.preflight = { .run = virt_run },
};
