/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distribution.c - the commands of this node's distribution: one command, ready to paste, instead of a list of the
 * commands of all distributions.
 */
#include "query/distribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "base/span.h"

static const struct {
	const char *id; /* of os-release */
	enum distribution distribution;
} ids[] = {
	{ "debian", DISTRIBUTION_DEBIAN },   { "ubuntu", DISTRIBUTION_DEBIAN },
	{ "raspbian", DISTRIBUTION_DEBIAN }, { "rhel", DISTRIBUTION_RHEL },
	{ "centos", DISTRIBUTION_RHEL },     { "fedora", DISTRIBUTION_RHEL },
	{ "rocky", DISTRIBUTION_RHEL },	     { "almalinux", DISTRIBUTION_RHEL },
	{ "ol", DISTRIBUTION_RHEL },	     { "amzn", DISTRIBUTION_RHEL },
	{ "suse", DISTRIBUTION_SUSE },	     { "sles", DISTRIBUTION_SUSE },
	{ "opensuse", DISTRIBUTION_SUSE },   { "arch", DISTRIBUTION_ARCH },
};

static enum distribution find_id(struct span id)
{
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (span_is(id, ids[i].id))
			return ids[i].distribution;
	return DISTRIBUTION_UNKNOWN;
}

enum distribution distribution_of(const struct node *node)
{
	enum distribution found = DISTRIBUTION_UNKNOWN;
	struct span like, word;

	if (is_known(node->os.id))
		found = find_id(span_of(node->os.id.value));
	like = span_of(is_known(node->os.like) ? node->os.like.value : "");
	while (!found && span_word(&like, &word))
		found = find_id(word);
	return found;
}

/* yum alone: Red Hat Enterprise Linux and its rebuilds before 8, Amazon Linux before 2022. dnf is the name since. */
static const char *package_manager(const struct node *node)
{
	unsigned long first = is_known(node->os.version) ? strtoul(node->os.version.value, NULL, 10)
							 : 0;
	bool amazon = str_is(node->os.id, "amzn"), fedora = str_is(node->os.id, "fedora");

	if (fedora || !first)
		return "dnf";
	return first < (amazon ? 2022 : 8) ? "yum" : "dnf";
}

const char *distribution_generator(const struct node *node)
{
	switch (distribution_of(node)) {
	case DISTRIBUTION_DEBIAN:
		return "initramfs-tools";
	case DISTRIBUTION_RHEL:
	case DISTRIBUTION_SUSE:
		return "dracut";
	case DISTRIBUTION_ARCH:
		return "mkinitcpio";
	case DISTRIBUTION_UNKNOWN:
		break;
	}
	return NULL;
}

/* Its packages, initramfs and boot entries come with an image: a file that is changed here does not last. */
static bool is_image_based(const struct node *node)
{
	return is_known(node->os.image_based);
}

/* rpm-ostree(1) puts packages, arguments and an initramfs of this machine on top of the image. */
static bool is_ostree(const struct node *node)
{
	return str_is(node->os.image_based, "ostree") && distribution_of(node) == DISTRIBUTION_RHEL;
}

static const char *run(struct arena *arena, const char *command, const char *package)
{
	return package ? arena_printf(arena, "sudo %s %s", command, package) : NULL;
}

const char *shell_install(struct arena *arena, const struct node *node,
			  const struct package_names *names)
{
	if (is_image_based(node))
		return is_ostree(node) ? run(arena, "rpm-ostree install", names->rhel) : NULL;
	switch (distribution_of(node)) {
	case DISTRIBUTION_DEBIAN:
		return run(arena, "apt-get install", names->debian);
	case DISTRIBUTION_RHEL:
		return run(arena, arena_printf(arena, "%s install", package_manager(node)),
			   names->rhel);
	case DISTRIBUTION_SUSE:
		return run(arena, "zypper install", names->suse);
	case DISTRIBUTION_ARCH:
		return run(arena, "pacman -S", names->arch);
	case DISTRIBUTION_UNKNOWN:
		break;
	}
	return NULL;
}

const char *shell_remove(struct arena *arena, const struct node *node,
			 const struct package_names *names)
{
	if (is_image_based(node))
		return NULL;
	switch (distribution_of(node)) {
	case DISTRIBUTION_DEBIAN:
		return run(arena, "apt-get remove", names->debian);
	case DISTRIBUTION_RHEL:
		return run(arena, arena_printf(arena, "%s remove", package_manager(node)),
			   names->rhel);
	case DISTRIBUTION_SUSE:
		return run(arena, "zypper remove", names->suse);
	case DISTRIBUTION_ARCH:
		return run(arena, "pacman -R", names->arch);
	case DISTRIBUTION_UNKNOWN:
		break;
	}
	return NULL;
}

const char *shell_install_headers(struct arena *arena, const struct node *node, const char *release)
{
	const struct package_names names = {
		.debian = shell_printf(arena, "linux-headers-%s", release),
		.rhel = shell_printf(arena, "kernel-devel-%s", release),
		.suse = "kernel-default-devel",
		.arch = "linux-headers",
	};

	return shell_install(arena, node, &names);
}

