"""Everything a decision depends on besides the call: plain data and one port to the machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.paths import Place, Resolver
from gatewright.permissions.rulebook import tools_table
from gatewright.permissions.rulebook.patterns import Patterns
from gatewright.permissions.rulebook.rules import Rule, RuleSet
from gatewright.tools.access import Access, Row

HookWord: TypeAlias = Literal["", "allow", "ask", "deny"]
_REMOTE = Row("mcp")  # whatever it is called, it is another process that names it
PlanEnforcement: TypeAlias = Literal["strict", "delegate", "block"]


class Skips(msgspec.Struct, frozen=True):
    """What the user said may run without asking, by kind."""

    edits: bool = False
    bash: bool = False
    skills: bool = False
    mcp: bool = False


class Call(msgspec.Struct, frozen=True):
    """One call to judge. `raw_input` is the input's JSON text where it is known."""

    tool: str
    input: Mapping[str, object]
    access: Access
    raw_input: str = ""
    typed: bool = False  # a skill or command the person typed
    stated: Row | None = None  # how rules speak of a tool that is not built in, by itself

    @property
    def row(self) -> Row:
        if self.access.remote is not None:
            return _REMOTE
        return self.stated or tools_table.row(self.tool)


class Context(msgspec.Struct, frozen=True):
    """The state of the session at the moment of the decision."""

    place: Place
    resolver: Resolver
    rules: RuleSet
    patterns: Patterns
    mode: str = "default"
    most: str = ""  # nobody typed what is done: no more than this mode, too, lets run
    previous_mode: str = "default"
    plan_enforcement: PlanEnforcement = "strict"
    plan_file: str = ""
    interactive: bool = True
    main_agent: bool = True
    trusted: bool = True
    sandbox: bool = False
    sandbox_allows: bool = False
    disable_bypass: bool = False
    plan_classifier: bool = False
    skips: Skips = msgspec.field(default_factory=Skips)
    hook: HookWord = ""
    limits: tuple[tuple[Rule, ...], ...] = ()  # each names the tools that may be used
    kept_to: tuple[tuple[Rule, ...], ...] = ()  # the same, by skills that are at work
    named: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # whose a rule is
    consented: frozenset[str] = frozenset()  # tools that the person lets begin in this session
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    harmless_env: tuple[str, ...] = ()
    scrubbed_env: bool = True
