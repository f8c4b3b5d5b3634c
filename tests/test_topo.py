# SPDX-License-Identifier: GPL-2.0-or-later
"""nvnodecheck topo: the tree, the paths, what NICs are for; as text, SVG and JSON."""
import json
import re
import xml.etree.ElementTree

import pytest

from lib import node, program, textform
from lib.program import run

SVG = "{http://www.w3.org/2000/svg}"
DISTANCE = ["PIX", "PXB", "PHB", "NODE", "SYS"]


def put(scratch, name, *edits):
    """The tree of a node with statements added; a statement's block is indented."""
    statements = []
    for number, text in enumerate(edits):
        first, *block = text.split("\n")
        statement = textform.Statement("test", number, first)
        statement.block = block
        statements.append(statement)
    scratch.put(node.tree_of(name, statements))
    return scratch.directory


def topology(directory):
    return run("facts", "topology", "--root", directory).json()


def roles(directory):
    return {nic["bdf"]: nic.get("role") for nic in topology(directory)["nics"]}


def text_of(directory, *args, **env):
    result = run("topo", "--root", directory, *args, env=env)
    assert result.status == 0 and result.err == "", str(result)
    return result.out


# ---- the tree and the paths ----

def items(tree):
    for item in tree:
        yield item
        yield from items(item["children"])


def test_tree_of_an_eight_gpu_node(node_tree):
    document = run("topo", "--json", "--root", node_tree("hgx-h100-ib")).json()
    kinds = [item["kind"] for item in items(document["tree"])]
    assert [kinds.count(k) for k in ("numa-node", "gpu", "nic", "nvswitch", "switch")] == \
        [2, 8, 10, 4, 9]
    drawn = {item["id"] for item in items(document["tree"])}
    # What leads to no GPU, NIC or NVSwitch is left out: VGA, NVMe, the onboard NIC.
    assert not drawn & {"0000:02:00.0", "0000:04:00.0", "0000:03:00.0", "0000:00:1c.0"}
    gpu = next(i for i in items(document["tree"]) if i["id"] == "0000:19:00.0")
    assert gpu["name"] == "GPU0" and gpu["driver"] == "nvidia" and gpu["iommu"] == "identity"
    assert gpu["link"] == {"speed_mts": 32000, "speed_max_mts": 32000, "width": 16, "width_max": 16}
    nic = next(i for i in items(document["tree"]) if i["id"] == "0000:18:00.0")
    assert nic["role"] == "compute" and nic["rdma"] == [{"name": "mlx5_0", "ports": [
        {"port": 1, "state": "ACTIVE", "link_layer": "InfiniBand", "rate_mbps": 400000}]}]


def test_paths_of_an_eight_gpu_node(node_tree):
    found = topology(node_tree("hgx-h100-ib"))
    gpus = {gpu["bdf"]: gpu for gpu in found["gpus"]}
    first = gpus["0000:19:00.0"]
    assert {p["bdf"]: p["class"] for p in first["gpus"]}["0000:db:00.0"] == "SYS"
    nics = {p["bdf"]: p for p in first["nics"]}
    assert nics["0000:18:00.0"] == {"bdf": "0000:18:00.0", "class": "PIX", "ports": 2,
                                    "redirected": False}
    assert nics["0000:3a:00.0"]["class"] == "NODE"
    assert [g["nearest_nic"] for g in found["gpus"]] == [
        "0000:%s:00.0" % b for b in ("18", "3a", "4b", "5c", "9a", "ba", "ca", "da")]


@pytest.mark.parametrize("name", node.names())
def test_paths_are_the_same_both_ways(name, node_tree):
    found = topology(node_tree(name))
    gpus = {gpu["bdf"]: {p["bdf"]: p.get("class") for p in gpu["gpus"]} for gpu in found["gpus"]}
    for a, paths in gpus.items():
        assert set(paths) == set(gpus) - {a}
        for b, kind in paths.items():
            assert gpus[b][a] == kind
    for gpu in found["gpus"]:
        nearest = [p for p in gpu["nics"] if p["bdf"] == gpu.get("nearest_nic")]
        for path in gpu["nics"]:
            assert DISTANCE.index(nearest[0]["class"]) <= DISTANCE.index(path["class"])


