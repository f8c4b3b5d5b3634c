# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts with holes: whatever single kind of fact is missing or absent, doctor answers. A key that is
left out is what a probe could not read; null is what it looked for and did not find. What could not be
read neither fails nor passes."""
import collections
import concurrent.futures
import json

import pytest

from lib import node, program, schema

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


def ask(facts):
    return program.run("doctor", "--json", "--profile", "deepep,p2p", "--from", "-",
                       input=json.dumps(facts).encode())


@pytest.mark.parametrize("how", ["missing", "null"])
@pytest.mark.parametrize("name", NODES)
def test_holes(name, how, node_facts):
    whole, facts = schema.load("facts"), node_facts(name)

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


# ---- what was not read is no answer ----

# What one line or file gives is read whole or not at all.
READ_AT_ONCE = {
    "device_major", "driver_param", "env_variable", "limit_setting", "log_line", "modprobe_assignment",
    "modprobe_command", "modprobe_file", "modprobe_options", "module", "net_route", "pci_bar", "software_item",
}
# Nor are these read by themselves: the driver's version line, the folders of modprobe.d, a file's name.
READ_TOGETHER = {
    ("driver_facts", "flavour"), ("modprobe_facts", "assignments"), ("modprobe_facts", "bad_lines"),
    ("modprobe_facts", "files"), ("module_file", "name"), ("module_file", "file_name"),
    ("module_file", "kernel"), ("software_facts", "items"),
}
# Which function manages the node, and is no job's NIC, its PCI device tells; what is no GPU is not looked at.
EXCUSED = {
    "rdma/firmware-mixed": {("node", "pci"), ("pci_facts", "devices"), ("pci_device", "sub_model"),
                            ("rdma_device", "bdf")},
    "rdma/port-not-active": {("node", "pci"), ("pci_facts", "devices"), ("rdma_device", "bdf")},
    "pci/device-off-bus": {("pci_device", "vendor_id"), ("pci_device", "class_id")},
}
BAD = ("fail", "pending")


def is_read_by_itself(hole, whole):
    """The first key of a struct makes its items."""
    name, key = hole
    if name == "node":
        return True
    first = next(iter(whole["$defs"][name].get("properties", ())), None)
    return name not in READ_AT_ONCE and hole not in READ_TOGETHER and (key != first or "facts" in name)


def verdicts(report):
    found = collections.defaultdict(list)
    for finding in report["findings"]:
        found[finding["rule"]].append(finding["verdict"])
    return found


def unfounded(before, after):
    """Rules that say more of a node of which less is known."""
    for rule, now in after.items():
        was = [v for v in before[rule] if v in BAD]
        if not was and any(v in BAD for v in now):
            yield rule, "fails"
        if was and set(now) == {"pass"}:
            yield rule, "passes"


@pytest.mark.parametrize("name", node.names())
def test_nothing_is_told_of_what_was_not_read(name, node_facts, tmp_path):
    whole, facts = schema.load("facts"), node_facts(name)
    asked = [None]
    (tmp_path / "0000.json").write_text(facts, encoding="utf-8")
    for hole in holes():
        mine = json.loads(facts)
        punch(mine, "node", hole, "missing", whole)
        text = json.dumps(mine)
        if is_read_by_itself(hole, whole) and text != facts:
            (tmp_path / ("%04d.json" % len(asked))).write_text(text, encoding="utf-8")
            asked.append(hole)
    result = program.run("doctor", "--json", "--profile", "deepep,p2p", "--from", tmp_path)
    reports = [json.loads(line) for line in result.out.splitlines()][:-1]
    assert len(reports) == len(asked), result.err
    before = verdicts(reports[0])
    wrong = ["%s.%s: %s %s" % (hole + (rule, how))
             for hole, report in zip(asked[1:], reports[1:])
             for rule, how in unfounded(before, verdicts(report))
             if hole not in EXCUSED.get(rule, ())]
    assert not wrong, "\n".join(wrong)
