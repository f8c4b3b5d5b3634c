# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel modules: those that are loaded, and the files under /lib/modules."""
from .. import cpio, elf
from .system import made_up

PEER = ("ib_register_peer_memory_client", "ib_unregister_peer_memory_client")
P2P = ("nvidia_p2p_get_pages", "nvidia_p2p_put_pages", "nvidia_p2p_get_pages_persistent",
       "nvidia_p2p_put_pages_persistent", "nvidia_p2p_free_page_table", "nvidia_p2p_dma_map_pages",
       "nvidia_p2p_dma_unmap_pages", "nvidia_p2p_free_dma_mapping")

IB, NET = "kernel/drivers/infiniband/", "kernel/drivers/net/ethernet/mellanox/"
# Of the kernel's own: folder, size in memory, what it uses.
KERNEL_MODULES = {
    "ib_core": (IB + "core", 430080, []),
    "ib_uverbs": (IB + "core", 163840, ["ib_core"]),
    "ib_umad": (IB + "core", 40960, ["ib_core"]),
    "ib_cm": (IB + "core", 131072, ["ib_core"]),
    "iw_cm": (IB + "core", 57344, ["ib_core"]),
    "rdma_cm": (IB + "core", 126976, ["ib_core", "ib_cm", "iw_cm"]),
    "rdma_ucm": (IB + "core", 28672, ["rdma_cm", "ib_uverbs"]),
    "ib_ipoib": (IB + "ulp/ipoib", 122880, ["ib_core", "ib_cm"]),
    "mlx5_core": (NET + "mlx5/core", 2052096, []),
    "mlx5_ib": (IB + "hw/mlx5", 454656, ["mlx5_core", "ib_uverbs", "ib_core"]),
    "mlx4_core": (NET + "mlx4", 401408, []),
    "mlx4_ib": (IB + "hw/mlx4", 245760, ["mlx4_core", "ib_uverbs", "ib_core"]),
    "erdma": (IB + "hw/erdma", 65536, ["ib_uverbs", "ib_core"]),
    "nouveau": ("kernel/drivers/gpu/drm/nouveau", 2879488, ["drm_ttm_helper", "ttm"]),
    "nova_core": ("kernel/drivers/gpu/nova-core", 49152, []),
    "ttm": ("kernel/drivers/gpu/drm/ttm", 110592, []),
    "drm_ttm_helper": ("kernel/drivers/gpu/drm", 16384, ["ttm"]),
    "video": ("kernel/drivers/acpi", 73728, []),
    "i915": ("kernel/drivers/gpu/drm/i915", 4030464, ["ttm", "video"]),
    "nvme": ("kernel/drivers/nvme/host", 61440, ["nvme_core"]),
    "nvme_core": ("kernel/drivers/nvme/host", 208896, []),
    "igb": ("kernel/drivers/net/ethernet/intel/igb", 319488, []),
    "ast": ("kernel/drivers/gpu/drm/ast", 65536, []),
    "vfio_pci": ("kernel/drivers/vfio/pci", 20480, []),
    "efa": (IB + "hw/efa", 106496, ["ib_uverbs", "ib_core"]),
    "pci_stub": ("kernel/drivers/pci", 16384, []),
    "rdma_rxe": (IB + "sw/rxe", 188416, ["ib_uverbs", "ib_core"]),
}
# Files whose name has dashes where the module's has underscores.
DASHES = ("nvme_core", "vfio_pci", "nova_core")


def init(node):
    node.loaded = {}
    node.ko_edits = []
    node.stack = dict(kind="none", version=None, peer=None, tag=None)
    node.symvers = None	# lines of Module.symvers of the kernel that runs
    node.compression = ""	# of the kernel's own modules: "", xz, zst


def module_entry(name, uses=(), size=0, taint="", params=None):
    return dict(name=name, uses=list(uses), size=size, taint=taint, params=params or {}, refs=0,
                state="Live", version=None, srcversion=None)


def load(node, name, **more):
    if name in KERNEL_MODULES:
        _, size, uses = KERNEL_MODULES[name]
        more.setdefault("size", size)
        more.setdefault("uses", uses)
    entry = module_entry(name, **more)
    node.loaded.pop(name, None)
    node.loaded[name] = entry
    return entry


