#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [--seconds N] [--count N] [--seed N] [ORACLE...]: holds what the program reads against the
programs that own the formats. Each oracle takes its material and random inputs in turn, until its time
is over or it had --count inputs. A difference that known-differences.tsv does not explain fails, and is
shown as the least input that still has it. Each oracle ends with a line of counts, and the run with
"N passed, N failed"."""

import argparse
import importlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import oracle  # noqa: E402

SHOWN = 5	# differences that are shown and made small, of one oracle
SHRINK_S = 20


def names():
    folder = os.path.dirname(os.path.abspath(__file__))
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and name not in ("run.py", "oracle.py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                if "\nORACLE = " in file.read():
                    found.append(name[:-3])
    return found


class Counts:
    def __init__(self):
        self.inputs = self.fields = self.unknown = self.known = self.shown = 0
        self.bad = []


def all_inputs(it, rng):
    """The material in an order of this seed, and random ones between."""
    material = list(it.material())
    rng.shuffle(material)
    while True:
        item = it.random(rng)
        if item is None and not material:
            return
        if material:
            yield material.pop()
        if item is not None:
            yield item


def inputs(it, rng, options):
    end = time.monotonic() + options.seconds
    for item in itertools.islice(all_inputs(it, rng), options.count):
        yield item
        if time.monotonic() > end:
            return


def unexplained(it, result, known, counts=None):
    bad = []
    for difference in result.differences:
        if any(name == it.name and pattern.search(str(difference)) for name, pattern, _ in known):
            if counts:
                counts.known += 1
        else:
            bad.append(difference)
    return bad


def compare(it, item, tries=2):
    """A program that does not end, or ends in an unexpected way, is a difference; on a busy machine one does not end
    in time that ends the next time."""
    try:
        return it.compare(item)
    except subprocess.TimeoutExpired as error:
        if tries > 1:
            return compare(it, item, tries - 1)
        said = "time", str(error)
    except oracle.Failed as error:
        said = "exit", str(error)
    result = oracle.Result()
    result.field(*said, "")
    return result


def shrink(it, item, field, known):
    end = time.monotonic() + SHRINK_S

    def still_bad(less):
        if time.monotonic() > end:
            return False
        try:
            return any(d.field == field for d in unexplained(it, compare(it, less), known))
        except Exception:
            return False
    return it.smaller(item, still_bad)


def perform(it, options, known):
    counts = Counts()
    rng = random.Random(options.seed)
    for item in inputs(it, rng, options):
        result = compare(it, item)
        bad = unexplained(it, result, known, counts)
        counts.inputs += 1
        counts.fields += result.fields
        counts.unknown += result.unknown
        if not bad:
            continue
        counts.bad += bad
        counts.shown += 1
        if counts.shown <= SHOWN:
            item = shrink(it, item, bad[0].field, known)
            bad = unexplained(it, compare(it, item), known) or bad
            print("-- %s: %s\n%s" % (it.name, bad[0], it.show(item)), flush=True)
    return counts


def one(name, options, known):
    """The number of unexplained differences; None: it could not run."""
    place = oracle.new_place()
    try:
        it = importlib.import_module(name).ORACLE(place)
        counts = perform(it, options, known)
    except oracle.Skip as why:
        print("%s: skipped: %s" % (name, why), flush=True)
        return None
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print("%s: %d inputs, %d differences, %d known (%d fields, %d of them unknown here)" % (
        name, counts.inputs, len(counts.bad), counts.known, counts.fields, counts.unknown), flush=True)
    return len(counts.bad) if counts.inputs else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each oracle")
    parser.add_argument("--count", type=int, help="inputs at most, for each oracle")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("oracle", nargs="*", help="of: " + ", ".join(names()))
    options = parser.parse_args()
    known = oracle.known_differences()
    results = [one(name, options, known) for name in options.oracle or names()]
    failed = sum(r is not None and r > 0 for r in results)
    print("%d passed, %d failed" % (sum(r == 0 for r in results), failed))
    return 1 if failed or not any(r is not None for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
