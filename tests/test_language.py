# SPDX-License-Identifier: GPL-2.0-or-later
"""The language of everything that people read: no phrase of a list, short sentences, no spelling errors."""
import glob
import os
import re
import shutil
import statistics
import subprocess

import pytest

from lib import program

TOP = program.TOP

# (pattern, what to write instead)
PHRASES = [
    (r"\b(is|are|was|were|be) told\b", "is known / is reported / the report says"),
    (r"\btold (apart|by|from)\b", "distinguished from"),
    (r"\b(can|could) ?not be told\b|\bnot to be told\b|\bcannot tell\b|\bhow to tell\b", "could not be checked / is not known"),
    (r"\bstands? in\b(?! (line|the file))|\bstands? (there|here)\b|\bstood\b", "is in / is listed"),
    (r"\bcomes? to(?! an end)\b", "is / results in"),
    (r"\bgoes by\b", "uses / depends on"),
    (r"\b(is|are) another one\b|\banother one\b", "differs / a different one"),
    (r"\bwants? otherwise\b|\bis wanted\b|\bare wanted\b", "needs / requires"),
    (r"\bhas the word\b|\bthe last word\b", "decides"),
    (r"'s alone\b|\bto itself alone\b", "only"),
    (r"\banew\b", "again"),
    (r"\bin spite of\b", "despite / even though"),
    (r"\bput right\b|\bright on disk\b", "corrected / configured"),
    (r"\bfor want of\b", "because ... is missing"),
    (r"\bworth a look\b", "check ..."),
    (r"\blet loose\b", "run / reads"),
    (r"\bby right\b", "as intended"),
    (r"\b(some|no)body\b|\bsomeone\b|\bwhoever\b", "name who: an administrator, a user, a job"),
    (r"\bis well\b|\bare well\b|\ball is well\b|\bwell node\b", "is healthy / no problems"),
    (r"\bin vain\b|\bthereof\b|\bwhereby\b|\bwherein\b|\bthereby\b|\bhence\b|\bupon\b", "plain words"),
    (r"\bmade of without\b|\bdoes without\b|\bdo without\b", "does not need"),
    (r"\bnothing; ", "a note has no expectation"),
    (r"\b1 (\w+ )?(more )?(entries|GPUs|ports|files|modules|lines|devices|problems|warnings|errors)\b", "singular"),
    (r"(?<=[a-z]{3})\(s\)", "singular or plural, chosen by the number"),
    (r"\butili[sz]e\b|\bin order to\b|\bplease\b|\bsimply\b|\bjust\b", "drop it"),
    (r"\bwhat (loads|runs|asks|asked|counts|it is about|is there|there is)\b", "name the subject"),
    # Others' terms and messages keep their word.
    (r"(?<!home )(?<!working )(?<!temporary )(?<!state )(?<!runtime )(?<!such file or )(?<!Failed to make )"
     r"\bdirector(y|ies)\b(?! service| of a file system)", "folder"),
    (r"\bof (its|their) own kind\b|\bis due\b|\bsees to\b", "plain words"),
]
# Phrases of comments and documents.
PLAIN = [
    (r"(?<!left )(?<!leaves )(?<!leave )\bbehind\b(?! (the|an) IOMMU| bridge| ConnectX| their BARs| PLX| a switch| each of eight root)", "after / below / following"),
    (r"(?<!there )\b(is|are) none\b", "is not one / does not exist"),
    (r"\bwhat (stands|has|comes (of|to))\b|\bas (it|they) stands?\b", "a noun: the text, the present value"),
    (r"\bwhat is (there|right|left|private|asked|whole)\b|\bwhat was (there|left|asked)\b", "a noun"),
    (r"\bwho takes\b|\bwho asks\b|^whose\b", "a noun: the caller, the owner, the origin"),
    (r"\btells? (of|nothing|that|apart)\b|\bsays (it|so) of\b", "reports / shows"),
    (r"\b(takes?|taken|taking) (it |them |everything )?back\b", "reverts"),
    (r"\bgoes? on\b|\bgoing on\b", "continues"),
    (r"\b(takes?|taken|taking) the place of\b", "replaces"),
]
# Of comments only: one mood.
MOOD = [(r"^(Is|Are|Does|Do|Has|Have|Can|May|Was|Were|Did|Would|Should|Could)\b[^.!]*\?", "Returns true if ...")]
WORDS_MAX = 32	# of one sentence
WORDS_MEAN = 17	# of all sentences of a kind
WORDS_MEAN_DOCUMENT = 12	# of each document, cells of tables and headings included
# Words that codespell takes for misspelt ones: a macro of mdoc, the kernel's CVE Numbering Authority, Debian's
# build daemon, the modules' "parm".
SPELLED = ("nd", "cna", "buildd", "parm")