/* Debian and Arch have packages of dracut too. */
static bool has_generator(const struct node *node, const char *generator)
{
	const char *own = distribution_generator(node);

	return !own || same_text(own, generator) ||
	       (same_text(generator, "dracut") && (distribution_of(node) == DISTRIBUTION_DEBIAN ||
						   distribution_of(node) == DISTRIBUTION_ARCH));
}

/* Debian and Arch offer several generators, and the image shows which is in use. The others have dracut alone: an
 * image of a different one was made elsewhere. NULL: the image was made by a generator that the distribution does
 * not have. */
static const char *generator_of(const struct node *node, const char *release)
{
	enum distribution distribution = distribution_of(node);

	if (distribution == DISTRIBUTION_RHEL || distribution == DISTRIBUTION_SUSE)
		return distribution_generator(node);
	for_each(image, &node->initramfs.images)
		if (str_is(image->kernel, release) && is_known(image->generator))
			return has_generator(node, image->generator.value) ? image->generator.value
									   : NULL;
	return distribution_generator(node);
}

const char *shell_rebuild_initramfs(struct arena *arena, const struct node *node,
				    const char *release)
{
	const char *generator = generator_of(node, release);

	if (is_image_based(node))
		return is_ostree(node) ? "sudo rpm-ostree initramfs --enable" : NULL;
	if (same_text(generator, "initramfs-tools"))
		return shell_printf(arena, "sudo update-initramfs -u -k %s", release);
	if (same_text(generator, "dracut"))
		return shell_printf(arena, "sudo dracut --force --kver %s", release);
	if (same_text(generator, "mkinitcpio"))
		return "sudo mkinitcpio -P";
	return NULL;
}

/* A list of plain words. GRUB takes a semicolon outside quotes for the end of the command, so the quotes must be in
 * grub.cfg: the shell that reads the file below needs a backslash before them. */
static const char *add_quoted_argument(struct arena *arena, const struct node *node,
				       const char *argument)
{
	struct span rest = span_of(argument), word;

	while (span_cut(&rest, ';', &word))
		if (!shell_is_plain(arena_strndup(arena, word.p, word.n)))
			return NULL;
	if (!known_is(node->boot.loader, BOOT_GRUB) ||
	    distribution_of(node) != DISTRIBUTION_DEBIAN || is_image_based(node))
		return NULL;
	return arena_printf(
		arena,
		"echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX \\\"%s\\\"\"' | sudo tee "
		"-a /etc/default/grub.d/zz-gpu.cfg\nsudo update-grub",
		argument);
}

/* A plain word only: it is put into a file that grub-mkconfig runs as a script of the shell, and then in grub.cfg, a
 * script of GRUB. Debian's and Ubuntu's grub-mkconfig reads the .cfg files of /etc/default/grub.d after
 * /etc/default/grub. */
const char *shell_add_argument(struct arena *arena, const struct node *node, const char *argument)
{
	bool grub = known_is(node->boot.loader, BOOT_GRUB);

	if (strchr(argument, ';'))
		return add_quoted_argument(arena, node, argument);
	if (is_image_based(node))
		return is_ostree(node)
			       ? shell_printf(arena, "sudo rpm-ostree kargs --append-if-missing=%s",
					      argument)
			       : NULL;
	if (distribution_of(node) == DISTRIBUTION_RHEL &&
	    (grub || known_is(node->boot.loader, BOOT_GRUB_BLS)))
		return shell_printf(arena, "sudo grubby --update-kernel=ALL --args='%s'", argument);
	if (!grub || distribution_of(node) != DISTRIBUTION_DEBIAN)
		return NULL;
	return shell_printf(arena,
			    "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"' | sudo tee -a "
			    "/etc/default/grub.d/zz-gpu.cfg\nsudo update-grub",
			    argument);
}

const char *shell_write_entries(const struct node *node)
{
	if (!known_is(node->boot.loader, BOOT_GRUB) || is_image_based(node))
		return NULL;
	switch (distribution_of(node)) {
	case DISTRIBUTION_DEBIAN:
		return "sudo update-grub";
	case DISTRIBUTION_RHEL:
	case DISTRIBUTION_SUSE:
		return "sudo grub2-mkconfig -o /boot/grub2/grub.cfg";
	case DISTRIBUTION_ARCH:
		return "sudo grub-mkconfig -o /boot/grub/grub.cfg";
	case DISTRIBUTION_UNKNOWN:
		break;
	}
	return NULL;
}

const char *shell_owner(struct arena *arena, const struct node *node, const char *path)
{
	switch (distribution_of(node)) {
	case DISTRIBUTION_DEBIAN:
		return shell_printf(arena, "dpkg -S %s", path);
	case DISTRIBUTION_RHEL:
	case DISTRIBUTION_SUSE:
		return shell_printf(arena, "rpm -qf %s", path);
	case DISTRIBUTION_ARCH:
		return shell_printf(arena, "pacman -Qo %s", path);
	case DISTRIBUTION_UNKNOWN:
		break;
	}
	return NULL;
}
