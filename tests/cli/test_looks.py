"""The screen starts as the person set it up, and remembers what they choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.screen_settings import looks, themes_of_plugins
from gatewright.agent.subcommands.questions.rendering import render_line
from gatewright.tui.style.palette_file import OwnThemes
from tests.fakes.plugin_trees import full_plugin, write_json


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home" / ".gatewright"
    home.mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return home


def test_a_chosen_theme_is_kept_beside_other_settings(home: Path, tmp_path: Path) -> None:
    options = LaunchOptions(cwd=str(tmp_path / "project"))
    (home / "settings.json").write_text('{"model": "demo"}', encoding="utf-8")
    assert looks(options).ui.theme == "auto"
    looks(options).keep_theme("light")
    assert looks(options).ui.theme == "light"
    kept = json.loads((home / "settings.json").read_text(encoding="utf-8"))
    assert kept == {"model": "demo", "ui": {"theme": "light"}}


def test_themes_of_plugins_that_are_on_can_be_chosen(home: Path, tmp_path: Path) -> None:
    root = full_plugin(tmp_path / "tidy")
    write_json(root / "themes" / "sea.json", {"base": "dark", "accent": "#00aaff"})
    write_json(root / "themes" / "bad.json", {"accent": "bluish"})
    none = LaunchOptions(cwd=str(tmp_path / "project"))
    assert themes_of_plugins(none) == {}
    options = LaunchOptions(cwd=str(tmp_path / "project"), plugin_dirs=(str(root),))
    there = themes_of_plugins(options)
    assert sorted(there) == ["tidy:bad", "tidy:dusk", "tidy:sea"]
    looks(options).keep_theme("tidy:sea")
    assert looks(options).ui.theme == "tidy:sea"
    own = OwnThemes(home / "themes", looks(options).keep_theme, lambda: there)
    found, problems = own.read(looks(options).ui.theme)
    assert [(name, each.accent) for name, each in found.items()] == [("tidy:sea", "#00aaff")]
    assert problems == []
    assert own.read("dark") == ({}, [])
    assert "tidy:bad.json: accent is no colour" in own.read("tidy:bad")[1][0]
    assert "has the theme gone:sea" in own.read("gone:sea")[1][0]


def test_a_broken_settings_file_is_left_alone(home: Path, tmp_path: Path) -> None:
    (home / "settings.json").write_text("{", encoding="utf-8")
    looks(LaunchOptions(cwd=str(tmp_path / "project"))).keep_theme("light")
    assert (home / "settings.json").read_text(encoding="utf-8") == "{"


def test_each_project_remembers_its_own_messages(home: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    files = {
        looks(LaunchOptions(cwd=str(tmp_path / name))).history for name in ("project", "other")
    }
    assert len(files) == 2
    assert all(path.is_relative_to(home) for path in files)


def test_rendering_answers_each_question() -> None:
    line = json.dumps({"id": 7, "where": "transcript", "chunks": ["a\x1b[2", "Jb\u202e"]})
    answer = json.loads(render_line(line.encode()))
    assert answer["id"] == 7
    assert "\x1b[2J" not in answer["output"]
    assert "\u202e" not in answer["output"]
    assert "no place" in json.loads(render_line(b'{"id":1,"where":"x","chunks":[]}'))["error"]
    assert "error" in json.loads(render_line(b"{"))
