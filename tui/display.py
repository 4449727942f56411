"""What reaches the terminal for a text at a place, by the code of the screen itself.

Pure: for checking hostile text without a terminal. Rows are parted by newlines and carry the
theme's colours; nothing else in the answer can move the cursor or change the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from rich.console import Console

from gatewright.tools.access import MAIN
from gatewright.tools.blocks import (
    Block,
    Code,
    Command,
    Diff,
    Hunk,
    Image,
    Markdown,
    Output,
    Table,
    Text,
    Todo,
    TodoItem,
    Unknown,
)
from gatewright.tools.interact import Ask, AskKind, Option
from gatewright.tui.agents.known import AgentRow
from gatewright.tui.agents.strip_rows import strip_rows
from gatewright.tui.ask.question import Laid, Marks
from gatewright.tui.blocks.pieces import Cutter
from gatewright.tui.line import Line, clip
from gatewright.tui.prompt.menu import Choice, choice_row
from gatewright.tui.rows import Rows
from gatewright.tui.sessions.farewell import farewell
from gatewright.tui.state import Pending, View
from gatewright.tui.status.status import OWN_ROWS, own_row, status_row
from gatewright.tui.status.waiting import queue_rows
from gatewright.tui.style.look import Look
from gatewright.tui.terminal.notify import notification_sequence, title_sequence
from gatewright.tui.terminal.sgr import lines
from gatewright.tui.transcript.draw import chunks_of, piece_chunk
from gatewright.tui.transcript.items import (
    AgentBlock,
    Item,
    Note,
    Prose,
    Said,
    Shown,
    Thought,
    ToolRun,
)

WIDTH = 100
ROOM = 100_000  # rows a question may take: nothing of it is scrolled away
OPTIONS = (Option("once", "Yes, once", "y"), Option("no", "No", "n"))

Draw = Callable[[str, int], list[Line]]


def _item(item: Item, width: int, *, expanded: bool = False) -> list[Line]:
    return [row for chunk in chunks_of(item, expanded=expanded) for row in chunk.rows(width)]


def _block(make: Callable[[str], Block]) -> Draw:
    """A block of a tool's result, opened; its head, which holds nothing of it, is left out."""

    def draw(text: str, width: int) -> list[Line]:
        run = ToolRun(0, "", "Tool", "Tool", "", state="ok", view=(make(text),))
        return _item(run, width, expanded=True)[1:]

    return draw


def _run(field: str) -> Draw:
    """A text in the head of a call, or in the few rows below it."""

    def draw(text: str, width: int) -> list[Line]:
        state = "running" if field == "tail" else "ok"
        facts = {"call_id": "", "name": "Read", "verb": "Read", "target": "", "state": state}
        return _item(ToolRun(id=0, **{**facts, field: text}), width)  # type: ignore[arg-type]

    return draw


def _asked(kind: AskKind, ask: Callable[[str], dict[str, object]]) -> Draw:
    """A question; `ask` says which of its parts the text is."""

    def draw(text: str, width: int) -> list[Line]:
        parts = {"title": "Edit a file", "body": (), "options": OPTIONS, **ask(text)}
        agent = str(parts.pop("agent", MAIN))
        whole = Ask(kind=kind, **parts)  # type: ignore[arg-type]
        return Laid(Pending(1, whole, agent), width).draw(Marks(), ROOM)[0]

    return draw


def _asked_about(make: Callable[[str], Block]) -> Draw:
    return _asked("permission", lambda text: {"body": (make(text),)})


def _note(tone: str) -> Draw:
    return lambda text, width: _item(Note(0, text, tone), width)  # type: ignore[arg-type]


