# SPDX-License-Identifier: GPL-2.0-or-later
"""An ordinary user: what only root can read is unknown and says so; the rest is evaluated."""
import os
import re

import pytest

from lib import node, program, textform

NODE = "hgx-h100-ib"


def as_user_sees(scratch):
    """What the kernel shows an ordinary user of a node: 64 bytes of configuration space, no
    environment of other people's processes, files of mode 0600 not at all."""
    tree = node.copy_of(node.tree_of(NODE, [textform.Statement("test", 1, "pci * config=64")]))
    for path in list(tree.entries):
        if path.startswith("/proc/") and path.endswith("/environ") and "/self/" not in path:
            tree.modes[path] = 0
        entry = tree.entries[path]
        if entry.kind == "file" and not entry.mode & 0o044:
            tree.modes[path] = 0
    tree.modes[tree.real("/boot/initrd.img-5.15.0-122-generic")] = 0
    scratch.put(tree)
    return scratch.directory


@pytest.fixture
def seen(scratch):
    if os.geteuid() != 0:
        pytest.skip("needs root to make files that their reader does not own")
    directory = as_user_sees(scratch)
    return program.facts(directory, user=True), directory


def test_facts_need_root(seen):
    facts, _ = seen
    devices = facts.get("pci", {}).get("devices")
    if not devices:
        pytest.skip("no pci probe")
    gpu = next(d for d in devices if d["bdf"] == "0000:19:00.0")
    assert gpu["device_id"] == "0x2330" and gpu["bars"]
    for name in ("acs", "rebar", "relaxed_ordering", "mrrs_bytes"):
        assert name not in gpu, name
    port = next(d for d in devices if d["bdf"] == "0000:17:01.0")
    assert "acs" not in port
    assert gpu["config_bytes"] == 64


def test_every_unknown_has_a_reason(seen):
    """For each answer that is unknown the report names the file and why it could not be read."""
    _, directory = seen
    result = program.run("doctor", "--json", "--profile", "deepep,p2p", "--root", directory,
                         user=True)
    report = result.json()
    silent = [f["rule"] for f in report["findings"] if f["verdict"] == "unknown"
              and not f["observed"] and not f.get("unknown_why")]
    assert not silent


def test_nothing_passes_on_what_was_not_read(seen):
    """A rule that fails for root does not pass for a user who cannot see the fault."""
    _, directory = seen
    blind = {}
    for f in program.run("doctor", "--json", "--profile", "deepep,p2p", "--root", directory,
                         user=True).json()["findings"]:
        blind.setdefault(f["rule"], []).append(f["verdict"])
    for rule in ("pci/acs-redirect", "pci/rebar-supported-not-used", "boot/initramfs-stale"):
        if rule in blind:
            assert "pass" not in blind[rule], rule
    if "pci/acs-unreadable" in blind:
        assert "pass" not in blind["pci/acs-unreadable"]


def test_text_says_what_to_do(seen):
    _, directory = seen
    result = program.run("doctor", "--root", directory, user=True)
    assert result.status in (0, 1, 3), str(result)


def test_live_as_user():
    """Here, as nobody: whatever this machine is, there is an answer and no crash."""
    result = program.run("doctor", "--json", user=True)
    assert result.status in (0, 1), str(result)
    report = result.json()
    assert not [p for p in report["probes"] if p["state"] == "failed"]


def test_live():
    result = program.run("doctor", "--json")
    assert result.status in (0, 1), str(result)
    assert not [p for p in result.json()["probes"] if p["state"] in ("failed", "timed-out")]


# ---- what needs root, as SECURITY.md lists it ----

NODES = ("b200-hgx", "debian-nvidia-current", "h20-roce-deepep", "hgx-h100-ib", "hgx-h200-roce",
         "rhel9-proprietary-dracut", "vm-h200-passthrough")
# Mode 0600 on a node: images and menus (Ubuntu, RHEL), logs, vital product data.
ROOT_ALONE = ("/boot/init", "/boot/grub", "/boot/efi", "/boot/loader", "/var/log/")


def as_modes_are(name):
    tree = node.copy_of(node.tree_of(name, [textform.Statement("test", 1, "pci * config=64")]))
    for path, entry in list(tree.entries.items()):
        if entry.kind == "file" and (path.startswith(ROOT_ALONE) or path.endswith("/vpd") or
                                     not entry.mode & 0o044 or (path.startswith("/proc/") and
                                     path.endswith("/environ") and "/self/" not in path)):
            tree.modes[path] = 0
    return tree


def verdicts(verb, directory, user):
    result = program.run(verb, "--json", "--profile", "deepep,p2p", "--root", directory, user=user)
    found = {}
    for finding in result.json()["findings"]:
        found.setdefault(finding["rule"], set()).add(finding["verdict"])
    return found


def need_root(verb, scratch):
    """Rules that root is told and an ordinary user is not, over all NODES."""
    found = set()
    for name in NODES:
        scratch.put(node.tree_of(name))
        root = verdicts(verb, scratch.directory, user=False)
        scratch.put(as_modes_are(name))
        user = verdicts(verb, scratch.directory, user=True)
        # preflight passes over a rule whose input a copy does not have.
        assert root.keys() == user.keys() or verb == "preflight" and root.keys() > user.keys()
        found |= {rule for rule in root
                  if "unknown" in user.get(rule, ("unknown",)) and "unknown" not in root[rule]}
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be two users")
def test_what_needs_root_is_written_down(scratch):
    with open(os.path.join(program.TOP, "SECURITY.md"), encoding="utf-8") as file:
        text = file.read().partition("## What needs root\n")[2]
    everything, _, quick = text.partition("Of these `preflight` asks")
    rule = re.compile(r"`([a-z]+/[a-z0-9-]+)`")
    assert need_root("doctor", scratch) == set(rule.findall(everything))
    assert need_root("preflight", scratch) == set(rule.findall(quick.partition(" alone.")[0]))
