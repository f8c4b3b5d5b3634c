/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-lines.c - texts that consist of lines. The lines that probes need stay. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "parse/iomem.h"
#include "parse/unit.h"
#include "redact/keep-private.h"

void keep_nothing(struct keeping *k, struct span text)
{
	bool any = false;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n')
			putc('\n', k->out);
		any |= !isspace((unsigned char)text.p[i]);
	}
	if (any && k->left_out)
		k->left_out(k->user, text);
}

bool keep_next_line(struct keeping *k, struct span *rest, struct span *line)
{
	if (line->p && line->p + line->n < rest->p)
		putc('\n', k->out);
	return span_cut(rest, '\n', line);
}

/* ---- NAME: VALUE, NAME=VALUE ---- */

static void put_field(struct keeping *k, struct span line, const char *const *names)
{
	size_t n = 0;

	while (n < line.n && line.p[n] != ':' && line.p[n] != '=')
		n++;
	if (keep_has(names, span_trim((struct span){ line.p, n })))
		keep_free_text(k, line);
	else
		keep_nothing(k, line);
}

void keep_fields(struct keeping *k, struct span text, const char *const *names)
{
	keep_each_line(k, text, line)
		put_field(k, line, names);
}

static void put_plain_words(struct keeping *k, struct span words)
{
	struct span word;

	for (bool first = true; span_word(&words, &word); first = false) {
		if (!first)
			putc(' ', k->out);
		(keep_is_plain(word) ? keep_as_it_is : keep_instead)(k, word);
	}
}

static void put_plain_field(struct keeping *k, struct span line, const char *const *names)
{
	size_t n = span_find(line, '=');
	struct span name = span_trim((struct span){ line.p, n });

	if (n == line.n || !keep_has(names, name)) {
		keep_nothing(k, line);
		return;
	}
	fprintf(k->out, "%.*s=", SPAN_FMT(name));
	put_plain_words(k, (struct span){ line.p + n + 1, line.n - n - 1 });
}

void keep_plain_fields(struct keeping *k, struct span text, const char *const *names)
{
	keep_each_line(k, text, line)
		put_plain_field(k, line, names);
}

/* ---- text of the kernel ---- */

/* Keeps only the ranges inside the BARs of PCI functions, so that the kernel's addresses stay private. */
void keep_iomem(struct keeping *k, struct span text)
{
	struct iomem_walk walk = { 0 };
	struct iomem_claim claim;

	while (iomem_next(&text, &walk, &claim)) {
		fprintf(k->out,
			"%08" PRIx64 "-%08" PRIx64 " : %s\n  %08" PRIx64 "-%08" PRIx64 " : ",
			claim.start, claim.end, claim.bdf, claim.start, claim.end);
		keep_as_it_is(k, claim.holder);
		putc('\n', k->out);
	}
}

/* The name of a driver, as driverctl writes it. */
void keep_driver(struct keeping *k, struct span text)
{
	static const char *const drivers[] = { "vfio-pci", "pci-stub",	"nvidia",    "nouveau",
					       "none",	   "mlx4_core", "mlx5_core", NULL };
	struct span name = span_trim(text);

	if (keep_has(drivers, name))
		keep_as_it_is(k, text);
	else
		keep_instead(k, name);
}

/* "RegistryDwords: "Key=1"": in modprobe.d the driver's parameters have the prefix NVreg_. */
static void put_driver_param(struct keeping *k, struct span line)
{
	size_t colon = span_find(line, ':');
	struct span name = { line.p, colon };
	char option[64];

	snprintf(option, sizeof(option), "NVreg_%.*s", SPAN_FMT(name));
	if (colon == line.n || !keep_is_parameter(span_of(option))) {
		keep_nothing(k, line);
		return;
	}
	keep_as_it_is(k, (struct span){ line.p, colon + 1 });
	keep_live_value(k, span_of(option),
			(struct span){ line.p + colon + 1, line.n - colon - 1 });
}

void keep_driver_params(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_driver_param(k, line);
}

/* Keeps of a program only whether it contains the name of the module. */
void keep_uvm_names(struct keeping *k, struct span text)
{
	bool named = span_search(text, "nvidia_uvm") || span_search(text, "nvidia-uvm");

	keep_as_it_is(k, span_of(named ? "nvidia_uvm\n" : "\n"));
}

