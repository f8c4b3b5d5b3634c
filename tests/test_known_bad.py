# SPDX-License-Identifier: GPL-2.0-or-later
"""data/known-bad.tsv: each row on nodes that are made for it. It is said at both ends of its range, and not above
it, not with any one of its conditions turned off, and not where what a condition needs was not read."""
import json
import os
import re
import subprocess

import pytest

from lib import cases, known, node, program
from lib.long import one_of

ROWS = known.read_rows()
PROFILES = "base,p2p,gpudirect-rdma,deepep"
RULE = "software/known-bad"


def last_version(row):
    """Just below TO, in no branch that was repaired before."""
    fixed = [v for c in row.conditions if c.key == "fixed" for v in c.values]
    version = known.below(row.to)
    for repair in sorted(fixed, key=known.numbers, reverse=True):
        if version.startswith(repair.rpartition(".")[0] + ".") and known.compare(version, repair) >= 0:
            version = known.below(repair)
    return whole(row, version)


def whole(row, version):
    """kernel.org's releases have a third number."""
    return version + ".1" if row.component == "kernel.org" and version.count(".") == 1 else version


def questions(row):
    """(what, facts, whether the row is to be said: True, False, or None for unknown)"""
    first = whole(row, row.first) if row.first else None
    ends = [v for v in (first, last_version(row) if row.to else None) if v]
    for version in ends or ["1.0"]:
        yield "at " + version, known.build(row, version), True
    if row.to:
        yield "repaired in " + row.to, known.build(row, whole(row, row.to)), False
    if row.first:
        yield "before " + row.first, known.build(row, known.below(row.first)), False
    version = (ends or ["1.0"])[0]
    for condition in row.conditions:
        if condition.key in known.OWN:
            for repair in condition.values:
                yield "repaired in " + repair, known.build(row, repair), False
            continue
        off = known.build(row, version, condition)
        assert off, "%s:%d: %s cannot be turned off alone" % (known.TABLE, row.line, condition)
        yield "without %s" % (condition,), off, False
        unread = known.forget(row, known.build(row, version), condition)
        if unread:
            yield "unread %s" % (condition,), unread, None


def evaluated(row, report):
    """True, False or None, and what was found of it."""
    said = [f for f in report["findings"] if "(%s)" % row.id in (f["subject"] or "") + (f["observed"] or "")]
    if said:
        return True, said
    # Of many ids a report names the first.
    unknown = [f for f in report["findings"] if f["rule"] == RULE and f["verdict"] == "unknown"]
    return None if unknown else False, unknown


def ask(asked, folder):
    for number, (_, _, facts, _) in enumerate(asked):
        (folder / ("%05d.json" % number)).write_text(json.dumps(facts))
    result = program.run("doctor", "--json", "--profile", PROFILES, "--from", folder)
    reports = [json.loads(line) for line in result.out.splitlines()]
    reports = [r for r in reports if "findings" in r]
    assert len(reports) == len(asked), result.err[:2000]
    return reports


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    asked = [(row, what, facts, wanted) for row in ROWS for what, facts, wanted in questions(row)]
    assert all(facts for _, _, facts, _ in asked)
    reports = ask(asked, tmp_path_factory.mktemp("known-bad"))
    found = {row.id: [] for row in ROWS}
    for (row, what, _, wanted), report in zip(asked, reports):
        found[row.id].append((what, wanted, report))
    return found


def wrong_texts(row, findings):
    """What a finding is to have of its row."""
    for f in findings:
        texts = " ".join(str(f.get(key)) for key in ("observed", "remedy", "source"))
        yield from ("lacks: " + text for text in (row.effect, row.cure, row.source, row.read)
                    if text not in texts)
        if f["rule"] != (row.rule or RULE):
            yield "is said by " + f["rule"]
        if not row.rule and f["severity"] != {"note": "info", "data": "warn"}.get(row.severity, row.severity):
            yield "is said as " + f["severity"]
        if not row.rule and (row.range == "open") != ("no repaired version" in f["expected"]):
            yield "expects " + f["expected"]
        if not any("fact" in e for e in f["evidence"]):
            yield "has no evidence"


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_row(row, answers):
    wrong = []
    for what, wanted, report in answers[row.id]:
        found, findings = evaluated(row, report)
        if wanted is True:
            wrong += ["%s: %s" % (what, text) for text in wrong_texts(row, findings)]
            if found is not True:
                wrong.append("%s: it is not said" % what)
            elif len(findings) != 1:
                wrong.append("%s: it is said %d times" % (what, len(findings)))
        elif found is True:
            wrong.append("%s: it is said" % what)
        elif wanted is None and found is not None and not row.rule:
            wrong.append("%s: it is not unknown" % what)
    assert not wrong, "%s:%d\n%s" % (known.TABLE, row.line, "\n".join(wrong))


def test_enough_rows():
    """What was read by hand is not lost by accident."""
    assert len(ROWS) >= 110
    assert all(row.source and row.read for row in ROWS)


def test_the_summary_counts_the_rows():
    said = " ".join(program.run("explain", RULE).out.split())
    for component in {row.component for row in ROWS}:
        count = sum(row.component == component for row in ROWS)
        assert re.search(r"\b%s %d[,.]" % (re.escape(component), count), said), component


def test_rules_that_say_rows_exist():
    rules = {r["id"] for r in program.run("rules", "--json").json()["rules"]}
    assert {row.rule for row in ROWS if row.rule} <= rules


# ---- two versions, none, and one that nothing tells ----

def report_of(facts, tmp_path):
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(known.tidy(facts)))
    return program.run("doctor", "--json", "--profile", PROFILES, "--from", path).json()


def about(report):
    return [f for f in report["findings"] if f["rule"] == RULE]


