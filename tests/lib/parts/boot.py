# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot loader entries and initramfs images."""
from .. import cpio
from ..tree import EPOCH
from . import modules
from .files import when
from .system import ROOT_UUID, cmdline

MACHINE_ID = "4c1d6f1fa3f24a6f9b7a3f5d0c2e8b71"
IMAGE_TIME = EPOCH + 3600

# What tells the generators apart inside an image.
MARKERS = {
    "initramfs-tools": (("conf/initramfs.conf", "MODULES=most\nBUSYBOX=auto\nCOMPRESS=zstd\n"),
                        ("scripts/functions", "# boot functions\n"), ("init", "#!/bin/sh\n")),
    "dracut": (("usr/lib/dracut/build-parameter.txt", " --force --hostonly\n"),
               ("usr/lib/dracut/dracut-057-53.git20240104.el9", ""), ("init", "#!/bin/sh\n")),
    "mkinitcpio": (("config", "HOOKS=(base udev modconf)\n"), ("init_functions", "\n"),
                   ("hooks/udev", "\n"), ("init", "#!/bin/sh\n")),
}


def init(node):
    node.loader = None
    node.images = set()


def do_boot(node, statement):
    """boot grub|grub-bls|none"""
    (node.loader,), _ = statement.take(least=1)


def initramfs(node, tree, statement):
    """initramfs PATH [generator=] [compress=] [kernel=] [mtime=], with lines in its block:

    early               an uncompressed archive with processor microcode before the rest
    module NAME [KEY=VALUE...]  the module's file, as it lies under /lib/modules or as ko has it
    modprobe.d          what the generator takes along of modprobe.d as it is now
    file PATH           a file of the tree; file PATH = TEXT: with that text
    link PATH TARGET
    no-trailer          the image ends before its end
    """
    keys = ("generator", "compress", "kernel", "mtime")
    (path,), named = statement.take(*keys, least=1)
    path = node.expand(path)
    release = node.expand(named.get("kernel", node.kernel))
    entries = [("bin/busybox", "file", b"\x7fELF")]
    for name, text in MARKERS[named.get("generator", "initramfs-tools")]:
        entries.append((name, "file", text))
    early, whole = b"", True
    for line in statement.block:
        words = line.split()
        if not words:
            continue
        if words[0] == "early":
            early = cpio.archive([("kernel/x86/microcode/GenuineIntel.bin", "file", b"\1" * 2048)],
                                 IMAGE_TIME)
        elif words[0] == "no-trailer":
            whole = False
        elif words[0] == "link":
            entries.append((words[1].lstrip("/"), "link", words[2]))
        else:
            entries += _content(node, tree, statement, release, words, line)
    data = cpio.archive(sorted(set(entries)), IMAGE_TIME)
    if not whole:
        data = data[:data.rindex(b"070701")]
    data = early + cpio.compress(data, named.get("compress", "zstd"))
    mtime = when(statement, named["mtime"]) if "mtime" in named else IMAGE_TIME
    tree.file(path, data, 0o644, mtime)


def _content(node, tree, statement, release, words, line):
    if words[0] == "module":
        return [_module(node, statement, release, words[1:])]
    if words[0] == "modprobe.d":
        return [(p.lstrip("/"), "file", tree.read(p))
                for folder in ("/etc/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")
                for p in tree.below(folder) if tree.read(p) is not None]
    if words[0] == "file":
        name, equal, text = line.partition("=")
        path = name.split()[1]
        data = (text.strip() + "\n").encode() if equal else tree.read(path)
        if data is None:
            raise statement.wrong("%s is not in the tree" % path)
        return [(path.lstrip("/"), "file", data)]
    raise statement.wrong("'%s' in the block" % words[0])


def _module(node, statement, release, words):
    name = words[0].replace("-", "_")
    ko = node.ko_files.get((release, name))
    named = dict(w.partition("=")[::2] for w in words[1:])
    if ko is None and not named and name not in modules.KERNEL_MODULES:
        raise statement.wrong("no module %s for %s" % (words[0], release))
    ko = dict(ko or modules.new_ko(release, name, modules.KERNEL_MODULES.get(
        name, ("updates/dkms",))[0], file=words[0]))
    if named:
        ko["srcversion"] = None
        ko.update(named)
    ko = modules.finish(node, ko)
    root = "usr/lib/modules" if node.merged_usr else "lib/modules"
    return ("%s/%s/%s" % (root, release, modules.ko_path(ko)), "file", modules.bytes_of(node, ko))


def do_initramfs(node, statement):
    node.late.append((initramfs, statement))


VERBS = {"boot": do_boot, "initramfs": do_initramfs}


# ---- boot loaders ----

def _initrd(node, release):
    """As the distribution calls it."""
    words = [node.os["id"]] + node.os["like"].split()
    if any(word in ("rhel", "fedora", "centos", "amzn", "void") for word in words):
        return "initramfs-%s.img" % release
    if any("suse" in word for word in words):
        return "initrd-%s" % release
    return "initrd.img-%s" % release