def rules():
    return program.run("rules", "--json").json()["rules"]


def texts():
    """(where, text): what people read."""
    for rule in rules():
        for key in ("title", "impact", "remedy", "why", "reads", "cost"):
            if rule.get(key):
                yield "%s .%s" % (rule["id"], key), rule[key]


# Columns of tables in data/ that the program prints.
TABLES = {"messages": {"meaning": 6, "elsewhere": 8}, "topics": {"meaning": 5, "elsewhere": 7}, "known-bad": {"effect": 9, "cure": 10}}


def tables():
    """What `why` says of messages, and software/known-bad of versions; the messages' own words are other programs'."""
    for table, columns in TABLES.items():
        for line in read("data/%s.tsv" % table).splitlines():
            cells = line.split("\t")
            if line.startswith("#") or len(cells) <= max(columns.values()):
                continue
            for name, column in columns.items():
                if cells[column] != "-":
                    yield "%s %s .%s" % (table, cells[0], name), cells[column]
    for line in read("data/causes.txt").splitlines():
        if "\t" in line:
            yield "causes %s .elsewhere" % line.split("\t")[0], line.split("\t")[2]


def sources(*extensions):
    """(path, code of C)"""
    for extension in extensions:
        for path in sorted(glob.glob(os.path.join(TOP, "src", "**", "*" + extension), recursive=True)):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, TOP), file.read()


# A literal, or a comment. What looks like one within the other is none.
TOKEN = re.compile(r'"(?P<literal>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])*\'|/\*(?P<comment>.*?)\*/', re.S)
# Of a page, a drawing, or a manual's source: not sentences.
MARKUP = re.compile(r"<[a-z/!]|[;}]\\n|^\.[A-Z]|;base-uri")


def source_texts():
    """Literal sentences of the C sources: messages, observed, expected."""
    for path, code in sources(".c"):
        code = TOKEN.sub(lambda m: " " if m["comment"] is not None else m[0], code)
        code = re.sub(r'"\s*\n\s*"', "", code)
        for match in TOKEN.finditer(code):
            text = match["literal"] or ""
            if text.count(" ") >= 2 and not MARKUP.search(text):
                yield path, text.replace('\\"', '"')


# ---- documents, as their readers see them ----

def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def names(*patterns):
    """Paths of documents below the sources; what was built has none."""
    found = [os.path.relpath(path, TOP) for pattern in patterns
             for path in glob.glob(os.path.join(TOP, pattern), recursive=True) if os.path.isfile(path)]
    return sorted(name for name in found if not name.startswith("build"))


