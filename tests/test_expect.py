# SPDX-License-Identifier: GPL-2.0-or-later
"""nvnodecheck expect, node/expectation, and the table that both go by: what is documented is what is
there, what is printed passes, and what differs is said."""
import json
import os
import re

import pytest

from lib import node, program, textform
from lib.program import run

RULE = "node/expectation"
NODE = "hgx-h100-ib"


def put(scratch, name, config=None, *edits):
    statements = [textform.Statement("test", 1, text) for text in edits]
    if config is not None:
        file = textform.Statement("test", 1, "file /etc/nvnodecheck.conf")
        file.block = ["[expect]"] + config
        statements.append(file)
    scratch.put(node.tree_of(name, statements))
    return scratch.directory


def evaluated(directory, *args):
    """{subject: (verdict, observed)}"""
    result = run("doctor", "--json", "--only", RULE, "--root", directory, *args)
    assert result.status in (0, 1), str(result)
    return {f["subject"]: (f["verdict"], f["observed"]) for f in result.json()["findings"]}


def verdict(directory):
    found = {v for v, _ in evaluated(directory).values()}
    return "fail" if "fail" in found else "unknown" if "unknown" in found else \
        "pass" if found == {"pass"} else found


# ---- the round trip ----

@pytest.mark.parametrize("name", node.names())
def test_what_is_printed_passes(name, stages):
    stage = stages("expect")
    stage.put(node.tree_of(name))
    printed = run("expect", "--root", stage.directory)
    assert printed.status == 0 and printed.err == "", str(printed)
    keys = [line.partition(" = ")[0] for line in printed.out.splitlines()
            if " = " in line and not line.startswith("#")]
    assert len(keys) > 3
    edit = textform.Statement("test", 1, "file /etc/nvnodecheck.conf")
    edit.block = printed.out.splitlines()
    stage.put(node.tree_of(name, [edit]))
    found = evaluated(stage.directory)
    assert {subject: v for subject, (v, _) in found.items()} == {key: "pass" for key in keys}


def test_from_facts_and_capture(node_tree, tmp_path):
    directory = node_tree(NODE)
    wanted = run("expect", "--root", directory).out
    facts, capture = tmp_path / "facts", tmp_path / "capture"
    facts.write_bytes(run("facts", "--root", directory).raw)
    assert run("capture", "--no-redact", "--root", directory, "-o", capture).status == 0
    for file in (facts, capture):
        assert run("expect", "--from", file).out == wanted
    # The copy's own configuration is not what was asked.
    assert run("expect", "--root", directory, "--config", "/x").status == 2


def test_text_and_json_say_the_same(node_tree):
    directory = node_tree(NODE)
    text = dict(line.split(" = ", 1) for line in run("expect", "--root", directory).out.splitlines()
                if " = " in line)
    keys = run("expect", "--json", "--root", directory).json()["keys"]
    assert {k["key"]: k["value"] for k in keys if k["value"] is not None} == text


def test_different_values_are_counted(node_tree):
    text = run("expect", "--root", node_tree(NODE)).out
    assert "port-rate-gbps = 8 x 400, 2 x 100\n" in text
    assert "link-layer = 8 x InfiniBand, 2 x Ethernet\n" in text


def test_facts_cannot_write_lines(node_tree, tmp_path):
    document = run("facts", "--root", node_tree(NODE)).json()
    document["os"]["hostname"] = "x\n[check]\nstrict = yes"
    document["os"]["product"] = "x\nkernel = y"
    document["os"]["mounts"].append({"point": "/a\nkernel", "type": "ext4", "source": "x",
                                     "options": "rw"})
    document["os"]["sysctls"].append({"name": "x\nkernel", "value": "1"})
    file = tmp_path / "facts"
    file.write_text(json.dumps(document))
    lines = run("expect", "--from", file).out.splitlines()
    assert sum(line.startswith("kernel") for line in lines) == 1
    assert not any(line.startswith(("[check]", "strict")) for line in lines)


# ---- how values compare ----

