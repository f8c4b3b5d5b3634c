# SPDX-License-Identifier: GPL-2.0-or-later
"""The report for people: the verdict first, a line for each problem, what is to be done in order, all of it on one
screen; then the details, which repeat nothing; names that people use."""
import glob
import json
import os
import re

import pytest

from lib import cases, node, program, textform
from lib.program import run

ROWS, WIDTH = 24, 80
HEALTHY_LINES = 12
TAGS = ("CRIT", "ERR", "WARN", "WAIT")
EVERYTHING = "deepep,p2p"
NEXT = {"fix", "by hand", "after boot", "check link", "job settings", "firmware", "reboot", "reload", "restart", "power cycle", "open ticket",
        "no repair", "send request", "new container", "reset GPU", "new firmware", "run as root"}
WHO = {"you", "root", "host", "provider", "support", "-"}
NO_PROBLEMS = r"(?:Ready for [\w, -]+: no problems found|No problems found for [\w, -]+)\."
PLAN = "What to do, in this order"


def text_of(directory, *args, option="--root", **more):
    result = run("doctor", option, directory, *args, **more)
    assert result.status in (0, 1) and result.err == "", str(result)
    return result.out


def put(scratch, name, *edits):
    statements = []
    for number, text in enumerate(edits):
        first, *block = text.split("\n")
        statement = textform.Statement("test", number, first)
        statement.block = block
        statements.append(statement)
    scratch.put(node.tree_of(name, statements))
    return scratch.directory


def screen(text):
    """The lines of the first screen; the last line of it is the prompt's."""
    shown = []
    for line in text.splitlines():
        shown += [line[i:i + WIDTH] for i in range(0, len(line), WIDTH)] or [""]
    return shown[:ROWS - 1]


def only(lines):
    """The only problem has no columns: (tag and title, None, None), with the rule."""
    found = re.search(r"\n\n((?:CRIT|ERR|WARN|WAIT) +\S.*?\[[a-z0-9]+/[a-z0-9-]+\])\n(?:\n| {5}(?:Where|Found|Impact):)", "\n".join(lines), re.S)
    return [(unwrapped(found[1]), None, None)] if found else []


def table(lines):
    """(tag and title, who, what is next) of each row, up to what follows the table."""
    start = next((i for i, line in enumerate(lines) if line.split(" ")[0] in TAGS), None)
    if start is None:
        return []
    rows = []
    for line in lines[start:]:
        if not line or line.startswith("Next:"):
            break
        if line.split(" ")[0] in TAGS:
            found = re.fullmatch(r"(\w+ +(?:\[ ?\d+\] )?\S.*?) {2,}(?:(\w+|-) {2,})?(\S.*)", line)
            assert found, line
            rows.append(found.groups())
    return rows


def number(row):
    return re.search(r"\[ ?(\d+)\]", row)[1]


def counted(verdict):
    """The number of problems that the verdict names: in all, and by kind."""
    found = re.match(r"(\d+) problems? \(([^)]*)\)\.", verdict)
    if not found:
        return 0, 0
    return int(found[1]), sum(int(n) for n in re.findall(r"\d+", found[2]))


