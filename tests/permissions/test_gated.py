"""The gate end to end, with real tool sources in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Diff, Hunk, plain
from gatewright.tools.checked import CheckedTool
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.moments import CallPrepared, Moment, Verdict
from gatewright.tools.protocol import (
    INTERRUPTED,
    NOT_BEGUN,
    Executor,
    Progress,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from gatewright.tools.registry import BuiltinTools
from tests.fakes.executor import context, executed, text_of


class Input(BaseModel):
    file_path: str


class FileTool(CheckedTool[Input]):
    """Writes nothing, but declares that it would."""

    input = Input
    prompt = "write.md"

    def __init__(self, name: str) -> None:
        self.name = name
        self.ran: list[str] = []

    def access(self, input: Input, where: Where) -> Access:
        if self.name == "AskUserQuestion":
            return Access(effects=Effect.HUMAN)
        path = where.resolve(input.file_path)
        return Access(reads=(path,)) if self.name == "Read" else Access(writes=(path,))

    def title(self, input: Input, where: Where) -> tuple[str, str]:
        return self.name, input.file_path

    async def run(self, input: Input, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        self.ran.append(input.file_path)
        yield ToolResult.text("done")

    def view(self, input: Input, result: ToolResult | None) -> Sequence[Block]:
        return ()


class Source:
    def __init__(self, *tools: FileTool) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return [ToolSpec(name, "", {}) for name in self._tools]

    def find(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)


class Person:
    """Answers every question the same way and remembers what was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        return self.answer


class House:
    def __init__(self, root: Path, answer: Answer, **config: Any) -> None:
        self.write, self.read = FileTool("Write"), FileTool("Read")
        self.question = FileTool("AskUserQuestion")
        self.person = Person(answer)
        self.records: list[DecisionRecord] = []
        self.events: list[str] = []
        self.hooks: list[Verdict] = []
        self.policy = Policy(PolicyConfig(root=root, cwd=root, home=root.parent, **config))
        ports = GatePorts(record=self.records.append, barrier=self._barrier)
        source = Source(self.write, self.read, self.question)
        self.executor: Executor = gated([source], self.policy, ports)
        self.ctx = msgspec.structs.replace(
            context(root), ask=self.person, where=Where(root, root, root.parent), moments=self
        )

    async def _barrier(self, agent: str) -> None:
        self.events.append(f"barrier after {len(self.write.ran)} runs")

    async def at(self, moment: Moment) -> Verdict:
        listens = isinstance(moment, CallPrepared)
        return self.hooks.pop() if listens and self.hooks else Verdict()

    async def call(self, tool: str, path: str) -> ToolResult:
        return await executed(self.executor, ToolCall("c1", tool, {"file_path": path}), self.ctx)


YES = Answer(("once",))


async def test_a_read_inside_runs_without_a_question(tmp_path: Path) -> None:
    house = House(tmp_path, YES)
    assert (await house.call("Read", "a.py")).ok
    assert house.person.asked == []
    assert house.records[0].behavior == "allow"
    assert house.records[0].stage == "mode"


async def test_an_edit_asks_and_runs_once_behind_the_barrier(tmp_path: Path) -> None:
    house = House(tmp_path, YES)
    assert (await house.call("Write", "a.py")).ok
    assert house.write.ran == ["a.py"]
    assert house.events == ["barrier after 0 runs"]
    [ask] = house.person.asked
    assert [option.id for option in ask.options] == ["once", "always", "no"]
    assert [option.key for option in ask.options] == ["y", "Y", "n"]
    assert house.records[0].answer == "once"


async def test_a_no_ends_the_turn_and_runs_nothing(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(("no",)))
    result = await house.call("Write", "a.py")
    assert (result.ok, result.ends_turn, house.write.ran, house.events) == (False, True, [], [])


async def test_free_text_is_the_result_and_the_turn_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(text="use b.py instead"))
    result = await house.call("Write", "a.py")
    assert (result.ok, result.ends_turn, house.write.ran) == (False, False, [])
    assert text_of(result) == "use b.py instead"


async def test_a_cancelled_answer_is_a_denial(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(("once",), cancelled=True))
    assert not (await house.call("Write", "a.py")).ok
    assert house.write.ran == []


async def test_always_on_an_edit_switches_the_mode(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(("always",)))
    await house.call("Write", "a.py")
    await house.call("Write", "b.py")
    assert house.write.ran == ["a.py", "b.py"]
    assert len(house.person.asked) == 1
    assert house.policy.current() == "acceptEdits"


async def test_always_that_was_not_offered_is_not_an_answer(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(("always",)))
    result = await house.call("Write", "/outside/a.py")
    assert not result.ok
    assert house.write.ran == []


async def test_without_a_person_an_ask_is_a_denial_that_says_what_helps(tmp_path: Path) -> None:
    house = House(tmp_path, YES, interactive=False)
    result = await house.call("Write", "a.py")
    assert not result.ok
    assert not result.ends_turn
    assert "acceptEdits" in text_of(result)


