# SPDX-License-Identifier: GPL-2.0-or-later
"""fix without --apply: what a plan holds, what it merges, what it refuses, and that a plan that was
carried out leaves nothing to plan."""
import hashlib
import json
import os
import pty
import re
import resource
import shutil
import subprocess
import threading
import time

import pytest

from lib import journal, plans, program, tree
from lib.plans import Plan

OWN = "/etc/modprobe.d/zz-nvnodecheck.conf"
GRUB = "/etc/default/grub.d/zz-nvnodecheck.cfg"
PEER = "driver/peer-mapping-override"
IOMMU = "iommu/translation-enabled"
TRANSLATING = "iommu DMA-FQ units=dmar0\nargs -iommu=pt\n"


@pytest.fixture
def scratch(place):
    """A stage of one test alone: what a plan is applied to is not as it was described."""
    stage = tree.Stage(os.path.join(place, "plan"))
    yield stage
    shutil.rmtree(stage.directory, ignore_errors=True)


@pytest.fixture
def make(scratch):
    """make(NODE, EDITS, *OPTIONS): the plan for a node with edits."""
    def plan(name, text="", *args, **more):
        return Plan(plans.put(scratch, name, text), *args, **more)
    return plan


def deepep(make, name="h20-roce-deepep", text="", *args):
    return make(name, text, "--profile", "deepep", *args)


# ---- what a plan says ----

def test_peer_mapping(make):
    plan = deepep(make)
    assert plan.result.status == 0
    assert "PeerMappingOverride=1" in plan.does(PEER)
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"']
    assert plan.repair(PEER)["activation"] == "reboot"
    assert "device memory" in plan.repair(PEER)["cost"]
    assert plan.steps == []     # the driver is not in the image
    file = plan.files[OWN]
    assert file["action"] == "create" and file["mode"] == "0644" and file["sha256_before"] is None
    assert file["sha256_after"] == hashlib.sha256(file["content"].encode()).hexdigest()
    assert file["diff"].startswith("--- /dev/null\n+++ b%s\n@@ -0,0 +1,3 @@\n" % OWN)
    assert "nvnodecheck undo" in file["content"].splitlines()[0]


def test_command_by_hand_leaves_room_for_a_repair(make):
    """The file of the command is read before OWN, so that another key can be set afterwards."""
    def shown(plan):
        report = program.run("doctor", "--json", "--root", plan.directory, "--profile", "deepep").json()
        return next(f for f in report["findings"] if f["rule"] == PEER)

    plan = deepep(make)
    words = re.fullmatch(r"echo '(.*)' \| sudo tee (/\S+)", shown(plan)["command"])
    edit = "param RegistryDwords = \nfile %s\n\t%s\n" % (words[2], words[1])
    plan = make("h20-roce-deepep", edit + "file /etc/modprobe.d/zz-a.conf\n"
                "\toptions nvidia NVreg_RegistryDwords=\"RmMsg=1\"\n", "driver/registrydwords-duplicated")
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="RmMsg=1;PeerMappingOverride=1;"']
    # What is read later stays in effect: its line is named, and there is no command.
    plan = deepep(make, "h20-roce-deepep", "file %s\n\toptions nvidia NVreg_RegistryDwords=\"RmMsg=1\"\n" % OWN)
    found = shown(plan)
    assert found["command"] is None and found["remedy"].endswith("NVreg_RegistryDwords, in %s:1. Then reboot." % OWN)


def test_only_where_the_profile_needs_it(make):
    plan = make("h20-roce-deepep", "", "--profile", "gpudirect-rdma")
    assert plan.empty() and not plan.repair(PEER)
    plan = make("h20-roce-deepep", "", "--profile", "deepep", "--all")
    assert not plan.repair("driver/stream-memops")
    plan = make("h20-roce-deepep", "", "--profile", "gpudirect-rdma", "driver/stream-memops", PEER)
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"',
                               'options nvidia NVreg_EnableStreamMemOPs="1"']
    assert len(plan.repairs) == 2


@pytest.mark.parametrize("name", ["hgx-h100-ib", "hgx-h200-roce", "rtx4090-p2p",
                                  "grace-gh200-cx8", "vm-h200-passthrough", "no-gpu-server",
                                  "laptop", "debian-nvidia-current"])
def test_healthy_nodes_get_no_plan(make, name):
    assert make(name).empty()


def test_id_says_what_would_be_done(make):
    first = deepep(make)
    assert deepep(make).id == first.id
    assert len(first.id) == 16 and int(first.id, 16) >= 0
    other = deepep(make, text="file /etc/modprobe.d/x.conf\n\toptions nvidia "
                              "NVreg_RegistryDwords=RmMsg=1\n")
    assert other.id != first.id


def test_without_libgcrypt(make, hide):
    """The plan is shown, without an id; nothing is written that could not be told apart later."""
    directory = deepep(make).directory
    env = hide("libgcrypt.so.20")
    plan = Plan(directory, "--profile", "deepep", env=env)
    assert plan.result.status == 4 and "libgcrypt" in plan.document["refused"]
    assert plan.id == "" and plan.files[OWN]["sha256_after"] is None
    result = program.run("fix", "--root", directory, "--profile", "deepep", "--apply", "--yes",
                         env=env)
    assert result.status == 4 and "libgcrypt" in result.err
    assert not os.path.exists(directory + OWN)


