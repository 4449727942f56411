"""Where sockets lie: in a directory of the person's alone, or nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.agent.autonomy.running import socket_places
from gatewright.agent.autonomy.running.socket_places import made, socket_path, wrong_with
from gatewright.agent.errors import SessionError

ID = "01a1f864-970d-7c99-a50e-dee8049d9dac"


@pytest.fixture(autouse=True)
def _own_tmp(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (short / "t").mkdir(mode=0o700)
    monkeypatch.setattr(socket_places, "TMP", short / "t")


def test_it_lies_where_the_system_has_a_place_for_it(short: Path) -> None:
    run = short / "run"
    run.mkdir(mode=0o700)
    path = socket_path(ID, {"XDG_RUNTIME_DIR": str(run)})
    assert path.parent == run / "gatewright"
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("env", [{}, {"XDG_RUNTIME_DIR": "run"}, {"XDG_RUNTIME_DIR": "/not/there"}])
def test_else_below_tmp(env: dict[str, str]) -> None:
    path = socket_path(ID, env)
    assert path.parent == socket_places.TMP / f"gatewright-{os.geteuid()}"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert socket_path(ID, env) == path


def test_a_place_that_others_may_write_to_is_passed_over(short: Path) -> None:
    run = short / "run"
    run.mkdir(mode=0o777)
    run.chmod(0o777)
    assert socket_path(ID, {"XDG_RUNTIME_DIR": str(run)}).is_relative_to(socket_places.TMP)


def test_neither_a_link_nor_a_loose_directory_nor_a_file_is_used(short: Path) -> None:
    own = socket_places.TMP / f"gatewright-{os.geteuid()}"
    elsewhere = short / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    own.symlink_to(elsewhere)
    with pytest.raises(SessionError, match="not a directory of yours alone"):
        socket_path(ID, {})
    own.unlink()
    own.mkdir()
    own.chmod(0o755)
    with pytest.raises(SessionError, match="remove it, or set XDG_RUNTIME_DIR"):
        socket_path(ID, {})
    own.rmdir()
    own.write_text("", encoding="utf-8")
    with pytest.raises(SessionError):
        socket_path(ID, {})
    assert list(elsewhere.iterdir()) == []


def test_where_every_name_is_too_long_there_is_no_place(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_places, "TMP", short / ("t" * 90))
    with pytest.raises(SessionError, match="short enough"):
        socket_path(ID, {})


def test_a_directory_of_somebody_else_is_not_used(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(short / "mine")
    assert not wrong_with(folder)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "not a directory of yours alone" in wrong_with(folder)
