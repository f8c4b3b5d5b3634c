/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-words.c - texts that consist of words: the kernel's arguments, assignments of a shell, modprobe.d. A word that
 * is not in the lists gets a stand-in, so that the redacted text has a word in the same place. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "parse/modname.h"
#include "parse/module.h"
#include "query/bootargs.h"
#include "redact/keep-private.h"

/* ---- words ---- */

bool keep_next_word(struct keep_words *w)
{
	struct span s = w->rest;
	size_t n = 0;
	char quote = '\0';

	/* A backslash before a newline counts as a blank. */
	while (n < s.n && (strchr(w->blanks, s.p[n]) ||
			   (w->backslash && s.p[n] == '\\' && n + 1 < s.n && s.p[n + 1] == '\n')))
		n += s.p[n] == '\\' ? 2 : 1;
	w->gap = (struct span){ s.p, n };
	s = (struct span){ s.p + n, s.n - n };
	for (n = 0; n < s.n && (quote || !strchr(w->blanks, s.p[n])); n++) {
		if (w->backslash && s.p[n] == '\\' && quote != '\'') {
			if (n + 1 < s.n && s.p[n + 1] == '\n' && !quote)
				break;
			n += n + 1 < s.n;
		} else if (quote ? s.p[n] == quote : !!strchr(w->quotes, s.p[n])) {
			quote = quote ? '\0' : s.p[n];
		}
	}
	w->raw = (struct span){ s.p, n };
	w->rest = (struct span){ s.p + n, s.n - n };
	return n > 0;
}

struct span keep_unquoted(const struct keep_words *w, char *to)
{
	size_t n = 0;
	char quote = '\0';

	for (size_t i = 0; i < w->raw.n; i++) {
		char c = w->raw.p[i];

		if (w->backslash && c == '\\' && quote != '\'' && i + 1 < w->raw.n)
			to[n++] = w->raw.p[++i];
		else if (quote ? c == quote : c && !!strchr(w->quotes, c))
			quote = quote ? '\0' : c;
		else
			to[n++] = c;
	}
	to[n] = '\0';
	return (struct span){ to, n };
}

/* ---- values ---- */

static bool is_number(struct span s)
{
	bool prefixed = s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X');
	bool decimal = true;
	size_t n = 0;

	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = (struct span){ s.p + 1, s.n - 1 };
	if (prefixed)
		s = (struct span){ s.p + 2, s.n - 2 };
	for (; n < s.n && isxdigit((unsigned char)s.p[n]); n++)
		decimal &= isdigit((unsigned char)s.p[n]) != 0;
	/* A size may have its unit. */
	if (s.n - n > 2 || (n < s.n && !strchr("kKmMgGtT%", s.p[n])))
		return false;
	/* Of other hexadecimal digits the IDs of PCI, and parts of addresses: more can be a key. */
	return n > 0 && n <= (prefixed || decimal ? 16 : 4);
}

bool keep_is_plain(struct span value)
{
	static const char *const words[] = { "y",	  "n",	     "Y",   "N",    "yes",
					     "no",	  "on",	     "off", "true", "false",
					     "auto",	  "default", "all", "none", "infinity",
					     "unlimited", NULL };
	struct span part;

	while (value.n) {
		size_t n = 0;

		while (n < value.n && !strchr(",:.;", value.p[n]))
			n++;
		part = (struct span){ value.p, n };
		value = (struct span){ value.p + n + (n < value.n), value.n - n - (n < value.n) };
		if (part.n && !is_number(part) && !keep_has(words, part))
			return false;
	}
	return true;
}

bool keep_is_option_word(struct span word)
{
	size_t n = 0;

	while (n < word.n && (isalpha((unsigned char)word.p[n]) || strchr("_-=", word.p[n])))
		n++;
	return n == word.n || keep_is_plain(word);
}

static bool is_ours(struct span module)
{
	char name[MODULE_NAME_MAX];

	module_name_copy(module, name);
	return modname_is_ours(module) || module_is_of_interest(name);
}

