/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generator-standin.c - stands for mkinitramfs, dracut, mkinitcpio, grub-mkconfig, grub2-mkconfig, systemctl and
 * run-parts in a root that has nothing else: linked statically, called by those names. What it was given is
 * appended to /standin.log, and /standin.NAME (the name it was called by) says how it misbehaves:
 *
 *     fail       status 1, output half written
 *     silent     status 0, nothing written
 *     empty      status 0, an empty file
 *     torn       status 0, the file ends in the middle
 *     forgets    an image without modprobe.d
 *     loses      an image without its modules
 *     hang       never ends
 */
#include <dirent.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;
static char mode[32];

static bool is(const char *word)
{
	return strcmp(mode, word) == 0;
}

/* Those that it has: by system call, since a root may have no /proc. */
static unsigned long capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return ~0UL;
	return data[0].effective | (unsigned long)data[1].effective << 32;
}

static void log_call(const char *name, char **argv)
{
	FILE *log = fopen("/standin.log", "a");
	mode_t mask = umask(0);
	char folder[256] = "?";

	umask(mask);
	if (!log)
		return;
	fprintf(log, "run %s", name);
	for (int i = 1; argv[i]; i++)
		fprintf(log, " %s", argv[i]);
	fprintf(log, "\ncwd %s umask %03o group %s input %s\n", getcwd(folder, sizeof(folder)),
		mask, getpgrp() == getpid() ? "own" : "shared",
		getchar() == EOF ? "empty" : "not-empty");
	for (char **e = environ; *e; e++)
		fprintf(log, "env %s\n", *e);
	fprintf(log, "caps %lx\n", capabilities());
	for (int fd = 3; fd < 256; fd++) {
		struct stat st;

		if (fd != fileno(log) && fstat(fd, &st) == 0)
			fprintf(log, "fd %d\n", fd);
	}
	fclose(log);
}

static void read_mode(const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/standin.%s", name);
	file = fopen(path, "r");
	if (file && fscanf(file, "%31s", mode) != 1)
		mode[0] = '\0';
	if (file)
		fclose(file);
	if (is("hang"))
		for (;;)
			pause();
}

/* ---- an image ---- */

static void pad(FILE *out)
{
	while (ftell(out) % 4)
		fputc(0, out);
}

static void entry(FILE *out, const char *name, const char *body, size_t n)
{
	static unsigned int ino = 1;

	fprintf(out, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s", ino++, 0100644,
		0, 0, 1, 0, (unsigned int)n, 0, 0, 0, 0, (unsigned int)strlen(name) + 1, 0, name);
	fputc(0, out);
	pad(out);
	fwrite(body, 1, n, out);
	pad(out);
}

static void add_config(FILE *out)
{
	DIR *dir = opendir("/etc/modprobe.d");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[512], body[8192];
		FILE *file;
		size_t n;

		if (!strstr(e->d_name, ".conf") || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/etc/modprobe.d/%s", e->d_name);
		file = fopen(path, "r");
		n = file ? fread(body, 1, sizeof(body), file) : 0;
		if (file)
			fclose(file);
		entry(out, path + 1, body, n);
	}
}

static int make_image(const char *path, const char *marker)
{
	FILE *out;

	if (is("silent"))
		return 0;
	out = fopen(path, "w");
	if (!out)
		return 1;
	if (is("empty"))
		return fclose(out);
	entry(out, marker, "", 0);
	entry(out, "lib/modules/6.1.0-test/kernel/fs/ext4.ko", "", 0);
	if (!is("loses"))
		entry(out, "lib/modules/6.1.0-test/kernel/nvme-core.ko.xz", "", 0);
	if (is("torn") || is("fail")) {
		fclose(out);
		return is("fail");
	}
	if (!is("forgets"))
		add_config(out);
	entry(out, "TRAILER!!!", "", 0);
	return fclose(out) ? 1 : 0;
}

/* ---- a menu: one line for each kernel, with the words of /etc/default/grub ---- */

static int make_menu(const char *path)
{
	char words[4096] = "";
	FILE *in = fopen("/etc/default/grub", "r"), *out;

	if (in && !fgets(words, sizeof(words), in))
		words[0] = '\0';
	if (in)
		fclose(in);
	if (is("silent"))
		return 0;
	out = fopen(path, "w");
	if (!out)
		return 1;
	if (!is("empty") && !is("torn"))
		fprintf(out,
			"menuentry 'Test' {\n\tlinux /vmlinuz-6.1.0-test root=/dev/vda1 %s\n}\n",
			words);
	return fclose(out) || is("fail");
}

/* ---- in place, as grub2-mkconfig does: an entry, and then, if it gets there, grubenv ---- */

static int append(const char *path, const char *text)
{
	FILE *out = fopen(path, "a");

	return !out || fputs(text, out) < 0 || fclose(out);
}

static int edit_entries(void)
{
	int rc = append("/boot/loader/entries/a.conf", "options more\n");

	return rc || is("fail") ? 1 : append("/boot/grub2/grubenv", "kernelopts=more\n");
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];

	log_call(name, argv);
	read_mode(name);
	puts("said on standard output");
	fprintf(stderr, "said on standard error\n");
	if (strcmp(name, "mkinitramfs") == 0 && argc > 2)
		return make_image(argv[2], "scripts/functions");
	if (strcmp(name, "dracut") == 0 && argc > 4)
		return make_image(argv[4], "usr/lib/dracut/dracut-059");
	if (strcmp(name, "mkinitcpio") == 0 && argc > 4)
		return make_image(argv[4], "buildconfig");
	if (strcmp(name, "grub-mkconfig") == 0 && argc > 2)
		return make_menu(argv[2]);
	if (strcmp(name, "grub2-mkconfig") == 0 && argc > 2)
		return edit_entries() || make_menu(argv[2]);
	return is("fail");
}
