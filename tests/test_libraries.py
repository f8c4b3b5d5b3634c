# SPDX-License-Identifier: GPL-2.0-or-later
"""The program says itself which libraries it opens (https://systemd.io/ELF_DLOPEN_METADATA); README.md, the
packages and the sources say the same."""
import json
import os
import re
import shutil
import struct
import subprocess

import pytest

from lib import program

NOTE_TYPE = 0x407c0c0a
SONAME = re.compile(r'"(lib[a-z0-9-]+\.so\.\d+)"')
# As README.md calls them, where that is not the soname's own name.
CALLED = {"libz": "zlib", "libyaml-0": "libyaml", "yaml-0.1": "libyaml", "libjson-c": "json-c", "libinih": "inih"}

pytestmark = pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf")


def read(*path):
    with open(os.path.join(program.TOP, *path), encoding="utf-8") as file:
        return file.read()


def notes(section):
    """The JSON texts of a section of notes."""
    at = 0
    while at < len(section):
        name, text, kind = struct.unpack_from("=III", section, at)
        at += 12
        assert section[at:at + name] == b"FDO\0" and kind == NOTE_TYPE
        at += -(-name // 4) * 4
        yield json.loads(section[at:at + text].rstrip(b"\0"))
        at += -(-text // 4) * 4


@pytest.fixture(scope="module")
def opened(declared):
    """{soname: priority}, by the first where a library has two"""
    return {sonames[0]: priority for sonames, priority in declared}


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    """(sonames, priority) of each note"""
    out = tmp_path_factory.mktemp("notes") / "notes"
    subprocess.run(["objcopy", "--dump-section", ".note.dlopen=%s" % out, program.binary(),
                    str(out) + ".program"], check=True)
    entries = [entry for note in notes(out.read_bytes()) for entry in note]
    assert all(entry["feature"] and entry["description"] for entry in entries)
    return [(entry["soname"], entry["priority"]) for entry in entries]


@pytest.fixture(scope="module")
def linked():
    text = subprocess.run(["readelf", "-dW", program.binary()], check=True, stdout=subprocess.PIPE).stdout.decode()
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) - {"libc.so.6", "ld-linux-aarch64.so.1"}


def test_every_library_is_declared(declared, opened):
    assert set(opened.values()) == {"required", "recommended", "suggested"}
    sonames = [soname for names, _ in declared for soname in names]
    assert sorted(sonames) == sorted(SONAME.findall(read("src", "base", "library.h")))
    assert len(set(sonames)) == len(sonames)


def test_only_one_place_opens_libraries():
    """What another one opened would have no note."""
    found = []
    for folder, _, names in os.walk(os.path.join(program.TOP, "src")):
        found += [name for name in names
                  if re.search(r"\bdl(m?open|vsym|sym)\([^)]", read(folder, name)) and name != "library.c"]
    assert not found


# What another file included would be called past the one that opens the library.
USED_BY = {"json-c/": {"json-c.h"}, "ini.h": {"settings.c"}}


@pytest.mark.parametrize("header", USED_BY)
def test_one_file_uses_a_library(header):
    found = {name for folder, _, names in os.walk(os.path.join(program.TOP, "src")) for name in names
             if re.search("^#include <" + header, read(folder, name), re.M)}
    assert found == USED_BY[header]


@pytest.fixture
def without(tmp_path):
    """The environment of a machine on which these libraries are damaged."""
    def break_them(*sonames):
        for soname in sonames:
            (tmp_path / soname).write_text("no library\n")
        return {"LD_LIBRARY_PATH": str(tmp_path)}
    return break_them


JSON = ("libjson-c.so.5",)
INI = ("libinih.so.1", "libinih.so.0")


def test_preflight_and_doctor_open_none_for_documents(without, node_tree):
    root = node_tree("hgx-h200-roce")
    for args in (["preflight"], ["doctor", "--brief"], ["rules"]):
        args = args + ["--root", root] if args != ["rules"] else args
        healthy, result = program.run(*args), program.run(*args, env=without(*JSON, *INI))
        assert (result.status, result.out, result.err) == (healthy.status, healthy.out, "")


@pytest.mark.skipif(program.is_sanitized(), reason="what the end leaves behind would be called a leak")
@pytest.mark.parametrize("args", [["doctor", "--json"], ["facts"], ["topo", "--json"], ["rules", "--json"]],
                         ids=" ".join)
def test_a_document_without_its_library(args, without, node_tree):
    args = args + ["--root", node_tree("hgx-h200-roce")] if args[0] != "rules" else args
    result = program.run(*args, env=without(*JSON))
    assert result.status == 4 and not result.out
    assert result.err == "nvnodecheck: libjson-c.so.5 cannot be opened, or there is no memory for it\n"


@pytest.mark.parametrize("args", [["preflight"], ["doctor"], ["fix"]], ids=" ".join)
def test_a_configuration_without_its_library(args, without, node_tree, tmp_path):
    root = node_tree("hgx-h200-roce")
    os.makedirs(os.path.join(root, "etc"), exist_ok=True)
    with open(os.path.join(root, "etc/nvnodecheck.conf"), "w", encoding="ascii") as file:
        file.write("[check]\nstrict = no\n")
    result = program.run(*args, "--root", root, env=without(*INI))
    assert result.status == 4 and not result.out
    assert result.err == "nvnodecheck: /etc/nvnodecheck.conf: libinih, which reads it, cannot be opened\n"
    # Under the soname that other distributions give it.
    real = subprocess.run(["ldconfig", "-p"], stdout=subprocess.PIPE, check=True).stdout.decode()
    real = re.search(r"libinih\.so\.[01].*=> (.*)", real).group(1)
    os.unlink(tmp_path / "libinih.so.0")
    shutil.copy(real, tmp_path / "libinih.so.0")
    result = program.run(*args, "--root", root, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert result.status in (0, 1) and not result.err


def called(soname):
    name = soname.partition(".so")[0]
    return CALLED.get(name, name)


def headers():
    """The libraries whose headers the Makefile asks for."""
    names = re.search(r"^HEADERS := (.*)$", read("Makefile"), re.M).group(1)
    return {CALLED.get(name, name) for name in names.split()}


def test_readme(opened, linked):
    text = re.sub(r"\s+", " ", read("README.md"))
    said = re.search(r"The program is linked with the C library alone\. It opens .*? needs them: (.*?), and for "
                     r"`prove` (.*?)\. The build needs the headers of (.*?)\.", text)
    open_it, prove, asked = (set(re.split(r", | and ", part)) for part in said.groups())
    assert not linked
    assert open_it == {called(s) for s, priority in opened.items() if priority != "suggested"}
    assert prove == {called(s) for s, priority in opened.items() if priority == "suggested"}
    assert asked == headers()


def test_packages_of_the_build():
    """Each list of bootstrap has a package with each library's headers."""
    stems = {"zlib": "zlib", "libpci": "pci", "libyaml": "libyaml", "libibverbs": "libibverbs|rdma-core"}
    wanted = [stems.get(name, name.replace("lib", "", 1)) for name in headers()]
    for manager in ("apt", "dnf", "zypper"):
        packages = re.search(r"^\t%s-build\) echo ([^;]*);;" % manager, read("bootstrap"), re.M).group(1)
        devel = [name for name in packages.split() if re.search("-dev(el)?$", name)]
        assert [stem for stem in wanted if not any(re.search(stem, name) for name in devel)] == [], manager


def test_rpm(declared):
    text = read("packaging", "nvnodecheck.spec")
    said = {soname: {"Requires": "required", "Recommends": "recommended"}[field]
            for field, soname in re.findall(r"^(\w+): +%\{library (.*)\}$", text, re.M)}
    assert said == {next((name for name in sonames if name in said), sonames[0]): priority
                    for sonames, priority in declared if priority != "suggested"}


def test_debian():
    """Its fields are made of the notes when it is built (packaging/debian/opened-libraries)."""
    text = read("packaging", "debian", "control")
    for field, priority in (("Depends", "Depends"), ("Recommends", "Recommends"), ("Suggests", "Suggests")):
        assert re.search(r"^%s:\n \$\{dlopen:%s\},$" % (field, priority), text, re.M), field
    assert "opened-libraries build/nvnodecheck" in read("packaging", "debian", "rules")
