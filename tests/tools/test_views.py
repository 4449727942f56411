"""What people see of each tool: asked, on the screen, and as text; compared with stored pictures.

`UPDATE_SNAPSHOTS=1 pytest tests/tools/test_views.py` writes them anew; look at the difference
before committing it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from gatewright.agent.frontends.sentences import Spoken
from gatewright.agent.record.events import Envelope, ToolFinished, ToolStarted
from gatewright.tools import blocks
from gatewright.tools.blocks import Block, Unknown, plain
from gatewright.tools.calls import Facts
from gatewright.tools.protocol import ToolCall, ToolResult
from gatewright.tools.registry import TOOLS
from gatewright.tui.blocks.registry import DRAW, draw, draw_all
from gatewright.tui.line import Line
from gatewright.tui.transcript.draw import chunks_of
from gatewright.tui.transcript.items import ToolRun
from tests.fakes.executor import executed
from tests.fakes.toolbox import Toolbox, text
from tests.tools.scenery import CALLS, scenery

FOLDER = Path(__file__).with_name("views")
WIDTH = 80


@pytest.mark.parametrize("name", TOOLS)
async def test_what_people_see(box: Toolbox, name: str) -> None:
    async with scenery(box, name) as input:
        call = ToolCall("1", name, input)
        prepared = await box.executor.prepare(call, box.ctx.where)
        facts = prepared.facts
        asked = (await box.executor.foresee(prepared, box.ctx)).view or facts.view
        result = await executed(box.executor, call, box.ctx)
    assert result.ok or name == "Bash", text(result)
    seen = picture(call, facts, asked, result).replace(str(box.root), "/project")
    compare(name, re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", seen))


def picture(call: ToolCall, facts: Facts, asked: tuple[Block, ...], result: ToolResult) -> str:
    run = ToolRun(1, call.id, call.name, facts.verb, facts.target, before=facts.view)
    ended = ToolRun(
        1,
        call.id,
        call.name,
        facts.verb,
        facts.target,
        "ok" if result.ok else "failed",
        result.summary,
        before=facts.view,
        view=result.view,
        text="" if result.view else text(result),
    )
    parts = {
        "the question": rows(draw_all(asked, WIDTH)),
        "the question as text": "\n".join(plain(block) for block in asked),
        "on the screen, running": shown(run),
        "on the screen, ended": shown(ended),
        "on the screen, opened": shown(ended, expanded=True),
        "line by line": spoken(call, facts, result),
        "the result as text": "\n".join(plain(block) for block in result.view),
    }
    return "".join(f"=== {title}\n{body}\n" for title, body in parts.items() if body)


def rows(lines: Sequence[Line]) -> str:
    assert all(line.width <= WIDTH for line in lines)
    return "\n".join(line.plain.rstrip() for line in lines)


def shown(item: ToolRun, *, expanded: bool = False) -> str:
    chunks = chunks_of(item, expanded=expanded)
    return "\n".join(rows(chunk.rows(WIDTH)) for chunk in chunks)


def spoken(call: ToolCall, facts: Facts, result: ToolResult) -> str:
    started = ToolStarted(
        call_id=call.id,
        name=call.name,
        input=call.input,
        verb=facts.verb,
        target=facts.target,
        view=facts.view,
    )
    finished = ToolFinished(
        call_id=call.id,
        ok=result.ok,
        content=result.content,
        view=result.view,
        data=result.data,
        summary=result.summary,
        ms=0,
    )
    speaker = Spoken()
    events = (started, finished)
    said = [
        speaker.text(Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent="main", event=event))
        for event in events
    ]
    return "".join(said).rstrip("\n")


def compare(name: str, now: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(now, encoding="utf-8")
        return
    assert path.exists(), f"no picture {path.name}: set UPDATE_SNAPSHOTS=1 to write it"
    assert now == path.read_text(encoding="utf-8"), "UPDATE_SNAPSHOTS=1 writes it anew"


def test_every_tool_has_its_picture_and_no_other() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(TOOLS) == set(CALLS)


@pytest.mark.parametrize("name", TOOLS)
async def test_a_failure_is_seen(box: Toolbox, name: str) -> None:
    result = await box.call(name, nonsense=1, file_path=3, command="", path=7, todos=8)
    if not result.ok:
        assert plain(result.view[0]).startswith((f"{name} was not run, its input is wrong:", "The"))


def test_a_block_nobody_knows_still_prints() -> None:
    block = Unknown("chart", {"bars": [1, 2]})
    assert plain(block) == '[chart] {"bars":[1,2]}'
    assert rows(draw(block, WIDTH)) == '[chart] {"bars":[1,2]}'


def test_every_kind_of_block_has_its_drawing() -> None:
    assert {*DRAW, Unknown} == set(get_args(blocks.Block))
