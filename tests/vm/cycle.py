#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs across reboots: what doctor finds, fix --apply repairs; it is pending until the machine
boots again, live then, and gone once undo has taken it back and the machine has booted once more.

    cycle.py [--program FILE] [--build DIR] [--jobs N] [--keep] [--all] [NAME...]

As root: the disk is made from a Debian root, which is kept in the build folder. Without --all and
names, the cases that take minutes are left out."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import time

import disk
from acpi import override
from guest import Guest, GuestError
from machine import Machine
from pci import Bus
from run import TOP, Failure, check_kernel, load
from scenario import KERNEL_WORDS, PROFILE

# What fix and undo change, and so what has to be as before at the end.
WATCHED = ("/etc", "/boot")
NODE = ("root-port rp0", "gpu gpu0 under=rp0")

GRUB = """GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_TERMINAL=serial
GRUB_DISABLE_LINUX_UUID=true
GRUB_DISABLE_OS_PROBER=true
GRUB_EARLY_INITRD_LINUX_CUSTOM="acpi.img"
GRUB_CMDLINE_LINUX_DEFAULT="%s"
GRUB_CMDLINE_LINUX="%s"
"""
DIRECT = "init=/cycle/init "
# Only what the machine needs, so that an emulated processor builds an image in a minute.
INITRAMFS_TOOLS = "MODULES=list\nCOMPRESS=gzip\nCOMPRESSLEVEL=1\n"
DISK_MODULES = "virtio_pci\nvirtio_blk\next4\n"
DRACUT = """hostonly="no"
dracutmodules+=" base kernel-modules rootfs-block fs-lib udev-rules "
force_drivers+=" nvidia virtio_pci virtio_blk ext4 "
compress="gzip"
"""

OLD_OPTIONS = "options nvidia NVreg_EnableStreamMemOPs=0\n"
NEW_OPTIONS = ("options nvidia NVreg_EnableStreamMemOPs=1 "
               'NVreg_RegistryDwords="PeerMappingOverride=1;"\n')

OWN_OPTIONS = "/etc/modprobe.d/zz-nvnodecheck.conf"

STEP = """
/mnt/share/nvnodecheck %(arguments)s --json > %(name)s 2> %(name)s.stderr
echo $? > %(name)s.status
"""


def step(name, arguments):
    return STEP % {"name": name, "arguments": arguments}


def look(name):
    return step(name, "doctor --profile " + PROFILE)


# ---- nodes as they are at first ----

def from_disk(root):
    """The driver is loaded from the root file system."""
    root.put("/etc/modprobe.d/site.conf", OLD_OPTIONS)
    root.build_image()


def stale_image(root):
    """The driver is loaded from the initramfs, which has older options than the disk."""
    root.put("/etc/initramfs-tools/modules", DISK_MODULES + "nvidia\n")
    from_disk(root)
    root.put("/etc/modprobe.d/site.conf", NEW_OPTIONS)


def image_without_options(root):
    """A generic image of dracut has the driver, and nothing of /etc/modprobe.d."""
    root.put("/etc/dracut.conf.d/site.conf", DRACUT)
    root.put("/etc/modprobe.d/site.conf", NEW_OPTIONS)
    root.build_image()


class Case:
    """A node as it is at first, and the rules that are repaired."""

    # Which boot, the name of the report, what the repaired rules say, what boot/repair-not-live says.
    looks = ((1, "before", "fail", "not-applicable"), (1, "after", "pending", "not-applicable"),
             (2, "before", "pass", "pass"), (3, "before", "fail", "not-applicable"))
    changes = ((1, "fix", "applied"), (2, "undo", "undone"))
    # At the end all is as it was at first.
    returns = True

    def __init__(self, name, about, prepare, rules, cmdline="", kind="initramfs-tools", grub=False):
        self.name = name
        self.about = about
        self.prepare = prepare
        self.rules = rules
        self.cmdline = cmdline
        self.kind = kind
        self.grub = grub
        self.slow = grub or kind != "initramfs-tools"

    def repair(self):
        return step("fix", "fix --apply --yes --profile %s %s" % (PROFILE, " ".join(self.rules)))

    def scripts(self):
        return [look("before") + self.repair() + look("after"),
                look("before") + step("undo", "undo --yes"),
                look("before")]

    def check(self, machine):
        yield from check_changes(self, machine)
        yield from check_reports(self, machine)


