# SPDX-License-Identifier: GPL-2.0-or-later
"""The line-oriented form that nodes and cases are written in (tests/nodes/README.md).

A statement is a verb and its words at the beginning of a line; indented lines after it are its
block. A line that begins with # is a comment, except inside a block.
"""
import os
import shlex


class FormError(Exception):
    """Something in a node or case file is not right; says where."""


class Statement:
    def __init__(self, file, line, text):
        self.file, self.line, self.text = file, line, text
        self.block = []
        self.verb = text.split(None, 1)[0]
        self._words = None

    @property
    def words(self):
        """The words after the verb, taken apart as a shell would. Only now: a line such as that of
        log has quotes of its own."""
        if self._words is None:
            try:
                self._words = shlex.split(self.text)[1:]
            except ValueError as error:
                raise self.wrong(error)
        return list(self._words)

    def wrong(self, what):
        return FormError("%s:%d: %s: %s" % (self.file, self.line, self.verb, what))

    def take(self, *keys, least=0, most=None):
        """The words that are not KEY=VALUE of one of KEYS, and a dict of those that are."""
        places, named = [], {}
        for word in self.words:
            key, equal, value = word.partition("=")
            if equal and key in keys:
                named[key] = value
            else:
                places.append(word)
        most = least if most is None else most
        if not least <= len(places) <= most:
            raise self.wrong("%d words, wanted %s; keys are %s" % (
                len(places), least if least == most else "%d to %d" % (least, most),
                ", ".join(keys) or "none"))
        return places, named

    def one(self):
        """The rest of the line after the verb, blanks at the ends cut."""
        return self.text[len(self.verb):].strip()

    def content(self):
        """The block as a file's text."""
        return "".join(line + "\n" for line in self.block)


def indent_of(line):
    return len(line) - len(line.lstrip("\t "))


def _close_block(statement):
    block = statement.block
    while block and not block[-1].strip():
        block.pop()
    depth = min((indent_of(line) for line in block if line.strip()), default=0)
    statement.block = [line[depth:] for line in block]


def parse(path):
    """The statements of a file."""
    statements = []
    name = os.path.relpath(path)
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if line[:1] in ("\t", " ") and line.strip():
                if not statements:
                    raise FormError("%s:%d: a block without a statement" % (name, number))
                statements[-1].block.append(line)
            elif not line.strip():
                # An empty line belongs to a block only when more of the block follows.
                if statements and statements[-1].block:
                    statements[-1].block.append("")
            elif not line.startswith("#"):
                statements.append(Statement(name, number, line))
    for statement in statements:
        _close_block(statement)
    return statements
