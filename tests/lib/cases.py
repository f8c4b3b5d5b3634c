# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases: small edits over a node and what is expected then (tests/cases, tests/incidents)."""
import collections
import concurrent.futures
import copy
import fnmatch
import functools
import json
import os
import re
import traceback

from . import node, nvml, program, textform
from .advice import contradictions

CASES = os.path.join(os.path.dirname(node.NODES), "cases")
INCIDENTS = os.path.join(os.path.dirname(node.NODES), "incidents")
THREADS = 2
VERDICTS = ("pass", "fail", "pending", "unknown", "note", "not-applicable")
SEVERITIES = ("info", "warn", "err", "crit")
STATUSES = (0, 1, 3)


class Case:
    def __init__(self, statement):
        self.file, self.line, self.title = statement.file, statement.line, statement.one()
        file = os.path.basename(statement.file).rpartition(".")[0]
        folder = os.path.basename(os.path.dirname(statement.file))
        self.name = "%s%s:%s" % ("incidents/" if folder == "incidents" else "", file, self.title)
        self.node = None
        self.live = []		# (path, value): what a running host alone tells
        self.nvml = None	# members that the driver's healthy answers lack; None: it was not asked
        self.incidents = []	# INC-001: what happened to somebody, as it is told in public
        self.options = []
        self.edits = []
        self.expects = []	# (statement, function of a Run that returns what is wrong or None)
        self.status = None
        self.user = False

    def add(self, statement):
        verb = statement.verb
        if verb == "node":
            (self.node,), _ = statement.take(least=1)
        elif verb == "profile":
            self.options += ["--profile", statement.words[0]]
        elif verb == "options":
            self.options += statement.words
        elif verb == "live":
            self.live.append(live(statement))
        elif verb == "nvml":
            self.nvml = statement.words[1:]
            if statement.words and statement.words[0] != "without":
                raise statement.wrong("not of the form nvml [without MEMBER...]")
        elif verb == "incident":
            self.incidents += statement.words
        elif verb == "user":
            self.user = True
        elif verb == "exit":
            self.status = int(statement.words[0])
        elif verb in EXPECTS:
            self.expects.append((statement, EXPECTS[verb](statement)))
        else:
            self.user |= verb == "unreadable"
            self.edits.append(statement)


