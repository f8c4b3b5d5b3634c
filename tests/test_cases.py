# SPDX-License-Identifier: GPL-2.0-or-later
"""Every case of tests/cases: an edit over a node, the real program over the whole tree, what it must
say then. The cases run in two threads before the first is judged."""
import concurrent.futures
import traceback

import pytest

from lib import cases

THREADS = 2
ALL = {case.name: case for case in cases.read_all()}


@pytest.fixture(scope="module")
def outcomes(request, stages):
    chosen = [item.callspec.params["name"] for item in request.session.items
              if item.function is test_case]
    # Cases over one node follow each other, so that little of the tree has to be written anew.
    chosen.sort(key=lambda name: ALL[name].node)
    size = (len(chosen) + THREADS - 1) // THREADS or 1
    parts = [chosen[i:i + size] for i in range(0, len(chosen), size)]
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        done = pool.map(lambda part: _perform(part[1], stages("cases-%d" % part[0])),
                        enumerate(parts))
        return {name: said for part in done for name, said in part.items()}


def _perform(names, stage):
    said = {}
    for name in names:
        try:
            said[name] = cases.perform(ALL[name], stage)
        except Exception:
            said[name] = traceback.format_exc()
    stage.clear()
    return said


@pytest.mark.parametrize("name", list(ALL))
def test_case(name, outcomes):
    if outcomes[name]:
        pytest.fail(outcomes[name], pytrace=False)


def test_names_differ():
    """A case is found by its file and title."""
    assert len(ALL) == len(cases.read_all())
