# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest: Debian's own kernel, and a small first root file system with what the scenarios need.
Made once for each kernel version and kept in the build folder. Nothing is installed on this
machine: packages are unpacked, modules are built against the unpacked headers."""

import glob
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

from cpio import Archive

HERE = pathlib.Path(__file__).resolve().parent

# What runs in the guest, besides busybox: all copied from this machine with its libraries. The
# shell is not busybox's, which takes its own modprobe before the one that is under test.
TOOLS = ("dash", "dmsetup", "getfattr", "ibv_devices", "ibv_devinfo", "ip", "kmod", "lspci", "rdma", "secilc",
         "setfattr", "setpci")
KMOD_NAMES = ("depmod", "insmod", "lsmod", "modinfo", "modprobe", "rmmod")
PROVIDERS = ("mlx5", "rxe")

# Of Debian's modules, with all that they depend on; crc32_generic is what rdma_rxe asks the crypto
# layer for by name, crc32c_generic what ext4 does.
MODULES = ("virtio_pci", "virtio_net", "9pnet_virtio", "9p", "rdma_rxe", "ib_uverbs", "ib_umad",
           "rdma_ucm", "crc32_generic", "dummy", "veth", "bridge", "8021q", "vfio-pci",
           "virtio_blk", "ext4", "crc32c_generic", "brd", "dm-mod")

STANDINS = ("fakepci", "ib_peer_mem", "mlx5_core", "mlx5_ib", "nouveau", "nvidia", "nvidia-uvm",
            "nvidia-peermem")


class GuestError(Exception):
    pass


def run(*command, **options):
    """Runs a command; its output is shown only when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, universal_newlines=True, **options)
    if done.returncode:
        raise GuestError("%s: exit status %d\n%s" % (" ".join(map(str, command)), done.returncode,
                                                     done.stdout))
    return done.stdout


def which(program):
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise GuestError("%s is not installed; tests/vm/packages names what is needed" % program)
    return path


def libraries(binary):
    """The shared libraries that a binary is linked with, the loader among them."""
    done = subprocess.run(["ldd", binary], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          universal_newlines=True)
    return re.findall(r"(?:=> |^\s+)(/\S+)", done.stdout, re.MULTILINE)


def usr_path(path):
    """Where a file is once /bin, /sbin and /lib are links into /usr."""
    return "/usr" + path if re.match(r"/(bin|sbin|lib|lib64)/", path) else path


def add_binary(archive, binary, path=None):
    archive.copy(binary, path or usr_path(binary))
    for library in libraries(binary):
        archive.copy(library, usr_path(library))


# ---- the kernel ----

def newest_release():
    """6.1.0-56-amd64: what the package linux-image-amd64 depends on."""
    text = run("apt-cache", "depends", "linux-image-amd64")
    found = re.search(r"Depends: linux-image-(\S+)", text)
    if not found:
        raise GuestError("apt knows no linux-image-amd64: run apt-get update")
    return found[1]


def kernel_packages(release):
    """The image, the headers, and the two packages that the headers are completed by."""
    headers = "linux-headers-" + release
    text = run("apt-cache", "depends", headers)
    parts = re.findall(r"Depends: (linux-headers-\S+-common|linux-kbuild-\S+)", text)
    return ["linux-image-" + release, headers] + parts


def uncompressed(bzimage):
    """The ELF image inside vmlinuz (Documentation/x86/boot.rst: payload_offset, payload_length).
    Started directly, through PVH, the guest does not spend seconds on unpacking it."""
    sectors = bzimage[0x1F1] or 4
    offset, length = struct.unpack_from("<II", bzimage, 0x248)
    start = (sectors + 1) * 512 + offset
    payload = bzimage[start:start + length]
    if not payload.startswith(b"\xfd7zXZ\0"):
        raise GuestError("this kernel is not compressed with xz")
    return lzma.LZMADecompressor().decompress(payload)


