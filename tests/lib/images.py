# SPDX-License-Identifier: GPL-2.0-or-later
"""initramfs images: from folders with cpio, or entry by entry where cpio would not write such a one."""

import pathlib
import shutil
import subprocess

from lib.rootfs import link, write

COMPRESSORS = {
    "none": None,
    "gzip": ["gzip", "-9n"],
    "bzip2": ["bzip2", "-9"],
    "xz": ["xz", "--check=crc32"],
    "lzma": ["lzma", "-9"],
    "zstd": ["zstd", "-q", "-9"],
    "lz4": ["lz4", "-l", "-9", "-q"],
}


def compress(data, name):
    args = COMPRESSORS[name]
    if not args:
        return data
    assert shutil.which(args[0]), f"{args[0]} is not installed"
    return subprocess.run([*args, "-c"], input=data, capture_output=True, check=True).stdout


def decompress(data, name):
    args = COMPRESSORS[name]
    return subprocess.run([args[0], "-dc"], input=data, capture_output=True, check=True).stdout if args else data


def cpio(folder):
    """What find | cpio -H newc makes of a folder."""
    names = sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*"))
    return subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-0"], cwd=folder, check=True,
                          input="\0".join([".", *names]).encode() + b"\0", capture_output=True).stdout


def listing(archive):
    """cpio -t"""
    return subprocess.run(["cpio", "-t", "--quiet"], input=archive, capture_output=True,
                          check=True).stdout.decode().splitlines()


def entry(name, body=b"", mode=0o100644, ino=1, nlink=1, magic=b"070701", name_size=None):
    """One entry, byte by byte."""
    name = name.encode() + b"\0"
    fields = [ino, mode, 0, 0, nlink, 0, len(body), 0, 0, 0, 0, name_size or len(name), 0]
    head = magic + b"".join(b"%08x" % f for f in fields) + name
    return pad(pad(head) + body)


def pad(data, n=4):
    return data + b"\0" * (-len(data) % n)


TRAILER = entry("TRAILER!!!", mode=0)


def archive(*entries):
    return b"".join(entries) + TRAILER


def symlink(name, target):
    return entry(name, target.encode(), mode=0o120777)


def module(version="580.159.04", name="nvidia", size=0):
    """The strings that matter of a .ko, between bytes that do not."""
    strings = ["license=Dual MIT/GPL", "firmware=nvidia/580/gsp.bin", "parm=NVreg_X:int"]
    if version:
        strings.insert(1, f"version={version}")
    strings += ["srcversion=ABCDEF", "depends=", f"name={name}", "vermagic=6.1.0 SMP mod_unload "]
    filler = bytes(range(1, 256)) * (size // 255)
    return (b"\x7fELF" + filler + b"\0version=%s\0not a row\0" +
            b"\0".join(s.encode() for s in strings) + b"\0\0" + filler + b"\0version=9.9\0")


def folder(path, kernel="6.1.0-10-amd64", suffix=""):
    """A small image of initramfs-tools, unpacked."""
    path = pathlib.Path(path)
    write(path / "conf/initramfs.conf", "MODULES=most\n")
    write(path / "init", "#!/bin/sh\n")
    write(path / "etc/modprobe.d/nvidia.conf", "options nvidia NVreg_A=1\nblacklist nouveau\n")
    write(path / "usr/lib/modprobe.d/vendor.conf", "options nvidia NVreg_A=0\n")
    modules = path / "usr/lib/modules" / kernel
    write(modules / "kernel/fs/ext4.ko", module("1.0", "ext4"))
    write(modules / "updates/dkms/nvidia.ko", module())
    write(modules / "updates/dkms/nvidia-uvm.ko", module(name="nvidia_uvm"))
    write(modules / "kernel/drivers/infiniband/ib_core.ko", module(None, "ib_core"))
    link(path / "lib", "usr/lib")
    return path