@pytest.mark.parametrize("value, wanted", [
    ("550.90.07", "pass"), ("550", "pass"), ("550.90", "pass"), ("550.*", "pass"), ("55", "fail"),
    ("550.9", "fail"), ("550.90.07.1", "fail"), (">=550", "pass"), (">550", "fail"),
    ("<=550", "pass"), ("<550", "fail"), (">=535 <560", "pass"), (">=560", "fail"),
    ("535..550", "pass"), ("550..580", "pass"), ("560..580", "fail"), ("470..549", "fail"),
    ("=550.90.07", "pass"), ("535.183.01, 550.90.07", "pass"), ("535.183.01, 560.*", "fail"),
])
def test_driver_version(value, wanted, scratch):
    assert verdict(put(scratch, NODE, ["driver-version = " + value])) == wanted


@pytest.mark.parametrize("line, wanted", [
    ("gpu-count = 8", "pass"), ("gpu-count = 7", "fail"), ("gpu-count = >=8", "pass"),
    ("gpu-count = 4..8", "pass"), ("gpu-count = 80", "fail"), ("gpu-count = 4, 8", "pass"),
    ("gpu-model = H100", "pass"), ("gpu-model = H200", "fail"),
    ("gpu-model = H10", "fail"), ("gpu-model = NVIDIA H100 80GB", "pass"),
    ("gpu-model = 8 x H100", "pass"), ("gpu-model = 7 x H100", "fail"),
    ("gpu-vbios = 96.00.89.00.01", "pass"), ("gpu-vbios = 96.00.89", "pass"),
    ("gpu-vbios = 95", "fail"),
    ("driver-flavour = open", "pass"), ("driver-flavour = proprietary", "fail"),
    ("nic-count = 10", "pass"), ("nic-count = 8", "fail"),
    ("nic-firmware = 28.39.1002", "fail"), ("nic-firmware = 28.39, 22.39", "pass"),
    ("nic-firmware = 8 x 28.39, 2 x 22.39", "pass"),
    ("port-rate-gbps = 400", "fail"), ("port-rate-gbps = 400, 100", "pass"),
    ("port-rate-gbps = >=100", "pass"), ("port-rate-gbps = 8 x 400, 2 x 100", "pass"),
    ("port-rate-gbps = 7 x 400, 3 x 100", "fail"),
    ("ports-active = 10", "pass"), ("ports-active = 9", "fail"),
    ("link-layer = InfiniBand", "fail"), ("link-layer = InfiniBand, Ethernet", "pass"),
    ("product = XE9680", "pass"), ("product = R760", "fail"),
    ("kernel = 5.15.0-122-generic", "pass"), ("kernel = 5.15", "pass"),
    ("kernel = 5.15.*-generic", "pass"), ("kernel = 5.15.0-122-lowlatency", "fail"),
    ("kernel = >=5.15 <6", "pass"), ("kernel = 6.8.*", "fail"),
    ("memory-gib = 2000", "pass"), ("memory-gib = 4000", "fail"),
    ("cpus = 224", "pass"), ("cpus = 112", "fail"), ("numa-nodes = 2", "pass"),
    ("numa-nodes = 8", "fail"),
    ("hugepages.2M = 0", "pass"), ("hugepages.2M = >=1024", "fail"), ("hugepages.1G = 0", "pass"),
    ("hugepages.16G = 1", "fail"),
    ("sysctl.kernel.numa_balancing = 0", "pass"), ("sysctl.kernel.numa_balancing = 1", "fail"),
    ("sysctl.kernel.numa_balancing = 00", "fail"),
    ("sysctl.vm.max_map_count = 65530", "fail"),
    ("mount./ = ext4", "pass"), ("mount./ = ext4 rw", "pass"), ("mount./ = ext*", "pass"),
    ("mount./ = ext4 ro", "fail"), ("mount./ = xfs", "fail"), ("mount./scratch = *", "fail"),
    ("mount./ = ext4 from=/dev/nvme0n1p2", "pass"), ("mount./ = ext4 from=/dev/sd*", "fail"),
])
def test_value(line, wanted, scratch):
    assert verdict(put(scratch, NODE, [line])) == wanted


def test_later_lines_stand_over_earlier_ones(scratch):
    assert verdict(put(scratch, NODE, ["gpu-count = 4", "gpu-count = 8"])) == "pass"


