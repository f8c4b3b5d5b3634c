# SPDX-License-Identifier: GPL-2.0-or-later
"""systemd-boot: the menu and the entry that boots next, held against bootctl list. Random entries and
loader.conf. bootctl reads no firmware variables here, and neither has the tree any."""

import json
import re

from oracle import SOURCES, UNKNOWN, Oracle, Result, Skip, as_item, empty_folder, facts, files_of, run, write

KERNEL = "6.1.0-10-amd64"
VERSIONS = ("1", "1.2", "1.10", "1.10~rc1", "6.1.0-10-amd64", "6.1.0-9-amd64", "5.14.0-70.el9", "1^x", "1-2", "2a", "", "01.2",
            "1..2", "1.2.", "x", "6.1_0")
KEYS = ("a", "B", "debian", "debian-1", "", "rhel")
MACHINES = ("0123456789abcdef0123456789abcdef", "f123456789abcdef0123456789abcdef")
IDS = ("a", "b", "B", "token-6.1.0-10-amd64", "token-6.1.0-9-amd64", "x.y", "z1", "k10", "k9", "k1.", "k1-2", "q_w")
TRIES = ("", "", "", "", "+3", "+0", "+2-1", "+0-3", "+x", "-1", "+1-", "+12-34")
OPTIONS = ("root=1 ro", "quiet", "a=\"b c\"", " led", "trail ", "x\ty", "$x", "--", "'q'", "", "a\\b")


class Bootctl(Oracle):
    name = "bootctl"
    programs = ("bwrap",)

    def prepare(self):
        self.bootctl = SOURCES / "unpacked/systemd-boot/usr/bin/bootctl"
        if not self.bootctl.exists():
            raise Skip("no %s: tests/oracles/get-material" % self.bootctl)
        if run(self.bootctl, "--version").returncode:
            raise Skip("bootctl needs the systemd of its own version")

    def compare(self, item):
        root = empty_folder(self.place / "tree")
        write(root / "proc/sys/kernel/osrelease", KERNEL + "\n")
        write(root / "boot/loader/loader.conf", "")
        for path, text in files_of(item):
            write(root / "boot" / path, text)
        result = Result()
        theirs = self.ask(root)
        boot = facts(root, "boot")
        ours = boot.get("entries", UNKNOWN)
        result.field("ids", ours if ours is UNKNOWN else [e["id"] for e in ours], [e["id"] for e in theirs])
        for mine, other in zip(ours if ours is not UNKNOWN else [], theirs):
            if mine["id"] != other["id"]:
                break
            result.field("title", mine["title"], other.get("title"))
            result.field("cmdline", mine["cmdline"] or "", " ".join(other.get("options", "").split("\n")))
            initrd = (other.get("initrd") or [None])[-1]
            result.field("initrd", mine["initrd"], initrd and "/boot/" + initrd.lstrip("/"))
        result.field("next", boot.get("next_entry", UNKNOWN), self.default(root))
        return result

    def ask(self, root):
        """Entries that start nothing are in bootctl's list alone."""
        text = self.list(root, "--json=short")
        lines = [json.loads(line) for line in text.splitlines() if line.startswith(("{", "["))]
        lines = lines[0] if lines and isinstance(lines[0], list) else lines
        return [e for e in lines if "linux" in e]

    def default(self, root):
        """The JSON of systemd 252 does not say it."""
        for block in self.list(root).split("\n\n"):
            if re.search(r"^ *title:.* \(default\)", block, re.M):
                return re.search(r"^ *id: (.*)$", block, re.M)[1]
        return None

    def list(self, root, *options):
        done = run("bwrap", "--dev-bind", "/", "/", "--bind", root / "boot", "/boot", "--setenv", "SYSTEMD_RELAX_ESP_CHECKS",
                   "1", self.bootctl, "--esp-path=/boot", "list", *options)
        return done.stdout.decode(errors="replace")

    def random(self, rng):
        files = []
        for stem in rng.sample(IDS, rng.randint(1, 6)):
            name = stem + rng.choice(TRIES) + rng.choice((".conf",) * 9 + (".CONF", ".txt", ""))
            files.append(("loader/entries/" + name, self.entry(rng)))
        if rng.random() < 0.7:
            files.append(("loader/loader.conf", "".join(self.loader_line(rng) for _ in range(rng.randint(0, 4)))))
        for name in ("vmlinuz", "initrd", "ucode"):
            files.append((name, "x"))
        return as_item(dict(files).items())

    def entry(self, rng):
        lines = ["linux" + self.blank(rng) + rng.choice(("/vmlinuz", "vmlinuz", "/vmlinuz-6.1.0-10-amd64"))]
        for key, values in (("title", ("Debian", "A B", "\u00e9", "x  y ")), ("version", VERSIONS), ("sort-key", KEYS),
                            ("machine-id", MACHINES), ("architecture", ("x64", "X64")), ("unknown", ("x",))):
            if rng.random() < 0.6:
                lines.append(key + self.blank(rng) + rng.choice(values))
        for key, values in (("initrd", ("/initrd", "initrd", "/ucode")), ("options", OPTIONS)):
            for _ in range(rng.randint(0, 2)):
                lines.append(key + self.blank(rng) + rng.choice(values))
        for _ in range(rng.choice((0, 0, 1))):
            lines.append(rng.choice(("# comment", "", "  # y", "title", "\toptions z", "options")))
        rng.shuffle(lines)
        return rng.choice(("\n", "\n", "\n", "\r\n")).join(lines) + "\n"

    def blank(self, rng):
        return rng.choice((" ", " ", "   ", "\t", " \t "))

    def loader_line(self, rng):
        value = rng.choice(IDS + ("*", "a*", "token-*", "k?", "[ab]", "*.conf", "B.conf", "a.conf", "nothing", "z1.conf",
                                  "*-9-*", "K10.conf", "!x"))
        return rng.choice(("default %s\n", "default\t%s\n", "  default   %s  \n", "#default %s\n", "default %s.conf\n", "timeout 3\n",
                           "DEFAULT %s\n", "default\n")).replace("%s", value)


ORACLE = Bootctl
