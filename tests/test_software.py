# SPDX-License-Identifier: GPL-2.0-or-later
"""Software by the names and small files that it leaves on disk."""
import os
import subprocess

import pytest

from lib import node, program as tool
from lib.rootfs_dict import Link, by, document, gaps, make, observe

GNU = "/usr/lib/x86_64-linux-gnu/"
HEADER = """/* header */
#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define  NVSHMEM_VENDOR_MINOR_VERSION\t4
#define NVSHMEM_VENDOR_PATCH_VERSION 5 /* patch */
"""


def items_of(root, *arguments, **kwargs):
    facts = observe(root, *arguments, **kwargs)
    items = facts["software"]["items"]
    assert [i["path"] for i in items] == sorted(i["path"] for i in items)
    return {path: (i["name"], i["version"]) for path, i in by(items, "path").items()}


def test_libraries(tmp_path):
    assert items_of(make(tmp_path / "t", {
        "/lib": Link("usr/lib"),
        GNU + "libcuda.so": Link("libcuda.so.1"),
        GNU + "libcuda.so.1": Link("libcuda.so.580.159.04"),
        GNU + "libcuda.so.580.159.04": "",
        GNU + "libnvidia-ml.so.1": Link("libnvidia-ml.so.580.159.04"),
        GNU + "libnvidia-ml.so.580.159.04": "",
        GNU + "libnvidia-ptxjitcompiler.so.580.159.04": "",
        GNU + "libcudadebugger.so.580.159.04": "",
        GNU + "libnccl.so.2.28.9": "", GNU + "libnccl.so.2.27.3": "",
        GNU + "libnccl_static.a": "", GNU + "libnccl.so.": "", GNU + "libnccl.so.2.x": "",
        GNU + "libgdrapi.so.2": Link("libgdrapi.so.2.5"), GNU + "libgdrapi.so.2.5": "",
        GNU + "libibverbs.so.1.14.44.0": "",
        "/usr/lib64/libcuda.so.1": Link("/usr/lib64/nvidia/libcuda.so.570.1.2"),
        "/usr/lib64/libnvshmem_host.so.3": "",
    })) == {
        GNU + "libcuda.so.580.159.04": ("libcuda", "580.159.04"),
        GNU + "libnvidia-ml.so.580.159.04": ("libnvidia-ml", "580.159.04"),
        GNU + "libnvidia-ptxjitcompiler.so.580.159.04": ("libnvidia-ptxjitcompiler", "580.159.04"),
        GNU + "libcudadebugger.so.580.159.04": ("libcudadebugger", "580.159.04"),
        GNU + "libnccl.so.2.28.9": ("nccl", "2.28.9"), GNU + "libnccl.so.2.27.3": ("nccl", "2.27.3"),
        GNU + "libgdrapi.so.2.5": ("gdrcopy", "2.5"),
        GNU + "libibverbs.so.1.14.44.0": ("libibverbs", "1.14.44.0"),
        "/usr/lib64/libcuda.so.1": ("libcuda", "570.1.2"),
        "/usr/lib64/libnvshmem_host.so.3": ("nvshmem", None),
    }


def test_python(tmp_path):
    lib = "/usr/local/lib/python3.12/dist-packages/"
    assert items_of(make(tmp_path / "t", {
        lib + "nvidia_nccl_cu12-2.28.9.dist-info/METADATA": "Name: x\n",
        lib + "nvidia_nvshmem_cu13-3.4.5.dist-info/METADATA": "",
        lib + "nvidia_cuda_runtime_cu12-12.8.90.dist-info/METADATA": "",
        lib + "nvidia_cublas_cu12-12.8.dist-info/METADATA": "",
        lib + "nvidia/nccl/lib/libnccl.so.2": "",
        lib + "deep_ep-1.2.1+9af0e0d.dist-info/METADATA": "",
        "/opt/torch/.venv/lib/python3.11/site-packages/deep_ep-1.1.0-py3.11-linux-x86_64.egg/x": "",
        "/opt/conda/lib/python3.10/site-packages/nvidia_nccl_cu12-2.21.5.dist-info/METADATA": "",
        "/usr/lib/python3/dist-packages/x.dist-info/y": "",
        "/usr/lib/python3/dist-packages/nvidia_nccl_cu12.dist-info/y": "",
        "/usr/lib/python3/dist-packages/-1.dist-info/y": "",
    })) == {
        lib + "nvidia_nccl_cu12-2.28.9.dist-info": ("nccl", "2.28.9"),
        lib + "nvidia_nvshmem_cu13-3.4.5.dist-info": ("nvshmem", "3.4.5"),
        lib + "nvidia_cuda_runtime_cu12-12.8.90.dist-info": ("libcudart", "12.8.90"),
        lib + "deep_ep-1.2.1+9af0e0d.dist-info": ("deepep", "1.2.1+9af0e0d"),
        "/opt/torch/.venv/lib/python3.11/site-packages/deep_ep-1.1.0-py3.11-linux-x86_64.egg":
            ("deepep", "1.1.0"),
        "/opt/conda/lib/python3.10/site-packages/nvidia_nccl_cu12-2.21.5.dist-info":
            ("nccl", "2.21.5"),
    }