/* nvidia 1 0 - Live 0xffffffffc0500000: the address is not kept. */
void keep_modules(struct keeping *k, struct span text)
{
	keep_as_it_is(k, text);
}

/* "Release Build (root@node17)": the user and host of the build. */
static void put_builder(struct keeping *k, struct span builder)
{
	static const char *const who[] = { "dvs-builder", "buildd", "mockbuild", "abuild",
					   "builder",	  "nixbld", "root",	 NULL };
	size_t at = span_find(builder, '@');
	struct span user = { builder.p, at };
	struct span host = { builder.p + at + 1, builder.n - at - 1 };

	if (keep_has(who, user))
		keep_as_it_is(k, user);
	else
		keep_instead(k, user);
	putc('@', k->out);
	if (!host.n || span_is(host, "localhost"))
		keep_as_it_is(k, host);
	else
		keep_instead(k, host);
}

static void put_version_line(struct keeping *k, struct span line)
{
	size_t open = span_find(line, '('), close = span_find(line, ')');

	if (span_starts(line, "NVRM version:") && open < close && close < line.n &&
	    span_find((struct span){ line.p + open, close - open }, '@') < close - open) {
		keep_free_text(k, (struct span){ line.p, open + 1 });
		put_builder(k, (struct span){ line.p + open + 1, close - open - 1 });
		keep_free_text(k, (struct span){ line.p + close, line.n - close });
	} else if (span_starts(line, "NVRM version:") || span_starts(line, "GCC version:")) {
		keep_free_text(k, line);
	} else {
		keep_nothing(k, line);
	}
}

void keep_driver_version(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_version_line(k, line);
}

/* Keeps the lines of /dev/shm in the tables of mounts. */
static void put_mount(struct keeping *k, struct span line)
{
	struct span rest = line, device, point;

	if (span_word(&rest, &device) && span_word(&rest, &point) && span_is(point, "/dev/shm"))
		keep_free_text(k, line);
	else
		keep_nothing(k, line);
}

void keep_mounts(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_mount(k, line);
}

