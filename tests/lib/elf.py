# SPDX-License-Identifier: GPL-2.0-or-later
"""Small kernel modules, programs and libraries: ELF64 files with what modinfo(8), depmod(8), libkmod and
ld.so(8) read of one, and no code. Layout: System V ABI, chapters 4 and 5; Linux include/linux/module.h and
include/linux/moduleparam.h.
"""
import functools
import struct
import zlib

EM = {"x86_64": 62, "aarch64": 183}
ET_REL = 1
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
SHF_ALLOC = 2
SHN_UNDEF, SHN_ABS = 0, 0xfff1
STB_GLOBAL, STT_NOTYPE, STT_OBJECT = 1, 0, 1
EHDR, SHDR, SYM = 64, 64, 24

# struct modversion_info: unsigned long crc; char name[MODULE_NAME_LEN], 64 bytes together.
VERSION_SIZE = 64
# include/linux/module_signature.h; PKEY_ID_X509 keeps the signer's name outside the signature.
SIGNATURE_MAGIC = b"~Module signature appended~\n"
PKEY_ID_X509, PKEY_HASH_SHA256, PKEY_ALGO_RSA = 1, 4, 1


def symbol_crc(name, build):
    """A made-up version of a symbol, the same for the same BUILD of what exports it."""
    return zlib.crc32(("%s %s" % (name, build)).encode()) or 1


def _string_table(names):
    table, offsets = b"\0", {"": 0}
    for name in names:
        if name not in offsets:
            offsets[name] = len(table)
            table += name.encode() + b"\0"
    return table, offsets


def _symbols(imports, exports):
    """.symtab and .strtab. An exported symbol's version is the absolute symbol __crc_NAME."""
    names = list(imports) + list(exports) + ["__crc_" + name for name in exports]
    strings, offsets = _string_table(names)
    table = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    info = STB_GLOBAL << 4
    for name in imports:
        table += struct.pack("<IBBHQQ", offsets[name], info | STT_NOTYPE, 0, SHN_UNDEF, 0, 0)
    for i, name in enumerate(exports):
        # Section 1 is .text; the address does not matter to anybody.
        table += struct.pack("<IBBHQQ", offsets[name], info | STT_OBJECT, 0, 1, i, 0)
    for name, crc in exports.items():
        table += struct.pack("<IBBHQQ", offsets["__crc_" + name], info | STT_NOTYPE, 0, SHN_ABS,
                             crc or 0, 0)
    return table, strings


def _versions(imports):
    table = b""
    for name, crc in imports.items():
        if crc is not None:
            table += struct.pack("<Q", crc) + name.encode().ljust(VERSION_SIZE - 8, b"\0")
    return table


def _signature(signer):
    name, key = signer.encode(), bytes(range(20))
    made_up = b"\x30" * 64
    return (name + key + made_up +
            struct.pack(">BBBBB3xI", PKEY_ALGO_RSA, PKEY_HASH_SHA256, PKEY_ID_X509, len(name),
                        len(key), len(made_up)) + SIGNATURE_MAGIC)


def module(machine, modinfo, imports=(), exports=(), signer=None):
    """The bytes of a .ko. MODINFO is a list of (key, value); IMPORTS and EXPORTS are (symbol, crc)
    pairs, where an import's crc of None leaves it out of __versions."""
    return _module(machine, tuple(modinfo), tuple(imports), tuple(exports), signer)


@functools.lru_cache(maxsize=4096)
def _module(machine, modinfo, imports, exports, signer):
    imports, exports = dict(imports), dict(exports)
    symtab, strtab = _symbols(imports, exports)
    info = b"".join(("%s=%s" % pair).encode() + b"\0" for pair in modinfo)
    ksymtab = b"".join(name.encode() + b"\0" for name in exports)
    sections = [
        # name, type, flags, data, link (by index), info, entry size
        (".text", SHT_PROGBITS, SHF_ALLOC, b"\0" * 16, 0, 0, 0),
        (".modinfo", SHT_PROGBITS, SHF_ALLOC, info, 0, 0, 0),
        ("__versions", SHT_PROGBITS, SHF_ALLOC, _versions(imports), 0, 0, 0),
        ("__ksymtab_strings", SHT_PROGBITS, SHF_ALLOC, ksymtab, 0, 0, 0),
        (".symtab", SHT_SYMTAB, 0, symtab, 6, 1, SYM),
        (".strtab", SHT_STRTAB, 0, strtab, 0, 0, 0),
    ]
    names, offsets = _string_table([s[0] for s in sections] + [".shstrtab"])
    sections.append((".shstrtab", SHT_STRTAB, 0, names, 0, 0, 0))
    body, headers = b"", struct.pack("<IIQQQQIIQQ", *[0] * 10)
    for name, kind, flags, data, link, extra, size in sections:
        body += b"\0" * (-len(body) % 8)
        headers += struct.pack("<IIQQQQIIQQ", offsets[name], kind, flags, 0, EHDR + len(body),
                               len(data), link, extra, 8, size)
        body += data
    body += b"\0" * (-len(body) % 8)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", ET_REL, EM[machine], 1, 0, 0, EHDR + len(body), 0, EHDR, 0, 0, SHDR,
        len(sections) + 1, len(sections))
    return header + body + headers + (_signature(signer) if signer else b"")


