"""Permission rules: their texts, where they come from, and what a malformed one counts as.

Parsing never raises. A broken restriction restricts more than it says, a broken grant nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.modes import Strip
from gatewright.permissions.rulebook import braces, runners, servers, tools_table
from gatewright.tools.access import Row
from gatewright.tools.system.patterns import later

Behavior: TypeAlias = Literal["allow", "ask", "deny"]
Rank: TypeAlias = tuple[int, int, int]

SOURCES: tuple[str, ...] = (
    "managed", "user", "flag", "cli", "legacy", "session", "project", "local",
    "legacy-project", "legacy-local", "claude-managed", "claude", "claude-project", "claude-local",
    "command", "builtin",
)  # fmt: skip
ALWAYS_TRUSTED = frozenset({"managed", "user", "flag", "cli", "legacy", "session", "builtin"})
PERSONAL = frozenset({"user", "flag", "cli", "session", "local"})  # "local": an answer kept there
OF_PROJECT = frozenset({"project", "local", "legacy-project", "legacy-local"})

STAR: Rank = (0, 0, 0)
BARE: Rank = (1, 0, 0)


class RuleTexts(msgspec.Struct, frozen=True):
    """The lists of one source as settings have them; `told` is what is wrong with them as such."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()  # allowed by the person, word for word, whatever the source

    def labelled(self) -> list[tuple[Behavior, str]]:
        lists: dict[Behavior, tuple[str, ...]] = {"deny": self.deny, "ask": self.ask}
        lists["allow"] = (*self.allow, *self.agreed)
        return [(kind, text) for kind, texts in lists.items() for text in texts]


class Bare(msgspec.Struct, frozen=True):
    """The tool itself, whatever it is called with."""


class ShellForm(msgspec.Struct, frozen=True):
    """`text` is the command, prefix or glob; `head` what of it is literal."""

    kind: Literal["exact", "prefix", "glob"]
    text: str
    head: str


class PathForm(msgspec.Struct, frozen=True):
    """A path glob as written, and what it never matches."""

    pattern: str
    exceptions: tuple[str, ...] = ()


class DomainForm(msgspec.Struct, frozen=True):
    """A host and its subdomains; `subdomains` without the host itself; host "" is every host."""

    host: str
    subdomains: bool = False


class NameForm(msgspec.Struct, frozen=True):
    """An exact name: a skill or a type of agent."""

    name: str


class SlashForm(msgspec.Struct, frozen=True):
    name: str
    arguments: bool


class ParamForm(msgspec.Struct, frozen=True):
    """A literal input field."""

    name: str
    value: str


Form: TypeAlias = Bare | ShellForm | PathForm | DomainForm | NameForm | SlashForm | ParamForm


class Rule(msgspec.Struct, frozen=True):
    """One rule. `tool` is canonical, or a folded pattern with `*`."""

    text: str
    behavior: Behavior
    source: str
    tool: str
    form: Form

    @property
    def rank(self) -> Rank:
        """How specific the rule is, without knowing the directories path rules start at."""
        if self.tool == "*":
            return STAR
        match self.form:
            case Bare():
                return BARE
            case ShellForm(kind=kind, head=head):
                return (2, len(head), {"exact": 3, "prefix": 2, "glob": 1}[kind])
            case DomainForm(host=host):
                return (2, len(host), 0)
            case _:
                return (2, 1, 0)


_GOES_ON = "Monitor"  # its command runs on where nobody looks
_TOOL = later(r"\*|[A-Za-z_][A-Za-z0-9_*-]*")
_PARAM = later(r"([A-Za-z_][A-Za-z0-9_]*):(?s:(.*))")


def parse_rule(text: str, behavior: Behavior, source: str) -> tuple[Rule | None, str]:
    """The rule, and a sentence about what is wrong with it (empty when it is well-formed)."""
    tool, form, problem = read_rule(text, behavior)
    if form is not None and not problem:
        return Rule(text, behavior, source, tool, form), ""
    told = f"{cited(text, behavior, source)} {problem}; it"
    if behavior == "allow" or not tool:
        return None, f"{told} is ignored."
    rule = Rule(text, behavior, source, tool, Bare())
    return rule, f"{told} counts as a rule for all of {tool}."


def read_rule(text: str, behavior: Behavior) -> tuple[str, Form | None, str]:
    """The tool, which it is about, and what is wrong with it."""
    if (found := _TOOL.match(stripped := text.strip())) is None:
        return "", None, "names no tool"
    tool = tools_table.canonical(found.group())
    form, problem = _form_of(tool, stripped[found.end() :], behavior)
    return tool, form, problem or _tool_problem(tool, behavior)