def unwrapped(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("profile", [None, EVERYTHING])
@pytest.mark.parametrize("name", node.names())
def test_the_first_screen(name, profile, node_tree):
    """What is wrong and what to do next, without scrolling."""
    text = text_of(node_tree(name), *(["--profile", profile] if profile else []))
    lines = screen(text.replace(" --root " + node_tree(name), ""))
    problems, by_kind = counted(unwrapped("\n".join(lines[:3])))
    assert problems == by_kind
    if not problems:
        assert re.match(NO_PROBLEMS, lines[0])
        return
    if problems == 1:
        assert len(only(lines)) == 1 and " 1. " in "\n".join(lines)
        return
    rows, more = table(lines), re.search(r"^ +Problem \(the (\d+) worst of (\d+)(?:; all are below|; -v has all|; yours: \[[\d, -]+\])\)(?: +Who)? +Next$", "\n".join(lines), re.M)
    assert (len(rows), problems) == ((int(more[1]), int(more[2])) if more else (problems, problems))
    assert len(rows) >= min(problems, 10)
    for row in rows:
        assert row[1] in (None, *WHO) and {word.strip() for word in row[2].split(",")} <= NEXT, row
    assert [line for line in lines if line.startswith(" 1. ")], "\n".join(lines)
    # What has no room is less grave than what is shown, and of a selection the worst is the first.
    assert not more or [TAGS.index(row[0].split()[0]) for row in rows] == sorted(TAGS.index(row[0].split()[0]) for row in rows)
    shown = {row[0] for row in rows}
    rest = [row[0] for row in table(text_of(node_tree(name), "--brief", *(["--profile", profile] if profile else [])).splitlines())]
    worst = min([TAGS.index(row.split()[0]) for row in rest if number(row) not in map(number, shown)], default=len(TAGS))
    assert all(TAGS.index(row.split()[0]) <= worst for row in shown)


@pytest.mark.parametrize("name", node.names())
def test_brief_is_the_table(name, node_tree):
    """It has a row for each problem that the verdict counts, and stops there."""
    text = text_of(node_tree(name), "--brief", "--profile", EVERYTHING)
    lines = text.splitlines()
    problems, _ = counted(unwrapped(text))
    assert len(table(lines)) == problems
    assert re.search(r"^Next: .*(?:\n {6}.*)*\Z", text.rstrip(), re.M) if problems else len(lines) <= 8
    assert "What to do" not in text and "found  " not in text


@pytest.mark.parametrize("name", node.names())
def test_the_steps_have_the_order_of_the_table(name, node_tree):
    """With what was found beside what is to be done. -v has details behind the steps."""
    if name == "broken-everything":	# broken hardware cuts its steps
        name = "broken-software"
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    assert "\nDetails\n" not in text
    details = re.sub(r"^ {4}(CRIT|ERR|WARN|WAIT) ", r"\1 ", plan_of(text), flags=re.M)
    heads = re.findall(r"^(?:CRIT|ERR|WARN|WAIT) +(?:\[ ?\d+\] )?\S.*(?:\n {8,}.*)*?\[?[a-z0-9]+/[a-z0-9-]+\]?$", details, re.M)
    marks = [re.match(r"(\w+) +(?:\[ ?(\d+)\])?", head).groups() for head in heads]
    brief = [re.match(r"(\w+) +(?:\[ ?(\d+)\])?", row[0]).groups()
             for row in table(text_of(node_tree(name), "--brief", "--profile", EVERYTHING).splitlines())]
    if len(brief) == 1:	# it has no head in the steps
        assert not heads and re.search(r"^(?:CRIT|ERR|WARN|WAIT) .*(?:\n {5}.*)*\n {5}(?:Found|Where): ", text, re.M)
        return
    assert [mark for mark in brief if name != "broken-software" or mark in marks] == marks
    assert ("\nDetails\n" in text_of(node_tree(name), "-v", "--profile", EVERYTHING)) == bool(marks)
    # Of very many problems the warnings share lines.
    assert name == "broken-software" or [number for _, number in marks] == [str(n + 1) for n in range(len(marks))]


def plan_of(text):
    return re.split(r"\n\n", text.partition(PLAN)[2])[0]


def numbers_of(text):
    """Of "[1, 4-6]" at the beginning of a line."""
    found = []
    for part in re.findall(r"^ +(?:(?:CRIT|ERR|WARN|WAIT) +)?\[([\d, -]+)\] ", re.sub(r",\n +(?=\d)", ", ", text), re.M):
        for one in part.split(","):
            first, _, last = one.partition("-")
            found += range(int(first), int(last or first) + 1)
    return found


@pytest.mark.parametrize("name", node.names())
def test_each_problem_has_one_instruction(name, node_tree):
    """It is in a step, with the problem's number, all of it. The numbers of the plan rise;
    only what support does after a power cycle that did not help was named before."""
    if name == "broken-everything":	# broken hardware cuts its steps
        return
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    if PLAN not in text:
        return
    plan = plan_of(text)
    problems, _ = counted(unwrapped(text))
    assert set(numbers_of(plan)) == (set(range(1, problems + 1)) if problems > 1 else set())
    first = list(dict.fromkeys(numbers_of(plan)))
    assert first == sorted(first)
    assert "..." not in re.sub(r"(?<=/)\.\.\.|\.\.\.(?=\w)", "", plan)
    steps_of_plan = [int(n) for n in re.findall(r"^ ?(\d+)\. ", plan, re.M)]
    assert steps_of_plan == list(range(1, len(steps_of_plan) + 1))
    assert re.search(r"^ ?%d\. Check the node again(?:, in a shell with the corrected variables)?:" % steps_of_plan[-1], plan, re.M)


@pytest.mark.parametrize("name", node.names())
def test_no_sentence_is_said_twice(name, node_tree):
    """The table has the titles, the plan what was found and what to do."""
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    said = [sentence for sentence in re.split(r"(?<=\.) |\n\n|\n(?=\S)|\n +(?=\[)", text) if len(sentence.split()) > 6]
    again = {unwrapped(s) for s in said if [unwrapped(t) for t in said].count(unwrapped(s)) > 1}
    assert not again


def test_each_profile_has_a_verdict(node_tree):
    """With the problems of the profiles that it includes."""
    head = text_of(node_tree("rtx4090-stock-smallbar"), "--profile", "p2p,deepep", "--brief")
    assert re.search(r"^Profiles +base, p2p, gpudirect-rdma, deepep: not ready \((?:critical|error)\)$", head, re.M), head
    head = text_of(node_tree("h20-roce-deepep"), "--brief")
    assert "Profiles  base, gpudirect-rdma: ready, with warnings\n" in head


@pytest.mark.parametrize("name", node.names())
def test_a_healthy_node_takes_few_lines(name, node_tree):
    text = text_of(node_tree(name))
    if re.match(NO_PROBLEMS, text):
        assert len(text.splitlines()) <= HEALTHY_LINES, text


@pytest.mark.parametrize("name", node.names())
def test_lines_fit(name, node_tree):
    """But those that are to be pasted, and words that nothing breaks."""
    for line in text_of(node_tree(name), "--profile", EVERYTHING).splitlines():
        pasted = line.startswith((" " * 8, "Next: sudo"))
        assert len(line) <= WIDTH or pasted or len(max(line.split(), key=len)) > 50, line


@pytest.mark.parametrize("name", node.names())
def test_names_are_those_that_people_use(name, node_tree):
    """No address alone, and no path of a fact."""
    text = text_of(node_tree(name), "-v", "--profile", EVERYTHING)
    for line in text.splitlines():
        assert not re.search(r"\[#?\w+\]\.\w+", line), line
    for where in re.findall(r"^ {5}where +(.*(?:\n {16}.*)*)", text, re.M):
        assert not re.match(r"[0-9a-f]{4}:[0-9a-f]{2}:", where.strip()), where


# ---- one problem is counted once ----

def translated(scratch):
    """Several problems that fix repairs."""
    return put(scratch, "hgx-h200-roce", "iommu DMA-FQ", "args -iommu=pt", "pci pex890-down acs=SV,RR,CR,UF")


def test_many_devices_are_one_line(scratch):
    text = text_of(translated(scratch))
    assert re.search(r"^WARN \[\d\] GPUDirect RDMA .* fix, reboot\n.*\n? .*\(GPU0-GPU7,\n? *mlx5_0-mlx5_7\)$", text, re.M), text


def test_a_consequence_is_folded_under_its_cause(node_tree):
    """nouveau holds the GPU, so the driver is not loaded: one problem."""
    directory = node_tree("workstation-nouveau")
    text = text_of(directory)
    assert text.startswith("1 problem (1 critical).")
    assert re.search(r"^     Leads to: No CUDA program runs: the NVIDIA driver is not loaded", text, re.M) and "driver/loaded" not in text
    answers = {f["rule"]: f for f in program.report(directory)["findings"] if f["verdict"] == "fail"}
    assert answers["driver/loaded"]["follows_from"] == {"rule": "modules/nouveau-loaded", "subject": "0000:01:00.0"}


def test_expectations_are_one_block(scratch):
    """A line for each key that is not met."""
    directory = put(scratch, "hgx-h100-ib", "file /etc/nvnodecheck.conf\n[expect]\n"
                    "driver-version = 570\ngpu-model = H200")
    text = text_of(directory)
    assert text.startswith("1 problem (1 error).")
    assert "[node/expectation]" in text
    block = unwrapped(text[text.index("\n     Found: "):])
    assert "driver-version: 550.90.07; expected 570" in block
    assert "gpu-model GPU0-GPU7: NVIDIA H100 80GB HBM3; expected H200" in block


# ---- what was not evaluated or checked ----

def test_installed_software_names_its_profile(node_tree):
    text = text_of(node_tree("hgx-h100-ib"))
    assert "Not requested: p2p, deepep, nccl-gin." in unwrapped(text)
    assert re.search(r"^See also +NVSHMEM 3\.4\.5 is installed: add --profile deepep$", text, re.M)
    assert "add --profile deepep" not in text_of(node_tree("hgx-h100-ib"), "--profile", "deepep")


def test_rdma_devices_beside_gpus_name_theirs(node_tree):
    text = text_of(node_tree("grace-gh200-cx8"), "--profile", "base")
    assert "2 RDMA devices are beside the GPUs: add --profile gpudirect-rdma" in text
    # deepep, which NVSHMEM there suggests, includes it.
    text = text_of(node_tree("hgx-h100-ib"), "--profile", "base")
    assert "add --profile deepep" in text and "beside the GPUs" not in text


def test_what_was_not_checked_is_one_line(node_tree):
    """With what would tell; -v lists all of it."""
    directory = node_tree("h200-x8")
    brief, verbose = text_of(directory), text_of(directory, "-v")
    assert len(re.findall(r"^Not run ", brief, re.M)) == 1 and re.search(
        r"^Not run +\d+ checks?( \(| needs? )", brief, re.M)
    report = program.report(directory)
    rules = {f["rule"] for f in report["findings"] if f["verdict"] == "unknown"}
    line = re.search(r"Not run (.*?) \(-v lists them\)", unwrapped(brief)).group(1)
    assert sum(int(n) for n in re.findall(r"(?:^|, )(\d+) (?:checks?|others?)", line)) == len(rules), line
    assert "%d checks not run." % len(rules) in unwrapped(brief)
    assert all(rule in verbose for rule in rules)
    for finding in report["findings"]:
        assert (finding["verdict"] == "unknown") == ("unknown_why" in finding) and finding.get("unknown_why", "?")


def test_run_as_root_is_said_to_a_user(scratch):
    directory = put(scratch, "hgx-h100-ib", "unreadable /proc/driver/nvidia/params")
    text = text_of(directory, user=True)
    assert re.search(r"\d+ need root, among them \S+/\S+: sudo nvnodecheck doctor", unwrapped(text)), text


@pytest.mark.parametrize("rule, path", [
    ("sysctl/numa-balancing-enabled", "/proc/sys/kernel/numa_balancing"),
    ("kernel/config-p2pdma-missing", "/boot/config-5.15.0-122-generic"),
])
def test_the_file_that_only_root_can_read_is_named(rule, path, scratch):
    """Also where the probe that reads it fills a part of another's section."""
    directory = put(scratch, "hgx-h100-ib", "file %s\n\tx" % path, "unreadable " + path)
    finding, = [f for f in json.loads(run("doctor", "--json", "--root", directory, user=True).out)["findings"]
                if f["rule"] == rule]
    assert finding["unknown_path"] == path and finding["unknown_check"] == "run as root", finding


def test_what_a_container_does_not_see_is_read_on_its_host(scratch):
    """A copy that lacks the same files has to be more complete."""
    def ways():
        findings = json.loads(run("doctor", "--json", "--root", scratch.directory).out)["findings"]
        return {f["unknown_check"] for f in findings if f["rule"] == "services/fabricmanager-down"}

    case = cases.find("services", "fabricmanager-down: a container does not see the host's services")
    scratch.put(node.tree_of(case.node, case.edits))
    assert ways() == {"run it on the host, or with --root on the host's files"}
    scratch.put(node.tree_of(case.node, [edit for edit in case.edits if edit.verb != "container"]))
    assert ways() == {"read the live node, or a more complete copy"}


def test_a_sysctls_source_is_its_file(scratch):
    directory = put(scratch, "hgx-h100-ib", "sysctl kernel.numa_balancing 1")
    assert re.search(r"source +/proc/sys/kernel/numa_balancing$", text_of(directory, "-v"), re.M)


def test_notes_take_few_lines(node_tree):
    text = text_of(node_tree("hgx-h100-ib"))
    notes = [f for f in program.report(node_tree("hgx-h100-ib"))["findings"] if f["verdict"] == "note"]
    lines = [line for line in text.splitlines() if line.startswith("INFO ")]
    more = re.search(r"^Notes +(\d+)(?: more)? \(-v lists (?:them|it)\)$", text, re.M)
    assert not lines, "they ask for nothing, and there is no problem"
    assert len(lines) + int(more[1]) == len({(f["rule"], f["observed"]) for f in notes})
    assert "..." not in "".join(lines)
    assert "about  " not in text and "about  " in text_of(node_tree("hgx-h100-ib"), "-v")


@pytest.mark.parametrize("system, manager", [
    ('os centos 7 "CentOS Linux 7 (Core)" like="rhel fedora"', "yum"), ('os amzn 2 "Amazon Linux 2"', "yum"),
    ('os rocky 9.4 "Rocky Linux 9.4"', "dnf"), ('os fedora 41 "Fedora Linux 41"', "dnf"),
    ('os amzn 2023 "Amazon Linux 2023" like=fedora', "dnf")])
def test_packages_are_installed_by_the_release_s_own_program(scratch, system, manager):
    text = text_of(put(scratch, "hgx-h100-ib", system, "driver unloaded", "ko nvidia remove",
                       "folder /var/lib/dkms/nvidia/570.153.02/5.15.0-100-generic/x86_64",
                       "link /usr/lib/modules/5.15.0-122-generic/build /usr/src/linux-headers-5.15.0-122-generic"))
    assert re.search(r"sudo %s install kernel-devel-" % manager, text), text


def test_a_note_with_something_to_do_comes_first_and_says_it(scratch):
    text = text_of(put(scratch, "hgx-h100-ib", "param DeviceFileMode = 432", "remove /dev"))
    notes = re.findall(r"^INFO .*(?:\n {5}\S.*)*", text, re.M)
    own = [i for i, n in enumerate(notes) if "dev/nvidia-nodes-missing" in n]
    assert own == [0] and "Add the users to that group" in " ".join(notes[0].split()), text


# ---- when and by whom ----

def test_it_says_when_it_was_read_and_by_whom(node_tree, tmp_path):
    """A capture says when it was recorded, not when it was looked at."""
    document = json.loads(run("facts", "--root", node_tree("laptop")).out)
    document["os"].update(observed_time_s=1767225599, observed_uid=1000)
    file = tmp_path / "facts"
    file.write_text(json.dumps(document))
    text = text_of(file, option="--from")
    assert re.search(r"^Checked +2025-12-31 23:59:59 UTC by uid 1000 \(not root\)$", text, re.M)
    report = run("doctor", "--json", "--from", file).json()
    assert report["taken"] == {"time": "2025-12-31T23:59:59Z", "uid": 1000}
    del document["os"]["observed_time_s"], document["os"]["observed_uid"]
    file.write_text(json.dumps(document))
    assert "Read " not in text_of(file, option="--from")
    assert run("doctor", "--json", "--from", file).json()["taken"] == {"time": None, "uid": None}


def test_ready_is_what_root_sees(node_tree, tmp_path):
    """Another user, or an image, may have missed something."""
    document = json.loads(run("facts", "--root", node_tree("hgx-h100-ib")).out)
    file, said = tmp_path / "facts", []
    for changes in ({"observed_uid": 0}, {"observed_uid": 1000}, {"observed_uid": 0, "next_boot": "newest"}):
        document["os"].update(changes)
        file.write_text(json.dumps(document))
        said.append(text_of(file, option="--from").split()[0])
    assert said == ["Ready", "No", "No"], said


# ---- what to do ----

def steps(text):
    return re.findall(r"^ ?\d+\. (.*)$", text[text.index("What to do, in this order"):], re.M)


@pytest.mark.parametrize("name", node.names())
def test_json_has_the_same_steps(name, node_tree):
    """In the same order, with the same titles and commands; each problem of the table is in one of them."""
    whole = ["-v"] if name == "broken-everything" else []
    text = text_of(node_tree(name), *whole, "--profile", EVERYTHING)
    listed = run("doctor", "--json", "--profile", EVERYTHING, "--root", node_tree(name)).json()["steps"]
    words = unwrapped(text.partition(PLAN)[2])
    at = 0
    for number, step in enumerate(listed, 1):
        at = words.index(unwrapped("%d. %s" % (number, step["title"])), at)
        for line in (step["command"] or "").splitlines():
            assert unwrapped(line) in words[at:]
    assert len(listed) == (len(steps(text)) if PLAN in text else 0)
    ids = {p["rule"] for step in listed for p in step["problems"]}
    found = run("doctor", "--json", "--profile", EVERYTHING, "--root", node_tree(name)).json()["findings"]
    assert ids == {f["rule"] for f in found if f["verdict"] in ("fail", "pending") and not f["follows_from"] and not f.get("off")}


def test_json_says_who_and_what(node_tree):
    listed = run("doctor", "--json", "--profile", EVERYTHING, "--root", node_tree("broken-everything")).json()["steps"]
    by_kind = {step["kind"]: step for step in listed}
    assert [step["who"] for step in listed] == ["root"] * 3 + ["support"] + ["root"] * 2 + ["user"] + ["root"] * 5
    assert by_kind["restart"]["restart"] == "reboot" and by_kind["fix"]["restart"] is None
    repair = next(p for p in by_kind["fix"]["problems"] if p["rule"] == "iommu/translation-enabled")
    assert repair["instructions"] == ["add iommu=pt to the kernel command line"] and len(repair["subjects"]) > 10
    # A device that the power cycle does not bring back is named in the ticket too.
    for kind in ("power-cycle", "hardware"):
        assert "pci/device-off-bus" in [p["rule"] for p in by_kind[kind]["problems"]]
    refused = [p for step in listed for p in step["problems"] if p["refused"]]
    assert "vfio-pci" in next(p for p in refused if p["rule"] == "pci/acs-redirect")["refused"]
    # A monitor asks for findings, not for instructions.
    assert not {"steps", "readiness"} & set(run("preflight", "--json", "--root", node_tree("broken-everything")).json())


def test_the_power_cycle_is_first_and_the_reboot_is_one(node_tree):
    text = text_of(node_tree("broken-everything"), "--profile", EVERYTHING)
    said = steps(text)
    assert [re.match(r"\w+ [a-z]*", s)[0] for s in said] == [
        "Drain the", "Save the", "Power the", "Open a", "By hand", "Repair ", "In the", "Check cables", "Reboot the", "While it",
        "By hand", "Check the"]
    assert "environment of the job" in said[6] and "firmware setup" in said[9] and "hardware support" in said[3]
    assert said[10].startswith("By hand on this node, as root, when it has started again")
    assert text.index("Open a ticket") < text.index("Stop here until the hardware works. Then (with -v each step is whole):") < text.index("By hand on this node")
    ticket = unwrapped(text).partition("Open a ticket")[2]
    assert re.search(r"reseat or replace what still fails after the power cycle: GPU3 \(0000:5d:00\.0\)", ticket)
    # The node is below --root: rebooting this machine would be wrong.
    assert not re.findall(r"systemctl (?:reboot|poweroff)", text)
    assert re.search("This changes nothing: sudo nvnodecheck fix --all.* Then make them: sudo nvnodecheck fix --apply",
                     unwrapped(text_of(node_tree("broken-everything"), "-v", "--profile", EVERYTHING)))


@pytest.mark.parametrize("name", node.names())
def test_at_most_one_reboot(name, node_tree):
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    assert len(re.findall(r"^ +sudo systemctl (?:reboot|poweroff)$", text, re.M)) <= 1


def test_the_command_repairs_what_it_says(scratch):
    """fix with the options that the report gives plans a repair for each problem that it is said to repair."""
    text = text_of(translated(scratch))
    command = re.search(r"^ +sudo nvnodecheck (fix --apply.*)$", text, re.M)[1].split()
    command.remove("--apply")
    plan = run(*command, "--json").json()
    repaired = {r["rule"] for r in plan["repairs"] if r["what"]}
    assert repaired == {"iommu/translation-enabled", "pci/acs-redirect"}
    assert "Repair both problems" in text and "Isolation is weaker" in text


def test_what_other_repairs_cannot_help_is_folded(node_tree):
    """The stock driver has no peer copies on GeForce cards, whatever the IOMMU and BAR1 are set to."""
    text = text_of(node_tree("rtx4090-stock-smallbar"), "--profile", "p2p")
    assert text.startswith("1 problem (1 error).") and "reboot" not in text[text.index("What to do"):]


def test_lines_that_hide_each_other_are_one_problem(scratch):
    """With the line to write, and without a key that would switch NVLink off."""
    text = text_of(put(scratch, "hgx-h200-roce", "file /etc/modprobe.d/zz-tuning.conf\n"
                       'options nvidia NVreg_RegistryDwords="RMNvLinkEnable=0x0"'))
    assert text.startswith("1 problem (1 error).")
    plan = unwrapped(text[text.index("What to do"):])
    assert "Decide first about RMNvLinkEnable=0x0: it switches NVLink off" in plan
    assert 'options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;" Then run: sudo update-initramfs -u' in plan


def test_what_only_root_can_read_is_read_first(scratch):
    """No command for a repair that what was not read can override."""
    text = text_of(put(scratch, "vm-h200-passthrough", "param RegistryDwords =", "unreadable /etc/modprobe.d"),
                   "--profile", "deepep", user=True)
    assert re.search(r"^ 1\. .*(?:\n {4}.*)*sudo nvnodecheck doctor --profile deepep", text, re.M)
    assert steps(text)[0].startswith("Ask the administrator to run this as root") and " tee " not in text


def test_a_container_is_repaired_on_its_host(scratch):
    text = text_of(put(scratch, "hgx-h200-roce", "container docker", "iommu DMA-FQ", "args -iommu=pt"))
    assert "sudo nvnodecheck fix" not in text and "The administrator of the host, on which this container runs, must do this." in unwrapped(text)


def test_facts_alone_are_repaired_on_the_node(scratch, tmp_path):
    file = tmp_path / "facts"
    file.write_text(run("facts", "--root", put(scratch, "hgx-h100-ib", "unload nvidia_uvm")).out)
    assert "On the node, repair it" in text_of(file, option="--from")
    text = unwrapped(text_of(file, "--brief", option="--from"))
    assert re.search(r" Next: Drain the node in Slurm. Then: On the node: sudo nvnodecheck fix (?!--apply).*\(shows the changes\) *$", text), text


def test_the_jobs_own_settings_are_not_roots(node_tree):
    text = text_of(node_tree("broken-everything"), "--profile", EVERYTHING, "--brief")
    assert re.search(r"^ERR .* job settings$", text, re.M)
    letter = run("doctor", "--for", "provider", "--profile", EVERYTHING, "--root", node_tree("broken-everything")).out
    assert "NCCL_SOCKET_IFNAME" not in letter


def test_a_risk_has_a_line_of_its_own(scratch):
    """Behind what is done; rules say which costs are risks, not their words."""
    text = text_of(translated(scratch))
    assert re.search(r"^ {8}Fix: +add iommu=pt .*\.\n {8}Risk: +Isolation is weaker", text, re.M), text
    assert "Caution" not in text
    text = text_of(put(scratch, "hgx-h100-ib", "process slurmd memlock=65536",
                       "replace /usr/lib/systemd/system/slurmd.service LimitMEMLOCK=infinity LimitMEMLOCK=64K"))
    assert "Running jobs keep the old limit." in unwrapped(text)
    assert re.search(r"^ {8}sudo nvnodecheck fix --apply.*\n {4}Then run:\n {8}sudo systemctl restart slurmd\.service$",
                     text, re.M), text


def test_what_nothing_repairs_comes_first(node_tree):
    """It can make the rest pointless."""
    text = text_of(node_tree("old-nv-peer-mem"), "--profile", "deepep")
    assert steps(text)[0] == "Decide first whether this is the right node. No setting repairs this:"
    assert re.search(r"^ERR +\[1\] DeepEP cannot run on this GPU", text, re.M)


def test_what_needs_a_running_node_comes_after_the_restart(node_tree):
    plan = plan_of(text_of(node_tree("broken-software"), "--profile", EVERYTHING))
    reboot, after = plan.index("Reboot the node once"), plan.index("when it has started again")
    assert reboot < after < plan.index("Install nvidia-fabricmanager") and plan.index("modules as version") < reboot


def test_a_cable_is_checked_before_the_restart(node_tree):
    """A restart does not repair it."""
    plan = unwrapped(plan_of(text_of(node_tree("broken-software"), "--profile", EVERYTHING)))
    assert plan.index("Check the cable at both ends") < plan.index("Reboot the node once")
    assert plan.index("a switch of that fabric") < plan.index("Reboot the node once")


@pytest.mark.parametrize("brief", [(), ("--brief",)])
def test_a_user_is_told_what_he_can_do(brief, node_tree):
    directory, profile = node_tree("broken-everything"), ("--profile", EVERYTHING)
    text = unwrapped(text_of(directory, *profile, *brief, user=True))
    own = "You can change the job settings yourself." if brief else "You can do step 1 yourself."
    assert "You are not root. " + own in text
    assert re.search(r"writes a request that you can send: nvnodecheck doctor --for provider", text)
    assert "You are not root" not in text_of(directory, *profile, *brief)
    assert "sudo nvnodecheck doctor --for provider" not in text


@pytest.mark.parametrize("name, profile, jobs", [
    ("broken-everything", EVERYTHING, "should not start on this node: GPU2-GPU4 need repair"),
    ("workstation-nouveau", "base", "should not start on this node"),
    ("h20-roce-deepep", "deepep", "that need deepep should not start on this node"),
    ("h20-roce-deepep", "gpudirect-rdma", "can start; [1, 2] can disturb some of them"),
    ("hgx-h100-ib", "deepep", "can start"),
])
def test_the_line_for_jobs(name, profile, jobs, node_tree):
    found = re.search(r"^Jobs +(.*)$", text_of(node_tree(name), "--profile", profile), re.M)
    assert (found and found[1]) == jobs


def test_a_wrong_value_is_not_to_be_kept(scratch):
    """One finding says that the value is wrong; the other one would write it to a file."""
    text = text_of(put(scratch, "hgx-h100-ib", "iommu DMA-FQ", "param DmaRemapPeerMmio = 0"))
    assert "driver/dma-remap-peer-mmio" in text
    assert "Leads to: The next boot loses a driver parameter" in unwrapped(text) and "the active value" not in text
    # iommu=pt is on its command line, so it is not to be added.
    assert "Add iommu=pt" not in unwrapped(text) and "add iommu=pt" not in unwrapped(text)


def test_a_stub_of_the_toolkit_needs_no_reboot(scratch):
    text = text_of(put(scratch, "hgx-h100-ib", "env LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs"))
    assert "Remove the stub folder" in text and not re.search(r"reboot|Drain", plan_of(text), re.I)


def test_notes_beside_problems_are_counted(node_tree):
    """They ask for nothing: what is wrong comes first."""
    for name in ("h20-roce-deepep", "broken-everything"):
        text = text_of(node_tree(name), "--profile", EVERYTHING)
        assert re.search(r"^Notes +\d+ more \(-v lists (?:them|it)\)$", text, re.M)
        # Those that have the device, the cause or the fact of a problem explain it.
        assert 1 <= len(re.findall(r"^INFO ", text, re.M)) <= 6
        assert re.search(r"^INFO ", text_of(node_tree(name), "--profile", EVERYTHING, "-v"), re.M)


# ---- what a reader would do wrong ----

def case_tree(scratch, file, title):
    case = cases.find(file, title)
    scratch.put(node.tree_of(case.node, case.edits))
    return scratch.directory


def test_a_reboot_too_early_is_warned_of(scratch):
    """Before the steps and in the head; the image is built once, after all that goes into it."""
    text = text_of(case_tree(scratch, "incidents/driver", "libraries and firmware are of 570.153.02, the module of 570.144"),
                   "--profile", "deepep")
    assert re.search(r"^Reboot +do not reboot before \[4\] ", text, re.M)
    assert plan_of(text).strip().startswith("Do not reboot before step 3 is done")
    said = steps(text)
    assert said[2].startswith("After all changes above and before any reboot") and said[3].startswith("Reboot")
    # The system is an image of ostree, whose root file system no generator of the distribution changes.
    assert not re.search("mkinitcpio|dracut|grubby", text) and "sudo rpm-ostree initramfs --enable" in text
    assert "hen reboot" not in plan_of(text)


def test_the_end_of_a_remedy_is_a_field():
    """Words in a text would not be left out if one reboot serves all problems."""
    files = glob.glob(os.path.join(program.TOP, "src", "rules", "*.c"))
    assert len(files) > 50
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = re.sub(r'"\s*\n\s*"', "", file.read())
        assert not re.findall(r'[^"]*(?:[.,] [Tt]hen reboot|and rebuild the initramfs)\."', text), path


def test_a_remedy_names_its_object(node_tree):
    plan = unwrapped(plan_of(text_of(node_tree("broken-everything"), "-v", "--profile", EVERYTHING)))
    assert "Correct line 2 of /etc/modprobe.d/zz-tuning.conf. Correct line 3 of /etc/modprobe.d/zz-tuning.conf." in plan
    assert "Rename NVSHMEM_IBGDA_QP_DEPTH to NVSHMEM_QP_DEPTH." in plan and "Set NCCL_SOCKET_IFNAME to" in plan
    assert plan.count("ebuild the initramfs") == 1
    keep = plan[plan.index("Keep ACS as it is"):]
    assert "Risk:" not in keep[:keep.index("Repair ")]


def test_what_is_loaded_at_boot_is_said(scratch):
    text = text_of(case_tree(scratch, "incidents/boot",
                             "RoCE node: options stand in modprobe.d, the image with nvidia.ko lacks them"), "--profile", "deepep")
    # The restart for the options comes first: a load now would be lost.
    assert "Fix: load nvidia-peermem" not in unwrapped(text)
    assert re.search(r"Do: If the boot did not solve this: ", unwrapped(text))
    text = run("fix", "--root", scratch.directory, "--profile", "deepep").out
    assert "load nvidia-peermem (at boot /etc/modules-load.d/nvidia-peermem.conf loads it)" in unwrapped(text)


def test_only_what_a_boot_undoes_is_done_after_it(node_tree):
    text = unwrapped(text_of(node_tree("broken-software"), "--profile", EVERYTHING))
    assert text.count("If the boot did not solve this: ") == 1
    assert "If the boot did not solve this: create the device file with nvidia-modprobe: " in text
    assert "Fix: set PeerMappingOverride=1" in text
    assert "sudo systemctl restart" not in text[:text.index("Reboot the node")]


def test_jobs_are_promised_nothing_that_another_problem_forbids(scratch):
    text = text_of(put(scratch, "h20-roce-deepep", "env NCCL_SOCKET_IFNAME=ib9"), "--profile", "deepep")
    jobs = re.search(r"^Jobs +(.*(?:\n {10}.*)*)", text, re.M)[1]
    assert "after their settings" not in jobs and re.search(r"\[[\d, -]+\]|should not", jobs)


def test_who_acts_outside_a_container(scratch):
    text = unwrapped(text_of(case_tree(scratch, "incidents/rdma", "docker without --device: unable to open device mlx5_bond_0"),
                             "--profile", "gpudirect-rdma", user=True))
    assert re.search(r"\(docker run, pod, batch script\): ERR \[\d\] .* Do: Start the container with --device=/dev/infiniband", text)
    assert "pci/0000:08:00.0 name enable_rdma" in text and "BDF" not in text


def test_a_container_is_created_once(scratch):
    """The host makes the device first: a container does not get one that is made later."""
    text = text_of(put(scratch, "hgx-h100-ib", "container docker", "iommu DMA-FQ", "args -iommu=pt",
                       "replace /proc/self/mounts size=1073741824k size=65536k"), user=True)
    who = [title.split(",")[0] for title in steps(text)]
    assert who.index("The administrator of the host") < who.index("Change the container's image or options")
    assert re.search(r"^Jobs +should not start in this container$", text, re.M)


def test_advice_that_differs_names_its_port(scratch):
    text = unwrapped(text_of(put(scratch, "hgx-h200-roce", "rdma mlx5_5 state=DOWN phys=Polling",
                                 "rdma mlx5_6 state=DOWN phys=Disabled")))
    assert "mlx5_5 port 1: the port finds no link partner." in text
    assert re.search(r"mlx5_6 port 1: enable the port's interface, also for the next boot\. .*? sudo ip link set enp\w+ up", text), text


def test_libraries_of_a_container_are_changed_in_its_image(scratch):
    directory = put(scratch, "h20-roce-deepep", "container docker")
    found = {f["rule"] for f in program.report(directory, "--profile", "deepep")["findings"] if f["verdict"] == "fail"}
    assert "software/nvshmem-version" in found, found
    text = unwrapped(text_of(directory, "--profile", "deepep", user=True))
    own = text.partition("Change the container's image or options")[2]
    assert "In the container's image: install NVSHMEM" in own, text


def test_a_request_says_what_the_restart_solves(scratch):
    out = unwrapped(run("doctor", "--for", "provider", "--root", put(scratch, "hgx-h100-ib", "pci 0000:5d:00.0 config=ff")).out)
    assert re.search(r"Power the node off, then on \(BMC or power button\)\. This can solve section 1\.", out), out


def test_the_administrators_part_has_a_head(scratch):
    text = text_of(put(scratch, "hgx-h200-roce", "env NCCL_SOCKET_IFNAME=ib9", "param RegistryDwords ="), "--profile", "deepep", user=True)
    assert re.search(r"^ 1\. In the environment of the job.*(?:\n {4}.*)*\n 2\. Ask the administrator .*(?:\n {4}.*)*\nFor the administrator:\n 3\. ", text, re.M), text


def test_a_gpu_that_the_driver_does_not_have_is_not_usable(scratch):
    text = text_of(put(scratch, "broken-everything"))
    assert re.search(r"^GPUs +8 x NVIDIA H100 80GB HBM3 \(4 usable; GPU2-GPU4 need repair; GPU\n +0000:9b:00\.0 bound to vfio-pci\), driver", text, re.M)


def test_the_decision_comes_before_all(node_tree):
    text = text_of(node_tree("rtx4090-stock-smallbar"), "--profile", EVERYTHING, user=True)
    assert text.index("Decide first") < text.index("Only if you keep this node:") < text.index("You are not root")


def section(text, heading):
    """What stands below a heading, up to an empty line."""
    return re.search(r"^%s\n(.*?)(?:\n\n|\Z)" % heading, text, re.M | re.S)[1]


@pytest.mark.parametrize("verdict, tag", [("pass", "ok"), ("not-applicable", "-")])
def test_verbose_lists_what_is_well(verdict, tag, scratch):
    """What the site switched off is not among it."""
    directory = put(scratch, "hgx-h100-ib", "file /etc/nvnodecheck.conf\n[rule driver/loaded]\nseverity = off\n"
                    "reason = tried\n[rule bios/nps-setting]\nseverity = off\nreason = x")
    text = text_of(directory, "-v", "--profile", EVERYTHING)
    found = re.findall(r"^%s +([a-z0-9]+/[a-z0-9-]+)" % tag, section(text, "Well, or not applicable"), re.M)
    findings = program.report(directory, "--profile", EVERYTHING)["findings"]
    assert set(found) == {f["rule"] for f in findings if f["verdict"] == verdict and not f.get("off")}
    assert {f["rule"] for f in findings if f.get("off")} == {"driver/loaded", "bios/nps-setting"}


@pytest.mark.parametrize("uid, said", [(1000, "Yours: [1] (no root needed)"), (0, None), (None, None)])
def test_a_user_finds_his_own_below_a_whole_table(uid, said, node_facts, tmp_path):
    """A table that is not whole has them in its head."""
    document = json.loads(node_facts("hgx-h200-roce"))
    document["driver"]["params"] = [dict(p, value="") if p["name"] == "RegistryDwords" else p
                                    for p in document["driver"]["params"]]
    document["env"]["variables"].append({"name": "NCCL_SOCKET_IFNAME", "value": "ib9"})
    document["os"].pop("observed_uid", None)
    if uid is not None:
        document["os"]["observed_uid"] = uid
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(document))
    text = text_of(file, "--profile", "deepep", option="--from")
    assert re.findall(r"^Yours: .*$", text, re.M) == ([said] if said else []), text


