# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources are as clang-format 14 has them (.clang-format); `make format` makes them so. Other versions place
breaks elsewhere, so where that one is not installed nothing is said."""
import re
import shutil
import subprocess

import pytest

from lib import program


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
            if re.search(r" version 14\.", said):
                return name
    return None


def sources():
    """Of a checkout those that are committed or will be; of an archive, which has no others, all."""
    git = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.c", "*.h"],
                         cwd=program.TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if git.returncode == 0:
        return [name for name in git.stdout.decode().split("\0") if name]
    found = subprocess.run(["find", "src", "tests", "man", "-name", "*.[ch]"], cwd=program.TOP,
                           stdout=subprocess.PIPE, check=True)
    return found.stdout.decode().split()


@pytest.mark.skipif(not clang_format(), reason="clang-format 14 is not installed")
def test_format():
    names = sources()
    assert len(names) > 300
    process = subprocess.run([clang_format(), "--dry-run", "-Werror", "--ferror-limit=1"] + names,
                             cwd=program.TOP, stderr=subprocess.PIPE)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", process.stderr.decode(), re.M)))
    assert process.returncode == 0 and not wrong, "make format changes %s" % " ".join(wrong)


def test_no_comment_breaks_its_declaration():
    """clang-format breaks a declaration whose trailing comment is too long: such a comment belongs above it."""
    broken = re.compile(r"^\t+[a-z][\w *]*\n\t+[\w*\[\], ]+[;,)]+ /\*", re.M)
    wrong = []
    for name in sources():
        with open("%s/%s" % (program.TOP, name), encoding="utf-8", errors="replace") as file:
            wrong += ["%s: %s" % (name, match[0]) for match in broken.finditer(file.read())]
    assert not wrong, "\n".join(wrong)