def test_text(make, scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    result = program.run("fix", "--root", directory, "--profile", "deepep")
    assert result.status == 0
    assert re.search(r"Repairs\n  DeepEP and NVSHMEM IBGDA will hang: [^\[]*\[%s\]\n" % PEER, result.out)
    assert "--- /dev/null\n+++ b%s\n" % OWN in result.out
    assert "1 problem can be repaired, with one reboot. Nothing was changed.\n" in result.out
    assert result.out.endswith("\n    sudo nvnodecheck fix --apply --profile deepep --root %s\n" % directory)


def test_a_reboot_restarts_the_services_too(scratch):
    """Their restart is not asked for beside it."""
    limit = "process slurmd memlock=65536\nreplace /usr/lib/systemd/system/slurmd.service LimitMEMLOCK=infinity LimitMEMLOCK=64K\n"
    text = plans.put(scratch, "hgx-h100-ib", limit)
    alone = " ".join(program.run("fix", "--all", "--root", text).out.split())
    assert "then run systemctl restart slurmd.service" in alone and "the reboot does that" not in alone
    text = plans.put(scratch, "hgx-h100-ib", limit + TRANSLATING)
    both = " ".join(program.run("fix", "--all", "--root", text).out.split())
    assert "when the service is restarted; the reboot does that" in both and "then run" not in both


def test_ordinary_user(make):
    plan = deepep(make, "h20-roce-deepep", "unreadable /boot/initrd.img-@KERNEL@\n")
    assert plan.does(PEER)


def test_nothing_is_written(make, scratch):
    plan = deepep(make)
    assert not os.path.exists(plan.directory + OWN)


def test_usage(make, scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    for args, said in ((["no/such"], "no rule is called 'no/such'"),
                       (["peer-maping-override"], "did you mean driver/peer-mapping-override?"),
                       (["--all", PEER], "--all and rules cannot be used together"),
                       (["--yes"], "need --apply"),
                       (["--apply", "--from", "/dev/null"], "--apply changes a machine")):
        where = [] if "--from" in args else ["--root", directory]
        result = program.run("fix", *where, *args)
        assert result.status == 2 and said in result.err, str(result)


# ---- merging ----

def test_registry_keys_of_every_file_are_merged(make):
    plan = deepep(make, "h20-roce-deepep", """
file /etc/modprobe.d/a.conf
	options nvidia NVreg_RegistryDwords="RmMsg=1;RMNvLinkControl=0x2" NVreg_EnableMSI=1
file /usr/lib/modprobe.d/b.conf
	options nvidia NVreg_RegistryDwords="rmmsg=2;PerfLevelSrc=0x3322"
""")
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="RmMsg=2;RMNvLinkControl=0x2;'
                               'PerfLevelSrc=0x3322;PeerMappingOverride=1;"']
    assert list(plan.files) == [OWN]
    plan.apply()
    again = Plan(plan.directory, "--profile", "deepep")
    assert again.empty()
    report = program.report(plan.directory, "--profile", "deepep")
    assert [f["verdict"] for f in report["findings"]
            if f["rule"] == "driver/registrydwords-duplicated"] == ["pass"]


def test_repairs_of_one_option_agree(make):
    """One finding removes a key that switches NVLink off, so the other one does not refuse because of it."""
    plan = make("hgx-h100-ib", """param RegistryDwords = PeerMappingOverride=1;
file /etc/modprobe.d/a.conf
	options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"
file /etc/modprobe.d/zz-tuning.conf
	options nvidia NVreg_RegistryDwords="RMNvLinkEnable=0x0"
""", "--all")
    what = {r["rule"]: r for r in plan.document["repairs"]}
    assert not what["driver/nvlink-disabled-regkey"]["refused"]
    assert not what["driver/registrydwords-duplicated"]["refused"], what
    assert "without those that switch NVLink off" in what["driver/registrydwords-duplicated"]["what"]
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"']


def test_registry_keys_of_the_command_line_are_merged_and_taken_from_there(make):
    plan = deepep(make, "h20-roce-deepep", "args nvidia.NVreg_RegistryDwords=RmMsg=1\n")
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="RmMsg=1;PeerMappingOverride=1;"']
    assert "nvidia." not in plan.files["/etc/default/grub"]["content"]
    assert plan.step("boot-loader")["argv"] == ["/usr/sbin/grub-mkconfig", "-o",
                                                "/boot/grub/grub.cfg"]


def test_own_drop_in_is_changed_in_place(make):
    plan = deepep(make, "h20-roce-deepep", "file %s\n\t# mine\n"
                  "\toptions nvidia NVreg_RegistryDwords=\"RmMsg=1;\"\n"
                  "\toptions nvidia NVreg_EnableStreamMemOPs=\"1\"\n" % OWN)
    assert plan.files[OWN]["action"] == "change"
    assert plan.files[OWN]["content"] == (
        '# mine\noptions nvidia NVreg_RegistryDwords="RmMsg=1;PeerMappingOverride=1;"\n'
        'options nvidia NVreg_EnableStreamMemOPs="1"\n')
    assert plans.patched(plan, OWN) in (None, plan.files[OWN]["content"])


def test_value_of_another_file_that_is_wrong_is_made_right(make):
    plan = deepep(make, "h20-roce-deepep", "file /etc/modprobe.d/a.conf\n"
                  "\toptions nvidia NVreg_EnableMSI=1 NVreg_RegistryDwords='RmMsg=1;Foo'\n")
    assert plan.does("driver/registrydwords-syntax")
    assert plan.lines("/etc/modprobe.d/a.conf") == ["options nvidia NVreg_EnableMSI=1"]
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="RmMsg=1;PeerMappingOverride=1;"']
    plan.apply()
    assert Plan(plan.directory, "--profile", "deepep").empty()


def test_duplicated_assignment(make):
    plan = make("hgx-h100-ib", "file /etc/modprobe.d/nvidia-x.conf\n"
                "\toptions nvidia NVreg_RegistryDwords=\"RmMsg=1\"\n",
                "driver/registrydwords-duplicated")
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;RmMsg=1;"']


def test_quote_that_is_not_closed(make):
    plan = deepep(make, "h20-roce-deepep", "file /etc/modprobe.d/a.conf\n"
                  "\toptions nvidia NVreg_RegistryDwords=\"RmMsg=1 NVreg_EnableMSI=1\n")
    assert plan.empty()
    assert "a quote is not closed" in plan.refused(PEER)


@pytest.mark.parametrize("line, said", [
    ('options nvidia NVreg_RegistryDwords="RmMsg=1"', "zzz.conf:1 is read after"),
    ("install nvidia /sbin/modprobe -i nvidia NVreg_RegistryDwords=RmMsg=1", "in an install line"),
])
def test_later_line_that_would_win(make, line, said):
    plan = deepep(make, "h20-roce-deepep", "file /etc/modprobe.d/zzz.conf\n\t%s\n" % line)
    assert plan.empty()
    assert said in plan.refused(PEER)


@pytest.mark.parametrize("last, said", [
    ('options nvidia NVreg_RegistryDwords="RmMsg=1"', "zzz.conf:9 is read after"),
    ("options nvidia \\\n\tNVreg_EnableMSI=1 \\\n\tNVreg_RegistryDwords=RmMsg=1", "zzz.conf:11 is read after"),
    ("install nvidia /sbin/modprobe -i nvidia NVreg_RegistryDwords=RmMsg=1", "zzz.conf:9 sets NVreg_RegistryDwords in an"),
])
def test_a_line_is_counted_as_in_its_file(make, last, said):
    """With comments and lines that continue, and beside other files."""
    plan = deepep(make, "h20-roce-deepep", "file /etc/modprobe.d/b.conf\n\toptions nvidia NVreg_EnableMSI=1\n"
                  "file /etc/modprobe.d/zzz.conf\n" + "\t# a comment\n" * 6 + "\toptions nvidia NVreg_EnableMSI=0\n"
                  "\tblacklist nouveau\n\t%s\n" % last)
    assert plan.empty()
    assert said in plan.refused(PEER)


def test_debian_names(make):
    take = "file /etc/nvidia/current/nvidia-options.conf\n\t# nothing\nparam RegistryDwords =\n"
    plan = deepep(make, "debian-nvidia-current", take)
    assert plan.lines(OWN) == ['options nvidia-current NVreg_RegistryDwords="PeerMappingOverride=1;"']
    # What stands under nvidia arrives later and would win.
    plan = deepep(make, "debian-nvidia-current", take + "file /etc/modprobe.d/admin.conf\n"
                  "\toptions nvidia NVreg_RegistryDwords=\"RmMsg=1\"\n")
    value = '"RmMsg=1;PeerMappingOverride=1;"'
    assert plan.lines(OWN) == ["options nvidia-current NVreg_RegistryDwords=" + value,
                               "options nvidia NVreg_RegistryDwords=" + value]


def test_parameter_that_the_installed_driver_lacks(scratch, tmp_path):
    document = program.facts(plans.put(scratch, "h20-roce-deepep"))
    for file in document["modules"]["files"]:
        if file["name"] == "nvidia":
            file["parameters"].remove("NVreg_EnableStreamMemOPs")
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps(document))
    plan = Plan(None, "--from", str(facts), "driver/stream-memops")
    assert plan.refused("driver/stream-memops") == (
        "the installed nvidia has no parameter NVreg_EnableStreamMemOPs")


def test_value_that_is_too_long(make):
    plan = deepep(make, "h20-roce-deepep", "file /etc/modprobe.d/a.conf\n\toptions nvidia "
                  "NVreg_RegistryDwords=\"%s\"\n" % ";".join("RmKey%03d=1" % i for i in range(100)))
    assert "1024 bytes" in plan.refused(PEER)


# ---- options taken out ----

def test_unknown_parameter_is_taken_out_of_its_line(make):
    plan = make("h20-roce-deepep", "file /etc/modprobe.d/a.conf\n"
                "\toptions nvidia NVreg_Old=1 NVreg_EnableMSI=1\n\toptions nvidia NVreg_Old=2\n"
                "\toptions nouveau modeset=0\n", "driver/unknown-module-parameter")
    assert plan.files["/etc/modprobe.d/a.conf"]["content"] == (
        "options nvidia NVreg_EnableMSI=1\noptions nouveau modeset=0\n")
    assert plans.patched(plan, "/etc/modprobe.d/a.conf") in (
        None, plan.files["/etc/modprobe.d/a.conf"]["content"])
    plan.apply()
    assert Plan(plan.directory, "driver/unknown-module-parameter").empty()