# ---- programs and shared libraries: what the dynamic loader reads of one ----

ET_DYN = 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_DEBUG, DT_RUNPATH = 0, 1, 5, 14, 15, 21, 29
PHDR = 56


# Linux Standard Base Core 5.0, "Symbol Versioning"
DT_VERDEF, DT_VERDEFNUM, DT_VERNEED, DT_VERNEEDNUM = 0x6ffffffc, 0x6ffffffd, 0x6ffffffe, 0x6fffffff
VER_FLG_WEAK = 2
VERDEF, VERDAUX, VERNEED, VERNAUX = 20, 8, 16, 16


def _hash(name):
    h = 0
    for byte in name.encode():
        h = (h << 4) + byte
        h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff
    return h


def _verdef(names, offsets):
    """The versions that a library defines, without the first that names the library itself."""
    table = b""
    for i, name in enumerate(names):
        last = i == len(names) - 1
        table += struct.pack("<HHHHIII", 1, 0, i + 2, 1, _hash(name), VERDEF, 0 if last else VERDEF + VERDAUX)
        table += struct.pack("<II", offsets[name], 0)
    return table


def _verneed(wants, offsets):
    """WANTS: library to its versions, of which "?" at the end says weak."""
    table = b""
    for i, (file, versions) in enumerate(wants.items()):
        last = i == len(wants) - 1
        table += struct.pack("<HHIII", 1, len(versions), offsets[file], VERNEED,
                             0 if last else VERNEED + VERNAUX * len(versions))
        for k, version in enumerate(versions):
            name = version.rstrip("?")
            table += struct.pack("<IHHII", _hash(name), VER_FLG_WEAK if name != version else 0, k + 2, offsets[name],
                                 0 if k == len(versions) - 1 else VERNAUX)
    return table


def program(machine, needed=(), rpath=None, runpath=None, soname=None, wants=None, defines=(), others=0):
    """The bytes of an ELF file with a section .dynamic and no code: a program, or with SONAME a library. OTHERS:
    so many entries that ask for nothing come first."""
    wants = wants or {}
    versions = [v.rstrip("?") for of in wants.values() for v in of]
    strings, offsets = _string_table([*needed, *wants, *versions, *defines, *filter(None, (rpath, runpath, soname))])
    entries = [(DT_DEBUG, 0)] * others + [(DT_NEEDED, offsets[name]) for name in needed]
    entries += [(tag, offsets[text]) for tag, text in
                ((DT_SONAME, soname), (DT_RPATH, rpath), (DT_RUNPATH, runpath)) if text]
    start = EHDR + 3 * PHDR
    interpreter = b"/lib64/ld-linux-x86-64.so.2\0"
    at_dynamic = (start + len(interpreter) + 7) // 8 * 8
    verdef, verneed = _verdef(defines, offsets), _verneed(wants, offsets)
    at_verdef = at_dynamic + 16 * (len(entries) + 2 + 2 * bool(defines) + 2 * bool(wants))
    at_verneed = at_verdef + len(verdef)
    at_strings = at_verneed + len(verneed)
    entries += [(DT_VERDEF, at_verdef), (DT_VERDEFNUM, len(defines))] if defines else []
    entries += [(DT_VERNEED, at_verneed), (DT_VERNEEDNUM, len(wants))] if wants else []
    entries += [(DT_STRTAB, at_strings), (DT_NULL, 0)]
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    size = at_strings + len(strings)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", ET_DYN, EM[machine], 1, 0, EHDR, 0, 0,
                         EHDR, PHDR, 2 if soname else 3, SHDR, 0, 0)
    segments = struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, size, size, 0x1000)
    segments += struct.pack("<IIQQQQQQ", PT_DYNAMIC, 6, at_dynamic, at_dynamic, at_dynamic, len(dynamic),
                            len(dynamic), 8)
    segments += struct.pack("<IIQQQQQQ", PT_INTERP, 4, start, start, start, len(interpreter),
                            len(interpreter), 1)
    body = header + segments + interpreter
    return body + bytes(at_dynamic - len(body)) + dynamic + verdef + verneed + strings
