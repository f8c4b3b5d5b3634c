# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes under /proc: the one that asks, init, and the daemons that start jobs; systemd units."""

CAP_ALL = "000001ffffffffff"
LIMITS = (
    # name in /proc/PID/limits, soft, hard, unit (fs/proc/base.c, lnames)
    ("Max cpu time", "unlimited", "unlimited", "seconds"),
    ("Max file size", "unlimited", "unlimited", "bytes"),
    ("Max data size", "unlimited", "unlimited", "bytes"),
    ("Max stack size", "8388608", "unlimited", "bytes"),
    ("Max core file size", "0", "unlimited", "bytes"),
    ("Max resident set", "unlimited", "unlimited", "bytes"),
    ("Max processes", "1030425", "1030425", "processes"),
    ("Max open files", "1024", "1048576", "files"),
    ("Max locked memory", "8388608", "8388608", "bytes"),
    ("Max address space", "unlimited", "unlimited", "bytes"),
    ("Max file locks", "unlimited", "unlimited", "locks"),
    ("Max pending signals", "1030425", "1030425", "signals"),
    ("Max msgqueue size", "819200", "819200", "bytes"),
    ("Max nice priority", "0", "0", ""),
    ("Max realtime priority", "0", "0", ""),
    ("Max realtime timeout", "unlimited", "unlimited", "us"),
)


def init(node):
    node.self = dict(pid=4711, comm="bash", memlock="unlimited", nofile="1048576", uid=0,
                     caps=CAP_ALL, userns="initial", env={"PATH": "/usr/sbin:/usr/bin",
                                                          "HOME": "/root"})
    node.processes = {}
    node.units = {}


def do_limits(node, statement):
    """limits memlock=SOFT[:HARD] nofile=N stack=N nproc=N: of the process that asks"""
    _, named = statement.take("memlock", "nofile", "stack", "nproc")
    node.self.update(named)


def do_self(node, statement):
    _, named = statement.take("uid", "caps", "bounding", "seccomp", "userns", "comm", "cgroup", "cpus")
    node.self.update(named)


def do_env(node, statement):
    """env NAME=VALUE..., where -NAME takes one away"""
    for word in statement.words:
        if word.startswith("-"):
            del node.self["env"][word[1:]]
            continue
        key, equal, value = word.partition("=")
        if not equal:
            raise statement.wrong("'%s' is not NAME=VALUE" % word)
        node.self["env"][key] = value


def do_process(node, statement):
    """process COMM pid=N [memlock=] [nofile=] [unit=] [uid=] [started=] [env=NAME=VALUE] [args=ARGUMENTS]; process COMM remove"""
    words, named = statement.take("pid", "memlock", "nofile", "nproc", "unit", "uid", "started", "env", "args", least=1, most=2)
    if "env" in named:
        named["env"] = dict([named["env"].split("=", 1)])
    if words[1:] == ["remove"]:
        del node.processes[words[0]]
        return
    process = node.processes.setdefault(words[0], dict(
        pid=1000 + 7 * len(node.processes), comm=words[0], memlock="8388608", nofile="1024:524288",
        uid=0, caps=CAP_ALL, userns="initial", env={}, unit=None))
    process.update(named)


def do_unit(node, statement):
    """unit NAME [enabled] [running=COMM] with the unit file as its block; unit NAME remove"""
    words, named = statement.take("running", least=1, most=2)
    if words[1:] == ["remove"]:
        del node.units[words[0]]
        for comm in [c for c, p in node.processes.items() if p["unit"] == words[0]]:
            del node.processes[comm]
        return
    node.units[words[0]] = dict(enabled="enabled" in words[1:],
                                text=statement.content() or "[Unit]\nDescription=%s\n" % words[0])
    if "running" in named:
        node.processes[named["running"]] = dict(
            pid=1000 + 7 * len(node.processes), comm=named["running"], memlock="8388608",
            nofile="1024:524288", uid=0, caps=CAP_ALL, userns="initial", env={}, unit=words[0])


VERBS = {"limits": do_limits, "self": do_self, "env": do_env, "process": do_process,
         "unit": do_unit}


def limits_text(memlock, nofile, stack="8388608:unlimited", nproc="1030425"):
    text = "%-25s %-20s %-20s %-10s\n" % ("Limit", "Soft Limit", "Hard Limit", "Units")
    given = {"Max locked memory": memlock, "Max open files": nofile, "Max stack size": stack,
             "Max processes": nproc}
    for name, soft, hard, unit in LIMITS:
        if name in given:
            soft, _, hard = given[name].partition(":")
            hard = hard or soft
        text += "%-25s %-20s %-20s %-10s\n" % (name, soft, hard, unit)
    return text


def _render_process(tree, path, process):
    tree.line(path + "/comm", process["comm"][:15])
    tree.file(path + "/cmdline", "\0".join([process["comm"], *process.get("args", "").split(), ""]).encode())
    tree.file(path + "/environ", "".join("%s=%s\0" % item for item in process["env"].items()))
    tree.file(path + "/limits", limits_text(process["memlock"], process["nofile"],
                                                **{k: process[k] for k in ("stack", "nproc") if k in process}))
    uid, caps = process["uid"], process["caps"]
    bounding, seccomp = process.get("bounding", caps), process.get("seccomp", "0")
    tree.file(path + "/status", "Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%s\nPid:\t%s\n"
              "PPid:\t1\nUid:\t%s\t%s\t%s\t%s\nGid:\t%s\t%s\t%s\t%s\nCapInh:\t0000000000000000\n"
              "CapPrm:\t%s\nCapEff:\t%s\nCapBnd:\t%s\nCapAmb:\t0000000000000000\nSeccomp:\t%s\nCpus_allowed_list:\t%s\n" % (
                  (process["comm"][:15], process["pid"], process["pid"]) + (uid,) * 8 + (caps, caps, bounding,
                                                                                         seccomp, process.get("cpus", "0-1023"))))
    if process["userns"] == "initial":
        tree.file(path + "/uid_map", "         0          0 4294967295\n")
    else:
        tree.file(path + "/uid_map", "         0     100000      65536\n")
    # proc(5): the name can hold anything; field 22 counts hundredths of a second from the boot.
    tree.line(path + "/stat", "%s (%s) S 1 %s" % (process["pid"], process["comm"][:15], " ".join(
        ["0"] * 17 + [str(int(float(process.get("started", 20)) * 100))] + ["0"] * 30)))
    unit = process.get("unit")
    tree.line(path + "/cgroup", "0::" + process["cgroup"] if "cgroup" in process else
              "0::/system.slice/" + unit if unit else
              "0::/user.slice/user-0.slice/session-1.scope" if process["pid"] != 1 else
              "0::/init.scope")


def render(node, tree):
    _render_process(tree, "/proc/self", node.self)
    start = dict(pid=1, comm="systemd", memlock="8388608", nofile="1073741816", uid=0, caps=CAP_ALL,
                 userns="initial", unit=None, env={"TERM": "linux"})
    if node.container:
        start["env"]["container"] = node.container
    _render_process(tree, "/proc/1", start)
    for process in node.processes.values():
        _render_process(tree, "/proc/%s" % process["pid"], process)
        if process.get("unit"):
            tree.line("/sys/fs/cgroup/system.slice/%s/cgroup.procs" % process["unit"], str(process["pid"]))
    for name, unit in node.units.items():
        path = "/usr/lib/systemd/system/" + name
        tree.file(path, unit["text"])
        if unit["enabled"]:
            tree.link("/etc/systemd/system/multi-user.target.wants/" + name, path)
    # /lib is where these systems have it: a link into /usr.
