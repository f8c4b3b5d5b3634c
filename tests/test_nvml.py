# SPDX-License-Identifier: GPL-2.0-or-later
"""--nvml, live on a host whose /sys and /proc/driver are those of a node, with a stand-in for NVIDIA's library
(tests/standins/nvml.c), which goes wrong as STANDIN_FAULTS says. It lies where the driver's installers put it."""
import json
import os
import re
import subprocess
import sys

import pytest

from lib import nvml, program

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = "hgx-h200-roce"
VERSION = "570.124.06"
GPUS = ["0000:%s:00.0" % bus for bus in ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")]
FIRST = GPUS[0]
PLACE = "/usr/local/nvidia/lib64"
SCRIPT = """
mount --bind "$1/sys" /sys
mount --bind "$1/proc/driver" /proc/driver
mount --bind "$2/refcnt" /sys/module/nvidia/refcnt
mount -t tmpfs none /usr/local
mkdir -p %s
cp -P "$2"/libnvidia-ml.so.* %s
shift 2
exec "$@"
""" % (PLACE, PLACE)


def compile_library(folder, version=VERSION, options=()):
    path = os.path.join(folder, "libnvidia-ml.so." + version)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *options,
                    "-o", path, os.path.join(HERE, "standins", "nvml.c")], check=True)
    os.symlink(os.path.basename(path), os.path.join(folder, "libnvidia-ml.so.1"))


@pytest.fixture(scope="session")
def places(tmp_path_factory):
    """place(VERSION, OPTIONS, held): a folder with the library and with the module's use count."""
    made = {}

    def place(version=VERSION, options=(), held=True):
        key = (version, tuple(options), held)
        if key not in made:
            folder = tmp_path_factory.mktemp("nvml")
            if version:
                compile_library(folder, version, options)
            else:
                (folder / "libnvidia-ml.so.none").write_text("")
            (folder / "refcnt").write_text("%d\n" % (7 if held else 2))
            made[key] = str(folder)
        return made[key]
    return place


@pytest.fixture(scope="session")
def live(places, node_tree):
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    if b"libnvidia-ml.so.1" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True).stdout:
        pytest.skip("this machine has a driver of its own")
    tree = node_tree(NODE)

    def run(*arguments, faults="", env=None, wrap=(), **place):
        return program.run(*arguments, env={"STANDIN_GPUS": ",".join(GPUS), "STANDIN_FAULTS": faults, **(env or {})},
                           wrap=["unshare", "-rm", "sh", "-ec", SCRIPT, "sh", tree, places(**place), *wrap])
    return run


@pytest.fixture(scope="session")
def facts(live):
    def get(faults="", option="--nvml", **where):
        result = live("facts", option, faults=faults, **where)
        assert result.status == 0, str(result)
        return result.json()
    return get


def gpu(document, bdf=FIRST):
    return next(g for g in document["nvml"]["gpus"] if g["bdf"] == bdf)


def gaps(document):
    return {g["path"]: g["why"] for g in document["gaps"] if g["probe"] == "nvml"}


