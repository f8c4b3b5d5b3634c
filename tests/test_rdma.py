# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA devices, ports and providers from trees; verbs through a library made for the test."""

import json
import os
import shutil
import subprocess

import pytest

from lib.rootfs import HERE, PROGRAM, facts, link, new_tree, run, write

IB = "sys/class/infiniband"
ZERO = ":".join(["0000"] * 8)
LINK_LOCAL = "fe80:0000:0000:0000:b8e9:2403:00aa:bb00"
MAPPED = "0000:0000:0000:0000:0000:ffff:c000:0207"


def add_port(root, device, port=1, gids=(LINK_LOCAL,), pkeys=("0xffff",), types=None, netdevs=None,
             **values):
    folder = root / IB / device / "ports" / str(port)
    text = {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)",
            "link_layer": "InfiniBand", "lid": "0x1", "sm_lid": "0x1"}
    text.update(values)
    for name, value in text.items():
        if value is not None:
            write(folder / name, value + "\n")
    (folder / "gid_attrs/ndevs").mkdir(parents=True)	# has no file where the kernel would say EINVAL
    for i, gid in enumerate(gids):
        write(folder / "gids" / str(i), gid + "\n")
        if gid != ZERO:
            write(folder / "gid_attrs/types" / str(i), (types or {}).get(i, "IB/RoCE v1") + "\n")
        if netdevs and i in netdevs:
            write(folder / "gid_attrs/ndevs" / str(i), netdevs[i] + "\n")
    for i, pkey in enumerate(pkeys):
        write(folder / "pkeys" / str(i), pkey + "\n")
    return folder


