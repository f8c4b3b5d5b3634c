# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents of facts in which one list is long. Every list of the schema is known."""
import json
import re

from . import schema

BDF = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def resolved(part, whole):
    """PART without references, and without null."""
    if "$ref" in part:
        return resolved(whole["$defs"][part["$ref"].rpartition("/")[2]], whole)
    for option in part.get("anyOf", []):
        if option.get("type") != "null":
            return resolved(option, whole)
    return part


def paths():
    """Each list as the keys that lead to it; "*" is the first item of a list."""
    whole = schema.load("facts")
    found = []

    def walk(part, path):
        part = resolved(part, whole)
        if "items" in part:
            found.append(path)
            walk(part["items"], path + ("*",))
        for key, sub in part.get("properties", {}).items():
            walk(sub, path + (key,))
    walk(whole, ())
    return found


def example(part, whole):
    part = resolved(part, whole)
    kind = part.get("type")
    kind = [k for k in kind if k != "null"][0] if isinstance(kind, list) else kind
    if "enum" in part:
        return part["enum"][0]
    if kind == "object":
        return {key: example(sub, whole) for key, sub in part["properties"].items()}
    if kind == "array":
        return [example(part["items"], whole)]
    if kind == "string":
        return "0x1" if "0x" in part.get("pattern", "") else "1"
    return 1 if kind == "integer" else True


def find(value, part, path, whole):
    """The list at PATH, made where there is none, and what the schema says of its items."""
    for key in path:
        part = resolved(part, whole)
        part = part["items"] if key == "*" else part["properties"][key]
        if key == "*":
            value = value[0]
            continue
        if not value.get(key):
            value[key] = example(part, whole)
        value = value[key]
    return value, resolved(part, whole)["items"]


def numbered(text, number):
    """Another text of the same form."""
    if BDF.fullmatch(text):
        return "%04x:%02x:%02x.%d" % (1 + (number >> 16), number >> 8 & 255, number >> 3 & 31, number & 7)
    digits = re.search(r"\d+(?=\D*$)", text)
    if not digits:
        return text + str(number)
    return text[:digits.start()] + str(int(digits[0]) + number) + text[digits.end():]


def varied(value, part, number, whole):
    if isinstance(value, dict):
        properties = resolved(part, whole)["properties"]
        return {key: varied(v, properties[key], number, whole) for key, v in value.items()}
    if not isinstance(value, str) or "pattern" in json.dumps(part) or "enum" in resolved(part, whole):
        return value
    return numbered(value, number)


def lengthened(facts, path, count):
    """The document FACTS with COUNT items in the list at PATH: its own again and again, each with other names."""
    whole = schema.load("facts")
    items, part = find(facts, whole, path, whole)
    own = list(items)
    items[:] = [varied(own[i % len(own)], part, i, whole) for i in range(count)]
    return facts
