# SPDX-License-Identifier: GPL-2.0-or-later
"""ack: a problem that an administrator has seen is passed over by preflight and the exit status, is still in the
report, and counts again when its time is over or something else happens."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from lib import node, program, textform, tree

FILE = "/var/lib/nvnodecheck/acknowledged.json"
BOOT = "/proc/sys/kernel/random/boot_id"
XID = "log NVRM: Xid (PCI:0000:4c:00): 48, pid=99, name=a.out, An uncorrectable double bit error (DBE)"
OTHER = "log NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
GPU = "0000:4c:00.0"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the file is root's")


class Node:
    """A node in a stage, whose state folder is kept from one state of it to the next."""

    def __init__(self, folder):
        self.folder, self.kept, self.stage = str(folder), None, None

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def be(self, *edits, boot=None):
        if self.stage and os.path.exists(self.path(FILE)):
            with open(self.path(FILE), "rb") as file:
                self.kept = file.read()
        contents = node.copy_of(node.tree_of("hgx-h100-ib", [textform.Statement("edit", 1, e)
                                                             for e in edits]))
        if boot:
            contents.file(BOOT, boot + "\n")
        if self.kept is not None:
            contents.file(FILE, self.kept.decode())
        self.clear()
        self.stage = tree.Stage(self.folder)
        self.stage.put(contents)
        return self

    def path(self, path):
        return self.stage.directory + path

    def run(self, *words):
        return program.run(*words, "--root", self.stage.directory)

    def ack(self, *words, **more):
        return self.run("ack", *words, **more)

    def problem(self, rule="log/xid", subject=GPU):
        report = self.run("doctor", "--json").json()
        return [f for f in report["findings"] if f["rule"] == rule and f["subject"] == subject][0]

    def stops(self):
        return self.run("preflight").status == 1


@pytest.fixture
def xid(place, request):
    made = Node(os.path.join(place, "ack-" + "%d" % abs(hash(request.node.name)))).be(XID)
    yield made
    made.clear()


def test_is_passed_over_and_shown(xid):
    assert xid.stops()
    result = xid.ack("log/xid@" + GPU, "--reason", "ticket 4711: GPU is \"new\"\n")
    assert result.status == 0 and result.err == "", str(result)
    assert not xid.stops()
    finding = xid.problem()
    assert finding["off"] and finding["acknowledged"]["reason"].startswith("ticket 4711")
    assert finding["acknowledged"]["until"] == "event"
    text = xid.run("doctor")
    assert text.status == 0, str(text)
    lines = [line for line in text.out.splitlines() if line.startswith("Seen ")]
    assert len(lines) == 1 and "log/xid, GPU" in lines[0] and "ticket 4711" in lines[0], str(text)
    facts = xid.run("facts", "acknowledged.findings").json()
    assert facts[0]["rule"] == "log/xid" and facts[0]["subject"] == GPU


def test_another_gpu_counts(xid):
    assert xid.ack("log/xid@" + GPU, "--reason", "seen").status == 0
    xid.be(XID, OTHER)
    assert xid.stops()
    assert "off" not in xid.problem(subject="0000:3b:00.0")


def test_the_next_event_ends_it(xid):
    assert xid.ack("log/xid", "--reason", "seen").status == 0
    xid.be(XID, "log a line between", XID)
    assert xid.stops()


@pytest.mark.parametrize("until, held", (("event", False), ("boot", False), ("7d", True)))
def test_the_next_boot_ends_it(until, held, xid):
    assert xid.ack("log/xid", "--reason", "seen", "--until", until).status == 0
    assert not xid.stops()
    xid.be(XID, boot="99999999-7c1d-4f6b-9a53-3f0f6c2d7b10")
    assert xid.stops() != held


def test_until_boot_outlasts_events(xid):
    assert xid.ack("log/xid", "--reason", "seen", "--until", "boot").status == 0
    xid.be(XID, "log a line between", XID)
    assert not xid.stops()


def test_a_time_that_is_over_ends_it(xid):
    assert xid.ack("log/xid", "--reason", "seen", "--until", "12h").status == 0
    with open(xid.path(FILE)) as file:
        document = json.load(file)
    assert abs(document["findings"][0]["until_s"] - time.time() - 12 * 3600) < 600
    assert not xid.stops()
    document["findings"][0]["until_s"] = 1000
    with open(xid.path(FILE), "w") as file:
        json.dump(document, file)
    assert xid.stops()


def test_withdraw(xid):
    assert xid.ack("log/xid", "--reason", "seen").status == 0
    assert xid.ack("log/xid", "--withdraw").status == 0
    assert xid.stops()
    assert xid.run("facts", "acknowledged.findings").json() == []


@pytest.mark.parametrize("words, status, why", (
    (("log/xid",), 2, "--reason"),
    (("log/xid", "--reason", ""), 2, "--reason"),
    (("log/xit", "--reason", "x"), 2, "log/xid"),
    (("pci/device-off-bus", "--reason", "x"), 4, "not a problem of this node"),
    (("log/xid@0000:3b:00.0", "--reason", "x"), 4, "not a problem of this node"),
    (("log/xid", "--reason", "x", "--until", "yesterday"), 2, "--until"),
    (("log/xid", "--reason", "x", "--until", "2001-01-01"), 2, "--until"),
    (("log/xid", "--reason", "x", "--until", "0h"), 2, "--until"),
))
def test_refuses(words, status, why, xid):
    result = xid.ack(*words)
    assert result.status == status and why in result.err, str(result)
    assert not os.path.exists(xid.path(FILE))


@pytest.mark.parametrize("text", ("", "{", "[]", '{"format": "nvnodecheck-acknowledged"}',
                                  '{"format": "nvnodecheck-acknowledged", "format_version": [1, 0], "findings": [1]}'))
def test_a_damaged_file_hides_nothing_and_stays(text, xid):
    xid.ack("log/xid", "--reason", "seen")
    with open(xid.path(FILE), "w") as file:
        file.write(text)
    assert xid.stops()
    result = xid.ack("log/xid", "--reason", "again")
    assert result.status == 4 and FILE in result.err, str(result)
    with open(xid.path(FILE)) as file:
        assert file.read() == text


def test_a_folder_of_somebody_is_refused(xid):
    os.makedirs(xid.path("/var/lib/nvnodecheck"), exist_ok=True)
    os.chmod(xid.path("/var/lib/nvnodecheck"), 0o777)
    result = xid.ack("log/xid", "--reason", "seen")
    os.chmod(xid.path("/var/lib/nvnodecheck"), 0o755)
    assert result.status == 4 and "/var/lib/nvnodecheck" in result.err, str(result)
    assert not os.path.exists(xid.path(FILE))


def test_another_process_makes_a_folder_meanwhile(xid, tmp_path):
    """The folder /var is not there when it is looked for, and there when it is to be made: the others are made."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    log, words = tmp_path / "log", ("ack", "log/xid", "--reason", "seen", "--root", xid.stage.directory)
    shutil.rmtree(xid.path("/var/lib/nvnodecheck"), ignore_errors=True)
    strace = ["strace", "-qq", "-o", str(log), "-e", "trace=newfstatat,mkdirat"]
    assert program.run(*words, wrap=strace).status == 0
    looks = [line for line in log.read_text().splitlines() if line.startswith("newfstatat")]
    first = [number for number, line in enumerate(looks, 1) if ', "var", ' in line and "NOFOLLOW" in line][0]
    shutil.rmtree(xid.path("/var/lib/nvnodecheck"))
    shutil.rmtree(xid.path("/run/nvnodecheck"))
    result = program.run(*words, wrap=[*strace, "-e", "inject=newfstatat:error=ENOENT:when=%d" % first])
    assert result.status == 0, str(result)
    assert re.search(r'mkdirat\(\d+, "var", .* EEXIST', log.read_text())
    assert not xid.stops()


