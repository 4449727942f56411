"""Settings follow their files during a session and never permit more because a file broke."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.build import open_session
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Asked, Decided, Noticed, TurnEnded
from gatewright.agent.settings.layers.sources import RuleTexts
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.trust_question import TRUST
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.tools.blocks import plain
from gatewright.tools.interact import Answer
from tests.fakes.recorder import Recorder


class Desk:
    def __init__(self, tmp_path: Path, *, trusted: bool = True) -> None:
        self.project = tmp_path / "project"
        (self.project / ".gatewright").mkdir(parents=True)
        (tmp_path / "home").mkdir()
        self.env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        self.options = LaunchOptions(cwd=str(self.project), trust=trusted, model="demo")
        self.said: list[str] = []
        self.seen: list[Surroundings] = []

    def write(self, values: dict[str, Any] | str, name: str = "settings.json") -> None:
        text = values if isinstance(values, str) else json.dumps(values)
        (self.project / ".gatewright" / name).write_text(text, encoding="utf-8")

    def live(self) -> LiveSettings:
        around = survey(self.options, self.env, interactive=True)
        live = LiveSettings(around, self.env, tell=self.said.append)
        live.listen(self.seen.append)
        return live


RULES = {"permissions": {"allow": ["Bash(make)"], "deny": ["Bash(rm:*)"], "ask": ["Read(x)"]}}


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    live = desk.live()
    live.refresh()
    assert desk.seen == []
    desk.write(RULES)
    live.refresh()
    live.refresh()
    assert len(desk.seen) == 1
    assert live.around.loaded.rules[Source.PROJECT] == RuleTexts(
        ("Bash(make)",), ("Read(x)",), ("Bash(rm:*)",)
    )


@pytest.mark.parametrize("broken", ['{"permissions": ', "[1, 2]", "\x00\x01"])
def test_a_broken_file_keeps_what_it_forbade_and_permits_nothing(
    tmp_path: Path, broken: str
) -> None:
    desk = Desk(tmp_path)
    desk.write(RULES)
    live = desk.live()
    desk.write(broken)
    live.refresh()
    assert live.around.loaded.rules[Source.PROJECT] == RuleTexts((), ("Read(x)",), ("Bash(rm:*)",))
    assert len(desk.said) == 1
    assert "settings.json" in desk.said[0]
    desk.write(RULES)
    live.refresh()
    assert live.around.loaded.rules[Source.PROJECT].allow == ("Bash(make)",)


@pytest.mark.parametrize(
    "text", ["", " \n", "\ufeff", '{"permissions": {"deny": ["Bash(rm', "null"]
)
def test_an_emptied_or_half_written_file_is_as_the_last_valid_one(
    tmp_path: Path, text: str
) -> None:
    desk = Desk(tmp_path)
    desk.write(RULES | {"maxTurns": 5, "checkpoints": False, "effort": "low"})
    live = desk.live()
    for _ in range(2):  # and so it stays, however often it is looked at
        desk.write(text)
        live.refresh()
        live.trust()
        rules = live.around.loaded.rules[Source.PROJECT]
        assert rules == RuleTexts((), ("Read(x)",), ("Bash(rm:*)",))
        assert live.around.settings.max_turns == 5
        assert live.around.settings.checkpoints
        assert live.around.settings.effort == ""
    assert any("settings.json" in said for said in desk.said)
    desk.write("{}")
    live.refresh()
    assert Source.PROJECT not in live.around.loaded.rules
    assert live.around.settings.max_turns is None


def test_an_empty_file_says_how_it_is_emptied(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write(RULES)
    live = desk.live()
    desk.write("")
    live.refresh()
    (said,) = desk.said
    assert said.endswith(
        "settings.json: is empty: what it forbade still counts; write {} to empty it"
    )


def test_a_file_that_is_replaced_is_never_missed(tmp_path: Path) -> None:
    """An editor removes it and puts the new one in its place a moment later."""
    desk = Desk(tmp_path)
    desk.write(RULES)
    live = desk.live()
    path = desk.project / ".gatewright" / "settings.json"
    aside = path.rename(path.with_name("aside"))
    back = threading.Timer(0.03, lambda: aside.rename(path))
    back.start()
    live.refresh()
    back.join()
    assert live.around.loaded.rules[Source.PROJECT].deny == ("Bash(rm:*)",)
    assert desk.said == []


def test_what_takes_the_place_of_a_file_keeps_what_it_forbade(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = desk.project / ".gatewright" / "settings.json"

    def large() -> None:
        with path.open("wb") as file:
            file.truncate(10**12)

    others = [
        lambda: os.mkfifo(path),
        path.mkdir,
        lambda: path.symlink_to(path),
        lambda: path.symlink_to("/dev/zero"),
        large,
    ]
    for make in others:
        desk.write(RULES)
        live = desk.live()
        path.unlink()
        make()
        live.refresh()
        assert live.around.loaded.rules[Source.PROJECT].deny == ("Bash(rm:*)",)
        assert len(desk.said) == 1
        desk.said.clear()
        path.rmdir() if path.is_dir() else path.unlink()


MISTAKES: list[Any] = [
    7,
    {"deny": 5},
    {"deny": [5, "Bash(dd:*)"], "ask": [[]]},
    {"allow": ["Bash(make)"], "deny": {"Bash(rm:*)": True}},
]


@pytest.mark.parametrize("permissions", MISTAKES)
def test_a_mistake_in_the_rules_keeps_what_was_forbidden(tmp_path: Path, permissions: Any) -> None:
    desk = Desk(tmp_path)
    desk.write(RULES)
    live = desk.live()
    desk.write({"permissions": permissions})
    live.refresh()
    rules = live.around.loaded.rules[Source.PROJECT]
    assert "Bash(rm:*)" in rules.deny
    assert ("Bash(dd:*)" in rules.deny) is ("dd" in str(permissions))
    assert rules.ask == ("Read(x)",)
    assert rules.allow == (("Bash(make)",) if "allow" in str(permissions) else ())


@pytest.mark.parametrize("name", [".gatewright", ".claude"])
def test_a_removed_file_still_forbids_in_the_session(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path)
    path = desk.project / name / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(RULES | {"effort": "low"}), encoding="utf-8")
    live = desk.live()
    aside = path.rename(path.with_name("aside"))
    for _ in range(2):  # and so it stays, told once
        live.refresh()
        live.trust()
        loaded = live.around.loaded
        rules = (loaded.claude if name == ".claude" else loaded.rules)[Source.PROJECT]
        assert rules == RuleTexts((), ("Read(x)",), ("Bash(rm:*)",))
        assert live.around.settings.effort == ""
    (said,) = desk.said
    assert f"{name}/settings.json: is gone: what it forbade still counts" in said
    aside.write_text("{}", encoding="utf-8")
    aside.rename(path)
    live.refresh()
    assert Source.PROJECT not in {**live.around.loaded.rules, **live.around.loaded.claude}


def test_a_removed_file_that_forbade_nothing_is_gone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write({"permissions": {"allow": ["Bash(make)"]}, "effort": "low"})
    live = desk.live()
    (desk.project / ".gatewright" / "settings.json").unlink()
    live.refresh()
    assert Source.PROJECT not in live.around.loaded.rules
    assert live.around.settings.effort == ""
    (said,) = desk.said
    assert said.endswith("settings.json is gone: what it said counts no more.")


@pytest.mark.parametrize("name", [".gatewright", ".claude"])
def test_a_key_given_twice_takes_nothing_away(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path)
    path = desk.project / name / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(RULES), encoding="utf-8")
    live = desk.live()
    path.write_text(json.dumps(RULES)[:-1] + ', "permissions": {}}', encoding="utf-8")
    live.refresh()
    loaded = live.around.loaded
    rules = (loaded.claude if name == ".claude" else loaded.rules)[Source.PROJECT]
    assert rules == RuleTexts((), ("Read(x)",), ("Bash(rm:*)",))
    (said,) = desk.said
    assert "has the key permissions twice in one object" in said


ACTING = {"env": {"MARK": "1"}, "permissions": {"allow": ["Bash(make)"]}}


async def test_trust_is_asked_once_and_remembered(tmp_path: Path) -> None:
    desk = Desk(tmp_path, trusted=False)
    desk.write(ACTING)
    session = await open_session(desk.options, desk.env, interactive=True)
    async with Recorder(session) as seen:
        session.submit("what can you do?")
        asked = await seen.until(Asked)
        text = "\n".join(plain(block) for block in asked.ask.body)
        assert 'env = {"MARK":"1"}' in text
        assert "Bash(make)" in text
        told = [option.label for option in asked.ask.options]
        assert "Go on without: they are ignored, but for narrow allow rules inside it" in told
        assert seen.of(TurnEnded) == []  # the first turn waits for the answer
        session.answer(asked.id, Answer((TRUST,)))
        await seen.until(TurnEnded)
        await session.close()
    again = await open_session(desk.options, desk.env, interactive=True)
    async with Recorder(again) as seen:
        again.submit("what can you do?")
        await seen.until(TurnEnded)
        await again.close()
        assert seen.of(Asked) == []


async def test_what_a_project_says_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    desk = Desk(tmp_path, trusted=False)
    desk.write({"\x1b[2J": 1, "env": {"\x1b]0;x\x07": ""}, "permissions": {"allow": ["\x9b(x)"]}})
    for interactive in (False, True):
        session = await open_session(desk.options, desk.env, interactive=interactive)
        async with Recorder(session) as seen:
            session.submit("what can you do?")
            if interactive:
                asked = await seen.until(Asked)
                assert "\\x9b(x)" in plain(asked.ask.body[0])
                session.answer(asked.id, Answer(("continue",)))
            await seen.until(TurnEnded)
            await session.close()
            told = [notice.text for notice in seen.of(Noticed)]
            assert any("\\x1b[2J is no setting" in text for text in told)
            assert all("\x1b" not in text and "\x9b" not in text for text in told)


async def test_who_cannot_be_asked_gets_one_line(tmp_path: Path) -> None:
    desk = Desk(tmp_path, trusted=False)
    desk.write(ACTING)
    session = await open_session(desk.options, desk.env, interactive=False)
    async with Recorder(session) as seen:
        notice = await seen.until(Noticed)
        await session.close()
        assert notice.text.startswith("2 settings of this project are ignored")
        assert "not trusted, but for narrow allow rules inside it; " in notice.text
        assert seen.of(Asked) == []


DENYING = '{"permissions": {"deny": ["Bash(ls:*)"]}'  # one brace short


async def decisions(desk: Desk) -> list[str]:
    """How the gate ended the demo's `ls` in bypass mode, where nobody can be asked."""
    options = msgspec.structs.replace(desk.options, mode="bypassPermissions", no_session=True)
    session = await open_session(options, desk.env, interactive=False)
    async with Recorder(session) as seen:
        session.submit("run ls")
        await seen.until(TurnEnded)
        await session.close()
        return [event.behavior for event in seen.of(Decided)]


