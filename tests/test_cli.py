# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: what is wrong usage, what the exit status says, where output goes."""
import fcntl
import json
import os
import pty
import re
import resource
import select
import struct
import subprocess
import termios
import time

import pytest

from lib import limit, program
from lib.program import run

HEALTHY, BROKEN = "hgx-h100-ib", "broken-everything"


@pytest.fixture(scope="module")
def healthy(node_tree):
    return node_tree(HEALTHY)


@pytest.fixture(scope="module")
def broken(node_tree):
    return node_tree(BROKEN)


@pytest.mark.parametrize("args, said", [
    (["--nonsense"], "unknown option '--nonsense'"),
    (["-Z"], "unknown option '-Z'"),
    (["nonsense"], "unknown command 'nonsense'\n"),
    (["doctr"], "unknown command 'doctr'; did you mean doctor?"),
    (["help", "doctr"], "unknown command 'doctr'; did you mean doctor?"),
    (["--prfile", "deepep"], "unknown option '--prfile'; did you mean --profile?"),
    (["--prfile=deepep"], "unknown option '--prfile=deepep'; did you mean --profile?"),
    (["facts", "--jsn"], "unknown option '--jsn'\n"),
    (["--json=x"], "--json takes no value"),
    (["doctor", "-qZ"], "unknown option '-Z'"),
    (["doctor", "--config"], "--config needs a value"),
    (["topo", "more"], "unexpected 'more'"),
    (["explain"], "explain needs a RULE"),
    (["explain", "no/such-rule"], "no rule is called 'no/such-rule'"),
    (["doctor", "--root", "/", "more"], "--root and --from cannot be used together"),
    (["rules", "no/*"], "no rule matches 'no/*'"),
    (["--root"], "--root needs a value"),
    (["--root", "/", "--from", "x"], "--root and --from cannot be used together"),
    (["--quiet", "-o", "x"], "--quiet and --output cannot be used together"),
    (["--for", "provider", "--json"], "--for and --format cannot be used together"),
    (["--for", "provider", "--brief"], "--for and --brief cannot be used together"),
    (["--for", "me"], "unknown --for 'me'; choose provider"),
    (["undo", "--list", "x"], "--list takes no ID"),
    (["--profile", "everything"], "unknown profile 'everything'; choose from base, p2p"),
    (["--profile", ""], "unknown profile ''"),
    (["--fail-on", "bad"], "unknown --fail-on 'bad'; choose warn, err or crit"),
    (["--format", "yaml"], "unknown --format 'yaml'; choose text, html, json"),
    (["--format", "svg"], "unknown --format 'svg'; choose text, html, json"),
    (["--format", "xml"], "unknown --format 'xml'; choose text, html, json, jsonl, prometheus, nagios or npd\n"),
    (["--format", "xml", "topo"], "unknown --format 'xml'; choose text, json or svg\n"),
    (["facts", "--format", "xml"], "--format is not an option of facts"),
    (["topo", "--format", "man"], "unknown --format 'man'; choose text, json or svg"),
    (["facts", "--json"], "--json is not an option of facts"),
    (["--color", "sometimes"], "unknown --color 'sometimes'; choose auto, always or never"),
    (["--pid", "0"], "--pid '0' is not a process id"),
    (["--pid", "many"], "--pid 'many' is not a process id"),
    (["--pid", "99999999999"], "is not a process id"),
    (["--only", "no/such-rule"], "--only 'no/such-rule' matches no rule"),
    (["--skip", "no/such-rule"], "--skip 'no/such-rule' matches no rule"),
    (["facts", "--only", "pci/*"], "--only is not an option of facts"),
    (["capture"], "capture needs -o FILE"),
    (["facts", "no.such.fact", "--root", "."], "no.such.fact: no such fact"),
    (["doctor", "--from", "a", "--from", "b"], "--from is given twice"),
    (["facts", "-o", "/no/such/a", "--output", "/no/such/b"], "--output is given twice"),
    (["--fail-on", "err", "--fail-on", "warn"], "--fail-on is given twice"),
    (["--format", "text", "--json"], "--format and --json cannot be used together"),
])
def test_usage_error(args, said):
    result = run(*args)
    assert result.status == 2, str(result)
    assert said in result.err
    assert result.err.startswith("nvnodecheck: ")
    assert result.out == ""