def add_device(root, name="mlx5_0", bdf="0000:1b:00.0", driver="mlx5_core", **values):
    """A device as the kernel shows it: a link into the devices, whose parent is a PCI function."""
    parent = root / "sys/devices/pci0000:1a" / bdf
    folder = parent / "infiniband" / name
    folder.mkdir(parents=True, exist_ok=True)
    link(root / IB / name, "../../devices/pci0000:1a/%s/infiniband/%s" % (bdf, name))
    link(folder / "device", "../../../" + bdf)
    if driver:
        (root / "sys/bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
        link(parent / "driver", "../../../bus/pci/drivers/" + driver)
    text = {"node_type": "1: CA", "node_guid": "b8e9:2403:00aa:bb00", "fw_ver": "28.39.1002",
            "board_id": "MT_0000000838", "hca_type": "MT4129"}
    text.update(values)
    for key, value in text.items():
        if value is not None:
            write(folder / key, value + "\n")
    return folder


def device(root, name="mlx5_0"):
    (root / "sys/class").mkdir(parents=True, exist_ok=True)
    return next(d for d in facts(root, "rdma")["devices"] if d["name"] == name)


def port(root, **values):
    add_device(root)
    add_port(root, "mlx5_0", **values)
    return device(root)["ports"][0]


def gaps(root):
    return {g["path"]: g for g in facts(root, "gaps")}


@pytest.fixture
def root(tmp_path):
    root = new_tree(tmp_path / "root")
    for folder in ("bus/pci/devices", "devices", "kernel/mm", "module"):
        (root / "sys" / folder).mkdir(parents=True)
    return root


def test_a_device(root):
    add_device(root)
    add_port(root, "mlx5_0")
    write(root / "sys/class/infiniband_verbs/abi_version", "6\n")
    write(root / "sys/class/infiniband_verbs/uverbs3/ibdev", "mlx5_0\n")
    found = device(root)
    assert found["bdf"] == "0000:1b:00.0"
    assert found["driver"] == "mlx5_core"
    assert found["node_type"] == "CA"
    assert found["node_guid"] == "b8e9:2403:00aa:bb00"
    assert found["firmware"] == "28.39.1002"
    assert found["board_id"] == "MT_0000000838"
    assert found["hca_type"] == "MT4129"
    assert found["uverbs"] == "uverbs3"
    assert "dmabuf" not in found
    assert found["ports"] == [{
        "port": 1, "state": "ACTIVE", "physical_state": "LinkUp", "link_layer": "InfiniBand",
        "rate_mbps": 400000, "lane_rate": "NDR", "lid": 1, "sm_lid": 1, "traffic_class": None,
        "gids": [{"index": 0, "gid": LINK_LOCAL, "type": "IB/RoCE v1", "netdev": None}],
        "pkeys": ["0xffff"], "counters": None}]


def test_no_devices(root):
    (root / "sys/class").mkdir(parents=True)
    assert "devices" not in facts(root, "rdma")
    assert gaps(root)["/sys/class/infiniband"]["why"] == "not copied into this tree"
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc/modules").write_text("mlx5_core 1 0 - Live 0x0\n")
    rdma = facts(root, "rdma")
    assert rdma["devices"] is None
    assert rdma["netns_mode"] is None
    assert rdma["memory_peers"] is None
    assert rdma["providers"] is None


def test_no_sysfs_is_unknown(root):
    shutil.rmtree(root / "sys")
    assert "devices" not in facts(root, "rdma")
    assert gaps(root)["/sys"]["error"] == "ENODATA"


@pytest.mark.parametrize("text,state", [
    ("0: NOP", "NOP"), ("1: DOWN", "DOWN"), ("2: INIT", "INIT"), ("3: ARMED", "ARMED"),
    ("4: ACTIVE", "ACTIVE"), ("5: ACTIVE_DEFER", "ACTIVE_DEFER")])
def test_states(root, text, state):
    assert port(root, state=text)["state"] == state


@pytest.mark.parametrize("text", ["", "6: UNKNOWN", "ACTIVE", ": ACTIVE", "4:", "-1: DOWN",
                                  "99999999999999999999: DOWN", "4 ACTIVE\0: x"])
def test_a_state_that_is_none(root, text):
    found = port(root, state=text)
    assert "state" not in found
    assert gaps(root)["/sys/class/infiniband/mlx5_0/ports/1/state"]["error"] == "EBADMSG"


@pytest.mark.parametrize("text,mbps,lane", [
    ("400 Gb/sec (4X NDR)", 400000, "NDR"), ("2.5 Gb/sec (1X SDR)", 2500, "SDR"),
    ("5 Gb/sec (1X DDR)", 5000, "DDR"), ("40 Gb/sec (4X FDR10)", 40000, "FDR10"),
    ("56 Gb/sec (4X FDR)", 56000, "FDR"), ("800 Gb/sec (4X XDR)", 800000, "XDR"),
    ("10 Gb/sec (4X)", 10000, None), ("10 Gb/sec", 10000, None)])
def test_rates(root, text, mbps, lane):
    found = port(root, rate=text)
    assert (found["rate_mbps"], found["lane_rate"]) == (mbps, lane)


@pytest.mark.parametrize("text", ["", "fast", "400", "400 Mb/sec", ".5 Gb/sec", "2. Gb/sec",
                                  "2.5.5 Gb/sec", "9999999999 Gb/sec", "0x10 Gb/sec"])
def test_a_rate_that_is_none(root, text):
    assert "rate_mbps" not in port(root, rate=text)
    assert gaps(root)["/sys/class/infiniband/mlx5_0/ports/1/rate"]["error"] == "EBADMSG"


def test_gids_with_holes(root):
    gids = [LINK_LOCAL, ZERO, ZERO, MAPPED, ZERO]
    found = port(root, gids=gids, types={3: "RoCE v2"}, netdevs={3: "eth0"})["gids"]
    assert [g["index"] for g in found] == [0, 3]
    assert found[1] == {"index": 3, "gid": MAPPED, "type": "RoCE v2", "netdev": "eth0"}


def test_gids_end_after_a_run_of_empty_ones(root):
    found = port(root, gids=[LINK_LOCAL] + [ZERO] * 15 + [MAPPED] + [ZERO] * 16 + [LINK_LOCAL])
    assert [g["index"] for g in found["gids"]] == [0, 16]


@pytest.mark.parametrize("gid", ["", "fe80", ZERO + ":0000", ZERO[:-1] + "g", "x" * 40])
def test_gids_that_are_none(root, gid):
    assert port(root, gids=[gid, MAPPED])["gids"][0]["index"] == 1


def test_pkeys(root):
    assert port(root, pkeys=["0xffff", "0x0000", "0x8001"])["pkeys"] == ["0xffff", "0x8001"]


def test_what_is_no_number_is_no_port(root):
    add_device(root)
    add_port(root, "mlx5_0")
    write(root / "sys/class/infiniband/mlx5_0/ports/notes/state", "4: ACTIVE\n")
    write(root / "sys/class/infiniband/mlx5_0/ports/1x/state", "4: ACTIVE\n")
    assert [p["port"] for p in device(root)["ports"]] == [1]


def test_several_ports(root):
    add_device(root)
    add_port(root, "mlx5_0", 1)
    add_port(root, "mlx5_0", 2, state="1: DOWN", phys_state="3: Disabled")
    found = device(root)["ports"]
    assert [(p["port"], p["state"]) for p in found] == [(1, "ACTIVE"), (2, "DOWN")]
    assert found[1]["physical_state"] == "Disabled"


def test_counters_of_errors_only(root):
    add_device(root)
    folder = add_port(root, "mlx5_0")
    for name, value in (("symbol_error", "12"), ("link_downed", "255"), ("port_xmit_data", "1"),
                        ("port_rcv_errors", "N/A (no PMA)")):
        write(folder / "counters" / name, value + "\n")
    assert device(root)["ports"][0]["counters"] == [{"name": "link_downed", "value": 255},
                                                    {"name": "symbol_error", "value": 12}]


def test_a_virtual_function_has_no_counters(root):
    folder = add_device(root)
    write(add_port(root, "mlx5_0") / "counters/symbol_error", "12\n")
    (root / "sys/devices/pci0000:1a/0000:1b:00.1").mkdir()
    link(folder.parent.parent / "physfn", "../0000:1b:00.1")
    assert device(root)["ports"][0]["counters"] is None


def test_a_sub_function_of_mlx5(root):
    """Its parent is an auxiliary device, which stands below the PCI function."""
    parent = root / "sys/devices/pci0000:1a/0000:1b:00.0/mlx5_core.sf.4"
    folder = parent / "infiniband/mlx5_4"
    (folder / "ports").mkdir(parents=True)
    link(folder / "device", "../../../mlx5_core.sf.4")
    link(root / IB / "mlx5_4",
         "../../devices/pci0000:1a/0000:1b:00.0/mlx5_core.sf.4/infiniband/mlx5_4")
    assert device(root, "mlx5_4")["bdf"] == "0000:1b:00.0"


def test_soft_devices(root):
    rxe = root / "sys/devices/virtual/infiniband/mlx5_0"
    write(rxe / "parent", "eth0\n")
    write(rxe / "node_type", "1: CA\n")
    write(rxe / "fw_ver", "\n")
    link(root / IB / "mlx5_0", "../../devices/virtual/infiniband/mlx5_0")
    siw = root / "sys/devices/virtual/infiniband/siw0"
    write(siw / "node_type", "4: RNIC\n")
    write(siw / "node_desc", "Software iWARP stack\n")
    for folder in rxe, siw:
        (folder / "ports").mkdir()
    link(root / IB / "siw0", "../../devices/virtual/infiniband/siw0")
    found = device(root)
    assert (found["bdf"], found["driver"], found["firmware"]) == (None, "rdma_rxe", None)
    found = device(root, "siw0")
    assert (found["bdf"], found["driver"], found["node_type"]) == (None, "siw", "RNIC")


@pytest.mark.parametrize("text,mode", [("Y", "shared"), ("N", "exclusive")])
def test_netns_mode(root, text, mode):
    write(root / "sys/module/ib_core/parameters/netns_mode", text + "\n")
    assert facts(root, "rdma")["netns_mode"] == mode


def test_memory_peers(root):
    (root / "sys/kernel/mm/memory_peers/nv_mem").mkdir(parents=True)
    assert facts(root, "rdma")["memory_peers"] == ["nv_mem"]


# ---- providers ----

@pytest.mark.parametrize("folder", ["usr/lib/x86_64-linux-gnu/libibverbs", "usr/lib64/libibverbs",
                                    "usr/lib/aarch64-linux-gnu/libibverbs"])
def test_a_provider_is_a_line_and_a_library(root, folder):
    write(root / folder / "libmlx5-rdmav34.so")
    write(root / folder / "librxe-rdmav57.so")
    write(root / folder / "libefa-rdmav.so")
    write(root / folder / "lib-rdmav57.so")
    for name, text in (("mlx5.driver", "# comment\n\tdriver  mlx5\n"), ("b", "driver efa\n"),
                       ("rxe.driver", "driver rxe"), ("siw.driver", "driver siw\ndriver\n"), ("none.driver", "driver /%s/lib\n" % folder)):
        write(root / "etc/libibverbs.d" / name, text)
    assert facts(root, "rdma")["providers"] == ["mlx5", "rxe"]


def test_a_provider_by_its_path(root):
    (root / "usr/lib64/libibverbs").mkdir(parents=True)
    write(root / "opt/x/libmlx5-rdmav34.so")
    write(root / "etc/libibverbs.d/x.driver", "driver /opt/x/libmlx5\ndriver /opt/x/libfoo\n")
    assert facts(root, "rdma")["providers"] == ["mlx5"]


def test_libraries_in_no_folder_that_is_known(root):
    write(root / "etc/libibverbs.d/mlx5.driver", "driver mlx5\n")
    assert "providers" not in facts(root).get("rdma", {})
    assert gaps(root)["/etc/libibverbs.d"]["error"] == "ENODATA"


# ---- verbs ----

def test_a_tree_cannot_be_asked(root):
    add_device(root)
    write(root / "sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n")
    add_port(root, "mlx5_0")
    add_device(root, "mlx5_1", bdf="0000:1c:00.0")
    assert gaps(root)["/dev/infiniband"]["why"] == "only a running host can be asked through verbs"
    assert len([p for p in gaps(root) if p.startswith("/dev/infiniband")]) == 2


def build_library(folder, behaviour):
    """A libibverbs that knows one device, mlx5_0. BEHAVIOUR is what registration does."""
    folder.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-D" + behaviour,
                    "-Wl,--version-script=%s" % (HERE / "standins" / "verbs.map"),
                    "-Wl,-soname,libibverbs.so.1", "-o", folder / "libibverbs.so.1",
                    HERE / "standins" / "verbs.c"], check=True)
    return folder


