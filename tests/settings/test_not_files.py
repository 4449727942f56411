"""What lies in the place of a file of ours is refused or left out, and never waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gatewright.agent.context.prompt.approvals import Approvals
from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.providers.keys.stored_keys import KeyStore
from gatewright.agent.settings.edit import read_object, set_value
from gatewright.agent.settings.foreign.claude import survey
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.trust import TrustStore
from gatewright.tui.prompt.history import History
from gatewright.tui.style.palette_file import read_palettes


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10**12)


KINDS: dict[str, Callable[[Path], None]] = {
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path),
    "directory": Path.mkdir,
    "large": large,
}


@pytest.fixture(params=KINDS)
def put(request: pytest.FixtureRequest) -> Callable[[Path], Path]:
    def put_(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        KINDS[request.param](path)
        return path

    return put_


Put = Callable[[Path], Path]


def test_a_list_of_trust_trusts_nothing(tmp_path: Path, put: Put) -> None:
    store = TrustStore(Places(home=tmp_path / "h", root=tmp_path / "p"), {"HOME": str(tmp_path)})
    put(store.path)
    assert store.roots() == {}
    assert not store.trusts(tmp_path / "p")
    with pytest.raises(SettingsError, match="trust"):
        store.add(tmp_path / "p")


def test_keys_say_what_to_do(tmp_path: Path, put: Put) -> None:
    store = KeyStore(put(tmp_path / "keys.json"))
    with pytest.raises(GatewrightError, match="agent login"):
        store.find("x")


def test_approvals_approve_nothing(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "imports.json")
    assert not Approvals(tmp_path, tmp_path)(tmp_path / "a")


def test_a_settings_file_is_not_changed(tmp_path: Path, put: Put) -> None:
    path = put(tmp_path / "settings.json")
    before = path.lstat()
    with pytest.raises(SettingsError, match="settings"):
        set_value(path, "model", "a/b")
    with pytest.raises((SettingsError, OSError)):
        read_object(path)
    assert path.lstat() == before


def test_anothers_settings_are_left_out(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "p" / ".claude" / "settings.json")
    places = Places(home=tmp_path / "h", root=tmp_path / "p")
    (copy,) = survey(places, {"HOME": str(tmp_path / "home")}, lambda rule, behavior, source: "")
    assert copy.values == {}
    assert "cannot be read" in copy.left[0].what


def test_a_theme_is_told(tmp_path: Path, put: Put) -> None:
    put(tmp_path / "mine.json")
    found, (problem,) = read_palettes(tmp_path)
    assert found == {}
    assert problem.startswith("Theme mine.json: ")


def test_a_deeply_nested_theme_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[" * 30_000, encoding="utf-8")
    assert len(read_palettes(tmp_path)[1]) == 1


def test_prompts_of_old_are_none(tmp_path: Path) -> None:
    for kind in ("fifo", "device", "loop", "directory"):
        KINDS[kind](path := tmp_path / kind)
        assert History(path).older("") is None