def test_usage_error_points_to_help():
    result = run("topo", "more")
    assert result.err.splitlines()[-1] == "Try 'nvnodecheck topo --help'."


@pytest.mark.parametrize("args, said", [
    (["--root", "/no/such/folder"], "/no/such/folder: No such file or directory"),
    (["--from", "/no/such/file"], "/no/such/file: No such file or directory"),
    (["capture", "--root", ".", "-o", "/no/such/folder/x"], "/no/such/folder/x: No such file"),
    (["topo", "--from", "/no/such/file"], "/no/such/file: No such file or directory"),
    (["--root", "Makefile"], "Makefile: Not a directory"),
    (["facts", "--from", "tests"], "tests: Is a directory"),
    (["diff", "/no/such/folder"], "/no/such/folder: No such file or directory"),
    (["doctor", "/no/such/file"], "/no/such/file: No such file or directory"),
])
def test_cannot(args, said):
    result = run(*args, cwd=program.TOP)
    assert result.status == 4, str(result)
    assert said in result.err
    assert result.out == ""


@pytest.mark.parametrize("verb", ["", "doctor", "explain", "rules", "facts", "capture", "topo",
                                  "expect"])
def test_help(verb):
    result = run(*([verb] if verb else []), "--help")
    assert result.status == 0 and result.err == ""
    assert result.out.startswith("Usage: nvnodecheck")
    assert all(len(line) <= 80 for line in result.out.splitlines())


def test_help_is_a_verb_too():
    assert run("help").raw == run("--help").raw
    assert run("help", "topo").raw == run("topo", "--help").raw != run("--help").raw


def test_help_names_every_option_of_a_verb():
    text = run("capture", "--help").out
    assert "--output" in text and "--root" in text and "--only" not in text


def test_version():
    result = run("--version")
    assert result.status == 0 and re.fullmatch(r"nvnodecheck [0-9]+\.[0-9]+\.[0-9]+\S*\n", result.out)


@pytest.mark.parametrize("verb", ["doctor", "preflight", "fix"])
def test_a_configuration_is_looked_for_in_the_tree(verb, broken, tmp_path):
    """One that is here and not there is told as that; one that is there counts."""
    here = tmp_path / "mine.conf"
    here.write_text("[check]\nprofile = base\n")
    result = run(verb, "--root", broken, "--config", here)
    assert result.status == 2, str(result)
    assert "--config %s is read below --root, and there is no %s%s\n" % (
        here, broken, here) in result.err
    result = run(verb, "--config", tmp_path / "none")
    assert result.status == 2 and "none: No such file or directory" in result.err, str(result)


@pytest.mark.parametrize("args", [["topo"], ["topo", "--json"], ["topo", "--format", "svg"], ["expect"],
                                  ["expect", "--json"], ["rules"], ["rules", "--format", "man"],
                                  ["explain", "driver/loaded"], ["explain", "--json", "driver/loaded"]],
                         ids=" ".join)
def test_output_of_each_verb_goes_into_a_file(args, healthy, tmp_path):
    where = ["--root", healthy] if args[0] in ("topo", "expect") else []
    shown, written = run(*args, *where), run(*args, *where, "-o", tmp_path / "file")
    assert (written.status, written.out, written.err) == (0, "", ""), str(written)
    assert (tmp_path / "file").read_bytes() == shown.raw and os.listdir(str(tmp_path)) == ["file"]
    assert run(*args, *where, "-o", tmp_path / "none" / "file").status == 4


# ---- exit status ----

def test_status_follows_fail_on(broken):
    report = program.report(broken, "--profile", "deepep")
    worst = {f["severity"] for f in report["findings"] if f["verdict"] in ("fail", "pending")}
    order = ["warn", "err", "crit"]
    for severity in order:
        above = any(order.index(w) >= order.index(severity) for w in worst)
        result = run("--root", broken, "--profile", "deepep", "--fail-on", severity, "-q")
        assert result.status == (1 if above else 0), severity


def test_quiet_says_nothing(broken):
    result = run("--root", broken, "-q")
    assert result.out == "" and result.err == ""


