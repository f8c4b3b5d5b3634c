# SPDX-License-Identifier: GPL-2.0-or-later
"""What a disk was written, in order, and what of it is on the disk when the power goes.

QEMU's blklogwrites keeps the log, in the form of the kernel's dm-log-writes (Documentation/
admin-guide/device-mapper/log-writes.rst, block/blklogwrites.c)."""

import mmap
import shutil
import struct

MAGIC = 0x6A736677736872
SUPER = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
FLUSH, FUA, DISCARD = 1, 2, 4
SECTOR = 512
# The kernel writes in pages, and a drive keeps at least that much together.
BLOCK = 4096


class LogError(Exception):
    pass


class Entry:
    def __init__(self, sector, sectors, flags, offset):
        self.place = sector * SECTOR
        self.size = 0 if flags & DISCARD else sectors * SECTOR
        self.flush = bool(flags & FLUSH)
        self.offset = offset


class WriteLog:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, _, count, size = SUPER.unpack_from(self.data)
        if magic != MAGIC:
            raise LogError("%s is no log of writes" % path)
        self.entries = []
        place = size
        for _ in range(count):
            sector, sectors, flags, _ = ENTRY.unpack_from(self.data, place)
            entry = Entry(sector, sectors, flags, place + size)
            self.entries.append(entry)
            place += size + -(-entry.size // size) * size

    def find(self, text):
        """The first write that has TEXT in it."""
        for number, entry in enumerate(self.entries):
            if text in self.data[entry.offset:entry.offset + entry.size]:
                return number
        raise LogError("nothing with %r was written" % text)


class Replay:
    """A disk that goes through the log, and copies of it as they are when the power goes."""

    def __init__(self, log, disk, place):
        self.log = log
        self.path = place
        self.at = 0
        copy(disk, place)

    def _write(self, file, entry, kept=lambda: True):
        for start in range(0, entry.size, BLOCK):
            if kept():
                file.seek(entry.place + start)
                file.write(self.log.data[entry.offset + start:
                                         entry.offset + min(start + BLOCK, entry.size)])

    def write_all(self, number, target):
        """TARGET is the disk with all that was written up to NUMBER."""
        copy(self.path, target)
        with open(target, "r+b") as file:
            for entry in self.log.entries[self.at:number + 1]:
                self._write(file, entry)

    def lose_power(self, number, random, target):
        """TARGET is the disk when the write NUMBER was the last that was begun. What was flushed is there;
        of what was written since each page is, or is not. Numbers only go up."""
        flushed = max((n for n in range(self.at, number) if self.log.entries[n].flush),
                      default=self.at)
        with open(self.path, "r+b") as file:
            for entry in self.log.entries[self.at:flushed]:
                self._write(file, entry)
        self.at = flushed
        copy(self.path, target)
        share = random.choice((0.0, 0.5, 0.5, 1.0))
        with open(target, "r+b") as file:
            for entry in self.log.entries[flushed:number + 1]:
                self._write(file, entry, lambda: random.random() < share)


def copy(source, target):
    """Always another file: a loop device may have the old one open for a moment after it was unmounted."""
    target.unlink(missing_ok=True)
    shutil.copyfile(source, target)