def live(root, library, *args, env={}, **more):
    """The program on the live host, whose /sys is that of a tree, and its /dev where it has one."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    (root / "sys/kernel").mkdir(exist_ok=True)	# without it, nobody mounted sysfs there
    script = ('mount --bind "$1/sys" /sys; if [ -d "$1/dev" ]; then mount --bind "$1/dev" /dev; fi; '
              'if [ -d "$1/run" ]; then mount --bind "$1/run" /run; fi; '
              'shift; exec "$@"')
    # The program's alone: mount, too, has such libraries.
    library = "LD_LIBRARY_PATH=%s" % library
    command = ["unshare", "-rm", "sh", "-ec", script, "sh", root, "env", library, PROGRAM, *args]
    return subprocess.run(command, env=dict(os.environ, **env), capture_output=True, timeout=60, **more)


def ask(root, library):
    done = live(root, library, "facts")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    node = json.loads(done.stdout)
    return node["rdma"]["devices"][0], {g["path"]: g for g in node["gaps"]}


@pytest.fixture
def verbs_root(root):
    add_device(root)
    add_port(root, "mlx5_0")
    write(root / "sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n")
    return root


@pytest.mark.parametrize("error,dmabuf", [("EBADF", True), ("EOPNOTSUPP", False),
                                          ("EPROTONOSUPPORT", False)])
def test_dmabuf(verbs_root, tmp_path, error, dmabuf):
    found, gaps_found = ask(verbs_root, build_library(tmp_path / "lib", "REGISTER=" + error))
    assert found["dmabuf"] is dmabuf
    assert found["offered"] is True
    assert found["ports"][0]["active_mtu_bytes"] == 4096
    assert found["ports"][0]["grh_required"] is True
    assert not any(path.startswith("/dev/infiniband") for path in gaps_found)


def test_a_device_without_a_node_of_ib_uverbs_is_not_asked_about(verbs_root, tmp_path):
    add_device(verbs_root, "mlx5_9", "0000:1c:00.0")
    add_port(verbs_root, "mlx5_9")
    done = live(verbs_root, build_library(tmp_path / "lib", "REGISTER=EBADF"), "facts")
    node = json.loads(done.stdout)
    assert [d.get("dmabuf") for d in node["rdma"]["devices"]] == [True, None]
    assert [g["why"] for g in node["gaps"] if g["path"].startswith("/dev/infiniband")] == [
        "ib_uverbs has no node for one of the devices"]


def test_a_device_that_the_library_does_not_offer(root, tmp_path):
    """Its driver is of another release than the kernel's: the library passes over the device."""
    add_device(root, "bnxt_re0")
    add_port(root, "bnxt_re0")
    write(root / "sys/class/infiniband_verbs/uverbs0/ibdev", "bnxt_re0\n")
    library = build_library(tmp_path / "lib", "REGISTER=EBADF")
    found, gaps_found = ask(root, library)
    assert "offered" not in found	# nor does it offer a device without a node
    assert gaps_found["/dev/infiniband/uverbs0"]["error"] == "ENODEV"
    write(root / "dev/infiniband/uverbs0", "")
    found, gaps_found = ask(root, library)
    assert found["offered"] is False and "dmabuf" not in found
    assert gaps_found["/dev/infiniband/uverbs0"]["error"] == "ENODEV"
    capture = tmp_path / "node.capture"
    assert live(root, library, "capture", "-o", capture).returncode == 0
    assert json.loads(run("facts", "rdma", "--from", capture).stdout)["devices"][0]["offered"] is False


