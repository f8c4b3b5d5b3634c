# SPDX-License-Identifier: GPL-2.0-or-later
"""newc archives (cpio(5); Linux Documentation/driver-api/early-userspace/buffer-format.rst) and the
compressions that initramfs images come in."""
import functools
import gzip
import lzma
import stat
import subprocess

TRAILER = "TRAILER!!!"


def _record(name, mode, data, inode, mtime):
    path = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, mtime, len(data), 0, 0, 0, 0, len(path), 0)
    record = b"070701" + b"".join(b"%08X" % f for f in fields) + path
    record += b"\0" * (-len(record) % 4)
    record += data
    return record + b"\0" * (-len(record) % 4)


def archive(entries, mtime):
    """ENTRIES: (path without a leading slash, kind, data or link target); folders are added."""
    out, inode, folders = [], 1, set()
    for path, kind, data in entries:
        parts = path.split("/")
        for i in range(1, len(parts)):
            folder = "/".join(parts[:i])
            if folder not in folders and not any(p == folder for p, _, _ in entries):
                folders.add(folder)
                out.append(_record(folder, stat.S_IFDIR | 0o755, b"", inode, mtime))
                inode += 1
        mode = stat.S_IFLNK | 0o777 if kind == "link" else stat.S_IFREG | 0o644
        out.append(_record(path, mode, data.encode() if isinstance(data, str) else data, inode,
                           mtime))
        inode += 1
    out.append(_record(TRAILER, 0, b"", 0, 0))
    whole = b"".join(out)
    return whole + b"\0" * (-len(whole) % 512)


@functools.lru_cache(maxsize=256)
def _zstd(data, *options):
    try:
        return subprocess.run(["zstd", "-q", "-c", "-T1", *options], input=data, stdout=subprocess.PIPE,
                              check=True).stdout
    except FileNotFoundError:
        raise RuntimeError("the zstd program is needed to make zstd images (package zstd)")


@functools.lru_cache(maxsize=256)
def compress(data, how):
    """zstd: as of an image, which goes through a pipe; zst: as of a module's file, whose size stands in the
    first frame, and libkmod from 34 on wants it there."""
    if how == "none":
        return data
    if how == "gzip":
        return gzip.compress(data, 6, mtime=0)
    if how == "xz":
        # The kernel's decoder knows CRC32 only.
        return lzma.compress(data, check=lzma.CHECK_CRC32)
    if how == "zstd":
        return _zstd(data)
    if how == "zst":
        return _zstd(data, "--stream-size=%d" % len(data))
    raise ValueError("unknown compression '%s'" % how)
