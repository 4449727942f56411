"""A key that stands twice is never read as if the first were not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.layers.repeated import repeated, repeats
from gatewright.agent.settings.layers.sources import load
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import Source

DENY = '"permissions": {"deny": ["Bash"]}'
TWICE = {
    f'{{{DENY},\n "permissions": {{}}}}': (2, "permissions"),
    '{"permissions": {"deny": ["Bash"],\n\n"deny": []}}': (3, "deny"),
    '{"x": {"permissions": {}}, "projects": {"/p": {"a": 1}, "/p": {}}}': (1, "/p"),
    f'{{{DENY},\n "permi\\u0073sions": {{}}}}': (2, "permissions"),
    f'{{{DENY},\n "permissions": {{}}, "model": "\\u003a\\u003a\\u003a"}}': (2, "permissions"),
    '{"env": {"A": "x:y", "A": "z"}}': (1, "A"),
    '{"a": [[{"b": 1, "b": 2}]]}': (1, "b"),
}
ONCE = [
    "{}",
    '{"a": {"a": {"a": ":"}}, "b": [{"a": 1}, {"a": 2}]}',
    '{"a:b": "\\"a\\": 1, \\"a\\": 2", "c": "{}"}',
    '{"a": "\\u003a", "b": "\\\\"}',
]


@pytest.mark.parametrize("text", TWICE)
def test_a_file_with_a_key_twice_is_broken(tmp_path: Path, text: str) -> None:
    line, key = TWICE[text]
    places = Places(home=tmp_path / "h", root=tmp_path / "p", managed=tmp_path / "m")
    path = places.file(Source.USER)
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    loaded = load(places, LaunchOptions(), env={})
    expected = f"{path}:{line}: has the key {key} twice in one object: keep one"
    assert [problem.text() for problem in loaded.problems] == [expected]
    assert not loaded.rules


@pytest.mark.parametrize("text", ONCE)
def test_what_stands_once_is_taken(text: str) -> None:
    assert repeated(text) is None
    assert not repeats(text.encode(), msgspec.json.decode(text))


class Pairs(list[tuple[str, Any]]):
    """An object as it is written, so that a key can stand twice."""


JSON = st.recursive(
    st.none() | st.text(":{}\"\\ab", max_size=4) | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.lists(
        st.tuples(st.text(":a\"", max_size=2), inner), max_size=3
    ).map(Pairs),
    max_leaves=12,
)  # fmt: skip


def written(value: Any) -> str:
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"  # pyright: ignore[reportUnknownArgumentType]
    return json.dumps(value)


def twice(value: Any) -> bool:
    if isinstance(value, Pairs):
        return len(dict(value)) < len(value) or any(twice(inner) for _, inner in value)
    return isinstance(value, list) and any(map(twice, value))  # pyright: ignore[reportUnknownArgumentType]


@given(JSON)
def test_the_quick_look_and_the_long_one_agree(value: Any) -> None:
    text = written(value)
    assert (repeated(text) is not None) is twice(value)
    assert repeats(text.encode(), msgspec.json.decode(text)) is twice(value)