def test_findings_with_different_values_have_them_and_nothing_else(node_tree):
    """What is expected of all stands in a line of its own."""
    for name in ("broken-everything", "h20-roce-deepep"):
        text = text_of(node_tree(name), "-v", "--profile", EVERYTHING)
        assert not re.search(r"; expected *$", text, re.M) and re.search(r"^ +expected ", text, re.M)


# ---- a text to send ----

def test_a_request_has_an_order(scratch):
    out = run("doctor", "--for", "provider", "--root", translated(scratch)).out
    order = re.findall(r"^\d\. (.*)$", out, re.M)
    assert order[0].startswith("Drain") and order[1].startswith("Make the changes of sections 1 and 2")
    assert order[2].startswith("Reboot the node once") and order[3].startswith("Check again") and len(order) == 4
    assert "then reboot" not in out and "Grace" not in out


def test_text_for_the_provider(scratch, node_tree):
    result = run("doctor", "--for", "provider", "--root", translated(scratch))
    assert result.status == 1
    assert re.match(r"# Request for changes on \S+\n\n2 problems on this node need an administrator", result.out)
    assert re.findall(r"^## (\d+)\. ", result.out, re.M) == ["1", "2"]
    for label in ("Where", "Effect", "Evidence", "Expected", "Requested change", "Takes effect", "Risk"):
        assert "**%s:**" % label in result.out, label
    assert run("doctor", "--for", "provider", "--root", node_tree("laptop")).out.endswith(
        "No problem was found that an administrator has to solve.\n")


