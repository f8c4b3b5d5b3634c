/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-path.c - paths. Names by the kernel and the system stay. Names that people chose, in their homes and beside the
 * system, get a stand-in unless a probe looks for that very name. */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "redact/keep-private.h"

enum place {
	PLACE_ROOT,
	PLACE_KERNEL, /* its own words, and text in the form of an address */
	PLACE_SYSTEM, /* the distribution's and the administrator's: files named for a host, too */
	PLACE_PEOPLE, /* anybody's */
};

struct walk {
	enum place place;
	bool usr, run, var, local; /* the component above was that */
	bool boot, url; /* a boot loader reads it; below "https:", where any name is possible */
};

static const char *const kernel_tops[] = { "proc", "sys", NULL };
static const char *const system_tops[] = { "bin",    "boot", "dev",  "efi", "etc", "lib*",
					   "ostree", "run",  "sbin", "usr", "var", NULL };

#define RELEASE "*([.0-9])" /* of a library, with FNM_EXTMATCH */

/* Names below homes and beside the system that a probe looks for, or that reveal nothing. A pattern has no place for
 * free text: anybody can name a file libnccl-PROJECT.so. */
static const char *const known[] = {
	".",
	"..",
	"~",
	".docker",
	".dockerenv",
	".nccl.conf",
	".nvshmem.conf",
	".venv",
	"VERSION",
	"aarch64-linux?(-gnu)",
	"amazon",
	"applications",
	"bin",
	"compat",
	"config.json",
	"cuda",
	"dist-packages",
	"doca",
	"efa_installed_packages",
	"etc",
	"games",
	"home",
	"ibstat",
	"nvcc",
	"nvlsm",
	"include",
	"lib",
	"lib32",
	"lib@(bnxt_re|cxgb4|efa|erdma|hfi1verbs|hns|ipathverbs|irdma|mana|mlx4|mlx5|mthca|ocrdma|qedr|rxe|siw|"
	"vmw_pvrdma)-rdmav+([0-9]).so",
	"lib64",
	"libcudart.so" RELEASE,
	"libdoca_common.so" RELEASE,
	"libefa.so" RELEASE,
	"libfabric.so" RELEASE,
	"libgdrapi.so" RELEASE,
	"libibverbs",
	"libibverbs.so" RELEASE,
	"libmlx5.so" RELEASE,
	"libnccl?(-net|-tuner|-profiler|-env)?(-aws)?(-ofi|-spcx|-sharp)?(_static).so" RELEASE,
	"libnvidia-container.so" RELEASE,
	"libnvidia-ml.so" RELEASE,
	"libnvshmem?(_host|_device).so" RELEASE,
	"librdmacm.so" RELEASE,
	"libuc[mpst]?(_cma|_cuda|_cuda_gdrcopy|_efa|_fuse|_gdr_copy|_ib|_ib_efa|_ib_mlx5|_knem|_rdmacm|_rocm|"
	"_rocm_gdr|_signal|_xpmem|_ze).so" RELEASE,
	"libucx_cu+([0-9])-+([0-9.]).dist-info",
	"local",
	"man",
	"media",
	"mellanox",
	"mnt",
	"nccl",
	"nccl.conf",
	"non_abi",
	"nvidia",
	"nvidia_@(cublas|cuda_nvrtc|cuda_runtime|cudnn|nccl|nvshmem)_cu+([0-9])?(-+([0-9.])).dist-info",
	"nvshmem",
	"nvshmem.conf",
	"nvshmem_bootstrap_@(mpi|pmi|pmi2|pmix|shmem|uid).so" RELEASE,
	"nvshmem_transport_@(efa|ibdevx|ibgda|ibrc|libfabric|ucx).so" RELEASE,
	"nvshmem_version.h",
	"ofi-nccl",
	"opt",
	"python3",
	"python3.+([0-9])?(t)",
	"root",
	"sbin",
	"share",
	"site-packages",
	"src",
	"srv",
	"stubs",
	"targets",
	"tmp",
	"toolkit",
	"ucx",
	"venv",
	"version.json",
	"x86_64-linux?(-gnu)",
	NULL,
};

