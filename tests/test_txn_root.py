# SPDX-License-Identifier: GPL-2.0-or-later
"""--root: one folder, opened once. Whoever can exchange it changes nothing that was not looked at; and
what was done to a running host is not taken back on another one."""
import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from lib import plans, program, tree, txn
from lib.txn import Stopped, applied, check, root  # noqa: F401
from test_txn_live import live

pytestmark = txn.needs

OWN = "/etc/modprobe.d/zz-nvnodecheck.conf"
FLAG = "--allow-writable-parents"
STRANGER = 4711


@pytest.fixture
def above(place):
    """A folder to put roots into, whose mode and owner tests change."""
    path = os.path.join(place, "above")
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    yield path
    shutil.rmtree(path, ignore_errors=True)


# ---- exchanged between looking and changing ----

def answer(question, then, *args):
    """Runs the program on a terminal, does THEN when it asks QUESTION, and says yes."""
    main, terminal = pty.openpty()
    process = subprocess.Popen([program.binary(), *args], stdin=terminal, stdout=terminal,
                               stderr=terminal, env=program.environment())
    os.close(terminal)
    said = b""
    while question not in said:
        said += os.read(main, 4096)
    then()
    os.write(main, b"y\n")
    try:
        while True:
            said += os.read(main, 4096)
    except OSError:
        pass
    os.close(main)
    return process.wait(timeout=program.TIMEOUT_S), said.decode("utf-8", "replace")


def exchange(path, other, how):
    """What whoever owns the folder above can do; where the root is then."""
    os.rename(path, path + ".away")
    if how == "folder":
        os.rename(other, path)
    else:
        os.symlink(other, path)
    return path + ".away", path if how == "folder" else other


@pytest.mark.parametrize("how", ["folder", "link"])
def test_exchanged_at_the_question(above, how):
    """What the plan was made from is changed, and looked at again, whatever has its name by then."""
    stage = tree.Stage(os.path.join(above, "root"))
    directory = plans.put(stage, "h20-roce-deepep")
    other = above + "/other"
    shutil.copytree(directory, other, symlinks=True)
    os.makedirs(other + "/etc/modprobe.d", exist_ok=True)
    txn.put(other, "/etc/modprobe.d/canary.conf", "# nobody's\n")
    before = txn.look(other)
    where = []
    status, said = answer(b"[y/N]", lambda: where.extend(exchange(directory, other, how)), "fix",
                          "--profile", "deepep", "--root", directory, "--apply", FLAG)
    assert status == 0 and "Applied" in said, said
    was, now = where
    assert os.path.exists(was + OWN) and not os.path.exists(now + OWN)
    assert not txn.difference(txn.look(now), before)


@pytest.mark.parametrize("how", ["folder", "link"])
def test_undo_exchanged_at_the_question(above, how):
    stage = tree.Stage(os.path.join(above, "root"))
    directory = plans.put(stage, "h20-roce-deepep")
    other = above + "/other"
    assert program.run("fix", "--profile", "deepep", "--root", directory, "--apply", "--yes").status == 0
    shutil.copytree(directory, other, symlinks=True)
    before = txn.look(other)
    where = []
    status, said = answer(b"[y/N]", lambda: where.extend(exchange(directory, other, how)), "undo",
                          "--root", directory, FLAG)
    assert status == 0, said
    was, now = where
    assert not os.path.exists(was + OWN) and not txn.difference(txn.look(now), before)


@txn.needs_standin
@pytest.mark.parametrize("verb", ["apply", "undo"])
def test_programs_of_an_exchanged_root(above, verb):
    """Their generator would be run as root."""
    path, other = above + "/root", above + "/other"
    txn.make(path)
    txn.make(other)
    plan = txn.plan(path, steps=[txn.IMAGE_STEP])
    args, at = ["apply", plan], "running a step"
    if verb == "undo":
        check(txn.run(path, *args), "applied")
        txn.put(path, txn.IMAGE, txn.image(("other.conf", txn.OPTIONS)), 0o600)
        os.unlink(path + "/standin.log")
        args, at = ["undo"], "creating a kept file"
    run = Stopped(path, *args, at=at)
    exchange(path, other, "folder")
    ran = run.go_on()
    assert ran.result in ("applied", "undone"), str(ran)
    assert os.path.exists(path + ".away/standin.log") and not os.path.exists(path + "/standin.log")


