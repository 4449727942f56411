"""Puts the system prompt together: what never changes first, so that providers can cache it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

SECTIONS = ("identity", "conduct", "tools", "answers")
STYLES = ("default", "concise", "explanatory")


class PromptParts(msgspec.Struct, frozen=True, kw_only=True):
    """`own` are the sections of this session, in order; `replaced` takes the place of ours."""

    own: Sequence[str] = ()
    style: str = "default"
    replaced: str | None = None
    appended: str = ""


def system_prompt(parts: PromptParts) -> tuple[str, ...]:
    """Two blocks: everybody's, and this session's."""
    fixed = parts.replaced if parts.replaced is not None else standard()
    own = [style(parts.style), *parts.own, parts.appended]
    blocks = (fixed, "\n".join(part for part in own if part))
    return tuple(block for block in blocks if block)


def standard() -> str:
    return "\n".join(_text("sections", name) for name in SECTIONS)


def style(name: str) -> str:
    """What an output style adds; an unknown one adds nothing."""
    return _text("styles", name) if name in STYLES and name != "default" else ""


def _text(folder: str, name: str) -> str:
    return (Path(__file__).parent / folder / f"{name}.md").read_text(encoding="utf-8")