/* The names of containers, pods, jobs and users are private; the name of the runtime is not. */
static void put_cgroup_part(struct keeping *k, struct span part)
{
	static const char *const parts[] = {
		"-.slice",
		"system.slice",
		"user.slice",
		"machine.slice",
		"init.scope",
		"docker",
		"kubepods",
		"kubepods.slice",
		"kubepods-besteffort.slice",
		"kubepods-burstable.slice",
		"besteffort",
		"burstable",
		"libpod_parent",
		"lxc",
		"lxc.payload",
		"containerd",
		"crio",
		"slurm",
		"unified",
		"app",
		"app.slice",
		"payload",
		"supervisor",
		NULL,
	};
	static const char *const prefixes[] = { "kubepods-besteffort-",
						"kubepods-burstable-",
						"kubepods-",
						"docker-",
						"libpod-",
						"crio-",
						"cri-containerd-",
						"lxc.payload." };

	if (keep_login_unit(k, part))
		return;
	if (!part.n || keep_has(parts, part)) {
		keep_as_it_is(k, part);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (span_starts(part, prefixes[i])) {
			fputs(prefixes[i], k->out);
			break;
		}
	keep_unit_name(k, part);
}

static void put_cgroup_line(struct keeping *k, struct span line)
{
	size_t slash = span_find(line, '/');
	struct span rest = { line.p + slash, line.n - slash }, part;

	keep_free_text(k, (struct span){ line.p, slash });
	while (span_cut(&rest, '/', &part)) {
		put_cgroup_part(k, part);
		if (part.p + part.n < rest.p)
			putc('/', k->out);
	}
}

void keep_cgroup(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_cgroup_line(k, line);
}

/* Programs that start jobs, and programs from which people start others. */
static const char *const commands[] = {
	"bash",	   "condor_*", "containerd*", "crio",	   "dockerd", "flux-broker",
	"init",	   "kubelet",  "nv-*",	      "nvidia-*",  "opensm",  "orted",
	"pbs_mom", "prted",    "res",	      "sge_execd", "slurm*",  "sshd*",
	"sudo",	   "sh",       "systemd*",    "zsh",	   NULL,
};

void keep_command_name(struct keeping *k, struct span text)
{
	struct span name = span_trim(text);

	if (keep_has(commands, name))
		keep_as_it_is(k, name);
	else
		keep_instead(k, name);
	if (text.n > name.n)
		putc('\n', k->out);
}

void keep_hostname(struct keeping *k, struct span text)
{
	struct span name = span_trim(text);

	if (span_is(name, "localhost") || !name.n)
		keep_as_it_is(k, name);
	else if (redact_is_host(k->redact, name))
		redact_put_host(k->redact, k->out, name);
	else
		keep_instead(k, name);
	if (text.n > name.n)
		putc('\n', k->out);
}

/* 32 digits, and the rest of the line. */
static void put_inet6(struct keeping *k, struct span line)
{
	_cleanup_free_ char *kept = NULL;
	char address[40];
	size_t n = 0;

	for (size_t i = 0; line.n >= 32 && i < 32; i += 4)
		n += (size_t)snprintf(address + n, sizeof(address) - n, "%s%.4s", i ? ":" : "",
				      line.p + i);
	kept = n ? keep_string(k, keep_as_it_is, (struct span){ address, n }) : NULL;
	if (!kept) {
		keep_nothing(k, line);
		return;
	}
	for (const char *p = kept; *p; p++)
		if (*p != ':')
			putc(*p, k->out);
	keep_as_it_is(k, (struct span){ line.p + 32, line.n - 32 });
}

void keep_inet6(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_inet6(k, line);
}

/* ---- the network's names ---- */

/* Keeps the lines of /etc/hosts for this host's own name. */
static void put_host_line(struct keeping *k, struct span line)
{
	struct span rest = { line.p, span_find(line, '#') }, address, name;
	bool own = false;

	if (!span_word(&rest, &address)) {
		keep_nothing(k, line);
		return;
	}
	for (struct span names = rest; span_word(&names, &name);)
		own |= redact_is_host(k->redact, name) || span_is(name, "localhost");
	if (!own) {
		keep_nothing(k, line);
		return;
	}
	keep_free_text(k, address);
	while (span_word(&rest, &name)) {
		putc(' ', k->out);
		keep_hostname(k, name);
	}
}

void keep_hosts(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_host_line(k, line);
}

static void put_nsswitch_line(struct keeping *k, struct span line)
{
	struct span text = { line.p, span_find(line, '#') };

	if (span_starts(span_trim(text), "hosts:"))
		keep_free_text(k, text);
	else
		keep_nothing(k, line);
}

void keep_nsswitch(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_nsswitch_line(k, line);
}

/* ---- modules-load.d ---- */

static void put_module_name(struct keeping *k, struct span line)
{
	struct span text = span_trim(line);

	if (text.n && text.p[0] != '#' && text.p[0] != ';')
		keep_command(k, line);
	else
		keep_nothing(k, line);
}

void keep_module_names(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_module_name(k, line);
}

/* ---- units ---- */

/* Keeps the name of a unit with its suffix, which is its type. */
void keep_unit_name(struct keeping *k, struct span name)
{
	static const char *const units[] = { "condor.*",  "containerd.*", "crio.*",  "docker.*",
					     "flux.*",	  "init.*",	  "k3s*",    "kubelet.*",
					     "lsfd.*",	  "nvidia*",	  "opensm*", "openibd.*",
					     "pbs.*",	  "rke2*",	  "slurm*",  "ssh*",
					     "systemd-*", "user@*",	  NULL };
	struct span ending = { name.p + name.n, 0 };

	if (keep_has(units, name)) {
		keep_free_text(k, name);
		return;
	}
	if (unit_is_name(name)) {
		do
			ending = (struct span){ ending.p - 1, ending.n + 1 };
		while (ending.p[0] != '.');
		name.n -= ending.n;
	}
	keep_instead(k, name);
	keep_as_it_is(k, ending);
}

static void put_unit_value(struct keeping *k, struct span key, struct span value)
{
	if (!span_starts(key, "Limit") && !span_starts(key, "DefaultLimit")) {
		/* Keeps the fact that the key has a value: it decides whether the unit can be enabled. */
		if (span_trim(value).n)
			keep_unit_name(k, span_trim(value));
		return;
	}
	put_plain_words(k, value);
}

static void put_unit_line(struct keeping *k, struct span line, bool *continued)
{
	static const char *const sections[] = { "\\[Unit\\]", "\\[Service\\]", "\\[Install\\]",
						"\\[Manager\\]", NULL };
	static const char *const keys[] = { "LimitMEMLOCK",
					    "LimitNOFILE",
					    "DefaultLimitMEMLOCK",
					    "DefaultLimitNOFILE",
					    "WantedBy",
					    "RequiredBy",
					    "UpheldBy",
					    "Alias",
					    "Also",
					    NULL };
	bool was = *continued;
	struct span text = span_trim(line);
	size_t equals = span_find(text, '=');
	struct span key = span_trim((struct span){ text.p, equals });

	/* A comment between the lines neither ends the value nor belongs to it. */
	if (was && text.n && (text.p[0] == '#' || text.p[0] == ';'))
		key.n = 0;
	else
		*continued = text.n && text.p[text.n - 1] == '\\' && text.p[0] != '#' &&
			     text.p[0] != ';';
	if (!was && keep_has(sections, text)) {
		keep_as_it_is(k, text);
	} else if (!was && text.n && text.p[0] == '[') {
		fputs("[Other]", k->out);
		keep_nothing(k, line);
	} else if (!was && equals < text.n && keep_has(keys, key)) {
		fprintf(k->out, "%.*s=", SPAN_FMT(key));
		put_unit_value(k, key, (struct span){ text.p + equals + 1, text.n - equals - 1 });
	} else {
		keep_nothing(k, line);
	}
}

void keep_unit(struct keeping *k, struct span text)
{
	bool continued = false;

	keep_each_line(k, text, line)
		put_unit_line(k, line, &continued);
}

/* ---- limits.conf ---- */

static void put_limit(struct keeping *k, struct span line)
{
	static const char *const items[] = { "memlock", "nofile", NULL };
	struct span rest = { line.p, span_find(line, '#') }, who, kind, item, value, more;

	if (!span_word(&rest, &who) || !span_word(&rest, &kind) || !span_word(&rest, &item) ||
	    !span_word(&rest, &value) || span_word(&rest, &more) || !keep_has(items, item) ||
	    !(keep_is_plain(value) || span_is(value, "-1") || span_is(value, "-"))) {
		keep_nothing(k, line);
		return;
	}
	keep_who(k, who);
	fprintf(k->out, " %s %.*s ",
		span_is(kind, "soft")	? "soft"
		: span_is(kind, "hard") ? "hard"
					: "-",
		SPAN_FMT(item));
	keep_as_it_is(k, value);
}

void keep_limits(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_limit(k, line);
}

/* ---- paths ---- */

/* ld.so.conf.d, and libibverbs.d: "driver mlx5". */
static void put_path_line(struct keeping *k, struct span line)
{
	struct span text = span_trim(line), rest = line, first, second;

	if (text.n && text.p[0] == '/') {
		keep_path(k, text);
	} else if (span_word(&rest, &first) && span_is(first, "driver") &&
		   span_word(&rest, &second)) {
		fputs("driver ", k->out);
		if (second.p[0] == '/')
			keep_path(k, second);
		else
			keep_free_text(k, second);
	} else {
		keep_nothing(k, line);
	}
}

void keep_path_lines(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_path_line(k, line);
}

/* ---- boot entries in files ---- */

static bool cut_key(struct span line, struct span *key, struct span *value)
{
	size_t n = 0;

	line = span_trim(line);
	while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t')
		n++;
	*key = (struct span){ line.p, n };
	*value = span_trim((struct span){ line.p + n, line.n - n });
	return key->n && value->n;
}

/* "/initramfs-6.1.img $tuned_initrd" */
static void put_boot_paths(struct keeping *k, struct span paths)
{
	struct span word;

	for (bool first = true; span_word(&paths, &word); first = false) {
		if (!first)
			putc(' ', k->out);
		(keep_is_variable(word) ? keep_free_text : keep_boot_path)(k, word);
	}
}

static void put_bls_value(struct keeping *k, struct span key, struct span value)
{
	static const char *const paths[] = { "linux", "initrd", "efi", "uki", NULL };

	if (span_is(key, "options"))
		keep_value(k, key, value);
	else if (keep_has(paths, key))
		put_boot_paths(k, value);
	else if (span_starts(key, "grub_"))
		keep_instead(k, value);
	else
		keep_entry_name(k, value);
}

/* Keeps the separator of key and value, which differs between boot loaders. A line that is left out becomes a
 * comment, because GRUB stops at an empty line. */
static void put_bls_line(struct keeping *k, struct span line)
{
	static const char *const keys[] = { "title",	"version",    "options",  "linux",
					    "initrd",	"efi",	      "uki",	  "machine-id",
					    "sort-key", "grub_class", "grub_arg", "grub_users",
					    NULL };
	struct span key, value;

	if (!cut_key(line, &key, &value)) {
		keep_nothing(k, line);
		return;
	}
	if (!keep_has(keys, key)) {
		putc('#', k->out);
		keep_nothing(k, line);
		return;
	}
	keep_as_it_is(k, (struct span){ line.p, (size_t)(key.p - line.p) });
	keep_as_it_is(k, key);
	keep_as_it_is(k, (struct span){ key.p + key.n, (size_t)(value.p - key.p) - key.n });
	put_bls_value(k, key, value);
}

void keep_bls(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_bls_line(k, line);
}

static void put_loader_line(struct keeping *k, struct span line)
{
	struct span key, value;

	if (!cut_key(line, &key, &value) || !span_is(key, "default")) {
		keep_nothing(k, line);
		return;
	}
	fputs("default ", k->out);
	keep_entry_name(k, value);
}

void keep_loader(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_loader_line(k, line);
}

/* Four bytes, then UTF-16: bytes that are not ASCII are not needed. */
void keep_efi_variable(struct keeping *k, struct span text)
{
	_cleanup_free_ char *ascii = malloc(text.n + 1), *kept = NULL;
	size_t n = 0;

	fwrite(text.p, 1, text.n < 4 ? text.n : 4, k->out);
	for (size_t i = 4; ascii && i + 1 < text.n && text.p[i]; i += 2)
		ascii[n++] = text.p[i + 1] ? '?' : text.p[i];
	kept = ascii ? keep_string(k, keep_entry_name, (struct span){ ascii, n }) : NULL;
	for (const char *p = kept ? kept : ""; *p; p++) {
		putc(*p, k->out);
		putc('\0', k->out);
	}
	fwrite("\0", 1, 2, k->out);
}

/* ---- our own configuration ---- */

/* mount.POINT = TYPE OPTION... from=SOURCE, patterns all of them. */
static void put_mount_setting(struct keeping *k, struct span point, struct span value)
{
	struct span word;

	fputs("mount.", k->out);
	keep_path(k, point);
	fputs(" =", k->out);
	while (span_word(&value, &word)) {
		putc(' ', k->out);
		if (span_starts(word, "from=")) {
			fputs("from=", k->out);
			keep_mount_source(k, (struct span){ word.p + 5, word.n - 5 });
		} else {
			keep_mount_options(k, word);
		}
	}
}

static const char *const settings[] = { "cpus",
					"driver-flavour",
					"driver-version",
					"fail-on",
					"gpu-count",
					"gpu-ecc",
					"gpu-mig",
					"gpu-model",
					"gpu-power-limit",
					"gpu-vbios",
					"hugepages.*",
					"kernel",
					"link-errors-max",
					"link-layer",
					"memory-gib",
					"nic-count",
					"nic-firmware",
					"numa-nodes",
					"nvlinks-active",
					"nvml",
					"port-rate-gbps",
					"ports-active",
					"product",
					"profile",
					"severity",
					"strict",
					"sysctl.*",
					NULL };

static void put_setting(struct keeping *k, struct span line)
{
	static const char *const sections[] = { "\\[check]", "\\[limits]", "\\[expect]",
						"\\[rule [a-z*]*/[a-z*]*]", NULL };
	struct span text = span_trim(line), key, value;
	size_t equals = span_find(text, '=');

	key = span_trim((struct span){ text.p, equals });
	if (!text.n || text.p[0] == '#' || text.p[0] == ';') {
		keep_nothing(k, line);
		return;
	}
	if (equals == text.n) {
		(keep_has(sections, text) ? keep_free_text : keep_instead)(k, text);
		return;
	}
	value = span_trim((struct span){ text.p + equals + 1, text.n - equals - 1 });
	if (span_starts(key, "mount.")) {
		put_mount_setting(k, (struct span){ key.p + 6, key.n - 6 }, value);
		return;
	}
	(keep_has(settings, key) || span_is(key, "reason") ? keep_as_it_is : keep_instead)(k, key);
	fputs(" = ", k->out);
	(keep_has(settings, key) ? keep_free_text : keep_instead)(k, value);
}

void keep_settings(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_setting(k, line);
}
