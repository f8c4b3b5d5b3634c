# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives in the newc format of cpio, as the kernel unpacks them for its first root file system
(Documentation/driver-api/early-userspace/buffer-format.rst)."""

import os
import stat


class Archive:
    """An archive in memory. Folders above a file are added with it; times are zero."""

    def __init__(self):
        self._parts = []
        self._seen = set()
        self._size = 0
        self._number = 0

    def _put(self, data):
        self._parts.append(data)
        self._size += len(data)
        padding = -self._size % 4
        if padding:
            self._parts.append(bytes(padding))
            self._size += padding

    def _entry(self, name, mode, data=b"", device=(0, 0)):
        self._number += 1
        encoded = name.encode() + b"\0"
        fields = (self._number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        self._put(b"070701" + b"".join(b"%08X" % f for f in fields) + encoded)
        if data:
            self._put(data)

    def folder(self, path):
        path = path.strip("/")
        if not path or path in self._seen:
            return
        self.folder(os.path.dirname(path))
        self._seen.add(path)
        self._entry(path, stat.S_IFDIR | 0o755)

    def _new(self, path):
        path = path.strip("/")
        self.folder(os.path.dirname(path))
        if path in self._seen:
            return None
        self._seen.add(path)
        return path

    def file(self, path, data, mode=0o644):
        path = self._new(path)
        if path:
            self._entry(path, stat.S_IFREG | mode, data)

    def link(self, path, target):
        path = self._new(path)
        if path:
            self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, path, major, minor):
        path = self._new(path)
        if path:
            self._entry(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def copy(self, source, path=None):
        """A file of this machine, links followed, at the same path unless another is given."""
        with open(source, "rb") as f:
            self.file(path or source, f.read(), 0o755 if os.access(source, os.X_OK) else 0o644)

    def bytes(self):
        trailer = Archive()
        trailer._entry("TRAILER!!!", 0)
        return b"".join(self._parts + trailer._parts)
