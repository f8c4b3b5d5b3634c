/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit.c - modules that were built for another kernel, driver or RDMA stack, or that the kernel
 * refuses for their signature. */
#include <string.h>

#include "judge/bootargs.h"
#include "judge/gate.h"
#include "judge/module-find.h"
#include "judge/topology.h"

static const struct module_file *running_file(const struct node *node, const char *name)
{
	return is_known(node->os.kernel) ? module_file_find(node, name, node->os.kernel.value)
					 : NULL;
}

/* ---- gdrdrv ---- */

enum built_for { BUILT_UNKNOWN, BUILT_OPEN, BUILT_PROPRIETARY };

/* gdrdrv 2.5 and later: "... built for opensource NVIDIA driver", in modinfo and in the log. */
static enum built_for read_flavour(const char *text)
{
	if (strstr(text, "built for opensource"))
		return BUILT_OPEN;
	return strstr(text, "built for proprietary") ? BUILT_PROPRIETARY : BUILT_UNKNOWN;
}

static enum built_for gdrdrv_flavour(struct judge *j, const struct module_file *file,
				     const char **fact)
{
	const struct log_line *line = node_log(j->node, "gdrdrv-built-for");
	enum built_for built = BUILT_UNKNOWN;

	if (line && node_module(j->node, "gdrdrv")) {
		*fact = "log.lines[gdrdrv-built-for].last";
		built = read_flavour(line->last.value);
	}
	if (!built && file && is_known(file->description)) {
		*fact = say_fact(j, "modules.files", file->path.value, "description");
		built = read_flavour(file->description.value);
	}
	return built;
}

static void judge_gdrdrv_flavour(struct judge *j, const struct module_file *file)
{
	const struct driver_facts *driver = &j->node->driver;
	const char *fact = "modules.files";
	enum built_for built = gdrdrv_flavour(j, file, &fact);
	bool open = known_is(driver->flavour, FLAVOUR_OPEN);

	if (built == BUILT_UNKNOWN)
		UNKNOWN(j,
			.observed = "gdrdrv does not tell which flavour it was built for (2.5 and "
				    "later do)",
			.evidence = { fact });
	else if (!is_known(driver->flavour))
		UNKNOWN(j, .evidence = { "driver.flavour" });
	else if (open == (built == BUILT_OPEN))
		PASS(j, .evidence = { fact, "driver.flavour" });
	else if (open)
		FAIL_AS(j, node_is_grace(j->node) ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = "gdrdrv was built for the proprietary flavour, and the open "
				    "one is loaded",
			.expected = "gdrdrv built for the open flavour",
			.impact = "It works, but slower on Grace and not with confidential "
				  "computing.",
			.evidence = { fact, "driver.flavour" });
	else
		FAIL(j,
		     .observed = "gdrdrv was built for the open flavour, and the proprietary one "
				 "is loaded",
		     .expected = "gdrdrv built for the flavour that is loaded",
		     .evidence = { fact, "driver.flavour" });
}

static void judge_gdrdrv(struct judge *j)
{
	const struct module_file *file = running_file(j->node, "gdrdrv");

	if (gate_no_gpu(j))
		return;
	if (!file && !node_module(j->node, "gdrdrv")) {
		if (!is_told(j->node->modules.files) || !is_told(j->node->modules.loaded))
			UNKNOWN(j, .evidence = { "modules.files" });
		else
			NOT_APPLICABLE(j, .observed = "gdrdrv is not installed for this kernel",
				       .evidence = { "modules.files", "modules.loaded" });
		return;
	}
	if (file && module_depends_on(file, "nv_p2p_dummy"))
		FAIL(j,
		     .observed = "it depends on nv-p2p-dummy and not on nvidia: built without the "
				 "driver's sources",
		     .expected = "depends: nvidia",
		     .evidence = { say_fact(j, "modules.files", file->path.value, "depends") });
	else if (node_module(j->node, "nv_p2p_dummy"))
		FAIL(j, .observed = "nv_p2p_dummy is loaded, which offers gdrdrv empty functions",
		     .expected = "gdrdrv built against the driver",
		     .evidence = { "modules.loaded[nv_p2p_dummy].state" });
	else if (!gate_no_driver(j))
		judge_gdrdrv_flavour(j, file);
}

/* ---- OFED ---- */

