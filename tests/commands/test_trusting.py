"""/trust: the question of a start, later on; a yes counts at once and is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.commands.registry import CommandContext, Front
from gatewright.agent.commands.rules.trusting import ALREADY, ELSEWHERE, trust
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.trust import TrustStore
from gatewright.agent.settings.trust_question import CHANGED, TRUST, TRUSTED
from gatewright.tools.blocks import plain
from gatewright.tools.interact import Answer, Ask
from tests.fakes.books import Books
from tests.fakes.commands import told


class Person:
    def __init__(self, *choices: str) -> None:
        self.answer = Answer(choices)
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        return self.answer


def stored(live: LiveSettings) -> bool:
    around = live.around
    return TrustStore(around.places, around.env).trusts(around.where.root)


async def test_a_yes_counts_at_once_and_is_remembered(tmp_path: Path) -> None:
    live = Books(tmp_path, trusted=False, project={"env": {"A": "b"}}).live
    person = Person(TRUST)
    outcome = await trust(live, person, CommandContext())
    assert isinstance(outcome, Say)
    assert told(outcome) == TRUSTED
    (asked,) = person.asked
    assert "env" in plain(asked.body[0])
    assert [option.id for option in asked.options] == [TRUST, "continue"]  # nobody is to leave
    assert live.around.trusted
    assert stored(live)
    assert told(await trust(live, person, CommandContext())) == ALREADY


async def test_what_has_nothing_yet_can_be_trusted_too(tmp_path: Path) -> None:
    live = Books(tmp_path, trusted=False).live
    person = Person(TRUST)
    await trust(live, person, CommandContext())
    assert "language servers may read it" in plain(person.asked[0].body[0])
    assert live.around.trusted


@pytest.mark.parametrize("choices", [("continue",), ()])
async def test_anything_else_changes_nothing(tmp_path: Path, choices: tuple[str, ...]) -> None:
    live = Books(tmp_path, trusted=False).live
    assert told(await trust(live, Person(*choices), CommandContext())) == "Nothing has changed."
    assert not live.around.trusted
    assert not stored(live)


async def test_what_nobody_typed_is_not_asked(tmp_path: Path) -> None:
    live, person = Books(tmp_path, trusted=False).live, Person(TRUST)
    outcome = await trust(live, person, CommandContext(front=Front(typed=False)))
    assert isinstance(outcome, Problem)
    assert told(outcome) == ELSEWHERE
    assert person.asked == []


class Pulling(Person):
    """While they read, something writes the project's settings, each time another one."""

    def __init__(self, live: LiveSettings, *texts: str) -> None:
        super().__init__(TRUST)
        self._live, self._texts = live, list(texts)

    async def __call__(self, ask: Ask) -> Answer:
        if self._texts:
            write(self._live, self._texts.pop(0))
        return await super().__call__(ask)


def write(live: LiveSettings, text: str) -> None:
    path = live.around.where.root / ".gatewright" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def test_what_changes_before_the_yes_is_asked_about_anew(tmp_path: Path) -> None:
    live = Books(tmp_path, trusted=False).live
    write(live, '{"env": {"BEFORE": "b"}}')  # since the session began
    person = Pulling(live, '{"env": {"MEANWHILE": "b"}}')
    assert told(await trust(live, person, CommandContext())) == TRUSTED
    first, second = person.asked
    assert "BEFORE" in plain(first.body[0])
    assert "MEANWHILE" in plain(second.body[0])
    assert second.reason == CHANGED
    live = Books(tmp_path / "other", trusted=False).live
    refusing = Pulling(live, '{"env": {"MEANWHILE": "b"}}')
    refusing.answer = Answer(("continue",))
    await trust(live, refusing, CommandContext())
    assert not live.around.trusted
