# SPDX-License-Identifier: GPL-2.0-or-later
"""The report for people: the verdict first, a line for each problem, what is to be done in order, all of it on one
screen; then the details, which repeat nothing; names that people use."""
import json
import re

import pytest

from lib import node, program, textform
from lib.program import run

ROWS, WIDTH = 24, 80
HEALTHY_LINES = 12
TAGS = ("CRIT", "ERR", "WARN", "WAIT")
EVERYTHING = "deepep,p2p"
PLAN_LINES = 24	# and a line for the steps whose instructions are left out
NEXT = {"fix", "by hand", "job settings", "firmware", "reboot", "reload", "restart", "power cycle", "open ticket",
        "no repair", "send request", "reset GPU", "new firmware", "run as root"}
WHO = {"you", "root", "host", "provider", "support", "-"}
NO_PROBLEMS = r"(?:Ready for [\w, -]+: no problems found|No problems found for [\w, -]+)\."
PLAN = "What to do, in this order\n"


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
    found = re.search(r"\n\n((?:CRIT|ERR|WARN|WAIT) +\S.*?\[[a-z0-9]+/[a-z0-9-]+\])\n\n", "\n".join(lines), re.S)
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
            found = re.fullmatch(r"(\w+ +(?:\[ ?\d+\] )?\S.*?) {2,}(\w+|-) {2,}(\S.*)", line)
            assert found, line
            rows.append(found.groups())
    return rows


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
    rows, more = table(lines), re.search(r"^ +Problem \((\d+) of (\d+); all follow below\) +Who +Next$", "\n".join(lines), re.M)
    assert (len(rows), problems) == ((int(more[1]), int(more[2])) if more else (problems, problems))
    assert len(rows) >= min(problems, 10)
    for row in rows:
        assert row[1] in WHO and {word.strip() for word in row[2].split(",")} <= NEXT, row
    assert [line for line in lines if line.startswith(" 1. ")], "\n".join(lines)


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
def test_details_have_the_order_of_the_table(name, node_tree):
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    details = text.partition("\nDetails\n")[2]
    heads = re.findall(r"^(?:CRIT|ERR|WARN|WAIT) +(?:\[ ?\d+\] )?\S.*(?:\n {8,}.*)*?\[?[a-z0-9]+/[a-z0-9-]+\]?$", details, re.M)
    marks = [re.match(r"(\w+) +(?:\[ ?(\d+)\])?", head).groups() for head in heads]
    brief = [re.match(r"(\w+) +(?:\[ ?(\d+)\])?", row[0]).groups()
             for row in table(text_of(node_tree(name), "--brief", "--profile", EVERYTHING).splitlines())]
    if len(brief) == 1:	# it has no head of its own
        assert not details and re.search(r"\n\nfound ", text)
        return
    assert marks == brief and [tag for tag, _ in marks] == sorted((tag for tag, _ in marks), key=TAGS.index)
    assert [number for _, number in marks] == [str(n + 1) for n in range(len(marks))]


def plan_of(text):
    return re.split(r"\n\n", text.partition(PLAN)[2])[0]


def numbers_of(text):
    """Of "[1, 4-6]" at the beginning of a line."""
    found = []
    for part in re.findall(r"^ +\[([\d, -]+)\] ", re.sub(r",\n +(?=\d)", ", ", text), re.M):
        for one in part.split(","):
            first, _, last = one.partition("-")
            found += range(int(first), int(last or first) + 1)
    return found


@pytest.mark.parametrize("name", node.names())
def test_each_problem_has_one_instruction(name, node_tree):
    """It is in a step, with the problem's number. The details have it only where the step has a part of it, which
    ends in "...", or says so: that of an error is never left out."""
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    if PLAN not in text:
        return
    plan, details = plan_of(text), text.partition("\nDetails\n")[2]
    problems, _ = counted(unwrapped(text))
    assert set(numbers_of(plan)) == (set(range(1, problems + 1)) if problems > 1 else set())
    later, by_hand, item = [], True, ""
    for line in plan.splitlines() + [""]:
        if re.match(r" ?\d+\. |    \[|$", line):
            if by_hand and (item.endswith(" ...") or 'Less severe: see "fix"' in item):
                later += numbers_of(item)
            item = ""
        if re.match(r" ?\d+\. ", line):
            by_hand = "epair " not in line
        item += line + "\n" if line.endswith(",") else line
    fixes = re.findall(r"^\w+ +\[ ?(\d+)\] (?:(?!^\w).*\n)*? {5}fix ", details, re.M)
    assert sorted(later) == [int(n) for n in fixes]
    steps_of_plan = [int(n) for n in re.findall(r"^ ?(\d+)\. ", plan, re.M)]
    assert steps_of_plan == list(range(1, len(steps_of_plan) + 1))
    assert re.search(r"^ ?%d\. Check the node again:" % steps_of_plan[-1], plan, re.M)


