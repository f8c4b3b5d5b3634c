# SPDX-License-Identifier: GPL-2.0-or-later
"""A node from its description: statements change a model, the model is written out as a tree."""
import copy
import functools
import os
import tarfile

from . import textform
from .parts import boot, driver, files, modules, pci, processes, rdma, repairs, software, system
from .tree import Tree

NODES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "nodes")
PARTS = (system, pci, modules, driver, rdma, processes, software, boot, repairs, files)
MOST_LIKE = 8


@functools.lru_cache(maxsize=None)
def statements(name):
    """The statements of nodes/NAME.node, those of what it is like first."""
    path = os.path.join(NODES, name + ".node")
    if not os.path.exists(path):
        raise textform.FormError("there is no node '%s' in tests/nodes" % name)
    return tuple(_expand(path, 0))


def _expand(path, depth):
    if depth > MOST_LIKE:
        raise textform.FormError("%s: like leads round in a circle" % path)
    for statement in textform.parse(path):
        if statement.verb == "like":
            (name,), _ = statement.take(least=1)
            other = os.path.join(NODES, name + ".node")
            if not os.path.exists(other):
                raise statement.wrong("there is no node '%s'" % name)
            yield from _expand(other, depth + 1)
        else:
            yield statement


class Node:
    """The model. Each part adds its attributes in init() and its verbs in VERBS."""

    def __init__(self, name=None):
        self.merged_usr = True
        for part in PARTS:
            part.init(self)
        self.verbs = {verb: f for part in PARTS for verb, f in part.VERBS.items()}
        self.verbs["merged-usr"] = lambda node, s: setattr(node, "merged_usr", s.words == ["yes"])
        for statement in statements(name) if name else ():
            self.apply(statement)

    def apply(self, statement):
        if statement.verb not in self.verbs:
            raise statement.wrong("no such verb; there are %s" % " ".join(sorted(self.verbs)))
        self.verbs[statement.verb](self, statement)

    def render(self):
        tree = Tree()
        if self.merged_usr:
            tree.link("/lib", "usr/lib")
            tree.link("/lib64", "usr/lib64")
            tree.folder("/usr/lib64")
        for part in PARTS:
            if part is files:
                # Parts have added their device numbers; files change what is there.
                driver.render_majors(self, tree)
            part.render(self, tree)
        return tree

    # ---- what parts ask each other ----

    def expand(self, text):
        """@KERNEL@ and the like in paths and texts."""
        return text.replace("@KERNEL@", self.kernel).replace(
            "@CMDLINE@", system.cmdline(self, "running"))

    def cpulist(self, numa):
        return system.cpulist(self, numa)

    def own_addresses(self):
        return rdma.own_addresses(self)

    def known_modules(self):
        return driver.known_modules(self)

    def driver_ko(self, release):
        return driver.driver_ko(self, release)

    def ofed_dir(self):
        if self.os["id"] in ("rhel", "rocky", "centos"):
            return "extra/mlnx-ofa_kernel"
        return "updates/dkms"


def names():
    """All nodes: described ones and captured ones."""
    found = [f[:-len(".node")] for f in os.listdir(NODES) if f.endswith(".node")]
    return sorted(found + captured())


@functools.lru_cache(maxsize=None)
def captured():
    return sorted(f[:-len(".tar.gz")] for f in os.listdir(NODES) if f.endswith(".tar.gz"))


@functools.lru_cache(maxsize=None)
def captured_tree(name):
    """A captured node's archive as a tree."""
    tree = Tree()
    with tarfile.open(os.path.join(NODES, name + ".tar.gz")) as archive:
        for member in archive.getmembers():
            path = "/" + os.path.normpath(member.name)
            if path == "/.":
                continue
            if member.issym():
                tree.link(path, member.linkname)
            elif member.isdir():
                tree.folder(path)
            elif member.isfile():
                tree.file(path, archive.extractfile(member).read())
    return tree


@functools.lru_cache(maxsize=None)
def described(name):
    """A described node's model and tree: neither may be changed."""
    model = Node(name)
    return model, model.render()


def tree_of(name, edits=()):
    """The tree of a node after EDITS (statements). Edits of files alone change the tree as it was written out once."""
    if all(statement.verb in files.VERBS for statement in edits):
        model, tree = (Node(), captured_tree(name)) if name in captured() else described(name)
        tree, model = copy_of(tree), copy.copy(model)
        model.late = []
        for statement in edits:
            model.apply(statement)
        for action, statement in model.late:
            action(model, tree, statement)
        return tree
    if name in captured():
        raise edits[0].wrong("a captured node can only have its files changed")
    model = Node(name)
    for statement in edits:
        model.apply(statement)
    return model.render()


def copy_of(tree):
    return tree.copy()
