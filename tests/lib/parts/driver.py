# SPDX-License-Identifier: GPL-2.0-or-later
"""The NVIDIA driver: what it shows under /proc, its modules, libraries, device files; gdrdrv."""
import fnmatch
import os

from .. import elf
from . import modules
from .modules import P2P, PEER
from .system import made_up

# kernel-open/nvidia/nv-reg.h: name in params, default, first driver that has it, and the name that
# the module parameter has where it differs. In the order of /proc/driver/nvidia/params.
PARAMS = (
    ("ResmanDebugLevel", "4294967295", ""),
    ("RmLogonRC", "1", ""),
    ("ModifyDeviceFiles", "1", ""),
    ("DeviceFileUID", "0", ""),
    ("DeviceFileGID", "0", ""),
    ("DeviceFileMode", "438", ""),
    ("InitializeSystemMemoryAllocations", "1", ""),
    ("UsePageAttributeTable", "4294967295", ""),
    ("EnableMSI", "1", ""),
    ("EnablePCIeGen3", "0", ""),
    ("MemoryPoolSize", "0", ""),
    ("KMallocHeapMaxSize", "0", "515"),
    ("VMallocHeapMaxSize", "0", "515"),
    ("IgnoreMMIOCheck", "0", ""),
    ("EnableStreamMemOPs", "0", "387"),
    ("EnableUserNUMAManagement", "1", ""),
    ("NvLinkDisable", "0", ""),
    ("RmProfilingAdminOnly", "1", "418"),
    ("PreserveVideoMemoryAllocations", "0", "430"),
    ("EnableS0ixPowerManagement", "0", "470"),
    ("S0ixPowerManagementVideoMemoryThreshold", "256", "470"),
    ("DynamicPowerManagement", "3", "435"),
    ("DynamicPowerManagementVideoMemoryThreshold", "200", "435"),
    ("RegisterPCIDriver", "1", "435"),
    ("EnablePCIERelaxedOrderingMode", "0", "450"),
    ("EnableResizableBar", "0", "535"),
    ("EnableGpuFirmware", "18", "460"),
    ("EnableGpuFirmwareLogs", "2", "510"),
    ("RmNvlinkBandwidthLinkCount", "0", "570"),
    ("EnableDbgBreakpoint", "0", "515"),
    ("OpenRmEnableUnsupportedGpus", "1", "515"),
    ("DmaRemapPeerMmio", "1", "525"),
    ("ImexChannelCount", "2048", "550"),
    ("CreateImexChannel0", "0", "560"),
    ("GrdmaPciTopoCheckOverride", "0", "570.86"),
    ("CoherentGPUMemoryMode", '""', "580"),
    ("RegistryDwords", '""', ""),
    ("RegistryDwordsPerDevice", '""', ""),
    ("RmMsg", '""', ""),
    ("GpuBlacklist", '""', ""),
    ("TemporaryFilePath", '""', "450"),
    ("ExcludedGpus", '""', "460"),
)
# Those that a driver no longer has, by its version.
REMOVED = {"UsePageAttributeTable": "610"}
MODULE_NAMES = {"RmProfilingAdminOnly": "RestrictProfilingToAdminUsers"}
GPU_ALIASES = ["char-major-195-*", "pci:v000010DEd*sv*sd*bc06sc80i00*",
               "pci:v000010DEd*sv*sd*bc03sc02i00*", "pci:v000010DEd*sv*sd*bc03sc00i00*"]
NVIDIA_MAJOR, UVM_MAJOR, GDRDRV_MAJOR = 195, 511, 506


def init(node):
    node.driver = None
    node.params = {}
    node.gpu_edits = []
    node.gdrdrv = None
    node.majors = {"mem": 1, "tty": 5, "misc": 10, "ptm": 128, "pts": 136}


def version_of(text):
    return tuple(int(part) for part in text.split(".")) if text else ()


def has_param(version, name, since):
    until = REMOVED.get(name)
    return version_of(version) >= version_of(since) and not (
        until and version_of(version) >= version_of(until))


