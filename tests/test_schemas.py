# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/formats: every document that the program writes is as its schema says, and the schema of
facts says what src/facts/facts.c does (NVNODECHECK_UPDATE=1 writes it anew)."""
import json
import os

import pytest

from lib import node, program, schema, tree

jsonschema = pytest.importorskip("jsonschema")


def validator(name):
    return jsonschema.Draft202012Validator(schema.strict(schema.load(name)))


def check(name, document):
    errors = ["/".join(str(p) for p in error.absolute_path) + ": " + error.message
              for error in validator(name).iter_errors(document)]
    assert not errors, errors[:5]


@pytest.mark.parametrize("name, made", [("facts", schema.facts_schema),
                                        ("proof", schema.proof_schema)])
def test_schema_says_what_the_source_says(name, made):
    wanted = made(schema.sources())
    path = os.path.join(schema.FORMATS, name + ".schema.json")
    if os.environ.get("NVNODECHECK_UPDATE") == "1":
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(wanted, indent=2) + "\n")
    assert schema.load(name) == wanted


@pytest.mark.parametrize("name", ["facts", "report", "rules", "capture", "topo", "expect", "diff",
                                  "summary", "plan", "undo", "proof", "why"])
def test_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(schema.load(name))


def test_a_proof():
    with open(os.path.join(program.TOP, "tests", "proofs", "h200-x4.json"),
              encoding="utf-8") as file:
        check("proof", json.load(file))


@pytest.mark.parametrize("name", node.names())
def test_facts_and_report(name, node_facts):
    check("facts", json.loads(node_facts(name)))
    check("report", program.run("doctor", "--json", "--from", "-", input=node_facts(name).encode()).json())


@pytest.mark.parametrize("name", ["hgx-h100-ib", "broken-everything", "no-gpu-server"])
def test_fresh_documents(name, node_tree, tmp_path):
    directory = node_tree(name)
    check("facts", program.facts(directory))
    check("report", program.report(directory, "--profile", "deepep,p2p"))
    check("topo", program.run("topo", "--json", "--root", directory).json())
    check("expect", program.run("expect", "--json", "--root", directory).json())
    file = tmp_path / "capture"
    assert program.run("capture", "--root", directory, "-o", file).status == 0
    lines = file.read_text(encoding="utf-8").splitlines()
    for line in lines:
        check("capture", json.loads(line))
    assert len(lines) > 5


@pytest.mark.parametrize("name", ["h20-roce-deepep", "broken-everything", "no-gpu-server"])
def test_plan(name, node_tree):
    check("plan", program.run("fix", "--json", "--all", "--profile", "deepep,p2p", "--root",
                              node_tree(name)).json())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes a root")
def test_applied_and_taken_back(tmp_path):
    directory = str(tmp_path / "node")
    tree.Stage(directory).put(node.tree_of("h20-roce-deepep"))
    where = ("--json", "--yes", "--root", directory)
    check("plan", program.run("fix", "--apply", "--profile", "deepep", *where).json())
    check("undo", program.run("undo", *where).json())
    check("undo", program.run("undo", "--list", "--json", "--root", directory).json())


def test_rules():
    check("rules", program.run("rules", "--json").json())


def test_every_fact_of_the_source_is_in_some_node(node_facts):
    """A fact that no node has is a fact that no test looks at."""
    seen = set()
    for name in node.names():
        _collect(json.loads(node_facts(name)), "node", schema.load("facts"), seen)
    wanted = {(name, key) for name, part in schema.load("facts")["$defs"].items()
              for key in part.get("properties", ())}
    # Proofs are no probe's: test_prove.py looks at them, and test_nvml.py at what the driver answers.
    missing = sorted("%s.%s" % m for m in wanted - seen - ONLY_LIVE if not m[0].startswith(("proof_", "nvml_")))
    assert not missing


# What only a running host knows: verbs, libkmod, systemd, a hung probe, --pid.
ONLY_LIVE = {("rdma_port", "active_mtu_bytes"), ("rdma_port", "grh_required"), ("rdma_device", "dmabuf"),
             ("rdma_device", "offered"), ("rdma_device", "open_error"), ("rdma_port", "sysfs_state"),
             ("modules_facts", "views"), ("module_view", "name"), ("module_view", "libkmod"), ("module_view", "file"),
             ("net_interface", "pfc_priorities"), ("net_interface", "pause"),
             ("device_node", "major"), ("device_node", "minor"), ("device_node", "group"),
             # Nodes that are restricted to a group: cases/dev-group.cases.
             *(("device_group", key) for key in ("gid", "exists", "has_members", "has_process")),
             ("env_facts", "deepep_cache")}


def _collect(value, name, whole, seen):
    part = whole if name == "node" else whole["$defs"][name]
    for key, member in value.items():
        seen.add((name, key))
        sub = part["properties"].get(key)
        if sub is None or member is None:
            continue
        for option in sub.get("anyOf", [sub]):
            reference = option.get("$ref") or option.get("items", {}).get("$ref")
            if reference:
                for item in member if isinstance(member, list) else [member]:
                    if not isinstance(item, dict):
                        break
                    _collect(item, reference.rpartition("/")[2], whole, seen)