/* Names below /run: of probes, and of programs that most nodes have. */
static const char *const runs[] = {
	".containerenv",
	"cdi",
	"containerd",
	"crio",
	"dbus",
	"depmod.d",
	"dnf",
	"docker",
	"docker.sock",
	"host",
	"initramfs",
	"k3s",
	"kernel",
	"lock",
	"log",
	"media",
	"modprobe.d",
	"modules-load.d",
	"mount",
	"munge",
	"netns",
	"nvidia",
	"nvidia-fabricmanager",
	"nvidia-imex",
	"nvidia-persistenced",
	"nvidia-topologyd",
	"nvnodecheck",
	"opengl-driver",
	"ostree-booted",
	"podman",
	"reboot-needed",
	"reboot-required",
	"secrets",
	"slurm",
	"slurmd",
	"sysctl.d",
	"systemd",
	"udev",
	"user",
	"zypp.pid",
	NULL,
};

bool keep_has(const char *const *list, struct span word)
{
	char text[256];

	/* A NUL would end the comparison, and hide the text after it. */
	if (word.n >= sizeof(text) || span_find(word, '\0') < word.n)
		return false;
	snprintf(text, sizeof(text), "%.*s", SPAN_FMT(word));
	for (; *list; list++)
		if (fnmatch(*list, text, FNM_EXTMATCH) == 0)
			return true;
	return false;
}

/* "nccl_2.21.5-1+cuda12.4_x86_64", "deep_ep-1.2.1+9af0e0d.dist-info", "cuda-13.1", "libcuda.so.580.82.07": a product and
 * its release. Any other word can be a person's or a project's. */
static bool is_release(struct span component)
{
	static const char *const products[] = { "nccl",	   "deep_ep", "deepep",	   "gdrcopy",
						"nvshmem", "cuda",    "libcuda.so" };
	static const char *const words[] = { "aarch64", "cpp",	    "cuda",	  "cuda[0-9]*",
					     "dist",	"egg",	    "archive",	  "info",
					     "linux",	"rc[0-9]*", "sbsa",	  "src",
					     "txz",	"x86",	    "g[0-9a-f]*", "post[0-9]*",
					     NULL };
	struct span rest = component, word;

	for (size_t i = 0; i < ARRAY_SIZE(products); i++)
		if (span_starts(component, products[i])) {
			rest.p += strlen(products[i]);
			rest.n -= strlen(products[i]);
			break;
		}
	if (rest.n == component.n)
		return false;
	while (rest.n) {
		size_t n = 0, hex = 0;

		while (n < rest.n && !strchr("-_.+", rest.p[n]))
			hex += isxdigit((unsigned char)rest.p[n++]) != 0;
		word = (struct span){ rest.p, n };
		if (n && !keep_has(words, word) && (hex < n || isalpha((unsigned char)*word.p)) &&
		    !(hex == n && n >= 7))
			return false;
		n += n < rest.n;
		rest = (struct span){ rest.p + n, rest.n - n };
	}
	return true;
}

static bool is_scheme(struct span component)
{
	static const char *const schemes[] = { "http:", "https:", "tftp:", "ftp:",
					       "nfs:",	"file:",  NULL };

	return keep_has(schemes, component);
}

/* Decides which names below COMPONENT can be kept. */
static void step(struct walk *w, struct span component)
{
	static const char *const own[] = { "lib*", "bin", "sbin", "nvidia", "etc", NULL };
	static const char *const vars[] = { "cache", "crash", "lib",  "lock",  "log",
					    "opt",   "run",   "snap", "spool", NULL };
	bool was_usr = w->usr, was_run = w->run, was_var = w->var, was_local = w->local;

	w->url |= (w->boot && is_scheme(component)) ||
		  (component.n > 1 && component.p[component.n - 1] == ':');
	w->boot |= w->place == PLACE_ROOT &&
		   (span_is(component, "boot") || span_is(component, "efi"));
	if (w->place == PLACE_ROOT)
		w->place = keep_has(kernel_tops, component)   ? PLACE_KERNEL
			   : keep_has(system_tops, component) ? PLACE_SYSTEM
							      : PLACE_PEOPLE;
	else if ((was_usr && (span_is(component, "local") || span_is(component, "home"))) ||
		 (was_run && (span_is(component, "media") || span_is(component, "user") ||
			      !keep_has(runs, component))) ||
		 (was_var && !keep_has(vars, component)))
		w->place = PLACE_PEOPLE;
	else if (was_local && keep_has(own, component))
		w->place = PLACE_SYSTEM;
	w->local = was_usr && span_is(component, "local");
	w->usr = span_is(component, "usr");
	w->run = span_is(component, "run");
	w->var = span_is(component, "var");
}