def test_redirection_is_seen(scratch):
    directory = put(scratch, "hgx-h100-ib", "pci 0000:17:00.0 acs=SV,RR,CR,UF")
    first, second = topology(directory)["gpus"][:2]
    assert {p["bdf"]: p["redirected"] for p in first["nics"]}["0000:18:00.0"] is True
    assert {p["bdf"]: p["redirected"] for p in second["nics"]}["0000:3a:00.0"] is False
    text = text_of(directory)
    assert "17:00.0▲ ─ 18:00.0" in text and "GPU0   PIX*" in text and "ACS redirects" in text


def test_source_validation_redirects_nothing(scratch):
    directory = put(scratch, "hgx-h100-ib", "pci 0000:17:00.0 acs=SV")
    assert "▲" not in text_of(directory)


def test_acs_that_could_not_be_read_is_unknown(scratch):
    directory = put(scratch, "hgx-h100-ib", "pci 0000:17:00.0 config=64")
    path = topology(directory)["gpus"][0]["nics"][0]
    assert path["class"] == "PIX" and "redirected" not in path


def test_two_switches_are_pxb(scratch):
    directory = put(scratch, "hgx-h100-ib", """pci
\t0000:e7:01.0 spr-port numa=1
\t\te8:00.0 pex890-up
\t\t\te9:00.0 pex890-down
\t\t\t\tea:00.0 pex890-up
\t\t\t\t\teb:00.0 pex890-down
\t\t\t\t\t\tec:00.0 h100-sxm
\t\t\te9:01.0 pex890-down
\t\t\t\ted:00.0 cx7-ib""")
    gpu = next(g for g in topology(directory)["gpus"] if g["bdf"] == "0000:ec:00.0")
    assert {p["bdf"]: p["class"] for p in gpu["nics"]}["0000:ed:00.0"] == "PXB"


# ---- each GPU's own NIC ----

TWO_OF_EACH = """pci
\t0000:e7:01.0 spr-port numa=1
\t\te8:00.0 pex890-up
\t\t\te9:00.0 pex890-down
\t\t\t\tea:00.0 cx7-ib
\t\t\te9:01.0 pex890-down
\t\t\t\teb:00.0 cx7-ib
\t\t\te9:02.0 pex890-down
\t\t\t\tec:00.0 h100-sxm
\t\t\te9:03.0 pex890-down
\t\t\t\ted:00.0 h100-sxm"""


def own(found):
    return {g["bdf"]: (g["nearest_nic"], g["nearest_nics"]) for g in found["gpus"]}


def test_two_gpus_and_two_nics_below_one_switch(scratch):
    """Both NICs are as near to both: each GPU gets one, and the tie is said."""
    directory = put(scratch, "hgx-h100-ib", TWO_OF_EACH)
    both = ["0000:ea:00.0", "0000:eb:00.0"]
    found = own(topology(directory))
    assert found["0000:ec:00.0"] == (both[0], both) and found["0000:ed:00.0"] == (both[1], both)
    text = text_of(directory)
    assert "As near as the own NIC" in text and "GPU8   NIC11" in text and "GPU9   NIC10" in text


def test_more_gpus_than_nics_share_them_evenly(scratch):
    directory = put(scratch, "hgx-h100-ib", TWO_OF_EACH, "pci 0000:eb:00.0 model=h100-sxm")
    found = own(topology(directory))
    assert {found["0000:%s:00.0" % b][0] for b in ("eb", "ec", "ed")} == {"0000:ea:00.0"}


def settings(directory, option="--root"):
    document = run("topo", "--json", option, directory).json()
    return {s["name"]: s["value"] for s in document["settings"]}


def test_settings_for_jobs(node_tree):
    nics = ["mlx5_%d" % i for i in (0, 3, 4, 5, 6, 7, 8, 9)]
    found = settings(node_tree("hgx-h100-ib"))
    assert found == {
        "NCCL_IB_HCA": "=" + ",".join(nics),
        "UCX_NET_DEVICES": ",".join(n + ":1" for n in nics),
        "NVSHMEM_ENABLE_NIC_PE_MAPPING": "1",
        "NVSHMEM_HCA_PE_MAPPING": ",".join(n + ":1:1" for n in nics)}
    assert "export NCCL_IB_HCA==mlx5_0,mlx5_3," in text_of(node_tree("hgx-h100-ib"))


