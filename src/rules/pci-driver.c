/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-driver.c - which driver holds a PCI function and its BARs, against what the configuration says. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "query/pci-device.h"
#include "query/ports.h"
#include "query/wanted-driver.h"

#define FACT(ctx, d, field) fact_path(ctx->arena, "pci.devices", (d)->bdf.value, field)

/* ---- the driver ---- */

static const char *module_of(struct rule_context *ctx, const char *driver)
{
	char *name = arena_printf(ctx->arena, "%s", driver);

	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

/* softdep DRIVER pre: ... WANTED: modprobe loads WANTED first. */
static bool comes_after(const struct node *node, const char *driver, const char *wanted)
{
	for_each(s, &node->modprobe.softdep)
		if (str_is(s->module, driver) && is_known(s->text) &&
		    strstr(s->text.value, "pre:") && strstr(s->text.value, wanted))
			return true;
	return false;
}

static bool initramfs_has(const struct initramfs_image *image, const char *module)
{
	for_each(m, &image->modules)
		if (str_is(m->name, module))
			return true;
	return false;
}

/* The image of the kernel that runs loads DRIVER and lacks WANTED. */
static const struct initramfs_image *initramfs_without(const struct node *node, const char *driver,
						       const char *wanted)
{
	for_each(image, &node->initramfs.images)
		if (known_is(image->running, true) && known_is(image->complete, true) &&
		    initramfs_has(image, driver) && !initramfs_has(image, wanted))
			return image;
	return NULL;
}

static const char BY_DRIVERCTL[] =
	"Bind the function with driverctl, now and at every boot. No program may use it then.";

/* Returns true if ids= of a module names the model; false if driverctl or an override names the function. */
static bool is_by_ids(const struct wanted_driver *wanted)
{
	return strstr(wanted->fact, "modprobe") || strstr(wanted->fact, "cmdline");
}

static const char *remedy_of(struct rule_context *ctx, const struct pci_device *d,
			     const struct wanted_driver *wanted)
{
	const struct node *node = ctx->node;
	const char *bound = is_known(d->driver) ? module_of(ctx, d->driver.value) : NULL;
	const char *module = module_of(ctx, wanted->driver);
	const struct initramfs_image *image;

	if (!bound)
		return text_printf(
			ctx,
			"Load %s at boot: name it in /etc/modules-load.d and in the initramfs.",
			module);
	image = initramfs_without(node, bound, module);
	if (image)
		return text_printf(
			ctx,
			"The initramfs (%s) loads %s and lacks %s. Name %s in its configuration.",
			image->path.value, bound, module, module);
	if (is_by_ids(wanted) && !comes_after(node, bound, wanted->driver))
		return text_printf(
			ctx,
			"%s was loaded first and took the function. Add \"softdep %s pre: %s\" to a file in "
			"modprobe.d.",
			bound, bound, wanted->driver);
	return BY_DRIVERCTL;
}

/* Another card of the model is bound as ids= says: then this one can be the host's on purpose. */
static bool has_twin(const struct node *node, const struct pci_device *d, const char *driver)
{
	for_each(other, &node->pci.devices)
		if (other != d && str_is(other->driver, driver) &&
		    known_is(other->vendor_id, d->vendor_id.value) &&
		    known_is(other->device_id, d->device_id.value) &&
		    !is_same_slot(other->bdf.value, d->bdf.value))
			return true;
	return false;
}

static bool is_as_wanted(const struct pci_device *d, const struct wanted_driver *wanted)
{
	if (strcmp(wanted->driver, "none") == 0)
		return is_absent(d->driver);
	return str_is(d->driver, wanted->driver);
}

static void check_wanted(struct rule_context *ctx, const struct pci_device *d,
			 const struct wanted_driver *wanted)
{
	const char *now = is_known(d->driver) ? text_printf(ctx, "bound to %s", d->driver.value)
					      : "no driver is bound";
	const char *text = text_printf(ctx, "%s; %s", now, wanted->why);
	const char *expected = text_printf(ctx, "bound to %s", wanted->driver), *remedy;
	const char *fact = FACT(ctx, d, "driver");

	remedy = remedy_of(ctx, d, wanted);
	if (is_unknown(d->driver))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (is_as_wanted(d, wanted))
		PASS(ctx, .subject = d->bdf.value, .observed = text,
		     .evidence = { fact, wanted->fact });
	else if (wanted->later)
		PENDING(ctx, .subject = d->bdf.value, .observed = text, .expected = expected,
			.then = THEN_REBOOT,
			.remedy = "Rebuild the initramfs if it loads the driver.",
			.evidence = { fact, wanted->fact });
	else if (strstr(wanted->fact, "modprobe") && has_twin(ctx->node, d, wanted->driver))
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx,
					     "%s. Another card of the model has that driver: ids= "
					     "does not distinguish them",
					     text),
		     .evidence = { fact, wanted->fact });
	else
		FAIL(ctx, .subject = d->bdf.value, .observed = text, .expected = expected,
		     .title =
			     strcmp(wanted->driver, "vfio-pci") == 0
				     ? "Virtual machines cannot have a device: another driver took it before vfio-pci"
				     : NULL,
		     .remedy = remedy, .then = THEN_INITRAMFS | THEN_REBOOT,
		     .command = remedy == BY_DRIVERCTL
					? shell_printf(ctx->arena,
						       "sudo driverctl set-override %s %s",
						       d->bdf.value, wanted->driver)
					: NULL,
		     .evidence = { fact, wanted->fact });
}

