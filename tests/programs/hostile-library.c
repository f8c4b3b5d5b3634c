/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile-library.c - a library that, when the program opens it, tries what an attacker would who got code to run
 * in the process that looks, and says on descriptor SAID (say-library.c) how each try ended. $SAY is a descriptor of the caller. $AT is a file of the caller's, $SOCKET
 * a listening Unix socket, $VICTIM a process. Without a filter of system calls it tries nothing: it would succeed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define SAID 200

static void say(const char *what, long result)
{
	dprintf(SAID, "%s %s\n", what, result >= 0 ? "done" : strerrorname_np(errno));
}

static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

/* openat2 hides its flags from a filter. */
static long openat2_for(const char *path, unsigned long long flags)
{
	unsigned long long how[3] = { flags, flags & O_CREAT ? 0600 : 0, 0 };

	return syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how));
}

static long capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	syscall(SYS_capget, &header, data);
	dprintf(SAID, "capabilities %llx\n",
		(unsigned long long)data[1].permitted << 32 | data[0].permitted);
	data[0].permitted = data[0].effective = data[1].permitted = data[1].effective = ~0u;
	return syscall(SYS_capset, &header, data);
}

__attribute__((constructor)) static void attack(void)
{
	const char *at = getenv("AT"), *path = getenv("SOCKET");
	pid_t victim = (pid_t)atoi(getenv("VICTIM"));
	char *const arguments[] = { (char[]){ "/bin/touch" }, (char[]){ "/executed" }, NULL };
	struct rlimit limit = { 1, 1 };
	char fresh[4096];
	int held = open(at, O_RDONLY);

	if (prctl(PR_GET_SECCOMP) != 2) {
		say("unconfined", 0);
		return;
	}
	snprintf(fresh, sizeof(fresh), "%s.new", at);
	say("execve", execve(arguments[0], arguments, arguments + 2));
	say("execveat", syscall(SYS_execveat, AT_FDCWD, arguments[0], arguments, arguments + 2, 0));
	say("fork", fork());
	say("clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	say("read", open(at, O_RDONLY));
	say("open-write", open(at, O_WRONLY));
	say("open-both", open(at, O_RDWR));
	say("open-append", open(at, O_WRONLY | O_APPEND));
	say("open-truncate", open(at, O_RDONLY | O_TRUNC));
	say("open-create", open(fresh, O_RDONLY | O_CREAT, 0600));
	say("open-unnamed", open("/tmp", O_RDWR | O_TMPFILE, 0600));
	say("openat2-write", openat2_for(at, O_WRONLY));
	say("openat2-create", openat2_for(fresh, O_WRONLY | O_CREAT));
	say("openat2-truncate", openat2_for(at, O_RDONLY | O_TRUNC));
	say("unlink", unlink(at));
	say("rename", rename(at, fresh));
	say("link", link(at, fresh));
	say("symlink", symlink(at, fresh));
	say("mkdir", mkdir(fresh, 0700));
	say("mknod", mknod(fresh, S_IFIFO | 0600, 0));
	say("truncate", truncate(at, 0));
	say("chmod", chmod(at, 0777));
	say("fchmod", fchmod(held, 0777));
	say("chown", chown(at, 1, 1));
	say("utimes", utimensat(AT_FDCWD, at, NULL, 0));
	say("setxattr", setxattr(at, "user.x", "x", 1, 0));
	say("flags", ioctl(held, _IOW('f', 2, long), &(long){ 0x10 })); /* FS_IOC_SETFLAGS */
	say("map-write", mmap(NULL, 1, PROT_WRITE, MAP_SHARED, held, 0) == MAP_FAILED ? -1 : 0);
	say("mount", mount("none", "/mnt", "tmpfs", 0, NULL));
	say("unshare", unshare(CLONE_NEWNS | CLONE_NEWUSER));
	say("setns", setns(held, 0));
	say("chroot", chroot("/"));
	say("kill", kill(victim, SIGUSR1));
	say("tgkill", syscall(SYS_tgkill, victim, victim, SIGUSR1));
	say("pidfd", syscall(SYS_pidfd_open, victim, 0));
	say("own", fcntl(held, F_SETOWN, victim));
	say("ptrace", ptrace(PTRACE_ATTACH, victim, 0, 0));
	say("peek", syscall(SYS_process_vm_readv, victim, NULL, 0, NULL, 0, 0));
	say("limits", syscall(SYS_prlimit64, victim, RLIMIT_CORE, &limit, NULL));
	say("priority", setpriority(PRIO_PROCESS, (id_t)victim, 1));
	say("inet", socket(AF_INET, SOCK_STREAM, 0));
	say("inet6", socket(AF_INET6, SOCK_DGRAM, 0));
	say("packet", socket(AF_PACKET, SOCK_RAW, 0));
	say("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	say("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	say("netlink-rdma", socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA));
	say("uevent", socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT));
	say("generic", socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC));
	say("iscsi", socket(AF_NETLINK, SOCK_DGRAM, NETLINK_ISCSI));
	say("scsi", socket(AF_NETLINK, SOCK_DGRAM, NETLINK_SCSITRANSPORT));
	say("datagram", socket(AF_UNIX, SOCK_DGRAM, 0));
	say("inherited", fcntl(atoi(getenv("SAY")), F_GETFD));
	say("connect", connect_to(path));
	say("module", syscall(SYS_finit_module, held, "", 0));
	say("bpf", syscall(SYS_bpf, 0, NULL, 0));
	say("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	say("uring", syscall(SYS_io_uring_setup, 1, NULL));
	say("keys", syscall(SYS_add_key, "user", "x", "x", 1, -2));
	say("hostname", sethostname("x", 1));
	say("clock", clock_settime(CLOCK_REALTIME, &(struct timespec){ 0 }));
	say("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
	say("log", syscall(SYS_syslog, 5, NULL, 0));
	say("setuid", setuid(0));
	say("gain", capabilities());
	say("outside", open(getenv("OUTSIDE"), O_RDONLY));
	say("list-outside", open("/", O_RDONLY | O_DIRECTORY));
	say("end", 0);
}
