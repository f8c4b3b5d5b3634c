/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * used FILE COMMAND...: runs the command, and writes the peak of its memory in KiB and its seconds of processor time, both with
 * its children, to FILE. It ends as the command did.
 *
 * A process begins with the memory of the one that started it, and some kernels count that too. This one has almost none; the
 * interpreter that runs the tests has hundreds of MiB.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status;
	FILE *file;
	pid_t pid;

	if (argc < 3)
		return 125;
	pid = fork();
	if (pid == 0) {
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 125;
	file = fopen(argv[1], "w");
	if (!file)
		return 125;
	fprintf(file, "%ld %.6f\n", used.ru_maxrss,
		seconds(used.ru_utime) + seconds(used.ru_stime));
	if (fclose(file))
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
