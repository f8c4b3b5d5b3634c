/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - start-up: parses the command line, runs the command and returns its status. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/child.h"
#include "base/message.h"
#include "base/output.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/complete.h"
#include "render/render.h"

/* A file opened later must not become standard output because the caller had closed it. */
static void open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

#define STACK_KIB 256

/* With a smaller stack a call of a function can end the program by a signal. The limit is not raised, because rules
 * read it: it is a fact about the caller. */
static bool has_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= STACK_KIB << 10)
		return true;
	complain("the limit of the stack is less than %d KiB; raise it with ulimit -s", STACK_KIB);
	return false;
}

/* A program whose file gives it privileges must not open a library that its caller chose: libibverbs loads those that
 * RDMAV_DRIVERS names (rdma-core 50: libibverbs/init.c), and other libraries have such variables. Rules read the
 * caller's variables in /proc. */
static void leave_environment(void)
{
	static const char *const kept[] = { "COLUMNS", "LANG",	   "LC_ALL", "LC_CTYPE",
					    "LINES",   "NO_COLOR", "TERM" };
	const char *values[ARRAY_SIZE(kept)];

	if (!getauxval(AT_SECURE))
		return;
	/* The strings are the kernel's, and stay. */
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		values[i] = getenv(kept[i]);
	clearenv();
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (values[i])
			setenv(kept[i], values[i], 1);
}

int main(int argc, char **argv)
{
	struct options options;
	enum exit_status status;

	open_standard_files();
	leave_environment();
	child_note_inherited();
	/* A closed pipe and a limit on the size of files (setrlimit(2)) are then errors of write(), and reported. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A caller that ignored SIGCHLD passes that on, and the exit status of children would be lost. */
	signal(SIGCHLD, SIG_DFL);
	if (argc > 1 && strcmp(argv[1], COMPLETE_COMMAND) == 0)
		return complete(argc - 2, argv + 2);
	if (cli_parse(argc, argv, &options))
		return render_failure(&options.render, EXIT_USAGE);
	if (!has_stack())
		return render_failure(&options.render, EXIT_CANNOT);
	if (options.version) {
		printf("nvnodecheck %s\n", NVNODECHECK_VERSION);
		return finish_output(EXIT_WELL);
	}
	if (options.help) {
		cli_help(options.names_command ? options.command : NULL);
		return finish_output(EXIT_WELL);
	}
	status = options.command->run(&options);
	child_collect();
	return status;
}
