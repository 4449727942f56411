"""What an agent is told before its task. Two of one kind and one model are told the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.agents.life import Life

SHOWN = 20


def system_prompt(kind: AgentKind, surroundings: Sequence[str]) -> tuple[str, ...]:
    """Its own prompt with the ways of working that all keep, then what is true of this session."""
    own = f"{kind.prompt.strip()}\n\n{_ways()}".strip()
    around = "\n".join(part for part in surroundings if part)
    return (own, around) if around else (own,)


def _ways() -> str:
    path = Path(__file__).parent / "prompts" / "ways.md"
    return path.read_text(encoding="utf-8").strip()


def siblings(life: Life, living: Iterable[Life]) -> str:
    """Whom it may write to, where it has a name of its own; empty where there is nobody."""
    if not life.order.name:
        return ""
    others = [
        f"- {each.order.name}: {each.order.kind.name}, {in_line(each.order.description)}"
        for each in living
        if each is not life and each.order.name and each.order.parent == life.order.parent
    ]
    if not others:
        return ""
    listed = "\n".join(others[:SHOWN])
    return (
        f"Notice of this program: you are {life.order.name}. SendMessage reaches main, and these "
        f"agents that work beside you:\n{listed}"
    )
