"""/skills: what there is and what it costs, a key that changes how it shows, and searching."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.outcome import Form, Listing, Outcome, Problem, Say, said
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.extensions.skills.session_skills import book_of
from gatewright.agent.extensions.skills.skills_command import CYCLE, skills_commands
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.plugins.panel.market_search import in_markets
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.workspace import survey
from gatewright.tools.blocks import Block, plain

BUNDLED = 4


class Shelf:
    """A person's home and project as /skills sees them; `changes` counts what it was told."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.own = self.home / ".gatewright" / "settings.json"
        self.own.parent.mkdir(parents=True)
        self.project.mkdir()
        self.verbs: dict[str, Callable[[CommandContext], Awaitable[Outcome]]] = {}
        self.changes = 0
        self.uses = Uses(folder / "uses.json", lambda: 1_000_000.0)

    def open(self, *, trust: bool = True) -> Shelf:
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        around = survey(LaunchOptions(cwd=str(self.project), trust=trust), env, interactive=True)
        live = LiveSettings(around, env, tell=lambda text: None)
        self.settings: SettingsBook | None = SettingsBook(live)
        self.book = book_of(lambda: live.around, tuple)
        return self

    def changed(self) -> None:
        self.changes += 1

    def elsewhere(self, words: str) -> Sequence[Block]:
        around = survey(
            LaunchOptions(cwd=str(self.project)), {"HOME": str(self.home)}, interactive=True
        )
        return in_markets(around.places.home, around.own_env, around.settings, words)

    def put(self, name: str, where: str = "project/.claude/skills", front: str = "") -> Path:
        path = self.home.parent / where / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"---\nname: {name}\ndescription: About {name}.\n{front}---\n\nDo {name}.\n"
        path.write_text(text, encoding="utf-8")
        return path

    def read(self) -> Any:
        return json.loads(self.own.read_text(encoding="utf-8"))

    async def run(self, line: str) -> Outcome:
        (command,) = skills_commands(self)
        return await command.run(CommandContext(name="skills", args=line))

    async def told(self, line: str) -> str:
        return "\n".join(map(plain, said(await self.run(line))))

    async def listing(self) -> Listing:
        outcome = await self.run("")
        assert isinstance(outcome, Listing)
        return outcome


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.delenv("GATEWRIGHT", raising=False)
    return Shelf(tmp_path)


async def test_by_origin_with_figures_and_what_is_wrong(shelf: Shelf) -> None:
    path = shelf.put("deploy")
    shelf.put("mine", "home/.claude/skills")
    shelf.put("hers", front="disable-model-invocation: true\n")
    bad = shelf.put("bad")
    bad.write_text("---\nname: bad\n", encoding="utf-8")
    made = await shelf.open().listing()
    shelf.uses.note("project:deploy")
    made = await shelf.listing()
    rows = {row.label: row for row in made.rows()}
    assert [row.source for row in made.rows()] == [
        "user", "project", "project", *["built-in"] * BUNDLED, "wrong",
    ]  # fmt: skip
    listed, text, uses = rows["deploy"].numbers[2:]
    assert listed > 0 and uses == 1 and text == path.stat().st_size // 4
    assert rows["hers"].cells[1] == "user-only" and rows["hers"].numbers[2] == 0
    (wrong,) = [row for row in made.rows() if row.source == "wrong"]
    assert str(bad) in wrong.label
    assert str(bad) in plain((await made.read(wrong.id))[0])
    shown = "\n".join(map(plain, await made.read(rows["deploy"].id)))
    assert str(path) in shown and "Do deploy." in shown and "used" in shown
    assert "7 skills" in await shelf.told("") and str(bad) in await shelf.told("")


async def test_space_goes_through_the_ways_and_keeps_them(shelf: Shelf) -> None:
    shelf.put("deploy")
    made = await shelf.open().listing()
    act = next(act for act in made.acts if act.key == "space")
    states = [row.cells[1] for row in made.rows() if row.label == "deploy"]
    for wanted in (*CYCLE[1:], "on"):
        row = next(row for row in made.rows() if row.label == "deploy")
        outcome = await act.run(row.id)
        assert isinstance(outcome, Say) and not isinstance(outcome, Problem)
        assert shelf.read()["skillOverrides"] == {"deploy": wanted}
        states += [row.cells[1] for row in made.rows() if row.label == "deploy"]
    assert states == ["on", "name-only", "user-only", "off", "on"]
    assert shelf.changes == 4


