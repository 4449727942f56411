"""`agent mcp`, with the installed program and servers that are real processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program

pytestmark = pytest.mark.e2e
FAKE = str(Path(__file__).parent.parent / "fakes" / "mcp_server.py")


def ran(program: Program, *words: str, code: int = 0, **env: str) -> str:
    done = program.run("mcp", *words, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_one_is_added_tried_listed_and_removed(program: Program) -> None:
    ran(program, "add", "fake", "-s", "user", "-e", "A=secret=1", "--", sys.executable, FAKE)
    settings = json.loads((program.home / ".gatewright" / "settings.json").read_text("utf-8"))
    assert settings["mcpServers"]["fake"] == {
        "command": sys.executable, "args": [FAKE], "env": {"A": "secret=1"},
    }  # fmt: skip
    (row,) = json.loads(ran(program, "list", "--json"))
    assert (row["name"], row["source"], row["state"], row["tools"]) == (
        "fake", "user", "connected", 13,
    )  # fmt: skip
    shown = ran(program, "get", "fake")
    assert "echo: echo it" in shown
    assert "secret" not in shown
    assert "is in" in ran(program, "add", "fake", "-s", "user", "x", code=2)
    kept = program.home / ".gatewright" / "state" / "mcp"
    assert not list(kept.glob("*.json")), "what a session is shown first is accepted, not this"
    assert "removed" in ran(program, "remove", "fake")
    assert "There are no MCP servers here" in ran(program, "list")


def test_an_address_and_its_header(program: Program) -> None:
    ran(program, "add", "far", "https://example.com/mcp", "-H", "X-Key: ${KEY}")
    (row,) = json.loads(ran(program, "list", "--json", "--offline"))
    assert (row["source"], row["type"], row["state"]) == ("local", "http", "idle")
    told = ran(program, "add", "near", "https://example.com/mcp", "--transport", "stdio")
    assert "The command is an address" in told


def test_a_client_that_was_registered_by_hand(program: Program) -> None:
    flags = ("--client-id", "ours", "--callback-port", "8123")
    ran(program, "add", "far", "https://example.com/mcp", "-s", "user", *flags)
    settings = program.home / ".gatewright" / "settings.json"
    assert json.loads(settings.read_text("utf-8"))["mcpServers"]["far"]["oauth"] == {
        "clientId": "ours", "callbackPort": 8123,
    }  # fmt: skip
    words = ("add", "near", "https://example.com/mcp", "--client-id", "x", "--client-secret")
    told = ran(program, *words, MCP_CLIENT_SECRET="s3cret-of-ours")
    assert "near is added" in told
    assert "s3cret" not in told + settings.read_text("utf-8")
    kept = [f for f in (program.home / ".gatewright").rglob("*") if f.is_file()]
    (holds,) = [f for f in kept if b"s3cret-of-ours" in f.read_bytes()]
    assert holds.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "a", "x", "--client-id", "y"), "for an address, where people log in"),
        (("add", "a", "https://x", "--client-secret"), "name it with --client-id"),
        (
            ("add", "a", "https://x", "-s", "project", "--client-id", "y", "--client-secret"),
            "Approve it first",
        ),
        (("add", "a__b", "x"), "the name may hold no two underscores"),
        (("add", "a", "x", "-s", "here"), "--scope is local, user or project"),
        (("add", "a", "x", "-H", "A: b"), "--header for an address"),
        (("add-json", "a", "{"), "is no JSON"),
        (("add-json", "a", '{"url": "https://x"}'), 'needs "type": "http"'),
        (("get", "a"), "There is no MCP server a here"),
        (("remove", "a"), "There is no MCP server a"),
        (("approve", "a"), "not trusted"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    program: Program, words: tuple[str, ...], said: str
) -> None:
    assert said in ran(program, *words, code=2)
    kept = (program.home / ".gatewright" / "settings.json").read_text(encoding="utf-8")
    assert "mcpServers" not in kept


def test_typing_errors_are_met_halfway(program: Program) -> None:
    added = ran(program, "add", "clock", "-s", "user", "--", "no-such-clock", code=0)
    assert "There is no program no-such-clock on the PATH now." in added
    assert "There is no program" not in ran(program, "add", "fake", "--", sys.executable, FAKE)
    for verb in ("get", "remove"):
        assert "Did you mean clock?" in ran(program, verb, "clok", code=2)
    assert "Did you mean clock?" in ran(program, "remove", "clok", "-s", "user", code=2)
    assert "Did you mean" not in ran(program, "remove", "clok", "-s", "project", code=2)
    assert ran(program, code=2).startswith("Usage: agent mcp ")


def test_one_of_a_project_waits_for_an_approval_of_its_text(program: Program) -> None:
    ran(program, "add", "fake", "-s", "project", "--", sys.executable, FAKE)

    def state() -> Any:
        return json.loads(ran(program, "list", "--json"))[0]["state"]

    assert state() == "unapproved"
    assert program.run("trust", "add").returncode == 0
    assert state() == "unapproved"
    approved = ran(program, "approve", "--all")
    assert "fake may be used" in approved
    assert FAKE in approved, "what was said yes to is shown"
    assert state() == "connected"
    path = program.project / ".mcp.json"
    path.write_text(path.read_text("utf-8").replace(FAKE, f"{FAKE}x"), encoding="utf-8")
    assert state() == "unapproved"
    path.write_text(path.read_text("utf-8").replace(f"{FAKE}x", FAKE), encoding="utf-8")
    ran(program, "reset-project-choices")
    assert state() == "unapproved"


def test_one_of_a_project_is_approved_for_the_sandbox_alone(program: Program) -> None:
    ran(program, "add", "fake", "-s", "project", "--", sys.executable, FAKE)
    assert program.run("trust", "add").returncode == 0
    ran(program, "approve", "fake", "--sandbox")
    (row,) = json.loads(ran(program, "list", "--json"))
    assert (row["state"], "runs in the sandbox" in row["error"]) == ("idle", True)


def test_a_model_adds_and_approves_nothing(program: Program) -> None:
    for words in (("add", "a", "x"), ("approve", "--all"), ("remove", "a")):
        assert "by the person" in ran(program, *words, code=1, GATEWRIGHT="1")


def test_a_broken_file_is_named_with_its_line(program: Program) -> None:
    (program.project / ".mcp.json").write_text('{"mcpServers": {\n"a": }}', encoding="utf-8")
    assert "line 2: is not valid JSON" in ran(program, "list")


def test_servers_of_claude_desktop_are_taken_over_by_choice(program: Program) -> None:
    theirs = program.home / ".config" / "Claude" / "claude_desktop_config.json"
    assert "no servers of Claude Desktop" in ran(program, "add-from-claude-desktop", code=2)
    theirs.parent.mkdir(parents=True)
    servers = {
        "one": {"command": "x"}, "two": {"command": "y", "env": {"A": "b"}},
        "bad name": {"command": "z"}, "none": 3,
    }  # fmt: skip
    theirs.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    told = ran(program, "add-from-claude-desktop", code=2)
    assert "bad name is left out" in told
    assert "none is left out" in told
    assert "Name a server, or say --all" in told
    ran(program, "add-from-claude-desktop", "one", "-s", "user")
    ran(program, "add-from-claude-desktop", "--all", "-s", "user")
    settings = json.loads((program.home / ".gatewright" / "settings.json").read_text("utf-8"))
    assert settings["mcpServers"] == {
        "one": {"command": "x"}, "one_1": {"command": "x"}, "two": servers["two"],
    }  # fmt: skip
