/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failure.c - the failures in the kernel log (log.failures) that still hold. */
#include "query/failure.h"

#include "query/module-find.h"
#include "query/node-find.h"
#include "query/signature.h"

static enum failure_state state_of_device(const struct node *node,
					  const struct log_failure *failure)
{
	const struct pci_device *d = node_pci(node, failure->device.value);

	if (!d || is_unknown(d->driver))
		return FAILURE_UNSURE;
	return is_known(d->driver) ? FAILURE_IS_OVER : FAILURE_STANDS;
}

static enum failure_state state_of_module(const struct node *node,
					  const struct log_failure *failure)
{
	if (!was_read(node->modules.loaded))
		return FAILURE_UNSURE;
	return node_module(node, failure->module.value) ? FAILURE_IS_OVER : FAILURE_STANDS;
}

enum failure_state failure_state(const struct node *node, const struct log_failure *failure)
{
	/* After a crash the kernel's locks and memory are in an unknown state until the next boot. The others
	 * depend on how kernel and module were built. */
	if (known_is(failure->kind, FAILURE_CRASH) || known_is(failure->kind, FAILURE_SYMBOL_GET) ||
	    known_is(failure->kind, FAILURE_KERNEL_PARAMETERS) ||
	    known_is(failure->kind, FAILURE_KERNEL_ARGUMENT))
		return FAILURE_STANDS;
	if (is_known(failure->device))
		return state_of_device(node, failure);
	return is_known(failure->module) ? state_of_module(node, failure) : FAILURE_UNSURE;
}

const char *failure_state_fact(struct arena *arena, const struct node *node,
			       const struct log_failure *failure)
{
	if (known_is(failure->kind, FAILURE_CRASH))
		return NULL;
	if (is_known(failure->device) && node_pci(node, failure->device.value))
		return fact_path(arena, "pci.devices", failure->device.value, "driver");
	return is_known(failure->module) ? "modules.loaded" : NULL;
}

const char *failure_fact(struct arena *arena, const struct node *node,
			 const struct log_failure *failure)
{
	return ITEM_FACT(arena, node, log.failures, failure, last);
}

const struct log_failure *failure_of_module(const struct node *node, const char *module)
{
	const struct log_failure *found = NULL;

	for_each(f, &node->log.failures)
		if (str_is(f->module, module) && !is_known(f->device) &&
		    failure_state(node, f) == FAILURE_STANDS)
			found = f;
	return found;
}

const struct log_failure *failure_of_device(const struct node *node, const char *bdf)
{
	const struct log_failure *found = NULL;

	for_each(f, &node->log.failures)
		if (str_is(f->device, bdf) && failure_state(node, f) == FAILURE_STANDS)
			found = f;
	return found;
}

bool failure_will_recur(const struct log_failure *failure)
{
	switch (failure->kind.value) {
	case FAILURE_UNKNOWN_SYMBOL:
	case FAILURE_SYMBOL_VERSION:
	case FAILURE_NAMESPACE:
	case FAILURE_LICENSE:
	case FAILURE_SYMBOL_GET:
	case FAILURE_DUPLICATE_SYMBOL:
	case FAILURE_VERSION_MAGIC:
	case FAILURE_SIGNATURE:
	case FAILURE_BLACKLISTED:
	case FAILURE_PARAMETER:
		return is_known(failure->kind);
	default:
		return false;
	}
}

static const char *detail_of(const struct log_failure *failure, const char *otherwise)
{
	return failure->details.count ? failure->details.items[0] : otherwise;
}

/* Returns the remedy for a module that was built for another kernel, or for other versions of the modules that it
 * uses; without text: FAILURE is another. */
static bool has_signature(const struct node *node, const char *module)
{
	const struct module_file *file = module_file_running(node, module);

	return !file || !is_absent(file->signer);
}

static struct cure cure_of_build(struct arena *arena, const struct node *node,
				 const struct log_failure *failure, const char *module)
{
	switch ((enum failure_kind)failure->kind.value) {
	case FAILURE_UNKNOWN_SYMBOL:
	case FAILURE_SYMBOL_VERSION:
		return (struct cure){ arena_printf(
			arena,
			"Rebuild %s against the kernel that runs and the modules that it uses (dkms "
			"autoinstall), or install the package built for them.",
			module) };
	case FAILURE_NAMESPACE:
		return (struct cure){ arena_printf(
			arena, "Install a release of %s that supports this kernel.", module) };
	case FAILURE_LICENSE:
	case FAILURE_SYMBOL_GET:
		return (struct cure){
			"Install the open kernel modules of the driver, or a release of the "
			"module that works with the proprietary ones."
		};
	case FAILURE_DUPLICATE_SYMBOL:
		return (struct cure){ arena_printf(
			arena,
			"Remove the second copy: another module already offers %s. Unload that module "
			"before %s is loaded.",
			detail_of(failure, "the symbol"), module) };
	case FAILURE_VERSION_MAGIC:
		return (struct cure){ arena_printf(
			arena,
			"Rebuild %s for the kernel that runs (dkms autoinstall), or boot the kernel "
			"that it was built for.",
			module) };
	case FAILURE_SIGNATURE:
		return signature_cure(arena, node, has_signature(node, module));
	default:
		return (struct cure){ 0 };
	}
}

struct cure failure_cure(struct arena *arena, const struct node *node,
			 const struct log_failure *failure)
{
	const char *module = is_known(failure->module) ? failure->module.value : "the module";

	switch ((enum failure_kind)failure->kind.value) {
	case FAILURE_BLACKLISTED:
		return (struct cure){
			arena_printf(arena,
				     "Remove %s from module_blacklist= on the kernel command line.",
				     module),
			THEN_REBOOT
		};
	case FAILURE_PARAMETER:
		return (struct cure){ arena_printf(
			arena,
			"Give the parameter %s of %s a value of its type, in modprobe.d or on the kernel command "
			"line. Then load the module again.",
			detail_of(failure, "that the line names"), module) };
	case FAILURE_FIRMWARE:
		return (struct cure){ arena_printf(
			arena,
			"Install the firmware file %s below /lib/firmware. Where the initramfs loads the driver, "
			"rebuild it.",
			detail_of(failure, "that the line names")) };
	default:
		return cure_of_build(arena, node, failure, module);
	}
}
