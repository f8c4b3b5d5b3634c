# SPDX-License-Identifier: GPL-2.0-or-later
"""What kind of machine it is and what system runs on it."""
import functools
import hashlib

from ..tree import EPOCH

BOOT_TIME = EPOCH + 86400
BOOT_ID = "1f0c0a5e-7c1d-4f6b-9a53-3f0f6c2d7b10"
ROOT_UUID = "9f4b7c1e-5a2d-4e0b-8c3a-6d1f2e7a9b40"
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

VENDORS = {"intel": "GenuineIntel", "amd": "AuthenticAMD", "arm": None}
FLAGS = ("fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse "
         "sse2 ht syscall nx pdpe1gb rdtscp lm constant_tsc nonstop_tsc cpuid pni ssse3 fma cx16 "
         "sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand lahf_lm abm avx2 bmi2")
ARM_FEATURES = ("fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm "
                "jscvt fcma lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat")


def init(node):
    node.hostname = "localhost"
    node.os = dict(id="linux", version="", name="Linux", like="")
    node.kernel = "6.1.0"
    node.machine = "x86_64"
    node.kernels = []		# installed besides the running one
    node.cpu = dict(vendor="intel", model="", sockets=1, cores=4, threads=1, family=6,
                    model_number=143, stepping=8)
    node.memory_gib = 16
    node.shm_kib = None		# half of the memory
    node.numa_per_socket = 1
    node.dmi = {}
    node.hypervisor = None
    node.container = None
    node.args = {"running": [], "staged": []}
    node.sysctls = {"kernel.numa_balancing": "0"}
    node.hugepages = {"2048kB": 0, "1048576kB": 0}
    node.mounts = []		# besides those that every node has: point, type, source, options
    node.config = {"CONFIG_MODULES": "y", "CONFIG_PCI": "y", "CONFIG_PCI_P2PDMA": "y",
                   "CONFIG_DMA_SHARED_BUFFER": "y", "CONFIG_INFINIBAND": "m",
                   "CONFIG_INFINIBAND_USER_ACCESS": "m", "CONFIG_INFINIBAND_USER_MEM": "y",
                   "CONFIG_MLX5_CORE": "m", "CONFIG_MLX5_INFINIBAND": "m",
                   "CONFIG_IOMMU_DEFAULT_PASSTHROUGH": "n", "CONFIG_IOMMU_DEFAULT_DMA_LAZY": "y",
                   "CONFIG_MODVERSIONS": "y", "CONFIG_NAMESPACES": "y", "CONFIG_SECCOMP_FILTER": "y",
                   "CONFIG_USER_NS": "y"}
    node.secure_boot = False
    node.lockdown = "none"
    node.log_lines = []
    node.log_levels = False


def do_os(node, statement):
    (name, version, pretty), named = statement.take("like", least=3)
    node.os = dict(id=name, version=version, name=pretty, like=named.get("like", ""))


def do_kernel(node, statement):
    """kernel RELEASE [machine=x86_64]; kernel also RELEASE"""
    words, named = statement.take("machine", least=1, most=2)
    if words[0] == "also":
        node.kernels.append(words[1])
        return
    node.kernel = words[0]
    node.machine = named.get("machine", node.machine)


def do_cpu(node, statement):
    """cpu VENDOR MODEL sockets=2 cores=32 threads=2 family=6 model=143 stepping=8"""
    keys = ("sockets", "cores", "threads", "family", "model", "stepping")
    (vendor, model), named = statement.take(*keys, least=2)
    if vendor not in VENDORS:
        raise statement.wrong("vendor is none of %s" % " ".join(VENDORS))
    node.cpu.update(vendor=vendor, model=model)
    for key, value in named.items():
        node.cpu["model_number" if key == "model" else key] = int(value)


def do_args(node, statement):
    """args [running|staged] WORD..., where -WORD takes one away"""
    words = list(statement.words)
    which = [words.pop(0)] if words and words[0] in node.args else list(node.args)
    for word in words:
        for place in which:
            if word.startswith("-"):
                if word[1:] not in node.args[place]:
                    raise statement.wrong("there is no argument '%s'" % word[1:])
                node.args[place].remove(word[1:])
            else:
                node.args[place].append(word)


def do_kconfig(node, statement):
    for word in statement.words:
        key, _, value = word.partition("=")
        node.config[key] = value


