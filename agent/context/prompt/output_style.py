"""What an output style is, and those that are built in: how answers are written."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gatewright.agent.agents.kind import Origin

DEFAULT = "default"
# What each is for; its text is the file of its name in `styles/`.
BUILT_IN = {
    DEFAULT: "Short and direct: the result, what it rests on, what is left",
    "concise": "As few words as the matter allows",
    "explanatory": "Explains the choices behind each change",
    "learning": "You write the parts worth learning; it prepares them and looks at yours",
    "proactive": "Carries a task through to the end without stopping to ask",
}


class OutputStyle(msgspec.Struct, frozen=True, kw_only=True):
    """`coding`: our sections on conduct and tools stay beside it. `offered` by its plugin first."""

    name: str
    description: str = ""
    text: str = ""
    coding: bool = True
    origin: Origin = "builtin"
    path: Path | None = None
    offered: bool = False

    def section(self) -> str:
        """For the system prompt; empty where nothing is added."""
        return f"# Style: {self.name}\n\n{self.text.strip()}\n" if self.text.strip() else ""


NO_STYLE = OutputStyle(name=DEFAULT, description=BUILT_IN[DEFAULT])


def built_in(name: str) -> OutputStyle | None:
    folded = name.strip().casefold()
    if folded == DEFAULT:
        return NO_STYLE
    if folded not in BUILT_IN:
        return None
    path = Path(__file__).parent / "styles" / f"{folded}.md"
    text = path.read_text(encoding="utf-8")
    return OutputStyle(name=folded, description=BUILT_IN[folded], text=text)
