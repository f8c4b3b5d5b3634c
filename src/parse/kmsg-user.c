/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-user.c - messages of the kernel that begin with a name that a user chose.
 *
 * Processes: found by reading all calls of printk() in arch/x86, arch/arm64, kernel, mm, fs, net, block, security and
 * drivers/char of Linux 6.12.117 whose format begins with %s or %pD. Left out are those of root, of debugging kernels
 * (lockdep) and of hardware that fails. A message that begins with a word of the kernel's own, such as "traps: ", is no
 * driver's.
 *
 * Network interfaces: see kmsg-interface.c. */
#include <string.h>

#include "base/array.h"
#include "parse/kmsg-interface.h"
#include "parse/kmsg-text.h"
#include "parse/kmsg.h"

/* What comes after the name; # is a number. */
static const char *const after_name[] = {
	"[#]: ", /* arch/x86/mm/fault.c, show_signal_msg(); arch/arm64/kernel/traps.c, arm64_show_signal() */
	"[#] ", /* arch/x86/kernel/traps.c, show_signal(), after "traps: "; signal.c, signal_fault() */
	" invoked oom-killer: ",			 /* mm/oom_kill.c, dump_header() */
	": page allocation failure: ",			 /* mm/page_alloc.c, warn_alloc() */
	": vmalloc error: ",				 /* mm/vmalloc.c */
	": attempt to access beyond end of device",	 /* block/blk-core.c, bio_check_eod() */
	": calling unsupported SCSI_IOCTL_SEND_COMMAND", /* block/bsg.c */
	"/#: reached RLIMIT_SIGPENDING", /* kernel/signal.c, print_dropped_signal() */
	" calls setitimer() with new_value NULL pointer", /* kernel/time/itimer.c */
	" (#): attempted to duplicate a private mapping", /* mm/mremap.c */
	" (#): Using mlock ulimits for SHM_HUGETLB",	  /* fs/hugetlbfs/inode.c */
	" (#): Using fanotify permission checks",	  /* fs/notify/fanotify/fanotify_user.c */
	" (#): /proc/#/oom_adj is deprecated",		  /* fs/proc/base.c */
	" (#): drop_caches: ",				  /* fs/drop_caches.c */
	"(#): Attempt to set a LOCK_MAND lock",		  /* fs/locks.c */
	" (pid #) is setting ",				  /* fs/crypto/policy.c */
	" uses obsolete (PF_INET,SOCK_PACKET)",		  /* net/socket.c */
	" (#) used obsolete PPPIOCDETACH ioctl",	  /* drivers/net/ppp/ppp_generic.c */
};

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Returns the text after the last TEXT in S; empty: S does not have it. */
static struct span behind_last(struct span s, const char *text)
{
	struct span rest = { s.p + s.n, 0 };
	const char *at;

	while ((at = span_search(s, text)) != NULL)
		rest = s = from(s, (size_t)(at - s.p) + strlen(text));
	return rest;
}

/* Returns true if the rest of a message is only the name of the interface and the fields of a packet without addresses.
 * The name may be empty, and the packet's header cut off. A user's prefix may have " OUT=" too, so REST begins after
 * the last one. */
static bool is_without_addresses(struct span rest)
{
	static const char *const words[] = { "PHYSIN=", "PHYSOUT=", "MAC=", "TUNNEL=",
					     "TRUNCATED" };
	struct span word;

	rest = from(rest, span_find(rest, ' '));
	while (span_word(&rest, &word)) {
		size_t i = 0;

		while (i < ARRAY_SIZE(words) && !span_starts(word, words[i]))
			i++;
		if (i == ARRAY_SIZE(words))
			return false;
	}
	return true;
}

/* net/netfilter/nf_log_syslog.c, nf_log_dump_packet_common(), dump_mac_header(), dump_ipv4_packet(),
 * net/bridge/netfilter/ebt_log.c: the prefix of a LOG rule, of up to 127 bytes, comes first. With
 * net.netfilter.nf_log_all_netns=1 any user has such rules. The driver's messages have the name of a process in them: the texts
 * here are longer than such a name, or end the message. */
static bool is_of_packet(struct span message)
{
	static const char *const next[] = { " ARP HTYPE=", " MACSRC=", " MAC source = " };
	const char *at = span_search(message, "IN=");
	struct span rest;

	at = at ? span_search(from(message, (size_t)(at - message.p)), " OUT=") : NULL;
	if (!at)
		return false;
	rest = from(message, (size_t)(at + strlen(" OUT=") - message.p));
	at = span_search(rest, " SRC=");
	if (at && span_search(from(rest, (size_t)(at - rest.p)), " DST="))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(next); i++)
		if (span_search(rest, next[i]))
			return true;
	return is_without_addresses(behind_last(message, " OUT="));
}

bool kmsg_is_of_user(struct span message)
{
	struct span rest = message;

	if (kmsg_is_of_interface(message) || is_of_packet(message))
		return true;
	if (span_starts(rest, "traps: "))
		rest = from(rest, sizeof("traps: ") - 1);
	for (size_t i = 0; i <= KMSG_NAME_MAX && rest.n; i++) {
		for (size_t k = 0; strchr("[(/: ", rest.p[0]) && k < ARRAY_SIZE(after_name); k++)
			if (kmsg_follows(rest, after_name[k]))
				return true;
		rest = from(rest, kmsg_byte_size(rest));
	}
	/* kernel/signal.c, print_fatal_signal(): the file's name, of up to 255 bytes, comes before that of the process. The
	 * last byte is asked first, because this is done for each message. */
	return message.n && message.p[message.n - 1] == '.' &&
	       span_search(message, ": potentially unexpected fatal signal ") != NULL;
}