def test_in_a_capture(xid, tmp_path):
    """What was acknowledged is acknowledged in a capture and in facts, too."""
    assert xid.ack("log/xid", "--reason", "seen by jane.doe@example.com").status == 0
    capture = str(tmp_path / "node.capture")
    assert xid.run("capture", "-o", capture).status == 0
    result = program.run("doctor", "--json", "--from", capture)
    finding = [f for f in result.json()["findings"] if f["rule"] == "log/xid" and f["subject"] == GPU][0]
    assert finding.get("acknowledged"), finding
    with open(capture) as file:
        assert "jane.doe" not in file.read()
    facts = str(tmp_path / "facts.json")
    with open(facts, "w") as file:
        file.write(xid.run("facts").out)
    assert program.run("preflight", "--from", facts).status == 0


def test_only_root(xid):
    result = program.run("ack", "log/xid", "--reason", "x", "--root", xid.stage.directory, user=True)
    assert result.status == 4, str(result)
    assert not os.path.exists(xid.path(FILE))


def test_metrics(xid):
    """A GPU's labels are those of NVIDIA's dcgm-exporter; what is acknowledged is counted and is no finding."""
    text = xid.run("doctor", "--format", "prometheus").out
    line = [l for l in text.splitlines() if l.startswith("nvnodecheck_finding") and "log/xid" in l][0]
    assert re.search(r'subject="0000:4c:00.0",.*,gpu="\d",UUID="GPU-[0-9a-f-]+",pci_bus_id="00000000:4C:00.0"} 1$', line)
    assert "\nnvnodecheck_acknowledged 0\n" in text
    assert xid.ack("log/xid", "--reason", "seen").status == 0
    text = xid.run("doctor", "--format", "prometheus").out
    assert "log/xid" not in text and "\nnvnodecheck_acknowledged 1\n" in text
    assert all("gpu=" not in l for l in text.splitlines() if 'subject=""' in l)