def _choice(field: str) -> Draw:
    """A row of a menu or of a list to pick from."""

    def draw(text: str, width: int) -> list[Line]:
        facts: dict[str, Any] = {"insert": "", "label": "x", field: text}
        return [choice_row(Choice(**facts), width // 2, width, selected=False)]

    return draw


def _diff(text: str) -> Diff:
    return Diff("file.py", (Hunk(1, 1, tuple(f"+{row}" for row in text.split("\n"))),), 1, 0)


def _status(view: Callable[[str], View]) -> Draw:
    return lambda text, width: [status_row(view(text), width)]


def _own_status(text: str, width: int) -> list[Line]:
    """What the person's own command printed for the last line."""
    view, made = View(mode="default"), lines(text, OWN_ROWS)
    if not made:
        return [status_row(view, width)]
    return [own_row(view, width, made[0]), *(clip(row, width) for row in made[1:])]


def _agent(field: str) -> Draw:
    """A row of the strip."""

    def draw(text: str, width: int) -> list[Line]:
        facts = {"name": "explore", "task": "look", "doing": "Read x", field: text}
        row = AgentRow(path="main/a1", **facts)  # type: ignore[arg-type]
        return strip_rows((row,), frozenset(), 0.0, width)

    return draw


def _report(text: str, width: int) -> list[Line]:
    block = AgentBlock(
        id=0, path="main/a1", label=text, task=text, state="done", prompt=text, report=text
    )
    return _item(block, width, expanded=True)


def _option(text: str) -> dict[str, object]:
    return {"title": "Which one?", "options": (Option("a", text, "1", text),)}


_TRANSCRIPT: Mapping[str, Draw] = {
    "user": lambda text, width: _item(Said(0, text), width, expanded=True),
    "thinking": lambda text, width: _item(Thought(0, text, done=True), width, expanded=True),
    "notice": _note("normal"),
    "warning": _note("warning"),
    "error": _note("error"),
    "command_title": lambda text, width: _item(Shown(0, text, ()), width),
    "command_output": lambda text, width: _item(Shown(0, "", (Text(text),)), width),
    "tool_output": _block(Output),
    "tool_progress": _run("tail"),
    "tool_name": _run("verb"),
    "tool_title": _run("target"),
    "tool_summary": _run("summary"),
    "tool_result": _block(Text),
    "markdown": _block(Markdown),
    "code": _block(lambda text: Code(text, "python")),
    "command": _block(Command),
    "diff": _block(_diff),
    "diff_path": lambda text, width: _item(
        ToolRun(0, "", "Edit", "Edit", text, state="ok", view=(Diff(text, (), 0, 0),)), width
    ),
    "table": _block(lambda text: Table(("Name", text), ((text, "x"),))),
    "todo": _block(lambda text: Todo((TodoItem(text),))),
    "image": _block(lambda text: Image("image/png", text, text)),
    "unknown_block": _block(lambda text: Unknown("new", {"text": text})),
    "queue": lambda text, width: queue_rows((text,), width),
    "agent_name": _agent("name"),
    "agent_task": _agent("task"),
    "agent_doing": _agent("doing"),
    "agent_report": _report,
    "menu": _choice("label"),
    "menu_detail": _choice("detail"),
    "menu_source": _choice("source"),
    "file_name": _choice("label"),
    "status": _status(lambda text: View(mode="default", model=text)),
    "status_command": _own_status,
    "branch": lambda text, width: [status_row(View(mode="default"), width, branch=text)],
}
_QUESTIONS: Mapping[str, Draw] = {
    "prompt_command": _asked_about(Command),
    "prompt_cwd": _asked_about(lambda text: Command("ls", cwd=text)),
    "prompt_title": _asked("permission", lambda text: {"title": text}),
    "prompt_reason": _asked("permission", lambda text: {"reason": text}),
    "prompt_text": _asked_about(Text),
    "prompt_code": _asked_about(lambda text: Code(text, "python")),
    "prompt_diff": _asked_about(_diff),
    "prompt_file": _asked(
        "permission", lambda text: {"title": f"Edit {text}", "body": (Diff(text, (), 0, 0),)}
    ),
    "prompt_agent": _asked("permission", lambda text: {"agent": text}),
    "prompt_option": _asked("question", _option),
    "question": _asked("question", lambda text: {"title": text}),
    "plan": _asked("plan", lambda text: {"title": "The plan", "body": (Markdown(text),)}),
    "trust": _asked("trust", lambda text: {"title": "Do you trust it?", "body": (Text(text),)}),
}
PLACES: Mapping[str, Draw] = {**_TRANSCRIPT, **_QUESTIONS}
STREAMED = "transcript"
SEQUENCES: Mapping[str, Callable[[str], str]] = {
    "title": title_sequence,
    "notification": lambda text: notification_sequence("agent", text),
    "notification_title": lambda text: notification_sequence(text, "waits for you"),
    "farewell": lambda text: farewell((Said(1, text), Prose(2, text)), "id").rstrip("\n"),
}
OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("assistant", "message", "model", "model_text", "text", "stream"), STREAMED),
    **dict.fromkeys(("prose", "answer", "response", "assistant_text", "link"), STREAMED),
    **dict.fromkeys(("prompt", "permission", "permission_command", "bash"), "prompt_command"),
    **dict.fromkeys(("permission_prompt", "shell_command"), "prompt_command"),
    **dict.fromkeys(("permission_title", "dialog_title", "prompt_url"), "prompt_title"),
    **dict.fromkeys(("permission_reason", "prompt_rule", "rule", "dialog"), "prompt_reason"),
    **dict.fromkeys(("prompt_body", "prompt_detail", "prompt_input", "mcp_prompt"), "prompt_text"),
    **dict.fromkeys(("permission_diff", "prompt_edit"), "prompt_diff"),
    **dict.fromkeys(("prompt_path", "prompt_file_name", "prompt_filename"), "prompt_file"),
    **dict.fromkeys(("prompt_question", "question_title"), "question"),
    **dict.fromkeys(("option", "question_option", "prompt_label"), "prompt_option"),
    **dict.fromkeys(("prompt_plan", "plan_body"), "plan"),
    **dict.fromkeys(("tool", "tool_target", "tool_head", "tool_call", "tool_args"), "tool_title"),
    **dict.fromkeys(("mcp_tool", "mcp_tool_name", "tool_verb"), "tool_name"),
    **dict.fromkeys(("output", "bash_output", "shell_output", "stdout", "stderr"), "tool_output"),
    **dict.fromkeys(("shell", "command_stdout", "tool_stdout"), "tool_output"),
    **dict.fromkeys(("mcp", "mcp_result", "tool_text", "result", "tool_body"), "tool_result"),
    **dict.fromkeys(("tool_tail", "progress"), "tool_progress"),
    **dict.fromkeys(("user_message", "user_text", "user_prompt", "said", "input"), "user"),
    **dict.fromkeys(("thought", "reasoning", "thinking_text"), "thinking"),
    **dict.fromkeys(("note", "info", "hook", "hook_message", "system"), "notice"),
    **dict.fromkeys(("error_message", "tool_error", "api_error"), "error"),
    **dict.fromkeys(("code_block", "fence", "file_content", "file", "highlight"), "code"),
    **dict.fromkeys(("diff_line", "diff_body", "patch"), "diff"),
    **dict.fromkeys(("table_cell", "cell"), "table"),
    **dict.fromkeys(("todo_item", "todos", "task"), "todo"),
    **dict.fromkeys(("image_alt", "attachment"), "image"),
    **dict.fromkeys(("queued", "queued_message"), "queue"),
    **dict.fromkeys(("agent", "subagent"), "agent_name"),
    **dict.fromkeys(("picker", "session_title", "session", "resume", "rewind"), "menu"),
    **dict.fromkeys(("completion", "command_name", "model_name", "list"), "menu"),
    **dict.fromkeys(("description", "skill", "skill_description"), "menu_detail"),
    **dict.fromkeys(("filename", "path", "file_path", "file_menu", "mention"), "file_name"),
    **dict.fromkeys(("status_model", "footer"), "status"),
    **dict.fromkeys(("status_line", "statusline", "status_output"), "status_command"),
    **dict.fromkeys(("branch_name", "git_branch", "status_branch"), "branch"),
    **dict.fromkeys(("terminal_title", "window_title", "tab_title"), "title"),
    **dict.fromkeys(("notify", "notification_body", "desktop_notification"), "notification"),
    **dict.fromkeys(("exit", "goodbye", "on_exit"), "farewell"),
}