@pytest.mark.parametrize("text, left", [
    ("options nvidia \\\n\t NVreg_Old=1", ""),
    ("options nvidia \\\n\t NVreg_Old=1 \\\n\t NVreg_Old=2", ""),
    ("options nvidia \\\n\t NVreg_Old=1 NVreg_EnableMSI=1", "options nvidia \\\n NVreg_EnableMSI=1\n"),
    ("options nvidia NVreg_EnableMSI=1 \\\n\t NVreg_Old=1", "options nvidia NVreg_EnableMSI=1 \\\n\n"),
], ids=["below", "both below", "one of two", "the other stays"])
def test_no_empty_command_is_left(make, text, left):
    """A command can continue below a backslash. "options nvidia" without options stayed there, and modprobe complains."""
    plan = make("h20-roce-deepep", "file /etc/modprobe.d/a.conf\n\t%s\n\toptions nouveau modeset=0\n" % text,
                "driver/unknown-module-parameter")
    assert plan.files["/etc/modprobe.d/a.conf"]["content"] == left + "options nouveau modeset=0\n"


def test_value_that_no_module_takes(make):
    rule = "boot/option-value-refused"
    plan = make("h20-roce-deepep", "file /etc/modprobe.d/a.conf\n"
                "\toptions nvidia NVreg_EnableMSI=yes NVreg_EnableS0ixPowerManagement=off\n", rule)
    assert "/etc/modprobe.d/a.conf" in plan.files and OWN not in plan.files
    plan.apply()
    assert Plan(plan.directory, rule).empty()


def test_value_that_no_module_takes_beside_a_right_one(make):
    rule = "boot/option-value-refused"
    plan = make("h20-roce-deepep", "file /etc/modprobe.d/a.conf\n"
                "\toptions nvidia NVreg_EnableMSI=0\n\toptions nvidia NVreg_EnableMSI=yes\n"
                "\toptions nvidia-drm modeset=1\n", rule)
    assert plan.lines("/etc/modprobe.d/a.conf") == ["options nvidia-drm modeset=1"]
    assert 'options nvidia NVreg_EnableMSI="0"' in plan.lines(OWN)


def test_options_of_the_driver_given_to_its_sister(make):
    plan = deepep(make, text="file /etc/modprobe.d/nvidia-drm.conf\n"
                  "\toptions nvidia-drm modeset=1 NVreg_EnableMSI=1\n")
    assert plan.lines("/etc/modprobe.d/nvidia-drm.conf") == ["options nvidia-drm modeset=1"]
    assert 'options nvidia NVreg_EnableMSI="1"' in plan.lines(OWN)


def test_unknown_parameter_of_a_package(make):
    plan = make("h20-roce-deepep", "file /usr/lib/modprobe.d/a.conf\n"
                "\toptions nvidia NVreg_Old=1\n", "driver/unknown-module-parameter")
    assert plan.empty()
    assert "belongs to a package" in plan.refused("driver/unknown-module-parameter")


def test_line_in_a_linked_file_is_not_edited(make):
    plan = make("debian-nvidia-current", "file /etc/nvidia/current/nvidia-options.conf\n"
                "\toptions nvidia-current NVreg_Old=1\n", "driver/unknown-module-parameter")
    assert plan.empty() and plan.refused("driver/unknown-module-parameter")


def test_live_value_is_configured(make):
    plan = make("h20-roce-deepep", "param EnableStreamMemOPs = 1\nparam RegistryDwords = RmMsg=1;\n",
                "--all")
    assert plan.lines(OWN) == ['options nvidia NVreg_EnableStreamMemOPs="1"',
                               'options nvidia NVreg_RegistryDwords="RmMsg=1;"']


def test_keys_that_switch_nvlink_off_go_alone(make):
    plan = make("hgx-h100-ib", "param RegistryDwords = RmMsg=1;RMNvLinkEnable=0x0\n"
                "file /etc/modprobe.d/nvidia-deepep.conf\n\toptions nvidia NVreg_EnableStreamMemOPs=1 "
                "NVreg_RegistryDwords=\"RmMsg=1;RMNvLinkEnable=0x0\"\n", "--all")
    assert plan.does("driver/nvlink-disabled-regkey")
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="RmMsg=1;"']
    assert plan.lines("/etc/modprobe.d/nvidia-deepep.conf") == [
        "options nvidia NVreg_EnableStreamMemOPs=1"]
    plan.apply()
    assert Plan(plan.directory, "--all").empty()


def test_option_that_is_not_to_be_set(make):
    edit = "param EnableMSI = 0\nfile %s\n\toptions nvidia NVreg_EnableMSI=0 NVreg_DeviceFileMode=432\n"
    plan = make("hgx-h100-ib", edit % "/etc/modprobe.d/x.conf", "driver/msi-disabled")
    assert plan.lines("/etc/modprobe.d/x.conf") == ["options nvidia NVreg_DeviceFileMode=432"]
    # A package's file is left alone, and stood over.
    plan = make("hgx-h100-ib", edit % "/usr/lib/modprobe.d/x.conf", "driver/msi-disabled")
    assert list(plan.files) == [OWN] and plan.lines(OWN) == ['options nvidia NVreg_EnableMSI="1"']


def test_file_that_masks_the_vendors(make):
    plan = make("h20-roce-deepep", """
file /usr/lib/modprobe.d/nvidia.conf
	blacklist nouveau
	options nouveau modeset=0
file /etc/modprobe.d/nvidia.conf
	options nvidia NVreg_EnableMSI=1
""", "boot/modprobe-conf-shadowed")
    assert plan.files["/etc/modprobe.d/nvidia.conf"]["action"] == "remove"
    assert plan.lines("/etc/modprobe.d/nvidia_local.conf") == ["options nvidia NVreg_EnableMSI=1"]
    plan.apply()
    assert Plan(plan.directory, "boot/modprobe-conf-shadowed").empty()


# ---- images ----

STALE = """
file /etc/modprobe.d/gpu.conf
	options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"
initramfs /boot/initrd.img-@KERNEL@
	module nvidia
"""


def test_image_with_the_driver_is_built_again(make):
    plan = deepep(make, "h20-roce-deepep", "initramfs /boot/initrd.img-@KERNEL@\n\tmodule nvidia\n")
    step = plan.step("initramfs")
    assert step["subject"] == "5.15.0-122-generic"
    assert step["path"] == "/boot/initrd.img-5.15.0-122-generic"
    assert step["tool"] == "initramfs-tools"
    assert step["must_hold"] == ["nvidia NVreg_RegistryDwords=PeerMappingOverride=1;"]


def test_stale_image(make):
    plan = make("h20-roce-deepep", STALE)
    assert "built" in plan.does("boot/initramfs-stale") or plan.does("boot/initramfs-stale")
    assert plan.kinds() == ["initramfs"] and not plan.files


def test_right_on_disk_and_not_live(make):
    plan = make("hgx-h100-ib", "param EnableStreamMemOPs = 0\n", "driver/params-configured-not-live")
    assert plan.empty()
    assert plan.repair("driver/params-configured-not-live")["activation"] == "reboot"
    assert "at the next boot" in plan.refused("driver/params-configured-not-live")


def test_image_without_the_driver_stays(make):
    assert deepep(make, "h20-roce-deepep").kinds() == []


