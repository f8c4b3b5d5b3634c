# SPDX-License-Identifier: GPL-2.0-or-later
"""Images and menus made by the real generators, in Debian roots: built, read back with the
distribution's own tool, taken back. `make check-generators`, as root; the roots are made once and kept
in build/generators."""
import os
import re
import shutil
import subprocess

import pytest

from lib import program, txn

pytestmark = pytest.mark.skipif(
    not os.environ.get("NVNODECHECK_GENERATORS") or os.geteuid() != 0,
    reason="make check-generators, as root")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOTS = os.path.join(program.TOP, "build", "generators")
TEXT = ('options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;" NVreg_EnableStreamMemOPs=1\n'
        "blacklist nouveau\n")
HOLDS = ["nvidia NVreg_RegistryDwords=PeerMappingOverride=1;", "nvidia NVreg_EnableStreamMemOPs=1",
         "blacklist nouveau"]


class Root:
    """A copy of a root that can be thrown away: an overlay over the one that is kept."""

    def __init__(self, kind, place):
        self.kept = os.path.join(ROOTS, kind)
        if not os.path.isdir(self.kept):
            subprocess.run([os.path.join(HERE, "generators", "make-root"), kind, self.kept],
                           check=True)
        self.place = os.path.join(place, "generator")
        self.path = self.place + "/root"
        for folder in ("root", "upper", "work"):
            os.makedirs(os.path.join(self.place, folder))
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", "lowerdir=%s,upperdir=%s/upper,"
                        "workdir=%s/work" % (self.kept, self.place, self.place), self.path],
                       check=True)
        self.kernel, = os.listdir(self.path + "/lib/modules")
        self.image = "/boot/initrd.img-" + self.kernel
        self.kind = kind
        self.before_driver = ""

    def close(self):
        subprocess.run(["umount", "-l", self.path], check=False)
        shutil.rmtree(self.place, ignore_errors=True)

    def inside(self, *command, **more):
        return subprocess.run(
            ["chroot", self.path, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
            **more).stdout.decode("utf-8", "replace")

    def build(self):
        """The image as it is before the transaction."""
        script = self.before_driver + 'chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin ' + (
            'mkinitramfs -o "$2" "$3"' if self.kind == "initramfs-tools" else
            'dracut --force --kver "$3" "$2"')
        subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh",
                        self.path, self.image, self.kernel], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def step(self, **more):
        return dict({"kind": "initramfs", "subject": self.kernel, "path": self.image,
                     "tool": self.kind, "must_hold": HOLDS}, **more)

    def run(self, *args, mounts="", env=None):
        """The driver, with mounts of its own."""
        ran = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-ec",
             self.before_driver + mounts + '\nshift; exec "$@"', "sh", self.path, txn.driver(),
             self.path, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=program.environment(**(env or {})), check=False)
        return txn.Ran(ran)

    def apply(self, files=None, steps=None, **more):
        files = [txn.file(txn.CONF, TEXT)] if files is None else files
        plan = txn.plan(self.path, files, [self.step()] if steps is None else steps)
        return self.run("apply", plan, **more)

    def listed(self):
        """Names in the image, as the distribution's own tool gives them."""
        if self.kind == "initramfs-tools":
            return self.inside("lsinitramfs", self.image)
        return self.inside("lsinitrd", self.image)

    def in_image(self, path):
        if self.kind == "dracut":
            return self.inside("lsinitrd", "-f", path, self.image)
        return self.inside("sh", "-c", "rm -rf /tmp/u; unmkinitramfs %s /tmp/u; cat /tmp/u/%s; "
                           "rm -rf /tmp/u" % (self.image, path))


SEEN = ("/boot", "/etc", "/var/lib", "/usr/lib/modprobe.d", "/lib/modules")


def look(root):
    """The folders that a generator or a package could write to, whole."""
    seen = {}
    for folder in SEEN:
        for path, what in txn.look(root.path + folder).items():
            if not (folder + path).startswith(txn.OURS):
                seen[folder + path] = what
    return seen


@pytest.fixture(params=["initramfs-tools", "dracut", "dracut host-only"])
def root(request, place):
    kind, _, host_only = request.param.partition(" ")
    made = Root(kind, place)
    if host_only:
        txn.put(made.path, "/etc/dracut.conf.d/host.conf", 'hostonly="yes"\n')
        # Without these dracut takes it that the root is not this host's and is generic.
        made.before_driver = ('for f in proc sys dev; do mount --rbind /$f "$1/$f"; done; '
                              'mount -t tmpfs -o mode=755 tmpfs "$1/run"\n')
    elif kind == "dracut":
        txn.put(made.path, "/etc/dracut.conf.d/host.conf", 'hostonly="no"\n')
    made.generic = kind == "dracut" and not host_only
    # Built once, and then kept beside the root.
    image = os.path.join(ROOTS, request.param.replace(" ", "-") + ".image")
    if os.path.exists(image):
        shutil.copy2(image, made.path + made.image)
    else:
        made.build()
        shutil.copy2(made.path + made.image, image)
    yield made
    made.close()


