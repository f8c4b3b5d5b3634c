# SPDX-License-Identifier: GPL-2.0-or-later
"""make check takes a sample of what is repeated hundreds of times; make check-long takes all of it."""
import os

LONG = bool(os.environ.get("NVNODECHECK_LONG"))


def or_short(whole, short):
    """The number that stands for all of it, or for the sample."""
    return whole if LONG else short


def one_of(number, items, first=0):
    """Every NUMBERth of ITEMS from the place FIRST on: the same ones in each run. All of them in check-long."""
    return list(items)[first % number::number] if not LONG else list(items)


def dealt(number, items):
    """ITEMS dealt out to NUMBER groups that are tried at once; a group for each in check-long."""
    items = list(items)
    number = len(items) if LONG else min(number, len(items))
    return [items[i::number] for i in range(number)]
