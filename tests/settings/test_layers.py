"""Every key of the schema has a decision: who may set it, whether a project needs trust for it, and
that limits and guards only become stricter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.dotted_key import facts, value_at
from gatewright.agent.settings.layers.coerce import trait_of
from gatewright.agent.settings.layers.sources import Loaded, Problem, load
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import COMMITTED, ORDERED, TIGHTENING, Source, Trait
from tests.settings.test_schema import keys

OWN, TRUST, ANYBODY, STRICTER, WITHIN = "own", "trust", "anybody", "stricter", "within"

# Each key with who may set it, and a value that is not the default.
DECIDED: dict[str, tuple[str, Any]] = {
    "model": (TRUST, "a/b"),
    "smallModel": (TRUST, "a/b"),
    "fallbackModels": (TRUST, ["a/b"]),
    "effort": (TRUST, "high"),
    "outputStyle": (TRUST, "concise"),
    "autoCompact": (TRUST, False),
    "checkpoints": (STRICTER, False),
    "syncSessions": (STRICTER, True),
    "cleanupPeriodDays": (OWN, 7),
    "maxTurns": (STRICTER, 7),
    "maxBudgetUsd": (STRICTER, 7.5),
    "patienceMinutes": (OWN, 7),
    "printWaitSeconds": (OWN, 7),
    "permissions.allow": (ANYBODY, ["Read"]),
    "permissions.ask": (ANYBODY, ["Read"]),
    "permissions.deny": (ANYBODY, ["Read"]),
    "permissions.defaultMode": (TRUST, "acceptEdits"),
    "permissions.additionalDirectories": (TRUST, ["/srv"]),
    "permissions.disableBypassPermissionsMode": (STRICTER, "disable"),
    "permissions.disableAutoMode": (STRICTER, "disable"),
    "permissions.planEnforcement": (WITHIN, "delegate"),
    "permissions.useAutoModeDuringPlan": (WITHIN, False),
    "permissions.subagentPermissionMode": (OWN, "plan"),
    "permissions.harmlessEnv": (OWN, ["A"]),
    "permissions.skip.edits": (OWN, True),
    "permissions.skip.bash": (OWN, True),
    "permissions.skip.skills": (OWN, True),
    "permissions.skip.mcp": (OWN, True),
    "providers": (TRUST, {"x": {"type": "openai"}}),
    "env": (TRUST, {"A": "1"}),
    "sandbox.enabled": (STRICTER, False),
    "sandbox.failIfUnavailable": (STRICTER, True),
    "sandbox.autoAllowBashIfSandboxed": (OWN, True),
    "sandbox.allowUnsandboxedCommands": (STRICTER, False),
    "sandbox.excludedCommands": (OWN, ["docker"]),
    "sandbox.filesystem.allowWrite": (TRUST, ["~/.npm"]),
    "sandbox.filesystem.denyWrite": (ANYBODY, ["a"]),
    "sandbox.filesystem.denyRead": (ANYBODY, ["a"]),
    "sandbox.filesystem.allowRead": (OWN, ["a"]),
    "sandbox.network.allowedDomains": (TRUST, ["a.example"]),
    "sandbox.network.deniedDomains": (ANYBODY, ["a.example"]),
    "sandbox.network.allowAll": (OWN, True),
    "sandbox.network.allowPrivate": (OWN, True),
    "sandbox.network.allowLocalBinding": (WITHIN, True),
    "sandbox.network.allowUnixSockets": (OWN, ["/run/a"]),
    "sandbox.limits": (OWN, {"nproc": 9}),
    "sandbox.keepEnv": (OWN, ["A"]),
    "web.search": (TRUST, "brave"),
    "web.searchKeyEnv": (OWN, "KEY"),
    "web.searchUrl": (OWN, "http://a"),
    "web.privateHosts": (OWN, ["a"]),
    "ui.theme": (TRUST, "light"),
    "ui.vim": (TRUST, True),
    "ui.reducedMotion": (TRUST, True),
    "ui.notify": (TRUST, False),
    "ui.showThinking": (TRUST, True),
    "ui.ultracodeKeyword": (TRUST, False),
    "statusLine.type": (TRUST, "command"),
    "statusLine.command": (TRUST, "date"),
    "statusLine.padding": (TRUST, 3),
    "statusLine.refreshInterval": (TRUST, 3),
    "hooks": (ANYBODY, {"Stop": []}),
    "allowManagedHooksOnly": (OWN, True),
    "readClaudeHooks": (OWN, False),
    "hooksStrict": (OWN, True),
    "allowedHttpHookUrls": (OWN, ["https://a.example/*"]),
    "httpHookAllowedEnvVars": (OWN, ["A"]),
    "disableAllHooks": (STRICTER, True),
    "agent": (TRUST, "a"),
    "worktree.baseRef": (TRUST, "fresh"),
    "worktree.sparsePaths": (TRUST, ["src"]),
    "worktree.symlinkDirectories": (TRUST, ["node_modules"]),
    "agents.maxRunning": (OWN, 5),
    "agents.maxDepth": (OWN, 1),
    "agents.maxPerSession": (OWN, 9),
    "agents.maxBudgetUsd": (STRICTER, 7.5),
    "agents.disabled": (ANYBODY, ["Explore"]),
    "agents.teams": (TRUST, True),
    "agents.autoBackgroundSeconds": (OWN, 30),
    "acp.fullAccess": (OWN, True),
    "acp.terminal": (OWN, True),
    "workflows.enabled": (OWN, False),
    "workflows.maxConcurrent": (OWN, 5),
    "workflows.maxAgents": (STRICTER, 9),
    "workflows.maxBudgetUsd": (STRICTER, 7.5),
    "workflows.printBudgetUsd": (OWN, 3.5),
    "workflows.memoryMb": (OWN, 32),
    "workflows.size": (TRUST, "small"),
    "disableWorkflows": (STRICTER, True),
    "autoMemory": (STRICTER, "off"),
    "autoMemoryDirectory": (OWN, "~/notes"),
    "autonomy.enabled": (STRICTER, False),
    "autonomy.maxMode": (OWN, "default"),
    "autonomy.askWait": (OWN, 3.5),
    "autonomy.maxTurnsPerHour": (STRICTER, 3),
    "autonomy.maxBudgetUsdPerDay": (STRICTER, 3.5),
    "autonomy.maxHours": (STRICTER, 3.5),
    "schedules.expireDays": (OWN, 30.0),
    "schedules.jitter": (OWN, False),
    "schedules.catchUp": (OWN, 3.5),
    "bg.max": (OWN, 3),
    "bg.idleMinutes": (OWN, 3.5),
    "skills.disabled": (ANYBODY, ["a"]),
    "skills.listingPercent": (TRUST, 2.0),
    "skills.learning": (OWN, "suggest"),
    "skills.enforceAllowedTools": (STRICTER, True),
    "autoMode.environment": (OWN, ["a"]),
    "autoMode.allow": (OWN, ["a"]),
    "autoMode.soft_deny": (OWN, ["a"]),
    "autoMode.hard_deny": (OWN, ["a"]),
    "autoMode.model": (OWN, "a/b"),
    "autoMode.stages": (OWN, "fast"),
    "autoMode.unmeasured": (OWN, True),
    "autoMode.classifyAllShell": (STRICTER, True),
    "skillOverrides": (TRUST, {"a": "off"}),
    "disableBundledSkills": (STRICTER, True),
    "disableSkillShellExecution": (STRICTER, True),
    "mcp.toolSearch": (TRUST, "never"),
    "mcp.maxResultChars": (OWN, 2_000),
    "mcp.sampling": (OWN, "off"),
    "mcp.sandbox": (OWN, "all"),
    "mcp.autoBackgroundSeconds": (OWN, 5),
    "mcp.clientMetadataUrl": (OWN, "https://example.com/us.json"),
    "lsp.use": (TRUST, "off"),
    "lsp.diagnostics": (TRUST, False),
    "lsp.waitMs": (TRUST, 7),
    "lsp.network": (OWN, True),
    "lspServers": (TRUST, {"a": {"command": "b", "extensionToLanguage": {".a": "a"}}}),
    "mcpServers": (OWN, {"a": {"command": "b"}}),
    "allowedMcpServers": (OWN, [{"serverName": "a"}]),
    "deniedMcpServers": (ANYBODY, [{"serverName": "a"}]),
    "allowManagedMcpServersOnly": (OWN, True),
    "enableAllProjectMcpServers": (OWN, True),
    "enabledMcpjsonServers": (OWN, ["a"]),
    "disabledMcpjsonServers": (ANYBODY, ["a"]),
    "enabledPlugins": (TRUST, {"a@b": True}),
    "extraKnownMarketplaces": (TRUST, {"a": {"source": {"source": "github", "repo": "a/b"}}}),
    "strictKnownMarketplaces": (OWN, [{"source": "github", "repo": "a/b"}]),
    "blockedMarketplaces": (OWN, [{"source": "github", "repo": "a/b"}]),
    "plugins.autoUpdate": (OWN, "off"),
    "projects": (OWN, {"/p": {"permissions": {"allow": ["Read"]}}}),
}
TRAITS: dict[str, Trait] = {
    key: trait_of(kind)
    for key, kind in keys(Settings)
    if trait_of(kind).merge != "group" and not key.startswith("projects.")
}
LIMITS = [key for key, trait in TRAITS.items() if trait.merge in TIGHTENING]
FILES = (Source.MANAGED, Source.LOCAL, Source.PROJECT, Source.USER)


class Files:
    def __init__(self, tmp_path: Path) -> None:
        self.places = Places(home=tmp_path / "h", root=tmp_path / "p", managed=tmp_path / "m")

    def write(self, source: Source, key: str, value: Any) -> None:
        for part in reversed(key.split(".")):
            value = {part: value}
        path = self.places.file(source)
        assert path is not None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")

    def load(self, *, trusted: bool, **options: Any) -> Loaded:
        return load(self.places, LaunchOptions(**options), env={}, trusted=trusted)

    def value(self, key: str, *, trusted: bool, **options: Any) -> Any:
        return found(self.load(trusted=trusted, **options), key)


def found(loaded: Loaded, key: str) -> Any:
    """As JSON; a default is not written there."""
    value = value_at(json.loads(msgspec.json.encode(loaded.settings)), key)
    return json.loads(msgspec.json.encode(facts(key).default)) if value is None else value


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def strict_and_loose(key: str) -> tuple[Any, Any]:
    trait = TRAITS[key]
    return (3, 9) if trait.merge == "lower" else (trait.order[0], trait.order[-1])


def test_every_key_is_decided_here_and_in_the_schema() -> None:
    assert set(TRAITS) == set(DECIDED)
    for key, trait in TRAITS.items():
        assert trait.merge, f"{key} does not say how layers join"
        assert bool(trait.order) is (trait.merge in ORDERED - {"lower"}), key
        who = DECIDED[key][0]
        if who == OWN:
            assert not trait.scopes & COMMITTED, key
            continue
        assert trait.scopes >= COMMITTED, key
        assert (who == STRICTER) is (trait.merge in TIGHTENING), key
        assert (who == WITHIN) is (trait.merge == "within"), key
        assert (who == ANYBODY) is bool(trait.untrusted), key
        own_way = trait.merge == "mode"
        assert trait.needs_trust is (who in (TRUST, WITHIN) and not own_way), key


@pytest.mark.parametrize("key", DECIDED)
@pytest.mark.parametrize("source", FILES)
def test_a_value_counts_where_it_may(files: Files, key: str, source: Source) -> None:
    _, value = DECIDED[key]
    files.write(source, key, value)
    for trusted in (True, False):
        _counts_where_it_may(files.load(trusted=trusted), key, source, trusted=trusted)


def _counts_where_it_may(loaded: Loaded, key: str, source: Source, *, trusted: bool) -> None:
    who, value = DECIDED[key]
    default = json.loads(msgspec.json.encode(facts(key).default))
    if source not in COMMITTED:
        counts = source in TRAITS[key].scopes
    elif who == STRICTER:
        trait = TRAITS[key]
        counts = trait.merge == "lower" or value == trait.order[0]
    else:
        counts = who == ANYBODY or (who in (TRUST, WITHIN) and trusted)
    if key != "providers":  # has defaults of its own in it
        assert found(loaded, key) == (value if counts else default)
    said = [problem for problem in loaded.problems if key.startswith(problem.key)]
    assert bool(said) is (not counts)
    for problem in said:
        waits = problem.level == "untrusted"
        assert waits is (who in (TRUST, WITHIN) and not trusted), problem.text()


@pytest.mark.parametrize("key", LIMITS)
@pytest.mark.parametrize("source", [Source.LOCAL, Source.PROJECT])
@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
class TestLimitsAndGuards:
    def test_no_project_loosens_what_the_person_says(
        self, files: Files, key: str, source: Source, *, trusted: bool
    ) -> None:
        strict, loose = strict_and_loose(key)
        files.write(Source.USER, key, strict)
        files.write(source, key, loose)
        loaded = files.load(trusted=trusted)
        assert found(loaded, key) == strict
        assert loaded.provenance[key] == (Source.USER,)
        (problem,) = loaded.problems
        assert problem.line == 1
        assert "a project can only make it stricter" in problem.text()

    def test_a_project_makes_it_stricter(
        self, files: Files, key: str, source: Source, *, trusted: bool
    ) -> None:
        strict, loose = strict_and_loose(key)
        files.write(Source.USER, key, loose)
        files.write(source, key, strict)
        loaded = files.load(trusted=trusted)
        assert (found(loaded, key), loaded.provenance[key]) == (strict, (source,))
        assert loaded.problems == ()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_flag_raises_ones_own_limit_and_no_projects(files: Files, *, trusted: bool) -> None:
    files.write(Source.USER, "maxTurns", 5)
    assert files.value("maxTurns", trusted=trusted, max_turns=50) == 50
    files.write(Source.PROJECT, "maxTurns", 20)
    assert files.value("maxTurns", trusted=trusted, max_turns=50) == 20
    assert files.value("maxTurns", trusted=trusted, max_turns=9) == 9


def test_a_trusted_project_loosens_a_default_and_nothing_the_person_says(files: Files) -> None:
    key = "permissions.planEnforcement"
    files.write(Source.PROJECT, key, "delegate")
    assert files.value(key, trusted=True) == "delegate"
    files.write(Source.USER, key, "block")
    loaded = files.load(trusted=True)
    assert found(loaded, key) == "block"
    assert [problem.level for problem in loaded.problems] == ["warning"]


@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_starts_in_no_freer_mode_than_the_person(files: Files, *, trusted: bool) -> None:
    key = "permissions.defaultMode"
    files.write(Source.USER, key, "plan")
    files.write(Source.PROJECT, key, "default")
    loaded = files.load(trusted=trusted)
    assert (found(loaded, key), loaded.provenance[key]) == ("plan", (Source.USER,))
    assert [problem.key for problem in loaded.problems] == [key]
    files.write(Source.USER, key, "acceptEdits")
    assert files.value(key, trusted=trusted) == "default"
    assert files.value(key, trusted=trusted, mode="acceptEdits") == "acceptEdits"


def test_what_was_ignored_is_said_with_its_layer(files: Files) -> None:
    files.write(Source.USER, "maxBudgetUsd", 1.5)
    files.write(Source.PROJECT, "maxBudgetUsd", 1000)
    (problem,) = files.load(trusted=False).problems
    assert isinstance(problem, Problem)
    path = files.places.file(Source.PROJECT)
    assert problem.text() == (
        f"{path}:1: maxBudgetUsd is ignored: it is 1.5, and a project can only make it stricter"
    )