async def test_space_has_only_the_ways_that_differ(shelf: Shelf) -> None:
    shelf.put("hers", front="disable-model-invocation: true\n")
    shelf.put("its", front="user-invocable: false\n")
    made = await shelf.open().listing()
    told: list[str] = []
    for name in ("hers", "hers", "its", "its", "its"):
        row = next(row for row in made.rows() if row.label == name)
        told.append(plain(said(await made.acts[0].run(row.id))[0]))
    assert told == [
        "hers is off: nobody can invoke it.",
        "hers is on: yours to type, and the model is not told of it.",
        "its is told to the model by its name alone; it is not to be typed.",
        "its is off: nobody can invoke it.",
        "its is told to the model with its description; it is not to be typed.",
    ]


async def test_what_others_say_stays(shelf: Shelf) -> None:
    shelf.put("deploy")
    shelf.own.write_text('{"skills": {"disabled": ["deploy"]}}', encoding="utf-8")
    made = await shelf.open().listing()
    (row,) = [row for row in made.rows() if row.label == "deploy"]
    outcome = await made.acts[0].run(row.id)
    assert isinstance(outcome, Problem)
    assert "deploy stays off" in plain(outcome.blocks[0])


async def test_one_that_lost_its_name_is_shown_by_its_longer_one(shelf: Shelf) -> None:
    shelf.put("deploy")
    shelf.put("deploy", "home/.claude/skills")
    shelf.open()
    rows = [row for row in (await shelf.listing()).rows() if "deploy" in row.label]
    assert [(row.label, row.source) for row in rows] == [
        ("deploy", "user"), ("project:deploy", "project"),
    ]  # fmt: skip
    assert "shadowed by" in await shelf.told("info project:deploy")
    await (await shelf.listing()).acts[0].run(rows[1].id)
    assert shelf.read()["skillOverrides"] == {"project:deploy": "name-only"}


async def test_of_an_untrusted_project_it_says_so(shelf: Shelf) -> None:
    shelf.put("deploy", front="allowed-tools: Bash(make)\n")
    shelf.open(trust=False)
    text = await shelf.told("info deploy")
    assert "untrusted" in text and "allowed-tools" in text


async def test_editing(shelf: Shelf) -> None:
    path = shelf.put("deploy")
    made = await shelf.open().listing()
    edit = next(act for act in made.acts if act.key == "e")
    ids = {row.label: row.id for row in made.rows()}
    form = await edit.run(ids["deploy"])
    assert isinstance(form, Form) and form.text == path.read_text(encoding="utf-8")
    assert not isinstance(await form.take(form.text + "More.\n"), Problem)
    assert "More." in path.read_text(encoding="utf-8")
    assert isinstance(await form.take("---\nname: x\n"), Problem)
    assert isinstance(await edit.run(ids["code-review"]), Problem)


async def test_words_behind_it(shelf: Shelf) -> None:
    shelf.put("deploy")
    shelf.open()
    assert "About deploy." in await shelf.told("info /deploy")
    assert "About deploy." in await shelf.told("deploy")
    assert isinstance(await shelf.run("info nobody"), Problem)
    assert isinstance(await shelf.run("info"), Problem)
    assert "code-review" in await shelf.told("search defects of a change")
    assert "No skill here is about zzz" in await shelf.told("search zzz")
    market = shelf.home / "market/.claude-plugin/marketplace.json"
    market.parent.mkdir(parents=True)
    entry = {"name": "sleeper", "source": "./x", "description": "Makes zzz"}
    market.write_text(json.dumps({"name": "beds", "plugins": [entry]}), encoding="utf-8")
    known = {"name": "beds", "source": str(market.parent.parent), "linked": True}
    added = {"markets": {"beds": {**known, "folder": str(market.parent.parent)}}}
    path = shelf.home / ".gatewright/plugins/markets.json"
    path.parent.mkdir()
    path.write_text(json.dumps(added), encoding="utf-8")
    assert "sleeper@beds" in await shelf.told("search zzz")
    shelf.put("later")
    assert "Read again: 6 skills" in await shelf.told("reload")
    shelf.put("inner", "project/apps/web/.claude/skills")
    assert "Read again: 7 skills" in await shelf.told("reload --all")
    assert shelf.changes == 2
