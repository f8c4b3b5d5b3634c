#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of the Debian package under a systemd that runs: a node that is not well refuses to start what
starts jobs, a node that is well starts it after the check; the timer writes its metrics; what the units
close hides nothing; the journal has the fields.

    units.py [--program FILE] [--build DIR] [--keep] DEB

As root, like cycle.py. One machine boots twice: without nvidia_uvm, and repaired."""

import argparse
import json
import os
import pathlib
import re
import sys

import disk
from cycle import Case, report_case, try_case, verdicts
from guest import HERE, Guest, GuestError
from run import TOP, load, read

SERVICE = "nvnodecheck.service"
TEXTFILE = "nvnodecheck-textfile.service"
TIMER = "nvnodecheck-textfile.timer"
# Where prometheus-node-exporter's package has it.
FOLDER = "/var/lib/prometheus/node-exporter"
# Overall exposure as systemd-analyze(1) counts it, of 10, and what each runs. preflight reads the kernel's own log.
EXPOSURE = {SERVICE: 2.4, TEXTFILE: 2.1}
COMMANDS = {SERVICE: "preflight", TEXTFILE: "doctor"}

# What starts jobs. The drop-in is the one that the unit's file suggests.
SLURMD = """[Service]
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
"""
REQUIRES = "[Unit]\nRequires=%s\n" % SERVICE
AFTER = "[Unit]\nAfter=%s slurmd.service %s\n" % (SERVICE, TIMER)
# Makes the device nodes, as NVIDIA's does. Nothing says more than the check's own unit that it comes first.
PERSISTENCED = """[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/cycle/device-nodes
[Install]
WantedBy=multi-user.target
"""
DEVICE_NODES = """#!/bin/sh
mknod -m 666 /dev/nvidiactl c 195 255
mknod -m 666 /dev/nvidia0 c 195 0
major=$(sed -n 's/^ *\\([0-9]*\\) nvidia-uvm$/\\1/p' /proc/devices)
[ -z "$major" ] || mknod -m 666 /dev/nvidia-uvm c "$major" 0
"""
WRONG = "modules/nvidia-uvm-not-loaded"
REPAIR = "keep fix nvnodecheck fix --apply --yes --json %s\n" % WRONG


class Units(Case):
    returns = False

    def __init__(self, package):
        super().__init__("units", "the package's units with systemd", self.install, (), grub=True)
        self.package = package

    def install(self, root):
        root.put("/cycle/device-nodes", DEVICE_NODES, 0o755)
        root.put("/etc/systemd/system/nvidia-persistenced.service", PERSISTENCED)
        root.put("/etc/systemd/system/slurmd.service", SLURMD)
        root.put("/etc/systemd/system/slurmd.service.d/nvnodecheck.conf", REQUIRES)
        root.put("/etc/systemd/system/steps.service.d/after.conf", AFTER)
        root.put(FOLDER + "/other.prom", "")
        root.put("/nvnodecheck.deb", self.package.read_bytes())
        disk.inside(root.path, "dpkg", "--install", "/nvnodecheck.deb")
        (root.path / "nvnodecheck.deb").unlink()
        disk.inside(root.path, "systemctl", "enable", SERVICE, TIMER, "slurmd.service",
                    "nvidia-persistenced.service")
        root.build_image()

    def scripts(self):
        ask = (HERE / "cycle" / "ask-units").read_text()
        return [ask + REPAIR, ask]

    def check(self, machine):
        first, second = Boot(machine.step(1)), Boot(machine.step(2))
        yield from check_refused(first)
        yield from check_started(second)
        for boot in (first, second):
            for problem in check_boot(boot):
                yield "%s: %s" % (boot.share.name, problem)


class Boot:
    """What it answered."""

    def __init__(self, share):
        self.share = share

    def unit(self, name):
        return dict(line.split("=", 1) for line in read(self.share / name).splitlines() if "=" in line)

    def counts_wrong(self):
        """Do the metrics that the timer left say what is wrong?"""
        return 'rule="%s"' % WRONG in read(self.share / "textfile")

    def journal(self):
        return [json.loads(line) for line in read(self.share / "journal").splitlines()]


def differences(what, found, wanted):
    for key, value in wanted.items():
        if found.get(key) != value:
            yield "%s: %s is %s, not %s" % (what, key, found.get(key), value)


def check_refused(boot):
    """The node is not well: what requires the check is not started."""
    yield from differences(SERVICE, boot.unit(SERVICE), {
        "ActiveState": "failed", "Result": "exit-code", "ExecMainStatus": "1"})
    yield from differences("slurmd", boot.unit("slurmd.service"), {
        "ActiveState": "inactive", "ExecMainStartTimestampMonotonic": "0"})
    if not boot.counts_wrong():
        yield "the metrics do not have " + WRONG
    entries = [e for e in boot.journal() if e.get("NVNODECHECK_RULE") == WRONG]
    if len(entries) != 1:
        yield "the journal has %d entries of %s" % (len(entries), WRONG)
    for entry in entries:
        yield from differences("the journal's entry", entry, {
            "NVNODECHECK_VERDICT": "fail", "NVNODECHECK_SEVERITY": "err", "PRIORITY": "3"})


def check_started(boot):
    """It is well: what requires the check is started when the check is over."""
    service, slurmd = boot.unit(SERVICE), boot.unit("slurmd.service")
    yield from differences(SERVICE, service, {"ActiveState": "active", "SubState": "exited",
                                              "Result": "success", "ExecMainStatus": "0"})
    yield from differences("slurmd", slurmd, {"ActiveState": "active"})
    moments = [int(unit.get(key) or 0) for unit, key in (
        (service, "ExecMainStartTimestampMonotonic"), (service, "ExecMainExitTimestampMonotonic"),
        (slurmd, "ExecMainStartTimestampMonotonic"))]
    if not 0 < moments[0] < moments[1] < moments[2]:
        yield "the check began, ended and slurmd started at %s us" % moments
    if boot.counts_wrong():
        yield "the metrics still have " + WRONG
    if read(boot.share / "failed").strip():
        yield "failed: %s" % read(boot.share / "failed").strip()


def check_boot(boot):
    yield from check_timer(boot)
    yield from check_closed(boot)
    yield from check_journal(boot)
    for unit, limit in EXPOSURE.items():
        text = read(boot.share / ("exposure-" + unit[:-len(".service")]))
        found = re.search(r"exposure level for \S+: ([\d.]+)", text)
        if not found or float(found[1]) > limit:
            yield "exposure of %s: %s" % (unit, found[1] if found else text)
    for line in re.findall(r"^.*nvnodecheck\S*:\d+: .*$", read(boot.share / "manager"), re.MULTILINE):
        yield "systemd does not like a unit: " + line


def check_timer(boot):
    yield from differences(TIMER, boot.unit(TIMER), {"ActiveState": "active", "Result": "success"})
    yield from differences(TEXTFILE, boot.unit(TEXTFILE), {"Result": "success"})
    if boot.unit(TIMER).get("LastTriggerUSecMonotonic", "0") == "0":
        yield "the timer did not fire"
    if "nvnodecheck_info{" not in read(boot.share / "textfile"):
        yield "no metrics in " + FOLDER


def check_closed(boot):
    """With what the units close the same is found."""
    for unit, command in COMMANDS.items():
        seen = verdicts(load(boot.share, "open-" + command, ("0", "1", "3")))
        found = verdicts(load(boot.share, "closed-" + unit[:-len(".service")], ("0", "1", "3")))
        for key in sorted(set(seen) | set(found), key=str):
            if seen.get(key) != found.get(key):
                yield "%s %s is %s in %s, else %s" % (key[0], key[1] or "", found.get(key), unit, seen.get(key))


def check_journal(boot):
    """Each entry is the program's own and belongs to the unit; the last one says how the run ended."""
    entries = boot.journal()
    for entry in entries:
        yield from differences("the journal's entry", entry, {"_SYSTEMD_UNIT": SERVICE,
                                                              "_TRANSPORT": "journal"})
    ends = [e["NVNODECHECK_EXIT_STATUS"] for e in entries if "NVNODECHECK_EXIT_STATUS" in e]
    if ends != [boot.unit(SERVICE).get("ExecMainStatus")]:
        yield "the journal has these ends: %s" % ends


def arguments():
    parser = argparse.ArgumentParser(description="The package's units under systemd.")
    parser.add_argument("--program", type=pathlib.Path, default=TOP / "build" / "nvnodecheck")
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "vm")
    parser.add_argument("--keep", action="store_true", help="keep what a successful run wrote")
    parser.add_argument("package", type=pathlib.Path, metavar="DEB")
    return parser.parse_args()


def main():
    options = arguments()
    if os.geteuid() != 0:
        print("units: only root can make the disk", file=sys.stderr)
        return 2
    case = Units(options.package)
    try:
        guest = Guest(options.build, options.program.resolve())
        disk.keep_root(guest, case.kind)
    except GuestError as error:
        print("units: %s" % error, file=sys.stderr)
        return 2
    folder = guest.kernel.folder / "cycle" / "run-units"
    result = try_case(guest, case, folder)
    report_case(case, result, folder, options.keep)
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