def test_toolkits(tmp_path):
    files = {
        "/usr/local/cuda": Link("/etc/alternatives/cuda"),
        "/etc/alternatives/cuda": Link("/usr/local/cuda-12.8"),
        "/etc/ld.so.conf.d/cuda.conf": "/usr/local/cuda/lib64\n# /no\n/opt/more\n",
        "/opt/more/libcudart.so.11.8.89": "",
    }
    for version in ("12.8", "13.0"):
        home = "/usr/local/cuda-%s/" % version
        files[home + "version.json"] = ('{ "cuda" : { "name" : "CUDA SDK", "version" : "%s.1" },\n'
                                        '"cuda_cccl" : { "version" : "9" } }' % version)
        files[home + "lib64"] = Link("targets/x86_64-linux/lib")
        files[home + "targets/x86_64-linux/lib/libcudart.so.%s.90" % version] = ""
        files[home + "compat/libcuda.so.575.1.1"] = ""
    assert items_of(make(tmp_path / "t", files)) == {
        "/opt/more/libcudart.so.11.8.89": ("libcudart", "11.8.89"),
        "/usr/local/cuda-12.8/compat/libcuda.so.575.1.1": ("libcuda", "575.1.1"),
        "/usr/local/cuda-12.8/targets/x86_64-linux/lib/libcudart.so.12.8.90": ("libcudart", "12.8.90"),
        "/usr/local/cuda-12.8/version.json": ("cuda", "12.8.1"),
        "/usr/local/cuda-13.0/compat/libcuda.so.575.1.1": ("libcuda", "575.1.1"),
        "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13.0.90": ("libcudart", "13.0.90"),
        "/usr/local/cuda-13.0/version.json": ("cuda", "13.0.1"),
    }


def test_installations(tmp_path):
    assert items_of(make(tmp_path / "t", {
        "/opt/nvshmem/include/non_abi/nvshmem_version.h": HEADER,
        "/opt/nvshmem/lib/libnvshmem_host.so.3.4.5": "",
        "/usr/local/nvshmem-3.2.5/include/non_abi/nvshmem_version.h": HEADER.replace("4", "2"),
        "/opt/nvidia/nvshmem/lib64/libnvshmem_host.so.3": "",
        "/usr/lib/x": "",
    })) == {
        "/opt/nvshmem/include/non_abi/nvshmem_version.h": ("nvshmem", "3.4.5"),
        "/opt/nvshmem/lib/libnvshmem_host.so.3.4.5": ("nvshmem", "3.4.5"),
        "/usr/local/nvshmem-3.2.5/include/non_abi/nvshmem_version.h": ("nvshmem", "3.2.5"),
        "/opt/nvidia/nvshmem/lib64/libnvshmem_host.so.3": ("nvshmem", None),
    }