/* OFED's modules lie beside the kernel's own: extra, updates, weak-updates. */
static bool is_ofed_file(const struct module_file *f)
{
	return strncmp(module_file_place(f), "kernel/", strlen("kernel/")) != 0;
}

static const struct module_file *ofed_elsewhere(const struct node *node)
{
	for_each(f, &node->modules.files)
		if (str_is(f->name, "mlx5_core") && is_known(f->kernel) && is_ofed_file(f) &&
		    !str_is(f->kernel, node->os.kernel.value))
			return f;
	return NULL;
}

static void judge_ofed(struct judge *j)
{
	const struct node *node = j->node;
	const struct software_item *target = node_software(node, "ofa_kernel");
	const struct software_item *ofed = node_software(node, "ofed");
	const struct module_file *own, *other;

	if (!is_known(node->os.kernel)) {
		UNKNOWN(j, .evidence = { "os.kernel" });
		return;
	}
	if (!is_told(node->software.items) || !is_told(node->modules.files)) {
		UNKNOWN(j, .evidence = { is_told(node->software.items) ? "modules.files"
								       : "software.items" });
		return;
	}
	if (!ofed && !target) {
		NOT_APPLICABLE(j, .observed = "no MLNX_OFED or DOCA-OFED is installed",
			       .evidence = { "software.items" });
		return;
	}
	own = running_file(node, "mlx5_core");
	other = ofed_elsewhere(node);
	if (target && is_known(target->version) && !str_is(target->version, node->os.kernel.value))
		FAIL(j,
		     .observed = say(j, "OFED's symbols are those of kernel %s, and %s runs",
				     target->version.value, node->os.kernel.value),
		     .expected = "OFED built for the kernel that runs",
		     .evidence = { say_fact(j, "software.items", target->path.value, "version"),
				   "os.kernel" });
	else if (other && (!own || !is_ofed_file(own)))
		FAIL(j,
		     .observed = say(j, "OFED's mlx5_core is there for kernel %s; %s has %s",
				     other->kernel.value, node->os.kernel.value,
				     own ? "the kernel's own" : "none"),
		     .expected = "OFED built for the kernel that runs",
		     .evidence = { say_fact(j, "modules.files", other->path.value, "kernel"),
				   "os.kernel" });
	else
		PASS(j, .evidence = { "software.items", "modules.files", "os.kernel" });
}

/* ---- nvidia-fs ---- */

static bool judge_fs_file(struct judge *j, const struct module_file *file)
{
	const struct module_file *from;

	for_each(want, &file->imports) {
		if (module_symbol_fit(j->node, want, &from) != SYMBOL_OTHER_VERSION)
			continue;
		FAIL(j,
		     .observed = say(j, "%s has another version in %s", want->name.value,
				     from->path.value),
		     .expected = "built against the driver that is installed",
		     .evidence = { say_fact(j, "modules.files", file->path.value, "imports"),
				   say_fact(j, "modules.files", from->path.value, "exports") });
		return true;
	}
	return false;
}

static void judge_fs(struct judge *j)
{
	const struct log_line *line = node_log(j->node, "nvidia-fs-symbol");
	const struct module_file *file = running_file(j->node, "nvidia_fs");

	if (gate_no_gpu(j))
		return;
	if (line && node_module(j->node, "nvidia_fs"))
		PASS(j, .observed = "the kernel complained once; it is loaded now",
		     .evidence = { "modules.loaded[nvidia_fs].state",
				   "log.lines[nvidia-fs-symbol].last" });
	else if (line)
		FAIL(j, .observed = line->last.value,
		     .expected = "built against the driver that is installed",
		     .evidence = { "log.lines[nvidia-fs-symbol].last" });
	else if (node_module(j->node, "nvidia_fs"))
		PASS(j, .evidence = { "modules.loaded[nvidia_fs].state" });
	else if (file && judge_fs_file(j, file))
		return;
	else if (file)
		gate_log_clean(j);
	else if (is_told(j->node->modules.files))
		NOT_APPLICABLE(j, .observed = "nvidia-fs is not installed for this kernel",
			       .evidence = { "modules.files" });
	else
		UNKNOWN(j, .evidence = { "modules.files" });
}

/* ---- signatures ---- */

