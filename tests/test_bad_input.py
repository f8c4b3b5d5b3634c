# SPDX-License-Identifier: GPL-2.0-or-later
"""Input that is not as it should be: a clear message or a gap with a reason, everything else still
evaluated, no crash."""
import contextlib
import json
import os
import stat
import time

import pytest

from lib import node, program, textform
from lib.program import run

NODE = "hgx-h100-ib"
PARAMS = "/proc/driver/nvidia/params"


def edit(verb, block=None):
    statement = textform.Statement("test", 1, verb)
    statement.block = block or []
    return statement


def staged(scratch, *edits, name=NODE):
    scratch.put(node.tree_of(name, [e if isinstance(e, textform.Statement) else edit(e)
                                    for e in edits]))
    return scratch.directory


def gaps(facts, path):
    return [g for g in facts.get("gaps") or [] if g["path"].startswith(path)]


def all_fine(facts):
    """No probe crashed or was ended, whatever it met."""
    bad = [p for p in facts["probes"] if p["state"] in ("failed", "timed-out")]
    assert not bad, (bad, facts.get("gaps"))


# ---- files of the node ----

def test_nul_bytes_in_params(scratch):
    facts = program.facts(staged(scratch, "file %s text='EnableMSI: 1\\nRegi\\x00stry: 2\\nA: 3\\n'"
                                 % PARAMS))
    all_fine(facts)
    names = [p["name"] for p in facts["driver"]["params"]]
    assert "EnableMSI" in names and "A" in names


def test_malformed_params_line(scratch):
    facts = program.facts(staged(scratch, edit("file " + PARAMS, [
        "EnableMSI: 1", "this line is none", 'RegistryDwords: "A=1"'])))
    all_fine(facts)
    assert {"EnableMSI", "RegistryDwords"} <= {p["name"] for p in facts["driver"]["params"]}
    assert "line 2" in gaps(facts, PARAMS)[0]["why"]


@pytest.mark.parametrize("text", [b"", b"\n", b"\0\0", b"\xff\xfe", b"a" * 70000, b":", b'"', b'A: "'],
                         ids=["empty", "newline", "nul", "not-utf8", "long", "colon", "quote", "open"])
def test_strange_files(text, scratch):
    """The same junk in every small file that a probe takes apart."""
    paths = [PARAMS, "/proc/driver/nvidia/version", "/proc/cmdline", "/proc/modules", "/proc/devices",
             "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/mounts", "/etc/os-release",
             "/etc/modprobe.d/nvidia-deepep.conf", "/proc/net/route", "/proc/net/fib_trie",
             "/proc/net/if_inet6", "/proc/self/limits", "/proc/self/environ", "/proc/self/status",
             "/etc/default/grub", "/boot/grub/grub.cfg", "/boot/config-@KERNEL@", "/var/log/dmesg",
             "/lib/modules/@KERNEL@/modules.dep", "/sys/class/infiniband/mlx5_0/ports/1/state",
             "/sys/class/infiniband/mlx5_0/ports/1/rate", "/sys/class/net/eno1/mtu",
             "/sys/bus/pci/devices/0000:19:00.0/class", "/proc/driver/nvidia/gpus/0000:19:00.0/information", "/etc/security/limits.conf",
             "/sys/bus/pci/devices/0000:19:00.0/config", "/var/lib/dpkg/status",
             "/lib/modules/@KERNEL@/updates/dkms/nvidia.ko", "/boot/initrd.img-@KERNEL@",
             "/etc/hosts", "/etc/nsswitch.conf", "/sys/devices/system/node/node0/cpulist"]
    tree = node.copy_of(node.tree_of(NODE))
    for path in paths:
        tree.file(path.replace("@KERNEL@", "5.15.0-122-generic"), text)
    scratch.put(tree)
    directory = scratch.directory
    facts = program.facts(directory)
    all_fine(facts)
    assert facts["os"]["hostname"] == "hgx-ib-21"
    report = program.report(directory, "--profile", "deepep,p2p")
    assert len(report["findings"]) >= len(program.report(directory, "--only", "*/*")["findings"]) / 3


