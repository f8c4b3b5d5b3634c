# SPDX-License-Identifier: GPL-2.0-or-later
"""prove, live on a host whose /sys and /proc/driver are those of a node, with stand-ins for the libraries
of NVIDIA and RDMA (tests/standins), which go wrong as STANDIN_FAULTS says."""
import json
import os
import re
import subprocess

import pytest

from lib import program

HERE = os.path.dirname(os.path.abspath(__file__))
PROOFS = os.path.join(HERE, "proofs")
NODE = "hgx-h200-roce"
GPUS = ("0000:19:00.0", "0000:3b:00.0", "0000:4c:00.0")
NICS = ("mlx5_0", "mlx5_1", "mlx5_2")
# Each GPU's own NIC hangs below the same switch.
NEAR = dict(zip(GPUS, NICS))


def compile_library(source, *files, options=()):
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *options,
                    "-o", files[0], os.path.join(HERE, "standins", source)], check=True)
    for other in files[1:]:
        os.link(files[0], other)


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standins")
    compile_library("cuda.c", folder / "libcuda.so.1", folder / "libnvidia-ml.so.1")
    compile_library("rdma.c", folder / "libibverbs.so.1", folder / "libmlx5.so.1",
                    folder / "libgdrapi.so.2",
                    options=["-Wl,--version-script=" + os.path.join(HERE, "standins", "rdma.map")])
    return folder


@pytest.fixture(scope="session")
def prove(libraries, node_tree):
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    tree = node_tree(NODE)
    script = ('mount --bind "$1/sys" /sys; mount --bind "$1/proc/driver" /proc/driver; '
              'shift; exec "$@"')

    def run(faults="", *args, gpus=GPUS[:2], nics=NICS[:2], folder=libraries, mark="/nowhere"):
        env = {"STANDIN_GPUS": ",".join(gpus), "STANDIN_RDMA": ",".join(nics),
               "STANDIN_FAULTS": faults, "STANDIN_MARK": mark, "LD_LIBRARY_PATH": str(folder)}
        return program.run("prove", *args, env=env, wrap=["unshare", "-rm", "sh", "-ec", script, "sh",
                                                       tree])
    return run


@pytest.fixture(scope="session")
def proof(prove):
    """proof(FAULTS): the document of a quick run for DeepEP."""
    made = {}

    def get(faults="", more=(), **where):
        key = (faults, more, repr(where))
        if key not in made:
            result = prove(faults, "--quick", "--json", "--profile", "deepep", *more, **where)
            assert result.status in (0, 1, 3), str(result)
            made[key] = result.json()
            made[key]["status"] = result.status
        return made[key]
    return get


def tries(document, kind):
    return [t for t in document["proof"]["tries"] if t["kind"] == kind]


def outcome(document, kind):
    found = {t.get("works") for t in tries(document, kind)}
    assert len(found) == 1, found
    return found.pop()


def finding(document, rule):
    found = [f for f in document["findings"] if f["rule"] == rule]
    bad = [f for f in found if f["verdict"] != "pass"]
    return (bad or found)[0]


def copy(document, gpus=(0, 1)):
    name = "%s %s" % (GPUS[gpus[0]], GPUS[gpus[1]])
    return [c for c in document["proof"]["copies"] if c["id"] == name][0]


# ---- a node where all is well ----

def test_everything_works(proof):
    well = proof("open,v1")
    for kind in ("doorbell-caller", "doorbell-job", "uar-caller", "uar-job", "stream-v1", "stream-v2",
                 "dmabuf-export", "dmabuf-registration", "peermem-registration", "rdma-write"):
        assert outcome(well, kind) is True, kind
    assert well["status"] == 0 and well["proof"]["stopped"] is None
    assert [g["bdf"] for g in well["proof"]["gpus"]] == list(GPUS[:2])


def test_each_gpu_meets_its_own_nic(proof):
    met = {(t["gpu"], t["device"]) for t in tries(proof(), "dmabuf-registration")}
    assert met == {(gpu, NEAR[gpu]) for gpu in GPUS[:2]}


def test_every_pair_in_both_directions(proof):
    copies = proof("", gpus=GPUS)["proof"]["copies"]
    assert {(c["from"], c["to"]) for c in copies} == {(a, b) for a in GPUS for b in GPUS if a != b}
    assert all(c["bad_bytes"] == 0 and c["bytes"] > 32 << 20 for c in copies)