bool keep_is_uuid(struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isxdigit((unsigned char)s.p[i]) && s.p[i] != '-')
			return false;
	return s.n == 36;
}

static bool is_argument_name(struct span name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && !strchr("_-.", name.p[i]))
			return false;
	return name.n < 64;
}

/* GPU-8f3e...: a UUID, which gets a stand-in of its own. */
static bool is_gpu_uuid(struct span s)
{
	return span_starts(s, "GPU-") && keep_is_uuid((struct span){ s.p + 4, s.n - 4 });
}

static void put_registry_key(struct keeping *k, struct span part)
{
	static const char *const words[] = { "driver", "numa", NULL };
	size_t equals = span_find(part, '=');
	struct span name = { part.p, equals };
	struct span value = { part.p + equals + 1, part.n - equals - 1 };

	if (equals < part.n && is_argument_name(name)) {
		keep_free_text(k, name);
		putc('=', k->out);
		if (keep_is_plain(value) && keep_names_secret(name)) {
			/* It stays a number: the driver refuses anything else. */
			keep_nothing(k, value);
			putc('0', k->out);
		} else {
			(keep_is_plain(value) ? keep_as_it_is : keep_instead)(k, value);
		}
	} else {
		(keep_is_plain(part) || keep_has(words, part) || is_gpu_uuid(part)
			 ? keep_free_text
			 : keep_instead)(k, part);
	}
}

/* RMNvLinkEnable=0x0;PeerMappingOverride=1, also in quotes: the driver's keys, and numbers. */
static void put_registry(struct keeping *k, struct span value)
{
	while (value.n) {
		size_t n = 0;

		while (n < value.n && !strchr(";, '\"", value.p[n]))
			n++;
		if (n)
			put_registry_key(k, (struct span){ value.p, n });
		for (; n < value.n && strchr(";, '\"", value.p[n]); n++)
			putc(value.p[n], k->out);
		value = (struct span){ value.p + n, value.n - n };
	}
}

/* A module's parameter: the driver's own begin so, and others have words with "_" between them or are known. Without
 * text after it, it can be any text. */
bool keep_is_parameter(struct span name)
{
	static const char *const known[] = { "modeset", "fbdev",  "ids",     "debug", "config",
					     "runpm",	"atomic", "noaccel", NULL };
	bool joined = false;

	for (size_t i = 0; i < name.n; i++) {
		if (!isalpha((unsigned char)name.p[i]) && name.p[i] != '_' &&
		    !(isdigit((unsigned char)name.p[i]) &&
		      (span_starts(name, "NVreg_") || span_starts(name, "uvm_"))))
			return false;
		joined |= i && name.p[i] == '_';
	}
	return name.n < 64 && (joined || keep_has(known, name));
}

/* Values of /sys/module/NAME/parameters and of the driver's own list, where strings are quoted. Modules of the kernel
 * show "(null)", and a policy with the active one in brackets. */
void keep_live_value(struct keeping *k, struct span name, struct span text)
{
	static const char *const words[] = { "(null)", "phys", "virt", "vid", "sys", NULL };
	struct span value = span_trim(text);
	bool quoted = value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"';

	fwrite(text.p, 1, (size_t)(value.p - text.p), k->out);
	if (quoted) {
		putc('"', k->out);
		keep_assigned(k, name, (struct span){ value.p + 1, value.n - 2 });
		putc('"', k->out);
	} else if (keep_has(words, value)) {
		keep_as_it_is(k, value);
	} else {
		keep_assigned(k, name, value);
	}
	text.n -= (size_t)(value.p + value.n - text.p);
	fwrite(value.p + value.n, 1, text.n, k->out);
}

/* The driver's numbers have 32 bits (NVIDIA's nv-reg.h, NV_DEFINE_REG_ENTRY()): a longer one is a
 * serial number or a licence. */