def test_where_the_process_is_told_to_look(tmp_path):
    items = items_of(make(tmp_path / "t", {
        "/proc/42/environ": "LD_LIBRARY_PATH=/a::/b/lib:relative\0NVSHMEM_HOME=/sw/nvshmem\0"
                            "EP_NCCL_ROOT_DIR=/sw/nccl\0VIRTUAL_ENV=/home/u/venv\0CUDA_HOME=/sw/cuda\0",
        "/proc/42/status": "Uid: 0 0 0 0\nCapEff: 0\n",
        "/a/libnccl.so.2.1.1": "", "/b/lib/libnccl.so.2.1.2": "", "/relative/libnccl.so.2.1.3": "",
        "/sw/nvshmem/include/non_abi/nvshmem_version.h": HEADER,
        "/sw/nccl/lib/libnccl.so.2.30.4": "",
        "/sw/cuda/version.json": '{"cuda": {"version": "12.9.0"}}',
        "/home/u/venv/lib/python3.12/site-packages/deep_ep-2.1.0.dist-info/x": "",
        "/usr/lib/x": "",
    }), "--pid", "42")
    assert set(items) == {
        "/a/libnccl.so.2.1.1", "/b/lib/libnccl.so.2.1.2", "/sw/cuda/version.json",
        "/sw/nccl/lib/libnccl.so.2.30.4", "/sw/nvshmem/include/non_abi/nvshmem_version.h",
        "/home/u/venv/lib/python3.12/site-packages/deep_ep-2.1.0.dist-info"}


@pytest.mark.parametrize("text,version", [
    ("#!/bin/bash\ncase $1 in -s) echo MLNX_OFED_LINUX-24.10-1.1.4.0: ;; esac\n", "24.10-1.1.4.0"),
    ("#!/bin/bash\necho OFED-internal-25.01-0.6.0:\n", "25.01-0.6.0"),
    ("#!/bin/bash\necho MLNX_OFED_LINUX-\necho OFED-5.8-1\n", "5.8-1"),
])
def test_ofed_by_its_script(tmp_path, text, version):
    assert items_of(make(tmp_path / "t", {
        "/usr/bin/ofed_info": text, "/usr/src/mlnx-ofed-kernel-1.2.OFED.3/": "", "/usr/lib/x": ""})) == {
        "/usr/bin/ofed_info": ("ofed", version)}


def test_ofed_by_its_sources(tmp_path):
    assert items_of(make(tmp_path / "t", {
        "/usr/src/mlnx-ofed-kernel-24.10.OFED.24.10.1.1.4.1/": "", "/usr/lib/x": "",
        "/usr/src/ofa_kernel/default": Link("x86_64/5.15.0-91-generic"),
        "/opt/mellanox/doca/applications/VERSION": "2.9.0114\n",
        "/opt/mellanox/doca/lib/x86_64-linux-gnu/libdoca_common.so.2.9.0114": "",
    })) == {
        "/usr/src/mlnx-ofed-kernel-24.10.OFED.24.10.1.1.4.1": ("ofed", "24.10.OFED.24.10.1.1.4.1"),
        "/usr/src/ofa_kernel/default": ("ofa_kernel", "5.15.0-91-generic"),
        "/opt/mellanox/doca/applications/VERSION": ("doca", "2.9.0114"),
        "/opt/mellanox/doca/lib/x86_64-linux-gnu/libdoca_common.so.2.9.0114": ("doca", "2.9.0114"),
    }


@pytest.mark.parametrize("path", ["/etc/ld.so.conf.d/site.conf", "/etc/ld.so.conf.d"])
def test_folders_of_the_loader_that_cannot_be_read(scratch, path):
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/etc/ld.so.conf.d/site.conf", "/opt/site\n")
    scratch.put(tree)

    def complete():
        return tool.run("facts", "software.complete", "--root", scratch.directory, user=True).json()
    assert complete() is True
    mode = os.stat(scratch.directory + path).st_mode
    os.chmod(scratch.directory + path, 0)
    try:
        assert complete() is False
    finally:
        os.chmod(scratch.directory + path, mode)


