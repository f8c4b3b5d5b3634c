# SPDX-License-Identifier: GPL-2.0-or-later
"""Which shared libraries a daemon lacks, with the real dynamic loader as the oracle: programs and libraries of
gcc in a root of their own, where ld.so is asked what it would load."""
import glob
import json
import os
import re
import shutil
import subprocess

import pytest

from lib import program

MACHINE = os.uname().machine
LOADER = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}.get(MACHINE)
UNIT = "nvidia-persistenced.service"
PROGRAM = "/opt/daemon/bin/daemon"
PLUGIN = "/usr/lib/libnccl-net.so"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("gcc") or not LOADER or not os.path.exists(LOADER),
    reason="needs root, gcc and glibc")


class Root:
    def __init__(self, path):
        self.path = str(path)
        for folder in ("etc/systemd/system/multi-user.target.wants", "usr/lib", "usr/lib64", "proc/1", "lib", "lib64",
                       "opt/daemon/bin", "opt/daemon/lib"):
            os.makedirs(self.of("/" + folder))
        libc = glob.glob("/lib/*-linux-gnu/libc.so.6") or glob.glob("/lib64/libc.so.6")
        os.makedirs(os.path.dirname(self.of(libc[0])), exist_ok=True)
        shutil.copy(libc[0], self.of(libc[0]))
        os.makedirs(os.path.dirname(self.of(LOADER)), exist_ok=True)
        shutil.copy(os.path.realpath(LOADER), self.of(LOADER))
        self.write("/etc/systemd/system/" + UNIT, "[Service]\nExecStart=%s\n[Install]\nWantedBy=multi-user.target\n"
                   % PROGRAM)
        os.symlink("/etc/systemd/system/" + UNIT, self.of("/etc/systemd/system/multi-user.target.wants/" + UNIT))
        self.write("/proc/1/comm", "systemd\n")

    def of(self, path):
        return self.path + path

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.of(path)), exist_ok=True)
        with open(self.of(path), "w", encoding="ascii") as file:
            file.write(text)

    def build(self, path, *needs, options=(), code="int x;"):
        """A program, or where the path says so a library, that needs those: (path of the library when it is linked)."""
        library = ".so" in os.path.basename(path)
        os.makedirs(os.path.dirname(self.of(path)), exist_ok=True)
        kind = ["-shared", "-fPIC", "-Wl,-soname," + os.path.basename(path)] if library else []
        subprocess.run(["gcc", "-x", "c", "-", "-o", self.of(path), "-Wl,--no-as-needed",
                        "-Wl,--allow-shlib-undefined", *kind, *options, "-x", "none", *map(self.of, needs)],
                       input=code.encode() if library else b"int main(void) { return 0; }", check=True)

    def remove(self, path):
        os.unlink(self.of(path))

    def move(self, path, to):
        os.makedirs(os.path.dirname(self.of(to)), exist_ok=True)
        os.rename(self.of(path), self.of(to))

    def trace(self, pattern, **more):
        """What the dynamic loader says of the program's libraries, as far as it has the pattern."""
        done = subprocess.run([LOADER, PROGRAM], env={"LD_TRACE_LOADED_OBJECTS": "1", **more}, capture_output=True,
                              text=True, preexec_fn=lambda: os.chroot(self.path))
        return sorted(set(re.findall(pattern, done.stdout + done.stderr, re.M)))

    def fact(self, path):
        result = program.run("facts", path, "--root", self.path)
        assert result.status == 0, str(result)
        return json.loads(result.out)

    def versions(self):
        """(library, version, needed by) that the dynamic loader misses."""
        return self.trace(r"(\S+): version `(\S+)' not found \(required by (\S+)\)", LD_WARN="1")

    def our_versions(self):
        missing = self.fact("libraries.opened[%s].missing_versions" % PLUGIN)
        return sorted((v["library"], v["version"], v["needed_by"]) for v in missing)

    def real(self):
        return self.trace(r"^\s*(\S+) => not found")

    def ours(self):
        return sorted(self.fact("services.units[%s].missing_libraries" % UNIT))


def rpath(folder):
    return ("-Wl,--disable-new-dtags", "-Wl,-rpath," + folder)


def runpath(folder):
    return ("-Wl,--enable-new-dtags", "-Wl,-rpath," + folder)


def plain(root):
    """Nothing but libc."""
    root.build(PROGRAM)


def nowhere(root):
    root.build("/usr/lib/libone.so.1")
    root.build(PROGRAM, "/usr/lib/libone.so.1")
    root.remove("/usr/lib/libone.so.1")


def default_folder(root):
    root.build("/usr/lib/libone.so.1")
    root.build(PROGRAM, "/usr/lib/libone.so.1")


def of_a_library(root):
    """What a library needs is needed too."""
    root.build("/usr/lib/libtwo.so.1")
    root.build("/usr/lib/libone.so.1", "/usr/lib/libtwo.so.1")
    root.build(PROGRAM, "/usr/lib/libone.so.1")
    root.remove("/usr/lib/libtwo.so.1")


def origin(root):
    root.build("/opt/daemon/lib/libone.so.1")
    root.build(PROGRAM, "/opt/daemon/lib/libone.so.1", options=runpath("$ORIGIN/../lib"))


def runpath_is_for_its_own_object(root):
    """DT_RUNPATH of the program does not help its libraries."""
    root.build("/opt/daemon/lib/libtwo.so.1")
    root.build("/opt/daemon/lib/libone.so.1", "/opt/daemon/lib/libtwo.so.1")
    root.build(PROGRAM, "/opt/daemon/lib/libone.so.1", options=runpath("/opt/daemon/lib"))