def test_every_answer_is_a_fact(facts):
    document = facts()
    answers = document["nvml"]
    assert answers["refused"] is None and answers["failures"] == [] and not gaps(document)
    assert answers["library"] == PLACE + "/libnvidia-ml.so.1" and answers["library_version"] == VERSION
    assert [g["bdf"] for g in answers["gpus"]] == GPUS
    first = gpu(document)
    assert first["memory"] == {"total_bytes": 80 << 30, "used_bytes": 2 << 30, "reserved_bytes": 1 << 30,
                               "bar1_total_bytes": 128 << 30, "bar1_used_bytes": 1 << 20}
    assert first["ecc"] == {
        "enabled": True, "pending": True, "corrected_volatile": 0, "uncorrected_volatile": 0,
        "corrected_aggregate": 0, "uncorrected_aggregate": 0, "retirement_pending": None, "pages_corrected": None,
        "pages_uncorrected": None, "sram_threshold_exceeded": False, "unrepairable": False,
        "channel_repair_pending": False, "tpc_repair_pending": False}
    assert first["rows"] == {"correctable": 0, "uncorrectable": 0, "pending": False, "failed": False,
                             "banks_max": 2560, "banks_high": 0, "banks_partial": 0, "banks_low": 0,
                             "banks_none": 0}
    assert len(first["links"]) == 18
    assert first["links"][1] == {"link": 1, "active": True, "version": 6, "remote": "0000:e1:00.0",
                                 "remote_is": "switch", "mb_per_s": 26562, "replays": 0, "recoveries": 0,
                                 "crc_errors": 0, "low_power": False}
    assert first["fabric"] == {"state": "completed", "error": None, "clique": 0,
                               "cluster_uuid": "00000000-0000-0000-0000-000000000000", "health_mask": "0xaa"}
    assert first["clocks"]["reasons"] == "0x1" and first["clocks"]["power_limit_mw"] == 700000
    assert first["clocks"]["margin_c"] == 55 and gpu(facts("thermal"))["clocks"]["margin_c"] == 0
    assert first["pcie"] == {"replays": 0, "generation": 5, "generation_max": 5, "width": 16, "width_max": 16}
    assert [p["bdf"] for p in first["peers"]] == GPUS[1:]
    assert first["peers"][0] == {"bdf": GPUS[1], "read": "ok", "write": "ok", "nvlink": "ok", "atomics": "ok",
                                 "pcie": "ok", "level": "node", "links": 18}
    assert [p["level"] for p in gpu(document, GPUS[5])["peers"]] == ["sys"] * 4 + ["node"] * 3
    assert (first["compute_mode"], first["virtualization"], first["recovery"]) == ("default", "none", "none")
    assert (first["gsp_firmware"], first["mig"], first["persistence"]) == ("1.2.3", False, True)
    assert (first["mig_devices"], first["display_active"], first["accounting"]) == (None, False, False)
    assert [g["numa_affinity"] for g in answers["gpus"]] == ["0"] * 4 + ["1"] * 4 and first["numa_node"] is None
    assert answers["cc"] == {"enabled": False, "dev_tools": False, "environment": "unavailable", "multi_gpu": "none"}
    assert "serial" not in first


def test_serials_only_with_consent(live, facts):
    assert gpu(live("facts", "--nvml", "--serials").json())["serial"] == "1654123000000"
    assert live("facts", "--serials").status == 2
    capture = live("capture", "--nvml", "--serials", "-o", "-")
    assert capture.status == 0 and b"1654123000000" not in capture.raw
    assert b"1654123000000" in live("capture", "--nvml", "--serials", "--no-redact", "-o", "-").raw


def test_mig_devices(facts):
    first = gpu(facts("mig"))
    assert first["mig"] is True
    assert first["mig_devices"] == [
        {"index": n, "gpu_instance": n + 1, "compute_instance": 0, "memory_bytes": 40448 << 20, "multiprocessors": 60,
         "uuid": "MIG-deadbeef-1234-4abc-9def-0123456789%02x" % (100 + n)} for n in range(2)]


def test_retired_pages(facts):
    document = facts("retirement")
    ecc = gpu(document)["ecc"]
    assert (ecc["pages_corrected"], ecc["pages_uncorrected"], ecc["retirement_pending"]) == (3, 2, True)
    assert gpu(document, GPUS[1])["ecc"]["pages_corrected"] == 0


def test_confidential_computing(facts):
    assert facts("cc")["nvml"]["cc"] == {"enabled": True, "dev_tools": False, "environment": "production",
                                         "multi_gpu": "protected-pcie"}
    assert facts("cc-dev-tools")["nvml"]["cc"]["dev_tools"] is True


def test_links_that_sleep_are_up(facts):
    links = gpu(facts("link-asleep"))["links"]
    assert {(link["active"], link["low_power"], link["mb_per_s"]) for link in links} == {(True, True, 26562)}


