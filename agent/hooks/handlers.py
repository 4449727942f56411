"""A handler as it runs: checked, with whose word it is and where it stands."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import msgspec

from gatewright.agent.hooks.events import Kind
from gatewright.agent.settings.hook_layers import NEEDED
from gatewright.agent.settings.traits import Section

# The order in which answers count; the earlier is the stronger.
Origin: TypeAlias = Literal[
    "managed", "flag", "sdk", "user", "local", "project", "claude", "claude-local",
    "claude-project", "plugin", "agent", "skill",
]  # fmt: skip
ORDER: tuple[Origin, ...] = get_args(Origin)
OF_PROJECT: frozenset[Origin] = frozenset({"local", "project", "claude-local", "claude-project"})
OF_CLAUDE: frozenset[Origin] = frozenset({"claude", "claude-local", "claude-project"})
BROUGHT: frozenset[Origin] = frozenset({"plugin", "agent", "skill"})
# Whose yes may stand for an answer of the person.
OF_PERSON: frozenset[Origin] = frozenset({"managed", "flag", "sdk", "user", "claude"})
SCRUBBED: frozenset[Origin] = OF_PROJECT | BROUGHT
STEADY: frozenset[Origin] = frozenset({"managed", "sdk"})  # what stays with --bare


class Place(msgspec.Struct, frozen=True):
    """Whose word it is, and where it is written."""

    origin: Origin
    where: str = ""
    line: int = 0
    name: str = ""  # of the plugin, agent or skill
    given: tuple[tuple[str, str], ...] = ()  # variables that its programs find besides
    fills: tuple[tuple[str, str], ...] = ()  # what else `${…}` means in arguments, never in a shell

    @property
    def rank(self) -> int:
        return ORDER.index(self.origin)

    def text(self) -> str:
        return f"{self.where}:{self.line}" if self.line else self.where or self.origin


class Written(Section, frozen=True):
    """One handler as settings write it; which fields belong to which kind is checked besides."""

    type: str
    condition: str = msgspec.field(default="", name="if")
    timeout: float | int | None = None
    status_message: str = ""
    strict: bool = False
    on_failure: Literal["", "block", "continue"] = ""
    once: bool = False
    command: str = ""
    args: tuple[str, ...] | None = None
    background: bool = msgspec.field(default=False, name="async")
    async_rewake: bool = False
    shell: Literal["", "sh", "bash", "powershell"] = ""
    url: str = ""
    headers: dict[str, str] = {}
    allowed_env_vars: tuple[str, ...] = ()
    server: str = ""
    tool: str = ""
    input: dict[str, Any] = {}
    prompt: str = ""
    model: str = ""
    continue_on_block: bool = False


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """`broken`: it is strict and the rest of it is wrong, so it always fails, and this is why."""

    event: str
    kind: Kind
    place: Place
    matcher: str = ""
    timeout: float
    explicit: bool = False  # the timeout is written down
    strict: bool = False
    said: Written = Written(type="")
    callback: str = ""  # of an SDK client
    broken: str = ""
    agent: str = ""  # it hears of this one alone, by its path; empty: of all

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two handlers the same one."""
        said = self.said
        table = msgspec.json.encode(said.input, order="sorted") if said.input else b""
        return (
            self.event, self.kind, said.command, said.args, said.shell, said.url, said.server,
            said.tool, table, said.prompt, said.condition, self.callback, self.broken, self.agent,
        )  # fmt: skip

    @property
    def does(self) -> str:
        """What it starts, posts to or asks: by its kind, whatever else is written there."""
        fields = msgspec.structs.asdict(self.said)
        words = [str(fields[name]) for name in NEEDED.get(self.kind, ())]
        if self.kind == "command":
            words += self.said.args or ()
        return " ".join(words).strip() or self.callback or self.kind

    @property
    def name(self) -> str:
        """What people know it by, in a few words."""
        text = " ".join(self.does.split())
        return text if len(text) <= 80 else text[:79] + "…"

    @property
    def waits(self) -> bool:
        """Whether who fires it waits for its answer."""
        return not (self.said.background or self.said.async_rewake)


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a handler, or what it will not do."""

    place: Place
    event: str
    message: str
    warning: bool = False  # it runs all the same

    def text(self) -> str:
        return f"{self.place.text()}: {self.event} hook {self.message}"