@pytest.mark.parametrize("name", node.names())
def test_the_plan_fits_a_screen(name, node_tree):
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    plan = plan_of(text).splitlines()
    errors = sum(int(n) for n in re.findall(r"(\d+) (?:critical|error)", text.split("\n")[0]))
    assert len(plan) <= PLAN_LINES + sum("Less severe:" in line for line in plan) + 4 or errors > 10


@pytest.mark.parametrize("name", node.names())
def test_no_sentence_is_said_twice(name, node_tree):
    """The table has the titles, the plan what to do, the details the rest."""
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    if "in the details below" in text or "..." in plan_of(text):
        return	# two of the problems there can have one repair
    said = [sentence for sentence in re.split(r"(?<=\.) |\n\n|\n(?=\S)|\n +(?=\[)", text) if len(sentence.split()) > 6]
    again = {unwrapped(s) for s in said if [unwrapped(t) for t in said].count(unwrapped(s)) > 1}
    assert not again


def test_each_profile_has_a_verdict(node_tree):
    """With the problems of the profiles that it includes."""
    head = text_of(node_tree("rtx4090-stock-smallbar"), "--profile", "p2p,deepep", "--brief")
    assert re.search(r"^Profiles +base, p2p, gpudirect-rdma, deepep: not ready \((?:critical|error)\)$", head, re.M), head
    head = text_of(node_tree("h20-roce-deepep"), "--brief")
    assert "Profiles  base: ready; gpudirect-rdma: ready, with warnings\n" in head


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
    assert re.search(r"^WARN \[\d\] Peer copies .* root +fix, reboot\n.*\n? .*\(GPU0-GPU7,\n? *mlx5_0-mlx5_7\)$", text, re.M), text


def test_a_consequence_is_folded_under_its_cause(node_tree):
    """nouveau holds the GPU, so the driver is not loaded: one problem."""
    directory = node_tree("workstation-nouveau")
    text = text_of(directory)
    assert text.startswith("1 problem (1 critical).")
    assert re.search(r"^also found .*(?:\n {14}.*)*\(driver/loaded(?:, [^)]*)?\)$", text, re.M) and text.count("driver/loaded") == 1
    answers = {f["rule"]: f for f in program.report(directory)["findings"] if f["verdict"] == "fail"}
    assert answers["driver/loaded"]["follows_from"] == {"rule": "modules/nouveau-loaded", "subject": "0000:01:00.0"}


def test_expectations_are_one_block(scratch):
    """A line for each key that is not met."""
    directory = put(scratch, "hgx-h100-ib", "file /etc/nvnodecheck.conf\n[expect]\n"
                    "driver-version = 570\ngpu-model = H200")
    text = text_of(directory)
    assert text.startswith("1 problem (1 error).")
    assert "[node/expectation]" in text
    block = unwrapped(text[text.index("\nfound "):])
    assert "driver-version: 550.90.07; expected 570" in block
    assert "gpu-model GPU0-GPU7: NVIDIA H100 80GB HBM3; expected H200" in block


# ---- what was not evaluated or checked ----

def test_installed_software_names_its_profile(node_tree):
    text = text_of(node_tree("hgx-h100-ib"))
    assert "Not requested: p2p, deepep, nccl-gin." in unwrapped(text)
    assert re.search(r"^Also check: +NVSHMEM 3\.4\.5 is installed: add --profile deepep$", text, re.M)
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
    assert unwrapped(brief).count("Not checked:") == 1 and re.search(r"For \d+ of them: ", brief)
    report = program.report(directory)
    rules = {f["rule"] for f in report["findings"] if f["verdict"] == "unknown"}
    assert "Not checked: %d (-v lists them)." % len(rules) in unwrapped(brief)
    assert all(rule in verbose for rule in rules)
    for finding in report["findings"]:
        assert (finding["verdict"] == "unknown") == ("unknown_why" in finding) and finding.get("unknown_why", "?")


def test_run_as_root_is_said_to_a_user(scratch):
    directory = put(scratch, "hgx-h100-ib", "unreadable /proc/driver/nvidia/params")
    text = text_of(directory, user=True)
    assert re.search(r"For \d+ of them: run as root\.", unwrapped(text)), text


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


def test_a_sysctls_source_is_its_file(scratch):
    directory = put(scratch, "hgx-h100-ib", "sysctl kernel.numa_balancing 1")
    assert re.search(r"source +/proc/sys/kernel/numa_balancing$", text_of(directory, "-v"), re.M)


