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
CALLED = {"libz": "zlib", "libyaml-0": "libyaml", "yaml-0.1": "libyaml"}

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
def opened(tmp_path_factory):
    """{soname: priority}"""
    out = tmp_path_factory.mktemp("notes") / "notes"
    subprocess.run(["objcopy", "--dump-section", ".note.dlopen=%s" % out, program.binary(),
                    str(out) + ".program"], check=True)
    found = {}
    for note in notes(out.read_bytes()):
        for entry in note:
            assert entry["feature"] and entry["description"]
            for soname in entry["soname"]:
                assert soname not in found
                found[soname] = entry["priority"]
    return found


@pytest.fixture(scope="module")
def linked():
    text = subprocess.run(["readelf", "-dW", program.binary()], check=True, stdout=subprocess.PIPE).stdout.decode()
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) - {"libc.so.6", "ld-linux-aarch64.so.1"}


def test_every_library_is_declared(opened):
    assert set(opened.values()) == {"required", "recommended", "suggested"}
    declared = SONAME.findall(read("src", "base", "library.h"))
    assert sorted(declared) == sorted(opened)


def test_only_one_place_opens_libraries():
    """What another one opened would have no note."""
    found = []
    for folder, _, names in os.walk(os.path.join(program.TOP, "src")):
        found += [name for name in names
                  if re.search(r"\bdl(m?open|vsym|sym)\([^)]", read(folder, name)) and name != "library.c"]
    assert not found


def called(soname):
    name = soname.partition(".so")[0]
    return CALLED.get(name, name)


def test_readme(opened, linked):
    text = re.sub(r"\s+", " ", read("README.md"))
    said = re.search(r"The program is linked with (.*?)\. It opens .*? needs them: (.*?), and for `prove` (.*?)\. "
                     r"The build needs the headers of (.*?)\.", text)
    with_it, open_it, prove, headers = (set(re.split(r", | and ", part)) for part in said.groups())
    assert {name if name.startswith("lib") else "lib" + name for name in with_it} == \
        {soname.partition(".so")[0] for soname in linked}
    assert open_it == {called(s) for s, priority in opened.items() if priority != "suggested"}
    assert prove == {called(s) for s, priority in opened.items() if priority == "suggested"}
    asked = read("Makefile")
    names = re.search(r"^LIBS := (.*)$", asked, re.M).group(1) + " " + re.search(r"^HEADERS := (.*)$", asked,
                                                                               re.M).group(1)
    assert headers == {CALLED.get(name, name) for name in names.split()}


def test_rpm(opened):
    text = read("packaging", "nvnodecheck.spec")
    said = {soname: {"Requires": "required", "Recommends": "recommended"}[field]
            for field, soname in re.findall(r"^(\w+): +%\{library (.*)\}$", text, re.M)}
    assert said == {soname: priority for soname, priority in opened.items() if priority != "suggested"}


def test_debian():
    """Its fields are made of the notes when it is built (packaging/debian/opened-libraries)."""
    text = read("packaging", "debian", "control")
    for field, priority in (("Depends", "Depends"), ("Recommends", "Recommends"), ("Suggests", "Suggests")):
        assert re.search(r"^%s:\n \$\{dlopen:%s\},$" % (field, priority), text, re.M), field
    assert "opened-libraries build/nvnodecheck" in read("packaging", "debian", "rules")
