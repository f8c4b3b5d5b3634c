# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that are loaded, on disk and named for the boot; modinfo and modprobe are the oracles."""
import os
import shutil
import subprocess

import pytest

from lib import modinfo
from lib.rootfs_dict import Link, by, gaps, make, observe, run

KERNEL = "6.8.0-test"
LIB = "/lib/modules/" + KERNEL
RUNNING = {"/proc/sys/kernel/osrelease": KERNEL + "\n"}

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc makes the modules")


def build(path, info, imports=(), exports=(), versions=True, size=0):
    """A .ko: INFO is [(key, value)], IMPORTS and EXPORTS are [(symbol, crc)]."""
    lines = ['#define M(n, s) __attribute__((section(".modinfo"), used, aligned(1))) '
             "static const char m##n[] = s;"]
    lines += ['M(%d, "%s=%s")' % (i, k, v) for i, (k, v) in enumerate(info)]
    lines += ["extern void %s(void);" % s for s, _ in imports]
    lines += ["void use(void) { %s }" % " ".join("%s();" % s for s, _ in imports)]
    if versions and imports:
        lines += ["struct v { unsigned long crc; char name[64 - sizeof(long)]; };",
                  '__attribute__((section("__versions"), used)) static const struct v v[] = {']
        lines += ['{ 0x%x, "%s" },' % (crc, s) for s, crc in imports] + ["};"]
    for symbol, crc in exports:
        lines.append('asm(".section __ksymtab_strings,\\"aMS\\",@progbits,1\\n.asciz \\"%s\\"\\n");'
                     % symbol)
        if crc:
            lines.append('asm(".globl __crc_%s\\n.set __crc_%s, 0x%x\\n");' % (symbol, symbol, crc))
    if size:
        lines.append("const char filler[%d] = { 1 };" % size)
    source = path + ".c"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(source, "w") as f:
        f.write("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-w", "-c", "-o", path, source], check=True)
    os.unlink(source)


def compress(path, tool, suffix):
    if not shutil.which(tool):
        pytest.skip("needs " + tool)
    subprocess.run([tool, "-q", "-f", path] if tool != "zstd" else [tool, "-q", "-f", "--rm", path],
                   check=True)
    return path + suffix


NVIDIA = [("license", "Dual MIT/GPL"), ("version", "580.159.04"), ("srcversion", "06B987C9B8B712"),
          ("depends", "i2c-core,drm_kms_helper"), ("name", "nvidia"),
          ("vermagic", KERNEL + " SMP preempt mod_unload modversions "),
          ("parm", "NVreg_EnableMSI:int"), ("parmtype", "NVreg_EnableMSI:int"),
          ("parmtype", "NVreg_RegistryDwords:charp"), ("parm", "rm_firmware_active:charp")]
P2P = [("nvidia_p2p_get_pages", 0x11223344), ("nvidia_p2p_put_pages", 0x55667788)]
PEERMEM = [("license", "Dual BSD/GPL"), ("version", "580.159.04"), ("name", "nvidia_peermem"),
           ("depends", "nvidia,ib_core"), ("description", "GPU memory peers"),
           ("vermagic", KERNEL + " SMP ")]
CLIENT = [("ib_register_peer_memory_client", 0xdeadbeef),
          ("ib_unregister_peer_memory_client", 0x01020304)]


def same_as_modinfo(root, item):
    for field, ours, theirs in modinfo.compared(root + item["path"], item):
        assert ours == theirs, field


# ---- loaded ----

