# SPDX-License-Identifier: GPL-2.0-or-later
"""Images: what is found in them against cpio and lsinitramfs, and what never may be said of a
damaged one."""

import itertools
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import zlib

import pytest

from lib.long import or_short
from lib.images import (COMPRESSORS, TRAILER, archive, compress, cpio, decompress, entry, folder,
                    listing, module, pad, symlink)
from lib.program import is_sanitized
from lib.rootfs import HERE, KERNEL, PROGRAM, facts, link, new_tree, run, write

WANTED = re.compile(r"(nvidia|nouveau|nova|gdrdrv|nv.peer.mem|mlx|ib_|rdma|vfio)[^/]*\.ko(\.\w+)?$")


def read_image(tmp_path, data, name=f"boot/initrd.img-{KERNEL}"):
    root = tmp_path / "root"
    if not root.exists():
        new_tree(root)
    write(root / name, data)
    images = facts(root, "initramfs.images")
    assert len(images) == 1
    return images[0]


def options(image):
    return [(o["module"], o["text"]) for o in image["modprobe"]["options"]]


def versions(image):
    return {m["name"]: m.get("version", "unknown") for m in image["modules"]}


EXPECTED = {"nvidia": "580.159.04", "nvidia_uvm": "580.159.04", "ib_core": None}


def assert_small(image):
    """What images.folder() holds."""
    assert image["complete"] is True and image["problem"] is None
    assert image["generator"] == "initramfs-tools"
    assert versions(image) == EXPECTED
    assert options(image) == [("nvidia", "NVreg_A=1"), ("nvidia", "NVreg_A=0")]
    assert [c["module"] for c in image["modprobe"]["blacklist"]] == ["nouveau"]


@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_every_compressor(tmp_path, compressor):
    plain = cpio(folder(tmp_path / "src"))
    data = compress(plain, compressor)
    image = read_image(tmp_path, data)
    assert_small(image)
    assert image["compressors"] == [compressor]
    assert image["size_bytes"] == len(data)
    assert image["running"] is True
    names = [n for n in listing(decompress(data, compressor)) if WANTED.search(n.rpartition("/")[2])]
    assert [m["path"] for m in image["modules"]] == sorted("/" + n for n in names)


@pytest.mark.parametrize("compressor", [c for c in COMPRESSORS if c != "none"])
def test_same_list_as_lsinitramfs(tmp_path, compressor):
    """Microcode first, as most images have it. (lsinitramfs of 2023 fails when what follows is not
    compressed.)"""
    lsinitramfs = shutil.which("lsinitramfs")
    assert lsinitramfs, "lsinitramfs is not installed"
    write(tmp_path / "early/kernel/x86/microcode/GenuineIntel.bin", os.urandom(5000))
    data = pad(cpio(tmp_path / "early"), 512) + compress(cpio(folder(tmp_path / "src")), compressor)
    image = read_image(tmp_path, data)
    assert_small(image)
    assert image["compressors"] == ["none", compressor]
    result = subprocess.run([lsinitramfs, tmp_path / "root/boot" / f"initrd.img-{KERNEL}"],
                            capture_output=True, text=True)
    if "unrecognised compression" in result.stderr:
        pytest.skip("this lsinitramfs does not know " + compressor)
    assert result.returncode == 0, result.stderr
    names = [n for n in result.stdout.splitlines() if WANTED.search(n.rpartition("/")[2])]
    assert [m["path"] for m in image["modules"]] == sorted("/" + n for n in names)


@pytest.mark.parametrize("suffix,compressor", [("xz", "xz"), ("zst", "zstd"), ("gz", "gzip")])
@pytest.mark.parametrize("outer", ["none", "zstd", "gzip"])
def test_compressed_modules_in_the_first_segment(tmp_path, suffix, compressor, outer):
    """Debian 13: modules plain in the first segment, everything else compressed in the second."""
    early, main = tmp_path / "early", folder(tmp_path / "main")
    for path in list((main / "usr/lib/modules").rglob("*.ko")):
        to = early / path.relative_to(main)
        write(to.with_name(to.name + "." + suffix), compress(path.read_bytes() * 3, compressor))
        path.unlink()
    data = compress(cpio(early), outer) + b"\0" * 8 + compress(cpio(main), "zstd")
    image = read_image(tmp_path, data)
    assert_small(image)
    assert all(m["path"].endswith(".ko." + suffix) for m in image["modules"])


