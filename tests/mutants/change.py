# SPDX-License-Identifier: GPL-2.0-or-later
"""What is turned round in a source, and how a program is made that has many such changes, one of them on."""
import bisect
import collections
import os
import re

COMPARISONS = {"==": ("!=",), "!=": ("==",), "<=": ("<", ">"), ">=": (">", "<"), "<": ("<=", ">="), ">": (">=", "<=")}
OPERATORS = [(re.compile(r" %s(?=\s)" % re.escape(operator)), others) for operator, others in COMPARISONS.items()] + [
    (re.compile(r" &&(?=\s)"), ("||",)),
    (re.compile(r" \|\|(?=\s)"), ("&&",)),
    (re.compile(r"\breturn true;"), ("return false;",)),
    (re.compile(r"\breturn false;"), ("return true;",)),
    (re.compile(r"(?<=[(\s])!(?=[a-z(])"), ("",)),
    (re.compile(r"\bcontinue;"), (";",)),
    (re.compile(r" \+ 1\b"), ("",)),
    (re.compile(r" - 1\b"), ("",)),
]
HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$|_Static_assert[^;]*;',
                    re.S | re.M)

# What ends an operand, beside a bracket that is not its own. Binary operators have blanks around them (clang-format).
COMPARES = r" (?:==|!=|<=|>=|<|>|[&|^])(?=\s)"
ENDS = {
    "&&": r"[;,]| (?:\?|:|&&|\|\||[-+*/|&^]?=)(?=\s)",
    "||": r"[;,]| (?:\?|:|\|\||[-+*/|&^]?=)(?=\s)",
}
STARTS = r"|\breturn\b|[{}]|:\n"
PURE = re.compile(r"(?!.*(?:[(\[*]|->|\+\+|--|(?<![=!<>])=(?!=))).*", re.S)	# such an operand can always be looked at

PROTOTYPES = ("_Bool mutant_only(int); _Bool mutant_on(int); _Bool mutant_is(int, _Bool, _Bool); "
              "_Bool mutant_unless(int, _Bool, _Bool); ")

# start and end: what is replaced where it is one change of many; the operands of an operator are in it. before: these
# operands, or the line of what has none.
Mutant = collections.namedtuple("Mutant", "path line start end left operator right text before")


def bare_of(code):
    """CODE with comments, literals and directives blotted out."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", "\x00", m[0]), code)


def operand_before(bare, at, ends):
    """Where the operand begins that ends at AT."""
    stop = re.compile(ends + STARTS)
    depth, i = 0, at
    last = max((m.end() for m in stop.finditer(bare, max(0, at - 2000), at)
                if not depth_between(bare, m.end(), at)), default=0)
    while i > last:
        c = bare[i - 1]
        depth += (c in ")]") - (c in "([")
        if depth < 0:
            break
        i -= 1
    return i


def depth_between(bare, start, end):
    """Is END in fewer or more brackets than START?"""
    text = bare[start:end]
    return text.count("(") + text.count("[") - text.count(")") - text.count("]")


def operand_after(bare, at, ends):
    """Where the operand ends that begins at AT."""
    stop, depth, i = re.compile(ends), 0, at
    while i < len(bare):
        c = bare[i]
        if depth == 0 and (c in ")]};" or stop.match(bare, i)):
            break
        depth += (c in "([{") - (c in ")]}")
        i += 1
    return i


def mutants_of(path, code):
    bare = bare_of(code)
    lines = [m.start() for m in re.finditer(r"\n", code)]
    for pattern, others in OPERATORS:
        for match in pattern.finditer(bare):
            text = code[code.rfind("\n", 0, match.start()) + 1:code.find("\n", match.end())]
            if re.match(r"\t*for \(", text) and "<" in match[0]:
                continue	# a loop beyond its list: what is read there is chance
            operator, start, end = match[0].strip(), match.start(), match.end()
            left, right = start, end
            if operator in COMPARISONS or operator in ENDS:
                ends = ENDS.get(operator, COMPARES + "|" + ENDS["&&"])
                start, end = operand_before(bare, left, ends), operand_after(bare, right, ends)
                text = " ".join(code[start:end].split())
            for other in others:
                yield Mutant(path, bisect.bisect_left(lines, match.start()) + 1, start, end, left, operator, right, other,
                             text.strip())


def changed(code, mutant, n):
    """What stands at the mutant's place, where it is number N of many."""
    left, right = code[mutant.start:mutant.left].strip(), code[mutant.right:mutant.end].strip()
    operator, other = mutant.operator, mutant.text
    if operator in COMPARISONS:
        return ("({ __auto_type mutant_l%d = (%s); __auto_type mutant_r%d = (%s); mutant_is(%d, "
                "mutant_l%d %s mutant_r%d, mutant_l%d %s mutant_r%d); })" % (
                    n, left, n, right, n, n, operator, n, n, other, n))
    if operator in ENDS:
        value = "mutant_l%d %s (%s)" % (n, operator, right)
        note = "mutant_is(%d, %s, mutant_l%d %s (%s))" % (n, value, n, other, right) if PURE.fullmatch(right) else \
            "mutant_unless(%d, %s, %d)" % (n, value, operator == "&&")
        return "({ _Bool mutant_l%d = (%s); mutant_only(%d) ? mutant_l%d %s (%s) : %s; })" % (
            n, left, n, n, other, right, note)
    return {
        "return true;": "return !mutant_on(%d);",
        "return false;": "return mutant_on(%d);",
        "!": "mutant_on(%d) ^ !",
        "continue;": "{ if (!mutant_on(%d)) continue; }",
        "+ 1": " + (1 - mutant_on(%d))",
        "- 1": " - (1 - mutant_on(%d))",
    }[operator] % n


def with_all(code, mutants):
    """CODE with these changes: {number: mutant}. No two of them are in one place."""
    for n, mutant in sorted(mutants.items(), key=lambda item: -item[1].start):
        lead = re.match(r"\s*", code[mutant.start:mutant.left])[0]
        code = code[:mutant.start] + lead + changed(code, mutant, n) + code[mutant.end:]
    return PROTOTYPES + code


def without_overlaps(mutants):
    """Those of MUTANTS, first ones first, of which no two are in one place."""
    taken = collections.defaultdict(list)
    for mutant in mutants:
        if all(mutant.end <= start or end <= mutant.start for start, end in taken[mutant.path]):
            taken[mutant.path].append((mutant.start, mutant.end))
            yield mutant


def sources(top, prefix):
    for folder, _, names in sorted(os.walk(os.path.join(top, "src"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), top)
            if name.endswith(".c") and path.startswith(prefix):
                yield path


def draw(top, prefix, count, rng):
    """Mutants in random order: as many of a file as it has lines, and each of a file's as often."""
    weights, found = {}, {}
    for path in sources(top, prefix):
        with open(os.path.join(top, path), encoding="utf-8") as file:
            code = file.read()
        weights[path], found[path] = code.count("\n"), list(mutants_of(path, code))
    paths = [path for path in found if found[path]]
    for path in paths:
        rng.shuffle(found[path])
    for path in rng.choices(paths, [weights[path] for path in paths], k=3 * count):
        if found[path]:
            yield found[path].pop()
