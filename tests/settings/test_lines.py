"""Where a key stands in a JSON text."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.settings.layers.lines import Path, line_of, lines_of

TEXT = """{
  "a": {"b": [1,
    {"c": "}"}]},

  "a\\"q": [], "e": null
}"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("a",), 2),
        (("a", "b"), 2),
        (("a", "b", 0), 2),
        (("a", "b", 1), 3),
        (("a", "b", 1, "c"), 3),
        (('a"q',), 5),
        (("e",), 5),
        (("a", "absent"), 2),
        (("absent", "below"), 0),
        (("a", "b", 9), 2),
        (("e", "x"), 5),
    ],
)
def test_line_of(key: Path, line: int) -> None:
    assert line_of(TEXT, key) == line


def test_the_last_of_two_equal_keys_counts() -> None:
    assert line_of('{"a": 1,\n"a": 2}', ("a",)) == 2


leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def paths(value: Any, at: Path = ()) -> list[Path]:
    found = [at]
    children: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        children = list(cast("dict[str, Any]", value).items())
    elif isinstance(value, list):
        children = list(enumerate(cast("list[object]", value)))
    for key, child in children:
        found += paths(child, (*at, key))
    return found


@given(tree=trees)
def test_every_key_of_any_document_is_found_in_order(tree: Any) -> None:
    text = json.dumps(tree, indent=1)
    lines = [line_of(text, path) for path in paths(tree)[1:]]
    assert lines == sorted(lines)
    assert 0 not in lines


def test_all_lines_at_once_are_the_same() -> None:
    text = '{"a":\n {"b": [1,\n\n {"c": 2}]},\n "d": "x\\n", "e": {}}'
    found = lines_of(text, 4)
    assert found == {key: line_of(text, key) for key in found}
    assert list(found.values()) == [1, 2, 2, 4, 4, 5, 5]
