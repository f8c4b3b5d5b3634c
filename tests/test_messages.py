# SPDX-License-Identifier: GPL-2.0-or-later
"""data/messages.tsv: each row is complete, names rules that exist, and can be told from the others."""
import collections
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess

from lib import program

TABLE = os.path.join(program.TOP, "data", "messages.tsv")
RENEW = os.path.join(program.TOP, "data", "renew-messages")
COLUMNS = "id component kind pattern since until meaning rules elsewhere facts source".split()
FAILURES = {"failure", "symptom", "cause", "loss", "unwarned"}
KINDS = FAILURES | {"consequence", "fallback", "choice", "harmless"}
FACTS = {"nccl.version", "nvshmem.version", "deepep.version", "ucx.version", "cuda.version", "driver.version", "hca",
         "gid-index", "gdr", "transport", "xid"}
VARIABLE = re.compile(r"\{([a-z][a-z0-9_-]*)\}")


def load_renew():
    loader = importlib.machinery.SourceFileLoader("renew_messages", RENEW)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("renew_messages", loader))
    loader.exec_module(module)
    return module


def read_lines():
    with open(TABLE, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


ROWS = [dict(zip(COLUMNS, line.split("\t"))) for line in read_lines()]


def fixed_parts(pattern):
    return [part.replace("\0", "{") for part in re.split(VARIABLE.pattern, pattern.replace("{{", "\0"))[::2]]


def test_each_line_has_all_columns():
    assert [line for line in read_lines() if len(line.split("\t")) != len(COLUMNS)] == []
    assert [row["id"] for row in ROWS if any(value == "" or value != value.strip() for value in row.values())] == []


def test_ids_and_patterns_are_unique():
    for column in ("id", "pattern"):
        count = collections.Counter(row[column] for row in ROWS)
        assert [value for value, times in count.items() if times > 1] == []
    assert [row["id"] for row in ROWS if not re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)*", row["id"])] == []


def test_kinds_are_known():
    assert {row["kind"] for row in ROWS} == KINDS


def test_a_pattern_has_eight_fixed_characters():
    assert [row["id"] for row in ROWS if max(map(len, fixed_parts(row["pattern"]))) < 8] == []


def test_braces_of_a_pattern_are_variables_or_doubled():
    for row in ROWS:
        rest = VARIABLE.sub("", row["pattern"].replace("{{", ""))
        assert "{" not in rest, row["id"]


def read_causes():
    """data/causes.txt: {name: [rule, ...]}"""
    causes = {}
    with open(os.path.join(program.TOP, "data", "causes.txt"), encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, rules, elsewhere = line.rstrip("\n").split("\t")
                assert elsewhere.endswith("."), name
                assert name not in causes and re.fullmatch("[a-z0-9]+", name), name
                names = rules.split(",")
                assert len(names) == len(set(names)), name
                causes[name] = [r for n in names for r in (causes[n[1:]] if n.startswith("@") else [n])]
    return causes


def test_rules_exist():
    causes = read_causes()
    rules = json.loads(subprocess.run([program.binary(), "rules", "--json"], capture_output=True, check=True).stdout)["rules"]
    known = {rule["id"] for rule in rules}
    known |= {rule.split("/")[0] + "/*" for rule in known} | {"-"} | {"@" + name for name in causes}
    assert [(name, rule) for name, list_ in causes.items() for rule in list_ if rule not in known] == []
    assert [(row["id"], rule) for row in ROWS for rule in row["rules"].split(",") if rule not in known] == []
    for row in ROWS:
        names = row["rules"].split(",")
        assert len(names) == len(set(names)), row["id"]


def test_a_row_without_rules_says_where_to_look():
    assert [row["id"] for row in ROWS
            if row["kind"] in FAILURES and row["rules"] == "-" and row["elsewhere"] == "-"] == []


def test_facts_use_variables_of_the_pattern():
    for row in ROWS:
        for fact in row["facts"].split(";") if row["facts"] != "-" else []:
            name, equals, value = fact.partition("=")
            assert equals and value, row["id"]
            assert name in FACTS or re.fullmatch(r"env:[A-Z][A-Z0-9_]*(\{[a-z]+\})?", name), (row["id"], name)
            assert set(VARIABLE.findall(fact)) <= set(VARIABLE.findall(row["pattern"])), row["id"]


def test_a_source_names_its_version():
    for row in ROWS:
        assert re.search(r": .+, .*\d", row["source"]), row["id"]


def test_texts_are_sentences():
    for row in ROWS:
        for column in ("meaning", "elsewhere"):
            assert row[column] == "-" or row[column].endswith("."), (row["id"], column)
        assert row["meaning"] != "-", row["id"]


def test_versions_are_in_order():
    def number(version):
        return [int(part) for part in version.split(".")]
    for row in ROWS:
        for column in ("since", "until"):
            assert row[column] == "-" or re.fullmatch(r"\d+(\.\d+)+", row[column]), row["id"]
        if "-" not in (row["since"], row["until"]):
            assert number(row["since"]) < number(row["until"]), row["id"]


def test_renew_reports_what_the_source_lost_and_gained(tmp_path):
    """A repository of three releases: a message stays, one goes, one moves, one comes."""
    renew = load_renew()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    source = tmp_path / "src" / "net.cc"
    source.parent.mkdir()

    def release(tag, text, path=source):
        path.write_text(text)
        subprocess.run(git + ["add", "-A"], check=True)
        subprocess.run(git + ["commit", "-q", "-m", tag], check=True)
        subprocess.run(git + ["tag", tag], check=True)

    subprocess.run(git + ["init", "-q"], check=True)
    release("v1.0.0", 'WARN("stays for %s in "\n     "all releases", x); WARN("goes away soon %d", y);\n'
            'WARN("moves to another file");')
    release("v1.1.0", 'WARN("stays for %s in all releases", x); WARN("comes with \\"quotes\\" late");')
    release("v1.2.0", 'WARN("moves to another file");', source.with_name("other.cc"))

    def row(name, pattern, until="-"):
        return {"id": name, "pattern": pattern, "until": until, "since": "-", "source": "a/b: src/net.cc (f), v1.0.0"}
    rows = [row("stays", "stays for {who} in all releases"), row("gone", "goes away soon {n}"),
            row("moved", "moves to another file"), row("back", "stays for {who} in all", "1.1.0")]
    assert sorted(renew.check_rows(rows, str(tmp_path), "HEAD")) == [
        ("back", "back", "src/net.cc"), ("gone", "gone", "src/net.cc"), ("moved", "moved", "src/other.cc")]
    assert list(renew.find_new(rows, str(tmp_path), "HEAD", "WARN")) == [
        ("new", "src/net.cc", 'comes with "quotes" late')]
    found = renew.find_versions(str(tmp_path), [r["pattern"] for r in rows] + ['comes with "quotes"'])
    assert found["stays for {who} in all releases"] == ("-", "-")
    assert found["goes away soon {n}"] == ("-", "1.1.0")
    assert found['comes with "quotes"'] == ("1.1.0", "-")
