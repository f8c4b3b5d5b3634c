# SPDX-License-Identifier: GPL-2.0-or-later
"""Files from strangers take no more memory and time than SECURITY.md says. Bounds are also tested where they are one
of many: `test_growth.py`, `test_bad_input.py`."""
import gzip
import json
import os
import re
import subprocess
import time

import pytest

from lib import elf, lists, program
from lib.long import or_short
from lib.program import run

MIB = 1 << 20
HEAD = '{"format":"nvnodecheck-%s","format_version":[1,%d],"tool_version":"1"%s\n'
CAPTURE = HEAD % ("capture", 0, "}")
# src/cli/from-file.h, src/host/host.h, src/facts/fact.h
FROM_MAX = 128 * MIB
FROM_PACKED_MAX = 32 * MIB
RECORDS_MAX = 1 << 18
ITEMS_MAX = 16384


def write(path, pieces):
    with open(path, "w") as file:
        for piece in pieces:
            file.write(piece)


def records(n, text='{"read":"/etc/x%d","text":"a"}\n'):
    return "".join(text % i for i in range(n))


# Each has just less than is refused.
LARGE = {
    "many records": lambda: [CAPTURE, records(RECORDS_MAX - 1)],
    "names with escapes": lambda: [CAPTURE, records(RECORDS_MAX - 1, '{"read":"\\/etc/x%d","text":"a"}\n')],
    "one record": lambda: [CAPTURE, '{"read":"/etc/x","text":"%s"}\n' % ("a" * (60 * MIB))],
    "a file that is read": lambda: [CAPTURE, '{"read":"/proc/cmdline","text":"%s"}\n' % ("a" * (60 * MIB))],
    "base64": lambda: [CAPTURE, '{"read":"/proc/cmdline","base64":"%s"}\n' % ("AAAA" * (15 * MIB))],
    "names of a folder": lambda: [CAPTURE, '{"list":"/sys/class/net","names":[%s"a"]}\n' % ('"a",' * (15 * MIB))],
    "an answer": lambda: [CAPTURE, '{"query":"pci","answer":{"devices":[%s{}]}}\n' % ("{}," * (20 * MIB))],
    "first line": lambda: [HEAD % ("capture", 0, ',"x":[%s1]}' % ("1," * (30 * MIB)))],
    "version": lambda: [CAPTURE.replace("[1,0]", "[%s1]" % ("1," * (30 * MIB)))],
    "facts that are not known": lambda: [HEAD % ("facts", 9, ',"x":[%s1]}' % ("1," * (30 * MIB)))],
    "a string": lambda: [HEAD % ("facts", 0, ',"os":{"hostname":"%s"}}' % ("a" * (15 * MIB)))],
    "blanks": lambda: [HEAD % ("facts", 0, " " * (60 * MIB) + "}")],
}


@pytest.mark.parametrize("name", LARGE)
def test_memory_of_a_file(name, tmp_path):
    """Twice its size and 64 MiB, as SECURITY.md says. Objects of json-c took fifty times its size."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes memory of its own")
    path = str(tmp_path / "node")
    write(path, LARGE[name]())
    size = os.path.getsize(path)
    result, peak, _ = program.run_measured("doctor", "--quiet", "--from", path)
    assert result.status in ((4,) if name == "version" else (0, 1, 3)), str(result)
    assert peak << 10 < 2 * size + 64 * MIB, (peak, size)


def test_memory_of_a_proof(tmp_path):
    """The document of --with. Its objects took twenty-five times its size."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes memory of its own")
    node, proof = tmp_path / "node.json", tmp_path / "proof.json"
    node.write_text(HEAD % ("facts", 0, "}"))
    for rest in (',"proof":{},"x":[%s1]}' % ("1," * (7 * MIB)), ',"proof":{"x":[%s1]}}' % ("1," * (7 * MIB))):
        proof.write_text(HEAD % ("proof", 9, rest))
        result, peak, _ = program.run_measured("doctor", "--quiet", "--from", node, "--with", proof)
        assert result.status == 4 and "made on another node" in result.err, str(result)
        assert peak << 10 < 2 * proof.stat().st_size + 64 * MIB, peak
    proof.write_text(HEAD % ("proof", 0, ',"proof":{},"x":"%s"}' % ("x" * (16 * MIB))))
    result = run("doctor", "--from", node, "--with", proof)
    assert result.status == 4 and "proof.json: more than 16 MiB" in result.err, str(result)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_too_many_records(packed, tmp_path):
    path = tmp_path / "node"
    text = (CAPTURE + records(RECORDS_MAX + 1)).encode()
    path.write_bytes(gzip.compress(text, 1) if packed else text)
    result = run("doctor", "--from", path)
    assert (result.status, result.out) == (4, ""), str(result)
    assert "node:%d: more than %d records" % (RECORDS_MAX + 2, RECORDS_MAX) in result.err


