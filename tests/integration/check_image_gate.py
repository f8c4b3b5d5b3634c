# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/image/gate in builds of mmdebstrap, buildah and mkosi, with a small image of tests/nodes.
check_image.py has an image of Debian with NVIDIA's packages."""
import json
import os
import subprocess
import tarfile

import pytest

from conftest import CONTRIB, INSTALLED, need
from lib import program, tree

import test_image

NODE = "hgx-h100-ib"
OPTION = b'NVreg_RegistryDwords="PeerMappingOverride=1;"'
PROFILE = ("--profile", "deepep")
BROKEN = "install nvidia /bin/false\n"	# which only a person can know the reason of

MKOSI = """[Distribution]
Distribution=debian
Release=bookworm
[Output]
Format=directory
Output=made
[Content]
ExtraTrees=%s
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def image(tmp_path):
    """image(): the root of one that lacks DeepEP's option; image(BROKEN): whose driver will not load either."""
    tmp_path.chmod(0o755)

    def make(text=""):
        root = str(tmp_path / "image")
        tree.Stage(root).put(test_image.image_of(NODE, test_image.NO_OPTION))
        if text:
            with open(root + "/etc/modprobe.d/zz-broken.conf", "w") as file:
                file.write(text)
        return root
    return make


@pytest.fixture
def gate(tmp_path):
    path = tmp_path / "gate"
    with open(os.path.join(CONTRIB, "image", "gate")) as file:
        path.write_text(file.read().replace(INSTALLED, program.binary()))
    path.chmod(0o755)
    return str(path)


def run(*command, **more):
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                             env=dict(os.environ, **more))
    return process.returncode, process.stdout.decode()


def failed(report):
    with open(report) as file:
        return {f["rule"] for f in json.load(file)["findings"] if f["verdict"] == "fail" and f["severity"] != "info"}


def test_opens_after_the_repair(image, gate, tmp_path):
    report, root = str(tmp_path / "report.json"), image()
    for expected in ("Applied and checked", "No problems found"):
        status, text = run(gate, root, *PROFILE, NVNODECHECK_REPORT=report)
        assert status == 0 and expected in text, text
        assert failed(report) == set()
    assert "Applied" not in text, "nothing is left to repair the second time"


def test_stays_shut_for_what_no_repair_mends(image, gate, tmp_path):
    report = str(tmp_path / "report.json")
    status, text = run(gate, image(BROKEN), *PROFILE, NVNODECHECK_REPORT=report)
    assert status == 1 and failed(report) == {"modules/will-not-load"}, text


def test_usage(gate, tmp_path):
    for words in ((), ("/nonexistent",)):
        status, text = run(gate, *words)
        assert status == 2 and "Usage: gate ROOT" in text


def test_mounts_of_the_builder_are_left_alone(image, gate):
    """Its /proc is not the image's, and stays mounted."""
    root = image()
    os.mkdir(root + "/proc")
    subprocess.run(["mount", "-t", "proc", "proc", root + "/proc"], check=True)
    try:
        status, text = run(gate, root, *PROFILE)
        assert status == 0 and "its next boot is evaluated" in text, text
        assert os.path.exists(root + "/proc/self")
    finally:
        subprocess.run(["umount", root + "/proc"], check=True)


@pytest.mark.parametrize("text, status", [("", 0), (BROKEN, 1)])
def test_in_mmdebstrap(text, status, image, gate, tmp_path):
    need("mmdebstrap")
    target = str(tmp_path / "image.tar")
    copy = tmp_path / "copy"
    copy.write_text('#!/bin/sh\nexec cp -a %s/. "$1"\n' % image(text))
    copy.chmod(0o755)
    got, said = run("mmdebstrap", "--mode=root", "--variant=custom", "--skip=update,cleanup", "--setup-hook=%s" % copy,
                    "--customize-hook=%s \"$1\" --profile deepep" % gate, "bookworm", target, "")
    assert (got == 0) == (status == 0), said
    if status == 0:
        with tarfile.open(target) as made:
            assert OPTION in made.extractfile("./etc/modprobe.d/zz-nvnodecheck.conf").read()
    else:
        assert "modules/will-not-load" in said


@pytest.mark.parametrize("text, status", [("", 0), (BROKEN, 1)])
def test_of_a_container_build(text, status, image, gate, tmp_path):
    """From, copy, mount, gate, commit; what is committed has the repair."""
    need("buildah")
    buildah = ["buildah", "--storage-driver", "vfs", "--root", str(tmp_path / "storage"), "--runroot",
               str(tmp_path / "run")]
    words = " ".join(buildah)
    script = """set -e
container=$(%s from scratch)
%s copy -q "$container" %s / >/dev/null
%s "$(%s mount "$container")" --profile deepep
%s commit -q "$container" oci-archive:%s
""" % (words, words, image(text), gate, words, words, tmp_path / "oci.tar")
    got, said = run("sh", "-c", script)
    assert got == status, said
    assert os.path.exists(str(tmp_path / "oci.tar")) == (status == 0)
    if status == 0:
        root = subprocess.run([*buildah, "mount"], stdout=subprocess.PIPE, check=True).stdout.decode().split()[-1]
        with open(root + "/etc/modprobe.d/zz-nvnodecheck.conf", "rb") as file:
            assert OPTION in file.read()


@pytest.mark.parametrize("text, status", [("", 0), (BROKEN, 1)])
def test_of_mkosi(text, status, image, gate, tmp_path):
    """A Debian that mkosi makes, over which the image is copied."""
    need("mkosi", "debootstrap")
    if run("mkosi", "--version") != (0, "mkosi 14\n"):
        pytest.skip("the configuration is that of mkosi 14, of Debian 12")
    os.rename(gate, tmp_path / "mkosi.finalize")
    (tmp_path / "mkosi.conf").write_text(MKOSI % os.path.basename(image(text)))
    got, said = run("mkosi", "--directory=%s" % tmp_path, "--nspawn-keep-unit", "build",
                    NVNODECHECK_OPTIONS=" ".join(PROFILE))
    assert (got == 0) == (status == 0), said
    assert os.path.isdir(tmp_path / "made") == (status == 0)
    if status == 0:
        assert OPTION in (tmp_path / "made/etc/modprobe.d/zz-nvnodecheck.conf").read_bytes()
    else:
        assert "modules/will-not-load" in said


@pytest.mark.parametrize("text, status", [("", 0), (BROKEN, 1)])
def test_as_mkosi_finalize(text, status, image, gate):
    """With the words and the variable that mkosi gives it; the image in which mkosi builds is not evaluated."""
    more = {"BUILDROOT": image(text), "NVNODECHECK_OPTIONS": " ".join(PROFILE)}
    assert run(gate, "build", **more) == (0, "")
    got, said = run(gate, "final", **more)
    assert got == status, said
