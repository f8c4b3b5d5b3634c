/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a redacted capture keeps of a file: the first byte says of which. Its lines keep their numbers, and the
 * host is not named. */
#include <ctype.h>
#include <stdlib.h>

#include "fuzz.h"
#include "redact/keep-private.h"

#define HOST "zeus-a17"

static const struct {
	const char *path;
	bool lines; /* keep their numbers */
} files[] = {
	{ "/boot/grub/grub.cfg", true },
	{ "/boot/grub/grubenv", true },
	{ "/boot/loader/entries/a.conf", true },
	{ "/boot/loader/loader.conf", true },
	{ "/etc/default/grub", true },
	{ "/etc/kernel/cmdline", true },
	{ "/etc/modprobe.d/a.conf", true },
	{ "/etc/modules-load.d/a.conf", true },
	{ "/etc/systemd/system/a.service", true },
	{ "/etc/security/limits.conf", true },
	{ "/etc/hosts", true },
	{ "/etc/nsswitch.conf", true },
	{ "/etc/ld.so.conf.d/a.conf", true },
	{ "/etc/nvnodecheck.conf", true },
	{ "/etc/fstab", true },
	{ "/proc/1/cgroup", true },
	{ "/proc/driver/nvidia/version", true },
	{ "/proc/cmdline", false },
	{ "/proc/1/comm", false },
	{ "/proc/sys/kernel/hostname", false },
	{ "/sys/firmware/efi/efivars/LoaderEntryDefault-0", false },
};

static size_t count_newlines(struct span text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

/* Words that are the host's name, in any case. */
static bool names_host(struct span text)
{
	static const char name[] = HOST;
	size_t n = sizeof(name) - 1;

	for (size_t i = 0; i + n <= text.n; i++)
		if (strncasecmp(text.p + i, name, n) == 0 &&
		    (!i || !isalnum((unsigned char)text.p[i - 1])) &&
		    (i + n == text.n || !isalnum((unsigned char)text.p[i + n])))
			return true;
	return false;
}

static void check_text(struct redact *r, size_t i, struct span text)
{
	struct keeping k = { .redact = r };
	char *kept = NULL;
	size_t n;
	struct span out;

	k.out = open_memstream(&kept, &n);
	assert(keep_text(&k, files[i].path, text));
	fclose(k.out);
	out = (struct span){ kept, n };
	assert(!files[i].lines || count_newlines(out) == count_newlines(text));
	assert(!names_host(out));
	free(kept);
}

/* Names below /proc and /sys are the kernel's, and stay. */
static bool has_kernel_path(struct span text)
{
	return memmem(text.p, text.n, "/proc/", 6) || memmem(text.p, text.n, "/sys/", 5);
}

/* A path, and the command lines and values that facts have. */
static void check_values(struct redact *r, struct span text)
{
	static void (*const keepers[])(struct keeping * k, struct span text) = {
		keep_path,	    keep_paths,	    keep_command, keep_options,
		keep_unit_name,	    keep_who,	    keep_log,	  keep_mount_source,
		keep_mount_options, keep_arguments, keep_version,
	};
	struct keeping k = { .redact = r };

	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++) {
		char *kept = keep_string(&k, keepers[i], text);

		assert(kept && (!names_host(span_of(kept)) || has_kernel_path(text)));
		free(kept);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct redact *r;
	struct span text = { (const char *)data + 1, size - 1 };

	if (!r) {
		r = redact_new();
		redact_learn_host(r, SPAN(HOST), false);
	}
	if (!size)
		return 0;
	if (data[0] < 128)
		check_text(r, data[0] % (sizeof(files) / sizeof(files[0])), text);
	else
		check_values(r, text);
	return 0;
}