class Kernel:
    """An unpacked kernel: as it is packed and as it is started, headers, and the modules that are
    wanted."""

    def __init__(self, build, release):
        self.release = release
        self.folder = build / release
        self.vmlinuz = self.folder / "vmlinuz"
        self.vmlinux = self.folder / "vmlinux"
        self.modules = self.folder / "modules"
        self.headers = self.folder / "headers"
        self.config = self.folder / "config"

    def make(self):
        stamp = self.folder / "kernel.stamp"
        wanted = json.dumps(MODULES)
        if stamp.exists() and stamp.read_text() == wanted:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            unpacked = pathlib.Path(name)
            self._unpack(unpacked)
            shutil.copy(unpacked / "boot" / ("vmlinuz-" + self.release), self.vmlinuz)
            self.vmlinux.write_bytes(uncompressed(self.vmlinuz.read_bytes()))
            shutil.copy(unpacked / "boot" / ("config-" + self.release), self.config)
            self._pick_modules(unpacked)
            shutil.rmtree(self.headers, ignore_errors=True)
            (unpacked / "usr").rename(self.headers)
        stamp.write_text(wanted)

    def _unpack(self, into):
        packages = self.folder / "packages"
        packages.mkdir(exist_ok=True)
        if len(list(packages.glob("*.deb"))) < 4:
            print("vm: downloading Linux %s" % self.release, flush=True)
            # Only root can hand files to apt's own user; without that apt downloads as it is.
            run("apt-get", "-o", "APT::Sandbox::User=root", "download",
                *kernel_packages(self.release), cwd=packages)
        for package in packages.glob("*.deb"):
            run("dpkg-deb", "-x", package, into)

    def _pick_modules(self, unpacked):
        run(which("depmod"), "-b", unpacked, self.release)
        listed = run(which("modprobe"), "-d", unpacked, "-S", self.release, "-C", "/dev/null", "-a",
                     "--show-depends", *MODULES)
        top = unpacked / "lib" / "modules" / self.release
        shutil.rmtree(self.modules, ignore_errors=True)
        self.modules.mkdir()
        for path in set(re.findall(r"^insmod (\S+)", listed, re.MULTILINE)):
            target = self.modules / pathlib.Path(path).relative_to(top)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
            shutil.copy(top / name, self.modules / name)


# ---- the stand-in modules ----

def digest(paths):
    h = hashlib.sha256()
    for path in sorted(paths):
        h.update(str(path).encode() + b"\0" + pathlib.Path(path).read_bytes())
    return h.hexdigest()


def build_standins(kernel):
    """Compiles them when a source has changed. Returns their folder."""
    sources = [p for p in (HERE / "modules").iterdir() if p.is_file()]
    folder = kernel.folder / "standins"
    stamp = kernel.folder / "standins.stamp"
    state = digest(sources)
    if stamp.exists() and stamp.read_text() == state:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "modules", folder)
    series = kernel.release[:-len("-amd64")]
    sources_folder = kernel.headers / "src"
    # The Makefile of the headers package names the common one by a path of the installed system.
    run("make", "-s", "-f", sources_folder / ("linux-headers-%s-common" % series) / "Makefile",
        "-C", sources_folder / ("linux-headers-" + kernel.release), "M=%s" % folder,
        "-j%d" % (os.cpu_count() or 1), "modules")
    stamp.write_text(state)
    return folder


# ---- the first root file system ----

def add_providers(archive):
    library = "libibverbs.so.1"
    for path in libraries(which("ibv_devinfo")):
        if os.path.basename(path) == library:
            folder = os.path.join(os.path.dirname(usr_path(path)), "libibverbs")
    for name in PROVIDERS:
        archive.copy("/etc/libibverbs.d/%s.driver" % name)
        found = list(pathlib.Path(folder).glob("lib%s-rdmav*.so" % name))
        if not found:
            raise GuestError("no library of the %s provider in %s" % (name, folder))
        add_binary(archive, str(found[0]))


def add_modules(archive, kernel, standins):
    top = "/usr/lib/modules/" + kernel.release
    with tempfile.TemporaryDirectory(dir=kernel.folder) as name:
        tree = pathlib.Path(name) / "lib" / "modules" / kernel.release
        shutil.copytree(kernel.modules, tree)
        (tree / "updates").mkdir()
        for module in STANDINS:
            shutil.copy(standins / (module + ".ko"), tree / "updates")
        run(which("depmod"), "-b", name, kernel.release)
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                archive.copy(str(path), "%s/%s" % (top, path.relative_to(tree)))


