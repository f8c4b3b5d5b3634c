# SPDX-License-Identifier: GPL-2.0-or-later
"""The trees themselves, held against programs that we did not write, and against each other."""
import gzip
import os
import re
import shutil
import subprocess

import pytest

from lib import node, textform
from lib.parts import pci

DESCRIBED = [name for name in node.names() if name not in node.captured()]


def needs(program):
    path = shutil.which(program) or shutil.which(program, path="/sbin:/usr/sbin")
    if not path:
        pytest.skip(program + " is not installed")
    return path


def output(*command, input=None):
    process = subprocess.run(command, input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.returncode == 0, (command, process.stderr)
    return process.stdout.decode("utf-8", "replace")


@pytest.fixture(scope="module", params=DESCRIBED)
def shown(request, stages):
    stage = stages("nodes")
    stage.put(node.tree_of(request.param))
    return request.param, stage.directory


def test_lspci(shown):
    """lspci finds every function, its driver, and nothing that it cannot make out."""
    name, directory = shown
    text = output(needs("lspci"), "-O", "sysfs.path=%s/sys/bus/pci" % directory, "-vvv", "-D")
    model = node.Node(name)
    blocks = text.split("\n\n")
    assert len([b for b in blocks if b.strip()]) == len(model.pci)
    dark = {d["bdf"] for d in model.pci.values() if d["config"] == "ff"}
    for block in blocks:
        if not block.strip() or block.split()[0] in dark:
            continue
        assert not re.search(r"!!!|Null|<chain|<access denied>|broken|Unknown header", block), block
        driver = model.pci[block.split()[0]]["driver"]
        assert ("driver in use: %s" % driver in block) == bool(driver), block


def test_windows_hold_what_is_below(shown):
    """BARs do not overlap, and each lies in the windows of all bridges above it."""
    name, _ = shown
    model = node.Node(name)
    found = pci.addresses(model)
    ranges = sorted((start, start + size, key) for key, (start, size) in found.items()
                    if isinstance(key[1], int))
    for (_, end, one), (start, _, other) in zip(ranges, ranges[1:]):
        assert end <= start, (one, other)
    for (bdf, index), (start, size) in found.items():
        parent = model.pci[bdf]["parent"]
        wide = index == "wide" or (isinstance(index, int) and index < 6 and
                                   model.pci[bdf]["bars"][index][1] == "64p")
        if parent:
            base, length = found[parent, "wide" if wide else "narrow"]
            assert base <= start and start + size <= base + length, (bdf, index)
        assert start % (size if isinstance(index, int) else pci.BRIDGE_ALIGN) == 0, (bdf, index)


def test_modinfo(shown):
    name, directory = shown
    modinfo = needs("modinfo")
    files = [os.path.join(folder, f) for folder, _, names in os.walk(directory + "/usr/lib/modules")
             for f in names if ".ko" in f]
    model = node.Node(name)
    model.render()
    for file in files:
        text = output(modinfo, file)
        module = re.search(r"^name:\s+(\S+)$", text, re.M).group(1)
        ko = model.ko_files[model.kernel, module]
        assert re.search(r"^vermagic:\s+%s " % re.escape(model.kernel), text, re.M)
        assert output(modinfo, "-F", "version", file).strip() == (ko["version"] or "")
        assert output(modinfo, "-F", "srcversion", file).strip() == ko["srcversion"]
        for parameter, _, _ in ko["params"]:
            assert parameter in text


def test_depmod_agrees(shown):
    """depmod finds the same files, and what it takes from their symbols is among what we say."""
    name, directory = shown
    release = node.Node(name).kernel
    if not os.path.islink(os.path.join(directory, "lib")):
        pytest.skip("depmod of a merged system looks into /usr/lib only")
    text = output(needs("depmod"), "-n", "-b", directory, release)
    made = needs_of(line for line in text.splitlines() if re.match(r"\S+\.ko(\.\w+)?:", line))
    with open(os.path.join(directory, "lib/modules", release, "modules.dep")) as file:
        ours = needs_of(file)
    assert set(made) == set(ours)
    for module in made:
        assert made[module] <= ours[module], module


def needs_of(lines):
    found = {}
    for line in lines:
        module, _, needs = line.partition(":")
        found[module] = set(needs.split())
    return found


def test_signature_is_read(tmp_path):
    tree = node.tree_of("laptop")
    path = [p for p in tree.entries if p.endswith("/nvidia.ko")][0]
    file = tmp_path / "nvidia.ko"
    file.write_bytes(tree.entries[path].data)
    assert "Canonical" in output(needs("modinfo"), "-F", "signer", str(file))


def test_images(shown):
    """cpio lists what was put into each image, in every archive of it."""
    name, directory = shown
    cpio = needs("cpio")
    tree = node.tree_of(name)
    for path in [p for p in tree.entries if re.search(r"/boot/init(rd|ramfs)", p)]:
        data = tree.read(path)
        listed = ""
        if data.startswith(b"070701"):
            end = data.index(b"TRAILER!!!")
            end = (end + 511) // 512 * 512
            listed += output(cpio, "-t", "--quiet", input=data[:end])
            data = data[end:]
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"\x28\xb5\x2f\xfd"):
            data = subprocess.run([needs("zstd"), "-dqc"], input=data, stdout=subprocess.PIPE,
                                  check=True).stdout
        listed += output(cpio, "-t", "--quiet", input=data)
        assert "init" in listed.split("\n") and "nvme.ko" in listed, name


