# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's command line, held against the kernel: what it does not know of one it gives its first process, bare
words as arguments and the others as variables. Each input boots a virtual machine."""

import re
import subprocess
import sys

from oracle import SOURCES, TOP, Failed, Oracle, Result, Skip, facts, run, write

from lib import images

sys.path.append(str(TOP / "tests/vm"))	# not before: units and run are also names here

from guest import uncompressed  # noqa: E402

# The last three are for a machine that is emulated on a busy one.
OURS = "console=ttyS0 panic=-1 quiet loglevel=0 reboot=t no_timer_check tsc=unstable nowatchdog"
KNOWN = [word.split("=")[0] for word in OURS.split()]
VALUES = ("1", "", "a,b", "x=y", "\"b c\"", "\"b c", "b\"c d\"e", "'q r'", "\"\"", "\\", "a\\ b", "$x", "\"x\"y", "--", "#", "\t")
WORDS = ("--", "zqbare", "\"zq bare\"", "\"zqk=v w\"", "zq\"a b\"", "zq-dash", "zq_low", "zq.dot=1", "\"zqd\"=x", "zqe=", "zqopen=\"a b")


class Cmdline(Oracle):
    name = "cmdline"
    programs = ("qemu-system-x86_64", "cc")

    def prepare(self):
        found = sorted((SOURCES / "unpacked").glob("linux-image-*/boot/vmlinuz-*"))
        if not found:
            raise Skip("no linux-image in %s: tests/oracles/get-material" % (SOURCES / "unpacked"))
        self.kernel = self.place / "vmlinux"
        write(self.kernel, uncompressed(found[-1].read_bytes()))
        init = self.place / "init"
        run("cc", "-O2", "-static", "-D_GNU_SOURCE", "-o", init, TOP / "tests/oracles/init.c")
        self.image = self.place / "image"
        write(self.image, images.archive(images.entry("dev", mode=0o040755), images.entry("init", init.read_bytes(), mode=0o100755),
                                         console_node()))

    def random(self, rng):
        words = []
        for _ in range(rng.randint(1, 24)):
            if rng.random() < 0.4:
                words.append(rng.choice(WORDS))
            else:
                words.append("zq%s=%s" % (rng.choice("abcd-_"), rng.choice(VALUES)))
        return OURS + "".join(rng.choice((" ", " ", "  ", "\t")) + word for word in words)

    def compare(self, item):
        theirs = self.boot(item)
        write(self.place / "tree/proc/cmdline", item + "\n")
        arguments, variables = [], {}
        for arg in facts(self.place / "tree", "cmdline")["args"]:
            key, value = arg["key"], arg["value"]
            if key.split("=")[0] in KNOWN or "." in key:
                continue	# the kernel's own, or a module's
            if value is None:
                arguments.append(key)
            else:
                variables[key] = value
        result = Result()
        # The kernel leaves all words after "--" to its first process, and the facts end there.
        count = len(arguments) if "--" in item.split() else None
        result.field("arguments", arguments, theirs["argument"][:count])
        result.field("variables", variables, dict(v.split("=", 1) for v in theirs["variable"] if not v.startswith(("HOME=", "TERM="))))
        return result

    def boot(self, item):
        for _ in range(2):
            text = self.output(item)
            if "@end@" in text:
                return {kind: re.findall(r"^@%s (.*)@$" % kind, text, re.M) for kind in ("argument", "variable")}
        raise Failed("the machine did not start: %s" % text[-2000:])

    def output(self, item):
        done = subprocess.run(["qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-m", "256", "-serial", "stdio",
                               "-kernel", self.kernel, "-initrd", self.image, "-append", item], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, check=True)
        return done.stdout.decode(errors="replace").replace("\r", "")


def console_node():
    """/dev/console: the kernel opens it for its first process."""
    head = bytearray(images.entry("dev/console", mode=0o020600))
    head[6 + 8 * 9:6 + 8 * 11] = b"%08x%08x" % (5, 1)
    return bytes(head)


ORACLE = Cmdline