class Run:
    """One run of doctor over a case's tree."""

    def __init__(self, case, directory):
        self.directory = directory
        self.case = case
        self.source = ["--root", directory]
        if case.live or case.nvml is not None:
            self.source = ["--from", self.write_facts()]
        self.result = program.run("doctor", "--json", *self.source, *case.options, user=case.user)
        self.report = self.result.json() if self.result.status in STATUSES else None

    def findings(self, rule):
        return [f for f in self.report["findings"] if f["rule"] == rule]

    def fact(self, path):
        return program.run("facts", path, *self.source, user=self.case.user)

    def write_facts(self):
        """The tree's facts with what the case adds to them, beside the tree."""
        document = program.facts(self.directory, user=self.case.user)
        if self.case.nvml is not None:
            document["nvml"] = nvml.without(nvml.healthy(document), self.case.nvml)
        for path, value in self.case.live:
            put(document, path, value)
        name = self.directory.rstrip("/") + ".facts.json"
        with open(name, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return name


UNKNOWN = object()


def live(statement):
    """live PATH = JSON: a fact that no file holds, such as what the driver or netlink answer; unknown: it is not known"""
    path, equal, value = statement.one().partition(" = ")
    steps = re.findall(r"([a-z0-9_]+)|\[([^]]+)\]", path)
    if not equal or not steps:
        raise statement.wrong("not of the form PATH = JSON")
    return [name or (key,) for name, key in steps], UNKNOWN if value == "unknown" else json.loads(value)


def put(document, steps, value):
    """STEPS: names of members; a tuple of one word is the item of a list whose first member is it, or all with *."""
    for n, step in enumerate(steps[:-1]):
        if step == ("*",):
            for item in document:
                put(item, steps[n + 1:], value)
            return
        if isinstance(step, tuple):
            document = next(i for i in document if step[0] == str(next(iter(i.values()))))
        else:
            document = document[step]
    if isinstance(document, dict) and value is UNKNOWN:
        document.pop(steps[-1], None)
    elif isinstance(document, dict):
        document[steps[-1]] = value
    else:
        raise LookupError("the last word of a live fact's path is the name of a member")


def describe(findings):
    return "\n".join("    %s %s %s: %s" % (f["verdict"], f["severity"], f["subject"] or "",
                                           f["observed"]) for f in findings) or "    nothing"


def expect(statement):
    """expect RULE = VERDICT [SEVERITY] [SUBJECT]. A fail, pending or note is expected of at least one
    answer; a pass, unknown or not-applicable of all."""
    words = statement.words
    if len(words) < 3 or words[1] != "=" or words[2] not in VERDICTS:
        raise statement.wrong("not of the form RULE = VERDICT [SEVERITY] [SUBJECT]")
    rule, verdict, rest = words[0], words[2], words[3:]
    severity = rest.pop(0) if rest and rest[0] in SEVERITIES else None
    subject = rest.pop(0) if rest else None
    if rest:
        raise statement.wrong("'%s' is too much" % rest[0])

    def check(run):
        answers = run.findings(rule)
        if not answers:
            return "the rule gave no answer"
        if subject is not None:
            answers = [f for f in answers if f["subject"] == subject]
        fit = [f for f in answers if f["verdict"] == verdict and
               (severity is None or f["severity"] == severity)]
        every = verdict in ("pass", "unknown", "not-applicable")
        if fit and (not every or len(fit) == len(answers)):
            return None
        return "there is instead\n" + describe(run.findings(rule))
    return check


def says(statement, wanted=True):
    """says RULE = TEXT: an answer of it that is no pass has TEXT in what it saw, in what to do or in what is lost.
    says-not: none has."""
    rule, equal, text = statement.one().partition(" = ")
    if not equal or not text:
        raise statement.wrong("not of the form RULE = TEXT")

    def check(run):
        answers = [f for f in run.findings(rule) if f["verdict"] != "pass"]
        if any(text in (f[key] or "") for f in answers for key in ("observed", "remedy", "impact")) == wanted:
            return None
        return "there is instead\n" + describe(answers)
    return check


def absent(statement):
    """absent RULE: it says nothing bad, if it says anything"""
    rule = statement.words[0]

    def check(run):
        bad = [f for f in run.findings(rule) if f["verdict"] in ("fail", "pending")]
        return "there is\n" + describe(bad) if bad else None
    return check


def fact(statement):
    """fact PATH = VALUE, where VALUE is as facts prints it, null or unknown"""
    path, equal, value = statement.one().partition(" = ")
    if not equal:
        raise statement.wrong("not of the form PATH = VALUE")

    def check(run):
        result = run.fact(path.strip())
        said = "unknown" if result.status == 3 else result.out.strip()
        return None if said == value.strip() else "it is %s\n%s" % (said, result.err)
    return check


def gaps(statement):
    """gaps PROBE = COUNT: how many reasons that probe gives for what it could not read"""
    probe, equal, count = statement.one().partition(" = ")
    if not equal or not count.strip().isdigit():
        raise statement.wrong("not of the form PROBE = COUNT")

    def check(run):
        here = [g for g in run.fact("gaps").json() if g["probe"] == probe]
        return None if len(here) == int(count) else "there are %s" % [(g["path"], g["why"]) for g in here]
    return check


def follows(statement):
    """follows RULE = CAUSE: all its problems are caused by a finding of the rule CAUSE."""
    rule, equal, cause = statement.one().partition(" = ")
    if not equal or not cause:
        raise statement.wrong("not of the form RULE = CAUSE")

    def check(run):
        answers = [f for f in run.findings(rule) if f["verdict"] in ("fail", "pending")]
        if answers and all((f["follows_from"] or {}).get("rule") == cause for f in answers):
            return None
        return "there is instead\n" + describe(answers)
    return check


def profiles(statement):
    """profiles base, rdma [= TEXT]: these were chosen, and TEXT is in the reason"""
    wanted, _, text = statement.one().partition(" = ")

    def check(run):
        chosen, reason = ", ".join(run.report["profiles"]), run.report["profiles_reason"]
        return None if chosen == wanted.strip() and text in reason else "there is %s: %s" % (chosen, reason)
    return check


EXPECTS = {"expect": expect, "absent": absent, "says": says, "follows": follows,
           "says-not": lambda statement: says(statement, False), "fact": fact, "gaps": gaps,
           "profiles": profiles}


def read(path):
    cases = []
    for statement in textform.parse(path):
        if statement.verb == "case":
            cases.append(Case(statement))
        elif not cases:
            raise statement.wrong("before the first case")
        else:
            cases[-1].add(statement)
    for case in cases:
        if not case.node:
            raise textform.FormError("%s:%d: the case has no node" % (case.file, case.line))
        if not case.expects and case.status is None:
            raise textform.FormError("%s:%d: the case expects nothing" % (case.file, case.line))
    return cases


def read_all(folder=CASES):
    return [case for name in sorted(os.listdir(folder)) if name.endswith(".cases")
            for case in read(os.path.join(folder, name))]


def find(file, title):
    """FILE is the part of a case's name before the colon."""
    for case in read(os.path.join(os.path.dirname(INCIDENTS) if "/" in file else CASES,
                                  file + ".cases")):
        if case.title == title:
            return case
    raise textform.FormError("%s.cases has no case '%s'" % (file, title))


def said_twice(report):
    """Rules that answer more than once for a subject: a reader would not know which to believe."""
    answers = collections.Counter((f["rule"], f["subject"]) for f in report["findings"])
    return sorted("%s answers twice for %s" % answer for answer, count in answers.items() if count > 1)


REBOOT = re.compile(r"\b(?:then|and) reboot\b|(?:^|[.;] )Reboot\b")


def loose_reboots(report):
    """A step that asks for a reboot of its own: the plan has one step for that."""
    return ["%s asks for a reboot in its own words: %s" % (problem["rule"], text)
            for step in report["steps"] or () if step["restart"] is None
            for problem in step["problems"] for text in problem["instructions"] if REBOOT.search(text)]


def placeholders(report):
    """What is to be done has the address of the device, not the word that a rule's table has in its place."""
    texts = [f.get(key) or "" for f in report["findings"] for key in ("command", "remedy")]
    for step in report["steps"]:
        texts += [one["command"] or "" for one in [step, *step["problems"]]]
        texts += [text for one in step["problems"] for text in one["instructions"]]
    return sorted({"a placeholder: " + text for text in texts if re.search(r"\bBDF\b", text)})


SEVERE = ("err", "crit")


@functools.lru_cache(maxsize=None)
def omissions():
    """Patterns of the rules that preflight --help says it does not check, or not all of."""
    text = program.run("preflight", "--help").out.partition("Not checked, because")[2]
    patterns = re.findall(r"[a-z]+/[a-z0-9*-]+", text)
    assert patterns
    return patterns


# Rules of which preflight reads less, beside those that its help names, and why.
PREFLIGHT_LESS = {
    "driver/gpu-firmware-off": "of the next load, which modprobe.d would tell",
    "driver/nvlink-disabled-regkey": "of the next load, which modprobe.d would tell",
    "driver/proprietary-on-blackwell": "of a driver that is not loaded, the modules on disk would tell",
}


# Rules that do not concern a GPU which modprobe.d gives to a virtual machine. preflight does not read modprobe.d, and a
# host of virtual machines has no job whose prolog would run it.
OF_OWN_GPUS = {"driver/loaded", "modules/nouveau-loaded", "modules/wrong-driver-bound", "pci/acs-redirect"}


def bad(finding):
    return finding["verdict"] in ("fail", "pending") and finding["severity"] in SEVERE and \
        not finding.get("off")


def users_write(run):
    """The kernel's lines are from a file that any user writes to. preflight does not read it (SECURITY.md)."""
    facts = program.run("facts", *run.source, "log", user=run.case.user).json()
    return str(facts.get("source")).endswith(("/messages", "/syslog"))


def said_otherwise(run):
    """What preflight says that doctor, which reads more, does not: it would drain a node that is well. And the
    other way round: an error that it does not see. Pending is an error of the next boot or load."""
    options = [option for option in run.case.options if option != "--strict"]
    result = program.run("preflight", "--json", *run.source, *options, user=run.case.user)
    if result.status == 2:
        return []
    here = {f["rule"] for f in result.json()["findings"] if bad(f)}
    both = here | {f["rule"] for f in result.json()["findings"] if f["verdict"] == "unknown"}
    there = [f for f in run.report["findings"] if bad(f)]
    unknown = {f["rule"] for f in run.report["findings"] if f["verdict"] == "unknown"}
    if any(f["rule"] == "pci/driver-not-as-configured" and f["verdict"] == "fail" for f in run.report["findings"]):
        here -= OF_OWN_GPUS
    missed = {f["rule"] for f in there if f["verdict"] == "fail"} - both - set(PREFLIGHT_LESS)
    if any(rule.startswith("log/") for rule in missed) and users_write(run):
        missed = {rule for rule in missed if not rule.startswith("log/")}
    return ["preflight alone says " + rule for rule in sorted(here - {f["rule"] for f in there} - unknown)] + [
        "preflight does not say " + rule for rule in sorted(missed)
        if not any(fnmatch.fnmatch(rule, pattern) for pattern in omissions())]


def reasons(report):
    """{(rule, subject): why} of what is unknown."""
    return {(f["rule"], f["subject"]): (f["unknown_why"], f["observed"], f.get("unknown_path"))
            for f in report["findings"] if f["verdict"] == "unknown"}


def unknown_anyway(case, run, stage):
    """Rules that are expected to be unknown because the case hides a file or a fact, and are so for the same reason
    without that: such a case would not see that the rule no longer asks for it."""
    hides = any(edit.verb == "unreadable" for edit in case.edits) or any(v is UNKNOWN for _, v in case.live)
    rules = {s.words[0] for s, _ in case.expects if s.verb == "expect" and s.words[2] == "unknown"}
    if not hides or not rules:
        return []
    whole = copy.copy(case)
    whole.edits = [edit for edit in case.edits if edit.verb != "unreadable"]
    whole.live = [(path, value) for path, value in case.live if value is not UNKNOWN]
    whole.user = False
    stage.put(node.tree_of(whole.node, whole.edits))
    there = reasons(Run(whole, stage.directory).report)
    here = reasons(run.report).items()
    return ["%s is unknown for the same reason whatever is hidden" % rule for rule in sorted(rules)
            if all(there.get(key) == why for key, why in here if key[0] == rule)]


def perform(case, stage):
    """Runs a case in a stage; returns what is wrong, as one text, or None."""
    tree = node.tree_of(case.node, case.edits)
    stage.put(tree)
    run = Run(case, stage.directory)
    wrong = []
    if run.report is None or run.result.err:
        wrong.append("no report, or a message: %s" % run.result)
    elif case.status is not None and run.result.status != case.status:
        wrong.append("exit status %d, expected %d" % (run.result.status, case.status))
    if run.report:
        wrong += said_twice(run.report) + placeholders(run.report) + contradictions(run.report) + \
            loose_reboots(run.report) + said_otherwise(run)
    for statement, check in case.expects if run.report else ():
        said = check(run)
        if said:
            wrong.append("%s:%d: %s: %s" % (statement.file, statement.line, statement.text, said))
    if not wrong:
        wrong += unknown_anyway(case, run, stage)
    if not wrong:
        return None
    return "%s:%d: case %s (over %s)\n%s\ntests/mktree '%s' DIR writes its tree" % (
        case.file, case.line, case.title, case.node, "\n".join(wrong), case.name)


def perform_all(cases, stages):
    """Runs them in two threads; returns what is wrong by the case's name. Those over one node follow
    each other, so that little of the tree has to be written anew."""
    cases = sorted(cases, key=lambda case: case.node)
    size = (len(cases) + THREADS - 1) // THREADS or 1
    parts = [cases[i:i + size] for i in range(0, len(cases), size)]
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        done = pool.map(lambda part: _perform_part(part[1], stages("cases-%d" % part[0])),
                        enumerate(parts))
        return {name: said for part in done for name, said in part.items()}


def _perform_part(cases, stage):
    said = {}
    for case in cases:
        try:
            said[case.name] = perform(case, stage)
        except Exception:
            said[case.name] = traceback.format_exc()
    stage.clear()
    return said
