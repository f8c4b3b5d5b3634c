# SPDX-License-Identifier: GPL-2.0-or-later
"""Services from files, links and processes, with systemctl --root as the oracle, and from systemd over
D-Bus: a real manager in a mount and process namespace of its own."""
import json
import os
import shutil
import subprocess

import pytest

from lib.userland import BINARY, Link, by, gaps, make, observe

SYSTEMD = "/lib/systemd/systemd"
INSTALL = "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
STATIC = "[Service]\nExecStart=/bin/true\n"
VENDOR = "/usr/lib/systemd/system/"
ETC = "/etc/systemd/system/"
WANTS = ETC + "multi-user.target.wants/"

needs_systemctl = pytest.mark.skipif(not shutil.which("systemctl"), reason="systemctl is the oracle")


def units_of(root, *arguments):
    facts = observe(root, *arguments)
    return facts["services"], by(facts["services"]["units"], "unit")


def is_enabled(root, unit):
    done = subprocess.run(["systemctl", "--root=" + str(root), "is-enabled", unit],
                          capture_output=True, text=True)
    # systemd 257 has a word for it on standard output, 252 had none.
    return {"": None, "not-found": None}.get(done.stdout.strip(), done.stdout.strip())


TREE = {
    "/lib": Link("usr/lib"),
    VENDOR + "nvidia-persistenced.service": INSTALL,
    WANTS + "nvidia-persistenced.service": Link("/lib/systemd/system/nvidia-persistenced.service"),
    VENDOR + "nvidia-fabricmanager.service": INSTALL,
    VENDOR + "tuned.service": STATIC,
    VENDOR + "systemd-modules-load.service": STATIC,
    VENDOR + "sysinit.target.wants/systemd-modules-load.service":
        Link("../systemd-modules-load.service"),
    VENDOR + "docker.service": INSTALL,
    ETC + "docker.service": Link("/dev/null"),
    VENDOR + "kubelet.service": INSTALL,
    ETC + "kubelet.service": "",
    ETC + "slurmd.service": INSTALL,
    ETC + "cluster.target.requires/slurmd.service": Link("/etc/systemd/system/slurmd.service"),
    VENDOR + "nvidia-dcgm.service": INSTALL.replace("WantedBy=", "Alias=dcgm.service\nWantedBy="),
    ETC + "dcgm.service": Link("/usr/lib/systemd/system/nvidia-dcgm.service"),
    VENDOR + "crio.service": INSTALL,
    ETC + "another-name.service": Link("/usr/lib/systemd/system/crio.service"),
    VENDOR + "nftables.service": INSTALL + "WantedBy=\n",
    VENDOR + "firewalld.service": INSTALL,
    "/run/systemd/system/firewalld.service": Link("/dev/null"),
    VENDOR + "containerd.service": STATIC + "[Install]\nAlso=x.service\n",
    VENDOR + "rdma-ndd.service": STATIC + "[Install]\nWantedBy=\n",
    VENDOR + "nvidia-peermem-loader.service": INSTALL,
    WANTS + "nvidia-peermem-loader.service": Link("/usr/lib/systemd/system/x"),
    VENDOR + "modprobe@.service": STATIC,
    WANTS + "modprobe@nvidia_peermem.service": Link("/usr/lib/systemd/system/modprobe@.service"),
    "/run/systemd/system/multi-user.target.wants/openibd.service":
        Link("/usr/lib/systemd/system/openibd.service"),
    VENDOR + "openibd.service": INSTALL,
    VENDOR + "opensm.service": STATIC + "WantedBy=multi-user.target\nAlias=x.service\n",
}


@needs_systemctl
def test_files_say_what_systemctl_says(tmp_path):
    root = make(tmp_path / "t", TREE)
    services, units = units_of(root)
    assert "manager" not in services or services["manager"] is True
    for name, unit in units.items():
        # An empty file masks (systemd.unit(5)); is-enabled looks at links to /dev/null alone.
        if name != "kubelet.service":
            assert unit["enabled"] == is_enabled(root, name), name
    assert units["kubelet.service"]["load"] == units["kubelet.service"]["enabled"] == "masked"
    assert units["nvidia-persistenced.service"]["enabled"] == "enabled"
    assert units["nvidia-fabricmanager.service"]["enabled"] == "disabled"
    assert units["docker.service"]["load"] == "masked"
    assert units["tuned.service"]["enabled"] == "static"
    assert units["openibd.service"]["enabled"] == "enabled-runtime"
    assert units["modprobe@nvidia_peermem.service"] == {
        "unit": "modprobe@nvidia_peermem.service", "load": "loaded", "enabled": "enabled",
        "program": "/bin/true"}
    # Found by tests/oracles/units.py: a name that the unit does not give itself enables nothing.
    assert units["crio.service"]["enabled"] == "indirect"
    assert units["firewalld.service"]["enabled"] == "masked-runtime" and units["firewalld.service"]["load"] == "masked"
    assert units["nftables.service"]["enabled"] == "static"
    assert units["iptables.service"] == {"unit": "iptables.service", "load": "not-found", "enabled": None}


