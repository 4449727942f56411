"""What a model finds by ToolSearch, and what CallTool puts in its place."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.context.tool_ranking import ranked, words
from gatewright.agent.context.tool_search import MOST_CHARS, NONE, SearchTools
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.tools.access import Where
from gatewright.tools.executor import RawExecutor
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import Run, Tool, ToolCall, ToolContext, ToolResult, ToolSpec
from tests.fakes.executor import executed
from tests.fakes.toolbox import Toolbox, text

TOOLS = {
    "mcp__github__create_issue": "Open a new issue in a repository.",
    "mcp__github__list_pull_requests": "List the pull requests of a repository.",
    "mcp__github__merge_pull_request": "Merge a pull request.",
    "mcp__mail__send_message": "Send an e-mail to somebody.",
    "mcp__mail__search": "Find e-mails by their words.",
    "mcp__time__convert_time": "Convert a time between time zones.",
    "mcp__time__get_current_time": "The time it is now in a time zone.",
    "mcp__db__runQuery": "Run a SQL query against the database.",
    "mcp__kb__search": "知识库を検索する",
}


class Empty(StructTool[Any]):
    input = dict

    def __init__(self, name: str) -> None:
        self.name = name

    async def run(self, input: Any, ctx: ToolContext) -> Run:
        yield ToolResult.text(f"{self.name} ran with {json.dumps(input)}")


class Source:
    """Tools that are put off, and one that is not."""

    def __init__(self, *, grows: bool = False) -> None:
        self.names = {**TOOLS, "Plain": "A plain one."}
        self.growing = grows

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        schema: dict[str, Any] = {"type": "object"}
        return [ToolSpec(name, text, schema) for name, text in self.names.items()]

    def find(self, name: str) -> Tool[Any] | None:
        return Empty(name) if name in self.names else None

    def deferred(self) -> Collection[str]:
        return [name for name in self.names if name != "Plain"]

    def grows(self) -> bool:
        return self.growing

    async def settled(self) -> None:
        self.names["mcp__late__arrives"] = "Comes a little later."


def sources(*each: Any) -> ToolSources:
    made = ToolSources(each)
    made.add(SearchTools(made))
    return made


async def ran(made: ToolSources, name: str, folder: Path, /, **input: Any) -> str:
    call = ToolCall("c", name, input)
    return text(await executed(RawExecutor([made]), call, Toolbox(folder).ctx))


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("open an issue", "mcp__github__create_issue"),
        ("merging pull requests", "mcp__github__merge_pull_request"),
        ("send e-mail", "mcp__mail__send_message"),
        ("what time is it now", "mcp__time__get_current_time"),
        ("time zones convert", "mcp__time__convert_time"),
        ("sql database", "mcp__db__runQuery"),
        ("query", "mcp__db__runQuery"),
        ("検索", "mcp__kb__search"),
        ("+mail search", "mcp__mail__search"),
    ],
)
def test_the_right_one_comes_first(query: str, best: str) -> None:
    specs = [ToolSpec(name, text, {}) for name, text in TOOLS.items()]
    assert ranked(query, specs)[0].name == best


def test_what_must_occur_occurs_and_what_fits_nothing_is_left_out() -> None:
    specs = [ToolSpec(name, text, {}) for name, text in TOOLS.items()]
    assert {spec.name.split("__")[1] for spec in ranked("+mail search", specs)} == {"mail"}
    assert ranked("bicycle", specs) == []
    assert words("runQueries by-the_repositoryIDs") == [
        "run", "query", "by", "the", "repository", "ids",
    ]  # fmt: skip


async def test_what_is_put_off_is_found_by_words_names_and_server(tmp_path: Path) -> None:
    made = sources(Source())
    assert {"Plain", "ToolSearch", "CallTool"} == {spec.name for spec in made.offered()}
    found = await ran(made, "ToolSearch", tmp_path, query="time zone", max_results=1)
    assert found.startswith("mcp__time__")
    assert found.endswith('input: {"type":"object"}')
    exact = await ran(made, "ToolSearch", tmp_path, query="select:mcp__db__runQuery, Plain, Nope")
    assert exact.splitlines()[:3] == [
        "Plain is one of the tools of this request: call it directly.",
        "There is no tool named Nope.",
        "mcp__db__runQuery",
    ]
    whole = await ran(made, "ToolSearch", tmp_path, query="mcp__github")
    assert whole.count("mcp__github__") == 3
    assert await ran(made, "ToolSearch", tmp_path, query="bicycle") == NONE


async def test_a_call_is_the_one_it_carries(tmp_path: Path) -> None:
    made = sources(Source())
    name = "mcp__db__runQuery"
    executor, where = RawExecutor([made]), Where(cwd=tmp_path, root=tmp_path, home=tmp_path)
    call = ToolCall("c", "CallTool", {"name": name, "input": {"q": 1}})
    prepared = await executor.prepare(call, where)
    assert prepared.call == ToolCall("c", name, {"q": 1})
    assert await ran(made, "CallTool", tmp_path, name=name, input={"q": 1}) == (
        f'{name} ran with {{"q": 1}}'
    )
    assert "no call of CallTool" in await ran(
        made, "CallTool", tmp_path, name="CallTool", input={"name": name}
    )
    assert "There is no tool named x" in await ran(made, "CallTool", tmp_path, name="x")


async def test_what_is_on_its_way_is_waited_for_and_the_two_are_offered(tmp_path: Path) -> None:
    growing = Source(grows=True)
    growing.names = {"Plain": "A plain one."}
    made = sources(growing)
    before = made.offered()
    assert "ToolSearch" in {spec.name for spec in before}
    assert "mcp__late__arrives" in await ran(made, "ToolSearch", tmp_path, query="later")
    assert made.offered() == before


def test_nothing_to_find_offers_neither() -> None:
    still = Source()
    still.names = {"Plain": "A plain one."}
    assert [spec.name for spec in sources(still).offered()] == ["Plain"]


async def test_what_is_shown_is_bounded(tmp_path: Path) -> None:
    many = Source()
    many.names = {f"mcp__big__tool_{n}": "word " * 1_000 for n in range(20)}
    found = await ran(sources(many), "ToolSearch", tmp_path, query="word", max_results=20)
    assert len(found) < MOST_CHARS + 20 * 100
    assert "too long to show beside the others" in found
