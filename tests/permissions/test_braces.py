"""A pattern with too many alternatives is told where it is read, and never permits more."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from gatewright.agent.record.events import Decided, Noticed, ToolFinished
from gatewright.permissions.rulebook.braces import MOST, expanded, wrong
from gatewright.permissions.rulebook.rules import Bare, RuleTexts, parse_rule, rule_set
from gatewright.permissions.sandbox.disk import globs as sandbox_globs
from gatewright.permissions.sandbox.disk.globs import globs
from gatewright.permissions.sandbox.restrictions import restrictions
from tests.permissions.composed import desk

NAMES = ",".join(f"n{number}" for number in range(MOST + 50))
MANY = "{" + NAMES + "}"


@pytest.mark.parametrize(
    "pattern",
    [MANY, "{1..100000000}", "{1..99999999999999999}", "{a,b}" * 30, "{" * 5000, "{a," * 900],
)
def test_what_would_be_too_many_is_found_without_expanding(pattern: str) -> None:
    assert expanded(pattern) is None
    assert wrong(pattern) == f"has more than {MOST} alternatives in braces"
    assert globs(pattern, "/p", "/h", grants=True) == ()


@pytest.mark.parametrize("pattern", ["a", "{a,b}/{c,d}", "{1..200}", "{a", "a}", r"\{a,b\}", "{a}"])
def test_what_is_not_too_many_is_expanded(pattern: str) -> None:
    assert wrong(pattern) == ""
    assert expanded(pattern)


@pytest.mark.parametrize("tool", ["Read", "Edit"])
def test_too_many_alternatives_restrict_as_the_bare_tool_and_grant_nothing(tool: str) -> None:
    text = f"{tool}(//srv/{MANY}/x)"
    for behavior in ("deny", "ask"):
        rule, problem = parse_rule(text, behavior, "user")
        assert rule is not None
        assert rule.form == Bare()
        assert "more than 200 alternatives" in problem
    assert parse_rule(text, "allow", "user")[0] is None
    found = rule_set({"user": RuleTexts(allow=(text,))}, trusted=True)
    assert (found.trusted, len(found.problems)) == ((), 1)


def test_a_choice_with_slashes_still_matches() -> None:
    pattern = "{" + ",".join(f"d{number}/x" for number in range(100)) + "}"
    found = globs(f"/srv/{pattern}", "/p", "/h")
    assert any(each.matches("/srv/d99/x") for each in found)


@pytest.mark.parametrize("text", [f"~/secret/{MANY}", "~/secret/[z-a]"])
def test_a_glob_of_the_sandbox_that_cannot_be_read_restricts_where_it_points(text: str) -> None:
    assert sandbox_globs.wrong(text)
    (one,) = globs(text, "/p", "/h")
    assert one.matches("/h/secret/anything/below")
    assert not one.matches("/h/other")
    assert globs(text, "/p", "/h", grants=True) == ()


def test_the_sandbox_restricts_what_such_a_rule_would() -> None:
    rules = rule_set({"user": RuleTexts(deny=(f"Read(~/secret/{MANY})",))}, trusted=True)
    (text,) = restrictions(rules, "/p", "/p").deny_read
    assert any(each.matches("/h/secret/n7") for each in globs(text, "/p", "/h"))


async def test_a_turn_goes_on_under_such_a_rule(tmp_path: Path) -> None:
    rules = {
        "permissions": {"deny": [f"Read(~/{MANY})"], "allow": ["Bash(echo:*)"]},
        "sandbox": {"enabled": "auto", "filesystem": {"denyRead": [f"~/secret/{MANY}"]}},
    }
    script = [
        'call[a]: Read {"file_path": "a"}\ncall[b]: Bash {"command": "echo hi"}',
        "say: done",
    ]
    async with desk(tmp_path, script, interactive=False, settings=rules) as opened:
        (opened.project / "a").write_text("text", encoding="utf-8")
        opened.session.submit("go")
        await opened.ended(1)
        decided = {e.call_id: e.behavior for e in opened.seen.of(Decided)}
        assert decided == {"a": "deny", "b": "allow"}
        assert [e.ok for e in opened.seen.of(ToolFinished)] == [False, True]
        told = [notice.text for notice in opened.seen.of(Noticed)]
        assert sum("more than 200 alternatives" in text for text in told) == 2


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/" * 100 + "x", "/p" + "/a" * 400 + "/b"),
        ("*a" * 200 + "b", "/p/" + "a" * 250),
        ("**/" + "*a*/" * 40 + "x", "/p" + "/a" * 400),
        ("a/**/" * 60 + "*b", "/p" + "/a" * 800),
    ],
)
def test_many_wildcards_cost_no_time_whoever_wrote_them(pattern: str, path: str) -> None:
    (glob,) = globs(pattern, "/p", "/h")
    assert not glob.matches(path)


PIECES = st.sampled_from(
    ["**", "a", "b*", "*a", "*", "a*b", "?", "[ab]*b", "*a*b*", "[!a]", "[*]a"]
)
NAMES_MET = st.text("ab*", min_size=1, max_size=4)


@hypothesis_settings(deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=5), st.lists(NAMES_MET, min_size=1, max_size=6))
def test_wildcards_mean_what_a_plain_reading_says(pattern: list[str], names: list[str]) -> None:
    (glob,) = globs("//q/" + "/".join(pattern), "/p", "/h")
    assert glob.matches("/q/" + "/".join(names)) is _plainly(_covering(pattern), names)


def _covering(pattern: list[str]) -> list[str]:
    """Without the end that says "and whatever lies below": a directory covers its content."""
    text = "/" + "/".join(pattern)
    for tail in ("/**/*", "/**"):
        text = text.removesuffix(tail)
    return text.split("/")[1:]


def _plainly(pattern: list[str], names: list[str]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == "**":
        rest = pattern[1:]
        return any(_plainly(rest, names[skip:]) for skip in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _plainly(pattern[1:], names[1:])
