"""An "always" is kept where the person looks for it, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.errors import SettingsError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.grants import GrantStore
from gatewright.agent.settings.layers.sources import load
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import Source


def places(tmp_path: Path) -> Places:
    root = tmp_path / "project"
    root.mkdir()
    return Places(home=tmp_path / "home", root=root, managed=tmp_path / "etc")


@pytest.mark.parametrize(("trusted", "source"), [(True, Source.LOCAL), (False, Source.USER)])
def test_what_is_stored_counts_at_the_next_start(
    tmp_path: Path, trusted: bool, source: Source
) -> None:
    where = places(tmp_path)
    store = GrantStore(where, trusted=trusted)
    store.store(["Bash(npm test:*)"])
    store.store(["Bash(npm test:*)", "Bash(git log:*)"])
    loaded = load(where, LaunchOptions(), env={}, trusted=trusted)
    assert loaded.rules[source].allow == ("Bash(npm test:*)", "Bash(git log:*)")
    assert loaded.problems == ()
    assert (where.root / ".gatewright").exists() is trusted


def test_other_keys_stay(tmp_path: Path) -> None:
    where = places(tmp_path)
    path = where.root / ".gatewright" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"model": "m", "permissions": {"deny": ["Read"]}}', encoding="utf-8")
    GrantStore(where, trusted=True).store(["Bash(make)"])
    values = json.loads(path.read_text(encoding="utf-8"))
    assert values["model"] == "m"
    assert values["permissions"]["deny"] == ["Read"]
    assert values["permissions"]["allow"][0]["rule"] == "Bash(make)"


def test_a_broken_file_is_left_alone(tmp_path: Path) -> None:
    where = places(tmp_path)
    path = where.root / ".gatewright" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"model": ', encoding="utf-8")
    with pytest.raises(SettingsError, match=r"settings\.local\.json"):
        GrantStore(where, trusted=True).store(["Bash(make)"])
    assert path.read_text(encoding="utf-8") == '{"model": '
