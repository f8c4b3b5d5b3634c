# SPDX-License-Identifier: GPL-2.0-or-later
"""Partial copies of five nodes: the whole copy is the oracle. All parts, all pairs of them, each part
alone, all pairs of files that speak of one thing, and then sets at random."""

from oracle import Oracle, Result

from lib import partial, tree


class Partial(Oracle):
    name = "partial"

    def prepare(self):
        self.copies = {name: partial.Copy(tree.Stage(str(self.place / name)), name)
                       for name in partial.NODES}

    def material(self):
        for name, copy in self.copies.items():
            for kind in (partial.single, partial.single_left, partial.of_one_thing, partial.pairs):
                for parts in kind(copy):
                    yield name, parts

    def random(self, rng):
        name = rng.choice(partial.NODES)
        return name, partial.at_random(self.copies[name], rng)

    def compare(self, item):
        name, parts = item
        result = Result()
        wrong = self.copies[name].without(parts)
        result.fields += len(self.copies[name].whole)
        for said in wrong:
            result.field(said.partition(":")[0], said, "")
            result.fields -= 1
        return result

    def smaller(self, item, still_bad):
        name, parts = item
        for part in parts:
            less = tuple(p for p in parts if p != part)
            if less and still_bad((name, less)):
                parts = less
        return name, parts

    def show(self, item):
        return "%s without %s" % (item[0], ", ".join(item[1]))


ORACLE = Partial
