# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of contrib/ are closed as far as they can be, and no further: every system call, address family
and right that the program uses is one that they leave."""
import os
import re
import subprocess

import pytest

from conftest import CONTRIB, need
from lib import program

SERVICES = ("systemd/nvnodecheck.service", "prometheus/nvnodecheck-textfile.service")
EXPOSURE = {"nvnodecheck.service": 2.4, "nvnodecheck-textfile.service": 2.1}
REFUSED = {"capset"}  # by which the program would drop capabilities: the unit has left it those that it needs
# doctor takes the kernel log from the journal, and cannot see the first process's environment.
ELSEWHERE = ("log", "gaps", "probes", "env", "limits")


class Unit:
    def __init__(self, name):
        self.path = os.path.join(CONTRIB, name)
        self.settings = {}
        with open(self.path) as file:
            for key, value in re.findall(r"^(\w+)=(.*)$", file.read(), re.M):
                self.settings.setdefault(key, []).append(value)

    def command(self, folder):
        words = self.settings["ExecStart"][0].split()
        assert words[0] == "/usr/sbin/nvnodecheck"
        words = [w.replace("/var/lib/prometheus/node-exporter", str(folder)) for w in words]
        return [program.binary()] + [w for w in words[1:] if w != "--journal"]

    def closed(self, folder):
        """What bwrap(1) can do of it: the rights that are left, all read-only but for that folder."""
        assert self.settings["ProtectSystem"] == ["strict"]
        left = [word for value in self.settings["CapabilityBoundingSet"] for c in value.split()
                for word in ("--cap-add", c)]
        return ["bwrap", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--bind", folder, folder,
                "--cap-drop", "ALL"] + left + ["--"]

    def calls(self):
        """Names of system calls that SystemCallFilter= lets through."""
        allowed = expand("@default")
        for value in self.settings["SystemCallFilter"]:
            names = set()
            for word in value.lstrip("~").split():
                names |= expand(word)
            allowed = allowed - names if value.startswith("~") else allowed | names
        return allowed


def expand(name):
    """systemd's sets, which may hold each other."""
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    found = set()
    for word in re.findall(r"^    ([@\w-]+)$", text, re.M):
        found |= expand(word)
    return found


@pytest.fixture(params=SERVICES)
def unit(request):
    return Unit(request.param)


def test_exposure(unit):
    need("systemd-analyze")
    text = subprocess.run(["systemd-analyze", "security", "--offline=yes", unit.path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
    assert float(re.search(r"exposure level for \S+: ([\d.]+)", text).group(1)) <= EXPOSURE[os.path.basename(unit.path)], text


def test_no_call_is_missed(unit, tmp_path):
    need("systemd-analyze", "strace")
    trace = str(tmp_path / "trace")
    process = subprocess.run(["strace", "-f", "-qq", "-o", trace] + unit.command(tmp_path),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
    assert process.returncode in (0, 1, 3), process.stderr
    with open(trace, errors="replace") as file:
        lines = file.read()
    made = set(re.findall(r"^\d+ +(\w+)\(", lines, re.M))
    assert {"openat", "read"} <= made
    assert not made - unit.calls() - REFUSED
    families = set(re.findall(r"^\d+ +socket\((AF_\w+)", lines, re.M))
    assert not families - set(unit.settings["RestrictAddressFamilies"][0].split())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give rights up")
def test_nothing_is_hidden_by_what_is_closed(unit, tmp_path):
    need("bwrap")
    closed = unit.closed(str(tmp_path))
    process = subprocess.run(closed + unit.command(tmp_path), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=300)
    assert process.returncode in (0, 1, 3), process.stderr
    seen = {}
    for name, before in (("all", []), ("unit", closed)):
        out = subprocess.run(before + [program.binary(), "facts"], check=True, timeout=300,
                             stdout=subprocess.PIPE).stdout
        path = tmp_path / name
        path.write_bytes(out)
        seen[name] = program.run("facts", "--from", path).json()
        seen[name]["os"].pop("observed_time_s")
    for part in seen["all"]:
        if part not in ELSEWHERE:
            assert seen["unit"].get(part) == seen["all"][part], part
