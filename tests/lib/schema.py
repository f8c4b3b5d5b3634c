# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON Schemas of facts and of proofs, from the descriptions in src; validation of documents."""
import glob
import json
import os
import re

from .program import TOP

FORMATS = os.path.join(TOP, "docs", "formats")
STATED = {"format", "format_version", "tool_version"}

FIELD = re.compile(r"F_([A-Z0-9]+)\(\s*(\w+)\s*,\s*(\w+)\s*((?:,[^()]*?)?)\)", re.S)
TABLE = re.compile(r"static const struct field (\w+)_fields\[\] = \{(.*?)\n\};", re.S)
DESC = re.compile(r"const struct desc (\w+)_desc = DESC\((\w+)((?:, [^)]*)?)\)")
WORDS = re.compile(r"const char \*const (\w+)\[\] = \{(.*?)\};", re.S)


def sources():
    """The text of the files that describe facts."""
    found = []
    for path in sorted(glob.glob(os.path.join(TOP, "src", "*", "*.c"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if DESC.search(text):
            found.append(text)
    return "\n".join(found)


def descriptions(text):
    """{struct: (fields, optional)} and {list of words: words} of their text."""
    words = {name: re.findall(r'"([^"]*)"', body) for name, body in WORDS.findall(text)}
    fields = {}
    for name, body in TABLE.findall(text):
        # Sources are strings, and may hold commas and parentheses.
        body = re.sub(r'(?:PCI |IB |INFORMATION )?"[^"]*"', "S", body)
        fields[name] = [(kind, member, [a.strip() for a in more.split(",") if a.strip()])
                        for kind, _, member, more in FIELD.findall(body)]
    optional = {name: "optional" in more for name, _, more in DESC.findall(text)}
    return fields, optional, words


def or_null(schema):
    if "anyOf" in schema:
        return {"anyOf": schema["anyOf"] + [{"type": "null"}]}
    if isinstance(schema.get("type"), str):
        return dict(schema, type=[schema["type"], "null"])
    if "enum" in schema:
        return {"enum": schema["enum"] + [None]}
    return {"anyOf": [schema, {"type": "null"}]}


def number():
    """Numbers above 2^53 are written as strings."""
    return {"anyOf": [{"type": "integer", "minimum": 0},
                      {"type": "string", "pattern": "^[0-9]+$"}]}


def field_schema(kind, more, words):
    if kind == "BOOL":
        return {"type": "boolean"}
    if kind == "U64":
        return number()
    if kind == "HEX":
        return {"type": "string", "pattern": "^0x[0-9a-f]+$"}
    if kind == "LIMIT":
        return {"anyOf": number()["anyOf"] + [{"const": "unlimited"}]}
    if kind == "STR":
        return {"type": "string"}
    if kind == "ENUM":
        return {"enum": list(words[more[0]])}
    if kind == "STRS":
        return {"type": "array", "items": {"type": "string"}}
    reference = {"$ref": "#/$defs/" + more[0].replace("_desc", "")}
    return reference if kind == "STRUCT" else {"type": "array", "items": reference}


def definitions_of(text):
    fields, optional, words = descriptions(text)
    definitions = {}
    for name, members in fields.items():
        properties = {}
        for kind, member, more in members:
            schema = field_schema(kind, more, words)
            never_absent = kind == "STRUCT" and not optional[more[0].replace("_desc", "")]
            properties[member] = schema if never_absent else or_null(schema)
        definitions[name] = {"type": "object", "properties": properties}
    definitions["format_version"] = {
        "type": "array", "prefixItems": [{"const": 1}, {"type": "integer", "minimum": 0}],
        "minItems": 2, "maxItems": 2}
    return definitions


def head_of(format_name):
    return {
        "format": {"const": format_name},
        "format_version": {"$ref": "#/$defs/format_version"},
        "tool_version": {"type": "string"},
    }


def proof_schema(text):
    definitions = definitions_of(text)
    words = ["null", "string"]
    finding = {"rule": {"type": "string", "pattern": "^proof/[a-z-]+$"},
               "verdict": {"enum": ["pass", "fail", "unknown", "not-applicable"]},
               "severity": {"enum": ["info", "warn", "err", "crit"]},
               "subject": {"type": words}, "observed": {"type": words},
               "expected": {"type": words}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nvnodecheck proof",
        "description": "What prove tried on the hardware. Outcomes that are missing are unknown. A "
                       "later minor version adds keys.",
        "type": "object",
        "required": ["format", "format_version", "tool_version", "node", "verdict", "findings",
                     "proof"],
        "properties": dict(head_of("nvnodecheck-proof"),
                           node={"type": "object"},
                           verdict={"enum": ["pass", "fail", "unknown"]},
                           findings={"type": "array", "items": {
                               "type": "object", "required": sorted(finding),
                               "properties": finding}},
                           proof={"$ref": "#/$defs/proof_facts"}),
        "$defs": {name: definitions[name] for name in
                  ["format_version", "proof_copy", "proof_facts", "proof_gpu", "proof_try"]},
    }


def facts_schema(text):
    definitions = definitions_of(text)
    root = definitions.pop("node")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nvnodecheck facts",
        "description": "What was observed on one node. A key that is missing is unknown: it was "
                       "not read or could not be. null is absent: looked for, and not there. "
                       "Units are in the keys. A later minor version adds keys.",
        "type": "object",
        "required": ["format", "format_version", "tool_version"],
        "properties": dict(head_of("nvnodecheck-facts"), **root["properties"]),
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def strict(schema):
    """The same schema that takes no key which it does not name: this version's documents have no
    others."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        out["additionalProperties"] = False
    return out


def load(name):
    with open(os.path.join(FORMATS, name + ".schema.json"), encoding="utf-8") as file:
        return json.load(file)