/* Why the kernel refuses what is not signed by a key that it knows, or NULL.
 * kernel/module/signing.c: CONFIG_MODULE_SIG_FORCE, module.sig_enforce, or lockdown, which
 * distributions tie to Secure Boot. */
static const char *enforced_by(const struct node *node, const char **fact)
{
	const char *running = is_known(node->cmdline.running) ? node->cmdline.running.value : "";

	*fact = "cmdline.running";
	if (bootargs_find(running, "module.sig_enforce", "") ||
	    bootargs_find(running, "module.sig_enforce", "1") ||
	    bootargs_find(running, "module.sig_enforce", "y"))
		return "module.sig_enforce";
	*fact = "os.lockdown";
	if (str_is(node->os.lockdown, "integrity") || str_is(node->os.lockdown, "confidentiality"))
		return "lockdown";
	*fact = "os.secure_boot";
	if (known_is(node->os.secure_boot, true) && !str_is(node->os.lockdown, "none"))
		return "Secure Boot";
	*fact = "os.kernel_config";
	for_each(option, &node->os.kernel_config)
		if (str_is(option->name, "CONFIG_MODULE_SIG_FORCE") && str_is(option->value, "y"))
			return "CONFIG_MODULE_SIG_FORCE";
	return NULL;
}

/* A driver that holds the GPU explains as well why nvidia is not loaded. */
static bool taken_by_other(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && is_known(d->driver) && !str_is(d->driver, "nvidia"))
			return true;
	return false;
}

static void judge_unloaded(struct judge *j, const char *why, const char *fact)
{
	const struct module_file *file = running_file(j->node, "nvidia");
	const char *signer;

	if (!file || is_unknown(file->signer)) {
		UNKNOWN(j,
			.observed =
				say(j, "%s is in force, and the file of nvidia cannot be looked at",
				    why),
			.evidence = { "modules.files", fact });
		return;
	}
	signer = say_fact(j, "modules.files", file->path.value, "signer");
	if (is_absent(file->signer))
		FAIL(j, .observed = say(j, "nvidia.ko is not signed, and %s is in force", why),
		     .expected = "nvidia.ko signed by a key that is enrolled",
		     .evidence = { signer, fact });
	else if (taken_by_other(j->node))
		UNKNOWN(j,
			.observed = "another driver has the GPU: whether the signature is accepted "
				    "shows when nvidia is loaded",
			.evidence = { signer, fact });
	else
		/* The keys of firmware and kernel are not among the facts: the most likely reason
		 * left. */
		FAIL_AS(j, SEVERITY_WARN,
			.observed = say(j,
					"nvidia is not loaded, %s is in force, and its signer "
					"\"%s\" may not be enrolled",
					why, file->signer.value),
			.expected = "nvidia.ko signed by a key that is enrolled",
			.evidence = { signer, fact });
}

static void judge_signature(struct judge *j)
{
	const struct node *node = j->node;
	const struct log_line *line = node_log(node, "module-rejected");
	bool loaded = known_is(node->driver.loaded, true) || node_module(node, "nvidia");
	const char *fact, *why = enforced_by(node, &fact);

	if (gate_no_gpu(j))
		return;
	if (line && !loaded)
		FAIL(j, .observed = line->last.value,
		     .expected = "modules signed by a key that is enrolled",
		     .evidence = { "log.lines[module-rejected].last",
				   why ? fact : "os.secure_boot" });
	else if (line)
		FAIL_AS(j, SEVERITY_WARN,
			.observed = say(j, "%s - nvidia is loaded, so it was another module",
					line->last.value),
			.expected = "modules signed by a key that is enrolled",
			.evidence = { "log.lines[module-rejected].last" });
	else if (loaded)
		PASS(j, .evidence = { "driver.loaded" });
	else if (why)
		judge_unloaded(j, why, fact);
	else if (is_unknown(node->os.lockdown) || is_unknown(node->os.secure_boot))
		UNKNOWN(j, .evidence = { is_unknown(node->os.lockdown) ? "os.lockdown"
								       : "os.secure_boot" });
	else
		NOT_APPLICABLE(j, .observed = "nothing makes this kernel ask for signatures",
			       .evidence = { "os.secure_boot", "os.lockdown", "cmdline.running" });
}