def test_plan_of_another_root(above):
    """The transaction asks whose plan it is."""
    first, second = txn.make(above + "/first"), txn.make(above + "/second")
    plan = txn.plan(first)
    ran = txn.run(second, "apply", plan, "--plan-of", first)
    assert "made for another root" in check(ran, "refused").outcome["text"]


# ---- who else could exchange it ----

def set_owner(path, mode=0o755, uid=0, gid=0):
    os.chown(path, uid, gid)
    os.chmod(path, mode)


VERBS = (["apply"], ["undo"], ["recover"])


def tried(path, *args):
    """Each verb, refused before it writes anything, and done with the flag."""
    plan = txn.plan(path)
    before = txn.look(path)
    texts = []
    for verb in VERBS:
        ran = check(txn.run(*args, *verb, *([plan] if verb == ["apply"] else [])), "refused")
        texts.append(ran.outcome["text"])
        assert FLAG in texts[-1], texts
        assert not txn.difference(txn.look(path), before)
        assert not os.path.exists(path + "/run/nvnodecheck")
    check(txn.run(*args, "apply", plan, FLAG), "applied")
    check(txn.run(*args, "undo", FLAG), "undone")
    return texts[0]


@pytest.mark.parametrize("owner, said", [
    (dict(mode=0o777), "can be written to by all users"), (dict(mode=0o775, gid=5), "by a group"),
    (dict(uid=STRANGER), "does not belong to root"),
    (dict(mode=0o1777, uid=STRANGER), "does not belong to root"),
])
@pytest.mark.parametrize("depth", [1, 3])
def test_parents_of_others(above, owner, said, depth):
    path = above + "/a/b"[:2 * (depth - 1)] + "/root"
    txn.make(path)
    set_owner(above, **owner)
    assert said in tried(path, path)


def test_parents_through_an_acl(above):
    if not shutil.which("setfacl"):
        pytest.skip("setfacl is not installed")
    path = txn.make(above + "/root")
    subprocess.run(["setfacl", "-m", "u:%d:rwx" % STRANGER, above], check=True)
    assert "ACL" in tried(path, path)


def test_sticky_parents(above):
    """As /tmp: what is root's there nobody else can rename; what is not root's can be."""
    path = txn.make(above + "/mine/root")
    set_owner(above, 0o1777)
    applied(path)
    check(txn.run(path, "undo"), "undone")
    set_owner(above + "/mine", uid=STRANGER)
    shutil.rmtree(path + "/run/nvnodecheck")
    tried(path, path)


def test_link_in_a_folder_of_others(above, place):
    """The root is fine, and the name that leads to it is somebody's to change."""
    path = txn.make(os.path.join(place, "fine"))
    os.symlink(path, above + "/root")
    set_owner(above, uid=STRANGER)
    tried(path, above + "/root")
    set_owner(above)
    check(txn.run(above + "/root", "apply", txn.plan(path)), "applied")
    shutil.rmtree(path)