def test_strict(stages):
    """What cannot be told counts with --strict alone."""
    stage = stages("strict")
    os.makedirs(os.path.join(stage.directory, "etc"), exist_ok=True)
    assert run("--root", stage.directory, "--fail-on", "crit", "-q").status == 0
    assert run("--root", stage.directory, "--fail-on", "crit", "-q", "--strict").status == 3
    os.rmdir(os.path.join(stage.directory, "etc"))


def rules_of(report):
    return {f["rule"] for f in report["findings"]}


def test_what_may_be_given_twice(healthy):
    """Lists grow, and a flag says the same again."""
    report = program.report(healthy, "--profile", "p2p", "--profile", "deepep", "--json", "--only",
                            "pci/*", "--only", "driver/*")
    assert report["profiles"] == ["base", "p2p", "gpudirect-rdma", "deepep"]
    assert {r.split("/")[0] for r in rules_of(report)} == {"pci", "driver"}


def test_only_and_skip(healthy):
    everything = rules_of(program.report(healthy))
    assert "driver/loaded" in everything
    assert rules_of(program.report(healthy, "--only", "driver/loaded")) == {"driver/loaded"}
    assert rules_of(program.report(healthy, "--only", "driver/*")) == {
        r for r in everything if r.startswith("driver/")} | rules_of(
        program.report(healthy, "--only", "driver/*", "--profile", "deepep,p2p"))
    assert rules_of(program.report(healthy, "--skip", "driver/*")) == {
        r for r in everything if not r.startswith("driver/")}
    left = rules_of(program.report(healthy, "--only", "driver/*", "--skip", "driver/loaded"))
    assert "driver/loaded" not in left


def test_profiles(healthy, node_tree):
    def profiles(directory, *args):
        return program.report(directory, *args)["profiles"]
    assert profiles(healthy) == ["base", "gpudirect-rdma"]
    assert profiles(healthy, "--profile", "base") == ["base"]
    assert profiles(healthy, "--profile", "deepep") == ["base", "gpudirect-rdma", "deepep"]
    assert profiles(healthy, "--profile", "p2p,gpudirect-rdma") == ["base", "p2p", "gpudirect-rdma"]
    assert profiles(node_tree("rtx4090-p2p")) == ["base", "p2p"]
    assert profiles(node_tree("laptop")) == ["base"]
    assert profiles(node_tree("no-gpu-server")) == ["base", "rdma"]
    assert profiles(healthy, "--profile", "rdma") == ["base", "rdma"]
    assert profiles(healthy, "--profile", "rdma,gpudirect-rdma") == ["base", "gpudirect-rdma"]
    assert profiles(healthy, "--profile", "deepep,rdma") == ["base", "gpudirect-rdma", "deepep"]


def test_profiles_not_requested(healthy, node_tree):
    """RDMA is no question where nothing could do it, or where a profile includes it."""
    def left(directory, *args):
        return [h["profile"] for h in program.report(directory, *args)["not_evaluated"]]
    assert "rdma" in left(healthy, "--profile", "base")
    assert "rdma" not in left(healthy)
    assert "rdma" not in left(healthy, "--profile", "rdma")
    assert "rdma" not in left(node_tree("laptop"))


# ---- output ----

def test_text_is_plain_where_nobody_looks(broken):
    assert "\x1b" not in run("--root", broken).out


def on_terminal(*args, **env):
    main, other = pty.openpty()
    process = subprocess.Popen([program.binary(), *args], stdout=other, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=program.environment(TERM="xterm", **env))
    os.close(other)
    out = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(main)
    process.wait(timeout=program.TIMEOUT_S)
    return out.decode()


class Terminal:
    """ARGS, whose output is longer than the terminal, as somebody at one starts it."""

    def __init__(self, binary, before=lambda: None, args=("rules",)):
        self.seen = b""
        self.pid, self.main = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            before()
            os.execve(binary, [binary, *args], program.environment(TERM="xterm"))

    def read(self, enough):
        """Until ENOUGH is seen, or nobody writes any more."""
        end = time.monotonic() + program.TIMEOUT_S
        while enough not in self.seen and time.monotonic() < end:
            if select.select([self.main], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.main, 65536)
                except OSError:
                    break
        return self.seen

    def type(self, key):
        os.write(self.main, key)
        time.sleep(0.5)
        return os.waitpid(self.pid, os.WNOHANG) != (0, 0)


