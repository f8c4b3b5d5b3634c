# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions among links, foreign folders and damaged records: nothing outside the plan is
written."""
import json
import os
import re
import shutil
import signal
from random import Random

from lib import plans, program, tree, txn
from lib.txn import applied, check, copy, root  # noqa: F401

pytestmark = txn.needs


CHANGING = ("open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,"
            "rmdir,link,linkat,symlink,symlinkat,chmod,fchmodat,chown,fchownat,lchown,truncate,"
            "mknod,mknodat,execve,setxattr,lsetxattr,mount,umount2")


@txn.needs_strace
def test_nothing_outside_is_written(root, place):
    """Every name that the program itself opens for writing, renames or removes is one of the plan's, of
    the state folder or the lock; names are single ones, below folders that are open."""
    log = os.path.join(place, "trace")
    ran = txn.run(root, "apply", txn.plan(root), wrap=(
        "strace", "-y", "-qq", "-o", log, "-e", "trace=" + CHANGING))
    check(ran, "applied")
    allowed = re.compile(r"%s(/etc(/modprobe\.d|/default|/systemd/system(/x\.service\.d)?)?|/run"
                         r"(/nvnodecheck)?|/var/lib(/nvnodecheck(/fix(/[\w-]+(\.new)?)?)?)?)$"
                         % re.escape(root))
    with open(log, encoding="utf-8") as file:
        lines = [line for line in file if re.search(
            r"^(?!open|execve)|O_WRONLY|O_RDWR|O_CREAT", line) and not line.startswith(("+", "-"))]
    assert len(lines) > 10
    for line in lines:
        match = re.match(r'(\w+)\(\d+<([^>]*)>, "([^"/]+)"', line)
        assert match and allowed.match(match.group(2)), line


@txn.needs_strace
@txn.needs_standin
def test_no_shell(root, place):
    log = os.path.join(place, "trace")
    txn.run(root, "apply", txn.plan(root, steps=txn.STEPS), wrap=(
        "strace", "-f", "-qq", "-o", log, "-e", "trace=execve"))
    with open(log, encoding="utf-8") as file:
        run = set(re.findall(r'execve\("([^"]*)"', file.read()))
    assert run == {txn.driver(), "/usr/sbin/mkinitramfs", "/usr/sbin/grub-mkconfig",
                   "/usr/sbin/grub2-mkconfig"}


HOSTILE = {"PATH": "/tmp/evil", "IFS": "/", "LC_ALL": "tr_TR.UTF-8", "LANG": "ja_JP.SJIS",
           "TMPDIR": "/tmp/evil", "BASH_ENV": "/tmp/evil", "ENV": "/tmp/evil", "SHELL": "/tmp/evil",
           "PAGER": "/tmp/evil", "MODPROBE_OPTIONS": "-C /tmp/evil", "LD_LIBRARY_PATH": "/tmp/evil",
           "HOME": "/tmp/evil", "DPKG_MAINTSCRIPT_PACKAGE": "x", "TZ": "/tmp/evil"}


@txn.needs_strace
def test_the_whole_program(place):
    """fix --apply and undo of a node, every process of it: what is written is the plan's, the state
    folder's or the lock's, nothing is run, and the caller's environment makes no difference."""
    stage = tree.Stage(os.path.join(place, "whole"))
    directory = plans.put(stage, "h20-roce-deepep")
    plan = plans.Plan(directory, "--profile", "deepep")
    folders = {os.path.dirname(path) for path in plan.files} | {
        "/run", "/run/nvnodecheck", "/var/lib/nvnodecheck", "/var/lib", "/var", ""}
    before = txn.content(txn.look(directory))
    for args in (["fix", "--profile", "deepep", "--apply", "--plan", plan.id], ["undo"]):
        log = os.path.join(place, "trace")
        ran = program.run(*args, "--root", directory, "--yes", env=HOSTILE, wrap=(
            shutil.which("strace"), "-f", "-y", "-qq", "-o", log, "-e", "trace=" + CHANGING))
        assert ran.status == 0, str(ran)
        with open(log, encoding="utf-8") as file:
            calls = re.findall(r"^\d+ +(\w+)\((.*)", file.read(), re.M)
        assert [text.split('"')[1] for call, text in calls if call == "execve"] == [program.binary()]
        changing = [(call, text) for call, text in calls
                    if call != "execve" and '"/dev/null"' not in text and (
                        not call.startswith("open") or
                        re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", text))]
        assert len(changing) > (10 if args[0] == "fix" else 3)
        for call, text in changing:
            # The lock and the journal, which were looked at in their folders, are opened through that.
            if re.search(r'"/proc/self/fd/\d+", O_RDWR\|O_NOCTTY\|O_CLOEXEC\) += \d+<%s(/run/nvnodecheck/fix\.lock|%s/[^/]*/journal)>' %
                         (re.escape(directory), txn.STATE), text):
                continue
            match = re.match(r'\d+<%s([^>]*)>, "([^"/]+)"' % re.escape(directory), text)
            assert match, (call, text)
            assert match.group(1) in folders or match.group(1).startswith(txn.STATE), (call, text)
        written = {path for path in txn.difference(txn.content(txn.look(directory)), before)
                   if not path.startswith(txn.OURS)}
        assert written == (set(plan.files) if args[0] == "fix" else set())
    shutil.rmtree(stage.directory)


def swap(folder, target):
    """Never returns."""
    while True:
        for step in (lambda: os.rename(folder, folder + ".away"), lambda: os.symlink(target, folder),
                     lambda: os.unlink(folder), lambda: os.rename(folder + ".away", folder)):
            try:
                step()
            except OSError:
                pass


def test_link_races(root, place):
    """Somebody who can write to a folder of the tree turns it into a link and back all the time: what
    lies outside stays as it is."""
    outside = os.path.join(place, "outside-race")
    shutil.rmtree(outside, ignore_errors=True)
    os.makedirs(outside + "/modprobe.d")
    txn.put(outside, "/modprobe.d/zz-nvnodecheck.conf", "canary\n")
    os.chmod(root + "/etc", 0o755)
    pid = os.fork()
    if pid == 0:
        swap(root + "/etc/modprobe.d", outside + "/modprobe.d")
    try:
        for _ in range(60):
            ran = txn.run(root, "apply", txn.plan(root, [txn.file(txn.CONF, "x\n", before=None)]))
            if ran.result == "applied":
                txn.run(root, "undo")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert os.listdir(outside) == ["modprobe.d"]
    assert os.listdir(outside + "/modprobe.d") == ["zz-nvnodecheck.conf"]
    assert txn.read(outside, "/modprobe.d/zz-nvnodecheck.conf") == b"canary\n"


def test_hostile_state_folder(root, place):
    """Records that point elsewhere, are links, or are no records."""
    outside = os.path.join(place, "outside-state")
    os.makedirs(outside, exist_ok=True)
    ran = applied(root)
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    record = txn.read(folder, "/plan.json").decode()
    os.chmod(root + txn.STATE, 0o777)
    assert "can be written to by all users" in txn.run(root, "undo").outcome["text"]
    os.chmod(root + txn.STATE, 0o700)
    for text in ("", "{}", "[" * 100, record[:200], record.replace("uid 0", "uid 1")):
        txn.put(folder, "/plan.json", text)
        ran = check(txn.run(root, "undo"), "refused")
        assert "set-aside" in ran.outcome["text"], str(ran)
    txn.put(folder, "/plan.json", record)
    for path in ("/etc/../../x", "/etc//x", "etc/x", "/", "/etc/./x", "/etc/x\n", "", "/" + "x" * 300):
        txn.put(folder, "/plan.json", record)
        txn.forge(folder, lambda r: json.loads(json.dumps(r).replace(
            "/etc/default/grub", json.dumps(path)[1:-1])))
        assert "not in the form that this program writes" in check(txn.run(root, "undo"), "refused").outcome["text"]
    assert not os.listdir(outside) and txn.read(root, "/etc/default/grub") == b"quiet iommu=pt\n"


def test_lost_record(root):
    """Without plan.json nobody knows what was done; that it never began is not so, and what was kept of
    the files stays."""
    folder = root + txn.STATE + "/" + applied(root).outcome["id"]
    os.unlink(folder + "/plan.json")
    kept = os.listdir(folder)
    assert [e["status"] for e in txn.run(root, "list").outcome] == ["damaged"]
    ran = check(txn.run(root, "undo"), "refused")
    assert "plan.json: it is missing" in ran.outcome["text"] and os.listdir(folder) == kept
    # It was applied, so it is in nobody's way; one that was interrupted is.
    applied(root, [txn.file("/etc/later", "1\n")])
    check(txn.run(root, "undo"), "undone")
    text = txn.read(folder, "/journal").decode().splitlines(True)
    txn.put(folder, "/journal", "".join(text[:2]), 0o600)
    for args in (["undo"], ["recover"], ["apply", txn.plan(root, [txn.file("/etc/later", "1\n")])]):
        assert "not known" in check(txn.run(root, *args), "refused").outcome["text"]
    assert os.listdir(folder) == kept
    # As the message says.
    os.rename(folder, folder + ".set-aside")
    applied(root, [txn.file("/etc/later", "1\n")])


def test_damaged_records(root):
    """Records with bytes changed, cut and repeated: an answer each time, and no file that is not the
    plan's is touched."""
    random = Random(1)
    txn.make(root, False)
    ran = applied(root, txn.FILES, [])
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    kept, names = root + ".damaged", ("/plan.json", "/journal")
    copy(root, kept)
    ours = set(f["path"] for f in txn.FILES)
    before = txn.content(txn.look(root))
    for _ in range(150):
        copy(kept, root)
        for name in names:
            data = bytearray(txn.read(folder, name))
            for _ in range(random.choice((0, 1, 1, 3))):
                at, n = random.randrange(len(data)), random.randrange(20)
                data[at:at + n] = random.choice((b"", bytes(random.randrange(256) for _ in range(n)),
                                                 data[at:at + n] * 2, b'"/', b"null", b"99999999999"))
            txn.put(folder, name, bytes(data), 0o600)
        for args in (["list"], ["recover"], ["undo"]):
            ran = txn.run(root, *args)
            assert ran.status in (0, 1), str(ran)
        now = txn.content(txn.look(root))
        assert all(p in ours or p.endswith("x.service.d") for p in txn.difference(now, before)), \
            txn.difference(now, before)
    shutil.rmtree(kept)


HUGE = 1 << 40
LIMIT_S = 20  # a hole of a terabyte takes many minutes to read


def uncommit(events):
    return [e for e in events if not e.startswith(("VERIFIED", "COMMIT"))]


def test_huge_files(root):
    """A kept copy, or a file in its place, that has terabytes is not read: it is not what was left. Also when the
    record, as older ones, has no size of the new file, or lies about that of the old one."""
    kept = root + ".huge"
    ran = applied(root)
    state = txn.STATE + "/" + ran.outcome["id"]
    copy(root, kept)

    def forget(record):
        for each in record["files"]:
            (each["after"] or {}).pop("size_bytes", None)
        return record

    def lie(record):
        record["files"][1]["before"]["size_bytes"] = HUGE
        return forget(record)

    for path in (state + "/before.1", "/etc/default/grub", "/etc/default/.nvnodecheck.old.grub"):
        for edit in (lambda record: record, forget, lie):
            for verb, events in (("undo", list), ("recover", uncommit)):
                copy(kept, root)
                txn.forge(root + state, edit, events)
                if not os.path.exists(root + path):
                    txn.put(root, path, "")
                os.truncate(root + path, HUGE)
                ran = txn.run(root, verb, timeout=LIMIT_S)
                assert ran.status in (0, 1) and ran.outcome, str(ran)
                said = json.dumps(ran.outcome)
                assert "/etc/default/grub" in said and re.search(
                    "damaged|larger than 4 GiB|left as it is|kept beside", said), str(ran)
    # The twin: a record without the new sizes is undone as before.
    copy(kept, root)
    txn.forge(root + state, forget)
    check(txn.run(root, "undo"), "undone")
    assert txn.read(root, "/etc/default/grub") == b"quiet\n"
    shutil.rmtree(kept)


def test_signal_while_reading(root):
    """Before its first change undo ends at a signal, however much there is to read."""
    files = [txn.file("/etc/big/%d" % i, "new\n") for i in range(12)]
    for each in files:
        txn.put(root, each["path"], "old\n")
    state = root + txn.STATE + "/" + applied(root, files).outcome["id"]

    def forget(record):
        for each in record["files"]:
            each["after"].pop("size_bytes", None)
        return record

    txn.forge(state, forget)
    for each in files:
        os.truncate(root + each["path"], 4 << 30)
    ran = txn.run(root, "undo", timeout=LIMIT_S, wrap=(
        "timeout", "--preserve-status", "-k", "10", "1"))
    assert ran.result == "refused" and ran.outcome["text"].endswith("stopped by a signal"), str(ran)
    assert all(os.path.getsize(root + each["path"]) == 4 << 30 for each in files)
