# SPDX-License-Identifier: GPL-2.0-or-later
"""What fix --apply did on the node: records of transactions."""
import json

from ..journal import begun
from ..tree import EPOCH
from .system import BOOT_ID

FOLDER = "/var/lib/nvnodecheck/fix"
EARLIER_BOOT_ID = "00000000-0000-4000-8000-000000000001"
APPLIED = ["VERIFIED", "COMMIT"]
JOURNALS = {"applied": APPLIED, "undone": APPLIED + ["UNDO", "END undone"],
            "undoing": APPLIED + ["UNDO"], "interrupted": ["INTENT 0"], "torn": APPLIED}


def init(node):
    node.transactions = 0


def repaired(node, tree, statement):
    """repaired RULE [subject=] [boot=earlier|this|none] [kernel=RELEASE] [file=PATH] [journal=WORD]: of a
    file that is there it is taken that somebody changed it since."""
    (rule,), named = statement.take("subject", "boot", "kernel", "file", "journal", least=1)
    ident = "20250101T%06dZ-0123456789abcdef" % node.transactions
    boot = {"earlier": EARLIER_BOOT_ID, "this": BOOT_ID, "none": None}[named.get("boot", "earlier")]
    record = {
        "format": "nvnodecheck-transaction", "format_version": [1, 0], "tool_version": "test",
        "id": ident, "plan_id": "0123456789abcdef", "time_s": EPOCH + node.transactions,
        "boot_id": boot, "who": "root",
        "repairs": [{"rule": rule, "subject": named.get("subject"), "what": "repair " + rule,
                     "activation": "reboot"}],
        "files": [{"path": named["file"], "number": 0, "type": "file", "before": None,
                   "after": {"sha256": "0" * 64}, "folders": []}] if "file" in named else [],
        "steps": [{"kind": "initramfs", "subject": node.expand(named["kernel"]), "files": []}]
                 if "kernel" in named else [],
    }
    text, word = json.dumps(record, indent=1), named.get("journal", "applied")
    journal = begun(ident, text, *JOURNALS[word])
    tree.file("%s/%s/plan.json" % (FOLDER, ident), text, 0o600)
    tree.file("%s/%s/journal" % (FOLDER, ident), journal[:-1] if word == "torn" else journal, 0o600)
    node.transactions += 1


def do_repaired(node, statement):
    node.late.append((repaired, statement))


VERBS = {"repaired": do_repaired}


def render(node, tree):
    """Records are written last: they tell what became of files."""
