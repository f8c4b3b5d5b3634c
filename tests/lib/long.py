# SPDX-License-Identifier: GPL-2.0-or-later
"""make check takes a sample of what is repeated hundreds of times; make check-long takes all of it."""
import os

LONG = bool(os.environ.get("NVNODECHECK_LONG"))


def or_short(whole, short):
    """The number that stands for all of it, or for the sample."""
    return whole if LONG else short
