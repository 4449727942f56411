"""Who speaks in a person's place at the gate, hooks and a classifier, and how far that goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.gated import gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.request import GatePorts
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Access, Where
from gatewright.tools.classify import Classify, Opinion, Pending
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.moments import CallDenied, CallPrepared, Moment, PersonNeeded, Verdict
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    Executor,
    JsonObject,
    Progress,
    ToolCall,
    ToolContext,
    ToolResult,
)
from tests.fakes.executor import context, executed, text_of
from tests.fakes.toolbox import OneTool
from tests.fakes.waiting import PATIENCE

Says = Callable[[Moment], Verdict]


class Place(msgspec.Struct):
    file_path: str = "a.py"


class Change(StructTool[Place]):
    """Says that it writes, or whatever the test wants, and keeps what it ran with."""

    name = "Write"
    input = Place

    def __init__(self, extra: JsonObject) -> None:
        self.extra = extra
        self.ran: list[str] = []

    def access(self, input: Place, where: Where) -> Access:
        return Access(writes=(where.resolve(input.file_path),), **self.extra)

    async def run(self, input: Place, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        self.ran.append(input.file_path)
        yield ToolResult.text("done")


class Hall:
    """A gate, a person who never answers unless told, those who listen, and a classifier."""

    def __init__(
        self,
        root: Path,
        *,
        says: Says | None = None,
        classify: Classify | None = None,
        extra: JsonObject | None = None,
        **config: Any,
    ) -> None:
        self.tool = Change(extra or {})
        self.records: list[DecisionRecord] = []
        self.heard: list[Moment] = []
        self.asked: list[Ask] = []
        self.answer: Answer | None = None
        self._says = says
        where = Where(root, root, root.parent)
        self.policy = Policy(
            PolicyConfig(root=root, cwd=root, home=root.parent, auto_available=True, **config)
        )
        ports = GatePorts(record=self.records.append, classify=lambda: classify)
        self.executor: Executor = gated([OneTool(self.tool)], self.policy, ports)
        self.ctx = msgspec.structs.replace(
            context(root), ask=self._ask, where=where, moments=self if says is not None else None
        )

    async def _ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        if self.answer is None:
            await asyncio.Event().wait()
        assert self.answer is not None
        return self.answer

    async def at(self, moment: Moment) -> Verdict:
        self.heard.append(moment)
        assert self._says is not None
        return self._says(moment)

    async def call(self, path: str = "a.py") -> ToolResult:
        call = ToolCall("c1", "Write", {"file_path": path})
        return await asyncio.wait_for(executed(self.executor, call, self.ctx), PATIENCE)


def on(kind: type[Moment], **verdict: Any) -> Says:
    return lambda moment: Verdict(**verdict) if isinstance(moment, kind) else Verdict()


def kinds(hall: Hall) -> list[str]:
    return [type(moment).__name__ for moment in hall.heard]


# --- before the decision ----------------------------------------------------------------------


async def test_who_listens_hears_of_the_agent_the_facts_and_the_mode(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(CallPrepared), mode="acceptEdits")
    hall.ctx = msgspec.structs.replace(hall.ctx, agent="main/a1")
    assert (await hall.call()).ok
    (moment,) = hall.heard
    assert isinstance(moment, CallPrepared)
    assert (moment.agent, moment.mode, moment.call.name) == ("main/a1", "acceptEdits", "Write")
    assert moment.access.writes == (tmp_path / "a.py",)


@pytest.mark.parametrize("word", ["deny", "stop"])
async def test_a_refusal_before_the_decision_is_final(tmp_path: Path, word: str) -> None:
    hall = Hall(
        tmp_path,
        says=on(CallPrepared, word=word, text="not on a Friday"),
        mode="bypassPermissions",
        rules={"user": RuleTexts(allow=("Write",))},
    )
    result = await hall.call()
    assert "not on a Friday" in text_of(result)
    assert (hall.tool.ran, hall.records[0].stage) == ([], "hook")
    assert bool(result.stopped) == result.ends_turn == (word == "stop")


async def test_what_is_put_off_has_no_result_and_is_not_judged(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(CallPrepared, word="defer"), mode="bypassPermissions")
    assert (await hall.call()).waits
    assert (hall.tool.ran, hall.asked, hall.records) == ([], [], [])


async def test_an_ask_goes_to_the_person(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(CallPrepared, word="ask", text="look"), mode="bypassPermissions")
    hall.answer = Answer.of("once")
    assert (await hall.call()).ok
    assert len(hall.asked) == 1


async def test_what_is_said_besides_reaches_the_model_and_the_person(tmp_path: Path) -> None:
    says = on(CallPrepared, context=("mind the style",), notice="style hook ran")
    result = await Hall(tmp_path, says=says, mode="acceptEdits").call()
    assert text_of(result).splitlines() == ["done", "mind the style"]
    assert any("style hook ran" in str(block) for block in result.view)


FORBIDS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"rules": {"user": RuleTexts(deny=("Edit(*.py)",))}}, {}, "a.py"),
    ({"rules": {"user": RuleTexts(ask=("Edit(a.py)",))}}, {}, "a.py"),
    ({}, {}, ".gatewright/settings.json"),
    ({}, {"insist": "a person has to see this"}, "a.py"),
    ({"mode": "plan"}, {}, "a.py"),
    ({"mode": "dontAsk"}, {"insist": "seen"}, "a.py"),
]


@pytest.mark.parametrize(("config", "extra", "path"), FORBIDS)
@pytest.mark.parametrize("kind", [CallPrepared, PersonNeeded])
@pytest.mark.parametrize("interactive", [True, False])
async def test_a_yes_never_lifts_what_is_denied_asked_by_a_rule_or_on_the_floor(
    tmp_path: Path,
    config: dict[str, Any],
    extra: dict[str, Any],
    path: str,
    kind: type[Moment],
    interactive: bool,
) -> None:
    says = on(kind, word="allow")
    hall = Hall(tmp_path, says=says, extra=extra, interactive=interactive, **config)
    hall.answer = Answer.of("no")
    await hall.call(path)
    assert hall.tool.ran == []


# --- where a person would be asked ------------------------------------------------------------


async def test_who_listens_may_answer_before_the_prompt_appears(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(PersonNeeded, word="allow"))
    assert (await hall.call()).ok
    assert hall.asked == []
    assert (hall.records[0].answer, kinds(hall)) == ("hook", ["CallPrepared", "PersonNeeded"])


async def test_a_refusal_in_a_persons_place_is_told(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(PersonNeeded, word="deny", text="ask me tomorrow"))
    assert "ask me tomorrow" in text_of(await hall.call())
    assert (hall.asked, hall.tool.ran) == ([], [])


async def test_where_nobody_is_who_listens_answers_before_it_is_refused(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(PersonNeeded, word="allow"), interactive=False)
    assert (await hall.call()).ok
    quiet = Hall(tmp_path, says=on(PersonNeeded), interactive=False)
    assert not (await quiet.call()).ok
    assert quiet.records[0].stage == "non_interactive"
    assert kinds(quiet) == ["CallPrepared", "PersonNeeded", "CallDenied"]


async def test_the_first_answer_wins(tmp_path: Path) -> None:
    hall = Hall(tmp_path, says=on(CallPrepared))
    hall.answer = Answer.of("once")

    class Never:
        async def at(self, moment: Moment) -> Verdict:
            if isinstance(moment, PersonNeeded):
                await asyncio.Event().wait()
            return Verdict()

    hall.ctx = msgspec.structs.replace(hall.ctx, moments=Never())
    assert (await hall.call()).ok, "a hook that never answers holds nobody up"
    assert len(hall.asked) == 1


async def test_what_is_rewritten_in_a_persons_place_is_judged_in_full(tmp_path: Path) -> None:
    inside = on(PersonNeeded, word="allow", input={"file_path": "b.py"})
    hall = Hall(tmp_path, says=inside)
    assert (await hall.call()).ok
    assert hall.tool.ran == ["b.py"]
    floor = on(PersonNeeded, word="allow", input={"file_path": ".gatewright/settings.json"})
    hall = Hall(tmp_path, says=floor)
    hall.answer = Answer.of("no")
    assert not (await hall.call()).ok
    assert (len(hall.asked), hall.tool.ran) == (1, [])


async def test_a_refusal_is_heard_and_may_be_added_to(tmp_path: Path) -> None:
    rules = {"user": RuleTexts(deny=("Edit(*.py)",))}
    hall = Hall(tmp_path, says=on(CallDenied, context=("try b.txt",)), rules=rules)
    assert text_of(await hall.call()).endswith("try b.txt")
    assert kinds(hall) == ["CallPrepared", "CallDenied"]


# --- a classifier -----------------------------------------------------------------------------


class Judge:
    """A throwaway classifier."""

    def __init__(self, *opinions: Opinion, meanwhile: Callable[[], object] = str) -> None:
        self.opinions = list(opinions)
        self.pending: list[Pending] = []
        self.meanwhile = meanwhile

    async def __call__(self, pending: Pending) -> Opinion:
        self.pending.append(pending)
        self.meanwhile()
        return self.opinions.pop(0)


OUT = "/elsewhere/a.py"


@pytest.mark.parametrize(("word", "ok"), [("allow", True), ("deny", False)])
async def test_a_classifier_answers_in_auto_mode(tmp_path: Path, word: Any, ok: bool) -> None:
    judge = Judge(Opinion(word=word, text="Because."))
    hall = Hall(tmp_path, classify=judge, mode="auto")
    assert (await hall.call(OUT)).ok == ok
    (record,) = hall.records
    assert (record.stage, record.behavior) == ("classifier", "allow" if ok else "deny")
    assert "Because." in record.reason
    (pending,) = judge.pending
    assert (pending.mode, pending.access.writes) == ("auto", (Path(OUT),))


async def test_without_an_opinion_a_person_answers_once(tmp_path: Path) -> None:
    hall = Hall(tmp_path, classify=Judge(Opinion(text="No model.")), mode="auto")
    hall.answer = Answer.of("once")
    assert (await hall.call(OUT)).ok
    (ask,) = hall.asked
    assert [option.id for option in ask.options] == ["once", "no"]
    assert "No model." in ask.reason
    alone = Hall(tmp_path, classify=Judge(Opinion()), mode="auto", interactive=False)
    assert "Nothing judged this call" in text_of(await alone.call(OUT))


async def test_an_opinion_on_another_mode_is_none(tmp_path: Path) -> None:
    hall = Hall(tmp_path, mode="auto")
    judge = Judge(Opinion(word="allow"), meanwhile=lambda: hall.policy.set("default"))
    hall = Hall(tmp_path, classify=judge, mode="auto")
    judge.meanwhile = lambda: hall.policy.set("default")
    hall.answer = Answer.of("no")
    assert not (await hall.call(OUT)).ok
    assert len(hall.asked) == 1


async def test_an_opinion_from_before_two_switches_is_none(tmp_path: Path) -> None:
    judge = Judge(Opinion(word="allow"))
    hall = Hall(tmp_path, classify=judge, mode="auto")
    judge.meanwhile = lambda: (hall.policy.set("default"), hall.policy.set("auto"))
    hall.answer = Answer.of("no")
    assert not (await hall.call(OUT)).ok
    assert len(hall.asked) == 1


@pytest.mark.parametrize("interactive", [True, False])
async def test_a_rule_to_ask_that_came_meanwhile_counts(tmp_path: Path, interactive: bool) -> None:
    judge = Judge(Opinion(word="allow"))
    hall = Hall(tmp_path, classify=judge, mode="auto", interactive=interactive)
    judge.meanwhile = lambda: hall.policy.add("ask", "Edit(//elsewhere/**)")
    hall.answer = Answer.of("no")
    assert not (await hall.call(OUT)).ok
    assert len(hall.asked) == int(interactive)


@pytest.mark.parametrize(("config", "extra", "path"), FORBIDS[:4])
async def test_a_classifier_never_sees_what_a_person_has_to_decide(
    tmp_path: Path, config: dict[str, Any], extra: dict[str, Any], path: str
) -> None:
    judge = Judge()
    hall = Hall(tmp_path, classify=judge, extra=extra, mode="auto", **config)
    hall.answer = Answer.of("no")
    await hall.call(path)
    assert (judge.pending, hall.tool.ran) == ([], [])


async def test_a_classifier_holds_up_no_prompt_of_another_call(tmp_path: Path) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(pending: Pending) -> Opinion:
        begun.set()
        await go.wait()
        return Opinion(word="allow")

    hall = Hall(tmp_path, classify=slow, mode="auto", rules={"user": RuleTexts(ask=("Edit(b)",))})
    hall.answer = Answer.of("once")
    first = asyncio.create_task(hall.call(OUT))
    await begun.wait()
    assert (await hall.call("b")).ok
    assert len(hall.asked) == 1
    go.set()
    assert (await first).ok


async def test_what_a_person_made_of_a_call_that_another_changed_is_what_runs(
    tmp_path: Path,
) -> None:
    says = on(PersonNeeded, word="allow", input={"file_path": ".gatewright/settings.json"})
    hall = Hall(tmp_path, says=says)
    hall.answer = Answer(("once",), input={"file_path": "mine.py"})
    assert (await hall.call()).ok
    assert len(hall.asked) == 1
    assert hall.tool.ran == ["mine.py"]
