# SPDX-License-Identifier: GPL-2.0-or-later
"""grub.cfg: which entry GRUB starts, and with what, held against grub-emu. In it "linux" and "initrd"
are functions, which say what they are given."""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import termios
import time

from oracle import SOURCES, UNKNOWN, Oracle, Result, empty_folder, facts, files_of, write

KERNEL = "6.1.0-10-amd64"
PRELUDE = """\
function oracle_say {
  echo "@@$chosen@"
  for word in "$@"; do
    echo "@=$word@"
  done
  echo "@."
}
"""
FUNCTIONS = "".join("function %s { \noracle_say %s \"$@\"\n}\n" % (n, n) for n in (
    "linux", "linux16", "linuxefi", "initrd", "initrd16", "initrdefi"))


class Grub(Oracle):
    name = "grub"
    programs = ("grub-emu", "bwrap")

    def prepare(self):
        self.tree = empty_folder(self.place / "tree")
        self.copy = empty_folder(self.place / "copy")
        for path, text in (("proc/sys/kernel/osrelease", KERNEL + "\n"), ("proc/cmdline", "\n")):
            write(self.tree / path, text)

    def put(self, item):
        """ITEM: the files of /boot/grub, each after a line "==> NAME"."""
        for root in (self.tree, self.copy):
            folder = empty_folder(root / "boot/grub")
            for name, text in files_of(item):
                if root == self.copy and name == "grub.cfg":
                    text = PRELUDE + FUNCTIONS + text + "\nset timeout=0\nunset timeout_style\n"
                write(folder / name, text)

    def compare(self, item):
        self.put(item)
        result = Result()
        said = emulate(self.copy)
        if said is None:
            return result
        boot = facts(self.tree, "boot", "cmdline")
        ours, staged = boot["boot"], boot["cmdline"].get("staged", {})
        chosen, linux, initrd = said
        if linux is None:
            result.field("next", ours.get("next_entry", UNKNOWN), None)
            return result
        result.field("next", ours.get("next_entry", UNKNOWN), chosen.replace(">>", "\0").replace(">>", ">"))
        # grub-emu 2.06 does not carry out an "export" of an unset variable that is the first command after one that failed.
        # Its source does not say why.
        stale = re.search(r"insmod .*\belse\b.*\bexport\b", item, re.S)
        result.field("cmdline", UNKNOWN if stale else staged.get("text", UNKNOWN), command_line(linux[1:]))
        theirs = place_of(initrd, linux) if initrd else None
        result.field("initrd", ours.get("next_initrd", UNKNOWN), theirs)
        return result

    def random(self, rng):
        return Script(rng).whole()

    def smaller(self, item, still_bad):
        """Whole statements are left out, then what stands round others."""
        lines, changed = item.splitlines(True), True
        while changed:
            changed = False
            at = 0
            while at < len(lines):
                end = statement_end(lines, at)
                inner = lines[at + 1:end - 1] if end > at + 1 else []
                for less in (lines[:at] + lines[end:], lines[:at] + inner + lines[end:]):
                    if still_bad("".join(less)):
                        lines, changed = less, True
                        break
                else:
                    at += 1
        return "".join(lines)

    def material(self):
        for path in sorted((SOURCES / "grub2/tests").glob("grub_script_*.in")):
            text = path.read_text()
            if "linux" not in text:
                yield "==> grub.cfg\n" + text + ENTRY

ENTRY = "\nmenuentry 'x' {\n linux /boot/vmlinuz-1 a b c $d $e $f $i $x $y\n}\n"


def statement_end(lines, at):
    depth = 0
    for i in range(at, len(lines)):
        line = lines[i].strip()
        depth += bool(re.match(r"(if|for|while|until|function|menuentry|submenu)\b", line))
        depth -= line in ("fi", "done", "}")
        if depth <= 0 and not lines[i].endswith("\\\n"):
            return i + 1
    return len(lines)


def command_line(words):
    """lib/cmdline.c"""
    line = []
    for word in words:
        text = re.sub(r"(\\x[0-9a-fA-F]{2})|([\\'\"])", lambda m: m[1] or "\\" + m[2], word)
        line.append('"%s"' % text if " " in word else text)
    return " ".join(line)


def place_of(initrd, linux):
    suffix = linux[0].rpartition("/")[2].partition("-")[2]
    named = [word for word in initrd if suffix and suffix in word.rpartition("/")[2]]
    word = re.sub(r"^\([^)]*\)", "", (named or initrd[-1:])[0])
    return word if "/boot/" in word else "/boot" + ("" if word.startswith("/") else "/") + word


