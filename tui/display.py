"""What reaches the terminal for a text at a place, by the code of the screen itself.

Pure: for checking hostile text without a terminal. Rows are parted by newlines and carry the
theme's colours; nothing else in the answer can move the cursor or change the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import Console

from gatewright.tools.blocks import Command, Output, Text
from gatewright.tools.interact import Ask, Option
from gatewright.tui.ask.question import Marks, draw_question
from gatewright.tui.blocks.pieces import Cutter
from gatewright.tui.line import Line
from gatewright.tui.look import Look
from gatewright.tui.notify import notification_sequence, title_sequence
from gatewright.tui.prompt.menu import Choice, choice_row
from gatewright.tui.sanitize import Stripper
from gatewright.tui.state import MAIN, Pending, View
from gatewright.tui.status import status_row
from gatewright.tui.transcript.draw import chunks_of, piece_chunk
from gatewright.tui.transcript.items import Item, Note, Said, Thought, ToolRun
from gatewright.tui.waiting import queue_rows

WIDTH = 100
OPTIONS = (Option("once", "Yes, once", "y"), Option("no", "No", "n"))

Draw = Callable[[Sequence[str], int], list[Line]]


def _item(item: Item, width: int, *, expanded: bool = False) -> list[Line]:
    return [row for chunk in chunks_of(item, expanded=expanded) for row in chunk.rows(width)]


def _ask(width: int, *, title: str = "", body: str = "", reason: str = "") -> list[Line]:
    blocks = (Command(body),) if body else ()
    ask = Ask("permission", title or "Run", blocks, OPTIONS, reason)
    return draw_question(Pending(1, ask, MAIN), Marks(), width, 10_000)[0]


def _streamed(chunks: Sequence[str], width: int) -> list[Line]:
    """A message as it arrives: cut while it streams, drawn from its pieces."""
    cutter = Cutter()
    frozen = [piece for chunk in chunks for piece in cutter.feed(chunk)]
    pieces = [*frozen, *cutter.live()]
    return [row for n, piece in enumerate(pieces) for row in piece_chunk(piece, n).rows(width)]


def _output(chunks: Sequence[str], width: int) -> list[Line]:
    """Output of a command: sequences are removed across the borders of chunks."""
    stripper = Stripper()
    text = "".join(stripper.feed(chunk) for chunk in chunks)
    run = ToolRun(0, "", "Bash", "Run", "", state="ok", view=(Output(text),))
    return _item(run, width, expanded=True)[1:]


def _tool(chunks: Sequence[str], width: int) -> list[Line]:
    return _item(ToolRun(0, "", "Read", "Read", "".join(chunks), state="ok"), width)


def _result(chunks: Sequence[str], width: int) -> list[Line]:
    view = (Text("".join(chunks)),)
    return _item(ToolRun(0, "", "Call", "Call", "", state="ok", view=view), width, expanded=True)


PLACES: Mapping[str, Draw] = {
    "prompt_command": lambda chunks, width: _ask(width, body="".join(chunks)),
    "prompt_title": lambda chunks, width: _ask(width, title="".join(chunks)),
    "prompt_reason": lambda chunks, width: _ask(width, reason="".join(chunks)),
    "transcript": _streamed,
    "tool_output": _output,
    "tool_title": _tool,
    "tool_result": _result,
    "user": lambda chunks, width: _item(Said(0, "".join(chunks)), width),
    "thinking": lambda chunks, width: _item(
        Thought(0, "".join(chunks), done=True), width, expanded=True
    ),
    "notice": lambda chunks, width: _item(Note(0, "".join(chunks)), width),
    "error": lambda chunks, width: _item(Note(0, "".join(chunks), "error"), width),
    "status": lambda chunks, width: [
        status_row(View(mode="default", model="".join(chunks)), width)
    ],
    "queue": lambda chunks, width: queue_rows(("".join(chunks),), width),
    "menu": lambda chunks, width: [
        choice_row(Choice("", "".join(chunks)), width // 2, width, selected=False)
    ],
    "file_name": lambda chunks, width: [
        choice_row(Choice("", "".join(chunks)), width // 2, width, selected=False)
    ],
}
SEQUENCES: Mapping[str, Callable[[str], str]] = {
    "title": title_sequence,
    "notification": lambda text: notification_sequence("agent", text),
}


def display(where: str, chunks: Sequence[str], *, width: int = WIDTH, theme: str = "dark") -> str:
    """The bytes for a text that came in these chunks. Raises ValueError for an unknown place."""
    if where in SEQUENCES:
        return SEQUENCES[where]("".join(chunks))
    draw = PLACES.get(where)
    if draw is None:
        raise ValueError(f"There is no place {where}: {', '.join([*PLACES, *SEQUENCES])}.")
    look = Look(theme)
    console = Console(color_system="truecolor", force_terminal=True, legacy_windows=False)
    return "\n".join(look.strip(row, width).render(console) for row in draw(chunks, width - 2))