@pytest.fixture
def tools(place):
    made = Root("initramfs-tools", place)
    yield made
    made.close()


def files_for(root):
    """A generic dracut image takes no modprobe.d unless told to."""
    more = [txn.file("/etc/dracut.conf.d/zz-nvnodecheck.conf",
                     'install_items+=" %s "\n' % txn.CONF)] if root.generic else []
    return [txn.file(txn.CONF, TEXT)] + more


def check(ran, result):
    assert ran.result == result, str(ran)
    return ran


def test_apply_and_undo(root):
    before = look(root)
    assert txn.CONF[1:] not in root.listed()
    check(root.apply(files_for(root)), "applied")
    assert root.in_image(txn.CONF[1:]) == TEXT
    assert look(root)[root.image][:4] == before[root.image][:4]
    check(root.run("undo"), "undone")
    assert not txn.difference(look(root), before)


def test_undo_after_a_package_rebuilt_the_image(root):
    """The image that a package made meanwhile still has what is being taken back."""
    check(root.apply(files_for(root)), "applied")
    root.build()
    ran = check(root.run("undo"), "undone")
    assert ran.item("initramfs")["state"] == "rebuilt"
    assert txn.CONF[1:] not in root.listed()


def test_generic_dracut_without_install_items(root):
    """The image would not hold the options, whatever the files say: nothing is changed."""
    if not root.generic:
        pytest.skip("only generic dracut images")
    before = look(root)
    ran = check(root.apply(), "rolled-back")
    assert "does not hold" in ran.outcome["text"]
    assert not txn.difference(look(root), before)


def test_modules_load_pulls_into_the_image(root):
    """With the module in the image the options in the image count, and they are there."""
    if root.kind == "dracut":
        txn.put(root.path, "/etc/dracut.conf.d/load.conf",
                'dracutmodules+=" systemd-initrd systemd-modules-load "\n')
        if not os.path.isdir(root.path + "/usr/lib/dracut/modules.d/01systemd-modules-load"):
            pytest.skip("this dracut has no such module")
    elif root.kind == "initramfs-tools":
        txn.put(root.path, "/etc/initramfs-tools/modules", "nvidia\n")
    root.build()
    before = look(root)
    files = files_for(root) + [txn.file("/etc/modules-load.d/nvnodecheck.conf", "nvidia\n")]
    check(root.apply(files), "applied")
    assert re.search(r"updates/dkms/nvidia\.ko", root.listed()) or root.generic
    assert root.in_image(txn.CONF[1:]) == TEXT
    check(root.run("undo"), "undone")
    assert not txn.difference(look(root), before)


def test_maintainer_script(root):
    """update-initramfs puts off what it is asked for in a maintainer script."""
    check(root.apply(files_for(root), env={"DPKG_MAINTSCRIPT_PACKAGE": "x",
                                           "DPKG_MAINTSCRIPT_NAME": "postinst"}), "applied")
    assert root.in_image(txn.CONF[1:]) == TEXT


@pytest.mark.parametrize("size", ["1m", "3m"])
def test_full_boot(root, size):
    """Refused for lack of room, or rolled back; dracut would have deleted the image."""
    before = look(root)
    mounts = ('cp -a "$1/boot" "$1/boot.kept"; mount -t tmpfs -o size=64m,mode=755 tmpfs "$1/boot"; '
              'cp -a "$1/boot.kept/." "$1/boot"; rm -rf "$1/boot.kept"; rm "$1"/boot/vmlinuz*; '
              'used=$(du -sm "$1/boot" | cut -f1); '
              'mount -o remount,size=$((used + %s))m tmpfs "$1/boot"; '
              'sha256sum "$1"/boot/initrd* > "$1/sums"; trap : EXIT\n' % size.rstrip("m"))
    ran = root.run("apply", txn.plan(root.path, files_for(root), [root.step()]), mounts=mounts)
    assert check(ran, "refused").outcome["text"].count("no room")
    assert not txn.difference(look(root), before)


