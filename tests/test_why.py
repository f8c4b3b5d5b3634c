# SPDX-License-Identifier: GPL-2.0-or-later
"""why: what a job's log says, and what on this node explains it. The logs in tests/logs are the programs' own
messages in their order, with invented hosts, addresses, times and values."""
import functools
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess

import pytest

from lib import program, schema
from lib.program import run

LOGS = os.path.join(program.TOP, "tests", "logs")
TABLE = os.path.join(program.TOP, "data", "messages.tsv")
NODE, HOST = "hgx-h100-ib", "hgx-ib-21"
BROKEN = "broken-everything"
SHM = "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a1 (size 4194304)"
GID = "NCCL WARN NET/IB : Got completion from peer 192.0.2.12<4915> with status=12 opcode=0 len=0 vendor err 129 (Send)"
WATCHDOG = "unhandled system error (run with NCCL_DEBUG=INFO for details)"


@pytest.fixture(scope="module")
def facts(node_facts, tmp_path_factory):
    """facts(NAME): the facts file of a node."""
    folder = tmp_path_factory.mktemp("facts")

    @functools.lru_cache(maxsize=None)
    def file(name):
        path = folder / (name + ".json")
        path.write_text(node_facts(name))
        return str(path)
    return file


@pytest.fixture
def why(facts):
    """why(LOG): the document about a log, of a node that is healthy."""
    def ask(log, node=NODE, *args):
        data = log if isinstance(log, bytes) else log.encode()
        result = run("why", "-", "--json", "--from", facts(node), *args, input=data)
        assert result.status in (0, 1, 3), str(result)
        return result.json()
    return ask


FAILURES = {"failure", "symptom", "cause", "loss", "unwarned"}


def rows():
    """[(id, kind, pattern)]"""
    with open(TABLE, encoding="ascii") as file:
        cells = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [(c[0], c[2], c[3]) for c in cells]


def expand_rules(text):
    """The column rules of a row, with the lists of data/causes.txt: each rule where it is first."""
    with open(os.path.join(program.TOP, "data", "causes.txt"), encoding="ascii") as file:
        lists = dict(line.rstrip("\n").split("\t")[:2] for line in file if "\t" in line)
    names = [rule for name in text.split(",") for rule in (expand_rules(lists[name[1:]]) if name[0] == "@" else [name])]
    return list(dict.fromkeys(names))


def example(pattern):
    text = pattern.replace("{{", "\0")
    return re.sub(r"\{[a-z][a-z0-9_-]*\}", "7", text).replace("\0", "{")


def ids(events):
    return [event["message"] for event in events]


# ---- the table ----

def test_each_row_is_recognised_in_its_place(why):
    """All messages in one log: each is the event of its own line."""
    table = rows()
    found = why("".join("%s\n" % example(pattern) for _, _, pattern in table))
    events = {e["message"]: e["line"] for kind in ("failures", "consequences", "fallbacks") for e in found[kind]}
    events[found["decisive"]["message"]] = found["decisive"]["line"]
    wanted = {name: line for line, (name, kind, _) in enumerate(table, 1)
              if kind in FAILURES | {"consequence", "fallback"}}
    assert events == wanted
    assert found["log"]["recognised"] == found["log"]["lines"] == len(table)


