"""What was sent while a turn runs and waits for it, and what child agents do meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.tui import cells
from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.rows import Rows
from gatewright.tui.sanitize import one_line
from gatewright.tui.style.look import Look

SHOWN = 3


def queue_rows(texts: Sequence[str], width: int) -> list[Line]:
    shown = [
        line(Span("↳ ", "faint"), Span(cells.fit(one_line(text), width - 2), "dim"))
        for text in texts[:SHOWN]
    ]
    if len(texts) > SHOWN:
        shown.append(line(Span(f"  and {len(texts) - SHOWN} more waiting", "faint")))
    return shown


def agent_rows(agents: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Name and what it does now, for each."""
    return [
        clip(
            line(
                Span("◇ ", "accent"),
                Span(cells.fit(one_line(name), width // 2), "dim"),
                Span("  " + one_line(doing), "faint"),
            ),
            width,
        )
        for name, doing in agents[:SHOWN]
    ]


class Queue(Rows):
    """Waiting inputs, oldest first."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.texts: tuple[str, ...] = ()

    def show(self, texts: tuple[str, ...]) -> None:
        if texts != self.texts:
            self.texts = texts
            self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        return queue_rows(self.texts, width)


class Agents(Rows):
    """One row per running child agent."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.agents: tuple[tuple[str, str], ...] = ()

    def show(self, agents: tuple[tuple[str, str], ...]) -> None:
        if agents != self.agents:
            self.agents = agents
            self.refresh_rows()

    def rows(self, width: int) -> list[Line]:
        return agent_rows(self.agents, width)
