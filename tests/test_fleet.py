# SPDX-License-Identifier: GPL-2.0-or-later
"""Many nodes' files, and the formats for those who ask for a report by program."""
import json
import os
import re
import resource
import shutil
import stat
import subprocess

import pytest

from lib import node, program

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def facts(node_tree):
    return program.facts(node_tree("hgx-h100-ib"))


@pytest.fixture
def fleet(facts, tmp_path):
    """fleet(N, EDIT): N nodes' files in a folder, EDIT(number, document) changes some."""
    def make(count, edit=lambda i, d: None):
        for i in range(count):
            document = json.loads(json.dumps(facts))
            document["os"]["hostname"] = "node%02d" % i
            edit(i, document)
            with open(str(tmp_path / ("node%02d.json" % i)), "w") as file:
                json.dump(document, file)
        return tmp_path
    return make


def check(name, document):
    pytest.importorskip("jsonschema")
    import test_schemas
    test_schemas.check(name, document)


def test_same_nodes_do_not_differ(fleet):
    result = program.run("diff", fleet(3))
    assert result.status == 0 and result.out == "3 nodes, 0 facts differ\n", str(result)


def test_the_odd_one_out(fleet):
    def edit(i, document):
        if i == 4:
            document["driver"]["version"] = "550.1"
            del document["gpu"]["devices"][3]
        document["os"]["boot_id"] = str(i)
    result = program.run("diff", "--json", fleet(40, edit))
    assert result.status == 1, str(result)
    document = result.json()
    check("diff", document)
    found = {f["fact"]: f for f in document["facts"]}
    version = found["driver.version"]
    assert [(v["value"], v["count"], v["nodes"]) for v in version["values"]][1] == \
        ("550.1", 1, ["node04"])
    missing = [f for f in found if f.startswith("gpu.devices[")]
    assert len(missing) == 1 and found[missing[0]]["values"][1]["value"] == "not there"
    assert found[missing[0]]["values"][1]["nodes"] == ["node04"]
    assert "os.boot_id" not in found and "os.hostname" not in found
    assert document["odd"] == [{"node": "node04", "facts": 3}]


def test_who_has_which_value(fleet):
    """Values in every pattern over the workers' shares, against what is counted here."""
    count = 41
    says = {
        "driver.version": ["1.%d" % (i % 3) for i in range(count)],
        "os.cpus": [8 if i < 20 else 16 for i in range(count)],
        "os.kernel": ["same" if i % 7 else "other" for i in range(count)],
        "os.secure_boot": [None if i in (0, 40) else i % 5 == 4 for i in range(count)],
        "os.product": ["only %d" % i for i in range(count)],
    }

    def edit(i, document):
        for path, values in says.items():
            section, key = path.split(".")
            document[section][key] = values[i]
        document["gpu"]["devices"] = document["gpu"]["devices"][: 8 - i % 2]
        if i % 4 == 3:
            del document["gpu"]

    found = {f["fact"]: f for f in program.run("diff", "--json", fleet(count, edit)).json()["facts"]}
    assert found["os.product"] == {"fact": "os.product", "most": None, "various": True, "values": []}
    last = max(f for f in found if re.match(r"gpu\.devices\[[^]]*\]$", f))
    says[last] = [None if i % 4 == 3 else "not there" if i % 2 else "there" for i in range(count)]
    for path in ("driver.version", "os.cpus", "os.kernel", "os.secure_boot", last):
        texts = [json.dumps(v).strip('"') for v in says[path]]
        groups = {}
        for i, text in enumerate(texts):
            if path != last or text != "null":
                groups.setdefault(text, []).append("node%02d" % i)
        wanted = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))
        most = wanted[0][0] if 2 * len(wanted[0][1]) > sum(len(g[1]) for g in wanted) else None
        assert found[path]["most"] == most, path
        assert [(v["value"], v["count"], v["nodes"]) for v in found[path]["values"]] == \
            [(text, len(nodes), [] if text == most else nodes) for text, nodes in wanted], path


def test_unknown_is_not_a_difference(fleet):
    result = program.run("diff", fleet(3, lambda i, d: i == 1 and d["driver"].pop("version")))
    assert result.status == 0, str(result)


