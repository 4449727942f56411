"""Our home in the sandbox wherever it lies: hidden, but for what the session keeps to be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.permissions.sandbox import seatbelt
from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.linux import landlock
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import Level, probe
from gatewright.tools.system.home import OwnHome
from tests.permissions.sandbox.house import run_in

SECRET = "sesame-open-7731"
LEVELS: list[Level] = []
if probe(machine()).level == "bwrap":
    LEVELS.append("bwrap")
if landlock.abi():
    LEVELS.append("landlock")
PLACES = {
    "in the person's home": "home/.gatewright",
    "beside it": "elsewhere/gw",
    "with signs that mean something": "home/a [b]{c}*",
}


def furnish(own: Path) -> Path:
    """Returns the session's folder."""
    kept = own / "projects" / "p" / "mine"
    for path in (own / "state" / "keys.json", own / "projects" / "p" / "other.jsonl"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET, encoding="utf-8")
    (kept / "spill").mkdir(parents=True)
    (kept / "spill" / "bash.txt").write_text("the whole output", encoding="utf-8")
    return kept


@pytest.fixture
def base(tmp_path: Path) -> Config:
    for name in ("proj", "home", "tmp", "elsewhere"):
        (tmp_path / name).mkdir()
    return Config(
        cwd=tmp_path / "proj",
        home=tmp_path / "home",
        roots=(tmp_path / "proj",),
        temp=tmp_path / "tmp",
    )


def printed(config: Config, command: str, level: Level = "bwrap") -> str:
    box = Sandbox(config, machine(), level=level)
    env = {"PATH": os.environ["PATH"], "HOME": str(config.home)}
    try:
        return run_in(box, ["bash", "-c", command], config.cwd, env)[1]
    finally:
        box.close()


def shown(config: Config, own: Path, kept: Path, level: Level) -> str:
    """What a command gets that reads all it can."""
    return printed(
        config, f"cat '{kept}/spill/bash.txt'; grep -rs . '{own}'; cat '{own}'/*/*", level
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_it_is_hidden(base: Config, tmp_path: Path, place: str, level: Level) -> None:
    own = tmp_path / place
    kept = furnish(own)
    output = shown(replace(base, own_home=OwnHome(str(own), str(kept))), own, kept, level)
    assert "the whole output" in output
    assert SECRET not in output


@pytest.mark.parametrize("level", LEVELS)
def test_it_is_hidden_behind_a_link_and_so_is_a_part_that_is_one(
    base: Config, tmp_path: Path, level: Level
) -> None:
    real = tmp_path / "elsewhere" / "gw"
    kept = furnish(real)
    (real / "state").rename(tmp_path / "elsewhere" / "moved")
    (real / "state").symlink_to(tmp_path / "elsewhere" / "moved")
    own = tmp_path / "home" / ".gatewright"
    own.symlink_to(real)
    config = replace(base, own_home=OwnHome(str(own), str(own / kept.relative_to(real))))
    output = shown(config, own, kept, level)
    output += printed(config, f"cat '{tmp_path}'/elsewhere/*/keys.json", level)
    assert "the whole output" in output
    assert SECRET not in output


@pytest.mark.skipif("bwrap" not in LEVELS, reason="no bubblewrap here")
def test_it_is_hidden_in_the_project(base: Config, tmp_path: Path) -> None:
    own = tmp_path / "proj" / "deep" / "gw"
    kept = furnish(own)
    config = replace(base, own_home=OwnHome(str(own), str(kept)), allow_read=("**/keys.json", "~"))
    assert SECRET not in shown(config, own, kept, "bwrap")
    assert "the whole output" in shown(config, own, kept, "bwrap")
    printed(config, f"mv deep moved; rm -rf '{own}'; echo x > '{own}/settings.json'")
    assert (own / "state" / "keys.json").read_text(encoding="utf-8") == SECRET
    assert not (own / "settings.json").exists()


@pytest.mark.skipif("bwrap" not in LEVELS, reason="no bubblewrap here")
def test_who_works_in_it_sees_what_is_theirs(base: Config, tmp_path: Path) -> None:
    own = tmp_path / "home" / ".gatewright"
    kept = furnish(own)
    (own / "themes").mkdir()
    (own / "themes" / "mine.json").write_text("colours", encoding="utf-8")
    config = replace(base, cwd=own, roots=(own,), own_home=OwnHome(str(own), str(kept)))
    output = shown(config, own, kept, "bwrap")
    assert "colours" in output
    assert SECRET not in output


@pytest.mark.skipif("bwrap" not in LEVELS, reason="no bubblewrap here")
def test_where_tmp_is_private_the_session_s_output_is_there_all_the_same(
    base: Config, tmp_path: Path
) -> None:
    own = tmp_path / "gw"  # neither in the person's home nor in the project: not in sight
    kept = furnish(own)
    config = replace(base, own_home=OwnHome(str(own), str(kept)))
    assert printed(config, f"cat '{kept}/spill/bash.txt'") == "the whole output"


def test_seatbelt_denies_it_and_then_shows_what_may_be_read(base: Config, tmp_path: Path) -> None:
    own = tmp_path / "home" / ".gatewright"
    kept = furnish(own)
    box = Sandbox(replace(base, own_home=OwnHome(str(own), str(kept))), machine())
    text = seatbelt.policy(box.profile(base.cwd))
    box.close()
    denied = text.index(f'(subpath "{own}")', text.index("(deny file-read*"))
    assert denied < text.rindex(f'(subpath "{kept}/spill")')
    assert text.rindex("(allow file-read*") < text.rindex(f'(subpath "{kept}/spill")')