@pytest.mark.parametrize("edit", ["file %s text=nonsense", "sparse %s 100000000", "fifo %s"])
def test_resource_that_is_none(edit, scratch):
    """libpci gives up over one such file: the PCI section is unknown, and the file is named."""
    path = "/sys/bus/pci/devices/0000:19:00.0/resource"
    facts = program.facts(staged(scratch, edit % path))
    assert gaps(facts, path) or "timed-out" not in [p["state"] for p in facts["probes"]]
    assert [p["name"] for p in facts["probes"] if p["state"] in ("failed", "timed-out")] in (
        [], ["pci"])
    assert facts["driver"]["version"] and facts["rdma"]["devices"]


def test_line_without_end(scratch):
    """modprobe.d whose last line has no end still counts."""
    facts = program.facts(staged(scratch, "file /etc/modprobe.d/zz.conf "
                                 "text='options nvidia NVreg_EnableMSI=0'"))
    all_fine(facts)
    options = facts.get("modprobe", {}).get("options") or []
    assert any(o["file"] == "/etc/modprobe.d/zz.conf" for o in options)


def test_endless_quote_and_continuation(scratch):
    facts = program.facts(staged(
        scratch, "file /etc/modprobe.d/zz.conf text='options nvidia NVreg_RegistryDwords=\"A=1\\\\\\n'",
        edit("file /etc/modprobe.d/zzz.conf", ["# comment \\"] * 3000)))
    all_fine(facts)


def test_truncated_image(scratch):
    """What is not seen in an image that ends too early is unknown, never absent."""
    for size in (0, 1, 100, 600, 2500, 3500):
        facts = program.facts(staged(scratch, "truncate /boot/initrd.img-@KERNEL@ %d" % size))
        all_fine(facts)
        for image in facts.get("initramfs", {}).get("images") or []:
            assert image.get("complete") is not True, size
            assert size == 0 or image.get("problem"), size


def test_image_without_trailer(scratch):
    facts = program.facts(staged(scratch, edit("initramfs /boot/initrd.img-@KERNEL@", [
        "early", "module nvme", "no-trailer"])))
    all_fine(facts)
    for image in facts.get("initramfs", {}).get("images") or []:
        assert image.get("complete") is not True


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("count", [30, 40])
def test_nodes_of_many_groups(count, scratch):
    """Those after the 32nd were left out without a word."""
    directory = staged(scratch, edit("file /etc/group", ["root:x:0:"]), edit("file /etc/passwd", ["root:x:0:0:root:/root:/bin/sh"]))
    paths = [directory + "/dev/nvidia%d" % i for i in range(50, 50 + count)]
    for i, path in enumerate(paths):
        os.mknod(path, stat.S_IFCHR, os.makedev(195, 50 + i))
        os.chown(path, 0, 2000 + i)
        os.chmod(path, 0o660)
    facts = program.facts(directory)
    for path in paths:
        os.unlink(path)
    assert len(facts["dev"].get("groups") or []) == (count if count <= 32 else 0)
    assert bool([g for g in gaps(facts, "/dev") if "groups" in g["why"]]) == (count > 32)


@pytest.mark.parametrize("change, verdict", [(None, "unknown"), ("remove", "fail"), ("close", "unknown")])
def test_groups_without_the_order_of_services(change, verdict, scratch):
    """A file that cannot be read may name a directory service, which has more groups."""
    edits = ["param DeviceFileMode = 432", "param DeviceFileGID = 33", edit("file /etc/group", ["root:x:0:"]),
             edit("file /etc/passwd", ["root:x:0:0:root:/root:/bin/sh"])]
    if change != "remove":
        edits.append(edit("file /etc/nsswitch.conf", ["group: files sss" if change is None else "group: files"]))
    directory = staged(scratch, *edits)
    if change == "close":
        os.chmod(directory + "/etc/nsswitch.conf", 0)
    found = run("doctor", "--json", "--only", "dev/group-without-users", "--root", directory, user=True).json()["findings"]
    assert [f["verdict"] for f in found] == [verdict]


def test_configuration_that_cannot_be_listed(scratch):
    """Every expectation can be in it. Without one the node was found well."""
    folder = "/etc/nvnodecheck.conf.d"
    directory = staged(scratch, edit("file %s/x.conf" % folder, ["[expect]", "gpu-count = 9"]))
    assert run("preflight", "--root", directory).status == 1
    os.chmod(directory + folder, 0o700)
    result = run("preflight", "--root", directory, user=True)
    assert result.status == 2 and folder + ": Permission denied" in result.err, str(result)