def do_module(node, statement):
    """module NAME [uses=a,b] [refs=N] [params=k=v,k=v] [version=] [srcversion=] [taint=] [size=]
    [state=]: it is loaded; for one that is, the keys given change"""
    words, named = statement.take("uses", "refs", "params", "version", "srcversion", "taint", "size",
                                  "state", least=1)
    name = words[0]
    if name not in node.loaded:
        known = node.known_modules().get(name, {})
        load(node, name, **known)
    entry = node.loaded[name]
    for key, value in named.items():
        if key == "params":
            entry["params"].update(p.partition("=")[::2] for p in value.split(","))
        elif key == "uses":
            entry["uses"] = [u for u in value.split(",") if u]
        else:
            entry[key] = value


def do_unload(node, statement):
    for name in statement.words:
        if name not in node.loaded:
            raise statement.wrong("%s is not loaded" % name)
        del node.loaded[name]
        for other in node.loaded.values():
            if name in other["uses"]:
                other["uses"].remove(name)


def do_ko(node, statement):
    """ko NAME [kernel=RELEASE] [KEY=VALUE...]: a file is there, or differs; ko NAME remove"""
    keys = ("kernel", "dir", "file", "version", "srcversion", "license", "description", "depends",
            "vermagic", "signer", "peer", "p2p", "params", "name", "indexed", "symbols", "own",
            "spaces", "gone", "offers", "looks-up")
    words, named = statement.take(*keys, least=1, most=2)
    node.ko_edits.append((words[0], words[1:] == ["remove"], named))


def do_rdma_stack(node, statement):
    """rdma-stack inbox|ofed [version=] [peer=MODULE]: the kernel side of RDMA, and the module that
    offers the peer memory interface, if any does"""
    (kind,), named = statement.take("version", "peer", least=1)
    version, peer = named.get("version"), named.get("peer")
    node.stack = dict(kind=kind, version=version, peer=peer,
                      tag="%s-%s" % (kind, version) if version else kind)


def do_compression(node, statement):
    (word,), _ = statement.take(least=1)
    node.compression = "" if word == "none" else word


def do_symvers(node, statement):
    """symvers, and a block of SYMBOL [gpl] [owner=] [space=]: Module.symvers of the kernel that runs"""
    node.symvers = node.symvers or []
    for line in statement.block:
        symbol, *rest = line.split()
        named = dict(word.split("=") for word in rest if "=" in word)
        node.symvers.append((symbol, "gpl" in rest, named.get("owner", "vmlinux"), named.get("space", "")))


VERBS = {"symvers": do_symvers, "module": do_module, "unload": do_unload, "ko": do_ko, "rdma-stack": do_rdma_stack,
         "module-compression": do_compression}


# ---- files ----

def new_ko(kernel, name, folder, **more):
    file = name.replace("_", "-") if name in DASHES else name
    return dict(dict(kernel=kernel, name=name, file=file, dir=folder, version=None, srcversion=None,
                     license="GPL", description=None, depends=[], vermagic=None, signer=None,
                     params=[], imports={}, exports={}, alias=[], compression="", indexed=True, own=False,
                     spaces=[], gone=False),
                **more)


def _stack_ko(node, release):
    stack = node.stack
    names = ("ib_core", "ib_uverbs", "ib_umad", "ib_cm", "iw_cm", "rdma_cm", "rdma_ucm", "ib_ipoib",
             "mlx5_core", "mlx5_ib", "mlx4_core", "mlx4_ib")
    for name in names if stack["kind"] != "none" else ():
        folder, _, depends = KERNEL_MODULES[name]
        ofed = stack["kind"] == "ofed"
        if ofed:
            folder = folder.replace("kernel/", node.ofed_dir() + "/", 1)
        exports = {}
        if name == stack["peer"]:
            exports = {s: elf.symbol_crc(s, stack["tag"]) for s in PEER}
        yield new_ko(release, name, folder, depends=depends, license="Dual BSD/GPL",
                     exports=exports, version=stack["version"] if ofed else None,
                     compression="" if ofed else node.compression, own=not ofed)


