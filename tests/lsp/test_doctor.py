"""`agent lsp doctor` and `list`: which servers a session would start, and whether they begin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from gatewright.agent.settings.paths import places
from gatewright.agent.settings.trust import TrustStore
from gatewright.agent.subcommands.lsp.lsp_group import doctor, list_
from tests.lsp.known_server import entry, inside


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home, root = tmp_path / "home", tmp_path / "project"
    root.mkdir()
    (root / "a.x").write_text("fine\n", encoding="utf-8")
    (root / "Stackfile").write_text("fine\n", encoding="utf-8")
    (home / ".gatewright").mkdir(parents=True)
    program = inside(root)
    servers: dict[str, Any] = {
        "fine": entry(program=program),
        "broken": {
            **entry("begin=crash", program=program),
            "extensionToLanguage": {"Stackfile": "stack"},
        },
        "unneeded": {**entry("begin=crash"), "extensionToLanguage": {".y": "y"}},
    }
    settings = json.dumps({"lspServers": servers, "lsp": {"use": [*servers, "misspelt"]}})
    (home / ".gatewright" / "settings.json").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GATEWRIGHT_HOME", raising=False)
    return root


def trust(project: Path) -> None:
    env = {"HOME": str(project.parent / "home")}
    TrustStore(places(project, env), env).add(project)


def test_each_server_that_is_needed_is_started_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trust(project)
    with pytest.raises(typer.Exit) as ended:
        doctor()
    assert ended.value.exit_code == 1
    said = {line[4:].partition(":")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "begins in" in said["fine"] and said["fine"].startswith("ok")
    assert "XX  broken" in said["broken"] and "ended with code 3" in said["broken"]
    assert said["unneeded"].startswith("ok") and "begin" not in said["unneeded"].split(";", 1)[1:]
    assert "lsp.use names misspelt, and there is no such server" in "".join(said.values())


def test_nothing_is_started_where_nothing_is_trusted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor()
    out = capsys.readouterr().out
    assert "The project is not trusted" in out and "begin" not in out
    list_()
    assert "not trusted" in capsys.readouterr().out


def test_only_those_that_a_session_would_start_are_listed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trust(project)
    list_(as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["fine", "broken", "unneeded"]


def test_a_program_that_is_not_there_is_wrong(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trust(project)
    given = {
        "lspServers": {"lacking": {"command": "no-such", "extensionToLanguage": {".miss": "miss"}}}
    }
    settings = project.parent / "home" / ".gatewright" / "settings.json"
    settings.write_text(json.dumps(given), encoding="utf-8")
    (project / "b.miss").write_text("fine\n", encoding="utf-8")
    with pytest.raises(typer.Exit) as ended:
        doctor()
    assert ended.value.exit_code == 1
    assert "lacking: there is no program no-such" in capsys.readouterr().out
