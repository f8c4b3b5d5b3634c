#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules of a real kernel, some of them damaged: what doctor's dry run says of each, against what modprobe and the
kernel do with it in a virtual machine.

A module whose init function fails (no such device) was taken by the kernel: the dry run is about the loader alone."""
import argparse
import collections
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from cpio import Archive
from guest import Guest, run, which
from run import Failure, read
from scenario import CPU

TIMEOUT_S = 3000
# They take the machine down, or run for minutes.
LEFT_OUT = re.compile(r"wdt|watchdog|torture|test|lkdtm|ramoops|pstore|kexec|softdog|mce|einj|panic|crash|9p|virtio")
REFUSALS = re.compile(
    r"Unknown symbol|disagrees about version|version magic|module using GPL-only|does not import it|is rejected")
ERRORS = re.compile(r"not found in directory|Exec format error|Key was rejected|Unknown symbol in module|"
                    r"No such file or directory|Invalid module format|could not find module by name")
PREPARE = """
mount -o bind /mnt/share/modules /usr/lib/modules/%s
while read name; do
    dmesg -c > /dev/null
    status=0
    timeout 60 modprobe $name > /tmp/out 2>&1 || status=$?
    { echo "== $name $status"; cat /tmp/out; dmesg; } >> /mnt/share/results
    timeout 60 modprobe -r $name > /dev/null 2>&1 || true
done < /mnt/share/names
echo "== end 0" >> /mnt/share/results
sync
poweroff -f
"""


# ---- damage ----

def unsigned(data):
    """Without the signature behind it, whose digest would not be right any more."""
    magic = b"~Module signature appended~\n"
    if not data.endswith(magic):
        return data
    size = struct.unpack(">I", data[-len(magic) - 4:-len(magic)])[0]
    return data[:-len(magic) - 12 - size]


def section(data, name):
    """Offset and size, by the section headers of an ELF64 file."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, strings = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for header in headers:
        start = headers[strings][4] + header[0]
        if data[start:data.index(b"\0", start)] == name:
            return header[4], header[5]
    return 0, 0


def versions(data):
    """[(offset, name)] of __versions."""
    at, size = section(data, b"__versions")
    return [(at + i, data[at + i + 8:at + i + 64].rstrip(b"\0")) for i in range(0, size, 64)]


def damage_version(data):
    found = [v for v in versions(data) if v[1] != b"module_layout"]
    return _flip(data, found[0][0]) if found else None


def damage_layout(data):
    found = [v for v in versions(data) if v[1] == b"module_layout"]
    return _flip(data, found[0][0]) if found else None


def _flip(data, at):
    return data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]


def damage_symbol(data):
    """A symbol gets a name that nothing offers, wherever the file has it."""
    for _, name in versions(data):
        if len(name) > 12 and name != b"module_layout" and data.count(b"\0" + name + b"\0") >= 1:
            return data.replace(name + b"\0", name[:-2] + b"QZ\0")
    return None


def damage_magic(data):
    return data.replace(b"vermagic=6", b"vermagic=6").replace(b" SMP ", b" SMQ ", 1) if b" SMP " in data else None


def damage_license(data):
    for text in (b"license=GPL v2\0", b"license=GPL\0"):
        if text in data:
            return data.replace(text, text.replace(b"GPL", b"XPL"))
    return None


def damage_namespace(data):
    at = data.find(b"import_ns=")
    return _flip(data, at + 10) if at >= 0 else None


DAMAGES = {"version": damage_version, "layout": damage_layout, "symbol": damage_symbol, "magic": damage_magic,
           "license": damage_license, "namespace": damage_namespace}


def spoil(tree, count, choice):
    """{module: what was done} of COUNT modules; the files of some more are gone, before depmod and after it."""
    files = sorted(tree.rglob("*.ko"))
    choice.shuffle(files)
    done = {}
    kinds = list(DAMAGES)
    for path in files:
        if len(done) >= count or LEFT_OUT.search(path.name):
            continue
        kind = kinds[len(done) % len(kinds)]
        changed = DAMAGES[kind](unsigned(path.read_bytes()))
        if changed:
            path.write_bytes(changed)
            done[module_name(path)] = kind
    return done


def module_name(path):
    return path.name.split(".ko")[0].replace("-", "_")


# ---- both answers ----

