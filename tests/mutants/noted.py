# SPDX-License-Identifier: GPL-2.0-or-later
"""A plugin of pytest: which mutants would make a difference in each test. A line of JSON for each test and each
fixture that several tests share, in a file of the folder that MUTANTS_NOTED names."""
import json
import os
import tempfile
import time

import pytest

FOLDER = os.environ["MUTANTS_NOTED"]
VARIABLE = "NVNODECHECK_COVERAGE"
failed = set()


def read_noted(path):
    """The numbers of the mutants that the program noted in PATH, which is removed."""
    try:
        with open(path, "rb") as file:
            bytes_ = file.read()
        os.unlink(path)
    except FileNotFoundError:
        return []
    return [n for n, byte in enumerate(bytes_) if byte]


def write(**what):
    with open(os.path.join(FOLDER, "%d.json" % os.getpid()), "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


def noting(done):
    """Calls DONE(numbers, seconds) with what is noted until the generator goes on."""
    before, path = os.environ.get(VARIABLE), tempfile.mktemp(prefix="noted-", dir=FOLDER)
    os.environ[VARIABLE], start = path, time.monotonic()
    yield
    done(read_noted(path), time.monotonic() - start)
    if before is None:
        del os.environ[VARIABLE]
    else:
        os.environ[VARIABLE] = before


def users(fixturedef, request):
    """The tests that share this value of a fixture."""
    for item in request.session.items:
        if fixturedef.argname not in item.fixturenames or item.module is not request.node.getparent(pytest.Module).obj:
            continue
        call = getattr(item, "callspec", None)
        if not hasattr(request, "param") or (call and call.params.get(fixturedef.argname) == request.param):
            yield item.nodeid


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef, request):
    if fixturedef.scope != "module":
        yield
    else:
        yield from noting(lambda noted, seconds: write(tests=list(users(fixturedef, request)), noted=noted,
                                                       seconds=0, failed=False))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if outcome.get_result().failed:
        failed.add(item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    yield from noting(lambda noted, seconds: write(tests=[item.nodeid], noted=noted, seconds=seconds,
                                                   failed=item.nodeid in failed))