@pytest.mark.parametrize("line, said", [
    ("gpu-count = many", "a number"), ("gpu-count = >=", "a number"), ("gpu-count = 1,,2", "a number"),
    ("driver-version = =>570", "a version"), ("driver-version =", "a version"),
    ("memory-gib = >=5", "a number"), ("link-layer = IB", "InfiniBand, Ethernet"),
    ("driver-flavour = free", "open, proprietary"), ("hugepages.2 = 1", "hugepages.2M"),
    ("hugepages.x = 1", "hugepages.2M"), ("mount.scratch = nfs", "mount./PATH"),
    ("sysctl.kernel.hostname = x", "nvnodecheck facts os.sysctls"), ("mount. = x", "unknown key"),
    ("nonsense = 1", "unknown key"), ("gpu-count.x = 1", "unknown key"),
])
def test_wrong_lines(line, said, scratch):
    result = run("--root", put(scratch, NODE, [line]))
    assert result.status == 2, str(result)
    assert "/etc/nvnodecheck.conf:2: " in result.err and said in result.err


# ---- what is not there, and what is not known ----

@pytest.mark.parametrize("line", [
    "port-rate-gbps = 400", "nic-firmware = 28.39.1002", "link-layer = InfiniBand", "nic-count = 8",
    "ports-active = 8", "port-rate-gbps = 8 x 400"])
def test_no_device_is_a_difference(line, scratch):
    """rtx4090-p2p has no RDMA at all."""
    assert verdict(put(scratch, "rtx4090-p2p", [line])) == "fail"


def test_no_gpu_is_a_difference(scratch):
    for line in ("gpu-model = H100", "gpu-vbios = 96", "gpu-count = 8"):
        assert verdict(put(scratch, "no-gpu-server", [line])) == "fail"


def test_all_ports_down_is_a_difference(scratch):
    edits = ["rdma mlx5_%d state=DOWN" % i for i in range(10)]
    found = evaluated(put(scratch, NODE, ["port-rate-gbps = 400"], *edits))
    assert found["port-rate-gbps"] == ("fail", "no RDMA port is active")


def test_one_port_down(scratch):
    directory = put(scratch, NODE, ["ports-active = 10", "port-rate-gbps = 400, 100"],
                    "rdma mlx5_3 state=DOWN")
    found = evaluated(directory)
    assert found["ports-active"] == ("fail", "9") and found["port-rate-gbps"][0] == "pass"


def test_what_differs_is_named(scratch):
    found = evaluated(put(scratch, "hgx-h200-roce", ["port-rate-gbps = 400"], "rdma mlx5_2 rate=200"))
    assert found == {"port-rate-gbps mlx5_2/1": ("fail", "200")}


def test_driver_that_is_not_loaded(scratch):
    """Its version is not there, which differs; the GPUs' models only it would tell."""
    found = evaluated(put(scratch, NODE, ["driver-version = 550", "gpu-model = H100", "gpu-count = 8"],
                       "driver unloaded"))
    assert found["driver-version"][0] == "fail" and found["gpu-count"][0] == "pass"
    assert {v for s, (v, _) in found.items() if s.startswith("gpu-model")} == {"unknown"}


@pytest.mark.parametrize("path, line", [
    ("/sys/kernel/mm", "hugepages.2M = 0"), ("/proc/self/mountinfo", "mount./ = ext4"),
    ("/proc/sys/kernel/numa_balancing", "sysctl.kernel.numa_balancing = 0"),
    ("/proc/sys/kernel/osrelease", "kernel = 5.15"), ("/proc/meminfo", "memory-gib = 1"),
])
def test_what_cannot_be_read_is_unknown(path, line, scratch):
    directory = put(scratch, NODE, [line])
    assert verdict(directory) == "pass"
    directory = put(scratch, NODE, [line], "unreadable " + path)
    result = run("doctor", "--json", "--only", RULE, "--root", directory, user=True)
    assert {f["verdict"] for f in result.json()["findings"]} == {"unknown"}


