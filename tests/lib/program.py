# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the real binary from the outside."""
import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile

import pytest

from . import tree

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, "build", "tests")
NOBODY = 65534
TIMEOUT_S = 180
WIDTH = 110


class Result:
    def __init__(self, command, process):
        self.command = command
        self.status = process.returncode
        self.raw = process.stdout
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError("no JSON (%s) from %s" % (error, self))

    def __str__(self):
        return "%s\n-- status %s --\n%s\n-- standard error --\n%s" % (
            " ".join(self.command), self.status, self.out[:4000], self.err[:4000])


def binary():
    return os.environ.get("NVNODECHECK") or os.path.join(TOP, "build", "nvnodecheck")


def writer_of(table):
    """The command that makes C of data/TABLE.tsv, without the name of the file."""
    return ["awk", "-v", "causes=" + os.path.join(TOP, "data", "causes.txt"),
            "-f", os.path.join(TOP, "data", "texts.awk"), "-f", os.path.join(TOP, "data", table + ".awk")]


def environment(**more):
    """Nothing of the caller's: what the program prints must not depend on it."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LLVM_PROFILE_FILE", "NVNODECHECK_COVERAGE"):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update(more)
    return env


@functools.lru_cache(maxsize=None)
def is_sanitized():
    """The program was built with AddressSanitizer, which needs more memory and time and must load first."""
    with open(binary(), "rb") as file:
        return b"__asan_init" in file.read()


@functools.lru_cache(maxsize=None)
def _refusal_of_mounts():
    return subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.PIPE,
                          check=False).stderr.decode().strip()


def with_own_mounts(*options):
    """In front of a command. A chroot into a mere folder, whose root is no mount, gives none to anybody."""
    if _refusal_of_mounts():
        pytest.skip("needs a mount namespace: " + _refusal_of_mounts())
    return ["unshare", "--mount", *options]


@functools.lru_cache(maxsize=None)
def for_everybody(path):
    """PATH, or a copy of that program where an ordinary user can reach it. It is made by another process: what
    this one writes its threads' children have open for writing for a while, and so it cannot be run."""
    if tree.is_open_to_all(os.path.dirname(os.path.abspath(path))):
        return path
    folder = tempfile.mkdtemp(prefix="nvnodecheck-")
    atexit.register(shutil.rmtree, folder, True)
    os.chmod(folder, 0o755)
    subprocess.run(["cp", path, folder], check=True)
    return os.path.join(folder, os.path.basename(path))


def run(*args, user=False, env=None, input=b"", wrap=(), program=None, **more):
    """Runs nvnodecheck ARGS; with USER as somebody without rights, where this is root."""
    command = [program or binary()] + [str(a) for a in args]
    if user and os.geteuid() == 0:
        command[0] = for_everybody(command[0])
        command = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups",
                   "--"] + command
    command = list(wrap) + command
    if "stdin" not in more:
        more["input"] = input
    process = subprocess.run(command, stdout=more.pop("stdout", subprocess.PIPE),
                             stderr=subprocess.PIPE, env=environment(**(env or {})),
                             timeout=TIMEOUT_S, **more)
    if process.stdout is None:
        process.stdout = b""
    return Result(command, process)


@functools.lru_cache(maxsize=None)
def _used():
    folder = tempfile.mkdtemp(prefix="nvnodecheck-")
    atexit.register(shutil.rmtree, folder, True)
    made = os.path.join(folder, "used")
    subprocess.run(["cc", "-O2", "-o", made, os.path.join(TOP, "tests", "programs", "used.c")], check=True)
    return made


def run_measured(*args):
    """(result, peak KiB, seconds of processor time) of nvnodecheck ARGS with its children."""
    with tempfile.NamedTemporaryFile("r") as used:
        result = run(*args, wrap=[_used(), used.name])
        peak, seconds = used.read().split()
    return result, int(peak), float(seconds)


def facts(directory, *args, **more):
    result = run("facts", "--root", directory, *args, **more)
    assert result.status == 0, str(result)
    return result.json()


def report(directory, *args, **more):
    result = run("doctor", "--json", "--root", directory, *args, **more)
    assert result.status in (0, 1, 3), str(result)
    return result.json()


# ---- what differs from run to run ----

def steady(document):
    """A document without what is another one each time: durations, the program's version, sizes
    that depend on the version of a compression program."""
    document = json.loads(json.dumps(document))
    document.pop("tool_version", None)
    document.pop("taken", None)
    for key in ("observed_time_s", "observed_uid"):
        document.get("os", {}).pop(key, None)
    for probe in document.get("probes", ()):
        probe.pop("duration_us", None)
    for image in document.get("initramfs", {}).get("images") or ():
        image.pop("size_bytes", None)
    return document


def _lines(value, indent):
    """JSON in which what fits into a line stands in one: short to read, short to compare."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + 2 * indent <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    space = "  " * (indent + 1)
    if isinstance(value, dict):
        parts = [json.dumps(k) + ": " + _lines(v, indent + 1) for k, v in value.items()]
        return "{\n%s\n%s}" % (",\n".join(space + p for p in parts), space[2:])
    parts = [_lines(v, indent + 1) for v in value]
    return "[\n%s\n%s]" % (",\n".join(space + p for p in parts), space[2:])


def pretty(document):
    return _lines(document, 0) + "\n"
