# SPDX-License-Identifier: GPL-2.0-or-later
"""The DaemonSet, without a cluster: kubectl reads and combines the manifests, Kubernetes's own description of one knows
every field of it (KUBERNETES_SOURCE=DIR, a checkout or Debian's source), as Node Feature Discovery's own does of its
rule (NFD_SOURCE=DIR), and what the container starts runs."""
import calendar
import copy
import glob
import json
import os
import re
import subprocess
import time

import pytest

from conftest import CONTRIB, need, output
from lib import program

MANIFEST = os.path.join(CONTRIB, "kubernetes/daemonset.yaml")
FEATURES = os.path.join(CONTRIB, "node-feature-discovery")
LABEL = "feature.node.kubernetes.io/nvnodecheck.state"
PREFIX = "#/definitions/"


@pytest.fixture
def daemonset():
    yaml = pytest.importorskip("yaml")
    with open(MANIFEST) as file:
        return yaml.safe_load(file)


def container(daemonset):
    return daemonset["spec"]["template"]["spec"]["containers"][0]


def test_kubectl_reads_it():
    need("kubectl")
    # Without a server kubectl knows the types of fields, and drops those that it does not know.
    status, text = output(["kubectl", "set", "image", "--local", "-o", "json", "-f", MANIFEST,
                           "nvnodecheck=another"])
    assert status == 0, text
    read = json.loads(text)
    assert container(read)["image"] == "another"
    assert container(read)["securityContext"]["capabilities"]["drop"] == ["ALL"]


class Description:
    """Of Kubernetes's API, closed: what it does not name is wrong, as for kubectl --validate=strict."""

    def __init__(self, source):
        with open(os.path.join(source, "api/openapi-spec/swagger.json")) as file:
            self.definitions = json.load(file)["definitions"]
        for one in self.definitions.values():
            if "properties" in one:
                one["additionalProperties"] = False
            # swagger 2.0 says string where a number does as well.
            if one.get("format") == "int-or-string":
                one["type"] = ["integer", "string"]

    def problems(self, manifest):
        jsonschema = pytest.importorskip("jsonschema")
        group, version = manifest["apiVersion"].split("/")
        name = "io.k8s.api.%s.%s.%s" % (group, version, manifest["kind"])
        schema = {"$ref": PREFIX + name, "definitions": self.definitions}
        return [error.message for error in jsonschema.Draft4Validator(schema).iter_errors(manifest)]


def test_every_field_is_one_of_kubernetes(daemonset):
    source = os.environ.get("KUBERNETES_SOURCE")
    if not source:
        pytest.skip("KUBERNETES_SOURCE names no source of Kubernetes")
    description = Description(source)
    assert description.problems(daemonset) == []
    for slip in (lambda c: c.update(readynessProbe={}), lambda c: c.pop("name"),
                 lambda c: c["securityContext"].update(runAsUser="root")):
        wrong = copy.deepcopy(daemonset)
        slip(container(wrong))
        assert len(description.problems(wrong)) == 1


def test_the_image_has_what_it_starts(daemonset):
    """The recipe puts the program where the command looks for it, on a base that has a shell."""
    with open(os.path.join(CONTRIB, "kubernetes/Containerfile")) as file:
        recipe = file.read()
    where = re.search(r"^COPY --from=portable /portable/sbin/nvnodecheck (\S+)$", recipe, re.M).group(1)
    assert where + " doctor" in container(daemonset)["args"][0]
    assert set(re.findall(r"^FROM (\S+)", recipe, re.M)) == {"docker.io/library/debian:bookworm-slim"}


def test_what_it_starts(daemonset):
    spec = daemonset["spec"]["template"]["spec"]
    volumes = {v["name"] for v in spec["volumes"]}
    assert {m["name"] for m in container(daemonset)["volumeMounts"]} == volumes
    assert daemonset["spec"]["selector"]["matchLabels"].items() <= \
        daemonset["spec"]["template"]["metadata"]["labels"].items()
    words = re.search(r"nvnodecheck (doctor.*?)--output", container(daemonset)["args"][0],
                      re.S).group(1)
    words = words.replace("\\", "").split()
    result = program.run(*[w if w != "/host" else "/" for w in words])
    assert result.status in (0, 1, 3) and "nvnodecheck_info" in result.out, str(result)


def kustomized(folder):
    yaml = pytest.importorskip("yaml")
    need("kubectl")
    if "Kustomize Version" not in output(["kubectl", "version", "--client"])[1]:
        pytest.skip("this kubectl has a kustomize without patches")
    status, text = output(["kubectl", "kustomize", folder])
    assert status == 0, text
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


