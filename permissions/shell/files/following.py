"""Walks that follow the links they meet read what those lead to, wherever that lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewright.permissions.paths import Paths
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.operand_table import OPERANDS, OperandRow
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.words import Arg

_LONG = (
    "--follow", "--dereference", "--dereference-recursive", "--dereference-args",
    "--dereference-command-line", "--copy-links", "--copy-unsafe-links", "--copy-dirlinks",
    "--keep-dirlinks",
)  # fmt: skip
_BUNDLES = frozenset({"tar", "bsdtar", "gtar"})  # whose letters need no dash
_ANY = OperandRow("read")


def follows_links(part: Part) -> bool:
    """Generous: what is taken for following costs a look at the directory, and no more."""
    letters = OPERANDS.get(part.program, _ANY).follows
    if letters == "*":
        return True
    words = part.argv[1:]
    bundle = part.program in _BUNDLES and bool(words) and bool(set(words[0].text) & set(letters))
    return bundle or any(_says_so(word, letters) for word in words)


def _says_so(word: Arg, letters: str) -> bool:
    text = word.text
    if not word.literal:
        return True
    if text.startswith("--"):
        name = text.partition("=")[0]
        return len(name) > 4 and any(one.startswith(name) for one in _LONG)
    return text.startswith("-") and (text == "-follow" or bool(set(letters) & set(text)))


def led_to(
    operands: Sequence[tuple[Operand, bool]], paths: Paths
) -> Iterator[tuple[Operand, bool]]:
    """What the links below walked directories lead to, as operands of their own."""
    for one, written in operands:
        if written or not one.walks:
            continue
        for base in one.bases:
            for text in one.arg.readings:
                real = paths.resolver.real(
                    paths.locate(text.replace("\0", ""), base or "/").lexical
                )
                for place in paths.resolver.linked(real):
                    yield Operand(Arg(place, place), ("/",), walks=True), False