def test_a_good_version_beside_a_bad_one(tmp_path):
    facts = known.base()
    known.set_version(facts, "nccl", "2.20.4")
    known.set_version(facts, "nccl", "99.1")
    said, = about(report_of(facts, tmp_path))
    assert (said["verdict"], said["subject"]) == ("note", "NCCL 2.20.4 (nccl-uds-comm-split)")
    assert "/x/nccl-2.20.4 are affected; 99.1 is installed too" in said["observed"]


def test_nothing_is_installed(tmp_path):
    facts = known.base()
    assert [f["verdict"] for f in about(report_of(facts, tmp_path))] == ["pass"]


@pytest.mark.parametrize("hole", ["software", "driver", "os", "complete", "version"])
def test_what_is_not_known_does_not_pass(hole, tmp_path):
    facts = known.base()
    if hole == "complete":
        facts["software"]["complete"] = False
    elif hole == "version":
        known.add_item(facts, "container-toolkit", None)
    else:
        del facts[hole]
    assert [f["verdict"] for f in about(report_of(facts, tmp_path))] == ["unknown"]


# ---- no doubling ----

# Rules about the version of a component: with them a row would be a second answer to one question.
SAME = {"NVSHMEM": {"software/nvshmem-version"}, "NCCL": {"software/nccl-version"},
        "NVIDIA driver": {"driver/version-floor", "driver/too-old-for-cuda"}}


def doubled(report):
    problems = {f["rule"] for f in report["findings"] if f["verdict"] in ("fail", "pending")}
    for f in about(report):
        component = (f["subject"] or "").rpartition(" (")[0].rpartition(" ")[0]
        # Wrong results are said beside a version that is too old for something else.
        if any(row.severity == "data" and (f["subject"] or "").endswith("(%s)" % row.id) for row in ROWS):
            continue
        if f["verdict"] == "fail" and SAME.get(component, set()) & problems:
            yield "%s, and %s" % (f["subject"], SAME[component] & problems)
    subjects = [f["subject"] for f in about(report)]
    yield from (s for s in subjects if subjects.count(s) > 1)


@pytest.mark.parametrize("name", node.names())
def test_nodes_are_told_once(name, node_tree):
    assert not list(doubled(program.report(node_tree(name), "--profile", PROFILES)))


def test_cases_are_told_once(stages):
    """Over the trees of all cases that change software, driver or kernel."""
    stage, wrong = stages("known-bad"), []
    verbs = {"driver", "kernel", "library", "wheel", "package", "userspace", "gdrdrv", "os"}
    chosen = [case for case in cases.read_all() + cases.read_all(cases.INCIDENTS)
              if not case.user and verbs & {e.verb for e in case.edits}]
    for case in one_of(8, chosen):
        stage.put(node.tree_of(case.node, case.edits))
        report = program.report(stage.directory, "--profile", PROFILES)
        wrong += ["%s: %s" % (case.name, text) for text in doubled(report)]
    assert not wrong, "\n".join(wrong)


# ---- the table is refused where it is not right ----

GOOD = "x-y\tnccl\t1.0\t2.0\tkernel>=5\tbase\twarn\tstated\t-\tIt fails.\tUpgrade it.\tsource\tread"


def awk(text, tmp_path):
    table = tmp_path / "known-bad.tsv"
    table.write_text("# a comment\n" + text + "\n")
    return table, subprocess.run(program.writer_of("known-bad") + [table],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_good_row_is_taken(tmp_path):
    assert awk(GOOD, tmp_path)[1].returncode == 0


@pytest.mark.parametrize("old,new,why", [
    ("\tread", "", "not a row of 13 columns"),
    ("x-y", "X y", "is no id"),
    ("\tnccl", "\tncll", "no component is called"),
    ("1.0\t2.0", "2.0\t1.0", "is not below"),
    ("1.0\t2.0", "1.x\t2.0", "is no version"),
    ("1.0\t2.0", "-\t2.0", "does not go from"),
    ("kernel>=5", "kernal>=5", "no condition is called"),
    ("kernel>=5", "kernel", "has no operator"),
    ("kernel>=5", "kernel>=five", "is no version"),
    ("kernel>=5", "kernel=5;" * 6 + "kernel=5", "more than 6 conditions"),
    ("kernel>=5", "module>=a", "has no order"),
    ("kernel>=5", "env=NAME", "not of the form NAME:VALUE"),
    ("kernel>=5", "secure-boot=yse", "is never"),
    ("kernel>=5", "gpu-arch>=Hoper", "no architecture"),
    ("kernel>=5", "hca-count>=many", "is no number"),
    ("\tbase", "\tall", "no profile is called"),
    ("\twarn", "\tfatal", "no severity is called"),
    ("\tstated", "\tsure", "no range is called"),
    ("\tstated", "\tfeature", "says can or may"),
    ("\twarn\tstated", "\terr\tlast", "at most a warning"),
    ("\tstated\t-", "\tstated\tsoftware/x", "either a severity or a rule"),
    ("It fails.", "it fails", "are sentences"),
    ("Upgrade it.", "Upgrade \N{WHITE SMILING FACE}it.", "no printable ASCII"),
    ("\tsource", "\t", "no source"),
    ("\tread", "\tread\n" + GOOD, "there already"),
    ("\tread", "\tread\n" + "".join(GOOD.replace("x-y", i).replace("nccl", c) + n for i, c, n in
                                    (("a", "ucx", "\n"), ("b", "nccl", ""))), "do not stand together"),
])
def test_a_bad_row_is_refused(old, new, why, tmp_path):
    table, done = awk(GOOD.replace(old, new, 1), tmp_path)
    line = 2 + new.count("\n")
    assert done.returncode == 1 and why in done.stderr
    assert done.stderr.startswith("%s:%d: " % (table, line)), done.stderr
