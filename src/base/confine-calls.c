/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine-calls.c - a filter of system calls (Documentation/userspace-api/seccomp_filter.rst). A
 * call that is in no list is refused: starting a program or a process, changing a file or its name,
 * a signal to another process, a network, a module, a mount. It is not fatal, so that a library
 * that tries costs its own answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/confine.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 /* no filter: not tried there */
#endif

/* Calls from this number on are newer than some supported kernels. Libraries try them and fall back on -ENOSYS, so
 * the filter returns that. */
#define FIRST_NEW_CALL 424
#define X32_CALLS 0x40000000u /* of the other ABI of x86-64: other numbers, other checks */

#define PROGRAM_MAX 512
#define CALLS_MAX 512
#define DEPENDING_MAX 10

struct filter {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short n;
	uint16_t depending[DEPENDING_MAX]; /* calls whose arguments it looks at */
	size_t depending_count;
};

/* Calls that affect no other process, whatever their arguments. */
static const uint16_t harmless[] = {
	SYS_read,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_pread64,
	SYS_lseek,
	SYS_getdents64,
	SYS_readlinkat,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_statfs,
	SYS_fstatfs,
	SYS_getcwd,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_mincore,
	SYS_brk,
	SYS_futex,
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_getrandom,
	/* Calls on descriptors that were opened before, or that the filter has allowed. */
	SYS_write,
	SYS_writev,
	SYS_readv,
	SYS_preadv,
	SYS_pwrite64,
	SYS_ftruncate,
	SYS_fadvise64,
	SYS_flock,
	SYS_close_range,
	SYS_dup,
	SYS_dup3,
	SYS_pipe2,
	SYS_ppoll,
	SYS_pselect6,
	SYS_eventfd2,
	SYS_memfd_create,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_inotify_init1,
	SYS_inotify_add_watch,
	SYS_inotify_rm_watch,
	/* Calls on sockets whose family the filter has checked. */
	SYS_connect,
	SYS_bind,
	SYS_sendto,
	SYS_sendmsg,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_shutdown,
	/* About this process. */
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getresuid,
	SYS_getresgid,
	SYS_getgroups,
	SYS_getpgid,
	SYS_getsid,
	SYS_capget,
	SYS_capset, /* takes none that it does not have */
	SYS_prctl,
	SYS_getrusage,
	SYS_times,
	SYS_uname,
	SYS_sysinfo,
	SYS_getcpu,
	SYS_sched_getaffinity,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_sched_yield,
	SYS_membarrier,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigpending,
	SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_set_tid_address,
	SYS_rseq,
	SYS_exit,
	SYS_exit_group,
#if defined(__x86_64__)
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_getdents,
	SYS_dup2,
	SYS_pipe,
	SYS_poll,
	SYS_select,
	SYS_epoll_wait,
	SYS_getpgrp,
	SYS_getrlimit,
	SYS_time,
	SYS_arch_prctl,
	SYS_pause,
#endif
};

static void emit(struct filter *f, unsigned int code, uint32_t k, size_t yes, size_t no)
{
	if (f->n < PROGRAM_MAX)
		f->code[f->n++] = (struct sock_filter){
			.code = (uint16_t)code, .jt = (uint8_t)yes, .jf = (uint8_t)no, .k = k
		};
}

static void emit_return(struct filter *f, uint32_t action)
{
	emit(f, BPF_RET | BPF_K, action, 0, 0);
}

static void emit_refusal(struct filter *f, int error)
{
	emit_return(f, SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA));
}

/* The half of an argument that holds numbers: both architectures are little-endian. */
static void emit_load(struct filter *f, unsigned int argument)
{
	emit(f, BPF_LD | BPF_W | BPF_ABS,
	     (uint32_t)(offsetof(struct seccomp_data, args) + 8 * argument), 0, 0);
}

/* The next N instructions are about CALL. */
static void begin_call(struct filter *f, uint32_t call, size_t n)
{
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, n);
	if (f->depending_count < DEPENDING_MAX)
		f->depending[f->depending_count++] = (uint16_t)call;
}