async def test_settings_that_cannot_be_read_permit_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert await decisions(desk) == ["allow"]
    own = tmp_path / "home" / ".gatewright"
    own.mkdir(exist_ok=True)
    (own / "settings.json").write_text(DENYING, encoding="utf-8")
    assert await decisions(desk) == ["deny"]


@pytest.mark.parametrize("given", [DENYING, "/no/such/file.json"])
async def test_unreadable_settings_of_the_command_line_are_refused(
    tmp_path: Path, given: str
) -> None:
    desk = Desk(tmp_path)
    options = msgspec.structs.replace(desk.options, settings=given)
    with pytest.raises(UsageError, match="--settings"):
        await open_session(options, desk.env, interactive=False)


async def test_an_unknown_default_mode_is_told_and_default(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    own = tmp_path / "home" / ".gatewright"
    own.mkdir(exist_ok=True)
    (own / "settings.json").write_text('{"permissions": {"defaultMode": "yolo"}}', encoding="utf-8")
    session = await open_session(desk.options, desk.env, interactive=True)
    async with Recorder(session) as seen:
        notice = await seen.until(Noticed, where=lambda event: "yolo" in event.text)
        assert session.mode == "default"
        assert "defaultMode" in notice.text
        await session.close()


async def test_an_old_mode_name_counts_and_is_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    own = tmp_path / "home" / ".gatewright"
    own.mkdir(exist_ok=True)
    (own / "settings.json").write_text('{"permissions": {"defaultMode": "code"}}', encoding="utf-8")
    session = await open_session(desk.options, desk.env, interactive=True)
    async with Recorder(session) as seen:
        await seen.until(Noticed, where=lambda event: "deprecated" in event.text)
        assert session.mode == "acceptEdits"
        await session.close()


def test_a_file_that_a_command_may_be_writing_stays_what_it_was(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    quiet = [False]
    around = survey(desk.options, desk.env, interactive=True)
    live = LiveSettings(around, desk.env, tell=desk.said.append)
    live.settled = lambda _: quiet[0]
    desk.write({"statusLine": {"type": "command", "command": "evil"}, "model": "evil"})
    (desk.project / ".claude").mkdir()
    (desk.project / ".claude" / "settings.json").write_text(json.dumps(RULES), encoding="utf-8")
    live.refresh()
    assert live.around.settings.status_line.command == ""
    assert live.around.loaded.rules.get(Source.PROJECT, RuleTexts()) == RuleTexts()
    assert any("it counts once nothing is in it" in text for text in desk.said), desk.said
    quiet[0] = True
    live.refresh()  # it was looked after, and is still there: it is the person's
    assert live.around.settings.model == "demo"
    assert live.around.settings.status_line.command == "evil"
    assert live.around.loaded.held == ()


def test_what_counted_before_counts_on_while_a_command_may_be_writing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write(RULES)
    around = survey(desk.options, desk.env, interactive=True)
    live = LiveSettings(around, desk.env, tell=desk.said.append)
    live.settled = lambda _: False
    for text in ("{}", '{"permissions": {"allow": ["Bash"]}}', "", "broken"):
        desk.write(text)
        live.refresh()
        assert live.around.loaded.rules[Source.PROJECT] == RuleTexts(
            ("Bash(make)",), ("Read(x)",), ("Bash(rm:*)",)
        )
