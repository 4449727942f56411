"""/import: what can be copied of Claude Code's settings is shown first, and copied when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.settings.foreign.offers import offers
from tests.commands.test_settings import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.delenv("GATEWRIGHT", raising=False)
    desk = Desk(tmp_path)
    file = tmp_path / "home" / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"env": {"A": "b"}, "apiKeyHelper": "x"}), encoding="utf-8")
    return desk


async def test_it_is_shown_and_only_then_copied(desk: Desk) -> None:
    desk.open()
    shown = await desk.said("/import")
    assert "+ env.A  b" in shown
    assert "- apiKeyHelper: keys are kept" in shown
    assert shown.endswith("/import claude copies this.")
    assert not desk.own.exists()
    assert (await desk.said("/import claude")).endswith(f"Copied into {desk.own}")
    assert desk.read() == {"env": {"A": "b"}}
    assert (await desk.said("/import claude")).endswith("There is nothing to copy.")


async def test_nothing_there_is_said_and_no_usage(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open()
    assert await desk.said("/import") == "Nothing of Claude Code's is here to copy."
    assert await desk.said("/import claude") == "Nothing of Claude Code's is here to copy."


async def test_another_program_is_named(desk: Desk) -> None:
    desk.open()
    assert (await desk.said("/import vim")).startswith("Usage: /import")


def test_on_the_screen_the_offer_names_the_command(desk: Desk) -> None:
    desk.open()
    around = desk.book.around
    assert offers(around.loaded, around.places, interactive=True) == (
        "Found Claude Code's settings: agent import claude, or /import here.",
    )
    assert offers(around.loaded, around.places, interactive=True) == ()


async def test_files_are_brought_over_when_it_is_said_how(desk: Desk) -> None:
    skill = desk.home / ".claude" / "skills" / "deploy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: d\n---\nGo.\n", encoding="utf-8")
    desk.open()
    shown = await desk.said("/import")
    assert "they count where they lie; /import claude link, or copy, brings them over" in shown
    assert "--files" not in shown
    ours = desk.home / ".gatewright" / "skills" / "deploy"
    await desk.said("/import claude")
    assert not ours.exists()
    assert f"Linked {ours}" in await desk.said("/import claude link")
    assert ours.is_symlink()
    assert "all are brought over" in await desk.said("/import")
    assert (await desk.said("/import claude move")).startswith("Usage: /import")