@pytest.mark.parametrize("first,second", itertools.product(COMPRESSORS, COMPRESSORS))
@pytest.mark.parametrize("gap", [0, 4, 13, 70000])
def test_two_segments(tmp_path, first, second, gap):
    """One after the other, with zero bytes between them and at the end."""
    one = archive(entry("etc/modprobe.d/a.conf", b"options m a=1\n"),
                  entry("usr/lib/modules/6/nouveau.ko", module("1.0")))
    two = archive(entry("etc/modprobe.d/b.conf", b"options m b=2\n"))
    data = compress(one, first) + b"\0" * gap
    if second == "none" or first == "none" and gap == 0:
        data = pad(data)
    data += compress(two, second) + b"\0" * gap
    image = read_image(tmp_path, data)
    if first == "lz4" and second in ("gzip", "lzma") and gap == 0:
        # Nothing ends such a stream, and the next bytes pass for a block's size: the kernel fails too.
        assert image["complete"] is False
        return
    assert image["problem"] is None and image["complete"] is True
    assert image["compressors"] in ([first, second], [first] if first == second and gap == 0 else None)
    assert options(image) == [("m", "a=1"), ("m", "b=2")]
    assert versions(image) == {"nouveau": "1.0"}


def test_several_archives_in_one_compressed_segment(tmp_path):
    one = archive(entry("etc/modprobe.d/a.conf", b"options m a=1\n"))
    two = archive(entry("etc/modprobe.d/b.conf", b"options m b=2\n"))
    image = read_image(tmp_path, compress(one + b"\0" * 512 + two, "zstd"))
    assert image["complete"] is True
    assert options(image) == [("m", "a=1"), ("m", "b=2")]


@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_cut_off_anywhere(tmp_path, compressor):
    """Never complete, so never "there is no such option in it"."""
    write(tmp_path / "early/kernel/x86/microcode/x.bin", os.urandom(300))
    early = cpio(tmp_path / "early")
    write(tmp_path / "src/zzz", os.urandom(3000))
    data = pad(early) + compress(cpio(folder(tmp_path / "src")), compressor)
    assert_small(read_image(tmp_path, data))
    last = len(data)
    if compressor == "none":
        last = data.rindex(b"TRAILER!!!") + 10  # what follows is padding
    offsets = set(range(1, last, or_short(97, 389))) | set(range(max(1, last - or_short(40, 12)), last))
    for n in sorted(offsets):
        image = read_image(tmp_path, data[:n])
        if image["complete"]:
            # All that is missing is a checksum, or the whole second segment: then nothing tells.
            assert n == len(pad(early)) or n >= len(early) > n - 4 or image["compressors"] == ["none"]
            assert "nvidia" not in versions(image)
            continue
        assert image["problem"]
        assert "modprobe" not in image or image["modprobe"] == {}


@pytest.mark.parametrize("compressor", COMPRESSORS)
@pytest.mark.parametrize("garbage", [b"garbage", b"\x01\x02\x03\x04" * 2000, b"070707" + b"0" * 100])
def test_something_else_at_the_end(tmp_path, compressor, garbage):
    """What the kernel would not know either: the segments before it are read, but not all is known."""
    data = compress(cpio(folder(tmp_path / "src")), compressor) + garbage
    image = read_image(tmp_path, data)
    assert image["complete"] is False
    assert image["problem"]
    assert versions(image) == EXPECTED
    assert image.get("modprobe", {}) == {}


def test_damage(tmp_path):
    """Bytes turned over anywhere: an answer, and no crash."""
    plain = cpio(folder(tmp_path / "src"))
    random.seed(1)
    for compressor in COMPRESSORS:
        data = compress(plain, compressor)
        for _ in range(or_short(30, 8)):
            broken = bytearray(data)
            for _ in range(random.randint(1, 8)):
                broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
            image = read_image(tmp_path, bytes(broken))
            assert image["complete"] or image["problem"]


