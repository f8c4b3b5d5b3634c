# SPDX-License-Identifier: GPL-2.0-or-later
"""What the RPM package holds, needs and runs; check_rpm_life.py installs it."""
import os
import re
import subprocess

from conftest import UNITS, made, version

PAGES = {"man5/nvnodecheck.conf.5", "man5/nvnodecheck-facts.5", "man7/nvnodecheck-rules.7",
         "man8/nvnodecheck.8"}


def rpm(*words):
    package = made("rpm/RPMS/*/nvnodecheck-VERSION-*.rpm", "rpm")
    return subprocess.run(["rpm", "-qp", *words, package], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


def test_what_it_holds():
    held = set(rpm("-l").split())
    wanted = {"/usr/sbin/nvnodecheck", "/usr/share/nvnodecheck/nodes/h200-x8.capture",
              "/usr/share/bash-completion/completions/nvnodecheck",
              "/usr/share/zsh/site-functions/_nvnodecheck",
              "/usr/share/fish/vendor_completions.d/nvnodecheck.fish",
              "/usr/share/doc/nvnodecheck/nvnodecheck.conf.example",
              "/usr/share/doc/nvnodecheck/contrib/slurm/prolog"}
    wanted |= {"/usr/lib/systemd/system/" + unit for unit in UNITS}
    assert wanted <= held
    # Some distributions compress pages.
    assert {re.sub(r"\.(gz|bz2|zst)$", "", path).replace("/usr/share/man/", "")
            for path in held if path.startswith("/usr/share/man/man")} == PAGES
    assert not [path for path in held if path.startswith(("/etc", "/var"))]
    assert rpm("--qf", "%{VERSION}") == version()


def test_what_it_needs():
    required = set(rpm("--requires").split("\n"))
    assert {name + "()(64bit)" for name in (
        "libinih.so.0", "libjson-c.so.5", "libkmod.so.2", "libpci.so.3")} <= required
    assert {name + "()(64bit)" for name in (
        "libarchive.so.13", "libgcrypt.so.20", "libibverbs.so.1", "libselinux.so.1", "libsystemd.so.0",
        "libyaml-0.so.2", "libz.so.1", "libzstd.so.1")} == set(filter(None, rpm("--recommends").split("\n")))


def test_its_one_script_is_for_when_it_is_erased():
    assert re.findall(r"^(\w+) scriptlet", rpm("--scripts"), re.M) == ["preuninstall"]


def test_the_program_in_it_runs(tmp_path):
    package = made("rpm/RPMS/*/nvnodecheck-VERSION-*.rpm", "rpm")
    archive = subprocess.run(["rpm2cpio", package], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["cpio", "--quiet", "-id"], input=archive, cwd=str(tmp_path), check=True)
    said = subprocess.run([os.path.join(str(tmp_path), "usr/sbin/nvnodecheck"), "--version"],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
    assert said.split()[:2] == ["nvnodecheck", version()]
