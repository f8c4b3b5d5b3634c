# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions on this host, in a namespace of its own: settings, device files, the audit record."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from lib import program, txn
from lib.txn import outcome, root  # noqa: F401

pytestmark = txn.needs


LIVE = r"""
for f in /var/lib /run /etc /boot /usr/sbin; do [ -d $f ] || continue
	[ -d "$1$f" ] && mount --bind "$1$f" $f || mount -t tmpfs -o mode=755 tmpfs $f; done
mount -t tmpfs -o mode=755 tmpfs /mnt; mkdir /mnt/dev; mknod /mnt/dev/null c 1 3
mount --bind /mnt/dev /dev
"""


def live(root, plan, script):
    """SCRIPT with $D the driver and $P the plan, where "/" has the folders of ROOT and a network, and
    thereby settings, of its own."""
    path = txn.plan(root, *plan)
    hidden = os.path.join(root, "usr", "sbin")
    os.makedirs(hidden, exist_ok=True)
    shutil.copy(txn.driver(), root + "/etc/txn-driver")
    shutil.copy(path, root + "/etc/plan")
    own = program.with_own_mounts("--net", "--propagation", "private")
    return subprocess.run([*own, "sh", "-ec", LIVE + "D=/etc/txn-driver P=/etc/plan\n" + script, "sh",
                           root],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=program.environment())