static bool has_long_number(struct span value)
{
	for (size_t i = 0; i < value.n;) {
		bool hex = i + 1 < value.n && value.p[i] == '0' && (value.p[i + 1] | 0x20) == 'x';
		size_t n = 0, most = hex ? 2 + 8 : 10;

		while (i + n < value.n && isalnum((unsigned char)value.p[i + n]))
			n++;
		if (n > most)
			return true;
		i += n ? n : 1;
	}
	return false;
}

/* PARAMETER=VALUE of a module: of the NVIDIA driver the parts of its values, of others plain values. */
void keep_assigned(struct keeping *k, struct span name, struct span value)
{
	if (value.n && value.p[0] == '/')
		keep_path_value(k, value);
	else if (keep_names_secret(name))
		keep_instead(k, value);
	else if (span_starts(name, "NVreg_") && keep_is_plain(value) && has_long_number(value))
		keep_instead(k, value);
	else if (keep_is_plain(value))
		keep_free_text(k, value);
	else if (span_starts(name, "NVreg_"))
		put_registry(k, value);
	else
		keep_instead(k, value);
}

/* ---- arguments of the kernel ---- */

/* Documentation/admin-guide/kernel-parameters.txt, dracut.cmdline(7), systemd(1), kernel-command-line(7): arguments
 * that describe the machine and not its owner. Their values are numbers and words of the kernel. */
static const char *const arguments[] = {
	"-b",
	"[0-9]",
	"acpi*",
	"apparmor",
	"audit",
	"biosdevname",
	"boot",
	"cgroup*",
	"cpuhp.parallel",
	"clocksource",
	"console",
	"crashkernel",
	"debug",
	"earlyprintk",
	"efi",
	"enforcing",
	"fips",
	"hugepage*",
	"idle",
	"intel_idle.max_cstate",
	"*_pstate",
	"irqaffinity",
	"isolcpus",
	"kvm*",
	"lsm",
	"mem",
	"memmap",
	"mitigations",
	"net.ifnames",
	"nmi_watchdog",
	"noapic",
	"nohz*",
	"nomodeset",
	"nopti",
	"nosmt",
	"nosplash",
	"nouveau.*",
	"nowatchdog",
	"numa*",
	"overlayroot",
	"panic",
	"pcie*",
	"preempt",
	"processor.max_cstate",
	"psi",
	"quiet",
	"rcu_nocbs",
	"random.trust_*",
	"rd.live.image",
	"reboot",
	"recovery",
	"rhgb",
	"ro",
	"rw",
	"security",
	"selinux",
	"single",
	"skew_tick",
	"spec_store_bypass_disable",
	"splash",
	"swapaccount",
	"swiotlb",
	"systemd.unified_cgroup_hierarchy",
	"thunderbolt*",
	"tsc",
	"vfio*",
	"vga",
	"video",
	"vsyscall",
	NULL,
};

static bool is_kept_argument(struct span word, struct span name)
{
	struct kparam param = { .name = name, .has_value = name.n < word.n };

	if (param.has_value)
		param.value = (struct span){ name.p + name.n + 1, word.n - name.n - 1 };
	return (bootargs_is_ours(&param) || keep_has(arguments, name)) && !keep_names_secret(name);
}

/* Keeps the kind of root=, which shows whether it is an image, and whether two command lines agree. */
static void put_root(struct keeping *k, struct span value)
{
	static const char *const prefixes[] = { "live:", "UUID=", "PARTUUID=" };
	size_t n = 0;

	for (size_t i = 0; i < 3; i++)
		if (span_starts(value, prefixes[i]))
			n = strlen(prefixes[i]);
	keep_as_it_is(k, (struct span){ value.p, n });
	value = (struct span){ value.p + n, value.n - n };
	if (keep_is_uuid(value))
		keep_as_it_is(k, value);
	else
		keep_instead(k, value);
}

static void put_argument_value(struct keeping *k, struct span value)
{
	putc('=', k->out);
	(keep_is_short_number(value) ? keep_as_it_is : keep_instead)(k, value);
}