def test_init_scripts(tmp_path):
    services, units = units_of(make(tmp_path / "t", {
        "/etc/init.d/nv_peer_mem": "#!/bin/sh\n", "/etc/rc3.d/S20nv_peer_mem": Link("../init.d/x"),
        "/etc/init.d/openibd": "#!/bin/sh\n", "/etc/rc3.d/K20openibd": Link("../init.d/openibd"),
        "/usr/lib/systemd/system/": "",
    }))
    assert units["nv_peer_mem.service"] == {"unit": "nv_peer_mem.service", "load": "loaded",
                                            "enabled": "enabled"}
    assert units["openibd.service"]["enabled"] == "disabled"
    services, units = units_of(make(tmp_path / "u", {
        "/etc/init.d/nv_peer_mem": "#!/bin/sh\n", "/usr/lib/systemd/system/": "",
        "/etc/rc.d/rc5.d/S20nv_peer_mem": Link("../init.d/nv_peer_mem")}))
    assert units["nv_peer_mem.service"]["enabled"] == "enabled"


def process(pid, comm, cgroup="0::/\n"):
    return {"/proc/%d/comm" % pid: comm + "\n", "/proc/%d/cgroup" % pid: cgroup}


def test_running_by_process_and_cgroup(tmp_path):
    files = dict(TREE)
    files.update(process(1, "systemd"))
    files.update(process(700, "nv-fabricmanage"))
    files.update(process(701, "python3", "0::/system.slice/tuned.service\n"))
    files.update(process(702, "nvsm_core", "12:pids:/x\n1:name=systemd:/system.slice/nvsm.service\n"))
    files.update(process(703, "nvidia-persiste-not"))
    files["/proc/uptime"] = "1 1\n"
    services, units = units_of(make(tmp_path / "t", files))
    assert services["manager"] is True
    assert {n for n, u in units.items() if u.get("active") == "active"} == {
        "nvidia-fabricmanager.service", "tuned.service", "nvsm.service"}
    assert units["nvidia-persistenced.service"]["active"] == "inactive"
    assert units["docker.service"]["active"] == "inactive"
    # It does its work and ends: no process can tell.
    assert "active" not in units["systemd-modules-load.service"]


def test_a_user_can_call_a_process_anything(tmp_path):
    """With --root and outside of systemd's knowledge the name alone does not say what runs."""
    names = {"nv-fabricmanage": "nvidia-fabricmanager.service", "nvidia-persiste": "nvidia-persistenced.service",
             "nvidia-imex": "nvidia-imex.service"}
    for uid, runs in ((40123, False), (100000, False), (65534, False), (1000, False), (0, True), (118, True), (61200, True)):
        files = dict(TREE)
        files.update(process(1, "systemd"))
        for i, comm in enumerate(names):
            files.update(process(700 + i, comm, "0::/user.slice/user-40123.slice/session-3.scope\n"))
            files["/proc/%d/status" % (700 + i)] = "Name:\tx\nUid:\t%d\t%d\t%d\t%d\n" % ((uid,) * 4)
        _, units = units_of(make(tmp_path / str(uid), files))
        active = {name for name in names.values() if units.get(name, {}).get("active") == "active"}
        assert active == (set(names.values()) if runs else set()), uid


def test_another_init(tmp_path):
    services, units = units_of(make(tmp_path / "t", dict(process(1, "init"), **{
        "/etc/init.d/x": "", "/usr/lib/x": ""})))
    assert services["manager"] is False
    assert units["slurmd.service"] == {"unit": "slurmd.service", "load": "not-found",
                                       "active": "inactive", "enabled": None}


def test_tree_without_files(tmp_path):
    facts = observe(make(tmp_path / "t", {"/sys/module/x/y": ""}))
    assert "services" not in facts
    assert {"/etc", "/usr"} <= set(gaps(facts))


def test_part_of_the_folders(tmp_path):
    """Without /usr nothing that is not in /etc is missing, and it may hold what enables a unit of /etc."""
    facts = observe(make(tmp_path / "t", {ETC + "slurmd.service": INSTALL}))
    units = by(facts["services"]["units"], "unit")
    assert units["slurmd.service"] == {"unit": "slurmd.service", "load": "loaded"}
    assert units["docker.service"] == {"unit": "docker.service"}


def test_damaged_units(tmp_path):
    services, units = units_of(make(tmp_path / "t", {
        VENDOR + "docker.service": b"[Install\n[Install]\n\0\xff=\nWantedBy",
        VENDOR + "tuned.service": b"\\\n\\\n[Install]\\\nWantedBy=x\n",
        VENDOR + "slurmd.service": b"[Install]\n# c\n;c\nWantedBy=\\\n# c\n a.target\n",
        VENDOR + "crio.service/": "",
        ETC + "opensm.service": Link("/nowhere")}))
    assert units["docker.service"]["enabled"] == "static"
    assert "load" not in units["crio.service"]
    assert units["opensm.service"]["load"] == "not-found"