def _grub_entry(title, ident, release, node):
    return ("menuentry '%s' --class gnu-linux --class os $menuentry_id_option '%s' {\n"
            "\tload_video\n\tinsmod gzio\n\tinsmod part_gpt\n\tinsmod ext2\n"
            "\tsearch --no-floppy --fs-uuid --set=root %s\n\techo\t'Loading Linux %s ...'\n"
            "\tlinux\t/boot/vmlinuz-%s %s\n\techo\t'Loading initial ramdisk ...'\n"
            "\tinitrd\t/boot/%s\n}\n" % (title, ident, ROOT_UUID, release, release,
                                                    cmdline(node, "staged"), _initrd(node, release)))


def releases(node):
    """Newest first, as GRUB's scripts sort them."""
    return list(reversed(node.kernels)) + [node.kernel]


def _render_grub(node, tree):
    name = node.os["name"].split()[0]
    tree.file("/etc/default/grub", 'GRUB_DEFAULT=0\nGRUB_TIMEOUT_STYLE=hidden\nGRUB_TIMEOUT=0\n'
              'GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`\n'
              'GRUB_CMDLINE_LINUX_DEFAULT="%s"\nGRUB_CMDLINE_LINUX=""\n' %
              " ".join(node.args["staged"]))
    text = ("#\n# DO NOT EDIT THIS FILE\n#\n### BEGIN /etc/grub.d/00_header ###\n"
            "if [ -s $prefix/grubenv ]; then\n  set have_grubenv=true\n  load_env\nfi\n"
            "set default=\"0\"; menuentry_id_option=\"--id\"; export menuentry_id_option\n"
            "### END /etc/grub.d/00_header ###\n\n"
            "### BEGIN /etc/grub.d/10_linux ###\n")
    newest = releases(node)[0]
    text += _grub_entry(name, "gnulinux-simple-" + ROOT_UUID, newest, node)
    text += "submenu 'Advanced options for %s' $menuentry_id_option 'gnulinux-advanced-%s' {\n" % (
        name, ROOT_UUID)
    for release in releases(node):
        entry = _grub_entry("%s, with Linux %s" % (name, release),
                            "gnulinux-%s-advanced-%s" % (release, ROOT_UUID), release, node)
        text += "".join("\t%s\n" % line for line in entry.splitlines())
    tree.file("/boot/grub/grub.cfg", text + "}\n### END /etc/grub.d/10_linux ###\n", 0o600)
    _grubenv(tree, "/boot/grub/grubenv", [])


def _grubenv(tree, path, lines):
    text = "# GRUB Environment Block\n" + "".join(line + "\n" for line in lines)
    tree.file(path, text.ljust(1024, "#"))


# What decides in the menu of RHEL and its like: the saved entry, boots that are counted, entries in files.
BLS_MENU = """\
if [ -f ${config_directory}/grubenv ]; then
  load_env -f ${config_directory}/grubenv
elif [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="${saved_entry}"
fi
set tuned_params=""
set tuned_initrd=""
insmod increment
if [ -n "${boot_counter}" -a "${boot_success}" = "0" ]; then
  if  [ "${boot_counter}" = "0" -o "${boot_counter}" = "-1" ]; then
    set default=1
    set boot_counter=-1
  else
    decrement boot_counter
  fi
  save_env boot_counter
fi
insmod blscfg
blscfg
if [ "${boot_success}" = "1" -o "${boot_indeterminate}" = "1" ]; then
  set menu_hide_ok=1
else
  set menu_hide_ok=0
fi
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
elif [ -z "${config_directory}" -a -f  $prefix/custom.cfg ]; then
  source $prefix/custom.cfg
fi
"""


def _render_bls(node, tree):
    tree.file("/etc/machine-id", MACHINE_ID + "\n")
    tree.file("/etc/kernel/cmdline", cmdline(node, "staged") + "\n")
    tree.file("/etc/default/grub", 'GRUB_TIMEOUT=5\nGRUB_DEFAULT=saved\n'
              'GRUB_CMDLINE_LINUX="%s"\nGRUB_ENABLE_BLSCFG=true\n' % " ".join(node.args["staged"]))
    tree.file("/boot/grub2/grub.cfg", BLS_MENU, 0o600)
    _grubenv(tree, "/boot/grub2/grubenv", [
        "saved_entry=%s-%s" % (MACHINE_ID, releases(node)[0]), "boot_success=1"])
    for release in releases(node):
        tree.file("/boot/loader/entries/%s-%s.conf" % (MACHINE_ID, release),
                  "title %s (%s)\nversion %s\nlinux /boot/vmlinuz-%s\n"
                  "initrd /boot/initramfs-%s.img $tuned_initrd\noptions %s $tuned_params\ngrub_users $grub_users\n"
                  "grub_arg --unrestricted\ngrub_class rhel\n" % (
                      node.os["name"], release, release, release, release,
                      cmdline(node, "staged")))


def render(node, tree):
    if node.loader == "grub":
        _render_grub(node, tree)
    elif node.loader == "grub-bls":
        _render_bls(node, tree)
