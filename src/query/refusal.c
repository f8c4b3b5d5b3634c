/* SPDX-License-Identifier: GPL-2.0-or-later */
/* refusal.c - the reason in the kernel log why the driver was not loaded, or did not take a GPU. */
#include "query/refusal.h"

#include <string.h>

#include "base/array.h"
#include "query/gpus.h"
#include "query/init-cause.h"
#include "query/node-find.h"

#define BUILD_REASONS 2
static const struct reason {
	const char *pattern; /* as probes/log/log.c names it */
	bool of_module;	     /* it counts only where it is nvidia.ko's own line */
	bool of_gpu;	     /* it can be about one GPU of several */
	const char *remedy;
	const char *in_guest; /* the remedy in a virtual machine; NULL: the same */
	unsigned int then;    /* enum remedy_end */
} reasons[] = {
	/* BUILD_REASONS of a file that was built for another kernel. */
	{ "version-magic", true, false,
	  "Build the module for the running kernel (dkms autoinstall), then load it." },
	{ "symbol-version", true, false,
	  "Build the module again for the running kernel (dkms autoinstall), then load it." },
	{ "unknown-symbol", true, false,
	  "Build the module for the running kernel (dkms autoinstall). Load it with modprobe, which also "
	  "loads the modules that it needs." },
	{ "bad-parameter", true, false,
	  "Correct the parameter's value in modprobe.d or on the kernel command line: a number such as 0 or "
	  "1, not yes or true. Then load the driver." },
	{ "fallen-off-bus", false, true,
	  "The GPU does not answer: power the node off and on. If that does not help, check power, seating "
	  "and riser." },
	{ "gpu-unsupported", false, true,
	  "This release of the driver does not know the GPU. Install a newer release, or branch 580 for Maxwell, "
	  "Pascal and Volta.",
	  "This release of the driver does not know the GPU. For a vGPU, install the guest driver of NVIDIA's vGPU "
	  "software (GRID) of the release that the host runs. For a whole GPU, install a newer release." },
	{ "gpu-refused", false, true,
	  "Read the next line of the kernel log, which this report does not have. If it says \"fallen off the bus\", "
	  "power the node off and on. If it says \"not supported\", install a driver branch and flavour that supports "
	  "this GPU." },
	{ "gpu-legacy", false, true,
	  "Install the branch that the line names: this driver no longer supports the GPU." },
	{ "bar-taken", false, true,
	  "Another driver holds the GPU's registers; /proc/iomem names it. Blacklist nvidiafb or rivafb, or boot "
	  "with video=efifb:off for the firmware's frame buffer." },
	{ "no-irq", false, true,
	  "Let the driver use MSI: set NVreg_EnableMSI=1 and remove pci=nomsi." },
	{ "bar-invalid", false, true,
	  "Enable Above 4G Decoding in the firmware, or boot with pci=realloc.",
	  "The virtual machine's firmware has no room for the GPU's memory. On its host: machine type q35 with OVMF, and "
	  "a larger 64-bit window (QEMU: -fw_cfg name=opt/ovmf/X-PciMmio64Mb,string=262144). In the guest "
	  "pci=realloc can help." },
	{ "probe-not-called", false, false,
	  "Another driver held the GPU when nvidia was loaded: lspci -nnk names it. Unless it is vfio-pci, which holds "
	  "GPUs for virtual machines, blacklist it.",
	  NULL, THEN_INITRAMFS | THEN_REBOOT },
	{ "no-gpu-found", false, false,
	  "The driver found no GPU that it supports. Check that the GPU was on the bus at that time (lspci -nn -d "
	  "10de:), and that this branch supports it. Then load the driver." },
};

/* The driver's own module's line: not nvidia_drm's. */
static const char *own_line(const struct log_line *line)
{
	const struct log_subject *own = log_of_module(line, "nvidia");

	return own ? own->last.value : NULL;
}

static bool fill_refusal(struct arena *arena, bool guest, const struct reason *reason,
			 const char *text, struct refusal *refusal)
{
	if (!text)
		return false;
	*refusal = (struct refusal){ .text = text,
				     .fact = fact_path(arena, "log.lines", reason->pattern, "last"),
				     .cure = { guest && reason->in_guest ? reason->in_guest
									 : reason->remedy,
					       reason->then } };
	return true;
}

/* What the driver writes of a GPU before it gives it up (data/init-causes.tsv); BDF NULL: of any. */
static bool refusal_by_init_cause(struct arena *arena, const struct node *node, const char *bdf,
				  struct refusal *refusal)
{
	struct init_cause cause;