@pytest.mark.parametrize("row, said", [
    ("a-b\tnccl\tfailure\tshort {x}\t-\t-\tIt is.\t-\t-\t-\tS", "fewer than 8"),
    ("a-b\tnccl\tbad\tlong enough {x}\t-\t-\tIt is.\t-\t-\t-\tS", "no kind"),
    ("a-b\tnccl\tfailure\tlong enough {x}\t-\t-\tIt is.\tpci\t-\t-\tS", "no list of rules"),
    ("a-b\tnccl\tfailure\tlong enough {x}\t-\t-\tIt is.\t@nothing\t-\t-\tS", "not defined"),
    ("a-b\tnccl\tchoice\tlong enough {x}\t-\t-\tIt is.\t-\t-\ta={y}\tS", "no variable"),
    ("a-b\tnccl\tfailure\tlong enough {x}\t-\t-\tIt is.\t-\t-\t-", "11 columns"),
])
def test_a_wrong_row_stops_the_build(row, said, tmp_path):
    (tmp_path / "t.tsv").write_text("# a table\n" + row + "\n")
    process = subprocess.run(program.writer_of("messages") + [tmp_path / "t.tsv"],
                             capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode != 0 and said in process.stderr and "t.tsv:2: " in process.stderr


@pytest.mark.parametrize("rows_, said", [
    ("bad\tany\tdied\tS\nworse\tany\tdead\tS", "no sign"),
    ("bad\tsome\tdied\tS", "no form"),
    ("bad\tany\tdied", "4 columns"),
    ("error\tany\tbad\tS", "fewer than 4"),
    ("bad\tany\tdied\tS\ncalm\tany\tdead\tS\nbad\tany\tgone\tS", "stand together"),
    ("bad\tany\tdied\tS\nbad\tword\tdied\tS", "there already"),
])
def test_a_wrong_sign_stops_the_build(rows_, said, tmp_path):
    (tmp_path / "t.tsv").write_text(rows_ + "\n")
    process = subprocess.run(program.writer_of("signs") + [tmp_path / "t.tsv"],
                             capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode != 0 and said in process.stderr


# ---- which of several failures counts ----

@pytest.mark.parametrize("lines, message, line", [
    # What the kernel says of the GPU counts before an error that names no reason, wherever it stands.
    (["CUDA_ERROR_UNKNOWN", "NVRM: GPU at 0: GPU has fallen off the bus."], "nvidia-fallen-off-bus", 2),
    (["failed call to cuInit: CUDA_ERROR_NO_DEVICE", "kernel version 3 does not match DSO version 4"
      " -- cannot find working devices in this configuration"], "tf-kernel-dso", 2),
    # A GPU that is lost explains what an Xid can explain; an Xid of the program does not.
    (["CUDA error: unspecified launch failure", "", "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."],
     "nvidia-fallen-off-bus", 3),
    (["CUDA error: unspecified launch failure", "NVRM: Xid (PCI:0000:01:00): 31, pid=7"], "cuda-719-text", 1),
    (["[Errno 122] Disk quota exceeded", "NVRM: Xid (PCI:0000:01:00): 79, lost"], "os-quota", 1),
    # An error with a reason keeps its place.
    (["libfoo.so: undefined symbol: f",
      "NVRM: GPU at 0: GPU has fallen off the bus."], "glibc-undefined-symbol", 1),
    # A message of the table a few lines behind counts before words; with the same first rule, also farther behind.
    (["Failed to create a completion queue (CQ):", "", "", "", "Error:    Cannot allocate memory"],
     "os-enomem-any", 5),
    (["ERROR: Unexpected bus error. This might be caused by insufficient shared memory (shm)."] + [""] * 9 +
     ["DataLoader worker (pid 6) is killed by signal: Bus error. It is possible that dataloader's workers are out of"
      " shared memory."], "torch-dataloader-bus", 11),
    (["Failed to create a completion queue (CQ):"] + [""] * 9 + ["libfoo.so: undefined symbol: f"], "topic-qp", 1),
    # A library is missing; but not where a program only says that it does without one.
    (["libx.so.7: cannot open shared object file: No such file or directory"], "glibc-shared-object", 1),
    (["I0731 03:10:22.41 7 xla.py:6] no tpu: libx.so.7: cannot open shared object file: No such file or directory"],
     None, None),
    (["2021-03-01 10:00:00.1: W a/b.cc:6] Could not load dynamic library 'libx.so.7'; dlerror: libx.so.7: cannot open"
      " shared object file: No such file or directory"], None, None),
    (["Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object"
      " file: No such file or directory"], None, None),
    (["ImportError: libcuda.so.1: cannot open shared object file: No such file or directory"], "glibc-libcuda", 1),
    # What a program can do is a list, no error.
    ([" Userspace RDMA     : Unsupported", " --rdma library        : Not Loaded (libcufile_rdma.so)"], None, None),
    (["Userspace RDMA: error, Unsupported"], "topic-rdma", 1),
    (["[batch] sending RPC, error:0 status:0", "debug4: gpu_nvml.so: Does not exist or not a regular file."],
     None, None),
])
def test_which_failure_counts(why, lines, message, line):
    found = why("\n".join(lines) + "\n")
    first = found["decisive"] or {"message": None, "line": None}
    assert (first["message"], first["line"]) == (message, line)
    assert bool(found["unrecognised"]) is False


# ---- exit status and usage ----

@pytest.mark.parametrize("text, node, status", [
    ("all is well", NODE, 0),
    ("all is well", BROKEN, 0),
    (GID, NODE, 3),
    ("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory", BROKEN, 1),
    ("NCCL INFO Using network Socket", NODE, 0),
])
def test_exit_status(text, node, status, facts):
    for more in ((), ("--json",)):
        result = run("why", "--text", text, "--from", facts(node), *more)
        assert result.status == status, str(result)


@pytest.mark.parametrize("args, said", [
    ([], "why needs a FILE or --text"),
    (["a", "--text", "b"], "--text and FILE cannot be used together"),
    (["a", "b"], "unexpected 'b'"),
    (["-", "--from", "-"], "FILE and --from cannot both be standard input"),
    (["a", "--quiet"], "--quiet is not an option of why"),
    (["a", "--format", "svg"], "unknown --format 'svg'; choose text or json"),
])
def test_wrong_usage(args, said):
    result = run("why", *args)
    assert result.status == 2 and said in result.err and not result.out


def test_files_that_cannot_be_read(facts, tmp_path):
    for name, said in (("none", "No such file"), (".", "Is a directory")):
        result = run("why", tmp_path / name, "--from", facts(NODE))
        assert result.status == 4 and said in result.err and not result.out, str(result)


# ---- what is first ----

def test_the_avalanche_is_folded(facts):
    result = run("why", os.path.join(LOGS, "gid-unreachable.log"), "--from", facts(NODE), "--json")
    found = result.json()
    first = found["decisive"]
    assert (first["line"], first["rank"], first["host"], first["count"], first["hosts"]) == (12, 0, "gpu-a01", 2, 2)
    assert found["result"] == "failure" and not found["failures"]
    assert [(e["line"], e["count"]) for e in found["consequences"]] == [(17, 2)]
    assert {h["name"]: h["first_failure_line"] for h in found["log"]["hosts"]} == {"gpu-a01": 12, "gpu-a02": 15}
    assert [(r["rank"], r["host"]) for r in found["log"]["failed"]] == [(0, "gpu-a01"), (4, "gpu-a02")]
    text = run("why", os.path.join(LOGS, "gid-unreachable.log"), "--from", facts(NODE)).out
    assert text.index("status=12") < text.index("lines that follow from a failure") < text.index("On " + HOST)
    assert "2 times, on 2 of 2 hosts" in text


def test_a_consequence_alone_is_a_sign(why):
    found = why(WATCHDOG + "\n")
    assert found["result"] == "consequence" and found["decisive"]["kind"] == "consequence"


def test_a_failure_counts_before_an_earlier_consequence(why):
    found = why("%s\n%s\n" % (WATCHDOG, GID))
    assert found["result"] == "failure" and found["decisive"]["line"] == 2


def test_the_log_that_a_program_prints_of_another_has_the_cause(why):
    cause = "slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file or directory\n"
    found = why("slurmstepd: error: pyxis: container start failed with error code: 1\n"
                "slurmstepd: error: pyxis: printing enroot log file:\n"
                "slurmstepd: error: pyxis:     [INFO] Authentication succeeded\n" + cause +
                "slurmstepd: error: pyxis: couldn't start container\n"
                "slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\n")
    assert found["decisive"]["line"] == 4 and not found["failures"]


def test_the_frame_of_an_exception_is_not_the_first_sign(why):
    frame = "[2026-02-26 12:01:56 TP2] Scheduler hit an exception: Traceback (most recent call last):\n"
    assert why(frame + "RuntimeError: NCCL error: unhandled system error\n")["decisive"]["line"] == 2
    assert why(frame + "ValueError: the frobnicator broke\n")["unrecognised"]["line"] == 2


def test_a_healthy_log(facts):
    result = run("why", os.path.join(LOGS, "healthy.log"), "--from", facts(NODE))
    assert result.status == 0 and "No failure was recognised" in result.out


def test_a_slower_path_is_found_where_nothing_failed(facts):
    result = run("why", os.path.join(LOGS, "sockets.log"), "--from", facts(BROKEN), "--json")
    found = result.json()
    assert found["result"] == "fallback" and not found["decisive"] and len(found["fallbacks"]) >= 2
    assert result.status == (1 if found["answers"]["problems"] else 0)


def test_a_problem_of_a_slower_path_explains_no_failure(why):
    """The failure's rules pass here; the fallback's do not."""
    text = "NCCL INFO NET/IB : No device found.\n"
    alone, both = why(text, BROKEN), why(text + "NCCL WARN Duplicate GPU detected : rank 0 and rank 1\n", BROKEN)
    if both["decisive"]:
        assert both["answers"]["problems"] == alone["answers"]["problems"]


# ---- how the log ends ----

WARNED = "[1.5] [gpu01:10:0] ucp_context.c:1339 UCX  WARN  transport 'gdr_copy' is not available, please use one or more of: tcp"
OOM = "INFO tuner: batch size 96 does not fit (torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4 GiB.)"
LOST = "Failed to initialize NVML: Driver/library version mismatch"
WORDS = "RuntimeError: the CUDA driver of libfrob could not be initialised"


@pytest.mark.parametrize("line, behind, failed", [
    (WARNED, "4194304   24100.00\n" * 30, False),
    (WARNED, "4194304   24100.00\n", False),
    (LOST, "batch 7 embedded\n" * 3, False),
    (LOST, "batch embedded\n" * 3, True),
    (LOST, "batch 7 embedded\n" * 3 + "Segmentation fault (core dumped)\n", True),
    (LOST, "Segmentation fault (core dumped)\nrestarted\n" + "batch 7 embedded\n" * 3, False),
    (GID, "step 7 loss: 2.1\n" * 3, False),
    (GID, "step 7 loss: 2.1\n" * 2, True),
    (GID, "waiting for step 7\n" * 30, True),
    (GID, "gpu01:10:11 [2] NCCL INFO comm 0x1 rank 3\n" * 30, True),
    (LOST, "exit 137\nState: OUT_OF_MEMORY (exit code 0)\n", True),
    (WARNED, "ERROR no transport is left\n", True),
    # A server goes on with other requests.
    ("E: " + LOST, "Task a[7] raised unexpected: E()\nTask b[8] succeeded in 0.1s: None\n", True),
    ("E: " + LOST, "Task a[7] retry: Retry in 5s\nTask a[7] succeeded in 0.1s: None\n", False),
    (OOM, "batch size 64 fits\nERROR: push to statsd failed\ndone, 200 steps, exit 0\n", False),
    (OOM, "worker exited with code 1\n", True),
    (OOM.replace("INFO ", ""), "done, 200 steps\n", True),
    (OOM.replace("INFO ", ""), "100% tests passed, 0 tests failed out of 12\n", False),
    (OOM.replace("INFO ", ""), "1 failed, 12 passed in 3 s\n", True),
    (OOM.replace("INFO ", ""), "88120.batch  COMPLETED  0:0  01:57:30\n", False),
    (OOM.replace("INFO ", ""), "the download is completed\n", True),
    (WATCHDOG, "worker group restarted\nLocal worker group finished (WorkerState.SUCCEEDED)\n", False),
    (OOM.replace("INFO ", ""), "done, 200 steps, exit 0\n", False),
    (WORDS, "apex is optional, going on\nsetup: done\n", False),
    (WORDS, "setup: done\nprocess exited with code 3\n", True),
    (WORDS, "sorry\n", True),
    ('ana: has anyone seen "%s"?' % LOST, "solved\n" * 20, False),
    ('error="%s"' % LOST, "solved\n" * 3, True),
    ("  --retry N  go on after: " + LOST, "  --help  this\n" * 20, False),
    (LOST + "\nfalling back to the CPU", "step 1\n", False),
    (LOST + "\n\n\nfalling back to the CPU", "step 1\n", True),
])
def test_what_a_job_survived(line, behind, failed, why):
    found = why("begin\n%s\n%s" % (line, behind))
    assert bool(found["decisive"]) == failed
    if line == WORDS:
        assert bool(found["unrecognised"]) != failed and not found["survived"]
    else:
        assert [e["line"] for e in found["survived"]] == ([] if failed else [2])


RAISED = "RuntimeError: CUDA error: out of memory"
STEP = "step %d loss: 2.1"
WARN7 = "gpu01:70:71 [0] " + GID


@pytest.mark.parametrize("failure, behind, result", [
    # The same process, by its rank or its number.
    ("[rank3]: " + GID, ["[rank3]: " + STEP], "nothing"),
    (WARN7, ["gpu01:70:75 [0] " + STEP], "nothing"),
    ("[1,3]<stderr>:" + GID, ["[1,3]<stdout>:" + STEP], "nothing"),
    # Its number became known as a rank behind the failure.
    (WARN7, ["gpu01:70:71 [0] NCCL INFO comm 0x1 rank 3 nranks 8 cudaDev 0", "[rank3]: " + STEP], "nothing"),
    (WARN7, ["gpu01:70:71 [0] NCCL INFO comm 0x1 rank 3 nranks 8 cudaDev 0", "[rank4]: " + STEP], "undecided"),
    # Other ranks, processes, hosts.
    ("[rank3]: " + GID, ["[rank4]: " + STEP], "undecided"),
    (WARN7, ["gpu01:80:85 [1] " + STEP], "undecided"),
    (WARN7, ["gpu02:70:75 [0] " + STEP], "undecided"),
    # No rank: the only one, or one of several.
    (WARN7, [STEP], "nothing"),
    (WARN7, ["gpu01:80:85 [1] NCCL INFO comm 0x1 rank 4 nranks 8 cudaDev 1", STEP], "undecided"),
    (GID, ["[rank0]: " + STEP, "[rank1]: " + STEP], "undecided"),
])
def test_whose_work_is_behind_a_failure(failure, behind, result, why):
    found = why("\n".join(["begin", failure] + [b % i if "%d" in b else b for i in range(8) for b in behind]) + "\n")
    assert found["result"] == result
    assert (found["decisive"] or found["survived"][0])["line"] == 2


SIGBUS = "Caught signal 7 (Bus error: nonexistent physical address)"
CONTEXT = "CUDA error: an illegal memory access was encountered"


@pytest.mark.parametrize("failure, behind, result", [
    # Its program ends with it, or can do no more: not even lines of the only process are its work.
    (SIGBUS, [STEP] * 8, "undecided"),
    (CONTEXT, [STEP] * 8, "undecided"),
    (CONTEXT, ["GPU 7: H100"] * 8, "failure"),
    ("[rank3]: " + CONTEXT, ["[rank3]: " + STEP] * 8, "undecided"),
    (CONTEXT, ["will restart worker group"] + [STEP] * 8, "nothing"),
    (CONTEXT, [STEP] * 8 + ["100% tests passed, 0 tests failed out of 12"], "nothing"),
    ("2026-11-20 09:12:41: F tensorflow/core/x.cc:34] " + LOST, [STEP] * 8, "undecided"),
    # The kernel speaks of another process.
    ("NVRM: API mismatch: the client has the version 535.54.03, but", [STEP] * 8, "undecided"),
    (LOST, [STEP] * 8, "nothing"),
])
def test_work_that_is_not_of_the_process_that_failed(failure, behind, result, why):
    found = why("\n".join(["begin", failure] + [b % i if "%d" in b else b for i, b in enumerate(behind)]) + "\n")
    assert found["result"] == result
    assert (found["decisive"] or found["survived"][0])["line"] == 2


def test_components_that_are_not_the_job():
    """Each one is in the table, and each row of a program's end is the start of an id."""
    with open(TABLE, encoding="ascii") as file:
        rows_ = [line.split("\t") for line in file if not line.startswith("#")]
    with open(os.path.join(program.TOP, "data", "signs.tsv"), encoding="ascii") as file:
        signs = [line.split("\t") for line in file if line.startswith(("system\t", "fatal\tstart"))]
    assert signs
    for sign in signs:
        cell = 1 if sign[0] == "system" else 0
        assert any(row[cell].startswith(sign[2]) for row in rows_ if len(row) > cell), sign


def test_work_of_other_ranks_between_two_failures(why):
    lines = ["[rank3]: " + LOST] + ["[rank4]: step 7 of 9"] * 8 + ["[rank4]: " + GID, "aborted (core dumped)"]
    assert why("\n".join(lines) + "\n")["decisive"]["line"] == 1
    assert why("\n".join(lines).replace("rank4", "rank3") + "\n")["decisive"]["line"] == 10


@pytest.mark.parametrize("log, open_", [
    # Lines behind it tell nothing.
    ([LOST] + ["GPU %d: H100" % i for i in range(8)], True),
    ([LOST] + ["GPU %d: H100" % i for i in range(3)], False),
    # They can be of other ranks.
    ([GID] + ["GPU %d: H100" % i for i in range(8)], False),
    # An error is the end.
    ([LOST] + ["GPU %d: H100" % i for i in range(8)] + ["error: it broke"], False),
    ([LOST] + ["GPU %d: H100" % i for i in range(8)] + ["task 3: exited with code 9"], False),
    # What was buffered can be written behind an exception.
    ([RAISED] + ["step %d" % i for i in range(9)], True),
    (["web-1  | " + RAISED] + ["web-1  | step %d" % i for i in range(9)], True),
    ([GID, "Traceback (most recent call last):", "[rank0]: a.DistError: NCCL"] + ["step %d" % i for i in range(9)], True),
    # A program that ends itself.
    (["torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"] + ["a", "b", "c", "d", "e"], False),
    # A warning, and a line behind it.
    ([WARNED, "hello"], True),
    ([WARNED], False),
])
def test_what_the_log_does_not_show(log, open_, why, facts):
    text = "begin\n" + "\n".join(log) + "\n"
    found = why(text)
    assert found["decisive"]["line"] == 2
    assert (found["result"] == "undecided") == open_
    result = run("why", "-", "--from", facts(NODE), input=text.encode())
    assert result.status == (0 if open_ else 3)
    assert ("does not show that the job failed" in " ".join(result.out.split())) == ("First message" in result.out) == open_


@pytest.mark.parametrize("lines, decisive", [
    # Work between two failures: the second one ended the job.
    ([LOST] + ["step 7 of 9"] * 3 + [GID], 5),
    ([LOST] + ["step 7 of 9"] * 2 + [GID], 1),
    ([LOST] + ["GPU 7"] * 3 + [GID], 1),
    (["NVRM: GPU at 0: GPU has fallen off the bus."] + ["step 7 of 9"] * 3 + [GID], 1),
    ([RAISED] + ["step 7 of 9"] * 3 + [GID], 1),
    ([RAISED, "restarted, 2 attempts left"] + ["step 7 of 9"] * 3 + [GID], 6),
    # A warning of one program, a failure of another, and of the same.
    ([WARNED, GID], 2),
    ([WARNED, "UCX  ERROR no active messages transport to gpu02: tcp"], 1),
])
def test_which_of_two_failures_ended_the_job(lines, decisive, why):
    found = why("\n".join(lines + ["aborted (core dumped)"]) + "\n")
    assert found["decisive"]["line"] == decisive and found["result"] == "failure"


def test_what_is_undecided_can_be_explained(facts):
    text = ("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory (fallback is used)\nhello\n")
    result = run("why", "-", "--json", "--from", facts(BROKEN), input=text.encode())
    assert result.status == 1 and result.json()["result"] == "undecided"


def test_the_usual_causes_are_shown_with_their_answer(facts):
    out = run("why", "--text", SHM, "--from", facts(NODE)).out
    assert re.search(r"Usual causes .*\n.*limits/shm-too-small, (ruled out|not checked|does not apply)\s+here", out), out


def test_a_cause_that_the_log_rules_out_is_not_shown(facts):
    text = "| NVIDIA-SMI 535.112     Driver Version: 537.42       CUDA Version: 12.2     |\n"
    for log, shown in (("", True), (text, False)):
        out = run("why", "--text", log + "CUDA_ERROR_NO_DEVICE", "--from", facts(NODE)).out
        assert ("(driver/loaded, " in out) == shown and "Usual causes" in out


def test_the_end_of_a_long_log(why):
    assert why("%s\n%s" % (OOM, "a line of the job\n" * 100000))["survived"]
    assert not why("%s\n%sERROR: all is lost\n" % (OOM, "a line of the job\n" * 100000))["survived"]


def test_where_no_rule_applies(facts):
    """The rules are named, and nothing is said to be ruled out."""
    text = "enroot: Command not found: nvidia-container-cli, see https://github.com/NVIDIA/libnvidia-container"
    result = run("why", "--text", text, "--from", facts(NODE))
    if "Not applicable" in result.out:
        assert "does not explain" not in result.out and "applies to this node" in result.out
    else:
        assert "dev/container-runtime-missing" in result.out


# ---- what the table does not have ----

STRANGE = "ERROR: Unexpected frobnication encountered in worker. This might be caused by nouveau."


def test_a_line_that_reads_like_an_error(facts):
    """No claim is made of it: the status is 0. The rules that have its names are answered."""
    for more, part in ((("--json",), '"nouveau"'), ((), "Line 2 reads like one")):
        result = run("why", "-", "--from", facts(NODE), *more, input=("begin\n%s\nend\n" % STRANGE).encode())
        assert result.status == 0 and part in result.out, str(result)


def test_a_line_that_reads_like_an_error_behind_which_the_job_went_on(facts):
    raised = 'Traceback (most recent call last):\n  File "a.py", line 7, in f\nSystemExit: no checkpoint\n'
    for behind, went_on in (("step 7 of 9\n", True), ("sorry\n", False), ("step 7\n" + raised, False),
                            (raised + "step 7\n", True), ("task exited with exit code 1\njob is done\n", False)):
        out = run("why", "--text", STRANGE + "\n" + behind, "--from", facts(NODE)).out
        assert ("reads like one" in out) != went_on and ("The job went on after it." in out) == went_on


def test_the_rules_that_have_its_names(why):
    found = why("begin\n[rank3]: %s\n" % STRANGE)
    assert found["result"] == "nothing" and not found["decisive"] and not found["explained"]
    assert (found["unrecognised"]["line"], found["unrecognised"]["rank"]) == (2, 3)
    assert found["unrecognised"]["words"] == ["nouveau"]
    assert "modules/nouveau-loaded" in [f["rule"] for f in found["answers"]["ruled_out"]]


@pytest.mark.parametrize("line, reads", [
    ("error: the frobnicator was not found", True),
    ("FATAL something", True),
    ("worker.py: OSError: [Errno 12]", True),
    ('{"log":"cannot open the device\\n","stream":"stderr"}', True),
    ("NCCL WARN something that nobody has seen", True),
    ("errors=0 failover=1 cannotate", False),
    ("INFO: the fallback is not supported here", False),
    ("Passed: 28, Failed: 0", False),
    ("no error: all is well", False),
    ("ECC errors 0, pending retirements: No", False),
    ('DCGM_FI_DEV_XID_ERRORS{gpu="0",err_msg="No Error"} 0', False),
    ('{"event":"summary","failures":0,"errors":[],"timeouts":0}', False),
    ("nixlbench: failed transfers: 0", False),
    ("result: error=None, path=/results", False),
    ("finished without failures", False),
    ("100% tests passed, 0 tests failed out of 12", False),
    ("3 tests failed out of 12", True),
    ("Cannot map the page, as expected", False),
    ("failed to allocate 0 bytes", True),
    ("failed transfers: 3", True),
    ("error: no such device", True),
    ("error: 0x31", True),
    ("configuration: --enable-cuda-llvm --error-resilience=1", False),
    ("all is well", False),
])
def test_what_reads_like_an_error(line, reads, why):
    assert bool(why("begin\n%s\n" % line)["unrecognised"]) == reads


def test_a_failure_of_the_table_is_enough(why):
    assert not why("%s\n%s\n" % (STRANGE, GID))["unrecognised"]
    assert why("%s\n%s\n" % (STRANGE, WATCHDOG))["unrecognised"]["line"] == 1
    assert not why("%s\n%s\n" % (WATCHDOG, STRANGE))["unrecognised"]


def test_it_is_found_far_down(why):
    assert why("all is well\n" * 100000 + STRANGE)["unrecognised"]["line"] == 100001
    # Numbers of other lines deny nothing.
    for begin in ("0 warmup\nstarting\n", "1 warmup\nstarting\n", "0 warmup\rstarting\n", "a\n" * 40 + "0 "  + "a" * 70 + "\n"):
        assert why(begin + STRANGE)["unrecognised"]["line"] == begin.count("\n") + 1, begin
    assert not why("begin\n  0 tests completed and failed\n")["unrecognised"]


# ---- who wrote a line ----

@pytest.mark.parametrize("prefix, host, rank", [
    ("", None, None),
    ("3: ", None, 3),
    (" 12: gpu01:10:11 [2] ", "gpu01", 12),
    ("[rank5]: ", None, 5),
    ("[default7]:", None, 7),
    ("[1,9]<stderr>:", None, 9),
    ("[Rank 4] ", None, 4),
    ("gpu01:10:11 [2] ", "gpu01", None),
    ("gpu01.example.com:10:11 [2] ", "gpu01.example.com", None),
    ("[gpu01:00200] ", "gpu01", None),
    ("[1668693130.449250] [gpu01:814716:0] ", "gpu01", None),
    ("[pod/train-0/main] ", "train-0", None),
    ("[pod/train-0/main] gpu01:10:11 [0] ", "gpu01", None),
    ("(RayWorker pid=4650, ip=192.0.2.9) ", "192.0.2.9", None),
    ("192.0.2.9: ", "192.0.2.9", None),
    ("Mar  3 22:54:22 gpu01 kernel: ", "gpu01", None),
    ("2025-01-01T10:00:00.123Z stderr F gpu01:10:11 [0] ", "gpu01", None),
    ("2025-01-01T10:00:00+02:00 [rank1]: ", None, 1),
    ("[2025-01-01 10:00:00,123] ", None, None),
    ("\x1b[31m[rank2]:\x1b[0m ", None, 2),
    ("2: [rank17]: ", None, 17),
])
def test_prefixes(prefix, host, rank, why):
    first = why("before\n%s%s\n" % (prefix, GID))["decisive"]
    assert (first["host"], first["rank"], first["line"]) == (host, rank, 2)
    assert first["text"] == GID


@pytest.mark.parametrize("prefix, time", [
    ("2025-01-01T10:00:00.123Z ", "2025-01-01T10:00:00.123Z"),
    ("[2025-01-01 10:00:00,123] ", "2025-01-01 10:00:00,123"),
    ("Mar  3 22:54:22 gpu01 kernel: ", "Mar  3 22:54:22"),
    ("[Wed Jan 16 14:19:28 2026] ", "Wed Jan 16 14:19:28 2026"),
    ("[ 1157.489763] ", "1157.489763"),
    ("[E1201 08:00:00.100 a.cpp:616] ", "1201 08:00:00.100"),
    ("10:00:00 ", "10:00:00"),
    ("", None),
])
def test_times(prefix, time, why):
    assert why(prefix + GID + "\n")["decisive"]["time"] == time


def test_a_process_gets_its_rank_from_its_communicator(why):
    line = "gpu01:10:12 [1] NCCL INFO comm 0x5 rank 6 nranks 8 cudaDev 1 busId 2000 - Init COMPLETE\n"
    first = why(line + "gpu01:10:13 [1] " + GID + "\n")["decisive"]
    assert (first["rank"], first["host"]) == (6, "gpu01")


def test_a_rank_gets_its_host_from_an_earlier_line(why):
    first = why("3: gpu01:10:12 [1] NCCL INFO Using network IB\n3: " + GID + "\n")["decisive"]
    assert (first["rank"], first["host"]) == (3, "gpu01")


# ---- forms of a log ----

def test_json_lines(why):
    text = json.dumps({"log": "\x1b[31mgpu01:1:2 [0] " + GID + "\n", "stream": "stderr",
                       "time": "2025-01-01T00:00:00Z"}) + "\n"
    first = why("{}\n" + text)["decisive"]
    assert (first["line"], first["host"], first["time"]) == (2, "gpu01", "2025-01-01T00:00:00Z")
    first = why(json.dumps({"hostname": "gpu09", "rank": 5, "message": "say \"x\"\n" + GID}) + "\n")["decisive"]
    assert (first["line"], first["host"], first["rank"], first["text"]) == (1, "gpu09", 5, GID)


@pytest.mark.parametrize("log", [
    GID.encode("utf-16"), GID.encode("utf-16-le"), GID.encode("utf-16-be"),
    b"\xff\xfe\x80" + GID.encode() + b"\xff", GID.encode().replace(b"NET", b"NET\0"),
    b"10%\r20%\r30%\r" + GID.encode() + b"\r\n", GID.encode() + b"\r\n",
    GID.encode().replace(b"completion", b"comp\x1b[1;31mletion\x1b[0m"),
    b"\x1b]0;title\x07" + GID.encode(), b"\x1bc" + GID.encode(), b"\x1b(B" + GID.encode(),
    b"\x1b]8;;unended\n" + GID.encode(),
    b"x" * 300000 + b" " + GID.encode(), GID.encode() + b" " + b"x" * 300000,
])
def test_any_encoding(log, why):
    assert why(log)["decisive"]["kind"] == "failure"


def test_a_message_at_every_place_of_a_buffer(why):
    """Lines that end where a block ends, begin there or lie across it."""
    for room in range(262144 - len(GID) - 2, 262144 + 2, 17):
        found = why("a" * 79 + "\n" + "b" * (room - 81) + "\n" + GID + "\nend\n")
        assert found["decisive"]["line"] == 3, room
        assert found["log"]["lines"] == 4


@pytest.mark.skipif(not shutil.which("zstd"), reason="needs zstd")
@pytest.mark.parametrize("left", [1, 3, 5, 6])
def test_a_frame_that_begins_at_the_end_of_a_block(left, facts, tmp_path):
    """Files that were put behind each other: a few bytes of the second lie in a block of the first."""
    def pack(data):
        return subprocess.run(["zstd", "-c", "--no-check"], input=data, capture_output=True, check=True, timeout=60).stdout

    block, noise = 256 << 10, os.urandom(256 << 10)
    size = block - left - 30
    while len(pack(noise[:size])) != block - left:    # what cannot be compressed grows by the heads of its blocks
        size += block - left - len(pack(noise[:size]))
    (tmp_path / "log.zst").write_bytes(pack(noise[:size]) + pack(os.urandom(300000)))
    result = run("why", tmp_path / "log.zst", "--from", facts(NODE), "--json")
    assert result.json()["log"]["bytes"] == size + 300000, str(result)


def skippable(content, low=0):
    return bytes([0x50 + low]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


@pytest.mark.parametrize("low, size", [(0, 4), (7, 0), (15, 600000)])
def test_skippable_frames_of_zstd(low, size, why):
    """pzstd writes one before each frame; one can be the last."""
    frame, log = skippable(bytes(size), low), ("begin\n" * 200 + GID + "\n").encode()
    parts = [subprocess.run(["zstd", "-c"], input=part, stdout=subprocess.PIPE, check=True).stdout
             for part in (log[:700], log[700:])]
    assert why(frame + parts[0] + frame + frame + parts[1] + frame)["decisive"]["line"] == 201


def test_a_cut_skippable_frame(facts, tmp_path):
    file = tmp_path / "log.zst"
    file.write_bytes(skippable(b"four")[:-1])
    result = run("why", file, "--from", facts(NODE))
    assert result.status == 4 and "damaged or cut off" in result.err


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress,
                                  lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:])])