def test_a_tree_without_a_table_of_mounts(scratch):
    """fstab says what should be mounted, not what is."""
    directory = put(scratch, NODE, ["mount./ = ext4"], "remove /proc/self/mountinfo")
    assert verdict(directory) == "unknown"
    assert run("facts", "os.mounts", "--root", directory).status == 3


# ---- facts ----

def mounts(directory):
    return {m["point"]: m for m in run("facts", "os.mounts", "--root", directory).json()}


def test_mounts(scratch):
    directory = put(scratch, NODE, None,
                    "mount /scratch lustre 10.0.0.1@o2ib:/fs rw,flock",
                    r"mount /with\\040blank nfs4 [fd00::1]:/export ro,vers=4.2",
                    "mount /scratch2 ext4 /dev/sda1 rw", "mount /scratch2 xfs /dev/sdb1 ro",
                    "mount /var/lib/docker/overlay2/x/merged overlay overlay rw")
    found = mounts(directory)
    assert found["/scratch"] == {"point": "/scratch", "type": "lustre",
                                 "source": "10.0.0.1@o2ib:/fs", "options": "rw,relatime,flock"}
    assert found["/with blank"]["options"] == "ro,relatime,vers=4.2"
    # The later one lies on top; it is read-only.
    assert found["/scratch2"]["type"] == "xfs" and found["/scratch2"]["options"] == "ro,relatime"
    assert not any(point.startswith("/var/lib/docker") for point in found)
    text = run("expect", "--root", directory).out
    assert "mount./scratch = lustre rw from=10.0.0.1@o2ib:/fs\n" in text
    assert "mount./scratch2 = xfs ro\n" in text and "with blank" not in text


def test_mounts_of_the_first_process_count_in_a_tree(scratch):
    directory = put(scratch, NODE, None, "mount /scratch lustre x:/fs",
                    "file /proc/1/mountinfo text='20 1 8:1 / / ro - xfs /dev/sda1 rw\\n'")
    found = mounts(directory)
    assert set(found) == {"/"} and found["/"]["options"] == "ro"


@pytest.mark.parametrize("text", ["20 1 8:1 / / ro xfs /dev/sda1 rw", "nonsense", "20 1 8:1 / /"])
def test_mounts_that_are_cut_off_are_unknown(text, scratch):
    directory = put(scratch, NODE, ["mount./ = ext4"], "file /proc/self/mountinfo text='%s'" % text)
    assert verdict(directory) == "unknown"


ROOT_MOUNT = r"20 1 8:1 / / ro - xfs /dev/sda1 rw\n"


@pytest.mark.parametrize("line, verdicts", [
    ("31 1 0:41 / /home/u/m rw - tmpfs  rw", ("pass", "fail")),  # mount("", ...)
    ("31 1 0:41 / /home/u/m rw - fuse.x", ("pass", "unknown")),
    ("31 1 0:41 / / rw - fuse.x", ("unknown", "fail")),
    ("31 1 0:41 / /home/u/m rw shared:4 - lustre x:/fs rw,flock", ("pass", "pass")),
])
def test_a_mount_of_a_user_hides_no_other(line, verdicts, scratch):
    """A line with an empty source, or one that cannot be read, made all mounts unknown."""
    directory = put(scratch, NODE, ["mount./ = xfs", "mount./home/u/m = lustre"],
                    "file /proc/self/mountinfo text='%s%s\\n'" % (ROOT_MOUNT, line))
    found = evaluated(directory)
    assert (found["mount./"][0], found["mount./home/u/m"][0]) == verdicts


def test_thousands_of_mounts_of_users(scratch):
    users = "".join(r"%d 1 0:41 / /home/u/%d rw - fuse.sshfs x: rw,user_id=1001,group_id=0\n" % (i, i) for i in range(100, 1400))
    own = "".join(r"%d 1 0:41 / /data/%d rw - xfs /dev/sdb rw\n" % (i, i) for i in range(2000, 2600))
    directory = put(scratch, NODE, ["mount./ = xfs"], "file /proc/self/mountinfo text='%s%s%s'" % (users, own, ROOT_MOUNT))
    assert verdict(directory) == "pass"
    found = mounts(directory)
    assert len(found) == 1024 and "/data/2599" in found and "/home/u/1100" in found
    directory = put(scratch, NODE, ["mount./ = xfs"], "file /proc/self/mountinfo text='%s%s'" % (ROOT_MOUNT, own * 2 + own.replace("data", "d2")))
    assert verdict(directory) == "unknown"


