"""Changing settings files: other keys stay, concurrent writers lose nothing, bad files survive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.edit import edit, set_value
from tests.fakes.waiting import PATIENCE

WRITER = """
import sys
from pathlib import Path
from gatewright.agent.settings.edit import set_value
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    set_value(path, f"env.{name}{number}", "x")
"""


def test_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(
        '{\n    "b": [1, 2],\n    "ui": {"theme": "light"},\n    "a": "ä"\n}\n', "utf-8"
    )
    path.chmod(0o640)
    set_value(path, "ui.vim", True)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {"b": [1, 2], "ui": {"theme": "light", "vim": True}, "a": "ä"}
    assert list(json.loads(text)) == ["b", "ui", "a"]
    assert '\n    "a": "ä"' in text, "indentation and characters are kept"
    assert path.stat().st_mode & 0o777 == 0o640


def test_set_and_unset(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.json"
    set_value(path, "permissions.defaultMode", "plan")
    assert json.loads(path.read_text(encoding="utf-8")) == {"permissions": {"defaultMode": "plan"}}
    assert path.stat().st_mode & 0o777 == 0o600
    set_value(path, "permissions.defaultMode", None)
    assert json.loads(path.read_text(encoding="utf-8")) == {"permissions": {}}


@pytest.mark.parametrize("text", ["{ broken", "[1]", '"text"'])
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="left as it is"):
        set_value(path, "model", "x")
    assert path.read_text(encoding="utf-8") == text


def test_a_key_below_a_value_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"model": "x"}', encoding="utf-8")
    with pytest.raises(SettingsError, match="model is no object"):
        set_value(path, "model.name", "y")
    assert path.read_text(encoding="utf-8") == '{"model": "x"}'


def test_a_failing_change_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}", encoding="utf-8")

    def fail(values: dict[str, object]) -> None:
        values["half"] = True
        raise SettingsError("no")

    with pytest.raises(SettingsError):
        edit(path, fail)
    assert path.read_text(encoding="utf-8") == "{}"
    assert {each.name for each in tmp_path.iterdir()} == {"settings.json"}


def test_git_shows_nothing_of_the_persons_own_settings_in_a_project(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    set_value(tmp_path / ".gatewright" / "settings.local.json", "model", "x")
    status = ["git", "-C", str(tmp_path), "status", "--porcelain", "-uall"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""
    assert sorted(each.name for each in (tmp_path / ".gatewright").iterdir()) == [
        ".gitignore",
        "settings.local.json",
    ]
    set_value(tmp_path / ".gatewright" / "settings.json", "model", "x")
    shown = subprocess.run(status, check=True, capture_output=True, text=True).stdout
    assert shown.split() == ["??", ".gatewright/settings.json"], "this one is everybody's"


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".settings.json.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError):
        set_value(tmp_path / "settings.json", "model", "x")
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text("{}", encoding="utf-8")
    link.symlink_to(real)
    set_value(link, "model", "x")
    assert link.is_symlink()
    assert json.loads(real.read_text(encoding="utf-8")) == {"model": "x"}


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="Cannot change"):
        set_value(tmp_path / "file" / "settings.json", "model", "x")


def test_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path, count = tmp_path / "settings.json", 15
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(count)], env=dict(os.environ)
        )
        for name in "abc"
    ]
    assert [writer.wait(timeout=PATIENCE) for writer in writers] == [0, 0, 0]
    assert len(json.loads(path.read_text(encoding="utf-8"))["env"]) == 3 * count