@pytest.mark.skipif(not os.path.exists("/usr/bin/less"), reason="less is not installed")
def test_interrupt_is_for_the_pager():
    """Else the shell and the pager read the same terminal."""
    terminal = Terminal(program.binary())
    assert b"boot/" in terminal.read(b"boot/")
    pager, = limit.descendants(terminal.pid)
    with open("/proc/%d/environ" % pager, "rb") as file:
        variables = file.read().split(b"\0")
    # It starts no shell, and writes no file in root's home.
    assert b"LESSSECURE=1" in variables and b"LESSHISTFILE=-" in variables
    assert not terminal.type(b"\x03"), "it left its pager alone"
    assert any(terminal.type(b"q") for _ in range(20))
    os.close(terminal.main)


@pytest.mark.skipif(os.geteuid() != 0, reason="root can become somebody who may have no more processes")
def test_text_is_shown_where_no_pager_can_be_started():
    def no_more_processes():
        os.setgid(program.NOBODY)
        os.setuid(program.NOBODY - 7)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))

    terminal = Terminal(program.for_everybody(program.binary()), no_more_processes)
    assert b"virt/" in terminal.read(b"virt/")
    assert os.waitpid(terminal.pid, 0)[1] == 0
    os.close(terminal.main)


COMMANDS = [["doctor"], ["facts"], ["capture", "-o", "-"], ["topo"], ["fix"], ["preflight"], ["rules"], ["doctor", "--format", "html"]]
# What the dynamic loader needs before it starts the program is more than in smaller limits.
LIMITS = [(resource.RLIMIT_STACK, 16 << 10), (resource.RLIMIT_STACK, 32 << 10), (resource.RLIMIT_STACK, 64 << 10),
          (resource.RLIMIT_STACK, 256 << 10), (resource.RLIMIT_AS, 20 << 20), (resource.RLIMIT_AS, 60 << 20),
          (resource.RLIMIT_AS, 150 << 20), (resource.RLIMIT_DATA, 1 << 20), (resource.RLIMIT_DATA, 4 << 20),
          (resource.RLIMIT_NOFILE, 4), (resource.RLIMIT_NOFILE, 5), (resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_NOFILE, 12),
          (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_FSIZE, 1000)]


@pytest.mark.skipif(program.is_sanitized(), reason="the sanitizers need address space themselves")
@pytest.mark.parametrize("kind, value", LIMITS)
def test_small_limits(kind, value, broken, tmp_path):
    """A limit ends no command by a signal: it does its work, or says why it cannot."""
    for command in COMMANDS:
        tree = [] if command[0] in ("preflight", "rules") else ["--root", broken]
        with open(tmp_path / "out", "wb") as out:
            result = run(*command, *tree, stdout=out, preexec_fn=lambda: resource.setrlimit(kind, (value, value)))
        said = result.err + (tmp_path / "out").read_text(errors="replace")
        assert result.status in (0, 1, 3, 4), str(result)
        assert result.status != 4 or said.strip(), str(result)
        if kind == resource.RLIMIT_STACK:
            assert (result.status == 4 and "stack is less than 256 KiB" in result.err) == (value < 256 << 10), str(result)


def test_colour_on_a_terminal(broken):
    assert "\x1b[" in on_terminal("--root", broken, "--no-pager")
    assert "\x1b[" not in on_terminal("--root", broken, "--no-pager", NO_COLOR="1")
    assert "\x1b[" not in on_terminal("--root", broken, "--no-pager", "--color", "never")
    assert "\x1b[" in run("--root", broken, "--color", "always").out


def test_json_is_one_document(broken):
    result = run("--json", "--root", broken)
    assert json.loads(result.out)["format"] == "nvnodecheck-report"
    assert result.err == ""
    assert run("--format", "json", "--root", broken).json()["format"] == "nvnodecheck-report"


