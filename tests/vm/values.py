# SPDX-License-Identifier: GPL-2.0-or-later
"""Values in a facts document by their paths, as the program writes them: an item of a list goes by
its first member, pci.devices[0000:1b:00.0].driver. Also how two documents differ."""

import re

# What a value is when the document does not have it.
UNKNOWN = Ellipsis


def keys(path):
    """pci.devices[0000:1b:00.0].bars[2] -> pci, devices, 0000:1b:00.0, bars, 2"""
    found = re.findall(r"\[([^\]]*)\]|([^.\[\]]+)", path)
    return [inner if inner else outer for inner, outer in found]


def identity(item):
    if not isinstance(item, dict) or not item:
        return None
    return str(next(iter(item.values())))


def find(document, path):
    value = document
    for key in keys(path):
        if isinstance(value, dict):
            value = value.get(key, UNKNOWN)
        elif isinstance(value, list):
            value = next((item for item in value if identity(item) == key), UNKNOWN)
        else:
            return UNKNOWN
    return value


def show(value):
    return "unknown" if value is UNKNOWN else repr(value)


def count(document, path):
    """The length of a list; pci.devices[driver=nvidia] counts the items that have that value."""
    found = re.fullmatch(r"(.*)\[(\w+)=([^\]]*)\]", path)
    items = find(document, found[1] if found else path)
    if not isinstance(items, list):
        return None
    if found:
        items = [item for item in items if str(item.get(found[2], UNKNOWN)) == found[3]]
    return len(items)


def flat(value, path=""):
    """Every leaf of a document with its path."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from flat(member, "%s.%s" % (path, key) if path else key)
    elif isinstance(value, list) and all(isinstance(item, dict) for item in value) and value:
        for item in value:
            yield from flat(item, "%s[%s]" % (path, identity(item)))
    else:
        yield path, value


def matches(path, patterns):
    return any(re.fullmatch(p, path) for p in patterns)


def differences(a, b, moving, lacking=()):
    """Paths at which two documents differ. Paths that match a regular expression in MOVING may, and
    where one in LACKING matches the second may not know the value, or have none."""
    first, second = dict(flat(a)), dict(flat(b))
    for path in sorted(set(first) | set(second)):
        one, other = first.get(path, UNKNOWN), second.get(path, UNKNOWN)
        if one == other or matches(path, moving):
            continue
        if other in (UNKNOWN, None) and matches(path, lacking):
            continue
        yield "%s: %s, %s" % (path, show(one), show(other))
