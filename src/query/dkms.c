/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dkms.c - the modules that DKMS did not build, the reason, and the command that builds a module again. */
#include "query/dkms.h"

#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "parse/version.h"
#include "query/distribution.h"
#include "query/node-find.h"

static const struct software_item *find_only(const struct node *node, const char *name)
{
	const struct software_item *found = NULL;

	for_each(item, &node->software.items) {
		if (!str_is(item->name, name))
			continue;
		if (found)
			return NULL;
		found = item;
	}
	return found;
}

/* DKMS has its sources in /usr/src/MODULE-VERSION and names them MODULE/VERSION (dkms(8)). */
const char *shell_dkms_rebuild(struct arena *arena, const struct node *node, const char *sources)
{
	const struct software_item *item = find_only(node, sources);
	const char *folder = item ? strrchr(item->path.value, '/') : NULL, *dash, *name;

	if (!folder || !node_software(node, "dkms") || !is_known(node->os.kernel))
		return NULL;
	dash = strrchr(folder, '-');
	if (!dash)
		return NULL;
	name = arena_printf(arena, "%.*s/%s", (int)(dash - folder - 1), folder + 1, dash + 1);
	return shell_printf(arena,
			    "sudo dkms build --force %s -k %s\nsudo dkms install --force %s -k %s",
			    name, node->os.kernel.value, name, node->os.kernel.value);
}

/* ---- what was not built ---- */

/* nvidia-fs and nvidia-peer-memory are not the driver; nvidia-current and nvidia-srv-550 are. */
const char *dkms_sources(const struct dkms_package *package)
{
	static const struct {
		const char *begins, *sources;
	} rows[] = {
		{ "nvidia-fs", "nvidia-fs-source" },	 { "nvidia-peer", "nv-peer-mem-source" },
		{ "nvidia_peer", "nv-peer-mem-source" }, { "nv_peer_mem", "nv-peer-mem-source" },
		{ "nv-peer", "nv-peer-mem-source" },	 { "nvidia", "driver-source" },
		{ "gdrdrv", "gdrdrv-source" },		 { "mlnx-ofed-kernel", "ofed-source" },
		{ "ofa_kernel", "ofed-source" },	 { "efa", "efa-source" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_starts(package->name, rows[i].begins))
			return rows[i].sources;
	return NULL;
}

static bool has_text(const char *const *items, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(items[i], text) == 0)
			return true;
	return false;
}

static bool is_built(const struct dkms_package *package, const char *release)
{
	return has_text(package->built.items, package->built.count, release);
}

/* gcc-12 of "x86_64-linux-gnu-gcc-12 (Ubuntu 12.3.0-1ubuntu1~22.04) 12.3.0"; else all of it. */
static const char *compiler_of(struct arena *arena, const struct dkms_package *package)
{
	const char *gcc;

	if (!is_known(package->compiler))
		return "the compiler that built the kernel";
	gcc = strstr(package->compiler.value, "gcc-");
	if (gcc && gcc[4] >= '0' && gcc[4] <= '9')
		return arena_printf(arena, "%.*s, which built the kernel",
				    (int)(4 + strspn(gcc + 4, "0123456789")), gcc);
	return arena_printf(arena, "%s, which built the kernel", package->compiler.value);
}

static const char *other_kernel(const struct dkms_package *package)
{
	return package->built.count ? package->built.items[package->built.count - 1] : NULL;
}

static const char *remedy_of_source(struct arena *arena, const struct dkms_package *package,
				    const char *release)
{
	const char *other = other_kernel(package);

	return other ? arena_printf(arena,
				    "Install a version of %s that supports kernel %s, or boot "
				    "kernel %s, for which this one is built.",
				    package->name.value, release, other)
		     : arena_printf(arena,
				    "Install a version of %s that supports kernel %s, or boot "
				    "an older kernel.",
				    package->name.value, release);
}

/* The same sources compiled for an older kernel: what changed is the kernel. */
static const char *remedy_of_unknown(struct arena *arena, const struct dkms_package *package,
				     const char *release)
{
	const char *other = other_kernel(package);

	if (!other || version_compare(release, other) <= 0)
		return arena_printf(
			arena,
			"Read %s/build/make.log, remove the cause, then build the module again.",
			package->path.value);
	return arena_printf(
		arena,
		"%s is built for the older kernel %s: most likely this version is too old "
		"for kernel %s. Install a newer release, or boot kernel %s. "
		"%s/build/make.log has the errors.",
		package->name.value, other, release, other, package->path.value);
}