# ---- a real manager ----

MANAGED = {
    "nvidia-persistenced.service": "[Service]\nExecStart=/bin/sleep 100\n"
                                   "[Install]\nWantedBy=default.target\n",
    "slurmd.service": "[Service]\nExecStart=/bin/false\n",
    "nvidia-fabricmanager.service": INSTALL.replace("multi-user", "default"),
    "tuned.service": STATIC,
    "nvidia-peermem-loader.service": "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
                                     "ExecStart=/bin/true\n[Install]\nWantedBy=default.target\n",
    "modprobe@.service": "[Service]\nType=oneshot\nExecStart=/bin/true\n"
                         "[Install]\nWantedBy=default.target\n",
}

SCRIPT = r"""
set -e
# systemd from 258 on has only the second version of control groups.
[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs none /run
mkdir -p /run/user/0 /run/systemd/system
export XDG_RUNTIME_DIR=/run/user/0 HOME=$1
export DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/user/0/bus
setsid %s --user > $1/log 2>&1 &
for i in $(seq 600); do
    systemctl --user is-system-running 2>/dev/null | grep -q -e running -e degraded && break
    sleep 0.1
done
systemctl --user start dbus.socket
for i in $(seq 600); do
    busctl --user --no-pager --auto-start=no status org.freedesktop.systemd1 >/dev/null 2>&1 && break
    sleep 0.1
done
systemctl --user mask docker.service 2>/dev/null
systemctl --user enable nvidia-persistenced.service nvidia-peermem-loader.service 2>/dev/null
systemctl --user enable modprobe@nvidia_peermem.service 2>/dev/null
systemctl --user start nvidia-persistenced.service nvidia-peermem-loader.service
systemctl --user start slurmd.service || true
for i in $(seq 600); do
    systemctl --user is-failed slurmd.service >/dev/null && break
    sleep 0.1
done
systemctl --user list-units --all --no-pager --plain > $1/before
$2 facts > $1/facts
$2 capture --no-redact -o $1/capture
$2 facts --from $1/capture > $1/again
systemctl --user list-units --all --no-pager --plain > $1/after
for u in $(sed -n 's/.*"unit": "\(.*\)",/\1/p' $1/facts); do
    echo "$u $(systemctl --user is-enabled $u 2>/dev/null) $(systemctl --user is-active $u)"
done > $1/systemctl
"""


def manager_works():
    return os.geteuid() == 0 and os.path.exists(SYSTEMD) and shutil.which("dbus-daemon") and \
        shutil.which("systemctl") and \
        subprocess.run(["unshare", "-m", "-p", "-f", "--mount-proc", "true"],
                       capture_output=True).returncode == 0


@pytest.mark.skipif(not manager_works(), reason="needs root, systemd and dbus-daemon")
def test_over_the_bus(tmp_path):
    home = str(tmp_path / "home")
    make(home, {".config/systemd/user/" + name: text for name, text in MANAGED.items()})
    done = subprocess.run(["unshare", "-m", "-p", "-f", "--mount-proc", "bash", "-c",
                           SCRIPT % SYSTEMD, "test", home, BINARY],
                          capture_output=True, text=True, timeout=300)
    if not os.path.exists(home + "/systemctl"):
        pytest.skip("no manager could be started: " + done.stderr)
    assert done.returncode == 0, done.stderr

    def read(name):
        with open(os.path.join(home, name)) as f:
            return f.read()

    facts, again = json.loads(read("facts")), json.loads(read("again"))
    assert facts["services"] == again["services"]
    assert facts["services"]["manager"] is True and "services" not in gaps(facts)
    units = by(facts["services"]["units"], "unit")
    # Of a unit without a file is-enabled says nothing, and from systemd 253 on that it is not found.
    for line in read("systemctl").splitlines():
        unit, *enabled, active = line.split()
        assert units[unit]["active"] == active, line
        assert units[unit]["enabled"] == (enabled[0] if enabled and enabled != ["not-found"] else None), line
    assert units["nvidia-persistenced.service"] == {
        "unit": "nvidia-persistenced.service", "load": "loaded", "active": "active",
        "enabled": "enabled"}
    slurmd = units["slurmd.service"]
    assert (slurmd["active"], slurmd["result"], slurmd["exit_status"], slurmd["restarts"]) == (
        "failed", "exit-code", 1, 0)
    assert units["nvidia-fabricmanager.service"] == {
        "unit": "nvidia-fabricmanager.service", "load": "loaded", "active": "inactive",
        "enabled": "disabled"}
    assert units["docker.service"]["load"] == "masked"
    assert units["modprobe@nvidia_peermem.service"]["enabled"] == "enabled"
    assert units["crio.service"]["load"] == "not-found"
    # Nothing that was not loaded is loaded now.
    assert read("before") == read("after")
