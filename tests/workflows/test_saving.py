"""A script is kept whole, where the person said, through no link, and replaces nothing unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.saved.saving import place_of, save

SCRIPT = "export const meta = { name: 'a', description: 'b' }\n"


def test_saved_and_replaced_only_on_purpose(tmp_path: Path) -> None:
    home = tmp_path / "project" / ".gatewright"
    path = save(SCRIPT, home, "a")
    assert path == place_of(home, "a") and path.read_text(encoding="utf-8") == SCRIPT
    with pytest.raises(FileExistsError):
        save("other", home, "a")
    assert path.read_text(encoding="utf-8") == SCRIPT
    save("other", home, "a", replace=True)
    assert path.read_text(encoding="utf-8") == "other"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("linked", ["home", "folder", "file"])
def test_nothing_goes_through_a_link(tmp_path: Path, linked: str) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "kept.js").write_text("kept", encoding="utf-8")
    home = tmp_path / ".gatewright"
    if linked == "home":
        home.symlink_to(away)
    elif linked == "folder":
        home.mkdir()
        (home / "workflows").symlink_to(away)
    else:
        (home / "workflows").mkdir(parents=True)
        (home / "workflows" / "kept.js").symlink_to(away / "kept.js")
    with pytest.raises(GatewrightError, match="is a link"):
        save(SCRIPT, home, "kept", replace=True)
    assert (away / "kept.js").read_text(encoding="utf-8") == "kept"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    with pytest.raises(GatewrightError, match="cannot be written"):
        save(SCRIPT, tmp_path / "home", "a")


def test_no_directory_is_made_through_a_link(tmp_path: Path) -> None:
    away, home = tmp_path / "away", tmp_path / ".gatewright"
    away.mkdir()
    home.symlink_to(away)
    with pytest.raises(GatewrightError, match="is a link"):
        save(SCRIPT, home, "kept")
    assert not list(away.iterdir())
