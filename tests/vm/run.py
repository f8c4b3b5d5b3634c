#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs scenarios in virtual machines and says which came out as they should.

    run.py [--program FILE] [--build DIR] [--jobs N] [--keep] [NAME...]

QEMU emulates the processor, so neither KVM nor root is needed."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import values
import verbs
from guest import Guest, GuestError, which
from scenario import Scenario, ScenarioError

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
TIMEOUT_S = 600

# Between two looks at the same node these differ: what the second process is itself, time, and the kernel's log, in
# which a driver may report what the first look asked for.
MOVING = (
    r"os\.observed_time_s",
    r"probes\[[\w-]+\]\.duration_us",
    r"(limits\.self|env)\.pid",
    r"os\.boot_time_s",
    r"log\.unexplained.*",
)
# What only a running host can be asked: verbs, systemd, the kernel's log, and which of two
# interfaces in one subnet has an address, flow control. Through --root it is unknown, with a gap.
LIVE_ONLY = (
    r"rdma\.devices\[[^]]*\]\.(dmabuf|offered|open_error|ports\[\d+\]\.(active_mtu_bytes|grh_required|sysfs_state|gids\[\d+\]\..*))",
    r"modules\.views",
    r"net\.interfaces\[[^]]*\]\.(addresses|pause|pfc_priorities)",
    r"mps\.has_control",
    r"(services|log|env|limits)\..*",
)
GAPS = (r"gaps.*", r"probes\[[\w-]+\]\.state")


class Failure(Exception):
    pass


class Result:
    def __init__(self, scenario):
        self.scenario = scenario
        self.problems = []
        self.seconds = 0.0


# ---- the machine ----

def write_initramfs(guest, scenario, path):
    front, back = scenario.images()
    with open(path, "wb") as f:
        for part in [front] + guest.images + [back]:
            f.write(part)


def start(guest, scenario, folder):
    share = folder / "share"
    share.mkdir(parents=True)
    write_initramfs(guest, scenario, folder / "initramfs")
    command = [which("qemu-system-x86_64"), "-accel", "tcg", "-nodefaults", "-nographic",
               "-no-reboot", "-serial", "file:%s" % (folder / "console"),
               "-kernel", str(guest.kernel.vmlinux), "-initrd", str(folder / "initramfs"),
               "-virtfs", "local,path=%s,mount_tag=share,security_model=none" % share]
    command += scenario.arguments()
    with open(folder / "qemu.log", "w") as log:
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    timeout=TIMEOUT_S).returncode
        except subprocess.TimeoutExpired:
            raise Failure("no end after %d s" % TIMEOUT_S) from None
    if status:
        raise Failure("QEMU: exit status %d, see %s" % (status, folder / "qemu.log"))
    return share


def read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def check_prepared(share):
    status = read(share / "prepare.status").strip()
    if not status:
        last = read(share.parent / "console").strip().split("\n")[-1]
        raise Failure("the guest did not come up: %s" % last)
    if status != "0":
        last = read(share / "prepare.log").strip().split("\n")[-2:]
        raise Failure("could not be prepared: %s" % " | ".join(last))
    check_kernel(share)


def check_kernel(share):
    oops = re.search(r"^.*(BUG:|Oops|WARNING:|Call Trace|general protection).*$",
                     read(share / "dmesg"), re.MULTILINE)
    if oops:
        raise Failure("the kernel complained: %s" % oops[0].strip())


# ---- what came out ----

def load(share, name, good=("0",)):
    status = read(share / (name + ".status")).strip()
    if status not in good:
        raise Failure("%s: exit status %s: %s" % (name, status or "missing",
                                                  read(share / (name + ".stderr")).strip()))
    try:
        return json.loads(read(share / name))
    except ValueError as error:
        raise Failure("%s: %s" % (name, error)) from error


