# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of modules, held against modinfo and depmod: every module of Debian's kernel, some at a time, under the
names of those that are read, as it is or compressed."""

import os
import subprocess

from oracle import SOURCES, UNKNOWN, Oracle, Result, Skip, empty_folder, facts, run, write

from lib import modinfo

NAMES = ("nvidia", "nvidia-uvm", "nvidia-peermem", "mlx5_core", "mlx5_ib", "ib_core", "gdrdrv", "nouveau")
COMPRESSORS = {"": None, ".gz": "gzip", ".xz": "xz", ".zst": "zstd"}


class Modules(Oracle):
    name = "modules"
    programs = ("modinfo", "depmod", "gzip", "xz", "zstd")

    def prepare(self):
        found = sorted((SOURCES / "unpacked").glob("linux-image-*/lib/modules/*"))
        if not found:
            raise Skip("no linux-image in %s: tests/oracles/get-material" % (SOURCES / "unpacked"))
        self.kernel = found[-1].name
        self.files = sorted(found[-1].glob("**/*.ko"))

    def material(self):
        """In the order of the files: a small one beside a large one."""
        step = len(self.files) // len(NAMES) + 1
        for i in range(step):
            yield tuple((path, "") for path in self.files[i::step])

    def random(self, rng):
        return tuple((path, rng.choice(tuple(COMPRESSORS))) for path in rng.sample(self.files, rng.randint(1, len(NAMES))))

    def compare(self, item):
        root = empty_folder(self.place / "tree")
        folder = root / "usr/lib/modules" / self.kernel
        (root / "usr/lib").mkdir(parents=True)
        (root / "lib").symlink_to("usr/lib")
        write(root / "proc/sys/kernel/osrelease", self.kernel + "\n")
        for name, (path, suffix) in zip(NAMES, item):
            data = path.read_bytes()
            if suffix:
                data = subprocess.run([COMPRESSORS[suffix], "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
            write(folder / "extra" / (name + ".ko" + suffix), data)
        run("depmod", "-b", root, self.kernel)
        indexed = {line.split(":")[0] for line in (folder / "modules.dep").read_text().splitlines()}
        result = Result()
        found = facts(root, "modules").get("files")	# unknown if unpacking took too long
        result.field("files", UNKNOWN if found is None else len(found), len(item))
        found = found or []
        as_it_was = {name + ".ko" + suffix: path for name, (path, suffix) in zip(NAMES, item)}
        for module in found:
            below = module["path"].split(self.kernel + "/")[1]
            result.field("indexed", module["indexed"], below in indexed)
            # Some modinfos cannot unpack them all.
            for field, ours, theirs in modinfo.compared(as_it_was[os.path.basename(below)], module):
                result.field(field, UNKNOWN if ours == UNKNOWN else ours, theirs)
        return result

    def smaller(self, item, still_bad):
        return next(((one,) for one in item if still_bad((one,))), item)

    def show(self, item):
        return "".join("%s%s\n" % (path, suffix) for path, suffix in item)


ORACLE = Modules
