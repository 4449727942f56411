"""Rules that a person would store for a call, while they are typed: do they settle it, what else.

Whether they do is decided as the call itself is, with them in force. Never raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from gatewright.permissions.calls.subject import covers_tool
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny, Stage
from gatewright.permissions.paths import Place
from gatewright.permissions.recent import Judged
from gatewright.permissions.rulebook import tools_table
from gatewright.permissions.rulebook.known_tools import unknown
from gatewright.permissions.rulebook.listed import sentence
from gatewright.permissions.rulebook.meaning import meaning
from gatewright.permissions.rulebook.rules import (
    Bare,
    Rule,
    RuleSet,
    ShellForm,
    parse_rule,
    stripped_in_auto,
    tool_of,
)
from gatewright.permissions.rulebook.shadowed import contains
from gatewright.tools.access import ShellText
from gatewright.tools.interact import RuleWeighed, Weighed
from gatewright.tools.system.hosts import misread

if TYPE_CHECKING:
    from gatewright.permissions.policy import Policy  # it loads this

SOURCE = "session"  # as it counts until its file is read
TRIED = 30  # of the last calls
NAMED = 3  # of each kind
CUT = 48
LONGEST = 2_000
ANSWERED = "That question is answered already."
NO_RULE = "No rule settles this call: it is asked about each time."
NONE = "It would not cover this call"
INVALID = "That is no rule yet."
IN_AUTO = "Auto mode leaves it out, as it can run any code."


class Asked(msgspec.Struct, frozen=True):
    """The call that is asked about, and what stands beside it; `recent` has the newest first."""

    judged: Judged
    rules: RuleSet
    place: Place
    recent: Sequence[Judged]
    auto: bool = False


def weigh(policy: Policy, call_id: str, texts: Sequence[str]) -> Weighed:
    """For the call that a person is asked about, by the rules that are in force now."""
    put = policy.put
    if put is None or put.call_id != call_id:
        return Weighed(problem=ANSWERED)
    rules, recent = policy.view(put.agent).rules(), policy.recent.judged()
    auto = policy.current() == "auto"
    return weighed(texts, Asked(put.judged, rules, policy.place, recent, auto))


def weighed(texts: Sequence[str], asked: Asked) -> Weighed:
    """What storing these would do; `problem` where nobody may."""
    decided = asked.judged.decision
    if not isinstance(decided, Ask) or not may_edit(decided):
        return Weighed(problem=NO_RULE)
    parsed = [_parsed(text) for text in texts]
    rules = [rule for rule, _ in parsed if rule is not None]
    each = tuple(
        _one(rule, asked) if rule is not None else _none(text, problem)
        for text, (rule, problem) in zip(texts, parsed, strict=True)
    )
    if not texts or len(rules) < len(texts):
        return Weighed(each, INVALID if texts else f"{NONE}.")
    return Weighed(each, _problem(rules, asked, decided))


def may_edit(ask: Ask) -> bool:
    """Whether any rule of the person's settles the question; a switch of the mode is none."""
    return bool(ask.could) or any(grant.rule for grant in ask.grants)


def _parsed(text: str) -> tuple[Rule | None, str]:
    if len(text) > LONGEST:
        return None, f"It has more than {LONGEST:,} characters."
    if not text.strip():
        return None, "A tool, or a tool with what it is about: Bash(npm test), WebFetch."
    rule, problem = parse_rule(text, "allow", SOURCE)
    if rule is None or problem:
        return None, sentence(problem, text, "allow", SOURCE).removesuffix("; it is ignored.") + "."
    return rule, ""


def _none(text: str, problem: str) -> RuleWeighed:
    hint = unknown(tool_of(text))
    return RuleWeighed(problem, valid=False, warnings=(hint,) if hint and text.strip() else ())


def _problem(rules: Sequence[Rule], asked: Asked, decided: Ask) -> str:
    if asked.auto and any(map(stripped_in_auto, rules)):
        return f"{NONE}. {IN_AUTO}"
    call, context = asked.judged.call, asked.judged.context
    match _decided(call, context, asked.rules, rules):
        case Allow():
            return ""
        case Deny(reason=reason) | Ask(reason=reason) if reason.rule:
            verb = "refused" if reason.stage is Stage.DENY else "asked"
            return f"This call is {verb} all the same, by {reason.rule} ({reason.source})."
        case Ask(reason=reason, lacking=lacking) if reason.stage is Stage.MODE:
            parts = () if lacking == decided.lacking else lacking
            named = ", ".join(map(_cut, parts[:NAMED]))
            return f"{NONE}: {named}." if named else f"{NONE}."
        case Deny(reason=reason) | Ask(reason=reason):
            return f"{NONE}: {reason.text}"


