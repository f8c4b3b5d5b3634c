# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor --format html: one file that needs nothing else, says what the report says, and can be read with a keyboard,
a screen reader, without colour and on paper. tests/integration/check_page.py looks at it in a browser."""
import html.parser
import re

import pytest

from lib import node, program
from lib.program import run

FOCUSED = {"a", "input", "select", "button"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.named, self.text, self.headings = [], [], [], [], []
        self.open, self.cells, self.answers = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if "href" in attrs:
            self.links.append(attrs["href"])
        for name in attrs.get("aria-labelledby", "").split():
            self.named.append(name)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        assert not {"src", "action", "style", "onclick", "onload", "xlink:href"} & set(attrs), attrs
        if tag == "th":
            assert attrs.get("scope") == "col"
        if attrs.get("role") == "region":
            assert attrs.get("tabindex") == "0" and attrs.get("aria-labelledby"), "scrolled by mouse alone"
        self.answers += tag == "tr" and "data-verdict" in attrs
        self.open.append(tag)

    def handle_data(self, data):
        if "script" not in self.open[-1:] and "style" not in self.open[-1:]:
            self.text.append(data)

    def said(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


def page_of(directory, *args):
    result = run("doctor", "--format", "html", "--root", directory, *args)
    assert result.status in (0, 1) and result.err == "", str(result)
    return result.out, Page(result.out)


@pytest.mark.parametrize("name", node.names())
def test_page(name, node_tree):
    """Its own links, labels and headings are right, and it holds every answer."""
    text, page = page_of(node_tree(name))
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} | set(page.named) <= set(page.ids)
    assert page.headings[0] == 1 and all(b - a <= 1 for a, b in zip(page.headings, page.headings[1:]))
    assert page.answers == len(program.report(node_tree(name))["findings"])


@pytest.mark.parametrize("name", node.names())
def test_nothing_is_fetched(name, node_tree):
    text, page = page_of(node_tree(name))
    assert "default-src 'none'" in text and all(link.startswith("#") for link in page.links)
    code = re.sub(r"<(dd|td|li|title|text|tspan|pre|desc)\b.*?</\1>", "", text, flags=re.S)
    assert not re.search(r"url\(|@import|@font-face|https?://(?!www\.w3\.org/2000/svg)", code)


def test_it_says_what_the_report_says(node_tree):
    directory = node_tree("broken-everything")
    said = page_of(directory, "--profile", "deepep")[1].said()
    report = program.report(directory, "--profile", "deepep")
    counts = report["summary"]["problems"]
    assert "%d problems (%d critical, %d errors, %d warnings" % (
        sum(counts.values()), counts["crit"], counts["err"], counts["warn"]) in said
    for finding in report["findings"]:
        if finding["verdict"] in ("fail", "pending", "note"):
            for key in ("title", "observed"):
                assert not finding[key] or re.sub(r"\s+", " ", finding[key]) in said, finding


def test_what_is_wrong_is_marked_in_the_drawing(node_tree):
    """With a link to the problem."""
    text, page = page_of(node_tree("broken-everything"))
    drawing = text[text.index("<svg"):text.index("</svg>")]
    assert "✕ does not answer" in drawing and re.search(r'<a href="#problem-\d+"><text', drawing)
    marks = re.findall(r'<a href="#problem-\d+"><text [^>]*>! ([^ <]+)', drawing)
    assert marks.count("iommu/translation-enabled") == 14 and marks.count("modules/gpu-bound-vfio") == 1
    assert marks.count("pci/bar1-unassigned") == 1 and marks.count("log/xid") == 1
    assert "✕" not in page_of(node_tree("hgx-h100-ib"))[0]


def test_a_healthy_node(node_tree):
    said = page_of(node_tree("hgx-h100-ib"))[1].said()
    assert "Ready for base, gpudirect-rdma: no problems found." in said and "What to do" not in said


def test_of_many_nodes_it_is_a_table(node_facts, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text(node_facts("broken-everything"))
    result = run("doctor", "--format", "html", "--from", tmp_path / "one", tmp_path / "two")
    assert result.status == 1 and "<table" in result.out and "<title>nvnodecheck doctor" in result.out