def one(name, kind=str):
    def verb(node, statement):
        (word,), _ = statement.take(least=1)
        setattr(node, name, kind(word))
    return verb


def none_or_word(word):
    return None if word == "none" else word


def do_dmi(node, statement):
    _, named = statement.take("vendor", "product", "board", "bios", "tag")
    node.dmi.update(named)


def do_sysctl(node, statement):
    (key, value), _ = statement.take(least=2)
    node.sysctls[key] = value


def do_hugepages(node, statement):
    """hugepages 2048kB PAGES"""
    (size, pages), _ = statement.take(least=2)
    node.hugepages[size] = int(pages)


def do_mount(node, statement):
    """mount POINT TYPE SOURCE [OPTIONS]"""
    words, _ = statement.take(least=3, most=4)
    node.mounts.append((words[0], words[1], words[2], words[3] if len(words) > 3 else "rw,relatime"))


def do_shm(node, statement):
    """shm 64M: the size of /dev/shm"""
    (word,), _ = statement.take(least=1)
    node.shm_kib = int(word[:-1]) << {"K": 0, "M": 10, "G": 20}[word[-1]]


def do_log_levels(node, statement):
    """The log is as dmesg --raw has it; a line may begin with its own level."""
    node.log_levels = True


def do_log(node, statement):
    node.log_lines.append(statement.one())


VERBS = {
    "hostname": one("hostname"),
    "os": do_os,
    "kernel": do_kernel,
    "cpu": do_cpu,
    "memory": one("memory_gib", lambda word: int(word.rstrip("G"))),
    "numa": one("numa_per_socket", int),
    "dmi": do_dmi,
    "hypervisor": one("hypervisor", none_or_word),
    "container": one("container", none_or_word),
    "args": do_args,
    "sysctl": do_sysctl,
    "hugepages": do_hugepages,
    "mount": do_mount,
    "kconfig": do_kconfig,
    "secure-boot": one("secure_boot", lambda word: word == "on"),
    "lockdown": one("lockdown"),
    "shm": do_shm,
    "log": do_log, "log-levels": do_log_levels,
}


# ---- processors ----

def ranges(numbers):
    return _ranges(tuple(sorted(numbers)))


@functools.lru_cache(maxsize=None)
def _ranges(numbers):
    """0-3,8 as the kernel writes cpu lists."""
    text = []
    while numbers:
        n = 1
        while n < len(numbers) and numbers[n] == numbers[0] + n:
            n += 1
        text.append(str(numbers[0]) if n == 1 else "%d-%d" % (numbers[0], numbers[n - 1]))
        numbers = numbers[n:]
    return ",".join(text)


def numa_cpus(node):
    """The processors of each NUMA node. The second threads of all cores come after the first."""
    cpu = node.cpu
    cores = cpu["sockets"] * cpu["cores"]
    count = cpu["sockets"] * node.numa_per_socket
    each = cores // count
    return [[t * cores + n * each + i for t in range(cpu["threads"]) for i in range(each)]
            for n in range(count)]


def cpulist(node, numa):
    lists = numa_cpus(node)
    if 0 <= numa < len(lists):
        return ranges(lists[numa])
    return ranges([c for cpus in lists for c in cpus])


