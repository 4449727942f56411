"""Work that nobody typed: no more than its cap lets run, and each limit ends it with a notice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gatewright.agent.autonomy.unattended import Unattended, UnattendedPorts
from gatewright.agent.record.events import (
    AnyEvent,
    Asked,
    Decided,
    Envelope,
    Noticed,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.messages import Usage
from gatewright.agent.settings.groups.autonomy_settings import Autonomy
from gatewright.agent.turn.stop import Stop
from gatewright.permissions.check import call_and_context
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.modes import MODES
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Option
from gatewright.tools.interact import Ask as Question
from tests.fakes.examples import many, some
from tests.permissions.tables import load

CASES = [*load("permission_vectors.jsonl"), *load("gate_cases.jsonl")]
STRIDE = 400 // many(80)  # each pair another part of them; more of each with the proofs
PAIRS = [(mode, most) for mode in MODES for most in MODES]


def strictness(decision: Decision) -> int:
    """From run to refused; what a person must answer is more than what a classifier may."""
    match decision:
        case Allow():
            return 0
        case Ask(answerer="classifier"):
            return 1
        case Ask():
            return 2
        case Deny():
            return 3


@pytest.mark.parametrize("pair", some(PAIRS, 3))
def test_nothing_runs_that_the_session_or_the_cap_would_not_run(pair: tuple[str, str]) -> None:
    (mode, most), tried = pair, 0
    for case in CASES[PAIRS.index((mode, most)) % STRIDE :: STRIDE]:
        try:
            call, context = call_and_context(case)
        except ValueError:
            continue
        alone = decide(call, replace(context, mode=mode))
        cap = decide(call, replace(context, mode=most))
        both = decide(call, replace(context, mode=mode, most=most))
        assert strictness(both) >= max(strictness(alone), strictness(cap)), case["id"]
        tried += 1
    assert tried > 5


def test_agents_that_it_starts_stay_capped_when_the_person_is_back(tmp_path: Path) -> None:
    policy = Policy(
        PolicyConfig(root=tmp_path, cwd=tmp_path, home=tmp_path, mode="bypassPermissions")
    )
    policy.view(MAIN).most = "acceptEdits"
    policy.views.begins("main/a1")
    policy.views.begins("main/a1/b1")
    policy.view(MAIN).most = ""
    assert policy.view("main/a1").most == "acceptEdits"
    assert policy.view("main/a1/b1").most == "acceptEdits"
    assert policy.views.begins("main/a2").most == ""


def test_an_agent_that_nobody_writes_to_by_typing_is_capped_by_that(tmp_path: Path) -> None:
    policy = Policy(
        PolicyConfig(root=tmp_path, cwd=tmp_path, home=tmp_path, mode="bypassPermissions")
    )
    views = policy.views
    views.begins("main/a1")
    views.heeds("main/a1", MAIN)
    assert policy.view("main/a1").most == ""  # the person typed what it is told
    policy.view(MAIN).most = "acceptEdits"
    views.heeds("main/a1", MAIN)
    assert policy.view("main/a1").most == "acceptEdits"
    policy.view(MAIN).most = ""
    views.begins("main/a2")
    views.heeds("main/a2", "main/a1")
    assert policy.view("main/a2").most == "acceptEdits"
    policy.view("main/a2").most = "plan"
    views.heeds("main/a2", "main/a1")
    assert policy.view("main/a2").most == "plan"
    views.heeds(MAIN, "main/a1")
    assert policy.view(MAIN).most == ""


class Waiting:
    def __init__(self, act: Callable[[], object]) -> None:
        self.act, self.cancelled = act, False

    def cancel(self) -> None:
        self.cancelled = True


class Stage:
    """A session as this fold sees it."""

    def __init__(self, **limits: Any) -> None:
        self.now, self.cost = 1_000_000.0, 0.0
        self.limits = Autonomy(**limits)
        self.caps: list[str | None] = []
        self.timers: list[tuple[float, Waiting]] = []
        self.answered: list[tuple[int, Answer]] = []
        self.interrupted = 0
        self.told: list[str] = []
        self.fold = Unattended(
            UnattendedPorts(
                settings=lambda: self.limits,
                time=lambda: self.now,
                later=self._later,
                publish=self._publish,
                cap=self.caps.append,
                answer=lambda id, answer: self.answered.append((id, answer)),
                interrupt=self._interrupt,
            )
        )

    def _later(self, seconds: float, act: Callable[[], object]) -> Waiting:
        made = Waiting(act)
        self.timers.append((seconds, made))
        return made

    def _publish(self, event: AnyEvent) -> None:
        assert isinstance(event, Noticed)
        self.told.append(event.text)

    def _interrupt(self) -> None:
        self.interrupted += 1

    def says(self, *events: AnyEvent, agent: str = MAIN) -> None:
        for event in events:
            self.fold.saw(
                Envelope(seq=1, uuid="u", parent="", timestamp=1.0, agent=agent, event=event)
            )

    def typed(self) -> None:
        self.says(UserMessage(content=()), TurnStarted())

    def scheduled(self, id: str = "run_1") -> None:
        self.says(UserMessage(content=(), hidden=True, source="schedule", input_id=id))
        self.says(TurnStarted())

    def ends(self, cost: float = 0.0) -> None:
        self.cost += cost
        self.says(UsageChanged(usage=Usage(), cost=self.cost, context=0, window=0))
        self.says(TurnEnded(stop=Stop.COMPLETED, cost=cost))

    def asks(self, id: int) -> None:
        ask = Question("permission", "Run", (), (Option("once", "Yes", "y"),))
        self.says(Asked(id=id, ask=ask))

    def refused(self, count: int) -> None:
        for _ in range(count):
            self.says(
                Decided(call_id="c", tool="T", target="", behavior="deny", stage="m", reason="")
            )


def test_it_is_capped_from_the_first_such_input_until_the_person_types() -> None:
    stage = Stage()
    stage.typed()
    assert stage.caps == [None]
    stage.says(UserMessage(content=(), hidden=True, source="watch"))
    assert stage.caps == [None], "the person began this turn"
    stage.ends()
    stage.scheduled()
    assert stage.caps[-1] == ""
    stage.ends()
    stage.says(UserMessage(content=(), hidden=True, source="job"), TurnStarted())
    assert stage.caps[-1] == "", "what its own jobs wake is nobody's word either"
    stage.typed()
    assert stage.caps[-1:] == [None]


def test_a_mode_that_was_named_for_the_job_counts_for_its_run_alone() -> None:
    stage = Stage()
    stage.fold.modes["run_1"] = "autoInProject"
    stage.scheduled()
    assert stage.caps == ["autoInProject"]
    stage.ends()
    stage.scheduled("run_2")
    assert stage.caps[-1] == ""


def test_turns_of_an_hour_have_a_limit_that_ends() -> None:
    stage = Stage(max_turns_per_hour=2)
    for _ in range(2):
        assert stage.fold.may() == ""
        stage.scheduled()
        stage.ends()
    assert "limit of 2" in stage.fold.may()
    assert stage.fold.may()
    assert len(stage.told) == 1, "told once"
    stage.now += 3601
    assert stage.fold.may() == ""


def test_a_day_has_a_budget_which_also_ends_a_turn() -> None:
    stage = Stage(max_budget_usd_per_day=2.0, max_hours=100.0)
    stage.typed()
    stage.ends(cost=5.0)
    assert stage.fold.may() == "", "the person's own turns are not counted"
    stage.scheduled()
    stage.ends(cost=1.5)
    assert stage.fold.may() == ""
    stage.scheduled()
    stage.cost += 0.6
    stage.says(UsageChanged(usage=Usage(), cost=stage.cost, context=0, window=0))
    assert stage.interrupted == 1
    assert "$2.00 of a day" in stage.told[-1]
    stage.ends()
    assert stage.interrupted == 1
    assert "$2" in stage.fold.may()
    stage.now += 86_401
    assert stage.fold.may() == ""


def test_nobody_typing_for_long_ends_it_and_typing_lets_it_go_on() -> None:
    stage = Stage(max_hours=12.0)
    stage.now += 12 * 3600
    assert "12 hours" in stage.fold.may()
    stage.typed()
    assert stage.fold.may() == ""


def test_five_refusals_in_a_row_pause_it() -> None:
    stage = Stage()
    stage.refused(9)
    assert not stage.fold.paused, "the person is there"
    stage.scheduled()
    stage.refused(4)
    stage.says(Decided(call_id="c", tool="T", target="", behavior="allow", stage="m", reason=""))
    stage.refused(4)
    assert not stage.fold.paused
    stage.refused(1)
    assert stage.fold.may() == "5 calls in a row were refused."
    assert stage.interrupted == 1
    stage.typed()
    assert stage.fold.may(), "only /autonomy resume lets it go on"
    stage.fold.resume()
    assert stage.fold.may() == ""


def test_its_questions_wait_so_long_and_are_then_refused() -> None:
    stage = Stage(ask_wait=3.0)
    stage.asks(1)
    assert stage.timers == [], "a person's own turn waits for them"
    stage.scheduled()
    stage.asks(2)
    ((seconds, waiting),) = stage.timers
    assert seconds == 180.0
    waiting.act()
    assert stage.answered == [(2, Answer(cancelled=True))]
    assert "3 min" in stage.told[-1]
    stage.asks(3)
    stage.typed()
    assert stage.timers[-1][1].cancelled, "who types is there to answer"


def test_where_nobody_looks_even_a_turn_that_was_typed_waits_no_longer() -> None:
    stage = Stage(ask_wait=3.0)
    stage.fold.looked_at(seen=False)
    stage.typed()
    stage.asks(1)
    stage.fold.looked_at(seen=True)
    assert stage.timers[-1][1].cancelled, "somebody came to answer"
    stage.asks(2)
    assert len(stage.timers) == 1
    stage.fold.looked_at(seen=False)
    assert [seconds for seconds, _ in stage.timers] == [180.0] * 3, "and went again"
    stage.timers[-1][1].act()
    assert stage.answered == [(2, Answer(cancelled=True))]
    other = Stage(ask_wait=3.0)
    other.scheduled()
    other.asks(1)
    other.fold.looked_at(seen=True)
    ((_, waiting),) = other.timers
    assert not waiting.cancelled, "what nobody typed waits no longer because somebody looks"


def test_a_question_may_wait_for_ever_and_autonomy_may_be_off() -> None:
    stage = Stage(ask_wait="forever")
    stage.scheduled()
    stage.asks(1)
    assert stage.timers == []
    assert "off" in Stage(enabled=False).fold.may()