	if (!init_cause_find(arena, node, bdf, (struct fact_u64){ 0 }, &cause))
		return false;
	*refusal = (struct refusal){
		.text = arena_printf(arena, "%s: %s", cause.line, cause.meaning),
		.fact = cause.fact,
		.cure = cause.cure,
	};
	return true;
}

bool refusal_of_driver(struct arena *arena, const struct node *node, struct refusal *refusal)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		const struct log_line *line = node_log(node, reasons[i].pattern);

		if (line &&
		    fill_refusal(arena, is_known(node->os.hypervisor), &reasons[i],
				 reasons[i].of_module ? own_line(line) : line->last.value, refusal))
			return true;
	}
	return refusal_by_init_cause(arena, node, NULL, refusal);
}

bool refusal_shows_driver(struct arena *arena, const struct node *node, const char **fact)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!reasons[i].of_module && node_log(node, reasons[i].pattern)) {
			*fact = fact_path(arena, "log.lines", reasons[i].pattern, "last");
			return true;
		}
	return false;
}

static bool refusal_among(struct arena *arena, const struct node *node,
			  const struct pci_device *gpu, bool named, struct refusal *refusal)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		const struct log_line *line = reasons[i].of_gpu ? node_log(node, reasons[i].pattern)
								: NULL;
		const struct log_subject *own = log_of_device(line, gpu->bdf.value);

		if (named && own)
			return fill_refusal(arena, is_known(node->os.hypervisor), &reasons[i],
					    own->last.value, refusal);
		if (!named && line && !line->devices.count)
			return fill_refusal(arena, is_known(node->os.hypervisor), &reasons[i],
					    line->last.value, refusal);
	}
	return false;
}

bool refusal_of_gpu(struct arena *arena, const struct node *node, const struct pci_device *gpu,
		    struct refusal *refusal)
{
	return refusal_among(arena, node, gpu, true, refusal) ||
	       refusal_by_init_cause(arena, node, gpu->bdf.value, refusal) ||
	       refusal_among(arena, node, gpu, false, refusal);
}

bool refusal_by_branch(struct arena *arena, const struct pci_device *gpu, const char *version,
		       const char *fact, struct refusal *refusal)
{
	unsigned int branch;
	enum gpu_fit fit = gpu_driver_fit(gpu, version, &branch);
	const struct gpu_model *model = gpu_model(gpu);

	if (fit == GPU_FIT)
		return false;
	*refusal = (struct refusal){
		.text = arena_printf(arena, "driver %s; %u is the %s branch for %s (%s)", version,
				     branch, fit == GPU_DRIVER_TOO_OLD ? "first" : "last",
				     model->name, model->architecture),
		.fact = fact,
		.cure.text =
			fit == GPU_DRIVER_TOO_OLD
				? arena_printf(arena, "Install a driver of branch %u or later%s.",
					       branch,
					       strcmp(model->architecture, "Blackwell") == 0
						       ? ", with the open kernel modules"
						       : "")
				: arena_printf(arena,
					       "Install a driver of branch %u, and hold it there.",
					       branch),
	};
	return true;
}

bool refusal_by_flavour(const struct node *node, const struct pci_device *gpu,
			struct refusal *refusal)
{
	const struct gpu_model *model = gpu_model(gpu);

	if (gpu_is_before_turing(gpu) && known_is(node->driver.flavour, FLAVOUR_OPEN))
		*refusal = (struct refusal){
			.text = "the open kernel modules drive Turing and later only",
			.fact = "driver.flavour",
			.cure.text =
				"Install the proprietary kernel modules of branch 580, the last one for "
				"Maxwell, Pascal and Volta.",
		};
	else if (model && strcmp(model->architecture, "Blackwell") == 0 &&
		 known_is(node->driver.flavour, FLAVOUR_PROPRIETARY))
		*refusal = (struct refusal){
			.text = "the proprietary kernel modules do not drive Blackwell",
			.fact = "driver.flavour",
			.cure = { "Install the open kernel modules of the driver in place of the "
				  "proprietary ones.",
				  THEN_REBOOT },
		};
	else
		return false;
	return true;
}

bool refusal_of_build(struct arena *arena, const struct node *node, struct refusal *refusal)
{
	for (size_t i = 0; i < BUILD_REASONS; i++) {
		const struct log_line *line = node_log(node, reasons[i].pattern);

		if (line && fill_refusal(arena, is_known(node->os.hypervisor), &reasons[i],
					 own_line(line), refusal))
			return true;
	}
	return false;
}