@pytest.mark.parametrize("path", [
    PARAMS, "/proc/modules", "/etc/modprobe.d/nvidia-deepep.conf", "/etc/os-release",
    "/sys/class/infiniband/mlx5_0/ports/1/state", "/proc/net/route", "/boot/initrd.img-@KERNEL@",
    "/sys/bus/pci/devices/0000:19:00.0/config", "/lib/modules/@KERNEL@/updates/dkms/nvidia.ko",
    "/etc/nvnodecheck.conf.d/x.conf", "/proc/self/environ", "/etc/security/limits.d/rdma.conf"])
def test_fifo(path, scratch):
    """A FIFO where a file belongs is not opened: that would wait for ever."""
    directory = staged(scratch, "fifo " + path)
    facts = program.facts(directory)
    bad = [p for p in facts["probes"] if p["state"] == "timed-out"]
    assert not bad, bad
    result = run("doctor", "--json", "--root", directory)
    assert result.status in (0, 1, 2), str(result)


@pytest.mark.parametrize("path", [
    PARAMS, "/proc/modules", "/etc/modprobe.d/nvidia-deepep.conf", "/proc/self/environ",
    "/sys/class/infiniband/mlx5_0/ports/1/state", "/proc/net/route", "/etc/default/grub",
    "/var/lib/dpkg/status", "/var/log/dmesg", "/proc/driver/nvidia/version"])
def test_large_file(path, scratch):
    """100 MB where a small file belongs: said, not swallowed."""
    facts = program.facts(staged(scratch, "sparse %s 100000000" % path))
    all_fine(facts)


@contextlib.contextmanager
def holes(folder, *paths, begins=None):
    """Makes 2 TiB of each file: BEGINS, or its content where that is None, and then nothing."""
    kept = {}
    try:
        for path in paths:
            with open(folder + path, "rb") as file:
                kept[path] = file.read()
            with open(folder + path, "r+b") as file:
                if begins is not None:
                    file.truncate(0)
                    file.write(begins)
                file.truncate(2 << 40)
        yield
    finally:
        for path, content in kept.items():
            with open(folder + path, "wb") as file:
                file.write(content)


def facts_soon(scratch):
    """Terabytes that take no space cost no time either."""
    start = time.monotonic()
    facts = program.facts(scratch.directory)
    assert time.monotonic() - start < 50
    return facts


