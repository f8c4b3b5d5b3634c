# SPDX-License-Identifier: GPL-2.0-or-later
"""/etc/default/grub and grub.d: what the variables are after grub-mkconfig's shell read all of it, held
against dash. Random files from a grammar without commands that do anything."""

import re

from oracle import UNKNOWN, Oracle, Result, as_item, empty_folder, facts, files_of, run, write

KERNEL = "6.1.0-10-amd64"
NAMES = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")
VARIABLES = NAMES + ("GRUB_DEFAULT", "X", "_y1")
# As grub-mkconfig does it.
SHELL = r"""
cd "$1"
. ./etc/default/grub
for x in ./etc/default/grub.d/*.cfg; do
	if [ -e "${x}" ]; then . "${x}"; fi
done
printf '%s\0%s\0' "${GRUB_CMDLINE_LINUX-no}" "${GRUB_CMDLINE_LINUX_DEFAULT-no}"
"""
LITERALS = ("quiet", "iommu=pt", "a b", " led", "trail ", "x=\"y z\"", "it's", "", "#hash", "a#b", "\\", "~", "*", "!x",
            "$", "a;b", "(c)", "a&b", "a|b", "<>", "-n", "{e}", "\t", "two\nlines", "\u00e9", "--", "export", "if", "[x]",
            "=", "a=b", "\"", "`", "%s", "\\n", "0")


class Dash(Oracle):
    name = "dash"
    programs = ("dash",)

    def compare(self, item):
        root = empty_folder(self.place / "tree")
        write(root / "proc/sys/kernel/osrelease", KERNEL + "\n")
        for path, text in files_of(item):
            write(root / path, text)
        result = Result()
        shell = run("env", "-i", "PATH=/nowhere", "/usr/bin/dash", "-c", SHELL, "dash", root)
        # grub-mkconfig names the whole path, in the same variable x.
        theirs = shell.stdout.decode(errors="replace").replace("./etc/default/", "/etc/default/").split("\0")
        if shell.returncode or shell.stderr or len(theirs) != 3:
            return result	# a file that grub-mkconfig fails at
        sources = facts(root, "cmdline").get("sources", [])
        for name, value in zip(NAMES, theirs):
            ours = [s["text"] for s in sources if s["variable"] == name]
            ours = ours[-1] if ours else "no"
            # What the program does not take apart, such as $$, stays as it is written.
            result.field(name, UNKNOWN if re.search(r"\$[{(0-9@*#?$!-]|`", ours) else ours, value)
        return result

    def random(self, rng):
        files = [("etc/default/grub", self.script(rng))]
        for name in ("10-a.cfg", "b.cfg", "c.txt"):
            if rng.random() < 0.2:
                files.append(("etc/default/grub.d/" + name, self.script(rng)))
        return as_item(files)

    def script(self, rng):
        return "".join(self.statement(rng) for _ in range(rng.randint(1, 6)))

    def statement(self, rng, depth=0):
        form = rng.randrange(14 if depth < 2 else 10)
        if form < 5:
            return rng.choice(("", "", "  ", "\t")) + self.assignment(rng) + rng.choice(("", "", " ", "; ", " # x 'y")) + "\n"
        if form == 5:
            return "export " + " ".join(self.assignment(rng) for _ in range(rng.randint(1, 2))) + "\n"
        if form == 6:
            return rng.choice(("; ", " ")).join(self.assignment(rng) for _ in range(rng.randint(2, 3))) + "\n"
        if form == 7:
            return "# " + self.assignment(rng).replace("\n", " ") + "\n"
        if form == 8:
            return "%s %s\n" % (self.assignment(rng), rng.choice(("true", ":", "\\\n :")))[:2000]
        if form == 9:
            return "%s %s\n" % (rng.choice((":", "true", "export")), rng.choice(("X", "GRUB_CMDLINE_LINUX", "_y1")))
        if form == 10:
            return "if %s; then\n%sfi\n" % (rng.choice(("true", ":", "! false")), self.statement(rng, depth + 1))
        if form == 11:
            return "{ %s}\n" % self.statement(rng, depth + 1)
        if form == 12:
            return "true && %s\n" % self.assignment(rng)
        return "export %s\n%s; %s\n" % (rng.choice(NAMES), self.assignment(rng), self.assignment(rng))

    def assignment(self, rng):
        return "%s=%s" % (rng.choice(VARIABLES), "".join(self.part(rng) for _ in range(rng.choice((0, 1, 1, 2, 3)))))

    def part(self, rng):
        text, form = rng.choice(LITERALS), rng.randrange(6)
        if form == 0:
            return "'" + text.replace("'", "'\\''") + "'"
        if form == 1:
            return '"' + self.in_quotes(text) + '"'
        if form == 2:
            return '"%s%s%s"' % (self.in_quotes(text), self.variable(rng), self.in_quotes(rng.choice(LITERALS)))
        if form == 3:
            return "".join("\\" + c if c != "\n" else "'\n'" for c in text)
        if form == 4:
            return self.variable(rng)
        return rng.choice(("quiet", "a=b", "iommu=pt,x", "x\\\ny", "a#b", "-", "%d" % rng.randrange(99), "\\\n", "\"a\\\nb\"",
                           "\"\\a\\ \\x\"", "$", "\"$\"", "\"$ x\"", "[a]", "=", "{x}", "!"))

    def in_quotes(self, text):
        return "".join("\\" + c if c in "\\\"$`" else c for c in text)

    def variable(self, rng):
        name, word = rng.choice(VARIABLES + ("UNSET",)), rng.choice(("d", "", "e f", "$X", "'q'", "a=b"))
        return rng.choice(("$%s", "${%s}", "${%s}", "${%s:-" + word + "}", "${%s-" + word + "}", "${%s:+" + word + "}",
                           "${%s+" + word + "}", "${%s:+$%s }")).replace("%s", name)


ORACLE = Dash
