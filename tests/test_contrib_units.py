# SPDX-License-Identifier: GPL-2.0-or-later
"""The services of contrib/ can read what they are asked to look at: on a node's tree they find the same with what
they close as without. `make check-units` has them under systemd."""
import glob
import os
import platform
import re
import struct
import subprocess

import pytest

from lib import namespace, program

SERVICES = sorted(os.path.relpath(path, program.TOP)
                  for path in glob.glob(program.TOP + "/contrib/**/*.service", recursive=True))
SYSLOG = {"x86_64": 103, "aarch64": 116}	# its number, by asm/unistd.h
LOG = ["--dev-bind", "/dev/kmsg", "/dev/kmsg"]

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can read the kernel's log"),
    pytest.mark.skipif(platform.machine() not in SYSLOG, reason="the number of a call is not known"),
    pytest.mark.skipif(not os.path.exists("/dev/kmsg"), reason="no kernel log here"),
]


class Service:
    def __init__(self, path):
        self.settings = {}
        with open(os.path.join(program.TOP, path)) as file:
            for key, value in re.findall(r"^(\w+)=(.*)$", file.read(), re.M):
                self.settings.setdefault(key, []).append(value)

    def words(self, key):
        return " ".join(self.settings.get(key, [])).split()

    def command(self):
        """What it runs, with the answer as JSON on standard output."""
        words = self.words("ExecStart")
        assert words[0] == "/usr/sbin/nvnodecheck"
        words = [w for w in words[1:] if w != "--journal"]
        for option in ("--format", "--output"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        return words + ["--json"]

    def needs_log(self):
        """preflight has the kernel's own log alone; doctor also looks into the journal."""
        return self.command()[0] == "preflight"

    def closed(self):
        """What bwrap can do of it."""
        assert self.settings["ProtectSystem"] == ["strict"] and self.settings["DevicePolicy"] == ["closed"]
        options = ["--remount-ro", "/", "--cap-drop", "ALL"]
        for capability in self.words("CapabilityBoundingSet"):
            options += ["--cap-add", capability]
        if self.settings.get("ProtectHome") == ["yes"]:
            for folder in ("/home", "/root", "/run/user"):
                options = ["--perms", "0000", "--tmpfs", folder] + options
        if self.settings.get("PrivateTmp") == ["yes"]:
            for folder in ("/tmp", "/var/tmp"):
                options = ["--tmpfs", folder] + options
        if self.reads_log():
            options = LOG + options
        return options

    def reads_log(self):
        return "/dev/kmsg r" in self.settings["DeviceAllow"] and self.settings.get("ProtectKernelLogs") != ["yes"]

    def allows_syslog(self):
        """No set of systemd has this call but @known."""
        return "syslog" in self.words("SystemCallFilter") and self.reads_log()


def refuses_syslog():
    """A file with a filter for seccomp(2): that call is refused with EPERM, all others are let through."""
    code = ((0x20, 0, 0, 0), (0x15, 0, 1, SYSLOG[platform.machine()]), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000))
    fd = os.memfd_create("filter")
    os.write(fd, b"".join(struct.pack("=HBBI", *one) for one in code))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


@pytest.fixture(scope="module")
def installed():
    here = namespace.Program()
    yield here
    here.remove()


@pytest.fixture
def node(installed, stages):
    """run(WORDS, OPTIONS, SYSLOG): the findings of a healthy node, by bwrap with these options."""
    stage = stages("contrib-units")
    tree = namespace.tree_of("hgx-h100-ib")
    for path in ("/dev/kmsg", "/home/.keep", "/root/.keep", "/run/user/.keep", "/tmp/.keep", "/var/tmp/.keep"):
        tree.file(path, "")
    stage.put(tree)

    def run(words, options, syslog):
        fds = () if syslog else (refuses_syslog(),)
        options = [*options, *(word for fd in fds for word in ("--seccomp", str(fd)))]
        command = installed.command(stage.directory, "--unshare-pid", "--unshare-ipc", *options) + words
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds,
                                 env=program.environment(HOME="/root"), timeout=program.TIMEOUT_S)
        result = program.Result(command, process)
        assert result.status in (0, 1, 3), str(result)
        return {(f["rule"], f["subject"]): f["verdict"] for f in result.json()["findings"]}
    yield run
    installed.leave(stage)


@pytest.mark.parametrize("path", SERVICES)
def test_what_is_closed_hides_nothing(path, node):
    service = Service(path)
    log = service.needs_log()
    wanted = node(service.command(), LOG if log else [], syslog=log)
    found = node(service.command(), service.closed(), syslog=service.allows_syslog())
    assert {key: verdict for key, verdict in found.items() if wanted.get(key) != verdict} == {}
    assert found.keys() == wanted.keys()


def test_a_filter_that_refuses_syslog_is_seen(node):
    """The test itself: without the call and the device the log is unknown."""
    found = node(["preflight", "--json"], [], syslog=False)
    assert found["log/xid", None] == "unknown"