def test_gids_behind_the_run(verbs_root, tmp_path):
    found, _ = ask(verbs_root, build_library(tmp_path / "lib", "REGISTER=EBADF"))
    gids = found["ports"][0]["gids"]
    assert [g["index"] for g in gids] == [0, 40]
    assert gids[1]["gid"] == MAPPED
    assert gids[1]["type"] == "RoCE v2"


def test_registration_fails_for_another_reason(verbs_root, tmp_path):
    found, gaps_found = ask(verbs_root, build_library(tmp_path / "lib", "REGISTER=EPERM"))
    assert "dmabuf" not in found
    assert gaps_found["/dev/infiniband/uverbs0"]["why"] == "could not be asked about DMA-BUF"


def test_the_device_cannot_be_opened(verbs_root, tmp_path):
    found, gaps_found = ask(verbs_root, build_library(tmp_path / "lib", "OPEN=EACCES"))
    assert "dmabuf" not in found and "active_mtu_bytes" not in found["ports"][0]
    assert gaps_found["/dev/infiniband/uverbs0"]["error"] == "EACCES"


def findings(done, rule):
    assert done.stderr == b"", done.stderr.decode()
    report = json.loads(done.stdout)
    return [(f["verdict"], f["subject"], f["observed"]) for f in report["findings"] if f["rule"] == rule]