def tool_of(text: str) -> str:
    """The tool that a rule's text names, as written; `*` for a text that names none."""
    return found.group() if (found := _TOOL.match(text.strip())) else "*"


def specifier(rule: Rule) -> str:
    """The path pattern of a rule, also of one that counts for the whole tool because of it."""
    if isinstance(rule.form, PathForm):
        return rule.form.pattern
    _, opened, rest = rule.text.strip().partition("(")
    return rest.removesuffix(")") if opened and braces.wrong(rest) else ""


def cited(text: str, behavior: str, source: str) -> str:
    """What every sentence about what is wrong with a rule begins with."""
    return f"The {behavior} rule '{text}' ({source})"


def _tool_problem(tool: str, behavior: Behavior) -> str:
    if behavior != "allow" or "*" not in tool or tool == "*":
        return ""
    server, _, _ = tool[len(servers.LEAD) :].partition("__")
    if servers.names_server(tool) and server and "*" not in server:
        return ""
    return "has a wildcard in the name of the tool, which an allow rule may not"


def _form_of(tool: str, rest: str, behavior: Behavior) -> tuple[Form | None, str]:
    if not rest:
        return Bare(), ""
    if not rest.startswith("(") or not rest.endswith(")") or len(rest) < 3:
        return None, "is not of the form Tool(specifier)"
    specifier = rest[1:-1]
    if not specifier.strip() or "\0" in specifier:
        return None, "has an empty specifier"
    if tool == "*":
        return None, "gives a specifier to '*'"
    row = tools_table.row(tool)
    own = _own_form(row, specifier)
    param = _param_form(tool, row, specifier)
    if param is not None:
        if behavior != "allow":
            return param, ""
        return None, "names an input field, which only deny and ask rules may"
    if isinstance(own, str):
        return None, own
    return own, ""


def _param_form(tool: str, row: Row, specifier: str) -> ParamForm | None:
    found = _PARAM.fullmatch(specifier)
    if found is None or row.family == "shell":
        return None
    name, value = found.groups()
    known = tools_table.has_row(tool)
    if (known and name in row.fields) or (not known and name != row.field):
        return ParamForm(name, value)
    return None


def _own_form(row: Row, specifier: str) -> Form | str:
    """The tool's own reading of a specifier, or what is wrong with it."""
    match row.family:
        case "shell":
            return _shell_form(specifier)
        case "read" | "edit":
            return braces.wrong(specifier) or PathForm(specifier)
        case "web":
            return _domain_form(specifier)
        case family if family in ("agent", "skill", "mcp", "workflow") or (
            family == "other" and row.field
        ):
            if any(char in specifier for char in "*?[") or specifier != specifier.strip():
                return "needs an exact name"
            return NameForm(specifier)
        case "slash":
            return _slash_form(specifier)
        case _:
            return "has a specifier its tool knows nothing about"


def _shell_form(specifier: str) -> Form | str:
    if specifier.endswith(":*"):
        prefix = " ".join(specifier[:-2].split())
        if not prefix or "*" in prefix:
            return "has no literal prefix before ':*'"
        return ShellForm("prefix", prefix, prefix)
    if "*" in specifier:
        head = " ".join(specifier.partition("*")[0].split())
        return ShellForm("glob", specifier.strip(), head)
    return ShellForm("exact", specifier, specifier)


def _domain_form(specifier: str) -> Form | str:
    from gatewright.permissions.calls.urls import ascii_host, literal_address  # noqa: PLC0415  lazy: 3 ms, address tables

    if not specifier.lower().startswith("domain:"):
        return "is not of the form WebFetch(domain:host)"
    host = specifier[len("domain:") :].strip()
    if host == "*":
        return DomainForm("")
    address = literal_address(host.removeprefix("[").removesuffix("]"))
    if address is not None:
        return DomainForm(str(address))
    subdomains = host.startswith("*.")
    name = ascii_host(host[2:] if subdomains else host)
    if not name or any(char in host.removeprefix("*.") for char in "*/:@?# "):
        return "names no host"
    return DomainForm(name, subdomains)


def _slash_form(specifier: str) -> Form | str:
    if not specifier.startswith("/"):
        return "is not of the form SlashCommand(/name)"
    name, arguments = specifier, False
    if specifier.endswith(":*"):
        name, arguments = specifier[:-2], True
    if len(name) < 2 or any(char in name for char in "*?[ "):
        return "needs an exact command name"
    return SlashForm(name, arguments)


