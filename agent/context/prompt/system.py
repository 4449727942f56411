"""Puts the system prompt together: what never changes first, so that providers can cache it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent.context.prompt.output_style import NO_STYLE, OutputStyle

SECTIONS = ("identity", "conduct", "care", "tools", "answers")
CODING = ("conduct", "tools")  # what a style of another kind of work does without


class PromptParts(msgspec.Struct, frozen=True, kw_only=True):
    """`own` are the sections of this session, in order; `replaced` takes the place of ours."""

    own: Sequence[str] = ()
    style: OutputStyle = NO_STYLE
    replaced: str | None = None
    appended: str = ""


def system_prompt(parts: PromptParts) -> tuple[str, ...]:
    """Two blocks: everybody's, and this session's."""
    fixed = standard(coding=parts.style.coding) if parts.replaced is None else parts.replaced
    own = [parts.style.section(), *parts.own, parts.appended]
    blocks = (fixed, "\n".join(part for part in own if part))
    return tuple(block for block in blocks if block)


def standard(*, coding: bool = True) -> str:
    return "\n".join(_section(name) for name in SECTIONS if coding or name not in CODING)


def _section(name: str) -> str:
    return (Path(__file__).parent / "sections" / f"{name}.md").read_text(encoding="utf-8")
