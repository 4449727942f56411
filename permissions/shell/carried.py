"""Commands that other programs carry in their words: runners, terminals, texts of programs.

They only restrict. Which option of a hundred runners takes a value is not known, so every word that
could begin a command counts as one; and whatever a program text has in quotes may be handed to a
shell. Nothing is granted by what is found here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gatewright.permissions.shell.parse.words import Arg
from gatewright.tools.system.patterns import later

MOST = 30  # texts of one command


class Carrier(msgspec.Struct, frozen=True):
    """The command follows one of `verbs` (none: the program), `operands` words and any options."""

    verbs: frozenset[str] = frozenset()
    operands: int = 0


_RUN = Carrier(frozenset({"run"}))
_EXEC = Carrier(frozenset({"exec", "x"}))
_ANY = Carrier()

CARRIERS: Mapping[str, Carrier] = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye"), _RUN),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _RUN),
    **dict.fromkeys(("bundle", "asdf", "mise", "rtx"), _EXEC),
    **dict.fromkeys(("rbenv", "pyenv", "nodenv", "jenv", "goenv"), _EXEC),
    **dict.fromkeys(("npm", "pnpm", "yarn"), Carrier(frozenset({"exec", "x", "dlx"}))),
    "bun": Carrier(frozenset({"x"})),
    "pipx": _RUN,
    "rustup": Carrier(frozenset({"run"}), operands=1),
    "direnv": Carrier(frozenset({"exec"}), operands=1),
    "nix": Carrier(frozenset({"develop", "shell", "run", "-c", "--command"})),
    "perf": Carrier(frozenset({"stat", "record", "trace", "bench"})),
    "ssh": Carrier(operands=1),
    "faketime": Carrier(operands=1),
    "bwrap": Carrier(operands=40),  # its options take up to three words
    "tmux": Carrier(
        frozenset(
            {"new", "new-session", "neww", "new-window", "splitw", "split-window", "respawnp",
             "respawn-pane", "respawnw", "respawn-window", "run", "run-shell", "if", "if-shell",
             "pipep", "pipe-pane", "popup", "display-popup", "send", "send-keys"}
        )
    ),
    **dict.fromkeys(
        ("npx", "bunx", "uvx", "fakechroot", "eatmydata", "catchsegv", "watchexec",
         "cross-env", "dotenv", "hyperfine", "nodemon", "concurrently", "nix-shell", "screen",
         "xterm", "konsole", "gnome-terminal", "alacritty", "kitty", "foot", "gdb", "lldb",
         "expect", "multitime", "chpst", "softlimit", "setuidgid", "s6-setuidgid", "tini",
         "dumb-init", "parallel", "gparallel", "daemonize", "dtach", "abduco", "with-contenv"),
        _ANY),
}  # fmt: skip

# Their words may be program texts, which hand text to a shell.
CODED = frozenset(
    {"awk", "gawk", "mawk", "nawk", "sed", "gsed", "perl", "python", "python2", "python3", "pypy",
     "pypy3", "node", "nodejs", "deno", "bun", "ruby", "php", "lua", "luajit", "Rscript", "julia",
     "groovy", "tclsh", "osascript", "pwsh", "tsx", "ts-node", "sqlite3", "psql", "mysql",
     "mariadb", "vim", "vi", "nvim", "ex", "ed", "view", "emacs", "gdb", "lldb", "expect", "tmux",
     "screen", "make", "gmake", "gnuplot", "octave", "irb", "guile", "bc", "dc", "ghci", "scala"}
)  # fmt: skip
_VERSIONED = later(r"(?:python|pypy|ruby|lua|php|perl)[0-9.]+")


def coded(program: str) -> bool:
    """Whether words of this program may be program texts."""
    return program in CODED or _VERSIONED.fullmatch(program) is not None


_STRING = r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`"
STRINGS = later(_STRING)
_LISTS = later(rf"(?:{_STRING})(?:\s*,\s*\[?\s*(?:{_STRING}))+")
# Behind these the rest of a line is for a shell: `:!cmd`, sed's `1e cmd`, `.shell cmd`, `x:; cmd`.
_MARKED = later(
    r"(?:^|[\s;{:+=\\])(?:!|\.?(?:shell|system)\s|(?:spawn|exec)\s|[\d$,/]*e\s|[\w.]+:;)\s*([^\n]+)",
    re.MULTILINE,
)
_COMMAND = later(r"\s*[\w./+~-]+\s+\S")
# Programs start what these hold; `=` may stand in a word, as in `env PAGER=x`.
_NAME = r"\w*(?:PAGER|EDITOR|VISUAL|COMMAND|_DIFF|ASKPASS|BROWSER|_RSH)|LESSOPEN|LESSCLOSE|SHELL"
_NAMED = later(_NAME)
_SETS = later(rf"({_NAME})=\|?-?(.*)", re.DOTALL)


def carried_words(program: str, argv: Sequence[Arg]) -> Iterator[tuple[Arg, ...]]:
    """What may be a command among the words of a runner, from its first word on."""
    carrier = CARRIERS.get(program)
    if carrier is None:
        return
    words, left = list(argv), carrier.operands
    if carrier.verbs:
        places = [index for index, arg in enumerate(words) if arg.text in carrier.verbs]
        words = words[places[0] + 1 :] if places else []
    valued = False  # what comes next may be the value of an option
    for index, arg in enumerate(words):
        if arg.text.startswith("-"):
            valued = "=" not in arg.text
            continue
        if "=" in arg.text:
            continue
        yield tuple(words[index:])
        if not valued:
            left -= 1
            if left < 0:
                return
        valued = False


def carried_texts(program: str, words: Sequence[str]) -> Iterator[str]:
    """What may be handed to a shell, out of words that hold more than a name."""
    code = coded(program)
    found = (
        text
        for word in words
        for text in _of_word(word, code=code, carries=program in CARRIERS)
        if _COMMAND.match(text)
    )
    for _, text in zip(range(MOST), found, strict=False):
        yield text


def carried_values(assigns: Sequence[tuple[str, Arg]]) -> Iterator[str]:
    """Variables in front of a command that name a program to be run."""
    for name, arg in assigns:
        if _NAMED.fullmatch(name):
            yield arg.text.lstrip("|-")


def _of_word(word: str, *, code: bool, carries: bool) -> Iterator[str]:
    if not set(word) & set(" \t\n'\"`!"):
        return
    if (named := _SETS.fullmatch(word)) is not None:
        yield named[2]
    if carries:
        yield word
        yield word.partition("=")[2]
    if code:
        yield from (found[0][1:-1] for found in STRINGS.finditer(word))
        yield from (_joined(found[0]) for found in _LISTS.finditer(word))
        yield from (found[1].strip("'\"`})") for found in _MARKED.finditer(word))


def _joined(strings: str) -> str:
    return " ".join(shlex.quote(found[0][1:-1]) for found in STRINGS.finditer(strings))
