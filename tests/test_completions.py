# SPDX-License-Identifier: GPL-2.0-or-later
"""completions/: bash and zsh on a terminal of their own, with a key that puts every completion into the
line, and fish's complete -C. What they have to offer is what --help and the rules say."""
import os
import pty
import shutil
import subprocess
import threading

import pytest

from lib import cli, program, waiting

COMPLETIONS = os.path.join(program.TOP, "completions")
# The completions ask the program that is found by its name; the line itself runs this function, which
# notes what it was given.
FUNCTION = "nvnodecheck() { printf '%s\\n' \"$@\" > answer.new; mv answer.new answer; }\n"
BASH = ("bind 'set enable-bracketed-paste off'\nbind '\"\\C-t\": insert-completions'\n"
        "source '%s/nvnodecheck.bash'\n" % COMPLETIONS) + FUNCTION
ZSH = ("unsetopt zle_bracketed_paste 2>/dev/null\nfpath=('%s' $fpath)\n"
       "autoload -U compinit; compinit -u -D\nzle -C all-matches complete-word _generic\n"
       "bindkey '^T' all-matches\n"
       "zstyle ':completion:all-matches::::' completer _all_matches _complete\n"
       "zstyle ':completion:all-matches:*' insert true\n" % COMPLETIONS) + FUNCTION


class Terminal:
    """An interactive shell that answers what it completes a line to."""

    def __init__(self, command, setup, folder, env):
        self.answer = os.path.join(folder, "answer")
        main, other = pty.openpty()
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, cwd=folder,
                                        env=env, start_new_session=True)
        os.close(other)
        self.main, self.shown = main, b""
        threading.Thread(target=self.listen, daemon=True).start()
        with open(os.path.join(folder, "setup"), "w") as file:
            file.write(setup)
        self.send(". ./setup; nvnodecheck ready\n")
        assert self.wait() == ["ready"]

    def listen(self):
        try:
            while True:
                self.shown += os.read(self.main, 65536)
        except OSError:
            pass

    def send(self, text):
        os.write(self.main, text.encode())

    def wait(self):
        waiting.until(lambda: os.path.exists(self.answer),
                      lambda: self.shown[-2000:].decode("utf-8", "replace"))
        with open(self.answer) as file:
            words = file.read().split("\n")[:-1]
        os.unlink(self.answer)
        return words

    def ask(self, line):
        """The words that the last word of LINE can become."""
        self.send(line + "\x14\n")
        return self.wait()[len(line.split(" ")) - 2:]

    def close(self):
        self.send("\x03\nexit\n")
        self.process.wait(30)
        os.close(self.main)