def do_driver(node, statement):
    """driver VERSION open|proprietary [builder=] [date=] [gcc=] [dir=] [file-prefix=]
    [peermem=auto|stub|none]; driver unloaded; driver live=VERSION; driver none"""
    keys = ("builder", "date", "gcc", "dir", "file-prefix", "peermem", "signer", "live")
    words, named = statement.take(*keys, least=0, most=2)
    if words == ["none"]:
        node.driver = None
        _unload(node)
        return
    if words == ["unloaded"]:
        node.driver["loaded"] = False
        _unload(node)
        return
    if len(words) == 2:
        node.driver = dict(version=words[0], flavour=words[1], loaded=True, builder=None,
                           date="Fri May 31 09:24:30 UTC 2024", dir="updates/dkms",
                           gcc="gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)", prefix="nvidia",
                           peermem="auto", signer=None, live=None)
        if words[1] not in ("open", "proprietary"):
            raise statement.wrong("'%s' is neither open nor proprietary" % words[1])
        for name in ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"):
            modules.load(node, name, **known_modules(node)[name])
    for key, value in named.items():
        node.driver["prefix" if key == "file-prefix" else key] = value


def _unload(node):
    for name in ("nvidia_peermem", "gdrdrv", "nvidia_drm", "nvidia_modeset", "nvidia_uvm",
                 "nv_peer_mem", "nvidia"):
        node.loaded.pop(name, None)
    for dev in node.pci.values():
        if (dev["driver"] or "").startswith("nvidia"):
            dev["driver"] = None


def known_modules(node):
    """Modules that are not the kernel's: what do_module() fills in for them."""
    taint = "POE" if node.driver and node.driver["flavour"] == "proprietary" else "OE"
    peer = node.stack["peer"] or "ib_core"
    video = ["video"] if "video" in node.loaded else []
    return {
        "nvidia": dict(size=54067200, taint=taint),
        "nvidia_uvm": dict(size=4931584, uses=["nvidia"], taint=taint),
        "nvidia_modeset": dict(size=1355776, uses=["nvidia"] + video, taint=taint),
        "nvidia_drm": dict(size=94208, uses=["nvidia_modeset"], taint=taint),
        "nvidia_peermem": dict(size=16384, uses=["nvidia", peer], taint=taint, params={
            "peerdirect_support": "0", "persistent_api_support": "1"}),
        "nv_peer_mem": dict(size=20480, uses=["nvidia", peer], taint="OE"),
        "gdrdrv": dict(size=36864, uses=["nvidia"], taint="OE"),
    }


def do_param(node, statement):
    """param NAME = VALUE, without quotes round a string"""
    name, equal, value = statement.one().partition("=")
    if not equal:
        raise statement.wrong("not NAME = VALUE")
    name, value = name.strip(), value.strip()
    standard = dict((n, d) for n, d, _ in PARAMS)
    if standard.get(name, "").startswith('"') and not value.startswith('"'):
        value = '"%s"' % value
    node.params[name] = value


def do_gpu(node, statement):
    """gpu PATTERN [model=] [vbios=] [firmware=] [excluded=] [uuid=]"""
    (pattern,), named = statement.take("model", "vbios", "firmware", "excluded", "uuid", least=1)
    node.gpu_edits.append((pattern, named))


def do_gdrdrv(node, statement):
    """gdrdrv VERSION opensource|proprietary"""
    (version, flavour), _ = statement.take(least=2)
    node.gdrdrv = dict(version=version, flavour=flavour)
    modules.load(node, "gdrdrv", **known_modules(node)["gdrdrv"])
    node.loaded["gdrdrv"]["version"] = version
    node.ko_edits.append(("gdrdrv", False, dict(
        version=version, license="Dual MIT/GPL", depends="nvidia", p2p=node.driver["version"],
        description="GDRCopy kernel-mode driver built for %s NVIDIA driver" % flavour)))


VERBS = {"driver": do_driver, "param": do_param, "gpu": do_gpu, "gdrdrv": do_gdrdrv}


# ---- modules on disk ----