def test_a_request_has_the_worst_section_first(node_tree):
    letter = run("doctor", "--for", "provider", "--profile", EVERYTHING, "--root", node_tree("broken-everything")).out
    sections = re.findall(r"^## (\d+)\. .*\((critical|error|warning)\)$", letter, re.M)
    words = [("critical", "error", "warning").index(word) for _, word in sections]
    assert words == sorted(words) and len(set(words)) == 3
    assert [int(number) for number, _ in sections] == list(range(1, len(sections) + 1))
    order = letter.partition("The order of the work:")[2].partition("\n## ")[0]
    named = re.findall(r"sections? ((?:\d+(?:-\d+)?(?:,\s+|\s+and\s+)?)+)", order)
    ranges = [re.match(r"(\d+)(?:-(\d+))?", n).groups() for part in named for n in re.findall(r"[\d-]+", part)]
    assert sorted(n for first, last in ranges for n in range(int(first), int(last or first) + 1)) == list(range(1, len(sections) + 1))


def of_case(scratch, file, title, *more):
    case = cases.find(file, title)
    scratch.put(node.tree_of(case.node, case.edits))
    return text_of(scratch.directory, *case.options, *more)


def test_one_instruction_for_all_ports_has_a_command_for_each(scratch):
    """The instruction stands once."""
    text = of_case(scratch, "rdma-gid", "gid-no-netdev: no GID that routes")
    assert len(re.findall(r"^ {8}sudo ip address add ADDRESS/BITS dev \w+$", text, re.M)) == 8, text
    assert text.count("IPv4 address") == 1, text


