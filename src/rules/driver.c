/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver.c - the NVIDIA driver itself: there, of the right kind and version, and the same as its
 * file on disk and its user space. */
#include "gate.h"
#include "gpus.h"
#include "parse/nvidia.h"
#include "topology.h"

#include <string.h>

/* NVSHMEM's installation guide and NCCL's device API page name it as the floor for IBGDA. */
#define VERSION_FLOOR "510.40.3"

static void judge_loaded(struct judge *j)
{
	const struct node *node = j->node;

	if (known_is(node->driver.loaded, true))
		PASS(j, .evidence = { "driver.version", "driver.loaded" });
	else if (gate_no_gpu(j))
		return;
	else if (!is_known(node->driver.loaded))
		UNKNOWN(j, .evidence = { "driver.loaded" });
	else
		FAIL(j, .observed = say(j, "%zu NVIDIA GPU%s, no driver", topology_gpus(node),
					topology_gpus(node) == 1 ? "" : "s"),
		     .expected = "the nvidia kernel module loaded",
		     .evidence = { "driver.loaded" });
}

static void judge_flavour(struct judge *j)
{
	const struct driver_facts *driver = &j->node->driver;

	if (gate_no_driver(j))
		return;
	if (!is_known(driver->flavour))
		UNKNOWN(j, .evidence = { "driver.flavour" });
	else if (driver->flavour.value == FLAVOUR_OPEN)
		PASS(j, .evidence = { "driver.banner" });
	else
		FAIL(j, .observed = "proprietary kernel modules", .expected = "open kernel modules",
		     .evidence = { "driver.banner" });
}

static void judge_version_floor(struct judge *j)
{
	const struct driver_facts *driver = &j->node->driver;

	if (gate_no_driver(j))
		return;
	if (version_compare(driver->version.value, VERSION_FLOOR) >= 0)
		PASS(j, .evidence = { "driver.version" });
	else
		FAIL(j, .observed = driver->version.value, .expected = VERSION_FLOOR " or later",
		     .evidence = { "driver.version" });
}

/* ---- user space ---- */

/* Forward-compatibility libraries are newer on purpose and used only where asked for; stubs are for
 * linking. */
static bool is_driver_library(const struct software_item *item)
{
	if (!str_is(item->name, "libcuda") && !str_is(item->name, "libnvidia-ml"))
		return false;
	return is_known(item->version) && !strstr(item->path.value, "/compat/") &&
	       !strstr(item->path.value, "/stubs/");
}

struct libraries {
	const struct software_item *same;
	const struct software_item *other;
};

static struct libraries driver_libraries(const struct node *node)
{
	struct libraries found = { 0 };

	for_each(item, &node->software.items) {
		if (!is_driver_library(item))
			continue;
		if (str_is(item->version, node->driver.version.value))
			found.same = item;
		else if (!found.other || version_compare(item->version.value,
							 found.other->version.value) > 0)
			found.other = item;
	}
	return found;
}

static const char *library_fact(struct judge *j, const struct software_item *item)
{
	return say(j, "software.items[%s].version", item->path.value);
}

static void judge_library_mismatch(struct judge *j)
{
	const struct node *node = j->node;
	struct libraries found;

	if (gate_no_driver(j))
		return;
	found = driver_libraries(node);
	if (found.other && !found.same)
		FAIL(j, .observed = say(j, "%s %s, kernel module %s", found.other->name.value,
					found.other->version.value, node->driver.version.value),
		     .expected = "the same version in the kernel and in user space",
		     .evidence = { library_fact(j, found.other), "driver.version" });
	else if (found.same)
		PASS(j, .evidence = { library_fact(j, found.same), "driver.version" });
	else if (node_log(node, "api-mismatch"))
		FAIL(j, .observed = node_log(node, "api-mismatch")->last.value,
		     .expected = "the same version in the kernel and in user space",
		     .evidence = { "log.lines[api-mismatch].last", "driver.version" });
	else if (!gate_no_software(j))
		NOT_APPLICABLE(j, .observed = "no libcuda or libnvidia-ml was found on this node",
			       .evidence = { "software.items" });
}

/* ---- the module's file ---- */

