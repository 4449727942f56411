"""Calls a rule can only name: MCP tools, skills, agents, commands, free and unknown tools."""

from __future__ import annotations

from gatewright.permissions.calls.subject import (
    Permit,
    PlanKind,
    Verdict,
    covers,
    param_matches,
    strongest,
)
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decision import Grant, Stage
from gatewright.permissions.modes import Mode
from gatewright.permissions.rulebook import servers
from gatewright.permissions.rulebook.rules import (
    Bare,
    DomainForm,
    NameForm,
    ParamForm,
    PathForm,
    Rule,
    ShellForm,
    SlashForm,
)
from gatewright.tools.access import Access, Effect, Family

_OWN_SKILLS = frozenset({"builtin", "built-in", "managed", "user"})


class NamedCall:
    """A call without a path, a command or an address."""

    def __init__(self, call: Call, context: Context, family: Family) -> None:
        self._call = call
        self._context = context
        self.family: Family = family
        value = call.input.get(call.row.field, "")
        self._subject = call.access.subject or (value if isinstance(value, str) else "")

    @property
    def target(self) -> str:
        return self._subject

    def impossible(self) -> tuple[Stage, str] | None:
        return None

    def denied(self) -> Rule | None:
        return next((rule for rule in self._context.rules.deny if self._covers(rule)), None)

    def asked(self) -> Rule | None:
        return strongest(rule for rule in self._context.rules.ask if self._covers(rule))

    def _covers(self, rule: Rule) -> bool:
        if not covers(rule, self._call, self.family):
            return False
        restricts = rule.behavior != "allow"
        fold = str.lower if restricts else str
        match rule.form:
            case Bare():
                return True
            case NameForm() | SlashForm() if not self._subject:
                return restricts  # it does not say which one it is
            case NameForm(name=name):
                subject = fold(self._subject)
                if restricts and self.family == "skill":  # by the short name, whosever it is
                    return subject == fold(name) or subject.endswith(f":{fold(name)}")
                return fold(name) == subject
            case SlashForm(name=name, arguments=arguments):
                command, _, rest = self._subject.strip().partition(" ")
                return fold(command) == fold(name) and (arguments or not rest.strip())
            case ParamForm() as form:
                return restricts and param_matches(form, self._call)
            case PathForm() | ShellForm() | DomainForm() as form:
                return restricts and not self._states(form)

    def _states(self, form: PathForm | ShellForm | DomainForm) -> bool:
        """Whether the call says what such a rule is about; then that is judged by itself."""
        access = self._call.access
        match form:
            case PathForm():
                return bool(access.reads or access.writes)
            case ShellForm():
                return access.runs is not None
            case DomainForm():
                return bool(access.urls)

    def floor(self) -> str:
        return ""

    def always_asks(self) -> str:
        return ""

    def trusted(self, *, hook: bool) -> Permit | None:
        best = strongest(rule for rule in self._context.rules.trusted if self._covers(rule))
        if best is None and not hook:
            return None
        ask = self.asked()
        if ask is not None and ask.rank > (best.rank if best is not None else (1, 0, 0)):
            return None
        return Permit(best)

    def untrusted(self) -> Permit | None:
        if self.family == "mcp":
            return None
        best = strongest(rule for rule in self._context.rules.untrusted if self._covers(rule))
        return Permit(best) if best is not None else None

    def skippable(self) -> bool:
        return self.family in {"skill", "slash", "mcp"}

    def danger(self) -> str:
        return ""

    def plan_kind(self) -> PlanKind:
        return "other"

    def strategy(self, mode: Mode) -> Verdict:
        match self.family:
            case "free":
                return Verdict(True)
            case "agent":
                return Verdict(mode.agent == "allow", "Starting an agent asks in this mode.")
            case "skill" | "slash":
                return self._skill()
            case "workflow":
                context = self._context
                agreed = not context.interactive or self._call.tool in context.consented
                starts = agreed and context.mode != "dontAsk"
                return Verdict(starts, "A workflow starts many agents.")
            case "mcp":
                return Verdict(False, "Tools of an MCP server ask in this mode.")
            case _:
                return Verdict(False, f"{self._call.tool} asks in this mode{self._unsaid()}.")

    def _unsaid(self) -> str:
        access = self._call.access
        if Effect.DESTRUCTIVE in access.effects:
            return ": it may lose data"
        if Effect.OPEN_WORLD in access.effects:
            return ": it talks to the outside"
        if Effect.MOVES in access.effects:
            return ": it changes where the agent works"
        if access.unattended:
            return ": it starts work that goes on where nobody looks"
        return ": it does not say what it touches" if access == Access() else ""

    def _skill(self) -> Verdict:
        origin = self._call.access.origin
        if self._call.typed or origin in _OWN_SKILLS:
            return Verdict(True)
        if origin == "project" and self._context.trusted:
            return Verdict(True)
        return Verdict(False, f"This skill comes from {_origin(origin)}.")

    def grants(self) -> tuple[Grant, ...]:
        match self.family:
            case "mcp":
                return self._remote_grants()
            case "skill" if self._subject:
                return (Grant(rule=f"Skill({self._subject})"),)
            case "slash" if self._subject.startswith("/"):
                return (Grant(rule=f"SlashCommand({self._subject.split()[0]}:*)"),)
            case "workflow":
                return (Grant(rule=self._call.tool, session=True),)
            case _:
                return ()

    def _remote_grants(self) -> tuple[Grant, ...]:
        """Only where the rule would be read as this very server and tool again."""
        remote = self._call.access.remote
        if remote is not None and not remote.tool:
            return (Grant(rule=f"{self._call.tool}({self._subject})"),) if self._subject else ()
        rule = servers.grantable(remote) if remote is not None else ""
        return (Grant(rule=rule),) if rule else ()

    def lacking(self) -> tuple[str, ...]:
        return ()


def _origin(origin: str) -> str:
    if not origin:
        return "an unknown place"
    known = {
        "project": "a project that is not trusted",
        "plugin": "a plugin",
        "mcp": "an MCP server",
    }
    return known.get(origin, f"an unknown place ({origin})")
