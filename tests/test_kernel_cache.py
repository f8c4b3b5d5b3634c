# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder where DeepEP 2 keeps its kernels (env.deepep_cache), which only a running process of the same user has."""
import os
import shutil
import subprocess

import pytest

from lib import program

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []


def read(*args, command=(), **variables):
    """As the program prints it; None: not known. Variables of the value None are not set."""
    env = {k: v for k, v in program.environment(**variables).items() if v is not None}
    found = subprocess.run([*command, program.binary(), "facts", "env.deepep_cache", *args], env=env, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=program.TIMEOUT_S)
    return found.stdout.decode().strip().strip('"') or None


@pytest.fixture(name="folder")
def _folder():
    """Reachable by every user, which a folder of pytest's is not."""
    path = subprocess.run(["mktemp", "-d"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    os.chmod(path, 0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("below", ["", "/kernels", "/new/and/deep"])
def test_own_folder(folder, below):
    assert read(EP_JIT_CACHE_DIR=folder + below) == "writable"


def test_home(folder):
    assert read(HOME=folder) == "writable"
    assert read(HOME=None) is None


@pytest.mark.skipif(not NOBODY, reason="the owner of a folder can write it")
def test_the_folder_of_another_user(folder):
    assert read(command=NOBODY, EP_JIT_CACHE_DIR=folder + "/kernels") == "refused"
    os.chmod(folder, 0o700)
    assert read(command=NOBODY, EP_JIT_CACHE_DIR=folder + "/kernels") == "refused"


def test_a_file(folder):
    open(folder + "/file", "w").close()
    assert read(EP_JIT_CACHE_DIR=folder + "/file") == "no-folder"
    assert read(EP_JIT_CACHE_DIR=folder + "/file/kernels") == "no-folder"


def test_a_relative_name_is_not_known(folder):
    assert read(EP_JIT_CACHE_DIR="kernels") is None


def mounted(folder, script):
    command = ["unshare", "--mount", "sh", "-ec", script + '\nexec "$@"', "sh"]
    return read(command=command, EP_JIT_CACHE_DIR=folder + "/kernels")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("script, access", [
    ("mount -t tmpfs -o size=1M,noexec none %s", "writable"),
    ("mount -t tmpfs -o ro none %s", "read-only"),
    ("mount -t tmpfs -o size=4k none %s\nhead -c 8k /dev/zero > %s/f || true", "full"),
    ("mount -t tmpfs -o nr_inodes=1 none %s", "full"),
])
def test_file_systems(folder, script, access):
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("mounts are not allowed here")
    assert mounted(folder, script.replace("%s", folder)) == access


@pytest.mark.skipif(not NOBODY, reason="needs a second user")
def test_another_users_process():
    """What it can write is not known, and what root can write does not count."""
    with subprocess.Popen(["sleep", "60"], env=program.environment(HOME="/"), user=65534) as process:
        try:
            assert read("--pid", str(process.pid)) is None
        finally:
            process.kill()


def test_own_process(folder):
    with subprocess.Popen(["sleep", "60"], env=program.environment(EP_JIT_CACHE_DIR=folder)) as process:
        try:
            assert read("--pid", str(process.pid)) == "writable"
        finally:
            process.kill()


def test_a_capture_has_the_answer_and_not_the_home(folder, tmp_path):
    file = str(tmp_path / "capture")
    home = folder + "/someone"
    os.mkdir(home)
    subprocess.run([program.binary(), "capture", "-o", file], env=program.environment(HOME=home), check=True,
                   timeout=program.TIMEOUT_S)
    with open(file, encoding="utf-8") as capture:
        assert home not in capture.read()
    assert read("--from", file) == "writable"
