"""Layers of settings: who wins, what is reported, what a project may not say."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.layers.sources import Loaded, Problem, RuleTexts, load
from gatewright.agent.settings.paths import Places, project_root
from gatewright.agent.settings.traits import Source

TABLE = Path(__file__).parents[1] / "tables" / "settings_problems.jsonl"
PROBLEMS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


class Files:
    """The files of every layer, in one temporary directory."""

    def __init__(self, tmp_path: Path) -> None:
        self.places = Places(home=tmp_path / "h", root=tmp_path / "p", managed=tmp_path / "m")

    def write(self, source: Source, text: str) -> Path:
        path = self.places.file(source)
        assert path is not None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def load(
        self,
        options: LaunchOptions | None = None,
        *,
        env: Mapping[str, str] | None = None,
        trusted: bool = True,
    ) -> Loaded:
        return load(self.places, options or LaunchOptions(), env=env or {}, trusted=trusted)

    def problem(self, source: Source, text: str, *, trusted: bool = True) -> Problem:
        """The one problem that a file with this text has."""
        self.write(source, text)
        (problem,) = self.load(trusted=trusted).problems
        return problem


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_nothing_anywhere_is_all_defaults(files: Files) -> None:
    loaded = files.load()
    assert loaded.problems == ()
    assert loaded.provenance == {}
    assert loaded.settings.ui.theme == "auto"


def test_the_nearest_scalar_wins_and_says_so(files: Files) -> None:
    order = [Source.USER, Source.PROJECT, Source.LOCAL]
    for source in order:
        files.write(source, f'{{"model": "{source}"}}')
        loaded = files.load()
        assert loaded.settings.model == source
        assert loaded.provenance["model"] == (source,)
    options = LaunchOptions(settings='{"model": "flag"}')
    assert files.load(options).settings.model == "flag"
    options = LaunchOptions(settings='{"model": "flag"}', model="cli")
    assert files.load(options).settings.model == "cli"
    files.write(Source.MANAGED, '{"model": "managed"}')
    assert files.load(options).settings.model == "managed"


def test_the_environment_names_a_model_below_the_flag(files: Files) -> None:
    files.write(Source.USER, '{"model": "user"}')
    env = {"GATEWRIGHT_MODEL": "env"}
    assert files.load(env=env).settings.model == "env"
    assert files.load(LaunchOptions(model="cli"), env=env).settings.model == "cli"


def test_no_thinking_is_no_effort(files: Files) -> None:
    assert files.load(LaunchOptions(thinking="disabled")).settings.effort == "none"
    assert files.load(LaunchOptions(thinking="disabled", effort="low")).settings.effort == "low"
    assert files.load(LaunchOptions(thinking="adaptive")).settings.effort == ""


def test_lists_add_up_without_repeating(files: Files) -> None:
    files.write(Source.USER, '{"permissions": {"deny": ["A", "B"]}}')
    files.write(Source.PROJECT, '{"permissions": {"deny": ["B", "C"]}}')
    loaded = files.load(trusted=False)
    assert loaded.settings.permissions.deny == ("B", "C", "A")
    assert loaded.provenance["permissions.deny"] == (Source.PROJECT, Source.USER)


def test_an_ordered_list_replaces(files: Files) -> None:
    files.write(Source.USER, '{"fallbackModels": ["a", "b"]}')
    options = LaunchOptions(fallback_model="c, d")
    assert files.load(options).settings.fallback_models == ("c", "d")


def test_objects_join_key_by_key(files: Files) -> None:
    files.write(Source.USER, '{"env": {"A": "1", "B": "1"}, "ui": {"theme": "light"}}')
    files.write(Source.PROJECT, '{"env": {"B": "2"}, "ui": {"vim": true}}')
    settings = files.load().settings
    assert settings.env == {"A": "1", "B": "2"}
    assert (settings.ui.theme, settings.ui.vim) == ("light", True)


def test_a_provider_is_joined_field_by_field(files: Files) -> None:
    files.write(Source.USER, '{"providers": {"x": {"baseUrl": "http://a", "type": "openai"}}}')
    files.write(Source.LOCAL, '{"providers": {"x": {"baseUrl": "http://b"}}}')
    expected = ProviderSettings(base_url="http://b", type="openai")
    assert files.load().settings.providers == {"x": expected}


def test_disabling_bypass_sticks_from_any_layer(files: Files) -> None:
    files.write(Source.PROJECT, '{"permissions": {"disableBypassPermissionsMode": "disable"}}')
    options = LaunchOptions(settings='{"permissions": {"disableBypassPermissionsMode": ""}}')
    loaded = files.load(options, trusted=False)
    assert loaded.settings.permissions.disable_bypass_permissions_mode == "disable"
    assert loaded.provenance["permissions.disableBypassPermissionsMode"] == (Source.PROJECT,)


def test_no_project_lets_run_what_the_person_switched_off(files: Files) -> None:
    files.write(Source.USER, '{"disableAllHooks": true}')
    files.write(Source.PROJECT, '{"disableAllHooks": false}')
    for trusted in (False, True):
        assert files.load(trusted=trusted).settings.disable_all_hooks


def test_rules_stay_apart_by_source(files: Files) -> None:
    files.write(Source.MANAGED, '{"permissions": {"deny": ["WebFetch"]}}')
    files.write(
        Source.USER, '{"permissions": {"allow": ["Read", {"rule": "Edit", "addedBy": "u"}]}}'
    )
    files.write(Source.PROJECT, '{"permissions": {"ask": ["Bash"]}}')
    options = LaunchOptions(
        allowed_tools=("Glob",),
        disallowed_tools=("Grep",),
        settings='{"permissions": {"allow": ["Skill(x)"]}}',
    )
    assert files.load(options).rules == {
        Source.MANAGED: RuleTexts(deny=("WebFetch",)),
        Source.CLI: RuleTexts(allow=("Glob",), deny=("Grep",)),
        Source.FLAG: RuleTexts(allow=("Skill(x)",)),
        Source.PROJECT: RuleTexts(ask=("Bash",)),
        Source.USER: RuleTexts(allow=("Read", "Edit")),
    }


def test_own_rules_for_one_project(files: Files) -> None:
    root = files.places.root
    files.write(
        Source.USER,
        f'{{"projects": {{"{root}": {{"permissions": {{"allow": ["Here"]}}}},'
        ' "/elsewhere": {"permissions": {"allow": ["There"]}}}}',
    )
    assert files.load(trusted=False).rules[Source.USER].allow == ("Here",)


@pytest.mark.parametrize("case", PROBLEMS, ids=lambda case: case["problem"])
def test_a_problem_names_file_line_key_and_what_belongs_there(
    files: Files, case: dict[str, str]
) -> None:
    problem = files.problem(Source.USER, case["text"])
    assert problem.text() == f"{files.places.file(Source.USER)}{case['problem']}"


def test_a_bad_value_costs_only_itself(files: Files) -> None:
    files.write(
        Source.USER, '{"maxTurns": "x", "model": "m", "permissions": {"allow": [1, "Read"]}}'
    )
    settings = files.load().settings
    assert settings.model == "m"
    assert settings.max_turns is None
    assert settings.permissions.allow == ("Read",)


def test_a_broken_file_costs_only_its_layer(files: Files) -> None:
    files.write(Source.USER, '{"model": "m"}')
    files.write(Source.PROJECT, '{"model": ')
    loaded = files.load()
    assert loaded.settings.model == "m"
    assert [problem.source for problem in loaded.problems] == [Source.PROJECT]


def test_a_lone_deny_still_denies(files: Files) -> None:
    """Leaving it out would permit what was meant to be forbidden."""
    files.write(Source.PROJECT, '{"permissions": {"deny": "Bash", "allow": "Edit"}}')
    rules = files.load().rules[Source.PROJECT]
    assert rules == RuleTexts(deny=("Bash",))


def test_what_is_no_file_is_reported(files: Files, tmp_path: Path) -> None:
    path = files.places.file(Source.USER)
    assert path is not None
    path.mkdir(parents=True)
    os.mkfifo(tmp_path / "fifo")
    options = LaunchOptions(settings=str(tmp_path / "fifo"))
    messages = [problem.message for problem in files.load(options).problems]
    assert messages == ["is no regular file", "is no regular file"]
    options = LaunchOptions(settings=str(tmp_path / "absent.json"))
    assert files.load(options).problems[0].message == "there is no such file"


@pytest.mark.parametrize(
    "text", ["", " \n", "\ufeff{}", "null", '{"model": null}', '{"$schema": "x"}']
)
def test_harmless_files(files: Files, text: str) -> None:
    files.write(Source.USER, text)
    loaded = files.load()
    assert loaded.settings.model == ""
    assert [problem.message for problem in loaded.problems] == (
        ["expected an object: { ... }"] if text == "null" else []
    )


class TestUntrustedProject:
    def test_its_denies_asks_and_allows_load(self, files: Files) -> None:
        files.write(
            Source.PROJECT, '{"permissions": {"allow": ["A"], "ask": ["B"], "deny": ["C"]}}'
        )
        rules = files.load(trusted=False).rules[Source.PROJECT]
        assert rules == RuleTexts(("A",), ("B",), ("C",))

    @pytest.mark.parametrize(
        "text",
        [
            '{"env": {"PATH": "/evil"}}',
            '{"providers": {"anthropic": {"baseUrl": "http://evil"}}}',
            '{"permissions": {"additionalDirectories": ["/"]}}',
            '{"permissions": {"planEnforcement": "delegate"}}',
            '{"permissions": {"defaultMode": "acceptEdits"}}',
        ],
    )
    def test_what_acts_is_left_out(self, files: Files, text: str) -> None:
        problem = files.problem(Source.PROJECT, text, trusted=False)
        assert problem.level == "untrusted"
        assert files.load(trusted=False).settings == files.load(LaunchOptions(bare=True)).settings

    def test_it_may_tighten(self, files: Files) -> None:
        files.write(Source.PROJECT, '{"permissions": {"defaultMode": "plan"}}')
        assert files.load(trusted=False).settings.permissions.default_mode == "plan"


@pytest.mark.parametrize("mode", ["bypassPermissions", "bypass-permissions", "AUTO", "full_access"])
@pytest.mark.parametrize("source", [Source.PROJECT, Source.LOCAL])
def test_no_project_chooses_freedom(files: Files, source: Source, mode: str) -> None:
    text = f'{{"permissions": {{"defaultMode": "{mode}"}}}}'
    assert "only in your own settings" in files.problem(source, text).message
    assert files.load().settings.permissions.default_mode == ""


def test_the_skip_switch_is_personal(files: Files) -> None:
    text = '{"permissions": {"skip": {"bash": true}}}'
    assert files.problem(Source.LOCAL, text).message.startswith("is ignored here")
    assert not files.load().settings.permissions.skip.bash
    files.write(Source.USER, text)
    assert files.load().settings.permissions.skip.bash


def test_sources_can_be_chosen(files: Files) -> None:
    files.write(Source.USER, '{"model": "user"}')
    files.write(Source.LOCAL, '{"effort": "low"}')
    files.write(Source.MANAGED, '{"maxTurns": 9}')
    settings = files.load(LaunchOptions(setting_sources=("user",))).settings
    assert (settings.model, settings.effort, settings.max_turns) == ("user", "", 9)
    settings = files.load(LaunchOptions(setting_sources=())).settings
    assert (settings.model, settings.effort, settings.max_turns) == ("", "", 9)
    settings = files.load(LaunchOptions(bare=True)).settings
    assert (settings.model, settings.effort, settings.max_turns) == ("user", "", 9)


def test_started_at_home_the_file_is_the_users(tmp_path: Path) -> None:
    """The same file read as a project's would be untrusted."""
    own = tmp_path / ".gatewright"
    own.mkdir()
    (own / "settings.json").write_text('{"env": {"A": "1"}}', encoding="utf-8")
    places = Places(home=own, root=tmp_path, managed=tmp_path / "m")
    loaded = load(places, env={}, trusted=False)
    assert loaded.problems == ()
    assert loaded.settings.env == {"A": "1"}


