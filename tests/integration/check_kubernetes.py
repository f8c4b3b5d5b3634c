# SPDX-License-Identifier: GPL-2.0-or-later
"""The DaemonSet, without a cluster: kubectl reads it, Kubernetes's own description of one knows every field
of it (KUBERNETES_SOURCE=DIR, a checkout or Debian's source), and what its container starts runs."""
import copy
import json
import os
import re

import pytest

from conftest import CONTRIB, need, output
from lib import program

MANIFEST = os.path.join(CONTRIB, "kubernetes/daemonset.yaml")
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
