# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of remedies: complete, for this node, and quoted for the file that they are pasted into; one cause is one problem."""
import json
import re
import subprocess

import pytest

from lib import cases, node, plans
from lib.program import run


def put(scratch, name, text):
    scratch.put(node.tree_of(name, plans.edits(text)))
    return scratch.directory


def put_case(scratch, file, title):
    case = cases.find(file, title)
    scratch.put(node.tree_of(case.node, case.edits))
    return scratch.directory


def report(directory, *args):
    return json.loads(run("doctor", "--json", "--root", directory, *args).out)


def finding(document, rule):
    return next(f for f in document["findings"] if f["rule"] == rule and f["verdict"] in ("fail", "pending"))


def unwrapped(text):
    return re.sub(r"\s+", " ", text)


# ---- quoting ----

def test_a_list_of_ports_survives_the_shell_and_grub(scratch, tmp_path):
    """A semicolon ends a command of the shell, and of grub.cfg, unless it is quoted in both."""
    directory = put(scratch, "hgx-h200-roce", "pci pex890-down acs=SV,RR,CR,UF\n")
    found = finding(report(directory), "pci/acs-redirect")
    first = found["command"].splitlines()[0]
    file = tmp_path / "zz-gpu.cfg"
    first = first.replace("sudo tee", "tee").replace("/etc/default/grub.d/zz-gpu.cfg", str(file))
    subprocess.run(["sh", "-c", first], check=True, stdout=subprocess.DEVNULL)
    value = subprocess.run(["sh", "-c", "GRUB_CMDLINE_LINUX=quiet; . %s; printf %%s \"$GRUB_CMDLINE_LINUX\"" % file],
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    # This is the text that grub-mkconfig writes into grub.cfg, where the quotes hold the list together.
    assert re.fullmatch(r'quiet "pci=disable_acs_redir=0000:[0-9a-f:.]+(?:;0000:[0-9a-f:.]+)+"', value), value
    assert found["command"].splitlines()[1] == "sudo update-grub"


# ---- systems whose root file system is an image ----

OSTREE = "file /run/ostree-booted text=\nfolder /ostree/repo\n"


def test_ostree_has_its_own_commands(scratch):
    directory = put(scratch, "rhel9-proprietary-dracut", OSTREE + "iommu DMA-FQ\nargs -iommu=pt\n")
    document = report(directory, "--profile", "gpudirect-rdma")
    assert finding(document, "iommu/translation-enabled")["command"] == \
        "sudo rpm-ostree kargs --append-if-missing=iommu=pt"
    text = run("doctor", "--root", directory, "--profile", "gpudirect-rdma").out
    assert not re.search("grubby|dracut|dnf", text)


@pytest.mark.parametrize("system", ['os talos v1.11.2 "Talos (v1.11.2)"', 'os nixos 25.05 "NixOS 25.05"',
                                    'os flatcar 4152.2.3 "Flatcar Container Linux" like=coreos'])
def test_other_images_have_no_command(scratch, system):
    """What is installed or written on the node is gone with its next image."""
    directory = put(scratch, "hgx-h200-roce", system + "\niommu DMA-FQ\nargs -iommu=pt\n")
    assert not finding(report(directory, "--profile", "gpudirect-rdma"), "iommu/translation-enabled").get("command")
    text = unwrapped(run("doctor", "--root", directory, "--profile", "gpudirect-rdma").out)
    assert "nvnodecheck fix changes nothing on this node" in text
    assert not re.search("update-grub|update-initramfs|apt-get", text)


# ---- complete commands ----

def test_the_initramfs_is_rebuilt_by_a_command(scratch):
    directory = put_case(scratch, "incidents/variants", "versions: DKMS built the new driver, the old one still runs")
    text = run("doctor", "--root", directory).out
    assert re.search(r"Rebuild the initramfs\.\n +sudo update-initramfs -u -k 6\.8\.0-52-generic$", text, re.M), text


def test_all_gpus_are_reset_without_their_daemons(scratch):
    """A reset fails while a daemon has a GPU open. Those that do not run are not named."""
    directory = put_case(scratch, "incidents/limits", "fabric manager was restarted by an upgrade: fabric state out of sync")
    lines = finding(report(directory), "services/fabric-state-bad")["command"].splitlines()
    assert lines == ["sudo systemctl stop nvidia-fabricmanager nvidia-persistenced", "sudo nvidia-smi -r",
                     "sudo systemctl start nvidia-fabricmanager nvidia-persistenced"]
    assert "sudo nvidia-smi -r" in run("doctor", "--root", directory).out


def test_a_reboot_resets_the_gpus(scratch):
    directory = put(scratch, "hgx-h200-roce",
                    "log nvidia-nvswitch0: SXid (PCI:0000:08:00.0): 20034, Fatal, Link 41 LTSSM Fault Up\n"
                    "iommu DMA-FQ\nargs -iommu=pt\n")
    text = run("doctor", "--root", directory).out
    assert "nvidia-smi -r" not in text
    assert unwrapped(text).index("Reboot the node once") < unwrapped(text).index("The reboot resets GPUs and NVSwitches. If the problem returns")


def test_a_module_of_dkms_is_built_by_dkms(scratch):
    directory = put_case(scratch, "incidents/modules", "an unattended kernel upgrade, then a reboot: no driver for the new kernel")
    found = finding(report(directory), "modules/nvidia-not-built-for-kernel")
    assert found["command"].splitlines() == ["sudo apt-get install linux-headers-4.4.0-134-generic",
                                             "sudo dkms autoinstall -k 4.4.0-134-generic"]


def test_a_drained_node_is_returned(scratch):
    text = run("doctor", "--root", put(scratch, "hgx-h100-ib", "iommu DMA-FQ\nargs -iommu=pt\n")).out
    drain, back = text.index("Drain the node"), text.index("If it finds no problem, return the node to service")
    assert drain < text.index("Check the node again") < back


def test_a_request_has_each_change_once(scratch):
    """Either commands or the patch, and a command for each step."""
    directory = put(scratch, "hgx-h100-ib", "iommu DMA-FQ\nargs -iommu=pt\nprocess slurmd memlock=65536\n"
                    "replace /usr/lib/systemd/system/slurmd.service LimitMEMLOCK=infinity LimitMEMLOCK=64K\n")
    text = run("doctor", "--for", "provider", "--root", directory).out
    assert text.count("GRUB_CMDLINE_LINUX=") == 1 and text.count("LimitMEMLOCK=infinity\n") == 1, text
    after = text.partition("**After that, as root:**")[2]
    assert "sudo systemctl daemon-reload\n" in after and "sudo systemctl restart slurmd.service\n" in after
    assert "nvnodecheck undo" not in text
    long = [line for line in text.splitlines() if len(line) > 80 and not line.startswith(("    ", "#"))]
    assert not long, long


def test_the_link_type_is_set_before_the_reboot(scratch):
    """By a command for the NIC of the port, which is no PCI address itself, and not in the setup of the machine."""
    directory = put_case(scratch, "rdma-ports", "link-type-eth: LINK_TYPE_P1 of one NIC is Ethernet")
    profile = ("--profile", "gpudirect-rdma")
    command = "sudo mlxconfig -d 0000:3a:00.0 set LINK_TYPE_P1=1"
    assert finding(report(directory, *profile), "rdma/link-type-eth")["command"].splitlines()[-1] == command
    text = run("doctor", "--root", directory, *profile).out
    assert text.index(command) < text.index("Reboot the node once") and "BIOS" not in text, text


def test_each_place_of_the_evidence_is_named(scratch):
    """Also one whose text is the beginning of another's."""
    directory = put(scratch, "h20-roce-deepep", 'file /etc/modprobe.d/zz.conf\n\toptions nvidia NVreg_RegistryDwords="A=1"\n'
                    + "\t# a comment\n" * 10 + '\toptions nvidia NVreg_RegistryDwords="B=1"\n')
    text = unwrapped(run("doctor", "-v", "--root", directory, "--profile", "deepep").out)
    assert "source /etc/modprobe.d/zz.conf:12, /etc/modprobe.d/zz.conf:1 " in text, text


@pytest.mark.parametrize("address, commands", [("0000:19:00.0", 1), ("0000:BDF", 0), ("BDF:BDF", 0)])
def test_an_address_is_put_into_a_command_once(scratch, tmp_path, address, commands):
    """A stranger's facts can have the word there that the address replaces."""
    file = tmp_path / "node.json"
    directory = put_case(scratch, "gpu-driver", "compute-mode: exclusive")
    with open(cases.Run(cases.find("gpu-driver", "compute-mode: exclusive"), directory).source[1]) as facts:
        file.write_text(facts.read().replace('"0000:19:00.0"', '"%s"' % address))
    result = run("doctor", "--json", "--from", file)
    assert result.status in (0, 1), str(result)
    found = [f["command"] for f in result.json()["findings"]
             if f["rule"] == "gpu/compute-mode" and f["subject"] == address and f["verdict"] == "fail"]
    assert found == ["sudo nvidia-smi -i %s -c DEFAULT" % address if commands else None]


# ---- one cause ----

def problems(document):
    return {f["rule"] for f in document["findings"] if f["verdict"] in ("fail", "pending") and not f.get("follows_from")}


def test_a_half_installed_driver_is_one_problem(scratch):
    directory = put_case(scratch, "incidents/variants", "versions: DKMS built the new driver, the old one still runs")
    found = problems(report(directory))
    assert "modules/nvidia-versions-differ" in found
    assert not found & {"driver/library-mismatch", "driver/module-on-disk-differs", "modules/peermem-version"}


def test_a_wrong_registry_string_is_one_problem(scratch):
    directory = put_case(scratch, "incidents/variants", "parameters: on the kernel command line with single quotes")
    found = problems(report(directory))
    assert "driver/registrydwords-syntax" in found
    assert not found & {"driver/params-configured-not-live", "driver/params-live-not-persistent"}


def test_a_name_of_a_missing_device_is_no_problem_of_the_job(scratch):
    """Another number is: no device of this node could have it."""
    directory = put_case(scratch, "incidents/rdma", "one RDMA device of ten is gone")
    assert problems(report(directory)) == {"rdma/device-missing"}
    case = cases.find("incidents/rdma", "one RDMA device of ten is gone")
    scratch.put(node.tree_of(case.node, case.edits + plans.edits("env NCCL_IB_HCA=mlx5_20\n")))
    assert problems(report(scratch.directory)) == {"rdma/device-missing", "env/hca-selection"}


def test_no_example_of_a_device_that_is_called_like_a_command(node_facts, tmp_path):
    """A stranger's facts name devices. An example that is to be pasted has none that the shell would run."""
    document, file = json.loads(node_facts("hgx-h100-ib")), tmp_path / "facts.json"
    document["env"]["variables"] = []
    document["rdma"]["devices"][0]["ports"][0]["rate_mbps"] = 200000

    def example(suffix):
        for device in document["rdma"]["devices"]:
            device["name"] += suffix
        file.write_text(json.dumps(document))
        found = finding(run("doctor", "--json", "--from", file).json(), "env/hca-selection")
        return found.get("command")
    assert "NCCL_IB_HCA==mlx5_" in example("")
    assert example("$(id)") is None
