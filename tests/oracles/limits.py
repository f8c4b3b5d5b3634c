# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits. limits.conf and limits.d are held against pam_limits: a session of a user is opened with the files as they
are, and with the lines of the facts alone, and both get the same limits. Units and their drop-ins are held against
systemd in the same way. What the rule says of logins, and of a service, is held against the limit that came out."""

import json
import os
import re
import shutil

from oracle import PROGRAM, TOP, UNKNOWN, Failed, Oracle, Result, Skip, as_item, empty_folder, facts, files_of, run, write

from lib import node
from lib.tree import Stage

NODE = "hgx-h100-ib"
SYSTEMD = "/lib/systemd/systemd"
UNITS = ("slurmd.service", "site-a-slurmd.service")	# the usual one, and one that the process tells
MEMLOCK_ERR = 64 << 20	# src/rules/limits.c, MEMLOCK_FAIL_BYTES
PASSWD = "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\nbob:x:1001:1002::/:/bin/sh\ncarol:x:2000:2000::/:/bin/sh\n"
GROUP = "root:x:0:\nalice:x:1000:\nhpc:x:1002:alice\nml:x:1003:alice,bob\ncarol:x:2000:\n"
USERS = ("root", "alice", "bob", "carol")	# no line is for carol alone, nor for a group of hers
PAM = "session required pam_limits.so\n"
BASES = ("8388608:8388608", "8388608:unlimited", "65536:65536", "8388608:1073741824")

DOMAINS = ("*", "*", "*", "*", "alice", "bob", "root", "@hpc", "@ml", "@nothing", "%hpc", "1000", "1000:1001", ":1001", "@1002", "@1002:1003", "nobody")
TYPES = ("soft", "hard", "-", "-", "soft", "hard", "SOFT", "Hard", "both")
ITEMS = ("memlock", "memlock", "memlock", "nofile", "nofile", "MEMLOCK", "NoFile", "stack", "core", "maxlogins", "what")
AMOUNTS = ("unlimited", "unlimited", "infinity", "-1", "-", "Unlimited", "INFINITY", "64", "8192", "32768", "65536", "67108864", "1048576",
           "0", "64k", "8M", "+4096", "0x1000", "what", "18014398509481984", "99999999999999999999")
LINES = ("", "# * - memlock 1", "   # x", "* soft memlock", "* - memlock 4096 more", "memlock 5", "alice -", "@ml -", "* -", "[x]",
         "* - memlock 4096 # note", "* - memlock 4096#note", "\t*\t-\tmemlock\t4096\t", "* - memlock 4096\r")
FILES = ("a.conf", "b.conf", "10-x.conf", "9.conf", "Z.conf", "rdma.conf", "a.conf.rpmsave", "README", ".hidden.conf", "x.CONF")

ROOTS = ("etc", "etc", "run", "usr/local/lib", "usr/lib")
SIZES = ("infinity", "infinity", "8M", "64K", "64G", "1T", "1024", "0", "8388608", "65536:infinity", "1M:2M", "2M:1M", "", "unlimited", "-1",
         "8m", "8 M", "0x1000", "what", "1.5G", " 64M ", "infinity:8M", "1024:", ":1024", "8M # note")


class Limits(Oracle):
    """An input: files, and "base" with the limits that sshd, or systemd, has itself."""
    name = "limits"
    programs = ("bwrap", "cc")

    def prepare(self):
        done = run("cc", "-O2", "-D_GNU_SOURCE", "-rdynamic", "-o", self.place / "session", TOP / "tests/oracles/session.c", "-lpam")
        if done.returncode:
            raise Skip("session.c: %s" % done.stderr.decode())
        self.has_systemd = os.access(SYSTEMD, os.X_OK)
        self.tree = self.place / "tree"
        Stage(str(self.tree)).put(node.tree_of(NODE))
        self.processes = {}
        for comm in self.tree.glob("proc/[0-9]*/comm"):
            if comm.read_text().strip() in ("containerd", "sshd", "slurmd"):
                self.processes[comm.read_text().strip()] = comm.parent
                shutil.move(comm.parent, self.place / comm.read_text().strip())
        etc = self.place / "etc"
        write(etc / "passwd", PASSWD)
        write(etc / "group", GROUP)
        write(etc / "nsswitch.conf", "passwd: files\ngroup: files\n")
        write(etc / "pam.d/session", PAM)

    # ---- inputs ----

    def random(self, rng):
        if self.has_systemd and rng.random() < 0.5:
            return self.random_units(rng)
        files = {"base": rng.choice(BASES) + "\n", "etc/security/limits.conf": self.pam_text(rng)}
        for name in rng.sample(FILES, rng.choice((0, 0, 1, 2, 3))):
            files["etc/security/limits.d/" + name] = self.pam_text(rng)
        return as_item(files.items())

    def pam_text(self, rng):
        lines = []
        for _ in range(rng.randint(0, 5)):
            if rng.random() < 0.15:
                lines.append(rng.choice(LINES))
            else:
                blank = rng.choice((" ", " ", "\t", "  \t"))
                lines.append(blank.join(rng.choice(words) for words in (DOMAINS, TYPES, ITEMS, AMOUNTS)))
        return "".join(line + "\n" for line in lines)

    def random_units(self, rng):
        files, unit = {}, rng.choice(UNITS)
        for _ in range(rng.choice((0, 1, 1, 2))):
            files[rng.choice(("etc/systemd/system.conf", "%s/systemd/system.conf.d/%s.conf" % (rng.choice(ROOTS), rng.choice("abZ"))))] = (
                self.unit_text(rng, "Manager", "DefaultLimit"))
        files["%s/systemd/system/%s" % (rng.choice(("etc", "usr/lib", "usr/lib")), unit)] = (
            "[Service]\nExecStart=/bin/true\n" + self.unit_text(rng, "Service", "Limit"))
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            files["%s/systemd/system/%s/%s.conf" % (rng.choice(ROOTS), rng.choice((unit + ".d", unit + ".d", "service.d", "site-.service.d", "site-a-.service.d")),
                                                    rng.choice(("a", "b", "10", "9", "Z", ".x")))] = self.unit_text(rng, "Service", "Limit")
        return as_item(files.items())

    def unit_text(self, rng, section, prefix):
        lines = ["[%s]" % section]
        for _ in range(rng.randint(0, 3)):
            if rng.random() < 0.15:
                lines.append(rng.choice(("# %sMEMLOCK=1", "; x", "", "[Unit]", "[X-Other]", "%sMEMLOCK=8M \\", "%smemlock=8M", "[%s]" % section,
                                         "%sMEMLOCK")).replace("%s", prefix))
            else:
                lines.append("%s%s%s%s" % (prefix, rng.choice(("MEMLOCK", "MEMLOCK", "NOFILE", "STACK")), rng.choice(("=", "=", " = ")), rng.choice(SIZES)))
        return "".join(line + "\n" for line in lines)

    # ---- comparing ----

    def compare(self, item):
        files = dict(files_of(item))
        for path in ("etc/security", "etc/systemd", "run/systemd", "usr/lib/systemd", "usr/local/lib/systemd"):
            empty_folder(self.tree / path)
        (self.tree / "etc/systemd/system/multi-user.target.wants").mkdir(parents=True)
        write(self.tree / "usr/lib/systemd/system/basic.target", "[Unit]\n")
        for path, text in files.items():
            if path != "base":
                write(self.tree / path, text)
        result = Result()
        if "base" in files:
            self.compare_pam(result, files)
        else:
            self.compare_systemd(result, files)
        return result

    def compare_pam(self, result, files):
        words = files["base"].split()
        base = words[0] if words and words[0] in BASES else BASES[0]
        self.let_run("sshd", *base.split(":"))
        settings = [s for s in facts(self.tree, "limits").get("settings", []) if s["file"].startswith("/etc/security/")]
        theirs = self.sessions(self.tree / "etc/security", base)
        alone = empty_folder(self.place / "alone")
        write(alone / "limits.conf", "".join("%(scope)s %(kind)s %(item)s %(value)s\n" % s for s in settings))
        ours = self.sessions(alone, base)
        exempt = re.findall(r"^\s*(\S+)\s+-\S*\s*(?:#.*)?$", "\n".join(files.values()), re.M)
        for user in USERS:
            # Where a user has "NAME -", no line counts: the facts are those of lines that set a limit.
            result.field("limits of " + user, UNKNOWN if exempt or not theirs[user] else ours[user], theirs[user])
        if theirs["carol"]:
            self.compare_logins(result, theirs["carol"][0])

    def compare_logins(self, result, memlock):
        """What the rule says of logins is so for a user for whom no line is meant."""
        found = self.findings().get("sshd")
        said = found and (found["verdict"], found["severity"] if found["verdict"] == "fail" else None)
        result.field("logins", said, expected_of(memlock))

    def compare_systemd(self, result, files):
        unit = ([u for u in UNITS if any("/%s" % u in path for path in files)] or UNITS)[0]
        self.let_run("slurmd", 8 << 20, 8 << 20, unit)
        theirs = self.limits_of(unit, self.tree)
        if theirs is None:
            result.field("unit", UNKNOWN, None)
            return
        settings = [s for s in facts(self.tree, "limits").get("settings", []) if s["scope"] in ("systemd", unit)]
        result.field("limits of the unit", self.limits_of(unit, self.with_lines(unit, settings)), theirs)
        memlock = theirs.get("MEMLOCKSoft", 8 << 20)
        self.let_run("slurmd", memlock, theirs.get("MEMLOCK", 8 << 20), unit)
        found = self.findings().get("slurmd")
        named = re.search(r", set in (\S+):(\d+)$", found["observed"] or "")
        deciding = [s for s in settings if named and (s["file"], str(s["line"]), s["item"]) == (named[1], named[2], "memlock")]
        result.field("line of the rule", len(deciding), 1 if named else 0)
        if found["verdict"] == "fail":
            kept = deciding + [s for s in settings if s["scope"] == "systemd"]
            result.field("the line that decides", self.limits_of(unit, self.with_lines(unit, kept)).get("MEMLOCKSoft"), theirs.get("MEMLOCKSoft"))

    def with_lines(self, unit, settings):
        """A tree with the unit, and of the lines with limits these alone."""
        alone = empty_folder(self.place / "alone")
        texts = {"systemd": "[Manager]\n", unit: "[Service]\nExecStart=/bin/true\n"}
        for s in settings:
            if s["scope"] in texts:
                prefix = "DefaultLimit" if s["scope"] == "systemd" else "Limit"
                texts[s["scope"]] += "%s%s=%s\n" % (prefix, s["item"].upper(), s["value"])
        write(alone / "etc/systemd/system.conf", texts["systemd"])
        write(alone / "etc/systemd/system" / unit, texts[unit])
        return alone

    def findings(self):
        done = run(PROGRAM, "--root", self.tree, "doctor", "--json", "--profile", "deepep")
        if done.returncode not in (0, 1, 3):
            raise Failed("doctor ended with %d: %s" % (done.returncode, done.stderr.decode()))
        return {f["subject"]: f for f in json.loads(done.stdout)["findings"] if f["rule"] == "limits/memlock"}

    def let_run(self, comm, soft, hard, unit=None):
        """This process alone, of those that start jobs."""
        for folder in self.processes.values():
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.place / comm, self.processes[comm])
        write(self.processes[comm] / "limits", limits_text(soft, hard, 1024, 524288))
        if unit:
            write(self.processes[comm] / "cgroup", "0::/system.slice/%s\n" % unit)

    # ---- the owners ----

    def sessions(self, security, base):
        """{user: limits of a session}; None in place of the limits: it is refused."""
        limits = base.split(":") + [1024, 524288]
        binds = ["--ro-bind", self.place / "limits", "/proc/1/limits", "--ro-bind", security, "/etc/security"]
        for name in ("passwd", "group", "nsswitch.conf", "pam.d"):
            binds += ["--ro-bind", self.place / "etc" / name, "/etc/" + name]
        write(self.place / "limits", limits_text(*limits))
        done = run("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *binds, "--ro-bind", self.place, "/mnt",
                   "--unshare-pid", "/mnt/session", *limits, *USERS)
        if done.returncode:
            raise Failed("session: %s" % done.stderr.decode().strip())
        found = {}
        for line in done.stdout.decode().splitlines():
            user, status, *words = line.split()
            found[user] = tuple(amount(word) for word in words) if status == "0" else None
        return found

    def limits_of(self, unit, tree):
        """{"MEMLOCK": bytes, "MEMLOCKSoft": ...} of the unit, as systemd loads it; None: it does not. When it is not the
        first process it reads user.conf, by the same function."""
        merged = empty_folder(self.place / "merged")
        for folder in ("etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd"):
            if (tree / folder).is_dir():
                shutil.copytree(tree / folder, merged / folder, dirs_exist_ok=True)
        for path in sorted(merged.rglob("system.conf*")):
            path.rename(path.parent / path.name.replace("system", "user"))
        write(merged / "usr/lib/systemd/system/wanted.target", "[Unit]\nWants=%s\n" % unit)
        binds = []
        for folder in ("etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd"):
            (merged / folder).mkdir(parents=True, exist_ok=True)
            binds += ["--ro-bind", merged / folder, "/" + folder]
        shutil.copy(SYSTEMD, merged / "usr/lib/systemd")
        links = [word for name in ("bin", "sbin", "lib", "lib64") for word in ("--symlink", "usr/" + name, "/" + name)]
        done = run("bwrap", "--ro-bind", "/usr", "/usr", *links, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/usr/local", *binds, "--ro-bind", "/sys/fs/cgroup", "/sys/fs/cgroup", "--unshare-all",
                   "--uid", "65534", "--gid", "65534", "--clearenv", "--setenv", "HOME", "/", SYSTEMD, "--test", "--system", "--unit=wanted.target")
        text = done.stdout.decode(errors="replace")
        part = re.search(r"^\s*-> Unit %s:\n(.*?)(?=^\s*-> Unit |\Z)" % re.escape(unit), text, re.M | re.S)
        if not part:
            raise Failed("systemd --test: %s" % done.stderr.decode(errors="replace")[-1000:])
        if "Load State: loaded" not in part[1]:
            return None
        return {name: amount(value) for name, value in re.findall(r"^\s+Limit((?:MEMLOCK|NOFILE)(?:Soft)?): (\S+)$", part[1], re.M)}


def limits_text(memlock, memlock_hard, nofile, nofile_hard):
    return "".join("Max %-25s %-20s %-20s %s\n" % row for row in (
        ("Limit", "Soft Limit", "Hard Limit", "Units"), ("stack size", 8388608, "unlimited", "bytes"),
        ("open files", nofile, nofile_hard, "files"), ("locked memory", memlock, memlock_hard, "bytes"))).replace("Max Limit", "Limit    ", 1)


def amount(word):
    return "unlimited" if word in ("unlimited", str(2 ** 64 - 1)) else int(word)


def expected_of(memlock):
    """The rule's verdict and severity for logins that can lock as much."""
    if memlock == "unlimited":
        return "pass", None
    return "fail", "err" if memlock <= MEMLOCK_ERR else "warn"


ORACLE = Limits