def test_relative_names(above):
    path = txn.make(above + "/root")
    set_owner(above, 0o777)
    for name, folder in (("root", above), (".", path), ("../root/.", path), ("etc/..", path)):
        ran = subprocess.run([txn.driver(), name, "apply", txn.plan(path)], cwd=folder, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert "by all users" in json.loads(ran.stdout)["text"], (name, ran.stdout)


def test_the_program_says_how(above):
    """The option, the exit status, and that reading a tree needs none of it."""
    directory = plans.put(tree.Stage(above + "/root"), "h20-roce-deepep")
    set_owner(above, 0o777)
    for verb in (["fix", "--apply", "--profile", "deepep"], ["undo"]):
        ran = program.run(*verb, "--root", directory, "--yes")
        assert ran.status == 4 and FLAG in ran.out + ran.err, str(ran)
    assert not os.path.exists(directory + "/var/lib/nvnodecheck")
    for verb in (["fix", "--profile", "deepep"], ["doctor"], ["undo", "--list"]):
        assert program.run(*verb, "--root", directory).status in (0, 1), verb
    for verb in (["fix", "--apply", "--profile", "deepep"], ["undo"]):
        assert program.run(*verb, "--root", directory, "--yes", FLAG).status == 0
    assert program.run("fix", "--root", directory, FLAG).status == 2


def test_root_of_another_process(place):
    """/proc/PID/root is a link that only the kernel can follow."""
    path = txn.make(os.path.join(place, "inside"))
    ran = subprocess.run(
        [*program.with_own_mounts("--propagation", "private"), "sh", "-ec", """
        mount --bind "$1" "$1"; cd "$1"; mkdir -p old dev; mount --bind /dev dev
        cp -a /usr/bin/sleep "$1/sleep" 2>/dev/null || :
        unshare --mount sh -ec 'mount --rbind "$1" "$1"; exec sleep 30' sh "$1" & pid=$!
        "$2" /proc/$pid/root"$1" apply "$3" || :
        kill $pid""", "sh", path, txn.driver(), txn.plan(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=program.environment())
    assert txn.outcome(ran)["result"] == "applied", ran.stderr
    shutil.rmtree(path, ignore_errors=True)


# ---- steps belong to one boot of one machine ----

STEPS = [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"},
         {"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
TREE = "mkdir -p /mnt/tree; mount --rbind / /mnt/tree\n"


@pytest.mark.parametrize("verb", ["undo", "recover"])
def test_live_repair_taken_back_through_a_root(root, verb):
    """From a rescue system: files come back, the kernel that runs there is left alone."""
    crash = "NVNODECHECK_TEST_POINT='fsync of the journal' NVNODECHECK_TEST_CRASH_AT=%d " % (
        2 * len(txn.FILES) + 2 * len(STEPS) + 1) if verb == "recover" else ""
    ran = live(root, (txn.FILES, STEPS), TREE + crash + """ $D / apply $P > /dev/null 2>&1 || :
test "$(cat /proc/sys/net/ipv4/ip_forward)" = 1
$D /mnt/tree %s
cat /proc/sys/net/ipv4/ip_forward >&2; ls /dev >&2; cat /etc/default/grub >&2
""" % verb)
    said = txn.outcome(ran)
    assert ran.stderr.decode().split()[-4:] == ["1", "gdrdrv", "null", "quiet"], ran.stderr
    if verb == "undo":
        assert said["result"] == "undone", said
        assert {i["state"] for i in said["items"] if "/" not in i["subject"][:1]} == {"left"}
        assert "done on the running system" in said["items"][-1]["text"]
    else:
        assert "was interrupted" in said["recovered"][0]
        assert "undone, except for net.ipv4.ip_forward=1: it was done on the running" in said["recovered"][0]


FAKE_DRIVER = """
mkdir -p /etc/module/nvidia/holders; echo 0 > /etc/module/nvidia/refcnt; echo live > /etc/module/nvidia/initstate
"""


@txn.needs_strace
@pytest.mark.parametrize("more", ["", "--no-regenerate"])
def test_hostile_record_does_not_reach_the_host(root, place, more):
    """A tree's record asks for modules, units and an index to be changed, for this very boot."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    kinds = [("unload-module", {"subject": "nvidia", "was": "loaded"}),
             ("load-module", {"subject": "nvidia"}), ("reload-driver", {"was": "nvidia"}),
             ("unit-stop", {"subject": "x.service", "was": "active"}),
             ("unit-start", {"subject": "x.service"}), ("daemon-reload", {}),
             ("sysctl", {"subject": "kernel.pid_max=4194304", "was": "1"}),
             ("device-node", {"subject": "/dev/evil c 1:3 0666"})]
    steps = [dict({"kind": kind, "subject": None, "path": None, "tool": None, "boot": boot,
                   "was": None, "left": None, "files": []}, **fields) for kind, fields in kinds]
    steps.append({"kind": "depmod", "subject": txn.KERNEL, "path": None, "tool": None, "boot": None,
                  "was": None, "left": None, "files": [], "argv": ["/usr/sbin/depmod", "-a", "evil"]})
    for name in ("depmod", "systemctl"):
        shutil.copy(txn.standin(), root + "/usr/sbin/" + name)
    shutil.copy(txn.standin(), root + "/usr/bin/systemctl")
    os.makedirs(root + "/run/systemd/system")
    os.makedirs(root + "/dev")
    os.mknod(root + "/dev/evil", 0o600 | 0o020000, os.makedev(1, 3))
    txn.put(root, "/sys/module/nvidia/refcnt", "0\n")
    txn.put(root, "/proc/sys/kernel/pid_max", "4194304\n")
    folder = txn.folder(root, applied(root, [txn.file("/etc/new", "x\n")]))
    runs = ["RUN %d" % n for n in range(len(steps))]

    def edit(record):
        return dict(record, steps=steps, boot_id=boot)
    txn.forge(folder, edit, lambda events: events[:-2] + runs + events[-2:])
    log = os.path.join(place, "calls")
    ran = txn.run(root, "undo", *more.split(), wrap=(
        "strace", "-f", "-qq", "-o", log, "-e",
        "trace=execve,delete_module,init_module,finit_module,mknodat,unlinkat,openat"))
    assert ran.result == "undone", str(ran)
    states = [i["state"] for i in ran.outcome["items"]][1:]
    assert states == ["left"] * 8 + (["left"] if more else ["restored"]), str(ran)
    with open(log, encoding="utf-8", errors="replace") as file:
        calls = file.read()
    assert "_module" not in calls and "evil" not in calls and "pid_max\", O_W" not in calls
    assert calls.count("execve(") == (1 if more else 2)
    log = root + "/standin.log"
    assert not os.path.exists(log) if more else "run depmod -a %s\n" % txn.KERNEL in txn.read(
        root, "/standin.log").decode()


@txn.needs_standin
@txn.needs_strace
def test_no_regenerate_is_honoured_by_undo(root, place):
    """Images, menus and an index that changed since are named, and nothing is run."""
    shutil.copy(txn.standin(), root + "/usr/sbin/depmod")
    steps = txn.STEPS + [{"kind": "depmod", "subject": txn.KERNEL}]
    applied(root, txn.FILES, steps)
    made = txn.image(("other.conf", txn.OPTIONS))
    txn.put(root, txn.IMAGE, made, 0o600)
    log = os.path.join(place, "calls")
    ran = check(txn.run(root, "undo", "--no-regenerate", wrap=(
        "strace", "-f", "-qq", "-o", log, "-e", "trace=execve")), "undone")
    with open(log, encoding="utf-8") as file:
        assert file.read().count("execve(") == 1
    assert ran.item("initramfs")["state"] == "left" and txn.read(root, txn.IMAGE) == made
    assert "depmod -a" in ran.item("module index")["text"]
    assert not os.path.exists(root + txn.WANTS + "/x.service")


@txn.needs_standin
def test_capabilities_of_programs_in_a_tree(root):
    """What builds an image there can reach neither modules nor the clock of the kernel that runs."""
    applied(root, txn.FILES, [txn.IMAGE_STEP])
    line = next(l for l in txn.read(root, "/standin.log").decode().splitlines() if l.startswith("caps "))
    for number in (16, 17, 22, 25, 19, 12):     # linux/capability.h: SYS_MODULE, RAWIO, BOOT, TIME, ...
        assert not int(line.split()[1], 16) >> number & 1, line


# ---- what somebody put where the lock lies ----

@pytest.mark.parametrize("kind", ["link", "device", "fifo"])
def test_the_lock_is_a_file_of_its_own(kind, root, place):  # noqa: F811
    """A second name of a file outside is not written to, and a device is not opened."""
    outside, folder = os.path.join(place, "precious"), root + "/run/nvnodecheck"
    with open(outside, "w", encoding="utf-8") as file:
        file.write("precious\n")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    lock = folder + "/fix.lock"
    if os.path.lexists(lock):
        os.unlink(lock)
    if kind == "link":
        os.link(outside, lock)
    elif kind == "device":
        os.mknod(lock, 0o600 | 0o020000, os.makedev(1, 3))
    else:
        os.mkfifo(lock)
    result = program.run("fix", "--apply", "--all", "--yes", "--no-regenerate", "--root", root)
    with open(outside, encoding="utf-8") as file:
        assert file.read() == "precious\n"
    os.unlink(outside)
    assert result.status == 4 and "not a regular file with one name" in result.err, str(result)


def test_a_mount_on_the_lock(root, place):  # noqa: F811
    """The file that is mounted there is not emptied."""
    outside, folder = os.path.join(place, "mounted"), root + "/run/nvnodecheck"
    with open(outside, "w", encoding="utf-8") as file:
        file.write("precious\n")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(folder + "/fix.lock", "w", encoding="utf-8"):
        pass
    result = program.run("fix", "--apply", "--all", "--yes", "--no-regenerate", "--root", root, wrap=[
        *program.with_own_mounts("--propagation", "private"), "sh", "-ec", 'mount --bind "$0" "$1"; shift; exec "$@"',
        outside, folder + "/fix.lock"])
    with open(outside, encoding="utf-8") as file:
        assert file.read() == "precious\n"
    os.unlink(outside)
    assert result.status == 4 and "mounted there" in result.err, str(result)


# ---- what somebody put where a record lies ----

def opened(calls, name):
    """The first call that opened what has NAME in a state folder; O_PATH opens nothing. strace -y says what it was."""
    return next((line for line in calls.splitlines()
                 if re.search(r" = \d+<.*%s/.*/%s>" % (txn.STATE, re.escape(name)), line) and "O_PATH" not in line), None)


@txn.needs_strace
@pytest.mark.parametrize("verb", ["list", "undo", "apply"])
@pytest.mark.parametrize("name", ["journal", "plan.json", "before.1"])
@pytest.mark.parametrize("kind", ["device", "fifo", "link"])
def test_only_files_are_opened_in_a_state_folder(kind, name, verb, root, place):  # noqa: F811
    """The owner of a tree puts a device, a FIFO or a second name of a file outside where a record lies."""
    outside, log = os.path.join(place, "precious-too"), os.path.join(place, "calls")
    folder = txn.folder(root, applied(root))
    path = folder + "/" + name
    shutil.copy(path, outside)
    os.unlink(path)
    if kind == "link":
        os.link(outside, path)
    elif kind == "device":
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 8))
    else:
        os.mkfifo(path)
    args = {"list": ("undo", "--list"), "undo": ("undo", "--yes"),
            "apply": ("fix", "--apply", "--all", "--yes", "--no-regenerate")}[verb]
    ran = subprocess.run(["strace", "-f", "-y", "-qq", "-o", log, "-e", "trace=openat,open", program.binary(), *args,
                          "--root", root], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False, env=program.environment(), timeout=program.TIMEOUT_S)
    with open(log, encoding="utf-8", errors="replace") as file:
        found = opened(file.read(), name)
    # A probe may read a second name of a file.
    assert not found or (kind == "link" and verb == "apply"), found
    os.unlink(outside)
    assert verb != "undo" or name == "before.1" or b"Nothing was changed" in ran.stdout, ran.stdout