def test_empty_and_zero_images(tmp_path):
    for data in (b"", b"\0" * 5000, b"0", b"070701", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"):
        image = read_image(tmp_path, data)
        assert image["complete"] is False and image["problem"]


def test_hard_links(tmp_path):
    """cpio writes the body with the last name."""
    src = folder(tmp_path / "src")
    modules = src / "usr/lib/modules" / KERNEL / "updates/dkms"
    os.link(modules / "nvidia.ko", modules / "nvidia-aaa.ko")
    os.link(modules / "nvidia.ko", modules / "zzz.ko")
    os.link(src / "etc/modprobe.d/nvidia.conf", src / "etc/zzz")
    os.link(src / "usr/lib/modprobe.d/vendor.conf", src / "aaa")
    image = read_image(tmp_path, compress(cpio(src), "zstd"))
    assert versions(image) == EXPECTED | {"nvidia_aaa": "580.159.04"}
    assert options(image) == [("nvidia", "NVreg_A=1"), ("nvidia", "NVreg_A=0")]


@pytest.mark.parametrize("carrier", range(3))
def test_body_of_a_hard_link_under_any_name(tmp_path, carrier):
    names = ["usr/aaa.ko", "usr/lib/modules/6/nvidia.ko", "usr/zzz.ko"]
    confs = ["aaa", "etc/modprobe.d/x.conf", "zzz"]
    entries = []
    for i in range(3):
        entries.append(entry(names[i], module() if i == carrier else b"", ino=7, nlink=3))
        entries.append(entry(confs[i], b"options m a=1\n" if i == carrier else b"", ino=8, nlink=3))
    image = read_image(tmp_path, archive(*entries))
    assert versions(image) == {"nvidia": "580.159.04"}
    assert options(image) == [("m", "a=1")]


def test_hard_links_do_not_reach_into_the_next_archive(tmp_path):
    one = archive(entry("usr/lib/modules/6/nvidia.ko", b"", ino=7, nlink=2))
    two = archive(entry("usr/other.ko", module(), ino=7, nlink=2))
    assert versions(read_image(tmp_path, one + two)) == {"nvidia": "unknown"}


def test_later_entries_replace_earlier_ones(tmp_path):
    one = archive(entry("etc/modprobe.d/x.conf", b"options m a=1\n"),
                  entry("etc/modprobe.d/x.conf", b"options m a=2\n"),
                  entry("usr/lib/modules/6/nvidia.ko", module("1")),
                  symlink("etc/modprobe.d/y.conf", "x.conf"),
                  entry("etc/modprobe.d/z.conf", b"options m z=1\n"))
    two = archive(entry("./usr/lib/modules/6/nvidia.ko", module("2")),
                  entry("/etc/modprobe.d/y.conf", b"options m y=1\n"),
                  entry("etc/modprobe.d/z.conf", mode=0o040755))
    image = read_image(tmp_path, one + compress(two, "zstd"))
    assert options(image) == [("m", "a=2"), ("m", "y=1")]
    assert versions(image) == {"nvidia": "2"}


def test_folders_that_are_links(tmp_path):
    """lib is a link to usr/lib: one folder under two names, and one file under two paths."""
    image = read_image(tmp_path, archive(
        symlink("lib", "usr/lib"),
        entry("usr/lib/modprobe.d/a.conf", b"options m a=1\n"),
        entry("lib/modprobe.d/b.conf", b"options m b=1\n"),
        entry("lib/modprobe.d/a.conf", b"options m a=2\n"),
        entry("lib/modules/6/nvidia.ko", module("1")),
        entry("usr/lib/modules/6/nvidia.ko", module("2"))))
    assert options(image) == [("m", "a=2"), ("m", "b=1")]
    assert [f["path"] for f in image["modprobe"]["files"]] == [
        "/usr/lib/modprobe.d/a.conf", "/usr/lib/modprobe.d/b.conf"]
    assert [(m["path"], m["version"]) for m in image["modules"]] == [
        ("/usr/lib/modules/6/nvidia.ko", "2")]


def test_linked_configuration(tmp_path):
    """Debian's alternatives, as initramfs-tools and dracut copy them; a mask that dracut keeps."""
    image = read_image(tmp_path, archive(
        symlink("etc/modprobe.d/nvidia.conf", "/etc/alternatives/nvidia.conf"),
        symlink("etc/alternatives/nvidia.conf", "../nvidia/current/nvidia-modprobe.conf"),
        symlink("etc/nvidia/current", "tesla"),
        entry("etc/nvidia/tesla/nvidia-modprobe.conf", b"options nvidia-current A=1\n"),
        symlink("etc/modprobe.d/vendor.conf", "/dev/null"),
        entry("lib/modprobe.d/vendor.conf", b"options nvidia-current A=0\n")))
    assert options(image) == [("nvidia_current", "A=1")]
    assert [(f["path"], f["masked_by"]) for f in image["modprobe"]["files"]] == [
        ("/etc/modprobe.d/nvidia.conf", None), ("/etc/modprobe.d/vendor.conf", None),
        ("/lib/modprobe.d/vendor.conf", "/etc/modprobe.d/vendor.conf")]


def test_mask_that_was_dropped(tmp_path):
    """initramfs-tools drops the link to /dev/null and keeps the file that it masked."""
    image = read_image(tmp_path, archive(
        entry("usr/lib/modprobe.d/vendor.conf", b"options nvidia A=0\n")))
    assert options(image) == [("nvidia", "A=0")]


def test_configuration_that_was_not_kept(tmp_path):
    for target in ("/nowhere/x.conf", "/etc/other"):
        image = read_image(tmp_path, archive(
            symlink("etc/modprobe.d/x.conf", target),
            entry("etc/other", b"options m a=1\n"),
            entry("etc/modprobe.d/y.conf", b"options m a=2\n")))
        assert image["complete"] is False
        assert "/etc/modprobe.d/x.conf" in image["problem"]
        assert not image["modprobe"].get("complete")


def test_linked_modules(tmp_path):
    """weak-updates."""
    image = read_image(tmp_path, archive(
        symlink("lib", "usr/lib"),
        symlink("usr/lib/modules/6/weak-updates/nvidia.ko.xz", "/lib/modules/5/extra/nvidia.ko.xz"),
        entry("lib/modules/5/extra/nvidia.ko.xz", compress(module("7.8"), "xz")),
        symlink("usr/lib/modules/6/weak-updates/nvidia-uvm.ko", "nowhere.ko")))
    assert {m["path"]: m.get("version", "unknown") for m in image["modules"]} == {
        "/usr/lib/modules/5/extra/nvidia.ko.xz": "7.8",
        "/usr/lib/modules/6/weak-updates/nvidia.ko.xz": "7.8",
        "/usr/lib/modules/6/weak-updates/nvidia-uvm.ko": "unknown"}


@pytest.mark.parametrize("entries,generator", [
    ([entry("scripts/functions")], "initramfs-tools"),
    ([entry("usr/lib/dracut/dracut-059")], "dracut"),
    ([entry("lib/dracut/build-parameter.txt")], "dracut"),
    ([entry("init_functions"), entry("config")], "mkinitcpio"),
    ([entry("etc/booster.init.yaml")], "booster"),
    ([entry("init")], None),
])
def test_generator(tmp_path, entries, generator):
    assert read_image(tmp_path, archive(*entries))["generator"] == generator


@pytest.mark.parametrize("name", ["squashfs-root.img", "squash/erofs-root.img", "squash-root.img"])
def test_hidden_in_another_image(tmp_path, name):
    image = read_image(tmp_path, archive(entry("usr/lib/dracut/dracut-104"), entry(name, b"hsqs"),
                                         entry("etc/modprobe.d/x.conf", b"options m a=1\n")))
    assert image["complete"] is False and "squashfs" in image["problem"]
    assert image["generator"] == "dracut"
    assert image.get("modprobe", {}) == {}


def test_formats_of_cpio(tmp_path):
    body = entry("etc/modprobe.d/x.conf", b"options m a=1\n", magic=b"070702")
    assert options(read_image(tmp_path, body + TRAILER)) == [("m", "a=1")]
    long_name = entry("x" * 5000) + entry("etc/modprobe.d/x.conf", b"options m a=1\n")
    assert options(read_image(tmp_path, long_name + TRAILER)) == [("m", "a=1")]
    src = folder(tmp_path / "src")
    for form in ("odc", "bin", "ustar"):
        data = subprocess.run(["cpio", "-o", "-H", form, "--quiet"], cwd=src, input=b"init\n",
                              capture_output=True, check=True).stdout
        image = read_image(tmp_path, data)
        assert image["complete"] is False and image["problem"]


def test_lzo_and_lz4_frames(tmp_path):
    image = read_image(tmp_path, b"\x89LZO\0\r\n\x1a\n" + b"\0" * 100)
    assert image["complete"] is False and "lzo" in image["problem"]
    plain = cpio(folder(tmp_path / "src"))
    # The kernel reads what "lz4 -l" makes, and no frame: "invalid magic at start of compressed archive".
    for flags in ([], ["-BX"], ["--content-size"]):
        data = subprocess.run(["lz4", "-q", "-c", *flags], input=plain, capture_output=True,
                              check=True).stdout
        for image in (read_image(tmp_path, data), read_image(tmp_path, pad(plain) + data)):
            assert image["complete"] is False and "no compressor known to the kernel" in image["problem"]


def test_zstd_frames_of_every_form(tmp_path):
    plain = cpio(folder(tmp_path / "src"))
    more = archive(entry("etc/modprobe.d/b.conf", b"options m b=2\n"))
    for flags in (["--no-check"], ["--check"], ["-19"], ["-1", "--single-thread"],
                  ["--no-content-size"], ["--ultra", "-22"], ["--fast=5"]):
        for content in (plain + b"\0" * 300_000, plain, plain + b"\0" * 512)[:or_short(3, 1)]:
            data = subprocess.run(["zstd", "-q", "-c", *flags], input=content,
                                  capture_output=True, check=True).stdout
            image = read_image(tmp_path, pad(data) + more)
            assert image["complete"] is True, flags
            assert ("m", "b=2") in options(image) and len(options(image)) == 3


def test_boot_configuration_at_the_end(tmp_path):
    """Documentation/admin-guide/bootconfig.rst: the text, its size, its sum, a magic word."""
    text = b"kernel { foo = 1 }\n\0\0\0"
    data = cpio(folder(tmp_path / "src")) + text
    data += struct.pack("<II", len(text), sum(text)) + b"#BOOTCONFIG\n"
    assert_small(read_image(tmp_path, data))
    assert_small(read_image(tmp_path, data + b"\0\0\0"))


def pe_file(sections):
    """A PE file that is nothing but sections, as a unified kernel image is to who looks into it."""
    head = b"MZ" + b"\0" * 58 + struct.pack("<I", 64)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, 0, 0)
    offset, table, body = 1024, b"", b""
    for name, data in sections.items():
        raw = pad(data, 512)
        table += struct.pack("<8sIIIIIIHHI", name.encode(), len(data), 0, len(raw), offset, 0, 0, 0, 0, 0)
        body += raw
        offset += len(raw)
    return (head + table).ljust(1024, b"\0") + body


