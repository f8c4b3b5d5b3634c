# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine with a disk (disk.py) that goes through several boots. The guest's steps are scripts in
a folder that it shares with this machine: boot1/script, boot2/script, ..."""

import shutil
import subprocess

import disk
from guest import which
from run import Failure, read
from scenario import BARE_CPU, BARE_FIRMWARE, CPU

BOOT_TIMEOUT_S = 1200
MEMORY_MIB = 1024


class Machine:
    """PROGRAM and the scripts are put into the folder that is shared; QEMU: more of its arguments; DRIVE:
    those for the disk, in place of the image alone."""

    def __init__(self, guest, folder, image, scripts, qemu=(), drive=None):
        self.guest = guest
        self.folder = folder
        self.image = image
        self.qemu = list(qemu)
        self.drive = drive or ["-drive", "file=%s,format=raw,if=virtio,cache=unsafe" % image]
        self.share = folder / "share"
        self.boots = len(scripts)
        self.share.mkdir()
        shutil.copy(guest.program, self.share / "nvnodecheck")
        for number, script in enumerate(scripts, 1):
            self.step(number).mkdir()
            (self.step(number) / "script").write_text(script)

    def step(self, number):
        return self.share / ("boot%d" % number)

    def run(self, grub):
        """All boots. With GRUB it is one machine that starts anew; without, QEMU ends at each reboot and
        is started with the kernel, the initramfs and the arguments that GRUB would take."""
        if grub:
            self._qemu("console", [], BOOT_TIMEOUT_S * self.boots)
        for number in range(1, self.boots + 1):
            if not grub:
                cmdline, initramfs = disk.next_boot(self.image, self.folder)
                self._qemu("console%d" % number,
                           ["-no-reboot", "-kernel", str(self.guest.kernel.vmlinux),
                            "-initrd", str(initramfs), "-append", cmdline], BOOT_TIMEOUT_S)
            if not (self.step(number) / "done").exists():
                console = "console" if grub else "console%d" % number
                last = read(self.folder / console).strip().split("\n")[-1]
                raise Failure("boot %d did not come to its end: %s" % (number, last))

    def _qemu(self, console, arguments, timeout_s):
        command = [which("qemu-system-x86_64"), "-accel", "tcg", "-nodefaults", "-nographic",
                   "-M", "q35", "-cpu", CPU + BARE_CPU, "-m", str(MEMORY_MIB),
                   "-serial", "file:%s" % (self.folder / console),
                   *self.drive,
                   "-virtfs", "local,path=%s,mount_tag=share,security_model=none" % self.share]
        try:
            done = subprocess.run(command + BARE_FIRMWARE + self.qemu + arguments,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=timeout_s,
                                  universal_newlines=True, check=False)
        except subprocess.TimeoutExpired:
            raise Failure("no end after %d s, see %s" % (timeout_s, self.folder / console)) from None
        if done.returncode:
            raise Failure("QEMU: %s" % done.stdout.strip())

    def times(self):
        """When each boot's steps were done, in seconds since an unspecified moment."""
        marks = [self.step(n) / "done" for n in range(1, self.boots + 1)]
        return [mark.stat().st_mtime for mark in marks if mark.exists()]
