# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule's claims have a source that a reader can find: which document or repository, in which version or of
which date, and which file or section of it."""
import re

from lib import program

# "open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h", "PCI Express Base Specification 6.0: section 4.2.2"
VERSION = re.compile(r"\b(v?\d+(\.\d+)+\w*|r\d{3}|20\d\d|[A-Za-z-]+ \d+|[0-9a-f]{7} \()|\bof this release\b")
DATE = re.compile(r"\(20\d\d-\d\d(-\d\d)?\)")
PLACE = re.compile(r": \S|\(\d\)")

def is_whole(line):
    document, colon, place = line.partition(": ")
    dated = VERSION.search(document if colon else line) or DATE.search(line)
    return bool(dated and PLACE.search(line))


def lacks_source(rule):
    return not any(is_whole(line) for line in (rule.get("sources") or "").split("\n"))


def test_each_rule_names_document_version_and_place():
    rules = program.run("rules", "--json").json()["rules"]
    assert len(rules) > 200
    assert not sorted(rule["id"] for rule in rules if lacks_source(rule))


def test_what_is_no_source():
    assert not is_whole("open-gpu-kernel-modules: kernel-open/nvidia/nv-reg.h")
    assert not is_whole("NCCL user guide, device API")
    assert not is_whole("github.com/NVIDIA/nccl: issue 1285")
    assert is_whole("github.com/NVIDIA/nccl: issue 1285 (2024-12-17)")
    assert is_whole("Linux 6.12: drivers/pci/p2pdma.c")
    assert is_whole("ld.so(8) of man-pages 6.9")