/* A number, an ID or a part of an address: "0x1f", "8G", "10de", "00". */
static bool is_argument_number(struct span part)
{
	struct span number;

	while (part.n) {
		size_t n = 0;

		while (n < part.n && !strchr("-.!$/#", part.p[n]))
			n++;
		number = (struct span){ part.p, n };
		if (n && !is_number(number) &&
		    !(n == 1 && strchr("xX", part.p[0]) == NULL &&
		      isalpha((unsigned char)part.p[0])))
			return false;
		n += n < part.n;
		part = (struct span){ part.p + n, part.n - n };
	}
	return true;
}

/* Of an argument that is known: words of letters, numbers, ranges and sizes, addresses of devices, consoles. */
static bool is_argument_part(struct span part)
{
	static const char *const others[] = { "tty[A-Z]*[0-9]", "tty[0-9]*", "hvc[0-9]",
					      "NVreg_*",	"RM*",	     "acpi_pm",
					      "ll128",		"mlx5_core", NULL };
	return is_argument_number(part) || keep_is_option_word(part) || keep_has(others, part);
}

static bool ends_argument_part(char c)
{
	return strchr(",:;= \"'\\@{}$()^+*%", c) || KEEP_IS_MARK(c);
}

static bool is_argument_value(struct span value)
{
	while (value.n) {
		size_t n = 0;

		while (n < value.n && !ends_argument_part(value.p[n]))
			n++;
		if (!is_argument_part((struct span){ value.p, n }))
			return false;
		n += n < value.n;
		value = (struct span){ value.p + n, value.n - n };
	}
	return true;
}

/* Keeps one argument. WORD is its value to the kernel, RAW the text in the file. */
void keep_argument(struct keeping *k, struct span word, struct span raw)
{
	struct span name = { word.p, span_find(word, '=') };
	struct span value = { word.p + name.n, 0 };

	if (name.n < word.n)
		value = (struct span){ word.p + name.n + 1, word.n - name.n - 1 };
	if (name.n < word.n && (span_is(name, "BOOT_IMAGE") || span_is(name, "initrd"))) {
		fprintf(k->out, "%.*s=", SPAN_FMT(name));
		keep_boot_path(k, value);
	} else if (name.n < word.n && span_is(name, "root")) {
		fputs("root=", k->out);
		put_root(k, value);
	} else if (name.n < word.n && span_is(name, "overlayroot")) {
		/* overlayroot.conf: options follow the kind, of which crypt has a password. */
		keep_as_it_is(k, (struct span){ word.p, name.n + 1 + span_find(value, ':') });
	} else if (name.n < word.n && (span_is(name, "ostree") || span_is(name, "composefs"))) {
		fprintf(k->out, "%.*s=", SPAN_FMT(name));
		keep_instead(k, value);
	} else if (is_kept_argument(word, name) && is_argument_name(name) &&
		   !is_argument_value(value)) {
		fprintf(k->out, "%.*s=", SPAN_FMT(name));
		keep_assigned(k, span_starts(name, "nvidia.") ? span_of("NVreg_") : name, value);
	} else if (is_kept_argument(word, name)) {
		keep_free_text(k, raw);
	} else if (bootargs_begins_as_ours(word) && is_argument_name(name)) {
		/* Misspelt, perhaps. */
		keep_free_text(k, name);
		if (name.n < word.n)
			put_argument_value(k, value);
	} else {
		keep_instead(k, word);
	}
}

void keep_arguments(struct keeping *k, struct span text)
{
	struct keep_words w = { .rest = text, .blanks = " \t\n\r", .quotes = "\"" };
	_cleanup_free_ char *buffer = malloc(text.n + 1);
	bool for_init = false;

	if (!buffer)
		return;
	while (keep_next_word(&w)) {
		struct span word = keep_unquoted(&w, buffer);

		keep_as_it_is(k, w.gap);
		if (for_init)
			keep_instead(k, word);
		else if (span_is(word, "--"))
			fputs("--", k->out);
		else
			keep_argument(k, word, w.raw);
		for_init |= span_is(word, "--");
	}
	keep_as_it_is(k, w.gap);
}