def _kernel_ko(node, release):
    used = set(node.loaded) | {"nouveau", "nvme", "nvme_core", "ttm", "drm_ttm_helper", "video"}
    stack = () if node.stack["kind"] == "none" else ("ib_", "iw_cm", "rdma_", "mlx")
    for name in sorted(used):
        if name in KERNEL_MODULES and not name.startswith(tuple(stack)):
            folder, _, depends = KERNEL_MODULES[name]
            yield new_ko(release, name, folder, depends=depends, compression=node.compression,
                         own=True)


def _apply_edits(node, kos):
    for name, gone, named in node.ko_edits:
        wanted = name.replace("-", "_")
        release = named.get("kernel", node.kernel)
        found = [k for k in kos if k["kernel"] == release and
                 (k["file"] == name or k["name"] == wanted and k["file"] != name)]
        if gone:
            kos[:] = [k for k in kos if k not in found]
            continue
        if not found:
            folder = KERNEL_MODULES.get(wanted, ("updates/dkms",))[0]
            found = [new_ko(release, wanted, folder, file=name)]
            kos += found
        for ko in found:
            _edit_ko(ko, named)


def _edit_ko(ko, named):
    for key, value in named.items():
        if key == "peer":
            # none: built without the interface; else the build that its versions are of
            ko["imports"] = {s: c for s, c in ko["imports"].items() if s not in PEER}
            if value == "none":
                ko["imports"] = {}
                ko["depends"] = []
            else:
                ko["imports"].update((s, elf.symbol_crc(s, value)) for s in PEER)
        elif key == "p2p":
            ko["imports"].update((s, elf.symbol_crc(s, value)) for s in P2P)
        elif key == "depends":
            ko["depends"] = [d for d in value.split(",") if d]
        elif key == "params":
            ko["params"] = ko["params"] + [tuple(p.split(":")) + ("",) for p in value.split(",")]
        elif key in ("indexed", "own", "gone"):
            ko[key] = value == "yes"
        elif key == "symbols":
            # SYMBOL as this kernel has it, or SYMBOL:BUILD as another one has
            for symbol, _, build in (word.partition(":") for word in value.split(",")):
                ko["imports"][symbol] = elf.symbol_crc(symbol, build or ko["kernel"])
        elif key == "offers":
            ko["exports"].update((s, elf.symbol_crc(s, ko["kernel"])) for s in value.split(","))
        elif key == "looks-up":
            ko["strings"] = value.split(",")
        elif key == "spaces":
            ko["spaces"] = value.split(",")
        elif key != "kernel":
            ko[key] = None if value == "none" else value


def all_ko(node):
    kos = []
    for release in [node.kernel] + node.kernels:
        kos += list(_kernel_ko(node, release)) + list(_stack_ko(node, release))
        kos += list(node.driver_ko(release))
    _apply_edits(node, kos)
    return kos


def finish(node, ko):
    """What is not given follows from the rest."""
    ko = dict(ko)
    ko["vermagic"] = ko["vermagic"] or "%s SMP %smod_unload modversions %s" % (
        ko["kernel"], "" if node.os["id"] == "ubuntu" else "preempt ",
        "aarch64" if node.machine == "aarch64" else "")
    if ko["own"] and ko["signer"] is None:
        ko["signer"] = "Build time autogenerated kernel key"
    ko["srcversion"] = ko["srcversion"] or made_up(
        "srcversion", ko["name"], ko["version"], ko["license"], size=23).upper()
    return ko


def _modinfo(node, ko):
    info = [("license", ko["license"])]
    if ko["description"]:
        info.append(("description", ko["description"]))
    if ko["version"]:
        info.append(("version", ko["version"]))
    info += [("alias", a) for a in ko["alias"]]
    info += [("srcversion", ko["srcversion"]), ("depends", ",".join(
        d.replace("_", "-") if d.startswith("nvidia") or d in DASHES else d
        for d in ko["depends"]))]
    if ko["own"]:
        info.append(("intree", "Y"))
    if node.machine == "x86_64":
        info.append(("retpoline", "Y"))
    info += [("name", ko["name"]), ("vermagic", ko["vermagic"])]
    info += [("import_ns", space) for space in ko["spaces"]]
    for name, kind, text in ko["params"]:
        if text:
            info.append(("parm", "%s:%s" % (name, text)))
        info.append(("parmtype", "%s:%s" % (name, kind)))
    return info