static const struct module_file *nvidia_file(const struct node *node)
{
	const struct module_file *found = NULL;

	for_each(f, &node->modules.files) {
		if (!str_is(f->name, "nvidia") || !is_known(node->os.kernel) ||
		    !str_is(f->kernel, node->os.kernel.value))
			continue;
		if (!found || known_is(f->indexed, true))
			found = f;
	}
	return found;
}

static bool same_build(const struct module_file *file, const struct module *loaded)
{
	if (is_known(file->srcversion) && loaded && is_known(loaded->srcversion))
		return str_is(file->srcversion, loaded->srcversion.value);
	return true;
}

static void judge_module_on_disk(struct judge *j)
{
	const struct node *node = j->node;
	const struct module_file *file = nvidia_file(node);
	const struct module *loaded = node_module(node, "nvidia");
	const char *fact;

	if (gate_no_driver(j))
		return;
	if (!file && is_told(node->modules.files)) {
		NOT_APPLICABLE(j, .observed = "no nvidia.ko for this kernel under /lib/modules",
			       .evidence = { "modules.files" });
		return;
	}
	if (!file || !is_known(file->version)) {
		UNKNOWN(j, .evidence = { file ? say(j, "modules.files[%s].version", file->path.value)
					      : "modules.files" });
		return;
	}
	fact = say(j, "modules.files[%s].version", file->path.value);
	if (strcmp(file->version.value, node->driver.version.value) != 0)
		FAIL(j, .observed = say(j, "%s on disk, %s loaded", file->version.value,
					node->driver.version.value),
		     .expected = "the loaded driver's own file on disk",
		     .evidence = { fact, "driver.version" });
	else if (!same_build(file, loaded))
		FAIL(j, .observed = say(j, "another build of %s on disk (srcversion %s, loaded %s)",
					file->version.value, file->srcversion.value,
					loaded->srcversion.value),
		     .expected = "the loaded driver's own file on disk",
		     .evidence = { say(j, "modules.files[%s].srcversion", file->path.value),
				   "modules.loaded[nvidia].srcversion" });
	else
		PASS(j, .evidence = { fact, "driver.version" });
}

/* ---- patched drivers ---- */

static bool built_by_nvidia_or_distribution(const struct driver_facts *driver)
{
	static const char *const builders[] = { "dvs-builder@", "buildd@", "mockbuild@", "abuild@",
						"root@localhost", "builder@" };

	for (size_t i = 0; i < sizeof(builders) / sizeof(builders[0]); i++)
		if (str_starts(driver->builder, builders[i]))
			return true;
	return false;
}

static const struct pci_device *large_geforce(const struct node *node)
{
	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = gpu_model(d);
		const struct pci_bar *bar = gpu_bar1(d);

		if (model && model->kind == GPU_GEFORCE && bar && is_known(bar->size_bytes) &&
		    bar->size_bytes.value > BAR1_SMALL_BYTES)
			return d;
	}
	return NULL;
}

/* The forks report the stock version, so there is only circumstantial evidence (how many of the
 * three signs were seen, 0 to 3). */
static int fork_signs(const struct node *node, const char **signs, struct judge *j)
{
	const struct driver_param *rebar = node_param(node, "EnableResizableBar");
	int count = 0;

	*signs = "";
	if (node_log(node, "bar1-bus-address")) {
		*signs = "a log line that only the patched driver prints";
		count++;
	}
	if (is_known(node->driver.builder) && !built_by_nvidia_or_distribution(&node->driver)) {
		*signs = say(j, "%s%sbuilt by %s", *signs, count ? "; " : "",
			     node->driver.builder.value);
		count++;
	}
	if (large_geforce(node) && rebar && str_is(rebar->value, "0")) {
		*signs = say(j, "%s%sa GeForce with a large BAR1 though EnableResizableBar is 0",
			     *signs, count ? "; " : "");
		count++;
	}
	return count;
}

static bool probably_fork(struct judge *j, const char **signs)
{
	return fork_signs(j->node, signs, j) >= 2 || node_log(j->node, "bar1-bus-address");
}

static void judge_fork(struct judge *j)
{
	const char *signs;

	if (gate_no_driver(j))
		return;
	if (probably_fork(j, &signs))
		FAIL(j, .observed = say(j, "probably a patched build: %s", signs),
		     .expected = "nothing; for your information",
		     .evidence = { "driver.banner" });
	else
		PASS(j, .observed = "no sign of a patched build", .evidence = { "driver.banner" });
}