def _streamed(chunks: Sequence[str], width: int) -> list[Line]:
    """A message as it arrives: cut while it streams, drawn from its pieces."""
    cutter = Cutter()
    frozen = [piece for chunk in chunks for piece in cutter.feed(chunk)]
    pieces = [*frozen, *cutter.live()]
    return [row for n, piece in enumerate(pieces) for row in piece_chunk(piece, n).rows(width)]


@lru_cache(maxsize=8)
def _look(theme: str) -> Look:
    look = Look(theme)
    if look.palette.name != theme:
        raise ValueError(f"There is no theme {theme}: {', '.join(look.palettes)}.")
    return look


@lru_cache(maxsize=1)
def _console() -> Console:
    return Console(color_system="truecolor", force_terminal=True, legacy_windows=False)


def display(where: str, chunks: Sequence[str], *, width: int = WIDTH, theme: str = "dark") -> str:
    """The bytes for a text that came in these chunks. Raises ValueError for an unknown place."""
    place = where.strip().lower().replace("-", "_").replace(" ", "_")
    place = OTHER_NAMES.get(place, place)
    if place in SEQUENCES:
        return SEQUENCES[place]("".join(chunks))
    inner = width - 2 * Rows.SIDE
    if place == STREAMED:
        rows = _streamed(chunks, inner)
    elif place in PLACES:
        rows = PLACES[place]("".join(chunks), inner)
    else:
        known = ", ".join((STREAMED, *PLACES, *SEQUENCES))
        raise ValueError(f"There is no place {where}: {known}.")
    back = "surface" if place in _QUESTIONS else "background"
    strip = partial(_look(theme).strip, width=width, side=Rows.SIDE, back=back)
    return "\n".join(strip(row).render(_console()) for row in rows)
