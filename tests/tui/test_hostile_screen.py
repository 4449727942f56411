"""What is said about a place is what the running screen paints there, byte for byte."""

from __future__ import annotations

import re

import pytest
from rich.console import Console
from textual.strip import Strip

from gatewright.agent.record.events import Asked, Noticed, TextDelta, ToolFinished, ToolStarted
from gatewright.tools.blocks import Block, Command, Diff, Hunk, Output
from gatewright.tools.interact import Ask
from gatewright.tools.protocol import TextContent
from gatewright.tui.display import OPTIONS, display
from gatewright.tui.terminal.clipboard import part_of_answers
from tests.tui.stage import Stage, stage

TEXT = (
    "a\x1b[31mred\x1b]52;c;aGk=\x07 \u202egnp.exe\u202c z\u200bw [bold]x[/] \x9b2Jc "
    "\u0939\u093f\u0928\u094d\u0926\u0940 "
    "\u6f22\u5b57 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd Z" + "\u0334" * 9
)
SGR = re.compile(r"\x1b\[[0-9;]*m")


def painted(s: Stage) -> list[str]:
    """The rows of the screen as they are written to a terminal."""
    console = Console(color_system="truecolor", force_terminal=True, legacy_windows=False)
    strips = s.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return [written(strip, console) for strip in strips]


def written(strip: Strip, console: Console) -> str:
    return Strip(list(strip)).render(console)


def plain(rows: list[str]) -> list[str]:
    return [SGR.sub("", row).rstrip() for row in rows]


def in_order(wanted: list[str], rows: list[str]) -> bool:
    """Whether the wanted rows stand together, somewhere."""
    return any(rows[at : at + len(wanted)] == wanted for at in range(len(rows) - len(wanted) + 1))


async def compared(s: Stage, where: str, text: str) -> None:
    width = s.app.size.width
    output = display(where, [text], width=width).split("\n")
    await s.settled()
    rows = painted(s)
    assert in_order(plain(output), plain(rows)), "\n".join(plain(rows))
    colours = {code for row in output for code in SGR.findall(row)}
    assert colours <= {code for row in rows for code in SGR.findall(row)}


@pytest.mark.parametrize("size", [(100, 30), (60, 40)])
async def test_a_message_looks_on_the_screen_as_it_is_told(size: tuple[int, int]) -> None:
    text = f"{TEXT}\n\n- [docs](https://good.com@evil.com/) {TEXT}\n\n```py\nx = '\x1b[2J'\n```\n"
    async with stage(size=size) as s:
        for character in text:
            s.session.publish(TextDelta(text=character))
        await compared(s, "transcript", text)


async def test_a_notice_looks_as_it_is_told() -> None:
    async with stage(size=(100, 30)) as s:
        s.session.publish(Noticed(text=TEXT))
        await compared(s, "notice", TEXT)


@pytest.mark.parametrize("where", ["tool_output", "tool_title"])
async def test_a_call_looks_as_it_is_told(where: str) -> None:
    target = TEXT if where == "tool_title" else "x"
    view = (Output(TEXT),) if where == "tool_output" else ()
    async with stage(size=(100, 30)) as s:
        s.session.publish(ToolStarted("1", "Read", {}, verb="Read", target=target))
        s.session.publish(ToolFinished(call_id="1", content=(TextContent(""),), ok=True, view=view))
        await compared(s, where, TEXT)


@pytest.mark.parametrize("where", ["prompt_command", "prompt_title", "prompt_diff"])
async def test_a_question_looks_as_it_is_told(where: str) -> None:
    hunks = (Hunk(1, 1, (f"+{TEXT}",)),)
    body: dict[str, tuple[Block, ...]] = {
        "prompt_command": (Command(TEXT),),
        "prompt_diff": (Diff("file.py", hunks, 1, 0),),
    }
    title = TEXT if where == "prompt_title" else "Edit a file"
    async with stage(size=(100, 40)) as s:
        ask = Ask("permission", title, body.get(where, ()), OPTIONS)
        s.session.publish(Asked(id=1, ask=ask))
        await s.see("Yes, once")
        await compared(s, where, TEXT)


def test_what_is_copied_does_nothing_in_a_shell() -> None:
    text, told = part_of_answers(["a\x1b[201~\trm\n\u202eb"], "1")
    assert text == "a<U+001B>[201~\trm\n\u202eb"
    assert told.startswith("Copied")
