"""What a model is told of the kinds of agents there are: short, and the same bytes for the same."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.agents.kind import AgentKind

SHARE = 100  # of the window, one part is the list's
PER_TOKEN = 4  # characters
USUAL_WINDOW = 200_000
LEAST = 60  # characters of a description that still says something
SPACES = 2  # lines are joined by one, and begin with a dash


def listed(kinds: Sequence[AgentKind], window: int = 0) -> str:
    """A line for each, by name; where that is too much, equally shortened, then names alone."""
    room = (window or USUAL_WINDOW) * PER_TOKEN // SHARE
    kinds = sorted(kinds, key=lambda kind: kind.name)
    texts = [_said(kind) for kind in kinds]
    whole = _lines(kinds, texts)
    if len(whole) <= room:
        return whole
    longest = _longest(kinds, texts, room)
    if longest >= LEAST:
        return _lines(kinds, [_cut(text, longest) for text in texts])
    names: list[str] = []
    for kind in kinds:
        if sum(map(len, names)) + SPACES * len(names) + len(kind.name) > room - LEAST:
            break
        names.append(kind.name)
    more = len(kinds) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def changes(before: Sequence[AgentKind], now: Sequence[AgentKind], window: int = 0) -> str:
    """What a model that was told of `before` has to know; empty where that is nothing."""
    was = {kind.name: _said(kind) for kind in before}
    new = [kind for kind in now if was.get(kind.name) != _said(kind)]
    gone = sorted(was.keys() - {kind.name for kind in now})
    told: list[str] = []
    if new:
        told.append(f"These types of agents can be started now as well:\n{listed(new, window)}")
    if gone:
        told.append(f"These types are gone: {', '.join(gone[:100])}.")
    return f"Notice of this program: {' '.join(told)}" if told else ""


def _lines(kinds: Sequence[AgentKind], texts: Sequence[str]) -> str:
    both = zip(kinds, texts, strict=True)
    return "\n".join(f"- {kind.name}: {text}" if text else f"- {kind.name}" for kind, text in both)


def _said(kind: AgentKind) -> str:
    told = kind.tools is None or kind.origin == "builtin"  # whose words say it
    tools = "" if told else f" (tools: {', '.join(kind.tools or ()) or 'none'})"
    whose = "" if kind.trusted else " (of this project, which is not trusted)"
    return f"{kind.description}{tools}{whose}".strip()


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def _longest(kinds: Sequence[AgentKind], texts: Sequence[str], room: int) -> int:
    """The length that all may have together."""
    left = room - sum(len(kind.name) + SPACES + 3 for kind in kinds)
    lengths = sorted(map(len, texts))
    for index, length in enumerate(lengths):
        share = left // (len(lengths) - index)
        if length > share:
            return share
        left -= length
    return max(lengths, default=0)
