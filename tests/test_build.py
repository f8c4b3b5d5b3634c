# SPDX-License-Identifier: GPL-2.0-or-later
"""The Makefile: what was built with other flags is built anew, the program is hardened as distributions have
it, and the rules' page needs no program that runs."""
import os
import re
import shutil
import subprocess

import pytest

from lib import program
from lib.long import LONG

needs_make = pytest.mark.skipif(not shutil.which("make") or not shutil.which("cc"), reason="no compiler")


def make(folder, *words):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "CFLAGS", "NVNODECHECK")}
    process = subprocess.run(["make", "-s", "B=%s" % folder, *words], cwd=program.TOP, env=env, timeout=280,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.returncode == 0, process.stdout.decode()
    return process.stdout.decode()


@needs_make
def test_other_flags_build_anew(tmp_path):
    wanted = "%s/base/arena.o" % tmp_path
    assert "arena.o" in make(tmp_path, wanted)
    assert "arena.o" not in make(tmp_path, wanted)
    for word in ("CFLAGS=-O0", "CPPFLAGS=-DOTHER", "HARDENING="):
        assert "arena.o" in make(tmp_path, word, wanted), word
        assert "arena.o" not in make(tmp_path, word, wanted), word


@needs_make
def test_another_machine_has_flags_of_its_own(tmp_path):
    """What runs while the program is built is made with the build machine's compiler and flags alone."""
    other = tmp_path / "other-cc"
    other.write_text("#!/bin/sh\n[ $1 = -dumpmachine ] && echo other-linux-gnu && exit\nexec cc \"$@\"\n")
    other.chmod(0o755)
    words = ("CC=%s" % other, "CFLAGS=-DTARGET", "LDFLAGS=-Wl,--target", "BUILD_CFLAGS=-DBUILD", "BUILD_LDFLAGS=-Wl,--build")
    shown = make(tmp_path, "-n", *words, "%s/nvnodecheck-rules.7" % tmp_path)
    command = [line for line in shown.splitlines() if line.endswith("rules-man.c") or "-o %s/rules-page " % tmp_path in line][-1]
    assert command.startswith("cc ") and "-DBUILD" in command and "-Wl,--build" in command
    assert "-DTARGET" not in command and "--target" not in command
    make(tmp_path, *words, "%s/build-flags" % tmp_path)
    with open("%s/build-flags" % tmp_path, encoding="utf-8") as file:
        assert "-DBUILD" in file.read()


@needs_make
def test_tests_of_distributions_exist(tmp_path):
    names = make(tmp_path, "--eval=show: ; @echo $(DISTRIBUTION_TESTS)", "show").split()
    assert len(names) > 5 and not [n for n in names if not os.path.exists(os.path.join(program.TOP, n))]


def flags():
    path = os.path.join(os.path.dirname(os.path.abspath(program.binary())), "flags")
    if not os.path.exists(path) or not shutil.which("readelf"):
        pytest.skip("not built here")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "-fPIE" not in text:
        pytest.skip("built without hardening")
    return text


def test_hardened():
    """A position independent program whose tables are read-only once it is linked, with guards on the stack and
    checked copies."""
    text = flags()
    shown = subprocess.run(["readelf", "-hldsW", program.binary()], stdout=subprocess.PIPE,
                           check=True).stdout.decode()
    assert re.search(r"Type: +DYN", shown) and "GNU_RELRO" in shown
    assert re.search(r"FLAGS_1.*\bNOW\b.*\bPIE\b", shown)
    assert "__stack_chk_fail" in shown
    assert not re.search(r"GNU_STACK.* RWE ", shown)
    if "_FORTIFY_SOURCE" in text:
        assert re.search(r" __\w+_chk\b", shown.replace("__stack_chk_fail", ""))


def test_hardening_is_what_the_compiler_has():
    """Where the compiler takes it, it is asked for."""
    text = flags()
    for flag in ("-fstack-protector-strong", "-fstack-clash-protection", "-fcf-protection",
                 "-mbranch-protection=standard"):
        taken = subprocess.run(["cc", "-Werror", flag, "-x", "c", "-c", os.devnull, "-o", os.devnull],
                               stderr=subprocess.DEVNULL).returncode == 0
        if taken and text.startswith("cc "):
            assert flag in text


@needs_make
@pytest.mark.skipif(not LONG, reason="make check-long")
def test_page_of_rules_without_the_program(tmp_path):
    make(tmp_path, "%s/rules-page" % tmp_path)
    page = subprocess.run(["%s/rules-page" % tmp_path], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert page == program.run("rules", "--format", "man").out