def test_nothing_else_is_written_than_the_result(prove, tmp_path):
    result = prove("", "--quick", "-o", tmp_path / "proof")
    assert result.out == "" and result.err == ""
    assert os.listdir(tmp_path) == ["proof"]


# ---- the doorbell ----

def test_a_job_is_refused_what_root_is_allowed(proof):
    node = proof()
    assert outcome(node, "doorbell-caller") is True
    assert outcome(node, "doorbell-job") is False
    assert tries(node, "doorbell-job")[0]["error"] == "CUDA_ERROR_NOT_PERMITTED (800)"
    answer = finding(node, "proof/doorbell-mapping")
    assert (answer["verdict"], answer["severity"]) == ("fail", "err")
    assert "with CAP_SYS_ADMIN) it is allowed" in answer["observed"]


def test_it_is_information_where_no_such_job_runs(prove):
    result = prove("", "--quick", "--json", "--profile", "p2p")
    assert finding(result.json(), "proof/doorbell-mapping")["severity"] == "info"
    assert result.status == 0


def test_without_a_doorbell_page_of_the_nic(proof):
    node = proof("no-uar")
    assert outcome(node, "uar-job") is None
    assert outcome(node, "doorbell-job") is False


# ---- stream memory operations ----

def test_the_first_version_alone_is_no_fault(proof):
    node = proof()
    assert {t["error"] for t in tries(node, "stream-v1")} == {"CUDA_ERROR_NOT_SUPPORTED (801)"}
    assert finding(node, "proof/stream-memops")["verdict"] == "pass"


@pytest.mark.parametrize("fault, seen", [("v2-refused", "refused"), ("v2-lost", "was not written"),
                                         ("v2-hangs", "did not finish")])
def test_the_second_version_fails(proof, fault, seen):
    answer = finding(proof(fault, gpus=GPUS[:1]), "proof/stream-memops")
    assert answer["verdict"] == "fail" and seen in answer["observed"]


# ---- copies ----

@pytest.mark.parametrize("damage", ["zeros", "stale"])
def test_a_copy_that_brings_nothing(proof, damage):
    node = proof("%s=0>1" % damage)
    bad = copy(node)
    assert (bad["damage"], bad["first_bad_byte"], bad["bad_bytes"]) == (damage, 0, bad["bytes"])
    assert copy(node, (1, 0))["bad_bytes"] == 0
    answer = finding(node, "proof/peer-copy")
    assert (answer["verdict"], answer["severity"]) == ("fail", "crit")
    assert answer["subject"] == "%s to %s" % GPUS[:2]


def test_a_copy_at_the_wrong_place(proof):
    bad = copy(proof("shift=1>0"), (1, 0))
    assert (bad["damage"], bad["first_bad_byte"]) == ("shifted", 0)


def test_one_wrong_bit(proof):
    bad = copy(proof("flip=0>1"))
    assert bad["bad_bytes"] == 16 and bad["damage"] == "other" and bad["first_bad_byte"] > 0


def test_a_pair_without_peer_access_is_verified_too(proof):
    node = proof("no-access=0>1,zeros=0>1")
    assert copy(node)["access"] is False and copy(node)["damage"] == "zeros"


def test_a_path_at_a_tenth_of_its_worth(proof):
    answer = finding(proof("slow=0>2", gpus=GPUS), "proof/peer-bandwidth")
    assert answer["verdict"] == "fail" and answer["subject"] == "%s to %s" % (GPUS[0], GPUS[2])
    assert "30.0 GB/s" in answer["observed"]


def test_nvlink_is_worth_its_links(proof):
    node = proof("nvlink")
    assert copy(node)["path"] == "NVLink"
    assert copy(node)["wanted_mb_per_s"] == 18 * 26562
    assert finding(node, "proof/peer-bandwidth")["verdict"] == "pass"
    every = ",".join("slow=%d>%d" % (a, b) for a in (0, 1) for b in (0, 1))
    assert finding(proof("nvlink," + every), "proof/peer-bandwidth")["verdict"] == "fail"


