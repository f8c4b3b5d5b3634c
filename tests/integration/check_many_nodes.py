# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of contrib/README.md for many nodes at once, with ClusterShell, pdsh, Slurm and Ansible themselves; ssh and
kubectl are stand-ins that run the program on the node which they are told. Each ends in a diff that names the odd node."""
import os
import re
import subprocess

import pytest

from conftest import CONTRIB, Machine, need
from lib import program
from slurm_cluster import Cluster

NODES = ["n1", "n2", "n3", "n4"]
ODD = "n3"

STANDINS = {
    "nvnodecheck": """case $1 in diff) exec {binary} "$@" ;; esac
[ "$3" != /host ] || set -- "$1"
exec {folder}/"${{CHECK_HOST:-$SLURMD_NODENAME}}"/nvnodecheck "$@"
""",
    # Options, host, command: what clush and pdsh start.
    "ssh": """while :; do
	case $1 in
	-[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
CHECK_HOST=$1; export CHECK_HOST
shift
exec sh -c "$*"
""",
    "kubectl": """case $1 in
get)	for node in n1 n2 n3 n4; do echo pod/nvnodecheck-$node; done ;;
exec)	CHECK_HOST=${{4#pod/nvnodecheck-}}; export CHECK_HOST
	shift 5
	exec "$@" ;;
esac
""",
}


def commands():
    """By the program that each begins with."""
    with open(os.path.join(CONTRIB, "README.md")) as file:
        section = file.read().split("## Many nodes at once")[1].split("\n## ")[0]
    lines = re.findall(r"^    (.*nvnodecheck diff.*)$", section, re.M)
    found = {re.match(r"for pod in \$\((\w+)|([\w-]+)", line).group(0).split("(")[-1]: line for line in lines}
    assert set(found) == {"clush", "pdsh", "srun", "ansible-playbook", "kubectl"}
    return found


@pytest.fixture
def fleet(tmp_path):
    """A folder in which the commands are run, and their environment."""
    os.chmod(str(tmp_path), 0o755)
    folder = str(tmp_path)
    for name in NODES:
        os.mkdir(os.path.join(folder, name))
        machine = Machine(os.path.join(folder, name), "hgx-h100-ib")
        machine.become("hostname " + name, *(["param EnableMSI = 0"] if name == ODD else []))
    os.mkdir(folder + "/bin")
    for name, text in STANDINS.items():
        path = os.path.join(folder, "bin", name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text.format(binary=program.binary(), folder=folder))
        os.chmod(path, 0o755)
    os.mkdir(folder + "/facts")
    return folder, dict(os.environ, PATH="%s/bin:%s" % (folder, os.environ["PATH"]), HOME=folder, LC_ALL="C.UTF-8")


def names_the_odd_one(folder, env, command, odd=ODD):
    """By the name of its file."""
    result = subprocess.run(["/bin/bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    text = result.stdout.decode()
    said = text + result.stderr.decode()
    assert "4 nodes, 1 fact differs" in text and "driver.params[EnableMSI]" in text, said
    assert re.search(r"^  0 +1  %s$" % odd, text, re.M), said


@pytest.mark.parametrize("runner, odd", (("clush", ODD), ("pdsh", ODD), ("kubectl", "nvnodecheck-" + ODD)))
def test_one_command(runner, odd, fleet):
    if runner != "kubectl":
        need(runner)
    names_the_odd_one(*fleet, commands()[runner].replace("NODES", "n[1-4]"), odd)
    assert len(os.listdir(fleet[0] + "/facts")) == len(NODES)


def test_srun(fleet):
    folder, env = fleet
    cluster = Cluster(folder, NODES, "")
    cluster.env.update(PATH=env["PATH"])
    try:
        cluster.begin()
        # All nodes are one host here, so that %N is the same for all: their numbers.
        command = commands()["srun"].replace("NODES", "n[1-4]").replace("%N", "%n")
        names_the_odd_one(folder, cluster.env, command, str(NODES.index(ODD)))
    finally:
        cluster.end()


def test_ansible(fleet):
    need("ansible-playbook")
    folder, env = fleet
    os.mkdir(folder + "/ansible")
    with open(os.path.join(CONTRIB, "ansible/playbook.yml")) as file:
        text = file.read()
    with open(folder + "/ansible/playbook.yml", "w") as file:
        file.write(text.replace("/usr/sbin/nvnodecheck", folder + "/{{ inventory_hostname }}/nvnodecheck"))
    env.update(ANSIBLE_LOCALHOST_WARNING="false", ANSIBLE_NOCOLOR="1")
    command = commands()["ansible-playbook"].replace("-i 'NODES,'", "-i n1,n2,n3,n4 -c local -e nvnodecheck_become=false")
    names_the_odd_one(folder, env, command)