# Every verb that writes, in each of its formats.
WRITES = [[verb, "--format", form, "--root", "TREE"] for verb, forms in (
    ("doctor", "text html json jsonl prometheus nagios npd"), ("topo", "text json svg"),
    ("fix", "text json"), ("expect", "text json"),
    ("preflight", "text json jsonl prometheus nagios npd"),
) for form in forms.split()] + [
    ["facts", "--root", "TREE"], ["facts", "os", "--root", "TREE"],
    ["capture", "--root", "TREE", "-o", "-"],
    ["undo", "--list", "--root", "TREE"], ["undo", "--list", "--json", "--root", "TREE"],
    ["diff", "FACTS", "OTHER"], ["diff", "--json", "FACTS", "OTHER"],
    ["diff", "--format", "html", "FACTS", "OTHER"], ["doctor", "--from", "FACTS", "OTHER"],
    ["doctor", "--format", "jsonl", "--from", "FACTS", "OTHER"],
    ["rules"], ["rules", "--json"], ["rules", "--format", "man"], ["explain", "driver/loaded"],
    ["explain", "--json", "driver/loaded"], ["--help"], ["--version"], ["doctor", "--help"],
]
# For their consumers these end with statuses of their own: 3 and 2 are UNKNOWN.
FAILURE = {"nagios": 3, "npd": 2}


@pytest.fixture(scope="module")
def writer(broken, healthy, tmp_path_factory):
    """writer(ARGS, ...): runs them on a broken node, which has something to say in each."""
    folder = tmp_path_factory.mktemp("facts")
    for name, tree in (("FACTS", broken), ("OTHER", healthy)):
        (folder / name).write_bytes(run("facts", "--root", tree).raw)

    def write(args, **more):
        return run(*[{"TREE": broken}.get(a, folder / a if a in ("FACTS", "OTHER") else a)
                     for a in args], **more)
    return write


def failure(args):
    return next((FAILURE[a] for a in args if a in FAILURE), 4)


@pytest.mark.parametrize("args", WRITES, ids=" ".join)
def test_full_disk(args, writer):
    with open("/dev/full", "wb") as full:
        result = writer(args, stdout=full)
    assert result.status == failure(args), str(result)
    assert "No space left on device" in result.err