static const char *remedy_of_failure(struct arena *arena, const struct dkms_package *package,
				     const char *release)
{
	if (!is_known(package->cause))
		return remedy_of_unknown(arena, package, release);
	switch ((enum build_cause)package->cause.value) {
	case BUILD_SPACE:
		return "Free space on the file systems of /var/lib/dkms and /tmp, then build the module again.";
	case BUILD_REALTIME:
		return "Boot a kernel without PREEMPT_RT: these sources refuse it.";
	case BUILD_HEADERS:
		return arena_printf(
			arena,
			"Install the headers of kernel %s again, then build the module again.",
			release);
	case BUILD_COMPILER:
		return arena_printf(arena, "Install %s, then build the module again.",
				    compiler_of(arena, package));
	case BUILD_DRIVER:
		return arena_printf(
			arena,
			"Build the NVIDIA driver for kernel %s first, then build this module again.",
			release);
	case BUILD_LICENSE:
	case BUILD_SOURCE:
		break;
	}
	return remedy_of_source(arena, package, release);
}

static bool is_cured_by_build(const struct dkms_package *package)
{
	return is_known(package->cause) && package->cause.value != BUILD_REALTIME &&
	       package->cause.value != BUILD_LICENSE && package->cause.value != BUILD_SOURCE;
}

static const char *shell_build_for(struct arena *arena, const struct dkms_package *package,
				   const char *release)
{
	return shell_printf(arena, "sudo dkms install %s/%s -k %s", package->name.value,
			    package->version.value, release);
}

const char *shell_dkms_install(struct arena *arena, const struct node *node, const char *version,
			       const char *release)
{
	for_each(package, &node->dkms.packages)
		if (same_text(dkms_sources(package), "driver-source") &&
		    str_is(package->version, version))
			return shell_printf(arena, "sudo dkms install --force %s/%s -k %s",
					    package->name.value, version, release);
	return NULL;
}

/* The driver of the running kernel that is not loaded. */
static bool is_wanted_now(const struct node *node, const struct dkms_package *package,
			  const char *release)
{
	return same_text(dkms_sources(package), "driver-source") &&
	       known_is(node->driver.loaded, false) && str_is(node->os.kernel, release) &&
	       !is_known(node->os.next_boot);
}

static const char *shell_with_headers(struct arena *arena, const struct node *node,
				      const struct dkms_package *package, const char *release)
{
	const char *headers = shell_install_headers(arena, node, release);

	const char *build = headers ? shell_join(arena, headers,
						 shell_build_for(arena, package, release))
				    : NULL;

	return build && is_wanted_now(node, package, release)
		       ? shell_join(arena, build, "sudo modprobe nvidia")
		       : build;
}

static void fill_failure(struct arena *arena, const struct node *node,
			 const struct dkms_package *package, const char *release,
			 struct dkms_reason *reason)
{
	bool headers = known_is(package->cause, BUILD_HEADERS);
	const char *error = is_known(package->error) ? package->error.value
						     : "no known cause is in its log";
	size_t n = strlen(error);

	n -= n && error[n - 1] == ':';
	reason->failed = true;
	reason->text = arena_printf(arena, "DKMS could not build %s/%s for kernel %s: %.*s",
				    package->name.value, package->version.value, release, (int)n,
				    error);
	reason->remedy = remedy_of_failure(arena, package, release);
	if (headers)
		reason->command = shell_with_headers(arena, node, package, release);
	else if (is_cured_by_build(package))
		reason->command = shell_build_for(arena, package, release);
	reason->fact = fact_path(arena, "dkms.packages", package->path.value,
				 is_known(package->error) ? "error" : "failed_kernel");
}

bool dkms_reason_of(struct arena *arena, const struct node *node,
		    const struct dkms_package *package, const char *release,
		    struct dkms_reason *reason)
{
	const struct dkms_facts *dkms = &node->dkms;

	*reason = (struct dkms_reason){ .package = package };
	if (!was_read(package->built) || is_built(package, release))
		return false;
	if (is_known(package->failed_kernel) && str_is(package->failed_kernel, release)) {
		fill_failure(arena, node, package, release, reason);
		return true;
	}
	if (!was_read(dkms->headers) || has_text(dkms->headers.items, dkms->headers.count, release))
		return false;
	reason->text = arena_printf(
		arena,
		"DKMS did not build %s/%s for kernel %s: the headers of that kernel are missing",
		package->name.value, package->version.value, release);
	reason->remedy = arena_printf(
		arena,
		"Install the headers of kernel %s, then build the module with DKMS and load it.",
		release);
	reason->command = shell_with_headers(arena, node, package, release);
	reason->fact = "dkms.headers";
	return true;
}

bool dkms_reason_for(struct arena *arena, const struct node *node, const char *sources,
		     const char *release, struct dkms_reason *reason)
{
	const struct dkms_package *best = NULL;
	struct dkms_reason other;

	for_each(package, &node->dkms.packages) {
		const char *of = dkms_sources(package);

		if (!of || !sources || strcmp(of, sources) != 0)
			continue;
		if (is_built(package, release))
			return false;
		if (dkms_reason_of(arena, node, package, release, &other) &&
		    (!best || version_compare(package->version.value, best->version.value) > 0)) {
			best = package;
			*reason = other;
		}
	}
	return best;
}