class Fish:
    def __init__(self, folder, env):
        self.folder, self.env = folder, env

    def ask(self, line):
        script = 'source "$argv[1]"; complete -C "$argv[2]"'
        process = subprocess.run(["fish", "--no-config", "-c", script,
                                  os.path.join(COMPLETIONS, "nvnodecheck.fish"), line],
                                 cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                                 start_new_session=True)
        assert process.returncode == 0 and not process.stderr, process.stderr
        return [text.partition("\t")[0] for text in process.stdout.decode().splitlines()]

    def close(self):
        pass


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def shell(request, tmp_path_factory):
    if not shutil.which(request.param):
        pytest.skip("no " + request.param)
    folder = str(tmp_path_factory.mktemp(request.param))
    for name in ("nodes", "bin"):
        os.mkdir(os.path.join(folder, name))
    for name in ("one.capture", "two words.json"):
        open(os.path.join(folder, "nodes", name), "w").close()
    os.symlink(program.binary(), os.path.join(folder, "bin", "nvnodecheck"))
    env = program.environment(HOME=folder, TERM="dumb", PS1="$ ", INPUTRC="/dev/null",
                              PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
    if request.param == "bash":
        made = Terminal(["bash", "--norc", "--noprofile", "-i"], BASH, folder, env)
    elif request.param == "zsh":
        made = Terminal(["zsh", "-f", "-i"], ZSH, folder, env)
    else:
        made = Fish(folder, env)
    yield made
    made.close()


def rules():
    return {rule["id"] for rule in program.run("rules", "--json").json()["rules"]}


def ask(shell, line):
    """As a set; bash keeps what stands before a "=" to itself."""
    found = shell.ask(line)
    last = line.rpartition(" ")[2]
    if "=" in last:
        before = last.partition("=")[0] + "="
        found = [word[len(before):] if word.startswith(before) else word for word in found]
    assert len(set(found)) == len(found), found
    return set(found)


def test_verbs(shell):
    assert ask(shell, "nvnodecheck ") == set(cli.verbs())
    assert ask(shell, "nvnodecheck ru") == {"rules"}


def test_options_of_every_verb(shell):
    for verb in cli.verbs():
        wanted = {"--" + option.name for option in cli.options(verb)}
        assert ask(shell, "nvnodecheck %s --" % verb) == wanted, verb
    assert ask(shell, "nvnodecheck --") == {"--" + o.name for o in cli.options("doctor")}
    assert ask(shell, "nvnodecheck fix --no-") == {"--no-regenerate", "--no-pager"}


def test_every_value_that_is_one_of_some_words(shell):
    seen = set()
    for verb in cli.verbs():
        for option in cli.options(verb):
            if option.words and (option.name, tuple(option.words)) not in seen:
                seen.add((option.name, tuple(option.words)))
                line = "nvnodecheck %s --%s" % (verb, option.name)
                if not option.may_lack_value:
                    assert ask(shell, line + " ") == set(option.words), line
                assert ask(shell, line + "=") == set(option.words), line
    assert {name for name, _ in seen} >= {"format", "profile", "fail-on", "color"}


def test_lists(shell):
    assert ask(shell, "nvnodecheck --profile base,d") == {"base,deepep"}
    assert ask(shell, "nvnodecheck --only=pci/acs-redirect,driver/loa") == {
        "pci/acs-redirect,driver/loaded"}


def test_rules(shell):
    everything = rules()
    assert ask(shell, "nvnodecheck explain ") == everything
    assert ask(shell, "nvnodecheck explain driver/") == {r for r in everything
                                                         if r.startswith("driver/")}
    assert ask(shell, "nvnodecheck fix driver/loaded pci/acs-r") == {
        r for r in everything if r.startswith("pci/acs-r")}
    assert ask(shell, "nvnodecheck --skip driver/loa") == {"driver/loaded"}
    assert ask(shell, "nvnodecheck rules driver/loa") == {"driver/loaded"}
    # topo takes none.
    assert not ask(shell, "nvnodecheck topo driver/lo") & everything


def test_facts(shell):
    schema = program.run("facts", "--root", "/").json()
    sections = {key for key in schema if isinstance(schema[key], dict)}
    assert sections <= ask(shell, "nvnodecheck facts ")
    assert ask(shell, "nvnodecheck facts driver.fl") == {"driver.flavour"}


def folders(words):
    return {word.rstrip("/") for word in words}


def test_files(shell):
    both = {"nodes/one.capture", "nodes/two words.json"}
    for line in ("nvnodecheck doctor --from nodes/", "nvnodecheck --from=nodes/",
                 "nvnodecheck diff nodes/", "nvnodecheck diff nodes/one.capture nodes/",
                 "nvnodecheck capture -o nodes/"):
        found = {word.replace("\\ ", " ") for word in ask(shell, line)}
        assert found == both, line
    assert folders(ask(shell, "nvnodecheck --root nod")) == {"nodes"}
    assert folders(ask(shell, "nvnodecheck facts --root=nod")) == {"nodes"}
    assert not folders(ask(shell, "nvnodecheck --root nodes/")) & both
    # A number, an id: nothing to offer, and no file either.
    assert not {word for word in ask(shell, "nvnodecheck --pid no") if "nodes" in word}


def test_asking_touches_nothing_and_is_always_well():
    """A word that is half written is no error; a reader who leaves is none either."""
    for words in ([], [""], ["--"], ["--", ""], ["--nonsense", ""], ["--nonsense=x"], ["nonsense", ""],
                  ["--format", "=", "j"], ["-o"], ["-"], ["explain", "\t"], ["--only", ",,"]):
        result = program.run("__complete", *words)
        assert result.status == 0 and result.err == "", str(result)
    assert program.run("__complete", "--format", "=", "jsonl").out == "jsonl\n"
    for letter, name in (("-o", "--output"), ("-y", "--yes"), ("-q", "--quiet"), ("-h", "--help")):
        offered = [program.run("__complete", "fix", option, "").out for option in (letter, name)]
        assert offered[0] == offered[1] and (offered[0] == ":files\n") == (letter == "-o"), letter
    # No letters are joined, so neither of these is -o.
    for word in ("-ox", "-yo", "xo"):
        assert program.run("__complete", "fix", word, "").out != ":files\n", word
    for line in program.run("__complete", "explain", "").out.splitlines():
        assert line.count("\t") == 1
