# SPDX-License-Identifier: GPL-2.0-or-later
"""Images: root file systems without /proc and /sys, evaluated by what they will boot. tests/integration/check_image.py
does the same with an image of Debian."""
import json
import os
import subprocess

import pytest

from lib import node, plans, program
from lib.tree import Stage

NODES = ("hgx-h100-ib", "hgx-h200-roce", "h20-roce-deepep", "debian-nvidia-current",
         "rhel9-proprietary-dracut", "old-nv-peer-mem")
MACHINE = ("/proc", "/sys", "/dev", "/run")
MACHINE_FILE = os.path.join(program.TOP, "nodes", "h200-x8.capture")
PEER = "driver/peer-mapping-override"
OPTION = """file /etc/modprobe.d/zz-gpu.conf
	options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"
"""
NO_OPTION = "remove /etc/modprobe.d/nvidia-deepep.conf\n"

# What a node reports of its present state only, or of a step that a boot takes by itself.
OF_THE_RUNNING = {
    "boot/reboot-pending": "a boot does it",
    "driver/next-load-skew": "compares the loaded driver with the files",
    "driver/module-on-disk-differs": "the same",
    "driver/params-live-not-persistent": "compares the running values with the files",
    "driver/params-configured-not-live": "the same",
}


def image_of(name, edits=""):
    tree = node.copy_of(node.tree_of(name, plans.edits(edits)))
    for folder in MACHINE:
        if tree.has(folder):
            tree.remove(folder)
            tree.folders.discard(folder)
    return tree


@pytest.fixture
def image(stages):
    stage = stages("image")

    def put(name, edits=""):
        stage.put(image_of(name, edits))
        return stage.directory
    yield put
    stage.clear()


def verdicts(report):
    found = {}
    for finding in report["findings"]:
        found.setdefault(finding["rule"], set()).add(finding["verdict"])
    return found


def finding(report, rule):
    (found,) = [f for f in report["findings"] if f["rule"] == rule]
    return found


@pytest.mark.parametrize("name", NODES)
def test_an_image_passes_nothing_that_its_node_fails(name, image, node_tree, tmp_path):
    """With and without the node's own hardware."""
    whole = verdicts(program.report(node_tree(name), "--profile", "deepep"))
    facts = tmp_path / "machine.json"
    facts.write_text(json.dumps(program.facts(node_tree(name))))
    directory = image(name)
    for more in ((), ("--hardware", facts)):
        found = verdicts(program.report(directory, "--profile", "deepep", *more))
        assert len([r for r in found if found[r] - {"unknown"}]) > (60 if more else 25)
        wrong = {rule: (found[rule], whole[rule]) for rule in found
                 if "fail" in whole.get(rule, ()) and found[rule] <= {"pass", "not-applicable"} and
                 rule not in OF_THE_RUNNING}
        assert not wrong, (more, wrong)


def test_its_kernel_is_the_boot_loaders(image):
    directory = image("hgx-h100-ib")
    facts = program.facts(directory)
    assert facts["os"]["next_boot"] == "boot-loader"
    assert facts["os"]["kernel"] == facts["boot"]["next_kernel"]
    assert facts["cmdline"]["running"] == facts["cmdline"]["staged"]["text"]
    assert facts["driver"]["version"] and "loaded" not in facts["driver"]


def test_or_the_newest(image):
    directory = image("hgx-h100-ib", "remove /boot/grub\nfile /lib/modules/5.4.0-1-x/modules.dep\n\t\n"
                      "file /lib/modules/5.10.0-1-x/modules.dep\n\t\n")
    facts = program.facts(directory)
    assert facts["os"]["next_boot"] == "newest"
    assert facts["os"]["kernel"] not in ("5.4.0-1-x", "5.10.0-1-x")
    assert "running" not in facts["cmdline"]


def test_or_the_one_that_is_named(image):
    directory = image("hgx-h100-ib", "file /lib/modules/5.4.0-1-x/modules.dep\n\t\n")
    facts = program.facts(directory, "--kernel", "5.4.0-1-x")
    assert facts["os"]["next_boot"] == "option" and facts["os"]["kernel"] == "5.4.0-1-x"
    report = program.report(directory, "--kernel", "5.4.0-1-x")
    assert finding(report, "modules/nvidia-not-built-for-kernel")["verdict"] == "fail"


@pytest.mark.parametrize("release", ["9.9.9", "..", "../modules", "a/b", ""])
def test_a_kernel_that_is_not_in_it(image, release):
    result = program.run("doctor", "--root", image("hgx-h100-ib"), "--kernel", release)
    assert result.status == 2 and "the image has no /lib/modules/" + release in result.err


@pytest.mark.parametrize("edits, verdict", [
    (NO_OPTION, "fail"),
    (NO_OPTION + OPTION, "pass"),
    (NO_OPTION + OPTION + "file /etc/modprobe.d/zzz.conf\n\toptions nvidia NVreg_RegistryDwords=\"A=1\"\n", "fail"),
])
def test_options_are_those_of_the_next_load(image, edits, verdict):
    report = program.report(image("hgx-h100-ib", edits), "--profile", "deepep")
    assert finding(report, PEER)["verdict"] == verdict


def test_the_initramfs_counts(image):
    """Its copy of modprobe.d is from before the option."""
    stale = "remove /etc/modprobe.d/zz-gpu.conf\nfile /etc/modprobe.d/zz-gpu.conf\n" \
            "\toptions nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;RmMsg=1\"\n"
    report = program.report(image("hgx-h200-roce", stale), "--profile", "deepep")
    assert finding(report, "boot/initramfs-stale")["verdict"] == "fail"


