# SPDX-License-Identifier: GPL-2.0-or-later
"""modprobe.d and the words for modules on the kernel command line, held against libkmod: the files of
kmod's own tests, and mutations of their lines."""

import re

from oracle import Oracle, Result, as_item, empty_folder, facts, files_of, read_text, source, write

from lib import kmod

KERNEL = "6.1.0-10-amd64"
FOLDERS = ("etc/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d", "usr/lib/modprobe.d")
NAMES = ("a.conf", "b.conf", "10-x.conf", "Z.conf", "nvidia.conf", "y.txt", ".hidden.conf")
LINES = (
    "options nvidia NVreg_A=1 NVreg_B=\"x=1; y=2\"", "options nvidia-drm modeset=1", "softdep nvidia post: nvidia-uvm",
    "softdep mlx5_core  pre: a b post: c", "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS # x",
    "remove nvidia rmmod -r x", "alias char-major-195* nvidia", "alias pci:v000010DEd*sv*[0-9]bc03sc0[0-2]i00* nvidia",
    "blacklist nouveau", "# a comment \\", "options a b=c \\", "\toptions\tx\ty=z ", "weakdep a b", "config x",
    "options a-b[c-d] e-f=1", "alias a[b-c d-e", "blacklist", "options", "options x ", "install x ", "softdep x", "",
)
BYTES = " \t\n\\\"'#-_=[]:;\r\v\f\0ab.,*\udcff\u00e9"
WORDS = ("modprobe.blacklist=a,b-c", "a.b=1", "nvidia.NVreg_X=\"p q\"", "\"x.y=1 2\"", "quiet", "--", "a-b.c-d=e-f",
         "module_blacklist=q", "a.b", ".x=1", "a.=1", "modprobe.blacklist=", "x.y=z.w", "a[b.c=1", "\"", "a\"b.c=1")


class Modprobe(Oracle):
    name = "modprobe"
    programs = ("cc",)

    def prepare(self):
        self.program = kmod.build(self.place)
        self.lines = list(LINES)
        for item in self.material():
            self.lines += [line for _, text in files_of(item) for line in text.splitlines()]

    def material(self):
        folder = source("kmod") / "testsuite/rootfs-pristine"
        for path in sorted(folder.glob("**/modprobe.d/*")):
            if path.is_file():
                yield as_item([("etc/modprobe.d/" + path.name, read_text(path))])
        for path in sorted(folder.glob("**/proc/cmdline")):
            yield as_item([("proc/cmdline", read_text(path))])

    def random(self, rng):
        files = {}
        for _ in range(rng.randint(1, 4)):
            lines = [self.mutated(rng, rng.choice(self.lines)) for _ in range(rng.randint(0, 6))]
            files[rng.choice(FOLDERS) + "/" + rng.choice(NAMES)] = "\n".join(lines) + rng.choice(("\n", ""))
        if rng.random() < 0.5:
            files["proc/cmdline"] = " ".join(
                self.mutated(rng, rng.choice(WORDS)).replace("\n", " ") for _ in range(rng.randint(0, 5))) + "\n"
        return as_item(files.items())

    def mutated(self, rng, line):
        for _ in range(rng.choice((0, 0, 1, 2, 4))):
            at = rng.randint(0, len(line))
            line = line[:at] + rng.choice((rng.choice(BYTES), "", "  ")) + line[at + rng.randint(0, 2):]
        return line

    def put(self, item):
        root = empty_folder(self.place / "tree")
        for folder in FOLDERS + ("usr/lib/modules/" + KERNEL,):
            (root / folder).mkdir(parents=True)
        (root / "lib").symlink_to("usr/lib")
        write(root / "proc/sys/kernel/osrelease", KERNEL + "\n")
        write(root / "proc/cmdline", "\n")
        for path, text in files_of(item):
            write(root / path, text)
        return root

    def compare(self, item):
        root = self.put(item)
        result = Result()
        for name, ours, theirs in kmod.compared(self.program, root, KERNEL, facts(root, "modprobe")):
            result.field(re.sub(" of .*", "", name), ours, theirs)
        return result


ORACLE = Modprobe
