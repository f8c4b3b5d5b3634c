/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - runs the few programs that a transaction needs: generators of images and menus, systemctl, depmod. */
#include "txn/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define TERM_GRACE_MS 5000
#define POLL_MS 50

/* Paths of the programs in distributions; /sbin and /bin only where they are not merged into /usr. */
static const struct tool {
	const char *name;
	const char *paths[4];
} tools[] = {
	{ "depmod", { "/usr/sbin/depmod", "/sbin/depmod", "/usr/bin/depmod" } },
	{ "dracut", { "/usr/bin/dracut", "/usr/sbin/dracut", "/sbin/dracut" } },
	{ "grub-mkconfig", { "/usr/sbin/grub-mkconfig", "/usr/bin/grub-mkconfig" } },
	{ "grub2-mkconfig",
	  { "/usr/sbin/grub2-mkconfig", "/sbin/grub2-mkconfig", "/usr/bin/grub2-mkconfig" } },
	{ "mkinitcpio", { "/usr/bin/mkinitcpio", "/usr/sbin/mkinitcpio" } },
	{ "mkinitramfs", { "/usr/sbin/mkinitramfs", "/usr/bin/mkinitramfs" } },
	{ "run-parts", { "/usr/bin/run-parts", "/bin/run-parts" } },
	{ "systemctl", { "/usr/bin/systemctl", "/bin/systemctl" } },
};

#define PATHS_MAX (ARRAY_SIZE(tools[0].paths))

const char *run_find(struct host *host, const char *name)
{
	struct host_stat st;

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		const char *const *paths = tools[i].paths;

		if (strcmp(tools[i].name, name) != 0)
			continue;
		for (size_t n = 0; n < PATHS_MAX && paths[n]; n++)
			if (host_stat(host, &st, "%s", paths[n]) == 0 && S_ISREG(st.mode) &&
			    (st.mode & 0111))
				return paths[n];
	}
	return NULL;
}

static bool can_run(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		for (size_t n = 0; n < PATHS_MAX && tools[i].paths[n]; n++)
			if (strcmp(tools[i].paths[n], path) == 0)
				return true;
	return false;
}

/* ---- signals ---- */

/* Signals for a failure that the call reports as well; by default they end the process. */
static const int told_by_calls[] = { SIGPIPE, SIGXFSZ, SIGIO };
static struct sigaction before_hold[ARRAY_SIZE(told_by_calls)];

/* A fault of the program's own cannot wait, and the rest does not end it: signal(7). */
static bool ends_process(int signal)
{
	static const int others[] = { SIGSEGV, SIGBUS,	SIGFPE,	 SIGILL,  SIGTRAP,
				      SIGSYS,  SIGABRT, SIGCHLD, SIGCONT, SIGSTOP,
				      SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH,
				      SIGKILL, SIGPIPE, SIGXFSZ, SIGIO };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i] == signal)
			return false;
	return true;
}

/* Fills SET with the signals that end the process, without those that its parent has ignored, as nohup does: a
 * blocked ignored signal would be pending like any other. */
static void ending_signals(sigset_t *set)
{
	struct sigaction now;

	sigemptyset(set);
	for (int s = 1; s <= SIGRTMAX; s++)
		if (ends_process(s) && sigaction(s, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(set, s);
}

static void ignore_told_by_calls(bool hold)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < ARRAY_SIZE(told_by_calls); i++)
		sigaction(told_by_calls[i], hold ? &ignore : &before_hold[i],
			  hold ? &before_hold[i] : NULL);
}

void run_hold_signals(bool hold)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t set;

	ignore_told_by_calls(hold);
	ending_signals(&set);
	/* Drop the signals that came: the transaction has answered them, and the caller still has to report. */
	while (!hold && sigtimedwait(&set, NULL, &at_once) > 0)
		;
	sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

bool run_interrupted(void)
{
	sigset_t set, pending;

	ending_signals(&set);
	if (sigpending(&pending) < 0)
		return false;
	/* sigisemptyset(3) of glibc 2.36 does not see signals above 32. */
	for (int s = 1; s <= SIGRTMAX; s++)
		if (sigismember(&set, s) > 0 && sigismember(&pending, s) > 0)
			return true;
	return false;
}

/* ---- the child ---- */

