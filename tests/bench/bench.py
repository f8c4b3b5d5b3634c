#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make bench: how long the program takes, as ratios to other programs in the same run, so that the figures
mean something on any machine; then how cost grows. Nothing here is a test: a busy machine fails none.

The program runs in a root made of a node's tree (chroot, as root) as it would live, and through --root."""
import collections
import copy
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
sys.dont_write_bytecode = True

from lib import node, program, textform, tree  # noqa: E402

NODE = "hgx-h200-roce"	# 8 GPUs, 8 RDMA devices
NODES = os.path.join(os.path.dirname(TESTS), "nodes")
ROUNDS = 200


def once(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=ENV)
    process.wait()
    return time.perf_counter() - start


ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
INSIDE = dict(ENV, LD_LIBRARY_PATH="/run/bench")

PACER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double us(struct timeval t) { return t.tv_sec * 1e6 + t.tv_usec; }
static void run(char **argv, double *time, double *cpu)
{
	struct timespec a, b;
	struct rusage used;
	int status;
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid_t pid = vfork();
	if (pid == 0) { execv(argv[0], argv); _exit(127); }
	wait4(pid, &status, 0, &used);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (WEXITSTATUS(status) == 127) exit(127);
	*time = (b.tv_sec - a.tv_sec) * 1e6 + (b.tv_nsec - a.tv_nsec) / 1e3;
	*cpu = us(used.ru_utime) + us(used.ru_stime);
}
/* pacer ROUNDS A... -- B...: the two in turn, either first; each one's time and processor time, in microseconds. */
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), split = 2, out = dup(1), null = open("/dev/null", O_RDWR);
	while (split < argc && strcmp(argv[split], "--")) split++;
	argv[split] = NULL;
	for (int i = 0; i < 3; i++) dup2(null, i);
	for (int i = 0; i < rounds; i++) {
		double time[2], cpu[2];
		for (int k = 0; k < 2; k++) {
			int which = (i + k) % 2;
			run(which ? argv + split + 1 : argv + 2, &time[which], &cpu[which]);
		}
		dprintf(out, "%.1f %.1f %.0f %.0f\n", time[0], time[1], cpu[0], cpu[1]);
	}
	struct rusage r;
	getrusage(RUSAGE_CHILDREN, &r);
	dprintf(out, "%ld\n", r.ru_maxrss);
	return 0;
}
"""


class Room:
    """A root in which the program, true and what they are linked with lie in a node's tree."""

    def __init__(self, folder, name, edits=()):
        self.stage = tree.Stage(os.path.join(folder, "tree"))
        self.stage.put(node.tree_of(name, [textform.Statement("edit", 1, e) for e in edits]))
        self.root = self.stage.directory
        self.bin = os.path.join(self.root, "run", "bench")
        os.makedirs(self.bin)
        source = os.path.join(folder, "pacer.c")
        with open(source, "w") as file:
            file.write(PACER)
        subprocess.run(["cc", "-O2", "-o", self.bin + "/pacer", source], check=True)
        subprocess.run(["cc", "-O2", "-o", os.path.join(folder, "pacer"), source], check=True)
        self.pacer = os.path.join(folder, "pacer")
        shutil.copy(program.binary(), self.bin + "/nvnodecheck")
        shutil.copy(shutil.which("true"), self.bin + "/true")
        wanted = [program.binary(), shutil.which("true")]
        for name in ("libarchive.so.13", "libibverbs.so.1", "libkmod.so.2", "libpci.so.3",
                     "libz.so.1", "libsystemd.so.0", "libjson-c.so.5", "libinih.so.[01]"):
            wanted += glob.glob("/usr/lib/*-linux-gnu/" + name) or glob.glob("/usr/lib64/" + name)
        for file in wanted:
            text = subprocess.run(["ldd", file], stdout=subprocess.PIPE, check=True).stdout.decode()
            for path in re.findall(r"(/\S+) \(0x", text) + ([file] if ".so" in file else []):
                target = os.path.join(self.root, "lib64" if "ld-linux" in path else "run/bench",
                                      os.path.basename(path))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(path, target)
        # The node's, but where the kernel's own is mounted over it: seeing_itself().
        self.proc = os.path.join(self.root, "run", "proc")
        os.makedirs(self.proc)
        if os.path.isdir(self.root + "/proc/self"):
            os.rename(self.root + "/proc/self", self.proc + "/self")
        os.symlink("/run/proc/self", self.root + "/proc/self")
        if os.geteuid() == 0:
            self.make_devices()

    def make_device(self, path, major, minor):
        if os.path.lexists(path):
            os.unlink(path)
        os.mknod(path, 0o20666, os.makedev(major, minor))
        os.chmod(path, 0o666)

    def make_devices(self):
        """Devices in place of the tree's plain files, as the node has them; the kernel's log is this machine's."""
        self.make_device(self.root + "/dev/null", 1, 3)
        self.make_device(self.root + "/dev/kmsg", 1, 11)
        with open(self.root + "/proc/devices") as file:
            majors = dict(reversed(line.split()) for line in file if re.match(r" *\d+ \S+$", line))
        fixed = {"nvidiactl": 255, "nvidia-modeset": 254, "nvidia-uvm": 0, "nvidia-uvm-tools": 1}
        for path in glob.glob(self.root + "/dev/nvidia*"):
            name = os.path.basename(path)
            number = fixed.get(name, int(name[6:]) if name[6:].isdigit() else None)
            if number is None or not os.path.isfile(path):
                continue
            major = majors["nvidia-uvm" if "uvm" in name else "nvidia"]
            self.make_device(path, int(major), number)

    def live(self, *args, rounds=ROUNDS):
        out = subprocess.run(
            self.seeing_itself() + ["chroot", self.root, "/run/bench/pacer", str(rounds), "/run/bench/true",
                                    "--", "/run/bench/nvnodecheck"] + list(args),
            stdout=subprocess.PIPE, check=True, env=INSIDE).stdout.decode().split("\n")
        return figures(out)

    def seeing_itself(self):
        """The words before a command that uses the root: with a /proc/self."""
        return ["unshare", "--mount", "--", "sh", "-c", "mount -t proc proc %s && exec \"$@\"" % self.proc,
                "sh"]

    def rooted(self, *args, rounds=ROUNDS):
        return self.against([shutil.which("true")], [program.binary()] + list(args) +
                            ["--root", self.root], rounds)

    def against(self, other, own, rounds=ROUNDS, env=ENV, wrap=()):
        out = subprocess.run(list(wrap) + [self.pacer, str(rounds)] + other + ["--"] + own,
                             stdout=subprocess.PIPE, check=True, env=env)
        return figures(out.stdout.decode().split("\n"))