/* Of a file: no user, no password, no query. An "@" begins the name of a subvolume. */
static bool is_plain_name(struct span name)
{
	for (size_t i = name.n && name.p[0] == '@'; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && !strchr("._+~-\\", name.p[i]) &&
		    !KEEP_IS_MARK(name.p[i]))
			return false;
	return true;
}

/* A path for a boot loader: below a URL names of kernels and images stay. */
static void put_boot_component(struct keeping *k, const struct walk *w, struct span component)
{
	static const char *const files[] = { "vmlinuz*", "vmlinux*", "initrd*", "initramfs*",
					     NULL };

	if (is_scheme(component) ||
	    (is_plain_name(component) && (!w->url || keep_has(files, component))))
		redact_put(k->redact, k->out, component, REDACT_NAMES_IN_ORDER);
	else
		keep_instead(k, component);
}

/* "user:password@host": of a URL in the middle of a path. */
static bool names_user(struct span component)
{
	size_t at = span_find(component, '@');

	return at < component.n && span_find(component, ':') < at;
}

/* Words after a blank are kept as arguments of a program. */
static void put_component(struct keeping *k, const struct walk *w, struct span component)
{
	bool top = w->place == PLACE_ROOT;
	size_t blank = span_find(component, ' ');

	if (names_user(component) || (w->url && !w->boot))
		keep_instead(k, component);
	else if (w->place != PLACE_KERNEL && blank && blank < component.n) {
		put_component(k, w, (struct span){ component.p, blank });
		putc(' ', k->out);
		keep_instead(k, (struct span){ component.p + blank + 1, component.n - blank - 1 });
	} else if (top && (keep_has(kernel_tops, component) || keep_has(system_tops, component)))
		keep_as_it_is(k, component);
	else if (w->place == PLACE_KERNEL)
		keep_as_it_is(k, component);
	else if (w->boot && w->place == PLACE_SYSTEM)
		put_boot_component(k, w, component);
	else if (w->run && w->place == PLACE_SYSTEM && !keep_has(runs, component))
		keep_instead(k, component);
	else if (w->place == PLACE_SYSTEM || keep_has(known, component) || is_release(component))
		redact_put(k->redact, k->out, component, REDACT_NAMES_IN_ORDER);
	else
		keep_instead(k, component);
}

static void put_components(struct keeping *k, struct walk *w, struct span path)
{
	struct span component;

	while (span_cut(&path, '/', &component)) {
		if (component.n) {
			put_component(k, w, component);
			step(w, component);
		}
		if (component.p + component.n < path.p)
			putc('/', k->out);
	}
}

static void walk_to(struct walk *w, const char *path)
{
	struct span rest = span_of(path), component;

	while (span_cut(&rest, '/', &component))
		if (component.n)
			step(w, component);
}

/* "variables in /etc/nccl.conf" is a question, and so is the name of an interface. A path without a beginning is
 * of modules, below a folder of the system's. */
void keep_path(struct keeping *k, struct span path)
{
	struct walk w = { PLACE_ROOT };
	size_t slash = span_find(path, '/'), tilde = span_find(path, '~');
	size_t begin = slash < tilde ? slash : tilde;

	if (begin && begin < path.n && path.p[begin - 1] != ' ')
		begin = 0;
	if (begin < path.n && path.p[begin] == '~')
		w.place = PLACE_PEOPLE;
	else if (begin < path.n && path.p[begin] != '/')
		w.place = PLACE_SYSTEM;
	keep_free_text(k, (struct span){ path.p, begin });
	put_components(k, &w, (struct span){ path.p + begin, path.n - begin });
}

