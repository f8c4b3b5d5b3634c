# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of the kernel's log: dmesg, syslog files, journals; journalctl and dmesg are the oracles."""
import json
import os
import re
import shutil
import subprocess

import pytest

from lib import node
from lib.rootfs_dict import BINARY, by, document, gaps, make, observe, run

BANNER = "[    0.000000] Linux version 6.8.0-test (gcc) #1 SMP\n"

# What each pattern is for: its lines as the sources print them, and the functions that they name.
LINES = {
    "allow-peermapping": ("NVRM: osCreateOsDescriptorFromIoMemory: osCreateOsDescriptorFromIoMemory():"
                          " permission denied, allowPeermapping=0", []),
    "api-mismatch": ("NVRM: API mismatch: the client has the version 580.95.05, but", []),
    "bar-invalid": ("NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:", []),
    "bar-resize-no-space": ("NVRM: No address space to allocate resized BAR1.", []),
    "bar-resize-failed": ("NVRM: FATAL: Failed to re-allocate BAR1.", []),
    "bar-taken": ("NVRM: request_mem_region failed for 0M @ 0x0. This can", []),
    "bar1-bus-address": ("NVRM: kbusEnableStaticBar1Mapping_GH100: Static bar1 mapped offset 0x0 size"
                         " 0x6 bar1BusAddr 0x80", []),
    "bar1-static-too-small": ("NVRM: GPU0 x: BAR1 size 0x1 is not large enough to map FB size 0x2", []),
    "no-irq": ("NVRM: Can't find an IRQ for your NVIDIA card!", []),
    "probe-not-called": ("NVRM: The NVIDIA probe routine was not called for 1 device(s).", []),
    "no-gpu-initialized": ("NVRM: None of the NVIDIA devices were initialized.", []),
    "gpu-refused": ("NVRM: The NVIDIA GPU 0000:1b:00.0 (PCI ID: 10de:1db5)", ["0000:1b:00.0"]),
    "gpu-unsupported": ("NVRM: The NVIDIA GPU 0000:1b:00.0 (PCI ID: 10de:1db5) installed in this system is not supported "
                        "by the NVIDIA 580.65.06 driver", ["0000:1b:00.0"]),
    "gpu-legacy": ("NVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please", []),
    "open-unsupported-gpu": ("NVRM: Open nvidia.ko is only ready for use on Data Center GPUs.", []),
    "rm-init-failed": ("NVRM: GPU 0000:1b:00.0: RmInitAdapter failed! (0x62:0x1a:2631)",
                       ["0000:1b:00.0"]),
    "gsp-firmware-missing": ("NVRM: _kgspGetGspRmBootUcodeStorage: No firmware image found", []),
    "fallen-off-bus": ("NVRM: GPU 0000:9a:00.0: GPU has fallen off the bus.", ["0000:9a:00.0"]),
    "xid-79": ("NVRM: Xid (PCI:0000:9a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
               "the bus.", ["0000:9a:00.0"]),
    "sxid-24007": ("nvidia-nvswitch3: SXid (PCI:0000:c4:00.0): 24007, Non-fatal, Link 46",
                   ["0000:c4:00.0"]),
    "peer-mmio-map-failed": ("NVRM: 0000:1b:00.0: Failed to DMA map MMIO range [0x1-0x2]",
                             ["0000:1b:00.0"]),
    "peer-dma-unaligned": ("NVRM: The peer DMA address 0x1800400000 is not aligned at 0x20000000", []),
    "gpu-bar-overlap": ("NVRM: osCheckGpuBarsOverlapAddrRange: phys range 0x1-0x2 overlaps with GPU "
                        "BAR0", []),
    "dmabuf-attach-failed": ("NVRM: dma-buf attach failed: PCI topology not supported for dma-buf",
                             []),
    "fabric-out-of-sync": ("NVRM: nvAssertFailed: NVLink fabric state cached by the driver is out of "
                           "sync [NV_ERR_FABRIC_STATE_OUT_OF_SYNC]", []),
    "peermem-register-failed": ("nvidia-peermem nv_mem_client_init:520 ERROR error while registering "
                                "client", []),
    "peermem-bad-parameter": ("nvidia-peermem nv_mem_param_conf_check:1 ERROR invalid "
                              "peerdirect_support param value 7", []),
    "peermem-invalid-context": ("nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid "
                                "context, skipping further processing", []),
    "peermem-get-pages-failed": ("nvidia-peermem nv_mem_get_pages:1 error -22 while calling "
                                 "nvidia_p2p_get_pages()", []),
    "uvm-hmm-failed": ("nvidia-uvm: uvm_pmm_gpu.c:3176 devmem_alloc_pagemap[pid:92821] "
                       "request_free_mem_region() err -34", []),
    "gdrdrv-pin-failed": ("gdrdrv:__gdrdrv_pin_buffer:nvidia_p2p_get_pages(va=7ff512200000 len=65536 "
                          "p2p_token=0 va_space=0) failed [ret = -22]", []),
    "unknown-parameter": ("nvidia: unknown parameter 'NVreg_UsePageAttributeTable' ignored", []),
    "bad-parameter": ("nvidia: `x' invalid for parameter `NVreg_EnableMSI'", []),
    "version-magic": ("nvidia: version magic '5.4.18-100 SMP mod_unload ' should be "
                      "'5.4.18-200 SMP mod_unload '", []),
    "symbol-version": ("nvidia_peermem: disagrees about version of symbol "
                       "ib_register_peer_memory_client", []),
    "unknown-symbol": ("nv_peer_mem: Unknown symbol ib_register_peer_memory_client (err -22)", []),
    "module-rejected": ("Loading of unsigned module is rejected", []),
    "io-page-fault": ("nvidia 0000:1b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0022 "
                      "address=0xd0000000 flags=0x0020]", ["0000:1b:00.0"]),
    "dmar-fault": ("DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr 0x20fe0000000 "
                   "[fault reason 0x05] PTE Write access is not set", ["0000:1b:00.0"]),
    "smmu-fault": ("arm-smmu-v3 arm-smmu-v3.16.auto: event 0x10 received:", []),
    "amd-iommu-unknown-option": ("AMD-Vi: Unknown option - 'on'", []),
    "iommu-default-domain": ("iommu: Default domain type: Passthrough (set via kernel command line)",
                             []),
    "bar-no-space": ("pci 0000:1b:00.0: BAR 1 [mem size 0x4000000000 64bit pref]: can't assign; no "
                     "space", ["0000:1b:00.0"]),
    "memory-type-conflict": ("x86/PAT: nvidia-smi:1 conflicting memory types 20f-20f write-combining"
                             "<->uncached-minus", []),
    "p2pdma-refused": ("nvme 0000:01:00.0: cannot be used for peer-to-peer DMA as the client and "
                       "provider (0000:1b:00.0) do not share an upstream bridge",
                       ["0000:01:00.0", "0000:1b:00.0"]),
    "pcie-error": ("pcieport 0000:16:01.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), "
                   "type=Transaction Layer", ["0000:16:01.0"]),
    "pcie-fatal-error": ("pcieport 0000:16:01.0: PCIe Bus Error: severity=Uncorrectable (Fatal), "
                         "type=Transaction Layer", ["0000:16:01.0"]),
    "pcie-bandwidth-limited": ("mlx5_core 0000:5e:00.0: 126.024 Gb/s available PCIe bandwidth, limited "
                               "by 16.0 GT/s PCIe x8 link at 0000:5d:01.0 (capable of 252.048 Gb/s)",
                               ["0000:5d:01.0", "0000:5e:00.0"]),
    "nic-insufficient-power": ("mlx5_core 0000:5e:00.0: mlx5_pcie_event:301:(pid 12): Detected "
                               "insufficient power on the PCIe slot (27W).", ["0000:5e:00.0"]),
    "nic-module-error": ("mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error, "
                         "Power budget exceeded", ["0000:5e:00.0"]),
    "nic-temperature": ("mlx5_core 0000:5e:00.0: temp_warn:183:(pid 0): High temperature on sensors "
                        "with bit set 0x0 0x1", ["0000:5e:00.0"]),
    "driver-begins": ("nvidia-nvlink: Nvlink Core is being initialized, major device number 511", []),
    "gpu-enumerated": ("pci 0000:3b:00.0: [10de:2330] type 00 class 0x030200 PCIe Endpoint", ["0000:3b:00.0"]),
    "device-reset": ("nvidia 0000:3b:00.0: reset done", ["0000:3b:00.0"]),
    "nic-health": ("mlx5_core 0000:5e:00.0: poll_health:800:(pid 0): device's health compromised - "
                   "reached miss count", ["0000:5e:00.0"]),
}