def test_hidden_ends_of_links(facts):
    """A hypervisor shows all ones for an address. How many links lead to a GPU is known then where they lead to a switch."""
    for faults, count in (("hidden-ends", 18), ("hidden-gpus", None)):
        document = facts(faults)
        first = gpu(document)
        assert all("remote" not in link and link["active"] for link in first["links"]), first["links"]
        assert gaps(document)["nvmlDeviceGetNvLinkRemotePciInfo_v2"] == \
            FIRST + ": the hypervisor hides the other end of the link: its address is all ones"
        assert [peer.get("links") for peer in first["peers"]] == [count] * 7
        assert all(("links" in peer) == bool(count) for peer in first["peers"])


def test_all_gpus_are_asked_at_once(facts):
    """None of them answers before all were asked."""
    document = facts("together")
    assert len(document["nvml"]["gpus"]) == len(GPUS) and document["nvml"]["failures"] == []


def test_only_where_asked(live):
    assert "nvml" not in live("facts").json()
    # Nothing loads the library: it would end the program.
    assert live("doctor", "--json", faults="exit").json()
    assert [p["name"] for p in live("facts").json()["probes"] if p["name"] == "nvml"] == []


def test_idle_gpus_are_left_alone(facts):
    document = facts(held=False)
    assert "no process holds the GPUs" in document["nvml"]["refused"]
    assert "gpus" not in document["nvml"] and "libnvidia-ml.so.1" in gaps(document)
    assert len(facts(option="--nvml=force", held=False)["nvml"]["gpus"]) == len(GPUS)


@pytest.mark.parametrize("where, reason", [
    ({"version": "570.100.01"}, "is of version 570.100.01, the loaded driver of " + VERSION),
    ({"version": None}, "is not installed"),
    ({"faults": "no-init"}, "nvmlInit_v2: NVML_ERROR_LIB_RM_VERSION_MISMATCH (18)"),
])
def test_refused(facts, where, reason):
    document = facts(**where)
    assert reason in document["nvml"]["refused"] and reason in gaps(document)["libnvidia-ml.so.1"]


def test_other_places_do_not_count(facts, places, tmp_path):
    """A library that the caller names, or that lies in the working directory."""
    folder = places(version="570.1.1")
    document = facts(version=None, env={"LD_LIBRARY_PATH": folder, "LD_PRELOAD": ""})
    assert "is not installed" in document["nvml"]["refused"]


@pytest.mark.parametrize("fault", ["hang", "crash", "exit", "crash-late", "spin", "scribble"])
def test_a_bad_library_costs_its_own_facts(live, fault):
    hangs = fault in ("hang", "spin")
    # What ends early has the time of a slow machine.
    document = live("facts", "--nvml", "--timeout", "3" if hangs else "50", faults=fault).json()
    place = "nvml" if fault == "scribble" else PLACE + "/libnvidia-ml.so.1"
    assert "nvml" not in document and list(gaps(document)) == [place]
    assert len(document["pci"]["devices"]) > 8
    probe, = [p for p in document["probes"] if p["name"] == "nvml"]
    assert probe["state"] == ("timed-out" if hangs else "failed")


@pytest.mark.parametrize("fault", ["fork", "vfork", "exec", "write", "unlink", "connect", "unix", "netlink", "packet",
                                   "kill", "trace"])
def test_the_library_is_confined(facts, fault):
    with open("/tmp/standin-nvml-kept", "w", encoding="utf-8"):
        pass
    try:
        assert "NVML_ERROR_NO_PERMISSION (4)" in facts(fault)["nvml"]["refused"]
        assert not os.path.exists("/tmp/standin-nvml")
    finally:
        os.unlink("/tmp/standin-nvml-kept")


def test_the_library_closes_what_it_did_not_open(live):
    """Descriptors of its process, which the parent has too: the parent's stay open, and other facts are there."""
    document = live("facts", "--nvml", "--timeout", "50", faults="close").json()
    assert len(document["pci"]["devices"]) > 8


def test_the_library_may_have_threads(facts):
    assert facts("thread")["nvml"]["refused"] is None