def test_a_long_value_is_cut(scratch):
    """-v has it all."""
    case = "driver-params", "registrydwords-syntax: longer than the kernel takes"
    short, whole = (re.sub(r"\n +", "", of_case(scratch, *case, *more)) for more in ((), ("-v",)))
    assert " characters)" in short and "a" * 100 not in short, short
    assert "a" * 1010 not in short and whole.count("a" * 800), whole


def test_a_container_gets_no_line_that_replaces_options_of_the_host(scratch):
    """The host's modprobe.d is not known here: a new file could hide its keys. The risk is said."""
    text = unwrapped(text_of(put(scratch, "h20-roce-deepep", "container docker"), "--profile", "deepep"))
    found = text.partition("] driver/peer-mapping-override ")[2].partition("] modules/")[0]
    assert "sudo tee" not in found and "keep the keys that this command shows" in found and "Risk:" in found, text


@pytest.mark.parametrize("case", [
    ("iommu-groups", "group-shared: no IOMMU"),
    ("services-daemons", "daemon-down: slurmd does not find the device of gres.conf"),
    ("modules-will-load", "refused: the NIC's module"),
])
def test_one_cause_is_one_problem(case, scratch):
    assert counted(unwrapped(of_case(scratch, *case)))[0] == 1


def test_a_module_that_is_replaced_is_not_rebuilt(scratch):
    text = unwrapped(of_case(scratch, "modules", "wrong-driver-bound: V100 with the open kernel modules, whose probe refuses it"))
    assert "stop and disable nv_peer_mem" in text and "Rebuild nv_peer_mem" not in text, text


