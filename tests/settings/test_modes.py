"""Mode names in settings agree with the gate's own, and no spelling slips past the loader."""

from __future__ import annotations

import pytest

from gatewright.agent.settings import modes
from gatewright.agent.settings.layers.coerce import coerce
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import Source
from gatewright.permissions.modes import ALIASES, FOLLOW_PARENT, MODES, canonical


def kept(value: str, source: Source, *, key: str = "defaultMode", trusted: bool = True) -> bool:
    checked = coerce({"permissions": {key: value}}, Settings, source, trusted=trusted)
    return key in checked.values["permissions"]


def test_the_names_are_those_of_the_gate() -> None:
    assert {modes.folded(name) for name in (*MODES, *ALIASES)} == modes.NAMES
    assert modes.FOLLOW_PARENT == FOLLOW_PARENT
    assert all(canonical(name) == name for name in modes.SUGGESTED)
    free = {name for name in modes.NAMES if MODES[canonical(name) or ""].bypass}
    assert free | {"auto"} == modes.PERSONAL


@pytest.mark.parametrize("value", ["nonsense", "by pass", "default\n\nx"])
def test_what_is_no_mode_is_left_out(value: str) -> None:
    assert not kept(value, Source.USER)


@pytest.mark.parametrize(
    "value", ["bypassPermissions", " bypass", "By-Pass\n", "full_access", "AUTO "]
)
def test_a_project_grants_itself_no_freedom_in_any_spelling(value: str) -> None:
    assert canonical(value)
    assert kept(value, Source.USER)
    assert not kept(value, Source.PROJECT)
    assert not kept(value, Source.LOCAL)


def test_only_a_subagent_follows_its_parent() -> None:
    assert kept("ignore", Source.USER, key="subagentPermissionMode")
    assert not kept("ignore", Source.USER)
