#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs across reboots: what doctor finds, fix --apply repairs; it is pending until the machine
boots again, live then, and gone once undo has taken it back and the machine has booted once more.

    cycle.py [--program FILE] [--build DIR] [--jobs N] [--keep] [NAME...]

QEMU starts the kernel, with the initramfs and the arguments that the disk's GRUB menu names at that
moment. As root: the disk is made from a Debian root, which is kept in the build folder."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import disk
from acpi import override
from guest import Guest, GuestError, which
from pci import Bus
from run import TOP, Failure, load, read
from scenario import BARE_CPU, BARE_FIRMWARE, CPU, KERNEL_WORDS, PROFILE

TIMEOUT_S = 400
MEMORY_MIB = 1024
# What fix and undo change, and so what has to be as before at the end.
WATCHED = ("/etc", "/boot")

NODE = """
root-port rp0
gpu gpu0 under=rp0
"""

GRUB = """GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_DISABLE_LINUX_UUID=true
GRUB_DISABLE_OS_PROBER=true
GRUB_EARLY_INITRD_LINUX_CUSTOM="acpi.img"
GRUB_CMDLINE_LINUX_DEFAULT="%s"
GRUB_CMDLINE_LINUX="init=/cycle/init %s"
"""
# Only what the machine needs, so that an image is built in a minute by an emulated processor.
INITRAMFS_TOOLS = "MODULES=list\nCOMPRESS=gzip\nCOMPRESSLEVEL=1\n"
DISK_MODULES = "virtio_pci\nvirtio_blk\next4\n"

PROGRAM = "/mnt/share/nvnodecheck"
LOOK = """
%(program)s doctor --json --profile %(profile)s > %(name)s 2> %(name)s.stderr
echo $? > %(name)s.status
"""
RUN = """
%(program)s %(arguments)s > %(name)s 2> %(name)s.stderr
echo $? > %(name)s.status
"""


def look(name):
    return LOOK % {"program": PROGRAM, "profile": PROFILE, "name": name}


def change(name, arguments):
    return RUN % {"program": PROGRAM, "arguments": arguments, "name": name}


class Case:
    """A node as it is at first, the rules that are repaired, and the kernel arguments."""

    def __init__(self, name, about, prepare, rules, cmdline="", qemu=()):
        self.name = name
        self.about = about
        self.prepare = prepare
        self.rules = rules
        self.cmdline = cmdline
        self.qemu = list(qemu)

    def scripts(self):
        # Without rules: all that was found.
        rules = " ".join(self.rules)
        profile = "--profile " + PROFILE
        return [look("before") + change("fix", "fix --apply --yes --json %s %s" % (profile, rules)) +
                look("after"),
                look("before") + change("undo", "undo --yes --json"),
                look("before")]


def stale_image(root):
    """The driver is loaded from the initramfs, which has older options than the disk."""
    root.put("/etc/initramfs-tools/modules", DISK_MODULES + "nvidia\n")
    root.put("/etc/modprobe.d/site.conf", "options nvidia NVreg_EnableStreamMemOPs=0\n")
    root.build_image()
    root.put("/etc/modprobe.d/site.conf",
             'options nvidia NVreg_EnableStreamMemOPs=1 NVreg_RegistryDwords="PeerMappingOverride=1;"\n')


def plain_image(root):
    """The driver is loaded from the root file system."""
    root.put("/etc/modprobe.d/site.conf", "options nvidia NVreg_EnableStreamMemOPs=0\n")
    root.build_image()


CASES = (
    Case("image", "options stale in the initramfs that loads the driver", stale_image,
         ("driver/peer-mapping-override", "driver/params-configured-not-live")),
    Case("root", "options missing, the driver is loaded from the root file system", plain_image,
         ("driver/peer-mapping-override",)),
    Case("iommu", "an IOMMU that translates", plain_image, ("iommu/translation-enabled",),
         "intel_iommu=on", ("-device", "intel-iommu")),
)


# ---- the machine ----

def make_disk(guest, case, folder):
    root = disk.Root(guest, "initramfs-tools", folder, "/dev/vda")
    try:
        bus = Bus()
        for line in NODE.strip().split("\n"):
            bus.add_line(line)
        bus.place()
        root.put("/etc/fakepci", bus.records())
        root.put("/boot/acpi.img", override())
        root.put("/etc/default/grub", GRUB % (case.cmdline, KERNEL_WORDS))
        root.put("/etc/initramfs-tools/conf.d/small", INITRAMFS_TOOLS)
        root.put("/etc/initramfs-tools/modules", DISK_MODULES)
        case.prepare(root)
        root.build_menu()
        root.make_disk(folder / "disk")
    finally:
        root.close()
    return folder / "disk"


def make_share(guest, case, folder):
    share = folder / "share"
    share.mkdir()
    shutil.copy(guest.program, share / "nvnodecheck")
    for number, script in enumerate(case.scripts(), 1):
        (share / ("boot%d" % number)).mkdir()
        (share / ("boot%d" % number) / "script").write_text(script)
    return share


