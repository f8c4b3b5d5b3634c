# SPDX-License-Identifier: GPL-2.0-or-later
"""--help, the manual pages, the example configuration and the schemas say the same; nothing in the pages
is wrong for mandoc or groff."""
import os
import re
import shutil
import subprocess

import pytest

from lib import cli, program, schema
from test_expect import settings_rows

FACTS_PAGE = os.path.join(os.path.dirname(os.path.abspath(program.binary())), "nvnodecheck-facts.5")
PAGES = ["man/nvnodecheck.8", "man/nvnodecheck.conf.5", FACTS_PAGE]


def read(*path):
    with open(os.path.join(program.TOP, *path), encoding="utf-8") as file:
        return file.read()


def section(page, name):
    """Below .Sh NAME or .Ss NAME, up to the next of its kind."""
    found = re.search(r"^\.S([sh]) %s\n(.*?)(?=^\.S[h\1] |\Z)" % re.escape(name), page, re.M | re.S)
    assert found, name
    return found.group(2)


def items(text):
    """[(the words of .It, its text)], without what is nested."""
    return re.findall(r"^\.It (.*)\n((?:(?!\.It).*\n?)*)", text, re.M)


@pytest.fixture(scope="module")
def page():
    return read("man", "nvnodecheck.8")


def listed_options(page):
    """{name: (letter, text)} of the section OPTIONS."""
    found = {}
    for head, text in items(section(page, "OPTIONS")):
        letter = re.search(r"^Fl (\w) ", head)
        for name in re.findall(r"Fl Fl ([\w-]+)", head):
            found[name] = (letter.group(1) if letter else None, head + "\n" + text)
    return found


def test_every_verb_is_in_the_manual(page):
    synopsis = section(page, "SYNOPSIS")
    described = [re.match(r"Cm (\w+)", head).group(1) for head, _ in
                 items(section(page, "COMMANDS"))]
    assert sorted(described) == sorted(cli.verbs())
    for verb in cli.verbs():
        called = re.search(r"^\.Nm\n\.(?:Op )?Cm %s\b" % verb, synopsis, re.M)
        assert called, "%s is not in the SYNOPSIS" % verb


def test_every_option_is_in_the_manual(page):
    listed = listed_options(page)
    wanted = {o.name: o for verb in cli.verbs() for o in cli.options(verb)}
    assert set(listed) == set(wanted)
    for name, option in wanted.items():
        letter, text = listed[name]
        assert letter == option.letter, name
        assert bool(re.search(r"Fl Fl %s (?:Ns Op = Ns )?Ar" % name, text)) == bool(option.value), name


def test_every_value_is_in_the_manual(page):
    listed = listed_options(page)
    for verb in cli.verbs():
        for option in cli.options(verb):
            where = section(page, "PROFILES") if option.name == "profile" else listed[option.name][1]
            for word in option.words:
                assert re.search(r"(Ql|Em) %s\b" % re.escape(word), where), (option.name, word)


def test_help_is_of_one_make():
    """An option is called and explained in the same way for each verb that has it."""
    seen = {}
    for verb in cli.verbs():
        assert {"help", "version"} <= {o.name for o in cli.options(verb)}
        for option in cli.options(verb):
            text = option.help.partition(": " + ", ".join(option.words))[0] if option.words \
                else option.help
            assert seen.setdefault(option.name, (option.letter, option.value, text)) == (
                option.letter, option.value, text)


def test_exit_status(page):
    """exit-status.h, --help and the manual have the same numbers."""
    numbers = re.findall(r"^\tEXIT_\w+ = (\d)", read("src", "base", "exit-status.h"), re.M)
    assert [head for head, _ in items(section(page, "EXIT STATUS"))] == numbers
    said = " ".join(program.run("--help").out.partition("\nExit status: ")[2].split())
    assert re.findall(r"(?:^|, )(\d) ", said) == numbers


# In the order in which the manual explains them.
MANUAL_VERDICTS = ["pass", "fail", "pending", "unknown", "note", "not-applicable"]
MANUAL_SEVERITIES = ["crit", "err", "warn", "info"]


def words_of(name, definition):
    return [w for w in schema.load(name)["$defs"][definition]["enum"] if w]


def test_words_of_reports(page):
    """Verdicts, severities and profiles: the schema's, the program's and the manual's."""
    options = {o.name: o for o in cli.options("doctor")}
    assert words_of("report", "severity") == ["info"] + options["fail-on"].words
    assert words_of("report", "profile") == options["profile"].words
    said = [head for head, _ in items(section(page, "FINDINGS"))]
    assert said == ["Em " + word for word in MANUAL_VERDICTS + MANUAL_SEVERITIES]
    assert sorted(MANUAL_VERDICTS) == sorted(words_of("report", "verdict"))
    assert sorted(MANUAL_SEVERITIES) == sorted(words_of("report", "severity"))


