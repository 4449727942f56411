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
    file.write_text(json.dumps({"env": {"A": "b"}, "enabledPlugins": {}}), encoding="utf-8")
    return desk


async def test_it_is_shown_and_only_then_copied(desk: Desk) -> None:
    desk.open()
    shown = await desk.said("/import")
    assert "+ env.A  b" in shown
    assert "- enabledPlugins: not supported here yet." in shown
    assert shown.endswith("/import claude copies this.")
    assert not desk.own.exists()
    assert (await desk.said("/import claude")).endswith(f"Copied into {desk.own}")
    assert desk.read() == {"env": {"A": "b"}}
    assert (await desk.said("/import claude")).endswith("There is nothing to copy.")


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
