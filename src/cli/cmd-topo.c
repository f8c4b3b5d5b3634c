/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-topo.c - topo: the node as a drawing. */
#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "render/topo.h"

static enum exit_status topo_print(const struct topo *topo, const struct options *options)
{
	switch (options->format) {
	case FORMAT_JSON:
		return render_topo_json(topo);
	case FORMAT_SVG:
		return render_topo_svg(topo);
	default:
		return render_topo_text(topo, &options->render);
	}
}

enum exit_status cmd_topo(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	struct output output;
	struct topo topo;
	enum exit_status status = source_open(&source, options);

	if (!status)
		status = source_observe(&source, options);
	if (status)
		return status;
	if (!was_read(source.node->pci.devices)) {
		complain("the PCI bus could not be read");
		return EXIT_INCOMPLETE;
	}
	topo_make(&topo, source.node, source.arena);
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = topo_print(&topo, options);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
