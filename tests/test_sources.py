# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule's claims have a source that a reader can find: which document or repository, in which version or of
which date, and which file or section of it."""
import re

from lib import program

# "open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h", "PCI Express Base Specification 6.0: section 4.2.2"
VERSION = re.compile(r"\b(v?\d+(\.\d+)+\w*|r\d{3}|20\d\d|[A-Za-z-]+ \d+|[0-9a-f]{7} \()|\bof this release\b")
PLACE = re.compile(r": \S|\(\d\)")

# Rules whose sources do not name both yet. The list only gets shorter.
LACKING = """
bios/mmio-base-too-high
bios/nps-setting
boot/cmdline-acs-override
boot/cmdline-staged-not-live
boot/initramfs-stale
boot/kernel-next-lacks-modules
boot/modprobe-conf-shadowed
boot/modprobe-conf-syntax
boot/module-signature-rejected
boot/option-value-refused
boot/options-wrong-module-name
boot/reboot-pending
boot/repair-not-live
boot/second-owner
iommu/cmdline-ineffective
iommu/faults-logged
iommu/inert-argument
iommu/mixed-domains
iommu/translation-enabled
kernel/config-p2pdma-missing
kernel/config-rdma-missing
modules/depmod-stale
modules/duplicate-nvidia-ko
modules/gdrdrv-build-mismatch
modules/gdrdrv-not-loaded
modules/gpu-bound-vfio
modules/mlx5-not-loaded
modules/modprobe-target-missing
modules/named-module-missing
modules/nouveau-loaded
modules/nvidia-drm-loaded
modules/nvidia-fs-symbol-mismatch
modules/nvidia-not-built-for-kernel
modules/nvidia-uvm-not-loaded
modules/ofed-kernel-mismatch
modules/peermem-conflict
modules/peermem-not-built-for-kernel
modules/peermem-not-loaded
modules/peermem-not-persistent
modules/peermem-params
modules/peermem-stub
modules/peermem-symbol-mismatch
modules/peermem-sysfs-absent
modules/peermem-unloadable
modules/peermem-version
modules/rdma-modules-not-loaded
modules/wrong-driver-bound
pci/acs-grace-masks
pci/acs-no-direct-translation
pci/acs-redirect
pci/acs-srcvalid-only
pci/acs-unreadable
pci/bar1-too-small
pci/bar1-unassigned
pci/bar1-window
pci/bus-master-off
pci/device-off-bus
pci/gpu-nic-affinity
pci/link-degraded
pci/max-payload-mismatch
pci/max-read-request
pci/path-link-degraded
pci/rebar-supported-not-used
pci/relaxed-ordering-off
pci/relaxed-ordering-unsafe-platform
pci/runtime-pm-suspended
rdma/vf-present
services/fabricmanager-down
services/fabricmanager-restarted
services/fabricmanager-version-mismatch
sysctl/configured-not-live
sysctl/numa-balancing-enabled
sysctl/ptrace-scope
""".split()


def is_whole(line):
    document, colon, place = line.partition(": ")
    return bool(VERSION.search(document if colon else line) and PLACE.search(line))


def lacks_source(rule):
    return not any(is_whole(line) for line in (rule.get("sources") or "").split("\n"))


def lacking():
    return sorted(rule["id"] for rule in program.run("rules", "--json").json()["rules"] if lacks_source(rule))


def test_each_rule_names_document_version_and_place():
    assert not set(lacking()) - set(LACKING)


def test_only_areas_that_were_not_renewed_lack_sources():
    areas = {"boot", "bios", "iommu", "kernel", "modules", "pci", "sysctl", "rdma", "env", "net", "limits", "services"}
    assert {rule.partition("/")[0] for rule in LACKING} <= areas


def test_what_is_no_source():
    assert not is_whole("open-gpu-kernel-modules: kernel-open/nvidia/nv-reg.h")
    assert not is_whole("NCCL user guide, device API")
    assert is_whole("Linux 6.12: drivers/pci/p2pdma.c")
    assert is_whole("ld.so(8) of man-pages 6.9")
