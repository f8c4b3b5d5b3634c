# SPDX-License-Identifier: GPL-2.0-or-later
"""Single files, put over what the other parts make, in the order in which they are written."""
import datetime

from .. import elf
from ..tree import EPOCH


def init(node):
    node.late = []	# (function, statement): applied to the tree after everything else


def late(action):
    def verb(node, statement):
        node.late.append((action, statement))
    return verb


def when(statement, word):
    """A time as the node file writes it: 2025-03-01 or 2025-03-01T12:00."""
    try:
        return int(datetime.datetime.fromisoformat(word).replace(
            tzinfo=datetime.timezone.utc).timestamp())
    except ValueError:
        raise statement.wrong("'%s' is not a date" % word)


def put_file(node, tree, statement):
    """file PATH [mode=0600] [mtime=2025-03-01], with the content as its block; or text=TEXT with
    escapes as in Python, or hex=DIGITS. With fill=N, @FILL@ stands for N times the letter a"""
    (path,), named = statement.take("mode", "mtime", "text", "hex", "fill", least=1)
    data = statement.content().replace("@FILL@", "a" * int(named.get("fill", 0)))
    if "text" in named:
        data = named["text"].encode().decode("unicode_escape")
    if "hex" in named:
        data = bytes.fromhex(named["hex"])
    mtime = when(statement, named["mtime"]) if "mtime" in named else EPOCH
    tree.file(node.expand(path), node.expand(data) if isinstance(data, str) else data,
              int(named.get("mode", "644"), 8), mtime)


def put_elf(node, tree, statement):
    """elf PATH [needs=A,B:V1:V2] [defines=V1,V2] [rpath=] [runpath=] [soname=] [machine=]: a program, or with soname a
    library. After a needed library the versions that it has to define; a weak one ends with ?"""
    (path,), named = statement.take("needs", "defines", "rpath", "runpath", "soname", "machine", least=1)
    needs = [name.split(":") for name in named.get("needs", "").split(",") if name]
    tree.file(node.expand(path), elf.program(
        named.get("machine", node.machine), [name for name, *_ in needs], named.get("rpath"), named.get("runpath"),
        named.get("soname"), {name: versions for name, *versions in needs if versions},
        [name for name in named.get("defines", "").split(",") if name]), 0o755)


def append(node, tree, statement):
    (path,), _ = statement.take(least=1)
    tree.file(node.expand(path), (tree.text(node.expand(path)) or "") + statement.content())


def replace(node, tree, statement):
    """replace PATH OLD NEW"""
    (path, old, new), _ = statement.take(least=3)
    path = node.expand(path)
    text = tree.text(path)
    if text is None or old not in text:
        raise statement.wrong("'%s' is not in %s" % (old, path))
    entry = tree.entries[tree.real(path)]
    tree.file(path, text.replace(old, new), entry.mode, entry.mtime)


def remove(node, tree, statement):
    for path in statement.words:
        try:
            tree.remove(node.expand(path))
        except KeyError:
            raise statement.wrong("%s is not there" % path)


def link(node, tree, statement):
    (path, target), _ = statement.take(least=2)
    tree.link(node.expand(path), node.expand(target))


def folder(node, tree, statement):
    (path,), _ = statement.take(least=1)
    tree.folder(node.expand(path))


def mtime(node, tree, statement):
    (path, date), _ = statement.take(least=2)
    tree.set_mtime(node.expand(path), when(statement, date))


def truncate(node, tree, statement):
    """truncate PATH BYTES: only the first are left"""
    (path, size), _ = statement.take(least=2)
    path = node.expand(path)
    tree.file(path, tree.read(path)[:int(size)])


def fifo(node, tree, statement):
    (path,), _ = statement.take(least=1)
    path = tree.real(node.expand(path))
    tree.entries.pop(path, None)
    tree.fifo(path)


def sparse(node, tree, statement):
    """sparse PATH BYTES: a file of that many zero bytes"""
    (path, size), _ = statement.take(least=2)
    tree.sparse(node.expand(path), int(size))


def mode(node, tree, statement):
    (path, bits), _ = statement.take(least=2)
    tree.modes[tree.real(node.expand(path))] = int(bits, 8)


def unreadable(node, tree, statement):
    """unreadable PATH...: nobody but root may read it; the program runs as an ordinary user"""
    for path in statement.words:
        path = node.expand(path)
        if not tree.has(path):
            raise statement.wrong("%s is not there" % path)
        tree.modes[tree.real(path)] = 0


VERBS = {"file": late(put_file), "elf": late(put_elf), "append": late(append), "replace": late(replace),
         "remove": late(remove), "link": late(link), "folder": late(folder), "mtime": late(mtime),
         "truncate": late(truncate), "fifo": late(fifo), "sparse": late(sparse),
         "mode": late(mode), "unreadable": late(unreadable)}


def render(node, tree):
    for action, statement in node.late:
        action(node, tree, statement)
