"""How a whole is parted, as bars: one of all parts together, then each part with its own."""

from __future__ import annotations

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
    room = min(LONGEST, width - names - numbers - 12)
    roles = _roles(block)
    rows = [_together(block, roles, min(LONGEST, width)), Line()]
    for part, amount, role in zip(block.parts, amounts, roles, strict=True):
        name = cells.pad(cells.fit(one_line(part.name), names), names)
        bar = _bar(part, whole, room) if room >= LEAST else ""
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
    """Every used part is seen, be it ever so small."""
    whole = max(1, block.whole)
    sizes = [0 if part.spare else round(width * part.amount / whole) for part in block.parts]
    sizes = [max(size, _some(part)) for size, part in zip(sizes, block.parts, strict=True)]
    spans = [Span(_FULL * size, role) for size, role in zip(sizes, roles, strict=True)]
    spans.append(Span(_LEFT * max(0, width - sum(sizes)), EMPTY))
    return line(*(span for span in spans if span.text))


def _some(part: Share) -> int:
    return int(part.amount > 0 and not part.spare)


def _bar(part: Share, whole: int, width: int) -> str:
    eighths = round(8 * width * part.amount / whole)
    if part.spare:
        return _LEFT * (eighths // 8)
    full, rest = divmod(max(eighths, int(part.amount > 0)), 8)
    return _FULL * full + (_PARTS[rest] if rest else "")