def test_generic_dracut_image_takes_the_files_by_name(make):
    plan = deepep(make, "rhel9-proprietary-dracut",
                  "initramfs /boot/initramfs-@KERNEL@.img generator=dracut compress=gzip\n"
                  "\tmodule nvidia\n\tfile /usr/lib/modprobe.d/nvidia.conf\n")
    assert plan.lines("/etc/dracut.conf.d/zz-nvnodecheck.conf") == [
        'install_items+=" %s "' % OWN]
    assert plan.step("initramfs")["tool"] == "dracut"


def test_image_that_cannot_be_read(make):
    plan = deepep(make, "h20-roce-deepep",
                  "initramfs /boot/initrd.img-@KERNEL@\n\tmodule nvidia\n\tno-trailer\n")
    assert plan.empty() and "could not be read completely" in plan.refused(PEER)


def test_nouveau(make):
    plan = make("workstation-nouveau")
    assert plan.lines(OWN) == ["blacklist nouveau", "install nouveau /bin/false",
                               'options nouveau modeset="0"']
    assert plan.step("initramfs")["must_hold"] == ["nouveau modeset=0", "blacklist nouveau"]
    # The plan blocks nouveau: that it does not load is meant.
    assert "will fail" not in plan.repair("modules/nouveau-loaded")["cost"]
    assert "repair that first" in plan.refused("driver/loaded")
    plan = make("workstation-nouveau", "driver none\npci rtx3070 driver=nouveau\n")
    assert plan.empty() and "no NVIDIA driver is installed" in plan.refused("modules/nouveau-loaded")


@pytest.mark.parametrize("line", ["install nouveau /sbin/modprobe -i nouveau",
                                  "install nouv* /sbin/modprobe -i $MODPROBE_MODULE"])
def test_install_line_that_comes_first(make, line):
    """Ours would be the second, and is not run then."""
    plan = make("workstation-nouveau", "file /etc/modprobe.d/00-x.conf\n\t%s\n" % line)
    assert plan.empty() and "00-x.conf:1" in plan.refused("modules/nouveau-loaded")
    plan = make("workstation-nouveau", "file /etc/modprobe.d/zzz.conf\n\t%s\n" % line)
    assert plan.does("modules/nouveau-loaded")
    plan = make("workstation-nouveau",
                "file /etc/modprobe.d/00-x.conf\n\tinstall nouveau /bin/true\n")
    assert plan.does("modules/nouveau-loaded")


# ---- kernel arguments ----

def test_argument_on_debian(make):
    plan = make("hgx-h100-ib", TRANSLATING, "--profile", "p2p")
    assert plan.lines(GRUB) == ['GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX iommu=pt"']
    assert plan.step("boot-loader")["must_hold"] == ["iommu=pt"]
    assert len([r for r in plan.repairs if r["rule"] == IOMMU and r["what"]]) == 8
    plan.apply()
    again = Plan(plan.directory, "--profile", "p2p")
    assert not again.files and again.kinds() == ["boot-loader"]  # the menu is not made yet


def test_argument_that_grace_cannot_have(make):
    plan = make("grace-gh200-cx8", "args pci=noats,realloc\npci gh200 ats=off\n", "--all")
    assert "remove pci=noats" in plan.does(IOMMU)
    assert "pci=realloc" in plan.files["/etc/default/grub"]["content"]
    assert "noats" not in plan.files["/etc/default/grub"]["content"]
    # Something else is wrong there, and that argument is not it.
    plan = make("grace-gh200-cx8", "kernel 6.8.0-49-generic-64k machine=aarch64\nargs pci=noats\niommu identity\n", "--all")
    assert plan.empty()


def test_argument_that_waits_for_the_boot(make):
    plan = make("hgx-h100-ib", TRANSLATING + "args staged iommu=pt\n", "--profile", "p2p")
    assert plan.empty() and "configured already" in plan.refused(IOMMU)


def test_argument_in_boot_entries(make):
    plan = make("rhel9-proprietary-dracut", TRANSLATING, "--profile", "p2p")
    assert set(plan.files) == {
        "/etc/default/grub", "/etc/kernel/cmdline",
        "/boot/loader/entries/4c1d6f1fa3f24a6f9b7a3f5d0c2e8b71-5.14.0-427.42.1.el9_4.x86_64.conf"}
    for path, file in plan.files.items():
        added = [line for line in file["diff"].splitlines()[2:] if line.startswith("+")]
        assert len(added) == 1 and "iommu=pt" in added[0].split('"')[-2 if "grub" in path else 0]
        assert plans.patched(plan, path) in (None, file["content"])
    assert plan.steps == []
    plan.apply()
    assert Plan(plan.directory, "--profile", "p2p").empty()


def test_arguments_in_the_environment_block(make):
    entry = ("file /boot/loader/entries/4c1d6f1fa3f24a6f9b7a3f5d0c2e8b71-@KERNEL@.conf\n"
             "\ttitle x\n\tversion @KERNEL@\n\tlinux /boot/vmlinuz-@KERNEL@\n"
             "\toptions $kernelopts\n")
    plan = make("rhel9-proprietary-dracut", TRANSLATING + entry, "--profile", "p2p")
    assert plan.empty() and "grubby" in plan.refused(IOMMU)


def systemd_boot(words):
    return """
boot none
file /boot/loader/loader.conf
	default abc-*
file /boot/loader/entries/abc-@KERNEL@.conf
	title Debian
	version @KERNEL@
	linux /abc/@KERNEL@/linux
	options root=UUID=1 ro %s
	initrd /abc/@KERNEL@/initrd
""" % words


def test_argument_with_systemd_boot(make):
    plan = make("hgx-h100-ib", TRANSLATING + systemd_boot("quiet"), "--profile", "p2p")
    assert plan.lines("/boot/loader/entries/abc-5.15.0-122-generic.conf")[3] == (
        "options root=UUID=1 ro quiet iommu=pt")
    # What kernel-install gives the next entry.
    assert plan.lines("/etc/kernel/cmdline") == ["root=UUID=1 ro quiet iommu=pt"]
    assert plan.steps == []


def test_argument_where_grub_reads_no_folder(make):
    plan = make("hgx-h100-ib", TRANSLATING + "os opensuse-leap 15.6 \"openSUSE Leap 15.6\"\n",
                "--profile", "p2p")
    assert plan.lines("/etc/default/grub")[-1] == 'GRUB_CMDLINE_LINUX="iommu=pt"'
    assert plan.kinds() == ["boot-loader"]


def test_boot_loader_that_is_not_known(make):
    plan = make("hgx-h100-ib", TRANSLATING + "boot none\n", "--profile", "p2p")
    assert plan.empty() and "boot loader" in plan.refused(IOMMU)


def edited_facts(scratch, tmp_path, name, text, edit):
    """The facts of a node with EDIT(facts), for what no tree of a few lines shows."""
    facts = program.facts(plans.put(scratch, name, text))
    edit(facts)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(facts))
    return str(path)


def test_sealed_command_line(scratch, tmp_path):
    path = edited_facts(scratch, tmp_path, "hgx-h100-ib", TRANSLATING,
                        lambda facts: facts["boot"].update(loader="uki"))
    plan = Plan(None, "--from", path, "--profile", "p2p")
    assert plan.empty() and "part of a signed unified kernel image" in plan.refused(IOMMU)


@pytest.mark.parametrize("change, said", [
    ({"path": "/boot/efi/EFI/Linux/a.efi"}, "part of /boot/efi/EFI/Linux/a.efi, a signed image"),
    ({"generator": "booster"}, "made by booster"),
    ({"complete": False, "problem": "no TRAILER"}, "could not be read completely (no TRAILER)"),
])
def test_image_that_is_not_for_editing(scratch, tmp_path, change, said):
    """Only one that loads the driver: else what is in it makes no difference."""
    path = edited_facts(scratch, tmp_path, "h20-roce-deepep", "",
                        lambda facts: facts["initramfs"]["images"][0].update(
                            change, modules=[{"path": "/lib/modules/x/nvidia.ko", "name": "nvidia"}]))
    plan = Plan(None, "--from", path, "--profile", "deepep")
    assert plan.empty() and said in plan.refused(PEER)
    if "complete" not in change:
        path = edited_facts(scratch, tmp_path, "h20-roce-deepep", "",
                            lambda facts: facts["initramfs"]["images"][0].update(change))
        assert Plan(None, "--from", path, "--profile", "deepep").does(PEER)