def test_notes_take_few_lines(node_tree):
    text = text_of(node_tree("hgx-h100-ib"))
    notes = [f for f in program.report(node_tree("hgx-h100-ib"))["findings"] if f["verdict"] == "note"]
    lines = [line for line in text.splitlines() if line.startswith("INFO ")]
    more = re.search(r"^ +(\d+) more notes: -v shows them$", text, re.M)
    assert len(lines) + int(more[1]) == len({(f["rule"], f["observed"]) for f in notes})
    assert "..." not in "".join(lines)
    assert "about  " not in text and "about  " in text_of(node_tree("hgx-h100-ib"), "-v")


# ---- when and by whom ----

def test_it_says_when_it_was_read_and_by_whom(node_tree, tmp_path):
    """A capture says when it was recorded, not when it was looked at."""
    document = json.loads(run("facts", "--root", node_tree("laptop")).out)
    document["os"].update(observed_time_s=1767225599, observed_uid=1000)
    file = tmp_path / "facts"
    file.write_text(json.dumps(document))
    text = text_of(file, option="--from")
    assert re.search(r"^Read 2025-12-31 23:59:59 UTC by uid 1000 \(not root\)\.$", text, re.M)
    report = run("doctor", "--json", "--from", file).json()
    assert report["taken"] == {"time": "2025-12-31T23:59:59Z", "uid": 1000}
    del document["os"]["observed_time_s"], document["os"]["observed_uid"]
    file.write_text(json.dumps(document))
    assert "Read " not in text_of(file, option="--from")
    assert run("doctor", "--json", "--from", file).json()["taken"] == {"time": None, "uid": None}


# ---- what to do ----

def steps(text):
    return re.findall(r"^ ?\d+\. (.*)$", text[text.index("What to do, in this order"):], re.M)


def test_steps_are_in_order_with_one_reboot(node_tree):
    text = text_of(node_tree("broken-everything"), "--profile", EVERYTHING)
    said = steps(text)
    assert [re.match(r"\w+ [a-z]*", s)[0] for s in said] == [
        "Take the", "By hand", "Repair ", "In the", "Save the", "During this", "Open a", "Check the"]
    assert "environment of the job" in said[3] and "firmware setup" in said[5] and "hardware support" in said[6]
    # The node is below --root: rebooting this machine would be wrong.
    assert not re.findall(r"systemctl (?:reboot|poweroff)", text)
    assert "without --apply it only shows the changes" in unwrapped(text)


@pytest.mark.parametrize("name", node.names())
def test_at_most_one_reboot(name, node_tree):
    text = text_of(node_tree(name), "--profile", EVERYTHING)
    assert len(re.findall(r"^ +sudo systemctl (?:reboot|poweroff)$", text, re.M)) <= 1


def test_the_command_repairs_what_it_says(scratch):
    """fix with the options that the report gives plans a repair for each problem that it is said to repair."""
    text = text_of(translated(scratch))
    command = re.search(r"^ +sudo nvnodecheck (fix .*)$", text, re.M)[1].split()
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
    assert steps(text)[0].startswith("Check the node again as root") and " tee " not in text


def test_a_container_is_repaired_on_its_host(scratch):
    text = text_of(put(scratch, "hgx-h200-roce", "container docker", "iommu DMA-FQ", "args -iommu=pt"))
    assert "sudo nvnodecheck fix" not in text and "administrator of the host" in text


def test_facts_alone_are_repaired_on_the_node(scratch, tmp_path):
    file = tmp_path / "facts"
    file.write_text(run("facts", "--root", put(scratch, "hgx-h100-ib", "unload nvidia_uvm")).out)
    assert "On the node, repair it" in text_of(file, option="--from")
    text = text_of(file, "--brief", option="--from")
    assert re.search(r"^Next: On the node: sudo nvnodecheck fix (?!--apply).*\(shows the changes\)$", text, re.M), text


def test_the_jobs_own_settings_are_not_roots(node_tree):
    text = text_of(node_tree("broken-everything"), "--profile", EVERYTHING, "--brief")
    assert re.search(r"^ERR .* job settings$", text, re.M)
    letter = run("doctor", "--for", "provider", "--profile", EVERYTHING, "--root", node_tree("broken-everything")).out
    assert "NCCL_SOCKET_IFNAME" not in letter


# ---- a text to send ----

def test_text_for_the_provider(scratch, node_tree):
    result = run("doctor", "--for", "provider", "--root", translated(scratch))
    assert result.status == 1
    assert re.match(r"# Request for changes on \S+\n\n2 problems on this node need a change", result.out)
    assert re.findall(r"^## (\d+)\. ", result.out, re.M) == ["1", "2"]
    for label in ("Where", "Effect", "Evidence", "Expected", "Requested change", "Takes effect", "Risk", "Background"):
        assert "**%s:**" % label in result.out, label
    assert run("doctor", "--for", "provider", "--root", node_tree("laptop")).out.endswith(
        "No problem was found that an administrator has to solve.\n")
