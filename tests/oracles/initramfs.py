# SPDX-License-Identifier: GPL-2.0-or-later
"""Images of several archives in all compressors, held against cpio, which unpacks them one over the other as
the kernel does, and against libkmod on what comes out. What initramfs-tools makes is held against lsinitramfs."""

import re
import subprocess

from oracle import UNKNOWN, Oracle, Result, empty_folder, facts, run, write

from lib import images
from lib import kmod
from modprobe import LINES

KERNEL = "6.1.0-10-amd64"
MODULES = "usr/lib/modules/" + KERNEL
NAMES = ("nvidia", "nvidia-uvm", "nvidia_drm", "nouveau", "mlx5_core", "mlx5_ib", "ib_core", "gdrdrv", "ext4", "vfio-pci", "xmlx5")
WANTED = re.compile(r"(nvidia|nouveau|nova|gdrdrv|nv.peer.mem|mlx|ib_|rdma|vfio)[^/]*\.ko(\.\w+)?$")
PLACES = ("kernel/drivers/net", "updates/dkms", "extra", "weak-updates")
TOOLS = {".xz": ["xz", "--check=crc32"], ".zst": ["zstd", "-q"], ".gz": ["gzip", "-n"]}
FOLDERS = ("etc/modprobe.d", "usr/lib/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d")


