# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus and node exporter from packages: the textfile is scraped without an error, an alert fires, and the
dashboard shows broken nodes and is quiet for healthy ones. Its form is what Grafana's own types say (GRAFANA_SCHEMA=DIR,
a folder in which npm installed @grafana/schema and typescript)."""
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest

from conftest import CONTRIB, DEAD, free_ports, need
from lib import program, waiting


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


NODES = ("n1", "n2", "n3")


@pytest.fixture
def stack(machine):
    """The folder of n1's textfiles, beside those of the others; and a function that asks Prometheus."""
    need("prometheus", "prometheus-node-exporter")
    port, *exporter_ports = free_ports(1 + len(NODES))
    folders = [os.path.join(machine.folder, name) for name in NODES]
    for folder in folders:
        os.mkdir(folder)
    textfiles = folders[0]
    rules = os.path.join(machine.folder, "alerts.yml")
    with open(os.path.join(CONTRIB, "prometheus/alerts.yml")) as file:
        text = re.sub(r"for: \d+[mh]", "for: 0s", file.read())
    with open(rules, "w") as file:
        file.write(text)
    configuration = os.path.join(machine.folder, "prometheus.yml")
    with open(configuration, "w") as file:
        file.write("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\n"
                   "scrape_configs:\n- job_name: node\n  static_configs:\n" % rules)
        for name, its in zip(NODES, exporter_ports):
            file.write("  - {targets: ['127.0.0.1:%d'], labels: {instance: %s}}\n" % (its, name))
    processes = []
    for command in (
            ["prometheus", "--config.file=" + configuration, "--log.level=warn",
             "--storage.tsdb.path=%s/data" % machine.folder,
             "--web.listen-address=127.0.0.1:%d" % port],
            *(["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
               "--collector.textfile.directory=" + folder, "--web.listen-address=127.0.0.1:%d" % its]
              for folder, its in zip(folders, exporter_ports))):
        processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))

    def query(text):
        answer = json.loads(get("http://127.0.0.1:%d/api/v1/query?query=%s" % (
            port, urllib.parse.quote(text))))
        assert answer["status"] == "success", answer
        return answer["data"]["result"]

    def ready():
        try:
            return "Ready" in get("http://127.0.0.1:%d/-/ready" % port)
        except OSError:
            return False
    waiting.until(ready, what="Prometheus")
    yield textfiles, query
    for process in processes:
        process.terminate()
        process.wait(10)


def write(machine, textfiles, *options, **more):
    if more.get("user"):
        os.chmod(textfiles, 0o777)
    result = program.run("doctor", "--format", "prometheus", "--root", machine.stage.directory,
                         "--output", textfiles + "/nvnodecheck.prom", *options, **more)
    assert result.status in (0, 1, 3), str(result)
    assert os.listdir(textfiles) == ["nvnodecheck.prom"]


def test_scraped_and_alerts(machine, stack):
    textfiles, query = stack
    write(machine, textfiles)
    waiting.until(lambda: query("nvnodecheck_info"), what="the metrics")
    assert query("node_textfile_scrape_error")[0]["value"][1] == "0"
    assert query("nvnodecheck_gpus")[0]["value"][1] == "8"
    assert not query('ALERTS{alertname="GPUNodeMisconfigured"}')

    machine.become("driver unloaded")
    write(machine, textfiles)
    alerts = waiting.until(lambda: query('ALERTS{alertname="GPUNodeMisconfigured",alertstate="firing"}'),
                        what="the alert")
    assert "driver/loaded" in [a["metric"]["rule"] for a in alerts]
    assert query("node_textfile_scrape_error")[0]["value"][1] == "0"


def test_incomplete_fires(machine, stack):
    """With the options that contrib/'s own exporters have."""
    textfiles, query = stack
    with open(os.path.join(CONTRIB, "prometheus/nvnodecheck-textfile.service")) as file:
        words = re.search(r"^ExecStart=\S+ (.*) --output", file.read(), re.M).group(1).split()
    with open(os.path.join(CONTRIB, "kubernetes/daemonset.yaml")) as file:
        assert "--strict" in words and "--strict" in file.read()
    result = program.run(*words, "--root", machine.stage.directory, "--output",
                         textfiles + "/nvnodecheck.prom")
    assert result.status == 0, str(result)
    waiting.until(lambda: query("nvnodecheck_info"), what="the metrics")
    assert not query('ALERTS{alertname="GPUNodeCheckIncomplete"}')
    machine.become("unreadable /proc/driver/nvidia")
    os.chmod(textfiles, 0o777)
    result = program.run(*words, "--root", machine.stage.directory, "--output",
                         textfiles + "/nvnodecheck.prom", user=os.geteuid() == 0)
    assert result.status == 3, str(result)
    waiting.until(lambda: query('ALERTS{alertname="GPUNodeCheckIncomplete",alertstate="firing"}'),
                  what="the alert")