def test_mapping_that_cannot_say_the_pairing(node_facts, tmp_path):
    """NVSHMEM takes NICs in their own order, so a GPU whose NIC is out of it cannot be given that one."""
    document, file = json.loads(node_facts("hgx-h100-ib")), tmp_path / "facts"
    first, second = (d for d in document["rdma"]["devices"] if d["name"] in ("mlx5_0", "mlx5_3"))
    first["bdf"], second["bdf"] = second["bdf"], first["bdf"]
    file.write_text(json.dumps(document))
    found = settings(file, "--from")
    assert found["NCCL_IB_HCA"].startswith("=mlx5_3,mlx5_0,") and "NVSHMEM_HCA_PE_MAPPING" not in found


@pytest.mark.parametrize("name", ["vm-h200-passthrough", "rtx4090-p2p", "broken-everything", "laptop"])
def test_no_settings_where_paths_are_made_up_or_a_gpu_has_no_nic(name, node_tree):
    assert settings(node_tree(name)) == {}


# ---- names ----

def test_gpus_have_the_drivers_numbers(scratch):
    """Their minor numbers, not their place on the bus; what the driver does not have has a letter."""
    directory = put(scratch, "hgx-h100-ib", "pci 0000:19:00.0 driver=vfio-pci")
    names = run("topo", "--json", "--root", directory).json()["names"]
    assert names["GPUa"] == "0000:19:00.0" and names["GPU0"] == "0000:3b:00.0"
    assert "A GPU with a letter has no number" in text_of(directory)


def test_gpus_without_a_driver_are_numbered_by_address(scratch):
    directory = put(scratch, "hgx-h100-ib", "driver unloaded")
    assert run("topo", "--json", "--root", directory).json()["names"]["GPU0"] == "0000:19:00.0"
    assert "numbered in PCI order" in text_of(directory)


# ---- what NICs are for ----

def test_roles_of_an_eight_gpu_node(node_tree):
    found = roles(node_tree("hgx-h100-ib"))
    assert found.pop("0000:29:00.0") == found.pop("0000:29:00.1") == "storage"
    assert set(found.values()) == {"compute"}


def test_management_nic(scratch):
    directory = put(scratch, "hgx-h100-ib", "route default dev=enp41s0f0np0 via=10.20.0.1")
    found = roles(directory)
    assert (found["0000:29:00.0"], found["0000:29:00.1"]) == ("management", "storage")


def test_management_nic_below_bond_and_vlan(scratch):
    directory = put(
        scratch, "hgx-h100-ib", "net bond0", "net bond0.7 addr=10.9.0.1/24",
        "route default dev=bond0.7 via=10.9.0.254",
        "link /sys/class/net/enp41s0f0np0/upper_bond0 ../bond0",
        "link /sys/class/net/bond0/upper_bond0.7 ../bond0.7")
    uppers = run("facts", "net.interfaces[enp41s0f0np0].uppers", "--root", directory).json()
    assert uppers == ["bond0", "bond0.7"]
    found = roles(directory)
    assert (found["0000:29:00.0"], found["0000:29:00.1"]) == ("management", "storage")


def test_one_network_for_everything_is_for_computing(scratch):
    """The default route alone says nothing."""
    directory = put(scratch, "hgx-h200-roce", "route default dev=enp24s0np0 via=10.64.0.1")
    assert set(roles(directory).values()) == {"compute"}


def test_slow_port_of_the_same_model_is_for_computing(scratch):
    directory = put(scratch, "hgx-h200-roce", "rdma mlx5_3 rate=200")
    assert set(roles(directory).values()) == {"compute"}


def test_port_that_nothing_is_plugged_into(scratch):
    """Far from GPUs and down: for nothing. Beside a GPU and down: still that GPU's."""
    directory = put(scratch, "hgx-h100-ib", "rdma mlx5_1 state=DOWN phys=Disabled",
                    "rdma mlx5_0 state=DOWN phys=Polling")
    found = roles(directory)
    assert found["0000:29:00.0"] is None and found["0000:29:00.1"] == "storage"
    assert found["0000:18:00.0"] == "compute"
    assert "mlx5_0 InfiniBand DOWN, Polling, compute" in text_of(directory)


