"""/plugin in a real terminal: found in a marketplace, asked about, in use, switched, removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.market_server import Handler, laid, market_server, repository
from tests.fakes.waiting import until

pytestmark = pytest.mark.e2e


def plugin(version: str, hook: str) -> dict[str, str]:
    handler = {"type": "command", "command": hook}
    return {
        ".claude-plugin/plugin.json": json.dumps({"name": "notes", "version": version}),
        "commands/jot.md": "---\ndescription: Jots it down\n---\nJot\n",
        "hooks/hooks.json": json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}),
    }


def market(folder: Path, version: str = "1.0.0", hook: str = "echo planted") -> Path:
    entry = {"name": "notes", "source": "./notes", "description": "Keeps notes", "version": version}
    listed = json.dumps({"name": "tools", "owner": {"name": "Me"}, "plugins": [entry]})
    laid(folder, {".claude-plugin/marketplace.json": listed})
    laid(folder / "notes", plugin(version, hook))
    return folder


def lock(program: Program) -> dict[str, Any]:
    path = program.home / ".gatewright/plugins/lock.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")).get("plugins", {})
    return found


def test_a_plugin_is_found_agreed_to_and_removed(program: Program, tmp_path: Path) -> None:
    folder = market(tmp_path / "market")
    with program.terminal("--model", "demo", rows=40) as terminal:
        terminal.wait_for("Ask anything")
        terminal.send(f"/plugin marketplace add {folder}\r")
        terminal.wait_for("tools is added: 1 plugin.")
        terminal.send("/plugin\r")
        terminal.wait_for("notes@tools", "Keeps notes", "Discover")
        terminal.press("ctrl+y")
        terminal.wait_for("Install the plugin notes?", "echo planted", "Install it")
        terminal.look()
        terminal.press("n")
        terminal.wait_for("nobody agreed to it")
        assert not (program.home / ".gatewright/plugins/lock.json").exists()

        terminal.send("/plugin install notes@tools\r")
        terminal.wait_for("Install the plugin notes?", "echo planted", "Install it")
        terminal.look()
        terminal.press("y")
        terminal.wait_for("notes@tools is installed.")
        assert [*lock(program)] == ["notes@tools"]

        terminal.send("/plugin disable notes\r")
        terminal.wait_for("notes@tools is off.")
        terminal.send("/plugin uninstall notes\r")
        terminal.wait_for("notes@tools is removed.")
        assert not lock(program)


def test_without_a_person_it_says_what_asks(program: Program, tmp_path: Path) -> None:
    folder = market(tmp_path / "market")
    program.run("plugin", "marketplace", "add", str(folder))
    done = program.run("-p", "/plugin discover notes", "--model", "demo")
    assert "notes@tools" in done.stdout
    done = program.run("-p", "/plugin install notes@tools", "--model", "demo")
    assert "agent plugin install notes@tools" in done.stdout + done.stderr
    assert not (program.home / ".gatewright/plugins/lock.json").exists()


def version_of(program: Program) -> object:
    (record,) = lock(program).values()
    return record["version"]


def test_leaving_waits_for_no_server(program: Program, tmp_path: Path) -> None:
    with market_server(tmp_path) as server, program.terminal("--model", "demo") as terminal:
        server.answers["/git/market/.git/info/refs"] = _silent
        terminal.wait_for("Ask anything")
        terminal.send(f"/plugin marketplace add {server.git('market')}\r")
        terminal.wait_for("is asked what it lists")
        until(lambda: bool(server.asked))
        terminal.send("/exit\r")
        assert terminal.wait_exit() == 0
    aside = program.home / ".gatewright/plugins/aside"
    assert not [*aside.iterdir()]


def _silent(handler: Handler) -> None:
    handler.rfile.read(1)


def aged(program: Program) -> None:
    """Its marketplaces were asked long ago."""
    path = program.home / ".gatewright/plugins/markets.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    for known in said["markets"].values():
        known["updatedAt"] = 1.0
    path.write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize("policy", ["notify", "patch", "off"])
def test_what_is_newer_is_told_once(program: Program, tmp_path: Path, policy: str) -> None:
    """A patch in which nothing else acts is taken where the person said so, and nothing more."""
    settings = program.home / ".gatewright/settings.json"
    with market_server(tmp_path) as server:
        folder = market(tmp_path / "market")
        repository(folder, {})
        program.run("plugin", "marketplace", "add", server.git("market"))
        program.run("plugin", "install", "notes", "--yes")
        said = json.loads(settings.read_text(encoding="utf-8"))
        settings.write_text(json.dumps({**said, "plugins": {"autoUpdate": policy}}), "utf-8")
        repository(market(folder, "1.0.1"), {})
        aged(program)
        told = {
            "notify": "notes@tools 1.0.0 → 1.0.1",
            "patch": "Patches were taken: notes@tools",
            "off": "Ask anything",
        }[policy]
        before = len(server.asked)
        with program.terminal("--model", "demo") as terminal:
            terminal.wait_for(told)
        assert (len(server.asked) > before) is (policy != "off")
        version = "1.0.1" if policy == "patch" else "1.0.0"
        assert version_of(program) == version
        if policy == "patch":
            repository(market(folder, "1.0.2", "curl example.com"), {})
            aged(program)
            with program.terminal("--model", "demo") as terminal:
                terminal.wait_for("notes@tools 1.0.1 → 1.0.2")
            assert version_of(program) == version


def test_what_a_project_names_is_fetched_after_a_yes(program: Program, tmp_path: Path) -> None:
    with market_server(tmp_path) as server:
        repository(market(tmp_path / "market"), {})
        named = {
            "extraKnownMarketplaces": {
                "tools": {"source": {"source": "git", "url": server.git("market")}}
            },
            "enabledPlugins": {"notes@tools": True},
        }
        laid(program.project / ".gatewright", {"settings.json": json.dumps(named)})
        done = program.run("-p", "hello", "--model", "demo", "--trust")
        assert "agent plugin marketplace add tools" in done.stderr
        assert "agent plugin install notes@tools" in done.stderr
        with program.terminal("--model", "demo", "--trust", rows=40) as terminal:
            terminal.wait_for("Add the marketplace tools?", "Nothing was fetched yet")
            assert not server.asked, "neither by print mode nor before an answer"
            terminal.press_until_gone("y", "Add the marketplace tools?")
            terminal.wait_for("Fetch the plugin notes@tools?")
            terminal.press_until_gone("y", "Fetch the plugin notes@tools?")
            terminal.wait_for("Install the plugin notes?", "echo planted")
            assert not (program.home / ".gatewright/plugins/lock.json").exists()
            terminal.press_until_gone("y", "Install the plugin notes?")
            terminal.wait_for("1 plugin: notes.")
        assert [*lock(program)] == ["notes@tools"]
        with program.terminal("--model", "demo", "--trust", rows=40) as terminal:
            terminal.wait_for("Ask anything")
            terminal.send("/plugin discover zzz\r")
            terminal.wait_for("zzz")
            assert "This project names" not in terminal.text()


def test_what_a_project_names_may_be_refused_for_good(program: Program, tmp_path: Path) -> None:
    with market_server(tmp_path) as server:
        source = {"source": "git", "url": server.git("market")}
        named = {
            "extraKnownMarketplaces": {"tools": {"source": source}},
            "enabledPlugins": {"notes@tools": True, "other@nowhere": True},
        }
        laid(program.project / ".gatewright", {"settings.json": json.dumps(named)})
        with program.terminal("--model", "demo", "--trust", rows=40) as terminal:
            terminal.wait_for("Add the marketplace tools?")
            terminal.press_until_gone("x", "Add the marketplace tools?")
            terminal.wait_for("the plugin other@nowhere, which is not installed")
            assert "Fetch the plugin" not in terminal.text()
        with program.terminal("--model", "demo", "--trust", rows=40) as terminal:
            terminal.wait_for("the plugin other@nowhere, which is not installed")
            assert "Add the marketplace" not in terminal.text()
        assert not server.asked
