"""What a model is told of the skills there are: within a budget, the same bytes for the same."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

USUAL_WINDOW = 200_000
FEWEST, MOST = 500, 4_000  # tokens
PER_TOKEN = 4  # bytes
LEAST = 60  # characters of a description that still says something
LONGEST = 1_536
TAIL = 80  # bytes for how many more there are


class Entry(msgspec.Struct, frozen=True):
    """One skill as it is listed. `text` is one line and inert."""

    name: str
    text: str
    rank: float = 0.0
    whole: bool = False  # its text is never shortened: it is ours


class Listing(msgspec.Struct, frozen=True):
    """`missing` counts the skills that had no room."""

    text: str
    missing: int = 0


def budget(window: int = 0, percent: float = 1.0) -> int:
    """Bytes that the list may have in a model's window of so many tokens."""
    tokens = int((window or USUAL_WINDOW) * percent / 100)
    return max(FEWEST, min(tokens, MOST)) * PER_TOKEN


def listed(entries: Sequence[Entry], room: int) -> Listing:
    """A line each, by name: whole; equally shortened; some by their names alone; some left out."""
    entries = sorted(entries, key=lambda entry: entry.name)
    whole = [_line(entry, LONGEST) for entry in entries]
    if _size(whole) <= room:
        return Listing("\n".join(whole))
    longest = _common(entries, room)
    if longest >= LEAST:
        return Listing("\n".join(_line(entry, longest) for entry in entries))
    return _some(entries, room)


def _some(entries: Sequence[Entry], room: int) -> Listing:
    """What is used least loses its text first, then its line."""
    sizes = {entry.name: _size([_line(entry, 0)]) for entry in entries}
    by_rank = sorted(entries, key=lambda entry: (not entry.whole, -entry.rank, entry.name))
    left = room - (0 if sum(sizes.values()) <= room else TAIL)
    kept: list[Entry] = []
    for entry in by_rank:
        if sizes[entry.name] > left:
            break
        left -= sizes[entry.name]
        kept.append(entry)
    missing = len(entries) - len(kept)
    lines = {entry.name: _line(entry, 0) for entry in kept}
    for entry in kept if not missing else ():
        more = _line(entry, LEAST)
        cost = _size([more]) - sizes[entry.name]
        if cost > left:
            break
        left -= cost
        lines[entry.name] = more
    text = "\n".join(lines[name] for name in sorted(lines))
    if missing:
        text += f"\n({missing:,} more: ToolSearch finds them by words of what they are for.)"
    return Listing(text, missing)


def _common(entries: Sequence[Entry], room: int) -> int:
    """The length that all texts may have together."""
    left = room - _size([_line(e, LONGEST if e.whole else 0) for e in entries])
    texts = sorted(len(e.text.encode()) for e in entries if not e.whole and e.text)
    left -= 2 * len(texts)  # `: `
    for index, length in enumerate(texts):
        share = left // (len(texts) - index)
        if length > share:
            # Bytes as characters where a text has more than one for each: never too long.
            return share - 2
        left -= length
    return LONGEST


def _line(entry: Entry, longest: int) -> str:
    text = entry.text if entry.whole else cut(entry.text, longest)
    return f"- {entry.name}: {text}" if text else f"- {entry.name}"


def cut(text: str, longest: int) -> str:
    """So many bytes of it at most, ending in an ellipsis where something is missing."""
    if longest <= 0:
        return ""
    data = text.encode()
    if len(data) <= longest:
        return text
    return f"{data[: longest - 3].decode(errors='ignore').rstrip()}…"


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
