"""What a line does to the checkout beside its work tree: a person is asked first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gatewright.permissions.paths import inside
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part

EXPORTS = frozenset({"export", "declare", "typeset", "readonly", "local"})
SOURCES = frozenset({"source", "."})  # what they name is read


def leaves_tree(
    parts: Sequence[Part],
    operands: Sequence[tuple[Operand, bool]],
    guessed: Iterable[Operand],
    reach: Reach,
) -> str:
    """Why it reaches out of its work tree, into the checkout beside it; empty where it does not."""
    paths = reach.paths
    at = f"this agent works in {paths.place.root}."
    for operand, written in operands:
        if written and any(map(paths.in_main, reach.locations(operand.arg, operand.bases))):
            return f"It would change your own checkout; {at}"
    for part in parts:
        for base in part.bases:
            if base is not None and paths.in_main(paths.locate(base)):
                return f"It would run in your own checkout; {at}"
        if any(
            paths.in_main(paths.locate(text, base))
            for base in part.bases
            if base is not None
            for text in _pointers(part)
        ):
            return f"It points git at your own checkout; {at}"
    if any(_named(one, reach) for one in guessed):
        return f"It may change your own checkout; {at}"
    return ""


def _named(operand: Operand, reach: Reach) -> bool:
    """Whether the word itself leads there. What links of the tree lead to is no guess's matter."""
    paths, main = reach.paths, reach.paths.place.main
    return any(
        inside(one.lexical, main) and not any(inside(one.lexical, d) for d in paths.trusted())
        for one in reach.locations(operand.arg, operand.bases)
    )


def _pointers(part: Part) -> Iterator[str]:
    """Words, values of options and variables: whatever could say where git works."""
    for name, value in part.assigns:
        if part.program == "git" or name.startswith("GIT_"):
            yield from value.readings
    if part.program in EXPORTS:
        said = (text.partition("=") for arg in part.argv[1:] for text in arg.readings)
        yield from (value for name, _, value in said if value and name.startswith("GIT_"))
    if part.program != "git":
        return
    for arg in part.argv[1:]:
        for text in arg.readings:
            yield text.partition("=")[2] if text.startswith("-") and "=" in text else text
