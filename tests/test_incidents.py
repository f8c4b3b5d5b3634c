# SPDX-License-Identifier: GPL-2.0-or-later
"""What happened to people in public, as states of a host (tests/incidents/*.cases): the finding that
would have ended the search must be there. At the end it prints how many of the incidents that one
host can show are found, and how many controls, in which nothing may be said, are clean.

variants.cases has the same classes as other people would meet them; they count for neither."""
import os
import re

import pytest

from lib import cases

ALL = {case.name: case for case in cases.read_all(cases.INCIDENTS)}
ID = re.compile(r"INC-[0-9]{3}$")
CONTROLS, VARIANTS = "incidents/controls:", "incidents/variants"


@pytest.fixture(scope="module")
def outcomes(request, stages):
    chosen = [item.callspec.params["name"] for item in request.session.items
              if item.function is test_incident]
    return cases.perform_all([ALL[name] for name in chosen], stages)


def not_on_a_host():
    """ID REASON, a line each."""
    with open(os.path.join(cases.INCIDENTS, "not-on-a-host"), encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file if line.strip() and line[0] != "#"]
    return {ident: reason.strip() for ident, reason in lines}


@pytest.mark.parametrize("name", list(ALL))
def test_incident(name, outcomes):
    if outcomes[name]:
        pytest.fail(outcomes[name], pytrace=False)


def test_incidents_are_named():
    """Each case says which incident it is or is like; none is both shown and said not to show."""
    elsewhere = not_on_a_host()
    for case in ALL.values():
        assert case.incidents and all(ID.match(i) for i in case.incidents), case.name
        assert case.name.startswith(VARIANTS) or not set(case.incidents) & set(elsewhere), case.name
    assert all(ID.match(i) and reason for i, reason in elsewhere.items())
    assert len(ALL) == len(cases.read_all(cases.INCIDENTS)), "two cases have one name"


def count(outcomes, chosen):
    """How many incidents have all their cases right, of how many. CHOSEN: names of cases."""
    right = {}
    for name in chosen:
        for ident in ALL[name].incidents:
            right[ident] = right.get(ident, True) and not outcomes[name]
    return sum(right.values()), len(right)


def test_recall(outcomes, capsys):
    """The last one: it counts, and fails only where the single cases do."""
    shown = [n for n in outcomes if not n.startswith((CONTROLS, VARIANTS))]
    found = count(outcomes, shown)
    clean = count(outcomes, [n for n in outcomes if n.startswith(CONTROLS)])
    variants = [n for n in outcomes if n.startswith(VARIANTS)]
    with capsys.disabled():
        print("\nvariants found %d/%d" % (sum(not outcomes[n] for n in variants), len(variants)))
        print("recall %d/%d" % found)
        print("controls clean %d/%d" % clean)
    assert found[0] == found[1] and clean[0] == clean[1]