# Lines that begin with the module that they are about.
OF_MODULES = ("unknown-parameter", "bad-parameter", "version-magic", "symbol-version", "unknown-symbol")

# What looks alike and means nothing, or nothing for this program.
HARMLESS = [
    "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build",
    "nvidia-nvlink: Unregistered Nvlink Core, major device number 511",
    "pci 0000:3b:00.0: [15b3:1021] type 00 class 0x020700",
    "pci 0000:3b:00.0: [10de:22a3] type 00 class 0x068000",
    "snd_hda_intel: unknown parameter 'foo' ignored",
    "wireguard: Unknown symbol curve25519 (err -2)",
    "nvidia 0000:1b:00.0: enabling device (0140 -> 0142)",
    "DMAR: IOMMU enabled",
    "iommu: DMA domain TLB invalidation policy: lazy mode",
    "mlx5_core 0000:5e:00.0: Port module event: module 0, Cable plugged",
    "mlx5_core 0000:5e:00.0: mlx5_pcie_event:297:(pid 11): PCIe slot power capability was not "
    "advertised.",
    "user program says: IO_PAGE_FAULT and allowPeermapping=0",
]


def log_of(root):
    facts = observe(root)
    return facts["log"], by(facts["log"]["lines"], "pattern")


def dmesg(lines):
    return BANNER + "".join("[%5d.%06d] %s\n" % (i, i, line) for i, line in enumerate(lines, 1))