def test_inside_a_unified_kernel_image(tmp_path):
    data = pe_file({".linux": b"MZ" + b"070701" * 50, ".cmdline": b"quiet",
                    ".initrd": compress(cpio(folder(tmp_path / "src")), "zstd")})
    assert_small(read_image(tmp_path, data))


# ---- libraries that are not there ----

def without(monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("gap", [0, 4, 70000])
def test_zstd_without_libzstd(tmp_path, monkeypatch, hide, gap):
    """libarchive loses the end of a zstd stream when anything follows it."""
    data = compress(cpio(folder(tmp_path / "src")), "zstd") + b"\0" * gap
    more = archive(entry("etc/modprobe.d/b.conf", b"options m b=2\n"))
    without(monkeypatch, hide("libzstd.so.1"))
    assert_small(read_image(tmp_path, data))
    image = read_image(tmp_path, pad(data) + more)
    assert image["complete"] is True
    assert image["compressors"] == ["zstd", "none"]
    assert ("m", "b=2") in options(image) and len(options(image)) == 3


def test_no_library_at_all(tmp_path, monkeypatch, hide):
    data = archive(entry("usr/lib/modules/6/nvidia.ko.xz", compress(module(), "xz")))
    without(monkeypatch, hide("libzstd.so.1", "libarchive.so.13"))
    image = read_image(tmp_path, data)
    assert image["complete"] is True and versions(image) == {"nvidia": "unknown"}
    for compressor in ("zstd", "gzip"):
        image = read_image(tmp_path, data + compress(data, compressor))
        assert image["complete"] is False and "libarchive is not installed" in image["problem"]
        assert versions(image) == {"nvidia": "unknown"}


# ---- versions of modules ----

def test_version_wherever_it_stands(tmp_path):
    """The row of strings across every border of blocks, and text that only looks like it."""
    entries = [entry(f"m/nvidia-{n}.ko", b"\x01" * n + module(f"1.{n}")) for n in
               (*range(65500, 65560, 7), 131072, 98304, 200_000, 32768, 65536)]
    image = read_image(tmp_path, compress(archive(*entries), "gzip"))
    assert versions(image) == {f"nvidia_{n}": f"1.{n}" for n in
                               (*range(65500, 65560, 7), 131072, 98304, 200_000, 32768, 65536)}


@pytest.mark.parametrize("body,version", [
    (b"\0version=1\0vermagic=x\0", "1"),
    (b"\0vermagic=x\0version=1\0", "1"),
    (b"version=1\0license=GPL\0vermagic=x\0", "1"),
    (b"sub\x90version=1\0license=GPL\0vermagic=x\0", "1"),
    (b"subversion=1\0license=GPL\0vermagic=x\0", "unknown"),
    (b"\0srcversion=1\0rhelversion=9.4\0vermagic=x\0", None),
    (b"\0\0\0version=1\0name=x\0vermagic=x\0\0", "1"),
    (b"\0version=1\0name=x\0vermagic=x\0version=1\0", "1"),
    (b"\0version=1\0name=x\0vermagic=x\0version=2\0", None),
    (b"\0version=1\0\0name=x\0vermagic=x\0", None),
    (b"\0version=1\0no row\0vermagic=x\0", None),
    (b"\0version=\0vermagic=x\0", None),
    (b"\0version=" + b"1" * 100 + b"\0vermagic=x\0", None),
    (b"\0version=1\0parm=a:several\nlines\0vermagic=x\0", "1"),
    (b"\0version=1\0", "unknown"),
    (b"xvermagic=y\0version=1\0", "unknown"),
    (b"", "unknown"),
])
def test_what_counts_as_a_version(tmp_path, body, version):
    image = read_image(tmp_path, archive(entry("m/nvidia.ko", b"ELF\1" + body + b"\1\1")))
    assert versions(image) == {"nvidia": version}


def test_damaged_compressed_module(tmp_path):
    """Its version is unknown; the image is read to its end all the same."""
    whole = compress(module(size=100_000), "xz")
    for body in (whole[: len(whole) // 2], b"not xz at all", b"", whole[:20] + b"\xff" * 40):
        image = read_image(tmp_path, archive(entry("m/nvidia.ko.xz", body),
                                             entry("etc/modprobe.d/x.conf", b"options m a=1\n")))
        assert image["complete"] is True
        assert versions(image) == {"nvidia": "unknown"}
        assert options(image) == [("m", "a=1")]


# ---- which images ----

@pytest.mark.parametrize("name", [f"boot/initrd.img-{KERNEL}", f"boot/initramfs-{KERNEL}.img",
                                  f"boot/initrd-{KERNEL}", f"lib/modules/{KERNEL}/initrd",
                                  f"lib/modules/{KERNEL}/initramfs.img"])
def test_names_of_images(tmp_path, name):
    image = read_image(tmp_path, archive(entry("init")), name)
    assert image["path"] == "/" + name
    assert image["kernel"] == KERNEL and image["running"] is True


def test_no_image(tmp_path):
    root = new_tree(tmp_path)
    write(root / "boot/config-x", "")
    assert facts(root, "initramfs.images") == []


def test_a_tree_without_boot_is_unknown(tmp_path):
    found = facts(new_tree(tmp_path))
    assert "images" not in found.get("initramfs", {})
    assert "/boot" in [g["path"] for g in found["gaps"]]


def test_capture_gives_the_same(tmp_path):
    root = new_tree(tmp_path / "root")
    write(root / f"boot/initrd.img-{KERNEL}", compress(cpio(folder(tmp_path / "src")), "zstd"))
    run("--root", root, "capture", "--no-redact", "-o", tmp_path / "node.cap")
    again = run("--from", tmp_path / "node.cap", "facts", "initramfs")
    assert again.stdout == run("--root", root, "facts", "initramfs").stdout


def test_problem_is_a_gap_too(tmp_path):
    root = new_tree(tmp_path)
    write(root / f"boot/initrd.img-{KERNEL}", b"nothing")
    gaps = [g for g in facts(root)["gaps"] if g["probe"] == "initramfs"]
    assert [g["path"] for g in gaps] == [f"/boot/initrd.img-{KERNEL}"]


# ---- limits and budgets ----

def test_more_than_is_kept(tmp_path):
    many = [symlink(f"usr/share/{i}/{'x' * 100}", "y" * 100) for i in range(20_000)]
    image = read_image(tmp_path, compress(archive(*many), "zstd"))
    assert image["complete"] is False and "more links" in image["problem"]


def test_more_configuration_than_is_kept(tmp_path):
    def image_of(line):
        many = [entry(f"etc/modprobe.d/{i}.conf", line * 1_000) for i in range(5)]
        return read_image(tmp_path, archive(*many))
    assert image_of(b"options snd-hda-intel power_save=0\n")["complete"] is True
    image = image_of(b"options nvidia NVreg_EnableMSI=1\n")
    assert image["complete"] is False and "in modprobe.d than are kept" in image["problem"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """More than 100 MB of zstd (make check: a quarter): firmware that does not shrink, a driver of 60 MB,
    shared libraries."""
    unit = or_short(1_000_000, 250_000)
    path = tmp_path_factory.mktemp("large")
    src = folder(path / "src")
    write(src / "usr/lib/firmware/gsp_ga10x.bin", random.Random(1).randbytes(75 * unit))
    libraries = b"".join(p.read_bytes() for p in sorted((path / "/usr/bin").iterdir())[:600]
                         if p.is_file() and os.access(p, os.R_OK))[:120 * unit]
    write(src / "usr/bin/all", libraries)
    write(src / f"usr/lib/modules/{KERNEL}/updates/dkms/nvidia.ko",
          libraries[:40 * unit] + module() + libraries[:20 * unit])
    root = new_tree(path / "root")
    image = root / f"boot/initrd.img-{KERNEL}"
    # The window of zstd -9, which takes several times as long.
    write(image, subprocess.run(["zstd", "-q", "-3", "--zstd=wlog=22", "-c"], input=cpio(src),
                                capture_output=True, check=True).stdout)
    shutil.rmtree(src)
    assert image.stat().st_size > 100 * unit
    return root, image


def best_of(n, *args):
    """Seconds of processor time, which do not depend on who else is on the machine."""
    times = []
    for _ in range(n):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(args, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_large_image_in_time(large):
    """Within 1.3 times the decompressing alone."""
    root, image = large
    if is_sanitized():
        pytest.skip("a sanitizer takes more time than the program")
    alone = best_of(3, "zstd", "-dc", image)
    ours = best_of(3, PROGRAM, "--root", root, "facts", "initramfs")
    print(f"zstd -dc {alone:.3f} s, ours {ours:.3f} s")
    assert ours < 1.3 * alone


def test_large_image_in_memory(large):
    """10 MiB are budgeted, of which a stream of zstd -9 alone asks for 4 as its window."""
    root, _ = large
    if is_sanitized():
        pytest.skip("a sanitizer takes more memory than the program")
    program = ["/usr/bin/time", "-f", "%M", PROGRAM, "--root", root, "facts", "initramfs.images"]
    assert os.access(program[0], os.X_OK), "GNU time is not installed"
    result = subprocess.run(program, capture_output=True, check=True, text=True)
    peak = int(result.stderr.split()[-1])
    print(f"peak {peak} KiB")
    assert '"complete": true' in result.stdout and '"580.159.04"' in result.stdout
    assert peak <= 10 * 1024
