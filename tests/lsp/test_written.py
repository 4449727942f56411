"""Which servers there are: what is written down, what is built in, and where programs may lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.lsp.servers_written import book_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.lsp.running.definitions import Given, read_definitions
from gatewright.agent.lsp.running.server_book import Ground, ServerBook, Use
from gatewright.agent.plugins.parts import Plugin, Said
from gatewright.agent.settings.workspace import survey

ONE = {"command": "srv", "extensionToLanguage": {".Q": "q"}}


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def book(
    tmp_path: Path, *given: Given, use: Use = "auto", trusted: bool = True, path: str = ""
) -> ServerBook:
    root = tmp_path / "project"
    root.mkdir(exist_ok=True)
    env = {"PATH": path or f"{tmp_path}/bin", "HOME": "/nowhere"}
    return ServerBook(
        given, use, Ground(root=root, env=env, shared=env, avoid=(root,), trusted=trusted)
    )


def names(found: ServerBook, suffix: str) -> list[str]:
    return [each.name for each in found.offered(suffix)]


def test_an_entry_is_read_with_its_limits_and_what_is_odd_is_told() -> None:
    entries: dict[str, Any] = {
        "a": {**ONE, "startupTimeout": 30_000, "restartOnCrash": False, "colour": 1},
        "b": {"command": "x"},
        "c": {**ONE, "transport": "socket"},
        "../d": ONE,
        "e": {**ONE, "memoryMb": -1},
        "f": 7,
    }
    (a,), faults = read_definitions(Given("user", "s.json", entries))
    assert a.startup_timeout == 30 and a.max_restarts == 0 and a.language(".q") == "q"
    said = "\n".join(faults)
    assert "lspServers.a.colour is not known" in said and len(faults) == 6
    assert "s.json: lspServers.b: Object missing required field `extensionToLanguage`" in said
    assert "over stdin and stdout" in said and "letters, digits" in said


def test_files_are_served_by_name_and_by_their_longest_ending(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "x")
    entries: dict[str, Any] = {
        "types": {"command": "x", "extensionToLanguage": {".d.ts": "types", "*.ts": "ts"}},
        "docker": {"command": "x", "extensionToLanguage": {"Dockerfile": "dockerfile"}},
    }
    made = book(tmp_path, Given("user", "s", entries))
    assert not made.faults
    for path, language in (
        ("/p/a.d.ts", "types"), ("/p/a.ts", "ts"), ("/p/a.b.ts", "ts"),
        ("/p/Dockerfile", "dockerfile"), ("/p/web.Dockerfile", "dockerfile"),
        ("/p/ts", ""), ("/p/Dockerfile.old", ""),
    ):  # fmt: skip
        assert [each.language(path) for each in made.offered(path)] == [language][: bool(language)]


def test_of_one_family_the_first_that_is_there_is_used(tmp_path: Path) -> None:
    for name in ("ty", "pylsp", "clangd"):
        program(tmp_path / "bin" / name)
    assert names(book(tmp_path), ".py") == ["ty"]
    program(tmp_path / "bin" / "basedpyright-langserver")
    assert names(book(tmp_path), ".py") == ["basedpyright"]
    assert names(book(tmp_path, use=("pylsp", "clangd")), ".py") == ["pylsp"]
    assert names(book(tmp_path, use="off"), ".c") == []
    assert names(book(tmp_path), ".go") == [] and names(book(tmp_path), ".unknown") == []


def test_a_projects_own_program_counts_once_it_is_trusted_and_never_by_path(tmp_path: Path) -> None:
    own = program(tmp_path / "project" / ".venv" / "bin" / "ty")
    inside = program(tmp_path / "project" / "tools" / "clangd")
    assert book(tmp_path).offered(".py")[0].command == own
    assert names(book(tmp_path, trusted=False), ".py") == []
    path = f"{Path(inside).parent}:tools:"
    assert names(book(tmp_path, path=path), ".c") == []


@pytest.mark.parametrize(
    ("version", "found"),
    [("7.0.2", ["tsc"]), ("5.9.3", ["typescript-language-server"]), ("x" * 9, [])],
)
def test_the_projects_typescript_is_a_server_itself_from_7_on(
    tmp_path: Path, version: str, found: list[str]
) -> None:
    modules = tmp_path / "project" / "node_modules"
    program(modules / ".bin" / "tsc")
    if found:
        program(tmp_path / "bin" / "typescript-language-server")
    (modules / "typescript").mkdir()
    (modules / "typescript" / "package.json").write_text(
        json.dumps({"version": version}), encoding="utf-8"
    )
    assert names(book(tmp_path), ".ts") == found


def test_what_is_written_down_stands_before_what_is_built_in(tmp_path: Path) -> None:
    for name in ("ty", "one", "two"):
        program(tmp_path / "bin" / name)
    entry = {"extensionToLanguage": {".py": "python"}}
    user = Given("user", "u", {"one": {**entry, "command": "one"}, "no": {**entry, "command": "x"}})
    plugin = Given(
        "plugin", "p", {"two": {**entry, "command": "${ROOT}/two"}},
        {"ROOT": f"{tmp_path}/bin"}, {}, "kit:",
    )  # fmt: skip
    assert names(book(tmp_path, user, plugin), ".py") == ["one", "kit:two"]
    listed = {each.definition.name: each for each in book(tmp_path, user).listed()}
    assert "there is no program x" in listed["no"].lack and not listed["one"].lack
    assert "pip install basedpyright" in listed["basedpyright"].lack


def test_a_projects_and_a_plugins_servers_wait_for_trust(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".gatewright").mkdir(parents=True)
    (home / ".gatewright").mkdir(parents=True)
    entry = {
        "command": program(tmp_path / "bin" / "srv"),
        "args": ["${user_config.level}"],
        "extensionToLanguage": {".q": "q"},
    }
    text = json.dumps({"lspServers": {"of-project": entry}})
    (project / ".gatewright" / "settings.json").write_text(text, encoding="utf-8")
    said = Said(".lsp.json", {"srv": entry})
    plugin = Plugin(
        id="kit@m",
        name="kit",
        root=tmp_path,
        data=tmp_path,
        language_servers=(said,),
        options={"level": "strict"},
    )
    env = {"HOME": str(home), "PATH": "/bin"}
    for trust in (False, True):
        around = survey(LaunchOptions(cwd=str(project), trust=trust), env, interactive=False)
        found = names(book_of(around, (plugin,)), ".q")
        assert found == (["of-project", "kit:srv"] if trust else [])
    assert book_of(around, (plugin,)).offered(".q")[1].args == ("strict",)


def test_a_path_of_a_plugin_is_the_plugins_own(tmp_path: Path) -> None:
    program(tmp_path / "project" / "bin" / "srv")
    entries = {"srv": {"command": "bin/srv", "extensionToLanguage": {".q": "q"}}}
    own = {"GATEWRIGHT_PLUGIN_ROOT": f"{tmp_path}/kit"}
    assert names(book(tmp_path, Given("plugin", "p", entries, own)), ".q") == []
    theirs = program(tmp_path / "kit" / "bin" / "srv")
    assert book(tmp_path, Given("plugin", "p", entries, own)).offered(".q")[0].command == theirs