@pytest.mark.parametrize("pattern", sorted(LINES))
def test_pattern(tmp_path, pattern):
    line, devices = LINES[pattern]
    log, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": dmesg(HARMLESS + [line] + HARMLESS)}))
    number = len(HARMLESS) + 1
    text = "[%5d.%06d] %s" % (number, number, line)
    once = {"count": 1, "first": text, "last": text, "first_us": 1000001 * number, "last_us": 1000001 * number}
    assert list(lines) == [pattern]
    modules = [line.partition(":")[0]] if pattern in OF_MODULES else []
    assert lines[pattern] == dict(once, pattern=pattern, devices=[dict(once, name=d) for d in devices],
                                  modules=[dict(once, name=m) for m in modules])
    assert log["source"] == "/var/log/dmesg" and log["complete"] is True


def test_all_together(tmp_path):
    log, lines = log_of(make(tmp_path / "t", {
        "/var/log/dmesg": dmesg([LINES[p][0] for p in sorted(LINES)] * 3)}))
    assert list(lines) == sorted(LINES)
    assert all(line["count"] == 3 for line in lines.values())
    assert all(line["first"] < line["last"] for line in lines.values())


def test_every_name_that_a_rule_asks_for_is_there():
    rules = os.path.join(os.path.dirname(__file__), "..", "src", "rules")
    asked = set()
    for name in os.listdir(rules):
        with open(os.path.join(rules, name)) as f:
            text = f.read()
        asked |= set(re.findall(r'node_log\([^,]+, "([^"]+)"\)', text))
        asked |= set(re.findall(r'"log\.lines\[([a-z0-9-]+)\]', text))
    with open(os.path.join(rules, "..", "probes", "log", "log.c")) as f:
        names = set(re.findall(r'^\t\{ "([a-z0-9-]+)"', f.read(), re.M))
    assert asked and {name for name in asked if not re.fullmatch(r"xid-\d+", name)} <= names


def test_devices_in_every_form(tmp_path):
    log, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": dmesg([
        "NVRM: Xid (PCI:0000:9A:00): 13, a", "NVRM: Xid (PCI:00000000:9b:00.1): 13, b",
        "NVRM: Xid (PCI:0000:9a:00): 13, at 12:34:56.7 on 1:2.3 and abcd:ef", "NVRM: Xid (x): 13, c",
        "NVRM: Xid (PCI:10000:01:00.0): 13, d"])}))
    assert lines["xid-13"]["count"] == 5
    assert [(d["name"], d["count"]) for d in lines["xid-13"]["devices"]] == [
        ("0000:9a:00.0", 2), ("0000:9b:00.1", 1), ("10000:01:00.0", 1)]


def test_lines_are_kept_by_device_and_by_module(tmp_path):
    log, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": dmesg([
        "NVRM: Xid (PCI:0000:9a:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
        "nv_peer_mem: Unknown symbol a (err -22)", "nvidia_peermem: Unknown symbol b (err -2)",
        "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
        "nvidia-peermem: Unknown symbol c (err -2)"])}))
    a, b = lines["xid-154"]["devices"]
    assert (a["count"], a["first_us"], a["last_us"]) == (1, 1000001, 1000001) and "Reboot" in a["last"]
    assert (b["count"], b["first_us"]) == (1, 4000004) and "to 0x0" in b["first"]
    assert lines["xid-154"]["first"] == a["first"] and lines["xid-154"]["last"] == b["last"]
    modules = lines["unknown-symbol"]["modules"]
    assert [(m["name"], m["count"]) for m in modules] == [("nv_peer_mem", 1), ("nvidia_peermem", 2)]
    assert "symbol b" in modules[1]["first"] and "symbol c" in modules[1]["last"]


@pytest.mark.parametrize("line,driver", [
    ("<3>[    1.000000] [drm:__nv_drm_gem_nvkms_map [nvidia_drm]] *ERROR* [nvidia-drm] [GPU ID 0x00001b00] Failed to map", "nvidia_drm"),
    ("<4>[    1.000000] nv-caps-drv failed to create cdev.", "NVRM"),
    ("<4>[    1.000000] nv-caps: failed to copy in proc data!", "NVRM")])