@pytest.mark.parametrize("case, harm", [
    (("dev-runtimes", "container-runtime-missing: Docker's default runtime has no entry"), "stops the containers"),
    (("dev-containers", "cdi-wiring: Docker of a snap, beside Docker's own"), "save what is needed first"),
    (("rdma-nics", "device-missing: devlink has switched RoCE off"), "do not do it while you are logged in through it"),
    (("pci-driver", "driver-not-as-configured: driverctl"), "No program may use it then"),
    (("rdma-ports", "link-type-eth: LINK_TYPE_P1 of one NIC is Ethernet"), "Risk: The NIC is reset"),
])
def test_a_command_that_can_harm_says_so(case, harm, scratch):
    assert harm in unwrapped(of_case(scratch, *case))


def test_commands_name_the_device(scratch):
    """No command has a placeholder where the device is known."""
    text = of_case(scratch, "gpu", "mig-enabled: two instances")
    assert re.search(r"^ +sudo nvidia-smi mig -i 0000:19:00.0 -dci$", text, re.M), text


def test_a_variable_has_its_place(node_tree):
    """The environment of sudo is not that of the job."""
    text = text_of(node_tree("broken-software"), "--profile", "deepep")
    assert re.search(r"Found: +NCCL_SOCKET_IFNAME=ib9 matches no interface\n +Set in: +the environment that nvnodecheck was started in", text), text