static void check_driver(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, named = 0;
	const char *unread = NULL;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		struct wanted_driver wanted = wanted_driver(ctx->arena, ctx->node, d);

		if (wanted.driver && !is_known(d->physical_function)) {
			check_wanted(ctx, d, &wanted);
			named++;
		} else if (wanted.unread) {
			unread = wanted.fact;
		}
	}
	if (named || ctx->findings->count > before)
		return;
	if (unread)
		UNKNOWN(ctx, .evidence = { unread });
	else
		NOT_APPLICABLE(ctx, .observed = "no setting gives a PCI function to a driver",
			       .evidence = { "modprobe.assignments", "pci.overrides" });
}

/* ---- its BARs ---- */

#define NO_CONSOLE " this card's screen then shows no console, so have another way to log in."

/* Holders of a frame buffer before the GPU's own driver is loaded, with their names in /proc/iomem. */
static const struct frame_buffer {
	const char *holder, *remedy;
} frame_buffers[] = {
	{ "efidrm", "Make other graphics the first display in the firmware setup. Or boot with "
		    "initcall_blacklist=sysfb_init:" NO_CONSOLE },
	{ "vesadrm", "Make other graphics the first display in the firmware setup. Or boot with "
		     "initcall_blacklist=sysfb_init:" NO_CONSOLE },
	{ "efifb", "Make other graphics the first display in the firmware setup. Or boot with "
		   "video=efifb:off:" NO_CONSOLE },
	{ "vesafb", "Make other graphics the first display in the firmware setup. Or boot with "
		    "video=vesafb:off:" NO_CONSOLE },
	{ "BOOTFB", "Make other graphics the first display in the firmware setup. Or boot with "
		    "initcall_blacklist=sysfb_init:" NO_CONSOLE },
	{ "simplefb", "Make other graphics the first display in the firmware setup. Or boot with "
		      "initcall_blacklist=sysfb_init:" NO_CONSOLE },
	{ "simpledrm", "Make other graphics the first display in the firmware setup. Or boot with "
		       "initcall_blacklist=sysfb_init:" NO_CONSOLE },
};

static const struct frame_buffer *frame_buffer_of(const struct pci_claim *claim)
{
	for (size_t i = 0; i < ARRAY_SIZE(frame_buffers); i++)
		if (str_is(claim->holder, frame_buffers[i].holder))
			return &frame_buffers[i];
	return NULL;
}

/* The part of a BAR of D that a frame buffer holds, or NULL. */
static const struct pci_claim *held_part(const struct node *node, const struct pci_device *d)
{
	for_each(c, &node->pci.claims)
		if (str_is(c->bdf, d->bdf.value) && frame_buffer_of(c))
			return c;
	return NULL;
}

static void check_held(struct rule_context *ctx, const struct pci_device *d)
{
	const struct node *node = ctx->node;
	const struct log_line *line = node_log(node, "bar-taken-from");
	const struct log_subject *said = log_of_device(line, d->bdf.value);
	const struct pci_claim *part = held_part(node, d);

	if (part)
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "bound to %s; %s holds a part of its BAR%s%s",
					     d->driver.value, part->holder.value, said ? ": " : "",
					     said ? said->last.value : ""),
		     .expected = "BARs that nothing else holds",
		     .remedy = frame_buffer_of(part)->remedy,
		     .evidence = { ITEM_FACT(ctx->arena, node, pci.claims, part, holder),
				   FACT(ctx, d, "driver"),
				   said ? log_device_fact(ctx->arena, line, d->bdf.value, "last")
					: NULL });
	else if (said && !was_read(node->pci.claims))
		/* The range may have been released since. */
		FAIL_AS(ctx, SEVERITY_WARN, .subject = d->bdf.value, .observed = said->last.value,
			.expected = "BARs that nothing else holds",
			.evidence = { log_device_fact(ctx->arena, line, d->bdf.value, "last"),
				      FACT(ctx, d, "driver") });
	else if (!was_read(node->pci.claims))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { "pci.claims" });
	else
		PASS(ctx, .subject = d->bdf.value, .evidence = { "pci.claims" });
}

