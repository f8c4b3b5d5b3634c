/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-capture.c - capture: writes all data that was read of a node to a file, without private data. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/child.h"
#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "probes/probe.h"

static enum exit_status check_recorded(const struct host *host, const char *file)
{
	int rc = host_record_error(host);

	if (rc)
		complain("%s: %s", file, strerror(-rc));
	return rc ? EXIT_CANNOT : EXIT_WELL;
}

/* The configuration belongs to the node: a report from the capture is then the same. */
static enum exit_status record(struct source *source, const struct options *options, int fd,
			       int told)
{
	const struct settings *settings;
	enum exit_status status;
	int rc = host_record(source->host, fd, !options->no_redact, told);

	if (rc) {
		complain("cannot read the host name or a file with it (/etc/hostname, /etc/hosts, "
			 "/etc/resolv.conf), and it must not be in a capture: %s",
			 strerror(-rc));
		return EXIT_CANNOT;
	}
	status = source_read_node(source, options, false, &settings);
	return status ? status : check_recorded(source->host, options->output);
}

static int pass_on(int from, int to)
{
	char buffer[64 << 10];
	ssize_t n, written;

	if (lseek(from, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		for (ssize_t done = 0; done < n; done += written) {
			written = write(to, buffer + done, (size_t)(n - done));
			if (written < 0)
				return -errno;
		}
	return n < 0 ? -errno : 0;
}

/* Records into a temporary file first. A child that is stuck in the kernel keeps its descriptors open, so a reader
 * of the caller's pipe would never see its end. LISTING is where replacements are listed. */
static enum exit_status record_aside(struct source *source, const struct options *options,
				     int listing)
{
	_cleanup_close_ int capture = memfd_create("capture", MFD_CLOEXEC);
	_cleanup_close_ int told = options->show_redactions ? memfd_create("told", MFD_CLOEXEC)
							    : -1;
	enum exit_status status;
	int rc;

	if (capture < 0 || (options->show_redactions && told < 0)) {
		complain("%s: %s", options->output, strerror(errno));
		return EXIT_CANNOT;
	}
	status = record(source, options, capture, told);
	rc = pass_on(capture, STDOUT_FILENO);
	if (rc == 0 && told >= 0)
		rc = pass_on(told, listing);
	if (rc == 0)
		return status;
	/* A reader may close the pipe early, which is no error; see finish_output(). */
	if (rc != -EPIPE)
		complain("%s: %s", options->output, strerror(-rc));
	return EXIT_CANNOT;
}

enum exit_status cmd_capture(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	enum exit_status status;
	/* The list of replacements goes to standard error when the capture goes to standard output. */
	_cleanup_close_ int listing = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct output output;

	if (!options->output) {
		complain("capture needs -o FILE (- is standard output)");
		return EXIT_USAGE;
	}
	status = source_open(&source, options);
	if (status)
		return status;
	/* Only the owner can read the file until he sends it to others. */
	if (output_begin(&output, options->output, OUTPUT_OWN_MODE))
		return EXIT_CANNOT;
	child_note(listing);
	status = record_aside(&source, options, listing);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
