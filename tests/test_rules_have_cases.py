# SPDX-License-Identifier: GPL-2.0-or-later
"""Every rule is seen to fail, to pass and to be unknown by some case, and explains itself in full. What
is missing is listed whole, so that it can be worked off."""
import pytest

from lib import cases, program

SEEN = {"fail": ("fail", "pending", "note"), "pass": ("pass",), "unknown": ("unknown",)}
# Rules that can never give an answer, and why.
NEVER = {
    ("driver/proprietary-no-dmabuf", "pass"): "peer memory beside it leaves cuMemCreate memory out: information",
    ("node/probe-timed-out", "unknown"): "the program knows of its own probes",
    ("pci/acs-srcvalid-only", "fail"): "SrcValid+ alone is well: it passes, and says so",
    ("pci/acs-unreadable", "fail"): "that ACS cannot be read is an unknown, not a fault",
    ("rdma/pci-atomic-mode", "fail"): "mlxconfig alone shows it, and no other program is started",
    ("rdma/pci-atomic-mode", "pass"): "mlxconfig alone shows it, and no other program is started",
}
# What explain prints of each rule; Repair is there where a kind of repair is.
PARTS = ("What is read", "Why it matters", "What it does to a job", "How to check by hand",
         "What to do", "Sources")
TEXTS = ("title", "reads", "why", "impact", "remedy", "check", "sources")


@pytest.fixture(scope="module")
def rules():
    result = program.run("rules", "--json")
    assert result.status == 0, str(result)
    return {rule["id"]: rule for rule in result.json()["rules"]}


def expected():
    """{(rule, verdict)} of all expect statements."""
    found = set()
    for case in cases.read_all() + cases.read_all(cases.INCIDENTS):
        for statement, _ in case.expects:
            if statement.verb == "expect":
                found.add((statement.words[0], statement.words[2]))
    return found


def test_each_rule_has_cases(rules):
    found = expected()
    missing = []
    for rule in sorted(rules):
        lacks = [kind for kind, verdicts in SEEN.items()
                 if not any((rule, v) in found for v in verdicts) and (rule, kind) not in NEVER]
        if lacks:
            missing.append("%s: %s" % (rule, ", ".join(lacks)))
    if missing:
        pytest.fail("%d rules lack cases in which they\n%s" % (
            len(missing), "\n".join(missing)), pytrace=False)


def test_never_is_not_a_way_out(rules):
    """What stands in NEVER is a rule's, and no case shows the contrary."""
    found = expected()
    for rule, kind in NEVER:
        assert rule in rules, rule
        assert not any((rule, v) in found for v in SEEN[kind]), (rule, kind)


def test_cases_name_rules(rules):
    """A case about a rule that does not exist tests nothing."""
    unknown = set()
    for case in cases.read_all() + cases.read_all(cases.INCIDENTS):
        for statement, _ in case.expects:
            if statement.verb in ("expect", "absent") and statement.words[0] not in rules:
                unknown.add("%s:%d: %s" % (statement.file, statement.line, statement.words[0]))
    if unknown:
        pytest.fail("no such rules:\n" + "\n".join(sorted(unknown)), pytrace=False)


def test_explain_is_whole(rules):
    lacking = []
    for ident, rule in sorted(rules.items()):
        result = program.run("explain", ident)
        lines = result.out.splitlines()
        parts = PARTS + (("Repair",) if rule["fix"] else ())
        lacks = [part for part in parts if part not in lines]
        lacks += [text for text in TEXTS if not (rule[text] or "").strip()]
        if result.status or lines[:1] != [ident] or lacks:
            lacking.append("%s: %s" % (ident, ", ".join(lacks)))
    if lacking:
        pytest.fail("%d rules do not explain themselves; they lack\n%s" % (
            len(lacking), "\n".join(lacking)), pytrace=False)


def test_titles_differ(rules):
    """Two rules with one title cannot be told apart in a report."""
    seen = {}
    for ident, rule in rules.items():
        assert seen.setdefault(rule["title"], ident) == ident, rule["title"]