def test_each_error_has_its_reason(facts):
    document = facts("errors")
    assert len(document["nvml"]["gpus"]) == len(GPUS)
    for member, value in gpu(document).items():
        assert member in ("bdf", "index", "peers", "links") or value in ({}, {
            "retirement_pending": None, "pages_corrected": None, "pages_uncorrected": None}), member
    assert "cc" not in document["nvml"]
    why = gaps(document)
    for function in ("nvmlDeviceGetEccMode", "nvmlDeviceGetUUID", "nvmlDeviceGetP2PStatus",
                     "nvmlDeviceGetFieldValues"):
        assert why[function] == FIRST + ": NVML_ERROR_UNKNOWN (999)"


def test_functions_that_are_missing(facts):
    document = facts(options=["-DOLD"])
    first = gpu(document)
    assert first["memory"]["used_bytes"] == 3 << 30 and first["memory"]["reserved_bytes"] is None
    assert first["fabric"]["state"] == "completed" and first["fabric"]["health_mask"] is None
    assert "recovery" not in first and "sram_threshold_exceeded" not in first["ecc"]
    assert len(first["links"]) == 18 and all(link["active"] for link in first["links"])
    assert document["nvml"]["cc"] == {"enabled": False, "dev_tools": False, "environment": "unavailable"}
    assert gaps(document)["nvmlDeviceGetSramEccErrorStatus"] == \
        FIRST + ": this release of the library does not have the function"
    assert gaps(document)["nvmlDeviceGetFieldValues"] == FIRST + ": NVML_ERROR_INVALID_ARGUMENT (2)"


def test_a_part_of_the_gpus(facts):
    document = facts("hidden")
    assert len(document["nvml"]["gpus"]) == 7
    assert gaps(document)["nvmlDeviceGetHandleByIndex_v2"] == \
        GPUS[-1] + ": the driver does not show it to this process"


def test_a_lost_gpu(facts):
    document = facts("lost")
    assert len(document["nvml"]["gpus"]) == 7
    assert "NVML_ERROR_GPU_IS_LOST (15)" in gaps(document)["nvmlDeviceGetHandleByIndex_v2"]


def test_a_capture_has_the_answers(live, facts, tmp_path):
    file = str(tmp_path / "node.capture")
    made = live("capture", "--nvml", "-o", "-")
    assert made.status == 0 and b"deadbeef-1234" not in made.raw
    with open(file, "wb") as out:
        out.write(made.raw)
    again = program.run("facts", "--from", file).json()
    whole = facts()
    for document in (again, whole):
        for one in document["nvml"]["gpus"]:
            del one["uuid"], one["fabric"]["cluster_uuid"]
    assert again["nvml"] == whole["nvml"]


def test_the_configuration_asks(live, tmp_path):
    file = str(tmp_path / "nvnodecheck.conf")
    with open(file, "w", encoding="utf-8") as out:
        out.write("[check]\nnvml = yes\n")
    for verb in ("doctor", "preflight"):
        report = live(verb, "--json", "--config", file, faults="remap-failed").json()
        assert [p["name"] for p in report["probes"]][-1] == "nvml"


def test_preflight_does_not_wait_for_the_driver(live, tmp_path):
    """The driver has three of its five seconds, and what it does not answer drains no node."""
    file = tmp_path / "nvnodecheck.conf"
    file.write_text("[check]\nnvml = yes\n")
    report = live("preflight", "--json", "--only", "gpu/*", "--config", str(file), faults="hang").json()
    assert [p["state"] for p in report["probes"] if p["name"] == "nvml"] == ["timed-out"]
    assert not [f for f in report["findings"] if f["verdict"] in ("fail", "pending")]


@pytest.mark.parametrize("verb, where", [("doctor", ("--root", "/")), ("facts", ("--from", "x"))])
def test_only_live(verb, where):
    result = program.run(verb, "--nvml", *where)
    assert result.status == 2 and "--nvml asks the driver of this machine" in result.err


