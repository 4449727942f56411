"""Stories of plugins: the installed program, a plugin in Claude Code's layout, a scripted model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.fakes.plugin_trees import bare_plugin, full_plugin, write, write_json

pytestmark = pytest.mark.e2e
FAKE = str(Path(__file__).parent.parent / "fakes" / "mcp_server.py")
SERVER = {"command": sys.executable, "args": [FAKE], "alwaysLoad": True}


def asked(program: Program, script: str, *flags: str) -> tuple[Any, list[dict[str, Any]]]:
    """How print mode ended, and what the model was sent."""
    with ServerThread(script) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        return program.run("-p", "go", *flags, env=env), server.bodies


def first_line(program: Program, *flags: str) -> dict[str, Any]:
    done, _ = asked(program, "say: Done.\n", "--output-format", "stream-json", *flags)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return found


def plugin(program: Program, *arguments: str) -> str:
    done = program.run("plugin", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def store(program: Program) -> Path:
    return program.home / ".gatewright" / "plugins"


class TestOnePluginWithEverything:
    def test_from_install_to_uninstall(self, program: Program, tmp_path: Path) -> None:
        folder = full_plugin(tmp_path / "tidy", server=SERVER)
        said = plugin(program, "install", str(folder), "--yes")
        for expected in ("Publisher: Ada", "ls | wc -l", "scripts/note.sh", "shelf: ", "tidy-tool"):
            assert expected in said
        assert "tidy@local 1.0.0 is installed." in said
        (row,) = json.loads(plugin(program, "list", "--json"))
        assert (row["id"], row["state"]) == ("tidy@local", "on")
        assert "Skills: skills (sweep)" in plugin(program, "info", "tidy")
        line = first_line(program)
        assert line["plugins"] == [{"name": "tidy", "path": row["path"]}]
        assert [each["name"] for each in line["mcp_servers"]] == ["plugin:tidy:shelf"]
        assert "tidy:keeper" in line["agents"]
        self.it_works(program)
        self.its_texts_count(program)
        plugin(program, "disable", "tidy")
        assert first_line(program)["plugins"] == []
        plugin(program, "enable", "tidy")
        assert len(first_line(program)["plugins"]) == 1
        assert "is removed" in plugin(program, "uninstall", "tidy")
        assert not (store(program) / "data" / "tidy@local").exists()
        assert list(store(program).glob("store/*/*/*")) == []
        assert "No plugin is installed" in plugin(program, "list")

    def it_works(self, program: Program) -> None:
        """Its hook, its server, its program; its agent is offered."""
        script = "\n---\n".join(
            [
                'call[c1]: Read {"file_path": "notes.txt"}\n'
                'call[c2]: mcp__plugin_tidy_shelf__echo {"text": "on the shelf"}\n'
                'call[c3]: Bash {"command": "tidy-tool"}',
                "say: Done.",
            ]
        )
        flags = ("--allowedTools", "mcp__plugin_tidy_shelf,Bash(tidy-tool)")
        done, bodies = asked(program, f"{script}\n", *flags)
        assert done.returncode == 0, done.stderr
        results = json.dumps(bodies[1]["messages"][-1]["content"])
        assert "on the shelf" in results, results
        assert "tidied" in results
        heard = store(program) / "data" / "tidy@local" / "heard"
        assert json.loads(heard.read_text(encoding="utf-8"))["tool_name"] == "Read"
        (agent,) = [tool for tool in bodies[0]["tools"] if tool["name"] == "Agent"]
        assert "tidy:keeper" in json.dumps(agent)

    def its_texts_count(self, program: Program) -> None:
        """Its skill, its command, its style."""
        call = 'call: Skill {"skill": "tidy:sweep", "args": "the kitchen"}\n---\nsay: Done.\n'
        done, bodies = asked(program, call, "--allowedTools", "Skill(tidy:sweep)")
        assert "Sweep it: the kitchen" in json.dumps(bodies[1]["messages"]), done.stderr
        system = json.dumps(bodies[0]["system"])
        assert "Sweep the floor" in system
        assert "Speak as a butler would." in system, "its settings say so, and nobody else"
        with ServerThread("say: Done.\n") as server:
            env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
            program.run("-p", "/tidy:dust lamp", env=env)
        assert "Dust lamp." in json.dumps(server.bodies[0]["messages"])

    def test_a_change_of_its_files_turns_it_off(self, program: Program, tmp_path: Path) -> None:
        plugin(program, "install", str(full_plugin(tmp_path / "tidy")), "--yes")
        (row,) = json.loads(plugin(program, "list", "--json"))
        note = Path(row["path"]) / "scripts" / "note.sh"
        note.chmod(0o755)
        write(note, "#!/bin/sh\ntouch planted\n", program=True)
        call = 'call: Read {"file_path": "notes.txt"}\n---\nsay: Done.\n'
        done, _ = asked(program, call)
        assert "not those that you agreed to" in done.stderr
        assert not (program.project / "planted").exists()
        assert first_line(program)["plugin_errors"][0]["plugin"] == "tidy@local"


def test_the_doctor_says_how_plugins_are(program: Program, tmp_path: Path) -> None:
    assert "Plugins" not in program.run("doctor").stdout
    plugin(program, "install", str(bare_plugin(tmp_path / "tidy")), "--yes")
    assert "1 on: tidy@local" in program.run("doctor").stdout
    settings = program.home / ".gatewright" / "settings.json"
    said = json.loads(settings.read_text(encoding="utf-8"))
    write_json(settings, {**said, "enabledPlugins": {"tidy@local": True, "gone@market": True}})
    found = program.run("doctor").stdout
    assert "gone@market: it is on, and not installed" in found
    assert "1 on: tidy@local" in found


def test_the_mark_of_a_session_that_was_killed_goes(program: Program, tmp_path: Path) -> None:
    plugin(program, "install", str(bare_plugin(tmp_path / "tidy")), "--yes")
    left = write(store(program) / "users" / "gone.json", "[]")
    first_line(program)
    assert not left.exists()


class TestConsent:
    def test_nobody_there_means_no(self, program: Program, tmp_path: Path) -> None:
        done = program.run("plugin", "install", str(bare_plugin(tmp_path / "tidy")))
        assert done.returncode == 1
        assert "nobody agreed" in done.stderr
        assert plugin(program, "list").startswith("No plugin")

    def test_a_model_installs_nothing(self, program: Program, tmp_path: Path) -> None:
        folder = bare_plugin(tmp_path / "tidy")
        done = program.run("plugin", "install", str(folder), "-y", env={"GATEWRIGHT": "1"})
        assert done.returncode == 1

    def test_plugin_dir_is_for_one_run(self, program: Program, tmp_path: Path) -> None:
        folder = full_plugin(tmp_path / "tidy", server=SERVER)
        line = first_line(program, "--plugin-dir", str(folder))
        assert line["plugins"] == [{"name": "tidy", "path": str(folder)}]
        assert first_line(program)["plugins"] == []
        bad = first_line(program, "--plugin-dir", "nowhere")
        assert "no such directory" in json.dumps(bad["plugin_errors"])


class TestProjects:
    """What a checkout says, that nobody has agreed to yet."""

    def test_it_turns_nothing_on_by_itself(self, program: Program, tmp_path: Path) -> None:
        plugin(program, "install", str(full_plugin(tmp_path / "tidy")), "--yes")
        plugin(program, "disable", "tidy")
        offer = {"enabledPlugins": {"tidy@local": True, "other@market": True}}
        write_json(program.project / ".gatewright" / "settings.json", offer)
        assert first_line(program)["plugins"] == []
        done, _ = asked(program, "say: Done.\n", "--trust")
        assert "names the plugin tidy@local, which is not used" in done.stderr
        assert "agent plugin install other@market" in done.stderr
        assert first_line(program, "--trust")["plugins"] == []
        plugin(program, "enable", "tidy", "--scope", "project")
        assert len(first_line(program, "--trust")["plugins"]) == 1
        assert first_line(program)["plugins"] == [], "trust is needed besides"

    def test_what_is_on_and_not_installed_is_said(self, program: Program) -> None:
        settings = program.home / ".gatewright" / "settings.json"
        write_json(settings, {"smallModel": "demo", "enabledPlugins": {"gone@market": True}})
        done, _ = asked(program, "say: Done.\n")
        assert "it is on, and not installed: agent plugin install gone@market" in done.stderr

    def test_opening_a_checkout_full_of_plugins_does_nothing(self, program: Program) -> None:
        full_plugin(program.project / ".claude" / "plugins" / "tidy")
        full_plugin(program.project / "tidy")
        offer = {
            "enabledPlugins": {"tidy@here": True},
            "extraKnownMarketplaces": {"here": {"source": {"source": "directory", "path": "."}}},
        }
        write_json(program.project / ".gatewright" / "settings.json", offer)
        write_json(program.project / ".claude" / "settings.json", offer)
        line = first_line(program)
        assert (line["plugins"], line["mcp_servers"]) == ([], [])
        assert not store(program).exists()


def test_on_the_screen_an_offer_is_asked_about(program: Program, tmp_path: Path) -> None:
    plugin(program, "install", str(full_plugin(tmp_path / "tidy")), "--yes")
    plugin(program, "disable", "tidy")
    offer = {"enabledPlugins": {"tidy@local": True}}
    write_json(program.project / ".gatewright" / "settings.json", offer)
    with program.terminal("--model", "demo", "--trust", rows=50) as terminal:
        terminal.wait_for("Use the plugin tidy here?", "note.sh")
        terminal.press_until_gone("y", "Use the plugin tidy here?")
        terminal.wait_for("1 plugin: tidy.")
    assert len(first_line(program, "--trust")["plugins"]) == 1


def test_a_plugin_that_is_written_is_valid(program: Program) -> None:
    plugin(program, "init", "notes", "--author", "Ada", "-d", "Notes")
    assert "notes is valid" in plugin(program, "validate", "notes", "--strict")
    write(program.project / "notes" / "hooks" / "hooks.json", '{"hooks": {"Stopp": []}}')
    done = program.run("plugin", "validate", "notes")
    assert done.returncode == 1
    assert "did you mean Stop" in done.stdout


def test_the_session_may_be_an_agent_of_a_plugin(program: Program, tmp_path: Path) -> None:
    folder = bare_plugin(tmp_path / "tidy")
    text = "---\nname: keeper\ndescription: Keeps the house\n---\nYou keep the house.\n"
    write(folder / "own" / "keeper.md", text)
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    write_json(folder / ".claude-plugin" / "plugin.json", {**manifest, "agents": "./own/keeper.md"})
    flags = ("--plugin-dir", str(folder), "--agent", "tidy:keeper")
    done, bodies = asked(program, "say: Done.\n", *flags)
    assert "You keep the house." in json.dumps(bodies[0]["system"]), done.stderr
    write_json(folder / "settings.json", {"agent": "keeper"})
    plugin(program, "install", str(folder), "-y")
    done, bodies = asked(program, "say: Done.\n")
    assert "You keep the house." in json.dumps(bodies[0]["system"]), done.stderr
    write_json(folder / "settings.json", {"agent": "nobody"})
    plugin(program, "install", str(folder), "-y")
    done, bodies = asked(program, "say: Done.\n")
    assert done.returncode == 0, done.stderr


def test_a_session_keeps_its_version_until_it_reloads(program: Program, tmp_path: Path) -> None:
    folder = bare_plugin(tmp_path / "tidy")
    plugin(program, "install", str(folder), "-y")
    (old,) = store(program).glob("store/*/*/*")
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("Ask anything")
        terminal.send("/reload-plugins\r")
        terminal.wait_for("1 plugin: tidy.")
        (user,) = store(program).glob("users/*.json")
        assert json.loads(user.read_text(encoding="utf-8")) == [str(old)]
        write(folder / "skills" / "sweep" / "SKILL.md", "---\ndescription: new\n---\nNew.\n")
        plugin(program, "install", str(folder), "-y")
        (new,) = set(store(program).glob("store/*/*/*")) - {old}
        assert old.is_dir()
        plugin(program, "uninstall", "tidy")
        assert old.is_dir(), "somebody runs from it"
        assert not new.is_dir()
        terminal.send("/reload-plugins\r")
        terminal.wait_for("No plugins are on here.")
