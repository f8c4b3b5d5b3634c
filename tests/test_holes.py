# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts with holes: whatever single kind of fact is missing or absent, doctor answers. A key that is
left out is what a probe could not read; null is what it looked for and did not find. What could not be
read neither fails nor passes."""
import collections
import json
import os
import re
import shutil

import pytest

from lib import node, program, schema
from lib.long import one_of

NODES = ("broken-everything", "debian-nvidia-current", "hgx-h200-roce")
ANSWER = re.compile(r'\{"rule":"([^"]+)","verdict":"([^"]+)"')


def holes():
    """(struct, key) of every fact; a list's key is what makes its items."""
    definitions = schema.load("facts")
    found = [("node", key) for key in definitions["properties"] if key not in schema.STATED]
    for name, part in definitions["$defs"].items():
        found += [(name, key) for key in part.get("properties", ())]
    return found


def places(value, name, whole, found):
    """found[struct, key] = the structs of a document that have that key"""
    part = whole if name == "node" else whole["$defs"][name]
    for key, member in value.items():
        found[name, key].append(value)
        sub = part["properties"].get(key, {})
        for option in sub.get("anyOf", [sub]):
            reference = option.get("$ref") or option.get("items", {}).get("$ref")
            for item in member if isinstance(member, list) else [member]:
                if reference and isinstance(item, dict):
                    places(item, reference.rpartition("/")[2], whole, found)
    return found


def punch(document, structs, key, how):
    """The text of DOCUMENT without KEY in STRUCTS of it, or with null there. DOCUMENT stays as it was, and
    the order of its keys too."""
    before = [dict(struct) for struct in structs]
    for struct in structs:
        if how == "null":
            struct[key] = None
        else:
            del struct[key]
    text = json.dumps(document)
    for struct, was in zip(structs, before):
        struct.clear()
        struct.update(was)
    return text


def punched(facts, how):
    """[(hole, text)]: every document with one hole, those left out that have nothing there."""
    document = json.loads(facts)
    found = places(document, "node", schema.load("facts"), collections.defaultdict(list))
    return [(hole, punch(document, found[hole], hole[1], how)) for hole in holes() if hole in found]


def doctor(path):
    return program.run("doctor", "--json", "--profile", "deepep,p2p", "--from", path)


def ask(folder, texts):
    """doctor's result over all of them in a folder."""
    for number, text in enumerate(texts):
        (folder / ("%04d.json" % number)).write_text(text, encoding="utf-8")
    result = doctor(folder)
    if result.status not in (0, 1, 4):
        # One of them ended it: which, each alone says.
        alone = [(n, doctor(folder / ("%04d.json" % n))) for n in range(len(texts))]
        pytest.fail("\n".join("%04d.json: %s" % (n, r.status) for n, r in alone if r.status not in (0, 1, 4)))
    return result


@pytest.mark.parametrize("name", NODES)
def test_absence_is_answered_or_refused(name, node_facts, tmp_path):
    """An absence that cannot be, such as of a whole section, is refused with a message."""
    texts = one_of(2, [text for _, text in punched(node_facts(name), "null")], NODES.index(name))
    result = ask(tmp_path, texts)
    refused = set(re.findall(r"^nvnodecheck: \S*/(\d+)\.json: .*must not be null$", result.err, re.M))
    assert len(refused) == len(result.err.splitlines()), result.err
    assert len(verdicts_of_each(result)) == len(texts) - len(refused)


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


def verdicts_of_each(result):
    """[{rule: its verdicts}] of the reports that doctor wrote, a line each. They are hundreds of megabytes:
    their lines are searched, not parsed."""
    found = []
    for line in result.out.splitlines()[:-1]:
        found.append(collections.defaultdict(list))
        for rule, verdict in ANSWER.findall(line):
            found[-1][rule].append(verdict)
        assert found[-1], line[:200]
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
    """Of each node a third of the holes, of the next node the next third."""
    whole, asked = schema.load("facts"), punched(node_facts(name), "missing")
    asked = one_of(3, asked, node.names().index(name))
    result = ask(tmp_path, [node_facts(name)] + [text for _, text in asked])
    assert not result.err
    before, *reports = verdicts_of_each(result)
    assert len(reports) == len(asked)
    wrong = ["%s.%s: %s %s" % (hole + (rule, how))
             for (hole, _), report in zip(asked, reports) if is_read_by_itself(hole, whole)
             for rule, how in unfounded(before, report)
             if hole not in EXCUSED.get(rule, ())]
    assert not wrong, "\n".join(wrong)


# ---- registers ----

ACS = 0x000d


def find_extended(config, wanted):
    at = 0x100
    while at:
        header = int.from_bytes(config[at:at + 4], "little")
        if header & 0xffff == wanted:
            return at
        at = header >> 20
    raise AssertionError("no such capability")


@pytest.mark.parametrize("command", ["doctor", "preflight"])
@pytest.mark.parametrize("where", ["first", "before", "capability", "registers", "circle"])
def test_registers_that_cannot_be_read(command, where, node_tree, tmp_path):
    """The kernel gives all ones for an access that failed. They ended the list of capabilities, so that a switch had
    no ACS and the rule passed."""
    root, bdf = str(tmp_path / "root"), "0000:17:01.0"
    shutil.copytree(node_tree("hgx-h100-ib"), root, symlinks=True)
    path = os.path.realpath(os.path.join(root, "sys/bus/pci/devices", bdf, "config"))
    args = (command, "--json", "--root", root)

    def verdict():
        found = program.run(*args).json()["findings"]
        return [f["verdict"] for f in found if f["rule"] == "pci/acs-redirect" and f["subject"] == bdf]
    with open(path, "rb") as file:
        config = bytearray(file.read())
    at = find_extended(config, ACS)
    config[at + 6:at + 8] = b"\0\0"
    with open(path, "wb") as file:
        file.write(config)
    assert verdict() == ["pass"]
    start = {"first": config[0x34], "before": 0x100, "capability": at, "registers": at + 4, "circle": 0x100}[where]
    config[start:start + 4] = (0x100 << 20 | 1 << 16 | 1).to_bytes(4, "little") if where == "circle" else b"\xff" * 4
    if where == "circle":
        config[at:at + 2] = b"\x01\0"
    with open(path, "wb") as file:
        file.write(config)
    assert verdict() in ([], ["unknown"]), verdict()