def test_compressed(pack, facts, tmp_path):
    plain = ("noise\n" * 100000 + GID + "\n").encode()
    (tmp_path / "log").write_bytes(pack(plain))
    result = run("why", tmp_path / "log", "--from", facts(NODE), "--json")
    assert result.status == 3, str(result)
    assert result.json()["decisive"]["line"] == 100001 and result.json()["log"]["bytes"] == len(plain)
    piped = run("why", "-", "--from", facts(NODE), "--json", input=pack(plain))
    assert piped.out == result.out


@pytest.mark.skipif(not shutil.which("zstd"), reason="needs zstd")
def test_zstd_in_several_frames(facts, tmp_path):
    part = subprocess.run(["zstd", "-c"], input=b"noise\n" * 50000, capture_output=True, check=True, timeout=60).stdout
    last = subprocess.run(["zstd", "-c"], input=GID.encode(), capture_output=True, check=True, timeout=60).stdout
    (tmp_path / "log.zst").write_bytes(part + part + last)
    found = run("why", tmp_path / "log.zst", "--from", facts(NODE), "--json").json()
    assert found["decisive"]["line"] == 100001


def test_small_files_behind_each_other(facts, tmp_path):
    """All of them in one block, each of another length; make check-sanitize sees how their rests are moved."""
    parts = [subprocess.run(["zstd", "-c"], input=b"noise %d\n" % 10 ** i, capture_output=True, check=True,
                            timeout=60).stdout for i in range(40)]
    last = subprocess.run(["zstd", "-c"], input=GID.encode(), capture_output=True, check=True, timeout=60).stdout
    (tmp_path / "log.zst").write_bytes(b"".join(parts) + last)
    found = run("why", tmp_path / "log.zst", "--from", facts(NODE), "--json").json()
    assert found["decisive"]["line"] == 41