def test_links_are_followed_to_their_end(tmp_path):
    """Alternatives put links between: OFED from 5.5 on, libraries of cluster installations."""
    assert items_of(make(tmp_path / "t", {
        "/usr/src/ofa_kernel/default": Link("/etc/alternatives/ofa_kernel_headers"),
        "/etc/alternatives/ofa_kernel_headers": Link("/usr/src/ofa_kernel/x86_64/5.15.0-91-generic"),
        "/usr/src/ofa_kernel/x86_64/5.15.0-91-generic/": "",
        GNU + "libnccl.so.2": Link("/etc/alternatives/nccl"),
        "/etc/alternatives/nccl": Link("../../opt/nccl/libnccl.so.2.28.9"),
        "/opt/nccl/libnccl.so.2.28.9": "",
    })) == {
        "/usr/src/ofa_kernel/default": ("ofa_kernel", "5.15.0-91-generic"),
        "/usr/src/ofa_kernel/x86_64/5.15.0-91-generic": ("ofa_kernel", "5.15.0-91-generic"),
        GNU + "libnccl.so.2": ("nccl", "2.28.9"),
    }


def test_links_in_a_circle(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/usr/lib/x": "",
        "/usr/src/ofa_kernel/default": Link("/etc/alternatives/ofa_kernel_headers"),
        "/etc/alternatives/ofa_kernel_headers": Link("/usr/src/ofa_kernel/default"),
    }))
    assert "/usr/src/ofa_kernel/default" not in str(facts["software"])
    assert gaps(facts, "software")["/usr/src/ofa_kernel/default"] == "ELOOP"


def stanza(package, version, status="install ok installed"):
    return "Package: %s\nStatus: %s\nDescription: x\n Package: no\nVersion: %s\n\n" % (
        package, status, version)


def test_fabric_manager_by_its_package(tmp_path):
    for status, version in (("install ok installed", "580.159.04"),
                            ("deinstall ok config-files", None)):
        root = make(tmp_path / status.split()[0], {
            "/usr/bin/nv-fabricmanager": b"\x7fELF\0\0", "/usr/lib/x": "",
            "/var/lib/dpkg/status": stanza("secret-package", "1.2.3-4") * 1000 +
            stanza("nvidia-fabricmanager-580", "580.159.04-1ubuntu1", status)})
        assert items_of(root) == {"/usr/bin/nv-fabricmanager": ("fabricmanager", version)}
        with open(root + ".capture") as f:
            assert "secret-package" not in f.read()


@pytest.mark.parametrize("body,version", [
    (b"\x7fELF\0x\x00580.95.05\0y\0", "580.95.05"),
    (b"\x7fELF" + b"\0" * 65533 + b"580.95.05\0" + b"z" * 200000 + b"\x00580.95.05\0", "580.95.05"),
    (b"\x00580.95.05\x00570.1.2\0", None), (b"x580.95.05\0", None), (b"\x00580.95.05x\0", None),
    (b"\x00580.95.05", None), (b"\0127.0.0.1\0\x001.2.3\0\x00580.\0\x00580..1\0", None),
    (b"\0" + b"5" * 100 + b"\x00580.95\0", "580.95"), (b"", None),
], ids=range(9))
def test_fabric_manager_by_its_program(tmp_path, body, version):
    assert items_of(make(tmp_path / "t", {"/usr/bin/nv-fabricmanager": body, "/usr/lib/x": ""})) == {
        "/usr/bin/nv-fabricmanager": ("fabricmanager", version)}


def test_damaged_files(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/usr/bin/ofed_info": b"\0\xff", "/usr/lib/x": "",
        "/usr/local/cuda-1/version.json": '{"cuda": {"version": ',
        "/usr/local/nvshmem/include/non_abi/nvshmem_version.h": "#define NVSHMEM_VENDOR_MAJOR_VERSION",
        "/usr/bin/nv-fabricmanager/": "",
    }))
    assert facts["software"]["items"] == []
    assert set(gaps(facts, "software")) >= {
        "/usr/bin/ofed_info", "/usr/local/cuda-1/version.json", "/usr/bin/nv-fabricmanager",
        "/usr/local/nvshmem/include/non_abi/nvshmem_version.h"}


def test_links_that_turn_in_circles(tmp_path):
    assert items_of(make(tmp_path / "t", {
        "/usr/local/cuda": Link("/usr/local/cuda"), "/usr/lib/libnccl.so.2": Link("libnccl.so.2"),
        "/usr/local/lib": Link("../../../../../../..")})) == {
        "/usr/lib/libnccl.so.2": ("nccl", None)}


