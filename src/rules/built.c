/* SPDX-License-Identifier: GPL-2.0-or-later */
/* built.c - modules on disk: whether there is one for the kernel that runs and the one that boots
 * next, that modprobe finds it, and that it is one of a kind. */
#include <string.h>

#include "judge/gate.h"
#include "judge/module-find.h"
#include "judge/refusal.h"

/* Are all GPUs given to virtual machines? Then this host needs no driver for them. */
static bool all_given_away(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !pci_is_for_guest(d))
			return false;
	return true;
}

static bool gate_no_files(struct judge *j)
{
	if (!is_known(j->node->os.kernel))
		UNKNOWN(j, .evidence = { "os.kernel" });
	else if (!is_told(j->node->modules.files))
		UNKNOWN(j, .evidence = { "modules.files" });
	else
		return false;
	return true;
}

/* ---- for the kernel that runs ---- */

/* The kernel compares the release, the first word, where module and kernel have no symbol versions; with them
 * only what comes after it (kernel/module/version.c, same_magic()). */
static bool is_for_other_kernel(const struct node *node, const struct module_file *file)
{
	size_t n;

	if (!is_known(file->vermagic) || strstr(file->vermagic.value, "modversions"))
		return false;
	n = strcspn(file->vermagic.value, " ");
	return strlen(node->os.kernel.value) != n ||
	       strncmp(file->vermagic.value, node->os.kernel.value, n) != 0;
}

static void judge_not_built(struct judge *j)
{
	const struct node *node = j->node;
	const struct module_file *file, *other;
	struct refusal refusal;

	if (gate_no_gpu(j))
		return;
	if (known_is(node->driver.loaded, true) || node_module(node, "nvidia")) {
		PASS(j, .observed = "it is loaded", .evidence = { "driver.loaded" });
		return;
	}
	if (all_given_away(node)) {
		NOT_APPLICABLE(j, .observed = "all GPUs are given to virtual machines",
			       .evidence = { "pci.devices" });
		return;
	}
	if (gate_no_files(j))
		return;
	file = module_file_find(node, "nvidia", node->os.kernel.value);
	other = module_file_elsewhere(node, "nvidia", node->os.kernel.value);
	if (file && is_for_other_kernel(node, file))
		FAIL(j,
		     .observed = say(j, "%s was built for another kernel: vermagic \"%s\", running %s",
				     file->path.value, file->vermagic.value, node->os.kernel.value),
		     .expected = "nvidia.ko built for the kernel that runs",
		     .evidence = { say_fact(j, "modules.files", file->path.value, "vermagic"), "os.kernel" });
	else if (file && refusal_of_build(j, &refusal))
		FAIL(j, .observed = say(j, "%s: %s", file->path.value, refusal.text),
		     .expected = "nvidia.ko built for the kernel that runs", .remedy = refusal.remedy,
		     .evidence = { refusal.fact,
				   say_fact(j, "modules.files", file->path.value, "vermagic") });
	else if (file)
		PASS(j, .evidence = { say_fact(j, "modules.files", file->path.value, "kernel") });
	else if (other)
		FAIL(j,
		     .observed = say(j, "no nvidia.ko for %s; there is one for %s",
				     node->os.kernel.value, other->kernel.value),
		     .expected = "nvidia.ko for the kernel that runs",
		     .evidence = { "os.kernel",
				   say_fact(j, "modules.files", other->path.value, "kernel") });
	else
		FAIL(j,
		     .observed = say(j, "no nvidia.ko for %s, nor for any other kernel",
				     node->os.kernel.value),
		     .expected = "nvidia.ko for the kernel that runs",
		     .remedy = "Install the driver with its kernel modules.",
		     .evidence = { "os.kernel", "modules.files" });
}

/* ---- for the kernel that boots next ---- */

/* Is NAME in use now, so that the next kernel should have it too? */
static bool is_in_use(const struct node *node, const char *name)
{
	return node_module(node, name) ||
	       (is_known(node->os.kernel) && strcmp(name, "nvidia") == 0 &&
		module_file_find(node, name, node->os.kernel.value));
}

/* Names of those that are missing for RELEASE, or NULL. */
static const char *missing_for(struct judge *j, const char *release)
{
	static const char *const names[] = { "nvidia",	    "nvidia_uvm", "nvidia_peermem",
					     "nv_peer_mem", "gdrdrv",	  "nvidia_fs" };
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct module_file *file = module_file_find(j->node, names[i], release);

		if (!is_in_use(j->node, names[i]) || (file && !known_is(file->indexed, false)))
			continue;
		missing = say(j, "%s%s%s%s", missing ? missing : "", missing ? ", " : "", names[i],
			      file ? " (not in modules.dep)" : "");
	}
	return missing;
}

