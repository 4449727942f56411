"""Each entry is checked alone; sources add up in one order; what is off says why."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.hooks.configured.book import Book, Terms, book_of
from gatewright.agent.hooks.configured.matchers import compiled
from gatewright.agent.hooks.configured.reading import Read, read
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import Place
from gatewright.agent.settings.hook_layers import HookLayer
from gatewright.agent.settings.traits import Source
from gatewright.permissions.condition import problem_of
from tests.hooks.scripts import command, hooks

TERMS = Terms(trusted=True)


def layer(source: Source, raw: Any, *, claude: bool = False, disabled: bool = False) -> HookLayer:
    where = f"{source}{'-claude' if claude else ''}.json"
    text = json.dumps({"hooks": raw}, indent=1)
    return HookLayer(
        source=source, where=where, path=Path(where), raw=raw, text=text, claude=claude,
        disabled=disabled,
    )  # fmt: skip


def stop(name: str, **more: Any) -> Any:
    return hooks("Stop", command(name, **more))["hooks"]


def book(*layers: HookLayer, terms: Terms = TERMS, given: tuple[Read, ...] = ()) -> Book:
    return book_of(layers, given, terms, problem_of)


def names(found: Book) -> list[str]:
    return [each.said.command for each in found.handlers]


def faults(raw: Any) -> list[str]:
    return [fault.text() for fault in book(layer(Source.USER, raw)).faults]


def test_one_broken_entry_among_fifty_costs_only_itself() -> None:
    entries = [command(f"c{n}") for n in range(50)]
    entries[17] = {"type": "comand", "command": "c17"}
    found = book(layer(Source.USER, hooks("PreToolUse", *entries)["hooks"]))
    assert len(found.handlers) == 49
    (fault,) = found.faults
    assert fault.text() == (
        "user.json:74: PreToolUse hook has no kind 'comand'; did you mean command?"
    )


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (hooks("PreTolUse", command("x")), "is no event; did you mean PreToolUse?"),
        (hooks("Stop", {"command": "x"}), "has no `type`"),
        (hooks("Stop", {"type": "command"}), "lacks `command`"),
        (hooks("Stop", command("x", timeout="5")), "has a wrong `timeout`"),
        (hooks("Stop", command("x", args="-l")), "has a wrong `args`"),
        (hooks("PreToolUse", command("x"), matcher="(["), "is no regular expression"),
        (hooks("PreToolUse", command("x", **{"if": "((("})), "is no rule: '(((' names no tool"),
        (
            hooks("PreToolUse", command("x", **{"if": "Bash(git"})),
            "hook has an `if` that is no rule: 'Bash(git' is not of the form Tool(specifier)",
        ),
        (
            hooks("PreToolUse", command("x", **{"if": "Bsh(git)"})),
            "hook has an `if` that is no rule: No tool is called Bsh. Did you mean Bash?",
        ),
        (hooks("Stop", command("x", **{"if": "Bash(ls)"})), "only events about tools have"),
        (hooks("Stop", command("x", timeout=-1)), "has a timeout of -1 s"),
        (hooks("SessionStart", {"type": "http", "url": "x"}), "cannot be of the kind http"),
        ({"hooks": {"Stop": {"hooks": []}}}, "expected a list, found an object"),
        ({"hooks": {"Stop": ["x"]}}, "expected an object, found the text"),
        ({"hooks": []}, "expected an object, found a list"),
        ({"hooks": {"Stop": [{"matcher": 3, "hooks": [command("x")]}]}}, "matcher that is no text"),
    ],
)
def test_what_is_wrong_is_out_and_told(raw: dict[str, Any], told: str) -> None:
    found = book(layer(Source.USER, raw["hooks"]))
    assert not found.handlers
    assert told in found.faults[0].text()


def test_what_only_looks_wrong_runs_and_is_told() -> None:
    for raw, told in (
        (hooks("PreToolUse", command("x"), matcher="Bash(git *)"), "written like a rule"),
        (hooks("SessionStart", command("x"), matcher="startupp"), "did you mean startup?"),
        (hooks("Stop", command("x"), matcher="Bash"), "does not look at"),
        (hooks("PreToolUse", command("x"), matcher="Edit|Bsh|mcp__a__b"), "Did you mean Bash?"),
        (hooks("Stop", command("x", timeout=5000)), "timeouts are seconds here"),
    ):
        found = book(layer(Source.USER, raw["hooks"]))
        assert len(found.handlers) == 1
        assert told in found.faults[0].text()


def test_a_strict_entry_that_is_wrong_always_fails() -> None:
    found = book(layer(Source.USER, stop("x", strict=True, timeout="soon")))
    (each,) = found.handlers
    assert each.strict
    assert "timeout" in each.broken


def test_sources_add_up_in_one_order() -> None:
    given = read(stop("sdk"), Place("sdk"), problem_of)
    layers = [
        layer(Source.PROJECT, stop("claude-project"), claude=True),
        layer(Source.USER, stop("claude"), claude=True),
        layer(Source.PROJECT, stop("project")),
        layer(Source.LOCAL, stop("local")),
        layer(Source.USER, stop("user")),
        layer(Source.FLAG, stop("flag")),
        layer(Source.MANAGED, stop("managed")),
    ]
    assert names(book(*layers, given=(given,))) == [
        "managed", "flag", "sdk", "user", "local", "project", "claude", "claude-project",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "left"),
    [
        (Terms(trusted=False), ["managed", "user", "claude"]),
        (Terms(trusted=True, bare=True), ["managed"]),
        (Terms(trusted=True, managed_only=True), ["managed"]),
        (Terms(trusted=True, claude=False), ["managed", "user", "project"]),
    ],
)
def test_what_does_not_count_is_off_and_says_why(terms: Terms, left: list[str]) -> None:
    layers = [
        layer(Source.MANAGED, stop("managed")),
        layer(Source.USER, stop("user")),
        layer(Source.PROJECT, stop("project")),
        layer(Source.USER, stop("claude"), claude=True),
    ]
    found = book(*layers, terms=terms)
    assert names(found) == left
    assert len(found.off) == 4 - len(left)
    assert all(each.why for each in found.off)


def test_disable_all_hooks_of_the_person_is_about_all_and_of_a_project_about_its_own() -> None:
    managed, user = layer(Source.MANAGED, stop("managed")), layer(Source.USER, stop("user"))
    off = layer(Source.FLAG, {}, disabled=True)
    assert names(book(managed, user, off)) == ["managed"]
    project = layer(Source.PROJECT, stop("project"), disabled=True)
    assert names(book(managed, user, project)) == ["managed", "user"]


def test_identical_handlers_run_once_under_the_strongest() -> None:
    layers = [
        layer(Source.PROJECT, stop("same", strict=True, timeout=90)),
        layer(Source.USER, stop("same", timeout=5)),
    ]
    (each,) = book(*layers).matching("Stop", "")
    assert (each.place.origin, each.strict, each.timeout) == ("user", True, 90)


@pytest.mark.parametrize(
    ("matcher", "value", "event", "fits"),
    [
        ("", "Bash", "PreToolUse", True),
        ("*", "Bash", "PreToolUse", True),
        ("bash", "Bash", "PreToolUse", True),
        ("Bas", "Bash", "PreToolUse", False),
        ("Edit|Write", "Write", "PreToolUse", True),
        ("Edit, Write", "Write", "PreToolUse", True),
        ("Task", "Agent", "PreToolUse", True),
        ("Ta.k", "Agent", "PreToolUse", True),
        ("Bas.*", "NoBash", "PreToolUse", True),
        ("^Bas", "NoBash", "PreToolUse", False),
        ("mcp__.*__write.*", "mcp__fs__write_file", "PreToolUse", True),
        ("mcp__fs", "mcp__fs__write", "PreToolUse", False),
        ("(?<a>B)ash$", "Bash", "PreToolUse", True),
        ("Bash$", "Bash\n", "PreToolUse", False),
        ("B[^]sh", "Bash", "PreToolUse", True),
        ("rate_limit|overloaded", "overloaded", "StopFailure", True),
        (".envrc|.env", "/p/.env", "FileChanged", True),
        (".envrc|.env", "/p/xenv", "FileChanged", False),
    ],
)
def test_matchers(matcher: str, value: str, event: str, *, fits: bool) -> None:
    assert compiled(matcher, EVENTS[event])(value) is fits


def test_a_pattern_that_comes_to_no_end_fits() -> None:
    """It may be there to forbid what it is asked about."""
    fits = compiled(r"^mcp__(\w+_?)+$", EVENTS["PreToolUse"])
    before = signal.getsignal(signal.SIGVTALRM)
    began = time.process_time()
    assert fits(f"mcp__{'a' * 40}-x")
    assert time.process_time() - began < 5
    assert fits("mcp__a_b")
    assert not fits("mcp__-")
    assert signal.getsignal(signal.SIGVTALRM) is before