def test_two_files_and_a_capture(fleet, node_tree, tmp_path):
    folder = fleet(1)
    capture = tmp_path / "other.capture"
    assert program.run("capture", "--root", node_tree("rhel9-proprietary-dracut"), "-o",
                       capture).status == 0
    result = program.run("diff", folder / "node00.json", capture)
    assert result.status == 1 and "driver.flavour" in result.out, str(result)


def test_page_needs_nothing_else(fleet, tmp_path):
    page = tmp_path / "page.html"
    folder = fleet(12, lambda i, d: i == 3 and d["driver"].update(version="<script>x</script>"))
    assert program.run("diff", "--format", "html", "-o", page, folder).status == 1
    text = page.read_text()
    assert "<script>x" not in text and "&lt;script&gt;x" in text
    assert not re.search(r"(src|href)=|https?:", text)


def test_doctor_over_many(fleet):
    def edit(i, document):
        if i == 7:
            document["driver"]["loaded"] = False
            document["driver"]["version"] = document["driver"]["banner"] = None
    folder = fleet(20, edit)
    result = program.run("doctor", "--json", "--from", folder)
    assert result.status == 1, str(result)
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [d["node"]["hostname"] for d in lines[:-1]] == ["node%02d" % i for i in range(20)]
    check("report", lines[7])
    check("summary", lines[-1])
    assert lines[-1]["nodes"] == 20 and lines[-1]["fail"] >= 1
    one = program.run("doctor", "--json", "--from", folder / "node07.json").json()
    assert lines[7] == one
    text = program.run("doctor", "--from", folder, "-v")
    assert "node07: fail: driver/loaded" in text.out, str(text)


# ---- the table ----

def names_fleet(tmp_path, node_tree, names, broken):
    """Files of these NAMES, all alike but that of BROKEN no driver is loaded."""
    well = program.run("facts", "--root", node_tree("hgx-h100-ib")).out
    ill = json.loads(well)
    ill["driver"].update(loaded=False, version=None, banner=None)
    for name in names:
        (tmp_path / (name + ".json")).write_text(json.dumps(ill) if name in broken else well)
    return tmp_path


def row(document, rule):
    (found,) = [p for p in document["problems"] if p["rule"] == rule]
    return found


def test_the_table_is_worst_first_and_names_ranges(tmp_path, node_tree):
    names = ["gpu%03d" % i for i in range(1, 21)]
    broken = names[2:9] + ["gpu015"]
    folder = names_fleet(tmp_path, node_tree, names, broken)
    lines = program.run("doctor", "--json", "--from", folder).out.splitlines()
    document = json.loads(lines[-1])
    check("summary", document)
    assert row(document, "driver/loaded")["nodes"] == "gpu[003-009,015]"
    assert row(document, "driver/loaded")["count"] == 8
    order = ["info", "warn", "err", "crit"]
    ranks = [(p["pending"], -order.index(p["severity"]), -p["count"]) for p in document["problems"]]
    assert ranks == sorted(ranks)
    text = program.run("doctor", "--from", folder).out
    assert text.splitlines()[0] == "%d of 20 nodes have problems" % max(
        p["count"] for p in document["problems"])
    for problem in document["problems"]:
        assert re.search(r"^\w+ +%d  %s\n(?: {13}- .*\n)*? {13}- %s \[%s\]\n" % (
            problem["count"], re.escape(problem["nodes"]), re.escape(problem["title"]), problem["rule"]),
            re.sub(r"\n {15}", " ", text), re.M), text
    last = text.splitlines()[-1]
    assert max(map(len, text.splitlines()[:-1])) <= 80
    one = re.fullmatch("The report of one node: nvnodecheck doctor --from (.*)", last).group(1)
    assert program.run("doctor", "--from", one).status == 1
    page = program.run("doctor", "--format", "html", "--from", folder).out
    for problem in document["problems"]:
        assert '<td class="v">%s</td>' % problem["nodes"] in page
    assert not re.search(r"(src|href)=|https?:", page)


