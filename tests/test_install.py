# SPDX-License-Identifier: GPL-2.0-or-later
"""make install, uninstall and dist: what a packager takes."""
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from lib import program

PREFIX = "/usr"
WANTED = {
    "sbin/nvnodecheck", "share/man/man8/nvnodecheck.8", "share/man/man5/nvnodecheck.conf.5",
    "share/man/man5/nvnodecheck-facts.5", "share/man/man7/nvnodecheck-rules.7",
    "share/bash-completion/completions/nvnodecheck", "share/zsh/site-functions/_nvnodecheck",
    "share/fish/vendor_completions.d/nvnodecheck.fish", "share/nvnodecheck/nodes/h200-x8.capture",
    "share/doc/nvnodecheck/README.md", "share/doc/nvnodecheck/NEWS", "share/doc/nvnodecheck/COPYING",
    "share/doc/nvnodecheck/known-bad.tsv", "share/doc/nvnodecheck/SECURITY.md",
    "share/doc/nvnodecheck/nvnodecheck.conf.example",
    "lib/systemd/system/nvnodecheck.service", "lib/systemd/system/nvnodecheck-textfile.service",
    "lib/systemd/system/nvnodecheck-textfile.timer",
    "share/doc/nvnodecheck/contrib/prometheus/nvnodecheck-textfile.service",
    "share/doc/nvnodecheck/contrib/systemd/nvnodecheck.service",
}


def make(*words):
    if not shutil.which("make"):
        pytest.skip("no make")
    process = subprocess.run(["make", "-s", *words], cwd=program.TOP, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=300)
    assert process.returncode == 0, process.stdout.decode()
    return process.stdout.decode()


def files(folder):
    return {os.path.relpath(os.path.join(above, name), folder)
            for above, _, names in os.walk(folder) for name in names}


def test_what_is_installed_goes_again(tmp_path):
    if not os.path.exists(os.path.join(program.TOP, "build", "nvnodecheck")):
        pytest.skip("nothing is built here")
    root = str(tmp_path)
    where = ("DESTDIR=" + root, "PREFIX=" + PREFIX)
    make("install", *where)
    there = files(root + PREFIX)
    assert WANTED <= there
    assert not [name for name in there if name.endswith((".in", ".awk", ".pyc"))]
    installed = subprocess.run([root + PREFIX + "/sbin/nvnodecheck", "--version"],
                               stdout=subprocess.PIPE, check=True).stdout.decode()
    assert installed == program.run("--version").out
    os.makedirs(root + "/etc")
    open(root + "/etc/nvnodecheck.conf", "w").close()
    make("uninstall", *where)
    assert files(root) == {"etc/nvnodecheck.conf"}
    assert not os.path.exists(root + "/usr/share/doc/nvnodecheck")
    assert not os.path.exists(root + "/usr/share/nvnodecheck")


def test_folders_of_others_stay(tmp_path):
    """The caller's DOCDIR can be one that others use. A folder for packages can have a blank."""
    if not os.path.exists(os.path.join(program.TOP, "build", "nvnodecheck")):
        pytest.skip("nothing is built here")
    root = str(tmp_path / "a package")
    where = ("DESTDIR=" + root, "PREFIX=/usr", "DOCDIR=/usr/share/doc", "DATADIR=/usr/share")
    make("install", *where)
    assert {"usr/share/doc/README.md", "usr/share/doc/contrib/slurm/prolog"} <= files(root)
    others = {"usr/share/doc/other/README", "usr/share/doc/contrib/slurm/own", "usr/share/nvnodecheck/nodes/own.capture"}
    for name in others:
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        open(os.path.join(root, name), "w").close()
    make("uninstall", *where)
    assert files(root) == others
    assert sorted(os.listdir(root + "/usr/share/doc")) == ["contrib", "other"]
    assert os.listdir(root + "/usr/share/doc/contrib") == ["slurm"]
    make("uninstall", *where)	# once more: nothing to remove is no error


def test_what_starts_the_program_knows_where_it_is(tmp_path):
    """The copies of contrib/ name it where it was installed; an image has it where its own file puts it."""
    if not os.path.exists(os.path.join(program.TOP, "build", "nvnodecheck")):
        pytest.skip("nothing is built here")
    make("install", "DESTDIR=%s" % tmp_path, "PREFIX=/opt/check")
    contrib = str(tmp_path / "opt/check/share/doc/nvnodecheck/contrib")
    named = {}
    for name in files(contrib):
        with open(os.path.join(contrib, name), encoding="utf-8") as file:
            named[name] = set(re.findall(r"/[\w/]*/sbin/nvnodecheck\b", file.read())) or None
    started = {name: paths for name, paths in named.items() if paths}
    assert {"slurm/prolog", "slurm/epilog", "systemd/nvnodecheck.service", "nhc/nvnodecheck.nhc",
            "node-problem-detector/nvnodecheck.json", "ansible/playbook.yml"} <= set(started)
    for name, paths in started.items():
        image = name.startswith("kubernetes/")
        assert "/usr/sbin/nvnodecheck" in paths if image else paths == {"/opt/check/sbin/nvnodecheck"}, name
    assert os.access(os.path.join(contrib, "slurm/prolog"), os.X_OK)


def test_the_archive_is_the_same_each_time():
    if not shutil.which("git") or subprocess.run(["git", "rev-parse", "HEAD"], cwd=program.TOP,
                                                 stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL).returncode:
        pytest.skip("not a checkout")
    made = []
    for umask in (0o022, 0o077):
        before = os.umask(umask)
        try:
            path = os.path.join(program.TOP, make("dist").strip().splitlines()[-1])
        finally:
            os.umask(before)
        with open(path, "rb") as file:
            made.append(file.read())
        os.chmod(path, 0o644)
    assert made[0] == made[1]
    version = re.match(r"nvnodecheck (\S+)", program.run("--version").out).group(1)
    assert os.path.basename(path) == "nvnodecheck-%s.tar.gz" % version
    with tarfile.open(path) as archive:
        names = archive.getnames()
    assert {name.partition("/")[0] for name in names} == {"nvnodecheck-" + version}
    for name in ("Makefile", "COPYING", "src/main.c", "man/nvnodecheck.8", "completions/_nvnodecheck"):
        assert "nvnodecheck-%s/%s" % (version, name) in names


def test_news_and_packages_know_the_version():
    version = re.match(r"nvnodecheck (\S+)", program.run("--version").out).group(1)
    for name, pattern in (("NEWS", r"^(\d+\.\d+\.\d+)"),
                          ("packaging/debian/changelog", r"^nvnodecheck \((.*)-\d+\)"),
                          ("packaging/nvnodecheck.spec", r"^Version: *(\S+)")):
        with open(os.path.join(program.TOP, name), encoding="utf-8") as file:
            assert re.search(pattern, file.read(), re.M).group(1) == version, name
