#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Power loss: a real apply and its undo in a virtual machine, whose disk then loses its power at many moments of them.

    power.py [--program FILE] [--build DIR] [--count N] [--boots N] [--seed N] [--keep] [--again]

fix --apply and undo run once in a guest with a real initramfs generator, GRUB menu and ext4; QEMU keeps a log of
all that the disk is written (writelog.py). From that log disks are made as they are when the power goes:
what was flushed is there, of what was written since each page is or is not. On each of them

    every file is what it was before, or what fix made of it, and whole;
    undo --root succeeds and leaves what was there before, byte by byte.

Some of them are booted as well, and undo runs on the host that comes up. As root: disks are mounted through
loop devices."""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess
import sys
import time

import cycle
import disk
from guest import Guest, GuestError, run, which
from machine import Machine
from run import TOP, Failure, load
from writelog import LogError, Replay, WriteLog

BEGIN, APPLIED, END = ("power.py: the apply begins", "power.py: the apply has ended",
                       "power.py: the undo has ended")
OURS = ".nvnodecheck."
CASE = cycle.Case("power", "", cycle.stale_image, cycle.OPTIONS)
MARK = "sync; echo '%s' > /cycle/mark; sync\n"
CHANGES = (MARK % BEGIN + CASE.repair() + MARK % APPLIED + cycle.step("undo", "undo --yes") +
           MARK % END)


class Mounted:
    """The file system of an image, its journal replayed as a boot would."""

    def __init__(self, image, place, options="rw"):
        self.place = place
        place.mkdir(exist_ok=True)
        run("mount", "-o", "loop," + options, image, place)

    def __enter__(self):
        return self.place

    def __exit__(self, *_):
        run("umount", self.place)


def look(root):
    """Every file that fix could have changed: mode, owner, time of the last change, bytes or target."""
    found = {}
    for top in cycle.WATCHED:
        for path in sorted(pathlib.Path(str(root) + top).rglob("*")):
            seen = os.lstat(path)
            file = stat.S_ISREG(seen.st_mode)
            what = (os.readlink(path) if stat.S_ISLNK(seen.st_mode) else
                    path.read_bytes() if file else None)
            found["/%s" % path.relative_to(root)] = (
                seen.st_mode, seen.st_uid, seen.st_gid, int(seen.st_mtime) if file else 0, what)
    return found


def bytes_of(seen, path):
    return seen[path][4] if path in seen else None


def check_whole(now, before, after):
    """Before anything was taken back: no file is anything else than it was or is to be."""
    for path in sorted(set(now) | set(before) | set(after)):
        if OURS in path:
            continue
        if bytes_of(now, path) not in (bytes_of(before, path), bytes_of(after, path)):
            yield "%s is neither what it was nor what fix made of it" % path


def check_restored(now, before):
    for path in sorted(set(now) | set(before)):
        if now.get(path) != before.get(path):
            yield "%s is not as it was" % path


# ---- the changes ----

def drive(image, log):
    """The guest is told of a write cache, and flushes it; what that comes to is for the log to say."""
    def node(name, path):
        return "driver=file,node-name=%s,filename=%s,cache.no-flush=on" % (name, path)
    return ["-blockdev", node("image", image), "-blockdev", node("log", log),
            "-blockdev", "driver=blklogwrites,node-name=logged,file=image,log=log,"
            "log-super-update-interval=1", "-device", "virtio-blk-pci,drive=logged"]


def change_once(guest, folder, again):
    """The disk before, and the log of all that was written since."""
    before, log = folder / "before", folder / "log"
    if again and log.exists():
        return before, WriteLog(log)
    disk.clear(folder)
    folder.mkdir(parents=True)
    image = cycle.make_disk(guest, CASE, folder)
    shutil.copyfile(image, before)
    log.touch()
    machine = Machine(guest, folder, image, [CHANGES], drive=drive(image, log))
    machine.run(False)
    for name, result in ("fix", "applied"), ("undo", "undone"):
        outcome = load(machine.step(1), name)["outcome"]
        if outcome["result"] != result:
            raise Failure("%s: %s" % (name, json.dumps(outcome)))
    return before, WriteLog(log)


# ---- one disk that lost its power ----

class Trial:
    def __init__(self, guest, folder, before, after):
        self.guest = guest
        self.folder = folder
        self.before = before
        self.after = after
        self.image = folder / "lost"

    def undo(self, root):
        done = subprocess.run([str(self.guest.program), "undo", "--yes", "--json", "--no-regenerate",
                               "--root", str(root)], stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            return None, "undo ended with %d: %s%s" % (
                done.returncode, done.stdout.decode(), done.stderr.decode())
        return json.loads(done.stdout.decode())["outcome"], None

    def run(self):
        """What it was found in, and what is wrong with what came of it."""
        problems = []
        with Mounted(self.image, self.folder / "mounted") as root:
            problems += check_whole(look(root), self.before, self.after)
            outcome, wrong = self.undo(root)
            problems += [wrong] if wrong else []
            problems += check_restored(look(root), self.before)
        if not outcome:
            return "failed", problems
        if outcome["result"] == "undone":
            return "applied", problems
        return ("interrupted" if outcome["recovered"] else "not begun, or undone"), problems

    def boot(self, number):
        """The same on the host itself, once it has started from what is there."""
        folder = self.folder / ("boot%d" % number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        image = folder / "disk"
        shutil.copyfile(self.image, image)
        # GRUB reads the file system without its journal; here nothing does.
        subprocess.run([which("e2fsck"), "-fp", str(image)], stdout=subprocess.DEVNULL, check=False)
        machine = Machine(self.guest, folder, image, [cycle.step("undo", "undo --yes")])
        machine.run(False)
        outcome = load(machine.step(1), "undo")["outcome"]
        problems = [] if outcome["result"] in ("undone", "nothing") else [json.dumps(outcome)]
        with Mounted(image, self.folder / "mounted") as root:
            problems += check_restored(look(root), self.before)
        shutil.rmtree(folder)
        return problems


def report(number, entry, found, problems):
    for problem in problems:
        print("FAIL power loss %d (write %d, %s): %s" % (number, entry, found, problem), flush=True)


def look_at(image, place, options="rw"):
    with Mounted(image, place, options) as root:
        return look(root)


def trials(guest, folder, options):
    before, log = change_once(guest, folder, options.again)
    first, applied, last = (log.find(mark.encode()) for mark in (BEGIN, APPLIED, END))
    flushes = sum(entry.flush for entry in log.entries[first:last])
    print("power: %d writes and flushes while fix was applied, %d "
          "while it was undone, %d of them flushes" % (
        applied - first, last - applied, flushes), flush=True)
    chance = random.Random(options.seed)
    # An undo is a tenth of the writes.
    spans = [(applied, last) if n % 3 == 0 else (first, applied) for n in range(options.count)]
    numbers = sorted(chance.randrange(begin, end + 1) for begin, end in spans)
    booted = set(chance.sample(range(options.count), min(options.boots, options.count)))
    Replay(log, before, folder / "flushed").write_all(applied, folder / "applied")
    trial = Trial(guest, folder, look_at(before, folder / "mounted", "ro,noload"),
                  look_at(folder / "applied", folder / "mounted"))
    if trial.before == trial.after:
        raise Failure("fix changed nothing")
    replay = Replay(log, before, folder / "flushed")
    found, failed = collections.Counter(), 0
    for number, entry in enumerate(numbers):
        replay.lose_power(entry, chance, trial.image)
        problems = trial.boot(number) if number in booted else []
        state, more = trial.run()
        found[state] += 1
        failed += bool(problems + more)
        report(number, entry, state, problems + more)
    print("power: lost %d times (%s), booted %d times, %d failed" % (
        options.count, ", ".join("%s %d" % pair for pair in sorted(found.items())), len(booted),
        failed))
    return failed


def arguments():
    parser = argparse.ArgumentParser(description="Power loss in the middle of a real apply.")
    parser.add_argument("--program", type=pathlib.Path, default=TOP / "build" / "nvnodecheck")
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "vm")
    parser.add_argument("--count", type=int, default=200, help="how often (200)")
    parser.add_argument("--boots", type=int, default=3, help="of these, booted (3)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of what is random")
    parser.add_argument("--keep", action="store_true", help="keep disks and log")
    parser.add_argument("--again", action="store_true", help="with the log that was kept")
    return parser.parse_args()


def main():
    options = arguments()
    if os.geteuid() != 0:
        print("power: only root can mount the disks", file=sys.stderr)
        return 2
    try:
        guest = Guest(options.build, options.program.resolve())
        folder = guest.kernel.folder / "cycle" / "run-power"
        print("power: --seed %d" % options.seed, flush=True)
        failed = trials(guest, folder, options)
    except (GuestError, Failure, LogError) as error:
        print("power: %s" % error, file=sys.stderr)
        return 2
    if not failed and not options.keep:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