# Names, and how they are written. Each is read back by real programs below.
RANGES = [
    (["gpu1", "gpu2", "gpu3"], "gpu[1-3]"),
    (["gpu9", "gpu10", "gpu11"], "gpu[9-11]"),
    (["gpu008", "gpu009", "gpu010", "gpu070"], "gpu[008-010,070]"),
    (["gpu1", "gpu01", "gpu2", "gpu02"], "gpu[1,01,2,02]"),
    (["gpu098", "gpu099", "gpu100", "gpu101"], "gpu[098-101]"),
    (["gpu999", "gpu1000"], "gpu[999-1000]"),
    (["gpu07"], "gpu07"),
    (["login", "gpu1", "gpu2", "cpu7", "cpu8", "cpu10"], "cpu[7-8,10],gpu[1-2],login"),
    (["r1n1", "r1n2", "r2n1", "r2n3"], "r1n[1-2],r2n[1,3]"),
    (["gpu1-ib", "gpu2-ib"], "gpu[1-2]-ib"),
    (["n%d" % (10 ** 20 + 1), "n%d" % (10 ** 20 + 2)], "n%d,n%d" % (10 ** 20 + 1, 10 ** 20 + 2)),
]


@pytest.fixture(params=RANGES, ids=lambda r: r[1])
def folded(request, tmp_path):
    names, written = request.param
    for name in names:
        (tmp_path / (name + ".json")).write_text("{")
    document = json.loads(program.run("doctor", "--json", "--from", tmp_path).out.splitlines()[-1])
    assert document["unreadable"] == len(names)
    return names, written, document["unreadable_nodes"]


def test_ranges(folded):
    names, written, found = folded
    assert found == written


@pytest.mark.parametrize("command", [["scontrol", "show", "hostnames"], ["nodeset", "-e", "-S", "\n"]],
                         ids=["slurm", "clustershell"])
def test_ranges_are_read_back(folded, command, tmp_path):
    if not shutil.which(command[0]):
        pytest.skip("no " + command[0])
    names, _, found = folded
    if command[0] == "scontrol" and re.search(r"\]-|\d{20}", found):
        pytest.skip("Slurm reads neither a suffix nor a number of more than 64 bits")
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\nSlurmctldHost=localhost\n")
    read = subprocess.run(command + [found], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=dict(os.environ, SLURM_CONF=str(conf)))
    assert sorted(read.stdout.decode().split()) == sorted(names), read


def test_a_name_is_its_senders(tmp_path):
    (tmp_path / "\x1b[31mred.json").write_text("{")
    (tmp_path / "<b>.json").write_text("{")
    text = program.run("doctor", "--from", tmp_path)
    assert "\x1b" not in text.out + text.err
    page = program.run("doctor", "--format", "html", "--from", tmp_path).out
    assert "<b>" not in page and "&lt;b&gt;" in page


def test_one_name_twice(tmp_path, node_tree):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "gpu1.json").write_text("{")
    document = json.loads(program.run("doctor", "--json", "--from", tmp_path / "a", tmp_path / "b").out)
    assert (document["unreadable"], document["unreadable_nodes"]) == (2, "gpu1")


def test_file_that_cannot_be_read_is_counted(fleet, tmp_path):
    folder = fleet(5)
    (tmp_path / "node02.json").write_text("{")
    result = program.run("doctor", "--json", "--from", folder)
    assert result.status == 4 and "node02.json" in result.err, str(result)
    assert json.loads(result.out.splitlines()[-1])["unreadable"] == 1
    result = program.run("diff", folder)
    assert result.status == 4, str(result)
    assert result.out == "4 nodes, 0 facts differ; 1 file could not be read\n"
    (tmp_path / "node03.json").write_text("{}")
    document = program.run("diff", "--json", folder).json()
    check("diff", document)
    assert (document["nodes"], document["unreadable"], document["facts"]) == (3, 2, [])
    page = program.run("diff", "--format", "html", folder).out
    assert "<h1>3 nodes, 0 facts differ; 2 files could not be read</h1>" in page


def test_one_node_is_left(fleet):
    result = program.run("diff", fleet(1), "none.json")
    assert (result.status, result.out) == (4, "1 node, 0 facts differ; 1 file could not be read\n")


def test_where_a_module_was_built_is_each_nodes_own(fleet):
    def edit(i, document):
        document["driver"]["builder"] = "root@node%02d" % i
        document["driver"]["banner"] += "  (root@node%02d)  Sun %d Nov" % (i, i + 1)
    result = program.run("diff", fleet(3, edit))
    assert result.status == 0 and result.out == "3 nodes, 0 facts differ\n", str(result)