/* NVIDIA's driver reserves the registers, BAR 0, and gives a GPU up whose registers another has. What the log has
 * without a holder is driver/loaded's. */
static void check_held_from_host(struct rule_context *ctx, const struct pci_device *d)
{
	const struct node *node = ctx->node;
	const struct log_line *device = node_log(node, "bar-taken-from");
	const struct log_line *driver = node_log(node, "bar-taken");
	const struct log_subject *said = log_of_device(device, d->bdf.value);
	const struct pci_claim *part = held_part(node, d);

	if (!said && !driver)
		return;
	if (!was_read(node->pci.claims))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { "pci.claims" });
	else if (part)
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "no driver; %s holds a part of its BAR: %s",
					     part->holder.value,
					     said ? said->last.value : driver->last.value),
		     .expected = "BARs that nothing else holds",
		     .impact = "The driver cannot take the GPU: CUDA does not see it.",
		     .remedy = frame_buffer_of(part)->remedy,
		     .evidence = { ITEM_FACT(ctx->arena, node, pci.claims, part, holder),
				   FACT(ctx, d, "driver"),
				   said ? log_device_fact(ctx->arena, device, d->bdf.value, "last")
					: "log.lines[bar-taken].last" });
}

static bool is_display(const struct pci_device *d)
{
	return is_known(d->class_id) && d->class_id.value >> 16 == 0x03;
}

static void check_bars_held(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices)
		if (is_display(d) && str_is(d->driver, "vfio-pci"))
			check_held(ctx, d);
		else if (pci_is_gpu(d) && is_absent(d->driver))
			check_held_from_host(ctx, d);
		else if (is_display(d) && is_unknown(d->driver))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = { FACT(ctx, d, "driver") });
	if (ctx->findings->count == before)
		NOT_APPLICABLE(
			ctx,
			.observed =
				"vfio-pci holds no display controller, and no driver asked for a held BAR",
			.evidence = { "pci.devices" });
}

static const struct rule pci_driver_rules[] = {
	{
		.id = "pci/driver-not-as-configured",
		.title =
			"A PCI function does not have the driver that the configuration names for it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_driver,
		.impact =
			"A virtual machine that is to have the function does not start, or takes it from a "
			"driver in use.",
		.remedy = "Bind the function to the driver that the setting names.",
		.activation = ACTIVATION_REBOOT,
		.follows = { "modules/nouveau-loaded" },
		.reads =
			"The driver and driver_override of PCI functions, /etc/driverctl.d, and the option ids= of "
			"vfio-pci and pci-stub in modprobe.d and on the kernel command line.",
		.why = "vfio-pci takes a function of its ids= only if no other driver has it yet. nvidia, nouveau and "
		       "snd_hda_intel come first if the initramfs or udev loads them before vfio-pci. ids= names a model, "
		       "not a card.",
		.check =
			"lspci -nnk; cat /sys/bus/pci/devices/*/driver_override; driverctl list-overrides",
		.sources =
			"Linux 6.1.192: drivers/vfio/pci/vfio_pci.c (ids), Documentation/ABI/testing/sysfs-bus-pci "
			"(driver_override)\n"
			"kmod 30: modprobe.d(5) (softdep)\n"
			"driverctl: /etc/driverctl.d, as its script names the folder",
	},
	{
		.id = "pci/bar-held",
		.title = "The GPU cannot be used: the firmware's frame buffer holds its BAR",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_bars_held,
		.impact =
			"The virtual machine starts, and the GPU in it shows no picture or its driver fails.",
		.remedy =
			"Make other graphics the first display in the firmware setup. /proc/iomem names what holds "
			"the BAR.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"/proc/iomem for the BARs of display controllers that vfio-pci has, and of GPUs without a driver; "
			"\"can't reserve\" and \"request_mem_region failed\" in the kernel log.",
		.why = "The kernel draws its console on the memory of the card that the firmware used first. While that "
		       "part of the BAR is reserved, vfio-pci cannot give the BAR to a virtual machine. NVIDIA's driver reserves "
		       "the registers (BAR 0) and gives up a GPU whose registers another driver holds.",
		.check = "grep -A2 -i BDF /proc/iomem; dmesg | grep \"can't reserve\"",
		.sources =
			"Linux 6.12.117: drivers/pci/pci.c (__pci_request_region), kernel/resource.c (r_show)\n"
			"Linux 6.16: drivers/gpu/drm/sysfb/efidrm.c, vesadrm.c\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-pci.c (request_mem_region)\n"
			"github.com/siderolabs/talos issue 14356\n"
			"github.com/cosminmocan/vfio-single-amdgpu-passthrough issue 3",
	},
};

RULE_TABLE(pci_driver);
