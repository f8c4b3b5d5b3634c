# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks that boot: a Debian root with the stand-in modules, an initramfs and a GRUB menu made by
the distribution's own tools. As root: folders are made with debootstrap, and programs run in them with
chroot. No loop device is needed."""

import os
import pathlib
import re
import shutil
import struct
import subprocess

from guest import HERE, GuestError, digest, run, which

SIZE_MIB = 1024
SECTOR = 512
# The partition of a disk that GRUB boots from begins behind the first MiB, where GRUB's core image has
# room; without GRUB the file system is the whole disk.
GRUB_SECTORS = 2048
GRUB_MODULES = ("biosdisk", "part_msdos", "ext2")
STANDINS = ("fakepci", "nvidia", "nvidia-uvm")
UUID = "6e766e6f-6465-6368-6563-6b0000000001"

GRUB_PROBE = """#!/bin/sh
# What grub-probe will find once the root is on its disk.
case "$*" in
*--target=device*) echo %(device)s ;;
*--target=fs_uuid*) echo %(uuid)s ;;
*--target=fs*) echo ext2 ;;
*--target=partmap*) echo msdos ;;
*--target=compatibility_hint*) echo hd0,msdos1 ;;
esac
"""


def inside(root, *command):
    return run("chroot", root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
               *command)


def keep_root(guest, kind):
    """The root of that kind, made once for each kernel release and as make-root stands."""
    script = HERE / "cycle" / "make-root"
    roots = guest.kernel.folder / "cycle" / ("roots-" + digest([script])[:16])
    if not roots.exists():
        for old in roots.parent.glob("roots-*"):
            shutil.rmtree(old)
        roots.mkdir(parents=True)
    if not (roots / kind).exists():
        print("cycle: making a root with %s" % kind, flush=True)
        run(script, kind, roots / kind)
    return roots / kind


def clear(folder):
    """Removes what a run left, also one that was ended while its root was mounted."""
    if os.path.ismount(folder / "root"):
        run("umount", folder / "root")
    shutil.rmtree(folder, ignore_errors=True)


class Root:
    """A root that can be changed: an overlay over the kept one. With GRUB its file system gets a
    partition, and systemd starts the steps."""

    def __init__(self, guest, kind, place, grub=False):
        self.kernel = guest.kernel
        self.kind = kind
        self.grub = grub
        self.device = "/dev/vda1" if grub else "/dev/vda"
        self.place = place
        self.path = place / "root"
        self.image = "/boot/initrd.img-" + self.kernel.release
        for name in ("root", "upper", "work"):
            (place / name).mkdir(parents=True)
        run("mount", "-t", "overlay", "overlay", "-o", "lowerdir=%s,upperdir=%s,workdir=%s" %
            (keep_root(guest, kind), place / "upper", place / "work"), self.path)
        try:
            self._install_kernel(guest)
            self._install_steps()
        except BaseException:
            self.close()
            raise

    def close(self):
        run("umount", self.path)
        for name in ("root", "upper", "work"):
            shutil.rmtree(self.place / name)

    def put(self, path, text, mode=0o644):
        target = self.path / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        target.chmod(mode)

    def _install_kernel(self, guest):
        release = self.kernel.release
        modules = self.path / "lib" / "modules" / release
        modules.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.kernel.modules, modules)
        (modules / "updates" / "dkms").mkdir(parents=True)
        for name in STANDINS:
            shutil.copy(guest.standins / (name + ".ko"), modules / "updates" / "dkms")
        shutil.copy(self.kernel.config, self.path / "boot" / ("config-" + release))
        shutil.copy(self.kernel.vmlinuz, self.path / "boot" / ("vmlinuz-" + release))
        run(which("depmod"), "-b", self.path, release)

    def _install_steps(self):
        for name in ("init", "steps"):
            self.put("/cycle/" + name, (HERE / "cycle" / name).read_bytes(), 0o755)
        self.put("/etc/hostname", "node1\n")
        self.put("/etc/fstab", "%s / ext4 defaults 0 0\n" % self.device)
        # What systemd would write at the first boot.
        self.put("/etc/machine-id", "6e766e6f6465636865636b0000000001\n")
        if self.grub:
            self.put("/etc/modules-load.d/fakepci.conf", "fakepci\n")
            unit = "/etc/systemd/system/steps.service"
            self.put(unit, (HERE / "cycle" / "steps.service").read_bytes())
            wants = self.path / "etc/systemd/system/multi-user.target.wants"
            wants.mkdir(exist_ok=True)
            (wants / "steps.service").symlink_to(unit)

    # ---- what the distribution's tools make ----

    def build_image(self):
        if self.kind == "dracut":
            inside(self.path, "dracut", "--force", "--kver", self.kernel.release, self.image)
        else:
            inside(self.path, "mkinitramfs", "-o", self.image, self.kernel.release)

    def build_menu(self):
        """grub.cfg, with what only the disk itself could tell put in its place for as long as it
        takes."""
        probe = self.place / "grub-probe"
        probe.write_text(GRUB_PROBE % {"device": self.device, "uuid": UUID})
        probe.chmod(0o755)
        (self.path / "boot" / "grub").mkdir(exist_ok=True)
        run("unshare", "--mount", "sh", "-ec",
            'mount --bind "$1" "$2/usr/sbin/grub-probe"; chroot "$2" /usr/bin/env -i '
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C update-grub", "sh", probe, self.path)

    def make_disk(self, disk):
        options = []
        if self.grub:
            self._write_grub(disk)
            options = ["-E", "offset=%d" % (GRUB_SECTORS * SECTOR)]
        run(which("mke2fs"), "-q", "-F", "-t", "ext4", "-U", UUID, *options, "-d", self.path, disk,
            "%dM" % SIZE_MIB)

    def _write_grub(self, disk):
        """A partition table with GRUB's boot sector, and the core image behind it, as grub-install
        would leave them: the boot sector reads the core from sector 1 unless told otherwise
        (grub-core/boot/i386/pc/boot.S)."""
        folder = self.path / "usr/lib/grub/i386-pc"
        shutil.copytree(folder, self.path / "boot/grub/i386-pc")
        inside(self.path, "grub-mkimage", "-O", "i386-pc", "-o", "/boot/grub/i386-pc/core.img", "-p",
               "(hd0,msdos1)/boot/grub", *GRUB_MODULES)
        core = (self.path / "boot/grub/i386-pc/core.img").read_bytes()
        if len(core) > (GRUB_SECTORS - 1) * SECTOR:
            raise GuestError("GRUB's core image is too large: %d bytes" % len(core))
        sectors = SIZE_MIB * 1024 * 1024 // SECTOR
        entry = struct.pack("<B3sB3sII", 0x80, b"\xfe\xff\xff", 0x83, b"\xfe\xff\xff",
                            GRUB_SECTORS, sectors)
        sector = (folder / "boot.img").read_bytes()[:440] + bytes(6) + entry + bytes(48) + b"\x55\xaa"
        with open(disk, "wb") as f:
            f.write(sector + core)
            f.truncate((GRUB_SECTORS + sectors) * SECTOR)


# ---- a disk that was written ----

def debugfs(disk, command):
    with open(disk, "rb") as f:
        partitioned = f.read(SECTOR)[-2:] == b"\x55\xaa"
    name = "%s?offset=%d" % (disk, GRUB_SECTORS * SECTOR) if partitioned else str(disk)
    done = subprocess.run([which("debugfs"), "-R", command, name], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if b"not found" in done.stderr:
        raise GuestError("debugfs %s: %s" % (command, done.stderr.decode("utf-8", "replace")))


def file_of(disk, path, target):
    debugfs(disk, "dump %s %s" % (path, target))
    return target


def contents(disk, folder, scratch):
    """Every file below a folder: mode, owner, time of the last change, and bytes or target."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    debugfs(disk, "rdump %s %s" % (folder, scratch))
    found = {}
    for path in sorted(scratch.rglob("*")):
        seen = os.lstat(path)
        what = (os.readlink(path) if path.is_symlink() else
                path.read_bytes() if path.is_file() else None)
        when = int(seen.st_mtime) if path.is_file() and not path.is_symlink() else 0
        found["/%s" % path.relative_to(scratch)] = (seen.st_mode, seen.st_uid, seen.st_gid, when,
                                                   what)
    shutil.rmtree(scratch)
    return found


class Entry:
    """What GRUB would start: the first entry of its menu that starts a kernel."""

    def __init__(self, text):
        found = re.search(r"^\s*linux\s+(\S+)\s+(.*)$", text, re.MULTILINE)
        images = re.search(r"^\s*initrd\s+(.*)$", text, re.MULTILINE)
        if not found or not images:
            raise GuestError("grub.cfg has no entry with a kernel and an initramfs")
        self.kernel = found[1]
        self.images = images[1].split()
        # GRUB's linux command puts this first (grub-core/loader/i386/linux.c).
        self.cmdline = "BOOT_IMAGE=%s %s" % (found[1], found[2].strip())


def next_boot(disk, place):
    """Kernel arguments and initramfs of the next boot, as the disk has them by now."""
    grub = file_of(disk, "/boot/grub/grub.cfg", place / "grub.cfg")
    entry = Entry(grub.read_text())
    initramfs = place / "initramfs"
    with open(initramfs, "wb") as f:
        for image in entry.images:
            f.write(file_of(disk, image, place / "part").read_bytes())
    (place / "part").unlink()
    return entry.cmdline, initramfs