def test_huge_pages(scratch):
    directory = put(scratch, NODE, None, "hugepages 2048kB 512", "hugepages 1048576kB 16")
    found = run("facts", "os.hugepages", "--root", directory).json()
    assert found == [{"size_bytes": 2 << 20, "pages": 512}, {"size_bytes": 1 << 30, "pages": 16}]
    text = run("expect", "--root", directory).out
    assert "hugepages.2M = 512\n" in text and "hugepages.1G = 16\n" in text


# ---- what is documented is what is there ----

def rows():
    """[(key as documented, help, example)] of the table in src/evaluate/expect.c."""
    with open(os.path.join(program.TOP, "src", "evaluate", "expect.c"), encoding="utf-8") as file:
        table = file.read().partition("const struct expect_key expect_keys[] = {")[2]
    found = re.findall(r'\{ "([^"]+)", EXPECT_\w+, (?:NULL|"[^"]*"),\s+"([^"]*)",\s+"([^"]*)",\s+'
                       r'"([^"]*)",', table)
    assert len(found) == table.count("EXPECT_")
    return [(key, text, example) for key, example, _, text in found]


def settings_rows():
    with open(os.path.join(program.TOP, "src", "evaluate", "settings.c"), encoding="utf-8") as file:
        table = file.read().partition("settings_keys[] = {")[2].partition("{ 0 }")[0]
    return re.findall(r'\{ "(\w+)", "([\w-]+)", "[^"]*", (?:NULL|"[^"]*"),\s+"([^"]*)" \}', table)


def example():
    with open(os.path.join(program.TOP, "nvnodecheck.conf.example"), encoding="utf-8") as file:
        return file.read()


def manual():
    """{section: [(key, text)]}, without macros."""
    with open(os.path.join(program.TOP, "man", "nvnodecheck.conf.5"), encoding="utf-8") as file:
        text = file.read()
    found = {}
    for name, section in re.findall(r"^\.Ss \[(\w+)[^]]*\]\n(.*?)(?=^\.S[sh] )", text, re.M | re.S):
        entries = section.partition(".Bl ")[2].partition("\n.El")[0]
        for key, body in re.findall(r"^\.It Cm (.*)\n((?:(?!\.It).*\n?)*)", entries, re.M):
            key = key.replace(" Ns Ar ", "")
            body = re.sub(r"^\.Ql ", "", body, flags=re.M).replace(" ,\n", ", ").replace(" :\n", ": ")
            found.setdefault(name, []).append((key, " ".join(body.split())))
    return found


def test_example_has_every_expectation():
    section = example().partition("\n[expect]\n")[2]
    wanted = "".join("# %s\n#%s\n" % (text, line) for _, text, line in rows())
    assert section == wanted
    for key, _, line in rows():
        assert line.startswith(key.partition(".")[0])


def test_examples_are_right(scratch):
    lines = [line for _, _, line in rows()]
    assert run("-q", "--root", put(scratch, NODE, lines)).status in (0, 1)


def test_manual_has_every_expectation():
    assert manual()["expect"] == [(key, text) for key, text, _ in rows()]


def test_other_sections_are_documented():
    for section, key, _ in settings_rows():
        assert key in dict(manual()[section])
        assert re.search(r"^#%s = " % key, example(), re.M)
    assert {section for section, _, _ in settings_rows()} == {"check", "limits"}


def test_expect_prints_every_key(node_tree):
    keys = run("expect", "--json", "--root", node_tree(NODE)).json()["keys"]
    printed = {k["row"] for k in keys}
    assert {key for key, _, _ in rows()} - printed <= {"hugepages.SIZE"}
    for k in keys:
        assert dict((key, text) for key, text, _ in rows())[k["row"]] == k["help"]
        assert run("facts", k["reads"], "--root", node_tree(NODE)).status in (0, 3, 4)