def report_and_replay(root, library, tmp_path, rule):
    """The rule's findings on the live host, which are those of its capture."""
    asked = ["--json", "--profile", "gpudirect-rdma", "--only", rule]
    capture = tmp_path / "node.capture"
    found = findings(live(root, library, "doctor", *asked), rule)
    assert live(root, library, "capture", "--no-redact", "-o", str(capture)).returncode == 0
    replayed = findings(live(root, library, "doctor", *asked, "--from", str(capture)), rule)
    assert found == replayed
    return found


def test_a_device_that_sysfs_shows_and_verbs_cannot_open(verbs_root, tmp_path):
    library = build_library(tmp_path / "lib", "OPEN=EIO")
    found, _ = ask(verbs_root, library)
    assert found["open_error"] == "EIO"
    assert report_and_replay(verbs_root, library, tmp_path, "rdma/verbs-disagree") == [
        ("fail", "mlx5_0", "sysfs shows the device, and ibv_open_device() fails with EIO")]


def test_verbs_answer_for_the_state_of_a_port(verbs_root, tmp_path):
    library = build_library(tmp_path / "lib", "REGISTER=EBADF")
    found, _ = ask(verbs_root, library)
    assert found["open_error"] is None
    assert found["ports"][0]["state"] == "ACTIVE" and found["ports"][0]["sysfs_state"] is None
    write(verbs_root / "sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n")
    found, _ = ask(verbs_root, library)
    assert found["ports"][0]["state"] == "ACTIVE" and found["ports"][0]["sysfs_state"] == "DOWN"
    assert ("fail", "mlx5_0/1", "verbs: ACTIVE; sysfs: DOWN") in report_and_replay(
        verbs_root, library, tmp_path, "rdma/verbs-disagree")