def test_too_many_items(tmp_path):
    path = tmp_path / "node"
    for items, refused in (("[%s{}]" % ("{}," * (ITEMS_MAX - 1)), False), ("[%s{}]" % ("{}," * ITEMS_MAX), True)):
        path.write_text(HEAD % ("facts", 0, ',"net":{"routes":%s}}' % items))
        result = run("facts", "os.hostname", "--from", path)
        assert (result.status == 4) == refused, str(result)
        assert ("net.routes: more than %d items" % ITEMS_MAX in result.err) == refused


def test_too_many_bytes(tmp_path):
    """A file with holes, and a packed one whose text has the format's beginning."""
    path = tmp_path / "node"
    with open(path, "wb") as file:
        file.truncate(FROM_MAX + 1)
    result = run("doctor", "--from", path)
    assert result.status == 4 and "node: more than 128 MiB" in result.err, str(result)
    path.write_bytes(gzip.compress(CAPTURE.encode()) + bytes(FROM_PACKED_MAX))
    result = run("doctor", "--from", path)
    assert result.status == 4 and "node: gzip: more than 32 MiB" in result.err, str(result)


# ---- time ----

@pytest.mark.parametrize("command", ["doctor", "facts", "topo"])
def test_a_pipe_that_does_not_end(command):
    started = time.monotonic()
    with subprocess.Popen([program.binary(), command, "--timeout", "0.5", "--from", "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.environment()) as process:
        process.stdin.write(CAPTURE.encode())
        process.stdin.flush()
        assert process.wait(timeout=program.TIMEOUT_S) == 4
        assert b"-: not read within 0.5 s (--timeout)" in process.stderr.read()
    assert time.monotonic() - started >= 0.5


def has_ended(result, file, seconds):
    """The program gave FILE up. On a busy machine the clock can run out before the processor time."""
    return re.search(r"%s: ((\w+: )?not read within %g s \(--timeout\)|it took more than %g s of processor time)"
                     % (re.escape(file), seconds, seconds), result.err)


def test_packed_files_without_content(tmp_path):
    """A million of them behind each other unpack to nothing, and each takes its time."""
    path = tmp_path / "node"
    empty = subprocess.run(["zstd", "-c"], input=b"", stdout=subprocess.PIPE, check=True).stdout
    path.write_bytes(empty * 1000000)
    result, _, cpu = program.run_measured("doctor", "--timeout", "0.2", "--from", path)
    assert result.status == 4 and cpu < 5, (str(result), cpu)
    assert has_ended(result, "node", 0.2), str(result)


def test_processor_time_of_a_file(tmp_path):
    """What is made of the file counts too. In a fleet it costs this file alone."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    text = HEAD % ("facts", 0, ',"os":{"hostname":"%s"}}')
    (folder / "slow.json").write_text(HEAD % ("facts", 9, ',"x":[%s1]}' % ("1," * (60 * MIB))))
    for i in range(10):
        (folder / ("good%d.json" % i)).write_text(text % ("n%d" % i))
    result = run("doctor", "--timeout", "0.05", "--from", folder)
    assert result.status == 4, str(result)
    assert has_ended(result, "slow.json", 0.05), str(result)
    assert "; 1 file could not be read" in result.out


# ---- the files of a node ----

UNIT = "nvidia-persistenced.service"


def node_root(tmp_path, files):
    for path, content in {"/etc/systemd/system/" + UNIT: b"[Service]\nExecStart=/opt/daemon\n[Install]\nWantedBy=multi-user.target\n", "/proc/1/comm": b"systemd\n",
                          "/lib64/empty": b"", "/usr/lib/empty": b"", **files}.items():
        file = tmp_path / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    wants = tmp_path / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir()
    (wants / UNIT).symlink_to("/etc/systemd/system/" + UNIT)
    return tmp_path


def chain(count):
    """Libraries of which each needs the next sixty-four."""
    return {"/usr/lib64/lib%d.so" % i: elf.program("x86_64", ["lib%d.so" % k for k in range(64 * i + 1, 64 * i + 65)
                                                             if k < count], soname="lib%d.so" % i)
            for i in range(count - 1)}


@pytest.mark.parametrize("files, missing", [
    ({"/usr/lib64/lib0.so": elf.program("x86_64", soname="lib0.so")}, []),
    ({"/usr/lib64/lib0.so": elf.program("x86_64", ["gone.so"], soname="lib0.so", others=1000)}, ["gone.so"]),
    ({"/usr/lib64/lib0.so": elf.program("x86_64", ["gone.so"], soname="lib0.so", others=1100)}, "unknown"),
    (chain(100), ["lib99.so"]), (chain(400), "unknown"),
], ids=["few", "entries", "too many entries", "libraries", "too many libraries"])
def test_elf(files, missing, tmp_path):
    """What was not read of a program names no library that is missing, and does not say that none is."""
    root = node_root(tmp_path, {"/opt/daemon": elf.program("x86_64", ["lib0.so"]), **files})
    service = run("facts", "services.units[%s]" % UNIT, "--root", root).json()
    assert service.get("missing_libraries", "unknown") == missing


@pytest.mark.parametrize("count", [1000, 1001])
def test_acknowledgements(count, tmp_path):
    one = {"rule": "log/xid", "subject": None, "observed": "x", "reason": "x", "boot_id": "x", "time_s": 1,
           "until": "event"}
    document = json.loads(HEAD % ("acknowledged", 0, "}"))
    root = node_root(tmp_path, {"/var/lib/nvnodecheck/acknowledged.json": json.dumps(
        dict(document, findings=[one] * count)).encode()})
    facts = program.facts(root)
    found = facts["acknowledged"].get("findings") if "acknowledged" in facts else None
    assert (found is None) == (count > 1000), facts.get("acknowledged")
    gaps = [gap["why"] for gap in facts["gaps"] if gap["path"].endswith("acknowledged.json")]
    assert bool(gaps) == (count > 1000), gaps


# ---- the log of a job ----

FAILURE = b"NCCL WARN Cuda failure 800\n"
LOG_UNPACKED_MAX = 4 << 30
NODE = HEAD % ("facts", 0, ',"os":{"hostname":"here"}}')


def why(*args, **more):
    return run("why", "--json", "--from", "-", *args, input=NODE.encode(), **more)


@pytest.fixture(scope="module")
def large_log(tmp_path_factory):
    """More than is unpacked, of files behind each other."""
    path = tmp_path_factory.mktemp("log") / "log.gz"
    zeros = gzip.compress(bytes(64 * MIB), 6)
    path.write_bytes(gzip.compress(FAILURE) + zeros * (LOG_UNPACKED_MAX // (64 * MIB)) + gzip.compress(b"\n" + FAILURE))
    return path


def test_log_that_unpacks_to_too_much(large_log):
    """What was read is answered from."""
    document = why(large_log)
    assert document.status == 3, str(document)
    log = document.json()["log"]
    assert (log["stopped"], log["bytes"]) == ("size", LOG_UNPACKED_MAX)
    assert document.json()["decisive"]["line"] == 1
    text = run("why", "--from", "-", large_log, input=NODE.encode()).out
    assert re.search("^Incomplete +Only the first 4294967296 bytes of the log, up to line 1, were", text, re.M), text


def test_log_that_takes_too_long(large_log):
    result, _, cpu = program.run_measured("why", "--json", "--timeout", "0.3", large_log)
    assert result.json()["log"]["stopped"] == "time" and cpu < 10, (str(result), cpu)
    assert result.json()["decisive"]["line"] == 1 and result.status in (1, 3)


@pytest.mark.parametrize("begin, said", [(b"a\n", "No failure was recognised in the part of the log that was read"),
                                         (FAILURE, "explain the failure"), (b"", "No failure")])
def test_log_in_a_pipe_that_does_not_end(begin, said, tmp_path):
    node = tmp_path / "node.json"
    node.write_text(NODE)
    with subprocess.Popen([program.binary(), "why", "--timeout", "0.5", "--from", node, "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.environment()) as process:
        process.stdin.write(begin)
        process.stdin.flush()
        out = process.stdout.read().decode()
        assert process.wait(timeout=program.TIMEOUT_S) == 3 and said in out, out
    assert "--timeout" in out


def test_log_with_many_signs_in_a_line(tmp_path):
    """Each sign was compared with everything before it, also in other lines: a small packed log took hours."""
    block = b" " * 131071 + b"\n" + b"no error," * 14563 + b"\n"
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(block * 64 + FAILURE))
    result, _, cpu = program.run_measured("why", "--json", "--timeout", "60", path)
    assert result.json()["decisive"]["line"] == 64 * block.count(b"\n") + 1 and cpu < 40, (str(result)[:500], cpu)


def test_log_that_is_read_whole(tmp_path):
    """Limits that are not met change nothing."""
    path = tmp_path / "log"
    path.write_bytes(FAILURE)
    assert why("--timeout", "20", path).json()["log"]["stopped"] is None
    assert why(path).json() == why("--timeout", "20", path).json()


# ---- long lists ----

@pytest.mark.parametrize("change", ["none", "metric", "destination"])
def test_many_routes(change, node_tree, tmp_path):
    """Each was compared with each: twenty thousand took nine seconds."""
    facts = program.facts(node_tree("hgx-h100-ib"))
    routes = facts["net"]["routes"]
    made = [dict(routes[i % len(routes)]) for i in range(16000)]
    for i, route in enumerate(made):
        if change == "metric":
            route["metric"] = i
        elif change == "destination":
            route["destination"] = "10.%d.%d.0/24" % (i >> 8, i & 255)
    facts["net"]["routes"] = made
    path = tmp_path / "node.json"
    path.write_text(json.dumps(facts))
    result, _, cpu = program.run_measured("doctor", "--quiet", "--from", path)
    assert result.status in (0, 1, 3) and cpu < 10, (str(result), cpu)


COMMANDS = [("doctor", "--json", "--profile", "base,p2p,gpudirect-rdma,deepep,nccl-gin"),
            ("doctor", "-v"), ("doctor", "--format", "html"), ("doctor", "--format", "prometheus"),
            ("fix", "--all", "--json"), ("topo",), ("topo", "--format", "svg"), ("expect",)]


@pytest.mark.parametrize("path", lists.paths(), ids=".".join)
def test_a_long_list(path, node_facts, tmp_path):
    """A rule that compares each item with each took up to a minute, and one that adds to a text for each item took
    all memory."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes memory and time of its own")
    file = tmp_path / "node.json"
    file.write_text(json.dumps(lists.lengthened(json.loads(node_facts("broken-everything")), path, 10000)))
    for args in or_short(COMMANDS, COMMANDS[:1]):
        result, peak, cpu = program.run_measured(*args, "--from", file)
        refused = result.status == 4 and "more than 32 MiB of facts" in result.err
        assert result.status in (0, 1, 3) or refused, (args, result.err)
        assert cpu < 6 and peak << 10 < 256 * MIB, (args, cpu, peak)


def test_a_long_difference(node_facts, tmp_path):
    """Rows of a comparison were held against each other: sixteen thousand items took minutes."""
    files = []
    for name, step in (("a", 1), ("b", -1)):
        document = lists.lengthened(json.loads(node_facts("broken-everything")), ("modprobe", "alias"), 10000)
        document["modprobe"]["alias"] = document["modprobe"]["alias"][::step]
        files.append(tmp_path / name)
        files[-1].write_text(json.dumps(document))
    result, _, cpu = program.run_measured("diff", *files)
    assert result.status == 1 and (cpu < 6 or program.is_sanitized()), (result.err, cpu)


def test_memory_of_a_comparison(tmp_path):
    """Its table grew with each file that is unlike the others, without a bound, and its document took four times as
    much again."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes memory of its own")
    files = [tmp_path / ("n%d.json" % i) for i in range(24)]
    for i, path in enumerate(files):
        items = ('{"name":"m%d_%d","version":"%s"}' % (i, k, "v" * 6000) for k in range(4000))
        if i != 3:
            items = list(items)[::2]
        path.write_text(HEAD % ("facts", 0, ',"modules":{"loaded":[%s]}}' % ",".join(items)))
    for args, status in ((files[:6], 1), (files, 4)):
        result, peak, _ = program.run_measured("diff", "--json", *args)
        assert result.status == status, str(result)
        assert peak << 10 < (256 + 64 + 48) * MIB, peak
    left_out = re.findall(r"n(\d+).json: left out: it adds \d+ MiB to a comparison of more than 256 MiB", result.err)
    assert left_out[0] == "3" and len(set(left_out)) == len(left_out) < 20, result.err
    assert (result.json()["nodes"], result.json()["unreadable"]) == (24 - len(left_out), len(left_out))


def without_lists(value):
    if isinstance(value, dict):
        return {key: without_lists(v) for key, v in value.items()}
    return [] if isinstance(value, list) else value


def test_a_small_file_with_a_large_table(node_facts, tmp_path):
    """Each fact of an item has the item's name in its path. Such a file of 12 MB ended the comparison of a whole
    fleet."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes memory of its own")
    nodes = {"n%02d" % i: node_facts("h200-x8") for i in range(12)}
    nodes["n03"] = nodes["n03"].replace(json.loads(nodes["n03"])["driver"]["version"], "1.2.3")
    for name, text in nodes.items():
        (tmp_path / (name + ".json")).write_text(text)
    honest = run("diff", "--json", tmp_path).json()
    document = lists.lengthened(json.loads(nodes["n05"]), ("nvml", "gpus"), 1)
    gpu = without_lists(document["nvml"]["gpus"][0])
    document["nvml"]["gpus"] = [dict(gpu, bdf="x" * 420 + str(i)) for i in range(7000)]
    (tmp_path / "n05.json").write_text(json.dumps(document))
    (tmp_path / "n06.json").write_text("not JSON")
    result, peak, _ = program.run_measured("diff", "--json", tmp_path)
    assert result.status == 4 and peak << 10 < (256 + 64 + 48) * MIB, (str(result), peak)
    assert result.err.count("n05.json: left out: it adds 25") == 1, result.err
    assert len(result.err.splitlines()) == 2 and "n06.json:" in result.err, result.err
    found = result.json()
    assert (found["nodes"], found["unreadable"]) == (10, 2)
    assert [f["fact"] for f in found["facts"]] == [f["fact"] for f in honest["facts"]]
    assert found["odd"] == honest["odd"] == [{"node": "n03", "facts": len(honest["facts"])}]


