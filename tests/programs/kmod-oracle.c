// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod-oracle.c - what libkmod makes of a configuration, as one JSON object a line:
 *
 *   kmod-oracle MODULE-FOLDER CMDLINE-FILE CONFIG-FOLDER... -- MODULE...
 *
 * libkmod reads /proc/cmdline of the host that it runs on whatever it is asked about, so this
 * program stands in for open() and hands it CMDLINE-FILE instead.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *cmdline_file;

static int open_instead(const char *path, int flags)
{
	static int (*real_open)(const char *, int, ...);

	if (!real_open)
		real_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	if (cmdline_file && strcmp(path, "/proc/cmdline") == 0)
		path = cmdline_file;
	return real_open(path, flags);
}

int open(const char *path, int flags, ...)
{
	return open_instead(path, flags);
}

int open64(const char *path, int flags, ...)
{
	return open_instead(path, flags);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open_instead(path, flags);
}

int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
	return open_instead(path, flags);
}

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		/* Latin-1: the test makes bytes of it again. */
		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_list(const char *kind, struct kmod_config_iter *iter)
{
	while (kmod_config_iter_next(iter)) {
		const char *value = kmod_config_iter_get_value(iter);

		printf("{\"kind\":\"%s\",\"name\":", kind);
		print_string(kmod_config_iter_get_key(iter));
		if (value) {
			printf(",\"text\":");
			print_string(value);
		}
		puts("}");
	}
	kmod_config_iter_free_iter(iter);
}

static void print_joined(struct kmod_ctx *ctx, const char *name)
{
	struct kmod_module *module;
	const char *options;

	if (kmod_module_new_from_name(ctx, name, &module) < 0)
		return;
	options = kmod_module_get_options(module);
	printf("{\"kind\":\"joined\",\"name\":");
	print_string(name);
	if (options) {
		printf(",\"text\":");
		print_string(options);
	}
	puts("}");
	kmod_module_unref(module);
}

static void ignore_log(void *data, int priority, const char *file, int line, const char *fn,
		       const char *format, va_list args)
{
	(void)data, (void)priority, (void)file, (void)line, (void)fn, (void)format, (void)args;
}

int main(int argc, char **argv)
{
	const char **folders = calloc((size_t)argc + 1, sizeof(*folders));
	struct kmod_ctx *ctx;
	int i, n = 0;

	if (argc < 4 || !folders)
		return 2;
	cmdline_file = argv[2];
	for (i = 3; i < argc && strcmp(argv[i], "--") != 0; i++)
		folders[n++] = argv[i];
	ctx = kmod_new(argv[1], folders);
	if (!ctx)
		return 1;
	kmod_set_log_fn(ctx, ignore_log, NULL);
	print_list("blacklist", kmod_config_get_blacklists(ctx));
	print_list("install", kmod_config_get_install_commands(ctx));
	print_list("remove", kmod_config_get_remove_commands(ctx));
	print_list("alias", kmod_config_get_aliases(ctx));
	print_list("options", kmod_config_get_options(ctx));
	print_list("softdep", kmod_config_get_softdeps(ctx));
	for (i++; i < argc; i++)
		print_joined(ctx, argv[i]);
	kmod_unref(ctx);
	free(folders);
	return 0;
}
