"""Plain text in one tone."""

from __future__ import annotations

from gatewright.tools.blocks import Text, Tone
from gatewright.tui.line import Line, flow
from gatewright.tui.sanitize import visible

TONES: dict[Tone, str] = {
    "normal": "text",
    "dim": "dim",
    "good": "good",
    "warning": "warning",
    "error": "error",
}


def draw(block: Text, width: int) -> list[Line]:
    return flow(visible(block.text), width, TONES[block.tone])