static void judge_fork_userspace(struct judge *j)
{
	const struct node *node = j->node;
	struct libraries found;
	const char *signs;

	if (gate_no_driver(j))
		return;
	if (!probably_fork(j, &signs)) {
		NOT_APPLICABLE(j, .observed = "no sign of a patched build");
		return;
	}
	found = driver_libraries(node);
	if (found.same)
		PASS(j, .evidence = { library_fact(j, found.same), "driver.version" });
	else if (found.other)
		FAIL(j, .observed = say(j, "patched kernel module %s, %s %s",
					node->driver.version.value, found.other->name.value,
					found.other->version.value),
		     .expected = "user space of exactly the version the patch was made for",
		     .evidence = { library_fact(j, found.other), "driver.version" });
	else
		UNKNOWN(j, .observed = "no libcuda or libnvidia-ml was found",
			.evidence = { "software.items" });
}

static void judge_proprietary_no_dmabuf(struct judge *j)
{
	const struct node *node = j->node;

	if (gate_no_driver(j))
		return;
	if (known_is(node->driver.flavour, FLAVOUR_OPEN))
		NOT_APPLICABLE(j, .observed = "open kernel modules", .evidence = { "driver.flavour" });
	else if (!is_known(node->driver.flavour) || !is_told(node->modules.loaded))
		UNKNOWN(j, .evidence = { is_known(node->driver.flavour) ? "modules.loaded"
									: "driver.flavour" });
	else if (node_module(node, "nvidia_peermem"))
		PASS(j, .evidence = { "modules.loaded[nvidia_peermem].state" });
	else if (node_module(node, "nv_peer_mem"))
		PASS(j, .evidence = { "modules.loaded[nv_peer_mem].state" });
	else
		FAIL(j, .observed = "proprietary modules, and neither nvidia_peermem nor nv_peer_mem",
		     .expected = "nvidia_peermem loaded, or the open kernel modules",
		     .evidence = { "driver.flavour", "modules.loaded" });
}

