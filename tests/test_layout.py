# SPDX-License-Identifier: GPL-2.0-or-later
"""The house: which folder of src/ may include which, and no circle anywhere."""

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lib import program

SRC = Path(__file__).resolve().parent.parent / "src"

# Each folder includes itself and the folders named here, all of which stand below it.
MAY_INCLUDE = {
    "base": "",
    "facts": "base",
    "parse": "base facts",
    "query": "base facts parse",
    "redact": "base facts parse query",
    "host": "base facts parse redact",
    "evaluate": "base facts parse query",
    "rules": "base facts parse query evaluate",
    "why": "base facts query evaluate",
    "probes": "base facts parse query host",
    "txn": "base facts parse host probes evaluate",
    "fixes": "base facts parse query host probes evaluate txn",
    "advice": "base query evaluate txn",
    "provers": "base facts query probes",
    "fleet": "base facts evaluate",
    "render": "base facts query evaluate why advice fleet fixes txn",
    "cli": "base facts query host evaluate why probes fixes txn advice provers fleet render",
    "main.c": "base cli render",
}


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def room(name):
    return name.split("/")[0]


FILES = sorted(p.relative_to(SRC).as_posix() for p in SRC.rglob("*.[ch]"))


def test_every_folder_has_a_row():
    assert {room(name) for name in FILES} == set(MAY_INCLUDE)


def test_the_design_has_the_rows():
    text = (SRC.parent / "docs/design.md").read_text()
    table = text.split("| folder | includes |\n|---|---|\n", 1)[1].split("\n\n", 1)[0]
    rows = dict(re.fullmatch(r"\| `([\w.]+)` \| (.*) \|", line).groups() for line in table.splitlines())
    assert {folder: " ".join(re.findall(r"`(\w+)`", row)) for folder, row in rows.items()} == MAY_INCLUDE


def test_src_holds_main_and_folders_only():
    assert [p.name for p in SRC.iterdir() if p.is_file()] == ["main.c"]


def test_rows_name_folders_below():
    """A row that named a folder above it would allow a circle."""
    below = set()
    for folder, row in MAY_INCLUDE.items():
        assert set(row.split()) <= below, folder
        below.add(folder)


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_arrows(folder):
    allowed = {folder, *MAY_INCLUDE[folder].split()}
    wrong = [f"{name} includes {other}" for name in FILES if room(name) == folder
             for other in includes(SRC / name)
             if not other.endswith(".inc") and room(other) not in allowed]
    assert not wrong


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_no_arrow_is_allowed_in_vain(folder):
    used = {room(other) for name in FILES if room(name) == folder for other in includes(SRC / name)}
    assert set(MAY_INCLUDE[folder].split()) <= used


def symbols(option):
    """(folder, symbol) of what the build has of each source."""
    build = Path(program.binary()).resolve().parent
    objects = [str(build / (name[:-1] + "o")) for name in FILES if name.endswith(".c")]
    if not all(map(os.path.exists, objects)) or not shutil.which("nm"):
        pytest.skip("no objects of each source, or no nm")
    out = subprocess.run(["nm", "-A", "-P", "-g", option, *objects], stdout=subprocess.PIPE, check=True).stdout.decode()
    for line in out.splitlines():
        path, rest = line.split(": ", 1)
        yield os.path.relpath(path, build).split("/")[0], rest.split()[0]


def test_a_folder_links_with_those_below_it():
    """What a header declares is defined in the header's folder. Tables of rules register themselves."""
    below = {}
    for folder, row in MAY_INCLUDE.items():
        below[folder] = {folder}.union(*(below[name] for name in row.split()))
    owner = {symbol: folder for folder, symbol in symbols("--defined-only")}
    wrong = {"%s needs %s of %s" % (folder, symbol, owner[symbol]) for folder, symbol in symbols("--undefined-only")
             if folder in below and owner.get(symbol, folder) not in below[folder] and not symbol.startswith("rules_")}
    assert len(owner) > 1000 and not wrong


def test_each_function_is_used():
    """By another file, or by a C file of the tests; else it is static or not needed."""
    used = {symbol for _, symbol in symbols("--undefined-only")}
    others = "".join(path.read_text(errors="replace") for folder in ("tests", "man")
                     for path in (SRC.parent / folder).rglob("*.c"))
    words = set(re.findall(r"\w+", others)) | {"main"}
    unused = {symbol for _, symbol in symbols("--defined-only") if symbol not in used and symbol not in words}
    # Tables of words and keys: one for each enum, also where one file reads them.
    assert {symbol for symbol in unused if not re.search(r"_(words|keys)$", symbol)} == set()


def test_a_word_for_each_value_of_an_enum():
    """Tables of words name the value of each word, so that no order has to be kept in two places. An enum may end with
    a count or a value without a word."""
    texts = {name: re.sub(r"/\*.*?\*/", "", (SRC / name).read_text(), flags=re.S) for name in FILES}
    enums = {name: [value.split("=")[0].strip() for value in body.split(",") if value.strip()]
             for text in texts.values() for name, body in re.findall(r"enum (\w+) \{([^}]*)\}", text)}
    tables = [(name, table, body) for name, text in texts.items()
              for table, body in re.findall(r"^const char \*const (\w+)_words\[\] = \{([^;]*)\};", text, re.M)]
    bits = {"profile"}	# by the number of the bit
    wrong = []
    for name, table, body in tables:
        values = enums.get(table) or next(enums[table + end] for end in ("_kind", "_state") if table + end in enums)
        named = re.findall(r"\[(\w+)\] = ", body)
        words = len(re.findall(r'"[^"]*"', body))
        if table not in bits and (named not in (values, values[:-1]) or words > len(named)):
            wrong.append(f"{name}: {table}_words")
    assert len(tables) > 40 and not wrong