def _nvidia_params(driver):
    params = [("NvSwitchRegDwords", "charp", "NvSwitch regkey"),
              ("NvSwitchBlacklist", "charp", "NvSwitchBlacklist=uuid[,uuid...]")]
    for name, default, since in PARAMS:
        if has_param(driver["version"], name, since):
            params.append(("NVreg_" + MODULE_NAMES.get(name, name),
                           "charp" if default.startswith('"') else "int", ""))
    return params + [("rm_firmware_active", "charp", "")]


def driver_ko(node, release):
    driver = node.driver
    if not driver:
        return
    peer = node.stack["peer"]
    kind = dict(version=driver["version"], signer=driver["signer"],
                license="Dual MIT/GPL" if driver["flavour"] == "open" else "NVIDIA")
    prefix, folder = driver["prefix"], driver["dir"]
    p2p = {s: elf.symbol_crc(s, driver["version"]) for s in P2P}

    def ko(name, **more):
        return modules.new_ko(release, name, folder, file=prefix + name[len("nvidia"):].replace(
            "_", "-"), **dict(kind, **more))
    yield ko("nvidia", params=_nvidia_params(driver), exports=p2p, alias=GPU_ALIASES)
    yield ko("nvidia_modeset", depends=["nvidia", "video"])
    yield ko("nvidia_drm", depends=["nvidia_modeset"], params=[
        ("modeset", "bool", "Enable atomic kernel modesetting (1 = enable, 0 = disable (default))")])
    yield ko("nvidia_uvm", depends=["nvidia"], params=[("uvm_disable_hmm", "bool", "")])
    if driver["peermem"] == "none":
        return
    real = driver["peermem"] == "auto" and peer
    imports = {}
    if real:
        imports = dict(p2p, **{s: elf.symbol_crc(s, node.stack["tag"]) for s in PEER})
    yield ko("nvidia_peermem", license="Dual BSD/GPL", imports=imports,
             depends=["nvidia", peer] if real else [],
             description="NVIDIA GPU memory plug-in", params=[
                 ("peerdirect_support", "int", "Set level of support for Peer-direct"),
                 ("persistent_api_support", "int", "Set level of support for persistent APIs")])


# ---- /proc, /dev ----

def _banner(node):
    driver = node.driver
    version = driver["live"] or driver["version"]
    if driver["flavour"] == "open":
        return "NVIDIA UNIX Open Kernel Module for %s  %s  Release Build  (%s)  %s" % (
            node.machine, version, driver["builder"] or "root@" + node.hostname, driver["date"])
    return "NVIDIA UNIX %s Kernel Module  %s  %s" % (node.machine, version, driver["date"])


def _render_params(node, tree):
    version = node.driver["live"] or node.driver["version"]
    values = {name: default for name, default, since in PARAMS if has_param(version, name, since)}
    values.update(node.params)
    tree.file("/proc/driver/nvidia/params", "".join("%s: %s\n" % item for item in values.items()))


def gpus(node):
    return [node.pci[bdf] for bdf in sorted(node.pci)
            if node.pci[bdf]["gpu"] and node.pci[bdf]["driver"] == "nvidia"]


def _gpu_facts(node, dev, minor):
    open_or_new = version_of(node.driver["version"]) >= (470,)
    facts = dict(model=dev["gpu"]["model"], vbios=dev["gpu"]["vbios"], excluded="No",
                 firmware=node.driver["version"] if open_or_new else None,
                 uuid="GPU-" + "-".join(made_up(node.hostname, minor, n, size=s) for n, s in
                                        enumerate((8, 4, 4, 4, 12))))
    for pattern, named in node.gpu_edits:
        if fnmatch.fnmatch(dev["bdf"], pattern) or fnmatch.fnmatch(dev["model"], pattern):
            facts.update(named)
    return facts


