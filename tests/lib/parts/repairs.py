# SPDX-License-Identifier: GPL-2.0-or-later
"""What fix --apply did on the node: records of transactions."""
import json

from ..tree import EPOCH
from .system import BOOT_ID

FOLDER = "/var/lib/nvnodecheck/fix"
EARLIER_BOOT_ID = "00000000-0000-4000-8000-000000000001"
APPLIED = "BEGIN\nVERIFIED\nCOMMIT\n"
JOURNALS = {"applied": APPLIED, "undone": APPLIED + "UNDO\nEND undone\n",
            "undoing": APPLIED + "UNDO\n", "interrupted": "BEGIN\nINTENT 0\n",
            "torn": "BEGIN\nVERIFIED\nCOMMIT"}


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
        "files": [{"path": named["file"], "number": 0, "before": None, "after": "0" * 64,
                   "folders": []}] if "file" in named else [],
        "steps": [{"kind": "initramfs", "subject": node.expand(named["kernel"]), "files": []}]
                 if "kernel" in named else [],
    }
    tree.file("%s/%s/plan.json" % (FOLDER, ident), json.dumps(record, indent=1), 0o600)
    tree.file("%s/%s/journal" % (FOLDER, ident), JOURNALS[named.get("journal", "applied")], 0o600)
    node.transactions += 1


def do_repaired(node, statement):
    node.late.append((repaired, statement))


VERBS = {"repaired": do_repaired}


def render(node, tree):
    """Records are written last: they tell what became of files."""