def test_a_module_that_libkmod_and_proc_tell_otherwise(verbs_root, tmp_path):
    """/proc/modules is this machine's, which has no NVIDIA driver, and /sys has one."""
    if os.path.exists("/sys/module/nvidia"):
        pytest.skip("this machine has the NVIDIA driver")
    library = build_library(tmp_path / "lib", "REGISTER=EBADF")
    assert report_and_replay(verbs_root, library, tmp_path, "modules/views-disagree")[0][0] == "pass"
    write(verbs_root / "sys/module/nvidia/initstate", "live\n")
    write(verbs_root / "sys/module/nvidia/refcnt", "7\n")
    found = report_and_replay(verbs_root, library, tmp_path, "modules/views-disagree")
    assert [(subject, observed) for _, subject, observed in found] == [
        ("nvidia", 'libkmod says "live", /proc/modules says "not loaded"')]


def test_a_library_that_lacks_symbols(verbs_root, tmp_path):
    folder = tmp_path / "lib"
    folder.mkdir()
    subprocess.run(["cc", "-shared", "-o", folder / "libibverbs.so.1", "-x", "c", "/dev/null"],
                   check=True)
    found, gaps_found = ask(verbs_root, folder)
    assert "dmabuf" not in found
    assert gaps_found["/dev/infiniband/uverbs0"]["error"] == "ELIBACC"


def test_a_device_that_hangs_costs_two_seconds(verbs_root, tmp_path):
    library = build_library(tmp_path / "lib", "HANG=1")
    found, gaps_found = ask(verbs_root, library)
    assert found["ports"][0]["state"] == "ACTIVE"
    assert gaps_found["/dev/infiniband/uverbs0"]["error"] == "ETIMEDOUT"


def test_a_capture_has_the_answers(verbs_root, tmp_path):
    library = build_library(tmp_path / "lib", "REGISTER=EBADF")
    capture = tmp_path / "node.capture"
    done = live(verbs_root, library, "capture", "-o", capture, "--no-redact")
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(run("facts", "rdma", "--from", capture).stdout)["devices"][0]
    assert found["dmabuf"] is True
    assert found["ports"][0]["active_mtu_bytes"] == 4096
    assert [g["index"] for g in found["ports"][0]["gids"]] == [0, 40]
