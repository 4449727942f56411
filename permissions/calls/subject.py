"""What a call is about, in the terms the stages of a decision ask for.

There is one subject per kind of call: paths, a shell line, an address, or a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, TypeAlias

import msgspec

from gatewright.permissions.context import Call
from gatewright.permissions.decision import Grant, Stage
from gatewright.permissions.modes import Mode
from gatewright.permissions.rulebook import servers, tools_table
from gatewright.permissions.rulebook.rules import ParamForm, Rule
from gatewright.tools.access import Family

PlanKind: TypeAlias = Literal["read", "edit", "safe", "unknown", "mutating", "other"]


class Permit(msgspec.Struct, frozen=True):
    """What grants a call; no rule means a hook, or that nothing needs one."""

    rule: Rule | None = None


class Verdict(msgspec.Struct, frozen=True):
    """What the mode says when nothing else did. `text` is why it asks."""

    allow: bool
    text: str = ""
    note: str = ""


class Subject(Protocol):
    """The questions the stages ask. None of the answers depends on what ran before."""

    @property
    def family(self) -> Family: ...
    @property
    def target(self) -> str:
        """What the call is about, for people."""
        ...

    def impossible(self) -> tuple[Stage, str] | None:
        """Why no answer could make this call acceptable."""
        ...

    def denied(self) -> Rule | None: ...
    def asked(self) -> Rule | None:
        """The most specific ask rule that fires."""
        ...

    def floor(self) -> str:
        """Why a person must see this whatever the mode and rules say, or ''."""
        ...

    def trusted(self, *, hook: bool) -> Permit | None:
        """Granted by trusted rules (or a hook) that no ask rule beats."""
        ...

    def untrusted(self) -> Permit | None: ...
    def skippable(self) -> bool:
        """Inside, unprotected and not dangerous: a skip switch may wave it through."""
        ...

    def danger(self) -> str:
        """Why it is dangerous, or ''."""
        ...

    def always_asks(self) -> str:
        """Why it asks in every mode although it is not on the floor, or ''."""
        ...

    def plan_kind(self) -> PlanKind: ...
    def strategy(self, mode: Mode) -> Verdict: ...
    def grants(self) -> tuple[Grant, ...]:
        """What "always" would store; empty when it may not be offered."""
        ...

    def lacking(self) -> tuple[str, ...]: ...


def covers_tool(rule: Rule, tool: str) -> bool:
    """Whether a rule's tool part is about `tool` (canonical)."""
    name = rule.tool
    if name == "*" or name == tool:
        return True
    if isinstance(rule.form, ParamForm) and name != tool:
        return False
    if tool in tools_table.COVERS.get(name, ()):
        return True
    if "*" not in name and not servers.names_server(name):
        return name.lower() == tool.lower()
    if rule.behavior != "allow":
        name, tool = name.lower(), tool.lower()
    return servers.restricts(name, tool)


# The tool whose rules restrict whatever states this kind of fact, however the call is named.
_RULED_AS: Mapping[Family, str] = {
    "shell": "Bash", "web": "WebFetch", "edit": "Edit", "read": "Read", "agent": "Agent",
    "skill": "Skill", "slash": "SlashCommand", "workflow": "Workflow",
}  # fmt: skip


def covers(rule: Rule, call: Call, family: Family) -> bool:
    """Whether a rule's tool part is about this aspect of `call`.

    A restriction is about every call that does such a thing; a grant only about the tool it names,
    and that of a server by who offers it: what a stranger calls his tool grants nothing.
    """
    remote = call.access.remote
    if rule.behavior == "allow":
        if remote is not None:
            own = not remote.tool and rule.tool == call.tool  # a tool of ours, about a server
            return own or rule.tool == "*" or servers.grants(rule.tool, remote)
        return not servers.names_server(rule.tool) and covers_tool(rule, _granted_as(call, family))
    if covers_tool(rule, call.tool) or rule.tool == _RULED_AS.get(family):
        return True
    return remote is not None and any(covers_tool(rule, n) for n in servers.names_of(remote))


def _granted_as(call: Call, family: Family) -> str:
    """Whose rules grant it: to let a tool read grants nothing that it writes."""
    return "Edit" if family == "edit" and call.row.family == "read" else call.tool


def param_matches(form: ParamForm, call: Call) -> bool:
    """Whether an input field literally equals the value, in any spelling the input had."""
    return form.value in _spelled(call).get(form.name, ())


def _spelled(call: Call) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {name: _texts(value) for name, value in call.input.items()}
    if call.raw_input:
        for name, value in _raw_pairs(call.raw_input):
            found[name] = (*found.get(name, ()), *_texts(value))
    return found


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if value is None:
        return ("null",)
    if isinstance(value, float) and value.is_integer():
        return (repr(value), str(int(value)))
    return (str(value),)


def _raw_pairs(text: str) -> list[tuple[str, object]]:
    """Every field of the outermost object, repeated ones and number spellings included."""
    import json  # noqa: PLC0415  lazy: 4 ms, only where the raw text matters

    class Pairs(list[tuple[str, object]]):
        pass

    try:
        value: object = json.loads(text, object_pairs_hook=Pairs, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, Pairs) else []


def strongest(rules: Iterable[Rule]) -> Rule | None:
    return max(rules, key=lambda rule: rule.rank, default=None)
