# SPDX-License-Identifier: GPL-2.0-or-later
"""Every node: its facts and its report are as written down, and the ways from a node to them agree.

NVNODECHECK_UPDATE=1 writes tests/golden anew; look at the difference before it is committed.
"""
import functools
import json
import os
import re

import pytest

from lib import golden, node, program
from lib.program import pretty, steady

NAMES = node.names()


@functools.lru_cache(maxsize=None)
def rules():
    return {rule["id"]: rule for rule in program.run("rules", "--json").json()["rules"]}


def in_short(document):
    """A report without the texts that are its rules' own: those change for better words alone."""
    for finding in document.get("findings", ()):
        for key in ("title", "impact", "remedy"):
            if finding[key] == rules()[finding["rule"]][key]:
                del finding[key]
    return document


def hold_file(name, text):
    """TEXT is what tests/golden/NAME has."""
    path = os.path.join(golden.FOLDER, name)
    if os.environ.get("NVNODECHECK_UPDATE") == "1":
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    assert os.path.exists(path), "no golden file; NVNODECHECK_UPDATE=1 makes it"
    with open(path, encoding="utf-8") as file:
        kept = file.read()
    if kept != text:
        # As lists first: the difference that pytest then shows is short.
        assert text.splitlines() == kept.splitlines()
        assert text == kept


def hold(name, kind, document, lines):
    document = in_short(steady(document))
    hold_file("%s.%s.txt" % (name, kind), "".join(line + "\n" for line in lines(document)))
    if name in golden.WHOLE:
        hold_file("%s.%s.json" % (name, kind), pretty(document))


@pytest.fixture(scope="module", params=NAMES)
def seen(request, stages, tmp_path_factory):
    """The node's tree, its facts and a file with them."""
    stage = stages("nodes")
    stage.put(node.tree_of(request.param))
    directory = stage.directory
    result = program.run("facts", "--root", directory)
    assert result.status == 0, str(result)
    file = tmp_path_factory.mktemp(request.param) / "facts.json"
    file.write_bytes(result.raw)
    return request.param, directory, result, str(file)


def test_facts(seen):
    name, _, result, _ = seen
    assert result.err == ""
    hold(name, "facts", result.json(), golden.fact_lines)


def test_report(seen):
    name, directory, _, _ = seen
    hold(name, "report", program.report(directory), golden.report_lines)


def test_facts_come_back(seen):
    """Facts to JSON to facts to JSON, byte for byte."""
    _, _, result, file = seen
    again = program.run("facts", "--from", file)
    assert again.status == 0, str(again)
    assert again.out == result.out


def in_steps(report):
    return {(problem["rule"], *problem["subjects"]) for step in report.pop("steps") for problem in step["problems"]}


def assert_same_report(stored, fresh):
    """The files of the node decide what fix can change, and a copy lacks some or all of them: the steps solve the same
    problems, in other ways."""
    stored, fresh = steady(stored.json()), steady(fresh.json())
    assert in_steps(stored) == in_steps(fresh)
    assert stored == fresh


def test_report_from_facts(seen):
    _, directory, _, file = seen
    fresh = program.run("doctor", "--json", "--root", directory)
    stored = program.run("doctor", "--json", "--from", file)
    assert stored.status == fresh.status, str(stored)
    assert_same_report(stored, fresh)


def test_capture_replays(seen, tmp_path):
    _, directory, result, _ = seen
    file = str(tmp_path / "node.capture")
    made = program.run("capture", "--root", directory, "--no-redact", "-o", file)
    assert made.status == 0, str(made)
    replayed = program.run("facts", "--from", file)
    assert replayed.status == 0, str(replayed)
    assert steady(replayed.json()) == steady(result.json())
    fresh = program.run("doctor", "--json", "--root", directory)
    again = program.run("doctor", "--json", "--from", file)
    assert again.status == fresh.status, str(again)
    assert_same_report(again, fresh)


def test_redacted_capture(seen, tmp_path):
    """What identifies the machine is gone; the findings are the same."""
    name, directory, result, _ = seen
    file = tmp_path / "node.capture"
    made = program.run("capture", "--root", directory, "-o", str(file))
    assert made.status == 0, str(made)
    text = file.read_text(encoding="utf-8", errors="replace")
    facts = result.json()
    hostname = facts.get("os", {}).get("hostname")
    if hostname:
        assert '"%s' % hostname not in text and "@%s" % hostname not in text
    for gpu in facts.get("gpu", {}).get("devices") or ():
        assert not gpu.get("uuid") or gpu["uuid"] not in text
    fresh = program.report(directory)
    again = program.run("doctor", "--json", "--from", str(file)).json()
    verdicts = [(f["rule"], f["verdict"], f["severity"], f["subject"]) for f in fresh["findings"]]
    assert verdicts == [(f["rule"], f["verdict"], f["severity"], f["subject"])
                        for f in again["findings"]]


def test_goldens_belong_to_nodes():
    known = {"%s.%s.%s" % (name, kind, form) for kind in ("facts", "report")
             for form, names in (("txt", NAMES), ("json", golden.WHOLE)) for name in names}
    assert {name for name in os.listdir(golden.FOLDER) if re.search(r"\.(facts|report)\.", name)} == known