def test_modules_that_do_not_load(image):
    report = program.report(image("hgx-h100-ib", "file /etc/modprobe.d/off.conf\n\tinstall nvidia /bin/false\n"))
    assert {(f["subject"], f["severity"]) for f in report["findings"] if f["rule"] == "modules/will-not-load" and
            f["verdict"] == "fail"} == {("nvidia", "err"), ("nvidia_uvm", "err"), ("nvidia_peermem", "warn")}


def test_what_is_not_here_is_one_line(image):
    directory = image("hgx-h100-ib")
    text = program.run("doctor", "--root", directory, "--profile", "deepep", "-v").out
    assert text.count("--hardware FILE") == 1
    assert "Not here" in text and "an image, " in text
    assert "pci/acs-redirect" not in text
    assert "its next boot is evaluated: Linux 5" in " ".join(text.split())


def test_a_gate(image):
    """The exit status is that of the image, not of the machine that is missing."""
    good = image("hgx-h100-ib", NO_OPTION + OPTION)
    result = program.run("doctor", "--root", good, "--profile", "deepep", "--strict", "-q")
    assert result.status == 0, program.run("doctor", "--root", good, "--profile", "deepep", "-v").out
    bad = image("hgx-h100-ib", NO_OPTION)
    assert program.run("doctor", "--root", bad, "--profile", "deepep", "--strict", "-q").status == 1


def test_a_capture_of_it_says_the_same(image, tmp_path):
    directory = image("hgx-h100-ib", NO_OPTION)
    file = tmp_path / "image.capture"
    assert program.run("capture", "--root", directory, "-o", file).status == 0
    a = verdicts(program.report(directory, "--profile", "deepep"))
    b = verdicts(program.run("doctor", "--json", "--from", file, "--profile", "deepep").json())
    assert a == b


def test_hardware_is_another_nodes(image, node_tree, tmp_path):
    machine = tmp_path / "machine.json"
    machine.write_text(json.dumps(program.facts(node_tree("hgx-h100-ib"))))
    facts = program.facts(image("hgx-h100-ib"), "--hardware", machine)
    own = json.loads(machine.read_text())
    for section in ("pci", "topology", "gpu", "numa", "rdma"):
        assert facts[section] == own[section], section
    assert facts["os"]["memory_bytes"] == own["os"]["memory_bytes"]
    assert "hostname" not in facts["os"] and "dev" not in facts


@pytest.mark.parametrize("text, why", [
    ("{}", "neither a facts file nor a capture"),
    ('{"format": "nvnodecheck-facts", "format_version": [1, 0]}', "it has no PCI devices"),
])
def test_hardware_that_is_none(image, tmp_path, text, why):
    file = tmp_path / "machine.json"
    file.write_text(text)
    result = program.run("doctor", "--root", image("hgx-h100-ib"), "--hardware", file)
    assert result.status in (2, 4) and why in result.err


@pytest.mark.parametrize("option", [("--kernel", "6.1"), ("--hardware", MACHINE_FILE)])
def test_options_that_need_an_image(option, node_tree):
    result = program.run("doctor", *option)
    assert result.status == 2 and "needs the --root of an image" in result.err
    result = program.run("doctor", "--root", node_tree("hgx-h100-ib"), *option)
    assert result.status == 2 and "is for images" in result.err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_fix_prepares_it(tmp_path):
    tmp_path.chmod(0o755)
    directory = str(tmp_path / "image")
    Stage(directory).put(image_of("hgx-h100-ib", NO_OPTION))
    result = program.run("fix", "--root", directory, "--profile", "deepep", "--apply", "--yes",
                         "--no-regenerate", "--allow-writable-parents")
    assert result.status == 0, str(result)
    assert program.run("doctor", "--root", directory, "--profile", "deepep", "-q").status == 0
    result = program.run("undo", "--root", directory, "--yes", "--no-regenerate", "--allow-writable-parents")
    assert result.status == 0, str(result)
    assert program.run("doctor", "--root", directory, "--profile", "deepep", "-q").status == 1


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_gate_takes_mounts_from_the_image_alone(link, tmp_path):
    """The folder of an image that a builder mounts can be a link to a mount of the machine that builds."""
    beside, seen, tree = tmp_path / "beside", tmp_path / "seen", tmp_path / "image"
    beside.mkdir()
    tree.mkdir()
    if link:
        (tree / "dev").symlink_to(beside)
    else:
        (tree / "dev").mkdir()
    mounted = str(beside if link else tree / "dev")
    program_file, gate = tmp_path / "program", tmp_path / "gate"
    program_file.write_text("#!/bin/sh\ngrep ' %s ' /proc/self/mountinfo >>%s\nexit 0\n" % (mounted, seen))
    with open(os.path.join(program.TOP, "contrib", "image", "gate"), encoding="utf-8") as file:
        gate.write_text(file.read().replace("/usr/sbin/nvnodecheck", str(program_file)))
    for file in program_file, gate:
        file.chmod(0o755)
    mount = 'mount -t tmpfs none "$1" && exec "$2" "$3"'
    subprocess.run(["unshare", "--mount", "sh", "-c", mount, "-", mounted, str(gate), str(tree)], check=True)
    assert bool(seen.read_text()) == link
