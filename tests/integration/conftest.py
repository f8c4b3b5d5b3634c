# SPDX-License-Identifier: GPL-2.0-or-later
"""The fleet's own engines with what contrib/ has for them. Each file needs its engine, and most need
root; what is not there is skipped. `make check-integration` runs them; `make check` does not."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True

from lib import node, program, textform, tree  # noqa: E402

CONTRIB = os.path.join(TOP, "contrib")
INSTALLED = "/usr/sbin/nvnodecheck"


class Machine:
    """A node of tests/nodes in a tree, and a program of the installed one's words that looks at it."""

    def __init__(self, folder, name):
        self.folder = str(folder)
        self.stage = tree.Stage(os.path.join(self.folder, "tree"))
        self.name = name
        self.program = os.path.join(self.folder, "nvnodecheck")
        self.become()
        self.look = 'exec %s "$@" --root %s' % (program.binary(), self.stage.directory)
        self.program_does(self.look)

    def program_does(self, command):
        """At once for whoever starts it meanwhile."""
        with open(self.program + ".new", "w") as file:
            file.write("#!/bin/sh\n%s\n" % command)
        os.chmod(self.program + ".new", 0o755)
        os.replace(self.program + ".new", self.program)

    def become(self, *edits):
        statements = [textform.Statement("edit", 1, text) for text in edits]
        self.stage.put(node.tree_of(self.name, statements))

    def contrib(self, path):
        """A copy of that file that starts our program."""
        target = os.path.join(self.folder, os.path.basename(path))
        shutil.copy(os.path.join(CONTRIB, path), target)
        with open(target) as file:
            text = file.read()
        with open(target, "w") as file:
            file.write(text.replace(INSTALLED, self.program))
        return target


@pytest.fixture
def machine():
    """In a folder that ordinary users can reach; pytest closes its own to them whenever it starts."""
    with tempfile.TemporaryDirectory(prefix="nvnodecheck-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        yield Machine(folder, "hgx-h100-ib")


# States in which no job may start on a GPU: what becomes of the node, and the rule that says so.
DEAD = (
    ("log NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
     "log/xid"),
    ("log NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=a, An uncorrectable double bit error (DBE)", "log/xid"),
    ("log NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0xffff:1464)", "log/rm-init-failed"),
    ("pci 0000:19:00.0 remove", "gpu/count-unexpected"),
)


def output(command, **more):
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                             **more)
    return process.returncode, process.stdout.decode()


def need(*programs):
    for name in programs:
        if not shutil.which(name):
            pytest.skip(name + " is not installed")


def free_ports(count):
    """Of 127.0.0.1, for somebody who has to be told one; nobody has them now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for one in sockets:
        one.close()
    return ports
