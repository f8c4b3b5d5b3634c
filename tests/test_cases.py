# SPDX-License-Identifier: GPL-2.0-or-later
"""Every case of tests/cases: an edit over a node, the real program over the whole tree, what it must
say then. The cases run in two threads before the first is evaluated."""
import pytest

from lib import cases

ALL = {case.name: case for case in cases.read_all()}


@pytest.fixture(scope="module")
def outcomes(request, stages):
    chosen = [item.callspec.params["name"] for item in request.session.items
              if item.function is test_case]
    return cases.perform_all([ALL[name] for name in chosen], stages)


@pytest.mark.parametrize("name", list(ALL))
def test_case(name, outcomes):
    if outcomes[name]:
        pytest.fail(outcomes[name], pytrace=False)


def test_names_differ():
    """A case is found by its file and title."""
    assert len(ALL) == len(cases.read_all())
