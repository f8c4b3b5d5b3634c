# SPDX-License-Identifier: GPL-2.0-or-later
"""The unmodified program in a root that is made of a node's tree, where it looks at it without --root."""
import glob
import os
import re
import shutil
import subprocess

import pytest

from . import node, program

HERE = "/run/nvnodecheck-test"
OPENED = ("libarchive.so.13", "libibverbs.so.1", "libkmod.so.2", "libpci.so.3", "libz.so.1", "libsystemd.so.0",
          "libyaml-0.so.2", "libjson-c.so.5", "libinih.so.[01]")


def tree_of(name):
    """Of the process that runs there is only one; the real /proc has it."""
    tree = node.copy_of(node.tree_of(name))
    for path in [p for p in tree.entries if p.startswith("/proc/self/")]:
        del tree.entries[path]
    tree.folders -= {f for f in tree.folders if f.startswith("/proc/self")}
    tree.link("/proc/self", "/run/proc/self")
    return tree


class Program:
    """With all libraries that it is linked with or may open, and their loader."""

    def __init__(self):
        if not shutil.which("bwrap"):
            pytest.skip("bwrap is not installed")
        self.folder = os.path.join(program.BUILD, "program-%d" % os.getpid())
        os.makedirs(self.folder)
        self.copy(program.binary(), "nvnodecheck")
        for name in OPENED:
            for path in glob.glob("/usr/lib/*-linux-gnu/" + name) or glob.glob("/usr/lib64/" + name):
                self.copy(path, os.path.basename(path))

    def copy(self, file, name):
        shutil.copy(file, os.path.join(self.folder, name))
        text = subprocess.run(["ldd", file], stdout=subprocess.PIPE, check=True).stdout.decode()
        for path in re.findall(r"(/\S+) \(0x", text):
            if "ld-linux" in path:
                self.loader = os.path.basename(path)
            shutil.copy(path, self.folder)

    def command(self, directory, *options):
        """What goes in front of the program's arguments; OPTIONS are bwrap's."""
        return ["bwrap", "--bind", directory, "/", "--ro-bind", self.folder, HERE, "--proc", "/run/proc",
                "--die-with-parent", *options, "--", "%s/%s" % (HERE, self.loader), "--library-path", HERE,
                HERE + "/nvnodecheck"]

    def leave(self, stage):
        """bwrap made these folders in the tree."""
        for path in (HERE, "/run/proc"):
            if os.path.isdir(stage.directory + path):
                os.rmdir(stage.directory + path)
        stage.clear()

    def remove(self):
        shutil.rmtree(self.folder)