def test_errors_of_all_parts_of_the_driver(tmp_path, line, driver):
    """Found by tests/oracles/kernellog.py"""
    log, _ = log_of(make(tmp_path / "t", {"/var/log/dmesg": "<5>" + BANNER + line + "\n"}))
    assert [(m["driver"], m["text"]) for m in log["unexplained"]] == [(driver, line[3:])]


def test_another_driver_of_drm(tmp_path):
    log, _ = log_of(make(tmp_path / "t", {
        "/var/log/dmesg": "<5>" + BANNER + "<3>[    1.000000] [drm:amdgpu_init [amdgpu]] *ERROR* no\n"}))
    assert log["unexplained"] == []


@pytest.mark.parametrize("first,second,count", [
    ("tmpfs: Unknown parameter 'zzz", "NVRM: GPU at PCI:0000:19:00: allowPeermapping=0", 0),
    ("tmpfs: Unknown parameter 'zzz", "[   12.000001] NVRM: GPU at PCI:0000:19:00: allowPeermapping=0", 0),
    ("NVRM: Xid (PCI:0000:19:00): 31, pid=7, name=x", "NVRM: Xid (PCI:0000:19:00): 79, pid=7, name=x", 0),
    ("NVRM: API mismatch: the client has the version 1, but", "NVRM: this kernel module has the version 2", 1)])
def test_lines_without_a_time(first, second, count, tmp_path):
    """dmesg(1) indents the lines of a record behind its first. A user can have the kernel quote a line break."""
    log, lines = log_of(make(tmp_path / "t", {
        "/var/log/dmesg": dmesg([first])[:-1] + "\n               " + second + "\n[   13.000000] x\n"}))
    assert "allow-peermapping" not in lines and "xid-79" not in lines
    assert (("api-mismatch" in lines) and "version 2" in lines["api-mismatch"]["first"]) == bool(count)
    assert not [m for m in log.get("unexplained", []) if "allowPeermapping" in m["text"]]


VERSIONS = ["1\nNVRM: Xid (PCI:0000:19:00): 79, ",
            "1\nnvidia-nvlink: Nvlink Core is being initialized",
            "1, but this kernel module has\nNVRM: Xid (PCI:0000:19:00): 79, ",
            "\nNVRM: GPU 0000:19:00.0: RmInitAdapter failed! (0x62:0x40:21)"]


def refusal(version):
    """NV_ESC_CHECK_VERSION_STR prints 63 bytes of any user who may open /dev/nvidiactl."""
    return ("NVRM: API mismatch: the client 'x' (pid 4242)\nNVRM: has the version %s, but this kernel module has\nNVRM: the version "
            "580.65.06.  Please make sure that this\nNVRM: kernel module and all NVIDIA driver components\nNVRM: have the same "
            "version." % version)


def each_with_a_time(text):
    return "".join("[   61.001842] %s\n" % line for line in text.split("\n"))


def indented(text):
    return "[   61.001842] %s\n" % text.replace("\n", "\n               ")


@pytest.mark.parametrize("form", [each_with_a_time, indented])
@pytest.mark.parametrize("version", range(len(VERSIONS)))
def test_a_version_of_a_user_is_no_line_of_the_driver(form, version, tmp_path):
    after = "[   61.001842] NVRM: Xid (PCI:0000:9a:00): 48, pid=7, name=x, DBE\n"
    _, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": BANNER + form(refusal(VERSIONS[version])) + after}))
    assert list(lines) == ["api-mismatch", "xid-48"]
    assert [d["name"] for d in lines["xid-48"]["devices"]] == ["0000:9a:00.0"]


def test_names_of_processes_fill_no_table(tmp_path):
    """They name no device, and a real event behind any number of them counts."""
    names = ["NVRM: Xid (PCI:0000:3b:00): 13, pid=42, name= %04x:%02x:00.0, Graphics SM Warp Exception" % (16 + i // 200, i % 200)
             for i in range(2100)]
    log, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": dmesg(
        names + ["NVRM: Xid (PCI:0000:19:00): 79, pid=42, name=x, GPU has fallen off the bus."])}))
    assert [(d["name"], d["count"]) for d in lines["xid-13"]["devices"]] == [("0000:3b:00.0", 2100)]
    assert [d["name"] for d in lines["xid-79"]["devices"]] == ["0000:19:00.0"] and log["complete"] is True


