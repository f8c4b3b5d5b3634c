# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of the Debian package: installed, upgraded, removed, purged."""
import glob
import os
import subprocess

from conftest import UNITS, looks_at_nodes, made, version

CAPTURE = "/usr/share/nvnodecheck/nodes/h200-x8.capture"
RECORD = "/var/lib/nvnodecheck/fix/20260101-000000/journal"
CONFIGURATION = "/etc/nvnodecheck.conf"


def package():
    return made("deb/nvnodecheck_VERSION-*.deb", "deb")


def older(folder):
    """The same package as version 0.9.0, with a file that the newer one no longer has."""
    tree = os.path.join(folder, "older")
    subprocess.run(["dpkg-deb", "--raw-extract", package(), tree], check=True)
    control = os.path.join(tree, "DEBIAN", "control")
    with open(control, encoding="utf-8") as file:
        text = file.read()
    with open(control, "w", encoding="utf-8") as file:
        file.write(text.replace("Version: " + version(), "Version: 0.9.0"))
    with open(tree + "/usr/share/nvnodecheck/no-longer-there", "w") as file:
        file.write("\n")
    made_of = os.path.join(folder, "nvnodecheck_older.deb")
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, made_of], check=True,
                   stdout=subprocess.DEVNULL)
    return made_of


def state(root):
    return root.inside("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "nvnodecheck")


def enabled(root):
    """Links to our units in the folders that systemd starts from."""
    return {os.path.basename(path) for path in glob.glob(root.path + "/etc/systemd/system/**",
                                                         recursive=True)} & UNITS


def has_pages(root):
    for section, page in (("8", "nvnodecheck"), ("5", "nvnodecheck.conf"), ("5", "nvnodecheck-facts"),
                          ("7", "nvnodecheck-rules")):
        where = root.inside("man", "-w", section, page).strip()
        assert where.startswith("/usr/share/man/man%s/%s.%s" % (section, page, section))


def field(name):
    return subprocess.run(["dpkg-deb", "-f", package(), name], check=True, stdout=subprocess.PIPE).stdout.decode()


def test_libraries_that_it_opens():
    """Of the program's notes, by the names that this suite has for their packages."""
    assert {"libkmod2", "libpci3", "libjson-c5", "libinih1"} <= set(field("Depends").replace(",", " ").split())
    recommended = field("Recommends").replace("t64", "")
    assert all(name in recommended for name in ("libarchive13", "libgcrypt20", "libibverbs1", "libselinux1",
                                                "libsystemd0", "libyaml-0-2", "libzstd1", "zlib1g"))


def test_its_life(debian, node_tree, tmp_path):
    debian.inside("dpkg", "-i", debian.take(older(str(tmp_path))))
    assert state(debian) == "installed 0.9.0-1"
    assert debian.has("/usr/share/nvnodecheck/no-longer-there")
    debian.put(RECORD, "kept\n")
    debian.put(CONFIGURATION, "[check]\nprofile = base\n")

    debian.inside("dpkg", "-i", debian.take(package()))
    assert state(debian) == "installed %s-1" % version()
    assert not debian.has("/usr/share/nvnodecheck/no-longer-there")
    assert debian.has(RECORD)
    looks_at_nodes(debian.path, "/usr/sbin/nvnodecheck", CAPTURE, node_tree("h20-roce-deepep"))
    has_pages(debian)
    installed = debian.inside("dpkg", "-L", "nvnodecheck").split()
    assert UNITS <= {os.path.basename(path) for path in installed}
    assert not [path for path in installed if path.startswith("/etc/")]
    assert not enabled(debian)

    debian.inside("dpkg", "--remove", "nvnodecheck")
    left = [path for path in installed
            if debian.has(path) and not os.path.isdir(debian.path + path)]
    assert not left
    assert not debian.has("/usr/share/nvnodecheck")
    assert debian.has(RECORD), "undo needs it"

    said = debian.inside("dpkg", "--purge", "nvnodecheck")
    assert "deleting /var/lib/nvnodecheck" in said
    assert not debian.has("/var/lib/nvnodecheck")
    assert debian.has(CONFIGURATION), "the administrator wrote it"


def test_who_enabled_a_unit_keeps_it_over_an_upgrade(debian, tmp_path):
    debian.inside("dpkg", "-i", debian.take(older(str(tmp_path))))
    # As systemctl does, which this root does not have.
    folder = debian.path + "/etc/systemd/system/timers.target.wants"
    os.makedirs(folder, exist_ok=True)
    os.symlink("/lib/systemd/system/nvnodecheck-textfile.timer", folder + "/nvnodecheck-textfile.timer")
    assert enabled(debian) == {"nvnodecheck-textfile.timer"}
    debian.inside("dpkg", "-i", debian.take(package()))
    assert enabled(debian) == {"nvnodecheck-textfile.timer"}
    debian.inside("dpkg", "--purge", "nvnodecheck")
    assert not enabled(debian)


def test_without_what_it_depends_on_it_is_not_set_up(debian):
    debian.inside("dpkg", "--force-depends", "--remove", "libpci3")
    said = debian.inside("dpkg", "-i", debian.take(package()), status=1)
    assert "depends on libpci3" in said
