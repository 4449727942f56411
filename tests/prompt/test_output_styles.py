"""Output styles: found where people keep them, in the system prompt, the same until a clear."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.agents.definitions.places import Ground
from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Offer,
    Outcome,
    Pick,
    Problem,
    Say,
)
from gatewright.agent.commands.registry import Front
from gatewright.agent.context.prompt.style_files import LONGEST, styles_of
from gatewright.agent.extensions.styles.style_session import OutputStyles
from gatewright.agent.record.events import Noticed
from gatewright.agent.settings.paths import Places
from gatewright.tools.access import Where
from gatewright.tools.blocks import plain
from tests.agents.test_types_at_work import start
from tests.fakes.waiting import eventually
from tests.permissions.composed import Desk, desk

TEXT = "Answer like a pirate."
PROJECT = "project/.claude/output-styles"


@pytest.fixture(autouse=True)
def _a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWRIGHT", raising=False)  # settings do not change inside a session


def put(folder: Path, where: str, name: str, text: str = TEXT, front: str = "") -> Path:
    path = folder / where / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\ndescription: About {name}.\n{front}---\n\n{text}\n", encoding="utf-8")
    return path


def ground(folder: Path, *, trusted: bool = True, bare: bool = False) -> Ground:
    home, project = folder / "home", folder / "project"
    (project / "deep").mkdir(parents=True, exist_ok=True)
    own = Places(home=home / ".gatewright", root=project, managed=folder / "etc")
    where = Where(cwd=project / "deep", root=project, home=home)
    roots = (("kit", folder / "plugin"),)
    return Ground(
        places=own, where=where, env={"HOME": str(home)}, trusted=trusted, bare=bare, roots=roots
    )


def system(made: Desk, request: int = -1) -> str:
    return "\n".join(block["text"] for block in made.server.bodies[request]["system"])


async def line(made: Desk, text: str) -> tuple[Outcome, str]:
    outcome = await made.session.run_command(text, Front(panels=True))
    said = outcome.fallback if isinstance(outcome, Offer) else outcome
    return outcome, "\n".join(map(plain, said.blocks)) if isinstance(said, Say) else ""


async def turn(made: Desk, count: int) -> None:
    made.session.submit("go")
    await made.ended(count)


PLACES = (
    "etc/output-styles",
    "home/.gatewright/output-styles",
    "home/.claude/output-styles",
    "project/deep/.gatewright/output-styles",
    "project/deep/.claude/output-styles",
    "project/.gatewright/output-styles",
    "project/.agents/output-styles",
    PROJECT,
)


@pytest.mark.parametrize("first", range(len(PLACES)))
def test_the_first_place_has_the_name(tmp_path: Path, first: int) -> None:
    for place in PLACES[first:]:
        put(tmp_path, place, "pirate", f"Of {place}.")
    found = styles_of(ground(tmp_path)).find("Pirate")
    assert found is not None
    assert found.text == f"Of {PLACES[first]}."


def test_what_a_file_says(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "a", front="name: Big Ship\nkeep-coding-instructions: true\n")
    put(tmp_path, PROJECT, "long", "x" * (LONGEST + 5))
    put(tmp_path, PROJECT, "concise", "Mine.")
    put(tmp_path, "plugin/output-styles", "salty", front="force-for-plugin: true\n")
    put(tmp_path, "plugin/output-styles", "default", "Takes nobody's place.")
    styles = styles_of(ground(tmp_path))
    big, long, salty = styles.find("big ship"), styles.find("long"), styles.find("salty")
    assert big is not None and long is not None and salty is not None
    assert (big.name, big.description, big.coding) == ("Big Ship", "About a.", True)
    assert (long.coding, len(long.text)) == (False, LONGEST)
    assert (salty.name, salty.origin, salty.offered) == ("kit:salty", "plugin", True)
    concise, default = styles.find("concise"), styles.find("default")
    assert concise is not None and default is not None
    assert (concise.text, default.text) == ("Mine.", "")
    names = [style.name for style in styles.every]
    assert names[-4:] == ["default", "explanatory", "learning", "proactive"]


def test_a_bad_file_is_named_and_hides_none(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "good")
    folder = tmp_path / PROJECT
    (folder / "open.md").write_text("---\nname: x\n", encoding="utf-8")
    (folder / "plain.md").write_text("Only text.\n", encoding="utf-8")
    (folder / "empty.md").write_text("---\nname: y\n---\n", encoding="utf-8")
    (folder / "out.md").symlink_to(put(tmp_path, "elsewhere", "out"))
    styles = styles_of(ground(tmp_path))
    assert styles.find("good") is not None
    assert styles.find("out") is None
    assert len(styles.problems) == 3
    assert all(str(folder) in problem for problem in styles.problems)


def test_not_of_an_untrusted_project_and_not_where_it_is_bare(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "theirs")
    put(tmp_path, "home/.claude/output-styles", "mine")
    put(tmp_path, "etc/output-styles", "ours")
    untrusted, bare = (
        styles_of(ground(tmp_path, trusted=False)),
        styles_of(ground(tmp_path, bare=True)),
    )
    assert [s.name for s in untrusted.every if s.origin != "builtin"] == ["ours", "mine"]
    assert [s.name for s in bare.every if s.origin != "builtin"] == ["ours"]


async def test_it_is_in_the_prompt_and_stays_until_a_clear(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "pirate")
    own = {"outputStyle": "pirate"}
    async with desk(tmp_path, ["say: a", "say: b", "say: c"], own=own) as made:
        await turn(made, 1)
        first = system(made)
        assert f"# Style: pirate\n\n{TEXT}" in first
        assert "# How to work" not in first and "# Tools" not in first
        assert "# Care" in first and "You are Gatewright" in first
        _, text = await line(made, "/output-style explanatory")
        assert "/clear" in text
        put(tmp_path, PROJECT, "pirate", "Something else.")
        await turn(made, 2)
        assert system(made) == first
        assert (
            json.loads((tmp_path / "home/.gatewright/settings.json").read_text(encoding="utf-8"))[
                "outputStyle"
            ]
            == "explanatory"
        )
        await eventually(lambda: not made.session.busy)
        await made.session.apply(Change(ClearHistory()))
        await turn(made, 3)
        assert "# Style: explanatory" in system(made)
        assert "# How to work" in system(made) and TEXT not in system(made)


async def test_agents_of_other_kinds_do_not_have_it(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "pirate")
    script = [start("general-purpose"), "say: found it", "say: done"]
    async with desk(tmp_path, script, own={"outputStyle": "pirate"}) as made:
        await turn(made, 1)
        assert TEXT in system(made, 0)
        assert TEXT not in system(made, 1)


async def test_an_unknown_name_is_the_default_with_a_warning(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: a"], own={"outputStyle": "explanatry"}) as made:
        await turn(made, 1)
        assert "# Style" not in system(made)
        told = [event.text for event in made.seen.events if isinstance(event, Noticed)]
        assert any("did you mean explanatory? The default one is used." in text for text in told)
        styles = made.session.part(OutputStyles)
        assert styles is not None and styles.name == "default"


async def test_an_untrusted_project_names_no_style(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "pirate")
    settings = {"outputStyle": "concise"}
    made = desk(tmp_path, ["say: a"], settings=settings, trust=False, interactive=False)
    async with made as opened:
        await turn(opened, 1)
        assert "# Style" not in system(opened)


async def test_the_command_offers_all_of_them(tmp_path: Path) -> None:
    put(tmp_path, PROJECT, "pirate")
    (tmp_path / PROJECT / "bad.md").write_text("no front matter", encoding="utf-8")
    async with desk(tmp_path, ["say: a"]) as made:
        outcome, text = await line(made, "/output-style")
        assert isinstance(outcome, Pick)
        rows = {choice.label: choice for choice in outcome.choices}
        assert list(rows) == [
            "pirate",
            "default",
            "concise",
            "explanatory",
            "learning",
            "proactive",
        ]
        assert rows["default"].source == "in use"
        assert rows["pirate"].detail == "About pirate."
        assert outcome.choices[outcome.at].label == "default"
        assert "bad.md" in text and "/clear" in text
        chosen = await outcome.choose("pirate")
        assert isinstance(chosen, Say) and "/clear" in plain(chosen.blocks[0])
        outcome, _ = await line(made, "/output-style")
        assert isinstance(outcome, Pick)
        assert {c.label: c.source for c in outcome.choices}["pirate"] == "from /clear on"
        outcome, text = await line(made, "/output-style nonsense")
        assert isinstance(outcome, Problem)
        assert "there are pirate, default" in text
