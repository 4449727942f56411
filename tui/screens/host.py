"""What the screen may ask of the program around it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from gatewright.tui.prompt.desk import FileSource


class Host(FileSource, Protocol):
    """Things beyond one screen: themes, clipboard, the terminal lent to an editor."""

    def use_theme(self, name: str, *, keep: bool) -> None: ...
    def copy(self, text: str) -> None: ...
    def edit(self, text: str) -> str | None:
        """The text after the person edited it; None when that was not possible."""
        ...

    def folder(self) -> Path: ...