static void judge_next_kernel(struct judge *j)
{
	const struct node *node = j->node;
	const struct fact_str *next = &node->boot.next_kernel;
	const char *missing;

	if (gate_no_gpu(j))
		return;
	if (is_absent(node->boot.loader)) {
		NOT_APPLICABLE(j, .observed = "no boot loader on this node",
			       .evidence = { "boot.loader" });
		return;
	}
	if (!is_known(*next)) {
		UNKNOWN(j, .evidence = { "boot.next_kernel" });
		return;
	}
	if (gate_no_files(j))
		return;
	if (str_is(*next, node->os.kernel.value)) {
		PASS(j, .observed = "the next boot starts the kernel that runs",
		     .evidence = { "boot.next_kernel", "os.kernel" });
		return;
	}
	if (is_known(node->services.driver_container)) {
		NOT_APPLICABLE(
			j,
			.observed = "a container brings the driver, and builds it after the boot",
			.evidence = { "services.driver_container" });
		return;
	}
	missing = missing_for(j, next->value);
	if (missing)
		FAIL(j,
		     .observed = say(j, "kernel %s boots next and lacks %s", next->value, missing),
		     .expected = say(j, "what is loaded now, built for %s", next->value),
		     .evidence = { "boot.next_kernel", "modules.files", "os.kernel" });
	else
		PASS(j, .evidence = { "boot.next_kernel", "modules.files" });
}

/* ---- modules.dep ---- */

static bool is_watched(const struct module_file *f)
{
	return is_known(f->name) && !str_is(f->name, "nouveau") && !str_is(f->name, "nvidiafb");
}

/* The first module of RELEASE that lies there and that modprobe does not find. */
static const struct module_file *unindexed(const struct node *node, const char *release,
					   size_t *count)
{
	const struct module_file *found = NULL;

	*count = 0;
	for_each(f, &node->modules.files) {
		const struct module_file *best;

		if (!str_is(f->kernel, release) || !known_is(f->indexed, false) || !is_watched(f))
			continue;
		best = module_file_find(node, f->name.value, release);
		if (known_is(best->indexed, true))
			continue;
		(*count)++;
		/* The driver itself says most. */
		if (!found || str_is(f->name, "nvidia"))
			found = f;
	}
	return found;
}

static void judge_depmod(struct judge *j)
{
	const struct node *node = j->node;
	size_t before = j->findings->count, seen = 0, count;

	if (gate_no_files(j))
		return;
	for_each(k, &node->modules.kernels) {
		const struct module_file *f;
		bool counts = str_is(k->release, node->os.kernel.value) ||
			      (is_known(node->boot.next_kernel) &&
			       str_is(k->release, node->boot.next_kernel.value));

		if (!counts)
			continue;
		seen++;
		f = unindexed(node, k->release.value, &count);
		if (is_unknown(k->indexed))
			UNKNOWN(j, .subject = k->release.value,
				.evidence = {
					say_fact(j, "modules.kernels", k->release.value, "indexed") });
		else if (f)
			FAIL(j, .subject = k->release.value,
			     .observed = say(j, "%s lies there and modules.dep does not list it%s",
					     module_file_place(f), count > 1 ? ", nor others" : ""),
			     .expected = "every module in modules.dep",
			     .remedy = say(j, "depmod -a %s", k->release.value),
			     .evidence = {
				     say_fact(j, "modules.files", f->path.value, "indexed"),
				     say_fact(j, "modules.kernels", k->release.value, "indexed") });
	}
	if (j->findings->count > before)
		return;
	if (seen)
		PASS(j, .evidence = { "modules.kernels" });
	else
		NOT_APPLICABLE(j, .observed = "no modules on disk for the kernel that runs",
			       .evidence = { "modules.kernels" });
}

/* ---- one of a kind ---- */

/* Another file of the same module that modprobe would know by the same name. Debian's renamed ones
 * (nvidia-current, nvidia-tesla-470) are chosen between by an alias. */
static const struct module_file *double_of(const struct node *node, const struct module_file *f)
{
	for_each(other, &node->modules.files)
		if (other > f && is_known(other->name) && str_is(other->name, f->name.value) &&
		    str_is(other->kernel, f->kernel.value) &&
		    str_is(other->file_name, f->file_name.value))
			return other;
	return NULL;
}

static const char *version_of(const struct module_file *f)
{
	return is_known(f->version) ? f->version.value : "version not known";
}