def test_what_would_not_be_read_is_not_written(xid):
    """A list over its bounds would take the earlier acknowledgements with it."""
    assert xid.ack("log/xid", "--reason", "seen").status == 0
    with open(xid.path(FILE)) as file:
        before = file.read()
    xid.be(*["file /etc/modprobe.d/zz.conf text='%s'" % "".join(
        "options nvidia NVreg_Misspelt%d=1\\n" % i for i in range(300))])
    with open(xid.path(FILE), "w") as file:
        file.write(before)
    result = xid.ack("driver/unknown-module-parameter", "--reason", "long " * 2000)
    assert result.status == 4 and "1 MiB" in result.err, str(result)
    with open(xid.path(FILE)) as file:
        assert file.read() == before


def test_another_user_cannot_keep_it_waiting(xid):
    """Who can read a folder can lock it. The lock is a file of root's."""
    assert xid.ack("log/xid", "--reason", "seen").status == 0
    holder = subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", "flock",
                               xid.path("/var/lib/nvnodecheck"), "sleep", "100"])
    try:
        start = time.monotonic()
        assert xid.ack("log/xid", "--reason", "again").status == 0
        assert time.monotonic() - start < 90
        assert os.stat(xid.path("/run/nvnodecheck/ack.lock")).st_mode & 0o777 == 0o600
    finally:
        holder.kill()
        holder.wait()


def test_two_at_once(xid):
    """Each reads the file, looks at the node and writes the file: none writes over what another has added."""
    xid.be(XID, OTHER)
    subjects = [GPU, "0000:3b:00.0"]
    for _ in range(3):
        running = [subprocess.Popen([program.binary(), "ack", "log/xid@" + subject, "--reason", "seen", "--root",
                                     xid.stage.directory], env=program.environment(), stdout=subprocess.DEVNULL)
                   for subject in subjects]
        assert [process.wait(timeout=program.TIMEOUT_S) for process in running] == [0, 0]
        with open(xid.path(FILE), encoding="utf-8") as file:
            assert sorted(a["subject"] for a in json.load(file)["findings"]) == sorted(subjects)
        os.unlink(xid.path(FILE))