@pytest.mark.parametrize("args", WRITES, ids=" ".join)
def test_reader_that_leaves(args, writer):
    """doctor | head: no message of a broken pipe, no signal."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        result = writer(args, stdout=gone)
    assert result.status == failure(args), str(result)
    assert result.err == ""


@pytest.mark.parametrize("args", WRITES, ids=" ".join)
def test_closed_output(args, writer):
    """Standard output that nobody opened leads nowhere, and is no file that is opened meanwhile."""
    close = "import os, sys; os.close(1); os.execvp(sys.argv[1], sys.argv[1:])"
    result = writer(args, wrap=["/usr/bin/python3", "-c", close])
    assert result.out == "" and result.err == "" and result.status == writer(args).status


def test_capture_to_a_full_disk(broken):
    result = run("capture", "--root", broken, "-o", "/dev/full")
    assert result.status == 4, str(result)


def test_capture_is_its_owners(broken, tmp_path):
    """Also where a file was there that everybody may read."""
    file = tmp_path / "capture"
    for before in (None, "x" * 1000000):
        if before:
            file.write_text(before)
            file.chmod(0o644)
        assert run("capture", "--root", broken, "-o", file).status == 0
        assert file.stat().st_mode & 0o777 == 0o600
        assert "x" * 100 not in file.read_text()


def test_capture_on_a_full_disk_leaves_the_old_one(broken, tmp_path):
    file = tmp_path / "capture"
    script = ("mount -t tmpfs -o size=64k tmpfs %s; echo old > %s; \"$@\" || status=$?; cat %s; ls -A %s; "
              "exit $status" % (tmp_path, file, file, tmp_path))
    result = run("capture", "--root", broken, "-o", file,
                 wrap=program.with_own_mounts() + ["sh", "-ec", script, "sh"])
    assert result.status == 4 and "No space left" in result.err, str(result)
    assert result.out == "old\ncapture\n"


@pytest.mark.parametrize("close", ["1", "0,1,2", "2"])
def test_closed_standard_files(close, broken, tmp_path):
    """A file that the program opens must not become its standard output."""
    script = "import os, sys\nfor fd in (%s,): os.close(fd)\nos.execv(sys.argv[1], sys.argv[1:])" % close
    out = tmp_path / "capture"
    process = subprocess.run(
        ["/usr/bin/python3", "-c", script, program.binary(), "capture", "--root", broken, "-o",
         str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=program.environment(), timeout=program.TIMEOUT_S)
    assert process.returncode == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line) for line in lines) and len(lines) > 5


def test_standard_input(broken, tmp_path):
    facts = run("facts", "--root", broken)
    assert run("facts", "--from", "-", input=facts.raw).out == facts.out


def test_every_rule_explains_itself():
    for rule in run("rules", "--json").json()["rules"]:
        result = run("explain", rule["id"])
        assert result.status == 0 and rule["id"] in result.out
        assert all(len(line) <= 100 for line in result.out.splitlines())


@pytest.mark.parametrize("words, found", [
    (["modules/nouveau-loaded"], ["modules/nouveau-loaded"]),
    (["nouveau"], ["modules/nouveau-loaded"]),		# a part of one name
    (["peer", "mapping", "override"], ["driver/peer-mapping-override"]),
    (["driver/load"], ["driver/loaded"]),
    (["cudaHostRegister"], None),			# a word of the text
])
def test_explain_takes_words(words, found):
    result = run("explain", *words)
    assert result.status == 0 and result.err == "", str(result)
    ids = [rule["id"] for rule in run("explain", "--json", *words).json()["rules"]]
    assert ids and (found is None or ids == found)
    assert all(rule in result.out for rule in ids)
    if len(ids) > 1:
        assert "name one of them" in result.out


@pytest.mark.parametrize("words, all_have", [(["acs"], "acs"), (["pci"], "pci/"), (["pci/*"], "pci/"),
                                             (["BAR1", "small"], "pci/bar1-too-small")])
def test_rules_takes_words(words, all_have):
    ids = [rule["id"] for rule in run("rules", "--json", *words).json()["rules"]]
    assert ids and all(all_have in rule for rule in ids)


def test_explain_finds_the_near_one():
    result = run("explain", "driver/laoded")
    assert result.status == 2 and "did you mean driver/loaded?" in result.err


# ---- files ----

@pytest.mark.parametrize("program_of, ending", [("gzip", ".gz"), ("xz", ".xz"), ("zstd", ".zst")])
def test_compressed_files(program_of, ending, healthy, tmp_path):
    """As people send them; two streams behind each other are one text."""
    file = tmp_path / "node.capture"
    assert run("capture", "--no-redact", "--root", healthy, "-o", file).status == 0
    wanted = run("doctor", "-v", file)
    assert wanted.status == 0
    half = file.stat().st_size // 2
    for name, parts in (("whole", [file.read_bytes()]), ("two", [file.read_bytes()[:half], file.read_bytes()[half:]])):
        packed = tmp_path / (name + ".capture" + ending)
        packed.write_bytes(b"".join(subprocess.run([program_of, "-c"], input=part, stdout=subprocess.PIPE,
                                                   check=True).stdout for part in parts))
        assert run("doctor", "-v", packed).out == wanted.out
        assert run("topo", "--from", packed).out == run("topo", "--from", file).out
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    packed.rename(fleet / ("node-7.capture" + ending))
    assert run("doctor", "-v", fleet).out.startswith("node-7: ")


@pytest.mark.parametrize("program_of", ["gzip", "xz", "zstd"])
@pytest.mark.parametrize("spoil", [lambda b: b[:len(b) // 2], lambda b: b + b"more",
                                   lambda b: b[:40] + b"\xff" * 40 + b[80:]], ids=["cut", "more", "damaged"])
def test_compressed_files_that_are_not_right(program_of, spoil, healthy, tmp_path):
    file = tmp_path / "node"
    packed = subprocess.run([program_of, "-c"], input=run("facts", "--root", healthy).raw, stdout=subprocess.PIPE,
                            check=True).stdout
    file.write_bytes(spoil(packed))
    result = run("doctor", file)
    assert result.status == 4 and result.out == ""
    assert re.search(r"node: (%s: damaged or cut off)" % program_of, result.err), result.err


def test_compressed_file_that_unpacks_to_too_much(tmp_path):
    file = tmp_path / "bomb"
    with open(file, "wb") as out:
        subprocess.run("head -c 300000000 /dev/zero | zstd -c", shell=True, stdout=out, check=True)
    result = run("doctor", file)
    assert result.status == 4 and "zstd unpacks to more than 128 MiB" in result.err


def test_compressed_file_without_the_library(healthy, tmp_path, hide):
    file = tmp_path / "node.gz"
    file.write_bytes(subprocess.run(["gzip", "-c"], input=run("facts", "--root", healthy).raw,
                                    stdout=subprocess.PIPE, check=True).stdout)
    result = run("doctor", file, env=hide("libarchive.so.13"))
    assert result.status == 4 and "it is compressed, and libarchive is not installed" in result.err


# ---- the question of fix --apply ----

@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes a tree")
def test_the_question_is_asked_where_it_can_be_read(tmp_path):
    """Not behind a pager: the plan is longer than the screen, and nobody presses a key before the question."""
    from lib import node, tree
    directory = str(tmp_path / "node")
    tree.Stage(directory).put(node.tree_of("broken-everything"))
    terminal = Terminal(program.binary(), args=["fix", "--apply", "--root", directory])
    assert b"[y/N]" in terminal.read(b"[y/N]")
    os.write(terminal.main, b"n\n")
    assert b"nothing was changed" in terminal.read(b"nothing was changed")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == 4
    os.close(terminal.main)


def test_one_fact(broken):
    assert run("facts", "driver.version", "--root", broken).out == '"550.90.07"\n'
    missing = run("facts", "driver.params[NoSuchParam].value", "--root", broken)
    assert missing.status == 4 and "no such item" in missing.err


# ---- configuration ----

def test_config_file(broken, tmp_path):
    config = tmp_path / "nvnodecheck.conf"
    config.write_text("[check]\nprofile = p2p\nfail-on = crit\n"
                      "[rule driver/loaded]\nseverity = off\nreason = tried\n")
    report = program.report(broken, "--profile", "base")
    assert report["profiles"] == ["base"]
    # Through the same root as everything else.
    target = os.path.join(broken, "etc", "test.conf")
    with open(target, "w", encoding="utf-8") as file:
        file.write(config.read_text())
    try:
        report = program.report(broken, "--config", "/etc/test.conf")
    finally:
        os.unlink(target)
    assert report["profiles"] == ["base", "p2p"]
    assert "/etc/test.conf" in report["profiles_reason"]
    off = [f for f in report["findings"] if f["rule"] == "driver/loaded"]
    assert off[0]["off"] is True and off[0]["configured_reason"] == "tried"


@pytest.mark.parametrize("text, line, what", [
    ("[check]\nprofile = all\n", 2, "unknown profile"),
    ("[check]\nfail-on = red\n", 2, "fail-on"),
    ("[check]\nnonsense = 1\n", 2, "unknown key"),
    ("[nonsense]\na = 1\n", 2, "unknown section"),
    ("[check]\n[chek]\n# strict = yes\n", 2, "unknown section"),
    ("[check]\nprofle = base\n", 2, "in [check]; did you mean profile"),
    ("[expect]\ngpu-cont = 8\n", 2, "in [expect]; did you mean gpu-count"),
    ("[limits]\n[check\nstrict = yes\n", 2, "without the closing ]"),
    ("nonsense\n", 1, ""),
    ("[expect]\ngpu-count = many\n", 2, "a number"),
    ("[rule no/such-rule]\nseverity = off\nreason = x\n", 2, "no rule is called"),
    ("[rule driver/loaded]\nseverity = blue\nreason = x\n", 2, "severity"),
    ("[check]\nstrict = perhaps\n", 2, "yes or no"),
    ("[check]\n# %s\n" % ("x" * 400), 2, "more than 199 bytes"),
    ("[check]\n\0\n", 2, "NUL"),
])
def test_config_error(text, line, what, scratch):
    from lib import node, textform
    edit = textform.Statement("test", 1, "file /etc/nvnodecheck.conf")
    edit.block = text.split("\n")[:-1]
    scratch.put(node.tree_of("laptop", [edit]))
    result = run("--root", scratch.directory)
    assert result.status == 2, str(result)
    assert "/etc/nvnodecheck.conf:%d: " % line in result.err and what in result.err
    assert result.out == ""


def test_config_without_reason(scratch):
    from lib import node, textform
    edit = textform.Statement("test", 1, "file /etc/nvnodecheck.conf")
    edit.block = ["[rule driver/peer-mapping-override]", "severity = off", "reason = x", "# of  driver/loaded]",
                  "[rule driver/loaded]", "severity = off"]
    scratch.put(node.tree_of("laptop", [edit]))
    result = run("--root", scratch.directory)
    assert result.status == 2 and "nvnodecheck.conf:5: [rule driver/loaded] has no reason" in result.err