def test_topo_draws_nvlink(live):
    text = live("topo", "--nvml").out
    row = next(line for line in text.splitlines() if line.startswith("GPU0 ") and "NV18" in line)
    assert row.split()[1:9] == ["X"] + ["NV18"] * 7
    assert "NV and a number: so many NVLinks" in text and "NVLink is not shown" not in text
    assert "NVLink is not shown" in live("topo").out
    assert live("topo", "--nvml", "--format", "svg").out.count(">NV18<") == 56
    document = live("topo", "--nvml", "--json").json()
    assert {"from": FIRST, "to": GPUS[1], "links": 18, "copies": "nvlink"} in document["nvlinks"]
    assert len(document["nvlinks"]) == 56
    assert live("topo", "--json").json()["nvlinks"] is None


def test_topo_says_which_way_a_copy_goes(live):
    without = live("topo", "--nvml", "--json", faults="no-nvlink").json()
    assert {pair["copies"] for pair in without["nvlinks"]} == {"pcie"}
    assert "reports no NVLink" in live("topo", "--nvml", faults="no-nvlink").out
    refused = live("topo", "--nvml", faults="no-nvlink,p2p-2").out
    row = next(line for line in refused.splitlines() if line.startswith("GPU0 ") and " X " in line)
    assert all(cell.endswith("!") for cell in row.split()[2:9])
    assert "!     the driver refuses peer-to-peer: copies go through host memory" in refused
    assert "! the driver refuses" in live("topo", "--nvml", "--format", "svg", faults="p2p-2").out
    document = live("topo", "--nvml", "--json", faults="p2p-2-write").json()
    assert {pair["copies"] for pair in document["nvlinks"]} == {"host-memory"}


def test_expect_has_what_the_driver_says(live, tmp_path):
    lines = live("expect", "--nvml").out.splitlines()
    assert {"gpu-ecc = on", "gpu-mig = off", "gpu-power-limit = 700", "nvlinks-active = 18"} <= set(lines)
    assert not [line for line in live("expect").out.splitlines() if line.startswith("nvlinks-active")]
    file = tmp_path / "nvnodecheck.conf"
    file.write_text("[expect]\ngpu-ecc = on\ngpu-mig = off\ngpu-power-limit = 700\nnvlinks-active = 18\n")
    for faults, options, verdicts in (
            ("", ("--nvml",), {"pass"}), ("", (), {"unknown"}), ("mig", ("--nvml",), {"pass", "fail"}),
            ("link-down", ("--nvml",), {"pass", "fail"}), ("capped", ("--nvml",), {"pass", "fail"}),
            ("ecc-off", ("--nvml",), {"pass", "fail"})):
        report = live("doctor", "--json", "--only", "node/expectation", "--config", str(file), *options,
                      faults=faults).json()
        found = [f for f in report["findings"] if f["rule"] == "node/expectation"]
        assert {f["verdict"] for f in found} == verdicts, (faults, found)
        assert sum(f["verdict"] == "fail" for f in found) == (1 if "fail" in verdicts else 0), found


def test_diff_leaves_out_what_changes_by_itself(live, tmp_path):
    """Two boards that are alike: one is hot, counts and has its own numbers; then with MIG on one GPU."""
    for name, faults in (("a", ""), ("b", "thermal"), ("c", "mig")):
        document = live("facts", "--nvml", "--serials", faults=faults).json()
        for n, one in enumerate(document["nvml"]["gpus"]):
            if name == "b":
                one.update(uuid="GPU-%d" % n, serial="1", memory=dict(one["memory"], used_bytes=n, reserved_bytes=n))
                one["links"][0]["replays"] = 7
        (tmp_path / (name + ".json")).write_text(json.dumps(document))
    one, other, third = (str(tmp_path / (name + ".json")) for name in "abc")
    assert "nvml" not in program.run("diff", one, other).out
    assert "nvml.gpus[%s].mig" % FIRST in program.run("diff", one, third).out


