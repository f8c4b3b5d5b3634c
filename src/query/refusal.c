/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/refusal.h"

#include <string.h>

#include "query/gpus.h"
#include "query/node-find.h"

#define BUILD_REASONS 2
static const struct reason {
	const char *pattern; /* as probes/log.c names it */
	bool of_module;	     /* it counts only where it is nvidia.ko's own line */
	bool of_gpu;	     /* it can be about one GPU of several */
	const char *remedy;
} reasons[] = {
	/* BUILD_REASONS of a file that was built for another kernel. */
	{ "version-magic", true, false,
	  "Build the module for the kernel that runs (dkms autoinstall), or boot the kernel that "
	  "it is for." },
	{ "symbol-version", true, false,
	  "Build the module against the kernel that runs (dkms autoinstall): it was built against "
	  "another kernel." },
	{ "unknown-symbol", true, false,
	  "Build the module against the kernel that runs, and load what it needs first: modprobe "
	  "nvidia does." },
	{ "bad-parameter", true, false,
	  "Give the parameter a value of its kind (numbers: 0 or 1, not yes or true), in "
	  "modprobe.d or on the kernel command line; then modprobe nvidia." },
	{ "fallen-off-bus", false, true,
	  "The GPU does not answer: power the node off and on. If it stays so, look at power, "
	  "seating and riser." },
	{ "gpu-unsupported", false, true,
	  "Read the lines after it (dmesg | grep -A4 'NVRM: The NVIDIA GPU'): the open kernel "
	  "modules take Turing and later, and 580 is the last branch for Maxwell, Pascal and "
	  "Volta. A GPU that is newer than the driver needs a later branch. The open modules say the "
	  "same of one that does not answer: then power the node off and on." },
	{ "gpu-legacy", false, true,
	  "Install the branch that the line names: this driver has dropped the GPU." },
	{ "bar-taken", false, true,
	  "Another driver has the GPU's registers: nvidiafb, rivafb, or a frame buffer of the "
	  "firmware. Blacklist it, or boot with video=efifb:off, and look into /proc/iomem who it "
	  "is." },
	{ "no-irq", false, true,
	  "Let the driver use MSI (NVreg_EnableMSI=1, no pci=nomsi), and have the firmware assign "
	  "an interrupt." },
	{ "bar-invalid", false, true,
	  "Switch on Above 4G Decoding in the firmware, or boot with pci=realloc." },
};

/* The driver's own module's line: not nvidia_drm's. */
static const char *own_line(const struct log_line *line)
{
	const struct log_subject *own = log_of_module(line, "nvidia");

	return own ? own->last.value : NULL;
}

static bool fill_refusal(struct arena *arena, const struct reason *reason, const char *text,
			 struct refusal *refusal)
{
	if (!text)
		return false;
	*refusal = (struct refusal){ .text = text,
				     .fact = fact_path(arena, "log.lines", reason->pattern, "last"),
				     .remedy = reason->remedy };
	return true;
}

bool refusal_of_driver(struct arena *arena, const struct node *node, struct refusal *refusal)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const struct log_line *line = node_log(node, reasons[i].pattern);

		if (line &&
		    fill_refusal(arena, &reasons[i],
				 reasons[i].of_module ? own_line(line) : line->last.value, refusal))
			return true;
	}
	return false;
}

static bool refusal_among(struct arena *arena, const struct node *node,
			  const struct pci_device *gpu, bool named, struct refusal *refusal)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const struct log_line *line = reasons[i].of_gpu ? node_log(node, reasons[i].pattern)
								: NULL;

		const struct log_subject *own = log_of_device(line, gpu->bdf.value);

		if (named && own)
			return fill_refusal(arena, &reasons[i], own->last.value, refusal);
		if (!named && line && !line->devices.count)
			return fill_refusal(arena, &reasons[i], line->last.value, refusal);
	}
	return false;
}

bool refusal_of_gpu(struct arena *arena, const struct node *node, const struct pci_device *gpu,
		    struct refusal *refusal)
{
	return refusal_among(arena, node, gpu, true, refusal) ||
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
		.text = arena_printf(arena, "driver %s, and %u is the %s branch for %s (%s)",
				     version, branch, fit == GPU_DRIVER_TOO_OLD ? "first" : "last",
				     model->name, model->architecture),
		.fact = fact,
		.remedy =
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

bool refusal_of_build(struct arena *arena, const struct node *node, struct refusal *refusal)
{
	for (size_t i = 0; i < BUILD_REASONS; i++) {
		const struct log_line *line = node_log(node, reasons[i].pattern);

		if (line && fill_refusal(arena, &reasons[i], own_line(line), refusal))
			return true;
	}
	return false;
}
