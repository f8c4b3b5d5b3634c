# SPDX-License-Identifier: GPL-2.0-or-later
"""What files name: specifications of the Container Device Interface in every form that YAML has for them, with
PyYAML as the oracle; files that are too much; and that nothing else of a file leaves the program."""
import json
import random

import pytest

from lib import program
from lib.rootfs_dict import make, observe

BASE = {"/etc/hostname": "node\n", "/usr/lib/x": "", "/proc/devices": "Character devices:\n195 nvidia\n511 nvidia-uvm\n"}


def references(root, **how):
    return observe(make(root, {**BASE, **how.get("files", {})}))["references"]


# ---- CDI ----

def specification(seed):
    """A random one, as nvidia-ctk could have written it."""
    rng = random.Random(seed)

    def edits():
        return {
            "deviceNodes": [dict(
                {"path": "/dev/nvidia%d" % rng.randrange(16)},
                **({"hostPath": "/run/nvidia/driver/dev/nvidia%d" % rng.randrange(16)} if rng.random() < .3 else {}),
                **({"type": "c", "major": rng.choice((195, 510)), "minor": rng.randrange(16)}
                   if rng.random() < .6 else {})) for _ in range(rng.randrange(4))],
            "hooks": [{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
                       "args": ["nvidia-cdi-hook", "create-symlinks", "--link", "path::/not/this"]}
                      for _ in range(rng.randrange(2))],
            "mounts": [{"hostPath": "/usr/lib/lib%d.so" % rng.randrange(9), "containerPath": "/in/it",
                        "options": ["ro", "bind"]} for _ in range(rng.randrange(4))],
            "env": ["path=/not/this either", "NVIDIA_VISIBLE_DEVICES=void"],
        }
    return {"cdiVersion": "0.5.0", "containerEdits": edits(), "kind": "nvidia.com/gpu",
            "annotations": {"path": "not this", "deviceNodes": "nor this"},
            "devices": [{"name": str(n), "containerEdits": edits()} for n in range(rng.randrange(1, 5))]}


def expected(spec):
    """{(kind, name, claim)}"""
    found = {("value", "%s=%s" % (spec["kind"], d["name"]), None) for d in spec["devices"]}
    # The file's version, and the versions that its fields need: of annotations, and of these names and paths.
    found |= {("value", "0.5.0", None), ("value", "0.6.0", None)}
    for edits in [spec["containerEdits"]] + [d["containerEdits"] for d in spec["devices"]]:
        for node in edits["deviceNodes"]:
            claim = "%d:%d" % (node["major"], node["minor"]) if "major" in node else None
            found.add(("device", node.get("hostPath", node["path"]), claim))
        found |= {("program", hook["path"], None) for hook in edits["hooks"]}
        found |= {("file", mount["hostPath"], None) for mount in edits["mounts"]}
    return found


def seen(facts):
    return {(item["kind"], item["name"], item["claim"]) for item in facts["items"]}


def forms():
    yaml = pytest.importorskip("yaml")
    yield "block", lambda spec: yaml.safe_dump(spec, default_flow_style=False)
    yield "flow", lambda spec: yaml.safe_dump(spec, default_flow_style=True)
    yield "mixed", yaml.safe_dump
    yield "narrow", lambda spec: yaml.safe_dump(spec, width=20, indent=4)
    yield "quoted", lambda spec: yaml.safe_dump(spec, default_style='"')
    yield "document", lambda spec: "%YAML 1.1\n" + yaml.safe_dump(spec, explicit_start=True, explicit_end=True)
    yield "json", lambda spec: json.dumps(spec)
    yield "indented json", lambda spec: json.dumps(spec, indent="\t")


@pytest.mark.parametrize("seed", range(6))
def test_cdi_in_every_form(seed, tmp_path):
    spec = specification(seed)
    for name, dump in forms():
        text = dump(spec)
        facts = references(tmp_path / name.replace(" ", "-"), files={"/etc/cdi/nvidia.yaml": text})
        assert seen(facts) == expected(spec), name
        assert facts["files"] == [{"path": "/etc/cdi/nvidia.yaml", "format": "cdi", "complete": True,
                                   "compared": None}]
        for item in facts["items"]:
            if item["role"].startswith("field: "):
                continue
            name_there = item["name"].split("=")[-1] if item["kind"] == "value" else item["name"]
            assert name_there in text.splitlines()[item["line"] - 1] or name == "narrow"