def test_damaged(facts, tmp_path):
    whole = gzip.compress(os.urandom(100000))
    (tmp_path / "log.gz").write_bytes(whole[:50000])
    result = run("why", tmp_path / "log.gz", "--from", facts(NODE))
    assert result.status == 4 and "damaged or cut off" in result.err and not result.out


def test_empty(why):
    for log in (b"", b"\n", b"\0\0\0", b"\x1b"):
        assert why(log)["result"] == "nothing"


# ---- hostile logs ----

def test_nothing_of_a_log_reaches_the_terminal(facts):
    evil = "gpu\x1b[2J:1:2 [0] " + GID + " \x1b]0;owned\x07 \u202egnp\u202c \x9b31m"
    for more in ((), ("--json",)):
        out = run("why", "-", "--from", facts(NODE), *more, input=evil.encode()).raw
        assert b"\x1b" not in out and b"\x07" not in out and b"\xe2\x80\xae" not in out and b"\x9b" not in out


def test_a_log_of_many_hosts_is_bounded(facts):
    text = "".join("h%d:%d:1 [0] %s\n" % (i, i, GID) for i in range(30000)).encode()
    found = run("why", "-", "--from", facts(NODE), "--json", input=text).json()
    assert found["log"]["cut"] and found["decisive"]["count"] == 30000
    assert found["log"]["hosts_count"] <= 4096 and len(found["log"]["hosts"]) == 256