class Initramfs(Oracle):
    """An input: segments (compressor, zeros before it, ((path, target or None, content), ...))."""
    name = "initramfs"
    programs = ("cc", "cpio", "gzip", "bzip2", "xz", "lzma", "zstd", "lz4", "lsinitramfs")

    def prepare(self):
        self.program = kmod.build(self.place)

    def random(self, rng):
        segments = []
        if rng.random() < 0.5:
            early = [("kernel/x86/microcode/GenuineIntel.bin", None, b"x" * rng.randrange(3000))]
            segments.append(("none", 4, early + [self.entry(rng) for _ in range(rng.choice((0, 0, 3)))]))
        for _ in range(rng.choice((1, 1, 1, 2))):
            entries = [("init", None, b"#!/bin/sh\n"), ("conf/initramfs.conf", None, b"MODULES=most\n"), ("lib", "usr/lib", b"")]
            entries += [self.entry(rng) for _ in range(rng.randint(0, 12))]
            segments.append((rng.choice(tuple(images.COMPRESSORS)), rng.choice((4, 512)), entries))
        return tuple((c, zeros, tuple(entries)) for c, zeros, entries in segments)

    def entry(self, rng):
        form = rng.randrange(8)
        if form < 4:
            name, suffix = rng.choice(NAMES), rng.choice(("", "", ".xz", ".zst", ".gz"))
            data = images.module(rng.choice((None, "1.0", "580.159.04", "2-x")), name.replace("-", "_"), rng.choice((0, 0, 9000)))
            if suffix:
                data = subprocess.run(TOOLS[suffix] + ["-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
            return "%s/%s/%s.ko%s" % (MODULES, rng.choice(PLACES), name, suffix), None, data
        path = "%s/%s.conf" % (rng.choice(FOLDERS), rng.choice("abz"))
        if form == 7:
            return path, rng.choice(("/dev/null", "b.conf", "../../etc/modprobe.d/a.conf", "nothing")), b""
        text = "\n".join(rng.choice(LINES) for _ in range(rng.randint(0, 4))) + "\n"
        return path, None, text.encode("utf-8", "surrogateescape")

    def compare(self, item):
        root, out = empty_folder(self.place / "tree"), empty_folder(self.place / "unpacked")
        image = b""
        for compressor, zeros, entries in item:
            archive = packed(entries)
            subprocess.run(["cpio", "-idu", "--quiet"], cwd=out, input=archive, stderr=subprocess.PIPE, check=True)
            image = images.pad(image, zeros) + images.compress(archive, compressor)
        write(root / "proc/sys/kernel/osrelease", KERNEL + "\n")
        (root / "usr/lib/modules" / KERNEL).mkdir(parents=True)
        write(root / ("boot/initrd.img-" + KERNEL), image)
        found = facts(root, "initramfs").get("images", [])
        result = Result()
        result.field("images", len(found), 1)
        for ours in found:
            self.compare_image(result, ours, out, item)
            self.compare_listing(result, ours, root, item)
        return result

    def compare_image(self, result, ours, out, item):
        # The program says so of a configuration that the image names and lacks.
        lost = any(p.is_symlink() and not p.exists() for folder in FOLDERS for p in (out / folder).glob("*"))
        # After lz4 the kernel takes what follows for one more chunk, unless there are zeros (Linux: lib/decompress_unlz4.c):
        # cpio unpacks an image that the kernel does not.
        unclear = any(one[0] == "lz4" and other[1] == 4 for one, other in zip(item, item[1:]))
        result.field("complete", UNKNOWN if lost or unclear else ours["complete"], True)
        if not ours["complete"]:
            return
        theirs = {}
        for path in out.rglob("*.ko*"):
            if WANTED.match(path.name):
                theirs["/" + str(path.relative_to(out))] = version_of(path)
        mine = {m["path"]: m.get("version", UNKNOWN) for m in ours["modules"]}
        result.field("modules", sorted(mine), sorted(theirs))
        for path in mine:
            result.field("version", mine[path], theirs.get(path))
        write(out / "proc/cmdline", "\n")
        (out / MODULES).mkdir(parents=True, exist_ok=True)
        for name, one, other in kmod.compared(self.program, out, KERNEL, ours["modprobe"]):
            result.field(re.sub(" of .*", "", name), one, other)

    def compare_listing(self, result, ours, root, item):
        """lsinitramfs takes uncompressed archives first, and one compressed one."""
        words = [c for c, _, _ in item]
        if words not in ([c] for c in TOOLS_OF_LSINITRAMFS) and words not in (["none", c] for c in TOOLS_OF_LSINITRAMFS):
            return
        shown = run("lsinitramfs", root / ("boot/initrd.img-" + KERNEL))
        if b"unrecognised compression" in shown.stderr:
            return
        names = {"/" + n for n in shown.stdout.decode().splitlines() if WANTED.match(n.rpartition("/")[2])}
        result.field("lsinitramfs", sorted(m["path"] for m in ours["modules"]), sorted(names))

    def smaller(self, item, still_bad):
        changed = True
        while changed:
            changed = False
            for less in smaller_ones(item):
                if less and still_bad(less):
                    item, changed = less, True
                    break
        return item

    def show(self, item):
        return "".join("%s, zeros to %d\n%s" % (c, zeros, "".join(
            "  %s%s %r\n" % (path, " -> " + target if target else "", content[:200]) for path, target, content in entries))
            for c, zeros, entries in item)


TOOLS_OF_LSINITRAMFS = ("gzip", "bzip2", "xz", "lzma", "zstd", "lz4")


def smaller_ones(item):
    for i, (c, zeros, entries) in enumerate(item):
        yield item[:i] + item[i + 1:]
        for j in range(len(entries)):
            yield item[:i] + ((c, zeros, entries[:j] + entries[j + 1:]),) + item[i + 1:]


def packed(entries):
    """With the folders, each before what is in it."""
    parts, seen = [], set()
    for number, (path, target, content) in enumerate(entries):
        for i, c in enumerate(path):
            if c == "/" and path[:i] not in seen:
                seen.add(path[:i])
                parts.append(images.entry(path[:i], mode=0o040755))
        parts.append(images.symlink(path, target) if target else images.entry(path, content, ino=1000 + number))
    return images.archive(*parts)


def version_of(path):
    data = path.read_bytes()
    tool = TOOLS.get(path.suffix)
    if tool:
        data = subprocess.run([tool[0], "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    found = re.search(rb"license=Dual MIT/GPL\0version=([^\0]*)\0", data)
    return found and found[1].decode()


ORACLE = Initramfs
