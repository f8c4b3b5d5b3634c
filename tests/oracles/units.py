# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether units are enabled, held against systemctl --root: random folders of units and links, with the unit
files that are installed here and random ones."""

import pathlib
import re

from oracle import UNKNOWN, Oracle, Result, empty_folder, facts, read_text, run, write

HERE = pathlib.Path("/usr/lib/systemd/system")
UNITS = ("nvidia-persistenced.service", "nvidia-fabricmanager.service", "tuned.service", "docker.service", "kubelet.service",
         "slurmd.service", "containerd.service", "nvidia-dcgm.service", "rdma-ndd.service", "openibd.service",
         "systemd-modules-load.service", "nvidia-peermem-loader.service")
VENDOR, ETC, RUN, LOCAL = FOLDERS = ("usr/lib/systemd/system", "etc/systemd/system", "run/systemd/system",
                                     "usr/local/lib/systemd/system")
TARGETS = ("multi-user.target.wants", "sysinit.target.wants", "x.target.requires", "graphical.target.wants")
LINES = ("WantedBy=multi-user.target", "WantedBy=", "RequiredBy=x.target", "Alias=other.service", "Also=x.service", "Also=",
         "DefaultInstance=x", "# WantedBy=y.target", "; x", "", "wantedby=multi-user.target", "WantedBy = a.target",
         "[Unit]", "[Service]", "[Install]", "WantedBy=a.target \\", "  b.target")


class Units(Oracle):
    """An input: ((path, target or None, text), ...)"""
    name = "units"
    programs = ("systemctl",)

    def prepare(self):
        self.bodies = sorted(p for p in HERE.glob("*.service") if p.is_file() and not p.is_symlink())

    def material(self):
        """Each unit file alone, and enabled."""
        for body in self.bodies:
            for links in ((), ((ETC + "/multi-user.target.wants/slurmd.service", "/%s/slurmd.service" % VENDOR, ""),)):
                yield ((VENDOR + "/slurmd.service", None, read_text(body)), *links)

    def random(self, rng):
        files = {}
        for unit in rng.sample(UNITS, rng.randint(1, 6)):
            if rng.random() < 0.9:
                self.add(files, rng.choice((VENDOR, VENDOR, VENDOR, ETC, RUN, LOCAL)), unit, None, self.body(rng))
            form = rng.randrange(9)
            folder = rng.choice((ETC, ETC, ETC, RUN, VENDOR))
            target = rng.choice(("/%s/%s" % (VENDOR, unit), "/%s/%s" % (ETC, unit), "../" + unit, "/lib/systemd/system/" + unit,
                                 "/%s/nothing.service" % VENDOR))
            if form < 5:
                self.add(files, folder, rng.choice(TARGETS) + "/" + unit, target, "")
            elif form == 5:
                self.add(files, rng.choice((ETC, RUN)), unit, "/dev/null", "")
            elif form == 6:
                self.add(files, rng.choice((ETC, RUN)), "other.service", target, "")
            elif form == 7:
                self.add(files, rng.choice((ETC, RUN)), unit, None, self.body(rng))
        return tuple((path, target, text) for path, (target, text) in files.items())

    def add(self, files, folder, name, target, text):
        files[folder + "/" + name] = (target, text)

    def body(self, rng):
        if rng.random() < 0.4:
            return read_text(rng.choice(self.bodies))
        text = "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n"
        if rng.random() < 0.8:
            text += "[Install]\n" + "".join(rng.choice(LINES) + "\n" for _ in range(rng.randint(0, 4)))
        return text

    def compare(self, item):
        root = empty_folder(self.place / "tree")
        for folder in FOLDERS + ("etc/init.d",):
            (root / folder).mkdir(parents=True)
        (root / "lib").symlink_to("usr/lib")
        write(root / "proc/1/comm", "systemd\n")
        # Without any units of its own, or any folder that enables some, a tree is a part of one.
        write(root / VENDOR / "basic.target", "[Unit]\n")
        (root / ETC / "default.target.wants").mkdir()
        for path, target, text in item:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            if target:
                (root / path).symlink_to(target)
            else:
                write(root / path, text)
        shown = run("systemctl", "--root", root, "list-unit-files", "--no-legend", "--plain").stdout.decode()
        theirs = dict(line.split()[:2] for line in shown.splitlines() if line.strip())
        result = Result()
        for unit in facts(root, "services").get("units", []):
            if unit["unit"] in UNITS:
                result.field("enabled", unit.get("enabled", UNKNOWN), theirs.get(unit["unit"]))
        return result

    def smaller(self, item, still_bad):
        changed = True
        while changed:
            changed = False
            for i in range(len(item)):
                less = item[:i] + item[i + 1:]
                if less and still_bad(less):
                    item, changed = less, True
                    break
        return item

    def show(self, item):
        return "".join("%s -> %s\n" % (path, target) if target else "%s\n%s" % (path, re.sub("^", "\t", text, flags=re.M))
                       for path, target, text in item)


ORACLE = Units
