"""/config and /doctor: what is set, by whom, what it means, and a change to one's own file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel
from gatewright.agent.commands.registry import LINES, Front
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.workspace import survey
from tests.fakes.commands import Desk as CommandDesk
from tests.fakes.commands import told

SECRET = "sk-" + "x1" * 12


class Desk:
    """A person's home and project, and their session's commands."""

    def __init__(self, tmp_path: Path) -> None:
        self.home, self.project = tmp_path / "home", tmp_path / "project"
        self.own = self.home / ".gatewright" / "settings.json"
        self.own.parent.mkdir(parents=True)
        (self.project / ".gatewright").mkdir(parents=True)
        self.told: list[str] = []

    def put(self, document: Any, *, project: bool = False) -> None:
        path = self.project / ".gatewright" / "settings.json" if project else self.own
        path.write_text(json.dumps(document), encoding="utf-8")

    def open(self, *, trusted: bool = True) -> None:
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        options = LaunchOptions(cwd=str(self.project), trust=trusted)
        around = survey(options, env, interactive=True)
        live = LiveSettings(around, env, tell=self.told.append)
        self.book = SettingsBook(live)
        self.commands = CommandDesk(settings=self.book)

    async def run(self, line: str, front: Front = LINES) -> Outcome:
        return await self.commands.run(line, front)

    async def said(self, line: str) -> str:
        return told(await self.run(line))

    def read(self) -> Any:
        return json.loads(self.own.read_text(encoding="utf-8"))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.delenv("GATEWRIGHT", raising=False)
    return Desk(tmp_path)


async def test_everything_set_is_listed_with_its_source(desk: Desk) -> None:
    desk.put({"model": "demo", "permissions": {"deny": ["WebFetch"]}, "modle": 1})
    desk.put({"permissions": {"deny": ["Bash"]}, "env": {"MY_TOKEN": SECRET}}, project=True)
    desk.open()
    outcome = await desk.run("/config")
    assert isinstance(outcome, ConfigPanel)
    lines = [" ".join(line.split()) for line in (await desk.said("/config")).splitlines()]
    assert 'model "demo" user' in lines
    assert 'permissions.deny ["Bash", "WebFetch"] project, user' in lines
    assert any("modle is no setting; did you mean model?" in line for line in lines)
    assert SECRET not in "".join(lines)


async def test_a_list_of_all_settings_looks_at_each_group_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.open()
    looked: list[Any] = []
    look = structs.fields

    def fields(kind: Any) -> Any:
        looked.append(kind)
        return look(kind)

    monkeypatch.setattr(structs, "fields", fields)
    assert len(desk.book.options()) > len(looked)


async def test_without_any_settings(desk: Desk) -> None:
    desk.open()
    assert (await desk.said("/config")).startswith("All settings have defaults.")


async def test_one_is_explained(desk: Desk) -> None:
    desk.put({"ui": {"vim": True}})
    desk.open()
    said = await desk.said("/config ui.vim")
    assert "true" in said
    assert "user" in said
    assert "Vim keys in the prompt." in said
    assert "It takes true or false." in said
    said = await desk.said("/config cleanupPeriodDays")
    assert "30" in said
    assert "default" in said
    assert "a whole number of at least 0" in said
    said = await desk.said("/config sandbox.network")
    assert "sandbox.network.allowedDomains" in said
    assert "What may be reached." in said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/config ui.vmi", "ui.vmi is no setting; did you mean vim?"),
        ("/config modle", "modle is no setting; did you mean model?"),
        ("/config modle x", "modle is no setting; did you mean model?"),
        ("/config ui.vim.x", "ui.vim takes true or false, so there is no ui.vim.x."),
        ("/config ui.vim perhaps", "ui.vim expected true or false, found the text"),
        ("/config maxTurns 0", "maxTurns expected a whole number of at least 1"),
        ("/config permissions.defaultMode yolo", '"yolo" is no mode'),
        ("/config permissions.deny {", "permissions.deny expected a list of texts"),
        ("/config unset", "Usage: /config unset KEY"),
    ],
)
async def test_mistakes_are_said_and_nothing_is_written(desk: Desk, line: str, says: str) -> None:
    desk.open()
    assert says in await desk.said(line)
    assert not desk.own.exists()


async def test_one_is_set_and_taken_back(desk: Desk) -> None:
    desk.put({"mine": [1], "ui": {"theme": "light"}})
    desk.open()
    assert (await desk.said("/config ui.vim true")).startswith(
        "ui.vim = true in ~/.gatewright/settings.json."
    )
    await desk.said('/config permissions.deny ["WebFetch", "Bash(rm *)"]')
    await desk.said("/config env.LEVEL two words")
    assert desk.read() == {
        "mine": [1],
        "ui": {"theme": "light", "vim": True},
        "permissions": {"deny": ["WebFetch", "Bash(rm *)"]},
        "env": {"LEVEL": "two words"},
    }
    assert "true" in await desk.said("/config ui.vim")
    said = await desk.said("/config unset ui.vim")
    assert said == "ui.vim is no longer set in ~/.gatewright/settings.json; it is false (default)."
    assert desk.read()["ui"] == {"theme": "light"}


async def test_it_is_said_when_a_change_counts(desk: Desk) -> None:
    desk.open()
    assert "counts from the next message on" in await desk.said("/config autoMemory ask")
    assert "a new one has it" in await desk.said("/config autoCompact false")


async def test_a_stronger_layer_is_named(desk: Desk) -> None:
    desk.put({"model": "demo/other"}, project=True)
    desk.open()
    said = await desk.said("/config model demo")
    assert said.endswith('but project settings have the say: "demo/other".')


async def test_a_file_with_comments_is_left_as_it_is(desk: Desk) -> None:
    desk.own.write_text('{\n // mine\n "model": "demo"}', encoding="utf-8")
    before = desk.own.read_bytes()
    desk.open()
    assert "comments are not supported" in await desk.said("/config ui.vim true")
    assert desk.own.read_bytes() == before


async def test_a_command_of_a_session_changes_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWRIGHT", "1")
    desk.open()
    for line in ("/config permissions.skip.bash true", "/config unset permissions.deny"):
        assert "changed by the person" in await desk.said(line)
    assert not desk.own.exists()


async def test_the_machine_is_examined(desk: Desk) -> None:
    desk.put({"model": 7})
    desk.open()
    outcome = await desk.run("/doctor")
    assert isinstance(outcome, DoctorPanel)
    said = await desk.said("/doctor")
    for name in ("Python", "Keys", "git", "Sandbox", "Own files", "Project"):
        assert f"  {name.ljust(10)} " in said
    assert "XX  Settings" in said
    assert "Correct that line." in said


async def test_only_a_front_end_with_panels_is_told_nothing(desk: Desk) -> None:
    """Whoever cannot open the panel reads what it would show."""
    desk.open()
    said = await desk.run("/doctor", Front(switches=True))
    assert isinstance(said, DoctorPanel)
    assert said.fallback.blocks
    shown = await desk.run("/doctor", Front(panels=True))
    assert isinstance(shown, DoctorPanel)
    assert shown.fallback.blocks == ()
    assert [check.name for check in shown.checks][:2] == ["Python", "Terminal"]


async def test_a_form_shows_every_single_value(desk: Desk) -> None:
    desk.put({"ui": {"vim": True}, "webb": 1})
    desk.open()
    book = desk.book
    options = {option.key: option for option in book.options()}
    assert (options["ui.vim"].kind, options["ui.vim"].value) == ("switch", "true")
    assert options["ui.vim"].own
    assert options["ui.vim"].help == "Vim keys in the prompt."
    assert options["effort"].choices[-1] == "max"
    assert options["maxTurns"].kind == "number"
    assert options["fallbackModels"].kind == "list"
    assert not {"env", "projects", "permissions.allow"} & set(options)
    assert book.problem("maxTurns", "0").startswith("maxTurns expected")
    assert book.problem("maxTurns", "3") == ""