@pytest.mark.parametrize("file, title", [
    ("modules-peermem", "peermem-conflict: nv_peer_mem instead, for DeepEP"),
    ("rdma-gid", "no-rocev2-gid: a pod whose network is not the NIC's"),
    ("rdma-nics", "device-missing: mlx5_ib did not start on one of them")])
def test_the_node_is_drained_before_a_repair_that_ends_jobs(scratch, file, title):
    plan = plan_of(text_of(case_tree(scratch, file, title), "--profile", "gpudirect-rdma"))
    assert re.search(r"^ \d\. Drain the node", plan, re.M) and "return the node to service" in plan, plan


def test_binding_a_driver_drains_no_node(scratch):
    tree = case_tree(scratch, "rdma-nics", "device-missing: one of eight is bound to nothing")
    plan = plan_of(text_of(tree, "--profile", "gpudirect-rdma"))
    assert "drivers/mlx5_core/bind" in plan and "Drain the node" not in plan, plan


def test_a_module_that_is_not_loaded_now_nor_at_the_boot_is_one_problem(scratch):
    tree = case_tree(scratch, "modules-peermem", "peermem-not-persistent: not loaded now and at no boot")
    report = program.run("doctor", "--root", tree, "--profile", "gpudirect-rdma", "--json").json()
    later = next(f for f in report["findings"] if f["rule"] == "modules/peermem-not-persistent")
    assert later["follows_from"]["rule"] == "modules/peermem-not-loaded"


def test_a_repair_does_not_set_what_is_set(scratch):
    """The parameter is set, and the service that it needs is missing."""
    text = of_case(scratch, "driver-options",
                   "video-memory-lost-at-suspend: memory is to be kept, and there is no service")
    assert "nvnodecheck fix" not in text and "Install the driver's package" in text, text


def test_a_check_after_a_repair_keeps_the_jobs_variables(scratch):
    """sudo drops the environment, and a user without root needs no sudo."""
    tree = put(scratch, "hgx-h100-ib", "env NCCL_SOCKET_IFNAME=ib9")
    assert "sudo --preserve-env=NCCL_SOCKET_IFNAME nvnodecheck doctor --root" in text_of(tree)
    text = text_of(tree, user=True)
    assert re.search(r"^ +nvnodecheck doctor --root", text, re.M) and "sudo" not in text, text
    assert "--preserve-env" not in text_of(put(scratch, "hgx-h100-ib", "rdma mlx5_4 state=DOWN phys=Polling"))


def test_wrong_data_comes_before_other_problems_as_grave(scratch):
    """GDRCopy's rule has the same severity, and an earlier id."""
    text = text_of(put(scratch, "h20-roce-deepep"), "--profile", "deepep")
    assert text.index("can return wrong data: NVSHMEM 3.2.5") < text.index("gdrdrv is not loaded")
    text = unwrapped(text_of(put(scratch, "rtx4090-p2p", "iommu DMA-FQ", "args -iommu=pt")))
    assert "copies between GPUs deliver zeros without an error, so results are wrong." in text


def test_an_old_nvshmem_is_one_cause(scratch):
    text = unwrapped(text_of(put(scratch, "h20-roce-deepep"), "--profile", "deepep"))
    assert "Leads to: NVSHMEM or NCCL is too old to find nvidia_peermem" in text


