"""Permissions from older agents' files: translated, weighed like the settings beside them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.foreign.legacy import translated
from gatewright.agent.settings.layers.sources import Loaded, RuleTexts, load
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.policy_settings import policy_config, rules_of
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.trust_question import would_act
from gatewright.agent.settings.workspace import survey
from gatewright.permissions.policy import Policy
from gatewright.permissions.rulebook.rules import SOURCES


class Files:
    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.own, self.ours = self.home / ".gatewright", self.project / ".gatewright"
        self.own.mkdir(parents=True)
        self.ours.mkdir(parents=True)

    def write(self, path: Path, values: Any) -> None:
        text = values if isinstance(values, str) else json.dumps(values)
        path.write_text(text, encoding="utf-8")

    def load(self, *, trusted: bool = False) -> Loaded:
        return load(Places(home=self.own, root=self.project), env={}, trusted=trusted)

    def policy(self, *, trusted: bool = False) -> Policy:
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        options = LaunchOptions(cwd=str(self.project), trust=trusted)
        around = survey(options, env, interactive=True)
        assert set(rules_of(around.loaded)) <= set(SOURCES)
        return Policy(policy_config(around, around.settings.permissions.default_mode or "default"))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


CASES: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"somethingElse": 1, "theme": "x"}, {}, 0),
    ({"permissionMode": "acceptEdits"}, {"defaultMode": "acceptEdits"}, 0),
    ({"permission": {"mode": "plan"}, "permissionMode": "x"}, {"defaultMode": "plan"}, 0),
    ({"alwaysAllowTools": ["Edit"], "allowedTools": ["Bash(make:*)"]},
     {"allow": ["Edit", "Bash(make:*)"]}, 0),
    ({"permission": {"allowedPatterns": ["npm run *", "Read(src/**)"]}},
     {"allow": ["Bash(npm run *)", "Read(src/**)"]}, 0),
    ({"permission": {"deniedPatterns": ["rm *", "Read(.env)"]}},
     {"deny": ["Bash(rm *)", "Read(.env)"]}, 0),
    ({"permission": {"deniedPatterns": "rm *"}}, {"deny": ["Bash(rm *)"]}, 0),
    ({"permission": {"allowedPatterns": ["^git (log|diff)$"]}}, {}, 1),
    ({"permission": {"deniedPatterns": ["^rm .*", "dd *"]}},
     {"deny": ["Bash(dd *)"], "ask": ["Bash"]}, 1),
    ({"permission": {"deniedPatterns": [7]}}, {"ask": ["Bash"]}, 1),
    ({"permission": {"deniedPatterns": {"rm": True}}}, {"ask": ["Bash"]}, 1),
    ({"allowedTools": "Bash"}, {}, 1),
    ({"allowedTools": ["Bash(ls)", 3]}, {"allow": ["Bash(ls)"]}, 1),
    ({"permission": 3}, {}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected", "complaints"), CASES)
def test_translation(raw: dict[str, Any], expected: dict[str, Any], complaints: int) -> None:
    said: list[tuple[str, str]] = []
    found = translated(raw, lambda key, text: said.append((key, text)))
    assert found.get("permissions", {}) == expected
    assert len(said) == complaints


def test_rules_are_shown_as_legacy_and_kept_apart(files: Files) -> None:
    files.write(files.own / "settings.json", {"permissions": {"allow": ["Bash(a)"]}})
    files.write(files.own / "config.json", {"allowedTools": ["Bash(b)"]})
    files.write(files.ours / "config.json", {"allowedTools": ["Bash(c)"]})
    files.write(files.ours / "config.local.json", {"allowedTools": ["Bash(d)"]})
    loaded = files.load()
    assert loaded.rules == {Source.USER: RuleTexts(("Bash(a)",))}
    assert loaded.legacy == {
        Source.LOCAL: RuleTexts(("Bash(d)",)),
        Source.PROJECT: RuleTexts(("Bash(c)",)),
        Source.USER: RuleTexts(("Bash(b)",)),
    }
    assert files.ours / "config.local.json" in loaded.files
    rules = files.policy().rules()
    assert [(rule.text, rule.source) for rule in rules.trusted] == [
        ("Bash(a)", "user"), ("Bash(b)", "legacy"),
    ]  # fmt: skip
    assert {rule.source for rule in rules.untrusted} == {"legacy-project", "legacy-local"}


def test_a_project_gains_nothing_by_an_old_file(files: Files) -> None:
    for name in ("config.json", "config.local.json"):
        files.write(
            files.ours / name,
            {"permission": {"mode": "bypass"}, "allowedTools": ["*", "Bash", "Bash(make)"]},
        )
    policy = files.policy()
    assert policy.current() == "default"
    assert policy.rules().trusted == ()
    assert {rule.text for rule in policy.rules().untrusted} == {"Bash(make)"}
    assert "allow Bash (project settings)" in would_act(files.load())
    assert len(files.policy(trusted=True).rules().trusted) == 6
    assert files.policy(trusted=True).current() == "default"


def test_settings_are_stronger_than_the_old_file_beside_them(files: Files) -> None:
    files.write(files.own / "config.json", {"permissionMode": "acceptEdits"})
    assert files.policy().current() == "acceptEdits"
    files.write(files.own / "settings.json", {"permissions": {"defaultMode": "plan"}})
    assert files.policy().current() == "plan"


def test_what_is_wrong_is_told_with_the_file(files: Files) -> None:
    files.write(files.own / "config.json", {"permissionMode": "wild"})
    files.write(files.ours / "config.json", "{oops")
    first, second = sorted(problem.text() for problem in files.load().problems)
    assert first.startswith(f"{files.own / 'config.json'}: permissions.defaultMode")
    assert second.startswith(f"{files.ours / 'config.json'}:1: is not valid JSON")
