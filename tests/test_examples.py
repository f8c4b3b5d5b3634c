# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command that README.md and the manual pages show is run, in their order, as if on a node of
tests/nodes; where output is shown, that is what it writes ("..." stands for lines left out)."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

from lib import cli, node, program, tree

NODE = "h20-roce-deepep"
PAGES = ["nvnodecheck.8", "nvnodecheck.conf.5", "nvnodecheck-facts.5.in"]
# Folders of the node that examples write into.
WRITTEN = ["/etc/nvnodecheck.conf.d", "/var/lib/prometheus/node-exporter"]
# What the node is found to have is status 1, or a difference; what is not said to be is wrong usage (2).
WELL = (0, 1)


def read(*path):
    with open(os.path.join(program.TOP, *path), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """Indented blocks of Markdown as [(command, lines that it shows)]."""
    found = []
    for block in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text, re.M):
        for line in block.splitlines():
            line = line[4:]
            if line.startswith(("$ ", "# ")):
                found.append((line[2:], []))
            elif found and found[-1][1] is not None and block.lstrip().startswith("$ "):
                found[-1][1].append(line)
            elif re.match(r"(sudo )?(nvnodecheck|make|\./bootstrap)\b", line):
                found.append((line, None))
    return found


def inline(text):
    return [re.sub(r"\s+", " ", c) for c in re.findall(r"`((?:sudo )?nvnodecheck [^`]*)`", text)]


def displayed(page):
    """.Dl lines and literal blocks of a manual page, without their prompts and roff's escapes."""
    found = re.findall(r"^\.Dl [#$] (.*)$", page, re.M)
    for block in re.findall(r"^\.Bd -literal -offset indent\n[#$] (.*?)^\.Ed", page, re.M | re.S):
        found += re.split(r"\n[#$] ", block.rstrip())
    return [command.replace("\\-", "-").replace("\\e", "\\") for command in found]


