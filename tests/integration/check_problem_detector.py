# SPDX-License-Identifier: GPL-2.0-or-later
"""node-problem-detector, built from its source (NPD_SOURCE=DIR), with contrib/'s monitor as it is but for the
interval: what it makes of each answer is what a server in the place of Kubernetes's receives, and what it
tells Prometheus."""
import http.server
import json
import os
import re
import subprocess
import threading
import urllib.request

import pytest

from conftest import CONTRIB, free_ports, need, output
from lib import program, waiting

MONITOR = "node-problem-detector/nvnodecheck.json"
CONDITION = "GPUNodeMisconfigured"
WELL = ("False", "GPUNodeIsHealthy", "no problems found")


def test_protocol(machine):
    """Without it: the first 80 bytes of one line, 0, 1, or more for unknown."""
    with open(os.path.join(CONTRIB, MONITOR)) as file:
        monitor = json.load(file)
    rule = monitor["rules"][0]
    assert rule["condition"] in [c["type"] for c in monitor["conditions"]]
    status, text = output([machine.program] + rule["args"])
    assert (status, text) == (0, "no problems found\n")
    machine.become("driver unloaded")
    status, text = output([machine.program] + rule["args"])
    limit = monitor["pluginConfig"]["max_output_length"]
    assert status == 1 and text.startswith("driver/loaded") and len(text.strip()) <= limit
    status, text = output([machine.program] + rule["args"] + ["--nonsense"])
    assert status == 2


class Server(http.server.ThreadingHTTPServer):
    """As much of Kubernetes's as node-problem-detector asks: one node, whose conditions it patches."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Requests)
        self.conditions = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.answer(200, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})

    def do_PATCH(self):
        assert self.path == "/api/v1/nodes/n1/status", self.path
        patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for one in patch["status"]["conditions"]:
            self.server.conditions[one["type"]] = one["status"], one["reason"], one["message"]
        self.do_GET()

    def do_POST(self):
        # Events are in protocol buffers.
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, {"apiVersion": "v1", "kind": "Event"})

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def built():
    source = os.environ.get("NPD_SOURCE")
    if not source:
        pytest.skip("NPD_SOURCE names no checkout of github.com/kubernetes/node-problem-detector")
    need("go")
    # Of its parts only the one that starts plugins: the others take the libraries of clouds.
    tags = "disable_stackdriver_exporter,disable_system_log_monitor,disable_system_stats_monitor"
    path = os.path.join(program.BUILD, "node-problem-detector")
    # Go takes what did not change from its cache; at first it compiles Kubernetes's client.
    subprocess.run(["go", "build", "-mod=vendor", "-tags=" + tags, "-o", path, "./cmd/nodeproblemdetector"],
                   cwd=source, env=dict(os.environ, CGO_ENABLED="0", GOTOOLCHAIN="local"), check=True)
    return path


class Detector:
    def __init__(self, built, machine):
        self.machine = machine
        self.server = Server()
        self.port, = free_ports(1)
        path = machine.contrib(MONITOR)
        with open(path) as file:
            monitor = json.load(file)
        monitor["pluginConfig"]["invoke_interval"] = "1s"
        with open(path, "w") as file:
            json.dump(monitor, file)
        self.log = os.path.join(machine.folder, "npd.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [built, "--logtostderr", "--hostname-override=n1", "--port=0",
                 "--config.custom-plugin-monitor=" + path, "--prometheus-port=%d" % self.port,
                 "--apiserver-override=http://127.0.0.1:%d?inClusterConfig=false" %
                 self.server.server_port], stdout=log, stderr=log)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.server.shutdown()

    def condition(self):
        return self.server.conditions.get(CONDITION)

    def gauges(self):
        """Of the condition, by reason."""
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % self.port, timeout=60) as answer:
            text = answer.read().decode()
        return {reason: int(value) for reason, value in re.findall(
            r'^problem_gauge\{reason="(\w+)",type="%s"\} (\d+)$' % CONDITION, text, re.M)}

    def wait(self, status, reason, message):
        """For that condition; MESSAGE is how its text begins."""
        def there():
            assert self.process.poll() is None, open(self.log).read()
            now = self.condition()
            return now and now[:2] == (status, reason) and now[2].startswith(message) and now
        return waiting.until(there, lambda: "%s: %s\n%s" % (message, self.condition(),
                                                            open(self.log).read()[-4000:]))


@pytest.fixture
def detector(built, machine):
    detector = Detector(built, machine)
    yield detector
    detector.end()


def test_condition_of_each_answer(detector, machine):
    bad = "GPUNodeIsMisconfigured"
    detector.wait(*WELL)
    machine.become("driver unloaded")
    seen = detector.wait("True", bad, "driver/loaded: ")
    said = output([machine.program, "preflight", "--format", "npd"])[1].strip()
    assert seen[2] == said and len(said.encode()) <= 80
    assert detector.gauges() == {bad: 1, "GPUNodeIsHealthy": 0}
    # Another cause replaces the message of a condition that stays.
    machine.become("unload nvidia_uvm")
    detector.wait("True", bad, "modules/nvidia-uvm-not-loaded: ")
    machine.become()
    detector.wait(*WELL)
    assert detector.gauges() == {bad: 0, "GPUNodeIsHealthy": 0}


def test_no_answer_is_unknown(detector, machine):
    machine.become('file /etc/nvnodecheck.conf text="[report]\\nnonsense = 1\\n"')
    # The reason is that of a well node, as node-problem-detector does it; the message is ours.
    status, _, message = detector.wait("Unknown", "GPUNodeIsHealthy", "")
    assert "nvnodecheck.conf" in message, message
    assert detector.gauges()["GPUNodeIsMisconfigured"] == 0
    machine.become()
    detector.wait(*WELL)
    # One that hangs is ended after the rule's time.
    machine.program_does("sleep 1000")
    detector.wait("Unknown", "GPUNodeIsHealthy", "Timeout when running plugin ")
    machine.program_does(machine.look)
    detector.wait(*WELL)
