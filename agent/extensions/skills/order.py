"""One invocation of a skill: whose, with what, and by whom."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gatewright.agent.commands.outcome import Scope
from gatewright.permissions.rulebook import tools_table
from gatewright.permissions.rulebook.rules import Rule, parse_rule, too_broad
from gatewright.skills.model import Skill
from gatewright.skills.source import SLASH
from gatewright.tools.access import MAIN, Where

KEPT = ("Skill", SLASH, "ToolSearch", "TodoWrite", "AskUserQuestion")  # under every limit
UNASKED = ("read", "free", "human", "skill")  # tools that ask for little, or for nothing


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """`called` is the name that leads to it; `values` are what `${NAME}` stands for."""

    skill: Skill
    called: str
    arguments: str
    values: Mapping[str, str]
    where: Where
    call_id: str
    agent: str = MAIN
    typed: bool = False
    preloaded: bool = False  # an agent begins with it: nothing of it is run

    @property
    def by(self) -> str:
        """For the record of whatever is done for it."""
        return by(self.skill, self.called, self.where, typed=self.typed)


def by(skill: Skill, called: str, where: Where, *, typed: bool = False) -> str:
    kind = "skill" if skill.form == "skill" else "command"
    how = ", which you typed" if typed else ""
    return f"For the {kind} {called} ({where.shown(skill.file)}){how}."


def scope_of(
    order: Order, *, enforced: bool, model: tuple[str, str] = ("", "")
) -> Scope:  # model, effort
    """What it brings until the person's next message; of one nobody trusts, what forbids."""
    skill, said = order.skill, order.skill.said
    if not skill.trusted:
        return Scope(by=order.called, deny=said.disallowed_tools)
    allow = said.allowed_tools
    if allow:
        from gatewright.skills.template import in_rule  # noqa: PLC0415  lazy: with the first rule

        allow = tuple(in_rule(rule, order.values) for rule in allow)
    broad = _broad(allow)
    whose = f"the skill {order.called} ({order.where.shown(skill.file)})"
    limited = enforced or said.enforce_allowed_tools
    return Scope(
        by=order.called,
        trusted=True,
        allow=tuple(rule for rule in allow if rule not in broad),
        deny=said.disallowed_tools,
        kept_to=((*allow, *KEPT),) if limited else (),
        wide=tuple(text for text, rule in broad.items() if not _asks_little(rule)),
        named=dict.fromkeys((*allow, *said.disallowed_tools), whose),
        model=model[0],
        effort=model[1],
    )


def _broad(allow: tuple[str, ...]) -> dict[str, Rule]:
    """What no skill may allow, whoever wrote it."""
    rules = ((text, parse_rule(text, "allow", "command")[0]) for text in allow)
    return {text: rule for text, rule in rules if rule is not None and too_broad(rule)}


def _asks_little(rule: Rule) -> bool:
    """Whether it is about what runs unasked anyway: `allowed-tools: Read` is no news to anybody."""
    return tools_table.row(rule.tool).family in UNASKED


def together(scopes: list[Scope]) -> Scope:
    """Of several: what they allow, deny and limit adds up, and the newest model wins."""
    return Scope(
        by=", /".join(scope.by for scope in scopes),
        trusted=any(scope.trusted for scope in scopes),
        allow=tuple(dict.fromkeys(rule for scope in scopes for rule in scope.allow)),
        deny=tuple(dict.fromkeys(rule for scope in scopes for rule in scope.deny)),
        kept_to=tuple(limit for scope in scopes for limit in scope.kept_to),
        named={rule: whose for scope in scopes for rule, whose in scope.named.items()},
        wide=tuple(dict.fromkeys(rule for scope in scopes for rule in scope.wide)),
        model=next((scope.model for scope in reversed(scopes) if scope.model), ""),
        effort=next((scope.effort for scope in reversed(scopes) if scope.effort), ""),
    )