class Spoilt(Case):
    """Somebody removes what fix wrote before the machine boots: doctor says so then."""

    looks = Case.looks[:2] + ((2, "before", "fail", "fail"),)
    changes = Case.changes[:1]
    returns = False

    def scripts(self):
        return [look("before") + self.repair() + look("after") + "rm %s\n" % OWN_OPTIONS,
                look("before")]


OPTIONS = ("driver/peer-mapping-override", "driver/params-configured-not-live")
TRANSLATION = ("iommu/translation-enabled",)
TRANSLATED = "intel_iommu=on"
CASES = (
    Case("image", "options stale in the initramfs that loads the driver", stale_image, OPTIONS),
    Case("root", "options missing on the root file system, which loads the driver", from_disk,
         OPTIONS[:1]),
    Spoilt("spoilt", "the same, and the repair is removed before the boot", from_disk, OPTIONS[:1]),
    Case("iommu", "an IOMMU that translates", from_disk, TRANSLATION, TRANSLATED),
    Case("grub", "stale options and translation, with GRUB and systemd", stale_image,
         OPTIONS + TRANSLATION, TRANSLATED, grub=True),
    Case("dracut", "an image of dracut that has the driver and no options", image_without_options,
         OPTIONS, kind="dracut"),
)


def make_disk(guest, case, folder):
    root = disk.Root(guest, case.kind, folder, case.grub)
    try:
        bus = Bus()
        for line in NODE:
            bus.add_line(line)
        bus.place()
        root.put("/etc/fakepci", bus.records())
        root.put("/boot/acpi.img", override())
        words = KERNEL_WORDS if case.grub else DIRECT + KERNEL_WORDS
        root.put("/etc/default/grub", GRUB % (case.cmdline, words))
        if case.kind == "initramfs-tools":
            root.put("/etc/initramfs-tools/conf.d/small", INITRAMFS_TOOLS)
            root.put("/etc/initramfs-tools/modules", DISK_MODULES)
        case.prepare(root)
        root.build_menu()
        root.make_disk(folder / "disk")
    finally:
        root.close()
    return folder / "disk"


# ---- what came out ----

def verdicts(report):
    return {(f["rule"], f.get("subject")): f["verdict"] for f in report["findings"]}


def check_rules(case, report, wanted, when):
    """A rule speaks of a subject only while something is wrong with it."""
    for rule in case.rules:
        found = {v for (r, _), v in verdicts(report).items() if r == rule}
        if found != {wanted}:
            yield "%s: %s is %s, not %s" % (when, rule, ", ".join(sorted(found)) or "silent", wanted)


def check_repairs(case, report, wanted, when):
    """What doctor says of the repairs themselves: nothing before the boot that follows."""
    found = {s: v for (r, s), v in verdicts(report).items() if r == "boot/repair-not-live"}
    if set(found.values()) != {wanted}:
        yield "%s: boot/repair-not-live is %s, not %s" % (when, json.dumps(found), wanted)
    # What follows from a parameter that is not in effect is repaired with it.
    follows = "driver/params-configured-not-live NVreg_RegistryDwords" in found
    for rule in case.rules if wanted != "not-applicable" else ():
        if rule == "driver/peer-mapping-override" and follows:
            continue
        if not any(subject.split()[0] == rule for subject in found if subject):
            yield "%s: nothing is said of the repair of %s" % (when, rule)
    if wanted == "fail" and OWN_OPTIONS + " was removed since" not in json.dumps(report):
        yield "%s: why the repair is not live is not said" % when


def check_same(first, last):
    """At the end the node is evaluated as it was at first, by every rule."""
    for key in sorted(set(first) | set(last), key=str):
        if first.get(key) != last.get(key):
            yield "%s %s: %s at first, %s at the end" % (key[0], key[1] or "", first.get(key),
                                                        last.get(key))


