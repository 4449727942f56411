"""Searching what was sent before: of this project, of this session, of all projects."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gatewright.tui.picker import Picking
from gatewright.tui.prompt.box import Box
from gatewright.tui.prompt.history import Sent
from gatewright.tui.prompt.menu import Choice

SCOPES = ("project", "session", "all")
SHOWN = 1000  # characters that are listed and searched


def history_search(box: Box) -> Picking:
    """A list in which moving shows the entry in the prompt, and Escape brings the draft back."""
    history, draft = box.history_, box.text
    choices = [
        *_choices("project", (Sent(text) for text in reversed(history.entries()))),
        *_choices("session", (Sent(text) for text in reversed(history.of_session()))),
        *_choices("all", history.of_all()),
    ]

    def show(choice: Choice) -> None:
        box.put(choice.insert.partition(" ")[2])

    return Picking(
        "Sent before",
        choices,
        pick=show,
        preview=show,
        cancel=lambda: box.put(draft),
        tabs=SCOPES,
    )


def _choices(scope: str, entries: Iterable[Sent]) -> Iterable[Choice]:
    """Each text once, where it was sent last."""
    seen: set[str] = set()
    for sent in entries:
        if sent.text not in seen:
            seen.add(sent.text)
            place = Path(sent.project).name if sent.project else ""
            shown = " ".join(sent.text[:SHOWN].split())
            yield Choice(f"{scope} {sent.text}", shown, source=place)
