"""Programs are found absolutely, and none that somebody else may have put there."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.tools.system.programs import SYSTEM, USUAL, find, planted, search_path


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "../bin", "~/bin"])
def test_an_entry_that_is_not_absolute_is_dropped(project: Path, entry: str) -> None:
    found = search_path({"PATH": f"{entry}:/usr/bin"}, (project,))
    assert found.text == "/usr/bin"
    assert found.dropped == (entry,)
    assert (entry or "an empty entry") in found.notice()


def test_an_entry_inside_the_project_is_dropped_in_every_spelling(
    tmp_path: Path, project: Path
) -> None:
    (project / "bin").mkdir()
    (tmp_path / "link").symlink_to(project / "bin")
    (tmp_path / "same").symlink_to(project)
    inside = (f"{project}/bin", f"{project}/none", f"{tmp_path}/link", f"{tmp_path}/x/../same/bin")
    outside = f"{tmp_path}/project-tools"
    found = search_path({"PATH": ":".join((*inside, outside))}, (project,))
    assert found.text == outside
    assert found.dropped == inside
    by_link = search_path({"PATH": f"{project}/bin:/usr/bin"}, (tmp_path / "same",))
    assert by_link.text == "/usr/bin"


@pytest.mark.parametrize("given", [None, "", ":", ".:bin"])
def test_a_path_is_never_empty(project: Path, given: str | None) -> None:
    env = {} if given is None else {"PATH": given}
    assert search_path(env, (project,)).text == SYSTEM


def test_the_person_s_own_directories_are_no_project(tmp_path: Path) -> None:
    env = {"PATH": f"{tmp_path}/.local/bin:/usr/bin", "HOME": str(tmp_path)}
    assert search_path(env, (tmp_path, Path("/"))).dropped == ()


def test_started_where_the_system_has_its_programs_these_stay() -> None:
    assert search_path({"PATH": SYSTEM}, (Path("/usr/bin"), Path("/usr"))).text == SYSTEM
    assert find("sh", {"PATH": SYSTEM, "HOME": "/root"}, (Path("/usr/bin"),))


def test_an_activated_environment_stays_where_the_project_is_trusted(project: Path) -> None:
    own = f"{project}/.venv/bin"
    env = {"PATH": f"{own}:{project}/bin:/usr/bin", "VIRTUAL_ENV": f"{project}/.venv"}
    trusted = search_path(env, (project,), activated=True)
    assert (trusted.text, trusted.dropped) == (f"{own}:/usr/bin", (f"{project}/bin",))
    untrusted = search_path(env, (project,))
    assert untrusted.text == "/usr/bin"
    assert "trust the project" in untrusted.notice()
    other = search_path({**env, "VIRTUAL_ENV": f"{project}/other"}, (project,), activated=True)
    assert other.text == "/usr/bin"


def test_nobody_else_s_program_is_found(tmp_path: Path, project: Path) -> None:
    program(project / "bin", "tool")
    open_to_all = program(tmp_path / "everybody", "tool").parent
    open_to_all.chmod(0o777)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "tool").symlink_to(project / "bin" / "tool")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "tool").write_text("no program", encoding="utf-8")
    places = (".", project / "bin", open_to_all, tmp_path / "links", tmp_path / "plain")
    env = {"PATH": ":".join(map(str, places)), "HOME": "/nonexistent"}
    assert find("tool", env, (project,)) == ""
    own = program(tmp_path / "own", "tool")
    assert find("tool", {**env, "PATH": f"{env['PATH']}:{own.parent}"}, (project,)) == str(own)


def test_a_name_that_a_shell_would_take_from_there_is_planted(
    tmp_path: Path, project: Path
) -> None:
    program(project / ".venv" / "bin", "ls")
    program(tmp_path / "own", "tool")
    path = f"{project}/.venv/bin:{tmp_path}/own:/usr/bin:/bin"
    env = {"HOME": "/nonexistent"}
    assert planted("ls", path, env, (project,))
    assert not planted("cat", path, env, (project,))
    assert not planted("tool", path, env, (project,))
    assert not planted("nothing-like-it", path, env, (project,))
    (tmp_path / "own").chmod(0o777)
    assert planted("tool", path, env, (project,))
    assert planted("cat", f".:{path}", env, (project,))


def test_usual_places_are_absolute() -> None:
    assert all(place.startswith("/") for place in USUAL)