def _decided(call: Call, context: Context, base: RuleSet, rules: Iterable[Rule]) -> Decision:
    """With these in force besides, and no hook to say anything."""
    with_them = replace(base, trusted=(*base.trusted, *rules))
    return decide(call, msgspec.structs.replace(context, rules=with_them, hook=""))


def _newly(call: Call, context: Context, base: RuleSet, rule: Rule) -> bool:
    """Whether it runs unasked with this rule, and does not without it."""
    allowed = isinstance(_decided(call, context, base, (rule,)), Allow)
    return allowed and not isinstance(_decided(call, context, base, ()), Allow)


def _one(rule: Rule, asked: Asked) -> RuleWeighed:
    runs_code = stripped_in_auto(rule)
    exact = isinstance(rule.form, ShellForm) and rule.form.kind == "exact"
    return RuleWeighed(
        meaning(rule, asked.place),
        others=tuple(_others(rule, asked)),
        warnings=tuple(_warnings(rule, asked, runs_code=runs_code)),
        wide=runs_code and not exact,
    )


def _others(rule: Rule, asked: Asked) -> Iterator[str]:
    """Earlier calls that were asked about and would not have been."""
    call = asked.judged.call
    seen = {_target(call)}
    names: list[str] = []
    for judged in asked.recent[:TRIED]:
        target = _target(judged.call)
        if not isinstance(judged.decision, Ask) or target in seen:
            continue
        seen.add(target)
        if _newly(judged.call, judged.context, asked.rules, rule):
            names.append(_cut(target))
    yield from names[:NAMED]
    if len(names) > NAMED:
        yield f"{len(names) - NAMED} more"


def _warnings(rule: Rule, asked: Asked, *, runs_code: bool) -> Iterator[str]:
    if runs_code:
        yield "What it allows can run any code."
    if lost := _losses(rule, asked):
        yield f"It also lets run unasked: {' · '.join(lost)}."
    if unsettled := _unsettled(rule):
        yield f"It holds whatever {unsettled} is by then."
    yield from misread(rule.text)
    if name := unknown(rule.tool):
        yield name
    yield from _overruled(rule, asked.rules)


def _overruled(rule: Rule, rules: RuleSet) -> Iterator[str]:
    """What of it would be refused or asked about all the same."""
    denied = [one for one in rules.deny if _within(rule, one)]
    asks = [one for one in rules.ask if _within(rule, one) and one.rank > rule.rank]
    for word, found in (("refused", denied), ("asked", asks)):
        for one in found[:NAMED]:
            yield f"Still {word}: {one.text} ({one.source})."
        if len(found) > NAMED:
            yield f"Still {word} by {len(found) - NAMED} more rules."


def _within(rule: Rule, other: Rule) -> bool:
    """Whether all that the other is about is something that the rule allows."""
    if isinstance(rule.form, Bare):
        return covers_tool(rule, other.tool)
    return other.tool == rule.tool and contains(rule.form, other.form)


def _losses(rule: Rule, asked: Asked) -> list[str]:
    """Commands that publish, deploy or lose work, and that nobody would be asked about any more."""
    call = asked.judged.call
    if call.access.runs is None or not (rule.tool == "*" or covers_tool(rule, call.tool)):
        return []
    from gatewright.permissions.shell.danger.examples import examples  # noqa: PLC0415  lazy: shell

    found: list[str] = []
    for command in examples(rule.form):
        runs = ShellText(command, call.access.runs.cwd)
        access = msgspec.structs.replace(call.access, runs=runs)
        made = msgspec.structs.replace(call, input={"command": command}, access=access)
        if _newly(made, asked.judged.context, asked.rules, rule):
            found.append(command)
        if len(found) == NAMED:
            break
    return found


def _unsettled(rule: Rule) -> str:
    """The words of an exact command that only the shell knows."""
    if not isinstance(rule.form, ShellForm) or rule.form.kind != "exact":
        return ""
    from gatewright.permissions.shell.line import Start, read_line  # noqa: PLC0415  lazy: 30 ms

    line = read_line(rule.form.text, Start((None,), "~", {}))
    raw = [arg.raw for part in line.parts for arg in part.argv if arg.dynamic]
    return " ".join(dict.fromkeys(raw))[:CUT]


def _target(call: Call) -> str:
    value = call.input.get(tools_table.row(call.tool).field, call.tool)
    return " ".join(str(value).split())


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CUT else line[: CUT - 1] + "…"
