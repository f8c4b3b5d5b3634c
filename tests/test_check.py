# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs the tests: one that hangs is ended, with all that it started, and counts as failed."""
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HANGS = """
import subprocess, threading
def test_hangs():
    subprocess.run(["sh", "-c", "trap '' INT TERM; sleep 98765 & wait"], check=True)
def test_hangs_in_a_thread():
    thread = threading.Thread(target=subprocess.run, args=(["sleep", "98765"],))
    thread.start()
    thread.join()
def test_is_well():
    pass
"""


def commands():
    """The command lines of all processes."""
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                yield file.read()
        except OSError:
            pass


def test_what_hangs_is_ended(tmp_path):
    file = tmp_path / "test_hangs.py"
    file.write_text(HANGS.replace("98765", str(90000 + os.getpid() % 10000)))
    start = time.monotonic()
    process = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "lib.limit", "-p", "no:cacheprovider", file],
                             cwd=tmp_path, timeout=120, stdout=subprocess.PIPE,
                             env=dict(os.environ, PYTHONPATH=HERE, NVNODECHECK_TEST_LIMIT="2"))
    text = process.stdout.decode()
    assert "2 failed, 1 passed" in text and "did not end within 2 s" in text, text
    assert time.monotonic() - start < 60
    assert not [c for c in commands() if c.startswith(b"sleep\0%d" % (90000 + os.getpid() % 10000))]


def test_the_reasons_of_skipped_tests_are_named(tmp_path):
    (tmp_path / "tests").mkdir()
    file = tmp_path / "test_skips.py"
    file.write_text("import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_a(n):\n    pytest.skip('no gdb')\n"
                    "@pytest.mark.skipif(True, reason='not root')\ndef test_b():\n    pass\n"
                    "@pytest.mark.xfail(reason='later')\ndef test_d():\n    assert False\n"
                    "def test_c():\n    pass\n")
    process = subprocess.run([sys.executable, os.path.join(HERE, "check"), tmp_path, file], cwd=tmp_path,
                             timeout=120, stdout=subprocess.PIPE)
    lines = process.stdout.decode().splitlines()
    assert process.returncode == 0 and lines[-1] == "1 passed, 0 failed"
    assert lines[-5:-1] == ["5 skipped:", "      3  no gdb", "      1  later", "      1  not root"]


def test_unit_test_that_hangs_is_ended(tmp_path):
    program = tmp_path / "tests" / "unit-hangs"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'ok 1 - it begins'\nsleep 98765 &\nwait\n")
    program.chmod(0o755)
    process = subprocess.run([sys.executable, os.path.join(HERE, "check"), tmp_path, "--unit"],
                             timeout=120, stdout=subprocess.PIPE,
                             env=dict(os.environ, NVNODECHECK_TEST_LIMIT="2"))
    assert process.returncode == 1
    assert process.stdout.decode().splitlines()[-1] == "1 passed, 1 failed"
