# SPDX-License-Identifier: GPL-2.0-or-later
"""An image of Debian with Debian's own NVIDIA packages, evaluated and prepared before it boots: `make check-image`.
Its disk is made once (make-image) and copied for each run."""
import os
import subprocess

import pytest

from lib import program
from conftest import HERE, TOP

FOLDER = os.environ.get("NVNODECHECK_IMAGE")
OPTION = "driver/peer-mapping-override"
DOCTOR = ("doctor", "--json", "--profile", "deepep")
MACHINE = os.path.join(TOP, "nodes", "h200-x8.capture")

pytestmark = pytest.mark.skipif(not FOLDER or os.geteuid() != 0, reason="make check-image runs it, as root")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    disk = os.path.join(FOLDER, "disk.raw")
    if not os.path.exists(disk):
        subprocess.run([os.path.join(HERE, "make-image"), FOLDER], check=True)
    folder = tmp_path_factory.mktemp("image")
    folder.chmod(0o755)
    copy, root = str(folder / "disk.raw"), str(folder / "root")
    subprocess.run(["cp", "--sparse=always", disk, copy], check=True)
    os.mkdir(root)
    subprocess.run(["mount", "-o", "loop", copy, root], check=True)
    yield root
    subprocess.run(["umount", root], check=True)


def report(*args, status=1):
    result = program.run(*DOCTOR, *args)
    assert result.status == status, str(result)
    return result.json()


def rules(found, *verdicts):
    return {f["rule"] for f in found["findings"] if f["verdict"] in verdicts}


def in_image(root, *command):
    return subprocess.run(["chroot", root, *command], check=True, stdout=subprocess.PIPE,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}).stdout.decode()


def test_its_next_boot(image):
    facts = program.facts(image)
    (release,) = os.listdir(image + "/lib/modules")
    assert (facts["os"]["next_boot"], facts["os"]["kernel"]) == ("boot-loader", release)
    (module,) = [f for f in facts["modules"]["files"] if f["name"] == "nvidia"]
    modinfo = in_image(image, "modinfo", "-k", release, "-F", "version", "nvidia-current-open").strip()
    assert facts["driver"]["version"] == module["version"] == modinfo
    assert facts["driver"]["flavour"] == "open"
    assert "root=" in facts["cmdline"]["running"]
    (image_of_entry,) = [i["path"] for i in facts["initramfs"]["images"] if i["next"]]
    assert image_of_entry.endswith("/%s/initrd.img-%s" % (release, release))


def test_what_is_evaluated(image):
    found = report("--root", image)
    assert rules(found, "fail") == {OPTION, "kernel/config-p2pdma-missing"}
    assert rules(found, "pass") >= {
        "boot/initramfs-stale", "boot/kernel-next-lacks-modules", "driver/flavour", "driver/gpu-firmware-off",
        "driver/gsp-firmware-missing", "driver/library-mismatch", "modules/depmod-stale",
        "modules/duplicate-nvidia-ko", "modules/nvidia-not-built-for-kernel", "modules/nvidia-versions-differ",
        "modules/will-not-load"}
    text = program.run("doctor", "--root", image, "--profile", "deepep").out
    assert text.count("Not here") == 1 and "--hardware FILE" in text


def test_with_a_machine(image):
    found = report("--root", image, "--hardware", MACHINE)
    alone = report("--root", image)
    assert len(rules(found, "unknown")) < len(rules(alone, "unknown")) / 2
    assert OPTION in rules(found, "fail")


def test_a_module_that_will_not_load(image):
    """As modprobe in the image says."""
    file = image + "/etc/modprobe.d/zz-off.conf"
    with open(file, "w") as out:
        out.write("install nvidia-current-open /bin/false\n")
    try:
        assert "modules/will-not-load" in rules(report("--root", image), "fail")
    finally:
        os.unlink(file)


def test_a_second_kernel(image):
    """Whose modules were not built."""
    other = image + "/lib/modules/6.1.0-1-other"
    os.mkdir(other)
    with open(other + "/modules.dep", "w"):
        pass
    try:
        assert "modules/nvidia-not-built-for-kernel" in rules(report("--root", image, "--kernel", "6.1.0-1-other"),
                                                              "fail")
        assert "modules/nvidia-not-built-for-kernel" in rules(report("--root", image), "pass")
    finally:
        os.unlink(other + "/modules.dep")
        os.rmdir(other)


def test_fix_prepares_it_and_the_gate_opens(image):
    where = ("--root", image, "--profile", "deepep")
    assert program.run("doctor", "-q", "--strict", *where).status == 1
    result = program.run("fix", "--apply", "--yes", "--allow-writable-parents", *where)
    assert result.status == 0, str(result)
    assert "NVreg_RegistryDwords" in in_image(image, "modprobe", "--showconfig")
    assert program.run("doctor", "-q", "--strict", *where).status == 0
    result = program.run("undo", "--root", image, "--yes", "--allow-writable-parents")
    assert result.status == 0, str(result)
    assert program.run("doctor", "-q", *where).status == 1