Figures = collections.namedtuple("Figures", "ratio own other peak ratios cpu")


def figures(lines):
    """Medians: of the ratios of pairs, of our microseconds, of the other's; the peak in KiB of both; the ratio of the
    processor times, which a busy machine changes least."""
    lines = [line for line in lines if line]
    pairs = [[float(x) for x in line.split()] for line in lines[:-1]]
    ratios = [own / other for other, own, _, _ in pairs]
    other, own, other_cpu, own_cpu = (statistics.median(column) for column in zip(*pairs))
    return Figures(statistics.median(ratios), own, other, int(lines[-1]), ratios, own_cpu / other_cpu)


def line(what, ratio, budget, unit="x true", more=""):
    print("%-44s %8.2f %-12s budget %-8s %s" % (what, ratio, unit, budget, more), flush=True)


def show(what, result, budget):
    quarters = statistics.quantiles(result.ratios, n=4)
    line(what, result.ratio, budget, more="half of all %.1f to %.1f; processor time %.2f x; %.0f us, true %.0f us, "
         "peak %d KiB" % (quarters[0], quarters[2], result.cpu, result.own, result.other, result.peak))


def slower(what, result, budget, unit):
    """How much longer the other one takes."""
    line(what, statistics.median(1 / r for r in result.ratios), budget, unit, "%.1f ms against %.1f ms" % (
        result.other / 1e3, result.own / 1e3))


def instructions(room):
    """Of the whole run, children too: what does not depend on who else is on the machine."""
    if not shutil.which("valgrind"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes",
                              "--callgrind-out-file=%s/out.%%p" % folder, program.binary(),
                              "preflight", "--root", room.root], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env=ENV).stderr.decode()
    return sum(int(n) for n in re.findall(r"Collected : (\d+)", out))


