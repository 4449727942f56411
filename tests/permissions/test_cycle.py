"""Shift+Tab leads to no mode that the person did not ask for, and that does nothing here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.workspace import survey
from gatewright.permissions.policy import Policy

PLAIN = ["default", "acceptEdits", "autoInProject", "plan"]


def cycle(tmp_path: Path, *, own: Any = None, project: Any = None, **options: Any) -> list[str]:
    root = tmp_path / "project"
    for folder, permissions in ((tmp_path, own), (root, project)):
        place = folder / ".gatewright"
        place.mkdir(parents=True)
        (place / "settings.json").write_text(
            json.dumps({"permissions": permissions or {}}), encoding="utf-8"
        )
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    around = survey(LaunchOptions(cwd=str(root), **options), env, interactive=True)
    policy = Policy(policy_config(around, "default"))
    found = ["default"]
    while (following := policy.after(found[-1])) not in found:
        found.append(following)
    assert {name for name, _ in policy.rows()} >= set(found)
    return found


def test_bypass_is_not_one_key_away(tmp_path: Path) -> None:
    assert cycle(tmp_path) == PLAIN


def policy_of(tmp_path: Path, **options: Any) -> Policy:
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    around = survey(LaunchOptions(cwd=str(tmp_path), **options), env, interactive=True)
    return Policy(policy_config(around, "default"))


@pytest.mark.parametrize("name", ["bypassPermissions", "bypass", "full-access"])
def test_what_bypass_means_is_agreed_to_once(tmp_path: Path, name: str) -> None:
    policy = policy_of(tmp_path)
    assert "without a question" in policy.caution(name)
    assert policy.caution("plan") == policy.caution("nothing") == ""
    policy.set(name)
    policy.set("plan")
    assert policy.caution(name) == ""


def test_who_started_with_it_has_agreed(tmp_path: Path) -> None:
    assert policy_of(tmp_path, mode="bypass").caution("bypassPermissions") == ""
    assert policy_of(tmp_path, allow_bypass=True).caution("bypassPermissions") == ""


@pytest.mark.parametrize("mode", ["bypassPermissions", "bypass", "fullAccess"])
def test_started_with_its_flag_it_is(tmp_path: Path, mode: str) -> None:
    assert cycle(tmp_path, mode=mode) == [*PLAIN, "bypassPermissions"]


def test_permitted_with_its_flag_it_is(tmp_path: Path) -> None:
    assert cycle(tmp_path, allow_bypass=True) == [*PLAIN, "bypassPermissions"]


def test_with_the_persons_own_setting_it_is(tmp_path: Path) -> None:
    assert cycle(tmp_path, own={"defaultMode": "bypass"}) == [*PLAIN, "bypassPermissions"]


@pytest.mark.parametrize("trust", [True, False])
def test_a_project_does_not_put_it_there(tmp_path: Path, trust: bool) -> None:
    project = {"defaultMode": "bypassPermissions"}
    assert cycle(tmp_path, project=project, trust=trust) == PLAIN


def test_disabled_it_is_not_there_whatever_started_it(tmp_path: Path) -> None:
    project = {"disableBypassPermissionsMode": "disable"}
    assert cycle(tmp_path, project=project, mode="bypass", allow_bypass=True) == PLAIN
