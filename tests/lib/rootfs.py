# SPDX-License-Identifier: GPL-2.0-or-later
"""A small root for --root that a test writes file by file. lib/tree.py has the trees of nodes, rootfs_dict.py makes a
root of one dictionary."""

import json
import os
import pathlib
import subprocess

from lib import program

HERE = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(program.binary())
KERNEL = "6.1.0-10-amd64"


def write(path, content=b"", mode=None):
    """A file with its folders; content is text or bytes."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if mode is not None:
        path.chmod(mode)
    return path


def link(path, target):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def new_tree(path, kernel=KERNEL, cmdline=""):
    """A merged-/usr root: lib is a link to usr/lib."""
    path = pathlib.Path(path)
    write(path / "proc/sys/kernel/osrelease", kernel + "\n")
    write(path / "proc/sys/kernel/hostname", "node\n")
    write(path / "proc/cmdline", cmdline + "\n")
    for folder in ("etc/modprobe.d", "usr/lib/modprobe.d", "usr/lib/modules/" + kernel, "usr/local/lib", "run/lock"):
        (path / folder).mkdir(parents=True)
    link(path / "lib", "usr/lib")
    return path


def run(*args, check=True):
    result = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, timeout=180)
    assert not check or result.returncode == 0, result.stderr.decode()
    return result


def facts(root, part=None):
    args = ["--root", root, "facts"] + ([part] if part else [])
    return json.loads(run(*args).stdout)