@pytest.mark.parametrize("word", ["iommu=force", "iommu.passthrough=0", "intel_iommu=on,strict"])
def test_contradiction(make, word):
    plan = make("hgx-h100-ib", TRANSLATING + "args %s\n" % word, "--profile", "p2p")
    assert plan.empty() and "does the opposite" in plan.refused(IOMMU)


def test_later_grub_file_would_win(make):
    plan = make("hgx-h100-ib", TRANSLATING + "file /etc/default/grub.d/zzz.cfg\n"
                "\tGRUB_CMDLINE_LINUX=\"quiet\"\n", "--profile", "p2p")
    assert plan.empty() and "zzz.cfg:1 is read after" in plan.refused(IOMMU)


def test_argument_that_does_nothing(make):
    """One that does no harm is a note, and goes only where the user names the rule."""
    arguments = "args pci=noacs,noaer amd_iommu=on\n"
    plan = make("hgx-h100-ib", arguments, "--all")
    line = [text for text in plan.lines("/etc/default/grub") if "LINUX_DEFAULT" in text]
    assert line == ['GRUB_CMDLINE_LINUX_DEFAULT="quiet intel_iommu=on iommu=pt pci=noaer amd_iommu=on"']
    plan = make("hgx-h100-ib", arguments, "iommu/inert-argument")
    line = [text for text in plan.lines("/etc/default/grub") if "LINUX_DEFAULT" in text]
    assert line == ['GRUB_CMDLINE_LINUX_DEFAULT="quiet intel_iommu=on iommu=pt pci=noaer"']
    assert plan.kinds() == ["boot-loader"]


ACS = "pci pex*-down acs=SV,RR,CR,UF\n"


def test_acs_by_kernel_argument(make):
    plan = make("hgx-h100-ib", ACS, "--profile", "gpudirect-rdma")
    (line,) = plan.lines(GRUB)
    # GRUB's script would end the command at the semicolon.
    assert line.startswith('GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX \\"pci=disable_acs_redir=0000:')
    assert line.endswith('\\""') and line.count(";") == 15
    assert all(r["what"] for r in plan.repairs if r["rule"] == "pci/acs-redirect")


@pytest.mark.parametrize("kernel, left", [("5.15.0-97-generic", "SV,UF"),
                                          ("6.17.0-5-generic", "SV")])
def test_acs_that_the_argument_leaves(make, kernel, left):
    """What the port has after the boot is what the rule wants: nothing is planned then."""
    plan = make("hgx-h100-ib", ACS + "kernel %s\n" % kernel, "--profile", "gpudirect-rdma")
    word = re.search(r"pci=[^\\]+", plan.lines(GRUB)[0]).group()
    again = make("hgx-h100-ib", "pci pex*-down acs=%s\nkernel %s\nargs %s\n" % (left, kernel, word),
                 "--profile", "gpudirect-rdma")
    assert again.empty() and not again.repair("pci/acs-redirect")


def test_acs_beside_another_value_of_pci(make):
    plan = make("hgx-h100-ib", ACS + "args pci=noaer\n", "--profile", "gpudirect-rdma")
    (line,) = [text for text in plan.lines("/etc/default/grub") if "LINUX_DEFAULT" in text]
    assert '\\"pci=noaer,disable_acs_redir=0000:' in line and line.endswith('\\""')
    assert GRUB not in plan.files


def test_acs_by_kernel(make):
    plan = make("hgx-h100-ib", ACS + "kernel 6.17.0-5-generic\n", "--profile", "gpudirect-rdma")
    assert "config_acs=0000xx@0000:" in plan.lines(GRUB)[0]
    plan = make("hgx-h100-ib", ACS + "kernel 6.11.0-8-generic\n", "--profile", "gpudirect-rdma")
    assert plan.empty() and "9cf8a952d57b" in plan.refused("pci/acs-redirect")


def test_acs_of_a_virtual_machines_host(make):
    plan = make("hgx-h100-ib", ACS + "pci 0000:29:00.1 driver=vfio-pci\n",
                "--profile", "gpudirect-rdma")
    assert plan.empty() and "vfio-pci" in plan.refused("pci/acs-redirect")


# ---- modules, services, limits, nodes ----

@pytest.mark.parametrize("edit,kinds,does", [
    ("", ["unit-stop", "load-module", "load-module", "unit-start"],
     "restart nvidia-fabricmanager.service, which looks for NVSwitches only when it starts"),
    ("unit nvidia-fabricmanager.service remove\nunit nvidia-fabricmanager.service enabled\n",
     ["load-module", "load-module", "unit-start"], "start nvidia-fabricmanager.service")])
def test_fabric_manager_that_finds_no_switch(make, edit, kinds, does):
    plan = make("b200-hgx", "unload mlx5_ib ib_umad\n" + edit, "--profile", "base")
    assert plan.kinds() == kinds
    assert plan.does("services/fabricmanager-down").endswith("; " + does)
    assert plan.lines("/etc/modules-load.d/nvnodecheck.conf") == ["mlx5_ib", "ib_umad"]


NO_PEERMEM = """
unload nvidia_peermem
remove /etc/modules-load.d/nvidia-peermem.conf
"""


def test_hmm_is_switched_off(make):
    plan = make("hgx-h100-ib", "module nvidia_uvm params=uvm_disable_hmm=N\n"
                "log nvidia-uvm: uvm_pmm_gpu.c:3176 devmem_alloc_pagemap[pid:9] "
                "request_free_mem_region() err -34\n")
    assert plan.lines(OWN) == ['options nvidia_uvm uvm_disable_hmm="1"']
    assert plan.repair("log/uvm-hmm-failed")["activation"] == "reload"


def test_peermem_by_modules_load(make):
    plan = make("h20-roce-deepep", NO_PEERMEM)
    assert plan.step("load-module") == {
        "kind": "load-module", "subject": "nvidia_peermem", "path": None, "tool": None,
        "argv": None, "must_hold": None}
    assert plan.lines("/etc/modules-load.d/nvnodecheck.conf") == ["nvidia-peermem"]


def test_peermem_by_a_unit_where_dracut_makes_the_images(make):
    plan = make("rhel9-proprietary-dracut", NO_PEERMEM)
    unit = "nvnodecheck-nvidia-peermem.service"
    text = plan.files["/etc/systemd/system/" + unit]["content"]
    assert "ExecStart=/sbin/modprobe nvidia-peermem\n" in text
    assert plan.kinds() == ["daemon-reload", "load-module", "unit-enable"]
    assert plan.step("unit-enable")["subject"] == unit
    assert not any("softdep" in file["content"] for file in plan.files.values())


def test_peermem_that_would_not_load(make):
    plan = make("rhel9-proprietary-dracut", NO_PEERMEM + "driver peermem=stub\n")
    assert plan.empty() and "modules/peermem-stub" in plan.refused("modules/peermem-not-loaded")


def test_nv_peer_mem_gives_way(make):
    plan = deepep(make, "h20-roce-deepep", NO_PEERMEM + "module nv_peer_mem\n"
                  "unit nv_peer_mem.service enabled\n\t[Service]\n\tExecStart=/bin/true\n")
    kinds = plan.kinds()
    assert "unit-disable" in kinds
    assert kinds.index("unload-module") < kinds.index("load-module")
    assert plan.step("unload-module")["subject"] == "nv_peer_mem"


