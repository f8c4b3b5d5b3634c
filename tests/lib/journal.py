# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of transactions as the program writes them: what the journal says proves itself (src/parse/
journal.h)."""
import hashlib


def chained(ident, events):
    """The text of a journal."""
    check, lines = ident, []
    for event in events:
        check = hashlib.sha256(check.encode() + b"\0" + event.encode()).hexdigest()[:16]
        lines.append("%s %s\n" % (event, check))
    return "".join(lines)


def events(text):
    """What a journal says, without the checks."""
    return [line.rsplit(" ", 1)[0] for line in text.splitlines()]


def begun(ident, record, *more):
    """The journal of a transaction with RECORD, the text of its plan.json."""
    return chained(ident, ["BEGIN " + hashlib.sha256(record.encode()).hexdigest(), *more])