/* "(hd0,gpt2)", "($root)", "(lvm/vg-root)", "(http,server)": names of disks stay, names that a network or a person
 * chose do not. */
static void put_boot_device(struct keeping *k, struct span device)
{
	static const char *const kinds[] = { "hd[0-9]*", "fd[0-9]*", "cd[0-9]*",   "md",
					     "memdisk",	 "proc",     "host",	   "usb[0-9]*",
					     "ata*",	 "ahci*",    "lvm",	   "http",
					     "tftp",	 "efi*",     "cryptouuid", "[$]*",
					     "pxe",	 "mduuid",   NULL };
	static const char *const partitions[] = { "gpt[0-9]*", "msdos[0-9]*", "[0-9]", "[0-9][0-9]",
						  "md[0-9]*",  "apple[0-9]*", NULL };
	size_t n = 0;
	struct span rest;

	while (n < device.n && !strchr(",/", device.p[n]))
		n++;
	rest = (struct span){ device.p + n, device.n - n };
	device.n = n;
	(keep_is_variable(device) || keep_has(kinds, device) ? keep_free_text
							     : keep_instead)(k, device);
	if (!rest.n)
		return;
	putc(*rest.p, k->out);
	rest = (struct span){ rest.p + 1, rest.n - 1 };
	(keep_is_variable(rest) || keep_has(partitions, rest) || keep_is_uuid(rest)
		 ? keep_free_text
		 : keep_instead)(k, rest);
}

/* Keeps a path of GRUB, which begins at the root of a file system, perhaps that of /boot:
 * "(hd0,gpt2)/vmlinuz-6.1.0". */
void keep_boot_path(struct keeping *k, struct span path)
{
	static const char *const others[] = { "home", "media", "mnt", "opt", "proc",
					      "root", "srv",   "sys", "tmp", NULL };
	struct walk w = { .place = PLACE_SYSTEM, .boot = true };
	size_t close = path.n && path.p[0] == '(' ? span_find(path, ')') : path.n, begin;

	if (close < path.n) {
		putc('(', k->out);
		put_boot_device(k, (struct span){ path.p + 1, close - 1 });
		putc(')', k->out);
		path = (struct span){ path.p + close + 1, path.n - close - 1 };
	}
	for (begin = 0; begin < path.n && path.p[begin] == '/'; begin++)
		;
	if (keep_has(others,
		     (struct span){
			     path.p + begin,
			     span_find((struct span){ path.p + begin, path.n - begin }, '/') }))
		w.place = PLACE_ROOT;
	put_components(k, &w, path);
}

/* A path that people wrote: it ends at a blank or a comma. */
void keep_path_value(struct keeping *k, struct span value)
{
	size_t n = 0;

	while (n < value.n && !strchr(" \t\r\n,;'\"", value.p[n]))
		n++;
	keep_path(k, (struct span){ value.p, n });
	if (n < value.n)
		keep_instead(k, (struct span){ value.p + n, value.n - n });
}

void keep_entry(struct keeping *k, const char *path, const char *name)
{
	struct walk w = { PLACE_ROOT };

	walk_to(&w, path);
	put_component(k, &w, span_of(name));
}

void keep_target(struct keeping *k, const char *link, const char *target)
{
	struct walk w = { PLACE_ROOT };
	const char *slash = strrchr(link, '/');

	if (*target == '/') {
		keep_path(k, span_of(target));
		return;
	}
	/* A path that goes up and down again is judged by its start. */
	for (struct span rest = { link, slash ? (size_t)(slash - link) : 0 }, component;
	     span_cut(&rest, '/', &component);)
		if (component.n)
			step(&w, component);
	put_components(k, &w, span_of(target));
}

void keep_paths(struct keeping *k, struct span paths)
{
	struct span path;

	while (span_cut(&paths, ':', &path)) {
		if (path.n && path.p[0] == '/')
			keep_path(k, path);
		else if (path.n)
			keep_instead(k, path);
		if (path.p + path.n < paths.p)
			putc(':', k->out);
	}
}