# The first driver that has nvidia-peermem.
WITH_PEERMEM = ("replace /proc/driver/nvidia/version 418.226.00 470.57.02\n"
                "replace /sys/module/nvidia/version 418.226.00 470.57.02\n")


def test_nv_peer_mem_stays_where_nothing_else_is_there(make):
    plan = make("old-nv-peer-mem", WITH_PEERMEM, "modules/peermem-conflict")
    assert plan.empty() and "install its package" in plan.refused("modules/peermem-conflict")


def test_memlock(make):
    plan = make("hgx-h100-ib", "process slurmd memlock=65536\n"
                "replace /usr/lib/systemd/system/slurmd.service LimitMEMLOCK=infinity "
                "LimitMEMLOCK=64K\nremove /etc/security/limits.d/rdma.conf\n")
    assert plan.lines("/etc/systemd/system/slurmd.service.d/zz-nvnodecheck.conf") == [
        "[Service]", "LimitMEMLOCK=infinity"]
    assert plan.lines("/etc/security/limits.d/zz-nvnodecheck.conf") == [
        "* - memlock unlimited", "root - memlock unlimited"]
    assert plan.kinds() == ["daemon-reload"]
    assert plan.repair("limits/memlock")["then_run"] == "systemctl restart slurmd.service"
    plan.apply()
    again = Plan(plan.directory)
    assert again.empty() and again.repair("limits/memlock")["activation"] == "restart"


def test_memlock_of_a_unit_that_gives_all(make):
    """Its service was not restarted since: a drop-in would change nothing."""
    assert make("hgx-h100-ib", "process slurmd memlock=65536\n").empty()


def test_memlock_logins_that_have_enough(make):
    plan = make("hgx-h100-ib", "process slurmd memlock=65536\n"
                "replace /usr/lib/systemd/system/slurmd.service LimitMEMLOCK=infinity "
                "LimitMEMLOCK=64K\n")
    assert list(plan.files) == ["/etc/systemd/system/slurmd.service.d/zz-nvnodecheck.conf"]


def test_memlock_later_drop_in(make):
    plan = make("hgx-h100-ib", "process slurmd memlock=65536\n"
                "file /etc/systemd/system/slurmd.service.d/zzz.conf\n"
                "\t[Service]\n\tLimitMEMLOCK=64K\n")
    assert plan.empty() and "zzz.conf:2 is read after" in plan.refused("limits/memlock")


def test_device_nodes(make):
    plan = make("hgx-h100-ib", "remove /dev/nvidiactl /dev/nvidia3\nparam DeviceFileMode = 432\n")
    assert [s["subject"] for s in plan.steps] == ["/dev/nvidiactl c 195:255 0660",
                                                  "/dev/nvidia3 c 195:3 0660"]
    plan = make("hgx-h100-ib", "remove /dev/nvidiactl\nparam ModifyDeviceFiles = 0\n")
    assert plan.empty() and "ModifyDeviceFiles" in plan.refused("dev/nvidia-nodes-missing")


@pytest.mark.parametrize("node, does", [
    ({"kind": "character", "major": 240, "minor": 255}, True), ({"kind": "folder"}, False)])
def test_device_node_of_another_number(scratch, tmp_path, node, does):
    def edit(facts):
        next(n for n in facts["dev"]["nodes"] if n["path"] == "/dev/nvidiactl").update(node)
    path = edited_facts(scratch, tmp_path, "hgx-h100-ib", "", edit)
    plan = Plan(None, "--from", path)
    if does:
        assert [s["subject"] for s in plan.steps] == ["/dev/nvidiactl c 195:255 0666"]
        assert "again" in plan.does("dev/nvidia-nodes-missing")
    else:
        assert plan.empty() and "is not a device" in plan.refused("dev/nvidia-nodes-missing")


def test_device_node_that_somebody_gave_to_a_group(scratch, tmp_path):
    """Its number is right: whom it is for is not decided here."""
    def edit(facts):
        major = next(m for m in facts["dev"]["majors"] if m["name"] == "gdrdrv")["major"]
        node = next(n for n in facts["dev"]["nodes"] if n["path"] == "/dev/gdrdrv")
        node.update({"kind": "character", "mode": 0o660, "major": major, "minor": 0})
    path = edited_facts(scratch, tmp_path, "hgx-h100-ib", "gdrdrv 2.5 opensource\n", edit)
    plan = Plan(None, "--from", path, "dev/gdrdrv-node-missing")
    assert plan.empty() and "Decide who can use it" in plan.refused("dev/gdrdrv-node-missing")


def test_module_that_is_loaded_by_nothing_else(make):
    plan = make("hgx-h100-ib", "unload nvidia_uvm\n")
    assert plan.step("load-module")["subject"] == "nvidia_uvm"
    # Debian's install lines lead to the name of the file.
    plan = make("debian-nvidia-current", "unload nvidia_uvm\n")
    assert plan.step("load-module")["subject"] == "nvidia_current_uvm"
    assert plan.lines("/etc/modules-load.d/nvnodecheck.conf") == ["nvidia-uvm"]
    plan = make("hgx-h100-ib", "unload nvidia_uvm\nfile /etc/modprobe.d/x.conf\n"
                "\tinstall nvidia-uvm /sbin/modprobe -i nvidia-uvm; true\n")
    assert plan.empty() and "x.conf:1" in plan.refused("modules/nvidia-uvm-not-loaded")


