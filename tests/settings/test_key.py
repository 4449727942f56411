"""A key with a name that holds dots leads back to what it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.settings.dotted_key import facts, value_at
from gatewright.agent.settings.edit import set_value
from gatewright.agent.settings.layers.key import parts_of, spelled

PROJECT = "/home/sam/site.example"
KEY = f'projects."{PROJECT}".permissions.allow'


@given(st.lists(st.text('ab."\\/ ', min_size=1) | st.text(min_size=1), min_size=1))
def test_what_is_spelled_is_read_again(parts: list[str]) -> None:
    assert parts_of(spelled(parts)) == parts


@pytest.mark.parametrize("key", ['a."b', '"', 'a."b"c.d', "a..b", ""])
def test_no_key_breaks_it(key: str) -> None:
    assert ".".join(parts_of(key)) == key


def test_a_folder_with_a_dot_is_one_name(tmp_path: Path) -> None:
    assert spelled(("projects", PROJECT, "permissions", "allow")) == KEY
    assert facts(KEY).key == KEY
    path = tmp_path / "settings.json"
    set_value(path, KEY, ["Bash(npm test)"])
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert list(stored["projects"]) == [PROJECT]
    assert value_at(stored, KEY) == ["Bash(npm test)"]
