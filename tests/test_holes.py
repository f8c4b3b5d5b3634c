# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts with holes: whatever single kind of fact is missing or absent, doctor answers. A key that is
left out is what a probe could not read; null is what it looked for and did not find."""
import concurrent.futures
import json
import os

import pytest

from lib import program, schema

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
NODES = ("broken-everything", "debian-nvidia-current", "hgx-h200-roce")
THREADS = 2


def holes():
    """(struct, key) of every fact; a list's key is what makes its items."""
    definitions = schema.load("facts")
    found = [("node", key) for key in definitions["properties"] if key not in schema.STATED]
    for name, part in definitions["$defs"].items():
        found += [(name, key) for key in part.get("properties", ())]
    return found


def punch(value, name, hole, how, whole):
    """Removes HOLE's key from every struct of its kind in VALUE, or makes it null."""
    part = whole if name == "node" else whole["$defs"][name]
    for key in list(value):
        if (name, key) == hole:
            if how == "null":
                value[key] = None
            else:
                del value[key]
            continue
        sub = part["properties"].get(key, {})
        for option in sub.get("anyOf", [sub]):
            reference = option.get("$ref") or option.get("items", {}).get("$ref")
            for item in value[key] if isinstance(value[key], list) else [value[key]]:
                if reference and isinstance(item, dict):
                    punch(item, reference.rpartition("/")[2], hole, how, whole)


def document(name):
    """As text: read again it is another copy, and sooner than by copy.deepcopy()."""
    with open(os.path.join(GOLDEN, name + ".facts.json"), encoding="utf-8") as file:
        facts = json.load(file)
    facts["tool_version"] = "0"
    return json.dumps(facts)


def ask(facts):
    return program.run("doctor", "--json", "--profile", "deepep,p2p", "--from", "-",
                       input=json.dumps(facts).encode())


@pytest.mark.parametrize("how", ["missing", "null"])
@pytest.mark.parametrize("name", NODES)
def test_holes(name, how):
    whole, facts = schema.load("facts"), document(name)

    def one(hole):
        mine = json.loads(facts)
        punch(mine, "node", hole, how, whole)
        result = ask(mine)
        # 4: an absence that cannot be, such as of a whole section, is refused with a message.
        fine = result.status in (0, 1) and not result.err
        if fine or result.status == 4 and how == "null":
            return None
        return "%s.%s: status %d %s" % (hole + (result.status, result.err.strip()[:300]))
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        wrong = [said for said in pool.map(one, holes()) if said]
    assert not wrong, "\n".join(wrong)
