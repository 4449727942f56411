"""What a line does to the checkout beside its work tree: a person is asked first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part


def leaves_tree(
    parts: Sequence[Part], operands: Sequence[tuple[Operand, bool]], reach: Reach
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
        if part.program == "git" and any(
            paths.in_main(paths.locate(text, base))
            for base in part.bases
            if base is not None
            for text in _pointers(part)
        ):
            return f"It points git at your own checkout; {at}"
    return ""


def _pointers(part: Part) -> Iterator[str]:
    """Words, values of options and variables: whatever could say where git works."""
    for _, value in part.assigns:
        yield from value.readings
    for arg in part.argv[1:]:
        for text in arg.readings:
            yield text.partition("=")[2] if text.startswith("-") and "=" in text else text
