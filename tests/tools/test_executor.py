"""The raw executor turns whatever a tool does into a result, and raises nothing but a cancel."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.calls import INVALID
from gatewright.tools.checked import CheckedTool
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import (
    JsonObject,
    Progress,
    ToolCall,
    ToolContext,
    ToolFailure,
    ToolResult,
)
from tests.fakes.executor import executed
from tests.fakes.toolbox import OneTool, Toolbox, text


class Word(BaseModel):
    word: str = "x"


class Probe(CheckedTool[Word]):
    """A tool that does what the test says."""

    name = "Probe"
    input = Word
    prompt = "probe.md"

    def __init__(self, act: Callable[[ToolContext], AsyncIterator[Progress | ToolResult]]) -> None:
        self._act = act
        self.effects = Effect.READ_ONLY

    def access(self, input: Word, where: Where) -> Access:
        if input.word == "odd":
            raise ToolFailure("odd words are not for this tool")
        if input.word == "broken":
            raise RuntimeError("a defect")
        return Access(effects=self.effects)

    def title(self, input: Word, where: Where) -> tuple[str, str]:
        return "Probe", input.word

    async def run(self, input: Word, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        async for item in self._act(ctx):
            yield item

    def view(self, input: Word, result: ToolResult | None) -> Sequence[Block]:
        return (Text("before" if result is None else f"after {result.summary}"),)


async def fine(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
    yield Progress("half")
    yield ToolResult.text("done", summary="ok")


async def test_progress_result_and_view(box: Toolbox) -> None:
    box = Toolbox(box.root, Probe(fine))
    facts = await box.facts("Probe", word="w")
    assert (facts.verb, facts.target, facts.view) == ("Probe", "w", (Text("before"),))
    result = await box.call("Probe")
    assert (text(result), result.view) == ("done", (Text("after ok"),))
    assert box.progress == [Progress("half")]


async def test_a_failure_is_told_as_it_is(box: Toolbox) -> None:
    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield Progress("x")
        raise ToolFailure("because")

    result = await Toolbox(box.root, Probe(act)).call("Probe")
    assert not result.ok and text(result) == "because"


async def test_a_defect_is_logged_and_told(box: Toolbox, caplog: pytest.LogCaptureFixture) -> None:
    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield Progress("x")
        raise ZeroDivisionError("oops")

    with caplog.at_level(logging.ERROR, "gatewright.tools"):
        result = await Toolbox(box.root, Probe(act)).call("Probe")
    assert not result.ok and "internal error (ZeroDivisionError: oops)" in text(result)
    assert "Probe failed" in caplog.text and "Traceback" in caplog.text


async def test_no_result_is_a_failure(box: Toolbox) -> None:
    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield Progress("x")

    assert "without a result" in await Toolbox(box.root, Probe(act)).refused("Probe")


async def test_a_cancel_goes_through_and_cleans_up(box: Toolbox) -> None:
    cleaned = asyncio.Event()
    begun = asyncio.Event()

    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        try:
            begun.set()
            await asyncio.Event().wait()
            yield ToolResult.text("never")
        finally:
            cleaned.set()

    call = asyncio.create_task(Toolbox(box.root, Probe(act)).call("Probe"))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert cleaned.is_set()


async def sleepy(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
    await asyncio.sleep(0.2)
    yield ToolResult.text("late")


async def test_the_time_limit_spares_people_and_agents(box: Toolbox) -> None:
    probe = Probe(sleepy)
    executor = RawExecutor([OneTool(probe)], time_limit=0.05)
    call = ToolCall("1", "Probe", {})
    assert "stopped after 0 s" in text(await executed(executor, call, box.ctx))
    for effects in (Effect.HUMAN, Effect.AGENT):
        probe.effects = effects
        assert text(await executed(executor, call, box.ctx)) == "late"


async def test_a_timeout_of_the_tool_itself_is_a_defect(box: Toolbox) -> None:
    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield Progress("x")
        raise TimeoutError("inner")

    assert "TimeoutError: inner" in await Toolbox(box.root, Probe(act)).refused("Probe")


@pytest.mark.parametrize("ok", [True, False])
async def test_long_text_goes_to_a_file(box: Toolbox, ok: bool) -> None:
    whole = "".join(f"line {i}\n" for i in range(20_000))

    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        if not ok:
            raise ToolFailure(whole)
        yield ToolResult.text(whole)

    result = await Toolbox(box.root, Probe(act)).call("Probe")
    said = text(result)
    (file,) = box.ctx.spill.iterdir()
    assert len(said) <= 30_020 and str(file) in said.splitlines()[0]
    assert file.read_text(encoding="utf-8") == whole
    assert "line 0\n" in said and said.endswith("line 19999\n")


async def test_a_tool_may_allow_more(box: Toolbox) -> None:
    async def act(ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        part = ToolResult.text("x" * 50_000)
        yield ToolResult(ok=True, content=part.content, cap=60_000)

    assert len(await Toolbox(box.root, Probe(act)).said("Probe")) == 50_000


@pytest.mark.parametrize(
    ("word", "said"),
    [(5, "`word`"), ("odd", "odd words"), ("broken", "internal error")],
)
async def test_what_cannot_be_judged_is_invalid(box: Toolbox, word: object, said: str) -> None:
    box = Toolbox(box.root, Probe(fine))
    facts = await box.facts("Probe", word=word)
    assert said in facts.error and facts.access == INVALID
    assert not facts.access.concurrent()
    assert said in await box.refused("Probe", word=word)


async def test_a_list_sent_as_text_is_read(box: Toolbox) -> None:
    todos = '[{"content": "Do", "status": "pending"}]'
    assert (await box.call("TodoWrite", todos=todos)).summary == "0/1"
    for wrong in ("[", '"text"', '[{"content": "Do"}]'):
        assert "`todos`: input should be a valid list" in await box.refused(
            "TodoWrite", todos=wrong
        )


async def test_an_unknown_tool_names_the_nearest(box: Toolbox) -> None:
    assert "Did you mean Read?" in await box.refused("raed")
    assert "There are: " in await box.refused("Frobnicate")
    assert "Nothing of mcp__time is here now." in await box.refused("mcp__time__get_read")
    facts = await box.facts("raed")
    assert "Did you mean Read?" in facts.error


async def test_sources_are_asked_in_their_order(box: Toolbox) -> None:
    class Other(Probe):
        name = "Read"

    box = Toolbox(box.root, Other(fine))
    assert await box.said("Read") == "done"


def test_where_shows_short_paths(tmp_path: Path) -> None:
    where = Where(tmp_path / "p", tmp_path / "p", tmp_path / "h")
    assert where.shown(tmp_path / "p" / "a" / "b") == "a/b"
    assert where.shown(tmp_path / "h" / "a") == "~/a"
    assert where.shown(tmp_path / "p") == "."
    assert where.shown(Path("/etc")) == "/etc"


def test_where_shows_one_file_by_one_name_wherever_the_shell_is(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / "src").mkdir(parents=True)
    (root / "away").symlink_to(tmp_path)
    where = Where(root / "src", root, tmp_path / "h")
    assert where.shown(where.resolve("src/x.txt")) == "src/src/x.txt"
    assert where.shown(where.resolve("x.txt")) == "src/x.txt"
    assert where.shown(where.resolve("../x.txt")) == "x.txt"
    assert where.shown(where.resolve("../away/../x.txt")) == str(tmp_path.parent / "x.txt")
    assert where.shown(root / "~" / "x.txt") == "./~/x.txt", "that is not the home directory"
    assert where.moved == "src/"
    assert Where(root, root, tmp_path / "h").moved == ""


@pytest.mark.parametrize(
    ("name", "input", "target"),
    [
        ("Read", {"file_path": "x.py"}, "src/x.py"),
        ("Write", {"file_path": "src/x.py", "content": ""}, "src/src/x.py"),
        ("Edit", {"file_path": "../x.py", "old_string": "a", "new_string": "b"}, "x.py"),
        ("MultiEdit", {"file_path": "x.py", "edits": [{"old_string": "a", "new_string": "b"}]},
         "src/x.py"),
        ("NotebookEdit", {"notebook_path": "x.ipynb", "cell_id": "c"}, "src/x.ipynb:c"),
        ("NotebookRead", {"notebook_path": "x.ipynb"}, "src/x.ipynb"),
        ("Grep", {"pattern": "a"}, "a in src"),
        ("Grep", {"pattern": "a", "path": ".."}, "a"),
        ("Glob", {"pattern": "*.py"}, "*.py in src"),
    ],
)  # fmt: skip
async def test_the_title_of_a_call_names_the_file_it_will_touch(
    box: Toolbox, name: str, input: JsonObject, target: str
) -> None:
    (box.root / "src").mkdir()
    box.set(where=Where(box.root / "src", box.root, box.ctx.where.home))
    assert (await box.facts(name, **input)).target == target


@pytest.mark.parametrize(
    ("name", "input", "key"),
    [
        ("Bash", {"command": "make", "description": "Build"}, "make"),
        ("TaskOutput", {"task_id": "b1", "block": False}, ""),
        ("Read", {"file_path": "a"}, None),
    ],
)
async def test_what_makes_two_calls_the_same(
    box: Toolbox, name: str, input: dict[str, object], key: str | None
) -> None:
    assert (await box.facts(name, **input)).loop_key == key


def test_a_first_model_looks_for_no_plugins() -> None:
    """They would be code of a stranger, and finding out that there is none takes 15 ms."""
    code = (
        "import importlib.metadata as packages; packages.entry_points = None\n"
        "import gatewright.tools.tasks.task_get, sys; print('pydantic.main' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
