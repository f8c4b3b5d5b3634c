# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of data/known-bad.tsv, and facts of nodes on which a row holds or does not."""
import collections
import copy
import fnmatch
import itertools
import os
import re

from . import program

TABLE = os.path.join(program.TOP, "data", "known-bad.tsv")
Row = collections.namedtuple("Row", "id component first to conditions profile severity range rule "
                             "effect cure source read line")
Condition = collections.namedtuple("Condition", "key op name values")
# Conditions that are one and the same question about the row's own version.
OWN = ("fixed",)


def read_rows():
    rows = []
    with open(TABLE, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith("#"):
                fields = [None if f == "-" else f for f in line.rstrip("\n").split("\t")]
                fields[4] = [read_condition(c) for c in (fields[4] or "").split(";") if c]
                rows.append(Row(*fields, line=number))
    return rows


def read_condition(text):
    key, op, value = re.match(r"([a-z0-9-]+)(!=|<=|>=|=|<|>)(.*)$", text).groups()
    name = key if key in COMPONENTS else None
    if key in PAIRS:
        name, _, value = value.partition(":")
    return Condition("version" if key in COMPONENTS else key, op, name, value.split(","))


# ---- versions ----

def numbers(version):
    return [int(n) for n in re.findall(r"\d+", version)]


def compare(a, b):
    for x, y in itertools.zip_longest(numbers(a), numbers(b), fillvalue=0):
        if x != y:
            return -1 if x < y else 1
    return 0


def below(version):
    """Just below: of 2.28.7 2.28.6.99, of 6.14 6.13.99."""
    parts = re.split(r"([.-])", version)
    last = max(i for i, part in enumerate(parts) if part.isdigit() and int(part))
    parts[last] = str(int(parts[last]) - 1)
    parts[last + 1:] = ["99" if part.isdigit() else part for part in parts[last + 1:]]
    return "".join(parts) + ".99"


def fits(op, order):
    return {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0,
            ">=": order >= 0}[op]


# ---- facts in which nothing is wrong ----

def base():
    return {
        "format": "nvnodecheck-facts", "format_version": [1, 0], "tool_version": "0",
        "os": {"id": "debian", "version": "12", "kernel": "6.1.0-1-amd64", "machine": "x86_64",
               "cpu_vendor": "GenuineIntel", "cpu_ibt": False, "hypervisor": None, "product": "X",
               "container": None, "secure_boot": None, "kernel_config": [], "cloud": None},
        "cmdline": {"running": "", "args": []},
        "pci": {"devices": []},
        "gpu": {"devices": []},
        "driver": {"loaded": True, "version": "999.1", "flavour": "open", "params": []},
        "modules": {"loaded": [], "kernels": [], "files": []},
        "rdma": {"devices": []},
        "net": {"interfaces": []},
        "dev": {"nodes": [], "majors": [], "char_links": []},
        "containers": {"toolkit": None, "no_cgroups": None, "cdi": [], "configs": []},
        "limits": {"self": {"stack_soft_bytes": 8388608}},
        "services": {"units": []},
        "software": {"complete": True, "items": [], "programs": []},
        "env": {"pid": None, "bounding": "0xffffffff", "seccomp": "disabled", "variables": [],
                "nccl_conf": None, "container": None},
    }


def gpu_device(place, model, switch=False):
    return {"bdf": place, "vendor_id": "0x10de", "device_id": "0x" + model,
            "class_id": "0x068000" if switch else "0x030200", "driver": "nvidia", "bars": [],
            "link": {"speed_mts": 16000, "speed_max_mts": 16000, "width": 16, "width_max": 16}}


def add_nic(facts, name="mlx5_0", place="0000:90:00.0", driver="mlx5_core", model="1021", vendor="15b3",
            **port):
    port = dict({"port": 1, "state": "ACTIVE", "link_layer": "InfiniBand", "lane_rate": "HDR",
                 "active_mtu_bytes": 4096, "grh_required": False, "gids": []}, **port)
    facts["pci"]["devices"].append({"bdf": place, "vendor_id": "0x" + vendor, "device_id": "0x" + model,
                                    "class_id": "0x020000", "driver": driver, "bars": []})
    facts["rdma"]["devices"].append({"name": name, "bdf": place, "driver": driver, "ports": [port]})


def add_item(facts, name, version):
    facts["software"]["items"].append({"path": "/x/%s-%s" % (name, version), "name": name,
                                       "version": version})


def add_module(facts, name, version=None):
    facts["modules"]["loaded"].append({"name": name, "state": "live", "version": version})


# ---- components ----

COMPONENTS = {
    "nccl": "nccl", "nvshmem": "nvshmem", "deepep": "deepep", "ucx": "ucx", "ofed": "ofed",
    "rdma-core": "libibverbs", "aws-ofi-nccl": "aws-ofi-nccl", "container-toolkit": "container-toolkit",
    "enroot": "enroot", "dkms": "dkms", "cuda": "cuda", "libnvidia-container": "libnvidia-container",
    "containerd": "containerd", "docker": "docker", "podman": "podman", "efa-installer": "efa-installer",
    "gdrcopy": ("gdrdrv-source", "gdrdrv"), "nvidia-fs": ("nvidia-fs-source", "nvidia_fs"),
    "nv-peer-mem": ("nv-peer-mem-source", "nv_peer_mem"), "efa": ("efa-source", "efa"),
    "driver": None, "kernel": None, "kernel.org": None,
}
PAIRS = ("env", "kernel-config", "param")


def set_version(facts, component, version, loaded=None):
    """LOADED: the row asks that its module is loaded, or that it is not."""
    item = COMPONENTS[component]
    if component.startswith("kernel"):
        facts["os"]["kernel"] = version
    elif component == "driver" and loaded is False:
        facts["driver"] = {"loaded": False}
        add_item(facts, "driver-source", version)
    elif component == "driver":
        facts["driver"]["version"] = version
    elif isinstance(item, str):
        add_item(facts, item, "1.14." + version if component == "rdma-core" else version)
    elif loaded:
        for module in facts["modules"]["loaded"]:
            if module["name"] == item[1]:
                module["version"] = version
                return
        add_module(facts, item[1], version)
    else:
        add_item(facts, item[0], version)


# ---- GPUs: what fits all of a row's conditions about them is searched for ----

AGES = ("Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell")
MODELS = {"1db5": ("Volta", "Tesla V100-SXM2-32GB", "data-centre"), "1eb8": ("Turing", "Tesla T4", "data-centre"),
          "20b0": ("Ampere", "A100-SXM4-40GB", "data-centre"), "2684": ("Ada", "GeForce RTX 4090", "geforce"),
          "2330": ("Hopper", "H100 80GB HBM3", "data-centre"), "2901": ("Blackwell", "B200", "data-centre"),
          "2941": ("Blackwell", "GB200", "data-centre"), "2b85": ("Blackwell", "GeForce RTX 5090", "geforce"),
          "2e12": ("Blackwell", "GB10", "integrated")}
GPU_KEYS = ("gpu", "gpu-arch", "gpu-kind", "gpus", "gsp-firmware", "mig", "pcie-gen", "nics-per-gpu")


def gpu_holds(condition, model, count, switches):
    age, name, kind = MODELS[model]
    key, op, _, values = condition
    if key == "gpu":
        holds = any(name.startswith(v) for v in values)
    elif key == "gpu-kind":
        holds = kind in values
    elif key == "kind":
        holds = switches or model == "2901" if values == ["hgx"] else model == "2941"
    elif key == "gpu-arch":
        return fits(op, AGES.index(age) - AGES.index(values[0]))
    else:
        return fits(op, count - int(values[0]))
    return holds != (op == "!=")


def set_gpus(facts, wanted):
    """WANTED: [(condition, whether it is to hold)]. False: there is no such node."""
    asked = [(c, w) for c, w in wanted if c.key in ("gpu", "gpu-arch", "gpu-kind", "gpus") or
             c.key == "kind" and c.values[0] in ("hgx", "gb200-tray")]
    for model, count, switches in itertools.product(MODELS, (2, 1, 3), (False, True)):
        if all(gpu_holds(c, model, count, switches) == w for c, w in asked):
            break
    else:
        return False
    for i in range(count):
        facts["pci"]["devices"].append(gpu_device("0000:%02x:00.0" % (16 + i), model))
        facts["gpu"]["devices"].append({"bdf": "0000:%02x:00.0" % (16 + i), "firmware": None,
                                        "mig_instances": None})
    if switches:
        facts["pci"]["devices"].append(gpu_device("0000:80:00.0", "22a3", True))
    return True


# ---- single conditions ----

def set_ports(facts, **values):
    if not facts["rdma"]["devices"]:
        add_nic(facts)
    facts["rdma"]["devices"][0]["ports"][0].update(values)


def do_argument(facts, condition, holds):
    key, equal, value = condition.values[0].partition("=")
    if holds:
        facts["cmdline"]["args"].append({"key": key, "value": value if equal else None})


def do_capability(facts, _, holds):
    facts["env"]["bounding"] = "0x800000" if holds else "0x0"


def do_cdi(facts, condition, holds):
    facts["containers"]["cdi"] = [{"path": "/etc/cdi/x.yaml", "driver_version": None,
                                   "cdi_version": condition.values[0] if holds
                                   else below(condition.values[0])}]


def do_config(facts, condition, holds):
    if holds:
        facts["containers"]["configs"] = [{"path": condition.values[0] + "x", "nvidia": True}]


def do_distro(facts, condition, holds):
    name, _, version = condition.values[0].partition("-")
    facts["os"]["id"], facts["os"]["version"] = (name, version) if holds else ("arch", "1")


def do_env(facts, condition, holds):
    pattern = condition.values[0]
    value = pattern.replace("*", "x")
    if not holds:
        value = None if fnmatch.fnmatch("other", pattern) else "other"
    if value is not None:
        facts["env"]["variables"].append({"name": condition.name, "value": value})


def do_flavour(facts, condition, holds):
    other = {"open": "proprietary", "proprietary": "open"}
    flavour = condition.values[0] if holds else other[condition.values[0]]
    if facts["driver"].get("loaded") is False:
        facts["modules"]["files"].append({
            "path": "/lib/modules/1.2.3/nvidia.ko", "name": "nvidia", "file_name": "nvidia",
            "kernel": "1.2.3", "license": "NVIDIA" if flavour == "proprietary" else "Dual MIT/GPL",
            "version": None})
    else:
        facts["driver"]["flavour"] = flavour


def do_firmware(facts, _, holds):
    facts["gpu"]["devices"][0]["firmware"] = "1" if holds else None


def do_count(facts, condition, holds):
    wanted = int(condition.values[0])
    for count in (wanted, wanted + 1, max(wanted - 1, 0)):
        if fits(condition.op, count - wanted) == holds:
            break
    while len(facts["rdma"]["devices"]) < count:
        number = len(facts["rdma"]["devices"])
        add_nic(facts, "mlx5_%d" % number, "0000:%02x:00.0" % (0x90 + number))
    if not count:
        facts["rdma"]["devices"] = []


def do_imex(facts, _, holds):
    if holds:
        facts["dev"]["nodes"] = [{"path": "/dev/nvidia-caps-imex-channels/channel0", "kind": "character"}]


def do_kernel_config(facts, condition, holds):
    value = condition.values[0] if holds else {"y": "n", "n": "y"}[condition.values[0]]
    facts["os"]["kernel_config"] = [{"name": condition.name, "value": None if value == "n" else value}]


def do_kind(facts, condition, holds):
    kind = condition.values[0]
    if kind == "container":
        facts["os"]["container"] = "docker" if holds else None
    elif kind == "grace":
        facts["os"].update(machine="aarch64" if holds else "x86_64", product="GH200" if holds else "X")


def do_module(facts, condition, holds):
    if holds and all(m["name"] != condition.values[0] for m in facts["modules"]["loaded"]):
        add_module(facts, condition.values[0])


def do_module_file(facts, condition, holds):
    if holds:
        kernel = facts["os"]["kernel"]
        facts["modules"]["files"].append({
            "path": "/lib/modules/%s/%s.ko" % (kernel, condition.values[0]), "name": condition.values[0],
            "file_name": condition.values[0], "kernel": kernel, "version": None})


def do_nic(facts, condition, holds):
    add_nic(facts, model={"ConnectX-8": "1023"}[condition.values[0]] if holds else "1021")


def do_pci_nic(facts, condition, holds):
    model = {"ConnectX-3": "1003"}[condition.values[0]] if holds else "1021"
    facts["pci"]["devices"].append({"bdf": "0000:a0:00.0", "vendor_id": "0x15b3", "device_id": "0x" + model,
                                    "class_id": "0x020000", "driver": None, "bars": []})


def do_nic_driver(facts, condition, holds):
    if condition.values == ["efa"] and holds:
        add_nic(facts, "rdmap0", driver="efa", model="efa2", vendor="1d0f")
    elif holds:
        set_ports(facts)
    else:
        add_nic(facts, "bnxt_re0", driver="bnxt_en", model="1750", vendor="14e4")


def do_nic_p2p(facts, condition, holds):
    for device in facts["rdma"]["devices"]:
        device["p2p"] = condition.values[0] if holds else None


def do_nic_functions(facts, condition, holds):
    add_nic(facts)
    if holds:
        add_nic(facts, "mlx5_1", "0000:90:00.1")


def do_vf(facts, _, holds):
    set_ports(facts)
    facts["pci"]["devices"][-1].update({"device_id": "0x101e", "physical_function": "0000:90:00.0"}
                                       if holds else {})


def do_nics_per_gpu(facts, condition, holds):
    gpus = sum(d["class_id"] == "0x030200" for d in facts["pci"]["devices"])
    for number in range(gpus * int(condition.values[0]) if holds else 1):
        add_nic(facts, "mlx5_%d" % number, "0000:%02x:00.0" % (0x90 + number))
    for device in facts["pci"]["devices"]:
        device.update(parent=None, root="pci0000:00", port="endpoint")


def do_carrier(facts, _, holds):
    facts["net"]["interfaces"] = [{"name": "eth0", "state": "down", "carrier": not holds,
                                   "addresses": ["192.0.2.1/24"]}]


def do_mig(facts, _, holds):
    if holds:
        facts["gpu"]["devices"][0]["mig_instances"] = 2


def do_param(facts, condition, holds):
    facts["driver"]["params"] = [{"name": condition.name, "value": condition.values[0] if holds else "other",
                                  "line": 1}]


def do_pcie(facts, _, holds):
    for device in facts["pci"]["devices"]:
        device.get("link", {})["speed_mts"] = 64000 if holds else 2500


def do_service(facts, condition, holds):
    facts["services"]["units"] = [{"unit": u, "load": "loaded", "active": "active" if holds else "inactive"}
                                  for u in condition.values]


DO = {
    "argument": do_argument, "capability": do_capability, "cdi-version": do_cdi, "distro": do_distro,
    "engine-config": do_config, "env": do_env, "flavour": do_flavour, "gsp-firmware": do_firmware,
    "hca-count": do_count, "imex-channel": do_imex, "kernel-config": do_kernel_config, "kind": do_kind,
    "module": do_module, "module-file": do_module_file, "nic": do_nic, "nic-driver": do_nic_driver,
    "nic-functions": do_nic_functions, "nic-p2p": do_nic_p2p, "nic-vf": do_vf, "nics-per-gpu": do_nics_per_gpu,
    "pci-nic": do_pci_nic,
    "no-carrier": do_carrier, "mig": do_mig, "param": do_param, "pcie-gen": do_pcie, "service": do_service,
    "cgroup": lambda f, c, h: f["containers"].update(cgroup2=True if h else None),
    "cpu-arch": lambda f, c, h: f["os"].update(machine=c.values[0] if h else "riscv64"),
    "cpu-ibt": lambda f, c, h: f["os"].update(cpu_ibt=h),
    "cpu-vendor": lambda f, c, h: f["os"].update(cpu_vendor=c.values[0] if h else "other"),
    "gid-hole": lambda f, c, h: set_ports(f, gids=[{
        "index": 6 if h else 0, "gid": "0000:0000:0000:0000:0000:ffff:0a00:0001", "type": "RoCE v2"}]),
    "grh-required": lambda f, c, h: set_ports(f, grh_required=h),
    "lane-rate": lambda f, c, h: set_ports(f, lane_rate=c.values[0] if h else "SDR"),
    "link-layer": lambda f, c, h: set_ports(f, link_layer=c.values[0] if h else "Unspecified"),
    "no-cgroups": lambda f, c, h: f["containers"].update(no_cgroups=h),
    "product": lambda f, c, h: f["os"].update(product=c.values[0] if h else "X"),
    "seccomp": lambda f, c, h: f["env"].update(seccomp=c.values[0] if h else "strict"),
    "secure-boot": lambda f, c, h: f["os"].update(secure_boot=h),
    "stack": lambda f, c, h: f["limits"]["self"].update(stack_soft_bytes="unlimited" if h else 8388608),
}
# What is set by others: GPUs all together, versions by candidates, the row's own version.
TOGETHER = ("gpu", "gpu-arch", "gpu-kind", "gpus", "version") + OWN
# Keys whose facts need others' to be there first, and one that others add to.
EARLY = ("nic-driver",)
LATE = ("flavour", "gsp-firmware", "hca-count", "mig", "module-file", "nic-p2p",
        "nics-per-gpu", "pcie-gen", "nic-vf")


def set_versions(facts, row, wanted):
    """Versions of other components: a candidate for which each condition is as it is wanted."""
    for name in {c.name for c, _ in wanted if c.key == "version"}:
        mine = [(c, w) for c, w in wanted if c.name == name]
        none = [] if name in ("driver", "kernel") else [None]
        for version in none + [v for c, _ in mine for v in candidates(c, row)]:
            if all(version_holds(c, version, row) == w for c, w in mine):
                break
        else:
            return False
        if version:
            set_version(facts, name, version)
    return True


def candidates(condition, row):
    value = condition.values[0]
    if value == "none":
        return ["1.0"]
    value = row.version if value == "self" else value
    return [value, below(value), value + ".1"]


def version_holds(condition, version, row):
    value = condition.values[0]
    if value == "none":
        return (version is None) == (condition.op == "=")
    if version is None:
        return False
    return fits(condition.op, compare(version, row.version if value == "self" else value))


def build(row, version, turned_off=None):
    """Facts of a node with VERSION on which all conditions hold, but for the one TURNED_OFF. None: there is
    no such node."""
    facts = copy.deepcopy(base())
    asked = Asked(row, version)
    wanted = [(c, c is not turned_off) for c in row.conditions]
    named = {v: w != (c.op == "!=") for c, w in wanted if c.key in ("module", "module-file")
             for v in c.values}
    module = (COMPONENTS[row.component] or (None, "nvidia"))[1]
    set_version(facts, row.component, version, named.get(module) if "nvidia" in named or module != "nvidia"
                else None)
    if not set_gpus(facts, wanted) or not set_versions(facts, asked, wanted):
        return None
    for condition, holds in sorted(wanted, key=lambda cw: (cw[0].key not in EARLY, cw[0].key in LATE)):
        if condition.key not in TOGETHER:
            ordered = condition.key in ("cdi-version", "hca-count", "nic-functions", "nics-per-gpu",
                                        "pcie-gen")
            DO[condition.key](facts, condition, holds != (condition.op == "!=" and not ordered))
    PROVOKE.get(row.rule, lambda _: None)(facts)
    return tidy(facts)


class Asked:
    """A row, with the version that its component has."""

    def __init__(self, row, version):
        self.row, self.version = row, version

    def __getattr__(self, name):
        return getattr(self.row, name)


def tidy(facts):
    """Lists are sorted by what they are found by."""
    for section, part in (("software", "items"), ("modules", "files")):
        facts.get(section, {}).get(part, []).sort(key=lambda item: item["path"])
    facts["pci"]["devices"].sort(key=lambda device: device["bdf"])
    for part in (facts["rdma"]["devices"], facts["modules"]["loaded"], facts["env"]["variables"]):
        part.sort(key=lambda item: item["name"])
    return facts


# ---- rules that say a row with their own finding ----

def provoke_char_links(facts):
    facts["services"]["units"] = [{"unit": "docker.service", "load": "loaded", "active": "active",
                                   "enabled": "enabled"}]
    facts["dev"]["majors"] = [{"name": "nvidia", "major": 195}]


def provoke_ofed(facts):
    add_item(facts, "ofa_kernel", "1.2.3")


def provoke_mtu(facts):
    set_ports(facts, link_layer="Ethernet", active_mtu_bytes=1024)


def provoke_unbuilt(facts):
    facts["driver"] = {"loaded": False}


PROVOKE = {
    "dev/char-symlinks-missing": provoke_char_links, "modules/ofed-kernel-mismatch": provoke_ofed,
    "rdma/mtu-small": provoke_mtu, "modules/nvidia-not-built-for-kernel": provoke_unbuilt,
}


# ---- facts that a condition needs, taken away ----

# Key: path of what it reads. A component's version is read from the software, if nothing is said of it here.
PATHS = {
    "argument": "cmdline", "capability": "env.bounding", "cdi-version": "containers.cdi",
    "cgroup": "containers.cgroup2", "cpu-arch": "os.machine", "cpu-ibt": "os.cpu_ibt", "cpu-vendor": "os.cpu_vendor", "distro": "os.id",
    "engine-config": "containers.configs", "env": "env.variables", "gpu": "pci.devices",
    "gpu-arch": "pci.devices", "gpu-kind": "pci.devices", "gpus": "pci.devices",
    "gid-hole": "rdma.devices", "grh-required": "rdma.devices", "gsp-firmware": "gpu.devices", "hca-count": "rdma.devices",
    "imex-channel": "dev.nodes", "kernel-config": "os.kernel_config", "lane-rate": "rdma.devices",
    "link-layer": "rdma.devices", "mig": "gpu.devices", "module": "modules.loaded",
    "module-file": "modules.files", "nic": "rdma.devices", "nic-driver": "rdma.devices",
    "nic-functions": "rdma.devices", "nic-p2p": "rdma.devices", "nic-vf": "rdma.devices", "nics-per-gpu": "rdma.devices",
    "no-carrier": "net.interfaces", "no-cgroups": "containers.no_cgroups", "param": "driver.params",
    "pci-nic": "pci.devices", "pcie-gen": "pci.devices", "product": "os.product", "seccomp": "env.seccomp",
    "secure-boot": "os.secure_boot", "service": "services.units", "stack": "limits.self",
}


def forget(row, facts, condition):
    """FACTS without what CONDITION reads; None: the row's component is read from there too."""
    facts = copy.deepcopy(facts)
    path = PATHS.get(condition.key)
    if condition.key == "flavour":
        path = "driver.flavour" if facts["driver"].get("loaded") else "modules.files"
    elif condition.key == "kind":
        path = {"container": "os.container"}.get(condition.values[0], "pci.devices")
        if condition.values[0] == "grace":
            return None
    elif condition.key == "version":
        path = {"driver": "driver.version", "kernel": "os.kernel"}.get(condition.name)
    if path is None or path == "modules.loaded" and not isinstance(COMPONENTS[row.component], str):
        return None
    if row.component in ("driver", "kernel", "kernel.org") and path in ("driver.version", "os.kernel"):
        return None
    parts = path.split(".")
    owner = facts
    for part in parts[:-1]:
        owner = owner[part]
    del owner[parts[-1]]
    return facts
