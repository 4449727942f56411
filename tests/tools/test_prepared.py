"""A call is read and described once, and what was described is what runs."""

from __future__ import annotations

import base64
import math
import time
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Image
from gatewright.tools.executor import RawExecutor
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    ImageContent,
    JsonObject,
    Part,
    Progress,
    RawFile,
    RawImage,
    TextContent,
    ToolCall,
    ToolContext,
    ToolResult,
)
from tests.fakes.executor import executed
from tests.fakes.toolbox import OneTool, Toolbox, text
from tests.fakes.waiting import eventually
from tests.tools.test_read import DOT


# The smallest tool; that it stays under 15 lines is the point.
class Word(msgspec.Struct):
    word: str = "x"


class Echo(StructTool[Word]):
    name = "Echo"
    input = Word

    async def run(self, input: Word, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield ToolResult.text(input.word)


async def test_the_smallest_tool_is_a_name_an_input_and_what_it_does(box: Toolbox) -> None:
    box = Toolbox(box.root, Echo())
    assert await box.said("Echo", word="hello") == "hello"
    facts = await box.facts("Echo")
    assert (facts.verb, facts.target, facts.access, facts.row) == ("Echo", "", Access(), None)
    assert "Echo was not run" in (await box.facts("Echo", word=5)).error


class Counted(Echo):
    """Counts what is asked of it."""

    def __init__(self) -> None:
        self.counts = {"read": 0, "access": 0, "title": 0}

    def read(self, raw: JsonObject) -> Word:
        self.counts["read"] += 1
        return super().read(raw)

    def access(self, input: Word, where: Where) -> Access:
        self.counts["access"] += 1
        return Access(effects=Effect.FREE)

    def title(self, input: Word, where: Where) -> tuple[str, str]:
        self.counts["title"] += 1
        return "Count", input.word


async def test_a_call_is_read_and_described_once(box: Toolbox) -> None:
    tool = Counted()
    await executed(RawExecutor([OneTool(tool)]), ToolCall("1", "Echo", {}), box.ctx)
    assert tool.counts == {"read": 1, "access": 1, "title": 1}


class Carried(msgspec.Struct):
    name: str
    input: JsonObject = {}


class CallTool(StructTool[Carried]):
    name = "CallTool"
    input = Carried

    def carried(self, id: str, input: Carried) -> ToolCall:
        return ToolCall(id, input.name, input.input)

    async def run(self, input: Carried, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        if ctx.agent:
            raise AssertionError("what only carries a call never runs")
        yield ToolResult.text("")


async def test_a_carried_call_stands_in_place_of_its_carrier(box: Toolbox) -> None:
    box = Toolbox(box.root, CallTool(), Counted())
    call = ToolCall("c7", "CallTool", {"name": "Echo", "input": {"word": "inside"}})
    prepared = await box.executor.prepare(call, box.ctx.where)
    assert prepared.call == ToolCall("c7", "Echo", {"word": "inside"})
    assert (prepared.facts.verb, prepared.facts.target) == ("Count", "inside")
    assert text(await box.executor.run(prepared, box.ctx)) == "inside"


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({"name": "CallTool", "input": {"name": "Echo"}}, "CallTool carries no call of CallTool"),
        ({"name": "Nothing"}, "There is no tool named Nothing"),
        ({"name": "Echo", "input": {"word": 5}}, "Echo was not run"),
        ({}, "CallTool was not run"),
    ],
)
async def test_what_cannot_be_carried_is_an_error(
    box: Toolbox, input: JsonObject, said: str
) -> None:
    box = Toolbox(box.root, CallTool(), Echo())
    prepared = await box.executor.prepare(ToolCall("1", "CallTool", input), box.ctx.where)
    assert said in prepared.facts.error
    assert said in text(await box.executor.run(prepared, box.ctx))


class Slow(Echo):
    async def run(self, input: Word, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        begun = time.monotonic()
        await eventually(lambda: time.monotonic() > begun + 0.05)
        yield ToolResult.text("late")


@pytest.mark.parametrize(("usual", "own", "late"), [(9, 0.01, False), (0.01, math.inf, True)])
async def test_a_tool_states_its_own_time_limit(
    box: Toolbox, usual: float, own: float, late: bool
) -> None:
    tool = Slow()
    tool.time_limit = own
    executor = RawExecutor([OneTool(tool)], time_limit=usual)
    assert (await executed(executor, ToolCall("1", "Echo", {}), box.ctx)).ok == late


class Raw(Echo):
    """Answers with parts as they came."""

    def __init__(self, make: Callable[[], tuple[Part, ...]]) -> None:
        self._make = make

    async def run(self, input: Word, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield ToolResult(ok=True, parts=self._make())


async def test_images_of_any_tool_are_made_fit_by_who_runs_it(box: Toolbox) -> None:
    parts: tuple[Part, ...] = (
        TextContent("before"),
        RawImage(base64.b64decode(DOT), "dot", "/x/dot.png"),
        RawImage(DOT),
        RawImage(b"no image"),
    )
    result = await Toolbox(box.root, Raw(lambda: parts)).call("Echo")
    assert result.parts == ()
    assert [p.data for p in result.content if isinstance(p, ImageContent)] == [DOT, DOT]
    said = text(result).splitlines()
    assert said[0] == "before" and said[1].startswith("[dot: image/png, ")
    assert said[2] == "[The picture cannot be shown: it is no image.]"
    (shown,) = result.view
    assert isinstance(shown, Image) and shown.path == "/x/dot.png"


async def test_nothing_but_a_picture_that_is_none_is_a_failure(box: Toolbox) -> None:
    result = await Toolbox(box.root, Raw(lambda: (RawImage(b"x"),))).call("Echo")
    assert not result.ok and "it is no image" in text(result)


async def test_files_of_any_tool_are_kept_by_who_runs_it(box: Toolbox) -> None:
    box = Toolbox(box.root, Raw(lambda: (RawFile(b"\0sound", "A song", "audio"),)))
    said = text(await box.call("Echo"))
    (kept,) = box.ctx.spill.iterdir()
    assert kept.read_bytes() == b"\0sound" and kept.name.startswith("audio-")
    assert said == f"A song, 6 bytes, kept in {kept}. Read may show it."


async def test_a_list_that_is_too_deep_is_a_wrong_input(box: Toolbox) -> None:
    said = await box.refused("TodoWrite", todos="[" * 100_000)
    assert "its input is wrong" in said