def test_settings_and_device_nodes(root):
    steps = [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"},
             {"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
    ran = live(root, ([], steps), """
cat /proc/sys/net/ipv4/ip_forward >&2
$D / apply $P > /etc/1 || :
cat /proc/sys/net/ipv4/ip_forward >&2; stat -c '%a %t:%T' /dev/gdrdrv >&2
$D / undo > /etc/2 || :
cat /proc/sys/net/ipv4/ip_forward >&2; ls /dev >&2
$D / apply $P > /dev/null; echo 2 > /proc/sys/net/ipv4/ip_forward
rm /dev/gdrdrv; mknod /dev/gdrdrv c 1 3
$D / undo > /etc/3 || :
cat /proc/sys/net/ipv4/ip_forward >&2; ls /dev >&2
""")
    said = [line for line in ran.stderr.decode().split("\n") if "net." not in line and "device file" not in line]
    assert said[:6] == ["0", "1", "660 f0:0", "0", "null", "2"], said
    assert json.loads(txn.read(root, "/etc/1"))["result"] == "applied"
    assert json.loads(txn.read(root, "/etc/2"))["result"] == "undone"
    third = json.loads(txn.read(root, "/etc/3"))
    assert third["result"] == "partly"
    assert [i["state"] for i in third["items"]] == ["kept", "kept"]


def test_node_of_another_number(root):
    """What a module left that had another number is replaced, and put back; a link is not followed."""
    steps = [{"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
    ran = live(root, ([], steps), """
show() { stat -c '%F %a %t:%T' /dev/gdrdrv >&2; }
mknod -m 600 /dev/gdrdrv c 239 0
$D / apply $P > /etc/1; show; $D / undo > /dev/null; show
for n in $(seq 1 50); do
	NVNODECHECK_TEST_CRASH_AT=$n $D / apply $P > /dev/null 2>&1 && break
	$D / recover > /dev/null 2>&1; show
	[ "$(stat -c %t /dev/gdrdrv)" = ef ] || $D / undo > /dev/null
done
$D / undo > /dev/null; rm /dev/gdrdrv; ln -s null /dev/gdrdrv
$D / apply $P > /etc/2 || :; show
""")
    said = [line for line in ran.stderr.decode().splitlines() if re.match("character|symbolic", line)]
    new, old = "character special file 660 f0:0", "character special file 600 ef:0"
    assert said[:2] == [new, old], ran.stderr
    assert set(said[2:-1]) <= {new, old} and len(said) > 5
    assert "not a character device" in json.loads(txn.read(root, "/etc/2"))["text"]
    assert said[-1].startswith("symbolic link")


def test_labels_of_what_is_new(root):
    """As SELinux's policy wants them for that name; what was there keeps its own."""
    os.makedirs(root + "/etc/lib")
    built = subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o",
                            root + "/etc/lib/libselinux.so.1",
                            os.path.join(os.path.dirname(__file__), "standins", "selinux.c")], check=False)
    assert built.returncode == 0
    os.setxattr(root + "/etc/default/grub", "security.selinux", b"old\0")
    steps = [{"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
    ran = live(root, (txn.FILES, steps), """
LD_LIBRARY_PATH=/etc/lib $D / apply $P
%s - <<'EOF'
import os, sys
for path in ("%s", "/etc/systemd/system/x.service.d", "/etc/systemd/system/x.service.d/n.conf",
             "/dev/gdrdrv", "/etc/default/grub"):
    label = os.getxattr(path, "security.selinux").decode().rstrip("\\0")
    print(label, file=sys.stderr)
EOF
LD_LIBRARY_PATH=/etc/lib $D / undo > /dev/null
""" % (sys.executable, txn.CONF))
    assert outcome(ran)["result"] == "applied"
    assert ran.stderr.decode().splitlines()[-5:] == [
        "standin:100000:" + txn.CONF, "standin:40000:/etc/systemd/system/x.service.d",
        "standin:100000:/etc/systemd/system/x.service.d/n.conf", "standin:20000:/dev/gdrdrv", "old"]


def test_settings_after_a_boot(root):
    """Whatever the kernel was told is forgotten then, and what it has now comes from the files."""
    ran = live(root, ([], [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"}]), """
$D / apply $P > /dev/null
echo 00000000-0000-0000-0000-000000000000 > /etc/boot_id
mount --bind /etc/boot_id /proc/sys/kernel/random/boot_id
$D / undo; cat /proc/sys/net/ipv4/ip_forward >&2
""")
    assert outcome(ran)["items"][0]["text"] == "not needed: the host has booted since"
    assert ran.stderr.decode().split("\n")[-2] == "1"


def test_crash_among_settings(root):
    steps = [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"},
             {"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
    ran = live(root, (txn.FILES, steps), """
for n in $(seq 1 200); do
	NVNODECHECK_TEST_CRASH_AT=$n $D / apply $P > /dev/null 2>&1 && break
	$D / recover > /dev/null 2>&1
	echo $(cat /proc/sys/net/ipv4/ip_forward) $(ls /dev) $(cat /etc/default/grub) >&2
	# Killed after the last line of the journal was written.
	[ ! -e /dev/gdrdrv ] || $D / undo > /dev/null
done
""")
    lines = {line for line in ran.stderr.decode().splitlines() if re.match("[01] ", line)}
    assert "0 null quiet" in lines and lines <= {"0 null quiet", "1 gdrdrv null quiet iommu=pt"}, \
        ran.stderr


@txn.needs_standin
def test_boot_that_is_not_mounted(root):
    txn.put(root, "/etc/fstab", "# x\nUUID=1 / ext4 defaults 0 1\nUUID=2 /boot/grub/ ext4 defaults\n")
    ran = live(root, (txn.FILES, [txn.MENU_STEP]), "$D / apply $P")
    assert "/boot/grub is in /etc/fstab and is not mounted" in outcome(ran)["text"]
    # A list of mounts that is longer than a text file may be is read, too: users can make mounts.
    long = "/mnt" + 15 * ("/" + 240 * "x")
    ran = live(root, (txn.FILES, [txn.MENU_STEP]), """
mkdir -p %s; for n in $(seq 1 300); do mount --bind /etc %s; done
[ $(wc -c < /proc/self/mountinfo) -gt 1048576 ]; $D / apply $P""" % (long, long))
    assert "/boot/grub is in /etc/fstab and is not mounted" in outcome(ran)["text"]
    txn.put(root, "/etc/fstab", "# x\n" * 300000)
    ran = live(root, (txn.FILES, [txn.MENU_STEP]), "$D / apply $P")
    assert "/etc/fstab: " in outcome(ran)["text"]
    txn.put(root, "/etc/fstab", "UUID=2 /boot/grub ext4 noauto,ro\n")
    ran = live(root, (txn.FILES, [txn.MENU_STEP]), "$D / apply $P --no-regenerate")
    assert outcome(ran)["result"] == "applied"


def test_units_where_systemd_does_not_run(root):
    ran = live(root, (txn.FILES, [{"kind": "daemon-reload"}]), "$D / apply $P; $D / undo > /dev/null")
    assert outcome(ran)["items"][-1]["text"] == "systemd is not running here"


def test_audit(root):
    """journald's protocol: one datagram, a field a line (systemd, JOURNAL_NATIVE_PROTOCOL)."""
    script = """
mkdir -p /run/systemd/journal
%s -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/run/systemd/journal/socket")
s.settimeout(60)
print("bound", flush=True)
for i in range(2):
    sys.stderr.write(s.recv(65536).decode() + "\\n--\\n")
' > /etc/bound & pid=$!
for i in $(seq 600); do grep -q bound /etc/bound && break; sleep 0.1; done
SUDO_UID=1000 $D / apply $P
wait $pid
""" % "/usr/bin/python3"
    ran = live(root, (txn.FILES, []), script)
    begin, end = ran.stderr.decode().split("\n--\n")[:2]
    if "NVNODECHECK" not in begin:
        pytest.skip("libsystemd is not installed")
    for text in (begin, end):
        assert "NVNODECHECK_PLAN=0123456789abcdef" in text
        assert "NVNODECHECK_TRANSACTION=" + outcome(ran)["id"] in text
        assert re.search(r"^NVNODECHECK_FILE=%s - [0-9a-f]{64}$" % txn.CONF, text, re.M)
        assert "\nSUDO_UID=1000\n" in text and "MESSAGE_ID=" in text
    assert "NVNODECHECK_RESULT=applied" in end
