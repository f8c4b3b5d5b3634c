/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-standin.c - until the transaction is there. */
#include "cmd.h"
#include "fix-apply.h"
#include "txn.h"
#include "sha256.h"

enum exit_status fix_may_apply(const struct source *source, const struct options *options)
{
	(void)source;
	(void)options;
	complain("--apply is not there yet");
	return EXIT_CANNOT;
}
enum exit_status fix_apply(struct source *source, const struct settings *settings,
			   const struct options *options, const struct plan *plan,
			   const struct report *report)
{
	(void)settings;
	(void)plan;
	(void)report;
	return fix_may_apply(source, options);
}
enum exit_status cmd_undo(const struct options *options)
{
	return fix_may_apply(NULL, options);
}
const char *const *txn_image_command(struct arena *arena, const char *tool, const char *kernel,
				     const char *image)
{
	static const char *const argv[] = { "/bin/true", NULL };
	(void)arena;
	(void)tool;
	(void)kernel;
	(void)image;
	return argv;
}