def test_nothing_there(tmp_path):
    assert observe(make(tmp_path / "t", {"/usr/lib/x": ""}))["software"]["items"] == []
    assert "software" not in observe(make(tmp_path / "u", {"/proc/uptime": ""}))


def test_this_machine():
    done = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True,
                          env=dict(os.environ, PATH="/sbin:/usr/sbin:" + os.environ["PATH"]))
    if done.returncode:
        pytest.skip("no ldconfig")
    found = {os.path.realpath(i["path"]) for i in document()["software"]["items"]}
    for line in done.stdout.splitlines():
        if line.split(" ")[0].strip() in ("libibverbs.so.1", "libcuda.so.1", "libnccl.so.2"):
            assert os.path.realpath(line.split("=> ")[1]) in found


def program(path, package, version, dpkg=""):
    return {path: b"\x7fELF\0" if isinstance(version, (str, type(None))) else version,
            "/var/lib/dpkg/status": dpkg + (stanza(package, version) if isinstance(version, str) else ""),
            "/usr/lib/x": ""}


@pytest.mark.parametrize("path,name,package,version,said", [
    ("/usr/bin/nvidia-ctk", "container-toolkit", "nvidia-container-toolkit-base", "1.17.8-1", "1.17.8"),
    ("/usr/bin/nvidia-ctk", "container-toolkit", "nvidia-container-toolkit", "1.12.0~rc.1-1", "1.12.0~rc.1"),
    ("/usr/bin/nvidia-ctk", "container-toolkit", "nvidia-container-toolkit-operator", "9.9-1", None),
    ("/usr/bin/containerd", "containerd", "containerd.io", "1.7.27-1", "1.7.27"),
    ("/usr/bin/dockerd", "docker", "docker-ce", "5:27.1.1-1~ubuntu.24.04~noble", "27.1.1"),
    ("/usr/bin/dockerd", "docker", "docker-ce-cli", "5:1.1.1-1", None),
    ("/usr/bin/cri-dockerd", "cri-dockerd", "cri-dockerd", "0.4.0~3-0~ubuntu-jammy", "0.4.0~3"),
    ("/usr/bin/podman", "podman", "podman", "4.3.1+ds1-8", "4.3.1+ds1"),
    ("/usr/bin/ucx_info", "ucx", "libucx0", "1.13.1-1", "1.13.1"),
    ("/usr/sbin/dkms", "dkms", "dkms", "3.0.10-8+deb12u1", "3.0.10"),
])
def test_programs_by_their_packages(path, name, package, version, said, tmp_path):
    assert items_of(make(tmp_path / "t", program(path, package, version))) == {path: (name, said)}


@pytest.mark.parametrize("path,name,text,version", [
    ("/usr/bin/enroot", "enroot", '#!/usr/bin/env bash\nexport ENROOT_VERSION="3.5.0"\n', "3.5.0"),
    ("/usr/bin/enroot", "enroot", '#!/usr/bin/env bash\nexport ENROOT_VERSION="@version@"\n', None),
    ("/usr/bin/enroot", "enroot", "x" * 65530 + 'ENROOT_VERSION="4.0.1"\n', "4.0.1"),
    ("/usr/bin/enroot", "enroot", 'ENROOT_VERSION="%s"\n' % ("1" * 40), None),
    ("/usr/sbin/dkms", "dkms", '#!/bin/bash\n            echo "dkms-3.1.5"\n', "3.1.5"),
    ("/usr/bin/nvidia-ctk", "container-toolkit", "\0build\t-ldflags=\"-s -w -X /internal/in/internal/info.gitCommit=1 "
     "-X github.com/NVIDIA/nvidia-container-toolkit/internal/info.version=1.17.8\"\n", "1.17.8"),
    ("/usr/bin/nvidia-ctk", "container-toolkit", "\0build\t-trimpath=true\n", None),
])
def test_scripts_say_it_themselves(path, name, text, version, tmp_path):
    """As on distributions whose package database is no text."""
    assert items_of(make(tmp_path / "t", {path: text, "/usr/lib/x": ""})) == {path: (name, version)}


