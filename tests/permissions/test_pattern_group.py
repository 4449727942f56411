"""The quick look at a path never says no where a rule is about it."""

from __future__ import annotations

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from gatewright.permissions.paths import Place
from gatewright.permissions.rulebook.patterns import PathPattern, PatternGroup, compile_pattern
from gatewright.permissions.rulebook.rules import PathForm, parse_rule

PLACE = Place(root="/p/App", cwd="/p/App", start="/p/App", home="/home/me")
PARTS = ["*", "**", "?b", "a*", "*.Key", ".env", "App", "[ab]c", "x{1,2}", "caf\u00e9", "i", "\\*"]
GLOBS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("/".join)
LEADS = st.sampled_from(["", "/", "//", "~/", "./", "**/"])
NAMES = [
    "ab",
    "a",
    "x.key",
    "X.KEY",
    ".ENV",
    ".env",
    "app",
    "ac",
    "x1",
    "caf\u00e9",
    "I",
    "\u0131",
    "*",
]
PATHS = st.lists(st.sampled_from(NAMES), max_size=4).map(lambda parts: "/".join(["", *parts]))
TOPS = st.sampled_from(["/p/App", "/p/app", "/home/me", ""])


@example([("", "i")], "/p/App", "/\u0131")
@given(st.lists(st.tuples(LEADS, GLOBS), min_size=1, max_size=3), TOPS, PATHS)
def test_the_quick_look_misses_nothing(globs: list[tuple[str, str]], top: str, rest: str) -> None:
    path = top + rest or "/"
    rules = [parse_rule(f"Read({lead}{glob})", "deny", "user")[0] for lead, glob in globs]
    entries = tuple(
        (rule, compile_pattern(rule.form, PLACE, builtin=False, real=str))
        for rule in rules
        if rule is not None and isinstance(rule.form, PathForm)
    )
    about = [slow(pattern, path) for _, pattern in entries]
    assert PatternGroup(entries).maybe(path) or not any(about)
    assert [pattern.restricts(path) for _, pattern in entries] == about


def slow(pattern: PathPattern, path: str) -> bool:
    """By the expression alone."""
    whole = msgspec.structs.replace(pattern, words=())
    return whole.restricts(path)