def boot(guest, case, folder, number):
    cmdline, initramfs = disk.next_boot(folder / "disk", folder)
    console = folder / ("console%d" % number)
    command = [which("qemu-system-x86_64"), "-accel", "tcg", "-nodefaults", "-nographic",
               "-no-reboot", "-M", "q35", "-cpu", CPU + BARE_CPU, "-m", str(MEMORY_MIB),
               "-serial", "file:%s" % console,
               "-kernel", str(guest.kernel.vmlinux), "-initrd", str(initramfs), "-append", cmdline,
               "-drive", "file=%s,format=raw,if=virtio,cache=unsafe" % (folder / "disk"),
               "-virtfs", "local,path=%s,mount_tag=share,security_model=none" % (folder / "share")]
    try:
        done = subprocess.run(command + BARE_FIRMWARE + case.qemu, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S,
                              universal_newlines=True, check=False)
    except subprocess.TimeoutExpired:
        raise Failure("boot %d: no end after %d s" % (number, TIMEOUT_S)) from None
    if done.returncode or not (folder / "share" / ("boot%d" % number) / "done").exists():
        last = read(console).strip().split("\n")[-1]
        raise Failure("boot %d did not come to its end: %s%s" % (number, done.stdout, last))


# ---- what came out ----

def verdicts(report, rules=None):
    return {(f["rule"], f.get("subject")): f["verdict"] for f in report["findings"]
            if rules is None or f["rule"] in rules}


def check_verdicts(case, report, wanted, when):
    found = verdicts(report, case.rules)
    if not found:
        yield "%s: no answer of %s" % (when, ", ".join(case.rules))
    for (rule, subject), verdict in found.items():
        if verdict != wanted:
            yield "%s: %s %s is %s, not %s" % (when, rule, subject or "", verdict, wanted)


def check_reports(case, share):
    """fail, pending, live, and as at first."""
    steps = (("boot1", "before", "fail"), ("boot1", "after", "pending"), ("boot2", "before", "pass"),
             ("boot3", "before", "fail"))
    reports = [load(share / boot, name, ("0", "1", "3")) for boot, name, _ in steps]
    for (name, moment, wanted), report in zip(steps, reports):
        yield from check_verdicts(case, report, wanted, "%s, %s" % (name, moment))
    first, last = verdicts(reports[0]), verdicts(reports[-1])
    for key in sorted(set(first) | set(last), key=str):
        if first.get(key) != last.get(key):
            yield "%s %s: %s at first, %s at the end" % (key[0], key[1] or "", first.get(key),
                                                        last.get(key))


def check_documents(share):
    fix = load(share / "boot1", "fix")
    undo = load(share / "boot2", "undo")
    for name, document, wanted in (("fix", fix, "applied"), ("undo", undo, "undone")):
        outcome = document["outcome"]
        if outcome["result"] != wanted:
            yield "%s: %s" % (name, json.dumps(outcome))


def check_files(before, after):
    for path in sorted(set(before) | set(after)):
        if before.get(path) != after.get(path):
            yield "%s is not as it was" % path


def run_case(guest, case, folder, result):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    image = make_disk(guest, case, folder)
    share = make_share(guest, case, folder)
    result["ready"] = time.monotonic()
    before = {w: disk.contents(image, w, folder / "seen") for w in WATCHED}
    for number in (1, 2, 3):
        boot(guest, case, folder, number)
        result["boots"].append(time.monotonic())
    after = {w: disk.contents(image, w, folder / "seen") for w in WATCHED}
    problems = list(check_documents(share)) + list(check_reports(case, share))
    for watched in WATCHED:
        problems += check_files(before[watched], after[watched])
    return problems


def try_case(guest, case, folder):
    result = {"began": time.monotonic(), "boots": []}
    try:
        result["problems"] = run_case(guest, case, folder, result)
    except (Failure, GuestError) as failure:
        result["problems"] = [str(failure)]
    result["seconds"] = time.monotonic() - result["began"]
    return result


def report_case(case, result, folder, keep):
    moments = [result.get("ready", result["began"])] + result["boots"]
    boots = ", ".join("%.0f" % (b - a) for a, b in zip(moments, moments[1:]))
    print("%-4s %-8s %5.1f s (boots: %s s)" % ("FAIL" if result["problems"] else "ok", case.name,
                                              result["seconds"], boots), flush=True)
    for problem in result["problems"]:
        print("     " + problem)
    if result["problems"]:
        print("     what it left is in %s" % folder, flush=True)
    elif not keep:
        shutil.rmtree(folder)


def arguments():
    parser = argparse.ArgumentParser(description="Repairs across reboots of virtual machines.")
    parser.add_argument("--program", type=pathlib.Path, default=TOP / "build" / "nvnodecheck")
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "vm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="keep what successful runs wrote")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def main():
    options = arguments()
    cases = [c for c in CASES if not options.names or c.name in options.names]
    if os.geteuid() != 0:
        print("cycle: only root can make the disks", file=sys.stderr)
        return 2
    try:
        guest = Guest(options.build, options.program.resolve())
        disk.keep_root(guest, "initramfs-tools")
    except GuestError as error:
        print("cycle: %s" % error, file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(try_case, guest, case, guest.kernel.folder / "cycle" / ("run-" + case.name)):
                case for case in cases}
        for done in concurrent.futures.as_completed(runs):
            case = runs[done]
            report_case(case, done.result(), guest.kernel.folder / "cycle" / ("run-" + case.name),
                        options.keep)
            failed += bool(done.result()["problems"])
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
