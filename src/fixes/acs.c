/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * acs.c - switches ACS redirection off on the switch ports between peers, by a kernel argument. Not by setpci on a
 * running host: the kernel made the IOMMU groups from the ACS bits at boot.
 */
#include <string.h>

#include "fixes/fix.h"
#include "parse/bdf.h"
#include "query/acs-argument.h"
#include "query/guests.h"
#include "query/kind.h"
#include "query/topology.h"

/* ReqRedir, CmpltRedir, UpstreamFwd and EgressCtrl off, SrcValid and TransBlk as they are; the
 * lowest bit is the last: Documentation/admin-guide/kernel-parameters.txt, pci=config_acs. */
#define ACS_OFF "0000xx"

static bool check_platform(struct fixing *f)
{
	struct fact_bool misread = acs_argument_is_misread(f->node);

	if (!is_known(misread))
		return fix_refuse(f, "the version of the running kernel is not known");
	if (acs_argument_is_missing(f->node))
		return fix_refuse(
			f, "kernels before 4.19 do not know the argument; use setpci after each "
			   "boot, or the firmware setup");
	if (misread.value)
		return fix_refuse(
			f, "kernels from " ACS_ARGUMENT_BROKEN " to before " ACS_ARGUMENT_REPAIRED
			   " misread the argument unless they have commit " ACS_ARGUMENT_REPAIR
			   ", and switch ACS on instead; use another kernel, or the "
			   "firmware setup");
	if (node_may_have_vfio(f->node))
		return fix_refuse(
			f, "devices of this host are passed to virtual machines (vfio-pci): ACS "
			   "is what keeps them apart");
	if (node_is(f->node, KIND_VIRTUAL_MACHINE) || node_is(f->node, KIND_GRACE))
		return fix_refuse(
			f, "on this platform the host controls ACS, or ACS is set on purpose");
	return true;
}

/* Returns all ports of findings of this kind, because one kernel argument names them all. NULL: the repair is refused,
 * because a name is no PCI address. */
static const char *ports_of(struct fixing *f, bool config, size_t *count)
{
	const char *list = "";

	for_each(other, &f->report->findings)
		if (other->rule == f->finding->rule && other->answer.verdict == VERDICT_FAIL &&
		    other->severity >= f->finding->severity && other->answer.subject) {
			if (!bdf_is(span_of(other->answer.subject))) {
				fix_refuse(f, "%s is no PCI address", other->answer.subject);
				return NULL;
			}
			++*count;
			list = arena_printf(f->arena, "%s%s%s%s", list, *list ? ";" : "",
					    config ? ACS_OFF "@" : "", other->answer.subject);
		}
	return list;
}

static void acs_plan(struct fixing *f)
{
	bool config = acs_argument_has_config(f->node);
	const char *key = config ? "config_acs=" : "disable_acs_redir=", *list;
	size_t ports = 0;

	if (!check_platform(f))
		return;
	list = ports_of(f, config, &ports);
	if (!list)
		return;
	if (strstr(f->staged, "config_acs=") || strstr(f->staged, "disable_acs_redir=")) {
		if (!strstr(f->staged, fix_subject(f))) {
			fix_refuse(
				f,
				"the kernel command line has an ACS argument for other ports; add "
				"%s to it by hand",
				fix_subject(f));
			return;
		}
		fix_shares_arguments(f);
	} else if (!fix_argument(f, "pci", arena_printf(f->arena, "%s%s", key, list))) {
		return;
	}
	fix_does(f, ACTIVATION_REBOOT,
		 "switch ACS redirection off at %zu port%s, by the kernel argument pci=%sLIST",
		 ports, ports == 1 ? "" : "s", key);
	fix_costs(f, "%s Devices below these ports then share an IOMMU group.",
		  f->finding->rule->cost ? f->finding->rule->cost : "");
	fix_risks(f);
}

const struct fix fix_clear_acs_redirect = {
	.name = "clear-acs-redirect",
	.title = "ACS redirection cleared by kernel argument: pci=config_acs= from "
		 "Linux " ACS_ARGUMENT_REPAIRED " on, pci=disable_acs_redir= before",
	.plan = acs_plan,
};
