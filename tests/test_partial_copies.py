# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of a node that lack folders, or parts of /proc and /sys: nothing passes, fails or steps aside for
what is missing. A sample of what tests/oracles/partial.py goes through whole."""
import random

import pytest

from lib import partial

PAIRS = 20
RANDOM = 12


@pytest.fixture(scope="module", params=partial.NODES)
def copy(request, stages):
    return partial.Copy(stages("partial"), request.param)


def check(copy, sets):
    wrong = {}
    for names in sets:
        for said in copy.without(names):
            wrong.setdefault(said, "without %s: %s" % (", ".join(names), said))
    assert not wrong, "\n".join(wrong.values())


def test_without_a_part(copy):
    check(copy, partial.single(copy))


def test_with_a_part_alone(copy):
    check(copy, random.Random(1).sample(partial.single_left(copy), 15))


def test_without_one_of_two_that_speak_of_one_thing(copy):
    check(copy, random.Random(2).sample(partial.of_one_thing(copy), PAIRS))


def test_without_some(copy):
    check(copy, random.Random(3).sample(partial.pairs(copy), PAIRS) +
          [partial.at_random(copy, random.Random(seed)) for seed in range(RANDOM)])