/* Closes everything but standard input and output, and the lock: also descriptors of this program's caller. */
static void close_rest(int lock)
{
	/* Linux 5.11 */
	if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		for (int fd = 3; fd < 1024; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (lock >= 0)
		fcntl(lock, F_SETFD, 0);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Drops capabilities (capabilities(7)) for programs that build an image or a menu of a tree: they need neither the
 * running kernel nor its processes. */
static void drop_capabilities(void)
{
	static const int needless[] = { CAP_SYS_MODULE, CAP_SYS_BOOT,	    CAP_SYS_RAWIO,
					CAP_SYS_TIME,	CAP_SYS_PTRACE,	    CAP_NET_ADMIN,
					CAP_SYS_PACCT,	CAP_AUDIT_CONTROL,  CAP_SYSLOG,
					CAP_WAKE_ALARM, CAP_LINUX_IMMUTABLE };

	for (size_t i = 0; i < ARRAY_SIZE(needless); i++)
		prctl(PR_CAPBSET_DROP, needless[i], 0, 0, 0);
}

/* Changes the root by descriptor, because its name may lead elsewhere now. */
static int enter(int root)
{
	drop_capabilities();
	return fchdir(root) < 0 || chroot(".") < 0 ? -1 : 0;
}

static int prepare_child(const struct run *run, int out)
{
	/* This host's /dev/null: another root may have none. */
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		return errno;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	umask(022);
	if (run->root >= 0 && enter(run->root))
		return errno;
	if (chdir("/") < 0)
		return errno;
	close_rest(run->lock);
	reset_signals();
	return 0;
}

static void child(const struct run *run, int out, int errors)
{
	static char *const environment[] = {
		(char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		(char *)"LC_ALL=C",
		(char *)"HOME=/root",
		(char *)"TERM=dumb",
		(char *)"SYSTEMD_COLORS=0",
		(char *)"SYSTEMD_PAGER=",
		NULL,
	};
	int error = prepare_child(run, out);

	if (error == 0) {
		execve(run->argv[0], (char *const *)(uintptr_t)run->argv, environment);
		error = errno;
	}
	if (write(errors, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

/* ---- the parent ---- */

struct watch {
	pid_t pid;
	int fd;
	bool ended; /* of its output */
	bool stubborn;
	uint64_t deadline, killed;
	int verdict; /* 0, -ETIME, -EINTR; -ECHILD: its exit status is not known */
	size_t n;
	char tail[RUN_OUTPUT_MAX];
};

/* Keeps the end of the output. */
static void take(struct watch *w, const char *block, size_t n)
{
	if (n >= sizeof(w->tail)) {
		block += n - sizeof(w->tail);
		n = sizeof(w->tail);
	}
	if (w->n + n > sizeof(w->tail)) {
		size_t over = w->n + n - sizeof(w->tail);

		memmove(w->tail, w->tail + over, w->n - over);
		w->n -= over;
	}
	memcpy(w->tail + w->n, block, n);
	w->n += n;
}

static void listen(struct watch *w, int wait_ms)
{
	struct pollfd p = { .fd = w->ended ? -1 : w->fd, .events = POLLIN };
	char block[4096];
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return;
	n = read(w->fd, block, sizeof(block));
	if (n > 0)
		take(w, block, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		w->ended = true;
}

static void hurry(struct watch *w)
{
	uint64_t now = clock_ms();

	if (w->killed) {
		if (now > w->killed + TERM_GRACE_MS)
			kill(-w->pid, SIGKILL);
		return;
	}
	if (!w->stubborn && run_interrupted())
		w->verdict = -EINTR;
	else if (now > w->deadline)
		w->verdict = -ETIME;
	else
		return;
	w->killed = now;
	kill(-w->pid, SIGTERM);
}

static int wait_for(struct watch *w)
{
	int status = 0;

	for (;;) {
		pid_t done = waitpid(w->pid, &status, WNOHANG);

		if (done < 0 && errno != EINTR)
			w->verdict = -errno;
		if (done == w->pid || w->verdict == -ECHILD)
			break;
		listen(w, POLL_MS);
		hurry(w);
	}
	/* Processes that the program left in its group are killed with it if it was stopped. */
	if (w->verdict)
		kill(-w->pid, SIGKILL);
	fcntl(w->fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 1024 && !w->ended; i++) {
		size_t before = w->n;

		listen(w, 0);
		if (w->n == before)
			break;
	}
	return status;
}

static int get_verdict(struct run *run, const struct watch *w, int status, int exec_error)
{
	const char *name = strrchr(run->argv[0], '/') + 1;

	run->output = arena_strndup(run->arena, w->tail, w->n);
	run->status = WIFEXITED(status) && !w->verdict ? WEXITSTATUS(status) : -1;
	if (exec_error) {
		run->status = -1;
		run->why = arena_printf(run->arena, "%s could not be run: %s", name,
					strerror(exec_error));
		return -exec_error;
	}
	if (w->verdict == -ETIME)
		run->why = arena_printf(run->arena, "%s was stopped after %u seconds", name,
					run->timeout_s);
	else if (w->verdict == -EINTR)
		run->why = arena_printf(run->arena, "%s was stopped by a signal to this program",
					name);
	else if (w->verdict)
		run->why = arena_printf(run->arena, "the exit status of %s is not known: %s", name,
					strerror(-w->verdict));
	else if (run->status < 0)
		run->why = arena_printf(run->arena, "%s was ended by signal %d", name,
					WTERMSIG(status));
	else if (run->status > 0)
		run->why = arena_printf(run->arena, "%s ended with status %d", name, run->status);
	return w->verdict ? w->verdict : run->status ? -EIO : 0;
}

int run_program(struct run *run)
{
	_cleanup_free_ struct watch *w = calloc(1, sizeof(*w));
	int out[2] = { -1, -1 }, errors[2] = { -1, -1 };
	int status, error = 0, rc = 0;

	run->status = -1;
	if (!can_run(run->argv[0])) {
		run->why = arena_printf(run->arena,
					"%s is not one of the programs that this program runs",
					run->argv[0]);
		return -EPERM;
	}
	if (!w || pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0)
		rc = -errno;
	if (rc == 0)
		w->pid = fork();
	if (rc == 0 && w->pid == 0)
		child(run, out[1], errors[1]);
	if (rc == 0 && w->pid < 0)
		rc = -errno;
	close_fd(&out[1]);
	close_fd(&errors[1]);
	if (rc) {
		run->why = arena_printf(run->arena, "%s could not be run: %s", run->argv[0],
					strerror(-rc));
	} else {
		setpgid(w->pid, w->pid);
		w->fd = out[0];
		w->stubborn = run->stubborn;
		w->deadline = clock_ms() + (uint64_t)run->timeout_s * 1000;
		status = wait_for(w);
		if (read(errors[0], &error, sizeof(error)) != sizeof(error))
			error = 0;
		rc = get_verdict(run, w, status, error);
	}
	close_fd(&out[0]);
	close_fd(&errors[0]);
	return rc;
}