BUILTIN_ASKS: tuple[str, ...] = (
    "Read(~/.ssh/**)", "Read(~/.aws/**)", "Read(~/.gnupg/**)", "Read(**/.env)", "Read(**/.env.*)",
    "Read(//proc/**/environ)",  # of a program outside, ours included: the keys it was started with
)  # fmt: skip
BUILTIN_EXCEPTIONS: Mapping[str, tuple[str, ...]] = {
    "Read(**/.env.*)": ("**/.env.example", "**/.env.sample", "**/.env.template"),
}


def builtin_rules(removed: Iterable[str] = ()) -> tuple[Rule, ...]:
    gone = set(removed)
    return tuple(
        Rule(text, "ask", "builtin", "Read", _builtin_form(text))
        for text in BUILTIN_ASKS
        if text not in gone
    )


def _builtin_form(text: str) -> PathForm:
    return PathForm(text[len("Read(") : -1], BUILTIN_EXCEPTIONS.get(text, ()))


@dataclass(frozen=True)
class RuleSet:
    """All rules of a session as the stages read them; nothing lifts a `closed` one."""

    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    trusted: tuple[Rule, ...] = ()
    untrusted: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = field(default=(), compare=False)
    closed_reads: tuple[Rule, ...] = ()
    closed_edits: tuple[Rule, ...] = ()

    @cached_property
    def deny_reads(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.deny if rule.tool == "Read")

    @cached_property
    def deny_edits(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.deny if rule.tool == "Edit")

    @cached_property
    def ask_reads(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.ask if rule.tool == "Read")

    @cached_property
    def ask_edits(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.ask if rule.tool == "Edit")


def rule_set(
    texts: Mapping[str, RuleTexts],
    *,
    trusted: bool,
    removed_builtin: Iterable[str] = (),
    strip: Strip = "",
) -> RuleSet:
    """Parse every source. `strip` leaves out what auto mode may not keep."""
    deny: list[Rule] = []
    ask: list[Rule] = []
    strong: list[Rule] = []
    weak: list[Rule] = []
    problems: list[str] = []
    for source, lists in texts.items():
        believed = source in ALWAYS_TRUSTED or (trusted and source in OF_PROJECT)
        problems.extend(lists.told)
        for behavior, text in lists.labelled():
            rule, problem = parse_rule(text, behavior, source)
            if problem:
                problems.append(problem)
            if rule is None:
                continue
            if behavior != "allow":
                (deny if behavior == "deny" else ask).append(rule)
            elif strip and stripped_in_auto(rule, strip):
                continue
            elif believed or text in lists.agreed:
                strong.append(rule)
            elif too_broad(rule):
                problems.append(
                    f"{cited(text, behavior, source)} is too broad for a source that is "
                    "not trusted; it is ignored."
                )
            else:
                weak.append(rule)
    ask.extend(builtin_rules(removed_builtin))
    return RuleSet(tuple(deny), tuple(ask), tuple(strong), tuple(weak), tuple(problems))


def too_broad(rule: Rule) -> bool:
    """Whether an untrusted source may not grant this."""
    match rule.form:
        case Bare() | DomainForm():
            return True
        case PathForm(pattern=pattern):
            return rule.tool == "Edit" and _names_nothing(pattern)
        case ShellForm(kind=kind, text=text, head=head):
            words = text.split()
            if kind == "glob" and (not words or any(char in words[0] for char in "*?[")):
                return True
            return runners.is_runner(head if kind == "glob" else text, whole=kind == "exact")
        case _:
            return tools_table.row(rule.tool).family in {"mcp", "agent"}


def _names_nothing(pattern: str) -> bool:
    """Whether a path pattern names no part of the project: all wildcards, or by way of outside."""
    outward = pattern.startswith(("//", "~")) or ".." in pattern.split("/")
    return outward or re.search(r"\w", re.sub(r"\{.*\}|\[.*\]|\(.*\)", "", pattern)) is None


def stripped_in_auto(rule: Rule, strip: Strip = "runners") -> bool:
    """Allow rules that would let code past the classifier."""
    family = tools_table.row(rule.tool).family
    if family in ("agent", "workflow") or rule.tool in ("*", _GOES_ON):
        return True
    if family != "shell":
        return False
    if strip == "shell":
        return True
    match rule.form:
        case Bare():
            return True
        case ShellForm(kind=kind, text=text, head=head):
            runner = runners.is_runner(head if kind == "glob" else text, whole=kind == "exact")
            return runner or (kind == "glob" and not head)
        case _:
            return False