def make_device_nodes(dev):
    """The files of a tree become the device files of a running host, with the numbers of their drivers."""
    majors = {m["name"]: m["major"] for m in dev["majors"]}
    for one in dev["nodes"]:
        name = os.path.basename(one["path"])
        driver = next((d for d in sorted(majors, key=len, reverse=True) if name.startswith(d)), "nvidia-frontend")
        number = re.search("[0-9]+$", name)
        minor = number[0] if number else {"nvidiactl": 255, "nvidia-modeset": 254, "nvidia-uvm-tools": 1}.get(name, 0)
        if "infiniband" in one["path"]:
            driver = "misc" if name == "rdma_cm" else "infiniband_mad" if name.startswith("umad") else "infiniband_verbs"
        one.update(kind="character", major=majors.get(driver, 0), minor=int(minor))


@pytest.mark.parametrize("name", ["hgx-h100-ib", "b200-hgx"])
def test_a_healthy_hgx_has_no_unknown_rule(node_facts, tmp_path, name):
    """Of all rules and profiles, if the kernel log has the levels of its messages, device files have numbers, and libkmod
    and verbs were asked, as on a running host; a tree has none of it."""
    document = json.loads(node_facts(name))
    make_device_nodes(document["dev"])
    document["modules"]["views"] = []
    for device in document["rdma"]["devices"]:
        device["open_error"] = None
    document["nvml"] = nvml.healthy(document)
    document["log"]["unexplained"] = []
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(document))
    for profile in ("base", "base,p2p,gpudirect-rdma"):
        report = program.run("doctor", "--json", "--profile", profile, "--from", str(file)).json()
        assert [f["rule"] for f in report["findings"] if f["verdict"] == "unknown"] == []
        assert report["summary"]["unknown"] == 0


def test_a_healthy_board_has_no_unknown(live):
    """Of the rules about GPUs' own state; the files of this host are not the node's."""
    report = live("doctor", "--nvml", "--json", "--only", "gpu/*").json()
    assert {f["rule"]: f["verdict"] for f in report["findings"] if f["verdict"] == "unknown"} == {}


@pytest.mark.parametrize("fault, rule, verdict", [
    ("remap-pending", "gpu/ecc-pending", "fail"), ("remap-failed", "gpu/ecc-pending", "fail"),
    ("retirement", "gpu/ecc-pending", "fail"), ("channel-repair", "gpu/ecc-pending", "fail"),
    ("tpc-repair", "gpu/ecc-pending", "fail"), ("unrepairable", "gpu/ecc-pending", "fail"), ("sram", "gpu/sram-errors", "fail"), ("uncorrectable", "gpu/ecc-pending", "fail"),
    ("link-down", "gpu/nvlink-inactive", "fail"), ("link-fewer", "gpu/nvlink-inactive", "fail"), ("fabric-progress", "gpu/fabric-incomplete", "fail"),
    ("fabric-error", "gpu/fabric-incomplete", "fail"), ("fabric-degraded", "gpu/fabric-incomplete", "fail"),
    ("reset", "gpu/recovery-needed", "fail"), ("drain", "gpu/recovery-needed", "fail"),
    ("brake", "gpu/hardware-slowdown", "fail"), ("thermal", "gpu/hardware-slowdown", "fail"),
    ("capped", "gpu/power-limit-low", "fail"), ("ecc-off", "gpu/ecc-off", "fail"),
    ("ecc-pending", "gpu/mode-pending", "pending"), ("mig-pending", "gpu/mode-pending", "pending"),
    ("exclusive", "gpu/compute-mode", "fail"), ("exclusive-thread", "gpu/compute-mode", "fail"),
    ("prohibited", "gpu/compute-mode", "fail"), ("mig", "gpu/mig-enabled", "fail"),
    *(("p2p-%d%s" % (status, only), "gpu/p2p-refused", "fail") for status in range(1, 7) for only in ("", "-write")),
])
def test_each_state_has_its_finding(live, fault, rule, verdict):
    report = live("doctor", "--nvml", "--json", "--only", "gpu/*", "--profile", "base,p2p", faults=fault).json()
    bad = {(f["rule"], f["verdict"]) for f in report["findings"] if f["verdict"] in ("fail", "pending")}
    assert bad == {(rule, verdict)}
    assert [f["subject"] for f in report["findings"] if f["verdict"] == verdict][0] == FIRST


