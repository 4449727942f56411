"""How a whole is parted: a bar of all parts together, then each part with its own.

The first one is true to the whole; the others are measured by the largest, so that they tell apart
what is small in it.
"""

from __future__ import annotations

import math

from gatewright.tools.blocks import Share, Shares, percent
from gatewright.tui import cells
from gatewright.tui.line import Line, Span, line
from gatewright.tui.sanitize import one_line

COLOURS = ("accent", "string", "number", "good", "warning", "keyword")
EMPTY = "faint"
LONGEST = 60  # cells of the bar of everything
LEAST = 8  # of the bar of a part; with less room there is none
_FULL, _PARTS, _LEFT = "█", " ▏▎▍▌▋▊▉", "░"


def draw(block: Shares, width: int) -> list[Line]:
    """Each part has a colour; what is not used has none."""
    whole = max(1, block.whole)
    names = max((cells.width(one_line(part.name)) for part in block.parts), default=0)
    amounts = [f"{part.amount:,}" for part in block.parts]
    numbers = max(map(len, amounts), default=0)
    names = min(names, max(8, width - numbers - 12))
    room = min(LONGEST, width - names - numbers - 14)
    roles = _roles(block)
    largest = max((part.amount for part in block.parts if not part.spare), default=0)
    rows = [_together(block, roles, min(LONGEST, width)), Line()]
    for part, amount, role in zip(block.parts, amounts, roles, strict=True):
        name = cells.pad(cells.fit(one_line(part.name), names), names)
        bar = _bar(part, max(1, largest), room) if room >= LEAST and not part.spare else ""
        dim = "dim" if part.spare else "text"
        rows.append(
            line(
                Span("■ ", role),
                Span(name, dim),
                Span(f"  {amount:>{numbers}}", dim),
                Span(f"  {percent(part.amount, whole):>6}", "dim"),
                Span(f"  {bar}" if bar else "", role),
            )
        )
    return rows


def _roles(block: Shares) -> list[str]:
    roles: list[str] = []
    for part in block.parts:
        roles.append(EMPTY if part.spare else COLOURS[len(roles) % len(COLOURS)])
    return roles


def _together(block: Shares, roles: list[str], width: int) -> Line:
    """As long as what is used, which is seen be it ever so small; parts share its cells."""
    used = [0 if part.spare else part.amount for part in block.parts]
    exact = [width * amount / max(1, block.whole) for amount in used]
    total = min(width, math.ceil(sum(exact)))
    sizes = [min(width, int(size)) for size in exact]
    rests = sorted(range(len(exact)), key=lambda n: exact[n] - int(exact[n]), reverse=True)
    for number in rests[: max(0, total - sum(sizes))]:
        sizes[number] += 1
    spans = [Span(_FULL * size, role) for size, role in zip(sizes, roles, strict=True)]
    spans.append(Span(_LEFT * max(0, width - sum(sizes)), EMPTY))
    return line(*(span for span in spans if span.text))


def _bar(part: Share, largest: int, width: int) -> str:
    eighths = min(8 * width, round(8 * width * part.amount / largest))
    full, rest = divmod(max(eighths, int(part.amount > 0)), 8)
    return _FULL * full + (_PARTS[rest] if rest else "")
