# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for what another process does in its own time, which is long on a machine that is busy."""
import time

SECONDS = 120


def until(condition, what="it"):
    """What CONDITION gives, once that is true."""
    end = time.monotonic() + SECONDS
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, "waited too long for " + (what() if callable(what) else what)
        time.sleep(0.01)