def test_no_path_of_a_log_is_opened(facts, tmp_path):
    trap = tmp_path / "trap"
    os.mkfifo(trap)
    result = run("why", "--text", "%s %s" % (trap, GID), "--from", facts(NODE))
    assert result.status == 3


def peak_kib(args, block, times):
    """The most memory of the process that reads the log, while it waits for more."""
    with subprocess.Popen([program.binary(), *args], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          env=program.environment()) as process:
        for _ in range(times):
            process.stdin.write(block)
        process.stdin.flush()
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as file:
            reader = file.read().split()[0]
        with open("/proc/%s/status" % reader, encoding="ascii") as file:
            peak = int(re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.M).group(1))
        process.stdin.close()
        assert process.wait(program.TIMEOUT_S) == 3
    return peak


@pytest.mark.skipif(program.is_sanitized(), reason="a sanitizer needs memory of its own")
def test_memory_does_not_grow_with_the_log(facts):
    args = ["why", "-", "--from", facts(NODE)]
    block = ("gpu01:1:2 [0] NCCL INFO Using network IB\n" + "step 1 loss 2.0\n" * 60000 + GID + "\n").encode()
    peaks = [peak_kib(args, block, times) for times in (1, 100)]
    assert max(peaks) < 10240 and abs(peaks[1] - peaks[0]) < 2048, peaks


