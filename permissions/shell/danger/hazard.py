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


KINDS, NAMED = 6, 3  # dangers that are told, and parts of the line that are named


def told(hazards: Sequence[Hazard]) -> str:
    """All of them in words, the worst first, of each part of the line its worst; empty without any.

    A yes is one to each of them, so each kind is told before a second part that has one is named.
    """
    worst: dict[str, int] = {}  # level, by the part of the line
    for each in hazards:
        worst[each.source] = max(each.level, worst.get(each.source, 1))
    kinds: dict[str, list[str]] = {}
    for each in sorted(hazards, key=lambda each: -each.level):
        if each.level == worst[each.source]:
            sources = kinds.setdefault(each.text, [])
            sources += [each.source] if each.source not in sources else []
    room, left = max(0, NAMED - len(kinds)), 0
    said: dict[tuple[str, ...], list[str]] = {}
    for text, sources in [*kinds.items()][:KINDS]:
        named = tuple(sources[: 1 + room])
        room, left = room + 1 - len(named), left + len(sources) - len(named)
        said.setdefault(named, []).append(text)
    words = [
        f"{' '.join(texts)} ({'; '.join(named)})" if any(named) else " ".join(texts)
        for named, texts in said.items()
    ]
    if left:
        words.append(f"And {left} more such {'part' if left == 1 else 'parts'}.")
    if len(kinds) > KINDS:
        words.append(f"And {len(kinds) - KINDS} more of other kinds.")
    return " ".join(words)
