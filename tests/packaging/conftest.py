# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages that make deb, rpm and portable made, in roots that are thrown away. Root only; `make
check-packages` runs them, `make check` does not."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True

from lib import program  # noqa: E402

ROOTS = os.path.join(program.TOP, "build-roots")
UNITS = {"nvnodecheck.service", "nvnodecheck-textfile.service", "nvnodecheck-textfile.timer"}


def version():
    with open(os.path.join(program.TOP, "src", "base", "version.h"), encoding="utf-8") as file:
        return re.search(r'NVNODECHECK_VERSION "(.*)"', file.read()).group(1)


def made(pattern, target):
    """The one file below build/ that the target made."""
    found = glob.glob(os.path.join(program.TOP, "build", pattern.replace("VERSION", version())))
    assert len(found) == 1, "make %s first: %s is %s" % (target, pattern, found)
    return found[0]


def inside(root, *command, status=0):
    """The output of a command in a root, both streams; the exit status must be that one. It has /proc,
    through which libraries are given files and folders; the mount goes with the command."""
    ran = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec",
                          'mount -t proc proc "$1/proc"; exec chroot "$@"', "sh", root, *command],
                         env={"LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=300)
    text = ran.stdout.decode("utf-8", "replace")
    assert ran.returncode == status, "%s: %d\n%s" % (" ".join(command), ran.returncode, text)
    return text


def looks_at_nodes(root, command, capture, tree):
    """That program in a root says of a capture and of a node's tree what the one that was built here
    says: so it has libpci and libkmod."""
    report = inside(root, command, "doctor", "--from", capture, "--profile", "base,deepep", status=1)
    assert "8 x NVIDIA H200" in report and "driver/peer-mapping-override" in report
    shutil.copytree(tree, root + "/node", symlinks=True)
    for path in ("pci.devices", "modules"):
        here = program.run("facts", path, "--root", tree).out
        assert json.loads(here) and here == inside(root, command, "facts", path, "--root", "/node")
    status = program.run("doctor", "--root", tree, "--profile", "deepep").status
    assert "driver/" in inside(root, command, "doctor", "--root", "/node", "--profile", "deepep",
                               status=status)


class Root:
    """A root's copy that can be thrown away: an overlay over the one that is kept."""

    def __init__(self, kept, place):
        self.path = os.path.join(place, "root")
        upper, work = os.path.join(place, "upper"), os.path.join(place, "work")
        for folder in (self.path, upper, work):
            os.makedirs(folder)
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", "lowerdir=%s,upperdir=%s,workdir=%s"
                        % (kept, upper, work), self.path], check=True)

    def inside(self, *command, **more):
        return inside(self.path, *command, **more)

    def take(self, path):
        """A copy of that file in it, by its path there."""
        shutil.copy(path, self.path + "/tmp")
        return "/tmp/" + os.path.basename(path)

    def put(self, path, text):
        os.makedirs(os.path.dirname(self.path + path), exist_ok=True)
        with open(self.path + path, "w", encoding="utf-8") as file:
            file.write(text)

    def has(self, path):
        return os.path.lexists(self.path + path)


def root_of(kind, place):
    """A copy of that root of make-root's, which is made once."""
    kept = os.path.join(ROOTS, kind)
    if not os.path.isdir(kept):
        subprocess.run([os.path.join(HERE, "make-root"), kind, kept], check=True)
    folder = os.path.join(place, kind)
    root = Root(kept, folder)
    yield root
    subprocess.run(["umount", "-l", root.path], check=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def debian(place):
    """A Debian 12 with what the package depends on and nothing that it recommends."""
    yield from root_of("debian", place)


@pytest.fixture
def with_rpm(place):
    """The same with rpm and systemd: no distribution that lives by RPM can be had from Debian's servers."""
    yield from root_of("rpm", place)