def test_what_is_left_out_is_not_complete(tmp_path):
    """More devices than there is room for: that one of them is not there means nothing."""
    lines = ["pcieport %04x:%02x:00.0: DPC: containment event, status:0x1f01" % (16 + i // 200, i % 200) for i in range(2100)]
    log, _ = log_of(make(tmp_path / "t", {"/var/log/dmesg": dmesg(lines)}))
    assert log["complete"] is False


def test_a_line_break_begins_no_boot(tmp_path):
    """The kernel quotes an option of a mount that any user gives."""
    _, lines = log_of(make(tmp_path / "t", {"/var/log/kern.log": syslog([
        BANNER.strip(), "[   61.001842] NVRM: Xid (PCI:0000:19:00): 79, pid=1, name=x, GPU has fallen off the bus.",
        "[   62.001842] tmpfs: Unknown parameter 'x", "[   62.001842] Linux version 5'"])}))
    assert list(lines) == ["xid-79"]


def test_forms_of_a_line(tmp_path):
    line = LINES["allow-peermapping"][0]
    for form in ("<3>[   12.000001] %s", "[   12.000001][  T123] %s", "[   12.000001][   C0] %s",
                 "[Fri Nov 21 05:00:00 2026] %s", "[   12.000001] kernel: %s", "%s", "%s\r"):
        root = make(tmp_path / ("t%d" % len(form)), {"/var/log/dmesg": form % line})
        log, lines = log_of(root)
        assert lines["allow-peermapping"]["count"] == 1, form
        assert log["complete"] is False


def test_saved_while_booting_is_not_complete(tmp_path):
    log, _ = log_of(make(tmp_path / "t", {
        "/var/log/dmesg": "[    0.000000] kernel: Linux version 6.8.0\n[    1.0] kernel: x\n"}))
    assert log["complete"] is False


def syslog(lines, iso=False):
    stamp = "2026-11-21T05:00:01.123456+00:00 node7" if iso else "Nov 21 05:00:01 node7"
    return "".join("%s kernel: %s\n" % (stamp, line) for line in lines)


@pytest.mark.parametrize("iso", [False, True])
def test_last_boot_of_kern_log(tmp_path, iso):
    xid = "NVRM: Xid (PCI:0000:9a:00): %d, x"
    log, lines = log_of(make(tmp_path / "t", {"/var/log/kern.log": (
        syslog([BANNER.strip(), xid % 79], iso) +
        "Nov 21 05:00:02 node7 sshd[7]: kernel: NVRM: Xid (PCI:0000:9a:00): 31, no\n"
        "Nov 21 05:00:02 node7 sshd[7]: NVRM: Xid (PCI:0000:9a:00): 43, no\n" +
        syslog([BANNER.strip(), "[    3.000000] " + xid % 48], iso) +
        syslog(["x"], iso).replace("kernel: x", "sshd[7]: kernel: " + xid % 43) +
        syslog([xid % 48], iso))}))
    assert list(lines) == ["xid-48"]
    assert lines["xid-48"]["first"] == "[    3.000000] " + xid % 48
    assert lines["xid-48"]["last"] == xid % 48
    assert log == {"source": "/var/log/kern.log", "complete": False, "lines": log["lines"],
                   "failures": [], "denials": []}


def test_kern_log_without_the_boot_gives_way_to_dmesg(tmp_path):
    files = {"/var/log/kern.log": syslog(["NVRM: Xid (PCI:0000:9a:00): 79, x"])}
    log, lines = log_of(make(tmp_path / "t", files))
    assert log["complete"] is False and list(lines) == ["xid-79"]
    log, lines = log_of(make(tmp_path / "u", dict(files, **{"/var/log/dmesg": BANNER})))
    assert log["source"] == "/var/log/dmesg" and log["complete"] is True


@pytest.mark.parametrize("name", ["messages", "syslog", "kern.log"])
def test_file_of_each_distribution(tmp_path, name):
    """What rsyslog has of the kernel: RHEL and SUSE in messages, Debian in syslog and kern.log."""
    other = "Nov 21 05:00:03 node7 systemd[1]: kernel: NVRM: Xid (PCI:0000:9a:00): 79, no\n"
    files = {"/var/log/" + name: syslog([BANNER.strip(), "NVRM: Xid (PCI:0000:9a:00): 48, x"]) + other}
    log, lines = log_of(make(tmp_path / "t", files))
    assert log["source"] == "/var/log/" + name and log["complete"] is False	# any user writes to them
    assert list(lines) == ["xid-48"] and "first_us" not in lines["xid-48"]


@pytest.mark.parametrize("name,severity", [
    ("messages", "warn"), ("syslog", "warn"), ("kern.log", "warn"), ("dmesg", "err")])
def test_a_line_that_any_user_can_write(tmp_path, name, severity):
    """A syslog daemon takes it from any process: it is shown for what it is, and no reason to drain a node."""
    xid = "NVRM: Xid (PCI:0000:9a:00): 79, GPU has fallen off the bus."
    make(tmp_path / "t", {"/var/log/" + name: dmesg([xid]) if name == "dmesg" else syslog([BANNER.strip(), xid])})
    done = run("doctor", "--json", "--only", "log/*", "--root", str(tmp_path / "t"))
    found = [f for f in json.loads(done.stdout)["findings"] if f["verdict"] == "fail"]
    assert found and {f["severity"] for f in found} == {severity}
    assert done.returncode == (severity == "err")
    said = "not proven to be the kernel's: any user can write to /var/log/%s" % name
    assert all((said in f["observed"]) == (severity == "warn") for f in found)


@pytest.mark.parametrize("offset", ["06:00:01.5+01:00", "06:00:01.5+0100", "06:00:01.5+01", "04:30:01.5-0030", "05:00:01.5Z"])
def test_times_of_a_file(tmp_path, offset):
    """Of printk where it is there, else by the clock where the boot's time is known."""
    text = (syslog([BANNER.strip()], iso=True) + "2026-11-21T" + offset + " n kernel: NVRM: Xid (PCI:0000:9a:00): 48, x\n"
            + syslog(["[    7.000002] NVRM: Xid (PCI:0000:9a:00): 48, y"], iso=True))
    boot = 1795237000    # 2026-11-21T04:56:40Z
    for proc, first in (({"/proc/stat": "btime %d\n" % boot}, 201500000), ({}, None)):
        log, lines = log_of(make(tmp_path / str(first), dict(proc, **{"/var/log/messages": text})))
        assert lines["xid-48"].get("first_us") == first and lines["xid-48"]["last_us"] == 7000002


def test_a_banner_of_a_user_hides_nothing(tmp_path):
    """The daemon writes the time at which it got a line; a boot's first lines have the boot's."""
    def line(clock, text):
        return "2026-11-21T%s+00:00 node7 kernel: %s\n" % (clock, text)

    text = (line("05:00:01.1", BANNER.strip()) + line("05:10:00.1", "NVRM: Xid (PCI:0000:9a:00): 79, x")
            + line("06:00:00.1", BANNER.strip()))
    boot = {"/proc/stat": "btime 1795237180\n"}    # 2026-11-21T04:59:40Z
    _, lines = log_of(make(tmp_path / "t", dict(boot, **{"/var/log/kern.log": text})))
    assert list(lines) == ["xid-79"]
    early = text.replace("T05:00", "T03:00").replace("T05:10", "T03:10").replace("T06:00:00", "T05:00:01")
    _, lines = log_of(make(tmp_path / "u", dict(boot, **{"/var/log/kern.log": early})))
    assert not lines    # it is of the boot before


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts are root's")
@pytest.mark.parametrize("verb", ["facts", "preflight"])
def test_a_running_host_that_is_mounted_here_has_its_ring_buffer(tmp_path, verb):
    """As a DaemonSet sees it: what users wrote to its files is not asked for."""
    make(tmp_path / "t", {"/var/log/kern.log": syslog([BANNER.strip(), "NVRM: Xid (PCI:0000:9a:00): 79, x"])})
    for name in ("proc", "sys", "dev"):
        (tmp_path / "t" / name).mkdir(exist_ok=True)
    script = "for d in proc sys dev; do mount --rbind /$d %s/$d || exit 77; done; exec \"$@\"" % (tmp_path / "t")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", os.environ["NVNODECHECK"], verb, "--json"][
        :-1 if verb == "facts" else None] + ["--root", str(tmp_path / "t")], capture_output=True, text=True)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(done.stderr)
    if verb == "facts":
        assert json.loads(done.stdout)["log"]["source"] == "/dev/kmsg"
    else:
        assert not [f for f in json.loads(done.stdout)["findings"]
                    if f["rule"] == "log/xid" and f["verdict"] == "fail" and "0000:9a" in str(f)]