COMPRESSED = [b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"]


@pytest.mark.parametrize("begins", [None, b"", b"070701", b"BZh9", b"\x5d\0\0", b"\x02\x21\x4c\x18", *COMPRESSED])
def test_images_of_holes(begins, scratch):
    """The report says why the image was not read."""
    scratch.put(node.tree_of(NODE))
    path = program.facts(scratch.directory)["initramfs"]["images"][0]["path"]
    with holes(scratch.directory, path, begins=begins):
        image = facts_soon(scratch)["initramfs"]["images"][0]
    assert image["complete"] is False and image["problem"], image


@pytest.mark.parametrize("begins", [None, b"", b"\x7fELF\2\1\1", *COMPRESSED])
def test_modules_of_holes(begins, scratch):
    tree = node.tree_of(NODE)
    scratch.put(tree)
    folder = "/usr/lib/modules/%s/updates/dkms/" % tree.text("/proc/sys/kernel/osrelease").strip()
    with holes(scratch.directory, folder + "nvidia.ko", folder + "nvidia-uvm.ko", begins=begins):
        all_fine(facts_soon(scratch))


@pytest.mark.parametrize("path", ["/usr/lib/modules/%s/modules.dep", "/usr/lib/modules/%s/modules.builtin",
                                  "/var/lib/dpkg/status", "/etc/security/limits.conf"])
@pytest.mark.parametrize("begins", [None, b""])
def test_lists_of_holes(path, begins, scratch):
    """Of the files that are read line by line."""
    tree = node.tree_of(NODE)
    scratch.put(tree)
    path = path % tree.text("/proc/sys/kernel/osrelease").strip() if "%" in path else path
    with holes(scratch.directory, path, begins=begins):
        all_fine(facts_soon(scratch))


def test_many_lines_of_modprobe(scratch):
    """What names a GPU or RDMA module is found among 2 MB about others, in memory for what is kept."""
    contents = node.copy_of(node.tree_of(NODE))
    others = "".join("options m%d k=%d\n" % (i, i) for i in range(100000))
    contents.file("/etc/modprobe.d/zz.conf", others + "options nvidia NVreg_EnableMSI=0\n"
                  "install other /sbin/modprobe nvidia\noptions misnamed NVreg_EnableMSI=1\n")
    scratch.put(contents)
    facts = program.facts(scratch.directory)
    all_fine(facts)
    modprobe = facts["modprobe"]
    assert modprobe["complete"] is True
    assert [(o["module"], o["line"]) for o in modprobe["options"] if o["file"].endswith("/zz.conf")] == [
        ("nvidia", 100001), ("misnamed", 100003)]
    assert [i["module"] for i in modprobe["install"]] == ["other"]
    assert [g["error"] for g in gaps(facts, "/etc/modprobe.d")] == ["EFBIG"]
    if not program.is_sanitized():
        result, peak, _ = program.run_measured("facts", "modprobe.complete", "--root", scratch.directory)
        assert result.status == 0 and peak < 10 << 10, (peak, str(result))


@pytest.mark.parametrize("lines", ["options nvidia a=1\n" * 20000, "a\n" * 3000000,
                                   "options nvidia a \\\n" * 20000])
def test_more_modprobe_than_is_kept(lines, scratch):
    contents = node.copy_of(node.tree_of(NODE))
    contents.file("/etc/modprobe.d/zz.conf", lines)
    scratch.put(contents)
    facts = program.facts(scratch.directory)
    all_fine(facts)
    assert facts["modprobe"]["complete"] is False
    assert [g["error"] for g in gaps(facts, "/etc/modprobe.d")] == ["EFBIG"]


def test_folder_for_file_and_file_for_folder(scratch):
    directory = staged(
        scratch, "remove " + PARAMS, "folder " + PARAMS, "remove /etc/modprobe.d",
        "file /etc/modprobe.d", "remove /sys/class/infiniband", "file /sys/class/infiniband",
        "remove /sys/kernel/iommu_groups", "file /sys/kernel/iommu_groups",
        "remove /lib/modules", "file /lib/modules", "remove /proc/net", "file /proc/net")
    facts = program.facts(directory)
    all_fine(facts)
    assert gaps(facts, PARAMS)
    program.report(directory, "--profile", "deepep")


def test_config_space_of_any_length(scratch):
    for size in (0, 1, 63, 64, 128, 255, 256, 257, 1000):
        facts = program.facts(staged(
            scratch, "truncate /sys/bus/pci/devices/0000:19:00.0/config %d" % size,
            "truncate /sys/bus/pci/devices/0000:17:01.0/config %d" % size))
        all_fine(facts)


def test_capabilities_that_lead_round_in_a_circle(scratch):
    """Both chains of capabilities point back to their own beginning."""
    tree = node.copy_of(node.tree_of(NODE))
    path = tree.real("/sys/bus/pci/devices/0000:19:00.0/config")
    config = bytearray(tree.read(path))
    config[0x61] = 0x40
    config[0x148 + 3] = 0x10
    config[0x148 + 2] |= 0x00
    tree.file(path, bytes(config))
    scratch.put(tree)
    facts = program.facts(scratch.directory)
    all_fine(facts)


@pytest.mark.parametrize("entries, known", [(1, True), (2, False)])
def test_resizable_bars_that_are_read_in_part(entries, known, scratch):
    """The second entry does not answer. The first alone is not the whole list."""
    tree = node.copy_of(node.tree_of(NODE))
    path = tree.real("/sys/bus/pci/devices/0000:19:00.0/config")
    config, at = bytearray(tree.read(path)), 0x100
    while config[at:at + 2] != b"\x15\0":
        at = int.from_bytes(config[at:at + 4], "little") >> 20
        assert at
    config[at + 8] = config[at + 8] & 0x1f | entries << 5
    config[at + 12:at + 20] = b"\xff" * 8
    tree.file(path, bytes(config))
    scratch.put(tree)
    device = next(d for d in program.facts(scratch.directory)["pci"]["devices"] if d["bdf"] == "0000:19:00.0")
    assert len(device.get("rebar", [])) == known and ("rebar" in device) == known


def test_vital_product_data_that_is_cut(scratch):
    """A part of it does not say that the function is none of an NVSwitch, nor what kind it is."""
    whole = node.tree_of("b200-hgx")
    path = next(p for p in sorted(whole.entries) if p.endswith("/vpd"))
    bdf, data = path.split("/")[-2], whole.read(path)
    value = data.index(b"SW_MNG")
    for size, said in ((len(data), "SW_MNG"), (len(data) - 1, "SW_MNG"), (value + 4, "unknown"), (value - 8, "unknown"),
                       (3, "unknown"), (0, "unknown")):
        tree = node.copy_of(whole)
        tree.file(path, data[:size])
        scratch.put(tree)
        device = next(d for d in program.facts(scratch.directory)["pci"]["devices"] if d["bdf"] == bdf)
        assert device.get("sub_model", "unknown") == said, size
    tree.file(path, data.replace(b"SMDL", b"NONE"))
    scratch.put(tree)
    device = next(d for d in program.facts(scratch.directory)["pci"]["devices"] if d["bdf"] == bdf)
    assert device["sub_model"] is None


# ---- documents ----

FACTS = '{"format": "nvnodecheck-facts", "format_version": [1, 0], "tool_version": "0"%s}'


@pytest.mark.parametrize("text, said", [
    ("", "it is empty"),
    ("null", ""),
    ("[]", ""),
    ("{}", "format"),
    ("{", ""),
    (FACTS % ", }", ""),
    (FACTS % ', "os": {"hostname": "a",}', ""),
    (FACTS % ', "os": {"hostname": "a", "hostname": "b"}', "the same key twice"),
    (FACTS % ", 'os': {}", "double quotes"),
    (FACTS % ', "os": {"hostname": 7}', "os.hostname: expected a string, found"),
    (FACTS % ', "os": {"cpus": "many"}', "os.cpus"),
    (FACTS % ', "os": {"cpus": -1}', "os.cpus"),
    (FACTS % ', "os": {"cpus": 1.5}', "os.cpus"),
    (FACTS % ', "os": {"cpus": 99999999999999999999999}', "out of range"),
    (FACTS % ', "os": []', "os: expected an object"),
    (FACTS % ', "driver": {"flavour": "closed"}', "driver.flavour"),
    (FACTS % ', "driver": {"params": {}}', "driver.params: expected a list"),
    (FACTS % ', "driver": {"params": [7]}', "driver.params"),
    (FACTS % ', "nonsense": 1', "nonsense: no such fact"),
    (FACTS % "" + " more", ""),
    (FACTS % "" + FACTS % "", ""),
    (FACTS.replace("[1, 0]", "[2, 0]") % "", "version"),
    (FACTS.replace("[1, 0]", "7") % "", "version"),
    (FACTS.replace("nvnodecheck-facts", "nvnodecheck-report") % "", "nvnodecheck-report"),
    (FACTS % (', "os": ' + '{"os": ' * 100 + "1" + "}" * 100), ""),
    (FACTS % ', "os": {"hostname": "\xff"}', ""),
    ("\0" * 100, ""),
])
def test_facts_that_are_none(text, said, tmp_path):
    file = tmp_path / "facts.json"
    file.write_bytes(text.encode("latin-1"))
    for verb in ("doctor", "facts"):
        result = run(verb, "--from", file)
        assert result.status == 4, str(result)
        assert result.out == ""
        assert str(file) in result.err and said in result.err, result.err
        assert result.err.count("\n") == 1


@pytest.mark.parametrize("text, said", [
    ("# A title\n", "1: neither a facts file nor a capture: not a JSON value"),
    ('{"a": 1,\n"b": }', "2: neither a facts file nor a capture: not a JSON value"),
    ("{}", '1: neither a facts file nor a capture: "format" is missing'),
    (FACTS.replace("nvnodecheck-facts", "nvnodecheck-report") % "",
     '1: neither a facts file nor a capture: "format" is "nvnodecheck-report"'),
])
def test_file_of_another_kind(text, said, tmp_path):
    file = tmp_path / "file"
    file.write_text(text)
    assert run("doctor", "--from", file).err == "nvnodecheck: %s:%s\n" % (file, said)


def test_message_has_the_line(tmp_path):
    file = tmp_path / "facts.json"
    file.write_text((FACTS % ',\n"os": {\n"hostname": "a",\n"hostname": "b"}'))
    assert "%s:4: " % file in run("facts", "--from", file).err


def test_later_minor_version(tmp_path):
    """Keys that this program does not know yet are passed over."""
    file = tmp_path / "facts.json"
    file.write_text(FACTS.replace("[1, 0]", "[1, 7]") % ', "os": {"hostname": "a", "moon": "full"}')
    assert run("facts", "os.hostname", "--from", file).out == '"a"\n'


HEADER = '{"format":"nvnodecheck-capture","format_version":[1,0],"tool_version":"0"}\n'


@pytest.mark.parametrize("text, said", [
    (HEADER.replace("[1,0]", "[2,0]"), ":1: "),
    (HEADER + "nonsense\n", ":2: "),
    (HEADER + "{}\n", ":2: not a record of a capture"),
    (HEADER + '{"read":7}\n', ":2: not a record of a capture"),
    (HEADER + '{"read":"/proc/cmdline","text":"a"}\n\n{"read":\n', ":4: "),
    (HEADER + '{"read":"/proc/cmdline","read":"/proc/modules","text":"a"}\n', ":2: the same key twice"),
])
def test_capture_that_is_none(text, said, tmp_path):
    file = tmp_path / "capture"
    file.write_text(text)
    result = run("doctor", "--from", file)
    assert result.status == 4, str(result)
    assert "%s%s" % (file, said) in result.err
    assert result.out == ""


@pytest.mark.parametrize("record", [
    '{"read":"%s"}', '{"read":"%s","text":7}', '{"read":"%s","base64":"!!!"}',
    '{"read":"%s","errno":"ENONSENSE"}', '{"read":"%s","base64":"AA"}',
    '{"read":"%s","text":"\\u0000"}',
])
def test_record_that_says_nothing(record, tmp_path):
    """Such a record leaves its fact unknown; the rest is evaluated."""
    file = tmp_path / "capture"
    file.write_text(HEADER + record % "/proc/driver/nvidia/version" + "\n" +
                    '{"read":"/proc/sys/kernel/hostname","text":"here\\n"}\n')
    facts = run("facts", "--from", file).json()
    assert facts["os"]["hostname"] == "here"
    assert facts.get("driver", {}).get("version") is None
    assert run("doctor", "--json", "--from", file).status in (0, 1)


def passes(report):
    """Answers other than that nothing can be told, but for those about the looking itself."""
    return [f for f in report["findings"] if f["verdict"] not in ("unknown", "not-applicable")
            and not f["rule"].startswith("node/probe-")]


@pytest.mark.parametrize("name", ["../etc/passwd", "..", ".", "", "a/b"])
def test_names_that_no_folder_has(name, node_tree, tmp_path):
    """They would lead out of the folder that the capture says they are in."""
    made = run("capture", "--root", node_tree(NODE), "-o", "-")
    lines = [json.loads(line) for line in made.out.splitlines()]
    listed, = [line for line in lines if line.get("list") == "/dev"]
    listed["names"].append(name)
    file = tmp_path / "node.capture"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts = run("facts", "--from", file).json()
    assert not [n for n in facts["dev"].get("nodes") or [] if "/." in n["path"] or n["path"].count("/") > 4], facts["dev"]
    assert [g["error"] for g in gaps(facts, "/dev") if g["path"] == "/dev"] == ["EBADMSG"]


def test_empty_capture(tmp_path):
    """Nothing was asked: everything is unknown and nothing passes."""
    file = tmp_path / "capture"
    file.write_text(HEADER)
    report = run("doctor", "--json", "--from", file).json()
    assert report["findings"]
    assert not passes(report)


def test_empty_tree(scratch):
    """An empty folder says nothing about any node."""
    scratch.clear()
    report = program.report(scratch.directory, "--profile", "deepep,p2p")
    assert not passes(report)


def test_every_probe_survives_a_capture_cut_anywhere(node_tree, tmp_path):
    whole = run("capture", "--root", node_tree(NODE), "--no-redact", "-o", "-").raw.splitlines(True)
    file = tmp_path / "capture"
    for keep in range(1, len(whole), max(1, len(whole) // 12)):
        file.write_bytes(b"".join(whole[:keep]))
        result = run("doctor", "--json", "--from", file)
        assert result.status in (0, 1), str(result)
        assert not [p for p in result.json()["probes"] if p["state"] == "failed"]
    assert json.loads(whole[0])["format"] == "nvnodecheck-capture"
    assert os.path.exists(file)