def bytes_of(node, ko):
    imports = dict(ko["imports"])
    imports["module_layout"] = elf.symbol_crc("module_layout", ko["kernel"])
    data = elf.module(node.machine, _modinfo(node, ko), imports.items(), ko["exports"].items(),
                      ko["signer"])
    data += b"".join(b"\0%s\0" % s.encode() for s in ko.get("strings", ()))
    return cpio.compress(data, {"": "none", "xz": "xz", "zst": "zst"}[ko["compression"]])


def ko_path(ko):
    """Below /lib/modules/RELEASE."""
    return "%s/%s.ko%s" % (ko["dir"], ko["file"],
                           "." + ko["compression"] if ko["compression"] else "")


def _render_files(node, tree):
    kos = [finish(node, ko) for ko in all_ko(node)]
    paths = {(ko["kernel"], ko["name"]): ko_path(ko) for ko in kos}
    dep = {release: "" for release in [node.kernel] + node.kernels}
    for ko in kos:
        if not ko["gone"]:
            tree.file("/lib/modules/%s/%s" % (ko["kernel"], ko_path(ko)), bytes_of(node, ko))
        needs = [paths[ko["kernel"], d] for d in ko["depends"] if (ko["kernel"], d) in paths]
        if ko["indexed"]:
            dep.setdefault(ko["kernel"], "")
            dep[ko["kernel"]] += "%s:%s\n" % (ko_path(ko), "".join(" " + n for n in needs))
    for release, text in dep.items():
        tree.file("/lib/modules/%s/modules.dep" % release, text)
        tree.file("/lib/modules/%s/modules.order" % release)
        tree.file("/lib/modules/%s/modules.builtin" % release, "kernel/fs/ext4/ext4.ko\n")
    _render_symvers(node, tree)
    node.ko_files = {(ko["kernel"], ko["name"]): ko for ko in kos}


def _render_symvers(node, tree):
    """With a thousand symbols that nothing needs, as a whole kernel has them."""
    if node.symvers is None:
        return
    lines = [("module_layout", False, "vmlinux", ""), *node.symvers]
    lines += [("filler_%d" % i, False, "vmlinux", "") for i in range(1000)]
    tree.file("/usr/src/linux-headers-%s/Module.symvers" % node.kernel, "".join(
        "0x%08x\t%s\t%s\tEXPORT_SYMBOL%s\t%s\n" % (
            elf.symbol_crc(symbol, node.kernel), symbol, owner, "_GPL" if gpl else "", space)
        for symbol, gpl, owner, space in lines))


# ---- what is loaded ----

def _render_loaded(node, tree):
    text = ""
    names = list(node.loaded)
    for i, name in reversed(list(enumerate(names))):
        entry = node.loaded[name]
        holders = [n for n in reversed(names) if name in node.loaded[n]["uses"]]
        refs = int(entry["refs"]) + len(holders)
        flags = " (%s)" % entry["taint"] if entry["taint"] else ""
        text += "%s %s %d %s %s 0x%016x%s\n" % (
            name, entry["size"] or 20480, refs, "".join(h + "," for h in holders) or "-",
            entry["state"], 0xffffffffc0000000 + i * 0x100000, flags)
        path = "/sys/module/" + name
        tree.line(path + "/initstate", entry["state"].lower())
        tree.line(path + "/refcnt", refs)
        tree.line(path + "/coresize", entry["size"] or 20480)
        tree.line(path + "/taint", entry["taint"])
        tree.folder(path + "/holders")
        for holder in holders:
            tree.link_between(path + "/holders/" + holder, "/sys/module/" + holder)
        ko = node.ko_files.get((node.kernel, name))
        version = entry["version"] or (ko and ko["version"])
        if version:
            tree.line(path + "/version", version)
        if version or entry["taint"]:
            tree.line(path + "/srcversion", entry["srcversion"] or (
                ko and ko["srcversion"]) or made_up(name, version, size=23).upper())
        for key, value in entry["params"].items():
            tree.line(path + "/parameters/" + key, value)
    tree.file("/proc/modules", text)


def render(node, tree):
    _render_files(node, tree)
    _render_loaded(node, tree)