def _x86_block(node, number):
    cpu = node.cpu
    cores = cpu["sockets"] * cpu["cores"]
    flags = FLAGS + (" hypervisor" if node.hypervisor else "")
    core = number % cores
    return ("processor\t: %d\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n"
            "model name\t: %s\nstepping\t: %d\nphysical id\t: %d\ncore id\t\t: %d\n"
            "flags\t\t: %s\n\n" % (
                number, VENDORS[cpu["vendor"]], cpu["family"], cpu["model_number"], cpu["model"],
                cpu["stepping"], core // cpu["cores"], core % cpu["cores"], flags))


def _arm_block(number):
    # Neoverse V2, the core of Grace: implementer 0x41 (Arm), part 0xd4f.
    return ("processor\t: %d\nBogoMIPS\t: 2000.00\nFeatures\t: %s\nCPU implementer\t: 0x41\n"
            "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 0\n\n" % (
                number, ARM_FEATURES))


def _render_cpus(node, tree):
    count = node.cpu["sockets"] * node.cpu["cores"] * node.cpu["threads"]
    block = _arm_block if node.cpu["vendor"] == "arm" else lambda n: _x86_block(node, n)
    tree.file("/proc/cpuinfo", "".join(block(n) for n in range(count)))
    tree.line("/sys/devices/system/cpu/online", "0-%d" % (count - 1))
    tree.line("/sys/devices/system/cpu/present", "0-%d" % (count - 1))
    for n, cpus in enumerate(numa_cpus(node)):
        path = "/sys/devices/system/node/node%d" % n
        nodes = node.cpu["sockets"] * node.numa_per_socket
        total = node.memory_gib * (1 << 20) // nodes
        tree.line(path + "/cpulist", ranges(cpus))
        tree.file(path + "/meminfo", "Node %d MemTotal:       %d kB\nNode %d MemFree:        %d kB\n"
                  % (n, total, n, total // 2))
        tree.line(path + "/distance", " ".join("10" if i == n else "21" for i in range(nodes)))
        topology = "/sys/devices/system/cpu/cpu%d/topology" % cpus[0]
        tree.line(topology + "/physical_package_id", n // node.numa_per_socket)
        tree.line(topology + "/core_id", 0)
    tree.line("/sys/devices/system/node/online", ranges(range(len(numa_cpus(node)))))


# ---- the system ----

def cmdline(node, which):
    image = "BOOT_IMAGE=/boot/vmlinuz-%s " % node.kernel if which == "running" else ""
    return image + " ".join(["root=UUID=" + ROOT_UUID, "ro"] + node.args[which])


def _render_os(node, tree):
    os = node.os
    lines = ['PRETTY_NAME="%s"' % os["name"], 'NAME="%s"' % os["name"].split()[0],
             'VERSION_ID="%s"' % os["version"], "ID=" + os["id"]]
    if os["like"]:
        lines.append('ID_LIKE="%s"' % os["like"] if " " in os["like"] else "ID_LIKE=" + os["like"])
    tree.file("/etc/os-release", "\n".join(lines) + "\n")
    tree.line("/etc/hostname", node.hostname)
    tree.file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost\n%s" % "".join(
        "%s %s\n" % (a, node.hostname) for a in node.own_addresses()))
    tree.file("/etc/nsswitch.conf", "passwd: files systemd\ngroup: files systemd\n"
              "hosts: files dns\nnetworks: files\n")
    tree.file("/etc/fstab", "UUID=%s / ext4 defaults 0 1\n" % ROOT_UUID)
    tree.file("/etc/security/limits.conf", "# <domain> <type> <item> <value>\n")


def _render_proc(node, tree):
    for key, value in dict(node.sysctls, **{
            "kernel.hostname": node.hostname, "kernel.osrelease": node.kernel,
            "kernel.ostype": "Linux", "kernel.random.boot_id": BOOT_ID}).items():
        tree.line("/proc/sys/" + key.replace(".", "/"), value)
    tree.line("/proc/version", "Linux version %s (builder@host) (gcc) #1 SMP" % node.kernel)
    tree.line("/proc/cmdline", cmdline(node, "running"))
    total = node.memory_gib * (1 << 20)
    tree.file("/proc/meminfo", "".join("%-15s %8d kB\n" % (name + ":", kib) for name, kib in (
        ("MemTotal", total), ("MemFree", total // 2), ("MemAvailable", total * 3 // 4),
        ("Buffers", 12772), ("Cached", 945948), ("SwapTotal", 0), ("SwapFree", 0))) +
        "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n")
    tree.file("/proc/stat", "cpu  10 0 10 1000 0 0 0 0 0 0\nbtime %d\nprocesses 4000\n" % BOOT_TIME)
    tree.line("/proc/uptime", "86400.00 345600.00")
    mounts = [("sysfs", "/sys", "sysfs", "rw,nosuid,nodev,noexec,relatime"),
              ("proc", "/proc", "proc", "rw,nosuid,nodev,noexec,relatime"),
              ("udev", "/dev", "devtmpfs", "rw,nosuid,relatime,mode=755,inode64"),
              ("/dev/nvme0n1p2", "/", "ext4", "rw,relatime"),
              ("tmpfs", "/dev/shm", "tmpfs", "rw,nosuid,nodev,size=%dk,inode64" % (
                  node.shm_kib or total // 2)),
              ("tmpfs", "/run", "tmpfs", "rw,nosuid,nodev,size=%dk,mode=755,inode64" % (total // 10))]
    mounts += [(source, point, kind, options) for point, kind, source, options in node.mounts]
    text = "".join("%s %s %s %s 0 0\n" % mount for mount in mounts)
    tree.file("/proc/mounts", text)
    tree.file("/proc/self/mounts", text)
    tree.file("/proc/self/mountinfo", "".join(
        "%d 1 0:%d / %s %s shared:%d - %s %s %s\n" % (
            20 + i, 20 + i, at, options.partition(",")[0] + ",relatime", i, kind, what, options)
        for i, (what, at, kind, options) in enumerate(mounts)))
    for size, pages in node.hugepages.items():
        tree.line("/sys/kernel/mm/hugepages/hugepages-%s/nr_hugepages" % size, pages)
    # What every kernel has there, so that what is missing beside it is absent.
    tree.line("/proc/driver/rtc", "rtc_time\t: 00:00:00")
    tree.line("/proc/sys/vm/swappiness", 60)
    tree.line("/proc/sys/net/core/somaxconn", 4096)
    for folder in ("/sys/bus/pci/devices", "/sys/class/dmi", "/sys/class/iommu", "/sys/class/net",
                   "/sys/devices/system/cpu", "/sys/firmware/acpi", "/sys/kernel/iommu_groups",
                   "/sys/kernel/mm", "/sys/module"):
        tree.folder(folder)
    tree.file("/proc/filesystems", "nodev\tsysfs\nnodev\tproc\nnodev\ttmpfs\n\text4\n")


def _render_firmware(node, tree):
    dmi = "/sys/devices/virtual/dmi/id"
    for key, name in (("vendor", "sys_vendor"), ("product", "product_name"),
                      ("board", "board_name"), ("bios", "bios_version"),
                      ("tag", "chassis_asset_tag")):
        if key in node.dmi:
            tree.line(dmi + "/" + name, node.dmi[key])
    if node.dmi:
        tree.link_between("/sys/class/dmi/id", dmi)
    # Four bytes of attributes, then the value (Linux Documentation/filesystems/efivarfs.rst).
    tree.file(SECURE_BOOT, b"\x06\0\0\0" + bytes([int(node.secure_boot)]))
    words = ("none", "integrity", "confidentiality")
    tree.line("/sys/kernel/security/lockdown",
              " ".join("[%s]" % w if w == node.lockdown else w for w in words))


def _render_config(node, tree):
    lines = ["# CONFIG_X is not set".replace("CONFIG_X", key) if value == "n"
             else "%s=%s" % (key, value) for key, value in sorted(node.config.items())]
    tree.file("/boot/config-" + node.kernel, "\n".join(lines) + "\n")
    for release in [node.kernel] + node.kernels:
        tree.file("/boot/vmlinuz-" + release)


def _render_log(node, tree):
    lines = ["Linux version %s (builder@host) (gcc) #1 SMP" % node.kernel,
             "Command line: " + cmdline(node, "running")] + node.log_lines
    text = ""
    for i, line in enumerate(lines):
        level, end, rest = line.partition(">")
        has_level = node.log_levels and end and level[:1] == "<"
        prefix = "" if not node.log_levels else level + ">" if has_level else "<6>"
        text += "%s[%5d.%06d] %s\n" % (prefix, i, 1000 * i, rest if has_level else line)
    tree.file("/var/log/dmesg", text)


def render(node, tree):
    _render_os(node, tree)
    _render_proc(node, tree)
    _render_cpus(node, tree)
    _render_firmware(node, tree)
    _render_config(node, tree)
    _render_log(node, tree)
    tree.folder("/run/systemd/system")
    # systemd's own units: that another one is missing beside them says something.
    tree.file("%s/systemd/system/multi-user.target" % ("/usr/lib" if node.merged_usr else "/lib"),
              "[Unit]\nDescription=Multi-User System\n")
    tree.folder("/etc/systemd/system/multi-user.target.wants")
    tree.line("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc")
    tree.file("/root/.profile", "# ~/.profile: executed by Bourne-compatible login shells.\n")
    for folder in ("/dev/shm", "/tmp", "/root", "/home", "/opt/containerd"):
        tree.folder(folder)
    if node.container == "docker":
        tree.file("/.dockerenv")


def made_up(*words, size=8):
    """Hexadecimal digits that are always the same for the same words."""
    return hashlib.sha256(" ".join(str(w) for w in words).encode()).hexdigest()[:size]
