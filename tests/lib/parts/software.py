# SPDX-License-Identifier: GPL-2.0-or-later
"""User space that the kernel side has to fit: libraries, Python packages, the package database."""
from .. import elf


def init(node):
    node.libraries = {}
    node.wheels = {}
    node.packages = {}


def library_dir(node):
    if node.os["id"] in ("rhel", "rocky", "centos", "fedora", "sles", "opensuse-tumbleweed",
                         "gentoo"):
        return "/usr/lib64"
    return "/usr/lib/%s-linux-gnu" % node.machine


def do_userspace(node, statement):
    """userspace VERSION: the driver's libraries"""
    (version,), _ = statement.take(least=1)
    for name in ("libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler"):
        node.libraries[name, None] = version
    if version == "none":
        for name in ("libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler"):
            del node.libraries[name, None]


def do_library(node, statement):
    """library NAME VERSION [dir=FOLDER]; library NAME remove"""
    (name, version), named = statement.take("dir", least=2)
    if version == "remove":
        del node.libraries[name, named.get("dir")]
    else:
        node.libraries[name, named.get("dir")] = version


def do_wheel(node, statement):
    """wheel NAME VERSION [dir=SITE-PACKAGES]; wheel NAME remove"""
    (name, version), named = statement.take("dir", least=2)
    place = named.get("dir", "/usr/local/lib/python3.10/dist-packages")
    if version == "remove":
        for key in [k for k in node.wheels if k[0] == name]:
            del node.wheels[key]
    else:
        node.wheels[name, place] = version


def do_package(node, statement):
    (name, version), _ = statement.take(least=2)
    if version == "remove":
        del node.packages[name]
    else:
        node.packages[name] = version


VERBS = {"userspace": do_userspace, "library": do_library, "wheel": do_wheel,
         "package": do_package}

# SONAME's number, where it is not 1, and the files of wheels
SONAME = {"libnccl": "2", "libnvshmem_host": "3", "libgdrapi": "2"}
WHEEL_FILES = {
    "nvidia-nvshmem": ("nvidia/nvshmem/lib/libnvshmem_host.so.3",
                       "nvidia/nvshmem/lib/nvshmem_transport_ibgda.so.103"),
    "nvidia-nccl": ("nvidia/nccl/lib/libnccl.so.2",),
}


def private_abi(node):
    """The number of libibverbs's private interface. rdma-core: git log -G IBVERBS_PABI_VERSION CMakeLists.txt"""
    version = node.libraries.get(("libibverbs", None), "1.14.34.0")
    release = int(version.split(".")[2])
    return max(n for n in (25, 33, 34, 57, 59, 64, 65) if n <= release)


def _render_library(node, tree, name, folder, version):
    folder = folder or library_dir(node)
    number = SONAME.get(name, "1")
    defines = ["IBVERBS_1.1", "IBVERBS_PRIVATE_%d" % private_abi(node)] if name == "libibverbs" else []
    tree.file("%s/%s.so.%s" % (folder, name, version),
              elf.program(node.machine, soname="%s.so.%s" % (name, number), defines=defines))
    if version != number:
        tree.link("%s/%s.so.%s" % (folder, name, number), "%s.so.%s" % (name, version))
    tree.link("%s/%s.so" % (folder, name), "%s.so.%s" % (name, number))


def _render_wheel(tree, machine, name, place, version):
    base = "%s/%s-%s.dist-info" % (place, name.replace("-", "_"), version)
    tree.file(base + "/METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: %s\n"
              "Summary: made for a test\n\nName: not this one\n" % (name, version))
    tree.file(base + "/INSTALLER", "pip\n")
    for start, files in WHEEL_FILES.items():
        if name.startswith(start):
            for file in files:
                tree.file("%s/%s" % (place, file), elf.program(machine, soname=file.rpartition("/")[2]))


# Programs that packages bring, by how the package's name begins.
PROGRAMS = {"nvidia-fabricmanager": "/usr/bin/nv-fabricmanager", "nvlsm": "/opt/nvidia/nvlsm/sbin/nvlsm",
            "nvidia-container-toolkit-base": "/usr/bin/nvidia-ctk", "containerd": "/usr/bin/containerd",
            "docker-ce": "/usr/bin/dockerd", "podman": "/usr/bin/podman", "enroot": "/usr/bin/enroot",
            "cri-dockerd": "/usr/bin/cri-dockerd", "dkms": "/usr/sbin/dkms", "ucx": "/usr/bin/ucx_info"}
CONFIGURATION = {"nvidia-fabricmanager": ("/usr/share/nvidia/nvswitch/fabricmanager.cfg",
                                          "LOG_LEVEL=4\nBIND_INTERFACE_IP=127.0.0.1\n")}


def _render_dpkg(node, tree):
    arch = "arm64" if node.machine == "aarch64" else "amd64"
    tree.file("/var/lib/dpkg/status", "\n".join(
        "Package: %s\nStatus: install ok installed\nPriority: optional\nArchitecture: %s\n"
        "Version: %s\nDescription: made for a test\n" % (name, arch, version)
        for name, version in sorted(node.packages.items())))
    for name in node.packages:
        for start, path in PROGRAMS.items():
            if name.startswith(start):
                tree.file(path, b"\x7fELF", 0o755)
        for start, (path, text) in CONFIGURATION.items():
            if name.startswith(start):
                tree.file(path, text)


def render(node, tree):
    for (name, folder), version in node.libraries.items():
        _render_library(node, tree, name, folder, version)
    for (name, place), version in node.wheels.items():
        _render_wheel(tree, node.machine, name, place, version)
    if node.os["id"] in ("ubuntu", "debian"):
        _render_dpkg(node, tree)