def test_many_boots_in_a_file(tmp_path):
    boot = syslog([BANNER.strip(), "NVRM: Xid (PCI:0000:9a:00): 79, x", "NVRM: Xid (PCI:0000:9b:00): 48, x"])
    log, lines = log_of(make(tmp_path / "t", {"/var/log/kern.log": boot * 20000}))
    assert {p: l["count"] for p, l in lines.items()} == {"xid-48": 1, "xid-79": 1}


def test_long_and_damaged_lines(tmp_path):
    filler = b"x" * 200000 + b"\n"
    text = (BANNER.encode() + filler + b"\0\0\xff\xfe[[[[]]]]\n" +
            b"[    1.000000] NVRM: Xid (PCI:0000:9a:00): 79, " + b"y" * 3000 + b"\n" + filler * 3 +
            b"[    2.000000] NVRM: Xid (PCI:0000:9a:00): 99999999999999999999, no number\n" +
            b"[    3.000000] NVRM: Xid (PCI:0000:9a:00): 79, no final newline \xff")
    log, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": text}))
    assert list(lines) == ["xid-79"] and lines["xid-79"]["count"] == 2
    assert len(lines["xid-79"]["first"]) == 512
    assert lines["xid-79"]["last"].endswith("newline \ufffd")


def test_many_words_that_the_kernel_does_not_know(tmp_path):
    words = ["iommux%d" % i for i in range(40)]
    root = make(tmp_path, {"var/log/dmesg": BANNER + '[    0.1] Unknown kernel command line parameters "%s", will be passed '
                           "to user space.\n" % " ".join(words)})
    (failure,) = document("--root", str(root))["log"]["failures"]
    assert failure["details"] == words[:32] and failure["count"] == 1