def test_settings():
    """Values and defaults of nvnodecheck.conf: the table, the manual and the example."""
    table = read("src", "evaluate", "settings.c").partition("settings_keys[] = {")[2].partition("{ 0 }")[0]
    rows = re.findall(r'\{ "(\w+)", "([\w-]+)", "([^"]*)", (?:NULL|"([^"]*)"),', table)
    assert [row[:2] for row in rows] == [row[:2] for row in settings_rows()] and len(rows) >= 4
    manual, example = read("man", "nvnodecheck.conf.5"), read("nvnodecheck.conf.example")
    options = {o.name: o for o in cli.options("doctor")}
    for part, key, values, standard in rows:
        text = dict(items(section(manual, "[%s]" % part)))["Cm " + key]
        words = values.split(", ") if "," in values else []
        assert all(re.search(r"Ql %s\b" % re.escape(word), text) for word in words), key
        line = re.search(r"((?:^#.*\n)+)^#%s = (.*)$" % key, example, re.M)
        assert all(word in line.group(1) for word in words), key
        assert not standard or line.group(2) == standard, key
        # The file only says whether; how much more is asked for on the command line.
        if key in options and options[key].words and key != "nvml":
            assert options[key].words == words, key


def paths(node, definitions, at=""):
    for name, part in node["properties"].items():
        yield at + name
        for option in part.get("anyOf", [part]):
            many = "items" in option
            reference = (option["items"] if many else option).get("$ref")
            if reference and not name.startswith("format"):
                below = definitions[reference.rpartition("/")[2]]
                yield from paths(below, definitions, at + name + ("[]." if many else "."))


def test_every_fact_is_in_its_manual():
    """By the schema's paths; of a struct in two places the page says where it stands."""
    page = read(FACTS_PAGE)
    shown = re.findall(r"^\.It Va (\S+)", page, re.M)
    assert len(set(shown)) == len(shown)
    elsewhere = [path[:-1] for path in shown if path.endswith("*")]
    whole = schema.load("facts")
    wanted = set(paths(whole, whole["$defs"]))
    missing = {path for path in wanted - set(shown)
               if not any(path.startswith(prefix) for prefix in elsewhere)}
    # Sections are headings, not entries.
    missing -= set(re.findall(r"^\.Ss (\w+)$", page, re.M))
    assert not missing
    assert {path for path in shown if not path.endswith("*")} <= wanted


def test_a_fact_without_a_word_is_an_error(tmp_path):
    header = tmp_path / "facts.h"
    header.write_text(re.sub(r"/\* 0000:1b:00\.0 \*/", "", read("src", "facts", "facts.h"), 1))
    process = subprocess.run(["awk", "-f", "man/facts.awk", str(header), "src/facts/facts.c",
                              "src/facts/facts-os.c", "src/facts/facts-pci.c", "src/facts/facts-loads.c", "man/nvnodecheck-facts.5.in"], cwd=program.TOP,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.returncode == 1
    assert b"nothing is said of pci_device.bdf" in process.stderr


# groff from 1.23 on says of each line that it left ragged, and 1.24 by how much.
RAGGED = re.compile(rb"^troff:.*: warning .*cannot adjust line(; underset by \d+n)?\n", re.M)


@pytest.mark.parametrize("file", PAGES, ids=os.path.basename)
@pytest.mark.parametrize("command", [["mandoc", "-Tlint", "-Wwarning"], ["groff", "-mandoc", "-ww", "-z"],
                                     ["groff", "-mandoc", "-ww", "-z", "-Tutf8", "-rLL=72n"]])
def test_roff_has_nothing_to_say(command, file):
    if not shutil.which(command[0]):
        pytest.skip("no " + command[0])
    process = subprocess.run(command + [file], cwd=program.TOP, stdout=subprocess.PIPE, timeout=60,
                             stderr=subprocess.STDOUT, env={"PATH": os.environ["PATH"],
                                                            "LC_ALL": "C.UTF-8"})
    assert process.returncode == 0 and not RAGGED.sub(b"", process.stdout), process.stdout.decode()


def test_the_map_has_every_folder():
    """docs/design.md has one row for each folder of src/."""
    table = read("docs", "design.md").partition("## Where things are")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `src/([^`]*)`", table, re.M)
    names = os.listdir(os.path.join(program.TOP, "src"))
    assert sorted(rows) == sorted(n if n.endswith(".c") else n + "/" for n in names)