def dashboard():
    with open(os.path.join(CONTRIB, "prometheus/dashboard.json")) as file:
        return json.load(file)


def shown(query, instance, severity=".*"):
    """What each panel shows with that choice of variables: the values of its series, by their labels."""
    panels = {}
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$instance", instance).replace("$severity", severity)
            assert "$" not in expression
            label = re.sub(r"[{}]", "", target["legendFormat"]) or "rule"
            panels[panel["title"]] = {one["metric"].get(label, ""): float(one["value"][1])
                                      for one in query(expression)}
    return panels


QUIET = ("Problems", "Nodes by rule")
ALWAYS = ("Driver versions", "RDMA ports active", "Duration of the probes", "Age of the result")
COUNTS = ("Healthy nodes", "Nodes with problems", "Nodes that could not be checked")


def test_dashboard_shows_broken_nodes(machine, stack):
    """n1 is well, n2 has a dead GPU and a port that is down, n3 could not be checked."""
    textfiles, query = stack
    write(machine, textfiles)
    machine.become(DEAD[0][0], "rdma mlx5_3 state=DOWN phys=Disabled")
    write(machine, textfiles[:-1] + "2")
    machine.become("unreadable /proc/driver/nvidia")
    write(machine, textfiles[:-1] + "3", "--strict", user=os.geteuid() == 0)
    waiting.until(lambda: len(query("nvnodecheck_info")) == 3, what="the metrics")
    assert {p["title"] for p in dashboard()["panels"]} == {*QUIET, *ALWAYS, *COUNTS}

    well, broken, incomplete = (shown(query, name) for name in NODES)
    for title in QUIET:
        assert well[title] == {}, title
        assert broken[title]["log/xid"] >= 1, title
    for number, one in enumerate((well, broken, incomplete)):
        assert [one[title][""] for title in COUNTS] == [float(i == number) for i in range(3)]
    assert [shown(query, ".*")[title][""] for title in COUNTS] == [1, 1, 1]
    assert len(well["RDMA ports active"]) == len(broken["RDMA ports active"]) == 1
    assert broken["RDMA ports active"]["n2"] == well["RDMA ports active"]["n1"] - 1
    assert all(0 <= one["Age of the result"][name] < 600 for name, one in (("n1", well), ("n2", broken)))
    assert all(one[title] for one in (well, broken) for title in ALWAYS)
    # The choice of a severity, and the series that the list of nodes is made of.
    assert shown(query, "n2", "crit")["Problems"].get("log/xid") is None
    assert {one["metric"]["instance"] for one in query("nvnodecheck_info")} == set(NODES)


# An enumeration's values stand in JSON as strings.
TYPED = """import type { Dashboard } from '%s/dist/esm/raw/dashboard/x/dashboard_types.gen';
type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
export const dashboard: Plain<Dashboard> = %s;
"""


def type_errors(folder, schema, value):
    file = os.path.join(folder, "dashboard.ts")
    with open(file, "w") as out:
        out.write(TYPED % (schema + "/node_modules/@grafana/schema", json.dumps(value, indent=1)))
    result = subprocess.run(["node", schema + "/node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--module",
                             "esnext", "--moduleResolution", "bundler", "--skipLibCheck", file],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    text = result.stdout.decode()
    assert bool(text) == bool(result.returncode), text
    return text


def test_dashboard_is_one_of_grafana(tmp_path):
    """As its own types have it. Whether Grafana draws it is not tested: Debian has no package of it."""
    schema = os.environ.get("GRAFANA_SCHEMA")
    if not schema:
        pytest.skip("GRAFANA_SCHEMA names no folder with @grafana/schema and typescript")
    need("node")
    assert not type_errors(str(tmp_path), schema, dashboard())
    wrong = dashboard()
    wrong["panels"][1]["fieldConfig"]["defaults"]["thresholds"]["mode"] = "absolutely"
    assert "absolutely" in type_errors(str(tmp_path), schema, wrong)
    wrong = dashboard()
    wrong["panels"][4]["gridPoss"] = wrong["panels"][4].pop("gridPos")
    assert "gridPoss" in type_errors(str(tmp_path), schema, wrong)


def test_promtool(machine):
    need("promtool")
    result = program.run("doctor", "--format", "prometheus", "--root", machine.stage.directory)
    check = subprocess.run(["promtool", "check", "metrics"], input=result.raw,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert check.returncode == 0 and not check.stdout, check.stdout.decode()
    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts-test.yml"]):
        subprocess.run(["promtool"] + command, check=True, stdout=subprocess.DEVNULL,
                       cwd=os.path.join(CONTRIB, "prometheus"))