def test_a_module_of_the_next_driver_is_loaded_at_boot_alone(make):
    """The running driver refuses it: the load now would fail, and the whole repair with it."""
    plan = make("hgx-h100-ib", "unload nvidia_uvm\n" + "".join(
        "ko %s version=580.65.06\n" % name for name in ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm")))
    repair = plan.repair("modules/nvidia-uvm-not-loaded")
    assert (repair["what"], repair["activation"]) == ("load nvidia-uvm at every boot", "reboot")


def test_user_with_a_process_of_a_launchers_name(make):
    plan = make("hgx-h100-ib", "process slurmd memlock=65536 unit=user@1000.service\n")
    assert plan.empty() and "which belongs to a user" in plan.refused("limits/memlock")


def test_resizable_bar(make):
    plan = make("rtx4090-stock-smallbar", "", "pci/bar1-too-small")
    repair = plan.repair("pci/bar1-too-small")
    assert repair["what"] or "firmware" in repair["refused"]


def test_every_fix_that_a_rule_names_is_there():
    folder = os.path.join(program.TOP, "src", "fixes")
    names = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            names |= set(re.findall(r'^const struct fix fix_\w+ = \{\n\t\.name = "([^"]+)"', file.read(), re.M))
    rules = program.run("rules", "--json").json()["rules"]
    assert {rule["fix"] for rule in rules if rule["fix"]} <= names


def test_what_software_cannot_repair(make):
    plan = make("broken-everything", "", "--profile", "deepep,p2p")
    assert "firmware" in plan.refused("pci/bar1-unassigned")
    assert "by hand" in plan.refused("boot/modprobe-conf-syntax")


# ---- nodes that are refused ----

@pytest.mark.parametrize("text, said", [
    ("container docker\n", "this is a container"),
    ("folder /run/nvidia/driver/usr\n", "GPU Operator"),
    ("file /run/ostree-booted text=\nfolder /ostree/repo\n", "rpm-ostree kargs"),
])
def test_refused_node(make, text, said):
    plan = deepep(make, "h20-roce-deepep", text)
    assert plan.empty() and said in plan.document["refused"], plan.document["refused"]
    assert plan.result.status == 4


def test_driver_container_in_a_capture(make, tmp_path):
    capture = tmp_path / "node.capture"
    directory = deepep(make, "h20-roce-deepep", "folder /run/nvidia/driver/usr\n").directory
    assert program.run("capture", "--root", directory, "-o", capture).status == 0
    plan = Plan(None, "--from", str(capture), "--profile", "deepep")
    assert plan.empty() and "GPU Operator" in plan.document["refused"]


def test_driver_of_the_host_under_the_operator(make):
    """Its folders are there then as well, and what it waits for is in them."""
    assert not deepep(make, "h20-roce-deepep", "folder /run/nvidia/driver\n"
                      "file /run/nvidia/validations/driver-ready text=\n").document["refused"]


def test_modprobe_folder_that_cannot_be_read(make):
    plan = deepep(make, "h20-roce-deepep",
                  "file /etc/modprobe.d/x.conf\n\t# x\nunreadable /etc/modprobe.d/x.conf\n")
    plan = Plan(plan.directory, "--profile", "deepep", user=True)
    assert plan.empty() and "could not be read completely" in plan.refused(PEER)


def test_facts_alone(make, scratch, tmp_path):
    directory = plans.put(scratch, "h20-roce-deepep")
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps(program.facts(directory)))
    plan = Plan(directory, "--from", str(facts), "--profile", "deepep")
    assert plan.lines(OWN) == ['options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"']
    directory = plans.put(scratch, "h20-roce-deepep",
                          "file /etc/modprobe.d/a.conf\n\toptions nvidia NVreg_Old=1\n")
    facts.write_text(json.dumps(program.facts(directory)))
    plan = Plan(directory, "--from", str(facts), "driver/unknown-module-parameter")
    assert plan.empty() and "cannot read the file it would change" in plan.refused(
        "driver/unknown-module-parameter")


def test_capture(make, scratch, tmp_path):
    directory = plans.put(scratch, "h20-roce-deepep",
                          "file /etc/modprobe.d/a.conf\n\toptions nvidia NVreg_Old=1\n")
    capture = str(tmp_path / "capture")
    assert program.run("capture", "--root", directory, "-o", capture).status == 0
    tree = Plan(directory, "--profile", "deepep", "--all")
    plan = Plan(directory, "--from", capture, "--profile", "deepep", "--all")
    assert set(plan.files) >= {"/etc/modprobe.d/a.conf", OWN}
    assert plan.id == tree.id


# ---- every node, everything ----

@pytest.mark.parametrize("name", ["broken-everything", "h20-roce-deepep", "old-nv-peer-mem",
                                  "rhel9-proprietary-dracut", "rtx4090-stock-smallbar",
                                  "workstation-nouveau", "a100-nvshmem", "b200-hgx"])
def test_files_are_right_after_one_plan(make, name):
    options = ("--profile", "deepep,p2p", "--all")
    plan = make(name, "", *options)
    for path, file in plan.files.items():
        if file["action"] == "change":
            assert plans.patched(plan, path) in (None, file["content"])
    plan.apply()
    again = Plan(plan.directory, *options)
    assert not again.files, again.files


# ---- applied ----

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes a root")


def fix(directory, *args):
    return program.run("fix", "--root", directory, "--profile", "deepep", *args)


@as_root
def test_apply_twice_and_undo(scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    result = fix(directory, "--apply", "--yes")
    assert result.status == 0 and "pending: takes effect at the next boot" in result.out, result
    said = re.search(r"^To undo it, run: nvnodecheck (undo \S+ --root \S+)$", result.out, re.M)
    again = fix(directory, "--apply", "--yes")
    assert again.status == 0 and "There is nothing to change" in again.out, again
    result = program.run(*said.group(1).split(), "--yes")
    assert result.status == 0 and not os.path.exists(directory + OWN)
    result = program.run("undo", "--root", directory, "--list")
    assert result.status == 0 and "undone" in result.out and OWN in result.out


@as_root
def test_apply_asks(scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    result = fix(directory, "--apply")
    assert result.status == 4 and "--yes" in result.err
    assert not os.path.exists(directory + OWN)


@as_root
def test_undo_asks_only_where_there_is_something(scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    result = program.run("undo", "--root", directory, "nosuch")
    assert result.status == 4 and "there is no transaction nosuch" in result.out and not result.err
    assert "Nothing to do" in program.run("undo", "--root", directory).out
    assert fix(directory, "--apply", "--yes").status == 0
    plan = program.run("undo", "--root", directory, "--list", "--json").json()["transactions"][0]["plan_id"]
    for words in ([], [plan]):
        result = program.run("undo", "--root", directory, *words)
        assert result.status == 4 and "--yes" in result.err, result
        assert os.path.exists(directory + OWN)
    result = program.run("undo", "--root", directory, "--yes")
    assert "it did not exist before" in result.out, result


@as_root
def test_undo_names_all_that_it_takes_back(scratch):
    """What was interrupted comes back with the one that is meant, and nobody agreed to that unasked."""
    directory = plans.put(scratch, "h20-roce-deepep")
    assert fix(directory, "--apply", "--yes").status == 0
    state = directory + "/var/lib/nvnodecheck/fix"
    applied = os.listdir(state)[0]
    interrupted = "2099" + applied[4:]
    shutil.copytree(os.path.join(state, applied), os.path.join(state, interrupted))
    record = os.path.join(state, interrupted, "plan.json")
    with open(record, encoding="ascii") as file:
        text = file.read().replace(applied, interrupted)
    with open(record, "w", encoding="ascii") as file:
        file.write(text)
    with open(os.path.join(state, interrupted, "journal"), "w", encoding="ascii") as file:
        file.write(journal.begun(interrupted, text))
    main, terminal = pty.openpty()
    process = subprocess.Popen([program.binary(), "undo", "--root", directory], stdin=terminal,
                               stdout=terminal, stderr=terminal, env=program.environment())
    os.write(main, b"n\n")
    assert process.wait(timeout=program.TIMEOUT_S) == 4
    said = os.read(main, 65536).decode()
    os.close(main)
    os.close(terminal)
    assert "Undo %s and %s?" % (interrupted, applied) in said, said
    assert os.path.exists(directory + OWN)


@as_root
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_what_can_no_longer_be_told_is_not_fixed(scratch):
    """The driver does not answer any more once the files are written."""
    directory = plans.put(scratch, "h20-roce-deepep")
    params = directory + "/proc/driver/nvidia/params"

    def lose():
        while not os.path.exists(directory + OWN):
            time.sleep(0.005)
        os.unlink(params)
        os.mkfifo(params)

    thread = threading.Thread(target=lose, daemon=True)
    thread.start()
    result = program.run("fix", "--root", directory, "--profile", "deepep", "--apply", "--yes", wrap=(
        "strace", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_exit=200000"))
    thread.join()
    assert result.status == 5 and PEER + " could not be checked" in result.out, str(result)
    assert not os.path.exists(directory + OWN)


@as_root
def test_refused_after_a_recovery(scratch):
    """What the recovery changed was changed."""
    directory = plans.put(scratch, "h20-roce-deepep")
    assert fix(directory, "--apply", "--yes").status == 0
    state = directory + "/var/lib/nvnodecheck/fix"
    path = os.path.join(state, os.listdir(state)[0], "journal")
    with open(path, encoding="ascii") as file:
        lines = file.readlines()
    assert lines[-1].startswith("COMMIT ")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(lines[:-1])
    os.makedirs(directory + "/var/lib/pacman", exist_ok=True)
    with open(directory + "/var/lib/pacman/db.lck", "w", encoding="ascii"):
        pass
    result = program.run("undo", "--root", directory, "--yes")
    assert result.status == 5 and not os.path.exists(directory + OWN), str(result)
    assert "rolled back" in result.out and "Nothing else was changed" in result.out, str(result)


@as_root
@pytest.mark.parametrize("limit", [100, 300])
def test_limit_on_the_size_of_files_changes_nothing(limit, scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    result = program.run("fix", "--root", directory, "--profile", "deepep", "--apply", "--yes",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert result.status in (4, 5) and "File too large" in result.out, str(result)
    assert not os.path.exists(directory + OWN)


@as_root
def test_apply_only_the_plan_that_was_shown(scratch):
    directory = plans.put(scratch, "h20-roce-deepep")
    shown = Plan(directory, "--profile", "deepep").id
    with open(directory + "/etc/modprobe.d/new.conf", "w", encoding="utf-8") as file:
        file.write('options nvidia NVreg_RegistryDwords="RmMsg=1"\n')
    result = fix(directory, "--apply", "--yes", "--plan", shown)
    assert result.status == 4 and "the plan has changed" in result.err
    shown = Plan(directory, "--profile", "deepep").id
    assert fix(directory, "--apply", "--yes", "--plan", shown).status == 0


@as_root
def test_apply_where_nothing_can_be_changed(scratch):
    directory = plans.put(scratch, "old-nv-peer-mem", WITH_PEERMEM)
    result = program.run("fix", "--root", directory, "modules/peermem-conflict", "--apply", "--yes")
    assert result.status == 4


@as_root
def test_apply_says_what_remains(scratch):
    directory = plans.put(scratch, "workstation-nouveau")
    result = program.run("fix", "--root", directory, "--apply", "--yes", "--no-regenerate")
    assert result.status == 0, result
    assert "left" in result.out and "initramfs" in result.out
    assert os.path.exists(directory + OWN)
    result = program.run("fix", "--root", directory, "--apply", "--yes")
    assert result.status == 4     # nothing in this root can build an image


@as_root
def test_undo_does_not_promise_what_was_not_done(scratch):
    """The running host has the setting at its next boot after fix, and not after undo."""
    directory = plans.put(scratch, "hgx-h100-ib", "sysctl kernel.numa_balancing 1")
    made = program.run("fix", "--root", directory, "sysctl/numa-balancing-enabled", "--apply", "--yes")
    assert "it happens at its next boot" in made.out, str(made)
    undone = program.run("undo", "--root", directory, "--yes")
    assert undone.status == 0 and "it happens at" not in undone.out, str(undone)
    assert re.search(r"left +kernel\.numa_balancing=0\s+it was not done here;", undone.out), str(undone)


@as_root
def test_ordinary_user_is_told_whose_tree_it_is(scratch):
    """Before and after root has made the folder of the lock there."""
    directory = plans.put(scratch, "h20-roce-deepep")
    for verb in (["fix", "--apply"], ["fix", "--apply"], ["undo"]):
        result = program.run(*verb, "--yes", "--root", directory, user=True)
        assert result.status == 4, str(result)
        assert "only root or the owner of %s and everything below it can change it (/run/nvnodecheck" % \
            directory in result.out + result.err, str(result)
        fix(directory, "--apply", "--yes")


def test_ordinary_user_cannot_apply():
    result = program.run("fix", "--apply", "--yes", user=True)
    assert result.status == 4 and "only root" in result.err


# ---- files that could not be read ----

def without(directory, path, *args):
    """The plan of a user to whom PATH says nothing."""
    place = directory + path
    mode = os.stat(place).st_mode & 0o7777
    os.chmod(place, 0)
    try:
        return Plan(directory, *args, user=True)
    finally:
        os.chmod(place, mode)


def already(plan):
    return {(r["rule"], r["subject"]) for r in plan.repairs
            if r["refused"] and r["activation"] not in (None, "none")}


UNREAD = [
    ("broken-everything", "", ["--profile", "deepep,p2p", "--all"]),
    ("hgx-h100-ib", "process slurmd memlock=65536\n"
     "file /etc/systemd/system/slurmd.service.d/zz-nvnodecheck.conf\n\t[Service]\n"
     "\tLimitMEMLOCK=infinity\n"
     "file /etc/systemd/system/slurmd.service.d/zzz.conf\n\t[Service]\n\tLimitMEMLOCK=1\n",
     ["limits/memlock"]),
    ("h20-roce-deepep", "file /etc/modprobe.d/x.conf\n\toptions nvidia NVreg_EnableStreamMemOPs=1\n",
     ["--profile", "deepep", "driver/params-configured-not-live", "driver/stream-memops"]),
]


@pytest.mark.skipif(os.geteuid() != 0, reason="files that somebody else cannot read")
@pytest.mark.parametrize("name, text, args", UNREAD)
def test_what_was_not_read_is_not_right_already(scratch, name, text, args):
    """Each file in turn: that all is right on disk is not said because of one that could not be read."""
    directory = plans.put(scratch, name, text)
    subprocess.run(["chmod", "-R", "a+rX", directory], check=True)
    whole = already(Plan(directory, *args, user=True))
    tried = 0
    for top in ("/boot", "/etc"):
        for folder, _, files in os.walk(directory + top):
            for path in [folder] + [folder + "/" + name for name in files]:
                if os.path.islink(path) or path == directory + "/etc":
                    continue
                plan = without(directory, path[len(directory):], *args)
                assert already(plan) <= whole, (path, already(plan) - whole)
                tried += 1
    assert tried > 20


@pytest.mark.skipif(os.geteuid() != 0, reason="files that somebody else cannot read")
def test_what_comes_later_and_was_not_read(scratch):
    """It would win; nothing is planned beside it."""
    sysctl = "sysctl kernel.numa_balancing 1\nfile /etc/sysctl.d/zzz.conf\n\tkernel.x = 1\n"
    directory = plans.put(scratch, "hgx-h100-ib", sysctl)
    args = ["sysctl/numa-balancing-enabled"]
    assert Plan(directory, *args).kinds() == ["sysctl"]
    for path in ("/etc/sysctl.d/zzz.conf", "/usr/lib/sysctl.d"):
        os.makedirs(directory + path, exist_ok=True) if path.endswith(".d") else None
        plan = without(directory, path, *args)
        assert "could not be read" in plan.refused(args[0]) and plan.empty(), path


# ---- modules that will not load ----

ALTERNATIVES = """
file /etc/modprobe.d/nvidia.conf
    install nvidia modprobe -i nvidia-current $CMDLINE_OPTS
"""


def test_option_of_a_module_that_will_not_load(make):
    """The option is written, and the plan says that it has no effect until the module loads."""
    for text, said in ((ALTERNATIVES, True), ("", False)):
        plan = deepep(make, text=text)
        cost = plan.repair("driver/peer-mapping-override")["cost"] or ""
        assert ("modprobe nvidia will fail" in cost) == said, cost


def test_module_that_will_not_load_is_not_loaded(make):
    plan = make("hgx-h100-ib", "unload nvidia_uvm\nko nvidia-uvm symbols=missing_symbol\nsymvers\n")
    assert not plan.step("load-module")
    assert not plan.repair("modules/nvidia-uvm-not-loaded")["what"]


@pytest.mark.parametrize("more", [";$(id)", " init=/bin/sh", "\nGRUB_DEFAULT=1"])
def test_a_port_whose_name_is_no_address_is_no_argument(scratch, tmp_path, more):
    """Facts can come from a stranger, and the shell of grub-mkconfig reads what is written."""
    path = edited_facts(scratch, tmp_path, "hgx-h100-ib", ACS, lambda facts: None)
    port = re.search(r"disable_acs_redir=([0-9a-f:.]+)", Plan(None, "--from", path, "--profile", "gpudirect-rdma").lines(GRUB)[0]).group(1)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(json.dumps(port), json.dumps(port + more)))
    plan = Plan(None, "--from", path, "--profile", "gpudirect-rdma")
    assert GRUB not in plan.files and "is no PCI address" in plan.refused("pci/acs-redirect")
