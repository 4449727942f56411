"""What a skill or a command file is, as data: what its front matter says and where it stands.

Nothing here reads a file. The text itself is read when somebody invokes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

# The words of `Access.origin`.
Origin: TypeAlias = Literal["built-in", "managed", "user", "project", "plugin", "mcp"]
Form: TypeAlias = Literal["skill", "command"]
Show: TypeAlias = Literal["on", "name-only", "user-invocable-only", "off"]


class SkillError(ValueError):
    """Why a skill cannot be used now; the text is for whoever asked."""


class Diagnostic(msgspec.Struct, frozen=True):
    """`line` is 0 where it is about the whole file; `fix` says what to do."""

    file: Path
    line: int
    text: str
    fix: str = ""
    fatal: bool = False  # it was left out


class Said(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the front matter says, read leniently; everything has the default of a bare text."""

    description: str = ""
    described: bool = True  # in its own words, and not by the first paragraph of its text
    when_to_use: str = ""
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, Any] = {}
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
    hooks: Mapping[str, Any] = {}
    shell: str = ""  # of its commands; anything but bash or nothing is not run


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
    base: Path = Path()  # where its `paths` start
    withheld: tuple[str, ...] = ()  # fields that would act, and do not while it is not trusted
    size: int = 0  # bytes of the file

    @property
    def qualified(self) -> str:
        return f"{self.whose}:{self.name}"