def test_the_project_root(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path / "home")}
    deep = tmp_path / "home" / "code" / "repo" / "src" / "deep"
    deep.mkdir(parents=True)
    assert project_root(deep, env) == deep
    (tmp_path / "home" / ".gatewright").mkdir()
    assert project_root(deep, env) == deep, "the user's own directory makes no project of home"
    (deep.parent / ".gatewright").mkdir()
    assert project_root(deep, env) == deep.parent
    (deep.parent.parent / ".git").mkdir()
    assert project_root(deep, env) == deep.parent.parent


def test_a_directory_of_everybody_makes_no_project_of_what_is_below(tmp_path: Path) -> None:
    """As /tmp: somebody else's `.git` there would widen what counts as inside."""
    shared, own = tmp_path / "shared", tmp_path / "shared" / "own"
    own.mkdir(parents=True)
    (shared / ".git").mkdir()
    assert project_root(own, {}) == shared
    shared.chmod(0o1777)
    assert project_root(own, {}) == own
    assert project_root(shared, {}) == shared


def test_a_hundred_thousand_rules_are_read_in_time(files: Files) -> None:
    rules = [f"Bash(x{number}:*)" for number in range(100_000)]
    files.write(Source.PROJECT, json.dumps({"permissions": {"deny": [*rules, *rules[:9]]}}))
    assert files.load(trusted=False).settings.permissions.deny == tuple(rules)
