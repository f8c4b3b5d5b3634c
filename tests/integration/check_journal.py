# SPDX-License-Identifier: GPL-2.0-or-later
"""--journal with a real systemd-journald, in a /run of its own, read back with journalctl: by the fields that
nvnodecheck(8) names, and as JSON lines, which collectors of OpenTelemetry read."""
import json
import os
import subprocess

import pytest

from conftest import need
from lib import program

JOURNALD = "/lib/systemd/systemd-journald"
# It leaves the kernel's log and the audit of this machine alone.
SESSION = r"""
mount -t tmpfs none /run && mount -t tmpfs none /var/log || exit 99
mkdir -p /run/systemd/journal /run/log/journal /run/systemd/journald.conf.d
printf '[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\n' >/run/systemd/journald.conf.d/own.conf
%s >/dev/null 2>&1 &
journald=$!
trap 'kill $journald' EXIT
for i in $(seq 600); do [ ! -S /run/systemd/journal/socket ] || break; sleep 0.1; done
"$@" >/dev/null
for i in $(seq 600); do
	[ "$(journalctl -q -o cat --output-fields=NVNODECHECK_EXIT_STATUS NVNODECHECK_EXIT_STATUS=1 | wc -l)" = 0 ] || break
	sleep 0.1
done
echo -- by rule
journalctl -q -o json NVNODECHECK_RULE=driver/loaded
echo -- by severity
journalctl -q -o json -p crit SYSLOG_IDENTIFIER=nvnodecheck
echo -- all
journalctl -q -o json SYSLOG_IDENTIFIER=nvnodecheck
""" % JOURNALD


def test_fields(machine):
    need("unshare", "journalctl")
    if not os.path.exists(JOURNALD):
        pytest.skip("no systemd-journald")
    enter = ["unshare", "--mount"]
    if os.geteuid() or subprocess.run(enter + ["true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs a mount namespace of its own")
    machine.become("driver unloaded")
    out = subprocess.run(enter + ["sh", "-c", SESSION, "sh", program.binary(), "preflight", "--journal", "--root",
                                  machine.stage.directory], stdout=subprocess.PIPE, check=True, timeout=300).stdout.decode()
    parts = {}
    for line in out.splitlines():
        if line.startswith("-- "):
            parts[line[3:]] = entries = []
        else:
            entries.append(json.loads(line))
    found, = parts["by rule"]
    assert found in parts["by severity"]
    assert found["PRIORITY"] == "2" and found["SYSLOG_IDENTIFIER"] == "nvnodecheck"
    assert found["NVNODECHECK_SEVERITY"] == "crit" and found["NVNODECHECK_VERDICT"] == "fail"
    assert found["NVNODECHECK_OBSERVED"] in found["MESSAGE"]
    last = parts["all"][-1]
    assert last["NVNODECHECK_EXIT_STATUS"] == "1" and "MESSAGE_ID" in last
    assert len(parts["all"]) > 1 and all("NVNODECHECK_VERDICT" in entry for entry in parts["all"])
