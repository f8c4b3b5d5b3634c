/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-capture.c - writes down what was read of a node, with what is private left out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/cmd.h"
#include "probes/probe.h"

static enum exit_status check_recorded(const struct host *host, const char *file)
{
	int rc = host_record_error(host);

	if (rc == 0)
		return EXIT_WELL;
	/* As in finish_output(): the reader may close the pipe early. */
	if (rc != -EPIPE)
		complain("%s: %s", file, strerror(-rc));
	return EXIT_CANNOT;
}

/* Probing children leave standard output alone, so what they record goes to a descriptor of its own. */
static enum exit_status record(struct source *source, const struct options *options, int told)
{
	_cleanup_close_ int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct options asked = *options;
	struct settings settings;
	enum exit_status status;
	int rc;

	if (fd < 0) {
		complain("%s: %s", options->output, strerror(errno));
		return EXIT_CANNOT;
	}
	rc = host_record(source->host, fd, !options->no_redact,
			 options->show_redactions ? told : -1);
	if (rc) {
		complain("cannot read the host name, which must not be in a capture: %s",
			 strerror(-rc));
		return EXIT_CANNOT;
	}
	/* The configuration belongs to the node: a report from the capture is then the same. */
	status = source_settings(source, options, &settings);
	if (settings.nvml && !asked.nvml)
		asked.nvml = PROBE_NVML_YES;
	if (!status)
		status = source_observe(source, &asked);
	return status ? status : check_recorded(source->host, options->output);
}

enum exit_status cmd_capture(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	enum exit_status status;
	/* What is listed of it goes where the capture does not. */
	_cleanup_close_ int told = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct output output;

	if (!options->output) {
		complain("capture needs -o FILE (- is standard output)");
		return EXIT_USAGE;
	}
	status = source_open(&source, options);
	if (status)
		return status;
	/* It is for sending to others; until then it is the owner's. */
	if (output_begin(&output, options->output, OUTPUT_OWN_MODE))
		return EXIT_CANNOT;
	status = record(&source, options, told);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