# ---- this node ----

def test_what_explains_it_is_shown_as_doctor_has_it(why, facts):
    found = why("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n", BROKEN)
    rules = [p["rule"] for p in found["answers"]["problems"]]
    assert "limits/memlock" in rules and found["explained"]
    doctor = run("doctor", "--json", "--from", facts(BROKEN)).json()
    wanted = [f for f in doctor["findings"] if f["rule"] == "limits/memlock" and f["verdict"] == "fail"]
    shown = next(p for p in found["answers"]["problems"] if p["rule"] == "limits/memlock")["findings"]
    assert shown == wanted
    text = run("why", "--text", "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
               "--from", facts(BROKEN)).out
    assert re.search(r"^ERR  .*(?:\n .*)? ?\[limits/memlock\]$", text, re.M) and "Restart slurmd.service" in text


def test_a_rule_is_in_one_list_only(why):
    for node in (NODE, BROKEN):
        answers = why("".join("%s\n" % example(p) for _, _, p in rows()), node)["answers"]
        lists = [{p["rule"] for p in answers["problems"]}, {f["rule"] for f in answers["ruled_out"]},
                 {f["rule"] for f in answers["not_checked"]}]
        assert not {f["rule"] for f in answers["notes"]} & lists[1]
        assert all(not a & b for i, a in enumerate(lists) for b in lists[i + 1:])
        assert all(f["verdict"] == "pass" for f in answers["ruled_out"])
        assert all(f["verdict"] == "unknown" for f in answers["not_checked"])