@pytest.mark.parametrize("fault, seen", [
    ("copy-hangs", "no answer within 3 s"), ("copy-crashes", "the process was killed (Bus error)"),
    ("copy-fails", "CUDA_ERROR_LAUNCH_FAILED (719)")])
def test_a_copy_that_does_not_end_costs_itself(proof, fault, seen):
    node = proof("%s=0>1" % fault)
    assert copy(node)["error"] == seen and copy(node).get("bad_bytes") is None
    assert copy(node, (1, 0))["bad_bytes"] == 0
    assert outcome(node, "rdma-write") is True
    assert finding(node, "proof/peer-copy")["verdict"] == "fail"
    assert node["proof"]["stopped"] is None


def test_an_error_that_stays_costs_one_pair(proof):
    node = proof("copy-fails=0>1", gpus=GPUS)
    assert {c["id"] for c in node["proof"]["copies"] if c["error"]} == {"%s %s" % GPUS[:2]}


def test_a_library_that_ends_the_process_has_not_finished(proof):
    node = proof("exits=0>1")
    assert copy(node)["error"] == "the library ended the process"
    assert outcome(node, "rdma-write") is True and outcome(node, "doorbell-job") is False


def test_a_gpu_that_is_gone_is_not_taken_for_another(prove, tmp_path):
    node = prove("fewer,copy-crashes=0>1", "--quick", "--json", gpus=GPUS,
                 mark=str(tmp_path / "mark")).json()
    assert "the same GPUs" in node["proof"]["stopped"]
    assert not tries(node, "rdma-write")


def test_without_nvml_no_path_is_taken_for_pci_express(proof):
    node = proof("no-nvml,nvlink", more=("--in-use",))
    assert copy(node).get("path") is None and copy(node)["bad_bytes"] == 0


# ---- GPU memory for the NIC ----

@pytest.mark.parametrize("fault, error", [("dmabuf-eopnotsupp", "EOPNOTSUPP"),
                                          ("dmabuf-eprotonosupport", "EPROTONOSUPPORT"),
                                          ("no-export", "CUDA_ERROR_NOT_SUPPORTED (801)")])
def test_peermem_alone_is_enough(proof, fault, error):
    node = proof(fault)
    assert {t["error"] for t in tries(node, "dmabuf-registration")} == {error}
    assert outcome(node, "peermem-registration") is True
    assert finding(node, "proof/gpu-memory-registration")["verdict"] == "pass"
    assert "peermem" in tries(node, "rdma-write")[0]["seen"]


def test_neither_way(proof):
    node = proof("dmabuf-eopnotsupp,reg-efault")
    answer = finding(node, "proof/gpu-memory-registration")
    assert answer["verdict"] == "fail"
    assert "EOPNOTSUPP" in answer["observed"] and "EFAULT" in answer["observed"]
    assert outcome(node, "rdma-write") is None


def test_a_registration_that_hangs_costs_itself(proof):
    node = proof("dmabuf-hangs", gpus=GPUS[:1], nics=NICS[:1])
    assert "no answer within" in tries(node, "dmabuf-registration")[0]["seen"]
    assert outcome(node, "peermem-registration") is True
    assert outcome(node, "doorbell-job") is False


@pytest.mark.parametrize("fault, seen", [("write-zeros", "(zeros)"), ("write-fails", "EREMOTEIO"),
                                         ("write-hangs", "ETIMEDOUT")])
def test_a_write_that_does_not_arrive(proof, fault, seen):
    node = proof(fault, gpus=GPUS[:1])
    answer = finding(node, "proof/rdma-write")
    assert (answer["verdict"], answer["severity"]) == ("fail", "crit")
    assert seen in answer["observed"]


def test_a_device_that_does_not_reach_itself_accuses_no_gpu(proof):
    assert outcome(proof("no-loopback"), "rdma-write") is None


def test_without_an_active_port(proof):
    assert outcome(proof("port-down"), "rdma-write") is None
    assert finding(proof("port-down"), "proof/rdma-write")["verdict"] == "unknown"


def test_a_device_that_cannot_be_opened(proof):
    node = proof("no-open")
    assert outcome(node, "dmabuf-registration") is None
    assert tries(node, "dmabuf-registration")[0]["error"] == "EACCES"


# ---- gdrcopy ----