def _render_gpus(node, tree):
    for minor, dev in enumerate(gpus(node)):
        facts = _gpu_facts(node, dev, minor)
        path = "/proc/driver/nvidia/gpus/" + dev["bdf"]
        text = ("Model: \t\t %(model)s\nIRQ:   \t\t 41\nGPU UUID: \t %(uuid)s\n"
                "Video BIOS: \t %(vbios)s\nBus Type: \t PCIe\nDMA Size: \t 52 bits\n"
                "DMA Mask: \t 0xfffffffffffff\n" % facts)
        text += "Bus Location: \t %s\nDevice Minor: \t %d\n" % (dev["bdf"], minor)
        if facts["firmware"]:
            text += "GPU Firmware: \t %s\n" % facts["firmware"]
        tree.file(path + "/information", text + "GPU Excluded:\t %s\n" % facts["excluded"])
        tree.file(path + "/registry", 'Binary: ""\n')
        tree.file(path + "/power", "Runtime D3 status:          Disabled by default\n"
                  "Video Memory:               Active\n")
        tree.file("/dev/nvidia%d" % minor)
        tree.link("/dev/char/%d:%d" % (NVIDIA_MAJOR, minor), "../nvidia%d" % minor)


def _render_live(node, tree):
    folder = "/proc/driver/nvidia"
    tree.file(folder + "/version", "NVRM version: %s\nGCC version:  %s \n" % (
        _banner(node), node.driver["gcc"]))
    tree.file(folder + "/registry", 'Binary: ""\n')
    tree.file(folder + "/suspend", "suspend hibernate resume\n")
    tree.file(folder + "/warnings/README", "Important warning messages are also kept here.\n")
    for name, minor in (("mig/config", 1), ("mig/monitor", 2)):
        tree.file("%s/capabilities/%s" % (folder, name),
                  "DeviceFileMinor: %d\nDeviceFileMode: 256\nDeviceFileModify: 1\n" % minor)
    _render_params(node, tree)
    _render_gpus(node, tree)
    tree.file("/dev/nvidiactl")
    tree.link("/dev/char/%d:255" % NVIDIA_MAJOR, "../nvidiactl")
    node.majors["nvidia"] = node.majors["nvidiactl"] = NVIDIA_MAJOR
    if "nvidia_uvm" in node.loaded:
        tree.file("/dev/nvidia-uvm")
        tree.file("/dev/nvidia-uvm-tools")
        tree.link("/dev/char/%d:0" % UVM_MAJOR, "../nvidia-uvm")
        node.majors["nvidia-uvm"] = UVM_MAJOR
    if "nvidia_modeset" in node.loaded:
        tree.file("/dev/nvidia-modeset")
        node.majors["nvidia-modeset"] = NVIDIA_MAJOR
    for name, major in (("nvidia-nvswitch", 509), ("nvidia-nvlink", 510), ("nvidia-caps", 508),
                        ("nvidia-caps-imex-channels", 507)):
        node.majors[name] = major


def _render_gdrdrv(node, tree):
    tree.file("/proc/driver/gdrdrv/params", "Version: %s\nBuilt for NVIDIA driver flavor: %s\n"
              "Use persistent mapping: yes\nDebug enabled: no\nInfo enabled: no\n" % (
                  node.gdrdrv["version"], node.gdrdrv["flavour"]))
    tree.file("/dev/gdrdrv")
    node.majors["gdrdrv"] = GDRDRV_MAJOR


def render(node, tree):
    if node.driver and node.driver["loaded"]:
        _render_live(node, tree)
    if node.driver:
        for name in ("gsp_ga10x.bin", "gsp_tu10x.bin"):
            if version_of(node.driver["version"]) >= (515,):
                tree.file(os.path.join("/lib/firmware/nvidia", node.driver["version"], name))
    if node.gdrdrv and "gdrdrv" in node.loaded:
        _render_gdrdrv(node, tree)


def render_majors(node, tree):
    """Last, when every part has added its own."""
    tree.file("/proc/devices", "Character devices:\n" + "".join(
        "%3d %s\n" % (major, name) for name, major in sorted(
            node.majors.items(), key=lambda m: (m[1], m[0]))) +
        "\nBlock devices:\n  7 loop\n259 blkext\n")
    for name in ("null", "zero", "random", "tty"):
        tree.file("/dev/" + name)
