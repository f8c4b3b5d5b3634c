# SPDX-License-Identifier: GPL-2.0-or-later
"""data/topics.tsv: what an error line is about that has no message, by the names in it."""
import functools
import itertools
import json
import os
import re
import subprocess

import pytest

from lib import program
from lib.program import run

TABLE = os.path.join(program.TOP, "data", "topics.tsv")
MESSAGES = os.path.join(program.TOP, "data", "messages.tsv")
LOGS = os.path.join(program.TOP, "tests", "logs")
COLUMNS = "id component when words reasons meaning rules elsewhere source".split()
NODE, BROKEN = "hgx-h100-ib", "broken-everything"
# Rows of messages.tsv: failures, and what follows from one.
FAILURE = "NCCL WARN NET/IB : Got completion from peer 192.0.2.12<4915> with status=12 opcode=0 len=0 vendor err 129 (Send)"
OTHER_FAILURE = "NVRM: osInitNvMapping: *** Cannot attach gpu"
CONSEQUENCE = "unhandled system error (run with NCCL_DEBUG=INFO for details)"
# Lines of topics, by when they count; no program prints them so.
ALWAYS = "error: frobnicate: ibv_reg_mr: Cannot allocate of memory, errno 12"
ALONE = "error: the frobnicator of mlx5_0 broke"
BEFORE = "gpu01:1:2 [0] NCCL WARN Frobnication is over"


def rows():
    with open(TABLE, encoding="ascii") as file:
        cells = [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]
    return [dict(zip(COLUMNS, c)) for c in cells]


def first_word(words):
    return words.split("|")[0].rstrip("*")


@pytest.fixture(scope="module")
def why(node_facts, tmp_path_factory):
    """why(LOG, NODE): the document about a log."""
    folder = tmp_path_factory.mktemp("facts")

    @functools.lru_cache(maxsize=None)
    def facts(name):
        path = folder / (name + ".json")
        path.write_text(node_facts(name))
        return str(path)

    def ask(log, node=NODE):
        result = run("why", "-", "--json", "--from", facts(node), input=log.encode())
        assert result.status in (0, 1, 3), str(result)
        return dict(result.json(), status=result.status, text=run("why", "-", "--from", facts(node), input=log.encode()).out)
    return ask


def decisive(found):
    return found["decisive"] and found["decisive"]["message"]


# ---- the table ----

def test_each_row_is_complete():
    for row in rows():
        assert len(row) == len(COLUMNS) and all(v == v.strip() and v for v in row.values()), row["id"]
        assert row["rules"] != "-" or row["elsewhere"] != "-", row["id"]


def test_ids_are_of_one_table_only():
    with open(MESSAGES, encoding="ascii") as file:
        messages = {line.split("\t")[0] for line in file}
    assert not messages & {row["id"] for row in rows()}


def test_sources_are_rows_of_messages():
    with open(MESSAGES, encoding="ascii") as file:
        messages = {line.split("\t")[0] for line in file}
    for row in rows():
        kind, _, names = row["source"].partition(": ")
        assert kind == "messages.tsv" and set(names.split(", ")) <= messages, row["id"]


def test_rules_exist():
    known = {r["id"] for r in json.loads(subprocess.run([program.binary(), "rules", "--json"], capture_output=True,
                                                        check=True, timeout=60).stdout)["rules"]}
    known |= {rule.split("/")[0] + "/*" for rule in known} | {"-"}
    with open(os.path.join(program.TOP, "data", "causes.txt"), encoding="ascii") as file:
        known |= {"@" + line.split("\t")[0] for line in file if "\t" in line}
    assert [(row["id"], rule) for row in rows() for rule in row["rules"].split(",") if rule not in known] == []


def test_each_list_of_causes_is_named():
    with open(os.path.join(program.TOP, "data", "causes.txt"), encoding="ascii") as file:
        lists = dict(line.rstrip("\n").split("\t")[:2] for line in file if "\t" in line)
    with open(MESSAGES, encoding="ascii") as file:
        named = {rule for line in file if not line.startswith("#") for rule in line.split("\t")[7].split(",")}
    named |= {rule for text in [row["rules"] for row in rows()] + list(lists.values()) for rule in text.split(",")}
    assert [name for name in lists if "@" + name not in named] == []