def check_reports(case, machine):
    reports = []
    for number, name, rules, repairs in case.looks:
        report = load(machine.step(number), name, ("0", "1", "3"))
        when = "boot %d, %s" % (number, name)
        yield from check_rules(case, report, rules, when)
        yield from check_repairs(case, report, repairs, when)
        reports.append(report)
    if case.returns:
        yield from check_same(verdicts(reports[0]), verdicts(reports[-1]))


def check_changes(case, machine):
    for number, name, wanted in case.changes:
        outcome = load(machine.step(number), name)["outcome"]
        if outcome["result"] != wanted:
            yield "%s: %s" % (name, json.dumps(outcome))


def check_files(before, after):
    for path in sorted(set(before) | set(after)):
        if before.get(path) != after.get(path):
            yield "%s is not as it was" % path


# ---- all of them ----

class Result:
    def __init__(self):
        self.problems = []
        self.began = time.time()
        self.ready = self.began
        self.boots = []
        self.seconds = 0.0

    def boot_seconds(self):
        moments = [self.ready] + self.boots
        return ", ".join("%.0f" % (b - a) for a, b in zip(moments, moments[1:]))


def run_case(guest, case, folder, result):
    disk.clear(folder)
    folder.mkdir(parents=True)
    machine = Machine(guest, folder, make_disk(guest, case, folder), case.scripts(),
                      ["-device", "intel-iommu"] if TRANSLATED in case.cmdline else [])
    before = [disk.contents(machine.image, w, folder / "seen") for w in WATCHED]
    result.ready = time.time()
    try:
        machine.run(case.grub)
    finally:
        result.boots = machine.times()
    for number in range(1, machine.boots + 1):
        check_kernel(machine.step(number))
    result.problems += list(case.check(machine))
    for watched, files in zip(WATCHED, before) if case.returns else ():
        result.problems += check_files(files, disk.contents(machine.image, watched, folder / "seen"))


def try_case(guest, case, folder):
    result = Result()
    try:
        run_case(guest, case, folder, result)
    except (Failure, GuestError) as failure:
        result.problems.append(str(failure))
    result.seconds = time.time() - result.began
    return result


def report_case(case, result, folder, keep):
    print("%-4s %-8s %5.1f s (boots: %s s)" % ("FAIL" if result.problems else "ok", case.name,
                                              result.seconds, result.boot_seconds()), flush=True)
    for problem in result.problems:
        print("     " + problem)
    if result.problems:
        print("     what it left is in %s" % folder, flush=True)
    elif not keep:
        shutil.rmtree(folder)


def arguments():
    parser = argparse.ArgumentParser(description="Repairs across reboots of virtual machines.")
    parser.add_argument("--program", type=pathlib.Path, default=TOP / "build" / "nvnodecheck")
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "vm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="keep what successful runs wrote")
    parser.add_argument("--all", action="store_true", help="also those that take minutes")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = set(options.names) - {case.name for case in CASES}
    if unknown:
        parser.error("no such case: %s" % ", ".join(sorted(unknown)))
    return options


def choose(options):
    if options.names:
        return [case for case in CASES if case.name in options.names]
    return [case for case in CASES if options.all or not case.slow]


def main():
    options = arguments()
    cases = choose(options)
    if os.geteuid() != 0:
        print("cycle: only root can make the disks", file=sys.stderr)
        return 2
    try:
        guest = Guest(options.build, options.program.resolve())
        for kind in sorted({case.kind for case in cases}):
            disk.keep_root(guest, kind)
    except GuestError as error:
        print("cycle: %s" % error, file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {}
        for case in cases:
            folder = guest.kernel.folder / "cycle" / ("run-" + case.name)
            runs[pool.submit(try_case, guest, case, folder)] = (case, folder)
        for done in concurrent.futures.as_completed(runs):
            report_case(runs[done][0], done.result(), runs[done][1], options.keep)
            failed += bool(done.result().problems)
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
