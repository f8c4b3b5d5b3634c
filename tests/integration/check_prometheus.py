# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus and node exporter from packages: the textfile is scraped without an error, an alert fires, and
the dashboard's queries all parse."""
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest

from conftest import CONTRIB, free_ports, need
from lib import program, waiting


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


@pytest.fixture
def stack(machine):
    need("prometheus", "prometheus-node-exporter")
    port, exporter_port = free_ports(2)
    textfiles = os.path.join(machine.folder, "textfiles")
    os.mkdir(textfiles)
    rules = os.path.join(machine.folder, "alerts.yml")
    with open(os.path.join(CONTRIB, "prometheus/alerts.yml")) as file:
        text = re.sub(r"for: \d+[mh]", "for: 0s", file.read())
    with open(rules, "w") as file:
        file.write(text)
    configuration = os.path.join(machine.folder, "prometheus.yml")
    with open(configuration, "w") as file:
        file.write("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\n"
                   "scrape_configs:\n- job_name: node\n  static_configs:\n"
                   "  - targets: ['127.0.0.1:%d']\n" % (rules, exporter_port))
    processes = []
    for command in (
            ["prometheus", "--config.file=" + configuration, "--log.level=warn",
             "--storage.tsdb.path=%s/data" % machine.folder,
             "--web.listen-address=127.0.0.1:%d" % port],
            ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
             "--collector.textfile.directory=" + textfiles,
             "--web.listen-address=127.0.0.1:%d" % exporter_port]):
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


def write(machine, textfiles):
    result = program.run("doctor", "--format", "prometheus", "--root", machine.stage.directory,
                         "--output", textfiles + "/nvnodecheck.prom")
    assert result.status in (0, 1), str(result)
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
    result = program.run(*words, "--root", machine.stage.directory, "--output",
                         textfiles + "/nvnodecheck.prom", user=os.geteuid() == 0)
    assert result.status == 3, str(result)
    waiting.until(lambda: query('ALERTS{alertname="GPUNodeCheckIncomplete",alertstate="firing"}'),
                  what="the alert")


def test_dashboard_queries(machine, stack):
    textfiles, query = stack
    write(machine, textfiles)
    waiting.until(lambda: query("nvnodecheck_info"), what="the metrics")
    with open(os.path.join(CONTRIB, "prometheus/dashboard.json")) as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            query(target["expr"].replace("$instance", ".*").replace("$severity", ".*"))


def test_promtool(machine):
    need("promtool")
    result = program.run("doctor", "--format", "prometheus", "--root", machine.stage.directory)
    check = subprocess.run(["promtool", "check", "metrics"], input=result.raw,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert check.returncode == 0 and not check.stdout, check.stdout.decode()
    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts-test.yml"]):
        subprocess.run(["promtool"] + command, check=True, stdout=subprocess.DEVNULL,
                       cwd=os.path.join(CONTRIB, "prometheus"))