def test_boot_that_fills_up(root):
    """Room when it was looked at, none when the generator writes: the old image stays."""
    before = look(root)
    mounts = ('cp -a "$1/boot" "$1/boot.kept"; mount -t tmpfs -o size=128m,mode=755 tmpfs "$1/boot"; '
              'cp -a "$1/boot.kept/." "$1/boot"; rm -rf "$1/boot.kept"; '
              'sha256sum "$1"/boot/initrd* > "$1/var/tmp/sums"; '
              'dd if=/dev/zero of="$1/boot/ballast" bs=1M count=1 2>/dev/null; '
              '( while sleep 0.05; do for f in "$1"/boot/.nvnodecheck.*; do [ -e "$f" ] && '
              'dd if=/dev/zero of="$1/boot/ballast" bs=1M 2>/dev/null; done; done ) & filler=$!\n'
              'set +e; "$2" "$3" "$4" "$5"; kill $filler; sha256sum --quiet -c "$1/var/tmp/sums" >&2 && '
              'ls -A "$1/boot" >&2; rm "$1/var/tmp/sums"; exit 0\n')
    if root.kind == "initramfs-tools":
        pytest.skip("mkinitramfs makes its file first and writes in one go: see the smaller tests")
    ran = root.run("apply", txn.plan(root.path, files_for(root), [root.step()]), mounts=mounts)
    # It may be faster than what fills the disk.
    assert ran.result in ("rolled-back", "applied"), str(ran)
    if ran.result == "rolled-back":
        assert "FAILED" not in ran.err and ".nvnodecheck" not in ran.err.split("\n", 1)[1]
        assert not txn.difference({p: w for p, w in look(root).items()}, before)


def test_read_only_boot(root):
    """update-initramfs says that all is well there and does nothing."""
    before = look(root)
    ran = root.run("apply", txn.plan(root.path, files_for(root), [root.step()]),
                   mounts='mount --bind "$1/boot" "$1/boot"; mount -o remount,bind,ro "$1/boot"\n')
    assert "read-only" in check(ran, "refused").outcome["text"]
    assert not txn.difference(look(root), before)


def test_switched_off(tools):
    """update_initramfs=no"""
    tools.build()
    txn.put(tools.path, "/etc/initramfs-tools/update-initramfs.conf", "update_initramfs=no\n")
    ran = check(tools.apply(), "applied")
    assert any("update_initramfs=no" in note for note in ran.outcome["notes"])
    assert tools.in_image(txn.CONF[1:]) == TEXT


def test_mask_that_an_image_loses(tools):
    """A link to /dev/null masks a vendor's file on the root file system; initramfs-tools drops the link and
    keeps the vendor's file, which then wins in the image: said, and rolled back."""
    txn.put(tools.path, "/usr/lib/modprobe.d/zzz-vendor.conf",
            "options nvidia NVreg_EnableStreamMemOPs=0\n")
    os.symlink("/dev/null", tools.path + "/etc/modprobe.d/zzz-vendor.conf")
    tools.build()
    before = look(tools)
    ran = check(tools.apply(), "rolled-back")
    assert "does not hold" in ran.outcome["text"] and "StreamMemOPs=1" in ran.outcome["text"]
    assert not txn.difference(look(tools), before)
    ran = check(tools.apply([txn.file("/etc/modprobe.d/zzz-vendor.conf", TEXT, before="")]), "refused")
    assert "symbolic link to /dev/null" in ran.outcome["text"]


def test_alternatives(tools):
    """Debian's nvidia.conf is a link of alternatives: never replaced, and read in the image through its
    links."""
    txn.put(tools.path, "/etc/nvidia/current/nvidia-modprobe.conf",
            "options nvidia NVreg_EnableStreamMemOPs=0\n")
    os.makedirs(tools.path + "/etc/alternatives", exist_ok=True)
    os.symlink("/etc/nvidia/current/nvidia-modprobe.conf",
               tools.path + "/etc/alternatives/glx--nvidia-modprobe.conf")
    os.symlink("/etc/alternatives/glx--nvidia-modprobe.conf",
               tools.path + "/etc/modprobe.d/nvidia.conf")
    tools.build()
    before = look(tools)
    ran = tools.apply([txn.file("/etc/modprobe.d/nvidia.conf", TEXT, before="")])
    assert "symbolic link" in check(ran, "refused").outcome["text"]
    check(tools.apply(), "applied")
    check(tools.run("undo"), "undone")
    assert not txn.difference(look(tools), before)