class Node:
    """The commands' names and paths, led to a node in a tree."""

    def __init__(self, folder, node_facts):
        self.folder = folder
        self.tree = os.path.join(folder, "tree")
        tree.Stage(self.tree).put(node.tree_of(NODE))
        for name in WRITTEN:
            os.makedirs(self.tree + name)
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.join(program.TOP, "nodes"), os.path.join(folder, "nodes"))
        os.mkdir(os.path.join(folder, "facts"))
        for name in (NODE, "hgx-h100-ib"):
            with open(os.path.join(folder, "facts", name + ".json"), "w", encoding="utf-8") as file:
                file.write(node_facts(name))
        for name in ("job.log", "slurm-4711.out"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("gpu01:10:12 [0] NCCL INFO NCCL version 2.27.4+cuda12.9\n")
        self.image = os.path.join(folder, "image")
        image = node.copy_of(node.tree_of(NODE))
        for name in ("/proc", "/sys", "/dev", "/run"):
            if image.has(name):
                image.remove(name)
        tree.Stage(self.image).put(image)
        self.script("sudo", 'exec "$@"')
        takes_root = [v for v in cli.verbs() if any(o.name == "root" for o in cli.options(v))]
        self.script("nvnodecheck", '''more=
case "$*" in *--root*|*--from*|"doctor "*.capture|*" facts/") ;; *)
	case $1 in -*) more="--root %s" ;; esac
	for verb in %s; do [ "$1" != $verb ] || more="--root %s"; done ;;
esac
case "$*" in *--apply*|undo) more="$more --yes" ;; esac
exec %s "$@" $more''' % (self.tree, " ".join(takes_root), self.tree, program.binary()))

    def script(self, name, text):
        path = os.path.join(self.folder, "bin", name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)

    def run(self, command):
        for name in WRITTEN:
            command = command.replace(name, self.tree + name)
        command = command.replace("--root /host", "--root " + self.tree)
        command = command.replace("--root /mnt/image", "--root " + self.image)
        command = command.replace("build/nvnodecheck", "nvnodecheck").replace("FILE", "node.capture")
        env = program.environment(PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"])
        process = subprocess.run(["sh", "-c", command], cwd=self.folder, env=env, timeout=120,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        return program.Result([command], process)


@pytest.fixture(scope="module")
def site(tmp_path_factory, node_facts):
    return Node(str(tmp_path_factory.mktemp("examples")), node_facts)


def line_pattern(line):
    """Of a line that is shown: its end may be left out, as what changes with every new rule is."""
    if line.strip() == "...":
        return "(?:.*\n)*?"
    pattern = re.escape(line.rstrip())
    if pattern.endswith(r"\.\.\."):
        pattern = pattern[:-6] + ".*"
    return pattern + " *\n"


def is_shown(shown, written):
    """Are the lines of SHOWN those of WRITTEN, but for what "..." leaves out?"""
    return re.match("".join(map(line_pattern, shown)), written) is not None


def test_pictures_are_the_programs(tmp_path, node_tree):
    """make pictures was run: the drawing is what topo draws today."""
    drawn = program.run("topo", "--format", "svg", "--root", node_tree("broken-everything")).out
    assert read("docs", "topology.svg") == drawn, "make pictures"
    with open(os.path.join(program.TOP, "docs", "page.png"), "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def check(site, command, shown):
    if command.startswith(("make", "./bootstrap")):
        return check_build(command)
    if os.geteuid() != 0 and re.search("--apply|undo", command) or "| jq" in command and not shutil.which("jq"):
        return None
    result = site.run(command)
    # Nothing can be tried on a machine without the driver, and saying so is all that it shows here.
    refused = " prove" in command and "driver is not loaded" in result.err
    assert result.status in WELL or refused, str(result)
    assert "Try 'nvnodecheck" not in result.err, str(result)
    if shown:
        assert is_shown(shown, result.out), "%s\n-- shown --\n%s" % (result, "\n".join(shown))
    return None


def check_build(command):
    """Not built here once more: the target is there, and the word is one that bootstrap knows."""
    words = shlex.split(command)
    if words[0] == "make":
        process = subprocess.run(["make", "-n"] + words[1:], cwd=program.TOP, timeout=120,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.returncode == 0, process.stderr.decode()
    else:
        assert re.search(r"^(\S+ \| )*%s( \| \S+)*\)$" % re.escape(words[1]), read("bootstrap"), re.M)


def test_readme(site):
    text = read("README.md")
    found = blocks(text)
    assert sum(bool(shown) for _, shown in found) >= 1 and len(found) >= 5
    for command, shown in found:
        check(site, command, shown)


def test_readme_in_its_sentences(site):
    commands = inline(read("README.md"))
    assert len(commands) >= 8
    # "capture" needs a file to be looked at before others look at it.
    assert site.run("nvnodecheck capture -o node.capture").status == 0
    for command in commands:
        check(site, command, None)


@pytest.mark.parametrize("page", PAGES)
def test_manual(page, site):
    text = read("man", page)
    commands = displayed(text)
    assert len(commands) >= {"nvnodecheck.8": 10, "nvnodecheck-facts.5.in": 1}.get(page, 0)
    for command in commands:
        check(site, command, None)


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_jq(site):
    """Each of the manual's filters finds something of a node that has it, and is understood."""
    commands = [c for c in displayed(read("man", "nvnodecheck.8")) if "| jq" in c]
    assert len(commands) >= 7
    said = []
    for command in commands:
        result = site.run(command.replace("doctor --json", "doctor --json --profile deepep,p2p"))
        assert result.status == 0 and "jq:" not in result.err, str(result)
        said.append(result.out)
    assert "warn\tsoftware/nvshmem-version\t-\n" in said[0]
    assert "deepep\terror\n" in said[4] and "fix\troot\tdriver/peer-mapping-override\n" in said[5]
    assert re.search(r"^h20-03\t\d+$", said[6], re.M) and "export NCCL_IB_HCA==mlx5_0," in said[7]
    assert all(said[i] for i in (2, 3))


def test_example_of_a_configuration(site):
    text = read("man", "nvnodecheck.conf.5")
    example = re.search(r"^\.Bd -literal -offset indent\n(.*?)^\.Ed", text, re.M | re.S).group(1)
    for text in (example, read("nvnodecheck.conf.example")):
        with open(site.tree + "/etc/nvnodecheck.conf", "w", encoding="utf-8") as file:
            file.write(text)
        result = site.run("nvnodecheck -q")
        os.unlink(site.tree + "/etc/nvnodecheck.conf")
        assert result.status in WELL and not result.err, str(result)


def test_contributing(site):
    """The commands of CONTRIBUTING.md that the walk-through does not make anew."""
    for command, shown in blocks(read("CONTRIBUTING.md")):
        if command.startswith("make") or command.startswith("./bootstrap"):
            check_build(command)