def test_diff_takes_this_machine(live, tmp_path):
    file = tmp_path / "before.json"
    file.write_text(live("facts", "--nvml").out)
    assert live("diff", str(file)).status == 2
    same = live("diff", "--nvml", "--json", str(file)).json()
    assert not [f for f in same["facts"] if f["fact"].startswith("nvml")]
    other = live("diff", "--nvml", str(file), faults="ecc-off")
    assert other.status == 1 and "nvml.gpus[%s].ecc.enabled" % FIRST in other.out, str(other)


@pytest.fixture
def check_nvml(live):
    """check_nvml as on a machine with GPUs: the program, the library and nvidia-smi are found by it."""
    def run(smi="", faults=""):
        env = {"PATH": os.path.join(HERE, "standins") + ":" + os.environ["PATH"], "STANDIN_SMI": smi}
        return live(faults=faults, env=env, wrap=[
            sys.executable, os.path.join(HERE, "integration", "check_nvml"), "--pairs", "0"])
    return run


def test_the_check_holds_every_field(check_nvml):
    result = check_nvml()
    assert result.status == 0 and "different: " not in result.out, str(result)
    equal = int(re.search(r"8 GPUs: (\d+) fields equal, 0 different", result.out).group(1))
    # For each GPU: its own fields, three for each link, seven for each peer.
    assert equal > 8 * (40 + 18 * 3 + 7 * 7)


def test_the_check_knows_what_moves_and_what_is_hidden(check_nvml):
    """nvidia-smi opens the GPUs, so the driver reserves more; an address of ones is none."""
    result = check_nvml("1024 MiB=1040 MiB;00000000:E0:00.0=FFFFFFFF:FFFF:FF.0;00000000:E1:00.0=FFFFFFFF:FFFF:FF.0;"
                        "00000000:E2:00.0=FFFFFFFF:FFFF:FF.0;00000000:E3:00.0=FFFFFFFF:FFFF:FF.0", "hidden-ends")
    assert result.status == 0 and "different: " not in result.out, str(result)
    result = check_nvml("1024 MiB=2048 MiB;00000000:E0:00.0=FFFFFFFF:FFFF:FF.0", "")
    assert result.status == 1
    for line in (FIRST + " memory.reserved_bytes: 1073741824, nvidia-smi: 2147483648",
                 FIRST + " links[0].remote: '0000:e0:00.0', nvidia-smi: 'unknown'"):
        assert "different: " + line in result.out, str(result)


DIFFERENCES = {
    "700.00=500.00": FIRST + " clocks.power_limit_mw: 700000, nvidia-smi: 500000",
    "26.562=25.000": FIRST + " links[0].mb_per_s: 26562, nvidia-smi: 25000",
    "Replay Errors: 0=Replay Errors: 3": FIRST + " links[0].replays: 0, nvidia-smi: 3",
    "NV18=NV12": "%s peers[%s].links: 18, nvidia-smi: 12" % (FIRST, GPUS[1]),
    "NODE=PIX": "%s peers[%s].level: 'node', nvidia-smi: 'pix'" % (FIRST, GPUS[1]),
    "OK=TNS": "%s peers[%s].pcie: 'ok', nvidia-smi: 'topology-not-supported'" % (FIRST, GPUS[1]),
    "Full=Degraded": FIRST + " fabric.health_mask bandwidth: 2, nvidia-smi: 1",
}
FAULTS = {
    "link-down": FIRST + " links[5].mb_per_s: None, nvidia-smi: 26562",
    "cc": "system cc.enabled: True, nvidia-smi: False",
    "sram": FIRST + " ecc.sram_threshold_exceeded: True, nvidia-smi: False",
    "mig": FIRST + " mig_devices: [0, 1], nvidia-smi: []",
}


@pytest.mark.parametrize("smi, faults, different", [(";".join(DIFFERENCES), "", DIFFERENCES.values()),
                                                    ("", ",".join(FAULTS), FAULTS.values())])
def test_the_check_finds_what_differs(check_nvml, smi, faults, different):
    result = check_nvml(smi, faults)
    assert result.status == 1 and not [line for line in different if "different: " + line not in result.out], \
        str(result)
