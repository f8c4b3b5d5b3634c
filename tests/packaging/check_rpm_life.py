# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of the RPM package, by rpm itself: installed, upgraded, erased."""
import glob
import os
import re
import stat
import subprocess

import pytest
from conftest import UNITS, looks_at_nodes, made, version
from lib import program

CAPTURE = "/usr/share/nvnodecheck/nodes/h200-x8.capture"
RECORD = "/var/lib/nvnodecheck/fix/20260101-000000/journal"
CONFIGURATION = "/etc/nvnodecheck.conf"
NO_LONGER_THERE = "/usr/share/nvnodecheck/no-longer-there"
WANTS = "/etc/systemd/system/timers.target.wants/nvnodecheck-textfile.timer"

# What the package holds, taken out of it again instead of being built.
UNPACK = """%%prep
cp %(top)s/COPYING .
%%install
cd %%{buildroot}
rpm2cpio %(package)s | cpio --quiet -idm
# The tag for licences puts it there, by the version.
rm -r %%{buildroot}%%{_datadir}/licenses
echo > %%{buildroot}%(more)s

"""


def package():
    return made("rpm/RPMS/*/nvnodecheck-VERSION-*.rpm", "rpm")


def older(folder):
    """The same package as version 0.9.0, with a file that the newer one no longer has."""
    with open(os.path.join(program.TOP, "packaging/nvnodecheck.spec"), encoding="utf-8") as file:
        head, rest = re.split(r"^%prep$", file.read(), maxsplit=1, flags=re.M)
    files = re.split(r"^%check$", rest, maxsplit=1, flags=re.M)[1].partition("\n\n")[2]
    unpack = UNPACK % {"top": program.TOP, "package": package(), "more": NO_LONGER_THERE}
    spec = os.path.join(folder, "older.spec")
    with open(spec, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^Version:.*$", "Version: 0.9.0", head, flags=re.M) + unpack + files)
    subprocess.run(["rpmbuild", "-bb", "--quiet", "--nodeps", "--define", "__os_install_post %{nil}",
                    "--define", "_topdir %s/rpm" % folder, spec], check=True)
    return glob.glob(folder + "/rpm/RPMS/*/*.rpm")[0]


class Node:
    """A root that rpm works in. Debian's wants to be told that this is meant, and knows no package that
    would provide what ours requires. It is silent when all is well, and tells of a script that failed."""

    def __init__(self, root):
        self.root = root

    def rpm(self, *words):
        said = self.root.inside("rpm", "--force-debian", "--nodeps", *words)
        assert said == "", said

    def query(self, *words):
        return self.root.inside("rpm", "-q", *words, "nvnodecheck").split("\n")[:-1]

    def installed(self):
        return self.query("--qf", "%{VERSION}-%{RELEASE}\n")


@pytest.fixture
def node(with_rpm):
    return Node(with_rpm)


def check_modes(root, files):
    """Root's, written by nobody else; only what is to be started can be."""
    programs = {"/usr/sbin/nvnodecheck"}
    for path in files:
        seen = os.lstat(root.path + path)
        assert (seen.st_uid, seen.st_gid) == (0, 0), path
        bits = stat.S_IMODE(seen.st_mode)
        if stat.S_ISLNK(seen.st_mode):
            assert path.startswith("/usr/lib/.build-id/"), path
        elif stat.S_ISDIR(seen.st_mode) or path in programs:
            assert bits == 0o755, path
        else:
            # Scripts of contrib/ may be started from where they lie.
            assert bits == 0o644 or (bits == 0o755 and "/contrib/" in path), path


def test_its_life(node, node_tree, tmp_path):
    root = node.root
    node.rpm("-i", root.take(older(str(tmp_path))))
    assert node.installed() == ["0.9.0-1"]
    assert root.has(NO_LONGER_THERE)
    root.put(RECORD, "kept\n")
    root.put(CONFIGURATION, "[check]\nprofile = base\n")

    node.rpm("-U", root.take(package()))
    assert node.installed() == [version() + "-1"]
    assert not root.has(NO_LONGER_THERE)
    assert root.has(RECORD)
    # Size, mode, owner and digest of each file, as rpm itself looks at them.
    assert root.inside("rpm", "--verify", "--nodeps", "nvnodecheck") == ""
    files = node.query("--list")
    check_modes(root, files)
    assert UNITS <= {os.path.basename(path) for path in files}
    assert not root.has("/etc/systemd/system/multi-user.target.wants/nvnodecheck.service")
    assert not root.has(WANTS)
    looks_at_nodes(root.path, "/usr/sbin/nvnodecheck", CAPTURE, node_tree("h20-roce-deepep"))
    assert "nvnodecheck.8" in root.inside("man", "-w", "8", "nvnodecheck")

    node.rpm("-e", "nvnodecheck")
    assert not [path for path in files if root.has(path) and not os.path.isdir(root.path + path)]
    assert not root.has("/usr/share/nvnodecheck") and not root.has("/usr/share/doc/nvnodecheck")
    assert root.has(RECORD), "undo needs it"
    assert root.has(CONFIGURATION), "the administrator wrote it"


def test_who_enabled_a_unit_keeps_it_over_an_upgrade(node, tmp_path):
    root = node.root
    node.rpm("-i", root.take(older(str(tmp_path))))
    root.inside("systemctl", "enable", "nvnodecheck-textfile.timer")
    assert root.has(WANTS)
    node.rpm("-U", root.take(package()))
    assert root.has(WANTS)
    node.rpm("-e", "nvnodecheck")
    assert not root.has(WANTS)


def test_it_stops_its_timer_and_not_what_jobs_wait_for(node, tmp_path):
    """Where systemd runs; something that writes down what it is asked stands for systemctl."""
    root = node.root
    node.rpm("-i", root.take(older(str(tmp_path))))
    os.makedirs(root.path + "/run/systemd/system")
    os.remove(root.path + "/usr/bin/systemctl")
    root.put("/usr/bin/systemctl", '#!/bin/sh\necho "$@" >> /asked\nexit 1\n')
    os.chmod(root.path + "/usr/bin/systemctl", 0o755)
    node.rpm("-U", root.take(package()))
    assert not root.has("/asked")
    node.rpm("-e", "nvnodecheck")
    with open(root.path + "/asked") as file:
        stopped = [line.split()[1:] for line in file if line.startswith("stop ")]
    assert stopped == [["nvnodecheck-textfile.timer"]]


def test_without_what_it_requires_it_is_not_installed(node):
    said = node.root.inside("rpm", "--force-debian", "-i", node.root.take(package()), status=1)
    assert "libpci.so.3()(64bit) is needed by nvnodecheck" in said
    assert not node.root.has("/usr/sbin/nvnodecheck")
