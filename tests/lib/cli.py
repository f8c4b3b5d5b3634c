# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as --help tells it, to hold the manual and the completions to."""
import functools
import re

from .program import run

ROW = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(?:( |\[=)([A-Z]+)\]?)?(?:$|  +)(.*)")


class Option:
    def __init__(self, letter, name, before, value):
        self.letter, self.name, self.value, self.help = letter, name, value, ""
        self.may_lack_value = before == "[="

    @property
    def words(self):
        """The values there are; [] where anything can stand."""
        found = re.search(r": ((?:[a-z0-9-]+, )+[a-z0-9-]+)$", self.help)
        return found.group(1).split(", ") if self.value and found else []


@functools.lru_cache(maxsize=None)
def verbs():
    """{name: summary}"""
    text = run("--help").out.partition("Commands:\n")[2].partition("\nOptions:")[0]
    return {name: " ".join(help.split()) for name, help in
            re.findall(r"^  (\w+) +(.*(?:\n   .*)*)", text, re.M)}


@functools.lru_cache(maxsize=None)
def options(verb):
    """The Options of COMMAND; "" is what is said of none."""
    text = run(*([verb] if verb else []), "--help").out
    found = []
    for line in text.partition("\nOptions:\n")[2].partition("\nExit status")[0].splitlines():
        row = ROW.match(line)
        if row:
            found.append(Option(*row.groups()[:4]))
            line = row.group(5)
        found[-1].help = (found[-1].help + " " + line.strip()).strip()
    assert found
    return found


@functools.lru_cache(maxsize=None)
def usage(verb):
    """What follows the verb in its usage line, such as "[RULE...]"."""
    return re.match(r"Usage: nvnodecheck \w+ ?(.*?) ?\[OPTIONS\]\n", run(verb, "--help").out).group(1)
