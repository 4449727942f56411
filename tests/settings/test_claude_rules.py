"""What Claude Code's files deny and ask about counts at full strength; nothing else of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.foreign.claude_rules import TheirFile, translated
from gatewright.agent.settings.layers.sources import Loaded, RuleTexts, load
from gatewright.agent.settings.live_settings import LiveSettings, starting
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Deny
from gatewright.permissions.policy import Policy
from gatewright.tools.access import Access, ShellText, Where

USER = TheirFile(Path("u"), ("", "//h/.claude"), floats=False)
PROJECT = TheirFile(Path("p"), ("",), floats=True)
BELOW = TheirFile(Path("b"), ("//w/p/a",), floats=True)
MANAGED = TheirFile(Path("m"), ("", "/", "//etc/x"), floats=False)


@pytest.mark.parametrize(
    ("file", "theirs", "ours"),
    [
        (PROJECT, "Bash(npm run test:*)", ["Bash(npm run test:*)"]),
        (PROJECT, "Bash(curl *)", ["Bash(curl *)", "Bash(curl:*)"]),
        (PROJECT, "Bash(git * main)", ["Bash(git * main)"]),
        (PROJECT, "Bash(*)", ["Bash"]),
        (PROJECT, "Read(*)", ["Read"]),
        (PROJECT, "WebFetch", ["WebFetch"]),
        (PROJECT, "WebFetch(domain:example.com)", ["WebFetch(domain:example.com)"]),
        (PROJECT, "mcp__github", ["mcp__github"]),
        (PROJECT, "Read(./.env)", ["Read(.env)"]),
        (PROJECT, "Read(./config/x)", ["Read(config/x)", "Read(/config/x)"]),
        (BELOW, "Read(config/x)", ["Read(config/x)", "Read(//w/p/a/config/x)"]),
        (USER, "Read(config/x)", ["Read(config/x)"]),
        (PROJECT, "Read(**/key)", ["Read(**/key)"]),
        (PROJECT, "Read(//etc/passwd)", ["Read(//etc/passwd)"]),
        (PROJECT, "Read(~/.aws/**)", ["Read(~/.aws/**)"]),
        (PROJECT, "Edit(/src/**)", ["Edit(/src/**)"]),
        (BELOW, "Edit(/src/**)", ["Edit(//w/p/a/src/**)"]),
        (USER, "Edit(/src/**)", ["Edit(/src/**)", "Edit(//h/.claude/src/**)"]),
        (MANAGED, "Read(/a)", ["Read(/a)", "Read(//a)", "Read(//etc/x/a)"]),
        (PROJECT, "Write(.env)", ["Write(.env)", "Edit(.env)"]),
        (PROJECT, "Read({a,b}.key)", ["Read({a,b}.key)", "Read(\\{a,b\\}.key)"]),
        (PROJECT, "nonsense (", ["nonsense ("]),
    ],
)
@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_a_rule_becomes_what_it_may_mean(
    file: TheirFile, theirs: str, ours: list[str], behavior: str
) -> None:
    found = translated({"permissions": {behavior: [theirs]}}, file)
    assert found == {"permissions": {behavior: ours}}


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ({"permissions": {"allow": ["Bash"], "defaultMode": "bypassPermissions"}}, {}),
        ({"model": "opus", "env": {"A": "b"}, "hooks": {}}, {}),
        ({"permissions": {"deny": "Bash"}}, {"permissions": {"deny": ["Bash"]}}),
        ({"permissions": {"deny": [7]}}, {"permissions": {"deny": [7]}}),
        ({"permissions": {"deny": {"a": 1}}}, {"permissions": {"deny": {"a": 1}}}),
        ({"permissions": 7}, {"permissions": 7}),
    ],
)
def test_nothing_else_of_it_counts_and_mistakes_stay_to_be_named(
    raw: dict[str, Any], found: dict[str, Any]
) -> None:
    assert translated(raw, PROJECT) == found


class Desk:
    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.cwd = self.project / "a" / "b"
        for each in (self.home, self.project / ".git", self.cwd):
            each.mkdir(parents=True)

    def write(self, place: Path, document: Any, name: str = "settings.json") -> Path:
        path = place / ".claude" / name
        path.parent.mkdir(exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_text(text, encoding="utf-8")
        return path

    def around(self, **options: Any) -> Surroundings:
        given = LaunchOptions(cwd=str(self.cwd), **options)
        return starting(survey(given, self.env, interactive=True))

    def policy(self, **options: Any) -> Policy:
        return Policy(policy_config(self.around(**options), "default"))

    def ran(self, command: str, policy: Policy) -> object:
        where = Where(cwd=self.cwd, root=self.project, home=self.home)
        access = Access(runs=ShellText(command, self.cwd))
        return decide(Call("Bash", {"command": command}, access), policy.context(where))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def forbid(*deny: str, **more: Any) -> dict[str, Any]:
    return {"permissions": {"deny": list(deny), **more}}


def test_every_layer_of_theirs_is_listed_under_its_name(desk: Desk) -> None:
    desk.write(desk.home, forbid("Bash(a)", ask=["Bash(b)"], allow=["Bash(c)"]))
    desk.write(desk.project, forbid("Bash(d)"))
    desk.write(desk.project / "a", forbid("Bash(e)"))
    desk.write(desk.project, forbid("Bash(f)"), "settings.local.json")
    loaded = desk.around().loaded
    assert loaded.named_rules == {
        "claude": RuleTexts((), ("Bash(b)",), ("Bash(a)",)),
        "claude-project": RuleTexts((), (), ("Bash(d)", "Bash(e)")),
        "claude-local": RuleTexts((), (), ("Bash(f)",)),
    }
    assert desk.policy().rules().trusted == ()


def test_the_administrators_file_counts(tmp_path: Path) -> None:
    def read(**more: Any) -> Loaded:
        etc = tmp_path / "etc"
        places = Places(home=tmp_path / "h", root=tmp_path, claude_managed=etc, **more)
        return load(places, LaunchOptions(setting_sources=()), env={"HOME": str(tmp_path)})

    (tmp_path / "etc").mkdir()
    file = tmp_path / "etc" / "managed-settings.json"
    file.write_text(json.dumps(forbid("WebFetch")), encoding="utf-8")
    assert read().claude == {Source.MANAGED: RuleTexts(deny=("WebFetch",))}


def test_a_denial_of_an_untrusted_project_holds_against_an_allowance_of_mine(desk: Desk) -> None:
    desk.write(desk.project, forbid("Bash(ls:*)"))
    assert isinstance(desk.ran("ls", desk.policy(allowed_tools=("Bash(ls:*)",))), Deny)


def test_an_allowance_of_theirs_never_counts_trusted_or_not(desk: Desk) -> None:
    desk.write(desk.home, {"permissions": {"allow": ["Bash(make:*)"], "defaultMode": "dontAsk"}})
    desk.write(desk.project, {"permissions": {"allow": ["Bash(make:*)"]}})
    assert not isinstance(desk.ran("make x", desk.policy(trust=True)), Allow)


def test_the_home_directorys_file_is_the_persons_alone(desk: Desk) -> None:
    desk.write(desk.home, forbid("WebFetch"))
    around = survey(LaunchOptions(cwd=str(desk.home)), desk.env, interactive=True)
    assert list(around.loaded.named_rules) == ["claude"]


@pytest.mark.parametrize("text", ["{broken", '{"permissions": {"deny": [7]}}', "[]"])
def test_with_a_broken_file_everything_asks(desk: Desk, text: str) -> None:
    path = desk.write(desk.project, text)
    around = desk.around()
    assert any(str(path) in problem.text() for problem in around.loaded.problems)
    assert not isinstance(desk.ran("ls", Policy(policy_config(around, "default"))), Allow)


def test_a_file_that_breaks_while_a_session_runs_keeps_what_it_forbade(desk: Desk) -> None:
    desk.write(desk.project, forbid("Bash(ls:*)"))
    told: list[str] = []
    live = LiveSettings(desk.around(), desk.env, tell=told.append)
    desk.write(desk.project, "{broken")
    live.refresh()
    assert live.around.loaded.named_rules["claude-project"].deny == ("Bash(ls:*)",)
    assert told


def test_what_says_more_than_it_forbids_is_named_for_the_offer(desk: Desk) -> None:
    desk.write(desk.home, forbid("Bash(a)"))
    more = desk.write(desk.project, {**forbid("Bash(a)"), "model": "opus"})
    allow = desk.write(desk.project, forbid(allow=["Bash(b)"]), "settings.local.json")
    assert set(desk.around().loaded.offered) == {more, allow}


def test_bare_sessions_read_nothing_of_a_project(desk: Desk) -> None:
    desk.write(desk.project, forbid("Bash(a)"))
    assert desk.around(bare=True).loaded.named_rules == {}