def nhc(folder, room):
    """LBNL NHC from a checkout of github.com/mej/nhc (NHC_SOURCE), with four checks that look at next to
    nothing. As root against preflight in the node's root, chroot's own time included."""
    source = os.environ.get("NHC_SOURCE")
    if not source:
        print("LBNL NHC: NHC_SOURCE names no checkout of it")
        return
    config = os.path.join(folder, "nhc.conf")
    with open(config, "w") as file:
        file.write("* || check_file_test -r -w /tmp\n* || check_hw_physmem_free 1MB\n"
                   "* || check_fs_free / 1MB\n* || check_ps_loadavg 1000000\n")
    command = [shutil.which("bash"), source + "/nhc", "MARK_OFFLINE=0", "INCDIR=" + source + "/scripts",
               "HELPERDIR=" + source + "/helpers", "CONFFILE=" + config, "LOGFILE=-", "NHC_RM=none"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV, check=True)
    own, wrap = [program.binary(), "preflight", "--root", room.root], ()
    if os.geteuid() == 0:
        own = [shutil.which("chroot"), room.root, "/run/bench/nvnodecheck", "preflight"]
        wrap = room.seeing_itself()
    result = room.against(command, own, 30, INSIDE, wrap)
    slower("LBNL NHC with four checks takes", result, "10", "x preflight")


def quick(room, root):
    show("preflight, in the node's root" if root else "preflight --root", (
        room.live if root else room.rooted)("preflight"), "5")
    show("doctor without the image", (room.live if root else room.rooted)(
        "doctor", "--skip", "boot/initramfs*", rounds=30), "25")