def predict(driver, tree, release, names):
    done = subprocess.run([driver, tree, release], input="\n".join(names), capture_output=True, text=True)
    if done.returncode:
        raise Failure("modprobe-dry-run: exit status %d" % done.returncode)
    return {line.split()[0]: line.split(None, 2)[1:] for line in done.stdout.splitlines()}


def load_them(guest, folder, names):
    share = folder / "share"
    (share / "names").write_text("\n".join(names) + "\n")
    archive = Archive()
    archive.file("/scenario/prepare", (PREPARE % guest.kernel.release).encode(), 0o755)
    (folder / "initramfs").write_bytes(b"".join(guest.images) + archive.bytes())
    command = [which("qemu-system-x86_64"), "-accel", "tcg", "-nodefaults", "-nographic", "-no-reboot",
               "-M", "q35", "-cpu", CPU, "-m", "3072", "-serial", "file:%s" % (folder / "console"),
               "-kernel", str(guest.kernel.vmlinux), "-initrd", str(folder / "initramfs"),
               "-append", "console=ttyS0 quiet panic=-1",
               "-virtfs", "local,path=%s,mount_tag=share,security_model=none" % share]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        pass	# what was tried until then counts
    return read(share / "results")


def results(text):
    """{module: (refused, the lines that say so)}"""
    found = {}
    for block in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, _, rest = block.partition("\n")
        name, status = head.split()
        said = [line for line in rest.splitlines() if REFUSALS.search(line) or ERRORS.search(line)]
        if name != "end":
            found[name] = (bool(said) and status != "0", said[:2])
    return found


# ---- the comparison ----

def compare(predicted, real, spoiled):
    count, wrong = collections.Counter(), []
    for name, (refused, said) in real.items():
        answer, *why = predicted.get(name, ["missing"])
        right = {"yes": not refused, "no": refused}.get(answer)
        count["%s, %s" % (answer, "refused" if refused else "taken")] += 1
        if name in spoiled:
            count["damaged (%s): %s, %s" % (spoiled[name], answer, "refused" if refused else "taken")] += 1
        if right is False:
            wrong.append("%s (%s): dry run %s %s; the kernel: %s" % (
                name, spoiled.get(name, "as it is"), answer, " ".join(why), said or "taken"))
    return count, wrong


def make_tree(guest, folder):
    """All modules of the kernel, its headers, in the form of a tree and of a share."""
    release = guest.kernel.release
    tree, share = folder / "tree", folder / "share"
    with tempfile.TemporaryDirectory(dir=folder) as name:
        for package in (guest.kernel.folder / "packages").glob("linux-image-*.deb"):
            run("dpkg-deb", "-x", package, name)
        share.mkdir()
        (pathlib.Path(name) / "lib" / "modules" / release).rename(share / "modules")
    (tree / "lib" / "modules").mkdir(parents=True)
    (tree / "usr" / "src").mkdir(parents=True)
    shutil.copytree(guest.kernel.headers / "src", tree / "usr" / "src", dirs_exist_ok=True, symlinks=True)
    return tree, share / "modules"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/nvnodecheck")
    parser.add_argument("--driver", default="build/tests/modprobe-dry-run")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--damaged", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    choice = random.Random(options.seed)
    guest = Guest("build/vm", pathlib.Path(options.program).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nvnodecheck-loads-"))
    try:
        return check(options, choice, guest, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder)


def check(options, choice, guest, folder):
    tree, modules = make_tree(guest, folder)
    release = guest.kernel.release
    spoiled = spoil(modules, options.damaged, choice)
    top = tree / "lib" / "modules" / release
    shutil.copytree(modules, top, symlinks=True)
    run(which("depmod"), "-b", tree, release)
    shutil.rmtree(modules)
    shutil.copytree(top, modules, symlinks=True)
    names = sorted(module_name(p) for p in top.rglob("*.ko") if not LEFT_OUT.search(p.name))
    whole = choice.sample([n for n in names if n not in spoiled], min(options.count, len(names) - len(spoiled)))
    names = [n for n in names if n in spoiled or n in whole]
    predicted = predict(options.driver, tree, release, names)
    count, wrong = compare(predicted, results(load_them(guest, folder, names)), spoiled)
    for what, n in sorted(count.items()):
        print("%-50s %d" % (what, n))
    for line in wrong:
        print("WRONG", line)
    total = sum(n for what, n in count.items() if not what.startswith("damaged"))
    print("%d of %d modules tried, %d wrong" % (total, len(names), len(wrong)))
    return 1 if wrong or total < len(names) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