def test_trees_differ_only_where_edited():
    """A stage brought from one tree to another is the same as one made anew."""
    edits = [textform.Statement("test", 1, e) for e in (
        "remove /etc/modprobe.d", "unload nvidia_uvm", "rdma mlx5_3 state=DOWN",
        "pci 0000:db:00.0 remove", "fifo /proc/modules", "unreadable /proc/driver/nvidia")]
    from lib import tree
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        one, other = (tree.Stage(os.path.join(folder, n)) for n in ("one", "other"))
        one.put(node.tree_of("laptop"))
        one.put(node.tree_of("hgx-h100-ib"))
        one.put(node.tree_of("hgx-h100-ib", edits))
        other.put(node.tree_of("hgx-h100-ib", edits))
        assert listing(one.directory) == listing(other.directory)
        one.put(node.tree_of("laptop"))
        other.clear()
        other.put(node.tree_of("laptop"))
        assert listing(one.directory) == listing(other.directory)
        assert not os.listdir(other.directory) == []


def listing(directory):
    found = []
    for folder, folders, files in os.walk(directory):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            what = os.readlink(path) if os.path.islink(path) else info.st_size
            found.append((os.path.relpath(path, directory), info.st_mode,
                          what if not os.path.isdir(path) or os.path.islink(path) else 0))
    return sorted(found)


@pytest.mark.parametrize("text, said", [
    ("nonsense 1", "no such verb"),
    ("pci 0000:ff:00.0 numa=1", "no device fits"),
    ("pci 0000:19:00.0 colour=red", "is none of"),
    ("pci 0000:19:00.0 bar1=much", "is not a size"),
    ("pci 0000:19:00.0 acs=XX", "is no ACS bit"),
    ("unload no_such_module", "is not loaded"),
    ("driver 1.2 shut", "neither open nor proprietary"),
    ("param NoEqual", "not NAME = VALUE"),
    ("rdma mlx5_0 state=WELL", "no such state"),
    ("remove /no/such/file", "is not there"),
    ("replace /etc/hosts nothing something", "is not in"),
    ("mtime /etc/hosts tomorrow", "is not a date"),
    ("kernel", "0 words, wanted 1 to 2"),
])
def test_wrong_statements(text, said):
    """A slip in a node or a case is told with its file and line."""
    statement = textform.Statement("x.node", 7, text)
    with pytest.raises(textform.FormError) as error:
        node.tree_of("hgx-h100-ib", [statement])
    assert said in str(error.value) and str(error.value).startswith("x.node:7: ")
