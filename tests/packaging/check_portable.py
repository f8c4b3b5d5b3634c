# SPDX-License-Identifier: GPL-2.0-or-later
"""make portable's archive in a root that has the C library and nothing else."""
import glob
import os
import shutil
import subprocess

import pytest
from conftest import ROOTS, looks_at_nodes, made

# The folder of Debian's and Ubuntu's C library, and where the kernel looks for its loader.
GLIBC = {"x86_64": ("/lib/x86_64-linux-gnu", "/lib64", "ld-linux-x86-64.so.2"),
         "aarch64": ("/lib/aarch64-linux-gnu", "/lib", "ld-linux-aarch64.so.1")}[os.uname().machine]


@pytest.fixture(params=["", os.path.join(ROOTS, "oldest")], ids=["here", "oldest"])
def bare(request, tmp_path):
    """A root with the loader and libc.so.6 of another root, and the archive in /usr/local."""
    root = str(tmp_path / "root")
    folder, loaders, loader = GLIBC
    if not os.path.isdir(request.param + folder):
        pytest.skip("no %s: make check-oldest makes that root" % request.param)
    for name, to in ((loader, loaders), ("libc.so.6", folder)):
        os.makedirs(root + to, exist_ok=True)
        shutil.copy("%s%s/%s" % (request.param, folder, name), root + to)
    for name in ("/usr/local", "/proc"):
        os.makedirs(root + name)
    subprocess.run(["tar", "-C", root + "/usr/local", "--strip-components=1", "-xf",
                    made("nvnodecheck-VERSION-%s.tar.gz" % os.uname().machine, "portable")], check=True)
    return root


def test_it_looks_at_nodes(bare, node_tree):
    looks_at_nodes(bare, "/usr/local/sbin/nvnodecheck",
                   "/usr/local/share/nvnodecheck/nodes/h200-x8.capture", node_tree("h20-roce-deepep"))


def test_it_needs_the_c_library_alone(bare):
    dynamic = subprocess.run(["objdump", "-p", bare + "/usr/local/sbin/nvnodecheck"], check=True,
                             stdout=subprocess.PIPE).stdout.decode()
    needed = {line.split()[1] for line in dynamic.splitlines() if line.split()[:1] == ["NEEDED"]}
    assert needed - {GLIBC[2]} == {"libc.so.6"}
    assert not glob.glob(bare + "/**/libpci*", recursive=True)


def test_its_libraries_look_where_the_nodes_do(bare):
    """libkmod obeys /etc/modprobe.d, and no path is one of the machine that built it."""
    with open(bare + "/usr/local/sbin/nvnodecheck", "rb") as file:
        text = file.read()
    assert b"/etc/modprobe.d\0" in text
    assert b"/usr/local/etc" not in text and b"build-portable" not in text