def add_system(archive, kernel):
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.folder("/usr/" + name)
        archive.link("/" + name, "usr/" + name)
    for name in ("proc", "sys", "dev", "run/lock", "tmp", "root", "mnt/share", "opt/share", "var/lib"):
        archive.folder(name)
    archive.character_device("/dev/console", 5, 1)
    archive.copy(str(kernel.config), "/boot/config-" + kernel.release)
    archive.file("/etc/hostname", b"node1\n")
    archive.file("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    archive.file("/etc/nsswitch.conf", b"passwd: files\nhosts: files dns\n")
    archive.copy("/usr/lib/os-release")
    archive.link("/etc/os-release", "../usr/lib/os-release")


def add_tools(archive):
    busybox = which("busybox")
    archive.copy(busybox, "/usr/bin/busybox")
    for tool in TOOLS:
        add_binary(archive, which(tool))
    kmod = usr_path(which("kmod"))
    for name in KMOD_NAMES:
        archive.link("/usr/sbin/" + name, kmod)
    archive.link("/usr/bin/sh", "dash")
    for name in run(busybox, "--list").split():
        if name not in TOOLS + KMOD_NAMES:
            archive.link("/usr/bin/" + name, "busybox")


def base_image(kernel, standins):
    """All that does not change from scenario to scenario."""
    inputs = [p for p in HERE.glob("guest/*")] + [HERE / "guest.py", HERE / "cpio.py"]
    tools = [which(t) for t in TOOLS + ("busybox",)]
    state = json.dumps([digest(inputs), (kernel.folder / "standins.stamp").read_text(),
                        (kernel.folder / "kernel.stamp").read_text(),
                        [(t, os.stat(t).st_mtime) for t in tools]])
    image, stamp = kernel.folder / "base.cpio", kernel.folder / "base.stamp"
    if stamp.exists() and stamp.read_text() == state:
        return image.read_bytes()
    archive = Archive()
    add_system(archive, kernel)
    add_tools(archive)
    add_providers(archive)
    add_modules(archive, kernel, standins)
    archive.file("/init", (HERE / "guest" / "init").read_bytes(), 0o755)
    for name in ("nodes", "observe", "settle"):
        archive.file("/guest/" + name, (HERE / "guest" / name).read_bytes(), 0o755)
    image.write_bytes(archive.bytes())
    stamp.write_text(state)
    return image.read_bytes()


def program_image(program):
    """The program as it was built, and its libraries."""
    archive = Archive()
    add_binary(archive, str(program), "/usr/sbin/nvnodecheck")
    add_opened(archive, program)
    add_cuda(archive)
    return archive.bytes()


def add_opened(archive, program):
    """What the program opens at run time: documents and the configuration, for fix hashes, without which it changes
    nothing, and SELinux' labels."""
    folders = {os.path.dirname(path) for path in libraries(str(program))}
    for name in ("libjson-c.so.5", "libinih.so.[01]", "libgcrypt.so.20", "libselinux.so.1"):
        found = [path for folder in folders for path in glob.glob(os.path.join(folder, name))]
        if not found:
            raise GuestError("%s is not installed; tests/vm/packages names what is needed" % name)
        add_binary(archive, found[0])


def add_cuda(archive):
    """What stands in for NVIDIA's libraries where prove is tried; nothing else looks there."""
    source = HERE.parent / "standins" / "cuda.c"
    with tempfile.TemporaryDirectory() as name:
        library = pathlib.Path(name) / "libcuda.so.1"
        run(which("cc"), "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-o", library, source)
        for path in ("libcuda.so.1", "libnvidia-ml.so.1"):
            archive.copy(str(library), "/opt/standins/" + path)


class Guest:
    """What is needed to start a VM."""

    def __init__(self, build, program):
        build = pathlib.Path(build).resolve()
        build.mkdir(parents=True, exist_ok=True)
        self.kernel = Kernel(build, self._release(build))
        self.kernel.make()
        self.standins = build_standins(self.kernel)
        self.program = program
        self.images = [base_image(self.kernel, self.standins), program_image(program)]

    @staticmethod
    def _release(build):
        """The kernel that was taken first: looking for a newer one takes the network."""
        kept = build / "release"
        if not kept.exists():
            kept.write_text(newest_release())
        return kept.read_text()
