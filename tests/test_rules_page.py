# SPDX-License-Identifier: GPL-2.0-or-later
"""nvnodecheck-rules(7): every rule with everything that is said of it, and nothing that roff minds."""
import glob
import os
import re
import shutil
import subprocess

import pytest

from lib.program import TOP, run


@pytest.fixture(scope="module")
def page():
    result = run("rules", "--format", "man")
    assert result.status == 0 and result.err == "", str(result)
    return result.out


@pytest.fixture(scope="module")
def rules():
    return run("rules", "--json").json()["rules"]


def plain(text):
    """What roff would show."""
    for escape, char in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"),
                         ("\\(ti", "~"), ("\\&", ""), ("\\:", ""), ("\\e", "\\")):
        text = text.replace(escape, char)
    return text


def entries(page):
    """{rule: {name of a field: its text}}"""
    found = {}
    for part in page.split("\n.SS ")[1:]:
        part = part.partition("\n.SH ")[0]
        name, _, body = part.partition("\n")
        title, *fields = re.split(r"\n\.TP 10\n\.B ", body.rstrip("\n"))
        found[plain(name)] = {"title": plain(title)}
        for field in fields:
            key, _, text = field.partition("\n")
            found[plain(name)][key] = plain(text.replace("\n.br\n", "\n"))
    return found


def squeezed(text):
    return "\n".join(line.strip() for line in text.split("\n"))


def test_every_rule_is_there_whole(page, rules):
    found = entries(page)
    assert list(found) == [rule["id"] for rule in rules]
    for rule in rules:
        entry = found[rule["id"]]
        assert entry["title"] == squeezed(rule["title"])
        assert entry["Severity"] == rule["severity"]
        assert entry["Profiles"].split(",") == rule["profiles"]
        for name, key in (("Read", "reads"), ("Why", "why"), ("Impact", "impact"),
                          ("Check", "check"), ("Remedy", "remedy"), ("Cost", "cost"),
                          ("Sources", "sources")):
            assert entry.get(name) == (squeezed(rule[key]) if rule[key] else None), rule["id"]
        assert entry["Fix"].startswith(rule["fix"] or "none")


def test_areas_are_sections(page, rules):
    sections = [plain(s) for s in re.findall(r'^\.SH "(.*)"$', page, re.M)]
    areas = []
    for rule in rules:
        area = rule["id"].partition("/")[0].upper()
        if area not in areas:
            areas.append(area)
    assert sections == areas


def test_pattern_picks(rules):
    out = run("rules", "driver/*", "--format", "man").out
    assert list(entries(out)) == [r["id"] for r in rules if r["id"].startswith("driver/")]


@pytest.mark.parametrize("command", [
    ["groff", "-man", "-ww", "-z"], ["groff", "-man", "-ww", "-z", "-Tutf8", "-rLL=60n"],
    ["man", "--warnings", "-l", "-"], ["mandoc", "-Tlint", "-Werror"]])
def test_roff_has_nothing_to_say(command, page, tmp_path):
    if not shutil.which(command[0]):
        pytest.skip("no " + command[0])
    result = subprocess.run(command, input=page.encode(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=60,
                            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80",
                                 "HOME": str(tmp_path)})
    # groff from 1.23 on says of each line that it left ragged.
    said = re.sub(rb"(?m)^troff:.*: warning .*cannot adjust line\n", b"", result.stderr)
    assert result.returncode == 0 and not said, said.decode()


def test_commands_can_be_copied(page):
    if not shutil.which("groff"):
        pytest.skip("no groff")
    shown = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou"], input=page.encode(),
                           stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
    shown = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\u2010" not in shown and "\u2019" not in shown and "\u2212" not in shown
    assert "lspci -vvv | grep" in shown


def test_rules_that_are_named_elsewhere_exist(rules):
    """In what people read and copy. CONTRIBUTING.md makes one up, to write it."""
    known = {rule["id"] for rule in rules}
    areas = "|".join(sorted({ident.partition("/")[0] for ident in known}))
    named = re.compile(r"(?<![\w./-])(?:%s)/[a-z0-9][a-z0-9-]*(?![\w/.*-])" % areas)
    seen = set()
    for pattern in ("*.md", "NEWS", "*.example", "man/*", "docs/**/*", "contrib/**/*"):
        for path in glob.glob(os.path.join(TOP, pattern), recursive=True):
            if os.path.isdir(path) or path.endswith(("/CONTRIBUTING.md", ".png")):
                continue
            with open(path, encoding="utf-8") as file:
                found = set(named.findall(file.read()))
            assert found <= known, (path, found - known)
            seen |= found
    assert {"driver/loaded", "pci/rebar-supported-not-used", "node/probe-timed-out"} <= seen