def from_capture(program, share):
    done = subprocess.run([str(program), "facts", "--from", str(share / "capture")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        raise Failure("facts of the capture: %s" % done.stderr.strip())
    return json.loads(done.stdout)


def check_fact(expected, facts):
    found = values.find(facts, expected.path)
    if found != expected.value:
        yield "%s is %s, not %s" % (expected.path, values.show(found), values.show(expected.value))


def check_count(expected, facts):
    found = values.count(facts, expected.path)
    if found != expected.value:
        yield "%s: %s, not %d" % (expected.path, found, expected.value)


def check_rule(expected, report):
    found = re.fullmatch(r"([^\[]+)(?:\[(.*)\])?", expected.path)
    verdicts = [f["verdict"] for f in report["findings"]
                if f["rule"] == found[1] and found[2] in (None, f.get("subject"))]
    if not verdicts:
        yield "rule %s: no answer" % expected.path
    # One subject that fails is enough for a rule as a whole; all must agree on anything else.
    elif expected.value in ("fail", "pending") and expected.value not in verdicts:
        yield "rule %s: %s, not %s" % (expected.path, ", ".join(sorted(set(verdicts))),
                                       expected.value)
    elif expected.value not in ("fail", "pending") and set(verdicts) != {expected.value}:
        yield "rule %s: %s, not %s" % (expected.path, ", ".join(sorted(set(verdicts))),
                                       expected.value)


def check_tried(expected, proof):
    found = re.fullmatch(r"([^\[]+)(?:\[(.*)\])?", expected.path)
    words = {True: "works", False: "fails", None: "unknown"}
    tried = [t for t in (proof or {}).get("proof", {}).get("tries", [])
             if t["kind"] == found[1] and found[2] in (None, t["device"])]
    outcomes = {words[t.get("works")] for t in tried}
    if outcomes != {expected.value}:
        yield "%s: %s, not %s (%s)" % (expected.path, ", ".join(sorted(outcomes)) or "not tried",
                                       expected.value, "; ".join(t["seen"] for t in tried))


def check_expectations(scenario, facts, report, proof):
    checks = {"fact": (check_fact, facts), "count": (check_count, facts),
              "rule": (check_rule, report), "tried": (check_tried, proof)}
    for expected in scenario.expectations:
        check, document = checks[expected.kind]
        for problem in check(expected, document):
            yield "line %d: %s" % (expected.line, problem)


def check_verbs(share, facts):
    """The program's facts about RDMA devices are those that libibverbs gives another program."""
    text = read(share / "ibv_devinfo")
    for device, path, value in verbs.parse(text):
        found = values.find(facts, "rdma.devices[%s].%s" % (device, path))
        if found != value:
            yield "%s %s is %s, ibv_devinfo says %s" % (device, path, values.show(found),
                                                        values.show(value))
    told = {device for device, _, _ in verbs.parse(text)}
    named = {item["name"] for item in facts["rdma"].get("devices") or []}
    if told != named:
        yield "devices are %s, ibv_devinfo says %s" % (sorted(named), sorted(told))


def check(scenario, share, program):
    facts = load(share, "facts.json")
    report = load(share, "report.json", ("0", "1", "3"))
    proof = load(share, "proof.json", ("0", "1", "3")) if scenario.prove else None
    yield from check_expectations(scenario, facts, report, proof)
    for text in values.differences(facts, load(share, "facts-root.json"), MOVING + GAPS,
                                   LIVE_ONLY):
        yield "live and through --root differ: " + text
    if read(share / "capture.status").strip() != "0":
        raise Failure("capture: %s" % read(share / "capture.stderr").strip())
    for text in values.differences(facts, from_capture(program, share), MOVING):
        yield "live and captured differ: " + text
    if (share / "ibv_devinfo").exists():
        yield from check_verbs(share, facts)


# ---- all of them ----

def run_one(guest, program, folder, scenario):
    result = Result(scenario)
    began = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        share = start(guest, scenario, folder)
        check_prepared(share)
        result.problems = list(check(scenario, share, program))
    except Failure as failure:
        result.problems = [str(failure)]
    result.seconds = time.monotonic() - began
    return result


def report(result, folder, keep):
    print("%-4s %-32s %5.1f s" % ("FAIL" if result.problems else "ok", result.scenario.name,
                                  result.seconds), flush=True)
    for problem in result.problems:
        print("     " + problem)
    if result.problems:
        print("     what it left is in %s" % folder, flush=True)
    elif not keep:
        shutil.rmtree(folder)
    else:
        (folder / "initramfs").unlink()


def choose(names):
    paths = {p.stem: p for p in sorted((HERE / "scenarios").glob("*.scenario"))}
    unknown = [name for name in names if name not in paths]
    if unknown:
        raise ScenarioError("no such scenario: %s" % ", ".join(unknown))
    return [Scenario(path) for name, path in paths.items() if not names or name in names]


def arguments():
    parser = argparse.ArgumentParser(description="Runs scenarios in virtual machines.")
    parser.add_argument("--program", type=pathlib.Path, default=TOP / "build" / "nvnodecheck")
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "vm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="keep what successful runs wrote")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        scenarios = choose(options.names)
        guest = Guest(options.build, options.program.resolve())
    except (GuestError, ScenarioError) as error:
        print("vm: %s" % error, file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {}
        for scenario in scenarios:
            folder = guest.kernel.folder / "runs" / scenario.name
            runs[pool.submit(run_one, guest, options.program.resolve(), folder, scenario)] = folder
        for run in concurrent.futures.as_completed(runs):
            report(run.result(), runs[run], options.keep)
            failed += bool(run.result().problems)
    print("%d passed, %d failed" % (len(scenarios) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
