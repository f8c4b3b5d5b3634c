# SPDX-License-Identifier: GPL-2.0-or-later
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from lib import node, program, tree  # noqa: E402

pytest_plugins = ["lib.limit"]

# Whoever started this may have it ignored, as a shell does for what it runs in the background, and programs
# that a test ends by it would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)


def pytest_report_header(config):
    return "nvnodecheck: %s" % program.binary()


MEMORY = "/dev/shm"


@pytest.fixture(scope="session")
def place():
    """The folder where trees land: in memory where that is possible, since they are many small
    files; else build/tests, or a temporary folder if an ordinary user could not reach that."""
    os.makedirs(program.BUILD, exist_ok=True)
    above = program.BUILD
    if os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK):
        above = MEMORY
    elif os.geteuid() == 0 and not tree.is_open_to_all(above):
        above = None
    folder = tempfile.mkdtemp(prefix="nvnodecheck-", dir=above)
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def stages(place):
    """stages(NAME): a stage of that name, the same one each time."""
    made = {}

    def stage(name):
        if name not in made:
            made[name] = tree.Stage(os.path.join(place, name))
        return made[name]
    return stage


@pytest.fixture(scope="session")
def node_tree(stages):
    """node_tree(NAME): the directory of a node's tree as it is described."""
    def directory(name):
        stage = stages("node-" + name)
        stage.put(node.tree_of(name))
        return stage.directory
    return directory


@pytest.fixture(scope="session")
def node_facts(stages):
    """node_facts(NAME): the facts of a node's tree as text, each node's read once."""
    stage, seen = stages("facts"), {}

    def facts(name):
        if name not in seen:
            stage.put(node.tree_of(name))
            seen[name] = json.dumps(program.facts(stage.directory))
        return seen[name]
    return facts


@pytest.fixture
def scratch(stages, request):
    """A stage that the tests of one file share: each puts its own tree there."""
    return stages("scratch-" + request.module.__name__)


@pytest.fixture(scope="session")
def hide(tmp_path_factory):
    """hide(NAME...): the environment in which the program finds none of these libraries."""
    library = tmp_path_factory.mktemp("hide") / "hide-library.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library,
                    os.path.join(HERE, "programs", "hide-library.c"), "-ldl"], check=True)

    return lambda *names: {"LD_PRELOAD": str(library), "HIDE_LIBRARY": " ".join(names),
                           "ASAN_OPTIONS": "verify_asan_link_order=0"}
