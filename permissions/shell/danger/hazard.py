"""One dangerous thing a line would do."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.permissions.shell.files.operand import Operand


class Hazard(msgspec.Struct, frozen=True):
    """One finding. `files`: what it destroys, when that is all it does; None otherwise."""

    level: int  # 1 dangerous, 2 catastrophic
    text: str
    source: str = ""
    files: tuple[Operand, ...] | None = None
    git_loss: bool = False
    deletes: bool = False  # `files` are gone or emptied, rather than changed in another way


MOST_TOLD = 3  # parts of a line


def told(hazards: Sequence[Hazard]) -> str:
    """All of them in words, the worst first, each part of the line once; empty without any.

    A yes is one to each of them, not to the first that is named.
    """
    worst: dict[str, str] = {}  # by the part of the line
    for each in sorted(hazards, key=lambda each: -each.level):
        if each.level:
            worst.setdefault(each.source, each.text)
    parts: dict[str, list[str]] = {}
    for source, text in [*worst.items()][:MOST_TOLD]:
        parts.setdefault(text, []).append(source)
    said = [f"{text} ({'; '.join(named)})" if any(named) else text for text, named in parts.items()]
    if (more := len(worst) - MOST_TOLD) > 0:
        said.append(f"And {more} more such {'part' if more == 1 else 'parts'}.")
    return " ".join(said)