def test_the_likeliest_rules_that_are_ruled_out_are_named(why, facts):
    """In the order in which the message names them; five, and all with -v."""
    text = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    named = expand_rules(next(line.split("\t")[7] for line in open(TABLE) if line.startswith("nvidia-smi-no-driver\t")))
    passed = [f["rule"] for f in why(text + "\n")["answers"]["ruled_out"]]
    assert len(passed) > 6 and passed == [rule for rule in named if rule in passed]
    for more, shown in (((), passed[:5]), (("-v",), passed)):
        out = run("why", "--text", text, "--from", facts(NODE), *more).out
        listed = re.sub(r"\s+", " ", re.search(r"^Ruled out(.*?)(?=^\S)", out, re.M | re.S).group(1)).strip()
        rest = " and %d other rules: -v shows them" % (len(passed) - 5)
        assert listed == ", ".join(shown) + ("" if more else rest)


def test_problems_of_a_later_failure_are_no_cause_of_the_first(facts):
    text = "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n"
    other = "spank: required plugin x.so: plugin load failed\n"
    for lines, said in ((text + other, r"^\d problems? on this node can explain the failure"),
                        (other + text, "known to explain the first failure. .* can explain a later failure")):
        result = run("why", "-", "--from", facts(BROKEN), input=lines.encode())
        assert result.status == 1 and re.search(said, result.out.split("\n\n")[0].replace("\n", " ")), str(result)


# cudaGetDeviceCount() answers with the first one where no libcuda is found.
@pytest.mark.parametrize("text", (
    "CUDA driver version is insufficient for CUDA runtime version", "libcuda.so.1: cannot open shared object file",
    "libnvidia-ml.so.1: cannot open shared object file", "NCCL WARN Failed to open libnvidia-ml.so.1",
    "cannot find -lcuda", "Failed to load CUDA driver `libcuda.so.1`"))
def test_a_missing_library_of_the_driver_is_looked_for(text, why):
    assert "driver/libraries-missing" in {f["rule"] for f in why(text + "\n")["answers"]["ruled_out"]}


def test_a_profile_limits_the_rules(why):
    text = "NCCL INFO NET/IB : No device found.\n"
    def count(*args):
        answers = why(text, NODE, *args)["answers"]
        return len(answers["ruled_out"]) + len(answers["not_checked"])
    assert count("--profile", "base") < count()


