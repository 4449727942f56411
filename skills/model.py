"""What a skill or a command file is, as data: what its front matter says and where it stands.

Nothing here reads a file. The text itself is read when somebody invokes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.skills.yaml_values import Value

# The words of `Access.origin`.
Origin: TypeAlias = Literal["built-in", "managed", "user", "project", "plugin", "mcp"]
Form: TypeAlias = Literal["skill", "command"]
Show: TypeAlias = Literal["on", "name-only", "user-invocable-only", "off"]


class Diagnostic(msgspec.Struct, frozen=True):
    """`line` is 0 where it is about the whole file; `fix` says what to do."""

    file: Path
    line: int
    text: str
    fix: str = ""
    fatal: bool = False  # it was left out


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What the front matter says, read leniently; everything has the default of a bare text."""

    description: str = ""
    when_to_use: str = ""
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, Value] = {}
    allowed_tools: tuple[str, ...] = ()  # rules, as written
    disallowed_tools: tuple[str, ...] = ()
    enforce_allowed_tools: bool = False
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()  # names of positionals
    model_invocable: bool = True
    user_invocable: bool = True
    model: str = ""  # empty: the session's
    effort: str = ""
    fork: bool = False
    agent: str = ""
    background: bool = False
    paths: tuple[str, ...] = ()
    hooks: Mapping[str, Value] = {}


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """One file that can be invoked by name. `name` is the short one; `whose` qualifies it."""

    name: str  # of the directory; of a command file its path, as git:sync
    form: Form
    origin: Origin
    whose: str  # user, project, builtin, managed, a plugin's name, or apps/web of a nested one
    file: Path
    folder: Path  # what `${SKILL_DIR}` is
    said: Said
    trusted: bool = True  # whether anything of it may act
    nested: str = ""  # the directory below the project whose files it is about

    @property
    def qualified(self) -> str:
        return f"{self.whose}:{self.name}"