def test_memory_of_a_document(node_facts, tmp_path):
    """As objects of json-c, the document of such a file took three times what SECURITY.md says."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes memory of its own")
    document = json.loads(node_facts("broken-everything"))
    for path in (("pci", "devices"), ("modprobe", "alias"), ("modules", "loaded")):
        document = lists.lengthened(document, path, 4000)
    file = tmp_path / "node.json"
    file.write_text(json.dumps(document))
    result, peak, _ = program.run_measured("doctor", "--json", "--from", file)
    assert result.status == 1, result.err
    assert peak << 10 < 2 * file.stat().st_size + 64 * MIB, (peak, file.stat().st_size)


def test_every_port_between_gpus_is_checked(tmp_path):
    """The last of several hundred redirects."""
    with open(os.path.join(program.TOP, "tests", "golden", "rtx4090-stock-smallbar.facts.json"), encoding="utf-8") as file:
        facts = json.load(file)
    own = facts["pci"]["devices"]
    port, gpu = (next(d for d in own if d["bdf"] == bdf) for bdf in ("0000:c0:01.1", "0000:c1:00.0"))
    bdf = ""
    for i in range(100):
        parent = None
        for depth in range(3):
            bdf = "%04x:%02x:00.0" % (i + 1, depth)
            own.append(dict(port, bdf=bdf, parent=parent, root="pci%04x:00" % (i + 1)))
            parent = bdf
        own.append(dict(gpu, bdf="%04x:03:00.0" % (i + 1), parent=parent, root="pci%04x:00" % (i + 1),
                        device_id="0x2330"))
    own[-2]["acs"] = {"capability": "0x5f", "control": "0x1d"}
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(facts))
    report = run("doctor", "--format", "json", "--profile", "p2p", "--from", path).json()
    found = {f["subject"]: f["verdict"] for f in report["findings"] if f["rule"] == "pci/acs-redirect"}
    assert len(found) == 300 and found.pop(bdf) == "fail" and set(found.values()) == {"pass"}