static const struct rule driver_rules[] = {
	{
		.id = "driver/loaded",
		.title = "The NVIDIA driver is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.judge = judge_loaded,
		.impact = "No CUDA program can see a GPU.",
		.remedy = "modprobe nvidia, and read what the kernel log says about it. If there is "
			  "no module for this kernel, install or rebuild the driver.",
		.fix = "modules-load",
		.activation = ACTIVATION_NOW,
		.reads = "/proc/driver/nvidia/version, /sys/module/nvidia, and the PCI bus for NVIDIA "
			 "display controllers.",
		.why = "Every other answer about the driver depends on it.",
		.check = "cat /proc/driver/nvidia/version; lspci -d 10de:",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-procfs.c",
	},
	{
		.id = "driver/flavour",
		.title = "The proprietary kernel modules are loaded",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.judge = judge_flavour,
		.impact = "No DMA-BUF export: GPUDirect RDMA works through nvidia-peermem only, and "
			  "Blackwell GPUs do not work at all.",
		.remedy = "Install the open kernel modules (Turing and later), the default since 560.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The NVRM version line in /proc/driver/nvidia/version.",
		.why = "Only the open kernel modules export GPU memory as DMA-BUF, which NCCL, UCX and "
		       "NVSHMEM prefer and which needs no peer-memory module.",
		.check = "head -1 /proc/driver/nvidia/version   (\"Open Kernel Module\" or not)",
		.cost = "A change of packages and a reboot. GPUs before Turing have no open modules.",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-dmabuf.c\n"
			   "docs.nvidia.com: GPU Operator, GPUDirect RDMA",
	},
	{
		.id = "driver/version-floor",
		.title = "The driver is older than GPU-initiated networking supports",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.judge = judge_version_floor,
		.impact = "NVSHMEM IBGDA and NCCL GIN do not start.",
		.remedy = "Install driver " VERSION_FLOOR " or later.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The version in /proc/driver/nvidia/version.",
		.why = "nvidia.ko " VERSION_FLOOR " is the floor that NVSHMEM's installation guide and "
		       "NCCL's device API documentation give.",
		.check = "cat /sys/module/nvidia/version",
		.sources = "NVSHMEM installation guide, host requirements\n"
			   "NCCL user guide, device API",
	},
	{
		.id = "driver/library-mismatch",
		.title = "User space and the loaded kernel module have different versions",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_library_mismatch,
		.impact = "nvidia-smi and every CUDA program fail: \"Driver/library version mismatch\".",
		.remedy = "Reboot, or unload and load the kernel modules with nothing using the GPUs. If "
			  "the mismatch comes back, the file under /lib/modules or the initramfs is the "
			  "old one: see driver/module-on-disk-differs and boot/initramfs-stale.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The loaded version, and the version suffix of libcuda.so and libnvidia-ml.so "
			 "in the library folders.",
		.why = "The kernel module refuses clients of another version. An upgrade of the packages "
		       "changes user space at once and the loaded module only at the next load.",
		.check = "cat /sys/module/nvidia/version; ls /usr/lib/*/libcuda.so.*",
		.sources = "open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osapi.c (API "
			   "mismatch)",
	},
	{
		.id = "driver/module-on-disk-differs",
		.title = "The module on disk is not the one that is loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.judge = judge_module_on_disk,
		.impact = "The next boot or reload brings another driver, perhaps one that user space "
			  "does not fit.",
		.remedy = "Reboot at a time of your choosing, before it happens at another.",
		.activation = ACTIVATION_REBOOT,
		.reads = "Version and srcversion of nvidia.ko for the running kernel, and of the loaded "
			 "module in /sys/module/nvidia.",
		.why = "/proc/driver/nvidia/version and /sys/module/nvidia/version both show the loaded "
		       "module; comparing these two proves nothing about the disk.",
		.check = "modinfo -F version nvidia; cat /sys/module/nvidia/version",
		.sources = "Linux: Documentation/ABI/stable/sysfs-module",
	},
	{
		.id = "driver/p2p-fork-heuristic",
		.title = "The driver is probably a build patched for peer-to-peer",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_INFO,
		.judge = judge_fork,
		.remedy = "Keep user space at exactly this version, and know that a package upgrade "
			  "replaces the patched modules.",
		.reads = "The builder in the NVRM version line, EnableResizableBar against the size of "
			 "BAR1, and the kernel log.",
		.why = "The patched drivers carry the version of the stock driver, so there are only "
		       "signs: a builder that is neither NVIDIA nor a distribution, a large BAR1 on a "
		       "GeForce without EnableResizableBar, a log line of the 550 branch. A DKMS build "
		       "of the stock open modules shows the first as well. What is uncertain stays so.",
		.check = "head -1 /proc/driver/nvidia/version; dmesg | grep bar1BusAddr",
		.sources = "github.com/tinygrad/open-gpu-kernel-modules\n"
			   "github.com/aikitoria/open-gpu-kernel-modules",
	},
	{
		.id = "driver/driver-userspace-fork-mismatch",
		.title = "A patched driver runs with user space of another version",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_ERR,
		.judge = judge_fork_userspace,
		.impact = "CUDA does not start: \"Driver/library version mismatch\".",
		.remedy = "Install the user space (.run) of exactly the version the patch was made for, "
			  "and hold the packages.",
		.reads = "As driver/p2p-fork-heuristic and driver/library-mismatch.",
		.why = "The patched modules are built from one release; distributions offer neighbours "
		       "of it.",
		.check = "cat /sys/module/nvidia/version; ls /usr/lib/*/libcuda.so.*",
		.sources = "github.com/aikitoria/open-gpu-kernel-modules README",
	},
	{
		.id = "driver/proprietary-no-dmabuf",
		.title = "There is no path for GPUDirect RDMA at all",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.judge = judge_proprietary_no_dmabuf,
		.impact = "NCCL, UCX and NVSHMEM copy through host memory, or do not start.",
		.remedy = "modprobe nvidia-peermem and have it loaded at boot, or install the open kernel "
			  "modules.",
		.fix = "modules-load",
		.activation = ACTIVATION_NOW,
		.reads = "The flavour of the driver and the loaded modules.",
		.why = "The proprietary modules export no DMA-BUF, so only a peer-memory module can give "
		       "the NIC access to GPU memory.",
		.check = "head -1 /proc/driver/nvidia/version; lsmod | grep peer",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-dmabuf.c",
	},
};

RULE_TABLE(driver);
