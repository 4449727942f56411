"""Judge cases given as JSON lines: the same decision as in a session, with no machine behind it.

A line that cannot be read is an error, never an allow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

from gatewright.permissions import modes
from gatewright.permissions.calls.declared import declared_access
from gatewright.permissions.context import Call, Context, HookWord, PlanEnforcement, Skips
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.machine.table_resolver import TableResolver
from gatewright.permissions.paths import Place, lexical
from gatewright.permissions.rulebook import tools_table
from gatewright.permissions.rulebook.patterns import Patterns
from gatewright.permissions.rulebook.rules import SOURCES, RuleTexts, rule_set
from gatewright.tools.access import MAIN

ENFORCEMENTS: Final[tuple[PlanEnforcement, ...]] = ("strict", "delegate", "block")
HOOK_WORDS: Final[tuple[HookWord, ...]] = ("", "allow", "ask", "deny")
Word = TypeVar("Word", bound=str)

PUBLIC_ADDRESS: Final = "93.184.216.34"


class Unreadable(ValueError):
    """A case that cannot be judged; the text says what is wrong with it."""


def check_line(line: bytes) -> bytes:
    """One case in, one judgement out, both a JSON object on one line without the newline."""
    identity: Any = None
    try:
        parsed: Any = json.loads(line)
        if not isinstance(parsed, dict):
            raise Unreadable("the line is not a JSON object")
        case = cast("dict[str, Any]", parsed)
        identity = case.get("id")
        answer = judge(case)
    except (ValueError, RecursionError) as error:
        answer = {"id": identity if isinstance(identity, str | int) else None, "error": str(error)}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8")


def judge(case: Mapping[str, Any]) -> dict[str, Any]:
    """The judgement of one case as plain data. Raises ValueError for a case it cannot read."""
    call, context = call_and_context(case)
    return shown(case.get("id"), decide(call, context))


def shown(identity: object, decision: Decision) -> dict[str, Any]:
    reason = decision.reason
    always: bool | None = None
    stored: list[str] | None = None
    match decision:
        case Allow():
            behavior = "allow"
        case Deny():
            behavior = "deny"
        case Ask(grants=grants):
            behavior, always = "ask", bool(grants)
            stored = [grant.rule for grant in grants if grant.rule]
    return {
        "id": identity,
        "behavior": behavior,
        "stage": str(reason.stage),
        "rule": reason.rule or None,
        "source": reason.source or None,
        "reason": reason.text,
        "always": always,
        "stored": stored,
    }


def call_and_context(case: Mapping[str, Any]) -> tuple[Call, Context]:
    """What a case says, in the gate's own types."""
    tool = _get(case, "tool", str)
    if not tool:
        raise Unreadable("'tool' is missing")
    given = _get(case, "input", dict)
    about = _get(case, "context", dict)
    cwd = _directory(about, "cwd", "/w/proj")
    place = Place(
        root=_directory(about, "root", "/w/proj"),
        cwd=cwd,
        home=_directory(about, "home", "/home/u"),
        start=_directory(about, "start", cwd),
        directories=tuple(lexical(text) for text in _texts(about, "directories")),
    )
    name = tools_table.canonical(tool)
    call = Call(
        tool=name,
        input=given,
        access=declared_access(name, given, place, origin=_get(about, "skillSource", str)),
        raw_input=_get(about, "inputText", str),
    )
    return call, _context(about, place)


def _context(about: Mapping[str, Any], place: Place) -> Context:
    resolver = TableResolver(
        links=_mapping(about, "symlinks"),
        hosts={host: tuple(map(str, ips)) for host, ips in _get(about, "resolves", dict).items()},
        is_dirty=_flag(about, "dirtyGit", default=False),
        recoverable=tuple(lexical(text) for text in _texts(about, "recoverable")),
        unlisted=PUBLIC_ADDRESS,
    )
    mode = _mode(about, "mode")
    trusted = _flag(about, "trusted", default=True)
    skip = _get(about, "skip", dict)
    plan_file = _get(about, "planFile", str)
    return Context(
        place=place,
        resolver=resolver,
        rules=rule_set(
            _rules(about),
            trusted=trusted,
            strip=modes.strip(
                "auto" if _flag(about, "autoActive", default=False) else mode, all_shell=False
            ),
        ),
        patterns=Patterns(place, resolver),
        mode=mode,
        previous_mode=_mode(about, "prePlanMode"),
        plan_enforcement=_one_of(about, "planEnforcement", ENFORCEMENTS),
        plan_file=lexical(plan_file) if plan_file else "",
        interactive=_flag(about, "interactive", default=True),
        main_agent=(_get(about, "agent", str) or MAIN) == MAIN,
        trusted=trusted,
        sandbox=_flag(about, "sandbox", default=False),
        sandbox_allows=bool(_get(about, "rules", dict).get("sandbox")),
        disable_bypass=_flag(about, "disableBypass", default=False),
        skips=Skips(*(skip.get(name) is True for name in ("edits", "bash", "skills", "mcp"))),
        hook=_one_of(_get(about, "hook", dict), "decision", HOOK_WORDS),
        env={**_mapping(about, "env"), "HOME": place.home, "PWD": place.cwd},
    )


def _rules(about: Mapping[str, Any]) -> dict[str, RuleTexts]:
    found: dict[str, RuleTexts] = {}
    for source, lists in _get(about, "rules", dict).items():
        if source == "sandbox":
            continue  # no rule list: its presence is the switch
        if source not in SOURCES:
            raise Unreadable(f"'{source}' is no source of rules")
        if not isinstance(lists, dict):
            raise Unreadable(f"'rules.{source}' is not an object")
        named = cast("dict[str, Any]", lists)
        found[source] = RuleTexts(
            *(tuple(_texts(named, behavior)) for behavior in ("allow", "ask", "deny"))
        )
    return found


def _get(source: Mapping[str, Any], key: str, kind: type[Any]) -> Any:
    value = source.get(key)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise Unreadable(f"'{key}' is not of type {kind.__name__}")
    return value


def _one_of(source: Mapping[str, Any], key: str, choices: tuple[Word, ...]) -> Word:
    """The first choice is the default."""
    value = source.get(key)
    for choice in choices:
        if value == choice:
            return choice
    if value is None:
        return choices[0]
    raise Unreadable(f"'{key}' cannot be {value!r}")


def _flag(source: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = source.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise Unreadable(f"'{key}' is not true or false")
    return value


def _texts(source: Mapping[str, Any], key: str) -> list[str]:
    values = _get(source, key, list)
    if not all(isinstance(value, str) for value in values):
        raise Unreadable(f"'{key}' holds something that is not text")
    return [str(value) for value in values]


def _mapping(source: Mapping[str, Any], key: str) -> dict[str, str]:
    found = _get(source, key, dict)
    return {str(name): str(value) for name, value in found.items()}


def _directory(source: Mapping[str, Any], key: str, default: str) -> str:
    text = _get(source, key, str) or default
    if not text.startswith("/"):
        raise Unreadable(f"'{key}' is not an absolute path")
    return lexical(text)


def _mode(source: Mapping[str, Any], key: str) -> str:
    name = _get(source, key, str) or "default"
    found = modes.canonical(name)
    if found is None:
        raise Unreadable(f"'{name}' is no mode")
    return found