def test_hooks_after_an_image(tools):
    """What copies images elsewhere is told, as update-initramfs does, also when it is put back."""
    tools.build()
    txn.put(tools.path, "/etc/initramfs/post-update.d/copy",
            '#!/bin/sh\necho "$1 $2" >> /told\nsha256sum "$2" >> /told\n', 0o755)
    check(tools.apply(), "applied")
    check(tools.run("undo"), "undone")
    told = txn.read(tools.path, "/told").decode().splitlines()
    assert told[0] == told[2] == "%s %s" % (tools.kernel, tools.image)
    assert told[1] != told[3]
    txn.put(tools.path, "/etc/initramfs/post-update.d/copy", "#!/bin/sh\nexit 1\n", 0o755)
    before = look(tools)
    check(tools.apply(), "rolled-back")
    assert not txn.difference(look(tools), before)


def test_kernel_that_is_not_there(tools):
    """update-initramfs -u -k of one makes a bogus image and says that all is well."""
    before = look(tools)
    tools.apply(steps=[tools.step(subject="9.9.9", path="/boot/initrd.img-9.9.9")])
    assert not txn.difference(look(tools), before)


GRUB_PROBE = """#!/bin/sh
# There is no disk below an overlay: what a root on /dev/vda1 would give.
case "$*" in
*--target=device*) echo /dev/vda1 ;;
*--target=fs_uuid*) echo 0f0f0f0f-1111-2222-3333-444444444444 ;;
*--target=fs*) echo ext2 ;;
*--target=partmap*) echo gpt ;;
*) : ;;
esac
"""


def test_menu(tools):
    """update-grub's own scripts, a side file, and a drop-in in grub.d."""
    txn.put(tools.path, "/usr/sbin/grub-probe", GRUB_PROBE, 0o755)
    txn.put(tools.path, "/etc/default/grub", 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
    tools.inside("sh", "-c", "mkdir -p /boot/grub && update-grub")
    before = look(tools)
    files = [txn.file("/etc/default/grub.d/zz-nvnodecheck.cfg",
                      'GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }iommu=pt"\n')]
    step = {"kind": "boot-loader", "tool": "grub-mkconfig", "argv": ["/usr/sbin/update-grub"],
            "must_hold": ["iommu=pt"]}
    check(tools.apply(files, [step]), "applied")
    menu = txn.read(tools.path, "/boot/grub/grub.cfg").decode()
    assert len(re.findall(r"^\s*linux\s.*iommu=pt", menu, re.M)) >= 2
    check(tools.run("undo"), "undone")
    assert not txn.difference(look(tools), before)
    # Somebody installs a kernel meanwhile: the menu is made anew, without the argument.
    check(tools.apply(files, [step]), "applied")
    txn.put(tools.path, "/boot/grub/grub.cfg", menu + "# another\n")
    assert check(tools.run("undo"), "undone").item("menu")["state"] == "rebuilt"
    assert b"iommu=pt" not in txn.read(tools.path, "/boot/grub/grub.cfg")
    txn.put(tools.path, "/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=(\n")
    before = look(tools)
    assert check(tools.apply(files, [step]), "rolled-back").item("menu")["output"]
    assert not txn.difference(look(tools), before)


def test_units(place):
    """systemctl enable in a root that does not run."""
    made = Root("dracut", place)
    try:
        before = look(made)
        files = [txn.file("/etc/systemd/system/nvnodecheck-test.service",
                          "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n")]
        check(made.apply(files, [{"kind": "daemon-reload"},
                                 {"kind": "unit-enable", "subject": "nvnodecheck-test.service"}]),
              "applied")
        assert os.path.islink(made.path + "/etc/systemd/system/multi-user.target.wants/"
                              "nvnodecheck-test.service")
        check(made.run("undo"), "undone")
        assert not txn.difference(look(made), before)
    finally:
        made.close()


@pytest.mark.parametrize("at", range(1, 90, 4))
def test_killed_with_a_real_generator(tools, at):
    """Also while the generator works: the next run takes back what there is."""
    tools.build()
    before = look(tools)
    tools.run("apply", txn.plan(tools.path, [txn.file(txn.CONF, TEXT)], [tools.step()]),
              env={"NVNODECHECK_TEST_CRASH_AT": str(at)})
    done = "COMMIT" in subprocess.run(
        "cat %s/%s/*/journal 2>/dev/null || :" % (tools.path, txn.STATE), shell=True, check=True,
        stdout=subprocess.PIPE).stdout.decode()
    assert tools.run("recover").result in ("rolled-back", "nothing")
    if done:
        assert tools.in_image(txn.CONF[1:]) == TEXT
    else:
        assert not txn.difference(look(tools), before)