@pytest.mark.parametrize("text", ["kind: nvidia.com/gpu\na: &x {}\nb: *x\n", "kind: [nvidia.com/gpu", "\t- x: y\n- z",
                                  "[" * 40 + "]" * 40, "kind: nvidia.com/gpu\n\0"])
def test_cdi_that_is_not_understood(text, tmp_path):
    facts = references(tmp_path / "t", files={"/etc/cdi/nvidia.yaml": text})
    assert [file["complete"] for file in facts["files"]] == [False]


def test_without_libyaml(tmp_path, hide):
    """Then what the file names is unknown, and the report says why."""
    directory = str(make(tmp_path / "t", {**BASE, "/etc/cdi/nvidia.yaml": "kind: nvidia.com/gpu\n"}))
    result = program.run("facts", "--root", directory, env=hide("libyaml-0.so.2"))
    facts = result.json()
    assert "complete" not in facts["references"]["files"][0]
    assert [gap["why"] for gap in facts["gaps"] if gap["path"] == "/etc/cdi/nvidia.yaml"] == [
        "libyaml is not installed"]


# ---- too much ----

def test_more_than_is_kept(tmp_path):
    nodes = "".join("  - {path: /dev/nvidia%d}\n" % n for n in range(2000))
    facts = references(tmp_path / "t", files={
        "/etc/cdi/nvidia.yaml": "kind: nvidia.com/gpu\ncontainerEdits:\n  deviceNodes:\n" + nodes})
    assert len(facts["items"]) == 512 and facts["files"][0]["complete"] is False


def test_hosts_without_end(tmp_path):
    facts = references(tmp_path / "t", files={
        "/etc/slurm/gres.conf": "Name=gpu File=/dev/nvidia[0-99999999999]\n"})
    assert facts["files"][0]["complete"] is False and len(facts["items"]) <= 256


def test_of_many_files(tmp_path):
    rules = {"/etc/udev/rules.d/%d.rules" % n: "".join(
        'KERNEL=="nvidia%d", RUN+="/bin/p%d-%d"\n' % (k, n, k) for k in range(500)) for n in range(12)}
    facts = observe(make(tmp_path / "t", {**BASE, **rules}))
    assert len(facts["references"]["items"]) == 4096
    assert any("4096" in gap["why"] for gap in facts["gaps"])


# ---- secrets ----

def test_nothing_else_leaves(tmp_path):
    secret = "hunter2-of-the-registry"
    directory = str(make(tmp_path / "t", {
        **BASE,
        "/etc/docker/daemon.json": json.dumps({"default-runtime": "nvidia", "proxies": {"http-proxy": secret}}),
        "/etc/containerd/config.toml": '[plugins.x.registry.auth]\n  password = "%s"\n' % secret,
        "/proc/1/comm": "systemd\n", "/proc/77/comm": "kubelet\n",
        "/proc/77/cmdline": "kubelet\0--token=%s\0--container-runtime-endpoint\0unix:///run/cri-dockerd.sock\0" % secret}))
    capture = str(tmp_path / "capture")
    assert program.run("capture", "--no-redact", "--root", directory, "-o", capture).status == 0
    with open(capture, encoding="utf-8") as file:
        assert secret not in file.read()
    facts = program.run("facts", "--from", capture)
    assert secret not in facts.out
    assert facts.json()["containers"]["kubelet_uses_docker"] is True


def test_gres_in_a_redacted_capture(tmp_path):
    """What the rules compare is the same as in the whole tree."""
    directory = make(tmp_path / "t", {
        **BASE,
        "/etc/slurm/gres.conf": "AutoDetect=nvml\nName=gpu Type=h100 File=/dev/nvidia[0-4] Count=4\n"
                                "Name=gpu Type=h100_l File=/dev/nvidia[4-7]\n",
        "/usr/lib64/slurm/gpu_generic.so": ""})
    capture = str(tmp_path / "capture")
    assert program.run("capture", "--root", directory, "-o", capture).status == 0
    whole, kept = (program.run("facts", *source, "references").json() for source in (["--root", directory], ["--from", capture]))
    assert kept["gres"] == whole["gres"] and kept["items"] == whole["items"]
    assert [record["repeated"] for record in whole["gres"]] == [None, "/dev/nvidia4"]
    assert [item["found"] for item in whole["items"] if item["role"] == "plugin of AutoDetect"] == [None]