def rpath_is_for_all(root):
    """DT_RPATH does."""
    root.build("/opt/daemon/lib/libtwo.so.1")
    root.build("/opt/daemon/lib/libone.so.1", "/opt/daemon/lib/libtwo.so.1")
    root.build(PROGRAM, "/opt/daemon/lib/libone.so.1", options=rpath("/opt/daemon/lib"))


def rpath_stops_at_runpath(root):
    """A library with a DT_RUNPATH of its own asks no DT_RPATH of others."""
    root.build("/opt/daemon/lib/libtwo.so.1")
    root.build("/opt/daemon/lib/libone.so.1", "/opt/daemon/lib/libtwo.so.1", options=runpath("/nowhere"))
    root.build(PROGRAM, "/opt/daemon/lib/libone.so.1", options=rpath("/opt/daemon/lib"))


def in_the_cache(root):
    root.build("/srv/lib/libone.so.1")
    root.build(PROGRAM, "/srv/lib/libone.so.1")
    root.write("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    root.write("/etc/ld.so.conf.d/site.conf", "# ours\n/srv/lib\n")
    subprocess.run(["ldconfig", "-r", root.path], check=True)


def not_in_the_cache_yet(root):
    """The folder is in ld.so.conf, and ldconfig was not run since the library came."""
    root.build("/srv/lib/libone.so.1")
    root.build(PROGRAM, "/srv/lib/libone.so.1")
    root.move("/srv/lib/libone.so.1", "/srv/elsewhere/libone.so.1")
    root.write("/etc/ld.so.conf", "/srv/lib\n")
    subprocess.run(["ldconfig", "-r", root.path], check=True)
    root.move("/srv/elsewhere/libone.so.1", "/srv/lib/libone.so.1")


def gone_since_the_cache(root):
    root.build("/srv/lib/libone.so.1")
    root.build(PROGRAM, "/srv/lib/libone.so.1")
    root.write("/etc/ld.so.conf", "/srv/lib\n")
    subprocess.run(["ldconfig", "-r", root.path], check=True)
    root.remove("/srv/lib/libone.so.1")


ROOTS = (plain, nowhere, default_folder, of_a_library, origin, runpath_is_for_its_own_object, rpath_is_for_all,
         rpath_stops_at_runpath, in_the_cache, not_in_the_cache_yet, gone_since_the_cache)


@pytest.mark.parametrize("make", ROOTS, ids=lambda make: make.__name__)
def test_missing_libraries(make, tmp_path):
    root = Root(tmp_path / "root")
    make(root)
    assert root.ours() == root.real()


def test_the_oracle_tells_them_apart(tmp_path):
    """Some of the roots lack a library, and some do not."""
    lacking = set()
    for make in ROOTS:
        root = Root(tmp_path / make.__name__)
        make(root)
        if root.real():
            lacking.add(make.__name__)
    assert lacking == {"nowhere", "of_a_library", "runpath_is_for_its_own_object", "rpath_stops_at_runpath",
                       "not_in_the_cache_yet", "gone_since_the_cache"}


# ---- symbol versions, of a library that programs open ----

def library(root, path, *versions):
    """A library that defines them, each with a function of its name."""
    script = root.of("/versions.map")
    with open(script, "w", encoding="ascii") as file:
        file.write("".join("%s { global: f_%s; };\n" % (v, v) for v in versions))
    root.build(path, options=("-Wl,--version-script," + script,),
               code="".join("int f_%s(void) { return 0; }\n" % v for v in versions))


def plugin(root, needs, code, options=()):
    root.build(PLUGIN, needs, code=code, options=options)
    root.build(PROGRAM, PLUGIN)


def same_versions(root):
    library(root, "/usr/lib/libone.so.1", "ONE_1", "ONE_2")
    plugin(root, "/usr/lib/libone.so.1", "int f_ONE_2(void); int g(void) { return f_ONE_2(); }")


def older_library(root):
    same_versions(root)
    library(root, "/usr/lib/libone.so.1", "ONE_1")


def weak_version(root):
    """A reference to a weak symbol does not need its version."""
    library(root, "/usr/lib/libone.so.1", "ONE_1", "ONE_2")
    plugin(root, "/usr/lib/libone.so.1",
           "int f_ONE_2(void) __attribute__((weak)); int g(void) { return f_ONE_2 ? f_ONE_2() : 0; }")
    library(root, "/usr/lib/libone.so.1", "ONE_1")


def library_without_versions(root):
    same_versions(root)
    root.build("/usr/lib/libone.so.1", code="int f_ONE_2(void) { return 0; }")


def older_first(root):
    """The folder of ld.so.conf comes before the loader's own."""
    same_versions(root)
    library(root, "/srv/lib/libone.so.1", "ONE_1")
    root.write("/etc/ld.so.conf", "/srv/lib\n")
    subprocess.run(["ldconfig", "-r", root.path], check=True)


VERSIONS = (same_versions, older_library, weak_version, library_without_versions, older_first)


@pytest.mark.parametrize("make", VERSIONS, ids=lambda make: make.__name__)
def test_missing_versions(make, tmp_path):
    root = Root(tmp_path / "root")
    make(root)
    assert [v[1:] for v in root.our_versions()] == [v[1:] for v in root.versions()]


def test_the_oracle_tells_versions_apart(tmp_path):
    lacking = set()
    for make in VERSIONS:
        root = Root(tmp_path / make.__name__)
        make(root)
        if root.versions():
            lacking.add(make.__name__)
    assert {"older_library", "older_first"} <= lacking
    assert not {"same_versions", "library_without_versions"} & lacking
