# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that will not load: no finding and no plan offers a load that would fail; hostile files end in an answer."""
import os
import re
import shutil

import pytest

from lib import plans, program, tree
from lib.rootfs_dict import make, observe

KERNEL = "6.8.0-test"
LIB = "/lib/modules/" + KERNEL
RUNNING = {"/proc/sys/kernel/osrelease": KERNEL + "\n", "/etc/modprobe.d/": "", "/usr/lib/modprobe.d/": ""}

OURS = ("nvidia", "nvidia-uvm", "nvidia-peermem", "mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_umad", "rdma_ucm")
# What keeps all of them from being loaded, as statements.
REASONS = {
    "symbols": "\n".join("ko %s symbols=missing_symbol" % name for name in OURS) + "\nsymvers\n",
    "magic": "\n".join('ko %s vermagic="5.4.0 SMP other "' % name for name in OURS if name[:2] == "nv") + "\n",
    "install": "file /etc/modprobe.d/off.conf\n" + "".join("    install %s /bin/false\n" % name for name in OURS),
    "gone": "\n".join("ko %s gone=yes" % name for name in OURS) + "\n",
}
NOT_LOADED = ("driver unloaded\nunload mlx5_ib rdma_ucm ib_umad ib_uverbs\n"
              "remove /sys/class/infiniband\nfolder /sys/class/infiniband\n")


@pytest.fixture
def stage(place):
    made = tree.Stage(os.path.join(place, "will-load"))
    yield made
    shutil.rmtree(made.directory, ignore_errors=True)


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("name", ["hgx-h100-ib", "h20-roce-deepep"])
def test_nothing_offers_what_would_fail(stage, name, reason):
    directory = plans.put(stage, name, NOT_LOADED + REASONS[reason])
    report = program.run("doctor", "--json", "--root", directory, "--profile", "deepep").json()
    failing = {f["subject"] for f in report["findings"]
               if f["rule"] == "modules/will-not-load" and f["verdict"] == "fail"}
    assert {"nvidia", "nvidia_uvm"} | ({"mlx5_ib"} if reason != "magic" else set()) <= failing
    offered = []
    for finding in report["findings"]:
        text = " ".join(str(finding.get(key) or "") for key in ("remedy", "command"))
        names = re.findall(r"(?:modprobe|[Ll]oad) ((?:nvidia|mlx5|ib_|rdma_)[\w-]*)", text)
        # Without the line that refuses it the module loads.
        if text.startswith("Remove the line "):
            continue
        offered += [(finding["rule"], text) for n in names if n.replace("-", "_") in failing]
    assert not offered
    plan = program.run("fix", "--json", "--root", directory, "--profile", "deepep").json()
    assert not [s for s in plan["steps"] if s["kind"] == "load-module" and s["subject"] in failing]


# ---- hostile files ----

def loads(tmp_path, files):
    return observe(make(tmp_path / "t", {**RUNNING, **files})).get("loads", {})


def test_modules_that_are_none(tmp_path):
    found = loads(tmp_path, {
        LIB + "/modules.dep": "extra/nvidia.ko: extra/nvidia.ko extra/x.ko\nextra/x.ko: extra/nvidia.ko\n"
                              "kernel/a.ko:\n\0\xff: \n:\nkernel/none.ko: kernel/none.ko\n",
        LIB + "/extra/nvidia.ko": b"\x7fELF" + bytes(200), LIB + "/extra/x.ko": b"", LIB + "/kernel/a.ko": b"\0" * 64,
        "/usr/src/linux-headers-%s/Module.symvers" % KERNEL: b"0x1\tx\n" * 2000 + b"\0" * 100})
    by_name = {m["name"]: m for m in found["modules"]}
    assert by_name["nvidia"]["needs"] == ["nvidia", "x"]
    assert "unchecked" not in by_name["nvidia"]
    assert found["symbols"] is None


def test_modules_dep_that_is_endless(tmp_path):
    text = "".join("kernel/m%d.ko: kernel/m%d.ko\n" % (i, i + 1) for i in range(60000))
    found = loads(tmp_path, {LIB + "/modules.dep": text + "extra/nvidia.ko:" + " kernel/m1.ko" * 20000 + "\n"})
    assert [m["name"] for m in found["modules"]][0] == "m1"


def test_install_lines_that_lead_to_one_another(tmp_path):
    directory = make(tmp_path / "t", {
        **RUNNING, LIB + "/modules.dep": "extra/nvidia.ko:\n", LIB + "/extra/nvidia.ko": b"\x7fELF",
        "/proc/modules": "nvidia 1 0 - Live 0x0\n", "/etc/modules": "",
        "/etc/modprobe.d/a.conf": "install nvidia modprobe a; modprobe b\ninstall a modprobe b; modprobe nvidia\n"
                                  "install b modprobe a && modprobe nvidia\nalias b a\nalias a b\n"})
    result = program.run("doctor", "--json", "--root", str(directory))
    assert result.status in (0, 1), str(result)
