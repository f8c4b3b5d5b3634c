/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-prove.c - prove: tries the configuration on the hardware. */
#include <errno.h>
#include <string.h>

#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "evaluate/report.h"
#include "provers/prove.h"
#include "query/pci-device.h"
#include "render/render.h"

static enum exit_status refuse_busy(const struct proving *p)
{
	if (!p->users_known && !p->users.count) {
		complain("libnvidia-ml.so.1 could not say whether other processes use the GPUs; "
			 "add --in-use to run the trials anyway");
		return EXIT_CANNOT;
	}
	for_each(user, &p->users)
		complain("GPU %llu is used by process %llu%s%s%s",
			 (unsigned long long)user->gpu.value, (unsigned long long)user->pid.value,
			 is_known(user->name) ? " (" : "",
			 is_known(user->name) ? user->name.value : "",
			 is_known(user->name) ? ")" : "");
	complain("the trials could disturb them; end these processes, or add --in-use to run the "
		 "trials anyway");
	return EXIT_CANNOT;
}

/* Returns true also if the PCI bus could not be read. */
static bool has_gpu(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d))
			return true;
	return !was_read(node->pci.devices);
}

static enum exit_status prove(struct source *source, const struct options *options)
{
	const struct prove_options how = { .quick = options->quick,
					   .in_use = options->in_use,
					   .timeout_ms = options->timeout_ms };
	struct proving *proving;
	int rc = prove_run(source->node, source->arena, &how, &proving);

	switch (rc) {
	case 0:
		return EXIT_WELL;
	case -EBUSY:
		return refuse_busy(proving);
	case -ENODEV:
		complain(has_gpu(source->node)
				 ? "the NVIDIA driver is not loaded, and a trial would load it; "
				   "run nvnodecheck doctor first"
				 : "no NVIDIA GPU, and its driver is not loaded: nothing to try");
		return EXIT_CANNOT;
	default:
		complain("cannot start a process for the trials: %s", strerror(-rc));
		return EXIT_CANNOT;
	}
}

/* Trials that could not run prove nothing. */
static enum exit_status proof_status(const struct report *report)
{
	enum exit_status status = report_status(report, false);

	if (status == EXIT_WELL && is_known(report->node->proof.stopped))
		return EXIT_INCOMPLETE;
	return status;
}

enum exit_status cmd_prove(const struct options *options)
{
	static const char *const only[] = { "proof/*", NULL };
	_cleanup_source_ struct source source = { 0 };
	const struct settings *settings;
	struct settings mine;
	struct report *report;
	struct output output;
	enum exit_status status = source_open(&source, options);

	if (!status)
		status = source_read_node(&source, options, false, &settings);
	if (!status)
		status = prove(&source, options);
	if (status)
		return status;
	fact_close_holes(&proof_facts_desc, &source.node->proof);
	mine = *settings;
	mine.only = (const char **)only;
	mine.skip = NULL;
	report = report_make(source.node, &mine, source.arena);
	status = proof_status(report);
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = options->format == FORMAT_JSON
			 ? render_proof_json(report, status)
			 : render_proof_text(report, &options->render, status);
	return output_end(&output, status != EXIT_CANNOT) ? EXIT_CANNOT : status;
}
