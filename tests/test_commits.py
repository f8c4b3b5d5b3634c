# SPDX-License-Identifier: GPL-2.0-or-later
"""Commits that no remote has yet are signed off by their author, as CONTRIBUTING.md asks. In a clone whose commits
all came from elsewhere, and in an archive, there is nothing to look at."""
import subprocess

import pytest

from lib import program


def git(*args):
    process = subprocess.run(["git", *args], cwd=program.TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if process.returncode:
        pytest.skip("no repository")
    return process.stdout.decode()


def test_signed_off():
    if not git("remote").strip():
        pytest.skip("no remote to send to")
    log = git("log", "--no-merges", "--format=%h%x00%an <%ae>%x00%(trailers:key=Signed-off-by,valueonly)%x01",
              "HEAD", "--not", "--remotes")
    commits = [entry.strip("\n").split("\0") for entry in log.split("\1") if entry.strip()]
    unsigned = [name for name, author, signers in commits if author not in signers.split("\n")]
    assert not unsigned, "git rebase --signoff signs %s" % " ".join(unsigned)