static void judge_duplicate(struct judge *j)
{
	const struct node *node = j->node;
	const struct module_file *first = NULL, *second = NULL;
	bool same;
	size_t seen = 0;

	if (gate_no_files(j))
		return;
	for_each(f, &node->modules.files) {
		const struct module_file *other;

		if (!str_is(f->kernel, node->os.kernel.value) || !is_watched(f) ||
		    (!str_starts(f->name, "nvidia") && !str_is(f->name, "gdrdrv")))
			continue;
		seen++;
		other = double_of(node, f);
		if (other && (!first || str_is(f->name, "nvidia"))) {
			first = f;
			second = other;
		}
	}
	if (!seen) {
		NOT_APPLICABLE(j, .observed = "no NVIDIA module on disk for this kernel",
			       .evidence = { "modules.files" });
		return;
	}
	if (!first) {
		PASS(j, .evidence = { "modules.files" });
		return;
	}
	same = is_known(first->srcversion) && is_known(second->srcversion) &&
	       str_is(first->srcversion, second->srcversion.value);
	FAIL_AS(j, same ? SEVERITY_INFO : SEVERITY_WARN, .subject = first->name.value,
		.observed = say(j, "%s (%s) and %s (%s)%s", module_file_place(first),
				version_of(first), module_file_place(second), version_of(second),
				same ? ", built from the same source" : ""),
		.expected = "one file of each module",
		.evidence = { say_fact(j, "modules.files", first->path.value, "version"),
			      say_fact(j, "modules.files", second->path.value, "version"),
			      say_fact(j, "modules.files", first->path.value, "indexed") });
}

static const struct rule built_rules[] = {
	{
		.id = "modules/nvidia-not-built-for-kernel",
		.title = "There is no NVIDIA module for the kernel that runs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_not_built,
		.impact = "The driver cannot be loaded: modprobe says that nvidia was not found.",
		.remedy = "Install the kernel's headers, then dkms autoinstall (dkms status says "
			  "what failed; a left-over tree in /var/lib/dkms stops it), or the "
			  "prebuilt modules for this kernel; or boot the kernel that has them.",
		.activation = ACTIVATION_NOW,
		.reads = "The modules below /lib/modules for the kernel that runs, and for others.",
		.why = "After an upgrade of the kernel the modules have to be built anew, and DKMS "
		       "needs the headers for it. A driver that is loaded passes, wherever it came "
		       "from.",
		.check = "modinfo -F filename nvidia; dkms status; uname -r",
		.sources = "dkms(8)\ngithub.com/NVIDIA/nvidia-docker issues 365 and 804\n"
			   "github.com/negativo17/nvidia-driver issue 56",
	},
	{
		.id = "boot/kernel-next-lacks-modules",
		.title = "The kernel that boots next lacks modules that are in use now",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.judge = judge_next_kernel,
		.impact = "After the next reboot the GPU driver, peer memory or GDRCopy is gone.",
		.remedy = "Before rebooting: install that kernel's headers and dkms autoinstall -k "
			  "RELEASE, or set the present kernel as the default.",
		.activation = ACTIVATION_NOW,
		.reads = "The kernel of the boot loader's default entry, and the modules on disk "
			 "for it.",
		.why = "Unattended upgrades install kernels for which nobody built the modules. "
		       "Where dkms.service is enabled it tries once more while booting; whether "
		       "that will succeed cannot be told.",
		.check = "ls /lib/modules; dkms status",
		.sources = "dkms(8)\ngithub.com/NVIDIA/nvidia-docker issue 804",
	},
	{
		.id = "modules/depmod-stale",
		.title = "A module lies on disk and modprobe does not find it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_depmod,
		.impact = "It is not loaded at boot, nor by modprobe; insmod works.",
		.remedy = "depmod -a, with the release of the kernel that is concerned.",
		.fix = "depmod",
		.activation = ACTIVATION_NOW,
		.reads = "modules.dep of the kernel that runs and of the one that boots next, and "
			 "the module files in the folders where drivers are installed.",
		.why = "Packages that run depmod for the running kernel leave a newer one without. "
		       "A file that modules.dep has elsewhere under the same name is not missed.",
		.check = "grep nvidia /lib/modules/$(uname -r)/modules.dep",
		.sources = "depmod(8)\ngithub.com/NVIDIA/yum-packaging-precompiled-kmod pull 11",
	},
	{
		.id = "modules/duplicate-nvidia-ko",
		.title = "The same NVIDIA module is on disk twice",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.judge = judge_duplicate,
		.impact = "Which one is loaded depends on depmod's search order, and the initramfs "
			  "may hold the other.",
		.remedy = "Remove one: dpkg -S or rpm -qf says whose it is; a file of no package "
			  "is from the .run installer (nvidia-uninstall) or built by hand.",
		.activation = ACTIVATION_REBOOT,
		.reads = "NVIDIA's modules and gdrdrv below /lib/modules for the kernel that runs.",
		.why = "A driver from a package, one from the .run installer and a patched one "
		       "land in different folders: kernel/drivers/video, updates/dkms, extra.",
		.check = "find /lib/modules/$(uname -r) -name 'nvidia*.ko*'; modinfo -F filename "
			 "nvidia",
		.sources = "depmod.d(5)\ngithub.com/tinygrad/open-gpu-kernel-modules README",
	},
};

RULE_TABLE(built);