def test_a_failure_of_another_host_is_said_so(why, facts):
    text = "%s:1:2 [0] NCCL INFO Using network IB\ngpu77:1:2 [0] %s\n" % (HOST, GID)
    assert why(text)["whose"] == "other-host"
    assert why(text.replace("gpu77", HOST + ".example.com"))["whose"] == "this-node"
    out = run("why", "-", "--from", facts(NODE), input=text.encode()).out
    assert "The first failure is on gpu77, not on this node." in out
    assert "does not explain the failure, which the log has of another host." in re.sub(r"\s+", " ", out)
    out = run("why", "-", "--from", facts(NODE), input=text.replace(HOST, "gpu78").encode()).out
    assert "The log does not name %s. It names gpu78, gpu77." % HOST in out
    for text in ("%s:1:2 [0] %s\n" % (HOST, GID), GID + "\n"):
        out = re.sub(r"\s+", " ", run("why", "-", "--from", facts(NODE), input=text.encode()).out)
        assert "does not explain the failure." in out and "another host" not in out, out


def test_a_capture_has_another_name(why):
    text = own(GID, "gpu77")
    assert why(text)["whose"] == "other-host"
    assert why(text, NODE, "--host", "gpu77")["whose"] == "this-node"
    assert why(text, NODE, "--host", "gpu7")["whose"] == "other-host"


def test_a_problem_of_this_node_explains_no_failure_of_another_host(why, facts):
    text = "%s:1:2 [0] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n"
    mine, other = text % "broken-01", text % "gpu77"
    assert why(mine, BROKEN)["explained"] and not why(other, BROKEN)["explained"]
    assert why(other, BROKEN)["answers"]["problems"] == why(mine, BROKEN)["answers"]["problems"] != []
    result = run("why", "-", "--from", facts(BROKEN), input=other.encode())
    assert result.status == 3
    assert "could explain the failure, but it is of another host." in re.sub(r"\s+", " ", result.out)
    assert run("why", "-", "--from", facts(BROKEN), input=mine.encode()).status == 1


def test_without_an_interface_no_name_is_the_cause(why):
    """The host name's address has no part in which interfaces there are."""
    answers = why("gpu77:1:2 [0] bootstrap.cc:37 NCCL WARN Bootstrap : no socket interface found\n", BROKEN)["answers"]
    assert "net/hostname-loopback" not in {f["rule"] for kind in answers.values() if isinstance(kind, list)
                                           for f in kind if isinstance(f, dict) and "rule" in f}


@pytest.mark.parametrize("line, rule", (
    ("W0511 06:52:17.204118      58 ucx_utils.cpp:581] memory is detected as host, check that UCX is configured with CUDA "
     "support", "env/ucx-gpu-transports"),
    ("Read -1, expected 131080, errno =1", "sysctl/ptrace-scope"),
))
def test_slower_paths_of_messages_without_the_word_error(line, rule, why):
    found = why((line + "\n") * 20)
    assert found["result"] == "fallback" and len(found["fallbacks"]) == 1
    assert rule in json.dumps(found["answers"])


# ---- where log and node contradict each other ----

def texts(found):
    return [d["text"] for d in found["differences"]]


def own(text, host=HOST):
    return "".join("%s:1:2 [0] %s\n" % (host, line) for line in text.splitlines())


def test_a_device_that_the_node_lacks(why):
    line = "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_77:1/IB [RO]; OOB eth0:192.0.2.1<0>"
    assert texts(why(own(line))) == [
        "The job chose the RDMA device mlx5_77; this node has no device of that name."]
    assert not texts(why(own(line, "gpu77") + own("NCCL INFO Using network IB")))


def test_a_version_that_the_node_lacks(why, node_facts, tmp_path):
    document = json.loads(node_facts(NODE))
    versions = [i["version"] for i in document["software"]["items"] if i["name"] == "nccl"]
    assert versions
    line = "NCCL version %s+cuda12.2\n"
    assert not texts(why(line % versions[0]))
    assert [t for t in texts(why(line % "2.7.8")) if "The job ran NCCL 2.7.8; this node has " + versions[0] in t]
    # Without a host it is this node's only where the log has no other host.
    assert not texts(why(line % "2.7.8" + own("NCCL INFO Using network IB", "gpu77")))


def test_gpudirect_off_although_the_node_can(why):
    row = next((p for name, kind, p in rows() if name == "nccl-gdr-disabled" or "GPU Direct RDMA Disabled" in p), None)
    if row is None:
        pytest.skip("no such row")
    found = why(own(example(row)))
    if any(f["name"] == "gdr" and f["value"] == "off" for f in found["log"]["facts"]):
        assert any("ran without GPUDirect RDMA; this node could" in t for t in texts(found))


# ---- the odd one out ----

def test_the_host_that_lacks_a_message_is_named(why):
    hosts = ["gpu%02d" % i for i in range(5)]
    text = "".join(own("NCCL INFO Using network IB", h) for h in hosts)
    text += "".join(own(WATCHDOG, h) for h in hosts if h != "gpu03")
    assert [o["host"] for o in why(text)["odd"]] == ["gpu03"]
    text += own(GID, "gpu02")
    assert "gpu02" in [o["host"] for o in why(text)["odd"]]


def test_the_host_with_another_value_is_named(why):
    hosts = ["gpu%02d" % i for i in range(5)]
    text = "".join(own("NCCL INFO NCCL_IB_TIMEOUT set by environment to %d." % (20 if h == "gpu04" else 22), h)
                   for h in hosts)
    odd = why(text)["odd"]
    assert [o["host"] for o in odd] == ["gpu04"]
    assert odd[0]["text"] == "NCCL_IB_TIMEOUT is 20 here and 22 on the 4 others"


# ---- documents ----

def test_documents_are_as_their_schema(why):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema.strict(schema.load("why")))
    logs = ["", GID, WATCHDOG, "".join("h%d:1:2 [0] %s\n" % (n, example(p)) for n, (_, _, p) in enumerate(rows()))]
    for name in sorted(os.listdir(LOGS)):
        with open(os.path.join(LOGS, name), encoding="utf-8") as file:
            logs.append(file.read())
    for log in logs:
        for node in (NODE, BROKEN):
            errors = ["/".join(map(str, e.absolute_path)) + ": " + e.message
                      for e in validator.iter_errors(why(log, node))]
            assert not errors, errors[:5]


def test_a_tree_and_a_capture_answer_as_well(node_tree, tmp_path):
    directory = node_tree(BROKEN)
    text = "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory"
    assert run("why", "--text", text, "--root", directory).status == 1
    assert run("capture", "--root", directory, "-o", tmp_path / "c").status == 0
    assert run("why", "--text", text, "--from", tmp_path / "c").status == 1