/* /etc/kernel/cmdline has comments. */
void keep_argument_lines(struct keeping *k, struct span text)
{
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		if (span_starts(span_trim(line), "#"))
			keep_nothing(k, line);
		else
			keep_arguments(k, line);
		if (line.p + line.n < text.p)
			putc('\n', k->out);
	}
}

/* ---- modprobe.d ---- */

static const char *const programs[] = {
	"modprobe",
	"insmod",
	"true",
	"false",
	"/bin/*true",
	"/bin/*false",
	"/usr/bin/true",
	"/usr/bin/false",
	"/sbin/modprobe",
	"/usr/sbin/modprobe",
	"/sbin/insmod",
	"/usr/sbin/insmod",
	"-i",
	"-r",
	"-q",
	"-b",
	"-a",
	"--ignore-install",
	"--ignore-remove",
	"--remove",
	"--quiet",
	"--use-blacklist",
	"--all",
	"$CMDLINE_OPTS",
	"&&",
	"||",
	";",
	"{",
	"}",
	"|",
	"&",
	":",
	"exit",
	"option",
	"char-major-*",
	"pci:v*",
	"0",
	"1",
	"off",
	"null",
	"pre:",
	"post:",
	">/dev/null",
	"2>&1",
	"2>/dev/null",
	NULL,
};

/* A word of a command: "/bin/false;" is one, too. */
static void put_command_word(struct keeping *k, struct span word)
{
	struct span bare = word;

	while (bare.n > 1 && strchr(";&", bare.p[bare.n - 1]))
		bare.n--;
	if (keep_has(programs, bare) || is_ours(bare))
		keep_free_text(k, word);
	else
		keep_instead(k, word);
}

void keep_command(struct keeping *k, struct span text)
{
	struct keep_words w = { .rest = text, .blanks = " \t\n", .quotes = "", .backslash = true };

	while (keep_next_word(&w)) {
		keep_as_it_is(k, w.gap);
		put_command_word(k, w.raw);
	}
	keep_as_it_is(k, w.gap);
}

/* Keeps one word of options: PARAMETER=VALUE or PARAMETER. */
static void put_option(struct keeping *k, struct span word)
{
	size_t equals = span_find(word, '=');
	struct span name = { word.p, equals };
	struct span value = { word.p + equals + 1, word.n - equals - 1 };
	bool named = name.n && name.n < 64, known;

	for (size_t i = 0; i < name.n; i++)
		named &= isalnum((unsigned char)name.p[i]) || strchr("_-.\"", name.p[i]);
	if (equals == word.n && keep_is_parameter(word)) {
		keep_free_text(k, word);
		return;
	}
	if (!named || equals == word.n) {
		keep_instead(k, word);
		return;
	}
	/* The log quotes the name without the text after it. */
	known = keep_is_parameter(name) || memchr(name.p, '"', name.n) ||
		memchr(name.p, '.', name.n);
	(known ? keep_free_text : keep_instead)(k, name);
	putc('=', k->out);
	if (!known && !keep_is_short_number(value)) {
		keep_instead(k, value);
	} else if (value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"') {
		putc('"', k->out);
		keep_assigned(k, name, (struct span){ value.p + 1, value.n - 2 });
		putc('"', k->out);
	} else {
		keep_assigned(k, name, value);
	}
}

void keep_options(struct keeping *k, struct span text)
{
	struct keep_words w = {
		.rest = text, .blanks = " \t\n", .quotes = "\"", .backslash = true
	};

	while (keep_next_word(&w)) {
		keep_as_it_is(k, w.gap);
		put_option(k, w.raw);
	}
	keep_as_it_is(k, w.gap);
}