def test_loaded_from_proc_modules(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/proc/modules": "nvidia_uvm 1830912 0 - Live 0x0000000000000000 (OE)\n"
                         "nvidia 14299136 12 nvidia_uvm,nvidia_modeset, Live 0x0 (POE)\n"
                         "veth 1 2 [permanent], Loading 0x0\n"
                         "gone 1 0 - Unloading 0x0\n",
        "/sys/module/nvidia/initstate": "live\n",
        "/sys/module/nvidia/version": "580.159.04\n",
        "/sys/module/nvidia/srcversion": "06B987C9B8B712FF4E7FB47\n",
        "/sys/module/nvidia/taint": "POE\n",
        "/sys/module/nvidia_uvm/initstate": "live\n",
        "/sys/module/nvidia_uvm/parameters/uvm_page_table_location": "(null)\n",
        "/sys/module/nvidia_uvm/parameters/uvm_peer_copy": "phys\n",
        "/sys/module/ib_core/parameters/netns_mode": "Y\n",
    }))
    loaded = by(facts["modules"]["loaded"], "name")
    assert list(loaded) == sorted(loaded)
    assert loaded["nvidia"] == {
        "name": "nvidia", "state": "live", "refcnt": 12, "holders": ["nvidia_uvm", "nvidia_modeset"],
        "version": "580.159.04", "srcversion": "06B987C9B8B712FF4E7FB47", "taint": "POE",
        "params": None}
    assert loaded["nvidia_uvm"]["params"] == [
        {"name": "uvm_page_table_location", "value": None}, {"name": "uvm_peer_copy", "value": "phys"}]
    assert loaded["veth"] == {"name": "veth", "state": "loading", "refcnt": 2, "holders": []}
    assert loaded["gone"]["state"] == "unloading"
    assert loaded["ib_core"]["state"] == "builtin"
    assert loaded["ib_core"]["refcnt"] is None
    assert loaded["ib_core"]["params"] == [{"name": "netns_mode", "value": "Y"}]