def markdown(text):
    """Paragraphs, list items, headings and cells of tables; no blocks of code, and `code` as one word."""
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.M)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=[*|#-] ?|\d+\. )", text):
        if block.startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", block))
        else:
            yield block


def page(text):
    """Sentences of a manual page. Macros within a sentence stay as their words; others end it."""
    text = re.sub(r"^\.Bd.*?^\.Ed$", ".Pp", text, flags=re.M | re.S)
    lines = []
    for line in text.splitlines():
        if re.match(r"\.(Sh|Ss|It|Pp|Bl|El|Dl|Dd|Dt|Os|Nd|\\\"|ad|@)", line) or line.startswith("@"):
            lines.append("\n\n")
        else:
            lines.append(re.sub(r"\\.|^\.[A-Z][a-z]\b|\b(Fl|Ar|Cm|Pa|Ql|Em|No|Ns|Xr|Sx|Ev|Va)\b", "", line))
    yield from "\n".join(lines).split("\n\n")


def hashes(text):
    """Comments of scripts, units and configurations."""
    kept = [line.lstrip()[1:].strip() if re.match(r"\s*#(?!!)", line) else "" for line in text.splitlines()]
    kept = ["" if "SPDX-License-Identifier" in line or re.match(r"\S+ = ", line) else line for line in kept]
    yield from "\n".join(kept).split("\n\n")


def notes(text):
    """Comments of a node; those in a block are a file's own."""
    yield from hashes("\n".join(line for line in text.splitlines() if not line.startswith((" ", "\t"))))


def news(text):
    yield from re.split(r"\n\s*\n|\n \* ", text)


KINDS = ((markdown, ("*.md", "docs/*.md", "contrib/*.md", "data/*.md", "tests/*.md", "tests/*/*.md")),
         (page, ("man/*.8", "man/*.5", "man/*.5.in")),
         (hashes, ("*.example", "contrib/*/*")), (notes, ("tests/nodes/*.node", "tests/nodes/*/*.node")),
         (news, ("NEWS",)))


def documents():
    for reader, patterns in KINDS:
        for name in names(*patterns):
            if name.endswith(".json"):
                continue
            for block in reader(read(name)):
                text = " ".join(block.split())
                if " " in text:
                    yield name, text


def paragraphs(comment):
    """Rows of tables and lists stand for themselves."""
    lines = [re.sub(r"^[ \t]*\*? ?", "", line) for line in comment.split("\n")]
    yield from re.split(r"\n\n", "\n".join(
        "\n" + line.strip() + "\n" if re.search(r"^\s+\S|\S {2,}\S|\S\t|^\* |^----", line) else line for line in lines))


def comments():
    for path, code in sources(".c", ".h"):
        for match in TOKEN.finditer(code):
            for text in paragraphs(match["comment"] or ""):
                text = " ".join(text.split())
                if text.count(" ") >= 2:
                    yield path, text


# ---- the tests ----

def phrases(kind):
    return PHRASES + (kind in ("comments", "documents")) * PLAIN + (kind == "comments") * MOOD


def wrong_phrases(source):
    for where, text in source():
        for pattern, instead in phrases(source.__name__):
            for match in re.finditer(pattern, text, re.I):
                if where == "src/parse/kmsg-own.c" and match.group(0) == "Please":
                    continue	# the driver's text
                around = text[max(0, match.start() - 50):match.end() + 50].replace("\n", " ")
                yield "%s: '%s' (%s) in: %s" % (where, match.group(0), instead, around)


def sentences(text):
    for sentence in re.split(r"(?<=[.!?:;])\s+|\n", text):
        words = re.findall(r"[A-Za-z][\w'/.=-]*", sentence)
        if words:
            yield sentence, len(words)


@pytest.fixture(params=[texts, tables, source_texts, documents, comments], ids=lambda f: f.__name__)
def source(request):
    return request.param


def test_phrases(source):
    wrong = list(wrong_phrases(source))
    assert not wrong, "%d phrases\n%s" % (len(wrong), "\n".join(wrong[:200]))


def test_sentences_are_short(source):
    lengths, long = [], []
    for where, text in source():
        for sentence, count in sentences(text):
            lengths.append(count)
            if count > WORDS_MAX:
                long.append("%s: %d words: %s" % (where, count, sentence))
    assert len(lengths) > 100
    assert not long, "%d sentences\n%s" % (len(long), "\n".join(long[:100]))
    assert statistics.mean(lengths) <= WORDS_MEAN


def test_each_document_is_easy():
    lengths = {}
    for name, text in documents():
        lengths.setdefault(name, []).extend(count for _, count in sentences(text))
    means = {name: statistics.mean(found) for name, found in lengths.items() if len(found) >= 25}
    assert {"README.md", "man/nvnodecheck.8", "docs/design.md"} <= set(means)
    assert not {name: mean for name, mean in means.items() if mean > WORDS_MEAN_DOCUMENT}


def test_lines_of_documents_are_wrapped():
    """Rows of tables, code and headings may be longer."""
    wrong = ["%s:%d" % (name, number) for name in names(*KINDS[0][1])
             for number, line in enumerate(read(name).splitlines(), 1)
             if len(line) > 120 and not line.startswith(("|", "#", "!", "    "))]
    assert not wrong, wrong


def test_what_is_no_prose_is_not_counted():
    text = "A b.\n\n    code of a block\n\n| a b | `x y z` |\n"
    assert [part for part in markdown(text) if part] == ["A b.", "a b", "CODE"]
    text = ".Sh NAME\nA\n.Fl Fl b\nc.\n.Bd -literal\nd e\n.Ed\n"
    assert [part.split() for part in page(text) if part.strip()] == [["A", "b", "c."]]


@pytest.mark.skipif(not shutil.which("codespell"), reason="codespell is not installed")
def test_spelling(tmp_path):
    said = tmp_path / "texts"
    said.write_text("\n".join("%s: %s" % text for kind in (texts, tables) for text in kind()) + program.run("--help").out, encoding="utf-8")
    files = [name for _, patterns in KINDS for name in names(*patterns)]
    assert len(files) > 20
    process = subprocess.run(["codespell", "-q", "3", "-L", ",".join(SPELLED), str(said), *files], cwd=TOP,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert process.returncode == 0 and not process.stdout, process.stdout.decode()
