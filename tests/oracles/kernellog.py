# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of NVIDIA's driver in the kernel's log, held against its source: each format that it prints as an error, with
random values, is one message of a log. The source says whether it is an Xid, which one, and of which device."""

import random
import re

from oracle import UNKNOWN, Oracle, Result, Skip, empty_folder, facts, source, write

MATERIAL = "nvidia-open-gpu-kernel-modules"
BANNER = "<5>[    0.000000] Linux version 6.8.0-test (gcc) #1 SMP\n"
BDF = r"%04x:%02x:%02x(?:\.%[dxu01]+)?"
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_]\w*)(\([^()]*\))?)')
CONVERSION = re.compile(r"%[-+ #0]*(?P<width>\d+|\*)?(?:\.(?P<precision>\d+|\*))?(?:hh|h|ll|l|z|j|t|q|L)?(?P<kind>[diouxXcspn%])(?:K|I4|U[bl])?")
WORDS = ("", "GPU", "0x1f", "NV_ERR_TIMEOUT", "<unknown>", "nvidia-smi", "a b", "gpu 1", "Fatal", "timeout", "kgspBootstrap_GH100", "success")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "'": "'", "0": "\0", "%": "%", "/": "/", "b": "\b", "a": "\a"}
LEVEL_DEFAULT, LEVEL_ERR = 4, 3	# printk() without a level; KERN_ERR

# The call, how many arguments there are before the format, what comes before the text of the format, and its level.
# Sources of release 535: nvprintf.h, os-interface.h, uvm_common.h, nvidia-peermem.c, nvidia-drm-priv.h, nvkms-utils.c,
# kernel_rc.c, common_nvswitch.h
CALLS = (
    ("NV_PRINTF", 1, "NVRM: %(function)s: ", LEVEL_DEFAULT, ("LEVEL_ERROR", "LEVEL_FATAL")),
    ("nv_printf", 1, "", LEVEL_DEFAULT, ("NV_DBG_ERRORS",)),
    ("NV_DEV_PRINTF", 2, "NVRM: GPU %(gpu)s: ", LEVEL_DEFAULT, ("NV_DBG_ERRORS",)),
    ("NV_DEV_PRINTF_STATUS", 3, "NVRM: GPU %(gpu)s: ", LEVEL_DEFAULT, ("NV_DBG_ERRORS",)),
    ("UVM_ERR_PRINT", 0, "nvidia-uvm: %(file)s:%(line)d %(function)s[pid:77] ", LEVEL_ERR, ()),
    ("peer_err", 0, "nvidia-peermem %(function)s:%(line)d ERROR ", LEVEL_ERR, ()),
    ("NV_DRM_DEV_LOG_ERR", 1, "[drm:%(function)s [nvidia_drm]] *ERROR* [nvidia-drm] [GPU ID 0x00001b00] ", LEVEL_ERR, ()),
    ("NV_DRM_LOG_ERR", 0, "[drm:%(function)s [nvidia_drm]] *ERROR* [nvidia-drm] ", LEVEL_ERR, ()),
    ("nvEvoLogDev", 2, "nvidia-modeset: ERROR: GPU:0: ", LEVEL_ERR, ("EVO_LOG_ERROR",)),
    ("nvErrorLog_va", 2, "NVRM: Xid (PCI:%(slot)s%(mig)s): %(number)d, pid=%(pid)s, name=%(process)s, ", LEVEL_DEFAULT, None),
    ("NVSWITCH_PRINT_SXID", 2, "nvidia-nvswitch%(switch)d: SXid (PCI:%(gpu)s): %(number)05d, ", LEVEL_DEFAULT, None),
)
# nvassert.c: the expression that is not true
ASSERTIONS = (
    ("NV_ASSERT", "nvAssertFailedNoLog: Assertion failed: %s @ %s:%d"),
    ("NV_ASSERT_OR_RETURN", "nvAssertFailedNoLog: Assertion failed: %s @ %s:%d"),
    ("NV_ASSERT_OK", "nvAssertOkFailedNoLog: Assertion failed: Generic Error: Unknown [NV_ERR_GENERIC] (0x0000FFFF) returned from %s @ %s:%d"),
    ("NV_ASSERT_OK_OR_RETURN", "nvAssertOkFailedNoLog: Assertion failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F) returned from %s @ %s:%d"),
)


class Call:
    """A place of the source that prints: file, line, function, kind, format, number (of an Xid)."""

    def __init__(self, **of):
        self.__dict__.update(of)

    def __str__(self):
        return "%s:%d: %s %r" % (self.file, self.line, self.kind, self.format)


class Kernellog(Oracle):
    """An input: (call, seed of its values)."""
    name = "kernellog"

    def prepare(self):
        self.calls, self.left = [], 0
        top = source(MATERIAL)
        texts = {path: without_comments(path.read_text(errors="replace")) for path in sorted(top.rglob("*.[ch]"))}
        self.macros = {}
        for text in texts.values():
            for name, value in re.findall(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\(?\d+\)?|(?:"[^"\n]*"[ \t]*)+)[ \t]*$', text, re.M):
                self.macros.setdefault(name, value)
            for name, value in re.findall(r"^\s*(NVSWITCH_ERR_\w+)\s*=\s*(\d+),", text, re.M):
                self.macros.setdefault(name, value)
        for path, text in texts.items():
            if path.suffix == ".c":
                self.read(path, text)
        if len(self.calls) < 100:
            raise Skip("%s has %d messages: it is another source" % (top, len(self.calls)))
        print("kernellog: %d messages of the source, %d calls whose text is made elsewhere" % (len(self.calls), self.left), flush=True)

    # ---- the source ----

    def read(self, path, text):
        starts = [(m.start(), m[1]) for m in re.finditer(r"^(?:[\w*]+[ \t\n*]+)*?(\w+)\s*\([^;{}()]*\)\s*\{", text, re.M)]
        for name, before, prefix, level, wanted in CALLS:
            for match in re.finditer(r"\b%s\s*\(" % name, text):
                self.add(path, text, starts, match, name, before, prefix, level, wanted)
        for name, form in ASSERTIONS:
            for match in re.finditer(r"\b%s\s*\(" % name, text):
                arguments = split_arguments(text, match.end())
                if arguments and arguments[0].strip() and "\n" not in arguments[0] and line_start(text, match.start()).strip() == "":
                    line = text.count("\n", 0, match.start()) + 1
                    words = form % (" ".join(arguments[0].split()), path.name, line)
                    self.calls.append(Call(file=path.name, line=line, kind=name, format=words, prefix="NVRM: ", level=LEVEL_DEFAULT, function="", number=None, plain=True))

    def add(self, path, text, starts, match, name, before, prefix, level, wanted):
        if line_start(text, match.start()).lstrip().startswith("#"):
            return
        arguments = split_arguments(text, match.end())
        if not arguments or len(arguments) <= before or (wanted and arguments[0].strip() not in wanted):
            return
        form = self.joined(arguments[before])
        number = self.number(arguments[1].strip()) if wanted is None else None
        if form is None or (wanted is None and number is None):
            self.left += 1
            return
        if name == "NV_DEV_PRINTF_STATUS":
            form += " (0x%x)\n"
        function = [f for at, f in starts if at < match.start()]
        self.calls.append(Call(file=path.name, line=text.count("\n", 0, match.start()) + 1, kind=name, format=form, prefix=prefix,
                               level=level, function=function[-1] if function else "f", number=number, plain=False))

    def joined(self, argument):
        """The text of literals and of macros that are literals; None: it is made otherwise."""
        text, at = "", 0
        argument = argument.strip()
        while at < len(argument):
            token = TOKEN.match(argument, at)
            if not token or not token[0].strip():
                return None
            at = token.end()
            if token[1] is not None:
                text += unescaped(token[1])
            elif token[2].startswith("KERN_"):
                return None
            else:
                value = self.macros.get(token[2], "")
                parts = LITERAL.findall(value)
                if not parts or token[3]:
                    return None
                text += unescaped("".join(parts))
        return text or None

    def number(self, word):
        value = self.macros.get(word, word).strip("()")
        return int(value) if value.isdigit() else None

    # ---- inputs ----

    def material(self):
        return [(call, 0) for call in self.calls]

    def random(self, rng):
        return rng.choice(self.calls), rng.getrandbits(32)

    def show(self, item):
        return "%s\n%s\n" % (item[0], self.message(item)[0])

    def message(self, item):
        """The text, and the devices that it names."""
        call, seed = item
        rng = random.Random(seed)
        devices, values = [], {"function": call.function, "file": call.file, "line": call.line, "number": call.number,
                               "switch": rng.randrange(6), "pid": rng.choice(("1234", "'<unknown>'")),
                               "process": rng.choice(("<unknown>", "python3", "a name"))}

        def device(function):
            slot = "%04x:%02x:%02x" % (rng.choice((0, 0, 0, 1, 0x10000)), rng.randrange(256), rng.randrange(32))
            number = rng.randrange(8) if function else 0
            devices.append("%s.%d" % (slot, number))
            return slot + (".%d" % number if function else "")
        if "%(gpu)s" in call.prefix:
            values["gpu"] = device(True)
        if "%(slot)s" in call.prefix:
            values["slot"] = device(False)
            values["mig"] = rng.choice(("", "", " GPU-I:01", " GPU-I:01 GPU-CI:00"))
        text = call.format
        if not call.plain:
            text = re.sub(r"(PCI:)?(%s)" % BDF, lambda m: (m[1] or "") + (device("." in m[2]) if m[1] or "." in m[2] else m[2]), text)
            text = CONVERSION.sub(lambda m: converted(m, rng), text)
        text = call.prefix % values + text
        return text if text.endswith("\n") else text + "\n", sorted(set(devices))

    # ---- comparing ----

    def compare(self, item):
        call = item[0]
        text, devices = self.message(item)
        root = empty_folder(self.place / "tree")
        # A record of several lines is one line each.
        lines = ["<%d>[   12.%06d] %s\n" % (call.level, i, line) for i, line in enumerate(re.split(r"[\n\r]", text)) if line.strip()]
        write(root / "var/log/dmesg", BANNER + "<6>[    1.000000] nvidia 0000:ff:1f.7: enabling device (0140 -> 0142)\n" + "".join(lines))
        log = facts(root, "log")
        found = {line["pattern"]: line for line in log.get("lines", [])}
        other = log.get("unexplained", [])
        result = Result()
        # All lines of the module itself are kept, whatever they say: its errors are no noise.
        count = sum(line["count"] for line in found.values()) + sum(m["count"] for m in other) + len(log.get("failures", []))
        result.field("kept", True if count else "not " + text.strip()[:80], True)
        result.field("driver", sorted({m["driver"] for m in other} - {driver_of(text)}), [])
        result.field("level", sorted({m["level"] for m in other} - {call.level}), [])
        if call.number is not None:
            name = "%s-%d" % ("sxid" if "SXid" in text else "xid", call.number)
            result.field("xid", sorted(found), [name])
        else:
            result.field("xid", [name for name in found if re.match("s?xid-", name)], [])
        for name, line in found.items():
            result.field("devices of " + name, [d["name"] for d in line["devices"]], devices if line["count"] else UNKNOWN)
        return result


def driver_of(text):
    return "NVRM" if text.startswith(("NVRM:", "nv-caps")) else "nvidia_drm" if text.startswith("[drm") else "nvidia"


def converted(match, rng):
    """A value as printf() writes it."""
    kind = match["kind"]
    if kind == "%":
        return "%"
    if kind == "s":
        return rng.choice(WORDS)
    if kind == "c":
        return rng.choice("abc? ")
    value = rng.choice((0, 1, 7, rng.randrange(256), rng.randrange(1 << 32)))
    text = {"x": "%x", "X": "%X", "p": "%016x", "o": "%o"}.get(kind, "%d") % value
    width = match["width"]
    if width and width.isdigit():
        text = text.rjust(int(width), "0" if "0" in match[0].partition(width)[0] + ("0" if match[0][1:2] == "0" else "") else " ")
    return "0x" + text if "#" in match[0] else text


def unescaped(text):
    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|\n|.)", lambda m: ESCAPES.get(m[1], ""), text, flags=re.S)


def without_comments(text):
    """Of the same length, and with the same lines."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*',
                  lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def line_start(text, at):
    return text[text.rfind("\n", 0, at) + 1:at]


def split_arguments(text, at):
    """The arguments of a call whose bracket was opened before AT; None: it does not end."""
    parts, begin, depth, end = [], at, 0, min(len(text), at + 4000)
    while at < end:
        c = text[at]
        if c == '"':
            literal = LITERAL.match(text, at)
            if not literal:
                return None
            at = literal.end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                return parts + [text[begin:at]]
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return None


ORACLE = Kernellog