def emulate(root):
    """(chosen, words of linux, words of initrd) of the entry that is started; None where GRUB got stuck."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("bwrap", ["bwrap", "--dev-bind", "/", "/", "--bind", str(root / "boot"), "/boot",
                            "grub-emu", "-d", "/boot/grub", "-r", "host"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 4000, 0, 0))
    text, end = read_until(fd, b"Failed to boot both", 3)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(fd)
    if not end:
        return None
    chosen, commands = None, {}
    for block in re.findall(r"@@(.*?)@\r*\n(.*?)@\.", text, re.S):
        words = re.findall(r"@=(.*?)@\r*\n", block[1], re.S)
        chosen = block[0]
        if words[0].startswith("linux"):
            commands.pop("initrd", None)
        commands[words[0].rstrip("16efi") if words[0] != "linux" else "linux"] = words[1:]
    return chosen, commands.get("linux"), commands.get("initrd")


def read_until(fd, mark, seconds):
    """Presses a key where GRUB waits for one."""
    out, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([fd], [], [], 0.05)[0]:
            continue
        try:
            block = os.read(fd, 65536)
        except OSError:
            break
        out += block
        if mark in out:
            return out.decode("latin-1"), True
        if b"Press any key" in out[-400:]:
            os.write(fd, b"\n")
    return out.decode("latin-1"), False


# ---- random scripts ----

NAMES = ["a", "b", "c", "default", "root_arg", "opt"]
VALUES = ["", "0", "1", "2", "two words", " led", "trail ", "x=y", "it's", 'q"q', "back\\slash", "semi;colon",
          "a*b", "#hash", "{brace}", "$dollar", "6.1", "one", "sub>in", "sub", "-n", "=", "!", "("]


class Script:
    def __init__(self, rng):
        self.rng = rng
        self.entries = 0
        self.functions = []
        self.depth = 0

    def one_of(self, *choices):
        return self.rng.choice(choices)

    def whole(self):
        text = "".join(self.statement(0) for _ in range(self.rng.randint(1, 8)))
        text += self.entry(0) + "".join(self.statement(0, top=True) for _ in range(self.rng.randint(0, 5)))
        files = "==> grub.cfg\n" + text
        if self.rng.random() < 0.4:
            files += "==> grubenv\n# GRUB Environment Block\n" + "".join(
                "%s=%s\n" % (self.rng.choice(NAMES), self.rng.choice(VALUES).replace("\\", "\\\\"))
                for _ in range(self.rng.randint(0, 3))) + "#" * self.rng.choice((0, 100))
        if self.rng.random() < 0.4:
            files += "==> custom.cfg\n" + "".join(self.statement(1, top=True) for _ in range(2))
        return files

    def quoted(self, text):
        form = self.rng.randrange(4)
        if form == 0 or not text:
            return "'" + text.replace("'", "'\\''") + "'"
        if form == 1:
            return '"' + re.sub(r'([$"\\])', r"\\\1", text) + '"'
        if form == 2:
            return re.sub(r"([^A-Za-z0-9_./=-])", r"\\\1", text)
        cut = self.rng.randrange(len(text))
        return "'%s'\"%s\"" % (text[:cut].replace("'", "'\\''"), re.sub(r'([$"\\])', r"\\\1", text[cut:]))

    def variable(self):
        name = self.rng.choice(NAMES + ["1", "#", "@", "*", "?", "unset_one"])
        return self.one_of("$%s", "${%s}") % name

    def word(self):
        parts = []
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            form = self.rng.randrange(6)
            if form < 3:
                parts.append(self.quoted(self.rng.choice(VALUES)))
            elif form == 3:
                parts.append(self.variable())
            elif form == 4:
                parts.append('"%s"' % self.variable())
            else:
                parts.append('"x %s\\$ \\z %s"' % (self.variable(), self.variable()))
        return "".join(parts)

    def test(self, depth=0):
        form = self.rng.randrange(9 if depth < 3 else 6)
        w = self.safe_word
        if form == 0:
            return "%s %s" % (self.one_of("-n", "-z"), w())
        if form == 1:
            return "%s %s %s" % (w(), self.one_of("=", "==", "!=", "\\<", '">"', "'<='", "\\>="), w())
        if form == 2:
            return "%s %s %s" % (self.number(), self.one_of("-eq", "-ne", "-lt", "-le", "-gt", "-ge"), self.number())
        if form == 3:
            return "%s %s %s" % (w(), self.one_of("-pgt", "-plt"), w())
        if form == 4:
            return "%s $prefix/%s" % (self.one_of("-f", "-e", "-s", "-d"),
                                      self.one_of("custom.cfg", "grubenv", "nothing", "grub.cfg"))
        if form == 5:
            return w()
        if form == 6:
            return "! " + self.test(depth + 1)
        if form == 7:
            return "%s %s %s" % (self.test(depth + 1), self.one_of("-a", "-o", ""), self.test(depth + 1))
        return "( %s )" % self.test(depth + 1)

    def safe_word(self):
        return self.one_of('"$%s"' % self.rng.choice(NAMES), "$%s" % self.rng.choice(NAMES),
                           "x$%s" % self.rng.choice(NAMES), "v1", "v2", "v11", "12", "15", "''", "two\\ words")

    def number(self):
        return self.one_of("0", "1", "-1", "10", "0x10", "010", "7z", "z", "''", '"$a"', "'  3'")

    def condition(self):
        form = self.rng.randrange(8)
        if form < 4:
            return self.one_of("[ %s ]", "! [ %s ]", "test %s") % self.test()
        if form == 4:
            return self.one_of("true", "false", "! true", "! false")
        if form == 5:
            return "%s; [ %s ]" % (self.simple().strip(), self.test())
        if form == 6 and self.functions:
            return self.rng.choice(self.functions)
        return "insmod nothing_like_it" if self.rng.random() < 0.2 else "[ %s ]" % self.test()

    def simple(self):
        form = self.rng.randrange(12)
        name = self.rng.choice(NAMES)
        if form < 4:
            return "set %s=%s\n" % (name, self.word())
        if form == 4:
            return "%s=%s\n" % (name, self.word())
        if form == 5:
            return "unset %s\n" % name
        if form == 6:
            return "export %s\n" % name
        if form == 7:
            return "load_env%s\n" % self.one_of("", " --file $prefix/grubenv", " a b")
        if form == 8:
            return self.one_of("source $prefix/custom.cfg\n",
                               "if [ -f ${config_directory}/custom.cfg ]; then\nsource ${config_directory}/custom.cfg\n"
                               "elif [ -z \"${config_directory}\" -a -f $prefix/custom.cfg ]; then\n"
                               "source $prefix/custom.cfg\nfi\n") if self.depth == 0 else "true\n"
        if form == 9 and self.functions:
            return "%s %s %s\n" % (self.rng.choice(self.functions), self.word(), self.word())
        if form == 10:
            return "eval \"set %s='%s'\"\n" % (name, self.one_of("1", "e $a", "x y"))
        return "set default=%s\n" % self.one_of("0", "1", "2", "'1>0'", "sub", "sub0\\>in", "'T 1'", "one", "7", "$a",
                                                "\"${a}\"", "e1", "e2", '"sub1>e2"', "'T 0>T 1'", "''", "1x", "0x1")

    def block(self, level, least=1):
        return "".join(self.statement(level + 1) for _ in range(self.rng.randint(least, 3)))

    def statement(self, level, top=False):
        self.depth = level
        form = self.rng.randrange(14)
        if top and form < 5:
            return self.entry(level)
        if level > 3 or form < 6:
            return self.simple()
        if form < 10:
            text = "if %s; then\n%s" % (self.condition(), self.block(level))
            while self.rng.random() < 0.3:
                text += "elif %s ; then\n%s" % (self.condition(), self.block(level))
            if self.rng.random() < 0.5:
                text += "else\n" + self.block(level)
            return text + "fi\n"
        if form == 10:
            return "for %s in %s; do\n%s%sdone\n" % (
                self.rng.choice(NAMES), " ".join(self.word() for _ in range(self.rng.randint(0, 3))),
                self.block(level), self.one_of("", "", "break\n", "continue\n", "set b=\"$b$a\"\n"))
        if form == 11 and level == 0:
            name = "f%d" % len(self.functions)
            text = "function %s {\n%s%s}\n" % (name, self.block(level), self.one_of(
                "", "return\n", "return 1\n", "shift\nset a=\"$1\"\n", "setparams 'p q' r\nset c=\"$@\"\n",
                "set b=\"$#\"\n"))
            self.functions.append(name)
            return text
        if form == 12:
            return "# a 'comment\n" + re.sub("^([a-z_]+) ", lambda m: m[1] + self.one_of(" ", "  ", "\t", " \\\n"), self.simple())
        if form == 13:
            name = self.rng.choice(NAMES)
            return "set %s=x\n%s [ \"$%s\" %s xxxx ]; do\nset %s=\"${%s}x\"\n%sdone\n" % (
                name, *self.one_of(("while", name, "!="), ("until", name, "=")), name, name,
                self.one_of("", "break\n", "continue\n"))
        return self.simple()

    def entry(self, level):
        n = self.entries
        self.entries += 1
        if self.rng.random() < 0.25 and level < 3:
            inner = "".join(self.statement(level + 1) for _ in range(self.rng.randint(0, 2)))
            inner += "".join(self.entry(level + 1) for _ in range(self.rng.randint(1, 3)))
            return "submenu 'T %d' %s {\n%s}\n" % (n, self.one_of("", "--id sub%d" % n, "--id=sub"), inner)
        body = self.block(level + 2, 0) if self.rng.random() < 0.4 else ""
        words = " ".join(self.word() for _ in range(self.rng.randint(0, 4)))
        body += "\tlinux %s/vmlinuz-%d %s\n" % (self.one_of("/boot", "(host)/boot", "($root)/boot", "/boot"), n, words)
        if self.rng.random() < 0.7:
            body += "\tinitrd %s/boot/initrd.img-%d\n" % (self.one_of("", "/boot/ucode.img "), n)
        return "menuentry 'T %d' %s {\n%s}\n" % (
            n, self.one_of("", "--class x --id e%d" % n, "--id=e%d" % n, "--class x $menuentry_id_option 'e%d'" % n,
                           "--id '%s'" % self.one_of("one", "in", "6.1-x"), "--unrestricted"), body)


ORACLE = Grub
