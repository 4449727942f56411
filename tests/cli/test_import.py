"""Claude Code's settings become ours: shown first, added to what is there, never instead of it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.main import launch

SECRET = "sk-" + "x1" * 12


class Desk:
    """A home and a project of the test's own, with files of both programs."""

    def __init__(self, tmp_path: Path, run: Callable[..., tuple[int, str, str]]) -> None:
        self.home, self.project = tmp_path / "home", tmp_path / "project"
        self.run = run

    def theirs(self, name: str, document: Any, *, project: bool = False) -> Path:
        return self._put((self.project if project else self.home) / ".claude" / name, document)

    def ours(self, document: Any) -> Path:
        return self._put(self.home / ".gatewright" / "settings.json", document)

    def read(self, name: str = "settings.json", *, project: bool = False) -> Any:
        path = (self.project if project else self.home) / ".gatewright" / name
        return json.loads(path.read_text(encoding="utf-8"))

    def _put(self, path: Path, document: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document, indent=4)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Desk:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        code = launch(["import", "claude", *arguments])
        out, err = capfd.readouterr()
        return code, out, err

    desk = Desk(tmp_path, run)
    desk.home.mkdir()
    desk.project.mkdir()
    monkeypatch.setenv("HOME", str(desk.home))
    for name in ("CLAUDE_CONFIG_DIR", "GATEWRIGHT", "GATEWRIGHT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(desk.project)
    return desk


def test_everything_that_maps_is_copied_into_its_layer(desk: Desk) -> None:
    desk.theirs(
        "settings.json",
        {
            "permissions": {
                "allow": ["Bash(npm test:*)", "Edit"],
                "ask": ["Bash(git push *)"],
                "deny": ["Read(.env)"],
                "additionalDirectories": ["~/lib"],
                "defaultMode": "acceptEdits",
            },
            "env": {"NODE_ENV": "test"},
            "model": "opus",
            "cleanupPeriodDays": 20,
        },
    )
    desk.theirs("settings.json", {"permissions": {"deny": ["WebFetch"]}}, project=True)
    desk.theirs("settings.local.json", {"permissions": {"allow": ["Grep"]}}, project=True)
    code, out, err = desk.run("--yes")
    assert (code, err) == (0, "")
    assert "+ permissions.deny  Read(.env)\n" in out
    assert "+ env.NODE_ENV  test\n" in out
    assert desk.read() == {
        "permissions": {
            "allow": ["Bash(npm test:*)", "Edit"],
            "ask": ["Bash(git push *)"],
            "deny": ["Read(.env)"],
            "additionalDirectories": ["~/lib"],
            "defaultMode": "acceptEdits",
        },
        "env": {"NODE_ENV": "test"},
        "model": "anthropic/opus",
        "cleanupPeriodDays": 20,
    }
    assert desk.read(project=True) == {"permissions": {"deny": ["WebFetch"]}}
    assert desk.read("settings.local.json", project=True) == {"permissions": {"allow": ["Grep"]}}
    assert desk.run("--yes")[1].endswith("There is nothing to copy.\n")


def test_hooks_are_copied_beside_those_there_are(desk: Desk) -> None:
    def group(command: str) -> dict[str, Any]:
        return {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}

    desk.theirs("settings.json", {"hooks": {"PreToolUse": [group("one"), group("two")]}})
    ours = desk.home / ".gatewright" / "settings.json"
    ours.parent.mkdir(exist_ok=True)
    ours.write_text(json.dumps({"hooks": {"PreToolUse": [group("two")]}}), encoding="utf-8")
    code, out, _ = desk.run("--yes")
    assert code == 0
    assert '"command":"one"' in out
    assert desk.read()["hooks"] == {"PreToolUse": [group("two"), group("one")]}
    assert desk.run("--yes")[1].endswith("There is nothing to copy.\n")


def test_servers_are_copied(desk: Desk) -> None:
    servers = {"db": {"command": "serve", "args": ["-x"]}}
    desk.theirs("settings.json", {"mcpServers": servers})
    code, _, _ = desk.run("--yes")
    assert (code, desk.read()["mcpServers"]) == (0, servers)


@pytest.mark.parametrize("project", [False, True])
def test_plugins_and_their_marketplaces_are_named_here_too(desk: Desk, *, project: bool) -> None:
    named = {
        "enabledPlugins": {"fmt@team": True},
        "extraKnownMarketplaces": {"team": {"source": {"source": "github", "repo": "a/b"}}},
    }
    desk.theirs("settings.json", named, project=project)
    code, out, _ = desk.run("--yes")
    assert code == 0 and "+ enabledPlugins.fmt@team  True" in out
    top = desk.project if project else desk.home
    ours = top / ".gatewright" / "settings.json"
    assert json.loads(ours.read_text(encoding="utf-8")) == named


def test_what_is_left_out_is_named_with_the_reason(desk: Desk) -> None:
    desk.theirs(
        "settings.json",
        {
            "apiKeyHelper": "x",
            "newThing": 1,
            "another": 2,
            "model": "opusplan",
            "env": {"MY_API_KEY": SECRET, "CLAUDE_CODE_X": "1", "URL": f"https://h/?k={SECRET}"},
            "permissions": {"allow": ["Bash(", 7], "defaultMode": "nonsense"},
        },
    )
    desk.theirs(
        "settings.json", {"permissions": {"defaultMode": "bypassPermissions"}}, project=True
    )
    desk.theirs("agents/one.md", "x")
    desk.theirs("commands/a/b.md", "x", project=True)
    code, out, _ = desk.run("--yes")
    assert code == 0
    for what in (
        "- apiKeyHelper: keys are kept by agent login",
        "- newThing, another: nothing here corresponds.",
        "- model opusplan: no model here has that name",
        "- env.MY_API_KEY: looks like a secret",
        "- env.CLAUDE_CODE_X: steers Claude Code",
        "- env.URL: looks like a secret",
        "- permissions.allow Bash(: ",
        "- permissions.allow[0] expected",
        '- permissions.defaultMode: "nonsense" is no mode',
        '- permissions.defaultMode: "bypassPermissions" counts only in your own settings.',
        f"{desk.home}/.claude/agents (1): they count where they lie; --files link, or copy,",
        f"{desk.project}/.claude/commands (1): they count where they lie; --files link, or copy,",
        "There is nothing to copy.",
    ):
        assert what.replace("[0] expected", "[0]: expected") in out
    assert SECRET not in out
    assert not (desk.home / ".gatewright" / "settings.json").exists()


def test_what_is_ours_stays(desk: Desk) -> None:
    ours = desk.ours(
        {
            "mine": {"unknown": [1]},
            "model": "demo",
            "env": {"A": "mine"},
            "permissions": {
                "allow": [{"rule": "Edit", "addedBy": "user"}],
                "defaultMode": "plan",
            },
        }
    )
    desk.theirs(
        "settings.json",
        {
            "model": "opus",
            "env": {"A": "theirs", "B": "new"},
            "permissions": {"allow": ["Edit", "Grep"], "defaultMode": "acceptEdits"},
        },
    )
    before = ours.read_bytes()
    code, out, err = desk.run()
    assert code == 1
    assert "Add --yes" in err
    assert ours.read_bytes() == before
    for key in ("model", "env.A", "permissions.defaultMode"):
        assert f"- {key}: yours is set already and stays.\n" in out
    assert desk.run("-y")[0] == 0
    assert desk.read() == {
        "mine": {"unknown": [1]},
        "model": "demo",
        "env": {"A": "mine", "B": "new"},
        "permissions": {
            "allow": [{"rule": "Edit", "addedBy": "user"}, "Grep"],
            "defaultMode": "plan",
        },
    }


@pytest.mark.parametrize("text", ['{"model": // x\n "opus"}', "[1]", "{"])
@pytest.mark.parametrize("whose", ["theirs", "ours"])
def test_a_file_that_cannot_be_read_is_named_and_left(desk: Desk, text: str, whose: str) -> None:
    good = {"permissions": {"deny": ["WebFetch"]}}
    theirs = desk.theirs("settings.json", text if whose == "theirs" else good)
    ours = desk.ours(text if whose == "ours" else {})
    desk.theirs("settings.json", good, project=True)
    before = ours.read_bytes()
    code, out, _ = desk.run("--yes")
    assert code == 0
    assert f"- {theirs if whose == 'theirs' else ours}" in out
    assert ours.read_bytes() == before
    assert desk.read(project=True) == good


def test_without_claude_code(desk: Desk) -> None:
    assert desk.run() == (0, "There is nothing to copy.\n", "")


def test_their_directory_may_be_elsewhere(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.project / "conf"))
    (desk.project / "conf").mkdir()
    (desk.project / "conf" / "settings.json").write_text('{"model": "haiku"}', encoding="utf-8")
    assert desk.run("--yes")[0] == 0
    assert desk.read() == {"model": "anthropic/haiku"}