def test_no_circle_of_headers():
    """Of single files, inside a folder as well."""
    graph = {name: [o for o in includes(SRC / name) if not o.endswith(".inc")] for name in FILES}
    done = set()

    def visit(name, above):
        assert name not in above, " -> ".join([*above, name])
        if name in done:
            return
        for other in graph[name]:
            visit(other, [*above, name])
        done.add(name)

    for name in FILES:
        visit(name, [])


@pytest.mark.parametrize("path", sorted((SRC / "rules").glob("*.c")), ids=lambda p: p.name)
def test_rules_lie_in_the_file_of_their_area(path):
    """modules/peermem-stub is in modules-peermem.c: a file's name begins with the area of its ids."""
    areas = set(re.findall(r'\.id = "([^/"]+)/', path.read_text()))
    assert len(areas) == 1
    area = areas.pop()
    assert path.stem == area or path.stem.startswith(area + "-")


def first_block(path):
    """The lines from the first include on that are includes or blank."""
    lines = itertools.dropwhile(lambda line: not line.startswith("#include "), path.read_text().splitlines())
    return list(itertools.takewhile(lambda line: not line or line.startswith("#include "), lines))


def test_includes_are_in_one_order():
    """The header of the file's name, system headers, the program's headers: blocks with a blank line between them, each sorted.
    So no header leans on what another file includes before it. Generated lists and parts of facts.h may come later."""
    wrong = []
    for name in FILES:
        lines = [line for line in first_block(SRC / name) if not line.endswith('.inc"')]
        own = lines[:1] if name.endswith(".c") and lines and lines[0].endswith(f'/{name.split("/")[-1][:-1]}h"') else []
        system = sorted(line for line in lines if line.startswith("#include <"))
        others = sorted(line for line in lines if line.startswith('#include "') and line not in own)
        wanted = "\n\n".join("\n".join(part) for part in (own, system, others) if part)
        if "\n".join(lines).strip() != wanted:
            wrong.append(name)
    assert not wrong


def test_the_readme_of_tests_has_each_file():
    tests = SRC.parent / "tests"
    named = set(re.findall(r"`(test_\w+\.py)`", (tests / "README.md").read_text()))
    assert named == {path.name for path in tests.glob("test_*.py")}


# ---- names ----

def named(name):
    """The file that the first comment names."""
    found = re.match(r"/\* SPDX.*\n/\*(?:\n \*)? ([\w-]+\.[ch]) - ", (SRC / name).read_text())
    return found and found.group(1)


def test_the_first_comment_names_the_file():
    """Each file says in its first comment what it is."""
    wrong = [name for name in FILES if named(name) != name.split("/")[-1]]
    assert not wrong


def test_guards_of_headers():
    """The file's name, or with its folder's where another header has that name; no two have one."""
    seen = {}
    for name in FILES:
        if not name.endswith(".h"):
            continue
        guard, defined = re.search(r"^#ifndef (\w+)\n#define (\w+)$", (SRC / name).read_text(), re.M).groups()
        folder, *_, own = re.sub(r"[.-]", "_", name).upper().split("/")
        assert guard == defined and guard in (own, folder + "_" + own), name
        assert seen.setdefault(guard, name) == name


def test_every_probe_has_its_section():
    """Its own name's, or a row in the table of those that fill a part of another's: the report looks there for why
    a fact is not known."""
    sections = set(re.findall(r"^\tF_\w+\(node, (\w+),", (SRC / "facts/facts.c").read_text(), re.M))
    probes = {re.search(r'\.name = "([\w-]+)"', part).group(1)
              for name in FILES if room(name) == "probes"
              for part in re.findall(r"^const struct probe probe_\w+ = \{.*?^\};", (SRC / name).read_text(), re.M | re.S)}
    table = re.search(r"^\} parts\[\] = \{\n(.*?)^\};", (SRC / "evaluate/evidence-gap.c").read_text(), re.M | re.S).group(1)
    rows = re.findall(r'\{ "([\w-]+)", "(\w+)" \}', table)
    assert len(probes) > 40 and len(sections) > 25
    assert {probe for probe, _ in rows} == probes - sections
    assert {section for _, section in rows} <= sections


def test_functions_and_files_are_short():
    """As CONTRIBUTING.md says: 50 lines and 800."""
    long = []
    for name in FILES:
        lines = (SRC / name).read_text().splitlines()
        long += [name] if len(lines) > 800 else []
        start = None
        for number, line in enumerate(lines, 1):
            if line == "{":
                start = number
            elif line == "}" and start:
                long += [f"{name}:{start}"] if number - start - 1 > 50 else []
                start = None
    assert not long