def test_parameters_and_files_go_by_their_names(fleet, tmp_path):
    """Also where one more stands before them, and on one node at two times."""
    def edit(i, document):
        params, files = document["driver"]["params"], document["modprobe"]["files"]
        if i == 2:
            params[4]["value"] = "7"
            params.insert(0, {"name": "NewOne", "value": "1", "line": 1})
            for k, param in enumerate(params):
                param["line"] = k + 1
            files.insert(0, dict(files[0], path="/etc/modprobe.d/a.conf"))
    folder = fleet(3, edit)
    name = "driver.params[%s].value" % json.loads((tmp_path / "node02.json").read_text())[
        "driver"]["params"][5]["name"]
    wanted = {"driver.params", "driver.params[NewOne]", name, "modprobe.files",
              "modprobe.files[/etc/modprobe.d/a.conf]"}
    found = {f["fact"]: f for f in program.run("diff", "--json", folder).json()["facts"]}
    assert set(found) == wanted
    assert [v["value"] for v in found[name]["values"]][1] == "7"
    assert program.run("facts", name, "--from", folder / "node02.json").out == '"7"\n'
    since = program.run("doctor", "--json", "--from", folder / "node02.json", "--since",
                        folder / "node00.json").json()
    assert {c["fact"] for c in since["changes"]} == wanted - {"driver.params", "modprobe.files"} | {
        "os.hostname"}


def test_since(fleet, tmp_path):
    folder = fleet(2, lambda i, d: i and d["driver"].update(version="550.1"))
    result = program.run("doctor", "--json", "--from", folder / "node01.json", "--since",
                         folder / "node00.json")
    document = result.json()
    check("report", document)
    changed = {c["fact"]: c for c in document["changes"]}
    assert changed["driver.version"]["after"] == "550.1"
    assert set(changed) == {"driver.version", "os.hostname"}
    text = program.run("doctor", "--from", folder / "node01.json", "--since", folder / "node00.json")
    assert "2 facts changed since then" in text.out