def test_node_without_gpu_has_no_roles(node_tree):
    assert set(roles(node_tree("no-gpu-server")).values()) <= {None}


def test_idle_virtual_functions_are_counted_not_drawn(node_tree, tmp_path):
    document = run("facts", "--root", node_tree("hgx-h100-ib")).json()
    del document["topology"]
    physical = next(d for d in document["pci"]["devices"] if d["bdf"] == "0000:18:00.0")
    physical["virtual_functions"] = 2
    for i in (1, 2):
        bdf = "0000:18:00.%d" % i
        document["pci"]["devices"].append(dict(physical, bdf=bdf, physical_function="0000:18:00.0",
                                               virtual_functions=None))
        document["rdma"]["devices"].append({"name": "mlx5_2%d" % i, "bdf": bdf, "ports": []})
    file = tmp_path / "facts"
    file.write_text(json.dumps(document))
    text = run("topo", "--from", file).out
    assert "ConnectX-7 + 2 VFs" in text and "18:00.1" not in text
    assert "NIC9" in text and "NIC10" not in text


# ---- text ----

def test_text_fits(node_tree):
    for name in node.names():
        for line in text_of(node_tree(name)).splitlines():
            assert line == line.rstrip(), line
            assert len(line) <= 100 or line.startswith("export "), line


def test_ascii_where_the_locale_is_not_utf8(node_tree):
    text = text_of(node_tree("hgx-h100-ib"), LC_ALL="C")
    assert text.isascii() and "|  `- 15:01.0 - 16:00.0" in text
    assert "└─" in text_of(node_tree("hgx-h100-ib"))


def test_matrix_of_many_nics_is_cut(scratch):
    functions = "\n".join("\t\t%02x:00.%d cx6dx-eth" % (0xe8, i) for i in range(8))
    directory = put(scratch, "hgx-h100-ib", "pci\n\t0000:e7:01.0 spr-port numa=1\n" + functions)
    text = text_of(directory)
    assert "NIC17" in text and text.count("own NIC") == 1
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("export "))


def test_no_gpu_and_no_nic(scratch):
    directory = put(scratch, "laptop", "pci 0000:01:00.* remove")
    assert text_of(directory) == "No NVIDIA GPU and no RDMA NIC is on the PCI bus.\n"
    assert "No NVIDIA GPU" in run("topo", "--format", "svg", "--root", directory).out


def test_one_gpu_has_no_matrix(node_tree):
    text = text_of(node_tree("laptop"))
    assert "GPU0" in text and "PIX" not in text and "Paths" not in text


def test_virtual_machine_is_said(node_tree):
    assert "the hypervisor makes up" in text_of(node_tree("vm-h200-passthrough"))
    assert "the hypervisor makes up" not in text_of(node_tree("hgx-h100-ib"))


def test_links_that_are_narrow(scratch):
    directory = put(scratch, "hgx-h100-ib", "pci 0000:19:00.0 link=gen3x8 link-max=gen5x16")
    assert "Gen3 x8 of Gen5 x16" in text_of(directory)


def test_a_link_that_is_not_known_is_not_narrow(node_tree, tmp_path):
    document = run("facts", "--root", node_tree("hgx-h100-ib")).json()
    for device in document["pci"]["devices"]:
        if device.get("link"):
            device["link"].pop("width", None)
    (tmp_path / "facts").write_text(json.dumps(document))
    assert "fewer lanes" not in run("topo", "--from", tmp_path / "facts").out


def test_pci_bus_that_cannot_be_read(scratch):
    directory = put(scratch, "laptop", "remove /sys/bus/pci/devices")
    result = run("topo", "--root", directory)
    assert result.status in (0, 3) and (result.status == 0 or "could not be read" in result.err)
    assert "GPU0" not in result.out


def test_doctor_has_it(node_tree):
    directory = node_tree("hgx-h100-ib")
    assert "own NIC" not in run("doctor", "--root", directory).out
    verbose = run("doctor", "-v", "--root", directory).out
    assert text_of(directory) in verbose


