# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/golden: documents as lines that a person can read and compare.

NODE.report.txt has a line for each answer, NODE.facts.txt one for each thing that was read. The nodes of
WHOLE have both documents as JSON too, so that no key of either is left out.
"""
import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
WHOLE = ("grace-gh200-cx8", "rtx4090-stock-smallbar")
IDENTITIES = ("address", "bdf", "name", "path", "key")
DERIVED = ("name", "gpu", "activation")	# from the subject and the rule
USUAL = (("action", "none"), ("action", "configure"), ("repaired_by", "admin"), ("repaired_by", "program"))
SHORT = 60	# a list of no more characters stands in its thing's line


def _flat(value):
    return json.dumps(value, ensure_ascii=False)


# ---- reports ----

def _evidence(answer):
    """fact = value; of an answer that is no pass also the file and line that say so."""
    for item in answer["evidence"]:
        text = item["fact"]
        if "value" in item:
            text += " = " + _flat(item["value"])
        if answer["verdict"] not in ("pass", "not-applicable") and item.get("path"):
            text += " (%s)" % ":".join(str(item[k]) for k in ("path", "line") if k in item)
        yield text


def _answer(answer):
    """VERDICT SEVERITY RULE SUBJECT | what was found | expected ... | evidence"""
    rest = dict(answer)
    verdict, severity = rest.pop("verdict"), rest.pop("severity")
    if verdict not in ("pass", "not-applicable"):
        verdict += " " + severity
    head = "%-14s %s %s" % (verdict, rest.pop("rule"), rest.pop("subject") or "-")
    parts = [rest.pop("observed") or ""]
    evidence = _evidence(answer)
    del rest["evidence"]
    for key, same in (("unknown_why", parts[0]), ("unknown_check", answer.get("remedy"))):
        if rest.get(key) == same:
            rest.pop(key, None)
    for key in DERIVED:
        rest.pop(key, None)
    parts += ["%s: %s" % (key.replace("_", " "), value if isinstance(value, str) else _flat(value))
              for key, value in rest.items() if value is not None and (key, value) not in USUAL]
    return " | ".join([head] + [part for part in parts + [", ".join(evidence)] if part])


def _step(step):
    """step KIND WHO: the rules, each with the number of its subjects if there are several"""
    rules = ["%s (%d)" % (p["rule"], len(p["subjects"])) if len(p["subjects"]) > 1 else p["rule"]
             for p in step["problems"]]
    return "step %s %s: %s" % (step["kind"], step["who"], ", ".join(rules) or step["restart"] or "-")


def report_lines(report):
    """The head, a line for each key; a line for each step; a line for each probe that is not well; a line for each
    answer."""
    for key, value in report.items():
        if key not in ("findings", "probes", "steps"):
            yield "%s: %s" % (key, _flat(value))
    for step in report.get("steps", ()):
        yield _step(step)
    for probe in report["probes"]:
        if probe["state"] != "ok":
            yield "probe %s: %s" % (probe["name"], probe["state"])
    for answer in report["findings"]:
        yield _answer(answer)


# ---- facts ----

def _name(item, number):
    return next((item[key] for key in IDENTITIES if item.get(key) is not None), number)


def _is_in_line(value):
    return not isinstance(value, (dict, list)) or not value or len(_flat(value)) <= SHORT


def fact_lines(value, path=""):
    """A line for each struct and each item of a list: its path, and its keys with their values."""
    if not isinstance(value, dict):
        yield "%s %s" % (path, _flat(value))
        return
    here = [key for key in value if _is_in_line(value[key])]
    if here:
        yield " ".join([path or "."] + ["%s=%s" % (key, _flat(value[key])) for key in here])
    for key in value:
        below = path + "." + key if path else key
        if key in here:
            continue
        if isinstance(value[key], dict):
            yield from fact_lines(value[key], below)
            continue
        for number, item in enumerate(value[key]):
            name = _name(item, number) if isinstance(item, dict) else number
            yield from fact_lines(item, "%s[%s]" % (below, name))
