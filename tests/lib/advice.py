# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report tells its reader to set, and whether two of its findings tell him different things."""
import re
import shlex

# Kinds of repair (src/fixes): what each sets, from its arguments or the finding's subject.
FIXES = {
    "set-option": lambda f, a: [("option " + a[1], a[2])],
    "set-registry-key": lambda f, a: [("RegistryDwords key " + a[0], a[1])],
    "set-sysctl": lambda f, a: [("sysctl " + a[0], a[1])],
    "set-resizable-bar": lambda f, a: [("option NVreg_EnableResizableBar", "1")],
    "load-module": lambda f, a: [("module " + module(a[0] or f["subject"]), "loaded")],
    "block-nouveau": lambda f, a: [("module nouveau", "not loaded")],
    "block-nvidia-drm": lambda f, a: [("module nvidia_drm", "not loaded")],
    "replace-nv-peer-mem": lambda f, a: [("module nv_peer_mem", "not loaded")],
    "iommu-passthrough": lambda f, a: [("argument iommu=pt", "there")],
    "remove-argument": lambda f, a: [("argument " + (a[0] if a else f["subject"]), "not there")],
    "remove-option": lambda f, a: removed(option(f["subject"])),
    "start-service": lambda f, a: [("unit " + unit(a[0]), "active")],
}
# Findings under which nothing in particular is set: a file is put right, an image built, a limit raised.
OTHER = {"raise-limit", "make-device-node", "merge-registry", "unmask-file", "rename-option-module",
         "remove-unknown-option", "remove-refused-value", "rebuild-initramfs", "keep-live-option", "index-modules",
         "clear-acs-redirect", "activate-option"}

# As src/fixes/modprobe-option.c has them: of an option with keys the repair takes out these.
NVLINK_KEYS = ("RMNvLinkControl", "RMNvLinkDisableLinks", "RMNvLinkDisableLinks2", "RMNvLinkEnable")
# Both are repaired by fix, which merges them, and the report shows fix alone then. By hand the first command would
# keep the key that the second finding wants out.
MERGED_BY_FIX = {("driver/nvlink-disabled-regkey", "driver/peer-mapping-override")}

ACTIVE = {"start": "active", "restart": "active", "enable": "active", "unmask": "active", "reload-or-restart": "active",
          "stop": "not active", "disable": "not active", "mask": "not active"}


PACKAGE_TOOLS = {"apt", "apt-get", "dnf", "yum", "zypper", "tdnf"}
PACKAGES = {"install": "installed", "reinstall": "installed", "in": "installed",
            "remove": "not installed", "purge": "not installed", "autoremove": "not installed", "rm": "not installed"}
# Names of settings in a firmware setup, as the texts write them.
FIRMWARE = ("Above 4G Decoding", "Resizable BAR", "Relaxed Ordering", "SR-IOV", "IOMMU", "VT-d", "ACS", "ATS",
            "Secure Boot", "Hyper-Threading", "SMT", "Access Control Services")
ON = {"switch on": "on", "enable": "on", "turn on": "on", "switch off": "off", "disable": "off", "turn off": "off"}
# Arguments of which the last one counts: two values of one are a contradiction.
ONE_VALUE = {"iommu", "iommu.passthrough", "iommu.strict", "intel_iommu", "amd_iommu", "kho"}


def module(name):
    return name.replace("-", "_")


def unit(name):
    return name if re.search(r"\.(service|socket|timer|mount|path)$", name) else name + ".service"


def option(subject):
    return (subject or "").rpartition(".")[2]


def removed(name):
    if name == "NVreg_RegistryDwords":
        return [("RegistryDwords key " + key, "not set") for key in NVLINK_KEYS]
    return [("option " + name, "not set")]


def of_option(name, value):
    """RegistryDwords has keys of its own."""
    if name != "NVreg_RegistryDwords":
        yield "option " + name, value
        return
    for entry in filter(None, value.split(";")):
        key, _, number = entry.partition("=")
        yield "RegistryDwords key " + key, number