def test_settings_of_a_job_leave_the_node_ready(scratch):
    text = text_of(put(scratch, "hgx-h100-ib", "env NCCL_SOCKET_IFNAME=ib9"))
    assert "Profiles  base, gpudirect-rdma: ready, but the job's settings are wrong\n" in text
    assert "Jobs      can start after their settings are corrected\n" in text
    # What a port that is down causes in the job's list of NICs does not make base unready.
    text = text_of(put(scratch, "hgx-h100-ib", "rdma mlx5_5 remove", "rdma mlx5_4 state=DOWN phys=Polling"))
    assert "Profiles  base: ready; gpudirect-rdma: not ready (error)\n" in text
    assert "that need gpudirect-rdma should not start" in text
    assert "down: mlx5_4; no RDMA: NIC 0000:5c:00.0" in unwrapped(text)


STATES = {"ready": "ready", "ready, with warnings": "warnings", "ready, but the job's settings are wrong": "job-settings",
          "not ready (waiting to take effect)": "waiting", "not ready (error)": "error",
          "not ready (critical)": "critical", "needs two GPUs, and this node has one": "no-peer"}


@pytest.mark.parametrize("name, edits, profile, states", [
    ("hgx-h100-ib", ["env NCCL_SOCKET_IFNAME=ib9"], "gpudirect-rdma", {"job-settings"}),
    ("hgx-h100-ib", ["rdma mlx5_5 remove"], "gpudirect-rdma", {"ready", "error"}),
    ("h20-roce-deepep", [], "deepep", {"warnings", "error"}),
    ("broken-everything", [], EVERYTHING, {"critical"}),
    ("workstation-nouveau", [], "p2p", {"critical", "no-peer"}),
])
def test_readiness_is_the_same_in_text_and_json(name, edits, profile, states, scratch):
    directory = put(scratch, name, *edits)
    found = run("doctor", "--json", "--profile", profile, "--root", directory).json()["readiness"]
    assert {ready["state"] for ready in found.values()} == states
    text = text_of(directory, "--profile", profile)
    line = re.search(r"^Profiles +(.*(?:\n {10}.*)*)", text, re.M)
    shown = {word: STATES[verdict] for part in unwrapped(line[1]).split("; ") for words, verdict in [part.split(": ", 1)]
             for word in words.split(", ")}
    assert shown == {word: ready["state"] for word, ready in found.items()}
    # The problems of base stop jobs on a single GPU, too.
    stopped = {word for word, ready in found.items() if not ready["jobs_should_start"]}
    assert {word for word in stopped if shown[word] != "no-peer"} == {word for word, state in shown.items() if state in ("waiting", "error", "critical")}
    assert bool(stopped) == ("should not start" in re.search(r"^Jobs +(.*)$", text, re.M)[1])


def test_a_profile_that_was_not_read_is_not_checked(scratch):
    """Its state says what was found; checked says whether all was looked at."""
    directory = put(scratch, "hgx-h100-ib")

    def ready(user=False):
        found = run("doctor", "--json", "--profile", "deepep", "--root", directory, user=user).json()["readiness"]
        return {(ready["state"], ready["jobs_should_start"], ready["checked"]) for ready in found.values()}
    assert ready() == {("ready", True, True)}
    assert ready(user=True) == {("ready", True, False)}
    file = os.path.join(directory, "proc/driver/nvidia/params")
    os.rename(file, file + ".kept")
    os.mkdir(file)
    try:
        assert ready() == {("ready", True, False)}
    finally:
        os.rmdir(file)
        os.rename(file + ".kept", file)


def test_a_list_of_nics_names_all_wrong_ones(scratch):
    text = unwrapped(text_of(put(scratch, "hgx-h100-ib", "env NCCL_IB_HCA==mlx5_4,mlx5_55,mlx5_56")))
    assert "mlx5_55 does not exist; also wrong: mlx5_56" in text and 'The second "=" asks for whole names' in text


def test_a_service_restarts_with_the_reboot_of_the_plan(scratch):
    """After the corrections of its files, and not by a step of its own."""
    text = text_of(put(scratch, "broken-everything"), "-v", "--profile", "deepep")
    assert "sudo systemctl restart slurmd" not in text
    assert text.index("check with slurmd -G") < text.index("Reboot the node") < text.index("The reboot restarts the service.")
    # The new name of a renamed variable reaches the check too.
    assert re.search(r"--preserve-env=\S*NVSHMEM_QP_DEPTH\b", text)
    assert "attach the two files of step 2" in unwrapped(text)
    assert "(4 usable; GPU2-GPU4 need repair; GPU 0000:9b:00.0 bound to vfio-pci)" in unwrapped(text)


def test_a_reboot_does_not_install(scratch):
    """Only a restart was the last command, so the reboot seemed to be all of it."""
    tree = put(scratch, "hgx-h100-ib", "driver 550.127.05 open", "userspace 550.127.05", "args iommu=on -iommu=pt", "iommu DMA-FQ")
    text = unwrapped(text_of(tree, "--profile", "p2p"))
    assert "Reboot the node" in text and "Install nvidia-fabricmanager 550.127.05." in text


def test_many_problems_have_short_warnings(node_tree):
    """The errors come first, and keep what was found and what to do."""
    short, whole = (text_of(node_tree("broken-software"), "--profile", EVERYTHING, *option) for option in ([], ["-v"]))
    steps = short[short.index("What to do, in this order"):]
    assert len(set(numbers_of(steps))) == int(re.match(r"(\d+) problems", short)[1]) > 20 and len(short.split("\n")) < 200
    bodies = re.split(r"^(?=    (?:CRIT|ERR|WARN) +\[\d)", steps, flags=re.M)[1:]
    assert all(bool(re.search("Found:|Fix:|Do:", body)) is not body.startswith("    WARN") for body in bodies if "wrong data" not in unwrapped(body))
    assert "(-v has" not in whole and "Install gcc-12" in whole and "Install gcc-12" not in short
    assert "can return wrong data" in unwrapped(steps) and re.search(r"WARN \[(\d+)-\d+\] \S.*; and \d+ more\n", steps)


def test_faulty_hardware_cuts_many_steps(node_tree):
    """Of the steps after its repair only the titles and numbers are there, and how to check again."""
    text = text_of(node_tree("broken-everything"), "--profile", EVERYTHING)
    count = int(re.match(r"(\d+) problems", text)[1])
    before, after = text.split("Stop here until the hardware works. Then (with -v each step is whole):\n")
    assert len(text.splitlines()) < 90 and "Found:" in before and "Found:" not in after and "sudo nvnodecheck fix" not in text
    numbers = [n for group in re.findall(r"\[([\d, -]+)\]", after) for n in group.split(", ")]
    listed = {k for n in numbers for k in range(int(n.split("-")[0]), int(n.split("-")[-1]) + 1)}
    assert listed == set(range(min(listed), count + 1)) and all("[%d]" % k in before for k in range(1, min(listed)))
    assert re.search(r"^12\. Check the node again.*:\n {8}sudo .*nvnodecheck doctor", after, re.M)


def test_a_file_of_the_node_is_not_the_jobs(scratch):
    """/etc/nccl.conf is root's to change, and a check needs no variable of the job."""
    tree = put(scratch, "hgx-h100-ib", "file /opt/graph.xml\n<graphs version=\"1\"></graphs>",
               "file /etc/nccl.conf\nNCCL_GRAPH_FILE=/opt/graph.xml")
    text = unwrapped(text_of(tree))
    assert "By hand on this node, as root: Remove NCCL_GRAPH_FILE" in text and "--preserve-env" not in text, text
