"""What one call would touch, declared once by its tool.

Gate, sandbox, scheduler, checkpoints and protocol adapters all read this one value; a fact that is
missing here is a hole in every one of them.
"""

from __future__ import annotations

import enum
import os
import re
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

MAIN = "main"  # the path of the agent that the person talks to; others are below it


class Effect(enum.Flag):
    """Traits that paths, commands and addresses cannot express."""

    NONE = 0
    READ_ONLY = enum.auto()  # changes nothing anywhere: safe to run beside others
    DESTRUCTIVE = enum.auto()  # may lose data
    OPEN_WORLD = enum.auto()  # talks to something outside this machine
    HUMAN = enum.auto()  # its whole point is to put a question to the person
    AGENT = enum.auto()  # starts another agent
    MOVES = enum.auto()  # changes where the agent works from now on
    FREE = enum.auto()  # touches only the session's own state: needs no permission


class Where(msgspec.Struct, frozen=True):
    """The place a call is made from."""

    cwd: Path
    root: Path
    home: Path
    added: tuple[Path, ...] = ()  # directories besides root the person opened to this session

    def resolve(self, path: str) -> Path:
        """Make absolute against cwd, keeping `..`: the kernel applies it after links, so do we."""
        if path == "~" or path.startswith("~/"):
            return self.home / path[2:]
        return self.cwd / path

    def shown(self, path: Path) -> str:
        """The path as a person reads it: from the project, or from home, or whole.

        Never from cwd: the same text must mean the same file wherever the shell has gone.
        """
        path = _stepped(path)
        for base, lead in ((self.root, ""), (self.home, "~/")):
            if path.is_relative_to(base):
                rest = str(path.relative_to(base))
                if not lead and rest.startswith("~"):
                    lead = "./"  # a directory of the project that is only called like home
                return lead + rest if rest != "." else (lead.rstrip("/") or ".")
        return str(path)

    def told(self, text: str) -> str:
        """A text of ours with its whole paths as `shown` has them; between backticks it stays.

        What is quoted is for a shell, which takes no ~ there.
        """
        parts = text.split("`")
        for base, lead in ((self.root, ""), (self.home, "~/")):
            if len(base.parts) < 2:
                continue
            begins = _AFTER_WORD if not lead else _AFTER_QUOTE
            whole = re.compile(f"{begins}{re.escape(str(base))}/(~?)(?=[^\\s/])")
            parts[::2] = [whole.sub(partial(_led, lead), part) for part in parts[::2]]
        return "`".join(parts)

    @property
    def moved(self) -> str:
        """The directory commands run in, where it is another than the project's; else empty."""
        return "" if self.cwd == self.root else f"{self.shown(self.cwd)}/"


_AFTER_WORD = r"(?<![\w/.~@$}-])"
_AFTER_QUOTE = r"(?<![\w/.~@$}'\"-])"


def _led(lead: str, found: re.Match[str]) -> str:
    return (lead or ("./" if found[1] else "")) + found[1]


def _stepped(path: Path) -> Path:
    """Without `..`, each taken where the links before it lead; the rest stays as it is."""
    parts = path.parts
    if ".." not in parts:
        return path
    until = len(parts) - parts[::-1].index("..")
    return Path(os.path.realpath(Path(*parts[:until])), *parts[until:])


class ShellText(msgspec.Struct, frozen=True):
    """A command line as the shell will get it; tools know no grammar, permissions parse it."""

    command: str
    cwd: Path
    unsandboxed: bool = False


class RemoteTool(msgspec.Struct, frozen=True):
    """A tool that another process offers; without a `tool` it is about that process itself."""

    server: str
    tool: str


Kind: TypeAlias = Literal["", "skill", "command", "workflow"]
Looks: TypeAlias = Literal["", "file", "pattern"]  # what a call only looks at, or for
Does: TypeAlias = Literal["", "read", "search", "edit", "execute", "fetch", "think", "other"]
Family: TypeAlias = Literal[
    "read", "edit", "shell", "web", "search", "mcp", "agent", "skill", "slash", "human", "free",
    "workflow", "other",
]  # fmt: skip


class Row(msgspec.Struct, frozen=True):
    """How rules speak of a tool; it says nothing of what the tool does.

    `field` is the input a rule's specifier is about; `fields` are those `Tool(param:value)` may
    name; `coordination` tools are what delegate mode leaves to the main agent.
    """

    family: Family
    field: str = ""
    fields: tuple[str, ...] = ()
    coordination: bool = False
    globs: bool = False  # its "pattern" starts in directories of its own


class Edited(msgspec.Struct, frozen=True):
    """One of the files that a call changes, as an edit of it alone would be written."""

    path: Path
    old: str
    new: str


class Access(msgspec.Struct, frozen=True):
    """Everything a call is about to read, change, run or talk to.

    A call that leaves everything at its default has said nothing about itself: the gate asks.
    """

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    runs: ShellText | None = None
    urls: tuple[str, ...] = ()
    effects: Effect = Effect.NONE
    remote: RemoteTool | None = None
    kind: Kind = ""  # it loads a skill, runs a slash command, or starts a workflow
    subject: str = ""  # what a rule names when it is no path, command or host: a skill, an agent
    origin: str = ""  # of a skill: built-in, managed, user, project, plugin, mcp; "" is unknown
    insist: str = ""  # why a person must answer, whatever mode, rule or hook says
    unattended: bool = False  # it starts work that goes on where nobody looks
    by: str = ""  # whose doing it is besides the model's: a skill and its file, for people
    typed: bool = False  # a skill that the person typed, or a command of one
    edits: tuple[Edited, ...] = ()  # of a call that changes files as Edit does and is not called so

    def does(self, looks: Looks = "") -> Does:
        """What kind of call it is, in a word; empty where it says nothing of itself."""
        if self.runs is not None:
            return "execute"
        if self.writes:
            return "edit"
        if self.urls:
            return "fetch"
        if looks or self.reads:
            return "search" if looks == "pattern" else "read"
        if self.effects & (Effect.FREE | Effect.HUMAN):
            return "think"
        return "other" if self.effects or self.remote is not None or self.kind else ""

    def concurrent(self) -> bool:
        """Whether the call may run beside other concurrent calls of the same turn."""
        beside = bool(self.effects & (Effect.READ_ONLY | Effect.AGENT))
        return beside and not self.writes and self.runs is None