static const struct rule fit_rules[] = {
	{
		.id = "modules/gdrdrv-build-mismatch",
		.title = "gdrdrv was not built for the driver that is loaded",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_gdrdrv,
		.impact = "GDRCopy does not load, or every pin fails.",
		.remedy = "Rebuild gdrdrv where the sources of the loaded driver are: dkms build "
			  "--force, or make with NVIDIA_SRC_DIR set.",
		.activation = ACTIVATION_RELOAD,
		.reads = "depends and description of gdrdrv.ko, its line in the kernel log, the "
			 "driver's flavour.",
		.why = "Built for the open flavour it cannot be loaded beside the proprietary one, "
		       "whose symbols are not for its licence. The other way round it works, with "
		       "limits. nv-p2p-dummy stands in for the driver when its sources were not "
		       "found. Before 2.4.3 the build took the flavour of drivers from 545 on for "
		       "the wrong one.",
		.check = "modinfo gdrdrv | grep -E 'description|depends'; cat "
			 "/proc/driver/gdrdrv/params",
		.sources =
			"github.com/NVIDIA/gdrcopy: src/gdrdrv/gdrdrv.c, CHANGELOG.md, issue 334",
	},
	{
		.id = "modules/ofed-kernel-mismatch",
		.title = "OFED was built for another kernel",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.judge = judge_ofed,
		.impact = "The kernel's own RDMA modules are in use beside OFED's user space; what "
			  "is built against OFED (nvidia-peermem) does not load.",
		.remedy = "Rebuild it: dkms autoinstall, or mlnxofedinstall --add-kernel-support; "
			  "then the NVIDIA kernel modules.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The link /usr/src/ofa_kernel/default, and mlx5_core below /lib/modules "
			 "of the kernel that runs and of others.",
		.why = "OFED's modules are for one kernel. Installations of its user space alone "
		       "are right with the kernel's modules, so the rule asks for a sign that "
		       "there were others. The link is only what the last build left.",
		.check = "readlink /usr/src/ofa_kernel/default; modinfo -F filename mlx5_core; "
			 "ofed_info -s",
		.sources = "NVIDIA MLNX_OFED documentation, installing with --add-kernel-support\n"
			   "open-gpu-kernel-modules: kernel-open/conftest.sh (ofa_kernel)",
	},
	{
		.id = "modules/nvidia-fs-symbol-mismatch",
		.title = "nvidia-fs was built against another driver",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.judge = judge_fs,
		.impact = "GPUDirect Storage does not work; cuFile falls back to host memory.",
		.remedy = "Rebuild nvidia-fs after the driver, with the driver's sources "
			  "installed: dkms build --force.",
		.activation = ACTIVATION_NOW,
		.reads = "\"disagrees about version of symbol\", \"no symbol version\" and "
			 "\"Unknown symbol\" lines of nvidia_fs in the kernel log; on disk, the "
			 "versions of the symbols that it wants.",
		.why = "It takes nvidia_p2p_ symbols from the driver, and each carries a version.",
		.check = "dmesg | grep nvidia_fs; dkms status nvidia-fs",
		.sources =
			"github.com/NVIDIA/gds-nvidia-fs issue 72\nLinux: kernel/module/version.c",
	},
	{
		.id = "boot/module-signature-rejected",
		.title = "The kernel does not take modules without a known signature",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_signature,
		.impact = "The GPU driver is not loaded: \"Key was rejected by service\".",
		.remedy = "Enrol the key that signs the modules (mokutil --import, then confirm at "
			  "the next boot), use modules that the distribution has signed, or switch "
			  "Secure Boot off.",
		.activation = ACTIVATION_REBOOT,
		.reads = "\"Loading of ... is rejected\" in the kernel log, Secure Boot, lockdown, "
			 "module.sig_enforce, and the signer of nvidia.ko.",
		.why = "With signatures in force the kernel takes only what a key in its keyring "
		       "signed. Which keys are enrolled is not read: where nothing else explains "
		       "it, a signed driver that is not loaded is a warning.",
		.check = "mokutil --sb-state; modinfo -F signer nvidia; dmesg | grep -E "
			 "'rejected|Lockdown'",
		.sources = "Linux: Documentation/admin-guide/module-signing.rst, "
			   "kernel/module/signing.c\n"
			   "github.com/secureblue/secureblue issue 1043",
	},
};

RULE_TABLE(fit);