def test_kustomize(daemonset):
    assert kustomized(os.path.dirname(MANIFEST)) == {"DaemonSet": daemonset}
    with_labels = kustomized(FEATURES)
    assert set(with_labels) == {"DaemonSet", "NodeFeatureRule"}
    volumes = with_labels["DaemonSet"]["spec"]["template"]["spec"]["volumes"]
    assert {v["name"] for v in volumes} == {"host", "textfile", "features"}
    mounts = container(with_labels["DaemonSet"])["volumeMounts"]
    assert {m["name"]: m["mountPath"] for m in mounts}["features"] == "/features"
    source = os.environ.get("KUBERNETES_SOURCE")
    if source:
        assert Description(source).problems(with_labels["DaemonSet"]) == []


def test_kustomization_of_a_site(tmp_path, daemonset):
    """As README.md has it: an image and a namespace of its own."""
    os.symlink(os.path.dirname(MANIFEST), str(tmp_path / "nvnodecheck"))
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [nvnodecheck]\nnamespace: gpu\nimages:\n- name: registry.example.org/nvnodecheck\n"
        "  newName: registry.site/nvnodecheck\n  newTag: 1.0.0\n")
    made = kustomized(str(tmp_path))["DaemonSet"]
    assert made["metadata"]["namespace"] == "gpu"
    assert container(made)["image"] == "registry.site/nvnodecheck:1.0.0"


def closed(schema):
    """What a schema does not name is wrong."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for value in list(schema.values()):
            closed(value)
    return schema


def test_the_taint_is_a_rule_of_node_feature_discovery():
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    with open(FEATURES + "/taint.yaml") as file:
        rule = yaml.safe_load(file)
    match, = rule["spec"]["rules"][0]["matchFeatures"]
    assert match == {"feature": "local.feature", "matchExpressions": {LABEL: {"op": "In", "value": ["broken"]}}}
    source = os.environ.get("NFD_SOURCE")
    if not source:
        pytest.skip("NFD_SOURCE names no checkout of github.com/kubernetes-sigs/node-feature-discovery")
    path, = glob.glob(source + "/deployment/base/nfd-crds/nfd-api-crds.yaml")
    with open(path) as file:
        kinds = {one["spec"]["names"]["kind"]: one["spec"]["versions"][0] for one in yaml.safe_load_all(file) if one}
    schema = closed(kinds["NodeFeatureRule"]["schema"]["openAPIV3Schema"])
    schema["properties"]["metadata"] = {}
    check = jsonschema.Draft4Validator(schema)
    assert [e.message for e in check.iter_errors(rule)] == []
    rule["spec"]["rules"][0]["taints"][0].pop("effect")
    assert list(check.iter_errors(rule))


def label_of(machine, daemonset, folder):
    """One round of the container's script, with that node as the host."""
    script = container(daemonset)["args"][0]
    for name in ("textfile", "features"):
        script = script.replace("/" + name, "%s/%s" % (folder, name))
    for old, new in (("/usr/sbin/nvnodecheck", machine.program), ("--root /host", ""), ("sleep 300 & wait $!", "exit")):
        assert old in script
        script = script.replace(old, new)
    subprocess.run(["/bin/sh", "-c", script], check=True)
    assert os.listdir(folder + "/textfile") == ["nvnodecheck.prom"]
    with open(folder + "/features/nvnodecheck") as file:
        expiry, label = file.read().splitlines()
    until = re.fullmatch(r"# \+expiry-time=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)", expiry).group(1)
    assert 0 < calendar.timegm(time.strptime(until, "%Y-%m-%dT%H:%M:%SZ")) - time.time() <= 1800
    name, _, value = label.partition("=")
    assert name == LABEL
    return value


def test_the_label_of_each_answer(machine, daemonset):
    folder = os.path.join(machine.folder, "pod")
    for name in ("textfile", "features"):
        os.makedirs(os.path.join(folder, name))
    assert label_of(machine, daemonset, folder) == "healthy"
    machine.become("driver unloaded")
    assert label_of(machine, daemonset, folder) == "broken"
    machine.become('file /etc/nvnodecheck.conf text="[report]\\nnonsense = 1\\n"')
    assert label_of(machine, daemonset, folder) == "unknown"
    machine.become()
    assert label_of(machine, daemonset, folder) == "healthy"