@pytest.mark.parametrize("kind", ["text", "json", "svg"])
@pytest.mark.parametrize("name", ["hgx-h100-ib", "vm-h200-passthrough"])
def test_from_facts_and_capture(kind, name, node_tree, tmp_path):
    directory = node_tree(name)
    wanted = run("topo", "--format", kind, "--root", directory).out
    facts, capture, older = tmp_path / "facts", tmp_path / "capture", tmp_path / "older"
    facts.write_bytes(run("facts", "--root", directory).raw)
    assert run("capture", "--no-redact", "--root", directory, "-o", capture).status == 0
    document = json.loads(facts.read_text())
    del document["topology"]	# facts of a version that had no such section
    older.write_text(json.dumps(document))
    for file in (facts, capture, older):
        assert run("topo", "--format", kind, "--from", file).out == wanted


# ---- SVG ----

@pytest.mark.parametrize("name", node.names())
def test_svg(name, node_tree):
    result = run("topo", "--format", "svg", "--root", node_tree(name))
    assert result.status == 0 and result.err == "", str(result)
    root = xml.etree.ElementTree.fromstring(result.raw)
    assert root.tag == SVG + "svg" and root.get("role") == "img"
    assert root.find(SVG + "title").text and root.find(SVG + "desc").text
    assert root.get("aria-labelledby").split() == [root.find(SVG + t).get("id")
                                                   for t in ("title", "desc")]
    tags = {element.tag.replace(SVG, "") for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "text", "tspan", "path", "g"}
    # Nothing is fetched from anywhere.
    assert not re.search(r"href|url\(|@import|@font-face", result.out)
    assert "screen and (prefers-color-scheme:dark)" in result.out
    width, height = int(root.get("width")), int(root.get("height"))
    for rect in root.iter(SVG + "rect"):
        box = [int(rect.get(k, 0)) for k in ("x", "y", "width", "height")]
        assert box[0] + box[2] <= width and box[1] + box[3] <= height
    seen = " ".join("".join(text.itertext()) for text in root.iter(SVG + "text"))
    for device in run("topo", "--json", "--root", node_tree(name)).json()["names"]:
        assert device in seen


def test_svg_boxes_do_not_overlap(node_tree):
    for name in ("hgx-h100-ib", "grace-gh200-cx8", "b200-hgx", "broken-everything"):
        root = xml.etree.ElementTree.fromstring(
            run("topo", "--format", "svg", "--root", node_tree(name)).raw)
        boxes = [[int(r.get(k)) for k in ("x", "y", "width", "height")]
                 for r in root.iter(SVG + "rect")
                 if r.get("class", "").split(" ")[0] in ("gpu", "nic", "nvs", "bx")]
        for i, (ax, ay, aw, ah) in enumerate(boxes):
            for bx, by, bw, bh in boxes[i + 1:]:
                assert ax + aw <= bx or bx + bw <= ax or ay + ah <= by or by + bh <= ay


def test_svg_marks_what_is_wrong(node_tree):
    """In words, and with a border of its own: dead, without its driver, with fewer lanes than it has."""
    svg = run("topo", "--format", "svg", "--root", node_tree("broken-everything")).out
    for said in ("✕ does not answer", "✕ vfio-pci has it", "✕ fewer lanes than it has", "✕ a port is not active"):
        assert svg.count(said) >= 1, said
    classes = re.findall(r'class="gpu (st\d)"', svg)
    assert [classes.count("st%d" % i) for i in range(4)] == [5, 1, 1, 1]
    assert "✕" not in run("topo", "--format", "svg", "--root", node_tree("hgx-h100-ib")).out


def test_svg_escapes(node_tree, tmp_path):
    document = run("facts", "--root", node_tree("hgx-h100-ib")).json()
    document["os"]["hostname"] = "<script>&\"\u0001"
    document["gpu"]["devices"][0]["model"] = "A<b>&c"
    document["pci"]["devices"][10]["driver"] = "</svg>"
    file = tmp_path / "facts"
    file.write_text(json.dumps(document))
    result = run("topo", "--format", "svg", "--from", file)
    xml.etree.ElementTree.fromstring(result.raw)
    assert "<script>" not in result.out
