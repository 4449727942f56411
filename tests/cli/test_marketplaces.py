"""A plugin with all parts, from a marketplace of each kind: installed, pinned, updated, removed."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.market_server import (
    MarketServer,
    laid,
    market_server,
    repository,
    tarball,
)

pytestmark = pytest.mark.e2e
LIST = ".claude-plugin/marketplace.json"


@pytest.fixture
def server(tmp_path: Path) -> Generator[MarketServer]:
    (tmp_path / "served").mkdir()
    with market_server(tmp_path / "served") as started:
        yield started


def ran(program: Program, *words: str, code: int = 0, input: str = "", **env: str) -> str:
    done = program.run("plugin", *words, env=env, input=input)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def everything(version: str, *, hook: str = "echo hook") -> dict[str, str]:
    """A plugin that has all the parts there are."""
    handler = {"type": "command", "command": hook}
    server = {"command": "${CLAUDE_PLUGIN_ROOT}/bin/serve", "args": ["--quiet"]}
    manifest = {
        "name": "all-parts",
        "version": version,
        "description": "Shows what a plugin can have",
        "author": {"name": "Ann"},
    }
    skill = "---\ndescription: A skill\nallowed-tools: Bash(git log *)\n---\nDo !`git status`\n"
    return {
        ".claude-plugin/plugin.json": json.dumps(manifest),
        "skills/look/SKILL.md": skill,
        "skills/look/scripts/run.py": "print(1)\n",
        "commands/git/sync.md": "---\ndescription: Syncs\n---\nSync $ARGUMENTS\n",
        "agents/helper.md": "---\nname: helper\ndescription: Helps\n---\nHelp\n",
        "hooks/hooks.json": json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}),
        ".mcp.json": json.dumps({"mcpServers": {"serve": server}}),
        "output-styles/short.md": "---\nname: short\ndescription: Short\n---\nBe short.\n",
        "themes/dusk.json": "{}",
        "bin/serve*": "#!/bin/sh\n",
    }


def listed(*entries: dict[str, Any]) -> str:
    return json.dumps({"name": "tools", "owner": {"name": "Me"}, "plugins": [*entries]})


def rows(program: Program) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ran(program, "list", "--json"))
    return found


@pytest.mark.parametrize("kind", ["directory", "git", "npm"])
def test_a_whole_life(program: Program, server: MarketServer, tmp_path: Path, kind: str) -> None:
    """Added, found, refused, agreed to, pinned, updated with what is new, off, and gone."""
    source: Any = "./all-parts"
    market, where = tmp_path / "market", str(tmp_path / "market")
    if kind == "git":
        market, where = server.repositories / "market", server.git("market")
    if kind == "npm":
        source = {"source": "npm", "package": "all-parts", "registry": server.url}

    def publish(files: dict[str, str], version: str) -> None:
        laid(market, {LIST: listed({"name": "all-parts", "source": source})})
        if kind == "npm":
            server.package("all-parts", {version: tarball(files)})
        else:
            laid(market / "all-parts", files)
        if kind == "git":
            repository(market, {})

    publish(everything("1.0.0"), "1.0.0")
    assert "tools is added: 1 plugin." in ran(program, "marketplace", "add", where)
    refused = ran(program, "install", "all-parts@tools", code=1)
    for shown in (
        "echo hook", "/bin/serve --quiet", "git status", "Bash(git log *)", "Publisher: Ann",
        "--yes agrees",
    ):  # fmt: skip
        assert shown in refused
    assert not rows(program)
    assert "    all-parts\n" in ran(program, "marketplace", "list")
    assert "marketplace tool. Did you mean tools?" in ran(program, "install", "a@tool", code=1)

    assert "all-parts@tools 1.0.0 is installed." in ran(program, "install", "all-parts", "--yes")
    (row,) = rows(program)
    assert (row["id"], row["version"], row["state"]) == ("all-parts@tools", "1.0.0", "on")
    assert row["digest"].startswith("sha256:")
    assert "up to date: 1.0.0" in ran(program, "update", "--all")

    publish(everything("1.1.0", hook="curl example.com"), "1.1.0")
    told = ran(program, "update", "all-parts")
    assert "New: Commands that run at points of a session (hooks):" in told
    assert "curl example.com" in told
    assert "you did not agree" in told
    assert rows(program)[0]["version"] == "1.0.0"
    assert "1.0.0 is replaced by 1.1.0" in ran(program, "update", "all-parts", "--yes")
    assert rows(program)[0]["version"] == "1.1.0"

    ran(program, "disable", "all-parts")
    assert rows(program)[0]["state"] == "off"
    told = ran(program, "marketplace", "remove", "tools")
    assert "Still installed, and not updated any more: all-parts@tools." in told
    ran(program, "uninstall", "all-parts")
    assert not rows(program)
    store = program.home / ".gatewright/plugins/store"
    assert not [path for path in store.rglob("*") if path.is_file()]


def test_a_commit_and_an_address(program: Program, server: MarketServer) -> None:
    first = repository(server.repositories / "one", everything("1.0.0"))
    repository(server.repositories / "one", everything("2.0.0"))
    url = server.git("one")
    ran(program, "install", url, "--sha", first, "--yes")
    (row,) = rows(program)
    assert (row["id"], row["resolved"]) == ("all-parts@direct", first)
    assert "up to date" in ran(program, "update", "all-parts")


def test_settings_offer_marketplaces_and_fetch_nothing(
    program: Program, server: MarketServer
) -> None:
    repository(server.repositories / "m", {LIST: listed()})
    offer = {"tools": {"source": {"source": "git", "url": server.git("m")}}}
    path = program.home / ".gatewright/settings.json"
    path.write_text(json.dumps({"extraKnownMarketplaces": offer}), encoding="utf-8")
    assert "agent plugin marketplace add tools adds it" in ran(program, "marketplace", "list")
    told = ran(program, "install", "x@tools", code=2)
    assert "First: agent plugin marketplace add tools" in told
    assert not server.asked
    ran(program, "marketplace", "add", "tools")
    (row,) = json.loads(ran(program, "marketplace", "list", "--json"))
    assert row["name"] == "tools"
    assert row["resolved"]


def test_an_untrusted_project_offers_nothing(program: Program, server: MarketServer) -> None:
    offer = {"theirs": {"source": {"source": "git", "url": server.git("m")}}}
    path = program.project / ".gatewright/settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"extraKnownMarketplaces": offer}), encoding="utf-8")
    assert "theirs" not in ran(program, "marketplace", "list")
    assert not server.asked


def test_what_cannot_be_done_is_one_sentence(program: Program, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, code, told in (
        (("install", "nothing"), 1, "No marketplace was added"),
        (("marketplace", "add", str(tmp_path / "empty")), 1, "It is no marketplace"),
        (("marketplace", "add", "https://me:pw@example.com/x.git"), 1, "name or password"),
        (("marketplace", "remove", "x"), 1, "There is no marketplace x"),
        (("update",), 2, "say --all"),
        (("update", "x"), 2, "x is not installed"),
        (("install", "https://example.com/m.json"), 2, "is a marketplace"),
        (("install", "http://example.com/m.zip"), 1, "no https"),
    ):
        assert told in ran(program, *words, code=code)


def test_a_session_changes_nothing(program: Program, tmp_path: Path) -> None:
    """A model in a command must not install what its own session then runs."""
    for words in (("marketplace", "add", str(tmp_path)), ("install", "x"), ("update", "--all")):
        assert "in a terminal of their own" in ran(program, *words, code=1, GATEWRIGHT="1")
