# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree of a described node: its files in memory, and the copy on disk for --root.

A case is a small edit over a node: the copy on disk is brought from one tree to the next by writing
only what differs.
"""
import collections
import errno
import functools
import os
import stat

# Files are dated alike so that facts do not change from run to run: 2025-01-01 00:00:00 UTC.
EPOCH = 1735689600
LINKS_MAX = 40

# kind: file, link, fifo, sparse (data is the size)
Entry = collections.namedtuple("Entry", "kind data mode mtime")


@functools.lru_cache(maxsize=None)
def relative(target, folder):
    """TARGET as a link in FOLDER names it; the nodes have the same few thousand again and again."""
    return os.path.relpath(target, folder)


def as_bytes(data):
    return data.encode("utf-8") if isinstance(data, str) else data


class Tree:
    def __init__(self):
        self.entries = {}
        self.folders = set()	# those that are there even when empty
        self.modes = {}		# path: permission bits put on last, also of folders
        self.resolved = {"": ""}	# folder: the same without links on its way

    def copy(self):
        other = Tree()
        other.entries, other.folders, other.modes = dict(self.entries), set(self.folders), dict(self.modes)
        return other

    # ---- making ----

    def file(self, path, data="", mode=0o644, mtime=EPOCH):
        self.entries[self.real(path)] = Entry("file", as_bytes(data), mode, mtime)

    def line(self, path, value):
        """A file of sysfs or procfs that holds one value."""
        self.entries[path] = Entry("file", as_bytes("%s\n" % value), 0o644, EPOCH)

    def link(self, path, target):
        path = self.real(path, last=False)
        self.entries[path] = Entry("link", target, 0o777, EPOCH)
        if path in self.resolved:
            self.resolved = {"": ""}

    def fifo(self, path):
        self.entries[self.real(path)] = Entry("fifo", None, 0o644, EPOCH)

    def sparse(self, path, size):
        self.entries[self.real(path)] = Entry("sparse", size, 0o644, EPOCH)

    def folder(self, path):
        self.folders.add(self.real(path))

    def link_between(self, path, target):
        """A link whose target is written relative to its folder, as sysfs does."""
        self.link(path, relative(target, path.rpartition("/")[0]))

    # ---- looking ----

    def real(self, path, last=True):
        """PATH with the links on its way followed; the last one too unless told otherwise."""
        folder, _, name = path.rpartition("/")
        if not name or name == "..":
            return self._resolve(path, last)
        done = self._real_folder(folder) + "/" + name
        entry = self.entries.get(done)
        return self._resolve(path, last) if last and entry and entry.kind == "link" else done

    def _real_folder(self, folder):
        """Kept, with the folders above it, until a link takes the place of one of them."""
        done = self.resolved.get(folder)
        if done is None:
            done = self.real(folder)
            self.resolved[folder] = done = "" if done == "/" else done
        return done

    def _resolve(self, path, last):
        done, rest, links = "", [part for part in path.split("/") if part], 0
        while rest:
            part = rest.pop(0)
            if part == "..":
                done = os.path.dirname(done)
                continue
            entry = self.entries.get(done + "/" + part)
            if entry and entry.kind == "link" and (rest or last):
                links += 1
                if links > LINKS_MAX:
                    raise OSError(errno.ELOOP, "too many links", path)
                rest = [p for p in entry.data.split("/") if p and p != "."] + rest
                if entry.data.startswith("/"):
                    done = ""
            else:
                done += "/" + part
        return done or "/"

    def read(self, path):
        """The bytes of a file, or None."""
        entry = self.entries.get(self.real(path))
        return entry.data if entry and entry.kind == "file" else None

    def text(self, path):
        data = self.read(path)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def below(self, path):
        """The paths of all entries in a folder, at any depth."""
        prefix = self.real(path).rstrip("/") + "/"
        return sorted(p for p in self.entries if p.startswith(prefix))

    def names(self, path):
        prefix = self.real(path).rstrip("/") + "/"
        return sorted({p[len(prefix):].split("/", 1)[0] for p in self.entries
                       if p.startswith(prefix)})

    def has(self, path):
        path = self.real(path)
        return path in self.entries or path in self.all_folders()

    def all_folders(self):
        folders = set()
        for path in list(self.entries) + [f + "/" for f in self.folders]:
            parent = path.rpartition("/")[0]
            while parent and parent not in folders:
                folders.add(parent)
                parent = parent.rpartition("/")[0]
        return folders

    # ---- editing ----

    def remove(self, path):
        """A file, link or folder with all that is in it; the folder above stays."""
        path = self.real(path, last=False)
        gone = [p for p in self.entries if p == path or p.startswith(path + "/")]
        folders = [p for p in self.folders if p == path or p.startswith(path + "/")]
        if not gone and not folders:
            raise KeyError(path)
        for p in gone:
            del self.entries[p]
        self.resolved = {"": ""}
        self.folders -= set(folders)
        parent = path.rpartition("/")[0]
        if parent:
            self.folders.add(parent)

    def set_mtime(self, path, mtime):
        path = self.real(path)
        self.entries[path] = self.entries[path]._replace(mtime=mtime)


class Stage:
    """One tree on disk at a time, in DIRECTORY, which must be empty or not there."""

    def __init__(self, directory):
        self.directory = directory
        self.tree = Tree()
        self.folders = set()
        os.makedirs(directory, exist_ok=True)
        os.chmod(directory, 0o755)
        if os.listdir(directory):
            raise OSError(errno.ENOTEMPTY, "not empty", directory)

    def put(self, tree):
        self._open_modes()
        old, new = self.tree.entries, tree.entries
        for path in [p for p in old if old[p] != new.get(p)]:
            os.unlink(self.directory + path)
        self._make_folders(tree)
        for path, entry in new.items():
            if old.get(path) != entry:
                self._write(path, entry)
        self.tree = tree.copy()  # who edits theirs and puts it again changes what is here
        self._close_modes()

    def _make_folders(self, tree):
        before, after = self.folders, tree.all_folders()
        for path in sorted(before - after, reverse=True):
            os.rmdir(self.directory + path)
        for path in sorted(after - before):
            os.mkdir(self.directory + path, 0o755)
        self.folders = after

    def _write(self, path, entry):
        native = self.directory + path
        if entry.kind == "link":
            os.symlink(entry.data, native)
            return
        if entry.kind == "fifo":
            os.mkfifo(native)
        else:
            with open(native, "wb") as file:
                if entry.kind == "sparse":
                    file.truncate(entry.data)
                else:
                    file.write(entry.data)
        if entry.mode != 0o644:
            os.chmod(native, entry.mode)
        os.utime(native, (entry.mtime, entry.mtime))

    def _open_modes(self):
        """Takes the special permissions off again, so that what lies below can be changed."""
        for path in sorted(self.tree.modes):
            entry = self.tree.entries.get(path)
            os.chmod(self.directory + path, entry.mode if entry else 0o755)

    def _close_modes(self):
        for path, mode in sorted(self.tree.modes.items(), reverse=True):
            os.chmod(self.directory + path, mode)

    def clear(self):
        self.put(Tree())


def is_open_to_all(directory):
    """Can any user reach DIRECTORY? Otherwise nothing in it can be shown to an unprivileged one."""
    while directory != "/":
        if not os.stat(directory).st_mode & stat.S_IXOTH:
            return False
        directory = os.path.dirname(directory)
    return True