def test_storm_takes_no_memory(tmp_path):
    line = "[%d.000000] NVRM: Xid (PCI:0000:9a:00): 31, " % 7
    log, lines = log_of(make(tmp_path / "t", {"/var/log/dmesg": BANNER + "".join(
        line + "z" * (i % 400) + "\n" for i in range(20000))}))
    assert lines["xid-31"]["count"] == 20000


def test_nothing_to_read(tmp_path):
    facts = observe(make(tmp_path / "t", {"/var/lib/x": "", "/proc/cmdline": ""}))
    assert "log" not in facts
    assert gaps(facts, "log")["/dev/kmsg"] == "ENODATA"


# ---- journals ----

REMOTE = next((p for p in ("/lib/systemd/systemd-journal-remote",
                           "/usr/lib/systemd/systemd-journal-remote") if os.path.exists(p)), None)
needs_remote = pytest.mark.skipif(not REMOTE, reason="systemd-journal-remote makes the journals")
MACHINE = "0123456789abcdef0123456789abcdef"
BOOTS = ["a" * 32, "b" * 32]


def journal(root, entries, folder="/var/log/journal/"):
    """ENTRIES: (boot, transport, microseconds, message)."""
    text = ""
    for i, (boot, transport, us, message) in enumerate(entries):
        text += ("__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%s\n_TRANSPORT=%s\n"
                 "_SOURCE_MONOTONIC_TIMESTAMP=%d\n_MACHINE_ID=%s\nMESSAGE=%s\n\n"
                 % (1700000000000000 + i, us, boot, transport, us, MACHINE, message))
    make(root, {folder + MACHINE + "/": ""})
    done = subprocess.run([REMOTE, "-o", str(root) + folder + MACHINE + "/system.journal", "-"],
                          input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ENTRIES = [
    (BOOTS[0], "kernel", 0, "Linux version 6.8.0"),
    (BOOTS[0], "kernel", 5, "NVRM: Xid (PCI:0000:9a:00): 79, x"),
    (BOOTS[1], "kernel", 0, "Linux version 6.8.0"),
    (BOOTS[1], "kernel", 12345678, "NVRM: Xid (PCI:0000:9b:00): 48, y"),
    (BOOTS[1], "syslog", 12345679, "NVRM: Xid (PCI:0000:9b:00): 31, a program"),
    (BOOTS[1], "kernel", 99000000, "NVRM: Xid (PCI:0000:9c:00): 48, z"),
]


@needs_remote
@pytest.mark.parametrize("folder", ["/var/log/journal/", "/run/log/journal/"])
def test_journal_of_the_last_boot(tmp_path, folder):
    journal(tmp_path / "t", ENTRIES, folder)
    log, lines = log_of(tmp_path / "t")
    assert log["source"] == "journal" and log["complete"] is True
    assert list(lines) == ["xid-48"]
    xid = lines["xid-48"]
    assert xid["count"] == 2 and (xid["first_us"], xid["last_us"]) == (12345678, 99000000)
    assert xid["first"] == "[   12.345678] NVRM: Xid (PCI:0000:9b:00): 48, y"
    assert xid["last"] == "[   99.000000] NVRM: Xid (PCI:0000:9c:00): 48, z"
    assert [(d["name"], d["last_us"]) for d in xid["devices"]] == [("0000:9b:00.0", 12345678),
                                                                     ("0000:9c:00.0", 99000000)]


@needs_remote
def test_journal_of_the_boot_that_the_tree_names(tmp_path):
    journal(tmp_path / "t", ENTRIES)
    boot = "-".join([BOOTS[0][:8], BOOTS[0][8:12], BOOTS[0][12:16], BOOTS[0][16:20], BOOTS[0][20:]])
    make(tmp_path / "t", {"/proc/sys/kernel/random/boot_id": boot + "\n"})
    log, lines = log_of(tmp_path / "t")
    assert list(lines) == ["xid-79"]
    shutil.rmtree(str(tmp_path / "t/proc"))
    make(tmp_path / "t", {"/proc/sys/kernel/random/boot_id": "c" * 32 + "\n",
                          "/var/log/dmesg": BANNER})
    log, lines = log_of(tmp_path / "t")
    assert log["source"] == "/var/log/dmesg"


@needs_remote
def test_journal_without_the_boots_beginning(tmp_path):
    journal(tmp_path / "t", ENTRIES[3:])
    log, lines = log_of(tmp_path / "t")
    assert log["complete"] is False and lines["xid-48"]["count"] == 2


@needs_remote
def test_a_file_reaches_back_further_than_the_journal(tmp_path):
    journal(tmp_path / "t", ENTRIES[3:])
    log, _ = log_of(make(tmp_path / "t", {"/var/log/messages": syslog([BANNER.strip()])}))
    assert log["source"] == "journal" and log["complete"] is False	# any user writes to messages
    log, _ = log_of(make(tmp_path / "t", {"/var/log/dmesg": BANNER}))
    assert log["source"] == "/var/log/dmesg" and log["complete"] is True


@needs_remote
def test_journal_that_leads_out_of_the_tree(tmp_path):
    journal(tmp_path / "outside", ENTRIES)
    make(tmp_path / "t", {"/var/log/dmesg": BANNER, "/var/log/journal/": ""})
    os.symlink(str(tmp_path / "outside/var/log/journal" / MACHINE),
               str(tmp_path / "t/var/log/journal" / MACHINE))
    log, lines = log_of(tmp_path / "t")
    assert log["source"] == "/var/log/dmesg" and lines == {}


@needs_remote
def test_damaged_journal(tmp_path):
    journal(tmp_path / "t", ENTRIES)
    path = str(tmp_path / "t/var/log/journal" / MACHINE / "system.journal")
    size = os.path.getsize(path)
    with open(path, "r+b") as f:
        f.seek(size // 2)
        f.write(os.urandom(size // 4))
    done = run("facts", "--root", str(tmp_path / "t"))
    assert done.returncode == 0


# ---- this machine ----

# A journal of this boot, in a mount namespace where something else stands in the ring buffer's place.
HIDDEN = """
mount -t tmpfs none /run && mkdir -p /run/log/journal && cp -r $1/var/log/journal/* /run/log/journal
echo $2 > /run/id && mount --bind /run/id /etc/machine-id
mount -t tmpfs none /var/log && mount --bind /dev/null /dev/kmsg
exec $3 facts
"""


@needs_remote
@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/etc/machine-id"),
                    reason="needs a mount namespace")
def test_own_journal_where_the_ring_buffer_is_hidden(tmp_path):
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip().replace("-", "")
    journal(tmp_path / "t", [(boot if b == BOOTS[1] else b, t, us, m) for b, t, us, m in ENTRIES])
    done = subprocess.run(["unshare", "-m", "sh", "-c", HIDDEN, "test", str(tmp_path / "t"), MACHINE,
                           BINARY], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(done.stderr)
    log = json.loads(done.stdout)["log"]
    assert log["source"] == "journal" and log["complete"] is True
    assert [(line["pattern"], line["count"]) for line in log["lines"]] == [("xid-48", 2)]


def test_ring_buffer():
    done = subprocess.run(["dmesg", "--raw"], capture_output=True, text=True, errors="replace")
    if done.returncode:
        pytest.skip("the ring buffer may not be read")
    log = document().get("log", {})
    if log.get("source") != "/dev/kmsg":
        pytest.skip("the ring buffer has lost the boot")
    known = re.compile("Default domain type")
    count = sum(1 for line in done.stdout.splitlines() if known.search(line))
    lines = by(log["lines"], "pattern")
    assert lines.get("iommu-default-domain", {"count": 0})["count"] == count
    assert log["complete"] is ("Linux version" in done.stdout)


@pytest.mark.parametrize("name", ["syslog", "messages"])
def test_a_users_line_does_not_drain_the_node(name, scratch):
    """logger -t kernel: files that every user writes to are not complete, and nothing for preflight."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    for path in ("/var/log/dmesg", "/var/log/kern.log"):
        tree.entries.pop(path, None)
    tree.file("/var/log/" + name, b"Nov 22 10:00:00 n kernel: Linux version 5.15.0 (a user)\n"
              b"Nov 22 10:00:01 n kernel: NVRM: Xid (PCI:0000:19:00): 79, pid=1, GPU has fallen off the bus.\n")
    scratch.put(tree)
    assert run("preflight", "--root", scratch.directory).returncode == 0
    assert document("log", "--root", scratch.directory)["complete"] is False
