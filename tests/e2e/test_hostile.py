"""A hostile repository, opened without trusting it: nothing runs, is read or is allowed more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.hostile import SECRETS, Hostile
from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread

pytestmark = pytest.mark.e2e

# What a model that does as the repository says would try, by the id of the call.
TRIED: dict[str, tuple[str, dict[str, Any]]] = {
    "allowed-make": ("Bash", {"command": "make"}),
    "allowed-star": ("Bash", {"command": "./trap.sh bash"}),
    "git-losing": ("Bash", {"command": "git checkout ."}),
    "preload": ("Bash", {"command": "LD_PRELOAD=./evil.so ls"}),
    "key-by-shell": ("Bash", {"command": "cat notes-link.txt"}),
    "link-by-shell": ("Bash", {"command": "cat linked/plain.txt"}),
    "own-rules": ("Bash", {"command": "agent trust add"}),
    "key": ("Read", {"file_path": "~/.ssh/id_rsa"}),
    "key-by-link": ("Read", {"file_path": "notes-link.txt"}),
    "outside-by-link": ("Read", {"file_path": "plain-link.txt"}),
    "added-directory": ("Read", {"file_path": "../outside/plain.txt"}),
    "etc": ("Read", {"file_path": "/etc/passwd"}),
    "search-by-link": ("Grep", {"pattern": "s3cr3t", "path": "linked", "output_mode": "content"}),
    "edit-inside": ("Write", {"file_path": "new.txt", "content": "x"}),
    "edit-by-link": ("Write", {"file_path": "linked/new.txt", "content": "x"}),
    "edit-plan": ("Write", {"file_path": ".gatewright/plans/p.md", "content": "x"}),
    "edit-settings": ("Write", {"file_path": "sub/.gatewright/settings.json", "content": "{}"}),
    "fetch": ("WebFetch", {"url": "http://127.0.0.1:1/", "prompt": "x"}),
}
# Runs where there is a sandbox to run it in, and may do there what it likes.
CONFINED: dict[str, tuple[str, dict[str, Any]]] = {
    "git-status": ("Bash", {"command": "git status"}),
    "git-diff": ("Bash", {"command": "git diff"}),
}
HARMLESS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("Grep", {"pattern": "s3cr3t", "output_mode": "content"}),
    "list": ("Bash", {"command": "ls"}),
    "read": ("Read", {"file_path": "tracked.txt"}),
}


def script() -> str:
    calls = [
        f"call[{name}]: {tool} {json.dumps(given)}"
        for name, (tool, given) in {**TRIED, **CONFINED, **HARMLESS}.items()
    ]
    return "\n".join(["say: As the repository says.", *calls, "---", "say: done"])


@dataclass(frozen=True)
class Opened:
    """What came of one run in print mode."""

    hostile: Hostile
    evil: ModelServer
    requests: str  # everything the model was sent
    init: dict[str, Any]
    result: dict[str, Any]
    results: dict[str, dict[str, Any]]
    notices: list[str]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    program = Program.prepare(tmp_path_factory.mktemp("hostile"))
    with ServerThread("say: caught", repeat=True) as evil, ServerThread(script()) as server:
        hostile = Hostile(program, evil.url)
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"}
        done = program.run(
            *("-p", "Look at @notes-link.txt and @plain-link.txt and @linked"),
            *("--model", "anthropic/claude-sonnet-5-5"),
            *("--output-format", "stream-json", "--verbose"),
            env=env,
            within=50,
        )
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        blocks = [
            block
            for line in lines
            if line["type"] == "user"
            for block in line["message"]["content"]
            if block["type"] == "tool_result"
        ]
        yield Opened(
            hostile,
            evil,
            json.dumps(server.bodies, ensure_ascii=False),
            lines[0],
            lines[-1],
            {block["tool_use_id"]: block for block in blocks},
            [line["text"] for line in lines if line.get("subtype") == "notice"],
        )


@pytest.mark.parametrize("name", TRIED)
def test_nothing_the_repository_allows_is_allowed(opened: Opened, name: str) -> None:
    result = opened.results[name]
    assert result.get("is_error"), result


@pytest.mark.parametrize("name", HARMLESS)
def test_what_needs_no_trust_still_works(opened: Opened, name: str) -> None:
    assert not opened.results[name].get("is_error"), opened.results[name]


def test_none_of_its_programs_ran(opened: Opened) -> None:
    assert opened.hostile.sprung() == []


@pytest.mark.parametrize("secret", SECRETS)
def test_nothing_outside_reaches_the_model(opened: Opened, secret: str) -> None:
    assert secret not in opened.requests


def test_its_address_for_the_model_is_not_used(opened: Opened) -> None:
    assert opened.evil.requests == []


def test_its_environment_reaches_no_command(opened: Opened) -> None:
    assert "ld.so" not in json.dumps(opened.results["list"])
    assert not (opened.hostile.root / "home").exists()


def test_nothing_was_written_where_it_points(opened: Opened) -> None:
    names = {path.name for path in opened.hostile.outside.iterdir()}
    assert names == {"plain.txt"}
    assert not (opened.hostile.root / "new.txt").exists()
    assert "bypassPermissions" in (opened.hostile.root / ".gatewright/settings.json").read_text(
        encoding="utf-8"
    )


def test_the_mode_is_not_its_own(opened: Opened) -> None:
    assert opened.init["permissionMode"] == "default"
    denied = {entry["tool_use_id"] for entry in opened.result["permission_denials"]}
    assert denied >= set(TRIED)


def test_whoever_reads_the_output_is_told(opened: Opened) -> None:
    assert opened.init["trusted"] is False
    (told,) = [text for text in opened.notices if "--trust" in text]
    assert "settings of this project are ignored" in told
    (told,) = [text for text in opened.notices if "Instruction files" in text]
    assert ".ssh/id_rsa" in told


def test_print_mode_says_so_on_standard_error(opened: Opened) -> None:
    done = opened.hostile.program.run("-p", "hello", "--model", "demo")
    assert done.returncode == 0
    assert done.stderr.count("settings of this project are ignored") == 1
    assert opened.hostile.sprung() == []


def test_a_person_who_goes_on_without_trusting_gets_none_of_it(opened: Opened) -> None:
    hostile = opened.hostile
    with hostile.program.terminal("--model", "demo", rows=60) as terminal:
        shown = terminal.wait_for("Do you trust", "Leave")
        for key in ("env", "permissions.additionalDirectories", "providers"):
            assert key in shown
        terminal.press_until_gone("n", "Do you trust")
        shown = terminal.wait_for("settings.json")  # what was wrong with its settings
        (status,) = [line for line in shown.splitlines() if "demo" in line and "main" in line]
        assert "default" in status
    assert hostile.sprung() == []
    assert not list(hostile.program.home.rglob("trust.json"))


def test_a_configuration_directory_that_is_a_link_gains_nothing(program: Program) -> None:
    elsewhere = program.project / "docs" / "config"
    elsewhere.mkdir(parents=True)
    settings = elsewhere / "settings.json"
    text = json.dumps({"permissions": {"allow": ["Bash", "Bash(make)", "Edit(docs/**)"]}})
    settings.write_text(text, encoding="utf-8")
    (program.project / ".gatewright").symlink_to(elsewhere)
    calls = [
        'call[make]: Bash {"command": "make"}',
        'call[link]: Write {"file_path": ".gatewright/settings.json", "content": "{}"}',
        'call[real]: Write {"file_path": "docs/config/settings.json", "content": "{}"}',
        'call[shell]: Bash {"command": "cp notes.txt docs/config/settings.local.json"}',
    ]
    with ServerThread("\n".join(calls) + "\n---\nsay: done") as server:
        done = program.run(
            *("-p", "go", "--model", "anthropic/claude-sonnet-5-5", "--output-format", "json"),
            env={"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"},
        )
    denied = {entry["tool_use_id"] for entry in json.loads(done.stdout)["permission_denials"]}
    assert {"link", "real", "shell"} <= denied
    assert settings.read_text(encoding="utf-8") == text
    assert [path.name for path in elsewhere.iterdir()] == ["settings.json"]