def test_kernel_that_cannot_unload(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/proc/modules": "nvidia 14299136 - - Live 0xffffffffc0400000 (O)\n"}))
    assert facts["modules"]["loaded"][0]["refcnt"] is None
    assert facts["modules"]["loaded"][0]["holders"] is None


def test_no_loadable_modules(tmp_path):
    facts = observe(make(tmp_path / "t", {"/proc/cmdline": "quiet\n",
                                          "/sys/module/mlx5_core/parameters/prof_sel": "2\n",
                                          "/sys/module/kernel/parameters/panic": "0\n"}))
    assert [(m["name"], m["state"]) for m in facts["modules"]["loaded"]] == [("mlx5_core", "builtin")]


def test_proc_modules_was_not_copied(tmp_path):
    facts = observe(make(tmp_path / "t", {"/proc/cmdline": "quiet\n"}))
    assert "loaded" not in facts.get("modules", {})
    assert gaps(facts)["/proc/modules"] == "ENODATA"


def test_proc_modules_was_not_copied_but_modules_were_loaded(tmp_path):
    """Then /sys/module may lack some of them too. Found by tests/oracles/partial.py"""
    facts = observe(make(tmp_path / "t", {"/proc/cmdline": "quiet\n", "/sys/module/nvidia_uvm/initstate": "live\n"}))
    assert "loaded" not in facts.get("modules", {}) and "loaded" not in facts.get("driver", {})
    assert gaps(facts)["/proc/modules"] == "ENODATA"


def test_damaged_proc_modules(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/proc/modules": b"nvidia 1 0 - Live 0x0\n\0\xff\xff 1\nib_core 1 x y z\nlast 1 0 - Live"}))
    assert [m["name"] for m in facts["modules"]["loaded"]] == ["last", "nvidia"]
    assert gaps(facts)["/proc/modules"] == "EBADMSG"


# ---- files ----

@needs_gcc
def test_files_say_what_modinfo_says(tmp_path):
    root = str(tmp_path / "t")
    place = root + LIB
    make(root, RUNNING)
    build(place + "/updates/dkms/nvidia.ko", NVIDIA, exports=P2P)
    build(place + "/updates/dkms/nvidia-peermem.ko", PEERMEM, imports=P2P + CLIENT)
    build(place + "/extra/mlnx-ofa_kernel/drivers/infiniband/core/ib_core.ko",
          [("license", "Dual BSD/GPL"), ("name", "ib_core"), ("depends", "")],
          exports=CLIENT + [("ib_open_device", 7)])
    subprocess.run(["depmod", "-b", root, KERNEL], check=True)
    facts = observe(root)
    files = by(facts["modules"]["files"], "path")
    assert facts["modules"]["kernels"] == [{"release": KERNEL, "indexed": True}]
    for item in files.values():
        assert item["indexed"] is True and item["kernel"] == KERNEL
        same_as_modinfo(root, item)
    nvidia = files[LIB + "/updates/dkms/nvidia.ko"]
    assert nvidia["depends"] == ["i2c_core", "drm_kms_helper"]
    assert nvidia["parameters"] == ["NVreg_EnableMSI", "NVreg_RegistryDwords", "rm_firmware_active"]
    assert nvidia["exports"] == [{"name": s, "crc": "0x%x" % c} for s, c in P2P]
    peermem = files[LIB + "/updates/dkms/nvidia-peermem.ko"]
    assert (peermem["name"], peermem["file_name"]) == ("nvidia_peermem", "nvidia_peermem")
    assert peermem["imports"] == [{"name": s, "crc": "0x%x" % c} for s, c in sorted(P2P + CLIENT)]
    versions = subprocess.run(["modprobe", "--dump-modversions", root + peermem["path"]],
                              capture_output=True, text=True, check=True).stdout.split("\n")
    assert {v.split("\t")[1]: int(v.split("\t")[0], 16) for v in versions if v} == {
        i["name"]: int(i["crc"], 16) for i in peermem["imports"]}
    ofed = files[LIB + "/extra/mlnx-ofa_kernel/drivers/infiniband/core/ib_core.ko"]
    assert ofed["exports"] == [{"name": s, "crc": "0x%x" % c} for s, c in CLIENT]
    assert ofed["imports"] == []


@needs_gcc
def test_kernel_without_symbol_versions(tmp_path):
    root = make(tmp_path / "t", RUNNING)
    build(root + LIB + "/extra/nvidia-peermem.ko", PEERMEM, imports=CLIENT, versions=False)
    build(root + LIB + "/extra/ib_core.ko", [("name", "ib_core")], exports=[(CLIENT[0][0], 0)])
    files = by(observe(root)["modules"]["files"], "file_name")
    assert files["nvidia_peermem"]["imports"] == [{"name": s, "crc": None} for s, _ in CLIENT]
    assert files["ib_core"]["exports"] == [{"name": CLIENT[0][0], "crc": None}]


@needs_gcc
def test_stub_imports_nothing(tmp_path):
    root = make(tmp_path / "t", RUNNING)
    build(root + LIB + "/extra/nvidia-peermem.ko",
          [(k, "" if k == "depends" else v) for k, v in PEERMEM])
    item = observe(root)["modules"]["files"][0]
    assert item["depends"] == [] and item["imports"] == [] and item["signer"] is None


@needs_gcc
@pytest.mark.parametrize("tool,suffix", [("xz", ".xz"), ("zstd", ".zst"), ("gzip", ".gz")])
def test_compressed(tmp_path, tool, suffix):
    root = make(tmp_path / "t", RUNNING)
    path = root + LIB + "/updates/dkms/nvidia.ko"
    build(path, NVIDIA, exports=P2P, size=1 << 20)
    plain = dict(observe(root)["modules"]["files"][0])
    packed = compress(path, tool, suffix)
    facts = observe(root)
    item = facts["modules"]["files"][0]
    assert root + item["path"] == packed
    if gaps(facts).get(item["path"]) in ("EOPNOTSUPP", "ENOSYS"):
        pytest.skip("this libkmod cannot read " + suffix)
    del plain["path"], item["path"]
    assert item == plain


@needs_gcc
def test_file_that_depmod_has_not_seen(tmp_path):
    root = make(tmp_path / "t", dict(RUNNING, **{LIB + "/modules.dep": "kernel/fs/ext4/ext4.ko:\n"}))
    for place in ("/updates/dkms/nvidia.ko", "/extra/nvidia/nvidia-uvm.ko", "/misc/gdrdrv.ko",
                  "/kernel/drivers/video/nvidia.ko", "/kernel/nvidia-580/nvidia.ko",
                  "/nvidia-570/nvidia.ko", "/weak-updates/nvidia/nvidia-peermem.ko",
                  "/kernel/drivers/gpu/drm/nouveau/nouveau.ko",
                  "/kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko"):
        build(root + LIB + place, [("name", os.path.basename(place)[:-3].replace("-", "_"))])
    facts = observe(root)
    files = by(facts["modules"]["files"], "path")
    assert len(files) == 9
    assert not any(f["indexed"] for f in files.values())
    assert files[LIB + "/kernel/drivers/gpu/drm/nouveau/nouveau.ko"] == {
        "path": LIB + "/kernel/drivers/gpu/drm/nouveau/nouveau.ko", "name": "nouveau",
        "file_name": "nouveau", "kernel": KERNEL, "indexed": False}


@needs_gcc
def test_distributions_name(tmp_path):
    root = make(tmp_path / "t", RUNNING)
    build(root + LIB + "/updates/dkms/nvidia-current.ko", NVIDIA)
    item = observe(root)["modules"]["files"][0]
    assert (item["name"], item["file_name"]) == ("nvidia", "nvidia_current")


@needs_gcc
def test_other_kernels_briefly(tmp_path):
    root = make(tmp_path / "t", RUNNING)
    build(root + "/lib/modules/6.9.0-next/updates/nvidia.ko", NVIDIA)
    item = observe(root)["modules"]["files"][0]
    assert item == {"path": "/lib/modules/6.9.0-next/updates/nvidia.ko", "name": "nvidia",
                    "file_name": "nvidia", "kernel": "6.9.0-next", "indexed": False,
                    "version": "580.159.04"}


@needs_gcc
def test_large_compressed_file_of_an_old_kernel_is_left_alone(tmp_path):
    root = make(tmp_path / "t", RUNNING)
    path = root + "/lib/modules/5.0.0-old/updates/nvidia.ko"
    build(path, NVIDIA)
    with open(path, "ab") as f:
        f.write(os.urandom(300 << 10))
    packed = compress(path, "zstd", ".zst")
    item = observe(root)["modules"]["files"][0]
    assert root + item["path"] == packed
    assert "version" not in item and item["name"] == "nvidia"
    build(root + "/lib/modules/5.0.0-old/updates/nvidia-uvm.ko", [("name", "nvidia_uvm"),
                                                                  ("version", "1.2")])
    compress(root + "/lib/modules/5.0.0-old/updates/nvidia-uvm.ko", "zstd", ".zst")
    assert by(observe(root)["modules"]["files"], "name")["nvidia_uvm"]["version"] == "1.2"


def test_damaged_file(tmp_path):
    facts = observe(make(tmp_path / "t", dict(RUNNING, **{
        LIB + "/updates/nvidia.ko": b"\x7fELF" + b"\xff" * 100,
        LIB + "/updates/nvidia-uvm.ko": b"",
        LIB + "/updates/gdrdrv.ko.xz": b"\xfd7zXZ\0 not",
        LIB + "/updates/nvidia-odd.ko": b"",
    })))
    files = by(facts["modules"]["files"], "file_name")
    assert "version" not in files["nvidia"] and files["nvidia"]["name"] == "nvidia"
    assert "name" not in files["nvidia_odd"]
    assert list(gaps(facts, "module-files").values()).count("EBADMSG") == 4


def test_link_out_of_the_root(tmp_path):
    make(tmp_path / "outside", {"/nvidia.ko": b"\x7fELF"})
    facts = observe(make(tmp_path / "t", dict(RUNNING, **{
        LIB + "/updates/nvidia.ko": Link("/../../../outside/nvidia.ko")})))
    assert facts["modules"]["files"] == []


def test_link_to_nothing(tmp_path):
    """weak-updates after the kernel that had the module is gone: modprobe would not find it."""
    facts = observe(make(tmp_path, dict(RUNNING, **{
        LIB + "/weak-updates/nvidia.ko": Link("/lib/modules/gone/extra/nvidia.ko")})))
    assert facts["modules"]["files"] == []


def test_no_modules_folder(tmp_path):
    """A copy that lacks it says nothing of the modules."""
    for name, files in (("t", {"/lib/firmware/x": ""}), ("u", {})):
        facts = observe(make(tmp_path / name, dict(RUNNING, **files)))
        assert "files" not in facts.get("modules", {})
    facts = observe(make(tmp_path / "v", dict(RUNNING, **{"/lib/modules/README": ""})))
    assert facts["modules"]["kernels"] == [] and facts["modules"]["files"] == []


def test_usr_lib_where_lib_is_no_link(tmp_path):
    facts = observe(make(tmp_path / "t", dict(RUNNING, **{
        "/lib/firmware/x": "", "/usr" + LIB + "/modules.dep": ""})))
    assert facts["modules"]["kernels"] == [{"release": KERNEL, "indexed": True}]
    facts = observe(make(tmp_path / "u", dict(RUNNING, **{
        "/lib": Link("usr/lib"), "/usr" + LIB + "/modules.dep": ""})))
    assert facts["modules"]["kernels"] == [{"release": KERNEL, "indexed": True}]


def test_modules_dep_is_not_in_a_capture(tmp_path):
    root = make(tmp_path / "t", dict(RUNNING, **{
        LIB + "/modules.dep": "kernel/fs/secret_fs.ko.zst:\nupdates/dkms/nvidia.ko.zst: x\n"
                              "/lib/modules/elsewhere/gdrdrv.ko:\n"}))
    facts = observe(root)
    assert [f["path"] for f in facts["modules"]["files"]] == [
        LIB + "/updates/dkms/nvidia.ko.zst", "/lib/modules/elsewhere/gdrdrv.ko"]
    with open(str(tmp_path / "t.capture")) as f:
        assert "secret_fs" not in f.read()


# ---- at boot ----

def test_at_boot(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/etc/modules-load.d/modules.conf": Link("../modules"),
        "/etc/modules": "# comment\n\n; other\n  nvidia-peermem  \nloop",
        "/etc/modules-load.d/10-ib.conf": "ib_umad\n",
        "/usr/lib/modules-load.d/10-ib.conf": "masked_one\n",
        "/etc/modules-load.d/off.conf": Link("/dev/null"),
        "/usr/lib/modules-load.d/off.conf": "off\n",
        "/run/modules-load.d/20.conf": "nvidia-uvm\n",
        "/etc/modules-load.d/README": "not_this\n",
        "/proc/cmdline": "quiet modules_load=gdrdrv,nvidia-fs\n",
    }))
    assert [(m["name"], m["file"], m["line"]) for m in facts["modules"]["at_boot"]] == [
        ("ib_umad", "/etc/modules-load.d/10-ib.conf", 1),
        ("nvidia_uvm", "/run/modules-load.d/20.conf", 1),
        ("nvidia_peermem", "/etc/modules-load.d/modules.conf", 4),
        ("loop", "/etc/modules-load.d/modules.conf", 5),
        ("gdrdrv", "/proc/cmdline", 1), ("nvidia_fs", "/proc/cmdline", 1)]


def test_at_boot_without_usr_is_unknown(tmp_path):
    facts = observe(make(tmp_path / "t", {"/etc/modules-load.d/a.conf": "nvidia\n"}))
    assert "at_boot" not in facts.get("modules", {})
    assert gaps(facts)["/usr"] == "ENODATA"


def test_this_machine():
    done = run("facts", "modules")
    assert done.returncode == 0, done.stderr
