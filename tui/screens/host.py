"""What the screen may ask of the program around it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from gatewright.tui.prompt.desk import FileSource
from gatewright.tui.prompt.editor import Edited


class Host(FileSource, Protocol):
    """Things beyond one screen: themes, clipboard, the terminal lent to an editor."""

    def use_theme(self, name: str, *, keep: bool) -> None: ...
    def copy(self, text: str) -> None: ...
    def edit(self, text: str, done: Callable[[Edited], None]) -> None:
        """Let the person edit a text; returns at once."""
        ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the background; a defect in it is told."""
        ...

    def call_by(self, ways: bool | str) -> None:
        """How to call the person when a question waits, as the setting says it."""
        ...

    def folder(self) -> Path: ...
