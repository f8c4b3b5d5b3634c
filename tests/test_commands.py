# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that are printed to be pasted as root. A node's words may hold anything; each is made hostile in turn,
and a shell runs every command that is printed then, in a place where each program only writes down that it was run."""
import json
import os
import re
import shlex
import subprocess

import pytest

from lib import node, program, schema
from lib.long import one_of
from lib.program import run
from test_hostile import poison

MARK = "INJECTED"
# Each is put behind a word of the node; none of them may become a part of a command outside of quotes.
WORDS = ["$(%s)", "`%s`", "; %s", "\n%s x", "\\n%s x", "' ; %s '", "\" ; %s \"", "\\$(%s)"]
HOSTILE = [word.replace("%s", MARK) for word in WORDS]
NODES = ["broken-everything", "workstation-nouveau", "rhel9-proprietary-dracut", "h20-roce-deepep"]
PROFILES = "deepep,nccl-gin,p2p"
# Sentences have commands too: a word of the node behind one of these is a part of it.
IN_SENTENCE = re.compile(r"(journalctl|systemctl|depmod|devlink|ip address|nvidia-ctk|grubby|update-initramfs|dracut --|"
                         r"run modprobe)( [a-z-]\S*)*? ?\S*" + MARK)


def tree_of(name):
    """The node, with what makes rules print commands that name its kernel arguments, files, units and packages."""
    tree = node.copy_of(node.tree_of(name))
    tree.file("/etc/default/grub", b"GRUB_CMDLINE_LINUX_DEFAULT='quiet pci=noats'\n")
    tree.file("/etc/default/grub.d/50-cloud.cfg", b'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
    tree.file("/etc/cdi/nvidia.yaml", b"cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: all\n  containerEdits:\n"
              b"    deviceNodes:\n    - path: /dev/nvidia99\n")
    return tree


@pytest.fixture(scope="module")
def facts(stages):
    seen = {}

    def read(name):
        if name not in seen:
            stage = stages("commands-" + name)
            stage.put(tree_of(name))
            seen[name] = json.dumps(program.facts(stage.directory))
        return json.loads(seen[name])
    return read


def advice(file):
    """(commands, sentences) that are printed about these facts."""
    result = run("doctor", "--json", "--profile", PROFILES, "--from", file)
    assert result.status in (0, 1), str(result)
    findings = [f for f in result.json()["findings"] if f["verdict"] in ("fail", "pending")]
    commands = [f["command"] for f in findings if f.get("command")]
    sentences = [f["remedy"] for f in findings if f["remedy"]]
    result = run("fix", "--all", "--json", "--profile", PROFILES, "--from", file)
    assert result.status in (0, 1, 2), str(result)
    sentences += strings_of(result.json())
    return commands, sentences


def strings_of(value):
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in strings_of(part)]


def free_strings(document):
    """Every value that a fact of any text has."""
    values = set()

    def keep(_name, _key, text):
        values.add(text)
        return text
    poison(document, "node", keep, schema.load("facts"))
    return values


def put(document, change, path):
    poison(document, "node", lambda _name, _key, text: change(text), schema.load("facts"))
    path.write_text(json.dumps(document))
    return path


def words_that_count(document, commands, sentences):
    """Values that are printed within a command, or behind one in a sentence."""
    printed = "\n".join(commands + sentences)
    return sorted(v for v in free_strings(document)
                  if len(v) > 2 and re.search(r"(?<![\w.-])" + re.escape(v) + r"(?![\w-])", printed))


# ---- a shell that can do nothing ----

STUB = """#!/bin/sh
printf '%s\\n' "${0##*/}" >> "$RECORD"
[ "${0##*/}" != tee ] && [ "$2" != tee ] && [ "$1" != tee ] || /bin/cat >> "$RECORD.files"
"""


class Sandbox:
    """Runs commands as nobody, with a PATH of programs that only say their names."""

    def __init__(self, folder):
        self.folder, self.bin = folder, os.path.join(folder, "bin")
        os.makedirs(self.bin)
        os.makedirs(os.path.join(folder, "work"))
        for name in (folder, self.bin, os.path.join(folder, "work")):
            os.chmod(name, 0o777)
        self.stub = os.path.join(folder, "stub")
        with open(self.stub, "w", encoding="utf-8") as file:
            file.write(STUB)
        os.chmod(self.stub, 0o755)

    def shell(self, shell, text):
        """(programs that were started, lines that were written into files) when SHELL runs TEXT."""
        for name in set(re.findall(r"[A-Za-z_][\w.-]*", text)) | {MARK}:
            link = os.path.join(self.bin, name)
            if not os.path.lexists(link):
                os.symlink(self.stub, link)
        record = os.path.join(self.folder, "work", "record")
        for name in (record, record + ".files"):
            if os.path.exists(name):
                os.unlink(name)
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        subprocess.run([*drop, "env", "-i", "PATH=" + self.bin, "RECORD=" + record, "/bin/" + shell, "-c", text], check=False,
                       cwd=os.path.join(self.folder, "work"), capture_output=True, timeout=program.TIMEOUT_S)

        def lines(name):
            if not os.path.exists(name):
                return []
            with open(name, encoding="utf-8", errors="surrogateescape") as file:
                return file.read().splitlines()
        return lines(record), lines(record + ".files")

    def check(self, command):
        shlex.split(command)	# no quote is left open
        for shell in ("dash", "bash"):
            programs, files = self.shell(shell, command)
            assert programs and MARK not in programs, (shell, command, programs)
            for line in files:
                # In modprobe.d a line of its own, in GRUB's file a script.
                assert MARK not in line or re.match(r"(options|blacklist) \S+( \w+=\"[^\"\\]*\")?$", line), (command, line)
                if line.startswith("GRUB_"):
                    assert MARK not in line and MARK not in self.shell(shell, line)[0], (command, line)


@pytest.fixture(scope="module")
def sandbox(place):
    folder = os.path.join(place, "pasted")
    os.mkdir(folder)
    return Sandbox(folder)


def test_the_sandbox_sees_what_runs(sandbox):
    plain = "echo 'options x y=\"a;%s\"' | sudo tee /x"
    sandbox.check(plain % MARK)
    for word in ("$(%s)", "`%s`", "; %s", "\n%s x", "| %s"):
        with pytest.raises(AssertionError):
            sandbox.check("sudo depmod -a y" + word % MARK)
    for text in ("printf 'options x\\n%s y\\n' | sudo tee /x", "echo 'GRUB_CMDLINE_LINUX=\"$X pci=$(%s)\"' | sudo tee /x",
                 plain.replace("a;", "a\\n"), plain.replace("a;", "a\" ")):
        with pytest.raises(AssertionError):
            sandbox.check(text % MARK)


# ---- words of a node ----

def check_advice(commands, sentences, sandbox, seen):
    for command in commands:
        if MARK in command and command not in seen:
            seen.add(command)
            sandbox.check(command)
    for text in sentences:
        assert not IN_SENTENCE.search(text), text


@pytest.mark.parametrize("name", NODES)
def test_no_word_of_a_node_runs(name, facts, sandbox, tmp_path):
    """Everywhere in the facts where it stands, so that what belongs together still does."""
    file = put(facts(name), lambda text: text, tmp_path / "facts.json")
    commands, sentences = advice(file)
    in_commands = words_that_count(facts(name), commands, [])
    assert in_commands
    seen = set()
    for word in one_of(4, words_that_count(facts(name), commands, sentences), NODES.index(name)):
        for bad in HOSTILE if word in in_commands else HOSTILE[2:3]:
            check_advice(*advice(put(facts(name), lambda text: text.replace(word, word + bad), file)), sandbox, seen)


@pytest.mark.parametrize("name", NODES)
def test_no_word_leads_elsewhere(name, facts, tmp_path):
    """A path with ".." looks like one of /dev, and is that of another file: sudo rm /dev/nvidia9/../../etc/fstab."""
    file, reached = tmp_path / "facts.json", 0
    document = facts(name)
    commands, sentences = advice(put(document, lambda text: text, file))
    for word in words_that_count(facts(name), commands, []):
        for bad in ("/../../../../etc/" + MARK, "/.."):
            reached += 1
            now, _ = advice(put(facts(name), lambda text: text.replace(word, word + bad), file))
            assert not [c for c in now if re.search(r"(^|[ /='\"])\.\.($|[ /'\"])", c, re.M)], now
    assert reached


def test_plain_words_reach_commands(facts, tmp_path):
    """What the test above looks at is there: many words of nodes stand in commands as long as they are plain."""
    reached = set()
    for name in one_of(len(NODES), NODES):
        file = put(facts(name), lambda text: text, tmp_path / "facts.json")
        for word in words_that_count(facts(name), *advice(file)):
            commands, _ = advice(put(facts(name), lambda text: text.replace(word, word + MARK), file))
            reached |= {re.match(r"(echo|printf|(sudo )?[\w-]+)", line)[0]
                        for command in commands for line in command.splitlines() if MARK in line}
    assert "sudo update-initramfs" in reached, reached


@pytest.mark.parametrize("argument, plain", [("iommu=pt", True), ("pci=$(%s)" % MARK, False)])
def test_a_kernel_argument(argument, plain, stages):
    """GRUB's file is a script: what a command puts there the next update-grub would run."""
    stage = stages("commands-grub")
    tree = tree_of("broken-everything")
    tree.file("/etc/default/grub", b"GRUB_CMDLINE_LINUX_DEFAULT='quiet %s'\n" % argument.encode())
    tree.file("/etc/default/grub.d/50-cloud.cfg", b'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
    stage.put(tree)
    found = run("doctor", "--json", "--only", "boot/second-owner", "--root", stage.directory).json()["findings"]
    assert [f for f in found if f["verdict"] == "fail"]
    assert [f for f in found if argument in (f["command"] or "")] == (found if plain else [])


# ---- words of the caller ----

def test_a_folder_of_the_caller(stages, sandbox, place):
    """The commands that go on with what is shown name the --root that was given, as one word."""
    stage = stages("commands-root")
    stage.put(node.tree_of("broken-everything"))
    for bad in HOSTILE:
        if "\n" in bad:
            continue
        folder = os.path.join(place, "t" + bad.replace("/", "_"))
        os.symlink(stage.directory, folder)
        text = run("doctor", "--root", folder).out + run("fix", "--root", folder).out
        os.unlink(folder)
        lines = [line.strip() for line in text.splitlines() if "--root" in line and "nvnodecheck fix" in line]
        for line in lines:
            line = line[line.index("nvnodecheck fix"):]
            if line.count("'") % 2 == 0:
                assert MARK not in sandbox.shell("dash", line)[0], line


# ---- one way ----

def test_commands_are_made_in_one_place():
    """base/command.c: no other text that has a command takes a word by %s. What is between quotes there is looked at by
    shell_can_quote(), and a whole command may be put behind another."""
    known = {("driver-params.c", "NVreg_RegistryDwords"), ("gpu-reset.c", "sudo systemctl stop%s"),
             ("modules.c", "printf '%s'"),
             ("modules-peermem-loaded.c", "systemctl disable --now nv_peer_mem"),
             ("distribution.c", "sudo %s %s"), ("text-steps.c", "sudo %s"), ("outcome-text.c", "this command: sudo %s"), ("steps-command.c", "sudo nvnodecheck fix"),
             ("steps-command.c", "sudo --preserve-env=%s "), ("txn-audit.c", "through sudo by uid"), ("dev-runtimes.c", "--runtime=%s")}
    wrong = []
    for folder, _, files in os.walk(os.path.join(program.TOP, "src")):
        for name in files:
            if not name.endswith(".c"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = re.sub(r'"\s*\n\s*"', "", file.read())
            for call in re.finditer(r'\b(text_printf|arena_printf)\(\s*[\w>-]+(?:->\w+)*,\s*"((?:[^"\\]|\\.)*)"', text):
                if re.search(r"(sudo|\| *tee|devlink dev|journalctl -\w|systemctl (en|dis|un|st|re)\w+) .*%s", call[2]) \
                        and "shell_name(" not in text[call.end():call.end() + 200] \
                        and not [1 for f, part in known if f == name and part in call[2]]:
                    wrong.append("%s: %s" % (name, call[2][:100]))
    assert not wrong, "\n".join(wrong)
