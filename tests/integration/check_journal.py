# SPDX-License-Identifier: GPL-2.0-or-later
"""--journal through libsystemd, into a socket where journald's would be."""
import json
import os
import subprocess
import sys

import pytest

from conftest import need
from lib import program

RECEIVER = r"""
import json, os, socket, subprocess, sys
os.makedirs("/run/systemd/journal")
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/run/systemd/journal/socket")
s.settimeout(5)
child = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
entries = []
s.setblocking(False)
try:
    while True:
        data = s.recv(1 << 20).decode()
        entries.append(dict(line.split("=", 1) for line in data.splitlines() if "=" in line))
except BlockingIOError:
    pass
print(json.dumps(entries))
"""


def test_fields(machine):
    need("unshare")
    machine.become("driver unloaded")
    enter = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"]
    if os.geteuid() or subprocess.run(enter + ["true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs a mount namespace of its own")
    out = subprocess.run(enter + [sys.executable, "-c", RECEIVER, program.binary(), "preflight",
                                  "--journal", "--root", machine.stage.directory],
                         stdout=subprocess.PIPE, check=True).stdout
    entries = json.loads(out)
    found = [e for e in entries if e.get("NVNODECHECK_RULE") == "driver/loaded"]
    assert len(found) == 1, entries
    assert found[0]["PRIORITY"] == "2" and found[0]["SYSLOG_IDENTIFIER"] == "nvnodecheck"
    assert found[0]["NVNODECHECK_SEVERITY"] == "crit" and found[0]["NVNODECHECK_VERDICT"] == "fail"
    assert entries[-1]["NVNODECHECK_EXIT_STATUS"] == "1" and "MESSAGE_ID" in entries[-1]