def test_a_month_of_one_node(fleet):
    """A file a day: counters, times and boots are no changes; what was changed is, on its day alone."""
    def day(i, document):
        document["os"].update(hostname="gpu7", boot_id="%08x-7c1d-4f6b-9a53-3f0f6c2d7b10" % (i // 9),
                              boot_time_s=1735776000 + 86400 * (i // 9))
        for probe in document["probes"]:
            probe["duration_us"] += i
        for launcher in document["limits"]["launchers"]:
            launcher["pid"] += i
        if i >= 17:
            document["driver"]["version"] = "550.1"
    folder = fleet(30, day)

    def changes(before, after):
        return {c["fact"] for c in program.run(
            "doctor", "--json", "--from", folder / ("node%02d.json" % after), "--since",
            folder / ("node%02d.json" % before)).json()["changes"]}
    assert [i for i in range(1, 30) if changes(i - 1, i)] == [17]
    assert changes(16, 17) == changes(0, 29) == {"driver.version"}
    text = program.run("diff", folder).out
    assert text.startswith("30 nodes, 1 fact differs") and re.search(r"^  550\.1 +13 ", text, re.M), text


# ---- what most nodes have ----

def expected(text):
    """{key: (value, the comment above)} and {key: why it was left out} of what expect printed."""
    lines = text.splitlines()
    agreed = {line.partition(" = ")[0]: (line.partition(" = ")[2], lines[i - 1])
              for i, line in enumerate(lines) if " = " in line and line[0] != "#"}
    return agreed, dict(re.findall(r"^#([^ #:]+): (.*)$", text, re.M))


def test_what_most_nodes_have(fleet, tmp_path):
    def edit(i, document):
        system = document["os"]
        system["memory_bytes"] = ((2015 if i % 2 else 2016) << 30) + i
        if i == 3:
            document["driver"]["version"] = "550.1"
        if i == 5:
            del document["gpu"]
        system["kernel"] = "6.8.1" if i < 10 else "6.8.2"
        if i in (7, 8):
            system["mounts"].append({"point": "/scratch.line", "type": "xfs", "source": "x", "options": "rw"})
        if i == 9:
            system["memory_bytes"] = 1000 << 30
    folder = fleet(20, edit)
    result = program.run("expect", "--from", folder)
    assert result.status == 0 and result.err == "", str(result)
    agreed, left_out = expected(result.out)
    assert agreed["gpu-count"] == ("8", "# 20 of 20 nodes")
    assert agreed["driver-version"] == ("550.90.07", "# 19 of 20 nodes; others: 550.1 (1)")
    assert agreed["gpu-vbios"][1] == "# 19 of 20 nodes; others: not known (1)"
    # Alike nodes that lie on both sides of a whole GiB.
    assert agreed["memory-gib"] == ("2015", "# 19 of 20 nodes; others: 1000 (1)")
    assert left_out["kernel"] == "6.8.1 (10), 6.8.2 (10)"
    assert left_out["mount./scratch.line"] == "xfs rw (2), none or not known (18)"
    assert left_out["gpu-ecc"] == "not known (20)"
    assert not set(agreed) & set(left_out)

    document = program.run("expect", "--json", *sorted(folder.iterdir())).json()
    check("expect", document)
    assert document["nodes"] == 20
    assert {k["key"]: k["value"] for k in document["keys"]} == dict(
        {key: value for key, (value, _) in agreed.items()}, **{key: None for key in left_out})
    version = next(k for k in document["keys"] if k["key"] == "driver-version")
    assert version["nodes"] == 19 and version["values"] == [
        {"value": "550.90.07", "reason": None, "nodes": 19}, {"value": "550.1", "reason": None, "nodes": 1}]


def test_drift_from_what_most_nodes_have(fleet, tmp_path_factory):
    def edit(i, document):
        if i == 3:
            document["driver"]["version"] = "550.1"
    folder, config = fleet(12, edit), tmp_path_factory.mktemp("config") / "expect.conf"
    assert program.run("expect", "--from", folder, "-o", config).status == 0
    check_drift = ("doctor", "--only", "node/expectation", "--config", config, "--from", folder)
    result = program.run(*check_drift)
    assert result.status == 1 and re.search(r"  node03\n.*\n +\[node/expectation\]\n", result.out), str(result)
    reports = [json.loads(line) for line in program.run(*check_drift, "--json").out.splitlines()[:-1]]
    assert [{f["subject"] for f in report["findings"] if f["verdict"] != "pass"} for report in reports] == \
        [{"driver-version"} if i == 3 else set() for i in range(12)]


def test_what_a_file_says_writes_no_line_of_the_configuration(fleet, tmp_path_factory):
    """The lines are as long as a configuration may have them, and none is a stranger's."""
    def edit(i, document):
        document["os"]["product"] = "x%d\nkernel = y" % i + "\u00e9" * 150
        document["os"]["mounts"].append({"point": "/" + "\u00e9" * 150 + "%d\n[check]\nstrict=yes" % i, "type": "xfs",
                                         "source": "s", "options": "rw"})
        if i > 2:
            document["os"]["kernel"] = "k%d" % i
    folder, config = fleet(40, edit), tmp_path_factory.mktemp("config") / "expect.conf"
    result = program.run("expect", "--from", folder, "-o", config)
    assert result.status == 0, str(result)
    lines = config.read_bytes().splitlines()
    assert max(len(line) for line in lines) <= 199
    assert not [line for line in lines if line.startswith((b"kernel", b"strict", b"[check"))]
    assert b"#kernel: more than 32 values" in lines
    assert program.run("doctor", "--only", "node/expectation", "--config", config, "--from", folder).status == 0


def test_a_file_that_is_none_is_said(fleet):
    folder = fleet(4)
    (folder / "node01.json").write_text("{")
    result = program.run("expect", folder)
    assert result.status == 4 and "node01.json" in result.err, str(result)
    assert expected(result.out)[0]["gpu-count"] == ("8", "# 3 of 3 nodes")


def test_a_node_is_like_itself(tmp_path):
    """Also one whose lists have a name twice."""
    twice = [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]
    file = tmp_path / "twice.json"
    file.write_text(json.dumps({
        "format": "nvnodecheck-facts", "format_version": [1, 0], "tool_version": "0",
        "os": {"sysctls": twice}, "driver": {"params": twice}}))
    document = program.run("doctor", "--json", "--from", file, "--since", file).json()
    assert document["changes"] == []


# ---- formats ----

@pytest.mark.parametrize("name", ("hgx-h100-ib", "broken-everything", "no-gpu-server"))
def test_prometheus_has_no_series_twice(name, node_tree):
    result = program.run("doctor", "--format", "prometheus", "--root", node_tree(name))
    series = [line.rsplit(" ", 1)[0] for line in result.out.splitlines() if line[0] != "#"]
    assert len(series) == len(set(series))
    families = [line.split()[2] for line in result.out.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
    assert all(s.split("{")[0] in families for s in series)


def test_prometheus_names_are_in_the_manual(node_tree):
    with open(os.path.join(program.TOP, "man", "nvnodecheck.8")) as file:
        manual = file.read()
    result = program.run("doctor", "--format", "prometheus", "--root", node_tree("hgx-h100-ib"))
    for name in re.findall(r"# TYPE (\S+)", result.out):
        assert name in manual, name


def test_nagios(node_tree):
    well = program.run("preflight", "--format", "nagios", "--root", node_tree("hgx-h100-ib"))
    assert well.status == 0 and well.out.startswith("NVNODECHECK OK - "), str(well)
    bad = program.run("doctor", "--format", "nagios", "--root", node_tree("broken-everything"))
    assert bad.status == 2 and bad.out.startswith("NVNODECHECK CRITICAL - "), str(bad)
    assert all(line.count("|") == (i == 0) for i, line in enumerate(bad.out.splitlines()))


def test_npd(node_tree):
    bad = program.run("preflight", "--format", "npd", "--root", node_tree("broken-everything"))
    assert bad.status == 1 and len(bad.raw) <= 81 and bad.out.count("\n") == 1, str(bad)


@pytest.mark.parametrize("words,said", [
    (["--nonsense"], "unknown option '--nonsense'"), (["--only"], "--only needs a value"),
    (["--root", "/none|such"], "--root /none{bar}such: No such file or directory"),
    (["--only", "no/such-rule"], "--only 'no/such-rule' matches no rule"),
])
@pytest.mark.parametrize("verb", [["doctor"], ["preflight"]])
def test_monitors_hear_why_it_could_not_run(verb, words, said):
    """They show standard output and know their own statuses alone, wherever the format stands."""
    nagios, npd = ["--format", "nagios"], ["--form=npd"]
    for line in ([*nagios, *words], [*words[:-1], *nagios, words[-1]] if words[-1] == "--only"
                 else [*words, *nagios]):
        result = program.run(*verb, *line)
        assert result.status == 3, str(result)
        assert result.out.startswith("NVNODECHECK UNKNOWN - " + said.format(bar="/")), str(result)
        assert result.out.count("\n") == 1
    result = program.run(*verb, *npd, *words)
    assert result.status == 2 and len(result.raw) <= 81, str(result)
    assert result.out.startswith(said.format(bar="|")), str(result)
    assert program.run(*verb, *nagios, "-q", "--root", "/nonexistent").out == ""


def test_a_folder_without_a_node_is_no_well_node(tmp_path):
    """As where a DaemonSet's /host is another folder."""
    assert program.run("doctor", "--root", tmp_path, "--format", "nagios").status == 3
    assert program.run("doctor", "--root", tmp_path, "--format", "npd").status == 2


def test_output_is_whole_or_not_there(node_tree, tmp_path):
    file = tmp_path / "x.prom"
    result = program.run("doctor", "--format", "prometheus", "-o", file, "--root",
                         node_tree("hgx-h100-ib"))
    assert result.status == 0 and result.out == "" and os.listdir(str(tmp_path)) == ["x.prom"]
    assert file.read_text().endswith("\n")
    result = program.run("doctor", "--json", "-o", tmp_path / "none" / "x", "--root",
                         node_tree("hgx-h100-ib"))
    assert result.status == 4 and "none" in result.err, str(result)


@pytest.mark.skipif(os.geteuid() != 0, reason="device files are root's to make")
def test_output_leaves_what_is_no_file(tmp_path):
    """/dev/null stays a device, and what a link leads to is not written."""
    capture = os.path.join(program.TOP, "nodes", "h200-x8.capture")
    device, link, target, pipe = (tmp_path / name for name in ("null", "link", "target", "pipe"))
    os.mknod(str(device), stat.S_IFCHR | 0o666, os.makedev(1, 3))
    target.write_text("as before\n")
    link.symlink_to(target)
    os.mkfifo(str(pipe))
    result = program.run("facts", "os", "--from", capture, "-o", device)
    assert result.status == 0 and stat.S_ISCHR(os.lstat(str(device)).st_mode), str(result)
    result = program.run("facts", "os", "--from", capture, "-o", link)
    assert result.status == 4 and "symbolic link" in result.err, str(result)
    assert target.read_text() == "as before\n" and link.is_symlink()
    assert program.run("facts", "os", "--from", capture, "-o", tmp_path).status == 4
    reader = os.open(str(pipe), os.O_RDONLY | os.O_NONBLOCK)
    assert program.run("facts", "os", "--from", capture, "-o", pipe).status == 0
    assert json.loads(os.read(reader, 65536)) and stat.S_ISFIFO(os.lstat(str(pipe)).st_mode)
    os.close(reader)
    assert sorted(os.listdir(str(tmp_path))) == ["link", "null", "pipe", "target"]


def test_capture_says_that_it_is_a_link(node_tree, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    result = program.run("capture", "--root", node_tree("no-gpu-server"), "-o", link)
    assert result.status == 4 and "link: a symbolic link, which is not" in result.err, str(result)


def test_what_many_nodes_give_goes_into_a_file(fleet, tmp_path):
    folder, out = fleet(3), tmp_path / "out"
    out.mkdir()
    shown = program.run("doctor", "--from", folder)
    result = program.run("doctor", "--from", folder, "-o", out / "lines")
    assert result.out == "" and result.status == shown.status, str(result)
    assert (out / "lines").read_text() == shown.out and os.listdir(str(out)) == ["lines"]


@pytest.mark.parametrize("words,status", [("--journal", 2), ("--format prometheus", 2),
                                          ("--format npd", 2), ("--format nagios", 3)])
def test_what_is_of_one_node_is_refused_for_many(words, status, fleet):
    result = program.run("doctor", "--from", fleet(2), *words.split())
    assert result.status == status, str(result)
    assert words + " is for one node" in result.err


def test_caller_that_ignores_children(fleet):
    """Some daemons do, and hand it down: how the workers end has to be told all the same."""
    folder = fleet(2)
    assert str(program.run("diff", folder, wrap=["env", "--ignore-signal=CHLD"]).status) in "01"


def test_limit_on_the_size_of_files(node_tree, tmp_path):
    """As on a full disk: said, and no part is left."""
    result = program.run("facts", "--root", node_tree("hgx-h100-ib"), "-o", tmp_path / "x",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert result.status == 4 and "File too large" in result.err, str(result)
    assert os.listdir(str(tmp_path)) == []


def test_facts_go_into_a_file(node_tree, tmp_path):
    file, node = tmp_path / "node.json", node_tree("hgx-h100-ib")
    result = program.run("facts", "--root", node, "-o", file)
    assert result.status == 0 and result.out == "" and os.listdir(str(tmp_path)) == ["node.json"]
    check("facts", json.loads(file.read_text()))
    assert program.run("facts", "--root", node, "nosuch", "-o", tmp_path / "x").status == 2
    assert os.listdir(str(tmp_path)) == ["node.json"]


def test_a_line_a_node_gives_the_reason_of_its_verdict(tmp_path):
    """Of a virtual machine that is for information, and of what could not be read, the second counts."""
    result = program.run("doctor", "-v", "--from", os.path.join(program.TOP, "nodes", "h200-x8.capture"),
                         tmp_path / "none.json", "--profile", "base")
    assert re.match("h200-x8: unknown: /boot: ", result.out), str(result)
    assert "\n0 of 1 node has problems; 1 file could not be read\n" in result.out
    assert "  h200-x8\n             - no problem found, and important checks could not run\n" in result.out


def test_formats_of_reports_are_not_of_other_verbs():
    assert program.run("rules", "--format", "prometheus").status == 2
    assert program.run("preflight", "--format", "html", "--root", "/").status == 2
    assert program.run("preflight", "--format", "jsonl", "--root", "/nonexistent").status == 4


@pytest.mark.parametrize("verb", [["doctor", "--from"], ["diff"]], ids=lambda v: v[0])
def test_the_same_damage_in_many_files(verb, tmp_path):
    """A section that is written as in the file before is taken over from there: not a damaged one."""
    for i in range(8):
        (tmp_path / ("node%d.json" % i)).write_text(
            '{"format": "nvnodecheck-facts", "format_version": [1, 0], "tool_version": "1.0.0", '
            '"pci": {"devices": [{"bdf": "0000:1b:00.0"}}}')
    result = program.run(*verb, tmp_path)
    assert result.status == 4, str(result)
    assert [i for i in range(8) if "node%d.json:" % i in result.err] == list(range(8)), result.err