/* CALL, when none of the bits MASK is in that argument. */
static void allow_without(struct filter *f, uint32_t call, unsigned int argument, uint32_t mask)
{
	begin_call(f, call, 4);
	emit_load(f, argument);
	emit(f, BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
	emit_refusal(f, EPERM);
	emit_return(f, SECCOMP_RET_ALLOW);
}

/* CALL, when that argument is one of the N values. */
static void allow_values(struct filter *f, uint32_t call, unsigned int argument,
			 const uint32_t *values, size_t n)
{
	begin_call(f, call, n + 3);
	emit_load(f, argument);
	for (size_t i = 0; i < n; i++)
		emit(f, BPF_JMP | BPF_JEQ | BPF_K, values[i], n - i, 0);
	emit_refusal(f, EPERM);
	emit_return(f, SECCOMP_RET_ALLOW);
}

/* CALL, when the bits MASK of that argument are VALUE. */
static void allow_masked(struct filter *f, uint32_t call, unsigned int argument, uint32_t mask,
			 uint32_t value)
{
	begin_call(f, call, 5);
	emit_load(f, argument);
	emit(f, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	emit_return(f, SECCOMP_RET_ALLOW);
	emit_refusal(f, EPERM);
}

#define ALLOW_VALUES(f, call, argument, ...)                               \
	allow_values(f, call, argument, (const uint32_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* A socket of netlink with one of these protocols. Others take forged events of the kernel's devices from a process
 * with CAP_SYS_ADMIN (NETLINK_KOBJECT_UEVENT), or commands to storage. */
static void allow_netlink(struct filter *f, const uint32_t *protocols, size_t n)
{
	begin_call(f, SYS_socket, n + 5);
	emit_load(f, 0);
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, n + 1);
	emit_load(f, 2);
	for (size_t i = 0; i < n; i++)
		emit(f, BPF_JMP | BPF_JEQ | BPF_K, protocols[i], n - i, 0);
	emit_refusal(f, EPERM);
	emit_return(f, SECCOMP_RET_ALLOW);
}

#define ALLOW_NETLINK(f, ...)                               \
	allow_netlink(f, (const uint32_t[]){ __VA_ARGS__ }, \
		      sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void begin(struct filter *f)
{
	emit(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	emit_refusal(f, ENOSYS);
	emit(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	emit(f, BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
	emit_refusal(f, ENOSYS);
}

/* ---- calls that depend on their arguments ---- */

#define CREATES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))
/* rdma/rdma_user_ioctl.h: RDMA_VERBS_IOCTL, _IOWR(0x1b, 1, 24 bytes) */
#define VERBS_IOCTL 0xc0181b01u
/* open-gpu-kernel-modules, kernel-open/common/inc/nv-ioctl-numbers.h: NV_IOCTL_MAGIC is 'F', of all sizes. */
#define IOCTL_TYPE 0xff00u
#define NVIDIA_IOCTL ('F' << 8)
/* syslog(2): neither takes anything out of the kernel's log. */
#define LOG_READ_ALL 3
#define LOG_SIZE 10

static void allow_open(struct filter *f, const struct confine *how)
{
	uint32_t mask = CREATES |
			(how->asks == ASKS_RDMA || how->asks == ASKS_GPUS ? 0 : O_ACCMODE);

	allow_without(f, SYS_openat, 2, mask);
#if defined(__x86_64__)
	allow_without(f, SYS_open, 1, mask);
#endif
}

static void allow_some(struct filter *f, const struct confine *how)
{
	uint32_t own = (uint32_t)getpid();

	/* clone3() answers -ENOSYS, and the C library tries this one. */
	if (how->threads || how->asks == ASKS_GPUS)
		allow_masked(f, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
	switch (how->asks) {
	case ASKS_GPUS:
		allow_masked(f, SYS_ioctl, 1, IOCTL_TYPE, NVIDIA_IOCTL);
		break;
	case ASKS_SYSTEMD:
		ALLOW_VALUES(f, SYS_socket, 0, AF_UNIX);
		ALLOW_VALUES(f, SYS_ioctl, 1, TCGETS, FIONREAD);
		break;
	case ASKS_RDMA:
		ALLOW_NETLINK(f, NETLINK_ROUTE, NETLINK_RDMA);
		ALLOW_VALUES(f, SYS_ioctl, 1, TCGETS, FIONREAD, SIOCGIFNAME, VERBS_IOCTL);
		break;
	case ASKS_NOBODY:
		ALLOW_NETLINK(f, NETLINK_ROUTE);
		ALLOW_VALUES(f, SYS_ioctl, 1, TCGETS, FIONREAD, SIOCETHTOOL);
		break;
	}
	ALLOW_VALUES(f, SYS_fcntl, 1, F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL,
		     F_GETLK, F_OFD_GETLK, F_ADD_SEALS, F_GET_SEALS);
	ALLOW_VALUES(f, SYS_prlimit64, 0, 0, own);
	ALLOW_VALUES(f, SYS_syslog, 0, LOG_READ_ALL, LOG_SIZE);
	/* abort() */
	ALLOW_VALUES(f, SYS_tgkill, 0, own);
}

/* ---- the fate of a call ---- */

/* In the order in which emit_fates() writes them. */
enum fate { REFUSED, UNKNOWN_CALL, ALLOWED, DEPENDS };

/* Calls from FIRST on, up to the next range. */
struct range {
	uint16_t first;
	enum fate fate;
};

#define HARMLESS (ARRAY_SIZE(harmless))
#define RANGES_MAX (2 * (HARMLESS + 1 + DEPENDING_MAX) + 2)
/* With more ranges, the jump from the first one to the fate of the last one would be too long. */
#define RANGES_FAR (UINT8_MAX + 2 - DEPENDS)

static size_t find_ranges(struct range ranges[RANGES_MAX], const struct filter *depending,
			  bool openat2)
{
	enum fate fates[CALLS_MAX + 1] = { REFUSED };
	size_t n = 0;

	for (size_t call = FIRST_NEW_CALL; call <= CALLS_MAX; call++)
		fates[call] = UNKNOWN_CALL;
	for (size_t i = 0; i < HARMLESS; i++)
		fates[harmless[i] % CALLS_MAX] = ALLOWED;
	if (openat2)
		fates[SYS_openat2] = ALLOWED;
	for (size_t i = 0; i < depending->depending_count; i++)
		fates[depending->depending[i] % CALLS_MAX] = DEPENDS;
	for (size_t call = 0; call <= CALLS_MAX; call++)
		if (call == 0 || fates[call] != fates[call - 1])
			ranges[n++] = (struct range){ (uint16_t)call, fates[call] };
	return n;
}

/* When the filter is installed, the kernel runs it for each call (seccomp_cache_prepare() in kernel/seccomp.c, since
 * 5.11), and translates each instruction. A binary search takes a tenth of the time of a list. N is at least two. The
 * fate of a range is FATES instructions after the start of the filter. */
static void emit_search(struct filter *f, const struct range *ranges, size_t n, size_t fates)
{
	size_t middle = n / 2, at = f->n;

	emit(f, BPF_JMP | BPF_JGE | BPF_K, ranges[middle].first, 0, 0);
	if (middle > 1)
		emit_search(f, ranges, middle, fates);
	else
		f->code[at].jf = (uint8_t)(fates + ranges[0].fate - at - 1);
	if (n - middle > 1) {
		f->code[at].jt = (uint8_t)(f->n - at - 1);
		emit_search(f, ranges + middle, n - middle, fates);
	} else {
		f->code[at].jt = (uint8_t)(fates + ranges[middle].fate - at - 1);
	}
}

/* By enum fate; last come the calls that depend on their arguments. */
static void emit_fates(struct filter *f, const struct filter *depending)
{
	emit_refusal(f, EPERM);
	emit_refusal(f, ENOSYS);
	emit_return(f, SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < depending->n; i++)
		emit(f, depending->code[i].code, depending->code[i].k, depending->code[i].jt,
		     depending->code[i].jf);
	emit_refusal(f, EPERM);
}

void confine_calls(const struct confine *how, bool openat2)
{
	struct filter f = { .n = 0 }, depending = { .n = 0 };
	struct sock_fprog program = { .filter = f.code };
	struct range ranges[RANGES_MAX];
	size_t n;

	if (!ARCHITECTURE)
		return;
	allow_open(&depending, how);
	allow_some(&depending, how);
	n = find_ranges(ranges, &depending, openat2);
	begin(&f);
	emit_search(&f, ranges, n, f.n + n - 1);
	emit_fates(&f, &depending);
	if (n > RANGES_FAR || f.n == PROGRAM_MAX || depending.n == PROGRAM_MAX)
		_exit(EXIT_FAILURE);
	program.len = f.n;
	/* The flag, since 4.17, leaves the processor as fast as it was; that is the rule since 5.16. */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		    &program) == 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return;
	/* EINVAL and ENOSYS: a kernel without filters. After any other error the child must not continue without a
	 * filter. */
	if (errno != EINVAL && errno != ENOSYS)
		_exit(EXIT_FAILURE);
}