def test_at_home_a_file_is_copied_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.home)
    desk.theirs("settings.json", {"model": "haiku"})
    _, out, _ = desk.run("--yes")
    assert out.count("+ model") == 1


def test_a_command_of_a_session_cannot_import(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWRIGHT", "1")
    desk.theirs("settings.json", {"permissions": {"allow": ["Bash"]}})
    code, _, err = desk.run("--yes")
    assert code == 1
    assert "changed by the person" in err
    assert not (desk.home / ".gatewright").exists()


def files_of_theirs(desk: Desk) -> None:
    desk.theirs("skills/deploy/SKILL.md", "---\nname: deploy\ndescription: d\n---\nGo.\n")
    desk.theirs("skills/deploy/scripts/go.sh", "#!/bin/sh\n").chmod(0o755)
    desk.theirs("commands/git/sync.md", "Sync.\n")
    desk.theirs("agents/one.md", "---\nname: one\n---\nWork.\n", project=True)
    desk.theirs("output-styles/dry.md", "---\nname: dry\n---\nBe dry.\n", project=True)


@pytest.mark.parametrize("way", ["link", "copy"])
def test_skills_commands_agents_and_styles_are_brought_over(desk: Desk, way: str) -> None:
    files_of_theirs(desk)
    mine = desk.home / ".gatewright" / "commands" / "git"
    mine.mkdir(parents=True)
    code, out, _ = desk.run("--yes", "--files", way)
    assert code == 0
    assert "git: yours of that name is there and stays." in out
    ours, theirs = desk.home / ".gatewright/skills/deploy", desk.home / ".claude/skills/deploy"
    assert (ours / "SKILL.md").read_bytes() == (theirs / "SKILL.md").read_bytes()
    assert ours.is_symlink() == (way == "link")
    assert (ours / "scripts/go.sh").stat().st_mode & 0o777 == 0o755
    for name in ("agents/one.md", "output-styles/dry.md"):
        brought = desk.project / ".gatewright" / name
        assert brought.read_bytes() == (desk.project / ".claude" / name).read_bytes()
        assert brought.is_symlink() == (way == "link")
        if way == "link":
            assert not brought.readlink().is_absolute()
    assert list(mine.iterdir()) == []
    assert "There is nothing to copy." in desk.run("--yes", "--files", way)[1]


def test_nothing_of_a_project_leads_out_of_it(desk: Desk) -> None:
    secret = desk.home / "secret.md"
    secret.write_text("private", encoding="utf-8")
    desk.theirs("agents/one.md", "x", project=True)
    desk.theirs("skills/s/SKILL.md", "x", project=True)
    (desk.project / ".claude/agents/out.md").symlink_to(secret)
    (desk.project / ".claude/skills/s/out.md").symlink_to(secret)
    (desk.project / ".gatewright").mkdir()
    (desk.project / ".gatewright/agents").symlink_to(desk.home)
    out = desk.run("--yes", "--files", "copy")[1]
    assert "out.md: it leads out of the project." in out
    assert "leads out of the project: nothing is put in" in out
    assert "out.md is a link that leads out of it" in out
    assert not (desk.home / "one.md").exists()
    assert not (desk.project / ".gatewright/skills/s").exists()
    assert list((desk.project / ".gatewright/skills").iterdir()) == []


def test_another_way_is_no_way(desk: Desk) -> None:
    code, _, err = desk.run("--yes", "--files", "move")
    assert code and "as link or copy" in err


def test_one_file_under_two_names_is_one_agent(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.theirs("agents/two.md", "---\nname: two\ndescription: d\n---\nWork.\n")
    desk.run("--yes", "--files", "link")
    launch(["agents", "list", "--json"])
    rows = json.loads(capfd.readouterr().out)
    assert [row["state"] for row in rows if row["name"] == "two"] == ["offered"]