def of_words(words):
    """What one command sets; of others nothing is known."""
    while words and (words[0] in ("sudo", "env") or re.fullmatch(r"\w+=.*", words[0]) and len(words) > 1):
        words = words[1:]
    if not words:
        return
    name, rest = words[0].rpartition("/")[2], [w for w in words[1:] if not w.startswith("-")]
    if name == "modprobe" and rest:
        removed = any(re.fullmatch("-r|--remove|-[a-z]*r[a-z]*", w) for w in words[1:])
        for one in rest if removed else rest[:1]:
            yield "module " + module(one), "not loaded" if removed else "loaded"
        for word in [] if removed else rest[1:]:
            key, equal, value = word.partition("=")
            if equal:
                yield "option " + key, value
    elif name == "rmmod":
        for one in rest:
            yield "module " + module(one), "not loaded"
    elif name == "systemctl" and rest and rest[0] in ACTIVE:
        for one in rest[1:]:
            yield "unit " + unit(one), ACTIVE[rest[0]]
    elif name == "sysctl":
        for word in rest:
            key, equal, value = word.partition("=")
            if equal:
                yield "sysctl " + key, value
    elif name in ("export", "unset"):
        for word in rest:
            key, equal, value = word.partition("=")
            yield "variable " + key, value if name == "export" else "not set"
    elif name in PACKAGE_TOOLS and len(rest) > 1 and rest[0] in PACKAGES:
        for one in rest[1:]:
            yield "package " + re.split(r"[=:]", one)[0], PACKAGES[rest[0]]
    elif name == "grubby":
        for word in words:
            added = re.fullmatch(r"--(args|remove-args)=(.*)", word)
            for argument in added[2].split() if added else ():
                yield from of_argument(argument, added[1] == "args")


def of_argument(argument, there):
    key, equal, value = argument.partition("=")
    yield "argument " + argument, "there" if there else "not there"
    if there and equal and key in ONE_VALUE:
        yield "value of the argument " + key, value


def of_prose(text):
    """What a sentence asks to switch on or off in the firmware, and the lines that it asks to write."""
    for part in re.split(r"[.;](?:\s|$)", text):
        # "On Grace ...", "If the card ...", "Or ...": one of several ways, or of several machines.
        if re.match(r"\s*(On|If|Where|Or|For|In a|When)\b", part):
            continue
        verbs = [(m.start(), ON[m[0].lower()]) for m in re.finditer("|".join(ON), part, re.I)]
        for name in FIRMWARE if "firmware" in part else ():
            at = part.find(name)
            before = [value for start, value in verbs if start < at]
            if at >= 0 and before:
                yield "firmware setting " + name, before[-1]
        for one in re.findall(r"\bBlacklist ([a-z][a-z0-9_-]+)", part):
            yield "module " + module(one), "not loaded"


def of_command(text):
    for line in text.splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        for part in " ".join(shlex.quote(w) if w not in ("&&", ";", "|", "||") else "\0" for w in words).split("\0"):
            yield from of_words(shlex.split(part))
        for key, value in re.findall(r"\b(NVreg_\w+)=(\"[^\"]*\"|[^\s\"']+)", line):
            yield from of_option(key, value.strip('"'))


def settings(finding):
    """(what, value) of each thing that the finding says to set."""
    fix = finding.get("fix")
    if fix and fix["id"] in FIXES:
        yield from FIXES[fix["id"]](finding, fix["arguments"])
    elif fix:
        assert fix["id"] in OTHER, "tests/lib/advice.py does not know what the fix %s sets" % fix["id"]
    # A unit that one command stops, and starts again after its work, is to be active.
    yield from dict(of_command(finding.get("command") or "")).items()
    yield from of_prose(finding.get("remedy") or "")


def is_shown(finding):
    """What follows from another finding of the report is repaired with that one, and gives no advice."""
    return finding["verdict"] in ("fail", "pending") and not finding.get("off") and not finding.get("follows_from")


def contradictions(report):
    said, wrong = {}, []
    for finding in filter(is_shown, report["findings"]):
        for what, value in settings(finding):
            other = said.setdefault(what, (value, finding))
            if other[0] != value and tuple(sorted({other[1]["rule"], finding["rule"]})) not in MERGED_BY_FIX:
                wrong.append("%s is to be %s by %s (%s) and %s by %s (%s)" % (
                    what, other[0], other[1]["rule"], other[1]["subject"], value, finding["rule"],
                    finding["subject"]))
    return wrong