async def test_a_person_reads_why_without_the_advice_to_the_model(tmp_path: Path) -> None:
    house = House(tmp_path, YES, rules={"user": RuleTexts(deny=("Edit(*.py)",))})
    result = await house.call("Write", "a.py")
    assert text_of(result).startswith("Not run (deny): ")
    (told,) = map(plain, result.view)
    assert "Edit(*.py)" in told
    assert "Not run (" not in told
    assert "another tool" not in told
    assert "another tool" in text_of(result)


async def test_a_hook_cannot_beat_a_deny_rule(tmp_path: Path) -> None:
    rules = {"user": RuleTexts(deny=("Edit(*.py)",))}
    house = House(tmp_path, YES, rules=rules)
    house.hooks = [Verdict(word="allow")]
    assert not (await house.call("Write", "a.py")).ok
    assert house.records[0].rule == "Edit(*.py)"


async def test_input_a_hook_wrote_is_judged_and_run(tmp_path: Path) -> None:
    house = House(tmp_path, YES, mode="acceptEdits")
    house.hooks = [Verdict(input={"file_path": "b.py"})]
    assert (await house.call("Write", "a.py")).ok
    assert house.write.ran == ["b.py"]


async def test_a_tool_that_asks_is_not_asked_about(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(("no",)))
    assert (await house.call("AskUserQuestion", "x")).ok
    assert house.question.ran == ["x"]
    assert house.person.asked == []
    assert house.records[0].stage == "human"


async def test_changed_input_is_judged_and_run(tmp_path: Path) -> None:
    rules = {"user": RuleTexts(deny=("Edit(*.env)",))}
    house = House(tmp_path, Answer(("once",), input={"file_path": "b.py"}), rules=rules)
    assert (await house.call("Write", "a.py")).ok
    assert house.write.ran == ["b.py"]
    assert len(house.person.asked) == 1


async def test_changed_input_cannot_beat_a_deny_rule(tmp_path: Path) -> None:
    rules = {"user": RuleTexts(deny=("Edit(*.env)",))}
    house = House(tmp_path, Answer(("once",), input={"file_path": "x.env"}), rules=rules)
    assert not (await house.call("Write", "a.py")).ok
    assert house.write.ran == []
    assert [record.behavior for record in house.records] == ["allow", "deny"]


async def test_changed_input_that_is_invalid_does_not_run(tmp_path: Path) -> None:
    house = House(tmp_path, Answer(("once",), input={"file": "x"}))
    assert not (await house.call("Write", "a.py")).ok
    assert house.write.ran == []


async def test_a_link_out_of_the_project_is_seen_on_disk(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (root / "l").symlink_to(other)
    house = House(root, Answer(("no",)), mode="acceptEdits")
    assert not (await house.call("Write", "l/a.py")).ok
    assert "outside" in house.person.asked[0].reason


async def test_invalid_input_is_answered_without_a_question(tmp_path: Path) -> None:
    house = House(tmp_path, YES)
    result = await executed(house.executor, ToolCall("c1", "Write", {}), house.ctx)
    assert not result.ok
    assert house.person.asked == []


def test_the_policy_is_the_sessions_modes_and_rules(tmp_path: Path) -> None:
    policy = Policy(PolicyConfig(root=tmp_path, cwd=tmp_path, home=tmp_path))
    assert policy.set("accept-edits") == "acceptEdits"
    assert policy.after("acceptEdits") == "autoInProject"
    assert policy.add("deny", "Bash(curl:*)") == "Added for this session: deny Bash(curl:*)"
    assert policy.remove("Bash(curl:*)").startswith("Removed")
    with pytest.raises(ValueError, match="default, acceptEdits"):
        policy.set("nonsense")
    with pytest.raises(ValueError, match="Tool"):
        policy.add("allow", "Bash(npm")


async def test_who_is_asked_sees_the_change_among_the_lines_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    house = House(tmp_path, Answer(("no",)))
    house.executor = gated([BuiltinTools(["Edit"])], house.policy, GatePorts())
    edit = {"file_path": "a.py", "old_string": "three", "new_string": "3"}
    await executed(house.executor, ToolCall("c1", "Edit", edit), house.ctx)
    (asked,) = house.person.asked
    assert asked.body == (Diff("a.py", (Hunk(1, 1, (" one", " two", "-three", "+3")),), 1, 1),)


async def test_an_interruption_at_the_question_leaves_a_call_that_did_not_run(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Answer(("once",)))
    left: list[ToolResult] = []

    async def never(ask: Ask) -> Answer:
        raise asyncio.CancelledError

    ctx = msgspec.structs.replace(house.ctx, leave=left.append)
    call = ToolCall("c", "Write", {"file_path": "a"})
    with pytest.raises(asyncio.CancelledError):
        await executed(house.executor, call, msgspec.structs.replace(ctx, ask=never))
    assert [(each.summary, text_of(each)) for each in left] == [("not run", NOT_BEGUN)]
    assert house.write.ran == []
    await executed(house.executor, call, ctx)
    assert text_of(left[-1]) == INTERRUPTED, "from here on nobody knows"