def functions(folder):
    print("\nPCI functions                preflight      doctor")
    for count in (8, 32, 128, 512, 1024):
        place = os.path.join(folder, "f%d" % count)
        stage = tree.Stage(place)
        contents = node.copy_of(node.tree_of(NODE))
        sample = "/sys/devices/pci0000:ff"
        table = contents.text("/proc/bus/pci/devices")
        lines = []
        for i in range(count):
            bdf = "0000:%02x:%02x.%x" % (0xc0 + i // 256, i // 8 % 32, i % 8)
            path = "%s/%s" % (sample, bdf)
            for name, text in (("vendor", "0x8086"), ("device", "0x3456"), ("class", "0x088000"),
                               ("config", "\0" * 64), ("resource", ("0x%016x " % 0 * 3 + "\n") * 13),
                               ("uevent", "PCI_CLASS=88000\nPCI_ID=8086:3456\nPCI_SUBSYS_ID=8086:0000\n")):
                contents.file(path + "/" + name, text + ("\n" if name in ("vendor", "device", "class")
                                                         else ""))
            contents.link("/sys/bus/pci/devices/" + bdf, "../../../devices/pci0000:ff/" + bdf)
            lines.append("%02x%02x\t80863456\t0\n" % (0xc0 + i // 256, i % 256))
        contents.file("/proc/bus/pci/devices", table + "".join(lines))
        stage.put(contents)
        times = [min(once([program.binary(), verb, "--root", place]) for _ in range(7))
                 for verb in ("preflight", "doctor")]
        print("%6d more              %8.2f ms %8.2f ms" % (count, times[0] * 1e3, times[1] * 1e3))
        shutil.rmtree(place)


def timed(contents, place, *verbs):
    """The best of seven runs of each verb on that tree, in milliseconds."""
    stage = tree.Stage(place)
    stage.put(contents)
    return [min(once([program.binary(), verb, "--root", place]) for _ in range(7)) * 1e3
            for verb in verbs]


def modprobe_lines(folder, room):
    """In files of a thousand lines. Past 96 KiB, what names no GPU or RDMA module is left out."""
    print("\nmodprobe.d lines                            doctor          peak")
    for count in (10, 100, 1000, 10000, 100000):
        place = os.path.join(folder, "m%d" % count)
        contents = node.copy_of(node.tree_of(NODE))
        for first in range(0, count, 1000):
            contents.file("/etc/modprobe.d/many%02d.conf" % (first // 1000), "".join(
                "options m%d k=%d\n" % (i, i) for i in range(first, min(first + 1000, count))))
        best, = timed(contents, place, "doctor")
        peak = room.against([shutil.which("true")], [program.binary(), "doctor", "--root", place], 1).peak
        complete = subprocess.run([program.binary(), "facts", "modprobe.complete", "--root", place],
                                  stdout=subprocess.PIPE).stdout.strip() == b"true"
        print("%6d                                  %8.2f ms %8.1f MiB%s" % (
            count, best, peak / 1024, "" if complete else "  (not all of them read)"), flush=True)
        shutil.rmtree(place)


def gids(folder):
    """On each of eight ports. A port of mlx5 has 256 places for them."""
    print("\nGIDs of a port               preflight      doctor")
    for count in (8, 32, 128, 256):
        place = os.path.join(folder, "g%d" % count)
        edits = ["gid mlx5_%d %d 10.%d.%d.%d v2 eno1" % (d, i, d, i // 256, i % 256)
                 for d in range(8) for i in range(4, count)]
        contents = node.tree_of(NODE, [textform.Statement("edit", 1, e) for e in edits])
        print("%6d                    %8.2f ms %8.2f ms" % tuple(
            [count] + timed(contents, place, "preflight", "doctor")), flush=True)
        shutil.rmtree(place)


FLEET_FILES = 500


def own_address(address, i, network, form):
    """That of node I: an IPv4 one in NETWORK, or as the IPv6 one of a link."""
    address = re.sub("ba3f:d2ff", "ba3f:%04x" % i, address)
    return re.sub("(%s)[0-9a-f]+" % network, r"\g<1>" + form % (i % 250 + 1), address)


def node_of_fleet(facts, i):
    """The facts of one node as those of number I of a fleet: what each node has for itself is its own, and
    one in ten has something wrong with a link."""
    facts = copy.deepcopy(facts)
    facts["os"].update(hostname="node%05d" % i, boot_id="%08x-7c1d-4f6b-9a53-3f0f6c2d7b10" % i,
                       boot_time_s=1735776000 + 37 * i)
    for probe in facts["probes"]:
        probe["duration_us"] += i % 97
    for launcher in facts["limits"]["launchers"]:
        launcher["pid"] += i
    for gpu in facts["gpu"]["devices"]:
        gpu["uuid"] = "GPU-%08x%s" % (i, gpu["uuid"][12:])
    for device in facts["rdma"]["devices"]:
        device["node_guid"] = "b83f:d203:%04x%s" % (i, device["node_guid"][14:])
        for gid in device["ports"][0]["gids"]:
            gid["gid"] = own_address(gid["gid"], i, ":ffff:[0-9a-f]{4}:[0-9a-f]{2}", "%02x")
    for interface in facts["net"]["interfaces"]:
        interface["addresses"] = [own_address(address, i, r"^10\.\d+\.\d+\.", "%d")
                                  for address in interface["addresses"]]
    if i % 10 == 0:
        linked = [device for device in facts["pci"]["devices"] if device.get("link")]
        linked[i % len(linked)]["link"]["width"] = 1
    return facts


def fleet(folder, room):
    """Of ten thousand nodes, twenty share a file: each is read for itself, and less room is taken. The
    files are as json.dump() writes them, on one line."""
    facts = json.loads(subprocess.run([program.binary(), "facts", "--root", room.root],
                                      stdout=subprocess.PIPE, check=True).stdout)
    print("\nfacts files                  doctor   doctor --json      diff       peak of each, KiB")
    for count in (100, 1000, 10000):
        place = os.path.join(folder, "n%d" % count)
        os.mkdir(place)
        for i in range(count):
            path = "%s/node%05d.json" % (place, i)
            if i >= FLEET_FILES:
                os.link("%s/node%05d.json" % (place, i % FLEET_FILES), path)
                continue
            with open(path, "w") as file:
                json.dump(node_of_fleet(facts, i), file)
        results = [room.against([shutil.which("true")], [program.binary()] + command + [place], 1)
                   for command in (["doctor", "--from"], ["doctor", "--json", "--from"], ["diff"])]
        print("%6d                  %8.0f /s   %8.0f /s   %8.0f /s      %s" % tuple(
            [count] + [count / r.own * 1e6 for r in results] +
            [" ".join("%d" % r.peak for r in results)]), flush=True)
        shutil.rmtree(place)


def some_files(target, total):
    """Copies of this machine's libraries and programs, which is what an image is made of."""
    taken = 0
    for top in ("/usr/lib", "/usr/bin", "/usr/sbin"):
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if taken >= total or os.path.islink(path) or not os.path.isfile(path):
                    continue
                os.makedirs(target + folder, exist_ok=True)
                shutil.copyfile(path, target + path)
                taken += os.path.getsize(path)


def image(folder, room):
    """An image of about 100 MB as initramfs-tools makes it with zstd, against decompressing it and against the
    distribution's lister."""
    if not shutil.which("zstd") or not shutil.which("cpio"):
        return
    content = os.path.join(folder, "content")
    os.makedirs(content)
    some_files(content, 330 << 20)	# some 100 MB compressed
    release = os.listdir(room.root + "/lib/modules")[0]
    path = "%s/boot/initrd.img-%s" % (room.root, release)
    subprocess.run("find . | cpio -o -H newc --quiet | zstd -q -9 -T0 > '%s'" % path, shell=True,
                   cwd=content, check=True)
    shutil.rmtree(content)
    own = [program.binary(), "doctor", "--root", room.root]
    result = room.against([shutil.which("zstd"), "-dcq", path], own, 15)
    line("doctor with a 100 MB zstd image", result.ratio, "1.3", "x zstd -d",
         "%.0f ms against %.0f ms" % (result.own / 1e3, result.other / 1e3))
    result = room.against([shutil.which("true")], own, 5)
    line("its peak", result.peak / 1024, "10", "MiB")
    if shutil.which("lsinitramfs"):
        slower("lsinitramfs takes", room.against([shutil.which("lsinitramfs"), path], own, 5), "5",
               "x doctor")


def patterns():
    """The longest fixed part of each message that why knows."""
    with open(os.path.join(os.path.dirname(TESTS), "data", "messages.tsv"), encoding="ascii") as file:
        rows = [row.split("\t") for row in file if "\t" in row and not row.startswith("#")]
    return sorted({max(re.split(r"\{[^}]*\}|\[[^\]]*\]", row[3]), key=len) for row in rows} - {""})


def log(folder):
    """A log of a training without a failure: most of its bytes are only searched."""
    name, form = os.path.join(folder, "log"), "[rank%d]: step %d loss 2.%04d grad_norm 0.731 lr 3.0e-04 tokens/s 18211.4\n"
    with open(name + ".patterns", "w") as file:
        file.write("\n".join(patterns()) + "\n")
    with open(name, "w") as file:
        for i in range(0, 2500000, 500):
            file.write("".join(form % (k % 64, k, k % 9999) for k in range(i, i + 500)))
    commands = (["grep", "-cF", "-f", name + ".patterns", name],
                [program.binary(), "why", name, "--from", NODES + "/h200-x8.capture"])
    grep, own = (min(once(command) for _ in range(3)) for command in commands)
    line("why, a training log of %d MB" % (os.path.getsize(name) >> 20), own / grep, "1", "x grep -F",
         "%.0f MB/s" % (os.path.getsize(name) / own / 1e6))
    os.unlink(name)


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        room = Room(folder, NODE)
        quick(room, False)
        if os.geteuid() == 0:
            quick(room, True)
        if shutil.which("lspci"):
            result = room.against(
                ["/usr/bin/lspci", "-O", "sysfs.path=%s/sys/bus/pci" % room.root, "-vvv"],
                [program.binary(), "preflight", "--root", room.root], 50)
            slower("lspci -vvv takes", result, "-", "x preflight")
        if shutil.which("nvidia-smi"):
            result = room.against([shutil.which("nvidia-smi"), "-q"],
                                  [program.binary(), "preflight"], 10)
            slower("nvidia-smi -q takes", result, "150", "x preflight")
        nhc(folder, room)
        count = instructions(room)
        if count:
            print("%-44s %8.2f million" % ("preflight, instructions of both processes", count / 1e6))
        log(folder)
        image(folder, room)
        functions(folder)
        modprobe_lines(folder, room)
        gids(folder)
        fleet(folder, room)


if __name__ == "__main__":
    main()
