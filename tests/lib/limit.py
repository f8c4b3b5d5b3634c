# SPDX-License-Identifier: GPL-2.0-or-later
"""A test that hangs is ended: it has NVNODECHECK_TEST_LIMIT seconds, what it needs has SHARED times as many, as
that may be for all tests of a file. What it started, and what that started, is killed. A plugin of pytest;
conftest.py has it."""
import os
import signal

import pytest

SECONDS = int(os.environ.get("NVNODECHECK_TEST_LIMIT", "600"))
SHARED = 10
AGAIN = 10	# seconds after which what then still hangs is ended as well


def parents():
    """{pid: its parent's}"""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                # The second field is a name in parentheses, which may have any characters in it.
                found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            pass	# no process, or none any more
    return found


def descendants(pid):
    """Children, theirs, and so on."""
    children = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    found = list(children.get(pid, []))
    for one in found:	# which grows
        found += children.get(one, [])
    return found


def end(seconds):
    """Kills, and lets the test fail where it waits."""
    left = descendants(os.getpid())
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    pytest.fail("did not end within %d s; %d processes of it were killed" % (seconds, len(left)))


def limited(seconds):
    before = signal.signal(signal.SIGALRM, lambda signum, frame: end(seconds))
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    yield from limited(SHARED * SECONDS)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    yield from limited(SECONDS)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    yield from limited(SECONDS)
