# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of fix, and what applying one by hand would do to a tree."""
import os
import shutil
import subprocess

from . import node, program, textform


def edits(text):
    """Statements from text, with blocks as in a node's file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line[:1] in ("\t", " ") and line.strip():
            found[-1].block.append(line.strip())
        elif line.strip():
            found.append(textform.Statement("edits", number, line))
    return found


def put(stage, name, text=""):
    stage.put(node.tree_of(name, edits(text)))
    return stage.directory


class Plan:
    def __init__(self, directory, *args, **more):
        self.directory = directory
        where = () if "--from" in args else ("--root", directory)
        self.result = program.run("fix", "--json", *where, *args, **more)
        self.document = self.result.json()
        self.files = {f["path"]: f for f in self.document["files"]}
        self.steps = self.document["steps"]
        self.repairs = self.document["repairs"]
        self.id = self.document["id"]

    def repair(self, rule):
        """What the first finding of a rule gets."""
        for repair in self.repairs:
            if repair["rule"] == rule:
                return repair
        return None

    def does(self, rule):
        repair = self.repair(rule)
        assert repair and repair["what"], (rule, repair, self.result.err)
        return repair["what"]

    def refused(self, rule):
        repair = self.repair(rule)
        assert repair and repair["refused"] and not repair["what"], (rule, repair)
        return repair["refused"]

    def kinds(self):
        return [s["kind"] for s in self.steps]

    def step(self, kind):
        return next((s for s in self.steps if s["kind"] == kind), None)

    def lines(self, path):
        """A file's lines to come, without comments."""
        return [line for line in self.files[path]["content"].splitlines()
                if line and not line.startswith("#")]

    def empty(self):
        return not self.files and not self.steps

    def apply(self):
        """The files alone: what the steps would do is not done."""
        for path, file in self.files.items():
            target = self.directory + path
            if file["action"] == "remove":
                os.unlink(target)
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as out:
                out.write(file["content"])


def patched(plan, path):
    """What patch(1) makes of the file with the plan's diff; None without that program."""
    if not shutil.which("patch"):
        return None
    with open(plan.directory + path, "rb") as file:
        before = file.read()
    place = plan.directory + ".patched"
    with open(place, "wb") as file:
        file.write(before)
    try:
        subprocess.run(["patch", "--silent", place], check=True,
                       input=plan.files[path]["diff"].encode())
        with open(place, encoding="utf-8") as file:
            return file.read()
    finally:
        os.unlink(place)