@pytest.mark.parametrize("line, said", [
    ("topic-a\tnccl\tnever\tabc\t-\tIt is.\t-\tThere.\tS", "always, alone, before"),
    ("topic-a\tnccl\talone\ta*b\t-\tIt is.\t-\tThere.\tS", "no word"),
    ("topic-a\tnccl\talone\tabc\t-\tIt is.\t@x\tThere.\tS", "not defined"),
    ("a\tnccl\talone\tabc\t-\tIt is.\t-\tThere.\tS", "no id"),
    ("topic-a\tnccl\talone\tabc\t-\tIt is.\t-\tThere.", "9 columns"),
])
def test_a_wrong_row_stops_the_build(line, said, tmp_path):
    (tmp_path / "t.tsv").write_text(line + "\n")
    process = subprocess.run(program.writer_of("topics") + [tmp_path / "t.tsv"],
                             capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode != 0 and said in process.stderr and "t.tsv:1: " in process.stderr


def test_each_topic_has_a_line(why):
    """A line of a row's words and reasons is of that row, or of one before it."""
    order = [row["id"] for row in rows()]
    for number, row in enumerate(rows()):
        reasons = [""] if row["reasons"] == "-" else row["reasons"].split("|")
        found = set()
        for word, reason in itertools.islice(itertools.product(row["words"].split("|"), reasons), 6):
            line = "error: zz %s zz %s zz" % (word.rstrip("*"), reason.rstrip("*"))
            found.add(decisive(why(line + "\n" + (FAILURE + "\n" if row["when"] == "before" else ""))))
        topics = [name for name in found if name and name.startswith("topic-")]
        assert topics or row["when"] == "before", row["id"]
        assert all(order.index(name) <= number for name in topics), (row["id"], topics)


# ---- what it claims ----

def test_an_unknown_line_is_known_by_its_names(why):
    found = why("begin\n[rank3]: %s\n" % ALWAYS)
    first = found["decisive"]
    assert (first["message"], first["line"], first["rank"], first["by_words"]) == ("topic-mr-memlock", 2, 3, True)
    assert first["pattern"] == "" and found["result"] == "failure" and not found["unrecognised"]
    assert "The table does not have this message" in re.sub(r"\s+", " ", found["text"])
    assert found["status"] == 3


@pytest.mark.parametrize("line, topic", [
    ("RuntimeError: CUBLAS_STATUS_EXECUTION_FAILED when calling frobnicate", "topic-cuda-libs-work"),
    ("error: Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR", "topic-cuda-libs"),
    ("error: CUBLAS_STATUS_NOT_INITIALIZED", "topic-cuda-libs"),
    ("error: nvlsm: version mismatch with the driver", "topic-fm-version"),
    ("error: nvlsm version 2 fails to frobnicate", "topic-fm"),
])
def test_a_topic_claims_no_more_than_its_line(why, line, topic):
    assert decisive(why(line)) == topic


def test_a_row_is_not_by_words(why):
    assert why(FAILURE)["decisive"]["by_words"] is False


def test_a_problem_of_the_node_explains_it(why):
    found = why(ALWAYS, BROKEN)
    assert found["status"] == 1 and found["answers"]["problems"][0]["rule"] == "limits/memlock"


def test_the_words_of_the_line_add_rules(why):
    def answered(line):
        answers = why(line)["answers"]
        return {f["rule"] for key in ("problems", "ruled_out", "not_checked", "notes") for f in answers[key]}
    assert "modules/nvidia-drm-loaded" not in answered(ALONE)
    assert "modules/nvidia-drm-loaded" in answered(ALONE + " nvidia_drm")


@pytest.mark.parametrize("lines, message, line", [
    ((ALWAYS, FAILURE), "topic-mr-memlock", 1),
    ((FAILURE, ALWAYS), "nccl-", 1),
    ((CONSEQUENCE, ALWAYS), "topic-mr-memlock", 2),
    ((ALONE,), "topic-rdma", 1),
    ((ALONE, FAILURE), "nccl-", 2),
    ((ALONE, CONSEQUENCE), "topic-rdma", 1),
    ((CONSEQUENCE, ALONE), "nccl-", 1),
    ((BEFORE,), None, None),
    ((BEFORE, *["x"] * 4, FAILURE), "topic-nccl-warn", 1),
    ((BEFORE, *["x"] * 3, FAILURE), "nccl-", 5),
    ((BEFORE, OTHER_FAILURE), "topic-nccl-warn", 1),
    ((BEFORE, CONSEQUENCE), "topic-nccl-warn", 1),
    ((FAILURE, BEFORE), "nccl-", 1),
    ((ALONE, ALWAYS), "topic-rdma", 1),
    ((ALONE, ALWAYS, FAILURE), "topic-mr-memlock", 2),
])
def test_when_a_line_counts(lines, message, line, why):
    found = why("\n".join(lines) + "\n")
    assert (decisive(found) or "").startswith(message or "") and bool(found["decisive"]) == bool(message)
    assert not message or found["decisive"]["line"] == line


def test_a_name_is_no_part_of_a_longer_one(why):
    assert not decisive(why("error: xmemlock and memlocked broke\n"))
    assert decisive(why("error: RLIMIT_MEMLOCK broke\n")) == "topic-memlock"


def test_the_beginning_of_a_long_line_counts(why):
    assert decisive(why("error: memlock " + "x" * 5000)) == "topic-memlock"
    assert not decisive(why("error: " + "x" * 5000 + " memlock\n"))


def test_many_strange_lines_do_not_hide_the_search_for_ever(why):
    """The search ends after some thousands of lines: a log of errors is not read at their cost."""
    assert decisive(why("error: strange\n" * 3000 + ALWAYS)) == "topic-mr-memlock"
    found = why("error: strange\n" * 50000 + ALWAYS)
    assert not decisive(found) and found["unrecognised"]["line"] == 1


# ---- what reads like an error, and is none ----

@pytest.mark.parametrize("line", [
    "I0309 11:46:30.337 1234 file.cc:12] %s", "W0309 11:46:30.337 1234 file.cc:12] %s",
    "[rank0]:[W122 20:05:19.749124012 socket.cpp:204] %s", "[W socket.cpp:601] %s",
    "2025-01-06 12:46:04.109737: W external/xla.cc:1] %s", "2025-01-06 12:46:04.109737: I external/xla.cc:1] %s",
    "INFO 05-08 00:47:57 [core.py:396] %s", "time=\"x\" level=info msg=\"%s\"", "{\"level\":\"debug\",\"msg\":\"%s\"}",
    "WARNING 05-08 00:47:57 [core.py:396] %s", "NOTE: %s", "%s, retrying", "%s: falling back to something",
    "ERROR 05-08 00:47:57 [core.py:396]     raise RuntimeError(%s", "    raise RuntimeError(%s",
    "frame #3: %s", "  File \"/a.py\", line 3, in %s",
])
def test_calm_lines(line, why):
    assert not decisive(why(line % ALWAYS + "\n"))


@pytest.mark.parametrize("line", [
    "E0309 11:46:30.337 1234 file.cc:12] %s", "[rank0]:[E122 20:05:19.749124012 a.cpp:204] %s",
    "ERROR 05-08 00:47:57 [core.py:396] %s", "time=\"x\" level=error msg=\"%s\"", "{\"level\":\"error\",\"msg\":\"%s\"}",
    "  Warning  Failed  78s  kubelet  %s", "0x7f80 failed: %s", "%s (run with NCCL_DEBUG=INFO)",
    "RuntimeError: %s", "panic: %s",
])
def test_lines_that_are_not_calm(line, why):
    assert decisive(why(line % ALWAYS + "\n")) == "topic-mr-memlock"


def test_healthy_logs_have_no_failure(why):
    names = [name for name in sorted(os.listdir(LOGS)) if name.startswith("healthy")]
    assert len(names) >= 2
    for name in names:
        with open(os.path.join(LOGS, name), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for text in ["\n".join(lines) + "\n"] + [line + "\n" for line in lines]:
            assert not decisive(why(text)), text


# ---- what explains it ----

def named_rules(found):
    return {f if isinstance(f, str) else f["rule"] for answers in found["answers"].values() for f in answers}


@pytest.mark.parametrize("line, topic", [
    ("CUDA Error: 802", "topic-cuda-802"), ("cuInit returned 803 (failed)", "topic-cuda-803"),
    ("ERROR: cudaSetDevice failed, error=999", "topic-cuda-999"), ("CUDA initialization failed: error code 100", "topic-cuda-100"),
    ("error: cuda error 35 in a.cu", "topic-cuda-35"), ("error: cuda error 1802", "topic-cuda"),
])
def test_a_cuda_error_by_its_number(line, topic, why):
    assert decisive(why(line + "\n")) == topic


@pytest.mark.parametrize("file, topic", [
    ("transport/net_ib.cc", "topic-nccl-ib"), ("transport/net_ib/connect.cc", "topic-nccl-ib"),
    ("bootstrap.cc", "topic-nccl-tcp"), ("misc/shmutils.cc", "topic-nccl-shm"), ("gin/gin_host.cc", "topic-nccl-gin"),
    ("graph/xml.cc", "topic-nccl-topo"), ("misc/gdrwrap.cc", "topic-nccl-load"), ("enqueue.cc", "topic-nccl-warn"),
])
def test_an_unknown_warning_of_nccl_is_about_what_its_file_does(file, topic, why):
    line = "gpu01:1:2 [0] %s:17 NCCL WARN Frobnication is over\n" % file
    assert decisive(why(line + CONSEQUENCE + "\n")) == topic
    assert not decisive(why(line))


def test_words_without_rules_take_those_of_what_followed(why):
    """An unknown NCCL WARN has no rules; what NCCL says behind it has. A row has its own, or none."""
    log = "gpu01:1:2 [0] a.cc:7 NCCL WARN Frobnication is over\n"
    assert decisive(why(log + CONSEQUENCE + "\n")) == "topic-nccl-warn"
    assert "limits/memlock" in named_rules(why(log + CONSEQUENCE + "\n"))
    assert "limits/memlock" not in named_rules(why("CUDA error: device-side assert triggered\n" + CONSEQUENCE + "\n"))

def confirmed():
    """[(name, {rule, ...}, log)]"""
    with open(os.path.join(LOGS, "confirmed.cases"), encoding="utf-8") as file:
        blocks = re.split(r"(?m)^== ", file.read())[1:]
    heads = [block.partition("\n") for block in blocks]
    return [(head.split(" | ")[0], set(head.split(" | ")[1].split(",")), log) for head, _, log in heads]


@pytest.mark.parametrize("name, rules, log", confirmed(), ids=[case[0] for case in confirmed()])
def test_the_confirmed_cause_is_named(name, rules, log, why):
    """Each answer about the node is of a rule that the log names: the cause has one, whatever it is."""
    found = why(log)
    assert decisive(found) and named_rules(found) & rules, name
