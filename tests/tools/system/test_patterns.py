"""A pattern that is compiled at its first use is the pattern that was written."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import cast

import pytest

from gatewright.tools.system.patterns import later

ROOT = Path(__file__).resolve().parents[3]
PRODUCT = ("agent", "mcp", "permissions", "skills", "tools", "tui")


def modules() -> list[str]:
    """Those of the product that have such patterns."""
    files = (file for folder in PRODUCT for file in sorted((ROOT / folder).rglob("*.py")))
    named = (file for file in files if "import later\n" in file.read_text(encoding="utf-8"))
    return [
        ".".join(("gatewright", *file.relative_to(ROOT).with_suffix("").parts)) for file in named
    ]


def test_it_is_the_pattern() -> None:
    word = later(r"(?P<first>\w)\w*", re.ASCII)
    plain = re.compile(r"(?P<first>\w)\w*", re.ASCII)
    assert word.sub("x", "ab cd é") == plain.sub("x", "ab cd é") == "x x é"
    assert word.findall("ab cd") == ["a", "c"]
    assert (word.pattern, word.flags, word.groups) == (plain.pattern, plain.flags, 1)
    assert dict(word.groupindex) == {"first": 1}
    assert later(rb"\d+").fullmatch(b"12") is not None
    assert later(r"a").match("b") is None


def test_nothing_is_compiled_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    own = re.compile

    def compiling(pattern: str, flags: int) -> re.Pattern[str]:
        compiled.append(pattern)
        return own(pattern, flags)

    monkeypatch.setattr(re, "compile", compiling)
    word = later(r"not yet")
    assert compiled == []
    assert word.search("it is not yet so") is not None
    assert word.search("nor now") is None
    assert len(compiled) == 1


def test_what_no_pattern_has_it_has_not() -> None:
    with pytest.raises(AttributeError):
        attrgetter("nothing")(later("a"))


@pytest.mark.parametrize("name", modules())
def test_every_one_of_ours_can_be_compiled(name: str) -> None:
    for value in vars(importlib.import_module(name)).values():
        for pattern in inside(value):
            assert re.compile(pattern.pattern, pattern.flags)


def inside(value: object) -> Iterator[re.Pattern[str]]:
    """What is found late, also in rows of a table."""
    if type(value) is type(later("")):
        yield value
    elif isinstance(value, tuple):
        for each in cast("tuple[object, ...]", value):
            yield from inside(each)