@pytest.mark.parametrize("fault, works, seen", [
    ("", True, "arrived undamaged"), ("pin-einval", False, "does not pin"), ("gdr-lost", False, "wrong"),
    ("no-gdrdrv", None, "is the module loaded")])
def test_gdrcopy(proof, fault, works, seen):
    node = proof(fault)
    assert outcome(node, "gdrcopy") is works
    assert seen in tries(node, "gdrcopy")[0]["seen"]


def test_without_gdrcopy_nothing_is_said(prove, libraries, tmp_path):
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        os.link(libraries / name, tmp_path / name)
    node = prove("", "--quick", "--json", "--profile", "deepep", folder=tmp_path).json()
    assert not tries(node, "gdrcopy")
    assert finding(node, "proof/gdrcopy")["verdict"] == "not-applicable"


# ---- nothing to prove with, and refusals ----

@pytest.mark.parametrize("fault, seen", [
    ("no-device", "cuInit: CUDA_ERROR_NO_DEVICE (100)"), ("init-fails", "CUDA_ERROR_UNKNOWN (999)"),
    ("init-crashes", "CUDA could not be started: the process was killed (Segmentation fault)")])
def test_cuda_does_not_start(proof, fault, seen):
    node = proof(fault)
    assert seen in node["proof"]["stopped"] and node["status"] == 3
    assert {f["verdict"] for f in node["findings"]} == {"unknown"}


@pytest.mark.parametrize("fault", [
    "lies-none", "lies-many", "lies-id", "lies-words,no-device", "lies-words,lies-none", "scribbles", "forks"])
@pytest.mark.parametrize("form", ["json", "text"])
def test_a_hostile_libcuda(prove, fault, form):
    """Its words are data: numbers of GPUs, texts without an end, processes that stay, memory that it writes over."""
    result = prove(fault, "--quick", "--timeout", "5", "--format", form)
    assert result.status in (0, 1, 3, 4), str(result)
    assert "\x1b" not in result.out + result.err and "\n# HELP" not in result.out
    if form == "json" and result.status != 4:
        assert len(result.json()["proof"].get("gpus", [])) <= 64


def test_cuda_hangs(prove):
    result = prove("init-hangs", "--quick", "--json", "--timeout", "1")
    assert result.json()["proof"]["stopped"] == "the time limit of the run was reached"
    assert result.status == 3


def test_without_libcuda(prove, libraries, tmp_path):
    os.link(libraries / "libnvidia-ml.so.1", tmp_path / "libnvidia-ml.so.1")
    result = prove("", "--quick", "--json", folder=tmp_path)
    assert "libcuda.so.1" in result.json()["proof"]["stopped"]
    assert result.json()["proof"]["cuda_version"] is None and result.status == 3


def test_a_busy_gpu_is_left_alone(prove):
    result = prove("busy", "--quick")
    assert result.status == 4 and result.out == ""
    assert "GPU 0 is used by process 1" in result.err and "--in-use" in result.err
    assert prove("busy,open", "--quick", "--in-use").status == 0


def test_who_uses_the_gpus_must_be_known(prove):
    result = prove("no-nvml", "--quick")
    assert result.status == 4 and "libnvidia-ml.so.1" in result.err
    assert prove("no-nvml,open", "--quick", "--in-use").status == 0


def test_without_a_driver_nothing_is_tried():
    result = program.run("prove")
    assert result.status == 4 and "is not loaded" in result.err


# ---- the words ----

def test_the_two_settings(prove):
    text = " ".join(prove("", "--quick").out.split())
    assert "PeerMappingOverride needed if jobs" in text
    assert "EnableStreamMemOPs not needed: the second version works" in text
    text = " ".join(prove("open,v1", "--quick").out.split())
    assert "PeerMappingOverride not needed, or set" in text
    assert "both versions work" in text


def test_the_matrix(prove):
    text = prove("zeros=0>1,no-access=1>0,copy-fails=2>0", "--quick", gpus=GPUS).out
    rows = {line.split()[0]: line.split()[2:] for line in text.splitlines()
            if line[2:8] == " 0000:"}
    assert rows == {"0": ["-", "bad", "300.0"], "1": ["300.0*", "-", "300.0"],
                    "2": ["none", "300.0", "-"]}
    assert re.search(r"paths +6 over NODE\n", text)


# ---- doctor --with ----

