"""Puts the system prompt together: what never changes first, so that providers can cache it."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.prompt import memory
from gatewright.agent.prompt.environment import Environment

SECTIONS = ("identity", "conduct", "tools")


def system_prompt(
    environment: Environment,
    files: tuple[memory.MemoryFile, ...],
    *,
    replaced: str | None = None,
    appended: str = "",
) -> tuple[str, ...]:
    """Two blocks: everybody's, and this session's. `replaced` takes the place of the first."""
    fixed = replaced if replaced is not None else standard()
    own = [environment.section(), memory.section(files), appended]
    return tuple(block for block in (fixed, "\n".join(part for part in own if part)) if block)


def standard() -> str:
    folder = Path(__file__).parent / "sections"
    texts = [(folder / f"{name}.md").read_text(encoding="utf-8") for name in SECTIONS]
    return "\n".join(texts)