/* The bytes of TEXT's first line, with those that continue it, without the last newline. */
static size_t line_length(struct span text)
{
	size_t n = 0;

	for (; n < text.n && text.p[n] != '\n'; n++)
		if (text.p[n] == '\\' && n + 1 < text.n)
			n++;
	return n < text.n ? n : text.n;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* The command of a line that modprobe ignores: the reason why it does. */
static void put_bad_command(struct keeping *k, struct span word)
{
	static const char *const commands[] = {
		"[Aa][Ll][Ii][Aa][Ss]",
		"[Bb][Ll][Aa][Cc][Kk][Ll][Ii][Ss][Tt]",
		"[Ii][Nn][Ss][Tt][Aa][Ll][Ll]",
		"[Oo][Pp][Tt][Ii][Oo][Nn][Ss]",
		"[Rr][Ee][Mm][Oo][Vv][Ee]",
		"[Ss][Oo][Ff][Tt][Dd][Ee][Pp]",
		"[Ww][Ee][Aa][Kk][Dd][Ee][Pp]",
		"include",
		"config",
		NULL,
	};

	if (span_starts(word, "#"))
		putc('#', k->out);
	else if (span_starts(word, BYTE_ORDER_MARK))
		fputs(BYTE_ORDER_MARK, k->out);
	else if (keep_has(commands, word))
		keep_free_text(k, word);
	else
		keep_instead(k, word);
}

static void put_bad_line(struct keeping *k, struct span line)
{
	struct keep_words w = { .rest = line, .blanks = " \t\n", .quotes = "", .backslash = true };

	for (bool first = true; keep_next_word(&w); first = false) {
		struct span name = { w.raw.p, span_find(w.raw, '=') };

		keep_as_it_is(k, w.gap);
		if (first)
			put_bad_command(k, w.raw);
		else if (is_ours(w.raw))
			keep_free_text(k, w.raw);
		else if (span_starts(w.raw, "NVreg_") && name.n < w.raw.n)
			put_option(k, w.raw);
		else
			keep_instead(k, w.raw);
	}
	keep_as_it_is(k, w.gap);
}

/* Leaves out all except the folding of the line, after a "#". */
static void put_comment(struct keeping *k, struct span line)
{
	putc('#', k->out);
	for (size_t i = 0; i + 1 < line.n; i++)
		if (line.p[i] == '\\' && line.p[i + 1] == '\n')
			fputs("\\\n", k->out);
	if (k->left_out && line.n > 1)
		k->left_out(k->user, line);
}

static bool takes_text(struct span command)
{
	static const char *const commands[] = { "install", "remove", "softdep", "weakdep", NULL };

	return keep_has(commands, command);
}

/* Lines of other modules are not needed, and are private. */
static void put_modprobe_line(struct keeping *k, struct span line)
{
	struct keep_words w = { .rest = line, .blanks = " \t", .quotes = "", .backslash = true };
	struct span command, name;
	bool about;

	if (!line.n || line.p[0] == '#') {
		if (line.n)
			put_comment(k, line);
		return;
	}
	keep_next_word(&w);
	command = w.raw;
	keep_next_word(&w);
	name = w.raw;
	about = is_ours(name);
	if (span_is(command, "alias")) {
		struct keep_words target = w;

		keep_next_word(&target);
		about |= is_ours(target.raw);
	}
	if (!takes_text(command) && !span_is(command, "alias") && !span_is(command, "blacklist") &&
	    !span_is(command, "options")) {
		put_bad_line(k, line);
	} else if (!about) {
		put_comment(k, line);
	} else if (span_is(command, "options")) {
		keep_free_text(k, (struct span){ line.p, (size_t)(w.rest.p - line.p) });
		keep_options(k, w.rest);
	} else {
		keep_free_text(k, (struct span){ command.p, command.n });
		keep_command(k, (struct span){ command.p + command.n,
					       (size_t)(line.p + line.n - command.p) - command.n });
	}
}

void keep_modprobe(struct keeping *k, struct span text)
{
	while (text.n) {
		size_t n = line_length(text);

		put_modprobe_line(k, (struct span){ text.p, n });
		if (n < text.n)
			putc('\n', k->out);
		n += n < text.n;
		text = (struct span){ text.p + n, text.n - n };
	}
}
