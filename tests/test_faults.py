# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading that goes wrong at the n-th call, and memory that runs out at the n-th allocation (fault.c):
the program ends as it should, says so, and evaluates nothing by what it did not get.

A sample of all n; make check-faults takes every one."""
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess

import pytest

from lib import plans, program, tree, txn

HERE = os.path.dirname(os.path.abspath(__file__))
NODES = ("rtx4090-stock-smallbar", "hgx-h200-roce", "broken-everything")
SAMPLE = 24	# calls of each kind
EVERY = bool(os.environ.get("NVNODECHECK_FAULTS"))
THREADS = 2
DOCTOR = ["doctor", "--json", "--profile", "deepep,p2p"]
BAD = ("fail", "pending")


@pytest.fixture(scope="module")
def library(place):
    """Preloaded beside a sanitizer, whose allocator it would replace, it cannot be."""
    file = os.path.join(place, "fault.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-D_GNU_SOURCE", "-fno-builtin", "-shared",
                    "-fPIC", "-o", file, os.path.join(HERE, "programs", "fault.c"), "-ldl"], check=True)
    if program.is_sanitized():
        pytest.skip("the program has a sanitizer")
    return file


def run(library, args, root, how="none", at=0, **env):
    return program.run(*args, env=dict(env, LD_PRELOAD=library, FAULT_ROOT=root, FAULT_HOW=how,
                                       FAULT_AT=str(at)))


def calls(library, args, root, place, memory=False):
    """The numbers of the calls that are to go wrong."""
    file = os.path.join(place, "calls")
    run(library, args, root, FAULT_COUNT=file)
    with open(file, encoding="ascii") as counts:
        count = int(counts.read().split()[memory])
    assert count > SAMPLE
    return range(1, count + 1) if EVERY else [1 + i * count // SAMPLE for i in range(SAMPLE)]


def each(numbers, one):
    """The complaints of ONE about each number."""
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        said = list(pool.map(one, numbers))
    return ["call %d: %s" % (n, text) for n, texts in zip(numbers, said) for text in texts]


def verdicts(report):
    """rule: {subject: verdict}"""
    found = collections.defaultdict(dict)
    for finding in report["findings"]:
        found[finding["rule"]][finding.get("subject")] = finding["verdict"]
    return found


# What fails then is true, and was behind another finding that could not be made.
TRUE_ALONE = {"driver/next-load-skew"}


def compare(before, after):
    """What AFTER says that must not be said for want of something that BEFORE had."""
    wrong = []
    for rule, answers in after.items():
        was = [s for s, verdict in before[rule].items() if verdict in BAD]
        now = [s for s, verdict in answers.items() if verdict in BAD]
        if now and not was and rule not in TRUE_ALONE:
            wrong.append("%s fails (%s)" % (rule, now))
        if was and answers and set(answers.values()) == {"pass"}:
            wrong.append("%s passes" % rule)
    return wrong


@pytest.mark.parametrize("how", ["eio", "eacces", "short", "empty"])
@pytest.mark.parametrize("name", NODES)
def test_reading(name, how, library, node_tree, place):
    """An error leaves something unknown; less than the whole at a time is read to its end. What was
    cut off meanwhile is another file: there it is enough that the program goes on."""
    root = node_tree(name)
    args = DOCTOR + ["--root", root]
    before = verdicts(run(library, args, root).json())

    def one(n):
        result = run(library, args, root, how, n)
        if result.status not in (0, 1) or result.err:
            # What the configuration says is not guessed.
            return [] if result.status == 2 and "conf" in result.err else [str(result)]
        after = verdicts(result.json())
        return [] if how == "empty" else compare(before, after)
    wrong = each(calls(library, args, root, place), one)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("how", ["eio", "short"])
def test_reading_for_preflight(how, library, node_tree, place):
    root = node_tree("hgx-h200-roce")
    args = ["preflight", "--json", "--profile", "deepep", "--root", root]
    before = verdicts(run(library, args, root).json())
    wrong = each(calls(library, args, root, place),
                 lambda n: compare(before, verdicts(run(library, args, root, how, n).json())))
    assert not wrong, "\n".join(wrong)


def test_reading_a_capture(library, node_tree, place):
    """The one file that --from names: a document, or exit 4 and why."""
    root = node_tree("hgx-h200-roce")
    file = os.path.join(place, "capture")
    assert run(library, ["capture", "--root", root, "-o", file], root).status == 0
    args = DOCTOR + ["--from", file]
    before = run(library, args, file).json()["findings"]
    for how in ("eio", "eacces", "short"):
        for n in range(1, 16):
            result = run(library, args, file, how, n)
            if result.status == 4:
                assert how != "short" and file in result.err
            else:
                assert result.status in (0, 1) and result.json()["findings"] == before


@pytest.mark.parametrize("how", ["memory", "memory-on"])
@pytest.mark.parametrize("args", [
    DOCTOR, ["doctor"], ["doctor", "--format", "prometheus"], ["facts"], ["capture", "-o", "-"],
    ["fix", "--all"], ["fix", "--json"], ["topo"], ["topo", "--format", "svg"], ["expect"], ["preflight"],
], ids=" ".join)
def test_memory(args, how, library, node_tree, place):
    """All of the answer, or exit 4 and a word about it. What a probe needed costs its section: then
    the answer says so, and is not the same."""
    root = node_tree("rtx4090-stock-smallbar")
    args = args + ["--root", root]

    def one(n):
        result = run(library, args, root, how, n)
        if result.status == 4 and "memory" in result.err:
            return []
        # A library that the loader has no memory for is one that is not there, and fix says so.
        if result.status == 4 and "libgcrypt" in result.out:
            return []
        # libgcrypt wants to know whether FIPS is on, and aborts by itself where that cannot be read.
        if result.status == -6 and "libgcrypt" in result.err and args[0] == "fix":
            return []
        # What preflight and topo lack, they say.
        if result.status == 3 and ("out of memory" in result.out or "could not be read" in result.err):
            return []
        if result.status not in (0, 1) or result.err:
            return [str(result)]
        if "json" in "".join(args) or args[0] == "facts":
            result.json()
        return []
    wrong = each(calls(library, args, root, place, memory=True), one)
    assert not wrong, "\n".join(wrong)


def test_capture_without_memory_tells_no_name(library, node_tree, place):
    """What could not be redacted is not written; what is written is whole."""
    root = node_tree("hgx-h200-roce")
    args = ["capture", "--root", root, "-o", "-"]
    with open(os.path.join(root, "etc/hostname"), encoding="utf-8") as file:
        name = file.read().strip()
    assert name not in run(library, args, root).out
    assert name in run(library, args + ["--no-redact"], root).out

    def one(n):
        result = run(library, args, root, "memory", n)
        if name in result.out:
            return ["the host's name is in it"]
        for line in result.out.splitlines():
            json.loads(line)
        return [] if result.status == 0 or result.status == 4 and result.err else [str(result)]
    wrong = each(calls(library, args, root, place, memory=True), one)
    assert not wrong, "\n".join(wrong)


# ---- a transaction ----

@pytest.mark.skipif(os.geteuid() != 0, reason="owners need root")
def test_memory_in_a_transaction(library, place):
    """Status 4 says that nothing was changed; where something was, 5 and that the next run takes it back."""
    kept, directory = os.path.join(place, "memory"), os.path.join(place, "memory.tried")
    plans.put(tree.Stage(kept), "h20-roce-deepep")
    args = ["fix", "--profile", "deepep", "--apply", "--yes", "--json", "--root", directory]
    before = txn.content(txn.look(kept))
    txn.copy(kept, directory)
    ended = collections.Counter()
    # The first ones are the program's own, before it reads the node.
    for number in [*range(4, 32, 3), *calls(library, args, directory, place, memory=True)[::1 if EVERY else 2]]:
        txn.copy(kept, directory)
        ran = run(library, args, directory, "memory", number)
        changed = bool(txn.difference(txn.content(txn.look(directory)), before))
        ended[ran.status, changed] += 1
        # Of what was not read nothing is planned; libgcrypt gives up by itself while it is opened.
        assert ran.status in (0, 5) or (ran.status in (4, -6) and not changed), str(ran)
        if changed and ran.status == 5:
            assert "the next 'fix --apply' or 'undo' undoes" in ran.err, str(ran)
        program.run("undo", "--root", directory, "--yes")
        assert not txn.difference(txn.content(txn.look(directory)), before), (number, str(ran))
    assert ended[4, False]
    for path in (kept, directory):
        shutil.rmtree(path)