def doctor(directory, proof, tmp_path, *args):
    file = tmp_path / "proof.json"
    if not isinstance(proof, (str, bytes)):
        proof = json.dumps({k: v for k, v in proof.items() if k != "status"})
    file.write_text(proof)
    return program.run("doctor", "--json", "--root", directory, "--profile", "p2p,deepep", "--with",
                       file, *args)


def answer(result, rule):
    found = [f for f in result.json()["findings"] if f["rule"] == rule]
    assert found, str(result)
    return found[0]


@pytest.fixture
def fitting(proof, node_tree):
    """A proof as if it had been made on the node itself."""
    def make(faults=""):
        document = json.loads(json.dumps(proof(faults)))
        facts = program.facts(node_tree(NODE))
        document["proof"]["boot_id"] = facts["os"]["boot_id"]
        document["proof"]["driver"] = facts["driver"]["version"]
        return document
    return make


def test_a_refusal_outranks_a_setting(fitting, node_tree, tmp_path):
    """The node has PeerMappingOverride=1, and its jobs are refused all the same."""
    said = answer(doctor(node_tree(NODE), fitting(), tmp_path), "driver/peer-mapping-override")
    assert (said["verdict"], said["configured_verdict"]) == ("fail", "pass")
    assert said["proved"] == "without capabilities the mapping is refused"


def test_a_proof_confirms(fitting, node_tree, tmp_path):
    said = answer(doctor(node_tree(NODE), fitting("open"), tmp_path), "driver/peer-mapping-override")
    assert (said["verdict"], said["configured_verdict"]) == ("pass", "pass")


def test_a_contradiction_is_shown(fitting, node_tree, tmp_path):
    file = tmp_path / "proof.json"
    file.write_text(json.dumps({k: v for k, v in fitting().items() if k != "status"}))
    text = program.run("doctor", "--root", node_tree(NODE), "--profile", "deepep", "--with", file).out
    assert 'although the configuration looks right' in " ".join(text.split())


def test_damaged_copies_accuse_the_iommu(fitting, node_tree, tmp_path):
    said = answer(doctor(node_tree(NODE), fitting("zeros=0>1"), tmp_path),
                  "iommu/translation-enabled")
    assert (said["verdict"], said["configured_verdict"]) == ("fail", "pass")


def test_a_proof_of_another_boot_is_refused(proof, node_tree, tmp_path):
    result = doctor(node_tree(NODE), proof(), tmp_path)
    assert result.status == 4 and "another boot" in result.err and result.out == ""


@pytest.mark.parametrize("text, said", [
    ("", ":1: "), ("{", ":1: "), ('{"format": "nvnodecheck-facts"}', "nvnodecheck-proof"),
    ('{"format": "nvnodecheck-proof", "format_version": [1, 0]}', "no \"proof\""),
    ('{"format": "nvnodecheck-proof", "format_version": [1, 0], "proof": {"gpus": 3}}', "gpus"),
    ('{"format": "nvnodecheck-proof", "format_version": [1, 0], "proof": {"copies": [{"damage": '
     '"green"}]}}', "damage")])
def test_a_document_that_is_not_right(node_tree, tmp_path, text, said):
    result = doctor(node_tree(NODE), text, tmp_path)
    assert result.status == 4 and "proof.json" in result.err and said in result.err, str(result)


def test_a_real_proof(tmp_path):
    """Made on four H200s (driver 580.159.04, defaults), read with facts of its own boot."""
    with open(os.path.join(PROOFS, "h200-x4.json")) as f:
        real = json.load(f)
    capture = os.path.join(program.TOP, "nodes", "h200-x8.capture")
    facts = program.run("facts", "--from", capture).json()
    facts["os"]["boot_id"] = real["proof"]["boot_id"]
    (tmp_path / "facts").write_text(json.dumps(facts))
    result = program.run("doctor", "--json", "--from", tmp_path / "facts", "--profile", "deepep",
                         "--with", os.path.join(PROOFS, "h200-x4.json"))
    said = answer(result, "driver/peer-mapping-override")
    assert (said["verdict"], said["configured_verdict"]) == ("fail", "fail")
    assert answer(result, "proof/peer-copy")["observed"] == "12 copies with the right data"
    assert answer(result, "proof/stream-memops")["verdict"] == "pass"