def test_several_packages_are_found_in_one_go(tmp_path):
    root = make(tmp_path / "t", {
        "/usr/bin/nvidia-ctk": "", "/usr/bin/enroot": "", "/usr/bin/containerd": "", "/usr/lib/x": "",
        "/var/lib/dpkg/status": stanza("secret-package", "1.2.3-4") * 500 + stanza("enroot", "3.5.0-1") +
        stanza("nvidia-container-toolkit-base", "1.17.8-1")})
    assert items_of(root) == {"/usr/bin/nvidia-ctk": ("container-toolkit", "1.17.8"),
                              "/usr/bin/enroot": ("enroot", "3.5.0"),
                              "/usr/bin/containerd": ("containerd", None)}
    with open(root + ".capture") as f:
        assert "secret-package" not in f.read()


def test_sources_that_dkms_builds(tmp_path):
    src = "/usr/src/"
    assert items_of(make(tmp_path / "t", {
        src + "nvidia-570.133.20/": "", src + "nvidia-srv-open-535.1.2/": "", src + "nvidia-fs-2.19.6/": "",
        src + "gdrdrv-2.5.1/": "", src + "nvidia_peer_memory-1.3/": "", src + "efa-2.17.2/": "",
        src + "nvidia-fs-/": "", src + "linux-headers-6.1.0-1/": "", src + "nvidia-modprobe-1.2/": "",
        src + "-1/": "", "/usr/lib/x": "",
    })) == {
        src + "nvidia-570.133.20": ("driver-source", "570.133.20"),
        src + "nvidia-srv-open-535.1.2": ("driver-source", "535.1.2"),
        src + "nvidia-fs-2.19.6": ("nvidia-fs-source", "2.19.6"),
        src + "gdrdrv-2.5.1": ("gdrdrv-source", "2.5.1"),
        src + "nvidia_peer_memory-1.3": ("nv-peer-mem-source", "1.3"),
        src + "efa-2.17.2": ("efa-source", "2.17.2"),
    }


def test_what_is_installed_for_efa(tmp_path):
    installed = "/opt/amazon/efa_installed_packages"
    plugin = "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu/libnccl-net.so"
    root = make(tmp_path / "t", {
        installed: "# EFA installer version: 1.42.0\n# Debug packages installed: no\nsecret-package-1\n",
        plugin: b"\x7fELF\0" + b"z" * 65520 + b"NET/OFI Initializing aws-ofi-nccl 1.16.0-aws\0",
        "/usr/lib/libnccl-net.so": b"\x7fELF\0another plugin\0"})
    assert items_of(root) == {installed: ("efa-installer", "1.42.0"), plugin: ("aws-ofi-nccl", "1.16.0"),
                              "/usr/lib/libnccl-net.so": ("nccl-net", None)}
    with open(root + ".capture") as f:
        assert "secret-package" not in f.read()


def test_toolkit_library_and_ucx_wheel(tmp_path):
    lib = "/usr/lib/python3/dist-packages/"
    assert items_of(make(tmp_path / "t", {
        GNU + "libnvidia-container.so.1": Link("libnvidia-container.so.1.17.8"),
        GNU + "libnvidia-container.so.1.17.8": "", GNU + "libnvidia-container-go.so.1.17.8": "",
        lib + "libucx_cu12-1.18.1.dist-info/METADATA": ""})) == {
        GNU + "libnvidia-container.so.1.17.8": ("libnvidia-container", "1.17.8"),
        lib + "libucx_cu12-1.18.1.dist-info": ("ucx", "1.18.1")}


RENEW_VARIABLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "renew-variables")


def test_renew_variables_reports_new_and_lost_names(tmp_path):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "env_defs.h").write_text(
        "#define NVSHMEMI_ENV_DEF(NAME, KIND) KIND\nNVSHMEMI_ENV_DEF(KEPT, int)\nNVSHMEMI_ENV_DEF(\n    ADDED, int)\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run(git + command, check=True)
    table = tmp_path / "nvshmem-variables.txt"
    table.write_text("# names\nKEPT\nLOST\nLATER 9.9\n")
    done = subprocess.run([RENEW_VARIABLES, table, tmp_path], stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout.decode()) == (1, "new ADDED\ngone LOST\n")
    table.write_text("KEPT\nADDED\n")
    done = subprocess.run([RENEW_VARIABLES, table, tmp_path], stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, b"")
