"""Files that program texts in a line name: `awk '... > "f"'`, `sed 'r f'`, `sqlite3 a '.read f'`.

Every string in quotes counts, and where names stand without quotes every word with a slash or a
dot. A text can also make up a name as it runs: that is not seen here.
"""

from __future__ import annotations

from collections.abc import Iterator

from gatewright.permissions.shell.carried import STRINGS, coded
from gatewright.tools.system.patterns import later

MOST = 200  # names of one word
_SED = frozenset({"sed", "gsed"})
# Names stand in their texts without quotes.
_UNQUOTED = _SED | {
    "sqlite3", "psql", "mysql", "mariadb", "vim", "vi", "nvim", "ex", "ed", "view", "emacs", "gdb",
    "lldb", "expect", "tmux", "screen", "make", "gmake", "gnuplot", "tclsh",
}  # fmt: skip
_SED_FILE = later(r"(?=[rRwW][ \t]*([^\s][^\n]*))")
_SAID = later(r"\b(?:print|printf|puts|echo|log|say)[ \t]*\(?[ \t]*\Z")  # text for people
_BREAKS = later(r"[\s'\"`();,<>|&={}\[\]]+")


def named_in(program: str, word: str) -> Iterator[str]:
    """What may be files in a word that is a program text; nothing for plain words."""
    if not coded(program) or not set(word) & set(" \t\n'\"`<>"):
        if program in _SED:
            yield from _behind_letters(word)
        return
    found = dict.fromkeys(_names(program, word))
    for _, name in zip(range(MOST), found, strict=False):
        yield name


def _names(program: str, word: str) -> Iterator[str]:
    for string in STRINGS.finditer(word):
        if _SAID.search(word, 0, string.start()):
            continue
        yield string[0][1:-1]
        yield from _with_marks(string[0])
    if program in _UNQUOTED:
        yield from _with_marks(word)
    if program in _SED:
        yield from _behind_letters(word)


def _behind_letters(word: str) -> Iterator[str]:
    """sed's `r f`, `w f` and `s/a/b/w f`: the name goes to the end of the line."""
    yield from (found[1] for found in _SED_FILE.finditer(word))


def _with_marks(text: str) -> Iterator[str]:
    yield from (piece for piece in _BREAKS.split(text) if "/" in piece or "." in piece)
